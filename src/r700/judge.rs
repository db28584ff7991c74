//! Compares every lane of a wavefront with the scalar machine.

use super::R700;
use super::scalar::{Built, Class, End, Scalar};
use super::state::State;
use crate::unit::{Record, Verdict};
use reconverge_program::alone::{Alone, compare, impossible_error};
use reconverge_program::case::Case;

/// Compares what every lane executed with what it executes alone, and the class and stack that follow from it.
/// Lanes that are not valid at launch are compared unless their behaviour depends on other lanes.
pub fn judge(case: &Case<R700>, records: &[Record], end: &State) -> Verdict {
    let (valid, invalid): (Vec<u32>, Vec<u32>) =
        (0..case.lanes).partition(|lane| case.launch_mask >> lane & 1 == 1);
    let build = case.build();
    let built = Built {
        max_stack_size: build.value::<R700>("MAX_STACK_SIZE"),
        subentries: build.value::<R700>("SUBENTRIES"),
        dx10_count: build.value::<R700>("DX10_COUNT") == 1,
    };
    let mut judged: Vec<(Scalar, Vec<u32>)> = vec![];
    for (launched, lanes) in [(true, valid), (false, invalid)] {
        if lanes.is_empty() {
            continue;
        }
        match Scalar::with(&case.program, launched, built) {
            Ok(scalar) => judged.push((scalar, lanes)),
            Err(_) if !launched && !judged.is_empty() => {}
            Err(why) => return Verdict::NotStructured(why.to_string()),
        }
    }
    let done = end.done == 1;
    let (mut lanes, mut instructions) = (0, 0);
    for (scalar, group) in &judged {
        if end.halted == 1
            && let Some(wrong) = impossible_error(end.err, scalar.possible_errors())
        {
            return wrong;
        }
        let mut ends = vec![];
        let verdict = compare(records, done, group.iter().copied(), |lane, _| {
            let mut predicate = |k| case.conditions.draw(case.seed, lane, k, 1) & 1 == 1;
            let trace = scalar.run(records.len() as u64 + 1, &mut predicate);
            ends.push((lane, trace.class, trace.valid));
            Alone {
                executed: trace.executed,
                done: trace.end == End::Done,
                end: trace.end,
            }
        });
        match verdict {
            Verdict::Agrees {
                lanes: of_group,
                instructions: of_them,
            } => (lanes, instructions) = (lanes + of_group, instructions + of_them),
            other => return other,
        }
        if done && let Some(wrong) = at_end(scalar, &ends, end) {
            return wrong;
        }
    }
    Verdict::Agrees {
        lanes,
        instructions,
    }
}

/// Returns the difference in the state at the end of the program (r700-9.1), which must be as at launch, except for `pc`,
/// `done` and the lanes, which have the classes that they have alone.
fn at_end(scalar: &Scalar, lanes: &[(u32, Class, bool)], end: &State) -> Option<Verdict> {
    let stack = [end.sp, end.base, end.nb, u16::from(end.bkind)] == [0; 4];
    let loops = [end.al, end.lc.into(), end.lt.into(), end.inc.into()] == [0; 4];
    let calls = end.depth == 0 && (end.skipped == 0 || scalar.may_skip());
    if !(stack && loops && calls) {
        let how =
            "at its end the stack is not empty, or its registers are not as at launch (r700-9.1)";
        return Some(Verdict::Disagrees {
            lane: 0,
            how: how.to_owned(),
        });
    }
    let &(lane, class, valid) = lanes.iter().find(|(lane, class, valid)| {
        end.class(*lane as usize) != *class as u8 || (end.valid >> lane & 1 == 1) != *valid
    })?;
    let among = [Class::Active, Class::Branch, Class::Cont, Class::Brk];
    let how = format!(
        "at the end {:?} and valid {} in the wavefront, {class:?} and {} alone",
        among[usize::from(end.class(lane as usize) & 3)],
        end.valid >> lane & 1,
        u8::from(valid)
    );
    Some(Verdict::Disagrees { lane, how })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::r700::program::{Program, Quad, Registers};
    use reconverge_program::case::Conditions;

    /// Returns the example of r700-7.3, with predicates 1010.
    fn if_else() -> Case<R700> {
        let words = [
            (6, 0xA400_0000),
            (3, 0x8500_0000),
            (7, 0xA000_0000),
            (5, 0x8680_0001),
            (8, 0xA800_0000),
            (0, 0x8020_0000),
        ];
        let quad = |(i, (dw0, dw1))| Quad {
            dw0,
            dw1,
            u: i == 0,
        };
        let mut case = Case::new(Program {
            name: "if_else".to_owned(),
            regs: Registers {
                prog_len: 6,
                ..Registers::default()
            },
            quads: words.into_iter().enumerate().map(quad).collect(),
        });
        let rows = r#"[{"lane":0,"k":0,"bits":1},{"lane":2,"k":0,"bits":1}]"#;
        case.conditions = Conditions::Table(serde_json::from_str(rows).expect("rows"));
        (case.lanes, case.launch_mask) = (4, 15);
        case
    }

    fn record(pc: u32, executes: u64) -> Record {
        Record {
            pc,
            context: 0,
            executes,
            counts: executes,
        }
    }

    fn wavefront() -> (Vec<Record>, State) {
        let records = [(0, 15), (1, 0), (2, 5), (3, 0), (4, 10), (5, 15)];
        let end = State {
            done: 1,
            pc: 6,
            valid: 15,
            ..State::default()
        };
        (records.map(|(pc, lanes)| record(pc, lanes)).to_vec(), end)
    }

    fn disagrees(case: &Case<R700>, records: &[Record], end: &State, lane: u32, words: &str) {
        match judge(case, records, end) {
            Verdict::Disagrees { lane: by, how } => {
                assert!(by == lane && how.contains(words), "lane {by}: {how}");
            }
            other => panic!("{other:?}, expected {words}"),
        }
    }

    #[test]
    fn spec_7_3_agrees_and_nothing_else_does() {
        let case = if_else();
        let (records, end) = wavefront();
        let agrees = Verdict::Agrees {
            lanes: 4,
            instructions: 12,
        };
        assert_eq!(judge(&case, &records, &end), agrees);
        let changed = |n: usize, executes| {
            let mut records = records.clone();
            records[n].executes = executes;
            records
        };
        let words = "instruction 1: 0x002 in the wavefront, 0x004 alone";
        disagrees(&case, &changed(2, 7), &end, 1, words);
        disagrees(
            &case,
            &changed(5, 7),
            &end,
            3,
            "2 instructions in the wavefront, 3 alone",
        );
        let mut with_al = records.clone();
        with_al[4].context = u32::MAX;
        disagrees(
            &case,
            &with_al,
            &end,
            1,
            "0x004 with aL -1 in the wavefront",
        );
        let mut more = records.clone();
        more.push(record(6, 1));
        disagrees(
            &case,
            &more,
            &end,
            0,
            "4 instructions in the wavefront, 3 alone",
        );
    }

    #[test]
    fn a_wavefront_that_was_stopped_has_executed_the_beginning() {
        let case = if_else();
        let (records, _) = wavefront();
        let stopped = State {
            running: 1,
            ..State::default()
        };
        for n in 0..records.len() {
            let verdict = judge(&case, &records[..n], &stopped);
            assert!(
                matches!(verdict, Verdict::Agrees { lanes: 4, .. }),
                "{verdict:?}"
            );
        }
        let halted = |err| State {
            halted: 1,
            err,
            ..State::default()
        };
        let words = "the wavefront halts with error 7, which no lane of this program can cause";
        disagrees(&case, &records[..1], &halted(7), 0, words);
        let mut small = case.clone();
        small.program.regs.stack_size = 0;
        let verdict = judge(&small, &[], &halted(7));
        assert!(
            matches!(
                verdict,
                Verdict::Agrees {
                    lanes: 4,
                    instructions: 0
                }
            ),
            "{verdict:?}"
        );
    }

    #[test]
    fn the_state_at_the_end_is_that_of_the_launch() {
        let case = if_else();
        let (records, end) = wavefront();
        type Change = fn(&mut State);
        let changes: [Change; 10] = [
            |s| s.sp = 1,
            |s| s.base = 4,
            |s| s.nb = 1,
            |s| s.bkind = 1,
            |s| s.lt = 1,
            |s| s.lc = 1,
            |s| s.al = 1,
            |s| s.inc = 255,
            |s| s.depth = 1,
            |s| s.skipped = 1,
        ];
        for change in changes {
            let mut end = end;
            change(&mut end);
            disagrees(&case, &records, &end, 0, "registers are not as at launch");
        }
        let off = State { st: [4, 0], ..end };
        let words = "at the end Branch and valid 1 in the wavefront, Active and 1 alone";
        disagrees(&case, &records, &off, 2, words);
        let killed = State { valid: 7, ..end };
        disagrees(&case, &records, &killed, 3, "Active and valid 0");
    }

    #[test]
    fn lanes_that_are_not_valid_are_compared_where_that_is_possible() {
        let mut case = if_else();
        case.launch_mask = 5;
        let records: Vec<_> = [(0, 5), (1, 0), (2, 5), (3, 0), (5, 5)]
            .map(|(pc, lanes)| record(pc, lanes))
            .to_vec();
        let end = State {
            st: [10, 0],
            done: 1,
            valid: 5,
            ..State::default()
        };
        let verdict = judge(&case, &records, &end);
        assert!(
            matches!(
                verdict,
                Verdict::Agrees {
                    lanes: 4,
                    instructions: 6
                }
            ),
            "{verdict:?}"
        );
        let mut woken = records.clone();
        woken[4].executes = 7;
        disagrees(
            &case,
            &woken,
            &end,
            1,
            "1 instruction in the wavefront, 0 alone",
        );
        // A KILL that jumps when no lane is valid: a lane that was never valid jumps when it runs alone.
        case.program.quads[1] = Quad {
            dw0: 5,
            dw1: 0x8C00_0100,
            u: false,
        };
        let verdict = judge(&case, &records, &end);
        assert!(
            matches!(verdict, Verdict::Agrees { lanes: 2, .. }),
            "{verdict:?}"
        );
        case.launch_mask = 0;
        let verdict = judge(&case, &records, &end);
        assert!(matches!(&verdict, Verdict::NotStructured(why) if why.contains("address 1: KILL")));
    }
}
