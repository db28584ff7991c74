//! Monitors of a lock-step run.

use crate::program::Programs;

/// Observes a run cycle by cycle.
pub trait Watch<U: Programs> {
    /// Called before the golden model executes a cycle with `pins`.
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden);
    /// Called after the golden model has executed the cycle.
    fn after(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden);
    /// Called when RTL and golden model have been put into the state `start`, after the cycle that was observed last.
    fn loaded(&mut self, _start: &U::Start) {}
    /// Returns true if the run may end early. Only [`crate::stimulus::golden_alone`] calls this.
    fn enough(&self) -> bool {
        false
    }
}

/// Calls a function once every 1024 cycles, with the cycle's number: shows progress of a run at no noticeable cost.
pub struct Pulse<F>(pub F);

impl<U: Programs, F: FnMut(u64)> Watch<U> for Pulse<F> {
    #[inline]
    fn before(&mut self, cycle: u64, _: &U::In, _: &U::Golden) {
        if cycle.is_multiple_of(1024) {
            (self.0)(cycle);
        }
    }
    #[inline]
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// Ignores the run.
impl<U: Programs> Watch<U> for () {
    #[inline]
    fn before(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
    #[inline]
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// Two watches that both observe the run.
impl<U: Programs, A: Watch<U>, B: Watch<U>> Watch<U> for (A, B) {
    #[inline]
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        self.0.before(cycle, pins, golden);
        self.1.before(cycle, pins, golden);
    }
    // As often called as [`Stimulus::after`](reconverge_bench::lockstep::Stimulus::after) of what gives the pins.
    #[inline(always)]
    fn after(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        self.0.after(cycle, pins, golden);
        self.1.after(cycle, pins, golden);
    }
    #[inline]
    fn loaded(&mut self, start: &U::Start) {
        self.0.loaded(start);
        self.1.loaded(start);
    }
}

/// Observes the run if it is `Some`.
impl<U: Programs, W: Watch<U>> Watch<U> for Option<W> {
    #[inline]
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        if let Some(watch) = self {
            watch.before(cycle, pins, golden);
        }
    }
    #[inline]
    fn after(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        if let Some(watch) = self {
            watch.after(cycle, pins, golden);
        }
    }
    #[inline]
    fn loaded(&mut self, start: &U::Start) {
        if let Some(watch) = self {
            watch.loaded(start);
        }
    }
}

impl<U: Programs, W: Watch<U> + ?Sized> Watch<U> for &mut W {
    #[inline]
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        (**self).before(cycle, pins, golden);
    }
    #[inline]
    fn after(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        (**self).after(cycle, pins, golden);
    }
    #[inline]
    fn loaded(&mut self, start: &U::Start) {
        (**self).loaded(start);
    }
    fn enough(&self) -> bool {
        (**self).enough()
    }
}
