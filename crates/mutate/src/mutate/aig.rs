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
            match self.nodes[lit.node()] {
                (l, r) if !lit.inverted() && (l, r) != INPUT => left.extend([r, l]),
                _ => found.push(lit),
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
        let needed = self.needed([what].into_iter());
        inputs
            .iter()
            .any(|input| needed.binary_search(&input.node()).is_ok())
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
        let order = inputs
            .iter()
            .copied()
            .chain(registers.iter().map(|(q, _)| q.node()));
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_what_they_are_called() {
        let mut aig = Aig::new();
        let [a, b, c] = [aig.input(), aig.input(), aig.input()];
        let (and, or, xor, mux) = (aig.and(a, b), aig.or(a, b), aig.xor(a, b), aig.mux(c, a, b));
        let (any, all) = (aig.any([a, b, c]), aig.all(vec![a, b, c]));
        let mut inputs = HashMap::new();
        for (input, rows) in [(a, 0b1010_1010), (b, 0b1100_1100), (c, 0b1111_0000)] {
            inputs.insert(input, rows);
        }
        let values = aig.evaluate(&inputs);
        for row in 0..8 {
            let [x, y, z] = [row & 1 == 1, row & 2 == 2, row & 4 == 4];
            for (gate, expected) in [
                (and, x && y),
                (or, x || y),
                (xor, x != y),
                (mux, if z { x } else { y }),
                (any, x || y || z),
                (all, x && y && z),
            ] {
                let value = |lit| values.of(lit) >> row & 1 == 1;
                assert_eq!(value(gate), expected, "{gate:?} {row}");
                assert_eq!(value(!gate), !expected, "{gate:?} {row}");
            }
        }
    }

    /// All pairs of operands, each a literal or a gate of two inputs, and multiplexers, under each condition.
    #[test]
    fn a_multiplexer_is_right_whatever_its_operands_have_in_common() {
        let mut aig = Aig::new();
        let [a, b, c] = [aig.input(), aig.input(), aig.input()];
        let pins = [a, b, c];
        let mut operands = vec![a, !a, b, !b, c, Lit::TRUE, Lit::FALSE];
        for (x, y) in [(a, b), (a, c), (b, c), (a, !b), (!a, b), (!a, !c)] {
            operands.extend([aig.and(x, y), aig.or(x, y)]);
        }
        for (by, yes, no) in [(a, b, c), (a, !c, b), (b, !a, c), (c, a, b)] {
            operands.push(aig.mux(by, yes, no));
        }
        let inputs = pins.into_iter().zip([0xaa, 0xcc, 0xf0]).collect();
        for by in pins {
            for yes in operands.clone() {
                for no in operands.clone() {
                    let mux = aig.mux(by, yes, no);
                    let values = aig.evaluate(&inputs);
                    let [by, yes, no, mux] = [by, yes, no, mux].map(|lit| values.of(lit) & 0xff);
                    assert_eq!(mux, by & yes | !by & no);
                }
            }
        }
    }

    #[test]
    fn what_an_operand_is_where_it_is_not_chosen_makes_no_difference() {
        let mut aig = Aig::new();
        let [by, yes, no, unknown] = std::array::from_fn(|_| aig.input());
        let plain = aig.mux(by, yes, no);
        let inner = aig.mux(by, yes, unknown);
        assert_eq!(aig.mux(by, inner, no), plain);
        assert_eq!(aig.mux(!by, no, inner), plain);
        let inner = aig.mux(!by, no, unknown);
        assert_eq!(aig.mux(by, yes, inner), plain);
        // The same if the inner multiplexer has a constant.
        let inner = aig.mux(by, Lit::TRUE, unknown);
        let always = aig.or(by, no);
        assert_eq!(aig.mux(by, inner, no), always);
    }

    #[test]
    fn a_scan_that_takes_from_what_it_found_so_far_is_one_conjunction() {
        let mut aig = Aig::new();
        let entries: Vec<[Lit; 2]> = (0..5).map(|_| [aig.input(), aig.input()]).collect();
        let (mut holds, mut broken) = (Lit::TRUE, Lit::FALSE);
        for [used, right] in &entries {
            let still = aig.and(holds, *right);
            holds = aig.mux(*used, still, holds);
            let more = aig.or(broken, !*right);
            broken = aig.mux(!*used, broken, more);
        }
        assert_eq!(holds, !broken);
        let mut parts = aig.conjuncts(holds);
        let mut expected: Vec<Lit> = entries
            .iter()
            .map(|[used, right]| !aig.and(*used, !*right))
            .collect();
        parts.sort();
        expected.sort();
        assert_eq!(parts, expected);
        assert_eq!(aig.conjuncts(entries[0][0]), [entries[0][0]]);
    }

    /// Found bug: when the check of an entry had three parts, `so_far` was below all of them and was not found.
    #[test]
    fn a_scan_whose_checks_have_some_parts_is_one_conjunction() {
        let mut aig = Aig::new();
        // Entries of two kinds, with as many checks as the search has levels, and with one more.
        for (checks, one) in [(SHARED_LEVELS, true), (SHARED_LEVELS + 1, false)] {
            let start = aig.input();
            let mut holds = start;
            for _ in 0..3 {
                let [used, kind] = [aig.input(), aig.input()];
                let by_kind = [(); 2].map(|()| {
                    let checks: Vec<Lit> = (0..checks).map(|_| aig.input()).collect();
                    checks
                        .iter()
                        .fold(holds, |still, check| aig.and(still, *check))
                });
                let still = aig.mux(kind, by_kind[0], by_kind[1]);
                holds = aig.mux(used, still, holds);
            }
            let parts = aig.conjuncts(holds);
            assert_eq!(parts.contains(&start), one, "{checks}");
            assert_eq!(parts.len() > 3, one, "{checks}: {parts:?}");
        }
    }

    #[test]
    fn what_cannot_be_where_another_operand_holds_is_left_out() {
        let mut aig = Aig::new();
        let [before, after, now, other] = [(); 4].map(|()| aig.input());
        let then = aig.mux(before, now, other);
        let differs = aig.xor(now, then);
        let [never, may] = [before, after].map(|matters| aig.and(matters, differs));
        assert_eq!(aig.without_impossible(never), Lit::FALSE);
        assert_eq!(aig.without_impossible(may), may);
        let either = aig.or(never, may);
        assert_eq!(aig.without_impossible(either), may);
        assert_eq!(aig.without_impossible(Lit::TRUE), Lit::TRUE);
        assert_eq!(aig.without_impossible(Lit::FALSE), Lit::FALSE);
        // They are equal for every input.
        let columns = [0xff00, 0xf0f0, 0xcccc, 0xaaaa];
        let inputs = [before, after, now, other].into_iter().zip(columns);
        let values = aig.evaluate(&inputs.collect());
        assert_eq!(values.of(either), values.of(may));
        assert_ne!(values.of(may) & 0xffff, 0);
    }

    #[test]
    fn what_two_sides_have_in_common_is_taken_out_of_both() {
        let mut aig = Aig::new();
        let [a, b, c, d, e] = [(); 5].map(|()| aig.input());
        let [ab, cd] = [aig.and(a, b), aig.and(c, d)];
        let [yes, no] = [aig.and(ab, cd), aig.and(e, cd)];
        assert_eq!(aig.shared(yes, no), Some((cd, ab, e)));
        assert_eq!(
            aig.shared(yes, c),
            Some((c, aig.all(vec![a, b, d]), Lit::TRUE))
        );
        assert_eq!(aig.shared(ab, cd), None);
        assert_eq!(aig.shared(!ab, !cd), None);
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
    fn all_of_the_same_in_another_order_is_one_node() {
        let mut aig = Aig::new();
        let lanes: Vec<Lit> = (0..5).map(|_| aig.input()).collect();
        let mut moved = lanes.clone();
        moved.rotate_left(2);
        let all = aig.all(lanes.clone());
        assert_eq!(aig.all(moved.clone()), all);
        let any = aig.any(lanes.clone());
        assert_eq!(aig.any(moved), any);
        assert_ne!(all, any);
        let twice = aig.all([&lanes[..], &lanes].concat());
        assert_eq!(twice, all);
        let never = aig.all(vec![lanes[3], lanes[0], !lanes[3]]);
        assert_eq!(never, Lit::FALSE);
        assert_eq!(aig.weight(all), 5 + 4);
    }

    #[test]
    fn a_gate_that_becomes_one_that_is_supposed_is_a_constant() {
        let mut aig = Aig::new();
        let [x, p, q, r] = [0; 4].map(|_| aig.input());
        let both = aig.and(x, p);
        let known = aig.or(both, q);
        let what = aig.or(p, q);
        let other = aig.or(p, r);
        // With x, `known` says p or q.
        let [what, other] = [what, other].map(|lit| aig.supposed(&[x, known], &[lit])[0]);
        assert_eq!(what, Lit::TRUE);
        assert_ne!(other, Lit::TRUE);
    }

    /// Found bug: of two scans with the same gates except for a constant, one was computed before the constant was found.
    #[test]
    fn what_is_known_is_found_before_anything_is_worked_out() {
        let mut aig = Aig::new();
        let [a, b, c, t] = [(); 4].map(|()| aig.input());
        let x = aig.and(a, !b);
        let what = aig.and(x, c);
        // `known` contains a gate that is made after `x` and becomes `x`.
        let known = aig.any([x, t]);
        assert_eq!(aig.supposed(&[known, !t], &[what]), [c]);
    }

    #[test]
    fn what_is_supposed_is_a_constant_and_what_holds_with_it() {
        let mut aig = Aig::new();
        let [a, b, c, d] = [aig.input(), aig.input(), aig.input(), aig.input()];
        let both = aig.and(a, b);
        let [x, y] = [aig.xor(both, c), aig.xor(a, d)];
        let what = aig.and(x, y);
        let len = aig.size();
        for known in [vec![both], vec![!both], vec![a, !c], vec![!a, both], vec![]] {
            let found = aig.supposed(&known, &[what])[0];
            let found = aig.all([&known[..], &[found]].concat());
            let mut expected = known.clone();
            expected.push(what);
            let expected = aig.all(expected);
            for row in 0..16u64 {
                let bits = [a, b, c, d].into_iter().zip(0..);
                let inputs = bits.map(|(input, i)| (input, row >> i & 1)).collect();
                let values = aig.evaluate(&inputs);
                assert_eq!(
                    values.of(found) & 1,
                    values.of(expected) & 1,
                    "{known:?} {row}"
                );
            }
            aig.forget(len);
            assert_eq!(aig.size(), len);
        }
        // Nothing of the exclusive or remains.
        assert_eq!(aig.supposed(&[both, c], &[what]), [Lit::FALSE]);
        aig.forget(len);
        assert_eq!(aig.and(b, a), both);
        // The multiplexer becomes a, and it is known that a and b do not both hold.
        let choice = aig.mux(c, a, d);
        let what = aig.and(choice, b);
        assert_eq!(aig.supposed(&[c, !both], &[what]), [Lit::FALSE]);
    }

    #[test]
    fn a_size_is_within_its_number_of_nodes_and_not_within_one_less() {
        let mut aig = Aig::new();
        let [a, b, c] = [(); 3].map(|()| aig.input());
        // Two paths lead to `a`, which is counted once.
        let x = aig.and(a, b);
        let y = aig.and(!a, c);
        let what = aig.and(!x, !y);
        assert_eq!(aig.weight(what), 6);
        assert!(aig.within(what, 6));
        assert!(!aig.within(what, 5));
        assert!(aig.within(!a, 1));
    }

    /// Two inputs, a register that stores their AND, and an output that is 1 while the register is 0; a third input is not used. The
    /// expected text is made by hand from the description of the format: variables 1 and 2 are inputs, 3 is the register, 4 is the
    /// gate, whose operands are coded as 8 - 4 and 4 - 2.
    #[test]
    fn a_circuit_is_written_as_the_format_says() {
        let mut aig = Aig::new();
        let [a, _, b, q] = [aig.input(), aig.input(), aig.input(), aig.input()];
        let next = aig.and(a, b);
        assert_eq!(
            aig.aiger(&[(q, next)], !q),
            b"aig 4 2 1 1 1\n8\n7\n\x04\x02"
        );
    }

    /// Made by hand from the description in [`Aig::dimacs`]: inputs are variables 1 and 2, the gate is 3.
    #[test]
    fn clauses_are_written_as_the_format_says() {
        let mut aig = Aig::new();
        let [a, _, b] = [aig.input(), aig.input(), aig.input()];
        let what = aig.and(!a, b);
        let (text, variables) = aig.dimacs(!what);
        assert_eq!(variables, [a, b, what]);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "p cnf 3 4\n-3 -1 0\n-3 2 0\n3 1 -2 0\n-3 0\n"
        );
        let (text, _) = aig.dimacs(Lit::FALSE);
        assert_eq!(String::from_utf8(text).unwrap(), "p cnf 1 2\n-1 0\n1 0\n");
    }
}
