//! The state of a guided run: for every bin the case that hit it soonest, and how new cases are made from these.
//!
//! The bins of a group are the points of a grid ([`super::Point`]). Two bins are neighbours if they differ in one axis only:
//! another instruction, another decision, another level. A rare or missed bin mostly has neighbours that were hit. A new case,
//! a child, therefore begins as a case that hit a neighbour of the bin aimed at, cut off shortly after this hit. The
//! instruction that hit the neighbour is replaced by one of another case, which hit a neighbour along another axis.

use std::sync::Arc;

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_pcg::Pcg64Mcg;

use super::run::{Counted, Counts};
use super::{Collector, Hits, Model};
use crate::grammar::Campaign;
use reconverge_bench::check::Judged;
use reconverge_bench::design::Control;
use reconverge_bench::design::Golden as _;
use reconverge_bench::dut::Dut;
use reconverge_bench::saved::Savable as _;
use reconverge_program::assembly::Assembly as _;
use reconverge_program::case::Case;
use reconverge_program::generate::one_of;
use reconverge_program::instructions::Instructions;
use reconverge_program::judges::{Judges, check_on};
use reconverge_program::program::{Pins, Records};
use reconverge_program::watch::{Pulse, Watch};

/// Number of bins aimed at, those with the fewest hits. There may be more if several have equally many hits.
pub const AIMS: usize = 16;
/// Cycles that a child continues after the cycle in which its parent hit its bin.
const BEHIND: u64 = 24;
/// Number of attempts to find a bin that is aimed at and has a neighbour that was hit.
const TRIES: usize = 8;

/// Where a case hit a bin for the first time.
#[derive(Clone, Copy)]
pub struct FirstHit {
    pub bin: usize,
    /// Address of the golden model's instruction.
    pc: u32,
    /// Number of launches before the hit.
    launches: usize,
    /// Cycles from the start of the case to the hit; if the case has preloaded states, as if it had only the last launch.
    pub cycles: u64,
}

/// Observes a case for a collector whose counters are 0, and records where each bin is hit first.
pub struct Trail<'a, 'm, U: Campaign> {
    pub collector: &'a mut Collector<'m, U>,
    places: Vec<FirstHit>,
    seeded: bool,
    pc: u32,
    launches: usize,
    /// Cycles of the first and of the last launch.
    first: u64,
    last: u64,
}

impl<'a, 'm, U: Campaign> Trail<'a, 'm, U> {
    pub fn new(collector: &'a mut Collector<'m, U>, case: &Case<U>) -> Self {
        Trail {
            collector,
            places: Vec::new(),
            seeded: !case.start.is_empty(),
            pc: 0,
            launches: 0,
            first: 0,
            last: 0,
        }
    }
}

impl<U: Campaign> Watch<U> for Trail<'_, '_, U> {
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        let state = golden.state();
        self.pc = U::pc_of(state, U::wavefront(state, pins));
        let held = pins.is_reset() || pins.is_stalled() || U::running(state);
        if pins.launches() && !held {
            self.launches += 1;
            self.last = cycle;
            if self.launches == 1 {
                self.first = cycle;
            }
        }
        self.collector.before(cycle, pins, golden);
    }

    fn after(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        self.collector.after(cycle, pins, golden);
        let cycles = match self.seeded {
            true => self.first + cycle - self.last,
            false => cycle,
        };
        self.collector.hits.settle();
        for bin in self.collector.hits.new.drain(..) {
            self.places.push(FirstHit {
                bin,
                pc: self.pc,
                launches: self.launches,
                cycles,
            });
        }
    }
}

/// A case that hit a bin.
pub struct Kept<U: Campaign> {
    case: Arc<Case<U>>,
    /// Number of the case in the run.
    number: u64,
    pub place: FirstHit,
}

impl<U: Campaign> Kept<U> {
    /// Returns the case reduced to the part that hit the bin: it ends shortly after the hit, and of several preloaded states
    /// it keeps only the one of the launch that hit the bin.
    fn alone(&self) -> Case<U> {
        let mut case = Case::clone(&self.case);
        if !case.start.is_empty() {
            let number = self.place.launches.saturating_sub(1) % case.start.len();
            case.start = vec![case.start.swap_remove(number)];
        }
        let cycles = self.place.cycles + BEHIND;
        case.noise_cycles = case.noise_cycles.map(|all| all.min(cycles));
        case.max_steps = case.max_steps.min(cycles);
        case
    }
}

/// For every bin that was hit, the case that hit it soonest.
pub struct Guide<'m, U: Campaign> {
    model: &'m Model<U>,
    pub kept: Vec<Option<Kept<U>>>,
    pub aims: Vec<usize>,
}

/// The cases that one thread found in a chunk.
pub struct KeptCases<U: Campaign>(pub Vec<Kept<U>>);

impl<U: Campaign> Default for KeptCases<U> {
    fn default() -> Self {
        KeptCases(Vec::new())
    }
}

impl<U: Campaign> KeptCases<U> {
    /// Keeps `case` if it hit a bin sooner than the case in `guide`.
    pub fn keep(&mut self, guide: &Guide<U>, number: u64, case: &Case<U>, trail: Trail<U>) {
        let mut shared = None;
        for place in &trail.places {
            let reachable = guide.model.groups.unreachable[place.bin].is_none();
            // Some hits are revoked at the end of a case.
            if reachable
                && trail.collector.hits.counts[place.bin] > 0
                && guide.improves(number, place)
            {
                let case = shared.get_or_insert_with(|| Arc::new(case.clone())).clone();
                let place = *place;
                self.0.push(Kept {
                    case,
                    number,
                    place,
                });
            }
        }
    }
}

impl<'m, U: Campaign> Guide<'m, U> {
    pub fn new(model: &'m Model<U>) -> Self {
        let bins = model.groups.unreachable.len();
        Guide {
            model,
            kept: (0..bins).map(|_| None).collect(),
            aims: Vec::new(),
        }
    }

    /// Returns true if case `number` hit the bin sooner than the case that is kept.
    fn improves(&self, number: u64, place: &FirstHit) -> bool {
        self.kept[place.bin]
            .as_ref()
            .is_none_or(|kept| (place.cycles, number) < (kept.place.cycles, kept.number))
    }

    /// Adds the cases found. The order of the threads does not matter.
    pub fn learn(&mut self, found: KeptCases<U>) {
        for kept in found.0 {
            if self.improves(kept.number, &kept.place) {
                let bin = kept.place.bin;
                self.kept[bin] = Some(kept);
            }
        }
    }

    /// Aims at the bins with the fewest hits in `hits`.
    pub fn aim(&mut self, hits: &Hits) {
        let reachable = |bin: &usize| self.model.groups.unreachable[*bin].is_none();
        let mut bins: Vec<usize> = (0..self.kept.len()).filter(reachable).collect();
        bins.sort_by_key(|bin| hits.counts[*bin]);
        let last = bins.get(AIMS - 1).or(bins.last());
        let most = last.map(|bin| hits.counts[*bin]);
        bins.retain(|bin| Some(hits.counts[*bin]) <= most);
        self.aims = bins;
    }

    /// Returns a case that may hit one of the bins aimed at; `None` if no hit neighbour of a bin was found.
    pub fn child(&self, rng: &mut Pcg64Mcg) -> Option<Case<U>> {
        let (near, other) = self.pair(rng)?;
        let pc = near.place.pc;
        let mut case = near.alone();
        for _ in 0..rng.random_range(1..=2) {
            let program = &mut case.program;
            let from = other.case.program.number(other.place.pc);
            match (rng.random_range(0..10), program.number(pc), from) {
                (0..5, Some(at), Some(from)) => program.copy(at, &other.case.program, from),
                (5, Some(at), _) => program.flip(at, rng.random()),
                (6, Some(at), _) => {
                    // Half of the targets are the instruction itself or next to it, which a uniform choice rarely gives.
                    let to = match rng.random() {
                        true => (at + rng.random_range(0..3)).saturating_sub(1),
                        false => rng.random_range(0..=program.count()),
                    };
                    if let Some(changed) = one_of(rng, program.retargeted(at, to)) {
                        *program = changed;
                    }
                }
                (7, ..) => *program = other.case.program.clone(),
                (8, ..) => {
                    case.conditions = other.case.conditions.clone();
                    case.stall16 = other.case.stall16;
                    case.launch_mask = other.case.launch_mask;
                }
                _ => case.seed = rng.random_range(1..=u64::MAX),
            }
        }
        // Parts of one case may be illegal with another program, for instance its preloaded state.
        if case.check_input("guided").is_err() {
            case = near.alone();
            case.seed = rng.random_range(1..=u64::MAX);
        }
        Some(case)
    }

    /// Returns two cases that hit neighbours of a bin aimed at, along different axes; the same case twice if there is only one
    /// such axis.
    fn pair(&self, rng: &mut Pcg64Mcg) -> Option<(&Kept<U>, &Kept<U>)> {
        for _ in 0..TRIES {
            let aim = *self.aims.choose(rng)?;
            let mut lines = self.model.groups.beside(aim);
            lines.shuffle(rng);
            let mut cases = lines.iter().filter_map(|line| {
                let kept: Vec<_> = line.iter().filter_map(|n| self.kept[*n].as_ref()).collect();
                kept.choose(rng).copied()
            });
            if let Some(near) = cases.next() {
                return Some((near, cases.next().unwrap_or(near)));
            }
        }
        None
    }
}

impl<U: Campaign> Counted for Case<U> {
    type Counter<'m> = Collector<'m, U>;
    type Guide<'m> = Guide<'m, U>;
    type Kept = KeptCases<U>;

    fn counter(bins: &Model<U>) -> Collector<'_, U> {
        Collector::new(bins)
    }

    fn counts<'c>(collector: &'c Collector<'_, U>) -> Counts<'c> {
        Counts {
            hits: &collector.hits,
            cycles: collector.cycles,
            steps: collector.steps,
        }
    }

    fn guide(bins: &Model<U>) -> Guide<'_, U> {
        Guide::new(bins)
    }

    fn is_preloaded(&self) -> bool {
        !self.start.is_empty()
    }

    fn count(
        &self,
        number: u64,
        dut: &mut Dut<U>,
        collector: &mut Collector<'_, U>,
        guide: Option<(&Guide<'_, U>, &mut KeptCases<U>)>,
        progress: &dyn Fn(),
    ) -> Judged<Self> {
        collector.hits.clear();
        collector.begin(self);
        let mut trail = Trail::new(collector, self);
        // The scalar judge does not affect bins; only `fuzz` asks it.
        let watch = &mut (&mut trail, Pulse(|_| progress()));
        let judged = check_on(self, dut, Judges::LockStep, Records::judge, watch);
        trail.collector.end();
        if let Some((guide, found)) = guide {
            found.keep(guide, number, self, trail);
        }
        judged
    }

    fn learn(guide: &mut Guide<'_, U>, found: KeptCases<U>) {
        guide.learn(found);
    }

    fn aim(guide: &mut Guide<'_, U>, hits: &Hits) {
        guide.aim(hits);
    }

    fn child(guide: &Guide<'_, U>, rng: &mut Pcg64Mcg) -> Option<Self> {
        guide.child(rng)
    }

    fn name_child(&mut self, index: u64) {
        self.program.rename(format!("guided-{index}"));
    }
}
