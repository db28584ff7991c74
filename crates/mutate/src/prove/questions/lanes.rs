//! Questions about the influence of lanes on each other.

use std::collections::BTreeSet;

use super::{ALIKE, All, Begin, Method};
use crate::mutate::aig::Lit;
use crate::prove::world::{Cycle, unlike};

impl All<'_> {
    /// Returns the places of the state that hold a bit for each lane, lane 0 first, and the condition under which they do, at the beginning of
    /// the cycle, or of the next.
    fn lane_places(&mut self, next: bool) -> Result<Vec<(Vec<usize>, Lit)>, String> {
        let mut found = Vec::new();
        for name in &self.plan.lanes {
            let places = self.unit.places(name);
            let places = places.filter(|places| places.len() % self.lanes == 0);
            let places = places.ok_or_else(|| {
                format!("proofs.json: lanes: {name}: no register with a bit for each lane")
            })?;
            let each = places.chunks(self.lanes);
            found.extend(each.map(|places| (places.to_vec(), Lit::TRUE)));
        }
        let cycle = if next { &self.then } else { &self.now };
        let words = self.unit.lane_words(&mut self.aig, cycle, self.lanes)?;
        found.extend(words);
        Ok(found)
    }

    /// Returns the lane of each bit of a port; `None` if its bits do not belong to lanes.
    fn lanes_of(&self, port: &str, bits: usize) -> Option<Vec<usize>> {
        if self.plan.lane_ports.iter().any(|name| name == port) {
            Some((0..bits).map(|i| i % self.lanes).collect())
        } else if self.plan.lane_blocks.iter().any(|name| name == port) {
            let width = (bits / self.lanes).max(1);
            Some((0..bits).map(|i| i / width).collect())
        } else {
            None
        }
    }

    /// Adds `lanes alike`, and `lane alone`: a lane sees no more of the others than the decision.
    pub(super) fn lanes(&mut self) -> Result<(), String> {
        let before = self.lane_places(false)?;
        let after = self.lane_places(true)?;
        if self.plan.permutation && self.lanes > 1 {
            // These two generate all permutations.
            let swap = |lane| match lane {
                0 => 1,
                1 => 0,
                other => other,
            };
            let lanes = self.lanes;
            let rotate = |lane| (lane + 1) % lanes;
            let mut questions = Vec::new();
            let permutations: [(&str, &dyn Fn(usize) -> usize); 2] = [
                ("lanes 0 and 1 swapped", &swap),
                ("every lane moved by one", &rotate),
            ];
            for (name, to) in permutations {
                let (decided, done) = self.permuted(&before, &after, to)?;
                questions.push((format!("{name}: the decision"), decided));
                questions.push((name.to_owned(), done));
            }
            let name = ALIKE.to_owned();
            self.add(name, Method::Allowed, Begin::Allowed, questions);
        }
        if !self.plan.decision.is_empty() {
            let bad = self.alone(&before, &after)?;
            let (name, questions) = ("lane alone".to_owned(), vec![(String::new(), bad)]);
            self.add(name, Method::Allowed, Begin::Allowed, questions);
        }
        Ok(())
    }

    /// Returns the state in which lane `to(l)` has what lane `l` has in `state`.
    fn moved(
        &mut self,
        state: &[Lit],
        groups: &[(Vec<usize>, Lit)],
        to: &dyn Fn(usize) -> usize,
    ) -> Vec<Lit> {
        let mut new = state.to_vec();
        for (places, when) in groups {
            for (lane, place) in places.iter().enumerate() {
                let there = places[to(lane)];
                new[there] = self.aig.mux(*when, state[*place], state[there]);
            }
        }
        new
    }

    /// Returns whether the cycle with lane `l` moved to lane `to(l)` decides differently, and whether its result differs from the result of
    /// the cycle with the lanes moved. The second question gives the moved cycle the decision of the original. If the first shows that no
    /// decision can differ, this changes nothing, and what follows from the decision alone becomes the same nodes.
    fn permuted(
        &mut self,
        before: &[(Vec<usize>, Lit)],
        after: &[(Vec<usize>, Lit)],
        to: &dyn Fn(usize) -> usize,
    ) -> Result<(Lit, Lit), String> {
        let moved_port = |all: &Self, name: &str, bits: &[Lit]| {
            let mut moved = bits.to_vec();
            if let Some(lanes) = all.lanes_of(name, bits.len()) {
                // The bits of a lane, in their order.
                let own = |lane: usize| {
                    let lanes = &lanes;
                    (0..bits.len()).filter(move |i| lanes[*i] == lane)
                };
                for lane in 0..all.lanes {
                    for (from, there) in own(lane).zip(own(to(lane))) {
                        moved[there] = bits[from];
                    }
                }
            }
            moved
        };
        let mut ports = self.ports();
        for (name, bits) in &mut ports {
            *bits = moved_port(self, name, bits);
        }
        let state = self.moved(&self.now.state.clone(), before, to);
        let other = self.unit.cycle(&mut self.aig, state, &ports);
        let (decided, other) = self.deciding_alike(&other)?;
        let expected = self.moved(&self.now.frame.next.clone(), after, to);
        let live = self.live(true)?;
        // Which bits matter is moved with the lanes.
        let live = self.moved(&live, after, to);
        let mut differ = unlike(&mut self.aig, &expected, &other.frame.next);
        for (differs, live) in differ.iter_mut().zip(live) {
            *differs = self.aig.and(*differs, live);
        }
        let [now, others] = [&self.now, &other].map(|cycle| self.unit.outputs_of(cycle));
        for ((name, bits), (_, other)) in now.iter().zip(&others) {
            let expected = moved_port(self, name, bits);
            differ.extend(unlike(&mut self.aig, &expected, other));
        }
        let mut alike = Vec::new();
        for net in &self.plan.ordered {
            let bits = self.unit.named(net, &self.now);
            let bits = bits.ok_or_else(|| {
                format!("proofs.json: ordered: {net}: no net of this name in the RTL")
            })?;
            alike.extend(bits.iter().map(|bit| !*bit));
        }
        let [decided, differ] = [decided, differ].map(|differ| {
            let differs = self.aig.any(differ);
            self.aig.all([&alike[..], &[differs]].concat())
        });
        Ok((decided, differ))
    }

    /// Returns, for each net of the decision, whether it differs between `other` and the cycle; and `other` with the decision of the
    /// cycle. If no decision differs, that is `other` itself, but what follows from the decision alone becomes the same nodes as in the
    /// cycle.
    pub(super) fn deciding_alike(&mut self, other: &Cycle) -> Result<(Vec<Lit>, Cycle), String> {
        let (mut decision, mut decided) = (Vec::new(), Vec::new());
        let counts = match &self.plan.decided_if {
            Some(net) => self.decided(net, &self.now)?,
            None => Vec::new(),
        };
        // The nets of the cases follow from the instruction and the decision, through the decoder.
        let kinds = self.plan.cases.nets.iter();
        let kinds = kinds.map(|net| net.strip_prefix('!').unwrap_or(net));
        let kinds = kinds.filter(|net| self.unit.named(net, &self.now).is_some());
        let nets = self.plan.decision.iter().map(String::as_str).chain(kinds);
        let nets: BTreeSet<&str> = nets.collect();
        for net in nets {
            let [a, b] = [&self.now, other].map(|cycle| self.decided(net, cycle));
            // Wider nets show what the lowest lane has, and need not be the same.
            if let ([a], [b]) = (&a?[..], &b?[..]) {
                let counts = match self.plan.decided_if.as_deref() != Some(net) {
                    true => self.aig.all(counts.clone()),
                    false => Lit::TRUE,
                };
                let differs = self.aig.xor(*a, *b);
                decided.push(self.aig.and(counts, differs));
                // Not `Aig::mux`: it rearranges what the two sides share, and where the decision counts the result has to be the node `a`.
                let given = [self.aig.and(counts, *a), self.aig.and(!counts, *b)];
                decision.push((net.to_owned(), self.aig.any(given)));
            }
        }
        let other = self.unit.with_nets(&mut self.aig, other, &decision);
        Ok((decided, other))
    }

    /// Returns the value of `net`, a net of the decision, in `cycle`.
    fn decided(&self, net: &str, cycle: &Cycle) -> Result<Vec<Lit>, String> {
        let bits = self.unit.named(net, cycle);
        bits.ok_or_else(|| format!("proofs.json: decision: {net}: no net of this name in the RTL"))
    }

    /// Returns whether lane 0 can have another result although before the cycle only other lanes differ, and the decision is the same.
    fn alone(
        &mut self,
        before: &[(Vec<usize>, Lit)],
        after: &[(Vec<usize>, Lit)],
    ) -> Result<Lit, String> {
        let mut state = self.now.state.clone();
        for (places, when) in before {
            for place in &places[1..] {
                let any = self.aig.input();
                state[*place] = self.aig.mux(*when, any, state[*place]);
            }
        }
        let mut ports = self.ports();
        for (name, bits) in &mut ports {
            let lanes = self.lanes_of(name, bits.len()).unwrap_or_default();
            for (bit, _) in bits.iter_mut().zip(lanes).filter(|(_, lane)| *lane != 0) {
                *bit = self.aig.input();
            }
        }
        let other = self.unit.cycle(&mut self.aig, state, &ports);
        let said = self.unit.assertions(&mut self.aig, &other)?;
        let holds = said.invariants.into_iter().map(|(_, holds)| holds);
        let mut premises: Vec<Lit> = holds.chain(said.contract).collect();
        for net in &self.plan.decision {
            let [a, b] = [&self.now, &other].map(|cycle| self.decided(net, cycle));
            let differ = unlike(&mut self.aig, &a?, &b?).into_iter();
            premises.extend(differ.map(|differs| !differs));
        }
        let mut differ = Vec::new();
        let live = self.live(true)?;
        for (places, when) in after {
            let own = places[0];
            let [a, b] = [&self.now, &other].map(|cycle| cycle.frame.next[own]);
            let differs = self.aig.xor(a, b);
            let differs = self.aig.and(differs, *when);
            differ.push(self.aig.and(differs, live[own]));
        }
        premises.push(self.aig.any(differ));
        Ok(self.aig.all(premises))
    }
}
