//! Campaigns: thousands of random streams of pins, or of random programs for a design that runs programs.
//!
//! A design that runs programs provides a grammar, which generates programs and writes them as text, and coverage bins
//! ([`grammar::Campaign`]). The crate then provides:
//!
//! * campaigns whose case number i depends on the seed alone; their results can be saved, split into shards and merged
//!   (`campaign`);
//! * coverage of the bins, and guided runs ([`cover`]);
//! * shrinking of failing cases (`shrink`).
//!
//! [`exhaust`] needs no grammar: it visits every state of a small build and executes every cycle from each of them.
//!
//! # Features
//!
//! * `rtl`: `campaign`, `shrink`, and the checks of [`exhaust`].
//! * `campaign`: results of campaigns in files, and runs for the coverage of programs.

#[cfg(feature = "rtl")]
pub mod campaign;
pub mod cover;
pub mod exhaust;
pub mod grammar;
#[cfg(feature = "rtl")]
pub mod shrink;
