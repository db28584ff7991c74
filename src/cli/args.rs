//! Options that several commands share: which build of a unit, how many workers, when to end.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::Args;
use reconverge::campaign::Limit;
use reconverge::design::Build;
use reconverge::input::InputError;
use reconverge::unit::Unit;

use super::parameter;
use super::run::parameters;

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

impl BuildArgs {
    /// Tells whether an option was given.
    pub fn given(&self) -> bool {
        self.lanes.is_some() || !self.parameters.is_empty()
    }

    /// Returns the build of `U` that the options name.
    ///
    /// # Errors
    /// `U` does not have the parameter, or not with this value.
    pub fn build<U: Unit>(&self) -> Result<Build, InputError> {
        let build = Build {
            lanes: self.lanes.unwrap_or(U::LANES),
            parameters: parameters::<U>(&self.parameters),
        };
        build.check::<U>("--param")?;
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

/// Returns when a campaign ends by `--programs`, `--clocks` or `--seconds`, which exclude each other.
pub fn limit(programs: Option<u64>, clocks: Option<u64>, seconds: Option<u64>) -> Option<Limit> {
    let seconds = seconds.map(|n| Limit::Time(Duration::from_secs(n)));
    programs
        .map(Limit::Programs)
        .or(clocks.map(Limit::Clocks))
        .or(seconds)
}
