//! Preloading: the writes that put the design into a state.

use std::fmt::Write as _;

use super::net;
use crate::rust::width;
use crate::{Declaration, Load, Shape, State, Write};

impl Declaration {
    pub(super) fn loads(&self, out: &mut String) {
        let probes = &self.probes;
        if probes.loads.is_empty() {
            return;
        }
        let texts = || {
            let of = |load: &Load| match &load.write {
                Write::Register { register, value } => [register.clone(), value.clone()],
                Write::Call(call) => [call.clone(), String::new()],
            };
            let loads = probes.loads.iter();
            let texts = loads.flat_map(move |load| of(load).into_iter().chain(load.when.clone()));
            texts.chain(probes.verilog.clone())
        };
        for field in &self.state {
            let all = format!("load_{}", field.name);
            let elements = field.shape.count();
            // Declare a net for the whole field and for each element, if a load uses it.
            let each = (0..elements)
                .filter(|_| elements > 1)
                .map(|i| (elements, i));
            for (count, i) in std::iter::once((1, 0)).chain(each) {
                let (net, range) = net(field, &all, count, i);
                if texts().any(|text| names(&text, &net)) {
                    let value = loaded(field, count, i);
                    let _ = writeln!(out, "  logic {range}{net};\n  assign {net} = {value};");
                }
            }
        }
        // This is a second writer of `always_ff` registers, which Verilator accepts (`crates/verilate/shim/lint.vlt`). Public registers that
        // C++ writes would avoid it, but with them a cycle of r500 took twice as long (2.58 s instead of 1.26 s), because
        // Verilator assumes that each of them may change at any time.
        out.push_str(
            "\n  // Not on an edge of the clock: that would cost an evaluation of the design every cycle.\n  \
             always @(edge bench_i) begin\n    if (load_i) begin\n",
        );
        for load in &probes.loads {
            let what = match &load.write {
                Write::Register { register, value } => format!("{register} <= {value}"),
                Write::Call(call) => call.clone(),
            };
            let when = load
                .when
                .as_ref()
                .map_or_else(String::new, |when| format!("if ({when}) "));
            let _ = writeln!(out, "      {when}{what};");
        }
        let assertions = probes.assertions.as_ref();
        if let Some(register) = assertions.and_then(|a| a.loaded.as_ref()) {
            let _ = writeln!(
                out,
                "`ifdef RECONVERGE_ASSERT\n      {register} <= 1'b1;\n`endif"
            );
        }
        out.push_str("    end\n  end\n\n");
    }
}

/// Returns whether `text` contains the word `name`.
fn names(text: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_name(c)).any(|word| word == name)
}

/// Returns the part of the state to load that belongs to net `i` of `count` of `field`.
fn loaded(field: &State, count: usize, i: usize) -> String {
    let name = &field.name;
    let (bits, width, elements) = (
        8 * field.shape.bytes(),
        width(field.shape),
        field.shape.count(),
    );
    match (field.shape, count) {
        (Shape::Planes(1), _) => format!("golden_i.{name}[LANES-1:0]"),
        (Shape::Planes(n), 1) => {
            let planes: Vec<String> = (0..n)
                .rev()
                .map(|i| format!("golden_i.{name}[{i}][LANES-1:0]"))
                .collect();
            format!("{{{}}}", planes.join(", "))
        }
        (Shape::Planes(_), _) => format!("golden_i.{name}[{i}][LANES-1:0]"),
        _ if elements == 1 => format!("golden_i.{name}[{}:0]", width - 1),
        (_, 1) => {
            let all: Vec<String> = (0..elements)
                .rev()
                .map(|i| format!("golden_i.{name}[{bits}*{i} +: {width}]"))
                .collect();
            format!("{{{}}}", all.join(", "))
        }
        _ => format!("golden_i.{name}[{bits}*{i} +: {width}]"),
    }
}
