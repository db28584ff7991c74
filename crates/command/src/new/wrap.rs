//! A wrapper for a module whose ports a bench top cannot connect: interfaces, unpacked arrays, inouts, and types as parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use reconverge::input::InputError;
use reconverge_declaration::Port as Named;

use super::UNKNOWN;
use super::parameters::{Parameter, heads, used_in};
use super::tree::{self, Bus, Direction, Kind, Node, Port, Type};

/// A port of the module that is an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    port: String,
    /// Name of the interface, with its parameters.
    of: String,
    modport: String,
    /// Dimensions, as in the source.
    dimensions: String,
    /// What is imported for them, and the parameters that they use, by name.
    imports: Vec<String>,
    constants: Vec<(String, String)>,
}

/// What `--type` gives.
type Types<'a> = &'a [(String, String)];

/// A module that is wrapped.
pub(super) struct Wrapped<'a> {
    pub top: &'a str,
    pub parameters: &'a [Parameter],
    /// Types as parameters, and interfaces with their parameters as ports.
    pub types: Types<'a>,
    pub interfaces: Vec<Interface>,
}

/// A wrapper: its text, and the types of its ports, where they are known.
pub(super) struct Wrapper {
    pub text: String,
    pub types: BTreeMap<String, Type>,
}

/// Returns whether a wrapper helps against what Verilator, or the reader of ports, has `said`.
pub(super) fn helps(said: &str, interfaces: &[Interface]) -> bool {
    let interface = said.contains("Interfaced port on top level module") && !interfaces.is_empty();
    interface || said.contains("is an unpacked array") || said.contains("is an inout")
}

/// Returns what to say if one of the `sampled` outputs is a member of an interface: behind it there may be a struct, of which Verilator
/// tells as a whole whether it depends on pins.
pub(super) fn doubt(interfaces: &[Interface], sampled: &[String]) -> &'static str {
    let is_member = |output: &String| {
        let mut all = interfaces.iter();
        all.any(|of| {
            output
                .strip_prefix(&of.port)
                .is_some_and(|rest| rest.starts_with('_'))
        })
    };
    match sampled.iter().any(is_member) {
        true => {
            ". A member of an interface may still be a register, if a struct is behind it: then remove `sampled`"
        }
        false => "",
    }
}

/// Returns the ports of module `top` in the `texts` that are interfaces; those without a modport are left out.
///
/// # Errors
/// A text cannot be read.
pub(super) fn all(
    mut texts: impl Iterator<Item = Result<String, InputError>>,
    top: &str,
    types: Types,
) -> Result<Vec<Interface>, InputError> {
    let found = texts.find_map(|text| match text {
        Err(e) => Some(Err(e)),
        Ok(text) => heads(&text, top).map(|head| Ok(interfaces(head, types))),
    });
    found.unwrap_or_else(|| Ok(Vec::new()))
}

fn interfaces([imports, parameters, ports]: [Vec<&str>; 3], types: Types) -> Vec<Interface> {
    let mut found = Vec::new();
    let mut kind: Option<(String, String)> = None;
    for item in ports {
        let (item, dimensions) = item.split_at(item.find('[').unwrap_or(item.len()));
        let words: Vec<&str> = item.split_whitespace().collect();
        let port = match words[..] {
            [port] => port,
            [of, port] if of.contains('.') => {
                kind = of
                    .split_once('.')
                    .map(|(of, modport)| (of.to_owned(), modport.to_owned()));
                port
            }
            _ => {
                kind = None;
                continue;
            }
        };
        if let Some((of, modport)) = &kind {
            let given = types.iter().find(|(name, _)| name == port);
            found.push(Interface {
                port: port.to_owned(),
                of: given.map_or(of, |(_, text)| text).clone(),
                modport: modport.clone(),
                dimensions: dimensions.trim().to_owned(),
                imports: imports.iter().map(|&import| import.to_owned()).collect(),
                constants: used_in(dimensions, &parameters, types),
            });
        }
    }
    found
}

impl Wrapped<'_> {
    /// Returns a module with an instance of the module in it, from which Verilator tells the ports.
    pub fn probe(&self, name: &str) -> String {
        let ports: Vec<String> = self.buses().collect();
        format!(
            "/* verilator lint_off PINMISSING */\nmodule {name}{};\n{}{}  {} {}u_{} ({});\nendmodule\n",
            self.head(),
            self.typedefs() + &self.constants(),
            self.instances(|_| String::new()),
            self.top,
            self.values(),
            self.top,
            ports.join(", ")
        )
    }

    /// Returns the connections of the ports that are interfaces.
    fn buses(&self) -> impl Iterator<Item = String> {
        let ports = self.interfaces.iter();
        ports.map(|of| format!(".{0}({0})", of.port))
    }

    /// Returns whether port or parameter `name` is an interface.
    fn is_bus(&self, name: &str) -> bool {
        self.interfaces.iter().any(|of| of.port == *name)
    }

    /// Returns the head's parameters.
    fn head(&self) -> String {
        let all = self.parameters.iter();
        let all = all.map(|p| format!("  parameter int unsigned {} = {}", p.name, p.default));
        match self.parameters {
            [] => String::new(),
            _ => format!(" #(\n{}\n)", all.collect::<Vec<_>>().join(",\n")),
        }
    }

    /// Returns the values of the module's parameters.
    fn values(&self) -> String {
        let types = self.types.iter().filter(|(name, _)| !self.is_bus(name));
        let types = types.map(|(name, of)| match has_members(of) {
            true => format!(".{name}({})", self.named(name)),
            false => format!(".{name}({of})"),
        });
        let numbers = self.parameters.iter().map(|p| match &p.of_enum {
            Some(of) => format!(".{0}({of}'({0}))", p.name),
            None => format!(".{0}({0})", p.name),
        });
        let all: Vec<String> = numbers.chain(types).collect();
        match all.is_empty() {
            true => String::new(),
            false => format!("#({}) ", all.join(", ")),
        }
    }

    /// Returns the name of the type of parameter `name` in the wrapper.
    fn named(&self, name: &str) -> String {
        format!("u_{}_{name}", self.top)
    }

    /// Returns the types with members by name, which other readers than Verilator want.
    fn typedefs(&self) -> String {
        let types = self.types.iter().filter(|(_, of)| has_members(of));
        let types = types.map(|(name, of)| format!("  typedef {of} {};\n", self.named(name)));
        types.collect()
    }

    /// Returns the parameters in the dimensions of interfaces that are not in the head, such as structs.
    fn constants(&self) -> String {
        let (mut imports, mut text) = (BTreeSet::new(), String::new());
        let mut known: BTreeSet<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
        for of in &self.interfaces {
            for (name, declared) in &of.constants {
                if known.insert(name) {
                    imports.extend(&of.imports);
                    let _ = writeln!(text, "  {declared}");
                }
            }
        }
        let imports: String = imports
            .iter()
            .map(|of| format!("  import {of};\n"))
            .collect();
        imports + &text
    }

    /// Returns the instances of the interfaces, each with its own ports.
    fn instances(&self, ports: impl Fn(&Interface) -> String) -> String {
        let all = self.interfaces.iter().map(|of| {
            let space = if of.dimensions.is_empty() { "" } else { " " };
            format!(
                "  {} {}{space}{} ({});\n",
                of.of,
                of.port,
                of.dimensions,
                ports(of)
            )
        });
        all.collect()
    }

    /// Makes the wrapper `name` from the tree of the probe.
    ///
    /// # Errors
    /// Why a port cannot be connected.
    pub fn wrapper(&self, root: &Node, probe: &str, name: &str) -> Result<Wrapper, String> {
        let ports = tree::ports(root, self.top).ok_or(UNKNOWN)?;
        let mut out = Out {
            probe: format!("{probe}."),
            ..Out::default()
        };
        for (parameter, of) in self.types {
            if !self.is_bus(parameter) {
                out.say(&format!("parameter {parameter} is {of}"));
            }
        }
        for port in &ports {
            out.port(port)?;
        }
        let mut own = BTreeMap::new();
        for interface in &self.interfaces {
            let port = &interface.port;
            let bus = tree::bus(root, probe, port, &interface.modport);
            let bus = bus.ok_or_else(|| {
                format!(
                    "interface port {port}: {} has no modport {}",
                    interface.of, interface.modport
                )
            })?;
            own.insert(port.clone(), out.bus(interface, &bus, &ports)?);
        }
        let said = out.said.iter().map(|line| format!("//   * {line}\n"));
        let said: String = said.collect();
        let connected = ports.iter().zip(&out.connected);
        let connected = connected.map(|(port, net)| format!("    .{}({net})", verilog(&port.name)));
        let buses = self.buses().map(|bus| format!("    {bus}"));
        let connected: Vec<String> = connected.chain(buses).collect();
        let text = format!(
            "// The ports of {top} as a bench can connect them, written by `reconverge new`. There is no logic in it; a register of the\n\
             // module is `dut.u_{top}.NAME` in a probe.\n{said}\nmodule {name}{} (\n  {}\n);\n{}{}{}  {top} {}u_{top} (\n{}\n  );\n{}endmodule\n",
            self.head(),
            out.ports.join(",\n  "),
            self.typedefs() + &self.constants(),
            out.nets,
            self.instances(|of| own.get(&of.port).cloned().unwrap_or_default()),
            self.values(),
            connected.join(",\n"),
            out.assigns,
            top = self.top,
        );
        Ok(Wrapper {
            text,
            types: out.types,
        })
    }
}

/// Returns the name that a wrapper has for the type with the full `name`; `probe` is what the names of its own types begin with.
pub(super) fn name_of(name: &str, probe: &str) -> Option<String> {
    let own = name
        .strip_prefix("$unit::")
        .or_else(|| name.strip_prefix(probe))
        .unwrap_or(name);
    // What is left is in another module, where only that one reaches it.
    (!own.contains('.')).then(|| own.to_owned())
}

/// Tells whether a type is written out with its members.
fn has_members(of: &str) -> bool {
    ["struct", "union", "enum"].contains(&of.split_whitespace().next().unwrap_or_default())
}

/// The parts of a wrapper.
#[derive(Default)]
struct Out {
    ports: Vec<String>,
    nets: String,
    assigns: String,
    /// What is connected to each port of the module.
    connected: Vec<String>,
    said: Vec<String>,
    types: BTreeMap<String, Type>,
    /// The names of its ports and nets.
    taken: BTreeSet<String>,
    /// With what the names of the probe's own types begin.
    probe: String,
}

impl Out {
    fn say(&mut self, line: &str) {
        self.said.push(line.to_owned());
    }

    /// Takes a name.
    ///
    /// # Errors
    /// It is taken.
    fn take(&mut self, name: &str) -> Result<(), String> {
        match self.taken.insert(name.to_owned()) {
            true => Ok(()),
            false => Err(format!(
                "its wrapper would have two signals of the name {name}: rename one of its ports"
            )),
        }
    }

    /// Declares a port of the wrapper.
    fn declare(&mut self, name: &str, output: bool, of: &Type) -> Result<(), String> {
        self.take(name)?;
        let direction = if output { "output" } else { "input " };
        let range = range(of.bits);
        self.ports
            .push(format!("{direction} logic {range}{}", verilog(name)));
        self.types.insert(name.to_owned(), of.clone());
        Ok(())
    }

    /// Connects `part` of a port of the wrapper, an output or an input, with `inner`, which is an `of`.
    fn assign(&mut self, output: bool, of: &Type, part: &str, inner: &str) {
        let (to, from) = match output {
            true => (part, inner.to_owned()),
            false => (inner, self.cast(of, part.to_owned())),
        };
        let assign = format!("  assign {to} = {from};\n");
        // No text has a name for the enum of another module.
        self.assigns += &match of.kind {
            Kind::Enum(..) if !output && self.enum_of(of).is_none() => {
                format!(
                    "  // verilator lint_off ENUMVALUE\n{assign}  // verilator lint_on ENUMVALUE\n"
                )
            }
            _ => assign,
        };
    }

    /// Returns a vector as a value of the type `of`: only an enum does not take it as it is.
    fn cast(&self, of: &Type, vector: String) -> String {
        match self.enum_of(of) {
            Some(name) => format!("{name}'({vector})"),
            None => vector,
        }
    }

    /// Returns the name that the wrapper has for the enum that a type is.
    fn enum_of(&self, of: &Type) -> Option<String> {
        let Kind::Enum(name, _) = &of.kind else {
            return None;
        };
        name_of(name, &self.probe)
    }

    /// Connects a port that is not an interface.
    fn port(&mut self, port: &Port) -> Result<(), String> {
        let Port {
            name,
            direction,
            of,
        } = port;
        let of = of
            .as_ref()
            .ok_or_else(|| format!("port {name} is not made of bits"))?;
        if let (Kind::List(..), Direction::Both) = (&of.kind, direction) {
            return Err(format!("port {name} is an inout and an array"));
        }
        let net = match (&of.kind, direction) {
            (Kind::List(..), _) | (_, Direction::Both) => format!("{}_net", plain(name)),
            _ => verilog(name),
        };
        if net != verilog(name) {
            self.take(&net)?;
        }
        match direction {
            Direction::Both => {
                let [drive, enable, value] =
                    ["in", "oe", "out"].map(|end| format!("{}_{end}", plain(name)));
                self.declare(&drive, false, of)?;
                self.declare(&enable, false, &Type::vector(1))?;
                self.declare(&value, true, of)?;
                self.say(&format!("{name} is an inout: {drive} drives it while {enable} is 1; {value} is its value, 0 if nothing drives it"));
                let range = range(of.bits);
                let _ = writeln!(self.nets, "  wire {range}{net};");
                let _ = writeln!(
                    self.assigns,
                    "  assign {net} = {enable} ? {drive} : 'z;\n  assign {value} = {net};"
                );
            }
            _ => {
                let output = *direction == Direction::Out;
                self.declare(name, output, of)?;
                if let Kind::List(..) = of.kind {
                    let (dimensions, element, indices) = unpacked(of);
                    let type_of = match self.enum_of(element) {
                        Some(name) => format!("{name} "),
                        None => vector(element),
                    };
                    let _ = writeln!(self.nets, "  {type_of}{net} {dimensions};");
                    self.say(&format!("{name} is an unpacked array {dimensions}: the element with the least index is the lowest"));
                    for (i, index) in indices.iter().enumerate() {
                        let part = match of.bits {
                            1 => verilog(name),
                            _ => {
                                let bits = element.bits;
                                format!("{}[{} +: {bits}]", verilog(name), i as u32 * bits)
                            }
                        };
                        let inner = format!("{net}{index}");
                        self.assign(output, element, &part, &inner);
                    }
                }
            }
        }
        self.connected.push(match direction {
            Direction::In => self.cast(of, net),
            _ => net,
        });
        Ok(())
    }

    /// Connects the members of an interface. Returns the ports of its instance.
    fn bus(&mut self, interface: &Interface, bus: &Bus, ports: &[Port]) -> Result<String, String> {
        let Interface {
            port, of, modport, ..
        } = interface;
        self.say(&format!(
            "{port} is the interface {of}, modport {modport}: its member M is {port}_M"
        ));
        self.take(port)?;
        let mut own = Vec::new();
        for input in &bus.inputs {
            let name = &input.name;
            // The clock of an interface is the one of the module.
            if ports
                .iter()
                .any(|port| port.name == *name && port.direction == Direction::In)
            {
                own.push(format!(".{0}({0})", verilog(name)));
                continue;
            }
            let Port {
                direction: Direction::In,
                of: Some(of),
                ..
            } = input
            else {
                return Err(format!(
                    "interface port {port}: only inputs can be ports of an interface, not {name}"
                ));
            };
            let outer = format!("{port}_{name}");
            self.declare(&outer, false, of)?;
            own.push(format!(".{}({outer})", verilog(name)));
        }
        let indices: Vec<String> = match bus.range {
            None => vec![String::new()],
            Some((left, right)) => (left.min(right)..=left.max(right))
                .map(|i| format!("[{i}]"))
                .collect(),
        };
        for member in &bus.members {
            let name = &member.name;
            let of = member.of.as_ref();
            let of = of.filter(|of| !matches!(of.kind, Kind::List(..)));
            let of = of.ok_or_else(|| {
                format!("interface port {port}: its member {name} is not made of bits")
            })?;
            let outer = format!("{port}_{name}");
            let output = match member.direction {
                Direction::In => false,
                Direction::Out => true,
                Direction::Both => {
                    return Err(format!(
                        "interface port {port}: its member {name} is an inout"
                    ));
                }
            };
            let whole = match indices.len() {
                1 => of.clone(),
                n => Type::new(n as u32 * of.bits, Kind::Array(Box::new(of.clone()), false)),
            };
            self.declare(&outer, output, &whole)?;
            for (i, index) in indices.iter().enumerate() {
                let part = match indices.len() {
                    1 => outer.clone(),
                    _ => format!("{outer}[{} +: {}]", i as u32 * of.bits, of.bits),
                };
                let inner = format!("{port}{index}.{}", verilog(name));
                self.assign(output, of, &part, &inner);
            }
        }
        Ok(own.join(", "))
    }
}

/// Returns the dimensions of an unpacked array, the type of its elements, and their indices, the lowest element first.
fn unpacked(of: &Type) -> (String, &Type, Vec<String>) {
    let Kind::List(inner, left, right) = &of.kind else {
        return (String::new(), of, vec![String::new()]);
    };
    let (dimensions, element, below) = unpacked(inner);
    let outer = *left.min(right)..=*left.max(right);
    let indices = outer.flat_map(|i| below.iter().map(move |index| format!("[{i}]{index}")));
    (
        format!("[{left}:{right}]{dimensions}"),
        element,
        indices.collect(),
    )
}

/// Returns the vector that stands for a type in an array: arrays connect only if their elements have the same sign and states.
fn vector(of: &Type) -> String {
    let states = if of.two_state { "bit" } else { "logic" };
    let sign = if of.signed { "signed " } else { "" };
    format!("{states} {sign}{}", range(of.bits))
}

fn range(bits: u32) -> String {
    match bits {
        1 => String::new(),
        _ => format!("[{}:0] ", bits - 1),
    }
}

fn verilog(name: &str) -> String {
    let name = name.to_owned();
    Named { name, bits: None }.verilog()
}

/// Returns a name without characters that need a backslash.
fn plain(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}
