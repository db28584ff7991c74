//! Groups of bins that the declaration of a design gives (`[[cover]]` in `design.toml`), the conditions that hit them, and their
//! sampling. The lists are generated (`crates/declaration`).

use crate::design::{Build, Design, Golden};
use crate::field::Declaration;

/// A condition: one of these lists of comparisons holds, all of it.
pub type Condition = &'static [&'static [Comparison]];

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Left side.
    pub left: Sum,
    /// What must hold between them.
    pub relation: Relation,
    /// Right side.
    pub right: Sum,
}

/// A relation between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A value, and a number that is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The value.
    pub of: Operand,
    /// The number.
    pub plus: u64,
}

/// What a condition compares: one number, or the mask of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number.
    Number(u64),
    /// The pin with this index.
    Pin(usize),
    /// The field with this index, as it was before the cycle.
    Before(usize),
    /// The field with this index, as it is after the cycle.
    After(usize),
    /// The coverpoint with this index, before the cycle.
    Coverpoint(usize),
    /// A parameter of the build.
    Parameter(&'static str),
    /// The lanes of the build.
    Lanes,
}

/// A group of bins, one for each combination of bins of its axes.
#[derive(Clone, Copy, Debug)]
pub struct Cover {
    /// Name.
    pub name: &'static str,
    /// What a hit means.
    pub doc: &'static str,
    /// The cycles that count.
    pub when: Condition,
    /// Its axes; the last one varies fastest.
    pub axes: &'static [Axis],
    /// Combinations that cannot be hit.
    pub unreachable: &'static [Unreachable],
    /// Not declared: the values of a pin or field with an enum that no other group uses.
    pub of_enum: bool,
}

/// An axis of a group.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Name.
    pub name: &'static str,
    /// The names of its bins, with their conditions; the first one that holds is hit.
    pub bins: &'static [(&'static str, Condition)],
}

/// Combinations of bins that cannot be hit.
#[derive(Clone, Copy, Debug)]
pub struct Unreachable {
    /// For each axis the numbers of its bins; none means all.
    pub at: &'static [&'static [usize]],
    /// The builds for which this holds.
    pub when: Condition,
    /// The reason.
    pub why: &'static str,
}

impl Cover {
    /// Returns the number of bins.
    pub fn bins(&self) -> usize {
        self.axes.iter().map(|axis| axis.bins.len()).product()
    }

    /// Returns the place of bin `bin` on each axis.
    fn at(&self, mut bin: usize) -> Vec<usize> {
        let mut at: Vec<usize> = (self.axes.iter().rev())
            .map(|axis| {
                let place = bin % axis.bins.len();
                bin /= axis.bins.len();
                place
            })
            .collect();
        at.reverse();
        at
    }

    /// Returns the name of bin `bin`: each axis with its value.
    pub fn name_of(&self, bin: usize) -> String {
        let at = self.axes.iter().zip(self.at(bin));
        let values = at.map(|(axis, place)| format!("{} {}", axis.name, axis.bins[place].0));
        values.collect::<Vec<_>>().join(", ")
    }

    /// Returns why bin `bin` cannot be hit with `build`, if it cannot.
    pub fn unreachable<D: Design>(&self, bin: usize, build: &Build) -> Option<&'static str> {
        let at = self.at(bin);
        let of = |one: &&Unreachable| {
            let mut places = one.at.iter().zip(&at);
            let here = places.all(|(bins, place)| bins.is_empty() || bins.contains(place));
            let none = Cycle {
                declaration: D::DECLARATION,
                before: &[],
                pins: &[],
                after: &[],
                points: &[],
            };
            here && holds(&built::<D>(one.when, build), &none)
        };
        self.unreachable.iter().find(of).map(|one| one.why)
    }
}

/// A condition for one build: parameters are numbers.
type Built = Vec<Vec<Comparison>>;

/// Returns `condition` with the parameters of `build`.
fn built<D: Design>(condition: Condition, build: &Build) -> Built {
    let side = |sum: Sum| Sum {
        of: match sum.of {
            Operand::Parameter(name) => Operand::Number(build.value::<D>(name).into()),
            Operand::Lanes => Operand::Number(build.lanes.into()),
            of => of,
        },
        ..sum
    };
    let comparison = |c: &Comparison| Comparison {
        left: side(c.left),
        right: side(c.right),
        ..*c
    };
    let all = |all: &&'static [Comparison]| all.iter().map(comparison).collect();
    condition.iter().map(all).collect()
}

/// What a condition is about.
pub(crate) struct Cycle<'a> {
    pub declaration: &'static Declaration,
    pub before: &'a [u8],
    pub pins: &'a [u8],
    pub after: &'a [u8],
    /// The coverpoints.
    pub points: &'a [u64],
}

impl Cycle<'_> {
    fn value(&self, sum: Sum) -> u64 {
        let field = |n: usize, state| self.declaration.fields[n].word(state, 0);
        let value = match sum.of {
            Operand::Number(n) => n,
            Operand::Pin(n) => self.declaration.pins[n].get(self.pins, 0),
            Operand::Before(n) => field(n, self.before),
            Operand::After(n) => field(n, self.after),
            Operand::Coverpoint(n) => self.points[n],
            Operand::Parameter(_) | Operand::Lanes => unreachable!("a parameter is a number"),
        };
        value.saturating_add(sum.plus)
    }
}

/// Returns whether `condition` holds in `cycle`.
pub(crate) fn holds(condition: &[impl AsRef<[Comparison]>], cycle: &Cycle) -> bool {
    let one = |c: &Comparison| {
        let (left, right) = (cycle.value(c.left), cycle.value(c.right));
        match c.relation {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Less => left < right,
            Relation::LessOrEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterOrEqual => left >= right,
        }
    };
    condition.iter().any(|all| all.as_ref().iter().all(one))
}

/// Makes `points` the coverpoints of the declaration before a cycle of `golden` with `pins`. Returns none by value: to drop it would take
/// time in every cycle.
#[inline]
pub fn coverpoints<D: Design>(golden: &D::Golden, pins: &D::In, points: &mut Vec<u64>) {
    // Known to the compiler: a design without coverpoints spends nothing on them.
    if D::DECLARATION.coverpoints.is_empty() {
        return;
    }
    points.clear();
    let names = D::DECLARATION.coverpoints.iter();
    points.extend(names.map(|name| golden.coverpoint(name, pins)));
}

/// Finds the bins that the cycles of a case hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    groups: Vec<Group>,
    /// The state before the cycle; empty before the first one, in which the registers may have any values.
    before: Vec<u8>,
}

/// A group of bins for one build.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    first: usize,
    when: Built,
    axes: Vec<Vec<Built>>,
}

impl Sampler {
    /// Returns the sampler of the groups of `D` that `which` selects, for `build`. The first bin of the first one is number `first`.
    pub fn new<D: Design>(build: &Build, first: usize, which: impl Fn(&Cover) -> bool) -> Self {
        let covers = D::DECLARATION.covers.iter().filter(|cover| which(cover));
        let mut next = first;
        let groups = covers.map(|cover| {
            let first = next;
            next += cover.bins();
            let axis = |axis: &Axis| {
                let bins = axis.bins.iter();
                bins.map(|(_, when)| built::<D>(when, build)).collect()
            };
            Group {
                first,
                when: built::<D>(cover.when, build),
                axes: cover.axes.iter().map(axis).collect(),
            }
        });
        Sampler {
            groups: groups.collect(),
            before: Vec::new(),
        }
    }

    /// Begins another case.
    pub fn begin(&mut self) {
        self.before.clear();
    }

    /// Calls `hit` with each bin that a cycle of `D` hits: its pins, the state after it, and its [`coverpoints`]. The first cycle of a
    /// case hits none.
    #[inline]
    pub fn see<D: Design>(
        &mut self,
        pins: &D::In,
        after: &D::State,
        points: &[u64],
        hit: impl FnMut(usize),
    ) {
        if !self.groups.is_empty() {
            self.sample::<D>(pins, after, points, hit);
        }
    }

    fn sample<D: Design>(
        &mut self,
        pins: &D::In,
        after: &D::State,
        points: &[u64],
        mut hit: impl FnMut(usize),
    ) {
        let after = bytemuck::bytes_of(after);
        if !self.before.is_empty() {
            let cycle = Cycle {
                declaration: D::DECLARATION,
                before: &self.before,
                pins: bytemuck::bytes_of(pins),
                after,
                points,
            };
            self.groups
                .iter()
                .filter_map(|group| group.bin(&cycle))
                .for_each(&mut hit);
        }
        self.before.clear();
        self.before.extend_from_slice(after);
    }
}

impl Group {
    /// Returns the bin that is hit in `cycle`, if one is.
    fn bin(&self, cycle: &Cycle) -> Option<usize> {
        if !holds(&self.when, cycle) {
            return None;
        }
        let mut bin = 0;
        for axis in &self.axes {
            let place = axis.iter().position(|when| holds(when, cycle))?;
            bin = bin * axis.len() + place;
        }
        Some(self.first + bin)
    }
}
