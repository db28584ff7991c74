//! The `reconverge` command for the units of this repository.

use std::process::ExitCode;

use reconverge::r500::R500;
use reconverge::r700::R700;
use reconverge::spa5::Spa5;
use reconverge_command::{guest, render};

fn main() -> ExitCode {
    reconverge_command::main(&[
        guest::<R500>().with(render()),
        guest::<R700>(),
        guest::<Spa5>(),
    ])
}
