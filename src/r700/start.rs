//! The state in which a case begins (r700-3).

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::R700;
use super::state::State;
use super::state::values::class::{ACTIVE, BRANCH, BRK, CONT};
use super::state::values::{frame, loop_};
use reconverge_bench::design::Build;
use reconverge_bench::json::hex;
use reconverge_program::case::Case;
use reconverge_program::generate::within;
use reconverge_program::instructions::Edits;
use reconverge_program::start::{self, bits_of_lanes, corner};

/// Maximum of nested calls (r700-3.2).
const MAX_CALLS: u8 = 32;
/// Maximum of passes of a loop, and of the index with which one begins (r700-2.6).
const MAX_PASSES: u16 = 4095;

/// A pushed frame, and the present values of its registers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Push {
    /// The lanes that were ACTIVE.
    Branch(#[serde(with = "hex")] u64),
    /// A loop, which saves the classes that the lanes had before it.
    Loop {
        /// Class of each lane.
        lanes: Vec<u8>,
        /// `lt` in the loop: 1 LOOP_START, 2 LOOP_START_NO_AL, 3 LOOP_START_DX10.
        kind: u8,
        /// Present `lc`; 0 in a DX10 loop, unless the unit counts its passes.
        count: u16,
        /// Present aL of a LOOP_START; for other loops that of the loop around it, and 0 here.
        al: i32,
        /// Its step, in the same way.
        inc: i8,
    },
    /// A call.
    Call {
        /// The return address.
        ret: u32,
        /// `depth` in the call.
        depth: u8,
    },
}

/// Lanes, stack, PC. `sp`, `base`, `nb` and the contents of the frames follow from the pushes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// PC.
    pub pc: u32,
    /// Class of each lane.
    pub lanes: Vec<u8>,
    /// Lanes not killed.
    #[serde(with = "hex")]
    pub valid: u64,
    /// A CALL was skipped.
    pub skipped: bool,
    /// The frames, bottom first.
    pub pushes: Vec<Push>,
}

/// Returns the sub-entries of a frame (r700-3.4).
fn size(push: &Push, build: &Build) -> u32 {
    match push {
        Push::Loop { .. } => build.value::<R700>("SUBENTRIES"),
        Push::Branch(_) | Push::Call { .. } => 1,
    }
}

fn planes(classes: &[u8]) -> [u64; 2] {
    [0, 1].map(|bit| {
        (0..).zip(classes).fold(0, |plane, (i, class)| {
            plane | u64::from(class >> bit & 1) << i
        })
    })
}

/// Returns the sub-entries that there is room for (r700-3.4).
fn room(case: &Case<R700>) -> u32 {
    let build = case.build();
    let most = build.value::<R700>("MAX_STACK_SIZE");
    build.value::<R700>("SUBENTRIES") * u32::from(case.program.regs.stack_size).min(most)
}

/// Returns whether a loop of this kind counts its passes (r700-4.3-z).
fn counts(kind: u8, build: &Build) -> bool {
    kind != loop_::DX10 || build.value::<R700>("DX10_COUNT") == 1
}

/// The classes that the frames allow (r700-3.8), for the lanes of a loop or for all outside loops: the lanes that can be
/// ACTIVE, and those that a call keeps in their class.
#[derive(Clone, Copy)]
struct Open {
    /// Lanes that were ACTIVE when the loop began; without a loop, those that were launched.
    part: u64,
    /// Lanes that were ACTIVE when the last frame was pushed, or `part`.
    active: u64,
    /// Lanes that were ACTIVE at the first CALL since the loop began; `None` without a CALL.
    called: Option<u64>,
    /// Lanes in masks that were pushed in such a call.
    held: u64,
}

impl Open {
    /// Returns the state at the beginning of a loop, or at a launch, with these lanes ACTIVE.
    fn begin(part: u64) -> Self {
        Open {
            part,
            active: part,
            called: None,
            held: 0,
        }
    }

    /// Applies the push of a branch frame with this mask.
    fn push(&mut self, mask: u64) {
        self.active = mask;
        self.held |= if self.called.is_some() { mask } else { 0 };
    }

    /// Applies a CALL, which some of the lanes that can be ACTIVE execute.
    fn call(&mut self) {
        self.called = Some(self.active);
    }

    /// Returns why the lanes cannot have the classes in `planes`, in a loop or not; `None` if they can.
    fn refuses(&self, planes: [u64; 2], all: u64, in_loop: bool) -> Option<&'static str> {
        let active = all & !(planes[0] | planes[1]);
        let (out, broken) = (planes[1], planes[0] & planes[1]);
        if active & !self.active != 0 {
            return Some("a lane is ACTIVE that was not in the mask or loop around it");
        }
        if !in_loop && out != 0 {
            return Some("a lane has a class that only a loop has");
        }
        if in_loop && all & !(self.part | broken) != 0 {
            return Some("a lane that the loop does not have is not BRK");
        }
        if out & self.held != 0 {
            return Some("a lane was ACTIVE in a call, and has left the loop around it");
        }
        if self.called.is_some_and(|called| called & !out == 0) {
            return Some("no lane can have been ACTIVE at a CALL");
        }
        None
    }

    /// Returns allowed classes: of few kinds; mostly about one in four of the lanes that can be ACTIVE.
    fn classes(&self, rng: &mut impl Rng, lanes: u32, in_loop: bool) -> Vec<u8> {
        let last = if in_loop { BRK } else { BRANCH };
        let sorts: [u8; 3] = std::array::from_fn(|_| rng.random_range(0..=last));
        let actives = within(rng, 0..4);
        // One lane that was present at the CALL.
        let kept = self.called.map(|called| some_lane(rng, called));
        let mut class = |lane: u32| {
            let has = |mask: u64| mask >> lane & 1 == 1;
            if !has(self.part) {
                return if in_loop { BRK } else { BRANCH };
            }
            let class = match within(rng, 0..4) {
                n if n < actives => ACTIVE,
                _ => sorts[within(rng, 0..3)],
            };
            let stays = has(self.held) || kept == Some(lane);
            match class {
                ACTIVE if !has(self.active) => BRANCH,
                CONT | BRK if stays => BRANCH,
                class => class,
            }
        };
        (0..lanes).map(&mut class).collect()
    }
}

/// Returns the number of one of the lanes of `mask`; 0 if it has none.
fn some_lane(rng: &mut impl Rng, mask: u64) -> u32 {
    let (mut left, skipped) = (mask, within(rng, 0..mask.count_ones().max(1)));
    for _ in 0..skipped {
        left &= left - 1;
    }
    left.trailing_zeros() % 64
}

/// Returns whether a LOOP_START reaches this index with this step and so many passes left (r700-4.3-w): it begins at
/// 0..=4095, and each finished pass has moved it.
fn index_is_reached(al: i32, inc: i8, left: u16) -> bool {
    let (al, inc, over) = (i64::from(al), i64::from(inc), i64::from(MAX_PASSES - left));
    let moved = inc * over;
    (moved.min(0)..=i64::from(MAX_PASSES) + moved.max(0)).contains(&al)
}

impl Start {
    /// Returns a random state for `case`, as [`start::Start::random`] requires.
    fn draw(case: &Case<R700>, rng: &mut impl Rng) -> Self {
        let regs = &case.program.regs;
        let build = case.build();
        let room = room(case);
        let launched = case.launch_mask;
        let end = regs.prog_len.min(case.program.quads.len() as u32).max(1);
        let mut start = Start {
            pc: within(rng, 0..end),
            lanes: Vec::new(),
            valid: launched,
            skipped: launched != 0 && rng.random_ratio(1, 16),
            pushes: Vec::new(),
        };
        // With one instruction in range, there is hardly any path.
        let target = if end > 1 { corner(rng, room) } else { 0 };
        let weights: [u32; 3] = std::array::from_fn(|_| within(rng, 0..4));
        let mut open = Open::begin(launched);
        let (mut sp, mut branches, mut in_loop, mut depth) = (0, 0, false, 0u8);
        while sp < target {
            // Loops and calls need an ACTIVE lane.
            let with = |weight| if open.active == 0 { 0 } else { weight };
            let weights = [weights[0], with(weights[1]), with(weights[2])];
            let total = weights.iter().sum::<u32>();
            if total == 0 {
                break;
            }
            let mut left = within(rng, 0..total);
            let kind = weights.iter().position(|w| {
                let here = left < *w;
                left = left.saturating_sub(*w);
                here
            });
            let mut after = open;
            let push = match kind {
                Some(0) => {
                    let some = open.active & (rng.random::<u64>() | rng.random::<u64>());
                    let one = match open.active {
                        0 => 0,
                        mask => 1 << some_lane(rng, mask),
                    };
                    let mask = [open.active, open.active, some, one, 0];
                    let mask = mask[within(rng, 0..mask.len())];
                    after.push(mask);
                    Push::Branch(mask)
                }
                Some(1) => {
                    let kind = rng.random_range(loop_::AL..=loop_::DX10);
                    let mut lanes = open.classes(rng, case.lanes, in_loop);
                    // At least one lane continues.
                    lanes[some_lane(rng, open.active) as usize] = ACTIVE;
                    let planes = planes(&lanes);
                    after = Open::begin(u64::MAX >> (64 - case.lanes) & !(planes[0] | planes[1]));
                    let count = [1, 1, 2, MAX_PASSES, rng.random_range(1..=MAX_PASSES)];
                    let count = match counts(kind, &build) {
                        true => count[within(rng, 0..5)],
                        false => 0,
                    };
                    let (al, inc) = match kind {
                        loop_::AL => index(rng, count),
                        _ => (0, 0),
                    };
                    Push::Loop {
                        lanes,
                        kind,
                        count,
                        al,
                        inc,
                    }
                }
                _ => {
                    let left = u32::from(MAX_CALLS - depth);
                    let depth = depth
                        + match within(rng, 0..4) {
                            0 => corner(rng, left) as u8,
                            _ => left.min(1) as u8,
                        };
                    let ret = rng.random_range(1..=end);
                    after.call();
                    Push::Call { ret, depth }
                }
            };
            let more = u32::from(matches!(push, Push::Branch(_)));
            let above = sp + size(&push, &build);
            // This is the push that the unit would refuse.
            if above + if branches + more > 0 { 2 } else { 0 } > room {
                break;
            }
            match push {
                Push::Loop { .. } => in_loop = true,
                Push::Call { depth: new, .. } => depth = new,
                Push::Branch(_) => {}
            }
            (sp, branches, open) = (above, branches + more, after);
            start.pushes.push(push);
        }
        start.lanes = open.classes(rng, case.lanes, in_loop);
        if rng.random() {
            let killed = rng.random::<u64>() & rng.random::<u64>();
            start.valid = launched & !start.killable(killed, launched, room);
        }
        if end == 1 {
            start = Start {
                lanes: classes_of(launched, case.lanes),
                valid: launched,
                skipped: false,
                ..start
            };
        }
        start
    }

    /// Makes these lanes ACTIVE in all frames, and after the last push.
    fn awake(&mut self, mask: u64) {
        let wake = |lanes: &mut Vec<u8>| {
            for (n, class) in lanes.iter_mut().enumerate() {
                *class = if mask >> n & 1 == 1 { ACTIVE } else { *class };
            }
        };
        wake(&mut self.lanes);
        for push in &mut self.pushes {
            match push {
                Push::Branch(lanes) => *lanes |= mask,
                Push::Loop { lanes, .. } => wake(lanes),
                Push::Call { .. } => {}
            }
        }
    }

    /// Returns the lanes of `killed` that a KILL can have killed. A KILL kills all ACTIVE lanes: without a stack, from
    /// which the others come back, each lane that is ACTIVE now is one of them.
    fn killable(&self, killed: u64, launched: u64, room: u32) -> u64 {
        let planes = planes(&self.lanes);
        let active = launched & !(planes[0] | planes[1]);
        match killed & launched {
            0 => 0,
            killed if room == 0 => killed | active,
            killed => killed,
        }
    }
}

/// Returns the classes after a launch of these lanes (r700-3.3-b).
fn classes_of(launched: u64, lanes: u32) -> Vec<u8> {
    let class = |lane| match launched >> lane & 1 {
        0 => BRANCH,
        _ => ACTIVE,
    };
    (0..lanes).map(class).collect()
}

/// Returns an index and its step in a LOOP_START with `left` passes left, mostly at a corner.
fn index(rng: &mut impl Rng, left: u16) -> (i32, i8) {
    let inc = [0, 1, -1, -128, 127][within(rng, 0..5)];
    let first = [0, 1, 4095, rng.random_range(0..=4095)][within(rng, 0..4)];
    let most = i32::from(MAX_PASSES - left);
    let over = [0, 1.min(most), most, rng.random_range(0..=most)][within(rng, 0..4)];
    (first + over * i32::from(inc), inc)
}

impl start::Start<R700> for Start {
    fn random(case: &Case<R700>, rng: &mut impl Rng) -> Option<Self> {
        Some(Start::draw(case, rng))
    }

    fn check(&self, case: &Case<R700>) -> Result<(), (&'static str, String)> {
        let bad = |field, why: String| Err((field, why));
        let all = u64::MAX >> (64 - case.lanes);
        let build = case.build();
        let regs = &case.program.regs;
        let launched = case.launch_mask;
        let legal = |classes: &[u8]| {
            classes.len() == case.lanes as usize && classes.iter().all(|c| *c <= BRK)
        };
        if self.valid & !launched != 0 {
            let why = format!("0x{:x} has lanes that were not launched", self.valid);
            return bad("valid", why);
        }
        if self.skipped && launched == 0 {
            return bad("skipped", "without a lane no CALL is skipped".to_owned());
        }
        if !legal(&self.lanes) {
            return bad("lanes", "not a class for each lane".to_owned());
        }
        let mut open = Open::begin(launched);
        let (mut sp, mut branches, mut in_loop, mut depth) = (0, 0, false, 0);
        for (n, push) in self.pushes.iter().enumerate() {
            let why = |why: &str| bad("pushes", format!("push {n}: {why}"));
            sp += size(push, &build);
            if !matches!(push, Push::Branch(_)) && open.active == 0 {
                return why("no lane can be ACTIVE");
            }
            match push {
                Push::Branch(mask) => {
                    branches += 1;
                    if mask & !open.active != 0 {
                        return why("a lane is in the mask that cannot be ACTIVE");
                    }
                    open.push(*mask);
                }
                Push::Loop {
                    lanes,
                    kind,
                    count,
                    al,
                    inc,
                } => {
                    let counted = match counts(*kind, &build) {
                        true => (1..=MAX_PASSES).contains(count),
                        false => *count == 0,
                    };
                    let own = match *kind {
                        loop_::AL => counted && index_is_reached(*al, *inc, *count),
                        _ => (*al, *inc) == (0, 0),
                    };
                    if !(loop_::AL..=loop_::DX10).contains(kind)
                        || !counted
                        || !own
                        || !legal(lanes)
                    {
                        return why("no loop that there can be");
                    }
                    let planes = planes(lanes);
                    if let Some(refused) = open.refuses(planes, all, in_loop) {
                        return why(refused);
                    }
                    open = Open::begin(all & !(planes[0] | planes[1]));
                    if open.part == 0 {
                        return why("no lane enters the loop");
                    }
                    in_loop = true;
                }
                Push::Call { ret, depth: new } => {
                    if !(depth..=MAX_CALLS).contains(new) {
                        return why(&format!("depth {new} in one of {depth}"));
                    }
                    if !(1..=regs.prog_len).contains(ret) {
                        return why(&format!("no CALL returns to {ret}"));
                    }
                    depth = *new;
                    open.call();
                }
            }
            let reserved = if branches > 0 { 2 } else { 0 };
            if sp + reserved > room(case) {
                return why("no room");
            }
        }
        if let Some(refused) = open.refuses(planes(&self.lanes), all, in_loop) {
            return bad("lanes", refused.to_owned());
        }
        let killed = launched & !self.valid;
        if self.killable(killed, launched, room(case)) != killed {
            let why = "a KILL without a stack is of every lane that is ACTIVE".to_owned();
            return bad("valid", why);
        }
        if self.pc >= regs.prog_len.max(1) {
            let why = format!("{} is outside of {} quadwords", self.pc, regs.prog_len);
            return bad("pc", why);
        }
        // Anything else takes an instruction, and a jump back.
        let untouched = self.pushes.is_empty() && !self.skipped && killed == 0;
        if regs.prog_len == 1 && !(untouched && self.lanes == classes_of(launched, case.lanes)) {
            return bad(
                "pc",
                "a program of one instruction does not get there".to_owned(),
            );
        }
        Ok(())
    }

    fn states(&self, build: &Build, launched: &State) -> Vec<State> {
        let mut now = State {
            pc: self.pc,
            st: planes(&self.lanes),
            valid: self.valid,
            skipped: self.skipped.into(),
            ..*launched
        };
        let all = u64::MAX >> (64 - self.lanes.len());
        now.active = all & !(now.st[0] | now.st[1]);
        let mut states = Vec::with_capacity(self.pushes.len() + 1);
        for push in &self.pushes {
            now.sp += size(push, build) as u16;
            match push {
                Push::Branch(mask) => {
                    now.nb += 1;
                    now.top_mask = *mask;
                }
                Push::Loop {
                    lanes,
                    kind,
                    count,
                    al,
                    inc,
                } => {
                    now = State {
                        top_mask: 0,
                        frame_st: planes(lanes),
                        frame_lt: now.lt,
                        frame_lc: now.lc,
                        frame_al: now.al,
                        frame_inc: now.inc,
                        frame_base: now.base,
                        frame_bkind: now.bkind,
                        frame_ret: 0,
                        frame_depth: 0,
                        base: now.sp,
                        bkind: frame::LOOP,
                        lt: *kind,
                        lc: *count,
                        ..now
                    };
                    if *kind == loop_::AL {
                        (now.al, now.inc) = (*al as u32, *inc as u8);
                    }
                }
                Push::Call { ret, depth } => {
                    now = State {
                        top_mask: 0,
                        frame_st: [0; 2],
                        frame_lt: 0,
                        frame_lc: 0,
                        frame_al: 0,
                        frame_inc: 0,
                        frame_base: now.base,
                        frame_bkind: now.bkind,
                        frame_ret: *ret,
                        frame_depth: now.depth,
                        base: now.sp,
                        bkind: frame::CALL,
                        depth: *depth,
                        ..now
                    };
                }
            }
            states.push(now);
        }
        if states.is_empty() {
            states.push(now);
        }
        states
    }

    fn of_lanes(&self, lanes: &[usize]) -> Self {
        let chosen = |classes: &[u8]| lanes.iter().map(|n| classes[*n]).collect();
        let mut start = Start {
            lanes: chosen(&self.lanes),
            valid: bits_of_lanes(self.valid, lanes),
            ..self.clone()
        };
        for push in &mut start.pushes {
            match push {
                Push::Branch(mask) => *mask = bits_of_lanes(*mask, lanes),
                Push::Loop { lanes, .. } => *lanes = chosen(lanes),
                Push::Call { .. } => {}
            }
        }
        start
    }

    fn led(&self, lead: impl Fn(u32) -> u32) -> Self {
        let mut start = self.clone();
        start.pc = lead(start.pc);
        for push in &mut start.pushes {
            if let Push::Call { ret, .. } = push {
                *ret = lead(*ret);
            }
        }
        start
    }

    fn simpler(&self) -> Vec<Self> {
        let every = u64::MAX >> (64 - self.lanes.len());
        let mut edits = Edits::of(self);
        edits.with(|s| s.pushes.clear());
        edits.with(|s| s.awake(every));
        edits.with(|s| s.lanes.fill(ACTIVE));
        edits.with(|s| s.skipped = false);
        for n in (0..self.pushes.len()).rev() {
            edits.with(|s| s.pushes = s.pushes[n + 1..].to_vec());
            edits.with(|s| {
                s.pushes.remove(n);
            });
            edits.with(|s| match &mut s.pushes[n] {
                Push::Branch(mask) => *mask = every,
                Push::Loop { lanes, al, inc, .. } => {
                    lanes.fill(ACTIVE);
                    (*al, *inc) = (0, 0);
                }
                Push::Call { ret, .. } => *ret = (*ret).min(1),
            });
            edits.with(|s| {
                if let Push::Loop { count, .. } = &mut s.pushes[n] {
                    *count = (*count).min(1);
                }
            });
        }
        for n in 0..self.lanes.len() {
            edits.with(|s| s.awake(1 << n));
        }
        edits.all
    }
}
