//! Compares every lane of a wavefront with the scalar machine.

use super::R500;
use super::program::{Program, Slot};
use super::scalar::{End, Scalar};
use super::state::State;
use crate::unit::{Record, Verdict};
use reconverge_program::alone::{Alone, compare, impossible_error};
use reconverge_program::case::Case;

/// Returns whether some instruction leaves uncovered lanes out of its decision; they then need not do what they would
/// do alone (r500-8.1).
pub(super) fn ignores_uncovered(program: &Program) -> bool {
    let ignores = |s: &Slot| s.cmn & 3 == 2 && s.inst >> 28 & 1 == 1;
    program.slots.iter().any(ignores)
}

/// Compares what every covered lane executed with what it executes alone. Uncovered lanes are compared too if no
/// instruction leaves them out of its decision (r500-8.1).
pub fn judge(case: &Case<R500>, records: &[Record], end: &State) -> Verdict {
    let scalar = match Scalar::new(&case.program) {
        Ok(scalar) => scalar,
        Err(why) => return Verdict::NotStructured(why.to_string()),
    };
    let ignores = ignores_uncovered(&case.program);
    if end.halted == 1
        && let Some(wrong) = impossible_error(end.err, scalar.possible_errors())
    {
        return wrong;
    }
    let lanes = (0..case.lanes).filter(|lane| !ignores || case.launch_mask >> lane & 1 == 1);
    let verdict = compare(records, end.done == 1, lanes, |lane, drawn_at| {
        let drawn = |k| case.conditions.draw(case.seed, lane, k, 5);
        let mut drawn_at = drawn_at.iter();
        // Where a lane's k depends on other lanes, it gets the conditions that it drew in the wavefront.
        let mut conditions = |k: u64, _: u16, _: u8| match scalar.k_depends_on_others() {
            true => drawn_at.next().map_or(0, |&k| drawn(k)),
            false => drawn(k),
        };
        // Alone, a lane may go through stubs that it slept through in the wavefront: a few more steps.
        let most = case.max_steps.saturating_mul(2).saturating_add(100);
        let trace = scalar.run(most, &mut conditions);
        Alone {
            executed: trace
                .executed
                .iter()
                .map(|&(pc, al)| (pc.into(), al.into()))
                .collect(),
            done: trace.end == End::Done,
            end: trace.end,
        }
    });
    let agrees = matches!(verdict, Verdict::Agrees { .. });
    if agrees && end.done == 1 && (end.st != [0; 2] || end.loop_depth != 0 || end.addr_depth != 0) {
        let how = "at its end not every lane is ACTIVE and both stacks empty (r500-8.1)".to_owned();
        return Verdict::Disagrees {
            lane: (end.st[0] | end.st[1]).trailing_zeros() % 64,
            how,
        };
    }
    verdict
}
