//! The worked traces, corner vectors, limits and digest of the specification, by the golden model alone
//! and by the RTL alone. Expected values are the spec's (`tb/programs/r700/*.exp`), never computed.
//! The rules are those of `docs/spec/r700.md`.

// Not the whole of tb/common: that asks for the command, and this target does without it.

use std::collections::BTreeSet;

use crate::machine::{self, Machine, Sequencer, mask, rows, stalled};
use bytemuck::{bytes_of, bytes_of_mut};
use reconverge::design::Build;
use reconverge::field::{Field, diff};
use reconverge::r700::R700;
use reconverge::r700::asm::assemble;
use reconverge::r700::golden::{Event, Frame, Golden, MAX_STACK_SIZE};
use reconverge::r700::program::{Quad, Registers};
use reconverge::r700::state::{ERROR_NAMES, FIELDS, In, LANE_LETTERS, LOOP_NAMES, State};

const LANES: usize = 4;
const ALL: u64 = (1 << LANES) - 1;

/// A machine that may know its whole stack; the state shows only what is on top.
trait Unit: Machine<R700> {
    /// Live frames, bottom first.
    fn stack(&self) -> Option<Vec<Frame>>;
}

impl Unit for Golden {
    fn stack(&self) -> Option<Vec<Frame>> {
        Some(self.frames().collect())
    }
}

impl Unit for Sequencer<R700> {
    fn stack(&self) -> Option<Vec<Frame>> {
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

// ---- what a bench does --------------------------------------------------------------------------------

fn write(addr: u8, data: u32) -> In {
    In {
        const_we: 1,
        const_addr: addr,
        const_wdata: data,
        ..In::default()
    }
}

fn launch(regs: &Registers, lane_mask: u64) -> In {
    In {
        launch: 1,
        entry: regs.entry,
        prog_len: regs.prog_len,
        stack_size: regs.stack_size,
        lane_mask,
        ..In::default()
    }
}

/// Reset, the host's writes, and the launch; the state after it.
fn start(machine: &mut dyn Unit, regs: &Registers, lane_mask: u64) -> State {
    machine.clock(&In::reset());
    for (n, value) in (0..).zip(&regs.loop_const) {
        machine.clock(&write(n, *value));
    }
    machine.clock(&write(32, regs.bool_const));
    machine.clock(&launch(regs, lane_mask))
}

/// Registers of a program of `prog_len` quadwords.
fn program(prog_len: u32, stack_size: u8) -> Registers {
    Registers {
        prog_len,
        stack_size,
        ..Registers::default()
    }
}

/// The pins that execute an instruction.
fn pins(quad: Quad, pred: u64) -> In {
    In {
        inst_valid: 1,
        dw0: quad.dw0,
        dw1: quad.dw1,
        u: u8::from(quad.u),
        pred,
        ..In::default()
    }
}

/// A CF word to be executed.
fn cf(dw0: u32, dw1: u32) -> In {
    let quad = Quad { dw0, dw1, u: false };
    pins(quad, 0)
}

/// An ALU word whose clause updates the execute mask.
fn alu(dw1: u32, pred: u64) -> In {
    let quad = Quad {
        dw0: 0,
        dw1,
        u: true,
    };
    pins(quad, pred)
}

// Words of r700-2.5, `BARRIER` set.
const ALU: u32 = 0xA000_0000;
const ALU_PUSH_BEFORE: u32 = 0xA400_0000;
const ALU_POP_AFTER: u32 = 0xA800_0000;
const ALU_POP2_AFTER: u32 = 0xAC00_0000;
const ALU_CONTINUE: u32 = 0xB400_0000;
const ALU_BREAK: u32 = 0xB800_0000;
const ALU_ELSE_AFTER: u32 = 0xBC00_0000;
const NOP: u32 = 0x8000_0000;
const LOOP_START: u32 = 0x8200_0000;
const LOOP_END: u32 = 0x8280_0000;
const LOOP_START_DX10: u32 = 0x8300_0000;
const LOOP_START_NO_AL: u32 = 0x8380_0000;
const LOOP_CONTINUE: u32 = 0x8400_0000;
const LOOP_BREAK: u32 = 0x8480_0000;
const JUMP: u32 = 0x8500_0000;
const PUSH: u32 = 0x8580_0000;
const PUSH_ELSE: u32 = 0x8600_0000;
const ELSE: u32 = 0x8680_0000;
const POP: u32 = 0x8700_0000;
const CALL: u32 = 0x8900_0000;
const RETURN: u32 = 0x8A00_0000;
const KILL: u32 = 0x8C00_0000;
const EXPORT: u32 = 0x9380_0000;
// Fields of the general format (r700-2.2).
const FALSE: u32 = 1 << 8;
const END: u32 = 1 << 21;
const VPM: u32 = 1 << 22;
const WQM: u32 = 1 << 30;
const fn cf_const(n: u32) -> u32 {
    n << 3
}
const fn call_count(n: u32) -> u32 {
    n << 13
}

// Error codes of r700-6.
const ILLEGAL: u8 = 1;
const FIELD: u8 = 2;
const NO_LOOP: u8 = 3;
const LOOP_OPEN: u8 = 4;
const NO_CALL: u8 = 5;
const UNDERFLOW: u8 = 6;
const OVERFLOW: u8 = 7;
const END_STACK: u8 = 8;
const PC_RANGE: u8 = 9;

/// What an instruction that ends in an error leaves of the state before it (r700-6).
fn halted(before: &State, err: u8) -> State {
    State {
        err,
        halted: 1,
        running: 0,
        exec: 0,
        jump: 0,
        ..*before
    }
}

/// Executes `pins`, which must end in error `err` and change nothing else; then makes the unit go on.
fn fails(machine: &mut dyn Unit, before: &State, pins: &In, err: u8, at: &str) {
    assert_eq!(machine.clock(pins), halted(before, err), "{at}");
    machine.load(before);
    assert_eq!(machine.clock(&stalled::<R700>()), *before, "{at}: loaded");
}

// ---- the spec's tables ----------------------------------------------------------------------------------

/// Frames as the traces print them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown<'a> {
    Branch(u64),
    Loop(&'a str),
    Call(u32),
}

/// `LAbAb B1010 C3`, bottom first.
fn frames(text: &str) -> Vec<Shown<'_>> {
    let frame = |f| match str::split_at(f, 1) {
        ("B", bits) => Shown::Branch(mask(bits)),
        ("L", classes) => Shown::Loop(classes),
        ("C", to) => Shown::Call(to.parse().unwrap()),
        _ => panic!("frame {f}"),
    };
    text.split(' ').filter(|f| *f != "-").map(frame).collect()
}

fn classes(st: [u64; 2]) -> String {
    let state = State {
        st,
        ..State::default()
    };
    state.classes(LANES)
}

/// Holds the stack as it is shown against the registers that follow from it, what the state shows of its
/// top, and the whole of it where it is known.
fn check_stack(state: &State, stack: Option<Vec<Frame>>, text: &str, at: &str) {
    let shown = frames(text);
    let (mut sp, mut base, mut bkind, mut nb, mut top) = (0, 0, 0, 0, 0);
    let mut enclosing = (0, 0);
    let mut innermost = None;
    for frame in &shown {
        match frame {
            Shown::Branch(mask) => {
                (sp, nb, top) = (sp + 1, nb + 1, *mask);
                continue;
            }
            Shown::Loop(_) => sp += 4,
            Shown::Call(_) => sp += 1,
        }
        enclosing = (base, bkind);
        (base, top, innermost) = (sp, 0, Some(frame));
        bkind = if matches!(frame, Shown::Loop(_)) {
            1
        } else {
            2
        };
    }
    assert_eq!(
        (state.sp, state.base, state.bkind, state.nb),
        (sp, base, bkind, nb),
        "{at}: sp, base, bkind, nb"
    );
    assert_eq!(state.top_mask, top, "{at}: top branch frame");
    assert_eq!(
        (state.frame_base, state.frame_bkind),
        enclosing,
        "{at}: enclosing frame"
    );
    let (in_loop, in_call) = match innermost {
        Some(Shown::Loop(classes)) => (*classes, 0),
        Some(Shown::Call(to)) => ("AAAA", *to),
        _ => ("AAAA", 0),
    };
    assert_eq!(classes(state.frame_st), in_loop, "{at}: loop frame");
    assert_eq!(state.frame_ret, in_call, "{at}: call frame");
    if let Some(stack) = stack {
        let found: Vec<String> = stack
            .iter()
            .map(|frame| match frame {
                Frame::Branch(mask) => {
                    let bit = |i: usize| char::from(b'0' + (mask >> i & 1) as u8);
                    format!("B{}", (0..LANES).map(bit).collect::<String>())
                }
                Frame::Loop(f) => format!("L{}", classes(f.st)),
                Frame::Call(f) => format!("C{}", f.ret),
            })
            .collect();
        let found = if found.is_empty() {
            "-".to_owned()
        } else {
            found.join(" ")
        };
        assert_eq!(found, text, "{at}: frames");
    }
}

/// `AL/3/10`, `DX10/0/0`, `-`: type, passes left, aL.
fn check_loop(state: &State, text: &str, at: &str) {
    let part: Vec<&str> = text.split('/').collect();
    let (lt, lc, al) = match part[..] {
        [kind, lc, al] => (kind, lc.parse().unwrap(), al.parse().unwrap()),
        _ => (text, 0, 0),
    };
    let name = LOOP_NAMES[usize::from(state.lt)];
    assert_eq!(
        (name, state.lc, state.al as i32),
        (lt, lc, al),
        "{at}: loop"
    );
}

/// A trace of r700-7 with its words.
struct Trace {
    quads: Vec<Quad>,
    regs: Registers,
    steps: String,
}

fn quad(words: &str) -> Quad {
    let word: Vec<&str> = words.split(' ').collect();
    Quad {
        dw0: u32::from_str_radix(word[0], 16).unwrap(),
        dw1: u32::from_str_radix(word[1], 16).unwrap(),
        u: word.get(2) == Some(&"u"),
    }
}

fn trace(name: &str) -> Trace {
    let text = machine::read::<R700>(&format!("{name}.exp"));
    let (_, rest) = text.split_once("[words]\n").unwrap();
    let (words, rest) = rest.split_once("[constants]\n").unwrap();
    let (constants, steps) = rest.split_once("[steps]\n").unwrap();
    let quads: Vec<Quad> = rows(words).map(|row| quad(row[1])).collect();
    let mut regs = program(quads.len() as u32, 8);
    for row in rows(constants) {
        let value = u32::from_str_radix(row[1], 16).unwrap();
        match row[0].strip_prefix('i') {
            Some(n) => regs.loop_const[n.parse::<usize>().unwrap()] = value,
            None => regs.bool_const = value,
        }
    }
    Trace {
        quads,
        regs,
        steps: steps.to_owned(),
    }
}

/// Runs the words of `name`.exp through `machine` and checks every row. Predicates that the spec does not
/// show, those of lanes that do not execute, are all `others`. Returns how many rows there were.
fn check_trace(name: &str, machine: &mut dyn Unit, others: bool) -> usize {
    let Trace { quads, regs, steps } = trace(name);
    let mut state = start(machine, &regs, ALL);
    let mut checked = 0;
    for (n, row) in rows(&steps).enumerate() {
        let at = format!("{name}.exp, step {n}");
        let [pc, what, executes, predicate, lanes, shown, in_loop, next] = row[..] else {
            panic!("{at}: {row:?}")
        };
        let (mut exec, mut jump) = (0, false);
        if n > 0 {
            assert_eq!(state.running, 1, "{at}: running");
            assert_eq!(state.pc.to_string(), pc, "{at}: PC");
            let known = predicate
                .chars()
                .enumerate()
                .fold(0, |m, (i, c)| m | u64::from(c == '0' || c == '1') << i);
            let known = if predicate == "." { 0 } else { known };
            let pred = mask(predicate) | if others { !known } else { 0 };
            state = machine.clock(&pins(quads[state.pc as usize], pred));
            exec = mask(&executes.replace('x', "1"));
            jump = what.ends_with(", jumps");
        }
        assert_eq!((state.err, state.halted, state.skipped), (0, 0, 0), "{at}");
        assert_eq!(state.exec, exec, "{at}: executed by");
        assert_eq!(state.jump, u8::from(jump), "{at}: jump");
        assert_eq!(state.valid, ALL, "{at}: valid");
        assert_eq!(state.classes(LANES), lanes, "{at}: lanes");
        assert_eq!(
            classes([!state.active, 0]).replace('b', "-"),
            lanes.replace(['b', 'c', 'k'], "-"),
            "{at}: active"
        );
        check_stack(&state, machine.stack(), shown, &at);
        let (in_loop, depth) = in_loop.split_once(" depth ").unwrap_or((in_loop, "0"));
        check_loop(&state, in_loop, &at);
        assert_eq!(state.depth.to_string(), depth, "{at}: depth");
        if next == "DONE" {
            assert_eq!((state.done, state.running), (1, 0), "{at}");
        } else {
            assert_eq!((state.done, state.running), (0, 1), "{at}");
            assert_eq!(state.pc.to_string(), next, "{at}: next PC");
        }
        checked += 1;
    }
    assert_eq!(state.done, 1, "{name}: done");
    checked
}

/// Traces of r700-7.3 to r700-7.8, with their rows.
const TRACES: [(&str, usize); 6] = [
    ("if_else", 7),
    ("nested_if", 11),
    ("dx10_break_continue", 30),
    ("loop_al", 18),
    ("call_return", 12),
    ("push_no_lane", 14),
];

fn traces(machine: &mut dyn Unit) {
    for (name, rows) in TRACES {
        for others in [false, true] {
            assert_eq!(check_trace(name, machine, others), rows, "{name}");
        }
    }
}

/// The traces' words are what their listings assemble to, constants included.
#[test]
fn listings_assemble_to_the_words_of_the_traces() {
    for (name, _) in TRACES {
        let listing = machine::read::<R700>(&format!("{name}.s"));
        let assembled = assemble(&listing, name).unwrap();
        let Trace { quads, regs, .. } = trace(name);
        assert_eq!(assembled.quads, quads, "{name}");
        assert_eq!(assembled.regs, regs, "{name}");
    }
}

fn corners(machine: &mut dyn Unit) {
    let mut vectors = 0;
    for row in rows(&machine::read::<R700>("corners.exp")) {
        let [number, lanes, shown, in_loop, other, pc, end, what, words] = row[..] else {
            panic!("{row:?}")
        };
        let at = format!("corner {number}, {what}");
        let words: Vec<&str> = words.split(' ').collect();
        let quads: Vec<(Quad, &str)> = words
            .chunks(2)
            .map(|w| {
                let (dw1, pred) = w[1].split_once(':').unwrap_or((w[1], ""));
                let mut quad = quad(&format!("{} {dw1}", w[0]));
                quad.u = !pred.is_empty();
                (quad, pred)
            })
            .collect();
        let mut regs = program(quads.len() as u32, 8);
        regs.bool_const = 1 << 5;
        regs.loop_const[1] = 0x0000_0001;
        regs.loop_const[2] = 0x0200_5003;
        regs.loop_const[3] = 0xFF00_0003;
        regs.loop_const[4] = 0x0100_7002;
        let (mut valid, mut depth, mut skipped, mut executed) = (ALL, 0, 0, None);
        for part in other.split(", ").filter(|p| *p != "-") {
            match part.split_once(' ').unwrap_or((part, "")) {
                ("valid", lanes) => valid = mask(lanes),
                ("depth", n) => depth = n.parse().unwrap(),
                ("skipped", "") => skipped = 1,
                ("executed", lanes) => executed = Some(mask(lanes)),
                ("STACK_SIZE", n) => regs.stack_size = n.parse().unwrap(),
                ("i7", value) => {
                    let value = value.strip_prefix("= 0x").unwrap();
                    regs.loop_const[7] = u32::from_str_radix(value, 16).unwrap();
                }
                _ => panic!("{at}: {part}"),
            }
        }
        // A launch mask only where the vector is about it: elsewhere KILL makes lanes invalid.
        let lane_mask = if what.starts_with("launch with") {
            valid
        } else {
            ALL
        };
        let mut state = start(machine, &regs, lane_mask);
        let steps = end.strip_prefix("after ").map(|n| n.parse().unwrap());
        let mut n = 0;
        while state.running == 1 && steps.is_none_or(|steps| n < steps) {
            let (quad, pred) = quads[state.pc as usize];
            state = machine.clock(&pins(quad, mask(pred)));
            n += 1;
            assert!(n <= 16, "{at}: does not end");
        }
        let (done, err) = match end.strip_prefix("halt ") {
            Some(error) => (0, error.split(' ').next().unwrap().parse().unwrap()),
            None => (u8::from(end == "DONE"), 0),
        };
        assert_eq!(
            (state.done, state.err, state.halted, state.running),
            (
                done,
                err,
                u8::from(err > 0),
                u8::from(done == 0 && err == 0)
            ),
            "{at}: done, err, halted, running"
        );
        if let Some(error) = end.strip_prefix("halt ") {
            let code = usize::from(state.err);
            assert_eq!(format!("{code} {}", ERROR_NAMES[code]), error, "{at}");
            assert_eq!(
                (state.exec, state.jump),
                (0, 0),
                "{at}: executed by no lane"
            );
        }
        assert_eq!(state.classes(LANES), lanes, "{at}: lanes");
        check_stack(&state, machine.stack(), shown, &at);
        check_loop(&state, in_loop, &at);
        assert_eq!(
            (state.valid, state.depth, state.skipped),
            (valid, depth, skipped),
            "{at}: valid, depth, skipped"
        );
        if let Some(executed) = executed {
            assert_eq!(state.exec, executed, "{at}: executed");
        }
        assert_eq!(state.pc.to_string(), pc, "{at}: PC");
        vectors += 1;
    }
    assert_eq!(vectors, 84);
}

// ---- limits, each at N and N + 1 ------------------------------------------------------------------------

/// How many frames of a kind fit, for each `stack_size` (r700-3.4-e).
fn stack_sizes(machine: &mut dyn Unit) {
    // stack_size, branch frames, loop frames, call frames, call frames over one branch frame
    const FITS: [(u8, usize, usize, usize, usize); 8] = [
        (0, 0, 0, 0, 0),
        (1, 2, 1, 4, 1),
        (2, 6, 2, 8, 5),
        (3, 10, 3, 12, 9),
        (31, 122, 31, 124, 121),
        (32, 126, 32, 128, 125),
        // The unit has 32 entries and no more.
        (33, 126, 32, 128, 125),
        (255, 126, 32, 128, 125),
    ];
    for (size, branches, loops, calls, calls_over) in FITS {
        let kinds = [
            ("branch frames", alu(ALU_PUSH_BEFORE, ALL), branches, 0),
            ("branch frames", cf(0, PUSH), branches, 0),
            ("branch frames", cf(0, PUSH_ELSE), branches, 0),
            ("branch frames", alu(ALU_ELSE_AFTER, 0), branches, 0),
            ("loop frames", cf(0, LOOP_START_DX10), loops, 0),
            ("loop frames", cf(0, LOOP_START | cf_const(1)), loops, 0),
            ("call frames", cf(0, CALL), calls, 0),
            (
                "call frames over a branch frame",
                cf(0, CALL),
                calls_over,
                1,
            ),
        ];
        for (what, push, fits, before) in kinds {
            let at = format!("STACK_SIZE {size}, {what}");
            let mut regs = program(1000, size);
            regs.loop_const[1] = 1;
            let mut state = start(machine, &regs, ALL);
            if before == 1 {
                if size == 0 {
                    continue;
                }
                state = machine.clock(&cf(0, PUSH));
            }
            for n in 0..fits {
                state = machine.clock(&push);
                assert_eq!(state.err, 0, "{at}: number {}", n + 1);
            }
            fails(machine, &state, &push, OVERFLOW, &at);
            let stack = machine.stack();
            assert!(stack.is_none_or(|s| s.len() == fits + before), "{at}");
        }
    }
}

/// The largest stack that can be built: `sp` goes up to 1020, and a frame that does not fit would end
/// beyond what ten bits can say (r700-3.4). N frames fit, N + 1 of any kind do not, and all N come off.
fn largest_stack(machine: &mut dyn Unit) {
    let [push, call, dx10] = [PUSH, CALL, LOOP_START_DX10].map(|op| cf(0, op));
    let al = cf(0, LOOP_START | cf_const(1));
    let no_al = cf(0, LOOP_START_NO_AL | cf_const(1));
    let before = alu(ALU_PUSH_BEFORE, ALL);
    let [pop, leave, back] = [POP | 1, LOOP_END | FALSE, RETURN].map(|op| cf(1, op));
    // What they lie on, the frames, what takes one off, how many fit
    let kinds: [(&[In], In, In, usize); 16] = [
        (&[], before, pop, 1018),
        (&[], push, pop, 1018),
        (&[], cf(0, PUSH_ELSE), pop, 1018),
        (&[], alu(ALU_ELSE_AFTER, 0), pop, 1018),
        (&[], dx10, leave, 255),
        (&[], al, leave, 255),
        (&[], no_al, leave, 255),
        (&[], call, back, 1020),
        // Every alignment: the next loop frame would end at 1021, 1022, 1023.
        (&[call], dx10, leave, 254),
        (&[call, call], al, leave, 254),
        (&[call, call, call], no_al, leave, 254),
        (&[call, call, call, call], dx10, leave, 254),
        // With the two sub-entries that a branch frame reserves, at 1023, 1024, 1026, 1021.
        (&[push], dx10, leave, 254),
        (&[push, call], dx10, leave, 254),
        (&[push, push, push, push], dx10, leave, 253),
        (&[push], call, back, 1017),
    ];
    for (below, frame, off, fits) in kinds {
        let at = format!("{:08X} over {} frames", frame.dw1, below.len());
        let mut regs = program(5000, 255);
        regs.loop_const[1] = 0x7F00_1001;
        let mut state = start(machine, &regs, ALL);
        for pins in below {
            state = machine.clock(pins);
            assert_eq!(state.err, 0, "{at}");
        }
        let mut states = vec![state];
        for n in 1..=fits {
            state = machine.clock(&frame);
            assert_eq!((state.err, state.running), (0, 1), "{at}: number {n}");
            states.push(state);
        }
        let space = 1020 - u32::from(state.sp);
        for (next, size, branch) in [
            (before, 1, true),
            (push, 1, true),
            (cf(0, PUSH_ELSE), 1, true),
            (cf(0, ALU_ELSE_AFTER), 1, true),
            (dx10, 4, false),
            (al, 4, false),
            (no_al, 4, false),
            (call, 1, false),
        ] {
            let next = In { u: 1, ..next };
            let reserve = if branch || state.nb > 0 { 2 } else { 0 };
            if size + reserve > space {
                let at = format!("{at}: then {:08X}", next.dw1);
                fails(machine, &state, &next, OVERFLOW, &at);
            } else {
                assert_ne!(next.dw1, frame.dw1, "{at}: one more fits");
            }
        }
        for (n, before) in states.iter().enumerate().rev().skip(1) {
            let s = machine.clock(&off);
            let place = |s: &State| (s.err, s.sp, s.base, s.bkind, s.nb);
            assert_eq!(place(&s), place(before), "{at}: back to {n}");
        }
    }
}

/// A loop frame beside branch frames: the two reserved sub-entries count once (r700-3.4-e).
fn reserved(machine: &mut dyn Unit) {
    // Branch frame, loop: 1 + 4 + 2 of 8. A branch frame more fits, a second one does not, a loop neither.
    let mut state = start(machine, &program(1000, 2), ALL);
    for push in [PUSH, LOOP_START_DX10, PUSH] {
        state = machine.clock(&cf(0, push));
        assert_eq!((state.err, state.running), (0, 1));
    }
    assert_eq!((state.sp, state.nb), (6, 2));
    for push in [PUSH, PUSH_ELSE, CALL, LOOP_START_DX10] {
        fails(
            machine,
            &state,
            &cf(0, push),
            OVERFLOW,
            &format!("{push:08X}"),
        );
    }
    // Without branch frames nothing is reserved: the same loop, and four calls.
    let mut state = start(machine, &program(1000, 2), ALL);
    for push in [LOOP_START_DX10, CALL, CALL, CALL, CALL] {
        state = machine.clock(&cf(0, push));
        assert_eq!((state.err, state.running), (0, 1));
    }
    assert_eq!((state.sp, state.nb), (8, 0));
    fails(machine, &state, &cf(0, CALL), OVERFLOW, "fifth call");
}

/// Depth 32 is reached, 33 is not: the CALL is skipped and that is no error (r700-4.3-m, r700-O20).
fn call_depth(machine: &mut dyn Unit) {
    let mut state = start(machine, &program(1000, 32), ALL);
    for depth in 1..=32 {
        state = machine.clock(&cf(10 * depth, CALL | call_count(1)));
        assert_eq!(
            (
                state.depth.into(),
                state.jump,
                state.skipped,
                state.pc,
                state.sp.into()
            ),
            (depth, 1, 0, 10 * depth, depth)
        );
    }
    assert_eq!(state.frame_depth, 31);
    let deepest = state;
    state = machine.clock(&cf(500, CALL | call_count(1)));
    let skipped = State {
        pc: 321,
        jump: 0,
        skipped: 1,
        ..deepest
    };
    assert_eq!(state, skipped, "the 33rd");
    // CALL_COUNT 0 still fits; the flag is sticky.
    state = machine.clock(&cf(500, CALL));
    assert_eq!(
        (state.depth, state.sp, state.skipped, state.jump),
        (32, 33, 1, 1)
    );
    for depth in (0..=32).rev() {
        assert_eq!(state.frame_depth, if depth == 32 { 32 } else { depth });
        let back = state.frame_ret;
        state = machine.clock(&cf(7, RETURN));
        assert_eq!(
            (state.depth, state.pc, state.jump, state.skipped),
            (depth, back, 1, 1)
        );
    }
    assert_eq!((state.pc, state.sp, state.base, state.bkind), (1, 0, 0, 0));

    // From depth and count to the depth after it; all six bits of the count are used.
    for (first, count, after) in [
        (31, 1, 32),
        (31, 2, 31),
        (0, 32, 32),
        (0, 33, 0),
        (0, 63, 0),
        (32, 0, 32),
        (32, 63, 32),
        (1, 31, 32),
        (1, 32, 1),
    ] {
        start(machine, &program(1000, 32), ALL);
        state = machine.clock(&cf(1, CALL | call_count(first)));
        assert_eq!(u32::from(state.depth), first);
        state = machine.clock(&cf(1, CALL | call_count(count)));
        let taken = first + count <= 32;
        assert_eq!(
            (
                u32::from(state.depth),
                state.skipped,
                state.jump,
                state.sp,
                state.err
            ),
            (
                after,
                u8::from(!taken),
                u8::from(taken),
                1 + u16::from(taken),
                0
            ),
            "{first} + {count}"
        );
    }
    // No lane passes: neither taken nor skipped, whatever the depth.
    start(machine, &program(1000, 32), ALL);
    state = machine.clock(&cf(1, CALL | call_count(63) | FALSE));
    assert_eq!(
        (state.skipped, state.sp, state.pc, state.jump),
        (0, 0, 1, 0)
    );
}

/// Trip counts 0, 1, 2 and 4095, and aL on the way (r700-4.3-w).
fn trip_counts(machine: &mut dyn Unit) {
    // Loop constant, passes, aL in the last pass of a LOOP_START
    let loops = [
        (0x0100_7000, 0, 0),
        (0x0100_7001, 1, 7),
        (0x0100_7002, 2, 8),
        (0x80FF_FFFF, 4095, 4095 - 4094 * 128),
        (0x7FFF_FFFF, 4095, 4095 + 4094 * 127),
        (0x0000_0FFF, 4095, 0),
    ];
    for (constant, passes, last_al) in loops {
        for op in [LOOP_START, LOOP_START_NO_AL] {
            let at = format!("{op:08X} with {constant:08X}");
            let mut regs = program(1000, 4);
            regs.loop_const[9] = constant;
            start(machine, &regs, ALL);
            let mut state = machine.clock(&cf(100, op | cf_const(9)));
            if passes == 0 {
                assert_eq!((state.pc, state.jump, state.sp), (100, 1, 0), "{at}");
                continue;
            }
            let mut found = 0;
            let mut al = 0;
            while state.sp > 0 {
                assert_eq!(state.lc, passes - found, "{at}");
                (found, al) = (found + 1, state.al as i32);
                // Another constant at the end is not looked at (r700-O10).
                state = machine.clock(&cf(1, LOOP_END | cf_const(8)));
                assert_eq!(state.jump, u8::from(state.sp > 0), "{at}");
            }
            assert_eq!(found, passes, "{at}: passes");
            assert_eq!(al, if op == LOOP_START { last_al } else { 0 }, "{at}: aL");
            assert_eq!(
                (state.lt, state.lc, state.al, state.inc, state.pc),
                (0, 0, 0, 0, 2),
                "{at}"
            );
        }
    }
}

/// aL is 32 bits wide, two's complement (r700-O11).
fn al_wraps(machine: &mut dyn Unit) {
    for (al, inc, after) in [
        (0x7FFF_FFFF, 1, 0x8000_0000),
        (0x8000_0000, -1i8, 0x7FFF_FFFF),
        (0xFFFF_FFFF, 1, 0),
        (0, -1, 0xFFFF_FFFF),
        (0x8000_0000, -128, 0x7FFF_FF80),
        (0x7FFF_FFFF, 127, 0x8000_007E),
        (0x00FF_FFFF, 127, 0x0100_007E),
    ] {
        let mut regs = program(1000, 4);
        regs.loop_const[1] = 3;
        start(machine, &regs, ALL);
        let mut state = machine.clock(&cf(0, LOOP_START | cf_const(1)));
        (state.al, state.inc) = (al, inc as u8);
        machine.load(&state);
        let state = machine.clock(&cf(0, LOOP_END));
        assert_eq!(state.al, after, "{al:08x} {inc}");
    }
}

/// POP_COUNT 7 of 7 frames, and of 6; with a loop frame below they are not enough either (r700-4.3-x).
fn pop_counts(machine: &mut dyn Unit) {
    let pops = [
        ("POP", cf(50, POP | 7)),
        ("JUMP", cf(50, JUMP | FALSE | 7)),
        ("PUSH", cf(50, PUSH | FALSE | 7)),
        ("ELSE", cf(50, ELSE | 7)),
        ("LOOP_START", cf(50, LOOP_START | cf_const(2) | 7)),
    ];
    for below in [None, Some(LOOP_START_DX10), Some(CALL)] {
        for (name, pop) in pops {
            for frames in [7, 6] {
                let at = format!("{name} of 7 with {frames} over {below:?}");
                let mut state = start(machine, &program(1000, 8), ALL);
                if let Some(below) = below {
                    machine.clock(&cf(0, PUSH));
                    state = machine.clock(&cf(0, below));
                }
                for _ in 0..frames {
                    state = machine.clock(&alu(ALU_PUSH_BEFORE, ALL));
                }
                if frames == 6 {
                    fails(machine, &state, &pop, UNDERFLOW, &at);
                    continue;
                }
                let (sp, nb) = (state.sp, state.nb);
                state = machine.clock(&pop);
                assert_eq!((state.err, state.sp, state.nb), (0, sp - 7, nb - 7), "{at}");
                assert_eq!(state.active, ALL, "{at}");
                assert_eq!(
                    (state.pc == 50, state.jump),
                    (name != "POP", u8::from(name != "POP")),
                    "{at}"
                );
            }
        }
    }
    for (word, n) in [(ALU_POP_AFTER, 1), (ALU_POP2_AFTER, 2)] {
        let mut state = start(machine, &program(1000, 8), ALL);
        for _ in 1..n {
            state = machine.clock(&cf(0, PUSH));
        }
        fails(machine, &state, &cf(0, word), UNDERFLOW, "one too few");
        machine.clock(&cf(0, PUSH));
        state = machine.clock(&cf(0, word));
        assert_eq!((state.err, state.sp, state.nb), (0, 0, 0));
    }
}

/// prog_len - 1 is in the program, prog_len is not: entry, target, return address, PC + 1 (r700-E9).
fn program_length(machine: &mut dyn Unit) {
    for len in [1, 2, 0x200, 0x0100_0000, 0xFFFF_FFFF] {
        let at = format!("prog_len {len:#x}");
        let last = len - 1;
        let mut regs = program(len, 4);
        regs.entry = last;
        let mut state = start(machine, &regs, ALL);
        assert_eq!((state.pc, state.running, state.err), (last, 1, 0), "{at}");
        for next in [cf(0, NOP), cf(0, ALU), cf(0, EXPORT), cf(0, POP)] {
            fails(machine, &state, &next, PC_RANGE, &at);
        }
        for jump in [JUMP | FALSE, PUSH | FALSE, PUSH_ELSE | FALSE, CALL] {
            fails(machine, &state, &cf(len, jump), PC_RANGE, &at);
            fails(machine, &state, &cf(0xFFFF_FFFF, jump), PC_RANGE, &at);
        }
        let before = state;
        state = machine.clock(&cf(last, JUMP | FALSE));
        assert_eq!((state.pc, state.jump, state.running), (last, 1, 1), "{at}");
        // A call from the last address is taken, but there is nothing to return to.
        state = machine.clock(&cf(0, CALL));
        assert_eq!((state.pc, state.frame_ret, state.err), (0, len, 0), "{at}");
        fails(machine, &state, &cf(0, RETURN), PC_RANGE, &at);
        // END does not check: PC + 1 and any target.
        machine.load(&before);
        state = machine.clock(&cf(0, NOP | END));
        assert_eq!((state.pc, state.done, state.running), (len, 1, 0), "{at}");
        machine.load(&before);
        state = machine.clock(&cf(0xFFFF_FFFF, JUMP | FALSE | END));
        assert_eq!(
            (state.pc, state.done, state.jump),
            (0xFFFF_FFFF, 1, 1),
            "{at}"
        );

        regs.entry = len;
        let state = start(machine, &regs, 0b0110);
        let outside = State {
            st: [0b1001, 0],
            valid: 0b0110,
            active: 0b0110,
            pc: len,
            halted: 1,
            err: PC_RANGE,
            ..State::default()
        };
        assert_eq!(state, outside, "{at}: entry outside");
    }
    // No program at all: nowhere to begin.
    let state = start(machine, &program(0, 4), ALL);
    assert_eq!((state.halted, state.err, state.running), (1, PC_RANGE, 0));
    // PC + 1 has 32 bits, in the return address too. No launch leads there.
    let mut state = start(machine, &program(10, 4), ALL);
    state.pc = 0xFFFF_FFFF;
    machine.load(&state);
    let after = machine.clock(&cf(0, NOP));
    assert_eq!((after.pc, after.err), (0, 0));
    machine.load(&state);
    let after = machine.clock(&cf(3, CALL));
    assert_eq!((after.pc, after.frame_ret), (3, 0));
}

/// Several conditions hold: the lowest code wins (r700-6-b).
fn lowest_code_wins(machine: &mut dyn Unit) {
    // prog_len 1, STACK_SIZE 0: whatever is pushed does not fit and wherever it goes on is outside.
    let state = start(machine, &program(1, 0), ALL);
    let rows = [
        (0x8780_0000 | WQM | END | 7, ILLEGAL),
        (0x8C80_0000 | WQM, ILLEGAL),
        (0xB000_0000, ILLEGAL),
        (0xB000_0000 | WQM, ILLEGAL),
        (CALL | 1, FIELD),
        (CALL | WQM | END, FIELD),
        (LOOP_END | WQM, FIELD),
        (RETURN | WQM, FIELD),
        (POP | WQM | 7, FIELD),
        (KILL | WQM, FIELD),
        (LOOP_END | END, NO_LOOP),
        (LOOP_BREAK, NO_LOOP),
        (LOOP_CONTINUE | FALSE, NO_LOOP),
        (ALU_BREAK | WQM, NO_LOOP),
        (ALU_CONTINUE, NO_LOOP),
        (RETURN | END, NO_CALL),
        (POP | 1 | END, UNDERFLOW),
        (ELSE | 7, UNDERFLOW),
        (JUMP | FALSE | 1, UNDERFLOW),
        (PUSH | FALSE | 1, UNDERFLOW),
        (LOOP_START | 1, UNDERFLOW),
        (ALU_POP_AFTER, UNDERFLOW),
        (ALU_ELSE_AFTER, UNDERFLOW),
        (PUSH | END, OVERFLOW),
        (PUSH_ELSE, OVERFLOW),
        (LOOP_START_DX10 | END, OVERFLOW),
        (CALL, OVERFLOW),
        (ALU_PUSH_BEFORE | WQM, OVERFLOW),
        (NOP, PC_RANGE),
        (EXPORT | WQM, PC_RANGE),
        (KILL, PC_RANGE),
    ];
    for (dw1, err) in rows {
        fails(machine, &state, &cf(1, dw1), err, &format!("{dw1:08X}"));
    }
    let inverted = alu(ALU_ELSE_AFTER, 0);
    fails(machine, &state, &inverted, OVERFLOW, "ALU_ELSE_AFTER, u");
    // With room: what is pushed stays, and END comes before the range.
    let mut state = start(machine, &program(1, 8), ALL);
    for dw1 in [PUSH, PUSH_ELSE, LOOP_START_DX10, CALL] {
        fails(machine, &state, &cf(1, dw1 | END), END_STACK, "END");
        fails(machine, &state, &cf(1, dw1), PC_RANGE, "range");
    }
    state.pc = 0xFFFF_FFFF;
    machine.load(&state);
    machine.clock(&cf(0, LOOP_START_DX10));
    let mut state = machine.clock(&cf(0, JUMP));
    assert_eq!((state.err, state.halted), (PC_RANGE, 1));
    (state.err, state.halted, state.running) = (0, 0, 1);
    state.pc = 0xFFFF_FFFF;
    machine.load(&state);
    let state = machine.clock(&cf(0, PUSH));
    assert_eq!((state.err, state.sp), (0, 5));
    fails(machine, &state, &cf(1, LOOP_END), LOOP_OPEN, "LOOP_END");
    fails(machine, &state, &cf(1, LOOP_END | WQM), FIELD, "LOOP_END");
    fails(machine, &state, &cf(1, RETURN), NO_CALL, "RETURN");
    fails(machine, &state, &cf(0, POP | 2), UNDERFLOW, "POP");
}

// ---- the clock contract -----------------------------------------------------------------------------------

/// Host port, launch, stall, waiting and reset (r700-3.3, r700-3.5).
fn contract(machine: &mut dyn Unit) {
    let reset = State {
        active: ALL,
        ..State::default()
    };
    assert_eq!(machine.clock(&In::reset()), reset, "reset");

    // The host port: 0..31, 32, and addresses without a register; nothing while stalled.
    let mut expected = reset;
    for n in 0..64 {
        let value = 0x8000_1001 + (u32::from(n) << 8);
        let mut stalled = write(n, !value);
        stalled.stall = 1;
        assert_eq!(machine.clock(&stalled), expected, "stalled write {n}");
        match n {
            0..=31 => expected.loop_const[usize::from(n)] = value,
            32 => expected.bool_const = value,
            _ => {}
        }
        assert_eq!(machine.clock(&write(n, value)), expected, "write {n}");
    }
    // Instructions and predicates without a wave mean nothing.
    assert_eq!(machine.clock(&alu(ALU_PUSH_BEFORE, 0)), expected, "idle");
    assert_eq!(machine.clock(&cf(0, KILL | END)), expected, "idle");

    // A launch takes its operands and the write beside it, and not the instruction; lanes that there are
    // not mean nothing.
    let mut pins = alu(ALU_PUSH_BEFORE, 0);
    pins.launch = 1;
    (pins.entry, pins.prog_len, pins.stack_size) = (40, 100, 4);
    pins.lane_mask = !0b0010;
    (pins.const_we, pins.const_addr, pins.const_wdata) = (1, 32, 0xFFFF_0001);
    let mut refused = pins;
    refused.stall = 1;
    assert_eq!(machine.clock(&refused), expected, "stalled launch");
    expected = State {
        st: [0b0010, 0],
        active: 0b1101,
        valid: 0b1101,
        pc: 40,
        running: 1,
        bool_const: 0xFFFF_0001,
        ..expected
    };
    assert_eq!(machine.clock(&pins), expected, "launch");

    // Running: launches and host writes are ignored, in clocks with an instruction and without.
    let mut ignored = launch(&program(7, 1), 0b0001);
    (ignored.const_we, ignored.const_addr, ignored.const_wdata) = (1, 3, 0);
    assert_eq!(machine.clock(&ignored), expected, "waiting");
    let mut both = ignored;
    (both.inst_valid, both.dw0, both.dw1) = (1, 0, ALU_PUSH_BEFORE);
    expected = State {
        exec: 0b1101,
        top_mask: 0b1101,
        sp: 1,
        nb: 1,
        pc: 41,
        ..expected
    };
    assert_eq!(machine.clock(&both), expected, "an instruction beside it");
    // A stalled clock leaves exec and jump, one without an instruction does not.
    both.stall = 1;
    assert_eq!(machine.clock(&both), expected, "stalled");
    expected.exec = 0;
    assert_eq!(machine.clock(&In::default()), expected, "waiting");
    expected.pc = 20;
    expected.jump = 1;
    (expected.sp, expected.nb, expected.top_mask) = (0, 0, 0);
    assert_eq!(machine.clock(&cf(20, JUMP | FALSE | 1)), expected, "jump");
    both.dw1 = NOP;
    assert_eq!(machine.clock(&both), expected, "stalled");
    expected.jump = 0;
    assert_eq!(machine.clock(&In::default()), expected, "waiting");

    // Halted: the code stays, instructions are over, the host may write; a launch clears everything.
    expected = halted(&expected, NO_CALL);
    assert_eq!(machine.clock(&cf(0, RETURN)), expected, "error");
    assert_eq!(machine.clock(&cf(0, POP)), expected, "halted");
    expected.loop_const[3] = 0xFFFF_FFFF;
    assert_eq!(machine.clock(&write(3, 0xFFFF_FFFF)), expected, "halted");
    let fresh = State {
        loop_const: expected.loop_const,
        bool_const: expected.bool_const,
        ..State::default()
    };
    let launched = State {
        st: [0b0110, 0],
        active: 0b1001,
        valid: 0b1001,
        pc: 5,
        running: 1,
        ..fresh
    };
    let mut again = program(10, 4);
    again.entry = 5;
    assert_eq!(machine.clock(&launch(&again, 0b1001)), launched, "again");

    // A wave with everything in it, ended by an error; the next launch finds none of it.
    for pins in [
        cf(6, CALL | call_count(33)),
        cf(6, CALL | call_count(2)),
        cf(9, LOOP_START | cf_const(1)),
        alu(ALU_PUSH_BEFORE, 0b0001),
        alu(ALU_BREAK, 0),
        cf(0, KILL),
    ] {
        let state = machine.clock(&pins);
        assert_eq!((state.err, state.pc < 10), (0, true));
        if state.pc == 9 {
            machine.load(&State { pc: 3, ..state });
        }
    }
    let state = machine.clock(&cf(0, LOOP_END));
    assert_eq!((state.err, state.skipped, state.depth), (LOOP_OPEN, 1, 2));
    assert!(state.al != 0 && state.inc != 0 && state.lc != 0 && state.lt != 0);
    assert_eq!(machine.clock(&launch(&again, 0b1001)), launched, "again");

    // Done: the state stays to be read until the next launch.
    let done = State {
        exec: 0b1001,
        running: 0,
        done: 1,
        pc: 6,
        ..launched
    };
    assert_eq!(machine.clock(&cf(0, NOP | END)), done, "END");
    let idle = State { exec: 0, ..done };
    assert_eq!(machine.clock(&cf(0, ALU)), idle, "done");
    assert_eq!(machine.clock(&launch(&again, 0b1001)), launched, "again");

    // Reset beats stall and launch, and takes the constants too.
    let mut pins = launch(&again, ALL);
    (pins.rst_n, pins.stall) = (0, 1);
    assert_eq!(machine.clock(&pins), reset, "reset");
    assert_eq!(machine.clock(&In::default()), reset, "and after it");
}

// ---- the stack's memory -----------------------------------------------------------------------------------

/// Instructions that fill the stack with frames of every kind at all four alignments to an entry, each
/// frame different from its neighbours, each with the one instruction that unwinds it.
///
/// Addresses of the frames' first sub-entries:
/// loop 0, branch 4, loop 5, branch 9, loop 10, branch 14, loop 15, branch 19, call 20, call 21,
/// branch 22, call 23, branch 24, branch 25, call 26, loop 27, branch 31.
fn fill() -> Vec<(In, In)> {
    let pop = cf(1, POP | 1);
    let leave = cf(1, LOOP_END | FALSE);
    let back = cf(1, RETURN);
    vec![
        (cf(0, LOOP_START | cf_const(1)), leave),
        (alu(ALU_PUSH_BEFORE, 0b0111), pop),
        (cf(0, LOOP_START_NO_AL | cf_const(2)), leave),
        (alu(ALU_PUSH_BEFORE, 0b0110), pop),
        (cf(0, LOOP_START_DX10), leave),
        (alu(ALU_PUSH_BEFORE, 0b0101), pop),
        (cf(0, LOOP_START | cf_const(3)), leave),
        (cf(0, PUSH_ELSE | FALSE), pop),
        (cf(0, ALU_ELSE_AFTER), pop),
        (cf(300, CALL | call_count(3)), back),
        (cf(77, CALL | call_count(5)), back),
        (cf(0, PUSH), pop),
        (cf(444, CALL), back),
        (alu(ALU_PUSH_BEFORE, ALL), pop),
        (alu(ALU_PUSH_BEFORE, 0b0100), pop),
        (cf(512, CALL | call_count(24)), back),
        (cf(0, LOOP_START | cf_const(4)), leave),
        (alu(ALU_PUSH_BEFORE, 0), pop),
    ]
}

fn fill_registers() -> Registers {
    let mut regs = program(1000, 32);
    regs.loop_const[1] = 0x85AB_CFED;
    regs.loop_const[2] = 0x1234_5678;
    regs.loop_const[3] = 0x7E12_3A5A;
    regs.loop_const[4] = 0x0100_1005;
    regs
}

/// A filled stack: the states in which each frame was just pushed, the last of them full, and the
/// instructions that unwind it, top frame first.
struct Filled {
    pushed: Vec<State>,
    unwind: Vec<In>,
}

impl Filled {
    /// Fills `machine`. What does not push stays without a frame of its own.
    fn new(machine: &mut dyn Unit) -> Self {
        let mut state = start(machine, &fill_registers(), ALL);
        let (mut pushed, mut unwind) = (Vec::new(), Vec::new());
        for (push, pop) in fill() {
            let sp = state.sp;
            state = machine.clock(&push);
            assert_eq!((state.err, state.running), (0, 1), "{:08X}", push.dw1);
            if state.sp > sp {
                pushed.push(state);
                unwind.push(pop);
            }
        }
        unwind.reverse();
        Filled { pushed, unwind }
    }

    fn full(&self) -> &State {
        &self.pushed[self.pushed.len() - 1]
    }

    /// Unwinding steps after which frame `frame` is to be seen in the state: 0 if it is at once.
    fn revealed_after(&self, frame: usize) -> usize {
        let above = &self.unwind[..self.unwind.len() - 1 - frame];
        let is_branch = |pins: &In| pins.dw1 & !7 == POP;
        if is_branch(&self.unwind[above.len()]) {
            above.len()
        } else {
            // The innermost loop or call frame shows below branch frames.
            above
                .iter()
                .rposition(|p| !is_branch(p))
                .map_or(0, |i| i + 1)
        }
    }
}

#[test]
fn the_filled_stack_has_every_kind_of_frame_at_every_alignment() {
    let mut golden = Golden::new(LANES);
    let filled = Filled::new(&mut golden);
    let mut at = 0;
    let mut found = BTreeSet::new();
    for frame in golden.frames() {
        let kind = match frame {
            Frame::Branch(_) => "branch",
            Frame::Loop(_) => "loop",
            Frame::Call(_) => "call",
        };
        found.insert((kind, at % 4));
        at += frame.size();
    }
    assert_eq!(found.len(), 12, "{found:?}");
    assert_eq!(golden.frames().count(), filled.pushed.len());
    // Every class and every kind of loop is saved somewhere, so that no field is 0 all over.
    let loops: Vec<_> = golden
        .frames()
        .filter_map(|f| {
            if let Frame::Loop(f) = f {
                Some(f)
            } else {
                None
            }
        })
        .collect();
    let letters: BTreeSet<char> = loops
        .iter()
        .flat_map(|f| classes(f.st).chars().collect::<Vec<_>>())
        .collect();
    assert!(letters.len() >= 3, "{letters:?} of {LANE_LETTERS:?}");
    let kinds: BTreeSet<u8> = loops.iter().map(|f| f.lt).collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}

/// A flipped bit anywhere in the golden's memory shows in the very clock that reveals its frame.
#[test]
fn no_stored_bit_of_the_golden_escapes_comparison() {
    let mut golden = Golden::new(LANES);
    let filled = Filled::new(&mut golden);
    let frames: Vec<Frame> = golden.frames().collect();
    let mut flips = 0;
    for (number, frame) in frames.iter().enumerate() {
        for bit in 0..golden.stored_bits(frame) {
            let at = format!("frame {number}, bit {bit}: {frame:?}");
            let (mut clean, mut faulty) = (golden.clone(), golden.clone());
            faulty.flip_stored(number, bit);
            let changed: Vec<usize> = (0..frames.len())
                .filter(|i| clean.frames().nth(*i) != faulty.frames().nth(*i))
                .collect();
            assert_eq!(changed, [number], "{at}: one frame");
            let mut steps = 0;
            while clean.state() == faulty.state() {
                let pins = &filled.unwind[steps];
                clean.cycle(pins);
                faulty.cycle(pins);
                assert_eq!(clean.state().err, 0, "{at}");
                steps += 1;
            }
            assert_eq!(steps, filled.revealed_after(number), "{at}: seen late");
            let seen = diff(
                &FIELDS,
                LANES,
                bytes_of(faulty.state()),
                bytes_of(clean.state()),
            );
            assert_eq!(seen.len(), 1, "{at}: {seen:?}");
            assert_eq!((seen[0].rtl ^ seen[0].golden).count_ones(), 1, "{at}");
            flips += 1;
        }
    }
    // Five loop frames of 2 * 4 + 66 bits, four call frames of 50, and the branch frames' four each.
    let branches = frames.len() as u32 - 9;
    assert_eq!(flips, 5 * 74 + 4 * 50 + branches * 4);
    // A bit that is not stored, a frame that is not there.
    let mut same = golden.clone();
    same.flip_stored(0, 74);
    same.flip_stored(frames.len(), 0);
    assert!(same.frames().eq(golden.frames()) && same.state() == golden.state());
}

/// Fields of the state that show a frame of this state's top: with the bits of each that a unit with
/// [`MAX_STACK_SIZE`] needs to store.
fn shown_fields(state: &State) -> Vec<(&'static Field, u32)> {
    let names: &[&str] = if state.sp > state.base {
        &["top_mask"]
    } else if state.bkind == 1 {
        &[
            "frame_st",
            "frame_lt",
            "frame_lc",
            "frame_al",
            "frame_inc",
            "frame_base",
            "frame_bkind",
        ]
    } else {
        &["frame_ret", "frame_depth", "frame_base", "frame_bkind"]
    };
    names
        .iter()
        .map(|name| {
            let field = FIELDS.iter().find(|f| f.name == *name).unwrap();
            // An address up to 4 * 32; the field has room for more.
            let width = if *name == "frame_base" {
                (4 * MAX_STACK_SIZE).ilog2() + 1
            } else {
                field.width
            };
            (field, width)
        })
        .collect()
}

/// The same for the memory of `machine`, be it flip-flops: the fault is put in by loading the state in which
/// the frame was on top with one bit of it changed, and then the full one again, which does not touch it.
fn stored_bits(machine: &mut dyn Unit) {
    let mut reference = Golden::new(LANES);
    let filled = Filled::new(&mut reference);
    let mut flips = 0;
    for (number, on_top) in filled.pushed.iter().enumerate() {
        for (field, width) in shown_fields(on_top) {
            for (element, bit) in
                (0..field.elements(LANES)).flat_map(|e| (0..width).map(move |b| (e, b)))
            {
                let at = format!("frame {number}, {}[{element}].{bit}", field.name);
                assert_eq!(Filled::new(machine).full(), filled.full(), "{at}");
                let mut faulty = *on_top;
                field.flip(bytes_of_mut(&mut faulty), element, bit as usize);
                machine.load(&faulty);
                machine.clock(&stalled::<R700>());
                let reveals = filled.revealed_after(number);
                let mut clean = reference.clone();
                let mut found = if reveals == 0 {
                    // Loading the full state would write the frame again.
                    let mut full = *filled.full();
                    field.flip(bytes_of_mut(&mut full), element, bit as usize);
                    full
                } else {
                    *filled.full()
                };
                machine.load(&found);
                found = machine.clock(&stalled::<R700>());
                let mut steps = 0;
                while found == *clean.state() {
                    let pins = &filled.unwind[steps];
                    found = machine.clock(pins);
                    clean.cycle(pins);
                    steps += 1;
                }
                assert_eq!(steps, reveals, "{at}: seen late");
                let seen = diff(&FIELDS, LANES, bytes_of(&found), bytes_of(clean.state()));
                assert_eq!(seen.len(), 1, "{at}: {seen:?}");
                assert_eq!(FIELDS[seen[0].field].name, field.name, "{at}");
                assert_eq!(seen[0].rtl ^ seen[0].golden, 1 << bit, "{at}");
                flips += 1;
            }
        }
    }
    let branches = filled.pushed.len() as u32 - 9;
    assert_eq!(flips, 5 * (74 - 2) + 4 * (50 - 2) + branches * 4);
}

/// A stack loaded by the states in which it grew unwinds as the one that grew.
fn loaded_stack(machine: &mut dyn Unit) {
    let mut reference = Golden::new(LANES);
    let filled = Filled::new(&mut reference);
    // Something else in every word first.
    start(machine, &program(1000, 32), ALL);
    for _ in 0..126 {
        machine.clock(&alu(ALU_PUSH_BEFORE, 0b0101));
    }
    start(machine, &fill_registers(), ALL);
    for state in &filled.pushed {
        machine.load(state);
        assert_eq!(machine.clock(&stalled::<R700>()), *state);
    }
    let stack = machine.stack();
    assert!(stack.is_none_or(|s| reference.frames().eq(s)));
    for pins in &filled.unwind {
        let found = machine.clock(pins);
        assert_eq!(found, *reference.cycle(pins), "{:08X}", pins.dw1);
        assert_eq!(found.err, 0);
    }
    assert_eq!((reference.state().sp, reference.state().nb), (0, 0));
    assert_eq!(reference.state().active, ALL);
}

both! {
    traces: golden_reproduces_the_worked_traces_row_by_row, rtl_reproduces_the_worked_traces_row_by_row;
    corners: golden_agrees_with_the_84_corner_vectors, rtl_agrees_with_the_84_corner_vectors;
    stack_sizes: golden_has_room_for_as_many_frames_as_fit, rtl_has_room_for_as_many_frames_as_fit;
    reserved: golden_reserves_two_sub_entries_beside_branch_frames, rtl_reserves_two_sub_entries_beside_branch_frames;
    call_depth: golden_skips_the_call_to_depth_33, rtl_skips_the_call_to_depth_33;
    trip_counts: golden_makes_as_many_passes_as_counted, rtl_makes_as_many_passes_as_counted;
    al_wraps: golden_wraps_al_in_32_bits, rtl_wraps_al_in_32_bits;
    pop_counts: golden_pops_seven_of_seven_frames_and_not_of_six, rtl_pops_seven_of_seven_frames_and_not_of_six;
    program_length: golden_ends_at_the_program_s_length, rtl_ends_at_the_program_s_length;
    lowest_code_wins: golden_s_lowest_error_code_wins, rtl_s_lowest_error_code_wins;
    contract: golden_keeps_the_clock_contract, rtl_keeps_the_clock_contract;
    stored_bits: golden_shows_every_loaded_bit_of_its_memory, rtl_shows_every_stored_bit_of_its_memory;
    loaded_stack: golden_unwinds_a_loaded_stack, rtl_unwinds_a_loaded_stack;
}

/// A unit with as much stack as there can be.
const LARGEST: usize = 255;

#[test]
fn golden_fills_the_largest_stack_to_the_last_frame() {
    largest_stack(&mut Golden::with(LANES, LARGEST));
}

#[test]
fn rtl_fills_the_largest_stack_to_the_last_frame() {
    largest_stack(&mut Sequencer::built(Build {
        lanes: LANES as u32,
        parameters: [("MAX_STACK_SIZE".to_owned(), LARGEST as u32)].into(),
    }));
}

// ---- the digest of r700-B -----------------------------------------------------------------------------

/// Live frames as the digest spells them, for eight lanes.
fn frame_bytes(frames: &[Frame], out: &mut Vec<u8>) {
    for frame in frames {
        match frame {
            Frame::Branch(mask) => {
                out.push(1);
                out.extend((0..8).map(|i| (mask >> i & 1) as u8));
            }
            Frame::Loop(f) => {
                out.push(2);
                out.extend((0..8).map(|i| (f.st[0] >> i & 1 | (f.st[1] >> i & 1) << 1) as u8));
                out.push(f.lt);
                out.extend(f.lc.to_le_bytes());
                out.extend(f.al.to_le_bytes());
                out.push(f.inc);
                out.extend(f.base.to_le_bytes());
                out.push(f.bkind);
            }
            Frame::Call(f) => {
                out.push(3);
                out.extend(f.ret.to_le_bytes());
                out.push(f.depth);
                out.extend(f.base.to_le_bytes());
                out.push(f.bkind);
            }
        }
    }
}

const ALU_OPS: [u32; 16] = [8, 9, 9, 9, 10, 11, 13, 14, 15, 9, 10, 8, 12, 9, 15, 10];
const CF_OPS: [u32; 32] = [
    4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 20, 24, 0, 1, 5, 10, 13, 14, 6, 9, 11, 20, 4, 5, 10,
    14, 39, 18, 15, 40,
];

/// The words of one step, as r700-B builds them from its draws.
fn digest_words(r: u32, a: u32, b: u32) -> (u32, u32) {
    let (mut dw0, mut dw1);
    if r & 15 < 6 {
        dw0 = a & 0x3f_ffff;
        dw1 = 0x8000_0000 | ALU_OPS[(b & 15) as usize] << 26 | (b >> 4 & 127) << 18;
    } else {
        dw0 = a & 0x3ff;
        dw1 = 0x8000_0000 | CF_OPS[(b & 31) as usize] << 23 | (b >> 5 & 31) << 3;
        dw1 |= b >> 10 & if r >> 4 & 3 == 0 { 7 } else { 1 };
        if r >> 6 & 3 == 0 {
            dw1 |= (b >> 13 & 3) << 8;
        }
        dw1 |= (b >> 15 & if r >> 8 & 7 == 0 { 63 } else { 1 }) << 13;
        for (shift, mask, bit) in [(11, 31, 21), (16, 7, 22), (19, 63, 30)] {
            if r >> shift & mask == 0 {
                dw1 |= 1 << bit;
            }
        }
        if dw1 >> 23 & 127 == 18 && r >> 25 & 7 != 0 {
            dw1 &= !7;
        }
    }
    if r >> 28 == 0 && a & 0x700 == 0 {
        (dw0, dw1) = (a, b);
    }
    (dw0, dw1)
}

/// The random walk of r700-B: an instruction after the other, errors forgotten, and a launch after each
/// end and every 128 steps. `see` gets number, state and stack after each step.
fn walk(machine: &mut dyn Unit, steps: u32, mut see: impl FnMut(u32, &State, Option<Vec<Frame>>)) {
    let mut x: u32 = 0x5237_3030;
    let mut random = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    };
    for n in 0..32 {
        machine.clock(&write(n, random() & 0xffff_f003));
    }
    let mut state = machine.clock(&write(32, random()));
    let regs = program(0x3f0, 6);
    for step in 1..=steps {
        if step == 1 || state.done == 1 || step & 127 == 0 {
            let valid = random() | random() | random();
            // A launch is taken only when nothing runs.
            state.running = 0;
            machine.load(&state);
            state = machine.clock(&launch(&regs, u64::from(valid)));
            assert_eq!((state.running, state.sp), (1, 0));
        }
        let (r, a, b, p) = (random(), random(), random(), random());
        // An error changed nothing: go on.
        let before = State {
            err: 0,
            halted: 0,
            running: 1,
            pc: (p >> 16) % 0x3f0,
            ..state
        };
        machine.load(&before);
        let (dw0, dw1) = digest_words(r, a, b);
        let u = p >> 8 & 3 != 0;
        state = machine.clock(&pins(Quad { dw0, dw1, u }, u64::from(p & 0xff)));
        if state.err > 0 {
            assert_eq!(state, halted(&before, state.err), "step {step}");
        }
        see(step, &state, machine.stack());
    }
}

/// r700-B: the checksum of the walk, and how often each error came up.
#[test]
fn golden_has_the_digest() {
    let expected = [
        (1000, 0x2142_7218, [671, 44, 12, 76, 16, 35, 132, 0, 12, 2]),
        (
            10_000,
            0xA604_4401,
            [6833, 468, 107, 602, 232, 349, 1170, 51, 151, 37],
        ),
        (
            100_000,
            0x4009_4DB5,
            [67549, 4498, 1139, 6392, 2043, 3579, 12229, 885, 1360, 326],
        ),
        (
            1_000_000,
            0xB4B6_7633,
            [
                675_680, 45105, 11288, 64318, 20132, 35257, 122_233, 9711, 13298, 2978,
            ],
        ),
    ];
    let mut crc = crc32fast::Hasher::new();
    let mut histogram = [0; 10];
    let mut checked = 0;
    let mut record = Vec::new();
    walk(&mut Golden::new(8), 1_000_000, |step, s, stack| {
        record.clear();
        record.extend((0..8).map(|i| s.class(i)));
        record.extend((0..8).map(|i| (s.valid >> i & 1) as u8));
        record.extend(s.sp.to_le_bytes());
        record.extend(s.base.to_le_bytes());
        record.push(s.bkind);
        record.extend(s.nb.to_le_bytes());
        record.push(s.lt);
        record.extend(s.lc.to_le_bytes());
        record.extend(s.al.to_le_bytes());
        record.extend([s.inc, s.depth, s.skipped]);
        record.extend(s.pc.to_le_bytes());
        record.extend([s.err, s.done, s.jump]);
        record.extend((0..8).map(|i| (s.exec >> i & 1) as u8));
        frame_bytes(&stack.unwrap(), &mut record);
        crc.update(&record);
        histogram[usize::from(s.err)] += 1;
        if let Some((_, value, errors)) = expected.iter().find(|(at, ..)| *at == step) {
            assert_eq!(crc.clone().finalize(), *value, "after step {step}");
            assert_eq!(histogram, *errors, "after step {step}");
            checked += 1;
        }
    });
    assert_eq!(checked, expected.len());
}

/// Golden model and RTL in step, each checked against the other after every clock.
struct Pair {
    golden: Golden,
    rtl: Sequencer<R700>,
}

impl Machine<R700> for Pair {
    fn clock(&mut self, pins: &In) -> State {
        let found = self.rtl.clock(pins);
        let expected = *self.golden.cycle(pins);
        let seen = diff(&FIELDS, LANES, bytes_of(&found), bytes_of(&expected));
        assert!(
            seen.is_empty(),
            "{:08X} {:08X}: {seen:?}",
            pins.dw0,
            pins.dw1
        );
        found
    }
    fn load(&mut self, state: &State) {
        self.rtl.load(state);
        self.golden.load(state);
    }
}

impl Unit for Pair {
    fn stack(&self) -> Option<Vec<Frame>> {
        self.golden.stack()
    }
}

/// The RTL on the same walk: every word and every error from states that only other errors lead out of.
#[test]
fn rtl_walks_in_step_with_the_golden() {
    let mut pair = Pair {
        golden: Golden::new(LANES),
        rtl: Sequencer::new(LANES),
    };
    let mut errors = [0; 10];
    walk(&mut pair, 50_000, |_, s, _| errors[usize::from(s.err)] += 1);
    assert!(errors.iter().all(|n| *n > 0), "{errors:?}");
}

// ---- the golden's own ---------------------------------------------------------------------------------------

/// Every number of lanes: those that there are not stay 0, whatever the pins say.
#[test]
fn lanes_beyond_the_last_never_show() {
    for lanes in 1..=64 {
        let all = u64::MAX >> (64 - lanes);
        let mut golden = Golden::new(lanes);
        assert_eq!(golden.state().active, all);
        golden.cycle(&launch(&program(1000, 32), u64::MAX));
        assert_eq!((golden.state().valid, golden.state().active), (all, all));
        for pins in [
            alu(ALU_PUSH_BEFORE, 0x5555_5555_5555_5555),
            cf(1, LOOP_START_DX10),
            cf(1, PUSH_ELSE | FALSE),
            alu(ALU_PUSH_BEFORE, 0),
            cf(1, POP | 2 | VPM),
            cf(1, LOOP_BREAK),
            cf(1, LOOP_END),
            cf(1, ELSE | VPM),
            cf(1, KILL),
            cf(1, PUSH_ELSE),
            cf(1, POP | 2),
            cf(1, NOP),
        ] {
            let s = *golden.cycle(&pins);
            assert_eq!(s.err, 0, "{lanes} lanes: {:08X}", pins.dw1);
            for plane in [s.st[0], s.st[1], s.valid, s.active, s.exec, s.top_mask] {
                assert_eq!(plane & !all, 0, "{lanes} lanes: {:08X}", pins.dw1);
            }
        }
        assert_eq!(golden.state().active, all);
    }
}

/// What a report says of a field names the rule and not just the instruction.
#[test]
fn the_golden_explains_each_field_by_its_rule() {
    // Instructions that lead there; then the one explained, field, lane, and what must be said.
    type Row<'a> = (&'a [In], In, &'a str, usize, &'a str);
    let some = alu(ALU_PUSH_BEFORE, 0b0101);
    let looped = cf(9, LOOP_START | cf_const(1));
    let rows: &[Row] = &[
        (&[], alu(ALU, 0b0101), "st", 1, "predicate 0: BRANCH"),
        (&[], alu(ALU, 0b0101), "st", 0, "predicate 1: stays ACTIVE"),
        (&[], cf(0, ALU), "st", 1, "u = 0"),
        (&[], some, "top_mask", 0, "the lanes ACTIVE before it"),
        (
            &[some],
            cf(1, POP | 1),
            "st",
            1,
            "pop rule (r700-4.3-u): 1 popped, bit 1",
        ),
        (&[some], cf(1, POP | 1), "nb", 0, "pops 1 branch frames"),
        (
            &[some],
            cf(1, POP),
            "active",
            1,
            "popping 0 frames does nothing",
        ),
        (
            &[some],
            cf(1, ELSE),
            "st",
            1,
            "ELSE rule (r700-4.3-v): in the mask",
        ),
        (
            &[some, alu(ALU_PUSH_BEFORE, 1)],
            cf(1, ELSE),
            "st",
            1,
            "not in the mask",
        ),
        (
            &[some],
            cf(1, JUMP | 1),
            "sp",
            0,
            "pops only when it jumps (r700-O1)",
        ),
        (
            &[some],
            cf(1, JUMP),
            "pc",
            0,
            "a lane passes, so it stays; next PC is PC + 1",
        ),
        (
            &[some],
            cf(1, JUMP | FALSE),
            "jump",
            0,
            "no lane passes, so it jumps",
        ),
        (
            &[],
            cf(1, PUSH | FALSE),
            "sp",
            0,
            "nothing is pushed (r700-O13)",
        ),
        (
            &[some],
            looped,
            "st",
            1,
            "loop entry (r700-O5): lane fails the test, it is BRANCH",
        ),
        (&[some], looped, "frame_st", 1, "the loop frame saves"),
        (&[looped], cf(1, LOOP_END), "al", 0, "once more: al + inc"),
        (
            &[looped],
            cf(1, LOOP_END),
            "lc",
            0,
            "once more: the count goes down by 1",
        ),
        (
            &[looped, alu(ALU_CONTINUE, 0b0111)],
            cf(1, LOOP_END),
            "st",
            3,
            "wake rule (r700-O7), CONT becomes ACTIVE",
        ),
        (
            &[looped, alu(ALU_BREAK, 1)],
            cf(1, LOOP_END),
            "st",
            3,
            "BRK lanes are not woken",
        ),
        (
            &[looped],
            cf(1, LOOP_END | FALSE),
            "st",
            0,
            "restores the class",
        ),
        (
            &[looped],
            cf(1, LOOP_END | FALSE),
            "lt",
            0,
            "leaving restores lt",
        ),
        (
            &[looped],
            cf(1, LOOP_END | FALSE),
            "base",
            0,
            "the frame below them is revealed",
        ),
        (
            &[looped, some, alu(ALU_BREAK, 1)],
            cf(1, POP | 1),
            "st",
            2,
            "BRK survives a pop (r700-O2)",
        ),
        (
            &[looped, some],
            cf(1, LOOP_BREAK),
            "pc",
            0,
            "held back by ACTIVE or BRANCH lanes (r700-O6)",
        ),
        (
            &[looped, alu(ALU_PUSH_BEFORE, ALL)],
            cf(1, LOOP_CONTINUE),
            "sp",
            0,
            "all branch frames above the loop frame are dropped",
        ),
        (
            &[],
            cf(1, CALL | call_count(33)),
            "skipped",
            0,
            "skipped is set if the depth",
        ),
        (
            &[],
            cf(1, CALL | call_count(33)),
            "pc",
            0,
            "over 32, so it is skipped (r700-O20)",
        ),
        (
            &[cf(1, CALL)],
            cf(1, RETURN),
            "pc",
            0,
            "RETURN rule (r700-O19)",
        ),
        (
            &[cf(1, CALL)],
            cf(1, RETURN),
            "pc",
            0,
            "next PC is the call frame's address",
        ),
        (&[], cf(1, KILL), "valid", 0, "lanes that pass lose valid"),
        (
            &[],
            cf(1, NOP),
            "exec",
            0,
            "lanes that pass the condition test execute",
        ),
        (
            &[],
            cf(1, KILL),
            "exec",
            0,
            "control instruction, which no lane executes",
        ),
        (&[some], cf(1, POP | 2), "err", 0, "error 6 UNDERFLOW"),
        (
            &[some],
            cf(1, POP | 2),
            "st",
            0,
            "everything else as before",
        ),
        (
            &[],
            cf(1, LOOP_BREAK),
            "pc",
            0,
            "error 3 NO_LOOP: LOOP_BREAK, and bkind is not LOOP",
        ),
        (&[], cf(5000, JUMP | FALSE), "pc", 0, "error 9 PC_RANGE"),
        (
            &[],
            cf(1, NOP | END),
            "done",
            0,
            "END: executed as usual, then done",
        ),
        (&[], In::default(), "exec", 0, "running, no instruction"),
        (&[], stalled::<R700>(), "st", 0, "nothing changes at all"),
        (&[], In::reset(), "st", 0, "reset"),
        (&[cf(1, NOP | END)], In::default(), "pc", 0, "no wave runs"),
        (
            &[cf(1, NOP | END)],
            write(3, 1),
            "loop_const",
            3,
            "the host may write",
        ),
        (
            &[cf(1, NOP | END)],
            launch(&program(9, 1), 1),
            "st",
            1,
            "BRANCH elsewhere",
        ),
    ];
    for (before, pins, field, lane, said) in rows {
        let mut golden = Golden::new(LANES);
        golden.cycle(&write(1, 0x0100_7003));
        golden.cycle(&launch(&program(1000, 32), ALL));
        for pins in *before {
            golden.cycle(pins);
            assert!(matches!(golden.event(), Event::Executed { .. }));
        }
        let text = golden.explain(pins, field, *lane);
        assert!(
            text.contains(said),
            "{field}[{lane}]: {text:?} lacks {said:?}"
        );
    }
}
