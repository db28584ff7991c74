//! A run as an SVG picture: instructions from top to bottom, lanes side by side, the stack on the right.

use std::fmt::Write as _;

use super::{Class, Frame, Item, Row, Run, ShownState, Turn};
use reconverge_bench::html::{number, text};
use reconverge_bench::input::one_line;
use reconverge_bench::quantity::counted;

/// Maximum number of lines of a picture; further lines are only counted.
pub const LINES: usize = 600;
/// Minimum number of rows for which the picture has a strip, an overview of the whole run, at the top.
const LONG: u64 = 60;

/// Height of a line. Lengths are in pixels.
const LINE: usize = 16;
const LETTER: f64 = 6.7;
const MARGIN: usize = 12;
/// Height of the strip.
const STRIP: usize = 48;
/// Maximum width of a stack as text, in letters.
const STACK: usize = 30;

/// Returns the name of a class in the style sheet.
fn name(class: Class) -> &'static str {
    match class {
        Class::Active => "active",
        Class::Branch => "branch",
        Class::Continue => "continue",
        Class::Break => "break",
        Class::Return => "return",
        Class::Off => "off",
    }
}

/// Returns the colour of a style class on a light page.
pub fn colour(class: &str) -> [u8; 3] {
    if let Some(lanes) = Class::ALL.iter().find(|lanes| name(**lanes) == class) {
        return lanes.rgb();
    }
    match class {
        "page" => [0xff; 3],
        "dim" | "dim number" | "frame" | "switched" | "resumed" => [0x65, 0x6d, 0x76],
        "diverged" => Class::Break.rgb(),
        "reconverged" => Class::Active.rgb(),
        "wrong" => [0xcf, 0x22, 0x2e],
        _ => [0x1f, 0x23, 0x28],
    }
}

/// Positions of the columns.
struct Columns {
    cycle: usize,
    text: usize,
    lanes: usize,
    lane: usize,
    turn: usize,
    stack: usize,
    /// Maximum number of frames of a stack that are drawn.
    deep: usize,
    width: usize,
}

fn letters(n: usize) -> usize {
    (n as f64 * LETTER).ceil() as usize
}

impl Columns {
    fn of(run: &Run) -> Self {
        let rows = run.items.iter().filter_map(|item| match item {
            Item::Row(row) => Some(row),
            Item::Again { .. } => None,
        });
        let long = rows.clone().map(|row| row.text.chars().count()).max();
        let long = long.unwrap_or(0).clamp(12, 48);
        let deep = rows.clone().map(|row| row.found.stack.len()).max();
        let deep = deep.unwrap_or(0).min(FRAMES);
        let said = rows
            .clone()
            .map(|row| super::text::printed(&row.found.stack).len());
        let said = said.max().unwrap_or(0).clamp(5, STACK);
        let sides = run.sides.iter().flatten();
        let pcs = rows.clone().map(|row| &row.found).chain(sides);
        let pcs = pcs
            .chain([&run.end.found])
            .map(|found| found.address().len());
        let lane = match run.lanes {
            0..=16 => 16,
            17..=33 => 11,
            _ => 8,
        };
        let cycle = MARGIN + letters(6);
        let text = cycle + 8 + letters(pcs.max().unwrap_or(0)) + 12;
        let lanes = text + letters(long) + 12;
        let turn = lanes + run.lanes * lane + run.lanes.saturating_sub(1) / 8 * GAP + 12;
        let stack = turn + letters(super::text::TURN) + 8;
        Columns {
            cycle,
            text,
            lanes,
            lane,
            turn,
            stack,
            deep,
            width: stack + deep * FRAME + 6 + letters(said) + MARGIN,
        }
    }

    /// Returns the left edge of a lane; there is a gap after every eighth.
    fn x(&self, lane: usize) -> usize {
        self.lanes + lane * self.lane + lane / 8 * GAP
    }
}

/// Width of a frame of the stack.
const FRAME: usize = 6;
const FRAMES: usize = 16;
/// Gap after eight lanes.
const GAP: usize = 4;

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn style() -> String {
    // The light colour is also there without its variable: programs other than browsers, such as librsvg, know no variables and
    // would draw black.
    let paint = |property: &str, class: &str| {
        format!(
            "{property}:{};{property}:var(--{class})",
            hex(colour(class))
        )
    };
    let (ink, page) = (paint("fill", "text"), paint("fill", "page"));
    let (dim, line) = (paint("fill", "dim"), paint("stroke", "dim"));
    let wrong = paint("stroke", "wrong");
    let [text, grey, white, red] = ["text", "dim", "page", "wrong"].map(|class| hex(colour(class)));
    let mut style = format!(
        "svg{{--text:{text};--dim:{grey};--page:{white};--wrong:{red}}}\
         @media(prefers-color-scheme:dark){{svg{{--text:#e6edf3;--dim:#8d96a0;--page:#0d1117;--wrong:#ff7b72}}}}\
         text{{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;{ink};white-space:pre}}\
         .page{{{page}}}.dim{{{dim}}}.number{{text-anchor:end}}.title{{font-weight:bold;font-size:13px}}\
         .frame{{{dim}}}.diverged{{stroke:#d55e00;stroke-dasharray:3 2}}.reconverged{{stroke:#009e73;stroke-width:2}}\
         .switched,.resumed{{{line};stroke-dasharray:1 2}}.wrong{{fill:none;{wrong};stroke-width:2}}",
    );
    for class in Class::ALL {
        let _ = write!(style, ".{}{{fill:{}}}", name(class), hex(class.rgb()));
    }
    style
}

/// Returns the height of a cell, which distinguishes classes by shape as well as colour.
fn height(class: Class) -> usize {
    match class {
        Class::Active => LINE - 2,
        Class::Off => 2,
        _ => LINE / 2 - 2,
    }
}

/// Draws the lanes at height `y`. Adjacent lanes of the same class are one cell.
fn lanes(out: &mut String, place: &Columns, y: usize, lanes: &[Class]) {
    let mut from = 0;
    for eight in lanes.chunks(8) {
        let mut at = 0;
        for alike in eight.chunk_by(|a, b| a == b) {
            let (x, class) = (place.x(from + at), alike[0]);
            let (w, h) = (alike.len() * place.lane - 1, height(class));
            let top = y + (LINE - h) / 2;
            let _ = write!(
                out,
                "<rect class=\"{}\" x=\"{x}\" y=\"{top}\" width=\"{w}\" height=\"{h}\"/>",
                name(class)
            );
            at += alike.len();
        }
        from += eight.len();
    }
}

fn label(out: &mut String, class: &str, x: usize, y: usize, what: &str) {
    let y = y + LINE - 4;
    let _ = write!(
        out,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>",
        text(&one_line(what))
    );
}

/// Draws the line of a row: cycle, address, instruction, lanes, turn, stack.
fn row(out: &mut String, place: &Columns, y: usize, row: &Row) {
    let _ = write!(
        out,
        "<g class=\"row\" data-cycle=\"{}\" data-pc=\"{}\">",
        row.cycle, row.found.pc
    );
    label(out, "dim number", place.cycle, y, &row.cycle.to_string());
    found(out, place, y, &row.found, &row.text);
    stack(out, place, y, &row.found.stack);
    if let Some(turn) = row.turn() {
        let said = super::text::turn(row.found.active(), row.next);
        label(
            out,
            if turn == Turn::Reconverged { "" } else { "dim" },
            place.turn,
            y,
            &said,
        );
        let y = y + LINE;
        let (from, to) = (place.lanes, place.turn + letters(said.len()));
        let _ = write!(
            out,
            "<line class=\"{}\" x1=\"{from}\" x2=\"{to}\" y1=\"{y}\" y2=\"{y}\"/>",
            turn.word()
        );
    }
    out.push_str("</g>\n");
}

fn found(out: &mut String, place: &Columns, y: usize, found: &ShownState, what: &str) {
    label(out, "dim", place.cycle + 8, y, &found.address());
    let shown: String = what.chars().take(48).collect();
    label(out, "", place.text, y, &shown);
    lanes(out, place, y, &found.lanes);
}

fn stack(out: &mut String, place: &Columns, y: usize, frames: &[Frame]) {
    let shown = super::text::printed(frames);
    let _ = write!(out, "<g class=\"stack\" data-depth=\"{}\">", frames.len());
    for level in 0..frames.len().min(place.deep) {
        let (x, top) = (place.stack + level * FRAME, y + 4);
        let _ = write!(
            out,
            "<rect class=\"frame\" x=\"{x}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>",
            FRAME - 1,
            LINE - 8
        );
    }
    label(out, "", place.stack + place.deep * FRAME + 6, y, &shown);
    out.push_str("</g>");
}

/// Draws the strip: the number of lanes in each class, over the whole run.
fn strip(out: &mut String, run: &Run, place: &Columns, y: usize) {
    let bins = run.strip.len();
    let wide = place.width - 2 * MARGIN;
    let rows = |bin: usize| match bin + 1 == bins {
        true => run.rows - bin as u64 * run.rows_in_bin,
        false => run.rows_in_bin,
    };
    let _ = write!(out, "<g class=\"strip\" data-rows=\"{}\">", run.rows);
    for (bin, share) in run.strip.iter().enumerate() {
        let (left, right) = (MARGIN + bin * wide / bins, MARGIN + (bin + 1) * wide / bins);
        let all = rows(bin) * run.lanes as u64;
        let mut sum = 0;
        for class in Class::ALL {
            let count = share[class as usize];
            let top = y as f64 + STRIP as f64 * sum as f64 / all as f64;
            let high = STRIP as f64 * count as f64 / all as f64;
            sum += count;
            if count > 0 && right > left {
                let _ = write!(
                    out,
                    "<rect class=\"{}\" x=\"{left}\" y=\"{top:.1}\" width=\"{}\" height=\"{high:.1}\" data-lanes=\"{count}\"/>",
                    name(class),
                    right - left
                );
            }
        }
    }
    out.push_str("</g>\n");
}

/// Returns the picture of a run.
pub fn svg(run: &Run) -> String {
    let place = Columns::of(run);
    let mut body = String::new();
    let mut y = MARGIN;
    let instructions = counted(number(run.rows), "instruction");
    let lanes = counted(run.lanes, "lane");
    let title = format!("{}  {instructions}, {lanes}", run.name);
    label(&mut body, "title", MARGIN, y, &title);
    y += LINE + 6;
    y = legend(&mut body, run, y, place.width);
    if run.rows >= LONG {
        let said = match run.rows_in_bin {
            1 => "share of the lanes, over the whole run".to_owned(),
            n => format!("share of the lanes, over the whole run, {n} instructions in a column"),
        };
        label(&mut body, "dim", MARGIN, y, &said);
        strip(&mut body, run, &place, y + LINE + 2);
        y += LINE + STRIP + 14;
    }
    label(&mut body, "dim number", place.cycle, y, "cycle");
    label(&mut body, "dim", place.cycle + 8, y, "pc");
    label(&mut body, "dim", place.text, y, "instruction");
    label(&mut body, "dim", place.lanes, y, "lane 0");
    for lane in (8..run.lanes).step_by(8) {
        label(&mut body, "dim", place.x(lane), y, &lane.to_string());
    }
    label(&mut body, "dim", place.stack, y, "stack");
    y += LINE + 4;
    for item in &run.items {
        match item {
            Item::Row(it) => row(&mut body, &place, y, it),
            Item::Again { rows, times, .. } => {
                let what = match rows {
                    1 => "the instruction above".to_owned(),
                    _ => format!("the {rows} instructions above"),
                };
                let said = format!("{what}, {times} more times");
                label(&mut body, "dim", place.text, y, &said);
                body.push('\n');
            }
        }
        y += LINE;
    }
    if run.left_out > 0 {
        let said = format!(
            "and {} more instructions",
            reconverge_bench::html::number(run.left_out)
        );
        label(&mut body, "dim", place.text, y, &said);
        y += LINE;
    }
    match &run.sides {
        Some([rtl, golden]) => {
            for (side, it) in [("RTL", rtl), ("golden model", golden)] {
                let _ = write!(body, "<g class=\"side\" data-pc=\"{}\">", it.pc);
                found(&mut body, &place, y, it, side);
                // The state of the RTL has only the top of its stack.
                if std::ptr::eq(it, golden) {
                    stack(&mut body, &place, y, &it.stack);
                }
                let pairs = rtl.lanes.iter().zip(&golden.lanes).enumerate();
                for (lane, _) in pairs.filter(|(_, (a, b))| a != b) {
                    let x = place.x(lane);
                    let _ = write!(
                        body,
                        "<rect class=\"wrong\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{LINE}\"/>",
                        place.lane - 1
                    );
                }
                body.push_str("</g>\n");
                y += LINE + 2;
            }
        }
        None => {
            body.push_str("<g class=\"end\">");
            found(&mut body, &place, y, &run.end.found, &run.end.outcome);
            stack(&mut body, &place, y, &run.end.found.stack);
            body.push_str("</g>\n");
            y += LINE;
        }
    }
    let (width, height) = (place.width, y + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n<style>{}</style>\n<rect class=\"page\" x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n",
        text(&title),
        style()
    )
}

/// Draws the legend of the classes that occur. Returns the height below it.
fn legend(out: &mut String, run: &Run, mut y: usize, width: usize) -> usize {
    let mut x = MARGIN;
    for class in Class::ALL {
        let last = &run.end.found.lanes;
        if run.strip.iter().all(|bin| bin[class as usize] == 0) && !last.contains(&class) {
            continue;
        }
        let meaning = class.meaning();
        let wide = 26 + letters(meaning.len());
        if x > MARGIN && x + wide > width {
            x = MARGIN;
            y += LINE;
        }
        let h = height(class);
        let _ = write!(
            out,
            "<rect class=\"{}\" x=\"{x}\" y=\"{}\" width=\"12\" height=\"{h}\"/>",
            name(class),
            y + (LINE - h) / 2
        );
        label(out, "dim", x + 16, y, meaning);
        x += wide;
    }
    y + LINE + 6
}
