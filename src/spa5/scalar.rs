//! The third judge: one thread alone (spa5-9).
//!
//! There is no mask here, no DIV token, no flag and no `vis`. A thread has a program counter and a stack of
//! tokens that hold a type and an address. Where its own condition holds it branches or leaves, where it
//! does not it goes on: SSY, PBK, PCNT, PRET and CAL push; SYNC needs an SSY token on top; BRK and CONT go
//! back to the newest token of their type, but not across a RET token; RET goes back to the newest RET
//! token; EXIT ends. Words are decoded here from the tables of spa5-2.3 and spa5-2.4, with nothing shared.
//!
//! A warp may defer a thread and may let it wait, but it must not change what the thread executes: that is
//! the whole of the promise of spa5-9, and it holds for any program, structured or not. The one exception
//! is BRA.U, whose outcome depends on what the other threads want (spa5-O12); alone it is a plain BRA.

use super::program::{BUNDLE, Program};

// Error codes of spa5-6.

/// SYNC without an SSY token on top.
pub const SYNC_NO_SSY: u8 = 1;
/// BRK without a PBK token to go to.
pub const BRK_NO_PBK: u8 = 2;
/// CONT without a PCNT token to go to.
pub const CONT_NO_PCNT: u8 = 3;
/// RET without a RET token to go to.
pub const RET_NO_CALL: u8 = 4;
/// More tokens than there is room for.
pub const STACK_OVERFLOW: u8 = 5;
/// PC beyond the program.
pub const PC_RANGE: u8 = 6;
/// Target outside the program.
pub const TARGET_RANGE: u8 = 7;
/// Target that is no multiple of 8.
pub const TARGET_MISALIGNED: u8 = 8;
/// Opcode that does not exist.
pub const ILLEGAL: u8 = 9;
/// Opcode, form or CC test that the unit does not have.
pub const UNSUPPORTED: u8 = 10;

/// LUT16 of the CC tests 0x00 to 0x17; bit 8 O + 4 C + 2 S + Z (spa5-2.4). Others are not supported.
#[rustfmt::skip]
const TESTS: [u16; 24] = [
    // F LT EQ LE GT NE GE NUM, NAN LTU EQU LEU GTU NEU GEU T, OFF LO SFF LS HI SFT HS OFT
    0x0000, 0xbb44, 0x2222, 0x3366, 0x4411, 0x5555, 0xcc33, 0x7777,
    0x8888, 0x33cc, 0xaaaa, 0xbbee, 0xcc99, 0xdddd, 0x44bb, 0xffff,
    0x00ff, 0x0f0f, 0x3333, 0xafaf, 0x5050, 0xcccc, 0xf0f0, 0xff00,
];

/// First condition bit of a draw that is not a predicate: Z, then S, C, O.
const CC_BIT: u32 = 7;

/// Type of a token, without DIV: alone nothing diverges (spa5-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of SSY; SYNC goes back to it.
    Ssy,
    /// Of PBK; BRK goes back to it.
    Pbk,
    /// Of PCNT; CONT goes back to it.
    Pcnt,
    /// Of CAL and PRET; RET goes back to it.
    Ret,
}

impl Kind {
    /// Error of the instruction that goes back to such a token and finds none.
    fn missing(self) -> u8 {
        match self {
            Kind::Ssy => SYNC_NO_SSY,
            Kind::Pbk => BRK_NO_PBK,
            Kind::Pcnt => CONT_NO_PCNT,
            Kind::Ret => RET_NO_CALL,
        }
    }
}

/// A token: no mask, no saved `vis`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Type.
    pub kind: Kind,
    /// Where the thread goes on that goes back to it, normalized.
    pub addr: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Other,
    SetUp(Kind),
    Call,
    Branch,
    IndirectBranch,
    Leave(Kind),
    Exit,
    Illegal,
    Unsupported,
}

/// spa5-2.3. Bits that are not looked at have no effect.
fn decode(word: u64) -> Op {
    if word & 0xFFF8_0000_0000_0000 == 0xF0F8_0000_0000_0000 {
        return Op::Leave(Kind::Ssy);
    }
    let opcode = word >> 52;
    // Where there is a constant-bank form, bit 5 chooses it.
    let constant = word & 0x20 != 0;
    match opcode {
        0xE24..=0xE27 | 0xE29..=0xE2B if constant => Op::Unsupported,
        0xE24 => Op::Branch,
        0xE25 => Op::IndirectBranch,
        0xE26 => Op::Call,
        0xE27 => Op::SetUp(Kind::Ret),
        0xE29 => Op::SetUp(Kind::Ssy),
        0xE2A => Op::SetUp(Kind::Pbk),
        0xE2B => Op::SetUp(Kind::Pcnt),
        0xE30 => Op::Exit,
        0xE32 => Op::Leave(Kind::Ret),
        0xE34 => Op::Leave(Kind::Pbk),
        0xE35 => Op::Leave(Kind::Pcnt),
        0xE3B..=0xE3F => Op::Illegal,
        0xE20..=0xE3A => Op::Unsupported,
        _ => Op::Other,
    }
}

/// Whether a word is a BRX with its target in a register (spa5-A).
pub fn is_brx(word: u64) -> bool {
    decode(word) == Op::IndirectBranch
}

/// Whether a word is a BRA.U (spa5-O12).
pub fn is_unanimous(word: u64) -> bool {
    decode(word) == Op::Branch && word & 0x80 != 0
}

/// An address of a control word means the first slot of its bundle (spa5-2.1).
fn norm(addr: u32) -> u32 {
    match addr % BUNDLE {
        0 => addr.wrapping_add(8),
        _ => addr,
    }
}

/// The next instruction in program order (spa5-2.1).
fn seq(pc: u32) -> u32 {
    norm(pc.wrapping_add(8))
}

/// What the offset of the instruction `word` at `pc` leads to, before any check (spa5-2.2).
fn base(pc: u32, word: u64) -> i64 {
    // Bits 43:20; the shifts bring the sign of bit 43 with them.
    let off24 = (word << 20) as i64 >> 40;
    i64::from(pc) + 8 + off24
}

/// What a black box gives a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draw {
    /// P0 to P6 in bits 0 to 6, then Z, S, C, O.
    pub bits: u16,
    /// The whole draw; its upper part chooses among the targets of a BRX (see [`crate::environment`]).
    pub word: u64,
}

/// A thread between two instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Address of the next instruction, normalized; of the EXIT that it has executed.
    pub pc: u32,
    /// Tokens, the oldest first.
    pub tokens: Vec<Token>,
    /// Instructions executed.
    pub executed: u64,
    /// What the last of them did.
    pub last: Option<Deed>,
    /// It has executed EXIT.
    pub exited: bool,
    /// The k of its last draw.
    drawn_at: Option<u64>,
}

/// What a thread does with an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// OTHER: it is given new conditions and goes on.
    Computes,
    /// A branch whose condition does not hold: it goes on.
    Passes,
    /// A leaving instruction whose condition does not hold: it goes on.
    Stays,
    /// Pushes the token.
    Pushes {
        /// What is pushed.
        token: Token,
        /// Where it goes on.
        to: u32,
    },
    /// Branches.
    Jumps {
        /// Where to, normalized.
        to: u32,
        /// The same before that.
        target: i64,
    },
    /// SYNC, BRK, CONT or RET.
    Leaves {
        /// To a token of this type.
        kind: Kind,
        /// Tokens below it.
        left: usize,
        /// Its address.
        to: u32,
    },
    /// EXIT.
    Exits,
}

/// How a run of one thread ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// EXIT was executed.
    Done,
    /// An error of spa5-6, before the next instruction.
    Error(u8),
    /// As many instructions were executed as asked for.
    Limit,
}

/// What one thread did alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Addresses of the instructions executed, in order.
    pub executed: Vec<u32>,
    /// How it ended.
    pub end: End,
    /// The thread then; after an error, `pc` is the offending instruction.
    pub thread: Thread,
}

/// A program as one thread alone executes it.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'p> {
    program: &'p Program,
    depth: usize,
    brx: bool,
}

impl<'p> Scalar<'p> {
    /// `program` on a unit with room for `depth` tokens, with or without the option BRX (spa5-A).
    ///
    /// A warp needs room for DIV tokens besides: where a thread overflows alone, it has overflowed there.
    pub fn new(program: &'p Program, depth: usize, brx: bool) -> Self {
        Scalar {
            program,
            depth,
            brx,
        }
    }

    /// A thread at launch (spa5-3).
    pub fn launch(&self) -> Thread {
        Thread {
            pc: norm(self.program.entry),
            tokens: Vec::new(),
            executed: 0,
            last: None,
            exited: false,
            drawn_at: None,
        }
    }

    /// What `thread` will do with its next instruction; `draw(k)` is the draw of its k-th instruction, from 0.
    ///
    /// # Errors
    ///
    /// The code of spa5-6 if it cannot execute it.
    pub fn next(&self, thread: &Thread, draw: impl Fn(u64) -> Draw) -> Result<Deed, u8> {
        let pc = thread.pc;
        if pc >= self.program.prog_size {
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
                let addr = self.target(base(pc, word))?;
                return self.push(thread, Token { kind, addr }, seq(pc));
            }
            Op::Call => {
                let to = self.target(base(pc, word))?;
                let token = Token {
                    kind: Kind::Ret,
                    addr: seq(pc),
                };
                return self.push(thread, token, to);
            }
            Op::Branch | Op::IndirectBranch | Op::Leave(_) | Op::Exit => {}
        }
        let holds = self.condition(thread, &draw)?;
        Ok(match op {
            Op::Exit if holds => Deed::Exits,
            Op::Leave(kind) if holds => {
                let left = token_below(&thread.tokens, kind).ok_or(kind.missing())?;
                let to = thread.tokens[left].addr;
                Deed::Leaves { kind, left, to }
            }
            Op::Exit | Op::Leave(_) => Deed::Stays,
            _ if !holds => Deed::Passes,
            _ => {
                let target = match op {
                    Op::IndirectBranch => self.register(thread, draw),
                    _ => None,
                }
                .unwrap_or(base(pc, word));
                let to = self.target(target)?;
                Deed::Jumps { to, target }
            }
        })
    }

    /// Whether the condition of the next instruction, which has one, holds for `thread` (spa5-2.4).
    ///
    /// # Errors
    ///
    /// [`UNSUPPORTED`] for a CC test that is.
    pub fn condition(&self, thread: &Thread, draw: impl Fn(u64) -> Draw) -> Result<bool, u8> {
        let word = self.program.word(thread.pc);
        let test = TESTS.get((word & 31) as usize).ok_or(UNSUPPORTED)?;
        let bits = thread.drawn_at.map_or(Draw::default(), draw).bits;
        let predicate = match word >> 16 & 7 {
            7 => true,
            n => bits >> n & 1 == 1,
        };
        let inverted = word >> 19 & 1 == 1;
        let cc = bits >> CC_BIT & 15;
        Ok(predicate != inverted && test >> cc & 1 == 1)
    }

    /// `thread` does what [`Scalar::next`] has said.
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
            Deed::Exits => {
                thread.exited = true;
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

    /// spa5-4.2: the target normalized, or what is wrong with it.
    fn target(&self, target: i64) -> Result<u32, u8> {
        if target % 8 != 0 {
            return Err(TARGET_MISALIGNED);
        }
        match u32::try_from(target) {
            Ok(target) if target < self.program.prog_size => Ok(norm(target)),
            _ => Err(TARGET_RANGE),
        }
    }

    fn push(&self, thread: &Thread, token: Token, to: u32) -> Result<Deed, u8> {
        match thread.tokens.len() < self.depth {
            true => Ok(Deed::Pushes { token, to }),
            false => Err(STACK_OVERFLOW),
        }
    }

    /// The target that the register of a BRX leads to: one of the compiler's list, chosen by the last draw;
    /// without a list the register is 0.
    fn register(&self, thread: &Thread, draw: impl Fn(u64) -> Draw) -> Option<i64> {
        let targets = self.program.targets.get(&thread.pc)?;
        let word = thread.drawn_at.map_or(Draw::default(), draw).word;
        // Less the base in the register, and the base added again: the target itself.
        let n = (word >> 44) as usize;
        targets
            .get(n.checked_rem(targets.len())?)
            .copied()
            .map(i64::from)
    }
}

/// How many tokens lie below the one that an instruction for tokens of `kind` goes back to.
fn token_below(tokens: &[Token], kind: Kind) -> Option<usize> {
    let at = match kind {
        Kind::Ssy => tokens.len().checked_sub(1),
        // Of its own function only (spa5-O6); to a RET token everything of the function may lie between.
        Kind::Pbk | Kind::Pcnt | Kind::Ret => {
            (tokens.iter()).rposition(|t| t.kind == kind || t.kind == Kind::Ret)
        }
    }?;
    (tokens[at].kind == kind).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::Kind::{Pbk, Pcnt, Ret, Ssy};
    use super::*;

    const X: u64 = 0x50b0_0000_0007_0f00;
    const SSY: u64 = 0xe290_0000_0000_0000;
    const PBK: u64 = 0xe2a0_0000_0000_0000;
    const PCNT: u64 = 0xe2b0_0000_0000_0000;
    const PRET: u64 = 0xe270_0000_0000_0040;
    const CAL: u64 = 0xe260_0000_0000_0040;
    const BRA: u64 = 0xe240_0000_0007_000f;
    const BRX: u64 = 0xe250_0000_0007_000f;
    const SYNC: u64 = 0xf0f8_0000_0007_000f;
    const BRK: u64 = 0xe340_0000_0007_000f;
    const CONT: u64 = 0xe350_0000_0007_000f;
    const RET: u64 = 0xe320_0000_0007_000f;
    const EXIT: u64 = 0xe300_0000_0007_000f;
    /// Bits that turn `PT` into `!PT`: never.
    const NEVER: u64 = 8 << 16;

    /// So many bundles of X, with these words at these addresses.
    fn program(bundles: u32, words: &[(u32, u64)]) -> Program {
        let mut program = Program {
            name: "test".to_owned(),
            prog_size: bundles * BUNDLE,
            words: [0x001f_bc00_fde0_07ef, X, X, X].repeat(bundles as usize),
            ..Program::default()
        };
        for &(addr, word) in words {
            program.words[addr as usize / 8] = word;
        }
        program
    }

    /// The offset by which the instruction at `pc` leads to `target`.
    fn to(pc: u32, target: u32) -> u64 {
        u64::from(target.wrapping_sub(pc + 8) & 0xff_ffff) << 20
    }

    fn scalar(program: &Program) -> Scalar<'_> {
        Scalar::new(program, 64, true)
    }

    /// One thread, whose draw `k` has these condition bits, others 0.
    fn run(program: &Program, draws: &[(u64, u16)]) -> Trace {
        scalar(program).run(100, |k| Draw {
            bits: draws.iter().find(|d| d.0 == k).map_or(0, |d| d.1),
            word: 0,
        })
    }

    fn pcs(trace: &Trace) -> &[u32] {
        assert_eq!((trace.end, trace.thread.exited), (End::Done, true));
        &trace.executed
    }

    /// What a thread with these tokens does at 0x08 with `word`.
    fn next(word: u64, tokens: &[Kind]) -> Result<Deed, u8> {
        let program = program(4, &[(8, word)]);
        let scalar = scalar(&program);
        let mut thread = scalar.launch();
        thread.tokens = (0..)
            .zip(tokens)
            .map(|(i, &kind)| Token {
                kind,
                addr: 0x28 + 8 * i,
            })
            .collect();
        scalar.next(&thread, |_| Draw::default())
    }

    #[test]
    fn spec_7_1_if_else() {
        let p = program(
            4,
            &[
                (0x10, 0xe290000004000000),
                (0x18, 0xe24000000180000f),
                (0x30, SYNC),
                (0x50, SYNC),
                (0x68, EXIT),
            ],
        );
        let then = [0x08, 0x10, 0x18, 0x28, 0x30, 0x58, 0x68];
        let els = [0x08, 0x10, 0x18, 0x38, 0x48, 0x50, 0x58, 0x68];
        assert_eq!(pcs(&run(&p, &[])), then);
        assert_eq!(pcs(&run(&p, &[(0, 1)])), els);
        // Other predicates, and draws of others, are not looked at.
        assert_eq!(pcs(&run(&p, &[(0, 0x7fe), (1, 1), (2, 1)])), then);
    }

    #[test]
    fn spec_7_2_continue_loop() {
        let p = program(
            2,
            &[
                (0x08, 0xe2b00fffff800000),
                (0x28, 0xe350000000070006),
                (0x38, 0xe35000000007000f),
            ],
        );
        // GE is 0 if S and O differ; the draw that counts is the last one, of 0x18.
        let s = 2 << CC_BIT;
        let trace = run(&p, &[(2, s), (4, 0), (5, 0)]);
        assert_eq!(trace.end, End::Limit);
        assert_eq!(
            trace.executed[..12],
            [
                0x08, 0x10, 0x18, 0x28, 0x30, 0x38, 0x08, 0x10, 0x18, 0x28, 0x08, 0x10
            ]
        );
        let one = Token {
            kind: Pcnt,
            addr: 8,
        };
        // Each pass uses up its token: 6 instructions, then 4 a pass, and 2 of the last.
        assert_eq!(
            (trace.thread.pc, &trace.thread.tokens[..]),
            (0x18, &[one][..])
        );
    }

    #[test]
    fn spec_7_3_if_in_loop() {
        let p = program(
            5,
            &[
                (0x08, 0xe2a0000008000000),
                (0x10, 0xe2b00fffff800000),
                (0x28, 0xe290000004800000),
                (0x30, 0xe24000000200000f),
                (0x48, 0xe34000000001000f),
                (0x50, SYNC),
                (0x68, 0xe35000000002000f),
                (0x70, SYNC),
                (0x88, CONT),
                (0x98, EXIT),
            ],
        );
        let breaks = [0x08, 0x10, 0x18, 0x28, 0x30, 0x38, 0x48, 0x90, 0x98];
        let trace = run(&p, &[(5, 2)]);
        assert_eq!(pcs(&trace), breaks);
        assert_eq!(trace.thread.tokens, []);
        // Thread 3: P0, then P2: the ELSE side, and a CONT across the SSY token. Then P1.
        let [head, again] = [[0x10, 0x18, 0x28, 0x30]; 2];
        let thread_3 = [
            &[0x08][..],
            &head,
            &[0x58, 0x68],
            &again,
            &[0x38, 0x48, 0x90, 0x98],
        ]
        .concat();
        assert_eq!(pcs(&run(&p, &[(2, 1), (5, 4), (11, 2)])), thread_3);
        // Thread 1: P0 alone: it goes on from SYNC to CONT.
        let thread_1 = [
            &[0x08][..],
            &head,
            &[0x58, 0x68, 0x70, 0x78, 0x88],
            &again,
            &[0x38, 0x48, 0x90, 0x98],
        ]
        .concat();
        assert_eq!(pcs(&run(&p, &[(2, 1), (14, 2)])), thread_1);
    }

    #[test]
    fn spec_7_4_call_with_divergent_return() {
        let p = program(
            6,
            &[
                (0x10, 0xe290000003000000),
                (0x18, 0xf0f800000003000f),
                (0x28, 0xe260000002800040),
                (0x38, SYNC),
                (0x50, EXIT),
                (0x68, 0xe32000000000000f),
                (0x78, 0xe24000000181000f),
                (0x90, RET),
                (0xa8, RET),
            ],
        );
        let [start, end] = [[0x08, 0x10, 0x18], [0x38, 0x48, 0x50]];
        let thread = |body: &[u32]| [&start[..], body, &end].concat();
        // The conditions of the X at 0x58 (k = 4), 0x70 (k = 6).
        assert_eq!(pcs(&run(&p, &[(4, 1)])), thread(&[0x28, 0x58, 0x68, 0x30]));
        assert_eq!(
            pcs(&run(&p, &[(0, 8)])),
            [&start[..], &[0x48, 0x50]].concat()
        );
        let fe = thread(&[0x28, 0x58, 0x68, 0x70, 0x78, 0x98, 0xa8, 0x30]);
        assert_eq!(pcs(&run(&p, &[(6, 2)])), fe);
        let f = thread(&[0x28, 0x58, 0x68, 0x70, 0x78, 0x88, 0x90, 0x30]);
        assert_eq!(pcs(&run(&p, &[])), f);
    }

    #[test]
    fn spec_7_5_early_exit() {
        let p = program(
            4,
            &[
                (0x10, 0xe30000000000000f),
                (0x18, 0xe290000005000000),
                (0x28, 0xe24000000281000f),
                (0x38, 0xe30000000002000f),
                (0x50, SYNC),
                (0x68, SYNC),
                (0x78, EXIT),
            ],
        );
        let trace = run(&p, &[(0, 1)]);
        assert_eq!(pcs(&trace), [0x08, 0x10]);
        assert_eq!(trace.thread.pc, 0x10);
        let trace = run(&p, &[(4, 4)]);
        assert_eq!(pcs(&trace), [0x08, 0x10, 0x18, 0x28, 0x30, 0x38]);
        // EXIT leaves its tokens.
        assert_eq!(trace.thread.tokens.len(), 1);
        let els = [0x08, 0x10, 0x18, 0x28, 0x58, 0x68, 0x70, 0x78];
        assert_eq!(pcs(&run(&p, &[(0, 2)])), els);
    }

    #[test]
    fn spec_7_6_cont_without_pcnt() {
        let p = program(
            2,
            &[
                (0x10, 0xe2a0000001000000),
                (0x18, 0xe35000000000000f),
                (0x28, EXIT),
            ],
        );
        let trace = run(&p, &[(0, 1)]);
        assert_eq!(trace.executed, [0x08, 0x10]);
        assert_eq!(trace.end, End::Error(CONT_NO_PCNT));
        assert_eq!((trace.thread.pc, trace.thread.tokens.len()), (0x18, 1));
        assert_eq!(pcs(&run(&p, &[])), [0x08, 0x10, 0x18, 0x28]);
    }

    #[test]
    fn spec_2_1_addresses_are_normalized() {
        assert_eq!([0, 8, 24, 32].map(norm), [8, 8, 24, 40]);
        assert_eq!([8, 16, 24].map(seq), [16, 24, 40]);
        let mut p = program(2, &[(0x28, EXIT)]);
        p.entry = 0x20;
        assert_eq!(pcs(&run(&p, &[])), [0x28]);
        // Of a target, too; the base is pc + 8 in every slot (spa5-O10).
        for pc in [0x08, 0x10, 0x18] {
            let p = program(3, &[(pc, BRA | to(pc, 0x40)), (0x48, EXIT)]);
            let trace = run(&p, &[]);
            assert_eq!(pcs(&trace)[trace.executed.len() - 2..], [pc, 0x48]);
        }
        let p = program(
            2,
            &[(0x18, CAL | to(0x18, 0x30)), (0x30, RET), (0x28, EXIT)],
        );
        assert_eq!(pcs(&run(&p, &[])), [0x08, 0x10, 0x18, 0x30, 0x28]);
    }

    #[test]
    fn spec_2_2_targets() {
        let size = 4 * BUNDLE;
        let at = |offset: i64| (offset as u64 & 0xff_ffff) << 20;
        // From 0x08: the base is 0x10.
        let cases = [
            (0, Ok(0x10)),
            (-8, Ok(0x08)),
            (-16, Ok(0x08)),
            (-24, Err(TARGET_RANGE)),
            (-17, Err(TARGET_MISALIGNED)),
            (-20, Err(TARGET_MISALIGNED)),
            (4, Err(TARGET_MISALIGNED)),
            (1, Err(TARGET_MISALIGNED)),
            (i64::from(size) - 24, Ok(size - 8)),
            (i64::from(size) - 16, Err(TARGET_RANGE)),
            (i64::from(size) - 12, Err(TARGET_MISALIGNED)),
            (0x7f_fff8, Err(TARGET_RANGE)),
            (-0x80_0000, Err(TARGET_RANGE)),
        ];
        for (offset, target) in cases {
            let deed = next(BRA | at(offset), &[]);
            assert_eq!(
                deed.map(|d| matches!(d, Deed::Jumps { to, .. } if Ok(to) == target)),
                target.map(|_| true),
                "BRA {offset}"
            );
            for word in [SSY, PBK, PCNT, PRET] {
                let deed = next(word | at(offset), &[]);
                let fits =
                    |d| matches!(d, Deed::Pushes { token, to: 0x10 } if Ok(token.addr) == target);
                assert_eq!(deed.map(fits), target.map(|_| true), "{word:x} {offset}");
            }
            let calls = |d| matches!(d, Deed::Pushes { token, to } if token.addr == 0x10 && Ok(to) == target);
            let deed = next(CAL | at(offset), &[]);
            assert_eq!(deed.map(calls), target.map(|_| true), "CAL {offset}");
            // The target is not checked where no thread branches.
            assert_eq!(next(BRA ^ NEVER | at(offset), &[]), Ok(Deed::Passes));
        }
    }

    #[test]
    fn spec_2_3_every_opcode() {
        let tokens = [Ssy, Pbk, Pcnt, Ret, Ssy];
        for low in [0, 0x20] {
            for opcode in 0xE20_u64..=0xE3F {
                let deed = next(opcode << 52 | 0x7000f | low, &tokens);
                let constant = low != 0;
                let pushes =
                    |kind| matches!(deed, Ok(Deed::Pushes { token, .. }) if token.kind == kind);
                let fits = match opcode {
                    0xE24..=0xE27 | 0xE29..=0xE2B if constant => deed == Err(UNSUPPORTED),
                    0xE24 | 0xE25 => matches!(deed, Ok(Deed::Jumps { to: 0x10, .. })),
                    0xE26 | 0xE27 => pushes(Ret),
                    0xE29 => pushes(Ssy),
                    0xE2A => pushes(Pbk),
                    0xE2B => pushes(Pcnt),
                    0xE30 => deed == Ok(Deed::Exits),
                    0xE32 => matches!(
                        deed,
                        Ok(Deed::Leaves {
                            kind: Ret,
                            left: 3,
                            to: 0x40
                        })
                    ),
                    0xE34 => deed == Err(BRK_NO_PBK),
                    0xE35 => deed == Err(CONT_NO_PCNT),
                    0xE3B..=0xE3F => deed == Err(ILLEGAL),
                    _ => deed == Err(UNSUPPORTED),
                };
                assert!(fits, "0x{opcode:x}, {low}: {deed:?}");
            }
        }
        // SYNC is named by bits 63:51; all else outside the block is OTHER.
        for word in [SYNC, SYNC | 7 << 48, SYNC | 1 << 20, SYNC | 0x20] {
            assert!(matches!(
                next(word, &tokens),
                Ok(Deed::Leaves {
                    kind: Ssy,
                    left: 4,
                    ..
                })
            ));
        }
        let others = [
            0,
            X,
            0xf0f0 << 48,
            0xf0e8 << 48,
            0xe1ff << 48,
            0xe400 << 48,
            u64::MAX,
        ];
        for word in others {
            assert_eq!(next(word, &tokens), Ok(Deed::Computes), "{word:016x}");
        }
    }

    #[test]
    fn spec_2_3_bits_that_are_not_named_have_no_effect() {
        let offset = 0xff_ffff << 20;
        let condition = 0xf001f;
        let (set_up, branch) = (offset | 0x20, offset | condition | 0xa0);
        let named = [
            (SSY, set_up),
            (PBK, set_up),
            (PCNT, set_up),
            (PRET, set_up),
            (CAL, set_up),
            (BRA, branch),
            (SYNC, condition),
            (BRK, condition),
            (CONT, condition),
            (RET, condition),
            (EXIT, condition),
        ];
        for (word, named) in named {
            let named = named
                | if word == SYNC {
                    !0u64 << 51
                } else {
                    !0u64 << 52
                };
            for tokens in [&[][..], &[Ret, Pbk, Pcnt], &[Ssy]] {
                for bit in (0..64).filter(|bit| named >> bit & 1 == 0) {
                    let changed = next(word ^ 1 << bit, tokens);
                    assert_eq!(changed, next(word, tokens), "{word:016x} bit {bit}");
                }
            }
        }
        // BRA.U is a BRA alone; BRX is another instruction.
        assert_eq!(next(BRA | 0x80, &[]), next(BRA, &[]));
        assert!(is_unanimous(BRA | 0x80) && !is_unanimous(BRA));
        assert!(
            ![BRX | 0x80, X | 0x80, BRA | 0xa0]
                .into_iter()
                .any(is_unanimous)
        );
    }

    #[test]
    fn spec_2_4_tests_are_what_their_formulas_say() {
        type Formula = fn(bool, bool, bool, bool) -> bool;
        let formulas: [Formula; 24] = [
            |_, _, _, _| false,
            |z, s, _, o| (s & !z) ^ o,
            |z, s, _, _| z & !s,
            |z, s, _, o| s ^ (z | o),
            |z, s, _, o| !z & !(s ^ o),
            |z, _, _, _| !z,
            |_, s, _, o| !(s ^ o),
            |z, s, _, _| !z | !s,
            |z, s, _, _| z & s,
            |_, s, _, o| s ^ o,
            |z, _, _, _| z,
            |z, s, _, o| z | (s ^ o),
            |z, s, _, o| !s ^ (z | o),
            |z, s, _, _| !z | s,
            |z, s, _, o| (!s | z) ^ o,
            |_, _, _, _| true,
            |_, _, _, o| !o,
            |_, _, c, _| !c,
            |_, s, _, _| !s,
            |z, _, c, _| z | !c,
            |z, _, c, _| !z & c,
            |_, s, _, _| s,
            |_, _, c, _| c,
            |_, _, _, o| o,
        ];
        for code in 0..32 {
            for cc in 0..16_u16 {
                let p = program(2, &[(0x10, EXIT & !31 | code)]);
                let trace = run(&p, &[(0, cc << CC_BIT)]);
                let bit = |n: u16| cc >> n & 1 == 1;
                match formulas.get(code as usize) {
                    Some(test) => {
                        let holds = test(bit(0), bit(1), bit(2), bit(3));
                        assert_eq!(trace.end == End::Done, holds, "test {code:x}, CC {cc}");
                    }
                    None => assert_eq!(trace.end, End::Error(UNSUPPORTED)),
                }
            }
        }
        // Whatever the predicate; and a set-up instruction has no test.
        assert_eq!(next(EXIT ^ NEVER | 0x18, &[]), Err(UNSUPPORTED));
        assert!(next(SSY | 0xf001f, &[]).is_ok());
    }

    #[test]
    fn spec_2_4_predicates() {
        for pppp in 0..16 {
            for set in 0..7 {
                let p = program(2, &[(0x10, EXIT & !0xf0000 | pppp << 16)]);
                let trace = run(&p, &[(0, 1 << set)]);
                let holds = (pppp & 7 == 7 || pppp & 7 == set) != (pppp > 7);
                assert_eq!(trace.end == End::Done, holds, "predicate {pppp:x}, P{set}");
            }
        }
    }

    #[test]
    fn conditions_are_0_until_the_first_draw_and_stay_until_the_next() {
        let p = program(
            2,
            &[
                (0x08, BRA & !0xf0000 | to(8, 0x10)),
                (0x18, EXIT & !0xf0000),
            ],
        );
        let scalar = scalar(&p);
        let mut thread = scalar.launch();
        let ones = |_| Draw {
            bits: 0x7ff,
            word: 0,
        };
        assert_eq!(scalar.next(&thread, ones), Ok(Deed::Passes));
        scalar.execute(&mut thread, Deed::Passes);
        // k counts every instruction, control or not: the draw is that of k = 1.
        scalar.execute(&mut thread, Deed::Computes);
        let second = |k| Draw {
            bits: u16::from(k == 1),
            word: 0,
        };
        assert_eq!(scalar.next(&thread, second), Ok(Deed::Exits));
        assert_eq!(scalar.next(&thread, |_| Draw::default()), Ok(Deed::Stays));
        scalar.execute(&mut thread, Deed::Stays);
        assert_eq!((thread.pc, thread.executed), (0x28, 3));
        assert_eq!(scalar.condition(&thread, second), Ok(false));
    }

    #[test]
    fn spec_4_4_tokens_that_leaving_instructions_go_back_to() {
        let left = |word, tokens: &[Kind]| match next(word, tokens) {
            Ok(Deed::Leaves { left, to, .. }) => {
                assert_eq!(to, 0x28 + 8 * left as u32);
                Ok(left)
            }
            Ok(other) => panic!("{other:?}"),
            Err(code) => Err(code),
        };
        // SYNC: only the newest (spa5-O7).
        assert_eq!(left(SYNC, &[]), Err(SYNC_NO_SSY));
        assert_eq!(left(SYNC, &[Ssy, Ssy]), Ok(1));
        for above in [Pbk, Pcnt, Ret] {
            assert_eq!(left(SYNC, &[Ssy, above]), Err(SYNC_NO_SSY));
        }
        // BRK and CONT: the newest of their type, not across a RET token (spa5-O6).
        for (word, kind, other, error) in [
            (BRK, Pbk, Pcnt, BRK_NO_PBK),
            (CONT, Pcnt, Pbk, CONT_NO_PCNT),
        ] {
            assert_eq!(left(word, &[]), Err(error));
            assert_eq!(left(word, &[Ssy, other]), Err(error));
            assert_eq!(left(word, &[kind, Ssy, kind, Ssy, other, Ssy]), Ok(2));
            assert_eq!(left(word, &[kind, Ret]), Err(error));
            assert_eq!(left(word, &[kind, Ret, Ssy, other]), Err(error));
            assert_eq!(left(word, &[kind, Ret, kind]), Ok(2));
        }
        // RET: across everything of its function.
        assert_eq!(left(RET, &[Ssy, Pbk, Pcnt]), Err(RET_NO_CALL));
        assert_eq!(left(RET, &[Ret, Pbk, Ret, Ssy, Pbk, Pcnt]), Ok(2));
        for word in [SYNC, BRK, CONT, RET, EXIT] {
            assert_eq!(next(word ^ NEVER, &[]), Ok(Deed::Stays));
        }
        // The token is used up, and all above it.
        let p = program(2, &[]);
        let scalar = scalar(&p);
        let mut thread = scalar.launch();
        thread.tokens = vec![Token { kind: Ret, addr: 8 }; 5];
        let (kind, left, to) = (Ret, 2, 0x30);
        scalar.execute(&mut thread, Deed::Leaves { kind, left, to });
        assert_eq!((thread.tokens.len(), thread.pc), (2, 0x30));
    }

    #[test]
    fn spec_6_which_error_comes_first() {
        // PC_RANGE, before any word; an entry at the end of the program.
        let mut p = program(1, &[(8, 0xe3f << 52)]);
        p.entry = 32;
        let trace = run(&p, &[]);
        assert_eq!(
            (trace.end, &trace.executed[..]),
            (End::Error(PC_RANGE), &[][..])
        );
        // Falling off the end.
        p = program(1, &[]);
        let trace = run(&p, &[]);
        assert_eq!(trace.end, End::Error(PC_RANGE));
        assert_eq!((trace.executed.len(), trace.thread.pc), (3, 40));
        // Words that were not loaded are OTHER.
        p.prog_size = 64;
        assert_eq!(run(&p, &[]).executed.len(), 6);
        // A misaligned target that is out of range, too, on a full stack.
        for (offset, code) in [
            (0x40_0004, TARGET_MISALIGNED),
            (0x40_0000, TARGET_RANGE),
            (0, STACK_OVERFLOW),
        ] {
            for word in [SSY, PBK, PCNT, PRET, CAL] {
                assert_eq!(next(word | offset << 20, &[Ssy; 64]), Err(code));
            }
        }
        assert!(next(SSY, &[Ssy; 63]).is_ok());
        // The CC test before the token and the target.
        for word in [SYNC, BRK, CONT, RET, BRA | 4 << 20] {
            assert_eq!(next(word | 0x1f, &[]), Err(UNSUPPORTED));
        }
    }

    #[test]
    fn recursion_goes_as_deep_as_there_is_room() {
        let p = program(1, &[(0x08, CAL | to(8, 8))]);
        for depth in [1, 2, 64] {
            let trace = Scalar::new(&p, depth, false).run(100, |_| Draw::default());
            assert_eq!(trace.end, End::Error(STACK_OVERFLOW));
            assert_eq!(trace.executed.len(), depth);
            assert_eq!(
                trace.thread.tokens,
                vec![
                    Token {
                        kind: Ret,
                        addr: 0x10
                    };
                    depth
                ]
            );
        }
    }

    #[test]
    fn appendix_a_brx() {
        // A base of 0x40, and from 0x10 a list of its own.
        let mut p = program(
            4,
            &[(0x10, BRX | to(0x10, 0x40)), (0x48, EXIT), (0x68, EXIT)],
        );
        let end = |p: &Program, brx, word| {
            let trace = Scalar::new(p, 64, brx).run(10, |_| Draw { bits: 0, word });
            (trace.executed.last().copied(), trace.end)
        };
        let done = |pc| (Some(pc), End::Done);
        assert_eq!(end(&p, false, 0), (Some(0x08), End::Error(UNSUPPORTED)));
        // Without a list the register is 0.
        assert_eq!(end(&p, true, u64::MAX), done(0x48));
        p.targets.insert(0x10, vec![]);
        assert_eq!(end(&p, true, 0), done(0x48));
        p.targets.insert(0x10, vec![0x60, 0x48, 0x4c, 0x80]);
        assert_eq!(end(&p, true, 0), done(0x68));
        assert_eq!(end(&p, true, (1 << 44) - 1), done(0x68));
        assert_eq!(end(&p, true, 5 << 44), done(0x48));
        let fails = |code| (Some(0x08), End::Error(code));
        assert_eq!(end(&p, true, 2 << 44), fails(TARGET_MISALIGNED));
        assert_eq!(end(&p, true, 3 << 44), fails(TARGET_RANGE));
        // Before the first draw it is word 0; where the condition does not hold nothing is looked at.
        p.entry = 0x10;
        assert_eq!(end(&p, true, 3 << 44), done(0x68));
        p.words[2] = BRX ^ NEVER | to(0x10, 0x200);
        p.words[3] = EXIT;
        assert_eq!(end(&p, true, 0), done(0x18));
        p.words[2] = BRX ^ NEVER | 0x1f;
        assert_eq!(end(&p, true, 0), (None, End::Error(UNSUPPORTED)));
        assert!(is_brx(BRX) && !is_brx(BRX | 0x20) && !is_brx(BRA));
    }

    #[test]
    fn a_run_ends_where_it_is_asked_to() {
        let p = program(1, &[(0x08, BRA | to(8, 8))]);
        for most in [0, 1, 7] {
            let trace = scalar(&p).run(most, |_| Draw::default());
            assert_eq!((trace.end, trace.executed.len() as u64), (End::Limit, most));
            assert_eq!(trace.thread.executed, most);
        }
    }
}
