//! The RTL in Icarus, an event-driven simulator with four values: the outputs of every cycle are those of the golden model,
//! and none is X.

use std::fmt::Write as _;
use std::fs;

use bytemuck::bytes_of;
use reconverge::campaign::{self, Pace};
use reconverge::design::{Build, Golden};
use reconverge::field::Shape;
use reconverge_declaration::Declaration;

use super::{Check, run, text};
use crate::common::rtl::{Copy, Rtl};
use crate::common::{Tested, tool};

const CYCLES: usize = 3000;

/// Bits of the ports, the first port in the lowest bits.
#[derive(Clone, Default)]
struct Row(Vec<bool>);

impl Row {
    fn push(&mut self, value: u64, width: u32) {
        self.0.extend((0..width).map(|bit| value >> bit & 1 == 1));
    }

    /// Returns the bits in hexadecimal, as `$readmemh` reads them.
    fn hex(&self) -> String {
        let digits = self.0.chunks(4).rev().map(|bits| {
            let digit = bits.iter().rev().fold(0, |n, bit| n << 1 | u32::from(*bit));
            char::from_digit(digit, 16).unwrap()
        });
        digits.collect()
    }
}

/// Replaces every `always_comb` of the files, because of a bug of Icarus 11.0 (its issue 508): the event of such a block also
/// wakes blocks that do not read what it assigns, and three of them wake one another without end.
fn without_always_comb(copy: &Copy, files: &[String]) {
    for file in files {
        let path = copy.dir().join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("always_comb", "always @*")).unwrap();
    }
}

/// Runs recorded pins through the RTL with `vvp`. The error says in which cycle which output differs.
fn simulated<U: Tested>(copy: &Copy, lanes: u32) -> Check {
    let declared = Declaration::parse(U::NAME, U::DECLARATION.toml).unwrap();
    let build = Build::from(lanes);
    let inputs = campaign::recorded::<U>(1, &build, CYCLES, Pace::Campaign);
    let mut rows = vec![Row::default(); inputs.len()];
    let (mut ports, mut at) = (String::new(), 0);
    let pins = declared.pins.iter().zip(U::DECLARATION.pins);
    for (pin, field) in pins.filter(|(pin, _)| pin.only_with.is_none()) {
        let width = match field.shape {
            Shape::Planes(_) => lanes,
            Shape::Words { .. } => field.width,
        };
        for (i, port) in pin.ports.iter().enumerate() {
            let _ = writeln!(ports, "    .{port}(row[{at} +: {width}]),");
            at += width;
            for (row, pins) in rows.iter_mut().zip(&inputs) {
                row.push(field.get(bytes_of(pins), i), width);
            }
        }
    }
    let outputs = declared.state.iter().zip(U::fields());
    let outputs = outputs.filter(|(state, field)| {
        !state.outputs.is_empty() && !matches!(field.shape, Shape::Planes(2..))
    });
    let outputs: Vec<_> = outputs.collect();
    let (mut wires, mut formats, mut shown) = (String::new(), String::new(), String::new());
    for (state, field) in &outputs {
        let (port, width) = (
            &state.outputs[0],
            if field.per_lane() { lanes } else { field.width },
        );
        let _ = writeln!(wires, "  wire [{width}-1:0] {port};");
        let _ = writeln!(ports, "    .{port}({port}),");
        formats += " %h";
        let _ = write!(shown, ", {port}");
    }
    let top = copy.rtl().top();
    let bench = format!(
        "module bench;\n  reg clk = 0;\n  reg [{at}-1:0] rows [0:{}];\n  reg [{at}-1:0] row;\n  integer i;\n{wires}  \
         {top} #(.LANES({lanes})) dut (\n{ports}    .clk_i(clk)\n  );\n  initial begin\n    \
         $readmemh(\"rows.hex\", rows);\n    for (i = 0; i < {}; i = i + 1) begin\n      row = rows[i];\n      \
         #5 clk = 1;\n      #5 clk = 0;\n      $display(\"cycle{formats}\"{shown});\n    end\n    $finish;\n  end\nendmodule\n",
        inputs.len() - 1,
        inputs.len(),
    );
    let dir = copy.dir();
    fs::write(dir.join("bench.v"), bench).unwrap();
    let rows: Vec<String> = rows.iter().map(Row::hex).collect();
    fs::write(dir.join("rows.hex"), rows.join("\n")).unwrap();
    let compiled = run(tool::command("iverilog")
        .args(["-g2012", "-o", "bench.vvp", "-s", "bench", "bench.v"])
        .args(copy.rtl().list())
        .current_dir(dir));
    if !compiled.status.success() {
        return Err(text(&compiled));
    }
    // RTL that does not settle never ends.
    let said = text(&run(tool::command("timeout")
        .args(["1200", "vvp", "bench.vvp"])
        .current_dir(dir)));
    let mut lines = said.lines().filter_map(|line| line.strip_prefix("cycle "));
    let mut golden = U::Golden::build(&build);
    for (cycle, pins) in inputs.iter().enumerate() {
        let state = *golden.cycle(pins);
        let line = lines
            .next()
            .ok_or_else(|| format!("no cycle {cycle}: {said}"))?;
        for ((_, field), value) in outputs.iter().zip(line.split(' ')) {
            let expected = match field.per_lane() {
                true => (0..lanes as usize).fold(0, |mask, lane| {
                    mask | field.get(bytes_of(&state), lane) << lane
                }),
                false => field.get(bytes_of(&state), 0),
            };
            if u64::from_str_radix(value, 16) != Ok(expected) {
                return Err(format!(
                    "cycle {cycle}: {} is {value}, not {expected:x}",
                    field.name
                ));
            }
        }
    }
    Ok(())
}

pub fn icarus_computes_every_output_and_none_is_x<U: Tested>() {
    let copy = Rtl::own(U::NAME).copy();
    without_always_comb(&copy, &copy.rtl().list());
    for lanes in [4, 16] {
        simulated::<U>(&copy, lanes).unwrap();
    }
    // A register that reset does not reach is X.
    let reset = format!("{}_seq.sv", U::NAME);
    let path = copy.dir().join(&reset);
    let text = fs::read_to_string(&path).unwrap();
    let wrong = text.replacen("if (!rst_ni", "if (1'bx", 1);
    assert_ne!(wrong, text);
    fs::write(&path, wrong).unwrap();
    let why = simulated::<U>(&copy, 4).unwrap_err();
    assert!(why.starts_with("cycle ") && why.contains('x'), "{why}");
}
