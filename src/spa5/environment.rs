//! The surroundings of the unit: instruction memory, and the predicates, condition codes and registers of the
//! threads (spa5-4, spa5-A).

use rand::Rng;

use super::Spa5;
use super::program::Program;
use super::state::{In, State};
use crate::unit::{Environment, Pins, Programs as _};
use reconverge_program::case::Case;
use reconverge_program::environment::{Draw, Noise, Planes, only_one};
use reconverge_program::generate::within;

/// Returns whether the unit only passes a word through: it is neither in the opcode block nor SYNC (spa5-2.3).
fn is_other(word: u64) -> bool {
    !matches!(word >> 56, 0xE2 | 0xE3) && word & 0xFFF8_0000_0000_0000 != 0xF0F8_0000_0000_0000
}

/// Returns whether a word is a BRX or JMX with its target in a register (spa5-A).
fn is_brx(word: u64) -> bool {
    matches!(word >> 52, 0xE20 | 0xE25) && word >> 5 & 1 == 0
}

/// Returns whether a word takes its offset from a constant bank, or has bit 5 although it has no such form (spa5-2.3-n).
fn is_bank(word: u64) -> bool {
    matches!(word >> 52, 0xE20..=0xE2B) && word >> 5 & 1 == 1
}

/// Returns the condition bits that `word` may use: its predicate unless that is PT, and the condition codes unless
/// its CC test is T (spa5-2.4).
fn looked_at(word: u64) -> impl Iterator<Item = usize> {
    let predicate = (word >> 16 & 7) as usize;
    let codes = match word & 0x1f {
        0x0f => 0..0,
        _ => 7..11,
    };
    (predicate..predicate + 1).filter(|n| *n != 7).chain(codes)
}

/// Returns whether a word may have a CC test of the clip state machine (spa5-2.4-e).
pub(super) fn tests_clip(word: u64) -> bool {
    word >> 3 & 3 == 3
}

/// Returns the threads for which a step from `before` to `after` with `word` counts: those that were active. A BRX or JMX
/// counts for the threads that leave it; threads that stay to run it again are counted when they leave.
pub fn counts(before: &State, word: u64, after: &State) -> u64 {
    Asked::of(before, word).counts(after)
}

/// The instruction requested for a step.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    /// The word.
    word: u64,
    /// Threads that were active.
    active: u64,
    /// The address of the word, and the number of tokens on the stack.
    pc: u32,
    sp: u16,
}

impl Asked {
    fn of(before: &State, word: u64) -> Self {
        Asked {
            word,
            active: before.active,
            pc: before.pc,
            sp: before.sp,
        }
    }

    /// Returns the same as the function [`counts`].
    fn counts(&self, after: &State) -> u64 {
        let all = self.active;
        if !is_brx(self.word) || after.sp != self.sp + 1 {
            return all;
        }
        if after.top_addr == self.pc {
            // The others wait in a DIV token that leads here again.
            after.active
        } else {
            // Its condition divided the threads: those that will jump are still here.
            all & !after.active
        }
    }
}

/// The black boxes around one warp.
#[derive(Debug)]
pub struct Surroundings {
    program: Program,
    /// P0 to P6, then Z, S, C, O.
    conditions: Planes<11>,
    /// The unit has BRX and JMX.
    brx: bool,
    /// The unit has the CC tests of the clip state machine.
    csm: bool,
    /// Noise that is true for all active threads but one: only in this way, one at a time, do they all end in separate DIV
    /// tokens (spa5-I4).
    peels: bool,
    asked: Asked,
}

impl Surroundings {
    /// Returns each thread's register for the BRX or JMX `word` at `pc`: a target from the compiler's list, less the base
    /// that the unit adds (contract-7-f).
    fn registers(&self, pc: u32, word: u64) -> [u32; 64] {
        let mut registers = [0; 64];
        let Some(targets) = self.program.targets.get(&pc).filter(|t| !t.is_empty()) else {
            return registers;
        };
        let base = match word >> 52 {
            // Bits 51:20.
            0xE20 => (word >> 20) as u32,
            // Bits 43:20, sign extended.
            _ => pc
                .wrapping_add(8)
                .wrapping_add(((word << 20) as i64 >> 40) as u32),
        };
        for (lane, r) in (0..).zip(&mut registers) {
            let number = (self.conditions.last_word(lane) >> 44) as usize % targets.len();
            *r = targets[number].wrapping_sub(base);
        }
        registers
    }
}

impl Environment<Spa5> for Surroundings {
    fn new(case: &Case<Spa5>) -> Self {
        Surroundings {
            program: case.program.clone(),
            conditions: Planes::new(case),
            brx: case.build().value::<Spa5>("BRX") == 1,
            csm: case.build().value::<Spa5>("CSM") == 1,
            peels: case.seed.is_multiple_of(16),
            asked: Asked::default(),
        }
    }

    fn launched(&mut self) {
        self.conditions.forget();
    }

    #[inline]
    fn set_pins(&mut self, state: &State, rng: &mut impl Rng, pins: &mut In) {
        let word = self.program.word(state.pc);
        *pins = In {
            word,
            inst_valid: 1,
            rst_n: 1,
            ..In::default()
        };
        if self.conditions.lanes.noisy() {
            let mut noise = Noise::<11>::draw(rng);
            if self.peels {
                for plane in &mut noise.conditions {
                    *plane = !only_one(within(rng, 0..64), state.active);
                }
            } else if !is_other(word) {
                for n in looked_at(word) {
                    noise.shape(n, state.active);
                }
            }
            let [p @ .., z, s, c, o] = noise.conditions;
            (pins.p, pins.cc) = (p, [z, s, c, o]);
            if is_brx(word) {
                let mut few: [u32; 4] = std::array::from_fn(|_| match within(rng, 0..8) {
                    0 => rng.random(),
                    _ => within(rng, 0..64) * 8,
                });
                if self.brx {
                    for r in &mut few {
                        match within(rng, 0..8) {
                            // Far, and aligned.
                            0 => *r = rng.random::<u32>() >> within(rng, 0..29) & !7,
                            // It compensates for a misaligned target in the word (spa5-4.2-a).
                            1..4 => *r = r.wrapping_sub((word >> 20) as u32 & 7),
                            _ => {}
                        }
                    }
                }
                pins.r = std::array::from_fn(|_| few[within(rng, 0..4)]);
                if word >> 52 == 0xE20 && within(rng, 0..8) != 0 {
                    // Most JMX also lead into the program, whatever their base.
                    let base = self.program.prog_base.wrapping_sub((word >> 20) as u32);
                    for r in &mut pins.r {
                        *r = r.wrapping_add(base);
                    }
                }
            }
            if is_bank(word) {
                // Mostly near; the upper bits may be anything.
                let offset = match within(rng, 0..16) {
                    0 => rng.random(),
                    _ => 8 * within(rng, -64..64),
                };
                pins.constant = offset as u32 & 0xff_ffff | rng.random::<u32>() << 24;
            }
            if self.csm && tests_clip(word) {
                let noise = Noise::<8>::draw(rng).shaped(state.active);
                for (bit, plane) in noise.into_iter().enumerate() {
                    for (lane, csm) in pins.csm.iter_mut().enumerate() {
                        *csm |= ((plane >> lane & 1) as u8) << bit;
                    }
                }
            }
            return;
        }
        // An unwind is the end of the step requested before it.
        if !Spa5::mid_step(state) {
            self.asked = Asked::of(state, word);
        }
        if !is_other(word) {
            let [p @ .., z, s, c, o] = *self.conditions.refresh();
            (pins.p, pins.cc) = (p, [z, s, c, o]);
            if is_brx(word) {
                pins.r = self.registers(state.pc, word);
            }
            if is_bank(word) {
                pins.constant = self.program.constant(word);
            }
            if self.csm && tests_clip(word) {
                for (lane, csm) in (0..).zip(&mut pins.csm) {
                    *csm = self.conditions.last_bits(lane).to_le_bytes()[1];
                }
            }
        }
    }

    #[inline]
    fn executed(&mut self, after: &State) {
        if self.conditions.lanes.noisy() {
            return;
        }
        if is_other(self.asked.word) {
            self.conditions.redraw(self.asked.active);
        }
        let counts = self.asked.counts(after);
        self.conditions.lanes.count(counts);
    }

    fn draw(&self, state: &State, lane: u32) -> Option<Draw> {
        let names = &["P0", "P1", "P2", "P3", "P4", "P5", "P6", "Z", "S", "C", "O"];
        let lanes = &self.conditions.lanes;
        let draw = match is_other(self.program.word(state.pc)) {
            true => lanes.whole(lane, lanes.k(lane), names),
            false => self.conditions.last(lane, names),
        };
        draw.filter(|_| state.active >> lane & 1 == 1)
    }
}

impl Pins for In {
    fn launches(&self) -> bool {
        self.launch == 1
    }

    fn written(&self) -> Option<String> {
        // The host writes only the operands of a launch.
        None
    }

    fn starve(&mut self) {
        self.inst_valid = 0;
    }

    #[inline]
    fn scramble(&mut self, running: bool, rng: &mut impl Rng) {
        let reset = self.is_reset();
        // Every pin is named: the compiler tells of a new one.
        let In {
            p,
            cc,
            launch_mask,
            word,
            entry,
            prog_base,
            prog_size,
            constant,
            launch,
            stall,
            inst_valid,
            r,
            csm,
            rst_n: _,
            pad: _,
        } = self;
        if reset {
            *stall = rng.random_range(0..=1);
        }
        let anything = reset || *stall == 1;
        if anything || !running || *inst_valid == 0 {
            *word = rng.random();
            (*p, *cc) = (rng.random(), rng.random());
        }
        if !is_brx(*word) {
            r[..8].fill_with(|| rng.random());
        }
        if anything || !is_bank(*word) {
            *constant = rng.random();
        }
        if !tests_clip(*word) {
            csm[..8].fill_with(|| rng.random());
        }
        if anything || !running {
            *inst_valid = rng.random_range(0..=1);
        }
        let launching = *launch == 1;
        if anything || running {
            *launch = rng.random_range(0..=1);
        }
        if anything || running || !launching {
            (*entry, *prog_size) = (rng.random(), rng.random());
            *prog_base = rng.random();
            *launch_mask = rng.random();
        }
    }

    fn host_write(&mut self, _: &mut impl Rng) {}
}
