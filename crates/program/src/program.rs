//! The interface of a design that runs programs: pins, environment, programs, and the records for the scalar judge.

use std::fmt::Debug;

use rand::{Rng, RngCore};

use crate::assembly::Assembly;
use crate::case::Case;
use crate::environment::Draw;
use crate::show::{Class, Frame};
use crate::start::Start;
use crate::watch::Watch;
use reconverge_bench::design::{Control, Design, Golden};
use reconverge_bench::field::show;
use reconverge_bench::lanes::Wavefronts;

/// The inputs of a unit in one cycle, as far as every unit has them.
pub trait Pins: Control {
    /// Returns true if these pins request a launch.
    fn launches(&self) -> bool;
    /// Returns the register and the value of the host write, if there is one. By default there is none.
    fn written(&self) -> Option<String> {
        None
    }
    /// Describes the result of an earlier instruction that these pins return, if they do. By default none returns later.
    fn returned(&self) -> Option<String> {
        None
    }
    /// Describes a cycle without an instruction: reset, stall, waiting, launch, host write or idle.
    fn describe(&self, running: bool) -> String {
        if self.is_reset() {
            "reset".to_owned()
        } else if self.is_stalled() {
            "stalled".to_owned()
        } else if running {
            let returned = self.returned();
            returned.unwrap_or_else(|| "waiting for an instruction".to_owned())
        } else {
            match (self.launches(), self.written()) {
                (true, None) => "launch".to_owned(),
                (true, Some(write)) => format!("launch; host writes {write}"),
                (false, Some(write)) => format!("host writes {write}"),
                (false, None) => "idle".to_owned(),
            }
        }
    }
    /// Withholds the instruction: the memory has not answered yet.
    fn starve(&mut self);
    /// Puts noise on every pin that the unit must ignore in this cycle; `running` is true while a program runs. Keeps the
    /// reset, and a stall that is asserted without reset. By default no pin is ignored.
    fn scramble(&mut self, _running: bool, _rng: &mut impl Rng) {}
    /// Adds a random host write, for a cycle in which no program runs.
    fn host_write(&mut self, _rng: &mut impl Rng) {}
}

/// What the golden model did in one cycle, as far as bench and environment need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No step was completed.
    None,
    /// One instruction executed.
    Executed,
    /// A step that ended in an error.
    Failed,
}

/// A golden model that executes instructions.
pub trait Executor<D: Design>: Golden<D> {
    /// Puts the unit into `state`, as `Dut::load` does with the RTL. Does nothing by default: it is never called for a unit
    /// whose [`Programs::Start`] is [`crate::start::Launched`].
    fn load(&mut self, _state: &D::State) {}
    /// Returns what the last cycle did.
    fn step(&self) -> Step;
}

/// The black boxes around a unit: instruction memory, ALU, texture unit, and their condition bits.
pub trait Environment<U: Programs>: Send {
    /// Returns the environment of one case.
    fn new(case: &Case<U>) -> Self;
    /// Clears the history of every lane, because a program is launched.
    fn launched(&mut self);
    /// Sets all `pins`: the instruction that `state` asks for, and the lanes' conditions. Only cases whose conditions are
    /// noise use `rng`.
    fn set_pins(&mut self, state: &U::State, rng: &mut impl Rng, pins: &mut U::In);
    /// Called when the instruction that was last asked for has been executed; `after` is the resulting state.
    fn executed(&mut self, after: &U::State);
    /// Returns the draw that `lane` uses or makes at the instruction that `state` asks for; `None` if the lane does not
    /// execute it, or if it involves no condition. By default there are no draws.
    fn draw(&self, _state: &U::State, _lane: u32) -> Option<Draw> {
        None
    }
}

/// One executed instruction of a wavefront, as the scalar judge gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Address.
    pub pc: u32,
    /// Further state that the executing lanes see (r500, r700: aL).
    pub context: u32,
    /// Lanes that execute the instruction, if the unit's scalar judge compares such instructions; otherwise 0 (r500, r700:
    /// flow control).
    pub executes: u64,
    /// Lanes whose k (contract-7-b) this instruction increments.
    pub counts: u64,
}

/// The records of a run, collected for the scalar judge.
#[derive(Debug)]
pub struct Records<U: Programs> {
    /// Records in the order of execution.
    pub records: Vec<Record>,
    /// State before the step, and the pins of its first cycle.
    before: Option<(U::State, U::In)>,
    lost: u64,
    wavefronts: Wavefronts,
}

impl<U: Programs> Default for Records<U> {
    /// Returns no records, of a unit with the default number of lanes.
    fn default() -> Self {
        Records::new(U::LANES)
    }
}

impl<U: Programs> Records<U> {
    /// Maximum number of records that are kept, about 100 megabytes.
    pub const MAX: usize = 4_000_000;

    /// Returns no records, of a unit with `lanes` lanes.
    pub fn new(lanes: u32) -> Self {
        Records {
            records: Vec::new(),
            before: None,
            lost: 0,
            wavefronts: Wavefronts::of::<U>(lanes as usize),
        }
    }

    /// Returns the verdict of the unit's scalar judge on the recorded run.
    pub fn judge(&self, case: &Case<U>, end: &U::State) -> Verdict {
        if self.lost > 0 {
            return Verdict::NotStructured(format!("more than {} instructions", Self::MAX));
        }
        if case.noise_cycles.is_some() {
            return Verdict::NotStructured("launched again and again".to_owned());
        }
        if !case.start.is_empty() {
            return Verdict::NotStructured("begins in the middle".to_owned());
        }
        match U::SCALAR {
            Some(judge) => judge(case, &self.records, end),
            None => Verdict::NotStructured(format!("{} has no scalar judge", U::NAME)),
        }
    }
}

impl<U: Programs> Watch<U> for Records<U> {
    #[inline]
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        if !U::mid_step(golden.state()) {
            self.before = Some((*golden.state(), *pins));
        }
    }
    #[inline]
    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        if let (Step::Executed, Some((before, pins))) = (golden.step(), &self.before) {
            if self.records.len() < Self::MAX {
                let mut record = U::record(before, pins, golden.state());
                if U::DECLARATION.wavefronts > 1 {
                    let own = self.wavefronts.mask(U::wavefront(before, pins));
                    record.executes &= own;
                    record.counts &= own;
                }
                self.records.push(record);
            } else {
                self.lost += 1;
            }
        }
    }
}

/// The verdict of the scalar judge on a whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every compared lane executed what it executes alone.
    Agrees {
        /// Lanes compared.
        lanes: u32,
        /// Instructions compared, all lanes together.
        instructions: u64,
    },
    /// A lane executed something else.
    Disagrees {
        /// Lane; 0 if the disagreement is about all lanes.
        lane: u32,
        /// What it did in the wavefront and what it does alone; or what is wrong with the wavefront.
        how: String,
    },
    /// The scalar judge cannot judge this run, for this reason: the program is not structured, begins in a preloaded state, is
    /// launched repeatedly, or is too long.
    NotStructured(String),
}

/// Returns how a program ended, in a unit that reports running, done and an error code; `names` are the names of the codes.
pub fn outcome(running: bool, done: bool, err: u8, names: &[&str]) -> String {
    match err {
        0 if done => "done".to_owned(),
        0 if running => "still running".to_owned(),
        0 => "never launched".to_owned(),
        code => format!("error {}", show::code(names, code.into(), code.into())),
    }
}

/// Compares what each lane of a case did in the wavefront with what it does alone. Arguments: the case, the executed
/// instructions, the state at the end.
pub type ScalarJudge<U> = fn(&Case<U>, &[Record], &<U as Design>::State) -> Verdict;

/// A design that runs programs, as cases, lock-step, reports and waves need it.
///
/// If its declaration divides the lanes into several wavefronts, `wavefront`, `pc_of` and `frames_of` say what belongs to which. Masks, conditions and records number the lanes of all wavefronts, those of the first one first, so a lane stays the same
/// in all of them. The environment sees from the state which results the unit still waits for, and gives them in `set_pins`.
pub trait Programs: Design<In: Pins, Golden: Executor<Self>> {
    /// A program with the values of its registers.
    type Program: Assembly;
    /// The black boxes around the unit.
    type Environment: Environment<Self>;
    /// A state in which a case can begin; [`crate::start::Launched`] if cases begin only with a launch.
    type Start: Start<Self>;
    /// The scalar judge, if there is one.
    const SCALAR: Option<ScalarJudge<Self>> = None;

    /// Returns true while a program runs, that is, while the unit asks for instructions.
    fn running(state: &Self::State) -> bool;
    /// Returns true if a step has begun that takes further cycles (spa5: UNWIND). [`Executor::step`] reports it when it is
    /// complete.
    fn mid_step(_: &Self::State) -> bool {
        false
    }
    /// Returns how a stopped program ended, e.g. `done` or `error 3 LOOP_UNDERFLOW`.
    fn outcome(state: &Self::State) -> String;
    /// Returns the address of the next instruction, of several wavefronts that of the first one.
    fn pc(state: &Self::State) -> u32;
    /// Returns the active mask: the lanes that execute an unconditional instruction, of several wavefronts the next one of theirs.
    fn active(state: &Self::State) -> u64;
    /// Returns the wavefront that a cycle from `state` with `pins` is about: the one whose instruction is on the pins. One without an
    /// instruction is about any, for example the one to which a result returns. A step of a unit with several wavefronts takes one
    /// cycle, and no cycle executes two.
    fn wavefront(_state: &Self::State, _pins: &Self::In) -> usize {
        0
    }
    /// Returns the address of the next instruction of wavefront `wavefront`.
    fn pc_of(state: &Self::State, _wavefront: usize) -> u32 {
        Self::pc(state)
    }
    /// Returns the wavefront for which `pins` have the conditions of an instruction that it has executed in an earlier cycle, its last
    /// one. By default conditions come with the instruction.
    fn returns_to(_state: &Self::State, _pins: &Self::In) -> Option<usize> {
        None
    }
    /// Returns the class of lane `lane`. By default active lanes are [`Class::Active`] and all others [`Class::Off`].
    fn class(state: &Self::State, lane: usize) -> Class {
        match Self::active(state) >> lane & 1 {
            1 => Class::Active,
            _ => Class::Off,
        }
    }
    /// Returns the class that the registers hold for lane `lane`. Unlike [`Programs::class`], this may be another class than
    /// [`Class::Off`] for a lane that takes no part; RTL and golden model are compared in it.
    fn held(state: &Self::State, lane: usize) -> Class {
        Self::class(state, lane)
    }
    /// Returns the frames on the golden model's stacks, bottom first.
    fn frames(_: &Self::Golden) -> Vec<Frame> {
        Vec::new()
    }
    /// Returns the frames on the golden model's stacks for wavefront `wavefront`, bottom first.
    fn frames_of(golden: &Self::Golden, _wavefront: usize) -> Vec<Frame> {
        Self::frames(golden)
    }
    /// Returns the golden model's stack as text, bottom first, if the state shows only its top.
    fn stack(_: &Self::Golden) -> Option<String> {
        None
    }

    /// Returns the cycles of the host writes before a launch.
    fn setup(_: &Self::Program) -> Vec<Self::In> {
        Vec::new()
    }
    /// Returns the pins of the launch cycle. If `again` is set, it draws the values that may differ between the launches of
    /// a noisy case.
    fn launch(case: &Case<Self>, again: Option<&mut dyn RngCore>) -> Self::In;
    /// Returns the record of the instruction on `pins`, which led from `before` to `after`. Of several wavefronts only the lanes of its own
    /// count. By default all active lanes execute it and count it.
    fn record(before: &Self::State, pins: &Self::In, _after: &Self::State) -> Record {
        let active = Self::active(before);
        Record {
            pc: Self::pc_of(before, Self::wavefront(before, pins)),
            context: 0,
            executes: active,
            counts: active,
        }
    }
}
