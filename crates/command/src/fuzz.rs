//! `fuzz`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar};
use reconverge::campaign::results::{Header, Results};
use reconverge::campaign::{
    Chunk, Failed, GivenUp, Limit, Options, Put, Shard, Summary, Tally, drive,
};
use reconverge::cover::{Bins as _, Share};
use reconverge::design::{Build, Design as _};
use reconverge::failure::Cause;
use reconverge::input::InputError;
use reconverge::show::page;
use reconverge::stream::CYCLES;
use serde_json::Value;

use crate::args::{FuzzArgs, PlaceArgs, Which, limit, workers};
use crate::commands::Commands;
use crate::console::{Agreed, Done, Failure, complain, print, tell as tell_why};
use crate::failures::{self, Told, groups, reports, tell};
use crate::found::SavedFile;
use crate::guests::{called, for_design};
use crate::junit::{self, Suite};
use crate::progress::{Lines, bar};
use crate::report::Part;
use crate::rtl::{absolute, rtl};
use crate::shows::Shows;
use crate::summary::{publish, writable_summary, write_summary};
use crate::variants::{self, Variant};
use crate::workers::Isolated;
use crate::{found, stop};

/// Failed cases by number, with the file of each if saving was tried.
type FoundCases<C> = BTreeMap<u64, (Failed<C>, Option<SavedFile>)>;

/// The result of a unit's campaign.
#[derive(Clone)]
pub struct Ran {
    /// No case failed.
    pub agreed: Agreed,
    /// Why the campaign is incomplete.
    pub interrupted: Option<String>,
    /// The summary for `--json`.
    pub json: Value,
    /// The suite for `--junit`.
    pub suite: Suite,
    /// The part of the page for `--html`.
    pub part: Part,
}

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

/// The header above the lines of [`row`].
pub const HEADER: &str = "campaign     build                                                    programs        cycles  instructions  scalar  failed\n";

/// Runs the campaigns of `units` in turn, then those of their variants, and writes their results.
pub fn units(units: &[&'static dyn Commands], args: &FuzzArgs) -> Done {
    writable_summary(&args.summary)?;
    if args.stream_cycles.is_some()
        && let Some(unit) = units.iter().find(|unit| unit.known().programs.is_some())
    {
        return Err(no_streams(unit.name()).into());
    }
    let which = args.which(units.len() > 1)?;
    let variants: Vec<Variant> = (units.iter())
        .flat_map(|unit| which.of(*unit).map(|build| (*unit, build)))
        .collect();
    let several = units.len() + variants.len() > 1;
    let row = several && !args.details;
    let mut all: Vec<Ran> = Vec::new();
    let defaults = units.iter().map(|unit| (*unit, None));
    let plan = defaults.chain(variants.iter().map(|(unit, build)| (*unit, Some(build))));
    let mut failed_again = false;
    for unit in units {
        if unit.again(args)? == Agreed::No {
            failed_again = true;
        }
    }
    if failed_again && !args.keep_going {
        let why = "a saved case still fails: no new one was drawn";
        let error = junit::not_run(units[0].name(), why);
        write_summary(&args.summary, &all, several, Some(error))?;
        return Ok(Agreed::No);
    }
    for (number, (unit, variant)) in plan.enumerate() {
        let row = row && (units.len() > 1 || variant.is_some());
        if row && all.len() == usize::from(units.len() == 1) {
            print(HEADER)?;
        }
        let ready = match number == units.len() {
            // Not earlier, because nothing is built without RTL that agrees.
            true => variants::build(&variants, &args.place, workers(args.jobs)),
            false => Ok(()),
        };
        let ran = ready.and_then(|()| {
            let first = number == 0;
            let campaign = Campaign {
                variant,
                row,
                first,
            };
            unit.fuzz(args, campaign, &mut |ran| {
                let so_far: Vec<&Ran> = all.iter().chain([ran]).collect();
                publish(&args.summary, &so_far, several, None, false)
            })
        });
        let ran = match ran {
            Ok(ran) => ran,
            // The results of the campaigns before this one are kept.
            Err(why) => {
                let error = junit::not_run(unit.name(), &why.to_string());
                let written = write_summary(&args.summary, &all, several, Some(error));
                if matches!(written, Ok(Agreed::No)) {
                    // The exit status reports the failure, whatever other errors there are.
                    tell_why(&why);
                    return written;
                }
                written.as_ref().err().map(tell_why);
                return Err(why);
            }
        };
        let last = ran.interrupted.is_some() || ran.agreed == Agreed::No && !args.keep_going;
        all.push(ran);
        if last {
            break;
        }
    }
    let done = write_summary(&args.summary, &all, several, None)?;
    Ok(if failed_again { Agreed::No } else { done })
}

/// Returns the refusal of `--stream-cycles` for the design `name`, which runs programs.
pub fn no_streams(name: &str) -> InputError {
    let why =
        format!("{name} runs programs, whose lengths are their own: only streams of pins have one");
    InputError::option("--stream-cycles", why)
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
            format!(
                "{name}: {programs} {}s, {cycles} cycles, {failed} failed",
                C::NOUN
            )
        });
        let Some(bar) = &self.bar else {
            return;
        };
        bar.set_position(match self.limit {
            Limit::Programs(_) => so_far.programs,
            Limit::Cycles(_) => so_far.compared.cycles,
            Limit::Time(_) => self.started.elapsed().as_secs(),
        });
        let cycles = so_far.compared.cycles - self.before;
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

impl FuzzArgs {
    /// Returns which variants are tested; `all`: the unit is `all`.
    fn which(&self, all: bool) -> Result<Which, InputError> {
        let built_otherwise = self.build.given();
        match self.variants {
            Some(Which::None) => Ok(Which::None),
            Some(which) if built_otherwise => {
                let why = "variants are builds with lanes and parameters of their own: without --lanes and --param";
                Err(InputError::new(
                    "--variants",
                    0,
                    format!("{which:?}").to_lowercase(),
                    why,
                ))
            }
            Some(which) => Ok(which),
            None if all && !built_otherwise => Ok(Which::One),
            None => Ok(Which::None),
        }
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
        Some(_) => variants::limit(limit, shard),
        None => limit,
    };
    let options = Options {
        seed: args.seed,
        limit,
        jobs: workers(args.jobs),
        keep_going: args.keep_going,
        rtl: args.place.rtl.as_deref().map(absolute),
        cycles: args.stream_cycles.unwrap_or(CYCLES),
    };
    if let Limit::Programs(n) = limit
        && n.div_ceil(C::CHUNK) < shard.of()
    {
        let why = format!(
            "{n} {}s are {} chunks of {}, too few for {} shards",
            C::NOUN,
            n.div_ceil(C::CHUNK),
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
        let (programs, noun) = (HumanCount(before), C::NOUN);
        complain(&if tally.finished() {
            format!("{}: complete, {programs} {noun}s", named::<C>(&build))
        } else {
            format!("{}: resumes after {programs} {noun}s", named::<C>(&build))
        });
    }

    let started = Instant::now();
    let mut progress = Progress::new(limit, shard, &build, tally.total());
    let (out, over) = (&args.place.out, AtomicBool::new(false));
    // All failures, also those that do not count yet because an earlier chunk is not done or the results cannot be kept.
    let known = tally.failures().into_iter();
    let known = known.map(|failed| (failed.number, (failed, None)));
    let found: Mutex<FoundCases<C>> = Mutex::new(known.collect());
    // SavedFile first, so that failures are kept whatever happens to this process.
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
                let saved =
                    (alike.count() < failures::SAVED).then(|| found::save(&failed.failure, out));
                found.insert(failed.number, (failed.clone(), saved));
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
                "note: another {} failed at the same time; the campaign ends before it, so it is not counted{place}",
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
    let said = shown.text(&summary, &options, shard, &build, finished);
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
        let (programs, noun) = (HumanCount(summary.programs), C::NOUN);
        let why = trouble.map_or("interrupted".to_owned(), |why| format!("{why}: it ended"));
        format!(
            "{}: {why} after {programs} {noun}s{then}",
            named::<C>(&build)
        )
    });
    let groups = groups(&summary.failures);
    let saved = failures::saved(&summary.failures, &groups, |failed| {
        let there = found.remove(&failed.number).and_then(|(_, saved)| saved);
        there.unwrap_or_else(|| found::save(&failed.failure, out))
    });
    let mut reports = reports(&summary.failures, &saved, &groups);
    let took = started.elapsed();
    let shown = |small| match args.summary.html {
        Some(_) => failures::shown(&summary.failures, &saved, &groups, small),
        None => Vec::new(),
    };
    let ran = |reports: &[String], shown: Vec<page::Failed>| {
        let interrupted = interrupted.clone();
        let whole = Whole {
            summary: &summary,
            counted: &counted,
            options: &options,
            shard,
            build: &build,
        };
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
        tell(&summary.failures, &saved, &groups, &mut reports, telling)?;
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

/// A campaign that has ended or was interrupted.
pub struct Whole<'a, C: Shows> {
    /// Its summary; the failures in it are all that are known.
    pub summary: &'a Summary<C>,
    /// Failures of the programs that the summary counts. An interrupted campaign knows more: those of programs after one that
    /// is not done.
    pub counted: &'a [Failed<C>],
    pub options: &'a Options,
    pub shard: Shard,
    pub build: &'a Build,
}

/// Returns the results of a campaign; `reports` are those of its failures, `shown` is what a page shows of them.
pub fn ran<C: Shows>(
    whole: &Whole<C>,
    reports: &[String],
    interrupted: Option<String>,
    took: Option<Duration>,
    shown: Vec<page::Failed>,
) -> Result<Ran, Failure> {
    let &Whole {
        summary,
        options,
        shard,
        build,
        ..
    } = whole;
    let nothing = summary.compared.cycles == 0 && summary.failures.is_empty();
    if nothing && interrupted.is_none() {
        return Err(Failure::Other("nothing was compared".to_owned()));
    }
    let mut json = summary.to_json(options, &C::Bins::new(build));
    json["build"] = serde_json::to_value(build).unwrap_or_default();
    let given_up = summary.given_up();
    json["complete"] = (interrupted.is_none() && given_up.is_none()).into();
    let rest = given_up.and_then(|_| not_run(summary, options, shard));
    json["not_run"] = rest.into();
    json["shard"] = (shard.of() > 1).then(|| shard.to_string()).into();
    let complete = json["complete"] == true;
    Ok(Ran {
        part: Part::new(whole, complete, shown),
        agreed: if summary.failures.is_empty() {
            Agreed::Yes
        } else {
            Agreed::No
        },
        interrupted,
        json,
        suite: junit::suite(whole, reports, took),
    })
}

/// Returns how many programs were not run, if the campaign has a fixed number of them.
fn not_run<C: Shows>(summary: &Summary<C>, options: &Options, shard: Shard) -> Option<u64> {
    let all = Tally::<C>::new(options, shard).programs();
    all.map(|all| all.saturating_sub(summary.programs))
}

/// Returns why a campaign was given up, if it was.
fn given_up<C: Shows>(summary: &Summary<C>, options: &Options, shard: Shard) -> Option<String> {
    let given_up = summary.given_up()?;
    let rest = match not_run(summary, options, shard) {
        Some(programs) => format!("{} {}s", HumanCount(programs), C::NOUN),
        None => "the rest".to_owned(),
    };
    Some(match given_up {
        GivenUp::Lost { cases, of } => {
            format!("the RTL crashed or hung in {cases} of {of} cases; {rest} not run")
        }
        GivenUp::Failed(failed) => {
            let failed = HumanCount(failed as u64);
            format!("{failed} {}s failed; {rest} not run", C::NOUN)
        }
    })
}

/// Returns the name of a campaign, without its build.
pub fn name<C: Shows>(options: &Options, shard: Shard) -> String {
    let name = format!("{}.fuzz.{:x}", C::Design::NAME, options.seed);
    match shard.of() {
        1 => name,
        _ => format!("{name}  shard {shard}"),
    }
}

/// Returns the name of a campaign, with its build if that is not the default one.
pub fn campaign<C: Shows>(options: &Options, shard: Shard, build: &Build) -> String {
    let name = name::<C>(options, shard);
    match build.is_default::<C::Design>() {
        true => name,
        false => format!("{name}  {build}"),
    }
}

/// The level of detail for a campaign.
#[derive(Clone, Copy)]
pub struct Shown {
    /// One row of a table.
    pub row: bool,
    /// Every statistic, even of a failed campaign.
    pub details: bool,
}

impl Shown {
    /// Returns the text on a campaign without its failures. `whole`: the campaign has ended.
    pub fn text<C: Shows>(
        self,
        summary: &Summary<C>,
        options: &Options,
        shard: Shard,
        build: &Build,
        whole: bool,
    ) -> String {
        let failed = !summary.failures.is_empty();
        match (self.row, failed && !self.details) {
            (true, _) => row(summary, options, shard, build, whole),
            (_, true) => failed_text(summary, options, shard, build),
            (_, false) => text(summary, options, shard, build, whole),
        }
    }
}

/// Describes a campaign with failures: how many there are, in how many cycles, and why it was given up, if it was.
fn failed_text<C: Shows>(
    summary: &Summary<C>,
    options: &Options,
    shard: Shard,
    build: &Build,
) -> String {
    let [programs, failed, cycles] = [
        summary.programs,
        summary.failures.len() as u64,
        summary.compared.cycles,
    ]
    .map(HumanCount);
    let campaign = campaign::<C>(options, shard, build);
    let s = if summary.programs == 1 { "" } else { "s" };
    let noun = C::NOUN;
    let mut text = format!(
        "{campaign}  {programs} {noun}{s}, {failed} FAILED; {cycles} cycles agreed (-v prints every statistic)\n"
    );
    if let Some(why) = given_up(summary, options, shard) {
        let _ = writeln!(text, "  given up        {why}");
    }
    text
}

/// Returns the name of the lines about what never occurred: a stream of pins need not do anything in particular, but what never changes
/// was hardly tested.
fn never<C: Shows>() -> &'static str {
    if C::EXECUTES { "never met" } else { "warning" }
}

/// Number of lines about what never occurred.
const SHOWN: usize = 5;

/// Returns what should have occurred but never did, in at most [`SHOWN`] lines, for a campaign that agrees. Of programs only for a whole
/// campaign of the default build: a part need not reach everything, and other parameters make other situations unreachable.
fn missing<C: Shows>(
    summary: &Summary<C>,
    shard: Shard,
    build: &Build,
    whole: bool,
) -> Vec<String> {
    let usual = build.is_default::<C::Design>() && whole && shard.of() == 1;
    if C::EXECUTES && !usual || !summary.failures.is_empty() {
        return Vec::new();
    }
    let mut missing = summary.never_met(&C::Bins::new(build));
    if missing.len() > SHOWN {
        let others = missing.len() - SHOWN + 1;
        missing.truncate(SHOWN - 1);
        let cover = for_design("cover", C::Design::NAME);
        missing.push(format!("and {others} more: `{} {cover}`", called()));
    }
    missing
}

/// Returns the summary as one line below [`HEADER`], and what never occurred. `whole`: the campaign has ended.
fn row<C: Shows>(
    summary: &Summary<C>,
    options: &Options,
    shard: Shard,
    build: &Build,
    whole: bool,
) -> String {
    let numbers = [
        summary.programs,
        summary.compared.cycles,
        summary.compared.steps,
        summary.judged.programs,
        summary.failures.len() as u64,
    ];
    let [programs, cycles, steps, judged, failed] = numbers.map(|n| HumanCount(n).to_string());
    let mut text = format!(
        "{:<13}{:<56}{programs:>9}{cycles:>14}{steps:>14}{judged:>8}{failed:>8}\n",
        name::<C>(options, shard),
        build.to_string(),
    );
    if let Some(why) = given_up(summary, options, shard) {
        let _ = writeln!(text, "  given up        {why}");
    }
    for what in missing(summary, shard, build, whole) {
        let _ = writeln!(text, "  {:<15} {what}", never::<C>());
    }
    text
}

/// Returns a sort key that compares the numbers in a text as numbers: "error 10" comes after "error 9".
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

/// Returns the summary with every statistic. `whole`: the campaign has ended.
fn text<C: Shows>(
    summary: &Summary<C>,
    options: &Options,
    shard: Shard,
    build: &Build,
    whole: bool,
) -> String {
    let compared = summary.compared;
    let executed = match C::EXECUTES {
        true => format!(
            ", {} launches, {} instructions",
            HumanCount(compared.launches),
            HumanCount(compared.steps)
        ),
        false => String::new(),
    };
    let mut text = format!(
        "{}  {} {}s{executed}\n",
        campaign::<C>(options, shard, build),
        HumanCount(summary.programs),
        C::NOUN,
    );
    let mut line = |name: &str, what: &str| {
        let _ = writeln!(text, "  {name:<15} {what}");
    };
    let verdict = match summary.failures.len() {
        0 => format!(
            "0 mismatches in {} cycles, {} fields each",
            HumanCount(compared.cycles),
            C::Design::fields().len()
        ),
        n => format!(
            "{n} FAILED; {} cycles, {} fields each, agreed",
            HumanCount(compared.cycles),
            C::Design::fields().len()
        ),
    };
    line("lock-step", &verdict);
    if let Some(why) = given_up(summary, options, shard) {
        line("given up", &why);
    }
    if C::EXECUTES {
        let (programs, lanes, instructions) = summary.judged.into();
        line(
            "scalar judge",
            &format!(
                "{} programs, {} lanes, {} instructions agree",
                HumanCount(programs),
                HumanCount(lanes),
                HumanCount(instructions)
            ),
        );
    }
    for (kind, of) in &summary.kinds {
        line(
            kind,
            &format!(
                "{} {}s, {} cycles",
                HumanCount(of.programs),
                C::NOUN,
                HumanCount(of.cycles)
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
    let overview = C::Bins::new(build).overview(&summary.bins);
    let all = ("bins", overview.all);
    for (name, Share { hit, reachable }) in std::iter::once(all).chain(overview.groups) {
        let [hit, reachable] = [hit, reachable].map(|n| HumanCount(n as u64));
        line(name, &format!("{hit} of {reachable}"));
    }
    for what in missing(summary, shard, build, whole) {
        line(never::<C>(), &what);
    }
    text
}
