//! The loop: golden and RTL get the same pins, and every bit of state is compared on every clock.

use bytemuck::bytes_of;
use rand::distr::{Bernoulli, Distribution};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::design::Control;
use crate::dut::{Check, Dut};
use crate::field::{self, Diff};
use crate::start::Start;
use crate::unit::{Environment, Golden, Pins, Step, Unit};
use crate::watch::Watch;

/// Clocks of reset before anything else.
const RESET_CLOCKS: u64 = 2;
/// Idle clocks at the end of a run.
const IDLE_CLOCKS: u64 = 2;
/// A noisy bench resets the unit in mid-flight once in about this many clocks.
const RESET_EVERY: u32 = 1500;
/// A noisy bench puts noise on the pins that do not matter once in about this many clocks.
const SCRAMBLE_EVERY: u32 = 8;

/// True `n` times in `of`; always, if `n` is more.
fn ratio(n: u32, of: u32) -> Bernoulli {
    Bernoulli::from_ratio(n.min(of), of).unwrap_or_else(|_| unreachable!("{n} of {of}"))
}

/// A clock in which nothing happens.
fn stalled<U: Unit>() -> U::In {
    let mut pins = U::In::default();
    pins.set_stall(true);
    pins
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reset(u64),
    /// Reset is over, and for so many clocks nothing is asked of the unit.
    Fresh(u64),
    Setup(usize),
    Launch,
    /// A stalled clock, in which the state is loaded that the program begins in.
    Load,
    Run,
    /// The program has stopped, and for so many clocks nothing is asked of the unit: what it shows stays.
    Idle(u64),
    Over,
}

/// The pins of every clock of a case, as a function of the golden's state: reset, host writes,
/// launch, instructions with stalls and wait states, and whatever else a noisy bench does.
pub struct Stimulus<'c, U: Unit> {
    case: &'c Case<U>,
    environment: U::Environment,
    rng: Pcg64Mcg,
    setup: Vec<U::In>,
    phase: Phase,
    launches: u64,
    steps: u64,
    clock: u64,
    /// The stalled clock of a load was asked for.
    asked: bool,
    // Made once: to make one takes a division, and each is asked in every clock.
    stalls: Bernoulli,
    resets: Bernoulli,
    scrambles: Bernoulli,
}

impl<'c, U: Unit> Stimulus<'c, U> {
    /// From the first clock of `case`.
    pub fn new(case: &'c Case<U>) -> Self {
        Stimulus {
            case,
            environment: U::Environment::new(case),
            rng: Pcg64Mcg::seed_from_u64(case.seed),
            setup: U::setup(&case.program),
            phase: Phase::Reset(RESET_CLOCKS),
            launches: 0,
            steps: 0,
            clock: 0,
            asked: false,
            stalls: ratio(case.stall16, 16),
            resets: ratio(1, RESET_EVERY),
            scrambles: ratio(1, SCRAMBLE_EVERY),
        }
    }

    /// The pins of the next clock, `state` being the golden's; `None` when the run is over.
    pub fn next(&mut self, state: &U::State) -> Option<U::In> {
        let noisy = self.case.noise_clocks;
        if noisy.is_some_and(|clocks| self.clock >= clocks) {
            self.phase = Phase::Over;
        }
        if self.phase == Phase::Run && !U::running(state) {
            self.phase = Phase::Idle(match noisy {
                Some(_) => self.rng.random_range(0..4),
                None => IDLE_CLOCKS,
            });
        } else if self.phase == Phase::Run && self.steps >= self.case.max_steps {
            self.phase = Phase::Over;
        }
        if self.phase == Phase::Fresh(0) {
            self.phase = Phase::Setup(0);
        }
        if self.phase == Phase::Idle(0) {
            self.phase = if noisy.is_some() {
                Phase::Launch
            } else {
                Phase::Over
            };
        }
        self.clock += 1;
        if noisy.is_some()
            && !matches!(self.phase, Phase::Over | Phase::Reset(_))
            && self.resets.sample(&mut self.rng)
        {
            self.phase = Phase::Reset(1);
        }
        let mut pins = match self.phase {
            Phase::Over => return None,
            Phase::Reset(left) => {
                self.phase = match noisy {
                    _ if left > 1 => Phase::Reset(left - 1),
                    Some(_) => Phase::Fresh(self.rng.random_range(0..3)),
                    None => Phase::Setup(0),
                };
                let mut pins = U::In::reset();
                if noisy.is_some() && self.clock > RESET_CLOCKS {
                    pins.scramble(U::running(state), &mut self.rng);
                }
                return Some(pins);
            }
            Phase::Load => {
                self.asked = true;
                return Some(stalled::<U>());
            }
            Phase::Setup(i) if i < self.setup.len() => self.setup[i],
            Phase::Setup(_) | Phase::Launch => {
                // What a case begins in is legal under its own operands.
                let other = noisy.is_some() && self.launches > 0 && self.case.start.is_empty();
                let again = other.then_some(&mut self.rng);
                U::launch(self.case, again)
            }
            // An instruction stands there in idle clocks too: it must not be executed.
            Phase::Run | Phase::Idle(_) | Phase::Fresh(_) => {
                self.environment.pins(state, &mut self.rng)
            }
        };
        if self.case.stall16 > 0 && self.stalls.sample(&mut self.rng) {
            if self.phase == Phase::Run && self.rng.random() {
                pins.starve();
            } else {
                pins.set_stall(true);
            }
        }
        if noisy.is_some() {
            let idle = matches!(self.phase, Phase::Idle(_) | Phase::Fresh(_));
            if idle || self.scrambles.sample(&mut self.rng) {
                pins.scramble(U::running(state), &mut self.rng);
            }
            // At the first launch too: what a program finds is not always what was set up for it.
            let launching = pins.launches() && !U::running(state);
            if (idle || launching) && self.rng.random() {
                pins.host_write(&mut self.rng);
            }
        }
        Some(pins)
    }

    /// Tells what the golden did with `pins`: the step, and the state after it.
    pub fn done(&mut self, pins: &U::In, step: Step, after: &U::State) {
        if pins.is_reset() || pins.is_stalled() {
            return;
        }
        match self.phase {
            Phase::Setup(i) if i < self.setup.len() => self.phase = Phase::Setup(i + 1),
            Phase::Setup(_) | Phase::Launch => {
                self.launches += 1;
                self.steps = 0;
                self.environment.launched();
                let load = !self.case.start.is_empty() && U::running(after);
                self.phase = if load { Phase::Load } else { Phase::Run };
            }
            Phase::Run if step == Step::Executed => {
                self.steps += 1;
                self.environment.executed(after);
            }
            Phase::Idle(left) => self.phase = Phase::Idle(left - 1),
            Phase::Fresh(left) => self.phase = Phase::Fresh(left - 1),
            _ => {}
        }
    }

    /// Whether the clock that is done is the one in which a state is to be loaded, into RTL and golden: which.
    pub fn load(&mut self) -> Option<&'c U::Start> {
        if self.phase != Phase::Load || !std::mem::take(&mut self.asked) {
            return None;
        }
        self.phase = Phase::Run;
        let number = (self.launches - 1) as usize % self.case.start.len();
        self.case.start.get(number)
    }

    /// Programs launched so far.
    pub fn launches(&self) -> u64 {
        self.launches
    }
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Clocks on which the whole state was compared.
    pub clocks: u64,
    /// Instructions executed.
    pub steps: u64,
    /// Programs launched.
    pub launches: u64,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Self) {
        self.clocks += other.clocks;
        self.steps += other.steps;
        self.launches += other.launches;
    }
}

/// A state as the list of its bytes: it travels between processes of one program only.
pub(crate) mod state_bytes {
    use bytemuck::{Pod, bytes_of, try_pod_read_unaligned};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Pod, S: Serializer>(state: &T, to: S) -> Result<S::Ok, S::Error> {
        bytes_of(state).serialize(to)
    }

    pub fn deserialize<'de, T: Pod, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let bytes = Vec::<u8>::deserialize(from)?;
        try_pod_read_unaligned(&bytes)
            .map_err(|_| D::Error::invalid_length(bytes.len(), &"the bytes of a state"))
    }
}

/// The first mismatch of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Mismatch<U: Unit> {
    /// The clock whose inputs led to it, from 0.
    pub clock: u64,
    /// What differs; never empty.
    pub diffs: Vec<Diff>,
    /// The unit's state.
    #[serde(with = "state_bytes")]
    pub rtl: U::State,
    /// What the golden expected.
    #[serde(with = "state_bytes")]
    pub golden: U::State,
}

impl<U: Unit> Mismatch<U> {
    /// The first difference, in the order of the field list.
    pub fn first(&self) -> &Diff {
        &self.diffs[0]
    }
}

/// The RTL stopped the simulation: $stop, $fatal, $finish, a failed assertion, logic that does not settle.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stopped {
    /// The clock whose inputs led to it, from 0.
    pub clock: u64,
    /// What it said.
    pub why: String,
}

/// How a run ended; [`mod@crate::check`] judges it.
#[derive(Clone, Debug)]
pub struct Outcome<U: Unit> {
    /// How much was compared before the mismatch, or in all.
    pub compared: Compared,
    /// The first mismatch, if there was one.
    pub mismatch: Option<Mismatch<U>>,
    /// The RTL stopped the simulation.
    pub stopped: Option<Stopped>,
    /// The golden's state at the end.
    pub end: U::State,
    /// The run ended because of `max_steps`.
    pub step_limit: bool,
}

/// Runs `case` on `dut` from reset to its end or to the first mismatch. The bench is the
/// instruction memory; the golden leads by one clock, because the bench top registers its inputs.
pub fn run<U: Unit>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    golden: &mut U::Golden,
    watch: &mut impl Watch<U>,
) -> Outcome<U> {
    Bench {
        dut,
        dump_from: None,
    }
    .run(case, golden, watch)
}

/// As [`run`], with a dump that begins at clock `from` and ends `after` clocks behind a mismatch.
///
/// # Errors
/// The dump cannot be written.
pub fn run_with_dump<U: Unit>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    golden: &mut U::Golden,
    watch: &mut impl Watch<U>,
    from: u64,
    path: &std::path::Path,
) -> Result<Outcome<U>, String> {
    // Found out before the run, not in the middle of it.
    dut.open_vcd(path)?;
    dut.close_vcd()?;
    let outcome = Bench {
        dut,
        dump_from: Some((from, path)),
    }
    .run(case, golden, watch);
    dut.close_vcd()?;
    Ok(outcome)
}

/// Runs the golden of `case` alone, up to its end or to cycle `last`, as it runs beside the RTL; `watch` looks on.
pub fn golden_alone<U: Unit>(case: &Case<U>, last: u64, watch: &mut impl Watch<U>) {
    let mut golden = case.golden();
    let mut stimulus = Stimulus::new(case);
    for clock in 0..=last {
        let Some(pins) = stimulus.next(golden.state()).filter(|_| !watch.enough()) else {
            return;
        };
        watch.before(clock, &pins, &golden);
        golden.cycle(&pins);
        watch.after(clock, &pins, &golden);
        stimulus.done(&pins, golden.step(), golden.state());
        if let Some(start) = stimulus.load() {
            for state in start.states(golden.state()) {
                golden.load(&state);
            }
            watch.loaded(start);
        }
    }
}

struct Bench<'d, U: Unit> {
    dut: &'d mut Dut<U>,
    dump_from: Option<(u64, &'d std::path::Path)>,
}

impl<U: Unit> Bench<'_, U> {
    fn run(self, case: &Case<U>, golden: &mut U::Golden, watch: &mut impl Watch<U>) -> Outcome<U> {
        let mut stimulus = Stimulus::new(case);
        let mut compared = Compared::default();
        let mut clock: u64 = 0;
        let mut mismatch = None;
        let mut stopped = None;
        let last;
        // The state that the golden should have, spoilt on request.
        let flip = case.flip.as_ref().and_then(|f| {
            let field = U::fields().iter().find(|x| x.name == f.field)?;
            Some((field, f))
        });
        loop {
            if let Some((_, path)) = self.dump_from.filter(|(from, _)| *from == clock) {
                // It could be written a moment ago; if not, closing it tells.
                let _ = self.dut.open_vcd(path);
            }
            let pins = stimulus.next(golden.state());
            // After the last clock one more, stalled, brings out what the last one did.
            let flush = pins.is_none();
            let pins = pins.unwrap_or_else(stalled::<U>);
            let mut spoilt = None;
            if let Some((field, f)) = flip.filter(|(_, f)| clock.checked_sub(1) == Some(f.clock)) {
                let state = spoilt.insert(*golden.state());
                field.flip(bytemuck::bytes_of_mut(state), f.element, f.bit);
            }
            let expected = spoilt.as_ref().unwrap_or_else(|| golden.state());
            match self.dut.check(&pins, expected) {
                Check::Stopped => {
                    let why = self.dut.stopped().unwrap_or_default();
                    stopped = Some(Stopped {
                        clock: clock.saturating_sub(1),
                        why,
                    });
                }
                // Before the first reset clock is through there is nothing to compare.
                _ if clock == 0 => {}
                Check::Agrees => compared.clocks += 1,
                Check::Differs(rtl) => {
                    mismatch = Some(Mismatch {
                        clock: clock - 1,
                        diffs: field::diff(
                            U::fields(),
                            case.lanes as usize,
                            bytes_of(rtl),
                            bytes_of(expected),
                        ),
                        rtl: *rtl,
                        golden: *expected,
                    });
                }
            }
            if flush || mismatch.is_some() || stopped.is_some() {
                last = pins;
                break;
            }
            watch.before(clock, &pins, golden);
            golden.cycle(&pins);
            watch.after(clock, &pins, golden);
            let step = golden.step();
            compared.steps += u64::from(step == Step::Executed);
            stimulus.done(&pins, step, golden.state());
            if let Some(start) = stimulus.load() {
                for state in start.states(golden.state()) {
                    self.dut.load(&state);
                    golden.load(&state);
                }
                watch.loaded(start);
            }
            clock += 1;
        }
        compared.launches = stimulus.launches();
        let end = *golden.state();
        if mismatch.is_some() && self.dump_from.is_some() {
            // A few clocks more, so that the failing one does not stand at the edge of the picture. The
            // unit has taken the last pins already.
            golden.cycle(&last);
            for _ in 0..4 {
                self.dut.clock(&stalled::<U>(), Some(golden.state()));
            }
        }
        Outcome {
            compared,
            mismatch,
            stopped,
            end,
            step_limit: stimulus.steps >= case.max_steps,
        }
    }
}
