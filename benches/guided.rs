//! Measures what `cover --guided` gains: cycles to reach shares of the reachable bins, and cycles to catch mutants of the
//! RTL that are hard to catch, with and without guiding, with the same seeds.
//!
//! `guided bins|mutants [UNIT ...] [PARAMETER=VALUE ...]`. Each figure is the median over the seeds, with the
//! least and the most; `-` is more than the limit. Cycles are counted in whole chunks of 64 cases. Each takes a few minutes
//! on one core; `mutants` first runs the C++ compiler for each unit.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use reconverge::campaign::Limit;
use reconverge::case::Case;
use reconverge::cover::Model;
use reconverge::cover::run::{self, Options};
use reconverge::design::Build;
use reconverge::dut::{Make, Rtl};
use reconverge::mutate::{self, Family, Mutants};
use reconverge::unit::Unit;

const SEEDS: std::ops::RangeInclusive<u64> = 11..=17;
/// Cycles of a run for bins.
const CLOCKS: u64 = 12_000_000;
const SHARES: [usize; 4] = [90, 95, 99, 100];
/// A mutant is hard if the campaign with seed 1 does not catch it in this many cycles.
const EASY: u64 = 100_000;
/// Cycles of a run for a mutant.
const HUNT: u64 = 1_000_000;
/// Seeds after which a mutant that neither way has caught is given up: most of these are equivalent.
const GIVE_UP: usize = 2;
const WAYS: [(&str, bool); 2] = [("campaign", false), ("guided", true)];

type Done<T> = Result<T, Box<dyn Error>>;

fn options(seed: u64, cycles: u64, guided: bool) -> Options {
    Options {
        seed,
        limit: Limit::Cycles(cycles),
        jobs: 1,
        guided,
        cycles: reconverge::stream::CYCLES,
        careful: None,
    }
}

fn millions(cycles: Option<u64>) -> String {
    cycles.map_or("-".to_owned(), |n| format!("{:.2}", n as f64 / 1e6))
}

/// Returns median, least and most, in millions; a run that did not finish within the limit counts as more than all others.
fn figures(mut cycles: Vec<Option<u64>>) -> String {
    cycles.sort_by_key(|n| n.unwrap_or(u64::MAX));
    let [median, least, most] =
        [cycles.len() / 2, 0, cycles.len() - 1].map(|n| millions(cycles[n]));
    format!("{median} ({least}..{most})")
}

fn bins<U: Unit>(build: Build) -> Done<()> {
    let (model, rtl) = (Model::<U>::new(&build), Rtl::<U>::own(build)?);
    let mut took = [Duration::ZERO; 2];
    let mut cycles = [(); 2].map(|()| SHARES.map(|_| Vec::new()));
    for seed in SEEDS {
        for (way, (_, guided)) in WAYS.into_iter().enumerate() {
            let started = Instant::now();
            let covered = run::run::<Case<U>>(&options(seed, CLOCKS, guided), &model, &rtl, &())?;
            took[way] += started.elapsed();
            if covered.failed.is_some() {
                return Err(format!("{}: a mismatch with seed {seed}", U::NAME).into());
            }
            for (share, cycles) in SHARES.iter().zip(&mut cycles[way]) {
                let reached = covered.reached.iter().find(|(s, _)| s == share);
                cycles.push(reached.map(|(_, cycles)| *cycles));
            }
        }
    }
    println!(
        "{}: {} reachable bins, {} seeds; millions of cycles to reach",
        U::NAME,
        model.declaration().reachable(),
        SEEDS.count()
    );
    for ((name, _), (shares, took)) in WAYS.iter().zip(cycles.into_iter().zip(took)) {
        let mut row = format!("  {name:<10}");
        for (share, cycles) in SHARES.iter().zip(shares) {
            row += &format!("{:>28}", format!("{share} %: {}", figures(cycles)));
        }
        let ns = took.as_nanos() as f64 / (CLOCKS * SEEDS.count() as u64) as f64;
        println!("{row}   {ns:.0} ns a cycle");
    }
    Ok(())
}

/// Returns the cycles until a run finds a failure, if it does.
fn caught<U: Unit>(model: &Model<U>, rtl: &Rtl<U>, options: &Options) -> Done<Option<u64>> {
    let covered = run::run::<Case<U>>(options, model, rtl, &())?;
    Ok(covered.failed.map(|_| covered.compared))
}

fn mutants<U: Unit>(build: Build) -> Done<()> {
    let model = Model::<U>::new(&build);
    let out = tempfile::tempdir()?;
    let making = mutate::Options {
        family: Family::Source,
        count: None,
        seed: 1,
        cycles: EASY,
        jobs: 1,
        only: Vec::new(),
        rtl: None,
        assertions: false,
        out: out.path().to_owned(),
    };
    let made = Mutants::<U>::make(&making, &build).map_err(|e| e.to_string())?;
    let make = Make {
        assertions: false,
        ..Make::of(Some(&made.dir))
    };
    let rtl = Rtl::<U>::make(build, &make)?;
    let mut total = [0; 2];
    let mut better = [0; 2];
    let (mut hard, mut given_up) = (0, 0);
    println!(
        "{}: millions of cycles to catch mutants of the text",
        U::NAME
    );
    for mutant in &made.list.mutants {
        let rtl = rtl.clone().mutant(mutant.number);
        if caught(&model, &rtl, &options(1, EASY, false))?.is_some() {
            continue;
        }
        let mut cycles = [Vec::new(), Vec::new()];
        for (n, seed) in SEEDS.enumerate() {
            if n == GIVE_UP && cycles.iter().flatten().all(Option::is_none) {
                break;
            }
            for ((_, guided), cycles) in WAYS.into_iter().zip(&mut cycles) {
                cycles.push(caught(&model, &rtl, &options(seed, HUNT, guided))?);
            }
        }
        if cycles.iter().flatten().all(Option::is_none) {
            given_up += 1;
            continue;
        }
        hard += 1;
        // A mutant that is not caught counts with the full limit.
        let sums = cycles
            .each_ref()
            .map(|c| c.iter().map(|n| n.unwrap_or(HUNT)).sum::<u64>());
        for way in 0..2 {
            total[way] += sums[way];
            better[way] += u32::from(sums[way] < sums[1 - way]);
        }
        let [campaign, guided] = cycles.map(figures);
        println!("  {campaign:>20} {guided:>20}  {}", mutant.describe());
    }
    let mean =
        |way: usize| total[way] as f64 / (f64::from(hard.max(1)) * SEEDS.count() as f64) / 1e6;
    println!(
        "  {hard} of {} not caught in {EASY} cycles and caught later: mean {:.2} campaign, {:.2} guided; \
         sooner by the campaign {}, guided {}; {given_up} caught by neither",
        made.list.mutants.len(),
        mean(0),
        mean(1),
        better[0],
        better[1]
    );
    Ok(())
}

fn unit<U: Unit>(which: &str, parameters: &BTreeMap<String, u32>) -> Done<()> {
    let mut case = Case::<U>::new(U::Program::default());
    case.parameters.clone_from(parameters);
    case.build().check::<U>("guided")?;
    let build = case.build();
    match which {
        "bins" => bins::<U>(build),
        "mutants" => mutants::<U>(build),
        _ => Err("usage: guided bins|mutants [UNIT ...] [PARAMETER=VALUE ...]".into()),
    }
}

type Entry = (&'static str, fn(&str, &BTreeMap<String, u32>) -> Done<()>);

macro_rules! units {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        const UNITS: &[Entry] = &[$((stringify!($module), unit::<reconverge::$module::$unit>)),+];
    };
}
reconverge::for_each_unit!(units);

fn main() -> Done<()> {
    let mut args = std::env::args().skip(1);
    let which = args.next().unwrap_or_default();
    let (mut wanted, mut parameters) = (Vec::new(), BTreeMap::new());
    for arg in args {
        match arg.split_once('=') {
            Some((name, value)) => drop(parameters.insert(name.to_owned(), value.parse()?)),
            None if UNITS.iter().any(|(name, _)| *name == arg) => wanted.push(arg),
            None => return Err(format!("{arg}: there is no such unit").into()),
        }
    }
    for (name, unit) in UNITS {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            unit(&which, &parameters)?;
        }
    }
    Ok(())
}
