//! What the bench compares after a cycle, as the declaration says: each field while its condition holds, the elements of a list below
//! its depth. What is not compared reads as 0, as in the bench top.

use reconverge_declaration::{
    Comparison, Condition, Declaration, Operand, Port, Shape, State, Sum,
};

use super::aig::{Aig, Lit};
use super::circuit::{Circuit, TimeFrame, differ, extended, less, sum};

mod probe;

/// A cycle, and the state that it leads to.
pub(super) struct Cycle<'a> {
    pub circuit: &'a Circuit,
    /// The state before the cycle, and the cycle.
    pub before: (&'a [Lit], &'a TimeFrame),
    /// The state after it, and what it shows.
    pub after: (&'a [Lit], &'a TimeFrame),
    /// The values of all free wires in the cycle.
    pub free: &'a [Lit],
}

/// The bits that are compared after a cycle.
#[derive(Default)]
pub(super) struct Seen {
    /// Those that are not compared after the first cycle of a run.
    pub now: Vec<Lit>,
    /// The others.
    pub after: Vec<Lit>,
    /// Nothing else is compared: every probe is an expression that [`probe`] reads.
    pub all: bool,
}

/// Returns whether `declared` has an output that is not always compared.
pub(super) fn hides(declared: &Declaration) -> bool {
    let conditional = |field: &&State| field.valid.is_some() || field.depth.is_some();
    let mut outputs = declared
        .state
        .iter()
        .filter(|field| !field.outputs.is_empty());
    outputs.any(|field| conditional(&field))
}

impl Cycle<'_> {
    /// Returns what is compared; with `hidden`, as if every field always were.
    pub fn seen(&self, aig: &mut Aig, declared: &Declaration, hidden: bool) -> Seen {
        let mut seen = Seen {
            all: true,
            ..Seen::default()
        };
        for field in &declared.state {
            let Some(elements) = self.elements(declared, field) else {
                seen.all = false;
                continue;
            };
            let to = match declared.is_combinational() || declared.not_first(field) {
                true => &mut seen.now,
                false => &mut seen.after,
            };
            let valid = field.valid.as_ref();
            let valid = valid.and_then(|valid| self.holds(aig, declared, valid));
            let depth = field.depth.as_ref().and_then(|name| declared.field(name));
            let depth = depth.and_then(|depth| self.number(aig, declared, depth));
            for (i, element) in elements.into_iter().enumerate() {
                let used = match (&depth, valid) {
                    _ if hidden => Lit::TRUE,
                    (Some(depth), _) => compared(aig, &bits_of(i as u64), "<", depth),
                    (None, valid) => valid.unwrap_or(Lit::TRUE),
                };
                to.extend(element.into_iter().map(|bit| aig.and(used, bit)));
            }
        }
        seen
    }

    /// Returns the bits of each element of `field`, hidden or not; `None` if a probe is not read here.
    fn elements(&self, declared: &Declaration, field: &State) -> Option<Vec<Vec<Lit>>> {
        let now = declared.is_combinational() || field.sampled;
        let (state, frame) = if now { self.before } else { self.after };
        let nets: Vec<Vec<Lit>> = if field.outputs.is_empty() {
            let mut probes = declared.probes.expressions.iter();
            let (_, probes) = probes.find(|(name, _)| *name == field.name)?;
            let net = |text: &String| probe::value(self.circuit, text, state, frame);
            probes.iter().map(net).collect::<Option<_>>()?
        } else {
            let outputs = self.circuit.outputs(frame);
            let net = |port: &Port| {
                let (_, bits) = outputs.iter().find(|(name, _)| *name == port.name)?;
                part(port, bits)
            };
            field.outputs.iter().map(net).collect::<Option<_>>()?
        };
        let ([net], 2..) = (&nets[..], field.shape.count()) else {
            // What is above the field is not compared.
            let width = match field.shape {
                Shape::Words { width, .. } => width as usize,
                Shape::Planes(_) => usize::MAX,
            };
            let cut = |net: Vec<Lit>| net.into_iter().take(width).collect();
            return Some(nets.into_iter().map(cut).collect());
        };
        let width = match field.shape {
            Shape::Words { width, .. } => width as usize,
            Shape::Planes(n) => net.len() / n,
        };
        Some(net.chunks(width.max(1)).map(<[Lit]>::to_vec).collect())
    }

    /// Returns the value with which `field`, one number, is compared.
    fn number(&self, aig: &mut Aig, declared: &Declaration, field: &State) -> Option<Vec<Lit>> {
        let mut number = self.elements(declared, field)?.into_iter().next()?;
        if let Some(valid) = &field.valid {
            let valid = self.holds(aig, declared, valid)?;
            for bit in &mut number {
                *bit = aig.and(valid, *bit);
            }
        }
        Some(number)
    }

    /// Returns whether `condition` holds; `None` if it depends on what is not known.
    fn holds(&self, aig: &mut Aig, declared: &Declaration, condition: &Condition) -> Option<Lit> {
        let mut any = Vec::new();
        for term in &condition.0 {
            let mut all = Vec::new();
            for Comparison {
                left,
                operator,
                right,
            } in term
            {
                let left = self.sum(aig, declared, left)?;
                let right = self.sum(aig, declared, right)?;
                all.push(compared(aig, &left, operator, &right));
            }
            any.push(aig.all(all));
        }
        Some(aig.any(any))
    }

    fn sum(&self, aig: &mut Aig, declared: &Declaration, of: &Sum) -> Option<Vec<Lit>> {
        let value = match &of.of {
            Operand::Number(number) => bits_of(*number),
            Operand::Pin(name) => {
                let pin = declared.pins.iter().find(|pin| pin.name == *name)?;
                let port = pin.ports.first()?;
                let wires = self.circuit.input(&port.name)?.iter();
                part(
                    port,
                    &wires.map(|wire| self.free[*wire]).collect::<Vec<_>>(),
                )?
            }
            Operand::After(name) => self.number(aig, declared, declared.field(name)?)?,
            Operand::Before(_)
            | Operand::Coverpoint(_)
            | Operand::Parameter(_)
            | Operand::Lanes => return None,
        };
        match of.plus {
            0 => Some(value),
            plus => {
                let value = extended(&value, u64::BITS as usize, false);
                Some(sum(aig, &value, &bits_of(plus), Lit::FALSE).0)
            }
        }
    }
}

/// Returns the bits of a port that `port` names.
fn part(port: &Port, bits: &[Lit]) -> Option<Vec<Lit>> {
    match port.bits {
        None => Some(bits.to_vec()),
        Some((high, low)) => bits.get(low as usize..=high as usize).map(<[Lit]>::to_vec),
    }
}

fn bits_of(number: u64) -> Vec<Lit> {
    (0..u64::BITS)
        .map(|bit| (number >> bit & 1 == 1).into())
        .collect()
}

fn compared(aig: &mut Aig, a: &[Lit], operator: &str, b: &[Lit]) -> Lit {
    // With a bit to spare, as no number has a sign.
    let width = a.len().max(b.len()) + 1;
    let (a, b) = (extended(a, width, false), extended(b, width, false));
    match operator {
        "<" => less(aig, &a, &b),
        ">" => less(aig, &b, &a),
        "<=" => !less(aig, &b, &a),
        ">=" => !less(aig, &a, &b),
        "==" => !differ(aig, &a, &b),
        _ => differ(aig, &a, &b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_different_widths_are_compared_as_in_a_condition() {
        for (a, b) in (0u64..16).flat_map(|a| (0..64).map(move |b| (a, b))) {
            let mut aig = Aig::new();
            let (left, right) = (&bits_of(a)[..4], &bits_of(b)[..6]);
            for (operator, is) in [
                ("==", a == b),
                ("!=", a != b),
                ("<", a < b),
                ("<=", a <= b),
                (">", a > b),
                (">=", a >= b),
            ] {
                let holds = compared(&mut aig, left, operator, right);
                assert_eq!(holds, is.into(), "{a} {operator} {b}");
            }
        }
    }
}
