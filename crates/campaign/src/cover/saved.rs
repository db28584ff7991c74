//! Coverage by name: saved as JSON, merged, shown as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Axis, Model, When};
use crate::design::Build;
use crate::grammar::Campaign;
use crate::input::InputError;
use crate::json::{self, count, map, required};
use crate::text::percent;

/// The version of [`Saved`] that this crate writes and reads.
pub const FORMAT: u32 = 2;

/// What to do about a file of another version.
const AGAIN: &str = "measure again with `cover --json`";

/// Missed bins of a group that the text lists; the JSON and the HTML page have them all.
const LISTED: usize = 12;

/// A coverage file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// Version of this format.
    pub reconverge_cover: u32,
    /// What is known of each unit.
    pub units: Vec<UnitCoverage>,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Programs run.
    #[serde(with = "count")]
    pub programs: u64,
    /// Programs launched.
    #[serde(with = "count")]
    pub launches: u64,
    /// Clocks.
    #[serde(with = "count")]
    pub clocks: u64,
    /// Steps that executed or failed.
    #[serde(with = "count")]
    pub steps: u64,
}

impl Totals {
    fn each(&mut self) -> [&mut u64; 4] {
        [
            &mut self.programs,
            &mut self.launches,
            &mut self.clocks,
            &mut self.steps,
        ]
    }
}

/// The coverage of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitCoverage {
    /// Its name.
    pub unit: String,
    /// Lanes.
    pub lanes: u32,
    /// Parameters that do not have their default.
    #[serde(deserialize_with = "map")]
    pub parameters: BTreeMap<String, u32>,
    /// How much was looked at.
    pub totals: Totals,
    /// Its groups.
    pub groups: Vec<GroupCoverage>,
}

/// The coverage of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupCoverage {
    /// Its name.
    pub name: String,
    /// What a hit means.
    pub about: String,
    /// When it is sampled.
    pub sampled: When,
    /// Its axes.
    pub axes: Vec<Axis>,
    /// A bin for each combination of their values; the last axis runs fastest.
    pub bins: Vec<Bin>,
}

/// A bin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bin {
    /// Its value on each axis.
    pub at: Vec<String>,
    /// How often it was hit.
    #[serde(with = "count")]
    pub hits: u64,
    /// Why it cannot be hit, if it cannot.
    #[serde(deserialize_with = "required")]
    pub unreachable: Option<String>,
}

impl Bin {
    /// Its values in a row.
    pub fn name(&self) -> String {
        self.at.join(", ")
    }

    /// It can be hit, and was not.
    pub fn is_missed(&self) -> bool {
        self.unreachable.is_none() && self.hits == 0
    }

    /// It cannot be hit, and was.
    pub fn is_impossible(&self) -> bool {
        self.unreachable.is_some() && self.hits > 0
    }
}

impl GroupCoverage {
    /// Bins that are not declared unreachable.
    pub fn reachable(&self) -> usize {
        let reachable = |b: &&Bin| b.unreachable.is_none();
        self.bins.iter().filter(reachable).count()
    }

    /// Bins of those that were hit.
    pub fn hit(&self) -> usize {
        let hit = |b: &&Bin| b.unreachable.is_none() && b.hits > 0;
        self.bins.iter().filter(hit).count()
    }

    /// All hits together.
    pub fn hits(&self) -> u64 {
        // A file may hold any numbers.
        let counts = self.bins.iter().map(|b| b.hits);
        counts.fold(0, u64::saturating_add)
    }

    /// Reasons why bins cannot be hit, and of how many each.
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
    /// The bins of `U` with `build`, none of them hit.
    pub fn declared<U: Campaign>(build: &Build) -> Self {
        let model = Model::<U>::new(build);
        model.named(&model.no_hits(), Totals::default())
    }

    /// What it is built with.
    pub fn build(&self) -> Build {
        Build {
            lanes: self.lanes,
            parameters: self.parameters.clone(),
        }
    }

    /// Bins that are not declared unreachable.
    pub fn reachable(&self) -> usize {
        self.groups.iter().map(GroupCoverage::reachable).sum()
    }

    /// Bins of those that were hit.
    pub fn hit(&self) -> usize {
        self.groups.iter().map(GroupCoverage::hit).sum()
    }

    /// Bins that can be hit and were not, with their groups.
    pub fn missed(&self) -> impl Iterator<Item = (&GroupCoverage, &Bin)> {
        self.all().filter(|(_, bin)| bin.is_missed())
    }

    /// Bins that cannot be hit and were, with their groups.
    pub fn impossible(&self) -> impl Iterator<Item = (&GroupCoverage, &Bin)> {
        self.all().filter(|(_, bin)| bin.is_impossible())
    }

    fn all(&self) -> impl Iterator<Item = (&GroupCoverage, &Bin)> {
        self.groups
            .iter()
            .flat_map(|g| g.bins.iter().map(move |b| (g, b)))
    }

    /// Adds what `other`, read from `file`, counted.
    ///
    /// # Errors
    /// Another unit, other parameters, other bins, more hits than can be counted.
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
                format!("{} lanes{}", c.lanes, further.collect::<String>())
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
        let full = |field: String| bad(field, format!("more than {} in all", json::MOST));
        let sum = |a: u64, b: u64| a.checked_add(b).filter(|sum| *sum <= json::MOST);
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

    /// What a person wants to read of it: each group's share, what was missed, what cannot be hit and why.
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
            line(
                &g.name,
                &format!(
                    "{:>9}  {:>5} %  {}",
                    format!("{hit}/{reachable}"),
                    percent(hit, reachable),
                    axes.join(" x ")
                ),
            );
        }
        for g in &self.groups {
            let missed: Vec<&Bin> = g.bins.iter().filter(|b| b.is_missed()).collect();
            for bin in missed.iter().take(LISTED) {
                line("missed", &format!("{}: {}", g.name, bin.name()));
            }
            if missed.len() > LISTED {
                let more = missed.len() - LISTED;
                line("missed", &format!("{}: and {more} more", g.name));
            }
        }
        for g in &self.groups {
            for (why, count) in g.reasons() {
                line("unreachable", &format!("{}: {count}: {why}", g.name));
            }
        }
        for (g, bin) in self.impossible() {
            let why = bin.unreachable.as_deref().unwrap_or_default();
            line(
                "IMPOSSIBLE",
                &format!("{}: {}: hit {} times: {why}", g.name, bin.name(), bin.hits),
            );
        }
        text
    }
}

impl Saved {
    /// A file of these units.
    pub fn new(units: Vec<UnitCoverage>) -> Self {
        Saved {
            reconverge_cover: FORMAT,
            units,
        }
    }

    /// Reads a coverage file.
    ///
    /// # Errors
    /// Not JSON, not a coverage file, one of another version; a field that is missing or unknown.
    pub fn parse(text: &str, file: &str) -> Result<Self, InputError> {
        /// The field that says what a file is; all others are passed over.
        #[derive(Deserialize)]
        struct Kind {
            reconverge_cover: Option<u64>,
        }
        let kind: Kind =
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

    /// The file as text.
    pub fn to_text(&self) -> String {
        // Plain data with string keys: nothing in it can fail to serialise.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
