//! The normative Python of a specification as a judge: `tb/spec_docs.py` takes the Python blocks out of `docs/spec/<unit>.md` and
//! executes them.

use std::fmt::Write as _;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reconverge::ROOT;
use serde_json::Value;

/// A question to the Python, and the expected answer.
#[derive(Default)]
pub struct Script {
    /// Where, in words; request; answer.
    pub lines: Vec<(String, Value, Value)>,
}

impl Script {
    /// Asks the Python of the specification at `path` everything; returns the first difference, if any.
    pub fn judge(&self, unit: &str, path: &Path) -> Option<String> {
        let mut requests = tempfile::tempfile().unwrap();
        let mut text = String::new();
        for (_, request, _) in &self.lines {
            let _ = writeln!(text, "{request}");
        }
        requests.write_all(text.as_bytes()).unwrap();
        requests.rewind().unwrap();
        let mut python = python(unit, path)
            .stdin(requests)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("python3 does not start: {e}; ./setup installs it"));
        // A Python error ends the process, so standard error is short and fits into the pipe.
        let mut answers = String::new();
        python
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut answers)
            .unwrap();
        let ended = python.wait_with_output().unwrap();
        let mut answers = answers.lines();
        for (at, request, expected) in &self.lines {
            let Some(answer) = answers.next() else {
                let said = String::from_utf8_lossy(&ended.stderr);
                return Some(format!(
                    "{at}: {request}: the Python gives no answer\n{said}"
                ));
            };
            let answer: Value = serde_json::from_str(answer).unwrap();
            if answer != *expected {
                let differ = |(name, value): (&String, &Value)| {
                    let python = &answer[name];
                    (python != value)
                        .then(|| format!("\n  {name}: golden {value}, Python {python}"))
                };
                let fields: String = expected
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter_map(differ)
                    .collect();
                return Some(format!("{at}: {request}{fields}"));
            }
        }
        assert!(ended.status.success() && answers.next().is_none());
        None
    }
}

/// Returns the process that answers for the specification of `unit` at `path`.
pub fn python(unit: &str, path: &Path) -> Command {
    let mut command = Command::new("python3");
    command
        .arg(format!("{ROOT}/tb/spec_docs.py"))
        .arg(unit)
        .arg(path);
    command
}

/// Returns the specification of `unit`.
pub fn specification(unit: &str) -> PathBuf {
    Path::new(ROOT).join(format!("docs/spec/{unit}.md"))
}
