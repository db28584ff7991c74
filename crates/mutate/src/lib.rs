//! Mutants of RTL and proofs: what the bench would miss, and what holds for all states and all inputs.
//!
//! A design owes RTL that the mutator reads. Beside it may lie what proofs may use of its state (`<design>_formal.sv`). For that
//! it gets:
//!
//! * mutants of the text and of the netlist, each caught by streams of pins or by programs, or proved equivalent by the referee
//!   ([`mutate`]);
//! * properties, each with the faults that it must refute ([`prove`]), for designs that have a naive description
//!   (`tb/formal/<design>`).

// The modules of the crates below, as those of this one are named.
use reconverge_bench::{check, design, dut, failure, home, input, json, stream, wave};
use reconverge_campaign::{campaign, grammar};
use reconverge_program::{case, judges, watch};

pub mod mutate;
pub mod prove;
