//! A unit in three traits: [`Programs`], on top of a design, for cases, lock-step, reports and waves; [`Campaign`], for random
//! programs, coverage, shrinking and mutants (both from the crates below); and [`Unit`], for the command.

use std::collections::BTreeMap;

use serde_json::json;

use crate::explain::Anatomy;
use reconverge_bench::design::{Build, Golden as _};
use reconverge_bench::input::InputError;
use reconverge_bench::json::Hex;
use reconverge_bench::lanes::Wavefronts;
use reconverge_campaign::exhaust::Small;
pub use reconverge_campaign::grammar::*;
use reconverge_program::assembly::Assembly as _;
pub use reconverge_program::program::*;

/// A build other than the default one, in which campaigns spend a share of their cycles.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Lanes of the wavefront.
    pub lanes: u32,
    /// Parameters that differ from their default, with their values.
    pub parameters: &'static [(&'static str, u32)],
}

impl Variant {
    /// Returns the build with so many lanes and these parameters.
    pub const fn new(lanes: u32, parameters: &'static [(&'static str, u32)]) -> Self {
        Variant { lanes, parameters }
    }
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

/// A program that was read, with warnings for the user.
#[derive(Clone, Debug)]
pub struct Loaded<P> {
    /// The program.
    pub program: P,
    /// The warnings, one line each.
    pub warnings: Vec<String>,
}

/// Options for reading a file of programs.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// r500: set `JUMP_ANY` in LOOP words that lack it (r500-O29).
    pub safe_loops: bool,
    /// Selects one of several programs in the file, by number or name.
    pub which: Option<String>,
    /// Parameters of the unit that is to run the program, as far as they differ from their default: warnings depend on them.
    pub parameters: BTreeMap<String, u32>,
}

impl LoadOptions {
    /// Returns the value of parameter `name` in the unit that is to run the program; `default` if none was chosen.
    pub fn value(&self, name: &str, default: u32) -> u32 {
        self.parameters.get(name).copied().unwrap_or(default)
    }

    /// Refuses options that only r500 has.
    ///
    /// # Errors
    /// `safe_loops` is set.
    pub fn for_other(&self, unit: &str) -> Result<(), InputError> {
        if self.safe_loops {
            let why = format!("is for the LOOP words of r500; {unit} has none");
            return Err(InputError::option("--safe-loops", why));
        }
        Ok(())
    }
}

/// What the command needs of a design with programs in addition. Everything has a default: a unit whose programs are assembly text
/// alone, and of whose specification nothing is known.
pub trait Unit: Campaign {
    /// Builds that can expose mistakes which the default build hides. The first differs from it in lanes and in every
    /// parameter, with values that are not powers of two where possible; the others take each to its limits.
    const VARIANTS: &'static [Variant] = &[];
    /// The text of its specification, `docs/spec/NAME.md` in its repository, whose rules `explain` shows and reports cite; empty if
    /// there is none. A rule begins with its id as an anchor, `<a id="NAME-3-b"></a>**NAME-3-b**`, in a paragraph or a row of a table.
    const SPECIFICATION: &'static str = "";
    /// The small worlds that can be explored exhaustively, if the unit has any.
    const SMALL: Option<Small<Self>> = None;

    /// Reads a program in any format that the unit knows, recognised by content; by default assembly.
    ///
    /// # Errors
    /// The file cannot be read as a program; the error says what is wrong.
    fn load(
        bytes: &[u8],
        file: &str,
        options: &LoadOptions,
    ) -> Result<Loaded<Self::Program>, InputError> {
        options.for_other(Self::NAME)?;
        if options.which.is_some() {
            let why = format!("a file of {} holds one program", Self::NAME);
            return Err(InputError::option("--select", why));
        }
        let bad = |e: std::str::Utf8Error| {
            let why = format!("not UTF-8 text at byte {}", e.valid_up_to());
            InputError::new(file, 0, "file", why)
        };
        let text = std::str::from_utf8(bytes).map_err(bad)?;
        let program = Self::Program::assemble(text, file).map_err(|e| e.in_text(text))?;
        Ok(Loaded {
            program,
            warnings: Vec::new(),
        })
    }
    /// Lists the programs in a file that holds several: number, name, size. By default a file holds one.
    ///
    /// # Errors
    /// As [`Unit::load`].
    fn list(bytes: &[u8], file: &str) -> Result<Vec<String>, InputError> {
        let loaded = Self::load(bytes, file, &LoadOptions::default())?;
        Ok(vec![format!("0 {}", loaded.program.name())])
    }
    /// Names the format of a file that only this unit's importer reads, recognised by content, and says whether the unit runs it
    /// (a cubin for another GPU it does not run). Returns `None` for text, and for units that read only text.
    fn recognises(_bytes: &[u8]) -> Option<(String, bool)> {
        None
    }
    /// Lists what in `program` ends in an error in any unit built as `build`, one line for each kind, with the number of
    /// occurrences.
    fn refused(_program: &Self::Program, _build: &Build) -> Vec<String> {
        Vec::new()
    }
    /// Returns a remark on how `program` ended, in `state`, beyond the outcome.
    fn remark(_program: &Self::Program, _state: &Self::State) -> Option<&'static str> {
        None
    }
    /// Takes the words of one instruction apart; the words are in the order of the manual.
    ///
    /// # Errors
    /// These are not the words of one instruction; by default nothing is known of words.
    fn anatomy(_words: &[u64]) -> Result<Anatomy<Self::Program>, String> {
        Err(format!(
            "the fields of the words of {} are not declared",
            Self::NAME
        ))
    }
    /// Returns the words of the instruction on `pins`, as [`Unit::anatomy`] takes them; none if nothing is known of words.
    fn instruction(_pins: &Self::In) -> Vec<u64> {
        Vec::new()
    }
    /// Lists the inputs of the lanes' computation that are not in the words of `program`, one line each. Empty for units whose lanes
    /// compute nothing, and for a file that names no inputs.
    fn needs(_program: &Self::Program) -> Vec<String> {
        Vec::new()
    }
    /// Returns the program as words, one instruction a line; by default as [`reconverge_program::assembly::Assembly::to_words`] does.
    fn to_hex(program: &Self::Program) -> String {
        program.to_words()
    }
    /// Returns the trace record of a step of `program` as one line of JSON, without a line end; `golden` has just executed the step.
    fn trace(
        step: u64,
        program: &Self::Program,
        before: &Self::State,
        pins: &Self::In,
        golden: &Self::Golden,
        lanes: usize,
    ) -> String {
        let wavefront = Self::wavefront(before, pins);
        let pc = Self::pc_of(before, wavefront);
        let mut record = json!({
            "step": step,
            "pc": pc,
            "active": Hex(Self::active(before) & Wavefronts::of::<Self>(lanes).mask(wavefront)),
            "pc_next": Self::pc_of(golden.state(), wavefront),
            "text": program.disassemble(pc),
        });
        if Self::DECLARATION.wavefronts > 1 {
            record["wavefront"] = wavefront.into();
        }
        record.to_string()
    }
}
