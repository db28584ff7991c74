//! Interactive stepping through a run: the current position, the effect of each key, the contents of the screen. This module
//! accesses no terminal and no RTL: if a key needs one, [`Stepper::press`] returns an [`Ask`].

mod change;
mod screen;

use super::text::Survey;
use super::{Item, Row, Run, ShownState, Turn};
use crate::case::{self, Case};
use crate::environment::Draw;
use crate::program::Programs;
pub use change::Change;
use change::Changing;
use reconverge_bench::check::Judged;
use reconverge_bench::report::{Report, headline};

/// Maximum number of rows of a run that are kept; further rows are only counted.
pub const ROWS: usize = 500_000;
/// Number of steps that a page key moves.
const PAGE: usize = 16;
/// Maximum number of digits of a count before a key.
const DIGITS: usize = 7;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Left arrow.
    Left,
    /// Right arrow.
    Right,
    /// Up arrow.
    Up,
    /// Down arrow.
    Down,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Any other key with a character.
    Char(char),
}

/// What a key asks the caller to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Continue.
    Nothing,
    /// Leave.
    Leave,
    /// Pass the draws of all lanes at the instruction that is completed in this cycle to [`Stepper::draws`].
    Draws(u64),
    /// Repeat the run with other bits in these draws, and pass it to [`Stepper::again`].
    Run(Vec<case::Row>),
    /// Write a file from which this run can be repeated, and pass its name to [`Stepper::say`].
    Save,
}

/// The verdict of the judges on a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Verdict {
    /// The failure in one line, if the case fails.
    fails: Option<String>,
    /// The fields that differ, with the values of both sides, and the rule.
    fields: Vec<String>,
}

impl Verdict {
    fn of<U: Programs>(judged: &Judged<Case<U>>) -> Self {
        let Err(failure) = judged else {
            return Verdict::default();
        };
        let report = Report::of(failure);
        let fields = report.fields().unwrap_or_default();
        let rule = report.rule.map(|rule| format!("  rule    {rule}"));
        Verdict {
            fails: Some(headline(failure)),
            fields: fields.lines().map(str::to_owned).chain(rule).collect(),
        }
    }
}

/// What the keys do at present.
#[derive(Clone, Debug)]
enum Mode {
    Steps,
    /// The user types the address to go to, forward or back.
    Address {
        back: bool,
        digits: String,
    },
    Change(Changing),
    Help,
}

/// A run, and the current position in it.
#[derive(Clone, Debug)]
pub struct Stepper {
    run: Run,
    rows: Vec<Row>,
    survey: Survey,
    verdict: Verdict,
    /// The current row; the number of rows stands for the end.
    at: usize,
    /// Number typed before a key.
    count: Option<usize>,
    mode: Mode,
    said: String,
    changes: Vec<Change>,
    /// The changes of the run on the screen, while a run with other changes is requested.
    were: Vec<Change>,
}

/// Returns the run of `case`, not folded.
fn run<U: Programs>(case: &Case<U>, judged: &Judged<Case<U>>) -> Run {
    Run::judged(case, judged, false, ROWS)
}

impl Stepper {
    /// Returns the stepper of the run of `case` with this judgement. It starts at the failure, or at the beginning if the case
    /// does not fail.
    pub fn new<U: Programs>(case: &Case<U>, judged: &Judged<Case<U>>) -> Self {
        let mut stepper = Stepper {
            run: run(case, judged),
            rows: Vec::new(),
            survey: Survey::default(),
            verdict: Verdict::of(judged),
            at: 0,
            count: None,
            mode: Mode::Steps,
            said: String::new(),
            changes: Vec::new(),
            were: Vec::new(),
        };
        stepper.look();
        if stepper.verdict.fails.is_some() {
            stepper.at = stepper.rows.len();
        }
        stepper
    }

    /// Moves the rows out of the run, and surveys them.
    fn look(&mut self) {
        let items = std::mem::take(&mut self.run.items).into_iter();
        let rows = items.filter_map(|item| match item {
            Item::Row(row) => Some(row),
            Item::Again { .. } => None,
        });
        self.rows = rows.collect();
        self.survey = Survey::default();
        for row in &self.rows {
            self.survey.see(row);
        }
        self.survey.found(&self.run.end.found);
        for side in self.run.sides.iter().flatten() {
            self.survey.found(side);
        }
    }

    /// Returns the number of the current row, from 0; the number of rows stands for the end.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the changes of the run on the screen.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Sets the message line below the run.
    pub fn say(&mut self, what: &str) {
        what.clone_into(&mut self.said);
    }

    /// Returns the golden model's state at row `at`.
    fn found(&self, at: usize) -> &ShownState {
        match self.rows.get(at) {
            Some(row) => &row.found,
            None => match &self.run.sides {
                Some([_, golden]) => golden,
                None => &self.run.end.found,
            },
        }
    }

    /// Executes the command of `key`.
    pub fn press(&mut self, key: Key) -> Ask {
        self.said.clear();
        match &mut self.mode {
            Mode::Steps => self.step(key),
            Mode::Address { .. } => {
                self.address(key);
                Ask::Nothing
            }
            Mode::Change(changing) => match changing.press(key) {
                change::Did::Nothing => Ask::Nothing,
                change::Did::Left => {
                    self.mode = Mode::Steps;
                    Ask::Nothing
                }
                change::Did::Changed(changed) => {
                    self.mode = Mode::Steps;
                    let kept = self.changes.iter();
                    let kept = kept.filter(|old| !changed.iter().any(|new| new.is_of(old)));
                    let changes = kept.chain(&changed).cloned().collect();
                    self.with(changes)
                }
            },
            Mode::Help => {
                self.mode = Mode::Steps;
                Ask::Nothing
            }
        }
    }

    /// Requests the run with these changes.
    fn with(&mut self, changes: Vec<Change>) -> Ask {
        self.were = std::mem::replace(&mut self.changes, changes);
        Ask::Run(self.changes.iter().map(Change::row).collect())
    }

    fn step(&mut self, key: Key) -> Ask {
        if let Key::Char(c @ '0'..='9') = key {
            let digit = c as usize - '0' as usize;
            let count = self.count.unwrap_or(0);
            if count < 10usize.pow(DIGITS as u32 - 1) {
                self.count = Some(count * 10 + digit);
            }
            return Ask::Nothing;
        }
        let times = self.count.take().unwrap_or(1);
        match key {
            Key::Right | Key::Down | Key::Enter | Key::Char('l' | 'j' | ' ') => self.go(times, 1),
            Key::Left | Key::Up | Key::Backspace | Key::Char('h' | 'k') => self.back(times, 1),
            Key::PageDown => self.go(times, PAGE),
            Key::PageUp => self.back(times, PAGE),
            Key::Home => self.at = 0,
            Key::End => self.at = self.rows.len(),
            Key::Char('c') => self.forth(times, "no lane changes its class", Self::other_class),
            Key::Char('C') => self.earlier(times, "no lane changes its class", Self::other_class),
            Key::Char('n') => {
                self.forth(times, "lanes neither diverge nor reconverge", Self::turns)
            }
            Key::Char('p') => {
                self.earlier(times, "lanes neither diverge nor reconverge", Self::turns)
            }
            Key::Char('m') => self.forth(times, "no lanes execute again", Self::meets),
            Key::Char('M') => self.earlier(times, "no lanes execute again", Self::meets),
            Key::Char('e') => self.error(),
            Key::Char(c @ ('a' | 'A')) => {
                self.mode = Mode::Address {
                    back: c == 'A',
                    digits: String::new(),
                };
            }
            Key::Char('x') => match self.rows.get(self.at) {
                Some(row) => return Ask::Draws(row.cycle),
                None => self.say("behind the end no instruction looks at a condition"),
            },
            Key::Char('u') => match self.changes.split_last() {
                Some((_, others)) => return self.with(others.to_vec()),
                None => self.say("nothing is changed"),
            },
            Key::Char('w') => return Ask::Save,
            Key::Char('?') => self.mode = Mode::Help,
            Key::Char('q') | Key::Escape => return Ask::Leave,
            Key::Char(_) => self.say("? lists the keys"),
        }
        Ask::Nothing
    }

    fn go(&mut self, times: usize, steps: usize) {
        self.at = (self.at + times * steps).min(self.rows.len());
    }

    fn back(&mut self, times: usize, steps: usize) {
        self.at = self.at.saturating_sub(times * steps);
    }

    /// Returns true if some lane has another class in row `at` than in the row before.
    fn other_class(&self, at: usize) -> bool {
        at > 0 && self.found(at).lanes != self.found(at - 1).lanes
    }

    /// Returns true if the set of executing lanes changes in row `at`.
    fn turns(&self, at: usize) -> bool {
        self.rows.get(at).is_some_and(|row| row.turn().is_some())
    }

    /// Returns true if lanes that waited execute again in row `at`: reconvergence, as far as the masks show it.
    fn meets(&self, at: usize) -> bool {
        let turn = self.rows.get(at).and_then(Row::turn);
        matches!(turn, Some(Turn::Reconverged | Turn::Resumed))
    }

    /// Goes to the next row in which `is` holds.
    fn forth(&mut self, times: usize, none: &str, is: impl Fn(&Self, usize) -> bool) {
        for _ in 0..times {
            match (self.at + 1..=self.rows.len()).find(|at| is(self, *at)) {
                Some(at) => self.at = at,
                None => return self.say(&format!("{none} behind this")),
            }
        }
    }

    /// Goes back to the previous row in which `is` holds.
    fn earlier(&mut self, times: usize, none: &str, is: impl Fn(&Self, usize) -> bool) {
        for _ in 0..times {
            match (0..self.at).rev().find(|at| is(self, *at)) {
                Some(at) => self.at = at,
                None => return self.say(&format!("{none} before this")),
            }
        }
    }

    /// Goes to the end, if the run fails or ends in an error of the program.
    fn error(&mut self) {
        if self.verdict.fails.is_some() || self.run.end.outcome.starts_with("error") {
            self.at = self.rows.len();
        } else {
            self.say("the run ends without an error, and both sides agree");
        }
    }

    fn address(&mut self, key: Key) {
        let Mode::Address { back, digits } = &mut self.mode else {
            return;
        };
        match key {
            Key::Char(c) if digits.len() < 10 && (c.is_ascii_hexdigit() || c == 'x') => {
                digits.push(c);
            }
            Key::Backspace => {
                digits.pop();
            }
            Key::Escape => self.mode = Mode::Steps,
            Key::Enter => {
                let (back, digits) = (*back, std::mem::take(digits));
                self.mode = Mode::Steps;
                let hex = digits.strip_prefix("0x").unwrap_or(&digits);
                let Ok(pc) = u32::from_str_radix(hex, 16) else {
                    return self.say(&format!("{digits}: no hexadecimal address"));
                };
                let none = format!("nothing is executed at 0x{pc:03x}");
                let is = |stepper: &Self, at| stepper.found(at).pc == pc;
                match back {
                    false => self.forth(1, &none, is),
                    true => self.earlier(1, &none, is),
                }
            }
            _ => {}
        }
    }

    /// Takes the requested draws, one per lane.
    pub fn draws(&mut self, draws: Vec<Option<Draw>>) {
        match Changing::new(draws) {
            Some(changing) => self.mode = Mode::Change(changing),
            None => self.say("no lane looks at a condition here, or draws one"),
        }
    }

    /// Takes the run with the changes. The position stays, or moves to the first difference if that is earlier: an earlier
    /// instruction may have used the same draw, because a draw belongs to a lane, not to an instruction.
    pub fn again<U: Programs>(&mut self, case: &Case<U>, judged: &Judged<Case<U>>) {
        let before = std::mem::take(&mut self.rows);
        let (sides, end) = (self.run.sides.take(), self.run.end.clone());
        self.run = run(case, judged);
        self.verdict = Verdict::of(judged);
        self.look();
        let same = before.iter().zip(&self.rows).take_while(|(a, b)| a == b);
        let first = same.count();
        let alike = before.len() == self.rows.len() && first == before.len();
        if alike && sides == self.run.sides && end == self.run.end {
            self.at = self.at.min(self.rows.len());
            self.say("the run stays as it was: no instruction depends on that");
            return;
        }
        self.at = self.at.min(first);
        let cycle = match self.rows.get(first) {
            Some(row) => format!("cycle {}", row.cycle),
            None => "its end".to_owned(),
        };
        self.say(&format!("the run differs from {cycle} on"));
    }

    /// Keeps the present run, because the requested one could not be made; `why` is the reason.
    pub fn refused(&mut self, why: &str) {
        self.changes = std::mem::take(&mut self.were);
        self.say(why);
    }
}
