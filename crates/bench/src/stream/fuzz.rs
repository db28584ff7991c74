//! Runs random streams until one fails or the given number has agreed.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use super::coverage::Coverage;
use super::shrink::{Budget, Shrunk, shrink};
use super::{MAX_CYCLES, Pace, RESET_CYCLES, Stream};
use crate::check::TestCase;
use crate::design::Design;
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::found::Found;
use crate::lockstep::Compared;

/// One of this many streams is long.
pub const LONG_EVERY: u64 = 16;
/// A long stream has this many times the cycles of the others.
pub const LONG: usize = 8;

/// How many streams to run, and how to treat one that fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Seed of the first stream; not 0. Stream i has seed + i.
    pub seed: u64,
    /// Number of streams.
    pub streams: u64,
    /// Cycles per stream, 1 to [`MAX_CYCLES`]; a long one, one in [`LONG_EVERY`], has [`LONG`] times as many.
    pub cycles: usize,
    /// Limits for shrinking a failing stream.
    pub budget: Budget,
    /// Folder for the files of a failing stream: the saved stream, a dump, its view. `None`: nothing is written.
    pub out: Option<PathBuf>,
}

impl Default for Options {
    /// Returns the default options: 200 streams of 500 cycles from seed 1, failures in `failures`.
    fn default() -> Self {
        Options {
            seed: 1,
            streams: 200,
            cycles: 500,
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
    /// Sets the number of cycles per stream that is not long.
    #[must_use]
    pub fn cycles(mut self, cycles: usize) -> Self {
        self.cycles = cycles;
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

/// Draws streams and runs golden model and RTL through each in lock-step. Shrinks and saves the first one that fails, and
/// runs it again with a dump. The same options give the same streams. If all agree, prints a warning for each pin and field that never
/// changed ([`Coverage::idle`]).
///
/// # Errors
/// The stream that failed, or on which the golden model panics ([`Cause::NotRun`]).
///
/// # Panics
/// `seed` is 0, there are no streams, or `cycles` is not in 1 to [`MAX_CYCLES`]: nothing would be compared.
pub fn fuzz<D: Design>(rtl: &Rtl<D>, options: &Options) -> Result<Summary, Box<Found<Stream<D>>>> {
    let Options {
        seed,
        streams,
        cycles,
        ..
    } = *options;
    assert!(
        seed > 0 && streams > 0,
        "a seed and a number of streams from 1 on"
    );
    assert!(
        (1..=MAX_CYCLES).contains(&cycles),
        "1 to {MAX_CYCLES} cycles"
    );
    let mut summary = Summary {
        streams: 0,
        cycles: 0,
        coverage: Coverage::new::<D>(rtl.build().lanes),
    };
    for number in 0..streams {
        // A seed must not be 0.
        let seed = seed.checked_add(number).unwrap_or(number + 1);
        let (length, pace) = match number % LONG_EVERY == LONG_EVERY - 1 {
            true => (cycles.saturating_mul(LONG).min(MAX_CYCLES), Pace::Long),
            false => (cycles, Pace::Short),
        };
        let (stream, panicked) = Stream::<D>::draw(seed, length, pace, rtl.build());
        if let Some(why) = panicked {
            return Err(Box::new(panicking(stream, why, options)));
        }
        let coverage = &mut summary.coverage;
        let judged = rtl.open(stream.model_seed()).and_then(|mut dut| {
            let judged = stream.check_on(&mut dut, None, &mut |pins: &_, state: &_| {
                coverage.see::<D>(pins, state);
            })?;
            Ok(stream.closed(dut, judged))
        });
        let not_run = |why| {
            Err(Failure::new(
                &stream,
                Cause::NotRun(why),
                Compared::default(),
            ))
        };
        match judged.unwrap_or_else(not_run) {
            Ok(agreed) => summary.cycles += agreed.cycles,
            Err(failure) => return Err(Box::new(found(failure, rtl, options))),
        }
        summary.streams += 1;
    }
    for line in summary.coverage.idle::<D>() {
        // Not by `eprintln`, which a test that passes hides. If it cannot be written, the result is the same.
        let _ = writeln!(std::io::stderr(), "warning: {}: {line}", D::NAME);
    }
    Ok(summary)
}

/// Shortens and saves the stream on which the golden model panics with `why`. There is nothing to compare with the RTL.
fn panicking<D: Design>(stream: Stream<D>, mut why: String, options: &Options) -> Found<Stream<D>> {
    let drawn = stream.cycles.0.len();
    let mut small = stream;
    // The reset, and as few of the last cycles as are needed.
    let head = RESET_CYCLES.min(drawn);
    let lengths = (0..)
        .map(|power| 1 << power)
        .take_while(|n| head + n < drawn);
    for length in lengths {
        let mut fewer = small.clone();
        fewer.cycles.0.drain(head..drawn - length);
        if let Some(now) = fewer.golden_panics() {
            fewer.name += "-shrunk";
            (small, why) = (fewer, now);
            break;
        }
    }
    let cycle = small.cycles.0.len().saturating_sub(1);
    why = format!("the golden model panics in cycle {cycle}: {why}");
    let text = text(&small, drawn);
    let failure = Failure::new(&small, Cause::NotRun(why), Compared::default());
    let nothing = |_: &Failure<Stream<D>>| Err(String::new());
    let mut found = Found::of(failure, text, None, nothing, |_| Err(String::new()));
    found.save(options.out.as_deref());
    found
}

/// Makes of a stream that failed on `rtl` what [`fuzz`] returns of one: shrinks and saves it, and runs it again with a dump, as
/// `options` say. For a test that judges streams of its own.
pub fn found<D: Design>(
    failure: Failure<Stream<D>>,
    rtl: &Rtl<D>,
    options: &Options,
) -> Found<Stream<D>> {
    let drawn = failure.case.cycles.0.len();
    let text = text(&failure.case, drawn);
    let smaller = |failure: &Failure<Stream<D>>| {
        let Shrunk { failure, .. } = shrink(failure, rtl, &options.budget)?;
        let text = self::text(&failure.case, drawn);
        Ok((failure, text))
    };
    Found::of(failure, text, options.out.as_deref(), smaller, |_| {
        Ok(rtl.clone())
    })
}

/// Most cycles of a stream that are printed.
const PRINTED: usize = 20;

/// Returns `stream` as text; it had `drawn` cycles before shrinking.
fn text<D: Design>(stream: &Stream<D>, drawn: usize) -> String {
    let left = stream.cycles.0.len();
    let mut text = match left < drawn {
        true => format!("stream shortened from {drawn} to {left} cycles:\n"),
        false => format!("stream of {left} cycles:\n"),
    };
    for line in stream.text().lines().take(PRINTED) {
        let _ = writeln!(text, "{line}");
    }
    if left > PRINTED {
        let _ = writeln!(text, "   ... {} more", left - PRINTED);
    }
    let _ = writeln!(text, "with    {}, seed {:#x}", stream.build(), stream.seed);
    text
}

/// Reads a saved stream and runs it on `rtl`.
///
/// # Errors
/// Outer: the file cannot be read, or is not a stream of `D`. Inner: the failure.
pub fn replay<D: Design>(
    file: &std::path::Path,
    rtl: &Rtl<D>,
) -> Result<Result<super::Agreed<D>, Failure<Stream<D>>>, crate::input::InputError> {
    let text = crate::input::read_text(file)?;
    let saved = super::SavedStream::<D>::parse(&text, &file.to_string_lossy())?;
    let stream = saved.stream;
    stream.check_input(&file.to_string_lossy())?;
    Ok(crate::check::check(&stream, rtl))
}
