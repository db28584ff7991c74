//! CF words as fields: encoding and decoding, without their meaning.
//!
//! Source: r700-2.1 to r700-2.5 in `docs/spec/r700.md`.
//!
//! [`Word::decode`] never fails: opcodes without a name keep both words unchanged. For words that
//! have fields, `Word::decode(q).encode() == q` unless bit 20 of the general format is set
//! ([`Cf::RESERVED`]). `u` belongs to the clause, not to the words, and is not changed here.

use super::program::Quad;
use reconverge_program::layout::Bits;
use reconverge_program::layout::Text::{Flag, Number, Other, Without};
use reconverge_program::{layout, names};

names! {
    /// `CF_INST` of the general format, DW1 bits 29:23, 0..=31 (r700-2.5).
    CfOp: u32 {
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

names! {
    /// `CF_INST` of the memory and export format, DW1 bits 29:23, 32..=63 (r700-2.5).
    MemOp: u32 {
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

names! {
    /// `CF_INST` of the ALU format, DW1 bits 29:26, 8..=15 (r700-2.5).
    AluOp: u32 {
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

names! {
    /// `COND` (r700-2.2, r700-4.1).
    every Cond {
        /// Lanes of class ACTIVE pass.
        Active = 0 "ACTIVE",
        /// No lane passes.
        False = 1 "FALSE",
        /// ACTIVE lanes pass if the boolean is 1.
        Bool = 2 "BOOL",
        /// ACTIVE lanes pass if the boolean is 0.
        NotBool = 3 "NOT_BOOL",
    }
}

/// Bits of DW0.
const fn dw0(high: u32, low: u32) -> Bits {
    Bits { word: 0, high, low }
}

/// Bits of DW1.
const fn dw1(high: u32, low: u32) -> Bits {
    Bits { word: 1, high, low }
}

/// `CF_INST` of the general format and of memory and export.
const CF_INST: [Bits; 1] = [dw1(29, 23)];

/// `CF_INST` of the ALU format.
const ALU_INST: [Bits; 1] = [dw1(29, 26)];

layout! {
    /// An instruction of the general format (r700-2.2).
    Cf(
        /// `CF_INST`.
        op: CfOp = CF_INST
    ): 2 words {
        /// `ADDR`: jump target or start of a fetch clause, in quadwords.
        addr: u32 = [dw0(31, 0)], Other;
        /// `POP_COUNT`: branch frames to pop.
        pop_count: u8 = [dw1(2, 0)], Number("POP:");
        /// `COND`.
        cond: Cond = [dw1(9, 8)], Other;
        /// `CF_CONST`: loop constant and boolean.
        cf_const: u8 = [dw1(7, 3)], Other;
        /// `COUNT_3` and `COUNT`: instructions of a fetch clause minus 1.
        count: u8 = [dw1(19, 19), dw1(12, 10)], Number("COUNT:");
        /// `CALL_COUNT`: step of the nesting depth.
        call_count: u8 = [dw1(18, 13)], Number("CALL_COUNT:");
        /// `VALID_PIXEL_MODE`.
        vpm: bool = [dw1(22, 22)], Flag("VPM");
        /// `WHOLE_QUAD_MODE`.
        wqm: bool = [dw1(30, 30)], Flag("WQM");
        /// `END_OF_PROGRAM`.
        end: bool = [dw1(21, 21)], Flag("END");
        /// `BARRIER`: no effect on the sequencer.
        barrier: bool = [dw1(31, 31)], Without("NO_BARRIER");
    }
}

impl Cf {
    /// DW1 bits without a field.
    pub const RESERVED: u32 = Cf::FREE[1] as u32;

    /// Returns it with the target `addr`.
    pub const fn to(self, addr: u32) -> Self {
        Cf { addr, ..self }
    }

    /// Returns it with this `POP_COUNT`.
    pub const fn popping(self, pop_count: u8) -> Self {
        Cf { pop_count, ..self }
    }

    /// Returns it with this `CALL_COUNT`.
    pub const fn counting(self, call_count: u8) -> Self {
        Cf { call_count, ..self }
    }

    /// Returns it with the condition that no lane passes: JUMP, PUSH and the loop starts then jump.
    pub const fn never(self) -> Self {
        let cond = Cond::False;
        Cf { cond, ..self }
    }

    /// Returns it with `END_OF_PROGRAM`.
    pub const fn ending(self) -> Self {
        Cf { end: true, ..self }
    }

    /// Returns the two words, with zeros at [`Cf::RESERVED`]; bits above a field's width are not encoded. u = 0.
    #[inline]
    pub const fn encode(self) -> Quad {
        quad(self.words())
    }
}

layout! {
    /// An instruction of the memory and export format: the fields that the sequencer reads, and the rest undecoded (r700-2.4).
    Mem(
        /// `CF_INST`.
        op: MemOp = CF_INST
    ): 2 words {
        /// DW0: registers, base and type of the access, not read here.
        dw0: u32 = [dw0(31, 0)], Other;
        /// Swizzle, sizes, burst, not read here.
        rest: u32 = [dw1(20, 0)], Other;
        /// `VALID_PIXEL_MODE`.
        vpm: bool = [dw1(22, 22)], Flag("VPM");
        /// `WHOLE_QUAD_MODE`.
        wqm: bool = [dw1(30, 30)], Flag("WQM");
        /// `END_OF_PROGRAM`.
        end: bool = [dw1(21, 21)], Flag("END");
        /// `BARRIER`.
        barrier: bool = [dw1(31, 31)], Without("NO_BARRIER");
    }
}

impl Mem {
    /// Largest `rest`.
    pub const REST: u32 = (1 << 21) - 1;

    /// Returns the two words; bits above a field's width are not encoded. u = 0.
    #[inline]
    pub const fn encode(self) -> Quad {
        quad(self.words())
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

impl Kcache {
    /// Returns the window of mode, bank and address, from the highest bit to the lowest.
    pub const fn from_bits(value: u32) -> Self {
        Kcache {
            bank: (value >> 8 & 15) as u8,
            mode: (value >> 12 & 3) as u8,
            addr: value as u8,
        }
    }

    /// Returns them as a number.
    pub const fn bits(self) -> u32 {
        (self.mode as u32 & 3) << 12 | (self.bank as u32 & 15) << 8 | self.addr as u32
    }
}

layout! {
    /// An ALU clause as its CF word describes it: the ALU format without the opcode (r700-2.3).
    ///
    /// The sequencer ignores all of it.
    Clause: 2 words {
        /// `ADDR`, in quadwords.
        addr: u32 = [dw0(21, 0)], Other;
        /// `COUNT`: slots minus 1.
        count: u8 = [dw1(24, 18)], Other;
        /// `KCACHE_MODE0`, `KCACHE_BANK0` and `KCACHE_ADDR0`.
        kcache0: Kcache = [dw0(31, 30), dw0(25, 22), dw1(9, 2)], Other;
        /// `KCACHE_MODE1`, `KCACHE_BANK1` and `KCACHE_ADDR1`.
        kcache1: Kcache = [dw1(1, 0), dw0(29, 26), dw1(17, 10)], Other;
        /// `USES_WATERFALL` on R600, `ALT_CONST` on R700.
        alt_const: bool = [dw1(25, 25)], Flag("ALT_CONST");
        /// `WHOLE_QUAD_MODE`: ignored.
        wqm: bool = [dw1(30, 30)], Flag("WQM");
        /// `BARRIER`.
        barrier: bool = [dw1(31, 31)], Without("NO_BARRIER");
    }
}

impl Clause {
    /// Largest `addr`.
    pub const ADDR: u32 = (1 << 22) - 1;

    /// Returns a clause of one slot at `addr`, with no constants and `BARRIER` set.
    pub const fn at(addr: u32) -> Self {
        Clause {
            addr,
            ..Clause::new()
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
    /// Returns `op` with a clause of one slot.
    pub const fn new(op: AluOp) -> Self {
        let clause = Clause::at(0);
        Alu { op, clause }
    }

    /// Returns the two words; bits above a field's width are not encoded. u = 0.
    #[inline]
    pub const fn encode(self) -> Quad {
        let op = self.op.bits() as u64;
        quad(layout::put(&ALU_INST, self.clause.words(), op))
    }
}

/// Returns the quadword with these words, u = 0.
const fn quad([dw0, dw1]: [u64; 2]) -> Quad {
    Quad {
        dw0: dw0 as u32,
        dw1: dw1 as u32,
        u: false,
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
    #[inline]
    pub const fn decode(quad: Quad) -> Self {
        let words = [quad.dw0 as u64, quad.dw1 as u64];
        let number = layout::get(&CF_INST, &words) as u32;
        // Bit 29 (r700-2.1-b).
        if number >= 64 {
            let clause = Clause::of(words);
            return match AluOp::from_bits(layout::get(&ALU_INST, &words) as u32) {
                Some(op) => Word::Alu(Alu { op, clause }),
                None => Word::Reserved(quad.dw0, quad.dw1),
            };
        }
        match (CfOp::from_bits(number), MemOp::from_bits(number)) {
            (Some(op), _) => Word::Cf(Cf::of(op, words)),
            (None, Some(op)) => Word::Mem(Mem::of(op, words)),
            (None, None) => Word::Reserved(quad.dw0, quad.dw1),
        }
    }

    /// Returns the two words; u = 0.
    #[inline]
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
pub(super) mod tests {
    use super::*;
    use crate::rules::check_layout;

    /// Returns all values of DW1 31:16, and of DW1 15:0 in each format.
    pub(in crate::r700) fn every_dw1() -> impl Iterator<Item = u32> {
        let highs = (0..=0xffff).flat_map(|high| [high << 16, high << 16 | 0xffff]);
        let formats = [0x8000_0000, 0x8050_0000, 0x9000_0000, 0xa000_0000];
        highs.chain((0..=0xffff).flat_map(move |low| formats.map(|format| format | low)))
    }

    #[test]
    fn fields_lie_where_the_tables_of_the_specification_put_them() {
        let names = [
            ("op", "CF_INST"),
            ("end", "END_OF_PROGRAM"),
            ("kcache0", ""),
            ("kcache1", ""),
        ];
        let general = [("r700-2.2", 0), ("r700-2.2", 1)];
        check_layout(Cf::FIELDS, &general, &names);
        let without_rows = [("dw0", ""), ("rest", "")];
        check_layout(Mem::FIELDS, &general, &[&names[..], &without_rows].concat());
        check_layout(Clause::FIELDS, &[("r700-2.3", 0), ("r700-2.3", 1)], &names);
        // Mode, bank, address.
        let window = |mode, bank, addr| Kcache { bank, mode, addr };
        let clause = Clause {
            kcache0: window(2, 9, 0x81),
            kcache1: window(1, 6, 0x7E),
            ..Clause::default()
        };
        let dw0 = 9 << 22 | 6 << 26 | 2 << 30;
        let dw1 = 1 | 0x81 << 2 | 0x7E << 10 | 1 << 31;
        assert_eq!(clause.words(), [dw0, dw1]);
        assert_eq!(Clause::of([dw0, dw1]), clause);
    }

    fn quad(dw0: u32, dw1: u32) -> Quad {
        Quad { dw0, dw1, u: false }
    }

    /// The tables and the list of r700-2.5: names, numbers and the DW1 beside them.
    #[test]
    fn opcodes_are_those_of_the_specification() {
        let text = crate::rules::find("r700-2.5")
            .unwrap()
            .text
            .replace('\n', " | ");
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let mut found = 0;
        for row in cells.windows(3) {
            let numbers = (row[0].parse::<u32>(), u32::from_str_radix(row[2], 16));
            let (Ok(number), Ok(dw1), 8) = (numbers.0, numbers.1, row[2].len()) else {
                continue;
            };
            // Behind the name may be a remark.
            let name = row[1].split(' ').next().unwrap_or_default();
            let cf = CfOp::from_name(name).map(|op| (op.bits(), Cf::new(op).encode()));
            let alu = AluOp::from_name(name).map(|op| (op.bits(), Alu::new(op).encode()));
            assert_eq!(cf.or(alu), Some((number, quad(0, dw1))), "{name}");
            found += 1;
        }
        assert_eq!(found, CfOp::ALL.len() + AluOp::ALL.len());
        assert!(text.contains("32-35 MEM_STREAM0-3 (90000000 up, step 00800000)"));
        for (n, op) in (0..).zip(MemOp::ALL) {
            let (number, name) = (op.bits(), op.name());
            let named = match n {
                0..4 => number == 32 + n && name == format!("MEM_STREAM{n}"),
                _ => text.replace("| ", "").contains(&format!("{number} {name}")),
            };
            assert!(named, "{name}");
            assert_eq!(Mem::new(*op).encode(), quad(0, 1 << 31 | number << 23));
        }
        for op in (0..64).filter(|n| matches!(n, 25 | 30 | 31 | 41..=57 | 59..=63)) {
            let q = quad(7, op << 23);
            assert_eq!(Word::decode(q), Word::Reserved(7, op << 23), "{op}");
        }
        assert_eq!(
            Word::decode(quad(1, 0xB000_0000)),
            Word::Reserved(1, 0xB000_0000)
        );
    }
}
