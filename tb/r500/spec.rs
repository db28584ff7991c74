//! The worked traces, corner vectors and digests of the specification, by the golden model alone and
//! by the RTL alone. Expected values are the spec's (`tb/r500/programs/*.exp`), never computed.

// Not the whole of tb/common: that asks for the command, and this target does without it.

use crate::machine::{self, Machine, Sequencer, mask, rows};
use reconverge::r500::R500;
use reconverge::r500::asm::assemble;
use reconverge::r500::golden::{Event, Golden};
use reconverge::r500::program::{Program, Registers};
use reconverge::r500::state::{In, State};
use reconverge::unit::Programs;

const LANES: usize = 4;

fn read(name: &str) -> String {
    machine::read::<R500>(name)
}

fn stalled() -> In {
    machine::stalled::<R500>()
}

fn sequencer() -> Sequencer<R500> {
    Sequencer::new(LANES)
}

fn launch(regs: &Registers) -> In {
    In {
        launch: 1,
        fc_ctrl: regs.fc_ctrl,
        code_addr: regs.code_addr,
        code_range: regs.code_range,
        code_offset: regs.code_offset,
        ..In::default()
    }
}

/// `L/3/10 R/1/7` of the corner vectors and `LOOP n=3 aL=10` of the traces both become (kind, count, aL).
fn frames(text: &str) -> Vec<(bool, u8, u8)> {
    if text == "-" {
        return vec![];
    }
    if text.contains('/') {
        let frame = |f: &str| {
            let part: Vec<&str> = f.split('/').collect();
            (
                part[0] == "R",
                part[1].parse().unwrap(),
                part[2].parse().unwrap(),
            )
        };
        return text.split(' ').map(frame).collect();
    }
    let words: Vec<&str> = text.split(' ').collect();
    let value = |word: &str| word.split_once('=').unwrap().1.parse().unwrap();
    words
        .chunks(3)
        .map(|f| (f[0] == "REP", value(f[1]), value(f[2])))
        .collect()
}

fn addresses(text: &str) -> Vec<u16> {
    let number = |a: &str| match a.strip_prefix("0x") {
        Some(hex) => u16::from_str_radix(hex, 16).unwrap(),
        None => a.parse().unwrap(),
    };
    if text == "-" {
        vec![]
    } else {
        text.split(' ').map(number).collect()
    }
}

fn lanes(state: &State) -> String {
    (0..LANES)
        .map(|i| state.lane(i))
        .collect::<Vec<_>>()
        .join(" ")
}

fn check_stacks(state: &State, loops: &str, addrs: &str, at: &str) {
    let loops = frames(loops);
    let found: Vec<_> = (0..usize::from(state.loop_depth))
        .map(|f| state.frame(f))
        .collect();
    assert_eq!(found, loops, "{at}: loop stack");
    assert_eq!(state.al, loops.last().map_or(0, |f| f.2), "{at}: aL");
    assert_eq!(
        &state.addrs[..usize::from(state.addr_depth)],
        addresses(addrs),
        "{at}: address stack"
    );
}

/// Runs `name`.s through `machine` and checks every row of `name`.exp. Returns how many there were. `wants` is what the lanes want if the
/// machine tells: 1 jump, 0 stay, `e` switched off by this else, `-` none.
fn check_trace<M: Machine<R500>>(
    name: &str,
    machine: &mut M,
    wants: impl Fn(&M, &In) -> Option<String>,
) -> usize {
    let program: Program = assemble(&read(&format!("{name}.s")), name).unwrap();
    for pins in R500::setup(&program) {
        machine.clock(&pins);
    }
    let mut state = machine.clock(&launch(&program.regs));
    let (mut alu, mut checked) = (0, 0);
    for (n, row) in rows(&read(&format!("{name}.exp"))).enumerate() {
        let at = format!("{name}.exp row {}", n + 1);
        let [pc, what, decision, lanes_after, loops, addrs] = row[..] else {
            panic!("{at}: {row:?}")
        };
        assert_eq!(
            state.pc,
            u16::from_str_radix(&pc[2..], 16).unwrap(),
            "{at}: PC"
        );
        assert_eq!(state.running, 1, "{at}: running");
        let slot = program.slot(state.pc);
        let pins = In {
            cmn: slot.cmn,
            inst: slot.inst,
            addr: slot.addr,
            inst_valid: 1,
            alu,
            ..In::default()
        };
        let pc = state.pc;
        let before = state.active & 0xf;
        if let Some(shown) = what.strip_prefix("want ")
            && !decision.starts_with("error")
            && let Some(wants) = wants(machine, &pins)
        {
            assert_eq!(wants, shown, "{at}: wants");
        }
        state = machine.clock(&pins);
        if let Some(exec) = what.strip_prefix("exec ") {
            let (executes, results) = exec.split_once(" alu ").unwrap_or((exec, ""));
            assert_eq!(before, mask(executes), "{at}: lanes that execute");
            if !results.is_empty() {
                let drawn = !results
                    .chars()
                    .enumerate()
                    .fold(0, |m, (i, c)| m | u64::from(c == '-') << i);
                alu = alu & !drawn | mask(results);
            }
        }
        match decision {
            "-" | "stay" => assert_eq!(state.pc, pc + 1, "{at}: stays"),
            "jump" => {
                assert_ne!(slot.cmn & 3, 0, "{at}");
                alu = 0;
            }
            error => {
                let code: u8 = error.strip_prefix("error ").unwrap().parse().unwrap();
                assert_eq!(
                    (state.err, state.halted, state.running),
                    (code, 1, 0),
                    "{at}"
                );
                assert_eq!(state.pc, pc, "{at}: PC stays");
            }
        }
        if what.starts_with("want") && !decision.starts_with("error") {
            assert_eq!(state.alu_clr, 1, "{at}: the ALU results are used up");
            alu = 0;
        }
        assert_eq!(lanes(&state), lanes_after, "{at}: lanes");
        check_stacks(&state, loops, addrs, &at);
        checked += 1;
    }
    assert_ne!(checked, 0, "{name}: no rows");
    let failed = read(&format!("{name}.exp")).contains("error");
    assert_eq!(state.done, u8::from(!failed), "{name}: done");
    checked
}

const TRACES: [(&str, usize); 9] = [
    ("if_else", 7),
    ("nested_if", 10),
    ("loop_continue_break", 27),
    ("rep_in_loop", 12),
    ("call_return", 8),
    ("static_branch", 4),
    ("static_branch_else", 3),
    ("partial_overflow", 10),
    ("return_empty", 1),
];

#[test]
fn golden_reproduces_the_worked_traces_row_by_row() {
    for (name, rows) in TRACES {
        let checked = check_trace(name, &mut Golden::new(LANES), |golden, pins| {
            Some(golden.wants(pins).expect("it is no error"))
        });
        assert_eq!(checked, rows, "{name}");
    }
}

#[test]
fn rtl_reproduces_the_worked_traces_row_by_row() {
    for (name, rows) in TRACES {
        let checked = check_trace(name, &mut sequencer(), |_, _| None);
        assert_eq!(checked, rows, "{name}");
    }
}

/// A lane of the corner vectors: class and its counter.
fn put_lanes(state: &mut State, text: &str) {
    for (i, lane) in text.split(' ').enumerate() {
        let (class, count) = lane.split_at(1);
        let count: u64 = if count.is_empty() {
            0
        } else {
            count.parse().unwrap()
        };
        let class = "ABCK".find(class).unwrap() as u64;
        for (b, plane) in state.st.iter_mut().enumerate() {
            *plane |= (class >> b & 1) << i;
        }
        let planes: &mut [u64] = if class == 1 {
            &mut state.bc
        } else {
            &mut state.lc
        };
        for (b, plane) in planes.iter_mut().enumerate() {
            *plane |= (count >> b & 1) << i;
        }
    }
    state.active = !(state.st[0] | state.st[1]) & 0xf;
}

fn check_corners(machine: &mut dyn Machine<R500>) {
    let mut vectors = 0;
    for row in rows(&read("corners.exp")) {
        let [
            number,
            before,
            stacks,
            set,
            alu,
            cov,
            words,
            result,
            after,
            stacks_after,
            pc_after,
            what,
        ] = row[..]
        else {
            panic!("{row:?}")
        };
        let at = format!("corner {number}, {what}");
        let mut regs = Registers {
            code_addr: 511 << 16,
            ..Registers::default()
        };
        match set.split_once('=') {
            Some(("OFFSET", v)) => regs.code_offset = v.parse().unwrap(),
            Some(("CODE_SIZE", v)) => regs.code_range = v.parse::<u32>().unwrap() << 16,
            Some(("FULL", v)) => regs.fc_ctrl = v.parse::<u32>().unwrap() << 31,
            _ => assert_eq!(set, "-", "{at}"),
        }
        machine.clock(&In::reset());
        machine.clock(&In {
            const_we: 1,
            const_addr: 1,
            const_wdata: 0x00FE_0A03,
            ..In::default()
        });
        let mut state = machine.clock(&launch(&regs));
        assert_eq!(state.running, 1, "{at}");
        put_lanes(&mut state, before);
        let (loops, addrs) = stacks.split_once(" ; ").unwrap();
        for (f, (rep, count, al)) in frames(loops).into_iter().enumerate() {
            state.loops[f] = u32::from(rep) << 16 | u32::from(count) << 8 | u32::from(al);
            state.loop_depth = f as u8 + 1;
            state.al = al;
        }
        for (a, address) in addresses(addrs).into_iter().enumerate() {
            state.addrs[a] = address;
            state.addr_depth = a as u8 + 1;
        }
        state.pc = 100;
        machine.clock(&stalled());
        machine.load(&state);
        assert_eq!(machine.clock(&stalled()), state, "{at}: state before");

        let word: Vec<u32> = words
            .split(' ')
            .map(|w| u32::from_str_radix(w, 16).unwrap())
            .collect();
        let pins = In {
            cmn: word[0],
            inst: word[1],
            addr: word[2],
            inst_valid: 1,
            alu: mask(alu),
            cov: mask(cov),
            ..In::default()
        };
        let found = machine.clock(&pins);
        match result.strip_prefix("halt ") {
            Some(code) => assert_eq!(
                (found.halted, found.err, found.running),
                (1, code.parse().unwrap(), 0),
                "{at}"
            ),
            None => {
                assert_eq!((found.halted, found.err, found.running), (0, 0, 1), "{at}");
                assert_eq!(found.alu_clr, 1, "{at}: ALU results used up");
            }
        }
        assert_eq!(lanes(&found), after, "{at}: lanes");
        let (loops, addrs) = stacks_after.split_once(" ; ").unwrap();
        check_stacks(&found, loops, addrs, &at);
        assert_eq!(found.pc, pc_after.parse::<u16>().unwrap(), "{at}: PC");
        vectors += 1;
    }
    assert_eq!(vectors, 49);
}

#[test]
fn golden_agrees_with_the_49_corner_vectors() {
    check_corners(&mut Golden::new(LANES));
}

#[test]
fn rtl_agrees_with_the_49_corner_vectors() {
    check_corners(&mut sequencer());
}

/// r500-B: the checksum of a long random walk, and how often each error came up.
fn digest(full: bool, expected: [(u32, u32); 9], errors: [u32; 10]) {
    let mut x: u32 = 0x5235_3030;
    let mut random = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    };
    let mut golden = Golden::new(8);
    for n in 0..32 {
        golden.cycle(&In {
            const_we: 1,
            const_addr: n,
            const_wdata: random() & 0x00ff_ff03,
            ..In::default()
        });
    }
    golden.cycle(&In {
        const_we: 1,
        const_addr: 32,
        const_wdata: 0xA5A5_F00F,
        ..In::default()
    });
    let regs = Registers {
        fc_ctrl: u32::from(full) << 31,
        code_offset: 4,
        code_addr: 511 << 16,
        ..Registers::default()
    };
    golden.cycle(&launch(&regs));
    let mut crc = crc32fast::Hasher::new();
    let mut histogram = [0; 10];
    let mut checked = 0;
    for step in 1..=100_000 {
        let (r, mut inst, addr, p, pc) = (random(), random(), random(), random(), random() & 0x1ff);
        let mut state = *golden.state();
        state.pc = pc as u16;
        golden.load(&state);
        if r & 0x3f != 0 {
            for field in [6, 24, 26] {
                if inst >> field & 3 == 3 {
                    inst ^= 3 << field;
                }
            }
        }
        if r & 0x40 != 0 {
            inst &= !(0x1c << 16);
        }
        let (mut op, mut a_op) = (inst & 7, inst >> 6 & 3);
        if r & 0xf80 != 0 {
            if !full {
                (op, a_op) = (0, 0);
            }
            if a_op == 1 && state.addr_depth == 0 {
                a_op = 0;
            }
            let top_is_rep =
                state.loop_depth > 0 && state.frame(usize::from(state.loop_depth) - 1).0;
            op = match op {
                2 | 4..=7 if state.loop_depth == 0 => {
                    if r & 0x1000 != 0 {
                        1
                    } else {
                        3
                    }
                }
                2 | 4 => 2 + 2 * u32::from(top_is_rep),
                5 | 6 => 5 + u32::from(top_is_rep),
                1 | 3 if state.loop_depth == 4 => 0,
                other => other,
            };
        }
        inst = inst & !0xc7 | a_op << 6 | op;
        let sel = [0, 2, 3, 4, 5][(r >> 13 & 0xff) as usize % 5];
        let mut pins = In {
            cmn: 0x402 | sel << 3 | (r >> 21 & 1) << 6,
            inst,
            addr,
            inst_valid: 1,
            ..In::default()
        };
        pins.alu = u64::from(p & 0xff);
        // One bit of r covers all lanes or none more.
        pins.cov = u64::from(p >> 8 & 0xff) | (u64::from(r >> 22 & 1) * 0xff);
        for channel in 0..4 {
            pins.pred[channel] = u64::from(p >> (16 + channel) & 0xff);
        }
        let state = *golden.cycle(&pins);
        let bytes = |get: &dyn Fn(usize) -> u8| -> Vec<u8> { (0..8).map(get).collect() };
        crc.update(&bytes(&|i| state.class(i)));
        crc.update(&bytes(&|i| state.bc(i)));
        crc.update(&bytes(&|i| state.lc(i)));
        crc.update(&[state.loop_depth]);
        for f in 0..usize::from(state.loop_depth) {
            let (rep, count, al) = state.frame(f);
            crc.update(&[if rep { 3 } else { 1 }, count, al]);
        }
        crc.update(&[state.addr_depth]);
        for a in 0..usize::from(state.addr_depth) {
            crc.update(&state.addrs[a].to_le_bytes());
        }
        crc.update(&state.pc.to_le_bytes());
        let decision = match golden.event() {
            Event::FlowControl { jump } => u8::from(jump),
            Event::Halted(_) => 2,
            other => panic!("step {step}: {other:?}"),
        };
        crc.update(&[state.err, decision]);
        histogram[usize::from(state.err)] += 1;
        if let Some((_, value)) = expected.iter().find(|(at, _)| *at == step) {
            assert_eq!(crc.clone().finalize(), *value, "after step {step}");
            checked += 1;
        }
        if state.halted == 1 {
            golden.cycle(&launch(&regs));
        }
    }
    assert_eq!(checked, expected.len());
    assert_eq!(histogram, errors);
}

#[test]
fn golden_has_the_digest_of_full_mode() {
    let steps = [
        (1, 0x8570_A5DD),
        (2, 0x72BF_90D9),
        (3, 0x074C_AC63),
        (5, 0x72E7_4F00),
        (10, 0xCDCE_8E0F),
        (100, 0x8A4D_8EDA),
        (1000, 0xE3B6_5E45),
        (10_000, 0xA116_D1B3),
        (100_000, 0xE1CE_A0EA),
    ];
    digest(true, steps, [97_171, 920, 0, 658, 478, 5, 495, 100, 0, 173]);
}

#[test]
fn golden_has_the_digest_of_partial_mode() {
    let steps = [
        (1, 0xC7F1_3626),
        (2, 0x0E15_B9FE),
        (3, 0xC4C2_E3A4),
        (5, 0x4EC5_0BE3),
        (10, 0x4278_711F),
        (100, 0xE238_708A),
        (1000, 0x97E6_58C9),
        (10_000, 0xA8A0_CDBC),
        (100_000, 0x9885_F921),
    ];
    digest(false, steps, [94_993, 695, 2851, 0, 0, 0, 0, 0, 1219, 242]);
}
