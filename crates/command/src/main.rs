//! The `reconverge` command line: parse, call, print. Exit status 0 agreed, 1 mismatch, 2 bad input or usage, 3 anything else.

mod args;
mod cache;
mod convert;
mod cover;
mod doctor;
mod exhaust;
mod explain;
mod failures;
mod found;
mod fuzz;
mod junit;
mod merge;
mod mutate;
mod new;
mod options;
mod outcome;
mod play;
mod progress;
mod prove;
mod raster;
mod render;
mod report;
mod run;
mod show;
mod step;
mod stop;
mod streams;
mod summary;
mod variants;
mod workers;

use std::collections::BTreeSet;
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use args::{BuildArgs, CaseArgs};
use clap::builder::PossibleValuesParser;
use clap::builder::styling::{AnsiColor, Style};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use fuzz::{Campaign, Publish, Ran};
use reconverge::campaign::Shard;
use reconverge::compiled::Compiled;
use reconverge::design::Build;
use reconverge::dut;
use reconverge::input::{InputError, printable};
use reconverge::package;
use reconverge::quantity::count;
use streams::{all_writable, writable};
use variants::Which;
use workers::LimitArgs;

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

/// The text of `--version` after the name, which every bug report needs: version, sources, tools of the linked models.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut text = format!("{}\n", env!("CARGO_PKG_VERSION"));
    for (what, is) in [
        ("sources", package::SOURCES),
        ("commit", package::COMMIT.unwrap_or_default()),
        ("target", package::TARGET),
        ("built with", package::BUILT_WITH),
    ] {
        if !is.is_empty() {
            text += &format!("{what:<12}{is}\n");
        }
    }
    for (unit, contents) in package::linked() {
        text += &format!("RTL {unit:<8}{contents}\n");
    }
    text.truncate(text.trim_end().len());
    text
});

/// Returns the values that clap accepts as a unit.
fn unit_names() -> PossibleValuesParser {
    PossibleValuesParser::new(UNITS.iter().map(|u| u.name()))
}

fn unit_names_and_all() -> PossibleValuesParser {
    PossibleValuesParser::new(UNITS.iter().map(|u| u.name()).chain(["all"]))
}

fn seed(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err("0 is no seed; use 1 or more".to_owned()),
        seed => Ok(seed),
    }
}

/// Parses a number: decimal, or hexadecimal with 0x.
fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|e| e.to_string())
}

/// Parses `NAME=VALUE`.
fn parameter(text: &str) -> Result<(String, u32), String> {
    let (name, value) = text.split_once('=').ok_or("no =")?;
    let value = number(value)?.try_into().map_err(|_| "too large")?;
    Ok((name.to_owned(), value))
}

fn mask(text: &str) -> Result<u64, String> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    u64::from_str_radix(digits, 16)
        .map_err(|e| format!("{e}; a lane mask is hexadecimal, bit i is lane i"))
}

#[derive(Args, Clone)]
struct RunArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    unit: String,
    /// Program: assembly, hex, or a compiler's output, recognised by content; `-`: standard input, here and wherever a
    /// file is read. Where a file is written `-` is standard output, and all else is told on standard error
    program: PathBuf,
    #[command(flatten)]
    case: CaseArgs,
    /// Write a trace: a line of JSON for each executed instruction
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a VCD and a GTKWave view even if nothing differs
    #[arg(long)]
    wave: bool,
    /// Flip one bit of the expected state, to see what a mismatch looks like: FIELD[ELEMENT].BIT@CYCLE, such as pc@5; the fields
    /// are those of the report, element and bit are 0 if left out
    #[arg(long, value_name = "WHERE")]
    flip: Option<String>,
    /// Write how the run ended, and of a failure where and why, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    show: show::ShowArgs,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(Args)]
struct PictureArgs {
    /// The picture, SVG or PNG by its ending
    #[arg(short, long, value_name = "FILE", conflicts_with = "picture")]
    output: PathBuf,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Args, Clone)]
struct LoadArgs {
    /// r500: set JUMP_ANY in LOOP words, which Mesa leaves 0 (r500-O29)
    #[arg(long)]
    safe_loops: bool,
    /// Program to take from a file that holds several, as listed by `import --list`
    #[arg(long, value_name = "WHICH", visible_alias = "kernel")]
    select: Option<String>,
}

#[derive(Args, Clone)]
struct PlaceArgs {
    /// Judge the RTL in this folder instead of ours; it holds a file list UNIT.f and UNIT_probe.toml or design.toml
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
    /// Build the RTL without its SystemVerilog assertions. By default RTL of --rtl is built with them, and a failed
    /// assertion fails the case; our own RTL has them only in debug builds of this program
    #[arg(long)]
    no_assert: bool,
    /// Folder for dumps, views and saved cases
    #[arg(long, value_name = "DIR", default_value = "waves")]
    out: PathBuf,
    /// Write dumps as FST instead of VCD, which takes less room
    #[arg(long)]
    fst: bool,
}

#[derive(Args)]
struct FuzzArgs {
    /// Unit, or all
    #[arg(value_parser = unit_names_and_all())]
    unit: String,
    /// Campaign seed; never 0
    #[arg(long, default_value = "1", value_parser = seed)]
    seed: u64,
    /// Stop after this many programs, instead of --cycles
    #[arg(long, group = "limit", value_parser = count)]
    programs: Option<u64>,
    /// Stop after at least this many cycles, at the end of a chunk of 256 programs [default: 2000000]
    #[arg(long, visible_alias = "clocks", group = "limit", value_parser = count)]
    cycles: Option<u64>,
    /// Stop after about this many seconds, instead of --cycles. Such a campaign can neither be resumed nor divided into shards
    #[arg(long, group = "limit", conflicts_with_all = ["results", "shard"], value_parser = count)]
    seconds: Option<u64>,
    /// Worker processes [default: one per processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    build: BuildArgs,
    /// Test builds with other lanes and parameters too, each for an eighth of the limit [default: one if the unit is
    /// `all` and neither --lanes nor --param is given, otherwise none]
    #[arg(long, value_enum, value_name = "WHICH")]
    variants: Option<Which>,
    /// Print every statistic, also when there are several campaigns or one failed
    #[arg(short = 'v', long, visible_alias = "verbose")]
    details: bool,
    /// Do not stop at the first mismatch. Failures are grouped by the first field that differs and the rule, the largest
    /// group first
    #[arg(long)]
    keep_going: bool,
    /// Do not shrink the failing case; by default that of the first group is shrunk. (With --rtl and more than 4 lanes,
    /// shrinking builds the RTL once more, with 4 lanes)
    #[arg(long)]
    no_shrink: bool,
    /// Keep results in this folder, so that the same command resumes where it was interrupted
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Run only this part of the campaign, e.g. 3/8: every 8th chunk of 256 programs, starting with the 3rd. It ends after
    /// 1/N of --cycles
    #[arg(long, value_name = "I/N", requires = "results")]
    shard: Option<Shard>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    summary: SummaryArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

/// What is written at the end of a campaign.
#[derive(Args)]
struct SummaryArgs {
    /// Write the summary as JSON; of several campaigns, a list of summaries
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the summary as JUnit XML: a suite for each campaign, a test for each kind of program and for each failure
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the summary as a page: what was met, and each failure to step through, with the rule, the program and the
    /// command that runs it again. It needs no network and no server
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

#[derive(Args)]
struct MergeArgs {
    /// Folders of --results, or files in them
    #[arg(required = true, value_name = "DIR")]
    results: Vec<PathBuf>,
    /// Print every statistic, also when there are several campaigns or one failed
    #[arg(short = 'v', long, visible_alias = "verbose")]
    details: bool,
    #[command(flatten)]
    summary: SummaryArgs,
    /// Folder for the failed cases
    #[arg(long, value_name = "DIR", default_value = "waves")]
    out: PathBuf,
}

#[derive(Args)]
struct WorkerArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    unit: String,
}

#[derive(Args)]
struct ReplayArgs {
    /// A saved case or stream of pins
    file: PathBuf,
    /// Shrink the case, save the smaller one as NAME.shrunk.json and its program as NAME.shrunk.s, and report that one
    #[arg(long)]
    shrink: bool,
    /// Write how the run ended, and of a failure where and why, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    show: show::ShowArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(Args)]
struct AsmArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    unit: String,
    /// Program
    program: PathBuf,
    /// Write here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Args)]
struct ImportArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    unit: String,
    /// Compiler or driver output
    program: PathBuf,
    /// List the programs in the file
    #[arg(long)]
    list: bool,
    /// Write words, one instruction a line, instead of assembly
    #[arg(long)]
    hex: bool,
    #[command(flatten)]
    load: LoadArgs,
    /// Write here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Args)]
struct ViewArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    unit: String,
    /// Dump to open; the view beside it is used, or written if there is none
    dump: Option<PathBuf>,
    /// Open the dump in GTKWave
    #[arg(long, requires = "dump")]
    open: bool,
    /// Lanes of a view without a dump [default: the unit's own]; a dump says its own
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    lanes: Option<u32>,
}

/// Set when a failure of the RTL is known.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Records that a failure of the RTL is known: the exit status is 1, even if nothing of it can be printed or written.
fn failed() {
    FAILED.store(true, Ordering::Relaxed);
}

/// Whether RTL and models agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreed {
    Yes,
    No,
}

/// Why a command could not do its work.
#[derive(Debug)]
enum Failure {
    /// Exit status 2.
    Input(InputError),
    /// Exit status 3.
    Other(String),
}

impl From<InputError> for Failure {
    fn from(e: InputError) -> Self {
        match e.is_of_the_machine() {
            false => Failure::Input(e),
            true => Failure::Other(e.to_string()),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Input(e) => e.fmt(f),
            Failure::Other(message) => f.write_str(message),
        }
    }
}

impl From<String> for Failure {
    fn from(e: String) -> Self {
        Failure::Other(e)
    }
}

impl Failure {
    /// Returns the failure for a missing model of the RTL in `dir`, or of our own.
    fn unbuilt(e: &dut::Error, dir: Option<&Path>) -> Self {
        match e.as_input(dir) {
            Some(bad) => Failure::Input(bad),
            None => Failure::Other(e.to_string()),
        }
    }
}

type Done = Result<Agreed, Failure>;

/// The commands of one unit.
trait Commands: Sync {
    fn name(&self) -> &'static str;
    fn run(&self, args: &RunArgs) -> Done;
    fn fuzz(&self, args: &FuzzArgs, campaign: Campaign, publish: Publish) -> Result<Ran, Failure>;
    fn variants(&self) -> Vec<Build>;
    fn prepare(&self, place: &PlaceArgs, build: &Build) -> Result<(), Failure>;
    fn merge(&self, files: &[PathBuf], args: &MergeArgs, row: bool) -> Result<Ran, Failure>;
    fn report(&self, files: &[PathBuf], args: &report::ReportArgs)
    -> Result<report::Part, Failure>;
    fn worker(&self) -> Done;
    fn cover(&self, args: &cover::CoverArgs, gathered: &mut cover::Gathered) -> Done;
    fn mutate(&self, args: &mutate::MutateArgs) -> mutate::Mutated;
    fn prove(&self, args: &prove::ProveArgs) -> Done;
    fn exhaust(&self, args: &exhaust::ExhaustArgs) -> Done;
    fn play(&self, text: &str, file: &str, args: &ReplayArgs) -> Done;
    fn replay(&self, text: &str, file: &str, args: &ReplayArgs) -> Done;
    fn asm(&self, args: &AsmArgs) -> Done;
    fn dis(&self, args: &AsmArgs) -> Done;
    fn recognises(&self, bytes: &[u8]) -> Option<(String, bool)>;
    fn reads(&self, bytes: &[u8], file: &str) -> bool;
    fn import(&self, args: &ImportArgs) -> Done;
    fn explain(&self, args: &explain::ExplainArgs) -> Done;
    fn view(&self, args: &ViewArgs) -> Done;
}

struct For<U>(PhantomData<fn() -> U>);

impl<U: Compiled> Commands for For<U> {
    fn name(&self) -> &'static str {
        U::NAME
    }
    fn run(&self, args: &RunArgs) -> Done {
        run::run::<U>(args)
    }
    fn fuzz(&self, args: &FuzzArgs, campaign: Campaign, publish: Publish) -> Result<Ran, Failure> {
        fuzz::fuzz::<U>(args, campaign, publish)
    }
    fn variants(&self) -> Vec<Build> {
        U::VARIANTS.iter().map(Build::from).collect()
    }
    fn prepare(&self, place: &PlaceArgs, build: &Build) -> Result<(), Failure> {
        fuzz::prepare::<U>(place, build)
    }
    fn merge(&self, files: &[PathBuf], args: &MergeArgs, row: bool) -> Result<Ran, Failure> {
        merge::unit::<U>(files, args, row)
    }
    fn report(
        &self,
        files: &[PathBuf],
        args: &report::ReportArgs,
    ) -> Result<report::Part, Failure> {
        merge::report::<U>(files, args)
    }
    fn worker(&self) -> Done {
        workers::work::<U>()
    }
    fn cover(&self, args: &cover::CoverArgs, gathered: &mut cover::Gathered) -> Done {
        cover::cover::<U>(args, gathered)
    }
    fn mutate(&self, args: &mutate::MutateArgs) -> mutate::Mutated {
        mutate::mutate::<U>(args)
    }
    fn prove(&self, args: &prove::ProveArgs) -> Done {
        prove::prove::<U>(args)
    }
    fn exhaust(&self, args: &exhaust::ExhaustArgs) -> Done {
        exhaust::exhaust::<U>(args)
    }
    fn play(&self, text: &str, file: &str, args: &ReplayArgs) -> Done {
        play::replay::<U>(text, file, args)
    }
    fn replay(&self, text: &str, file: &str, args: &ReplayArgs) -> Done {
        run::replay::<U>(text, file, args)
    }
    fn asm(&self, args: &AsmArgs) -> Done {
        convert::asm::<U>(args)
    }
    fn dis(&self, args: &AsmArgs) -> Done {
        convert::dis::<U>(args)
    }
    fn recognises(&self, bytes: &[u8]) -> Option<(String, bool)> {
        U::recognises(bytes)
    }
    fn reads(&self, bytes: &[u8], file: &str) -> bool {
        U::load(bytes, file, &reconverge::unit::LoadOptions::default()).is_ok()
    }
    fn import(&self, args: &ImportArgs) -> Done {
        convert::import::<U>(args)
    }
    fn explain(&self, args: &explain::ExplainArgs) -> Done {
        explain::explain::<U>(args)
    }
    fn view(&self, args: &ViewArgs) -> Done {
        convert::view::<U>(args)
    }
}

macro_rules! commands {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        static UNITS: &[&dyn Commands] = &[$(&For::<reconverge::$module::$unit>(PhantomData)),+];
    };
}
reconverge::for_each_unit!(commands);

fn unit(name: &str) -> Result<&'static dyn Commands, Failure> {
    UNITS
        .iter()
        .copied()
        .find(|u| u.name() == name)
        .ok_or_else(|| InputError::new(name, 0, "unit", "there is no such unit").into())
}

/// Prints to standard output, or to standard error if standard output is a requested file; a reader that has gone away is not
/// an error.
///
/// Control characters for the terminal are escaped, as in [`complain`].
fn print(text: &str) -> Result<(), Failure> {
    print_styled(&printable(text))
}

/// Does the same as [`print`], for text that needs no escapes and may have colours.
fn print_styled(text: &str) -> Result<(), Failure> {
    let mut out = streams::told();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    Ok(streams::ignoring_readers(written)?)
}

/// Colour of `error:`. As all colours, only on a terminal, and not with `NO_COLOR`.
const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
/// Colour of `warning:`.
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Prints a line to standard error; a reader that has gone away is not an error.
///
/// Control characters for the terminal are escaped, because names and text from files are printed in this way.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(text));
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        let warning = printable(warning);
        let _ = writeln!(anstream::stderr(), "{WARNING}warning:{WARNING:#} {warning}");
    }
}

/// Returns the name by which this program was called, for commands that the user may repeat.
fn program() -> String {
    std::env::args()
        .next()
        .unwrap_or_else(|| "reconverge".to_owned())
}

/// Returns the folder that contains `path`.
fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|d| !d.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

fn dispatch(command: &Command) -> Done {
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
        Command::Fuzz(args) if args.unit == "all" => fuzz::units(UNITS, args),
        Command::Fuzz(args) => fuzz::units(&[unit(&args.unit)?], args),
        Command::Merge(args) => merge::merge(UNITS, args),
        Command::Report(args) => report::command(args),
        Command::Worker(args) => unit(&args.unit)?.worker(),
        Command::Cover(args) => cover::all(args),
        Command::Render(args) => render::render(args),
        Command::Mutate(args) => mutate::command(args),
        Command::Prove(args) => prove::command(args),
        Command::Exhaust(args) => exhaust::command(args),
        Command::Replay(args) => {
            let (text, file) = streams::read_text(&args.file)?;
            // A stream of pins of another design belongs to a test of that design: the message below.
            let design = reconverge::stream::design_of_stream(&text);
            let unit = design.and_then(|name| UNITS.iter().find(|u| u.name() == name));
            if let Some(unit) = unit {
                return unit.play(&text, &file, args);
            }
            let name = reconverge::case::unit_of_case(&text, &file)?;
            let unit = UNITS.iter().find(|u| u.name() == name).ok_or_else(|| {
                let known: Vec<_> = UNITS.iter().map(|u| u.name()).collect();
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

/// Ends a command that has a result, and perhaps a reason why the result is incomplete. The exit status reports a failure,
/// whatever other errors there are.
fn ends(agreed: Agreed, trouble: Option<Failure>) -> Done {
    match (agreed, trouble) {
        (Agreed::No, Some(why)) => {
            tell(&why);
            Ok(Agreed::No)
        }
        (Agreed::Yes, Some(why)) => Err(why),
        (agreed, None) => Ok(agreed),
    }
}

/// Prints why a command could not do its work; returns the exit status.
fn tell(failure: &Failure) -> u8 {
    match failure {
        Failure::Input(e) => {
            for e in std::iter::once(e).chain(e.others()) {
                // The first line is the whole message; the lines below show the place.
                let snippet = e.snippet().map_or_else(String::new, |s| s + "\n");
                let _ = write!(anstream::stderr(), "{ERROR}error:{ERROR:#} {e}\n{snippet}");
            }
            2
        }
        Failure::Other(message) => {
            let _ = writeln!(
                anstream::stderr(),
                "{ERROR}error:{ERROR:#} {}",
                printable(message)
            );
            3
        }
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

/// Parses the arguments, runs the command, and reports the result.
fn main() -> ExitCode {
    let cli = arguments();
    let ready = stop::files_may_be_limited().map_err(Failure::Other);
    match ready.and_then(|()| dispatch(&cli.command)) {
        Ok(Agreed::Yes) => ExitCode::SUCCESS,
        Ok(Agreed::No) => ExitCode::from(1),
        Err(failure) => match tell(&failure) {
            3 if FAILED.load(Ordering::Relaxed) => ExitCode::from(1),
            status => ExitCode::from(status),
        },
    }
}
