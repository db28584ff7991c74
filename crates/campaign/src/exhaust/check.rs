//! Compares RTL and golden model in every cycle from some states, with the same lock-step as every case
//! ([`reconverge_bench::lockstep::run`]).

use bytemuck::{bytes_of, bytes_of_mut};
use serde::{Deserialize, Serialize};

use super::space::{base, unpacked};
use super::{World, head, transitions};
use reconverge_bench::design::{Build, Control, Design, Golden};
use reconverge_bench::dut::Dut;
use reconverge_bench::failure::Cause;
use reconverge_bench::lockstep::{self, Setting, Stimulus};
use reconverge_bench::stream::Stream;
use reconverge_program::program::{Executor, Programs};

/// Maximum number of cycles that reveal the hidden effects of one transition.
const REVEALS: usize = 64;
/// Cycles of which it is known what they belong to: more than there are from one load to the next.
const MARKS: usize = 256;

/// Result of the comparison of some states.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Checked<U: Design> {
    /// Transitions compared, up to the first difference.
    pub transitions: u64,
    /// Cycles in which the whole state was compared.
    pub cycles: u64,
    /// The first difference, if there is one.
    pub difference: Option<Difference<U>>,
}

/// A transition in which RTL and golden model differ.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Difference<U: Design> {
    /// Index of the state among those given.
    pub state: usize,
    /// Number of the transition; `None`: RTL and golden model differ already after the load.
    pub transition: Option<usize>,
    /// How they differ.
    pub cause: Cause<U>,
}

/// Phase of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// On the way to a state in which a program runs.
    Head(usize),
    /// In the stalled cycle after which the state is loaded.
    Load,
    /// In the transition.
    Step,
    /// This many cycles after the transition.
    Reveal(usize),
}

/// Walks from each state through each of its transitions.
struct Walk<'a, U: Programs, P> {
    world: &'a dyn World<U>,
    root: U::State,
    states: &'a [Vec<u8>],
    /// If set, take only this transition.
    only: Option<usize>,
    head: Vec<U::In>,
    phase: Phase,
    state: usize,
    loads: Vec<U::State>,
    transitions: Vec<U::In>,
    transition: usize,
    done: u64,
    /// For each of the last cycles: its number, the state, and the transition in progress. All cycles before a load have been
    /// compared.
    marks: [(u64, usize, Option<usize>); MARKS],
    pulse: P,
}

impl<U: Programs, P: FnMut(u64)> Walk<'_, U, P> {
    /// Begins with state `number`, if there is one.
    fn enter(&mut self, number: usize) {
        self.state = number;
        self.transition = self.only.unwrap_or(0);
        if let Some(bytes) = self.states.get(number) {
            self.loads = unpacked(&self.root, bytes);
            let shown = self.loads.last().copied().unwrap_or(self.root);
            self.transitions = transitions(self.world, &shown, Some(bytes));
        }
    }

    /// Goes to the next transition; returns true if there is one.
    fn advance(&mut self) -> bool {
        self.done += 1;
        let reset = self.transitions.get(self.transition);
        let reset = reset.is_some_and(Control::is_reset);
        self.transition += 1;
        if self.only.is_some() || self.transition >= self.transitions.len() {
            self.enter(self.state + 1);
        }
        // A reset clears the operands of the launch and the constants.
        self.phase = if reset { Phase::Head(0) } else { Phase::Load };
        self.state < self.states.len()
    }

    /// Returns the pins of `cycle`; `None` after the last state.
    fn pins(&mut self, cycle: u64, golden: &U::Golden) -> Option<U::In> {
        let mut revealed = None;
        if let Phase::Reveal(count) = self.phase {
            revealed = self.world.reveal(golden).filter(|_| count < REVEALS);
            if revealed.is_none() && !self.advance() {
                return None;
            }
        }
        if self.state >= self.states.len() {
            return None;
        }
        if self.phase == Phase::Head(self.head.len()) {
            self.phase = Phase::Load;
        }
        let pins = match self.phase {
            Phase::Head(n) => self.head[n],
            Phase::Load => {
                let mut stalled = U::In::default();
                stalled.set_stall(true);
                stalled
            }
            Phase::Step => self.transitions.get(self.transition).copied()?,
            Phase::Reveal(_) => revealed?,
        };
        let under_way = matches!(self.phase, Phase::Step | Phase::Reveal(_));
        let mark = (cycle, self.state, under_way.then_some(self.transition));
        self.marks[cycle as usize % self.marks.len()] = mark;
        Some(pins)
    }
}

impl<U: Programs, P: FnMut(u64)> Stimulus<U> for Walk<'_, U, P> {
    fn next(&mut self, cycle: u64, golden: &U::Golden, pins: &mut U::In) -> bool {
        let next = self.pins(cycle, golden);
        next.inspect(|next| *pins = *next).is_some()
    }

    fn after(&mut self, cycle: u64, _: &U::In, _: &U::Golden) {
        if cycle.is_multiple_of(1024) {
            (self.pulse)(cycle);
        }
    }

    fn done(&mut self, _: u64, _: &U::In, _: &U::Golden) {
        self.phase = match self.phase {
            Phase::Head(n) => Phase::Head(n + 1),
            // `load` is called after this.
            Phase::Load => Phase::Load,
            Phase::Step => Phase::Reveal(0),
            Phase::Reveal(n) => Phase::Reveal(n + 1),
        };
    }

    fn loads(&self) -> bool {
        self.phase == Phase::Load
    }

    fn load(&mut self, golden: &mut U::Golden, mut put: impl FnMut(&U::State)) {
        if self.phase == Phase::Load {
            for state in &self.loads {
                put(state);
                golden.load(state);
            }
            self.phase = Phase::Step;
        }
    }
}

/// Compares `dut` with a golden model in all transitions from `states`, which are bytes of a [`super::Space`] of `world`, or
/// only in transition `only` of each state. Calls `pulse` from time to time with the cycle's number. A model that stopped the
/// simulation cannot be used again.
pub fn check<U: Programs>(
    world: &dyn World<U>,
    build: &Build,
    dut: &mut Dut<U>,
    states: &[Vec<u8>],
    only: Option<usize>,
    pulse: impl FnMut(u64),
) -> Checked<U> {
    let (root, _) = base(world, build);
    let mut cycles = head(world);
    cycles.extend(world.launches().first());
    let mut walk = Walk {
        world,
        root: *root.state(),
        states,
        only,
        head: cycles,
        phase: Phase::Head(0),
        state: 0,
        loads: Vec::new(),
        transitions: Vec::new(),
        transition: 0,
        done: 0,
        marks: [(u64::MAX, 0, None); MARKS],
        pulse,
    };
    walk.enter(0);
    let setting = Setting {
        lanes: build.lanes as usize,
        ..Setting::default()
    };
    let mut golden = U::Golden::build(build);
    let ran = lockstep::run(&mut walk, setting, dut, &mut golden)
        .unwrap_or_else(|e| unreachable!("no dump: {e}"));
    let cause = match (ran.lost, ran.stopped, ran.mismatch) {
        (Some(lost), ..) => Some((ran.compared.cycles, lost.into())),
        (_, Some(stopped), _) => Some((stopped.cycle, Cause::Stopped(stopped))),
        (.., Some(mismatch)) => Some((mismatch.cycle, Cause::Mismatch(Box::new(mismatch)))),
        (None, None, None) => None,
    };
    let mut transitions = walk.done;
    let difference = cause.map(|(cycle, cause)| {
        let mark = walk.marks.iter().find(|mark| mark.0 == cycle);
        let (_, state, transition) = mark.copied().unwrap_or((cycle, walk.state, None));
        // A difference shows in the cycle after the last one of a transition, when the walk has begun the next transition.
        if (walk.state, Some(walk.transition)) != (state, transition) && transition.is_some() {
            transitions = transitions.saturating_sub(1);
        }
        Difference {
            state,
            transition,
            cause,
        }
    });
    Checked {
        transitions,
        cycles: ran.compared.cycles,
        difference,
    }
}

/// Returns the stream of pins that goes from reset along `path`, takes `last`, and then reveals its hidden effects.
pub fn stream<U: Programs>(
    world: &dyn World<U>,
    build: &Build,
    path: &[U::In],
    last: Option<&U::In>,
) -> Stream<U> {
    let mut cycles = head(world);
    cycles.extend(path);
    cycles.extend(last);
    // Noise also affects lanes that do not exist. Clear them, because a saved stream does not contain them.
    for pins in &mut cycles {
        for pin in U::DECLARATION.pins {
            let most = pin.most(build.lanes);
            for word in 0..pin.words() {
                let value = pin.get(bytes_of(pins), word);
                pin.set(bytes_of_mut(pins), word, value & most);
            }
        }
    }
    let mut golden = U::Golden::build(build);
    for pins in &cycles {
        golden.cycle(pins);
    }
    for _ in 0..REVEALS {
        let Some(pins) = world.reveal(&golden) else {
            break;
        };
        golden.cycle(&pins);
        cycles.push(pins);
    }
    Stream::new("exhaust", build, cycles)
}
