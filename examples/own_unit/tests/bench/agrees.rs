//! RTL that must not agree, although it is right in most of what a test sees.

use std::fs;

use own_unit::slot::{Slot, rtl};
use reconverge::campaign::{Options, Summary, fuzz};
use reconverge::dut::Rtl;
use reconverge::failure::Cause;
use reconverge::found::Found;
use reconverge::stream::Stream;

use crate::common::planted;

/// Runs the default streams on the RTL of slot with `changes` of its text, and with `more` in its declaration.
fn fuzzed(
    changes: &[(&str, &str)],
    more: (&str, &str),
) -> Result<Summary<Stream<Slot>>, Box<Found<Stream<Slot>>>> {
    let dir = planted("slot/slot.sv", changes);
    let slot = dir.path().join("slot");
    let toml = fs::read_to_string(slot.join("design.toml")).unwrap();
    fs::write(slot.join("design.toml"), toml.replace(more.0, more.1)).unwrap();
    let out = dir.path().join("failures");
    fuzz(
        &Rtl::of(1, &slot).unwrap(),
        &Options::default().cases(200).out(out),
    )
}

/// Regression: every stream had 500 cycles, with a reset in one of 200.
#[test]
fn a_fault_that_comes_a_thousand_cycles_after_the_reset_is_found_by_the_default_streams() {
    let counter = "  logic [9:0] age_q;\n  \
                   always_ff @(posedge clk_i) begin\n    \
                   if (rst_i) age_q <= '0;\n    else if (age_q != '1) age_q <= age_q + 1'b1;\n  end\n\n  \
                   assign full_o  = full_q;";
    let changes = [
        ("  assign full_o  = full_q;", counter),
        ("= data_q;", "= data_q ^ {7'd0, age_q > 10'd1000};"),
    ];
    let found = fuzzed(&changes, ("", "")).unwrap_err();
    assert!(found.failure.cycle() > 1000, "{found}");
}

/// Regression: the state was compared only after the falling edge.
#[test]
fn what_changes_at_the_falling_edge_of_the_clock_is_found_unless_it_is_allowed() {
    let full = "  assign full_o  = full_q;";
    let late =
        "  logic late;\n  always_ff @(negedge clk_i) late <= full_q;\n  assign full_o = late;";
    let latch = "  logic late;\n  always_latch if (!clk_i) late = full_q;\n  assign full_o = late;";
    let data = ("= data_q;", "= clk_i ? ~data_q : data_q;");
    // `ready_o` depends on a pin of the same cycle.
    let ready = [
        (
            "  assign ready_o =",
            "  logic ready;\n  assign ready_o = clk_i || ready;\n  assign ready =",
        ),
        (
            "if (valid_i && ready_o) full_q",
            "if (valid_i && ready) full_q",
        ),
        (
            "if (valid_i && ready_o) data_q",
            "if (valid_i && ready) data_q",
        ),
    ];
    let variants: [(&[(&str, &str)], &str); 4] = [
        (&[(full, late)], "full"),
        (&[(full, latch)], "full"),
        (&[data], "data"),
        (&ready, "ready"),
    ];
    for (changes, field) in variants {
        let found = fuzzed(changes, ("", "")).unwrap_err();
        let Cause::Mismatch(mismatch) = &found.failure.cause else {
            panic!("{found}");
        };
        assert!(mismatch.half, "{found}");
        let said = found.failure.message();
        let expected = format!(": {field}[0] is ");
        assert!(said.contains(&expected), "{said}");
        assert!(
            said.contains(" before the falling edge of the clock, and "),
            "{said}"
        );
        let text = found.to_string();
        assert!(
            text.contains("\n  half    rtl is before the falling edge"),
            "{text}"
        );
        // The shortened stream fails in the same way again, and its dump is written.
        assert!(found.troubles.is_empty(), "{:?}", found.troubles);
    }
    // `data` is compared only while `full` is 1, and changes with it.
    let allowed = ("output = \"full_o\"", "output = \"full_o\"\nfalling = true");
    fuzzed(&[(full, late)], allowed).unwrap();
}

/// Regression: the check that ports fit read Verilator's warnings, which these files suppress.
#[test]
fn a_waiver_hides_no_port_with_more_bits() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["design.toml", "slot.sv"] {
        let text = fs::read_to_string(rtl().join(name)).unwrap();
        let text = text.replace("output logic [7:0] data_o", "output logic [8:0] data_o");
        fs::write(dir.path().join(name), text).unwrap();
    }
    fs::write(dir.path().join("slot.f"), "waive.vlt\nslot.sv\n").unwrap();
    let said = "port data_o has 9 bits, 8 are declared: the others would not be compared";
    for waiver in ["lint_off", "lint_off -rule WIDTH", "lint_off -file \"*\""] {
        let text = format!("`verilator_config\n{waiver}\n");
        fs::write(dir.path().join("waive.vlt"), text).unwrap();
        let refused = Rtl::<Slot>::of(1, dir.path()).err().unwrap();
        assert_eq!(refused.to_string(), said);
    }
}
