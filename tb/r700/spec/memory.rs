//! The stack's memory: every stored bit is compared.

use super::traces::classes;
use super::*;
use crate::memory::Filled;

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

/// Fills the golden model. An instruction that does not push has no frame.
fn filled() -> Filled<R700> {
    let mut golden = Golden::new(LANES);
    let regs = fill_registers();
    let mut state = start(&mut golden, &regs, ALL);
    let (mut pushed, mut unwind) = (Vec::new(), Vec::new());
    for (push, pop) in fill() {
        let sp = state.sp;
        state = golden.clock(&push);
        assert_eq!((state.err, state.running), (0, 1), "{:08X}", push.dw1);
        if state.sp > sp {
            pushed.push(state);
            unwind.insert(0, pop);
        }
    }
    let is_branch = |pins: &In| pins.dw1 & !7 == POP;
    let shows = (0..pushed.len()).map(|frame| {
        let above = &unwind[..pushed.len() - 1 - frame];
        if is_branch(&unwind[above.len()]) {
            return above.len();
        }
        // The innermost loop or call frame shows below branch frames.
        let last = above.iter().rposition(|pins| !is_branch(pins));
        last.map_or(0, |i| i + 1)
    });
    Filled {
        lanes: LANES,
        shows: shows.collect(),
        launch: launched(&regs, ALL),
        golden,
        pushed,
        unwind,
    }
}

#[test]
fn the_filled_stack_has_every_kind_of_frame_at_every_alignment() {
    let Filled { golden, pushed, .. } = filled();
    let mut at = 0;
    let mut found = BTreeSet::new();
    for frame in golden.frames() {
        let kind = match frame {
            Frame::Branch(_) => "branch",
            Frame::Loop(_) => "loop",
            Frame::Call(_) => "call",
        };
        found.insert((kind, at % 4));
        at += frame.size(4);
    }
    assert_eq!(found.len(), 12, "{found:?}");
    assert_eq!(golden.frames().count(), pushed.len());
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

/// Bits of five loop frames, of four call frames and of the branch frames, which have four each.
fn bits(of_loop: usize, of_call: usize) -> usize {
    5 * of_loop + 4 * of_call + (filled().pushed.len() - 9) * 4
}

#[test]
fn no_stored_bit_of_the_golden_escapes_comparison() {
    let filled = filled();
    let frames: Vec<Frame> = filled.golden.frames().collect();
    let stored = |number: usize| filled.golden.stored_bits(&frames[number]);
    let stack = |golden: &Golden| golden.frames().collect::<Vec<_>>();
    let flips = filled.no_stored_bit_escapes(stack, stored, Golden::flip_stored);
    assert_eq!(flips, bits(2 * 4 + 66, 50));
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

fn stored_bits(machine: &mut dyn Unit) {
    let flips = filled().every_stored_bit_shows(machine, shown_fields);
    // Of an address two bits less are stored.
    assert_eq!(flips, bits(74 - 2, 50 - 2));
}

fn loaded_stack(machine: &mut dyn Unit) {
    let filled = filled();
    // Every word has another value first.
    start(machine, &program(1000, 32), ALL);
    for _ in 0..126 {
        machine.clock(&alu(ALU_PUSH_BEFORE, 0b0101));
    }
    filled.load(machine);
    let stack = machine.stack();
    assert!(stack.is_none_or(|s| filled.golden.frames().eq(s)));
    let end = filled.a_loaded_stack_unwinds(machine);
    assert_eq!((end.err, end.sp, end.nb, end.active), (0, 0, 0, ALL));
}

both! {
    stored_bits: golden_shows_every_loaded_bit_of_its_memory, rtl_shows_every_stored_bit_of_its_memory;
    loaded_stack: golden_unwinds_a_loaded_stack, rtl_unwinds_a_loaded_stack;
}
