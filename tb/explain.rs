//! `explain` knows every operation and every rule of each unit.

use std::collections::BTreeSet;

use reconverge::assembly::Assembly as _;
use reconverge::explain::{rule, word, words};
use reconverge::layout::{Field, Text};
use reconverge::r500::{self, R500};
use reconverge::r700::{self, R700};
use reconverge::rules::{ids, naming};
use reconverge::spa5::{self, Spa5};
use reconverge::unit::Unit;
use reconverge::words::{Bits, Code, Row, bits};

/// What the instruction with these words is called; panics unless its fields hold every bit that is set, and unless some rule
/// says what it does, if the unit executes it.
fn operation<U: Unit>(numbers: &[u64]) -> Option<String> {
    let given: Vec<String> = numbers.iter().map(|n| format!("{n:x}")).collect();
    let anatomy = words::<U>(&given).unwrap_or_else(|(word, why)| panic!("{word}: {why}"));
    assert!(
        !anatomy.program.disassemble(anatomy.pc).is_empty(),
        "{given:?}"
    );
    for part in &anatomy.parts {
        for field in &part.fields {
            assert!(
                !field.meaning.is_empty(),
                "{given:?} {}: {field:?}",
                part.name
            );
            assert!(rule(U::NAME, &field.rule).is_ok(), "{field:?}");
        }
    }
    if let Some(op) = &anatomy.operation {
        assert!(
            !naming(U::NAME, op).is_empty(),
            "{}: no rule names {op}",
            U::NAME
        );
    }
    anatomy.operation
}

#[test]
fn every_operation_of_r500_is_taken_apart_and_has_rules() {
    for op in r500::isa::Op::ALL {
        let found = operation::<R500>(&[0x402, op.bits().into(), 0]);
        assert_eq!(found.as_deref(), Some(op.name()));
    }
}

#[test]
fn every_opcode_of_r700_is_taken_apart_and_has_rules() {
    for op in r700::isa::CfOp::ALL {
        let found = operation::<R700>(&[0, u64::from(op.bits()) << 23]);
        assert_eq!(found.as_deref(), Some(op.name()));
    }
    for op in r700::isa::AluOp::ALL {
        let found = operation::<R700>(&[0, u64::from(op.bits()) << 26]);
        assert_eq!(found.as_deref(), Some(op.name()));
    }
    for opcode in 32..64u64 {
        operation::<R700>(&[0, opcode << 23]);
    }
}

#[test]
fn every_opcode_of_spa5_is_taken_apart_and_has_rules() {
    let mut named = Vec::new();
    for opcode in 0xe20..0xe40u64 {
        for form in [0, 1 << 5] {
            named.extend(operation::<Spa5>(&[opcode << 52 | 0x7_000f | form]));
        }
    }
    named.extend(operation::<Spa5>(&[0xf0f8_0000_0007_000f]));
    named.extend(operation::<Spa5>(&[spa5::isa::NOP]));
    let ops = (spa5::isa::SetUpOp::ALL.iter().map(|op| op.name()))
        .chain(spa5::isa::LeaveOp::ALL.iter().map(|op| op.name()))
        .chain(["BRA", "BRX", "JMP", "JMX", "SYNC", "OTHER"]);
    assert_eq!(
        named.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        ops.collect()
    );
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Small;

impl Code for Small {
    const BITS: u32 = 8;
    const OPCODE: Bits = bits(5, 4);
    const TARGET: Bits = bits(3, 0);
    const TABLE: &'static [Row] = &[
        Row::new("NOP", 0, "nothing"),
        Row::leading("GO", 0x10, "goes on at the target").with(&[Field::new(
            "how",
            &[bits(6, 6)],
            Text::Named("how=", &["SLOW", "FAST"]),
        )]),
        Row::new("WAIT", 0x20, "waits at the end").with(&[Field::new(
            "end",
            &[bits(3, 0)],
            Text::Target("end="),
        )]),
    ];
    const OUTSIDE: u32 = 0xff;
}

/// The words of a guest that has a table of them.
#[test]
fn a_word_is_taken_apart_by_its_table() {
    for (given, operation, expected) in [
        (
            0x53,
            Some("GO"),
            " 7:7=0 how 6:6=1 FAST opcode 5:4=1 GO target 3:0=3",
        ),
        (0x83, Some("NOP"), " 7:6=2 opcode 5:4=0 NOP  3:0=3"),
        (0x23, Some("WAIT"), " 7:6=0 opcode 5:4=2 WAIT end 3:0=3"),
        (0x33, None, " 7:6=0 opcode 5:4=3  3:0=3"),
    ] {
        let anatomy = word::<Small>(&[given]).unwrap();
        assert_eq!(anatomy.operation.as_deref(), operation);
        assert_eq!(anatomy.program.words, [given as u32]);
        let fields = anatomy.parts[0].fields.iter().map(|field| {
            let (high, low) = field.bits[0];
            let value = field.value(given);
            let of_value = field.of_value(value).map(|name| format!(" {name}"));
            let of_value = of_value.unwrap_or_default();
            format!("{} {high}:{low}={value}{of_value}", field.name)
        });
        assert_eq!(fields.collect::<Vec<_>>().join(" "), expected);
    }
    let refused = |words: &[u64]| word::<Small>(words).unwrap_err();
    let count = "an instruction is one word of 8 bits; given: ";
    assert_eq!(refused(&[]), format!("{count}0"));
    assert_eq!(refused(&[1, 2]), format!("{count}2"));
    for wide in [0x100, 1 << 32] {
        assert_eq!(refused(&[wide]), format!("{wide:#x} has more than 8 bits"));
    }
}

/// Every bit of a word belongs to at most one field, and the fields give the word back.
#[test]
fn no_bit_belongs_to_two_fields() {
    fn held<U: Unit>(numbers: &[u64]) {
        let given: Vec<String> = numbers.iter().map(|n| format!("{n:x}")).collect();
        let anatomy = words::<U>(&given).unwrap_or_else(|(word, why)| panic!("{word}: {why}"));
        for part in &anatomy.parts {
            let mut owned = 0u64;
            for &(high, low) in part.fields.iter().flat_map(|field| &field.bits) {
                let bits = (u64::MAX >> (63 - (high - low))) << low;
                assert_eq!(owned & bits, 0, "{given:?} {} {high}:{low}", part.name);
                owned |= bits;
            }
        }
    }
    held::<R500>(&[0x402, 0, 0]);
    for dw1 in [0x8000_0000, 0xa000_0000, 0x9380_0000] {
        held::<R700>(&[0, dw1]);
    }
    for word in [0xe24, 0xe25, 0xe26, 0xe29, 0xe30].map(|op| op << 52) {
        held::<Spa5>(&[word]);
        held::<Spa5>(&[word | 1 << 5]);
    }
}

#[test]
fn every_rule_can_be_printed_and_a_slip_is_answered_with_the_nearest() {
    assert!(ids().count() > 800);
    for id in ids() {
        assert_eq!(rule("r500", id).map(|rule| rule.id.as_str()), Ok(id));
    }
    // Without the unit, and as a report cites it.
    for (unit, given) in [("spa5", "4.4-d"), ("r500", "docs/spec/spa5.md#spa5-4.4-d")] {
        assert_eq!(rule(unit, given).unwrap().id, "spa5-4.4-d", "{given}");
    }
    // A listing is as it is in the specification: `**` is not a mark in it.
    let unwind = &rule("spa5", "spa5-4.4").unwrap().text;
    assert!(
        unwind.contains("\n    def unwind(s):\n        while s.stack:"),
        "{unwind}"
    );
    assert!(!ids().any(|id| rule("", id).unwrap().text.contains("\npython\n")));
    let why = rule("r500", &["r500", "4.3", "zb"].join("-")).expect_err("no rule");
    assert!(why.starts_with("there is no such rule"), "{why}");
    let why = rule("r700", "r70-4.6").expect_err("no rule");
    assert_eq!(why, "there is no such rule; did you mean `r700-4.6`?");
    let why = rule("r700", "what-is-it").expect_err("nothing like it");
    assert_eq!(
        why,
        "there is no such rule; the sections are r700-1 to r700-10"
    );
    let why = rule("z80", "z80-1").expect_err("no rules");
    assert!(why.starts_with("z80 has no rules: its `SPEC"), "{why}");
}

#[test]
fn what_is_no_word_is_refused() {
    let refused = |given: &[&str], why: &str| {
        let given: Vec<String> = given.iter().map(|w| (*w).to_owned()).collect();
        let said = words::<R700>(&given).expect_err("refused").1;
        assert!(said.starts_with(why), "{said}");
    };
    refused(&["1"], "an instruction has two words, DW0 DW1; given: 1");
    refused(
        &["1", "2", "3"],
        "an instruction has two words, DW0 DW1; given: 3",
    );
    refused(&["0", "100000000"], "0x100000000 has more than 32 bits");
    refused(
        &["0", "-1"],
        "is neither a word in hexadecimal, nor the id of a rule",
    );
    refused(
        &["fadd"],
        "is not an operation of r700; as a word, write 0xfadd",
    );
    refused(&["0", "0x"], "is neither a word");
    refused(&["0", "10000000000000000"], "is neither a word");
}
