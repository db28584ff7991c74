//! The worked traces, condition tests, limits, errors and invariants of the specification, by the golden
//! model alone and by the RTL alone. Expected values are the spec's (`tb/programs/spa5/*.exp` for its
//! tables), never computed.
//! The rules are those of `docs/spec/spa5.md`.

// Not the whole of tb/common: that asks for the command, and this target does without it.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::{self, Machine, Sequencer, mask, rows, stalled};
use bytemuck::{bytes_of, bytes_of_mut};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::design::Build;
use reconverge::field::diff;
use reconverge::spa5::Spa5;
use reconverge::spa5::asm::assemble;
use reconverge::spa5::golden::{DEFAULT_DEPTH, Error, Event, Golden, Stepped, Token};
use reconverge::spa5::state::{FIELDS, In, State};
use reconverge::unit::{Executor as _, Step};

const LANES: usize = 4;
const ALL: u64 = (1 << LANES) - 1;

/// A machine that may know its whole stack; the state shows only what is on top.
trait Unit: Machine<Spa5> {
    /// Live tokens, oldest first.
    fn stack(&self) -> Option<Vec<Token>>;
}

impl Unit for Golden {
    fn stack(&self) -> Option<Vec<Token>> {
        Some(self.tokens().to_vec())
    }
}

impl Unit for Sequencer<Spa5> {
    fn stack(&self) -> Option<Vec<Token>> {
        None
    }
}

/// Runs a check on the golden model and on the RTL, each after reset.
macro_rules! both {
    ($($check:ident: $golden:ident, $rtl:ident;)+) => {$(
        #[test]
        fn $golden() {
            $check(&mut Golden::new(LANES));
        }
        #[test]
        fn $rtl() {
            $check(&mut Sequencer::new(LANES));
        }
    )+};
}

/// Tokens of the small stack.
const SMALL: usize = 4;

/// A unit with a small stack and BRX.
fn small() -> Build {
    let parameters = [("DEPTH".to_owned(), SMALL as u32), ("BRX".to_owned(), 1)];
    Build {
        lanes: LANES as u32,
        parameters: parameters.into(),
    }
}

/// Runs a check on it.
macro_rules! both_small {
    ($($check:ident: $golden:ident, $rtl:ident;)+) => {$(
        #[test]
        fn $golden() {
            $check(&mut Golden::with(LANES, SMALL, true));
        }
        #[test]
        fn $rtl() {
            $check(&mut Sequencer::built(small()));
        }
    )+};
}

// ---- words of spa5-2.3 ------------------------------------------------------------------------------------

const BRA: u64 = 0xE240_0000_0000_0000;
const BRX: u64 = 0xE250_0000_0000_0000;
const CAL: u64 = 0xE260_0000_0000_0000;
const PRET: u64 = 0xE270_0000_0000_0000;
const SSY: u64 = 0xE290_0000_0000_0000;
const PBK: u64 = 0xE2A0_0000_0000_0000;
const PCNT: u64 = 0xE2B0_0000_0000_0000;
const EXIT: u64 = 0xE300_0000_0000_0000;
const RET: u64 = 0xE320_0000_0000_0000;
const BRK: u64 = 0xE340_0000_0000_0000;
const CONT: u64 = 0xE350_0000_0000_0000;
const SYNC: u64 = 0xF0F8_0000_0000_0000;
const ILLEGAL_WORD: u64 = 0xE3B0_0000_0000_0000;
const JMP: u64 = 0xE210_0000_0000_0000;
const NOP: u64 = 0x50B0_0000_0007_0F00;
const CONTROL: u64 = 0x001F_BC00_FDE0_07EF;

const SET_UP: [u64; 5] = [SSY, PBK, PCNT, PRET, CAL];
const LEAVING: [u64; 5] = [SYNC, BRK, CONT, RET, EXIT];

// Predicate and CC test: always, when P0, never.
const ALWAYS: u64 = 0x7_000F;
const P0: u64 = 0x0_000F;
const NEVER: u64 = 0xF_000F;
/// BRA.U.
const U: u64 = 1 << 7;
/// The bit that makes the target a constant.
const CONSTANT_BANK: u64 = 1 << 5;

/// A word with the offset field set: bytes from pc + 8 on.
fn off(word: u64, offset: i64) -> u64 {
    assert!((-0x80_0000..0x80_0000).contains(&offset));
    word & !(0xFF_FFFF << 20) | (offset as u64 & 0xFF_FFFF) << 20
}

// status, err, vis and token types (spa5-3, spa5-6).
const RUN: u8 = 0;
const DONE: u8 = 1;
const ERR: u8 = 2;
const UNWIND: u8 = 3;
const SYNC_NO_SSY: u8 = 1;
const BRK_NO_PBK: u8 = 2;
const CONT_NO_PCNT: u8 = 3;
const RET_NO_CALL: u8 = 4;
const STACK_OVERFLOW: u8 = 5;
const PC_RANGE: u8 = 6;
const TARGET_RANGE: u8 = 7;
const TARGET_MISALIGNED: u8 = 8;
const ILLEGAL: u8 = 9;
const UNSUPPORTED: u8 = 10;
const T_SSY: u8 = 1;
const T_PBK: u8 = 2;
const T_PCNT: u8 = 3;
const T_RET: u8 = 4;
const T_DIV: u8 = 5;

// ---- what a bench does ------------------------------------------------------------------------------------

/// Bytes of the program, where nothing else is said.
const SIZE: u32 = 0x1000;

fn launch(entry: u32, prog_size: u32, launch_mask: u64) -> In {
    In {
        launch: 1,
        entry,
        prog_size,
        launch_mask,
        ..In::default()
    }
}

/// The pins that execute `word`; no predicate holds, all condition codes are 0.
fn exec(word: u64) -> In {
    In {
        inst_valid: 1,
        word,
        ..In::default()
    }
}

/// The same, and P0 holds for `p0`.
fn exec_p0(word: u64, p0: u64) -> In {
    let mut pins = exec(word);
    pins.p[0] = p0;
    pins
}

/// Reset and launch of all four threads; the state after it.
fn start(machine: &mut dyn Unit) -> State {
    machine.clock(&In::reset());
    machine.clock(&launch(0, SIZE, u64::MAX))
}

/// Puts `machine` into `state`.
fn put(machine: &mut dyn Unit, state: &State) {
    machine.load(state);
    assert_eq!(machine.clock(&stalled::<Spa5>()), *state, "loaded");
}

/// Executes a step as a whole: one that unwinds takes further clocks, in which the instruction pins mean
/// nothing. Returns the state after it, and how many clocks it took.
fn step(machine: &mut dyn Unit, pins: &In) -> (State, usize) {
    let mut clocks = 1;
    let mut state = machine.clock(pins);
    while state.status == UNWIND {
        let pins = exec(if clocks % 2 == 0 { ILLEGAL_WORD } else { NOP });
        let idle = In::default();
        state = machine.clock(if clocks % 3 == 0 { &idle } else { &pins });
        clocks += 1;
    }
    (state, clocks)
}

/// What an instruction that ends in an error leaves of the state before it (spa5-6).
fn failed(before: &State, err: u8) -> State {
    State {
        err,
        status: ERR,
        ..*before
    }
}

/// Executes `pins`, which must end in error `err` and change nothing else; then makes the unit go on.
fn fails(machine: &mut dyn Unit, before: &State, pins: &In, err: u8, at: &str) {
    assert_eq!(machine.clock(pins), failed(before, err), "{at}");
    put(machine, before);
}

/// Executes `pins`, which must not end in an error; then puts the unit back. Returns the state after it.
fn works(machine: &mut dyn Unit, before: &State, pins: &In, at: &str) -> State {
    let state = machine.clock(pins);
    assert_eq!(state.err, 0, "{at}");
    put(machine, before);
    state
}

/// `before` with a token pushed on an empty stack, executed in slot 0 or 1 of a bundle.
fn pushed(before: &State, top_type: u8, vis: u8, top_mask: u64, top_addr: u32) -> State {
    State {
        sp: before.sp + 1,
        top_type,
        top_vis: before.vis,
        top_mask,
        top_addr,
        vis,
        ..*before
    }
}

// ---- spa5-7: the traces -----------------------------------------------------------------------------------

/// A mask as the spec prints it, thread 3 on the left.
fn threads(text: &str) -> u64 {
    mask(&text.chars().rev().collect::<String>())
}

fn hex(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap()
}

/// A trace of spa5-7 with its words.
struct Trace {
    words: Vec<u64>,
    prog_size: u32,
    /// After which step, what, for whom.
    conditions: Vec<(usize, String, u64)>,
    vis: BTreeMap<usize, u8>,
    steps: String,
}

fn trace(name: &str) -> Trace {
    let text = machine::read::<Spa5>(&format!("{name}.exp"));
    let (_, rest) = text.split_once("[words]\n").unwrap();
    let (words, rest) = rest.split_once("[conditions]\n").unwrap();
    let (conditions, rest) = rest.split_once("[vis]\n").unwrap();
    let (vis, steps) = rest.split_once("[steps]\n").unwrap();
    let listed: BTreeMap<u32, u64> = rows(words)
        .map(|row| (hex(row[0]), u64::from_str_radix(row[1], 16).unwrap()))
        .collect();
    let prog_size = listed.keys().max().unwrap() / 32 * 32 + 32;
    let words = (0..prog_size)
        .step_by(8)
        .map(|at| {
            let unlisted = if at % 32 == 0 { CONTROL } else { NOP };
            listed.get(&at).copied().unwrap_or(unlisted)
        })
        .collect();
    Trace {
        words,
        prog_size,
        conditions: rows(conditions)
            .map(|row| (row[0].parse().unwrap(), row[1].to_owned(), threads(row[2])))
            .collect(),
        vis: rows(vis)
            .map(|row| {
                (
                    row[0].parse().unwrap(),
                    u8::from_str_radix(row[1], 2).unwrap(),
                )
            })
            .collect(),
        steps: steps.to_owned(),
    }
}

/// Puts a condition that the spec gives into the planes. `others`: everything not given is 1.
fn set_condition(pins: &mut In, what: &str, to: u64, others: bool) {
    let to = to | if others { !ALL } else { 0 };
    if what == "GE" {
        // S and O are equal.
        pins.cc[1] = !to;
        if others {
            (pins.cc[1], pins.cc[3]) = (u64::MAX, to);
        } else {
            pins.cc[3] = 0;
        }
    } else {
        let number: usize = what.strip_prefix('P').unwrap().parse().unwrap();
        pins.p[number] = to;
    }
}

/// `SSY(1111,58) DIV(1010,28)`, oldest first; a name alone is the token that stood there, `same` the stack.
fn stack_after(before: &[(u8, u64, u32)], text: &str) -> Vec<(u8, u64, u32)> {
    let names = ["", "SSY", "PBK", "PCNT", "RET", "DIV"];
    let kind = |name: &str| names.iter().position(|n| *n == name).unwrap() as u8;
    match text {
        "same" => before.to_vec(),
        "-" => Vec::new(),
        _ => text
            .split(' ')
            .enumerate()
            .map(|(i, token)| match token.split_once('(') {
                Some((name, rest)) => {
                    let (mask, addr) = rest.strip_suffix(')').unwrap().split_once(',').unwrap();
                    (kind(name), threads(mask), hex(addr))
                }
                None => {
                    assert_eq!(before[i].0, kind(token), "{text}");
                    before[i]
                }
            })
            .collect(),
    }
}

/// Runs the words of `name`.exp through `machine` and checks every row. Returns how many there were.
fn check_trace(name: &str, machine: &mut dyn Unit, others: bool) -> usize {
    let trace = trace(name);
    machine.clock(&In::reset());
    let mut state = machine.clock(&launch(0, trace.prog_size, ALL));
    let mut conditions = In::default();
    if others {
        (conditions.p, conditions.cc) = ([u64::MAX; 7], [u64::MAX; 4]);
    }
    let mut stack = Vec::new();
    let (mut number, mut checked) = (0, 0);
    // The next instruction, with whatever that changes in the conditions; whether it was OTHER.
    let mut go = |machine: &mut dyn Unit, state: &State, number: usize| {
        let word = trace.words[state.pc as usize / 8];
        let pins = In {
            inst_valid: 1,
            word,
            ..conditions
        };
        let (after, _) = step(machine, &pins);
        for (_, what, to) in trace.conditions.iter().filter(|c| c.0 == number) {
            set_condition(&mut conditions, what, *to, others);
        }
        if let Some(vis) = trace.vis.get(&number) {
            assert_eq!(after.vis, *vis, "{name}.exp, vis after step {number}");
        }
        (after, !matches!(word >> 52, 0xE20..=0xE3F | 0xF0F))
    };
    for row in rows(&trace.steps) {
        let at = format!("{name}.exp, step {}", row[0]);
        let [
            steps,
            pc,
            _,
            before,
            after,
            next,
            d_brk,
            d_cont,
            d_ret,
            exited,
            shown,
        ] = row[..]
        else {
            panic!("{at}: {row:?}")
        };
        let (first, last) = steps.split_once('-').unwrap_or((steps, steps));
        let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
        // Steps that the table leaves out.
        while number + 1 < first {
            number += 1;
            let (reached, other) = go(machine, &state, number);
            // spa5-7.6 has no table, and its second step is a PBK.
            if (name, number) != ("cont_no_pcnt", 2) {
                assert!(other, "{at}: left out, and more than ISETP and X");
                let pc = state.pc;
                assert_eq!(State { pc, ..reached }, state, "{at}: left out");
            }
            state = reached;
        }
        assert_eq!(state.status, RUN, "{at}");
        assert_eq!(state.pc, hex(pc), "{at}: pc");
        assert_eq!(state.active, threads(before), "{at}: active before");
        while number < last {
            number += 1;
            state = go(machine, &state, number).0;
        }
        assert_eq!(state.active, threads(after), "{at}: active after");
        let (next, end) = next.split_once(", ").unwrap_or((next, ""));
        let (status, err) = match end {
            "" => (RUN, 0),
            "DONE" => (DONE, 0),
            _ => (ERR, end.strip_prefix("ERR ").unwrap().parse().unwrap()),
        };
        assert_eq!((state.status, state.err), (status, err), "{at}");
        assert_eq!(state.pc, hex(next), "{at}: next pc");
        // A flag without a column stays 0; every thread has exited when all is DONE (spa5-I11).
        let gone = if status == DONE { ALL } else { 0 };
        for (flag, text, unsaid) in [
            (state.d_brk, d_brk, 0),
            (state.d_cont, d_cont, 0),
            (state.d_ret, d_ret, 0),
            (state.exited, exited, gone),
        ] {
            let expected = if text == "." { unsaid } else { threads(text) };
            assert_eq!(flag, expected, "{at}: d_brk, d_cont, d_ret, exited");
        }
        stack = stack_after(&stack, shown);
        let (top_type, top_mask, top_addr) = stack.last().copied().unwrap_or_default();
        assert_eq!(usize::from(state.sp), stack.len(), "{at}: sp");
        assert_eq!(
            (state.top_type, state.top_mask, state.top_addr),
            (top_type, top_mask, top_addr),
            "{at}: top"
        );
        if let Some(tokens) = machine.stack() {
            let tokens: Vec<_> = tokens.iter().map(|t| (t.kind, t.mask, t.addr)).collect();
            assert_eq!(tokens, stack, "{at}: stack");
        }
        checked += 1;
    }
    checked
}

/// Traces of spa5-7.1 to spa5-7.6, with their rows.
const TRACES: [(&str, usize); 6] = [
    ("if_else", 10),
    ("continue_loop", 11),
    ("if_in_loop", 14),
    ("divergent_return", 9),
    ("early_exit", 7),
    ("cont_no_pcnt", 1),
];

fn traces(machine: &mut dyn Unit) {
    for (name, rows) in TRACES {
        for others in [false, true] {
            assert_eq!(check_trace(name, machine, others), rows, "{name}");
        }
    }
    // spa5-7.6: with P0 = 0 for all the CONT is a no-operation and the program ends normally.
    let Trace {
        words, prog_size, ..
    } = trace("cont_no_pcnt");
    machine.clock(&In::reset());
    let mut state = machine.clock(&launch(0, prog_size, ALL));
    let mut pcs = Vec::new();
    while state.status == RUN {
        pcs.push(state.pc);
        let word = words[state.pc as usize / 8];
        (state, _) = step(machine, &exec(word));
    }
    assert_eq!(pcs, [0x08, 0x10, 0x18, 0x28]);
    let done = State {
        status: DONE,
        pc: 0x28,
        exited: ALL,
        ..State::default()
    };
    assert_eq!(state, done);
}

/// The traces' words are what their listings assemble to.
#[test]
fn listings_assemble_to_the_words_of_the_traces() {
    for (name, _) in TRACES {
        let listing = machine::read::<Spa5>(&format!("{name}.s"));
        let assembled = assemble(&listing, name).unwrap();
        let Trace {
            words, prog_size, ..
        } = trace(name);
        assert_eq!(assembled.words, words, "{name}");
        assert_eq!((assembled.prog_size, assembled.entry), (prog_size, 0));
    }
}

// ---- spa5-2.4: conditions ---------------------------------------------------------------------------------

/// Where a BRA in which `taken` are taken leads from `before`, whose pc is 0x08.
fn branched(before: &State, taken: u64) -> State {
    assert_eq!(before.pc, 0x08);
    let target = State {
        pc: 0x88,
        active: taken,
        ..*before
    };
    match taken {
        0 => State {
            pc: 0x10,
            ..*before
        },
        _ if taken == before.active => target,
        _ => pushed(&target, T_DIV, before.vis, before.active & !taken, 0x10),
    }
}

/// Every CC test for every condition code, four at a time.
fn cc_tests(machine: &mut dyn Unit) {
    let table = machine::read::<Spa5>("cc_tests.exp");
    let tests: BTreeMap<u64, u64> = table
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| {
            let column: Vec<&str> = l.split(';').map(str::trim).collect();
            (hex(column[0]).into(), hex(column[3]).into())
        })
        .collect();
    assert_eq!(tests.len(), 0x18);
    let before = start(machine);
    let mut checked = 0;
    for ccccc in 0..0x20 {
        for first in (0..16).step_by(LANES) {
            let word = off(BRA | 0x7_0000 | ccccc, 0x78);
            let mut pins = exec(word);
            for code in first..first + LANES {
                for (bit, plane) in pins.cc.iter_mut().enumerate() {
                    *plane |= (code as u64 >> bit & 1) << (code - first);
                }
            }
            let at = format!("test {ccccc:02x}, condition codes from {first} on");
            match tests.get(&ccccc) {
                Some(lut16) => {
                    let taken = lut16 >> first & ALL;
                    let after = works(machine, &before, &pins, &at);
                    assert_eq!(after, branched(&before, taken), "{at}");
                }
                None => fails(machine, &before, &pins, UNSUPPORTED, &at),
            }
            checked += LANES;
        }
    }
    assert_eq!(checked, 32 * 16);
}

/// Every predicate, inverted or not, alone and together with a CC test.
fn predicates(machine: &mut dyn Unit) {
    let before = start(machine);
    let holds = [
        0b0001, 0b0010, 0b0100, 0b1000, 0b0110, 0b1001, 0b1110, 0b1111,
    ];
    for pppp in 0..16u64 {
        let mut pins = exec(off(BRA | pppp << 16 | 0xF, 0x78));
        pins.p.copy_from_slice(&holds[..7]);
        // Z of threads 1 to 3.
        pins.cc[0] = 0b1110;
        let mut taken = holds[(pppp & 7) as usize];
        if pppp >= 8 {
            taken ^= ALL;
        }
        let after = works(machine, &before, &pins, "predicate");
        assert_eq!(after, branched(&before, taken), "predicate {pppp:x}");
        // EQU.
        pins.word = off(BRA | pppp << 16 | 0xA, 0x78);
        let after = works(machine, &before, &pins, "predicate");
        assert_eq!(
            after,
            branched(&before, taken & 0b1110),
            "predicate {pppp:x} and Z"
        );
        // Threads that are not active have no say.
        let some = State {
            active: 0b0101,
            exited: 0b1010,
            ..before
        };
        put(machine, &some);
        let after = works(machine, &some, &pins, "predicate");
        assert_eq!(
            after,
            branched(&some, taken & 0b0100),
            "predicate {pppp:x}, two threads"
        );
        put(machine, &before);
    }
}

// ---- spa5-2.3: decoding -----------------------------------------------------------------------------------

/// What a word whose CC test is T and whose offset is `0x78` does at 0x08 with an empty stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It pushes a token of this type, and the next pc is this.
    Push(u8, u32),
    Branch,
    Empties,
    Error(u8),
    Other,
}

/// Rows of spa5-2.3 for opcodes 0xE20 to 0xE3F; `BRX` is without its option.
fn outcome(word: u64) -> Outcome {
    use Outcome::{Branch, Empties, Error, Other, Push};
    let constant = word & CONSTANT_BANK != 0;
    match word >> 52 {
        0xE24 | 0xE26 | 0xE27 | 0xE29 | 0xE2A | 0xE2B if constant => Error(UNSUPPORTED),
        0xE24 => Branch,
        0xE26 => Push(T_RET, 0x88),
        0xE27 => Push(T_RET, 0x10),
        0xE29 => Push(T_SSY, 0x10),
        0xE2A => Push(T_PBK, 0x10),
        0xE2B => Push(T_PCNT, 0x10),
        0xE30 => Empties,
        0xE32 => Error(RET_NO_CALL),
        0xE34 => Error(BRK_NO_PBK),
        0xE35 => Error(CONT_NO_PCNT),
        0xE20 | 0xE21 | 0xE22 | 0xE23 | 0xE25 | 0xE28 | 0xE2C | 0xE2D | 0xE2E | 0xE2F | 0xE31
        | 0xE33 | 0xE36 | 0xE37 | 0xE38 | 0xE39 | 0xE3A => Error(UNSUPPORTED),
        0xE3B..=0xE3F => Error(ILLEGAL),
        _ if word >> 51 == 0xF0F8 >> 3 => Error(SYNC_NO_SSY),
        _ => Other,
    }
}

/// All values of bits 63:48, with bit 5 and without.
fn opcodes(machine: &mut dyn Unit) {
    let before = start(machine);
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    for high in 0..0x1_0000u64 {
        for bit5 in [0, CONSTANT_BANK] {
            let word = off(high << 48 | ALWAYS | bit5, 0x78);
            let expected = outcome(word);
            let after = match expected {
                Outcome::Push(kind, pc) => {
                    let vis = [0, 1, 2, 4, 8][usize::from(kind)];
                    // CAL comes back to the next instruction.
                    let addr = if pc == 0x88 { 0x10 } else { 0x88 };
                    State {
                        pc,
                        ..pushed(&before, kind, vis, ALL, addr)
                    }
                }
                Outcome::Branch => branched(&before, ALL),
                Outcome::Empties => State {
                    status: UNWIND,
                    active: 0,
                    exited: ALL,
                    ..before
                },
                Outcome::Error(err) => failed(&before, err),
                Outcome::Other => State { pc: 0x10, ..before },
            };
            assert_eq!(machine.clock(&exec(word)), after, "{word:016x}");
            machine.load(&before);
            *met.entry(format!("{expected:?}")).or_default() += 1;
        }
    }
    // Sixteen words an opcode and value of bit 5, eight of SYNC.
    let of = |key: &str| met[key];
    assert_eq!(of("Error(1)"), 8 * 2);
    assert_eq!(of("Error(9)"), 5 * 16 * 2);
    assert_eq!(of("Error(10)"), (17 * 2 + 6) * 16);
    assert_eq!(of("Branch"), 16);
    assert_eq!(of("Push(4, 136)") + of("Push(4, 16)"), 2 * 16);
    assert_eq!(of("Other"), 0x2_0000 - (512 * 2 + 16));
}

/// Flipping a bit that an instruction does not name changes nothing.
fn ignored_bits(machine: &mut dyn Unit) {
    const MATCH: u64 = 0xFFF0_0000_0000_0000;
    const OFF24: u64 = 0xFF_FFFF << 20;
    const CONDITION: u64 = 0xF_001F;
    // One token of each type below, so that everything may leave.
    let mut base = start(machine);
    for word in [PRET, PBK, PCNT, SSY] {
        base = machine.clock(&exec(off(word, 0x400)));
        assert_eq!(base.err, 0);
    }
    let base = State {
        vis: 0b1111,
        ..base
    };
    let rows = [
        (SSY, MATCH | OFF24 | CONSTANT_BANK),
        (PBK, MATCH | OFF24 | CONSTANT_BANK),
        (PCNT, MATCH | OFF24 | CONSTANT_BANK),
        (PRET, MATCH | OFF24 | CONSTANT_BANK),
        (CAL, MATCH | OFF24 | CONSTANT_BANK),
        (BRA, MATCH | OFF24 | CONSTANT_BANK | CONDITION | U),
        (SYNC, 0xFFF8_0000_0000_0000 | CONDITION),
        (BRK, MATCH | CONDITION),
        (CONT, MATCH | CONDITION),
        (RET, MATCH | CONDITION),
        (EXIT, MATCH | CONDITION),
    ];
    let mut flips = 0;
    for (word, named) in rows {
        let conditional = named & CONDITION != 0;
        for low in if conditional {
            vec![ALWAYS, P0]
        } else {
            vec![0]
        } {
            let word = off(word, 0x78) | low;
            put(machine, &base);
            let expected = machine.clock(&exec_p0(word, 0b0110));
            assert_eq!(expected.err, 0, "{word:016x}");
            assert_ne!(expected, base, "{word:016x}");
            for bit in (0..64).filter(|b| named >> b & 1 == 0) {
                put(machine, &base);
                let after = machine.clock(&exec_p0(word ^ 1 << bit, 0b0110));
                assert_eq!(after, expected, "{word:016x}, bit {bit}");
                flips += 1;
            }
        }
    }
    // 5 * (64 - 37), then two forms each of BRA, SYNC, and the four others.
    assert_eq!(
        flips,
        5 * 27 + 2 * (64 - 47) + 2 * (64 - 22) + 8 * (64 - 21)
    );
}

// ---- spa5-2.1, spa5-2.2: addresses ------------------------------------------------------------------------

/// Control words as entry, as next instruction and as target.
fn slots(machine: &mut dyn Unit) {
    // norm.
    for (entry, pc) in [
        (0x00, 0x08),
        (0x08, 0x08),
        (0x10, 0x10),
        (0x18, 0x18),
        (0x20, 0x28),
        (0xFE0, 0xFE8),
        (0xFFF8, 0xFFF8),
    ] {
        machine.clock(&In::reset());
        let state = machine.clock(&launch(entry, 0x1_0000, ALL));
        assert_eq!(state.pc, pc, "entry {entry:x}");
    }
    // seq.
    let before = start(machine);
    for (pc, next) in [
        (0x08, 0x10),
        (0x10, 0x18),
        (0x18, 0x28),
        (0x28, 0x30),
        (0x30, 0x38),
        (0x38, 0x48),
        (0xFD8, 0xFE8),
        (0xFF8, 0x1008),
    ] {
        let at = format!("{pc:x}");
        let here = State { pc, ..before };
        put(machine, &here);
        let there = State { pc: next, ..here };
        // OTHER; a branch or leaving instruction that no thread takes; a set-up instruction; what others go on after.
        for word in [NOP, off(BRA | NEVER, 0x78), EXIT | NEVER] {
            assert_eq!(works(machine, &here, &exec(word), &at), there, "{at}");
        }
        let after = works(machine, &here, &exec(off(SSY, -8 - i64::from(pc))), &at);
        assert_eq!(after, pushed(&there, T_SSY, 1, ALL, 0x08), "{at}: SSY");
        let after = works(machine, &here, &exec_p0(EXIT | P0, 0b0010), &at);
        let left = State {
            active: 0b1101,
            exited: 0b0010,
            ..there
        };
        assert_eq!(after, left, "{at}: EXIT of one");
        // The way back of a call, and the other side of a branch.
        let call = off(CAL, 0x78 - i64::from(pc));
        let after = works(machine, &here, &exec(call), &at);
        let called = State { pc: 0x88, ..here };
        assert_eq!(after, pushed(&called, T_RET, 8, ALL, next), "{at}: CAL");
        let after = works(
            machine,
            &here,
            &exec_p0(off(BRA | P0, 0x78 - i64::from(pc)), 0b0010),
            &at,
        );
        let taken = State {
            pc: 0x88,
            active: 0b0010,
            ..here
        };
        assert_eq!(
            after,
            pushed(&taken, T_DIV, 0, 0b1101, next),
            "{at}: divergent"
        );
    }
    // The base is pc + 8 in all three slots; a target that is a control word means the slot behind it.
    for pc in [0x108u32, 0x110, 0x118] {
        let here = State { pc, ..before };
        put(machine, &here);
        for (to, target) in [
            (0x00, 0x08),
            (0x08, 0x08),
            (0x18, 0x18),
            (0xE0, 0xE8),
            (0x100, 0x108),
            (0x120, 0x128),
            (0x128, 0x128),
            (0x400, 0x408),
            (0xFE0, 0xFE8),
            (0xFF8, 0xFF8),
        ] {
            let at = format!("{pc:x} to {to:x}");
            let offset = to - i64::from(pc) - 8;
            let there = State { pc: target, ..here };
            let after = works(machine, &here, &exec(off(BRA | ALWAYS, offset)), &at);
            assert_eq!(after, there, "{at}: BRA");
            for (word, kind, vis) in [
                (SSY, T_SSY, 1),
                (PBK, T_PBK, 2),
                (PCNT, T_PCNT, 4),
                (PRET, T_RET, 8),
            ] {
                let after = works(machine, &here, &exec(off(word, offset)), &at);
                assert_eq!(
                    State { pc, ..after },
                    pushed(&here, kind, vis, ALL, target),
                    "{at}"
                );
            }
            let after = works(machine, &here, &exec(off(CAL, offset)), &at);
            assert_eq!(after.pc, target, "{at}: CAL");
        }
    }
}

/// Range and alignment of targets, for whom they are checked and for whom not.
fn targets(machine: &mut dyn Unit) {
    for size in [0x20u32, 0x400, 0x1000] {
        machine.clock(&In::reset());
        let before = machine.clock(&launch(0, size, ALL));
        // (target, error)
        let end = i64::from(size);
        let rows = [
            (0, 0),
            (8, 0),
            (end - 8, 0),
            (end, TARGET_RANGE),
            (end + 8, TARGET_RANGE),
            (-8, TARGET_RANGE),
            (-0x20, TARGET_RANGE),
            (8 + 8 - 0x80_0000, TARGET_RANGE),
            (8 + 8 + 0x7F_FFF8, TARGET_RANGE),
            (1, TARGET_MISALIGNED),
            (2, TARGET_MISALIGNED),
            (4, TARGET_MISALIGNED),
            (end - 4, TARGET_MISALIGNED),
            (end + 4, TARGET_MISALIGNED),
            (-1, TARGET_MISALIGNED),
            (-4, TARGET_MISALIGNED),
            (8 + 8 + 0x7F_FFFF, TARGET_MISALIGNED),
        ];
        for (to, err) in rows {
            for word in SET_UP.into_iter().chain([BRA | ALWAYS, BRA | P0]) {
                let at = format!("{word:016x} to {to:#x} of {size:#x}");
                let pins = exec_p0(off(word, to - 16), 0b0001);
                if err == 0 {
                    works(machine, &before, &pins, &at);
                } else {
                    fails(machine, &before, &pins, err, &at);
                }
            }
            // No thread branches: the target is not checked.
            for word in [BRA | NEVER, BRA | U | P0] {
                let pins = exec_p0(off(word, to - 16), 0b0001);
                let after = works(machine, &before, &pins, "no thread");
                assert_eq!(after, State { pc: 0x10, ..before }, "{to:#x}");
            }
        }
    }
    // Nothing wraps at 2^32.
    machine.clock(&In::reset());
    let launched = machine.clock(&launch(0xFFFF_FFC8, 0xFFFF_FFE0, ALL));
    assert_eq!(launched.pc, 0xFFFF_FFC8);
    for word in SET_UP.into_iter().chain([BRA | ALWAYS]) {
        let pins = exec(off(word, 0x7F_FFF8));
        fails(machine, &launched, &pins, TARGET_RANGE, "over 2^32");
        works(machine, &launched, &exec(off(word, 8)), "the last slot");
        let pins = exec(off(word, 0x10));
        fails(machine, &launched, &pins, TARGET_RANGE, "behind it");
        let pins = exec(off(word, -0x80_0000));
        works(machine, &launched, &pins, "far back");
    }
    let before = start(machine);
    let low = State { pc: 0x08, ..before };
    put(machine, &low);
    let pins = exec(off(SSY, -0x20));
    fails(machine, &low, &pins, TARGET_RANGE, "below 0");
}

/// Fetches at the program's end, with an instruction on the pins and without.
fn fetch(machine: &mut dyn Unit) {
    for (size, entry, inside) in [
        (0x20u32, 0x18, true),
        (0x20, 0x20, false),
        (0x40, 0x20, true),
        (0x40, 0x38, true),
        (0x40, 0x40, false),
        (0, 0, false),
        (0xFFFF_FFE0, 0xFFFF_FFD8, true),
        (0xFFFF_FFE0, 0xFFFF_FFE8, false),
    ] {
        let at = format!("{entry:#x} of {size:#x}");
        for pins in [exec(NOP), exec(ILLEGAL_WORD), In::default()] {
            machine.clock(&In::reset());
            let before = machine.clock(&launch(entry, size, ALL));
            assert_eq!((before.status, before.err), (RUN, 0), "{at}");
            assert_eq!(machine.clock(&stalled::<Spa5>()), before, "{at}: stalled");
            let after = machine.clock(&pins);
            if !inside {
                assert_eq!(after, failed(&before, PC_RANGE), "{at}");
            } else if pins.inst_valid == 0 {
                assert_eq!(after, before, "{at}: waiting");
            } else if pins.word == NOP {
                assert_eq!((after.status, after.pc > before.pc), (RUN, true), "{at}");
            } else {
                assert_eq!(after, failed(&before, ILLEGAL), "{at}");
            }
        }
    }
    // Fell off the end; returned past it.
    machine.clock(&In::reset());
    machine.clock(&launch(0x10, 0x20, ALL));
    let called = machine.clock(&exec(off(PBK, 0)));
    assert_eq!((called.pc, called.sp), (0x18, 1));
    let fallen = machine.clock(&exec(NOP));
    assert_eq!((fallen.pc, fallen.status), (0x28, RUN));
    assert_eq!(machine.clock(&In::default()), failed(&fallen, PC_RANGE));
    machine.clock(&In::reset());
    machine.clock(&launch(0x18, 0x20, ALL));
    let called = machine.clock(&exec(off(CAL, -0x18)));
    assert_eq!((called.pc, called.top_addr), (0x08, 0x28));
    let (back, clocks) = step(machine, &exec(RET | ALWAYS));
    assert_eq!((back.pc, back.status, clocks), (0x28, RUN, 2));
    assert_eq!(machine.clock(&exec(EXIT)), failed(&back, PC_RANGE));
}

// ---- spa5-4.2, spa5-4.3: the stack and who may leave ------------------------------------------------------

/// vis after each push, from every value that it can have; what the token saves.
fn new_vis(machine: &mut dyn Unit) {
    // Bits are written as the spec numbers them: RET, CONT, BRK, SYNC.
    let rows: [(u64, u8, u8, u8); 6] = [
        (SSY, T_SSY, 0b1111, 0b0001),
        (PBK, T_PBK, 0b1110, 0b0010),
        (PCNT, T_PCNT, 0b1110, 0b0100),
        (PRET, T_RET, 0b0000, 0b1000),
        (CAL, T_RET, 0b0000, 0b1000),
        (BRA | P0, T_DIV, 0b1111, 0b0000),
    ];
    let before = start(machine);
    for vis in 0..16 {
        let here = State { vis, ..before };
        put(machine, &here);
        for (word, kind, kept, set) in rows {
            let pins = exec_p0(off(word, 0x78), 0b0011);
            let after = works(machine, &here, &pins, "push");
            assert_eq!(after.vis, vis & kept | set, "{word:016x}");
            assert_eq!(
                (after.sp, after.top_type, after.top_vis),
                (1, kind, vis),
                "{word:016x}"
            );
            // Popped again it brings vis back.
            let on_top = State {
                status: UNWIND,
                active: 0,
                ..after
            };
            put(machine, &on_top);
            assert_eq!(machine.clock(&In::default()).vis, vis, "{word:016x}");
            put(machine, &here);
        }
    }
}

/// Each leaving instruction with its bit of vis and without, for no, some and all threads.
fn leaving(machine: &mut dyn Unit) {
    let launched = start(machine);
    let token = State {
        sp: 1,
        top_type: T_RET,
        top_vis: 0b0110,
        top_mask: ALL,
        top_addr: 0x48,
        ..launched
    };
    for (number, word) in LEAVING.into_iter().enumerate() {
        for vis in 0..16 {
            // EXIT needs no bit.
            let may = number == 4 || vis >> number & 1 == 1;
            for taken in 0..=ALL {
                let at = format!("{word:016x}, vis {vis:04b}, T {taken:04b}");
                let before = State { vis, ..token };
                put(machine, &before);
                let pins = exec_p0(word | P0, taken);
                if taken != 0 && !may {
                    fails(machine, &before, &pins, number as u8 + 1, &at);
                    continue;
                }
                let mut after = State {
                    active: ALL & !taken,
                    ..before
                };
                match number {
                    1 => after.d_brk = taken,
                    2 => after.d_cont = taken,
                    3 => after.d_ret = taken,
                    4 => after.exited = taken,
                    _ => {}
                }
                if taken == ALL {
                    // pc, vis, sp and the stack stay in this clock.
                    after.status = UNWIND;
                } else {
                    after.pc = 0x10;
                }
                assert_eq!(works(machine, &before, &pins, &at), after, "{at}");
            }
        }
    }
}

/// Each type of token popped over a thread in each condition (table of spa5-4.4).
fn pops(machine: &mut dyn Unit) {
    let launched = start(machine);
    for kind in T_SSY..=T_DIV {
        // Thread 2 is looked at; the others have exited.
        for (held, inside) in (0..5).flat_map(|h| [(h, false), (h, true)]) {
            let at = format!("type {kind}, held {held}, in the mask: {inside}");
            let flag = |n: u8| u64::from(held == n) << 2;
            let before = State {
                status: UNWIND,
                active: 0,
                pc: 0x30,
                d_brk: flag(1),
                d_cont: flag(2),
                d_ret: flag(3),
                exited: flag(4) | 0b1011,
                vis: 0b1111,
                sp: 1,
                top_type: kind,
                top_vis: 0b0101,
                top_addr: 0x68,
                top_mask: 0b1010 | u64::from(inside) << 2,
                ..launched
            };
            // A flag is ended only by a token of its own type with the thread in its mask.
            let ended = inside && held > 0 && held < 4 && kind == held + 1;
            let resumes = inside && held == 0 || ended;
            let mut after = State {
                sp: 0,
                vis: 0b0101,
                top_type: 0,
                top_vis: 0,
                top_addr: 0,
                top_mask: 0,
                ..before
            };
            if ended {
                (after.d_brk, after.d_cont, after.d_ret) = (0, 0, 0);
            }
            if resumes {
                (after.active, after.status, after.pc) = (0b0100, RUN, 0x68);
            }
            put(machine, &before);
            // Whatever the pins say.
            let mut pins = exec(EXIT | ALWAYS);
            (pins.launch, pins.launch_mask, pins.prog_size) = (1, ALL, SIZE);
            assert_eq!(machine.clock(&pins), after, "{at}");
            if !resumes {
                let end = State {
                    status: DONE,
                    ..after
                };
                assert_eq!(machine.clock(&In::default()), end, "{at}: empty");
            }
        }
    }
}

/// A stack of `depth` tokens takes as many and no more, whatever pushes.
fn check_depth(machine: &mut dyn Unit, depth: u16) {
    let before = start(machine);
    let pushes = SET_UP.map(|word| exec(off(word, 0x78)));
    for first in pushes {
        put(machine, &before);
        let mut state = before;
        for n in 0..depth {
            state = machine.clock(&first);
            assert_eq!((state.err, state.sp), (0, n + 1), "{depth}");
            state = State { pc: 0x08, ..state };
            machine.load(&state);
        }
        for again in pushes {
            fails(machine, &state, &again, STACK_OVERFLOW, "one more");
        }
        let divergent = exec_p0(off(BRA | P0, 0x78), 0b0001);
        fails(machine, &state, &divergent, STACK_OVERFLOW, "divergent");
        // What does not push does not care.
        for word in [BRA | ALWAYS, BRA | NEVER] {
            let after = works(machine, &state, &exec(off(word, 0x78)), "BRA");
            assert_eq!(after.sp, depth);
        }
        works(machine, &state, &exec(NOP), "OTHER");
        // Every thread leaves: one clock for it, one for each token, one to see that there is none.
        let (end, clocks) = step(machine, &exec(EXIT | ALWAYS));
        assert_eq!((end.status, end.sp, end.pc), (DONE, 0, 0x08));
        assert_eq!(clocks, usize::from(depth) + 2);
        assert_eq!(end.exited, ALL);
    }
    // The last entry holds a divergent side as well, and gives it back.
    put(machine, &before);
    for _ in 1..depth {
        let state = machine.clock(&exec(off(SSY, 0)));
        machine.load(&State { pc: 0x08, ..state });
    }
    let divergent = exec_p0(off(BRA | P0, 0x78), 0b0001);
    let state = machine.clock(&divergent);
    assert_eq!((state.err, state.sp, state.active), (0, depth, 0b0001));
    let (state, clocks) = step(machine, &exec(EXIT | ALWAYS));
    assert_eq!(
        (state.active, state.pc, state.sp),
        (0b1110, 0x10, depth - 1)
    );
    assert_eq!(clocks, 2);
}

fn depth(machine: &mut dyn Unit) {
    check_depth(machine, DEFAULT_DEPTH as u16);
}

fn small_depth(machine: &mut dyn Unit) {
    check_depth(machine, SMALL as u16);
}

#[test]
fn golden_has_room_for_exactly_its_depth() {
    for depth in [1, 2, 3, 1024] {
        check_depth(&mut Golden::with(LANES, depth, false), depth as u16);
    }
}

/// BRA.U branches with all active threads or not at all.
fn unanimous(machine: &mut dyn Unit) {
    let all = start(machine);
    let some = State {
        active: 0b0110,
        exited: 0b1001,
        ..all
    };
    for before in [all, some] {
        put(machine, &before);
        for p0 in 0..=ALL {
            let pins = exec_p0(off(BRA | P0 | U, 0x78), p0);
            let after = works(machine, &before, &pins, "BRA.U");
            let together = p0 & before.active == before.active;
            let taken = if together { before.active } else { 0 };
            assert_eq!(after, branched(&before, taken), "{p0:04b}");
            let pins = exec_p0(off(BRA | P0, 0x78), p0);
            let after = works(machine, &before, &pins, "BRA");
            assert_eq!(after, branched(&before, p0 & before.active), "{p0:04b}");
        }
    }
}

// ---- spa5-6: errors ---------------------------------------------------------------------------------------

/// Which of several errors is reported, and which are not if no thread takes the instruction.
fn priority(machine: &mut dyn Unit) {
    let launched = start(machine);
    let mut full = launched;
    for _ in 0..DEFAULT_DEPTH {
        full = machine.clock(&exec(off(SSY, 0)));
        full = State { pc: 0x08, ..full };
        machine.load(&full);
    }
    let full = State { vis: 0, ..full };
    put(machine, &full);
    let (misaligned, outside) = (off(0, 0x7F_FFFC), off(0, 0x7F_FFF8));
    for (word, err, at) in [
        // 9, 10 before all that comes from operands.
        (ILLEGAL_WORD | misaligned | 0x1F, ILLEGAL, "ILLEGAL"),
        (JMP | misaligned, UNSUPPORTED, "JMP"),
        (SSY | CONSTANT_BANK | misaligned, UNSUPPORTED, "SSY c[][]"),
        (
            BRA | CONSTANT_BANK | NEVER,
            UNSUPPORTED,
            "BRA c[][], no thread",
        ),
        (BRX | ALWAYS, UNSUPPORTED, "BRX"),
        (BRA | 0x7_0018 | misaligned, UNSUPPORTED, "BRA CSM_TA"),
        (BRA | 0xF_0018, UNSUPPORTED, "BRA CSM_TA, no thread"),
        (SYNC | 0x7_001F, UNSUPPORTED, "SYNC RGT, and no SSY"),
        (SYNC | 0xF_001F, UNSUPPORTED, "SYNC RGT, no thread"),
        (EXIT | 0xF_0019, UNSUPPORTED, "EXIT CSM_TR, no thread"),
        // 8, 7, 5.
        (SSY | misaligned, TARGET_MISALIGNED, "SSY to nowhere"),
        (CAL | outside, TARGET_RANGE, "CAL to nowhere"),
        (BRA | P0 | misaligned, TARGET_MISALIGNED, "BRA to nowhere"),
        (BRA | P0 | outside, TARGET_RANGE, "BRA to nowhere"),
        (BRA | P0, STACK_OVERFLOW, "BRA"),
        (PRET, STACK_OVERFLOW, "PRET"),
        // 1 to 4 meet none of them.
        (SYNC | P0, SYNC_NO_SSY, "SYNC"),
        (BRK | P0, BRK_NO_PBK, "BRK"),
        (CONT | P0, CONT_NO_PCNT, "CONT"),
        (RET | P0, RET_NO_CALL, "RET"),
    ] {
        fails(machine, &full, &exec_p0(word, 0b0100), err, at);
    }
    // No thread takes it: none of 1 to 5, 7, 8.
    for word in [
        BRA | NEVER | misaligned,
        BRA | NEVER | outside,
        SYNC | NEVER,
        BRK | NEVER,
        CONT | NEVER,
        RET | NEVER,
        EXIT | NEVER,
    ] {
        let after = works(machine, &full, &exec(word), "no thread");
        assert_eq!(after, State { pc: 0x10, ..full }, "{word:016x}");
    }
    // Set-up instructions have no condition: those fields mean nothing.
    put(machine, &launched);
    for word in SET_UP {
        let plain = works(machine, &launched, &exec(word), "set-up");
        let fields = works(machine, &launched, &exec(word | 0xF_001F), "set-up");
        assert_eq!(plain, fields, "{word:016x}");
    }
    // 6 before all others.
    let behind = State {
        pc: SIZE + 8,
        ..full
    };
    put(machine, &behind);
    for word in [ILLEGAL_WORD, JMP, SSY | misaligned, SYNC | ALWAYS, NOP] {
        fails(machine, &behind, &exec(word), PC_RANGE, "behind the end");
    }
    // Sticky: nothing but a launch or reset ends it.
    let stopped = machine.clock(&exec(NOP));
    for pins in [exec(NOP), exec(EXIT | ALWAYS), In::default(), exec(JMP)] {
        assert_eq!(machine.clock(&pins), stopped);
    }
}

// ---- spa5-A: BRX ------------------------------------------------------------------------------------------

/// BRX with the registers of the four threads.
fn brx_pins(word: u64, p0: u64, r: [u32; 4]) -> In {
    let mut pins = exec_p0(word, p0);
    pins.r[..4].copy_from_slice(&r);
    // Threads that there are not would lead somewhere else.
    pins.r[4..].fill(0x1234_5678);
    pins
}

fn brx(machine: &mut dyn Unit) {
    let all = start(machine);
    let here = State { pc: 0x18, ..all };
    put(machine, &here);
    // pc + 8 + off24 is 0 for the first, 0x60 for the second.
    let (absolute, relative) = (off(BRX | P0, -0x20), off(BRX | P0, 0x40));
    let next = State { pc: 0x28, ..here };

    // No thread: nothing is checked.
    let pins = brx_pins(absolute, 0, [1, 2, 3, 4]);
    assert_eq!(works(machine, &here, &pins, "no thread"), next);

    // Some: they are alone at the BRX, the others behind it; the target is not looked at yet.
    let pins = brx_pins(absolute, 0b0110, [1, 2, 3, 4]);
    let alone = State {
        active: 0b0110,
        ..here
    };
    let divided = pushed(&alone, T_DIV, 0, 0b1001, 0x28);
    assert_eq!(works(machine, &here, &pins, "some"), divided);

    // All, to one target, relative to pc + 8 + off24, normalized.
    for (word, r, pc) in [
        (absolute, 0x40, 0x48),
        (absolute, 0x48, 0x48),
        (absolute, 0, 0x08),
        (absolute, SIZE - 8, SIZE - 8),
        (relative, 0, 0x68),
        (relative, 0x10, 0x70),
        (relative, SIZE - 0x68, SIZE - 8),
    ] {
        let after = works(machine, &here, &brx_pins(word, ALL, [r; 4]), "all");
        assert_eq!(after, State { pc, ..here }, "{r:x}");
    }

    // All, to several targets: the lowest thread's first, the others at the BRX again.
    let r = [0x80, 0x48, 0x80, 0x60];
    let after = works(machine, &here, &brx_pins(absolute, ALL, r), "several");
    let first = State {
        active: 0b0101,
        pc: 0x88,
        ..here
    };
    assert_eq!(after, pushed(&first, T_DIV, 0, 0b1010, 0x18));
    // The lowest of those that are active.
    let three = State {
        active: 0b1110,
        exited: 0b0001,
        ..here
    };
    put(machine, &three);
    let after = works(machine, &three, &brx_pins(absolute, ALL, r), "three");
    let first = State {
        active: 0b0010,
        pc: 0x48,
        ..three
    };
    assert_eq!(after, pushed(&first, T_DIV, 0, 0b1100, 0x18));
    // Equal targets of unequal registers are several: registers are compared.
    let after = works(
        machine,
        &three,
        &brx_pins(absolute, ALL, [0, 0x40, 0x48, 0x40]),
        "registers",
    );
    assert_eq!((after.active, after.pc, after.sp), (0b1010, 0x48, 1));

    // Errors: only the lowest thread's target is checked, misaligned first, then range, then the stack.
    put(machine, &here);
    for (word, r, err) in [
        (absolute, [SIZE, 0, 0, 0], TARGET_RANGE),
        (relative, [SIZE - 0x60, 0, 0, 0], TARGET_RANGE),
        (off(BRX | P0, -0x28), [0; 4], TARGET_RANGE),
        (absolute, [4, 0, 0, 0], TARGET_MISALIGNED),
        (absolute, [0xFFFF_FFFC; 4], TARGET_MISALIGNED),
        (off(BRX | P0, -0x24), [0; 4], TARGET_MISALIGNED),
        (word_with_test(absolute, 0x18), [0; 4], UNSUPPORTED),
        (word_with_test(absolute, 0x1F), [0; 4], UNSUPPORTED),
        (absolute | CONSTANT_BANK, [0; 4], UNSUPPORTED),
    ] {
        fails(machine, &here, &brx_pins(word, ALL, r), err, "BRX");
    }
    works(
        machine,
        &here,
        &brx_pins(absolute, ALL, [8, 4, SIZE, 1]),
        "lowest",
    );
    works(
        machine,
        &here,
        &brx_pins(off(BRX | P0, -0x28), ALL, [8; 4]),
        "sum",
    );
    let full = State {
        sp: 4,
        top_type: T_SSY,
        top_mask: ALL,
        top_addr: 8,
        ..here
    };
    put(machine, &full);
    for (p0, r, err) in [
        (0b0001, [4; 4], STACK_OVERFLOW),
        (ALL, [4, 8, 8, 8], TARGET_MISALIGNED),
        (ALL, [SIZE, 8, 8, 8], TARGET_RANGE),
        (ALL, [8, 16, 8, 8], STACK_OVERFLOW),
    ] {
        fails(machine, &full, &brx_pins(absolute, p0, r), err, "full");
    }
    works(machine, &full, &brx_pins(absolute, ALL, [8; 4]), "no push");
    works(machine, &full, &brx_pins(absolute, 0, [8; 4]), "no push");

    // Bits that it does not name: LMT, register number, and all between.
    put(machine, &here);
    let named = 0xFFF0_0000_0000_0000 | 0xFF_FFFF << 20 | 0xF_001F | CONSTANT_BANK;
    for p0 in [0, 0b0110, ALL] {
        let expected = works(machine, &here, &brx_pins(absolute, p0, r), "BRX");
        for bit in (0..64).filter(|b| named >> b & 1 == 0) {
            let pins = brx_pins(absolute ^ 1 << bit, p0, r);
            assert_eq!(works(machine, &here, &pins, "BRX"), expected, "bit {bit}");
        }
    }
}

fn word_with_test(word: u64, ccccc: u64) -> u64 {
    word & !0x1F | ccccc
}

/// Only off24 is sign extended: a register of 2^31 and more leads over the end, whatever off24 takes away.
fn brx_register(machine: &mut dyn Unit) {
    let here = State {
        pc: 0x98,
        ..start(machine)
    };
    put(machine, &here);
    let word = off(BRX | ALWAYS, 0);
    fails(
        machine,
        &here,
        &brx_pins(word, 0, [0xFFFF_FFF8; 4]),
        TARGET_RANGE,
        "register - 8",
    );
    let pins = brx_pins(off(BRX | ALWAYS, -0xA0), 0, [0x8000_0000; 4]);
    fails(machine, &here, &pins, TARGET_RANGE, "2^31");
}

/// A switch: every thread leaves by its own case, in the order of the lowest, and only those that are taken.
fn brx_switch(machine: &mut dyn Unit) {
    let mut state = start(machine);
    let r = [0x80, 0x40, 0x80, 0x60];
    let pins = brx_pins(off(BRX | P0, -0x10), 0b1101, r);
    let mut seen = Vec::new();
    for _ in 0..6 {
        let word = if state.pc == 0x08 {
            pins
        } else {
            exec(EXIT | ALWAYS)
        };
        seen.push((state.pc, state.active, state.sp));
        (state, _) = step(machine, &word);
    }
    assert_eq!(
        seen,
        [
            (0x08, 0b1111, 0),
            // Thread 1 does not jump and waits behind the BRX.
            (0x08, 0b1101, 1),
            (0x88, 0b0101, 2),
            (0x08, 0b1000, 1),
            (0x68, 0b1000, 1),
            (0x10, 0b0010, 0),
        ]
    );
    assert_eq!(state.status, DONE);
}

/// Without the option it is UNSUPPORTED in every form.
fn no_brx(machine: &mut dyn Unit) {
    let before = start(machine);
    for word in [ALWAYS, P0, NEVER, 0, CONSTANT_BANK, 0xFFFF_FFFF_FFFF] {
        let pins = brx_pins(BRX | word, 0b0001, [8; 4]);
        fails(machine, &before, &pins, UNSUPPORTED, "BRX");
    }
}

// ---- the clock contract -----------------------------------------------------------------------------------------

/// Launch, stall, waiting, unwinding and reset (spa5-3).
fn contract(machine: &mut dyn Unit) {
    let reset = State {
        status: DONE,
        exited: ALL,
        pc: 8,
        ..State::default()
    };
    assert_eq!(machine.clock(&In::reset()), reset, "reset");
    assert_eq!(machine.clock(&exec(off(SSY, 0))), reset, "no warp");
    assert_eq!(machine.clock(&exec(EXIT | ALWAYS)), reset, "no warp");

    // A launch takes its operands, and not the instruction beside it; threads that there are not do not count.
    let mut pins = exec(EXIT | ALWAYS);
    (pins.launch, pins.entry, pins.prog_size, pins.launch_mask) = (1, 0x40, 0x80, !0b0010);
    let mut refused = pins;
    refused.stall = 1;
    assert_eq!(machine.clock(&refused), reset, "stalled launch");
    let launched = State {
        status: RUN,
        pc: 0x48,
        active: 0b1101,
        exited: 0b0010,
        ..State::default()
    };
    assert_eq!(machine.clock(&pins), launched, "launch");

    // Running: a launch is ignored; so is everything without an instruction.
    assert_eq!(machine.clock(&launch(0, 0, 1)), launched, "waiting");
    let mut beside = launch(0, 0, 1);
    (beside.inst_valid, beside.word) = (1, off(PBK, 0x10));
    let mut late = beside;
    late.stall = 1;
    assert_eq!(machine.clock(&late), launched, "stalled");
    let mut expected = State {
        pc: 0x50,
        ..pushed(&launched, T_PBK, 2, 0b1101, 0x68)
    };
    // The size that was launched with is what counts, not the one on the pins.
    assert_eq!(machine.clock(&beside), expected, "beside a launch");
    expected = State {
        pc: 0x58,
        ..pushed(&expected, T_SSY, 3, 0b1101, 0x78)
    };
    assert_eq!(machine.clock(&exec(off(SSY, 0x20))), expected, "SSY");
    // No thread is left for the SSY token.
    expected.status = UNWIND;
    (expected.active, expected.d_brk) = (0, 0b1101);
    assert_eq!(machine.clock(&exec(BRK | ALWAYS)), expected, "BRK");
    // Stalls freeze the unwind; instructions, their absence and launches do not matter to it.
    let mut pins = launch(0, 0x20, ALL);
    (pins.inst_valid, pins.word, pins.stall) = (1, NOP, 1);
    for _ in 0..3 {
        assert_eq!(machine.clock(&pins), expected, "stalled");
    }
    pins.stall = 0;
    let popped = State {
        sp: 1,
        vis: 2,
        top_type: T_PBK,
        top_vis: 0,
        top_mask: 0b1101,
        top_addr: 0x68,
        ..expected
    };
    assert_eq!(machine.clock(&pins), popped, "popped");
    pins.stall = 1;
    assert_eq!(machine.clock(&pins), popped, "stalled");
    let resumed = State {
        pc: 0x68,
        ..launched
    };
    assert_eq!(machine.clock(&In::default()), resumed, "resumed");

    // An error stays, and so does everything else, until a launch clears all of it.
    let mut state = machine.clock(&exec(off(PRET, 0)));
    assert_eq!((state.err, state.sp, state.vis), (0, 1, 8));
    state = machine.clock(&exec_p0(RET | P0, 0b0100));
    assert_eq!((state.err, state.d_ret), (0, 0b0100));
    let stopped = failed(&state, BRK_NO_PBK);
    assert_eq!(machine.clock(&exec(BRK | ALWAYS)), stopped, "error");
    assert_eq!(machine.clock(&exec(NOP)), stopped, "stopped");
    let mut again = launch(0x20, 0x60, 0b0110);
    again.stall = 1;
    assert_eq!(machine.clock(&again), stopped, "stalled launch");
    again.stall = 0;
    let relaunched = State {
        pc: 0x28,
        active: 0b0110,
        exited: 0b1001,
        ..State::default()
    };
    assert_eq!(machine.clock(&again), relaunched, "again");

    // Done in the clock after the last pop; the state stays to be read.
    let emptied = State {
        status: UNWIND,
        active: 0,
        exited: ALL,
        ..relaunched
    };
    assert_eq!(machine.clock(&exec(EXIT | ALWAYS)), emptied, "EXIT");
    let done = State {
        status: DONE,
        ..emptied
    };
    assert_eq!(machine.clock(&exec(NOP)), done, "done");
    assert_eq!(machine.clock(&exec(NOP)), done, "done");
    // A launch of no thread is done at once.
    let none = State { pc: 0x48, ..reset };
    assert_eq!(machine.clock(&launch(0x40, 0x60, !ALL)), none, "no thread");
    assert_eq!(machine.clock(&exec(EXIT | ALWAYS)), none, "no thread");
    assert_eq!(machine.clock(&again), relaunched, "again");

    // Reset beats stall and launch, in RUN, UNWIND and ERR.
    let mut pins = launch(0x40, 0x60, ALL);
    (pins.rst_n, pins.stall) = (0, 1);
    assert_eq!(machine.clock(&pins), reset, "reset in RUN");
    machine.clock(&again);
    machine.clock(&exec(EXIT | ALWAYS));
    assert_eq!(machine.clock(&pins), reset, "reset in UNWIND");
    machine.clock(&again);
    machine.clock(&exec(JMP));
    assert_eq!(machine.clock(&pins), reset, "reset in ERR");
    assert_eq!(machine.clock(&In::default()), reset, "and after it");
}

/// What bench and trace hear of each clock.
#[test]
fn golden_tells_what_each_clock_did() {
    let mut golden = Golden::new(LANES);
    let rows: [(In, Event, Step, Option<Stepped>); 16] = {
        let of = |pc, word, active, taken| {
            Some(Stepped {
                pc,
                word,
                active,
                taken,
            })
        };
        let (pbk, ssy, bra) = (off(PBK, 0x40), off(SSY, 0x40), off(BRA | P0, 0x40));
        let (brk, exit) = (BRK | ALWAYS, EXIT | ALWAYS);
        let left = of(0x68, brk, 0b0001, 0b0001);
        let again = of(0x20 + 8, brk, 0b1110, 0b1110);
        [
            (In::reset(), Event::Reset, Step::None, None),
            (In::default(), Event::Idle, Step::None, None),
            (launch(0, 0x80, ALL), Event::Launched, Step::None, None),
            (In::default(), Event::Waiting, Step::None, None),
            (
                exec(pbk),
                Event::Executed,
                Step::Executed,
                of(0x08, pbk, ALL, ALL),
            ),
            (
                exec(ssy),
                Event::Executed,
                Step::Executed,
                of(0x10, ssy, ALL, ALL),
            ),
            (
                exec_p0(bra, 0b0001),
                Event::Executed,
                Step::Executed,
                of(0x18, bra, ALL, 0b0001),
            ),
            (stalled::<Spa5>(), Event::Stalled, Step::None, None),
            // The divergent side comes back at once; after that no thread is left for the SSY token.
            (exec(brk), Event::Emptied, Step::None, left),
            (exec(NOP), Event::Resumed, Step::Executed, left),
            (exec(brk), Event::Emptied, Step::None, again),
            (stalled::<Spa5>(), Event::Stalled, Step::None, again),
            (exec(NOP), Event::Popped, Step::None, again),
            (exec(NOP), Event::Resumed, Step::Executed, again),
            (
                exec(exit),
                Event::Emptied,
                Step::None,
                of(0x50, exit, ALL, ALL),
            ),
            (
                In::default(),
                Event::Finished,
                Step::Executed,
                of(0x50, exit, ALL, ALL),
            ),
        ]
    };
    for (n, (pins, event, step, stepped)) in rows.iter().enumerate() {
        golden.cycle(pins);
        assert_eq!(
            (golden.event(), golden.step()),
            (*event, *step),
            "clock {n}"
        );
        if let Some(stepped) = stepped {
            assert_eq!(golden.stepped(), stepped, "clock {n}");
            assert_eq!(golden.taken(), stepped.taken);
            assert_eq!(golden.step_word(), stepped.word);
        }
    }
    // BRA.U that is not unanimous: no thread. An error: T is 0. PC_RANGE: there is no word either.
    golden.cycle(&launch(0, 0x20, ALL));
    golden.cycle(&exec_p0(BRA | P0 | U, 0b0001));
    assert_eq!((golden.taken(), golden.stepped().active), (0, ALL));
    golden.cycle(&exec(NOP));
    assert_eq!((golden.taken(), golden.step_word()), (ALL, NOP));
    golden.cycle(&exec(BRK | ALWAYS));
    assert_eq!(golden.event(), Event::Failed(Error::BrkNoPbk));
    assert_eq!((golden.step(), golden.taken()), (Step::Failed, 0));
    assert_eq!(
        (golden.step_word(), golden.stepped().active),
        (BRK | ALWAYS, ALL)
    );
    golden.cycle(&launch(0x20, 0x20, 0b0100));
    golden.cycle(&exec(BRK | ALWAYS));
    assert_eq!(golden.event(), Event::Failed(Error::PcRange));
    let stepped = Stepped {
        pc: 0x28,
        word: 0,
        active: 0b0100,
        taken: 0,
    };
    assert_eq!(*golden.stepped(), stepped);
}

// ---- the stack's memory --------------------------------------------------------------------------------------------

/// What pushes a token of each type; the last divides threads.
const FILL: [u64; 6] = [SSY, PBK, PCNT, PRET, CAL, BRA | P0];

/// A filled stack: the states in which each token was just pushed, the last of them full.
struct Filled {
    pushed: Vec<State>,
}

impl Filled {
    /// Fills a stack of `depth` with tokens of all types in turn, beginning with number `first` of them,
    /// each with an address of its own, divergent ones as long as two threads are active.
    fn new(machine: &mut dyn Unit, depth: usize, first: usize) -> Self {
        machine.clock(&In::reset());
        let mut state = machine.clock(&launch(0, 0x8000, u64::MAX));
        let mut pushed = Vec::new();
        let mut n = first;
        while pushed.len() < depth {
            let word = FILL[n % FILL.len()];
            n += 1;
            let lowest = state.active & state.active.wrapping_neg();
            if word == BRA | P0 && state.active == lowest {
                continue;
            }
            let offset = 0x1238 + 0x2A8 * (n as i64 % 7);
            state = machine.clock(&exec_p0(off(word, offset), state.active ^ lowest));
            assert_eq!((state.err, state.status), (0, RUN));
            pushed.push(state);
            // To a place of its own, so that no two addresses are alike.
            state.pc = 0x48 + 0x60 * pushed.len() as u32;
            put(machine, &state);
            if let Some(last) = pushed.last_mut() {
                *last = state;
            }
        }
        Filled { pushed }
    }

    fn full(&self) -> &State {
        &self.pushed[self.pushed.len() - 1]
    }
}

/// What unwinds whatever is on the stack, in every clock: EXIT of all, one token a clock.
fn unwind() -> In {
    exec(EXIT | ALWAYS)
}

/// Clocks after which token `number` is on top when `golden` unwinds.
fn surfaces_after(golden: &Golden, number: usize) -> usize {
    let mut golden = golden.clone();
    let mut clocks = 0;
    while golden.tokens().len() > number + 1 {
        golden.cycle(&unwind());
        clocks += 1;
    }
    clocks
}

#[test]
fn the_filled_stacks_hold_every_type_at_the_bottom_and_in_the_middle() {
    for depth in [4, 64] {
        let mut found = BTreeSet::new();
        for first in 0..FILL.len() {
            let mut golden = Golden::with(32, depth, false);
            Filled::new(&mut golden, depth, first);
            let tokens = golden.tokens();
            assert_eq!(tokens.len(), depth);
            found.extend(tokens.iter().enumerate().map(|(i, t)| (i.min(3), t.kind)));
        }
        assert_eq!(found.len(), 4 * 5, "{depth}: {found:?}");
    }
}

/// A flipped bit anywhere in the golden's memory shows in the very clock that brings its token to the top:
/// the top token compared on every clock is the whole stack compared.
#[test]
fn no_stored_bit_of_the_golden_escapes_comparison() {
    let mut flips = 0;
    for (lanes, depth) in [
        (4, 4),
        (32, 4),
        (64, 4),
        (1, 64),
        (4, 64),
        (32, 64),
        (64, 64),
    ] {
        // Every type at every place of a small stack.
        for first in 0..if depth == 4 { FILL.len() } else { 1 } {
            let mut golden = Golden::with(lanes, depth, false);
            Filled::new(&mut golden, depth, first);
            assert_eq!(golden.stored_bits(), 39 + lanes as u32);
            let surfaces: Vec<usize> = (0..depth).map(|i| surfaces_after(&golden, i)).collect();
            for (number, bit) in
                (0..depth).flat_map(|i| (0..golden.stored_bits()).map(move |b| (i, b)))
            {
                let at = format!("{lanes} threads, {depth} tokens, token {number}, bit {bit}");
                let (mut clean, mut faulty) = (golden.clone(), golden.clone());
                faulty.flip_stored(number, bit);
                let changed: Vec<usize> = (0..depth)
                    .filter(|i| clean.tokens()[*i] != faulty.tokens()[*i])
                    .collect();
                assert_eq!(changed, [number], "{at}: one token");
                let mut clocks = 0;
                while clean.state() == faulty.state() {
                    assert_eq!(clean.cycle(&unwind()).err, 0, "{at}");
                    faulty.cycle(&unwind());
                    clocks += 1;
                }
                assert_eq!(clocks, surfaces[number], "{at}: seen late");
                let (found, expected) = (bytes_of(faulty.state()), bytes_of(clean.state()));
                let seen = diff(&FIELDS, lanes, found, expected);
                assert_eq!(seen.len(), 1, "{at}: {seen:?}");
                let field = match bit as usize {
                    b if b < lanes => "top_mask",
                    b if b < lanes + 32 => "top_addr",
                    b if b < lanes + 36 => "top_vis",
                    _ => "top_type",
                };
                assert_eq!(FIELDS[seen[0].field].name, field, "{at}");
                assert_eq!((seen[0].rtl ^ seen[0].golden).count_ones(), 1, "{at}");
                flips += 1;
            }
            // A bit that is not stored, a token that is not there.
            let mut same = golden.clone();
            same.flip_stored(0, golden.stored_bits());
            same.flip_stored(depth, 0);
            assert!(same.tokens() == golden.tokens() && same.state() == golden.state());
        }
    }
    // Six fills of four tokens and one of 64, by their widths.
    assert_eq!(flips, 24 * (43 + 71 + 103) + 64 * (40 + 43 + 71 + 103));
}

/// The same for the memory of `machine`, be it flip-flops: the fault is put in by loading the state in which
/// the token was on top with one bit of it changed, and then the full one again, which does not touch it.
fn check_stored_bits(machine: &mut dyn Unit, depth: usize, first: usize) {
    let mut reference = Golden::with(LANES, depth, false);
    let filled = Filled::new(&mut reference, depth, first);
    machine.clock(&In::reset());
    machine.clock(&launch(0, 0x8000, u64::MAX));
    let mut flips = 0;
    for (number, on_top) in filled.pushed.iter().enumerate() {
        let surfaces = surfaces_after(&reference, number);
        for field in FIELDS.iter().filter(|f| f.name.starts_with("top_")) {
            for (element, bit) in (0..field.elements(LANES))
                .flat_map(|e| (0..field.width as usize).map(move |b| (e, b)))
            {
                let at = format!("token {number}, {}[{element}].{bit}", field.name);
                for state in &filled.pushed {
                    machine.load(state);
                }
                let mut faulty = *on_top;
                field.flip(bytes_of_mut(&mut faulty), element, bit);
                put(machine, &faulty);
                let mut full = *filled.full();
                if surfaces == 0 {
                    full = faulty;
                }
                put(machine, &full);
                let (mut clean, mut found) = (reference.clone(), full);
                let mut clocks = 0;
                while found == *clean.state() {
                    found = machine.clock(&unwind());
                    clean.cycle(&unwind());
                    clocks += 1;
                }
                assert_eq!(clocks, surfaces, "{at}: seen late");
                let seen = diff(&FIELDS, LANES, bytes_of(&found), bytes_of(clean.state()));
                assert_eq!(seen.len(), 1, "{at}: {seen:?}");
                assert_eq!(FIELDS[seen[0].field].name, field.name, "{at}");
                assert_eq!(seen[0].rtl ^ seen[0].golden, 1 << bit, "{at}");
                flips += 1;
            }
        }
    }
    assert_eq!(flips, depth * (LANES + 39));
}

fn stored_bits(machine: &mut dyn Unit) {
    check_stored_bits(machine, DEFAULT_DEPTH, 0);
}

fn small_stored_bits(machine: &mut dyn Unit) {
    for first in 0..FILL.len() {
        check_stored_bits(machine, SMALL, first);
    }
}

/// A stack loaded by the states in which it grew unwinds as the one that grew.
fn loaded_stack(machine: &mut dyn Unit) {
    for first in 0..FILL.len() {
        let mut reference = Golden::new(LANES);
        let filled = Filled::new(&mut reference, DEFAULT_DEPTH, first);
        // Something else in every entry first.
        Filled::new(machine, DEFAULT_DEPTH, first + 1);
        machine.clock(&In::reset());
        machine.clock(&launch(0, 0x8000, u64::MAX));
        for state in &filled.pushed {
            put(machine, state);
        }
        let stack = machine.stack();
        assert!(stack.is_none_or(|s| s == reference.tokens()));
        let mut clocks = 0;
        while reference.state().status != DONE {
            let found = machine.clock(&unwind());
            assert_eq!(found, *reference.cycle(&unwind()), "clock {clocks}");
            assert_eq!(found.err, 0);
            clocks += 1;
        }
        // One clock a token, one for each EXIT: the first and one a divergent side; one for the end.
        let sides = filled.pushed.iter().filter(|s| s.top_type == T_DIV).count();
        assert_eq!(clocks, DEFAULT_DEPTH + 1 + sides + 1);
    }
}

both! {
    traces: golden_reproduces_the_worked_traces_row_by_row, rtl_reproduces_the_worked_traces_row_by_row;
    cc_tests: golden_tests_every_condition_code, rtl_tests_every_condition_code;
    predicates: golden_looks_at_the_predicate_named, rtl_looks_at_the_predicate_named;
    opcodes: golden_decodes_every_opcode, rtl_decodes_every_opcode;
    ignored_bits: golden_ignores_the_bits_that_no_rule_names, rtl_ignores_the_bits_that_no_rule_names;
    slots: golden_steps_over_control_words, rtl_steps_over_control_words;
    targets: golden_checks_range_and_alignment_of_targets, rtl_checks_range_and_alignment_of_targets;
    fetch: golden_ends_at_the_program_s_size, rtl_ends_at_the_program_s_size;
    new_vis: golden_knows_who_may_leave_after_a_push, rtl_knows_who_may_leave_after_a_push;
    leaving: golden_lets_leave_who_may, rtl_lets_leave_who_may;
    pops: golden_resumes_who_waits_for_the_token, rtl_resumes_who_waits_for_the_token;
    depth: golden_has_room_for_64_tokens, rtl_has_room_for_64_tokens;
    unanimous: golden_branches_unanimously_or_not_at_all, rtl_branches_unanimously_or_not_at_all;
    priority: golden_tells_the_first_of_several_errors, rtl_tells_the_first_of_several_errors;
    no_brx: golden_has_no_brx_unless_asked_to, rtl_has_no_brx_unless_asked_to;
    contract: golden_keeps_the_clock_contract, rtl_keeps_the_clock_contract;
    stored_bits: golden_shows_every_loaded_bit_of_its_memory, rtl_shows_every_stored_bit_of_its_memory;
    loaded_stack: golden_unwinds_a_loaded_stack, rtl_unwinds_a_loaded_stack;
}

both_small! {
    small_depth: golden_has_room_for_4_tokens, rtl_has_room_for_4_tokens;
    small_stored_bits: golden_shows_every_loaded_bit_of_a_small_memory, rtl_shows_every_stored_bit_of_a_small_memory;
    brx: golden_executes_brx_if_it_is_asked_to, rtl_executes_brx_if_it_is_asked_to;
    brx_register: golden_takes_a_brx_register_as_unsigned, rtl_takes_a_brx_register_as_unsigned;
    brx_switch: golden_runs_a_brx_until_every_thread_has_left_it, rtl_runs_a_brx_until_every_thread_has_left_it;
}

// ---- random programs ------------------------------------------------------------------------------------------------

/// What a place in a legal program may do besides EXIT: leave by SYNC, BRK, CONT, RET, in this order.
#[derive(Clone, Copy, Default)]
struct May([bool; 4]);

impl May {
    const SYNC: usize = 0;
    const BRK: usize = 1;
    const CONT: usize = 2;
    const RET: usize = 3;

    /// With one more, and SYNC only if it is the one.
    fn and(mut self, one: usize) -> Self {
        self.0[Self::SYNC] = false;
        self.0[one] = true;
        self
    }
}

/// Writes programs that a compiler could have written: nested if, loops and calls, and leaving instructions
/// wherever they are legal.
struct Legal<'a> {
    rng: &'a mut Pcg64Mcg,
    /// Words, with the label that an offset is to reach.
    code: Vec<(u64, Option<usize>)>,
    /// Number of the instruction at each label.
    labels: Vec<usize>,
    /// Labels of functions that are still to be written.
    functions: Vec<usize>,
}

impl Legal<'_> {
    fn label(&mut self) -> usize {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    fn here(&mut self, label: usize) {
        self.labels[label] = self.code.len();
    }

    fn to(&mut self, word: u64, label: usize) {
        self.code.push((word, Some(label)));
    }

    fn plain(&mut self, word: u64) {
        self.code.push((word, None));
    }

    fn block(&mut self, level: u32, may: May) {
        for _ in 0..self.rng.random_range(1..4) {
            self.statement(level, may);
        }
    }

    fn statement(&mut self, level: u32, may: May) {
        let condition = condition(self.rng);
        match self.rng.random_range(if level < 4 { 0..13 } else { 0..5 }) {
            0..2 => {
                let word = other(self.rng);
                self.plain(word);
            }
            2..5 => {
                let leave = self.rng.random_range(0..5);
                if leave == 4 && self.rng.random_range(0..4) > 0 {
                    // Otherwise no thread would be left soon.
                    self.plain(NOP);
                } else if leave == 4 || may.0[leave] {
                    self.plain(LEAVING[leave] | condition);
                }
            }
            5..7 => {
                // if / else, joined.
                let (part, join) = (self.label(), self.label());
                self.to(SSY, join);
                self.to(BRA | condition, part);
                self.block(level + 1, may.and(May::SYNC));
                self.plain(SYNC | ALWAYS);
                self.here(part);
                self.block(level + 1, may.and(May::SYNC));
                self.plain(SYNC | ALWAYS);
                self.here(join);
            }
            7 => {
                // if, not joined.
                let end = self.label();
                self.to(BRA | condition, end);
                self.block(level + 1, may);
                self.here(end);
            }
            8..10 => {
                let (head, exit) = (self.label(), self.label());
                self.to(PBK, exit);
                self.here(head);
                self.to(PCNT, head);
                self.plain(BRK | condition);
                self.block(level + 1, may.and(May::BRK).and(May::CONT));
                self.plain(CONT | ALWAYS);
                self.here(exit);
            }
            10 => {
                // A loop with a back branch, joined behind it.
                let (head, join) = (self.label(), self.label());
                self.to(SSY, join);
                self.here(head);
                self.block(level + 1, may.and(May::SYNC));
                self.to(BRA | condition, head);
                self.plain(SYNC | ALWAYS);
                self.here(join);
            }
            11 => {
                let function = self.label();
                self.functions.push(function);
                self.to(CAL, function);
            }
            _ => {
                // An indirect call, as it is written without BRX.
                let (function, back) = (self.label(), self.label());
                self.functions.push(function);
                self.to(PRET, back);
                self.to(BRA | ALWAYS, function);
                self.here(back);
            }
        }
    }

    fn program(rng: &mut Pcg64Mcg) -> Vec<u64> {
        let mut it = Legal {
            rng,
            code: Vec::new(),
            labels: Vec::new(),
            functions: Vec::new(),
        };
        it.block(0, May::default());
        it.plain(EXIT | ALWAYS);
        while let Some(function) = it.functions.pop() {
            it.here(function);
            // Long programs call functions that only return.
            if it.code.len() < 300 {
                it.block(2, May::default().and(May::RET));
            }
            it.plain(RET | ALWAYS);
        }
        let address = |number: usize| 32 * (number / 3) as i64 + 8 + 8 * (number % 3) as i64;
        let code: Vec<u64> = it
            .code
            .iter()
            .enumerate()
            .map(|(number, (word, label))| match label {
                None => *word,
                Some(label) => {
                    let mut to = address(it.labels[*label]);
                    // The control word in front of it will do as well.
                    if to % 32 == 8 && it.rng.random() {
                        to -= 8;
                    }
                    off(*word, to - address(number) - 8)
                }
            })
            .collect();
        bundles(code)
    }
}

/// Control words in front of each three instructions, NOPs at the end.
fn bundles(code: Vec<u64>) -> Vec<u64> {
    code.chunks(3)
        .flat_map(|slots| {
            let slot = |i: usize| slots.get(i).copied().unwrap_or(NOP);
            [CONTROL, slot(0), slot(1), slot(2)]
        })
        .collect()
}

/// Predicate and CC test, mostly the latter T.
fn condition(rng: &mut Pcg64Mcg) -> u64 {
    let ccccc = if rng.random_range(0..4) == 0 {
        rng.random_range(0..0x18)
    } else {
        0xF
    };
    rng.random_range(0..16) << 16 | ccccc
}

/// A word of no instruction of the unit.
fn other(rng: &mut Pcg64Mcg) -> u64 {
    let word: u64 = rng.random();
    if matches!(word >> 56, 0xE2 | 0xE3 | 0xF0) {
        NOP
    } else {
        word
    }
}

/// A program of any words, most of them instructions of the unit with targets inside.
fn wild(rng: &mut Pcg64Mcg) -> Vec<u64> {
    let slots = 3 * rng.random_range(1..24i64);
    let code = (0..slots)
        .map(|number| {
            let here = 32 * (number / 3) + 8 + 8 * (number % 3);
            let any = rng.random::<u64>();
            let to = 8 * rng.random_range(0..slots / 3 * 4);
            let to = match rng.random_range(0..200) {
                0 => to + 4,
                1 => to + 32 * slots,
                2 => -8 - to,
                _ => to,
            };
            let target = off(
                any & 0xF_FFFF_FFFF_FFFF & !0x1F & !0xF_0000 & !CONSTANT_BANK,
                to - here - 8,
            );
            let condition = condition(rng);
            match rng.random_range(0..401) {
                0..100 => other(rng),
                100..140 => BRA | target & !U | condition,
                140..150 => BRA | target | condition,
                150..190 => SSY | target,
                190..220 => PBK | target,
                220..250 => PCNT | target,
                250..260 => PRET | target,
                260..275 => CAL | target,
                275..310 => SYNC | any & 0x7_FFFF_FFF0_FFE0 | condition,
                310..340 => BRK | target | condition,
                340..370 => CONT | target | condition,
                370..385 => RET | target | condition,
                385..395 => EXIT | target | condition,
                395 => BRX | target | condition,
                396 => SSY | target | CONSTANT_BANK,
                397 => BRK | target | 0x18 | condition & 0xF_0007,
                398 => 0xE3 << 56 | any >> 8,
                399 => 0xE2 << 56 | any >> 8,
                _ => any,
            }
        })
        .collect();
    bundles(code)
}

/// A plane: coin tosses, all, none, one, all but one.
fn plane(rng: &mut Pcg64Mcg) -> u64 {
    let one = 1 << rng.random_range(0..64);
    match rng.random_range(0..8) {
        0 => 0,
        1 => u64::MAX,
        2 => one,
        3 => !one,
        4 => rng.random::<u64>() & rng.random::<u64>() & rng.random::<u64>(),
        _ => rng.random(),
    }
}

/// One clock's pins of a running program: mostly its instruction, under arbitrary conditions.
fn random_pins(words: &[u64], pc: u32, rng: &mut Pcg64Mcg) -> In {
    let word = words.get(pc as usize / 8).copied();
    let mut pins = exec(word.unwrap_or_else(|| rng.random()));
    for plane_of in pins.p.iter_mut().chain(&mut pins.cc) {
        *plane_of = plane(rng);
    }
    let few: [u32; 4] = std::array::from_fn(|_| 8 * rng.random_range(0..64));
    pins.r = std::array::from_fn(|_| few[rng.random_range(0..4)]);
    match rng.random_range(0..32) {
        0 => pins.stall = 1,
        1 => pins.inst_valid = 0,
        2 => (pins.launch, pins.launch_mask) = (1, rng.random()),
        _ => {}
    }
    pins
}

fn random_mask(rng: &mut Pcg64Mcg) -> u64 {
    if rng.random() { u64::MAX } else { plane(rng) }
}

/// spa5-4.2: what is visible above a token, from what is below it.
fn visible(kind: u8, below: u8) -> u8 {
    match kind {
        T_SSY => below | 0b0001,
        T_PBK => below & 0b1110 | 0b0010,
        T_PCNT => below & 0b1110 | 0b0100,
        T_RET => 0b1000,
        _ => below,
    }
}

/// spa5-I1 to spa5-I8 and spa5-I10 of spa5-3, for a state before a step; what is above the last thread.
fn check_invariants(golden: &Golden, all: u64) {
    let s = golden.state();
    let dis = s.d_brk | s.d_cont | s.d_ret | s.exited;
    assert_ne!(s.active, 0, "spa5-I1");
    let sets = [s.d_brk, s.d_cont, s.d_ret, s.exited, s.active];
    let count: u32 = sets.iter().map(|set| set.count_ones()).sum();
    assert_eq!(count, (dis | s.active).count_ones(), "spa5-I2");
    let (mut floor, mut div, mut vis) = (all, 0, 0);
    let mut of = [0; 6];
    for token in golden.tokens() {
        assert_eq!(token.mask & !all, 0, "threads that there are not");
        assert_eq!(token.vis_saved, vis, "spa5-I10");
        assert_eq!(token.mask & !floor, 0, "spa5-I5");
        if token.kind == T_DIV {
            assert_ne!(token.mask, 0, "spa5-I4: empty");
            assert_eq!(
                token.mask & (div | s.active | dis),
                0,
                "spa5-I4: not disjoint"
            );
            div |= token.mask;
        } else {
            assert_eq!(s.active & !token.mask, 0, "spa5-I3");
            floor &= token.mask;
        }
        vis = visible(token.kind, vis);
        of[usize::from(token.kind)] |= token.mask;
    }
    let [_, ssy, pbk, pcnt, ret, _] = of;
    assert_eq!(s.d_brk & !pbk, 0, "spa5-I6: d_brk");
    assert_eq!(s.d_cont & !pcnt, 0, "spa5-I6: d_cont");
    assert_eq!(s.d_ret & !ret, 0, "spa5-I6: d_ret");
    let live = all & !s.exited;
    assert_eq!(live & !(s.active | dis | div | ssy), 0, "spa5-I7");
    assert!(s.sp > 0 || s.active == live, "spa5-I8");
    assert_eq!(s.vis, vis, "spa5-I10");
    assert_eq!((s.active | dis) & !all, 0, "threads that there are not");
    assert_eq!(
        (s.pc.is_multiple_of(32), s.err),
        (false, 0),
        "pc is normalized"
    );
}

/// spa5-I9, for a token that is about to be popped.
fn check_pop(s: &State) {
    let (d_brk, d_cont, d_ret) = (s.d_brk, s.d_cont, s.d_ret);
    let (waits, others) = match s.top_type {
        T_PBK => (d_brk, d_cont | d_ret),
        T_PCNT => (d_cont, d_brk | d_ret),
        T_RET => (d_ret, d_brk | d_cont),
        _ => return,
    };
    let m = s.top_mask;
    assert_eq!(m & !(others | s.exited), m & waits, "spa5-I9");
}

/// What a run of random programs met.
#[derive(Default)]
struct Tally {
    steps: u32,
    pops: u32,
    resumed: [u32; 6],
    passed: [u32; 6],
    errors: [u32; 11],
    done: u32,
    deepest: u16,
}

/// Runs random programs through a golden, all invariants checked before every step, at every pop, at the end.
fn check_random(lanes: usize, depth: usize, brx: bool, legal: bool, steps: u32) -> Tally {
    let mut rng =
        Pcg64Mcg::seed_from_u64(0x5EED + lanes as u64 + 1000 * depth as u64 + u64::from(legal));
    let all = u64::MAX >> (64 - lanes);
    let mut golden = Golden::with(lanes, depth, brx);
    let mut tally = Tally::default();
    while tally.steps < steps {
        let words = if legal {
            Legal::program(&mut rng)
        } else {
            wild(&mut rng)
        };
        golden.cycle(&launch(0, 8 * words.len() as u32, random_mask(&mut rng)));
        // Wild programs mostly end in a loop that pushes.
        for _ in 0..if legal { 2000 } else { 500 } {
            let before = *golden.state();
            match before.status {
                RUN => check_invariants(&golden, all),
                UNWIND => {
                    assert_eq!(before.active, 0);
                    check_pop(&before);
                }
                _ => break,
            }
            let pins = random_pins(&words, before.pc, &mut rng);
            let s = *golden.cycle(&pins);
            tally.deepest = tally.deepest.max(s.sp);
            match golden.event() {
                Event::Popped => tally.passed[usize::from(before.top_type)] += 1,
                Event::Resumed => tally.resumed[usize::from(before.top_type)] += 1,
                Event::Failed(_) => assert_eq!(s, failed(&before, s.err)),
                Event::Stalled | Event::Waiting => assert_eq!(s, before),
                _ => {}
            }
            tally.pops += u32::from(s.sp < before.sp);
            tally.steps += u32::from(golden.step() != Step::None);
        }
        let s = golden.state();
        match s.status {
            DONE => {
                assert_eq!(s.exited, all, "spa5-I11");
                assert_eq!(
                    (s.d_brk | s.d_cont | s.d_ret | s.active, s.sp),
                    (0, 0),
                    "spa5-I11"
                );
                tally.done += 1;
            }
            ERR => tally.errors[usize::from(s.err)] += 1,
            // An endless program.
            _ => {
                golden.cycle(&In::reset());
            }
        }
    }
    tally
}

#[test]
fn invariants_hold_before_every_step_of_legal_programs() {
    let mut steps = 0;
    for (lanes, depth) in [
        (4, 1024),
        (8, 1024),
        (32, 1024),
        (64, 1024),
        (1, 64),
        (32, 8),
    ] {
        let tally = check_random(lanes, depth, false, true, 50_000);
        let at = format!("{lanes} threads, {depth} tokens");
        // A legal program ends in no error, but where it needs more tokens than there are.
        let failed: u32 = tally.errors.iter().sum();
        assert_eq!(failed, tally.errors[usize::from(STACK_OVERFLOW)], "{at}");
        assert_eq!(failed > 0, depth == 8, "{at}: {failed}");
        assert!(tally.done > 100, "{at}: {} done", tally.done);
        // Each type of token resumed threads, and in a warp of several also none, DIV excepted (spa5-I4).
        for kind in T_SSY..=if lanes > 1 { T_DIV } else { T_RET } {
            let kind = usize::from(kind);
            assert!(tally.resumed[kind] > 0, "{at}: {:?}", tally.resumed);
        }
        assert!(
            lanes == 1 || tally.passed[1..5].iter().all(|n| *n > 0),
            "{at}: {:?}",
            tally.passed
        );
        assert_eq!(
            tally.passed[5], 0,
            "{at}: a deferred side is complete (spa5-I4)"
        );
        steps += tally.steps;
    }
    assert!(steps >= 300_000);
}

#[test]
fn invariants_hold_before_every_step_of_wild_programs() {
    let mut errors = [0; 11];
    let mut steps = 0;
    for (lanes, depth, brx) in [
        (1, 4, false),
        (4, 64, false),
        (4, 4, true),
        (8, 16, true),
        (32, 64, false),
        (32, 1024, true),
        (64, 64, true),
    ] {
        let tally = check_random(lanes, depth, brx, false, 40_000);
        let at = format!("{lanes} threads, {depth} tokens");
        assert!(
            tally.done > 10 && tally.pops > 1000,
            "{at}: {} done, {} pops",
            tally.done,
            tally.pops
        );
        assert_eq!(
            tally.passed[5], 0,
            "{at}: a deferred side is complete (spa5-I4)"
        );
        if depth <= 64 {
            assert_eq!(usize::from(tally.deepest), depth, "{at}");
        }
        for (sum, n) in errors.iter_mut().zip(tally.errors) {
            *sum += n;
        }
        steps += tally.steps;
    }
    assert!(errors[1..].iter().all(|n| *n > 0), "{errors:?}");
    assert!(steps >= 280_000);
}

/// Random programs on both, the whole state compared after every clock.
fn walk(mut golden: Golden, mut rtl: Sequencer<Spa5>, seed: u64) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let (mut clocks, mut errors) = (0, [0; 11]);
    while clocks < 60_000 {
        let words = if rng.random() {
            Legal::program(&mut rng)
        } else {
            wild(&mut rng)
        };
        let mut pins = launch(0, 8 * words.len() as u32, random_mask(&mut rng));
        for clock in 0..500 {
            let before = *golden.state();
            let at = format!("clock {clocks}: {before:x?}, word {:016x}", pins.word);
            assert_eq!(rtl.clock(&pins), *golden.cycle(&pins), "{at}");
            clocks += 1;
            if clock > 0 && matches!(golden.state().status, DONE | ERR) {
                break;
            }
            pins = random_pins(&words, golden.state().pc, &mut rng);
        }
        errors[usize::from(golden.state().err)] += 1;
        rtl.clock(&In::reset());
        golden.cycle(&In::reset());
    }
    assert!(errors.iter().all(|n| *n > 0), "{errors:?}");
}

#[test]
fn rtl_walks_in_step_with_the_golden() {
    walk(Golden::new(LANES), Sequencer::new(LANES), 7);
}

#[test]
fn small_rtl_with_brx_walks_in_step_with_the_golden() {
    let rtl = Sequencer::built(small());
    walk(Golden::with(LANES, SMALL, true), rtl, 8);
}

// ---- the golden's own -----------------------------------------------------------------------------------------------

/// What a report says of a field names the rule and not just the instruction.
#[test]
fn the_golden_explains_each_field_by_its_rule() {
    // Instructions that lead there; then the clock explained, field, thread, and what must be said.
    type Row<'a> = (&'a [In], In, &'a str, usize, &'a str);
    let set_up = |word| exec(off(word, 0x78));
    let some = exec_p0(off(BRA | P0, 0x78), 0b0101);
    let leave = |word| exec(word | ALWAYS);
    #[rustfmt::skip]
    let rows: &[Row] = &[
        (&[], exec(NOP), "pc", 0, "OTHER: seq(pc)"),
        (&[], exec(NOP), "active", 0, "OTHER: active stays"),
        (&[], some, "active", 2, "divergent, active = T, the thread is in T: P0 is 1, CC test T"),
        (&[], some, "active", 1, "not in T: P0 is 0"),
        (&[], some, "top_mask", 1, "BRA pushes DIV: mask = A & ~T"),
        (&[], some, "top_addr", 0, "addr = seq(pc)"),
        (&[], some, "pc", 0, "taken side first"),
        (&[], some, "vis", 0, "new_vis: as it was"),
        (&[], exec_p0(off(BRA | P0 | U, 0x78), 1), "pc", 0, ".U and T was not A"),
        (&[], exec(off(BRA | ALWAYS, 0x78)), "sp", 0, "nothing is pushed"),
        (&[], exec(off(BRA | ALWAYS, 0x78)), "pc", 0, "T = A"),
        (&[], set_up(SSY), "vis", 0, "SSY pushes SSY: new_vis: bit 0 set"),
        (&[], set_up(PRET), "top_type", 0, "PRET pushes RET"),
        (&[], set_up(CAL), "top_addr", 0, "addr = seq(pc)"),
        (&[], set_up(PBK), "top_addr", 0, "addr = norm(pc + 8 + off24)"),
        (&[], set_up(PBK), "top_vis", 0, "vis_saved is vis before"),
        (&[], set_up(SSY), "d_brk", 0, "only BRK sets d_brk"),
        (&[set_up(PBK)], exec_p0(BRK | P0, 0b0100), "d_brk", 2, "d_brk = d_brk | T, the thread is in T: P0 is 1"),
        (&[set_up(PBK)], exec_p0(BRK | 0x8_0006, 0b0100), "active", 2, "!P0 is 0, CC test GE of OCSZ 0000 is 1"),
        (&[set_up(PBK)], exec_p0(BRK | P0, 1), "pc", 0, "a thread is still active: seq(pc)"),
        (&[set_up(PBK)], exec_p0(BRK | P0, 1), "sp", 0, "a leaving instruction pushes nothing"),
        (&[set_up(PBK)], leave(BRK), "status", 0, "no thread is active any more, so UNWIND"),
        (&[set_up(PBK)], leave(BRK), "pc", 0, "pc stays until"),
        (&[set_up(PBK)], leave(BRK), "sp", 0, "the first pop comes in the next cycle"),
        (&[set_up(PBK), leave(BRK)], In::default(), "d_brk", 1,
         "PBK popped: d_brk = d_brk & ~mask, the thread is in the mask"),
        (&[set_up(PBK), leave(BRK)], In::default(), "pc", 0, "pc = its address"),
        (&[set_up(PBK), leave(BRK)], In::default(), "active", 1, "the thread is in the mask"),
        (&[set_up(PBK), leave(BRK)], In::default(), "vis", 0, "vis_saved of the token"),
        (&[set_up(PBK), set_up(SSY), leave(BRK)], In::default(), "active", 1,
         "SSY popped: mask minus d_brk, d_cont, d_ret and exited: the thread is in the mask, held by d_brk"),
        (&[set_up(PBK), set_up(SSY), leave(BRK)], In::default(), "d_brk", 1,
         "SSY popped: only PBK ends the wait of d_brk"),
        (&[set_up(PBK), set_up(SSY), leave(BRK)], In::default(), "top_mask", 1, "the token below it is on top now"),
        (&[leave(EXIT)], In::default(), "status", 0, "the stack is empty: DONE"),
        (&[leave(EXIT)], In::default(), "pc", 0, "keeps the address of the last instruction"),
        (&[leave(EXIT)], stalled::<Spa5>(), "status", 0, "nothing changes at all"),
        (&[], leave(BRK), "pc", 0, "error 2 BRK_NO_PBK: BRK by a thread, and vis is 0000"),
        (&[], leave(BRK), "active", 0, "everything else as before"),
        (&[], exec(off(SSY, -0x20)), "err", 0, "error 7 TARGET_RANGE: target of SSY, pc + 8 + off24 = -16"),
        (&[], exec(off(CAL, 4)), "err", 0, "error 8 TARGET_MISALIGNED: target of CAL"),
        (&[], exec(JMP), "err", 0, "error 10 UNSUPPORTED: JMP"),
        (&[], exec(SSY | CONSTANT_BANK), "err", 0, "constant-bank form of SSY"),
        (&[], exec(EXIT | 0x7_001E), "err", 0, "CC test RLE of EXIT"),
        (&[], exec(ILLEGAL_WORD), "err", 0, "error 9 ILLEGAL"),
        (&[], exec(NOP), "err", 0, "no error condition of OTHER holds"),
        (&[exec(off(BRA | ALWAYS, 0xFE8)), exec(NOP)], exec(NOP), "err", 0,
         "error 6 PC_RANGE: pc 0x1008 is not below prog_size 0x1000"),
        (&[], In::default(), "pc", 0, "no instruction: nothing changes"),
        (&[], In::reset(), "exited", 0, "reset"),
        (&[leave(EXIT), In::default()], In::default(), "pc", 0, "nothing changes until a launch"),
        (&[leave(EXIT), In::default()], launch(0, 8, 1), "exited", 1, "exited = ~launch_mask"),
        (&[leave(EXIT), In::default()], launch(0, 8, 0), "status", 0, "launch_mask is 0, so DONE"),
        (&[], exec(NOP), "active", LANES, "there is no such thread"),
        (&[], exec(off(BRX | ALWAYS, 0)), "err", 0, "error 10 UNSUPPORTED: BRX"),
    ];
    let run = |mut golden: Golden, (before, pins, field, thread, said): &Row| {
        golden.cycle(&launch(0, SIZE, ALL));
        for pins in *before {
            golden.cycle(pins);
            assert_ne!(golden.step(), Step::Failed);
        }
        let text = golden.explain(pins, field, *thread);
        assert!(
            text.contains(said),
            "{field}[{thread}]: {text:?} lacks {said:?}"
        );
    };
    for row in rows {
        run(Golden::new(LANES), row);
    }
    let brx = |p0, r| brx_pins(off(BRX | P0, -0x10), p0, r);
    #[rustfmt::skip]
    let rows: &[Row] = &[
        (&[], brx(0, [0; 4]), "pc", 0, "spa5-A-b BRX: T is empty: seq(pc)"),
        (&[], brx(1, [0; 4]), "pc", 0, "pc stays, BRX runs again for T only"),
        (&[], brx(1, [0; 4]), "top_mask", 1, "mask = A & ~T"),
        (&[], brx(ALL, [8; 4]), "pc", 0, "register of the lowest active thread"),
        (&[], brx(ALL, [8, 16, 8, 8]), "active", 1, "active = G"),
        (&[], brx(ALL, [8, 16, 8, 8]), "top_mask", 1, "mask = A & ~G"),
        (&[], brx(ALL, [8, 16, 8, 8]), "top_addr", 0, "addr = pc, the BRX itself"),
        (&[], brx(ALL, [SIZE; 4]), "err", 0, "register of the lowest active thread = 4096, outside"),
    ];
    for row in rows {
        run(Golden::with(LANES, 1, true), row);
    }
    let full = exec(off(SSY, 0x78));
    let row = (
        &[full][..],
        full,
        "err",
        0,
        "push of SSY, and all 1 entries hold tokens",
    );
    run(Golden::with(LANES, 1, true), &row);
}

/// Whatever the host loads or asks for, nothing panics, and no bit of a thread that does not exist is set.
#[test]
fn the_golden_takes_any_state_and_any_pins() {
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    for (lanes, depth) in [(1, 1), (4, 4), (64, 64), (33, 1024)] {
        let all = u64::MAX >> (64 - lanes);
        let mut golden = Golden::with(lanes, depth, true);
        for _ in 0..20_000 {
            let mut state = State::default();
            rng.fill(bytes_of_mut(&mut state));
            state.sp &= 0x7FF;
            (state.status, state.err, state.vis) =
                (state.status & 3, state.err & 15, state.vis & 15);
            golden.load(&state);
            for _ in 0..3 {
                let mut pins = In::default();
                rng.fill(bytes_of_mut(&mut pins));
                (pins.rst_n, pins.stall) = (u8::from(pins.rst_n > 3), pins.stall & 1);
                (pins.launch, pins.inst_valid) = (pins.launch & 1, pins.inst_valid & 1);
                if rng.random() {
                    pins.word = pins.word >> 8 | 0xE2 << 56;
                }
                for field in ["active", "pc", "err", "top_mask", "d_ret", "vis", "sp"] {
                    golden.explain(&pins, field, usize::from(rng.random::<u8>()));
                }
                let s = golden.cycle(&pins);
                let shown = s.active | s.exited | s.d_brk | s.d_cont | s.d_ret | s.top_mask;
                assert_eq!(shown & !all, 0);
            }
        }
    }
}
