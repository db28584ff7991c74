//! The files about a unit, which lie beside its RTL, and the plan of its proofs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{ALIKE, SCALAR};
use crate::mutate::{Trouble, rtl_in};
use reconverge_bench::design::Design;
use reconverge_bench::dut;
use reconverge_bench::input::{InputError, read_text, relative};

/// A text, and the name of its file for messages.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub name: String,
    pub text: String,
}

impl File {
    pub fn read(path: PathBuf, name: String) -> Result<Self, InputError> {
        let text = read_text(&path)?;
        Ok(File { name, text })
    }
}

/// The files about a unit; `None` where it has no such file.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub step: Option<File>,
    pub properties: Option<File>,
    /// Which bits of the state matter. With `premises`, also invariants and a contract.
    pub formal: Option<File>,
    pub premises: bool,
    /// The assertions.
    pub assertions: Option<File>,
    /// What one lane alone would do.
    pub scalar: Option<File>,
    /// Which words of the memories hold one bit for each lane.
    pub lane_words: Option<File>,
    /// Facts that follow from the invariants and make a case small.
    pub facts: Option<File>,
}

impl Files {
    /// Returns the file called `name` among those in which a fault can be planted.
    pub fn called(&mut self, name: &str) -> Option<&mut File> {
        let all = [&mut self.step, &mut self.scalar].into_iter().flatten();
        all.into_iter()
            .find(|file| Path::new(&file.name).file_name() == Some(name.as_ref()))
    }
}

/// `proofs.json`: what else the proofs need to know about a unit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Plan {
    /// Registers with one bit for each lane, in the order of the lanes; a register may hold several such groups.
    pub lanes: Vec<String>,
    /// Ports with such bits.
    pub lane_ports: Vec<String>,
    /// Ports with several bits for each lane, side by side.
    pub lane_blocks: Vec<String>,
    /// Lanes are alike: to permute them before the cycle permutes the result.
    pub permutation: bool,
    /// Nets that are 1 where the order of the lanes matters, so that lanes are not alike.
    pub ordered: Vec<String>,
    /// Nets through which a lane sees what others do; empty if `lane alone` is not to be proved.
    pub decision: Vec<String>,
    /// The net of the decision without which the others have no effect.
    pub decided_if: Option<String>,
    /// Input that keeps every register and memory as it is while it is 1.
    pub stall: Option<String>,
    /// How to divide a question that is not answered soon.
    pub cases: Cases,
    /// Faults to plant.
    pub faults: Vec<Fault>,
}

/// Cases that together cover every cycle. A cycle is in reset, or one of the nets is the first that is 1 (0, if its name has `!`
/// before it), or none of them is. A case that is still too large is divided by the value of the register, and for a net in `then` further
/// by the value of another net.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cases {
    pub nets: Vec<String>,
    pub register: String,
    #[serde(default)]
    pub then: BTreeMap<String, String>,
}

impl Plan {
    /// Tells whether `register`, with `__` for the dot, is one of `lanes`.
    pub fn is_lanes(&self, register: &str) -> bool {
        let name = register.replace("__", ".");
        self.lanes.contains(&name)
    }
}

/// A mistake in the RTL that certain properties must refute.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// File in which it is planted: of the RTL, or `<unit>_step.sv` or `<unit>_scalar.sv`.
    pub file: String,
    /// Line of the file, for a mutant of the text.
    #[serde(skip)]
    pub line: Option<usize>,
    /// Text to replace; it must occur exactly once.
    pub from: String,
    /// Its replacement; `FAULT` stands for 1.
    pub to: String,
    /// Further replacements in the same file.
    #[serde(default)]
    pub also: Vec<Edit>,
    /// Parameters of the builds in which it is planted; elsewhere it changes nothing.
    #[serde(default)]
    pub with: BTreeMap<String, u32>,
    /// Names of the properties that must refute it.
    pub refutes: Vec<String>,
    /// Names of properties that still hold: they do not depend on what is wrong.
    #[serde(default)]
    pub keeps: Vec<String>,
}

/// A replacement in a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Text to replace; it must occur exactly once.
    pub from: String,
    /// Its replacement.
    pub to: String,
}

/// Returns the files about the RTL of `D` in `rtl`: those of its package or, if it has none, those beside the RTL.
///
/// # Errors
/// A file is missing or not understood; there is no file about the RTL.
pub(super) fn files_of<D: Design>(rtl: &Path) -> Result<(Files, Plan), Trouble> {
    let unit = D::NAME;
    let packaged = D::package().is_some();
    let dir = match packaged {
        true => rtl_in::<D>(None)?,
        false => rtl.to_owned(),
    };
    let read = |name: &str| {
        let path = dir.join(name);
        let shown = relative(&path).display().to_string();
        File::read(path, shown)
    };
    let optional = |end: &str| {
        let name = format!("{unit}_{end}");
        dir.join(&name).is_file().then(|| read(&name)).transpose()
    };
    let declared = dut::declared::<D>().map_err(InputError::from)?;
    let (_, probes) = declared.probes_in(&dir, D::DECLARATION.toml, read_text)?;
    let assertions = match probes.assertions {
        Some(bound) => Some(read(&bound.file)?),
        None => optional("sva.sv")?,
    };
    // What is said of the state of other RTL is said beside it.
    let formal = dut::formal_of::<D>(rtl).map(|(name, text)| File { name, text });
    let files = Files {
        step: optional("step.sv")?,
        properties: optional("properties.sv")?,
        formal,
        premises: !packaged,
        assertions,
        scalar: if packaged {
            optional("scalar.sv")?
        } else {
            None
        },
        lane_words: optional("lane_words.sv")?,
        facts: optional("facts.sv")?,
    };
    let said = [
        &files.step,
        &files.properties,
        &files.formal,
        &files.assertions,
    ];
    if said.into_iter().all(Option::is_none) {
        let why = format!(
            "nothing to prove: the folder has none of {unit}_formal.sv, {unit}_sva.sv, {unit}_step.sv and {unit}_properties.sv"
        );
        return Err(InputError::new(relative(rtl).display().to_string(), 0, "rtl", why).into());
    }
    let proofs = optional("proofs.json")?;
    let plan = proofs.as_ref().map(plan).transpose()?;
    Ok((files, plan.unwrap_or_default()))
}

fn plan(file: &File) -> Result<Plan, InputError> {
    serde_json::from_str(&file.text)
        .map_err(|e| InputError::new(file.name.as_str(), e.line(), "proofs", e.to_string()))
}

/// Returns what to say of a fault that names the property `name`, which is none of those that are `known`.
pub(super) fn unknown_property(name: &str, known: &[String]) -> String {
    let known = known.join(", ");
    format!("proofs.json: there is no property {name}; there are {known}")
}

/// Checks that the faults name existing properties, and that no two properties have the same name.
pub(super) fn check_names(
    plan: &Plan,
    known: &[String],
    scalar: bool,
    lanes: usize,
) -> Result<(), String> {
    let faults = plan.faults.iter();
    let mut names: Vec<&String> = faults
        .flat_map(|f| f.refutes.iter().chain(&f.keeps))
        .collect();
    names.retain(|name| !known.contains(name) && (scalar || !name.starts_with(SCALAR)));
    names.retain(|name| lanes > 1 || *name != ALIKE);
    if let Some(name) = names.first() {
        return Err(unknown_property(name, known));
    }
    let mut count = BTreeMap::new();
    for name in known {
        *count.entry(name).or_insert(0) += 1;
    }
    match count.into_iter().find(|(_, n)| *n > 1) {
        Some((name, _)) => Err(format!("two properties have the name {name}")),
        None => Ok(()),
    }
}
