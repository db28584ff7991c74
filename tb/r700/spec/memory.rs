//! The stack's memory: every stored bit is compared.

use super::traces::classes;
use super::*;

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
    /// Fills `machine`. An instruction that does not push has no frame.
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
        at += frame.size(4);
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
            let seen = diff(&FIELDS, bytes_of(faulty.state()), bytes_of(clean.state()));
            assert_eq!(seen.len(), 1, "{at}: {seen:?}");
            assert_eq!((seen[0].rtl ^ seen[0].golden).count_ones(), 1, "{at}");
            flips += 1;
        }
    }
    // Five loop frames of 2 * 4 + 66 bits, four call frames of 50, and the branch frames' four each.
    let branches = frames.len() as u32 - 9;
    assert_eq!(flips, 5 * 74 + 4 * 50 + branches * 4);
    // A bit that is not stored, and a frame that does not exist.
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

/// The same for the memory of `machine`, also if it consists of flip-flops: the fault is planted by loading the state in which
/// the frame was on top with one bit of it changed, and then the full state, which does not write the frame again.
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
                let seen = diff(&FIELDS, bytes_of(&found), bytes_of(clean.state()));
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

/// A stack that is loaded from the states in which it grew unwinds like the original.
fn loaded_stack(machine: &mut dyn Unit) {
    let mut reference = Golden::new(LANES);
    let filled = Filled::new(&mut reference);
    // Every word has another value first.
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
    stored_bits: golden_shows_every_loaded_bit_of_its_memory, rtl_shows_every_stored_bit_of_its_memory;
    loaded_stack: golden_unwinds_a_loaded_stack, rtl_unwinds_a_loaded_stack;
}
