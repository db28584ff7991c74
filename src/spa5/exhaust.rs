//! The small worlds of the unit: their words, operands and conditions ([`reconverge_campaign::exhaust`]), and the invariants of
//! spa5-3.

use super::Spa5;
use super::golden::{Golden, Token};
use super::isa::{BlockOp, Cond, LeaveOp, SetUpOp, Word};
use super::start::vis_after;
use super::state::values::status::{DONE, RUN, UNWIND};
use super::state::values::token::{DIV, PBK, PCNT, RET, SSY};
use super::state::{In, State};
use reconverge_campaign::exhaust::{Bound, Small, World, subsets};

/// The base of the program: not 0, so that it matters.
const BASE: u32 = 0x40;
/// Bytes of a bundle.
const BUNDLE: u32 = 32;
/// Predicate PT and CC test T: always true.
const ALWAYS: u64 = 0x7000f;
/// EXIT without its condition.
const EXIT: u64 = leaving(LeaveOp::Exit);
/// CC tests that are one flag or its complement: number, index of the flag in Z, S, C, O, whether it is the complement.
const FLAGS: [(u64, usize, bool); 7] = [
    (0x0a, 0, false),
    (0x15, 1, false),
    (0x16, 2, false),
    (0x17, 3, false),
    (0x12, 1, true),
    (0x11, 2, true),
    (0x10, 3, true),
];
/// Ways to make a condition true for some threads: a predicate or its complement, a flag.
const WAYS: usize = 14 + FLAGS.len();

/// The small worlds of the unit that `exhaust` explores.
pub(super) const SMALL: Small<Spa5> = Small {
    lanes: 2,
    parameters: &[("DEPTH", 2)],
    bounds: &[Bound::new("bundles", 1, 1..=8, "bundles of the program")],
    world: |build, limits| {
        Box::new(Warp {
            all: u64::MAX >> (64 - build.lanes),
            lanes: build.lanes as usize,
            brx: build.value::<Spa5>("BRX") == 1,
            csm: build.value::<Spa5>("CSM") == 1,
            size: limits.first().map_or(1, |bundles| *bundles) * BUNDLE,
        })
    },
};

/// One warp.
struct Warp {
    all: u64,
    lanes: usize,
    brx: bool,
    csm: bool,
    size: u32,
}

/// Returns a leaving instruction without its condition.
const fn leaving(op: LeaveOp) -> u64 {
    Word::leave(op, Cond::ALWAYS).encode() ^ ALWAYS
}

/// Returns a cycle with instruction `word`.
fn step(word: u64) -> In {
    In {
        word,
        inst_valid: 1,
        ..In::default()
    }
}

/// Returns `word` with target `to` as `off24`, for the instruction at `pc`.
fn relative(word: u64, pc: u32, to: u32) -> u64 {
    word | u64::from(to.wrapping_sub(pc + 8) & 0xff_ffff) << 20
}

/// Returns `word` with a condition that is true for `taken` of the `active` threads, and for all others, which must not be
/// consulted. All bits that the condition does not use say the opposite. `way`: the predicate or flag that it uses.
fn with_condition(word: u64, taken: u64, active: u64, way: usize) -> In {
    let holds = taken | !active;
    let way = way % WAYS;
    let mut pins = step(word);
    (pins.p, pins.cc) = ([!holds; 7], [!holds; 4]);
    match way {
        0..14 => {
            let (number, inverted) = (way % 7, way >= 7);
            let bit = |value: u64| if inverted { !value } else { value };
            pins.p = [bit(!holds); 7];
            pins.p[number] = bit(holds);
            pins.word |= (number as u64 | u64::from(inverted) << 3) << 16 | 0xf;
        }
        _ => {
            let (test, flag, inverted) = FLAGS[way - 14];
            let bit = |value: u64| if inverted { !value } else { value };
            pins.cc = [bit(!holds); 4];
            pins.cc[flag] = bit(holds);
            pins.word |= 7 << 16 | test;
        }
    }
    pins
}

impl Warp {
    fn end(&self) -> u32 {
        BASE + self.size
    }

    /// Returns targets: each slot of the program, its first control word; one below it, one behind it, one that is not a multiple of 8.
    fn targets(&self) -> Vec<u32> {
        let slots = (BASE..self.end()).step_by(8);
        let mut targets: Vec<u32> = slots.filter(|a| !a.is_multiple_of(BUNDLE)).collect();
        targets.extend([BASE, BASE - 8, self.end(), BASE + 12]);
        targets
    }

    /// Generates BRA, JMP: `word` gives the word for a target.
    fn branches(
        &self,
        state: &State,
        way: &mut usize,
        word: impl Fn(u32) -> u64,
        each: &mut dyn FnMut(In),
    ) {
        let active = state.active;
        for taken in subsets(active) {
            let targets = match taken {
                // The target is not used, so it may be one that would be an error.
                0 => vec![self.end()],
                _ => self.targets(),
            };
            for to in targets {
                *way += 1;
                each(with_condition(word(to), taken, active, *way));
            }
            // .U, and .LMT, which has no effect.
            *way += 1;
            each(with_condition(word(BASE + 16) | 0xc0, taken, active, *way));
        }
    }

    /// Generates BRX, JMX: each active thread has a register that leads to one of a few places.
    fn indirect(&self, state: &State, way: &mut usize, each: &mut dyn FnMut(In)) {
        let places = [BASE + 8, BASE + 16, self.end()];
        let threads: Vec<usize> = (0..self.lanes)
            .filter(|t| state.active >> t & 1 == 1)
            .collect();
        for taken in subsets(state.active) {
            for choice in 0..places.len().pow(threads.len() as u32) {
                for absolute in [false, true] {
                    *way += 1;
                    // An offset of 8 is added to the register; BRX counts from pc + 8.
                    let (opcode, base) = match absolute {
                        true => (0xe20_u64, 8),
                        false => (0xe25, state.pc + 16),
                    };
                    let word = opcode << 52 | 8 << 20;
                    let mut pins = with_condition(word, taken, state.active, *way);
                    pins.r = [BASE.wrapping_sub(base); 64];
                    let mut rest = choice;
                    for thread in &threads {
                        pins.r[*thread] = places[rest % places.len()].wrapping_sub(base);
                        rest /= places.len();
                    }
                    each(pins);
                }
            }
        }
    }

    /// Generates every CC test with every condition code, in every thread, for a BRA to the first slot.
    fn tests(&self, state: &State, each: &mut dyn FnMut(In)) {
        let word = relative(0xe24 << 52, state.pc, BASE + 8) | 7 << 16;
        for test in 0..24 {
            for code in 0..16 {
                let mut pins = step(word | test);
                for thread in 0..self.lanes {
                    for (bit, plane) in pins.cc.iter_mut().enumerate() {
                        *plane |= ((code + 5 * thread) >> bit & 1) as u64 * (1 << thread);
                    }
                }
                each(pins);
            }
        }
    }

    /// Generates the CC tests of the clip state machine, which are errors in a unit without it.
    fn clip_tests(&self, state: &State, each: &mut dyn FnMut(In)) {
        for number in 0..8 {
            let every: &[LeaveOp] = match number {
                0 => LeaveOp::ALL,
                _ => &[LeaveOp::Exit],
            };
            for word in every.iter().map(|op| leaving(*op)) {
                for taken in subsets(state.active) {
                    let mut pins = step(word | 7 << 16 | (24 + number));
                    for (thread, csm) in pins.csm.iter_mut().enumerate() {
                        // The other tests say the opposite.
                        let holds = (taken | !state.active) >> thread & 1 == 1;
                        *csm = if holds { 1 << number } else { !(1 << number) };
                    }
                    each(pins);
                    if !self.csm {
                        break;
                    }
                }
            }
        }
    }
}

impl World<Spa5> for Warp {
    fn launches(&self) -> Vec<In> {
        let mut all = Vec::new();
        for launch_mask in subsets(self.all) {
            for entry in [0, 16, self.size] {
                all.push(In {
                    launch: 1,
                    launch_mask,
                    entry,
                    prog_base: BASE,
                    prog_size: self.size,
                    ..In::default()
                });
            }
        }
        // The first launch starts all threads.
        let runs = all.iter().position(|pins| pins.launch_mask == self.all);
        all.swap(0, runs.unwrap_or(0));
        all
    }

    fn steps(&self, state: &State, each: &mut dyn FnMut(In)) {
        if state.status == UNWIND {
            // The instruction is not used.
            return each(step(EXIT | ALWAYS));
        }
        let pc = state.pc;
        // NOP. Outside the program no word is used.
        each(step(0x50b0_0000_0007_0f00));
        if !(BASE..self.end()).contains(&pc) {
            return each(step(EXIT | ALWAYS));
        }
        // Start with another condition for each instruction and in each state.
        let mut way = state.sp as usize * 5 + pc as usize / 8 + state.active as usize * 3;
        // JCAL has an absolute target.
        for op in SetUpOp::ALL.iter().filter(|op| **op != SetUpOp::Jcal) {
            let opcode = u64::from(op.bits());
            for to in self.targets() {
                each(step(relative(opcode << 52, pc, to)));
            }
            // PRET and CAL with and without .NOINC, and fields that the instructions do not have.
            each(step(relative(opcode << 52 | 0xf005f, pc, BASE + 16)));
            // From a constant bank; bits above the offset are ignored.
            let mut bank = step(opcode << 52 | 1 << 5 | 3 << 36);
            bank.constant = (BASE + 8).wrapping_sub(pc + 8) & 0xff_ffff | 0xa5 << 24;
            each(bank);
        }
        let absolute = |opcode: u64, to: u32| opcode << 52 | u64::from(to) << 20;
        for to in self.targets() {
            each(step(absolute(0xe22, to)));
        }
        self.branches(state, &mut way, |to| relative(0xe24 << 52, pc, to), each);
        self.branches(state, &mut way, |to| absolute(0xe21, to), each);
        for word in LeaveOp::ALL.iter().map(|op| leaving(*op)) {
            for taken in subsets(state.active) {
                way += 1;
                each(with_condition(word, taken, state.active, way));
            }
        }
        match self.brx {
            true => self.indirect(state, &mut way, each),
            false => {
                each(step(0xe20 << 52 | ALWAYS));
                each(step(0xe25 << 52 | ALWAYS));
            }
        }
        // Opcodes that end in an error in every build; JMX, JMP and JCAL have their own form of it below.
        let named = BlockOp::ALL[3..].iter().map(|op| op.bits().into());
        for opcode in named.chain(0xe3b..=0xe3f_u64) {
            each(step(opcode << 52 | ALWAYS));
        }
        // These have no such form.
        for opcode in [0xe20_u64, 0xe21, 0xe22, 0xe25] {
            each(step(absolute(opcode, BASE + 8) | ALWAYS | 1 << 5));
        }
        self.clip_tests(state, each);
        if state.sp == 0 && state.active == self.all && pc == BASE + 8 {
            self.tests(state, each);
        }
    }

    fn loads(&self, golden: &Golden) -> Vec<State> {
        let tokens = golden.tokens().iter().zip(1..);
        let mut loads: Vec<State> = tokens
            .map(|(token, sp)| State {
                sp,
                top_type: token.kind,
                top_vis: token.vis_saved,
                top_addr: token.addr,
                top_mask: token.mask,
                ..State::default()
            })
            .collect();
        // The top token is in the state itself.
        loads.pop();
        loads.push(*golden.state());
        loads
    }

    fn broken(&self, golden: &Golden) -> Option<&'static str> {
        broken(golden.state(), golden.tokens(), self.all)
    }

    fn reveal(&self, golden: &Golden) -> Option<In> {
        let state = golden.state();
        match state.status {
            _ if state.sp < 2 => None,
            UNWIND => Some(In::default()),
            RUN if golden.in_program(state.pc) => Some(step(EXIT | ALWAYS)),
            // The warp has stopped, or is about to stop.
            _ => None,
        }
    }
}

/// Returns the rule of an invariant of spa5-3 that `s` and its tokens (the oldest first) violate; `all`: the threads.
fn broken(s: &State, tokens: &[Token], all: u64) -> Option<&'static str> {
    let dis = s.d_brk | s.d_cont | s.d_ret | s.exited;
    let flags = [s.d_brk, s.d_cont, s.d_ret, s.exited, s.active];
    let is = |kind: u8| move |t: &&Token| t.kind == kind;
    let masks = |kind: u8| {
        tokens
            .iter()
            .filter(is(kind))
            .fold(0, |all, t| all | t.mask)
    };
    // Returns the index of the topmost token of these kinds that has `thread`.
    let topmost = |thread: u64, kinds: &[u8]| {
        let has = |t: &Token| t.mask & thread != 0 && kinds.contains(&t.kind);
        tokens.iter().rposition(has)
    };
    let threads = || (0..64).map(|t| 1_u64 << t).filter(|t| t & all != 0);
    let pairs =
        || (0..tokens.len()).flat_map(|low| (low + 1..tokens.len()).map(move |high| (low, high)));

    if s.status == RUN && s.active == 0 || s.status == UNWIND && s.active != 0 {
        return Some("spa5-I1");
    }
    for (n, a) in flags.iter().enumerate() {
        if flags[n + 1..].iter().any(|b| a & b != 0) {
            return Some("spa5-I2");
        }
    }
    if tokens
        .iter()
        .any(|t| t.kind != DIV && s.active & !t.mask != 0)
    {
        return Some("spa5-I3");
    }
    for (n, t) in tokens.iter().enumerate().filter(|(_, t)| t.kind == DIV) {
        let others = tokens[n + 1..].iter().filter(is(DIV));
        let shared = others.fold(0, |all, other| all | other.mask & t.mask);
        if t.mask == 0 || shared != 0 || t.mask & (s.active | dis) != 0 {
            return Some("spa5-I4");
        }
    }
    if pairs()
        .any(|(low, high)| tokens[low].kind == DIV && tokens[low].mask & tokens[high].mask != 0)
    {
        return Some("spa5-I4b");
    }
    if pairs()
        .any(|(low, high)| tokens[low].kind != DIV && tokens[high].mask & !tokens[low].mask != 0)
    {
        return Some("spa5-I5");
    }
    if s.d_brk & !masks(PBK) | s.d_cont & !masks(PCNT) | s.d_ret & !masks(RET) != 0 {
        return Some("spa5-I6");
    }
    for (flag, kind) in [(s.d_brk, PBK), (s.d_cont, PCNT)] {
        let crossed = |t: &u64| topmost(*t, &[RET]) > topmost(*t, &[kind]);
        if threads().filter(|t| flag & t != 0).any(|t| crossed(&t)) {
            return Some("spa5-I6b");
        }
    }
    // spa5-I7 and spa5-I7b imply these, so they are checked after them.
    // In UNWIND no thread is active: the step ends in DONE.
    if tokens.is_empty() && s.active != all & !s.exited {
        return Some("spa5-I8");
    }
    if let (UNWIND, Some(top)) = (s.status, tokens.last()) {
        let left = match top.kind {
            PBK => Some((s.d_brk, s.d_cont | s.d_ret)),
            PCNT => Some((s.d_cont, s.d_brk | s.d_ret)),
            RET => Some((s.d_ret, s.d_brk | s.d_cont)),
            _ => None,
        };
        if left.is_some_and(|(own, others)| top.mask & !(others | s.exited) != top.mask & own) {
            return Some("spa5-I9");
        }
    }
    let waiting = all & !s.active & !dis & !masks(DIV);
    if waiting & !masks(SSY) != 0 {
        return Some("spa5-I7");
    }
    let waits_elsewhere = |t: u64| topmost(t, &[SSY]) != topmost(t, &[SSY, PBK, PCNT, RET, DIV]);
    if threads().filter(|t| waiting & t != 0).any(waits_elsewhere) {
        return Some("spa5-I7b");
    }
    let mut vis = 0;
    for token in tokens {
        if token.vis_saved != vis {
            return Some("spa5-I10");
        }
        vis = vis_after(token.kind, vis);
    }
    if s.vis != vis {
        return Some("spa5-I10");
    }
    if s.status == DONE
        && (s.exited != all || s.d_brk | s.d_cont | s.d_ret != 0 || !tokens.is_empty())
    {
        return Some("spa5-I11");
    }
    (s.killed & !s.exited != 0).then_some("spa5-I12")
}

#[cfg(test)]
mod tests {
    use super::*;
    use reconverge_bench::design::Build;
    use reconverge_bench::design::Golden as _;
    use reconverge_campaign::exhaust::Space;
    use reconverge_program::program::Programs;

    fn token(kind: u8, vis_saved: u8, mask: u64) -> Token {
        Token {
            kind,
            vis_saved,
            addr: BASE + 8,
            mask,
        }
    }

    #[test]
    fn each_invariant_can_be_broken() {
        let two = |state: State, tokens: &[Token]| broken(&state, tokens, 0b11);
        let run = State {
            active: 0b11,
            ..State::default()
        };
        assert_eq!(two(run, &[]), None);
        let ssy = token(SSY, 0, 0b11);
        let pbk = token(PBK, 0, 0b11);
        let half = State { active: 1, ..run };
        let vis = |vis: u8, state: State| State { vis, ..state };
        assert_eq!(two(vis(1, half), &[ssy]), None);
        assert_eq!(two(vis(2, State { d_brk: 2, ..half }), &[pbk]), None);
        let unwind = State {
            status: UNWIND,
            active: 0,
            ..run
        };
        type Edit = fn(&mut State);
        let rows: [(&str, State, Edit, &[Token]); 21] = [
            ("spa5-I1", run, |s| (s.active, s.exited) = (0, 3), &[]),
            ("spa5-I1", unwind, |s| (s.active, s.exited) = (1, 2), &[]),
            ("spa5-I2", run, |s| s.exited = 2, &[]),
            ("spa5-I2", half, |s| (s.d_brk, s.d_ret) = (2, 2), &[]),
            ("spa5-I3", run, |s| s.vis = 1, &[token(SSY, 0, 1)]),
            ("spa5-I4", half, |_| (), &[token(DIV, 0, 0)]),
            ("spa5-I4", run, |_| (), &[token(DIV, 0, 2)]),
            ("spa5-I4", unwind, |_| (), &[token(DIV, 0, 2); 2]),
            (
                "spa5-I4b",
                unwind,
                |s| s.vis = 1,
                &[token(DIV, 0, 2), token(SSY, 0, 2)],
            ),
            (
                "spa5-I5",
                half,
                |s| (s.vis, s.exited) = (1, 2),
                &[token(SSY, 0, 1), token(SSY, 1, 3)],
            ),
            ("spa5-I6", half, |s| s.d_brk = 2, &[]),
            ("spa5-I6", half, |s| (s.vis, s.d_cont) = (2, 2), &[pbk]),
            (
                "spa5-I6b",
                half,
                |s| (s.vis, s.d_brk) = (8, 2),
                &[pbk, token(RET, 2, 3)],
            ),
            ("spa5-I7", half, |s| s.vis = 2, &[pbk]),
            ("spa5-I7b", half, |s| s.vis = 2, &[ssy, token(PBK, 1, 3)]),
            ("spa5-I8", unwind, |_| (), &[]),
            (
                "spa5-I9",
                unwind,
                |s| (s.vis, s.d_brk) = (2, 1),
                &[ssy, token(PBK, 1, 3)],
            ),
            ("spa5-I10", run, |s| s.vis = 1, &[]),
            ("spa5-I10", run, |s| s.vis = 1, &[token(SSY, 1, 3)]),
            ("spa5-I11", run, |s| s.status = DONE, &[]),
            ("spa5-I12", run, |s| s.killed = 1, &[]),
        ];
        for (rule, mut state, edit, tokens) in rows {
            edit(&mut state);
            let found = two(state, tokens);
            assert_eq!(found, Some(rule), "{state:?} {tokens:?}");
        }
    }

    /// Finds the result of a condition with the golden model: one EXIT, for each way and each of its outcomes.
    #[test]
    fn every_way_takes_the_threads_that_it_is_to_take() {
        let build = Build {
            lanes: 3,
            parameters: [("DEPTH".to_owned(), 2)].into(),
        };
        let world = (SMALL.world)(&build, &[1]);
        for way in 0..WAYS {
            for taken in subsets(0b111) {
                let mut golden = Golden::build(&build);
                golden.cycle(&world.launches()[0]);
                golden.cycle(&with_condition(EXIT, taken, 0b111, way));
                assert_eq!(golden.state().exited, taken, "way {way}");
            }
        }
    }

    /// Everything that a golden model holds is restored, including tokens below the top.
    #[test]
    fn every_state_is_loaded_whole() {
        let build = Build {
            lanes: 1,
            parameters: [("DEPTH".to_owned(), 2)].into(),
        };
        let world = (SMALL.world)(&build, &[1]);
        let mut space = Space::<Spa5>::new(&*world, &build, 100_000);
        while space.done() < space.found() {
            assert!(space.expand().is_ok());
        }
        assert_eq!(space.broken(), None);
        let mut depths = [0; 3];
        for number in 0..space.found() {
            let loads = space.loads(number);
            let mut golden = Golden::build(&build);
            golden.cycle(&world.launches()[0]);
            loads.iter().for_each(|state| golden.load(state));
            assert_eq!(world.loads(&golden), loads);
            let shown = loads[loads.len() - 1];
            assert_eq!(golden.state(), &shown);
            // The walk to the state gives the same state.
            let mut walked = Golden::build(&build);
            let path = space.path(number, true);
            for pins in reconverge_campaign::exhaust::head(&*world)
                .iter()
                .chain(&path)
            {
                walked.cycle(pins);
            }
            assert_eq!(Spa5::stack(&walked), Spa5::stack(&golden));
            assert_eq!(walked.state(), &shown);
            depths[usize::from(shown.sp)] += 1;
        }
        assert!(depths.iter().all(|n| *n > 0), "{depths:?}");
    }
}
