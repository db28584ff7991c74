//! The small worlds of the unit: their words, operands and conditions ([`reconverge_campaign::exhaust`]), and the invariants of
//! r700-3.7.

use super::R700;
use super::golden::{Frame, Golden};
use super::state::values::frame;
use super::state::{In, State};
use super::unit::host_write;
use reconverge_campaign::exhaust::{Bound, Small, World, subsets};

/// Quadwords of the program.
const LENGTH: u32 = 3;
/// A target address.
const TARGET: u32 = 1;
/// Loop constants 0, 1, 2: passes, first index, step. The step of the second is -1.
const CONSTANTS: [u32; 3] = [0, 0xff_005_001, 0x02_000_002];
/// Booleans: 0 is false, 1 is true, 2 is false.
const BOOLEANS: u32 = 2;

const LOOP_START: u32 = 4;
const LOOP_END: u32 = 5;
const JUMP: u32 = 10;
const CALL: u32 = 18;
const RETURN: u32 = 20;
/// Control instructions, except CALL.
const CONTROL: [u32; 13] = [
    LOOP_START, LOOP_END, 6, 7, 8, 9, JUMP, 11, 12, 13, 14, RETURN, 24,
];
/// Fetches, memory, exports: they are slots.
const SLOTS: [u32; 22] = [
    1, 2, 3, 19, 21, 22, 23, 26, 27, 28, 29, 32, 33, 34, 35, 36, 37, 38, 39, 40, 58, 0,
];
/// Some of the reserved opcodes.
const RESERVED: [u32; 10] = [15, 16, 17, 25, 30, 31, 41, 57, 59, 63];
/// `COND` and `CF_CONST`: ACTIVE, FALSE, and each kind of boolean true and false.
const TESTS: [(u32, u32); 6] = [(0, 0), (1, 1), (2, 1), (2, 0), (3, 0), (3, 1)];

/// `END_OF_PROGRAM`, `VALID_PIXEL_MODE`, `WHOLE_QUAD_MODE`.
const END: u32 = 1 << 21;
const VPM: u32 = 1 << 22;
const WQM: u32 = 1 << 30;

/// The small worlds of the unit that `exhaust` explores.
pub(super) const SMALL: Small<R700> = Small {
    lanes: 2,
    parameters: &[("MAX_STACK_SIZE", 1)],
    bounds: &[Bound::new("calls", 1, 0..=8, "call frames on the stack")],
    world: |build, limits| {
        Box::new(Wave {
            all: u64::MAX >> (64 - build.lanes),
            entries: build.value::<R700>("MAX_STACK_SIZE").min(255) as u16,
            subentries: build.value::<R700>("SUBENTRIES") as u16,
            dx10_counts: build.value::<R700>("DX10_COUNT") != 0,
            calls: limits.first().map_or(1, |calls| *calls as usize),
        })
    },
};

/// One wave.
struct Wave {
    all: u64,
    /// Entries of the stack, and sub-entries of each entry.
    entries: u16,
    subentries: u16,
    /// LOOP_START_DX10 counts its passes.
    dx10_counts: bool,
    calls: usize,
}

/// Returns the cycle with a word of the general format.
fn general(op: u32, (cond, cf_const): (u32, u32), rest: u32, dw0: u32) -> In {
    In {
        dw0,
        dw1: op << 23 | cond << 8 | cf_const << 3 | rest | 1 << 31,
        inst_valid: 1,
        ..In::default()
    }
}

impl Wave {
    /// Generates ALU clauses: every opcode, without `u`, and with `u` and each predicate of the ACTIVE lanes; others alternate.
    fn clauses(&self, state: &State, each: &mut dyn FnMut(In)) {
        for op in 8..16 {
            let clause = In {
                dw1: op << 26 | 1 << 29 | 1 << 31,
                inst_valid: 1,
                ..In::default()
            };
            each(In {
                pred: !state.active,
                ..clause
            });
            for (n, pred) in subsets(state.active).enumerate() {
                let others = if n % 2 == 0 { !state.active } else { 0 };
                each(In {
                    u: 1,
                    pred: pred | others,
                    ..clause
                });
            }
        }
    }

    fn control(&self, each: &mut dyn FnMut(In)) {
        for op in CONTROL {
            for vpm in [0, VPM] {
                for pops in 0..3 {
                    for test in TESTS {
                        each(general(op, test, vpm | pops, TARGET));
                    }
                    // A loop constant with two passes.
                    each(general(op, (0, 2), vpm | pops, TARGET));
                }
                // A target outside the program, and one at its end.
                for test in [(0, 2), (1, 0)] {
                    each(general(op, test, vpm, LENGTH));
                    each(general(op, test, vpm | END, TARGET));
                }
            }
            each(general(op, (0, 0), 7, TARGET));
            each(general(op, (0, 0), WQM, TARGET));
        }
        for calls in [0, 1, 32, 33] {
            for test in TESTS {
                for vpm in [0, VPM] {
                    each(general(CALL, test, vpm | calls << 13, TARGET));
                }
            }
        }
        each(general(CALL, (0, 0), 1, TARGET));
        each(general(CALL, (0, 0), 0, LENGTH));
        each(general(CALL, (0, 0), END, TARGET));
    }
}

impl World<R700> for Wave {
    fn setup(&self) -> Vec<In> {
        let mut writes: Vec<In> = (0..)
            .zip(CONSTANTS)
            .map(|(n, k)| host_write(n, k))
            .collect();
        writes.push(host_write(32, BOOLEANS));
        writes
    }

    fn launches(&self) -> Vec<In> {
        let mut all = Vec::new();
        for lane_mask in subsets(self.all) {
            for entry in [0, LENGTH - 1, LENGTH] {
                all.push(In {
                    launch: 1,
                    lane_mask,
                    entry,
                    prog_len: LENGTH,
                    stack_size: 255,
                    ..In::default()
                });
            }
        }
        all
    }

    fn steps(&self, state: &State, each: &mut dyn FnMut(In)) {
        for test in TESTS {
            for vpm in [0, VPM] {
                each(general(0, test, vpm, 0));
            }
        }
        for op in SLOTS {
            each(general(op, (0, 0), VPM | 7 << 10, LENGTH));
            each(general(op, (1, 0), END, LENGTH));
        }
        for op in RESERVED {
            each(general(op, (0, 0), 0, TARGET));
        }
        self.clauses(state, each);
        self.control(each);
    }

    fn loads(&self, golden: &Golden) -> Vec<State> {
        let mut loads = Vec::new();
        let mut at = 0;
        for frame in golden.frames() {
            at += frame.size(self.subentries);
            let state = match frame {
                // This writes no frame of another kind.
                Frame::Branch(mask) => State {
                    sp: at,
                    top_mask: mask,
                    ..State::default()
                },
                Frame::Loop(f) => State {
                    sp: at,
                    base: at,
                    bkind: frame::LOOP,
                    frame_st: f.st,
                    frame_lt: f.lt,
                    frame_lc: f.lc,
                    frame_al: f.al,
                    frame_inc: f.inc,
                    frame_base: f.base,
                    frame_bkind: f.bkind,
                    ..State::default()
                },
                Frame::Call(f) => State {
                    sp: at,
                    base: at,
                    bkind: frame::CALL,
                    frame_ret: f.ret,
                    frame_depth: f.depth,
                    frame_base: f.base,
                    frame_bkind: f.bkind,
                    ..State::default()
                },
            };
            // Constants are not loaded: they keep their values and take no room.
            let shown = golden.state();
            loads.push(State {
                loop_const: shown.loop_const,
                bool_const: shown.bool_const,
                ..state
            });
        }
        loads.push(*golden.state());
        loads
    }

    fn inside(&self, golden: &Golden) -> bool {
        let calls = golden.frames().filter(|f| matches!(f, Frame::Call(_)));
        calls.count() <= self.calls
    }

    fn broken(&self, golden: &Golden) -> Option<&'static str> {
        let frames: Vec<Frame> = golden.frames().collect();
        broken(golden.state(), &frames, self)
    }

    fn reveal(&self, golden: &Golden) -> Option<In> {
        let s = golden.state();
        let shown = usize::from(s.sp > s.base) + usize::from(s.bkind != 0);
        if s.running == 0 || golden.frames().count() <= shown {
            return None;
        }
        Some(match s.bkind {
            // No lane passes: the JUMP pops and jumps.
            _ if s.sp > s.base => general(JUMP, (1, 0), 1, 0),
            frame::LOOP if s.pc + 1 < LENGTH => general(LOOP_END, (1, 0), 0, 0),
            frame::CALL => general(RETURN, (0, 0), 0, 0),
            // The instruction after a LOOP_END must lie in the program.
            _ => general(JUMP, (1, 0), 0, 0),
        })
    }
}

/// Returns the rule of an invariant of r700-3.7 that `s` and its frames (the bottom one first) violate.
fn broken(s: &State, frames: &[Frame], wave: &Wave) -> Option<&'static str> {
    let reserved = if s.nb > 0 { 2 } else { 0 };
    if s.sp + reserved > wave.entries * wave.subentries {
        return Some("r700-I1");
    }
    // The values of base, bkind and lt that follow from the frames so far.
    let (mut at, mut base, mut bkind, mut branches, mut loops) = (0, 0, 0, 0, 0);
    let (mut depth, mut calls) = (0, 0);
    let counts = |lt: u8, lc: u16| match lt {
        1 | 2 => lc != 0,
        3 if wave.dx10_counts => lc != 0,
        _ => lc == 0,
    };
    // The upper bit is set for CONT and BRK lanes.
    let waits = |st: [u64; 2]| st[1] != 0;
    for frame in frames {
        at += frame.size(wave.subentries);
        match frame {
            Frame::Branch(_) => branches += 1,
            Frame::Loop(f) => {
                if (f.base, f.bkind) != (base, bkind) {
                    return Some("r700-I2");
                }
                if (f.lt != 0) != (loops > 0) || !counts(f.lt, f.lc) {
                    return Some("r700-I5");
                }
                if f.lt == 0 && waits(f.st) {
                    return Some("r700-I6");
                }
                if f.lt == 0 && (f.al != 0 || f.inc != 0) {
                    return Some("r700-I7");
                }
                (base, bkind) = (at, frame::LOOP);
                loops += 1;
            }
            Frame::Call(f) => {
                if (f.base, f.bkind) != (base, bkind) {
                    return Some("r700-I2");
                }
                if f.depth < depth || calls == 0 && f.depth != 0 {
                    return Some("r700-I4");
                }
                (base, bkind, depth) = (at, frame::CALL, f.depth);
                calls += 1;
            }
        }
    }
    if (s.base, s.bkind) != (base, bkind) || at != s.sp {
        return Some("r700-I2");
    }
    if s.nb != branches {
        return Some("r700-I3");
    }
    if s.depth > 32 || s.depth < depth || calls == 0 && s.depth != 0 {
        return Some("r700-I4");
    }
    if (s.lt != 0) != (loops > 0) || !counts(s.lt, s.lc) {
        return Some("r700-I5");
    }
    if s.lt == 0 && waits(s.st) {
        return Some("r700-I6");
    }
    if s.lt == 0 && (s.al != 0 || s.inc != 0) {
        return Some("r700-I7");
    }
    let ended = s.running + s.done + s.halted;
    (ended > 1 || (s.halted == 1) != (s.err != 0)).then_some("r700-I8")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::r700::golden::{CallFrame, LoopFrame};

    #[test]
    fn each_invariant_can_be_broken() {
        let wave = Wave {
            all: 3,
            entries: 2,
            subentries: 4,
            dx10_counts: false,
            calls: 1,
        };
        // A loop of two passes, a branch in it, and a call from inside that branch.
        let frame = LoopFrame {
            st: [0, 0],
            lt: 0,
            lc: 0,
            al: 0,
            inc: 0,
            base: 0,
            bkind: 0,
        };
        let call = CallFrame {
            ret: 1,
            depth: 0,
            base: 4,
            bkind: frame::LOOP,
        };
        let frames = |frame, call| [Frame::Loop(frame), Frame::Branch(1), Frame::Call(call)];
        let good = State {
            running: 1,
            sp: 6,
            base: 6,
            bkind: frame::CALL,
            nb: 1,
            depth: 1,
            lt: 1,
            lc: 2,
            ..State::default()
        };
        let says = |s: State, frame, call| broken(&s, &frames(frame, call), &wave);
        assert_eq!(says(good, frame, call), None);
        let small = Wave { entries: 1, ..wave };
        let full = broken(&good, &frames(frame, call), &small);
        assert_eq!(full, Some("r700-I1"));
        // Eight sub-entries for the loop: `sp` is another one.
        let eight = Wave {
            subentries: 8,
            ..wave
        };
        let moved = broken(&good, &frames(frame, call), &eight);
        assert_eq!(moved, Some("r700-I2"));

        type Edit<T> = fn(&mut T);
        let rows: [(&str, Edit<State>); 9] = [
            ("r700-I2", |s| s.base = 5),
            ("r700-I2", |s| s.bkind = frame::LOOP),
            ("r700-I3", |s| s.nb = 0),
            ("r700-I4", |s| s.depth = 33),
            ("r700-I5", |s| (s.lt, s.lc) = (0, 0)),
            ("r700-I5", |s| s.lc = 0),
            ("r700-I5", |s| s.lt = 3),
            ("r700-I8", |s| s.done = 1),
            ("r700-I8", |s| s.err = 1),
        ];
        for (rule, edit) in rows {
            let mut s = good;
            edit(&mut s);
            assert_eq!(says(s, frame, call), Some(rule), "{s:?}");
        }
        let rows: [(&str, Edit<LoopFrame>); 4] = [
            ("r700-I2", |f| f.base = 1),
            ("r700-I5", |f| (f.lt, f.lc) = (1, 1)),
            ("r700-I6", |f| f.st[1] = 1),
            ("r700-I7", |f| f.al = 1),
        ];
        for (rule, edit) in rows {
            let mut frame = frame;
            edit(&mut frame);
            assert_eq!(says(good, frame, call), Some(rule), "{frame:?}");
        }
        for (rule, call) in [
            ("r700-I2", CallFrame { base: 0, ..call }),
            ("r700-I4", CallFrame { depth: 1, ..call }),
        ] {
            assert_eq!(says(good, frame, call), Some(rule), "{call:?}");
        }
        // Without a loop.
        let out = State {
            running: 1,
            ..State::default()
        };
        assert_eq!(broken(&out, &[], &wave), None);
        for (rule, s) in [
            ("r700-I4", State { depth: 1, ..out }),
            ("r700-I6", State { st: [0, 2], ..out }),
            ("r700-I7", State { inc: 1, ..out }),
        ] {
            assert_eq!(broken(&s, &[], &wave), Some(rule), "{s:?}");
        }
        // A DX10 loop without a count, or with one.
        let dx10 = State {
            lt: 3,
            lc: 0,
            ..good
        };
        assert_eq!(says(dx10, frame, call), None);
        let counts = Wave {
            dx10_counts: true,
            ..wave
        };
        let none = broken(&dx10, &frames(frame, call), &counts);
        assert_eq!(none, Some("r700-I5"));
    }
}
