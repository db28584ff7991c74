//! And-inverter graphs with structural hashing, and the format in which tools take them (AIGER).

use std::collections::{HashMap, HashSet};
use std::io::Write as _;

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

    /// `yes` where `by` holds, else `no`.
    pub fn mux(&mut self, by: Lit, yes: Lit, no: Lit) -> Lit {
        if yes == no {
            return yes;
        }
        let (yes, no) = (self.and(by, yes), self.and(!by, no));
        self.or(yes, no)
    }

    pub fn any(&mut self, all: impl IntoIterator<Item = Lit>) -> Lit {
        let none = all.into_iter().map(|l| !l).collect();
        !self.all(none)
    }

    /// As a tree, which is shallow.
    pub fn all(&mut self, mut all: Vec<Lit>) -> Lit {
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

    /// The graph as a circuit in binary AIGER (Biere, "The AIGER And-Inverter Graph (AIG) Format Version
    /// 20071012"): what `output` needs, with one bad output, and registers that begin with 0, given as what
    /// they are called and what they become.
    pub fn aiger(&self, registers: &[(Lit, Lit)], output: Lit) -> Vec<u8> {
        let mut needed = vec![false; self.nodes.len()];
        let roots = registers.iter().map(|(_, next)| *next).chain([output]);
        let mut open: Vec<usize> = roots.map(Lit::node).collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut needed[node], true) && self.nodes[node] != INPUT {
                open.extend([self.nodes[node].0.node(), self.nodes[node].1.node()]);
            }
        }
        let is_register: HashSet<usize> = registers.iter().map(|(q, _)| q.node()).collect();
        let (mut inputs, mut gates) = (Vec::new(), Vec::new());
        for node in (1..self.nodes.len()).filter(|n| needed[*n]) {
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

    /// What `lit` is, for these values of the inputs in the order in which they were made.
    fn value(aig: &Aig, lit: Lit, inputs: &[bool]) -> bool {
        let mut inputs = inputs.iter();
        let mut values = vec![false; aig.nodes.len()];
        for node in 1..aig.nodes.len() {
            let of = |l: Lit, values: &[bool]| values[l.node()] != l.inverted();
            values[node] = match aig.nodes[node] {
                INPUT => *inputs.next().unwrap(),
                (a, b) => of(a, &values) && of(b, &values),
            };
        }
        values[lit.node()] != lit.inverted()
    }

    #[test]
    fn gates_are_what_they_are_called() {
        let mut aig = Aig::new();
        let [a, b, c] = [aig.input(), aig.input(), aig.input()];
        let (and, or, xor, mux) = (aig.and(a, b), aig.or(a, b), aig.xor(a, b), aig.mux(c, a, b));
        let (any, all) = (aig.any([a, b, c]), aig.all(vec![a, b, c]));
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
                assert_eq!(value(&aig, gate, &[x, y, z]), expected, "{gate:?} {row}");
                assert_eq!(value(&aig, !gate, &[x, y, z]), !expected, "{gate:?} {row}");
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

    /// Two inputs, a register that keeps their conjunction, bad when the register is not set; a third input
    /// that is not used. By hand from the format's description: variables 1 and 2 are inputs, 3 the register, 4 the
    /// gate; the gate's operands are coded as 8 - 4 and 4 - 2.
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
}
