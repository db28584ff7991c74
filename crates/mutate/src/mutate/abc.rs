//! Runs ABC, the system for sequential synthesis and verification that comes with Yosys: writes the questions and reads
//! the answers.

use std::io::ErrorKind;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::aig::{Aig, Lit};
use super::tool::{self, Ended, Work};

/// Names of the program: in Yosys, in Debian, in its own build.
const NAMES: &[&str] = &["yosys-abc", "berkeley-abc", "abc"];

/// Processor time for one question. It bounds the work that a limit of conflicts does not bound: making a circuit small and merging
/// its logic.
pub const TIME: Duration = Duration::from_secs(300);

/// Whether a literal can be 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It cannot.
    Never,
    /// It can, in this cycle; the first is 0, and without registers there is no other.
    At(usize),
    /// Not decided within this limit.
    GaveUp(Limit),
}

/// The limit that ended a search without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The number of conflicts.
    Conflicts,
    /// The processor time.
    Time,
}

/// How to run ABC.
pub struct Abc<'a> {
    /// Names to try, in this order.
    pub names: &'a [&'a str],
    /// Processor time for one question.
    pub time: Duration,
    /// When it is set, questions end with an error.
    pub stop: &'a AtomicBool,
}

impl<'a> Abc<'a> {
    /// Uses the ABC that is installed.
    pub fn new(stop: &'a AtomicBool) -> Self {
        Abc {
            names: NAMES,
            time: TIME,
            stop,
        }
    }

    /// Returns what `commands` print, with `circuit` in the file `circuit.aig`; `None` if ABC does not finish within the time `left`.
    fn ask(
        &self,
        circuit: &[u8],
        commands: &str,
        left: &mut Duration,
    ) -> Result<Option<String>, String> {
        let work = Work::new()?;
        work.write("circuit.aig", circuit)?;
        for name in self.names {
            let mut abc = Command::new(name);
            abc.args(["-c", commands]).current_dir(work.path());
            return match tool::run(&mut abc, left, self.stop) {
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                Err(e) => Err(format!("{name}: {e}")),
                Ok(Ended::Interrupted) => Err(format!("{name}: interrupted")),
                Ok(Ended::TimeOver) => Ok(None),
                Ok(Ended::Itself(status, said, _)) if status.success() => Ok(Some(said)),
                Ok(Ended::Itself(status, said, _)) => {
                    Err(format!("{name}: {status}: {}", said.trim()))
                }
            };
        }
        Err("abc: not found; it comes with yosys: ./setup --all installs it".to_owned())
    }

    /// Tells whether `what` can be 1, for any inputs.
    ///
    /// # Errors
    /// ABC is missing, its answer is not understood, or `stop` is set.
    pub fn prove_never(&self, aig: &Aig, what: Lit) -> Result<Answer, String> {
        let circuit = aig.aiger(&[], what);
        let mut left = self.time;
        let mut answer = Answer::GaveUp(Limit::Conflicts);
        for (way, tenths) in WAYS {
            let share = (self.time * tenths / 10).min(left);
            let mut rest = share;
            let said = self.ask(&circuit, &format!("read circuit.aig; {way}"), &mut rest)?;
            left -= share - rest;
            let Some(said) = said else {
                answer = Answer::GaveUp(Limit::Time);
                if left.is_zero() {
                    break;
                }
                continue;
            };
            answer = read(&said).ok_or_else(|| format!("abc: {}", said.trim()))?;
            if !matches!(answer, Answer::GaveUp(_)) {
                break;
            }
        }
        Ok(answer)
    }

    /// As [`Abc::search`], for any number of cycles. If `what` cannot be 1, it is proved by an invariant that ABC finds (property directed
    /// reachability); if it can, ABC has found a run from the initial state.
    ///
    /// # Errors
    /// The same.
    pub fn prove_always(
        &self,
        aig: &Aig,
        registers: &[(Lit, Lit)],
        what: Lit,
    ) -> Result<Answer, String> {
        let circuit = aig.aiger(registers, what);
        let commands = format!("read circuit.aig; pdr -F {PDR_CYCLES} -C {PDR_CONFLICTS}");
        let Some(said) = self.ask(&circuit, &commands, &mut self.time.min(PDR_TIME))? else {
            return Ok(Answer::GaveUp(Limit::Time));
        };
        always(&said).ok_or_else(|| format!("abc: {}", said.trim()))
    }

    /// Tells whether `what` can be 1 within `cycles` cycles, for any inputs, if `registers` (pairs of a literal and its next value)
    /// begin with 0.
    ///
    /// # Errors
    /// ABC is missing, its answer is not understood, or `stop` is set.
    pub fn search(
        &self,
        aig: &Aig,
        registers: &[(Lit, Lit)],
        what: Lit,
        cycles: usize,
    ) -> Result<Search, String> {
        let circuit = aig.aiger(registers, what);
        let commands = format!("read circuit.aig; bmc3 -F {cycles} -C {SEARCH_CONFLICTS}");
        let Some(said) = self.ask(&circuit, &commands, &mut self.time.clone())? else {
            return Ok(Search::TimeOver);
        };
        number_after(&said, ASSERTED)
            .map(Search::At)
            .or_else(|| number_after(&said, "No output asserted in").map(Search::NotIn))
            .ok_or_else(|| format!("abc: {}", said.trim()))
    }
}

/// Conflicts that a proof over all cycles may spend on one search, the most cycles that it looks into, and its processor time.
const PDR_CONFLICTS: u32 = 5_000;
const PDR_CYCLES: u32 = 100;
pub const PDR_TIME: Duration = Duration::from_secs(60);

/// The ways to try a question in this order, each with its limits of conflicts and the most tenths of the time that it may take. A
/// short search in the minimized circuit is nearly always enough. Sweeping merges all equivalent nodes, from the inputs up. It
/// takes seconds where two copies of much logic are equivalent and a search takes ten minutes, and more than five minutes elsewhere
/// (examples of both: spa5 with BRX=1). A long search proves in half a minute what an older sweep cannot prove in a quarter of an
/// hour. That sweep follows, with few conflicts, then `&cec`, which merges with all techniques. `&cec` limits conflicts only for
/// each pair of nodes, so it also gets a limit of time, which it keeps approximately.
const WAYS: [(&str, u32); 5] = [
    ("&get; &syn3; &put; dsat -C 2000", 10),
    ("&get; &fraig -x -C 1000; &put; dsat -C 20000", 3),
    ("&get; &syn3; &put; dsat -C 200000", 4),
    ("&get; &syn3; &fraig -C 100; &put; dsat -C 20000", 2),
    ("&get; &syn3; &cec -m -C 2000 -T 60", 10),
];

/// Behind these words is the cycle in which an output is 1.
const ASSERTED: &str = "was asserted in frame";

/// Returns the number behind `words` in `said`.
fn number_after(said: &str, words: &str) -> Option<usize> {
    let rest = said.split_once(words)?.1.trim_start();
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

/// Returns the answer of `pdr`.
fn always(said: &str) -> Option<Answer> {
    if said.contains("Property proved") {
        return Some(Answer::Never);
    }
    let undecided = said.contains("Property UNDECIDED");
    number_after(said, ASSERTED)
        .map(Answer::At)
        .or(undecided.then_some(Answer::GaveUp(Limit::Conflicts)))
}

/// Returns the answer in the last line that contains one.
fn read(said: &str) -> Option<Answer> {
    let words = [
        ("UNSATISFIABLE", Answer::Never),
        ("Networks are equivalent", Answer::Never),
        ("SATISFIABLE", Answer::At(0)),
        ("Networks are NOT EQUIVALENT", Answer::At(0)),
        ("UNDECIDED", Answer::GaveUp(Limit::Conflicts)),
        ("Networks are UNDECIDED", Answer::GaveUp(Limit::Conflicts)),
        ("Timed out after", Answer::GaveUp(Limit::Time)),
    ];
    said.lines().rev().find_map(|line| {
        let (_, answer) = words.iter().find(|(word, _)| line.starts_with(word))?;
        Some(*answer)
    })
}

/// Conflicts that the search from reset may spend on one cycle.
const SEARCH_CONFLICTS: u32 = 5_000;

/// Result of a search from the initial state of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// It can be 1 in this cycle; the first is 0.
    At(usize),
    /// It cannot be 1 in this many cycles. For more, the conflicts did not suffice or the caller did not ask.
    NotIn(usize),
    /// The time did not suffice to tell.
    TimeOver,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Returns the answers to both questions within `time`.
    fn asked(
        what: &str,
        time: Duration,
        stop: bool,
    ) -> (Result<Answer, String>, Result<Search, String>) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("abc");
        tool::stand_in(&file, what);
        let abc = Abc {
            names: &["no-such-abc", file.to_str().unwrap()],
            time,
            stop: &AtomicBool::new(stop),
        };
        let mut aig = Aig::new();
        let input = aig.input();
        (
            abc.prove_never(&aig, input),
            abc.search(&aig, &[], input, 3),
        )
    }

    #[test]
    fn a_question_whose_time_is_over_is_given_up_and_no_error() {
        let begin = Instant::now();
        let (proof, found) = asked("exec sleep 100", Duration::from_millis(50), false);
        assert_eq!(proof, Ok(Answer::GaveUp(Limit::Time)));
        assert_eq!(found, Ok(Search::TimeOver));
        assert!(
            begin.elapsed() < Duration::from_secs(50),
            "it was waited for"
        );
    }

    /// The limit of time is for all ways together.
    #[test]
    fn a_question_has_no_more_time_with_more_ways() {
        let slow = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo UNDECIDED";
        let mut left = TIME;
        let (stop, mut once) = (AtomicBool::new(false), Command::new("sh"));
        tool::run(once.args(["-c", slow]), &mut left, &stop).unwrap();
        let (proof, _) = asked(slow, (TIME - left) * 5 / 2, false);
        assert_eq!(proof, Ok(Answer::GaveUp(Limit::Time)));
        let (proof, _) = asked(slow, TIME, false);
        assert_eq!(proof, Ok(Answer::GaveUp(Limit::Conflicts)));
    }

    /// Sweeping took all the time of a question that the long search answers.
    #[test]
    fn a_way_that_uses_up_its_share_leaves_time_for_the_next() {
        let what = "case \"$2\" in *fraig\\ -x*) exec sleep 100;; *200000) echo UNSATISFIABLE;; *) echo UNDECIDED;; esac";
        let (proof, _) = asked(what, Duration::from_millis(500), false);
        assert_eq!(proof, Ok(Answer::Never));
    }

    #[test]
    fn a_question_ends_with_an_error_when_it_is_interrupted_or_not_understood() {
        let (proof, found) = asked("exec sleep 100", TIME, true);
        assert!(proof.unwrap_err().ends_with("abc: interrupted"));
        assert!(found.unwrap_err().ends_with("abc: interrupted"));
        let (proof, found) = asked("echo what", TIME, false);
        assert_eq!(proof, Err("abc: what".to_owned()));
        assert_eq!(found, Err("abc: what".to_owned()));
        let (proof, _) = asked("echo UNDECIDED; exit 3", TIME, false);
        assert!(proof.unwrap_err().ends_with("exit status: 3: UNDECIDED"));
    }

    /// Regression: what a proof over all cycles had found was not told from what it had not decided.
    #[test]
    fn a_proof_over_all_cycles_says_in_which_one_it_is_refuted() {
        let before = "ABC command line: \"read circuit.aig; pdr -F 100 -C 5000\".\n\n";
        let gave_up = Answer::GaveUp(Limit::Conflicts);
        let refuted =
            "Output 0 of miter \"circuit\" was asserted in frame 17.  Time =     0.10 sec";
        for (said, answer) in [
            ("Property proved.  Time =     0.05 sec", Some(Answer::Never)),
            (refuted, Some(Answer::At(17))),
            ("Property UNDECIDED.  Time =     0.10 sec", Some(gave_up)),
            ("was asserted in frame", None),
            ("No such command", None),
        ] {
            assert_eq!(always(&format!("{before}{said}\n")), answer, "{said}");
        }
    }

    #[test]
    fn the_last_answer_is_the_one_that_counts() {
        let [conflicts, time] = [Limit::Conflicts, Limit::Time].map(Answer::GaveUp);
        for (said, answer) in [
            ("UNSATISFIABLE  Time = 0.01 sec", Some(Answer::Never)),
            (
                "Networks are equivalent.  Time = 1 sec",
                Some(Answer::Never),
            ),
            ("SATISFIABLE    Time = 0.01 sec", Some(Answer::At(0))),
            ("Networks are NOT EQUIVALENT.  Time", Some(Answer::At(0))),
            ("UNDECIDED      Time = 1.78 sec", Some(conflicts)),
            ("Networks are UNDECIDED.  Time", Some(conflicts)),
            ("Timed out after 26 seconds.", Some(time)),
            ("No such command", None),
        ] {
            // As ABC prints it, after an echo of the commands and a remark.
            let before = "ABC command line: \"read circuit.aig\".\n\nAssuming the current network is a single-output miter.";
            assert_eq!(read(&format!("{before}\n{said}\n")), answer, "{said}");
        }
    }
}
