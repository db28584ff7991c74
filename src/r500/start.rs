//! The state in which a case begins (r500-3).

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::R500;
use super::state::State;
use reconverge_bench::design::Build;
use reconverge_program::case::Case;
use reconverge_program::generate::within;
use reconverge_program::instructions::Edits;
use reconverge_program::start::{self, corner};

/// Frames of the loop stack, entries of the address stack (r500-3.2).
const DEPTH: u32 = 4;
/// Limits of the branch counter in full and in partial mode (r500-3.1).
const FULL_LIMIT: u8 = 31;
const PARTIAL_LIMIT: u8 = 3;

/// Lanes, stacks and PC. Counters are canonical and within their limits, as every instruction leaves them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// PC, absolute.
    pub pc: u16,
    /// Class, branch counter, loop-inactive counter of each lane.
    pub lanes: Vec<[u8; 3]>,
    /// Frames, bottom first: is it REP, count, aL.
    pub loops: Vec<(bool, u8, u8)>,
    /// Return addresses, bottom first, absolute.
    pub addrs: Vec<u16>,
}

fn limit(case: &Case<R500>) -> u8 {
    if case.program.regs.full() {
        FULL_LIMIT
    } else {
        PARTIAL_LIMIT
    }
}

impl Start {
    /// Returns a random state for `case`, as [`start::Start::random`] requires.
    fn draw(case: &Case<R500>, rng: &mut impl Rng) -> Self {
        let regs = &case.program.regs;
        // Both stacks exist only in full mode.
        let most = if regs.full() { DEPTH } else { 0 };
        let (depth, calls) = (corner(rng, most), corner(rng, most));
        let limit = limit(case);
        let mut loops: Vec<(bool, u8, u8)> = Vec::new();
        for _ in 0..depth {
            let rep = rng.random();
            let count = [1, 1, 2, 255, rng.random_range(1..=255)][within(rng, 0..5)];
            let al = match loops.last() {
                // A REP has the aL of the loop around it (r500-4.4).
                Some((_, _, al)) if rep => *al,
                None if rep => 0,
                _ => [0, 127, 128, 255, rng.random()][within(rng, 0..5)],
            };
            loops.push((rep, count, al));
        }
        // Few kinds of lanes: if all lanes differed, they would never agree on anything.
        let sorts: Vec<[u8; 3]> = (0..rng.random_range(1..=3))
            .map(|_| match within(rng, 0..8) {
                0..3 => [0, 0, 0],
                3..6 => [1, corner(rng, limit.into()) as u8, 0],
                _ if depth == 0 => [0, 0, 0],
                class => [class - 4, 0, corner(rng, depth - 1) as u8],
            })
            .collect();
        let end = (usize::from(regs.offset()) + case.program.slots.len()).min(511) as u16;
        let mut address = || rng.random_range(regs.offset().min(end)..=end);
        let (pc, addrs) = (address(), (0..calls).map(|_| address()).collect());
        Start {
            pc,
            lanes: (0..case.lanes)
                .map(|_| sorts[within(rng, 0..sorts.len())])
                .collect(),
            loops,
            addrs,
        }
    }
}

impl start::Start<R500> for Start {
    fn random(case: &Case<R500>, rng: &mut impl Rng) -> Option<Self> {
        Some(Start::draw(case, rng))
    }

    fn check(&self, case: &Case<R500>) -> Result<(), (&'static str, String)> {
        let bad = |field, why: String| Err((field, why));
        if self.pc > 1023 {
            return bad("pc", format!("must be 0 to 1023, not {}", self.pc));
        }
        if self.lanes.len() != case.lanes as usize {
            let why = format!("{} lanes, not {}", self.lanes.len(), case.lanes);
            return bad("lanes", why);
        }
        let (most, depth) = (limit(case), self.loops.len());
        for (n, [class, bc, lc]) in self.lanes.iter().enumerate() {
            let legal = match class {
                0 => *bc == 0 && *lc == 0,
                1 => *bc <= most && *lc == 0,
                2 | 3 => *bc == 0 && usize::from(*lc) < depth,
                _ => false,
            };
            if !legal {
                let why = format!("lane {n} cannot be of class {class}, counters {bc} and {lc}");
                return bad("lanes", why);
            }
        }
        let full = case.program.regs.full();
        let room = if full { DEPTH as usize } else { 0 };
        if depth > room || self.addrs.len() > room {
            let why = format!(
                "{depth} loops and {} calls, room for {room}",
                self.addrs.len()
            );
            return bad("loops", why);
        }
        let mut outer = 0;
        for (rep, count, al) in &self.loops {
            if *count == 0 || *rep && *al != outer {
                let why = format!("a frame with count {count}, aL {al} in one with aL {outer}");
                return bad("loops", why);
            }
            outer = *al;
        }
        if let Some(address) = self.addrs.iter().find(|a| **a > 1023) {
            return bad("addrs", format!("must be 0 to 1023, not {address}"));
        }
        Ok(())
    }

    fn states(&self, _: &Build, launched: &State) -> Vec<State> {
        // Both stacks are wholly visible: one state is enough.
        let mut state = *launched;
        (state.st, state.bc, state.lc, state.active) = ([0; 2], [0; 5], [0; 2], 0);
        for (i, [class, bc, lc]) in self.lanes.iter().enumerate() {
            let plane = |value: u8, bit: usize| u64::from(value >> bit & 1) << i;
            (0..2).for_each(|b| state.st[b] |= plane(*class, b));
            (0..5).for_each(|b| state.bc[b] |= plane(*bc, b));
            (0..2).for_each(|b| state.lc[b] |= plane(*lc, b));
            state.active |= u64::from(*class == 0) << i;
        }
        state.loop_depth = self.loops.len() as u8;
        for (frame, (rep, count, al)) in state.loops.iter_mut().zip(&self.loops) {
            *frame = u32::from(*rep) << 16 | u32::from(*count) << 8 | u32::from(*al);
        }
        state.al = self.loops.last().map_or(0, |(_, _, al)| *al);
        state.addr_depth = self.addrs.len() as u8;
        for (entry, address) in state.addrs.iter_mut().zip(&self.addrs) {
            *entry = *address;
        }
        state.pc = self.pc;
        vec![state]
    }

    fn of_lanes(&self, lanes: &[usize]) -> Self {
        Start {
            lanes: lanes.iter().map(|n| self.lanes[*n]).collect(),
            ..self.clone()
        }
    }

    fn led(&self, lead: impl Fn(u32) -> u32) -> Self {
        let lead = |address: u16| u16::try_from(lead(address.into())).unwrap_or(1023);
        Start {
            pc: lead(self.pc),
            addrs: self.addrs.iter().map(|a| lead(*a)).collect(),
            ..self.clone()
        }
    }

    fn simpler(&self) -> Vec<Self> {
        let mut edits = Edits::of(self);
        edits.with(|s| s.lanes.iter_mut().for_each(|lane| *lane = [0; 3]));
        edits.with(|s| s.addrs.clear());
        edits.with(|s| s.addrs.truncate(s.addrs.len().saturating_sub(1)));
        edits.with(|s| s.loops.clear());
        edits.with(|s| s.loops.truncate(s.loops.len().saturating_sub(1)));
        for n in 0..self.loops.len() {
            edits.with(|s| s.loops[n].0 = false);
            edits.with(|s| s.loops[n].1 = s.loops[n].1.min(2));
            edits.with(|s| s.loops[n].1 = 1);
            edits.with(|s| s.loops[n].2 = 0);
        }
        for n in 0..self.lanes.len() {
            edits.with(|s| s.lanes[n] = [0; 3]);
            edits.with(|s| s.lanes[n][1] = 0);
            edits.with(|s| s.lanes[n][2] = 0);
        }
        edits.all
    }
}
