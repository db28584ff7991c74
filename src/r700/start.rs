//! A state in which a case begins (r700-3).

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::R700;
use super::state::State;
use crate::case::Case;
use crate::design::Build;
use crate::json::hex;
use crate::start::{self, bits_of_lanes, corner};

const BRANCH: u8 = 1;
const BRK: u8 = 3;
/// Loop types (r700-3.2).
const AL: u8 = 1;
const DX10: u8 = 3;
/// Frame kinds (r700-3.2).
const LOOP: u8 = 1;
const CALL: u8 = 2;
/// Most nested calls (r700-3.2).
const MOST_CALLS: u8 = 32;
/// aL begins at 0..=4095 and moves at most 4095 times by -128..=127.
const INDICES: std::ops::RangeInclusive<i32> = -128 * 4095..=128 * 4095;

/// What was pushed, and what has become of the registers since.
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
        /// `lc` by now; 0 in a DX10 loop, unless the unit counts its passes.
        count: u16,
        /// aL by now, of a LOOP_START; otherwise that of the loop around it, and 0 here.
        al: i32,
        /// Its step; likewise.
        inc: i8,
    },
    /// A call.
    Call {
        /// Where it returns to.
        ret: u32,
        /// `depth` in it.
        depth: u8,
    },
}

/// Lanes, what is on the stack, PC. `sp`, `base`, `nb` and what the frames save follow from what was pushed.
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
    /// Bottom first.
    pub pushes: Vec<Push>,
}

/// Sub-entries, r700-3.4.
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

/// Sub-entries that there is room for (r700-3.4).
fn room(case: &Case<R700>) -> u32 {
    let build = case.build();
    let most = build.value::<R700>("MAX_STACK_SIZE");
    build.value::<R700>("SUBENTRIES") * u32::from(case.program.regs.stack_size).min(most)
}

/// Whether a loop of this kind counts its passes (r700-4.3-z).
fn counts(kind: u8, build: &Build) -> bool {
    kind != DX10 || build.value::<R700>("DX10_COUNT") == 1
}

/// Classes of few sorts, one in four lanes or so ACTIVE; CONT and BRK in a loop only.
fn classes(rng: &mut impl Rng, lanes: u32, in_loop: bool) -> Vec<u8> {
    let last = if in_loop { BRK } else { BRANCH };
    let sorts: [u8; 3] = std::array::from_fn(|_| rng.random_range(0..=last));
    let active = rng.random_range(0..4);
    let mut class = || match rng.random_range(0..4) {
        n if n < active => 0,
        _ => sorts[rng.random_range(0..3)],
    };
    (0..lanes).map(|_| class()).collect()
}

impl Start {
    /// A random state for `case`, as [`start::Start::random`] wants it.
    fn draw(case: &Case<R700>, rng: &mut impl Rng) -> Self {
        let regs = &case.program.regs;
        let build = case.build();
        let room = room(case);
        let all = u64::MAX >> (64 - case.lanes);
        let target = corner(rng, room);
        let end = (case.program.quads.len() as u32).max(1);
        let weights: [u32; 3] = std::array::from_fn(|_| rng.random_range(0..4));
        let total = weights.iter().sum::<u32>();
        let (mut sp, mut branches, mut loops, mut depth) = (0, 0, 0u32, 0u8);
        let mut pushes = Vec::new();
        while sp < target && total > 0 {
            let mut left = rng.random_range(0..total);
            let kind = weights.iter().position(|w| {
                let here = left < *w;
                left = left.saturating_sub(*w);
                here
            });
            let push = match kind {
                Some(0) => {
                    let some = rng.random::<u64>() | rng.random::<u64>();
                    Push::Branch([all, some & all, 0, 1][rng.random_range(0..4)])
                }
                Some(1) => {
                    let kind = rng.random_range(AL..=DX10);
                    let count = [1, 1, 2, 4095, rng.random_range(1..4096)];
                    let (al, inc) = (
                        [0, -1, 4095, INDICES.last().unwrap_or(0)],
                        [0, 1, -1, -128, 127],
                    );
                    let own = kind == AL;
                    Push::Loop {
                        lanes: classes(rng, case.lanes, loops > 0),
                        kind,
                        count: match counts(kind, &build) {
                            true => count[rng.random_range(0..5)],
                            false => 0,
                        },
                        al: if own { al[rng.random_range(0..4)] } else { 0 },
                        inc: if own { inc[rng.random_range(0..5)] } else { 0 },
                    }
                }
                _ => {
                    let left = u32::from(MOST_CALLS - depth);
                    depth += match rng.random_range(0..4) {
                        0 => corner(rng, left) as u8,
                        _ => left.min(1) as u8,
                    };
                    let ret = rng.random_range(0..=end);
                    Push::Call { ret, depth }
                }
            };
            let more = u32::from(matches!(push, Push::Branch(_)));
            let after = sp + size(&push, &build);
            // The push that the unit would refuse.
            if after + if branches + more > 0 { 2 } else { 0 } > room {
                break;
            }
            loops += u32::from(matches!(push, Push::Loop { .. }));
            (sp, branches) = (after, branches + more);
            pushes.push(push);
        }
        let killed = rng.random::<u64>() & rng.random::<u64>();
        Start {
            pc: rng
                .random_range(0..end)
                .min(regs.prog_len.saturating_sub(1)),
            lanes: classes(rng, case.lanes, loops > 0),
            valid: case.launch_mask & if rng.random() { !killed } else { u64::MAX },
            skipped: rng.random_ratio(1, 16),
            pushes,
        }
    }
}

impl start::Start<R700> for Start {
    fn random(case: &Case<R700>, rng: &mut impl Rng) -> Option<Self> {
        Some(Start::draw(case, rng))
    }

    fn check(&self, case: &Case<R700>) -> Result<(), (&'static str, String)> {
        let bad = |field, why: String| Err((field, why));
        let all = u64::MAX >> (64 - case.lanes);
        let build = case.build();
        let legal = |classes: &[u8], in_loop: bool| {
            let last = if in_loop { BRK } else { BRANCH };
            classes.len() == case.lanes as usize && classes.iter().all(|c| *c <= last)
        };
        if self.valid & !case.launch_mask != 0 {
            let why = format!("0x{:x} has lanes that were not launched", self.valid);
            return bad("valid", why);
        }
        let (mut sp, mut branches, mut in_loop, mut depth) = (0, 0, false, 0);
        for (n, push) in self.pushes.iter().enumerate() {
            sp += size(push, &build);
            match push {
                Push::Branch(mask) => {
                    branches += 1;
                    if mask & !all != 0 {
                        return bad("pushes", format!("push {n} has lanes that are not there"));
                    }
                }
                Push::Loop {
                    lanes,
                    kind,
                    count,
                    al,
                    inc,
                } => {
                    let counted = match counts(*kind, &build) {
                        true => (1..4096).contains(count),
                        false => *count == 0,
                    };
                    let own = *kind == AL && INDICES.contains(al) || (*al, *inc) == (0, 0);
                    if !(AL..=DX10).contains(kind) || !counted || !own || !legal(lanes, in_loop) {
                        return bad("pushes", format!("push {n} is no loop that there can be"));
                    }
                    in_loop = true;
                }
                Push::Call { depth: new, .. } => {
                    if !(depth..=MOST_CALLS).contains(new) {
                        let why = format!("push {n} has depth {new} in one of {depth}");
                        return bad("pushes", why);
                    }
                    depth = *new;
                }
            }
            let reserved = if branches > 0 { 2 } else { 0 };
            if sp + reserved > room(case) {
                return bad("pushes", format!("no room for push {n}"));
            }
        }
        if !legal(&self.lanes, in_loop) {
            return bad(
                "lanes",
                "not a class for each lane, or one that only a loop has".to_owned(),
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
                        bkind: LOOP,
                        lt: *kind,
                        lc: *count,
                        ..now
                    };
                    if *kind == AL {
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
                        bkind: CALL,
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
        let mut all = Vec::new();
        let mut with = |edit: &dyn Fn(&mut Start)| {
            let mut start = self.clone();
            edit(&mut start);
            if start != *self {
                all.push(start);
            }
        };
        with(&|s| s.pushes.clear());
        with(&|s| s.lanes.fill(0));
        with(&|s| s.skipped = false);
        for n in (0..self.pushes.len()).rev() {
            with(&|s| s.pushes = s.pushes[n + 1..].to_vec());
            with(&|s| {
                s.pushes.remove(n);
            });
            with(&|s| match &mut s.pushes[n] {
                Push::Branch(mask) => *mask = 0,
                Push::Loop { lanes, al, inc, .. } => {
                    lanes.fill(0);
                    (*al, *inc) = (0, 0);
                }
                Push::Call { ret, .. } => *ret = 0,
            });
            with(&|s| {
                if let Push::Loop { count, .. } = &mut s.pushes[n] {
                    *count = (*count).min(1);
                }
            });
        }
        for n in 0..self.lanes.len() {
            with(&|s| s.lanes[n] = 0);
        }
        all
    }
}
