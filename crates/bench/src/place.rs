//! How and where a case failed, as saved with the case.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::json::count;

/// How and where a saved case failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Place {
    /// RTL and golden differed.
    Mismatch {
        /// Cycle, from 0.
        #[serde(with = "count")]
        cycle: u64,
        /// First field that differed.
        field: String,
        /// Lane, frame or entry of the field.
        element: usize,
    },
    /// The RTL stopped the simulation.
    Stopped {
        /// Cycle, from 0.
        #[serde(with = "count")]
        cycle: u64,
        /// The RTL's message.
        how: String,
    },
    /// The scalar judge disagreed.
    ScalarJudge {
        /// Lane.
        lane: u32,
        /// What the lane did in the wavefront and what it does alone.
        how: String,
    },
    /// The process in which the RTL ran ended.
    Crashed {
        /// How.
        how: String,
    },
    /// The RTL made no progress.
    Hung {
        /// Seconds without progress.
        #[serde(with = "count")]
        seconds: u64,
    },
    /// The bench could not run it.
    NotRun {
        /// Why.
        how: String,
    },
}

impl Place {
    /// Returns the first field that differed.
    pub fn field(&self) -> Option<&str> {
        match self {
            Place::Mismatch { field, .. } => Some(field),
            _ => None,
        }
    }

    /// Returns the lane, frame or entry that failed.
    pub fn element(&self) -> Option<usize> {
        match self {
            Place::Mismatch { element, .. } => Some(*element),
            Place::ScalarJudge { lane, .. } => Some(*lane as usize),
            _ => None,
        }
    }

    /// Returns the cycle whose inputs led to the failure, if it is known.
    pub fn cycle(&self) -> Option<u64> {
        match self {
            Place::Mismatch { cycle, .. } | Place::Stopped { cycle, .. } => Some(*cycle),
            _ => None,
        }
    }
}

impl Display for Place {
    /// Prints the place on one line, as in `it failed at cycle 9 in bc[2]`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Place::Mismatch {
                cycle,
                field,
                element,
            } => write!(f, "at cycle {cycle} in {field}[{element}]"),
            Place::Stopped { cycle, how } => {
                write!(f, "at cycle {cycle}, where the RTL stopped: {how}")
            }
            Place::ScalarJudge { lane, how } => {
                write!(
                    f,
                    "in the comparison with the scalar machine, lane {lane}: {how}"
                )
            }
            Place::Crashed { how } => write!(f, "by a crash: {how}"),
            Place::Hung { seconds } => write!(f, "by making no progress within {seconds} s"),
            Place::NotRun { how } => write!(f, "to run: {how}"),
        }
    }
}
