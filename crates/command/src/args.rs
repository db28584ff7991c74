//! Options that several commands share: the build of a unit, the number of workers, the end of a campaign.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Duration;

use clap::Args;
use reconverge::campaign::Limit;
use reconverge::case::{Case, Conditions, MAX_STEPS, Table};
use reconverge::compiled::Compiled;
use reconverge::design::Build;
use reconverge::input::InputError;
use reconverge::unit::LoadOptions;

use super::convert::load;
use super::run::parameters;
use super::streams::read_text;
use super::{Failure, LoadArgs, mask, parameter, seed};
use reconverge::quantity::{chance, count, stall};

/// Names a build of a unit by its lanes and parameters.
#[derive(Args)]
pub struct BuildArgs {
    /// Lanes of the wavefront [default: the unit's own]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    lanes: Option<u32>,
    /// Parameter of RTL and golden model, as for `run`
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u32)>,
}

/// Makes a case of a program.
#[derive(Args, Clone)]
pub struct CaseArgs {
    /// Seed of conditions and stalls; never 0
    #[arg(long, default_value = "1", value_parser = seed)]
    seed: u64,
    /// Probability of each condition bit, in 1/16ths [default: 8]
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=16))]
    p16: Option<u32>,
    /// The same as a percentage, such as 25%, rounded to the nearest 16th
    #[arg(long, value_name = "PERCENT", value_parser = chance, conflicts_with = "p16")]
    p: Option<u32>,
    /// Lanes of the wavefront [default: the unit's own]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    lanes: Option<u32>,
    /// Parameter of RTL and golden model, e.g. MAX_STACK_SIZE=8; may be repeated. r700: DX10_COUNT,
    /// MAX_STACK_SIZE, SUBENTRIES; spa5: BRX, CSM, DEPTH
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u32)>,
    /// Lanes launched (r500: covered; r700: valid), hexadecimal, bit i is lane i [default: all]
    #[arg(long, value_name = "HEX", value_parser = mask)]
    launch_mask: Option<u64>,
    /// Stall or starve the unit in about this many of 16 cycles
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=15))]
    stall16: u32,
    /// The same as a percentage, such as 25%, rounded to the nearest 16th
    #[arg(long, value_name = "PERCENT", value_parser = stall, conflicts_with = "stall16")]
    stall: Option<u32>,
    /// Stop after this many instructions
    #[arg(long, default_value_t = MAX_STEPS, value_parser = count)]
    max_steps: u64,
    /// Read the conditions from this file instead of drawing them: JSON Lines {"lane":0,"k":0,"bits":0}, where
    /// bits are the condition bits that the lane draws after k instructions (docs/formats.md). A draw that is not in the file is random with --p16 or --p,
    /// otherwise 0
    #[arg(long, value_name = "FILE")]
    conditions: Option<PathBuf>,
}

impl CaseArgs {
    /// Returns the case of the program in the file `program`, read with `options`, on our own RTL, before [`Case::check`].
    ///
    /// # Errors
    /// The program or the file of the conditions is faulty.
    pub fn case<U: Compiled>(
        &self,
        program: &Path,
        options: &LoadArgs,
    ) -> Result<Case<U>, Failure> {
        let options = LoadOptions {
            parameters: parameters::<U>(&self.parameters),
            ..LoadOptions::from(options)
        };
        let mut program = load::<U>(program, &options)?;
        let lanes = self.lanes.unwrap_or(U::LANES);
        // A campaign names saved programs in this way: the unit's name comes first in each case's name.
        if let Some(name) = U::name(&program).strip_prefix(&format!("{}.", U::NAME)) {
            let name = name.to_owned();
            U::rename(&mut program, name);
        }
        let mut case = Case::<U>::new(program);
        case.seed = self.seed;
        case.lanes = lanes;
        case.parameters = parameters::<U>(&self.parameters);
        case.launch_mask = self.launch_mask.unwrap_or(u64::MAX >> (64 - lanes));
        case.stall16 = self.stall.unwrap_or(self.stall16);
        case.max_steps = self.max_steps;
        let rows = match &self.conditions {
            Some(path) => {
                let (text, file) = read_text(path)?;
                Some(Table::parse(&text, &file)?)
            }
            None => None,
        };
        case.conditions = match (rows, self.p.or(self.p16)) {
            (Some(rows), Some(p16)) => Conditions::Changed { p16, rows },
            (Some(rows), None) => Conditions::Table(rows),
            (None, p16) => Conditions::Drawn {
                p16: p16.unwrap_or(8),
            },
        };
        Ok(case)
    }
}

impl BuildArgs {
    /// Returns whether an option was given.
    pub fn given(&self) -> bool {
        self.lanes.is_some() || !self.parameters.is_empty()
    }

    /// Returns the build of `U` that the options name.
    ///
    /// # Errors
    /// `U` does not have the parameter, or does not allow this value.
    pub fn build<U: Compiled>(&self) -> Result<Build, InputError> {
        let build = Build {
            lanes: self.lanes.unwrap_or(U::LANES),
            parameters: parameters::<U>(&self.parameters),
        };
        build.check::<U>("").map_err(InputError::in_option)?;
        Ok(build)
    }
}

/// Returns the number of workers: as `--jobs` says, by default one per processor.
pub fn workers(jobs: Option<u16>) -> usize {
    jobs.map_or_else(
        || available_parallelism().map_or(1, NonZero::get),
        usize::from,
    )
}

/// Returns the limit of a campaign from `--programs`, `--cycles` or `--seconds`, which exclude each other.
pub fn limit(programs: Option<u64>, cycles: Option<u64>, seconds: Option<u64>) -> Option<Limit> {
    let seconds = seconds.map(|n| Limit::Time(Duration::from_secs(n)));
    programs
        .map(Limit::Programs)
        .or(cycles.map(Limit::Cycles))
        .or(seconds)
}
