//! Conditions, and how often they are true: what a loop must offer so that every thread gets out.

use std::sync::LazyLock;

use rand::Rng;

use super::Builder;
use crate::generate::pick;
use crate::spa5::isa::{Cond, Pred, Test};

impl<R: Rng + ?Sized> Builder<'_, R> {
    /// A condition that is true for some threads and false for others.
    pub(super) fn cond(&mut self) -> Cond {
        let pred = Pred {
            number: self.rng.random_range(0..7),
            not: self.rng.random(),
        };
        let kind = self.rng.random_range(0..8);
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

    /// A condition that is never true.
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

    /// One or two conditions of which one is true with a chance of at least `least`, up to 3/4, whatever p16.
    pub(super) fn leaving(&mut self, least: f64) -> Vec<Cond> {
        for _ in 0..12 {
            let conds: Vec<Cond> = (0..self.rng.random_range(1..3))
                .map(|_| self.cond())
                .collect();
            if at_least(&conds) >= least {
                return conds;
            }
        }
        let number = self.rng.random_range(0..7);
        vec![Cond::pred(Pred::p(number)), Cond::pred(Pred::not_p(number))]
    }

    /// A condition that is false with a chance of at least `least`, up to 1/16 without CC tests, 3/4 with
    /// them; `None` if there is none.
    pub(super) fn staying(&mut self, least: f64) -> Option<Cond> {
        let stays = |cond: &Cond| (1..16).all(|p16| none_of(&[*cond], p16)[0] + 1e-9 >= least);
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

/// The chance that none of `conds` is true for a thread whose condition bits are each 1 `p16` times in 16:
/// if they all look at the same bits, and if each looks at its own. At most two.
pub(in crate::spa5::generate) fn none_of(conds: &[Cond], p16: u32) -> [f64; 2] {
    let p = f64::from(p16) / 16.0;
    // That a predicate is false, and that it is true.
    let false_ = |pred: Pred| match (pred.number, pred.not) {
        (7, not) => f64::from(u8::from(not)),
        (_, false) => 1.0 - p,
        (_, true) => p,
    };
    let both_false = |a: Pred, b: Pred| match a.number == b.number {
        true if a.not != b.not => 0.0,
        true => false_(a),
        false => false_(a) * false_(b),
    };
    let passes = |cond: &Cond, cc: u16| TESTS[usize::from(cond.test.bits())] >> cc & 1 == 1;
    let chances = &CODES[p16 as usize];
    let over_codes = |none: &dyn Fn(u16) -> f64| -> f64 {
        (0..16)
            .map(|cc: u16| chances[cc.count_ones() as usize] * none(cc))
            .sum()
    };
    let same = over_codes(&|cc| {
        let mut left = conds.iter().filter(|c| passes(c, cc)).map(|c| c.pred);
        match (left.next(), left.next()) {
            (None, _) => 1.0,
            (Some(a), None) => false_(a),
            (Some(a), Some(b)) => both_false(a, b),
        }
    });
    let alone = |c: &Cond| over_codes(&|cc| if passes(c, cc) { false_(c.pred) } else { 1.0 });
    [same, conds.iter().map(alone).product()]
}

/// The chance of one condition code with that many of its four bits set, each set `p16` times in 16: by p16, then by
/// the number of bits.
static CODES: LazyLock<[[f64; 5]; 17]> = LazyLock::new(|| {
    std::array::from_fn(|p16| {
        let p = p16 as f64 / 16.0;
        std::array::from_fn(|ones| p.powi(ones as i32) * (1.0 - p).powi(4 - ones as i32))
    })
});

/// The least chance that one of `conds` is true, over every p16 from 1 to 15, on the same bits or on others.
pub(in crate::spa5::generate) fn at_least(conds: &[Cond]) -> f64 {
    let most = (1..16)
        .flat_map(|p16| none_of(conds, p16))
        .fold(0.0, f64::max);
    // What sums of products lose.
    1.0 - most + 1e-9
}
