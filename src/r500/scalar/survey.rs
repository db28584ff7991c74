//! Decides whether a program is structured, from every path that a wavefront could take and what is open on it (see [`super`]).

use std::collections::BTreeSet;

use smallvec::{SmallVec, smallvec};

use super::addresses::ByAddress;
use super::words::Fc;
use super::{
    ADDR_UNDERFLOW, Depth, ILLEGAL, LOOP_KIND, LOOP_UNDERFLOW, NotStructured, PARTIAL, PC_RANGE,
    constant, end, is_illegal, no, start, target, wants_to_jump, window,
};
use crate::r500::isa::{AOp, BOp, Op};
use crate::r500::program::Program;

/// Where a lane that waits at a branch level would be if it ran alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// No lane can wait here.
    NoLane,
    /// At this address.
    At(u16),
    /// After the ENDIF that closes the level; the `B_ELSE` at this address switched the lane off.
    BehindEnd(u16),
}

/// A construct that is open at some address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Level(Wait),
    /// Address of the LOOP or REP, and whether it is a REP.
    Loop(u16, bool),
}

/// What is open at an address, the same on every path to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenAt {
    pub(super) sub: Option<Sub>,
    pub(super) open: SmallVec<[Open; 8]>,
}

/// The current subroutine: what its RETURN has to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sub {
    /// The CALL opened a branch level (`B_OP1` INCR).
    pub(super) counters: bool,
    /// Number of conditional RETURNs passed; each has opened a level.
    pub(super) passed: u8,
}

impl OpenAt {
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

    /// Merges the findings of another path to the same address. Returns `None` if the paths contradict each
    /// other, and otherwise whether anything is new.
    fn merge(&mut self, other: &OpenAt) -> Option<bool> {
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

    pub(super) fn depth(&self) -> Depth {
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

/// The exits of a loop, by the address of its LOOP or REP.
#[derive(Default)]
pub(super) struct LoopEnds {
    pub(super) ends: BTreeSet<u16>,
    /// BREAK and its target.
    pub(super) breaks: BTreeSet<(u16, u16)>,
    /// CONTINUE and its target.
    pub(super) continues: BTreeSet<(u16, u16)>,
}

/// A successor of an instruction.
pub(super) enum Edge {
    To(u16, OpenAt),
    /// ENDLOOP or ENDREP loops back: the one cycle that a frame counts.
    Back(u16, OpenAt),
    Call(u16, OpenAt),
}

/// The successors of an instruction: nearly always two at most.
type Edges = SmallVec<[Edge; 2]>;

/// The possible decisions of an FC instruction, over all lanes.
#[derive(Clone, Copy)]
pub(super) struct Wants {
    pub(super) stay: bool,
    pub(super) jump: bool,
}

impl Wants {
    /// Returns whether lanes can disagree.
    fn differ(self) -> bool {
        self.stay && self.jump
    }
}

/// By address, the successors within a routine; true: a loop's jump back.
pub(super) type Successors = ByAddress<SmallVec<[(u16, bool); 2]>>;

pub(super) type Step<T> = Result<T, NotStructured>;

/// The static pre-pass over one program.
pub(super) struct Survey<'p> {
    pub(super) program: &'p Program,
    pub(super) places: ByAddress<OpenAt>,
    /// The most that is open before or after the instruction at each address.
    pub(super) depths: ByAddress<Depth>,
    pub(super) loops: ByAddress<LoopEnds>,
    /// For each `B_ELSE` that leaves its level open: where its lanes continue.
    pub(super) behind: ByAddress<Option<u16>>,
    /// Bit c: some path ends in error c, whatever the lanes do.
    pub(super) errors: u16,
    pub(super) k_differs: bool,
}

impl Survey<'_> {
    fn in_window(&self, pc: u16) -> bool {
        let (low, high) = window(self.program);
        (low..=high).contains(&pc)
    }

    pub(super) fn wants(&self, fc: &Fc) -> Wants {
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

    /// Closes `amount` branch levels, whose lanes wake at `wake`.
    ///
    /// `passable`: the instruction at `pc` never jumps. Then lanes that would be at this very
    /// instruction alone are right too: alone they execute it, here they wake after it.
    fn close(
        &mut self,
        pc: u16,
        place: &mut OpenAt,
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
                    let known = self.behind.of(by);
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

    /// Applies the branch operation of a stay. `leavers`: the target of lanes that disagree, if there can
    /// be such lanes.
    fn stay(&mut self, pc: u16, place: &mut OpenAt, fc: &Fc, leavers: Option<u16>) -> Step<()> {
        match fc.b_op0 {
            BOp::Incr => {
                place
                    .open
                    .push(Open::Level(leavers.map_or(Wait::NoLane, Wait::At)));
                Ok(())
            }
            _ if leavers.is_some() => no(pc, "carries lanes along that want to jump"),
            BOp::Decr => {
                let passable = fc.op == Op::Jump && !self.wants(fc).jump;
                self.close(pc, place, fc.b_pop_cnt, pc + 1, passable)
            }
            _ => Ok(()),
        }
    }

    /// Applies the branch operation of a jump with which every lane agrees.
    pub(super) fn jump(&mut self, pc: u16, place: &mut OpenAt, fc: &Fc, target: u16) -> Step<()> {
        match fc.b_op1 {
            BOp::Incr => place.open.push(Open::Level(Wait::NoLane)),
            BOp::Decr => self.close(pc, place, fc.b_pop_cnt, target, false)?,
            _ => {}
        }
        Ok(())
    }

    /// Returns the successors of the instruction at `pc`, reached with `place` open.
    fn edges(&mut self, pc: u16, place: &OpenAt) -> Step<Edges> {
        let Some(fc) = Fc::decode(self.program.slot(pc)) else {
            return Ok(smallvec![Edge::To(pc + 1, place.clone())]);
        };
        let regs = &self.program.regs;
        // Errors that need no decision occur whenever the wavefront gets here, with or without active lanes.
        if is_illegal(&fc) {
            self.errors |= 1 << ILLEGAL;
            return Ok(smallvec![]);
        }
        let op = fc.op;
        if !regs.full() && (op != Op::Jump || fc.a_op != AOp::None) {
            self.errors |= 1 << PARTIAL;
            return Ok(smallvec![]);
        }
        if matches!(
            op,
            Op::EndLoop | Op::EndRep | Op::BreakLoop | Op::BreakRep | Op::Continue
        ) {
            return self.loop_edges(pc, place, &fc);
        }
        match (op, fc.a_op) {
            (Op::Jump, AOp::Push) => self.call_edges(pc, place, &fc),
            (Op::Jump, AOp::Pop) => self.return_edges(pc, place, &fc),
            (Op::Jump, _) if fc.b_else => self.else_edges(pc, place, &fc),
            (_, AOp::None) if !fc.b_else => self.if_edges(pc, place, &fc),
            _ => no(pc, "a loop instruction with B_ELSE or A_OP"),
        }
    }

    /// Returns the successors of JUMP, LOOP and REP.
    fn if_edges(&mut self, pc: u16, place: &OpenAt, fc: &Fc) -> Step<Edges> {
        let target = target(self.program, fc);
        let begins = matches!(fc.op, Op::Loop | Op::Rep);
        let wants = match begins && constant(self.program, fc).0 == 0 {
            true => Wants {
                stay: false,
                jump: true,
            },
            false => self.wants(fc),
        };
        // The count override consults no lane, so "no voter" cannot change it.
        let asks = !(begins && constant(self.program, fc).0 == 0);
        let any = fc.jump_any;
        if wants.differ() && any {
            return no(pc, "JUMP_ANY takes lanes along that want to stay");
        }
        let mut edges = Edges::new();
        if wants.stay || any && asks {
            let mut next = place.clone();
            self.stay(pc, &mut next, fc, wants.differ().then_some(target))?;
            if begins {
                next.open.push(Open::Loop(pc, fc.op == Op::Rep));
                self.loops.of(pc);
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

    /// Returns the successors of ELSE, also fused with an IF.
    fn else_edges(&mut self, pc: u16, place: &OpenAt, fc: &Fc) -> Step<Edges> {
        let Some(&Open::Level(waiting)) = place.open.last() else {
            return no(pc, "B_ELSE with no IF open inside this loop or subroutine");
        };
        if fc.jump_any {
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
        let closes = fc.b_op1 == BOp::Decr && fc.b_pop_cnt > 0;
        let off = if closes {
            Wait::At(target)
        } else {
            self.behind.of(pc);
            Wait::BehindEnd(pc)
        };
        let mut swapped = place.clone();
        swapped.open.pop();
        swapped.open.push(Open::Level(off));
        let mut edges = Edges::new();
        if wants.stay {
            if fc.b_op0 == BOp::Decr {
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

    /// Returns whether the code at `at` is a plain IF that repeats the test of the fused ELSE IF at `pc`:
    /// same condition, same target, and otherwise a jump to the instruction after it (r500-7.1).
    fn repeats_test(&self, at: u16, fused: &Fc, pc: u16, fused_target: u16) -> bool {
        let plain = |at: u16| {
            Fc::decode(self.program.slot(at)).filter(|fc| {
                self.in_window(at)
                    && fc.op == Op::Jump
                    && !fc.b_else
                    && !fc.jump_any
                    && fc.a_op == AOp::None
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
            && on.b_op1 == BOp::None
            && target(self.program, &on) == pc + 1
    }

    /// Returns the successors of instructions that need a frame.
    fn loop_edges(&mut self, pc: u16, place: &OpenAt, fc: &Fc) -> Step<Edges> {
        let op = fc.op;
        let Some((index, head, rep)) = place.innermost_loop() else {
            if place.sub.is_some() {
                return no(pc, "belongs to a loop that this subroutine did not open");
            }
            self.errors |= 1 << LOOP_UNDERFLOW;
            return Ok(smallvec![]);
        };
        if op != Op::Continue && rep != matches!(op, Op::EndRep | Op::BreakRep) {
            self.errors |= 1 << LOOP_KIND;
            return Ok(smallvec![]);
        }
        if fc.b_else || fc.a_op != AOp::None {
            return no(pc, "a loop instruction with B_ELSE or A_OP");
        }
        let target = target(self.program, fc);
        let wants = self.wants(fc);
        let can_jump = wants.jump || !fc.jump_any;
        let levels = place.open.len() - 1 - index;
        let ends = self.loops.of(head);

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
            let mut edges = Edges::new();
            if can_jump {
                if fc.b_op1 != BOp::None {
                    return no(pc, "opens or closes a branch level in every pass");
                }
                edges.push(Edge::Back(target, place.clone()));
            }
            let mut next = place.clone();
            next.open.pop();
            if fc.b_op0 == BOp::Incr {
                return no(pc, "opens a branch level at the end of a loop");
            }
            self.stay(pc, &mut next, fc, None)?;
            edges.push(Edge::To(pc + 1, next));
            return Ok(edges);
        }

        if wants.differ() && fc.jump_any {
            return no(pc, "JUMP_ANY takes lanes along that want to stay");
        }
        if fc.b_op0 != BOp::None {
            return no(pc, "BREAK or CONTINUE with a branch operation on the stay");
        }
        // Lanes that are off hold the jump back, so that the code after it is always passed through.
        let mut edges: Edges = smallvec![Edge::To(pc + 1, place.clone())];
        if can_jump {
            let pops = match fc.b_op1 {
                BOp::None => 0,
                BOp::Decr => fc.b_pop_cnt,
                _ => return no(pc, "BREAK or CONTINUE that opens a branch level"),
            };
            // No lane of the program waits inside the loop when the unit jumps; uncovered ones may
            // (r500-4.2), and their levels must close as well.
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

    fn call_edges(&mut self, pc: u16, place: &OpenAt, fc: &Fc) -> Step<Edges> {
        if fc.b_else {
            return no(pc, "CALL with B_ELSE");
        }
        if !fc.jump_any {
            return no(
                pc,
                "CALL without JUMP_ANY: lanes that call wait for all to agree",
            );
        }
        if fc.b_op0 != BOp::None || fc.b_op1 == BOp::Decr {
            return no(
                pc,
                "CALL that closes a level, or opens one if no lane calls",
            );
        }
        let counters = fc.b_op1 == BOp::Incr;
        let wants = self.wants(fc);
        if wants.differ() && !counters {
            return no(
                pc,
                "conditional CALL without counters takes all lanes along",
            );
        }
        let mut edges: Edges = smallvec![Edge::To(pc + 1, place.clone())];
        if wants.jump {
            let sub = Some(Sub {
                counters,
                passed: 0,
            });
            edges.push(Edge::Call(
                target(self.program, fc),
                OpenAt {
                    sub,
                    open: smallvec![],
                },
            ));
        }
        Ok(edges)
    }

    fn return_edges(&mut self, pc: u16, place: &OpenAt, fc: &Fc) -> Step<Edges> {
        let wants = self.wants(fc);
        let any = fc.jump_any;
        let Some(sub) = place.sub else {
            if !wants.stay && !any && !fc.b_else {
                self.errors |= 1 << ADDR_UNDERFLOW;
                return Ok(smallvec![]);
            }
            return no(pc, "conditional RETURN outside a subroutine");
        };
        if fc.b_else {
            return no(pc, "RETURN with B_ELSE");
        }
        if !place.open.is_empty() {
            return no(pc, "RETURN inside a dynamic IF or a loop");
        }
        if wants.differ() && any {
            return no(pc, "JUMP_ANY takes lanes along that want to stay");
        }
        if wants.jump || !any {
            let pops = match fc.b_op1 {
                BOp::None => 0,
                BOp::Decr => fc.b_pop_cnt,
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
            return Ok(smallvec![]);
        }
        let passed = match fc.b_op0 {
            BOp::Incr => sub.passed + 1,
            BOp::None if !wants.differ() => sub.passed,
            _ => {
                return no(
                    pc,
                    "conditional RETURN that does not switch the returned lanes off",
                );
            }
        };
        // A RETURN can close at most 31 levels.
        if passed > 31 {
            return no(pc, "more conditional RETURNs than one RETURN can close");
        }
        let sub = Some(Sub { passed, ..sub });
        Ok(smallvec![Edge::To(
            pc + 1,
            OpenAt {
                sub,
                open: smallvec![]
            }
        )])
    }

    /// Follows every path from the first instruction.
    pub(super) fn walk(&mut self) -> Step<Successors> {
        let start = start(self.program);
        let mut successors = Successors::default();
        let mut work = vec![];
        let first = OpenAt {
            sub: None,
            open: smallvec![],
        };
        if self.in_window(start) {
            self.places.insert(start, first);
            work.push(start);
        } else {
            self.errors |= 1 << PC_RANGE;
        }
        while let Some(pc) = work.pop() {
            let Some(place) = self.places.get(pc).cloned() else {
                continue;
            };
            let is_end = pc == end(self.program);
            if is_end && (place.sub.is_some() || !place.open.is_empty()) {
                return no(
                    pc,
                    "the program ends inside a construct, lanes may be waiting",
                );
            }
            let edges = self.edges(pc, &place)?;
            let mut next = SmallVec::new();
            for edge in edges {
                let (to, place, back) = match edge {
                    Edge::To(to, place) => (to, place, Some(false)),
                    Edge::Back(to, place) => (to, place, Some(true)),
                    Edge::Call(to, place) => (to, place, None),
                };
                let deepest = self.depths.of(pc);
                *deepest = deepest.max(place.depth());
                if is_end && (place.sub.is_some() || !place.open.is_empty()) {
                    return no(pc, "the last instruction of the program opens a construct");
                }
                // Continuing after END_ADDR is not a fetch, but a taken jump is checked even there.
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
                match self.places.get_mut(to) {
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

    /// Checks that every BREAK leads past the one ENDLOOP of its loop, and every CONTINUE to it.
    pub(super) fn check_loops(&self) -> Step<()> {
        for (_, ends) in self.loops.iter() {
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

/// Checks that there is no cycle of jumps that no frame counts. With no lane ACTIVE, a wavefront could be caught in it
/// (`JUMP_ANY` = 0 jumps without a voter) long after each of its lanes would have left it alone.
pub(super) fn check_no_uncounted_cycle(successors: &Successors) -> Step<()> {
    let forward = |pc: u16| {
        let all = successors.get(pc).into_iter().flatten();
        all.filter(|(_, back)| !back).map(|&(to, _)| to)
    };
    // The number of ways to each address from the remaining ones.
    let mut ways = ByAddress::<usize>::default();
    for (pc, _) in successors.iter() {
        ways.of(pc);
        for to in forward(pc) {
            *ways.of(to) += 1;
        }
    }
    let mut ready: Vec<u16> = (ways.iter().filter(|(_, n)| **n == 0))
        .map(|(pc, _)| pc)
        .collect();
    while let Some(pc) = ready.pop() {
        for to in forward(pc) {
            let n = ways.of(to);
            *n -= 1;
            if *n == 0 {
                ready.push(to);
            }
        }
    }
    match ways.iter().find(|(_, n)| **n > 0) {
        Some((pc, _)) => no(pc, "a cycle of jumps without a loop"),
        None => Ok(()),
    }
}
