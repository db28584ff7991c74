//! What a command and its workers say to each other: lines of JSON over a socket.

use std::ops::Range;
use std::path::PathBuf;

use reconverge::case::Case;
use reconverge::check;
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
    /// Megabytes that the worker may use; 0: as many as there are.
    pub memory: u64,
}

/// What a worker is to do. It does one thing after another.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Order<U: Compiled> {
    /// Run cases of a campaign.
    Cases {
        /// Campaign seed.
        seed: u64,
        /// A failure does not end it.
        keep_going: bool,
        /// For the cases it saves.
        rtl: Option<PathBuf>,
        /// Which cases.
        cases: Range<u64>,
        /// Each on a model of its own, told of before and behind it.
        each: bool,
    },
    /// Judge a case.
    Check {
        /// The case.
        case: Box<Case<U>>,
        /// By whom.
        judges: Judges,
    },
    /// Run a case with a dump.
    Dump {
        /// The case.
        case: Box<Case<U>>,
        /// The cycle in which the dump begins.
        from: u64,
        /// Where it goes.
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
        /// How far it is.
        hunt: Hunt<Case<U>>,
        /// Clocks that it may take.
        budget: u64,
        /// Tell before each case how far it is.
        each: bool,
    },
    /// Take all transitions from states of a small world.
    Exhaust {
        /// The values of the world's bounds.
        limits: Vec<u32>,
        /// The states, as their space has them.
        states: Vec<Vec<u8>>,
        /// Only this transition of each.
        only: Option<usize>,
    },
    /// Judge a stream of pins.
    Play {
        /// The stream.
        stream: Box<Stream<U>>,
        /// The cycle in which a dump begins, and where it goes.
        dump: Option<(u64, PathBuf)>,
    },
    /// Come to an end with what is being done, and answer.
    Stop,
}

/// A failure of what a case has become, and the runs that it took.
pub type Smaller<U> = (Box<Failure<Case<U>>>, u64);

/// What judging a stream of pins came to.
pub type Played<U> = check::Judged<Stream<U>>;

/// What a worker says.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Answer<U: Compiled> {
    /// It goes on: so many cycles of the case so far.
    Pulse(u64),
    /// [`Order::Cases`]: this case begins.
    Begins(u64),
    /// [`Order::Cases`], all at once: this one has failed. It counts with what all of them did.
    Failed(Box<reconverge::campaign::Failed<U>>),
    /// [`Order::Cover`]: this case begins, what was covered before being known.
    BeginsCase(Box<Case<U>>),
    /// [`Order::Cases`]: what the case that began did, or all that were ordered.
    Did(Box<reconverge::campaign::Summary<U>>),
    /// [`Order::Check`].
    Judged(Box<Judged<U>>),
    /// [`Order::Dump`]: what the run came to; or why there is no dump.
    Dumped(Box<Result<Judged<U>, String>>),
    /// [`Order::Shrink`]: the smallest so far.
    Smaller(Box<Failure<Case<U>>>),
    /// [`Order::Shrink`]: the same RTL with so many lanes is wanted.
    Wants(u32),
    /// [`Order::Shrink`]: how many runs it took, [`Answer::Smaller`] came before; or why it is not to be shrunk.
    Shrunk(Result<Smaller<U>, String>),
    /// [`Order::Cover`]: after each chunk, programs, cycles, and bins that were hit.
    Covering(u64, u64, usize),
    /// [`Order::Cover`]: what is covered so far, now and then and before a careful chunk.
    SoFar(Box<cover::Covered<U>>),
    /// [`Order::Cover`]: at the end.
    Covered(Box<cover::Covered<U>>),
    /// [`Order::Hunt`]: how far it is, now and then or before each case, and at the end.
    Hunting(Box<Hunt<Case<U>>>),
    /// [`Order::Exhaust`].
    Exhausted(Box<Checked<U>>),
    /// [`Order::Play`]: what the run came to; or why there is no dump.
    Played(Box<Result<Played<U>, String>>),
    /// It has come to an end because of [`Order::Stop`].
    Stopped,
    /// The RTL is at fault that this was not done.
    Lost(Box<Cause<U>>),
    /// This was not done, and the RTL is not at fault.
    Cannot(String),
}

/// `value` as a line.
pub fn line(value: &impl Serialize) -> Result<String, String> {
    match serde_json::to_string(value) {
        Ok(text) => Ok(text + "\n"),
        Err(e) => Err(format!("worker: {e}")),
    }
}

/// What `line` says.
pub fn parsed<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    // From text, as everything else is read: reading bytes would be compiled beside it.
    let line = str::from_utf8(line).map_err(|e| format!("worker: {e}"))?;
    serde_json::from_str(line).map_err(|e| format!("worker: {e}"))
}
