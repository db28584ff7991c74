//! Holds every lane of a wavefront against the scalar machine.

use super::R500;
use super::scalar::{End, Scalar};
use super::state::State;
use crate::case::{Case, Conditions};
use crate::environment::{bits, draw_word};
use crate::unit::{Record, Verdict};

/// Condition bits of draw `k` of `lane`.
fn drawn(case: &Case<R500>, lane: u32, k: u64) -> u16 {
    match &case.conditions {
        Conditions::Drawn { p16 } => bits(draw_word(case.seed, lane, k), 5, *p16),
        Conditions::Table(table) => table.bits(lane, k),
        Conditions::Noise => 0,
    }
}

/// What `lane` executed in the wavefront: (pc, aL), and the conditions it drew there.
fn in_wavefront(case: &Case<R500>, records: &[Record], lane: u32) -> (Vec<(u16, u8)>, Vec<u16>) {
    let (mut executed, mut tape, mut k) = (Vec::new(), Vec::new(), 0);
    for record in records {
        if record.executes >> lane & 1 == 1 {
            executed.push((record.pc as u16, record.context as u8));
            tape.push(drawn(case, lane, k));
        }
        k += record.counts >> lane & 1;
    }
    (executed, tape)
}

/// Whether every covered lane executed what it executes alone. Uncovered lanes are compared too if no
/// instruction leaves them out of its decision (spec 8.1).
pub fn judge(case: &Case<R500>, records: &[Record], end: &State) -> Verdict {
    let scalar = match Scalar::new(&case.program) {
        Ok(scalar) => scalar,
        Err(why) => return Verdict::NotStructured(why.to_string()),
    };
    let ignores = case
        .program
        .slots
        .iter()
        .any(|s| s.cmn & 3 == 2 && s.inst >> 28 & 1 == 1);
    if end.halted == 1 && scalar.possible_errors() >> end.err & 1 == 0 {
        let how = format!(
            "the wavefront halts with error {}, which no lane of this program can cause",
            end.err
        );
        return Verdict::Disagrees { lane: 0, how };
    }
    let (mut lanes, mut instructions) = (0, 0);
    for lane in 0..case.lanes {
        if ignores && case.launch_mask >> lane & 1 == 0 {
            continue;
        }
        let (executed, tape) = in_wavefront(case, records, lane);
        let mut taken = tape.iter();
        // Where a lane's k depends on other lanes it is given the conditions that it drew among them.
        let mut conditions = |k: u64, _: u16| match scalar.k_depends_on_others() {
            true => taken.next().copied().unwrap_or(0),
            false => drawn(case, lane, k),
        };
        // Alone a lane may go through stubs that it slept through in the wavefront: a few more steps.
        let alone = scalar.run(
            case.max_steps.saturating_mul(2).saturating_add(100),
            &mut conditions,
        );
        let differs = executed
            .iter()
            .zip(&alone.executed)
            .position(|(a, b)| a != b);
        let (there, here) = (executed.len(), alone.executed.len());
        let how = if let Some(n) = differs {
            let ((pc, al), (pc_alone, al_alone)) = (executed[n], alone.executed[n]);
            format!(
                "instruction {n}: 0x{pc:03x} with aL {al} in the wavefront, 0x{pc_alone:03x} with aL {al_alone} alone"
            )
        } else if there > here {
            format!("{there} instructions in the wavefront, {here} alone")
        } else if end.done == 1 && (here > there || alone.end != End::Done) {
            // A wavefront that halted or was stopped has executed the beginning of it.
            format!(
                "{there} instructions in the wavefront, {here} alone, which ends as {:?}",
                alone.end
            )
        } else {
            lanes += 1;
            instructions += there as u64;
            continue;
        };
        return Verdict::Disagrees { lane, how };
    }
    if end.done == 1 && (end.st != [0; 2] || end.loop_depth != 0 || end.addr_depth != 0) {
        let how = "at its end not every lane is ACTIVE and both stacks empty (spec 8.1)".to_owned();
        return Verdict::Disagrees {
            lane: (end.st[0] | end.st[1]).trailing_zeros() % 64,
            how,
        };
    }
    Verdict::Agrees {
        lanes,
        instructions,
    }
}
