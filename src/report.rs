//! What a person needs of a failure: a short report, and waves of the run again.

mod table;

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use crate::case::Case;
use crate::check::{Agreed, check_with_dump};
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::lockstep;
use crate::unit::{Golden, Pins, Step, Unit};
use crate::watch::Watch;
use crate::wave;
use table::Table;

/// Lines of history in a report.
const HISTORY: usize = 6;
/// A dump covers the whole run up to this many clocks, and a window of this size before the failing
/// one otherwise.
const WINDOW: u64 = 400;

/// What one clock did, as text.
#[derive(Clone, Debug)]
struct Line {
    clock: u64,
    pc: u32,
    what: String,
    lanes: String,
}

/// Keeps the last clocks of a run as text.
struct History<'c, U: Unit> {
    case: &'c Case<U>,
    lines: VecDeque<Line>,
    from: u64,
    /// The golden before the last clock, and the pins of it.
    last: Option<(U::Golden, U::In)>,
}

impl<U: Unit> Watch<U> for History<'_, U> {
    fn before(&mut self, clock: u64, pins: &U::In, golden: &U::Golden) {
        if clock >= self.from {
            self.last = Some((golden.clone(), *pins));
        }
    }

    fn after(&mut self, clock: u64, pins: &U::In, golden: &U::Golden) {
        let Some((before, _)) = &self.last else {
            return;
        };
        let pc = U::pc(before.state());
        let lanes = U::lanes(golden.state(), self.case.lanes as usize);
        let what = match golden.step() {
            Step::Executed | Step::Failed => U::disassemble(&self.case.program, pc),
            // The instruction has begun, or goes on.
            Step::None if U::mid_step(golden.state()) || U::mid_step(before.state()) => {
                U::disassemble(&self.case.program, pc)
            }
            Step::None => pins.describe(U::running(before.state())),
        };
        if self.lines.len() == HISTORY {
            self.lines.pop_front();
        }
        self.lines.push_back(Line {
            clock,
            pc,
            what,
            lanes,
        });
    }
}

/// Everything that is said about a failure, but for the files that were written of it.
#[derive(Clone, Debug)]
pub struct Report {
    headline: String,
    clock: u64,
    differences: Option<Differences>,
    /// The golden's rule for the first field that differs.
    pub rule: Option<String>,
    history: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Differences {
    table: Table,
    /// All lanes, RTL and golden.
    lanes: [String; 2],
    /// The golden's stack, where the fields show only its top.
    stack: Option<String>,
}

impl Report {
    /// The report of `failure`. What led to it is found by running the golden again, alone.
    pub fn of<U: Unit>(failure: &Failure<U>) -> Self {
        let mut report = Report {
            headline: headline(failure),
            clock: failure.cycle(),
            differences: None,
            rule: None,
            history: Vec::new(),
        };
        if !matches!(failure.cause, Cause::Mismatch(_) | Cause::Stopped(_)) {
            return report;
        }
        let lanes = failure.case.lanes as usize;
        let mut history = History {
            case: &failure.case,
            lines: VecDeque::with_capacity(HISTORY),
            from: report.clock.saturating_sub(HISTORY as u64),
            last: None,
        };
        lockstep::golden_alone(&failure.case, report.clock, &mut history);
        if let Some(mismatch) = failure.mismatch() {
            let mut stack = None;
            if let Some((before, pins)) = &history.last {
                let first = mismatch.first();
                let field = U::fields()[first.field].name;
                let rule = before.explain(pins, field, first.element);
                report.rule = Some(in_documents::<U>(&rule));
                let mut after = before.clone();
                after.cycle(pins);
                stack = U::stack(&after);
            }
            report.differences = Some(Differences {
                table: Table::new::<U>(&mismatch.rtl, &mismatch.golden, &mismatch.diffs, lanes),
                lanes: [&mismatch.rtl, &mismatch.golden].map(|s| U::lanes(s, lanes)),
                stack,
            });
        }
        report.history = history.lines.into();
        report
    }
}

/// Where the rule stands whose id `rule` begins with, and what it says.
fn in_documents<U: Unit>(rule: &str) -> String {
    let file = match rule.starts_with("contract-") {
        true => "contract".to_owned(),
        false => format!("spec/{}", U::NAME),
    };
    format!("docs/{file}.md#{rule}")
}

/// The first line of a report: what, which case, where.
pub fn headline<U: Unit>(failure: &Failure<U>) -> String {
    let (what, rest) = match &failure.cause {
        Cause::Mismatch(m) => {
            let fields = U::fields().len();
            let agreed = failure.compared.clocks;
            let rest = format!(
                "clock {}  ({agreed} clocks, {fields} fields each, agreed before this)",
                m.clock
            );
            ("MISMATCH", rest)
        }
        Cause::Stopped(s) => ("STOPPED", format!("clock {}  {}", s.clock, s.why)),
        Cause::Judge { .. } => ("SCALAR JUDGE", failure.message()),
        Cause::Crashed(_) => ("CRASHED", failure.message()),
        Cause::Hung(_) => ("HUNG", failure.message()),
        Cause::NotRun(_) => ("NOT RUN", failure.message()),
    };
    format!("{what} {}  {rest}", failure.case.name())
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline)?;
        if let Some(differences) = &self.differences {
            differences.fmt(f)?;
        }
        if let Some(rule) = &self.rule {
            writeln!(f, "  rule    {rule}")?;
        }
        if self.history.is_empty() {
            return Ok(());
        }
        writeln!(f, "  last clocks (golden):")?;
        let width = self.history.iter().map(|l| l.what.len()).max().unwrap_or(0);
        for Line {
            clock,
            pc,
            what,
            lanes,
        } in &self.history
        {
            let mark = if *clock == self.clock { '>' } else { ' ' };
            writeln!(
                f,
                "  {mark} {clock:>6}  0x{pc:03x}  {what:<width$}  {lanes}"
            )?;
        }
        Ok(())
    }
}

impl Display for Differences {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.table.fmt(f)?;
        writeln!(f, "  lanes rtl     {}", self.lanes[0])?;
        writeln!(f, "  lanes golden  {}", self.lanes[1])?;
        if let Some(stack) = &self.stack {
            writeln!(f, "  stack golden  {stack}")?;
        }
        Ok(())
    }
}

/// A case run again with waves.
#[derive(Clone, Debug)]
pub struct Waves {
    /// The dump.
    pub dump: PathBuf,
    /// The command that opens the view.
    pub view: String,
    /// Time in the dump from which on RTL and golden differ.
    differs: Option<u64>,
    /// Why it is not the run that failed.
    not_reproduced: Option<String>,
}

/// Where the dump of a case begins, `failure` being how it fails: long runs get a window before the failure.
pub fn dump_from<U: Unit>(failure: Option<&Failure<U>>) -> u64 {
    match failure.map(|f| (&f.cause, f.cycle())) {
        Some((Cause::Mismatch(_) | Cause::Stopped(_), cycle)) => cycle.saturating_sub(WINDOW),
        _ => 0,
    }
}

/// Where the dump of a case goes in `dir`.
pub fn dump_file<U: Unit>(case: &Case<U>, dir: &Path) -> PathBuf {
    dir.join(format!("{}.vcd", case.name()))
}

impl Waves {
    /// Runs `case` again on a fresh model with a dump, and writes dump and view into `dir`. `failure` is how it
    /// fails, if it does; whether it does so again is told.
    ///
    /// # Errors
    /// A model cannot be opened or a file cannot be written.
    pub fn make<U: Unit>(
        case: &Case<U>,
        rtl: &Rtl<U>,
        failure: Option<&Failure<U>>,
        dir: &Path,
    ) -> Result<Self, String> {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let dump = dump_file(case, dir);
        let again = check_with_dump(case, rtl, dump_from(failure), &dump, &mut ())?;
        Self::of(case, failure, &again, dump)
    }

    /// Writes the view of `dump`, which lies there: of the run that came to `again`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn of<U: Unit>(
        case: &Case<U>,
        failure: Option<&Failure<U>>,
        again: &Result<Agreed<U>, Failure<U>>,
        dump: PathBuf,
    ) -> Result<Self, String> {
        let differs = again.as_ref().err().and_then(Failure::mismatch);
        let differs = differs.map(|m| wave::time_of(m.clock));
        let view = dump.with_extension("gtkw");
        let view = wave::write_view::<U>(&view, &dump, case.lanes as usize, differs)?;
        Ok(Waves {
            dump,
            view,
            differs,
            not_reproduced: failure.and_then(|first| not_reproduced(first, again)),
        })
    }
}

/// Why `again` is not the run that failed with `first`.
fn not_reproduced<U: Unit>(
    first: &Failure<U>,
    again: &Result<Agreed<U>, Failure<U>>,
) -> Option<String> {
    // The judge of the dump is the golden alone.
    if !matches!(first.cause, Cause::Mismatch(_) | Cause::Stopped(_)) {
        return None;
    }
    match again {
        Ok(_) => Some("from reset the run does not fail".to_owned()),
        Err(again) => {
            let same = match (first.mismatch(), again.mismatch()) {
                (Some(a), Some(b)) => a.clock == b.clock && a.diffs == b.diffs,
                _ => first.alike(again) && first.cycle() == again.cycle(),
            };
            (!same).then(|| format!("from reset the run first fails at clock {}", again.cycle()))
        }
    }
}

impl Display for Waves {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(why) = &self.not_reproduced {
            writeln!(
                f,
                "NOT REPRODUCED: {why}: the RTL keeps something that reset does not reach"
            )?;
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
