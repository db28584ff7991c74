//! What holds of the RTL for all states and all inputs. Proofs need Yosys and CaDiCaL (`./setup --all`); what is said of the stack
//! is in rtl/rpstack_formal.sv and rtl/rpstack_step.sv, of the sequencer in rtl/rpseq/rpseq_formal.sv.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use own_unit::rpseq::{self, RpSeq};
use own_unit::{RpStack, rtl};
use reconverge::check::check;
use reconverge::design::Design;
use reconverge::dut::Rtl;
use reconverge::prove::{Options, Report, prove};
use tempfile::TempDir;

use crate::common::planted;

/// Asks everything that is said of `D` with 8 lanes and RTL in `dir`, with two threads.
fn proved<D: Design>(dir: &Path) -> Report {
    let options = Options::new(dir, 8);
    let report = prove::<D>(&options, 2, &AtomicBool::new(false), |_, _| ()).unwrap();
    println!("{report}");
    report
}

#[test]
fn the_stack_does_in_every_cycle_what_its_step_says() {
    let report = proved::<RpStack>(&rtl());
    report.accepted().unwrap();
}

#[test]
fn the_invariants_of_the_sequencer_hold() {
    let report = proved::<RpSeq>(&rpseq::rtl());
    report.accepted().unwrap();
}

/// A push that comes with a pop writes above the top. The proof finds it, and the way to it from a reset fails in lock-step.
#[test]
fn a_mistake_in_the_stack_is_refuted_by_a_cycle_that_lock_step_finds_too() {
    let wrong = ("pop_i ? top : AddrBits'(level_q)", "AddrBits'(level_q)");
    let dir = planted("rpstack.sv", &[wrong]);
    let report = proved::<RpStack>(dir.path());
    let said = report.accepted().unwrap_err().to_string();
    assert!(said.starts_with("REFUTED step mask_q\n"), "{said}");
    assert!(said.contains("<- differ"), "{said}");
    let refuted = report
        .proved
        .iter()
        .find(|p| p.name == "step mask_q")
        .unwrap();
    let stream = refuted.stream::<RpStack>(&report.build).unwrap().unwrap();
    let planted = Rtl::<RpStack>::of(8, dir.path()).unwrap();
    check(&stream, &planted).unwrap_err();
    check(&stream, &Rtl::of(8, &rtl()).unwrap()).unwrap();
}

/// Copies the RTL of the stack, without what is said of it.
fn unsaid() -> TempDir {
    let dir = planted("rpstack.sv", &[]);
    for file in ["rpstack_formal.sv", "rpstack_step.sv"] {
        std::fs::remove_file(dir.path().join(file)).unwrap();
    }
    dir
}

#[test]
fn what_does_not_hold_or_cannot_fail_is_not_accepted() {
    let dir = unsaid();
    std::fs::write(
        dir.path().join("rpstack_formal.sv"),
        "module rpstack_formal #(parameter LANES = 8, DEPTH = 4) (input [2:0] level_q, output invariant__room, invariant__some);
           assign invariant__room = level_q < 4;
           assign invariant__some = level_q == 0 || level_q != 0;
         endmodule",
    )
    .unwrap();
    let report = proved::<RpStack>(dir.path());
    let said = report.accepted().unwrap_err().to_string();
    let expected = "REFUTED room\n  inputs of the cycle\n";
    assert!(said.starts_with(expected), "{said}");
    // No naive step: the registers are those of the RTL.
    assert!(
        said.contains("  registers: before, after it in the RTL\n    level_q  0x3  0x4\n"),
        "{said}"
    );
    assert!(
        said.ends_with("some: no fault is planted that it must detect\n"),
        "{said}"
    );
}

#[test]
fn a_folder_that_says_nothing_of_its_rtl_is_bad_input() {
    let dir = unsaid();
    let never = AtomicBool::new(false);
    let why = prove::<RpStack>(&Options::new(dir.path(), 8), 1, &never, |_, _| ()).unwrap_err();
    let expected = format!(
        "{}: rtl: nothing to prove: the folder has none of rpstack_formal.sv, rpstack_sva.sv, rpstack_step.sv and rpstack_properties.sv",
        dir.path().display()
    );
    assert_eq!(why.to_string(), expected);
}
