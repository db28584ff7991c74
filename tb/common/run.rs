//! A run of a command in a folder of its own.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use super::{command_in, text};

/// What a command ended with, and its folder, with the results in `all.json` and the files of failures in `out`.
pub struct Run {
    pub dir: TempDir,
    pub output: Output,
}

impl Run {
    /// Runs the command with `args` in `dir`, with more variables in its environment.
    pub fn of(dir: TempDir, args: &[&str], environment: &[(&str, &Path)]) -> Self {
        let args = [args, &["--json", "all.json", "--out", "out"]].concat();
        let mut command = command_in(dir.path(), &args);
        let output = command.envs(environment.iter().copied()).output().unwrap();
        Run { dir, output }
    }

    /// What it has printed on both outputs.
    pub fn said(&self) -> String {
        text(&self.output.stdout) + &text(&self.output.stderr)
    }

    pub fn ends(self, status: i32) -> Self {
        assert_eq!(self.output.status.code(), Some(status), "{}", self.said());
        self
    }

    pub fn says(&self, part: &str) {
        assert!(self.said().contains(part), "no {part:?}:\n{}", self.said());
    }

    /// The results.
    pub fn json(&self) -> Value {
        let text = fs::read_to_string(self.dir.path().join("all.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}
