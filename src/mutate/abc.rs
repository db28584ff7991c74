//! ABC, the system for sequential synthesis and verification that comes with Yosys: what it is asked, and how
//! its answers are read.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use super::aig::{Aig, Lit};

/// What it is called: by Yosys, by Debian, by itself.
const NAMES: &[&str] = &["yosys-abc", "berkeley-abc", "abc"];

/// Whether something can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It cannot.
    Never,
    /// It can.
    Sometimes,
    /// Not found out within the conflicts allowed.
    GaveUp,
}

/// What `commands` print, with `circuit` as `circuit.aig`; an error once `stop` is set, for a question can take minutes.
fn abc(circuit: &[u8], commands: &str, stop: &AtomicBool) -> Result<String, String> {
    let work = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
    fs::write(work.path().join("circuit.aig"), circuit).map_err(|e| format!("circuit.aig: {e}"))?;
    let said = work.path().join("said");
    for name in NAMES {
        let shown = |e| format!("{name}: {e}");
        let out = File::create(&said).map_err(shown)?;
        let started = Command::new(name)
            .args(["-c", commands])
            .current_dir(work.path())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(Stdio::null())
            .spawn();
        match started {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(shown(e)),
            Ok(mut child) => {
                let status = loop {
                    if let Some(status) = child.try_wait().map_err(shown)? {
                        break status;
                    }
                    if stop.load(Ordering::Relaxed) {
                        let _ = child.kill();
                        let _ = child.wait();
                        return Err(format!("{name}: interrupted"));
                    }
                    sleep(Duration::from_millis(2));
                };
                let text = String::from_utf8_lossy(&fs::read(&said).map_err(shown)?).into_owned();
                if status.success() {
                    return Ok(text);
                }
                return Err(format!("{name}: {status}: {}", text.trim()));
            }
        }
    }
    Err("abc: not found; it comes with yosys: ./setup --all installs it".to_owned())
}

/// Whether `what` can be, for any inputs; ends with an error once `stop` is set.
///
/// # Errors
/// There is no ABC, or it says what it should not.
pub fn prove_never(aig: &Aig, what: Lit, stop: &AtomicBool) -> Result<Answer, String> {
    let circuit = aig.aiger(&[], what);
    let mut answer = Answer::GaveUp;
    for way in WAYS {
        let said = abc(&circuit, &format!("read circuit.aig; {way}"), stop)?;
        answer = read(&said).ok_or_else(|| format!("abc: {}", said.trim()))?;
        if answer != Answer::GaveUp {
            break;
        }
    }
    Ok(answer)
}

/// How a question is tried: in the circuit made small, by a short search, which is nearly always enough, and by a long one;
/// in the circuit in which all that is found alike has been joined; and by joining with all that is known. Joining with more
/// conflicts than these took more than a quarter of an hour for a circuit that the long search proves in half a minute.
const WAYS: [&str; 4] = [
    "&get; &syn3; &put; dsat -C 2000",
    "&get; &syn3; &put; dsat -C 200000",
    "&get; &syn3; &fraig -C 100; &put; dsat -C 20000",
    "&get; &syn3; &cec -m -C 2000",
];

/// What the last lines say.
fn read(said: &str) -> Option<Answer> {
    let words = [
        ("UNSATISFIABLE", Answer::Never),
        ("Networks are equivalent", Answer::Never),
        ("SATISFIABLE", Answer::Sometimes),
        ("Networks are NOT EQUIVALENT", Answer::Sometimes),
        ("UNDECIDED", Answer::GaveUp),
        ("Networks are UNDECIDED", Answer::GaveUp),
    ];
    said.lines().rev().find_map(|line| {
        let (_, answer) = words.iter().find(|(word, _)| line.starts_with(word))?;
        Some(*answer)
    })
}

/// Conflicts that the search from a reset may spend on one clock.
const SEARCH_CONFLICTS: u32 = 5_000;

/// A search from the beginning of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It can be in this clock, the first being 0.
    At(usize),
    /// It cannot be in so many clocks; for more the conflicts did not suffice, or the caller did not ask.
    NotIn(usize),
}

/// Whether `what` can be within `clocks` clocks, for any inputs, if `registers` (what they are called, and what
/// they become) begin with 0; ends with an error once `stop` is set.
///
/// # Errors
/// There is no ABC, or it says what it should not.
pub fn search(
    aig: &Aig,
    registers: &[(Lit, Lit)],
    what: Lit,
    clocks: usize,
    stop: &AtomicBool,
) -> Result<Found, String> {
    let circuit = aig.aiger(registers, what);
    let said = abc(
        &circuit,
        &format!("read circuit.aig; bmc3 -F {clocks} -C {SEARCH_CONFLICTS}"),
        stop,
    )?;
    let number_after = |words: &str| -> Option<usize> {
        let rest = said.split_once(words)?.1.trim_start();
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..digits].parse().ok()
    };
    number_after("was asserted in frame")
        .map(Found::At)
        .or_else(|| number_after("No output asserted in").map(Found::NotIn))
        .ok_or_else(|| format!("abc: {}", said.trim()))
}
