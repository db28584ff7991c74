//! What a campaign must know of its cases: how one is drawn, run, counted and made smaller.

use std::fmt::{self, Debug, Display, Formatter};

use super::Summary;
use crate::cover::Bins;
use reconverge_bench::check::TestCase;
use reconverge_bench::design::Build;
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::Failure;
use reconverge_bench::input::LONGEST_NAME;
use reconverge_bench::search::{Budget, Follow, SHRUNK};

/// A case that campaigns draw, run and count: a program with its environment ([`reconverge_program::case::Case`]) or a stream of pins
/// ([`reconverge_bench::stream::Stream`]).
pub trait Drawn: TestCase {
    /// Kinds of cases, printed as in the names of cases.
    type Kind: Copy + Display;
    /// What cases of a build can hit.
    type Bins: Bins;
    /// Counts what cases hit.
    type Collector<'b>;
    /// How large a case is.
    type Size: Copy + Debug + PartialEq;

    /// What texts call a case.
    const NOUN: &'static str;
    /// Cases execute instructions, which a scalar machine may judge.
    const EXECUTES: bool;
    /// What texts call a line of [`Bins::gaps`]: a stream of pins need not do anything in particular, but what never changes was hardly
    /// tested.
    const GAP: &'static str;
    /// What texts call the parts that [`Drawn::length`] counts.
    const MEASURE: &'static str;
    /// Cases handed out at once. A campaign ends with a whole chunk, so that its length does not depend on the number of jobs.
    const CHUNK: u64;
    /// Each case runs on a fresh model with its own seed. Otherwise the cases of a chunk share one.
    const OWN_MODEL: bool;

    /// Returns the kind of case number `index` of a campaign.
    fn kind(index: u64) -> Self::Kind;
    /// Draws case number `index` of the campaign with `seed` and [`Options::cycles`](super::Options), always the same for the same build.
    ///
    /// # Errors
    /// The golden model panics: [`Cause::NotRun`](reconverge_bench::failure::Cause) with its message, of a case on which it does.
    fn draw(
        seed: u64,
        index: u64,
        cycles: usize,
        build: &Build,
    ) -> Result<Self, Box<Failure<Self>>>;
    /// Returns a collector that has counted nothing.
    fn collector(bins: &Self::Bins) -> Self::Collector<'_>;
    /// Judges the case, number `index` of its campaign, on `dut`, which may have run others before. Returns what it adds to the
    /// campaign, its failure included; `progress` is called with the cycle from time to time.
    fn run_on(
        &self,
        index: u64,
        dut: &mut Dut<Self::Design>,
        collector: Option<&mut Self::Collector<'_>>,
        progress: &mut impl FnMut(u64),
    ) -> Summary<Self>;
    /// Makes the case of `failure` smaller. `other` returns the same RTL with another number of lanes.
    ///
    /// # Errors
    /// The case does not fail from reset on a fresh model, a model cannot be opened, or the time is too short for a run in which
    /// the RTL hangs.
    fn shrink(
        failure: &Failure<Self>,
        rtl: &Rtl<Self::Design>,
        other: Other<Self::Design>,
        budget: &Budget,
        follow: &mut dyn Follow<Self>,
    ) -> Result<Shrunk<Self>, String>;
    /// Returns the number of instructions or cycles.
    fn length(&self) -> usize;
    /// Returns the size of the case.
    fn size(&self) -> Self::Size;
    /// Returns a line with two sizes of a case that was made smaller.
    fn headline(before: Self::Size, after: Self::Size) -> String;
    /// Returns the case, which fails in cycle `cycle`, as text.
    fn text(&self, cycle: u64) -> String;
    /// Returns whether two cases of one failure differ in nothing that a search changes.
    fn is_same(&self, other: &Self) -> bool;
}

/// A function that returns the same RTL with another number of lanes.
pub type Other<'o, D> = &'o dyn Fn(u32) -> Result<Rtl<D>, String>;

/// Result of shrinking.
#[derive(Clone)]
pub struct Shrunk<C: Drawn> {
    /// The smaller case and its failure, from reset on a fresh model.
    pub failure: Failure<C>,
    /// Size of the original case.
    pub before: C::Size,
    /// Size of the shrunk case.
    pub after: C::Size,
    /// Number of runs of the search.
    pub runs: u64,
}

impl<C: Drawn> Debug for Shrunk<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:\n{}", self.headline(), self.text())
    }
}

impl<C: Drawn> Shrunk<C> {
    /// Returns the result for `case`, where `failure` is the failure of the shrunk case.
    pub fn new(case: &C, mut failure: Failure<C>, runs: u64) -> Self {
        let best = &mut failure.case;
        // The name of the case stands between that of the design and the seed.
        let name = best.name();
        let (name, _) = name.rsplit_once('.').unwrap_or((&name, ""));
        let own = name
            .len()
            .saturating_sub(<C::Design as reconverge_bench::design::Design>::NAME.len() + 1);
        if !best.is_same(case) && !name.ends_with(SHRUNK) && own + SHRUNK.len() <= LONGEST_NAME {
            best.mark(SHRUNK);
        }
        Shrunk {
            before: case.size(),
            after: best.size(),
            runs,
            failure,
        }
    }

    /// Returns a line such as `program shrunk from 48 to 6 instructions, 16 to 4 lanes`.
    pub fn headline(&self) -> String {
        C::headline(self.before, self.after)
    }

    /// Returns the smaller case as text, of a program the text of a file for `run`.
    pub fn text(&self) -> String {
        self.failure.case.text(self.failure.cycle())
    }
}
