//! The messages between a command and its workers: lines of JSON over a socket.

use std::ops::Range;
use std::path::PathBuf;

use reconverge::case::Case;
use reconverge::check::{self, TestCase as _};
use reconverge::compiled::Compiled;
pub use reconverge::compiled::Judged;
use reconverge::cover::run as cover;
use reconverge::dut::Built;
use reconverge::exhaust::check::Checked;
use reconverge::failure::{Cause, Failure};
use reconverge::judges::Judges;
use reconverge::mutate::Hunt;
use reconverge::stream::Stream;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The first line: what a worker works on.
#[derive(Clone, Serialize, Deserialize)]
pub struct Job {
    /// The RTL.
    pub built: Built,
    /// Megabytes of memory that the worker may use; 0: no limit.
    pub memory: u64,
}

/// An order to a worker, which executes one at a time.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Order<U: Compiled> {
    /// Run cases of a campaign.
    Cases {
        /// Campaign seed.
        seed: u64,
        /// Continue after a failure.
        keep_going: bool,
        /// The RTL to name in saved cases.
        rtl: Option<PathBuf>,
        /// The numbers of the cases.
        cases: Range<u64>,
        /// Answer before and after each.
        each: bool,
        /// Count the bins that they hit.
        bins: bool,
    },
    /// Judge a case.
    Check {
        /// The case.
        case: Box<Case<U>>,
        /// The judges.
        judges: Judges,
    },
    /// Run a case with a dump.
    Dump {
        /// The case.
        case: Box<Case<U>>,
        /// The cycle in which the dump begins.
        from: u64,
        /// The file of the dump.
        path: PathBuf,
    },
    /// Make a failing case smaller.
    Shrink(Box<Case<U>>),
    /// The answer to [`Answer::Wants`].
    Built(Result<Built, String>),
    /// Run cases and count what they cover.
    Cover(cover::Options),
    /// Go on with a campaign against a mutant.
    Hunt {
        /// Its number.
        mutant: u32,
        /// Campaign seed.
        seed: u64,
        /// The progress so far.
        hunt: Hunt<Case<U>>,
        /// Maximum number of cycles.
        budget: u64,
        /// Answer with the progress before each case.
        each: bool,
    },
    /// Take all transitions from states of a small world.
    Exhaust {
        /// The values of the world's bounds.
        limits: Vec<u32>,
        /// The states, as encoded by their space.
        states: Vec<Vec<u8>>,
        /// Only the transition with this number from each.
        only: Option<usize>,
    },
    /// Judge a stream of pins.
    Play {
        /// The stream.
        stream: Box<Stream<U>>,
        /// The cycle in which a dump begins, and its file.
        dump: Option<(u64, PathBuf)>,
    },
    /// Stop the current work, and answer.
    Stop,
}

/// A failure of a smaller case, and the number of runs.
pub type Smaller<U> = (Box<Failure<Case<U>>>, u64);

/// The result of judging a stream of pins.
pub type Played<U> = check::Judged<Stream<U>>;

/// An answer of a worker.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Answer<U: Compiled> {
    /// A sign of life: the number of cycles of the case so far.
    Pulse(u64),
    /// [`Order::Cases`], one by one: the next case begins, on a model with this seed.
    Begins(u32),
    /// [`Order::Cases`], all at once: this one has failed. It counts together with the summary of all of them.
    Failed(Box<reconverge::campaign::Failed<Case<U>>>),
    /// [`Order::Cover`]: this case begins; the coverage before it was sent.
    BeginsCase(Box<Case<U>>),
    /// [`Order::Cases`]: the summary of the case that began, or of all ordered cases.
    Did(Box<reconverge::campaign::Summary<Case<U>>>),
    /// [`Order::Check`].
    Judged(Box<Judged<U>>),
    /// [`Order::Dump`]: the result of the run, or why there is no dump.
    Dumped(Box<Result<Judged<U>, String>>),
    /// [`Order::Shrink`]: the smallest so far.
    Smaller(Box<Failure<Case<U>>>),
    /// [`Order::Shrink`]: the same RTL is needed with this number of lanes.
    Wants(u32),
    /// [`Order::Shrink`]: the number of runs, after the last [`Answer::Smaller`]; or why it cannot be shrunk.
    Shrunk(Result<Smaller<U>, String>),
    /// [`Order::Cover`]: after each chunk, the number of programs, cycles and hit bins.
    Covering(u64, u64, usize),
    /// [`Order::Cover`]: the coverage so far, from time to time and before a careful chunk.
    SoFar(Box<cover::Covered<U>>),
    /// [`Order::Cover`]: the coverage at the end.
    Covered(Box<cover::Covered<U>>),
    /// [`Order::Hunt`]: the progress, from time to time or before each case, and at the end.
    Hunting(Box<Hunt<Case<U>>>),
    /// [`Order::Exhaust`].
    Exhausted(Box<Checked<U>>),
    /// [`Order::Play`]: the result of the run, or why there is no dump.
    Played(Box<Result<Played<U>, String>>),
    /// The work has stopped because of [`Order::Stop`].
    Stopped,
    /// The order was not executed, because of the RTL.
    Lost(Box<Cause<U>>),
    /// The order was not executed, but not because of the RTL.
    Cannot(String),
}

impl<U: Compiled> Answer<U> {
    /// Returns whether a worker can have given this answer: its cases are cases of the unit. RTL that writes into memory
    /// of its process or to its socket may change what the worker says. ([`Mismatch`] checks itself.)
    ///
    /// [`Mismatch`]: reconverge::lockstep::Mismatch
    pub fn is_possible(&self) -> bool {
        let case = |case: &Case<U>| case.check_input("").is_ok();
        let failure = |failure: &Failure<Case<U>>| case(&failure.case);
        let judged = |judged: &Judged<U>| judged.as_ref().err().is_none_or(failure);
        let covered = |covered: &cover::Covered<U>| covered.failed.as_ref().is_none_or(failure);
        match self {
            Answer::Failed(failed) => failure(&failed.failure),
            Answer::BeginsCase(begun) => case(begun),
            Answer::Did(summary) => summary.failures.iter().all(|f| failure(&f.failure)),
            Answer::Judged(found) => judged(found),
            Answer::Dumped(dumped) => dumped.as_ref().as_ref().map_or(true, judged),
            Answer::Smaller(small) => failure(small),
            Answer::Shrunk(shrunk) => shrunk.as_ref().map_or(true, |(small, _)| failure(small)),
            Answer::SoFar(found) | Answer::Covered(found) => covered(found),
            Answer::Hunting(hunt) => hunt
                .caught
                .as_ref()
                .is_none_or(|caught| failure(&caught.failure)),
            Answer::Played(played) => match &**played {
                Ok(Err(failed)) => failed.case.check_input("").is_ok(),
                _ => true,
            },
            Answer::Pulse(_)
            | Answer::Begins(_)
            | Answer::Wants(_)
            | Answer::Covering(..)
            | Answer::Exhausted(_)
            | Answer::Stopped
            | Answer::Lost(_)
            | Answer::Cannot(_) => true,
        }
    }
}

/// Returns `value` as a line.
pub fn line(value: &impl Serialize) -> Result<String, String> {
    match serde_json::to_string(value) {
        Ok(text) => Ok(text + "\n"),
        Err(e) => Err(format!("worker: {e}")),
    }
}

/// Parses `line`.
pub fn parsed<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    // From text, as everywhere else: parsing bytes would be compiled in addition.
    let line = str::from_utf8(line).map_err(|e| format!("worker: {e}"))?;
    serde_json::from_str(line).map_err(|e| format!("worker: {e}"))
}
