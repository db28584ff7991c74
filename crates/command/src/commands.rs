//! The commands of a unit.

use std::marker::PhantomData;
use std::path::PathBuf;

use clap::ArgMatches;
use reconverge::campaign::Drawn as _;
use reconverge::case::Case;
use reconverge::compiled::Compiled;
use reconverge::design::{Build, Design};
use reconverge::stream::Stream;
use reconverge::unit::LoadOptions;

use crate::args::{FuzzArgs, MergeArgs, PlaceArgs, ReportArgs};
use crate::console::{Done, Failure, Status};
use crate::convert::{self, AsmArgs, ImportArgs, ViewArgs};
use crate::fuzz::{Campaign, Publish};
use crate::guests::{Known, Reads};
use crate::page::Part;
use crate::ran::Ran;
use crate::run::{self, ReplayArgs, RunArgs};
use crate::shows::in_words;
use crate::{again, cover, exhaust, explain, fuzz, merge, mutate, prove, workers};

/// The commands of one unit.
pub trait Commands: Sync {
    fn name(&self) -> &'static str {
        self.known().name
    }
    fn known(&self) -> Known;
    fn fuzz(&self, args: &FuzzArgs, campaign: Campaign, publish: Publish) -> Result<Ran, Failure>;
    /// Runs the saved cases of a guest from outside.
    fn again(&self, args: &FuzzArgs) -> Done;
    fn variants(&self) -> Vec<Build>;
    fn prepare(&self, place: &PlaceArgs, build: &Build) -> Result<(), Failure>;
    fn merge(&self, files: &[PathBuf], args: &MergeArgs, row: bool) -> Result<Ran, Failure>;
    fn report(&self, files: &[PathBuf], args: &ReportArgs) -> Result<Part, Failure>;
    fn worker(&self, cases: &str) -> Done;
    fn cover(&self, args: &cover::CoverArgs, gathered: &mut cover::Gathered) -> Done;
    fn mutate(&self, args: &mutate::MutateArgs) -> mutate::Mutated;
    fn prove(&self, args: &prove::ProveArgs) -> Done;
    fn replay_pins(&self, text: &str, file: &str, args: &ReplayArgs) -> Done;
    fn view(&self, args: &ViewArgs) -> Done;
    /// Returns the commands for programs, if the design runs any.
    fn programs(&self) -> Option<&dyn OfPrograms>;
}

/// The commands that need programs.
pub trait OfPrograms {
    fn run(&self, args: &RunArgs) -> Done;
    fn exhaust(&self, args: &exhaust::ExhaustArgs) -> Done;
    fn replay(&self, text: &str, file: &str, args: &ReplayArgs) -> Done;
    fn asm(&self, args: &AsmArgs) -> Done;
    fn dis(&self, args: &AsmArgs) -> Done;
    fn import(&self, args: &ImportArgs) -> Done;
    fn explain(&self, args: &explain::ExplainArgs) -> Done;
}

struct For<U>(PhantomData<fn() -> U>);

struct Pins<D>(PhantomData<fn() -> D>);

/// A command that one design alone has.
#[derive(Clone, Copy)]
pub struct Extra {
    pub(crate) command: fn() -> clap::Command,
    pub(crate) run: fn(&ArgMatches) -> Done,
}

/// A design that is a guest of the command.
#[derive(Clone)]
pub struct Guest {
    pub(crate) commands: &'static dyn Commands,
    pub(crate) extras: Vec<Extra>,
}

/// Returns the guest `U`.
pub fn guest<U: Compiled>() -> Guest {
    Guest {
        commands: &For::<U>(PhantomData),
        extras: Vec::new(),
    }
}

/// Returns the guest `D`, which runs no programs: its cases are streams of pins.
pub fn pins<D: Design>() -> Guest {
    Guest {
        commands: &Pins::<D>(PhantomData),
        extras: Vec::new(),
    }
}

impl Guest {
    /// Adds a command that only this design has.
    #[must_use]
    pub fn with(mut self, extra: Extra) -> Self {
        self.extras.push(extra);
        self
    }
}

impl<D: Design> Commands for Pins<D> {
    fn known(&self) -> Known {
        Known {
            name: D::NAME,
            declaration: D::DECLARATION,
            linked: D::package().is_some(),
            programs: None,
            specification: "",
        }
    }
    fn fuzz(&self, args: &FuzzArgs, campaign: Campaign, publish: Publish) -> Result<Ran, Failure> {
        fuzz::fuzz::<Stream<D>>(args, campaign, publish)
    }
    fn again(&self, args: &FuzzArgs) -> Done {
        again::again::<Stream<D>>(args)
    }
    fn variants(&self) -> Vec<Build> {
        Vec::new()
    }
    fn prepare(&self, place: &PlaceArgs, build: &Build) -> Result<(), Failure> {
        fuzz::prepare::<Stream<D>>(place, build)
    }
    fn merge(&self, files: &[PathBuf], args: &MergeArgs, row: bool) -> Result<Ran, Failure> {
        merge::unit::<Stream<D>>(files, args, row)
    }
    fn report(&self, files: &[PathBuf], args: &ReportArgs) -> Result<Part, Failure> {
        merge::report::<Stream<D>>(files, args)
    }
    fn worker(&self, _cases: &str) -> Done {
        workers::work::<Stream<D>>(reconverge::worker::obey)
    }
    fn cover(&self, args: &cover::CoverArgs, gathered: &mut cover::Gathered) -> Done {
        cover::cover::<Stream<D>>(args, gathered)
    }
    fn mutate(&self, args: &mutate::MutateArgs) -> mutate::Mutated {
        mutate::mutate::<Stream<D>>(args)
    }
    fn prove(&self, args: &prove::ProveArgs) -> Done {
        prove::prove::<D>(args, Stream::text)
    }
    fn replay_pins(&self, text: &str, file: &str, args: &ReplayArgs) -> Done {
        run::replay::<Stream<D>>(text, file, args)
    }
    fn view(&self, args: &ViewArgs) -> Done {
        convert::view::<D>(args)
    }
    fn programs(&self) -> Option<&dyn OfPrograms> {
        None
    }
}

impl<U: Compiled> Commands for For<U> {
    fn known(&self) -> Known {
        Known {
            name: U::NAME,
            declaration: U::DECLARATION,
            linked: U::package().is_some(),
            programs: Some(Reads {
                recognises: U::recognises,
                reads: |bytes, file| U::load(bytes, file, &LoadOptions::default()).is_ok(),
            }),
            specification: U::SPECIFICATION,
        }
    }
    fn fuzz(&self, args: &FuzzArgs, campaign: Campaign, publish: Publish) -> Result<Ran, Failure> {
        fuzz::fuzz::<Case<U>>(args, campaign, publish)
    }
    fn again(&self, args: &FuzzArgs) -> Done {
        match U::package() {
            Some(_) => Ok(Status::Agreed),
            None => again::again::<Case<U>>(args),
        }
    }
    fn variants(&self) -> Vec<Build> {
        U::VARIANTS.iter().map(Build::from).collect()
    }
    fn prepare(&self, place: &PlaceArgs, build: &Build) -> Result<(), Failure> {
        fuzz::prepare::<Case<U>>(place, build)
    }
    fn merge(&self, files: &[PathBuf], args: &MergeArgs, row: bool) -> Result<Ran, Failure> {
        merge::unit::<Case<U>>(files, args, row)
    }
    fn report(&self, files: &[PathBuf], args: &ReportArgs) -> Result<Part, Failure> {
        merge::report::<Case<U>>(files, args)
    }
    fn worker(&self, cases: &str) -> Done {
        match cases == Stream::<U>::NOUN {
            true => workers::work(U::obey_pins),
            false => workers::work(U::obey),
        }
    }
    fn cover(&self, args: &cover::CoverArgs, gathered: &mut cover::Gathered) -> Done {
        cover::cover::<Case<U>>(args, gathered)
    }
    fn mutate(&self, args: &mutate::MutateArgs) -> mutate::Mutated {
        mutate::mutate::<Case<U>>(args)
    }
    fn prove(&self, args: &prove::ProveArgs) -> Done {
        prove::prove::<U>(args, in_words)
    }
    fn replay_pins(&self, text: &str, file: &str, args: &ReplayArgs) -> Done {
        run::replay::<Stream<U>>(text, file, args)
    }
    fn view(&self, args: &ViewArgs) -> Done {
        convert::view::<U>(args)
    }
    fn programs(&self) -> Option<&dyn OfPrograms> {
        Some(self)
    }
}

impl<U: Compiled> OfPrograms for For<U> {
    fn run(&self, args: &RunArgs) -> Done {
        run::run::<U>(args)
    }
    fn exhaust(&self, args: &exhaust::ExhaustArgs) -> Done {
        exhaust::exhaust::<U>(args)
    }
    fn replay(&self, text: &str, file: &str, args: &ReplayArgs) -> Done {
        run::replay::<Case<U>>(text, file, args)
    }
    fn asm(&self, args: &AsmArgs) -> Done {
        convert::asm::<U>(args)
    }
    fn dis(&self, args: &AsmArgs) -> Done {
        convert::dis::<U>(args)
    }
    fn import(&self, args: &ImportArgs) -> Done {
        convert::import::<U>(args)
    }
    fn explain(&self, args: &explain::ExplainArgs) -> Done {
        explain::explain::<U>(args)
    }
}
