//! ALU, OUT and TEX instructions as fields, in the form that is executed.
//!
//! Source: `docs/spec/r500-alu.md`, sections 2, 5 and 6. Decoding refuses what the specification leaves open and no program
//! needs (reserved values, `MDH`, `MDV`), so that only legal instructions are executed.

use thiserror::Error;

use crate::r500::program::Slot;

/// Red, green, blue, alpha.
pub const CHANNELS: usize = 4;
/// Index of alpha among the channels.
pub const ALPHA: usize = 3;

/// The reason why an instruction is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// `MDH` and `MDV` read neighbour lanes (r500-alu-3-r).
    #[error("{0} reads other lanes, which this ALU does not")]
    Neighbours(&'static str),
    /// An opcode that the manual reserves (r500-alu-3-h).
    #[error("{half} opcode {opcode} is reserved")]
    Opcode {
        /// `RGB` or `ALPHA`.
        half: &'static str,
        /// Its number.
        opcode: u32,
    },
    /// A predicate select that the manual reserves (r500-alu-6-a).
    #[error("{0}_PRED_SEL {1} is reserved")]
    Predicate(&'static str, u32),
    /// A texture operation that the manual reserves (r500-alu-5-k).
    #[error("TEX operation 7 is reserved")]
    Texture,
}

/// An instruction that lanes execute.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// `TYPE` 0 or 1.
    Alu(Box<Alu>),
    /// `TYPE` 3.
    Tex(Tex),
}

/// Returns `WRITE_INACTIVE` of word 0: lanes that are not ACTIVE execute too (r500-alu-2.1-d).
pub fn write_inactive(slot: Slot) -> bool {
    bit(slot.cmn, 7)
}

/// A register or a value that does not depend on the lane (r500-alu-2.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// Temporary register, plus aL if `relative`, modulo 128.
    Temp {
        /// 0..=127.
        register: u8,
        /// aL is added.
        relative: bool,
    },
    /// Constant, plus aL if `relative`, modulo 256.
    Constant {
        /// 0..=255.
        number: u8,
        /// aL is added.
        relative: bool,
    },
    /// The same value in every channel.
    Value(f32),
}

/// What `SRCP_OP` computes from the sources of one half (r500-alu-2.2-i).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presubtract {
    /// 1 - 2 * source 0.
    OneMinusTwice,
    /// Source 1 - source 0.
    Difference,
    /// Source 1 + source 0.
    Sum,
    /// 1 - source 0.
    OneMinus,
}

/// What an operand selects (r500-alu-2.3-g).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Selected {
    /// One of sources 0 to 2, or a value named by the swizzle.
    Source(Source),
    /// The presubtracted source, of sources 0 and 1.
    Presubtracted(Presubtract, Source, Source),
}

/// One channel's operand: select, swizzle, modifier (r500-alu-2.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// Its source.
    pub selected: Selected,
    /// Channel of the source.
    pub channel: usize,
    /// The absolute value is taken.
    pub absolute: bool,
    /// It is negated, after taking the absolute value.
    pub negate: bool,
}

/// Operations of one channel, in either half (r500-alu-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Each {
    Mad,
    Min,
    Max,
    Cnd,
    Cmp,
    Frc,
}

/// Dot products of the RGB half (r500-alu-3-b to -d).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Dot {
    Dp3,
    Dp4,
    D2a,
}

/// Operations of the alpha half on one operand (r500-alu-3-m to -q).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Special {
    Ex2,
    Ln2,
    Rcp,
    Rsq,
    Sin,
    Cos,
}

/// Operation of the RGB half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RgbOp {
    /// Channel by channel.
    Each(Each),
    /// One result for all three.
    Dot(Dot),
    /// The result of the alpha half.
    Sop,
}

/// Operation of the alpha half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaOp {
    /// As in a channel of the RGB half.
    Each(Each),
    /// The dot product of the RGB half.
    Dp,
    /// An operation on operand A alone.
    Special(Special),
}

/// A comparison with zero (r500-alu-2.1-m).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Compare {
    Equal,
    Less,
    GreaterOrEqual,
    NotEqual,
}

/// The predicate bit that gates the write of a channel (r500-alu-6-a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The channel of the bit; `None` reads 1.
    pub bit: Option<usize>,
    /// The bit is inverted.
    pub inverted: bool,
}

/// One channel of an ALU or OUT instruction, from the result to the registers (r500-alu-4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// Operands A, B, C.
    pub operands: [Operand; 3],
    /// Factor of the output modifier; `None` leaves the result unchanged and unclamped.
    pub factor: Option<f32>,
    /// The result is clamped to 0..1.
    pub clamp: bool,
    /// Gates all its writes.
    pub gate: Gate,
    /// The temporary register that the result is written to.
    pub temp: Option<Register>,
    /// The result is written to the colour (OUT).
    pub colour: bool,
    /// The predicate bit of the channel is set to this comparison with zero (ALU).
    pub predicate: Option<Compare>,
}

/// A temporary register that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// 0..=127.
    pub number: u8,
    /// aL is added, modulo 128.
    pub relative: bool,
}

/// An ALU or OUT instruction (r500-alu-2).
#[derive(Clone, Debug, PartialEq)]
pub struct Alu {
    /// Operation of R, G, B.
    pub rgb: RgbOp,
    /// Operation of A.
    pub alpha: AlphaOp,
    /// Red, green, blue, alpha.
    pub channels: [Channel; CHANNELS],
    /// The ALU result is set: channel, and comparison with zero.
    pub alu_result: Option<(usize, Compare)>,
}

impl Alu {
    /// Returns whether the result of channel `c` is used.
    pub fn uses(&self, c: usize) -> bool {
        let channel = &self.channels[c];
        let written = channel.temp.is_some() || channel.colour || channel.predicate.is_some();
        written || self.alu_result.is_some_and(|(of, _)| of == c)
    }
}

/// The operation of a TEX instruction (r500-alu-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexOp {
    /// Nothing.
    Nop,
    /// Fetches a texel; `project` divides the coordinates by Q.
    Fetch {
        /// PROJ.
        project: bool,
    },
    /// Kills lanes with a negative component.
    Kill,
}

/// A TEX instruction (r500-alu-5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tex {
    /// Its operation.
    pub op: TexOp,
    /// `TEX_ID`, 0..=15.
    pub texture: u8,
    /// Register with the coordinates.
    pub source: Register,
    /// The channels of that register that hold S, T, R, Q.
    pub coordinates: [usize; CHANNELS],
    /// The register that is written.
    pub destination: Register,
    /// For each channel to be written: channel of the texel, and the gate of the write.
    pub result: [Option<(usize, Gate)>; CHANNELS],
}

/// Returns `word[hi:lo]`.
const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    word >> lo & ((1 << (hi - lo + 1)) - 1)
}

const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 == 1
}

impl Instruction {
    /// Decodes the instruction of `slot`; `None` for flow control.
    ///
    /// # Errors
    /// The instruction has values that the manual reserves, or needs what this ALU does not have.
    pub fn decode(slot: Slot) -> Result<Option<Self>, Refused> {
        Ok(match slot.cmn & 3 {
            2 => None,
            3 => Some(Instruction::Tex(tex(&slot.words())?)),
            _ => Some(Instruction::Alu(Box::new(alu(&slot.words())?))),
        })
    }
}

/// Returns an inline constant (r500-alu-2.2-g).
fn inline(field: u32) -> f32 {
    let (e, m) = (bits(field, 6, 3), bits(field, 2, 0));
    let (whole, exponent) = if e > 0 {
        (1.0, e as i32 - 7)
    } else {
        (0.0, -6)
    };
    (whole + m as f32 / 8.0) * 2f32.powi(exponent)
}

/// Returns source `n` of an address word.
fn source(word: u32, n: u32) -> Source {
    let field = word >> (10 * n);
    let (address, relative) = (field as u8, bit(field, 9));
    match (bit(field, 8), address & 0x80 != 0) {
        (true, _) => Source::Constant {
            number: address,
            relative,
        },
        (false, false) => Source::Temp {
            register: address,
            relative,
        },
        (false, true) => Source::Value(inline(u32::from(address & 0x7f))),
    }
}

/// Returns the operand of instruction `w` whose select, swizzle and modifier are at these bits.
fn operand(w: &[u32; 6], select: u32, swizzle: u32, modifier: u32) -> Operand {
    let value = |v| (Selected::Source(Source::Value(v)), 0);
    let (selected, channel) = match swizzle {
        // R, G, B use the sources that word 1 addresses, A those of word 2.
        0..=3 => {
            let word = if swizzle == 3 { w[2] } else { w[1] };
            let selected = match select {
                3 => {
                    let op = [
                        Presubtract::OneMinusTwice,
                        Presubtract::Difference,
                        Presubtract::Sum,
                        Presubtract::OneMinus,
                    ][bits(word, 31, 30) as usize];
                    Selected::Presubtracted(op, source(word, 0), source(word, 1))
                }
                n => Selected::Source(source(word, n)),
            };
            (selected, swizzle as usize)
        }
        5 => value(0.5),
        6 => value(1.0),
        _ => value(0.0),
    };
    Operand {
        selected,
        channel,
        absolute: bit(modifier, 1),
        negate: bit(modifier, 0),
    }
}

/// Returns the operation of a single channel with number `opcode` of the RGB half; `None` if the number is none.
fn each(opcode: u32) -> Option<Each> {
    Some(match opcode {
        0 => Each::Mad,
        4 => Each::Min,
        5 => Each::Max,
        7 => Each::Cnd,
        8 => Each::Cmp,
        9 => Each::Frc,
        _ => return None,
    })
}

fn rgb_op(opcode: u32) -> Result<RgbOp, Refused> {
    Ok(match opcode {
        1 => RgbOp::Dot(Dot::Dp3),
        2 => RgbOp::Dot(Dot::Dp4),
        3 => RgbOp::Dot(Dot::D2a),
        10 => RgbOp::Sop,
        11 => return Err(Refused::Neighbours("MDH")),
        12 => return Err(Refused::Neighbours("MDV")),
        _ => RgbOp::Each(each(opcode).ok_or(Refused::Opcode {
            half: "RGB",
            opcode,
        })?),
    })
}

fn alpha_op(opcode: u32) -> Result<AlphaOp, Refused> {
    let special = |op| Ok(AlphaOp::Special(op));
    match opcode {
        1 => Ok(AlphaOp::Dp),
        8 => special(Special::Ex2),
        9 => special(Special::Ln2),
        10 => special(Special::Rcp),
        11 => special(Special::Rsq),
        12 => special(Special::Sin),
        13 => special(Special::Cos),
        14 => Err(Refused::Neighbours("MDH")),
        15 => Err(Refused::Neighbours("MDV")),
        // The alpha half has no dot products of its own, so its other numbers are lower by two.
        0 => Ok(AlphaOp::Each(Each::Mad)),
        _ => Ok(AlphaOp::Each(each(opcode + 2).ok_or(Refused::Opcode {
            half: "ALPHA",
            opcode,
        })?)),
    }
}

fn compare(value: u32) -> Compare {
    [
        Compare::Equal,
        Compare::Less,
        Compare::GreaterOrEqual,
        Compare::NotEqual,
    ][value as usize & 3]
}

/// Returns the gate of channel `c` in word 0.
fn gate(cmn: u32, c: usize) -> Result<Gate, Refused> {
    let (half, select, inverted) = match c {
        ALPHA => ("ALPHA", bits(cmn, 27, 25), bit(cmn, 22)),
        _ => ("RGB", bits(cmn, 5, 3), bit(cmn, 6)),
    };
    let bit = match select {
        0 => None,
        1 => Some(c),
        2..=5 => Some(select as usize - 2),
        _ => return Err(Refused::Predicate(half, select)),
    };
    Ok(Gate { bit, inverted })
}

fn alu(w: &[u32; 6]) -> Result<Alu, Refused> {
    let [cmn, _, _, rgb, alpha, rgba] = *w;
    let is_out = cmn & 3 == 1;
    let channel = |c: usize| -> Result<Channel, Refused> {
        let at = 3 * c as u32;
        let operands = if c == ALPHA {
            [
                operand(w, bits(alpha, 13, 12), bits(alpha, 16, 14), alpha >> 17),
                operand(w, bits(alpha, 20, 19), bits(alpha, 23, 21), alpha >> 24),
                operand(w, bits(rgba, 26, 25), bits(rgba, 29, 27), rgba >> 30),
            ]
        } else {
            [
                operand(w, bits(rgb, 1, 0), bits(rgb >> at, 4, 2), rgb >> 11),
                operand(w, bits(rgb, 14, 13), bits(rgb >> at, 17, 15), rgb >> 24),
                operand(w, bits(rgba, 13, 12), bits(rgba >> at, 16, 14), rgba >> 23),
            ]
        };
        let (results, destination, clamp) = match c {
            ALPHA => (alpha, alpha, bit(cmn, 20)),
            _ => (rgb, rgba, bit(cmn, 19)),
        };
        let writes = bit(cmn, 11 + c as u32);
        let outputs = bit(cmn, 15 + c as u32);
        Ok(Channel {
            operands,
            factor: [1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125]
                .get(bits(results, 28, 26) as usize)
                .copied(),
            clamp,
            gate: gate(cmn, c)?,
            temp: writes.then(|| register(destination >> 4)),
            colour: outputs && is_out,
            predicate: (outputs && !is_out).then(|| compare(bits(results, 30, 29))),
        })
    };
    Ok(Alu {
        rgb: rgb_op(bits(rgba, 3, 0))?,
        alpha: alpha_op(bits(alpha, 3, 0))?,
        channels: [channel(0)?, channel(1)?, channel(2)?, channel(ALPHA)?],
        alu_result: bit(rgb, 31).then(|| {
            let channel = if bit(cmn, 21) { ALPHA } else { 0 };
            (channel, compare(bits(cmn, 24, 23)))
        }),
    })
}

/// Returns the register with its number in bits 6:0 and `REL` in bit 7.
fn register(field: u32) -> Register {
    Register {
        number: (field & 0x7f) as u8,
        relative: bit(field, 7),
    }
}

fn tex(w: &[u32; 6]) -> Result<Tex, Refused> {
    let [cmn, inst, addr, ..] = *w;
    let two_bits = |at: usize| (addr >> at & 3) as usize;
    let op = match bits(inst, 24, 22) {
        0 => TexOp::Nop,
        2 => TexOp::Kill,
        7 => return Err(Refused::Texture),
        n => TexOp::Fetch { project: n == 3 },
    };
    let mut result = [None; CHANNELS];
    // A kill ignores write mask and predicates, so they may have any value.
    if matches!(op, TexOp::Fetch { .. }) {
        for (c, written) in result.iter_mut().enumerate() {
            if bit(cmn, 11 + c as u32) {
                *written = Some((two_bits(24 + 2 * c), gate(cmn, c)?));
            }
        }
    }
    Ok(Tex {
        op,
        texture: bits(inst, 19, 16) as u8,
        source: register(addr),
        coordinates: [8, 10, 12, 14].map(two_bits),
        destination: register(addr >> 16),
        result,
    })
}
