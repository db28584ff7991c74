//! A unit that answers requests by tag, out of order. Its golden model knows no cycles: it says what is owed for a request.

use std::path::PathBuf;

use reconverge::design::{Build, Design};
use reconverge::field::Declaration;
use reconverge::transactions::{Owed, Scoreboard, Transactions};

include!(concat!(env!("OUT_DIR"), "/answers.rs"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct Answers;

impl Design for Answers {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Scoreboard<Self, Model>;
}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    super::rtl().join("answers")
}

/// The golden model. It has nothing to remember.
#[derive(Clone, Debug)]
pub struct Model;

impl Transactions<Answers> for Model {
    fn build(_: &Build) -> Self {
        Model
    }

    /// The answer to a request is its data plus 1.
    fn receives(&mut self, _: &str, pins: &In, owed: &mut Owed<Answers>) {
        let answer = State {
            rsp_tag: pins.req_tag,
            rsp_data: pins.req_data.wrapping_add(1),
            ..State::default()
        };
        owed.push("rsp", answer);
    }

    /// How many requests have no answer yet.
    fn coverpoint(&self, _: &str, _: &In, owed: &Owed<Answers>) -> u64 {
        owed.count("rsp") as u64
    }

    /// Answers of one tag come in the order of their requests.
    fn tag(&self, _: &str, answer: &State) -> u64 {
        answer.rsp_tag.into()
    }
}
