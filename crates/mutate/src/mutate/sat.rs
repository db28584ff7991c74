//! Runs CaDiCaL, a SAT solver: writes the questions and reads the answers.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::aig::{Aig, Lit};
use super::proof;
use super::tool::{self, Ended, Work};

/// Name of the program.
pub const SOLVER: &str = "cadical";

/// Answer of a SAT solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No inputs satisfy it.
    Never,
    /// These inputs satisfy it, each 0 or 1; an input that is missing may be either.
    Sometimes(HashMap<Lit, u64>),
    /// The time was over.
    GaveUp,
}

/// Whether to believe an answer that there is no assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Believe it.
    Believed,
    /// [`proof::check`] must accept the solver's proof.
    Checked,
    /// As `Checked`, and the question is kept in files of this name with the endings `aig` and `btor2`; if there is a proof, it and the
    /// clauses with the endings `drat` and `cnf`.
    Kept(PathBuf),
}

/// Asks whether `what` can be 1, for any inputs. `time` is processor time.
///
/// # Errors
/// CaDiCaL is missing, its answer is not understood, its proof is not accepted, or `stop` is set.
pub fn ask(
    aig: &Aig,
    what: Lit,
    time: Duration,
    stop: &AtomicBool,
    proof: &Proof,
) -> Result<Answer, String> {
    ask_of(SOLVER, aig, what, time, stop, proof)
}

/// File that the solver reads.
const CLAUSES: &str = "question.cnf";
/// File that the solver writes its proof to.
const PROOF: &str = "question.drat";

fn ask_of(
    name: &str,
    aig: &Aig,
    what: Lit,
    time: Duration,
    stop: &AtomicBool,
    proof: &Proof,
) -> Result<Answer, String> {
    if let Proof::Kept(name) = proof {
        keep(name, "aig", &aig.aiger(&[], what))?;
        keep(name, "btor2", aig.btor2(what).as_bytes())?;
    }
    let work = Work::new()?;
    let (clauses, variables) = aig.dimacs(what);
    work.write(CLAUSES, clauses)?;
    let mut solver = Command::new(name);
    // Its settings for unsatisfiable problems, as nearly all questions are: seven times as fast on many of them.
    solver
        .args(["-q", "--unsat", CLAUSES])
        .current_dir(work.path());
    if *proof != Proof::Believed {
        solver.arg(PROOF);
    }
    match tool::run(&mut solver, &mut time.clone(), stop) {
        Err(e) if e.kind() == ErrorKind::NotFound => Err(format!(
            "{name}: not found; it is needed for proofs: ./setup --all installs it"
        )),
        Err(e) => Err(format!("{name}: {e}")),
        Ok(Ended::Interrupted) => Err(format!("{name}: interrupted")),
        Ok(Ended::TimeOver) => Ok(Answer::GaveUp),
        // The exit statuses are those of the SAT competitions: 10 satisfiable, 20 unsatisfiable.
        Ok(Ended::Itself(status, said, complaint)) => match status.code() {
            Some(20) if said.contains("s UNSATISFIABLE") => {
                accept(&work, stop, proof).map_err(|e| format!("{name}: {e}"))?;
                Ok(Answer::Never)
            }
            Some(10) => {
                let inputs = model(&said, &variables).ok_or_else(|| {
                    format!("{name}: no assignment of all {} variables", variables.len())
                })?;
                // The solver is not trusted: check its assignment on the graph.
                match aig.evaluate(&inputs).of(what) & 1 {
                    1 => Ok(Answer::Sometimes(inputs)),
                    _ => Err(format!("{name}: its assignment is none")),
                }
            }
            _ => Err(format!("{name}: {status}: {}", complaint.trim())),
        },
    }
}

/// Writes the file called `name` with this ending.
fn keep(name: &Path, ending: &str, bytes: &[u8]) -> Result<(), String> {
    let kept = PathBuf::from(format!("{}.{ending}", name.display()));
    fs::write(&kept, bytes).map_err(|e| format!("{}: {e}", kept.display()))
}

/// Checks the proof in `work`, as `proof` says. First keeps the files that are to be kept, so that a refused proof is kept too.
fn accept(work: &Work, stop: &AtomicBool, proof: &Proof) -> Result<(), String> {
    if *proof == Proof::Believed {
        return Ok(());
    }
    let (clauses, steps) = (work.read(CLAUSES)?, work.read(PROOF)?);
    if let Proof::Kept(name) = proof {
        keep(name, "cnf", &clauses)?;
        keep(name, "drat", &steps)?;
    }
    let clauses = String::from_utf8_lossy(&clauses);
    proof::check(&clauses, &steps, stop)
        .map_err(|e| format!("its answer is unsatisfiable, but {e}"))
        .map(drop)
}

/// Reads the values of the variables from the lines `v ...`; `None` unless all have one.
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

    const TIME: Duration = Duration::from_secs(100);

    /// Returns the answer if a program that does `what` in place of CaDiCaL is asked whether `lit` can be 1.
    fn answered(
        what: &str,
        (aig, lit): (&Aig, Lit),
        (time, stop): (Duration, bool),
        proof: &Proof,
    ) -> Result<Answer, String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("solver");
        tool::stand_in(&file, what);
        let (file, stop) = (file.to_str().unwrap(), AtomicBool::new(stop));
        ask_of(file, aig, lit, time, &stop, proof)
    }

    /// Returns the answer to whether an input can be 1.
    fn asked(what: &str, time: Duration, stop: bool) -> Result<Answer, String> {
        let mut aig = Aig::new();
        let input = aig.input();
        answered(what, (&aig, input), (time, stop), &Proof::Believed)
    }

    /// As `asked`, for a question that cannot be satisfied, with a proof.
    fn proved(what: &str, proof: &Proof) -> Result<Answer, String> {
        let mut aig = Aig::new();
        let [a, b] = [aig.input(), aig.input()];
        // Alike and unlike: unit propagation alone does not find the contradiction.
        let [both, neither] = [aig.and(a, b), aig.and(!a, !b)];
        let [one, other] = [aig.and(a, !b), aig.and(!a, b)];
        let [alike, unlike] = [aig.or(both, neither), aig.or(one, other)];
        let never = aig.and(alike, unlike);
        answered(what, (&aig, never), (TIME, false), proof)
    }

    #[test]
    fn an_answer_that_there_is_none_is_accepted_with_a_proof_alone() {
        // Input 1 can be neither 0 nor 1.
        let honest = r#"echo s UNSATISFIABLE; printf "a\\002\\000" >question.drat; exit 20"#;
        assert_eq!(proved(honest, &Proof::Checked), Ok(Answer::Never));
        for (what, why) in [
            (
                "echo s UNSATISFIABLE; exit 20",
                "question.drat: No such file or directory (os error 2)",
            ),
            (
                "echo s UNSATISFIABLE; : >question.drat; exit 20",
                "its answer is unsatisfiable, but proof: it ends after 0 steps without a contradiction",
            ),
        ] {
            let said = proved(what, &Proof::Checked).unwrap_err();
            assert!(said.ends_with(why), "{said}");
        }
        let kept = tempfile::tempdir().unwrap();
        let name = kept.path().join("question");
        assert_eq!(
            proved(honest, &Proof::Kept(name.clone())),
            Ok(Answer::Never)
        );
        let clauses = fs::read_to_string(name.with_extension("cnf")).unwrap();
        let steps = fs::read(name.with_extension("drat")).unwrap();
        assert!(clauses.starts_with("p cnf "));
        assert!(proof::check(&clauses, &steps, &AtomicBool::new(false)).is_ok());
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
        let said =
            ask_of("no-such-solver", &aig, input, TIME, &stop, &Proof::Believed).unwrap_err();
        assert_eq!(
            said,
            "no-such-solver: not found; it is needed for proofs: ./setup --all installs it"
        );
    }
}
