//! `run` and `replay`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use reconverge::case::{Case, Conditions, Flip, SavedCase, Table};
use reconverge::dut::Rtl;
use reconverge::input::InputError;
use reconverge::lockstep::{self, Outcome};
use reconverge::mutate::check_number;
use reconverge::report;
use reconverge::unit::{Build, Golden, LoadOptions, Records, Step, Unit, Verdict};
use reconverge::watch::Watch;
use reconverge::wave::{self, Output};

use super::{
    Agreed, Done, Failure, LoadArgs, ReplayArgs, RunArgs, complain, print, program, read,
    read_text, warn, writable,
};

impl From<&LoadArgs> for LoadOptions {
    fn from(args: &LoadArgs) -> Self {
        LoadOptions {
            safe_loops: args.safe_loops,
            which: args.select.clone(),
        }
    }
}

/// The RTL that a command is to judge.
pub fn rtl<U: Unit>(dir: Option<&Path>, build: Build) -> Result<Rtl<U>, Failure> {
    made(dir, |dir| lying_in(dir, build))
}

/// The RTL that `case` fails or agrees on, as the mutant that it names, built with `build`.
pub fn rtl_of<U: Unit>(case: &Case<U>, build: Build) -> Result<Rtl<U>, String> {
    let rtl = lying_in(case.rtl.as_deref(), build)?;
    Ok(rtl.mutant(case.mutant.unwrap_or(0)))
}

fn lying_in<U: Unit>(dir: Option<&Path>, build: Build) -> Result<Rtl<U>, String> {
    match dir {
        None => Rtl::own(build),
        Some(dir) => Rtl::of(build, dir),
    }
}

/// It, counting what of it is executed.
pub fn counting_rtl<U: Unit>(dir: Option<&Path>, build: Build) -> Result<Rtl<U>, Failure> {
    made(dir, |dir| Rtl::counting(build, dir))
}

fn made<U: Unit>(
    dir: Option<&Path>,
    make: impl FnOnce(Option<&Path>) -> Result<Rtl<U>, String>,
) -> Result<Rtl<U>, Failure> {
    match dir {
        None => Ok(make(None)?),
        Some(dir) if !dir.is_dir() => {
            Err(InputError::new(dir.to_string_lossy(), 0, "--rtl", "no such folder").into())
        }
        // What is wrong with somebody's RTL is wrong input.
        Some(dir) => make(Some(dir))
            .map_err(|why| InputError::new(dir.to_string_lossy(), 0, "--rtl", why).into()),
    }
}

/// Those of `given` that are not the unit's defaults anyhow.
pub fn parameters<U: Unit>(given: &[(String, u32)]) -> BTreeMap<String, u32> {
    let default = |name: &str| {
        U::PARAMETERS
            .iter()
            .find(|p| p.name == name)
            .map(|p| p.default)
    };
    let differs = |(name, value): &&(String, u32)| default(name) != Some(*value);
    given.iter().filter(differs).cloned().collect()
}

/// `path` from the root, for saved cases; as it is where there is no current folder.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// `FIELD[ELEMENT].BIT@CLOCK`; element and bit default to 0.
fn flip(text: &str) -> Result<Flip, InputError> {
    let bad = |why: &str| {
        InputError::new(
            "--flip",
            0,
            "flip",
            format!("{text}: {why}; FIELD[ELEMENT].BIT@CLOCK"),
        )
    };
    let (what, clock) = text.split_once('@').ok_or_else(|| bad("no clock"))?;
    let clock = clock.parse().map_err(|_| bad("the clock is no number"))?;
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
        clock,
    })
}

/// Writes the trace as the run goes on, into a file that gets its name at the end.
struct Trace<U: Unit> {
    out: BufWriter<Output>,
    /// State before the step, and the pins of its first clock.
    before: (U::State, U::In),
    step: u64,
    lanes: usize,
    error: Option<std::io::Error>,
}

impl<U: Unit> Watch<U> for Trace<U> {
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        if !U::mid_step(golden.state()) {
            self.before = (*golden.state(), *pins);
        }
    }
    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        if golden.step() != Step::None {
            let (before, pins) = &self.before;
            let record = U::trace(self.step, before, pins, golden, self.lanes);
            if let Err(e) = writeln!(self.out, "{record}") {
                self.error.get_or_insert(e);
            }
            self.step += 1;
        }
    }
}

fn trace_file(path: &Path) -> Result<BufWriter<Output>, Failure> {
    writable("--trace", path)?;
    let file = Output::create(path)
        .map_err(|e| InputError::new("--trace", 0, path.to_string_lossy(), e.to_string()))?;
    Ok(BufWriter::new(file))
}

pub fn run<U: Unit>(args: &RunArgs) -> Done {
    let file = args.program.to_string_lossy();
    let loaded = U::load(&read(&args.program)?, &file, &LoadOptions::from(&args.load))?;
    warn(&loaded.warnings);
    let lanes = args.lanes.unwrap_or(U::LANES);
    let mut case = Case::<U>::new(loaded.program);
    case.seed = args.seed;
    case.lanes = lanes;
    case.parameters = parameters::<U>(&args.parameters);
    case.launch_mask = args.launch_mask.unwrap_or(u64::MAX >> (64 - lanes));
    case.stall16 = args.stall16;
    case.max_steps = args.max_steps;
    case.conditions = match &args.conditions {
        Some(path) => Conditions::Table(Table::parse(&read_text(path)?, &path.to_string_lossy())?),
        None => Conditions::Drawn { p16: args.p16 },
    };
    case.flip = args.flip.as_deref().map(flip).transpose()?;
    // Absolute, so that the saved case replays from anywhere.
    case.rtl = args.place.rtl.as_deref().map(absolute);
    case.check("flags")?;

    let mut trace = match &args.trace {
        Some(path) => Some(Trace::<U> {
            out: trace_file(path)?,
            before: (*case.golden().state(), U::In::default()),
            step: 0,
            lanes: lanes as usize,
            error: None,
        }),
        None => None,
    };
    let rtl = rtl::<U>(args.place.rtl.as_deref(), case.build())?;
    let ran = judged(&case, &rtl, &mut trace)?;
    if let (Some(trace), Some(path)) = (trace, &args.trace) {
        let shown = |e: &dyn std::fmt::Display| Failure::Other(format!("{}: {e}", path.display()));
        if let Some(e) = trace.error {
            return Err(shown(&e));
        }
        let file = trace.out.into_inner().map_err(|e| shown(&e))?;
        file.finish().map_err(|e| shown(&e))?;
    }
    if ran.outcome.mismatch.is_some() {
        return mismatch(&case, &rtl, &ran.outcome, &args.place.out);
    }
    let mut text = ran.text;
    if args.wave {
        text += &dump(&case, &rtl, &args.place.out)?;
    }
    print(&text)?;
    Ok(ran.agreed)
}

/// A run, and what all judges say of it.
struct Ran<U: Unit> {
    outcome: Outcome<U>,
    agreed: Agreed,
    /// To be printed, unless RTL and golden differ.
    text: String,
}

/// Runs `case` and asks every judge.
fn judged<U: Unit>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    watch: &mut impl Watch<U>,
) -> Result<Ran<U>, Failure> {
    let mut records = Records::default();
    let mut golden = case.golden();
    let mut dut = rtl.open(case.model_seed())?;
    let outcome = lockstep::run(case, &mut dut, &mut golden, &mut (watch, &mut records));
    if let Some(stopped) = &outcome.stopped {
        let text = format!(
            "STOPPED {}  clock {}  {}\n",
            case.name(),
            stopped.clock,
            stopped.why
        );
        return Ok(Ran {
            agreed: Agreed::No,
            text,
            outcome,
        });
    }
    if outcome.mismatch.is_some() {
        return Ok(Ran {
            outcome,
            agreed: Agreed::No,
            text: String::new(),
        });
    }
    if let Some(flip) = &case.flip {
        let why = format!(
            "the run ended after {} clocks, clock {} never came",
            outcome.compared.clocks, flip.clock
        );
        return Err(InputError::new("--flip", 0, "clock", why).into());
    }
    let mut text = agreed(case, &outcome)?;
    let verdict = match records.judge(case, &outcome.end) {
        Verdict::Agrees {
            instructions: 0, ..
        } => "has nothing to compare: no lane executed anything".to_owned(),
        Verdict::Agrees {
            lanes,
            instructions,
        } => {
            format!(
                "agrees: {lanes} lanes, {instructions} instructions executed as each lane would alone"
            )
        }
        Verdict::Disagrees { lane, how } => {
            let _ = writeln!(text, "scalar judge DISAGREES: lane {lane}: {how}");
            return Ok(Ran {
                outcome,
                agreed: Agreed::No,
                text,
            });
        }
        Verdict::NotStructured(why) => format!("cannot tell: {why}"),
    };
    let _ = writeln!(text, "scalar judge {verdict}");
    Ok(Ran {
        outcome,
        agreed: Agreed::Yes,
        text,
    })
}

/// What is said of a run that agreed.
fn agreed<U: Unit>(case: &Case<U>, outcome: &Outcome<U>) -> Result<String, Failure> {
    let compared = outcome.compared;
    if compared.clocks == 0 || compared.launches == 0 {
        return Err(Failure::Other(format!(
            "{}: nothing was compared",
            case.name()
        )));
    }
    let end = if outcome.step_limit {
        format!(
            "stopped after {} instructions (--max-steps)",
            compared.steps
        )
    } else {
        format!(
            "{}, pc 0x{:03x}, after {} instructions",
            U::outcome(&outcome.end),
            U::pc(&outcome.end),
            compared.steps
        )
    };
    Ok(format!(
        "{}  {end}\nlock-step    agrees: {} clocks, {} fields each, {} lanes\n",
        case.name(),
        compared.clocks,
        U::fields().len(),
        case.lanes
    ))
}

/// Writes waves of a run that agreed; says where.
fn dump<U: Unit>(case: &Case<U>, rtl: &Rtl<U>, out: &Path) -> Result<String, Failure> {
    std::fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let with =
        |ending: &str| PathBuf::from(format!("{}.{ending}", out.join(case.name()).display()));
    let (vcd, gtkw) = (with("vcd"), with("gtkw"));
    let mut dut = rtl.open(case.model_seed())?;
    let mut golden = case.golden();
    lockstep::run_with_dump(case, &mut dut, &mut golden, &mut (), 0, &vcd)?;
    let view = wave::write_view::<U>(&gtkw, &vcd, case.lanes as usize, None)?;
    Ok(format!("wave    {}\nview    {view}\n", vcd.display()))
}

/// Reports a mismatch: run again with waves, saved, printed.
pub fn mismatch<U: Unit>(case: &Case<U>, rtl: &Rtl<U>, outcome: &Outcome<U>, out: &Path) -> Done {
    print(&mismatch_report(case, rtl, outcome, out)?)?;
    Ok(Agreed::No)
}

/// The report of a mismatch, from a run again with waves; the case is saved. What cannot be written to `out`
/// goes to a temporary folder: a found mismatch is not lost.
pub fn mismatch_report<U: Unit>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    outcome: &Outcome<U>,
    out: &Path,
) -> Result<String, Failure> {
    let report = match report::diagnose(case, rtl, outcome, out) {
        Err(why) => {
            let dir = tempfile::Builder::new()
                .prefix("reconverge-")
                .tempdir()
                .map_err(|e| format!("{why}; no temporary folder either: {e}"))?
                .keep();
            complain(&format!(
                "warning: {why}; written to {} instead",
                dir.display()
            ));
            report::diagnose(case, rtl, outcome, &dir)?
        }
        Ok(report) => report,
    };
    Ok(report.map_or_else(String::new, |mut report| {
        report.program = program();
        report.to_string()
    }))
}

pub fn replay<U: Unit>(text: &str, file: &str, args: &ReplayArgs) -> Done {
    let mut saved = SavedCase::<U>::parse(text, file)?;
    if let Some(dir) = &args.place.rtl {
        saved.case.rtl = Some(dir.clone());
        saved.case.mutant = None;
    }
    let case = &saved.case;
    if let (Some(number), Some(dir)) = (case.mutant, &case.rtl) {
        check_number(dir, number, file)?;
    }
    let rtl = made(case.rtl.as_deref(), |_| rtl_of(case, case.build()))?;
    let ran = judged(case, &rtl, &mut ())?;
    if let Some(found) = &ran.outcome.mismatch {
        if let Some(saved) = &saved.failure {
            let first = &found.diffs[0];
            let field = U::fields()[first.field].name;
            if (found.clock, field, first.element)
                != (saved.clock, saved.field.as_str(), saved.element)
            {
                complain(&format!(
                    "note: saved at clock {} field {}[{}], fails now at clock {} field {field}[{}]",
                    saved.clock, saved.field, saved.element, found.clock, first.element
                ));
            }
        }
        let done = mismatch(case, &rtl, &ran.outcome, &args.place.out)?;
        if args.shrink {
            print("\n")?;
            super::shrink::shrink(case, &rtl, &args.place.out)?;
        }
        return Ok(done);
    }
    if args.shrink && ran.agreed == Agreed::Yes {
        let why = "does not fail, there is nothing to shrink";
        return Err(InputError::new(file, 0, "--shrink", why).into());
    }
    let mut text = ran.text;
    if let Some(saved) = &saved.failure {
        let _ = writeln!(
            text,
            "it failed at clock {} in {} when it was saved",
            saved.clock, saved.field
        );
    }
    text += &dump(case, &rtl, &args.place.out)?;
    print(&text)?;
    if args.shrink {
        print("\n")?;
        super::shrink::shrink(case, &rtl, &args.place.out)?;
    }
    Ok(ran.agreed)
}
