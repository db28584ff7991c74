//! The step theorem against mutants of the text, each of which the campaign has judged: it must refute those that were
//! caught and hold of those that the referee of mutants proved equivalent. The two have nothing in common but the mutants.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::Deserialize;

use super::questions::Questions;
use super::world::{Besides, Unit};
use super::{Options, Origin, Progress, Trouble};
use crate::design::Design;
use crate::home::own_rtl;
use crate::input::{InputError, read_text};
use crate::json::hex;
use crate::mutate::sat::{self, Answer, Proof};
use crate::mutate::{self, Family, Mutant};

/// What `mutate --json` says of a unit, as far as it is needed.
#[derive(Deserialize)]
struct Run {
    unit: String,
    family: Family,
    #[serde(with = "hex")]
    seed: u64,
    complete: bool,
    mutants: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    number: u32,
    file: String,
    line: usize,
    after: String,
    verdict: String,
}

/// A mutant, and what both say of it.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Which it is.
    pub mutant: Mutant,
    /// What the campaign and its referee say: `caught`, `equivalent`, `missed` or `undecided`.
    pub campaign: String,
    /// Whether the step theorem holds of it; `None`: undecided.
    pub holds: Option<bool>,
}

impl Compared {
    /// Returns whether the two do not contradict each other.
    pub fn agrees(&self) -> bool {
        match (self.campaign.as_str(), self.holds) {
            ("caught" | "missed", Some(holds)) => !holds,
            ("equivalent", Some(holds)) => holds,
            _ => true,
        }
    }
}

/// Which mutants are asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample<'a> {
    /// Those of which the campaign and its referee say this; without, whatever they say.
    pub verdict: Option<&'a str>,
    /// So many of these, evenly spread; without, all.
    pub count: Option<usize>,
}

/// Asks the step theorem of `D` of those mutants in `file` that `sample` says.
///
/// # Errors
/// `file` is not what `mutate D --json` wrote of all mutants of a run with this RTL; files that are missing or not
/// understood; no Yosys or solver; `stop` is set.
pub fn mutants<D: Design>(
    options: &Options,
    file: &Path,
    sample: Sample<'_>,
    stop: &AtomicBool,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<Vec<Compared>, Trouble> {
    let name = file.display().to_string();
    let bad = |why: String| InputError::new(name.clone(), 0, "mutants", why);
    let runs: Vec<Run> = serde_json::from_str(&read_text(file)?)
        .map_err(|e| InputError::new(name.clone(), e.line(), "mutants", e.to_string()))?;
    let mut runs = runs.into_iter();
    let run = runs.find(|r| r.unit == D::NAME && r.family == Family::Source && r.complete);
    let run = run.ok_or_else(|| bad(format!("no complete run of text mutants of {}", D::NAME)))?;

    let rtl_dir = match &options.rtl {
        Some(dir) => dir.clone(),
        None => own_rtl::<D>().map_err(|e| e.to_string())?,
    };
    let from = Origin::of::<D>(&rtl_dir, &options.build)?;
    let (mut files, plan) = super::files_of::<D>(&rtl_dir)?;
    files.scalar = None;
    files.lane_words = None;
    let work = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    let made = mutate::Options {
        count: Some(run.mutants.len()),
        seed: run.seed,
        ..mutate::Options::new(&rtl_dir, work.path())
    };
    let (list, texts) = mutate::for_proof(&from, &made, work.path())?;
    let same = |(entry, mutant): (&Entry, &Mutant)| {
        (entry.number, &entry.file, entry.line, &entry.after)
            == (mutant.number, &mutant.file, mutant.line, &mutant.after)
    };
    if list.len() != run.mutants.len() || !run.mutants.iter().zip(&list).all(same) {
        return Err(bad("its mutants are not those of this RTL".to_owned()).into());
    }

    let beside = Besides::read(&from, &files, stop)?;
    let mut unit = Unit::read(&from, &texts, &beside, stop)?;
    let wanted = |entry: &Entry| {
        sample
            .verdict
            .is_none_or(|verdict| entry.verdict == verdict)
    };
    let pairs = run.mutants.iter().zip(&list);
    let asked: Vec<_> = pairs.filter(|(entry, _)| wanted(entry)).collect();
    let all = asked.len();
    let count = sample.count.unwrap_or(all).min(all);
    let mut compared = Vec::new();
    for i in 0..count {
        let (entry, mutant) = asked[i * all / count];
        unit.select(mutant.number);
        let mut questions = Questions::of(&unit, &plan, options.build.lanes as usize)?;
        let of_step = |name: &str| name.starts_with("step ") || name.starts_with("output ");
        let properties = std::mem::take(&mut questions.properties);
        let properties = properties.iter().filter(|p| of_step(&p.name));
        let bad: Vec<_> = properties.map(|p| questions.whole(p)).collect();
        let bad = questions.aig.any(bad);
        let holds = match sat::ask(&questions.aig, bad, options.time, stop, &Proof::Believed)? {
            Answer::Never => Some(true),
            Answer::Sometimes(_) => Some(false),
            Answer::GaveUp => None,
        };
        let one = Compared {
            mutant: mutant.clone(),
            campaign: entry.verdict.clone(),
            holds,
        };
        progress(Progress::Mutant(&one));
        compared.push(one);
    }
    Ok(compared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_caught_must_be_refuted_and_what_is_equivalent_must_hold() {
        let says = |campaign: &str, holds| {
            let mutant = Mutant {
                number: 1,
                module: String::new(),
                file: String::new(),
                line: 1,
                operator: String::new(),
                before: String::new(),
                after: String::new(),
            };
            let campaign = campaign.to_owned();
            Compared {
                mutant,
                campaign,
                holds,
            }
            .agrees()
        };
        for (campaign, refuted, holds) in [
            ("caught", true, false),
            ("missed", true, false),
            ("equivalent", false, true),
            ("undecided", true, true),
        ] {
            assert_eq!(says(campaign, Some(false)), refuted, "{campaign}");
            assert_eq!(says(campaign, Some(true)), holds, "{campaign}");
            assert!(says(campaign, None));
        }
    }
}
