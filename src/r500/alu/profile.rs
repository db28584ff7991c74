//! Divergence in numbers: the cost of a program's instructions, and how many lanes of a wavefront each one
//! serves.

use std::ops::Range;

use crate::r500::asm::statement;
use crate::r500::isa::{AOp, BOp, Fc, Op};
use crate::r500::program::Program;
use crate::r500::state::State;

/// The counts of one instruction, over all wavefronts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Executions, that is, cycles without stalls.
    pub cycles: u64,
    /// Sum of the covered lanes that were ACTIVE before it.
    pub lanes: u64,
    /// Sum of the covered lanes of the wavefronts: the maximum of `lanes`.
    pub room: u64,
    /// Sum of the covered lanes that were ACTIVE before and after it.
    pub stayed: u64,
    /// Executions in which lanes diverged: some that were ACTIVE stayed so, others did not.
    pub diverged: u64,
}

impl Count {
    fn add(&mut self, other: &Count) {
        self.cycles += other.cycles;
        self.lanes += other.lanes;
        self.room += other.room;
        self.stayed += other.stayed;
        self.diverged += other.diverged;
    }

    /// Returns the SIMD efficiency: the share of the covered lanes that executed it; `None` if it was not executed.
    pub fn efficiency(&self) -> Option<f64> {
        (self.room > 0).then(|| self.lanes as f64 / self.room as f64)
    }
}

/// The counts of each instruction of a program, slot by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile(Vec<Count>);

impl Profile {
    /// Returns the profile of `program` before any execution.
    pub fn new(program: &Program) -> Self {
        Profile(vec![Count::default(); program.slots.len()])
    }

    /// Counts an instruction of `program` that took `before` to `after` in a wavefront with these lanes covered.
    pub fn executed(&mut self, program: &Program, covered: u64, before: &State, after: &State) {
        let slot = before.pc.wrapping_sub(program.regs.offset());
        let Some(count) = self.0.get_mut(usize::from(slot)) else {
            return;
        };
        let on = before.active & covered;
        let stayed = on & after.active;
        count.cycles += 1;
        count.lanes += u64::from(on.count_ones());
        count.room += u64::from(covered.count_ones());
        count.stayed += u64::from(stayed.count_ones());
        count.diverged += u64::from(stayed != 0 && stayed != on);
    }

    /// Adds the counts of other wavefronts of the same program.
    pub fn add(&mut self, other: &Profile) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), Count::default());
        }
        for (count, other) in self.0.iter_mut().zip(&other.0) {
            count.add(other);
        }
    }

    /// Returns the sum of the counts of `slots`; missing slots count 0.
    pub fn sum(&self, slots: Range<usize>) -> Count {
        let mut sum = Count::default();
        let end = slots.end.min(self.0.len());
        for count in &self.0[slots.start.min(end)..end] {
            sum.add(count);
        }
        sum
    }

    /// Returns the sum of all counts.
    pub fn total(&self) -> Count {
        self.sum(0..self.0.len())
    }
}

/// A part of a program that a branch leads into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// `then`, `else` or `body`.
    pub name: &'static str,
    /// Its instructions, by slot.
    pub slots: Range<usize>,
}

/// An instruction at which lanes may part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its slot.
    pub slot: usize,
    /// Its nesting depth.
    pub depth: usize,
    /// The statement.
    pub what: String,
    /// The parts that it leads into; empty for BREAK, CONTINUE, RETURN and words that are not statements.
    pub arms: Vec<Arm>,
}

/// Ends the innermost open arm before `slot`.
fn close(all: &mut [Branch], open: &mut Vec<(usize, usize)>, slot: usize) {
    let Some((of, from)) = open.pop() else {
        return;
    };
    let branch = &mut all[of];
    let name = match (branch.what.starts_with("IF"), branch.arms.is_empty()) {
        (true, true) => "then",
        (true, false) => "else",
        (false, _) => "body",
    };
    branch.arms.push(Arm {
        name,
        slots: from..slot,
    });
}

/// Returns the branches of `program` in the order of their slots. Words that do not nest like statements
/// (r500-7.1) have no arms.
pub fn branches(program: &Program) -> Vec<Branch> {
    let mut all: Vec<Branch> = Vec::new();
    // Number in `all`, and the beginning of the open arm.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (slot, words) in program.slots.iter().enumerate() {
        let Some(fc) = Fc::decode(*words) else {
            continue;
        };
        let inst = fc;
        let what = statement(*words);
        let branch = |open: &[(usize, usize)], what| Branch {
            slot,
            depth: open.len(),
            what,
            arms: Vec::new(),
        };
        match (inst.op, &what) {
            (Op::Loop | Op::Rep, Some(what)) => {
                open.push((all.len(), slot + 1));
                all.push(branch(&open[..open.len() - 1], what.clone()));
            }
            // The end of a loop belongs to its body: it is executed in each iteration.
            (Op::EndLoop | Op::EndRep, _) => {
                close(&mut all, &mut open, slot + 1);
            }
            (Op::BreakLoop | Op::BreakRep | Op::Continue, _) => {
                let what = what.unwrap_or_else(|| inst.op.name().to_owned());
                all.push(branch(&open, what));
            }
            (Op::Jump, Some(_)) if inst.b_else && inst.b_op0 == BOp::None => {
                // The other arm of the same IF.
                if let Some(&(of, _)) = open.last() {
                    close(&mut all, &mut open, slot);
                    open.push((of, slot + 1));
                }
            }
            (Op::Jump, Some(_)) if inst.b_op0 == BOp::Decr && inst.a_op == AOp::None => {
                for _ in 0..inst.b_pop_cnt {
                    close(&mut all, &mut open, slot);
                }
            }
            (Op::Jump, Some(what)) if inst.b_op0 == BOp::Incr && inst.a_op == AOp::None => {
                open.push((all.len(), slot + 1));
                all.push(branch(&open[..open.len() - 1], what.clone()));
            }
            (Op::Jump, _) => {
                let what = what.unwrap_or_else(|| inst.op.name().to_owned());
                all.push(branch(&open, what));
            }
            (_, None) => all.push(branch(&open, inst.op.name().to_owned())),
        }
    }
    all
}
