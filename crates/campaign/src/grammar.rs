//! What a campaign asks of a design that runs programs: to draw them, to write them down, and bins of coverage.

use rand::Rng;

use crate::case::Kind;
use crate::cover::Coverage;
use crate::design::Build;
use crate::input::InputError;
use crate::instructions::Instructions;
use crate::program::Programs;

/// Programs that can be drawn, counted and made smaller: what campaigns, coverage, shrinking and mutation need beside.
pub trait Campaign: Programs<Program: Instructions> {
    /// Bins of functional coverage.
    type Coverage: Coverage<Self>;
    /// An instruction looks at conditions that it draws itself (r700), not at those of the last plain
    /// instruction (r500, spa5).
    const DRAWS_ITSELF: bool = false;

    /// A random program.
    fn generate(kind: Kind, rng: &mut impl Rng) -> Self::Program;
    /// A random program for a unit that is built as `build`, if that makes a difference to what programs are worth
    /// running; of the default build the same as [`Campaign::generate`].
    fn generate_for(_build: &Build, kind: Kind, rng: &mut impl Rng) -> Self::Program {
        Self::generate(kind, rng)
    }
    /// The program as assembly text that assembles to the same.
    fn to_text(program: &Self::Program) -> String;
    /// The program of an assembly text, which is called `file`.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn assemble(text: &str, file: &str) -> Result<Self::Program, InputError>;
    /// The condition bits that `pins` show for `lane`, as a draw would have them.
    fn conditions(pins: &Self::In, lane: u32) -> u16;
    /// `program` with operands and constants such as the launch with `pins` had, which led to `after`; and
    /// the lanes launched, `last` being the pins of the last clock that matters (r500 has its covered lanes
    /// from there). Without further words a launch takes nothing but its lanes.
    fn relaunched(
        program: &Self::Program,
        _pins: &Self::In,
        after: &Self::State,
        _last: &Self::In,
    ) -> (Self::Program, u64) {
        (program.clone(), Self::active(after))
    }
}
