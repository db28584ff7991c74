//! Values for which a design waits are drawn.

use own_unit::lock::{DECLARATION, Golden, In, Lock, State, rtl};
use reconverge::campaign::{Options, fuzz};
use reconverge::design::{self, Build, Design, Random};
use reconverge::dut::Rtl;
use reconverge::field::Declaration;
use reconverge::stream::Stream;

use crate::common::planted;

/// All of them are short: in a long one the word stays as it is for many cycles.
const STREAMS: u64 = 15;

/// Returns the cycles up to the mistake, if the streams find it.
fn found<D: Design>(mistake: (&str, &str)) -> Option<u64> {
    let dir = planted("lock/lock.sv", &[mistake]);
    let rtl = Rtl::<D>::of(1, &dir.path().join("lock")).unwrap();
    let options = Options::default()
        .cases(STREAMS)
        .out(dir.path().join("failures"));
    let found = fuzz::<Stream<D>>(&rtl, &options).err()?;
    Some(found.failure.cycle())
}

/// A write of the right word does not open the lock.
const OPENS: (&str, &str) = ("open_q <= 1'b1", "open_q <= open_q");
/// A word that is written twice is not counted, unless its ends are the same: of 0 and the greatest number, which are drawn often, they are.
const REPEATS: (&str, &str) = (
    "data_i == last_q",
    "data_i == last_q && data_i[31] == data_i[0]",
);

/// Regression: a comparison of 32 bits was never true, because every value was drawn by itself.
#[test]
fn what_a_comparison_of_32_bits_waits_for_is_drawn() {
    for mistake in [OPENS, REPEATS] {
        assert!(found::<Lock>(mistake).is_some(), "{mistake:?}");
    }
    let rtl = Rtl::<Lock>::of(1, &rtl()).unwrap();
    let options = Options::default()
        .cases(200)
        .out(env!("CARGO_TARGET_TMPDIR"));
    let met = fuzz::<Stream<Lock>>(&rtl, &options).unwrap();
    assert_eq!(met.coverage(rtl.build()).missing::<Lock>(), [""; 0]);
}

/// The lock without its literals; the words come from [`Golden::choose`], if it is `CHOOSING`.
#[derive(Clone, Copy, Debug)]
struct Without<const CHOOSING: bool>;

const NONE: Declaration = Declaration {
    literals: &[],
    ..DECLARATION
};

impl<const CHOOSING: bool> Design for Without<CHOOSING> {
    const DECLARATION: &'static Declaration = &NONE;
    type In = In;
    type State = State;
    type Golden = Model<CHOOSING>;
}

#[derive(Clone)]
struct Model<const CHOOSING: bool>(Golden);

impl<const CHOOSING: bool> design::Golden<Without<CHOOSING>> for Model<CHOOSING> {
    fn build(build: &Build) -> Self {
        Model(design::Golden::<Lock>::build(build))
    }
    fn cycle(&mut self, pins: &In) -> &State {
        design::Golden::<Lock>::cycle(&mut self.0, pins)
    }
    fn state(&self) -> &State {
        design::Golden::<Lock>::state(&self.0)
    }
    fn choose(&self, pins: &mut In, random: &mut Random) {
        if CHOOSING && random.percent(1) {
            pins.data = 0x600d_cafe;
        }
    }
}

/// The literal is what finds the first mistake; a golden model may choose it too.
#[test]
fn without_its_literal_the_word_is_not_drawn_unless_the_golden_model_chooses_it() {
    assert_eq!(found::<Without<false>>(OPENS), None);
    assert!(found::<Without<true>>(OPENS).is_some());
    // The same seed draws the same stream.
    let [one, other] = [1, 2].map(|_| Stream::<Without<true>>::random(7, 300, &Build::from(1)));
    assert_eq!(one.text(), other.text());
}
