//! And-inverter graphs with structural hashing, and questions about them to a SAT solver.

use std::cell::Cell;
use std::collections::HashMap;

use batsat::{Callbacks, Lit as SatLit, Solver, SolverInterface, Var, lbool};

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
}

impl Aig {
    /// With nothing in it.
    pub fn new() -> Self {
        Aig {
            nodes: vec![INPUT],
            known: HashMap::new(),
        }
    }

    /// Something that may be either.
    pub fn input(&mut self) -> Lit {
        self.nodes.push(INPUT);
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
        let nodes = &mut self.nodes;
        *self.known.entry((a, b)).or_insert_with(|| {
            nodes.push((a, b));
            Lit((nodes.len() as u32 - 1) << 1)
        })
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
        let budget = Budget {
            left: Cell::new(conflicts),
        };
        Sat {
            solver: Solver::new(batsat::SolverOpts::default(), budget),
            known: HashMap::new(),
        }
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
