//! A program as text: what a unit's program type says of itself, whatever its instructions are.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use reconverge_bench::input::InputError;

/// A program with the values of its registers, which a file can hold as assembly.
pub trait Assembly:
    Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// Returns the name of the program.
    fn name(&self) -> &str;
    /// Renames the program.
    fn rename(&mut self, name: String);
    /// Checks the program of a saved case.
    ///
    /// # Errors
    /// The program is illegal, e.g. too large for the instruction memory. By default every program that can be read is legal.
    fn check(&self, _file: &str) -> Result<(), InputError> {
        Ok(())
    }
    /// Returns the instruction at `pc` as text.
    fn disassemble(&self, pc: u32) -> String;
    /// Returns the instruction at `pc` as short text: the assembly statement, if the word is one.
    fn statement(&self, pc: u32) -> String {
        self.disassemble(pc)
    }
    /// Returns how the instruction called `name` is written and what it does; by default nothing is known but the specification.
    fn meaning(_name: &str) -> Option<String> {
        None
    }
    /// Returns the program as assembly text that assembles to the same program.
    fn to_text(&self) -> String;
    /// Returns the program as words; by default as assembly.
    fn to_words(&self) -> String {
        self.to_text()
    }
    /// Assembles a text; `file` is its name in messages.
    ///
    /// # Errors
    /// The text is not a legal program.
    fn assemble(text: &str, file: &str) -> Result<Self, InputError>;
}
