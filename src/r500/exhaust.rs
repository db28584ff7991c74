//! The small worlds of the unit: their words, operands and conditions ([`reconverge_campaign::exhaust`]), and the invariants of
//! r500-3.5.

use super::R500;
use super::golden::Golden;
use super::isa::{AOp, BOp, Fc, Op, PredSel};
use super::program::Slot;
use super::state::{In, State};
use super::unit::host_write;
use reconverge_campaign::exhaust::{Bound, Small, World, subsets};

/// `OFFSET_ADDR`, and the first address of the code window, which has three addresses.
const FIRST: u16 = 4;
/// The last address of the window.
const LAST: u16 = 6;
/// `END_ADDR`, relative to `OFFSET_ADDR`: the address in the middle.
const END: u16 = 1;
/// Loop constants 0, 1, 2: iterations, first aL, step. The step of the second is -1.
const CONSTANTS: [u32; 3] = [0, 0xff_07_01, 0x02_01_02];
/// Booleans: 0 is false, 1 is true.
const BOOLEANS: u32 = 2;

/// An address outside the window, as a jump target.
const OUTSIDE: u16 = 100;

/// The small worlds of the unit that `exhaust` explores.
pub(super) const SMALL: Small<R500> = Small {
    lanes: 2,
    parameters: &[],
    bounds: &[
        Bound::new("full", 1, 0..=1, "1: full flow control, 0: partial"),
        Bound::new("loops", 1, 0..=4, "frames of the loop stack"),
        Bound::new("calls", 1, 0..=4, "entries of the address stack"),
        Bound::new("levels", 1, 0..=31, "value of a branch counter"),
    ],
    world: |build, limits| {
        let limit = |n: usize| limits.get(n).copied().unwrap_or(1);
        Box::new(Wavefront {
            lanes: build.lanes as usize,
            all: u64::MAX >> (64 - build.lanes),
            full: limit(0) == 1,
            loops: limit(1),
            calls: limit(2),
            levels: limit(3),
        })
    },
};

/// One wavefront.
struct Wavefront {
    lanes: usize,
    all: u64,
    full: bool,
    loops: u32,
    calls: u32,
    levels: u32,
}

/// Returns the cycle in which the lanes of `wants` want `fc` to jump. Conditions that they must not look at say the opposite. `way`: the
/// condition that gives their want; `cov`: the covered lanes, if the others do not vote.
fn pins(fc: Fc, wants: u64, cov: Option<u64>, way: usize) -> In {
    let no = !wants;
    let (mut alu, mut pred) = (no, [no; 4]);
    // The table, the boolean that it uses, the predicate, its inversion.
    let (mut func, mut boolean, mut select, mut inverted) = (0xcc, 0, 0, false);
    match way % 9 {
        0 => (func, alu) = (0xf0, wants),
        1 => (func, alu, pred) = (0x0f, no, [wants; 4]),
        2 => (select, pred[0]) = (2, wants),
        3 => {
            (select, inverted, alu) = (3, true, wants);
            pred = [wants; 4];
            pred[1] = no;
        }
        4 => {
            (func, select, alu) = (0x33, 4, wants);
            pred = [wants; 4];
            pred[2] = no;
        }
        5 => (select, pred[3]) = (5, wants),
        // ALU result and predicate A differ.
        6 => {
            (func, select) = (0x3c, 5);
            pred[3] = 0x5555_5555_5555_5555;
            alu = wants ^ pred[3];
        }
        // With boolean 1, which is true, the ALU result; with boolean 0, its complement.
        7 => (func, boolean, alu) = (0xa5, 1, wants),
        _ => (func, boolean, alu) = (0xa5, 0, no),
    }
    // Both ways to name the same target.
    let global = way & 1 == 1;
    let base = if global { 0 } else { FIRST };
    let word = Fc {
        jump_func: func,
        bool_addr: boolean,
        pred_sel: PredSel::from_bits(select),
        pred_inv: inverted,
        ignore_uncovered: cov.is_some(),
        jump_global: global,
        jump_addr: fc.jump_addr.wrapping_sub(base),
        ..fc
    };
    let Slot {
        cmn, inst, addr, ..
    } = word.encode();
    In {
        alu,
        pred,
        // Where all lanes are consulted, none is covered.
        cov: cov.unwrap_or(0),
        cmn,
        inst,
        addr,
        inst_valid: 1,
        ..In::default()
    }
}

impl Wavefront {
    /// Returns the sets of covered lanes to try; `None`: coverage does not count.
    fn covered(&self) -> Vec<Option<u64>> {
        let all = subsets(self.all).map(Some);
        std::iter::once(None).chain(all).collect()
    }

    /// Generates branches: every `B_OP0` and `B_OP1`, the else swap, both ways to count votes.
    fn branches(&self, way: &mut usize, each: &mut dyn FnMut(In)) {
        for n in 0..9 {
            let [b_op0, b_op1] = [n % 3, n / 3].map(BOp::from_bits);
            let pops = if [b_op0, b_op1].contains(&BOp::Decr) {
                0..3
            } else {
                1..2
            };
            for b_pop_cnt in pops {
                for choice in 0..4 {
                    let word = Fc {
                        b_op0,
                        b_op1,
                        b_pop_cnt,
                        jump_addr: LAST,
                        ..voting(choice)
                    };
                    self.conditions(word, &self.covered(), way, each);
                    let out = Fc {
                        jump_addr: OUTSIDE,
                        ..word
                    };
                    self.conditions(out, &[None], way, each);
                }
            }
        }
    }

    /// Generates `word` with every set of lanes that want to jump.
    fn conditions(
        &self,
        word: Fc,
        covered: &[Option<u64>],
        way: &mut usize,
        each: &mut dyn FnMut(In),
    ) {
        for wants in subsets(self.all) {
            for cov in covered {
                *way += 1;
                each(pins(word, wants, *cov, *way));
            }
        }
    }

    /// Generates calls, returns and loops: every `OP`, `A_OP` and loop constant.
    fn stacks(&self, way: &mut usize, each: &mut dyn FnMut(In)) {
        use BOp::{Decr, Incr, None as Keep};
        let mut kinds = vec![(Op::Jump, AOp::Pop, 0), (Op::Jump, AOp::Push, 0)];
        for op in &Op::ALL[1..] {
            let constants = if matches!(op, Op::Loop | Op::Rep) {
                3
            } else {
                1
            };
            kinds.extend((0..constants).map(|int| (*op, AOp::None, int)));
        }
        // A loop operation and a call operation in one instruction.
        kinds.extend([
            (Op::Loop, AOp::Push, 2),
            (Op::EndLoop, AOp::Push, 0),
            (Op::EndLoop, AOp::Pop, 0),
            (Op::BreakLoop, AOp::Pop, 0),
        ]);
        for (op, a_op, int_addr) in kinds {
            let kind = |choice| Fc {
                op,
                a_op,
                int_addr,
                jump_addr: FIRST,
                ..voting(choice)
            };
            for (b_op0, b_op1) in [
                (Keep, Keep),
                (Incr, Keep),
                (Keep, Decr),
                (Incr, Decr),
                (Decr, Incr),
            ] {
                for choice in 0..4 {
                    let word = Fc {
                        b_op0,
                        b_op1,
                        b_pop_cnt: 1,
                        ..kind(choice)
                    };
                    self.conditions(word, &self.covered(), way, each);
                }
            }
            let out = Fc {
                jump_addr: FIRST - 1,
                ..kind(2)
            };
            self.conditions(out, &[None], way, each);
        }
    }
}

/// Returns a JUMP with (1) or without the else swap, and with (2) or without `JUMP_ANY`.
const fn voting(choice: u32) -> Fc {
    Fc {
        b_else: choice & 1 == 1,
        jump_any: choice & 2 == 2,
        ..Fc::NOP
    }
}

impl World<R500> for Wavefront {
    fn setup(&self) -> Vec<In> {
        let mut writes: Vec<In> = (0..)
            .zip(CONSTANTS)
            .map(|(n, k)| host_write(n, k))
            .collect();
        writes.push(host_write(32, BOOLEANS));
        writes
    }

    fn launches(&self) -> Vec<In> {
        let [first, last, end] = [FIRST, LAST, END].map(u32::from);
        let launch = |start: u16| In {
            launch: 1,
            fc_ctrl: u32::from(self.full) << 31,
            code_addr: u32::from(start) | end << 16,
            code_range: first | (last - first) << 16,
            code_offset: first,
            ..In::default()
        };
        [0, 2, OUTSIDE].map(launch).into()
    }

    fn steps(&self, state: &State, each: &mut dyn FnMut(In)) {
        // ALU, OUT and TEX: their other words hold a flow-control instruction, which must not count.
        for kind in [0, 1, 3] {
            each(In {
                cmn: kind,
                inst: 0x0200_f000,
                inst_valid: 1,
                ..In::default()
            });
        }
        if !(FIRST..=LAST).contains(&state.pc) {
            return;
        }
        // Start with another condition for each instruction and in each state.
        let mut way =
            usize::from(state.pc) + usize::from(state.alu_clr) * 3 + state.active as usize;
        self.branches(&mut way, each);
        match self.full {
            true => self.stacks(&mut way, each),
            // One instruction for each error.
            false => {
                let ops = Op::ALL[1..].iter().map(|op| (*op, AOp::None));
                for (op, a_op) in ops.chain([AOp::Pop, AOp::Push].map(|a_op| (Op::Jump, a_op))) {
                    let word = Fc {
                        op,
                        a_op,
                        int_addr: 1,
                        jump_addr: FIRST,
                        ..voting(2)
                    };
                    self.conditions(word, &[None], &mut way, each);
                }
            }
        }
        // Reserved values of A_OP, B_OP0, B_OP1, and of the predicate.
        for (inst, cmn) in [
            (3 << 6, 2),
            (3 << 24, 2),
            (3 << 26, 2),
            (0, 2 | 1 << 3),
            (0, 2 | 6 << 3),
            (0, 2 | 7 << 3),
        ] {
            each(In {
                cmn,
                inst,
                inst_valid: 1,
                ..In::default()
            });
        }
    }

    fn loads(&self, golden: &Golden) -> Vec<State> {
        // Both stacks are visible as a whole.
        vec![*golden.state()]
    }

    fn inside(&self, golden: &Golden) -> bool {
        let s = golden.state();
        u32::from(s.loop_depth) <= self.loops
            && u32::from(s.addr_depth) <= self.calls
            && (0..self.lanes).all(|i| u32::from(s.bc(i)) <= self.levels || !self.full)
    }

    fn broken(&self, golden: &Golden) -> Option<&'static str> {
        broken(golden.state(), self.lanes, self.full)
    }
}

/// Returns the rule of an invariant of r500-3.5 that `s` violates. r500-I7 is about operands.
fn broken(s: &State, lanes: usize, full: bool) -> Option<&'static str> {
    let lane = |i: usize| (s.class(i), s.bc(i), s.lc(i));
    let lanes: Vec<_> = (0..lanes).map(lane).collect();
    if lanes
        .iter()
        .any(|(st, bc, lc)| *st != 1 && *bc != 0 || *st < 2 && *lc != 0)
    {
        return Some("r500-I1");
    }
    // The frame that a CONT or BRK lane waits for exists.
    if lanes
        .iter()
        .any(|(st, _, lc)| *st >= 2 && *lc >= s.loop_depth)
    {
        return Some("r500-I2");
    }
    if s.loop_depth > 4 || s.addr_depth > 4 {
        return Some("r500-I3");
    }
    let frames = (0..usize::from(s.loop_depth)).map(|f| s.frame(f));
    if frames.into_iter().any(|(_, count, _)| count == 0) {
        return Some("r500-I4");
    }
    let branches_alone = lanes.iter().all(|(st, bc, _)| *st < 2 && *bc <= 3);
    let without_loops = branches_alone && s.loop_depth == 0 && s.addr_depth == 0;
    if !(full || without_loops) {
        return Some("r500-I5");
    }
    let ended = s.running + s.done + s.halted;
    (ended > 1 || (s.halted == 1) != (s.err != 0)).then_some("r500-I6")
}

#[cfg(test)]
mod tests {
    use super::*;
    use reconverge_bench::design::{Build, Golden as _};
    use reconverge_campaign::exhaust::Space;

    #[test]
    fn each_invariant_can_be_broken() {
        let run = State {
            running: 1,
            active: 3,
            ..State::default()
        };
        assert_eq!(broken(&run, 2, true), None);
        let brk = State {
            st: [1, 1],
            loop_depth: 1,
            loops: [1 << 8, 0, 0, 0],
            ..run
        };
        assert_eq!(broken(&brk, 2, true), None);
        type Edit = fn(&mut State);
        let rows: [(&str, bool, State, Edit); 10] = [
            ("r500-I1", true, run, |s| s.bc[0] = 1),
            ("r500-I1", true, run, |s| (s.st[0], s.lc[0]) = (1, 1)),
            ("r500-I2", true, brk, |s| s.lc[0] = 1),
            ("r500-I2", true, brk, |s| s.loop_depth = 0),
            ("r500-I3", true, run, |s| s.addr_depth = 5),
            ("r500-I4", true, brk, |s| s.loops[0] = 1 << 16),
            ("r500-I5", false, brk, |_| ()),
            ("r500-I5", false, run, |s| (s.st[0], s.bc[2]) = (1, 1)),
            ("r500-I6", true, run, |s| s.done = 1),
            ("r500-I6", true, run, |s| s.err = 1),
        ];
        for (rule, full, mut state, edit) in rows {
            edit(&mut state);
            assert_eq!(broken(&state, 2, full), Some(rule), "{state:?}");
        }
    }

    /// Uses the golden model to find which lanes want to jump: a jump with JUMP_ANY, one consulted lane at a time.
    #[test]
    fn every_way_has_those_lanes_want_that_are_to() {
        let build = Build::from(2);
        let world = (SMALL.world)(&build, &[1, 1, 1, 1]);
        let word = Fc {
            jump_addr: LAST,
            ..voting(2)
        };
        for way in 0..18 {
            for wants in 0..4_u64 {
                for lane in 0..2 {
                    let mut golden = Golden::build(&build);
                    for pins in world.setup() {
                        golden.cycle(&pins);
                    }
                    golden.cycle(&world.launches()[0]);
                    golden.cycle(&pins(word, wants, Some(1 << lane), way));
                    let to = if wants >> lane & 1 == 1 {
                        LAST
                    } else {
                        FIRST + 1
                    };
                    assert_eq!(golden.state().pc, to, "way {way}, {wants}, {lane}");
                }
            }
        }
    }

    #[test]
    fn partial_flow_control_is_closed_without_a_bound() {
        let build = Build::from(1);
        let world = (SMALL.world)(&build, &[0, 0, 0, 0]);
        let mut space = Space::<R500>::new(&*world, &build, 100_000);
        while space.done() < space.found() {
            assert!(space.expand().is_ok());
        }
        assert_eq!(space.broken(), None);
        let most = (0..space.found()).map(|n| space.loads(n)[0].bc(0)).max();
        assert_eq!(most, Some(3));
    }
}
