//! Ports of the module.

use std::fmt::{self, Display, Formatter};

use crate::parse::is_plain;

/// A port of the module, or some of its bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name; of an escaped identifier without the backslash.
    pub name: String,
    /// Highest and lowest bit, for a part of the port; bit 0 is the lowest one, however the RTL numbers them.
    pub bits: Option<(u32, u32)>,
}

impl Port {
    pub(crate) fn whole(name: &str) -> Self {
        Port {
            name: name.to_owned(),
            bits: None,
        }
    }

    /// Returns the name as SystemVerilog writes it.
    pub fn verilog(&self) -> String {
        match is_plain(&self.name) {
            true => self.name.clone(),
            false => format!("\\{} ", self.name),
        }
    }
}

/// Prints it as the declaration has it: `req_i[7:0]`.
impl Display for Port {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.verilog())?;
        match self.bits {
            Some((high, low)) if high == low => write!(f, "[{low}]"),
            Some((high, low)) => write!(f, "[{high}:{low}]"),
            None => Ok(()),
        }
    }
}

/// Puts the parts of each port together, the highest one first.
pub(crate) fn joined(parts: Vec<(Port, String)>) -> Vec<(Port, String)> {
    let mut ports: Vec<(Port, Vec<(u32, String)>)> = Vec::new();
    for (Port { name, bits }, net) in parts {
        let low = bits.map_or(0, |(_, low)| low);
        match ports
            .iter_mut()
            .find(|(port, _)| bits.is_some() && port.name == name)
        {
            Some((_, nets)) => nets.push((low, net)),
            None => ports.push((Port::whole(&name), vec![(low, net)])),
        }
    }
    let join = |(port, mut nets): (Port, Vec<(u32, String)>)| {
        nets.sort_by_key(|(low, _)| std::cmp::Reverse(*low));
        let nets: Vec<String> = nets.into_iter().map(|(_, net)| net).collect();
        match &nets[..] {
            [net] => (port, net.clone()),
            _ => (port, format!("{{{}}}", nets.join(", "))),
        }
    };
    ports.into_iter().map(join).collect()
}
