//! A picture as one self-contained page: no network, no script, light and dark.

use std::fmt::Write as _;

use reconverge::assembly::Assembly as _;
use reconverge::html::{number, text};
use reconverge::quantity::counted;
use reconverge::r500::alu::picture::{BLOCK, Renderer, Size, rgb};
use reconverge::r500::alu::profile::{Count, Profile};
use reconverge::r500::alu::{LANES, shade};
use reconverge::r500::state::State;

use super::Sum;
use super::numbers::{COLUMNS, efficiency, judged, rows};
use super::pictures::{Heat, Image, Picture};

const STYLE: &str = "
:root { color-scheme: light dark; --text: #1c2024; --page: #fcfcfd; --line: #d9dce0; --dim: #6a7078;
  --on: #2f9e55; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6e9; --page: #16181a; --line: #3a3f45;
  --dim: #9aa0a8; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 80rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .1rem .4rem; text-align: right; }
th { font-weight: 600; text-align: left; } td.name { text-align: left; white-space: pre; }
td.name, pre { font-family: ui-monospace, monospace; font-size: 12px; }
pre b, pre i { font-style: normal; font-weight: 400; } pre b, .a { background: #2f9e55; color: #fff; }
pre i.b, .b { background: #d99a2b; color: #000; } pre i.c, .c { background: #3b7dd8; color: #fff; }
pre i.k, .k { background: #c2463a; color: #fff; } pre i.o, .o { color: var(--dim); }
img { image-rendering: pixelated; display: block; } .at { position: relative; display: inline-block; }
.at span { position: absolute; outline: 2px solid #f0f; } figure { display: inline-block; margin: 0 1rem 1rem 0; }
figcaption, .about { color: var(--dim); } .scroll { overflow-x: auto; } summary { cursor: pointer; }
.legend span { padding: 0 .4rem; margin-right: .6rem; } td.pixel { width: 3rem; height: 2.2rem; text-align: center; }
";

/// Number of cycles that are listed one by one; the strip shows more.
const LISTED: usize = 4096;
/// Number of cycles in a row of the strip, and of its rows.
const STRIP: (usize, usize) = (512, 32);

/// Colours of the classes ACTIVE, BRANCH, CONT, BRK and of a lane that is not covered, as in [`STYLE`].
const CLASSES: [(char, &str, [u8; 3]); 5] = [
    ('A', "ACTIVE", [0x2f, 0x9e, 0x55]),
    ('B', "BRANCH: waits in an IF", [0xd9, 0x9a, 0x2b]),
    ('C', "CONT: waits for the next pass", [0x3b, 0x7d, 0xd8]),
    ('K', "BRK: has left the loop", [0xc2, 0x46, 0x3a]),
    ('.', "outside of the picture", [0x88, 0x88, 0x88]),
];

/// The classes of a block's lanes in a cycle, before its instruction.
struct Cycle {
    slot: usize,
    /// For each lane, an index into [`CLASSES`].
    lanes: [u8; LANES],
}

/// The history of a block, and how often each of its slots was executed by each lane.
struct History {
    cycles: Vec<Cycle>,
    profile: Profile,
    /// Instructions executed by slot and lane.
    executed: Vec<[u64; LANES]>,
    steps: u64,
}

fn history(renderer: &Renderer, block: u32) -> History {
    let program = &renderer.scene().program;
    let case = renderer.case(block);
    let covered = case.launch_mask;
    let mut history = History {
        cycles: Vec::new(),
        profile: Profile::new(program),
        executed: vec![[0; LANES]; program.slots.len()],
        steps: 0,
    };
    let lanes = renderer.lanes(&renderer.pixels(block));
    shade(&case, lanes, |before: &State, after| {
        history.steps += 1;
        history.profile.executed(program, covered, before, after);
        let slot = usize::from(before.pc.wrapping_sub(program.regs.offset()));
        if let Some(executed) = history.executed.get_mut(slot) {
            for (lane, count) in executed.iter_mut().enumerate() {
                *count += before.active >> lane & covered >> lane & 1;
            }
        }
        if history.cycles.len() < STRIP.0 * STRIP.1 {
            let class = |lane| match covered >> lane & 1 {
                0 => 4,
                _ => before.class(lane).min(3),
            };
            history.cycles.push(Cycle {
                slot,
                lanes: std::array::from_fn(class),
            });
        }
    });
    history
}

/// Returns the data of a PNG as a URL, with every byte as an escape of two digits: no other encoding is needed.
fn address(png: &[u8]) -> String {
    let mut address = "data:image/png,".to_owned();
    for byte in png {
        let _ = write!(address, "%{byte:02x}");
    }
    address
}

/// Adds the figure of a picture, enlarged `scale` times, with a frame around a part of it.
fn figure(
    page: &mut String,
    png: &[u8],
    (width, height): (u32, u32),
    scale: u32,
    frames: &[(u32, u32, u32, u32)],
    caption: &str,
) {
    let _ = write!(
        page,
        "<figure><div class=\"at\"><img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\"/>",
        address(png),
        width * scale,
        height * scale,
        text(caption)
    );
    for (x, y, w, h) in frames {
        let _ = write!(
            page,
            "<span style=\"left:{}px;top:{}px;width:{}px;height:{}px\"></span>",
            x * scale,
            y * scale,
            w * scale,
            h * scale
        );
    }
    let _ = writeln!(
        page,
        "</div><figcaption>{}</figcaption></figure>",
        text(caption)
    );
}

/// Returns the page of a picture, with the divergence of block `block`.
///
/// # Errors
/// A picture is too large.
pub fn page(
    name: &str,
    renderer: &Renderer,
    sum: &Sum,
    picture: &Picture,
    heat: &Heat,
    block: u32,
) -> Result<String, String> {
    let scene = renderer.scene();
    let Size { width, height } = scene.size;
    let title = text(&format!("{name}: {width} x {height} pixels"));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width\"/>\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    let _ = writeln!(
        page,
        "<p>{}, {}. SIMD efficiency {}.</p>\n<pre>{}</pre>",
        counted(number(sum.wavefronts), "wavefront"),
        counted(number(sum.compared.steps), "instruction"),
        efficiency(&sum.profile.total()),
        text(&judged(sum))
    );
    let scale = (512 / width.max(height)).max(1);
    let (left, top) = scene.size.corner(block);
    let (w, h) = (BLOCK.min(width - left), BLOCK.min(height - top));
    figure(
        &mut page,
        &picture.image.png()?,
        (width, height),
        scale,
        &[(left, top, w, h)],
        "The picture; the block below is framed.",
    );
    figure(
        &mut page,
        &heat.image.png()?,
        (2 * width, height),
        scale,
        &[(left, top, w, h), (left + width, top, w, h)],
        &heat.scale(),
    );
    page.push_str("<h2>Branches</h2>\n");
    branch_table(&mut page, renderer, sum);
    block_section(&mut page, renderer, block)?;
    page.push_str("</body>\n</html>\n");
    Ok(page)
}

fn branch_table(page: &mut String, renderer: &Renderer, sum: &Sum) {
    page.push_str(
        "<p class=\"about\">Of each instruction at which lanes may diverge: how often it was executed and lanes diverged, \
         how many lanes came to it and how many of them stayed on; of each arm the cycles, and how many of the \
         lanes were at work in them.</p>\n<div class=\"scroll\"><table>\n<tr>",
    );
    for column in COLUMNS {
        let _ = write!(page, "<th>{}</th>", text(column));
    }
    page.push_str("</tr>\n");
    for row in rows(renderer.scene(), sum) {
        page.push_str("<tr>");
        for (c, cell) in row.iter().enumerate() {
            let class = if matches!(c, 1 | 6) {
                " class=\"name\""
            } else {
                ""
            };
            let _ = write!(page, "<td{class}>{}</td>", text(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

fn block_section(page: &mut String, renderer: &Renderer, block: u32) -> Result<(), String> {
    let scene = renderer.scene();
    let (left, top) = scene.size.corner(block);
    let history = history(renderer, block);
    let total = history.profile.total();
    let _ = writeln!(
        page,
        "<h2>The block of pixel {left},{top}</h2>\n<p>{} instructions. SIMD efficiency {}.</p>",
        number(history.steps),
        efficiency(&total)
    );
    lanes_table(page, renderer, block);

    page.push_str("<p class=\"legend\">");
    for (letter, meaning, [r, g, b]) in CLASSES {
        let _ = write!(
            page,
            "<span style=\"background:rgb({r},{g},{b})\">{letter}</span>{} ",
            text(meaning)
        );
    }
    page.push_str("</p>\n");
    let shown = history.cycles.len();
    let caption = format!(
        "Cycles from left to right, {} in a row; lane 0 above, lane 15 below. {}",
        STRIP.0,
        match history.steps > shown as u64 {
            true => format!(
                "The first {} of {} cycles.",
                number(shown as u64),
                number(history.steps)
            ),
            false => "All cycles.".to_owned(),
        }
    );
    let strip = strip(&history.cycles);
    let columns = shown.clamp(1, STRIP.0) as u32;
    let rows = shown.div_ceil(STRIP.0).max(1) as u32 * (LANES as u32 + 2);
    figure(page, &strip.png()?, (columns, rows), 2, &[], &caption);

    page.push_str(
        "<h3>By instruction</h3>\n<p class=\"about\">How often each lane executed it; the shade is the share of the \
         times that the wavefront came to it.</p>\n<div class=\"scroll\"><table>\n<tr><th>slot</th>\
         <th>instruction</th><th>times</th><th>efficiency</th>",
    );
    for lane in 0..LANES {
        let _ = write!(page, "<th>{lane}</th>");
    }
    page.push_str("</tr>\n");
    for (n, executed) in history.executed.iter().enumerate() {
        let count = history.profile.sum(n..n + 1);
        instruction_row(page, n, &instruction(renderer, n), count, executed);
    }
    page.push_str("</table></div>\n");

    let listed = &history.cycles[..shown.min(LISTED)];
    let _ = writeln!(
        page,
        "<details><summary>Cycle by cycle ({} of {})</summary>\n<pre>",
        number(listed.len() as u64),
        number(history.steps)
    );
    for (n, cycle) in listed.iter().enumerate() {
        let _ = write!(page, "{n:>6}  {:>3}  ", cycle.slot);
        for run in cycle.lanes.chunk_by(|a, b| a == b) {
            let class = usize::from(run[0]);
            let letters = CLASSES[class].0.to_string().repeat(run.len());
            let _ = match class {
                0 => write!(page, "<b>{letters}</b>"),
                _ => write!(
                    page,
                    "<i class=\"{}\">{letters}</i>",
                    ["", "b", "c", "k", "o"][class]
                ),
            };
        }
        let _ = writeln!(page, "  {}", text(&instruction(renderer, cycle.slot)));
    }
    page.push_str("</pre></details>\n");
    Ok(())
}

/// Returns an instruction as text, without the words that only the ALU reads.
fn instruction(renderer: &Renderer, slot: usize) -> String {
    let program = &renderer.scene().program;
    let all = program.disassemble(u32::from(program.regs.offset()) + slot as u32);
    match all.split_once('[') {
        Some((name, _)) => name.trim_end().to_owned(),
        None => all,
    }
}

/// Adds a table of the lanes of a block at their places, with their colours.
fn lanes_table(page: &mut String, renderer: &Renderer, block: u32) {
    let size = renderer.scene().size;
    let tile = renderer.shade_block(block).tile();
    let (left, top) = size.corner(block);
    page.push_str("<table>\n");
    for y in top..(top + BLOCK).min(size.height) {
        page.push_str("<tr>");
        for x in left..(left + BLOCK).min(size.width) {
            let lane = (0..LANES)
                .find(|lane| size.pixel(block, *lane) == (x, y))
                .unwrap_or(0);
            let style = match tile[lane] {
                Some(colour) => {
                    let [r, g, b] = rgb(colour);
                    let bright = 2 * u32::from(r) + 5 * u32::from(g) + u32::from(b) > 1024;
                    let ink = if bright { "#000" } else { "#fff" };
                    format!(" style=\"background:rgb({r},{g},{b});color:{ink}\"")
                }
                None => String::new(),
            };
            let _ = write!(page, "<td class=\"pixel\"{style}>{lane}</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str(
        "</table>\n<p class=\"about\">The number of each pixel's lane, on its colour.</p>\n",
    );
}

fn instruction_row(page: &mut String, n: usize, what: &str, count: Count, executed: &[u64; LANES]) {
    let share = count
        .efficiency()
        .map_or("-".to_owned(), super::numbers::percent);
    let _ = write!(
        page,
        "<tr><td>{n}</td><td class=\"name\">{}</td><td>{}</td><td>{share}</td>",
        text(what),
        number(count.cycles)
    );
    for lane in executed {
        let opacity = *lane as f64 / count.cycles.max(1) as f64;
        let _ = write!(
            page,
            "<td style=\"background:rgba(47,158,85,{opacity:.2})\">{}</td>",
            number(*lane)
        );
    }
    page.push_str("</tr>\n");
}

/// Returns an image of the class of each lane in each cycle: rows of [`STRIP`] cycles, one pixel per lane.
fn strip(cycles: &[Cycle]) -> Image {
    let rows = cycles.len().div_ceil(STRIP.0).max(1);
    let columns = cycles.len().clamp(1, STRIP.0);
    let mut image = Image::new(columns as u32, (rows * (LANES + 2)) as u32);
    for (n, cycle) in cycles.iter().enumerate() {
        let (row, column) = (n / STRIP.0, n % STRIP.0);
        for (lane, class) in cycle.lanes.iter().enumerate() {
            let y = row * (LANES + 2) + lane;
            image.set(column as u32, y as u32, CLASSES[usize::from(*class)].2);
        }
    }
    image
}
