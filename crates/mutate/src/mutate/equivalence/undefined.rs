//! Whether only an undefined value (X) shows a mutant, such as a bit at an index out of range. In all questions it may have any value, but
//! Verilator puts one in its place, which may be the right one: then no stream shows the mutant.

use std::sync::atomic::AtomicBool;

use super::super::abc::{Abc, Answer};
use super::super::aig::Aig;
use super::super::circuit::differ;
use super::Referee;

/// Most undefined bits of a cycle of which all values are tried.
const UNDEFINED: usize = 8;

impl Referee {
    /// Says what shows mutant `number` in the cycle `when`.
    pub(super) fn how_it_shows(
        &self,
        number: u32,
        when: &str,
        stop: &AtomicBool,
    ) -> Result<String, String> {
        let (mut how, inputs) = match self.hidden_by_undefined(number, stop)? {
            false => (format!("some inputs show it {when}"), "them"),
            true => (
                format!(
                    "only an X shows it {when} (an index out of range, say), and the value that Verilator has for it may be that of the RTL"
                ),
                "the inputs",
            ),
        };
        if self.formal.is_none() {
            how += &format!(
                "; without a formal file it is not known whether `constrain` allows {inputs}"
            );
        }
        Ok(how)
    }

    /// Returns whether in each cycle some value of what is undefined hides mutant `number`: next state and outputs are those of the RTL, so by
    /// induction no run shows it with these values.
    fn hidden_by_undefined(&self, number: u32, stop: &AtomicBool) -> Result<bool, String> {
        if !self.outputs_alone {
            return Ok(false);
        }
        let mut aig = Aig::new();
        let state = self.circuit.anything(&mut aig);
        let cycle = self.inputs(&mut aig)?;
        let says = self.said(&mut aig, &state, &cycle);
        let [rtl, mutant] = [0, number].map(|number| self.step(&mut aig, number, &state, &cycle));
        let shown = [&rtl, &mutant].map(|frame| {
            let clocks = self.circuit.clocks(frame);
            [clocks, self.outputs(frame), frame.next.clone()].concat()
        });
        let differs = differ(&mut aig, &shown[0], &shown[1]);
        let allowed = aig.or(!cycle.released, says.allowed);
        let mut differs = aig.all(vec![differs, allowed, says.contract]);
        let undefined = self.circuit.undefined.iter().map(|wire| cycle.free[*wire]);
        let undefined = aig.reached(undefined, differs);
        if undefined.is_empty() || undefined.len() > UNDEFINED {
            return Ok(false);
        }
        for bit in undefined {
            let both = [bit, !bit].map(|value| aig.supposed(&[value], &[differs])[0]);
            differs = aig.and(both[0], both[1]);
        }
        Ok(Abc::new(stop).prove_never(&aig, differs)? == Answer::Never)
    }
}
