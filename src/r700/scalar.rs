//! The scalar machine: one lane alone (r700-4.6).
//!
//! There are no masks here. A lane has a program counter, a class, frames that hold one bit or one
//! class, and loop registers; where it wants to jump, it jumps; otherwise it continues. With
//! `VALID_PIXEL_MODE`, which r700-4.6 leaves out, the machine is r700-4.4 for a wavefront of this one
//! lane, and [`Scalar::run`] returns what the lane executes in it.
//!
//! In a wavefront the lane may be led elsewhere: others keep it from jumping where it would jump alone
//! (JUMP, ELSE, a loop's start and end, RETURN, ...), or take it along into a subroutine that it would
//! skip. Everything else depends on the lane alone. So one question decides whether every
//! lane executes among others what it executes alone: is the result the same whichever way the lane is
//! led? [`Scalar::new`] answers it for all places and all conditions at once. It follows every way that
//! the lane can be led, and compares each with the way that the lane would have gone: both must
//! execute the same instructions, enter, repeat and leave the same loops in the same passes (so that
//! aL is the same), and end with the same class. Where an ADDR is one of r700-7.1 the two ways meet at
//! once, which makes this cheap; where they do not meet, the program is [`NotStructured`].
//!
//! This is the property of r700-9.1 itself, not a list of forms, so no form of r700-7.1 can be missing.
//! Of the limits of r700-9.2 it finds those that make one lane depend on another. An ALU with u and no
//! push in a place that r700-9.2 excludes is not among these: it differs from the statement that it
//! was written for, but it does the same alone and in a wavefront. The same holds for a RETURN inside an IF, a
//! BREAK of the caller's loop, and frames that do not fit: they are errors (r700-6), before which every
//! lane has executed the beginning of what it executes alone.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::program::{Program, Quad};
use super::state::values::error::{
    END_STACK, FIELD, ILLEGAL, LOOP_OPEN, NO_CALL, NO_LOOP, OVERFLOW, PC_RANGE, UNDERFLOW,
};

mod machine;
mod survey;
use machine::Machine;
use survey::Survey;

/// The build parameters that matter for a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Built {
    /// MAX of r700-3.4-f, entries.
    pub max_stack_size: u32,
    /// Sub-entries of an entry (r700-3.4-h).
    pub subentries: u32,
    /// A LOOP_START_DX10 has a count (r700-4.3-z).
    pub dx10_count: bool,
}

impl Default for Built {
    fn default() -> Self {
        Built {
            max_stack_size: 32,
            subentries: 4,
            dx10_count: false,
        }
    }
}

/// Maximum depth of a CALL (r700-4.3).
const MAX_CALLS: u32 = 32;
/// A number of sub-entries that no stack can have: `STACK_SIZE` has eight bits.
const BOTTOMLESS: u32 = 2 * 8 * 255;
/// Limit of the lane states and pairs of them that [`Scalar::new`] examines.
const MAX_STATES: usize = 1 << 19;
/// States of a lane to be expected for each instruction of a program.
const EXPECTED_STATES: usize = 8;
/// Maximum number of states for which there is room from the beginning. A large program may reach few of its instructions.
const MAX_ROOM: usize = 4096;

/// Why a lane of a wavefront need not do what it does alone.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("address {pc}: {why}")]
pub struct NotStructured {
    /// Address of the instruction at which the lane can be led another way.
    pub pc: u32,
    /// What the lane then does, and what it does alone.
    pub why: String,
}

/// The end of a run of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// An instruction with `END_OF_PROGRAM` was executed.
    Done,
    /// An error of r700-6. OVERFLOW does not occur alone: the stack is as large as needed.
    Error(u8),
    /// The limit of executed instructions and passes was exceeded.
    Limit,
    /// The lane loops for ever and executes nothing.
    Silent,
}

/// The run of one lane alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Address and aL of every instruction executed in the sense of r700-3.6, in order.
    pub executed: Vec<(u32, u32)>,
    /// How it ended.
    pub end: End,
    /// PC at the end; after an error, the offending instruction (r700-6).
    pub pc: u32,
    /// Class at the end.
    pub class: Class,
    /// Whether it is valid at the end: launched so and not killed.
    pub valid: bool,
}

/// Class of a lane (r700-3.1), by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// On.
    Active = 0,
    /// Switched off by a conditional.
    Branch = 1,
    /// Switched off by a continue.
    Cont = 2,
    /// Switched off by a break, or not part of the innermost loop.
    Brk = 3,
}

impl Class {
    /// Returns whether a conditional may switch the lane on again.
    fn is_in_pass(self) -> bool {
        matches!(self, Class::Active | Class::Branch)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Alu {
    Plain,
    PushBefore,
    PopAfter,
    Pop2After,
    Continue,
    Break,
    ElseAfter,
}

/// Loop types (r700-3.2, `lt`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LoopType {
    Al,
    NoAl,
    Dx10,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Reserved,
    Alu(Alu),
    Slot,
    Control(Control),
}

/// Instructions that no lane executes: they belong to the wavefront (r700-3.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Control {
    LoopStart(LoopType),
    LoopEnd,
    /// LOOP_BREAK and LOOP_CONTINUE: the class that they give.
    Leave(Class),
    Jump,
    Push,
    PushElse,
    Else,
    Pop,
    Call,
    Return,
    Kill,
}

/// The fields of a CF word (r700-2.2 to r700-2.4).
#[derive(Clone, Copy)]
struct Word {
    op: Op,
    addr: u32,
    pops: u32,
    cf_const: u32,
    cond: u32,
    calls: u32,
    end: bool,
    vpm: bool,
    wqm: bool,
    u: bool,
}

impl Word {
    fn decode(quad: Quad) -> Word {
        let field = |high: u32, low: u32| quad.dw1 >> low & ((1 << (high - low + 1)) - 1);
        if field(29, 29) == 1 {
            let op = match field(29, 26) {
                8 => Op::Alu(Alu::Plain),
                9 => Op::Alu(Alu::PushBefore),
                10 => Op::Alu(Alu::PopAfter),
                11 => Op::Alu(Alu::Pop2After),
                13 => Op::Alu(Alu::Continue),
                14 => Op::Alu(Alu::Break),
                15 => Op::Alu(Alu::ElseAfter),
                _ => Op::Reserved,
            };
            return Word {
                op,
                addr: 0,
                pops: 0,
                cf_const: 0,
                cond: 0,
                calls: 0,
                end: false,
                vpm: false,
                wqm: false,
                u: quad.u,
            };
        }
        let number = field(29, 23);
        let op = match number {
            0..=3 | 19 | 21..=23 | 26..=29 | 32..=40 | 58 => Op::Slot,
            4 => Op::Control(Control::LoopStart(LoopType::Al)),
            5 => Op::Control(Control::LoopEnd),
            6 => Op::Control(Control::LoopStart(LoopType::Dx10)),
            7 => Op::Control(Control::LoopStart(LoopType::NoAl)),
            8 => Op::Control(Control::Leave(Class::Cont)),
            9 => Op::Control(Control::Leave(Class::Brk)),
            10 => Op::Control(Control::Jump),
            11 => Op::Control(Control::Push),
            12 => Op::Control(Control::PushElse),
            13 => Op::Control(Control::Else),
            14 => Op::Control(Control::Pop),
            18 => Op::Control(Control::Call),
            20 => Op::Control(Control::Return),
            24 => Op::Control(Control::Kill),
            _ => Op::Reserved,
        };
        Word {
            op,
            addr: quad.dw0,
            pops: field(2, 0),
            cf_const: field(7, 3),
            // Memory and export words have other fields in these bits.
            cond: if number < 32 { field(9, 8) } else { 0 },
            calls: field(18, 13),
            end: field(21, 21) == 1,
            vpm: field(22, 22) == 1,
            wqm: field(30, 30) == 1,
            u: false,
        }
    }
}

/// The contents of a frame for one lane (r700-3.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Frame {
    /// It was ACTIVE.
    Branch(bool),
    /// Address of the LOOP_START, the lane's class before it, and whether the lane entered or only waits
    /// for others.
    Loop {
        head: u32,
        class: Class,
        entered: bool,
    },
    /// Return address, and the depth of the caller with `CALL_COUNT` added.
    Call { to: u32, depth: u32 },
}

/// A stack: number of its top frame in [`Stacks`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Stack(u32);

impl Stack {
    const EMPTY: Stack = Stack(0);
}

#[derive(Clone, Copy)]
struct Node {
    frame: Frame,
    below: Stack,
    /// Sub-entries in use up to here.
    size: u32,
    /// Branch frames up to here.
    branches: u32,
    /// Call nesting depth.
    depth: u32,
}

/// All existing stacks, each frame kept once: equal stacks have equal numbers.
struct Stacks {
    nodes: Vec<Node>,
    known: FxHashMap<(Frame, Stack), Stack>,
    /// Sub-entries of a loop frame, which is one entry.
    loop_size: u32,
}

impl Stacks {
    fn new(built: Built) -> Self {
        // The frame of the empty stack is never read.
        let bottom = Node {
            frame: Frame::Branch(false),
            below: Stack::EMPTY,
            size: 0,
            branches: 0,
            depth: 0,
        };
        Stacks {
            nodes: vec![bottom],
            known: FxHashMap::default(),
            loop_size: built.subentries,
        }
    }

    fn node(&self, stack: Stack) -> Node {
        self.nodes[stack.0 as usize]
    }

    fn top(&self, stack: Stack) -> Option<(Frame, Stack)> {
        let node = self.node(stack);
        (stack != Stack::EMPTY).then_some((node.frame, node.below))
    }

    fn push(&mut self, below: Stack, frame: Frame) -> Stack {
        if let Some(stack) = self.known.get(&(frame, below)) {
            return *stack;
        }
        let mut node = Node {
            frame,
            below,
            ..self.node(below)
        };
        match frame {
            Frame::Branch(_) => (node.size, node.branches) = (node.size + 1, node.branches + 1),
            Frame::Loop { .. } => node.size += self.loop_size,
            Frame::Call { depth, .. } => (node.size, node.depth) = (node.size + 1, depth),
        }
        let stack = Stack(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert((frame, below), stack);
        stack
    }

    /// Returns the sub-entries that the stack needs (r700-3.4).
    fn needs(&self, stack: Stack) -> u32 {
        let node = self.node(stack);
        node.size + if node.branches > 0 { 2 } else { 0 }
    }

    /// Returns the stack without the branch frames above the innermost loop or call frame.
    fn base(&self, mut stack: Stack) -> Stack {
        while let Some((Frame::Branch(_), below)) = self.top(stack) {
            stack = below;
        }
        stack
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Status {
    Running,
    Done,
    Failed(u8),
}

/// A lane without its loop registers. They do not decide where it goes, as long as the caller says whether
/// a counted loop makes another pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lane {
    pc: u32,
    stack: Stack,
    class: Class,
    valid: bool,
    status: Status,
}

/// The next thing that a lane does alone.
#[derive(Clone, Copy, Debug)]
enum Turn<L = Lane> {
    /// No visible event.
    Moves(L),
    /// It executes the instruction; the lanes after it, by the predicate.
    Executes([L; 2]),
    /// It enters the loop that begins here.
    Enters(L),
    /// It is at the end of a loop that it has entered, and makes another pass or leaves; if both are
    /// possible, `lc` decides.
    EndsPass {
        head: u32,
        again: Option<L>,
        leaves: Option<L>,
    },
    /// It has stopped.
    Stopped,
}

impl Hash for Lane {
    /// Writes all fields as two words: looking up the number of a state is much of a survey's time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let status = match self.status {
            Status::Running => 0,
            Status::Done => 1,
            Status::Failed(code) => 2 + u64::from(code),
        };
        state.write_u64(u64::from(self.pc) << 32 | u64::from(self.stack.0));
        state.write_u64(status << 3 | (self.class as u64) << 1 | u64::from(self.valid));
    }
}

impl<L> Turn<L> {
    /// Returns the same turn with `f` applied to each lane in it.
    fn map<M>(self, mut f: impl FnMut(L) -> M) -> Turn<M> {
        match self {
            Turn::Moves(next) => Turn::Moves(f(next)),
            Turn::Executes(next) => Turn::Executes(next.map(f)),
            Turn::Enters(next) => Turn::Enters(f(next)),
            Turn::EndsPass {
                head,
                again,
                leaves,
            } => Turn::EndsPass {
                head,
                again: again.map(&mut f),
                leaves: leaves.map(f),
            },
            Turn::Stopped => Turn::Stopped,
        }
    }
}

/// Number of a lane's state in [`Known`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Id(u32);

/// A lane's state.
struct Entry {
    lane: Lane,
    /// What it does next, once that was computed.
    step: Option<Step<Id>>,
    /// A lane can have this state in a wavefront.
    met: bool,
    /// The state in which a lane in this state has its next visible event alone, once that was computed: `Some(None)` if it
    /// never has one.
    next: Option<Option<Id>>,
}

/// The states of the lanes of one program that have occurred. What follows a state depends only on the state, and the lanes of
/// a wavefront go through the same states again and again.
struct Known {
    stacks: Stacks,
    ids: FxHashMap<Lane, Id>,
    states: Vec<Entry>,
}

impl Known {
    /// Returns no states; `room` is the number of those to be expected.
    fn new(built: Built, room: usize) -> Self {
        Known {
            stacks: Stacks::new(built),
            ids: FxHashMap::with_capacity_and_hasher(room, Default::default()),
            states: Vec::with_capacity(room),
        }
    }

    fn lane(&self, id: Id) -> Lane {
        self.state(id).lane
    }

    fn state(&self, id: Id) -> &Entry {
        &self.states[id.0 as usize]
    }

    fn state_mut(&mut self, id: Id) -> &mut Entry {
        &mut self.states[id.0 as usize]
    }

    fn id(&mut self, lane: Lane) -> Id {
        *self.ids.entry(lane).or_insert_with(|| {
            self.states.push(Entry {
                lane,
                step: None,
                met: false,
                next: None,
            });
            Id(self.states.len() as u32 - 1)
        })
    }

    /// Returns what the lane in state `id` does next, and where else it may be led.
    fn step(&mut self, machine: &Machine, id: Id) -> Step<Id> {
        let state = self.state(id);
        let lane = state.lane;
        state.step.unwrap_or_else(|| {
            let Step { alone, led } = machine.step(&mut self.stacks, lane);
            let step = Step {
                alone: alone.map(|next| self.id(next)),
                led: led.map(|led| self.id(led)),
            };
            self.state_mut(id).step = Some(step);
            step
        })
    }
}

#[derive(Clone, Copy)]
struct Step<L = Lane> {
    alone: Turn<L>,
    /// Where else the lane can get if other lanes decide where the wavefront goes. The lane has no visible
    /// event on that way.
    led: Option<L>,
}

impl Step {
    fn moves(lane: Lane) -> Step {
        Step {
            alone: Turn::Moves(lane),
            led: None,
        }
    }
}

/// Loop registers (r700-3.2).
#[derive(Clone, Copy, Default)]
struct Loop {
    counts: bool,
    steps: bool,
    lc: u32,
    al: u32,
    inc: u32,
}

impl Loop {
    /// Loads the constant of a LOOP_START of this type; `counts`: such loops have a count.
    fn enter(&mut self, kind: LoopType, counts: bool, constant: u32) {
        self.counts = counts;
        self.steps = kind == LoopType::Al;
        self.lc = if counts { constant & 0xfff } else { 0 };
        if self.steps {
            self.al = constant >> 12 & 0xfff;
            self.inc = (constant >> 24) as u8 as i8 as u32;
        }
    }

    /// Updates the loop registers at a LOOP_END that jumps.
    fn repeat(&mut self) {
        if self.counts {
            self.lc -= 1;
        }
        if self.steps {
            self.al = self.al.wrapping_add(self.inc);
        }
    }
}

/// One lane alone, in a program in which every wavefront leaves its behaviour unchanged.
pub struct Scalar<'p> {
    machine: Machine<'p>,
    start: Id,
    errors: u16,
    skips: bool,
    /// More successive moves than this without an event are an endless loop.
    silent: usize,
    known: RefCell<Known>,
}

impl<'p> Scalar<'p> {
    /// Examines every way that other lanes can lead a lane through `program`; the lane is launched `valid`
    /// or not (r700-3.3).
    ///
    /// # Errors
    ///
    /// [`NotStructured`] names an instruction from which one of these ways makes a difference to the
    /// lane. A program with more ways than the limit is refused as well.
    pub fn new(program: &'p Program, valid: bool) -> Result<Self, NotStructured> {
        Scalar::with(program, valid, Built::default())
    }

    /// Does the same as [`Scalar::new`], for a unit that is `built` with other parameters.
    ///
    /// # Errors
    /// As [`Scalar::new`].
    pub fn with(program: &'p Program, valid: bool, built: Built) -> Result<Self, NotStructured> {
        let machine = Machine::new(program, built);
        let room = (EXPECTED_STATES * program.quads.len()).min(MAX_ROOM);
        let mut survey = Survey {
            machine,
            known: Known::new(built, room),
            met: 0,
            next: 0,
            pairs: FxHashSet::default(),
            errors: 0,
            skips: false,
        };
        let start = survey.known.id(machine.launch(valid));
        survey.explore(start)?;
        Ok(Scalar {
            machine,
            start,
            errors: survey.errors,
            skips: survey.skips,
            silent: survey.met + survey.next,
            known: RefCell::new(survey.known),
        })
    }

    /// Returns a mask with bit c set if a wavefront of this program with such a lane may end in error c (r700-6). Any
    /// other error is a bug of the unit.
    ///
    /// OVERFLOW is included if some nesting needs more than `STACK_SIZE` entries, or more than exist; at run time it
    /// happens only if lanes go there.
    pub fn possible_errors(&self) -> u16 {
        self.errors
    }

    /// Returns whether a CALL may be skipped because of its depth.
    pub fn may_skip(&self) -> bool {
        self.skips
    }

    /// Runs the lane from its launch.
    ///
    /// `predicate(k)` is called at each instruction executed, with the number of those executed before it
    /// (r700-3.6), and returns the predicate of the clause; that of other instructions has no effect.
    ///
    /// Ends with [`End::Limit`] after `most` events; an event is an instruction executed, or a LOOP_START
    /// or LOOP_END of a loop that the lane is in. In a wavefront, too, each of these is a separate
    /// instruction, so a lane has no more events than the wavefront executes instructions.
    pub fn run(&self, most: u64, predicate: &mut dyn FnMut(u64) -> bool) -> Trace {
        let known = &mut *self.known.borrow_mut();
        let mut at = self.start;
        let (mut regs, mut saved) = (Loop::default(), vec![]);
        let mut executed = vec![];
        let (mut events, mut silent) = (0, 0);
        let end = loop {
            let turn = known.step(&self.machine, at).alone;
            if let Turn::Moves(next) = turn {
                if silent > self.silent {
                    break End::Silent;
                }
                silent += 1;
                at = next;
                continue;
            }
            silent = 0;
            let lane = known.lane(at);
            if let Status::Failed(code) = lane.status {
                break End::Error(code);
            }
            if lane.status == Status::Done {
                break End::Done;
            }
            if events == most {
                break End::Limit;
            }
            events += 1;
            at = match turn {
                Turn::Executes(next) => {
                    let bit = predicate(executed.len() as u64);
                    executed.push((lane.pc, regs.al));
                    next[usize::from(bit)]
                }
                Turn::Enters(next) => {
                    saved.push(regs);
                    let word = self.machine.word(lane.pc);
                    if let Op::Control(Control::LoopStart(kind)) = word.op {
                        let counts = self.machine.counts(kind);
                        regs.enter(kind, counts, self.machine.constant(&word));
                    }
                    next
                }
                Turn::EndsPass { again, leaves, .. } => match (again, leaves) {
                    (Some(again), leaves) if leaves.is_none() || regs.lc > 1 => {
                        // A jump that is an error changes nothing.
                        if known.lane(again).status == Status::Running {
                            regs.repeat();
                        }
                        again
                    }
                    (_, leaves) => {
                        regs = saved.pop().unwrap_or_default();
                        leaves.unwrap_or(at)
                    }
                },
                Turn::Moves(_) | Turn::Stopped => at,
            };
        };
        let lane = known.lane(at);
        Trace {
            executed,
            end,
            pc: lane.pc,
            class: lane.class,
            valid: lane.valid,
        }
    }
}

#[cfg(test)]
mod tests;
