//! Transactions of a design with an asynchronous reset and a clear.

use reconverge::campaign::{Options, fuzz};
use reconverge::design::{Build, Design};
use reconverge::stream::Stream;
use reconverge::transactions::{Owed, Scoreboard, Transactions};

use super::{found, rtl};

crate::common::designs! {
    /// A register between two channels.
    post Post Posted;
}

type Posted = Scoreboard<Post, Letters<true>>;

/// Each letter is delivered, in order, unless a clear takes it away and the model knows of clears.
#[derive(Clone, Debug)]
struct Letters<const CLEARS: bool> {
    /// What came in the cycle of a clear.
    late: Option<post::State>,
}

impl<D: Design<In = post::In, State = post::State>, const CLEARS: bool> Transactions<D>
    for Letters<CLEARS>
{
    fn build(_: &Build) -> Self {
        Letters { late: None }
    }

    fn receives(&mut self, _: &str, pins: &post::In, owed: &mut Owed<D>) {
        let letter = post::State {
            out_data: pins.in_data,
            ..Default::default()
        };
        match CLEARS && pins.clr == 1 {
            true => self.late = Some(letter),
            false => owed.push("out", letter),
        }
    }

    fn cycle(&mut self, pins: &post::In, owed: &mut Owed<D>) {
        if CLEARS && pins.clr == 1 {
            owed.clear("out");
            if let Some(letter) = self.late.take() {
                owed.push("out", letter);
            }
        }
    }
}

/// `post` with a model that knows of no clear.
#[derive(Clone, Copy, Debug)]
struct Stubborn;

impl Design for Stubborn {
    const DECLARATION: &'static reconverge::field::Declaration = &post::DECLARATION;
    type In = post::In;
    type State = post::State;
    type Golden = Scoreboard<Self, Letters<false>>;
}

/// Regression: what the module sent before an asynchronous reset was read when the reset had acted already: its valid had gone.
#[test]
fn what_a_reset_at_once_takes_back_is_no_broken_promise() {
    for rtl in rtl::<Post>() {
        let options = Options::default().cases(60).cycles(500);
        let met = fuzz::<Stream<Post>>(&rtl, &options).unwrap();
        assert_eq!(met.coverage(rtl.build()).missing::<Post>(), [""; 0]);
    }
}

#[test]
fn what_is_taken_back_without_a_reset_is_one() {
    let out = tempfile::tempdir().unwrap();
    let report = found::<Post>(1, out.path()).failure.to_string();
    assert!(
        report.contains("channel out: valid and payload stay"),
        "{report}"
    );
    assert!(report.contains("the RTL breaks it"), "{report}");
}

/// What was received is owed no more behind a clear if the model says so; the promise of the channel says nothing about it.
#[test]
fn what_a_clear_takes_away_the_model_says() {
    let out = tempfile::tempdir().unwrap();
    let report = found::<Stubborn>(0, out.path()).failure.to_string();
    assert!(report.contains("  channel out: transaction "), "{report}");
    let report = found::<Post>(2, out.path()).failure.to_string();
    assert!(report.contains(": nothing is owed"), "{report}");
}
