//! Tests of the bench and its command, in the folder of all tests: campaigns, coverage, mutation, shrinking, tools, bad input.
#![cfg(in_repository)]

use tb::*;

#[path = "../../../tb"]
mod tb {
    pub mod common;

    pub mod assertions;
    pub mod bad_input;
    pub mod campaign;
    pub mod channels;
    pub mod clocks;
    pub mod command;
    pub mod cover;
    pub mod damaged;
    pub mod edges;
    pub mod explained;
    pub mod formal;
    pub mod formats;
    pub mod guest;
    pub mod hosted;
    pub mod lasting_state;
    pub mod models;
    pub mod must_fail;
    pub mod mutate;
    pub mod named;
    pub mod new;
    pub mod page;
    pub mod picture;
    pub mod pictures;
    pub mod programs;
    pub mod progress;
    pub mod prove;
    pub mod r500 {
        pub mod render;
        pub mod step_sv;
    }
    pub mod r700 {
        pub mod step_sv;
    }
    pub mod readme;
    pub mod render;
    pub mod show;
    pub mod shrink;
    pub mod spa5 {
        pub mod compiled;
        pub mod step_sv;
    }
    pub mod start;
    pub mod step;
    pub mod stream;
    pub mod stress;
    pub mod tools;
    pub mod trust;
    pub mod waves;
}
