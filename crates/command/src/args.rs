//! Options that several commands share: the build of a unit, the number of workers, the end of a campaign.

use std::collections::BTreeMap;
use std::num::{IntErrorKind, NonZero};
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Duration;

use clap::{Args, ValueEnum};
use reconverge::assembly::Assembly as _;
use reconverge::campaign::{Limit, Shard};
use reconverge::case::{Case, Conditions, MAX_STEPS, Table};
use reconverge::compiled::Compiled;
use reconverge::design::{Build, Design};
use reconverge::input::InputError;
use reconverge::stream::MAX_CYCLES;
use reconverge::unit::LoadOptions;

use crate::console::Failure;
use crate::guests::unit_names_and_all;
use crate::load::load;
use crate::streams::read_text;
use crate::workers::LimitArgs;
use reconverge::quantity::{chance, count, stall};

pub fn seed(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err("the seed must be at least 1".to_owned()),
        seed => Ok(seed),
    }
}

/// Parses the number of cycles of a stream of pins.
pub fn stream_cycles(text: &str) -> Result<usize, String> {
    match count(text)? {
        n if (1..=MAX_CYCLES as u64).contains(&n) => Ok(n as usize),
        _ => Err(format!("a stream must have 1 to {MAX_CYCLES} cycles")),
    }
}

/// Returns the refusal of `--stream-cycles` for the design `name`, which runs programs.
pub fn no_streams(name: &str) -> InputError {
    let why =
        format!("{name} runs programs, whose lengths are their own: only streams of pins have one");
    InputError::option("--stream-cycles", why)
}

/// Returns what follows 0x in `text`.
fn hex_digits(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// Parses a number: decimal, or hexadecimal with 0x.
pub fn number(text: &str) -> Result<u64, String> {
    let parsed = match hex_digits(text) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|e| match e.kind() {
        IntErrorKind::PosOverflow => "too large".to_owned(),
        _ => format!("`{text}` is not a number, decimal or hexadecimal with 0x"),
    })
}

/// Parses `NAME=VALUE`.
pub fn parameter(text: &str) -> Result<(String, u32), String> {
    let (name, value) = text.split_once('=').ok_or("no =")?;
    let value = number(value)?.try_into().map_err(|_| "too large")?;
    Ok((name.to_owned(), value))
}

pub fn mask(text: &str) -> Result<u64, String> {
    u64::from_str_radix(hex_digits(text).unwrap_or(text), 16)
        .map_err(|e| format!("{e}; a lane mask is hexadecimal, bit i is lane i"))
}

/// Names a build of a unit by its lanes and parameters.
#[derive(Args)]
pub struct BuildArgs {
    /// {lanes:Number of lanes [default: the design's own]}
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
    /// Number of lanes [default: the design's own]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    lanes: Option<u32>,
    /// Parameter of RTL and golden model; may be repeated{r700:. r700: DX10_COUNT, MAX_STACK_SIZE, SUBENTRIES}{spa5:; spa5: BRX, CSM, DEPTH}
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u32)>,
    /// Lanes launched{r500: (r500: covered; r700: valid)}, hexadecimal, bit i is lane i [default: all]
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
    /// Returns the case of the program in the file `program`, read with `options`, on our own RTL, before [`Savable::check_input`](reconverge::saved::Savable::check_input).
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
        if let Some(name) = program.name().strip_prefix(&format!("{}.", U::NAME)) {
            let name = name.to_owned();
            program.rename(name);
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

    /// Returns the build of `D` that the options name.
    ///
    /// # Errors
    /// `D` does not have the parameter, or does not allow this value.
    pub fn build<D: Design>(&self) -> Result<Build, InputError> {
        let build = Build {
            lanes: self.lanes.unwrap_or(D::LANES),
            parameters: parameters::<D>(&self.parameters),
        };
        build.check::<D>("").map_err(InputError::in_option)?;
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

#[derive(Args, Clone)]
pub struct LoadArgs {
    /// {r500:r500: set JUMP_ANY in LOOP words, which Mesa leaves 0 (r500-O29)}
    #[arg(long)]
    pub safe_loops: bool,
    /// Program to take from a file that holds several, as listed by `import --list`
    #[arg(long, value_name = "WHICH", visible_alias = "kernel")]
    pub select: Option<String>,
}

#[derive(Args, Clone)]
pub struct PlaceArgs {
    /// Judge the RTL in this folder instead of the design's own. The folder holds a file list UNIT.f, and UNIT_probe.toml or design.toml
    #[arg(long, value_name = "DIR")]
    pub rtl: Option<PathBuf>,
    /// Build the RTL without its SystemVerilog assertions. By default {compiled:it}{linked:RTL of --rtl} is built with them, and a failed
    /// assertion fails the case{linked:; units of this program have them only in its debug builds}
    #[arg(long)]
    pub no_assert: bool,
    /// Folder for dumps, views and saved cases
    #[arg(long, value_name = "DIR", default_value = "waves")]
    pub out: PathBuf,
    /// Write dumps as FST instead of VCD, which takes less room
    #[arg(long)]
    pub fst: bool,
}

/// Which variants of a unit are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// The default build only
    None,
    /// One further build of each unit, which differs from the default in lanes and every parameter
    One,
    /// All further builds: each parameter at its limits; 1, 4, 33 and 64 lanes (r700: 1, 4, 16, 33)
    All,
}

#[derive(Args)]
pub struct FuzzArgs {
    /// Unit, or all
    #[arg(value_parser = unit_names_and_all())]
    pub unit: String,
    /// Campaign seed; never 0
    #[arg(long, default_value = "1", value_parser = seed)]
    pub seed: u64,
    /// Stop after this many programs, instead of --cycles
    #[arg(long, group = "limit", value_parser = count)]
    pub programs: Option<u64>,
    /// Stop after at least this many cycles, at the end of a chunk of {programs:256 programs}{both: or }{pins:16 streams} [default: 2000000]
    #[arg(long, visible_alias = "clocks", group = "limit", value_parser = count)]
    pub cycles: Option<u64>,
    /// Stop after about this many seconds, instead of --cycles. Such a campaign can neither be resumed nor divided into shards
    #[arg(long, group = "limit", conflicts_with_all = ["results", "shard"], value_parser = count)]
    pub seconds: Option<u64>,
    /// {pins:Cycles of a stream of pins; one in sixteen is long and has eight times as many [default: 500]}
    #[arg(long, value_name = "N", value_parser = stream_cycles)]
    pub stream_cycles: Option<usize>,
    /// Worker processes [default: one per processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub build: BuildArgs,
    /// {programs:Test builds with other lanes and parameters too, each for an eighth of the limit [default: one if the unit is
    /// `all` and neither --lanes nor --param is given, otherwise none]}
    #[arg(long, value_enum, value_name = "WHICH")]
    pub variants: Option<Which>,
    /// Print every statistic, also when there are several campaigns or one failed
    #[arg(short = 'v', long, visible_alias = "verbose")]
    pub details: bool,
    /// Do not stop at the first mismatch. Failures are grouped by the first field that differs and the rule, the largest
    /// group first
    #[arg(long)]
    pub keep_going: bool,
    /// Do not shrink the failing case; by default that of the first group is shrunk{programs:. (With --rtl and more than 4 lanes,
    /// shrinking builds the RTL once more, with 4 lanes)}
    #[arg(long)]
    pub no_shrink: bool,
    /// Keep results in this folder, so that the same command resumes where it was interrupted
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Run only this part of the campaign, e.g. 3/8: every 8th chunk of {programs:256 programs}{both: or }{pins:16 streams}, starting with
    /// the 3rd. It ends after 1/N of --cycles
    #[arg(long, value_name = "I/N", requires = "results")]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub summary: SummaryArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// What is written at the end of a campaign.
#[derive(Args)]
pub struct SummaryArgs {
    /// Write the summary as JSON; of several campaigns, a list of summaries
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the summary as JUnit XML: a suite for each campaign, a test for each kind of case and for each failure
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the summary as a page: what was met, and each failure{programs: to step through}, with the rule, the case and the
    /// command that runs it again. It needs no network and no server
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

#[derive(Args)]
pub struct MergeArgs {
    /// Folders of --results, or files in them
    #[arg(required = true, value_name = "DIR")]
    pub results: Vec<PathBuf>,
    /// Print every statistic, also when there are several campaigns or one failed
    #[arg(short = 'v', long, visible_alias = "verbose")]
    pub details: bool,
    #[command(flatten)]
    pub summary: SummaryArgs,
    /// Folder for the failed cases
    #[arg(long, value_name = "DIR", default_value = "waves")]
    pub out: PathBuf,
}

impl From<&LoadArgs> for LoadOptions {
    fn from(args: &LoadArgs) -> Self {
        LoadOptions {
            safe_loops: args.safe_loops,
            which: args.select.clone(),
            ..LoadOptions::default()
        }
    }
}

/// Returns the parameters in `given` that differ from the design's defaults.
pub fn parameters<D: Design>(given: &[(String, u32)]) -> BTreeMap<String, u32> {
    let is_default = |name: &str, value| {
        D::PARAMETERS
            .iter()
            .any(|p| p.name == name && p.default == value)
    };
    let differs = |(name, value): &&(String, u32)| !is_default(name, *value);
    given.iter().filter(differs).cloned().collect()
}

#[derive(Args)]
pub struct ReportArgs {
    /// Folders with results of campaigns, and the JSON files of `cover` and `mutate`; or such files
    #[arg(required = true, value_name = "DIR")]
    pub from: Vec<PathBuf>,
    /// The page
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Folder for the failed cases
    #[arg(long, value_name = "DIR", default_value = "waves")]
    pub out: PathBuf,
}
