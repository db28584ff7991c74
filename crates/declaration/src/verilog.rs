//! Generates the bench top: the design with registers on every input, its state gathered into one struct and, for the dump,
//! the expected state of the golden model beside it.

use std::fmt::Write as _;

use crate::rust::width;
use crate::{
    Comparison, Condition, Declaration, Level, MAX_CLOCKS, Operand, Pin, Port, Probes, Role, Shape,
    State, Sum, layout, port,
};

mod loads;
mod offers;
mod structure;
use structure::{pad, structure};

/// Name of the parameter with the width of lane masks in the generated modules.
const LANES: &str = "LANES";

impl Declaration {
    /// Generates the SystemVerilog file of the bench top, module `<name>_tb`, with `probes` for the RTL with which it is
    /// compiled. Its ports are those that the project's `crates/verilate/shim/shim.cpp` uses.
    pub fn bench_top(&self, probes: &Probes) -> String {
        let with = Declaration {
            probes: probes.clone(),
            ..self.clone()
        };
        with.file()
    }

    fn file(&self) -> String {
        let mut out = format!(
            "\
// Bench top of {name}, generated from its declaration; change that. The design behind registers on every
// input, its state gathered into one struct, and beside it, for the dump, the state that the golden model
// expects.
//
// * `in_i` is registered, so `state_o` after a rising edge shows what the inputs of the edge before it
//   did, and `golden_i` is the golden's state after those same inputs.
// * an edge of `bench_i`, rising or falling, given after each cycle while a dump is open, brings the mismatch
//   bits and both views up to date. Combinational ones would be evaluated in every cycle of every run.
// * with `load_i` that edge puts the design into the state on `golden_i` instead, between two cycles. Not a
//   third clock signal: Verilator asks after each of them in every evaluation, and it would cost 7 % of a
//   cycle's instructions.
// * `now_o` is `state_o` with the outputs that depend on the pins of the same cycle as they are now, if there are any: they
//   too must not change at the falling edge of the clock.
// * Structs begin with their last field: the Rust structs are declared in the other direction.

",
            name = self.name
        );
        self.package(&mut out);
        self.view_module(&mut out);
        self.top_begin(&mut out);
        self.dut(&mut out);
        self.probe_nets(&mut out);
        self.fits(&mut out);
        self.state_o(&mut out);
        self.mismatch(&mut out);
        self.loads(&mut out);
        out.push_str("endmodule\n");
        out
    }

    // ---- package --------------------------------------------------------------------------------------

    fn package(&self, out: &mut String) {
        let _ = writeln!(out, "package {}_tb_pkg;\n", self.name);
        let pins = layout(self.pins.iter().map(|pin| (pin.shape, pin)));
        let only = pins
            .iter()
            .position(|m| m.what.is_some_and(|p| p.only_with.is_some()));
        match only {
            None => structure(
                out,
                "in_t",
                &pins,
                |pin| (pin.name.clone(), pin.shape),
                None,
            ),
            Some(at) => {
                let (always, only) = pins.split_at(at);
                let name = |pin: &Pin| (pin.name.clone(), pin.shape);
                structure(out, "pins_t", always, |pin| name(pin), None);
                let below = Some("pins_t pins").filter(|_| at > 0);
                structure(out, "in_t", only, |pin| name(pin), below);
            }
        }
        let state = layout(self.state.iter().map(|field| (field.shape, field)));
        structure(out, "state_t", &state, |f| (f.name.clone(), f.shape), None);
        out.push_str("endpackage\n\n");
    }

    /// Returns whether some pins exist only with a parameter.
    fn has_only(&self) -> bool {
        self.pins.iter().any(|pin| pin.only_with.is_some())
    }

    /// Returns whether some pins always exist.
    fn has_always(&self) -> bool {
        self.pins.iter().any(|pin| pin.only_with.is_none())
    }

    // ---- view -----------------------------------------------------------------------------------------

    fn default_lanes(&self) -> u64 {
        self.lanes.as_ref().map_or(1, |lanes| lanes.default)
    }

    fn view_module(&self, out: &mut String) {
        let name = &self.name;
        let _ = write!(
            out,
            "// One side of the comparison as signals that a person can read.\n\
             module {name}_view #(\n  parameter int unsigned LANES = {}\n) (\n  \
             // The state as one number would be most bytes of a dump, and nothing that the fields below do not show.\n  \
             /*verilator tracing_off*/\n  \
             input logic bench_i,\n  \
             input logic load_i,\n  \
             input {name}_tb_pkg::state_t state_i\n  \
             /*verilator tracing_on*/\n);\n\n",
            self.default_lanes()
        );
        let mut rest = String::new();
        // An array is updated only when its fields have changed; otherwise this would take most of the time of a cycle with
        // a dump.
        let (mut kept, mut arrays) = (String::new(), String::new());
        let mut array = |fields: &[&State], name: &str, size: &str, value: &str| {
            let mut changed = "!kept".to_owned();
            let mut keep = String::new();
            for State { name, shape, .. } in fields {
                let bits = 8 * shape.size();
                let _ = writeln!(kept, "  logic [{bits}-1:0] kept_{name};");
                let _ = write!(changed, " || kept_{name} != state_i.{name}");
                let _ = writeln!(keep, "      kept_{name} <= state_i.{name};");
            }
            let _ = write!(
                arrays,
                "    if ({changed}) begin\n{keep}      \
                 for (int unsigned i = 0; i < {size}; i++) {name}[i] <= {value};\n    end\n"
            );
        };
        // First the views, then the fields that no view shows.
        for view in &self.views {
            let fields = view.fields.iter().filter_map(|field| self.field(field));
            let fields: Vec<&State> = fields.collect();
            let bits: Vec<String> = fields.iter().flat_map(|f| planes_of_lane(f)).collect();
            let _ = writeln!(out, "  logic [{}:0] {} [LANES];", bits.len() - 1, view.name);
            array(
                &fields,
                &view.name,
                "LANES",
                &format!("{{{}}}", bits.join(", ")),
            );
        }
        for field in self
            .state
            .iter()
            .filter(|f| self.view_of(&f.name).is_none())
        {
            let name = &field.name;
            let high = width(field.shape) - 1;
            match (field.shape, field.shape.count()) {
                (Shape::Planes(1), _) => {
                    let _ = writeln!(out, "  logic [LANES-1:0] {name};");
                    let _ = writeln!(rest, "    {name} <= state_i.{name}[LANES-1:0];");
                }
                (Shape::Planes(_), _) => {
                    let bits = planes_of_lane(field);
                    let _ = writeln!(out, "  logic [{high}:0] {name} [LANES];");
                    array(&[field], name, "LANES", &format!("{{{}}}", bits.join(", ")));
                }
                (_, 1) => {
                    let range = if high == 0 {
                        String::new()
                    } else {
                        format!("[{high}:0] ")
                    };
                    let _ = writeln!(out, "  logic {range}{name};");
                    let _ = writeln!(rest, "    {name} <= state_i.{name}[{high}:0];");
                }
                (shape, count) => {
                    let bits = 8 * shape.bytes();
                    let _ = writeln!(out, "  logic [{high}:0] {name} [{count}];");
                    let value = format!("state_i.{name}[{bits}*i +: {}]", high + 1);
                    array(&[field], name, &count.to_string(), &value);
                }
            }
        }
        out.push_str(
            "\n  // An edge of its own: combinational, or latches, they would cost a tenth of the time of every run.\n  \
             /*verilator tracing_off*/\n",
        );
        if !arrays.is_empty() {
            let _ = write!(out, "  logic kept = 1'b0;\n{kept}");
            rest.push_str("    kept <= 1'b1;\n");
        }
        let _ = write!(
            out,
            "  always_ff @(edge bench_i) if (!load_i) begin\n{arrays}{rest}  end\n  \
             /*verilator tracing_on*/\n\nendmodule\n\n"
        );
    }

    // ---- the design -----------------------------------------------------------------------------------

    fn top_begin(&self, out: &mut String) {
        let name = &self.name;
        let now = match self.shows_now() {
            true => format!("{name}_tb_pkg::state_t"),
            false => "logic".to_owned(),
        };
        let several: Vec<&Pin> = self.clocks().collect();
        let mut clocks = String::new();
        if !several.is_empty() {
            clocks += "// Those that rise in a cycle rise and fall with clk_i. Single bits: of a part of a port Verilator sees edges at power-up.\n  ";
            for i in 0..MAX_CLOCKS {
                let _ = write!(clocks, "input logic clock{i}_i,\n  ");
            }
            let _ = write!(clocks, "output logic [{MAX_CLOCKS}-1:0] clocks_o,\n  ");
        }
        let _ = writeln!(
            out,
            "module {name}_tb #(\n  parameter int unsigned LANES = {},",
            self.default_lanes()
        );
        for parameter in &self.parameters {
            let (name, default) = (&parameter.name, parameter.default);
            let _ = writeln!(out, "  parameter int unsigned {name} = {default},");
        }
        let _ = write!(
            out,
            "  localparam int unsigned Fields = {}\n) (\n  input logic clk_i,\n  \
             // Structs and nets of the bench stay out of the dump: the views and the design show what is in them.\n  \
             /*verilator tracing_off*/\n  \
             input {name}_tb_pkg::in_t in_i,\n  \
             input {name}_tb_pkg::state_t golden_i,\n  \
             input logic bench_i,\n  \
             input logic load_i,\n  \
             output {name}_tb_pkg::state_t state_o,\n  \
             output {now} now_o,\n  {clocks}\
             /*verilator tracing_on*/\n  \
             output logic [Fields-1:0] mismatch_o\n);\n\n  \
             /*verilator tracing_off*/\n",
            self.state.len()
        );
        let (of, from) = match self.has_only() {
            true => ("pins_t", "in_i.pins"),
            false => ("in_t", "in_i"),
        };
        if self.has_always() {
            let next = match self.transactions {
                true => "in_d",
                false => from,
            };
            let _ = write!(
                out,
                "  // From power-up on the pins of the first cycle: the design gets no edge that its golden model is not told of.\n  \
                 {name}_tb_pkg::{of} in_q = {from};\n"
            );
            if self.transactions {
                self.offers(of, from, out);
            }
            let _ = writeln!(out, "  always_ff @(posedge clk_i) in_q <= {next};");
        }
        if !several.is_empty() {
            let rising = several.iter().rev();
            let rising: Vec<String> = rising.map(|c| format!("in_q.{}[0]", c.name)).collect();
            let _ = writeln!(
                out,
                "  assign clocks_o = {MAX_CLOCKS}'({{{}}});",
                rising.join(", ")
            );
        }
        for pin in &self.pins {
            let name = &pin.name;
            if let (true, Role::Reset(level)) = (pin.asynchronous, pin.role) {
                let (released, or) = [('1', '|'), ('0', '&')][usize::from(level == Level::High)];
                let _ = write!(
                    out,
                    "\n  // Asserted at the falling edge, between two rising ones; released after a rising edge, as every pin changes.\n  \
                     logic {name}_q = 1'b{released};\n  always_ff @(edge clk_i)\n    \
                     {name}_q <= clk_i ? {name}_q {or} {from}.{name}[0] : {from}.{name}[0];\n"
                );
            }
            let Some(parameter) = &pin.only_with else {
                continue;
            };
            // Only a design with the pin pays for its register.
            let bits = 8 * pin.shape.size();
            let _ = write!(
                out,
                "\n  logic [{bits}-1:0] {name}_q = {parameter} != 0 ? in_i.{name} : '0;\n  \
                 if ({parameter} != 0) begin : gen_{name}\n    \
                 always_ff @(posedge clk_i) {name}_q <= in_i.{name};\n  end\n"
            );
        }
        out.push('\n');
    }

    fn dut(&self, out: &mut String) {
        for field in self.state.iter().filter(|field| !field.outputs.is_empty()) {
            for (net, range) in output_nets(field) {
                let _ = writeln!(out, "  logic {range}{net};");
            }
        }
        let mut parameters: Vec<String> = Vec::new();
        if let Some(lanes) = &self.lanes {
            parameters.push(format!(".{}({LANES})", lanes.parameter));
        }
        parameters.extend(self.parameters.iter().map(|p| format!(".{0}({0})", p.name)));
        let parameters = match parameters.is_empty() {
            true => String::new(),
            false => format!("#(\n    {}\n  ) ", parameters.join(",\n    ")),
        };
        let ports = self.inputs().into_iter().chain(self.outputs());
        let ports: Vec<String> = ports
            .map(|(port, net)| format!(".{}({net})", port.verilog()))
            .collect();
        let _ = write!(
            out,
            "\n  /*verilator tracing_on*/\n  {} {parameters}dut (\n    {}\n  );\n  /*verilator tracing_off*/\n\n",
            self.top,
            ports.join(",\n    ")
        );
    }

    /// Returns the input ports with the expressions that drive them.
    fn inputs(&self) -> Vec<(Port, String)> {
        let mut inputs = Vec::new();
        if !self.clock.is_empty() {
            inputs.push((Port::whole(&self.clock), "clk_i".to_owned()));
        }
        for (i, clock) in self.clocks().enumerate() {
            inputs.push((clock.ports[0].clone(), format!("clock{i}_i")));
        }
        for pin in &self.pins {
            let source = match &pin.only_with {
                _ if matches!(pin.role, Role::Clock { .. }) => continue,
                _ if pin.asynchronous => {
                    let ports = pin.ports.iter().cloned();
                    inputs.extend(ports.map(|port| (port, format!("{}_q", pin.name))));
                    continue;
                }
                Some(_) => format!("{}_q", pin.name),
                None => format!("in_q.{}", pin.name),
            };
            for (i, port) in pin.ports.iter().enumerate() {
                inputs.push((port.clone(), self.driven(pin, &source, i)));
            }
        }
        port::joined(inputs)
    }

    /// Returns the output ports with their nets.
    fn outputs(&self) -> Vec<(Port, String)> {
        let of = |field| output_nets(field).into_iter().map(|(net, _)| net);
        let ports = self
            .state
            .iter()
            .flat_map(|field| field.outputs.iter().cloned().zip(of(field)));
        port::joined(ports.collect())
    }

    /// Returns the names of the ports that the bench top connects.
    pub fn ports(&self) -> Vec<String> {
        let ports = self.inputs().into_iter().chain(self.outputs());
        ports.map(|(port, _)| port.name).collect()
    }

    /// Writes checks that no port and no probe has more bits than the declaration.
    fn fits(&self, out: &mut String) {
        let port = |kind| {
            move |(port, net): (Port, String)| {
                let name = port.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                (
                    format!("{kind}_{name}"),
                    format!("dut.{}", port.verilog()),
                    net,
                )
            }
        };
        let inputs = self.inputs().into_iter().map(port("input"));
        let outputs = self.outputs().into_iter().map(port("output"));
        let lists = self.probes.expressions.iter();
        let probes = lists.flat_map(|(name, list)| {
            let nets = self
                .field(name)
                .map_or_else(Vec::new, |field| self.nets(field));
            let each = list.iter().cloned().zip(nets);
            each.map(|(probe, net)| (net.clone(), probe, net))
        });
        let all: Vec<_> = inputs.chain(outputs).chain(probes).collect();
        out.push_str(
            "  // Of bits that nothing drives or compares Verilator only warns, and RTL can waive its warnings. A size below 1 is\n  \
             // an error. With RECONVERGE_BITS it prints all sizes instead.\n\
             `ifdef VERILATOR\n`ifdef RECONVERGE_BITS\n",
        );
        for (name, has, takes) in &all {
            let _ = writeln!(
                out,
                "  $error(\"reconverge bits {name} %0d %0d\", $bits({has}), $bits({takes}));"
            );
        }
        out.push_str("`else\n");
        for (name, has, takes) in &all {
            let _ = writeln!(
                out,
                "  wire fits_{name} = ($bits({has}) > $bits({takes}) ? -1 : 1)'(1'b0);"
            );
        }
        out.push_str("`endif\n`endif\n\n");
    }

    /// Returns the expression connected to port `i` of `pin`.
    fn driven(&self, pin: &Pin, source: &str, i: usize) -> String {
        let (shape, single) = (pin.shape, pin.ports.len() == 1);
        // The elements of a list are contiguous: a pin with `only_with` is a vector, others are packed arrays.
        let element = |i: usize| match (shape.count(), &pin.only_with) {
            (1, None) => source.to_owned(),
            (1, Some(_)) => source.to_owned(),
            (_, None) if matches!(shape, Shape::Planes(_)) => format!("{source}[{i}]"),
            _ => {
                let bits = 8 * shape.bytes();
                format!("{source}[{bits}*{i} +: {bits}]")
            }
        };
        match shape {
            Shape::Planes(1) => format!("{source}[LANES-1:0]"),
            Shape::Planes(_) if !single => format!("{}[LANES-1:0]", element(i)),
            Shape::Planes(n) => {
                let planes: Vec<String> = (0..n)
                    .rev()
                    .map(|i| format!("{}[LANES-1:0]", element(i)))
                    .collect();
                format!("{{{}}}", planes.join(", "))
            }
            Shape::Words {
                width,
                count: Some(1),
            } => format!("{source}[{}:0]", width - 1),
            Shape::Words { width, .. } if !single => {
                let bits = 8 * shape.bytes();
                format!("{source}[{bits}*{i} +: {width}]")
            }
            Shape::Words { width, count } if width as usize == 8 * shape.bytes() => match count {
                None => format!("{source}[{width}*LANES-1:0]"),
                Some(_) => source.to_owned(),
            },
            Shape::Words { width, count } => {
                // The port's vector has no gaps; the port cuts off lanes above the last one.
                let bits = 8 * shape.bytes();
                let count = count.unwrap_or(self.default_lanes() as usize);
                let elements: Vec<String> = (0..count)
                    .rev()
                    .map(|i| format!("{source}[{bits}*{i} +: {width}]"))
                    .collect();
                format!("{{{}}}", elements.join(", "))
            }
        }
    }

    // ---- state ----------------------------------------------------------------------------------------

    fn probe_nets(&self, out: &mut String) {
        let probes = &self.probes;
        if let Some(verilog) = &probes.verilog {
            let _ = write!(out, "{}\n\n", verilog.trim_end());
        }
        for (name, list) in &probes.expressions {
            let Some(field) = self.field(name) else {
                continue;
            };
            for (i, expression) in list.iter().enumerate() {
                let (net, range) = net(field, &format!("probe_{name}"), list.len(), i);
                let _ = writeln!(out, "  logic {range}{net};\n  assign {net} = {expression};");
            }
        }
        for field in self.state.iter().filter(|field| field.sampled) {
            out.push_str("  // What it is at the end of the cycle, with the pins of that cycle.\n");
            let nets = match field.outputs.is_empty() {
                false => output_nets(field),
                true => self.probed_nets(field),
            };
            for (net, range) in nets {
                let _ = writeln!(
                    out,
                    "  logic {range}{net}_q;\n  always_ff @(posedge clk_i) {net}_q <= {net};"
                );
            }
        }
        let conditions = self.valid_conditions();
        let operands = || conditions.iter().flat_map(|condition| condition.operands());
        for pin in &self.pins {
            if operands().any(|operand| *operand == Operand::Pin(pin.name.clone())) {
                let (name, top) = (&pin.name, width(pin.shape) - 1);
                let _ = writeln!(
                    out,
                    "  // The pin in the cycle that leads to the state.\n  logic [{top}:0] valid_pin_{name};\n  \
                     always_ff @(posedge clk_i) valid_pin_{name} <= in_q.{name}[{top}:0];"
                );
            }
        }
        // A condition may depend on a field that has a condition too.
        for number in 0..conditions.len() {
            let _ = writeln!(out, "  logic valid_{number};");
        }
        for (number, condition) in conditions.iter().enumerate() {
            let text = self.condition(condition, |pin, _| format!("valid_pin_{pin}"));
            let _ = writeln!(out, "  assign valid_{number} = {text};");
        }
        out.push('\n');
    }

    /// Returns every condition once, without duplicates.
    fn valid_conditions(&self) -> Vec<&Condition> {
        let mut conditions: Vec<&Condition> = Vec::new();
        for condition in self.state.iter().filter_map(|field| field.valid.as_ref()) {
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        conditions
    }

    /// Returns the nets with the value of `field`: one per plane or element, or one for all. Of a sampled output, its value at the
    /// end of the cycle.
    fn nets(&self, field: &State) -> Vec<String> {
        let end = if field.sampled { "_q" } else { "" };
        self.nets_now(field)
            .into_iter()
            .map(|net| net + end)
            .collect()
    }

    /// Returns the nets with the value that `field` has now.
    fn nets_now(&self, field: &State) -> Vec<String> {
        if !field.outputs.is_empty() {
            return output_nets(field).into_iter().map(|(net, _)| net).collect();
        }
        let nets = self.probed_nets(field).into_iter();
        nets.map(|(net, _)| net).collect()
    }

    /// Returns name and range of the nets of the probes of `field`.
    fn probed_nets(&self, field: &State) -> Vec<(String, String)> {
        let mut lists = self.probes.expressions.iter();
        let count = lists
            .find(|(name, _)| *name == field.name)
            .map_or(1, |(_, list)| list.len());
        let name = format!("probe_{}", field.name);
        (0..count).map(|i| net(field, &name, count, i)).collect()
    }

    /// Returns the value with which `field`, one number, is compared.
    fn number(&self, field: &State) -> String {
        let net = self.nets(field).remove(0);
        let conditions = self.valid_conditions();
        let valid = field.valid.as_ref();
        match valid.and_then(|valid| conditions.iter().position(|c| *c == valid)) {
            None => net,
            Some(number) => format!("(valid_{number} ? {net} : {}'d0)", width(field.shape)),
        }
    }

    /// Returns a condition as an expression; `pin` is the value of a pin of so many bits.
    fn condition(&self, condition: &Condition, pin: impl Fn(&str, u32) -> String) -> String {
        let term = |term: &Vec<Comparison>| {
            let comparisons = term.iter().map(|c| self.comparison(c, &pin));
            comparisons.collect::<Vec<_>>().join(" && ")
        };
        let terms = condition.0.iter().map(term);
        terms.collect::<Vec<_>>().join(" || ")
    }

    fn comparison(&self, comparison: &Comparison, of: impl Fn(&str, u32) -> String) -> String {
        let Comparison {
            left,
            operator,
            right,
        } = comparison;
        // A number has the width of the field with which it is compared; a sum may need more.
        let sums = left.plus > 0 || right.plus > 0;
        let mut bits = 32;
        let mut side = |sum: &Sum| {
            let value = match &sum.of {
                Operand::After(name) => match self.field(name) {
                    None => name.clone(),
                    Some(field) => {
                        bits = width(field.shape);
                        self.number(field)
                    }
                },
                Operand::Number(number) => format!("{bits}'d{number}"),
                Operand::Pin(name) => {
                    let pin = self.pins.iter().find(|pin| pin.name == *name);
                    bits = pin.map_or(bits, |pin| width(pin.shape));
                    of(name, bits)
                }
                // The bench top has no other names.
                other => format!("{other:?}"),
            };
            match sums {
                false => value,
                true => format!("64'({value}) + 64'd{}", sum.plus),
            }
        };
        let left = side(left);
        format!("{left} {operator} {}", side(right))
    }

    /// Returns whether `now_o` has more than `state_o`: a design without a clock cannot change at one of its edges.
    fn shows_now(&self) -> bool {
        self.state.iter().any(|field| self.not_first(field))
    }

    /// Returns the value in the state struct of `field`, whose value is on `nets`.
    fn gathered(&self, field: &State, nets: &[String]) -> String {
        let conditions = self.valid_conditions();
        let valid = field.valid.as_ref();
        let valid = valid.and_then(|valid| conditions.iter().position(|c| *c == valid));
        let guarded = |value: String, bits: usize| match valid {
            Some(number) => format!("valid_{number} ? {value} : {bits}'d0"),
            None => value,
        };
        let bits = 8 * field.shape.bytes();
        let width = width(field.shape) as usize;
        let cast = |net: &str| match width == bits {
            true => net.to_owned(),
            false => format!("{bits}'({net})"),
        };
        match (field.shape, field.shape.count()) {
            (Shape::Planes(_), 1) => guarded(format!("64'({})", nets[0]), 64),
            (Shape::Planes(n), _) => {
                let plane = |i: usize| match nets.len() {
                    1 => format!("64'({}[LANES*{i} +: LANES])", nets[0]),
                    _ => format!("64'({})", nets[i]),
                };
                let planes: Vec<String> = (0..n).rev().map(|i| guarded(plane(i), 64)).collect();
                format!("{{{}}}", planes.join(", "))
            }
            (_, 1) => guarded(cast(&nets[0]), bits),
            // The RTL's vector has the layout of the struct.
            (_, count) if nets.len() == 1 && width == bits && field.depth.is_none() => {
                guarded(nets[0].clone(), bits * count)
            }
            (_, count) => {
                let depth = field.depth.as_ref().and_then(|depth| self.field(depth));
                let element = |i: usize| {
                    let value = match nets.len() {
                        1 => format!("{bits}'({}[{width}*{i} +: {width}])", nets[0]),
                        _ => cast(&nets[i]),
                    };
                    match depth {
                        None => guarded(value, bits),
                        Some(depth) => {
                            let net = self.number(depth);
                            format!("(32'({net}) > 32'd{i}) ? {value} : {bits}'d0")
                        }
                    }
                };
                let elements: Vec<String> = (0..count).rev().map(element).collect();
                format!("{{\n      {}\n    }}", elements.join(",\n      "))
            }
        }
    }

    fn state_o(&self, out: &mut String) {
        out.push_str(
            "  // What is not valid reads as 0 on both sides. One assignment, not one a field: Verilator then builds each\n  \
             // word once.\n",
        );
        self.gather("state_o", |field| self.nets(field), out);
        match self.shows_now() {
            true => self.gather("now_o", |field| self.nets_now(field), out),
            false => out.push_str("  assign now_o = 1'b0;\n\n"),
        }
    }

    /// Assigns the state whose fields have their values on `nets` to `port`.
    fn gather(&self, port: &str, nets: impl Fn(&State) -> Vec<String>, out: &mut String) {
        let _ = writeln!(out, "  assign {port} = '{{");
        let members = layout(self.state.iter().map(|field| (field.shape, field)));
        let mut pads = 0;
        let mut lines: Vec<String> = Vec::new();
        for member in &members {
            lines.push(match member.what {
                Some(field) => {
                    let value = self.gathered(field, &nets(field));
                    format!("    {}: {value}", field.name)
                }
                None => {
                    pads += 1;
                    format!("    {}: '0", pad(pads - 1))
                }
            });
        }
        lines.reverse();
        let _ = write!(out, "{}\n  }};\n\n", lines.join(",\n"));
    }

    fn mismatch(&self, out: &mut String) {
        out.push_str(
            "  // Nothing is compared before the first edge of the clock, and outputs that depend on pins of the same cycle not at\n  \
             // that edge either: no reset has set the registers before it.\n  \
             logic first_q = 1'b0, second_q = 1'b0;\n  \
             always_ff @(posedge clk_i) {second_q, first_q} <= {first_q, 1'b1};\n\n",
        );
        out.push_str("  always_ff @(edge bench_i) if (!load_i) begin\n");
        for (i, field) in self.state.iter().enumerate() {
            let name = &field.name;
            let compared = match self.not_first(field) {
                _ if self.transactions => "1'b0",
                true => "second_q",
                false => "first_q",
            };
            let _ = writeln!(
                out,
                "    mismatch_o[{i}] <= {compared} & (state_o.{name} != golden_i.{name});"
            );
        }
        let name = &self.name;
        // A golden model that speaks in transactions has no state.
        let golden = match self.transactions {
            true => "state_o",
            false => "golden_i",
        };
        let _ = write!(
            out,
            "  end\n\n  // Both sides under the same names: rtl_view.NAME beside golden_view.NAME.\n  \
             /*verilator tracing_on*/\n  \
             {name}_view #(.LANES(LANES)) rtl_view (.bench_i, .load_i, .state_i(state_o));\n  \
             {name}_view #(.LANES(LANES)) golden_view (.bench_i, .load_i, .state_i({golden}));\n  \
             /*verilator tracing_off*/\n\n"
        );
    }
}

/// Returns name and range of net `i` of the `count` nets of `field`.
fn net(field: &State, name: &str, count: usize, i: usize) -> (String, String) {
    let elements = field.shape.count();
    let range = match (field.shape, count) {
        (Shape::Planes(n), 1) if n > 1 => format!("[{n}*LANES-1:0] "),
        (Shape::Planes(_), _) => "[LANES-1:0] ".to_owned(),
        (Shape::Words { width, .. }, 1) if elements > 1 => format!("[{elements}*{width}-1:0] "),
        (Shape::Words { width: 1, .. }, _) => String::new(),
        (Shape::Words { width, .. }, _) => format!("[{}:0] ", width - 1),
    };
    match count {
        1 => (name.to_owned(), range),
        _ => (format!("{name}{i}"), range),
    }
}

/// Returns name and range of the nets at the output ports of `field`.
fn output_nets(field: &State) -> Vec<(String, String)> {
    let count = field.outputs.len();
    (0..count)
        .map(|i| net(field, &field.name, count, i))
        .collect()
}

/// Returns the bits of lane `i` of a field of planes, the highest bit first.
fn planes_of_lane(field: &State) -> Vec<String> {
    let name = &field.name;
    match field.shape {
        Shape::Planes(1) => vec![format!("state_i.{name}[i]")],
        shape => (0..shape.count())
            .rev()
            .map(|b| format!("state_i.{name}[{b}][i]"))
            .collect(),
    }
}
