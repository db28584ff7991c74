//! Streams at random, until one fails or enough agree.

use std::fmt::{self, Debug, Display, Formatter};
use std::path::PathBuf;

use super::coverage::Coverage;
use super::shrink::{Budget, Shrunk, shrink};
use super::{MOST_CYCLES, Stream};
use crate::check::TestCase;
use crate::design::Design;
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::lockstep::Compared;
use crate::report::{Report, Waves};

/// How many streams, and what happens to one that fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Seed of the first stream; never 0. Stream i has seed + i.
    pub seed: u64,
    /// Streams.
    pub streams: u64,
    /// Cycles of each: 1 to [`MOST_CYCLES`].
    pub cycles: usize,
    /// How much may be tried to make a failing one shorter.
    pub budget: Budget,
    /// Folder for what is written of a failing one: the stream, a dump, its view. `None`: nothing is written.
    pub out: Option<PathBuf>,
}

impl Default for Options {
    /// 200 streams of 500 cycles from seed 1, a failing one in `failures`.
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
    /// With another seed; not 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
    /// With so many streams.
    #[must_use]
    pub fn streams(mut self, streams: u64) -> Self {
        self.streams = streams;
        self
    }
    /// With so many cycles a stream.
    #[must_use]
    pub fn cycles(mut self, cycles: usize) -> Self {
        self.cycles = cycles;
        self
    }
    /// With another folder.
    #[must_use]
    pub fn out(mut self, out: impl Into<PathBuf>) -> Self {
        self.out = Some(out.into());
        self
    }
}

/// What streams came to on which RTL and golden agree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Streams.
    pub streams: u64,
    /// Cycles on which the whole state was compared.
    pub cycles: u64,
    /// What they reached.
    pub coverage: Coverage,
}

/// A stream that fails. `Display` and `Debug` are all that is to be said of it, so that `unwrap` in a test prints it.
pub struct Found<D: Design> {
    /// The shortest stream that fails like it, and how.
    pub failure: Failure<Stream<D>>,
    /// Cycles of the stream that was drawn.
    pub cycles: usize,
    /// File with the stream, if one was written.
    pub saved: Option<PathBuf>,
    /// The dump with both sides, if one was written.
    pub waves: Option<Waves>,
    /// What could not be done: to make it shorter, to write a file.
    pub troubles: Vec<String>,
}

/// Draws streams and runs golden and RTL through each in lock-step. The first that fails is made shorter, saved, and run
/// again with a dump. The same options give the same streams.
///
/// # Errors
/// The stream that failed.
///
/// # Panics
/// `seed` is 0, there are no streams, or `cycles` is not 1 to [`MOST_CYCLES`]: nothing would be compared.
pub fn fuzz<D: Design>(rtl: &Rtl<D>, options: &Options) -> Result<Summary, Box<Found<D>>> {
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
        (1..=MOST_CYCLES).contains(&cycles),
        "1 to {MOST_CYCLES} cycles"
    );
    let mut summary = Summary {
        streams: 0,
        cycles: 0,
        coverage: Coverage::new::<D>(rtl.build().lanes),
    };
    for number in 0..streams {
        // A seed is not 0.
        let seed = seed.checked_add(number).unwrap_or(number + 1);
        let stream = Stream::<D>::random(seed, cycles, rtl.build());
        let coverage = &mut summary.coverage;
        let judged = rtl.open(stream.model_seed()).and_then(|mut dut| {
            stream.check_on(&mut dut, None, &mut |pins: &_, state: &_| {
                coverage.see::<D>(pins, state);
            })
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
            Err(failure) => return Err(Box::new(Found::of(failure, rtl, options))),
        }
        summary.streams += 1;
    }
    Ok(summary)
}

impl<D: Design> Found<D> {
    fn of(failure: Failure<Stream<D>>, rtl: &Rtl<D>, options: &Options) -> Self {
        let mut found = Found {
            cycles: failure.case.cycles.0.len(),
            failure,
            saved: None,
            waves: None,
            troubles: Vec::new(),
        };
        if matches!(found.failure.cause, Cause::NotRun(_)) {
            return found;
        }
        // Saved first: nothing that comes may lose it.
        found.save(options);
        match shrink(&found.failure, rtl, &options.budget) {
            Ok(Shrunk { failure, .. }) => {
                found.failure = failure;
                found.save(options);
            }
            Err(why) => found.troubles.push(format!("not made shorter: {why}")),
        }
        if let Some(dir) = &options.out {
            match Waves::make(&*found.failure.case, rtl, Some(&found.failure), dir) {
                Ok(waves) => found.waves = Some(waves),
                Err(why) => found.troubles.push(format!("no dump: {why}")),
            }
        }
        found
    }

    fn save(&mut self, options: &Options) {
        let Some(dir) = &options.out else { return };
        match self.failure.save(dir) {
            Ok(path) => self.saved = Some(path),
            Err(why) => self.troubles.push(format!("not saved: {why}")),
        }
    }
}

/// Cycles of a stream that are printed.
const PRINTED: usize = 20;

impl<D: Design> Display for Found<D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Report::of(&self.failure))?;
        let stream = &self.failure.case;
        let left = stream.cycles.0.len();
        match left < self.cycles {
            true => writeln!(f, "stream shortened from {} to {left} cycles:", self.cycles)?,
            false => writeln!(f, "stream of {left} cycles:")?,
        }
        for line in stream.text().lines().take(PRINTED) {
            writeln!(f, "{line}")?;
        }
        if left > PRINTED {
            writeln!(f, "   ... {} more", left - PRINTED)?;
        }
        writeln!(f, "with    {}, seed {:#x}", stream.build(), stream.seed)?;
        if let Some(path) = &self.saved {
            writeln!(f, "saved   {}", path.display())?;
        }
        if let Some(waves) = &self.waves {
            write!(f, "{waves}")?;
        }
        for trouble in &self.troubles {
            writeln!(f, "{trouble}")?;
        }
        Ok(())
    }
}

impl<D: Design> Debug for Found<D> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl<D: Design> std::error::Error for Found<D> {}

/// Reads a saved stream and runs it again on `rtl`.
///
/// # Errors
/// Outside: the file cannot be read, or is no stream of `D`. Inside: how it fails.
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
