//! What need not be compared is hidden on both sides, and told.

use std::fs;

use own_unit::slot::{DECLARATION, Golden, In, Slot, State};
use reconverge::bins::{Comparison, Condition, Operand, Relation, Sum};
use reconverge::campaign::{Options, Summary, fuzz};
use reconverge::design::{self, Build, Design};
use reconverge::dut::Rtl;
use reconverge::field::{Declaration, Field};
use reconverge::found::Found;
use reconverge::hidden::Compared;
use reconverge::stream::Stream;

use crate::common::planted;

/// The FIFO with one entry; `DOES` says what its golden model gets wrong.
#[derive(Clone, Copy, Debug)]
struct Variant<const DOES: u8>;

/// `data` is anything while there is none.
const CARELESS: u8 = 0;
/// `ready` matters only with `valid`, and `data` only with a `ready` that matters; elsewhere both are wrong.
const CHAINED: u8 = 1;
/// `ready` and four bits of `data` are wrong in cycles with `pop`, and said to be unspecified.
const UNSPECIFIED: u8 = 2;
/// The same, and a fifth bit.
const ONE_MORE: u8 = 3;
/// `data` is never compared.
const NEVER: u8 = 4;

const fn is_one(of: Operand) -> Comparison {
    Comparison {
        left: Sum { of, plus: 0 },
        relation: Relation::Equal,
        right: Sum {
            of: Operand::Number(1),
            plus: 0,
        },
    }
}

const VALID: Condition = &[&[is_one(Operand::Pin(1))]];
const READY: Condition = &[&[is_one(Operand::After(1))]];

const FIELDS: [Field; 3] = {
    let mut fields = *DECLARATION.fields.first_chunk::<3>().unwrap();
    fields[1].compared = Compared::While(VALID);
    fields[2].compared = Compared::While(READY);
    // As of each field that a sampled one may hide.
    fields[2].not_first = true;
    fields
};

/// As `design.toml`, with other conditions, one on a pin and one on a field that has one, and a probe that is sampled.
const TOML: &str = r#"
name = "slot"
doc = "a FIFO with one entry."
pin = [
  { name = "rst", port = "rst_i", reset = "high", doc = "Reset." },
  { name = "valid", doc = "There is an entry." },
  { name = "data", width = 8, doc = "The entry." },
  { name = "pop", doc = "Take the entry." },
]
state = [
  { name = "full", output = "full_o", doc = "There is an entry." },
  { name = "ready", probe = "dut.ready_o", sampled = true, valid = "pin.valid == 1", doc = "It is taken." },
  { name = "data", width = 8, output = "data_o", valid = "ready == 1", doc = "The entry." },
]
"#;

const CHAIN: Declaration = Declaration {
    toml: TOML,
    fields: &FIELDS,
    ..DECLARATION
};

/// The same; `data` is compared in no cycle.
const NONE: [Field; 3] = {
    let mut fields = *DECLARATION.fields.first_chunk::<3>().unwrap();
    fields[2].compared = Compared::While(&[]);
    fields
};
const LOST: Declaration = Declaration {
    fields: &NONE,
    ..DECLARATION
};

impl<const DOES: u8> Design for Variant<DOES> {
    const DECLARATION: &'static Declaration = match DOES {
        CHAINED => &CHAIN,
        NEVER => &LOST,
        _ => &DECLARATION,
    };
    type In = In;
    type State = State;
    type Golden = Model<DOES>;
}

#[derive(Clone)]
struct Model<const DOES: u8> {
    golden: Golden,
    state: State,
}

impl<const DOES: u8> design::Golden<Variant<DOES>> for Model<DOES> {
    fn build(build: &Build) -> Self {
        Model {
            golden: design::Golden::<Slot>::build(build),
            state: State::default(),
        }
    }

    fn cycle(&mut self, pins: &In) -> &State {
        let state = &mut self.state;
        *state = *design::Golden::<Slot>::cycle(&mut self.golden, pins);
        match DOES {
            CARELESS if state.full == 0 => state.data = 0xa5,
            CHAINED => {
                let shows = pins.valid == 1 && state.ready == 1;
                state.ready ^= u8::from(pins.valid == 0);
                // A reset does not keep the register from taking them.
                state.data = if shows { pins.data } else { !state.data };
            }
            UNSPECIFIED | ONE_MORE if pins.pop == 1 => {
                state.ready ^= 1;
                // The bench top shows 0 where there is no entry.
                if state.full == 1 {
                    state.data ^= if DOES == UNSPECIFIED { 0x0f } else { 0x1f };
                }
            }
            _ => {}
        }
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn unspecified(&self, pins: &In) -> Option<State> {
        let does = matches!(DOES, UNSPECIFIED | ONE_MORE);
        (does && pins.pop == 1).then(|| State {
            ready: 1,
            data: 0x0f,
            ..State::default()
        })
    }
}

/// The result of the default streams.
type Ran<const DOES: u8> =
    Result<Summary<Stream<Variant<DOES>>>, Box<Found<Stream<Variant<DOES>>>>>;

/// Runs the default streams on the RTL with `changes`.
fn fuzzed<const DOES: u8>(changes: &[(&str, &str)]) -> Ran<DOES> {
    let dir = planted("slot/slot.sv", changes);
    let slot = dir.path().join("slot");
    let toml = Variant::<DOES>::DECLARATION.toml;
    fs::write(slot.join("design.toml"), toml).unwrap();
    let rtl = Rtl::<Variant<DOES>>::of(1, &slot).unwrap();
    let out = dir.path().join("failures");
    fuzz(&rtl, &Options::default().cases(100).out(out))
}

/// Regression: `valid` hid the field on the side of the RTL only, and what a golden model returned instead of 0 was a mismatch.
#[test]
fn what_is_not_valid_is_hidden_on_the_side_of_the_golden_model_too() {
    let met = fuzzed::<CARELESS>(&[]).unwrap();
    let hidden = met.hidden["data"];
    assert!(hidden > 0 && hidden < met.compared.cycles, "{hidden}");
    assert_eq!(met.hidden.len(), 1);
    let found = fuzzed::<CARELESS>(&[("= data_q;", "= data_q ^ 8'h80;")]).unwrap_err();
    assert!(found.to_string().contains("data"), "{found}");
}

/// Regression: a condition could not use a pin, nor a field with a condition, and only outputs were sampled.
#[test]
fn conditions_use_pins_and_fields_that_have_conditions() {
    let met = fuzzed::<CHAINED>(&[]).unwrap();
    assert!(met.hidden["data"] > met.hidden["ready"], "{:?}", met.hidden);
    assert!(met.hidden["data"] < met.compared.cycles);
    for change in [
        ("= data_q;", "= data_q ^ 8'h80;"),
        ("!full_q || pop_i", "!full_q"),
    ] {
        fuzzed::<CHAINED>(&[change]).unwrap_err();
    }
}

/// Regression: a golden model could not say that an output is not specified in a cycle.
#[test]
fn bits_that_the_golden_model_does_not_specify_are_not_compared() {
    let met = fuzzed::<UNSPECIFIED>(&[]).unwrap();
    assert!(met.hidden["ready"] > 0, "{:?}", met.hidden);
    let found = fuzzed::<ONE_MORE>(&[]).unwrap_err();
    let mismatch = found.failure.mismatch().unwrap();
    let [diff] = &mismatch.diffs[..] else {
        panic!("{found}");
    };
    assert_eq!(
        (diff.field, (diff.rtl ^ diff.golden) & 0xff),
        (2, 0x10),
        "{found}"
    );
    // In other cycles the same bits are compared.
    fuzzed::<UNSPECIFIED>(&[("= data_q;", "= data_q ^ 8'h01;")]).unwrap_err();
}

/// A field that is compared in no cycle is told, although everything else agrees.
#[test]
fn a_field_that_is_never_compared_is_told() {
    let build = Build::from(1);
    let met = fuzzed::<CARELESS>(&[]).unwrap();
    let bins = reconverge::cover::Bins::new(&build);
    assert_eq!(met.gaps(&bins), [""; 0]);
    let met = fuzzed::<NEVER>(&[("= data_q;", "= '0;")]);
    let met = met.unwrap();
    assert_eq!(met.hidden["data"], met.compared.cycles);
    let bins = reconverge::cover::Bins::new(&build);
    let told = met.gaps(&bins);
    assert!(
        told.contains(&"field data was never compared".to_owned()),
        "{told:?}"
    );
}
