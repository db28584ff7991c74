//! And-inverter graphs with structural hashing, and questions about them to a SAT solver.

use std::cell::Cell;
use std::collections::HashMap;

use batsat::{Callbacks, Lit as SatLit, Solver, SolverInterface, SolverOpts, Var, lbool};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A node, or its inverse if the lowest bit is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Lit {
    /// Never.
    pub const FALSE: Lit = Lit(0);
    /// Always.
    pub const TRUE: Lit = Lit(1);

    fn node(self) -> usize {
        (self.0 >> 1) as usize
    }
    fn inverted(self) -> bool {
        self.0 & 1 == 1
    }
}

impl From<bool> for Lit {
    fn from(value: bool) -> Self {
        if value { Lit::TRUE } else { Lit::FALSE }
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// An input has no operands; node 0 is the constant.
const INPUT: (Lit, Lit) = (Lit(u32::MAX), Lit(u32::MAX));

/// A graph. The same gate of the same operands is one node, so two copies of a circuit that differ in little
/// are one graph with little added.
pub struct Aig {
    nodes: Vec<(Lit, Lit)>,
    known: HashMap<(Lit, Lit), Lit>,
    sweep: Option<Box<Sweep>>,
}

/// Words of a node's signature, 64 patterns each.
const WORDS: usize = 4;
/// What a node is under 256 patterns.
pub type Signature = [u64; WORDS];
/// Conflicts that it may cost to find out whether two nodes are one.
const SWEEP_CONFLICTS: u64 = 60;

/// Joins each new node to an older one that it cannot be told from, so that a copy which differs from the first
/// in a few places is one with it again behind them.
struct Sweep {
    signatures: Vec<Signature>,
    /// Patterns in which all of `granted` hold.
    allowed: Signature,
    joining: bool,
    /// Nodes by signature in the patterns allowed; of a node and its inverse the one that is 0 in the first.
    nodes: HashMap<Signature, Lit>,
    granted: Vec<Lit>,
    sat: Sat,
    rng: Pcg64Mcg,
}

impl Sweep {
    fn of(&self, lit: Lit) -> Signature {
        let signature = self.signatures[lit.node()];
        if lit.inverted() {
            signature.map(|w| !w)
        } else {
            signature
        }
    }

    /// The literal by which a node is looked up, and its signature.
    fn key(&self, node: usize) -> (Lit, Signature) {
        let lit = Lit((node as u32) << 1);
        let first = self
            .allowed
            .iter()
            .zip(&self.signatures[node])
            .find(|(a, _)| **a != 0);
        let inverted = first.is_some_and(|(a, s)| s >> a.trailing_zeros() & 1 == 1);
        let lit = if inverted { !lit } else { lit };
        let signature = self.of(lit);
        (lit, std::array::from_fn(|i| signature[i] & self.allowed[i]))
    }

    fn add(&mut self, (a, b): (Lit, Lit)) {
        let signature = if (a, b) == INPUT {
            self.rng.random()
        } else {
            let (a, b) = (self.of(a), self.of(b));
            std::array::from_fn(|i| a[i] & b[i])
        };
        self.signatures.push(signature);
    }

    /// What the newest node of `aig` is already called, if it can be shown.
    fn older(&mut self, aig: &Aig) -> Option<Lit> {
        if !self.joining {
            return None;
        }
        let (new, signature) = self.key(aig.nodes.len() - 1);
        let Some(&old) = self.nodes.get(&signature) else {
            self.nodes.insert(signature, new);
            return None;
        };
        for (yes, no) in [(new, old), (old, new)] {
            let differs = [&self.granted[..], &[yes, !no]].concat();
            self.sat.allow(SWEEP_CONFLICTS);
            if self.sat.ask(aig, &differs) != Answer::Never {
                return None;
            }
        }
        Some(if new.inverted() { !old } else { old })
    }
}

impl Aig {
    /// With nothing in it.
    pub fn new() -> Self {
        Aig {
            nodes: vec![INPUT],
            known: HashMap::new(),
            sweep: None,
        }
    }

    /// From now on joins what cannot be told apart where all of `granted` hold; what is asked of the graph must grant
    /// as much. `patterns` are values of the first nodes, inputs beyond them are drawn. Only looks, and joins
    /// nothing, unless `joining`.
    pub fn look(&mut self, granted: &[Lit], patterns: &[Signature], joining: bool) {
        let mut sweep = Sweep {
            signatures: Vec::with_capacity(2 * self.nodes.len()),
            nodes: HashMap::new(),
            granted: granted.to_vec(),
            allowed: [u64::MAX; WORDS],
            joining,
            sat: Sat::new(SWEEP_CONFLICTS),
            rng: Pcg64Mcg::seed_from_u64(1),
        };
        sweep.signatures.push([0; WORDS]);
        for (node, operands) in self.nodes.iter().enumerate().skip(1) {
            sweep.add(*operands);
            if let (INPUT, Some(words)) = (*operands, patterns.get(node)) {
                sweep.signatures[node] = *words;
            }
        }
        for one in granted {
            let holds = sweep.of(*one);
            sweep.allowed = std::array::from_fn(|i| sweep.allowed[i] & holds[i]);
        }
        for node in 0..self.nodes.len() {
            let (lit, signature) = sweep.key(node);
            sweep.nodes.entry(signature).or_insert(lit);
        }
        self.sweep = Some(Box::new(sweep));
    }

    /// Whether one of the patterns that are allowed has `lit`.
    pub fn shown(&self, lit: Lit) -> bool {
        let Some(sweep) = &self.sweep else {
            return false;
        };
        let signature = sweep.of(lit);
        (0..WORDS).any(|i| signature[i] & sweep.allowed[i] != 0)
    }

    /// Values of all inputs, drawn, but for what `wanted` needs: of it as much as can be at once, the first
    /// before the others, and another choice for every pattern of a word.
    pub fn patterns(&self, wanted: &[Lit]) -> Vec<Signature> {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut patterns: Vec<Signature> = self.nodes.iter().map(|_| rng.random()).collect();
        for pattern in 0..64 {
            let mut sat = Sat::random(pattern);
            let mut granted = vec![];
            for (i, one) in wanted.iter().enumerate() {
                granted.push(if i == 0 || rng.random() { *one } else { !*one });
                sat.allow(1000);
                if sat.ask(self, &granted) != Answer::Sometimes {
                    granted.pop();
                }
            }
            sat.allow(1000);
            if sat.ask(self, &granted) != Answer::Sometimes {
                continue;
            }
            for (node, var) in &sat.known {
                let value = sat.solver.value_var(*var);
                if self.nodes[*node] == INPUT && value != lbool::UNDEF {
                    for word in &mut patterns[*node] {
                        *word &= !(1 << pattern);
                        *word |= u64::from(value == lbool::TRUE) << pattern;
                    }
                }
            }
        }
        patterns
    }

    /// Something that may be either.
    pub fn input(&mut self) -> Lit {
        self.nodes.push(INPUT);
        if let Some(sweep) = &mut self.sweep {
            sweep.add(INPUT);
        }
        Lit((self.nodes.len() as u32 - 1) << 1)
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match (a, b) {
            (Lit::FALSE, _) => return Lit::FALSE,
            (Lit::TRUE, b) => return b,
            (a, b) if a == b => return a,
            (a, b) if a == !b => return Lit::FALSE,
            _ => {}
        }
        // One level down: x & (x & y), x & !(x & y) and the like.
        for (x, of) in [(a, b), (b, a)] {
            let (l, r) = self.nodes[of.node()];
            if (l, r) == INPUT {
                continue;
            }
            if !of.inverted() {
                if x == l || x == r {
                    return of;
                }
                if x == !l || x == !r {
                    return Lit::FALSE;
                }
            } else {
                if x == !l || x == !r {
                    return x;
                }
                if x == l {
                    return self.and(x, !r);
                }
                if x == r {
                    return self.and(x, !l);
                }
            }
        }
        if let Some(known) = self.known.get(&(a, b)) {
            return *known;
        }
        self.nodes.push((a, b));
        let mut lit = Lit((self.nodes.len() as u32 - 1) << 1);
        if let Some(mut sweep) = self.sweep.take() {
            sweep.add((a, b));
            lit = sweep.older(self).unwrap_or(lit);
            self.sweep = Some(sweep);
        }
        self.known.insert((a, b), lit);
        lit
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (only_a, only_b) = (self.and(a, !b), self.and(!a, b));
        self.or(only_a, only_b)
    }

    /// `yes` where `by` holds, else `no`.
    pub fn mux(&mut self, by: Lit, yes: Lit, no: Lit) -> Lit {
        if yes == no {
            return yes;
        }
        let (yes, no) = (self.and(by, yes), self.and(!by, no));
        self.or(yes, no)
    }

    pub fn any(&mut self, all: impl IntoIterator<Item = Lit>) -> Lit {
        all.into_iter()
            .fold(Lit::FALSE, |sum, one| self.or(sum, one))
    }
}

/// What the solver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It cannot be.
    Never,
    /// It can.
    Sometimes,
    /// Not found out within the conflicts allowed.
    GaveUp,
}

/// Ends a search after so many conflicts: the same answer on every machine, as no clock gives.
struct Budget {
    left: Cell<u64>,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, _: &[SatLit], _: batsat::ClauseKind) {
        self.left.set(self.left.get().saturating_sub(1));
    }
    fn stop(&self) -> bool {
        self.left.get() == 0
    }
}

/// A solver that learns of the graph what it is asked about.
pub struct Sat {
    solver: Solver<Budget>,
    known: HashMap<usize, Var>,
}

impl Sat {
    /// Knows nothing, and may spend so many conflicts in all.
    pub fn new(conflicts: u64) -> Self {
        Self::with(SolverOpts::default(), conflicts)
    }

    /// One that finds another solution for every seed.
    fn random(seed: u32) -> Self {
        let options = SolverOpts {
            random_seed: f64::from(seed + 1) * 91_648.0,
            random_var_freq: 0.3,
            rnd_pol: true,
            ..SolverOpts::default()
        };
        Self::with(options, 1000)
    }

    fn with(options: SolverOpts, conflicts: u64) -> Self {
        let budget = Budget {
            left: Cell::new(conflicts),
        };
        Sat {
            solver: Solver::new(options, budget),
            known: HashMap::new(),
        }
    }

    /// So many conflicts from now on.
    fn allow(&mut self, conflicts: u64) {
        self.solver.cb().left.set(conflicts);
    }

    /// The literal of the solver, with all that it depends on.
    fn literal(&mut self, aig: &Aig, of: Lit) -> SatLit {
        let mut open = vec![of.node()];
        while let Some(&node) = open.last() {
            if self.known.contains_key(&node) {
                open.pop();
                continue;
            }
            let (a, b) = aig.nodes[node];
            let gate = (a, b) != INPUT;
            if gate {
                let before = open.len();
                open.extend(
                    [a.node(), b.node()]
                        .into_iter()
                        .filter(|n| !self.known.contains_key(n)),
                );
                if open.len() > before {
                    continue;
                }
            }
            open.pop();
            let var = self.solver.new_var_default();
            self.known.insert(node, var);
            let is = SatLit::new(var, true);
            if gate {
                let [a, b] = [a, b].map(|l| SatLit::new(self.known[&l.node()], !l.inverted()));
                self.solver.add_clause_reuse(&mut vec![!is, a]);
                self.solver.add_clause_reuse(&mut vec![!is, b]);
                self.solver.add_clause_reuse(&mut vec![is, !a, !b]);
            } else if node == 0 {
                self.solver.add_clause_reuse(&mut vec![!is]);
            }
        }
        SatLit::new(self.known[&of.node()], !of.inverted())
    }

    /// Whether all of `wanted` can hold at once.
    pub fn ask(&mut self, aig: &Aig, wanted: &[Lit]) -> Answer {
        if wanted.contains(&Lit::FALSE) {
            return Answer::Never;
        }
        let wanted: Vec<SatLit> = wanted.iter().map(|l| self.literal(aig, *l)).collect();
        let said = self.solver.solve_limited(&wanted);
        if said == lbool::TRUE {
            Answer::Sometimes
        } else if said == lbool::FALSE {
            Answer::Never
        } else {
            Answer::GaveUp
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every gate against its table, through the graph's rules and through the solver.
    #[test]
    fn gates_are_what_they_are_called() {
        let mut aig = Aig::new();
        let [a, b, c] = [aig.input(), aig.input(), aig.input()];
        let (and, or, xor, mux) = (aig.and(a, b), aig.or(a, b), aig.xor(a, b), aig.mux(c, a, b));
        for row in 0..8 {
            let [x, y, z] = [row & 1 == 1, row & 2 == 2, row & 4 == 4];
            let given = [(a, x), (b, y), (c, z)].map(|(l, v)| if v { l } else { !l });
            for (gate, value) in [
                (and, x && y),
                (or, x || y),
                (xor, x != y),
                (mux, if z { x } else { y }),
            ] {
                let is = if value { gate } else { !gate };
                let mut sat = Sat::new(1000);
                assert_eq!(
                    sat.ask(&aig, &[&given[..], &[is]].concat()),
                    Answer::Sometimes
                );
                assert_eq!(sat.ask(&aig, &[&given[..], &[!is]].concat()), Answer::Never);
            }
        }
    }

    #[test]
    fn what_is_the_same_is_one_node() {
        let mut aig = Aig::new();
        let [a, b] = [aig.input(), aig.input()];
        let left = aig.xor(a, b);
        assert_eq!(left, aig.xor(b, a));
        let both = aig.and(a, b);
        assert_eq!(aig.and(both, a), both);
        assert_eq!(aig.and(both, !b), Lit::FALSE);
        assert_eq!(aig.mux(a, both, Lit::FALSE), both);
    }

    #[test]
    fn a_search_without_conflicts_to_spend_gives_up() {
        // 8 times 8 bits commute: true, and not to be seen without a search.
        let mut aig = Aig::new();
        let mut row = || (0..8).map(|_| aig.input()).collect::<Vec<_>>();
        let (x, y) = (row(), row());
        let product = |aig: &mut Aig, x: &[Lit], y: &[Lit]| {
            let mut sum = vec![Lit::FALSE; 16];
            for (i, bit) in y.iter().enumerate() {
                let mut carry = Lit::FALSE;
                for j in 0..16 - i {
                    let other = x.get(j).map_or(Lit::FALSE, |l| aig.and(*l, *bit));
                    let half = aig.xor(sum[i + j], other);
                    let both = aig.and(sum[i + j], other);
                    let through = aig.and(half, carry);
                    sum[i + j] = aig.xor(half, carry);
                    carry = aig.or(both, through);
                }
            }
            sum
        };
        let (a, b) = (product(&mut aig, &x, &y), product(&mut aig, &y, &x));
        let differ: Vec<Lit> = a.iter().zip(&b).map(|(p, q)| aig.xor(*p, *q)).collect();
        let differ = aig.any(differ);
        assert_eq!(Sat::new(10).ask(&aig, &[differ]), Answer::GaveUp);
    }
}
