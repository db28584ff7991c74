//! Progress of a campaign against one mutant.

use serde::{Deserialize, Serialize};

use reconverge_bench::check::{Judges, TestCase};
use reconverge_bench::dut::Rtl;
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::stream::CYCLES;
use reconverge_campaign::campaign::Drawn;

/// Progress of a campaign against one mutant.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Hunt<C: TestCase> {
    /// Number of the next case.
    pub next: u64,
    /// Cycles compared so far.
    pub cycles: u64,
    /// The case that caught the mutant.
    pub caught: Option<Caught<C>>,
}

/// A case that caught a mutant.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Caught<C: TestCase> {
    /// Its number in the campaign.
    pub case: u64,
    /// Its kind.
    pub kind: String,
    /// How it failed.
    pub failure: Failure<C>,
}

impl<C: TestCase> Default for Hunt<C> {
    fn default() -> Self {
        Hunt {
            next: 0,
            cycles: 0,
            caught: None,
        }
    }
}

impl<C: TestCase> Hunt<C> {
    /// Tells whether the hunt is over: the mutant is caught, or `budget` cycles are spent.
    pub fn over(&self, budget: u64) -> bool {
        self.caught.is_some() || self.cycles >= budget
    }

    /// Records that the next case failed, which catches the mutant.
    pub fn lost(&mut self, kind: &str, failure: Failure<C>) {
        // The cycle that differs was compared too.
        self.cycles += failure.compared.cycles + 1;
        self.caught = Some(Caught {
            case: self.next,
            kind: kind.to_owned(),
            failure,
        });
        self.next += 1;
    }
}

impl<C: Drawn> Hunt<C> {
    /// Runs the next case, on a model of its own as a replay does. Without the scalar judge: it looks at the golden model's run, which
    /// is the same for every mutant. `progress` is called with the cycle from time to time.
    ///
    /// # Errors
    /// No model can be opened, or the golden model panics.
    pub fn go_on(
        &mut self,
        rtl: &Rtl<C::Design>,
        seed: u64,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), String> {
        let kind = C::kind(self.next).to_string();
        let judged = C::draw(seed, self.next, CYCLES, rtl.build()).map_err(|failure| *failure);
        let judged = match judged {
            Ok(case) => case.judge(rtl, Judges::LockStep, None, progress)?,
            Err(failure) => Err(failure),
        };
        match judged {
            Ok(agreed) => {
                self.cycles += agreed.compared.cycles;
                self.next += 1;
            }
            Err(failure) => match failure.cause {
                Cause::NotRun(why) => return Err(why),
                _ => self.lost(&kind, failure),
            },
        }
        Ok(())
    }
}

/// A campaign after it went on, or why it could not.
pub type Hunted<C> = Result<Hunt<C>, String>;

/// A function that continues a campaign against a mutant until the mutant is caught or a budget of cycles is spent. Its
/// arguments: number of the mutant, the campaign so far, the budget.
pub type Hunter<'h, C> = dyn Fn(u32, Hunt<C>, u64) -> Hunted<C> + Sync + 'h;
