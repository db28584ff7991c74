//! A lock-step bench for any module that has a golden model. It gives RTL and golden model the same pins and compares every
//! bit of the state after every cycle. It needs no program.
//!
//! A design must provide a declaration of its pins and state (`design.toml`, from which the crate `declaration` generates
//! the structs) and a golden model ([`design::Golden`]). The bench then provides:
//!
//! * streams of random pins, which are shrunk when they fail, saved and replayed, and their bit coverage (`stream`);
//! * the report, the dump and the view of a failure (`failure`, `report`, [`wave`]);
//! * the RTL, compiled when a program asks for it (`dut`), with coverage counters and assertions.
//!
//! Lower-level modules for text and numbers: [`input`], [`text`], [`json`], [`html`].
//!
//! # Features
//!
//! * `rtl`: the bench. Without it the crate has only the declaration and the modules that read and write files.
//! * `fst`: FST dumps.
//! * `snippet`: error messages that show the faulty line of a file.

// For the generated structs, also those in other crates.
#[doc(hidden)]
pub use bytemuck;

pub mod bins;
#[cfg(feature = "rtl")]
pub mod channels;
#[cfg(feature = "rtl")]
pub mod check;
pub mod design;
#[cfg(feature = "rtl")]
pub mod dut;
#[cfg(feature = "rtl")]
pub mod failure;
pub mod field;
#[cfg(feature = "rtl")]
pub mod found;
pub mod hidden;
#[cfg(feature = "rtl")]
pub mod home;
pub mod html;
pub mod input;
pub mod json;
pub mod lanes;
pub mod lcov;
#[cfg(feature = "rtl")]
pub mod lockstep;
pub mod place;
#[doc(hidden)]
pub mod process;
#[doc(hidden)]
pub mod quantity;
#[cfg(feature = "rtl")]
pub mod report;
pub mod saved;
#[cfg(feature = "rtl")]
pub mod search;
#[cfg(feature = "rtl")]
pub mod stream;
pub mod text;
#[cfg(feature = "rtl")]
pub mod transactions;
pub mod wave;
