//! Every state in which a case of r700 may begin is one that instructions lead to from its launch (r700-3.8): here they
//! are, written from the specification and executed by the golden model alone.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::campaign;
use reconverge::case::{Case, Kind};
use reconverge::design::{Build, Golden as _};
use reconverge::r700::R700;
use reconverge::r700::golden::{Frame, Golden};
use reconverge::r700::start::{Push, Start};
use reconverge::r700::state::{In, State};
use reconverge::start::Start as _;
use reconverge::stimulus::CaseStimulus;
use reconverge::unit::Executor as _;

// Opcodes of r700-2.5, and the ALU format's.
const LOOP_START: [u32; 4] = [0, 4, 7, 6];
const LOOP_END: u32 = 5;
const JUMP: u32 = 10;
const POP: u32 = 14;
const CALL: u32 = 18;
const KILL: u32 = 24;
const ALU: u32 = 8;
const ALU_PUSH_BEFORE: u32 = 9;
const ALU_CONTINUE: u32 = 13;
const ALU_BREAK: u32 = 14;
/// COND that no lane passes.
const FALSE: u32 = 1 << 8;

/// A wave on its way.
struct Wave {
    golden: Golden,
    all: u64,
    /// Instructions executed.
    steps: u64,
}

impl Wave {
    fn pins(&mut self, pins: In) {
        self.golden.cycle(&pins);
    }

    fn state(&self) -> &State {
        self.golden.state()
    }

    fn execute(&mut self, dw0: u32, dw1: u32, u: bool, pred: u64) {
        let before = *self.state();
        self.pins(In {
            dw0,
            dw1,
            u: u.into(),
            pred,
            inst_valid: 1,
            ..In::default()
        });
        self.steps += 1;
        let err = self.state().err;
        assert_eq!(err, 0, "{dw0:x} {dw1:08x} in {before:?}");
    }

    /// A word of the general format, with `fields` beside its opcode.
    fn cf(&mut self, op: u32, fields: u32, address: u32) {
        self.execute(address, op << 23 | fields, false, 0);
    }

    fn goto(&mut self, address: u32) {
        self.cf(JUMP, FALSE, address);
    }

    /// An ALU instruction at address 0, which switches off the ACTIVE lanes of `off`.
    fn alu(&mut self, op: u32, off: u64) {
        self.goto(0);
        self.execute(0, 1 << 29 | op << 26, off != 0, !off);
    }

    /// Gives the ACTIVE lanes of `mask` the class that they have in `classes`, as far as they can leave by themselves.
    fn leave(&mut self, mask: u64, classes: &[u8]) {
        let of = |wanted: u8| {
            let lanes = (0..).zip(classes).filter(|(_, class)| **class == wanted);
            lanes.fold(0, |mask: u64, (lane, _)| mask | 1 << lane)
        };
        for (class, op) in [(1, ALU), (2, ALU_CONTINUE), (3, ALU_BREAK)] {
            let off = mask & self.state().active & of(class);
            if off != 0 {
                self.alu(op, off);
            }
        }
    }
}

/// First index and passes that are over, of a loop in which aL is `al` by now.
fn began(al: i32, inc: i8) -> (i32, u16) {
    (0..=4095)
        .map(|over: u16| (al - i32::from(over) * i32::from(inc), over))
        .find(|(first, _)| (0..=4095).contains(first))
        .expect("an index that no loop begins with")
}

/// Leads a wave from the launch of `case` to `start`; `None` if the launch runs nothing.
fn lead(case: &Case<R700>, start: &Start) -> Option<(Wave, State)> {
    let regs = &case.program.regs;
    let build = case.build();
    let all = u64::MAX >> (64 - case.lanes);
    let golden = Golden::build(&build);
    let mut wave = Wave {
        golden,
        all,
        steps: 0,
    };
    wave.pins(In::reset());
    // A constant for each loop: the host writes them, before the launch.
    let mut loops = 0;
    for push in &start.pushes {
        if let Push::Loop { count, al, inc, .. } = push {
            let (first, over) = began(*al, *inc);
            let count = u32::from(count + if *count > 0 { over } else { 0 });
            assert!(count <= 4095 && loops < 32, "{start:?}");
            wave.pins(In {
                const_we: 1,
                const_addr: loops,
                const_wdata: u32::from(*inc as u8) << 24 | (first as u32) << 12 | count,
                ..In::default()
            });
            loops += 1;
        }
    }
    wave.pins(In {
        launch: 1,
        entry: 0,
        prog_len: regs.prog_len,
        stack_size: regs.stack_size,
        lane_mask: case.launch_mask,
        ..In::default()
    });
    let launched = *wave.state();
    if launched.running == 0 {
        return None;
    }
    if regs.prog_len == 1 {
        return Some((wave, launched));
    }
    if start.skipped {
        wave.cf(CALL, 63 << 13, 0);
    }
    let killed = case.launch_mask & !start.valid;
    if killed != 0 {
        // With a stack the others come back.
        let room = regs.stack_size > 0;
        let others = case.launch_mask & !killed;
        wave.alu(if room { ALU_PUSH_BEFORE } else { ALU }, others);
        wave.goto(0);
        wave.cf(KILL, 0, 0);
        if room {
            wave.goto(0);
            wave.cf(POP, 1, 0);
        }
    }
    let (mut number, mut depth) = (0, 0);
    for (n, push) in start.pushes.iter().enumerate() {
        // The classes that the lanes have when the next loop begins, or at last.
        let later = start.pushes[n..].iter().find_map(|push| match push {
            Push::Loop { lanes, .. } => Some(lanes),
            _ => None,
        });
        let classes = later.unwrap_or(&start.lanes);
        match push {
            Push::Branch(mask) => {
                wave.leave(!mask, classes);
                assert_eq!(wave.state().active, *mask, "push {n} of {start:?}");
                wave.alu(ALU_PUSH_BEFORE, 0);
            }
            Push::Loop {
                kind,
                count,
                al,
                inc,
                ..
            } => {
                wave.leave(wave.all, classes);
                wave.goto(0);
                wave.cf(LOOP_START[usize::from(*kind)], number << 3, 0);
                number += 1;
                let (_, over) = began(*al, *inc);
                for _ in 0..if *count > 0 { over } else { 0 } {
                    wave.goto(0);
                    wave.cf(LOOP_END, 0, 0);
                }
            }
            Push::Call { ret, depth: new } => {
                // Within it no lane can leave the loop around it.
                let mut before = classes.clone();
                for class in before.iter_mut().filter(|class| **class == 1) {
                    *class = 0;
                }
                if wave.state().bkind == 1 {
                    wave.leave(wave.all, &before);
                }
                assert_ne!(wave.state().active, 0, "push {n} of {start:?}");
                wave.goto(ret - 1);
                wave.cf(CALL, u32::from(new - depth) << 13, 0);
                depth = *new;
            }
        }
    }
    wave.leave(wave.all, &start.lanes);
    wave.goto(start.pc);
    Some((wave, launched))
}

/// What a load does not bring: what the last instruction did.
fn settled(state: &State) -> State {
    State {
        exec: 0,
        jump: 0,
        ..*state
    }
}

fn build(lanes: u32, parameters: &[(&str, u32)]) -> Build {
    let named = |(name, value): &(&str, u32)| ((*name).to_owned(), *value);
    Build {
        lanes,
        parameters: parameters.iter().map(named).collect(),
    }
}

/// Holds the states of some seeded cases of each build against what instructions lead to.
#[test]
fn every_state_that_r700_begins_in_is_one_that_instructions_lead_to() {
    let builds = [
        build(64, &[]),
        build(4, &[]),
        build(1, &[]),
        build(
            33,
            &[("SUBENTRIES", 8), ("DX10_COUNT", 1), ("MAX_STACK_SIZE", 5)],
        ),
        build(16, &[("MAX_STACK_SIZE", 1)]),
        build(2, &[("MAX_STACK_SIZE", 2), ("DX10_COUNT", 1)]),
    ];
    let (mut reached, mut steps, mut frames) = (0, 0, [0; 3]);
    for build in &builds {
        let cases = (0..).map(|n| campaign::case::<R700>(2, n, build));
        let seeded = cases.filter(|(kind, _)| *kind == Kind::Seeded);
        for (_, case) in seeded.take(60) {
            for start in &case.start {
                start.check(&case).unwrap();
                let Some((wave, launched)) = lead(&case, start) else {
                    continue;
                };
                let states = start.states(build, &launched);
                let mut loaded = Golden::build(build);
                states.iter().for_each(|state| loaded.load(state));
                let wanted = settled(states.last().unwrap());
                assert_eq!(settled(wave.state()), wanted, "{start:?}");
                assert!(wave.golden.frames().eq(loaded.frames()), "{start:?}");
                for push in &start.pushes {
                    frames[match push {
                        Push::Branch(_) => 0,
                        Push::Loop { .. } => 1,
                        Push::Call { .. } => 2,
                    }] += 1;
                }
                reached += 1;
                steps += wave.steps;
            }
        }
    }
    println!("{reached} states in {steps} instructions, {frames:?} branch, loop and call frames");
    assert!(
        reached > 2000 && frames.iter().all(|n| *n > 2000),
        "{reached} {frames:?}"
    );
}

/// What `check` takes is reached too, when it is not as it was drawn: classes, masks and counts changed at random.
#[test]
fn every_state_that_a_case_of_r700_may_have_is_one_that_instructions_lead_to() {
    let mut rng = Pcg64Mcg::seed_from_u64(9);
    let (mut taken, mut refused) = (0, 0);
    let build = build(
        4,
        &[("SUBENTRIES", 8), ("DX10_COUNT", 1), ("MAX_STACK_SIZE", 3)],
    );
    let cases = (0..).map(|n| campaign::case::<R700>(3, n, &build));
    let seeded = cases.filter(|(kind, _)| *kind == Kind::Seeded);
    for (_, case) in seeded.take(200) {
        for drawn in &case.start {
            for _ in 0..8 {
                let mut start = drawn.clone();
                for _ in 0..rng.random_range(1..4) {
                    change(&mut start, &mut rng);
                }
                if start.check(&case).is_err() {
                    refused += 1;
                    continue;
                }
                let Some((wave, launched)) = lead(&case, &start) else {
                    continue;
                };
                let last = *start.states(&build, &launched).last().unwrap();
                assert_eq!(settled(wave.state()), settled(&last), "{start:?}");
                taken += 1;
            }
        }
    }
    println!("{taken} taken, {refused} refused");
    assert!(taken > 2000 && refused > 2000, "{taken} {refused}");
}

/// Changes one thing.
fn change(start: &mut Start, rng: &mut impl Rng) {
    let lane = rng.random_range(0..start.lanes.len());
    let class = rng.random_range(0..4);
    let count = start.pushes.len();
    match rng.random_range(0..8) {
        0 => start.lanes[lane] = class,
        1 => start.valid ^= 1 << lane,
        2 => start.skipped ^= true,
        3 => start.pc = rng.random_range(0..start.pc + 3),
        4 if count > 0 => {
            start.pushes.remove(rng.random_range(0..count));
        }
        _ if count > 0 => match &mut start.pushes[rng.random_range(0..count)] {
            Push::Branch(mask) => *mask ^= 1 << lane,
            Push::Loop {
                lanes,
                kind,
                count,
                al,
                ..
            } => match rng.random_range(0..4) {
                0 => lanes[lane] = class,
                1 => *al += rng.random_range(-200..200),
                2 => *count = rng.random_range(0..=4095),
                _ => *kind = rng.random_range(1..=3),
            },
            Push::Call { ret, depth } => match rng.random() {
                true => *ret = rng.random_range(0..*ret + 2),
                false => *depth = rng.random_range(0..34),
            },
        },
        _ => {}
    }
}

/// The state of a wave as a case that begins in it would have it.
fn seen(golden: &Golden, lanes: u32) -> Start {
    let state = golden.state();
    let frames: Vec<Frame> = golden.frames().collect();
    // From the top down: a frame saves what was around it.
    let (mut kind, mut count) = (state.lt, state.lc);
    let (mut al, mut inc, mut depth) = (state.al, state.inc, state.depth);
    let classes = |st: [u64; 2]| {
        let class = |lane: u32| (st[0] >> lane & 1) as u8 | ((st[1] >> lane & 1) as u8) << 1;
        (0..lanes).map(class).collect()
    };
    let push = |frame: &Frame| match frame {
        Frame::Branch(mask) => Push::Branch(*mask),
        Frame::Loop(around) => {
            let own = kind == 1;
            let push = Push::Loop {
                lanes: classes(around.st),
                kind,
                count,
                al: if own { al as i32 } else { 0 },
                inc: if own { inc as i8 } else { 0 },
            };
            (kind, count, al, inc) = (around.lt, around.lc, around.al, around.inc);
            push
        }
        Frame::Call(from) => {
            let push = Push::Call {
                ret: from.ret,
                depth,
            };
            depth = from.depth;
            push
        }
    };
    let mut pushes: Vec<Push> = frames.iter().rev().map(push).collect();
    pushes.reverse();
    Start {
        pc: state.pc,
        lanes: classes(state.st),
        valid: state.valid,
        skipped: state.skipped == 1,
        pushes,
    }
}

/// The rules are complete: in every state that a program reaches, a case may begin.
#[test]
fn every_state_that_a_program_of_r700_comes_to_is_one_that_a_case_may_begin_in() {
    let builds = [
        build(64, &[]),
        build(
            3,
            &[("SUBENTRIES", 8), ("DX10_COUNT", 1), ("MAX_STACK_SIZE", 5)],
        ),
    ];
    let (mut states, mut deepest) = (0, 0);
    for build in &builds {
        for n in 0..400 {
            let (_, mut case) = campaign::case::<R700>(4, n, build);
            if case.program.regs.prog_len < 2 {
                continue;
            }
            case.start.clear();
            (case.noise_cycles, case.stall16, case.max_steps) = (None, 0, 300);
            let mut golden = case.golden();
            let mut stimulus = CaseStimulus::new(&case);
            for _ in 0..400 {
                let Some(pins) = stimulus.next(golden.state()) else {
                    break;
                };
                golden.cycle(&pins);
                stimulus.done(&pins, golden.step(), golden.state());
                if golden.state().running == 1 {
                    let start = seen(&golden, case.lanes);
                    let checked = start.check(&case);
                    assert_eq!(checked, Ok(()), "{start:?}");
                    states += 1;
                    deepest = deepest.max(start.pushes.len());
                }
            }
        }
    }
    println!("{states} states, {deepest} frames at most");
    assert!(states > 20_000 && deepest > 60, "{states} {deepest}");
}
