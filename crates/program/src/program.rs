//! A design that runs programs: pins, instructions and conditions, and what the scalar judge wants to hear of.

use std::fmt::Debug;

use rand::{Rng, RngCore};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::case::Case;
use crate::design::{Control, Design, Golden};
use crate::environment::Draw;
use crate::field::show;
use crate::input::InputError;
use crate::show::{Class, Frame};
use crate::start::Start;
use crate::watch::Watch;

/// One clock's inputs of a unit: the pins that every unit has.
pub trait Pins: Control {
    /// Whether a launch is asked for.
    fn launches(&self) -> bool;
    /// The host's write, if there is one: register and value. Without further words there are none.
    fn written(&self) -> Option<String> {
        None
    }
    /// What a clock without an instruction was: reset, stall, waiting, launch, host write, idle.
    fn describe(&self, running: bool) -> String {
        if self.is_reset() {
            "reset".to_owned()
        } else if self.is_stalled() {
            "stalled".to_owned()
        } else if running {
            "waiting for an instruction".to_owned()
        } else {
            match (self.launches(), self.written()) {
                (true, None) => "launch".to_owned(),
                (true, Some(write)) => format!("launch; host writes {write}"),
                (false, Some(write)) => format!("host writes {write}"),
                (false, None) => "idle".to_owned(),
            }
        }
    }
    /// Takes the instruction away: the memory has not answered yet.
    fn starve(&mut self);
    /// Puts noise on every pin that the unit must not look at in this clock; `running` tells whether a
    /// program runs. Reset, and stall once asserted without it, stay. Without further words every pin matters.
    fn scramble(&mut self, _running: bool, _rng: &mut impl Rng) {}
    /// Adds a host write of anything to anywhere, for a clock in which no program runs.
    fn host_write(&mut self, _rng: &mut impl Rng) {}
}

/// What the golden did in one clock, as far as bench and environment need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No instruction and no end.
    None,
    /// One instruction executed.
    Executed,
    /// A step that ended in an error.
    Failed,
}

/// A golden model that executes instructions.
pub trait Executor<D: Design>: Golden<D> {
    /// Puts the unit into `state`, as `Dut::load` does with the RTL. Without further words it does nothing: a unit whose
    /// [`Programs::Start`] is [`crate::start::Launched`] is never asked.
    fn load(&mut self, _state: &D::State) {}
    /// What the last cycle did.
    fn step(&self) -> Step;
}

/// The black boxes around a unit: instruction memory, ALU, texture unit, and their condition bits.
pub trait Environment<U: Programs>: Send {
    /// The surroundings of one case.
    fn new(case: &Case<U>) -> Self;
    /// Forgets every lane's history: a program is launched.
    fn launched(&mut self);
    /// Sets `pins`, whatever they were, to those with the instruction that `state` asks for and the lanes' conditions. `rng` serves
    /// only cases whose conditions are noise.
    fn set_pins(&mut self, state: &U::State, rng: &mut impl Rng, pins: &mut U::In);
    /// The instruction that was last asked for has been executed; `after` is the state it led to.
    fn executed(&mut self, after: &U::State);
    /// Returns the draw by which `lane` decides at the instruction that `state` asks for, or which it makes there; `None` if
    /// the lane does not execute it, or no condition plays a part. Without further words there are no draws.
    fn draw(&self, _state: &U::State, _lane: u32) -> Option<Draw> {
        None
    }
}

/// One executed instruction of a wavefront, as the scalar judge wants to hear of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Address.
    pub pc: u32,
    /// Whatever the lanes that execute it see besides (r500, r700: aL).
    pub context: u32,
    /// Lanes that execute it, if it is not a control instruction; otherwise 0.
    pub executes: u64,
    /// Lanes whose history it counts in: the k of contract-7-b.
    pub counts: u64,
}

/// Collects the records of a run for the scalar judge.
#[derive(Debug)]
pub struct Records<U: Programs> {
    /// In the order of execution.
    pub records: Vec<Record>,
    /// State before the step, and the pins of its first clock.
    before: Option<(U::State, U::In)>,
    lost: u64,
}

impl<U: Programs> Default for Records<U> {
    fn default() -> Self {
        Records {
            records: Vec::new(),
            before: None,
            lost: 0,
        }
    }
}

impl<U: Programs> Records<U> {
    /// More are not kept: a hundred megabytes.
    pub const MOST: usize = 4_000_000;

    /// What the scalar judge of the unit says of the run that was recorded.
    pub fn judge(&self, case: &Case<U>, end: &U::State) -> Verdict {
        if self.lost > 0 {
            return Verdict::NotStructured(format!("more than {} instructions", Self::MOST));
        }
        if case.noise_clocks.is_some() {
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
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        if !U::mid_step(golden.state()) {
            self.before = Some((*golden.state(), *pins));
        }
    }
    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        if let (Step::Executed, Some((before, pins))) = (golden.step(), &self.before) {
            if self.records.len() < Self::MOST {
                self.records.push(U::record(before, pins, golden.state()));
            } else {
                self.lost += 1;
            }
        }
    }
}

/// What the scalar judge says of a whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every compared lane executed what it executes alone.
    Agrees {
        /// Lanes compared.
        lanes: u32,
        /// Instructions compared, all lanes together.
        instructions: u64,
    },
    /// A lane did not.
    Disagrees {
        /// Lane.
        lane: u32,
        /// What it did in the wavefront and what it does alone.
        how: String,
    },
    /// The program is outside what the judge can say anything about.
    NotStructured(String),
}

/// How a program ended, in a unit that tells running, done and an error code; `names` are those of the codes.
pub fn outcome(running: bool, done: bool, err: u8, names: &[&str]) -> String {
    match err {
        0 if done => "done".to_owned(),
        0 if running => "still running".to_owned(),
        0 => "never launched".to_owned(),
        code => format!("error {}", show::code(names, code.into())),
    }
}

/// Holds what each lane of a case did in the wavefront against what it does alone: case, what was executed, state at the
/// end.
pub type ScalarJudge<U> = fn(&Case<U>, &[Record], &<U as Design>::State) -> Verdict;

/// A design that runs programs: what cases, lock-step, reports and waves need to know of it.
pub trait Programs: Design<In: Pins, Golden: Executor<Self>> {
    /// A program with the registers it runs under.
    type Program: Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    /// Black boxes.
    type Environment: Environment<Self>;
    /// A state in which a case begins; [`crate::start::Launched`] if there is none but that of a launch.
    type Start: Start<Self>;
    /// The scalar judge, if there is one.
    const SCALAR: Option<ScalarJudge<Self>> = None;

    /// A program runs: instructions are wanted.
    fn running(state: &Self::State) -> bool;
    /// A step has begun that takes further clocks (spa5: UNWIND); [`Executor::step`] tells of it when it is
    /// complete.
    fn mid_step(_: &Self::State) -> bool {
        false
    }
    /// How a stopped program ended, e.g. `done` or `error 3 LOOP_UNDERFLOW`.
    fn outcome(state: &Self::State) -> String;
    /// Address of the instruction wanted.
    fn pc(state: &Self::State) -> u32;
    /// Lanes that execute an instruction which is for all that are there.
    fn active(state: &Self::State) -> u64;
    /// Returns what lane `lane` does, as all units show it. Without further words the active ones execute, and the others
    /// are not said to wait for anything.
    fn class(state: &Self::State, lane: usize) -> Class {
        match Self::active(state) >> lane & 1 {
            1 => Class::Active,
            _ => Class::Off,
        }
    }
    /// Returns the class that the registers hold of lane `lane`, where a lane that takes no part has one too: RTL and golden
    /// model are compared in it.
    fn held(state: &Self::State, lane: usize) -> Class {
        Self::class(state, lane)
    }
    /// Returns what is on the golden's stacks, bottom first.
    fn frames(_: &Self::Golden) -> Vec<Frame> {
        Vec::new()
    }
    /// Returns the instruction at `pc` as short text: the statement, where it is one.
    fn statement(program: &Self::Program, pc: u32) -> String {
        Self::disassemble(program, pc)
    }
    /// What is on the golden's stack, bottom first, if the state shows only its top.
    fn stack(_: &Self::Golden) -> Option<String> {
        None
    }

    /// Name of a program.
    fn name(program: &Self::Program) -> &str;
    /// Gives a program another name.
    fn rename(program: &mut Self::Program, name: String);
    /// Checks what a saved case can get wrong in its program.
    ///
    /// # Errors
    /// A program that does not fit the instruction memory, for instance. Without further words none: every program that
    /// can be read can be run.
    fn check(_program: &Self::Program, _file: &str) -> Result<(), InputError> {
        Ok(())
    }
    /// The clocks of the host's writes before a launch.
    fn setup(_: &Self::Program) -> Vec<Self::In> {
        Vec::new()
    }
    /// The clock of the launch; `again` draws what may differ from launch to launch of a noisy case.
    fn launch(case: &Case<Self>, again: Option<&mut dyn RngCore>) -> Self::In;
    /// One instruction as text.
    fn disassemble(program: &Self::Program, pc: u32) -> String;
    /// The instruction on `pins`, which took `before` to `after`, as the scalar judge wants to hear of it. Without
    /// further words it counts for the active lanes, which execute it.
    fn record(before: &Self::State, _pins: &Self::In, _after: &Self::State) -> Record {
        let active = Self::active(before);
        Record {
            pc: Self::pc(before),
            context: 0,
            executes: active,
            counts: active,
        }
    }
}
