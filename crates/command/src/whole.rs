//! A campaign that has ended or was interrupted: its name, and its text.

use std::fmt::Write as _;

use indicatif::HumanCount;
use reconverge::campaign::{Failed, GivenUp, Options, Shard, Summary, Tally};
use reconverge::cover::{Bins as _, Share};
use reconverge::design::{Build, Design as _};
use reconverge::quantity::counted;

use crate::guests::{called, for_design};
use crate::shows::Shows;

/// The header above the lines of [`Whole::row`].
pub const HEADER: &str = "campaign     build                                                    programs        cycles  instructions  scalar  failed\n";

/// A campaign that has ended or was interrupted.
pub struct Whole<'a, C: Shows> {
    /// Its summary; the failures in it are all that are known.
    pub summary: &'a Summary<C>,
    /// Failures of the programs that the summary counts. An interrupted campaign knows more: those of programs after one that
    /// is not done.
    pub counted: &'a [Failed<C>],
    pub options: &'a Options,
    pub shard: Shard,
    pub build: &'a Build,
    /// The campaign has ended.
    pub ended: bool,
}

/// The level of detail for a campaign.
#[derive(Clone, Copy)]
pub struct Shown {
    /// One row of a table.
    pub row: bool,
    /// Every statistic, even of a failed campaign.
    pub details: bool,
}

/// Number of lines about what never occurred.
const SHOWN: usize = 5;

impl<C: Shows> Whole<'_, C> {
    /// Returns how many programs were not run, if the campaign has a fixed number of them.
    pub fn not_run(&self) -> Option<u64> {
        let all = Tally::<C>::new(self.options, self.shard).programs();
        all.map(|all| all.saturating_sub(self.summary.programs))
    }

    /// Returns its cases, cycles, instructions, programs judged, and failures.
    pub fn numbers(&self) -> [u64; 5] {
        [
            self.summary.programs,
            self.summary.compared.cycles,
            self.summary.compared.steps,
            self.summary.judged.programs,
            self.summary.failures.len() as u64,
        ]
    }

    /// Returns why a campaign was given up, if it was.
    fn given_up(&self) -> Option<String> {
        let given_up = self.summary.given_up()?;
        let rest = match self.not_run() {
            Some(programs) => counted(HumanCount(programs), C::NOUN),
            None => "the rest".to_owned(),
        };
        Some(match given_up {
            GivenUp::Lost { cases, of } => {
                format!("the RTL crashed or hung in {cases} of {of} cases; {rest} not run")
            }
            GivenUp::Failed(failed) => {
                let failed = counted(HumanCount(failed as u64), C::NOUN);
                format!("{failed} failed; {rest} not run")
            }
        })
    }

    /// Returns the name of a campaign, without its build.
    pub fn name(&self) -> String {
        let name = format!("{}.fuzz.{:x}", C::Design::NAME, self.options.seed);
        match self.shard.of() {
            1 => name,
            _ => format!("{name}  shard {}", self.shard),
        }
    }

    /// Returns the name of a campaign, with its build if that is not the default one.
    pub fn campaign(&self) -> String {
        let name = self.name();
        match self.build.is_default::<C::Design>() {
            true => name,
            false => format!("{name}  {}", self.build),
        }
    }

    /// Returns the text on a campaign without its failures.
    pub fn text(&self, shown: Shown) -> String {
        let failed = !self.summary.failures.is_empty();
        match (shown.row, failed && !shown.details) {
            (true, _) => self.row(),
            (_, true) => self.failed_text(),
            (_, false) => self.statistics(),
        }
    }

    /// Describes a campaign with failures: how many there are, in how many cycles, and why it was given up, if it was.
    fn failed_text(&self) -> String {
        let [programs, cycles, _, _, failed] = self.numbers().map(HumanCount);
        let campaign = self.campaign();
        let (programs, cycles) = (counted(programs, C::NOUN), counted(cycles, "cycle"));
        let mut text = format!(
            "{campaign}  {programs}, {failed} FAILED; {cycles} agreed (-v prints every statistic)\n"
        );
        if let Some(why) = self.given_up() {
            let _ = writeln!(text, "  given up        {why}");
        }
        text
    }

    /// Returns what should have occurred but never did, in at most [`SHOWN`] lines, for a campaign that agrees. Of programs only for a whole
    /// campaign of the default build: a part need not reach everything, and other parameters make other situations unreachable.
    fn missing(&self) -> Vec<String> {
        let usual = self.build.is_default::<C::Design>() && self.ended && self.shard.of() == 1;
        if C::EXECUTES && !usual || !self.summary.failures.is_empty() {
            return Vec::new();
        }
        let mut missing = self.summary.gaps(&C::Bins::new(self.build));
        if missing.len() > SHOWN {
            let others = missing.len() - SHOWN + 1;
            missing.truncate(SHOWN - 1);
            let cover = for_design("cover", C::Design::NAME);
            missing.push(format!("and {others} more: `{} {cover}`", called()));
        }
        missing
    }

    /// Returns the summary as one line below [`HEADER`], and what never occurred.
    fn row(&self) -> String {
        let numbers = self.numbers().map(|n| HumanCount(n).to_string());
        let [programs, cycles, steps, judged, failed] = numbers;
        let mut text = format!(
            "{:<13}{:<56}{programs:>9}{cycles:>14}{steps:>14}{judged:>8}{failed:>8}\n",
            self.name(),
            self.build.to_string(),
        );
        if let Some(why) = self.given_up() {
            let _ = writeln!(text, "  given up        {why}");
        }
        for what in self.missing() {
            let _ = writeln!(text, "  {:<15} {what}", C::GAP);
        }
        text
    }

    /// Returns the summary with every statistic.
    fn statistics(&self) -> String {
        let compared = self.summary.compared;
        let executed = match C::EXECUTES {
            true => format!(
                ", {}, {}",
                counted(HumanCount(compared.launches), "launch"),
                counted(HumanCount(compared.steps), "instruction")
            ),
            false => String::new(),
        };
        let mut text = format!(
            "{}  {}{executed}\n",
            self.campaign(),
            counted(HumanCount(self.summary.programs), C::NOUN),
        );
        let mut line = |name: &str, what: &str| {
            let _ = writeln!(text, "  {name:<15} {what}");
        };
        let cycles = counted(HumanCount(compared.cycles), "cycle");
        let extent = C::Design::DECLARATION.extent();
        let verdict = match self.summary.failures.len() {
            0 => format!("0 mismatches in {cycles}, {extent}"),
            n => format!("{n} FAILED; {cycles}, {extent}, agreed"),
        };
        line("lock-step", &verdict);
        for (field, hidden) in &self.summary.hidden {
            let cycles = compared.cycles.saturating_sub(*hidden);
            let cycles = HumanCount(cycles);
            line("compared", &format!("{field} in {cycles} of these cycles"));
        }
        if let Some(why) = self.given_up() {
            line("given up", &why);
        }
        if C::EXECUTES {
            let (programs, lanes, instructions) = self.summary.judged.into();
            let programs = counted(HumanCount(programs), "program");
            let lanes = counted(HumanCount(lanes), "lane");
            let instructions = counted(HumanCount(instructions), "instruction");
            line(
                "scalar judge",
                &format!("{programs}, {lanes}, {instructions} agree"),
            );
        }
        for (kind, of) in &self.summary.kinds {
            let programs = counted(HumanCount(of.programs), C::NOUN);
            let cycles = counted(HumanCount(of.cycles), "cycle");
            line(kind, &format!("{programs}, {cycles}"));
        }
        let mut outcomes: Vec<_> = self.summary.outcomes.iter().collect();
        outcomes.sort_by_key(|(outcome, _)| natural(outcome));
        for (outcome, count) in outcomes {
            let count = HumanCount(*count).to_string();
            line("ended", &format!("{count:>12} {outcome}"));
        }
        let overview = C::Bins::new(self.build).overview(&self.summary.bins);
        let all = ("bins", overview.all);
        for (name, Share { hit, reachable }) in std::iter::once(all).chain(overview.groups) {
            let [hit, reachable] = [hit, reachable].map(|n| HumanCount(n as u64));
            line(name, &format!("{hit} of {reachable}"));
        }
        for what in self.missing() {
            line(C::GAP, &what);
        }
        text
    }
}

/// Returns a sort key that compares the numbers in a text as numbers: "error 10" comes after "error 9".
fn natural(text: &str) -> (&str, u64, &str) {
    let start = text
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(text.len());
    let (before, rest) = text.split_at(start);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    (before, rest[..end].parse().unwrap_or(0), &rest[end..])
}
