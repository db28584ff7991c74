//! NVIDIA SPA 5.0 (Maxwell, sm_50): the call/return stack of a warp and its tokens.
//!
//! The rules are in `docs/spec/spa5.md`. Ids such as `spa5-4.3-c` refer to it.

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
pub mod refused;
pub mod scalar;
pub mod start;
pub mod state;
mod unit;

/// The unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spa5;
