//! The reset of the module of `new`.

use std::fmt::{self, Display, Formatter};

use reconverge::input::InputError;
use verilate::Edge;

use super::clocks::Clocks;
use super::{Declared, NewArgs, control};

/// The reset of the module.
pub(super) struct Reset {
    /// Of several clocks, one for each side.
    pub ports: Vec<String>,
    pub low: bool,
    pub asynchronous: bool,
}

impl Reset {
    /// Returns the reset that is asked for, or the input with the name of one. If there are several clocks, the inputs with such a name
    /// are one reset if they are alike, and `notes` says so; `ports` keeps the first.
    ///
    /// # Errors
    /// The one that is asked for is not an input of one bit.
    pub fn of(
        args: &NewArgs,
        ports: &mut Vec<Declared>,
        edges: &[Edge],
        clocks: &Clocks,
        notes: &mut Vec<String>,
    ) -> Result<Option<Self>, InputError> {
        let at = |port: String| Self::at(port, edges, !clocks.are_none());
        let named = |p: &&Declared| !p.port.output && p.port.width == 1 && is_reset(&p.port.name);
        let named = ports.iter().filter(named).map(|p| at(p.port.name.clone()));
        let mut all: Vec<Reset> = named.collect();
        let alike = |a: &Reset, b: &Reset| (a.low, a.asynchronous) == (b.low, b.asynchronous);
        if !clocks.are_several()
            || args.reset.is_some()
            || !all.windows(2).all(|w| alike(&w[0], &w[1]))
        {
            let one = control(ports, args.reset.as_ref(), is_reset, "reset", notes)?;
            all = one.map(at).into_iter().collect();
        }
        let others = all.iter().skip(1).flat_map(|reset| reset.ports.clone());
        let others: Vec<String> = others.collect();
        ports.retain(|p| p.port.output || !others.contains(&p.port.name));
        Ok(all.into_iter().next().map(|mut reset| {
            if !others.is_empty() {
                let first = &reset.ports[0];
                notes.push(format!(
                    "{first} and {} are one reset, always asserted together; with --reset {first} the others are pins of their own",
                    others.join(" and ")
                ));
            }
            reset.ports.extend(others);
            reset
        }))
    }

    /// Returns the reset at `port`, which is asynchronous if one of its `edges` resets registers. Its level then is that of the edge;
    /// otherwise its name tells.
    fn at(port: String, edges: &[Edge], has_clock: bool) -> Self {
        let edge = edges.iter().find(|edge| edge.signal == port);
        Reset {
            low: edge.map_or_else(|| is_low(&port), |edge| !edge.rising),
            asynchronous: edge.is_some() && has_clock,
            ports: vec![port],
        }
    }

    /// Returns its ports as the declaration lists them.
    pub fn list(&self) -> String {
        match &self.ports[..] {
            [port] => format!("{port:?}"),
            ports => format!("{ports:?}"),
        }
    }
}

/// Prints it as `new` tells what it has chosen.
impl Display for Reset {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let level = if self.low { "low" } else { "high" };
        let how = match self.asynchronous {
            true => ", asynchronous",
            false => "",
        };
        write!(f, "reset {}, active {level}{how}", self.ports.join(" and "))
    }
}

/// Returns whether a port has the name of a reset: `rst_ni`, `aresetn`, `RST_N`, `nrst`.
fn is_reset(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split('_').any(|part| {
        let part = part.trim_start_matches(['a', 'h', 'n', 'p']);
        let rest = part.strip_prefix("reset").or(part.strip_prefix("rst"));
        matches!(rest, Some("" | "n" | "b"))
    })
}

/// Returns whether a reset is active low, by its name: `rst_ni`, `aresetn`, `RST_N`, `nrst`.
fn is_low(reset: &str) -> bool {
    let name = reset.to_ascii_lowercase();
    let name = name.strip_suffix("_i").unwrap_or(&name);
    name.ends_with(['n', 'b']) || name.ends_with("ni") || name.starts_with('n')
}
