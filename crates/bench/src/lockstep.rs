//! The lock-step loop: golden model and RTL get the same pins, and every bit of state is compared in every cycle. The loop
//! knows no programs: a [`Stimulus`] supplies the pins.

use std::cell::Cell;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::Arc;

use bytemuck::{bytes_of, bytes_of_mut};
use serde::{Deserialize, Serialize};

use crate::bins::coverpoints;
use crate::channels::{Broken, Promises, Texts};
use crate::design::{Control, Design, Golden};
use crate::dut::{Check, Dut, Halves};
use crate::field::{self, Diff, Flip, MAX_LANES};
use crate::hidden::Hidden;
use crate::quantity::counted;
use crate::transactions::{Played, Transaction};
use crate::wave::{self, Words};

mod ahead;
mod transact;
use ahead::Ahead;

/// Supplies the pins of every cycle of a run, as a function of the golden model, and observes the run. RTL in another process is some
/// cycles behind: then `before`, `after` and `seen` are called later, once the cycle before has been compared; all others never depend on the
/// RTL.
pub trait Stimulus<D: Design> {
    /// `before` and `after` are called. Otherwise only `seen` is: it needs no copy of the golden model while that is ahead.
    const OBSERVES: bool = true;
    /// Sets every pin in `pins` to its value in `cycle`; `golden` is the golden model before this cycle. Returns false if
    /// the run is over. Writes in place, because a return by value copied the pins three times.
    fn next(&mut self, cycle: u64, golden: &D::Golden, pins: &mut D::In) -> bool;
    /// Takes what the golden model did in a cycle with `pins`, as far as the pins of later cycles depend on it.
    fn done(&mut self, _cycle: u64, _pins: &D::In, _golden: &D::Golden) {}
    /// Observes the golden model before a cycle with `pins`.
    fn before(&mut self, _cycle: u64, _pins: &D::In, _golden: &D::Golden) {}
    /// Observes the golden model after the cycle.
    fn after(&mut self, _cycle: u64, _pins: &D::In, _golden: &D::Golden) {}
    /// Observes a cycle that was compared.
    fn seen(&mut self, _cycle: &Seen<D>) {}
    /// Returns whether it is time for [`Stimulus::load`] to load a state.
    fn loads(&self) -> bool {
        false
    }
    /// Puts golden model and RTL into a state when it is time to; `put` loads the RTL.
    fn load(&mut self, _golden: &mut D::Golden, _put: impl FnMut(&D::State)) {}
}

/// A cycle of a run.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a, D: Design> {
    /// Its pins.
    pub pins: &'a D::In,
    /// The golden model's state after it.
    pub state: &'a D::State,
    /// The bits that are not specified in it.
    pub unspecified: Option<&'a D::State>,
    /// The coverpoints of the declaration, before it.
    pub points: &'a [u64],
}

impl<'a, D: Design> Seen<'a, D> {
    /// Returns a cycle of a design without coverpoints, all of whose state is specified.
    pub fn new(pins: &'a D::In, state: &'a D::State) -> Self {
        Seen {
            pins,
            state,
            unspecified: None,
            points: &[],
        }
    }
}

/// Returns the pins of a cycle in which as little as possible happens.
fn idle<D: Design>() -> D::In {
    let mut pins = D::In::default();
    pins.set_stall(true);
    pins
}

/// How much of a run was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Cycles in which the whole state was compared.
    pub cycles: u64,
    /// Instructions executed.
    pub steps: u64,
    /// Programs launched.
    pub launches: u64,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Self) {
        self.cycles += other.cycles;
        self.steps += other.steps;
        self.launches += other.launches;
    }
}

/// Serialises a state as the list of its bytes, only for transfer between processes of one program.
pub mod state_bytes {
    use bytemuck::{Pod, bytes_of, try_pod_read_unaligned};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes the state.
    pub fn serialize<T: Pod, S: Serializer>(state: &T, to: S) -> Result<S::Ok, S::Error> {
        bytes_of(state).serialize(to)
    }

    /// Reads the state.
    pub fn deserialize<'de, T: Pod, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let bytes = Vec::<u8>::deserialize(from)?;
        try_pod_read_unaligned(&bytes)
            .map_err(|_| D::Error::invalid_length(bytes.len(), &"the bytes of a state"))
    }
}

/// The first mismatch of a run. Deserialising one refuses elements that no state has.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "", try_from = "Unchecked<D>")]
pub struct Mismatch<D: Design> {
    /// The cycle whose inputs led to the mismatch, counted from 0.
    pub cycle: u64,
    /// The elements that differ; never empty.
    pub diffs: Vec<Diff>,
    /// The state of the RTL.
    #[serde(with = "state_bytes")]
    pub rtl: D::State,
    /// The state that the golden model expected.
    #[serde(with = "state_bytes")]
    pub golden: D::State,
    /// `rtl` is the state before the falling edge of the clock; after it the RTL shows `golden`.
    pub half: bool,
    /// Both states are those between two rising edges, when the cycle has asserted an asynchronous reset. Only then is it saved.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
    /// The promise of a channel that `rtl` breaks. Only then is it saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    /// The transaction in which both sides differ; the states then are those of the RTL with the payload of each side. Only then is
    /// it saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction: Option<Transaction>,
}

/// A [`Mismatch`] as it is read.
#[derive(Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
struct Unchecked<D: Design> {
    cycle: u64,
    diffs: Vec<Diff>,
    #[serde(with = "state_bytes")]
    rtl: D::State,
    #[serde(with = "state_bytes")]
    golden: D::State,
    half: bool,
    #[serde(default)]
    reset: bool,
    #[serde(default)]
    broken: Option<Broken>,
    #[serde(default)]
    transaction: Option<Transaction>,
}

impl<D: Design> TryFrom<Unchecked<D>> for Mismatch<D> {
    type Error = &'static str;

    fn try_from(read: Unchecked<D>) -> Result<Self, Self::Error> {
        let exists = |diff: &Diff| {
            let field = D::fields().get(diff.field);
            field.is_some_and(|field| diff.element < field.elements(MAX_LANES))
        };
        if read.diffs.is_empty() || !read.diffs.iter().all(exists) {
            return Err("a mismatch in no field");
        }
        Ok(Mismatch {
            cycle: read.cycle,
            diffs: read.diffs,
            rtl: read.rtl,
            golden: read.golden,
            half: read.half,
            reset: read.reset,
            broken: read.broken,
            transaction: read.transaction,
        })
    }
}

impl<D: Design> Mismatch<D> {
    /// Returns the first difference, in the order of the field list.
    pub fn first(&self) -> &Diff {
        &self.diffs[0]
    }

    /// Returns the time in a dump, in ns, at which it is visible.
    pub fn time(&self) -> u64 {
        match self.reset {
            true => self.cycle * wave::PERIOD_NS + wave::PERIOD_NS / 2,
            false => wave::time_of(self.cycle),
        }
    }
}

/// The RTL stopped the simulation: $stop, $fatal, $finish, a failed assertion, or logic that does not settle.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stopped {
    /// The cycle whose inputs led to the stop, counted from 0.
    pub cycle: u64,
    /// The RTL's message.
    pub why: String,
}

/// How the process in which the RTL ran was lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// It ended; holds how.
    #[error("{0}")]
    Crashed(String),
    /// The RTL made no progress for this many seconds.
    #[error("no progress within {0} s")]
    Hung(u64),
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Outcome<D: Design> {
    /// How much was compared, up to the mismatch if there was one.
    pub compared: Compared,
    /// The first mismatch, if there was one.
    pub mismatch: Option<Mismatch<D>>,
    /// Set if the RTL stopped the simulation.
    pub stopped: Option<Stopped>,
    /// Set if the process of the RTL was lost.
    pub lost: Option<Lost>,
    /// The state of the golden model at the end. After a failure it may be ahead of what was compared.
    pub end: D::State,
    /// Why the bit of [`Setting::flip`] was not flipped, if it was not.
    pub not_flipped: Option<String>,
    /// The case reached its limit of instructions.
    pub step_limit: bool,
    /// What the channels did from the first cycle of the dump on, of a design whose transactions are compared.
    pub words: Words,
}

/// Settings of a run other than its pins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting<'c> {
    /// Lanes of the design.
    pub lanes: usize,
    /// Bit of the golden model's expected state to flip.
    pub flip: Option<&'c Flip>,
    /// First cycle of the dump and its path. The dump goes on after a mismatch ([`wave::cycles_after`]).
    pub dump: Option<(u64, &'c Path)>,
}

/// A state, and the bits that are not specified in it.
type Shown<D> = (<D as Design>::State, Option<<D as Design>::State>);

/// A [`Shown`] of the golden model, in all other bits of which the RTL must agree.
type Wanted<'a, D> = (&'a <D as Design>::State, Option<&'a <D as Design>::State>);

fn wanted<D: Design>((state, free): &Shown<D>) -> Wanted<'_, D> {
    (state, free.as_ref())
}

/// The comparisons of a run so far.
struct Judged<D: Design> {
    /// Cycles in which the whole state was compared.
    cycles: u64,
    /// Fields that may change at the falling edge of the clock.
    falling: Arc<[String]>,
    promises: Promises<D>,
    /// The golden model that compares transactions, and what was played, of a design that has such a model.
    board: Option<(D::Golden, Played<D>)>,
    /// The first cycle of the dump, and what its channels do, of such a design.
    texts: Option<(u64, Texts)>,
    end: Option<End<D>>,
}

/// Why a run ends before its stimulus does.
enum End<D: Design> {
    Mismatch(Mismatch<D>),
    /// The RTL stopped the simulation in this cycle.
    Stopped(u64),
    Lost,
}

impl<D: Design> Judged<D> {
    /// Takes the result of `cycle`, as [`Judged::take`] does, and then the pins of this cycle: compares states and promises, or
    /// transactions.
    #[inline]
    fn judge(
        &mut self,
        cycle: u64,
        flush: bool,
        check: Check<D>,
        (expected, after): (Wanted<D>, Option<Wanted<D>>),
        pins: &D::In,
        stimulus: &mut impl Stimulus<D>,
    ) {
        if D::DECLARATION.transactions {
            let expected = (expected.0, after.is_some());
            self.transact(cycle, flush, check, expected, pins, stimulus);
        } else {
            self.take(cycle, flush, check, expected, after);
            self.promised(cycle, pins, expected);
        }
    }

    /// Takes the result of `cycle`, in which the RTL had to show the state `expected`, and if the cycle asserts an asynchronous reset,
    /// `after` from then on; `flush`: it is the idle one after the run.
    #[inline]
    fn take(
        &mut self,
        cycle: u64,
        flush: bool,
        check: Check<D>,
        expected: Wanted<D>,
        after: Option<Wanted<D>>,
    ) {
        match (check, after) {
            // There is nothing to compare before the first reset cycle has taken effect.
            (Check::Agrees, _) => self.cycles += u64::from(cycle > 0),
            (Check::Halves(halves), Some(golden)) => {
                self.take_reset(cycle, flush, &halves, expected, golden);
            }
            (Check::Stopped, _) => self.end = Some(End::Stopped(cycle.saturating_sub(1))),
            (Check::Lost, _) => self.end = Some(End::Lost),
            _ if cycle == 0 => {}
            (Check::Differs(rtl), after) => {
                self.take_difference(cycle, rtl, expected, after.is_some());
            }
            (Check::Halves(halves), None) => self.take_halves(cycle, flush, halves, expected.1),
        }
    }

    /// Takes a state that is as expected, but in which something changed at the falling edge; `free` are the bits that are not specified.
    #[cold]
    fn take_halves(&mut self, cycle: u64, flush: bool, halves: Halves<D>, free: Option<&D::State>) {
        self.cycles += 1;
        // What depends on the pins of this cycle, unless they are the idle ones after the run.
        let next = halves.next.filter(|_| !flush && cycle > 1);
        let both = [(cycle - 1, halves.compared, free), (cycle, next, None)];
        let found = both.into_iter().find_map(|(of, halves, free)| {
            let [rtl, golden] = halves?.map(|state| specified::<D>(&state, free));
            let fields = D::fields();
            let mut diffs = field::diff(fields, bytes_of(&rtl), bytes_of(&golden));
            diffs.retain(|diff| !self.falls(fields[diff.field].name));
            (!diffs.is_empty()).then_some(Mismatch {
                cycle: of,
                diffs,
                rtl,
                golden,
                half: true,
                reset: false,
                broken: None,
                transaction: None,
            })
        });
        self.end = found.map(End::Mismatch);
    }

    /// Takes the state `rtl`, which is not the one `expected`; `early`: it is that before an asynchronous reset at the falling edge.
    #[cold]
    fn take_difference(
        &mut self,
        cycle: u64,
        rtl: &D::State,
        (expected, free): Wanted<D>,
        early: bool,
    ) {
        let [rtl, expected] = [rtl, expected].map(|state| specified::<D>(state, free));
        let fields = D::fields();
        let mut diffs = field::diff(fields, bytes_of(&rtl), bytes_of(&expected));
        diffs.retain(|diff| {
            let field = &fields[diff.field];
            (cycle > 1 || !field.not_first) && !(early && self.falls(field.name))
        });
        if diffs.is_empty() {
            self.cycles += 1;
            return;
        }
        self.end = Some(End::Mismatch(Mismatch {
            cycle: cycle - 1,
            diffs,
            rtl,
            golden: expected,
            half: false,
            reset: false,
            broken: None,
            transaction: None,
        }));
    }

    /// Takes the result of `cycle`, whose state is not `golden` when it has asserted an asynchronous reset.
    #[cold]
    fn take_reset(
        &mut self,
        cycle: u64,
        flush: bool,
        halves: &Halves<D>,
        expected: Wanted<D>,
        golden: Wanted<D>,
    ) {
        let Some([before, rtl]) = &halves.compared else {
            return;
        };
        let check = match before == expected.0 {
            true => Check::Agrees,
            false => Check::Differs(before),
        };
        self.take(cycle, flush, check, expected, Some(golden));
        let fields = D::fields();
        let [rtl, golden] = [rtl, golden.0].map(|state| specified::<D>(state, golden.1));
        let mut diffs = field::diff(fields, bytes_of(&rtl), bytes_of(&golden));
        // Outputs that depend on the pins are compared at the end of the cycle.
        diffs.retain(|diff| !fields[diff.field].not_first);
        if !self.ended() && !diffs.is_empty() {
            self.end = Some(End::Mismatch(Mismatch {
                cycle,
                diffs,
                rtl,
                golden,
                half: false,
                reset: true,
                broken: None,
                transaction: None,
            }));
        }
    }

    /// Checks what the design has promised on its channels; `pins` are those of `cycle`, whose result was taken, and in which both
    /// sides had to show the state `expected`.
    #[inline]
    fn promised(&mut self, cycle: u64, pins: &D::In, expected: Wanted<D>) {
        if !D::DECLARATION.channels.is_empty() {
            self.take_promised(cycle, pins, expected);
        }
    }

    fn take_promised(&mut self, cycle: u64, pins: &D::In, (expected, free): Wanted<D>) {
        let rtl = match &self.end {
            None => specified::<D>(expected, free),
            Some(End::Mismatch(found)) if !found.half && found.cycle + 1 == cycle => found.rtl,
            Some(_) => return,
        };
        // No cycle has come before the first one.
        if cycle == 0 {
            self.promises.forget();
        }
        let Some((channel, kept)) = self.promises.see(&rtl, free, pins) else {
            return;
        };
        let channel = channel.name.to_owned();
        if let Some(End::Mismatch(found)) = &mut self.end {
            let both = false;
            found.broken = Some(Broken { channel, both });
            return;
        }
        self.cycles = self.cycles.saturating_sub(1);
        self.end = Some(End::Mismatch(Mismatch {
            cycle: cycle - 1,
            diffs: field::diff(D::fields(), bytes_of(&rtl), bytes_of(&kept)),
            rtl,
            golden: kept,
            half: false,
            reset: false,
            broken: Some(Broken {
                channel,
                both: true,
            }),
            transaction: None,
        }));
    }

    /// Returns whether `field` may change at the falling edge of the clock.
    fn falls(&self, field: &str) -> bool {
        self.falling.iter().any(|name| name == field)
    }

    fn ended(&self) -> bool {
        self.end.is_some()
    }
}

/// Returns `state` with 0 in the bits that are 1 in `free`.
fn specified<D: Design>(state: &D::State, free: Option<&D::State>) -> D::State {
    let mut state = *state;
    if let Some(free) = free {
        let bytes = bytes_of_mut(&mut state).iter_mut().zip(bytes_of(free));
        bytes.for_each(|(byte, free)| *byte &= !free);
    }
    state
}

/// Runs `stimulus` on `dut` from reset until it ends, a mismatch occurs, or the RTL stops or is lost. The golden model leads by one
/// cycle, because the bench top registers its inputs.
///
/// # Errors
/// The dump cannot be written.
pub fn run<D: Design>(
    stimulus: &mut impl Stimulus<D>,
    setting: Setting,
    dut: &mut Dut<D>,
    golden: &mut D::Golden,
) -> Result<Outcome<D>, String> {
    if let Some((_, path)) = setting.dump
        && dut.lost().is_none()
    {
        // Find out before the run, not in the middle of it.
        let written = dut.open_vcd(path).and_then(|()| dut.close_vcd());
        // If the process of the RTL is lost, the outcome says so.
        written.or_else(|why| dut.lost().map(drop).ok_or(why))?;
    }
    if D::DECLARATION.transactions && golden.board().is_none() {
        let why = "has `transactions = true`: its golden model must be a `Scoreboard`";
        return Err(format!("{}: design.toml {why}", D::NAME));
    }
    let outcome = lockstep(stimulus, setting, dut, golden);
    if let Some((_, path)) = setting.dump
        && let Err(why) = dut.close_vcd()
    {
        let lost = dut.lost().ok_or(why)?;
        if outcome.mismatch.is_some() {
            let path = path.display();
            let why = "the RTL ended its process after the mismatch";
            let _ = writeln!(
                std::io::stderr(),
                "warning: {path} is cut off: {why}: {lost}"
            );
        }
    }
    Ok(outcome)
}

/// Returns the state of `golden` when `pins` have asserted an asynchronous reset, and the bits that are not specified in it. Outputs that
/// depend on the pins of the same cycle are as in the state `before`: they are compared at the end of the cycle. So are the pins in
/// conditions: until then they are `last`.
fn asserted<D: Design>(
    golden: &D::Golden,
    pins: &D::In,
    (before, last): (&D::State, &D::In),
    hidden: &Hidden,
) -> Option<Shown<D>> {
    // If it panics, it does so again in this cycle, whose state before the reset is compared first.
    let reset = catch_unwind(AssertUnwindSafe(|| {
        let mut golden = golden.clone();
        (*golden.assert_reset(pins), golden.unspecified(pins))
    }));
    let (after, free) = reset.ok()?;
    let mut after = hidden.hide::<D>(&after, last).unwrap_or(after);
    for field in D::fields().iter().filter(|field| field.not_first) {
        let bytes = field.offset..field.offset + field.size();
        bytes_of_mut(&mut after)[bytes.clone()].copy_from_slice(&bytes_of(before)[bytes]);
    }
    Some((after, free))
}

fn lockstep<D: Design, S: Stimulus<D>>(
    stimulus: &mut S,
    Setting { lanes, flip, dump }: Setting,
    dut: &mut Dut<D>,
    golden: &mut D::Golden,
) -> Outcome<D> {
    let mut judged = Judged {
        cycles: 0,
        falling: dut.falling(),
        promises: Promises::new(),
        board: (D::DECLARATION.transactions).then(|| (golden.clone(), Played::new())),
        texts: dump
            .filter(|_| D::DECLARATION.transactions)
            .map(|(from, _)| (from, Texts::new::<D>())),
        end: None,
    };
    let hidden = Hidden::new::<D>();
    let mut later = Ahead::new();
    // The expected state, with one bit flipped on request.
    let mut not_flipped = flip.and_then(|f| match D::DECLARATION.transactions {
        true => Some("a golden model that speaks in transactions has no state".to_owned()),
        false => f.check(D::fields(), lanes).err(),
    });
    let flip = flip.filter(|_| not_flipped.is_none());
    let flip = flip.and_then(|f| Some((f.of(D::fields())?, f)));
    let runs_ahead = dut.runs_ahead();
    // The cycle of a panic of the golden model, or of a stimulus that asks it.
    let in_golden = Cell::new(None);
    // Returns the last cycle and its pins. What it changes in each cycle are variables of its own, which the compiler can keep in registers.
    let mut run = || {
        let (stimulus, golden) = (&mut *stimulus, &mut *golden);
        let (dut, judged) = (&mut *dut, &mut judged);
        // The state of the golden model, if some of it is not compared.
        let mut shown: Option<D::State> = None;
        // The bits of it that need not agree.
        let mut free: Option<D::State> = None;
        let mut pins = D::In::default();
        let mut points = Vec::new();
        let mut cycle: u64 = 0;
        loop {
            if let Some((_, path)) = dump.filter(|(from, _)| *from == cycle) {
                // The file could be written a moment ago; if not, closing it reports the error.
                let _ = dut.open_vcd(path);
            }
            // A dump takes both sides of each cycle.
            let ahead = runs_ahead && dump.is_none_or(|(from, _)| cycle < from);
            let last = hidden.uses_pins().then_some(pins);
            // One more cycle makes the effect of the last one visible.
            in_golden.set(Some(cycle));
            let flush = !stimulus.next(cycle, golden, &mut pins);
            if !flush && !D::DECLARATION.transactions {
                coverpoints::<D>(golden, &pins, &mut points);
            }
            in_golden.set(None);
            if flush {
                pins = idle::<D>();
            }
            let mut spoilt = None;
            if let Some((field, f)) = flip.filter(|(_, f)| cycle.checked_sub(1) == Some(f.cycle)) {
                let state = spoilt.insert(shown.unwrap_or(*golden.state()));
                field.flip(bytemuck::bytes_of_mut(state), f.element, f.bit);
            }
            let expected = spoilt.as_ref().or(shown.as_ref());
            let expected = expected.unwrap_or_else(|| golden.state());
            // The state before the first edge is of power-up: what the reset leaves as it is can be anything.
            let after = match cycle > 0 && pins.resets_at_once() {
                // Transactions need what the RTL shows before the reset acts. `check` tells that only if it is given a state to expect
                // afterwards; which one does not matter.
                true if D::DECLARATION.transactions => Some((*expected, None)),
                true => {
                    let before = (expected, last.as_ref().unwrap_or(&pins));
                    asserted::<D>(golden, &pins, before, &hidden)
                }
                false => None,
            };
            let expected = (expected, free.as_ref());
            let after = after.as_ref().map(wanted::<D>);
            match ahead {
                true => {
                    let golden = (S::OBSERVES).then(|| golden.clone());
                    let golden = (golden, flush);
                    later.ask(dut, cycle, &pins, expected, after, golden);
                }
                false => {
                    let check = dut.check(&pins, expected.0, after.map(|after| after.0));
                    judged.judge(cycle, flush, check, (expected, after), &pins, stimulus);
                }
            }
            if !flush && !judged.ended() {
                if !ahead {
                    stimulus.before(cycle, &pins, golden);
                }
                in_golden.set(Some(cycle));
                golden.cycle(&pins);
                free = golden.unspecified(&pins);
                stimulus.done(cycle, &pins, golden);
                in_golden.set(None);
                shown = hidden.hide::<D>(golden.state(), &pins);
                let state = shown.as_ref().unwrap_or_else(|| golden.state());
                match ahead {
                    true => later.done(state, free, &points),
                    false => {
                        stimulus.after(cycle, &pins, golden);
                        if !D::DECLARATION.transactions {
                            stimulus.seen(&Seen {
                                pins: &pins,
                                state,
                                unspecified: free.as_ref(),
                                points: &points,
                            });
                        }
                    }
                }
            }
            if ahead {
                let dumps = dump.is_some_and(|(from, _)| from == cycle + 1);
                let all = flush || stimulus.loads() || dumps;
                later.take(all, dut, stimulus, golden, judged);
            }
            if flush || judged.ended() {
                return (cycle, pins);
            }
            let loads = stimulus.loads();
            stimulus.load(golden, |state| {
                dut.load(state);
                judged.promises.forget();
            });
            if loads {
                free = None;
                shown = hidden.hide::<D>(golden.state(), &pins);
            }
            cycle += 1;
        }
    };
    // Once and not for each call of the golden model, which was compiled twice for that.
    let ran = match runs_ahead {
        true => catch_unwind(AssertUnwindSafe(run)),
        false => Ok(run()),
    };
    let (cycle, last) = match ran {
        Ok((cycle, pins)) => (cycle, dump.map(|(from, _)| (from, pins))),
        // Of what watches the run or compares, nothing more is called.
        Err(why) => {
            let Some(cycle) = in_golden.get() else {
                resume_unwind(why);
            };
            // The golden model is ahead of the RTL: a mismatch in a cycle that is still to be compared comes first.
            later.take(true, dut, stimulus, golden, &mut judged);
            if !judged.ended() {
                resume_unwind(why);
            }
            (cycle, None)
        }
    };
    let Judged {
        cycles, end, texts, ..
    } = judged;
    let (mut mismatch, mut stopped, mut lost) = (None, None, None);
    match end {
        Some(End::Mismatch(found)) => mismatch = Some(found),
        Some(End::Stopped(cycle)) => {
            let why = dut.stopped().unwrap_or_default();
            stopped = Some(Stopped { cycle, why });
        }
        Some(End::Lost) => {
            let unknown = || Lost::Crashed("a cycle has no result".to_owned());
            lost = Some(dut.lost().unwrap_or_else(unknown));
        }
        // It may be lost after the last cycle, whose state it still showed.
        None => lost = dut.lost(),
    }
    // The bit is flipped in the state after its cycle, which the next one compares.
    if let Some((_, f)) = flip.filter(|(_, f)| f.cycle >= cycle) {
        let missed = format!(
            "the run ended after {}, cycle {} never came",
            counted(cycles, "cycle"),
            f.cycle
        );
        not_flipped = Some(missed);
    }
    let end = *golden.state();
    if let (Some(mismatch), Some((from, mut pins))) = (&mismatch, last) {
        // Add some cycles, so that the failing one is not at the edge of the picture. The design already has the last pins.
        let before = mismatch.time().saturating_sub(from * wave::PERIOD_NS);
        golden.cycle(&pins);
        dut.no_assert();
        for _ in 0..wave::cycles_after(before) {
            let state = *golden.state();
            let state = hidden.hide::<D>(&state, &pins).unwrap_or(state);
            pins = idle::<D>();
            dut.clock(&pins, Some(&state));
            golden.cycle(&pins);
        }
    }
    Outcome {
        compared: Compared {
            cycles,
            ..Compared::default()
        },
        step_limit: false,
        mismatch,
        stopped,
        lost,
        end,
        not_flipped,
        words: texts.map_or_else(Words::default, |(_, texts)| texts.words()),
    }
}

/// Runs the golden model alone, up to the end of `stimulus` or to cycle `last`, as it runs beside the RTL.
pub fn golden_alone<D: Design>(stimulus: &mut impl Stimulus<D>, last: u64, golden: &mut D::Golden) {
    let mut pins = D::In::default();
    let hidden = Hidden::new::<D>();
    let mut points = Vec::new();
    for cycle in 0..=last {
        if !stimulus.next(cycle, golden, &mut pins) {
            return;
        }
        stimulus.before(cycle, &pins, golden);
        coverpoints::<D>(golden, &pins, &mut points);
        golden.cycle(&pins);
        stimulus.done(cycle, &pins, golden);
        stimulus.after(cycle, &pins, golden);
        let state = hidden.hide::<D>(golden.state(), &pins);
        let free = golden.unspecified(&pins);
        let state = state.as_ref().unwrap_or_else(|| golden.state());
        stimulus.seen(&Seen {
            pins: &pins,
            state,
            unspecified: free.as_ref(),
            points: &points,
        });
        stimulus.load(golden, |_| ());
    }
}
