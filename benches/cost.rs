//! Measures the cost of a cycle in several ways side by side; `benches/cost` prepares and calls this program.
//!
//! `cost --models [UNIT ...]` prints the bare programs that it needs (`benches/unit_bare.cpp`), as
//! `<unit>_<lanes>`; `cost FOLDER [UNIT ...]` finds them in that folder and measures. All ways of running
//! get the same inputs, recorded from campaign cases, and take turns in rounds, so that a change of the
//! machine's speed affects all of them. The results are checked too: lock-step by its comparison, the bare
//! loops by a sum over each of the unit's outputs.

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use bytemuck::{bytes_of, cast_slice};
use reconverge::campaign::{self, Pace};
use reconverge::case::Case;
use reconverge::compiled::Compiled;
use reconverge::cover::Model;
use reconverge::design::Golden;
use reconverge::dut::{Check, Rtl};
use reconverge::field::{Field, Shape};
use reconverge::stimulus;
use reconverge::unit::{Executor as _, Step, Unit};

/// Recorded cycles, run several times; few enough that the inputs stay in the cache.
const RECORDED: usize = 10_000;
const TIMES: usize = 20;
const CLOCKS: usize = RECORDED * TIMES;
const ROUNDS: usize = 7;
const VCD_CYCLES: usize = 20_000;
/// Lane counts for which every unit alone is measured, besides its own.
const WIDTHS: [u32; 2] = [16, 64];

type Done<T> = Result<T, Box<dyn Error>>;

fn ns(cycles: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9 / cycles as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the median of the ratios within a round: a machine that slows down between rounds slows both sides.
fn ratio(values: &[f64], base: &[f64]) -> f64 {
    median(
        values
            .iter()
            .zip(base)
            .map(|(value, base)| value / base)
            .collect(),
    )
}

/// Returns the lane counts of unit `U`'s bare programs, ascending.
fn widths<U: Unit>() -> Vec<u32> {
    let mut widths = vec![U::LANES];
    widths.extend(WIDTHS);
    widths.sort_unstable();
    widths.dedup();
    widths
}

fn model<U: Unit>(lanes: u32) -> String {
    format!("{}_{lanes}", U::NAME)
}

/// The unit alone, in a program of its own.
struct Bare {
    command: Command,
    model: String,
    row: String,
    /// The expected sum of each field that may be an output, from the golden model.
    sums: BTreeMap<&'static str, u64>,
    /// Instructions executed per cycle.
    rate: f64,
    rounds: Vec<f64>,
}

impl Bare {
    /// Returns the program with `lanes` lanes for `inputs`, whose lane masks may be wider.
    fn new<U: Unit>(dir: &Path, lanes: u32, inputs: &[U::In], row: String) -> Done<Self> {
        let file = dir.join(format!("{} {row}.inputs", U::NAME));
        std::fs::write(&file, cast_slice::<U::In, u8>(inputs))?;
        let mut command = Command::new(dir.join(model::<U>(lanes)));
        command
            .arg(&file)
            .arg(size_of::<U::In>().to_string())
            .arg(TIMES.to_string());

        let fields: Vec<Field> = U::fields().iter().filter_map(one_value).collect();
        let mut golden = U::Golden::new(lanes as usize);
        let mut sums = vec![0u64; fields.len()];
        let mut executed = 0u32;
        for pins in inputs {
            let state = bytes_of(golden.cycle(pins));
            for (field, sum) in fields.iter().zip(&mut sums) {
                *sum = sum.wrapping_mul(31).wrapping_add(field.get(state, 0));
            }
            executed += u32::from(golden.step() == Step::Executed);
        }
        Ok(Bare {
            command,
            model: model::<U>(lanes),
            row,
            sums: fields.iter().map(|field| field.name).zip(sums).collect(),
            rate: f64::from(executed) / inputs.len() as f64,
            rounds: Vec::with_capacity(ROUNDS),
        })
    }

    /// Runs one round. An output that differs from the golden model in any cycle is an error.
    fn round(&mut self) -> Done<()> {
        let out = self
            .command
            .output()
            .map_err(|e| format!("{}: {e}", self.model))?;
        if !out.status.success() {
            let said = String::from_utf8_lossy(&out.stderr);
            return Err(format!("{}: {}: {said}", self.model, out.status).into());
        }
        let text = String::from_utf8(out.stdout)?;
        let mut lines = text.lines();
        let took = lines
            .next()
            .and_then(|line| line.parse().ok())
            .ok_or_else(|| format!("{}: says no time: {text:?}", self.model))?;
        let mut outputs = 0;
        let mut wrong = Vec::new();
        for line in lines {
            let (name, sum) = line.split_once(' ').unwrap_or((line, ""));
            if !sum
                .parse()
                .is_ok_and(|sum| self.sums.get(name) == Some(&sum))
            {
                wrong.push(name);
            }
            outputs += 1;
        }
        if outputs == 0 || !wrong.is_empty() {
            return Err(format!(
                "{}: the bare loop is not the golden in {} of {outputs} outputs: {}",
                self.model,
                wrong.len(),
                wrong.join(" ")
            )
            .into());
        }
        self.rounds.push(took);
        Ok(())
    }
}

/// Returns `field` as one integer, if it is one value or one bit for each lane.
fn one_value(field: &Field) -> Option<Field> {
    match field.shape {
        Shape::Words { count: 1, .. } => Some(*field),
        Shape::Planes(1) => Some(Field {
            shape: Shape::Words { bytes: 8, count: 1 },
            ..*field
        }),
        _ => None,
    }
}

fn measure<U: Compiled>(pace: Pace, dir: &Path) -> Done<()> {
    let lanes = U::LANES;
    let inputs = campaign::recorded::<U>(1, &lanes.into(), RECORDED, pace);
    let rtl = Rtl::<U>::own(lanes)?;
    let cases: Vec<_> = (0..400)
        .map(|i| campaign::case::<U>(1, i, &lanes.into()).1)
        .collect();

    // Each lane count runs the recording that it makes of the same cases. Narrower units also run the inputs of
    // the widest, with masks cut off: exactly the same words, but a narrower unit branches differently from the recorded
    // program, gets errors and then has less to do. Without noise: what the wider unit ignores may be illegal here.
    let widths = widths::<U>();
    let widest = widths[widths.len() - 1];
    let quiet = match pace {
        Pace::Campaign => Pace::NoNoise,
        other => other,
    };
    let wide = campaign::recorded::<U>(1, &widest.into(), RECORDED, quiet);
    let mut bares = Vec::new();
    let mut alone = 0;
    for &lanes in &widths {
        if lanes == U::LANES {
            alone = bares.len();
        }
        let own = campaign::recorded::<U>(1, &lanes.into(), RECORDED, pace);
        bares.push(Bare::new::<U>(dir, lanes, &own, format!("{lanes} lanes"))?);
        if lanes < widest {
            let row = format!("{lanes} lanes, the inputs of {widest}");
            bares.push(Bare::new::<U>(dir, lanes, &wide, row)?);
        }
    }

    // Each recording begins with a reset, so golden model and RTL stay equal from one to the next.
    let repeated = || (0..TIMES).flat_map(|_| &inputs);
    let names = [
        "unit alone, bare C++ loop",
        "bench top, bare C++ loop",
        "golden alone",
        "lock-step, every field every cycle",
        "lock-step with its stimulus",
        "a campaign (fuzz --jobs 1)",
        "a campaign, all bins already hit",
        "lock-step, VCD open",
    ];
    let bins = Model::<U>::new(rtl.build());
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); names.len() - 1];
    for round in 0..ROUNDS {
        for bare in &mut bares {
            bare.round()?;
        }

        let mut dut = rtl.open(1)?;
        rounds[0].push(ns(CLOCKS, || {
            for _ in 0..TIMES {
                black_box(dut.bare(&inputs));
            }
        }));

        let mut golden = U::Golden::new(lanes as usize);
        rounds[1].push(ns(CLOCKS, || {
            for pins in repeated() {
                black_box(golden.cycle(pins));
            }
        }));

        let mut dut = rtl.open(1)?;
        let mut golden = U::Golden::new(lanes as usize);
        let mut differing = 0u64;
        rounds[2].push(ns(CLOCKS, || {
            dut.clock(&inputs[0], None);
            golden.cycle(&inputs[0]);
            for pins in repeated().skip(1) {
                differing += u64::from(!matches!(
                    dut.check(pins, golden.state(), None),
                    Check::Agrees
                ));
                golden.cycle(pins);
            }
        }));
        if differing != 0 {
            return Err(format!("{}: {differing} cycles differ", U::NAME).into());
        }

        let mut dut = rtl.open(1)?;
        let mut cycles = 0;
        let start = Instant::now();
        for case in &cases {
            let mut golden = U::Golden::new(lanes as usize);
            cycles += stimulus::run(case, &mut dut, &mut golden, &mut ())
                .compared
                .cycles;
        }
        rounds[3].push(start.elapsed().as_secs_f64() * 1e9 / cycles as f64);

        // All that `fuzz` does in one worker: it makes, runs and judges cases, and counts bins until all have been hit.
        let options = campaign::Options::default();
        let mut campaigns = [(4, Some(&bins)), (5, None)];
        // The second has what the first left in the caches.
        campaigns.rotate_left(round % 2);
        for (row, bins) in campaigns {
            let mut runner = campaign::Runner::<Case<U>>::open(&options, &rtl, bins, 0)?;
            let mut cycles = 0;
            let start = Instant::now();
            for number in 0..cases.len() as u64 {
                cycles += runner.run(number, &mut |_| ()).compared.cycles;
            }
            rounds[row].push(start.elapsed().as_secs_f64() * 1e9 / cycles as f64);
        }

        let mut dut = rtl.open(1)?;
        let mut golden = U::Golden::new(lanes as usize);
        let vcd = dir.join("cost.vcd");
        dut.open_vcd(&vcd)?;
        rounds[6].push(ns(VCD_CYCLES, || {
            for pins in repeated().take(VCD_CYCLES) {
                dut.clock(pins, Some(golden.state()));
                golden.cycle(pins);
            }
            dut.close_vcd().expect("the dump can be written");
        }));
        // Before the system writes it to the disk, during the next round.
        std::fs::remove_file(&vcd)?;
    }
    let what = match pace {
        Pace::Campaign => "campaign cases, with stalls, wait states and noise",
        Pace::NoNoise => "campaign cases, with stalls and wait states",
        Pace::Busy => "an instruction in every cycle",
    };
    println!(
        "{} with {lanes} lanes; {what}; {CLOCKS} cycles, median of {ROUNDS} rounds",
        U::NAME
    );
    println!(
        "  {:<36} {:>9} {:>10} {:>10} {:>13}",
        "", "ns/cycle", "of unit", "of top", "of lock-step"
    );
    let alone = &bares[alone].rounds;
    let rows = std::iter::once(alone).chain(&rounds);
    for (name, values) in names.iter().zip(rows) {
        println!(
            "  {name:<36} {:>9.1} {:>10.2} {:>10.2} {:>13.2}",
            median(values.clone()),
            ratio(values, alone),
            ratio(values, &rounds[0]),
            ratio(values, &rounds[2])
        );
    }
    let Some(last) = bares.last() else {
        return Ok(());
    };
    println!(
        "  {:<36} {:>9} {:>10} {:>10}",
        "unit alone, by lanes",
        "ns/cycle",
        "executing",
        format!("{widest} cost")
    );
    for bare in &bares {
        println!(
            "  {:<36} {:>9.1} {:>8.1} % {:>8.2} x",
            bare.row,
            median(bare.rounds.clone()),
            100.0 * bare.rate,
            ratio(&last.rounds, &bare.rounds)
        );
    }
    Ok(())
}

/// What to do for a unit.
#[derive(Clone, Copy)]
enum Task<'a> {
    /// Print the names of its models.
    Models,
    /// Print the C++ header for the bare loop.
    Header,
    /// Measure, with the bare programs in this folder.
    Measure(&'a Path),
}

fn unit<U: Compiled>(task: Task) -> Done<()> {
    match task {
        Task::Models => {
            for lanes in widths::<U>() {
                println!("{}", model::<U>(lanes));
            }
        }
        Task::Header => {
            let declared =
                reconverge_declaration::Declaration::parse(U::NAME, U::DECLARATION.toml)?;
            print!("{}", declared.header());
        }
        Task::Measure(dir) => {
            measure::<U>(Pace::Campaign, dir)?;
            measure::<U>(Pace::Busy, dir)?;
        }
    }
    Ok(())
}

/// A unit's name and the function that does a task for it.
type Entry = (&'static str, fn(Task) -> Done<()>);

macro_rules! units {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        const UNITS: &[Entry] = &[$((stringify!($module), unit::<reconverge::$module::$unit>)),+];
    };
}
reconverge::for_each_unit!(units);

fn main() -> Done<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let first = args
        .next()
        .ok_or("usage: cost --models|--header|FOLDER [UNIT ...] (see benches/cost)")?;
    let task = match first.to_str() {
        Some("--models") => Task::Models,
        Some("--header") => Task::Header,
        _ => Task::Measure(&first),
    };
    let wanted: Vec<PathBuf> = args.collect();
    if let Some(unknown) = wanted
        .iter()
        .find(|w| UNITS.iter().all(|(name, _)| Path::new(name) != *w))
    {
        return Err(format!("{}: there is no such unit", unknown.display()).into());
    }
    for (name, unit) in UNITS {
        if wanted.is_empty() || wanted.iter().any(|w| w == Path::new(name)) {
            unit(task)?;
        }
    }
    Ok(())
}
