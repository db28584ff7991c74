//! Which mutants a netlist gives, and mutants that read what is undefined.

use reconverge::design::Build;
use reconverge::mutate::{self, Family, Mutants, Verdict};

use crate::common::needs;

use super::{Gate, gate_to_change, judged_with, verdict_on};

/// Regression: that only a bit out of range shows a mutant, which Verilator may take for the right one, was not said.
#[needs(yosys, yosys-abc, cadical)]
#[test]
fn a_mutant_that_only_an_undefined_value_shows_is_told_apart() {
    let copy = gate_to_change();
    let low = "logic [2:0] low;\n  assign low = d_i[2:0];\n  assign sum_o = last_o + {d_i[7:3], low[2'd2], low[2'd1], low[2'd0]};";
    copy.change(("gate.sv", "assign sum_o = last_o + d_i;", low));
    let summary = judged_with::<Gate>(copy.dir(), Family::Source, false);
    let constrained = "; without a formal file it is not known whether `constrain` allows ";
    let by_x = "only an X shows it 1 cycle after a reset (an index out of range, say), and the value that Verilator has for it may be \
                that of the RTL";
    let inputs = "some inputs show it 1 cycle after a reset";
    for (place, how, allows) in [("2'd2", by_x, "the inputs"), ("2'd1", inputs, "them")] {
        let missed = Verdict::Missed(how.to_owned() + constrained + allows);
        assert_eq!(verdict_on(&summary, place), &missed, "{summary}");
    }
}

/// Regression: to ask for more mutants than there are was an error.
#[needs(yosys)]
#[test]
fn a_netlist_has_all_its_mutants_if_more_are_asked_for() {
    let gate = gate_to_change();
    let out = tempfile::tempdir().unwrap();
    let options = mutate::Options {
        family: Family::Netlist,
        count: Some(5000),
        ..mutate::Options::new(gate.dir(), out.path())
    };
    let list = Mutants::<Gate>::make(&options, &Build::from(1))
        .unwrap()
        .list;
    assert!(list.mutants.len() > 100, "{}", list.mutants.len());
    assert_eq!(list.candidates, Some(list.mutants.len()));
}
