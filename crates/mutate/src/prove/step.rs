//! The naive step alone, to compare it with the specification. It runs the same graph that the proofs use.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;

use super::files::File;
use super::world;
use crate::mutate::aig::{Aig, Lit};
use crate::mutate::tool::Work;
use crate::mutate::{Origin, Trouble, netlist, rtl_in};
use reconverge_bench::design::{Build, Design};

/// Values of registers and ports by name; bits from the lowest.
pub type Values = BTreeMap<String, Vec<bool>>;

/// `rtl/<unit>/<unit>_step.sv` as Yosys reads it.
pub struct StepModule {
    aig: Aig,
    inputs: world::Named,
    outputs: world::Named,
}

impl StepModule {
    /// Reads `<unit>_step.sv` of `D`.
    ///
    /// # Errors
    /// It is missing or not understood; Yosys is missing.
    pub fn of<D: Design>(build: &Build) -> Result<Self, Trouble> {
        let rtl = rtl_in::<D>(None)?;
        let from = Origin::of::<D>(&rtl, build)?;
        let path = rtl.join(format!("{}_step.sv", D::NAME));
        let shown = path.display().to_string();
        let file = File::read(path, shown)?;
        let work = Work::new()?;
        work.write("step.sv", &file.text)?;
        let top = format!("{}_step", D::NAME);
        let script = netlist::read_and_flatten(&from, &top, &["step.sv"]);
        let circuit = work.circuit(
            netlist::FrontEnd::Yosys,
            &script,
            &top,
            &AtomicBool::new(false),
        );
        let circuit = circuit.map_err(|e| format!("{}: {e}", file.name))?;

        let mut aig = Aig::new();
        let free = circuit.open(&mut aig);
        let bits = |wires: &[usize]| wires.iter().map(|wire| free[*wire]).collect();
        let inputs = circuit
            .inputs()
            .map(|(name, wires)| (name.to_owned(), bits(wires)));
        let inputs = inputs.collect();
        let frame = circuit.step(&mut aig, &[], &free);
        Ok(StepModule {
            outputs: circuit.outputs(&frame),
            aig,
            inputs,
        })
    }

    /// Returns the values of the outputs for each of `cases`. An input that a case does not give is 0.
    ///
    /// # Errors
    /// A case gives a name that is not an input, or a value of the wrong width.
    pub fn run(&self, cases: &[Values]) -> Result<Vec<Values>, String> {
        let mut all = Vec::new();
        for some in cases.chunks(64) {
            let mut inputs: HashMap<Lit, u64> = HashMap::new();
            for (i, case) in some.iter().enumerate() {
                for (name, bits) in case {
                    let input = self
                        .inputs
                        .iter()
                        .find(|(n, b)| n == name && b.len() == bits.len());
                    let (_, lits) =
                        input.ok_or_else(|| format!("{name}: no input of {} bits", bits.len()))?;
                    for (lit, bit) in lits.iter().zip(bits) {
                        *inputs.entry(*lit).or_default() |= u64::from(*bit) << i;
                    }
                }
            }
            let values = self.aig.evaluate(&inputs);
            for i in 0..some.len() {
                let bit = |lit: &Lit| values.of(*lit) >> i & 1 == 1;
                let outputs = self.outputs.iter();
                let of = |(name, lits): &(String, Vec<Lit>)| {
                    (name.clone(), lits.iter().map(bit).collect())
                };
                all.push(outputs.map(of).collect());
            }
        }
        Ok(all)
    }
}
