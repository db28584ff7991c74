//! Common part of the units' scalar judges: separates a wavefront into its lanes and compares each lane with what it
//! executes alone.

use std::fmt::Debug;

use reconverge_bench::quantity::counted;

use crate::program::{Record, Verdict};

/// What one lane did alone.
#[derive(Clone, Debug)]
pub struct Alone<E> {
    /// Address and context (see [`Record`]) of every instruction executed, in order.
    pub executed: Vec<(u32, u32)>,
    /// The lane reached the end of the program.
    pub done: bool,
    /// How the lane ended, in the unit's own words.
    pub end: E,
}

/// What one lane did in the wavefront.
#[derive(Clone, Debug, Default)]
struct Among {
    executed: Vec<(u32, u32)>,
    drawn_at: Vec<u64>,
}

impl Among {
    /// Replaces the contents by what `lane` did. The lanes use the same memory in sequence.
    fn fill(&mut self, records: &[Record], lane: u32) {
        self.executed.resize(records.len(), (0, 0));
        self.drawn_at.resize(records.len(), 0);
        // Every record is written, and overwritten by the next one if the lane did not execute it: masks are as random as the
        // programs, so a branch on them would often be mispredicted.
        let (mut executed, mut k) = (0, 0);
        for record in records {
            self.executed[executed] = (record.pc, record.context);
            self.drawn_at[executed] = k;
            executed += (record.executes >> lane & 1) as usize;
            k += record.counts >> lane & 1;
        }
        self.executed.truncate(executed);
        self.drawn_at.truncate(executed);
    }
}

/// Returns [`Verdict::Disagrees`], for lane 0 because it is about all lanes, if the wavefront ended with an error that no lane of its program can cause. Bit c of
/// `possible` is set if some lane can cause error c.
pub fn impossible_error(error: u8, possible: u16) -> Option<Verdict> {
    (u64::from(possible) >> error.min(63) & 1 == 0).then(|| Verdict::Disagrees {
        lane: 0,
        how: format!(
            "the wavefront halts with error {error}, which no lane of this program can cause"
        ),
    })
}

/// Compares what each of `lanes` executed with what it executes alone. If the wavefront halted or was stopped (`done` is
/// false), compares only as far as the lane came in the wavefront.
///
/// `alone` runs one lane by itself. It gets the k (see [`crate::environment`]) of each instruction that the lane executed in
/// the wavefront.
pub fn compare<E: Debug>(
    records: &[Record],
    done: bool,
    lanes: impl IntoIterator<Item = u32>,
    mut alone: impl FnMut(u32, &[u64]) -> Alone<E>,
) -> Verdict {
    let (mut compared, mut instructions) = (0, 0);
    let mut among = Among::default();
    for lane in lanes {
        among.fill(records, lane);
        let Among { executed, drawn_at } = &among;
        let alone = alone(lane, drawn_at);
        let differs = executed
            .iter()
            .zip(&alone.executed)
            .position(|(a, b)| a != b);
        let (there, here) = (executed.len(), alone.executed.len());
        let how = if let Some(n) = differs {
            let ((pc, al), (pc_alone, al_alone)) = (executed[n], alone.executed[n]);
            // So far the only context is aL, which is signed, or small. Most units have none.
            let with = |al: u32| match al == 0 && al_alone == 0 {
                true => String::new(),
                false => format!(" with aL {}", al as i32),
            };
            let [there, here] = [al, al_alone].map(with);
            format!(
                "instruction {n}: 0x{pc:03x}{there} in the wavefront, 0x{pc_alone:03x}{here} alone"
            )
        } else if there > here {
            format!(
                "{} in the wavefront, {here} alone",
                counted(there, "instruction")
            )
        } else if done && (here > there || !alone.done) {
            format!(
                "{} in the wavefront, {here} alone, which ends as {:?}",
                counted(there, "instruction"),
                alone.end
            )
        } else {
            compared += 1;
            instructions += there as u64;
            continue;
        };
        return Verdict::Disagrees { lane, how };
    }
    Verdict::Agrees {
        lanes: compared,
        instructions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes 0 and 1 count a control instruction, lane 0 executes two others, lane 1 the second.
    fn records() -> [Record; 3] {
        let record = |pc, executes, counts| Record {
            pc,
            context: 7,
            executes,
            counts,
        };
        [record(4, 1, 1), record(5, 0, 3), record(6, 3, 3)]
    }

    fn alone(executed: &[u32], done: bool) -> Alone<&'static str> {
        Alone {
            executed: executed.iter().map(|pc| (*pc, 7)).collect(),
            done,
            end: "it ends",
        }
    }

    #[test]
    fn lanes_are_told_the_k_of_what_they_executed() {
        let mut told = vec![];
        let verdict = compare(&records(), true, [0, 1, 2], |lane, drawn_at| {
            told.push(drawn_at.to_vec());
            alone([&[4, 6][..], &[6], &[]][lane as usize], true)
        });
        let agrees = Verdict::Agrees {
            lanes: 3,
            instructions: 3,
        };
        assert_eq!(verdict, agrees);
        assert_eq!(told, [vec![0, 2], vec![1], vec![]]);
    }

    #[test]
    fn a_lane_that_does_something_else_is_named() {
        let how = |done, executed: &[u32], ends| match compare(&records(), done, [1], |_, _| {
            alone(executed, ends)
        }) {
            Verdict::Disagrees { lane: 1, how } => how,
            other => format!("{other:?}"),
        };
        let agrees = "Agrees { lanes: 1, instructions: 1 }";
        let (shorter, longer) = ("1 instruction in the wavefront, 0 alone", [6, 9]);
        let other = "instruction 0: 0x006 with aL 7 in the wavefront, 0x009 with aL 7 alone";
        for done in [false, true] {
            assert_eq!(how(done, &[6], true), agrees);
            assert_eq!(how(done, &[9], true), other);
            assert_eq!(how(done, &[], true), shorter);
        }
        // A wavefront has executed everything only if it reached its end.
        assert_eq!(how(false, &longer, true), agrees);
        assert_eq!(how(false, &[6], false), agrees);
        let ends =
            |n| format!("1 instruction in the wavefront, {n} alone, which ends as \"it ends\"");
        assert_eq!(how(true, &longer, true), ends(2));
        assert_eq!(how(true, &[6], false), ends(1));
    }

    #[test]
    fn errors_are_possible_or_not() {
        assert_eq!(impossible_error(3, 0b1000), None);
        assert!(impossible_error(3, 0b10111).is_some());
        assert!(impossible_error(u8::MAX, 1).is_some());
    }
}
