//! Conditions, and how often they are true, so that every thread can leave a loop.

use std::sync::LazyLock;

use rand::Rng;

use super::Builder;
use crate::spa5::isa::{Cond, Pred, Test};
use reconverge_program::generate::{pick, within};

impl<R: Rng + ?Sized> Builder<'_, R> {
    /// Returns a condition that is true for some threads and false for others.
    pub(super) fn cond(&mut self) -> Cond {
        let pred = Pred {
            number: within(self.rng, 0..7),
            not: self.rng.random(),
        };
        let kind = within(self.rng, 0..8);
        let cond = match self.options.tests {
            true if kind < 3 => {
                // Neither F nor T.
                let test = pick(self.rng, VARYING_TESTS);
                match kind {
                    0 => Cond { pred, test },
                    _ => Cond::test(test),
                }
            }
            _ => Cond::pred(pred),
        };
        let both = cond.pred.number != 7 && cond.test != Test::T;
        self.met_if(both, "both predicate and CC test");
        self.met_if(cond.pred.not, "inverted predicate");
        cond
    }

    /// Returns a condition that is never true.
    pub(super) fn never(&mut self) -> Cond {
        let cond = self.cond();
        match self.options.tests && self.rng.random() {
            true => Cond {
                test: Test::F,
                ..cond
            },
            false => Cond {
                pred: Pred::NEVER,
                ..cond
            },
        }
    }

    /// Returns one or two conditions, one of which is true with a probability of at least `least`, up to 3/4, whatever p16.
    pub(super) fn leaving(&mut self, least: f64) -> Vec<Cond> {
        for _ in 0..12 {
            let conds: Vec<Cond> = (0..within(self.rng, 1..3)).map(|_| self.cond()).collect();
            if at_least(&conds) >= least {
                return conds;
            }
        }
        let number = within(self.rng, 0..7);
        vec![Cond::pred(Pred::p(number)), Cond::pred(Pred::not_p(number))]
    }

    /// Returns a condition that is false with a probability of at least `least`, up to 1/16 without CC tests, 3/4 with
    /// them; `None` if there is none.
    pub(super) fn staying(&mut self, least: f64) -> Option<Cond> {
        let stays = |cond: &Cond| {
            let is_false = false_by(cond.test, &false_(cond.pred));
            is_false[1..16].iter().all(|none| none + 1e-9 >= least)
        };
        (0..12).map(|_| self.cond()).find(stays)
    }
}

/// CC tests that depend on the condition code (spa5-2.4).
const VARYING_TESTS: &[Test] = &[
    Test::Lt,
    Test::Eq,
    Test::Le,
    Test::Gt,
    Test::Ne,
    Test::Ge,
    Test::Num,
    Test::Nan,
    Test::Ltu,
    Test::Equ,
    Test::Leu,
    Test::Gtu,
    Test::Neu,
    Test::Geu,
    Test::Off,
    Test::Lo,
    Test::Sff,
    Test::Ls,
    Test::Hi,
    Test::Sft,
    Test::Hs,
    Test::Oft,
];

/// The condition codes for which a test is true: bit 8 O + 4 C + 2 S + Z (spa5-2.4).
pub(in crate::spa5::generate) const TESTS: [u16; 24] = [
    0x0000, 0xbb44, 0x2222, 0x3366, 0x4411, 0x5555, 0xcc33, 0x7777, 0x8888, 0x33cc, 0xaaaa, 0xbbee,
    0xcc99, 0xdddd, 0x44bb, 0xffff, 0x00ff, 0x0f0f, 0x3333, 0xafaf, 0x5050, 0xcccc, 0xf0f0, 0xff00,
];

/// A number for each p16 from 0 to 16.
type ByP16 = [f64; 17];

/// Returns `of` for each p16. The loop is vectorised; that of `array::from_fn` calls `of` 17 times.
fn by_p16(of: impl Fn(usize) -> f64) -> ByP16 {
    let mut all = [0.0; 17];
    for (p16, one) in all.iter_mut().enumerate() {
        *one = of(p16);
    }
    all
}

/// Returns the probability that none of `conds` is true for a thread whose condition bits are each 1 p16 times in 16, by p16:
/// if they all use the same bits, and if each uses its own. There are at most two conditions.
///
/// All p16 are computed at once, so that a compiler can vectorise.
pub(in crate::spa5::generate) fn none_of(conds: &[Cond]) -> [ByP16; 2] {
    let (a, b) = (conds.first(), conds.get(1));
    // A missing condition has test F, number 0, which is never true.
    let test = |cond: Option<&Cond>| cond.map_or(0, |cond| usize::from(cond.test.bits()));
    let falses = |cond: Option<&Cond>| cond.map_or([1.0; 17], |cond| false_(cond.pred));
    let (false_a, false_b) = (falses(a), falses(b));
    let both = match (a, b) {
        (Some(a), Some(b)) if a.pred.number == b.pred.number => match a.pred.not == b.pred.not {
            true => false_a,
            false => [0.0; 17],
        },
        _ => by_p16(|p16| false_a[p16] * false_b[p16]),
    };
    let [neither, only_a, only_b, a_and_b] = &PASSING[test(a)][test(b)];
    let same = by_p16(|p16| {
        neither[p16]
            + only_a[p16] * false_a[p16]
            + only_b[p16] * false_b[p16]
            + a_and_b[p16] * both[p16]
    });
    let alone = |cond: Option<&Cond>, falses: &ByP16| {
        cond.map_or([1.0; 17], |cond| false_by(cond.test, falses))
    };
    let (each_a, each_b) = (alone(a, &false_a), alone(b, &false_b));
    [same, by_p16(|p16| each_a[p16] * each_b[p16])]
}

/// Returns the probability that a condition is false, by p16: its test `test` fails, or its predicate is false, with probability `pred`.
fn false_by(test: Test, pred: &ByP16) -> ByP16 {
    let [fails, passes, ..] = &PASSING[usize::from(test.bits())][0];
    by_p16(|p16| fails[p16] + passes[p16] * pred[p16])
}

/// Returns the probability that a predicate is false, by p16.
fn false_(pred: Pred) -> ByP16 {
    by_p16(|p16| {
        let p = p16 as f64 / 16.0;
        match (pred.number, pred.not) {
            (7, not) => f64::from(u8::from(not)),
            (_, false) => 1.0 - p,
            (_, true) => p,
        }
    })
}

/// By the numbers of two tests: the probability that the same condition code, each of whose bits is set p16 times in 16, passes
/// neither, only the first, only the second, or both.
static PASSING: LazyLock<Box<[[[ByP16; 4]; 24]; 24]>> = LazyLock::new(|| {
    let mut passing = Box::new([[[[0.0; 17]; 4]; 24]; 24]);
    for (code, p16) in (0..16usize).flat_map(|code| (0..17).map(move |p16| (code, p16))) {
        let (p, ones) = (p16 as f64 / 16.0, code.count_ones() as i32);
        let chance = p.powi(ones) * (1.0 - p).powi(4 - ones);
        for (a, of_a) in passing.iter_mut().enumerate() {
            for (b, of_both) in of_a.iter_mut().enumerate() {
                let passes = |test: usize| usize::from(TESTS[test] >> code & 1);
                of_both[passes(a) | passes(b) << 1][p16] += chance;
            }
        }
    }
    passing
});

/// Returns the least probability that one of `conds` is true, over every p16 from 1 to 15, on the same bits or on others.
pub(in crate::spa5::generate) fn at_least(conds: &[Cond]) -> f64 {
    let chances = none_of(conds);
    let most = chances.iter().flat_map(|by| &by[1..16]);
    let most = most.copied().fold(0.0, f64::max);
    // The rounding error of the sums of products.
    1.0 - most + 1e-9
}
