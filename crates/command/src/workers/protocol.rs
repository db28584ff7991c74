//! The messages between a command and its workers: lines of JSON over a socket. [`reconverge::worker`] has what they say.

use reconverge::dut::Built;
pub use reconverge::worker::{Answer, Order, Ordered, ProgramAnswer, ProgramOrder};
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
