//! `fuzz`.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use reconverge::campaign::results::{Header, Results};
use reconverge::campaign::{CHUNK, Chunk, Limit, Options, Shard, Summary, Tally, drive};
use reconverge::case::Case;
use reconverge::failure::Cause;
use reconverge::input::InputError;
use reconverge::unit::{Build, Seen, Unit};
use reconverge::wave;
use serde_json::Value;

use super::junit::{self, Suite};
use super::run::{absolute, parameters, rtl};
use super::workers::Workers;
use super::{
    Agreed, Commands, Done, Failure, FuzzArgs, SummaryArgs, complain, found, print, stop, writable,
};

/// Mismatches that get a full report with waves; more are only saved.
const REPORTS: usize = 8;
/// Clocks of a campaign that was not told when to end: well under a minute.
const DEFAULT_CLOCKS: u64 = 2_000_000;

/// What the campaign of a unit came to.
pub struct Ran {
    /// No case failed.
    pub agreed: Agreed,
    /// Why there is no more of it.
    pub interrupted: Option<String>,
    /// For `--json`.
    pub json: Value,
    /// For `--junit`.
    pub suite: Suite,
}

/// Runs the campaigns of `units` in turn and writes what is to be written of them.
pub fn units(units: &[&dyn Commands], args: &FuzzArgs) -> Done {
    writable_summary(&args.summary)?;
    let mut all = Vec::new();
    for unit in units {
        let ran = unit.fuzz(args)?;
        let last = ran.interrupted.is_some() || ran.agreed == Agreed::No && !args.keep_going;
        all.push(ran);
        if last {
            break;
        }
    }
    write_summary(&args.summary, all, units.len() > 1)
}

pub fn writable_summary(args: &SummaryArgs) -> Result<(), InputError> {
    for (flag, path) in [("--json", &args.json), ("--junit", &args.junit)] {
        if let Some(path) = path {
            writable(flag, path)?;
        }
    }
    Ok(())
}

/// Writes what came of campaigns; whether all agreed.
pub fn write_summary(args: &SummaryArgs, ran: Vec<Ran>, several: bool) -> Done {
    let failed = ran.iter().any(|ran| ran.agreed == Agreed::No);
    let interrupted = ran.iter().find_map(|ran| ran.interrupted.clone());
    let (mut jsons, suites): (Vec<Value>, Vec<Suite>) =
        ran.into_iter().map(|ran| (ran.json, ran.suite)).unzip();
    if let Some(path) = &args.json {
        let json = if several {
            Value::from(jsons)
        } else {
            jsons.pop().unwrap_or_default()
        };
        wave::write_whole(path, &format!("{json:#}\n"))?;
    }
    if let Some(path) = &args.junit {
        wave::write_whole(path, &junit::text(suites)?)?;
    }
    match interrupted {
        _ if failed => Ok(Agreed::No),
        Some(why) => Err(Failure::Other(why)),
        None => Ok(Agreed::Yes),
    }
}

/// Progress of a campaign; nothing when nobody watches.
struct Progress {
    bar: Option<ProgressBar>,
    limit: Limit,
    started: Instant,
    /// Clocks that were done before.
    before: u64,
}

impl Progress {
    fn new<U: Unit>(limit: Limit, shard: Shard, so_far: &Summary<U>) -> Self {
        let progress = Progress {
            bar: bar(limit, shard).map(|b| b.with_prefix(U::NAME)),
            limit,
            started: Instant::now(),
            before: so_far.compared.clocks,
        };
        progress.set(so_far);
        if let Some(bar) = &progress.bar {
            // What was done before says nothing of the time that is left.
            bar.reset_eta();
            bar.tick();
        }
        progress
    }

    fn set<U: Unit>(&self, so_far: &Summary<U>) {
        let Some(bar) = &self.bar else {
            return;
        };
        bar.set_position(match self.limit {
            Limit::Programs(_) => so_far.programs,
            Limit::Clocks(_) => so_far.compared.clocks,
            Limit::Time(_) => self.started.elapsed().as_secs(),
        });
        let clocks = so_far.compared.clocks - self.before;
        let rate = clocks as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!("{} clocks/s", HumanCount(rate as u64)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

pub(super) fn bar(limit: Limit, shard: Shard) -> Option<ProgressBar> {
    let (length, what) = match limit {
        Limit::Programs(n) => (n.div_ceil(shard.of()), "programs"),
        Limit::Clocks(n) => (n.div_ceil(shard.of()), "clocks"),
        Limit::Time(t) => (t.as_secs(), "s"),
    };
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let style = ProgressStyle::with_template(&format!(
        "{{prefix}} [{{bar:32}}] {{human_pos}}/{{human_len}} {what}, {{msg}}, {{eta}} left"
    ));
    let bar = ProgressBar::new(length);
    Some(match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    })
}

pub fn fuzz<U: Unit>(args: &FuzzArgs) -> Result<Ran, Failure> {
    let limit = match (args.programs, args.clocks, args.seconds) {
        (Some(n), _, _) => Limit::Programs(n),
        (_, Some(n), _) => Limit::Clocks(n),
        (_, _, Some(n)) => Limit::Time(Duration::from_secs(n)),
        _ => Limit::Clocks(DEFAULT_CLOCKS),
    };
    let jobs = match args.jobs {
        Some(n) => n.into(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let options = Options {
        seed: args.seed,
        limit,
        jobs,
        keep_going: args.keep_going,
        rtl: args.place.rtl.as_deref().map(absolute),
    };
    let shard = args.shard.unwrap_or_default();
    if let Limit::Programs(n) = limit
        && n.div_ceil(CHUNK) < shard.of()
    {
        let why = format!(
            "{n} programs are {} chunks of {CHUNK}, too few for {} shards",
            n.div_ceil(CHUNK),
            shard.of()
        );
        return Err(InputError::new("--shard", 0, shard.to_string(), why).into());
    }
    let mut any = Case::<U>::new(U::Program::default());
    any.lanes = args.lanes.unwrap_or(U::LANES);
    any.parameters = parameters::<U>(&args.parameters);
    any.check_parameters("--param")?;
    let rtl = rtl::<U>(args.place.rtl.as_deref(), any.build())?;
    let (mut results, mut tally) = match &args.results {
        None => (None, Tally::<U>::new(&options, shard)),
        Some(dir) => {
            let header = Header::new(&options, &rtl, shard);
            let (results, tally) = Results::open(dir, &header, &options)?;
            (Some(results), tally)
        }
    };
    let before = tally.total().programs;
    if before > 0 {
        let programs = HumanCount(before);
        complain(&if tally.finished() {
            format!("{}: complete, {programs} programs", U::NAME)
        } else {
            format!("{}: resumes after {programs} programs", U::NAME)
        });
    }

    let started = Instant::now();
    let progress = Progress::new(limit, shard, tally.total());
    let timeout = Duration::from_secs(args.timeout);
    let mut saved = tally.total().failures.len();
    drive(
        &mut tally,
        stop::asked()?,
        || {
            let mut workers = Workers::start(&options, &rtl, timeout)?;
            Ok(move |chunk: &Chunk| workers.run(chunk))
        },
        |chunk, summary| match &mut results {
            Some(results) => results.add(chunk.number, summary),
            None => Ok(()),
        },
        |tally| {
            progress.set(tally.total());
            // At once: whatever becomes of this process, what it found is there.
            for failed in &tally.total().failures[saved..] {
                found::save(&failed.failure, &args.place.out);
                saved += 1;
            }
        },
    )?;
    drop(progress);
    if let Some(results) = &mut results {
        results.sync()?;
    }

    let finished = tally.finished();
    let summary = tally.into_total();
    let usual = *rtl.build() == Build::from(U::LANES);
    print(&text(&summary, &options, shard, usual && finished))?;
    let mut reports = Vec::new();
    for (n, failed) in summary.failures.iter().enumerate() {
        let failure = &failed.failure;
        let saved = found::save(failure, &args.place.out);
        let mut report = if n < REPORTS {
            found::text(failure, &saved)
        } else {
            found::brief(failure, &saved)
        };
        print(&format!("\n{report}"))?;
        if n < REPORTS {
            let waves = found::waves(failure, &rtl, &saved);
            print(&waves)?;
            report += &waves;
        }
        reports.push(report);
    }
    // The first one: it takes as long as a campaign, and `replay --shrink` does the others.
    // What ended a process would end this one.
    if let Some(failed) = summary.failures.first()
        && !matches!(failed.failure.cause, Cause::Crashed(_) | Cause::Hung(_))
        && !args.no_shrink
    {
        print("\n")?;
        super::shrink::shrink(&failed.failure.case, &rtl, &args.place.out)?;
    }
    let interrupted = (!finished).then(|| {
        let then = if results.is_some() {
            "; the same command goes on from there"
        } else {
            ""
        };
        let programs = HumanCount(summary.programs);
        format!("{}: interrupted after {programs} programs{then}", U::NAME)
    });
    ran(
        &summary,
        &options,
        shard,
        &reports,
        interrupted,
        Some(started.elapsed()),
    )
}

/// What is handed on of a campaign; `reports` are those of its failures.
pub fn ran<U: Unit>(
    summary: &Summary<U>,
    options: &Options,
    shard: Shard,
    reports: &[String],
    interrupted: Option<String>,
    took: Option<Duration>,
) -> Result<Ran, Failure> {
    let nothing = summary.compared.clocks == 0 && summary.failures.is_empty();
    if nothing && interrupted.is_none() {
        return Err(Failure::Other("nothing was compared".to_owned()));
    }
    let mut json = summary.to_json(options);
    json["complete"] = interrupted.is_none().into();
    if shard.of() > 1 {
        json["shard"] = shard.to_string().into();
    }
    Ok(Ran {
        agreed: if summary.failures.is_empty() {
            Agreed::Yes
        } else {
            Agreed::No
        },
        interrupted,
        json,
        suite: junit::suite(summary, options, shard, reports, took),
    })
}

/// What a campaign is called.
pub fn campaign<U: Unit>(options: &Options, shard: Shard) -> String {
    let name = format!("{}.fuzz.{:x}", U::NAME, options.seed);
    match shard.of() {
        1 => name,
        _ => format!("{name}  shard {shard}"),
    }
}

/// Numbers in a text compare as numbers: "error 10" comes behind "error 9".
fn natural(text: &str) -> (&str, u64, &str) {
    let start = text
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(text.len());
    let (before, rest) = text.split_at(start);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    (before, rest[..end].parse().unwrap_or(0), &rest[end..])
}

/// The summary as it is printed; with `all`, what was never met too.
pub fn text<U: Unit>(summary: &Summary<U>, options: &Options, shard: Shard, all: bool) -> String {
    let compared = summary.compared;
    let mut text = format!(
        "{}  {} programs, {} launches, {} instructions\n",
        campaign::<U>(options, shard),
        HumanCount(summary.programs),
        HumanCount(compared.launches),
        HumanCount(compared.steps),
    );
    let mut line = |name: &str, what: &str| {
        let _ = writeln!(text, "  {name:<16}{what}");
    };
    let verdict = match summary.failures.len() {
        0 => format!(
            "0 mismatches in {} clocks, {} fields each",
            HumanCount(compared.clocks),
            U::fields().len()
        ),
        n => format!(
            "{n} FAILED; {} clocks, {} fields each, agreed",
            HumanCount(compared.clocks),
            U::fields().len()
        ),
    };
    line("lock-step", &verdict);
    let (programs, lanes, instructions) = summary.judged;
    line(
        "scalar judge",
        &format!(
            "{} programs, {} lanes, {} instructions agree",
            HumanCount(programs),
            HumanCount(lanes),
            HumanCount(instructions)
        ),
    );
    for (kind, (programs, clocks)) in &summary.kinds {
        line(
            kind,
            &format!(
                "{} programs, {} clocks",
                HumanCount(*programs),
                HumanCount(*clocks)
            ),
        );
    }
    let mut outcomes: Vec<_> = summary.outcomes.iter().collect();
    outcomes.sort_by_key(|(outcome, _)| natural(outcome));
    for (outcome, count) in outcomes {
        line(
            "ended",
            &format!("{:>12} {outcome}", HumanCount(*count).to_string()),
        );
    }
    for (name, what) in summary.seen.lines() {
        line(&name, &what);
    }
    // A part need not meet everything; and other parameters put other things out of reach.
    if all && shard.of() == 1 {
        for what in summary.seen.missing() {
            line("never met", &what);
        }
    }
    text
}
