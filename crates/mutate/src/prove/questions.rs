//! The questions: what would have to be possible for a property not to hold.

use std::collections::HashSet;

use super::Plan;
use super::world::{Cycle, Named, Unit, unlike};
use crate::mutate::aig::{Aig, Lit};

/// How a property is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It is an invariant: it holds after a cycle in reset, and after a cycle that begins with all invariants.
    Induction,
    /// It holds in every cycle that begins with all invariants.
    Allowed,
    /// It holds in every cycle, whatever the state.
    Any,
    /// Some cycle that begins with all invariants does it: not a property, but that the others are not empty.
    Cover,
}

impl Method {
    /// As it appears in tables.
    pub fn name(self) -> &'static str {
        match self {
            Method::Induction => "induction",
            Method::Allowed => "all allowed states",
            Method::Any => "all states",
            Method::Cover => "cover",
        }
    }
}

/// A property.
pub struct Property {
    /// Its name.
    pub name: String,
    /// How it is proved.
    pub method: Method,
    /// What may never be: of a register or a lane each, with its name where there are several.
    pub questions: Vec<(String, Lit)>,
}

/// All properties of a unit, and the cycle that they speak of.
pub struct Questions {
    pub(super) aig: Aig,
    /// What is asked.
    pub properties: Vec<Property>,
    /// Cases that together are all; none, if the plan has none.
    pub(super) cases: Vec<Vec<Lit>>,
    /// The cycle.
    pub now: Cycle,
    /// What the naive step says of it.
    pub step: Named,
}

impl Questions {
    /// Asks everything of `unit`.
    ///
    /// # Errors
    /// A file speaks of what the RTL does not have, or leaves a register out.
    pub(super) fn of(unit: &Unit<'_>, plan: &Plan, lanes: usize) -> Result<Self, String> {
        let mut aig = Aig::new();
        let before = unit.anything(&mut aig);
        let now = unit.cycle(&mut aig, before, &[]);
        let then = unit.cycle(&mut aig, now.frame.next.clone(), &[]);
        let step = unit.step(&mut aig, &now)?;
        let mut all = All {
            unit,
            plan,
            lanes,
            aig,
            now,
            then,
            allowed: Lit::TRUE,
            from: Lit::TRUE,
            released: Lit::TRUE,
            compared: HashSet::new(),
            properties: Vec::new(),
        };
        all.assertions()?;
        all.steps(&step)?;
        all.stall()?;
        all.dead()?;
        all.lanes()?;
        all.written()?;
        let cases = all.cases()?;
        Ok(Questions {
            aig: all.aig,
            properties: all.properties,
            cases,
            now: all.now,
            step,
        })
    }
}

/// Properties as they are gathered.
struct All<'a> {
    unit: &'a Unit<'a>,
    plan: &'a Plan,
    lanes: usize,
    aig: Aig,
    now: Cycle,
    then: Cycle,
    /// The cycle begins with all invariants, and its inputs keep to the contract.
    allowed: Lit,
    /// It is allowed or one in reset.
    from: Lit,
    released: Lit,
    /// Places of the state of which the naive step says something.
    compared: HashSet<usize>,
    properties: Vec<Property>,
}

impl All<'_> {
    /// Which bits of the state matter at the begin of the cycle, or of the next: none of which the naive step says nothing,
    /// such as what Yosys keeps of a clocked block for itself.
    fn live(&mut self, next: bool) -> Result<Vec<Lit>, String> {
        let cycle = if next { &self.then } else { &self.now };
        let mut live = self.unit.live(&mut self.aig, cycle)?;
        for (place, live) in live.iter_mut().enumerate() {
            if !self.compared.contains(&place) {
                *live = Lit::FALSE;
            }
        }
        Ok(live)
    }

    fn add(&mut self, name: String, method: Method, questions: Vec<(String, Lit)>) {
        self.properties.push(Property {
            name,
            method,
            questions,
        });
    }

    /// The cases of the plan.
    fn cases(&self) -> Result<Vec<Vec<Lit>>, String> {
        let plan = &self.plan.cases;
        if plan.register.is_empty() {
            return Ok(Vec::new());
        }
        let found = |name: &String| {
            let bits = self.unit.named(name, &self.now);
            bits.ok_or_else(|| format!("proofs.json: cases: the RTL has no {name}"))
        };
        let mut kinds = Vec::new();
        let mut none = vec![self.released];
        for net in &plan.nets {
            let [bit] = found(net)?[..] else {
                return Err(format!(
                    "proofs.json: cases: {net}: it has more than one bit"
                ));
            };
            let mut kind = none.clone();
            kind.push(bit);
            kinds.push(kind);
            none.push(!bit);
        }
        kinds.push(none);
        let register = found(&plan.register)?;
        let mut cases = vec![vec![!self.released]];
        for value in 0..1usize << register.len() {
            let bits = register.iter().enumerate();
            let bits: Vec<Lit> = bits
                .map(|(i, bit)| if value >> i & 1 == 1 { *bit } else { !*bit })
                .collect();
            cases.extend(kinds.iter().map(|kind| [&kind[..], &bits].concat()));
        }
        Ok(cases)
    }

    /// Invariants, and what the files promise.
    fn assertions(&mut self) -> Result<(), String> {
        let unit = self.unit;
        let before = unit.said(&mut self.aig, &self.now)?;
        let after = unit.said(&mut self.aig, &self.then)?;
        let invariants = before.invariants.iter().map(|(_, holds)| *holds);
        let premises = invariants.chain(before.contract).collect();
        self.allowed = self.aig.all(premises);
        self.released = unit.released(&self.now)?;
        self.from = self.aig.or(!self.released, self.allowed);
        for (name, holds) in after.invariants {
            let bad = self.aig.and(self.from, !holds);
            self.add(name, Method::Induction, vec![(String::new(), bad)]);
        }
        for (name, holds) in before.promises {
            let bad = self.aig.and(self.allowed, !holds);
            self.add(name, Method::Allowed, vec![(String::new(), bad)]);
        }
        Ok(())
    }

    /// The step theorem: what the naive step says of registers, and of outputs.
    fn steps(&mut self, step: &Named) -> Result<(), String> {
        let unit = self.unit;
        let live = unit.live(&mut self.aig, &self.then)?;
        let mut compared = HashSet::new();
        let mut by_lane = vec![Vec::new(); self.lanes];
        for (name, bits) in step {
            if let Some(register) = name.strip_prefix("next__") {
                let places = unit.places(register).filter(|p| p.len() == bits.len());
                let places = places.ok_or_else(|| {
                    format!("step.sv: {name}: no register of this name and width in the RTL")
                })?;
                let rtl: Vec<Lit> = places.iter().map(|p| self.now.frame.next[*p]).collect();
                let mut differ = unlike(&mut self.aig, &rtl, bits);
                for (differs, place) in differ.iter_mut().zip(&places) {
                    *differs = self.aig.and(*differs, live[*place]);
                    *differs = self.aig.and(*differs, self.from);
                }
                compared.extend(places);
                if self.plan.is_lanes(register) {
                    for (bit, differs) in differ.into_iter().enumerate() {
                        by_lane[bit % self.lanes].push(differs);
                    }
                    continue;
                }
                let differs = self.aig.any(differ);
                let name = format!("step {}", register.replace("__", "."));
                self.add(name, Method::Allowed, vec![(String::new(), differs)]);
            } else if let Some(port) = name.strip_prefix("out__") {
                let rtl = unit
                    .named(port, &self.now)
                    .filter(|b| b.len() == bits.len());
                let rtl = rtl.ok_or_else(|| {
                    format!("step.sv: {name}: no output of this name and width in the RTL")
                })?;
                let differ = unlike(&mut self.aig, &rtl, bits);
                let differs = self.aig.any(differ);
                let differs = self.aig.and(differs, self.allowed);
                self.add(
                    format!("output {port}"),
                    Method::Allowed,
                    vec![(String::new(), differs)],
                );
            } else if let Some(property) = name.strip_prefix("prove__") {
                let bad = self.aig.and(self.allowed, !bits[0]);
                self.add(
                    property.to_owned(),
                    Method::Allowed,
                    vec![(String::new(), bad)],
                );
            } else if !name.starts_with("said__") {
                return Err(format!("step.sv: {name}: what output is this?"));
            }
        }
        self.compared = compared;
        let questions = by_lane.into_iter().enumerate().map(|(lane, differ)| {
            let differs = self.aig.any(differ);
            (format!("lane {lane}"), differs)
        });
        let questions: Vec<_> = questions.collect();
        if !self.plan.lanes.is_empty() {
            self.add("step lanes".to_owned(), Method::Allowed, questions);
        }
        Ok(())
    }

    /// A stalled cycle changes no register and no memory.
    fn stall(&mut self) -> Result<(), String> {
        let stall = self.unit.port("stall_i", &self.now);
        let [stall] = stall.ok_or("the RTL has no stall_i")?[..] else {
            return Err("stall_i has more than one bit".to_owned());
        };
        let differ = unlike(&mut self.aig, &self.now.state, &self.now.frame.next);
        let places = differ.into_iter().enumerate();
        let compared = places.filter(|(place, _)| self.compared.contains(place));
        let changed = self
            .aig
            .any(compared.map(|(_, differs)| differs).collect::<Vec<_>>());
        let stalled = self.aig.and(stall, self.released);
        let bad = self.aig.and(stalled, changed);
        self.add("stall".to_owned(), Method::Any, vec![(String::new(), bad)]);
        Ok(())
    }

    /// What is not live matters to nothing: another state that differs there alone has the same outputs, and after the cycle
    /// the same of all that is live then.
    fn dead(&mut self) -> Result<(), String> {
        let unit = self.unit;
        let live = self.live(false)?;
        let mut state = unit.anything(&mut self.aig);
        for ((other, now), live) in state.iter_mut().zip(&self.now.state).zip(live) {
            *other = self.aig.mux(live, *now, *other);
        }
        let ports = self.ports();
        let other = unit.cycle(&mut self.aig, state, &ports);
        let after = self.live(true)?;
        let mut differ = unlike(&mut self.aig, &self.now.frame.next, &other.frame.next);
        for (differs, live) in differ.iter_mut().zip(after) {
            *differs = self.aig.and(*differs, live);
        }
        let outputs = [&self.now, &other].map(|cycle| unit.outputs_of(cycle));
        for ((_, a), (_, b)) in outputs[0].iter().zip(&outputs[1]) {
            differ.extend(unlike(&mut self.aig, a, b));
        }
        let differs = self.aig.any(differ);
        let bad = self.aig.and(self.allowed, differs);
        self.add(
            "dead".to_owned(),
            Method::Allowed,
            vec![(String::new(), bad)],
        );
        Ok(())
    }

    /// What the ports of the cycle carry.
    fn ports(&self) -> Named {
        let names = self.unit.ports().into_iter();
        names
            .filter_map(|name| Some((name.to_owned(), self.unit.port(name, &self.now)?)))
            .collect()
    }

    /// What a state has at the places of registers with a bit for each lane, as they lie in it.
    fn lane_places(&self) -> Result<Vec<Vec<usize>>, String> {
        let places = |name: &String| {
            let places = self.unit.places(name);
            places
                .filter(|places| places.len() % self.lanes == 0)
                .ok_or_else(|| {
                    format!("proofs.toml: lanes: {name}: no register with a bit for each lane")
                })
        };
        self.plan.lanes.iter().map(places).collect()
    }

    /// That lanes are alike, and that one sees of the others no more than the decision.
    fn lanes(&mut self) -> Result<(), String> {
        let registers = self.lane_places()?;
        if self.plan.permutation && self.lanes > 1 {
            // These two make every permutation.
            let swap = |lane| match lane {
                0 => 1,
                1 => 0,
                other => other,
            };
            let lanes = self.lanes;
            let rotate = |lane| (lane + 1) % lanes;
            let questions = vec![
                (
                    "lanes 0 and 1 swapped".to_owned(),
                    self.permuted(&registers, &swap)?,
                ),
                (
                    "every lane moved by one".to_owned(),
                    self.permuted(&registers, &rotate)?,
                ),
            ];
            self.add("lanes alike".to_owned(), Method::Allowed, questions);
        }
        if !self.plan.decision.is_empty() {
            let bad = self.alone(&registers)?;
            self.add(
                "lane alone".to_owned(),
                Method::Allowed,
                vec![(String::new(), bad)],
            );
        }
        Ok(())
    }

    /// The cycle with lane `l` in the place of lane `to(l)` does something else than what the cycle does, so moved.
    fn permuted(
        &mut self,
        registers: &[Vec<usize>],
        to: &dyn Fn(usize) -> usize,
    ) -> Result<Lit, String> {
        let lanes = self.lanes;
        let moved = |bits: &[Lit]| {
            let mut moved = bits.to_vec();
            for (i, bit) in bits.iter().enumerate() {
                moved[i / lanes * lanes + to(i % lanes)] = *bit;
            }
            moved
        };
        let moved_state = |state: &[Lit]| {
            let mut new = state.to_vec();
            for places in registers {
                let bits: Vec<Lit> = places.iter().map(|p| state[*p]).collect();
                for (place, bit) in places.iter().zip(moved(&bits)) {
                    new[*place] = bit;
                }
            }
            new
        };
        let mut ports = self.ports();
        for (name, bits) in &mut ports {
            if self.plan.lane_ports.contains(name) {
                *bits = moved(bits);
            }
        }
        let state = moved_state(&self.now.state);
        let other = self.unit.cycle(&mut self.aig, state, &ports);
        let expected = moved_state(&self.now.frame.next);
        let live = self.live(true)?;
        let mut differ = unlike(&mut self.aig, &expected, &other.frame.next);
        // What does not matter is the same for all lanes.
        for (differs, live) in differ.iter_mut().zip(moved_state(&live)) {
            *differs = self.aig.and(*differs, live);
        }
        let [now, other] = [&self.now, &other].map(|cycle| self.unit.outputs_of(cycle));
        for ((name, bits), (_, other)) in now.iter().zip(&other) {
            let expected = match self.plan.lane_ports.contains(name) {
                true => moved(bits),
                false => bits.clone(),
            };
            differ.extend(unlike(&mut self.aig, &expected, other));
        }
        let differs = self.aig.any(differ);
        Ok(self.aig.and(self.allowed, differs))
    }

    /// Lane 0 comes out differently though all that is different before is in other lanes, and the decision is the same.
    fn alone(&mut self, registers: &[Vec<usize>]) -> Result<Lit, String> {
        let lanes = self.lanes;
        let mut state = self.now.state.clone();
        for places in registers {
            for (_, place) in places.iter().enumerate().filter(|(i, _)| i % lanes != 0) {
                state[*place] = self.aig.input();
            }
        }
        let mut ports = self.ports();
        for (name, bits) in &mut ports {
            if self.plan.lane_ports.contains(name) {
                for (_, bit) in bits.iter_mut().enumerate().filter(|(i, _)| i % lanes != 0) {
                    *bit = self.aig.input();
                }
            }
        }
        let other = self.unit.cycle(&mut self.aig, state, &ports);
        let said = self.unit.said(&mut self.aig, &other)?;
        let holds = said.invariants.into_iter().map(|(_, holds)| holds);
        let mut premises: Vec<Lit> = holds.chain(said.contract).collect();
        premises.push(self.allowed);
        for net in &self.plan.decision {
            let [a, b] = [&self.now, &other].map(|cycle| self.unit.named(net, cycle));
            let (Some(a), Some(b)) = (a, b) else {
                return Err(format!(
                    "proofs.toml: decision: {net}: no net of this name in the RTL"
                ));
            };
            premises.extend(
                unlike(&mut self.aig, &a, &b)
                    .into_iter()
                    .map(|differs| !differs),
            );
        }
        let own: Vec<usize> = registers
            .iter()
            .flat_map(|places| places.iter().step_by(lanes).copied())
            .collect();
        let [a, b] = [&self.now, &other]
            .map(|cycle| own.iter().map(|p| cycle.frame.next[*p]).collect::<Vec<_>>());
        let differ = unlike(&mut self.aig, &a, &b);
        premises.push(self.aig.any(differ));
        Ok(self.aig.all(premises))
    }

    /// `properties.sv`.
    fn written(&mut self) -> Result<(), String> {
        for (name, bits) in self.unit.properties(&mut self.aig, &self.now)? {
            let [bit] = bits[..] else {
                return Err(format!("properties.sv: {name}: it has more than one bit"));
            };
            let (name, method, bad) = if let Some(name) = name.strip_prefix("always__") {
                (name, Method::Any, !bit)
            } else if let Some(name) = name.strip_prefix("prove__") {
                (name, Method::Allowed, self.aig.and(self.allowed, !bit))
            } else if let Some(name) = name.strip_prefix("cover__") {
                (name, Method::Cover, self.aig.and(self.allowed, bit))
            } else {
                return Err(format!("properties.sv: {name}: what output is this?"));
            };
            self.add(name.to_owned(), method, vec![(String::new(), bad)]);
        }
        Ok(())
    }
}
