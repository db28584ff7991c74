//! Campaigns of programs against a mutant.

use std::sync::atomic::AtomicBool;

use super::{Hunt, Hunted, Mutants, Options, Summary, Trouble};
use crate::campaign;
use crate::case::Case;
use crate::design::Build;
use crate::dut::Rtl;
use crate::grammar::Campaign;
use crate::judges::{Judges, check_on, open};
use crate::watch::Watch;

impl<U: Campaign> Hunt<Case<U>> {
    /// Runs the next case, on a model of its own as a replay does. `watch` observes the run.
    ///
    /// # Errors
    /// No model can be opened.
    pub fn go_on(
        &mut self,
        rtl: &Rtl<U>,
        seed: u64,
        watch: &mut impl Watch<U>,
    ) -> Result<(), String> {
        let (kind, case) = campaign::case::<U>(seed, self.next, rtl.build());
        let judged =
            open(&case, rtl).and_then(|mut dut| check_on(&case, &mut dut, Judges::LockStep, watch));
        self.judged(kind.name(), judged.map(|agreed| agreed.compared.cycles))
    }
}

/// Makes mutants and judges them: first by programs in this process, then by proofs those that no program catches.
///
/// # Errors
/// As [`Mutants::make`] and [`Mutants::judge`].
pub fn by_programs<U: Campaign>(options: &Options, build: &Build) -> Result<Summary, Trouble> {
    let mutants = Mutants::<U>::make(options, build)?;
    let programs = mutants.programs(options);
    mutants.judge(options, &programs, &AtomicBool::new(false), |_, _| ())
}

impl<U: Campaign> Mutants<U> {
    /// Returns a hunter that runs a campaign of programs in this process.
    pub fn programs(
        &self,
        options: &Options,
    ) -> impl Fn(u32, Hunt<Case<U>>, u64) -> Hunted<Case<U>> + Sync {
        let seed = options.seed;
        move |number, mut hunt, budget| {
            let rtl = self.rtl().clone().mutant(number);
            while !hunt.over(budget) {
                hunt.go_on(&rtl, seed, &mut ())?;
            }
            Ok(hunt)
        }
    }
}
