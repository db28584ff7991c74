//! A program as a list of instructions that can be removed.

use super::isa::{Alu, Cf, CfOp, Clause, Cond, Word};
use super::program::{Program, Quad, Registers};
use reconverge_program::instructions::{Instructions, Piece, moved, places};

/// Returns the instruction that does nothing: NOP.
fn nop() -> Quad {
    Cf::new(CfOp::Nop).encode()
}

/// Edits of single fields that bring an instruction closer to one that does nothing.
const EDITS: &[fn(&mut Cf)] = &[
    |cf| {
        *cf = Cf {
            addr: cf.addr,
            ..Cf::new(cf.op)
        }
    },
    |cf| {
        if !cf.op.uses_addr() || cf.op.is_fetch() {
            cf.addr = 0;
        }
    },
    |cf| cf.end = false,
    |cf| cf.vpm = false,
    |cf| cf.wqm = false,
    |cf| cf.barrier = true,
    |cf| cf.cond = Cond::Active,
    |cf| cf.cf_const = 0,
    |cf| cf.count = 0,
    |cf| cf.pop_count = 0,
    |cf| cf.pop_count = cf.pop_count.min(1),
    |cf| cf.pop_count = cf.pop_count.min(2),
    |cf| cf.call_count = 0,
    |cf| cf.call_count = cf.call_count.min(1),
];

impl Program {
    fn with_quad(&self, number: usize, quad: Quad) -> Self {
        let mut program = self.clone();
        program.quads[number] = quad;
        program
    }

    fn with_regs(&self, edit: impl FnOnce(&mut Registers)) -> Self {
        let mut program = self.clone();
        edit(&mut program.regs);
        program
    }
}

/// Returns the address in the new program that corresponds to `address`.
fn led(places: &[usize], address: u32) -> u32 {
    // Nothing lies behind the last address.
    usize::try_from(address).map_or(address, |old| {
        u32::try_from(moved(places, old)).unwrap_or(u32::MAX)
    })
}

impl Instructions for Program {
    fn count(&self) -> usize {
        self.quads.len()
    }

    fn is_plain(&self, number: usize) -> bool {
        self.quads[number] == nop()
    }

    fn laid_out(&self, pieces: &[Piece]) -> Self {
        let places = places(pieces, self.quads.len());
        let quads = pieces.iter().map(|piece| {
            let Piece::Old(number) = *piece else {
                return nop();
            };
            let mut quad = self.quads[number];
            if let Word::Cf(cf) = Word::decode(quad)
                && cf.op.uses_addr()
                && !cf.op.is_fetch()
            {
                quad.dw0 = led(&places, quad.dw0);
            }
            quad
        });
        let mut new = Program {
            quads: quads.collect(),
            ..self.with_regs(|_| {})
        };
        new.regs.entry = led(&places, self.regs.entry);
        new.regs.prog_len = led(&places, self.regs.prog_len);
        new
    }

    fn copy(&mut self, to: usize, donor: &Self, from: usize) {
        self.quads[to] = donor.quads[from];
    }

    fn flip(&mut self, number: usize, bit: u32) {
        let quad = &mut self.quads[number];
        match bit % 65 {
            64 => quad.u = !quad.u,
            n if n < 32 => quad.dw0 ^= 1 << n,
            n => quad.dw1 ^= 1 << (n - 32),
        }
    }

    fn simpler(&self) -> Vec<Self> {
        let defaults = Registers::default();
        let length = u32::try_from(self.quads.len()).unwrap_or(u32::MAX);
        let mut all = vec![
            self.with_regs(|r| r.entry = 0),
            self.with_regs(|r| r.prog_len = length),
            self.with_regs(|r| r.bool_const = 0),
            self.with_regs(|r| r.loop_const = [0; 32]),
        ];
        if self.regs.stack_size != defaults.stack_size {
            all.push(self.with_regs(|r| r.stack_size = defaults.stack_size));
        }
        for bit in (0..32).filter(|bit| self.regs.bool_const >> bit & 1 == 1) {
            all.push(self.with_regs(|r| r.bool_const &= !(1 << bit)));
        }
        for (n, k) in self.regs.loop_const.into_iter().enumerate() {
            let mut set = |value: u32| {
                if value != k {
                    all.push(self.with_regs(|r| r.loop_const[n] = value));
                }
            };
            set(0);
            set(k & !0xfff | (k & 0xfff).min(1));
            set(k & !0xfff | (k & 0xfff).min(2));
            set(k & 0x00ff_ffff);
            set(k & 0x01ff_ffff);
            set(k & 0xff00_0fff);
        }
        for (n, quad) in self.quads.iter().enumerate() {
            let mut set = |new: Quad| {
                if new != *quad {
                    all.push(self.with_quad(n, new));
                }
            };
            match Word::decode(*quad) {
                Word::Cf(cf) => {
                    set(cf.encode());
                    for edit in EDITS {
                        let mut changed = cf;
                        edit(&mut changed);
                        set(changed.encode());
                    }
                }
                Word::Alu(alu) => {
                    let u = quad.u;
                    let clause = Clause::default();
                    set(Quad {
                        u,
                        ..Alu { clause, ..alu }.encode()
                    });
                    set(Quad { u: false, ..*quad });
                }
                Word::Mem(_) | Word::Reserved(..) => set(nop()),
            }
        }
        all.retain(|p| p != self);
        all
    }

    fn looped(&self) -> Self {
        let mut program = self.clone();
        let jump = Cf {
            addr: self.regs.entry,
            cond: Cond::False,
            ..Cf::new(CfOp::Jump)
        };
        program.quads.push(jump.encode());
        let length = u32::try_from(program.quads.len()).unwrap_or(u32::MAX);
        program.regs.prog_len = program.regs.prog_len.max(length);
        program
    }

    fn retargeted(&self, number: usize, to: usize) -> Option<Self> {
        let quad = self.quads[number];
        let Word::Cf(cf) = Word::decode(quad) else {
            return None;
        };
        let leads = cf.op.uses_addr() && !cf.op.is_fetch();
        let dw0 = u32::try_from(to).ok().filter(|_| leads)?;
        Some(self.with_quad(number, Quad { dw0, ..quad }))
    }
}
