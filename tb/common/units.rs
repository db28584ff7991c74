//! What the tests need to know of each unit: examples, error messages, and faults to plant in its RTL.

#[path = "../r500/tested.rs"]
mod r500;
#[path = "../r700/tested.rs"]
mod r700;
#[path = "../spa5/tested.rs"]
mod spa5;

use std::fmt::Debug;

use reconverge::unit::Unit;
use serde_json::Value;

use super::rtl::{self, Change};

/// A unit with all that its tests need to know. Programs are files in `tb/<unit>/programs`.
pub trait Tested: Unit + Debug + PartialEq {
    /// A program that divides its lanes and, with seed 3, goes on for more than 30 cycles.
    const LONG: &'static str;
    /// `IF / ELSE / ENDIF` of the worked examples: a clause in each part.
    const IF_ELSE: &'static str;
    /// Steps of it after which the lanes whose condition is true, the others, and all lanes are ACTIVE.
    const PARTS: [usize; 3];
    /// Flip in [`Tested::LONG`] that the view shows at its marker.
    const SHOWN: &'static str;
    /// The first record of [`Tested::IF_ELSE`] with four lanes and seed 2.
    const TRACED: &'static str;
    /// The fault of `decisions.txt` that fails in one field when `fuzz` finds it, and in another field when it is shrunk.
    const OTHER_FIELD: usize;
    /// Constructs, in the order of [`Tested::constructs`], that random structured programs must hold.
    const CONSTRUCTS: &'static [&'static str];
    /// Fields that a random legal state must have at 0 and at this limit.
    const LIMITS: &'static [(&'static str, u64)];
    /// Endings of what compilers and drivers made, in the folders below `tb/<unit>/programs`.
    const IMPORTED: &'static [&'static str];
    /// Whether an instruction depends on more than its address (aL).
    const CONTEXT: bool = true;
    /// Seeds with which each own and each imported program runs.
    const SEEDS: u64;
    /// Lane counts on which random structured programs run in turn.
    const STRUCTURED: &'static [u32];

    /// The faults in `tb/<unit>/faults/<kind>.txt`, each of which must be caught.
    fn faults(kind: &str) -> Vec<Change> {
        let read = rtl::faults(Self::NAME, kind).into_iter();
        read.map(|fault| (&*fault.file.leak(), &*fault.from.leak(), &*fault.to.leak()))
            .collect()
    }
    /// ACTIVE lanes of a trace record.
    fn active(record: &Value) -> u64 {
        let classes = record["st"].as_array().unwrap();
        (0..)
            .zip(classes)
            .map(|(lane, class)| u64::from(*class == 0) << lane)
            .sum()
    }
    /// Whether the step of a trace record ended the program, and whether it did so by an error.
    fn ended(record: &Value) -> (bool, bool) {
        (record["done"] == 1, record["halted"] == 1)
    }
    /// Which of [`Tested::CONSTRUCTS`] a program holds at the addresses `pcs`, those that were executed.
    fn constructs(program: &Self::Program, pcs: &[u32]) -> Vec<bool>;
    /// Own programs about which the scalar judge can say nothing.
    fn unjudged(file: &str) -> bool;
}
