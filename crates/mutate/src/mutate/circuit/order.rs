//! The order in which cells are computed.

use super::registers::LOAD;
use super::{Bit, Cell, Circuit};

impl Circuit {
    /// Sorts the cells, and finds the wires that nothing drives. What a [`LOAD`] reads does not count.
    ///
    /// # Errors
    /// The logic has a loop.
    pub(super) fn sort(&mut self) -> Result<(), String> {
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
                            Some((_, 1)) => {
                                let why = "netlist: logic that feeds itself, as a latch does";
                                return Err(why.to_owned());
                            }
                            Some((need, 0)) => open.push(need),
                            _ => {}
                        }
                    }
                }
            }
        }
        let mut cells: Vec<Option<Cell>> = self.cells.drain(..).map(Some).collect();
        self.cells = order.into_iter().filter_map(|i| cells[i].take()).collect();
        Ok(())
    }
}

impl Cell {
    /// Returns the bits that it reads.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Bit> {
        self.a.iter().chain(&self.b).chain(&self.s)
    }

    /// Returns the wires that it reads.
    pub(super) fn reads(&self) -> impl Iterator<Item = usize> {
        self.operands().filter_map(|bit| bit.wire())
    }
}
