//! Coverage with the names of the bins: saved as JSON, merged, printed as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Axis, FailedRun, Model, Ran, When};
use crate::grammar::Campaign;
use reconverge_bench::design::Build;
use reconverge_bench::input::InputError;
use reconverge_bench::json::{self, count, map, required};
use reconverge_bench::quantity::counted;
use reconverge_bench::text::percent;

/// The version of [`SavedCoverage`] that this crate writes and reads.
pub const FORMAT: u32 = 4;

/// Advice in messages about a file of another version.
const AGAIN: &str = "measure again with `cover --json`";

/// Maximum number of missed bins that the text lists completely. JSON and HTML page always list all of them.
const MAX_LISTED: usize = 64;
/// Number of missed bins of each group that the text lists if there are more than [`MAX_LISTED`].
const LISTED_EACH: usize = 3;

/// A coverage file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedCoverage {
    /// Version of this format.
    pub reconverge_cover: u32,
    /// Coverage of each unit.
    pub units: Vec<UnitCoverage>,
}

/// How much was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Programs run.
    #[serde(with = "count")]
    pub programs: u64,
    /// Programs launched.
    #[serde(with = "count")]
    pub launches: u64,
    /// Cycles.
    #[serde(with = "count")]
    pub cycles: u64,
    /// Steps that executed or failed.
    #[serde(with = "count")]
    pub steps: u64,
}

impl Totals {
    fn each(&mut self) -> [&mut u64; 4] {
        [
            &mut self.programs,
            &mut self.launches,
            &mut self.cycles,
            &mut self.steps,
        ]
    }
}

/// The coverage of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitCoverage {
    /// Name.
    pub unit: String,
    /// Number of lanes.
    pub lanes: u32,
    /// Parameters that differ from their defaults.
    #[serde(deserialize_with = "map")]
    pub parameters: BTreeMap<String, u32>,
    /// How much was run.
    pub totals: Totals,
    /// The runs; empty only in memory, for counts of no run of a campaign.
    pub runs: Vec<Ran>,
    /// Those of them that failed.
    pub failures: Vec<FailedRun>,
    /// Groups of bins.
    pub groups: Vec<GroupCoverage>,
}

/// The coverage of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupCoverage {
    /// Name.
    pub name: String,
    /// What a hit means.
    pub about: String,
    /// When the group is sampled.
    pub sampled: When,
    /// Axes of the group.
    pub axes: Vec<Axis>,
    /// A bin for each combination of axis values; the last axis varies fastest.
    pub bins: Vec<Bin>,
}

/// A bin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bin {
    /// Value on each axis.
    pub at: Vec<String>,
    /// Number of hits.
    #[serde(with = "count")]
    pub hits: u64,
    /// Reason why the bin is unreachable, if it is.
    #[serde(deserialize_with = "required")]
    pub unreachable: Option<String>,
}

impl Bin {
    /// Returns the values of the bin as one text.
    pub fn name(&self) -> String {
        self.at.join(", ")
    }

    /// Returns true if the bin is reachable and was not hit.
    pub fn is_missed(&self) -> bool {
        self.unreachable.is_none() && self.hits == 0
    }

    /// Returns true if the bin is declared unreachable and was hit.
    pub fn is_impossible(&self) -> bool {
        self.unreachable.is_some() && self.hits > 0
    }
}

impl GroupCoverage {
    /// Returns the number of bins that are not declared unreachable.
    pub fn reachable(&self) -> usize {
        let reachable = |b: &&Bin| b.unreachable.is_none();
        self.bins.iter().filter(reachable).count()
    }

    /// Returns the number of reachable bins that were hit.
    pub fn hit(&self) -> usize {
        let hit = |b: &&Bin| b.unreachable.is_none() && b.hits > 0;
        self.bins.iter().filter(hit).count()
    }

    /// Returns the sum of all hits.
    pub fn hits(&self) -> u64 {
        // The numbers come from a file, so the sum may overflow.
        let counts = self.bins.iter().map(|b| b.hits);
        counts.fold(0, u64::saturating_add)
    }

    /// Returns the reasons why bins are unreachable, with the number of bins for each.
    pub fn reasons(&self) -> Vec<(&str, usize)> {
        let mut reasons: Vec<(&str, usize)> = Vec::new();
        for why in self.bins.iter().filter_map(|b| b.unreachable.as_deref()) {
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, count)) => *count += 1,
                None => reasons.push((why, 1)),
            }
        }
        reasons
    }
}

impl UnitCoverage {
    /// Returns the bins of `U` with `build`, without hits.
    pub fn declared<U: Campaign>(build: &Build) -> Self {
        let model = Model::<U>::new(build);
        model.named(&model.declaration().no_hits(), Totals::default())
    }

    /// Returns the build of the unit.
    pub fn build(&self) -> Build {
        Build {
            lanes: self.lanes,
            parameters: self.parameters.clone(),
        }
    }

    /// Returns the number of bins that are not declared unreachable.
    pub fn reachable(&self) -> usize {
        self.groups.iter().map(GroupCoverage::reachable).sum()
    }

    /// Returns the number of reachable bins that were hit.
    pub fn hit(&self) -> usize {
        self.groups.iter().map(GroupCoverage::hit).sum()
    }

    /// Returns the reachable bins that were not hit, with their groups.
    pub fn missed(&self) -> impl Iterator<Item = (&GroupCoverage, &Bin)> {
        self.all().filter(|(_, bin)| bin.is_missed())
    }

    /// Returns the bins that are declared unreachable and were hit, with their groups.
    pub fn impossible(&self) -> impl Iterator<Item = (&GroupCoverage, &Bin)> {
        self.all().filter(|(_, bin)| bin.is_impossible())
    }

    fn all(&self) -> impl Iterator<Item = (&GroupCoverage, &Bin)> {
        self.groups
            .iter()
            .flat_map(|g| g.bins.iter().map(move |b| (g, b)))
    }

    /// Returns what went wrong, each with its kind: bins that are declared unreachable and were hit, and runs that failed.
    pub fn wrong(&self) -> impl Iterator<Item = (&'static str, String)> {
        let impossible = self.impossible().map(|(group, bin)| {
            let why = bin.unreachable.as_deref().unwrap_or_default();
            let (group, bin, hits) = (&group.name, bin.name(), bin.hits);
            let hit = format!("{group}: {bin}: hit {hits} times: {why}");
            ("IMPOSSIBLE", hit)
        });
        impossible.chain(self.failures.iter().map(|failed| ("FAILED", failed.line())))
    }

    /// Returns the number of cycles that agreed in all runs.
    pub fn compared(&self) -> u64 {
        // The numbers come from files, so the sum may overflow.
        let cycles = self.runs.iter().map(|run| run.cycles);
        cycles.fold(0, u64::saturating_add)
    }

    /// Adds the counters, the runs and the failures of `other`, which was read from `file`.
    ///
    /// # Errors
    /// `other` has another unit, other parameters or other bins; a run of it is here already, or is of other RTL; a sum is too
    /// large.
    pub fn merge(&mut self, other: &Self, file: &str) -> Result<(), InputError> {
        let bad = |field: String, why: String| Err(InputError::new(file, 0, field, why));
        if other.unit != self.unit {
            return bad(
                "unit".to_owned(),
                format!("it is of {}, not of {}", other.unit, self.unit),
            );
        }
        if (other.lanes, &other.parameters) != (self.lanes, &self.parameters) {
            let built = |c: &Self| {
                let further = c.parameters.iter().map(|(n, v)| format!(" {n}={v}"));
                format!(
                    "{}{}",
                    counted(c.lanes, "lane"),
                    further.collect::<String>()
                )
            };
            let why = format!("{} with {}, not {}", self.unit, built(other), built(self));
            return bad("lanes".to_owned(), why);
        }
        if other.groups.len() != self.groups.len() {
            let why = format!(
                "{} groups, {} has {} here: the file is of another version; {AGAIN}",
                other.groups.len(),
                self.unit,
                self.groups.len()
            );
            return bad("groups".to_owned(), why);
        }
        for (mine, theirs) in self.groups.iter().zip(&other.groups) {
            let declared = |g: &GroupCoverage| {
                let mut g = g.clone();
                g.bins.iter_mut().for_each(|b| b.hits = 0);
                g
            };
            if declared(mine) != declared(theirs) {
                let what = if mine.name == theirs.name {
                    "has other bins"
                } else {
                    "is unknown or in another place"
                };
                let why = format!(
                    "this group of {} {what} here: the file is of another version; {AGAIN}",
                    self.unit
                );
                return bad(format!("groups.{}", theirs.name), why);
            }
        }
        // Before the counts, so that counts of a run that is given twice do not count as an overflow.
        for theirs in &other.runs {
            if let Some((field, why)) = self.runs.iter().find_map(|mine| theirs.clash(mine)) {
                return bad(field.to_owned(), why);
            }
            let mut theirs = theirs.clone();
            file.clone_into(&mut theirs.from);
            self.runs.push(theirs);
        }
        self.failures.extend(other.failures.iter().cloned());
        let full = |field: String| bad(field, format!("more than {} in all", json::MAX));
        let sum = |a: u64, b: u64| a.checked_add(b).filter(|sum| *sum <= json::MAX);
        let mut totals = other.totals;
        for (mine, theirs) in self.totals.each().into_iter().zip(totals.each()) {
            match sum(*mine, *theirs) {
                Some(sum) => *mine = sum,
                None => return full("totals".to_owned()),
            }
        }
        for (mine, theirs) in self.groups.iter_mut().zip(&other.groups) {
            for (bin, more) in mine.bins.iter_mut().zip(&theirs.bins) {
                match sum(bin.hits, more.hits) {
                    Some(sum) => bin.hits = sum,
                    None => return full(format!("groups.{}", theirs.name)),
                }
            }
        }
        Ok(())
    }

    /// Returns the coverage as text: the share of each group, the missed bins, the unreachable bins with reasons.
    pub fn text(&self) -> String {
        let (hit, reachable) = (self.hit(), self.reachable());
        let declared: usize = self.groups.iter().map(|g| g.bins.len()).sum();
        let mut text = String::new();
        let mut line = |name: &str, what: &str| {
            let _ = writeln!(text, "  {name:<18}{what}");
        };
        line(
            "bins",
            &format!(
                "{hit} of {reachable} reachable hit, {} %; {} unreachable",
                percent(hit, reachable),
                declared - reachable
            ),
        );
        for g in &self.groups {
            let (hit, reachable) = (g.hit(), g.reachable());
            let axes: Vec<&str> = g.axes.iter().map(|a| a.name.as_str()).collect();
            let share = match reachable {
                0 => format!("{:>9}  {:>7}", "none", ""),
                _ => format!(
                    "{:>9}  {:>5} %",
                    format!("{hit}/{reachable}"),
                    percent(hit, reachable)
                ),
            };
            line(&g.name, &format!("{share}  {}", axes.join(" x ")));
        }
        let each = match self.missed().count() {
            0..=MAX_LISTED => MAX_LISTED,
            _ => LISTED_EACH,
        };
        for g in &self.groups {
            let missed: Vec<&Bin> = g.bins.iter().filter(|b| b.is_missed()).collect();
            for bin in missed.iter().take(each) {
                line("missed", &format!("{}: {}", g.name, bin.name()));
            }
            if let more @ 1.. = missed.len().saturating_sub(each) {
                line("missed", &format!("{}: and {more} more", g.name));
            }
        }
        for g in &self.groups {
            for (why, count) in g.reasons() {
                line("unreachable", &format!("{}: {count}: {why}", g.name));
            }
        }
        for (what, wrong) in self.wrong() {
            line(what, &wrong);
        }
        text
    }
}

impl SavedCoverage {
    /// Returns the content of a file with these units.
    pub fn new(units: Vec<UnitCoverage>) -> Self {
        SavedCoverage {
            reconverge_cover: FORMAT,
            units,
        }
    }

    /// Reads a coverage file.
    ///
    /// # Errors
    /// The text is not JSON, is not a coverage file or has another version, or a field is missing or unknown.
    pub fn parse(text: &str, file: &str) -> Result<Self, InputError> {
        /// The field that identifies the kind of file; all others are ignored.
        #[derive(Deserialize)]
        struct Tag {
            reconverge_cover: Option<u64>,
        }
        let kind: Tag =
            serde_json::from_str(text).map_err(|e| InputError::json(file, "json", text, &e))?;
        let format = ("reconverge_cover", FORMAT);
        json::check_format(
            kind.reconverge_cover,
            format,
            "a coverage file",
            AGAIN,
            file,
        )?;
        serde_json::from_str(text).map_err(|e| InputError::json(file, "coverage", text, &e))
    }

    /// Returns the coverage file as text.
    pub fn to_text(&self) -> String {
        // Plain data with string keys: serialisation cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cover::When;

    /// Returns coverage with `missed` missed bins in one group.
    fn missed(missed: usize) -> UnitCoverage {
        let bin = |n: usize| Bin {
            at: vec![n.to_string()],
            hits: 0,
            unreachable: None,
        };
        UnitCoverage {
            unit: "u".to_owned(),
            lanes: 1,
            parameters: BTreeMap::new(),
            totals: Totals::default(),
            runs: Vec::new(),
            failures: Vec::new(),
            groups: vec![GroupCoverage {
                name: "g".to_owned(),
                about: String::new(),
                sampled: When::Cycle,
                axes: Vec::new(),
                bins: (0..missed).map(bin).collect(),
            }],
        }
    }

    #[test]
    fn up_to_64_missed_bins_are_listed_completely_and_of_more_three_for_each_group() {
        let listed = |n: usize| {
            let text = missed(n).text();
            let lines = text.lines().filter(|l| l.trim().starts_with("missed"));
            let lines: Vec<_> = lines.map(|l| l.trim()[6..].trim().to_owned()).collect();
            (lines.len(), lines.last().cloned())
        };
        assert_eq!(listed(0), (0, None));
        assert_eq!(listed(64), (64, Some("g: 63".to_owned())));
        assert_eq!(listed(65), (4, Some("g: and 62 more".to_owned())));
    }
}
