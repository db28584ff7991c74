//! Functional coverage: the situations of a unit that a campaign has hit or missed.
//!
//! A unit declares all its bins in one place, `src/<unit>/cover.rs`: groups that cross a few axes (operation, decision, lane
//! classes present, stack level, ...), and for every unreachable bin the reason, by section of the specification. What the
//! golden model does in each cycle (state before, pins, state after) hits bins; the internals of the RTL never do.
//!
//! A [`Model`] holds the bins of a build. A [`Collector`] observes `stimulus::run` and counts their hits. [`Model::coverage`]
//! returns the result.

mod axis;
#[cfg(feature = "rtl")]
mod bits;
mod common;
mod declared;
#[cfg(feature = "campaign")]
#[doc(hidden)]
pub mod guide;
mod hits;
mod html;
mod met;
#[cfg(feature = "rtl")]
pub(crate) mod pins;
#[cfg(feature = "campaign")]
pub mod run;
mod runs;
mod saved;

use std::marker::PhantomData;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use axis::*;
pub use common::Groups;
pub use hits::{Hits, ValueSet, present};
pub use html::page;
pub use met::Met;
pub use reconverge_bench::lcov;
pub use runs::{FailedRun, Ran};
pub use saved::{Bin, FORMAT, GroupCoverage, SavedCoverage, Totals, UnitCoverage};

use crate::grammar::Campaign;
use declared::is_declared;
use reconverge_bench::bins::{Sampler, coverpoints};
use reconverge_bench::design::{Build, Golden};
use reconverge_program::case::Case;
use reconverge_program::program::{Executor as _, Step};
use reconverge_program::watch::Watch;

/// When a group is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Exactly one bin of the group is hit in every cycle.
    Cycle,
    /// Exactly one bin of the group is hit in every step that executed or failed.
    Step,
    /// As described by the group: some steps hit no bin, others hit several.
    Sometimes,
}

/// A group of bins: one for each combination of its axes' values.
#[derive(Debug)]
pub struct Cross<P> {
    first: usize,
    point: PhantomData<fn() -> P>,
}

impl<P> Clone for Cross<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Cross<P> {}

#[derive(Debug)]
struct Group {
    name: &'static str,
    about: &'static str,
    when: When,
    axes: Vec<Axis>,
    first: usize,
    bins: usize,
}

/// The bins of a unit, while they are declared.
#[derive(Debug, Default)]
pub struct Declaration {
    groups: Vec<Group>,
    /// For each bin the reason why it is unreachable, if it is.
    unreachable: Vec<Option<&'static str>>,
    /// Bins that no program can hit, but that a case with a preloaded state may hit.
    history: Vec<usize>,
    /// Declarations that made no further bin unreachable.
    idle: Vec<String>,
}

impl Declaration {
    /// Adds a group with a bin for each combination of the values of `P`. `about` describes what a hit means, and when the
    /// group is sampled.
    ///
    /// # Panics
    /// There is a group of the same name.
    pub fn cross<P: Point>(
        &mut self,
        when: When,
        name: &'static str,
        about: &'static str,
    ) -> Cross<P> {
        Cross {
            first: self.group(when, name, about, P::axes()),
            point: PhantomData,
        }
    }

    /// Adds a group; returns its first bin.
    fn group(
        &mut self,
        when: When,
        name: &'static str,
        about: &'static str,
        axes: Vec<Axis>,
    ) -> usize {
        assert!(self.groups.iter().all(|g| g.name != name), "two of {name}");
        let (first, bins) = (
            self.unreachable.len(),
            axes.iter().map(|a| a.values.len()).product(),
        );
        self.unreachable.resize(first + bins, None);
        self.groups.push(Group {
            name,
            about,
            when,
            axes,
            first,
            bins,
        });
        first
    }

    /// Declares the bins of `cross` for which `rule` holds unreachable. `why` is the reason, with the section of the
    /// specification. If a bin is declared unreachable twice, the first reason stays.
    pub fn unreachable<P: Point>(
        &mut self,
        cross: Cross<P>,
        why: &'static str,
        rule: impl Fn(P) -> bool,
    ) {
        self.declare_unreachable(cross.first, why, &|n| rule(P::at(n)));
    }

    /// Does the same as [`Declaration::unreachable`], for bins that are unreachable only because of all instructions since the
    /// launch. A case with a preloaded state ([`reconverge_program::start`]) has no such history, so its hits of these bins do not count.
    ///
    /// # Panics
    /// The group is sampled in every cycle or step. Its hit counts would then be incomplete.
    pub fn unreachable_by_history<P: Point>(
        &mut self,
        cross: Cross<P>,
        why: &'static str,
        rule: impl Fn(P) -> bool,
    ) {
        let bins = self.declare_unreachable(cross.first, why, &|n| rule(P::at(n)));
        self.history.extend(bins);
        let group = self.groups.iter().find(|g| g.first == cross.first);
        assert!(group.is_some_and(|g| g.when == When::Sometimes), "{why}");
    }

    /// Does the same in all groups declared so far, for the bins with a value of `A` for which `rule` holds: of `A` itself, or of an axis
    /// of the same name with some of its values.
    pub fn unreachable_values<A: Values>(&mut self, why: &'static str, rule: impl Fn(A) -> bool) {
        let all = A::names().into_iter().enumerate();
        let values = all.filter_map(|(n, name)| rule(A::at(n)).then_some(name));
        let values: Vec<String> = values.collect();
        let mut found = false;
        for group in &self.groups {
            let axis = |axis: &Axis| {
                let is = |value| axis.name == A::NAME && values.contains(value);
                axis.values.iter().map(is).collect()
            };
            let axes: Vec<Vec<bool>> = group.axes.iter().map(axis).collect();
            let bins = &mut self.unreachable[group.first..][..group.bins];
            for (n, bin) in bins.iter_mut().enumerate().filter(|(_, bin)| bin.is_none()) {
                // The last axis varies fastest. Not by names: those of all bins would take longer than all else that is declared.
                let mut left = n;
                let one = |axis: &Vec<bool>| {
                    let value = left % axis.len();
                    left /= axis.len();
                    axis[value]
                };
                if axes.iter().rev().any(one) {
                    (*bin, found) = (Some(why), true);
                }
            }
        }
        if !found {
            self.idle.push(format!("{}: {why}", A::NAME));
        }
    }

    /// Declares the levels of all groups declared so far unreachable that a stack of `max` entries does not have.
    pub fn unreachable_levels(&mut self, why: &'static str, max: usize) {
        if !(0..Level::COUNT).all(|n| Level::at(n).exists(max)) {
            self.unreachable_values(why, |level: Level| !level.exists(max));
        }
    }

    /// Declares bins of the group with this first bin unreachable; `rule` gets their numbers in the group. Returns the bins
    /// that were reachable before.
    fn declare_unreachable(
        &mut self,
        first: usize,
        why: &'static str,
        rule: &dyn Fn(usize) -> bool,
    ) -> Vec<usize> {
        let Some(group) = self.groups.iter().find(|g| g.first == first) else {
            return Vec::new();
        };
        let mut bins = Vec::new();
        for n in 0..group.bins {
            let bin = &mut self.unreachable[group.first + n];
            if bin.is_none() && rule(n) {
                *bin = Some(why);
                bins.push(group.first + n);
            }
        }
        if bins.is_empty() {
            self.idle.push(format!("{}: {why}", group.name));
        }
        bins
    }

    /// Returns the bins of its group that differ from `bin` in the value of one axis, by axis.
    #[cfg(feature = "campaign")]
    #[doc(hidden)]
    pub fn beside(&self, bin: usize) -> Vec<Vec<usize>> {
        let Some(group) = self.groups.iter().rfind(|g| g.first <= bin) else {
            return Vec::new();
        };
        let mut stride = group.bins;
        let lines = group.axes.iter().map(|axis| {
            let count = axis.values.len();
            stride /= count;
            let step = stride;
            let mine = (bin - group.first) / step % count;
            let others = (0..count).filter(|value| *value != mine);
            others
                .map(|value| bin - mine * step + value * step)
                .collect()
        });
        lines.collect()
    }

    /// Returns true if `bin` is not declared unreachable.
    #[doc(hidden)]
    pub fn is_reachable(&self, bin: usize) -> bool {
        self.unreachable[bin].is_none()
    }

    /// Returns counters that are all 0.
    pub fn no_hits(&self) -> Hits {
        Hits::new(self.unreachable.len())
    }

    /// Returns the number of bins that are not declared unreachable.
    pub fn reachable(&self) -> usize {
        self.unreachable.iter().filter(|why| why.is_none()).count()
    }

    /// Returns the number of reachable bins that `hits` contains.
    pub fn hit(&self, hits: &Hits) -> usize {
        let bins = hits.counts().iter().zip(&self.unreachable);
        bins.filter(|(hits, why)| **hits > 0 && why.is_none())
            .count()
    }

    /// Returns the coverage of `unit` with `build`, whose bins these are.
    pub fn named(&self, unit: &str, build: &Build, hits: &Hits, totals: Totals) -> UnitCoverage {
        let groups = self.groups.iter().map(|g| {
            let bins = (g.first..g.first + g.bins).map(|n| Bin {
                at: names(&g.axes, n - g.first),
                hits: hits.counts()[n],
                unreachable: self.unreachable[n].map(str::to_owned),
            });
            GroupCoverage {
                name: g.name.to_owned(),
                about: g.about.to_owned(),
                sampled: g.when,
                axes: g.axes.clone(),
                bins: bins.collect(),
            }
        });
        UnitCoverage {
            unit: unit.to_owned(),
            lanes: build.lanes,
            parameters: build.parameters.clone(),
            totals,
            runs: Vec::new(),
            failures: Vec::new(),
            groups: groups.collect(),
        }
    }

    /// Returns the declarations of unreachable bins that apply to no bin. In a unit's default build they are mistakes.
    pub fn idle(&self) -> &[String] {
        &self.idle
    }
}

/// The bins of a unit: their declaration, and the sampling that hits them.
pub trait Coverage<U: Campaign>: Sized + Send + Sync + 'static {
    /// Memory from one cycle to the next within a case.
    type Memory: Default + Send;
    /// The groups that a campaign reports, in this order: those that show at a glance whether it went everywhere.
    const OVERVIEW: &'static [&'static str];

    /// Declares all bins of a unit with `build`.
    fn declare(groups: &mut Groups<U>, build: &Build) -> Self;

    /// Samples one cycle, in which `pins` led from state `before` to `after`, for the groups that do not count themselves.
    fn sample(
        &self,
        memory: &mut Self::Memory,
        before: &U::State,
        pins: &U::In,
        after: &U::Golden,
        hits: &mut Hits,
    );
}

/// Number of reachable bins, and how many of them were hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Bins that were hit.
    pub hit: usize,
    /// Bins that are not declared unreachable.
    pub reachable: usize,
}

/// The bins of a campaign as it reports them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// Share of all bins.
    pub all: Share,
    /// Shares of some groups, by name.
    pub groups: Vec<(&'static str, Share)>,
}

/// The bins of a build, as a campaign needs them.
pub trait Bins: Send + Sync {
    /// Returns the bins of a design with `build`.
    fn new(build: &Build) -> Self;
    /// Returns their declaration.
    fn declaration(&self) -> &Declaration;
    /// Returns the set of the bins that can be hit.
    fn goal(&self) -> Met;
    /// Returns how many of them are in `met`.
    fn overview(&self, met: &Met) -> Overview;
    /// Returns what a campaign of some length must hit, and `met` does not have, one line each; of streams also that little else than a
    /// reset was compared, which was asserted in `resets` of `cycles` cycles.
    fn gaps(&self, met: &Met, cycles: u64, resets: u64) -> Vec<String>;
}

impl<U: Campaign> Bins for Model<U> {
    fn new(build: &Build) -> Self {
        Model::new(build)
    }
    fn declaration(&self) -> &Declaration {
        &self.groups
    }
    fn goal(&self) -> Met {
        Model::goal(self)
    }
    fn overview(&self, met: &Met) -> Overview {
        Model::overview(self, met)
    }
    fn gaps(&self, met: &Met, _: u64, _: u64) -> Vec<String> {
        self.never_met(met)
    }
}

/// The declared bins of a build of a unit.
pub struct Model<U: Campaign> {
    build: Build,
    groups: Groups<U>,
    bins: U::Coverage,
    /// The first bin of the groups of `design.toml`.
    own: usize,
}

impl<U: Campaign> Model<U> {
    /// Returns the bins of a unit with `build`.
    pub fn new(build: &Build) -> Self {
        let mut groups = Groups::default();
        let bins = U::Coverage::declare(&mut groups, build);
        let own = groups.add::<U>(build, is_declared);
        Model {
            own,
            build: build.clone(),
            groups,
            bins,
        }
    }

    /// Declares further bins of `group` unreachable, if `rule` holds for the names of their values: for instance what a user's
    /// own programs never do. Returns the number of these bins.
    pub fn forbid(
        &mut self,
        group: &str,
        why: &'static str,
        rule: impl Fn(&[String]) -> bool,
    ) -> usize {
        let declaration: &mut Declaration = &mut self.groups;
        let mut count = 0;
        for g in declaration.groups.iter().filter(|g| g.name == group) {
            for n in 0..g.bins {
                let bin = &mut declaration.unreachable[g.first + n];
                if bin.is_none() && rule(&names(&g.axes, n)) {
                    *bin = Some(why);
                    count += 1;
                }
            }
        }
        count
    }

    /// Returns the declaration of the bins.
    pub fn declaration(&self) -> &Declaration {
        &self.groups
    }

    /// Returns the set of the bins that are not declared unreachable.
    pub fn goal(&self) -> Met {
        (0..self.groups.unreachable.len())
            .filter(|bin| self.groups.is_reachable(*bin))
            .collect()
    }

    /// Returns the share of the reachable bins that are in `met`, for all bins and for each group of [`Coverage::OVERVIEW`].
    pub fn overview(&self, met: &Met) -> Overview {
        let share = |bins: Range<usize>| {
            let reachable = bins.filter(|bin| self.groups.unreachable[*bin].is_none());
            let (mut share, mut all) = (Share::default(), 0);
            for bin in reachable {
                all += 1;
                share.hit += usize::from(met.has(bin));
            }
            share.reachable = all;
            share
        };
        let groups = U::Coverage::OVERVIEW.iter();
        Overview {
            all: share(0..self.groups.unreachable.len()),
            groups: groups
                .filter_map(|name| self.group(name))
                .map(|g| (g.name, share(g.first..g.first + g.bins)))
                .collect(),
        }
    }

    /// Returns the axis values in the groups of [`Coverage::OVERVIEW`] that have a reachable bin, but no bin in `met`. After a
    /// campaign of some length there must be none.
    pub fn never_met(&self, met: &Met) -> Vec<String> {
        let mut never = Vec::new();
        for group in U::Coverage::OVERVIEW
            .iter()
            .filter_map(|name| self.group(name))
        {
            for (n, axis) in group.axes.iter().enumerate() {
                for value in &axis.values {
                    let mut bins = (group.first..group.first + group.bins)
                        .filter(|bin| self.groups.unreachable[*bin].is_none())
                        .filter(|bin| names(&group.axes, bin - group.first)[n] == *value)
                        .peekable();
                    if bins.peek().is_some() && !bins.any(|bin| met.has(bin)) {
                        never.push(format!("{}: {} {value}", group.name, axis.name));
                    }
                }
            }
        }
        never
    }

    /// Returns the reachable bins that are not in `met`: group, and the value of each axis.
    pub fn missing(&self, met: &Met) -> Vec<String> {
        self.bins(|bin, reachable| reachable && !met.has(bin))
    }

    /// Returns the bins in `met` that are declared unreachable, in the same form. Their declarations are wrong.
    pub fn impossible(&self, met: &Met) -> Vec<String> {
        self.bins(|bin, reachable| !reachable && met.has(bin))
    }

    /// Returns the names of the bins for which `which` holds; `which` gets the number of a bin, and whether it is reachable.
    fn bins(&self, which: impl Fn(usize, bool) -> bool) -> Vec<String> {
        let groups = self.groups.groups.iter();
        let all = groups.flat_map(|g| (g.first..g.first + g.bins).map(move |bin| (g, bin)));
        all.filter(|(_, bin)| which(*bin, self.groups.unreachable[*bin].is_none()))
            .map(|(g, bin)| format!("{}: {}", g.name, names(&g.axes, bin - g.first).join(", ")))
            .collect()
    }

    fn group(&self, name: &str) -> Option<&Group> {
        self.groups.groups.iter().find(|g| g.name == name)
    }

    /// Returns the coverage that `collector` counted, by name.
    pub fn coverage(&self, collector: &Collector<U>) -> UnitCoverage {
        let totals = Totals {
            cycles: collector.cycles,
            steps: collector.steps,
            ..Totals::default()
        };
        // This may be called in the middle of a case.
        let mut hits = collector.hits.clone();
        hits.settle();
        self.named(&hits, totals)
    }

    /// Does the same as [`Model::coverage`], for counters.
    pub fn named(&self, hits: &Hits, totals: Totals) -> UnitCoverage {
        self.groups.named(U::NAME, &self.build, hits, totals)
    }
}

/// Returns the names of the values of bin `index`.
fn names(axes: &[Axis], index: usize) -> Vec<String> {
    let mut left = index;
    let mut at: Vec<String> = axes
        .iter()
        .rev()
        .map(|axis| {
            let value = left % axis.values.len();
            left /= axis.values.len();
            axis.values[value].clone()
        })
        .collect();
    at.reverse();
    at
}

/// Counts hits while a case runs.
pub struct Collector<'m, U: Campaign> {
    model: &'m Model<U>,
    memory: <U::Coverage as Coverage<U>>::Memory,
    common: common::Memory,
    sampler: Sampler,
    before: U::State,
    /// The coverpoints before the cycle.
    points: Vec<u64>,
    /// In a case with preloaded states: the counters before the case of the bins that only history makes unreachable.
    without: Vec<u64>,
    /// Counters of all cases since the collector was made.
    pub hits: Hits,
    /// Cycles sampled.
    pub cycles: u64,
    /// Steps executed or failed.
    pub steps: u64,
}

impl<'m, U: Campaign> Collector<'m, U> {
    /// Returns a collector with all counters 0.
    pub fn new(model: &'m Model<U>) -> Self {
        Collector {
            model,
            sampler: Sampler::new::<U>(&model.build, model.own, is_declared),
            memory: Default::default(),
            common: Default::default(),
            before: U::State::default(),
            points: Vec::new(),
            without: Vec::new(),
            hits: model.groups.no_hits(),
            cycles: 0,
            steps: 0,
        }
    }

    /// Begins `case`: clears the memory of the last case, but not the counters.
    pub fn begin(&mut self, case: &Case<U>) {
        self.memory = Default::default();
        self.common = Default::default();
        self.sampler.begin();
        self.hits.settle();
        let history = self.model.groups.history.iter();
        self.without.clear();
        if !case.start.is_empty() {
            self.without.extend(history.map(|n| self.hits.counts[*n]));
        }
    }

    /// Ends the case; only now the counters contain all of its hits.
    pub fn end(&mut self) {
        self.hits.settle();
        let history = &self.model.groups.history;
        for (n, hits) in history.iter().zip(self.without.drain(..)) {
            self.hits.counts[*n] = hits;
        }
    }
}

impl<U: Campaign> Watch<U> for Collector<'_, U> {
    #[inline]
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        self.before = *golden.state();
        coverpoints::<U>(golden, pins, &mut self.points);
    }
    #[inline]
    fn after(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        self.cycles += 1;
        self.steps += u64::from(golden.step() != Step::None);
        let Model { groups, bins, .. } = self.model;
        let hits = &mut self.hits;
        bins.sample(&mut self.memory, &self.before, pins, golden, hits);
        // A unit whose groups are all its own spends nothing on them.
        if groups.count_themselves() {
            groups.sample(&mut self.common, &self.before, pins, golden, hits);
        }
        self.sampler
            .see::<U>(pins, golden.state(), &self.points, |bin| hits.hit_bin(bin));
    }
}
