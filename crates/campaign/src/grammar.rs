//! The interface of a design for campaigns: generation of programs, their text form, and coverage bins.

use rand::Rng;

use crate::cover::Coverage;
use reconverge_bench::design::Build;
use reconverge_program::case::Kind;
use reconverge_program::instructions::Instructions;
use reconverge_program::program::Programs;

/// A design whose programs can be generated, covered and shrunk, for campaigns, coverage, shrinking and mutation.
pub trait Campaign: Programs<Program: Instructions> {
    /// Bins of functional coverage.
    type Coverage: Coverage<Self>;
    /// True if an instruction uses conditions that it draws itself (r700), false if it uses those of the last plain
    /// instruction (r500, spa5).
    const DRAWS_ITSELF: bool = false;

    /// Returns a random program.
    fn generate(kind: Kind, rng: &mut impl Rng) -> Self::Program;
    /// Returns a random program for a unit built as `build`, if the build affects which programs are useful. For the default
    /// build it must return the same as [`Campaign::generate`].
    fn generate_for(_build: &Build, kind: Kind, rng: &mut impl Rng) -> Self::Program {
        Self::generate(kind, rng)
    }
    /// Returns the condition bits that `pins` give `lane`, in the bit order of a draw.
    fn conditions(pins: &Self::In, lane: u32) -> u16;
    /// Returns `program` with the operands and constants of the launch with `pins`, which led to `after`, and the launched
    /// lanes. `last` are the pins of the last cycle that matters (r500 takes its covered lanes from them). By default a launch
    /// has no operands, and the launched lanes are those active in `after`.
    fn relaunched(
        program: &Self::Program,
        _pins: &Self::In,
        after: &Self::State,
        _last: &Self::In,
    ) -> (Self::Program, u64) {
        (program.clone(), Self::active(after))
    }
}
