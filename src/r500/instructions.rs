//! A program as a list of instructions that can be removed.

use super::isa::{AOp, Fc, Op, Type};
use super::program::{MEMORY_SLOTS, Program, Registers, Slot};
use super::shader::Shader;
use reconverge_program::instructions::{Edits, Instructions, Piece, moved, places};
use reconverge_program::layout::simpler;

/// `JUMP_ADDR`, `START_ADDR` and so on have nine bits.
const ADDRESS: u32 = 0x1ff;

/// Returns `word` with the nine bits from `shift` on replaced; the highest address stands for all above it.
fn with_address(word: u32, shift: u32, address: usize) -> u32 {
    let address = u32::try_from(address).unwrap_or(ADDRESS).min(ADDRESS);
    word & !(ADDRESS << shift) | address << shift
}

/// Simpler values of an integer constant: of its count, its step, its first aL.
const SIMPLER_CONSTANTS: [fn(u32) -> u32; 7] = [
    |_| 0,
    |k| k & 0xffff_ff00 | (k & 0xff).min(1),
    |k| k & 0xffff_ff00 | (k & 0xff).min(2),
    |k| k & 0x00ff_ffff,
    |k| k & !0xff_0000,
    |k| k & !0xfe_0000,
    |k| k & !0xff00,
];

impl Program {
    fn with_slot(&self, number: usize, slot: Slot) -> Self {
        let mut program = self.clone();
        program.slots[number] = slot;
        program
    }

    fn with_regs(&self, edit: impl FnOnce(&mut Registers)) -> Self {
        let mut program = self.clone();
        edit(&mut program.regs);
        program
    }

    /// Returns the same program with `OFFSET_ADDR` 0: everything moves down by it, also the code window.
    fn at_zero(&self) -> Self {
        let offset = u32::from(self.regs.offset());
        let mut program = self.with_regs(|regs| {
            let first = regs.code_range & ADDRESS;
            let last = first + (regs.code_range >> 16 & ADDRESS);
            let down = first.saturating_sub(offset);
            regs.code_offset = 0;
            regs.code_range = down | last.saturating_sub(offset).saturating_sub(down) << 16;
        });
        for slot in &mut program.slots {
            if slot.cmn & 3 == Type::Fc.bits() && slot.addr >> 31 == 1 {
                let target = (slot.addr >> 16 & ADDRESS).saturating_sub(offset);
                slot.addr = with_address(slot.addr, 16, target as usize);
            }
        }
        program
    }
}

impl Instructions for Program {
    fn count(&self) -> usize {
        self.slots.len()
    }

    fn address(&self, number: usize) -> u32 {
        u32::from(self.regs.offset()).saturating_add(number as u32)
    }

    fn number(&self, pc: u32) -> Option<usize> {
        let number = pc.checked_sub(self.regs.offset().into())? as usize;
        (number < self.slots.len()).then_some(number)
    }

    fn is_plain(&self, number: usize) -> bool {
        self.slots[number].cmn & 3 != Type::Fc.bits()
    }

    fn laid_out(&self, pieces: &[Piece]) -> Self {
        let places = places(pieces, self.slots.len());
        let offset = usize::from(self.regs.offset());
        let slots = pieces.iter().map(|piece| {
            let Piece::Old(number) = *piece else {
                return Slot::default();
            };
            let mut slot = self.slots[number];
            if slot.cmn & 3 == Type::Fc.bits() {
                let target = (slot.addr >> 16 & ADDRESS) as usize;
                // Absolute, or counted from OFFSET_ADDR (r500-2.4).
                let base = if slot.addr >> 31 == 1 { offset } else { 0 };
                if let Some(old) = target.checked_sub(base) {
                    slot.addr = with_address(slot.addr, 16, base + moved(&places, old));
                }
            }
            slot
        });
        let regs = &self.regs;
        let (start, end) = (usize::from(regs.start()), usize::from(regs.end()));
        // The end is an instruction; if it is removed, the end is the last one before it.
        let last_before = |p: &Piece| p.original().is_some_and(|n| n <= end);
        let last = match pieces.iter().rposition(last_before) {
            _ if end >= self.slots.len() => moved(&places, end),
            at => at.unwrap_or(0),
        };
        let first = (regs.code_range & ADDRESS) as usize;
        let window = first + (regs.code_range >> 16 & ADDRESS) as usize;
        let mut new = Program {
            slots: slots.take(MEMORY_SLOTS - offset).collect(),
            ..self.with_regs(|_| {})
        };
        new.regs.code_addr = with_address(new.regs.code_addr, 0, moved(&places, start));
        new.regs.code_addr = with_address(new.regs.code_addr, 16, last);
        // A code window that ended within the program, or right behind it, does so again.
        if let Some(old) = window
            .checked_sub(offset)
            .filter(|n| *n <= self.slots.len())
        {
            let first = first
                .checked_sub(offset)
                .map_or(first, |n| offset + moved(&places, n));
            let size = (offset + moved(&places, old)).saturating_sub(first);
            new.regs.code_range = with_address(new.regs.code_range, 0, first);
            new.regs.code_range = with_address(new.regs.code_range, 16, size);
        }
        new
    }

    fn copy(&mut self, to: usize, donor: &Self, from: usize) {
        self.slots[to] = donor.slots[from];
    }

    fn flip(&mut self, number: usize, bit: u32) {
        let slot = &mut self.slots[number];
        let words = [&mut slot.cmn, &mut slot.inst, &mut slot.addr];
        *words[(bit / 32) as usize % words.len()] ^= 1 << (bit % 32);
    }

    fn led(&self, pieces: &[Piece], address: u32) -> u32 {
        let places = places(pieces, self.slots.len());
        let offset = u32::from(self.regs.offset());
        match address.checked_sub(offset) {
            Some(old) => (offset + moved(&places, old as usize) as u32).min(2 * ADDRESS),
            None => address,
        }
    }

    fn simpler(&self) -> Vec<Self> {
        let defaults = Registers::default();
        let last = self.slots.len().saturating_sub(1);
        let mut edits = Edits::of(self);
        edits.with(|p| p.shader = Shader::default());
        edits.with(|p| *p = p.at_zero());
        edits.with(|p| p.regs.code_range = defaults.code_range);
        edits.with(|p| p.regs.code_offset &= ADDRESS);
        edits.with(|p| p.regs.code_range &= 0x01ff_01ff);
        edits.with(|p| p.regs.code_addr &= 0x01ff_01ff);
        edits.with(|p| p.regs.code_addr &= !ADDRESS);
        edits.with(|p| p.regs.code_addr = with_address(p.regs.code_addr, 16, last));
        edits.with(|p| p.regs.fc_ctrl = defaults.fc_ctrl);
        edits.with(|p| p.regs.fc_ctrl &= 1 << 31);
        edits.with(|p| p.regs.bool_const = 0);
        edits.with(|p| p.regs.int_const = [0; 32]);
        for bit in 0..32 {
            edits.with(|p| p.regs.bool_const &= !(1 << bit));
        }
        for n in 0..32 {
            for simpler in SIMPLER_CONSTANTS {
                edits.with(|p| p.regs.int_const[n] = simpler(p.regs.int_const[n]));
            }
        }
        for (n, slot) in self.slots.iter().enumerate() {
            let mut set = |slot: Slot| edits.with(|p| p.slots[n] = slot);
            let Some(fc) = Fc::decode(*slot) else {
                set(Slot::default());
                continue;
            };
            let words @ [_, inst, addr] = fc.words();
            set(fc.encode());
            let first = [
                [Fc::NOP.words()[0], inst, addr],
                Fc { op: Op::Jump, ..fc }.words(),
            ];
            for edit in first.into_iter().chain(simpler(Fc::FIELDS, words)) {
                // The bits that belong to no field are an edit of their own.
                if edit != words {
                    set(Fc::of(edit).encode());
                }
            }
        }
        edits.all
    }

    fn looped(&self) -> Self {
        let jump = Fc {
            jump_func: 0xff,
            jump_addr: self.regs.start(),
            ..Fc::NOP
        };
        let mut program = self.clone();
        program.slots.push(jump.encode());
        // The end is behind it: the unit is done at END_ADDR.
        let end = program.slots.len();
        program.slots.push(Slot::default());
        program.regs.code_addr = with_address(program.regs.code_addr, 16, end);
        program
    }

    fn retargeted(&self, number: usize, to: usize) -> Vec<Self> {
        let jump = Fc::decode(self.slots[number]).filter(|fc| fc.a_op != AOp::Pop);
        let led = jump.map(|mut fc| {
            fc.jump_global = false;
            fc.jump_addr = to.min(ADDRESS as usize) as u16;
            self.with_slot(number, fc.encode())
        });
        led.into_iter().collect()
    }
}
