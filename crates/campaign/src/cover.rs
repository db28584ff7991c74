//! Functional coverage: which situations of a unit a campaign has met, and which not.
//!
//! A unit declares all its bins in one place, `src/<unit>/cover.rs`: groups that cross a few axes (operation,
//! decision, lane classes present, stack level, ...), and of every bin that cannot be hit the reason, by
//! section of the specification. Bins are hit by what the golden does on each clock (state before, pins,
//! state after), never by the RTL's insides.
//!
//! A [`Model`] holds the bins of a build; a [`Collector`] counts their hits, looking on in `stimulus::run`; [`Model::coverage`]
//! says what was hit.

mod axis;
#[cfg(feature = "campaign")]
#[doc(hidden)]
pub mod guide;
mod html;
mod met;
#[cfg(feature = "campaign")]
pub mod run;
mod saved;

use std::marker::PhantomData;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use axis::*;
pub use html::page;
pub use met::Met;
pub use reconverge_bench::lcov;
pub use saved::{Bin, FORMAT, GroupCoverage, Saved, Totals, UnitCoverage};

use crate::case::Case;
use crate::design::{Build, Golden};
use crate::grammar::Campaign;
use crate::program::{Executor as _, Step};
use crate::watch::Watch;

/// When a group is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Exactly one bin of it in every clock.
    Clock,
    /// Exactly one bin of it in every step that executed or failed.
    Step,
    /// As its description says: in some steps none, in others several.
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

/// The bins of a unit, as they are being declared.
#[derive(Debug, Default)]
pub struct Declaration {
    groups: Vec<Group>,
    /// Of each bin why it cannot be hit, if it cannot.
    unreachable: Vec<Option<&'static str>>,
    /// Bins that no program reaches, but a case may that begins in another state than a launch leads to.
    history: Vec<usize>,
    /// Reasons given for no bin that was still thought reachable.
    idle: Vec<String>,
}

impl Declaration {
    /// A group with a bin for each combination of the values of `P`; `about` tells an expert what a hit
    /// means, and when the group is sampled.
    ///
    /// # Panics
    /// Two groups of the same name.
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

    /// Adds a group; its first bin.
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

    /// No bin of `cross` for which `rule` holds can be hit, because of `why` (which names the section). The
    /// first reason given for a bin stays.
    pub fn unreachable<P: Point>(
        &mut self,
        cross: Cross<P>,
        why: &'static str,
        rule: impl Fn(P) -> bool,
    ) {
        self.declare_unreachable(cross.first, why, &|n| rule(P::at(n)));
    }

    /// As [`Declaration::unreachable`], for what follows from no single instruction but from all that ran
    /// since the launch. A case that begins in a state of its own ([`crate::start`]) has no such past: what
    /// it hits of these bins does not count.
    ///
    /// # Panics
    /// In a group that is sampled in every clock or step: the hits left out would be missing.
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

    /// Declares bins of the group with this first bin unreachable, by their numbers in it; those that were still thought reachable.
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

    /// Tells whether `bin` is not declared unreachable.
    #[doc(hidden)]
    pub fn is_reachable(&self, bin: usize) -> bool {
        self.unreachable[bin].is_none()
    }

    /// Declarations of unreachable bins that apply to no bin: mistakes, in a unit's usual build.
    pub fn idle(&self) -> &[String] {
        &self.idle
    }
}

/// Hits that [`Hits`] holds before it counts them.
const PENDING: usize = 1024;

/// Counters of all bins of a model.
///
/// A hit is first written down, then counted with many others: the counters are too many to be at hand all the time,
/// and which of them are still at 0 no processor can guess. [`Hits::settle`] counts what is written down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Hits {
    counts: Vec<u64>,
    /// Bins whose counter left 0, in the order in which they did.
    #[serde(skip)]
    new: Vec<usize>,
    /// Bins that were hit and are not counted yet: the first `waiting` of these.
    #[serde(skip)]
    pending: Vec<u32>,
    #[serde(skip)]
    waiting: usize,
    /// Words each of whose bits hits a bin ([`Hits::hit_bits`]), not counted yet either: of the group whose bins begin with
    /// this, and so many bits.
    #[serde(skip)]
    words: Vec<u32>,
    #[serde(skip)]
    of_words: (usize, usize),
}

impl PartialEq for Hits {
    /// Whether they count alike, once every hit is counted.
    fn eq(&self, other: &Self) -> bool {
        self.counts() == other.counts()
    }
}
impl Eq for Hits {}

impl Hits {
    /// The bin of `cross` at `point` was hit.
    #[inline]
    pub fn hit<P: Point>(&mut self, cross: Cross<P>, point: P) {
        self.hit_if(true, cross, point);
    }

    /// As [`Hits::hit`], if `condition`.
    #[inline]
    pub fn hit_if<P: Point>(&mut self, condition: bool, cross: Cross<P>, point: P) {
        // What lies behind the last one is a bin of the next group.
        debug_assert!(!condition || point.index() < P::COUNT);
        let bin = (cross.first + point.index()) as u32;
        let waiting = self.waiting;
        match self.pending.get_mut(waiting) {
            Some(place) => *place = bin,
            None => self.make_room(bin),
        }
        // Written where the next one will be, if it does not count.
        self.waiting += usize::from(condition);
    }

    /// Hits a bin of `cross` for each bit of `word` that `A` has a value for, bit n that of value n: by whether it is clear
    /// (first value of `B`) or set (second).
    #[inline]
    pub fn hit_bits<A: Values, B: Values>(&mut self, cross: Cross<(A, B)>, word: u32) {
        const { assert!(A::COUNT <= 32 && B::COUNT == 2) };
        let group = (cross.first, A::COUNT);
        if self.of_words != group || self.words.len() == PENDING {
            self.settle();
            self.of_words = group;
        }
        self.words.push(word);
    }

    /// Counts what is written down, and writes down `bin` first of all.
    #[cold]
    fn make_room(&mut self, bin: u32) {
        self.settle();
        self.pending.resize(PENDING, 0);
        self.pending[0] = bin;
    }

    /// Counts every hit so far. What reads counters wants it done before.
    pub fn settle(&mut self) {
        let mut count = |bin: usize, hits: u64| {
            let count = &mut self.counts[bin];
            if *count == 0 && hits > 0 {
                self.new.push(bin);
            }
            *count += hits;
        };
        for bin in &self.pending[..self.waiting] {
            count(*bin as usize, 1);
        }
        let (first, bits) = self.of_words;
        let words = self.words.len() as u64;
        // One bit of all words after another, so that a compiler may take several words a time.
        for bit in (0..bits).take_while(|_| words > 0) {
            let set = self.words.iter().map(|word| word >> bit & 1).sum::<u32>();
            count(first + 2 * bit, words - u64::from(set));
            count(first + 2 * bit + 1, set.into());
        }
        self.waiting = 0;
        self.words.clear();
    }

    /// Adds what another collector of the same model counted.
    ///
    /// # Panics
    /// Hits of `other` are not counted yet.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts()) {
            *mine += theirs;
        }
    }

    /// Returns the bins that were hit, and sets every counter to 0.
    pub fn take(&mut self) -> Met {
        self.settle();
        let mut met = Met::default();
        for bin in self.new.drain(..) {
            // It is 0 again where a hit did not count.
            if std::mem::take(&mut self.counts[bin]) > 0 {
                met.hit(bin);
            }
        }
        met
    }

    /// Sets every counter to 0.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.new.clear();
        self.waiting = 0;
        self.words.clear();
    }

    /// The counters, in the order of the declaration.
    ///
    /// # Panics
    /// Hits are not counted yet: [`Hits::settle`], which the end of a case does.
    pub fn counts(&self) -> &[u64] {
        let waiting = self.waiting + self.words.len();
        assert_eq!(waiting, 0, "hits that are not counted");
        &self.counts
    }
}

/// The bins of a unit: what they are, and what hits them.
pub trait Coverage<U: Campaign>: Sized + Send + Sync + 'static {
    /// What is remembered from one clock to the next within a case.
    type Memory: Default + Send;
    /// The groups that a campaign tells of, in this order: those by which an expert judges at a glance whether it went
    /// everywhere.
    const OVERVIEW: &'static [&'static str];

    /// Declares all bins of a unit with `build`.
    fn declare(declaration: &mut Declaration, build: &Build) -> Self;

    /// Looks at one clock: `pins` took the unit from `before` to what `after` shows.
    fn sample(
        &self,
        memory: &mut Self::Memory,
        before: &U::State,
        pins: &U::In,
        after: &U::Golden,
        hits: &mut Hits,
    );
}

/// How many bins were hit, of those that can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Hit.
    pub hit: usize,
    /// Not declared unreachable.
    pub reachable: usize,
}

/// What a campaign tells of its bins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// Of all bins.
    pub all: Share,
    /// Of some groups, by name.
    pub groups: Vec<(&'static str, Share)>,
}

/// The declared bins of a unit with certain parameters.
pub struct Model<U: Campaign> {
    build: Build,
    declaration: Declaration,
    bins: U::Coverage,
}

impl<U: Campaign> Model<U> {
    /// The bins of a unit with `build`.
    pub fn new(build: &Build) -> Self {
        let mut declaration = Declaration::default();
        let bins = U::Coverage::declare(&mut declaration, build);
        Model {
            build: build.clone(),
            declaration,
            bins,
        }
    }

    /// Declares further bins of `group` unreachable, those for whose values by name `rule` holds: what a
    /// user's own programs never do, say. How many that were.
    pub fn forbid(
        &mut self,
        group: &str,
        why: &'static str,
        rule: impl Fn(&[String]) -> bool,
    ) -> usize {
        let declaration = &mut self.declaration;
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

    /// What was declared.
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// No bin is hit yet.
    pub fn no_hits(&self) -> Hits {
        Hits {
            counts: vec![0; self.declaration.unreachable.len()],
            ..Hits::default()
        }
    }

    /// Bins that are not declared unreachable.
    pub fn reachable(&self) -> usize {
        let unreachable = self.declaration.unreachable.iter().flatten().count();
        self.declaration.unreachable.len() - unreachable
    }

    /// Those of them that `hits` has.
    pub fn hit(&self, hits: &Hits) -> usize {
        let bins = hits.counts().iter().zip(&self.declaration.unreachable);
        bins.filter(|(hits, why)| **hits > 0 && why.is_none())
            .count()
    }

    /// Returns the bins of `met` that are not declared unreachable: how many, of all and of each group of
    /// [`Coverage::OVERVIEW`].
    pub fn overview(&self, met: &Met) -> Overview {
        let share = |bins: Range<usize>| {
            let reachable = bins.filter(|bin| self.declaration.unreachable[*bin].is_none());
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
            all: share(0..self.declaration.unreachable.len()),
            groups: groups
                .filter_map(|name| self.group(name))
                .map(|g| (g.name, share(g.first..g.first + g.bins)))
                .collect(),
        }
    }

    /// Returns the values of axes, in the groups of [`Coverage::OVERVIEW`], that no bin of `met` has although a bin has
    /// them that is not declared unreachable: what a campaign of some length must have met.
    pub fn never_met(&self, met: &Met) -> Vec<String> {
        let mut never = Vec::new();
        for group in U::Coverage::OVERVIEW
            .iter()
            .filter_map(|name| self.group(name))
        {
            for (n, axis) in group.axes.iter().enumerate() {
                for value in &axis.values {
                    let mut bins = (group.first..group.first + group.bins)
                        .filter(|bin| self.declaration.unreachable[*bin].is_none())
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

    /// Returns the bins that can be hit and are not in `met`: group, and the value of each axis.
    pub fn missing(&self, met: &Met) -> Vec<String> {
        self.bins(|bin, reachable| reachable && !met.has(bin))
    }

    /// Returns the bins in `met` that are declared unreachable, likewise: what was said of them is not so.
    pub fn impossible(&self, met: &Met) -> Vec<String> {
        self.bins(|bin, reachable| !reachable && met.has(bin))
    }

    /// Names the bins for whose number, and whether they can be hit, `which` holds.
    fn bins(&self, which: impl Fn(usize, bool) -> bool) -> Vec<String> {
        let groups = self.declaration.groups.iter();
        let all = groups.flat_map(|g| (g.first..g.first + g.bins).map(move |bin| (g, bin)));
        all.filter(|(_, bin)| which(*bin, self.declaration.unreachable[*bin].is_none()))
            .map(|(g, bin)| format!("{}: {}", g.name, names(&g.axes, bin - g.first).join(", ")))
            .collect()
    }

    fn group(&self, name: &str) -> Option<&Group> {
        self.declaration.groups.iter().find(|g| g.name == name)
    }

    /// Everything that is known after a run of `collector`, by name.
    pub fn coverage(&self, collector: &Collector<U>) -> UnitCoverage {
        let totals = Totals {
            clocks: collector.clocks,
            steps: collector.steps,
            ..Totals::default()
        };
        // It may be asked in the middle of a case.
        let mut hits = collector.hits.clone();
        hits.settle();
        self.named(&hits, totals)
    }

    /// As [`Model::coverage`], of counters.
    pub fn named(&self, hits: &Hits, totals: Totals) -> UnitCoverage {
        let groups = self.declaration.groups.iter().map(|g| {
            let bins = (g.first..g.first + g.bins).map(|n| Bin {
                at: names(&g.axes, n - g.first),
                hits: hits.counts()[n],
                unreachable: self.declaration.unreachable[n].map(str::to_owned),
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
            unit: U::NAME.to_owned(),
            lanes: self.build.lanes,
            parameters: self.build.parameters.clone(),
            totals,
            groups: groups.collect(),
        }
    }
}

/// The values of the bin numbered `index`, by name.
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
    before: U::State,
    /// In a case that begins in a state of its own: counters of bins that only history makes unreachable.
    without: Vec<u64>,
    /// Counters of all cases since the collector was made.
    pub hits: Hits,
    /// Clocks looked at.
    pub clocks: u64,
    /// Steps executed or failed.
    pub steps: u64,
}

impl<'m, U: Campaign> Collector<'m, U> {
    /// Nothing seen yet.
    pub fn new(model: &'m Model<U>) -> Self {
        Collector {
            model,
            memory: Default::default(),
            before: U::State::default(),
            without: Vec::new(),
            hits: model.no_hits(),
            clocks: 0,
            steps: 0,
        }
    }

    /// `case` begins: forgets what was remembered of the last one, not what was counted.
    pub fn begin(&mut self, case: &Case<U>) {
        self.memory = Default::default();
        self.hits.settle();
        let history = self.model.declaration.history.iter();
        self.without.clear();
        if !case.start.is_empty() {
            self.without.extend(history.map(|n| self.hits.counts[*n]));
        }
    }

    /// The case has ended; only now its hits are all in the counters.
    pub fn end(&mut self) {
        self.hits.settle();
        let history = &self.model.declaration.history;
        for (n, hits) in history.iter().zip(self.without.drain(..)) {
            self.hits.counts[*n] = hits;
        }
    }
}

impl<U: Campaign> Watch<U> for Collector<'_, U> {
    fn before(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        self.before = *golden.state();
    }
    fn after(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        self.clocks += 1;
        self.steps += u64::from(golden.step() != Step::None);
        let bins = &self.model.bins;
        bins.sample(&mut self.memory, &self.before, pins, golden, &mut self.hits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    axis! {
        /// Three values.
        Three "three" {
            A "a",
            B "b",
            C "c",
        }
    }
    axis! {
        /// What a bit is.
        Is "is" {
            Clear "0",
            Set "1",
        }
    }

    #[test]
    fn hits_written_down_are_counted_as_they_came() {
        let mut declaration = Declaration::default();
        let plain = declaration.cross::<(Three, Is)>(When::Sometimes, "plain", "");
        let bits = declaration.cross::<(Three, Is)>(When::Sometimes, "bits", "");
        let none = || Hits {
            counts: vec![0; 12],
            ..Hits::default()
        };
        // More than are held before they are counted, and more than twice as many.
        for steps in [0, 1, PENDING - 1, PENDING, PENDING + 1, 5 * PENDING] {
            let (mut hits, mut counts, mut new) = (none(), [0; 12], Vec::new());
            let mut count = |bin: usize, is: bool| {
                if is && counts[bin] == 0 {
                    new.push(bin);
                }
                counts[bin] += u64::from(is);
            };
            for n in 0..steps {
                let (three, is) = (Three::at(n % 3), Is::at(n / 7 % 2));
                let holds = n % 5 < 2;
                hits.hit_if(holds, plain, (three, is));
                count(2 * (n % 3) + n / 7 % 2, holds);
                // Bits behind the third are none of its own.
                let word = (n as u32).wrapping_mul(0x9E37_79B9) >> 7;
                hits.hit_bits(bits, word);
                for bit in 0..3 {
                    count(6 + 2 * bit + (word >> bit & 1) as usize, true);
                }
            }
            hits.settle();
            assert_eq!(hits.counts(), counts, "{steps}");
            let met = hits.take();
            assert!((0..12).all(|bin| met.has(bin) == new.contains(&bin)));
            // Every case has all that it hits, whatever was hit before it: a case whose worker is lost takes nothing along.
            assert_eq!(hits.take(), Met::default());
            hits.hit(plain, (Three::C, Is::Set));
            assert!(hits.take().has(5));
            hits.hit(plain, (Three::C, Is::Set));
            hits.hit_bits(bits, 0);
            hits.clear();
            assert!(hits == none());
        }
    }

    #[test]
    #[should_panic(expected = "hits that are not counted")]
    fn counters_are_not_read_before_all_is_counted() {
        let mut declaration = Declaration::default();
        let plain = declaration.cross::<(Three,)>(When::Sometimes, "plain", "");
        let mut hits = Hits {
            counts: vec![0; 3],
            ..Hits::default()
        };
        hits.hit(plain, (Three::B,));
        hits.counts();
    }
}
