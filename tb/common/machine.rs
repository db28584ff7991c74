//! A unit that can be clocked and observed, golden model or RTL: shared by the tests of the specifications.

use reconverge::campaign::{Options, found};
use reconverge::check::check;
use reconverge::design::{Build, Control, Golden};
use reconverge::dut::{Dut, Rtl};
use reconverge::field::Flip;
use reconverge::stream::Stream;
use reconverge::unit::{Executor, Unit};

use crate::failed;

/// A machine that can be clocked and observed.
pub trait Machine<U: Unit> {
    /// Runs one cycle and returns the state after it.
    fn clock(&mut self, pins: &U::In) -> U::State;
    /// Puts it into `state`.
    fn load(&mut self, state: &U::State);
    /// Returns the rule for a field after a cycle with `pins`; the RTL knows none.
    fn explain(&self, _pins: &U::In, _field: &str, _element: usize) -> String {
        String::new()
    }
}

/// Tests of checks, each on the golden model and on the RTL after reset, with `LANES` lanes; or on another golden model and the RTL of
/// another build, which is compiled.
macro_rules! both {
    ($($check:ident: $golden:ident, $rtl:ident;)+) => {$(
        #[test]
        fn $golden() {
            $check(&mut Golden::new(LANES));
        }
        #[test]
        fn $rtl() {
            $check(&mut Sequencer::new(LANES));
        }
    )+};
    (($model:expr, $build:expr) $($check:ident: $golden:ident, $rtl:ident;)+) => {$(
        #[test]
        fn $golden() {
            $check(&mut $model);
        }
        #[test]
        #[ignore = "many models or proofs; CI's step builds runs it"]
        fn $rtl() {
            $check(&mut Sequencer::built($build));
        }
    )+};
}
pub(crate) use both;

impl<U: Unit, G: Executor<U>> Machine<U> for G {
    fn clock(&mut self, pins: &U::In) -> U::State {
        *self.cycle(pins)
    }
    fn load(&mut self, state: &U::State) {
        Executor::load(self, state);
    }
    fn explain(&self, pins: &U::In, field: &str, element: usize) -> String {
        Golden::explain(self, pins, field, element)
    }
}

/// Maximum number of cycles whose pins are kept: a random walk has a million cycles of half a kilobyte each.
const KEPT: usize = 20_000;

/// The RTL; a stalled cycle after each one shows its effect. If a test that owns it fails, and RTL and golden model disagree on
/// its pins, the report is printed.
pub struct Sequencer<U: Unit> {
    rtl: Rtl<U>,
    dut: Dut<U>,
    /// All pins; `None` after a load, which a stream of pins cannot express, and after more than [`KEPT`] cycles.
    pins: Option<Vec<U::In>>,
}

impl<U: Unit> Sequencer<U> {
    /// Our own RTL with `lanes` lanes, after reset.
    pub fn new(lanes: usize) -> Self {
        Self::built(Build::from(lanes as u32))
    }

    /// Our own RTL built as `build` says, after reset; compiled now if no such model is linked.
    pub fn built(build: Build) -> Self {
        // Here, not in a process of its own: a cycle would be a message there and one back.
        let rtl = Rtl::<U>::from_built(Rtl::<U>::own(build).unwrap().built()).unwrap();
        let dut = rtl.open(1).unwrap();
        let pins = Some(Vec::new());
        let mut sequencer = Sequencer { rtl, dut, pins };
        for pins in [U::In::reset(), U::In::reset(), stalled::<U>()] {
            sequencer.pins(&pins);
        }
        sequencer
    }

    /// Runs its pins on RTL and golden model in lock-step, with a bit of the golden model's state flipped if `flip` says so; returns the
    /// report, whose files are written, if they differ.
    pub fn report(&self, flip: Option<Flip>) -> Option<String> {
        let mut stream = Stream::new("spec", self.rtl.build(), self.pins.clone()?);
        stream.flip = flip;
        let failure = check(&stream, &self.rtl).err()?;
        let options = Options::default().out(failed::folder());
        let found = found(failure, &self.rtl, &options);
        Some(failed::text(&found, None))
    }

    fn pins(&mut self, pins: &U::In) -> U::State {
        match &mut self.pins {
            Some(all) if all.len() < KEPT => all.push(*pins),
            _ => self.pins = None,
        }
        *self.dut.clock(pins, None)
    }
}

impl<U: Unit> Drop for Sequencer<U> {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(report) = self.report(None)
        {
            eprintln!("\n{report}");
        }
    }
}

impl<U: Unit> Machine<U> for Sequencer<U> {
    fn clock(&mut self, pins: &U::In) -> U::State {
        self.pins(pins);
        self.pins(&stalled::<U>())
    }
    fn load(&mut self, state: &U::State) {
        self.pins = None;
        self.dut.load(state);
    }
}

/// The pins of a cycle in which nothing changes.
pub fn stalled<U: Unit>() -> U::In {
    let mut pins = U::In::default();
    pins.set_stall(true);
    pins
}

/// A file of the unit's programs.
pub fn read<U: Unit>(name: &str) -> String {
    let folder = format!("{}/tb/{}/programs", env!("CARGO_MANIFEST_DIR"), U::NAME);
    std::fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

/// Rows of a table of expected values: columns stand between bars, `#` begins a comment.
pub fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split('|').map(str::trim).collect())
}

/// Lanes as the specifications print them: `1101`, lane 0 first; anything but 1 counts as 0.
pub fn mask(text: &str) -> u64 {
    text.chars()
        .enumerate()
        .fold(0, |m, (i, c)| m | u64::from(c == '1') << i)
}
