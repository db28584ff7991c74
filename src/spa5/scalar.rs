//! The scalar machine: one thread alone (spa5-9).
//!
//! There is no mask here, no DIV token, no flag and no `vis`. A thread has a program counter and a stack of
//! tokens that hold a type and an address. If its own condition holds, it branches or leaves; otherwise
//! it continues: SSY, PBK, PCNT, PRET, CAL and JCAL push; SYNC needs an SSY token on top; BRK and CONT go
//! back to the newest token of their type, but not across a RET token; RET goes back to the newest RET
//! token; EXIT and KIL end. Words are decoded here from the tables of spa5-2.3 and spa5-2.4, with nothing shared.
//!
//! A warp may defer a thread and may let it wait, but it must not change what the thread executes: this is
//! the whole guarantee of spa5-9, and it holds for any program, structured or not. The one exception
//! is BRA.U, and JMP.U with it, whose outcome depends on what the other threads want (spa5-O12); alone it is a plain
//! BRA.

use super::program::{BUNDLE, Program};
pub use super::state::values::error::{
    BRK_NO_PBK, CONT_NO_PCNT, ILLEGAL, PC_RANGE, RET_NO_CALL, STACK_OVERFLOW, SYNC_NO_SSY,
    TARGET_MISALIGNED, TARGET_RANGE, UNSUPPORTED,
};

/// LUT16 of the CC tests 0x00 to 0x17; bit 8 O + 4 C + 2 S + Z (spa5-2.4-c). Others need CSM (spa5-2.4-d).
#[rustfmt::skip]
const TESTS: [u16; 24] = [
    // F LT EQ LE GT NE GE NUM, NAN LTU EQU LEU GTU NEU GEU T, OFF LO SFF LS HI SFT HS OFT
    0x0000, 0xbb44, 0x2222, 0x3366, 0x4411, 0x5555, 0xcc33, 0x7777,
    0x8888, 0x33cc, 0xaaaa, 0xbbee, 0xcc99, 0xdddd, 0x44bb, 0xffff,
    0x00ff, 0x0f0f, 0x3333, 0xafaf, 0x5050, 0xcccc, 0xf0f0, 0xff00,
];

/// First condition bit of a draw that is not a predicate: Z, then S, C, O.
const CC_BIT: u32 = 7;
/// First condition bit of a draw that belongs to the clip state machine (contract-7-e).
const CSM_BIT: u64 = 8;

/// Type of a token, without DIV: a thread alone does not diverge (spa5-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Of SSY; SYNC goes back to it.
    Ssy,
    /// Of PBK; BRK goes back to it.
    Pbk,
    /// Of PCNT; CONT goes back to it.
    Pcnt,
    /// Of CAL and PRET; RET goes back to it.
    Ret,
}

impl TokenKind {
    /// Returns the error of the instruction that goes back to such a token and finds none.
    fn missing(self) -> u8 {
        match self {
            TokenKind::Ssy => SYNC_NO_SSY,
            TokenKind::Pbk => BRK_NO_PBK,
            TokenKind::Pcnt => CONT_NO_PCNT,
            TokenKind::Ret => RET_NO_CALL,
        }
    }
}

/// A token: no mask, no saved `vis`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Type.
    pub kind: TokenKind,
    /// The address where the thread continues after going back to it, normalized.
    pub addr: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Other,
    SetUp(TokenKind),
    Call,
    Branch,
    IndirectBranch,
    Leave(TokenKind),
    Exit,
    Kill,
    Illegal,
    Unsupported,
}

/// Decodes a word (spa5-2.3). Bits that are not used have no effect.
fn decode(word: u64) -> Op {
    if word & 0xFFF8_0000_0000_0000 == 0xF0F8_0000_0000_0000 {
        return Op::Leave(TokenKind::Ssy);
    }
    let opcode = word >> 52;
    // Not all instructions with a target have a constant-bank form, which bit 5 selects.
    let constant = word & 0x20 != 0;
    match opcode {
        0xE20 | 0xE21 | 0xE22 | 0xE25 if constant => Op::Unsupported,
        0xE21 | 0xE24 => Op::Branch,
        0xE20 | 0xE25 => Op::IndirectBranch,
        0xE22 | 0xE26 => Op::Call,
        0xE27 => Op::SetUp(TokenKind::Ret),
        0xE29 => Op::SetUp(TokenKind::Ssy),
        0xE2A => Op::SetUp(TokenKind::Pbk),
        0xE2B => Op::SetUp(TokenKind::Pcnt),
        0xE30 => Op::Exit,
        0xE32 => Op::Leave(TokenKind::Ret),
        0xE33 => Op::Kill,
        0xE34 => Op::Leave(TokenKind::Pbk),
        0xE35 => Op::Leave(TokenKind::Pcnt),
        0xE3B..=0xE3F => Op::Illegal,
        0xE23..=0xE3A => Op::Unsupported,
        _ => Op::Other,
    }
}

/// Returns whether a word is a BRX or JMX with its target in a register (spa5-A).
pub fn is_brx(word: u64) -> bool {
    decode(word) == Op::IndirectBranch
}

/// Returns whether a word is a BRA.U or JMP.U (spa5-O12).
pub fn is_unanimous(word: u64) -> bool {
    decode(word) == Op::Branch && word & 0x80 != 0
}

/// Returns the normalized address: that of a control word means the first slot of its bundle (spa5-2.1-c).
fn norm(addr: u32) -> u32 {
    match addr % BUNDLE {
        0 => addr.wrapping_add(8),
        _ => addr,
    }
}

/// Returns the next instruction in program order (spa5-2.1-d).
fn seq(pc: u32) -> u32 {
    norm(pc.wrapping_add(8))
}

/// Returns the target of `word` at `pc` without a register, before any check (spa5-2.2-a, spa5-2.2-b, spa5-2.3-n).
fn base(pc: u32, word: u64, program: &Program) -> i64 {
    if is_absolute(word) {
        return i64::from((word >> 20) as u32);
    }
    // 24 bits; the shifts extend the sign of the highest.
    let off24 = match word & 0x20 != 0 {
        true => i64::from(program.constant(word)) << 40 >> 40,
        false => (word << 20) as i64 >> 40,
    };
    i64::from(pc) + 8 + off24
}

/// Returns whether its target is bits 51:20: JMX, JMP, JCAL (spa5-2.2-d).
fn is_absolute(word: u64) -> bool {
    matches!(word >> 52, 0xE20..=0xE22)
}

/// The condition bits and the choice that a black box gives a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draw {
    /// P0 to P6 in bits 0 to 6, then Z, S, C, O; bits 8 to 15 are also those of the clip state machine.
    pub bits: u16,
    /// The whole draw; its upper part chooses among the targets of a BRX or JMX (see [`reconverge_program::environment`]).
    pub word: u64,
}

/// A thread between two instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Address of the next instruction, normalized; after EXIT, of the EXIT.
    pub pc: u32,
    /// Tokens, the oldest first.
    pub tokens: Vec<Token>,
    /// Instructions executed.
    pub executed: u64,
    /// The effect of the last of them.
    pub last: Option<Deed>,
    /// It has executed EXIT or KIL.
    pub exited: bool,
    /// It has executed KIL.
    pub killed: bool,
    /// The k of its last draw.
    drawn_at: Option<u64>,
}

/// The effect of an instruction on a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// OTHER: the thread gets new conditions and continues.
    Computes,
    /// A branch whose condition does not hold: the thread continues.
    Passes,
    /// A leaving instruction whose condition does not hold: the thread continues.
    Stays,
    /// Pushes the token.
    Pushes {
        /// The token.
        token: Token,
        /// Where the thread continues.
        to: u32,
    },
    /// Branches.
    Jumps {
        /// The target, normalized.
        to: u32,
        /// The target before normalization.
        target: i64,
    },
    /// SYNC, BRK, CONT or RET.
    Leaves {
        /// To a token of this type.
        kind: TokenKind,
        /// Tokens below it.
        left: usize,
        /// Its address.
        to: u32,
    },
    /// EXIT.
    Exits,
    /// KIL.
    IsKilled,
}

/// The end of a run of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// EXIT or KIL was executed.
    Done,
    /// An error of spa5-6, before the next instruction.
    Error(u8),
    /// The limit of executed instructions was reached.
    Limit,
}

/// The run of one thread alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Addresses of the instructions executed, in order.
    pub executed: Vec<u32>,
    /// How it ended.
    pub end: End,
    /// The thread at the end; after an error, `pc` is the offending instruction.
    pub thread: Thread,
}

/// A program as one thread alone executes it.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'p> {
    program: &'p Program,
    depth: usize,
    brx: bool,
    csm: bool,
}

impl<'p> Scalar<'p> {
    /// Returns a machine for `program` on a unit with room for `depth` tokens, with or without the option BRX (spa5-A).
    ///
    /// A warp also needs room for DIV tokens: where a thread overflows alone, the warp has overflowed before or there.
    pub fn new(program: &'p Program, depth: usize, brx: bool) -> Self {
        Scalar {
            program,
            depth,
            brx,
            csm: false,
        }
    }

    /// Returns the same with the CC tests of the clip state machine, or without (spa5-2.4-e).
    #[must_use]
    pub fn with_csm(self, csm: bool) -> Self {
        Scalar { csm, ..self }
    }

    /// Returns a thread at launch (spa5-3-d).
    pub fn launch(&self) -> Thread {
        Thread {
            pc: norm(self.program.prog_base.wrapping_add(self.program.entry)),
            tokens: Vec::new(),
            executed: 0,
            last: None,
            exited: false,
            killed: false,
            drawn_at: None,
        }
    }

    /// Returns what `thread` will do with its next instruction; `draw(k)` is the draw of its k-th instruction, from 0.
    ///
    /// # Errors
    ///
    /// The thread cannot execute it: the code of spa5-6.
    pub fn next(&self, thread: &Thread, draw: impl Fn(u64) -> Draw) -> Result<Deed, u8> {
        let pc = thread.pc;
        if !self.holds(pc.into()) {
            return Err(PC_RANGE);
        }
        let word = self.program.word(pc);
        let op = decode(word);
        match op {
            Op::Illegal => return Err(ILLEGAL),
            Op::Unsupported => return Err(UNSUPPORTED),
            Op::IndirectBranch if !self.brx => return Err(UNSUPPORTED),
            Op::Other => return Ok(Deed::Computes),
            Op::SetUp(kind) => {
                let addr = self.target(base(pc, word, self.program))?;
                return self.push(thread, Token { kind, addr }, seq(pc));
            }
            Op::Call => {
                let to = self.target(base(pc, word, self.program))?;
                let token = Token {
                    kind: TokenKind::Ret,
                    addr: seq(pc),
                };
                return self.push(thread, token, to);
            }
            Op::Branch | Op::IndirectBranch | Op::Leave(_) | Op::Exit | Op::Kill => {}
        }
        let holds = self.condition(thread, &draw)?;
        Ok(match op {
            Op::Exit if holds => Deed::Exits,
            Op::Kill if holds => Deed::IsKilled,
            Op::Leave(kind) if holds => {
                let left = token_below(&thread.tokens, kind).ok_or(kind.missing())?;
                let to = thread.tokens[left].addr;
                Deed::Leaves { kind, left, to }
            }
            Op::Exit | Op::Kill | Op::Leave(_) => Deed::Stays,
            _ if !holds => Deed::Passes,
            _ => {
                let target = match op {
                    Op::IndirectBranch => self.register(thread, draw),
                    _ => None,
                }
                .unwrap_or(base(pc, word, self.program));
                let to = self.target(target)?;
                Deed::Jumps { to, target }
            }
        })
    }

    /// Returns whether the condition of the next instruction, which has one, holds for `thread` (spa5-2.4-a, spa5-2.4-c, spa5-2.4-e).
    ///
    /// # Errors
    ///
    /// The CC test is unsupported: [`UNSUPPORTED`].
    pub fn condition(&self, thread: &Thread, draw: impl Fn(u64) -> Draw) -> Result<bool, u8> {
        let word = self.program.word(thread.pc);
        let number = word & 31;
        let bits = thread.drawn_at.map_or(Draw::default(), draw).bits;
        let passes = match TESTS.get(number as usize) {
            Some(test) => test >> (bits >> CC_BIT & 15) & 1 == 1,
            None if self.csm => bits >> (number - 24 + CSM_BIT) & 1 == 1,
            None => return Err(UNSUPPORTED),
        };
        let predicate = match word >> 16 & 7 {
            7 => true,
            n => bits >> n & 1 == 1,
        };
        let inverted = word >> 19 & 1 == 1;
        Ok(predicate != inverted && passes)
    }

    /// Applies to `thread` what [`Scalar::next`] has returned.
    pub fn execute(&self, thread: &mut Thread, deed: Deed) {
        let next = seq(thread.pc);
        thread.pc = match deed {
            Deed::Computes => {
                thread.drawn_at = Some(thread.executed);
                next
            }
            Deed::Passes | Deed::Stays => next,
            Deed::Pushes { token, to } => {
                thread.tokens.push(token);
                to
            }
            Deed::Jumps { to, .. } => to,
            Deed::Leaves { left, to, .. } => {
                thread.tokens.truncate(left);
                to
            }
            Deed::Exits | Deed::IsKilled => {
                thread.exited = true;
                thread.killed = deed == Deed::IsKilled;
                thread.pc
            }
        };
        thread.last = Some(deed);
        thread.executed += 1;
    }

    /// Runs a thread from its launch, for at most `most` instructions.
    pub fn run(&self, most: u64, draw: impl Fn(u64) -> Draw) -> Trace {
        let mut thread = self.launch();
        let mut executed = vec![];
        let end = loop {
            if thread.exited {
                break End::Done;
            }
            if thread.executed == most {
                break End::Limit;
            }
            match self.next(&thread, &draw) {
                Ok(deed) => {
                    executed.push(thread.pc);
                    self.execute(&mut thread, deed);
                }
                Err(code) => break End::Error(code),
            }
        };
        Trace {
            executed,
            end,
            thread,
        }
    }

    /// Returns whether an address lies in the program (spa5-3-p).
    fn holds(&self, address: i64) -> bool {
        let base = i64::from(self.program.prog_base);
        address >= base && address - base < i64::from(self.program.prog_size)
    }

    /// Returns the normalized target, or its error (spa5-4.2-a).
    fn target(&self, target: i64) -> Result<u32, u8> {
        if target % 8 != 0 {
            return Err(TARGET_MISALIGNED);
        }
        match u32::try_from(target) {
            Ok(address) if self.holds(target) => Ok(norm(address)),
            _ => Err(TARGET_RANGE),
        }
    }

    fn push(&self, thread: &Thread, token: Token, to: u32) -> Result<Deed, u8> {
        match thread.tokens.len() < self.depth {
            true => Ok(Deed::Pushes { token, to }),
            false => Err(STACK_OVERFLOW),
        }
    }

    /// Returns the target that the register of a BRX or JMX gives: one of the compiler's list, chosen by the last draw;
    /// without a list the register is 0.
    fn register(&self, thread: &Thread, draw: impl Fn(u64) -> Draw) -> Option<i64> {
        let targets = self.program.targets.get(&thread.pc)?;
        let word = thread.drawn_at.map_or(Draw::default(), draw).word;
        // The register holds the target less the base, and the base is added again: the target itself.
        let n = (word >> 44) as usize;
        targets
            .get(n.checked_rem(targets.len())?)
            .copied()
            .map(i64::from)
    }
}

/// Returns how many tokens lie below the one that an instruction for tokens of `kind` goes back to (spa5-4.4-k, spa5-9).
fn token_below(tokens: &[Token], kind: TokenKind) -> Option<usize> {
    let at = match kind {
        TokenKind::Ssy => tokens.len().checked_sub(1),
        // Only tokens of its own function (spa5-O6); above a RET token, any token of the function may lie.
        TokenKind::Pbk | TokenKind::Pcnt | TokenKind::Ret => {
            (tokens.iter()).rposition(|t| t.kind == kind || t.kind == TokenKind::Ret)
        }
    }?;
    (tokens[at].kind == kind).then_some(at)
}

#[cfg(test)]
mod tests;
