//! Why an instruction of a run did what it did: which lanes went which way, and by which rules.
//!
//! The golden model of a case runs alone. Its [`reconverge_bench::design::Golden::explain`] names the rule of every value that it gives.
//! Nothing here depends on a unit.

use std::fmt::Write as _;

use bytemuck::{bytes_of, bytes_of_mut};
use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use crate::rules;
use crate::unit::Unit;
use reconverge_bench::design::{Control as _, Golden as _};
use reconverge_bench::field::{Field, Pin, Shape};
use reconverge_bench::lanes::Wavefronts;
use reconverge_program::assembly::Assembly as _;
use reconverge_program::case::Case;
use reconverge_program::environment::noise;
use reconverge_program::instructions::Instructions as _;
use reconverge_program::program::{Executor as _, Pins as _, Step};
use reconverge_program::show::{Class, ShownState};
use reconverge_program::stimulus::golden_alone;
use reconverge_program::watch::Watch;

/// Name of the field that holds the address in every unit.
const PC: &str = "pc";
/// Random draws of the conditions that are tried to find whether an instruction looks at them.
const TRIALS: u32 = 32;

/// An instruction completed in a cycle near the requested one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The cycle.
    pub cycle: u64,
    /// Address of the instruction.
    pub pc: u32,
    /// The instruction as text.
    pub text: String,
}

/// The explanation of a cycle.
#[derive(Clone, Debug)]
pub enum Explained {
    /// An instruction was executed, or ended in an error.
    Instruction(Instruction),
    /// No instruction was executed.
    Nothing {
        /// What the cycle was instead: a reset, a stall, a launch.
        what: String,
        /// The last instruction before it.
        before: Option<Near>,
        /// The first instruction after it.
        after: Option<Near>,
    },
    /// The run ended before it. Holds the last cycle of the run; `None` if it had none.
    Beyond(Option<u64>),
}

/// An executed instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its address.
    pub pc: u32,
    /// The instruction as text.
    pub text: String,
    /// Its words, as [`Unit::anatomy`] takes them; empty if the program has no instruction at this address.
    pub words: Vec<u64>,
    /// The cycles that it took, without stalled ones.
    pub cycles: Vec<Cycle>,
}

/// One cycle of an instruction.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// Its number in the run.
    pub number: u64,
    /// Groups of lanes that go the same way for the same reason, in the order of the lowest lane of each.
    pub groups: Vec<Group>,
    /// Lanes and stack before the cycle.
    pub before: ShownState,
    /// Lanes and stack after it.
    pub after: ShownState,
    /// How the unit came to the address: `jumps to`, `falls through to`, `pops to`, `stays at`.
    pub way: &'static str,
    /// The rule that gave the address: its id and text.
    pub address: String,
    /// The other fields of the state that belong to no lane: those that changed, and those that reports always show unless
    /// they stay 0. Fields that got their value from the same rule are together.
    pub fields: Vec<Values>,
}

/// Lanes that go the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Their class before the cycle.
    pub before: Class,
    /// Their class after it.
    pub after: Class,
    /// The condition bits that the instruction looks at, each with its value: `pred[1] 0`; empty if there are none.
    pub conditions: String,
    /// The lanes; bit i is lane i.
    pub lanes: u64,
    /// The rule that decided: its id and its text for these lanes.
    pub rule: String,
}

/// Fields that got their value from the same rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// The fields: `sp 1 -> 2`, or `sp 1` if it stays.
    pub fields: Vec<String>,
    /// The rule: its id and text.
    pub rule: String,
}

/// Returns the ids of the rules that `text` cites, in order of appearance.
pub fn cited(text: &str) -> Vec<&'static str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')));
    let rules = words.filter_map(|word| rules::find(word.trim_end_matches(['.', '-'])));
    rules.map(|rule| rule.id.as_str()).collect()
}

/// Finds the instruction that was executed in a cycle.
struct Find<'c, U: Unit> {
    case: &'c Case<U>,
    cycle: u64,
    /// The first cycle of the step in progress, and the address of its instruction.
    began: u64,
    pc: u32,
    what: String,
    last: Option<u64>,
    before: Option<Near>,
    after: Option<Near>,
    /// First and last cycle of the requested step.
    found: Option<(u64, u64)>,
}

impl<U: Unit> Watch<U> for Find<'_, U> {
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        let state = golden.state();
        if !U::mid_step(state) {
            (self.began, self.pc) = (cycle, U::pc_of(state, U::wavefront(state, pins)));
        }
        if cycle == self.cycle {
            self.what = pins.describe(U::running(state));
        }
        self.last = Some(cycle);
    }

    fn after(&mut self, cycle: u64, _: &U::In, golden: &U::Golden) {
        if golden.step() == Step::None {
            return;
        }
        if (self.began..=cycle).contains(&self.cycle) {
            self.found = Some((self.began, cycle));
            return;
        }
        let near = Some(Near {
            cycle,
            pc: self.pc,
            text: self.case.program.statement(self.pc),
        });
        match cycle < self.cycle {
            true => self.before = near,
            false => self.after = near,
        }
    }

    fn enough(&self) -> bool {
        self.found.is_some() || self.after.is_some()
    }
}

/// Keeps the state before each cycle from `from` on.
struct Keep<U: Unit> {
    from: u64,
    kept: Vec<(u64, U::In, U::Golden)>,
}

impl<U: Unit> Watch<U> for Keep<U> {
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        if cycle >= self.from {
            self.kept.push((cycle, *pins, golden.clone()));
        }
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// Explains cycle `cycle` of the run of `case`, by its golden model alone.
pub fn explain<U: Unit>(case: &Case<U>, cycle: u64) -> Explained {
    let mut find = Find::<U> {
        case,
        cycle,
        began: 0,
        pc: 0,
        what: String::new(),
        last: None,
        before: None,
        after: None,
        found: None,
    };
    golden_alone(case, u64::MAX, &mut find);
    if find.last.is_none_or(|last| last < cycle) {
        return Explained::Beyond(find.last);
    }
    let Some((from, last)) = find.found else {
        return Explained::Nothing {
            what: find.what,
            before: find.before,
            after: find.after,
        };
    };
    let mut keep = Keep::<U> {
        from,
        kept: Vec::new(),
    };
    golden_alone(case, last, &mut keep);
    let there = case.program.number(find.pc).is_some();
    let mut words = Vec::new();
    let mut cycles = Vec::new();
    for (number, pins, golden) in &keep.kept {
        if pins.is_stalled() {
            continue;
        }
        if cycles.is_empty() && there {
            words = U::instruction(pins);
        }
        cycles.push(of_cycle(case, *number, pins, golden));
    }
    Explained::Instruction(Instruction {
        pc: find.pc,
        text: case.program.statement(find.pc),
        words,
        cycles,
    })
}

fn of_cycle<U: Unit>(case: &Case<U>, number: u64, pins: &U::In, golden: &U::Golden) -> Cycle {
    let lanes = case.lanes as usize;
    let mut next = golden.clone();
    next.cycle(pins);
    let wavefront = U::wavefront(golden.state(), pins);
    let own = Wavefronts::of::<U>(lanes).range(wavefront);
    let shown = |golden| ShownState::of::<U>(golden, lanes, wavefront);
    let [before, after] = [golden, &next].map(shown);
    let sides = [bytes_of(golden.state()), bytes_of(next.state())];
    let conditions = conditions::<U>(pins, golden, lanes);
    let mut groups: Vec<Group> = Vec::new();
    let classes = before.lanes.iter().zip(&after.lanes);
    for (lane, (before, after)) in own.zip(classes) {
        let field = deciding::<U>(sides, lane, before != after);
        let group = Group {
            before: *before,
            after: *after,
            conditions: conditions[lane].clone(),
            lanes: 1 << lane,
            rule: field.map_or_else(String::new, |field| golden.explain(pins, field.name, lane)),
        };
        let same = |other: &&mut Group| {
            Group {
                lanes: group.lanes,
                ..(**other).clone()
            } == group
        };
        match groups.iter_mut().find(same) {
            Some(other) => other.lanes |= group.lanes,
            None => groups.push(group),
        }
    }
    let popped = before.stack.get(after.stack.len()..).unwrap_or_default();
    let behind = case
        .program
        .number(before.pc)
        .map(|n| case.program.address(n + 1));
    // A pop that leaves no lane running also leaves the address unchanged, whatever the frame holds.
    let goes_on = after.pc != before.pc || after.active() != 0;
    let way = match after.pc {
        pc if goes_on && popped.iter().any(|frame| frame.address == Some(pc)) => "pops to",
        pc if pc == before.pc => "stays at",
        pc if Some(pc) == behind => "falls through to",
        _ => "jumps to",
    };
    Cycle {
        number,
        groups,
        way,
        address: golden.explain(pins, PC, 0),
        fields: values::<U>(pins, golden, sides),
        before,
        after,
    }
}

/// Returns the lane field whose rule says why the lane goes its way: the first declared one. If that field stays
/// although the class of the lane changes (`moves`), returns the first that changes.
fn deciding<U: Unit>(sides: [&[u8]; 2], lane: usize, moves: bool) -> Option<&'static Field> {
    let mut of_lanes = U::fields().iter().filter(|field| field.per_lane());
    let changes = |field: &&Field| field.get(sides[0], lane) != field.get(sides[1], lane);
    let first = of_lanes.clone().next();
    match moves {
        true => of_lanes.find(changes).or(first),
        false => first,
    }
}

/// Returns the fields that belong to no lane, except the address: those that change, and those that every report shows unless they stay 0.
fn values<U: Unit>(pins: &U::In, golden: &U::Golden, sides: [&[u8]; 2]) -> Vec<Values> {
    let mut values: Vec<Values> = Vec::new();
    let others = |field: &&Field| !field.per_lane() && field.name != PC;
    for field in U::fields().iter().filter(others) {
        let elements = match field.shape {
            Shape::Words { count, .. } => count,
            Shape::Planes(_) => 0,
        };
        for element in 0..elements {
            let [was, is] = sides.map(|state| field.get(state, element));
            // A value that stays 0 needs no mention: no error, nothing on the stack.
            if was == is && (is == 0 || !field.context) {
                continue;
            }
            let name = match elements {
                1 => field.name.to_owned(),
                _ => format!("{}[{element}]", field.name),
            };
            let text = match was == is {
                true => format!("{name} {}", (field.show)(is)),
                false => format!("{name} {} -> {}", (field.show)(was), (field.show)(is)),
            };
            let rule = golden.explain(pins, field.name, element);
            match values.iter_mut().find(|other| other.rule == rule) {
                Some(other) => other.fields.push(text),
                None => values.push(Values {
                    fields: vec![text],
                    rule,
                }),
            }
        }
    }
    values
}

/// A pin with a value for each lane, or one plane of it.
#[derive(Clone, Copy)]
struct Condition {
    pin: &'static Pin,
    plane: Option<usize>,
}

impl Condition {
    /// Returns all conditions of `U`.
    fn all<U: Unit>() -> Vec<Self> {
        let mut all = Vec::new();
        for pin in U::DECLARATION.pins {
            match pin.shape {
                Shape::Planes(planes) => all.extend((0..planes).map(|plane| Condition {
                    pin,
                    plane: Some(plane),
                })),
                Shape::Words { count: 64, .. } => all.push(Condition { pin, plane: None }),
                Shape::Words { .. } => {}
            }
        }
        all
    }

    /// Draws new values for the lanes. Registers keep their values: a random number is almost never a valid address.
    fn draw(&self, pins: &mut [u8], rng: &mut Pcg64Mcg) {
        if let Some(plane) = self.plane {
            let active = rng.random();
            self.pin.set(pins, plane, noise(rng, active));
        }
    }

    /// Draws other values for the lanes of `mask`.
    fn change(&self, pins: &mut [u8], mask: u64, rng: &mut Pcg64Mcg) {
        if let Some(plane) = self.plane {
            let was = self.pin.get(pins, plane);
            self.pin.set(pins, plane, was ^ mask);
            return;
        }
        for lane in (0..64).filter(|lane| mask >> lane & 1 == 1) {
            let was = self.pin.get(pins, lane);
            let bit = rng.random_range(0..self.pin.width);
            self.pin.set(pins, lane, was ^ 1 << bit);
        }
    }

    /// Returns whether the behaviour of `golden` in a cycle with pins like `pins` can depend on this condition in the lanes of `mask`.
    fn decides<U: Unit>(&self, all: &[Self], pins: &U::In, golden: &U::Golden, mask: u64) -> bool {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        (0..TRIALS).any(|_| {
            let mut one = *pins;
            for other in all {
                other.draw(bytes_of_mut(&mut one), &mut rng);
            }
            let mut other = one;
            self.change(bytes_of_mut(&mut other), mask, &mut rng);
            let [mut left, mut right] = [golden.clone(), golden.clone()];
            left.cycle(&one) != right.cycle(&other)
        })
    }

    /// Returns its name and the value in `lane`.
    fn of_lane(&self, pins: &[u8], lane: usize) -> String {
        let name = self.pin.name;
        match (self.plane, self.pin.shape) {
            (Some(plane), Shape::Planes(planes)) => {
                let bit = self.pin.get(pins, plane) >> lane & 1;
                match planes {
                    1 => format!("{name} {bit}"),
                    _ => format!("{name}[{plane}] {bit}"),
                }
            }
            _ => format!("{name} {:#x}", self.pin.get(pins, lane)),
        }
    }
}

/// Returns the condition bits of each lane that the golden model looks at in a cycle with `pins`. They are found by trial: with
/// other values the golden model ends in another state.
fn conditions<U: Unit>(pins: &U::In, golden: &U::Golden, lanes: usize) -> Vec<String> {
    let all = Condition::all::<U>();
    let mut said = vec![String::new(); lanes];
    for condition in &all {
        let every = u64::MAX >> (64 - lanes);
        if !condition.decides::<U>(&all, pins, golden, every) {
            continue;
        }
        for (lane, said) in said.iter_mut().enumerate() {
            if condition.decides::<U>(&all, pins, golden, 1 << lane) {
                let between = if said.is_empty() { "" } else { ", " };
                let _ = write!(said, "{between}{}", condition.of_lane(bytes_of(pins), lane));
            }
        }
    }
    said
}
