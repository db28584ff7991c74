//! The properties of instructions that bins count, from the words and the state before them.

use super::axes::{AOp, Around, BOp, LoopKind, Reserved, Stacking, Why};
use super::sample::Memory;
use super::{begins, breaks, ends};
use crate::axes::classes;
use crate::r500::isa::{AOp as AddrOp, BOp as BranchOp, Fc, Op, PredSel};
use crate::r500::state::{In, State};
use reconverge_campaign::cover::{ValueSet, Values as _};

/// Returns the lanes whose counter, given as bit planes, is below `than`.
pub(super) fn below(planes: &[u64], than: u8) -> u64 {
    let (mut less, mut equal) = (0, u64::MAX);
    for (bit, plane) in planes.iter().enumerate().rev() {
        if than >> bit & 1 == 1 {
            less |= equal & !plane;
            equal &= plane;
        } else {
            equal &= !plane;
        }
    }
    less
}

/// Returns the highest counter among `lanes`, which is not empty.
pub(super) fn highest(planes: &[u64], lanes: u64) -> u8 {
    let (mut of, mut value) = (lanes, 0);
    for (bit, plane) in planes.iter().enumerate().rev() {
        if of & plane != 0 {
            of &= plane;
            value |= 1 << bit;
        }
    }
    value
}

/// A flow-control instruction and its lanes: r500-4.1, steps 0 to 5, on whole masks.
pub(super) struct Flow {
    pub(super) fc: Fc,
    /// Classes before the step, and after its step 2.
    pub(super) before: [u64; 4],
    pub(super) active: u64,
    pub(super) branch: u64,
    pub(super) cont: u64,
    pub(super) brk: u64,
    pub(super) else_off: u64,
    pub(super) returned: u64,
    /// Lanes that want to jump.
    pub(super) want: u64,
    /// Lanes that the instruction consults.
    pub(super) consulted: u64,
    pub(super) boolean: bool,
    /// Count, init and step of the constant.
    pub(super) kr: u8,
    pub(super) kg: u8,
    pub(super) kb: i8,
    /// The frame on top (is REP, count, aL), and the one below it.
    pub(super) top: Option<(bool, u8, u8)>,
    pub(super) around: Around,
    pub(super) forced: Option<bool>,
}

impl Flow {
    pub(super) fn new(s: &State, pins: &In, all: u64) -> Self {
        let fc = Fc::of([pins.cmn.into(), pins.inst.into(), pins.addr.into()]);
        let op = fc.op;
        let before = classes(s.st, all);
        let [mut active, mut branch, mut cont, brk] = before;
        let counted = s.bc.iter().fold(0, |a, plane| a | plane);
        let else_off = if fc.b_else { active } else { 0 };
        if fc.b_else {
            (active, branch) = (branch & !counted, branch & counted | active);
        }
        let returned = if ends(op) {
            cont & !(s.lc[0] | s.lc[1])
        } else {
            0
        };
        active |= returned;
        cont &= !returned;

        let boolean = s.bool_const >> fc.bool_addr & 1 == 1;
        let selected = match fc.pred_sel {
            PredSel::R => pins.pred[0],
            PredSel::G => pins.pred[1],
            PredSel::B => pins.pred[2],
            PredSel::A => pins.pred[3],
            _ => u64::MAX,
        };
        let predicate = if fc.pred_inv { !selected } else { selected };
        let table = |alu: u8, pred: u8| match fc.jump_func
            >> (alu << 2 | pred << 1 | u8::from(boolean))
            & 1
        {
            0 => 0,
            _ => u64::MAX,
        };
        let wish = pins.alu & predicate & table(1, 1)
            | pins.alu & !predicate & table(1, 0)
            | !pins.alu & predicate & table(0, 1)
            | !pins.alu & !predicate & table(0, 0);

        let constant = s.int(fc.int_addr.into());
        let depth = usize::from(s.loop_depth);
        let frame = |from_top: usize| depth.checked_sub(from_top).map(|f| s.frame(f));
        let (top, kr) = (frame(1), constant as u8);
        let below = if begins(op) { top } else { frame(2) };
        let forced = match top {
            _ if begins(op) && kr == 0 => Some(true),
            Some((_, 1, _)) if ends(op) => Some(false),
            _ => None,
        };
        Flow {
            fc,
            before,
            active,
            branch,
            cont,
            brk,
            else_off,
            returned,
            want: active & wish | else_off,
            consulted: if fc.ignore_uncovered {
                pins.cov & all
            } else {
                all
            },
            boolean,
            kr,
            kg: (constant >> 8) as u8,
            kb: (constant >> 16) as i8,
            top,
            around: Around::of(below),
            forced,
        }
    }

    /// Returns the voters (r500-4.2-a), if the lanes of `consulted` are consulted.
    pub(super) fn voters(&self, consulted: u64) -> u64 {
        let leaves = breaks(self.fc.op) || self.fc.op == Op::Continue;
        (self.active | if leaves { 0 } else { self.else_off }) & consulted
    }

    /// Returns the lanes that hold the unit back: BRANCH lanes and CONT lanes.
    pub(super) fn holders(&self, consulted: u64) -> (u64, u64) {
        let leaves = breaks(self.fc.op) || self.fc.op == Op::Continue;
        let branch = if leaves { self.branch } else { 0 };
        let cont = if breaks(self.fc.op) { self.cont } else { 0 };
        (branch & consulted, cont & consulted)
    }

    /// Returns whether the unit jumps by the decision of `voters` alone.
    pub(super) fn vote(&self, voters: u64) -> bool {
        match self.fc.jump_any {
            true => voters & self.want != 0,
            false => voters & !self.want == 0,
        }
    }

    /// Returns the decision and its reason. Being held back is the reason only if it changes the decision.
    pub(super) fn decide(&self, consulted: u64) -> (bool, Why) {
        match self.forced {
            Some(true) => return (true, Why::CountZero),
            Some(false) => return (false, Why::LastPass),
            None => {}
        }
        let voters = self.voters(consulted);
        let jump = self.vote(voters);
        let why = match (
            self.holders(consulted),
            voters & self.want,
            voters & !self.want,
        ) {
            ((b, 0), ..) if jump && b != 0 => Why::HeldByBranch,
            ((0, c), ..) if jump && c != 0 => Why::HeldByCont,
            ((b, c), ..) if jump && b != 0 && c != 0 => Why::HeldByBoth,
            (_, 0, 0) => Why::NoVoter,
            (_, _, 0) => Why::AllWant,
            (_, 0, _) => Why::NoneWants,
            _ => Why::Split,
        };
        let held = matches!(why, Why::HeldByBranch | Why::HeldByCont | Why::HeldByBoth);
        (jump && !held, why)
    }

    pub(super) fn loop_kind(&self) -> LoopKind {
        LoopKind(matches!(self.fc.op, Op::Rep | Op::EndRep))
    }

    pub(super) fn stacking(&self) -> Option<Stacking> {
        Stacking::of(AOp::of(self.fc.a_op))
    }

    pub(super) fn b_op(&self, jump: bool) -> BOp {
        BOp::of(if jump { self.fc.b_op1 } else { self.fc.b_op0 })
    }

    /// Returns the target of a jump; `None` if there is nothing to pop.
    pub(super) fn target(&self, m: &Memory, s: &State) -> Option<u16> {
        match self.fc.a_op {
            AddrOp::Pop => usize::from(s.addr_depth).checked_sub(1).map(|n| s.addrs[n]),
            _ if self.fc.jump_global => Some(self.fc.jump_addr),
            _ => Some(self.fc.jump_addr + m.offset),
        }
    }

    pub(super) fn reserved(&self) -> ValueSet<Reserved> {
        let (i, pred) = (&self.fc, self.fc.pred_sel);
        Reserved::AOp.when(i.a_op == AddrOp::Reserved)
            | Reserved::BOp0.when(i.b_op0 == BranchOp::Reserved)
            | Reserved::BOp1.when(i.b_op1 == BranchOp::Reserved)
            | Reserved::PredSel1.when(pred == PredSel::Rgba)
            | Reserved::PredSel6.when(pred == PredSel::Reserved6)
            | Reserved::PredSel7.when(pred == PredSel::Reserved7)
    }
}
