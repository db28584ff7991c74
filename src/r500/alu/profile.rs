//! Divergence as numbers: what a program's instructions cost, and how many of a wavefront's lanes each one
//! serves.

use std::ops::Range;

use crate::r500::asm::statement;
use crate::r500::isa::{AOp, BOp, Fc, Op};
use crate::r500::program::Program;
use crate::r500::state::State;

/// What one instruction did, over all wavefronts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How often it was executed: cycles, without stalls.
    pub cycles: u64,
    /// Covered lanes that were ACTIVE before it, added up.
    pub lanes: u64,
    /// Covered lanes of the wavefronts, added up: what `lanes` could be.
    pub room: u64,
    /// Covered lanes that were ACTIVE before and after it, added up.
    pub stayed: u64,
    /// How often it parted lanes: some that were ACTIVE stayed so, others did not.
    pub parted: u64,
}

impl Count {
    fn add(&mut self, other: &Count) {
        self.cycles += other.cycles;
        self.lanes += other.lanes;
        self.room += other.room;
        self.stayed += other.stayed;
        self.parted += other.parted;
    }

    /// SIMD efficiency: the share of the covered lanes that executed it; `None` if it was not executed.
    pub fn efficiency(&self) -> Option<f64> {
        (self.room > 0).then(|| self.lanes as f64 / self.room as f64)
    }
}

/// What each instruction of a program did, slot by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile(Vec<Count>);

impl Profile {
    /// Of `program`, nothing executed.
    pub fn new(program: &Program) -> Self {
        Profile(vec![Count::default(); program.slots.len()])
    }

    /// An instruction of `program` took `before` to `after` in a wavefront with these lanes covered.
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
        count.parted += u64::from(stayed != 0 && stayed != on);
    }

    /// Adds what other wavefronts of the same program did.
    pub fn add(&mut self, other: &Profile) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), Count::default());
        }
        for (count, other) in self.0.iter_mut().zip(&other.0) {
            count.add(other);
        }
    }

    /// What the instructions of `slots` did together; slots that there are not did nothing.
    pub fn sum(&self, slots: Range<usize>) -> Count {
        let mut sum = Count::default();
        let end = slots.end.min(self.0.len());
        for count in &self.0[slots.start.min(end)..end] {
            sum.add(count);
        }
        sum
    }

    /// What all instructions did.
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
    /// How deep it lies in others.
    pub depth: usize,
    /// The statement.
    pub what: String,
    /// Where it leads; nothing for BREAK, CONTINUE, RETURN and what is no statement.
    pub arms: Vec<Arm>,
}

/// The innermost open arm ends before `slot`.
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

/// The branches of `program` in the order of their slots, as far as its words nest like statements
/// (r500-7.1): what does not, has no arms.
pub fn branches(program: &Program) -> Vec<Branch> {
    let mut all: Vec<Branch> = Vec::new();
    // Number in `all`, and where the arm that is open begins.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (slot, words) in program.slots.iter().enumerate() {
        let Some(fc) = Fc::decode(*words) else {
            continue;
        };
        let inst = fc.inst;
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
            // It belongs to the body: it is executed once a pass.
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
