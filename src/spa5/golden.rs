//! The golden model: the step function of the spec, within the cycle contract.
//!
//! Written from spa5-2, spa5-3, spa5-4, spa5-6 and spa5-A in `docs/spec/spa5.md`, function by function, with its names and
//! in its order. A set of threads is a `u64`, bit t is thread t, as in the spec's masks. The architectural
//! registers are the fields of [`State`] themselves; the whole stack is kept separately. Nothing here
//! is shared with the RTL.

// Numbers of status (spa5-3-b) and of token types (spa5-3-k).
use super::state::values::error;
use super::state::values::status::{DONE, ERR, RUN, UNWIND};
use super::state::values::token::{DIV, PBK, PCNT, RET, SSY};
use super::state::{In, State};
use crate::unit::Step;
use reconverge_bench::design::Build;

mod explain;
#[cfg(test)]
mod table;

/// Most threads a warp can have.
pub const MAX_LANES: usize = 64;

/// Maximum number of tokens that a stack can be built for.
pub const MAX_DEPTH: usize = 1024;

/// Tokens of the stack by default (spa5-3-a).
pub const DEFAULT_DEPTH: usize = 64;

// Bits of vis (spa5-3-h).
const MAY_SYNC: u8 = 1;
const MAY_BRK: u8 = 1 << 1;
const MAY_CONT: u8 = 1 << 2;
const MAY_RET: u8 = 1 << 3;

/// The tests of spa5-2.4-c: bit i of entry `ccccc` is the test's value for the condition code i = 8 O + 4 C +
/// 2 S + Z. The eight tests above are those of the clip state machine (spa5-2.4-d).
const LUT16: [u16; 24] = [
    0x0000, 0xbb44, 0x2222, 0x3366, 0x4411, 0x5555, 0xcc33, 0x7777, // F LT EQ LE GT NE GE NUM
    0x8888, 0x33cc, 0xaaaa, 0xbbee, 0xcc99, 0xdddd, 0x44bb, 0xffff, // NAN LTU .. GEU T
    0x00ff, 0x0f0f, 0x3333, 0xafaf, 0x5050, 0xcccc, 0xf0f0,
    0xff00, // OFF LO SFF LS HI SFT HS OFT
];

/// Error codes of spa5-6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Error {
    /// spa5-E1: SYNC, and the nearest token that is not DIV is not SSY.
    SyncNoSsy = error::SYNC_NO_SSY,
    /// spa5-E2: BRK without a PBK token above the nearest RET token.
    BrkNoPbk = error::BRK_NO_PBK,
    /// spa5-E3: CONT without a PCNT token above the nearest RET token.
    ContNoPcnt = error::CONT_NO_PCNT,
    /// spa5-E4: RET without a RET token.
    RetNoCall = error::RET_NO_CALL,
    /// spa5-E5: a push, and the stack is full.
    StackOverflow = error::STACK_OVERFLOW,
    /// spa5-E6: the instruction lies outside the program.
    PcRange = error::PC_RANGE,
    /// spa5-E7: the target lies outside the program.
    TargetRange = error::TARGET_RANGE,
    /// spa5-E8: the target is not a multiple of 8.
    TargetMisaligned = error::TARGET_MISALIGNED,
    /// spa5-E9: reserved opcode.
    Illegal = error::ILLEGAL,
    /// spa5-E10: opcode, form or CC test that the unit does not have.
    Unsupported = error::UNSUPPORTED,
}

/// A stack entry (spa5-3-k).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// 1 SSY, 2 PBK, 3 PCNT, 4 RET, 5 DIV.
    pub kind: u8,
    /// `vis` as it was below the token.
    pub vis_saved: u8,
    /// The address where its threads continue: byte address, normalized.
    pub addr: u32,
    /// Its threads.
    pub mask: u64,
}

/// What happened in the last cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Reset was asserted.
    Reset,
    /// The unit was stalled.
    Stalled,
    /// No warp runs.
    Idle,
    /// A warp was launched; without a thread it is DONE at once.
    Launched,
    /// A warp runs, but no instruction came.
    Waiting,
    /// An instruction executed.
    Executed,
    /// A leaving instruction executed and no thread is active: the unwind begins.
    Emptied,
    /// The unwind popped a token from which no thread resumes.
    Popped,
    /// The unwind popped a token whose threads resume: the step is complete.
    Resumed,
    /// The unwind found the stack empty: the step is complete, and the warp is DONE.
    Finished,
    /// The warp stopped with this error.
    Failed(Error),
}

/// The fields of the trace record (spa5-4.5-a, spa5-4.5-b) of a step that are not in the state after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stepped {
    /// PC before the step.
    pub pc: u32,
    /// The instruction word; 0 for `PC_RANGE`.
    pub word: u64,
    /// A: the threads that were active.
    pub active: u64,
    /// T: those taken, for BRA after the .U rule; A for OTHER and set-up instructions, 0 for an error.
    pub taken: u64,
}

/// The golden model of the unit.
#[derive(Clone)]
pub struct Golden {
    lanes: usize,
    /// The threads that exist.
    all: u64,
    /// BRX and JMX execute (spa5-A).
    brx: bool,
    /// The unit has the CC tests of the clip state machine (spa5-2.4-e).
    csm: bool,
    /// The architectural registers, and the visible top token.
    s: State,
    /// DEPTH entries, the oldest first (spa5-3-j); a popped one keeps its contents and is not read. Only a push writes
    /// an entry, and nothing below the top is read (spa5-3-l).
    stack: Vec<Token>,
    prog_base: u32,
    prog_size: u32,
    stepped: Stepped,
    event: Event,
}

fn bits(word: u64, hi: u32, lo: u32) -> u64 {
    word >> lo & ((1 << (hi - lo + 1)) - 1)
}

// ---- spa5-2.1, spa5-2.2: addresses -------------------------------------------------------------------

/// Returns the normalized address: that of a control word means the first slot of its bundle (spa5-2.1-c).
fn norm(a: u32) -> u32 {
    if a.is_multiple_of(32) {
        a.wrapping_add(8)
    } else {
        a
    }
}

/// Returns the next instruction in program order (spa5-2.1-d).
fn seq(pc: u32) -> u32 {
    norm(pc.wrapping_add(8))
}

/// Returns `off24` of spa5-2.2-a, sign extended; for a constant-bank form the low bits of `constant` (spa5-2.3-n).
fn off24(word: u64, constant: u32) -> i64 {
    let off24 = if bits(word, 5, 5) == 1 {
        u64::from(constant)
    } else {
        bits(word, 43, 20)
    };
    (off24 << 40) as i64 >> 40
}

/// Returns `imm32` of spa5-2.2-d.
fn imm32(word: u64) -> u32 {
    bits(word, 51, 20) as u32
}

// ---- spa5-2.3: decoding ------------------------------------------------------------------------------

/// An instruction that the unit executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Ssy,
    Pbk,
    Pcnt,
    Pret,
    Cal,
    Jcal,
    Bra,
    Jmp,
    Brx,
    Jmx,
    Sync,
    Brk,
    Cont,
    Ret,
    Exit,
    Kil,
    Other,
}

/// Decodes `word`; the outcomes ILLEGAL and UNSUPPORTED are errors (spa5-4.1-c). `brx`: the option of spa5-A is on. Of the
/// fields of spa5-2.3-a, only those that distinguish instructions are used here. Bit 6 and, for EXIT and KIL, bit 5 have no
/// effect (spa5-2.3-o).
fn decode(word: u64, brx: bool) -> Result<Op, Error> {
    if word & 0xFFF8_0000_0000_0000 == 0xF0F8_0000_0000_0000 {
        return Ok(Op::Sync); // spa5-2.3-h
    }
    if !matches!(bits(word, 63, 56), 0xE2 | 0xE3) {
        return Ok(Op::Other); // spa5-2.3-s
    }
    let constant_bank = bits(word, 5, 5) == 1;
    match bits(word, 63, 52) {
        0xE20..=0xE22 | 0xE25 if constant_bank => Err(Error::Unsupported), // spa5-2.3-w
        0xE20 if brx => Ok(Op::Jmx),                                       // spa5-A-f
        0xE21 => Ok(Op::Jmp),                                              // spa5-2.3-t
        0xE22 => Ok(Op::Jcal),                                             // spa5-2.3-u
        0xE29 => Ok(Op::Ssy),                                              // spa5-2.3-b
        0xE2A => Ok(Op::Pbk),                                              // spa5-2.3-c
        0xE2B => Ok(Op::Pcnt),                                             // spa5-2.3-d
        0xE27 => Ok(Op::Pret),                                             // spa5-2.3-e
        0xE26 => Ok(Op::Cal),                                              // spa5-2.3-f
        0xE24 => Ok(Op::Bra),                                              // spa5-2.3-g
        0xE25 if brx => Ok(Op::Brx),                                       // spa5-A-a
        0xE34 => Ok(Op::Brk),                                              // spa5-2.3-i
        0xE35 => Ok(Op::Cont),                                             // spa5-2.3-j
        0xE32 => Ok(Op::Ret),                                              // spa5-2.3-k
        0xE30 => Ok(Op::Exit),                                             // spa5-2.3-l
        0xE33 => Ok(Op::Kil),                                              // spa5-2.3-v
        0xE3B..=0xE3F => Err(Error::Illegal),                              // spa5-2.3-r
        _ => Err(Error::Unsupported),                                      // spa5-2.3-q
    }
}

impl Op {
    /// Returns whether it has a predicate field and a CC field; set-up instructions and calls have none (spa5-2.3-m).
    fn is_conditional(self) -> bool {
        use Op::{Bra, Brk, Brx, Cont, Exit, Jmp, Jmx, Kil, Ret, Sync};
        matches!(
            self,
            Bra | Jmp | Brx | Jmx | Sync | Brk | Cont | Ret | Exit | Kil
        )
    }
}

// ---- spa5-2.4: conditions ----------------------------------------------------------------------------

/// Returns the threads for which the predicate holds: pbit XOR `p[3]` (spa5-2.4-a).
fn predicate(word: u64, pins: &In) -> u64 {
    let pppp = bits(word, 19, 16);
    let pbit = match pppp & 7 {
        7 => u64::MAX,
        p => pins.p[p as usize],
    };
    if pppp >> 3 == 1 { !pbit } else { pbit }
}

/// Returns the threads for whose condition code, bits Z, S, C, O from 0 on (spa5-2.4-b), the test is true by its LUT16: each bit of the
/// code in turn, the lowest first, selects one of two neighbours of the table, until one is left for each thread.
fn test(lut16: u16, codes: [u64; 4]) -> u64 {
    let mut table = [0; 16];
    for (code, threads) in table.iter_mut().enumerate() {
        *threads = match lut16 >> code & 1 {
            1 => u64::MAX,
            _ => 0,
        };
    }
    for (plane, left) in codes.into_iter().zip([8, 4, 2, 1]) {
        for n in 0..left {
            table[n] = table[2 * n] & !plane | table[2 * n + 1] & plane;
        }
    }
    table[0]
}

/// Returns the threads for whose eight bits of the clip state machine test `number` is true (spa5-2.4-e).
fn clip(number: u64, csm: &[u8; MAX_LANES]) -> u64 {
    let bit = |bits: u8| u64::from(bits >> (number - 24) & 1);
    (0..)
        .zip(csm)
        .fold(0, |threads, (thread, bits)| threads | bit(*bits) << thread)
}

// ---- spa5-4.1: top level -----------------------------------------------------------------------------

impl Golden {
    fn step(&mut self, pins: &In) -> Event {
        self.stepped = Stepped {
            pc: self.s.pc,
            word: pins.word,
            active: self.s.active,
            taken: 0,
        };
        if !self.in_program(self.s.pc) {
            // There is no word at that address (spa5-4.1-b).
            self.stepped.word = 0;
            return self.fail(Error::PcRange);
        }
        match self.execute(pins) {
            Ok(taken) => {
                self.stepped.taken = taken;
                if self.s.status == UNWIND {
                    Event::Emptied
                } else {
                    Event::Executed
                }
            }
            Err(code) => self.fail(code),
        }
    }

    /// Stops with an error: only status and err change (spa5-6-a).
    fn fail(&mut self, code: Error) -> Event {
        (self.s.status, self.s.err) = (ERR, code as u8);
        Event::Failed(code)
    }

    /// Executes one instruction and returns its T (spa5-4.1-e). An error comes before the first change (spa5-4.1-f); several
    /// errors are in the order of spa5-6-b.
    fn execute(&mut self, pins: &In) -> Result<u64, Error> {
        let w = pins.word;
        let op = decode(w, self.brx)?;
        let a = self.s.active;
        if op == Op::Other {
            self.s.pc = seq(self.s.pc); // spa5-4.1-d
            return Ok(a);
        }
        let mut t = a;
        if op.is_conditional() {
            let number = bits(w, 4, 0);
            let passes = match LUT16.get(number as usize) {
                Some(lut16) => test(*lut16, pins.cc),
                None if self.csm => clip(number, &pins.csm),
                None => return Err(Error::Unsupported), // spa5-2.4-d
            };
            t = a & predicate(w, pins) & passes;
        }
        let relative = self.relative(w, pins.constant);
        let absolute = i64::from(imm32(w));
        match op {
            Op::Ssy => self.set_up(SSY, relative),
            Op::Pbk => self.set_up(PBK, relative),
            Op::Pcnt => self.set_up(PCNT, relative),
            Op::Pret => self.set_up(RET, relative),
            Op::Cal => self.cal(relative),
            Op::Jcal => self.cal(absolute),
            Op::Bra | Op::Jmp => {
                let unanimous = bits(w, 7, 7) == 1; // spa5-4.3-c
                if unanimous && t != a {
                    t = 0;
                }
                self.bra(t, if op == Op::Jmp { absolute } else { relative })
            }
            // Only off24 is sign extended, the register is not (spa5-A-d). The sum of a JMX wraps (spa5-A-f).
            Op::Brx => self.indirect(t, &pins.r, |register| relative + i64::from(register)),
            Op::Jmx => self.indirect(t, &pins.r, |register| {
                i64::from(imm32(w).wrapping_add(register))
            }),
            Op::Sync => self.leave(t, Some((MAY_SYNC, Error::SyncNoSsy)), |_| None),
            Op::Brk => self.leave(t, Some((MAY_BRK, Error::BrkNoPbk)), |s| Some(&mut s.d_brk)),
            Op::Cont => self.leave(t, Some((MAY_CONT, Error::ContNoPcnt)), |s| {
                Some(&mut s.d_cont)
            }),
            Op::Ret => self.leave(t, Some((MAY_RET, Error::RetNoCall)), |s| Some(&mut s.d_ret)),
            Op::Exit | Op::Kil => self.leave(t, None, |s| Some(&mut s.exited)),
            Op::Other => Ok(()),
        }?;
        if op == Op::Kil {
            self.s.killed |= t; // spa5-3-q
        }
        Ok(t)
    }

    // ---- spa5-4.2: helpers ---------------------------------------------------------------------------

    /// Returns the target of a branch to `t` (spa5-4.2-a), normalized (spa5-2.1-e).
    fn target(&self, t: i64) -> Result<u32, Error> {
        if t & 7 != 0 {
            return Err(Error::TargetMisaligned);
        }
        match u32::try_from(t) {
            Ok(t) if self.in_program(t) => Ok(norm(t)),
            _ => Err(Error::TargetRange),
        }
    }

    /// Returns pc + 8 + off24, in every slot (spa5-2.2-b), wide enough that nothing wraps.
    fn relative(&self, word: u64, constant: u32) -> i64 {
        i64::from(self.s.pc) + 8 + off24(word, constant)
    }

    /// Pushes a token. It keeps vis as it was (spa5-4.2-b), and vis follows its type (spa5-4.2-c).
    fn push(&mut self, kind: u8, mask: u64, addr: u32) -> Result<(), Error> {
        let vis = self.s.vis;
        let entry = self
            .stack
            .get_mut(usize::from(self.s.sp))
            .ok_or(Error::StackOverflow)?;
        *entry = Token {
            kind,
            vis_saved: vis,
            addr,
            mask,
        };
        self.s.sp += 1;
        self.s.vis = match kind {
            SSY => vis | MAY_SYNC,
            PBK => vis & !MAY_SYNC | MAY_BRK,
            PCNT => vis & !MAY_SYNC | MAY_CONT,
            RET => MAY_RET,
            _ => vis,
        };
        Ok(())
    }

    // ---- spa5-4.3: instructions ----------------------------------------------------------------------

    /// Executes SSY, PBK, PCNT, PRET (spa5-4.3-a).
    fn set_up(&mut self, kind: u8, to: i64) -> Result<(), Error> {
        let a = self.target(to)?;
        self.push(kind, self.s.active, a)?;
        self.s.pc = seq(self.s.pc);
        Ok(())
    }

    /// Executes CAL, JCAL (spa5-4.3-b).
    fn cal(&mut self, to: i64) -> Result<(), Error> {
        let a = self.target(to)?;
        self.push(RET, self.s.active, seq(self.s.pc))?;
        self.s.pc = a;
        Ok(())
    }

    /// Executes BRA, JMP (spa5-4.3-j).
    fn bra(&mut self, t: u64, to: i64) -> Result<(), Error> {
        if t == 0 {
            // The target is not used (spa5-4.3-d).
            self.s.pc = seq(self.s.pc);
            return Ok(());
        }
        let a = self.target(to)?;
        if t != self.s.active {
            // Taken side first, the other side deferred (spa5-4.3-f).
            self.push(DIV, self.s.active & !t, seq(self.s.pc))?;
            self.s.active = t;
        }
        self.s.pc = a; // spa5-4.3-e
        Ok(())
    }

    /// Executes BRX, JMX (spa5-A). `to`: the target that a register gives.
    fn indirect(
        &mut self,
        t: u64,
        r: &[u32; MAX_LANES],
        to: impl Fn(u32) -> i64,
    ) -> Result<(), Error> {
        let a = self.s.active;
        if t == 0 {
            self.s.pc = seq(self.s.pc); // spa5-A-b
            return Ok(());
        }
        if t != a {
            // PC stays: it runs again, only for T (spa5-A-c).
            self.push(DIV, a & !t, seq(self.s.pc))?;
            self.s.active = t;
            return Ok(());
        }
        // At least one thread is active in RUN (spa5-I1).
        let lowest = r[a.trailing_zeros() as usize % MAX_LANES];
        let to = self.target(to(lowest))?;
        let mut g = 0;
        for (thread, value) in r.iter().enumerate() {
            g |= a & u64::from(*value == lowest) << thread;
        }
        if g != a {
            // The others execute it later (spa5-A-e).
            self.push(DIV, a & !g, self.s.pc)?;
            self.s.active = g;
        }
        self.s.pc = to;
        Ok(())
    }

    /// Executes SYNC, BRK, CONT, RET, EXIT, KIL. `need`: the bit of vis that must be set, and the error if it is not;
    /// `flag`: the mask that holds the threads that leave.
    fn leave(
        &mut self,
        t: u64,
        need: Option<(u8, Error)>,
        flag: fn(&mut State) -> Option<&mut u64>,
    ) -> Result<(), Error> {
        if let Some((bit, code)) = need
            && t != 0
            && self.s.vis & bit == 0
        {
            return Err(code); // spa5-4.3-g
        }
        if let Some(flag) = flag(&mut self.s) {
            *flag |= t; // spa5-4.3-h
        }
        self.s.active &= !t;
        if self.s.active != 0 {
            // The others continue; nothing is pushed (spa5-4.3-i).
            self.s.pc = seq(self.s.pc);
        } else {
            self.s.status = UNWIND;
        }
        Ok(())
    }

    // ---- spa5-4.4: no active thread is left ----------------------------------------------------------

    /// Executes one iteration of the loop: one cycle (spa5-3-m).
    fn unwind(&mut self) -> Event {
        let s = &mut self.s;
        if s.sp == 0 {
            s.status = DONE; // spa5-4.4-a; all threads have exited (spa5-6-c)
            return Event::Finished;
        }
        s.sp -= 1;
        let Token {
            kind,
            vis_saved,
            addr,
            mask: m,
        } = self
            .stack
            .get(usize::from(s.sp))
            .copied()
            .unwrap_or_default();
        s.vis = vis_saved; // spa5-4.4-b
        // spa5-4.4-c
        match kind {
            PBK => s.d_brk &= !m,
            PCNT => s.d_cont &= !m,
            RET => s.d_ret &= !m,
            _ => {}
        }
        // With the updated flags (spa5-4.4-d).
        let n = m & !(s.d_brk | s.d_cont | s.d_ret | s.exited);
        if n == 0 {
            return Event::Popped;
        }
        (s.active, s.pc, s.status) = (n, addr, RUN);
        Event::Resumed
    }
}

// ---- the cycle contract around it (spa5-3) -----------------------------------------------------------

impl Golden {
    /// Returns a unit of `lanes` threads after reset, with a stack of [`DEFAULT_DEPTH`] tokens, without BRX.
    ///
    /// # Panics
    /// Panics under the conditions of [`Golden::with`].
    pub fn new(lanes: usize) -> Self {
        Golden::with(lanes, DEFAULT_DEPTH, false)
    }

    /// Returns a unit of `lanes` threads after reset, with a stack of `depth` tokens; `brx` is the option of
    /// spa5-A.
    ///
    /// # Panics
    /// If `lanes` is 0 or over [`MAX_LANES`], or `depth` is 0 or over [`MAX_DEPTH`].
    pub fn with(lanes: usize, depth: usize, brx: bool) -> Self {
        assert!((1..=MAX_LANES).contains(&lanes), "{lanes} threads");
        assert!((1..=MAX_DEPTH).contains(&depth), "{depth} tokens");
        let mut golden = Golden {
            lanes,
            all: u64::MAX >> (MAX_LANES - lanes),
            brx,
            csm: false,
            s: State::default(),
            stack: vec![Token::default(); depth],
            prog_base: 0,
            prog_size: 0,
            stepped: Stepped::default(),
            event: Event::Reset,
        };
        golden.reset();
        golden
    }

    /// Returns the same unit with the CC tests of the clip state machine, or without (spa5-2.4-e).
    #[must_use]
    pub fn with_csm(mut self, csm: bool) -> Self {
        self.csm = csm;
        self
    }

    /// Executes one cycle. Reset wins over stall; a stalled cycle changes nothing.
    pub fn cycle(&mut self, pins: &In) -> &State {
        self.event = if pins.rst_n == 0 {
            self.reset();
            Event::Reset
        } else if pins.stall == 1 {
            Event::Stalled
        } else {
            let event = self.clock(pins);
            self.show_top();
            event
        };
        &self.s
    }

    /// Returns the state after the last cycle.
    pub fn state(&self) -> &State {
        &self.s
    }

    /// Returns what happened in the last cycle.
    pub fn event(&self) -> Event {
        self.event
    }

    /// Returns the live tokens, oldest first.
    pub fn tokens(&self) -> &[Token] {
        let sp = usize::from(self.s.sp).min(self.stack.len());
        &self.stack[..sp]
    }

    /// Returns the step in progress or, after it, the last one, for the trace record. A step
    /// that unwinds ends several cycles after its instruction was on the pins.
    pub fn stepped(&self) -> &Stepped {
        &self.stepped
    }

    /// Returns T of that step ([`Stepped::taken`]).
    pub fn taken(&self) -> u64 {
        self.stepped.taken
    }

    /// Returns whether `pc` lies in the last launched program (spa5-3-p).
    pub fn in_program(&self, pc: u32) -> bool {
        let (base, size) = (u64::from(self.prog_base), u64::from(self.prog_size));
        (base..base + size).contains(&u64::from(pc))
    }

    /// Returns the word of that step ([`Stepped::word`]).
    pub fn step_word(&self) -> u64 {
        self.stepped.word
    }

    fn clock(&mut self, pins: &In) -> Event {
        match self.s.status {
            // Whatever inst_valid is (spa5-3-n).
            UNWIND => self.unwind(),
            // Outside the program the memory cannot answer, so the unit does not wait for it.
            RUN if pins.inst_valid == 1 || !self.in_program(self.s.pc) => self.step(pins),
            RUN => Event::Waiting,
            _ if pins.launch == 1 => {
                (self.prog_base, self.prog_size) = (pins.prog_base, pins.prog_size);
                self.launch(pins.entry, pins.launch_mask);
                Event::Launched
            }
            // spa5-4.1-a
            _ => Event::Idle,
        }
    }

    /// Resets to the state after a launch at 0 with an empty mask (spa5-3-o).
    fn reset(&mut self) {
        (self.prog_base, self.prog_size) = (0, 0);
        self.launch(0, 0);
        self.stepped = Stepped::default();
    }

    /// Sets the values of column "at launch" of spa5-3: registers not named here are 0 (spa5-3-c, spa5-3-g, spa5-3-h, spa5-3-i, spa5-3-q).
    fn launch(&mut self, entry: u32, launch_mask: u64) {
        let active = launch_mask & self.all;
        self.s = State {
            status: if active == 0 { DONE } else { RUN },
            pc: norm(self.prog_base.wrapping_add(entry)), // spa5-3-d
            active,                                       // spa5-3-e
            exited: self.all & !active,                   // spa5-3-f
            ..State::default()
        };
    }

    /// Sets the fields of the state that show the top token; all 0 without one.
    fn show_top(&mut self) {
        let top = self.tokens().last().copied().unwrap_or_default();
        let s = &mut self.s;
        (s.top_type, s.top_vis) = (top.kind, top.vis_saved);
        (s.top_addr, s.top_mask) = (top.addr, top.mask);
    }

    /// Sets the unit to `state`, a state that it can reach: for the bench only.
    ///
    /// The program's place and size stay. Of the stack, only the token that the state shows is written, at
    /// `sp` - 1; deeper ones stay unchanged, so that a whole stack is loaded in the order of its pushes, with the state
    /// after each push.
    pub fn load(&mut self, state: &State) {
        self.s = State {
            active: state.active & self.all,
            exited: state.exited & self.all,
            killed: state.killed & self.all,
            d_brk: state.d_brk & self.all,
            d_cont: state.d_cont & self.all,
            d_ret: state.d_ret & self.all,
            ..*state
        };
        if let Some(place) = usize::from(state.sp)
            .checked_sub(1)
            .and_then(|at| self.stack.get_mut(at))
        {
            *place = Token {
                kind: state.top_type,
                vis_saved: state.top_vis,
                addr: state.top_addr,
                mask: state.top_mask & self.all,
            };
        }
        // The step that led there is unknown.
        self.stepped = Stepped {
            pc: state.pc,
            active: self.s.active,
            ..Stepped::default()
        };
        self.show_top();
    }
}

// ---- for tests: a fault in the stack's memory --------------------------------------------------------

impl Golden {
    /// Returns the number of bits of a token in the stack's memory (spa5-3): from bit 0 on one per thread, 32 of the
    /// address, 4 of vis, 3 of the type.
    pub fn stored_bits(&self) -> u32 {
        self.lanes as u32 + 32 + 4 + 3
    }

    /// Flips stored bit `bit` of live token `token`, the oldest is 0: for tests that show that the bench
    /// sees every one of them. Does nothing if there is no such token or bit.
    ///
    /// The state shows the fault at once in the top token, and in other tokens when they are revealed.
    pub fn flip_stored(&mut self, token: usize, bit: u32) {
        let lanes = self.lanes as u32;
        if token < self.tokens().len() {
            let entry = &mut self.stack[token];
            match bit {
                _ if bit < lanes => entry.mask ^= 1 << bit,
                _ if bit < lanes + 32 => entry.addr ^= 1 << (bit - lanes),
                _ if bit < lanes + 36 => entry.vis_saved ^= 1 << (bit - lanes - 32),
                _ if bit < lanes + 39 => entry.kind ^= 1 << (bit - lanes - 36),
                _ => {}
            }
        }
        self.show_top();
    }
}

// ---- the bench's view --------------------------------------------------------------------------------

impl reconverge_bench::design::Golden<super::Spa5> for Golden {
    const HIDES: bool = true;
    fn build(build: &Build) -> Self {
        let value = |name| build.value::<super::Spa5>(name);
        Golden::with(
            build.lanes as usize,
            value("DEPTH") as usize,
            value("BRX") != 0,
        )
        .with_csm(value("CSM") != 0)
    }
    fn cycle(&mut self, pins: &In) -> &State {
        Golden::cycle(self, pins)
    }
    fn state(&self) -> &State {
        Golden::state(self)
    }
    fn explain(&self, pins: &In, field: &str, element: usize) -> String {
        Golden::explain(self, pins, field, element)
    }
}

impl crate::unit::Executor<super::Spa5> for Golden {
    fn load(&mut self, state: &State) {
        Golden::load(self, state);
    }
    #[inline]
    fn step(&self) -> Step {
        match self.event {
            Event::Executed | Event::Resumed | Event::Finished => Step::Executed,
            Event::Failed(_) => Step::Failed,
            _ => Step::None,
        }
    }
}
