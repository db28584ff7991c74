//! Tests of the specifications' worked examples, corner vectors and limits, on golden and RTL.

#[path = "common/failed.rs"]
mod failed;
#[path = "common/machine.rs"]
mod machine;

mod r500_spec;
mod r700_spec;
mod spa5_spec;
