//! `run` and `replay`.

use std::fmt::Write as _;
use std::io::{BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use indicatif::HumanCount;
use reconverge::case::Case;
use reconverge::check::{Judged, Judges};
use reconverge::compiled::Compiled;
use reconverge::design::Golden;
use reconverge::dut::Rtl;
use reconverge::failure::{self, Cause};
use reconverge::field::Flip;
use reconverge::input::{InputError, relative};
use reconverge::mutate::check_number;
use reconverge::quantity::counted;
use reconverge::saved::{Savable as _, Saved};
use reconverge::unit::{Executor as _, Step};
use reconverge::watch::Watch;
use reconverge::wave::{Output, shell};

use crate::args::{CaseArgs, LoadArgs, PlaceArgs};
use crate::console::{Done, Failure, Status, complain, ends, print, warn};
use crate::found::SavedFile;
use crate::guests::program_unit_names;
use crate::progress::Ticker;
use crate::rtl::{foreign, made, make, named_rtl, rtl};
use crate::shows::{ShowArgs, Shown, Shows};
use crate::stop::Trouble;
use crate::streams::{
    all_writable, folder, ignoring_readers, is_standard, was_read, writable, write_whole,
};
use crate::workers::{Isolated, LimitArgs};
use crate::{found, outcome, stop};

#[derive(Args, Clone)]
pub struct RunArgs {
    /// Unit
    #[arg(value_parser = program_unit_names())]
    pub unit: String,
    /// Program: assembly, hex, or a compiler's output, recognised by content; `-`: standard input, here and wherever a
    /// file is read. Where a file is written `-` is standard output, and all else is told on standard error
    pub program: PathBuf,
    #[command(flatten)]
    pub case: CaseArgs,
    /// Write a trace: a line of JSON for each executed instruction
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write a VCD and a GTKWave view even if nothing differs
    #[arg(long)]
    pub wave: bool,
    /// Flip one bit of the expected state, to see what a mismatch looks like: FIELD[ELEMENT].BIT@CYCLE, such as pc@5; the fields
    /// are those of the report, element and bit are 0 if left out
    #[arg(long, value_name = "WHERE")]
    pub flip: Option<String>,
    /// Write how the run ended, and of a failure where and why, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
}

#[derive(Args)]
pub struct PictureArgs {
    /// The picture, an SVG
    #[arg(short, long, value_name = "FILE", conflicts_with = "picture")]
    pub output: PathBuf,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Args)]
pub struct ReplayArgs {
    /// A saved {programs:case or }stream of pins
    pub file: PathBuf,
    /// Shrink the case, save the smaller one as NAME.shrunk.json{programs:, its program, if it has one, as NAME.shrunk.s}, and report that
    /// one. A name that another case has gets a number: NAME.shrunk-2.json
    #[arg(long)]
    pub shrink: bool,
    /// Write how the run ended, and of a failure where and why, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Returns the RTL on which `case` fails or agrees, with the mutant that it names.
fn rtl_of<C: Shows>(case: &C) -> Result<Rtl<C::Design>, Failure> {
    let rtl = made(
        &make::<C::Design>(case.rtl(), case.no_assert()),
        case.build(),
    )?;
    if let Some(dir) = case.rtl().filter(|_| case.loads() && !rtl.preloads()) {
        let why = "the case begins in a state that this RTL cannot be put into: its probes name no registers to load";
        return Err(InputError::new(dir.to_string_lossy(), 0, "load", why).into());
    }
    Ok(rtl.mutant(case.mutant().unwrap_or(0)))
}

/// Parses `FIELD[ELEMENT].BIT@CYCLE`; element and bit default to 0.
fn flip(text: &str) -> Result<Flip, InputError> {
    let bad = |why: &str| {
        InputError::option("--flip", format!("{text}: {why}; FIELD[ELEMENT].BIT@CYCLE"))
    };
    let (what, cycle) = (text.split_once('@')).ok_or_else(|| bad("the cycle is missing"))?;
    let cycle = cycle.parse();
    let cycle = cycle.map_err(|_| bad("the cycle must be a number"))?;
    let (what, bit) = what.split_once('.').unwrap_or((what, "0"));
    let bit = bit.parse().map_err(|_| bad("the bit must be a number"))?;
    let (field, element) = match what.split_once('[') {
        Some((field, rest)) => (field, rest.strip_suffix(']').ok_or_else(|| bad("no ]"))?),
        None => (what, "0"),
    };
    let element = element.parse();
    let element = element.map_err(|_| bad("the element must be a number"))?;
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
    all_writable([("--json", &args.json)])?;
    let mut case = args.case.case::<U>(&args.program, &args.load)?;
    case.flip = args.flip.as_deref().map(flip).transpose()?;
    case.rtl = args.place.rtl.as_deref().and_then(named_rtl::<U>);
    case.check_input("").map_err(InputError::in_option)?;
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
    } = case.show(&args.show, judged, &mut rtl, out)?;
    let mut saved = None;
    let (done, last) = match &judged {
        Ok(agreed) => {
            let text = case.agreed_text(agreed);
            print(&text)?;
            (Ok(Status::Agreed), u64::MAX)
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

/// Writes the result of a run, if requested.
fn tell_json<C: Shows>(
    path: Option<&Path>,
    case: &C,
    judged: &Judged<C>,
    saved: &SavedFile,
) -> Result<(), Failure> {
    match path {
        Some(path) => Ok(write_whole(path, &outcome::text(case, judged, saved))?),
        None => Ok(()),
    }
}

/// Judges a case in a worker, and shows progress if that takes long.
fn check<C: Shows>(rtl: &mut Isolated<C>, case: &C, judges: Judges) -> Result<Judged<C>, Failure> {
    let (name, mut ticker, mut done) = (case.name(), Ticker::new(), 0);
    let judged = rtl.check(case, judges, |cycles| {
        done = cycles;
        let cycles = counted(HumanCount(cycles), "cycle");
        ticker.tick(|| format!("{name}: {cycles}, nothing failed so far"));
    });
    match judged {
        // Of --flip or of a saved case.
        Ok(Err(failure::Failure {
            cause: Cause::NotRun(why),
            compared,
            ..
        })) if compared.cycles > 0
            && let Some(flip) = case.flip() =>
        {
            Err(InputError::new(format!("flip {flip}"), 0, "cycle", why).into())
        }
        Ok(judged) => Ok(judged),
        Err(Trouble::Interrupted) => {
            let cycles = counted(HumanCount(done), "cycle");
            let why = format!("{name}: interrupted after {cycles}, in which nothing failed");
            Err(Failure::Other(why))
        }
        Err(trouble) => Err(Failure::Other(trouble.why())),
    }
}

/// Writes waves of a case that agrees, and prints their files.
fn waves<C: Shows>(rtl: &mut Isolated<C>, case: &C, out: &Path) -> Result<(), Failure> {
    match rtl.waves(case, None, out) {
        Ok(waves) => {
            print(&waves.to_string())?;
            let kept = waves.kept.map(|why| format!("the dump stays a VCD: {why}"));
            kept.map_or(Ok(()), |why| Err(Failure::Other(why)))
        }
        Err(trouble) => Err(Failure::Other(trouble.why())),
    }
}

/// Records a failure before anything is written of it. With `--step` the verdict is that of the last run.
fn known<C: Shows>(show: &ShowArgs, judged: &Judged<C>) {
    if let Err(failure) = judged
        && !matches!(failure.cause, Cause::NotRun(_))
        && !show.step
    {
        crate::console::failed();
    }
}

pub fn replay<C: Shows>(text: &str, file: &str, args: &ReplayArgs) -> Done {
    C::can_show(&args.show, file)?;
    all_writable([("--json", &args.json)])?;
    let saved = Saved::<C>::parse(text, file)?;
    let judges = saved.judges();
    let (mut case, place) = (saved.case, saved.failure);
    let real = |dir: &Path| std::fs::canonicalize(dir).ok();
    let (mut saved_rtl, mut mutant) = (case.rtl().map(Path::to_owned), case.mutant());
    match (&args.place.rtl, &saved_rtl) {
        (None, Some(named)) if named.is_dir() => {
            if let Some(path) = foreign::<C::Design>(named) {
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
        (Some(dir), there) => {
            // Mutants are those of the RTL that the case names.
            let given = named_rtl::<C::Design>(dir);
            let same = match there {
                Some(there) => real(there).is_some_and(|there| real(dir) == Some(there)),
                None => given.is_none(),
            };
            if !same {
                mutant = None;
                saved_rtl = given;
            }
        }
        _ => {}
    }
    let no_assert = case.no_assert() || args.place.no_assert;
    case.on_rtl(saved_rtl.as_deref(), no_assert, mutant);
    if let (Some(number), Some(dir)) = (mutant, &saved_rtl) {
        check_number(dir, number, file)?;
    }
    let rtl = rtl_of(&case)?;
    let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
    let out = &args.place.out;
    let judged = check(&mut rtl, &case, judges)?;
    known(&args.show, &judged);
    let Shown {
        case,
        judged,
        written,
    } = case.show(&args.show, judged, &mut rtl, out)?;
    let json = |there: &SavedFile| tell_json(args.json.as_deref(), &case, &judged, there);
    match &judged {
        Ok(_) if args.shrink => {
            let why = "does not fail, there is nothing to shrink";
            Err(InputError::new(file, 0, "--shrink", why).into())
        }
        Ok(agreed) => {
            let mut text = case.agreed_text(agreed);
            if let Some(place) = &place {
                let _ = writeln!(text, "it failed {place} when it was saved");
            }
            print(&text)?;
            json(&None)?;
            waves(&mut rtl, &case, out)?;
            ends(Status::Agreed, written.err())
        }
        Err(failure) => {
            let now = failure.place();
            if let Some(place) = place.as_ref().filter(|place| **place != now) {
                complain(&format!("note: saved as failing {place}; fails now {now}"));
            }
            if args.shrink && failure.lost() {
                complain("note: not shrunk: what crashes or hangs is not made smaller");
            }
            // The next campaign runs every file in this folder first: one is enough for this case.
            let beside = real(folder(Path::new(file)));
            // What came from standard input has no file that could be replayed.
            let is_there = beside.is_some() && beside == real(out) && !was_read();
            let saved = match is_there && Saved::from(failure).to_text() == text {
                true => Some(PathBuf::from(file)),
                false => found::save_run(failure, out)?,
            };
            match args.shrink && !failure.lost() {
                true => found::smaller(failure, &saved, &mut rtl, out).map(drop),
                false => found::whole(failure, &saved, &mut rtl).map(drop),
            }?;
            ends(Status::Failed, json(&saved).and(written).err())
        }
    }
}
