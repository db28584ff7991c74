//! What a person needs to inspect a failure: a short report, and waves of a second run.

#[doc(hidden)]
pub mod table;

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use bytemuck::bytes_of;

use crate::channels::Broken;
use crate::check::{Judged, Judges, TestCase};
use crate::design::{Control, Design, Golden};
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::field::Flip;
use crate::input::{one_line, printable};
use crate::lanes::{BOLD, Class, RED, Wavefronts, columns, differing, lanes, legend, styled};
use crate::lockstep::Mismatch;
use crate::quantity::counted;
use crate::stream::RESET_CYCLES;
use crate::transactions::Transaction;
use crate::wave;
use table::Table;

/// Lines of history in a report.
const HISTORY: usize = 6;
/// What a report says of a difference between the halves of a cycle.
const HALF: &str = "  half    rtl is before the falling edge of the clock; after it the RTL shows what golden has, as at the end of the\n          cycle. `falling = true` of the field in design.toml or the probe file allows this.\n";
/// What a report says of a difference that a reset has caused.
const AT_ONCE: &str =
    "  reset   asserted in this cycle, between two rising edges: golden is what it sets at once\n";
const NOT_REACHED: &str = "  reset   asserted in this cycle, between two rising edges: golden is what it sets at once; the RTL has the values from\n          before it, as of registers without this reset, or of a reset that acts only with the clock\n";
const HELD: &str = "  reset   asserted in this cycle, before the edge of the clock: golden is what it sets, and the edge changes none of it\n";
const HELD_SAMPLED: &str = "  reset   asserted in this cycle, before the edge of the clock. A `sampled` output depends on the pins of this cycle too: golden\n          computes it from these and from the registers as the reset sets them\n";
const RELEASED: &str = "  reset   released in this cycle\n";
const EARLY: &str = "  reset   asserted in the next cycle, whose edge has not come yet; the RTL shows its effect already. If it is asynchronous,\n          add `asynchronous = true` to its pin in design.toml\n";
/// A dump covers the whole run up to this many cycles; of a longer run, only this many cycles before the failing one.
const WINDOW: u64 = 400;

/// One cycle as text.
#[derive(Clone, Debug)]
pub struct Line {
    /// The cycle, from 0.
    pub cycle: u64,
    /// The inputs of the cycle, such as address and instruction.
    pub what: String,
    /// The lanes before the instruction, if the design runs programs.
    pub lanes: Vec<Class>,
    /// The result of the cycle; for a program, what the lanes did and the stack before the instruction.
    pub state: String,
}

/// The last cycles of a run of the golden model.
pub struct History<D: Design> {
    /// The cycles as text, the last one last.
    pub lines: VecDeque<Line>,
    /// The golden model before the last cycle, and the pins of that cycle.
    pub last: Option<(D::Golden, D::In)>,
}

impl<D: Design> Default for History<D> {
    fn default() -> Self {
        History {
            lines: VecDeque::with_capacity(HISTORY),
            last: None,
        }
    }
}

impl<D: Design> History<D> {
    /// Returns the first cycle of the history, if `last` is the last one.
    pub fn from(last: u64) -> u64 {
        last.saturating_sub(HISTORY as u64)
    }

    /// Adds a line; drops the first line if there are too many.
    pub fn push(&mut self, line: Line) {
        if self.lines.len() == HISTORY {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }
}

/// The text of a failure, except the paths of the files written for it.
#[derive(Clone, Debug)]
pub struct Report {
    headline: String,
    cycle: u64,
    differences: Option<Differences>,
    /// The golden model's rule for the first field that differs.
    pub rule: Option<String>,
    /// The lane of that field, or its other element.
    lane: Option<String>,
    history: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Differences {
    table: Table,
    /// All lanes in RTL and golden model, if the design runs programs.
    lanes: [Vec<Class>; 2],
    /// The golden model's stack, if the fields show only its top.
    stack: Option<String>,
    /// The bit of the expected state that the case flips.
    flipped: Option<String>,
    /// When in the cycle, or why, if that is to be said.
    moment: Option<&'static str>,
    /// The line about the clock of the first field, if that does not rise in the cycle.
    clock: Option<String>,
    /// The line about the promise of a channel that is broken.
    broken: Option<String>,
    /// The line about an output that may depend on pins of its cycle.
    sampled: Option<String>,
    /// The lines about the transaction, and those before it.
    transaction: Option<String>,
}

impl Report {
    /// Creates the report of `failure`. Runs the golden model again, alone, to find what led to it.
    pub fn of<C: TestCase>(failure: &Failure<C>) -> Self {
        let mut report = Report {
            headline: headline(failure),
            cycle: failure.cycle(),
            differences: None,
            rule: None,
            lane: None,
            history: Vec::new(),
        };
        if !matches!(failure.cause, Cause::Mismatch(_) | Cause::Stopped(_)) {
            return report;
        }
        let case = &failure.case;
        let history = case.history(report.cycle);
        if let Some(mismatch) = failure.mismatch() {
            let mut stack = None;
            if let Some((before, pins)) = &history.last {
                let first = mismatch.first();
                let field = &C::Design::fields()[first.field];
                let rule = before.explain(pins, field.name, first.element);
                report.lane = Some(match field.per_lane() {
                    true => Wavefronts::of::<C::Design>(case.lanes()).lane(first.element),
                    false => first.element.to_string(),
                });
                report.rule = (!rule.is_empty()).then(|| C::document(&rule));
                let mut after = before.clone();
                after.cycle(pins);
                stack = C::stack(&after);
            }
            let Mismatch {
                rtl, golden, diffs, ..
            } = mismatch;
            let expected = match &mismatch.broken {
                Some(broken) if broken.both => "promised",
                _ => "golden",
            };
            report.differences = Some(Differences {
                table: Table::new::<C::Design>(rtl, golden, diffs, case.lanes(), expected),
                lanes: case.classes([rtl, golden]),
                stack,
                moment: moment(case.as_ref(), mismatch, history.last.as_ref()),
                clock: history
                    .last
                    .and_then(|(_, pins)| still::<C::Design>(mismatch, &pins)),
                broken: mismatch.broken.as_ref().map(promise),
                sampled: sampled(mismatch),
                transaction: mismatch.transaction.as_ref().map(transaction),
                flipped: case.flip().map(|flip| {
                    let Flip {
                        field,
                        element,
                        bit,
                        cycle,
                    } = flip;
                    format!("{field}[{element}].{bit} of golden in cycle {cycle}: --flip")
                }),
            });
        }
        report.history = history.lines.into();
        report
    }
}

/// Returns what to say of when in its cycle `mismatch` occurs, and of the reset as its cause. `last` is the golden model before this cycle,
/// and its pins.
fn moment<D: Design, C: TestCase<Design = D>>(
    case: &C,
    mismatch: &Mismatch<D>,
    last: Option<&(D::Golden, D::In)>,
) -> Option<&'static str> {
    let (before, pins) = last?;
    let fields = D::fields();
    let shows = |state: &D::State| {
        let mut diffs = mismatch.diffs.iter();
        diffs.all(|d| fields[d.field].get(bytes_of(state), d.element) == d.rtl)
    };
    let other = |cycle: u64| {
        let history = case.history(cycle);
        let reached = history.lines.back().is_some_and(|l| l.cycle == cycle);
        history.last.filter(|(_, pins)| reached && pins.is_reset())
    };
    match (mismatch.half, mismatch.reset) {
        (true, _) => Some(HALF),
        (false, true) if shows(before.state()) => Some(NOT_REACHED),
        (false, true) => Some(AT_ONCE),
        (false, false) if pins.resets_at_once() => {
            let sampled = mismatch.diffs.iter().any(|d| fields[d.field].not_first);
            Some(if sampled { HELD_SAMPLED } else { HELD })
        }
        (false, false) if pins.is_reset() => None,
        (false, false) => {
            let released = mismatch.cycle.checked_sub(1).and_then(other);
            if released.is_some_and(|(_, pins)| pins.resets_at_once()) {
                return Some(RELEASED);
            }
            let (mut golden, pins) = other(mismatch.cycle + 1)?;
            (!pins.resets_at_once() && shows(golden.cycle(&pins))).then_some(EARLY)
        }
    }
}

/// Returns what to say of a field that differs although its clock does not rise with `pins`.
fn still<D: Design>(mismatch: &Mismatch<D>, pins: &D::In) -> Option<String> {
    let field = &D::fields()[mismatch.first().field];
    let mut clocks = D::DECLARATION.pins.iter();
    let clock = clocks.find(|pin| Some(pin.name) == field.clock)?;
    let rises = clock.get(bytes_of(pins), 0) == 1;
    let still = !mismatch.half && !mismatch.reset && !rises && !pins.resets_at_once();
    let (field, clock) = (field.name, clock.name);
    still.then(|| {
        format!("  clock   {clock} does not rise in this cycle, and {field} belongs to it\n")
    })
}

/// Returns what to say of outputs that differ from the beginning on: those that depend on pins do, unless they are declared as sampled.
fn sampled<D: Design>(mismatch: &Mismatch<D>) -> Option<String> {
    let begins = mismatch.cycle < RESET_CYCLES as u64;
    let otherwise = mismatch.broken.is_some() || mismatch.transaction.is_some();
    if !begins || mismatch.half || mismatch.reset || otherwise {
        return None;
    }
    let mut fields = mismatch.diffs.iter().map(|diff| &D::fields()[diff.field]);
    let field = fields.find(|field| field.output && !field.sampled)?.name;
    Some(format!(
        "  output  {field} was taken after the clock edge, with the pins of the next cycle. If it depends on pins of the same cycle, add\n          \
         `sampled = true` to it in design.toml\n"
    ))
}

/// Returns what to say of a promise that is broken.
fn promise(broken: &Broken) -> String {
    let Broken { channel, both } = broken;
    let who = match both {
        true => "RTL and golden model agree, and both break it",
        false => "the RTL breaks it",
    };
    format!(
        "  channel {channel}: valid and payload stay from the first cycle of valid until ready; {who}\n"
    )
}

/// Returns what to say of a transaction.
fn transaction(transaction: &Transaction) -> String {
    let Transaction {
        channel,
        text,
        recent,
        ..
    } = transaction;
    let recent: String = recent.iter().map(|line| format!("    {line}\n")).collect();
    format!("  channel {channel}: {text}\n  last transactions:\n{recent}")
}

/// Returns the first line of a report: the kind of failure, the case, the place.
pub fn headline<C: TestCase>(failure: &Failure<C>) -> String {
    let (what, rest) = match &failure.cause {
        Cause::Mismatch(m) => {
            let extent = C::Design::DECLARATION.extent();
            let agreed = counted(failure.compared.cycles, "cycle");
            let rest = format!(
                "cycle {}  ({agreed}, {extent}, agreed before this)",
                m.cycle
            );
            ("MISMATCH", rest)
        }
        Cause::Stopped(s) => ("STOPPED", format!("cycle {}  {}", s.cycle, s.why)),
        Cause::Judge { .. } => ("SCALAR JUDGE", failure.message()),
        Cause::Crashed(_) => ("CRASHED", failure.message()),
        Cause::Hung(_) => ("HUNG", failure.message()),
        Cause::NotRun(_) => ("NOT RUN", failure.message()),
    };
    format!("{what} {}  {rest}", failure.case.name())
}

/// Prints the report, with `#` in colours; a format width limits the line length.
impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let colour = f.alternate();
        let headline = printable(&self.headline);
        let (what, rest) = headline.split_once("  ").unwrap_or((&headline, ""));
        let headline = format!("{}  {rest}", styled(colour, RED, what));
        writeln!(f, "{}", headline.trim_end())?;
        if let Some(differences) = &self.differences {
            for line in printable(&differences.to_string()).lines() {
                let style = if line.ends_with("<--") { BOLD } else { "" };
                writeln!(f, "{}", styled(colour, style, line))?;
            }
        }
        if let Some(rule) = &self.rule {
            let lane = self.lane.as_deref().unwrap_or_default();
            let named = ["lane", "thread"].iter().fold(rule.clone(), |rule, what| {
                rule.replace(&format!("this {what}"), &format!("{what} {lane}"))
            });
            writeln!(f, "  rule    {}", printable(&named))?;
        }
        self.cycles(f, colour)
    }
}

impl Report {
    /// Returns the fields of both sides at a mismatch as lines, with those that differ marked.
    pub fn fields(&self) -> Option<String> {
        let differences = self.differences.as_ref()?;
        Some(printable(&differences.to_string()).into_owned())
    }

    /// Writes the last cycles, and after them the lanes of both sides.
    fn cycles(&self, f: &mut Formatter<'_>, colour: bool) -> fmt::Result {
        if self.history.is_empty() {
            return Ok(());
        }
        let sides = self.differences.as_ref().map(|d| &d.lanes);
        let shown = self.history.iter().map(|line| &line.lanes);
        let met = shown.chain(sides.into_iter().flatten()).flatten();
        let met: Vec<Class> = met.copied().collect();
        let most = f.width().unwrap_or(usize::MAX);
        f.write_str(&legend("  lanes ", &met, most, colour))?;
        writeln!(f, "  last cycles (golden):")?;
        let width = self.history.iter().map(|l| l.what.chars().count()).max();
        let width = width.unwrap_or(0);
        let longest = self.history.iter().map(|line| {
            let count = columns(line.lanes.len());
            12 + width + 2 + count + 2 + line.state.trim_end().len()
        });
        let narrow = f.width().is_some_and(|most| longest.max() > Some(most));
        // If there is little room, lanes have a line of their own.
        for line in &self.history {
            let Line {
                cycle, what, state, ..
            } = line;
            let mark = if *cycle == self.cycle { '>' } else { ' ' };
            let shown = lanes(&line.lanes, colour);
            let state = match (shown.is_empty(), narrow) {
                (true, _) => format!("  {state}"),
                (_, true) => format!("  {state}\n      {shown}"),
                (_, false) => format!("  {shown}  {state}"),
            };
            let what = one_line(what);
            let text = format!("  {mark} {cycle:>6}  {what:<width$}{state}");
            writeln!(f, "{}", text.trim_end())?;
        }
        let Some([rtl, golden]) = sides.filter(|[rtl, _]| !rtl.is_empty()) else {
            return Ok(());
        };
        let before = if narrow {
            "\n      ".to_owned()
        } else {
            " ".repeat(width + 4)
        };
        for (side, classes) in [("rtl", rtl), ("golden", golden)] {
            writeln!(f, "  {side:>8}{before}{}", lanes(classes, colour))?;
        }
        let marks = differing(rtl, golden);
        if !marks.is_empty() {
            let before = if narrow {
                "      ".to_owned()
            } else {
                " ".repeat(width + 14)
            };
            writeln!(f, "{before}{marks}")?;
        }
        Ok(())
    }
}

impl Display for Differences {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.table.fmt(f)?;
        if let Some(stack) = &self.stack {
            writeln!(f, "  stack golden  {stack}")?;
        }
        if let Some(flipped) = &self.flipped {
            writeln!(f, "  flipped       {flipped}")?;
        }
        f.write_str(self.moment.unwrap_or_default())?;
        f.write_str(self.clock.as_deref().unwrap_or_default())?;
        f.write_str(self.broken.as_deref().unwrap_or_default())?;
        f.write_str(self.sampled.as_deref().unwrap_or_default())?;
        f.write_str(self.transaction.as_deref().unwrap_or_default())
    }
}

/// A second run of a case, with waves.
#[derive(Clone, Debug)]
pub struct Waves {
    /// The dump.
    pub dump: PathBuf,
    /// The command that opens the view.
    pub view: String,
    /// Time in the dump at which RTL and golden model begin to differ.
    differs: Option<u64>,
    /// The line that says in what the second run is not the run that failed.
    unlike: Option<String>,
    /// Why the dump is a VCD although another format was requested.
    pub kept: Option<String>,
}

/// Returns the first cycle of a case's dump; of a long run that failed with `failure`, a window before the failure.
pub fn dump_from<C: TestCase>(failure: Option<&Failure<C>>) -> u64 {
    match failure.map(|f| (&f.cause, f.cycle())) {
        Some((Cause::Mismatch(_) | Cause::Stopped(_), cycle)) => cycle.saturating_sub(WINDOW),
        _ => 0,
    }
}

/// Returns the path of a case's dump in `dir`.
pub fn dump_file<C: TestCase>(case: &C, dir: &Path) -> PathBuf {
    dir.join(format!("{}.vcd", case.name()))
}

impl Waves {
    /// Runs `case` again on a fresh model with a dump, and writes dump and view into `dir`. If the case has a `failure`,
    /// the result says whether it occurred again.
    ///
    /// # Errors
    /// A model cannot be opened or a file cannot be written.
    pub fn make<C: TestCase>(
        case: &C,
        rtl: &Rtl<C::Design>,
        failure: Option<&Failure<C>>,
        dir: &Path,
    ) -> Result<Self, String> {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let dump = dump_file(case, dir);
        let again = case.judge(
            rtl,
            Judges::LockStep,
            Some((dump_from(failure), &dump)),
            &mut |_| (),
        )?;
        Self::of(case, failure, &again, dump, wave::Format::Vcd)
    }

    /// Writes the view for the VCD `dump` of the run with the result `again`. With another `format`, converts the dump,
    /// which replaces the VCD.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn of<C: TestCase>(
        case: &C,
        failure: Option<&Failure<C>>,
        again: &Judged<C>,
        dump: PathBuf,
        format: wave::Format,
    ) -> Result<Self, String> {
        let mismatch = again.as_ref().err().and_then(Failure::mismatch);
        let last = match again {
            Err(again) => again.cycle(),
            Ok(_) => u64::MAX,
        };
        let from = dump_from(failure);
        let begin = from * wave::PERIOD_NS;
        let ran = match again {
            Ok(agreed) => &agreed.words,
            Err(failure) => &failure.words,
        };
        let mut words = match ran.is_empty() {
            true => case.words(from, last, mismatch),
            false => ran.clone(),
        };
        // No cycle follows that would show the failure.
        let stopped = again.as_ref().err().and_then(|again| match &again.cause {
            Cause::Stopped(stopped) => Some(stopped),
            _ => None,
        });
        let stopped_at = stopped.map(|s| s.cycle * wave::PERIOD_NS);
        if let (Some(stopped), Some(time)) = (stopped, stopped_at) {
            let why = one_line(&stopped.why);
            words.put_first("failure", begin, time, &why);
        }
        let differs = mismatch.map(Mismatch::time);
        let marker = differs.or(stopped_at);
        // GTKWave shows no time after the end of a dump, and the marker is not to stand at the edge of the window.
        let end =
            marker.map(|at| at + wave::cycles_after(at.saturating_sub(begin)) * wave::PERIOD_NS);
        let header = wave::insert(&dump, &words, end)?;
        let (dump, letters, kept) = match format {
            wave::Format::Vcd => (dump, Vec::new(), None),
            #[cfg(feature = "fst")]
            wave::Format::Fst => {
                let letters = wave::fst::letters(&words);
                match wave::fst::convert(&dump, &letters) {
                    Ok(fst) => (fst, letters, None),
                    Err(why) => (dump, Vec::new(), Some(why)),
                }
            }
        };
        let shown = wave::Shown {
            lanes: case.lanes(),
            marker,
            fields: mismatch.map_or(Vec::new(), |m| m.diffs.iter().map(|d| d.field).collect()),
            added: header.added,
            letters,
            begin,
            signals: Some(header.signals),
        };
        let view = dump.with_extension("gtkw");
        let view = wave::write_view::<C::Design>(&view, &dump, &shown, true)?;
        Ok(Waves {
            dump,
            view,
            differs,
            unlike: failure.and_then(|first| unlike(first, again)),
            kept,
        })
    }
}

/// Returns what to say if `again` is not the run that failed with `first`.
fn unlike<C: TestCase>(first: &Failure<C>, again: &Judged<C>) -> Option<String> {
    const WHY: &str = "the RTL keeps something that reset does not reach, or shows X";
    // A run with a dump has only the golden model as its judge.
    if !matches!(first.cause, Cause::Mismatch(_) | Cause::Stopped(_)) {
        return None;
    }
    let Err(again) = again else {
        return Some(format!(
            "NOT REPRODUCED: from reset the run does not fail: {WHY}"
        ));
    };
    let cycle = again.cycle();
    match (first.mismatch(), again.mismatch()) {
        (Some(a), Some(b)) if a.cycle == b.cycle && first.alike(again) => (a.diffs != b.diffs)
            .then(|| format!("note    the dump has other values at cycle {cycle}: {WHY}")),
        _ if first.alike(again) && first.cycle() == cycle => None,
        _ => {
            let how = match again.mismatch() {
                Some(_) => again.message(),
                None => format!("cycle {cycle}"),
            };
            Some(format!(
                "NOT REPRODUCED: from reset the run first fails at {how}: {WHY}"
            ))
        }
    }
}

impl Display for Waves {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(unlike) = &self.unlike {
            writeln!(f, "{unlike}")?;
        }
        match self.differs {
            Some(time) => writeln!(
                f,
                "wave    {}  (differs from {time} ns on)",
                self.dump.display()
            )?,
            None => writeln!(f, "wave    {}", self.dump.display())?,
        }
        writeln!(f, "view    {}", self.view)
    }
}
