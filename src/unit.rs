//! What a unit is, in three traits: [`Programs`] on top of a design, for cases, lock-step, reports and waves; [`Campaign`], for
//! random programs, coverage, shrinking and mutants; both of the crates below. And [`Unit`], for the command.

use crate::design::Build;
use crate::exhaust::Small;
use crate::explain::Anatomy;
pub use crate::grammar::*;
use crate::input::InputError;
pub use crate::program::*;

/// A build beside the default one that campaigns test for a share of their cycles.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Lanes of the wavefront.
    pub lanes: u32,
    /// Parameters that do not have their default, with their values.
    pub parameters: &'static [(&'static str, u32)],
}

impl From<&Variant> for Build {
    fn from(variant: &Variant) -> Self {
        let parameters = variant.parameters.iter();
        Build {
            lanes: variant.lanes,
            parameters: parameters
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
        }
    }
}

/// A program as it was read, and what the user should know of it.
#[derive(Clone, Debug)]
pub struct Loaded<P> {
    /// The program.
    pub program: P,
    /// One line each.
    pub warnings: Vec<String>,
}

/// How a file of programs is to be read.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// r500: set `JUMP_ANY` in LOOP words that lack it (r500-O29).
    pub safe_loops: bool,
    /// Which of several programs in the file, by number or name.
    pub which: Option<String>,
}

impl LoadOptions {
    /// Refuses what is for r500 alone.
    ///
    /// # Errors
    /// `safe_loops` is set.
    pub fn for_other(&self, unit: &str) -> Result<(), InputError> {
        if self.safe_loops {
            let why = format!("is for the LOOP words of r500; {unit} has none");
            return Err(InputError::new("--safe-loops", 0, "flag", why));
        }
        Ok(())
    }
}

/// A unit of this package: what the command needs beside.
pub trait Unit: Campaign {
    /// Builds in which a mistake can show that the default one does not have. The first differs from it in lanes and in every
    /// parameter, neither of them a power of two where it can be otherwise; the others take each to its limits.
    const VARIANTS: &'static [Variant];
    /// The small worlds that can be explored exhaustively, if there are some.
    const SMALL: Option<Small<Self>> = None;

    /// Reads a program of any kind that the unit knows, recognised by content.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn load(
        bytes: &[u8],
        file: &str,
        options: &LoadOptions,
    ) -> Result<Loaded<Self::Program>, InputError>;
    /// Programs in a file that holds several: number, name, size.
    ///
    /// # Errors
    /// As [`Unit::load`].
    fn list(bytes: &[u8], file: &str) -> Result<Vec<String>, InputError>;
    /// What a file is that only this unit's importer reads, recognised by content, and whether the unit runs it: of a cubin
    /// for another GPU it does not. Nothing of text, and for units of which there are no other files.
    fn recognises(_bytes: &[u8]) -> Option<(String, bool)> {
        None
    }
    /// What `program` contains that ends in an error in any unit built as `build`, one line for each kind, with how many
    /// there are.
    fn refused(_program: &Self::Program, _build: &Build) -> Vec<String> {
        Vec::new()
    }
    /// What there is to say of how `program` ended, in `state`, beside the outcome.
    fn remark(_program: &Self::Program, _state: &Self::State) -> Option<&'static str> {
        None
    }
    /// The words of one instruction taken apart, in the order in which the manuals number them.
    ///
    /// # Errors
    /// Not the words of one instruction.
    fn anatomy(words: &[u64]) -> Result<Anatomy<Self::Program>, String>;
    /// The words of the instruction on `pins`, as [`Unit::anatomy`] takes them.
    fn instruction(pins: &Self::In) -> Vec<u64>;
    /// What the lanes of `program` compute with besides its own words, one line each. Nothing for units whose lanes
    /// compute nothing, and of a file that says nothing of it.
    fn needs(_program: &Self::Program) -> Vec<String> {
        Vec::new()
    }
    /// The program as words, one instruction a line.
    fn to_hex(program: &Self::Program) -> String;
    /// The trace record of a step of `program`, as one line of JSON without its end; `golden` has just done it.
    fn trace(
        step: u64,
        program: &Self::Program,
        before: &Self::State,
        pins: &Self::In,
        golden: &Self::Golden,
        lanes: usize,
    ) -> String;
}
