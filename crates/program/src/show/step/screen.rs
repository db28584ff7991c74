//! The contents of the screen: the run with the current row at the top, below it stack, changes and keys.

use super::{Mode, Stepper};
use crate::show::Frame;
use crate::show::text::Layout;
use reconverge_bench::field::mask_in_eights;
use reconverge_bench::input::one_line;
use reconverge_bench::lanes::{BOLD, DIM, RED, RESET, columns, styled};

/// Maximum number of changes that are shown.
const CHANGES: usize = 3;
/// Minimum number of lines of the run.
const FEWEST: usize = 3;

const KEYS: &[(&str, &str)] = &[
    ("-> l Enter", "a step on; a number before a key repeats it"),
    ("<- h", "a step back"),
    ("PgDn PgUp", "sixteen steps; Home, End"),
    ("c C", "to where a lane changes its class, C back"),
    ("n p", "to where lanes part or meet, p back"),
    ("m M", "to where lanes that waited execute again, M back"),
    ("a A", "to an address, A back"),
    ("e", "to the error or mismatch"),
    ("x", "change conditions of lanes at this instruction"),
    ("u", "take the last change back"),
    ("w", "write a file that runs this again"),
    ("q Esc", "leave"),
];

/// Returns `line` cut to `width` characters; it may contain colour codes.
fn cut(line: &str, width: usize) -> String {
    let (mut out, mut seen, mut coloured) = (String::new(), 0, false);
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        if c == '\x1b' {
            out.push(c);
            for c in letters.by_ref() {
                out.push(c);
                if c == 'm' {
                    break;
                }
            }
            coloured = true;
            continue;
        }
        if seen == width {
            if coloured {
                out += RESET;
            }
            break;
        }
        seen += 1;
        out.push(c);
    }
    out
}

/// Wraps `line` into lines of `width` characters. All lines but the first are indented.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    const INDENT: usize = 10;
    let letters: Vec<char> = line.chars().collect();
    let (first, rest) = letters.split_at(letters.len().min(width.max(1)));
    let rest = rest.chunks(width.saturating_sub(INDENT).max(1));
    let rest = rest.map(|part| " ".repeat(INDENT) + &String::from_iter(part));
    [String::from_iter(first)].into_iter().chain(rest).collect()
}

impl Stepper {
    /// Returns the lines of the screen of `width` times `height` characters, with colours if `colour` is true.
    pub fn screen(&self, width: usize, height: usize, colour: bool) -> Vec<String> {
        let style = |style: &str, text: &str| styled(colour, style, text);
        let mut top = self.title(colour);
        let layout = Layout::new(self.survey.clone(), width.saturating_sub(1), colour);
        top.extend(layout.header().lines().map(|line| format!(" {line}")));
        let mut low = vec![style(DIM, &"-".repeat(width))];
        // The current row, and three lines for the rest.
        let here = self.block(&layout, self.at).len().max(FEWEST);
        let most = height.saturating_sub(top.len() + here + 3);
        // Keys and draws are shown as completely as possible; stack and fields leave half of the screen to the run.
        let most = match self.mode {
            Mode::Help | Mode::Change(_) => most,
            Mode::Steps | Mode::Address { .. } => most.min(height / 2),
        };
        low.extend(self.below(width, most, colour));
        low.push(match &self.mode {
            Mode::Address {
                back: false,
                digits,
            } => format!("forward to address {digits}_"),
            Mode::Address { back: true, digits } => format!("back to address {digits}_"),
            _ => style(BOLD, &one_line(&self.said)),
        });
        low.push(style(DIM, self.keys(width)));
        let room = height.saturating_sub(top.len() + low.len());
        top.extend(self.rows(&layout, room, colour));
        let gap = height.saturating_sub(top.len() + low.len());
        top.extend(std::iter::repeat_n(String::new(), gap));
        let lines = top.into_iter().chain(low);
        lines.map(|line| cut(&line, width)).take(height).collect()
    }

    fn title(&self, colour: bool) -> Vec<String> {
        let verdict = match self.verdict.fails {
            None => "agrees".to_owned(),
            Some(_) => styled(colour, RED, "FAILS"),
        };
        let name = one_line(&self.run.name);
        let rows = self.rows.len();
        let mut place = match self.rows.get(self.at) {
            Some(row) => format!("step {} of {rows}, cycle {}", self.at + 1, row.cycle),
            None => match self.rows.last() {
                Some(row) => format!("end, behind step {rows} in cycle {}", row.cycle),
                None => "end, without a step".to_owned(),
            },
        };
        if self.run.left_out > 0 {
            place += &format!("; {} more are left out", self.run.left_out);
        }
        place += match (self.rows.get(self.at), &self.run.sides) {
            (None, Some(_)) => ": RTL and golden model differ",
            _ => ": RTL and golden model are equal",
        };
        if let (true, None, Some(fails)) = (
            self.at == self.rows.len(),
            &self.run.sides,
            &self.verdict.fails,
        ) {
            place = one_line(fails).into_owned();
        }
        vec![format!("{}  {verdict}", styled(colour, BOLD, &name)), place]
    }

    /// Returns the lines of row `at`, or of the end.
    fn block(&self, layout: &Layout, at: usize) -> Vec<String> {
        let text = match (self.rows.get(at), &self.run.sides) {
            (Some(row), _) => layout.row(row),
            (None, Some([rtl, golden])) => layout.sides(rtl, golden),
            (None, None) => layout.end(&self.run.end),
        };
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the rows around the current one in `room` lines, two thirds of them before it.
    fn rows(&self, layout: &Layout, room: usize, colour: bool) -> Vec<String> {
        let marked = |at: usize| {
            let block = self.block(layout, at).into_iter().enumerate();
            let here = |line| if line == 0 && at == self.at { ">" } else { " " };
            let lines = block.map(|(n, line)| styled(colour, BOLD, here(n)) + &line);
            lines.collect::<Vec<_>>()
        };
        let mut lines = marked(self.at);
        let (mut first, mut behind) = (self.at, self.at + 1);
        let up = |lines: &mut Vec<String>, first: &mut usize, most: usize| {
            while let Some(at) = first.checked_sub(1) {
                let more = marked(at);
                if lines.len() + more.len() > most {
                    return;
                }
                lines.splice(0..0, more);
                *first = at;
            }
        };
        up(&mut lines, &mut first, room * 2 / 3);
        while lines.len() < room && behind <= self.rows.len() {
            lines.extend(marked(behind));
            behind += 1;
        }
        up(&mut lines, &mut first, room);
        lines.truncate(room);
        lines
    }

    /// Returns the lines below the rows, at most `most`.
    fn below(&self, width: usize, most: usize, colour: bool) -> Vec<String> {
        let hidden = self.changes.len().saturating_sub(CHANGES);
        let more = (hidden > 0).then(|| format!("changed: {hidden} draws more, and"));
        let changes = self.changes.iter().skip(hidden);
        let changes = changes.map(|change| format!("changed: {}", change.said()));
        let changes: Vec<String> = more.into_iter().chain(changes).collect();
        let mut lines = match &self.mode {
            Mode::Help => {
                let keys = KEYS.iter();
                keys.map(|(key, does)| format!("{key:<10}  {does}"))
                    .collect()
            }
            Mode::Change(changing) => {
                let most = if width < 80 { 32 } else { 64 };
                changing.lines(most)
            }
            Mode::Steps | Mode::Address { .. } => {
                let mut lines = Vec::new();
                if self.at == self.rows.len() && !self.verdict.fields.is_empty() {
                    let fields = self.verdict.fields.iter();
                    lines.extend(fields.flat_map(|line| {
                        let style = if line.ends_with("<--") { BOLD } else { "" };
                        let parts = wrapped(line, width).into_iter();
                        parts.map(move |part| styled(colour, style, &part))
                    }));
                }
                lines.extend(self.stack(width));
                lines
            }
        };
        let most = most.saturating_sub(changes.len());
        if lines.len() > most {
            let more = lines.len() - most.max(1) + 1;
            lines.truncate(most.saturating_sub(1));
            lines.push(format!("and {more} more lines"));
        }
        lines.extend(changes);
        lines
    }

    /// Returns the lines of the stack, top first.
    fn stack(&self, width: usize) -> Vec<String> {
        let found = self.found(self.at);
        if found.stack.is_empty() {
            return vec!["stack empty".to_owned()];
        }
        let frames: Vec<String> = found.stack.iter().map(Frame::long).collect();
        let wide = frames.iter().map(String::len).max().unwrap_or(0);
        let lines = found.stack.iter().zip(frames).enumerate().rev();
        let lines = lines.flat_map(|(level, (frame, text))| {
            let what = match level + 1 == found.stack.len() {
                true => "stack",
                false => "     ",
            };
            let line = format!("{what} {level:>3}  {text:<wide$}");
            let Some(mask) = frame.lanes else {
                return vec![line.trim_end().to_owned()];
            };
            let lanes = found.lanes.len();
            let bits = |from: usize, count| mask_in_eights(count, |i| mask >> (from + i) & 1 == 1);
            if line.len() + 2 + columns(lanes) <= width {
                return vec![format!("{line}  {}", bits(0, lanes))];
            }
            // On a narrow screen the lanes are on separate lines.
            let parts = (0..lanes).step_by(32);
            let lanes =
                parts.map(|from| format!("{:11}{}", "", bits(from, (lanes - from).min(32))));
            [line.trim_end().to_owned()]
                .into_iter()
                .chain(lanes)
                .collect()
        });
        lines.collect()
    }

    /// Returns the help line of the keys.
    fn keys(&self, width: usize) -> &'static str {
        match &self.mode {
            Mode::Steps if width < 80 => {
                "<- -> step  c class  m join  a address  x change  ? keys  q"
            }
            Mode::Steps => {
                "<- -> step  c class  m join  a address  e error  x change  ? keys  q leave"
            }
            Mode::Address { .. } => "hexadecimal digits, Enter goes there, Esc",
            Mode::Change(_) => "<- -> lane, up down bit, space turns it, Enter runs, Esc",
            Mode::Help => "any key",
        }
    }
}
