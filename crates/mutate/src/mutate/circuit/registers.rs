//! Registers, and what an asynchronous reset does to them.
//!
//! A frame is one cycle, and the reset acts in the whole of the cycle that asserts it: the outputs of its registers have their reset
//! values before the edge, and so has what they hold after it. Where these values are read from registers, as in a mutant that leaves
//! out a reset, they are what the registers held before the reset.

use std::collections::HashMap;

use serde_json::Value;

use super::numbers::number;
use super::{Aig, Bit, Cell, Circuit, JsonCell, Lit, Reader, Register, driven};

/// Kinds of registers that [`Circuit::register`] knows.
pub(super) const KINDS: &[&str] = &["$dff", "$dffe", "$adff", "$adffe", "$aldff", "$aldffe"];

/// A cell that passes on what a reset gives a register, if that is no constant.
pub(super) const LOAD: &str = "$load";

impl Circuit {
    /// Adds the register `cell`.
    pub(super) fn register(
        &mut self,
        name: &str,
        cell: &JsonCell,
        reader: &mut Reader,
    ) -> Result<(), String> {
        let mut of = |port: &str| reader.port(cell, port);
        let (mut d, q, enable) = (of("D"), of("Q"), of("EN"));
        let (resets, value, polarity) = match cell.kind.trim_end_matches('e') {
            "$adff" => {
                let value = cell.parameters.get("ARST_VALUE").and_then(Value::as_str);
                let value = value.ok_or("no ARST_VALUE")?;
                let digit = |digit: char| Value::String(digit.to_string());
                let digits: Vec<Value> = value.chars().rev().map(digit).collect();
                (of("ARST"), reader.bits(&digits), "ARST_POLARITY")
            }
            "$aldff" => {
                let (reset, value) = (of("ALOAD"), of("AD"));
                (reset, self.plain(LOAD, value, reader), "ALOAD_POLARITY")
            }
            _ => (Vec::new(), d.clone(), ""),
        };
        if d.len() != q.len() || value.len() != q.len() {
            return Err("D, Q and the reset value have different widths".to_owned());
        }
        if let [enable] = enable[..] {
            let high = number(cell, "EN_POLARITY") == 1;
            d = self.chosen(enable, high, [d, q.clone()], reader)?;
        }
        let mut held = q.clone();
        if let [reset] = resets[..] {
            let high = number(cell, polarity) == 1;
            let place = cell.attributes.get("src").and_then(Value::as_str);
            let known = |(other, level, _): &(Bit, bool, String)| (*other, *level) == (reset, high);
            if !self.resets.iter().any(known) {
                let place = place.unwrap_or(name).to_owned();
                self.resets.push((reset, high, place));
            }
            held = q.iter().map(|_| reader.fresh()).collect();
            self.choose(reset, high, [value.clone(), held.clone()], &q)?;
            d = self.chosen(reset, high, [value, d], reader)?;
        }
        for ((q, held), d) in q.into_iter().zip(held).zip(d) {
            if let (Bit::Wire(q), Bit::Wire(held)) = (q, held) {
                self.registers.push(Register { q, held, d });
            }
        }
        Ok(())
    }

    /// Checks that input `clock` clocks all registers and memories while `selectors` select no mutant, and that no register has another
    /// asynchronous reset than the input `reset`, with its active level. A frame is one cycle of
    /// this clock: a register with another one would change at other times than it says.
    ///
    /// # Errors
    /// Another clock or reset, with the place in the text of a register or memory that has it.
    pub fn check_clock(
        &self,
        clock: &str,
        reset: Option<(&str, bool)>,
        selectors: &[(usize, usize)],
    ) -> Result<(), String> {
        let mut aig = Aig::new();
        let (state, mut free) = (self.anything(&mut aig), self.open(&mut aig));
        for (wire, _) in selectors {
            free[*wire] = Lit::FALSE;
        }
        let frame = self.step(&mut aig, &state, &free);
        let input = |name| self.input(name)?.first().map(|wire| free[*wire]);
        let value = input(clock);
        let other = (self.clocks.iter()).find(|(bit, _)| Some(frame.get(*bit)) != value);
        if let Some((_, place)) = other {
            return Err(format!("{place}: its clock is not the input {clock}"));
        }
        let level = |lit: Lit, high: bool| if high { lit } else { !lit };
        let asserted = reset.and_then(|(name, high)| Some(level(input(name)?, high)));
        let mut resets = self.resets.iter();
        let other = resets.find(|(bit, high, _)| Some(level(frame.get(*bit), *high)) != asserted);
        other.map_or(Ok(()), |(_, _, place)| {
            Err(match reset {
                Some((name, _)) => {
                    format!("{place}: its asynchronous reset is not the input {name}")
                }
                None => {
                    format!("{place}: its reset is asynchronous; the declaration does not say so")
                }
            })
        })
    }

    /// Adds the choice of the first of `values` while `select` is 1, or if it is not `high`, 0; otherwise of the second. Returns its
    /// bits.
    fn chosen(
        &mut self,
        select: Bit,
        high: bool,
        values: [Vec<Bit>; 2],
        reader: &mut Reader,
    ) -> Result<Vec<Bit>, String> {
        let to: Vec<Bit> = values[0].iter().map(|_| reader.fresh()).collect();
        self.choose(select, high, values, &to)?;
        Ok(to)
    }

    /// Adds a cell `kind` that passes `from` on. Returns its bits.
    fn plain(&mut self, kind: &str, from: Vec<Bit>, reader: &mut Reader) -> Vec<Bit> {
        let y: Vec<usize> = from.iter().map(|_| reader.fresh_wire()).collect();
        let to = y.iter().map(|wire| Bit::Wire(*wire)).collect();
        self.cells
            .push(Cell::new(kind, [from, Vec::new(), Vec::new()], y));
        to
    }

    /// Makes every [`LOAD`] pass on what is computed from the registers as they were before the reset.
    pub(super) fn load_from_before(&mut self, reader: &mut Reader) -> Result<(), String> {
        if !self.cells.iter().any(|cell| cell.kind == LOAD) {
            return Ok(());
        }
        let held = self.registers.iter();
        let mut held: HashMap<usize, Bit> = held.map(|r| (r.q, Bit::Wire(r.held))).collect();
        let mut wanted = vec![false; self.wires];
        for cell in self.cells.iter().filter(|cell| cell.kind == LOAD) {
            cell.reads().for_each(|wire| wanted[wire] = true);
        }
        let mut before = Vec::new();
        for (at, cell) in self.cells.iter().enumerate().rev() {
            let is = |wire: &usize| wanted[*wire] && !held.contains_key(wire);
            if cell.y.iter().any(is) {
                cell.reads().for_each(|wire| wanted[wire] = true);
                before.push(at);
            }
        }
        let was = |held: &HashMap<usize, Bit>, bits: &mut Vec<Bit>| {
            for bit in bits {
                let was = bit.wire().and_then(|wire| held.get(&wire));
                *bit = was.copied().unwrap_or(*bit);
            }
        };
        for at in before.into_iter().rev() {
            let mut cell = self.cells[at].clone();
            if cell.reads().any(|wire| held.contains_key(&wire)) {
                for wire in &mut cell.y {
                    let fresh = reader.fresh_wire();
                    held.insert(*wire, Bit::Wire(fresh));
                    *wire = fresh;
                }
                for bits in [&mut cell.a, &mut cell.b, &mut cell.s] {
                    was(&held, bits);
                }
                self.cells.push(cell);
            }
        }
        for cell in self.cells.iter_mut().filter(|cell| cell.kind == LOAD) {
            was(&held, &mut cell.a);
            cell.kind = "$buf".to_owned();
        }
        self.wires = reader.wires;
        self.sort()
    }

    /// Adds the same choice with the result `to`.
    pub(super) fn choose(
        &mut self,
        select: Bit,
        high: bool,
        [asserted, released]: [Vec<Bit>; 2],
        to: &[Bit],
    ) -> Result<(), String> {
        let y = driven(to)?;
        let [a, b] = match high {
            true => [released, asserted],
            false => [asserted, released],
        };
        self.cells.push(Cell::new("$mux", [a, b, vec![select]], y));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A register `kind` of one bit with the ports of `more` and the parameters of `set`. Wires: 2 clock, 3 reset, 4 D, 5 Q, 6 enable,
    /// 7 the value that is loaded.
    fn circuit(kind: &str, set: &Value, more: &Value) -> Circuit {
        let input = |wire: usize| json!({"direction": "input", "bits": [wire]});
        let mut cell = json!({
            "type": kind,
            "parameters": {"CLK_POLARITY": "1", "WIDTH": "1"},
            "attributes": {"src": "m.sv:7.3-9.6"},
            "connections": {"CLK": [2], "D": [4], "Q": [5]},
        });
        for (into, from) in [("parameters", set), ("connections", more)] {
            let from = from.as_object().unwrap().clone();
            cell[into].as_object_mut().unwrap().extend(from);
        }
        let design = json!({"modules": {"m": {
            "ports": {
                "clk": input(2), "rst": input(3), "d": input(4), "en": input(6), "ad": input(7),
                "q": {"direction": "output", "bits": [5]},
            },
            "cells": {"q": cell},
            "netnames": {"q": {"bits": [5], "hide_name": 0}},
        }}});
        Circuit::read(&design.to_string(), "m").unwrap()
    }

    /// What the output shows in a cycle, and what the register holds after it, if it held `held`.
    fn cycle(circuit: &Circuit, held: bool, inputs: &[(&str, bool)]) -> (bool, bool) {
        let mut free = vec![Lit::FALSE; circuit.wires];
        for (name, value) in inputs {
            free[circuit.input(name).unwrap()[0]] = (*value).into();
        }
        let frame = circuit.step(&mut Aig::new(), &[held.into()], &free);
        let is = |lit: Lit| {
            assert!([Lit::FALSE, !Lit::FALSE].contains(&lit), "not a constant");
            lit != Lit::FALSE
        };
        (is(circuit.outputs(&frame)[0].1[0]), is(frame.next[0]))
    }

    #[test]
    fn an_asynchronous_reset_acts_in_its_cycle_and_is_held_after_it() {
        for (level, value) in [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")] {
            let (high, to) = (level == "1", value == "1");
            let arst = json!({"ARST_POLARITY": level, "ARST_VALUE": value});
            let plain = circuit("$adff", &arst, &json!({"ARST": [3]}));
            let aload = json!({"ALOAD_POLARITY": level});
            let loads = circuit("$aldff", &aload, &json!({"ALOAD": [3], "AD": [7]}));
            let mut set = arst.clone();
            set["EN_POLARITY"] = "1".into();
            let enabled = circuit("$adffe", &set, &json!({"ARST": [3], "EN": [6]}));
            for bits in 0..16 {
                let [held, asserted, d, en] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
                let pins = [("rst", asserted == high), ("d", d), ("en", en), ("ad", to)];
                let of = |next| if asserted { (to, to) } else { (held, next) };
                assert_eq!(cycle(&plain, held, &pins), of(d), "{level} {bits:04b}");
                assert_eq!(cycle(&loads, held, &pins), of(d), "{level} {bits:04b}");
                let next = if en { d } else { held };
                assert_eq!(cycle(&enabled, held, &pins), of(next), "{level} {bits:04b}");
            }
            assert_eq!(plain.places("q"), Some(vec![0]));
        }
    }

    /// Regression: a mutant that leaves out a reset was refused, with all others, as logic that feeds itself.
    #[test]
    fn a_register_whose_reset_is_left_out_keeps_what_it_held() {
        let way = json!({"ALOAD_POLARITY": "1"});
        let circuit = circuit("$aldff", &way, &json!({"ALOAD": [3], "AD": [5]}));
        for bits in 0..8 {
            let [held, reset, d] = [1, 2, 4].map(|bit| bits & bit != 0);
            let next = if reset { held } else { d };
            let pins = [("rst", reset), ("d", d)];
            assert_eq!(cycle(&circuit, held, &pins), (held, next), "{bits:03b}");
        }
    }

    #[test]
    fn a_register_with_another_reset_than_is_declared_is_refused() {
        let low = json!({"ARST_POLARITY": "0", "ARST_VALUE": "0"});
        let circuit = circuit("$adff", &low, &json!({"ARST": [3]}));
        let check = |reset| circuit.check_clock("clk", reset, &[]);
        assert_eq!(check(Some(("rst", false))), Ok(()));
        for other in [("rst", true), ("en", false)] {
            let why = format!(
                "m.sv:7.3-9.6: its asynchronous reset is not the input {}",
                other.0
            );
            assert_eq!(check(Some(other)), Err(why));
        }
        let why = "m.sv:7.3-9.6: its reset is asynchronous; the declaration does not say so";
        assert_eq!(check(None), Err(why.to_owned()));
    }
}
