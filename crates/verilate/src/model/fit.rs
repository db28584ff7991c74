//! Whether the ports and probes of RTL fit its bench top. Verilator only warns of a port that is connected with fewer bits or not at
//! all, and of a probe with more bits than its field: bits would not be compared, and an input would have a constant value that
//! the seed draws. RTL may waive warnings, so nothing here depends on one: a size that does not fit is an error in the bench top,
//! and the ports are those of the module built alone.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::{Job, WARNINGS};
use crate::error::{Error, Misfit, Part, io};
use crate::interface::{Port, ports_with};
use crate::limit;
use crate::sources::plain;
use crate::verilator::Verilator;

/// What begins the line of the bench top that checks a size.
const CHECK: &str = "wire fits_";
/// Macro with which the bench top prints all sizes instead.
const BITS: &str = "RECONVERGE_BITS";
/// What begins the text of such a size, before the check's name, the bits, and those that are connected.
const SAID: &str = "reconverge bits ";

impl Job<'_> {
    /// Returns the first port or probe that does not fit, if that is why Verilator refused the bench top in `out`; `said` is
    /// its message.
    pub(super) fn misfit(
        &self,
        verilator: &Verilator,
        out: &Path,
        said: &str,
    ) -> Result<Option<Misfit>, Error> {
        let bench = format!("{}.sv:", self.sources.top());
        let lines: Vec<&str> = self.sources.bench.text.lines().collect();
        let failed = said.lines().filter(|line| line.starts_with("%Error"));
        let mut failed = failed.filter_map(|line| {
            let (_, rest) = line.split_once(&bench)?;
            let number: usize = rest.split(':').next()?.parse().ok()?;
            let check = lines.get(number.checked_sub(1)?)?;
            check.trim().strip_prefix(CHECK)?.split(' ').next()
        });
        let Some(check) = failed.next() else {
            return Ok(self.missing(verilator));
        };
        let sizes = self.sizes(verilator, out)?;
        let bits = sizes.lines().find_map(|line| {
            let (_, rest) = line.split_once(SAID)?;
            let mut words = rest.split_whitespace();
            (words.next()? == check).then_some(())?;
            let mut number = || words.next()?.parse().ok();
            Some((number()?, number()?))
        });
        match bits {
            Some(_) => Ok(Misfit::of(check, bits)),
            // What does not exist has no size.
            None => Ok(self.missing(verilator).or_else(|| Misfit::of(check, bits))),
        }
    }

    /// Returns the first declared port that the module does not have; `None` if it has all of them or cannot be read.
    fn missing(&self, verilator: &Verilator) -> Option<Misfit> {
        let ports = self.ports(verilator).ok()?;
        let mut declared = self.sources.bench.design.ports.iter();
        let name = declared.find(|name| ports.iter().all(|port| port.name != **name))?;
        Some(Misfit {
            kind: Part::Missing,
            name: name.clone(),
            bits: None,
        })
    }

    /// Returns the ports of the module built alone.
    fn ports(&self, verilator: &Verilator) -> Result<Vec<Port>, Error> {
        let (sources, design) = (self.sources, &self.sources.bench.design);
        let lanes = design.lanes.as_deref().map(|name| (name, self.lanes));
        let named = self.parameters.iter().map(|(n, v)| (n.as_str(), *v));
        let parameters: Vec<_> = lanes.into_iter().chain(named).collect();
        let rtl = &sources.roots.rtl;
        ports_with(verilator, rtl, &sources.list, &design.name, &parameters)
    }

    /// Returns what Verilator prints of the sizes in the bench top in `out`. Without the files that may waive it: they are not
    /// needed to tell sizes.
    fn sizes(&self, verilator: &Verilator, out: &Path) -> Result<String, Error> {
        let (sources, list) = (self.sources, &self.sources.list);
        let mut command = verilator.command(&sources.roots.rtl);
        command.args(["--lint-only", "-Wno-fatal", "--error-limit", "100000"]);
        command.arg(format!("+define+{BITS}"));
        command.args(["--top-module", &sources.top()]);
        command.args(self.values().iter().map(|v| format!("-G{v}")));
        list.to_verilator(&mut command);
        let waiver = |path: &&std::path::PathBuf| path.extension().is_some_and(|x| x == "vlt");
        let files = list.verilog.iter().filter(|path| !waiver(path));
        command.args(files.map(|path| plain(path)));
        command.arg(out.join(format!("{}.sv", sources.top())));
        let done = limit::output(&command)?;
        Ok(String::from_utf8_lossy(&done.stderr).into_owned())
    }

    /// Checks that every input of the module is connected, and adds outputs that are not to the warnings in `out`.
    pub(super) fn connected(&self, verilator: &Verilator, out: &Path) -> Result<(), Error> {
        let declared = &self.sources.bench.design.ports;
        let ports = self.ports(verilator)?.into_iter();
        let open = ports.filter(|port| !declared.contains(&port.name));
        let (outputs, inputs): (Vec<_>, Vec<_>) = open.partition(|port| port.output);
        if let Some(port) = inputs.into_iter().next() {
            return Err(Error::Misfit(Misfit {
                kind: Part::Open,
                name: port.name,
                bits: None,
            }));
        }
        let path = out.join(WARNINGS);
        let mut text = fs::read_to_string(&path).map_err(io(&path))?;
        for port in outputs {
            // Verilator's own warning of it can be waived.
            let known = format!("missing pin: '{}'", port.name);
            if !text.contains(&known) {
                let name = port.name;
                let _ = writeln!(
                    text,
                    "%Warning-PINMISSING: output port {name} is not declared: it is not compared"
                );
            }
        }
        fs::write(&path, text).map_err(io(&path))
    }
}
