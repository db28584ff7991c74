//! Streams of pins: the bench for a design that runs no program.
//!
//! A [`Stream`] is a case: the pins of every cycle. [`mod@crate::check`] runs it on golden model and RTL in lock-step, as
//! it does a program; a campaign draws random streams, and [`shrink`] shortens a failing one.
//!
//! # From a declaration to a test
//!
//! 1. `design.toml` declares pins and state (`crates/declaration`); a build script generates the structs from it.
//! 2. [`Design`] names these structs and the golden model: [`Golden`], one call per cycle.
//! 3. A test draws pins and compares: `fuzz` of the crate `reconverge`, a campaign of streams.
//!
//! `examples/own_unit` is a complete example; `docs/your-own-unit.md` explains it.
//!
//! # How pins are drawn
//!
//! The declaration of a pin gives its random values: `range`, `percent`, or the values of its `enum`. A stream is divided into phases of 8 to 63 cycles.
//! In a phase a flag is 1 as often as its declaration says, or seldom, or nearly always, so that counters reach both ends.
//! One number in four is the least or the greatest of its range. A number of more than 6 bits is in some phases often a value with
//! which the design may compare: one that this or another pin had before, one of a field of the state, or one of the
//! [literals](crate::field::Declaration::literals) of the RTL, or one more or less than these. The reset is asserted in the first [`RESET_CYCLES`]
//! cycles, and later in one of [`RESET_EVERY`]. Of the streams of a campaign one in [`LONG_EVERY`] is [`LONG`]
//! times as long as the [`CYCLES`] of the others, with phases of 64 to 511 cycles, in which some pins keep their values for many cycles; in two of three such
//! streams the reset is not asserted again. Of a design with several clocks each stream has another [`Schedule`]; pins that belong to a
//! clock change only after it has risen, and the reset stays asserted until every clock has. Valid and payload of a channel stay until ready
//! ([`crate::channels`]); in one phase in three valid is always 0 or always 1, and so is ready, each for itself. [`Golden::choose`] may draw
//! pins in another way, and [`Golden::constrain`] changes pins that are illegal in the present state of
//! the design, but never takes away the reset of the first cycle.

mod clocks;
pub mod coverage;
mod cycles;
mod draw;
mod echo;
mod legal;
pub mod shrink;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::iter::zip;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use bytemuck::{bytes_of, bytes_of_mut};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::bins::coverpoints;
use crate::channels::{self, Texts};
use crate::check::{Judged, Judges, TestCase, by_lockstep, close};
use crate::design::{Build, Control, Design, Golden, Random};
use crate::dut::{Dut, Rtl};
use crate::failure::{Cause, Failure};
use crate::field::{Flip, Pin, Role};
use crate::input::InputError;
use crate::json::{self, hex, map, required};
use crate::lanes::Class;
use crate::lockstep::{self, Compared, Mismatch, Seen, Setting, Stimulus};
use crate::report::{History, Line};
use crate::saved::{self, Form, Savable};
use crate::search::SHRUNK;
use crate::transactions::{drain, draining};
use crate::wave::Words;
pub use clocks::{Clock, Schedule};
pub use cycles::Cycles;
use draw::Draw;
pub use draw::Pace;
use legal::Legal;

/// Cycles of a stream of a campaign that is not long, unless the campaign has others.
pub const CYCLES: usize = 500;
/// One of this many streams of a campaign is long.
pub const LONG_EVERY: u64 = 16;
/// A long stream has this many times the cycles of the others.
pub const LONG: usize = 8;
/// Cycles of reset at the beginning of a random stream.
pub const RESET_CYCLES: usize = 2;
/// The reset is asserted in one of this many of the other cycles.
pub const RESET_EVERY: u32 = 200;
/// The same in one of three long streams; in the others it comes only at the beginning.
pub const LONG_RESET_EVERY: u32 = 2_000;
/// A pin that stays is drawn anew in one of this many cycles.
const STAYS: u32 = 32;
/// A run of this many equal cycles is shown as one.
const FOLDED: usize = 4;
/// Most cycles of a stream.
pub const MAX_CYCLES: usize = 1_000_000;

/// A case of a design without programs: its pins in every cycle.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Stream<D: Design> {
    /// Part of the names of files.
    pub name: String,
    /// Seed of the stream; not 0.
    #[serde(with = "hex")]
    pub seed: u64,
    /// Seed of what a model draws: registers without reset, and X. `None`: it follows from `seed`.
    #[serde(deserialize_with = "required")]
    pub model_seed: Option<u32>,
    /// Lanes of the design.
    pub lanes: u32,
    /// Parameters whose values are not the default.
    #[serde(deserialize_with = "map")]
    pub parameters: BTreeMap<String, u32>,
    /// When each of several clocks rises. Empty if there is one clock, or if the cycles have no periods.
    #[serde(default, skip_serializing_if = "Schedule::is_empty")]
    pub clocks: Schedule,
    /// The pins, cycle by cycle.
    pub cycles: Cycles<D>,
    /// Bit of the golden model's expected state to flip.
    #[serde(deserialize_with = "required")]
    pub flip: Option<Flip>,
    /// Directory of other RTL; `None`: own RTL. A path that is not UTF-8 is saved with replacement characters.
    #[serde(serialize_with = "json::path", deserialize_with = "required")]
    pub rtl: Option<PathBuf>,
    /// Builds the RTL without assertions.
    pub no_assert: bool,
    /// Number of the mutant in `rtl`; `None`: no mutant.
    #[serde(deserialize_with = "required")]
    pub mutant: Option<u32>,
}

impl<D: Design> Clone for Stream<D> {
    fn clone(&self) -> Self {
        Stream {
            name: self.name.clone(),
            parameters: self.parameters.clone(),
            clocks: self.clocks.clone(),
            cycles: self.cycles.clone(),
            flip: self.flip.clone(),
            rtl: self.rtl.clone(),
            ..*self
        }
    }
}

impl<D: Design> Stream<D> {
    /// Creates a stream of `cycles`. They must begin with a reset, because the design powers up in any state. Of several clocks their
    /// pins say which rise in each cycle: all, unless they are set to 0.
    pub fn new(name: &str, build: &Build, cycles: Vec<D::In>) -> Self {
        Stream {
            name: name.to_owned(),
            seed: 1,
            model_seed: None,
            lanes: build.lanes,
            parameters: build.parameters.clone(),
            clocks: Schedule::default(),
            cycles: Cycles(cycles),
            flip: None,
            rtl: None,
            no_assert: false,
            mutant: None,
        }
    }

    /// Draws a random stream of `cycles` cycles, always the same for the same seed and build. `seed` must not be 0.
    ///
    /// # Panics
    /// `build` is not one of the design ([`Build::check`]). The golden model panics; the message has the seed and the cycle.
    pub fn random(seed: u64, cycles: usize, build: &Build) -> Self {
        if let Err(wrong) = build.check::<D>("") {
            panic!("{}", wrong.message);
        }
        let (stream, panicked) = Self::draw(seed, cycles, Pace::Short, build);
        if let Some(why) = panicked {
            let last = stream.cycles.0.len().saturating_sub(1);
            panic!("seed {seed:#x}: the golden model panicked in cycle {last}: {why}");
        }
        stream
    }

    /// Draws stream number `index` of a campaign, with the seed `seed`. It has `cycles` cycles, at most [`MAX_CYCLES`], unless it is long.
    ///
    /// # Errors
    /// The golden model panics: [`Cause::NotRun`] with its message, of a short stream on which it does.
    pub fn drawn(
        seed: u64,
        index: u64,
        cycles: usize,
        build: &Build,
    ) -> Result<Self, Box<Failure<Self>>> {
        let pace = Pace::of(index);
        let cycles = match pace {
            Pace::Long => cycles.saturating_mul(LONG).min(MAX_CYCLES),
            Pace::Short => cycles,
        };
        let (mut stream, panicked) = Self::draw(seed, cycles, pace, build);
        // Two builds may fail in the stream of the same number, and both are saved.
        stream.name = format!("{pace}-{index}{}", build.tag::<D>());
        match panicked {
            None => Ok(stream),
            Some(why) => Err(Box::new(stream.panicking(why))),
        }
    }

    /// Returns the failure of a stream on which the golden model panics with `why` in the last cycle: of the reset, and as few of the
    /// last cycles as are needed. There is nothing to compare with the RTL.
    fn panicking(self, mut why: String) -> Failure<Self> {
        let drawn = self.cycles.0.len();
        let head = RESET_CYCLES.min(drawn);
        let lengths = (0..)
            .map(|power| 1 << power)
            .take_while(|n| head + n < drawn);
        let mut small = self;
        for length in lengths {
            let mut fewer = small.clone();
            fewer.cycles.0.drain(head..drawn - length);
            if let Some(now) = fewer.golden_panics() {
                fewer.mark(SHRUNK);
                (small, why) = (fewer, now);
                break;
            }
        }
        let cycle = small.cycles.0.len().saturating_sub(1);
        let why = format!("the golden model panics in cycle {cycle}: {why}");
        Failure::new(&small, Cause::NotRun(why), Compared::default())
    }

    /// Does the same as [`Stream::random`]. If the golden model panics, returns the stream up to this cycle and the message.
    fn draw(seed: u64, cycles: usize, pace: Pace, build: &Build) -> (Self, Option<String>) {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let schedule = Schedule::draw::<D>(&mut rng);
        let mut draw = Draw::new(D::DECLARATION, seed, build.lanes, pace, &mut rng);
        let mut random = Random::new(seed);
        let mut drawn = Vec::with_capacity(cycles);
        let panicked = caught(|| {
            let mut golden = D::Golden::build(build);
            let mut legal = Legal::<D>::new(&schedule);
            let mut points = Vec::new();
            for cycle in 0..cycles {
                // Before the golden model gets them: it may panic.
                drawn.push(D::In::default());
                let pins = &mut drawn[cycle];
                let state = bytes_of(golden.state());
                draw.pins(state, bytes_of_mut(pins), &mut rng);
                golden.choose(pins, &mut random);
                legal.keep(&golden, pins, &mut rng);
                legal.make(&golden, pins);
                coverpoints::<D>(&golden, pins, &mut points);
                golden.cycle(pins);
            }
        });
        // Two builds may fail with the same seed, and both are saved.
        let mut stream = Self::new(&format!("random{}", build.tag::<D>()), build, drawn);
        (stream.seed, stream.clocks) = (seed, schedule);
        (stream, panicked.err())
    }

    /// Returns the message with which the golden model panics on this stream, if it does.
    fn golden_panics(&self) -> Option<String> {
        let panicked = caught(|| {
            let mut golden = D::Golden::build(&self.build());
            let mut points = Vec::new();
            for pins in &self.cycles.0 {
                coverpoints::<D>(&golden, pins, &mut points);
                golden.cycle(pins);
            }
        });
        panicked.err()
    }

    /// Returns the lanes and parameters with which RTL and golden model are built.
    pub fn build(&self) -> Build {
        Build {
            lanes: self.lanes,
            parameters: self.parameters.clone(),
        }
    }

    /// Returns the seed for the model: of the registers that reset does not reach, and of X.
    pub fn model_seed(&self) -> u32 {
        let own = (self.seed ^ self.seed >> 32) as u32 & 0x7fff_ffff | 1;
        self.model_seed.unwrap_or(own)
    }

    /// Runs the stream on `dut`, a model of its build that may have run others before. With `dump`, writes a dump that
    /// begins at the given cycle. Calls `watch` in every cycle.
    ///
    /// # Errors
    /// Outer: the dump cannot be written. Inner: the failure.
    pub fn check_on(
        &self,
        dut: &mut Dut<D>,
        dump: Option<(u64, &Path)>,
        watch: &mut impl FnMut(&Seen<D>),
    ) -> Result<Judged<Self>, String> {
        let setting = Setting {
            lanes: self.lanes as usize,
            flip: self.flip.as_ref(),
            dump,
        };
        let mut golden = D::Golden::build(&self.build());
        let outcome = lockstep::run(
            &mut Player {
                stream: self,
                watch,
            },
            setting,
            dut,
            &mut golden,
        )?;
        Ok(by_lockstep(self, outcome).map_err(|mut failure| {
            failure.case.ran_on(dut.origin());
            failure
        }))
    }

    /// Returns the pins as a readable table with one line per cycle, or two per run of equal cycles. The last cycle, in which a stream that
    /// was made smaller fails, has a line of its own.
    pub fn text(&self) -> String {
        self.text_around(self.cycles.0.len() as u64, usize::MAX)
    }

    /// Returns the rows of [`Stream::text`], of many only `most`: the first ones, and those up to `cycle`, in which the stream fails. For each
    /// part that is left out there is a line with the number of its cycles.
    pub fn text_around(&self, cycle: u64, most: usize) -> String {
        let rows = self.rows();
        let end = rows.partition_point(|(cycles, _)| (cycles.start as u64) <= cycle);
        let shown = |at: usize| {
            let before = end.saturating_sub(most - most / 2);
            rows.len() <= most || at < most / 2 || (before..end).contains(&at)
        };
        let mut text = String::new();
        let parts = (0..rows.len()).collect::<Vec<_>>();
        for part in parts.chunk_by(|one, next| shown(*one) == shown(*next)) {
            let (first, last) = (part[0], part[part.len() - 1]);
            // One row takes no more room than the line that counts its cycles.
            if shown(first) || part.len() == 1 {
                for (_, row) in &rows[first..=last] {
                    let _ = writeln!(text, "{row}");
                }
            } else {
                let cycles = rows[last].0.end - rows[first].0.start;
                let _ = writeln!(text, "   ... {cycles} cycles");
            }
        }
        text
    }

    /// Returns the rows of [`Stream::text`] with their cycles.
    fn rows(&self) -> Vec<(Range<usize>, String)> {
        let cycles = self.cycles.0.iter().map(driven::<D>);
        let lines: Vec<(usize, String)> = (1..).zip(cycles).collect();
        let runs = lines.chunk_by(|one, next| one.1 == next.1 && next.0 < lines.len());
        let mut rows = Vec::new();
        for run in runs {
            let row = |(number, pins): &(usize, String)| format!("{:>6}  {pins}", number - 1);
            let from = run[0].0 - 1;
            if run.len() >= FOLDED {
                let more = run.len() - 1;
                let text = format!("{}\n        the same in {more} more cycles", row(&run[0]));
                rows.push((from..from + run.len(), text));
            } else {
                rows.extend(zip(from.., run).map(|(cycle, line)| (cycle..cycle + 1, row(line))));
            }
        }
        rows
    }
}

/// Calls `work`. The error is the message of its panic.
fn caught(work: impl FnOnce()) -> Result<(), String> {
    // Whatever `work` leaves half done is not used after a panic, except the pins that it has pushed.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|why| {
        let text = why.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| why.downcast_ref::<&str>().copied());
        text.unwrap_or("no message").to_owned()
    })
}

/// Returns a function for every cycle of a run, which calls `progress` with one cycle of 1024.
pub fn pulse(mut progress: impl FnMut(u64)) -> impl FnMut() {
    let mut cycle = 0_u64;
    move || {
        if cycle.is_multiple_of(1024) {
            progress(cycle);
        }
        cycle += 1;
    }
}

/// Plays the pins of a stream.
struct Player<'s, D: Design, W> {
    stream: &'s Stream<D>,
    watch: W,
}

impl<D: Design, W: FnMut(&Seen<D>)> Stimulus<D> for Player<'_, D, W> {
    const OBSERVES: bool = false;
    fn next(&mut self, cycle: u64, _: &D::Golden, pins: &mut D::In) -> bool {
        let cycles = &self.stream.cycles.0;
        let next = cycles.get(cycle as usize).copied();
        let behind = cycle < cycles.len() as u64 + drain::<D>();
        let next = next.or_else(|| behind.then(draining::<D>));
        next.inspect(|next| *pins = *next).is_some()
    }
    fn seen(&mut self, cycle: &Seen<D>) {
        (self.watch)(cycle);
    }
}

impl<D: Design> Savable for Stream<D> {
    type Design = D;
    const FORM: &'static Form = &saved::STREAM;

    fn check_input(&self, file: &str) -> Result<(), InputError> {
        let bad = |field: &str, why: String| Err(InputError::new(file, 0, field, why));
        if self.seed == 0 {
            return bad("seed", "must be at least 1".to_owned());
        }
        if self.model_seed == Some(0) {
            return bad("model_seed", "must be at least 1".to_owned());
        }
        self.build().check::<D>(file)?;
        if let Some(flip) = &self.flip {
            let checked = flip.check(D::fields(), self.lanes as usize);
            checked.or_else(|why| bad("flip", why))?;
        }
        if self.mutant.is_some() && self.rtl.is_none() {
            return bad(
                "mutant",
                "our own RTL holds none: which RTL (rtl)".to_owned(),
            );
        }
        let name = &self.name;
        if name.is_empty() || name.len() > crate::input::LONGEST_NAME {
            return bad("name", format!("{} characters", name.len()));
        }
        if !name.chars().all(|c| c.is_ascii_graphic() && c != '/') {
            return bad("name", format!("{name:?} cannot be part of a file name"));
        }
        for (cycle, pins) in self.cycles.0.iter().enumerate() {
            for pin in D::DECLARATION.pins {
                let most = pin.most(self.lanes);
                let wrong = |v: u64| v > most && v != pin.default;
                if (0..pin.words()).any(|i| wrong(pin.get(bytes_of(pins), i))) {
                    return bad(pin.name, format!("cycle {cycle}: more than {most:#x}"));
                }
            }
        }
        self.clocks
            .check::<D>(&self.cycles.0)
            .or_else(|why| bad("clocks", why))?;
        let resets = |pin: &Pin| matches!(pin.role, Role::Reset { .. });
        let first = self.cycles.0.first();
        if D::DECLARATION.pins.iter().any(resets) && first.is_some_and(|pins| !pins.is_reset()) {
            let why = "the first one must be a reset: the design powers up in any state";
            return bad("cycles", why.to_owned());
        }
        match self.cycles.0.len() {
            0 => bad("cycles", "none: nothing would be compared".to_owned()),
            1..=MAX_CYCLES => Ok(()),
            n => bad("cycles", format!("{n} are more than {MAX_CYCLES}")),
        }
    }
}

impl<D: Design> TestCase for Stream<D> {
    fn name(&self) -> String {
        format!("{}.{}.{:x}", D::NAME, self.name, self.seed)
    }

    fn mark(&mut self, mark: &str) {
        self.name += mark;
    }

    fn build(&self) -> Build {
        Stream::build(self)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn on_rtl(&mut self, dir: Option<&Path>, no_assert: bool, mutant: Option<u32>) {
        self.rtl = dir.map(Path::to_owned);
        (self.no_assert, self.mutant) = (no_assert, mutant);
    }

    fn rtl(&self) -> Option<&Path> {
        self.rtl.as_deref()
    }

    fn no_assert(&self) -> bool {
        self.no_assert
    }

    fn mutant(&self) -> Option<u32> {
        self.mutant
    }

    fn flip(&self) -> Option<&Flip> {
        self.flip.as_ref()
    }

    fn illegal(&self) -> Option<String> {
        let mut illegal = None;
        // A golden model that panics tells nothing of the cycles behind the panic.
        let _ = caught(|| {
            let mut golden = D::Golden::build(&self.build());
            let mut legal = Legal::<D>::new(&self.clocks);
            for (cycle, pins) in self.cycles.0.iter().enumerate() {
                let mut now = *pins;
                legal.make(&golden, &mut now);
                if bytes_of(&now) != bytes_of(pins) {
                    illegal = Some(format!("{} in cycle {cycle}", legal.why()));
                    return;
                }
                golden.cycle(pins);
            }
        });
        illegal
    }

    fn model_seed(&self) -> u32 {
        Stream::model_seed(self)
    }

    fn set_model_seed(&mut self, seed: u32) {
        if seed != self.model_seed() {
            self.model_seed = Some(seed);
        }
    }

    fn judge(
        &self,
        rtl: &Rtl<D>,
        _: Judges,
        dump: Option<(u64, &Path)>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Judged<Self>, String> {
        let mut dut = rtl.open_for("stream", &self.build(), self.model_seed())?;
        let mut pulse = pulse(progress);
        let judged = self.check_on(&mut dut, dump, &mut |_: &_| pulse())?;
        Ok(judged.and_then(|agreed| {
            close(dut, self, agreed.compared)?;
            Ok(agreed)
        }))
    }

    fn history(&self, last: u64) -> History<D> {
        // Which cycles mattered only the run knows: its failure has the last transactions.
        if D::DECLARATION.transactions {
            return History::default();
        }
        let mut golden = D::Golden::build(&self.build());
        let mut history = History::default();
        let lanes = self.lanes as usize;
        let mut above = Vec::new();
        for (cycle, pins) in (0..=last).zip(&self.cycles.0) {
            if cycle < History::<D>::from(last) {
                golden.cycle(pins);
                continue;
            }
            let before = *golden.state();
            history.last = Some((golden.clone(), *pins));
            golden.cycle(pins);
            let fields = context::<D>(golden.state(), lanes);
            // The first row that stays has all fields.
            let state = match cycle <= History::<D>::from(last) + 1 {
                true => fields.join(" "),
                false => changed(&above, &fields),
            };
            above = fields;
            let does = channels::shown::<D>(&before, pins, golden.state(), true);
            let does = zip(D::DECLARATION.channels, does);
            let does =
                does.filter_map(|(channel, does)| Some(format!("  {} {}", channel.name, does?)));
            history.push(Line {
                cycle,
                what: driven::<D>(pins),
                lanes: Vec::new(),
                state: state + &does.collect::<String>(),
            });
        }
        history
    }

    fn classes(&self, _: [&D::State; 2]) -> [Vec<Class>; 2] {
        [Vec::new(), Vec::new()]
    }

    fn stack(_: &D::Golden) -> Option<String> {
        None
    }

    /// One signal for each channel: what it does in each cycle. Of transactions only the run knows it.
    fn words(&self, from: u64, last: u64, _: Option<&Mismatch<D>>) -> Words {
        if D::DECLARATION.channels.is_empty() || D::DECLARATION.transactions {
            return Words::default();
        }
        let mut golden = D::Golden::build(&self.build());
        let mut texts = Texts::new::<D>();
        for (cycle, pins) in (0..=last).zip(&self.cycles.0) {
            let before = *golden.state();
            golden.cycle(pins);
            if cycle >= from {
                texts.see::<D>(cycle, &before, pins, golden.state());
            }
        }
        texts.words()
    }

    fn document(rule: &str) -> String {
        rule.to_owned()
    }
}

/// Returns the pins that do not have their default: `push=1 data=0x3f`.
pub fn driven<D: Design>(pins: &D::In) -> String {
    let mut words = Vec::new();
    for pin in D::DECLARATION.pins {
        let values: Vec<u64> = (0..pin.words())
            .map(|i| pin.get(bytes_of(pins), i))
            .collect();
        // Of a clock it counts that it rises.
        let clock = matches!(pin.role, Role::Clock { .. });
        let silent = if clock { 0 } else { pin.default };
        if values.iter().all(|value| *value == silent) {
            continue;
        }
        let shown: Vec<String> = values.iter().map(|value| pin.show(*value)).collect();
        words.push(format!("{}={}", pin.name, shown.join(",")));
    }
    match words.is_empty() {
        true => "-".to_owned(),
        false => words.join(" "),
    }
}

/// Most letters of fields in a row that are repeated although they are as in the row above.
const REPEATED: usize = 80;

/// Returns the text of `fields` in a row: if there are many, only of those that differ from the row `above`.
fn changed(above: &[String], fields: &[String]) -> String {
    let all = fields.join(" ");
    if all.len() <= REPEATED {
        return all;
    }
    let differ = zip(above, fields).filter(|(above, field)| above != field);
    let differ: Vec<&str> = differ.map(|(_, field)| field.as_str()).collect();
    let others = fields.len() - differ.len();
    match (others, differ.is_empty()) {
        (0, _) => all,
        (_, true) => "(fields as above)".to_owned(),
        (others, false) => format!("{} (+{others} as above)", differ.join(" ")),
    }
}

/// Returns the fields that reports always show, with their values; if there are none, all fields of one element.
fn context<D: Design>(state: &D::State, lanes: usize) -> Vec<String> {
    let single = || D::fields().iter().filter(|f| f.elements(lanes) == 1);
    let marked: Vec<_> = single().filter(|f| f.context).collect();
    let fields = match marked.is_empty() {
        true => single().collect(),
        false => marked,
    };
    let one =
        |f: &&crate::field::Field| format!("{}={}", f.name, (f.show)(f.get(bytes_of(state), 0)));
    fields.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_many_fields_has_those_that_changed() {
        let row = |values: [u64; 2]| {
            let wide = "w".repeat(REPEATED);
            let fields = [format!("{wide}={}", values[0]), format!("n={}", values[1])];
            fields.to_vec()
        };
        let (above, wide) = (row([1, 2]), "w".repeat(REPEATED));
        assert_eq!(changed(&above, &row([1, 2])), "(fields as above)");
        assert_eq!(changed(&above, &row([1, 3])), "n=3 (+1 as above)");
        assert_eq!(changed(&above, &row([0, 3])), format!("{wide}=0 n=3"));
        let few = ["a=1".to_owned(), "b=2".to_owned()];
        assert_eq!(changed(&few, &few), "a=1 b=2");
    }
}
