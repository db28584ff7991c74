//! The golden model: the step function of the spec, within the cycle contract.
//!
//! Written from r700-3, r700-4 and r700-6 in `docs/spec/r700.md`. The functions of one instruction are those of the normative model of r700-4.4,
//! with its names and in its order. Where the model walks over the lanes, a set of lanes (a `u64`, bit i
//! is lane i) gives the lanes that the line is about. Nothing here is shared with the RTL.

use super::state::values::class::{ACTIVE, BRANCH, BRK, CONT};
use super::state::values::error;
use super::state::values::{frame, loop_};
use super::state::{In, State};
use crate::unit::Step;
use reconverge_bench::design::Build;

mod contract;
mod explain;
#[cfg(test)]
mod table;

/// Most lanes a wave can have.
pub const MAX_LANES: usize = 64;

/// Entries of the stack, whatever a launch requests (r700-3.4-f), unless the unit is built with another
/// number.
pub const MAX_STACK_SIZE: usize = 32;

/// `bkind` without a frame, and `lt` without a loop (r700-3.2).
const F_NONE: u8 = 0;
const L_NONE: u8 = 0;

// Opcodes of the ALU format (r700-2.5-c).
const ALU: u32 = 8;
const ALU_PUSH_BEFORE: u32 = 9;
const ALU_POP_AFTER: u32 = 10;
const ALU_POP2_AFTER: u32 = 11;
const ALU_CONTINUE: u32 = 13;
const ALU_BREAK: u32 = 14;
const ALU_ELSE_AFTER: u32 = 15;

// Opcodes of the general format that control the flow (r700-2.5-a).
const LOOP_START: u32 = 4;
const LOOP_END: u32 = 5;
const LOOP_START_DX10: u32 = 6;
const LOOP_START_NO_AL: u32 = 7;
const LOOP_CONTINUE: u32 = 8;
const LOOP_BREAK: u32 = 9;
const JUMP: u32 = 10;
const PUSH: u32 = 11;
const PUSH_ELSE: u32 = 12;
const ELSE: u32 = 13;
const POP: u32 = 14;
const CALL: u32 = 18;
const RETURN: u32 = 20;
const KILL: u32 = 24;

/// Deepest call nesting; a CALL that would exceed it is skipped (r700-4.3-m).
const MAX_DEPTH: u32 = 32;

/// Error codes of r700-6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Error {
    /// r700-E1: reserved opcode.
    Illegal = error::ILLEGAL,
    /// r700-E2: CALL with `POP_COUNT`, or `WHOLE_QUAD_MODE` on a control instruction.
    Field = error::FIELD,
    /// r700-E3: loop instruction, and the innermost frame is not a loop's.
    NoLoop = error::NO_LOOP,
    /// r700-E4: LOOP_END with branch frames open.
    LoopOpen = error::LOOP_OPEN,
    /// r700-E5: RETURN without a call frame on top of the stack.
    NoCall = error::NO_CALL,
    /// r700-E6: more branch frames popped than there are; ELSE without one.
    Underflow = error::UNDERFLOW,
    /// r700-E7: a push that does not fit (r700-3.4-e).
    Overflow = error::OVERFLOW,
    /// r700-E8: END with frames on the stack.
    EndStack = error::END_STACK,
    /// r700-E9: next PC, or the entry, outside the program.
    PcRange = error::PC_RANGE,
}

/// Sub-entries of a stack entry, unless the unit is built with eight (r700-3.4-h).
const SUBENTRIES: u16 = 4;

/// The contents of a loop frame: the enclosing loop, and the class of each lane around it (r700-3.4-c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopFrame {
    /// Class planes of the lanes.
    pub st: [u64; 2],
    /// Type of the enclosing loop, 0 none.
    pub lt: u8,
    /// Its passes left.
    pub lc: u16,
    /// Its aL.
    pub al: u32,
    /// Its step, two's complement.
    pub inc: u8,
    /// `base` around the loop.
    pub base: u16,
    /// `bkind` around the loop.
    pub bkind: u8,
}

/// The contents of a call frame: the return address, and the caller (r700-3.4-d).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFrame {
    /// Return address.
    pub ret: u32,
    /// The caller's nesting depth.
    pub depth: u8,
    /// `base` of the caller.
    pub base: u16,
    /// `bkind` of the caller.
    pub bkind: u8,
}

/// A frame of the stack (r700-3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The lanes that were ACTIVE when it was pushed.
    Branch(u64),
    /// An open loop.
    Loop(LoopFrame),
    /// A call that has not returned.
    Call(CallFrame),
}

impl Frame {
    /// Returns the sub-entries that it takes, of `subentries` in an entry: a loop frame takes an entry.
    pub fn size(&self, subentries: u16) -> u16 {
        match self {
            Frame::Branch(_) | Frame::Call(_) => 1,
            Frame::Loop(_) => subentries,
        }
    }
}

/// Lanes and registers of a wave (r700-3.1, r700-3.2), without the memory of the stack.
///
/// It is small, so that an instruction that turns out to be an error is undone by restoring a copy. The
/// memory needs no copy: a push writes above the `sp` of the copy, where nothing is read.
#[derive(Clone, Copy)]
struct Wave {
    st: [u64; 2],
    valid: u64,
    pc: u32,
    sp: u16,
    base: u16,
    bkind: u8,
    nb: u16,
    lt: u8,
    lc: u16,
    al: u32,
    inc: u8,
    depth: u8,
    skipped: bool,
    err: u8,
    halted: bool,
    done: bool,
}

impl Wave {
    const RESET: Wave = Wave {
        st: [0; 2],
        valid: 0,
        pc: 0,
        sp: 0,
        base: 0,
        bkind: F_NONE,
        nb: 0,
        lt: L_NONE,
        lc: 0,
        al: 0,
        inc: 0,
        depth: 0,
        skipped: false,
        err: 0,
        halted: false,
        done: false,
    };
}

/// What happened in the last cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Reset was asserted.
    Reset,
    /// The unit was stalled.
    Stalled,
    /// No wave runs.
    Idle,
    /// A wave was launched; it has halted at once if its entry lies outside the program.
    Launched,
    /// A wave runs, but no instruction came.
    Waiting,
    /// An instruction executed.
    Executed {
        /// It jumped.
        jump: bool,
    },
    /// The wave halted with this error.
    Halted(Error),
}

/// The return value of the model's `step`, and the address where the wave continues.
struct Outcome {
    exec: u64,
    jump: bool,
    next_pc: u32,
}

impl Outcome {
    /// Returns the outcome of a control instruction, which no lane executes (r700-3.6-c), if the wave continues at the next one.
    fn stay(next_pc: u32) -> Self {
        Outcome {
            exec: 0,
            jump: false,
            next_pc,
        }
    }

    fn jump(target: u32) -> Self {
        Outcome {
            exec: 0,
            jump: true,
            next_pc: target,
        }
    }
}

/// The golden model of the unit.
#[derive(Clone)]
pub struct Golden {
    lanes: usize,
    /// The lanes that exist.
    all: u64,
    wave: Wave,
    /// The frame at the address of each frame's first sub-entry.
    stack: Vec<Frame>,
    /// Sub-entries of an entry (r700-3.4-h).
    subentries: u16,
    /// LOOP_START_DX10 counts its passes (r700-4.3-z).
    dx10_count: bool,
    running: bool,
    exec: u64,
    jump: bool,
    prog_len: u32,
    /// Sub-entries that this wave may use.
    limit: usize,
    loop_const: [u32; 32],
    bool_const: u32,
    event: Event,
    state: State,
}

fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    word >> lo & ((1 << (hi - lo + 1)) - 1)
}

/// The fields of DW1 in the general format (r700-2.2).
#[derive(Clone, Copy)]
struct General {
    op: u32,
    cond: u32,
    cf_const: u32,
    pops: u16,
    calls: u32,
    vpm: bool,
    wqm: bool,
}

impl General {
    fn of(dw1: u32) -> Self {
        General {
            op: bits(dw1, 29, 23),
            cond: bits(dw1, 9, 8),
            cf_const: bits(dw1, 7, 3),
            pops: bits(dw1, 2, 0) as u16,
            calls: bits(dw1, 18, 13),
            vpm: bits(dw1, 22, 22) == 1,
            wqm: bits(dw1, 30, 30) == 1,
        }
    }
}

fn is_alu(dw1: u32) -> bool {
    bits(dw1, 29, 29) == 1
}

/// Returns whether `op` is a slot: NOP, fetches, memory, export, which change nothing (r700-4.3-a).
fn is_slot(op: u32) -> bool {
    matches!(op, 0..=3 | 19 | 21..=23 | 26..=29 | 32..=40 | 58)
}

// ---- helpers of r700-4.4: all work on the wave that is being built ---------------------------------

impl Golden {
    /// Returns the lanes of class `class`.
    fn of_class(&self, class: u8) -> u64 {
        let [st0, st1] = self.wave.st;
        self.all
            & match class {
                ACTIVE => !st1 & !st0,
                BRANCH => !st1 & st0,
                CONT => st1 & !st0,
                _ => st1 & st0,
            }
    }

    /// Puts `lanes` into class `class`.
    fn set_class(&mut self, lanes: u64, class: u8) {
        for (bit, plane) in self.wave.st.iter_mut().enumerate() {
            *plane &= !lanes;
            if class >> bit & 1 == 1 {
                *plane |= lanes;
            }
        }
    }

    /// Returns the lanes that count: with VPM, only valid ones.
    fn counted(&self, vpm: bool) -> u64 {
        if vpm { self.wave.valid } else { self.all }
    }

    /// Returns whether the part of the condition test that is the same for all lanes holds (r700-4.1-c); with COND 1 no lane passes (r700-4.1-b).
    fn cond_ok(&self, cond: u32, cf_const: u32) -> bool {
        let boolean = self.bool_const >> cf_const & 1 == 1;
        match cond {
            0 => true,
            1 => false,
            2 => boolean,
            _ => !boolean,
        }
    }

    /// Returns the lanes that pass the condition test (r700-4.1-a).
    fn test(&self, cond: u32, cf_const: u32, vpm: bool) -> u64 {
        if self.cond_ok(cond, cf_const) {
            self.of_class(ACTIVE) & self.counted(vpm)
        } else {
            0
        }
    }

    /// Pushes a frame.
    fn put(&mut self, frame: Frame) -> Result<(), Error> {
        let t = &mut self.wave;
        let sp = t.sp + frame.size(self.subentries);
        let nb = t.nb + u16::from(matches!(frame, Frame::Branch(_)));
        let reserved = if nb > 0 { 2 } else { 0 };
        if usize::from(sp + reserved) > self.limit {
            return Err(Error::Overflow);
        }
        if let Some(place) = self.stack.get_mut(usize::from(t.sp)) {
            *place = frame;
        }
        (t.sp, t.nb) = (sp, nb);
        Ok(())
    }

    fn push_branch(&mut self) -> Result<(), Error> {
        self.put(Frame::Branch(self.of_class(ACTIVE)))
    }

    /// Applies VALID_PIXEL_MODE after a pop or an ELSE.
    fn drop_invalid(&mut self, vpm: bool) {
        if vpm {
            self.set_class(self.of_class(ACTIVE) & !self.wave.valid, BRANCH);
        }
    }

    /// Pops branch frames (r700-4.3-u), at most those above `base` (r700-4.3-x); 0 does nothing.
    fn pop(&mut self, count: u16, vpm: bool) -> Result<(), Error> {
        let t = &mut self.wave;
        if count > t.sp - t.base {
            return Err(Error::Underflow);
        }
        if count > 0 {
            (t.sp, t.nb) = (t.sp - count, t.nb - count);
            // Only the last frame popped matters; CONT and BRK lanes keep their class.
            let mask = self.mask_at(self.wave.sp);
            let restored = self.of_class(ACTIVE) | self.of_class(BRANCH);
            self.set_class(restored & mask, ACTIVE);
            self.set_class(restored & !mask, BRANCH);
            self.drop_invalid(vpm);
        }
        Ok(())
    }

    /// Puts the ACTIVE lanes that are not in `keep` into class `class`.
    fn switch_off(&mut self, keep: u64, class: u8) {
        self.set_class(self.of_class(ACTIVE) & !keep, class);
    }

    /// Executes ELSE (r700-4.3-v).
    fn invert(&mut self, ok: bool, vpm: bool) -> Result<(), Error> {
        if self.wave.sp == self.wave.base {
            return Err(Error::Underflow);
        }
        if ok {
            let swapped = self.mask_at(self.wave.sp - 1) & self.counted(vpm);
            let off = swapped & self.of_class(ACTIVE);
            let on = swapped & self.of_class(BRANCH);
            self.set_class(off, BRANCH);
            self.set_class(on, ACTIVE);
        }
        self.drop_invalid(vpm);
        Ok(())
    }

    /// Returns the frame of the innermost loop, unless another frame is innermost.
    fn in_loop(&self) -> Result<LoopFrame, Error> {
        match self.innermost() {
            Some(Frame::Loop(frame)) => Ok(frame),
            _ => Err(Error::NoLoop),
        }
    }

    /// Returns the mask of the branch frame at `at`.
    fn mask_at(&self, at: u16) -> u64 {
        match self.stack.get(usize::from(at)) {
            Some(Frame::Branch(mask)) => *mask,
            _ => 0,
        }
    }

    /// Returns the address of the innermost loop or call frame, which lies just below `base`.
    fn innermost_at(&self) -> Option<usize> {
        let size = match self.wave.bkind {
            frame::LOOP => self.subentries,
            frame::CALL => 1,
            _ => return None,
        };
        let at = usize::from(self.wave.base.checked_sub(size)?);
        (at < self.stack.len()).then_some(at)
    }

    /// Returns whether loops of type `lt` count their passes: those of LOOP_START_DX10 only if the unit is built so
    /// (r700-4.3-z).
    fn counts(&self, lt: u8) -> bool {
        lt != loop_::DX10 || self.dx10_count
    }

    /// Returns the innermost loop or call frame.
    fn innermost(&self) -> Option<Frame> {
        self.innermost_at().map(|at| self.stack[at])
    }

    // ---- one ALU clause instruction -----------------------------------------------------------------

    fn alu_step(&mut self, dw1: u32, upd: bool, pred: u64) -> Result<Outcome, Error> {
        let op = bits(dw1, 29, 26);
        let class = match op {
            ALU_BREAK => BRK,
            ALU_CONTINUE => CONT,
            ALU | ALU_PUSH_BEFORE | ALU_POP_AFTER | ALU_POP2_AFTER | ALU_ELSE_AFTER => BRANCH,
            _ => return Err(Error::Illegal),
        };
        if op == ALU_BREAK || op == ALU_CONTINUE {
            self.in_loop()?;
        }
        let exec = self.of_class(ACTIVE);
        if op == ALU_PUSH_BEFORE || (op == ALU_ELSE_AFTER && upd) {
            // Also when no lane is ACTIVE (r700-4.3-q).
            self.push_branch()?;
        }
        if upd {
            // ALU r700-4.3-p; ALU_BREAK and ALU_CONTINUE r700-4.3-s.
            self.switch_off(pred, class);
        }
        match op {
            ALU_POP_AFTER => self.pop(1, false)?, // r700-4.3-r
            ALU_POP2_AFTER => self.pop(2, false)?,
            ALU_ELSE_AFTER => self.invert(true, false)?, // r700-4.3-t
            _ => {}
        }
        Ok(Outcome {
            exec,
            ..Outcome::stay(self.wave.pc.wrapping_add(1))
        })
    }

    // ---- one other CF instruction -------------------------------------------------------------------

    fn cf_step(&mut self, dw0: u32, dw1: u32) -> Result<Outcome, Error> {
        let General {
            op,
            cond,
            cf_const,
            pops,
            calls,
            vpm,
            wqm,
        } = General::of(dw1);
        let next = self.wave.pc.wrapping_add(1);
        if is_slot(op) {
            // Memory and export have no COND field.
            let cond = if op >= 32 { 0 } else { cond };
            return Ok(Outcome {
                exec: self.test(cond, cf_const, vpm),
                ..Outcome::stay(next)
            });
        }
        if !matches!(op, LOOP_START..=POP | CALL | RETURN | KILL) {
            return Err(Error::Illegal);
        }
        // WQM: r700-4.2-b; other instructions ignore it (r700-4.2-a).
        if wqm || (op == CALL && pops > 0) {
            return Err(Error::Field);
        }
        let ok = self.test(cond, cf_const, vpm);
        let some = ok != 0;

        match op {
            // r700-4.3-b
            JUMP => {
                if some {
                    return Ok(Outcome::stay(next));
                }
                self.pop(pops, vpm)?;
                Ok(Outcome::jump(dw0))
            }

            // r700-4.3-c
            PUSH => {
                if !some {
                    // Nothing is pushed.
                    self.pop(pops, vpm)?;
                    return Ok(Outcome::jump(dw0));
                }
                self.push_branch()?;
                self.switch_off(ok, BRANCH);
                Ok(Outcome::stay(next))
            }

            // r700-4.3-d
            PUSH_ELSE => {
                self.push_branch()?;
                self.switch_off(ok, BRANCH);
                Ok(if some {
                    Outcome::stay(next)
                } else {
                    Outcome::jump(dw0)
                })
            }

            // r700-4.3-e
            POP => {
                self.pop(pops, vpm)?;
                self.switch_off(self.test(cond, cf_const, vpm), BRANCH);
                Ok(Outcome::stay(next))
            }

            // r700-4.3-f
            ELSE => {
                self.invert(self.cond_ok(cond, cf_const), vpm)?;
                if self.of_class(ACTIVE) != 0 {
                    return Ok(Outcome::stay(next));
                }
                self.pop(pops, vpm)?;
                Ok(Outcome::jump(dw0))
            }

            // r700-4.3-g, r700-4.3-h; the loop registers r700-4.3-w
            LOOP_START | LOOP_START_NO_AL | LOOP_START_DX10 => {
                let w = self.loop_const[cf_const as usize];
                let count = bits(w, 11, 0) as u16;
                let lt = match op {
                    LOOP_START => loop_::AL,
                    LOOP_START_NO_AL => loop_::NO_AL,
                    _ => loop_::DX10,
                };
                let counts = self.counts(lt);
                if !some || (counts && count == 0) {
                    // The loop is not entered.
                    self.pop(pops, vpm)?;
                    return Ok(Outcome::jump(dw0));
                }
                let t = self.wave;
                self.put(Frame::Loop(LoopFrame {
                    st: t.st,
                    lt: t.lt,
                    lc: t.lc,
                    al: t.al,
                    inc: t.inc,
                    base: t.base,
                    bkind: t.bkind,
                }))?;
                self.set_class(ok, ACTIVE);
                self.set_class(self.all & !ok, BRK);
                let t = &mut self.wave;
                (t.base, t.bkind) = (t.sp, frame::LOOP);
                (t.lt, t.lc) = (lt, if counts { count } else { 0 });
                // For the others, al and inc stay those of the outer loop.
                if op == LOOP_START {
                    (t.al, t.inc) = (bits(w, 23, 12), bits(w, 31, 24) as u8);
                }
                Ok(Outcome::stay(next))
            }

            LOOP_END => {
                let frame = self.in_loop()?;
                if self.wave.sp != self.wave.base {
                    return Err(Error::LoopOpen);
                }
                self.set_class(self.all & !self.of_class(BRK), ACTIVE);
                let ok = self.test(cond, cf_const, vpm);
                let counts = self.counts(self.wave.lt);
                if ok != 0 && (!counts || self.wave.lc > 1) {
                    // Another iteration (r700-4.3-i).
                    self.switch_off(ok, BRK);
                    let t = &mut self.wave;
                    if counts {
                        t.lc -= 1;
                    }
                    if t.lt == loop_::AL {
                        // The step is signed; aL wraps in 32 bits.
                        t.al = t.al.wrapping_add_signed(i32::from(t.inc as i8));
                    }
                    return Ok(Outcome::jump(dw0));
                }
                // Leave the loop (r700-4.3-j).
                let t = &mut self.wave;
                t.sp -= self.subentries;
                t.st = frame.st;
                (t.lt, t.lc, t.al, t.inc) = (frame.lt, frame.lc, frame.al, frame.inc);
                (t.base, t.bkind) = (frame.base, frame.bkind);
                self.drop_invalid(vpm);
                Ok(Outcome::stay(next))
            }

            // r700-4.3-k, r700-4.3-l
            LOOP_BREAK | LOOP_CONTINUE => {
                self.in_loop()?;
                self.set_class(ok, if op == LOOP_BREAK { BRK } else { CONT });
                if self.of_class(ACTIVE) != 0 || self.of_class(BRANCH) != 0 {
                    return Ok(Outcome::stay(next));
                }
                // Drop the branch frames of this iteration.
                let t = &mut self.wave;
                t.nb -= t.sp - t.base;
                t.sp = t.base;
                Ok(Outcome::jump(dw0))
            }

            // r700-4.3-m
            CALL => {
                if !some {
                    return Ok(Outcome::stay(next));
                }
                let depth = u32::from(self.wave.depth) + calls;
                if depth > MAX_DEPTH {
                    self.wave.skipped = true;
                    return Ok(Outcome::stay(next));
                }
                self.put(Frame::Call(CallFrame {
                    ret: next,
                    depth: self.wave.depth,
                    base: self.wave.base,
                    bkind: self.wave.bkind,
                }))?;
                let t = &mut self.wave;
                (t.base, t.bkind) = (t.sp, frame::CALL);
                t.depth = depth as u8;
                Ok(Outcome::jump(dw0))
            }

            // r700-4.3-n
            RETURN => {
                let frame = match self.innermost() {
                    Some(Frame::Call(frame)) if self.wave.sp == self.wave.base => frame,
                    _ => return Err(Error::NoCall),
                };
                let wants = self.of_class(ACTIVE) & self.counted(vpm);
                if wants & !ok != 0 {
                    return Ok(Outcome::stay(next));
                }
                let t = &mut self.wave;
                t.sp -= 1;
                (t.depth, t.base, t.bkind) = (frame.depth, frame.base, frame.bkind);
                Ok(Outcome::jump(frame.ret))
            }

            _ => {
                // KILL (r700-4.3-o).
                self.wave.valid &= !ok;
                Ok(if self.wave.valid != 0 {
                    Outcome::stay(next)
                } else {
                    Outcome::jump(dw0)
                })
            }
        }
    }

    // ---- one instruction, committed whole or not at all -----------------------------------------------

    fn step(&mut self, pins: &In) -> Event {
        let before = self.wave;
        match self.execute(pins) {
            Ok(outcome) => {
                (self.exec, self.jump) = (outcome.exec, outcome.jump);
                self.running = !self.wave.done;
                Event::Executed { jump: outcome.jump }
            }
            Err(code) => {
                // Nothing else changes (r700-6-a).
                self.wave = before;
                self.halt(code);
                Event::Halted(code)
            }
        }
    }

    /// Executes one instruction: determines the lanes that execute it and whether it jumps (r700-4.4-a), and checks END_STACK
    /// and PC_RANGE after the instruction's own checks (r700-4.4-b).
    fn execute(&mut self, pins: &In) -> Result<Outcome, Error> {
        let (outcome, end) = if is_alu(pins.dw1) {
            // The ALU format has no END_OF_PROGRAM.
            (self.alu_step(pins.dw1, pins.u == 1, pins.pred)?, false)
        } else {
            let end = bits(pins.dw1, 21, 21) == 1;
            (self.cf_step(pins.dw0, pins.dw1)?, end)
        };
        if end && self.wave.sp > 0 {
            return Err(Error::EndStack);
        }
        if !end && outcome.next_pc >= self.prog_len {
            return Err(Error::PcRange);
        }
        (self.wave.pc, self.wave.done) = (outcome.next_pc, end); // r700-4.3-y
        Ok(outcome)
    }

    fn halt(&mut self, code: Error) {
        (self.wave.err, self.wave.halted) = (code as u8, true);
        self.running = false;
    }
}

// ---- the bench's view ---------------------------------------------------------------------------------

impl reconverge_bench::design::Golden<super::R700> for Golden {
    const HIDES: bool = true;
    fn build(build: &Build) -> Self {
        let value = |name| build.value::<super::R700>(name);
        Golden::with(build.lanes as usize, value("MAX_STACK_SIZE") as usize)
            .with_subentries(value("SUBENTRIES") as u16)
            .with_dx10_count(value("DX10_COUNT") == 1)
    }
    fn cycle(&mut self, pins: &In) -> &State {
        Golden::cycle(self, pins)
    }
    fn state(&self) -> &State {
        Golden::state(self)
    }
    fn explain(&self, pins: &In, field: &str, element: usize) -> String {
        Golden::explain(self, pins, field, element)
    }
}

impl crate::unit::Executor<super::R700> for Golden {
    fn load(&mut self, state: &State) {
        Golden::load(self, state);
    }
    #[inline]
    fn step(&self) -> Step {
        match self.event {
            Event::Executed { .. } => Step::Executed,
            Event::Halted(_) => Step::Failed,
            _ => Step::None,
        }
    }
}
