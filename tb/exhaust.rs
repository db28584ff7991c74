//! `exhaust`: small worlds are closed, with the same counts for any number of workers; a fault of one state is found, saved and
//! replayed; bad input is refused.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use reconverge::spa5::Spa5;

use crate::common::rtl::{Copy, Rtl};
use crate::common::run::Run;
use crate::common::schema::Formats;
use crate::common::{ROOT, arg, command_in, needs, reconverge, reconverge_in, text};

fn exhaust(args: &[&str]) -> Run {
    exhaust_in(tempfile::tempdir().unwrap(), args)
}

fn exhaust_in(dir: tempfile::TempDir, args: &[&str]) -> Run {
    Run::of(dir, &[&["exhaust"], args].concat(), &[])
}

/// The smallest world of spa5: one thread, one token.
const TINY: [&str; 5] = ["spa5", "--lanes", "1", "--param", "DEPTH=1"];

#[test]
fn the_smallest_world_of_spa5_is_closed_whatever_the_jobs() {
    let one = exhaust(&[&TINY[..], &["--jobs", "1"]].concat()).ends(0);
    assert_eq!(text(&one.output.stdout), TINY_SAID);
    let three = exhaust(&[&TINY[..], &["--jobs", "3"]].concat()).ends(0);
    assert_eq!(text(&three.output.stdout), TINY_SAID);
    assert_eq!(one.json(), three.json());
    let json = one.json();
    let written = fs::read_to_string(one.dir.path().join("all.json")).unwrap();
    let formats = Formats::of::<Spa5>(1);
    assert_eq!(formats.object("exhaust", &written), Ok(()));
    assert_eq!(
        (&json["closed"], &json["agrees"]),
        (&true.into(), &true.into())
    );
    let depths = json["depths"].as_array().unwrap();
    let sum: u64 = depths.iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(json["states"], sum);
    assert_eq!(depths[0], 1, "one state behind reset");
}

/// The other units: a change of an alphabet, or of a rule, changes these numbers.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn the_smallest_worlds_of_the_other_units_are_closed() {
    for (args, states) in [
        (
            &["r500", "--lanes", "1", "--bound", "full=0"][..],
            "  states       71, the last one 5 cycles after reset\n  transitions  11,170\n",
        ),
        (
            &["r700", "--lanes", "1", "--bound", "calls=0"],
            "  states       2,468, the last one 8 cycles after reset\n  transitions  442,554\n",
        ),
    ] {
        let run = exhaust(args).ends(0);
        run.says(states);
        run.says("CLOSED: every transition agrees, every invariant holds");
    }
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_checkpoint_resumes_and_ends_with_the_same_counts() {
    let whole = exhaust(&TINY).ends(0).json();
    let kept = [&TINY[..], &["--checkpoint", "kept.json"]].concat();
    // It ends in the middle of a chunk.
    let cut = exhaust(&[&kept[..], &["--states", "60"]].concat()).ends(3);
    cut.says(
        "the world is too large: more than 60 states (--states); what was explored of it agrees",
    );
    let json = cut.json();
    assert_eq!(
        (&json["closed"], &json["agrees"]),
        (&false.into(), &true.into())
    );
    let before = json["states"].as_u64().unwrap();
    assert!((1..60).contains(&before), "{before}");
    let kept_there = fs::read_to_string(cut.dir.path().join("kept.json")).unwrap();
    assert_eq!(
        Formats::of::<Spa5>(1).object("checkpoint", &kept_there),
        Ok(())
    );
    let resumed = exhaust_in(cut.dir, &kept).ends(0);
    resumed.says(&format!("  resumed behind {before} states\n"));
    assert_eq!(resumed.json(), whole);
    // Everything is explored: nothing is run again.
    let again = exhaust_in(resumed.dir, &kept).ends(0);
    again.says("CLOSED: every transition agrees, every invariant holds");
    assert_eq!(again.json(), whole);
}

/// A fault in the memory of the stack: the token below a DIV changes if that DIV is pushed on a PCNT by KIL's survivors. What
/// shows of the state does not, until the token is on top again.
fn hidden() -> Copy {
    let copy = Rtl::own("spa5").copy();
    copy.change((
        "spa5_stack.sv",
        "    end else if (pop_i) begin\n      top_head_q",
        "      if (sp_q == 1 && token_i == spa5_pkg::TokenDiv && top_token_o == spa5_pkg::TokenPcnt &&\n          \
         addr_i[4:0] == 5'd24) head_q[0][31:0] <= top_addr_o ^ 32'd24;\n    end else if (pop_i) begin\n      top_head_q",
    ));
    copy
}

#[needs(yosys, cadical)]
#[test]
#[ignore = "builds RTL: minutes; `cargo test --test bench exhaust:: -- --ignored`"]
fn a_fault_of_one_state_is_found_saved_and_replayed() {
    let copy = hidden();
    let world = ["spa5", "--rtl", copy.arg()];
    let one = exhaust(&[&world[..], &["--jobs", "1"]].concat()).ends(1);
    let three = exhaust(&[&world[..], &["--jobs", "3"]].concat()).ends(1);
    assert_eq!(one.json(), three.json());
    let json = one.json();
    assert_eq!(json["agrees"], false);
    assert_eq!(json["failure"]["field"], "top_addr");
    assert_eq!(json["rule"], "spa5-3-l");
    let said = text(&one.output.stdout);
    assert!(said.contains("MISMATCH spa5.exhaust.1  "), "{said}");
    assert!(said.contains("  rule    spa5-3-l "), "{said}");
    let saved = json["saved"].as_str().unwrap();
    let saved = one.dir.path().join(saved);
    // On this RTL it fails again in the same way, on ours it agrees.
    let replay = |rtl: &[&str]| {
        let args = [&["replay", arg(&saved), "--out", "again"], rtl].concat();
        let output = reconverge_in(one.dir.path(), &args);
        (
            output.status.code(),
            text(&output.stdout) + &text(&output.stderr),
        )
    };
    let (status, said) = replay(&["--rtl", copy.arg()]);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("MISMATCH spa5.exhaust.1  ") && !said.contains("fails now"),
        "{said}"
    );
    let own = Path::new(ROOT).join("rtl/spa5");
    let (status, said) = replay(&["--rtl", arg(&own)]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("it failed at cycle "), "{said}");
    // The campaign at this size meets it too, and the theorem of the register is refuted.
    let small = [
        "spa5",
        "--lanes",
        "2",
        "--param",
        "DEPTH=2",
        "--rtl",
        copy.arg(),
    ];
    let fuzz = [
        &["fuzz"],
        &small[..],
        &["--no-shrink", "--out", arg(one.dir.path())],
    ]
    .concat();
    assert_eq!(reconverge(&fuzz).status.code(), Some(1));
    let only = [
        "--no-faults",
        "--only",
        "step u_stack.head_q",
        "--out",
        arg(one.dir.path()),
    ];
    let prove = reconverge(&[&["prove"], &small[..], &only].concat());
    let said = text(&prove.stdout) + &text(&prove.stderr);
    assert_eq!(prove.status.code(), Some(1), "{said}");
}

#[test]
#[ignore = "builds RTL: minutes; `cargo test --test bench exhaust:: -- --ignored`"]
fn rtl_that_crashes_in_one_transition_is_survived_and_the_transition_found() {
    let copy = Rtl::own("spa5").copy();
    let die = "#include <cstdlib>\nextern \"C\" void die() { std::abort(); }\n";
    fs::write(copy.dir().join("die.cpp"), die).unwrap();
    let list = fs::read_to_string(copy.dir().join("spa5.f")).unwrap();
    fs::write(copy.dir().join("spa5.f"), format!("die.cpp\n{list}")).unwrap();
    copy.change((
        "spa5_threads.sv",
        "module spa5_threads",
        "import \"DPI-C\" function void die();\nmodule spa5_threads",
    ));
    copy.change((
        "spa5_threads.sv",
        "  assign killed_o = killed_q;\n",
        "  assign killed_o = killed_q;\n  always_ff @(posedge clk_i) if (rst_ni && kill_i && leave_i && d_ret_q == 1) die();\n",
    ));
    let run = exhaust(&["spa5", "--rtl", copy.arg()]).ends(1);
    let said = run.said();
    assert!(
        said.contains("CRASHED spa5.exhaust.1  signal: 6 (SIGABRT)"),
        "{said}"
    );
    // The transition is the last one on the way.
    assert!(said.contains("KIL       e3300000"), "{said}");
    assert_eq!(run.json()["failure"]["kind"], "crashed");
    assert!(run.dir.path().join("out/spa5.exhaust.1.json").is_file());
}

/// Regression: this was an error without a name, exit status 3.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_crashes_after_many_transitions_is_a_difference_though_no_state_does_it_alone() {
    let copy = Rtl::own("spa5").planted(
        "  int unsigned cycles = 0;\n  always_ff @(posedge clk_i) begin\n    cycles <= cycles + 1;\n    \
         if (cycles == 20000) $c(\"std::abort();\");\n  end",
    );
    let run = exhaust(&["spa5", "--lanes", "1", "--rtl", copy.arg()]).ends(1);
    let said = run.said();
    for part in [
        "CRASHED spa5.exhaust.1  signal: 6 (SIGABRT)",
        "NOT REPRODUCED: it needs other transitions before it: the RTL keeps something that neither reset nor loading reaches\n",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

/// The message about it.
const TINY_SAID: &str = "\
exhaust spa5, 1 lane, DEPTH=1, bundles=1
  states       537, the last one 5 cycles after reset
  transitions  9,376
  cycles       20,363
CLOSED: every transition agrees, every invariant holds
";

/// Regression: this was a warning.
#[test]
#[ignore = "builds RTL: minutes; `cargo test --test bench exhaust:: -- --ignored`"]
fn what_a_final_block_says_is_a_difference() {
    let copy = Rtl::own("spa5").planted("  final $fatal(1, \"left over\");");
    let run = exhaust(&["spa5", "--lanes", "1", "--rtl", copy.arg()]).ends(1);
    let said = run.said();
    assert!(said.contains(": left over"), "{said}");
    assert_eq!(run.json()["agrees"], false);
}

/// Regression: after the last state was found, an interruption reported a damaged checkpoint.
#[test]
#[ignore = "builds RTL: minutes; `cargo test --test bench exhaust:: -- --ignored`"]
fn an_interruption_after_the_last_state_was_found_keeps_what_was_explored() {
    // Slow, so that there is time to interrupt it.
    let slow =
        "  always_ff @(posedge clk_i) $c(\"for (volatile int i = 0; i < 1000000; i = i + 1) {}\");";
    let copy = Rtl::own("spa5").planted(slow);
    let place = ["--rtl", copy.arg(), "--jobs", "4"];
    // Makes the model.
    let built = exhaust(&[&TINY[..], &place, &["--states", "1"]].concat()).ends(3);
    let all = [
        &["exhaust"],
        &TINY[..],
        &place,
        &["--checkpoint", "done", "--json", "all.json"],
    ];
    let mut run = command_in(built.dir.path(), &all.concat());
    let run = run
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    crate::campaign::wait_for_rtl(run.id());
    crate::campaign::signal(run.id(), "-INT");
    let output = run.wait_with_output().unwrap();
    let run = Run {
        dir: built.dir,
        output,
    }
    .ends(3);
    // The first chunk may not be done.
    let some = run.json()["transitions"].as_u64() > Some(0);
    let compared = match some {
        true => "what was explored until then agrees",
        false => "nothing was compared",
    };
    run.says(&format!(
        "interrupted: {compared}; the same command goes on behind them"
    ));
    assert_eq!(
        (&run.json()["closed"], &run.json()["agrees"]),
        (&false.into(), &some.into())
    );
    assert!(run.dir.path().join("done").exists());
}
