//! The clocks of the module of `new`.

use std::fmt::{self, Display, Formatter};

use reconverge::input::InputError;
use verilate::Edge;

use super::{Declared, NewArgs, control};

/// Names and ports of the clocks of the module.
pub(super) struct Clocks(Vec<(String, String)>);

impl Clocks {
    /// Takes the clocks out of `ports`: the one that is asked for; or else the inputs with the name of a clock at whose rising `edges`
    /// registers change, if there are several; or else the one with such a name.
    ///
    /// # Errors
    /// The one that is asked for is not an input of one bit.
    pub fn of(
        args: &NewArgs,
        ports: &mut Vec<Declared>,
        edges: &[Edge],
        notes: &mut Vec<String>,
    ) -> Result<Self, InputError> {
        let asked = args.clock.as_ref();
        let clocks = |port: &&Declared| {
            let name = &port.port.name;
            let rises = |edge: &Edge| edge.rising && edge.signal == *name;
            !port.port.output && port.port.width == 1 && is_clock(name) && edges.iter().any(rises)
        };
        let found = ports.iter().filter(clocks);
        let mut found: Vec<String> = found.map(|p| p.port.name.clone()).collect();
        if asked.is_some() || found.len() < 2 {
            let one = control(ports, asked, is_clock, "clock", notes)?;
            found = one.into_iter().collect();
        }
        let falls = |edge: &&Edge| !edge.rising && found.contains(&edge.signal);
        if let Some(edge) = edges.iter().find(falls) {
            notes.push(format!(
                "registers change at the falling edge of {}: add `falling = true` to the fields that show them",
                edge.signal
            ));
        }
        let taken = ports.extract_if(.., |p| !p.port.output && found.contains(&p.port.name));
        let named = taken.map(|mut p| (p.parts.remove(0).name, p.port.name));
        Ok(Clocks(named.collect()))
    }

    /// Returns whether there are none.
    pub fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether there are several.
    pub fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Returns the key of the declaration that says which clock there is.
    pub fn key(&self) -> String {
        match &self.0[..] {
            [] => "# It has no clock.\ncombinational = true\n".to_owned(),
            [(_, port)] if port != "clk_i" => format!("clock = {port:?}\n"),
            _ => String::new(),
        }
    }

    /// Returns the comment that proposes the one of several clocks to which the port or part `name` may belong: that whose name has the same
    /// beginning, as `src_clk` and `src_data`.
    pub fn proposed(&self, name: &str) -> String {
        let begins = |(clock, _): &&(String, String)| {
            let of_clock = |part: &str| is_clock(part) || part == "i";
            let parts = clock.split('_').take_while(|part| !of_clock(part));
            let parts: Vec<&str> = parts.collect();
            !parts.is_empty() && name.starts_with(&(parts.join("_") + "_"))
        };
        let mut found = self.0.iter().filter(begins);
        match (self.are_several(), found.next(), found.next()) {
            (true, Some((clock, _)), None) => format!("# clock = {clock:?}\n"),
            _ => String::new(),
        }
    }

    /// Returns the tables of several clocks.
    pub fn tables(&self) -> String {
        let about = "\n# ---- clocks: each stream draws a period of each, in steps of time. `clock = \"NAME\"` in the table of a pin or a field\n\
                     # says that it changes only with that clock; where the names of ports suggest one, remove the `# ` ----\n";
        let tables = self.0.iter().map(|(name, port)| {
            format!(
                "\n[[clock]]\nname = {name:?}\nport = {port:?}\nperiod = [1, 9]\ndoc = \"Clock.\"\n"
            )
        });
        match self.are_several() {
            true => tables.fold(about.to_owned(), |text, table| text + &table),
            false => String::new(),
        }
    }
}

/// Prints them as `new` tells what it has chosen.
impl Display for Clocks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ports: Vec<&str> = self.0.iter().map(|(_, port)| port.as_str()).collect();
        match ports[..] {
            [] => f.write_str("no clock"),
            [port] => write!(f, "clock {port}"),
            _ => write!(f, "clocks {}", ports.join(", ")),
        }
    }
}

/// Returns whether a port has the name of a clock: `clk_i`, `sys_clk`, `aclk`, `CLK`.
fn is_clock(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split('_')
        .any(|part| part.ends_with("clk") || part == "clock")
}
