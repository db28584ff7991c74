//! The step theorem against mutants of the text, each of which the campaign has judged: it must refute those that were
//! caught and hold of those that the referee of mutants proved equivalent. The two have nothing in common but the mutants.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{Plan, files_of};
use super::theorem::{self, Said};
use super::world::Unit;
use super::{Options, Origin, Trouble, not_read, read_beside};
use crate::design::{Build, Design};
use crate::home::own_rtl;
use crate::input::{InputError, read_text};
use crate::json::hex;
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
    /// What the step theorem says.
    pub theorem: Said,
    /// How many questions that took.
    pub questions: usize,
}

impl Compared {
    /// Returns whether the two do not contradict each other.
    pub fn agrees(&self) -> bool {
        let theorem = &self.theorem;
        match self.campaign.as_str() {
            "caught" | "missed" => *theorem != Said::Holds,
            "equivalent" => !matches!(theorem, Said::Refuted(_)),
            _ => true,
        }
    }

    /// On one line: what both say, and which mutant it is.
    pub fn describe(&self) -> String {
        let theorem = match &self.theorem {
            Said::Refuted(property) => format!("refuted by {property}"),
            other => other.name().to_owned(),
        };
        format!("{theorem}, {}: {}", self.campaign, self.mutant.describe())
    }
}

/// Mutants of which both have said something.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// How many were to be asked; more than there are here after an interruption.
    pub wanted: usize,
    /// In the order of their numbers.
    pub mutants: Vec<Compared>,
}

impl Comparison {
    /// Returns whether all that were to be asked are here.
    pub fn complete(&self) -> bool {
        self.mutants.len() == self.wanted
    }

    /// Returns of how many the campaign says `campaign` and the theorem what is called `theorem`: [`Said::name`].
    pub fn count(&self, campaign: &str, theorem: &str) -> usize {
        let both = |m: &&Compared| m.campaign == campaign && m.theorem.name() == theorem;
        self.mutants.iter().filter(both).count()
    }

    /// Returns all of it; `build` is that of `unit` in which the theorem was asked.
    pub fn to_json(&self, unit: &str, build: &Build) -> Value {
        let mutants = self.mutants.iter().map(|m| {
            let Mutant {
                number,
                module,
                file,
                line,
                operator,
                before,
                after,
            } = &m.mutant;
            let property = match &m.theorem {
                Said::Refuted(property) => Some(property),
                Said::Holds | Said::Undecided => None,
            };
            json!({
                "number": number,
                "module": module,
                "file": file,
                "line": line,
                "operator": operator,
                "before": before,
                "after": after,
                "campaign": m.campaign,
                "theorem": m.theorem.name(),
                "refuted_by": property,
                "questions": m.questions,
            })
        });
        json!({
            "unit": unit,
            "lanes": build.lanes,
            "parameters": build.parameters,
            "complete": self.complete(),
            "mutants": mutants.collect::<Vec<_>>(),
        })
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

/// Asks the step theorem of `D` of those mutants in `file` that `sample` says, in `jobs` threads, until `stop` is set: what is
/// decided then is returned. `progress` is told how many are through, and of how many.
///
/// # Errors
/// `file` is not what `mutate D --json` wrote of all mutants of a run with this RTL; files that are missing or not
/// understood; no Yosys or solver; `stop` is set before the first mutant is asked.
pub fn mutants<D: Design>(
    options: &Options,
    file: &Path,
    sample: Sample<'_>,
    jobs: usize,
    stop: &AtomicBool,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<Comparison, Trouble> {
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
    let mut from = Origin::of::<D>(&rtl_dir, &options.build)?;
    let (mut files, plan) = files_of::<D>(&rtl_dir)?;
    files.scalar = None;
    files.lane_words = None;
    if files.step.is_none() {
        return Err(Trouble::Other(format!(
            "there is no step.sv of {}",
            D::NAME
        )));
    }
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

    let beside = read_beside::<D>(&mut from, &files, (&rtl_dir, options), stop)?;
    let unit =
        Unit::read(&from, &texts, &beside, stop).map_err(|why| not_read(&rtl_dir, &from, &why))?;
    let wanted = |entry: &Entry| {
        sample
            .verdict
            .is_none_or(|verdict| entry.verdict == verdict)
    };
    let pairs = run.mutants.iter().zip(&list);
    let all: Vec<_> = pairs.filter(|(entry, _)| wanted(entry)).collect();
    let count = sample.count.unwrap_or(all.len()).min(all.len());
    let asked = (0..count).map(|i| all[i * all.len() / count]);
    let asked: Vec<(&Mutant, &str)> = asked
        .map(|(entry, mutant)| (mutant, entry.verdict.as_str()))
        .collect();
    let work = Work {
        unit: &unit,
        plan: &plan,
        options,
        asked: &asked,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        stop,
    };
    let mutants = work.shared_by(jobs, &progress)?;
    Ok(Comparison {
        wanted: count,
        mutants,
    })
}

/// Mutants that several threads judge.
struct Work<'a> {
    unit: &'a Unit<'a>,
    plan: &'a Plan,
    options: &'a Options,
    /// Each with what the campaign says.
    asked: &'a [(&'a Mutant, &'a str)],
    /// Which of them is the next, and how many are judged.
    next: AtomicUsize,
    done: AtomicUsize,
    /// A thread could not go on.
    failed: AtomicBool,
    stop: &'a AtomicBool,
}

impl Work<'_> {
    /// Judges all in `jobs` threads, or until it is told to stop.
    fn shared_by(
        &self,
        jobs: usize,
        progress: &(impl Fn(usize, usize) + Sync),
    ) -> Result<Vec<Compared>, String> {
        let jobs = jobs.clamp(1, self.asked.len().max(1));
        let parts: Vec<Result<_, String>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..jobs)
                .map(|_| scope.spawn(|| self.part(progress)))
                .collect();
            let ended = threads.into_iter().map(|thread| match thread.join() {
                Ok(part) => part,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ended.collect()
        });
        let mut all = Vec::new();
        for part in parts {
            all.extend(part?);
        }
        all.sort_by_key(|one: &Compared| one.mutant.number);
        Ok(all)
    }

    /// Judges one after the other, in one thread.
    fn part(&self, progress: &(impl Fn(usize, usize) + Sync)) -> Result<Vec<Compared>, String> {
        let part = self.judged(progress);
        self.failed.fetch_or(part.is_err(), Ordering::Relaxed);
        part
    }

    fn judged(&self, progress: &(impl Fn(usize, usize) + Sync)) -> Result<Vec<Compared>, String> {
        let mut judged = Vec::new();
        let stopped = || self.stop.load(Ordering::Relaxed);
        let mut theorem = theorem::Mutants::of(self.unit, self.plan, self.options)?;
        while !stopped() && !self.failed.load(Ordering::Relaxed) {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((mutant, campaign)) = self.asked.get(next) else {
                break;
            };
            let (said, questions) = match theorem.judge(mutant.number, self.stop) {
                // A question that was interrupted is no answer.
                Err(_) if stopped() => break,
                said => said?,
            };
            judged.push(Compared {
                mutant: (*mutant).clone(),
                campaign: (*campaign).to_owned(),
                theorem: said,
                questions,
            });
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(done, self.asked.len());
        }
        Ok(judged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_caught_must_be_refuted_and_what_is_equivalent_must_hold() {
        let says = |campaign: &str, theorem| {
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
                theorem,
                questions: 1,
            }
            .agrees()
        };
        for (campaign, refuted, holds) in [
            ("caught", true, false),
            ("missed", true, false),
            ("equivalent", false, true),
            ("undecided", true, true),
        ] {
            let property = "step pc_q".to_owned();
            assert_eq!(
                says(campaign, Said::Refuted(property)),
                refuted,
                "{campaign}"
            );
            assert_eq!(says(campaign, Said::Holds), holds, "{campaign}");
            assert!(says(campaign, Said::Undecided));
        }
    }
}
