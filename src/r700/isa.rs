//! CF words as fields: encoding and decoding, without their meaning.
//!
//! Source: r700-2.1 to r700-2.5 in `docs/spec/r700.md`.
//!
//! [`Word::decode`] never fails: opcodes without a name keep both words unchanged. For words that
//! have fields, `Word::decode(q).encode() == q` unless bit 20 of the general format is set
//! ([`Cf::RESERVED`]). `u` belongs to the clause, not to the words, and is not changed here.

use super::program::Quad;

/// Returns `word[hi:lo]`.
const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    word >> lo & ((1 << (hi - lo + 1)) - 1)
}

const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 == 1
}

/// Declares an enum of opcodes, not necessarily of every value: number, variant, the manual's name.
macro_rules! opcodes {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $value:literal $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $value,)+ }

        impl $name {
            /// Every opcode that has a name, in the order of the numbers.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Returns the opcode numbered `value`; `None` if that number has no name.
            pub const fn from_bits(value: u32) -> Option<Self> {
                match value { $($value => Some($name::$variant),)+ _ => None }
            }

            /// Returns the number in the word.
            pub const fn bits(self) -> u32 {
                self as u32
            }

            /// Returns the manual's name.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// Returns the opcode called `name`, in upper or lower case.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

opcodes! {
    /// `CF_INST` of the general format, DW1 bits 29:23, 0..=31 (r700-2.5).
    CfOp {
        /// Nothing; carries `END_OF_PROGRAM` at the end of compiled programs.
        Nop = 0 "NOP",
        /// Texture fetch clause.
        Tex = 1 "TEX",
        /// Vertex fetch clause.
        Vtx = 2 "VTX",
        /// Vertex fetch clause through the texture cache.
        VtxTc = 3 "VTX_TC",
        /// Begin a loop that has an aL of its own.
        LoopStart = 4 "LOOP_START",
        /// End a loop of any kind.
        LoopEnd = 5 "LOOP_END",
        /// Begin a loop that only breaks end.
        LoopStartDx10 = 6 "LOOP_START_DX10",
        /// Begin a loop with a count, but without an aL of its own.
        LoopStartNoAl = 7 "LOOP_START_NO_AL",
        /// Skip to the end of the pass.
        LoopContinue = 8 "LOOP_CONTINUE",
        /// Leave the loop.
        LoopBreak = 9 "LOOP_BREAK",
        /// Jump if no lane passes.
        Jump = 10 "JUMP",
        /// Push a branch frame, or jump if no lane passes.
        Push = 11 "PUSH",
        /// Push a branch frame in any case, jump if no lane passes.
        PushElse = 12 "PUSH_ELSE",
        /// Swap the lanes of the top mask.
        Else = 13 "ELSE",
        /// Pop branch frames.
        Pop = 14 "POP",
        /// Only listed in tables, treated as reserved (r700-O15).
        PopJump = 15 "POP_JUMP",
        /// The same.
        PopPush = 16 "POP_PUSH",
        /// The same.
        PopPushElse = 17 "POP_PUSH_ELSE",
        /// Call a subroutine.
        Call = 18 "CALL",
        /// Call the fetch program, a black box here.
        CallFs = 19 "CALL_FS",
        /// Return from a subroutine.
        Return = 20 "RETURN",
        /// Geometry shader: emit.
        EmitVertex = 21 "EMIT_VERTEX",
        /// Geometry shader: emit and cut.
        EmitCutVertex = 22 "EMIT_CUT_VERTEX",
        /// Geometry shader: cut.
        CutVertex = 23 "CUT_VERTEX",
        /// Lanes that pass are no longer valid.
        Kill = 24 "KILL",
        /// R700: wait for write acknowledgement.
        WaitAck = 26 "WAIT_ACK",
        /// R700: TEX with acknowledgement.
        TexAck = 27 "TEX_ACK",
        /// R700: VTX with acknowledgement.
        VtxAck = 28 "VTX_ACK",
        /// R700: VTX_TC with acknowledgement.
        VtxTcAck = 29 "VTX_TC_ACK",
    }
}

impl CfOp {
    /// Returns whether it starts a fetch clause, and so has an address and a `COUNT` of its own.
    pub const fn is_fetch(self) -> bool {
        matches!(
            self,
            CfOp::Tex | CfOp::Vtx | CfOp::VtxTc | CfOp::TexAck | CfOp::VtxAck | CfOp::VtxTcAck
        )
    }

    /// Returns whether it may jump to `ADDR` or start a clause there; otherwise the field has no meaning.
    pub const fn uses_addr(self) -> bool {
        !matches!(
            self,
            CfOp::Nop
                | CfOp::CallFs
                | CfOp::Return
                | CfOp::EmitVertex
                | CfOp::EmitCutVertex
                | CfOp::CutVertex
                | CfOp::WaitAck
        )
    }

    /// Returns whether it is POP_JUMP, POP_PUSH or POP_PUSH_ELSE, which have names but are errors (r700-O15).
    pub const fn is_illegal(self) -> bool {
        matches!(self, CfOp::PopJump | CfOp::PopPush | CfOp::PopPushElse)
    }
}

opcodes! {
    /// `CF_INST` of the memory and export format, DW1 bits 29:23, 32..=63 (r700-2.5).
    MemOp {
        /// Stream-out buffer 0.
        MemStream0 = 32 "MEM_STREAM0",
        /// Stream-out buffer 1.
        MemStream1 = 33 "MEM_STREAM1",
        /// Stream-out buffer 2.
        MemStream2 = 34 "MEM_STREAM2",
        /// Stream-out buffer 3.
        MemStream3 = 35 "MEM_STREAM3",
        /// Scratch buffer.
        MemScratch = 36 "MEM_SCRATCH",
        /// Reduction buffer.
        MemReduction = 37 "MEM_REDUCTION",
        /// Ring buffer.
        MemRing = 38 "MEM_RING",
        /// Export.
        Export = 39 "EXPORT",
        /// The last export of its kind.
        ExportDone = 40 "EXPORT_DONE",
        /// R700: export to memory.
        MemExport = 58 "MEM_EXPORT",
    }
}

opcodes! {
    /// `CF_INST` of the ALU format, DW1 bits 29:26, 8..=15 (r700-2.5).
    AluOp {
        /// The clause alone.
        Alu = 8 "ALU",
        /// Push a branch frame first.
        AluPushBefore = 9 "ALU_PUSH_BEFORE",
        /// Pop a branch frame afterwards.
        AluPopAfter = 10 "ALU_POP_AFTER",
        /// Pop two.
        AluPop2After = 11 "ALU_POP2_AFTER",
        /// Lanes whose predicate is 0 continue.
        AluContinue = 13 "ALU_CONTINUE",
        /// Lanes whose predicate is 0 break.
        AluBreak = 14 "ALU_BREAK",
        /// ELSE afterwards; with u, a push first.
        AluElseAfter = 15 "ALU_ELSE_AFTER",
    }
}

/// `COND`, DW1 bits 9:8 of the general format (r700-2.2, r700-4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cond {
    /// Lanes of class ACTIVE pass.
    #[default]
    Active = 0,
    /// No lane passes.
    False = 1,
    /// ACTIVE lanes pass if the boolean is 1.
    Bool = 2,
    /// ACTIVE lanes pass if the boolean is 0.
    NotBool = 3,
}

impl Cond {
    /// Returns the value of the low two bits.
    pub const fn from_bits(value: u32) -> Self {
        match value & 3 {
            0 => Cond::Active,
            1 => Cond::False,
            2 => Cond::Bool,
            _ => Cond::NotBool,
        }
    }

    /// Returns the number in the word.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// Returns the manual's name.
    pub const fn name(self) -> &'static str {
        match self {
            Cond::Active => "ACTIVE",
            Cond::False => "FALSE",
            Cond::Bool => "BOOL",
            Cond::NotBool => "NOT_BOOL",
        }
    }
}

/// An instruction of the general format (r700-2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cf {
    /// `CF_INST`, DW1 29:23.
    pub op: CfOp,
    /// `ADDR`, DW0: jump target or start of a fetch clause, in quadwords.
    pub addr: u32,
    /// `POP_COUNT`, 2:0: branch frames to pop, 0..=7.
    pub pop_count: u8,
    /// `CF_CONST`, 7:3: loop constant and boolean, 0..=31.
    pub cf_const: u8,
    /// `COND`, 9:8.
    pub cond: Cond,
    /// `COUNT` and `COUNT_3`, 12:10 and 19: instructions of a fetch clause minus 1, 0..=15.
    pub count: u8,
    /// `CALL_COUNT`, 18:13: step of the nesting depth, 0..=63.
    pub call_count: u8,
    /// `END_OF_PROGRAM`, 21.
    pub end: bool,
    /// `VALID_PIXEL_MODE`, 22.
    pub vpm: bool,
    /// `WHOLE_QUAD_MODE`, 30.
    pub wqm: bool,
    /// `BARRIER`, 31: no effect on the sequencer.
    pub barrier: bool,
}

impl Cf {
    /// DW1 bits without a field.
    pub const RESERVED: u32 = 1 << 20;

    /// Returns `op` with `BARRIER` set and every other field zero.
    pub const fn new(op: CfOp) -> Self {
        Cf {
            op,
            addr: 0,
            pop_count: 0,
            cf_const: 0,
            cond: Cond::Active,
            count: 0,
            call_count: 0,
            end: false,
            vpm: false,
            wqm: false,
            barrier: true,
        }
    }

    /// Returns the two words, with zeros at [`Cf::RESERVED`]; bits above a field's width are not encoded. u = 0.
    pub const fn encode(self) -> Quad {
        let dw1 = self.pop_count as u32 & 7
            | (self.cf_const as u32 & 31) << 3
            | self.cond.bits() << 8
            | (self.count as u32 & 7) << 10
            | (self.call_count as u32 & 63) << 13
            | (self.count as u32 >> 3 & 1) << 19
            | (self.end as u32) << 21
            | (self.vpm as u32) << 22
            | self.op.bits() << 23
            | (self.wqm as u32) << 30
            | (self.barrier as u32) << 31;
        Quad {
            dw0: self.addr,
            dw1,
            u: false,
        }
    }
}

/// An instruction of the memory and export format: the fields that the sequencer reads, and the rest undecoded
/// (r700-2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mem {
    /// `CF_INST`, DW1 29:23.
    pub op: MemOp,
    /// DW0: registers, base and type of the access, not read here.
    pub dw0: u32,
    /// DW1 20:0: swizzle, sizes, burst, not read here.
    pub rest: u32,
    /// `END_OF_PROGRAM`, 21.
    pub end: bool,
    /// `VALID_PIXEL_MODE`, 22.
    pub vpm: bool,
    /// `WHOLE_QUAD_MODE`, 30.
    pub wqm: bool,
    /// `BARRIER`, 31.
    pub barrier: bool,
}

impl Mem {
    /// Largest `rest`.
    pub const REST: u32 = (1 << 21) - 1;

    /// Returns `op` with `BARRIER` set and every other field zero.
    pub const fn new(op: MemOp) -> Self {
        Mem {
            op,
            dw0: 0,
            rest: 0,
            end: false,
            vpm: false,
            wqm: false,
            barrier: true,
        }
    }

    /// Returns the two words; bits above a field's width are not encoded. u = 0.
    pub const fn encode(self) -> Quad {
        let dw1 = self.rest & Mem::REST
            | (self.end as u32) << 21
            | (self.vpm as u32) << 22
            | self.op.bits() << 23
            | (self.wqm as u32) << 30
            | (self.barrier as u32) << 31;
        Quad {
            dw0: self.dw0,
            dw1,
            u: false,
        }
    }
}

/// `KCACHE_BANK`, `KCACHE_MODE` and `KCACHE_ADDR` of one of the two constant-cache windows (r700-2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kcache {
    /// `KCACHE_BANK`, 0..=15.
    pub bank: u8,
    /// `KCACHE_MODE`, 0..=3: none, one line, two lines, two lines with the loop index added.
    pub mode: u8,
    /// `KCACHE_ADDR`, 0..=255, lines of 16 constants.
    pub addr: u8,
}

/// An ALU clause as its CF word describes it: the ALU format without the opcode (r700-2.3).
///
/// The sequencer ignores all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clause {
    /// `ADDR`, DW0 21:0, in quadwords.
    pub addr: u32,
    /// `COUNT`, DW1 24:18: slots minus 1, 0..=127.
    pub count: u8,
    /// `KCACHE_*0` and `KCACHE_*1`.
    pub kcache: [Kcache; 2],
    /// DW1 25: `USES_WATERFALL` on R600, `ALT_CONST` on R700.
    pub alt_const: bool,
    /// `WHOLE_QUAD_MODE`, 30: ignored.
    pub wqm: bool,
    /// `BARRIER`, 31.
    pub barrier: bool,
}

impl Clause {
    /// Largest `addr`.
    pub const ADDR: u32 = (1 << 22) - 1;

    /// Returns a clause of one slot at `addr`, with no constants and `BARRIER` set.
    pub const fn at(addr: u32) -> Self {
        const NONE: Kcache = Kcache {
            bank: 0,
            mode: 0,
            addr: 0,
        };
        Clause {
            addr,
            count: 0,
            kcache: [NONE, NONE],
            alt_const: false,
            wqm: false,
            barrier: true,
        }
    }
}

impl Default for Clause {
    fn default() -> Self {
        Clause::at(0)
    }
}

/// An instruction of the ALU format (r700-2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alu {
    /// `CF_INST`, DW1 29:26.
    pub op: AluOp,
    /// Everything else.
    pub clause: Clause,
}

impl Alu {
    /// Returns the two words; bits above a field's width are not encoded. u = 0.
    pub const fn encode(self) -> Quad {
        let Clause {
            addr,
            count,
            kcache: [k0, k1],
            alt_const,
            wqm,
            barrier,
        } = self.clause;
        let dw0 = addr & Clause::ADDR
            | (k0.bank as u32 & 15) << 22
            | (k1.bank as u32 & 15) << 26
            | (k0.mode as u32 & 3) << 30;
        let dw1 = k1.mode as u32 & 3
            | (k0.addr as u32) << 2
            | (k1.addr as u32) << 10
            | (count as u32 & 127) << 18
            | (alt_const as u32) << 25
            | self.op.bits() << 26
            | (wqm as u32) << 30
            | (barrier as u32) << 31;
        Quad { dw0, dw1, u: false }
    }
}

/// A quadword by its format (r700-2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// General format.
    Cf(Cf),
    /// Memory and export format.
    Mem(Mem),
    /// ALU format.
    Alu(Alu),
    /// An opcode without a name, whatever the format: both words.
    Reserved(u32, u32),
}

impl Word {
    /// Returns the fields of `quad`.
    pub const fn decode(quad: Quad) -> Self {
        let Quad { dw0, dw1, u: _ } = quad;
        let (wqm, barrier) = (bit(dw1, 30), bit(dw1, 31));
        if bit(dw1, 29) {
            let Some(op) = AluOp::from_bits(bits(dw1, 29, 26)) else {
                return Word::Reserved(dw0, dw1);
            };
            let k0 = Kcache {
                bank: bits(dw0, 25, 22) as u8,
                mode: bits(dw0, 31, 30) as u8,
                addr: bits(dw1, 9, 2) as u8,
            };
            let k1 = Kcache {
                bank: bits(dw0, 29, 26) as u8,
                mode: bits(dw1, 1, 0) as u8,
                addr: bits(dw1, 17, 10) as u8,
            };
            return Word::Alu(Alu {
                op,
                clause: Clause {
                    addr: bits(dw0, 21, 0),
                    count: bits(dw1, 24, 18) as u8,
                    kcache: [k0, k1],
                    alt_const: bit(dw1, 25),
                    wqm,
                    barrier,
                },
            });
        }
        let (end, vpm, op) = (bit(dw1, 21), bit(dw1, 22), bits(dw1, 29, 23));
        if let Some(op) = CfOp::from_bits(op) {
            return Word::Cf(Cf {
                op,
                addr: dw0,
                pop_count: bits(dw1, 2, 0) as u8,
                cf_const: bits(dw1, 7, 3) as u8,
                cond: Cond::from_bits(bits(dw1, 9, 8)),
                count: (bits(dw1, 12, 10) | bits(dw1, 19, 19) << 3) as u8,
                call_count: bits(dw1, 18, 13) as u8,
                end,
                vpm,
                wqm,
                barrier,
            });
        }
        match MemOp::from_bits(op) {
            Some(op) => Word::Mem(Mem {
                op,
                dw0,
                rest: bits(dw1, 20, 0),
                end,
                vpm,
                wqm,
                barrier,
            }),
            None => Word::Reserved(dw0, dw1),
        }
    }

    /// Returns the two words; u = 0.
    pub const fn encode(self) -> Quad {
        match self {
            Word::Cf(cf) => cf.encode(),
            Word::Mem(mem) => mem.encode(),
            Word::Alu(alu) => alu.encode(),
            Word::Reserved(dw0, dw1) => Quad { dw0, dw1, u: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quad(dw0: u32, dw1: u32) -> Quad {
        Quad { dw0, dw1, u: false }
    }

    /// Walks one bit through both words of each opcode: each bit is in a field, is reserved, or changes the
    /// opcode, and it is never lost.
    #[test]
    fn every_bit_is_a_field_or_reserved() {
        for op in 0..128u32 {
            for i in 0..64 {
                let (dw0, flip) = if i < 32 {
                    (1 << i, 0)
                } else {
                    (0, 1 << (i - 32))
                };
                let q = quad(dw0, op << 23 ^ flip);
                let word = Word::decode(q);
                let lost = if matches!(word, Word::Cf(_)) {
                    Cf::RESERVED
                } else {
                    0
                };
                assert_eq!(word.encode(), quad(q.dw0, q.dw1 & !lost), "{q:08X?}");
            }
        }
    }

    /// The table of r700-2.5: names, numbers and the DW1 beside them.
    #[test]
    fn opcodes_are_those_of_the_table() {
        let dw1 = |name: &str| {
            let word = CfOp::from_name(name)
                .map(|op| Word::Cf(Cf::new(op)))
                .or_else(|| MemOp::from_name(name).map(|op| Word::Mem(Mem::new(op))))
                .or_else(|| {
                    let clause = Clause::default();
                    AluOp::from_name(name).map(|op| Word::Alu(Alu { op, clause }))
                });
            word.unwrap().encode().dw1
        };
        for (name, expected) in [
            ("NOP", 0x8000_0000),
            ("TEX", 0x8080_0000),
            ("VTX", 0x8100_0000),
            ("VTX_TC", 0x8180_0000),
            ("LOOP_START", 0x8200_0000),
            ("LOOP_END", 0x8280_0000),
            ("LOOP_START_DX10", 0x8300_0000),
            ("LOOP_START_NO_AL", 0x8380_0000),
            ("LOOP_CONTINUE", 0x8400_0000),
            ("LOOP_BREAK", 0x8480_0000),
            ("JUMP", 0x8500_0000),
            ("PUSH", 0x8580_0000),
            ("PUSH_ELSE", 0x8600_0000),
            ("ELSE", 0x8680_0000),
            ("POP", 0x8700_0000),
            ("POP_JUMP", 0x8780_0000),
            ("POP_PUSH", 0x8800_0000),
            ("POP_PUSH_ELSE", 0x8880_0000),
            ("CALL", 0x8900_0000),
            ("CALL_FS", 0x8980_0000),
            ("RETURN", 0x8A00_0000),
            ("EMIT_VERTEX", 0x8A80_0000),
            ("EMIT_CUT_VERTEX", 0x8B00_0000),
            ("CUT_VERTEX", 0x8B80_0000),
            ("KILL", 0x8C00_0000),
            ("WAIT_ACK", 0x8D00_0000),
            ("TEX_ACK", 0x8D80_0000),
            ("VTX_ACK", 0x8E00_0000),
            ("VTX_TC_ACK", 0x8E80_0000),
            ("MEM_STREAM0", 0x9000_0000),
            ("MEM_STREAM1", 0x9080_0000),
            ("MEM_STREAM2", 0x9100_0000),
            ("MEM_STREAM3", 0x9180_0000),
            ("MEM_SCRATCH", 0x9200_0000),
            ("MEM_REDUCTION", 0x9280_0000),
            ("MEM_RING", 0x9300_0000),
            ("EXPORT", 0x9380_0000),
            ("EXPORT_DONE", 0x9400_0000),
            ("MEM_EXPORT", 0x9D00_0000),
            ("ALU", 0xA000_0000),
            ("ALU_PUSH_BEFORE", 0xA400_0000),
            ("ALU_POP_AFTER", 0xA800_0000),
            ("ALU_POP2_AFTER", 0xAC00_0000),
            ("ALU_CONTINUE", 0xB400_0000),
            ("ALU_BREAK", 0xB800_0000),
            ("ALU_ELSE_AFTER", 0xBC00_0000),
        ] {
            assert_eq!(dw1(name), expected, "{name}");
        }
        assert_eq!(
            CfOp::ALL.len() + MemOp::ALL.len() + AluOp::ALL.len(),
            29 + 10 + 7
        );
        for op in (0..64).filter(|n| matches!(n, 25 | 30 | 31 | 41..=57 | 59..=63)) {
            let q = quad(7, op << 23);
            assert_eq!(Word::decode(q), Word::Reserved(7, op << 23), "{op}");
        }
        assert_eq!(
            Word::decode(quad(1, 0xB000_0000)),
            Word::Reserved(1, 0xB000_0000)
        );
    }

    /// r700-2.2 and r700-2.3, bit positions.
    #[test]
    fn fields_lie_where_the_spec_puts_them() {
        let cf = Cf {
            op: CfOp::Kill,
            addr: 0xDEAD_BEEF,
            pop_count: 5,
            cf_const: 17,
            cond: Cond::NotBool,
            count: 0b1010,
            call_count: 33,
            end: true,
            vpm: false,
            wqm: true,
            barrier: false,
        };
        let dw1 =
            5 | 17 << 3 | 3 << 8 | 2 << 10 | 33 << 13 | 1 << 19 | 1 << 21 | 24 << 23 | 1 << 30;
        assert_eq!(Word::decode(quad(0xDEAD_BEEF, dw1)), Word::Cf(cf));
        assert_eq!(cf.encode(), quad(0xDEAD_BEEF, dw1));
        let alu = Alu {
            op: AluOp::AluBreak,
            clause: Clause {
                addr: 0x2A_AAAA,
                count: 0x55,
                kcache: [
                    Kcache {
                        bank: 9,
                        mode: 2,
                        addr: 0x81,
                    },
                    Kcache {
                        bank: 6,
                        mode: 1,
                        addr: 0x7E,
                    },
                ],
                alt_const: true,
                wqm: false,
                barrier: true,
            },
        };
        let dw0 = 0x2A_AAAA | 9 << 22 | 6 << 26 | 2 << 30;
        let dw1 = 1 | 0x81 << 2 | 0x7E << 10 | 0x55 << 18 | 1 << 25 | 14 << 26 | 1 << 31;
        assert_eq!(Word::decode(quad(dw0, dw1)), Word::Alu(alu));
        assert_eq!(alu.encode(), quad(dw0, dw1));
    }

    /// A value too wide for its field must not leak into the neighbouring fields.
    #[test]
    fn encode_masks_too_wide_values() {
        let cf = Cf {
            pop_count: 8,
            cf_const: 32,
            count: 16,
            call_count: 64,
            ..Cf::new(CfOp::Nop)
        };
        assert_eq!(cf.encode(), quad(0, 0x8000_0000));
        let mem = Mem {
            rest: 1 << 21,
            ..Mem::new(MemOp::MemStream0)
        };
        assert_eq!(mem.encode(), quad(0, 0x9000_0000));
        let wide = Kcache {
            bank: 16,
            mode: 4,
            addr: 0,
        };
        let clause = Clause {
            addr: 1 << 22,
            count: 128,
            kcache: [wide, wide],
            ..Clause::default()
        };
        let alu = Alu {
            op: AluOp::Alu,
            clause,
        };
        assert_eq!(alu.encode(), quad(0, 0xA000_0000));
    }
}
