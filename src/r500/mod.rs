//! ATI R5xx pixel-shader flow control: branch counters, loop stack, address stack.
//!
//! The rules are in `docs/spec/r500.md`. Ids such as `r500-4.3-b` refer to it.

pub mod alu;
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
#[cfg(feature = "rtl")]
pub mod render;
pub mod scalar;
pub mod shader;
pub mod start;
pub mod state;
mod unit;

/// The unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct R500;
