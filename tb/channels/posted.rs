//! Transactions of a design with an asynchronous reset.

use reconverge::campaign::{Options, fuzz};
use reconverge::design::Build;
use reconverge::stream::Stream;
use reconverge::transactions::{Owed, Scoreboard, Transactions};

use super::{found, rtl};

crate::common::designs! {
    /// A register between two channels.
    post Post Posted;
}

type Posted = Scoreboard<Post, Letters>;

/// Each letter is delivered, in order.
#[derive(Clone, Debug)]
struct Letters;

impl Transactions<Post> for Letters {
    fn build(_: &Build) -> Self {
        Letters
    }

    fn receives(&mut self, _: &str, pins: &post::In, owed: &mut Owed<Post>) {
        let out_data = pins.in_data;
        owed.push(
            "out",
            post::State {
                out_data,
                ..Default::default()
            },
        );
    }
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
