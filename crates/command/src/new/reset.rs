//! The reset of the module of `new`.

use std::fmt::{self, Display, Formatter};

use verilate::Edge;

/// The reset of the module.
pub(super) struct Reset {
    pub port: String,
    pub low: bool,
    pub asynchronous: bool,
}

impl Reset {
    /// Returns the reset at `port`, which is asynchronous if one of its `edges` resets registers. Its level then is that of the edge;
    /// otherwise its name tells.
    pub fn of(port: String, edges: &[Edge], has_clock: bool) -> Self {
        let edge = edges.iter().find(|edge| edge.signal == port);
        Reset {
            low: edge.map_or_else(|| is_low(&port), |edge| !edge.rising),
            asynchronous: edge.is_some() && has_clock,
            port,
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
        write!(f, "reset {}, active {level}{how}", self.port)
    }
}

/// Returns whether a port has the name of a reset: `rst_ni`, `aresetn`, `RST_N`, `nrst`.
pub(super) fn is_reset(name: &str) -> bool {
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
