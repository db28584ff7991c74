//! Campaigns: random programs by the thousand, for designs that run programs.
//!
//! A design owes a grammar, from which programs are drawn and in which they are written, and bins of coverage
//! ([`grammar::Campaign`]). For that it gets:
//!
//! * campaigns whose case number i depends on their seed alone, with results that are kept, divided and put together
//!   (`campaign`);
//! * coverage of its bins, and runs that are guided by it ([`cover`]);
//! * smaller failing cases (`shrink`).
//!
//! [`exhaust`] needs no grammar: every state of a small world, and every cycle from each of them.
//!
//! # Features
//!
//! * `rtl`: `shrink`, and checks of [`exhaust`].
//! * `campaign`: `campaign`, and coverage of what campaigns run.

// The modules of the crates below, as those of this one are named.
#[cfg(feature = "campaign")]
use reconverge_bench::{check, found};
use reconverge_bench::{design, html, input, json, text};
#[cfg(feature = "rtl")]
use reconverge_bench::{dut, failure, lockstep, stream};
use reconverge_program::{case, instructions, program, watch};
#[cfg(feature = "rtl")]
use reconverge_program::{environment, judges, start, stimulus};

#[cfg(feature = "campaign")]
pub mod campaign;
pub mod cover;
pub mod exhaust;
pub mod grammar;
#[cfg(feature = "rtl")]
pub mod shrink;
