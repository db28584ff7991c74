//! Tests of the specifications' worked examples, corner vectors and limits, on golden and RTL.

#[path = "common/data.rs"]
mod data;
#[path = "common/failed.rs"]
mod failed;
#[path = "common/machine.rs"]
mod machine;
#[path = "common/memory.rs"]
mod memory;

mod pins;
mod steps;
mod words;

mod r500 {
    mod spec;
}
mod r700 {
    mod spec;
}
mod spa5 {
    mod spec;
}
