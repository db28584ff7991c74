//! The stimulus of a case: reset, host writes, launch, instructions, and the disturbances of a noisy bench. [`run`] runs RTL
//! and golden model on it in lock-step.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::path::Path;

use rand::distr::{Bernoulli, Distribution};
use rand::{Rng, RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::case::Case;
use crate::environment::Draw;
use crate::program::{Environment, Executor, Pins, Programs, Step};
use crate::start::Start;
use crate::watch::Watch;
use reconverge_bench::design::{Control, Golden, ratio};
use reconverge_bench::dut::Dut;
use reconverge_bench::lockstep::{self, Outcome, Setting, Stimulus};

/// Reset cycles at the beginning of a run.
const RESET_CYCLES: u64 = 2;
/// Idle cycles at the end of a run.
const IDLE_CYCLES: u64 = 2;
/// A noisy bench resets the unit in mid-flight once in about this many cycles.
const RESET_EVERY: u32 = 1500;
/// A noisy bench puts noise on the pins that do not matter once in about this many cycles.
const SCRAMBLE_EVERY: u32 = 8;

/// Returns the pins of a stalled cycle.
fn stalled<U: Programs>() -> U::In {
    let mut pins = U::In::default();
    pins.set_stall(true);
    pins
}

/// Phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reset(u64),
    /// Reset is over; the unit is idle for this many cycles before host writes and launch.
    Fresh(u64),
    Setup(usize),
    Launch,
    /// A stalled cycle, in which the start state of the program is loaded.
    Load,
    Run,
    /// The program has stopped; the unit is idle for this many cycles and must keep its state.
    Idle(u64),
    Over,
}

/// Generates the pins of every cycle of a case, as a function of the golden model's state: reset, host writes, launch,
/// instructions with stalls and wait states, and the disturbances of a noisy bench.
pub struct CaseStimulus<'c, U: Programs> {
    case: &'c Case<U>,
    environment: U::Environment,
    rng: Pcg64Mcg,
    setup: Vec<U::In>,
    phase: Phase,
    launches: u64,
    steps: u64,
    cycle: u64,
    /// The run ended because of [`Case::max_steps`].
    limited: bool,
    /// The stalled cycle of the load has been generated.
    asked: bool,
    // Constructed once: construction takes a division, and each is sampled in every cycle.
    stalls: Bernoulli,
    resets: Bernoulli,
    scrambles: Bernoulli,
}

impl<'c, U: Programs> CaseStimulus<'c, U> {
    /// Returns the stimulus of `case`, at its first cycle.
    pub fn new(case: &'c Case<U>) -> Self {
        CaseStimulus {
            case,
            environment: U::Environment::new(case),
            rng: Pcg64Mcg::seed_from_u64(case.seed),
            setup: U::setup(&case.program),
            phase: Phase::Reset(RESET_CYCLES),
            launches: 0,
            steps: 0,
            cycle: 0,
            limited: false,
            asked: false,
            stalls: ratio(case.stall16, 16),
            resets: ratio(1, RESET_EVERY),
            scrambles: ratio(1, SCRAMBLE_EVERY),
        }
    }

    /// Returns the pins of the next cycle; `state` is the golden model's state. `None` when the run is over.
    pub fn next(&mut self, state: &U::State) -> Option<U::In> {
        let mut pins = U::In::default();
        self.set(state, &mut pins).then_some(pins)
    }

    /// Does the same as [`CaseStimulus::next`] in place. Returns false when the run is over.
    #[inline]
    fn set(&mut self, state: &U::State, pins: &mut U::In) -> bool {
        let noisy = self.case.noise_cycles;
        if noisy.is_some_and(|cycles| self.cycle >= cycles) {
            self.phase = Phase::Over;
        }
        if self.phase == Phase::Run && !U::running(state) {
            self.phase = Phase::Idle(match noisy {
                Some(_) => self.rng.random_range(0..4),
                None => IDLE_CYCLES,
            });
        } else if self.phase == Phase::Run && self.steps >= self.case.max_steps {
            self.phase = Phase::Over;
            self.limited = true;
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
        self.cycle += 1;
        if noisy.is_some()
            && !matches!(self.phase, Phase::Over | Phase::Reset(_))
            && self.resets.sample(&mut self.rng)
        {
            self.phase = Phase::Reset(1);
        }
        match self.phase {
            Phase::Over => return false,
            Phase::Reset(left) => {
                self.phase = match noisy {
                    _ if left > 1 => Phase::Reset(left - 1),
                    Some(_) => Phase::Fresh(self.rng.random_range(0..3)),
                    None => Phase::Setup(0),
                };
                *pins = U::In::reset();
                if noisy.is_some() && self.cycle > RESET_CYCLES {
                    pins.scramble(U::running(state), &mut self.rng);
                }
                return true;
            }
            Phase::Load => {
                self.asked = true;
                *pins = stalled::<U>();
                return true;
            }
            Phase::Setup(i) if i < self.setup.len() => *pins = self.setup[i],
            Phase::Setup(_) | Phase::Launch => {
                // A preloaded state is legal only with the operands of the case.
                let other = noisy.is_some() && self.launches > 0 && self.case.start.is_empty();
                let again = other.then_some(&mut self.rng as &mut dyn RngCore);
                *pins = U::launch(self.case, again);
            }
            // Idle cycles present an instruction too: the unit must not execute it.
            Phase::Run | Phase::Idle(_) | Phase::Fresh(_) => {
                self.environment.set_pins(state, &mut self.rng, pins);
            }
        }
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
            // At the first launch too, so that a program does not always find the values that were set up for it.
            let launching = pins.launches() && !U::running(state);
            if (idle || launching) && self.rng.random() {
                pins.host_write(&mut self.rng);
            }
        }
        true
    }

    /// Takes what the golden model did with `pins`: the step, and the state after it.
    #[inline]
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

    /// Returns whether [`CaseStimulus::load`] returns a state now.
    #[inline]
    fn loads(&self) -> bool {
        self.phase == Phase::Load && self.asked
    }

    /// Returns the state to load into RTL and golden model in the cycle that was just done; `None` if there is no load.
    #[inline]
    pub fn load(&mut self) -> Option<&'c U::Start> {
        if !self.loads() {
            return None;
        }
        self.asked = false;
        self.phase = Phase::Run;
        let number = (self.launches - 1) as usize % self.case.start.len();
        self.case.start.get(number)
    }

    /// Returns the number of programs launched so far.
    pub fn launches(&self) -> u64 {
        self.launches
    }
}

/// The stimulus of a case, with a watch.
struct Watched<'c, 'w, U: Programs, W> {
    stimulus: CaseStimulus<'c, U>,
    watch: &'w mut W,
    steps: u64,
    /// Cycles of launches that are not observed yet.
    ahead: VecDeque<u64>,
    /// The golden model runs alone: the watch may end the run.
    alone: bool,
}

impl<'c, 'w, U: Programs, W: Watch<U>> Watched<'c, 'w, U, W> {
    fn new(case: &'c Case<U>, watch: &'w mut W) -> Self {
        Watched {
            stimulus: CaseStimulus::new(case),
            watch,
            steps: 0,
            ahead: VecDeque::new(),
            alone: false,
        }
    }
}

impl<U: Programs, W: Watch<U>> Stimulus<U> for Watched<'_, '_, U, W> {
    #[inline]
    fn next(&mut self, _: u64, golden: &U::Golden, pins: &mut U::In) -> bool {
        self.stimulus.set(golden.state(), pins) && !(self.alone && self.watch.enough())
    }
    #[inline]
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        self.watch.before(cycle, pins, golden);
    }
    // The loop calls it in each cycle; it is also called for RTL in another process, so the compiler alone would not inline it.
    #[inline(always)]
    fn after(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        self.watch.after(cycle, pins, golden);
        self.steps += u64::from(golden.step() == Step::Executed);
        while self.ahead.front().is_some_and(|launch| *launch <= cycle) {
            self.ahead.pop_front();
        }
    }
    #[inline]
    fn done(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        let before = self.stimulus.launches;
        self.stimulus.done(pins, golden.step(), golden.state());
        if self.stimulus.launches > before {
            self.ahead.push_back(cycle);
        }
    }
    #[inline]
    fn loads(&self) -> bool {
        self.stimulus.loads()
    }
    #[inline]
    fn load(&mut self, golden: &mut U::Golden, mut put: impl FnMut(&U::State)) {
        if let Some(start) = self.stimulus.load() {
            let build = self.stimulus.case.build();
            for state in start.states(&build, golden.state()) {
                put(&state);
                golden.load(&state);
            }
            self.watch.loaded(start);
        }
    }
}

/// Runs `case` on `dut` from reset until it ends, a mismatch occurs or the RTL stops. The bench is the instruction memory.
/// `dump` gives the first cycle of a dump, and its path.
///
/// # Errors
/// The dump cannot be written.
pub fn run_with_dump<U: Programs>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    golden: &mut U::Golden,
    watch: &mut impl Watch<U>,
    dump: Option<(u64, &Path)>,
) -> Result<Outcome<U>, String> {
    let mut watched = Watched::new(case, watch);
    let setting = Setting {
        lanes: case.lanes as usize,
        flip: case.flip.as_ref(),
        dump,
    };
    let mut outcome = lockstep::run(&mut watched, setting, dut, golden)?;
    let Watched {
        stimulus,
        steps,
        ahead,
        ..
    } = watched;
    outcome.compared.steps = steps;
    outcome.compared.launches = stimulus.launches - ahead.len() as u64;
    outcome.step_limit = stimulus.limited;
    Ok(outcome)
}

/// Does the same as [`run_with_dump`], without a dump.
pub fn run<U: Programs>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    golden: &mut U::Golden,
    watch: &mut impl Watch<U>,
) -> Outcome<U> {
    run_with_dump(case, dut, golden, watch, None).unwrap_or_else(|e| unreachable!("no dump: {e}"))
}

/// Keeps the state in which the present instruction was asked for.
struct Asked<U: Programs>(Option<U::State>);

impl<U: Programs> Watch<U> for Asked<U> {
    fn before(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        if !U::mid_step(golden.state()) {
            self.0 = Some(*golden.state());
        }
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// Returns each lane's draw ([`Environment::draw`]) at the instruction that `case` completes in cycle `cycle`.
pub fn draws<U: Programs>(case: &Case<U>, cycle: u64) -> Vec<Option<Draw>> {
    let mut asked = Asked::<U>(None);
    let mut watched = Watched::new(case, &mut asked);
    watched.alone = true;
    let mut golden = case.golden();
    if let Some(last) = cycle.checked_sub(1) {
        lockstep::golden_alone(&mut watched, last, &mut golden);
    }
    let environment = watched.stimulus.environment;
    // A step of several cycles was asked for in the first of them.
    let state = match asked.0 {
        Some(state) if U::mid_step(golden.state()) => state,
        _ => *golden.state(),
    };
    let lanes = 0..case.lanes;
    lanes.map(|lane| environment.draw(&state, lane)).collect()
}

/// Counts the instructions of each wavefront.
struct Steps<U: Programs> {
    wavefront: usize,
    counts: Vec<u64>,
    unit: PhantomData<U>,
}

impl<U: Programs> Watch<U> for Steps<U> {
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        self.wavefront = U::wavefront(golden.state(), pins);
    }
    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        self.counts[self.wavefront] += u64::from(golden.step() == Step::Executed);
    }
}

/// Returns how many instructions each wavefront executes in `case`, by its golden model alone.
pub fn steps_of_each<U: Programs>(case: &Case<U>) -> Vec<u64> {
    let mut steps = Steps::<U> {
        wavefront: 0,
        counts: vec![0; U::DECLARATION.wavefronts as usize],
        unit: PhantomData,
    };
    golden_alone(case, u64::MAX, &mut steps);
    steps.counts
}

/// Runs the golden model of `case` alone, up to its end or to cycle `last`, as it runs beside the RTL; `watch` observes it.
pub fn golden_alone<U: Programs>(case: &Case<U>, last: u64, watch: &mut impl Watch<U>) {
    let mut watched = Watched::new(case, watch);
    watched.alone = true;
    lockstep::golden_alone(&mut watched, last, &mut case.golden());
}
