//! And-inverter graphs with structural hashing, and the file formats that tools read: AIGER and DIMACS.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

/// A node, or its inverse if the lowest bit is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Lit {
    /// The constant 0.
    pub const FALSE: Lit = Lit(0);
    /// The constant 1.
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

/// Values of all literals of a graph in 64 cases: [`Aig::evaluate`].
pub struct Values(Vec<u64>);

impl Values {
    /// Returns the value of `lit`, case i in bit i.
    pub fn of(&self, lit: Lit) -> u64 {
        self.0[lit.node()] ^ 0u64.wrapping_sub(u64::from(lit.inverted()))
    }
}

/// The operands of an input, which has none. Node 0 is the constant.
const INPUT: (Lit, Lit) = (Lit(u32::MAX), Lit(u32::MAX));

/// Marks a node whose new literal has not been computed.
const NONE: u32 = u32::MAX;

/// Returns the literal that `lit` becomes if each node becomes its entry of `new`.
fn new_of(new: &[u32], lit: Lit) -> Lit {
    Lit(new[lit.node()] ^ u32::from(lit.inverted()))
}

/// An and-inverter graph. A gate with the same operands is always the same node, so the graph of two copies of a circuit that
/// differ little is hardly larger than that of one.
#[derive(Clone)]
pub struct Aig {
    nodes: Vec<(Lit, Lit)>,
    known: FxHashMap<(Lit, Lit), Lit>,
}

/// How many levels below the two sides of a multiplexer a common conjunct is searched for. The check of a scan's entry has several
/// parts, `so_far & (b <= c) & (d != 3) & (e == f)`, and `so_far`, from which it continues, is below all of them.
const SHARED_LEVELS: u32 = 5;
/// How many levels below an operand another one is searched for: in `now != (before ? now : other)`, `before` is on the fourth.
const IMPOSSIBLE_LEVELS: u32 = 4;
/// How many levels of operands of an AND take part in that search. There are many ANDs, and every pair of their operands is tried.
const OPERAND_LEVELS: u32 = 2;

impl Aig {
    /// Returns an empty graph.
    pub fn new() -> Self {
        Aig {
            nodes: vec![INPUT],
            known: FxHashMap::default(),
        }
    }

    /// Adds an input, which may be 0 or 1.
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
        // One level down: x & (x & y), x & !(x & y) and similar.
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
        let lit = Lit((self.nodes.len() as u32 - 1) << 1);
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

    /// Returns `yes` where `by` holds, else `no`.
    pub fn mux(&mut self, by: Lit, yes: Lit, no: Lit) -> Lit {
        let (yes, no) = (self.where_holds(by, yes), self.where_holds(!by, no));
        if yes == no {
            return yes;
        }
        // Both sides may be the same literal AND something, or OR something. Rewritten this way, a scan that continues entry by entry from
        // what it has found so far becomes one conjunction, which `conjuncts` splits.
        if let Some((both, yes, no)) = self.shared(yes, no) {
            let differs = self.mux(by, yes, no);
            return self.and(both, differs);
        }
        if let Some((both, yes, no)) = self.shared(!yes, !no) {
            let differs = self.mux(by, yes, no);
            return !self.and(both, differs);
        }
        let (yes, no) = (self.and(by, yes), self.and(!by, no));
        self.or(yes, no)
    }

    /// Returns a literal that equals `what` where `known` holds, if there is a node for it a few levels down; otherwise `what`.
    ///
    /// Yosys turns nested conditions into multiplexers with the same select, one inside the other. Where the condition does not hold,
    /// the inner one has an unknown value: a free input, which the circuit would keep everywhere although it is never used.
    pub fn where_holds(&self, known: Lit, what: Lit) -> Lit {
        self.where_holds_within(known, what, 2)
    }

    fn where_holds_within(&self, known: Lit, what: Lit, levels: u32) -> Lit {
        if what == known || what == !known {
            return (what == known).into();
        }
        let (l, r) = self.nodes[what.node()];
        if levels == 0 || (l, r) == INPUT {
            return what;
        }
        let below = |lit| self.where_holds_within(known, lit, levels - 1);
        let and = match (below(l), below(r)) {
            (Lit::FALSE, _) | (_, Lit::FALSE) => Lit::FALSE,
            (Lit::TRUE, other) | (other, Lit::TRUE) => other,
            (a, b) if a == !b => Lit::FALSE,
            (a, b) if a == b => a,
            _ => return what,
        };
        if what.inverted() { !and } else { and }
    }

    /// Returns `what`, an OR, without operands that are easily shown to be impossible: ANDs in which one operand excludes another.
    ///
    /// For a word that a cycle does not write, `dead` asks whether it matters after the cycle and differs between the two states. It
    /// differs only if it did not matter before the cycle. Within a case, "matters before" and "matters after" are often the same node, but
    /// several levels apart, where [`Aig::and`] does not see it.
    pub fn without_impossible(&mut self, what: Lit) -> Lit {
        let parts = self.conjuncts(!what).into_iter();
        let left = parts.filter(|part| !self.is_impossible(!*part)).collect();
        !self.all(left)
    }

    /// Tells whether one operand of `what`, an AND, excludes another.
    fn is_impossible(&self, what: Lit) -> bool {
        let operands = self.operands_within(what, OPERAND_LEVELS);
        let mut others = operands.iter().filter(|operand| **operand != what);
        others.any(|other| {
            let holds = |known: &Lit| self.where_holds_within(*known, *other, IMPOSSIBLE_LEVELS);
            let known = operands.iter().filter(|known| **known != *other);
            known.into_iter().any(|known| holds(known) == Lit::FALSE)
        })
    }

    /// Returns w, x and y such that `a` is w AND x and `b` is w AND y, for a w that occurs in both within [`SHARED_LEVELS`] levels.
    fn shared(&mut self, a: Lit, b: Lit) -> Option<(Lit, Lit, Lit)> {
        if self.operands(a).is_none() && self.operands(b).is_none() {
            return None;
        }
        let [of_a, of_b] = [a, b].map(|lit| self.operands_within(lit, SHARED_LEVELS));
        let both = of_a.into_iter().find(|lit| of_b.contains(lit))?;
        let [x, y] = [a, b].map(|lit| self.without(both, lit, SHARED_LEVELS));
        Some((both, x, y))
    }

    /// Returns the two operands of `what` if it is an AND.
    fn operands(&self, what: Lit) -> Option<[Lit; 2]> {
        match self.nodes[what.node()] {
            (l, r) if !what.inverted() && (l, r) != INPUT => Some([l, r]),
            _ => None,
        }
    }

    /// Returns `what`, its operands, their operands and so on, level by level.
    fn operands_within(&self, what: Lit, levels: u32) -> Vec<Lit> {
        let (mut found, mut begin) = (vec![what], 0);
        for _ in 0..levels {
            let end = found.len();
            for at in begin..end {
                found.extend(self.operands(found[at]).into_iter().flatten());
            }
            begin = end;
        }
        found
    }

    /// Returns a literal whose AND with `operand` is `what`.
    fn without(&mut self, operand: Lit, what: Lit, levels: u32) -> Lit {
        match self.operands(what) {
            _ if what == operand => Lit::TRUE,
            Some([l, r]) if levels > 0 => {
                let [l, r] = [l, r].map(|lit| self.without(operand, lit, levels - 1));
                self.and(l, r)
            }
            _ => what,
        }
    }

    /// Returns literals that all hold exactly where `what` holds. None of them is an AND.
    pub fn conjuncts(&self, what: Lit) -> Vec<Lit> {
        let (mut found, mut left) = (Vec::new(), vec![what]);
        let mut seen = HashSet::new();
        while let Some(lit) = left.pop() {
            if !seen.insert(lit) {
                continue;
            }
            match self.operands(lit) {
                Some([l, r]) => left.extend([r, l]),
                None => found.push(lit),
            }
        }
        found
    }

    pub fn any(&mut self, all: impl IntoIterator<Item = Lit>) -> Lit {
        let none = all.into_iter().map(|l| !l).collect();
        !self.all(none)
    }

    /// Returns the AND of all literals as a balanced tree. The order of `all` does not matter: the same literals give the same node, so
    /// what lanes decide together stays one node when the lanes are permuted.
    pub fn all(&mut self, mut all: Vec<Lit>) -> Lit {
        all.sort_unstable();
        all.dedup();
        if all.windows(2).any(|pair| pair[0] == !pair[1]) {
            return Lit::FALSE;
        }
        while all.len() > 1 {
            all = all
                .chunks(2)
                .map(|pair| match *pair {
                    [a, b] => self.and(a, b),
                    _ => pair[0],
                })
                .collect();
        }
        all.first().copied().unwrap_or(Lit::TRUE)
    }

    /// Returns the values of all literals in 64 cases at once, case i in bit i, for these values of the inputs. Inputs without a
    /// value are 0.
    pub fn evaluate(&self, inputs: &HashMap<Lit, u64>) -> Values {
        let mut values = vec![0; self.nodes.len()];
        for node in 1..self.nodes.len() {
            let of = |l: Lit| values[l.node()] ^ 0u64.wrapping_sub(u64::from(l.inverted()));
            values[node] = match self.nodes[node] {
                INPUT => inputs.get(&Lit((node as u32) << 1)).copied().unwrap_or(0),
                (a, b) => of(a) & of(b),
            };
        }
        Values(values)
    }

    /// Returns the nodes that `roots` need, operands before the gates that use them. The search takes time for these nodes only, not
    /// for the whole graph.
    fn needed(&self, roots: impl Iterator<Item = Lit>) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = roots.map(Lit::node).collect();
        let mut needed = Vec::new();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            needed.push(node);
            if self.nodes[node] != INPUT {
                open.extend([self.nodes[node].0.node(), self.nodes[node].1.node()]);
            }
        }
        needed.sort_unstable();
        needed
    }

    /// Returns how many nodes `what` needs.
    pub fn weight(&self, what: Lit) -> usize {
        self.weight_of([what].into_iter())
    }

    /// Returns how many nodes all of `what` need together.
    pub fn weight_of(&self, what: impl Iterator<Item = Lit>) -> usize {
        self.needed(what).len()
    }

    /// Tells whether `what` needs at most `most` nodes.
    pub fn within(&self, what: Lit, most: usize) -> bool {
        let (mut seen, mut open) = (FxHashSet::default(), vec![what.node()]);
        while let Some(node) = open.pop() {
            if seen.insert(node) && self.nodes[node] != INPUT {
                open.extend([self.nodes[node].0.node(), self.nodes[node].1.node()]);
            }
            if seen.len() > most {
                return false;
            }
        }
        true
    }

    /// Returns each of `what` with the literals `known` replaced by constants: the result equals `what` where all of `known` hold.
    /// [`Aig::forget`] removes the nodes that this adds.
    pub fn supposed(&mut self, known: &[Lit], what: &[Lit]) -> Vec<Lit> {
        let mut constant = FxHashMap::default();
        self.hold(&mut constant, known.to_vec());
        // The literal that each node becomes.
        let mut new = vec![NONE; self.nodes.len()];
        // First the nodes below `known`: there the constants may show that further nodes are constant too. No node is computed before
        // every constant below it is found.
        let says = self.needed(known.iter().copied());
        loop {
            let mut more = false;
            for node in &says {
                more |= self.becomes(*node, &mut constant, &mut new);
            }
            if !more {
                break;
            }
        }
        for node in self.needed(what.iter().copied()) {
            if new[node] == NONE {
                self.becomes(node, &mut constant, &mut new);
            }
        }
        what.iter().map(|lit| new_of(&new, *lit)).collect()
    }

    /// Makes constant all literals that hold if all of `open` do. Returns whether one of them was not constant before.
    fn hold(&self, constant: &mut FxHashMap<usize, Lit>, mut open: Vec<Lit>) -> bool {
        let mut more = false;
        while let Some(lit) = open.pop() {
            let (a, b) = self.nodes[lit.node()];
            let new = constant
                .insert(lit.node(), Lit::from(!lit.inverted()))
                .is_none();
            more |= new;
            // If a gate holds, so do both its operands.
            if new && !lit.inverted() && (a, b) != INPUT {
                open.extend([a, b]);
            }
        }
        more
    }

    /// Computes what a node becomes with the constants; the nodes below it must be computed already. Returns whether this makes
    /// further nodes constant.
    fn becomes(
        &mut self,
        node: usize,
        constant: &mut FxHashMap<usize, Lit>,
        new: &mut [u32],
    ) -> bool {
        let (a, b) = self.nodes[node];
        let mut lit = Lit((node as u32) << 1);
        if (a, b) != INPUT {
            let operands = (new_of(new, a), new_of(new, b));
            // If nothing below it has changed, it stays as it is.
            if operands != (a, b) {
                lit = self.and(operands.0, operands.1);
            }
        }
        let mut more = false;
        let known = |node: usize| constant.get(&node).copied();
        match (known(node), known(lit.node())) {
            // The node that it has become is constant too: another gate may become the same node.
            (Some(value), None) if lit.node() != 0 => {
                let holds = if value == Lit::TRUE { lit } else { !lit };
                more = self.hold(constant, vec![holds]);
                lit = value;
            }
            (Some(value), _) => lit = value,
            // It may have become a node that is constant.
            (None, Some(value)) => lit = Lit(value.0 ^ u32::from(lit.inverted())),
            (None, None) => {}
        }
        new[node] = lit.0;
        more
    }

    /// Returns the number of nodes.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Removes all nodes but the first `len`.
    pub fn forget(&mut self, len: usize) {
        for gate in self.nodes.drain(len..) {
            self.known.remove(&gate);
        }
    }

    /// Tells whether `what` needs any of `inputs`.
    pub fn reaches(&self, inputs: &HashSet<Lit>, what: Lit) -> bool {
        !self.reached(inputs.iter().copied(), what).is_empty()
    }

    /// Returns those of `inputs` that `what` needs.
    pub fn reached(&self, inputs: impl Iterator<Item = Lit>, what: Lit) -> Vec<Lit> {
        let needed = self.needed([what].into_iter());
        inputs
            .filter(|input| needed.binary_search(&input.node()).is_ok())
            .collect()
    }

    /// Returns clauses that can be satisfied if and only if `what` can be, in the DIMACS format of SAT solvers. Each node has a
    /// variable, and a gate y = a & b has the clauses (!y a) (!y b) (y !a !b). Also returns the literal that each variable
    /// stands for, from variable 1 on.
    pub fn dimacs(&self, what: Lit) -> (Vec<u8>, Vec<Lit>) {
        let needed = self.needed([what].into_iter());
        let mut of_node = vec![0u32; self.nodes.len()];
        let mut variables = Vec::new();
        // The constant is a variable too, which is false, because `what` may be constant.
        for node in needed {
            variables.push(Lit((node as u32) << 1));
            of_node[node] = variables.len() as u32;
        }
        let literal = |lit: Lit| {
            let sign = if lit.inverted() { "-" } else { "" };
            format!("{sign}{}", of_node[lit.node()])
        };
        let (mut clauses, mut text) = (0, String::new());
        let mut clause = |literals: &[Lit]| {
            for lit in literals {
                text += &literal(*lit);
                text.push(' ');
            }
            text += "0\n";
            clauses += 1;
        };
        if variables.first() == Some(&Lit::FALSE) {
            clause(&[Lit::TRUE]);
        }
        for &y in variables.iter().filter(|v| v.node() != 0) {
            let (a, b) = self.nodes[y.node()];
            if (a, b) != INPUT {
                clause(&[!y, a]);
                clause(&[!y, b]);
                clause(&[y, !a, !b]);
            }
        }
        clause(&[what]);
        let head = format!("p cnf {} {clauses}\n", variables.len());
        ((head + &text).into_bytes(), variables)
    }

    /// Returns the graph as a circuit in binary AIGER (Biere, "The AIGER And-Inverter Graph (AIG) Format Version
    /// 20071012"): the nodes that `output` and the registers need, with `output` as the only output. Each register begins with 0
    /// and is a pair: its literal and its next value.
    pub fn aiger(&self, registers: &[(Lit, Lit)], output: Lit) -> Vec<u8> {
        let needed = self.needed(registers.iter().map(|(_, next)| *next).chain([output]));
        let is_register: HashSet<usize> = registers.iter().map(|(q, _)| q.node()).collect();
        let (mut inputs, mut gates) = (Vec::new(), Vec::new());
        for node in needed.into_iter().filter(|node| *node != 0) {
            if self.nodes[node] != INPUT {
                gates.push(node);
            } else if !is_register.contains(&node) {
                inputs.push(node);
            }
        }
        let mut variable = vec![0u32; self.nodes.len()];
        let states = registers.iter().map(|(q, _)| q.node());
        let order = inputs.iter().copied().chain(states);
        for (number, node) in (1..).zip(order.chain(gates.iter().copied())) {
            variable[node] = number;
        }
        let literal = |lit: Lit| variable[lit.node()] << 1 | u32::from(lit.inverted());
        let (i, l, a) = (inputs.len(), registers.len(), gates.len());
        let mut text = format!("aig {} {i} {l} 1 {a}\n", i + l + a).into_bytes();
        for (_, next) in registers {
            let _ = writeln!(text, "{}", literal(*next));
        }
        let _ = writeln!(text, "{}", literal(output));
        let mut number = |mut n: u32| {
            while n >= 0x80 {
                text.push((n & 0x7f | 0x80) as u8);
                n >>= 7;
            }
            text.push(n as u8);
        };
        for gate in gates {
            let (a, b) = self.nodes[gate];
            let (low, high) = (literal(a).min(literal(b)), literal(a).max(literal(b)));
            number((variable[gate] << 1) - high);
            number(high - low);
        }
        text
    }

    /// Returns the graph as BTOR2 (Niemetz and others, "Btor2, BtorMC and Boolector 3.0", 2018): bits, of which `bad` is to be 0.
    pub fn btor2(&self, bad: Lit) -> String {
        let mut lines = vec!["1 sort bitvec 1".to_owned()];
        let mut ids = HashMap::new();
        let mut line = |what: String| {
            lines.push(format!("{} {what}", lines.len() + 1));
            lines.len()
        };
        for node in self.needed([bad].into_iter()) {
            let id = match self.nodes[node] {
                _ if node == 0 => line("zero 1".to_owned()),
                INPUT => line("input 1".to_owned()),
                (a, b) => line(format!("and 1 {} {}", ids[&a], ids[&b])),
            };
            let lit = Lit((node as u32) << 1);
            ids.insert(lit, id);
            ids.insert(!lit, line(format!("not 1 {id}")));
        }
        line(format!("bad {}", ids[&bad]));
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests;
