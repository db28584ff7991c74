//! The key of a model covers all its sources: a change in any file, flag or tool makes another model.

use std::fs;
use std::path::Path;

use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{ROOT, arg, line_starting};

use super::{
    NAME, RIGHT, WRONG, append, change, ends, include, list, never_seen, planted, run_behind,
    run_on, started, wrapper,
};

/// Regression: only files with some endings in some folders counted, so the model of the RTL before the change was judged.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_change_in_a_file_of_any_ending_from_anywhere_is_another_model() {
    let (rtl, shared) = (Folder::own(NAME).copy(), tempfile::tempdir().unwrap());
    list(&rtl, &format!("+incdir+inc\n-I{}", arg(shared.path())));
    let files = [
        ("r500_vote.sv", "vote.inc", rtl.dir().join("vote.inc")),
        (
            "r500_decode.sv",
            "in c/decode.def",
            rtl.dir().join("in c/decode.def"),
        ),
        ("r500_consts.sv", "consts.h", rtl.dir().join("inc/consts.h")),
        ("r500_lanes.sv", "lanes", shared.path().join("lanes")),
    ];
    for (module, name, file) in &files {
        include(&rtl, module, name, file);
    }
    ends(0, run_on(rtl.dir()));
    for (_, name, file) in &files {
        change(file, RIGHT, WRONG);
        let [report, _] = ends(1, run_on(rtl.dir()));
        assert!(report.starts_with("STOPPED "), "{name}: {report}");
        change(file, WRONG, RIGHT);
        ends(0, run_on(rtl.dir()));
    }
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_file_that_comes_into_the_place_of_an_included_one_is_another_model() {
    let rtl = Folder::own(NAME).copy();
    let [first, second] = ["first", "second"].map(|dir| rtl.dir().join(dir).join("lanes.inc"));
    include(&rtl, "r500_lanes.sv", "lanes.inc", &second);
    fs::create_dir(rtl.dir().join("first")).unwrap();
    list(&rtl, "+incdir+first+second");
    ends(0, run_on(rtl.dir()));
    fs::copy(second, &first).unwrap();
    change(&first, RIGHT, WRONG);
    ends(1, run_on(rtl.dir()));
}

/// Results of two different RTLs must not be added up.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_campaign_is_not_resumed_with_another_included_file() {
    let rtl = Folder::own(NAME).copy();
    let file = rtl.dir().join("lanes.inc");
    include(&rtl, "r500_lanes.sv", "lanes.inc", &file);
    let results = rtl.dir().join("results");
    let fuzz = || {
        let few = ["--programs", "4", "--results", arg(&results)];
        started(&[&["fuzz", NAME, "--rtl", rtl.arg()], &few[..]].concat())
    };
    ends(0, fuzz());
    let old = fs::read_to_string(&file).unwrap();
    append(&file, "// changed\n");
    let [_, why] = ends(2, fuzz());
    assert!(why.contains(": rtl: "), "{why}");
    // The key depends on contents, not on time or place.
    fs::write(&file, old).unwrap();
    ends(0, fuzz());
}

/// Regression: the wrong RTL was judged under the key of the right one, for ever.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_file_that_changes_while_it_is_compiled_and_back_again_does_not_become_the_model() {
    let rtl = never_seen();
    let [lanes, right, wrong, once] =
        ["r500_lanes.sv", "right", "wrong", "once"].map(|name| rtl.dir().join(name));
    fs::copy(&lanes, &right).unwrap();
    fs::copy(&lanes, &wrong).unwrap();
    change(&wrong, RIGHT, WRONG);
    // The file is wrong while it is compiled the first time, and right afterwards.
    let [lanes, right, wrong, swapped] = [&lanes, &right, &wrong, &once].map(|path| arg(path));
    let swap = format!(
        "case $1 in --cc) if [ ! -e {swapped} ]; then touch {swapped}; cp {wrong} {lanes}; \
         $real \"$@\"; status=$?; cp {right} {lanes}; exit $status; fi;; esac"
    );
    ends(0, run_behind(&swap, rtl.dir()));
    assert!(once.exists(), "nothing was swapped");
    ends(0, run_behind(&swap, rtl.dir()));
}

#[test]
fn sources_that_do_not_come_to_rest_are_an_error() {
    let rtl = never_seen();
    let lanes = rtl.dir().join("r500_lanes.sv");
    let lanes = arg(&lanes);
    let grow = format!("[ $1 != --cc ] || echo // >>{lanes}");
    let [_, why] = ends(2, run_behind(&grow, rtl.dir()));
    let expected = format!("{lanes}: the sources change while they are compiled");
    assert!(why.contains(&expected), "{why}");
}

/// Regression: flags that only one run was given broke all later ones; another version of a tool was not noticed.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn flags_and_tools_belong_to_what_a_model_is() {
    let rtl = never_seen();
    let log = rtl.dir().join("log");
    let tool = rtl.dir().join("verilator");
    fs::copy(wrapper(), &tool).unwrap();
    // Verilator also reads the ports of the module, with other options.
    let note = format!(
        "[ \"$1 $2\" != '--cc --trace' ] || echo built >>{}",
        arg(&log)
    );
    let built_after = |flags: &str, tool: &Path| {
        let mut command = run_behind(&note, rtl.dir());
        command.env("CXXFLAGS", flags).env("VERILATOR", tool);
        ends(0, command);
        fs::read_to_string(&log).map_or(0, |text| text.lines().count())
    };
    assert_eq!(built_after("-O0", wrapper()), 1);
    assert_eq!(built_after("-O0", wrapper()), 1, "built for nothing");
    assert_eq!(built_after("-O0 -DOF_NO_MATTER", wrapper()), 2);
    assert_eq!(built_after("-O0", wrapper()), 2, "built for nothing");
    assert_eq!(built_after("-O0", &tool), 3, "another tool");
    assert_eq!(built_after("-O0", &tool), 3, "built for nothing");
    // The same name, another program.
    append(&tool, "# a later version\n");
    assert_eq!(built_after("-O0", &tool), 4, "another version of the tool");
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_file_list_with_folders_macros_modules_lists_and_code_builds() {
    let rtl = Folder::own(NAME).copy();
    let dir = rtl.dir();
    for folder in ["inc", "lib", "sub"] {
        fs::create_dir(dir.join(folder)).unwrap();
    }
    fs::rename(dir.join("r500_vote.sv"), dir.join("lib/r500_vote.sv")).unwrap();
    fs::rename(dir.join("r500_lanes.sv"), dir.join("sub/r500_lanes.sv")).unwrap();
    let files = "r500_pkg.sv\nr500_decode.sv\nr500_consts.sv\n-F sub/sub.f\nr500_loop_stack.sv\nr500_addr_stack.sv\nr500_seq.sv\n";
    let options = "+incdir+inc\n+define+TWO=2\n-y lib\n+libext+.sv\n";
    fs::write(
        dir.join("r500.f"),
        format!("{options}{files}one.c\nsub/two.cpp\n"),
    )
    .unwrap();
    fs::write(dir.join("sub/sub.f"), "r500_lanes.sv\n").unwrap();
    fs::write(dir.join("inc/three.h"), "#define THREE 3\n").unwrap();
    fs::write(
        dir.join("one.c"),
        "#include <svdpi.h>\nint one(int a) { int class = a; return class; }\n",
    )
    .unwrap();
    let code = "#include \"three.h\"\nextern \"C\" int three(int a) { return a + THREE; }\n";
    fs::write(dir.join("sub/two.cpp"), code).unwrap();
    change(
        &dir.join("r500_seq.sv"),
        "module r500_seq",
        "import \"DPI-C\" function int one(int a);\nimport \"DPI-C\" function int three(int a);\nmodule r500_seq",
    );
    let seq = dir.join("r500_seq.sv");
    let source = fs::read_to_string(&seq).unwrap();
    let end = source.rfind("endmodule").unwrap();
    let plus = "  always_ff @(posedge clk_i) if (rst_ni) sum: assert (three(one(`TWO)) == 5);\n";
    fs::write(&seq, format!("{}{plus}{}", &source[..end], &source[end..])).unwrap();
    ends(0, run_on(dir));
    // A header of the code is a source too.
    fs::write(dir.join("inc/three.h"), "#define THREE 4\n").unwrap();
    let [report, _] = ends(1, run_on(dir));
    assert!(
        line_starting(&report, "STOPPED ").contains("dut.sum"),
        "{report}"
    );
}

/// Regression: it ended the calling process, and with it the campaign.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_function_that_nothing_defines_is_bad_input() {
    let rtl = planted("  always_ff @(posedge clk_i) if (nowhere(3) == 4) $display(\"four\");");
    change(
        &rtl.dir().join("r500_seq.sv"),
        "module r500_seq",
        "import \"DPI-C\" function int nowhere(int a);\nmodule r500_seq",
    );
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(why.contains("--rtl") && why.contains("nowhere"), "{why}");
    fs::write(rtl.dir().join("bad.cpp"), "int main( {\n").unwrap();
    list(&rtl, "bad.cpp");
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(
        why.contains("compiling bad.cpp") && why.contains("bad.cpp:1:"),
        "{why}"
    );
}

/// Regression: both were ignored: Verilator's reading of a `$`, and the effect of a wrong width.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn the_folder_may_have_any_name_and_a_name_in_the_list_must_mean_itself() {
    let rtl = Folder::own(NAME).copy();
    let odd = rtl.dir().join("sp ace;$(touch PWN)+-$HOME");
    fs::create_dir(&odd).unwrap();
    for file in Folder::own(NAME).list().iter().map(String::as_str).chain([
        "r500.f",
        "design.toml",
        "r500_sva.sv",
    ]) {
        fs::copy(rtl.dir().join(file), odd.join(file)).unwrap();
    }
    ends(0, run_on(&odd));
    assert!(!odd.join("PWN").exists() && !Path::new(ROOT).join("PWN").exists());
    list(&rtl, "$HOME/x.sv");
    let [_, why] = ends(2, run_on(rtl.dir()));
    let lost = "r500.f:1: file: no such file: $HOME/x.sv";
    assert!(why.contains(lost), "{why}");
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_verilator_warns_of_is_printed_whether_the_model_is_built_or_found() {
    let width = "  logic [3:0] planted;\n  assign planted = 5'(clk_i);\n";
    let rtl = Folder::own(NAME).planted(width);
    for run in ["built", "found"] {
        let [_, said] = ends(0, run_on(rtl.dir()));
        let head = format!("warning: Verilator on {}:\n%Warning-WIDTH", rtl.arg());
        assert_eq!(said.matches(&head).count(), 1, "{run}: {said}");
        assert!(said.contains("assign planted"), "{run}: {said}");
        // The bench itself gives no cause for any.
        assert_eq!(
            said.matches("%Warning").count(),
            said.matches("%Warning-WIDTH").count(),
            "{run}: {said}"
        );
    }
    let [_, said] = ends(0, run_on(&Folder::own(NAME).dir));
    assert_eq!(said, "", "our own RTL is clean");
}

/// Regression: widths were checked by Verilator's warnings, which a waiver suppresses, and the RTL agreed.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn no_waiver_and_no_pragma_hides_a_port_or_a_probe_that_does_not_fit() {
    let wrong = [
        (
            "r500_seq.sv",
            "output logic [9:0]       pc_o",
            "output logic [15:0] pc_o",
            "port pc_o has 16 bits, 10 are declared",
        ),
        (
            "r500_seq.sv",
            "input  logic             launch_i",
            "input logic [1:0] launch_i",
            "port launch_i has 2 bits, 1 are declared",
        ),
        (
            "r500_seq.sv",
            "  output logic [9:0]       pc_o",
            "  input logic scan_i,\n  output logic [9:0] pc_o",
            "input port scan_i is not declared",
        ),
        (
            "design.toml",
            "probe = \"dut.u_loop_stack.depth_q\"",
            "probe = \"{1'b0, dut.u_loop_stack.depth_q}\"",
            "the probe of loop_depth has 4 bits, 3 are declared",
        ),
    ];
    let waivers = [
        "`verilator_config\nlint_off -rule WIDTH\nlint_off -rule PINMISSING\n",
        "`verilator_config\nlint_off\n",
        "`verilator_config\nlint_off -file \"*\"\n",
        "`verilator_config\nlint_off -rule WIDTH -file \"*r500_tb.sv\" -lines 1-9999\nlint_off -rule PINMISSING -file \"*\"\n",
    ];
    let refuses = |(file, from, to, why): (&str, &str, &str, &str), waive: &dyn Fn(&Copy)| {
        let rtl = Folder::own(NAME).copy();
        rtl.change((file, from, to));
        waive(&rtl);
        let [_, said] = ends(2, run_on(rtl.dir()));
        assert!(said.contains(&format!(": {why}")), "{said}");
    };
    for wrong in wrong {
        for waiver in waivers {
            refuses(wrong, &|rtl| {
                fs::write(rtl.dir().join("waive.vlt"), waiver).unwrap();
                list(rtl, "waive.vlt");
            });
        }
        let pragma = "// verilator lint_off WIDTH\n// verilator lint_off PINMISSING\n";
        refuses(wrong, &|rtl| append(&rtl.dir().join("r500_seq.sv"), pragma));
    }
}

/// Verilator only warns of these: bits would not be compared, or driven by nothing.
#[test]
fn ports_and_probes_that_do_not_fit_the_declaration_are_refused() {
    let says = |rtl: &Copy, why: &str| {
        let [_, said] = ends(2, run_on(rtl.dir()));
        let why = why.replace("DIR", rtl.arg());
        assert_eq!(said.lines().next(), Some(&*why));
    };
    let refuses = |wrong: (&str, &str, &str), why: &str| {
        let rtl = Folder::own(NAME).copy();
        rtl.change(wrong);
        says(&rtl, why);
    };
    let port = (
        "r500_seq.sv",
        "output logic [9:0]       pc_o",
        "output logic [10:0] pc_o",
    );
    refuses(
        port,
        "error: DIR: --rtl: port pc_o has 11 bits, 10 are declared: the others would not be compared",
    );
    let open = (
        "r500_seq.sv",
        "  output logic [9:0]       pc_o",
        "  input logic scan_i,\n  output logic [9:0] pc_o",
    );
    refuses(
        open,
        "error: DIR: --rtl: input port scan_i is not declared: it would have a constant value that the seed draws",
    );
    let probe = (
        "design.toml",
        "probe = \"dut.u_loop_stack.depth_q\"",
        "probe = \"{1'b0, dut.u_loop_stack.depth_q}\"",
    );
    refuses(
        probe,
        "error: DIR: --rtl: DIR/design.toml:199: the probe of loop_depth has 4 bits, 3 are declared: the others would not be compared",
    );
    for port in ["pc_o", "stall_i"] {
        let rtl = Folder::own(NAME).copy();
        let top = rtl.dir().join("r500_seq.sv");
        let text = fs::read_to_string(&top).unwrap();
        let renamed = text.replace(&format!(" {port},"), " other,");
        fs::write(&top, renamed.replace(port, "other")).unwrap();
        says(
            &rtl,
            &format!("error: DIR: --rtl: port {port} is declared, but the module has no such port"),
        );
    }
}
