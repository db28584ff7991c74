//! Generates the Rust side: structs, defaults, lists.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::parse::{is_identifier, is_plain, module, ones};
use crate::{
    Channel, Declaration, Enum, Level, Part, Pin, Role, Shape, Show, State, View, Wire, layout,
};

mod cover;

impl Declaration {
    /// Generates a Rust file with the structs `In` and `State`, their defaults, the list `FIELDS`, and `DECLARATION`, which
    /// has everything that a bench needs to know about the design. `toml` is the text that was parsed; `bench` is the path
    /// of the crate with the types that these use, such as `crate`. `folder` is the folder of the declaration, relative to the
    /// package, and `sources` a digest of the sources of the package.
    pub fn rust(&self, toml: &str, bench: &str, folder: &str, sources: &str) -> String {
        let mut out = format!(
            "// Generated from the declaration of {}; change that.\n\n",
            self.name
        );
        self.rust_enums(&mut out);
        self.rust_letters(&mut out);
        self.rust_pins(&mut out, bench);
        self.rust_state(&mut out, bench);
        self.rust_lists(&mut out, toml, bench, folder, sources);
        out
    }

    fn rust_enums(&self, out: &mut String) {
        if !self.enums.is_empty() {
            let modules: String = self
                .enums
                .iter()
                .map(|table| self.rust_values(table))
                .collect();
            let _ = writeln!(
                out,
                "/// The values of each enum.\n#[allow(dead_code)]\npub mod values {{\n{modules}}}\n"
            );
        }
        for table in &self.enums {
            let _ = writeln!(
                out,
                "/// Names of the values of `{}`.\npub const {}: [&str; {}] = {:?};\n",
                table.name,
                names_of(&table.name),
                table.names.len(),
                table.names
            );
            if !table.is_counted() {
                let _ = writeln!(
                    out,
                    "/// The values that have these names.\npub const {}: [u64; {}] = {:?};\n",
                    values_of(&table.name),
                    table.values.len(),
                    table.values
                );
            }
        }
    }

    /// Returns a module with a constant for each value of `table` whose name can be that of one.
    fn rust_values(&self, table: &Enum) -> String {
        let shows = |field: &&State| matches!(&field.show, Show::Enum(name) if *name == table.name);
        let of_pin = |pin: &&Pin| pin.of_enum.as_ref() == Some(&table.name);
        let shape = (self.state.iter().find(shows).map(|field| field.shape))
            .or_else(|| self.pins.iter().find(of_pin).map(|pin| pin.shape));
        let of = match shape {
            Some(shape @ Shape::Words { .. }) => element(shape),
            _ if table.values.iter().all(|value| *value <= 0xff) => "u8".to_owned(),
            _ => "u64".to_owned(),
        };
        let mut text = format!(
            "    /// Of `{}`.\n    pub mod {} {{\n",
            table.name,
            module(&table.name)
        );
        let mut taken = BTreeSet::new();
        for (name, value) in table.names.iter().zip(&table.values) {
            let constant = name.to_uppercase();
            if is_identifier(&constant) && taken.insert(constant.clone()) {
                let _ = writeln!(
                    text,
                    "        /// {name}.\n        pub const {constant}: {of} = {value};"
                );
            }
        }
        text + "    }\n"
    }

    fn rust_letters(&self, out: &mut String) {
        for view in self.views.iter().filter(|view| !view.letters.is_empty()) {
            let letters: Vec<&String> = view.letters.iter().map(|(letter, _)| letter).collect();
            let _ = writeln!(
                out,
                "/// Letters of the values of `{}`, as lanes are printed.\npub const {}_LETTERS: [&str; {}] = {letters:?};\n",
                view.fields[0],
                view.name.to_uppercase(),
                letters.len(),
            );
        }
    }

    fn rust_pins(&self, out: &mut String, bench: &str) {
        let about = format!(
            "The pins of one cycle: {}\n\nLane masks: bit i is lane i; flags are 0 or 1.",
            self.doc
        );
        let members: Vec<_> = self
            .pins
            .iter()
            .map(|p| (p.shape, (&p.name, &p.doc)))
            .collect();
        structure(out, bench, "In", &about, &members);
        out.push_str("impl Default for In {\n    /// Every pin as it is unless it is driven.\n    fn default() -> Self {\n        In {\n");
        let mut rest = false;
        for pin in &self.pins {
            let value = match (pin.default, pin.shape) {
                (0, _) => {
                    rest = true;
                    continue;
                }
                (value, Shape::Planes(1)) => format!("0x{value:x}"),
                (value, shape) if shape.count() == 1 => format!("0x{value:x}"),
                (value, shape) => match element(shape).as_str() {
                    int if int.starts_with('u') => format!("[0x{value:x}; {}]", shape.count()),
                    _ => {
                        let bytes = &value.to_le_bytes()[..shape.bytes()];
                        format!("[{bytes:?}; {}]", shape.count())
                    }
                },
            };
            let _ = writeln!(out, "            {}: {value},", pin.name);
        }
        let padded = layout(self.pins.iter().map(|p| (p.shape, ())))
            .iter()
            .any(|m| m.what.is_none());
        if rest || padded {
            let _ = writeln!(out, "            ..{bench}::bytemuck::Zeroable::zeroed()");
        }
        out.push_str("        }\n    }\n}\n\n");
        let signed = self.pins.iter().filter(|pin| pin.signed);
        let signed: String = signed.map(|pin| numbers(&pin.name, pin.shape)).collect();
        let _ = write!(out, "impl In {{\n{}{signed}}}\n\n", self.controls());
        let _ = writeln!(out, "impl {bench}::design::Control for In {{");
        let at_once = match self.pins.iter().any(|pin| pin.asynchronous) {
            true => "self.is_reset()",
            false => "false",
        };
        // The same under the trait, for code that is generic over designs.
        for (head, call) in [
            ("fn reset() -> Self", "In::reset()"),
            ("fn is_reset(&self) -> bool", "self.is_reset()"),
            (
                "fn set_stall(&mut self, stall: bool)",
                "self.set_stall(stall)",
            ),
            ("fn is_stalled(&self) -> bool", "self.is_stalled()"),
            ("fn resets_at_once(&self) -> bool", at_once),
        ] {
            let _ = writeln!(out, "    {head} {{\n        {call}\n    }}");
        }
        out.push_str("}\n\n");
    }

    /// Returns the methods for the pins that the bench itself drives. Without such a pin they do nothing.
    fn controls(&self) -> String {
        let reset = self
            .reset()
            .map(|(pin, level)| (&pin.name, u8::from(level == Level::High)));
        let stall = self
            .pins
            .iter()
            .find(|p| p.role == Role::Stall)
            .map(|pin| &pin.name);
        let reset_in = match reset {
            Some((name, asserted)) => format!("In {{ {name}: {asserted}, ..In::default() }}"),
            None => "In::default()".to_owned(),
        };
        let is_reset = match reset {
            Some((name, asserted)) => format!("self.{name} == {asserted}"),
            None => "false".to_owned(),
        };
        let set_stall = match stall {
            Some(name) => format!("self.{name} = stall.into();"),
            None => "let _ = stall;".to_owned(),
        };
        let is_stalled = match stall {
            Some(name) => format!("self.{name} == 1"),
            None => "false".to_owned(),
        };
        let method = |about: &str, head: &str, body: &str| {
            format!("    /// {about}\n    pub fn {head} {{\n        {body}\n    }}\n")
        };
        [
            method(
                "Returns the pins with the reset asserted.",
                "reset() -> Self",
                &reset_in,
            ),
            method(
                "Returns whether the reset is asserted.",
                "is_reset(&self) -> bool",
                &is_reset,
            ),
            method(
                "Asserts or releases the stall.",
                "set_stall(&mut self, stall: bool)",
                &set_stall,
            ),
            method(
                "Returns whether the design is stalled.",
                "is_stalled(&self) -> bool",
                &is_stalled,
            ),
        ]
        .join("\n")
    }

    fn rust_state(&self, out: &mut String, bench: &str) {
        let about = format!("The state that is compared after a cycle: {}", self.doc);
        let members: Vec<_> = self
            .state
            .iter()
            .map(|s| (s.shape, (&s.name, &s.doc)))
            .collect();
        structure(out, bench, "State", &about, &members);
        let _ = write!(
            out,
            "impl Default for State {{\n    /// Everything 0.\n    fn default() -> Self {{\n        {bench}::bytemuck::Zeroable::zeroed()\n    }}\n}}\n\n"
        );
        let number = |field: &&State| matches!(field.shape, Shape::Words { .. });
        let signed = self.state.iter().filter(number);
        let signed = signed.filter(|field| field.show == Show::Signed);
        let signed: String = signed
            .map(|field| numbers(&field.name, field.shape))
            .collect();
        if !signed.is_empty() {
            let _ = write!(out, "impl State {{{signed}}}\n\n");
        }
    }

    fn rust_lists(&self, out: &mut String, toml: &str, bench: &str, folder: &str, sources: &str) {
        let _ = writeln!(
            out,
            "/// The fields of [`State`], in the order of the mismatch bits.\npub static FIELDS: [{bench}::field::Field; {}] = [",
            self.state.len()
        );
        for field in &self.state {
            let (name, shape) = (&field.name, shape(field.shape, bench));
            let width = width(field.shape);
            let (signal, signal_width) = match self.view_of(name) {
                Some(view) => (&view.name, self.view_width(view)),
                None => (name, width),
            };
            let filter = self.filter_of(field).map(|f| format!("{}_{f}", self.name));
            let _ = writeln!(
                out,
                "    {bench}::field::Field {{\n        name: {name:?},\n        offset: core::mem::offset_of!(State, {name}),\n        shape: {shape},\n        \
                 width: {width},\n        show: {},\n        signal: {signal:?},\n        signal_width: {signal_width},\n        \
                 filter: {filter:?},\n        signed: {},\n        context: {},\n        clock: {:?},\n        not_first: {},\n        sampled: {},\n        compared: {},\n        output: {},\n        per_wavefront: {},\n    }},",
                show(&field.show, width, &self.enums, bench),
                field.show == Show::Signed,
                field.context,
                field.clock,
                self.not_first(field),
                field.sampled || self.is_combinational(),
                self.rust_compared(field, bench),
                !field.outputs.is_empty(),
                field.per_wavefront,
            );
        }
        let _ = writeln!(
            out,
            "];\n\n/// The pins in [`In`], in their order.\npub static PINS: [{bench}::field::Pin; {}] = [",
            self.pins.len()
        );
        for pin in &self.pins {
            let (name, role) = (&pin.name, pin.role);
            let role = match role {
                Role::Reset(level) => {
                    format!("Reset {{ asserted: {} }}", u8::from(level == Level::High))
                }
                Role::Stall => "Stall".to_owned(),
                Role::Clock { phase } => format!("Clock {{ phase: {phase:?} }}"),
                Role::Plain => "Plain".to_owned(),
            };
            let named = pin.of_enum.as_ref().map(|of| {
                let of = Show::Enum(of.clone());
                show(&of, width(pin.shape), &self.enums, bench)
            });
            let named = named.map_or_else(|| "None".to_owned(), |named| format!("Some({named})"));
            let _ = writeln!(
                out,
                "    {bench}::field::Pin {{\n        name: {name:?},\n        offset: core::mem::offset_of!(In, {name}),\n        shape: {},\n        width: {},\n        \
                 role: {bench}::field::Role::{role},\n        clock: {:?},\n        default: 0x{:x},\n        range: (0x{:x}, 0x{:x}),\n        values: &{:?},\n        percent: {},\n        signed: {},\n        named: {named},\n    }},",
                shape(pin.shape, bench),
                width(pin.shape),
                pin.clock,
                pin.default,
                pin.range.0,
                pin.range.1,
                pin.values,
                pin.percent,
                pin.signed,
            );
        }
        out.push_str("];\n\n");
        let _ = write!(
            out,
            "/// What the declaration says of the design.\npub const DECLARATION: {bench}::field::Declaration = {bench}::field::Declaration {{\n    \
             toml: {toml:?},\n    name: {:?},\n    doc: {:?},\n    folder: {},\n    \
             sources: {sources:?},\n    lanes: {:?},\n    wavefronts: {},\n    parameters: &[",
            self.name,
            self.doc,
            match std::path::Path::new(folder).is_absolute() {
                true => format!("{folder:?}"),
                false => {
                    let below = format!("/{folder}");
                    format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), {below:?})")
                }
            },
            self.lanes.as_ref().map(|lanes| lanes.default),
            self.lanes.as_ref().map_or(1, |lanes| lanes.wavefronts)
        );
        for parameter in &self.parameters {
            let ((low, high), values) = (parameter.range, &parameter.values);
            let _ = write!(
                out,
                "\n        {bench}::field::Parameter {{ name: {:?}, default: {}, range: {low}..={high}, values: &{values:?} }},",
                parameter.name, parameter.default
            );
        }
        if !self.parameters.is_empty() {
            out.push_str("\n    ");
        }
        out.push_str("],\n    pins: &PINS,\n    fields: &FIELDS,\n    tables: &[");
        for (name, width, values) in self.tables() {
            let _ = write!(
                out,
                "\n        {bench}::field::Table {{\n            name: \"{}_{name}\",\n            width: {width},\n            values: &{values:?},\n        }},",
                self.name
            );
        }
        if !self.tables().is_empty() {
            out.push_str("\n    ");
        }
        self.rust_channels(out, bench);
        let transactions = self.transactions;
        let _ = write!(out, "],\n    transactions: {transactions},\n    inputs: &[");
        let mut shown = BTreeSet::new();
        // Control pins come first, then flags, words and masks.
        let mut pins: Vec<_> = self.pins.iter().collect();
        pins.sort_by_key(|pin| match (pin.role, pin.shape) {
            (Role::Clock { .. }, _) => 0,
            (Role::Reset(_), _) => 1,
            (Role::Stall, _) => 2,
            (_, Shape::Words { width: 1, .. }) => 3,
            (_, Shape::Words { .. }) => 4,
            (_, Shape::Planes(_)) => 5,
        });
        for pin in pins {
            // One port has all elements, or each has one.
            let (one, per_lane) = match pin.shape {
                Shape::Planes(_) => (1, true),
                Shape::Words { width, count } => (width, count.is_none()),
            };
            let elements = match pin.shape {
                Shape::Planes(n) => n as u32,
                Shape::Words { count, .. } => count.unwrap_or(1) as u32,
            };
            let bits = (one * elements).div_ceil(pin.ports.len() as u32);
            // A part of a port is shown with all of it; a dump may have an escaped name otherwise.
            for port in pin.ports.iter().take(pin.in_waves) {
                let name = &port.name;
                if !is_plain(name) || !shown.insert(name) {
                    continue;
                }
                let bits = match port.bits {
                    None => bits,
                    Some(_) => self.bits_of(name),
                };
                let _ = write!(
                    out,
                    "\n        {bench}::field::Input {{ signal: \"dut.{name}\", bits: {bits}, per_lane: {per_lane} }},"
                );
            }
        }
        if !shown.is_empty() {
            out.push_str("\n    ");
        }
        let covers = self.rust_covers(bench);
        let _ = write!(
            out,
            "],\n    literals: &{:?},\n    covers: &[{covers}{}],\n    coverpoints: &{:?},\n}};\n",
            self.literals,
            if covers.is_empty() { "" } else { "\n    " },
            self.coverpoints
                .iter()
                .map(|point| &point.name)
                .collect::<Vec<_>>()
        );
    }

    /// Writes the channels, behind the tables.
    fn rust_channels(&self, out: &mut String, bench: &str) {
        out.push_str("],\n    channels: &[");
        let wire = |wire: &Wire| format!("{bench}::field::Wire::{wire:?}");
        for channel in &self.channels {
            let Channel {
                name,
                side,
                valid,
                ready,
                payload,
                clock,
                withdraw,
                unless,
                never,
                latency,
            } = channel;
            let clock = clock.as_ref();
            let clock = clock.and_then(|clock| self.pins.iter().position(|p| p.name == *clock));
            let payload: Vec<String> = payload.iter().map(wire).collect();
            let unless = unless.as_ref();
            let unless = unless.map_or("&[]".to_owned(), |when| self.rust_condition(when, bench));
            let _ = write!(
                out,
                "\n        {bench}::field::Channel {{\n            name: {name:?},\n            side: {bench}::field::Side::{side:?},\n            \
                 valid: {},\n            ready: {},\n            payload: &[{}],\n            clock: {clock:?},\n            \
                 withdraw: {withdraw},\n            unless: {unless},\n            never: 0x{never:x},\n            latency: {latency:?},\n        }},",
                wire(valid),
                wire(ready),
                payload.join(", "),
            );
        }
        if !self.channels.is_empty() {
            out.push_str("\n    ");
        }
    }

    // ---- tables of names ------------------------------------------------------------------------------

    /// Returns the number of bits of a view.
    fn view_width(&self, view: &View) -> u32 {
        let fields = view.fields.iter().filter_map(|name| self.field(name));
        fields.map(|field| width(field.shape)).sum()
    }

    /// Returns the table that names the values of the signal that shows `field`.
    fn filter_of<'a>(&'a self, field: &'a State) -> Option<&'a str> {
        match (self.view_of(&field.name), &field.show) {
            (Some(view), _) => Some(&view.table),
            (None, Show::Enum(name)) => {
                let mut enums = self.enums.iter();
                enums.find(|e| e.name == *name).map(|e| e.table.as_str())
            }
            _ => None,
        }
    }

    /// Returns every table of names that the waves use.
    fn tables(&self) -> Vec<NameTable<'_>> {
        let mut tables = Vec::new();
        for view in self.views.iter().filter(|view| !view.letters.is_empty()) {
            let widths = view.fields.iter().filter_map(|name| self.field(name));
            let widths: Vec<u32> = widths.map(|field| width(field.shape)).collect();
            let total: u32 = widths.iter().sum();
            let mut values = Vec::new();
            for ((letter, count), class) in view.letters.iter().zip(0u64..) {
                let class = class << (total - widths[0]);
                let counted = count
                    .as_ref()
                    .and_then(|count| view.fields.iter().position(|f| f == count));
                match counted {
                    None => values.push((class, letter.clone())),
                    Some(at) => {
                        let shift: u32 = widths[at + 1..].iter().sum();
                        let counts = 0..=ones(widths[at]);
                        values.extend(counts.map(|n| (class | n << shift, format!("{letter}{n}"))));
                    }
                }
            }
            tables.push((view.table.as_str(), total, values));
        }
        for table in &self.enums {
            let shown = |field: &&State| {
                self.view_of(&field.name).is_none()
                    && matches!(&field.show, Show::Enum(name) if *name == table.name)
            };
            if let Some(field) = self.state.iter().find(shown) {
                let values = table.values.iter().copied();
                let names = values.zip(table.names.iter().cloned());
                tables.push((table.table.as_str(), width(field.shape), names.collect()));
            }
        }
        tables
    }
}

/// A table of names: name, width, and values with their names.
type NameTable<'a> = (&'a str, u32, Vec<(u64, String)>);

fn values_of(table: &str) -> String {
    format!("{}_VALUES", table.to_uppercase())
}

fn names_of(table: &str) -> String {
    format!("{}_NAMES", table.to_uppercase())
}

/// Returns the significant bits of an element.
pub(crate) fn width(shape: Shape) -> u32 {
    match shape {
        Shape::Planes(n) => n as u32,
        Shape::Words { width, .. } => width,
    }
}

/// Returns the type of one element.
fn element(shape: Shape) -> String {
    match shape.bytes() {
        bytes @ (1 | 2 | 4 | 8) => format!("u{}", 8 * bytes),
        bytes => format!("[u8; {bytes}]"),
    }
}

/// Returns the shape as code for the bench's crate.
fn shape(shape: Shape, bench: &str) -> String {
    match shape {
        Shape::Planes(n) => format!("{bench}::field::Shape::Planes({n})"),
        Shape::Words { .. } => format!(
            "{bench}::field::Shape::Words {{ bytes: {}, count: {} }}",
            shape.bytes(),
            shape.count()
        ),
    }
}

/// Writes `text` as a doc comment.
fn doc(out: &mut String, indent: &str, text: &str) {
    for line in text.trim().lines() {
        let line = line.trim();
        let space = if line.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{indent}///{space}{line}");
    }
}

fn structure(
    out: &mut String,
    bench: &str,
    name: &str,
    about: &str,
    members: &[(Shape, (&String, &String))],
) {
    doc(out, "", about);
    let _ = writeln!(
        out,
        "#[repr(C)]\n#[derive(Clone, Copy, Debug, PartialEq, Eq, {bench}::bytemuck::Pod, {bench}::bytemuck::Zeroable)]\n\
         #[bytemuck(crate = \"{bench}::bytemuck\")]\npub struct {name} {{"
    );
    let mut pads = 0;
    for member in layout(
        members
            .iter()
            .map(|(shape, what)| (*shape, (*shape, *what))),
    ) {
        match member.what {
            Some((shape, (field, about))) => {
                doc(out, "    ", about);
                let of = element(shape);
                let of = match shape.count() {
                    1 => of,
                    count => format!("[{of}; {count}]"),
                };
                let _ = writeln!(out, "    pub {field}: {of},");
            }
            None => {
                let number = if pads == 0 {
                    String::new()
                } else {
                    pads.to_string()
                };
                let size = member.size;
                let _ = writeln!(out, "    /// Always 0.\n    pub pad{number}: [u8; {size}],");
                pads += 1;
            }
        }
    }
    out.push_str("}\n\n");
}

// ---- printers -------------------------------------------------------------------------------------------

/// Returns the printer of an element as an expression of type `fn(u64) -> String`.
fn show(show: &Show, width: u32, enums: &[Enum], bench: &str) -> String {
    match show {
        Show::Decimal => "|v| v.to_string()".to_owned(),
        Show::Hex => format!("|v| format!(\"0x{{v:0{}x}}\")", width.div_ceil(4)),
        Show::Address => "|v| format!(\"0x{v:03x}\")".to_owned(),
        Show::Signed => format!("|v| {}.to_string()", signed("v", width)),
        Show::Binary => format!("|v| format!(\"{{v:0{width}b}}\")"),
        Show::Enum(name) => {
            let of = enums.iter().find(|e| e.name == *name);
            let printer = if of.is_some_and(|e| e.numbered) {
                "code"
            } else {
                "named"
            };
            let index = match of.is_none_or(Enum::is_counted) {
                true => "v".to_owned(),
                false => format!("{bench}::field::show::place(&{}, v)", values_of(name)),
            };
            let names = names_of(name);
            format!("|v| {bench}::field::show::{printer}(&{names}, {index}, v)")
        }
        Show::Parts(parts) => {
            let form: Vec<String> = parts.iter().map(form).collect();
            let values: Vec<String> = parts.iter().map(|p| value(p, bench)).collect();
            format!("|v| format!({:?}, {})", form.join(" "), values.join(", "))
        }
    }
}

fn signed(value: &str, width: u32) -> String {
    match 64 - width {
        0 => format!("({value} as i64)"),
        unused => format!("((({value}) << {unused}) as i64 >> {unused})"),
    }
}

/// Returns the methods that get and set the signed pin or field `name`.
fn numbers(name: &str, shape: Shape) -> String {
    let unsigned = match shape.bytes() {
        bytes @ (1 | 2 | 4 | 8) => format!("u{}", 8 * bytes),
        _ => "u64".to_owned(),
    };
    let of = unsigned.replace('u', "i");
    let (at, i, i_of) = match shape.count() {
        1 => ("", "", String::new()),
        _ => ("[i]", "i: usize, ", ", i: usize".to_owned()),
    };
    let width = width(shape);
    let unused = unsigned[1..].parse().unwrap_or(64) - width;
    let mask = match unused {
        0 => String::new(),
        _ => format!(" & 0x{:x}", ones(width)),
    };
    let (get, set) = match element(shape) == unsigned {
        true => (
            format!("self.{name}{at}"),
            format!("self.{name}{at} = value as {unsigned}{mask};"),
        ),
        // Elements without gaps between them.
        false => {
            let bytes = shape.bytes();
            (
                format!(
                    "{{\n            let mut all = [0; 8];\n            all[..{bytes}].copy_from_slice(&self.{name}{at});\n            \
                     u64::from_le_bytes(all)\n        }}"
                ),
                format!("self.{name}{at}.copy_from_slice(&value.to_le_bytes()[..{bytes}]);"),
            )
        }
    };
    let get = match unused {
        0 => format!("{get} as {of}"),
        _ => format!("({get} << {unused}) as {of} >> {unused}"),
    };
    format!(
        "\n    /// Returns `{name}` as a number with a sign.\n    #[allow(dead_code)]\n    pub fn signed_{name}(&self{i_of}) -> {of} {{\n        {get}\n    }}\n\n    \
         /// Sets `{name}` to the lowest {width} bits of `value`.\n    #[allow(dead_code)]\n    pub fn set_signed_{name}(&mut self, {i}value: {of}) {{\n        {set}\n    }}\n"
    )
}

fn form(part: &Part) -> String {
    let name = part.name.replace('{', "{{").replace('}', "}}");
    match name.as_str() {
        "" => "{}".to_owned(),
        name => format!("{name}={{}}"),
    }
}

fn value(part: &Part, bench: &str) -> String {
    let (low, high) = part.bits;
    let bits = (high - low + 1) as u32;
    let value = match low {
        0 => format!("v & 0x{:x}", ones(bits)),
        _ => format!("v >> {low} & 0x{:x}", ones(bits)),
    };
    if !part.names.is_empty() {
        format!(
            "{{ let v = {value}; {bench}::field::show::named(&{:?}, v, v) }}",
            part.names
        )
    } else if part.signed {
        signed(&value, bits)
    } else {
        format!("({value})")
    }
}
