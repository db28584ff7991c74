//! What the bench compares after a cycle, as the declaration says: each field while its condition holds, the elements of a list below
//! its depth; where transactions are compared, the fields of channels, of which a payload counts while valid is 1. What is not compared
//! reads as 0, as in the bench top.

use reconverge_declaration::{
    Comparison, Condition, Declaration, Operand, Port, Shape, State, Sum, Wire,
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

/// When a field counts for what a design sends and receives.
enum Counts<'a> {
    Always,
    /// While this field is 1: a payload without valid says nothing.
    While(&'a State),
    /// It belongs to no channel.
    Never,
}

/// Returns when field `number` counts, if only the transactions of `declared` are compared.
fn counts(declared: &Declaration, number: usize) -> Counts<'_> {
    let field = |wire: &Wire| match *wire {
        Wire::Field { number, now } => Some((number, now)),
        Wire::Pin(_) => None,
    };
    let is = |wire: &Wire| field(wire).is_some_and(|(n, _)| n == number);
    let mut counts = Counts::Never;
    for channel in &declared.channels {
        if is(&channel.valid) || is(&channel.ready) {
            return Counts::Always;
        }
        let Some(payload) = channel.payload.iter().find(|wire| is(wire)) else {
            continue;
        };
        counts = match (field(&channel.valid), field(payload), counts) {
            (Some((valid, now)), Some((_, then)), Counts::Never) if now == then => {
                Counts::While(&declared.state[valid])
            }
            _ => return Counts::Always,
        };
    }
    counts
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
    if declared.transactions {
        return true;
    }
    let conditional = |field: &State| field.valid.is_some() || field.depth.is_some();
    let mut fields = declared.state.iter();
    fields.any(|field| !field.outputs.is_empty() && conditional(field))
}

impl Cycle<'_> {
    /// Returns what is compared; with `hidden`, as if every field always were.
    pub fn seen(&self, aig: &mut Aig, declared: &Declaration, hidden: bool) -> Seen {
        let mut seen = Seen {
            all: true,
            ..Seen::default()
        };
        for (number, field) in declared.state.iter().enumerate() {
            let counts = match declared.transactions && !hidden {
                true => counts(declared, number),
                false => Counts::Always,
            };
            let offered = match counts {
                Counts::Always => Lit::TRUE,
                Counts::While(valid) => {
                    let valid = self.number(aig, declared, valid);
                    valid.map_or(Lit::TRUE, |bits| aig.any(bits))
                }
                Counts::Never => continue,
            };
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
                let used = aig.and(used, offered);
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
                let bits: Vec<Lit> = wires.map(|wire| self.free[*wire]).collect();
                part(port, &bits)?
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

    /// Regression: a field of no channel made a mutant of such a design one that was missed.
    #[test]
    fn of_a_design_with_transactions_the_fields_of_channels_count() {
        let field = |name: &str, sampled: bool| {
            format!(
                "[[state]]\nname = {name:?}\noutput = {name:?}\nsampled = {sampled}\ndoc = \"It.\"\n"
            )
        };
        let text = "name = \"m\"\ndoc = \"m.\"\ntransactions = true\n\
                    [[pin]]\nname = \"put_valid\"\ndoc = \"It.\"\n[[pin]]\nname = \"get_ready\"\ndoc = \"It.\"\n"
            .to_owned()
            + &field("put_ready", true)
            + &field("get_valid", false)
            + &field("data", false)
            + &field("now", true)
            + &field("level", false)
            + "[[channel]]\nname = \"put\"\nside = \"in\"\nvalid = \"put_valid\"\nready = \"put_ready\"\n\
               [[channel]]\nname = \"get\"\nside = \"out\"\nvalid = \"get_valid\"\nready = \"get_ready\"\npayload = [\"data\", \"now\"]\n";
        let declared = Declaration::parse("design.toml", &text).unwrap();
        let said = (0..declared.state.len()).map(|number| match counts(&declared, number) {
            Counts::Always => "always",
            Counts::While(valid) => valid.name.as_str(),
            Counts::Never => "never",
        });
        // Valid is that of another cycle than `now`.
        let expected = ["always", "always", "get_valid", "always", "never"];
        assert_eq!(said.collect::<Vec<_>>(), expected);
        assert!(hides(&declared));
    }

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
