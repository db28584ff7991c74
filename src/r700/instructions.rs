//! A program as a list of instructions that can be removed.

use super::isa::{Alu, Cf, CfOp, Clause, Cond, Word};
use super::program::{Program, Quad, Registers};
use reconverge_program::instructions::{Edits, Instructions, Piece, moved, places};
use reconverge_program::layout::simpler;

/// Returns the instruction that does nothing: NOP.
fn nop() -> Quad {
    Cf::new(CfOp::Nop).encode()
}

/// Simpler values of a loop constant: of its passes, its step, its first index.
const SIMPLER_CONSTANTS: [fn(u32) -> u32; 6] = [
    |_| 0,
    |k| k & !0xfff | (k & 0xfff).min(1),
    |k| k & !0xfff | (k & 0xfff).min(2),
    |k| k & 0x00ff_ffff,
    |k| k & 0x01ff_ffff,
    |k| k & 0xff00_0fff,
];

impl Program {
    fn with_quad(&self, number: usize, quad: Quad) -> Self {
        let mut program = self.clone();
        program.quads[number] = quad;
        program
    }
}

/// Returns whether it jumps to its address.
fn leads(op: CfOp) -> bool {
    op.uses_addr() && !op.is_fetch()
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
                && leads(cf.op)
            {
                quad.dw0 = led(&places, quad.dw0);
            }
            quad
        });
        let mut new = Program {
            quads: quads.collect(),
            name: self.name.clone(),
            regs: self.regs.clone(),
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
        let mut edits = Edits::of(self);
        edits.with(|p| p.regs.entry = 0);
        edits.with(|p| p.regs.prog_len = length);
        edits.with(|p| p.regs.bool_const = 0);
        edits.with(|p| p.regs.loop_const = [0; 32]);
        edits.with(|p| p.regs.stack_size = defaults.stack_size);
        for bit in 0..32 {
            edits.with(|p| p.regs.bool_const &= !(1 << bit));
        }
        for n in 0..32 {
            for simpler in SIMPLER_CONSTANTS {
                edits.with(|p| p.regs.loop_const[n] = simpler(p.regs.loop_const[n]));
            }
        }
        for (n, quad) in self.quads.iter().enumerate() {
            let mut set = |new: Quad| edits.with(|p| p.quads[n] = new);
            match Word::decode(*quad) {
                Word::Cf(cf) => {
                    set(cf.encode());
                    let addr = match leads(cf.op) {
                        true => cf.addr,
                        false => 0,
                    };
                    for edit in [
                        Cf {
                            addr: cf.addr,
                            ..Cf::new(cf.op)
                        },
                        Cf { addr, ..cf },
                        Cf {
                            cond: Cond::Active,
                            ..cf
                        },
                        Cf { cf_const: 0, ..cf },
                    ] {
                        set(edit.encode());
                    }
                    for words in simpler(Cf::FIELDS, cf.words()) {
                        set(Cf::of(cf.op, words).encode());
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
        edits.all
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

    fn retargeted(&self, number: usize, to: usize) -> Vec<Self> {
        let quad = self.quads[number];
        match (Word::decode(quad), u32::try_from(to)) {
            (Word::Cf(cf), Ok(dw0)) if leads(cf.op) => {
                vec![self.with_quad(number, Quad { dw0, ..quad })]
            }
            _ => Vec::new(),
        }
    }
}
