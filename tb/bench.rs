//! Tests of the bench and its command: campaigns, coverage, mutation, shrinking, tools, bad input.

mod common;

mod assertions;
mod bad_input;
mod campaign;
mod channels;
mod clocks;
mod command;
mod cover;
mod damaged;
mod doctor;
mod edges;
mod exhaust;
mod explained;
mod formats;
mod guest;
mod hosted;
mod lasting_state;
mod models;
mod must_fail;
mod mutate;
mod named;
mod new;
mod own_rtl;
mod page;
mod picture;
mod pictures;
mod programs;
mod progress;
mod prove;
mod r500 {
    mod render;
    mod step_sv;
}
mod r700 {
    mod step_sv;
}
mod readme;
mod render;
mod show;
mod shrink;
mod spa5 {
    mod compiled;
    mod step_sv;
}
mod start;
mod step;
mod stream;
mod stress;
mod tools;
mod trust;
mod waves;
