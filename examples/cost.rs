//! What a clock costs, measured side by side: `benches/cost` prepares and calls it.
//!
//! Arguments: the program that runs the bare unit (`benches/unit_bare.cpp`), and a folder for the
//! recorded inputs. Every way of running gets the same inputs, recorded from campaign cases, in
//! rounds that take turns, so that a machine that changes its speed changes it for all of them.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use bytemuck::cast_slice;
use reconverge::campaign::{self, Pace};
use reconverge::dut::{Check, Rtl};
use reconverge::lockstep;
use reconverge::r500::R500;
use reconverge::unit::{Golden, Unit};

/// Clocks recorded; few enough that the inputs stay in the cache, run through several times.
const RECORDED: usize = 10_000;
const TIMES: usize = 20;
const CLOCKS: usize = RECORDED * TIMES;
const ROUNDS: usize = 7;
const VCD_CLOCKS: usize = 20_000;

fn ns(clocks: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9 / clocks as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure<U: Unit>(pace: Pace, unit_bare: &Path, dir: &Path) -> Result<(), Box<dyn Error>> {
    let lanes = U::LANES;
    let inputs = campaign::recorded::<U>(1, lanes, RECORDED, pace);
    let file = dir.join(format!("{}.inputs", U::NAME));
    std::fs::write(&file, cast_slice::<U::In, u8>(&inputs))?;
    let rtl = Rtl::<U>::own(lanes)?;
    let cases: Vec<_> = (0..400)
        .map(|i| campaign::case::<U>(1, i, lanes).1)
        .collect();

    // Each recording begins with a reset, so golden and RTL go on alike from one to the next.
    let repeated = || (0..TIMES).flat_map(|_| &inputs);
    let names = [
        "unit alone, bare C++ loop",
        "bench top, bare C++ loop",
        "golden alone",
        "lock-step, every field every clock",
        "lock-step with its stimulus (fuzz)",
        "lock-step, VCD open",
    ];
    let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for _ in 0..ROUNDS {
        let out = Command::new(unit_bare)
            .arg(&file)
            .arg(TIMES.to_string())
            .output()?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).into_owned().into());
        }
        rounds[0].push(String::from_utf8(out.stdout)?.trim().parse()?);

        let mut dut = rtl.open(1)?;
        rounds[1].push(ns(CLOCKS, || {
            for _ in 0..TIMES {
                black_box(dut.bare(&inputs));
            }
        }));

        let mut golden = U::Golden::new(lanes as usize);
        rounds[2].push(ns(CLOCKS, || {
            for pins in repeated() {
                black_box(golden.cycle(pins));
            }
        }));

        let mut dut = rtl.open(1)?;
        let mut golden = U::Golden::new(lanes as usize);
        let mut differing = 0u64;
        rounds[3].push(ns(CLOCKS, || {
            dut.clock(&inputs[0], None);
            golden.cycle(&inputs[0]);
            for pins in repeated().skip(1) {
                differing += u64::from(!matches!(dut.check(pins, golden.state()), Check::Agrees));
                golden.cycle(pins);
            }
        }));
        if differing != 0 {
            return Err(format!("{differing} clocks differ").into());
        }

        let mut dut = rtl.open(1)?;
        let mut clocks = 0;
        let start = Instant::now();
        for case in &cases {
            let mut golden = U::Golden::new(lanes as usize);
            clocks += lockstep::run(case, &mut dut, &mut golden, &mut ())
                .compared
                .clocks;
        }
        rounds[4].push(start.elapsed().as_secs_f64() * 1e9 / clocks as f64);

        let mut dut = rtl.open(1)?;
        let mut golden = U::Golden::new(lanes as usize);
        dut.open_vcd(&dir.join("cost.vcd"))?;
        rounds[5].push(ns(VCD_CLOCKS, || {
            for pins in repeated().take(VCD_CLOCKS) {
                dut.clock(pins, Some(golden.state()));
                golden.cycle(pins);
            }
            dut.close_vcd();
        }));
    }
    let what = match pace {
        Pace::Campaign => "campaign cases, with stalls, wait states and noise",
        Pace::Busy => "an instruction in every clock",
    };
    println!(
        "{} with {lanes} lanes; {what}; {CLOCKS} clocks, median of {ROUNDS} rounds",
        U::NAME
    );
    println!(
        "  {:<36} {:>9} {:>10} {:>10}",
        "", "ns/clock", "of unit", "of top"
    );
    // Ratios within a round: a machine that slows down between rounds slows both sides.
    let ratio = |values: &[f64], base: &[f64]| {
        median(
            values
                .iter()
                .zip(base)
                .map(|(value, base)| value / base)
                .collect(),
        )
    };
    for (name, values) in names.iter().zip(&rounds) {
        println!(
            "  {name:<36} {:>9.1} {:>10.2} {:>10.2}",
            median(values.clone()),
            ratio(values, &rounds[0]),
            ratio(values, &rounds[1])
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(unit_bare), Some(dir)) = (args.next(), args.next()) else {
        return Err("usage: cost UNIT_BARE FOLDER (see benches/cost)".into());
    };
    measure::<R500>(Pace::Campaign, &unit_bare, &dir)?;
    measure::<R500>(Pace::Busy, &unit_bare, &dir)
}
