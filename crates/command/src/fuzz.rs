//! `fuzz`.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar};
use reconverge::campaign::results::{Header, Results};
use reconverge::campaign::{
    CHUNK, Chunk, Failed, Limit, Options, Put, Shard, Summary, Tally, drive,
};
use reconverge::cover::Bins as _;
use reconverge::design::{Build, Design as _};
use reconverge::failure::Cause;
use reconverge::input::InputError;
use reconverge::quantity::{self, counted};
use reconverge::show::page;
use reconverge::stream::CYCLES;

use crate::args::{FuzzArgs, PlaceArgs, limit, workers};
use crate::console::{Failure, complain, print};
use crate::failures::{self, Told, groups, reports, tell};
use crate::found::{self, SavedFile};
use crate::progress::{Lines, bar, position};
use crate::ran::{Ran, ran};
use crate::rtl::{named_rtl, rtl};
use crate::shows::Shows;
use crate::stop;
use crate::whole::{Shown, Whole};
use crate::workers::Isolated;

/// Failed cases by number, with the file of each if saving was tried.
type FoundCases<C> = BTreeMap<u64, (Failed<C>, Option<SavedFile>)>;

/// Writes what is known of a campaign whose failures are not finished yet.
pub type Publish<'a> = &'a mut dyn FnMut(&Ran) -> Result<(), Failure>;

/// A campaign of a unit, and how it is printed.
#[derive(Clone, Copy)]
pub struct Campaign<'a> {
    /// One of the unit's variants; `None`: the build that the arguments request.
    pub variant: Option<&'a Build>,
    /// Print one line for it.
    pub row: bool,
    /// Nothing was printed before it.
    pub first: bool,
}

/// Progress of a campaign: a bar on a terminal, otherwise lines.
struct Progress {
    bar: Option<ProgressBar>,
    lines: Lines,
    /// The beginning of its lines.
    name: String,
    limit: Limit,
    started: Instant,
    /// Cycles that were done before.
    before: u64,
}

impl Progress {
    fn new<C: Shows>(limit: Limit, shard: Shard, build: &Build, so_far: &Summary<C>) -> Self {
        let name = named::<C>(build);
        let mut progress = Progress {
            bar: bar(limit, shard).map(|b| b.with_prefix(name.clone())),
            lines: Lines::new(),
            name,
            limit,
            started: Instant::now(),
            before: so_far.compared.cycles,
        };
        progress.set(so_far);
        if let Some(bar) = &progress.bar {
            // Earlier work must not count in the estimate of the time left.
            bar.reset_eta();
            bar.tick();
        }
        progress
    }

    fn set<C: Shows>(&mut self, so_far: &Summary<C>) {
        let numbers = [
            so_far.programs,
            so_far.compared.cycles,
            so_far.failures.len() as u64,
        ];
        let [programs, cycles, failed] = numbers.map(HumanCount);
        let name = &self.name;
        self.lines.tell(|| {
            let (programs, cycles) = (counted(programs, C::NOUN), counted(cycles, "cycle"));
            format!("{name}: {programs}, {cycles}, {failed} failed")
        });
        let Some(bar) = &self.bar else {
            return;
        };
        let (programs, cycles) = (so_far.programs, so_far.compared.cycles);
        bar.set_position(position(self.limit, programs, cycles, self.started));
        let cycles = cycles - self.before;
        let rate = cycles as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!("{} cycles/s", HumanCount(rate as u64)));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns the unit's name, and its build if that is not the default one.
fn named<C: Shows>(build: &Build) -> String {
    match build.is_default::<C::Design>() {
        true => C::Design::NAME.to_owned(),
        false => format!("{} ({build})", C::Design::NAME),
    }
}

/// The limit for a variant is that of the default build divided by this.
const SHARE: u64 = 8;

/// Returns the limit of a variant's campaign if that of the default build is `limit`. Each shard has at least one chunk.
fn of_variant(limit: Limit, shard: Shard) -> Limit {
    match limit {
        Limit::Programs(n) => Limit::Programs(n.div_ceil(SHARE).max(CHUNK * shard.of())),
        Limit::Cycles(n) => Limit::Cycles(n.div_ceil(SHARE)),
        Limit::Time(time) => Limit::Time((time / SHARE as u32).max(Duration::from_secs(1))),
    }
}

/// Builds the model of `build`, unless it exists already.
pub fn prepare<C: Shows>(place: &PlaceArgs, build: &Build) -> Result<(), Failure> {
    rtl::<C::Design>(place, build.clone()).map(drop)
}

pub fn fuzz<C: Shows>(
    args: &FuzzArgs,
    campaign: Campaign,
    publish: Publish,
) -> Result<Ran, Failure> {
    let limit = limit(args.programs, args.cycles, args.seconds);
    let limit = limit.unwrap_or(Options::default().limit);
    let shard = args.shard.unwrap_or_default();
    let limit = match campaign.variant {
        Some(_) => of_variant(limit, shard),
        None => limit,
    };
    let options = Options {
        seed: args.seed,
        limit,
        jobs: workers(args.jobs),
        keep_going: args.keep_going,
        rtl: args.place.rtl.as_deref().and_then(named_rtl::<C::Design>),
        cycles: args.stream_cycles.unwrap_or(CYCLES),
        ..Options::default()
    };
    if let Limit::Programs(n) = limit
        && n.div_ceil(C::CHUNK) < shard.of()
    {
        let why = format!(
            "{} are {} of {}, too few for {} shards",
            counted(n, C::NOUN),
            counted(n.div_ceil(C::CHUNK), "chunk"),
            C::CHUNK,
            shard.of()
        );
        return Err(InputError::new("--shard", 0, shard.to_string(), why).into());
    }
    let build = match campaign.variant {
        Some(variant) => variant.clone(),
        None => args.build.build::<C::Design>()?,
    };
    let rtl = rtl::<C::Design>(&args.place, build.clone())?;
    let (mut results, mut tally) = match &args.results {
        None => (None, Tally::<C>::new(&options, shard)),
        Some(dir) => {
            let header = Header::new::<C>(&options, &rtl, shard);
            let (results, tally) = Results::open(dir, &header, &options)?;
            (Some(results), tally)
        }
    };
    tally.goal = Some(C::Bins::new(&build).goal());
    let before = tally.total().programs;
    if before > 0 {
        let programs = counted(HumanCount(before), C::NOUN);
        complain(&if tally.finished() {
            format!("{}: complete, {programs}", named::<C>(&build))
        } else {
            format!("{}: resumes after {programs}", named::<C>(&build))
        });
    }

    let started = Instant::now();
    let mut progress = Progress::new(limit, shard, &build, tally.total());
    let (out, over) = (&args.place.out, AtomicBool::new(false));
    // All failures, also those that do not count yet because an earlier chunk is not done or the results cannot be kept.
    let known = tally.failures().into_iter();
    let known = known.map(|failed| (failed.number, (failed, None)));
    let found: Mutex<FoundCases<C>> = Mutex::new(known.collect());
    // Saved first, so that failures are kept whatever happens to this process.
    let keep = |failed: &Failed<C>| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        // The number identifies the case.
        let same = |there: &Failed<C>| there.failure.place() == failed.failure.place();
        match found.get(&failed.number) {
            Some((there, Some(_))) if same(there) => {}
            _ => {
                // The groups are known at the end, and with them which of the others are saved.
                let alike = found.values().filter(|(other, saved)| {
                    saved.is_some() && failures::alike(&other.failure, &failed.failure)
                });
                let few = alike.count() < failures::SAVED;
                let mut failed = failed.clone();
                let saved = few.then(|| found::save_new(&mut failed.failure, out));
                found.insert(failed.number, (failed, saved));
            }
        }
    };
    let trouble = drive(
        &mut tally,
        stop::asked()?,
        &over,
        || {
            let mut rtl = Isolated::until(&rtl, args.limits, &over)?;
            let options = &options;
            Ok(move |chunk: &Chunk<C>, put: Put<C>| rtl.chunk(options, chunk, &keep, put))
        },
        |piece| {
            // Without cases it says that a process was lost, and not yet which case is to blame.
            if !piece.cases.is_empty() {
                piece.summary.failures.iter().for_each(keep);
            }
            match &mut results {
                Some(results) => results.add(piece),
                None => Ok(()),
            }
        },
        |tally| progress.set(tally.total()),
    );
    drop(progress);
    let synced = results.as_mut().map_or(Ok(()), Results::sync);
    let trouble = trouble.and(synced).err();
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);

    let finished = tally.finished();
    if !finished {
        for failed in tally.owed() {
            // Not saved: it is not known to be this case.
            let unsaved = || (unplaced(failed), Some(None));
            found.entry(failed.number).or_insert_with(unsaved);
        }
    }
    let mut summary = tally.into_total();
    let mut notes = Vec::new();
    if finished {
        // Programs that ran in other workers at the same time as the last one that counts.
        let counts = |number: &u64| summary.failures.iter().any(|f| f.number == *number);
        for (_, (_, saved)) in found.iter().filter(|(number, _)| !counts(number)) {
            let saved = saved.as_ref().and_then(Option::as_ref);
            let place = saved.map_or_else(String::new, |path| format!(": {}", path.display()));
            notes.push(format!(
                "note: a later {} of the campaign, which another worker ran meanwhile, failed too and is not counted{place}",
                C::NOUN
            ));
        }
    }
    let counted = summary.failures.clone();
    if !finished {
        summary.failures = found.values().map(|(failed, _)| failed.clone()).collect();
    }
    let failed = !summary.failures.is_empty();
    if failed {
        crate::console::failed();
    }
    let shown = Shown {
        row: campaign.row,
        details: args.details,
    };
    let whole = Whole {
        summary: &summary,
        counted: &counted,
        options: &options,
        shard,
        build: &build,
        ended: finished,
    };
    let said = whole.text(shown);
    // Failures are printed before the summary, except for a row, which belongs to the table above it.
    let last = failed && !campaign.row;
    if !last {
        print(&said)?;
    }
    let interrupted = (!finished || trouble.is_some()).then(|| {
        let then = if results.is_some() {
            "; the same command goes on from there"
        } else {
            ""
        };
        let programs = quantity::counted(HumanCount(summary.programs), C::NOUN);
        let why = trouble.map_or("interrupted".to_owned(), |why| format!("{why}: it ended"));
        format!("{}: {why} after {programs}{then}", named::<C>(&build))
    });
    let groups = groups(&summary.failures);
    let mut failures = summary.failures.clone();
    let saved = failures::saved(&mut failures, &groups, |failed| {
        match found.remove(&failed.number) {
            Some((there, Some(saved))) => {
                // Its name may have got a number.
                failed.failure.case = there.failure.case;
                saved
            }
            _ => found::save_new(&mut failed.failure, out),
        }
    });
    let mut reports = reports(&failures, &saved, &groups);
    let took = started.elapsed();
    let shown = |small| match args.summary.html {
        Some(_) => failures::shown(&failures, &saved, &groups, small),
        None => Vec::new(),
    };
    let ran = |reports: &[String], shown: Vec<page::Failed>| {
        let interrupted = interrupted.clone();
        ran(&whole, reports, interrupted, Some(took), shown)
    };
    // The following may take long. Write errors are reported at the end.
    if !reports.is_empty() {
        let _ = publish(&ran(&reports, shown(None))?);
    }
    let mut small = None;
    if failed {
        if campaign.row || !campaign.first {
            print("\n")?;
        }
        let mut told = Told {
            rtl: Isolated::new(&rtl, args.limits)?.dumping(args.place.format()),
            out,
            shrink: !args.no_shrink,
            cut: interrupted.is_some(),
            small: None,
        };
        let telling = Some(&mut told);
        tell(&failures, &saved, &groups, &mut reports, telling)?;
        small = told.small;
    }
    for note in notes {
        complain(&note);
    }
    if last {
        print(&format!("\n{said}"))?;
    }
    ran(&reports, shown(small.as_ref()))
}

/// Returns the failure that is owed, with a cause that says so.
fn unplaced<C: Shows>(owed: &Failed<C>) -> Failed<C> {
    let mut failed = owed.clone();
    let how = failed.failure.message();
    failed.failure.cause = Cause::Crashed(format!(
        "{how}, in this case or a later one of its chunk: interrupted before it was found"
    ));
    failed
}
