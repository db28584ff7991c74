//! From a mismatch to what a person needs: the run again with waves, a short report, a file to replay.

mod table;

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use crate::case::{CASE_FORMAT, Case, Failure, SavedCase};
use crate::dut::Rtl;
use crate::lockstep::{self, Compared, Outcome};
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

/// Everything that is said about a mismatch.
#[derive(Debug)]
pub struct Report {
    /// The command as the user calls it, for the line that says how to replay.
    pub program: String,
    name: String,
    clock: u64,
    compared: Compared,
    fields: usize,
    table: Table,
    /// All lanes, RTL and golden.
    lanes: [String; 2],
    /// The golden's stack, where the fields show only its top.
    stack: Option<String>,
    rule: String,
    history: Vec<Line>,
    /// The case, to be replayed.
    pub case_file: PathBuf,
    /// The dump.
    pub dump: PathBuf,
    time: u64,
    view: String,
    /// First differing field and element.
    pub failure: Failure,
    reproduced: Result<(), String>,
}

/// Runs the failing `case` again on a fresh model with a dump, checks that the same clock and fields
/// fail, and writes case, dump and view into `dir`.
///
/// # Errors
/// A model cannot be opened or a file cannot be written.
pub fn diagnose<U: Unit>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    first: &Outcome<U>,
    dir: &Path,
) -> Result<Option<Report>, String> {
    let Some(found) = &first.mismatch else {
        return Ok(None);
    };
    let base = dir.join(case.name());
    let with = |ending: &str| PathBuf::from(format!("{}.{ending}", base.display()));
    let (dump, view, case_file) = (with("vcd"), with("gtkw"), with("json"));
    let lanes = case.lanes as usize;
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;

    let from = found.clock.saturating_sub(WINDOW);
    let mut history = History {
        case,
        lines: VecDeque::with_capacity(HISTORY),
        from: found.clock.saturating_sub(HISTORY as u64),
        last: None,
    };
    let mut golden = case.golden();
    let mut dut = rtl.open(case.model_seed())?;
    let again = lockstep::run_with_dump(case, &mut dut, &mut golden, &mut history, from, &dump)?;
    let reproduced = match &again.mismatch {
        Some(m) if m.clock == found.clock && m.diffs == found.diffs => Ok(()),
        Some(m) => Err(format!(
            "from reset the run first fails at clock {}",
            m.clock
        )),
        None => Err("from reset the run does not fail".to_owned()),
    };
    let shown = again.mismatch.as_ref().unwrap_or(found);
    let first_diff = &shown.diffs[0];
    let field = U::fields()[first_diff.field].name;
    let failure = Failure {
        clock: shown.clock,
        field: field.to_owned(),
        element: first_diff.element,
    };
    let saved = SavedCase {
        reconverge: CASE_FORMAT,
        unit: U::NAME.to_owned(),
        failure: Some(failure.clone()),
        case: case.clone(),
    };
    wave::write_whole(&case_file, &saved.to_text())?;
    let time = wave::time_of(shown.clock);
    let view = wave::write_view::<U>(&view, &dump, lanes, Some(time))?;
    let (rule, stack) = match &history.last {
        Some((before, pins)) => {
            let mut after = before.clone();
            after.cycle(pins);
            let rule = before.explain(pins, field, first_diff.element);
            (in_documents::<U>(&rule), U::stack(&after))
        }
        None => (String::new(), None),
    };
    Ok(Some(Report {
        program: "reconverge".to_owned(),
        name: case.name(),
        clock: shown.clock,
        compared: again.compared,
        fields: U::fields().len(),
        table: Table::new::<U>(&shown.rtl, &shown.golden, &shown.diffs, lanes),
        lanes: [&shown.rtl, &shown.golden].map(|s| U::lanes(s, lanes)),
        stack,
        rule,
        history: history.lines.into(),
        case_file,
        dump,
        time,
        view,
        failure,
        reproduced,
    }))
}

/// Where the rule stands whose id `rule` begins with, and what it says.
fn in_documents<U: Unit>(rule: &str) -> String {
    let file = match rule.starts_with("contract-") {
        true => "contract".to_owned(),
        false => format!("spec/{}", U::NAME),
    };
    format!("docs/{file}.md#{rule}")
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "MISMATCH {}  clock {}  ({} clocks, {} fields each, agreed before this)",
            self.name, self.clock, self.compared.clocks, self.fields
        )?;
        if let Err(why) = &self.reproduced {
            writeln!(
                f,
                "  NOT REPRODUCED: {why}: the RTL keeps something that reset does not reach"
            )?;
        }
        self.table.fmt(f)?;
        writeln!(f, "  lanes rtl     {}", self.lanes[0])?;
        writeln!(f, "  lanes golden  {}", self.lanes[1])?;
        if let Some(stack) = &self.stack {
            writeln!(f, "  stack golden  {stack}")?;
        }
        writeln!(f, "  rule    {}", self.rule)?;
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
        let case = wave::shell(&self.case_file.to_string_lossy());
        writeln!(f, "replay  {} replay {case}", wave::shell(&self.program))?;
        writeln!(
            f,
            "wave    {}  (differs from {} ns on)",
            self.dump.display(),
            self.time
        )?;
        writeln!(f, "view    {}", self.view)
    }
}
