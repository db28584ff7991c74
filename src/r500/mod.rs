//! ATI R5xx pixel-shader flow control: branch counters, loop stack, address stack.
//!
//! Normative text: *R500 pixel-shader flow control: behavioural specification* ("spec" below).

pub mod asm;
mod cover;
pub mod environment;
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
pub struct R500;
