//! What each kind of cell of a netlist computes, as a graph.

use super::{Cell, Circuit, TimeFrame};
use crate::mutate::aig::{Aig, Lit};

impl Circuit {
    /// Returns the output of `cell` in `frame`, bit by bit.
    pub(super) fn cell(&self, aig: &mut Aig, frame: &TimeFrame, cell: &Cell) -> Vec<Lit> {
        let [a, b, s] = [&cell.a, &cell.b, &cell.s].map(|bits| frame.all(bits));
        let width = cell.y.len();
        // Both operands extended to `width`: that of the result, or that of the wider operand.
        let operands = |width| [&a, &b].map(|bits| extended(bits, width, cell.signed));
        let each = |aig: &mut Aig, gate: fn(&mut Aig, Lit, Lit) -> Lit| -> Vec<Lit> {
            let [a, b] = operands(width);
            a.iter().zip(&b).map(|(a, b)| gate(aig, *a, *b)).collect()
        };
        let wide = a.len().max(b.len());
        let one = |bit: Lit| extended(&[bit], width, false);
        // One bit, or its inverse for a kind that is the opposite of another.
        let one_or_not = |bit: Lit, not: bool| one(if not { !bit } else { bit });
        match cell.kind.as_str() {
            "$not" => inverted(&extended(&a, width, cell.a_signed)),
            "$pos" | "$buf" => extended(&a, width, cell.a_signed),
            "$neg" => negated(aig, &extended(&a, width, cell.a_signed)),
            "$and" => each(aig, Aig::and),
            "$or" => each(aig, Aig::or),
            "$xor" => each(aig, Aig::xor),
            "$xnor" => inverted(&each(aig, Aig::xor)),
            "$add" => {
                let [a, b] = operands(width);
                sum(aig, &a, &b, Lit::FALSE).0
            }
            "$sub" => {
                let [a, b] = operands(width);
                sum(aig, &a, &inverted(&b), Lit::TRUE).0
            }
            "$mul" => {
                let [a, b] = operands(width);
                let mut total = vec![Lit::FALSE; width];
                for (i, by) in b.iter().enumerate() {
                    let mut part = vec![Lit::FALSE; i];
                    for bit in &a[..width - i] {
                        part.push(aig.and(*bit, *by));
                    }
                    total = sum(aig, &total, &part, Lit::FALSE).0;
                }
                total
            }
            "$eq" | "$eqx" | "$ne" | "$nex" => {
                let [a, b] = operands(wide);
                one_or_not(differ(aig, &a, &b), cell.kind.starts_with("$e"))
            }
            "$lt" | "$ge" | "$gt" | "$le" => {
                let [mut a, mut b] = operands(wide + 1);
                if matches!(cell.kind.as_str(), "$gt" | "$le") {
                    std::mem::swap(&mut a, &mut b);
                }
                one_or_not(less(aig, &a, &b), cell.kind.ends_with('e'))
            }
            "$logic_not" => one(!aig.any(a)),
            "$logic_and" | "$logic_or" => {
                let (a, b) = (aig.any(a), aig.any(b));
                one(if cell.kind == "$logic_and" {
                    aig.and(a, b)
                } else {
                    aig.or(a, b)
                })
            }
            "$reduce_or" | "$reduce_bool" => one(aig.any(a)),
            "$reduce_and" => one(!aig.any(inverted(&a))),
            "$reduce_xor" | "$reduce_xnor" => {
                let odd = a.iter().fold(Lit::FALSE, |sum, l| aig.xor(sum, *l));
                one_or_not(odd, cell.kind == "$reduce_xnor")
            }
            "$mux" => muxed(aig, s[0], &b, &a),
            "$pmux" => {
                // If several select bits are set, the first counts, as in the output of `write_verilog`.
                let mut y = a;
                for (i, by) in s.iter().enumerate().rev() {
                    y = muxed(aig, *by, &b[i * width..][..width], &y);
                }
                y
            }
            "$shl" | "$sshl" => left(aig, &extended(&a, width, cell.a_signed), &b),
            "$shr" | "$sshr" => {
                let a = extended(&a, width.max(a.len()), cell.a_signed);
                let arithmetic = cell.kind == "$sshr" && cell.a_signed;
                let fill = if arithmetic {
                    *a.last().unwrap_or(&Lit::FALSE)
                } else {
                    Lit::FALSE
                };
                right(aig, &a, &b, width, fill)
            }
            "$shift" | "$shiftx" => {
                let (length, sign) = (a.len(), cell.b_signed.then(|| b.last().copied()).flatten());
                // The shifted bits. Called with ones: which bits of the result come from the vector.
                let moved = |aig: &mut Aig, bits: &[Lit]| {
                    let bits = extended(bits, width.max(length), false);
                    let y = right(aig, &bits, &b, width, Lit::FALSE);
                    let Some(sign) = sign else {
                        return y;
                    };
                    let back = negated(aig, &b);
                    let other = left(aig, &bits, &back);
                    muxed(aig, sign, &other, &y)
                };
                let y = moved(aig, &a);
                if cell.kind == "$shift" {
                    return y;
                }
                // A vector has no bits beyond its last and below its first: such a bit of the result is free.
                let there = moved(aig, &vec![Lit::TRUE; length]);
                let beyond = frame.all(&cell.beyond);
                let bits = y.iter().zip(&there).zip(&beyond);
                bits.map(|((y, there), beyond)| aig.mux(*there, *y, *beyond))
                    .collect()
            }
            _ => {
                let memory = &self.memories[cell.memory];
                let words = &frame.memories[cell.memory];
                let mut level: Vec<Vec<Lit>> =
                    words.chunks(memory.width).map(<[Lit]>::to_vec).collect();
                let beyond = frame.all(&cell.beyond);
                for by in &a {
                    if level.len() % 2 == 1 {
                        level.push(beyond.clone());
                    }
                    let pairs = level.chunks(2);
                    level = pairs
                        .map(|pair| muxed(aig, *by, &pair[1], &pair[0]))
                        .collect();
                }
                level.into_iter().next().unwrap_or(beyond)
            }
        }
    }
}

pub(in crate::mutate) fn extended(bits: &[Lit], width: usize, signed: bool) -> Vec<Lit> {
    let fill = match bits.last() {
        Some(last) if signed => *last,
        _ => Lit::FALSE,
    };
    let mut bits = bits.to_vec();
    bits.resize(width, fill);
    bits
}

fn inverted(bits: &[Lit]) -> Vec<Lit> {
    bits.iter().map(|bit| !*bit).collect()
}

/// Returns the bits of `yes` where `by` holds, else those of `no`.
fn muxed(aig: &mut Aig, by: Lit, yes: &[Lit], no: &[Lit]) -> Vec<Lit> {
    let both = yes.iter().zip(no);
    both.map(|(yes, no)| aig.mux(by, *yes, *no)).collect()
}

/// Returns where two vectors differ, bit by bit.
pub(crate) fn unlike(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
    a.iter().zip(b).map(|(a, b)| aig.xor(*a, *b)).collect()
}

/// Returns whether two vectors of the same width differ.
pub(in crate::mutate) fn differ(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Lit {
    let differ = unlike(aig, a, b);
    aig.any(differ)
}

/// Returns whether `a` is less than `b`, of the same width and with a bit to spare: the sign of the difference decides.
pub(in crate::mutate) fn less(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Lit {
    let (difference, _) = sum(aig, a, &inverted(b), Lit::TRUE);
    *difference.last().unwrap_or(&Lit::FALSE)
}

/// Returns the sum of two numbers of the same width, and the carry.
pub(in crate::mutate) fn sum(
    aig: &mut Aig,
    a: &[Lit],
    b: &[Lit],
    mut carry: Lit,
) -> (Vec<Lit>, Lit) {
    let mut total = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        let half = aig.xor(*a, *b);
        total.push(aig.xor(half, carry));
        let (both, through) = (aig.and(*a, *b), aig.and(half, carry));
        carry = aig.or(both, through);
    }
    (total, carry)
}

fn negated(aig: &mut Aig, bits: &[Lit]) -> Vec<Lit> {
    let nothing = vec![Lit::FALSE; bits.len()];
    sum(aig, &inverted(bits), &nothing, Lit::TRUE).0
}

pub(super) fn is_number(aig: &mut Aig, bits: &[Lit], number: usize) -> Lit {
    let mut is = Lit::TRUE;
    for (i, bit) in bits.iter().enumerate() {
        let wanted = i < usize::BITS as usize && number >> i & 1 == 1;
        is = aig.and(is, if wanted { *bit } else { !*bit });
    }
    is
}

/// Returns the low `width` bits of `bits` shifted right by `by`, with `fill` shifted in. Only bits that can reach the result are
/// computed: one bit read from a vector takes far fewer gates than the whole vector shifted.
fn right(aig: &mut Aig, bits: &[Lit], by: &[Lit], width: usize, fill: Lit) -> Vec<Lit> {
    let far = |k: usize| 1usize.checked_shl(k as u32).unwrap_or(usize::MAX);
    // Which bits are needed after each step, from the last step back.
    let mut looked: Vec<bool> = (0..bits.len()).map(|i| i < width).collect();
    let mut behind = Vec::with_capacity(by.len());
    for k in (0..by.len()).rev() {
        behind.push(looked.clone());
        let before = |i: usize| i.checked_sub(far(k)).is_some_and(|i| looked[i]);
        looked = (0..looked.len()).map(|i| looked[i] || before(i)).collect();
    }
    let mut y = bits.to_vec();
    for (k, (by, looked)) in by.iter().zip(behind.into_iter().rev()).enumerate() {
        for i in (0..y.len()).filter(|i| looked[*i]) {
            // `i` goes up, so `y[i + far]` still holds the bit from before this step.
            let from = i.checked_add(far(k)).and_then(|j| y.get(j)).copied();
            y[i] = aig.mux(*by, from.unwrap_or(fill), y[i]);
        }
    }
    y.truncate(width);
    y
}

fn left(aig: &mut Aig, bits: &[Lit], by: &[Lit]) -> Vec<Lit> {
    let mut y = bits.to_vec();
    for (k, by) in by.iter().enumerate() {
        let far = 1usize.checked_shl(k as u32).unwrap_or(usize::MAX);
        y = (0..y.len())
            .map(|i| {
                let from = i.checked_sub(far).map_or(Lit::FALSE, |j| y[j]);
                aig.mux(*by, from, y[i])
            })
            .collect();
    }
    y
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Reads a part of `width` bits from a vector of `length` bits at every index of `index_bits` bits: bit i of the part is bit
    /// i + index of the vector or, if there is none, an input of its own.
    fn parts_are_right(length: usize, index_bits: usize, signed: bool, width: usize) {
        let wires = |first: usize, count: usize| (first..first + count).collect::<Vec<_>>();
        let (a, b) = (wires(2, length), wires(2 + length, index_bits));
        let y = wires(2 + length + index_bits, width);
        let binary = |n: usize| format!("{n:032b}");
        let ports = json!({
            "a": {"direction": "input", "bits": a},
            "b": {"direction": "input", "bits": b},
            "y": {"direction": "output", "bits": y},
        });
        let cell = json!({
            "type": "$shiftx",
            "parameters": {"A_SIGNED": "0", "B_SIGNED": if signed { "1" } else { "0" }, "A_WIDTH": binary(length),
                           "B_WIDTH": binary(index_bits), "Y_WIDTH": binary(width)},
            "port_directions": {"A": "input", "B": "input", "Y": "output"},
            "connections": {"A": a, "B": b, "Y": y},
        });
        let module = json!({"ports": ports, "cells": {"part": cell}, "netnames": {}});
        let circuit = Circuit::read(&json!({"modules": {"m": module}}).to_string(), "m").unwrap();
        let mut aig = Aig::new();
        let free = circuit.open(&mut aig);
        let port = |name: &str| -> Vec<Lit> {
            let wires = circuit.input(name).unwrap();
            wires.iter().map(|wire| free[*wire]).collect()
        };
        let (a, b) = (port("a"), port("b"));
        let frame = circuit.step(&mut aig, &[], &free);
        let y = circuit.outputs(&frame).remove(0).1;
        let half = if signed { 1 << (index_bits - 1) } else { 0 };
        for index in -half..(1 << index_bits) - half {
            let bit = |n: usize| if index >> n & 1 == 1 { b[n] } else { !b[n] };
            let case: Vec<Lit> = (0..index_bits).map(bit).collect();
            let found = aig.supposed(&case, &y);
            let at = format!("{width} of {length} at {index}");
            for (i, found) in found.iter().enumerate() {
                let from = usize::try_from(i as isize + index).ok();
                match from.and_then(|from| a.get(from)) {
                    Some(bit) => assert_eq!(found, bit, "bit {i}, {at}"),
                    None => {
                        let known = [&a[..], &[Lit::TRUE, Lit::FALSE]].concat();
                        assert!(!known.contains(found), "bit {i}, {at}: known");
                    }
                }
            }
            let apart = (1..width).all(|i| !found[..i].contains(&found[i]));
            assert!(apart, "{at}: two bits are the same");
        }
    }

    /// Regression: for an index below 0 every bit was free, although the upper part lies in the vector. Slang writes assignments to
    /// a part of a vector in this way.
    #[test]
    fn a_part_that_begins_below_a_vector_has_the_vector_above_it() {
        parts_are_right(2, 3, true, 4);
        parts_are_right(5, 4, true, 3);
    }

    /// Regression: the bits beyond a vector of 5 were 0 at indexes 5 to 7 instead of free.
    #[test]
    fn what_is_read_behind_a_vector_is_open() {
        for length in 1..10 {
            for index_bits in 1..5 {
                for width in [1, 3, 10] {
                    parts_are_right(length, index_bits, false, width);
                }
            }
        }
    }

    #[test]
    fn a_bit_read_out_of_a_vector_is_the_one_at_the_index_and_takes_a_multiplexer_for_each_bit_of_the_vector()
     {
        let mut aig = Aig::new();
        let vector: Vec<Lit> = (0..8).map(|_| aig.input()).collect();
        let index: Vec<Lit> = (0..4).map(|_| aig.input()).collect();
        let beyond = aig.input();
        let before = aig.size();
        let found = right(&mut aig, &vector, &index, 1, beyond);
        // A multiplexer has three gates.
        assert!(aig.size() - before <= 3 * vector.len());
        for number in 0..16 {
            let holds =
                |(bit, lit): (usize, &Lit)| if number >> bit & 1 == 1 { *lit } else { !*lit };
            let case: Vec<Lit> = index.iter().enumerate().map(holds).collect();
            let expected = vector.get(number).copied().unwrap_or(beyond);
            assert_eq!(aig.supposed(&case, &found), [expected]);
        }
    }
}
