//! The memory of a unit's stack: what unwinds the stack brings every stored bit into the state, so that the top of the stack compared in
//! every cycle is the whole stack compared.

use bytemuck::{bytes_of, bytes_of_mut};
use reconverge::design::Golden as _;
use reconverge::field::{Field, diff};
use reconverge::unit::Unit;

use crate::machine::{Machine, stalled};

/// A filled stack.
pub struct Filled<U: Unit> {
    /// Lanes.
    pub lanes: usize,
    /// The golden model that was filled.
    pub golden: U::Golden,
    /// Pins up to the launch.
    pub launch: Vec<U::In>,
    /// The states in which each frame was just pushed, the last of them full.
    pub pushed: Vec<U::State>,
    /// Pins that unwind it.
    pub unwind: Vec<U::In>,
    /// After how many cycles of these each frame shows in the state.
    pub shows: Vec<usize>,
}

impl<U: Unit> Filled<U> {
    fn full(&self) -> &U::State {
        &self.pushed[self.pushed.len() - 1]
    }

    /// Loads the stack into `machine`, which writes a frame with each state.
    pub fn load(&self, machine: &mut (impl Machine<U> + ?Sized)) {
        for pins in &self.launch {
            machine.clock(pins);
        }
        for state in &self.pushed {
            put::<U>(machine, state);
        }
    }

    /// A bit of the golden model's memory flipped anywhere shows as one bit of one field in the very cycle in which its frame shows.
    /// `bits` of frame `number` can be flipped by `flip`. Returns how many there were.
    pub fn no_stored_bit_escapes<F: PartialEq>(
        &self,
        stack: impl Fn(&U::Golden) -> Vec<F>,
        bits: impl Fn(usize) -> u32,
        flip: impl Fn(&mut U::Golden, usize, u32),
    ) -> usize {
        let frames = stack(&self.golden);
        assert_eq!(frames.len(), self.pushed.len());
        let mut flips = 0;
        for (number, shows) in self.shows.iter().enumerate() {
            for bit in 0..bits(number) {
                let at = format!("frame {number}, bit {bit}");
                let mut faulty = self.golden.clone();
                flip(&mut faulty, number, bit);
                let changed =
                    (frames.iter().zip(stack(&faulty))).map(|(frame, other)| *frame != other);
                let expected = (0..frames.len()).map(|frame| frame == number);
                assert!(changed.eq(expected), "{at}: one frame");
                let found = *faulty.state();
                let field = self.unwound(found, |pins| *faulty.cycle(pins), *shows, &at);
                assert_eq!(field.1.count_ones(), 1, "{at}");
                flips += 1;
            }
        }
        // A bit that is not stored, and a frame that does not exist.
        let mut same = self.golden.clone();
        flip(&mut same, 0, bits(0));
        flip(&mut same, frames.len(), 0);
        assert!(stack(&same) == frames && same.state() == self.golden.state());
        flips
    }

    /// The same for the memory of `machine`, also if it consists of flip-flops: the fault is planted by loading the state in which the frame
    /// was on top with one bit of it changed, and then the full state, which does not write the frame again. `shown` are the fields that
    /// show the top of a state, with the bits that are stored of each.
    pub fn every_stored_bit_shows(
        &self,
        machine: &mut (impl Machine<U> + ?Sized),
        shown: impl Fn(&U::State) -> Vec<(&'static Field, u32)>,
    ) -> usize {
        let mut flips = 0;
        for ((number, on_top), shows) in self.pushed.iter().enumerate().zip(&self.shows) {
            for (field, width) in shown(on_top) {
                let bits =
                    (0..field.elements(self.lanes)).flat_map(|e| (0..width).map(move |b| (e, b)));
                for (element, bit) in bits {
                    let at = format!("frame {number}, {}[{element}].{bit}", field.name);
                    self.load(machine);
                    let flipped = |state: &U::State| {
                        let mut state = *state;
                        field.flip(bytes_of_mut(&mut state), element, bit as usize);
                        state
                    };
                    put::<U>(machine, &flipped(on_top));
                    // Where the frame shows in the full state, that would write it again.
                    let full = match shows {
                        0 => flipped(self.full()),
                        _ => *self.full(),
                    };
                    put::<U>(machine, &full);
                    let seen = self.unwound(full, |pins| machine.clock(pins), *shows, &at);
                    assert_eq!(seen, (field.name, 1 << bit), "{at}");
                    flips += 1;
                }
            }
        }
        flips
    }

    /// Unwinds a faulty stack, from state `found` on, beside the good one, until they differ, which must be after as many cycles as it
    /// takes until the frame shows. Returns the one field that differs, and its bits.
    fn unwound(
        &self,
        mut found: U::State,
        mut clock: impl FnMut(&U::In) -> U::State,
        shows: usize,
        at: &str,
    ) -> (&'static str, u64) {
        let mut clean = self.golden.clone();
        let mut cycles = 0;
        while found == *clean.state() {
            found = clock(&self.unwind[cycles]);
            clean.cycle(&self.unwind[cycles]);
            cycles += 1;
        }
        assert_eq!(cycles, shows, "{at}: seen late");
        let seen = diff(U::fields(), bytes_of(&found), bytes_of(clean.state()));
        assert_eq!(seen.len(), 1, "{at}: {seen:?}");
        (
            U::fields()[seen[0].field].name,
            seen[0].rtl ^ seen[0].golden,
        )
    }

    /// A stack that is loaded unwinds like the original; returns the state at the end.
    pub fn a_loaded_stack_unwinds(&self, machine: &mut (impl Machine<U> + ?Sized)) -> U::State {
        self.load(machine);
        let mut golden = self.golden.clone();
        for (cycle, pins) in self.unwind.iter().enumerate() {
            assert!(machine.clock(pins) == *golden.cycle(pins), "cycle {cycle}");
        }
        *golden.state()
    }
}

/// Puts `machine` into `state`.
pub fn put<U: Unit>(machine: &mut (impl Machine<U> + ?Sized), state: &U::State) {
    machine.load(state);
    assert!(machine.clock(&stalled::<U>()) == *state, "loaded");
}
