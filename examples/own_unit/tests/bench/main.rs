//! The tests of all designs, in one program: each program of tests compiles the bench anew for the designs that it runs.

mod agrees;
mod cdc_fifo;
mod channels;
mod common;
mod cover;
mod hidden;
mod lock;
mod lockstep;
mod mutants;
mod proofs;
mod rpseq;
mod rpwarps;
mod slot;
mod transactions;
