//! Runs that must fail, and how: a flipped golden bit, RTL with one operator changed, an uncaught flip.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use reconverge::case::{Case, Flip};
use reconverge::dut::Rtl;
use reconverge::lockstep;
use reconverge::r500::R500;
use reconverge::r500::golden::Golden;
use reconverge::unit::{LoadOptions, Unit};
use reconverge::wave;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn program(name: &str) -> String {
    format!("tb/programs/r500/{name}")
}

/// The command, with its cache in the build folder and whatever `args` say.
fn reconverge(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reconverge"))
        .args(args)
        .current_dir(ROOT)
        .env(
            "RECONVERGE_CACHE",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/models"),
        )
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn loaded(name: &str) -> <R500 as Unit>::Program {
    let bytes = fs::read(Path::new(ROOT).join(program(name))).unwrap();
    R500::load(&bytes, name, &LoadOptions::default())
        .unwrap()
        .program
}

/// Every bit of every element of every field, flipped once in what the golden expects, is reported at
/// that clock as that bit of that element of that field and nothing else.
#[test]
fn every_flipped_bit_of_every_field_is_reported_where_it_is() {
    let mut case = Case::<R500>::new(loaded("loop_continue_break.s"));
    let rtl = Rtl::<R500>::own(case.lanes).unwrap();
    let mut dut = rtl.open(1).unwrap();
    let clean = lockstep::run(&case, &mut dut, &mut Golden::new(16), &mut ());
    assert!(clean.mismatch.is_none() && clean.compared.clocks > 20);
    let mut flips = 0;
    for (index, field) in R500::fields().iter().enumerate() {
        for element in 0..field.elements(16) {
            for bit in 0..field.width as usize {
                // All clocks take a turn.
                let clock = flips % clean.compared.clocks;
                case.flip = Some(Flip {
                    field: field.name.to_owned(),
                    element,
                    bit,
                    clock,
                });
                case.check("test").unwrap();
                let outcome = lockstep::run(&case, &mut dut, &mut Golden::new(16), &mut ());
                let found = outcome
                    .mismatch
                    .unwrap_or_else(|| panic!("{}[{element}].{bit} passed", field.name));
                assert_eq!(found.clock, clock, "{}[{element}].{bit}", field.name);
                assert_eq!(outcome.compared.clocks, clock, "clocks that agreed before");
                assert_eq!(found.diffs.len(), 1);
                let diff = &found.diffs[0];
                assert_eq!((diff.field, diff.element), (index, element));
                assert_eq!(
                    diff.rtl ^ diff.golden,
                    1 << bit,
                    "{}[{element}].{bit}",
                    field.name
                );
                flips += 1;
            }
        }
    }
    assert!(flips > 1000, "{flips} bits flipped");
}

/// Values of all signals of a dump at time `at`, by their path.
fn values_at(dump: &Path, at: u64) -> HashMap<String, String> {
    let mut parser = vcd::Parser::new(std::io::BufReader::new(fs::File::open(dump).unwrap()));
    let header = parser.parse_header().unwrap();
    let mut names: HashMap<vcd::IdCode, Vec<String>> = HashMap::new();
    fn walk(items: &[vcd::ScopeItem], path: &str, names: &mut HashMap<vcd::IdCode, Vec<String>>) {
        for item in items {
            match item {
                vcd::ScopeItem::Scope(s) => {
                    walk(&s.items, &format!("{path}{}.", s.identifier), names)
                }
                vcd::ScopeItem::Var(v) => {
                    names
                        .entry(v.code)
                        .or_default()
                        .push(format!("{path}{}", v.reference));
                }
                _ => {}
            }
        }
    }
    walk(&header.items, "", &mut names);
    let mut values = HashMap::new();
    for command in parser {
        let (code, value) = match command.unwrap() {
            vcd::Command::Timestamp(t) if t > at => break,
            vcd::Command::ChangeVector(code, value) => (code, value.to_string()),
            vcd::Command::ChangeScalar(code, value) => (code, value.to_string()),
            _ => continue,
        };
        for name in &names[&code] {
            values.insert(name.clone(), value.clone());
        }
    }
    values
}

/// For every field: exit status 1, the report names clock, field and lane, and in the dump both sides
/// differ at that time, with the field's mismatch bit set and no other.
#[test]
fn a_flipped_bit_of_each_field_ends_in_a_report_and_a_dump_with_both_sides() {
    let out = tempfile::tempdir().unwrap();
    for (index, field) in R500::fields().iter().enumerate() {
        let element = field.elements(16) - 1;
        let (bit, clock) = (field.width - 1, 9 + index);
        let flip = format!("{}[{element}].{bit}@{clock}", field.name);
        let dir = out.path().join(field.name);
        let program = program("loop_continue_break.s");
        let output = reconverge(&[
            "run",
            "r500",
            &program,
            "--seed",
            "3",
            "--flip",
            &flip,
            "--out",
            dir.to_str().unwrap(),
        ]);
        let report = text(&output.stdout);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{flip}\n{report}{}",
            text(&output.stderr)
        );
        assert!(
            report.starts_with(&format!(
                "MISMATCH r500.loop_continue_break.3  clock {clock}  "
            )),
            "{report}"
        );
        let label = if field.elements(16) == 1 {
            field.name.to_owned()
        } else {
            format!("{}[{element}]", field.name)
        };
        let row = report.lines().find(|l| l.ends_with("<--")).unwrap();
        assert_eq!(
            row.split_whitespace().next(),
            Some(label.as_str()),
            "{report}"
        );

        let dump = dir.join("r500.loop_continue_break.3.vcd");
        let values = values_at(&dump, wave::time_of(clock as u64));
        let signal = wave::signal::<R500>(field, element);
        let side = |side: &str| {
            let name = format!("TOP.r500_tb.{side}_view.{signal}");
            let known = || {
                values
                    .keys()
                    .filter(|k| k.contains("_view"))
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            values
                .get(&name)
                .unwrap_or_else(|| panic!("no {name} among {}", known()))
                .clone()
        };
        assert_ne!(side("rtl"), side("golden"), "{flip}: {signal}");
        let bits = &values["TOP.r500_tb.mismatch_o"];
        let set: Vec<usize> = bits
            .chars()
            .rev()
            .enumerate()
            .filter(|(_, c)| *c == '1')
            .map(|(i, _)| i)
            .collect();
        assert_eq!(set, [index], "{flip}: mismatch bits {bits}");

        // The clock before, nothing differs.
        let before = values_at(&dump, wave::time_of(clock as u64) - 1);
        assert!(!before["TOP.r500_tb.mismatch_o"].contains('1'), "{flip}");

        // The saved case fails again in the same place.
        let case = dir.join("r500.loop_continue_break.3.json");
        let again = reconverge(&[
            "replay",
            case.to_str().unwrap(),
            "--out",
            dir.to_str().unwrap(),
        ]);
        assert_eq!(again.status.code(), Some(1));
        assert_eq!(text(&again.stdout), report, "replay prints the same report");
        assert_eq!(text(&again.stderr), "", "replay has nothing to note");
    }
}

/// The whole text of one report.
#[test]
fn a_report_says_where_what_why_and_how_to_go_on() {
    let out = tempfile::tempdir().unwrap();
    let dir = out.path().to_str().unwrap();
    let program = program("if_else.s");
    let output = reconverge(&[
        "run",
        "r500",
        &program,
        "--lanes",
        "4",
        "--flip",
        "bc[1].2@4",
        "--out",
        dir,
    ]);
    let expected =
        fs::read_to_string(Path::new(ROOT).join("tb/programs/r500/flipped.report")).unwrap();
    let report = text(&output.stdout)
        .replace(dir, "OUT")
        .replace(env!("CARGO_BIN_EXE_reconverge"), "reconverge");
    assert_eq!(report, expected);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_flip_that_never_comes_is_bad_input_and_not_a_pass() {
    let program = program("if_else.s");
    let output = reconverge(&["run", "r500", &program, "--flip", "pc@5000"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.starts_with("error: --flip: clock: the run ended after "),
        "{message}"
    );
}

fn copy_of_the_rtl() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(Path::new(ROOT).join("rtl/r500")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
    }
    dir
}

fn change(dir: &Path, file: &str, from: &str, to: &str) {
    let path = dir.join(file);
    let old = fs::read_to_string(&path).unwrap();
    assert_eq!(
        old.matches(from).count(),
        1,
        "{file}: {from:?} must stand there once"
    );
    fs::write(path, old.replace(from, to)).unwrap();
}

fn line_starting<'a>(report: &'a str, start: &str) -> &'a str {
    report
        .lines()
        .find(|l| l.starts_with(start))
        .unwrap_or_else(|| panic!("no {start:?} in\n{report}"))
}

/// An unchanged copy passes; with one operator changed `fuzz` finds it, and the saved case replays to
/// the same clock and field, and passes on our own RTL.
fn caught_and_replayed(changes: &[Change]) {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().to_str().unwrap();
    let fuzz = |dir: &Path| {
        reconverge(&[
            "fuzz",
            "r500",
            "--rtl",
            dir.to_str().unwrap(),
            "--clocks",
            "400000",
            "--out",
            out,
        ])
    };
    let good = copy_of_the_rtl();
    let output = fuzz(good.path());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );

    for (file, from, to) in changes {
        let bad = copy_of_the_rtl();
        change(bad.path(), file, from, to);
        let output = fuzz(bad.path());
        let report = text(&output.stdout);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{file}: {from} -> {to}\n{report}{}",
            text(&output.stderr)
        );
        let failed = line_starting(&report, "MISMATCH ");
        assert!(!report.contains("NOT REPRODUCED"), "{report}");
        let case = line_starting(&report, "replay ")
            .split_whitespace()
            .last()
            .unwrap();
        assert!(PathBuf::from(case).is_file());

        let again = reconverge(&["replay", case, "--out", out]);
        assert_eq!(again.status.code(), Some(1));
        assert_eq!(line_starting(&text(&again.stdout), "MISMATCH "), failed);
        let row = |r: &str| r.lines().find(|l| l.ends_with("<--")).unwrap().to_owned();
        assert_eq!(
            row(&text(&again.stdout)),
            row(&report),
            "same field and values"
        );
        assert_eq!(text(&again.stderr), "", "same clock and field as saved");

        let ours = reconverge(&["replay", case, "--rtl", "rtl/r500", "--out", out]);
        assert_eq!(ours.status.code(), Some(0), "{}", text(&ours.stdout));
    }
}

/// File, text that stands in it once, what it becomes.
type Change = (&'static str, &'static str, &'static str);

/// One operator of a decision changed.
const DECISIONS: &[Change] = &[
    (
        "r500_vote.sv",
        "(agreed & ~|held & ~force_stay_i)",
        "((agreed | ~|held) & ~force_stay_i)",
    ),
    (
        "r500_lanes.sv",
        "{LANES{loop_push_i}}) ^ (~lc0_q",
        "{LANES{loop_push_i}}) ^ (lc0_q",
    ),
    (
        "r500_loop_stack.sv",
        "al_top_q + (rep_i ? 8'd0 : step_i)",
        "al_top_q - (rep_i ? 8'd0 : step_i)",
    ),
    ("r500_seq.sv", "(pc_q + 10'd1),", "(pc_q),"),
    ("r500_seq.sv", "(pc_next > hi_q)", "(pc_next >= hi_q)"),
    (
        "r500_seq.sv",
        "(is_end | is_break | is_cont) & loop_empty",
        "(is_end | is_break) & loop_empty",
    ),
];

/// The clock contract broken: host port, launch, stall, reset, and what stays after the end.
const CONTRACT: &[Change] = &[
    // Addresses 33 to 63 alias into the constants.
    (
        "r500_consts.sv",
        "(we_i && !waddr_i[5])",
        "(we_i && waddr_i != 6'd32)",
    ),
    (
        "r500_consts.sv",
        "we_i && waddr_i == r500_pkg::HostBoolConst",
        "we_i && waddr_i[5]",
    ),
    // A write adds to the constant.
    (
        "r500_consts.sv",
        "<= wdata_i[23:0];",
        "<= int_q[24*waddr_i[4:0] +: 24] | wdata_i[23:0];",
    ),
    // No write in the clock of a launch; none after a program; one while stalled.
    (
        "r500_seq.sv",
        "(const_we_i & ~running_q & ~stall_i)",
        "(const_we_i & ~running_q & ~stall_i & ~launch_i)",
    ),
    (
        "r500_seq.sv",
        "(const_we_i & ~running_q & ~stall_i)",
        "(const_we_i & ~running_q & ~stall_i & ~done_q & ~halted_q)",
    ),
    (
        "r500_seq.sv",
        "(const_we_i & ~running_q & ~stall_i)",
        "(const_we_i & ~running_q)",
    ),
    // done, then the error, last one clock.
    (
        "r500_seq.sv",
        AFTER_LAUNCH,
        "          pc_d      = start_addr;\n        end\n        if (!launch_i) done_d = 1'b0;",
    ),
    (
        "r500_seq.sv",
        AFTER_LAUNCH,
        "          pc_d      = start_addr;\n        end\n        if (!launch_i) halted_d = 1'b0;",
    ),
    // A unit that has stopped goes on counting.
    (
        "r500_seq.sv",
        AFTER_LAUNCH,
        "          pc_d      = start_addr;\n        end\n        if (!launch_i & inst_valid_i & done_q) pc_d = pc_q + 10'd1;",
    ),
    // A launch keeps the control registers of the one before.
    (
        "r500_seq.sv",
        "end else if (launch) begin",
        "end else if (launch & ~(done_q | halted_q)) begin",
    ),
    (
        "r500_seq.sv",
        "alu_clr_d = commit;",
        "alu_clr_d = commit | (alu_clr_q & ~running_q & ~launch_i);",
    ),
    (
        "r500_seq.sv",
        "if (!rst_ni) begin\n      running_q <= 1'b0;",
        "if (!rst_ni && !stall_i) begin\n      running_q <= 1'b0;",
    ),
];

const AFTER_LAUNCH: &str = "          pc_d      = start_addr;\n        end";

#[test]
fn rtl_with_one_operator_changed_is_caught_and_its_case_replays() {
    caught_and_replayed(DECISIONS);
}

#[test]
fn rtl_that_breaks_the_clock_contract_is_caught_and_its_case_replays() {
    caught_and_replayed(CONTRACT);
}

/// What an RTL file includes is part of the RTL: a change there is seen.
#[test]
fn a_change_in_an_included_file_is_another_model() {
    let dir = copy_of_the_rtl();
    change(
        dir.path(),
        "r500_seq.sv",
        "module r500_seq",
        "`include \"step.svh\"\nmodule r500_seq",
    );
    change(
        dir.path(),
        "r500_seq.sv",
        "is_fc ? pc_next : pc_q + 10'd1;",
        "is_fc ? pc_next : pc_q + `STEP;",
    );
    let program = program("if_else.s");
    for (step, status) in [("10'd1", 0), ("10'd2", 1)] {
        fs::write(
            dir.path().join("step.svh"),
            format!("`define STEP {step}\n"),
        )
        .unwrap();
        let out = dir.path().join("out");
        let (rtl, out) = (dir.path().to_str().unwrap(), out.to_str().unwrap());
        let output = reconverge(&["run", "r500", &program, "--rtl", rtl, "--out", out]);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{step}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
    }
}

/// RTL that ends the simulation ends its case and nothing else.
#[test]
fn rtl_that_stops_the_simulation_is_reported_and_its_case_replays() {
    let dir = copy_of_the_rtl();
    change(
        dir.path(),
        "r500_seq.sv",
        "  assign pc_o      = pc_q;",
        "  assign pc_o      = pc_q;\n  always @(posedge clk_i) if (rst_ni && halted_q) $fatal(1, \"halted\");",
    );
    let out = dir.path().join("out");
    let (rtl, out) = (dir.path().to_str().unwrap(), out.to_str().unwrap());
    let output = reconverge(&[
        "fuzz", "r500", "--rtl", rtl, "--clocks", "100000", "--out", out,
    ]);
    let report = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{report}{}",
        text(&output.stderr)
    );
    let stopped = line_starting(&report, "STOPPED ");
    assert!(stopped.contains("r500_seq.sv"), "{stopped}");
    let case = line_starting(&report, "replay ")
        .split_whitespace()
        .last()
        .unwrap();
    let again = reconverge(&["replay", case, "--out", out]);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(line_starting(&text(&again.stdout), "STOPPED "), stopped);
}

/// A mismatch is not lost because its files cannot be written where they should go.
#[test]
fn a_mismatch_that_cannot_be_written_to_its_folder_is_reported_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a-file");
    fs::write(&file, "").unwrap();
    let program = program("if_else.s");
    let output = reconverge(&[
        "run",
        "r500",
        &program,
        "--flip",
        "pc@4",
        "--out",
        file.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("MISMATCH r500.if_else.1  clock 4  "));
    assert!(
        text(&output.stderr).contains("instead"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn rtl_that_does_not_compile_is_bad_input() {
    let bad = copy_of_the_rtl();
    change(
        bad.path(),
        "r500_seq.sv",
        "module r500_seq",
        "module r500_sequencer",
    );
    let program = program("if_else.s");
    let output = reconverge(&[
        "run",
        "r500",
        &program,
        "--rtl",
        bad.path().to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.contains("--rtl") && message.contains("r500_seq"),
        "{message}"
    );

    let empty = tempfile::tempdir().unwrap();
    let output = reconverge(&[
        "run",
        "r500",
        &program,
        "--rtl",
        empty.path().to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("r500.f"),
        "{}",
        text(&output.stderr)
    );
}
