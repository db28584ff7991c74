//! Results of a run of mutants: counts by verdict, module and line, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write as _};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Judged, List, Mutant, Verdict};
use reconverge_bench::html::number as grouped;
use reconverge_bench::json::Hex;
use reconverge_bench::quantity::counted;

/// The results of all mutants of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The mutants.
    pub list: List,
    /// Folder of the mutants.
    pub dir: PathBuf,
    /// Most cycles that the campaign could spend on each mutant.
    pub cycles: u64,
    /// Cycles in which the model with no mutant selected agreed with the golden model.
    pub yardstick: u64,
    /// Number of mutants to judge.
    pub wanted: usize,
    /// Mutants that were judged.
    pub judged: Vec<Judged>,
}

/// Number of mutants by verdict: caught, missed, equivalent, undecided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; 4]);

/// Names of the verdicts, in the order of [`Counts`].
pub const VERDICTS: [&str; 4] = ["caught", "missed", "equivalent", "undecided"];

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        if let Some(i) = VERDICTS.iter().position(|v| *v == verdict.name()) {
            self.0[i] += 1;
        }
    }
    /// Returns the counts in the order of [`VERDICTS`].
    pub fn all(&self) -> [usize; 4] {
        self.0
    }
    /// Returns each verdict's name with its count.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, usize)> {
        VERDICTS.into_iter().zip(self.0)
    }
    /// Returns the number of mutants with any verdict.
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }
    /// Returns the number of mutants neither caught nor proved equivalent.
    pub fn open(&self) -> usize {
        self.0[1] + self.0[3]
    }
}

impl Summary {
    /// Returns the name of the run, `<unit>.<family>.<seed>`.
    pub fn name(&self) -> String {
        let List {
            unit, family, seed, ..
        } = &self.list;
        format!("{unit}.{}.{seed:x}", family.name())
    }

    /// Returns the counts of all judged mutants.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.judged.iter().for_each(|j| counts.add(&j.verdict));
        counts
    }

    /// Returns the counts for each value of `of`.
    fn counts_by<K: Ord>(&self, of: impl Fn(&Mutant) -> K) -> BTreeMap<K, Counts> {
        let mut table: BTreeMap<K, Counts> = BTreeMap::new();
        for judged in &self.judged {
            let counts = table.entry(of(&judged.mutant)).or_default();
            counts.add(&judged.verdict);
        }
        table
    }

    /// Returns the counts by module.
    pub fn by_module(&self) -> BTreeMap<String, Counts> {
        self.counts_by(|m| m.module.clone())
    }

    /// Returns the counts by file and line of the source.
    pub fn by_line(&self) -> BTreeMap<(String, usize), Counts> {
        self.counts_by(|m| (m.file.clone(), m.line))
    }

    /// Returns the cycles that it took to catch the caught mutants: median, 95th percentile, maximum; `None` if none was caught.
    pub fn cycles_to_catch(&self) -> Option<[u64; 3]> {
        let is_caught = |j: &&Judged| matches!(j.verdict, Verdict::Caught(_));
        let caught = self.judged.iter().filter(is_caught);
        let mut cycles: Vec<u64> = caught.map(|j| j.cycles).collect();
        cycles.sort_unstable();
        // The smallest value that at least this percentage of the mutants do not exceed.
        let at =
            |hundredths: usize| cycles[(cycles.len() * hundredths).div_ceil(100).saturating_sub(1)];
        (!cycles.is_empty()).then(|| [at(50), at(95), at(100)])
    }

    /// Returns a table of the verdicts by line of the source.
    pub fn lines(&self) -> String {
        let mut text = head("line");
        for ((file, line), counts) in self.by_line() {
            text += &row(&format!("{file}:{line}"), &counts);
        }
        text
    }

    /// Returns the whole summary as JSON.
    pub fn to_json(&self) -> Value {
        let counts = |c: &Counts| json!(c.named().collect::<BTreeMap<_, _>>());
        let modules = self.by_module().into_iter();
        let modules: BTreeMap<_, _> = modules.map(|(m, c)| (m, counts(&c))).collect();
        let lines = self.by_line().into_iter();
        let lines: Vec<Value> = lines
            .map(|((file, line), c)| json!({"file": file, "line": line, "verdicts": counts(&c)}))
            .collect();
        let mutants: Vec<Value> = self
            .judged
            .iter()
            .map(|j| {
                let mut value = json!(j.mutant);
                value["verdict"] = json!(j.verdict.name());
                value["cycles"] = json!(j.cycles);
                let (caught, why) = match &j.verdict {
                    Verdict::Caught(c) => (Some(c), None),
                    Verdict::Missed(how) | Verdict::Equivalent(how) | Verdict::Undecided(how) => {
                        (None, Some(how))
                    }
                };
                value["case"] = json!(caught.map(|c| c.case));
                value["kind"] = json!(caught.map(|c| &c.kind));
                value["field"] = json!(caught.and_then(|c| c.place.field()));
                value["element"] = json!(caught.and_then(|c| c.place.element()));
                value["cycle"] = json!(caught.and_then(|c| c.place.cycle()));
                value["saved"] = json!(caught.map(|c| &c.saved));
                value["why"] = json!(why);
                value
            })
            .collect();
        let [median, p95, most] = self.cycles_to_catch().map_or([None; 3], |c| c.map(Some));
        json!({
            "unit": self.list.unit,
            "family": self.list.family,
            "seed": Hex(self.list.seed),
            "lanes": self.list.lanes,
            "parameters": self.list.parameters,
            "candidates": self.list.candidates,
            "unread": self.list.unread,
            "complete": self.judged.len() == self.wanted,
            "cycles_each": self.cycles,
            "verdicts": counts(&self.counts()),
            "cycles_to_catch": {"median": median, "p95": p95, "most": most},
            "modules": modules,
            "lines": lines,
            "mutants": mutants,
        })
    }
}

fn row(name: &str, counts: &Counts) -> String {
    let mut row = format!("  {name:<22}{:>9}", grouped(counts.total() as u64));
    for (verdict, n) in counts.named() {
        let width = verdict.len().max(7) + 2;
        let _ = write!(row, "{:>width$}", grouped(n as u64));
    }
    row.trim_end().to_owned() + "\n"
}

fn head(what: &str) -> String {
    let mut row = format!("  {what:<22}{:>9}", "mutants");
    for verdict in VERDICTS {
        let width = verdict.len().max(7) + 2;
        let _ = write!(row, "{verdict:>width$}");
    }
    row + "\n"
}

/// A reason of more bytes that is that of the mutant above it too is not printed again.
const FOLDED: usize = 100;
/// Number of parts that are listed as not read.
const UNREAD: usize = 5;

/// Prints a table by module, then each mutant that is still open.
impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let counts = self.counts();
        let candidates = match self.list.candidates {
            Some(n) => format!(" of {} possible", grouped(n as u64)),
            None => String::new(),
        };
        let (name, total, cycles) = (
            self.name(),
            grouped(counts.total() as u64),
            grouped(self.cycles),
        );
        writeln!(
            f,
            "{name}  {}{candidates}, {} each at most",
            counted(total, "mutant"),
            counted(cycles, "cycle")
        )?;
        if self.judged.len() < self.wanted {
            let [judged, wanted] = [self.judged.len(), self.wanted].map(|n| grouped(n as u64));
            writeln!(f, "  interrupted     after {judged} of {wanted} mutants")?;
        }
        let unread = &self.list.unread;
        for part in unread.iter().take(UNREAD) {
            writeln!(f, "  not read        {part}")?;
        }
        if unread.len() > UNREAD {
            let more = grouped((unread.len() - UNREAD) as u64);
            writeln!(f, "                  and {more} more parts of the text")?;
        }
        let yardstick = grouped(self.yardstick);
        writeln!(f, "  none selected   0 mismatches in {yardstick} cycles")?;
        if let Some(cycles) = self.cycles_to_catch() {
            let [median, p95, most] = cycles.map(grouped);
            writeln!(
                f,
                "  cycles to catch {median} in the median, {p95} at 95 %, {most} at most"
            )?;
        }
        f.write_str(&head("module"))?;
        for (module, counts) in self.by_module() {
            f.write_str(&row(&module, &counts))?;
        }
        f.write_str(&row("all", &counts))?;
        // Without a referee all have one reason.
        let mut last = "";
        for judged in &self.judged {
            let (what, why) = match &judged.verdict {
                Verdict::Missed(why) => ("MISSED", why),
                Verdict::Undecided(why) => ("UNDECIDED", why),
                _ => continue,
            };
            let shown = match why == last {
                true if why.len() > FOLDED => "the same",
                _ => why,
            };
            writeln!(f, "  {what} {}\n    {shown}", judged.mutant.describe())?;
            last = why;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::Family;

    /// Regression: without a referee its trouble was printed for each mutant.
    #[test]
    fn a_long_reason_is_printed_once_for_mutants_in_a_row() {
        let judged = |number: u32, why: &str| Judged {
            mutant: Mutant {
                number,
                module: "m".to_owned(),
                ..Mutant::default()
            },
            verdict: Verdict::Undecided(why.to_owned()),
            cycles: 1,
        };
        let long = "m.sv:23: syntax error; ".repeat(6);
        let whys = [&long, &long, "no proof", "no proof", &long];
        let summary = Summary {
            dir: PathBuf::new(),
            list: List {
                unit: "m".to_owned(),
                family: Family::Source,
                seed: 1,
                lanes: 1,
                parameters: BTreeMap::new(),
                candidates: None,
                unread: Vec::new(),
                mutants: Vec::new(),
            },
            cycles: 1,
            yardstick: 1,
            wanted: 5,
            judged: (1..).zip(whys).map(|(n, why)| judged(n, why)).collect(),
        };
        let said = summary.to_string();
        let reasons = said.lines().filter_map(|line| line.strip_prefix("    "));
        let expected = [&long, "the same", "no proof", "no proof", &long];
        assert_eq!(reasons.collect::<Vec<_>>(), expected, "{said}");
    }
}
