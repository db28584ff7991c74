//! Designs: a lock-step bench for any module that has a golden model. It gives RTL and golden model the same pins and compares
//! every bit of the state after every cycle. It knows no program.
//!
//! A design owes a declaration of its pins and state (`design.toml`, from which the crate `declaration` generates the structs)
//! and a golden model ([`design::Golden`]). For that it gets:
//!
//! * streams of random pins, shortened when they fail, saved and replayed, and the coverage of their bits (`stream`);
//! * reports, dumps and views of a failure (`failure`, `report`, [`wave`]);
//! * its RTL, built when it is first used (`dut`), with counters and assertions.
//!
//! Below it lie text and numbers: [`input`], [`text`], [`json`], [`html`].
//!
//! # Features
//!
//! * `rtl`: the bench. Without it there are the declaration and what files are read and written with.
//! * `fst`: dumps as FST.
//! * `snippet`: mistakes in a file with the line that they stand in.

// For the structs that are generated, also those of other crates.
#[doc(hidden)]
pub use bytemuck;

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
pub mod quantity;
#[cfg(feature = "rtl")]
pub mod report;
#[cfg(feature = "rtl")]
pub mod stream;
pub mod text;
pub mod wave;
