//! `mutate`.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::{Args, ValueEnum};
use reconverge::design::Design as _;
use reconverge::input::relative;
use reconverge::mutate::{self, Family, Mutants, Options};
use reconverge::wave;
use reconverge::worker::Ordered;
use serde_json::Value;

use crate::args::{BuildArgs, PlaceArgs, seed, workers};
use crate::console::{Done, Failure, Status, ends, print};
use crate::guests::{names, unit_names_and_all};
use crate::progress::{Counter, Ticker};
use crate::rtl::{absolute, warn_if_changed};
use crate::stop::Trouble;
use crate::streams::all_writable;
use crate::workers::{Isolated, LimitArgs};
use crate::{stop, streams};
use reconverge::quantity::count;

/// Cycles for one mutant by default.
const DEFAULT_CYCLES: u64 = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Families {
    /// Mutants of the netlist that Yosys makes of the RTL
    Netlist,
    /// Mutants of the SystemVerilog text
    Source,
    /// Both
    All,
}

#[derive(Args)]
pub struct MutateArgs {
    /// Unit, or all
    #[arg(value_parser = unit_names_and_all())]
    unit: String,
    /// What is mutated
    #[arg(long, value_enum, default_value = "all")]
    family: Families,
    /// Number of mutants of each family [default: 1000 of a netlist, all of the text]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: Option<u32>,
    /// Seed of the choice of mutants and of the campaign that judges them; never 0
    #[arg(long, default_value = "1", value_parser = seed)]
    seed: u64,
    /// Cycles that the campaign may take for one mutant
    #[arg(long, visible_alias = "clocks", default_value_t = DEFAULT_CYCLES, value_parser = count)]
    cycles: u64,
    /// Worker threads [default: one per processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    build: BuildArgs,
    /// Judge only the mutants with these numbers, of those that --count and --seed choose
    #[arg(long, value_name = "N", value_delimiter = ',')]
    only: Vec<u32>,
    /// Write the verdicts as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

/// The result for one unit: whether no mutant was left open, the values for `--json`, and why it is incomplete.
pub type Mutated = Result<(Status, Vec<Value>, Option<Failure>), Failure>;

impl From<mutate::Trouble> for Failure {
    fn from(trouble: mutate::Trouble) -> Self {
        match trouble {
            mutate::Trouble::Input(e) => Failure::Input(e),
            mutate::Trouble::Fails(e) => {
                crate::console::failed();
                Failure::Other(e)
            }
            mutate::Trouble::Other(e) => Failure::Other(e),
        }
    }
}

/// Runs the whole command; `mutate` judges the mutants of the unit with this name.
pub fn command(args: &MutateArgs, mutate: impl Fn(&str) -> Mutated) -> Done {
    all_writable([("--json", &args.json)])?;
    let units = match args.unit.as_str() {
        "all" => names().collect(),
        name => vec![name],
    };
    let (mut status, mut trouble) = (Status::Agreed, None);
    let mut runs = Vec::new();
    for unit in units {
        let (one, mut more, cut) = match mutate(unit) {
            Ok(mutated) => mutated,
            Err(why) if runs.is_empty() => return Err(why),
            // The verdicts of the units before this one are kept.
            Err(why) => {
                trouble = Some(why);
                break;
            }
        };
        if one == Status::Failed {
            status = Status::Failed;
        }
        runs.append(&mut more);
        trouble = cut;
        if trouble.is_some() {
            break;
        }
    }
    if let Some(path) = &args.json {
        streams::write_whole(path, &format!("{:#}\n", Value::Array(runs)))?;
    }
    ends(status, trouble)
}

pub fn mutate<C: Ordered>(args: &MutateArgs) -> Mutated {
    let build = args.build.build::<C::Design>()?;
    let families: &[Family] = match args.family {
        Families::Netlist => &[Family::Netlist],
        Families::Source => &[Family::Source],
        Families::All => &[Family::Source, Family::Netlist],
    };
    let mut status = Status::Agreed;
    let mut runs = Vec::new();
    let (mut interrupted, mut trouble) = (false, None);
    for &family in families {
        let options = Options {
            family,
            count: args.count.map(|n| n as usize),
            seed: args.seed,
            cycles: args.cycles,
            jobs: workers(args.jobs),
            only: args.only.clone(),
            rtl: args.place.rtl.as_deref().map(absolute),
            assertions: args.place.make::<C::Design>().assertions,
            out: args.place.out.clone(),
        };
        if options.rtl.is_none() {
            warn_if_changed::<C::Design>();
        }
        let made = {
            let (options, build) = (options.clone(), build.clone());
            let mut ticker = Ticker::new();
            stop::unless_asked(
                move || Mutants::<C::Design>::make(&options, &build),
                || ticker.tick(|| format!("building the mutants of {}", C::Design::NAME)),
            )
        };
        let mutants = match made {
            Ok(Ok(mutants)) => mutants,
            Ok(Err(why)) if runs.is_empty() => return Err(why.into()),
            Err(trouble) if runs.is_empty() => return Err(trouble.into()),
            // The verdicts of the other family are kept.
            Ok(Err(why)) => {
                trouble = Some(why.into());
                break;
            }
            Err(Trouble::Interrupted) => {
                interrupted = true;
                break;
            }
            Err(Trouble::Other(why)) => {
                trouble = Some(Failure::Other(why));
                break;
            }
        };
        let name = format!("{}.{}", C::Design::NAME, family.name());
        let counter = Counter::new(&name, "mutants");
        let stop = stop::asked()?;
        // One worker for each thread that judges.
        let idle: Mutex<Vec<Isolated<C>>> = Mutex::default();
        let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let hunter = |number, hunt, budget| {
            let worker = lock().pop();
            let mut worker = match worker {
                Some(worker) => worker,
                None => Isolated::new(mutants.rtl(), args.limits)?,
            };
            let hunted = worker.hunt(number, args.seed, hunt, budget);
            lock().push(worker);
            hunted.map_err(Trouble::why)
        };
        let summary = mutants.judge(&options, &hunter, stop, |done, of| {
            counter.tell(done, of, None);
        })?;
        drop(counter);
        let lines = summary.dir.join("lines.txt");
        wave::write_whole(&lines, &summary.lines())?;
        print(&summary.to_string())?;
        print(&format!(
            "  by line         {}\n",
            relative(&lines).display()
        ))?;
        interrupted = summary.judged.len() < summary.wanted;
        // A referee that was interrupted does not count as missing.
        if let Some(why) = mutants.no_referee().filter(|_| !interrupted) {
            print(&format!("  no referee      {why}\n"))?;
        }
        if summary.counts().open() > 0 {
            crate::console::failed();
            status = Status::Failed;
        }
        runs.push(summary.to_json());
        if interrupted {
            break;
        }
    }
    let why = "interrupted: the mutants that were judged until then were counted";
    let interrupted = interrupted.then(|| Failure::Other(why.to_owned()));
    Ok((status, runs, trouble.or(interrupted)))
}
