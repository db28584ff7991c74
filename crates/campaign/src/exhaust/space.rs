//! The states of a world, found by breadth-first search with the golden model alone.

use std::hash::Hasher;

use bytemuck::{Zeroable, bytes_of, bytes_of_mut};
use rustc_hash::FxHasher;

use super::{World, head, transitions};
use reconverge_bench::design::{Build, Control, Golden};
use reconverge_program::program::{Executor, Programs};

/// No state: an empty slot of the table.
const NONE: u32 = u32::MAX;

/// Returns a hash of `bytes`, the same in every process.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    // The table uses the low bits, which the last multiplication of the hash mixes poorly.
    let hash = hasher.finish();
    hash ^ hash >> 32
}

/// There are more states than the limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// A violated invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Number of the state.
    pub state: usize,
    /// Rule id of the invariant.
    pub rule: &'static str,
}

/// The states of a world found so far, in the order of discovery. A state is stored as the bytes in which each of its
/// [`World::loads`] differs from the first state.
pub struct Space<'w, U: Programs> {
    world: &'w dyn World<U>,
    root: U::State,
    /// The golden model after the first launch.
    base: U::Golden,
    bytes: Vec<u8>,
    /// End of each state in `bytes`.
    ends: Vec<usize>,
    /// For each state, the state from which it was found, and the number of the transition.
    parents: Vec<(u32, u32)>,
    /// Hash table of state numbers: open addressing by [`hash`], the size is a power of two.
    table: Vec<u32>,
    /// Number of states found at each depth; the last depth may be incomplete.
    levels: Vec<usize>,
    /// The next state to expand.
    next: usize,
    /// Maximum number of states.
    limit: usize,
    broken: Option<Broken>,
}

/// Encodes `loads` as the bytes in which they differ from `root`.
fn packed<S: bytemuck::Pod>(root: &S, loads: &[S]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(48);
    bytes.extend((loads.len() as u16).to_le_bytes());
    for state in loads {
        let count = bytes.len();
        bytes.extend([0; 2]);
        let (mut changed, mut last) = (0u16, 0);
        for (at, (new, old)) in bytes_of(state).iter().zip(bytes_of(root)).enumerate() {
            if new == old {
                continue;
            }
            // A distance of more than 255 is encoded as several steps; all but the last write an unchanged byte.
            while at - last > 255 {
                last += 255;
                bytes.extend([255, bytes_of(root)[last]]);
                changed += 1;
            }
            bytes.extend([(at - last) as u8, *new]);
            changed += 1;
            last = at;
        }
        bytes[count..count + 2].copy_from_slice(&changed.to_le_bytes());
    }
    bytes
}

/// Decodes `bytes` of a [`Space`] with first state `root` into the states to load. Invalid bytes give arbitrary states or
/// none, but never a panic.
pub fn unpacked<S: bytemuck::Pod>(root: &S, bytes: &[u8]) -> Vec<S> {
    let mut rest = bytes.iter().copied();
    let number = |rest: &mut dyn Iterator<Item = u8>| {
        u16::from_le_bytes([0; 2].map(|_: u8| rest.next().unwrap_or(0)))
    };
    let mut loads = Vec::new();
    for _ in 0..number(&mut rest) {
        let mut state = *root;
        let mut at = 0;
        for _ in 0..number(&mut rest) {
            at += usize::from(rest.next().unwrap_or(0));
            let value = rest.next().unwrap_or(0);
            if let Some(byte) = bytes_of_mut(&mut state).get_mut(at) {
                *byte = value;
            }
        }
        loads.push(state);
    }
    loads
}

/// Returns the golden model in the first state of `world`, and after its first launch.
pub fn base<U: Programs>(world: &dyn World<U>, build: &Build) -> (U::Golden, U::Golden) {
    let mut root = U::Golden::build(build);
    for pins in head(world) {
        root.cycle(&pins);
    }
    let mut base = root.clone();
    if let Some(launch) = world.launches().first() {
        base.cycle(launch);
    }
    (root, base)
}

impl<'w, U: Programs> Space<'w, U> {
    /// Returns a space with only the first state of `world`, the state after reset and host writes. It has room for `limit`
    /// states.
    pub fn new(world: &'w dyn World<U>, build: &Build, limit: usize) -> Self {
        let (root, base) = base(world, build);
        let mut space = Space {
            world,
            root: *root.state(),
            base,
            bytes: Vec::new(),
            ends: Vec::new(),
            parents: Vec::new(),
            table: vec![NONE; 1 << 12],
            levels: Vec::new(),
            next: 0,
            limit: limit.clamp(1, NONE as usize - 1),
            broken: None,
        };
        // Cannot fail: there is room for one state.
        let _ = space.insert(&root, (NONE, 0), 0);
        space
    }

    /// Returns the number of states found.
    pub fn found(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of states expanded.
    pub fn done(&self) -> usize {
        self.next
    }

    /// Returns the number of states at each depth; the first state is at depth 0.
    pub fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// Returns the first state in which an invariant is violated.
    pub fn broken(&self) -> Option<Broken> {
        self.broken
    }

    /// Returns the first state, to which the bytes of all states refer.
    pub fn root(&self) -> &U::State {
        &self.root
    }

    /// Returns the bytes of state `number`.
    pub fn bytes(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    /// Returns the states to load in sequence for state `number`.
    pub fn loads(&self, number: usize) -> Vec<U::State> {
        unpacked(&self.root, self.bytes(number))
    }

    /// Returns the depth of state `number`.
    pub fn depth(&self, number: usize) -> usize {
        let mut first = 0;
        for (depth, count) in self.levels.iter().enumerate() {
            first += count;
            if number < first {
                return depth;
            }
        }
        self.levels.len()
    }

    /// Returns the pins of every cycle from state `number`, with or without noise.
    pub fn transitions(&self, number: usize, noise: bool) -> Vec<U::In> {
        let shown = self.loads(number).last().copied();
        let shown = shown.unwrap_or_else(U::State::zeroed);
        transitions(self.world, &shown, noise.then(|| self.bytes(number)))
    }

    /// Returns the pins of a shortest path from the first state to state `number`.
    pub fn path(&self, number: usize, noise: bool) -> Vec<U::In> {
        let mut path = Vec::new();
        let mut at = number;
        while let (parent, transition) = self.parents[at]
            && parent != NONE
        {
            at = parent as usize;
            path.extend(self.transitions(at, noise).get(transition as usize));
        }
        path.reverse();
        path
    }

    /// Expands the next state and returns its number of transitions; `None` if all states are found.
    ///
    /// # Errors
    /// There are more states than the limit allows. All states before this one have been expanded.
    pub fn expand(&mut self) -> Result<Option<usize>, TooLarge> {
        let number = self.next;
        if number == self.found() {
            return Ok(None);
        }
        let loads = self.loads(number);
        let depth = self.depth(number) + 1;
        let all = self.transitions(number, true);
        let mut golden = self.base.clone();
        for (n, pins) in all.iter().enumerate() {
            if pins.is_reset() {
                // The state after a reset is the first state or, because the host writes are lost, outside the world.
                continue;
            }
            for state in &loads {
                golden.load(state);
            }
            golden.cycle(pins);
            if self.world.inside(&golden) {
                self.insert(&golden, (number as u32, n as u32), depth)?;
            }
        }
        self.next += 1;
        Ok(Some(all.len()))
    }

    /// Adds the state of `golden`, unless it is known.
    fn insert(
        &mut self,
        golden: &U::Golden,
        parent: (u32, u32),
        depth: usize,
    ) -> Result<(), TooLarge> {
        let new = packed(&self.root, &self.world.loads(golden));
        let mask = self.table.len() - 1;
        let mut place = hash(&new) as usize & mask;
        while self.table[place] != NONE {
            if self.bytes(self.table[place] as usize) == new {
                return Ok(());
            }
            place = (place + 1) & mask;
        }
        let number = self.found();
        if number == self.limit {
            return Err(TooLarge);
        }
        self.table[place] = number as u32;
        self.bytes.extend_from_slice(&new);
        self.ends.push(self.bytes.len());
        self.parents.push(parent);
        match self.levels.get_mut(depth) {
            Some(count) => *count += 1,
            None => self.levels.push(1),
        }
        if self.broken.is_none() {
            let rule = self.world.broken(golden);
            self.broken = rule.map(|rule| Broken {
                state: number,
                rule,
            });
        }
        if self.found() * 2 > self.table.len() {
            self.grow();
        }
        Ok(())
    }

    /// Doubles the size of the table.
    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let mut table = vec![NONE; mask + 1];
        for number in 0..self.found() {
            let mut place = hash(self.bytes(number)) as usize & mask;
            while table[place] != NONE {
                place = (place + 1) & mask;
            }
            table[place] = number as u32;
        }
        self.table = table;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_the_bytes_in_which_it_differs() {
        let root = [7u8; 600];
        let mut one = root;
        (one[0], one[255], one[256], one[599]) = (1, 2, 3, 4);
        let mut two = root;
        two[511] = 7 ^ 255;
        // The number of bytes that differ takes more than one byte from 256 on.
        let [most, more, all] = [255, 256, 600].map(|count| {
            let mut state = root;
            state[..count].fill(8);
            state
        });
        for loads in [
            vec![],
            vec![root],
            vec![one],
            vec![two, one, root],
            vec![most, more, all, one],
        ] {
            let bytes = packed(&root, &loads);
            assert_eq!(unpacked(&root, &bytes), loads);
        }
        assert_eq!(
            packed(&root, &[one]),
            [1, 0, 5, 0, 0, 1, 255, 2, 1, 3, 255, 7, 88, 4]
        );
    }

    #[test]
    fn bytes_of_no_state_are_no_panic() {
        let root = [0u8; 4];
        for bytes in [&[][..], &[3], &[1, 0, 9, 0, 255, 1, 255], &[255; 5]] {
            let _ = unpacked(&root, bytes);
        }
    }
}
