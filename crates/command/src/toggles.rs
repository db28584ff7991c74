//! `cover` for a design without programs: which bits of its pins and fields were 0 and 1, and which values the narrow ones had.

use std::sync::atomic::AtomicBool;

use indicatif::HumanCount;
use reconverge::campaign::{Chunk, Failed, Limit, Options, Put, Shard, Tally, drive};
use reconverge::cover::Bins as _;
use reconverge::design::Design;
use reconverge::input::InputError;
use reconverge::stream::Stream;
use reconverge::stream::fuzz::PinBins;

use crate::args::workers;
use crate::console::{Agreed, Done, Failure, complain, ends, print};
use crate::cover::CoverArgs;
use crate::progress::Lines;
use crate::rtl::{absolute, rtl};
use crate::workers::Isolated;
use crate::{found, stop};

/// Cycles of a run without a limit.
const DEFAULT_CYCLES: u64 = 2_000_000;

/// Runs the command.
pub fn cover<D: Design>(args: &CoverArgs) -> Done {
    if let Some(option) = args.of_programs() {
        let why = format!(
            "{} runs no programs: it has pins and fields, and no bins",
            D::NAME
        );
        return Err(InputError::option(option, why).into());
    }
    let build = args.build.build::<D>()?;
    let options = Options {
        seed: args.seed,
        limit: args.limit().unwrap_or(Limit::Cycles(DEFAULT_CYCLES)),
        jobs: workers(args.jobs),
        keep_going: false,
        rtl: args.place.rtl.as_deref().map(absolute),
        ..Options::default()
    };
    let rtl = rtl::<D>(&args.place, build.clone())?;
    let bins = PinBins::<D>::new(&build);
    let mut tally = Tally::<Stream<D>>::new(&options, Shard::default());
    tally.goal = Some(bins.goal());
    let (over, mut lines) = (AtomicBool::new(false), Lines::new());
    let trouble = drive(
        &mut tally,
        stop::asked()?,
        &over,
        || {
            let mut rtl = Isolated::until(&rtl, args.limits, &over)?;
            let options = &options;
            let found = |_: &Failed<Stream<D>>| ();
            Ok(move |chunk: &Chunk<Stream<D>>, put: Put<Stream<D>>| {
                rtl.chunk(options, chunk, &found, put)
            })
        },
        |_| Ok(()),
        |tally| {
            let cycles = HumanCount(tally.total().compared.cycles);
            lines.tell(|| format!("{}: {cycles} cycles", D::NAME));
        },
    );
    let interrupted = !tally.finished();
    let summary = tally.into_total();
    let cycles = summary.compared.cycles;
    let coverage = bins.coverage(&summary.bins, cycles, summary.resets);
    print(&format!(
        "{}.cover.{:x}  {} streams\n  lock-step  {} mismatches in {} cycles, {} fields each\n{}",
        D::NAME,
        args.seed,
        HumanCount(summary.programs),
        summary.failures.len(),
        HumanCount(cycles),
        D::fields().len(),
        coverage.table::<D>()
    ))?;
    let mut agreed = Agreed::Yes;
    if let Some(Failed { failure, .. }) = summary.failures.first() {
        print("\n")?;
        let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
        agreed = found::report(failure, &mut rtl, &args.place.out)?;
    }
    let missing = coverage.missing::<D>();
    if args.require_all && !interrupted && !missing.is_empty() {
        for line in &missing {
            complain(&format!("{}: {line}", D::NAME));
        }
        agreed = Agreed::No;
    }
    let trouble = match trouble {
        Err(why) => Some(why),
        Ok(()) => {
            interrupted.then(|| "interrupted: what was covered until then was counted".to_owned())
        }
    };
    ends(agreed, trouble.map(Failure::Other))
}
