//! The scalar machine: one lane alone, with a program counter, a loop stack and an address stack.
//!
//! There is no mask here, no branch counter and no lane class. The machine runs the words of a
//! program for ONE lane: where that lane wants to jump, it jumps; otherwise it continues. In a
//! structured program (r500-8.1) every lane of a
//! wavefront executes exactly the ALU, TEX and OUT instructions that it executes here, in the same
//! order and with the same aL.
//!
//! [`Scalar::new`] decides once, from the words, whether a program is structured: it follows
//! every path that a wavefront could take and keeps, for each address, what is open there (branch
//! levels, loops, the subroutine) and where the lanes that wait at each level would continue alone. It
//! accepts a program if all paths agree and every waiting lane wakes at exactly the address where it
//! would be alone. The forms are those of r500-7.1, with any value in fields that have no effect;
//! anything else is [`NotStructured`], never a guess.
//!
//! One word cannot be interpreted alone without that pass. A lane that arrives ACTIVE at an ELSE goes to
//! its target if the jump closes the level (`B_OP1` DECR), but the target of a fused ELSE IF is the
//! inner ELSE part, and the lane continues after the ENDIF that closes the level.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::isa::{AOp, BOp, Op, PredSel};
use super::program::Program;
use super::state::values::error::{
    ADDR_OVERFLOW, ADDR_UNDERFLOW, BRANCH_OVERFLOW, ILLEGAL, LOOP_KIND, LOOP_OVERFLOW,
    LOOP_UNDERFLOW, PARTIAL, PC_RANGE,
};

mod addresses;
mod survey;
mod words;
use addresses::ByAddress;
use survey::{OpenAt, Step, Successors, Survey, check_no_uncounted_cycle};
pub(super) use words::Fc;

/// Frames of the loop stack and entries of the address stack (r500-3.2).
const STACK_DEPTH: usize = 4;

/// Why the lanes of a wavefront need not follow their scalar paths in this program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("address {pc}: {why}")]
pub struct NotStructured {
    /// Absolute address of the instruction.
    pub pc: u16,
    /// The rule of r500-7.1 or r500-8.2 that it breaks.
    pub why: &'static str,
}

/// The end of a run of one lane.
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

/// The run of one lane alone.
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

/// The most levels, frames and addresses in use at once, over all paths (r500-8.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Branch levels: IFs, CALLs with counters and conditional RETURNs on the path. Limit 32
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

fn no<T>(pc: u16, why: &'static str) -> Step<T> {
    Err(NotStructured { pc, why })
}

fn start(program: &Program) -> u16 {
    program.regs.offset() + program.regs.start()
}

fn end(program: &Program) -> u16 {
    program.regs.offset() + program.regs.end()
}

/// Returns the first and last address of the code window (r500-O32).
fn window(program: &Program) -> (u16, u16) {
    let range = program.regs.code_range;
    let low = (range & 0x1ff) as u16;
    let size = (range >> 16 & 0x1ff) as u16;
    (low, (low + size).min(511))
}

/// Returns the target of a jump that is not a RETURN (r500-2.4).
fn target(program: &Program, fc: &Fc) -> u16 {
    let base = if fc.jump_global {
        0
    } else {
        program.regs.offset()
    };
    base + fc.jump_addr
}

/// Returns count, init and step of the integer constant that `fc` names (r500-2.5).
fn constant(program: &Program, fc: &Fc) -> (u8, u8, u8) {
    let [kr, kg, kb, _] = program.regs.int_const[usize::from(fc.int_addr)].to_le_bytes();
    (kr, kg, kb)
}

fn is_illegal(fc: &Fc) -> bool {
    fc.a_op == AOp::Reserved
        || fc.b_op0 == BOp::Reserved
        || fc.b_op1 == BOp::Reserved
        || matches!(
            fc.pred_sel,
            PredSel::Rgba | PredSel::Reserved6 | PredSel::Reserved7
        )
}

/// Returns whether `JUMP_FUNC` is true for a lane with these condition bits: 0 ALU result, 1 to 4 predicates R, G, B, A
/// (r500-2.3, r500-O23).
fn wants_to_jump(program: &Program, fc: &Fc, conditions: u16) -> bool {
    let selected = match fc.pred_sel {
        PredSel::R => conditions >> 1,
        PredSel::G => conditions >> 2,
        PredSel::B => conditions >> 3,
        PredSel::A => conditions >> 4,
        _ => 1,
    };
    let predicate = selected & 1 ^ u16::from(fc.pred_inv);
    let boolean = (program.regs.bool_const >> fc.bool_addr & 1) as u16;
    let index = (conditions & 1) << 2 | predicate << 1 | boolean;
    fc.jump_func >> index & 1 == 1
}

/// One lane alone in a structured program.
pub struct Scalar<'p> {
    program: &'p Program,
    /// Where a lane continues that arrives ACTIVE at a `B_ELSE` which leaves its level open.
    behind: ByAddress<u16>,
    depth: Option<Depth>,
    errors: u16,
    k_differs: bool,
}

impl<'p> Scalar<'p> {
    /// Reads the structure of `program` from its words.
    ///
    /// # Errors
    ///
    /// [`NotStructured`] names the first instruction found that is none of the statements of r500-7.1,
    /// or is one in the wrong place. Programs that end in an error of r500-6 by
    /// themselves, for example a BREAK with no loop open, are accepted: a lane alone meets that
    /// error too.
    pub fn new(program: &'p Program) -> Result<Self, NotStructured> {
        let mut survey = Survey {
            program,
            places: ByAddress::default(),
            depths: ByAddress::default(),
            loops: ByAddress::default(),
            behind: ByAddress::default(),
            errors: 0,
            k_differs: false,
        };
        let successors = survey.walk()?;
        survey.check_loops()?;
        check_no_uncounted_cycle(&successors)?;
        let mut behind = ByAddress::default();
        for (pc, &wake) in survey.behind.iter() {
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
            &mut ByAddress::default(),
        );
        let branch_limit = if program.regs.full() { 32 } else { 4 };
        let mut errors = survey.errors;
        // A recursion has no fixed depth; the address stack ends it at some level.
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

    /// Returns the most branch levels, loops and calls that any path has open at once; `None` if a
    /// subroutine can call itself.
    pub fn depth(&self) -> Option<Depth> {
        self.depth
    }

    /// Returns a mask with bit c set if a wavefront of this program may end with error c (r500-6). Any other error
    /// is a bug of the unit. A wavefront that ends in an error has executed, for each lane, a
    /// prefix of what the lane executes alone.
    ///
    /// Bits 5, 6 and 8 are set if the deepest nesting exceeds a limit (r500-8.2); at run time this
    /// happens only if lanes go there.
    pub fn possible_errors(&self) -> u16 {
        self.errors
    }

    /// Returns whether the number of flow-control instructions that a lane executes, and so its k, depends
    /// on the other lanes.
    ///
    /// This is true if an ELSE is fused with another IF (r500-7.1): alone, a lane goes through the out-of-line
    /// copy of the test; among others it wakes at the fused word. It is also true if an IF jumps *to*
    /// its ENDIF, which a lane alone executes, but lanes that it wakes do not. Conditions that are a
    /// function of k must then be recorded and played back by the count of executed non-FC
    /// instructions. In every other structured program k is the same alone and in a wavefront, if
    /// an instruction counts for a lane that is ACTIVE before it, and an ENDLOOP or ENDREP also for
    /// the continued lanes that it returns (r500-4.1-e).
    pub fn k_depends_on_others(&self) -> bool {
        self.k_differs
    }

    /// Runs one lane from the first instruction, for at most `max_steps` instructions.
    ///
    /// `conditions(k, pc, al)` is called for each ALU, TEX or OUT instruction executed, with the number
    /// of instructions executed before it, its address and aL. It returns the condition bits that the instruction
    /// leaves: bit 0 the ALU result, bits 1 to 4 the predicates R, G, B, A. All are 0 before the first; any FC
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

    /// Executes one flow-control instruction.
    ///
    /// # Errors
    /// The lowest code of the errors that it meets.
    fn flow(&self, lane: &mut Trace, fc: &Fc, drawn: u16) -> Result<(), u8> {
        let op = fc.op;
        if is_illegal(fc) {
            return Err(ILLEGAL);
        }
        if !self.program.regs.full() && (op != Op::Jump || fc.a_op != AOp::None) {
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
            _ => fc.b_else || wants_to_jump(self.program, fc, drawn),
        };

        let begins = matches!(op, Op::Loop | Op::Rep) && !jumps;
        if begins && lane.loops.len() == STACK_DEPTH {
            return Err(LOOP_OVERFLOW);
        }
        let mut next = lane.pc + 1;
        if jumps {
            next = match fc.a_op {
                AOp::Push if lane.addrs.len() == STACK_DEPTH => return Err(ADDR_OVERFLOW),
                AOp::Pop => *lane.addrs.last().ok_or(ADDR_UNDERFLOW)?,
                _ => match self.behind.get(lane.pc) {
                    Some(&behind) => behind,
                    None => target(self.program, fc),
                },
            };
            let (low, high) = window(self.program);
            if !(low..=high).contains(&next) {
                return Err(PC_RANGE);
            }
            match fc.a_op {
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

/// Returns the deepest nesting from `entry` on, including called subroutines; `None` for a recursion.
fn depth(
    survey: &Survey,
    successors: &Successors,
    entry: u16,
    callers: &mut Vec<u16>,
    known: &mut ByAddress<Depth>,
) -> Option<Depth> {
    if let Some(&depth) = known.get(entry) {
        return Some(depth);
    }
    if callers.contains(&entry) {
        return None;
    }
    callers.push(entry);
    let mut deepest = Depth::default();
    let mut seen = ByAddress::default();
    seen.insert(entry, ());
    let mut work = vec![entry];
    while let Some(pc) = work.pop() {
        let here = survey.places.get(pc).map(OpenAt::depth).unwrap_or_default();
        let behind = survey.depths.get(pc).copied().unwrap_or_default();
        deepest = deepest.max(here).max(behind);
        if let Some(fc) = Fc::decode(survey.program.slot(pc))
            && fc.op == Op::Jump
            && fc.a_op == AOp::Push
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
        for &(to, _) in successors.get(pc).into_iter().flatten() {
            if seen.get(to).is_none() {
                seen.insert(to, ());
                work.push(to);
            }
        }
    }
    callers.pop();
    known.insert(entry, deepest);
    Some(deepest)
}

#[cfg(test)]
mod tests;
