//! Random programs: invariants, and golden model and RTL in step.

use super::*;

/// The instructions that a place in a legal program may use besides EXIT: SYNC, BRK, CONT, RET, in this order.
#[derive(Clone, Copy, Default)]
struct May([bool; 4]);

impl May {
    const SYNC: usize = 0;
    const BRK: usize = 1;
    const CONT: usize = 2;
    const RET: usize = 3;

    /// Returns the place with one more legal instruction; SYNC is legal only if it is that instruction.
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
                    // Otherwise no thread would be left after a few instructions.
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
                    // Its control word is accepted as well.
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
                140..146 => BRA | target | condition,
                146..149 => JMP | (to as u64 & 0xFFFF_FFFF) << 20 | condition,
                149 => BRA | target | condition | CONSTANT_BANK,
                150..190 => SSY | target,
                190..220 => PBK | target,
                220..250 => PCNT | target,
                250..260 => PRET | target,
                260..272 => CAL | target,
                272..275 => JCAL | (to as u64 & 0xFFFF_FFFF) << 20,
                275..310 => SYNC | any & 0x7_FFFF_FFF0_FFE0 | condition,
                310..340 => BRK | target | condition,
                340..370 => CONT | target | condition,
                370..385 => RET | target | condition,
                385..393 => EXIT | target | condition,
                393..395 => KIL | target | condition,
                395 => BRX | target | condition,
                396 => JMP | target | CONSTANT_BANK,
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
    pins.constant = (8 * rng.random_range(-16..16_i32)) as u32;
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

/// spa5-I1 to spa5-I8, spa5-I10 and spa5-I12 of spa5-3, for a state before a step; what is above the last thread.
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
    assert_eq!(s.killed & !s.exited, 0, "spa5-I12");
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

/// Counts of a run of random programs.
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
        // A legal program ends without an error unless it needs more tokens than the stack holds.
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
#[ignore = "many models or proofs; CI's step builds runs it"]
fn small_rtl_with_brx_walks_in_step_with_the_golden() {
    let rtl = Sequencer::built(small());
    walk(Golden::with(LANES, SMALL, true), rtl, 8);
}
