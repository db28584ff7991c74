//! Draws the cost of lock-step with more lanes and with longer campaigns:
//!
//! ```text
//! cargo run --release -p reconverge-benches --bin scaling -- docs/pictures/scaling.svg [MAX_CYCLES]
//! ```
//!
//! At the left, nanoseconds per cycle of lock-step with 1 to 64 lanes, every unit on the same number of campaign cycles. At the
//! right, seconds of a whole campaign (`fuzz --jobs 1`: stimulus, lock-step, scalar judge, bins) from 1,000 cycles to
//! MAX_CYCLES, by default 100 million. It also prints the numbers. The lane counts take turns in several rounds, so that a change
//! of the machine's speed affects all of them.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use plotters::prelude::*;
use reconverge::campaign::{self, Limit, Options, Pace};
use reconverge::case::Case;
use reconverge::design::Golden;
use reconverge::dut::{Check, Rtl};
use reconverge::unit::Unit;

/// Lane counts of the left half.
const LANES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Cycles of the left half: recorded once, run several times.
const RECORDED: usize = 10_000;
const TIMES: usize = 10;
const ROUNDS: usize = 7;
/// Cycles of the shortest campaign.
const MIN_CYCLES: u64 = 1_000;

type Done<T> = Result<T, Box<dyn Error>>;

/// The measurements of a unit.
struct Curve {
    name: &'static str,
    /// Lanes, nanoseconds per cycle.
    lanes: Vec<(f64, f64)>,
    /// Cycles run, seconds.
    cycles: Vec<(f64, f64)>,
}

/// Returns nanoseconds per cycle of lock-step on `inputs`.
fn lockstep<U: Unit>(rtl: &Rtl<U>, lanes: u32, inputs: &[U::In]) -> Done<f64> {
    let mut dut = rtl.open(1)?;
    let mut golden = U::Golden::new(lanes as usize);
    // The bench top is one cycle behind.
    dut.clock(&inputs[0], None);
    golden.cycle(&inputs[0]);
    let start = Instant::now();
    for _ in 0..TIMES {
        for pins in inputs {
            if !matches!(dut.check(pins, golden.state(), None), Check::Agrees) {
                return Err(format!("{}: RTL and golden model differ", U::NAME).into());
            }
            golden.cycle(pins);
        }
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / (TIMES * inputs.len()) as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measured<U: Unit>(most: u64) -> Done<Curve> {
    let models = LANES.map(|lanes| {
        let inputs = campaign::recorded::<U>(1, &lanes.into(), RECORDED, Pace::Campaign);
        Rtl::<U>::own(lanes).map(|rtl| (lanes, rtl, inputs))
    });
    let models = models.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut rounds = vec![Vec::new(); LANES.len()];
    for _ in 0..ROUNDS {
        for ((lanes, rtl, inputs), values) in models.iter().zip(&mut rounds) {
            values.push(lockstep(rtl, *lanes, inputs)?);
        }
    }
    let lanes: Vec<_> = LANES
        .iter()
        .zip(rounds)
        .map(|(lanes, values)| (f64::from(*lanes), median(values)))
        .collect();
    for (lanes, ns) in &lanes {
        println!("{}  {lanes:>2} lanes  {ns:>7.1} ns/cycle", U::NAME);
    }

    let rtl = Rtl::<U>::own(U::LANES)?;
    let mut cycles = Vec::new();
    let mut wanted = MIN_CYCLES;
    while wanted <= most {
        let options = Options {
            limit: Limit::Cycles(wanted),
            jobs: 1,
            ..Options::default()
        };
        let start = Instant::now();
        let summary = campaign::run::<Case<U>>(&options, &rtl, |_| ())?;
        let seconds = start.elapsed().as_secs_f64();
        let ran = summary.compared.cycles;
        if !summary.failures.is_empty() || ran < wanted {
            return Err(format!(
                "{}: {} failures in {ran} cycles",
                U::NAME,
                summary.failures.len()
            )
            .into());
        }
        println!(
            "{}  {ran:>11} cycles  {seconds:>9.4} s  {:>7.1} ns/cycle",
            U::NAME,
            seconds * 1e9 / ran as f64
        );
        cycles.push((ran as f64, seconds));
        wanted *= 10;
    }
    Ok(Curve {
        name: U::NAME,
        lanes,
        cycles,
    })
}

fn draw(curves: &[Curve], file: &Path) -> Done<()> {
    // Distinguishable for the colour-blind too (Okabe and Ito).
    let colours = [
        RGBColor(0, 114, 178),
        RGBColor(213, 94, 0),
        RGBColor(0, 158, 115),
    ];
    let area = SVGBackend::new(file, (960, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(480);
    let most = |points: fn(&Curve) -> &Vec<(f64, f64)>| {
        let all = curves.iter().flat_map(points);
        all.map(|(_, y)| *y).fold(0.0, f64::max)
    };

    let mut chart = ChartBuilder::on(&left)
        .caption("lock-step: ns a cycle, by lanes", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(
            (1f64..64f64).log_scale().base(2.0),
            0f64..most(|c| &c.lanes) * 1.15,
        )?;
    chart
        .configure_mesh()
        .x_desc("lanes")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .draw()?;
    for (curve, colour) in curves.iter().zip(colours) {
        let line =
            LineSeries::new(curve.lanes.iter().copied(), colour.stroke_width(2)).point_size(3);
        chart
            .draw_series(line)?
            .label(curve.name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 12, y + 4)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .draw()?;

    let longest = curves
        .iter()
        .flat_map(|c| &c.cycles)
        .map(|(x, _)| *x)
        .fold(0.0, f64::max);
    let shortest = curves
        .iter()
        .flat_map(|c| &c.cycles)
        .map(|(_, y)| *y)
        .fold(f64::MAX, f64::min);
    let mut chart = ChartBuilder::on(&right)
        .caption("campaign: seconds, by cycles", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(
            (MIN_CYCLES as f64..longest).log_scale(),
            (shortest..most(|c| &c.cycles)).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("cycles")
        .x_label_formatter(&|x| format!("{x:.0e}"))
        .y_label_formatter(&|y| format!("{y}"))
        .draw()?;
    for (curve, colour) in curves.iter().zip(colours) {
        chart.draw_series(
            LineSeries::new(curve.cycles.iter().copied(), colour.stroke_width(2)).point_size(3),
        )?;
    }
    area.present()?;
    Ok(())
}

macro_rules! units {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        fn all(most: u64) -> Done<Vec<Curve>> {
            Ok(vec![$(measured::<reconverge::$module::$unit>(most)?),+])
        }
    };
}
reconverge::for_each_unit!(units);

fn main() -> Done<()> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let (file, most) = match &args[..] {
        [file] => (file, 100_000_000),
        [file, most] => (file, most.parse()?),
        _ => return Err("usage: scaling FILE.svg [MAX_CYCLES]".into()),
    };
    if most < MIN_CYCLES {
        return Err(format!("at least {MIN_CYCLES} cycles").into());
    }
    println!(
        "lock-step on {} cycles, median of {ROUNDS} rounds",
        RECORDED * TIMES
    );
    draw(&all(most)?, Path::new(file))
}
