//! Mutants of the RTL: those that the campaign catches are *caught* and can be replayed, those that no input can distinguish are
//! *proved* equivalent, and those that could be seen and were not are *missed*, with exit status 1. The referee trusts no tool.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::campaign::signal;
use crate::common::rtl::{change, home_of};
use crate::common::run::Run;
use crate::common::schema::Formats;
use crate::common::{ROOT, arg, command_in, needs, reconverge_in, text, tool, wait_until};
use reconverge::r500::R500;
use serde_json::Value;

/// One choice of mutants for most tests, so that they share a model. 7, 21 and 30 are equivalent to the RTL: 7 in every state, 21
/// and 30 because a push or a launch comes before the value is read.
const TEXT: [&str; 6] = ["--family", "source", "--seed", "5", "--count", "30"];
const EQUIVALENT: [u64; 3] = [7, 21, 30];

fn mutate(args: &[&str], environment: &[(&str, &Path)]) -> Run {
    mutate_unit("r500", args, environment)
}

fn mutate_unit(unit: &str, args: &[&str], environment: &[(&str, &Path)]) -> Run {
    let args = [&["mutate", unit], args].concat();
    Run::of(tempfile::tempdir().unwrap(), &args, environment)
}

impl Run {
    /// The JSON of the only family.
    fn family(&self) -> Value {
        let all = self.json();
        let documented = Formats::of::<R500>(16).object("mutants", &all[0].to_string());
        documented.unwrap_or_else(|why| panic!("mutants{why}"));
        all[0].clone()
    }
    /// Numbers of the mutants that got `verdict`.
    fn numbers(&self, verdict: &str) -> Vec<u64> {
        let all = self.family();
        let mutants = all["mutants"].as_array().unwrap().iter();
        mutants
            .filter(|m| m["verdict"] == verdict)
            .map(|m| m["number"].as_u64().unwrap())
            .collect()
    }
}

#[needs(yosys, yosys-abc, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn every_mutant_of_the_text_is_caught_or_proved_equivalent() {
    let run = mutate(&TEXT, &[]).ends(0);
    assert_eq!(run.numbers("equivalent"), EQUIVALENT);
    assert_eq!(run.numbers("caught").len(), 27);
    let all = run.family();
    assert!(all["cycles_to_catch"]["median"].as_u64() <= all["cycles_to_catch"]["p95"].as_u64());
    for mutant in all["mutants"].as_array().unwrap() {
        if mutant["verdict"] == "caught" {
            assert!(mutant["cycles"].as_u64().unwrap() > 0, "{mutant}");
        } else {
            assert!(!mutant["why"].as_str().unwrap().is_empty(), "{mutant}");
        }
    }
}

/// With few cycles the campaign misses mutants: the referee calls none of them equivalent, and shows for some that they are not.
#[needs(yosys, yosys-abc, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_mutant_that_the_campaign_does_not_catch_is_missed() {
    let few = ["--cycles", "1", "--only", "3,7,9,20"];
    let run = mutate(&[&TEXT[..], &few].concat(), &[]).ends(1);
    assert_eq!(run.numbers("equivalent"), [7]);
    assert_eq!(run.numbers("missed"), [3, 20]);
    assert_eq!(run.numbers("undecided"), [9]);
    let said = run.said();
    let line = "  MISSED 20  r500_loop_stack.sv:63  constant: 8'd0  ->  8'd1\n    \
                some inputs show it 3 cycles after a reset\n";
    assert!(said.contains(line), "{said}");
}

#[needs(yosys, yosys-abc, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_caught_mutant_replays_from_its_file_and_the_rtl_itself_does_not_fail() {
    let run = mutate(&[&TEXT[..], &["--only", "20,24"]].concat(), &[]).ends(0);
    let all = run.family();
    let mutants = all["mutants"].as_array().unwrap();
    assert_eq!(mutants.len(), 2);
    for mutant in mutants {
        let case = Path::new(mutant["saved"].as_str().unwrap());
        let again = reconverge_in(run.dir.path(), &["replay", arg(case)]);
        let report = text(&again.stdout);
        assert_eq!(again.status.code(), Some(1), "{report}");
        let field = mutant["field"].as_str().unwrap();
        let differs = |l: &str| l.ends_with("<--") && l.trim_start().starts_with(field);
        assert!(report.lines().any(differs), "{field}: {report}");

        // As small as any other failure, with fewer lanes of the same mutant.
        let small = reconverge_in(run.dir.path(), &["replay", arg(case), "--shrink"]);
        let headline = text(&small.stdout);
        let headline = headline
            .lines()
            .find(|l| l.starts_with("program shrunk from "));
        assert!(headline.unwrap().contains(" 16 to 4 lanes"), "{headline:?}");

        // The same model as the RTL that it was made of.
        let saved = fs::read_to_string(case).unwrap();
        let number = mutant["number"].as_u64().unwrap();
        let from = format!("\"mutant\": {number}");
        assert_eq!(saved.matches(&from).count(), 1, "{saved}");
        fs::write(case, saved.replace(&from, "\"mutant\": 0")).unwrap();
        let sound = reconverge_in(run.dir.path(), &["replay", arg(case)]);
        assert_eq!(sound.status.code(), Some(0), "{}", text(&sound.stdout));

        // A number that does not exist.
        fs::write(case, saved.replace(&from, "\"mutant\": 31")).unwrap();
        let none = reconverge_in(run.dir.path(), &["replay", arg(case)]);
        assert_eq!(none.status.code(), Some(2));
        let error = text(&none.stderr);
        assert!(
            error.contains("mutant: the mutants of ") && error.contains(" are 1 to 30, not 31"),
            "{error}"
        );
    }
}

#[needs(yosys, yosys-abc, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn mutants_of_the_netlist_are_caught_or_proved_equivalent() {
    let run = mutate(
        &["--family", "netlist", "--seed", "3", "--count", "30"],
        &[],
    )
    .ends(0);
    let (caught, equivalent) = (run.numbers("caught"), run.numbers("equivalent"));
    assert_eq!(caught.len() + equivalent.len(), 30);
    assert!(
        !caught.is_empty() && !equivalent.is_empty(),
        "{}",
        run.said()
    );
}

/// Regression: a signal while the referee proved the premises lost all, and left an ABC process that never ended.
#[needs(yosys, yosys-abc, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn mutants_judged_before_a_signal_are_told_of_and_nothing_goes_on_behind_it() {
    let bin = tempfile::tempdir().unwrap();
    let at = |name: &str| bin.path().join(name);
    // It answers this many questions and then never again.
    let fake = "#!/bin/sh\n\
        echo >>\"$FAKE/asked\"\n\
        if [ $(wc -l <\"$FAKE/asked\") -le \"$ANSWERS\" ]; then PATH=${PATH#*:} exec yosys-abc \"$@\"; fi\n\
        echo $$ >\"$FAKE/new\" && mv \"$FAKE/new\" \"$FAKE/pid\"\n\
        exec sleep 1000\n";
    tool::write(&at("yosys-abc"), fake);
    let path = tool::path_behind([bin.path().to_owned()]);
    // The first question is the referee's own, the fifth is about a mutant.
    for answers in ["0", "4"] {
        for name in ["asked", "pid"] {
            let _ = fs::remove_file(at(name));
        }
        let dir = tempfile::tempdir().unwrap();
        // 3 is caught; the campaign does not see 21.
        let more = ["--only", "3,21", "--cycles", "200000", "--jobs", "1"];
        let common = ["mutate", "r500", "--json", "all.json", "--out", "out"];
        let child = command_in(dir.path(), &[&common[..], &TEXT, &more].concat())
            .env("PATH", &path)
            .env("FAKE", bin.path())
            .env("ANSWERS", answers)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        wait_until("ABC is asked", || at("pid").exists());
        let asked = fs::read_to_string(at("pid")).unwrap();
        signal(child.id(), "-TERM");
        let begin = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(
            begin.elapsed() < Duration::from_secs(500),
            "it waits for ABC"
        );
        let left = Path::new("/proc").join(asked.trim()).exists();
        if left {
            signal(asked.trim().parse().unwrap(), "-KILL");
        }
        assert!(!left, "{answers}: an ABC goes on");
        let run = Run { dir, output }.ends(3);
        let said = run.said();
        assert!(
            said.contains("  interrupted     after 1 of 2 mutants\n"),
            "{said}"
        );
        let end = "error: interrupted: the mutants that were judged until then were counted\n";
        assert!(said.ends_with(end), "{said}");
        assert_eq!(run.family()["complete"], false);
        assert_eq!(run.numbers("caught"), [3]);
        assert_eq!(run.family()["mutants"].as_array().unwrap().len(), 1);
    }
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn without_yosys_the_text_is_judged_without_proofs_and_the_netlist_is_not() {
    let only = ["--only", "7,20"];
    let run = mutate(&[&TEXT[..], &only].concat(), &[]).ends(1);
    assert_eq!(run.numbers("caught"), [20]);
    assert_eq!(run.numbers("undecided"), [7]);
    let why = "yosys: No such file or directory (os error 2); it is needed for mutants of the netlist and for \
               proofs: ./setup --all installs it";
    assert!(run.said().contains(why), "{}", run.said());
    let run = mutate(&["--family", "netlist", "--count", "2"], &[]).ends(3);
    assert!(run.said().contains(why), "{}", run.said());
    // Regression: the verdicts on the text were lost with those on the netlist.
    let both = ["--family", "all", "--count", "2", "--cycles", "20000"];
    let run = mutate(&both, &[]);
    assert!(
        run.said().contains(&format!("error: {why}")),
        "{}",
        run.said()
    );
    assert!(!run.said().contains("interrupted"), "{}", run.said());
    assert_eq!(run.family()["mutants"].as_array().unwrap().len(), 2);
}

/// A copy of the repository whose formal file of `unit` is changed.
fn with_formal(unit: &str, from: &str, to: &str) -> tempfile::TempDir {
    let home = home_of(unit);
    change(&home, "formal.sv", from, to);
    home
}

#[needs(yosys, yosys-abc, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_the_referee_is_told_is_proved_before_it_is_used() {
    for (from, to, why) in [
        // This is false: there are four frames.
        (
            "u_loop_stack__depth_q <= 3'd4",
            "u_loop_stack__depth_q <= 3'd3",
            "r500_formal.sv: a cycle can break invariant",
        ),
        (
            "assign invariant =\n",
            "assign invariant = 1'b1 ||\n",
            "r500_formal.sv: the invariant says nothing",
        ),
        // The frame on top matters.
        (
            "= u_loop_stack__depth_q > i;",
            "= u_loop_stack__depth_q > i + 1;",
            "r500_formal.sv: that what is not live does not matter is not true",
        ),
        (
            "input logic             alu_clr_q,",
            "input logic             alu_clear_q,",
            "r500_formal.sv: alu_clear_q: no state alu_clear_q of 1 bits in the RTL",
        ),
    ] {
        let home = with_formal("r500", from, to);
        let environment = [("RECONVERGE_HOME", home.path())];
        let run = mutate(&[&TEXT[..], &["--only", "21"]].concat(), &environment).ends(1);
        assert_eq!(run.numbers("undecided"), [21]);
        let said = run.said();
        assert!(
            said.contains(&format!(
                "  no referee      {}/rtl/r500/{why}\n",
                home.path().display()
            )),
            "{said}"
        );
    }
}

/// Mutant 7 stores no aL with a loop frame that begins at the fourth sub-entry. With two entries no other loop lies below such a
/// frame, and outside of loops aL is 0: the proof needs the invariants of frames.
#[needs(yosys, yosys-abc, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_lies_in_the_stack_of_r700_is_known_and_proved_before_it_is_used() {
    let judged = |home: &Path, status| {
        let build = ["--lanes", "2", "--param", "MAX_STACK_SIZE=2"];
        let chosen = ["--seed", "3", "--count", "12", "--only", "7"];
        let args = [
            &["--family", "source", "--cycles", "2000"],
            &build[..],
            &chosen[..],
        ];
        mutate_unit("r700", &args.concat(), &[("RECONVERGE_HOME", home)]).ends(status)
    };
    let run = judged(Path::new(ROOT), 0);
    assert_eq!(run.numbers("equivalent"), [7], "{}", run.said());
    // Unused bits of a frame are 0: this is changed too.
    let blank = "a cycle can break invariant[2]";
    for (from, to, why) in [
        (
            "MostEntries = 2",
            "MostEntries = 1",
            "no proof by induction",
        ),
        // A frame saves `base`, and the lanes of a mask matter.
        ("{SpBits+24{loop_word}}", "{24{loop_word}}", blank),
        ("{ends_branch[a] || st_word}", "{st_word}", blank),
        (
            "u_stack__nb_q == branches",
            "u_stack__nb_q > branches",
            "a cycle can break invariant[7]",
        ),
    ] {
        let home = with_formal("r700", from, to);
        let run = judged(home.path(), 1);
        assert_eq!(run.numbers("undecided"), [7], "{}", run.said());
        assert!(run.said().contains(why), "{}", run.said());
    }
}
