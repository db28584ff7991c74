//! The state in which a case begins (spa5-3, invariants spa5-I1 to spa5-I10).

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::Spa5;
use super::isa::{is_control, norm};
use super::state::State;
use super::state::values::token::{DIV, PBK, PCNT, RET, SSY};
use reconverge_bench::design::Build;
use reconverge_bench::json::hex;
use reconverge_program::case::Case;
use reconverge_program::generate::{pick, within};
use reconverge_program::instructions::Edits;
use reconverge_program::start::{self, bits_of_lanes, corner};

/// The instruction by which threads leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leave {
    /// Waits in the SSY token.
    Sync,
    /// Waits for the PBK token.
    Brk,
    /// Waits for the PCNT token.
    Cont,
    /// Waits for the RET token.
    Ret,
    /// EXIT: for ever.
    Exit,
    /// KIL: for ever, and marked as killed.
    Kil,
}

/// Every instruction by which threads leave.
const LEAVES: [Leave; 6] = [
    Leave::Sync,
    Leave::Brk,
    Leave::Cont,
    Leave::Ret,
    Leave::Exit,
    Leave::Kil,
];

/// An event of the warp since its launch. Every state described by events can be reached: masks and
/// `vis` of the tokens are what the instructions would have made them, and the invariants hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// SSY, PBK, PCNT, or CAL and PRET: a token of this type for the active threads.
    Push {
        /// 1 SSY, 2 PBK, 3 PCNT, 4 RET.
        kind: u8,
        /// Its address.
        addr: u32,
    },
    /// A divergent BRA: these threads wait.
    Split {
        /// Some of the active threads, not all.
        #[serde(with = "hex")]
        mask: u64,
        /// The address where they continue.
        addr: u32,
    },
    /// Some of the active threads leave.
    Leave {
        /// The instruction.
        by: Leave,
        /// Some of the active threads, not all.
        #[serde(with = "hex")]
        mask: u64,
    },
}

/// The state of the warp, and the events that led there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Byte address of the next instruction, normalized.
    pub pc: u32,
    /// The events since the launch.
    pub events: Vec<Event>,
}

/// Returns `vis` after a push (spa5-4.2-c).
pub(super) fn vis_after(kind: u8, vis: u8) -> u8 {
    match kind {
        SSY => vis | 1,
        PBK => vis & !1 | 2,
        PCNT => vis & !1 | 4,
        RET => 8,
        _ => vis,
    }
}

/// Returns whether `mask` is some of the active threads, not all.
fn some_of(mask: u64, active: u64) -> bool {
    mask != 0 && mask & !active == 0 && mask != active
}

/// Returns the bit of `vis` that a leaving instruction needs.
fn needs(by: Leave) -> u8 {
    match by {
        Leave::Sync => 1,
        Leave::Brk => 2,
        Leave::Cont => 4,
        Leave::Ret => 8,
        Leave::Exit | Leave::Kil => 0,
    }
}

/// Applies an event to the state; refuses one that is impossible, with the reason.
fn happen(state: &mut State, event: &Event, depth: u32) -> Result<(), &'static str> {
    let (kind, addr, mask) = match *event {
        Event::Leave { by, mask } => {
            if !some_of(mask, state.active) {
                return Err("must be some of the active threads, not all");
            }
            if state.vis & needs(by) != needs(by) {
                return Err("leaves without a token to leave by");
            }
            state.active &= !mask;
            match by {
                Leave::Sync => {}
                Leave::Brk => state.d_brk |= mask,
                Leave::Cont => state.d_cont |= mask,
                Leave::Ret => state.d_ret |= mask,
                Leave::Exit => state.exited |= mask,
                Leave::Kil => {
                    state.exited |= mask;
                    state.killed |= mask;
                }
            }
            return Ok(());
        }
        Event::Push { kind, addr } => (kind, addr, state.active),
        Event::Split { mask, addr } => {
            if !some_of(mask, state.active) {
                return Err("must be some of the active threads, not all");
            }
            state.active &= !mask;
            (DIV, addr, mask)
        }
    };
    if matches!(event, Event::Push { .. }) && !(SSY..=RET).contains(&kind) {
        return Err("no type of token that can be pushed");
    }
    if !addr.is_multiple_of(8) || is_control(addr) {
        return Err("not the address of an instruction");
    }
    if u32::from(state.sp) >= depth {
        return Err("no room on the stack");
    }
    *state = State {
        sp: state.sp + 1,
        vis: vis_after(kind, state.vis),
        top_type: kind,
        top_vis: state.vis,
        top_addr: addr,
        top_mask: mask,
        ..*state
    };
    Ok(())
}

/// Returns the address of one of the first `room` words of the program.
fn place(case: &Case<Spa5>, room: u32, rng: &mut impl Rng) -> u32 {
    let offset = within(rng, 0..room) * 8;
    case.program.prog_base.wrapping_add(offset)
}

/// Returns each active thread with probability 1/4, or one of all `lanes` if it is active.
fn some(active: u64, lanes: u32, rng: &mut impl Rng) -> u64 {
    match within(rng, 0..2) {
        0 => active & rng.random::<u64>() & rng.random::<u64>(),
        _ => active & 1 << within(rng, 0..lanes),
    }
}

impl Start {
    /// Returns a random state for `case`, as [`start::Start::random`] requires.
    fn draw(case: &Case<Spa5>, rng: &mut impl Rng) -> Self {
        let depth = case.build().value::<Spa5>("DEPTH");
        let target = corner(rng, depth);
        let room = (case.program.words.len() as u32).max(1);
        let kinds: [u8; 2] = std::array::from_fn(|_| rng.random_range(SSY..=RET));
        let leaves = within(rng, 0..4);
        let mut state = State {
            active: case.launch_mask,
            ..State::default()
        };
        let mut events = Vec::new();
        let place = |rng: &mut _| place(case, room, rng);
        // A random event may be impossible: it is then ignored.
        for _ in 0..8 * (target + 2) {
            let n = within(rng, 0..16);
            let leaves = (1..=leaves).contains(&n);
            if !leaves && u32::from(state.sp) >= target {
                continue;
            }
            let event = match n {
                0 => Event::Split {
                    mask: some(state.active, case.lanes, rng),
                    addr: norm(place(rng)),
                },
                _ if leaves => Event::Leave {
                    by: pick(rng, &LEAVES),
                    mask: some(state.active, case.lanes, rng),
                },
                1..6 => Event::Push {
                    kind: rng.random_range(SSY..=RET),
                    addr: norm(place(rng)),
                },
                n => Event::Push {
                    kind: kinds[n % 2],
                    addr: norm(place(rng)),
                },
            };
            if happen(&mut state, &event, depth).is_ok() {
                events.push(event);
            }
        }
        Start {
            pc: norm(place(rng)),
            events,
        }
    }
}

impl start::Start<Spa5> for Start {
    fn random(case: &Case<Spa5>, rng: &mut impl Rng) -> Option<Self> {
        Some(Start::draw(case, rng))
    }

    fn check(&self, case: &Case<Spa5>) -> Result<(), (&'static str, String)> {
        if !self.pc.is_multiple_of(8) || is_control(self.pc) {
            let why = format!("{:#x} is not the address of an instruction", self.pc);
            return Err(("pc", why));
        }
        let depth = case.build().value::<Spa5>("DEPTH");
        let mut state = State {
            active: case.launch_mask,
            ..State::default()
        };
        for (n, event) in self.events.iter().enumerate() {
            happen(&mut state, event, depth)
                .map_err(|why| ("events", format!("event {n}: {why}")))?;
        }
        Ok(())
    }

    fn states(&self, _: &Build, launched: &State) -> Vec<State> {
        let mut now = State {
            pc: self.pc,
            ..*launched
        };
        let mut states = Vec::with_capacity(self.events.len() + 1);
        for event in &self.events {
            // Checked when the case was read or made.
            if happen(&mut now, event, u32::MAX).is_ok() && !matches!(event, Event::Leave { .. }) {
                states.push(now);
            }
        }
        states.push(now);
        states
    }

    fn of_lanes(&self, lanes: &[usize]) -> Self {
        let mut start = self.clone();
        for event in &mut start.events {
            if let Event::Split { mask, .. } | Event::Leave { mask, .. } = event {
                *mask = bits_of_lanes(*mask, lanes);
            }
        }
        start.events.retain(|event| {
            !matches!(
                event,
                Event::Split { mask: 0, .. } | Event::Leave { mask: 0, .. }
            )
        });
        start
    }

    fn led(&self, lead: impl Fn(u32) -> u32) -> Self {
        let mut start = self.clone();
        start.pc = norm(lead(start.pc));
        for event in &mut start.events {
            if let Event::Push { addr, .. } | Event::Split { addr, .. } = event {
                *addr = norm(lead(*addr));
            }
        }
        start
    }

    fn simpler(&self) -> Vec<Self> {
        let mut edits = Edits::of(self);
        edits.with(|s| s.events.clear());
        for n in (0..self.events.len()).rev() {
            edits.with(|s| s.events = s.events[n + 1..].to_vec());
            edits.with(|s| {
                s.events.remove(n);
            });
        }
        edits.all
    }
}
