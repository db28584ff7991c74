//! The stack's memory: every stored bit is compared.

use super::*;
use crate::memory::{Filled, put};

/// What pushes a token of each type; the last divides threads.
const FILL: [u64; 6] = [SSY, PBK, PCNT, PRET, CAL, BRA | P0];

/// Fills a golden model of `lanes` threads and `depth` tokens with tokens of all types in turn, beginning with number `first` of them,
/// each with an address of its own, divergent ones as long as two threads are active.
fn filled(lanes: usize, depth: usize, first: usize) -> Filled<Spa5> {
    let mut golden = Golden::with(lanes, depth, false);
    let launch = vec![In::reset(), launch(0, 0x8000, u64::MAX)];
    let mut state = State::default();
    for pins in &launch {
        state = golden.clock(pins);
    }
    let mut pushed = Vec::new();
    for n in first.. {
        let word = FILL[n % FILL.len()];
        let lowest = state.active & state.active.wrapping_neg();
        if word == BRA | P0 && state.active == lowest {
            continue;
        }
        let offset = 0x1238 + 0x2A8 * (n as i64 % 7);
        state = golden.clock(&exec_p0(off(word, offset), state.active ^ lowest));
        assert_eq!((state.err, state.status), (0, RUN));
        // To a place of its own, so that no two addresses are alike.
        state.pc = 0x48 + 0x60 * (pushed.len() as u32 + 1);
        put::<Spa5>(&mut golden, &state);
        pushed.push(state);
        if pushed.len() == depth {
            break;
        }
    }
    // EXIT of all: a cycle for each token, for each EXIT (the first, and one for each divergent side), and for the end.
    let sides = pushed.iter().filter(|s| s.top_type == T_DIV).count();
    let unwind = vec![exec(EXIT | ALWAYS); depth + 1 + sides + 1];
    // A token shows as soon as no other lies above it.
    let surfaces = |number: usize| {
        let mut golden = golden.clone();
        let above = |pins: &&In| golden.cycle(pins).sp as usize > number + 1;
        match number + 1 == depth {
            true => 0,
            false => 1 + unwind.iter().take_while(above).count(),
        }
    };
    let shows = (0..depth).map(surfaces).collect();
    Filled {
        lanes,
        golden,
        launch,
        pushed,
        unwind,
        shows,
    }
}

#[test]
fn the_filled_stacks_hold_every_type_at_the_bottom_and_in_the_middle() {
    for depth in [4, 64] {
        let mut found = BTreeSet::new();
        for first in 0..FILL.len() {
            let golden = filled(32, depth, first).golden;
            let tokens = golden.tokens();
            assert_eq!(tokens.len(), depth);
            found.extend(tokens.iter().enumerate().map(|(i, t)| (i.min(3), t.kind)));
        }
        assert_eq!(found.len(), 4 * 5, "{depth}: {found:?}");
    }
}

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
            let filled = filled(lanes, depth, first);
            let bits = filled.golden.stored_bits();
            assert_eq!(bits, 39 + lanes as u32);
            let stack = |golden: &Golden| golden.tokens().to_vec();
            flips += filled.no_stored_bit_escapes(stack, |_| bits, Golden::flip_stored);
        }
    }
    // Six fills of four tokens and one of 64, by their widths.
    assert_eq!(flips, 24 * (43 + 71 + 103) + 64 * (40 + 43 + 71 + 103));
}

/// Fields that show a token: all of it is stored.
fn shown_fields(_: &State) -> Vec<(&'static Field, u32)> {
    let fields = FIELDS.iter().filter(|f| f.name.starts_with("top_"));
    fields.map(|field| (field, field.width)).collect()
}

fn check_stored_bits(machine: &mut dyn Unit, depth: usize, first: usize) {
    let flips = filled(LANES, depth, first).every_stored_bit_shows(machine, shown_fields);
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

fn loaded_stack(machine: &mut dyn Unit) {
    for first in 0..FILL.len() {
        // Something else in every entry first.
        filled(LANES, DEFAULT_DEPTH, first + 1).load(machine);
        let filled = filled(LANES, DEFAULT_DEPTH, first);
        filled.load(machine);
        let stack = machine.stack();
        assert!(stack.is_none_or(|s| s == filled.golden.tokens()));
        let end = filled.a_loaded_stack_unwinds(machine);
        assert_eq!((end.err, end.sp, end.status), (0, 0, DONE));
    }
}

both! {
    stored_bits: golden_shows_every_loaded_bit_of_its_memory, rtl_shows_every_stored_bit_of_its_memory;
    loaded_stack: golden_unwinds_a_loaded_stack, rtl_unwinds_a_loaded_stack;
}

both! {
    (Golden::with(LANES, SMALL, true), small())
    small_stored_bits: golden_shows_every_loaded_bit_of_a_small_memory, rtl_shows_every_stored_bit_of_a_small_memory;
}
