//! Finds a path from reset to a cycle that breaks a property. A counterexample begins in a state that the invariants allow, but perhaps
//! no program reaches that state.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use reconverge_bench::bytemuck::{Zeroable as _, bytes_of_mut};

use super::Trouble;
use super::files::Plan;
use super::questions::Questions;
use super::world::Unit;
use crate::mutate::aig::{Aig, Lit};
use crate::mutate::sat::{self, Answer, Proof};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::dut;
use reconverge_bench::stream::Stream;

/// The inputs of successive cycles: name of each port, and its bits from the lowest.
pub(super) type Way = Vec<Vec<(String, Vec<bool>)>>;

/// Looks for the shortest path from a cycle in reset to a cycle that breaks property `name`, at most `most` cycles after the reset.
/// Returns `None` if no path is so short, if the search for some length took more than `time` of the processor, or if the property
/// compares several runs.
///
/// # Errors
/// The solver is missing, or `stop` is set.
pub(super) fn way(
    unit: &Unit<'_>,
    (plan, lanes): (&Plan, usize),
    name: &str,
    (most, time): (u32, Duration),
    stop: &AtomicBool,
) -> Result<Option<Way>, String> {
    let mut aig = Aig::new();
    let anything = unit.anything(&mut aig);
    let mut cycles: Vec<_> = unit.reset(&mut aig, anything).into_iter().collect();
    // The contract holds in all cycles so far, and none of them after the first is in reset.
    let mut owed = Lit::TRUE;
    for _ in 0..most {
        let state = cycles.last().map_or(Vec::new(), |c| c.frame.next.clone());
        let mut all = Questions::at(unit, plan, lanes, aig, state)?;
        let found = all.properties.iter().find(|p| p.name == name);
        let Some(property) = found.cloned() else {
            return Ok(None);
        };
        let bad = all.aig.any(property.questions.iter().map(|(_, bad)| *bad));
        let regular = all.regular();
        let here = all.aig.all(vec![owed, regular, bad]);
        match sat::ask(&all.aig, here, time, stop, &Proof::Believed)? {
            Answer::Never => {}
            Answer::GaveUp => return Ok(None),
            Answer::Sometimes(inputs) => {
                cycles.push(all.now);
                let values = all.aig.evaluate(&inputs);
                let way = cycles.iter().map(|cycle| unit.inputs(cycle, &values));
                return Ok(Some(way.collect()));
            }
        }
        owed = all.aig.and(owed, regular);
        cycles.push(all.now);
        aig = all.aig;
    }
    Ok(None)
}

/// Converts a path into a stream of pins called `name`.
///
/// # Errors
/// The declaration of the design cannot be read.
pub(super) fn stream<D: Design>(
    way: &Way,
    name: &str,
    build: &Build,
) -> Result<Stream<D>, Trouble> {
    let declared = dut::declared::<D>().map_err(|e| e.to_string())?;
    let mut cycles = Vec::new();
    for ports in way {
        let mut pins = D::In::zeroed();
        for (pin, from) in D::DECLARATION.pins.iter().zip(&declared.pins) {
            let bits = from.ports.iter().flat_map(|port| {
                let carried = ports.iter().find(|(name, _)| *name == port.name);
                let bits = carried.map_or(&[][..], |(_, bits)| &bits[..]);
                match port.bits {
                    None => bits,
                    Some((high, low)) => bits.get(low as usize..=high as usize).unwrap_or_default(),
                }
            });
            let bits: Vec<bool> = bits.copied().collect();
            // A word with a bit for each lane is as wide as the build has lanes.
            let wide = 64 - pin.most(build.lanes).leading_zeros() as usize;
            for (word, bits) in bits.chunks(wide).enumerate().take(pin.words()) {
                let value = bits.iter().rev().fold(0, |v, bit| v << 1 | u64::from(*bit));
                pin.set(bytes_of_mut(&mut pins), word, value);
            }
        }
        cycles.push(pins);
    }
    Ok(Stream::new(name, build, cycles))
}
