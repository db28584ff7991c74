//! `cover`.

use std::path::PathBuf;

use clap::Args;
use indicatif::HumanCount;
use reconverge::campaign::NOT_PRELOADED;
use reconverge::campaign::{Limit, Shard};
use reconverge::cover::lcov::RtlCoverage;
use reconverge::cover::run::Options;
use reconverge::cover::{
    Bins as _, FailedRun, Hits, Ran, SavedCoverage, Totals, UnitCoverage, page,
};
use reconverge::design::Design;
use reconverge::input::InputError;
use reconverge::stream::CYCLES;

use crate::args::{BuildArgs, PlaceArgs, limit, no_streams, seed, stream_cycles, workers};
use crate::console::{Done, Failure, Status, complain, ends, print};
use crate::found;
use crate::guests::{names, unit_names_and_all, unknown};
use crate::progress::{Lines, bar, position};
use crate::rtl::{absolute, counting_rtl, rtl, usual_rtl};
use crate::shows::{Shows, rule_id};
use crate::streams::{self, all_writable, write_whole};
use crate::workers::{Isolated, LimitArgs};
use reconverge::quantity::{count, counted};

/// Cycles of a run of programs without a limit: with the default seed, enough to hit every bin that can be hit.
const OF_PROGRAMS: u64 = 20_000_000;
/// The same of streams of pins.
const OF_STREAMS: u64 = 2_000_000;

#[derive(Args)]
pub struct CoverArgs {
    /// Unit, or all
    #[arg(value_parser = unit_names_and_all())]
    pub unit: String,
    /// Campaign seed; never 0
    #[arg(long, default_value = "1", value_parser = seed)]
    pub seed: u64,
    /// Stop after this many programs
    #[arg(long, group = "limit", value_parser = count)]
    pub programs: Option<u64>,
    /// Stop after at least this many cycles [default: {programs:20000000}{both: of programs, }{pins:2000000}{both: of streams}]
    #[arg(long, visible_alias = "clocks", group = "limit", value_parser = count)]
    pub cycles: Option<u64>,
    /// Stop after about this many seconds
    #[arg(long, group = "limit", value_parser = count)]
    pub seconds: Option<u64>,
    /// {pins:Cycles of a stream of pins; one in sixteen is long and has eight times as many [default: 500]}
    #[arg(long, value_name = "N", value_parser = stream_cycles)]
    pub stream_cycles: Option<usize>,
    /// Worker threads [default: one per processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub build: BuildArgs,
    /// {programs:Spend half of the cycles on new cases, made from cases that came close to a missed or rare bin}
    #[arg(long)]
    pub guided: bool,
    /// Add the counts in these files. Without a limit no case is run then
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub merge: Vec<PathBuf>,
    /// Fail (exit status 1) if a reachable bin was not hit
    #[arg(long)]
    pub require_all: bool,
    /// Write every bin with its count as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Measure line, branch and toggle coverage of the RTL too, and write it in lcov's format
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// The results of the units' parts of the command, for its end.
#[derive(Default)]
pub struct Gathered {
    merged: Vec<(String, SavedCoverage)>,
    units: Vec<UnitCoverage>,
    rtl: RtlCoverage,
    /// The process was told to end.
    interrupted: bool,
    /// Why the last unit was not covered.
    trouble: Option<Failure>,
}

impl CoverArgs {
    fn limit(&self) -> Option<Limit> {
        limit(self.programs, self.cycles, self.seconds)
    }

    /// Returns the limit of the run, without a limit `cycles`; `None` if there is no run.
    fn run(&self, cycles: u64) -> Option<Limit> {
        let default = self.merge.is_empty().then_some(Limit::Cycles(cycles));
        self.limit().or(default)
    }
}

/// Runs the whole command: every requested unit, then the files.
///
/// `cover` covers the unit with this name.
pub fn all(
    args: &CoverArgs,
    cover: impl Fn(&str, &mut Gathered) -> Result<Status, Failure>,
) -> Done {
    all_writable([
        ("--json", &args.json),
        ("--html", &args.html),
        ("--lcov", &args.lcov),
    ])?;
    let needs_a_run = [("--lcov", args.lcov.is_some()), ("--guided", args.guided)];
    if let Some((option, _)) = needs_a_run.iter().find(|(_, given)| *given)
        && args.run(0).is_none()
    {
        let why = "nothing is run: give --programs, --cycles or --seconds";
        return Err(InputError::option(*option, why).into());
    }
    let mut gathered = Gathered::default();
    for path in &args.merge {
        let (text, file) = streams::read_text(path)?;
        let saved = SavedCoverage::parse(&text, &file)?;
        let known: Vec<&str> = names().collect();
        let held = |name: &str| saved.units.iter().any(|u| u.unit == name);
        let mut units = saved.units.iter();
        if let Some(unit) = units.find(|u| !known.contains(&u.unit.as_str())) {
            let why = format!("{:?} {}", unit.unit, unknown());
            return Err(InputError::new(file, 0, "unit", why).into());
        }
        if args.unit != "all" && !held(&args.unit) {
            let units: Vec<&str> = saved.units.iter().map(|u| u.unit.as_str()).collect();
            let why = format!("nothing of {}; it holds {}", args.unit, units.join(", "));
            return Err(InputError::new(file, 0, "unit", why).into());
        }
        gathered.merged.push((file, saved));
    }
    let asked = |name: &&str| args.unit == "all" || *name == args.unit;
    let mut status = Status::Agreed;
    for name in names().filter(asked) {
        match cover(name, &mut gathered) {
            Ok(Status::Agreed) => {}
            Ok(Status::Failed) => status = Status::Failed,
            Err(why) if gathered.units.is_empty() => return Err(why),
            // The coverage of the units before this one is kept.
            Err(why) => gathered.trouble = Some(why),
        }
        if gathered.interrupted || gathered.trouble.is_some() {
            break;
        }
    }
    if let Some(path) = &args.html {
        write_whole(path, &page(&gathered.units))?;
    }
    if let Some(path) = &args.json {
        write_whole(path, &SavedCoverage::new(gathered.units).to_text())?;
    }
    if let Some(path) = &args.lcov {
        write_whole(path, &gathered.rtl.to_lcov())?;
    }
    let why = "interrupted: what was covered until then was counted";
    let interrupted = gathered.interrupted;
    let interrupted = interrupted.then(|| Failure::Other(why.to_owned()));
    ends(status, gathered.trouble.or(interrupted))
}

/// Refuses counts that were read from `file` and do not say of which runs they are: of any RTL, and perhaps counted already.
fn of_runs(unit: &UnitCoverage, file: &str) -> Result<(), InputError> {
    if !unit.runs.is_empty() {
        return Ok(());
    }
    let why = "empty: it does not say which RTL was covered; measure again with `cover --json`";
    Err(InputError::new(file, 0, "runs", why))
}

/// Refuses runs from files that are of other RTL than what the command names, where nothing is run.
fn of_this_rtl<D: Design>(runs: &[Ran], args: &CoverArgs) -> Result<(), Failure> {
    let (rtl, name) = match &args.place.rtl {
        Some(dir) => {
            let rtl = rtl::<D>(&args.place, args.build.build::<D>()?)?;
            (rtl, dir.display().to_string())
        }
        // Its files are the same for every build: none has to be made.
        None => (usual_rtl::<D>()?, "our own RTL".to_owned()),
    };
    let Some(other) = runs.iter().find(|run| run.rtl != rtl.contents()) else {
        return Ok(());
    };
    let why = format!(
        "{}, but {name} has {}; --rtl DIR names the RTL that was covered",
        other.rtl,
        rtl.contents()
    );
    Err(InputError::new(&other.from, 0, "runs.rtl", why).into())
}

/// Refuses runs from files whose counts must not be added to those of `this` run.
fn of_another_run(runs: &[Ran], this: &Ran) -> Result<(), InputError> {
    let clash = |run: &Ran| Some((run.from.clone(), run.clash(this)?));
    match runs.iter().find_map(clash) {
        None => Ok(()),
        Some((file, ("runs.seed", why))) => {
            let why = format!("{why}; give another --seed");
            Err(InputError::new(file, 0, "runs.seed", why))
        }
        Some((file, (field, why))) => Err(InputError::new(file, 0, field, why)),
    }
}

/// Returns what a coverage file says of the failure of this run.
fn failed_run<C: Shows>(
    failure: &reconverge::failure::Failure<C>,
    saved: &found::SavedFile,
) -> FailedRun {
    let rule = failure.rule();
    FailedRun {
        run: failure.case.name(),
        failure: failure.place(),
        message: failure.message(),
        rule: rule.as_deref().and_then(rule_id::<C>).map(str::to_owned),
        saved: found::name_of(saved),
    }
}

/// Runs the command for one unit.
pub fn cover<C: Shows>(args: &CoverArgs, gathered: &mut Gathered) -> Done {
    let name = C::Design::NAME;
    if args.guided && !C::EXECUTES {
        let why =
            format!("{name} runs no programs: a guided run makes new ones of their instructions");
        return Err(InputError::option("--guided", why).into());
    }
    if C::EXECUTES && args.stream_cycles.is_some() {
        return Err(no_streams(name).into());
    }
    let run = args.run(if C::EXECUTES { OF_PROGRAMS } else { OF_STREAMS });
    let build = args.build.build::<C::Design>()?;
    let bins = C::Bins::new(&build);
    let bins = bins.declaration();
    let named = |hits: &Hits, totals| bins.named(name, &build, hits, totals);
    let mut coverage = named(&bins.no_hits(), Totals::default());
    let mut files = 0;
    for (file, saved) in &gathered.merged {
        for unit in saved.units.iter().filter(|u| u.unit == name) {
            coverage.merge(unit, file)?;
            of_runs(unit, file)?;
            files += 1;
        }
    }
    if files > 0 && run.is_none() {
        of_this_rtl::<C::Design>(&coverage.runs, args)?;
    }
    let failed_before = coverage.failures.len();
    let mut text = String::new();
    let mut status = Status::Agreed;
    let (mut failed, mut interrupted) = (None, false);
    if let Some(limit) = run {
        let options = Options {
            seed: args.seed,
            limit,
            guided: args.guided,
            jobs: workers(args.jobs),
            cycles: args.stream_cycles.unwrap_or(CYCLES),
            careful: None,
        };
        let dir = args.place.rtl.as_deref();
        let model_of_rtl = if args.lcov.is_some() {
            counting_rtl::<C::Design>(&args.place, build.clone())?
        } else {
            rtl::<C::Design>(&args.place, build.clone())?
        };
        let mut this = options.ran(&model_of_rtl);
        of_another_run(&coverage.runs, &this)?;
        let bar = bar(limit, Shard::default()).map(|b| b.with_prefix(name));
        let (started, mut lines) = (std::time::Instant::now(), Lines::new());
        let mut rtl = Isolated::<C>::new(&model_of_rtl, args.limits)?;
        let covered = rtl.cover(&options, |programs, cycles, hit| {
            if let Some(bar) = &bar {
                bar.set_position(position(limit, programs, cycles, started));
                bar.set_message(format!("{hit} of {} bins", bins.reachable()));
            }
            let [programs, cycles] = [(programs, C::NOUN), (cycles, "cycle")]
                .map(|(n, noun)| counted(HumanCount(n), noun));
            lines.tell(|| {
                let all = bins.reachable();
                format!("{name}: {programs}, {cycles}, {hit} of {all} bins")
            });
        })?;
        if let Some(bar) = &bar {
            bar.finish_and_clear();
        }
        interrupted = rtl.stopped();
        let Some(covered) = covered else {
            return Err(Failure::Other(format!("{name}: interrupted")));
        };
        let mut ran = named(&covered.hits, covered.totals);
        this.cycles = covered.compared;
        if C::EXECUTES && !model_of_rtl.preloads() {
            text += &format!(
                "  {:<18}cases that begin in a preloaded state: {NOT_PRELOADED}\n",
                "seeded"
            );
        }
        ran.runs.push(this);
        coverage.merge(&ran, "this run")?;
        for (share, cycles) in &covered.reached {
            let cycles = counted(HumanCount(*cycles), "cycle");
            text += &format!("  {:<18}{share} % of the bins after {cycles}\n", "reached");
        }
        if args.lcov.is_some() {
            text += &covered.rtl.text();
            gathered.rtl.merge(covered.rtl);
        }
        failed = covered.failed.map(|mut failure| {
            let dir = dir.map(absolute);
            let case = &mut failure.case;
            case.on_rtl(dir.as_deref(), model_of_rtl.no_assert(), case.mutant());
            crate::console::failed();
            let saved = found::save_new(&mut failure, &args.place.out);
            (failure, saved)
        });
    }
    let mismatches = failed_before + usize::from(failed.is_some());
    let lock_step = format!(
        "  {:<18}{} in {}, {}\n",
        "lock-step",
        counted(mismatches, "mismatch"),
        counted(HumanCount(coverage.compared()), "cycle"),
        C::Design::DECLARATION.extent()
    );
    let totals = coverage.totals;
    let from = match (files, run.is_some()) {
        (0, _) => format!(".{:x}", args.seed),
        (n, true) => format!(".{:x} and {n} merged", args.seed),
        (n, false) => format!(", {n} merged"),
    };
    let executed = match C::EXECUTES {
        true => format!(
            ", {}, {}",
            counted(HumanCount(totals.launches), "launch"),
            counted(HumanCount(totals.steps), "step")
        ),
        false => String::new(),
    };
    print(&format!(
        "{name}.cover{from}  {}{executed}\n{lock_step}{text}{}",
        counted(HumanCount(totals.programs), C::NOUN),
        coverage.text()
    ))?;
    let nothing = mismatches == 0 && coverage.groups.iter().all(|g| g.hits() == 0);
    if let Some((failure, saved)) = failed {
        status = Status::Failed;
        // The report says it at length.
        coverage.failures.push(failed_run(&failure, &saved));
        print("\n")?;
        let told = rtl::<C::Design>(&args.place, build).and_then(|rtl| {
            let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
            found::report_saved(&failure, &saved, &mut rtl)
        });
        // An interruption, for example. What failed is told and written all the same.
        if let Err(why) = told {
            print(&found::brief(&failure, &saved))?;
            crate::console::tell(&why);
        }
    }
    if nothing {
        let why = format!("nothing was sampled of {name}");
        return Err(Failure::Other(why));
    }
    if failed_before > 0 {
        complain(&format!(
            "{name}: {failed_before} of the merged runs failed"
        ));
        status = Status::Failed;
    }
    let impossible = coverage.impossible().count();
    if impossible > 0 {
        let bins = counted(impossible, "bin");
        complain(&format!("{name}: {bins} hit, though declared unreachable"));
        status = Status::Failed;
    }
    let missed = coverage.missed().count();
    if args.require_all && missed > 0 && !interrupted {
        let bins = counted(missed, "reachable bin");
        complain(&format!("{name}: {bins} missed"));
        status = Status::Failed;
    }
    gathered.units.push(coverage);
    gathered.interrupted |= interrupted;
    Ok(status)
}
