//! Campaigns of streams of pins: for a design that runs no program.

use std::fmt::Write as _;
use std::marker::PhantomData;

use super::{Drawn, Other, Shrunk, Summary, own_seed};
use crate::cover::{Bins, Declaration, Met, Overview, Share, pins};
use reconverge_bench::design::{Build, Control, Design};
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::Failure;
use reconverge_bench::hidden::NotCompared;
use reconverge_bench::json::Hex;
use reconverge_bench::lockstep::Seen;
use reconverge_bench::quantity::counted;
use reconverge_bench::search::{Budget, Follow};
use reconverge_bench::stream::coverage::{Coverage, Observer};
use reconverge_bench::stream::shrink::shrink;
use reconverge_bench::stream::{Pace, Stream, pulse};

/// What streams of a build can reach: bits of pins and fields that are 0 and 1, values of narrow ones, changes, events of channels.
pub struct PinBins<D> {
    build: Build,
    declaration: Declaration,
    design: PhantomData<fn() -> D>,
}

impl<D: Design> PinBins<D> {
    /// Returns the build.
    pub fn build(&self) -> &Build {
        &self.build
    }
}

impl<D: Design> Summary<Stream<D>> {
    /// Returns the coverage of the streams, which ran on RTL with `build`.
    pub fn coverage(&self, build: &Build) -> Coverage {
        coverage::<D>(build, &self.bins, self.compared.cycles, self.resets)
    }
}

/// Returns the coverage of `cycles` cycles whose bins are `met`; the reset was asserted in `resets` of them.
fn coverage<D: Design>(build: &Build, met: &Met, cycles: u64, resets: u64) -> Coverage {
    let words = Vec::<Hex>::from(met.clone());
    let words = words.into_iter().map(|word| word.0);
    let mut coverage = Coverage::of_words::<D>(build.clone(), words);
    (coverage.cycles, coverage.resets) = (cycles, resets);
    coverage
}

/// Returns the bins of `coverage`.
fn met(coverage: &Coverage) -> Met {
    Met::from(coverage.words().into_iter().map(Hex).collect::<Vec<_>>())
}

impl<D: Design> Bins for PinBins<D> {
    fn new(build: &Build) -> Self {
        PinBins {
            build: build.clone(),
            declaration: pins::declared::<D>(build),
            design: PhantomData,
        }
    }

    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn goal(&self) -> Met {
        met(&Coverage::all::<D>(self.build.clone()))
    }

    fn overview(&self, met: &Met) -> Overview {
        let all = Coverage::all::<D>(self.build.clone());
        // `constrain` may set what the declaration of a pin excludes.
        let hit = coverage::<D>(&self.build, met, 0, 0).words().into_iter();
        let hit = hit.zip(all.words()).map(|(hit, all)| hit & all);
        let hit = Coverage::of_words::<D>(self.build.clone(), hit);
        let bins = hit.hits::<D>();
        let names = ["pins", "fields", "channels"].into_iter();
        let shares = hit.reached().into_iter().zip(all.reached());
        let shares = shares.map(|(hit, reachable)| Share { hit, reachable });
        // Few designs have channels.
        let groups = names.zip(shares);
        let mut groups: Vec<_> = groups.filter(|(_, share)| share.reachable > 0).collect();
        let own = bins.chunk_by(|a, b| std::ptr::eq(a.cover, b.cover));
        groups.extend(own.map(|of| {
            let share = Share {
                hit: of.iter().filter(|bin| bin.hit).count(),
                reachable: of.iter().filter(|bin| bin.unreachable.is_none()).count(),
            };
            (of[0].cover.name, share)
        }));
        let sum = |of: fn(&Share) -> usize| groups.iter().map(|(_, share)| of(share)).sum();
        Overview {
            all: Share {
                hit: sum(|share| share.hit),
                reachable: sum(|share| share.reachable),
            },
            groups,
        }
    }

    fn gaps(&self, met: &Met, cycles: u64, resets: u64) -> Vec<String> {
        coverage::<D>(&self.build, met, cycles, resets).idle::<D>()
    }
}

impl<D: Design> Drawn for Stream<D> {
    type Kind = Pace;
    type Bins = PinBins<D>;
    type Collector<'b> = &'b Build;
    type Size = usize;

    const NOUN: &'static str = "stream";
    const EXECUTES: bool = false;
    const GAP: &'static str = "warning";
    const MEASURE: &'static str = "cycles";
    const CHUNK: u64 = 16;
    const OWN_MODEL: bool = true;

    fn kind(index: u64) -> Pace {
        Pace::of(index)
    }

    fn draw(
        seed: u64,
        index: u64,
        cycles: usize,
        build: &Build,
    ) -> Result<Self, Box<Failure<Self>>> {
        Self::drawn(own_seed::<D>(seed, index), index, cycles, build)
    }

    fn collector(bins: &PinBins<D>) -> &Build {
        &bins.build
    }

    fn run_on(
        &self,
        index: u64,
        dut: &mut Dut<D>,
        collector: Option<&mut &Build>,
        progress: &mut impl FnMut(u64),
    ) -> Summary<Self> {
        let mut observer = collector.map(|build| Observer::<D>::new(build.clone()));
        let mut pulse = pulse(progress);
        let mut resets = 0;
        let mut hidden = NotCompared::new::<D>(self.lanes);
        let mut watch = |cycle: &Seen<D>| {
            pulse();
            resets += u64::from(cycle.pins.is_reset());
            hidden.see::<D>(cycle.pins, cycle.state, cycle.unspecified);
            if let Some(observer) = &mut observer {
                observer.see(cycle);
            }
        };
        let judged = self.check_on(dut, None, &mut watch);
        let judged = judged.unwrap_or_else(|why| unreachable!("no dump: {why}"));
        let mut summary = Summary {
            resets,
            hidden: hidden.cycles().collect(),
            bins: observer
                .map(|seen| met(&seen.coverage()))
                .unwrap_or_default(),
            ..Summary::default()
        };
        match judged {
            Ok(agreed) => summary.compared = agreed.compared,
            Err(failure) => summary.fails(index, failure),
        }
        summary
    }

    fn shrink(
        failure: &Failure<Self>,
        rtl: &Rtl<D>,
        _: Other<D>,
        budget: &Budget,
        follow: &mut dyn Follow<Self>,
    ) -> Result<Shrunk<Self>, String> {
        let (small, runs) = shrink(failure, rtl, budget, follow)?;
        Ok(Shrunk::new(&failure.case, small, runs))
    }

    fn length(&self) -> usize {
        self.cycles.0.len()
    }

    fn size(&self) -> usize {
        self.cycles.0.len()
    }

    fn headline(before: usize, after: usize) -> String {
        let after_it = counted(after, "cycle");
        match after < before {
            true => format!("stream shortened from {before} to {after_it}"),
            false => format!("stream of {after_it}"),
        }
    }

    fn text(&self, cycle: u64) -> String {
        let mut text = self.text_around(cycle, PRINTED);
        let _ = writeln!(text, "with    {}, seed {:#x}", self.build(), self.seed);
        text
    }

    fn is_same(&self, other: &Self) -> bool {
        self.size() == other.size()
    }
}

/// Most rows of a stream that are printed.
const PRINTED: usize = 20;
