//! CaDiCaL, a SAT solver: what it is asked, and how its answers are read.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::aig::{Aig, Lit};
use super::tool::{self, Ended};

/// What it is called.
pub const SOLVER: &str = "cadical";

/// What a SAT solver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No inputs do it.
    Never,
    /// These do, as 0 or 1; an input that is not there may be either.
    Sometimes(HashMap<Lit, u64>),
    /// The time was over.
    GaveUp,
}

/// Asks whether `what` can be, for any inputs. `time` is the processor's.
///
/// # Errors
/// There is no CaDiCaL, it says what it should not, or `stop` is set.
pub fn ask(aig: &Aig, what: Lit, time: Duration, stop: &AtomicBool) -> Result<Answer, String> {
    ask_of(SOLVER, aig, what, time, stop)
}

fn ask_of(
    name: &str,
    aig: &Aig,
    what: Lit,
    time: Duration,
    stop: &AtomicBool,
) -> Result<Answer, String> {
    let work = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    let (clauses, variables) = aig.dimacs(what);
    fs::write(work.path().join("question.cnf"), clauses)
        .map_err(|e| format!("question.cnf: {e}"))?;
    let mut solver = Command::new(name);
    solver.args(["-q", "question.cnf"]).current_dir(work.path());
    match tool::run(&mut solver, &mut time.clone(), stop) {
        Err(e) if e.kind() == ErrorKind::NotFound => Err(format!(
            "{name}: not found; it is needed for proofs: ./setup --all installs it"
        )),
        Err(e) => Err(format!("{name}: {e}")),
        Ok(Ended::Interrupted) => Err(format!("{name}: interrupted")),
        Ok(Ended::TimeOver) => Ok(Answer::GaveUp),
        // The statuses are those of the SAT competitions: 10 satisfiable, 20 not.
        Ok(Ended::Itself(status, said, complaint)) => match status.code() {
            Some(20) if said.contains("s UNSATISFIABLE") => Ok(Answer::Never),
            Some(10) => {
                let inputs = model(&said, &variables).ok_or_else(|| {
                    format!("{name}: no assignment of all {} variables", variables.len())
                })?;
                // A solver is not believed.
                match aig.evaluate(&inputs).of(what) & 1 {
                    1 => Ok(Answer::Sometimes(inputs)),
                    _ => Err(format!("{name}: its assignment is none")),
                }
            }
            _ => Err(format!("{name}: {status}: {}", complaint.trim())),
        },
    }
}

/// What the lines `v ...` say of the variables.
fn model(said: &str, variables: &[Lit]) -> Option<HashMap<Lit, u64>> {
    let values = said
        .lines()
        .filter_map(|line| line.strip_prefix("v "))
        .flat_map(str::split_ascii_whitespace)
        .map(str::parse::<i64>);
    let mut model = HashMap::new();
    for value in values {
        let value = value.ok()?;
        if value != 0 {
            let variable = usize::try_from(value.unsigned_abs()).ok()?;
            model.insert(*variables.get(variable - 1)?, u64::from(value > 0));
        }
    }
    (model.len() == variables.len()).then_some(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const TIME: Duration = Duration::from_secs(100);

    /// What a program that does `what` in place of CaDiCaL leads to, asked whether an input can be 1.
    fn asked(what: &str, time: Duration, stop: bool) -> Result<Answer, String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("solver");
        stand_in(&file, what);
        let mut aig = Aig::new();
        let input = aig.input();
        let stop = AtomicBool::new(stop);
        ask_of(file.to_str().unwrap(), &aig, input, time, &stop)
    }

    /// Written by a process of its own: where another thread starts a program while this one has the file open, it
    /// cannot be run.
    fn stand_in(file: &Path, what: &str) {
        let script = format!("printf '#!/bin/sh\\n%s\\n' '{what}' >\"$0\" && chmod +x \"$0\"");
        let made = Command::new("sh").args(["-c", &script]).arg(file).status();
        assert!(made.unwrap().success());
    }

    #[test]
    fn an_answer_is_believed_only_with_its_status_and_an_assignment_that_does_it() {
        let yes = asked("echo s SATISFIABLE; echo v 1 0; exit 10", TIME, false);
        assert!(
            matches!(&yes, Ok(Answer::Sometimes(m)) if m.values().eq([&1])),
            "{yes:?}"
        );
        assert_eq!(
            asked("echo s UNSATISFIABLE; exit 20", TIME, false),
            Ok(Answer::Never)
        );
        for (what, why) in [
            (
                "echo s SATISFIABLE; echo v -1 0; exit 10",
                "its assignment is none",
            ),
            (
                "echo s SATISFIABLE; echo v 0; exit 10",
                "no assignment of all 1 variables",
            ),
            (
                "echo s SATISFIABLE; echo v 2 0; exit 10",
                "no assignment of all 1 variables",
            ),
            ("echo s UNSATISFIABLE", "exit status: 0: "),
            ("echo why >&2; exit 20", "exit status: 20: why"),
        ] {
            let said = asked(what, TIME, false).unwrap_err();
            assert!(said.ends_with(why), "{what}: {said}");
        }
    }

    #[test]
    fn a_question_ends_when_its_time_is_over_or_it_is_interrupted() {
        let slow = "exec sleep 100";
        let over = asked(slow, Duration::from_millis(50), false);
        assert_eq!(over, Ok(Answer::GaveUp));
        assert!(
            asked(slow, TIME, true)
                .unwrap_err()
                .ends_with(": interrupted")
        );
    }

    #[test]
    fn a_missing_solver_is_named_with_its_remedy() {
        let mut aig = Aig::new();
        let input = aig.input();
        let stop = AtomicBool::new(false);
        let said = ask_of("no-such-solver", &aig, input, TIME, &stop).unwrap_err();
        assert_eq!(
            said,
            "no-such-solver: not found; it is needed for proofs: ./setup --all installs it"
        );
    }
}
