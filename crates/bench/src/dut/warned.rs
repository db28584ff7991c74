//! Verilator's warnings about RTL, each build's once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Most warnings of a build that are shown.
const WARNINGS: usize = 10;

/// Returns `warnings` about the RTL in `dir` as they are shown. `None` if there are none, or if this process has had them before.
pub(super) fn warned(warnings: &str, dir: Option<&Path>) -> Option<String> {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if warnings.is_empty() || !said.insert(warnings.to_owned()) {
        return None;
    }
    let starts = warnings.match_indices("%Warning").map(|(at, _)| at);
    let starts: Vec<usize> = starts.collect();
    let shown = starts
        .get(WARNINGS)
        .map_or(warnings, |&end| &warnings[..end]);
    let of = dir.map_or_else(String::new, |dir| format!(" on {}", dir.display()));
    let mut text = format!("warning: Verilator{of}:\n{}", shown.trim_end());
    if starts.len() > WARNINGS {
        text += &format!("\nand {} more warnings", starts.len() - WARNINGS);
    }
    Some(text)
}
