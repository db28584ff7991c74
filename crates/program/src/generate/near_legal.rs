//! Near-legal programs: legal ones with one change, just outside the rules.

use rand::Rng;

use super::{choose, one_of, pick, within};
use crate::instructions::Instructions;
use crate::layout::{Bits, get, put};

/// A way to break a program of type `P`: its name, its weight, and the change, which returns `None` if the program has nothing to which
/// it applies.
pub type Fault<R, P> = (&'static str, u32, fn(&mut R, &mut P) -> Option<()>);

/// Changes `program` by one of `faults`, or by one that suits every program: two instructions swapped or one copied over another, a bit
/// flipped, a target moved.
pub fn break_one<P: Instructions, R: Rng + ?Sized>(
    rng: &mut R,
    program: &mut P,
    faults: &[Fault<R, P>],
) {
    let all: Vec<_> = (faults.iter().chain(&any_program()))
        .map(|(_, weight, change)| (*change, *weight))
        .collect();
    // Not every program has what a fault needs.
    for _ in 0..8 {
        if choose(rng, &all)(rng, program).is_some() {
            return;
        }
    }
}

/// Returns the faults of any program.
fn any_program<P: Instructions, R: Rng + ?Sized>() -> [Fault<R, P>; 4] {
    [
        ("bit", 4, |rng, program| {
            program.flip(any(rng, program)?, rng.random());
            Some(())
        }),
        ("swap", 2, |rng, program| {
            let (old, [a, b]) = (program.clone(), [any(rng, program)?, any(rng, program)?]);
            program.copy(a, &old, b);
            program.copy(b, &old, a);
            Some(())
        }),
        ("copy", 2, |rng, program| {
            let (old, [a, b]) = (program.clone(), [any(rng, program)?, any(rng, program)?]);
            program.copy(a, &old, b);
            Some(())
        }),
        ("target", 4, |rng, program| {
            // Not every instruction has a target.
            let led = (0..8).find_map(|_| {
                let (from, to) = (any(rng, program)?, any(rng, program)?);
                let to = pick(rng, &[to, to, from, from + 1]);
                let led = program.retargeted(from, to);
                one_of(rng, led)
            });
            *program = led?;
            Some(())
        }),
    ]
}

/// Returns the number of any instruction of `program`; `None` if there is none.
pub(crate) fn any<P: Instructions, R: Rng + ?Sized>(rng: &mut R, program: &P) -> Option<usize> {
    let count = program.count();
    (count > 0).then(|| within(rng, 0..count))
}

/// Returns one of `all` for which `wanted` holds; `None` if there is none.
pub fn find<T: Copy, R: Rng + ?Sized>(
    rng: &mut R,
    all: impl Iterator<Item = T>,
    wanted: impl FnMut(&T) -> bool,
) -> Option<T> {
    let found: Vec<T> = all.filter(wanted).collect();
    (!found.is_empty()).then(|| pick(rng, &found))
}

/// Returns `words` with another value in the field at `bits`: one more or one less, as next to a limit, or any.
pub fn with_other_value<const N: usize, R: Rng + ?Sized>(
    rng: &mut R,
    bits: &[Bits],
    words: [u64; N],
) -> [u64; N] {
    let old = get(bits, &words);
    let new = match within(rng, 0..4) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        _ => rng.random(),
    };
    put(bits, words, new)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::words::Words;
    use crate::words::tests::Small;

    /// A fault that never applies is tried again as another one.
    #[test]
    fn each_fault_of_any_program_applies_to_most_programs() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let legal = Words::<Small>::new("p", vec![0, 0x15, 1, 0x10, 2, 0x13]);
        let mut draws = |faults: &[Fault<Pcg64Mcg, _>], change: Option<usize>| {
            let broken = (0..100).filter(|_| {
                let mut program = legal.clone();
                match change {
                    Some(n) => _ = any_program()[n].2(&mut rng, &mut program),
                    None => break_one(&mut rng, &mut program, faults),
                }
                program != legal
            });
            broken.count()
        };
        for (n, (name, ..)) in any_program::<Words<Small>, Pcg64Mcg>().iter().enumerate() {
            let broken = draws(&[], Some(n));
            assert!(broken >= 50, "{name}: {broken} of 100");
        }
        assert!(draws(&[("never", 1000, |_, _| None)], None) >= 5);
        let clear: Fault<_, Words<Small>> = ("clear", 1000, |_, program| {
            program.words.clear();
            Some(())
        });
        assert_eq!(draws(&[clear], None), 100);
        let mut empty = Words::<Small>::new("empty", Vec::new());
        break_one(&mut Pcg64Mcg::seed_from_u64(1), &mut empty, &[]);
        assert_eq!(empty.count(), 0);
    }

    #[test]
    fn other_values_stay_in_their_field_and_are_next_to_the_old_one_or_any() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let bits = [Bits {
            word: 1,
            high: 5,
            low: 2,
        }];
        let mut seen = [0; 16];
        for _ in 0..1600 {
            let [other, word] = with_other_value(&mut rng, &bits, [9, 0xfff]);
            assert_eq!((other, word | 15 << 2), (9, 0xfff));
            seen[(word >> 2 & 15) as usize] += 1;
        }
        assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
        assert!(seen[0] > 300 && seen[14] > 300, "{seen:?}");
    }
}
