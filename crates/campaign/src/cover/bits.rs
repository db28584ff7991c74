//! Bits of pins and fields as bins of a unit with programs.

use bytemuck::bytes_of;

use super::{Axis, Declaration, Hits, When};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::stream::coverage::{each_word, items};

/// The groups `pins` and `fields`: of each bit one bin for 0, and one for 1.
pub(super) struct Bits {
    /// The first bin of each pin and field, in the order of [`items`], and its bits.
    items: Vec<(usize, u64)>,
}

/// What was seen in a case.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The bits that were 0, and those that were 1, of each byte of the pins and of the state.
    bytes: [Vec<u8>; 2],
    /// The same of each pin and field.
    items: Vec<[u64; 2]>,
}

impl Seen {
    /// Adds bytes from number `from` on; returns whether one of their bits is new. Few cycles have a new bit; the others cost this pass only.
    fn add(&mut self, from: usize, bytes: &[u8]) -> bool {
        let [zeros, ones] = &mut self.bytes;
        let seen = zeros[from..].iter_mut().zip(&mut ones[from..]);
        let new = seen.zip(bytes).fold(0, |new, ((zeros, ones), byte)| {
            let more = byte & !*ones | !byte & !*zeros;
            *zeros |= !byte;
            *ones |= byte;
            new | more
        });
        new != 0
    }
}

impl Bits {
    /// Declares the groups of `D` with `build`. `why` returns why a bit of a pin or field cannot have a value; a value that the declaration of
    /// a pin excludes it cannot have either.
    pub(super) fn declare<D: Design>(
        declaration: &mut Declaration,
        build: &Build,
        why: impl Fn(&str, u32, u32) -> Option<&'static str>,
    ) -> Self {
        let items = items::<D>(build.lanes);
        let (pins, fields) = items.split_at(D::DECLARATION.pins.len());
        let mut bits = Vec::new();
        for (group, items) in [("pins", pins), ("fields", fields)] {
            let (mut values, mut never) = (Vec::new(), Vec::new());
            for item in items {
                bits.push((values.len(), u64::MAX >> (64 - item.width)));
                for (bit, is) in (0..item.width).flat_map(|bit| [(bit, 0), (bit, 1)]) {
                    let place = if item.width > 1 {
                        format!("[{bit}]")
                    } else {
                        String::new()
                    };
                    values.push(format!("{}{place}={is}", item.name));
                    let excluded = item.reached[is as usize] >> bit & 1 == 0;
                    let excluded = excluded.then_some("the declaration of the pin excludes it");
                    never.push(why(item.name, bit, is).or(excluded));
                }
            }
            let about = "each bit: cases in which it was 0, and 1; of a list, that of an element";
            let axis = Axis {
                name: "bit".to_owned(),
                values,
            };
            let first = declaration.group(When::Sometimes, group, about, vec![axis]);
            declaration.unreachable[first..].copy_from_slice(&never);
            let own = bits.len() - items.len();
            bits[own..].iter_mut().for_each(|(bin, _)| *bin += first);
        }
        Bits { items: bits }
    }

    /// Samples a cycle.
    pub(super) fn sample<D: Design>(
        &self,
        seen: &mut Seen,
        pins: &D::In,
        state: &D::State,
        hits: &mut Hits,
    ) {
        let (pins_size, size) = (
            size_of::<D::In>(),
            size_of::<D::In>() + size_of::<D::State>(),
        );
        if seen.items.is_empty() {
            seen.bytes = [vec![0; size], vec![0; size]];
            seen.items = vec![[0; 2]; self.items.len()];
        }
        let new = [
            seen.add(0, bytes_of(pins)),
            seen.add(pins_size, bytes_of(state)),
        ];
        if new == [false; 2] {
            return;
        }
        each_word::<D>(pins, state, |item, word| {
            let (first, bits) = self.items[item];
            for (is, was) in [!word & bits, word & bits].into_iter().enumerate() {
                let mut more = was & !seen.items[item][is];
                seen.items[item][is] |= was;
                while more != 0 {
                    hits.hit_bin(first + 2 * more.trailing_zeros() as usize + is);
                    more &= more - 1;
                }
            }
        });
    }
}
