//! The order in which cells are computed, and loops that only some mutants close.
//!
//! A mutant of an index or of an instance's input may feed a wire back to itself. In the netlist with all mutants the loop is always
//! there; with another mutant selected, or none, a multiplexer with a constant choice opens it.

use std::collections::HashMap;

use super::registers::LOAD;
use super::{Aig, Bit, Cell, Circuit, Lit, TimeFrame};

/// Why logic with a loop is refused.
pub(super) const LOOP: &str = "netlist: logic that feeds itself, as a latch does";

impl Circuit {
    /// Sorts the cells, finds the wires that nothing drives, and those that are fed back. What a [`LOAD`] reads does not count.
    pub(super) fn sort(&mut self) {
        let mut driver: Vec<Option<usize>> = vec![None; self.wires];
        for (i, cell) in self.cells.iter().enumerate() {
            for y in &cell.y {
                driver[*y] = Some(i);
            }
        }
        let mut driven: Vec<bool> = driver.iter().map(Option::is_some).collect();
        for register in &self.registers {
            driven[register.held] = true;
        }
        self.free = (0..self.wires).filter(|w| !driven[*w]).collect();
        self.fed_back.clear();
        // 0: not visited; 1: the cells that it needs are being sorted; 2: done.
        let mut state = vec![0u8; self.cells.len()];
        let mut order = Vec::with_capacity(self.cells.len());
        for first in 0..self.cells.len() {
            let mut open = vec![first];
            while let Some(&cell) = open.last() {
                if state[cell] == 2 {
                    open.pop();
                } else if state[cell] == 1 {
                    state[cell] = 2;
                    order.push(cell);
                    open.pop();
                } else {
                    state[cell] = 1;
                    let loads = self.cells[cell].kind == LOAD;
                    for wire in self.cells[cell].reads().filter(|_| !loads) {
                        match driver[wire].map(|need| (need, state[need])) {
                            Some((_, 1)) => self.fed_back.push(wire),
                            Some((need, 0)) => open.push(need),
                            _ => {}
                        }
                    }
                }
            }
        }
        self.fed_back.sort_unstable();
        self.fed_back.dedup();
        let mut cells: Vec<Option<Cell>> = self.cells.drain(..).map(Some).collect();
        self.cells = order.into_iter().filter_map(|i| cells[i].take()).collect();
    }

    /// Computes every cell of `frame`. A wire in `given` carries its value there.
    pub(super) fn settle(&self, aig: &mut Aig, frame: &mut TimeFrame, given: &HashMap<usize, Lit>) {
        if self.fed_back.is_empty() {
            return self.compute(aig, frame, given);
        }
        // A loop is open if what it feeds does not depend on the value with which it began.
        let [first, second] = [(); 2].map(|()| {
            for wire in &self.fed_back {
                frame.values[*wire] = aig.input();
            }
            let mut fed = Vec::new();
            // Each time at least one more wire has its value.
            for _ in 0..=self.fed_back.len() {
                self.compute(aig, frame, given);
                let now = self.fed_back.iter().map(|wire| frame.values[*wire]);
                let now: Vec<Lit> = now.collect();
                if now == fed {
                    break;
                }
                fed = now;
            }
            fed
        });
        frame.feeds_itself = first != second;
    }

    fn compute(&self, aig: &mut Aig, frame: &mut TimeFrame, given: &HashMap<usize, Lit>) {
        for cell in &self.cells {
            let y = self.cell(aig, frame, cell);
            for (wire, value) in cell.y.iter().zip(y) {
                frame.values[*wire] = given.get(wire).copied().unwrap_or(value);
            }
        }
    }
}

impl Cell {
    /// Returns the wires that it reads.
    pub(super) fn reads(&self) -> impl Iterator<Item = usize> {
        let bits = self.a.iter().chain(&self.b).chain(&self.s);
        bits.filter_map(|bit| match bit {
            Bit::Wire(wire) => Some(*wire),
            Bit::Is(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Regression: a mutant of an index that closes a loop made the referee refuse the RTL with all its mutants.
    #[test]
    fn a_loop_counts_only_in_the_mutant_that_closes_it() {
        // y = select ? y : d, as Yosys may write it, and z = y | d.
        let mux = json!({
            "type": "$mux", "parameters": {"WIDTH": "1"},
            "connections": {"A": [3], "B": [4], "S": [2], "Y": [4]},
        });
        let latch = json!({
            "type": "$dlatch", "parameters": {"WIDTH": "1", "EN_POLARITY": "0"},
            "connections": {"EN": [2], "D": [3], "Q": [4]},
        });
        let input = |wire: usize| json!({"direction": "input", "bits": [wire]});
        for y in [mux, latch] {
            let text = json!({"modules": {"m": {
                "ports": {
                    "select": input(2), "d": input(3),
                    "z": {"direction": "output", "bits": [5]},
                },
                "cells": {"y": y, "z": {
                    "type": "$or",
                    "parameters": {"A_WIDTH": "1", "B_WIDTH": "1", "Y_WIDTH": "1"},
                    "connections": {"A": [4], "B": [3], "Y": [5]},
                }},
                "netnames": {},
            }}})
            .to_string();
            assert_eq!(Circuit::read(&text, "m").err().as_deref(), Some(LOOP));
            let circuit = Circuit::read_mutants(&text, "m").unwrap();
            let mut aig = Aig::new();
            let d = aig.input();
            let mut frame = |select: Lit| {
                let mut free = vec![Lit::FALSE; circuit.wires()];
                (free[2], free[3]) = (select, d);
                let frame = circuit.step(&mut aig, &[], &free);
                let z = circuit.outputs(&frame)[0].1[0];
                (frame.feeds_itself, z == d)
            };
            assert_eq!(frame(Lit::FALSE), (false, true));
            assert!(frame(Lit::TRUE).0);
        }
    }
}
