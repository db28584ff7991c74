//! SIMT divergence hardware in SystemVerilog, golden models in Rust, and a lock-step bench that
//! compares every bit of every lane in every cycle. Of the stacks of r700 and spa5 it compares the top: each entry
//! when it is written and when it is revealed.
//!
//! ```text
//!                  case (program, seed, stalls ...)
//!                               |
//!                  Stimulus: the pins of every cycle
//!                   |                            |
//!            Golden::cycle                   Dut::clock          (one cycle later: the bench top
//!                   |                            |                registers its inputs)
//!                   +------> compared <----------+
//!                               |
//!            Failure -> report, saved case, VCD, view
//! ```
//!
//! RTL and golden model are written separately from the specification of the unit and share nothing. The third judge, a
//! scalar machine, runs one lane alone ([`alone`]): in a structured program each lane must execute exactly what it would execute
//! alone. `docs/contract.md` has the rules of every cycle, `docs/architecture.md` what calls what, `docs/README.md` the other pages.
//!
//! # One program in lock-step
//!
//! ```
//! # #[cfg(feature = "linked")] {
//! use reconverge::case::Case;
//! use reconverge::check::check;
//! use reconverge::judges::Scalar;
//! use reconverge::dut::Rtl;
//! use reconverge::r500::{R500, asm::assemble};
//!
//! let program = assemble("ALU c\nIF alu\nALU then\nELSE\nALU else\nENDIF\nOUT\n", "demo.s").unwrap();
//! let case = Case::<R500>::new(program);
//! let agreed = check(&case, &Rtl::own(case.lanes).unwrap()).unwrap();
//! assert!(matches!(agreed.scalar, Scalar::Agrees { lanes: 16, .. }));
//! # }
//! ```
//!
//! A case that fails is a [`failure::Failure`]: `unwrap` in a test prints its report, `save` writes the case for
//! `reconverge replay`, and [`report::Waves`] writes a dump with both sides.
//!
//! # Modules
//!
//! | to | look at |
//! |---|---|
//! | judge a case | [`case`], [`mod@check`], [`judges`]; [`lockstep`], [`stimulus`], [`dut`] |
//! | bring a module of your own | [`design`], [`stream`], [`channels`], [`transactions`]; with programs [`program`], [`assembly`], [`words`], [`mod@grammar`], [`campaign::fuzz()`]; [`mod@unit`] for all commands |
//! | see why it failed | [`failure`], [`report`], [`wave`] |
//! | see a run, lane by lane | [`show`] |
//! | run many | [`campaign`]; keep, shard and merge results: [`campaign::results`] |
//! | make a failing case smaller | [`shrink`] |
//! | know what was reached, what would be caught, what is proved | [`cover`], [`mutate`], [`prove`] |
//! | explore every state of a small world | [`exhaust`] |
//! | draw conditions | [`environment`] |
//! | read, write, import programs | `asm`, `import` and `isa` of the unit, e.g. [`spa5::import`]; [`text`], [`elf`]; [`words`] for simple ones, [`mod@layout`] for fields of words |
//! | know what a unit does | its `golden`, e.g. [`r700::golden`]; of one lane its `scalar` and `judge`, e.g. [`r700::scalar`] |
//! | read a rule, take an instruction apart | [`rules`], [`mod@explain`] |
//! | render a picture | [`r500::alu`], [`r500::shader`], [`r500::alu::picture`], [`r500::alu::profile`], `r500::render` |
//! | read and write JSON | [`json`] |
//!
//! # Units
//!
//! * [`r500`]: ATI R5xx pixel-shader flow control: branch counters, loop stack, address stack.
//! * [`r700`]: AMD R700 control-flow programs: lane classes, one stack of branch, loop and call frames.
//! * [`spa5`]: NVIDIA SPA 5.0 (sm_50): one call-return stack of tokens (SSY, PBK, PCNT, CAL, divergent BRA).
//!
//! # Features
//!
//! * `units`: [`r500`], [`r700`] and [`spa5`]: golden models, assemblers and importers in pure Rust.
//! * `linked`: their RTL, verilated by the build script and linked.
//! * `rtl`: the bench: [`dut`], [`lockstep`], [`stream`], [`report`]. RTL that is not linked is verilated when a program asks for it.
//!   Without it the crate needs no Verilator.
//! * `fst`: [`wave::fst`].
//! * `mutate`: results and coverage of programs; [`mutate`], which needs Yosys for its proofs.
//! * `snippet`: error messages that show the faulty line of the file.
//!
//! All are on by default: `linked` enables `units` and `rtl`, `mutate` enables `rtl`. The `reconverge` command is a separate crate, `crates/command`.

#[cfg(feature = "units")]
include!("units.rs");

// For what tests of this crate share with the others.
#[cfg(test)]
extern crate self as reconverge;

// For the generated structs, also those of other crates.
#[doc(hidden)]
pub use bytemuck;
#[doc(inline)]
pub use reconverge_bench::{
    bins, design, field, hidden, html, input, json, lanes, lcov, place, saved, text, wave,
};
#[cfg(feature = "rtl")]
#[doc(inline)]
pub use reconverge_bench::{
    channels, check, dut, failure, found, home, lockstep, report, search, stream, transactions,
};
#[doc(hidden)]
pub use reconverge_bench::{process, quantity};
#[doc(hidden)]
pub use reconverge_campaign::{axis, numbered};
#[cfg(feature = "rtl")]
#[doc(inline)]
pub use reconverge_campaign::{campaign, shrink};
#[doc(inline)]
pub use reconverge_campaign::{cover, exhaust, grammar};
#[cfg(feature = "mutate")]
#[doc(inline)]
pub use reconverge_mutate::{mutate, prove};
#[doc(inline)]
pub use reconverge_program::{
    alone, assembly, case, elf, environment, foreign, generate, import, instructions, layout,
    names, program, show, start, watch, words,
};
#[cfg(feature = "rtl")]
#[doc(inline)]
pub use reconverge_program::{judges, stimulus};

/// The folder of this package on the machine that compiled it.
#[doc(hidden)]
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[cfg(feature = "units")]
mod axes;
#[cfg(feature = "mutate")]
pub mod compiled;
pub mod explain;
#[cfg(all(feature = "rtl", feature = "units"))]
#[doc(hidden)]
pub mod package;
#[cfg(feature = "units")]
pub mod r500;
#[cfg(feature = "units")]
pub mod r700;
pub mod rules;
#[cfg(feature = "units")]
pub mod spa5;
#[cfg(all(test, feature = "units"))]
mod tests;
pub mod unit;
#[cfg(feature = "mutate")]
#[doc(hidden)]
pub mod worker;
