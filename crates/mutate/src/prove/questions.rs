//! The questions of the properties: each is a cycle that must be impossible if the property holds.

mod lanes;

use std::collections::{HashMap, HashSet};

use super::files::Plan;
use super::world::{Assertions, Cycle, Named, Unit, unlike};
use super::{ALIKE, SCALAR, theorem};
use crate::mutate::aig::{Aig, Lit, Values};

/// An invariant of at most this many nodes is light: as a premise it costs next to nothing.
const LIGHT: usize = 3000;

/// Name of the question of `dead` about unknown values.
const OPEN: &str = "what Yosys leaves open";
/// Name of the question of `dead` whether the decision can change.
const DECIDED: &str = "the decision";

/// How a property is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It is an invariant: it holds after a cycle in reset, and after a cycle that begins in a state with all invariants.
    Induction,
    /// It holds in every cycle that begins in a state with all invariants.
    Allowed,
    /// It holds in every cycle from any state.
    Any,
    /// It is possible in some cycle that begins in a state with all invariants. This is not a property, but shows that properties are not vacuous.
    Cover,
}

impl Method {
    /// Returns the name of the method as it appears in tables.
    pub fn name(self) -> &'static str {
        match self {
            Method::Induction => "induction",
            Method::Allowed => "all allowed states",
            Method::Any => "all states",
            Method::Cover => "cover",
        }
    }
}

/// The states in which the cycles of a property begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Any state, with any inputs.
    Anywhere,
    /// The states that satisfy all invariants, with inputs that keep to the contract.
    Allowed,
    /// As `Allowed`, and any state if the cycle is in reset.
    AllowedOrReset,
}

/// A property.
#[derive(Clone)]
pub struct Property {
    /// Name of the property.
    pub name: String,
    /// Method of its proof.
    pub method: Method,
    /// Where its cycles begin.
    pub begin: Begin,
    /// What must be impossible in such a cycle (for a cover, possible): one question for each register or lane, with its name if there are several.
    pub questions: Vec<(String, Lit)>,
}

/// All properties of a unit, and the cycle that they are about.
#[derive(Clone)]
pub struct Questions {
    pub(super) aig: Aig,
    /// The properties.
    pub properties: Vec<Property>,
    /// Cases that together cover every cycle; empty if the plan has none.
    pub(super) cases: Cases,
    /// The property under which facts are asked. It has no questions of its own, because each case asks different ones.
    pub(super) facts: Property,
    /// For each case that was asked, how many of the two lists of facts hold in it; and the invariants that were needed for that.
    pub(super) established: HashMap<Vec<Lit>, usize>,
    pub(super) needed: Vec<bool>,
    /// For each invariant its name, whether it holds when the cycle begins, and its number of nodes.
    invariants: Vec<(String, Lit, usize)>,
    /// What the environment must guarantee.
    contract: Lit,
    /// The cycle is not in reset.
    released: Lit,
    /// The cycle.
    pub now: Cycle,
    /// The outputs of the naive step in the cycle.
    pub step: Named,
}

impl Questions {
    /// Builds all questions about `unit`.
    ///
    /// # Errors
    /// A file names something that the RTL does not have, or omits a register.
    pub(super) fn of(unit: &Unit<'_>, plan: &Plan, lanes: usize) -> Result<Self, String> {
        let mut aig = Aig::new();
        let before = unit.anything(&mut aig);
        let (mut all, step) = All::begun(unit, plan, lanes, aig, before)?;
        all.stall()?;
        all.dead()?;
        all.lanes()?;
        all.written()?;
        all.covered();
        all.gathered(step)
    }

    /// Builds the questions about the invariants, the other assertions and the step theorem in a cycle that begins in `state`. `aig` is the
    /// graph of `state`, to which they are added.
    ///
    /// # Errors
    /// As [`Questions::of`]; in that case `aig` is lost.
    pub(super) fn at(
        unit: &Unit<'_>,
        plan: &Plan,
        lanes: usize,
        aig: Aig,
        state: Vec<Lit>,
    ) -> Result<Self, String> {
        let (all, step) = All::begun(unit, plan, lanes, aig, state)?;
        all.gathered(step)
    }

    /// Returns whether the cycle is not in reset and its inputs keep to the contract.
    pub(super) fn regular(&mut self) -> Lit {
        self.aig.and(self.released, self.contract)
    }

    /// Builds the questions of the step theorem alone, about mutant `number` of the text that `unit` is read from (0: none), in the cycle
    /// with these `inputs`. `aig` is the graph of `inputs`, to which they are added.
    ///
    /// # Errors
    /// As [`Questions::of`]; in that case `aig` is lost.
    pub(super) fn of_step(
        unit: &Unit<'_>,
        plan: &Plan,
        lanes: usize,
        mut aig: Aig,
        inputs: &Inputs,
        number: u32,
    ) -> Result<Self, String> {
        let Inputs {
            state,
            free,
            asserted,
        } = inputs.clone();
        let [free, later] = free;
        let now = unit.cycle_of(&mut aig, number, state, free);
        let then = unit.cycle_of(&mut aig, number, now.frame.next.clone(), later);
        let step = unit.step(&mut aig, &now)?;
        let said = unit.assertions_with(&mut aig, &now, asserted)?;
        let mut all = All::of(unit, plan, lanes, aig, now, then);
        all.premises(&said)?;
        all.steps(&step)?;
        all.gathered(step)
    }
}

/// Free inputs for a cycle and the next one.
#[derive(Clone)]
pub(super) struct Inputs {
    /// The state before the cycle.
    state: Vec<Lit>,
    /// Values of the wires of the RTL that nothing drives, in the two cycles.
    free: [Vec<Lit>; 2],
    /// Values of such wires of the assertions.
    asserted: Vec<Lit>,
}

impl Inputs {
    /// Makes the free inputs for `unit`.
    pub(super) fn of(unit: &Unit<'_>, aig: &mut Aig) -> Self {
        Inputs {
            state: unit.anything(aig),
            free: [unit.open(aig), unit.open(aig)],
            asserted: unit.open_in_assertions(aig),
        }
    }
}

impl Questions {
    /// Returns the premises with which a question of `property` is asked first: the light invariants, and the property itself if it is one.
    pub(super) fn light(&self, property: &Property) -> Vec<bool> {
        let own = |name: &str| property.method == Method::Induction && name == property.name;
        self.invariants
            .iter()
            .map(|(name, _, weight)| *weight <= LIGHT || own(name))
            .collect()
    }

    /// Returns the names of the invariants that are `used`.
    pub(super) fn names_of(&self, used: impl Iterator<Item = bool>) -> Vec<String> {
        let all = self.invariants.iter().zip(used);
        all.filter(|(_, used)| *used)
            .map(|((name, ..), _)| name.clone())
            .collect()
    }

    /// Returns a selection of all invariants.
    pub(super) fn every(&self) -> Vec<bool> {
        vec![true; self.invariants.len()]
    }

    /// Returns whether the cycle begins where `begin` says, with only those invariants that are `used`.
    pub(super) fn premise(&mut self, begin: Begin, used: &[bool]) -> Lit {
        if begin == Begin::Anywhere {
            return Lit::TRUE;
        }
        let held = self.invariants.iter().zip(used);
        let held = held.filter_map(|((_, holds, _), used)| used.then_some(*holds));
        let allowed = self.aig.all(held.chain([self.contract]).collect());
        match begin {
            Begin::AllowedOrReset => self.aig.or(!self.released, allowed),
            _ => allowed,
        }
    }

    /// Returns an invariant that is not `used`, and that the cycle with these `inputs` violates although `begin` requires it: of several,
    /// the one with the fewest nodes. `None` if the cycle begins where `begin` says.
    pub(super) fn broken(
        &mut self,
        begin: Begin,
        used: &[bool],
        inputs: &HashMap<Lit, u64>,
    ) -> Option<usize> {
        let whole = self.premise(begin, &self.every());
        let values = self.aig.evaluate(inputs);
        if values.of(whole) & 1 == 1 {
            return None;
        }
        soonest_broken(&self.invariants, used, &values)
    }

    /// Returns the nodes of `property`: the premise of its cycles, and what must be impossible in them.
    pub(super) fn nodes(&mut self, property: &Property) -> Vec<Lit> {
        let premise = self.premise(property.begin, &self.every());
        let bad = property.questions.iter().map(|(_, bad)| *bad);
        [premise].into_iter().chain(bad).collect()
    }

    /// Returns whether the cycle is of none of the kinds.
    pub(super) fn uncovered(&mut self) -> Lit {
        let kinds = self.cases.kinds.iter();
        let kinds = kinds.map(|kind| self.aig.all(kind.case.clone()));
        let kinds: Vec<Lit> = kinds.collect();
        !self.aig.any(kinds)
    }
}

/// Returns which of the `invariants` that are not `used` is violated: of several, the one with the fewest nodes.
fn soonest_broken(
    invariants: &[(String, Lit, usize)],
    used: &[bool],
    values: &Values,
) -> Option<usize> {
    let broken = |i: &usize| !used[*i] && values.of(invariants[*i].1) & 1 == 0;
    (0..invariants.len())
        .filter(broken)
        .min_by_key(|i| invariants[*i].2)
}

/// A kind of cycle.
#[derive(Clone)]
pub(super) struct CycleKind {
    /// Literals that hold in it.
    pub(super) case: Vec<Lit>,
    /// A net by whose values a value of the register is divided further; empty if there is none.
    pub(super) then: Vec<Lit>,
}

/// How to divide a question.
#[derive(Clone, Default)]
pub(super) struct Cases {
    /// Kinds of cycles that together cover every cycle.
    pub(super) kinds: Vec<CycleKind>,
    /// A register; each of its values is a case of a kind.
    pub(super) register: Vec<Lit>,
    /// The facts about the state before the cycle, and after it. A fact becomes a constant only in a case in which it was found to hold.
    pub(super) facts: [Vec<Lit>; 2],
}

impl Cases {
    /// Returns literals that say that all bits of the register from `from` on are 0.
    fn above(&self, from: usize) -> impl Iterator<Item = Lit> {
        self.register.iter().skip(from).map(|bit| !*bit)
    }

    /// Returns the values of the register in groups, from the highest down, each with the case in which the register has one of them. A
    /// group has the values with the same highest bit; the last is 0.
    pub(super) fn parts(&self) -> Vec<(Vec<Lit>, std::ops::Range<usize>)> {
        let mut parts = Vec::new();
        for bit in (0..self.register.len()).rev() {
            let part = [self.register[bit]].into_iter().chain(self.above(bit + 1));
            parts.push((part.collect(), 1 << bit..2 << bit));
        }
        parts.push((self.above(0).collect(), 0..1));
        parts
    }

    /// Returns literals that say that the register has `value`.
    pub(super) fn is(&self, value: usize) -> Vec<Lit> {
        carry(&self.register, value)
    }
}

/// Returns literals that say that `bits` have `value`.
pub(super) fn carry(bits: &[Lit], value: usize) -> Vec<Lit> {
    let bits = bits.iter().enumerate();
    bits.map(|(i, bit)| if value >> i & 1 == 1 { *bit } else { !*bit })
        .collect()
}

/// The properties while they are being collected.
struct All<'a> {
    unit: &'a Unit<'a>,
    plan: &'a Plan,
    lanes: usize,
    aig: Aig,
    now: Cycle,
    then: Cycle,
    /// For each invariant its label, and whether it holds when the cycle begins.
    invariants: Vec<(String, Lit)>,
    contract: Lit,
    released: Lit,
    /// Places of the state that the naive step describes.
    compared: HashSet<usize>,
    properties: Vec<Property>,
}

impl<'a> All<'a> {
    /// Returns a collection without properties; cycle `then` follows `now`.
    fn of(
        unit: &'a Unit<'a>,
        plan: &'a Plan,
        lanes: usize,
        aig: Aig,
        now: Cycle,
        then: Cycle,
    ) -> Self {
        All {
            unit,
            plan,
            lanes,
            aig,
            now,
            then,
            invariants: Vec::new(),
            contract: Lit::TRUE,
            released: Lit::TRUE,
            compared: HashSet::new(),
            properties: Vec::new(),
        }
    }

    /// Adds the assertions and the step theorem of a cycle that begins in `state`. Also returns the outputs of `step.sv` in the cycle.
    fn begun(
        unit: &'a Unit<'a>,
        plan: &'a Plan,
        lanes: usize,
        mut aig: Aig,
        state: Vec<Lit>,
    ) -> Result<(Self, Named), String> {
        let now = unit.cycle(&mut aig, state, &[]);
        let then = unit.cycle(&mut aig, now.frame.next.clone(), &[]);
        let step = unit.step(&mut aig, &now)?;
        let mut all = All::of(unit, plan, lanes, aig, now, then);
        let before = unit.assertions(&mut all.aig, &all.now)?;
        all.assertions(before)?;
        all.steps(&step)?;
        Ok((all, step))
    }

    /// Returns the questions that were collected; `step` are the outputs of `step.sv` in the cycle.
    fn gathered(mut self, step: Named) -> Result<Questions, String> {
        let cases = self.cases()?;
        let facts = Property {
            name: "facts".to_owned(),
            method: Method::Allowed,
            begin: Begin::AllowedOrReset,
            questions: Vec::new(),
        };
        let weighed = |(name, holds)| (name, holds, self.aig.weight(holds));
        let invariants: Vec<_> = self.invariants.into_iter().map(weighed).collect();
        Ok(Questions {
            aig: self.aig,
            properties: self.properties,
            cases,
            facts,
            established: HashMap::new(),
            needed: invariants.iter().map(|(_, _, w)| *w <= LIGHT).collect(),
            invariants,
            contract: self.contract,
            released: self.released,
            now: self.now,
            step,
        })
    }

    /// Returns which bits of the state matter at the beginning of the cycle, or of the next.
    fn live(&mut self, next: bool) -> Result<Vec<Lit>, String> {
        let cycle = if next { &self.then } else { &self.now };
        let live = self.unit.live(&mut self.aig, cycle)?;
        Ok(self.of_compared(live))
    }

    /// Returns `live` without the bits that the naive step does not describe, such as those that Yosys adds for a clocked block.
    fn of_compared(&self, mut live: Vec<Lit>) -> Vec<Lit> {
        for (place, live) in live.iter_mut().enumerate() {
            if !self.compared.contains(&place) {
                *live = Lit::FALSE;
            }
        }
        live
    }

    fn add(&mut self, name: String, method: Method, begin: Begin, questions: Vec<(String, Lit)>) {
        self.properties.push(Property {
            name,
            method,
            begin,
            questions,
        });
    }

    /// Returns the cases of the plan.
    fn cases(&mut self) -> Result<Cases, String> {
        let plan = &self.plan.cases;
        if plan.register.is_empty() {
            return Ok(Cases::default());
        }
        let found = |name: &str| {
            let bits = self.unit.named(name, &self.now);
            bits.ok_or_else(|| format!("proofs.json: cases: the RTL has no {name}"))
        };
        let kind = |case: Vec<Lit>| CycleKind {
            case,
            then: Vec::new(),
        };
        let mut kinds = vec![kind(vec![!self.released])];
        let mut none = vec![self.released];
        for entry in &plan.nets {
            let net = entry.strip_prefix('!').unwrap_or(entry);
            let [bit] = found(net)?[..] else {
                return Err(format!(
                    "proofs.json: cases: {net}: it has more than one bit"
                ));
            };
            let bit = if net == entry { bit } else { !bit };
            kinds.push(kind([&none[..], &[bit]].concat()));
            none.push(!bit);
        }
        kinds.push(kind(none));
        for (entry, then) in &plan.then {
            let place = plan.nets.iter().position(|net| net == entry);
            let place = place
                .ok_or_else(|| format!("proofs.json: cases: then: {entry} is none of the nets"))?;
            // The first kind is reset.
            kinds[place + 1].then = found(then)?;
        }
        let register = found(&plan.register)?;
        let facts = self.unit.facts(&mut self.aig, &self.now, &self.then)?;
        Ok(Cases {
            kinds,
            register,
            facts,
        })
    }

    /// Makes premises of what the assertions say about the cycle.
    fn premises(&mut self, said: &Assertions) -> Result<(), String> {
        self.invariants.clone_from(&said.invariants);
        self.contract = self.aig.all(said.contract.clone());
        self.released = self.unit.released(&self.now)?;
        Ok(())
    }

    /// Adds the invariants and the other assertions; `before` is what they say about the cycle.
    fn assertions(&mut self, before: Assertions) -> Result<(), String> {
        let after = self.unit.assertions(&mut self.aig, &self.then)?;
        self.premises(&before)?;
        let one = |holds: Lit| vec![(String::new(), !holds)];
        for (name, holds) in after.invariants {
            self.add(name, Method::Induction, Begin::AllowedOrReset, one(holds));
        }
        for (name, holds) in before.promises {
            self.add(name, Method::Allowed, Begin::Allowed, one(holds));
        }
        Ok(())
    }

    /// Adds the step theorem.
    fn steps(&mut self, step: &Named) -> Result<(), String> {
        let (unit, plan) = (self.unit, self.plan);
        let cycles = (&self.now, &self.then);
        if !unit.has_step() {
            // All of the state counts.
            self.compared = (0..self.now.state.len()).collect();
            return Ok(());
        }
        let theorem = theorem::of(unit, plan, self.lanes, &mut self.aig, cycles, step)?;
        self.compared = theorem.compared;
        self.properties.extend(theorem.properties);
        Ok(())
    }

    /// Adds `stall`: a stalled cycle changes no register and no memory.
    fn stall(&mut self) -> Result<(), String> {
        let Some(name) = &self.plan.stall else {
            return Ok(());
        };
        let stall = self.unit.port(name, &self.now).unwrap_or_default();
        let [stall] = stall[..] else {
            return Err(format!(
                "proofs.json: stall: {name}: no input of this name with one bit"
            ));
        };
        let differ = unlike(&mut self.aig, &self.now.state, &self.now.frame.next);
        let places = differ.into_iter().enumerate();
        let compared = places.filter(|(place, _)| self.compared.contains(place));
        let changed = self
            .aig
            .any(compared.map(|(_, differs)| differs).collect::<Vec<_>>());
        let stalled = self.aig.and(stall, self.released);
        let bad = self.aig.and(stalled, changed);
        let questions = vec![(String::new(), bad)];
        self.add("stall".to_owned(), Method::Any, Begin::Anywhere, questions);
        Ok(())
    }

    /// Adds `dead`: bits that are not live influence nothing. Another state that differs only in such bits leads to the same decision, the
    /// same outputs and, after the cycle, the same live bits.
    ///
    /// The two cycles share most nodes, which makes the question small: both have the same values for what Yosys leaves unknown, and the second
    /// takes its decision from the first. Whether the decision can differ is a question of its own. So is whether unknown values alone can make
    /// a difference: to the decision, to outputs, to live bits, to which bits are live, or to the contract.
    fn dead(&mut self) -> Result<(), String> {
        let unit = self.unit;
        if !unit.says_live() {
            return Ok(());
        }
        let live = self.live(false)?;
        let mut state = unit.anything(&mut self.aig);
        for ((other, now), live) in state.iter_mut().zip(&self.now.state).zip(live) {
            *other = self.aig.mux(live, *now, *other);
        }
        let other = unit.cycle_like(&mut self.aig, state, &self.now);
        let ports = self.ports();
        let open = unit.cycle(&mut self.aig, self.now.state.clone(), &ports);
        let after = self.live(true)?;
        let (decided, other) = self.deciding_alike(&other)?;
        let decided = self.aig.any(decided);
        let mut questions = Vec::new();
        if decided != Lit::FALSE {
            questions.push((DECIDED.to_owned(), decided));
        }
        questions.push((String::new(), self.differs_visibly(&other, &after)));
        let (mut differs, open) = self.deciding_alike(&open)?;
        differs.push(self.differs_visibly(&open, &after));
        differs.push(self.elsewhere(&open, &after)?);
        let differs = self.aig.any(differs);
        // If nothing is unknown, both are the same nodes.
        if differs != Lit::FALSE {
            questions.push((OPEN.to_owned(), differs));
        }
        let name = "dead".to_owned();
        self.add(name, Method::Allowed, Begin::Allowed, questions);
        Ok(())
    }

    /// Returns whether `other`, a cycle from the same state with the same inputs, violates the contract although this cycle keeps to it, or
    /// leaves other bits live than `live`.
    fn elsewhere(&mut self, other: &Cycle, live: &[Lit]) -> Result<Lit, String> {
        let unit = self.unit;
        let free = unit.open_in_assertions(&mut self.aig);
        let mut kept = [Lit::TRUE; 2];
        for (kept, cycle) in kept.iter_mut().zip([&self.now, other]) {
            let said = unit.assertions_with(&mut self.aig, cycle, free.clone())?;
            *kept = self.aig.all(said.contract);
        }
        let mut differ = vec![self.aig.and(kept[0], !kept[1])];
        if other.frame.next != self.now.frame.next {
            let then = unit.cycle(&mut self.aig, other.frame.next.clone(), &[]);
            let other = unit.live(&mut self.aig, &then)?;
            let other = self.of_compared(other);
            differ.extend(unlike(&mut self.aig, live, &other));
        }
        Ok(self.aig.any(differ))
    }

    /// Returns whether `other` differs from this cycle in an output or, after the cycle, in a bit that is `live`.
    fn differs_visibly(&mut self, other: &Cycle, live: &[Lit]) -> Lit {
        let mut differ = unlike(&mut self.aig, &self.now.frame.next, &other.frame.next);
        for (differs, live) in differ.iter_mut().zip(live) {
            *differs = self.aig.and(*differs, *live);
        }
        let outputs = [&self.now, other].map(|cycle| self.unit.outputs_of(cycle));
        for ((_, a), (_, b)) in outputs[0].iter().zip(&outputs[1]) {
            differ.extend(unlike(&mut self.aig, a, b));
        }
        self.aig.any(differ)
    }

    /// Returns the values of the ports in the cycle.
    fn ports(&self) -> Named {
        let names = self.unit.ports().into_iter();
        let port = |name: &str| Some((name.to_owned(), self.unit.port(name, &self.now)?));
        names.filter_map(port).collect()
    }

    /// Adds a cover for any allowed cycle if there is no other cover: it fails if the premises exclude all cycles.
    fn covered(&mut self) {
        let cover = |p: &Property| p.method == Method::Cover;
        if !self.properties.iter().any(cover) {
            let name = "some cycle".to_owned();
            let questions = vec![(String::new(), Lit::TRUE)];
            self.add(name, Method::Cover, Begin::Allowed, questions);
        }
    }

    /// Adds the properties of `properties.sv` and `scalar.sv`: an output of several bits has one bit for each lane.
    fn written(&mut self) -> Result<(), String> {
        let properties = self.unit.properties(&mut self.aig, &self.now)?;
        let scalar = self.unit.scalar(&mut self.aig, &self.now)?;
        let of = |file| move |(name, bits)| (file, name, bits);
        let said = properties.into_iter().map(of("properties.sv"));
        let said: Vec<_> = said
            .chain(scalar.into_iter().map(of("scalar.sv")))
            .collect();
        for (file, name, bits) in said {
            if bits.len() != 1 && bits.len() != self.lanes {
                return Err(format!(
                    "{file}: {name}: neither one bit nor one for each lane"
                ));
            }
            let (name, method, begin) = if let Some(name) = name.strip_prefix("always__") {
                (name, Method::Any, Begin::Anywhere)
            } else if let Some(name) = name.strip_prefix("prove__") {
                (name, Method::Allowed, Begin::Allowed)
            } else if let Some(name) = name.strip_prefix("cover__") {
                (name, Method::Cover, Begin::Allowed)
            } else {
                return Err(format!("{file}: {name}: what output is this?"));
            };
            if (file == "scalar.sv") != name.starts_with(SCALAR) {
                return Err(format!(
                    "{file}: {name}: names of scalar.sv, and no others, begin with {SCALAR}"
                ));
            }
            let place = |lane: usize| match bits.len() {
                1 => String::new(),
                _ => format!("lane {lane}"),
            };
            let asked = bits.iter().enumerate().map(|(lane, bit)| {
                let cover = method == Method::Cover;
                (place(lane), if cover { *bit } else { !*bit })
            });
            let questions = asked.collect();
            self.add(name.to_owned(), method, begin, questions);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_premise_is_the_shortest_that_is_broken_and_was_none() {
        let mut aig = Aig::new();
        let [a, b, c] = [aig.input(), aig.input(), aig.input()];
        let all = [(a, 9), (b, 3), (c, 5)].map(|(lit, weight)| (String::new(), lit, weight));
        let next = |used: [bool; 3], [a_is, b_is, c_is]: [u64; 3]| {
            let values = aig.evaluate(&HashMap::from([(a, a_is), (b, b_is), (c, c_is)]));
            soonest_broken(&all, &used, &values)
        };
        assert_eq!(next([false; 3], [0, 0, 0]), Some(1));
        assert_eq!(next([false, true, false], [0, 0, 0]), Some(2));
        assert_eq!(next([false; 3], [0, 1, 1]), Some(0));
        assert_eq!(next([false; 3], [1, 1, 1]), None);
        assert_eq!(next([true; 3], [0, 0, 0]), None);
    }
}
