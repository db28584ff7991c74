//! Explains what each lane wants of an instruction, and which rule of the specification gave a field its value.

use super::{
    ACTIVE, BRANCH, BREAKLOOP, BREAKREP, CONTINUE, DECR, Decision, ENDLOOP, ENDREP, Golden, INCR,
    LOOP, Lanes, REP,
};
use crate::r500::state::In;

impl Golden {
    /// Returns what each lane wants of the flow-control instruction on `pins`, as the spec's traces print it
    /// (r500-7.2): 1 jump, 0 stay, `e` switched off by this else, `-` nothing; `count` if the count
    /// decides. `None` if the instruction ends in an error.
    pub fn wants(&self, pins: &In) -> Option<String> {
        let mut lanes = Lanes::NONE;
        let d = self.decide::<0>(pins, &mut lanes).ok()?;
        if d.forced {
            return Some("count".to_owned());
        }
        let lane = |i: usize| match lanes.st[i] {
            ACTIVE if lanes.want[i] == 1 => '1',
            ACTIVE => '0',
            BRANCH if lanes.want[i] == 1 => 'e',
            _ => '-',
        };
        Some((0..self.lanes).map(lane).collect())
    }

    /// Returns the rule that gave `field` of `element` its value in an instruction with decision `d`.
    pub(super) fn explain_step(
        &self,
        d: &Decision,
        lanes: &Lanes,
        field: &str,
        element: usize,
    ) -> String {
        let verb = if d.jump { "jumps" } else { "stays" };
        let voting = match d.op {
            BREAKLOOP | BREAKREP => "r500-4.2-c",
            CONTINUE => "r500-4.2-d",
            _ => "r500-4.2-b",
        };
        let decision = if d.forced {
            let rule = match d.op {
                LOOP | REP => "r500-4.1-g",
                _ => "r500-4.1-h",
            };
            format!("the unit {verb}: the iteration count overrides ({rule})")
        } else if d.held_back {
            format!(
                "the unit stays: lanes switched off by a branch or a CONTINUE hold it back ({voting})"
            )
        } else if !d.voters {
            // Then JUMP_ANY decides: 0 jumps, 1 stays.
            let rule = if d.jump { "r500-4.2-e" } else { "r500-4.2-f" };
            format!("the unit {verb}: no voter ({rule})")
        } else {
            format!("the unit {verb} by its voters ({voting})")
        };
        let b_op = ["NONE", "DECR", "INCR", "reserved"][d.b_op as usize & 3];
        // The change of the lane before its want was determined.
        let first = match (self.st.get(element), lanes.st.get(element)) {
            (Some(&BRANCH), Some(&ACTIVE)) => "; this else switched it on first (r500-4.1-d)",
            (Some(&ACTIVE), Some(&BRANCH)) => "; this else switched it off first (r500-4.1-d)",
            (Some(was), Some(&ACTIVE)) if *was != ACTIVE => {
                "; it was CONT, and the loop's end made it ACTIVE first (r500-4.1-e)"
            }
            _ => "",
        };
        let rule = match field {
            "st" | "bc" | "lc" | "active" if element < self.lanes => {
                let agrees = (lanes.want[element] == 1) == d.jump;
                // The want of a lane does not matter if the count decides.
                let want = match lanes.want[element] {
                    _ if d.forced => "",
                    1 => ", wants to jump",
                    _ => ", wants to stay",
                };
                let rule = match lanes.st[element] {
                    ACTIVE if agrees => {
                        format!(
                            "r500-4.3-b this lane is ACTIVE{want}, agrees with the unit: stays ACTIVE"
                        )
                    }
                    ACTIVE => match d.op {
                        BREAKLOOP | BREAKREP if !d.jump => {
                            format!(
                                "r500-4.3-c this lane is ACTIVE{want}, disagrees with the unit, BREAK stays: BRK, lc 0"
                            )
                        }
                        CONTINUE if !d.jump => {
                            format!(
                                "r500-4.3-d this lane is ACTIVE{want}, disagrees with the unit, CONTINUE stays: CONT, lc 0"
                            )
                        }
                        _ if d.b_op == INCR => {
                            format!(
                                "r500-4.3-e this lane is ACTIVE{want}, disagrees with the unit, B_OP is INCR: BRANCH, bc 0"
                            )
                        }
                        _ => format!(
                            "r500-4.3-f this lane is ACTIVE{want}, disagrees with the unit, B_OP is {b_op}: carried along"
                        ),
                    },
                    BRANCH => {
                        let bc = self.bc[element];
                        let count = d.pop_cnt;
                        match d.b_op {
                            INCR => {
                                format!("r500-4.3-h this lane is BRANCH, B_OP is INCR: bc {bc} + 1")
                            }
                            DECR if bc < count => format!(
                                "r500-4.3-i this lane is BRANCH, B_OP is DECR, bc {bc} is below B_POP_CNT {count}: ACTIVE"
                            ),
                            DECR => {
                                format!(
                                    "r500-4.3-j this lane is BRANCH, B_OP is DECR: bc {bc} - B_POP_CNT {count}"
                                )
                            }
                            _ => {
                                format!("r500-4.3-g this lane is BRANCH, B_OP is {b_op}: unchanged")
                            }
                        }
                    }
                    _ if d.push_loop => {
                        "r500-4.3-k this lane is CONT or BRK, a frame is pushed: lc + 1".to_owned()
                    }
                    _ if d.pop_loop => {
                        let rule = match self.lc[element] {
                            0 => "r500-4.3-l",
                            _ => "r500-4.3-m",
                        };
                        format!(
                            "{rule} this lane is CONT or BRK, a frame is popped: ACTIVE at lc 0, else lc - 1"
                        )
                    }
                    _ => "r500-4.3-n this lane is CONT or BRK: untouched".to_owned(),
                };
                rule + first
            }
            "loops" | "loop_depth" | "al" => {
                let rule = match d.op {
                    LOOP => "r500-4.4-a",
                    REP => "r500-4.4-b",
                    ENDLOOP => "r500-4.4-c",
                    ENDREP => "r500-4.4-d",
                    BREAKLOOP | BREAKREP => "r500-4.4-e",
                    _ => "r500-4.4-f",
                };
                let what = match (d.push_loop, d.pop_loop) {
                    (true, _) => "LOOP or REP that stays pushes a frame",
                    (_, true) => "the frame is popped",
                    _ if matches!(d.op, ENDLOOP | ENDREP) => {
                        "loops back: count - 1, and of ENDLOOP aL + its step KB"
                    }
                    _ => "the loop stack is left alone",
                };
                format!("{rule} {what}")
            }
            "addrs" | "addr_depth" => match (d.push_addr, d.pop_addr) {
                (true, _) => {
                    "r500-4.4-g A_OP is PUSH, and the unit jumps: pushes PC + 1".to_owned()
                }
                (_, true) => "r500-4.4-h A_OP is POP, and the unit jumps: pops".to_owned(),
                _ => "r500-4.4-i the address stack is left alone".to_owned(),
            },
            "alu_clr" => {
                "r500-3.1-f a flow-control instruction without error uses the ALU results up"
                    .to_owned()
            }
            "pc" if d.pop_addr => "r500-4.4-h the popped address is the target".to_owned(),
            "pc" if d.jump => {
                "r500-2.4-c JUMP_ADDR, plus OFFSET_ADDR unless JUMP_GLOBAL".to_owned()
            }
            "pc" => "r500-4.1-j PC + 1".to_owned(),
            _ => "r500-4.1-l no error".to_owned(),
        };
        format!("{rule}; {decision}")
    }
}
