//! Mutants of RTL and proofs: what the bench would miss, and what holds for all states and all inputs.
//!
//! A design must have RTL that the mutator can read. A file beside the RTL may say what proofs may use of its state
//! (`<design>_formal.sv`). The crate then provides:
//!
//! * mutants of the text and of the netlist. Streams of pins or programs catch each mutant, or the referee proves it
//!   equivalent ([`mutate`]);
//! * properties, each with the faults that it must refute ([`prove`]), for designs that have a naive description
//!   (`<design>_step.sv` and others beside the RTL).

pub mod mutate;
pub mod prove;
