//! The command line: parse, then call.

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, FromArgMatches as _, Subcommand};
use reconverge::field::Parameter;
use reconverge::input::InputError;
use reconverge::saved;

use crate::args::{FuzzArgs, MergeArgs, ReportArgs};
use crate::commands::{Commands, Extra, Guest, OfPrograms};
use crate::console::{Done, Failure, Status, print, status};
use crate::convert::{AsmArgs, ImportArgs, ViewArgs};
use crate::guests::{Known, called, known, names, only, unit_names, unknown};
use crate::help::Has;
use crate::run::{PictureArgs, ReplayArgs, RunArgs};
use crate::version::{LONG_VERSION, VERSION};
use crate::{
    cache, campaigns, cover, doctor, exhaust, explain, guests, mutate, new, options, prove, stop,
    streams,
};

#[derive(Subcommand)]
enum Command {
    /// {programs:Run one program in lock-step: RTL, golden model, and the scalar judge}
    Run(RunArgs),
    /// {programs:Run one program in lock-step, as `run` does, and write a picture of it}
    Picture(PictureArgs),
    /// {programs:Run one program in lock-step, as `run` does, and step through it in the terminal: forwards, backwards, with other
    /// conditions}
    Step(RunArgs),
    /// Run random {programs:programs}{both: or }{pins:pins} in lock-step
    Fuzz(FuzzArgs),
    /// Merge the results of a campaign's shards
    Merge(MergeArgs),
    /// Write results of campaigns, coverage and mutation as one page
    Report(ReportArgs),
    /// Run random {programs:programs}{both: or }{pins:pins} in lock-step and show what they cover
    Cover(cover::CoverArgs),
    /// Make many small mistakes in the RTL and see which of them the campaign catches
    Mutate(mutate::MutateArgs),
    /// Prove properties of the RTL for all states and all inputs, and that each cycle does what a second description of the design says
    Prove(prove::ProveArgs),
    /// {programs:Run RTL and golden model from every state that a small build can reach, through every instruction of a small alphabet}
    Exhaust(exhaust::ExhaustArgs),
    /// Run a saved failing {programs:case or }stream of pins again, with waves. RTL that it names is built and run only if it lies below
    /// the current folder; RTL from elsewhere needs --rtl
    Replay(ReplayArgs),
    /// {programs:Assemble a program: text to words}
    Asm(AsmArgs),
    /// {programs:Disassemble a program: words to text}
    Dis(AsmArgs),
    /// {programs:Turn a compiler's or driver's output into a program}
    Import(ImportArgs),
    /// {programs:Print a rule of the specification, decode the words of an instruction, or say why an instruction of a run did what
    /// it did}
    Explain(explain::ExplainArgs),
    /// Write the GTKWave view of a design and print the command that opens it
    View(ViewArgs),
    /// {several:Make a crate for other RTL: declaration of its pins, a golden model to fill in, a lock-step test}
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
    /// What its cases are
    #[arg(default_value = "program")]
    cases: String,
}

/// Returns the command line: the commands that a design here has, and those that one design alone has.
fn command_line(extras: &[Extra]) -> clap::Command {
    let about = match only() {
        Some(one) => format!("{}: {}", one.name, one.declaration.doc),
        None => env!("CARGO_PKG_DESCRIPTION").to_owned(),
    };
    let top = clap::Command::new(called())
        .about(about)
        .version(VERSION.as_str())
        .long_version(LONG_VERSION.as_str())
        .max_term_width(100)
        .subcommand_required(true)
        .arg_required_else_help(true);
    let names: Vec<&str> = names().collect();
    let has = Has::of(known(), &names);
    let all = Command::augment_subcommands(clap::Command::new(""));
    let offered = all.get_subcommands().cloned();
    let offered = offered.filter_map(|command| has.command(command));
    let mut commands: Vec<_> = offered.collect();
    let mut places = commands.iter();
    let at = places.position(|command| command.get_name() == "view");
    let own = extras.iter();
    let own = own.filter_map(|extra| has.command((extra.command)()));
    commands.splice(at.unwrap_or(0)..at.unwrap_or(0), own);
    let fitted = commands.into_iter().map(|command| match only() {
        Some(one) if command.get_name() != "worker" => fitted(command, one),
        _ => command,
    });
    top.subcommands(fitted)
}

/// Returns a command as it is for the one design `one`, whose name is left out.
fn fitted(mut command: clap::Command, one: &Known) -> clap::Command {
    let ids = command.get_arguments().map(|a| a.get_id().to_string());
    let ids: Vec<String> = ids.collect();
    for id in ids {
        command = match id.as_str() {
            // An option that is not shown, so that the other arguments without a name come first.
            "unit" => command.mut_arg(id, |arg| {
                arg.long("unit")
                    .required(false)
                    .default_value(one.name)
                    .hide(true)
            }),
            "parameters" => {
                command.mut_arg(id, |arg| of_parameters(arg, one.declaration.parameters))
            }
            "programs" if one.programs.is_none() => command.mut_arg(id, |arg| {
                arg.long("streams")
                    .alias("programs")
                    .value_name("STREAMS")
                    .help("Stop after this many streams of pins")
            }),
            // The folder that its tests use too.
            "out" => command.mut_arg(id, |arg| arg.default_value("failures")),
            id => command.mut_arg(id, |arg| named(arg, one.name)),
        };
    }
    command
}

/// Names the files of the one design `name` in the help of an option. Commands do not take its name.
fn named(arg: Arg, name: &str) -> Arg {
    let help = arg.get_help().map(ToString::to_string);
    match help.filter(|help| help.contains("UNIT")) {
        Some(help) => {
            let help = help.replace("`mutate UNIT ", "`mutate ");
            arg.help(help.replace("UNIT", name))
        }
        None => arg,
    }
}

/// Says which parameters there are.
fn of_parameters(arg: Arg, parameters: &[Parameter]) -> Arg {
    if parameters.is_empty() {
        return arg.hide(true);
    }
    let names: Vec<&str> = parameters.iter().map(|p| p.name).collect();
    let are = if names.len() == 1 { "is only" } else { "are" };
    arg.help(format!(
        "Parameter of RTL and golden model; may be repeated. There {are} {}",
        names.join(", ")
    ))
}

type Units = [&'static dyn Commands];

fn unit(units: &Units, name: &str) -> Result<&'static dyn Commands, Failure> {
    let found = units.iter().copied().find(|u| u.name() == name);
    found.ok_or_else(|| InputError::new(name, 0, "unit", unknown()).into())
}

/// Returns the commands of a unit that need programs.
fn programs(units: &Units, name: &str) -> Result<&'static dyn OfPrograms, Failure> {
    let why = || InputError::new(name, 0, "unit", "it runs no programs").into();
    unit(units, name)?.programs().ok_or_else(why)
}

fn dispatch(units: &Units, extras: &[Extra], command: &Command) -> Done {
    let (unit, programs) = (
        |name: &str| unit(units, name),
        |name: &str| programs(units, name),
    );
    match command {
        Command::Picture(PictureArgs { output, run }) => {
            let mut args = run.clone();
            args.show.picture = Some(output.clone());
            programs(&args.unit)?.run(&args)
        }
        Command::Step(args) => {
            let mut args = args.clone();
            args.show.step = true;
            programs(&args.unit)?.run(&args)
        }
        Command::Run(args) => programs(&args.unit)?.run(args),
        Command::Fuzz(args) if args.unit == "all" => campaigns::fuzz(units, args),
        Command::Fuzz(args) => campaigns::fuzz(&[unit(&args.unit)?], args),
        Command::Merge(args) => campaigns::merge(units, args),
        Command::Report(args) => campaigns::report(units, args),
        Command::Worker(args) => unit(&args.unit)?.worker(&args.cases),
        Command::Cover(args) => {
            cover::all(args, |name, gathered| unit(name)?.cover(args, gathered))
        }
        Command::Mutate(args) => mutate::command(args, |name| unit(name)?.mutate(args)),
        Command::Prove(args) => unit(&args.unit)?.prove(args),
        Command::Exhaust(args) => programs(&args.unit)?.exhaust(args),
        Command::Replay(args) => {
            let (text, file) = streams::read_text(&args.file)?;
            let (form, name) = saved::identify(&text, &file)?;
            let known = names().any(|known| known == name);
            if *form == saved::STREAM && !known {
                let why = format!(
                    "a stream of pins of design {name}: a test of that design runs it (reconverge::campaign::replay)"
                );
                return Err(InputError::new(&*file, 0, "reconverge", why).into());
            }
            if !known {
                let why = format!("{name:?} {}", unknown());
                return Err(InputError::new(&*file, 0, "unit", why).into());
            }
            match *form == saved::STREAM {
                true => unit(&name)?.replay_pins(&text, &file, args),
                false => programs(&name)?.replay(&text, &file, args),
            }
        }
        Command::Asm(args) => programs(&args.unit)?.asm(args),
        Command::Dis(args) => programs(&args.unit)?.dis(args),
        Command::Import(args) => programs(&args.unit)?.import(args),
        Command::New(args) => new::command(args),
        Command::Cache(args) => cache::command(args),
        Command::Doctor => doctor::command(),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            let mut line = command_line(extras);
            clap_complete::generate(*shell, &mut line, called(), &mut script);
            print(&String::from_utf8_lossy(&script))?;
            Ok(Status::Agreed)
        }
        Command::Man => {
            let mut page = Vec::new();
            let man = clap_mangen::Man::new(command_line(extras));
            man.render(&mut page)
                .map_err(|e| Failure::Other(e.to_string()))?;
            print(&String::from_utf8_lossy(&page))?;
            Ok(Status::Agreed)
        }
        Command::Explain(args) => programs(&args.unit)?.explain(args),
        Command::View(args) => unit(&args.unit)?.view(args),
    }
}

/// Options `NAME=VALUE` that may be repeated for other names, each with its field.
const NAMED: [(&str, &str); 2] = [("parameters", "--param"), ("bounds", "--bound")];

/// Returns an option of [`NAMED`] that gives a name twice, and that name.
fn given_twice(matches: &ArgMatches) -> Option<(&'static str, &str)> {
    NAMED.iter().find_map(|(id, flag)| {
        // As text, because the values of the commands have several types.
        let given = matches.try_get_raw(id).ok()??;
        let mut given = given.filter_map(|text| Some(text.to_str()?.split_once('=')?.0));
        let mut names = BTreeSet::new();
        let again = given.find(|name| !names.insert(*name));
        again.map(|name| (*flag, name))
    })
}

/// Parses the arguments. Also refuses an option that gives a name twice, of which one value would be ignored.
fn arguments(extras: &[Extra]) -> ArgMatches {
    let mut command = command_line(extras);
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
    matches
}

/// Runs the command that was given.
fn obey(units: &Units, extras: &[Extra], matches: &ArgMatches) -> Done {
    stop::files_may_be_limited().map_err(Failure::Other)?;
    if let Some((name, matches)) = matches.subcommand() {
        let extra = extras
            .iter()
            .find(|extra| (extra.command)().get_name() == name);
        if let Some(extra) = extra {
            return (extra.run)(matches);
        }
    }
    let command = Command::from_arg_matches(matches).unwrap_or_else(|e| e.exit());
    dispatch(units, extras, &command)
}

/// Runs the command that the arguments of this process name, for these designs, and reports the result.
///
/// # Panics
/// There is no guest.
pub fn main(guests: &[Guest]) -> ExitCode {
    assert!(
        !guests.is_empty(),
        "the command must have at least one guest"
    );
    let units: Vec<_> = guests.iter().map(|guest| guest.commands).collect();
    guests::know(units.iter().map(|unit| unit.known()).collect());
    let extras = guests.iter().flat_map(|guest| guest.extras.clone());
    let extras: Vec<Extra> = extras.collect();
    let matches = arguments(&extras);
    status(obey(&units, &extras, &matches))
}
