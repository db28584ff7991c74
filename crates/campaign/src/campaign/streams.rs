//! Campaigns of streams of pins: for a design that runs no program. Exported as `reconverge::stream::fuzz`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::{Drawn, Limit, Other, Shrunk, found_within, fuzz_within, own_seed};
use crate::cover::{Bins, Declaration, Met, Overview, Share, pins};
use reconverge_bench::check::{self, Judged};
use reconverge_bench::design::{Build, Control, Design};
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::Failure;
use reconverge_bench::found::Found;
use reconverge_bench::input::InputError;
use reconverge_bench::json::Hex;
use reconverge_bench::search::{Budget, Follow};
use reconverge_bench::stream::coverage::Coverage;
use reconverge_bench::stream::shrink::shrink;
use reconverge_bench::stream::{MAX_CYCLES, Pace, Stream, pulse};

/// What streams of a build can reach: bits of pins and fields that are 0 and 1, values of narrow ones, changes.
pub struct PinBins<D> {
    lanes: u32,
    declaration: Declaration,
    design: PhantomData<fn() -> D>,
}

impl<D: Design> PinBins<D> {
    /// Returns the number of lanes of the build.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Returns the coverage of `cycles` cycles whose bins are `met`; the reset was asserted in `resets` of them.
    pub fn coverage(&self, met: &Met, cycles: u64, resets: u64) -> Coverage {
        let words = Vec::<Hex>::from(met.clone());
        let words = words.into_iter().map(|word| word.0);
        let mut coverage = Coverage::of_words::<D>(self.lanes, words);
        (coverage.cycles, coverage.resets) = (cycles, resets);
        coverage
    }
}

/// Returns the bins of `coverage`.
fn met(coverage: &Coverage) -> Met {
    Met::from(coverage.words().into_iter().map(Hex).collect::<Vec<_>>())
}

impl<D: Design> Bins for PinBins<D> {
    fn new(build: &Build) -> Self {
        PinBins {
            lanes: build.lanes,
            declaration: pins::declared::<D>(build.lanes),
            design: PhantomData,
        }
    }

    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn goal(&self) -> Met {
        met(&Coverage::all::<D>(self.lanes))
    }

    fn overview(&self, met: &Met) -> Overview {
        let all = Coverage::all::<D>(self.lanes).toggled();
        let hit = self.coverage(met, 0, 0).toggled();
        let [pins, fields] = [0, 1].map(|n| Share {
            hit: hit[n],
            reachable: all[n],
        });
        Overview {
            all: Share {
                hit: pins.hit + fields.hit,
                reachable: pins.reachable + fields.reachable,
            },
            groups: vec![("pins", pins), ("fields", fields)],
        }
    }

    fn gaps(&self, met: &Met, cycles: u64, resets: u64) -> Vec<String> {
        self.coverage(met, cycles, resets).idle::<D>()
    }
}

impl<D: Design> Drawn for Stream<D> {
    type Kind = Pace;
    type Bins = PinBins<D>;
    type Collector<'b> = u32;
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

    fn collector(bins: &PinBins<D>) -> u32 {
        bins.lanes
    }

    fn run_on(
        &self,
        index: u64,
        dut: &mut Dut<D>,
        collector: Option<&mut u32>,
        progress: &mut impl FnMut(u64),
    ) -> super::Summary<Self> {
        let mut coverage = collector.map(|lanes| Coverage::new::<D>(*lanes));
        let mut pulse = pulse(progress);
        let mut resets = 0;
        let mut watch = |pins: &D::In, state: &D::State| {
            pulse();
            resets += u64::from(pins.is_reset());
            if let Some(coverage) = &mut coverage {
                coverage.see::<D>(pins, state);
            }
        };
        let judged = self.check_on(dut, None, &mut watch);
        let judged = judged.unwrap_or_else(|why| unreachable!("no dump: {why}"));
        let mut summary = super::Summary {
            resets,
            bins: coverage.as_ref().map(met).unwrap_or_default(),
            ..super::Summary::default()
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
        match after < before {
            true => format!("stream shortened from {before} to {after} cycles"),
            false => format!("stream of {after} cycles"),
        }
    }

    fn text(&self) -> String {
        let left = self.cycles.0.len();
        let mut text = String::new();
        for line in Stream::text(self).lines().take(PRINTED) {
            let _ = writeln!(text, "{line}");
        }
        if left > PRINTED {
            let _ = writeln!(text, "   ... {} more", left - PRINTED);
        }
        let _ = writeln!(text, "with    {}, seed {:#x}", self.build(), self.seed);
        text
    }

    fn is_same(&self, other: &Self) -> bool {
        self.size() == other.size()
    }
}

/// Most cycles of a stream that are printed.
const PRINTED: usize = 20;

/// How many streams to run, and how to treat one that fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Seed of the campaign, from which each stream derives its own; not 0.
    pub seed: u64,
    /// Number of streams.
    pub streams: u64,
    /// Cycles of a stream, 1 to [`MAX_CYCLES`]; a long one, one in [`LONG_EVERY`](reconverge_bench::stream::LONG_EVERY), has
    /// [`LONG`](reconverge_bench::stream::LONG) times as many.
    pub cycles: usize,
    /// Number of chunks of 16 streams that run in parallel.
    pub jobs: usize,
    /// Limits for shrinking a failing stream.
    pub budget: Budget,
    /// Folder for the files of a failing stream: the saved stream, a dump, its view. Streams that are there run first. `None`: nothing is
    /// read or written.
    pub out: Option<PathBuf>,
}

impl Default for Options {
    /// Returns the default options: 200 streams of 500 cycles from seed 1, one job per processor, failures in `failures`.
    fn default() -> Self {
        let super::Options {
            seed, jobs, cycles, ..
        } = super::Options::default();
        Options {
            seed,
            streams: 200,
            cycles,
            jobs,
            budget: Budget::default(),
            out: Some(PathBuf::from("failures")),
        }
    }
}

impl Options {
    /// Sets the seed; not 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// Sets the number of streams.
    #[must_use]
    pub fn streams(mut self, streams: u64) -> Self {
        self.streams = streams;
        self
    }
    /// Sets the number of cycles of a stream that is not long.
    #[must_use]
    pub fn cycles(mut self, cycles: usize) -> Self {
        self.cycles = cycles;
        self
    }
    /// Sets the number of chunks that run in parallel.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs;
        self
    }
    /// Sets the folder for a failing stream.
    #[must_use]
    pub fn out(mut self, out: impl Into<PathBuf>) -> Self {
        self.out = Some(out.into());
        self
    }
}

/// The results of streams on which RTL and golden model agree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Number of streams.
    pub streams: u64,
    /// Cycles in which the whole state was compared.
    pub cycles: u64,
    /// Coverage of the streams.
    pub coverage: Coverage,
}

/// Runs a campaign of streams as [`super::fuzz`] does. If all agree, prints a warning for each pin and field that never changed
/// ([`Coverage::idle`]).
///
/// # Errors
/// The stream that failed, or on which the golden model panics ([`Cause::NotRun`](reconverge_bench::failure::Cause)).
///
/// # Panics
/// `seed` is 0, there are no streams or jobs, or `cycles` is not in 1 to [`MAX_CYCLES`]: nothing would be compared.
pub fn fuzz<D: Design>(rtl: &Rtl<D>, options: &Options) -> Result<Summary, Box<Found<Stream<D>>>> {
    let Options {
        seed,
        streams,
        cycles,
        jobs,
        ..
    } = *options;
    assert!(
        seed > 0 && streams > 0 && jobs > 0,
        "the seed and the numbers of streams and jobs must be at least 1"
    );
    assert!(
        (1..=MAX_CYCLES).contains(&cycles),
        "a stream must have 1 to {MAX_CYCLES} cycles"
    );
    let campaign = super::Options {
        seed,
        limit: Limit::Programs(streams),
        jobs,
        cycles,
        ..super::Options::default()
    };
    let ran = fuzz_within(rtl, &campaign, options.out.as_deref(), &options.budget)?;
    let cycles = ran.compared.cycles;
    let coverage = PinBins::<D>::new(rtl.build()).coverage(&ran.bins, cycles, ran.resets);
    for line in coverage.idle::<D>() {
        // Not by `eprintln`, which a test that passes hides. If it cannot be written, the result is the same.
        let _ = writeln!(std::io::stderr(), "warning: {}: {line}", D::NAME);
    }
    Ok(Summary {
        streams: ran.programs,
        cycles,
        coverage,
    })
}

/// Makes of a stream that failed on `rtl` what [`fuzz`] returns of one. For a test that judges streams of its own.
pub fn found<D: Design>(
    failure: Failure<Stream<D>>,
    rtl: &Rtl<D>,
    options: &Options,
) -> Found<Stream<D>> {
    found_within(failure, rtl, options.out.as_deref(), &options.budget)
}

/// Reads a saved stream and runs it on `rtl`: [`check::replay`].
///
/// # Errors
/// Outer: the file cannot be read, or is not a stream of `D`. Inner: the failure.
pub fn replay<D: Design>(file: &Path, rtl: &Rtl<D>) -> Result<Judged<Stream<D>>, InputError> {
    check::replay(file, rtl)
}
