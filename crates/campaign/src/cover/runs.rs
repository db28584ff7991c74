//! The runs whose counts a coverage file holds, and their failures: what says whether files may be added up.

use serde::{Deserialize, Serialize};

use reconverge_bench::input::one_line;
use reconverge_bench::json::{count, hex, required};
use reconverge_bench::place::Place;

/// A run whose counts are in a coverage file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ran {
    /// Campaign seed.
    #[serde(with = "hex")]
    pub seed: u64,
    /// Half of the cycles were those of cases made from others.
    pub guided: bool,
    /// Hash of the contents of RTL and bench.
    pub rtl: String,
    /// True if the models checked the RTL's assertions.
    pub assertions: bool,
    /// Hash of the sources of the program that ran it: generators, golden models.
    pub program: String,
    /// Cycles that agreed.
    #[serde(with = "count")]
    pub cycles: u64,
    /// The file that holds the run, for messages about another one.
    #[serde(skip)]
    pub from: String,
}

impl Ran {
    /// Returns why the counts of `self` must not be added to those of `other`: the first field of `self` that forbids it, and
    /// the reason.
    ///
    /// Runs with the same seed have the same programs, as far as the shorter one goes; a guided run begins with those of the
    /// campaign. Other sources may generate others.
    pub fn clash(&self, other: &Ran) -> Option<(&'static str, String)> {
        let from = &other.from;
        if self.rtl != other.rtl {
            let why = format!("{}, but {from} has {}", self.rtl, other.rtl);
            return Some(("runs.rtl", why));
        }
        if self.assertions != other.assertions {
            let why = format!("{}, but {from} has {}", self.assertions, other.assertions);
            return Some(("runs.assertions", why));
        }
        let same = (self.seed, &self.program) == (other.seed, &other.program);
        same.then(|| {
            let seed = self.seed;
            let why = format!(
                "{seed:#x} is in {from} already: its cases would count twice; use another --seed"
            );
            ("runs.seed", why)
        })
    }
}

/// The case that ended a run by failing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedRun {
    /// Name of the run of the case: unit, program, seed.
    pub run: String,
    /// How and where it failed.
    pub failure: Place,
    /// That in one line.
    pub message: String,
    /// Id of the rule for the first field that differs.
    #[serde(deserialize_with = "required")]
    pub rule: Option<String>,
    /// Where the case is saved.
    #[serde(deserialize_with = "required")]
    pub saved: Option<String>,
}

impl FailedRun {
    /// Returns the failure as one line.
    pub fn line(&self) -> String {
        let with = |what: &str, more: &Option<String>| match more {
            Some(more) => format!("; {what} {more}"),
            None => String::new(),
        };
        let further = with("rule", &self.rule) + &with("saved as", &self.saved);
        let line = format!("{}: {}{further}", self.run, self.message);
        // A file may hold anything.
        one_line(&line).into_owned()
    }
}
