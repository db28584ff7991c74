//! AMD R700 control-flow programs: per-pixel state and one mixed stack of branch, loop and call frames.
//!
//! The rules are in `docs/spec/r700.md`. Ids such as `r700-4.3-f` refer to it.

mod anatomy;
pub mod asm;
mod cover;
pub mod environment;
mod exhaust;
pub mod generate;
pub mod golden;
pub mod import;
mod instructions;
pub mod isa;
pub mod judge;
pub mod program;
pub mod scalar;
pub mod start;
pub mod state;
mod unit;

/// The unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct R700;
