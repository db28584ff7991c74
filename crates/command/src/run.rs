//! `run` and `replay`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::HumanCount;
use reconverge::case::{Case, Place, SavedCase};
use reconverge::check::Judged;
use reconverge::compiled::Compiled;
use reconverge::design::{Build, Golden};
use reconverge::dut::{self, Make, Rtl};
use reconverge::failure::{self, Cause};
use reconverge::field::Flip;
use reconverge::home::own_rtl;
use reconverge::input::InputError;
use reconverge::judges::{self, Judges, Scalar};
use reconverge::mutate::check_number;
use reconverge::unit::{Executor as _, LoadOptions, Step};
use reconverge::watch::Watch;
use reconverge::wave::{Format, Output, shell};

use super::found::Saved;
use super::progress::Ticker;
use super::show::Shown;
use super::stop::Trouble;
use super::streams::{ignoring_readers, is_standard, write_whole};
use super::workers::Isolated;
use super::{
    Agreed, Done, Failure, LoadArgs, PlaceArgs, ReplayArgs, RunArgs, complain, ends, found,
    outcome, print, stop, warn, writable,
};

impl From<&LoadArgs> for LoadOptions {
    fn from(args: &LoadArgs) -> Self {
        LoadOptions {
            safe_loops: args.safe_loops,
            which: args.select.clone(),
            ..LoadOptions::default()
        }
    }
}

/// Returns the RTL in `dir`, or our own, with its assertions or without.
fn make(dir: Option<&Path>, no_assert: bool) -> Make {
    let make = Make::of(dir);
    Make {
        assertions: make.assertions && !no_assert,
        ..make
    }
}

impl PlaceArgs {
    /// Returns how to build the requested RTL.
    pub fn make(&self) -> Make {
        make(self.rtl.as_deref(), self.no_assert)
    }

    /// Returns the format of dumps.
    pub fn format(&self) -> Format {
        match self.fst {
            true => Format::Fst,
            false => Format::Vcd,
        }
    }
}

/// Returns the RTL that a command judges.
pub fn rtl<U: Compiled>(place: &PlaceArgs, build: Build) -> Result<Rtl<U>, Failure> {
    made(&place.make(), build)
}

/// Returns our own RTL in its usual build, which is linked in.
pub fn usual_rtl<U: Compiled>() -> Result<Rtl<U>, Failure> {
    made(&Make::of(None), Build::from(U::LANES))
}

/// Returns the RTL with coverage counters.
pub fn counting_rtl<U: Compiled>(place: &PlaceArgs, build: Build) -> Result<Rtl<U>, Failure> {
    let make = Make {
        counting: true,
        ..place.make()
    };
    made(&make, build)
}

/// Returns the RTL on which `case` fails or agrees, with the mutant that it names.
fn rtl_of<U: Compiled>(case: &Case<U>) -> Result<Rtl<U>, Failure> {
    let rtl = made(&make(case.rtl.as_deref(), case.no_assert), case.build())?;
    if let (Some(dir), false) = (&case.rtl, case.start.is_empty())
        && !rtl.preloads()
    {
        let why = "the case begins in a state that this RTL cannot be put into: its probes name no registers to load";
        return Err(InputError::new(dir.to_string_lossy(), 0, "load", why).into());
    }
    Ok(rtl.mutant(case.mutant.unwrap_or(0)))
}

fn made<U: Compiled>(make: &Make, build: Build) -> Result<Rtl<U>, Failure> {
    let dir = make.dir.as_deref();
    if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
        return Err(InputError::new(dir.to_string_lossy(), 0, "--rtl", "no such folder").into());
    }
    let rtl = {
        let (make, mut ticker) = (make.clone(), Ticker::new());
        let what = format!("building the RTL of {}, {build}", U::NAME);
        stop::unless_asked(
            move || Rtl::make(build, &make),
            || ticker.tick(|| what.clone()),
        )?
    };
    let rtl = rtl.map_err(|e| Failure::unbuilt(&e, dir))?;
    if let Some(warnings) = rtl.warned() {
        complain(&warnings);
    }
    Ok(rtl)
}

/// Returns the parameters in `given` that differ from the unit's defaults.
pub fn parameters<U: Compiled>(given: &[(String, u32)]) -> BTreeMap<String, u32> {
    let default = |name: &str| {
        U::PARAMETERS
            .iter()
            .find(|p| p.name == name)
            .map(|p| p.default)
    };
    let differs = |(name, value): &&(String, u32)| default(name) != Some(*value);
    given.iter().filter(differs).cloned().collect()
}

/// Returns `path` relative to the current folder if it lies below that folder, and otherwise unchanged: for commands and messages.
pub fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok());
    let below = below.filter(|below| !below.as_os_str().is_empty());
    below.unwrap_or(path).to_owned()
}

/// Returns `path` as an absolute path, for saved cases; unchanged if there is no current folder.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Parses `FIELD[ELEMENT].BIT@CYCLE`; element and bit default to 0.
fn flip(text: &str) -> Result<Flip, InputError> {
    let bad = |why: &str| {
        InputError::option("--flip", format!("{text}: {why}; FIELD[ELEMENT].BIT@CYCLE"))
    };
    let (what, cycle) = text.split_once('@').ok_or_else(|| bad("no cycle"))?;
    let cycle = cycle.parse().map_err(|_| bad("the cycle is no number"))?;
    let (what, bit) = what.split_once('.').unwrap_or((what, "0"));
    let bit = bit.parse().map_err(|_| bad("the bit is no number"))?;
    let (field, element) = match what.split_once('[') {
        Some((field, rest)) => (field, rest.strip_suffix(']').ok_or_else(|| bad("no ]"))?),
        None => (what, "0"),
    };
    let element = element
        .parse()
        .map_err(|_| bad("the element is no number"))?;
    Ok(Flip {
        field: field.to_owned(),
        element,
        bit,
        cycle,
    })
}

/// The destination of a trace.
enum TraceFile {
    /// A file that gets its name at the end.
    File(Output),
    /// `-`.
    Standard(Stdout),
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            TraceFile::File(file) => file.write(bytes),
            TraceFile::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            TraceFile::File(file) => file.flush(),
            TraceFile::Standard(out) => out.flush(),
        }
    }
}

/// Writes the trace of the golden model's run.
struct Trace<U: Compiled> {
    out: BufWriter<TraceFile>,
    /// State before the step, and the pins of its first cycle.
    before: (U::State, U::In),
    step: u64,
    program: U::Program,
    lanes: usize,
    error: Option<std::io::Error>,
    stop: &'static AtomicBool,
}

impl<U: Compiled> Watch<U> for Trace<U> {
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        if !U::mid_step(golden.state()) {
            self.before = (*golden.state(), *pins);
        }
    }
    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        if golden.step() != Step::None {
            let (before, pins) = &self.before;
            let record = U::trace(self.step, &self.program, before, pins, golden, self.lanes);
            if let Err(e) = writeln!(self.out, "{record}") {
                self.error.get_or_insert(e);
            }
            self.step += 1;
        }
    }
    fn enough(&self) -> bool {
        self.error.is_some() || self.stop.load(Ordering::Relaxed)
    }
}

impl<U: Compiled> Trace<U> {
    /// Writes the trace of `case` up to cycle `last`.
    fn write(mut self, case: &Case<U>, last: u64, path: &Path) -> Result<(), Failure> {
        let shown = |e: &dyn std::fmt::Display| Failure::Other(format!("{}: {e}", path.display()));
        let standard = is_standard(path);
        U::golden_alone(case, last, &mut self);
        if self.stop.load(Ordering::Relaxed) {
            return Err(shown(&"interrupted"));
        }
        if standard {
            let written = self.error.map_or_else(|| self.out.flush(), Err);
            return Ok(ignoring_readers(written)?);
        }
        if let Some(e) = self.error {
            return Err(shown(&e));
        }
        match self.out.into_inner().map_err(|e| shown(&e))? {
            TraceFile::File(file) => file.finish().map_err(|e| shown(&e)),
            TraceFile::Standard(_) => Ok(()),
        }
    }
}

fn trace_file(path: &Path) -> Result<BufWriter<TraceFile>, Failure> {
    writable("--trace", path)?;
    if is_standard(path) {
        return Ok(BufWriter::new(TraceFile::Standard(std::io::stdout())));
    }
    let file = Output::create(path)
        .map_err(|e| InputError::new("--trace", 0, path.to_string_lossy(), e.to_string()))?;
    Ok(BufWriter::new(TraceFile::File(file)))
}

pub fn run<U: Compiled>(args: &RunArgs) -> Done {
    args.show.check()?;
    writable_json(args.json.as_deref())?;
    let mut case = args.case.case::<U>(&args.program, &args.load)?;
    case.flip = args.flip.as_deref().map(flip).transpose()?;
    // Absolute, so that the saved case replays from anywhere.
    case.rtl = args.place.rtl.as_deref().map(absolute);
    case.check("").map_err(InputError::in_option)?;
    warn(&U::refused(&case.program, &case.build()));

    let trace = match &args.trace {
        Some(path) => {
            let trace = Trace::<U> {
                out: trace_file(path)?,
                before: (*case.golden().state(), U::In::default()),
                step: 0,
                program: case.program.clone(),
                lanes: case.lanes as usize,
                error: None,
                stop: stop::asked()?,
            };
            Some((trace, path))
        }
        None => None,
    };
    let rtl = rtl::<U>(&args.place, case.build())?;
    case.no_assert = rtl.no_assert();
    let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
    let judged = check(&mut rtl, &case, Judges::All)?;
    known(&args.show, &judged);
    let out = &args.place.out;
    let Shown {
        case,
        judged,
        written,
    } = super::show::show(&args.show, case, judged, &mut rtl, out)?;
    let mut saved = None;
    let (done, last) = match &judged {
        Ok(agreed) => {
            let text = agreed_text(&case, agreed);
            print(&text)?;
            (Ok(Agreed::Yes), u64::MAX)
        }
        Err(failure) => {
            let last = match failure.cause {
                Cause::Mismatch(_) | Cause::Stopped(_) => failure.cycle(),
                _ => u64::MAX,
            };
            saved = found::save_run(failure, &args.place.out)?;
            (found::report_saved(failure, &saved, &mut rtl), last)
        }
    };
    let told = tell_json(args.json.as_deref(), &case, &judged, &saved);
    // Only the golden model runs: the trace does not depend on the RTL, whatever that does.
    let traced = trace.map_or(Ok(()), |(trace, path)| trace.write(&case, last, path));
    let dumped = match judged {
        Ok(_) if args.wave => waves(&mut rtl, &case, &args.place.out),
        _ => Ok(()),
    };
    ends(done?, told.and(traced).and(dumped).and(written).err())
}

fn writable_json(path: Option<&Path>) -> Result<(), InputError> {
    path.map_or(Ok(()), |path| writable("--json", path))
}

/// Writes the result of a run, if requested.
fn tell_json<U: Compiled>(
    path: Option<&Path>,
    case: &Case<U>,
    judged: &Judged<Case<U>>,
    saved: &Saved,
) -> Result<(), Failure> {
    match path {
        Some(path) => Ok(write_whole(path, &outcome::text(case, judged, saved))?),
        None => Ok(()),
    }
}

/// Judges a case in a worker, and shows progress if that takes long.
fn check<U: Compiled>(
    rtl: &mut Isolated<U>,
    case: &Case<U>,
    judges: Judges,
) -> Result<Result<judges::Agreed<U>, failure::Failure<Case<U>>>, Failure> {
    let (name, mut ticker, mut done) = (case.name(), Ticker::new(), 0);
    let judged = rtl.check(case, judges, |cycles| {
        done = cycles;
        let cycles = HumanCount(cycles);
        ticker.tick(|| format!("{name}: {cycles} cycles, nothing failed so far"));
    });
    match judged {
        // Of --flip or of a saved case.
        Ok(Err(failure::Failure {
            cause: Cause::NotRun(why),
            compared,
            ..
        })) if compared.cycles > 0
            && let Some(flip) = &case.flip =>
        {
            Err(InputError::new(format!("flip {flip}"), 0, "cycle", why).into())
        }
        Ok(judged) => Ok(judged),
        Err(Trouble::Interrupted) => {
            let cycles = HumanCount(done);
            let why = format!("{name}: interrupted after {cycles} cycles, in which nothing failed");
            Err(Failure::Other(why))
        }
        Err(trouble) => Err(Failure::Other(trouble.why())),
    }
}

/// Writes waves of a case that agrees, and prints their files.
fn waves<U: Compiled>(rtl: &mut Isolated<U>, case: &Case<U>, out: &Path) -> Result<(), Failure> {
    match rtl.waves(case, None, out) {
        Ok(waves) => {
            print(&waves.to_string())?;
            let kept = waves.kept.map(|why| format!("the dump stays a VCD: {why}"));
            kept.map_or(Ok(()), |why| Err(Failure::Other(why)))
        }
        Err(trouble) => Err(Failure::Other(trouble.why())),
    }
}

/// Returns the text on a case on which all judges agree.
pub fn agreed_text<U: Compiled>(case: &Case<U>, agreed: &judges::Agreed<U>) -> String {
    let compared = agreed.compared;
    let end = if agreed.step_limit {
        format!(
            "stopped after {} instructions (--max-steps)",
            compared.steps
        )
    } else {
        format!(
            "{}, pc 0x{:03x}, after {} instructions",
            U::outcome(&agreed.end),
            U::pc(&agreed.end),
            compared.steps
        )
    };
    let scalar = match &agreed.scalar {
        Scalar::NotAsked => "was not asked".to_owned(),
        Scalar::CannotTell(why) => format!("cannot tell: {why}"),
        Scalar::Agrees {
            instructions: 0, ..
        } => "has nothing to compare: no lane executed anything".to_owned(),
        Scalar::Agrees {
            lanes,
            instructions,
        } => format!(
            "agrees: {lanes} lanes, {instructions} instructions executed as each lane would alone"
        ),
    };
    let remark = U::remark(&case.program, &agreed.end)
        .map_or_else(String::new, |remark| format!("note         {remark}\n"));
    format!(
        "{}  {end}\nlock-step    agrees: {} cycles, {} fields each, {} lanes\nscalar judge {scalar}\n{remark}",
        case.name(),
        compared.cycles,
        U::fields().len(),
        case.lanes
    )
}

/// Returns whether the RTL in `dir` may run although only a saved case names it.
pub fn trusted<U: Compiled>(dir: &Path) -> bool {
    foreign::<U>(dir).is_none()
}

/// Returns why the RTL in `dir` must not run if only a saved case names it: `dir` itself, or a file or folder that it names, which
/// must lie below the current folder, or be our own. A case may come from anywhere, and the RTL that it names would run with the
/// rights of the user.
fn foreign<U: Compiled>(dir: &Path) -> Option<PathBuf> {
    let real = |dir: PathBuf| std::fs::canonicalize(dir).ok();
    let current = std::env::current_dir().ok().and_then(real);
    // Everything lies below the root, which therefore does not count.
    let current = current.filter(|dir| dir.parent().is_some());
    let ours = [current, own_rtl::<U>().ok().and_then(real)];
    let inside = |path: &PathBuf| {
        let real = real(path.clone());
        real.is_some_and(|path| ours.iter().flatten().any(|own| path.starts_with(own)))
    };
    let named = std::iter::once(dir.to_owned()).chain(dut::paths_of::<U>(dir));
    named.into_iter().find(|path| !inside(path))
}

/// Records a failure before anything is written of it. With `--step` the verdict is that of the last run.
fn known<U: Compiled>(show: &super::show::ShowArgs, judged: &Judged<Case<U>>) {
    if let Err(failure) = judged
        && !matches!(failure.cause, Cause::NotRun(_))
        && !show.step
    {
        super::failed();
    }
}

pub fn replay<U: Compiled>(text: &str, file: &str, args: &ReplayArgs) -> Done {
    args.show.check()?;
    writable_json(args.json.as_deref())?;
    let mut saved = SavedCase::<U>::parse(text, file)?;
    let real = |dir: &Path| std::fs::canonicalize(dir).ok();
    match (&args.place.rtl, &saved.case.rtl) {
        (None, Some(named)) if named.is_dir() => {
            if let Some(path) = foreign::<U>(named) {
                let what = match path == *named {
                    true => "RTL outside this folder".to_owned(),
                    false => format!("RTL that uses {}, outside this folder", path.display()),
                };
                let why = format!(
                    "the case names {what}, and RTL is a program: if it is to be built and run, replay with --rtl {}",
                    shell(&named.to_string_lossy())
                );
                return Err(InputError::new(file, 0, "rtl", why).into());
            }
            complain(&format!(
                "note: the RTL is the case's own: {}",
                relative(named).display()
            ));
        }
        (None, Some(named)) => {
            let why = format!(
                "{}: no such folder; replay with --rtl and the folder of the RTL",
                named.display()
            );
            return Err(InputError::new(file, 0, "rtl", why).into());
        }
        (Some(dir), named) => {
            // Mutants are those of the RTL that the case names.
            let same = |named: &PathBuf| real(named).is_some_and(|named| real(dir) == Some(named));
            if !named.as_ref().is_some_and(same) {
                saved.case.mutant = None;
            }
            saved.case.rtl = Some(absolute(dir));
        }
        _ => {}
    }
    saved.case.no_assert |= args.place.no_assert;
    let case = &saved.case;
    if let (Some(number), Some(dir)) = (case.mutant, &case.rtl) {
        check_number(dir, number, file)?;
    }
    let rtl = rtl_of(case)?;
    let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
    // A failure of the scalar judge that cannot tell is one of a program that must be structured.
    let judges = match &saved.failure {
        Some(Place::ScalarJudge { .. }) => Judges::Structured,
        _ => Judges::All,
    };
    let out = &args.place.out;
    let judged = check(&mut rtl, case, judges)?;
    known(&args.show, &judged);
    let Shown {
        case,
        judged,
        written,
    } = super::show::show(&args.show, case.clone(), judged, &mut rtl, out)?;
    let json = |there: &Saved| tell_json(args.json.as_deref(), &case, &judged, there);
    match &judged {
        Ok(_) if args.shrink => {
            let why = "does not fail, there is nothing to shrink";
            Err(InputError::new(file, 0, "--shrink", why).into())
        }
        Ok(agreed) => {
            let mut text = agreed_text(&case, agreed);
            if let Some(place) = &saved.failure {
                let _ = writeln!(text, "it failed {place} when it was saved");
            }
            print(&text)?;
            json(&None)?;
            waves(&mut rtl, &case, out)?;
            ends(Agreed::Yes, written.err())
        }
        Err(failure) => {
            let now = failure.place();
            if let Some(place) = saved.failure.as_ref().filter(|place| **place != now) {
                complain(&format!("note: saved as failing {place}; fails now {now}"));
            }
            if args.shrink && failure.lost() {
                complain("note: not shrunk: what crashes or hangs is not made smaller");
            }
            let there = found::save_run(failure, out)?;
            match args.shrink && !failure.lost() {
                true => found::smaller(failure, &there, &mut rtl, out).map(drop),
                false => found::whole(failure, &there, &mut rtl).map(drop),
            }?;
            ends(Agreed::No, json(&there).and(written).err())
        }
    }
}
