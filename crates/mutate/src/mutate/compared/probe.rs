//! Probes: expressions of the bench top that read nets of the design.

use crate::mutate::aig::Lit;
use crate::mutate::circuit::{Circuit, TimeFrame, extended};

/// The value of an expression.
struct Value {
    /// Its bits, the lowest first.
    bits: Vec<Lit>,
    /// It has a sign, which another width extends.
    signed: bool,
}

/// Returns the value of the probe `text`, the lowest bit first; `None` unless it is made of nets of `dut` with constant selects,
/// parentheses, concatenations and widths, such as `5'({dut.high_q, dut.u_core.low_q[3:0]})`.
pub(super) fn value(
    circuit: &Circuit,
    text: &str,
    state: &[Lit],
    frame: &TimeFrame,
) -> Option<Vec<Lit>> {
    let net = |name: &str| {
        let bits = circuit.value(name, state, frame)?;
        Some((bits, circuit.form(name).into()))
    };
    expression(text, &net).map(|value| value.bits)
}

/// How the bits of a net are numbered: the number of the lowest one, none if they fall, and whether it has a sign.
type Numbered = (Option<i64>, bool);

impl From<crate::mutate::circuit::Form> for Numbered {
    fn from(form: crate::mutate::circuit::Form) -> Self {
        ((form.upto == 0).then_some(form.offset), form.signed == 1)
    }
}

fn expression(text: &str, net: &impl Fn(&str) -> Option<(Vec<Lit>, Numbered)>) -> Option<Value> {
    let text = text.trim();
    if let Some(inner) = within(text, '(', ')') {
        return expression(inner, net);
    }
    if let Some(inner) = within(text, '{', '}') {
        let mut bits = Vec::new();
        for part in parts(inner).into_iter().rev() {
            bits.extend(expression(part, net)?.bits);
        }
        let signed = false;
        return Some(Value { bits, signed });
    }
    if let Some((width, rest)) = text.split_once('\'')
        && let Ok(width) = width.trim().parse::<usize>()
    {
        let of = expression(within(rest.trim(), '(', ')')?, net)?;
        let bits = extended(&of.bits, width.max(1), of.signed);
        return Some(Value { bits, ..of });
    }
    let name = text.strip_prefix("dut.")?.trim();
    if let Some((bits, (_, signed))) = net(name) {
        return Some(Value { bits, signed });
    }
    let (name, select) = name.strip_suffix(']')?.rsplit_once('[')?;
    let (bits, (lowest, _)) = net(name.trim())?;
    let lowest = lowest?;
    let (high, low) = select.split_once(':').unwrap_or((select, select));
    let place = |bit: &str| usize::try_from(bit.trim().parse::<i64>().ok()? - lowest).ok();
    let bits = bits.get(place(low)?..=place(high)?)?.to_vec();
    if bits.is_empty() {
        return None;
    }
    let signed = false;
    Some(Value { bits, signed })
}

/// Returns what stands within a pair of brackets that begins with `text` and ends with it.
fn within(text: &str, open: char, close: char) -> Option<&str> {
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    let mut depth = 0_i32;
    for c in inner.chars() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth < 0 {
            return None;
        }
    }
    Some(inner)
}

/// Divides a list at its own commas.
fn parts(list: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    list.split(|c| {
        depth += i32::from("({[".contains(c)) - i32::from(")}]".contains(c));
        c == ',' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nets of four bits: `a` is 0011 with a sign if it is one of `u.a`, `b` is 1010 with bits 7 to 4.
    fn net(name: &str) -> Option<(Vec<Lit>, Numbered)> {
        let of = |value: u32| (0..4).map(|bit| (value >> bit & 1 == 1).into()).collect();
        match name {
            "a" => Some((of(0b0011), (Some(0), false))),
            "s" => Some((of(0b1100), (Some(0), true))),
            "b" => Some((of(0b1010), (Some(4), false))),
            "g[1].c" => Some((of(0b1001), (None, false))),
            _ => None,
        }
    }

    fn bits(text: &str) -> Option<String> {
        let bits = expression(text, &net)?.bits.into_iter().rev();
        let digit = |bit| match bit {
            Lit::TRUE => '1',
            Lit::FALSE => '0',
            _ => 'x',
        };
        Some(bits.map(digit).collect())
    }

    /// Regression: a probe that was more than a name kept the last question from being asked.
    #[test]
    fn selects_concatenations_and_widths_of_nets_are_read() {
        for (text, expected) in [
            ("dut.a", "0011"),
            (" ( dut.a ) ", "0011"),
            ("6'(dut.a)", "000011"),
            ("2 ' (dut.a)", "11"),
            // A sign is extended.
            ("6'(dut.s)", "111100"),
            ("6'({dut.s})", "001100"),
            ("6'(dut.s[3:0])", "001100"),
            ("dut.a[1]", "1"),
            ("dut.a[2:1]", "01"),
            ("dut.b[7:6]", "10"),
            ("dut.g[1].c", "1001"),
            ("{dut.a, dut.b[4], 3'({dut.a[0], dut.a[3]})}", "00110010"),
        ] {
            assert_eq!(bits(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not_read() {
        for text in [
            "",
            "a",
            "dut.",
            "dut.no",
            "dut.a[4]",
            "dut.a[1:2]",
            "dut.b[3]",
            "dut.a[dut.b]",
            "dut.a[-1]",
            // Its bits have other numbers.
            "dut.g[1].c[0]",
            "dut.a | dut.b",
            "(dut.a) | (dut.b)",
            "{dut.a} | {dut.b}",
            "dut.a == 4'd3",
            "4'd3",
            "W'(dut.a)",
            "{dut.a,}",
            "5'dut.a",
        ] {
            assert_eq!(bits(text), None, "{text}");
        }
    }
}
