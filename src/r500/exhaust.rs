//! The small worlds of the unit: their words, operands and conditions ([`reconverge_campaign::exhaust`]), and the invariants of
//! r500-3.5.

use super::R500;
use super::golden::Golden;
use super::state::{In, State};
use super::unit::host_write;
use reconverge_campaign::exhaust::{Bound, Small, World, subsets};

/// `OFFSET_ADDR`, and the first address of the code window, which has three addresses.
const FIRST: u32 = 4;
/// The last address of the window.
const LAST: u32 = 6;
/// `END_ADDR`, relative to `OFFSET_ADDR`: the address in the middle.
const END: u32 = 1;
/// Loop constants 0, 1, 2: iterations, first aL, step. The step of the second is -1.
const CONSTANTS: [u32; 3] = [0, 0xff_07_01, 0x02_01_02];
/// Booleans: 0 is false, 1 is true.
const BOOLEANS: u32 = 2;

const JUMP: u32 = 0;
const LOOP: u32 = 1;
const REP: u32 = 3;
const DECR: u32 = 1;
const INCR: u32 = 2;

/// An address outside the window, as a jump target.
const OUTSIDE: u32 = 100;

/// The small worlds of the unit that `exhaust` explores.
pub(super) const SMALL: Small<R500> = Small {
    lanes: 2,
    parameters: &[],
    bounds: &[
        Bound {
            name: "full",
            default: 1,
            range: 0..=1,
            about: "1: full flow control, 0: partial",
        },
        Bound {
            name: "loops",
            default: 1,
            range: 0..=4,
            about: "frames of the loop stack",
        },
        Bound {
            name: "calls",
            default: 1,
            range: 0..=4,
            about: "entries of the address stack",
        },
        Bound {
            name: "levels",
            default: 1,
            range: 0..=31,
            about: "value of a branch counter",
        },
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

/// Fields of one flow-control instruction.
#[derive(Clone, Copy)]
struct Word {
    op: u32,
    b_else: bool,
    jump_any: bool,
    a_op: u32,
    b_op: [u32; 2],
    pop_cnt: u32,
    int: u32,
    target: u32,
}

impl Word {
    /// Returns the cycle in which the lanes of `wants` want to jump. Conditions that they must not look at say the opposite. `way`: the
    /// condition that gives their want; `cov`: the covered lanes, if the others do not vote.
    /// what they want it; `cov`: the covered lanes, if the others have no say.
    fn pins(&self, wants: u64, cov: Option<u64>, way: usize) -> In {
        let no = !wants;
        let (mut alu, mut pred) = (no, [no; 4]);
        // The table, the boolean that it uses, the predicate, its inversion.
        let (mut func, mut boolean, mut select, mut inverted) = (0xcc, 0, 0, 0);
        match way % 9 {
            0 => (func, alu) = (0xf0, wants),
            1 => (func, alu, pred) = (0x0f, no, [wants; 4]),
            2 => (select, pred[0]) = (2, wants),
            3 => {
                (select, inverted, alu) = (3, 1, wants);
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
        let bit = |flag: bool, at: u32| u32::from(flag) << at;
        // Both ways to name the same target.
        let global = way & 1 == 1;
        let to = match global {
            true => self.target,
            false => self.target.wrapping_sub(FIRST) & 0x1ff,
        };
        In {
            alu,
            pred,
            // Where all lanes are consulted, none is covered.
            cov: cov.unwrap_or(0),
            cmn: 0x402 | select << 3 | inverted << 6,
            inst: self.op
                | bit(self.b_else, 4)
                | bit(self.jump_any, 5)
                | self.a_op << 6
                | func << 8
                | self.pop_cnt << 16
                | self.b_op[0] << 24
                | self.b_op[1] << 26
                | bit(cov.is_some(), 28),
            addr: boolean | self.int << 8 | to << 16 | bit(global, 31),
            inst_valid: 1,
            ..In::default()
        }
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
            let b_op = [n % 3, n / 3];
            let pops = if b_op.contains(&DECR) { 0..3 } else { 1..2 };
            for pop_cnt in pops {
                for choice in 0..4 {
                    let word = Word {
                        op: JUMP,
                        b_else: choice & 1 == 1,
                        jump_any: choice & 2 == 2,
                        a_op: 0,
                        b_op,
                        pop_cnt,
                        int: 0,
                        target: LAST,
                    };
                    self.conditions(word, &self.covered(), way, each);
                    let out = Word {
                        target: OUTSIDE,
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
        word: Word,
        covered: &[Option<u64>],
        way: &mut usize,
        each: &mut dyn FnMut(In),
    ) {
        for wants in subsets(self.all) {
            for cov in covered {
                *way += 1;
                each(word.pins(wants, *cov, *way));
            }
        }
    }

    /// Generates calls, returns and loops: every `OP`, `A_OP` and loop constant.
    fn stacks(&self, way: &mut usize, each: &mut dyn FnMut(In)) {
        let mut kinds = vec![(JUMP, 1, 0), (JUMP, 2, 0)];
        for op in 1..8 {
            let constants = if matches!(op, LOOP | REP) { 3 } else { 1 };
            kinds.extend((0..constants).map(|int| (op, 0, int)));
        }
        // A loop operation and a call operation in one instruction.
        kinds.extend([(LOOP, 2, 2), (2, 2, 0), (2, 1, 0), (5, 1, 0)]);
        for (op, a_op, int) in kinds {
            for b_op in [[0, 0], [INCR, 0], [0, DECR], [INCR, DECR], [DECR, INCR]] {
                for choice in 0..4 {
                    let word = Word {
                        op,
                        b_else: choice & 1 == 1,
                        jump_any: choice & 2 == 2,
                        a_op,
                        b_op,
                        pop_cnt: 1,
                        int,
                        target: FIRST,
                    };
                    self.conditions(word, &self.covered(), way, each);
                }
            }
            let out = Word {
                op,
                b_else: false,
                jump_any: true,
                a_op,
                b_op: [0, 0],
                pop_cnt: 0,
                int,
                target: FIRST - 1,
            };
            self.conditions(out, &[None], way, each);
        }
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
        let launch = |start: u32| In {
            launch: 1,
            fc_ctrl: u32::from(self.full) << 31,
            code_addr: start | END << 16,
            code_range: FIRST | (LAST - FIRST) << 16,
            code_offset: FIRST,
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
        if !(FIRST..=LAST).contains(&u32::from(state.pc)) {
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
                for (op, a_op) in (1..8).map(|op| (op, 0)).chain([(JUMP, 1), (JUMP, 2)]) {
                    let word = Word {
                        op,
                        b_else: false,
                        jump_any: true,
                        a_op,
                        b_op: [0, 0],
                        pop_cnt: 0,
                        int: 1,
                        target: FIRST,
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
        for (rule, state, full) in [
            (
                "r500-I1",
                State {
                    bc: [1, 0, 0, 0, 0],
                    ..run
                },
                true,
            ),
            (
                "r500-I1",
                State {
                    st: [1, 0],
                    lc: [1, 0],
                    ..run
                },
                true,
            ),
            ("r500-I2", State { lc: [1, 0], ..brk }, true),
            (
                "r500-I2",
                State {
                    loop_depth: 0,
                    ..brk
                },
                true,
            ),
            (
                "r500-I3",
                State {
                    addr_depth: 5,
                    ..run
                },
                true,
            ),
            (
                "r500-I4",
                State {
                    loops: [1 << 16, 0, 0, 0],
                    ..brk
                },
                true,
            ),
            ("r500-I5", brk, false),
            (
                "r500-I5",
                State {
                    st: [1, 0],
                    bc: [0, 0, 1, 0, 0],
                    ..run
                },
                false,
            ),
            ("r500-I6", State { done: 1, ..run }, true),
            ("r500-I6", State { err: 1, ..run }, true),
        ] {
            assert_eq!(broken(&state, 2, full), Some(rule), "{state:?}");
        }
    }

    /// Uses the golden model to find which lanes want to jump: a jump with JUMP_ANY, one consulted lane at a time.
    #[test]
    fn every_way_has_those_lanes_want_that_are_to() {
        let build = Build::from(2);
        let world = (SMALL.world)(&build, &[1, 1, 1, 1]);
        let word = Word {
            op: JUMP,
            b_else: false,
            jump_any: true,
            a_op: 0,
            b_op: [0, 0],
            pop_cnt: 0,
            int: 0,
            target: LAST,
        };
        for way in 0..18 {
            for wants in 0..4_u64 {
                for lane in 0..2 {
                    let mut golden = Golden::build(&build);
                    for pins in world.setup() {
                        golden.cycle(&pins);
                    }
                    golden.cycle(&world.launches()[0]);
                    golden.cycle(&word.pins(wants, Some(1 << lane), way));
                    let to = if wants >> lane & 1 == 1 {
                        LAST
                    } else {
                        FIRST + 1
                    };
                    assert_eq!(
                        u32::from(golden.state().pc),
                        to,
                        "way {way}, {wants}, {lane}"
                    );
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
