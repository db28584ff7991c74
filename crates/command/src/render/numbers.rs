//! Divergence as text and as JSON.

use std::fmt::Write as _;

use indicatif::HumanCount;
use reconverge::design::Design;
use reconverge::quantity::counted;
use reconverge::r500::R500;
use reconverge::r500::alu::picture::{Scene, Size};
use reconverge::r500::alu::profile::{Count, branches};
use serde::Serialize;

use super::Sum;

/// Version of the format of the JSON.
const FORMAT: u32 = 1;

/// Returns `share`, where 1 is all, as a percentage.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Returns a line with its name in front.
pub fn line(name: &str, text: &str) -> String {
    format!("  {name:<16}{text}\n")
}

/// Returns the verdicts of the judges as text.
pub fn judged(sum: &Sum) -> String {
    let lock_step = format!(
        "0 mismatches in {} cycles, {}",
        HumanCount(sum.compared.cycles),
        R500::DECLARATION.extent()
    );
    let scalar = match &sum.unstructured {
        Some(why) => format!("cannot tell: {why}"),
        None => format!(
            "{} pixels get the same colour alone, to the bit",
            HumanCount(sum.alone)
        ),
    };
    line("lock-step", &lock_step) + &line("scalar judge", &scalar)
}

/// Returns the SIMD efficiency as text.
pub fn efficiency(count: &Count) -> String {
    let mean = |n: u64| n as f64 / count.cycles.max(1) as f64;
    format!(
        "{}: {:.2} of {:.2} lanes at work in a cycle",
        count.efficiency().map_or("-".to_owned(), percent),
        mean(count.lanes),
        mean(count.room)
    )
}

/// Names of the columns of [`rows`].
pub const COLUMNS: [&str; 10] = [
    "slot",
    "statement",
    "times",
    "diverged",
    "lanes in",
    "stay on",
    "arm",
    "cycles",
    "of all",
    "efficiency",
];

/// Returns a row for each branch of the program, and one for each further arm after its first.
pub fn rows(scene: &Scene, sum: &Sum) -> Vec<[String; 10]> {
    let total = sum.profile.total();
    let mut rows = Vec::new();
    for branch in branches(&scene.program) {
        let at = sum.profile.sum(branch.slot..branch.slot + 1);
        let mut row: [String; 10] = Default::default();
        row[0] = branch.slot.to_string();
        row[1] = format!("{}{}", "  ".repeat(branch.depth), branch.what);
        for (cell, n) in row[2..6]
            .iter_mut()
            .zip([at.cycles, at.diverged, at.lanes, at.stayed])
        {
            *cell = HumanCount(n).to_string();
        }
        for arm in &branch.arms {
            let count = sum.profile.sum(arm.slots.clone());
            row[6] = arm.name.to_owned();
            row[7] = HumanCount(count.cycles).to_string();
            row[8] = percent(count.cycles as f64 / total.cycles.max(1) as f64);
            row[9] = count.efficiency().map_or("-".to_owned(), percent);
            rows.push(std::mem::take(&mut row));
        }
        if branch.arms.is_empty() {
            rows.push(row);
        }
    }
    rows
}

/// Returns the cost of a picture as text.
pub fn text(name: &str, scene: &Scene, sum: &Sum) -> String {
    let Size { width, height } = scene.size;
    let mut t = format!(
        "{name}  {width} x {height} pixels, {}, {}\n{}{}",
        counted(HumanCount(sum.wavefronts), "wavefront"),
        counted(HumanCount(sum.compared.steps), "instruction"),
        judged(sum),
        line("SIMD efficiency", &efficiency(&sum.profile.total())),
    );
    let mut rows = rows(scene, sum);
    if !rows.is_empty() {
        rows.insert(0, COLUMNS.map(str::to_owned));
        t += &table(&rows);
    }
    t
}

/// Returns rows as columns of equal width; the second and the seventh are left-aligned.
fn table(rows: &[[String; 10]]) -> String {
    let width = |c: usize| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0);
    let widths: [usize; 10] = std::array::from_fn(width);
    let mut t = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, (cell, width)) in row.iter().zip(widths).enumerate() {
            let _ = match c {
                1 | 6 => write!(line, "  {cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        t += line.trim_end();
        t.push('\n');
    }
    t
}

// ---- JSON ----------------------------------------------------------------------------------------------

#[derive(Serialize)]
struct CountJson {
    cycles: u64,
    lanes: u64,
    room: u64,
    efficiency: Option<f64>,
}

impl From<Count> for CountJson {
    fn from(count: Count) -> Self {
        CountJson {
            cycles: count.cycles,
            lanes: count.lanes,
            room: count.room,
            efficiency: count.efficiency(),
        }
    }
}

#[derive(Serialize)]
struct ArmJson {
    arm: &'static str,
    first: usize,
    end: usize,
    count: CountJson,
}

#[derive(Serialize)]
struct BranchJson {
    slot: usize,
    statement: String,
    depth: usize,
    times: u64,
    parted: u64,
    lanes_in: u64,
    stay_on: u64,
    arms: Vec<ArmJson>,
}

#[derive(Serialize)]
struct PictureJson<'a> {
    reconverge_render: u32,
    run: &'a str,
    unit: &'a str,
    width: u32,
    height: u32,
    wavefronts: u64,
    cycles: u64,
    steps: u64,
    alone: u64,
    total: CountJson,
    branches: Vec<BranchJson>,
    slots: Vec<CountJson>,
    blocks: Vec<(u64, u64, u64)>,
}

/// Returns the numbers of a picture as JSON; `blocks` are those of each block.
///
/// # Errors
/// Serialising fails, which plain data cannot do.
pub fn json(name: &str, scene: &Scene, sum: &Sum, blocks: &[Count]) -> Result<String, String> {
    let branches = branches(&scene.program).into_iter().map(|branch| {
        let at = sum.profile.sum(branch.slot..branch.slot + 1);
        let arms = branch.arms.into_iter().map(|arm| ArmJson {
            arm: arm.name,
            first: arm.slots.start,
            end: arm.slots.end,
            count: sum.profile.sum(arm.slots).into(),
        });
        BranchJson {
            slot: branch.slot,
            statement: branch.what,
            depth: branch.depth,
            times: at.cycles,
            parted: at.diverged,
            lanes_in: at.lanes,
            stay_on: at.stayed,
            arms: arms.collect(),
        }
    });
    let slots = 0..scene.program.slots.len();
    let picture = PictureJson {
        reconverge_render: FORMAT,
        run: name,
        unit: R500::NAME,
        width: scene.size.width,
        height: scene.size.height,
        wavefronts: sum.wavefronts,
        cycles: sum.compared.cycles,
        steps: sum.compared.steps,
        alone: sum.alone,
        total: sum.profile.total().into(),
        branches: branches.collect(),
        slots: slots.map(|n| sum.profile.sum(n..n + 1).into()).collect(),
        blocks: blocks.iter().map(|c| (c.cycles, c.lanes, c.room)).collect(),
    };
    match serde_json::to_string_pretty(&picture) {
        Ok(text) => Ok(text + "\n"),
        Err(e) => Err(format!("JSON: {e}")),
    }
}
