//! Execution of one instruction for all lanes of a wavefront.
//!
//! Every step of an instruction is a loop over the lanes: operands, operation, output modifier, writes
//! (r500-alu-4). Lanes that do not execute compute too, but their writes are suppressed.

use super::arithmetic::{clamp, compare, frc, max, min, mul, special};
use super::decode::{
    ALPHA, AlphaOp, Alu, CHANNELS, Channel, Compare, Dot, Each, Gate, Instruction, Operand,
    Presubtract, Register, RgbOp, Selected, Source, Tex, TexOp,
};
use super::texture::Texture;

/// Temporary registers of a lane.
pub const TEMPS: usize = 128;
/// Constants that all lanes share.
pub const CONSTANTS: usize = 256;

/// One value for each lane.
type Lanes<const N: usize> = [f32; N];

/// The values that all lanes share.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Constants; missing ones are 0.
    pub constants: Vec<[f32; CHANNELS]>,
    /// The texture of each `TEX_ID`.
    pub textures: [Texture; 16],
}

/// The registers of `N` lanes, at most 64 (r500-alu-1).
#[derive(Clone, Debug)]
pub struct Wave<const N: usize> {
    temps: Box<[[Lanes<N>; CHANNELS]; TEMPS]>,
    colour: [Lanes<N>; CHANNELS],
    /// Lanes that executed a TEXKILL with a negative value.
    pub killed: u64,
    /// ALU-result bit of each lane; flow control clears all of them.
    pub alu: u64,
    /// Predicate bits R, G, B, A of each lane.
    pub predicates: [u64; CHANNELS],
}

impl<const N: usize> Default for Wave<N> {
    fn default() -> Self {
        const { assert!(N > 0 && N <= 64) };
        Wave {
            temps: Box::new([[[0.0; N]; CHANNELS]; TEMPS]),
            colour: [[0.0; N]; CHANNELS],
            killed: 0,
            alu: 0,
            predicates: [0; CHANNELS],
        }
    }
}

/// Sets, in `plane`, the bits of the lanes of `mask` to `of`.
fn set<const N: usize>(plane: &mut u64, mask: u64, of: impl Fn(usize) -> bool) {
    let bits = (0..N).fold(0, |bits, lane| bits | u64::from(of(lane)) << lane);
    *plane = *plane & !mask | bits & mask;
}

/// Writes the values of the lanes of `mask` to `to`.
fn write<const N: usize>(to: &mut Lanes<N>, mask: u64, values: &Lanes<N>) {
    for (lane, (old, new)) in to.iter_mut().zip(values).enumerate() {
        if mask >> lane & 1 == 1 {
            *old = *new;
        }
    }
}

impl<const N: usize> Wave<N> {
    /// Sets temporary register `register` of `lane` to `value`: an input, before the first instruction.
    pub fn load(&mut self, lane: usize, register: u8, value: [f32; CHANNELS]) {
        for (channel, value) in self.temps[usize::from(register) % TEMPS]
            .iter_mut()
            .zip(value)
        {
            channel[lane] = value;
        }
    }

    /// Returns temporary register `register` of `lane`.
    pub fn temp(&self, lane: usize, register: u8) -> [f32; CHANNELS] {
        self.temps[usize::from(register) % TEMPS].map(|channel| channel[lane])
    }

    /// Returns the colour that `lane` has written.
    pub fn colour(&self, lane: usize) -> [f32; CHANNELS] {
        self.colour.map(|channel| channel[lane])
    }

    /// Executes `instruction` for the lanes of `mask`, with aL = `al`.
    pub fn execute(&mut self, instruction: &Instruction, shared: &Shared, al: u8, mask: u64) {
        match instruction {
            Instruction::Alu(alu) => self.alu(alu, shared, al, mask),
            Instruction::Tex(tex) => self.tex(tex, shared, al, mask),
        }
    }

    fn temp_index(register: Register, al: u8) -> usize {
        let offset = if register.relative { al } else { 0 };
        (usize::from(register.number) + usize::from(offset)) % TEMPS
    }

    fn source(&self, source: Source, channel: usize, shared: &Shared, al: u8) -> Lanes<N> {
        match source {
            Source::Temp { register, relative } => {
                let register = Register {
                    number: register,
                    relative,
                };
                self.temps[Self::temp_index(register, al)][channel]
            }
            Source::Constant { number, relative } => {
                let offset = if relative { al } else { 0 };
                let number = (usize::from(number) + usize::from(offset)) % CONSTANTS;
                [shared.constants.get(number).map_or(0.0, |c| c[channel]); N]
            }
            Source::Value(value) => [value; N],
        }
    }

    fn operand(&self, operand: &Operand, shared: &Shared, al: u8) -> Lanes<N> {
        let source = |source| self.source(source, operand.channel, shared, al);
        let mut values = match operand.selected {
            Selected::Source(from) => source(from),
            Selected::Presubtracted(op, source0, source1) => {
                let s0 = source(source0);
                match op {
                    Presubtract::OneMinusTwice => s0.map(|a| 1.0 - 2.0 * a),
                    Presubtract::OneMinus => s0.map(|a| 1.0 - a),
                    Presubtract::Difference => each(&source(source1), &s0, |b, a| b - a),
                    Presubtract::Sum => each(&source(source1), &s0, |b, a| b + a),
                }
            }
        };
        if operand.absolute {
            values = values.map(f32::abs);
        }
        if operand.negate {
            values = values.map(|a| -a);
        }
        values
    }

    fn alu(&mut self, alu: &Alu, shared: &Shared, al: u8, mask: u64) {
        // The operands of a channel are read when needed; nothing is written before all results are known.
        let operand = |c: usize, n: usize| self.operand(&alu.channels[c].operands[n], shared, al);
        let product = |c: usize| each(&operand(c, 0), &operand(c, 1), mul);
        let dot = |dot: Dot| {
            let sum = each(&product(0), &product(1), |a, b| a + b);
            let third = if dot == Dot::D2a {
                operand(2, 2)
            } else {
                product(2)
            };
            let sum = each(&sum, &third, |a, b| a + b);
            match dot {
                Dot::Dp4 => each(&sum, &product(ALPHA), |a, b| a + b),
                Dot::Dp3 | Dot::D2a => sum,
            }
        };
        let channel = |op: Each, c: usize| match op {
            Each::Mad => each(&product(c), &operand(c, 2), |p, c| p + c),
            Each::Min => each(&operand(c, 0), &operand(c, 1), min),
            Each::Max => each(&operand(c, 0), &operand(c, 1), max),
            Each::Cnd => choose(&operand(c, 2), |c| c > 0.5, &operand(c, 0), &operand(c, 1)),
            Each::Cmp => choose(&operand(c, 2), |c| c >= 0.0, &operand(c, 0), &operand(c, 1)),
            Each::Frc => operand(c, 0).map(frc),
        };
        let alpha = || match (alu.alpha, alu.rgb) {
            (AlphaOp::Each(op), _) => channel(op, ALPHA),
            (AlphaOp::Special(op), _) => operand(ALPHA, 0).map(|a| special(op, a)),
            (AlphaOp::Dp, RgbOp::Dot(op)) => dot(op),
            (AlphaOp::Dp, _) => [0.0; N],
        };
        let mut results: [Lanes<N>; CHANNELS] = [[0.0; N]; CHANNELS];
        let mut shared_by_rgb = None;
        for (c, result) in results.iter_mut().enumerate() {
            let Channel {
                factor,
                clamp: clamps,
                ..
            } = alu.channels[c];
            if !alu.uses(c) {
                continue;
            }
            *result = match alu.rgb {
                _ if c == ALPHA => alpha(),
                RgbOp::Each(op) => channel(op, c),
                RgbOp::Dot(op) => *shared_by_rgb.get_or_insert_with(|| dot(op)),
                RgbOp::Sop => *shared_by_rgb.get_or_insert_with(alpha),
            };
            if let Some(factor) = factor {
                *result = result.map(|a| a * factor);
                if clamps {
                    *result = result.map(clamp);
                }
            }
        }

        // The predicates from before the instruction gate every write.
        let gates = alu.channels.map(|c| self.gated(c.gate) & mask);
        for (c, (to, values)) in alu.channels.iter().zip(&results).enumerate() {
            if let Some(register) = to.temp {
                let temp = &mut self.temps[Self::temp_index(register, al)][c];
                write(temp, gates[c], values);
            }
            if to.colour {
                write(&mut self.colour[c], gates[c], values);
            }
            if let Some(test) = to.predicate {
                self.test(c, gates[c], test, values);
            }
        }
        if let Some((c, test)) = alu.alu_result {
            set::<N>(&mut self.alu, mask, |lane| compare(test, results[c][lane]));
        }
    }

    fn test(&mut self, channel: usize, mask: u64, test: Compare, values: &Lanes<N>) {
        set::<N>(&mut self.predicates[channel], mask, |lane| {
            compare(test, values[lane])
        });
    }

    /// Returns the lanes whose predicates let a write through.
    fn gated(&self, gate: Gate) -> u64 {
        let plane = gate.bit.map_or(u64::MAX, |c| self.predicates[c]);
        if gate.inverted { !plane } else { plane }
    }

    fn tex(&mut self, tex: &Tex, shared: &Shared, al: u8, mask: u64) {
        let from = &self.temps[Self::temp_index(tex.source, al)];
        let [s, t, _, q] = tex.coordinates.map(|c| &from[c]);
        match tex.op {
            TexOp::Nop => {}
            TexOp::Kill => {
                let negative = |lane: usize| tex.coordinates.iter().any(|c| from[*c][lane] < 0.0);
                let killed = (0..N).fold(0, |k, lane| k | u64::from(negative(lane)) << lane);
                self.killed |= killed & mask;
            }
            TexOp::Fetch { project } => {
                let texture = shared.textures[usize::from(tex.texture)];
                let texels: [[f32; CHANNELS]; N] = std::array::from_fn(|lane| {
                    let (s, t) = match project {
                        // 0/0 and x/0 alike (r500-alu-5-i).
                        true if q[lane] == 0.0 => (f32::NAN, f32::NAN),
                        true => (s[lane] / q[lane], t[lane] / q[lane]),
                        false => (s[lane], t[lane]),
                    };
                    texture.texel(tex.texture, s, t)
                });
                for (c, written) in tex.result.iter().enumerate() {
                    if let Some((channel, gate)) = *written {
                        let values = texels.map(|texel| texel[channel]);
                        let mask = mask & self.gated(gate);
                        let temp = &mut self.temps[Self::temp_index(tex.destination, al)][c];
                        write(temp, mask, &values);
                    }
                }
            }
        }
    }
}

/// Applies `op` lane by lane.
fn each<const N: usize>(a: &Lanes<N>, b: &Lanes<N>, op: impl Fn(f32, f32) -> f32) -> Lanes<N> {
    std::array::from_fn(|lane| op(a[lane], b[lane]))
}

/// Selects `a` for lanes whose `c` passes the test, `b` for the others.
fn choose<const N: usize>(
    c: &Lanes<N>,
    test: impl Fn(f32) -> bool,
    a: &Lanes<N>,
    b: &Lanes<N>,
) -> Lanes<N> {
    std::array::from_fn(|lane| if test(c[lane]) { a[lane] } else { b[lane] })
}
