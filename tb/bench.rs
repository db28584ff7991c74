//! Tests of the bench and its command: campaigns, coverage, mutation, shrinking, tools, bad input.

mod common;

mod assertions;
mod bad_input;
mod between;
mod campaign;
mod command;
mod cover;
mod damaged;
mod doctor;
mod exhaust;
mod explained;
mod formats;
mod hosted;
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
    mod naive;
    mod render;
}
mod r700 {
    mod naive;
}
mod readme;
mod render;
mod show;
mod shrink;
mod spa5 {
    mod compiled;
    mod naive;
}
mod start;
mod step;
mod stream;
mod stress;
mod tools;
mod trust;
mod waves;
