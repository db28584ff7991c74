//! The header of a dump: which signals it has.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use super::xor::XOR;
use super::{Added, WORDS};
use crate::design::Design;

/// A signal as a dump declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Width in bits.
    pub width: usize,
    /// The range as GTKWave writes it behind the name, such as `[51:0]`; empty if there is none.
    pub range: String,
}

/// The signals of a dump by path, such as `TOP.fifo_tb.dut.data_i`, without range.
pub type Signals = BTreeMap<String, Signal>;

/// What the header of a dump says.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Name of the design whose bench top wrote the dump; empty if none did.
    pub design: String,
    /// The signals added to the dump.
    pub added: Added,
    /// All signals.
    pub signals: Signals,
}

impl Header {
    /// Returns the number of lanes of the dump of `D`: the width of a lane mask. `None` if the state has none.
    pub fn lanes<D: Design>(&self) -> Option<usize> {
        let mut masks = D::fields().iter().filter(|field| field.per_lane());
        masks.find_map(|field| {
            let path = format!("TOP.{}_tb.golden_view.{}", self.design, field.name);
            self.signals.get(&path).map(|signal| signal.width)
        })
    }
}

/// Returns a declared range as GTKWave writes it: `[5:5]` is bit 5.
fn range(declared: &[&str]) -> String {
    let range = declared.concat();
    let inner = range.strip_prefix('[').and_then(|r| r.strip_suffix(']'));
    match inner.and_then(|inner| inner.split_once(':')) {
        Some((left, right)) if left == right => format!("[{left}]"),
        _ => range,
    }
}

/// Returns what the header of a dump says; `None` if it is not a dump.
///
/// # Errors
/// The dump cannot be read.
pub fn header(mut dump: impl BufRead) -> io::Result<Option<Header>> {
    let mut header = Header::default();
    let mut scopes: Vec<String> = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if dump.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.starts_with(b"$enddefinitions") {
            return Ok(Some(header));
        }
        let text = String::from_utf8_lossy(&line);
        match text.split_whitespace().collect::<Vec<_>>()[..] {
            ["$scope", kind, name, ..] => {
                if let ("module", Some(design)) = (kind, name.strip_suffix("_tb"))
                    && header.design.is_empty()
                {
                    design.clone_into(&mut header.design);
                }
                scopes.push(format!("{name}."));
            }
            ["$upscope", ..] => drop(scopes.pop()),
            ["$var", _, width, id, name, ref declared @ .., "$end"] => {
                if id.starts_with(&format!("~{WORDS}")) {
                    header.added.words.push(name.to_owned());
                } else if id.starts_with(&format!("~{XOR}")) {
                    header.added.xor.push(name.to_owned());
                }
                let (width, range) = (width.parse().unwrap_or_default(), range(declared));
                let signal = Signal { width, range };
                header.signals.insert(scopes.concat() + name, signal);
            }
            _ => {}
        }
    }
}
