//! Compares the step theorem with the campaign on mutants of the text: the theorem must refute the mutants that the campaign caught or
//! missed, and hold for those that the referee proved equivalent. The two judges share only the mutants, the graph and the invariants.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{Plan, files_of};
use super::theorem::{self, TheoremVerdict};
use super::world::Unit;
use super::{Options, Origin, Trouble, not_read, read_side_modules};
use crate::mutate::text::{self, Chosen};
use crate::mutate::{Family, Mutant, rtl_in, threads};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::input::{InputError, read_text, relative};
use reconverge_bench::json::hex;

/// The part of the output of `mutate --json` that is needed here.
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

/// A mutant, and both verdicts on it.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The mutant.
    pub mutant: Mutant,
    /// Verdict of the campaign and its referee: `caught`, `equivalent`, `missed` or `undecided`.
    pub campaign: String,
    /// Verdict of the step theorem.
    pub theorem: TheoremVerdict,
    /// Number of questions that the theorem asked.
    pub questions: usize,
}

impl Compared {
    /// Tells whether the two verdicts are compatible.
    pub fn agrees(&self) -> bool {
        let theorem = &self.theorem;
        match self.campaign.as_str() {
            "caught" | "missed" => *theorem != TheoremVerdict::Holds,
            "equivalent" => !matches!(theorem, TheoremVerdict::Refuted(_)),
            _ => true,
        }
    }

    /// Returns one line with both verdicts and the mutant.
    pub fn describe(&self) -> String {
        let theorem = match &self.theorem {
            TheoremVerdict::Refuted(property) => format!("refuted by {property}"),
            TheoremVerdict::NotRead(why) => format!("not read for a proof ({why})"),
            other => other.name().to_owned(),
        };
        format!("{theorem}, {}: {}", self.campaign, self.mutant.describe())
    }
}

/// Mutants with both verdicts.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Number of mutants to ask. After an interruption, `mutants` has fewer.
    pub wanted: usize,
    /// The mutants in the order of their numbers.
    pub mutants: Vec<Compared>,
}

impl Comparison {
    /// Tells whether all mutants were asked.
    pub fn complete(&self) -> bool {
        self.mutants.len() == self.wanted
    }

    /// Returns how many mutants have verdict `campaign` of the campaign and a verdict of the theorem with the name `theorem` ([`TheoremVerdict::name`]).
    pub fn count(&self, campaign: &str, theorem: &str) -> usize {
        let both = |m: &&Compared| m.campaign == campaign && m.theorem.name() == theorem;
        self.mutants.iter().filter(both).count()
    }

    /// Returns the comparison as JSON; `build` is the build of `unit` for which the theorem was asked.
    pub fn to_json(&self, unit: &str, build: &Build) -> Value {
        let mutants = self.mutants.iter().map(|m| {
            let (property, why) = match &m.theorem {
                TheoremVerdict::Refuted(property) => (Some(property), None),
                TheoremVerdict::NotRead(why) => (None, Some(why)),
                TheoremVerdict::Holds | TheoremVerdict::Undecided => (None, None),
            };
            let mut value = json!(m.mutant);
            value["campaign"] = json!(m.campaign);
            value["theorem"] = json!(m.theorem.name());
            value["refuted_by"] = json!(property);
            value["questions"] = json!(m.questions);
            value["not_read"] = json!(why);
            value
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

/// Which mutants to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample<'a> {
    /// Only mutants with this verdict of the campaign and its referee; `None`: with any.
    pub verdict: Option<&'a str>,
    /// Only this many of them, evenly spread; `None`: all.
    pub count: Option<usize>,
}

/// Asks the step theorem of `D` about the mutants in `file` that `sample` selects, in `jobs` threads. If `stop` is set, returns the
/// verdicts reached until then. `progress` receives how many mutants have been judged, and of how many.
///
/// # Errors
/// `file` is not the output of `mutate D --json` for all mutants of a run with this RTL; a file is missing or not
/// understood; Yosys or the solver is missing; `stop` is set before the first mutant is asked.
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

    let rtl_dir = rtl_in::<D>(options.rtl.as_deref())?;
    let from = Origin::for_proof::<D>(&rtl_dir, &options.build)?;
    let (mut files, plan) = files_of::<D>(&rtl_dir)?;
    files.scalar = None;
    files.lane_words = None;
    if files.step.is_none() {
        let why = format!(
            "has no {}_step.sv: the step theorem compares the RTL with it",
            D::NAME
        );
        let dir = relative(&rtl_dir).display().to_string();
        return Err(InputError::new(dir, 0, "rtl", why).into());
    }
    let chosen = Chosen::new(&from, Some(run.mutants.len()), run.seed)?;
    let list = chosen.mutants();
    let all: Vec<u32> = list.iter().map(|mutant| mutant.number).collect();
    let same = |(entry, mutant): (&Entry, &Mutant)| {
        (entry.number, &entry.file, entry.line, &entry.after)
            == (mutant.number, &mutant.file, mutant.line, &mutant.after)
    };
    if list.len() != run.mutants.len() || !run.mutants.iter().zip(&list).all(same) {
        return Err(bad("its mutants are not those of this RTL".to_owned()).into());
    }

    // `chosen` borrows the texts of the first; only the front end may change.
    let mut read_from = from.clone();
    let beside = read_side_modules::<D>(&mut read_from, &files, (&rtl_dir, options), stop)?;
    let read = text::with_most(&all, stop, |numbers| {
        Unit::read(&read_from, &chosen.for_proof(numbers)?, &beside, stop)
    });
    let (unit, unread) = read.map_err(|why| not_read(&rtl_dir, &read_from, &why))?;
    let wanted = |(entry, _): &(&Entry, &Mutant)| sample.verdict.is_none_or(|v| entry.verdict == v);
    let pairs = run.mutants.iter().zip(&list);
    let all: Vec<_> = pairs.filter(wanted).collect();
    if let Some(verdict) = sample.verdict.filter(|_| all.is_empty()) {
        let why = format!("no mutant in {} is {verdict}", file.display());
        return Err(InputError::option("--verdict", why).into());
    }
    let count = sample.count.unwrap_or(all.len()).min(all.len());
    let asked = (0..count).map(|i| all[i * all.len() / count]);
    let asked: Vec<(&Mutant, &str)> = asked
        .map(|(entry, mutant)| (mutant, entry.verdict.as_str()))
        .collect();
    let work = Work {
        unit: &unit,
        unread: unread.into_iter().collect(),
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

/// Mutants to be judged by several threads.
struct Work<'a> {
    unit: &'a Unit<'a>,
    /// Mutants that are not in the unit, each with the reason.
    unread: HashMap<u32, String>,
    plan: &'a Plan,
    options: &'a Options,
    /// The mutants, each with the verdict of the campaign.
    asked: &'a [(&'a Mutant, &'a str)],
    /// Index of the next mutant, and number of mutants judged.
    next: AtomicUsize,
    done: AtomicUsize,
    /// A thread failed.
    failed: AtomicBool,
    stop: &'a AtomicBool,
}

impl Work<'_> {
    /// Judges all mutants in `jobs` threads, until `stop` is set.
    fn shared_by(
        &self,
        jobs: usize,
        progress: &(impl Fn(usize, usize) + Sync),
    ) -> Result<Vec<Compared>, String> {
        let jobs = jobs.clamp(1, self.asked.len().max(1));
        let judged = threads(jobs)?.broadcast(|_| {
            let judged = self.judged(progress);
            self.failed.fetch_or(judged.is_err(), Ordering::Relaxed);
            judged
        });
        let mut all = Vec::new();
        for part in judged {
            all.extend(part?);
        }
        all.sort_by_key(|one: &Compared| one.mutant.number);
        Ok(all)
    }

    /// Judges one mutant after the other, in one thread.
    fn judged(&self, progress: &(impl Fn(usize, usize) + Sync)) -> Result<Vec<Compared>, String> {
        let mut judged = Vec::new();
        let stopped = || self.stop.load(Ordering::Relaxed);
        let mut theorem = theorem::Mutants::of(self.unit, self.plan, self.options)?;
        while !stopped() && !self.failed.load(Ordering::Relaxed) {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((mutant, campaign)) = self.asked.get(next) else {
                break;
            };
            let (said, questions) = match self.unread.get(&mutant.number) {
                Some(why) => (TheoremVerdict::NotRead(why.clone()), 0),
                None => match theorem.judge(mutant.number, self.stop) {
                    // An interrupted question has no answer.
                    Err(_) if stopped() => break,
                    said => said?,
                },
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

    fn compared(campaign: &str, theorem: TheoremVerdict) -> Compared {
        Compared {
            mutant: Mutant::default(),
            campaign: campaign.to_owned(),
            theorem,
            questions: 1,
        }
    }

    #[test]
    fn what_is_caught_must_be_refuted_and_what_is_equivalent_must_hold() {
        let says = |campaign: &str, theorem| compared(campaign, theorem).agrees();
        for (campaign, refuted, holds) in [
            ("caught", true, false),
            ("missed", true, false),
            ("equivalent", false, true),
            ("undecided", true, true),
        ] {
            let property = "step pc_q".to_owned();
            assert_eq!(
                says(campaign, TheoremVerdict::Refuted(property)),
                refuted,
                "{campaign}"
            );
            assert_eq!(says(campaign, TheoremVerdict::Holds), holds, "{campaign}");
            assert!(says(campaign, TheoremVerdict::Undecided));
            assert!(says(campaign, TheoremVerdict::NotRead(String::new())));
        }
    }

    /// Regression: that a mutant was not read, and why, was only on the screen.
    #[test]
    fn json_says_why_a_mutant_is_not_read() {
        let why = "no logic for $pow";
        let comparison = Comparison {
            wanted: 2,
            mutants: vec![
                compared("missed", TheoremVerdict::NotRead(why.to_owned())),
                compared("missed", TheoremVerdict::Undecided),
            ],
        };
        let json = comparison.to_json("m", &Build::from(1));
        let [unread, undecided] = [0, 1].map(|n| &json["mutants"][n]);
        assert_eq!(unread["theorem"], undecided["theorem"]);
        assert_eq!(unread["not_read"], why);
        assert!(undecided["not_read"].is_null(), "{json}");
    }
}
