//! The stack's memory: every stored bit is compared.

use super::*;

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
                let seen = diff(&FIELDS, found, expected);
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
            // A bit that is not stored, and a token that does not exist.
            let mut same = golden.clone();
            same.flip_stored(0, golden.stored_bits());
            same.flip_stored(depth, 0);
            assert!(same.tokens() == golden.tokens() && same.state() == golden.state());
        }
    }
    // Six fills of four tokens and one of 64, by their widths.
    assert_eq!(flips, 24 * (43 + 71 + 103) + 64 * (40 + 43 + 71 + 103));
}

/// The same for the memory of `machine`, also if it consists of flip-flops: the fault is planted by loading the state in which
/// the token was on top with one bit of it changed, and then the full state, which does not write the token again.
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
                let seen = diff(&FIELDS, bytes_of(&found), bytes_of(clean.state()));
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

/// A stack that is loaded from the states in which it grew unwinds like the original.
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
    stored_bits: golden_shows_every_loaded_bit_of_its_memory, rtl_shows_every_stored_bit_of_its_memory;
    loaded_stack: golden_unwinds_a_loaded_stack, rtl_unwinds_a_loaded_stack;
}

both! {
    (Golden::with(LANES, SMALL, true), small())
    small_stored_bits: golden_shows_every_loaded_bit_of_a_small_memory, rtl_shows_every_stored_bit_of_a_small_memory;
}
