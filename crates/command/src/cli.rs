//! The command line: parse, then call.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use reconverge::input::InputError;

use crate::args::{FuzzArgs, MergeArgs};
use crate::commands::{Commands, Guest};
use crate::console::{Agreed, Done, Failure, print, status};
use crate::convert::{AsmArgs, ImportArgs, ViewArgs};
use crate::guests::{names, unit_names};
use crate::run::{PictureArgs, ReplayArgs, RunArgs};
use crate::version::LONG_VERSION;
use crate::{
    cache, cover, doctor, exhaust, explain, fuzz, guests, merge, mutate, new, options, prove,
    render, report, stop, streams,
};

/// SIMT divergence hardware and its golden models, compared lane by lane in every cycle.
#[derive(Parser)]
#[command(name = "reconverge", version, long_version = LONG_VERSION.as_str(), about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run one program in lock-step: RTL, golden model, and the scalar judge
    Run(RunArgs),
    /// Run one program in lock-step, as `run` does, and write a picture of it
    Picture(PictureArgs),
    /// Run one program in lock-step, as `run` does, and step through it in the terminal: forwards, backwards, with other
    /// conditions
    Step(RunArgs),
    /// Run random programs in lock-step
    Fuzz(FuzzArgs),
    /// Merge the results of a campaign's shards
    Merge(MergeArgs),
    /// Write results of campaigns, coverage and mutation as one page
    Report(report::ReportArgs),
    /// Run random programs in lock-step and show what they cover
    Cover(cover::CoverArgs),
    /// Make many small mistakes in the RTL and see which of them the campaign catches
    Mutate(mutate::MutateArgs),
    /// Prove properties of the RTL for all states and all inputs, and that each cycle does what a second description of the unit says
    Prove(prove::ProveArgs),
    /// Run RTL and golden model from every state that a small build can reach, through every instruction of a small alphabet
    Exhaust(exhaust::ExhaustArgs),
    /// Run a saved failing case or stream of pins again, with waves. RTL that the case names is built and run only if it lies below the
    /// current folder; RTL from elsewhere needs --rtl
    Replay(ReplayArgs),
    /// Assemble a program: text to words
    Asm(AsmArgs),
    /// Disassemble a program: words to text
    Dis(AsmArgs),
    /// Turn a compiler's or driver's output into a program
    Import(ImportArgs),
    /// Print a rule of the specification, decode the words of an instruction, or say why an instruction of a run did what
    /// it did
    Explain(explain::ExplainArgs),
    /// Render a shader's picture: each block of 4 x 4 pixels is a wavefront in lock-step, with an ALU beside every lane
    Render(render::RenderArgs),
    /// Write the GTKWave view of a unit and print the command that opens it
    View(ViewArgs),
    /// Make a crate for other RTL: declaration of its pins, a golden model to fill in, a lock-step test
    New(new::NewArgs),
    /// List or delete the compiled models that are kept
    Cache(cache::CacheArgs),
    /// Show which programs are found, with their versions and how to get those that are missing, and the folders in use
    Doctor,
    /// Print a script that completes commands and options in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(hide = true)]
    Man,
    /// The process in which RTL runs
    #[command(hide = true)]
    Worker(WorkerArgs),
}

#[derive(Args)]
struct WorkerArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    unit: String,
}

type Units = [&'static dyn Commands];

fn unit(units: &Units, name: &str) -> Result<&'static dyn Commands, Failure> {
    let found = units.iter().copied().find(|u| u.name() == name);
    found.ok_or_else(|| InputError::new(name, 0, "unit", "there is no such unit").into())
}

fn dispatch(units: &Units, command: &Command) -> Done {
    let unit = |name: &str| unit(units, name);
    match command {
        Command::Picture(PictureArgs { output, run }) => {
            let mut args = run.clone();
            args.show.picture = Some(output.clone());
            unit(&args.unit)?.run(&args)
        }
        Command::Step(args) => {
            let mut args = args.clone();
            args.show.step = true;
            unit(&args.unit)?.run(&args)
        }
        Command::Run(args) => unit(&args.unit)?.run(args),
        Command::Fuzz(args) if args.unit == "all" => fuzz::units(units, args),
        Command::Fuzz(args) => fuzz::units(&[unit(&args.unit)?], args),
        Command::Merge(args) => merge::merge(units, args),
        Command::Report(args) => report::command(units, args),
        Command::Worker(args) => unit(&args.unit)?.worker(),
        Command::Cover(args) => {
            cover::all(args, |name, gathered| unit(name)?.cover(args, gathered))
        }
        Command::Render(args) => render::render(args),
        Command::Mutate(args) => mutate::command(args, |name| unit(name)?.mutate(args)),
        Command::Prove(args) => unit(&args.unit)?.prove(args),
        Command::Exhaust(args) => unit(&args.unit)?.exhaust(args),
        Command::Replay(args) => {
            let (text, file) = streams::read_text(&args.file)?;
            // A stream of pins of another design belongs to a test of that design: the message below.
            let design = reconverge::stream::design_of_stream(&text);
            let unit = design.and_then(|name| units.iter().find(|u| u.name() == name));
            if let Some(unit) = unit {
                return unit.play(&text, &file, args);
            }
            let name = reconverge::case::unit_of_case(&text, &file)?;
            let unit = units.iter().find(|u| u.name() == name).ok_or_else(|| {
                let known: Vec<_> = names().collect();
                let why = format!("there is no unit {name:?}; there are {}", known.join(", "));
                InputError::new(&*file, 0, "unit", why)
            })?;
            unit.replay(&text, &file, args)
        }
        Command::Asm(args) => unit(&args.unit)?.asm(args),
        Command::Dis(args) => unit(&args.unit)?.dis(args),
        Command::Import(args) => unit(&args.unit)?.import(args),
        Command::New(args) => new::command(args),
        Command::Cache(args) => cache::command(args),
        Command::Doctor => doctor::command(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "reconverge", &mut script);
            print(&String::from_utf8_lossy(&script))?;
            Ok(Agreed::Yes)
        }
        Command::Man => {
            let mut page = Vec::new();
            let man = clap_mangen::Man::new(Cli::command());
            man.render(&mut page)
                .map_err(|e| Failure::Other(e.to_string()))?;
            print(&String::from_utf8_lossy(&page))?;
            Ok(Agreed::Yes)
        }
        Command::Explain(args) => unit(&args.unit)?.explain(args),
        Command::View(args) => unit(&args.unit)?.view(args),
    }
}

/// Options `NAME=VALUE` that may be repeated for other names, each with its field.
const NAMED: [(&str, &str); 2] = [("parameters", "--param"), ("bounds", "--bound")];

/// Returns an option of [`NAMED`] that gives a name twice, and that name.
fn given_twice(matches: &ArgMatches) -> Option<(&'static str, &str)> {
    NAMED.iter().find_map(|(id, flag)| {
        let given = matches.try_get_many::<(String, u32)>(id).ok()??;
        let mut names = BTreeSet::new();
        let mut again = given.filter(|(name, _)| !names.insert(name));
        again.next().map(|(name, _)| (*flag, name.as_str()))
    })
}

/// Parses the arguments. Also refuses an option that gives a name twice, of which one value would be ignored.
fn arguments() -> Cli {
    let mut command = Cli::command();
    let matches = options::matches(&mut command);
    if let Some((name, chosen)) = matches.subcommand()
        && let Some((flag, twice)) = given_twice(chosen)
        && let Some(chosen) = command.find_subcommand_mut(name)
    {
        let why = format!(
            "the argument '{flag} <NAME=VALUE>' cannot be used multiple times for '{twice}'"
        );
        chosen.error(ErrorKind::ArgumentConflict, why).exit();
    }
    Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.format(&mut command).exit())
}

/// Runs the command that the arguments of this process name, for these designs, and reports the result.
pub fn main(guests: &[Guest]) -> ExitCode {
    let units: Vec<_> = guests.iter().map(|guest| guest.0).collect();
    guests::know(units.iter().map(|unit| unit.known()).collect());
    let cli = arguments();
    let ready = stop::files_may_be_limited().map_err(Failure::Other);
    status(ready.and_then(|()| dispatch(&units, &cli.command)))
}
