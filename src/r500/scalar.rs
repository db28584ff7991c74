//! The third judge: one lane alone, with a program counter, a loop stack and an address stack.
//!
//! There is no mask here, no branch counter and no lane class. The machine runs the words of a
//! program for ONE lane: where that lane wants to jump it jumps, where it does not it goes on. In a
//! structured program (r500-8.1) every lane of a
//! wavefront executes exactly the ALU, TEX and OUT instructions that it executes here, in the same
//! order and with the same aL.
//!
//! Whether a program is structured is decided once, from its words, by [`Scalar::new`]: it follows
//! every path that a wavefront could take and keeps for each address what is open there (branch
//! levels, loops, the subroutine) and where the lanes that wait at each level would go on alone. A
//! program is accepted if all paths agree and every waiting lane wakes at the very address where it
//! would be alone. The forms are those of r500-7.1 with every field that has no effect left free;
//! anything else is [`NotStructured`], never a guess.
//!
//! One word cannot be read alone without that pass. A lane that arrives ACTIVE at an ELSE goes to
//! its target if the jump closes the level (`B_OP1` DECR), but the target of a fused ELSE IF is the
//! inner ELSE part, and the lane goes on behind the ENDIF that closes the level.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::isa::{AOp, BOp, Fc, Op, PredSel};
use super::program::Program;

/// Frames of the loop stack and entries of the address stack (r500-3.2).
const STACK_DEPTH: usize = 4;

const ILLEGAL: u8 = 1;
const PARTIAL: u8 = 2;
const LOOP_UNDERFLOW: u8 = 3;
const LOOP_KIND: u8 = 4;
const LOOP_OVERFLOW: u8 = 5;
const ADDR_OVERFLOW: u8 = 6;
const ADDR_UNDERFLOW: u8 = 7;
const BRANCH_OVERFLOW: u8 = 8;
const PC_RANGE: u8 = 9;

/// Why the lanes of a wavefront need not follow their scalar paths in this program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("address {pc}: {why}")]
pub struct NotStructured {
    /// Absolute address of the instruction.
    pub pc: u16,
    /// The rule of r500-7.1 or r500-8.2 that it breaks.
    pub why: &'static str,
}

/// How a run of one lane ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The instruction at `END_ADDR` was executed.
    Done,
    /// An error of r500-6 that a lane alone can meet: 1 to 7 or 9.
    Error(u8),
    /// `max_steps` instructions were executed.
    StepLimit,
}

/// A frame of the loop stack (r500-3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Opened by REP rather than LOOP.
    pub rep: bool,
    /// Iterations not yet finished, 1..=255.
    pub count: u8,
    /// aL.
    pub al: u8,
}

/// What one lane did alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Absolute address and aL of every ALU, TEX and OUT instruction executed, in order.
    pub executed: Vec<(u16, u8)>,
    /// How it ended.
    pub end: End,
    /// PC at the end: after an error, the offending instruction (r500-6).
    pub pc: u16,
    /// Instructions executed, flow control included.
    pub k: u64,
    /// Loop stack at the end, bottom first.
    pub loops: Vec<Frame>,
    /// Address stack at the end, bottom first.
    pub addrs: Vec<u16>,
}

/// The most that can be in use at once, over all paths (r500-8.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Branch levels: IFs, CALLs with counters and conditional RETURNs that were passed. Limit 32
    /// in full mode, 4 in partial mode; one more is error 8.
    pub branch: usize,
    /// Loop frames. Limit 4; one more is error 5.
    pub loops: usize,
    /// Return addresses. Limit 4; one more is error 6.
    pub calls: usize,
}

impl Depth {
    fn max(self, other: Depth) -> Depth {
        Depth {
            branch: self.branch.max(other.branch),
            loops: self.loops.max(other.loops),
            calls: self.calls.max(other.calls),
        }
    }
}

/// Where a lane that waits at a branch level would be if it ran alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// No lane can be waiting here.
    NoLane,
    /// At this address.
    At(u16),
    /// Behind the ENDIF that closes the level; it was switched off by the `B_ELSE` at this address.
    BehindEnd(u16),
}

/// A construct that is open at some address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Level(Wait),
    /// Address of the LOOP or REP, and whether it is a REP.
    Loop(u16, bool),
}

/// What is open at an address, on every path to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    sub: Option<Sub>,
    open: Vec<Open>,
}

/// Being in a subroutine: what its RETURN has to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sub {
    /// The CALL opened a branch level (`B_OP1` INCR).
    counters: bool,
    /// Conditional RETURNs passed; each has opened a level.
    passed: u8,
}

impl Place {
    fn innermost_loop(&self) -> Option<(usize, u16, bool)> {
        self.open
            .iter()
            .enumerate()
            .rev()
            .find_map(|(i, o)| match *o {
                Open::Loop(at, rep) => Some((i, at, rep)),
                Open::Level(_) => None,
            })
    }

    /// Takes up what another path to the same address found. `None`: the paths contradict each
    /// other. Otherwise whether anything is new.
    fn merge(&mut self, other: &Place) -> Option<bool> {
        if self.sub != other.sub || self.open.len() != other.open.len() {
            return None;
        }
        let mut grown = false;
        for (mine, theirs) in self.open.iter_mut().zip(&other.open) {
            match (*mine, *theirs) {
                (a, b) if a == b => {}
                (Open::Level(_), Open::Level(Wait::NoLane)) => {}
                (Open::Level(Wait::NoLane), Open::Level(_)) => {
                    *mine = *theirs;
                    grown = true;
                }
                _ => return None,
            }
        }
        Some(grown)
    }

    fn depth(&self) -> Depth {
        let loops = self
            .open
            .iter()
            .filter(|o| matches!(o, Open::Loop(..)))
            .count();
        let base = self
            .sub
            .map_or(0, |s| usize::from(s.counters) + usize::from(s.passed));
        Depth {
            branch: self.open.len() - loops + base,
            loops,
            calls: 0,
        }
    }
}

/// Everything known about a loop, by the address of its LOOP or REP.
#[derive(Default)]
struct LoopEnds {
    ends: BTreeSet<u16>,
    /// BREAK and its target.
    breaks: BTreeSet<(u16, u16)>,
    /// CONTINUE and its target.
    continues: BTreeSet<(u16, u16)>,
}

/// Which successors an instruction has.
enum Edge {
    To(u16, Place),
    /// ENDLOOP or ENDREP loops back: the one cycle that a frame counts.
    Back(u16, Place),
    Call(u16, Place),
}

/// What an FC instruction can decide, over all lanes.
#[derive(Clone, Copy)]
struct Wants {
    stay: bool,
    jump: bool,
}

impl Wants {
    /// Lanes can disagree.
    fn differ(self) -> bool {
        self.stay && self.jump
    }
}

type Step<T> = Result<T, NotStructured>;

/// The static pre-pass over one program.
struct Survey<'p> {
    program: &'p Program,
    places: BTreeMap<u16, Place>,
    /// The most open before or behind the instruction at each address.
    depths: BTreeMap<u16, Depth>,
    loops: BTreeMap<u16, LoopEnds>,
    /// `B_ELSE` with a level that stays open: where its lanes go on.
    behind: BTreeMap<u16, Option<u16>>,
    /// Bit c: some path ends in error c without any lane's doing.
    errors: u16,
    k_differs: bool,
}

impl Survey<'_> {
    fn in_window(&self, pc: u16) -> bool {
        let (low, high) = window(self.program);
        (low..=high).contains(&pc)
    }

    fn wants(&self, fc: &Fc) -> Wants {
        let mut wants = Wants {
            stay: false,
            jump: false,
        };
        for bits in [0, 1, 0x1e, 0x1f] {
            match wants_to_jump(self.program, fc, bits) {
                true => wants.jump = true,
                false => wants.stay = true,
            }
        }
        wants
    }

    /// `amount` branch levels close and their lanes wake at `wake`.
    ///
    /// `passable`: the instruction at `pc` never jumps. Then lanes that would be at this very
    /// instruction alone are right too: alone they execute it, here they wake behind it.
    fn close(
        &mut self,
        pc: u16,
        place: &mut Place,
        amount: u8,
        wake: u16,
        passable: bool,
    ) -> Step<()> {
        for _ in 0..amount {
            match place.open.pop() {
                Some(Open::Level(Wait::NoLane)) => {}
                Some(Open::Level(Wait::At(at))) if at == wake => {}
                Some(Open::Level(Wait::At(at))) if at == pc && passable => self.k_differs = true,
                Some(Open::Level(Wait::At(_))) => {
                    return no(
                        pc,
                        "wakes lanes elsewhere than where their jump would have led",
                    );
                }
                Some(Open::Level(Wait::BehindEnd(by))) => {
                    let known = self.behind.entry(by).or_default();
                    if known.is_some_and(|k| k != wake) {
                        return no(by, "the lanes this ELSE switches off wake at two addresses");
                    }
                    *known = Some(wake);
                }
                Some(Open::Loop(..)) | None => {
                    return no(pc, "closes more branch levels than are open here");
                }
            }
        }
        Ok(())
    }

    /// The branch operation of a stay. `leavers`: the target of lanes that disagree, if there can
    /// be such lanes.
    fn stay(&mut self, pc: u16, place: &mut Place, fc: &Fc, leavers: Option<u16>) -> Step<()> {
        match fc.inst.b_op0 {
            BOp::Incr => {
                place
                    .open
                    .push(Open::Level(leavers.map_or(Wait::NoLane, Wait::At)));
                Ok(())
            }
            _ if leavers.is_some() => no(pc, "carries lanes along that want to jump"),
            BOp::Decr => {
                let passable = fc.inst.op == Op::Jump && !self.wants(fc).jump;
                self.close(pc, place, fc.inst.b_pop_cnt, pc + 1, passable)
            }
            _ => Ok(()),
        }
    }

    /// The branch operation of a jump with which every lane agrees.
    fn jump(&mut self, pc: u16, place: &mut Place, fc: &Fc, target: u16) -> Step<()> {
        match fc.inst.b_op1 {
            BOp::Incr => place.open.push(Open::Level(Wait::NoLane)),
            BOp::Decr => self.close(pc, place, fc.inst.b_pop_cnt, target, false)?,
            _ => {}
        }
        Ok(())
    }

    /// The successors of the instruction at `pc`, reached with `place` open.
    fn edges(&mut self, pc: u16, place: &Place) -> Step<Vec<Edge>> {
        let Some(fc) = Fc::decode(self.program.slot(pc)) else {
            return Ok(vec![Edge::To(pc + 1, place.clone())]);
        };
        let regs = &self.program.regs;
        // Errors that need no decision happen whenever the wavefront gets here, with active lanes or without.
        if is_illegal(&fc) {
            self.errors |= 1 << ILLEGAL;
            return Ok(vec![]);
        }
        let op = fc.inst.op;
        if !regs.full() && (op != Op::Jump || fc.inst.a_op != AOp::None) {
            self.errors |= 1 << PARTIAL;
            return Ok(vec![]);
        }
        if matches!(
            op,
            Op::EndLoop | Op::EndRep | Op::BreakLoop | Op::BreakRep | Op::Continue
        ) {
            return self.loop_edges(pc, place, &fc);
        }
        match (op, fc.inst.a_op) {
            (Op::Jump, AOp::Push) => self.call_edges(pc, place, &fc),
            (Op::Jump, AOp::Pop) => self.return_edges(pc, place, &fc),
            (Op::Jump, _) if fc.inst.b_else => self.else_edges(pc, place, &fc),
            (_, AOp::None) if !fc.inst.b_else => self.if_edges(pc, place, &fc),
            _ => no(pc, "a loop instruction with B_ELSE or A_OP"),
        }
    }

    /// JUMP, LOOP and REP.
    fn if_edges(&mut self, pc: u16, place: &Place, fc: &Fc) -> Step<Vec<Edge>> {
        let target = target(self.program, fc);
        let begins = matches!(fc.inst.op, Op::Loop | Op::Rep);
        let wants = match begins && constant(self.program, fc).0 == 0 {
            true => Wants {
                stay: false,
                jump: true,
            },
            false => self.wants(fc),
        };
        // The count override asks no lane, so "no voter" cannot change it.
        let asks = !(begins && constant(self.program, fc).0 == 0);
        let any = fc.inst.jump_any;
        if wants.differ() && any {
            return no(pc, "JUMP_ANY takes lanes along that want to stay");
        }
        let mut edges = vec![];
        if wants.stay || any && asks {
            let mut next = place.clone();
            self.stay(pc, &mut next, fc, wants.differ().then_some(target))?;
            if begins {
                next.open.push(Open::Loop(pc, fc.inst.op == Op::Rep));
                self.loops.entry(pc).or_default();
            }
            edges.push(Edge::To(pc + 1, next));
        }
        if wants.jump || !any {
            let mut next = place.clone();
            self.jump(pc, &mut next, fc, target)?;
            edges.push(Edge::To(target, next));
        }
        Ok(edges)
    }

    /// ELSE, also fused with an IF.
    fn else_edges(&mut self, pc: u16, place: &Place, fc: &Fc) -> Step<Vec<Edge>> {
        let Some(&Open::Level(waiting)) = place.open.last() else {
            return no(pc, "B_ELSE with no IF open inside this loop or subroutine");
        };
        if fc.inst.jump_any {
            return no(
                pc,
                "B_ELSE with JUMP_ANY: lanes switched off vote for those switched on",
            );
        }
        let target = target(self.program, fc);
        let wants = self.wants(fc);
        match waiting {
            Wait::NoLane => {}
            Wait::At(at) if at == pc + 1 && !wants.jump => {}
            Wait::At(at) if self.repeats_test(at, fc, pc, target) => self.k_differs = true,
            _ => {
                return no(
                    pc,
                    "the lanes this ELSE switches on would be elsewhere alone",
                );
            }
        }
        let closes = fc.inst.b_op1 == BOp::Decr && fc.inst.b_pop_cnt > 0;
        let off = if closes {
            Wait::At(target)
        } else {
            self.behind.entry(pc).or_default();
            Wait::BehindEnd(pc)
        };
        let mut swapped = place.clone();
        swapped.open.pop();
        swapped.open.push(Open::Level(off));
        let mut edges = vec![];
        if wants.stay {
            if fc.inst.b_op0 == BOp::Decr {
                return no(pc, "B_ELSE wakes at once the lanes that it switches off");
            }
            let mut next = swapped.clone();
            self.stay(pc, &mut next, fc, wants.jump.then_some(target))?;
            edges.push(Edge::To(pc + 1, next));
        }
        self.jump(pc, &mut swapped, fc, target)?;
        edges.push(Edge::To(target, swapped));
        Ok(edges)
    }

    /// Whether the code at `at` is a plain IF that repeats the test of the fused ELSE IF at `pc`:
    /// same condition, same target, and otherwise a jump to the instruction behind it (r500-7.1).
    fn repeats_test(&self, at: u16, fused: &Fc, pc: u16, fused_target: u16) -> bool {
        let plain = |at: u16| {
            Fc::decode(self.program.slot(at)).filter(|fc| {
                self.in_window(at)
                    && fc.inst.op == Op::Jump
                    && !fc.inst.b_else
                    && !fc.inst.jump_any
                    && fc.inst.a_op == AOp::None
                    && !is_illegal(fc)
            })
        };
        let (Some(test), Some(on)) = (plain(at), plain(at + 1)) else {
            return false;
        };
        let same_wants = (0..32).all(|bits| {
            wants_to_jump(self.program, &test, bits) == wants_to_jump(self.program, fused, bits)
        });
        let always = self.wants(&on);
        same_wants
            && target(self.program, &test) == fused_target
            && !always.stay
            && on.inst.b_op1 == BOp::None
            && target(self.program, &on) == pc + 1
    }

    /// Instructions that need a frame.
    fn loop_edges(&mut self, pc: u16, place: &Place, fc: &Fc) -> Step<Vec<Edge>> {
        let op = fc.inst.op;
        let Some((index, head, rep)) = place.innermost_loop() else {
            if place.sub.is_some() {
                return no(pc, "belongs to a loop that this subroutine did not open");
            }
            self.errors |= 1 << LOOP_UNDERFLOW;
            return Ok(vec![]);
        };
        if op != Op::Continue && rep != matches!(op, Op::EndRep | Op::BreakRep) {
            self.errors |= 1 << LOOP_KIND;
            return Ok(vec![]);
        }
        if fc.inst.b_else || fc.inst.a_op != AOp::None {
            return no(pc, "a loop instruction with B_ELSE or A_OP");
        }
        let target = target(self.program, fc);
        let wants = self.wants(fc);
        let can_jump = wants.jump || !fc.inst.jump_any;
        let levels = place.open.len() - 1 - index;
        let ends = self.loops.entry(head).or_default();

        if matches!(op, Op::EndLoop | Op::EndRep) {
            if levels > 0 {
                return no(pc, "the loop ends inside an IF that was opened in it");
            }
            if wants.differ() {
                return no(
                    pc,
                    "lanes disagree about another pass, and nothing records who left",
                );
            }
            ends.ends.insert(pc);
            let mut edges = vec![];
            if can_jump {
                if fc.inst.b_op1 != BOp::None {
                    return no(pc, "opens or closes a branch level in every pass");
                }
                edges.push(Edge::Back(target, place.clone()));
            }
            let mut next = place.clone();
            next.open.pop();
            if fc.inst.b_op0 == BOp::Incr {
                return no(pc, "opens a branch level at the end of a loop");
            }
            self.stay(pc, &mut next, fc, None)?;
            edges.push(Edge::To(pc + 1, next));
            return Ok(edges);
        }

        if wants.differ() && fc.inst.jump_any {
            return no(pc, "JUMP_ANY takes lanes along that want to stay");
        }
        if fc.inst.b_op0 != BOp::None {
            return no(pc, "BREAK or CONTINUE with a branch operation on the stay");
        }
        // Lanes that are off hold the jump back, so that code behind is always passed through.
        let mut edges = vec![Edge::To(pc + 1, place.clone())];
        if can_jump {
            let pops = match fc.inst.b_op1 {
                BOp::None => 0,
                BOp::Decr => fc.inst.b_pop_cnt,
                _ => return no(pc, "BREAK or CONTINUE that opens a branch level"),
            };
            // No lane of the program waits inside the loop when the unit jumps; uncovered ones may
            // (r500-4.2), and their levels have to close as well.
            let Some(outside) = usize::from(pops).checked_sub(levels) else {
                return no(pc, "leaves branch levels of the loop open");
            };
            let mut next = place.clone();
            if op == Op::Continue {
                if outside > 0 {
                    return no(pc, "closes more branch levels than are open here");
                }
                ends.continues.insert((pc, target));
                next.open.truncate(index + 1);
            } else {
                ends.breaks.insert((pc, target));
                next.open.truncate(index);
                self.close(pc, &mut next, outside as u8, target, false)?;
            }
            edges.push(Edge::To(target, next));
        }
        Ok(edges)
    }

    fn call_edges(&mut self, pc: u16, place: &Place, fc: &Fc) -> Step<Vec<Edge>> {
        if fc.inst.b_else {
            return no(pc, "CALL with B_ELSE");
        }
        if !fc.inst.jump_any {
            return no(
                pc,
                "CALL without JUMP_ANY: lanes that call wait for all to agree",
            );
        }
        if fc.inst.b_op0 != BOp::None || fc.inst.b_op1 == BOp::Decr {
            return no(
                pc,
                "CALL that closes a level, or opens one if no lane calls",
            );
        }
        let counters = fc.inst.b_op1 == BOp::Incr;
        let wants = self.wants(fc);
        if wants.differ() && !counters {
            return no(
                pc,
                "conditional CALL without counters takes all lanes along",
            );
        }
        let mut edges = vec![Edge::To(pc + 1, place.clone())];
        if wants.jump {
            let sub = Some(Sub {
                counters,
                passed: 0,
            });
            edges.push(Edge::Call(
                target(self.program, fc),
                Place { sub, open: vec![] },
            ));
        }
        Ok(edges)
    }

    fn return_edges(&mut self, pc: u16, place: &Place, fc: &Fc) -> Step<Vec<Edge>> {
        let wants = self.wants(fc);
        let any = fc.inst.jump_any;
        let Some(sub) = place.sub else {
            if !wants.stay && !any && !fc.inst.b_else {
                self.errors |= 1 << ADDR_UNDERFLOW;
                return Ok(vec![]);
            }
            return no(pc, "conditional RETURN outside a subroutine");
        };
        if fc.inst.b_else {
            return no(pc, "RETURN with B_ELSE");
        }
        if !place.open.is_empty() {
            return no(pc, "RETURN inside a dynamic IF or a loop");
        }
        if wants.differ() && any {
            return no(pc, "JUMP_ANY takes lanes along that want to stay");
        }
        if wants.jump || !any {
            let pops = match fc.inst.b_op1 {
                BOp::None => 0,
                BOp::Decr => fc.inst.b_pop_cnt,
                _ => return no(pc, "RETURN that opens a branch level"),
            };
            if pops != u8::from(sub.counters) + sub.passed {
                return no(
                    pc,
                    "RETURN does not close the levels of its CALL and of the RETURNs passed",
                );
            }
        }
        if !wants.stay && !any {
            return Ok(vec![]);
        }
        let passed = match fc.inst.b_op0 {
            BOp::Incr => sub.passed + 1,
            BOp::None if !wants.differ() => sub.passed,
            _ => {
                return no(
                    pc,
                    "conditional RETURN that does not switch the returned lanes off",
                );
            }
        };
        // 31 is the most that a RETURN can close.
        if passed > 31 {
            return no(pc, "more conditional RETURNs than one RETURN can close");
        }
        let sub = Some(Sub { passed, ..sub });
        Ok(vec![Edge::To(pc + 1, Place { sub, open: vec![] })])
    }

    /// Follows every path from the first instruction.
    fn walk(&mut self) -> Step<BTreeMap<u16, Vec<(u16, bool)>>> {
        let start = start(self.program);
        // Successors within a routine; true: a loop's way back.
        let mut successors: BTreeMap<u16, Vec<(u16, bool)>> = BTreeMap::new();
        let mut work = vec![];
        let first = Place {
            sub: None,
            open: vec![],
        };
        if self.in_window(start) {
            self.places.insert(start, first);
            work.push(start);
        } else {
            self.errors |= 1 << PC_RANGE;
        }
        while let Some(pc) = work.pop() {
            let place = self.places[&pc].clone();
            let is_end = pc == end(self.program);
            if is_end && (place.sub.is_some() || !place.open.is_empty()) {
                return no(
                    pc,
                    "the program ends inside a construct, lanes may be waiting",
                );
            }
            let edges = self.edges(pc, &place)?;
            let mut next = vec![];
            for edge in edges {
                let (to, place, back) = match edge {
                    Edge::To(to, place) => (to, place, Some(false)),
                    Edge::Back(to, place) => (to, place, Some(true)),
                    Edge::Call(to, place) => (to, place, None),
                };
                let deepest = self.depths.entry(pc).or_default();
                *deepest = deepest.max(place.depth());
                if is_end && (place.sub.is_some() || !place.open.is_empty()) {
                    return no(pc, "the last instruction of the program opens a construct");
                }
                // Going on behind END_ADDR is not a fetch, but a taken jump is checked even there.
                let jumped = Fc::decode(self.program.slot(pc)).map(|fc| target(self.program, &fc));
                let passed_end = is_end && to == pc + 1 && jumped != Some(to);
                if !passed_end && !self.in_window(to) {
                    self.errors |= 1 << PC_RANGE;
                    continue;
                }
                if is_end {
                    continue;
                }
                if let Some(back) = back {
                    next.push((to, back));
                }
                match self.places.get_mut(&to) {
                    None => {
                        self.places.insert(to, place);
                        work.push(to);
                    }
                    Some(known) => match known.merge(&place) {
                        None => return no(to, "two ways here leave different constructs open"),
                        Some(true) => work.push(to),
                        Some(false) => {}
                    },
                }
            }
            successors.insert(pc, next);
        }
        Ok(successors)
    }

    /// Every BREAK leads behind the one ENDLOOP of its loop, every CONTINUE to it.
    fn check_loops(&self) -> Step<()> {
        for ends in self.loops.values() {
            let end = ends.ends.first().copied().filter(|_| ends.ends.len() == 1);
            for &(pc, target) in &ends.breaks {
                if end.is_none_or(|e| e + 1 != target) {
                    return no(pc, "BREAK does not lead behind the end of its loop");
                }
            }
            for &(pc, target) in &ends.continues {
                if end != Some(target) {
                    return no(pc, "CONTINUE does not lead to the end of its loop");
                }
            }
        }
        Ok(())
    }
}

/// A cycle of jumps that no frame counts. With no lane ACTIVE a wavefront could be caught in it
/// (`JUMP_ANY` = 0 jumps without a voter) while each of its lanes is long outside.
fn check_no_uncounted_cycle(successors: &BTreeMap<u16, Vec<(u16, bool)>>) -> Step<()> {
    let forward = |pc: u16| {
        let list = successors.get(&pc).map_or(&[][..], Vec::as_slice);
        list.iter().filter(|(_, back)| !back).map(|&(to, _)| to)
    };
    let mut entries: BTreeMap<u16, usize> = successors.keys().map(|&pc| (pc, 0)).collect();
    for &pc in successors.keys() {
        for to in forward(pc) {
            *entries.entry(to).or_default() += 1;
        }
    }
    let mut ready: Vec<u16> = entries
        .iter()
        .filter(|(_, n)| **n == 0)
        .map(|(pc, _)| *pc)
        .collect();
    while let Some(pc) = ready.pop() {
        entries.remove(&pc);
        for to in forward(pc) {
            if let Some(n) = entries.get_mut(&to) {
                *n -= 1;
                if *n == 0 {
                    ready.push(to);
                }
            }
        }
    }
    match entries.keys().next() {
        Some(&pc) => no(pc, "a cycle of jumps without a loop"),
        None => Ok(()),
    }
}

fn no<T>(pc: u16, why: &'static str) -> Step<T> {
    Err(NotStructured { pc, why })
}

fn start(program: &Program) -> u16 {
    program.regs.offset() + program.regs.start()
}

fn end(program: &Program) -> u16 {
    program.regs.offset() + program.regs.end()
}

/// First and last address of the code window (r500-O32).
fn window(program: &Program) -> (u16, u16) {
    let range = program.regs.code_range;
    let low = (range & 0x1ff) as u16;
    let size = (range >> 16 & 0x1ff) as u16;
    (low, (low + size).min(511))
}

/// Target of a jump that is not a RETURN (r500-2.4).
fn target(program: &Program, fc: &Fc) -> u16 {
    let base = if fc.addr.jump_global {
        0
    } else {
        program.regs.offset()
    };
    base + fc.addr.jump_addr
}

/// Count, init and step of the integer constant that `fc` names (r500-2.5).
fn constant(program: &Program, fc: &Fc) -> (u8, u8, u8) {
    let [kr, kg, kb, _] = program.regs.int_const[usize::from(fc.addr.int_addr)].to_le_bytes();
    (kr, kg, kb)
}

fn is_illegal(fc: &Fc) -> bool {
    fc.inst.a_op == AOp::Reserved
        || fc.inst.b_op0 == BOp::Reserved
        || fc.inst.b_op1 == BOp::Reserved
        || matches!(
            fc.cmn.pred_sel,
            PredSel::Rgba | PredSel::Reserved6 | PredSel::Reserved7
        )
}

/// `JUMP_FUNC` for a lane with these condition bits: 0 ALU result, 1 to 4 predicates R, G, B, A
/// (r500-2.3, r500-O23).
fn wants_to_jump(program: &Program, fc: &Fc, conditions: u16) -> bool {
    let selected = match fc.cmn.pred_sel {
        PredSel::R => conditions >> 1,
        PredSel::G => conditions >> 2,
        PredSel::B => conditions >> 3,
        PredSel::A => conditions >> 4,
        _ => 1,
    };
    let predicate = selected & 1 ^ u16::from(fc.cmn.pred_inv);
    let boolean = (program.regs.bool_const >> fc.addr.bool_addr & 1) as u16;
    let index = (conditions & 1) << 2 | predicate << 1 | boolean;
    fc.inst.jump_func >> index & 1 == 1
}

/// One lane alone in a structured program.
pub struct Scalar<'p> {
    program: &'p Program,
    /// Where a lane that arrives ACTIVE at a `B_ELSE` which leaves its level open goes on.
    behind: BTreeMap<u16, u16>,
    depth: Option<Depth>,
    errors: u16,
    k_differs: bool,
}

impl<'p> Scalar<'p> {
    /// Reads the structure of `program` from its words.
    ///
    /// # Errors
    ///
    /// [`NotStructured`] names the first instruction found that is none of the statements of spec
    /// 7.1, or that is one of them in the wrong place. Programs that end in an error of r500-6 by
    /// themselves, for example a BREAK with no loop open, are accepted: a lane alone meets that
    /// error too.
    pub fn new(program: &'p Program) -> Result<Self, NotStructured> {
        let mut survey = Survey {
            program,
            places: BTreeMap::new(),
            depths: BTreeMap::new(),
            loops: BTreeMap::new(),
            behind: BTreeMap::new(),
            errors: 0,
            k_differs: false,
        };
        let successors = survey.walk()?;
        survey.check_loops()?;
        check_no_uncounted_cycle(&successors)?;
        let mut behind = BTreeMap::new();
        for (&pc, &wake) in &survey.behind {
            match wake {
                Some(wake) => behind.insert(pc, wake),
                None => return no(pc, "no ENDIF closes the level of this ELSE"),
            };
        }
        let depth = depth(
            &survey,
            &successors,
            start(program),
            &mut vec![],
            &mut BTreeMap::new(),
        );
        let branch_limit = if program.regs.full() { 32 } else { 4 };
        let mut errors = survey.errors;
        // A recursion has no depth of its own; the address stack ends it at some level or other.
        if depth.is_none_or(|d| d.loops > STACK_DEPTH) {
            errors |= 1 << LOOP_OVERFLOW;
        }
        if depth.is_none_or(|d| d.calls > STACK_DEPTH) {
            errors |= 1 << ADDR_OVERFLOW;
        }
        if depth.is_none_or(|d| d.branch > branch_limit) {
            errors |= 1 << BRANCH_OVERFLOW;
        }
        let k_differs = survey.k_differs;
        Ok(Scalar {
            program,
            behind,
            depth,
            errors,
            k_differs,
        })
    }

    /// The most branch levels, loops and calls that any path has open at once; `None` if a
    /// subroutine can call itself.
    pub fn depth(&self) -> Option<Depth> {
        self.depth
    }

    /// Bit c is set if a wavefront of this program may end with error c (r500-6). Any other error
    /// is a bug of the unit. A wavefront that does end in an error has executed for each lane a
    /// prefix of what the lane executes alone.
    ///
    /// Codes 5, 6 and 8 are set if the deepest nesting exceeds a limit (r500-8.2), which happens at
    /// run time only if lanes go there.
    pub fn possible_errors(&self) -> u16 {
        self.errors
    }

    /// Whether the number of flow-control instructions that a lane executes, and so its k, depends
    /// on the other lanes.
    ///
    /// True if an ELSE is fused with another IF (r500-7.1): alone a lane goes through the copy of
    /// the test out of line, with others it wakes at the fused word. Also true if an IF jumps *to*
    /// its ENDIF, which is executed alone but not by lanes that it wakes. Conditions that are a
    /// function of k must then be recorded and played back by the count of executed non-FC
    /// instructions. In every other structured program k is the same alone and in a wavefront, if
    /// an instruction counts for a lane that is ACTIVE before it, and an ENDLOOP or ENDREP also for
    /// the continued lanes it returns (r500-4.1-e).
    pub fn k_depends_on_others(&self) -> bool {
        self.k_differs
    }

    /// Runs one lane from the first instruction, for at most `max_steps` instructions.
    ///
    /// `conditions(k, pc, al)` is called for each ALU, TEX or OUT instruction executed, with the number
    /// of instructions executed before it, its address and aL, and gives the condition bits it leaves:
    /// bit 0 the ALU result, bits 1 to 4 the predicates R, G, B, A. All are 0 before the first; any FC
    /// instruction clears the ALU result (r500-O24), predicates persist.
    pub fn run(&self, max_steps: u64, conditions: &mut dyn FnMut(u64, u16, u8) -> u16) -> Trace {
        let (low, high) = window(self.program);
        let last = end(self.program);
        let mut drawn = 0;
        let mut lane = Trace {
            executed: vec![],
            end: End::StepLimit,
            pc: start(self.program),
            k: 0,
            loops: vec![],
            addrs: vec![],
        };
        while lane.k < max_steps {
            if !(low..=high).contains(&lane.pc) {
                lane.end = End::Error(PC_RANGE);
                break;
            }
            let pc = lane.pc;
            match Fc::decode(self.program.slot(pc)) {
                None => {
                    let al = lane.loops.last().map_or(0, |f| f.al);
                    lane.executed.push((pc, al));
                    drawn = conditions(lane.k, pc, al);
                    lane.pc += 1;
                }
                Some(fc) => {
                    if let Err(code) = self.flow(&mut lane, &fc, drawn) {
                        lane.end = End::Error(code);
                        break;
                    }
                    drawn &= !1;
                }
            }
            lane.k += 1;
            if pc == last {
                lane.end = End::Done;
                break;
            }
        }
        lane
    }

    /// One flow-control instruction, or the lowest code of the errors it meets.
    fn flow(&self, lane: &mut Trace, fc: &Fc, drawn: u16) -> Result<(), u8> {
        let op = fc.inst.op;
        if is_illegal(fc) {
            return Err(ILLEGAL);
        }
        if !self.program.regs.full() && (op != Op::Jump || fc.inst.a_op != AOp::None) {
            return Err(PARTIAL);
        }
        let top = lane.loops.last().copied();
        let frame = match op {
            Op::Jump | Op::Loop | Op::Rep => None,
            _ => Some(top.ok_or(LOOP_UNDERFLOW)?),
        };
        if frame.is_some_and(|f| match op {
            Op::EndLoop | Op::BreakLoop => f.rep,
            Op::EndRep | Op::BreakRep => !f.rep,
            _ => false,
        }) {
            return Err(LOOP_KIND);
        }

        let (count, init, step) = constant(self.program, fc);
        let left = frame.map_or(0, |f| f.count - 1);
        let jumps = match op {
            Op::Loop | Op::Rep if count == 0 => true,
            Op::EndLoop | Op::EndRep if left == 0 => false,
            _ => fc.inst.b_else || wants_to_jump(self.program, fc, drawn),
        };

        let begins = matches!(op, Op::Loop | Op::Rep) && !jumps;
        if begins && lane.loops.len() == STACK_DEPTH {
            return Err(LOOP_OVERFLOW);
        }
        let mut next = lane.pc + 1;
        if jumps {
            next = match fc.inst.a_op {
                AOp::Push if lane.addrs.len() == STACK_DEPTH => return Err(ADDR_OVERFLOW),
                AOp::Pop => *lane.addrs.last().ok_or(ADDR_UNDERFLOW)?,
                _ => match self.behind.get(&lane.pc) {
                    Some(&behind) => behind,
                    None => target(self.program, fc),
                },
            };
            let (low, high) = window(self.program);
            if !(low..=high).contains(&next) {
                return Err(PC_RANGE);
            }
            match fc.inst.a_op {
                AOp::Push => lane.addrs.push(lane.pc + 1),
                AOp::Pop => drop(lane.addrs.pop()),
                _ => {}
            }
        }

        if begins {
            let outer = top.map_or(0, |f| f.al);
            let rep = op == Op::Rep;
            lane.loops.push(Frame {
                rep,
                count,
                al: if rep { outer } else { init },
            });
        }
        match (op, jumps) {
            (Op::EndLoop | Op::EndRep, false) | (Op::BreakLoop | Op::BreakRep, true) => {
                lane.loops.pop();
            }
            (Op::EndLoop | Op::EndRep, true) => {
                if let Some(f) = lane.loops.last_mut() {
                    f.count = left;
                    if op == Op::EndLoop {
                        f.al = f.al.wrapping_add(step);
                    }
                }
            }
            _ => {}
        }
        lane.pc = next;
        Ok(())
    }
}

/// Deepest nesting from `entry` on, called subroutines included; `None`: a recursion.
fn depth(
    survey: &Survey,
    successors: &BTreeMap<u16, Vec<(u16, bool)>>,
    entry: u16,
    callers: &mut Vec<u16>,
    known: &mut BTreeMap<u16, Depth>,
) -> Option<Depth> {
    if let Some(&depth) = known.get(&entry) {
        return Some(depth);
    }
    if callers.contains(&entry) {
        return None;
    }
    callers.push(entry);
    let mut deepest = Depth::default();
    let mut seen = BTreeSet::from([entry]);
    let mut work = vec![entry];
    while let Some(pc) = work.pop() {
        let here = survey.places.get(&pc).map(Place::depth).unwrap_or_default();
        let behind = survey.depths.get(&pc).copied().unwrap_or_default();
        deepest = deepest.max(here).max(behind);
        if let Some(fc) = Fc::decode(survey.program.slot(pc))
            && fc.inst.op == Op::Jump
            && fc.inst.a_op == AOp::Push
            && survey.wants(&fc).jump
        {
            let inner = depth(
                survey,
                successors,
                target(survey.program, &fc),
                callers,
                known,
            )?;
            deepest = deepest.max(Depth {
                branch: here.branch + inner.branch,
                loops: here.loops + inner.loops,
                calls: inner.calls + 1,
            });
        }
        for &(to, _) in successors.get(&pc).map_or(&[][..], Vec::as_slice) {
            if seen.insert(to) {
                work.push(to);
            }
        }
    }
    callers.pop();
    known.insert(entry, deepest);
    Some(deepest)
}

#[cfg(test)]
mod tests {
    use super::super::asm::{Cond, Line, Stmt, Targets, expand};
    use super::super::program::{Registers, Slot};
    use super::*;

    const IF_ELSE: u32 = 0x0a00_0f00;
    const IF: u32 = 0x0200_0f00;
    const ELSE: u32 = 0x0401_0010;
    const ENDIF: u32 = 0x0101_0020;
    const JUMP: u32 = 0x0000_ff00;
    const LOOP: u32 = 0x0000_0021;
    const REP: u32 = 0x0000_0023;
    const ENDLOOP: u32 = 0x0000_ff22;
    const ENDREP: u32 = 0x0000_ff24;
    const CALL: u32 = 0x0800_ffa0;
    const CALL_IF: u32 = 0x0800_f0a0;
    const RETURN: u32 = 0x0401_ff40;
    const RETURN_IF: u32 = 0x0601_f040;

    /// Words of the examples in r500-7; 0 is an ALU or OUT instruction.
    fn program(words: &[(u32, u32)]) -> Program {
        let slots: Vec<Slot> = words
            .iter()
            .map(|&(inst, addr)| Slot {
                cmn: if inst == 0 { 0 } else { 0x402 },
                inst,
                addr,
                ..Slot::default()
            })
            .collect();
        let mut regs = Registers {
            code_addr: (words.len() as u32 - 1) << 16,
            ..Registers::default()
        };
        regs.int_const[0] = 0x0001_0701;
        regs.int_const[1] = 2;
        regs.int_const[5] = 0x00fe_0a03;
        Program {
            name: "test".to_owned(),
            regs,
            slots,
            ..Program::default()
        }
    }

    const A: (u32, u32) = (0, 0);

    fn to(inst: u32, target: u32) -> (u32, u32) {
        (inst, target << 16)
    }

    /// Runs a lane whose nth ALU instruction gives `results[n]`.
    fn lane(program: &Program, results: &[u16]) -> Trace {
        let scalar = Scalar::new(program).expect("structured");
        let mut n = 0;
        scalar.run(1000, &mut |_, _, _| {
            n += 1;
            results.get(n - 1).copied().unwrap_or(0)
        })
    }

    fn pcs(trace: &Trace) -> Vec<u16> {
        assert_eq!(trace.end, End::Done);
        assert!(trace.loops.is_empty() && trace.addrs.is_empty());
        trace.executed.iter().map(|e| e.0).collect()
    }

    fn if_else() -> Program {
        program(&[A, to(IF_ELSE, 4), A, to(ELSE, 6), A, to(ENDIF, 6), A])
    }

    #[test]
    fn spec_7_3_if_else() {
        let p = if_else();
        assert_eq!(pcs(&lane(&p, &[1])), [0, 2, 6]);
        assert_eq!(pcs(&lane(&p, &[0])), [0, 4, 6]);
        // A lane that enters executes IF and ELSE, one that does not IF and ENDIF.
        assert_eq!((lane(&p, &[1]).k, lane(&p, &[0]).k), (5, 5));
        let scalar = Scalar::new(&p).expect("structured");
        assert_eq!(
            scalar.depth(),
            Some(Depth {
                branch: 1,
                loops: 0,
                calls: 0
            })
        );
        assert_eq!(
            (scalar.possible_errors(), scalar.k_depends_on_others()),
            (0, false)
        );
    }

    #[test]
    fn spec_7_4_nested_if() {
        let p = program(&[
            A,
            to(IF, 9),
            A,
            to(IF_ELSE, 6),
            A,
            to(ELSE, 8),
            A,
            to(ENDIF, 8),
            to(ENDIF, 9),
            A,
        ]);
        assert_eq!(pcs(&lane(&p, &[1, 1])), [0, 2, 4, 9]);
        assert_eq!(pcs(&lane(&p, &[1, 0])), [0, 2, 6, 9]);
        assert_eq!(pcs(&lane(&p, &[0])), [0, 9]);
    }

    fn continue_and_break() -> Program {
        program(&[
            (LOOP, 0x000c_0500),
            A,
            to(IF, 5),
            to(0x0401_ff07, 11),
            to(ENDIF, 5),
            A,
            to(IF, 10),
            A,
            to(0x0401_ff05, 12),
            to(ENDIF, 10),
            A,
            (ENDLOOP, 0x0001_0500),
            A,
        ])
    }

    #[test]
    fn spec_7_5_continue_and_break() {
        let p = continue_and_break();
        // Results of c1 and c2 in order, and of the y and z between them.
        let l0 = lane(&p, &[0, 0, 0, 0, 0, 0, 0, 1]);
        let e = [
            (1, 10),
            (5, 10),
            (10, 10),
            (1, 8),
            (5, 8),
            (10, 8),
            (1, 6),
            (5, 6),
            (7, 6),
            (12, 0),
        ];
        assert_eq!(l0.executed, e);
        let l1 = lane(&p, &[1, 0, 0, 0, 0, 1]);
        let e = [
            (1, 10),
            (1, 8),
            (5, 8),
            (10, 8),
            (1, 6),
            (5, 6),
            (7, 6),
            (12, 0),
        ];
        assert_eq!(l1.executed, e);
        assert_eq!(
            lane(&p, &[0, 1]).executed,
            [(1, 10), (5, 10), (7, 10), (12, 0)]
        );
        let l3 = lane(&p, &[0, 0, 0, 1, 0, 1]);
        assert_eq!(pcs(&l3), [1, 5, 10, 1, 1, 5, 7, 12]);
        // CONTINUE alone jumps to the ENDLOOP and executes it: LOOP; 1 IF CONTINUE ENDLOOP; ...
        let p = Scalar::new(&p).expect("structured");
        assert_eq!(p.run(5, &mut |_, _, _| 1).pc, 1);
    }

    #[test]
    fn spec_7_6_rep_in_loop() {
        let p = program(&[
            to(LOOP, 7),
            (REP, 0x0006_0100),
            A,
            to(0x0400_f006, 6),
            A,
            (ENDREP, 0x0002_0100),
            to(ENDLOOP, 1),
            A,
        ]);
        assert_eq!(
            lane(&p, &[]).executed,
            [(2, 7), (4, 7), (2, 7), (4, 7), (7, 0)]
        );
        assert_eq!(lane(&p, &[1]).executed, [(2, 7), (7, 0)]);
        assert_eq!(
            lane(&p, &[0, 0, 1]).executed,
            [(2, 7), (4, 7), (2, 7), (7, 0)]
        );
    }

    fn call_and_return() -> Program {
        let mut p = program(&[
            A,
            to(CALL_IF, 4),
            A,
            A,
            A,
            (RETURN_IF, 0),
            A,
            (RETURN + 0x1_0000, 0),
        ]);
        p.regs.code_offset = 0x20;
        p.regs.code_addr = 3 << 16;
        p
    }

    #[test]
    fn spec_7_7_call_and_return() {
        let p = call_and_return();
        assert_eq!(pcs(&lane(&p, &[1, 1])), [0x20, 0x24, 0x22, 0x23]);
        assert_eq!(pcs(&lane(&p, &[1, 0])), [0x20, 0x24, 0x26, 0x22, 0x23]);
        assert_eq!(pcs(&lane(&p, &[0])), [0x20, 0x22, 0x23]);
        let depth = Scalar::new(&p).expect("structured").depth();
        assert_eq!(
            depth,
            Some(Depth {
                branch: 2,
                loops: 0,
                calls: 1
            })
        );
    }

    #[test]
    fn spec_7_8_static_branch() {
        let mut p = program(&[(0x5500, 0x0003_0003), A, to(JUMP, 4), A, A]);
        assert_eq!(pcs(&lane(&p, &[])), [3, 4]);
        p.regs.bool_const = 8;
        assert_eq!(pcs(&lane(&p, &[])), [1, 4]);
    }

    /// Five nested IFs: error 8 is nothing a lane alone can see, but it is foreseen.
    #[test]
    fn spec_7_9_errors() {
        let mut words = vec![];
        for level in 0..5 {
            words.extend([A, to(IF, 16 - level)]);
        }
        words.push(A);
        words.extend((12..=16).map(|n| to(ENDIF, n)));
        words.push(A);
        let mut p = program(&words);
        assert_eq!(Scalar::new(&p).expect("structured").possible_errors(), 0);
        p.regs.fc_ctrl = 0;
        assert_eq!(
            Scalar::new(&p).expect("structured").possible_errors(),
            1 << BRANCH_OVERFLOW
        );
        assert_eq!(pcs(&lane(&p, &[0])), [0, 16]);

        let p = program(&[(RETURN, 0), A]);
        let t = lane(&p, &[]);
        assert_eq!((t.end, t.pc, t.k), (End::Error(ADDR_UNDERFLOW), 0, 0));
        assert_eq!(
            Scalar::new(&p).expect("structured").possible_errors(),
            1 << ADDR_UNDERFLOW
        );
    }

    /// if (R) a else if (G) b else if (B) c else d: the lane in `a` goes behind the ENDIF, the
    /// others through the copies of the tests.
    #[test]
    fn else_if_chain() {
        let stmts = [
            Stmt::Alu,
            Stmt::If {
                cond: Cond::pred(PredSel::R),
                ign: false,
            },
            Stmt::Alu,
            Stmt::ElseIf {
                cond: Cond::pred(PredSel::G),
                ign: false,
            },
            Stmt::Alu,
            Stmt::ElseIf {
                cond: Cond::pred(PredSel::B),
                ign: false,
            },
            Stmt::Alu,
            Stmt::Else { ign: false },
            Stmt::Alu,
            Stmt::Endif { ign: false },
            Stmt::Out,
        ];
        let lines: Vec<_> = stmts.into_iter().map(|s| Line::new(0, s)).collect();
        for no_else in [false, true] {
            let mut lines = lines.clone();
            if no_else {
                lines.drain(7..9);
            }
            let code = expand(&lines, 0, Targets::Relative, "test").expect("expands");
            let mut p = program(&[A]);
            p.regs.code_addr = u32::from(code.end(0)) << 16;
            p.slots = code.slots;
            let out = code_end(&p);
            for (predicates, part) in [(0b0010, 2), (0b0110, 2), (0b0100, 4), (0b1000, 6)] {
                assert_eq!(
                    pcs(&lane(&p, &[predicates])),
                    [0, part, out],
                    "{predicates:b}"
                );
            }
            let none: &[u16] = if no_else { &[0, 8] } else { &[0, 8, 10] };
            assert_eq!(pcs(&lane(&p, &[0])), none);
            assert!(Scalar::new(&p).expect("structured").k_depends_on_others());
        }
    }

    fn code_end(p: &Program) -> u16 {
        end(p)
    }

    /// One rule broken at a time; the address and the words of the reason.
    #[test]
    fn unstructured_programs_are_refused() {
        let refused = |p: &Program, pc: u16, why: &str| match Scalar::new(p) {
            Ok(_) => panic!("accepted, expected: {why}"),
            Err(e) => assert!(
                e.pc == pc && e.why.contains(why),
                "{e}, expected {pc}: {why}"
            ),
        };
        let with = |mut p: Program, at: usize, (inst, addr): (u32, u32)| {
            p.slots[at] = Slot::new(0x402, inst, addr);
            p
        };
        refused(
            &with(if_else(), 5, to(ENDIF + 0x1_0000, 6)),
            5,
            "more branch levels than are open",
        );
        refused(
            &with(if_else(), 5, to(ENDIF - 0x1_0000, 6)),
            6,
            "ends inside",
        );
        refused(
            &with(if_else(), 1, to(IF_ELSE, 5)),
            3,
            "would be elsewhere alone",
        );
        refused(&with(if_else(), 3, to(ELSE, 5)), 5, "two ways here");
        refused(
            &with(if_else(), 3, to(ELSE + 0x20, 6)),
            3,
            "B_ELSE with JUMP_ANY",
        );
        refused(&with(if_else(), 1, to(0x0f00, 4)), 1, "carries lanes along");
        refused(
            &with(if_else(), 1, to(IF_ELSE + 0x20, 4)),
            1,
            "lanes along that want to stay",
        );
        let mut early = if_else();
        early.regs.code_addr = 2 << 16;
        refused(&early, 2, "ends inside");
        refused(&with(if_else(), 6, to(IF, 6)), 6, "opens a construct");
        let leave = continue_and_break;
        refused(
            &with(leave(), 3, to(0x0401_ff07, 10)),
            3,
            "to the end of its loop",
        );
        refused(
            &with(leave(), 3, to(0x0402_ff07, 11)),
            3,
            "more branch levels",
        );
        refused(
            &with(leave(), 8, to(0x0400_ff05, 12)),
            8,
            "levels of the loop open",
        );
        refused(
            &with(leave(), 8, to(0x0401_ff05, 13)),
            8,
            "behind the end of its loop",
        );
        refused(
            &with(leave(), 11, (0x0000_f022, 0x0001_0500)),
            11,
            "lanes disagree about another pass",
        );
        // Mesa's own LOOP word (r500-O29) can reach the ENDLOOP without a frame.
        refused(&with(leave(), 0, (1, 0x000b_0500)), 11, "two ways here");
        let call = call_and_return;
        refused(
            &with(call(), 7, (RETURN, 0)),
            0x27,
            "does not close the levels",
        );
        refused(
            &with(call(), 5, (0x0401_f040, 0)),
            0x25,
            "does not switch the returned lanes off",
        );
        refused(
            &with(call(), 1, to(0x0000_f0a0, 4)),
            0x21,
            "without counters",
        );
        refused(
            &with(call(), 1, to(CALL_IF - 0x20, 4)),
            0x21,
            "CALL without JUMP_ANY",
        );
        refused(
            &with(call(), 6, to(0x0400_ff05, 7)),
            0x26,
            "this subroutine did not open",
        );
        let in_if = program(&[
            to(CALL, 2),
            A,
            A,
            to(IF, 6),
            (RETURN, 0),
            to(ENDIF, 6),
            (RETURN, 0),
        ]);
        let in_if = Program {
            regs: Registers {
                code_addr: 1 << 16,
                ..in_if.regs
            },
            ..in_if
        };
        refused(&in_if, 4, "inside a dynamic IF");
        let back = program(&[A, to(0x5500, 0), A]);
        refused(&back, 0, "a cycle of jumps");
    }

    /// Errors that a lane alone meets as well (r500-6); the offending instruction does nothing.
    #[test]
    fn errors_alone() {
        let end = |p: &Program| {
            let t = lane(p, &[]);
            if let End::Error(code) = t.end {
                let possible = Scalar::new(p).expect("structured").possible_errors();
                assert!(possible >> code & 1 == 1, "error {code} was not foreseen");
            }
            (t.end, t.pc, t.loops.len(), t.addrs.len())
        };
        assert_eq!(
            end(&program(&[(0x0300_0000, 0), A])),
            (End::Error(ILLEGAL), 0, 0, 0)
        );
        for op in [2, 4, 5, 6, 7] {
            assert_eq!(
                end(&program(&[(op, 0), A])),
                (End::Error(LOOP_UNDERFLOW), 0, 0, 0),
                "{op}"
            );
        }
        for op in [4, 6] {
            let p = program(&[to(LOOP, 2), (op, 0), A]);
            assert_eq!(end(&p), (End::Error(LOOP_KIND), 1, 1, 0), "{op}");
        }
        let nested = |n: u32| {
            let mut words: Vec<_> = (0..n).map(|i| to(LOOP, 2 * n - i)).collect();
            words.extend((0..n).rev().map(|i| to(ENDLOOP, i + 1)));
            words.push(A);
            program(&words)
        };
        assert_eq!(end(&nested(4)).0, End::Done);
        assert_eq!(end(&nested(5)), (End::Error(LOOP_OVERFLOW), 4, 4, 0));
        let chain = |n: u32| {
            let mut words = vec![to(CALL, 2), A];
            for i in 1..n {
                words.extend([to(CALL, 2 * i + 2), (RETURN, 0)]);
            }
            words.push((RETURN, 0));
            let p = program(&words);
            Program {
                regs: Registers {
                    code_addr: 1 << 16,
                    ..p.regs
                },
                ..p
            }
        };
        assert_eq!(end(&chain(4)).0, End::Done);
        assert_eq!(end(&chain(5)), (End::Error(ADDR_OVERFLOW), 8, 0, 4));
        // A subroutine that calls itself: no depth of its own.
        let p = program(&[to(CALL, 2), A, to(CALL, 2), (RETURN, 0)]);
        let p = Program {
            regs: Registers {
                code_addr: 1 << 16,
                ..p.regs
            },
            ..p
        };
        assert_eq!(Scalar::new(&p).expect("structured").depth(), None);
        assert_eq!(end(&p), (End::Error(ADDR_OVERFLOW), 2, 0, 4));
        let mut p = program(&[to(JUMP, 300), A]);
        p.regs.code_range = 255 << 16;
        assert_eq!(end(&p), (End::Error(PC_RANGE), 0, 0, 0));
        let mut p = program(&[A, A, A]);
        p.regs.code_range = 1 << 16;
        assert_eq!(end(&p), (End::Error(PC_RANGE), 2, 0, 0));
        let mut p = program(&[to(LOOP, 2), to(ENDLOOP, 1), A]);
        p.regs.fc_ctrl = 0;
        assert_eq!(end(&p), (End::Error(PARTIAL), 0, 0, 0));
        let p = if_else();
        let scalar = Scalar::new(&p).expect("structured");
        assert_eq!(scalar.run(3, &mut |_, _, _| 1).end, End::StepLimit);
    }

    /// Count 0 jumps over the loop, whatever the word says; REP has no aL of its own.
    #[test]
    fn counts_and_al() {
        let mut p = program(&[to(LOOP, 3), A, to(ENDLOOP, 1), A]);
        p.regs.int_const[0] = 0x0001_0700;
        assert_eq!(lane(&p, &[]).executed, [(3, 0)]);
        p.regs.int_const[0] = 0x00ff_0103;
        assert_eq!(lane(&p, &[]).executed, [(1, 1), (1, 0), (1, 255), (3, 0)]);
        // The step is that of the ENDLOOP's own constant (r500-O21).
        p.slots[2].addr |= 5 << 8;
        assert_eq!(lane(&p, &[]).executed, [(1, 1), (1, 255), (1, 253), (3, 0)]);
        p.slots[0].inst = REP;
        p.slots[2].inst = ENDREP;
        assert_eq!(lane(&p, &[]).executed, [(1, 0), (1, 0), (1, 0), (3, 0)]);
    }

    /// The ALU result is used up by any flow control, a predicate is not (r500-O24).
    #[test]
    fn conditions_persist_or_not() {
        let mut p = program(&[A, (JUMP, 0x0002_0000), to(IF, 5), A, to(ENDIF, 5), A]);
        assert_eq!(pcs(&lane(&p, &[0x1f])), [0, 5]);
        p.slots[2].cmn = 0x402 | 3 << 3;
        p.slots[2].inst = 0x0200_3300;
        assert_eq!(pcs(&lane(&p, &[0b00100])), [0, 3, 5]);
        assert_eq!(pcs(&lane(&p, &[0b11011])), [0, 5]);
    }
}
