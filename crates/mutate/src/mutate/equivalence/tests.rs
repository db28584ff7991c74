//! Tests of the referee's premises.

use super::*;
use serde_json::{Value, json};

/// Returns a referee of this netlist without mutants.
fn referee(design: &Value, reset: Option<(String, bool)>) -> Referee {
    Referee {
        circuit: Circuit::read(&design.to_string(), "m").unwrap(),
        selectors: Vec::new(),
        unread: HashMap::new(),
        formal: None,
        formal_file: String::new(),
        reset,
        transactions: false,
        outputs_alone: true,
        declared: None,
    }
}

/// Before, the reset wire was 0 in the first cycle of a unit with an active-high reset too, and the search for a
/// difference began in an arbitrary state.
#[test]
fn the_first_cycle_of_a_search_is_in_reset_at_either_level() {
    let ways = json!({"CLK": "input", "D": "input", "Q": "output"});
    let design = json!({"modules": {"m": {
        "ports": {
            "clk_i": {"direction": "input", "bits": [2]},
            "rst": {"direction": "input", "bits": [3]},
            "q_o": {"direction": "output", "bits": [4]},
        },
        "cells": {"q": {
            "type": "$dff",
            "parameters": {"CLK_POLARITY": "1", "WIDTH": "1"},
            "port_directions": ways,
            "connections": {"CLK": [2], "D": [3], "Q": [4]},
        }},
        "netnames": {"q": {"bits": [4], "hide_name": 0}},
    }}});
    for high in [false, true] {
        let referee = referee(&design, Some(("rst".to_owned(), high)));
        let mut aig = Aig::new();
        let started = aig.input();
        let cycle = referee.inputs_in_reset_until(&mut aig, started).unwrap();
        let [wire] = referee.circuit.input("rst").unwrap() else {
            panic!("one wire");
        };
        let reset = cycle.free[*wire];
        // `cycle` gives this input before it is tied to the reset: the next one after `started`.
        let pin = {
            let mut again = Aig::new();
            again.input();
            referee.inputs(&mut again).unwrap().free[*wire]
        };
        let value = |at: u64, pin_is: u64| {
            let inputs = HashMap::from([(started, at), (pin, pin_is)]);
            let values = aig.evaluate(&inputs);
            (values.of(reset) & 1, values.of(cycle.released) & 1)
        };
        let (asserted, not) = (u64::from(high), u64::from(!high));
        for pin_is in [0, 1] {
            assert_eq!(value(0, pin_is), (asserted, 0), "high: {high}");
        }
        assert_eq!(value(1, asserted), (asserted, 0), "high: {high}");
        assert_eq!(value(1, not), (not, 1), "high: {high}");
    }
}

/// Regression: every mutant of a design without registers was undecided, because it declares no reset.
#[test]
fn a_design_without_registers_needs_no_reset() {
    let released = |kind: &str, ports: Value| {
        let design = json!({"modules": {"m": {
            "ports": {"clk": {"direction": "input", "bits": [2]}, "a": {"direction": "input", "bits": [3]}},
            "cells": {"y": {"type": kind, "parameters": {"CLK_POLARITY": "1"}, "connections": ports}},
            "netnames": {"y": {"bits": [4], "hide_name": 0}},
        }}});
        let inputs = referee(&design, None).inputs(&mut Aig::new());
        inputs.map(|inputs| inputs.released)
    };
    let register = json!({"CLK": [2], "D": [3], "Q": [4]});
    assert_eq!(released("$not", json!({"A": [3], "Y": [4]})), Ok(Lit::TRUE));
    let why = "the design declares no reset".to_owned();
    assert_eq!(released("$dff", register), Err(why));
}
