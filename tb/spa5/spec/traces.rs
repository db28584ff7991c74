//! The traces of spa5-7, row by row.

use super::*;

/// A mask as the spec prints it, thread 3 on the left.
pub(super) fn threads(text: &str) -> u64 {
    mask(&text.chars().rev().collect::<String>())
}

pub(super) fn hex(text: &str) -> u32 {
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

both! {
    traces: golden_reproduces_the_worked_traces_row_by_row, rtl_reproduces_the_worked_traces_row_by_row;
}
