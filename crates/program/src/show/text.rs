//! Prints rows on a terminal: one line per row if the terminal is wide enough, otherwise with the lanes on separate lines.

use super::{Class, End, Frame, Item, Row, ShownState, Turn};
use reconverge_bench::input::one_line;
use reconverge_bench::lanes::{BOLD, DIM, columns, differing, lanes, legend, styled};

/// Width of the column for cycle numbers, in characters.
const CYCLE: usize = 7;
/// Width of the column for [`turn`], in characters.
pub const TURN: usize = 20;
/// Maximum width of a stack in characters; beyond it, the bottom frames are only counted.
const STACK: usize = 28;
/// Minimum width of the column for instructions, in characters.
const MIN: usize = 13;
/// Minimum width of the column for stacks, in characters.
const SHORTEST: usize = 7;
/// Minimum line width.
pub const NARROWEST: usize = 60;
/// Line width if the output is not a terminal.
pub const WIDTH: usize = 160;

/// Survey of the rows to print: the widths of their parts, and the classes that occur.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    text: usize,
    pc: usize,
    stack: usize,
    lanes: usize,
    met: Vec<Class>,
}

impl Survey {
    /// Adds a row to the survey.
    pub fn see(&mut self, row: &Row) {
        self.text = self.text.max(one_line(&row.text).chars().count());
        self.found(&row.found);
    }

    /// Adds a state to the survey: the end of a run, or the state of the RTL.
    pub fn found(&mut self, found: &ShownState) {
        self.pc = self.pc.max(found.address().len());
        self.stack = self.stack.max(stack(&found.stack, STACK).len());
        self.lanes = self.lanes.max(found.lanes.len());
        for class in &found.lanes {
            if !self.met.contains(class) {
                self.met.push(*class);
            }
        }
    }
}

/// How rows are printed.
#[derive(Clone, Debug)]
pub struct Layout {
    survey: Survey,
    /// Width of a line.
    width: usize,
    /// Width of the instruction.
    text: usize,
    /// Width of the stack.
    stack: usize,
    /// Lanes are on the line of their instruction.
    one_line: bool,
    colour: bool,
}

/// Returns the stack in at most `room` characters, top last.
fn stack(frames: &[Frame], room: usize) -> String {
    let mut shown = String::new();
    for (above, frame) in frames.iter().rev().enumerate() {
        let short = frame.short();
        let below = frames.len() - above - 1;
        let rest = if below > 0 {
            format!("+{below} ").len()
        } else {
            0
        };
        if above > 0 && rest + short.len() + 1 + shown.len() > room {
            return format!("+{} {shown}", below + 1);
        }
        shown = match above {
            0 => short,
            _ => format!("{short} {shown}"),
        };
    }
    if shown.is_empty() {
        "-".to_owned()
    } else {
        shown
    }
}

/// Returns `text` cut to `room` characters.
fn cut(text: &str, room: usize) -> String {
    match text.chars().count() <= room {
        true => text.to_owned(),
        false => text
            .chars()
            .take(room.saturating_sub(1))
            .chain(['~'])
            .collect(),
    }
}

/// Returns how the set of executing lanes changed, e.g. `32 -> 20 diverged`.
pub fn turn(before: u64, after: u64) -> String {
    Turn::of(before, after).map_or_else(String::new, |turn| {
        let (before, after) = (before.count_ones(), after.count_ones());
        format!("{before} -> {after} {}", turn.word())
    })
}

/// Returns a stack as text, top last; `-` if it is empty.
pub fn printed(frames: &[Frame]) -> String {
    stack(frames, STACK)
}

impl Layout {
    /// Returns the layout for the rows in `survey`, in lines of `width` characters.
    pub fn new(survey: Survey, width: usize, colour: bool) -> Self {
        let beside = CYCLE + 2 + survey.pc + 2 + 2 + TURN + 2;
        let lanes = columns(survey.lanes).max("lanes".len()) + 2;
        let longest = survey.stack.max(SHORTEST);
        let least = survey.text.clamp("instruction".len(), MIN);
        let one_line = beside + lanes + longest + least <= width;
        let room = width.saturating_sub(beside + if one_line { lanes } else { 0 });
        let stack = longest.min(room.saturating_sub(least)).max(SHORTEST);
        let text = survey
            .text
            .min(room.saturating_sub(stack))
            .max(least)
            .max("done".len());
        Layout {
            survey,
            width,
            text,
            stack,
            one_line,
            colour,
        }
    }

    fn styled(&self, style: &str, text: &str) -> String {
        styled(self.colour, style, text)
    }

    /// Returns the lines above the rows: the legend of the letters, and the names of the columns.
    pub fn header(&self) -> String {
        let legend = legend("lanes", &self.survey.met, self.width, self.colour);
        let columns = self.line("cycle", "pc", "instruction", Middle::Heading, "", "stack");
        format!("{legend}{}", self.styled(DIM, columns.trim_end()) + "\n")
    }

    /// Returns the lines of a row.
    pub fn row(&self, row: &Row) -> String {
        let (cycle, pc) = (row.cycle.to_string(), row.found.address());
        let frames = stack(&row.found.stack, self.stack);
        let text = one_line(&row.text);
        let done = turn(row.found.active(), row.next);
        let lanes = Middle::Lanes(&row.found.lanes);
        self.line(&cycle, &pc, &text, lanes, &done, &frames)
    }

    /// Returns the lines of an item.
    pub fn item(&self, item: &Item) -> String {
        match item {
            Item::Row(row) => self.row(row),
            Item::Again { rows, times, cycle } => {
                let what = match rows {
                    1 => "the last instruction".to_owned(),
                    _ => format!("the last {rows} instructions"),
                };
                let times = match times {
                    1 => "once more".to_owned(),
                    _ => format!("{times} more times"),
                };
                let text = format!("{:>CYCLE$}  {what} {times}, to cycle {cycle}", "...");
                self.styled(DIM, &text) + "\n"
            }
        }
    }

    /// Returns the lines for the end of a run.
    pub fn end(&self, end: &End) -> String {
        let frames = stack(&end.found.stack, self.stack);
        let pc = end.found.address();
        let lanes = Middle::Lanes(&end.found.lanes);
        self.line("", &pc, &end.outcome, lanes, "", &frames)
    }

    /// Returns the lines for the states of RTL and golden model where they differ. The RTL's stack is not known.
    pub fn sides(&self, rtl: &ShownState, golden: &ShownState) -> String {
        let pc = ShownState::address;
        let frames = stack(&golden.stack, self.stack);
        let mut text = self.line("rtl", &pc(rtl), "", Middle::Lanes(&rtl.lanes), "", "");
        let both = Middle::Both(&rtl.lanes, &golden.lanes);
        text += &self.line("golden", &pc(golden), "", both, "", &frames);
        text
    }

    /// Returns the lines of a row, from its parts.
    fn line(
        &self,
        cycle: &str,
        pc: &str,
        text: &str,
        middle: Middle<'_>,
        turn: &str,
        frames: &str,
    ) -> String {
        let (pc_width, text_width) = (self.survey.pc, self.text);
        let cycle = self.styled(DIM, &format!("{cycle:>CYCLE$}"));
        let text = format!("{:<text_width$}", cut(text, text_width));
        let turn = self.styled(BOLD, &format!("{turn:<TURN$}"));
        let before = format!("{cycle}  {pc:<pc_width$}  {text}");
        let line = |lanes: &str| {
            let line = format!("{before}{lanes}  {turn}  {frames}");
            line.trim_end().to_owned() + "\n"
        };
        let all = columns(self.survey.lanes).max("lanes".len());
        let most = if self.one_line { 64 } else { self.in_a_line() };
        let (shown, below) = match middle {
            Middle::Heading => (vec!["lanes".to_owned()], Vec::new()),
            Middle::Lanes(shown) => (self.parts(shown, most), Vec::new()),
            Middle::Both(rtl, golden) => {
                let marks = rtl.chunks(most).zip(golden.chunks(most));
                let marks = marks.map(|(rtl, golden)| differing(rtl, golden));
                (self.parts(golden, most), marks.collect())
            }
        };
        if self.one_line {
            let used = match middle {
                Middle::Heading => "lanes".len(),
                Middle::Lanes(lanes) | Middle::Both(_, lanes) => columns(lanes.len()),
            };
            let mut out = line(&format!(
                "  {}{}",
                shown.concat(),
                " ".repeat(all.max(used) - used)
            ));
            for marks in below.iter().filter(|marks| !marks.is_empty()) {
                let indent = CYCLE + 2 + pc_width + 2 + text_width + 2;
                out += &format!("{}{marks}\n", " ".repeat(indent));
            }
            return out;
        }
        let mut out = line("");
        if matches!(middle, Middle::Heading) {
            return out;
        }
        for (i, part) in shown.iter().enumerate() {
            out += &format!("  {part}\n");
            if let Some(marks) = below.get(i).filter(|marks| !marks.is_empty()) {
                out += &format!("  {marks}\n");
            }
        }
        out
    }

    /// Returns the number of lanes that fit on a separate line, a power of two.
    fn in_a_line(&self) -> usize {
        let fits = |lanes: &usize| columns(*lanes) + 2 <= self.width;
        [64, 32, 16].into_iter().find(fits).unwrap_or(8)
    }

    /// Returns the lanes as text, in parts of at most `most` lanes.
    fn parts(&self, shown: &[Class], most: usize) -> Vec<String> {
        let parts = shown.chunks(most);
        parts.map(|part| lanes(part, self.colour)).collect()
    }
}

/// Contents of the lanes column.
#[derive(Clone, Copy)]
enum Middle<'a> {
    Heading,
    Lanes(&'a [Class]),
    /// The lanes of RTL and golden model. Shows those of the golden model, with a mark below each lane that differs.
    Both(&'a [Class], &'a [Class]),
}
