//! Looking on at a lock-step run.

use crate::program::Programs;

/// Looks on, clock by clock.
pub trait Watch<U: Programs> {
    /// The golden is about to take `pins`.
    fn before(&mut self, clock: u64, pins: &U::In, golden: &U::Golden);
    /// The golden has taken them.
    fn after(&mut self, clock: u64, pins: &U::In, golden: &U::Golden);
    /// RTL and golden have been put into the state `start`, behind the cycle that was last looked at.
    fn loaded(&mut self, _start: &U::Start) {}
    /// Whether the run may end here, before its end: asked by [`crate::stimulus::golden_alone`] alone.
    fn enough(&self) -> bool {
        false
    }
}

/// Calls a function in one of 1024 cycles, with its number: shows that a run goes on, and costs it nothing.
pub struct Pulse<F>(pub F);

impl<U: Programs, F: FnMut(u64)> Watch<U> for Pulse<F> {
    #[inline]
    fn before(&mut self, cycle: u64, _: &U::In, _: &U::Golden) {
        if cycle.is_multiple_of(1024) {
            (self.0)(cycle);
        }
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// Ignores what happens.
impl<U: Programs> Watch<U> for () {
    fn before(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// Both look.
impl<U: Programs, A: Watch<U>, B: Watch<U>> Watch<U> for (A, B) {
    #[inline]
    fn before(&mut self, clock: u64, pins: &U::In, golden: &U::Golden) {
        self.0.before(clock, pins, golden);
        self.1.before(clock, pins, golden);
    }
    #[inline]
    fn after(&mut self, clock: u64, pins: &U::In, golden: &U::Golden) {
        self.0.after(clock, pins, golden);
        self.1.after(clock, pins, golden);
    }
    fn loaded(&mut self, start: &U::Start) {
        self.0.loaded(start);
        self.1.loaded(start);
    }
}

/// Looks only if it is there.
impl<U: Programs, W: Watch<U>> Watch<U> for Option<W> {
    fn before(&mut self, clock: u64, pins: &U::In, golden: &U::Golden) {
        if let Some(watch) = self {
            watch.before(clock, pins, golden);
        }
    }
    fn after(&mut self, clock: u64, pins: &U::In, golden: &U::Golden) {
        if let Some(watch) = self {
            watch.after(clock, pins, golden);
        }
    }
    fn loaded(&mut self, start: &U::Start) {
        if let Some(watch) = self {
            watch.loaded(start);
        }
    }
}

impl<U: Programs, W: Watch<U> + ?Sized> Watch<U> for &mut W {
    fn before(&mut self, clock: u64, pins: &U::In, golden: &U::Golden) {
        (**self).before(clock, pins, golden);
    }
    fn after(&mut self, clock: u64, pins: &U::In, golden: &U::Golden) {
        (**self).after(clock, pins, golden);
    }
    fn loaded(&mut self, start: &U::Start) {
        (**self).loaded(start);
    }
    fn enough(&self) -> bool {
        (**self).enough()
    }
}
