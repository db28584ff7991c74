//! What the commands print and write: traces, conversions, conditions, views.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn reconverge(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reconverge"))
        .args(args)
        .current_dir(ROOT)
        .output()
        .unwrap()
}

fn stdout(args: &[&str]) -> String {
    let output = reconverge(args);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn trace(args: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.jsonl");
    stdout(&[args, &["--trace", file.to_str().unwrap()]].concat());
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        1,
        "one file and nothing besides"
    );
    fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Names, order and meaning of a trace record are fixed: scripts read them.
#[test]
fn a_trace_record_has_the_fixed_names_in_the_fixed_order() {
    let lines = trace(&[
        "run",
        "r500",
        "tb/programs/r500/if_else.s",
        "--lanes",
        "4",
        "--seed",
        "2",
    ]);
    assert_eq!(
        lines[0],
        r#"{"step":0,"pc":0,"cmn":0,"inst":0,"addr":0,"jump":null,"st":[0,0,0,0],"bc":[0,0,0,0],"lc":[0,0,0,0],"loops":[],"addrs":[],"pc_next":1,"err":0,"done":0,"halted":0}"#
    );
    let second: Value = serde_json::from_str(&lines[1]).unwrap();
    assert_eq!(second["inst"], 0x0A00_0F00);
    assert!(second["jump"] == 0 || second["jump"] == 1);
    let last: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    assert_eq!(
        (&last["pc"], &last["done"], &last["pc_next"]),
        (&6.into(), &1.into(), &7.into())
    );
    for (step, line) in lines.iter().enumerate() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["step"], step);
    }
}

/// The draw of the conditions is fixed too: lane, k and seed give these bits. ALU results by hand from
/// the definition: z of seed 2, lane l, k 0, lowest nibble below 8.
#[test]
fn conditions_are_drawn_as_defined() {
    let lines = trace(&[
        "run",
        "r500",
        "tb/programs/r500/if_else.s",
        "--lanes",
        "4",
        "--seed",
        "2",
    ]);
    let branch: Value = serde_json::from_str(&lines[1]).unwrap();
    let draw = |lane: u64| {
        let mut z = 2u64
            .wrapping_add(lane.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .wrapping_add(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) & 15 < 8
    };
    // IF stays unless all four are false; a lane whose ALU result is 0 is switched off then.
    let off: Vec<u64> = (0..4).map(|lane| u64::from(!draw(lane))).collect();
    assert!(
        off.contains(&0) && off.contains(&1),
        "seed 2 divides the lanes: {off:?}"
    );
    assert_eq!(branch["st"], Value::from(off));
}

#[test]
fn a_step_that_fails_writes_the_state_before_it_and_the_code() {
    let lines = trace(&[
        "run",
        "r500",
        "tb/programs/r500/return_empty.s",
        "--lanes",
        "4",
    ]);
    assert_eq!(lines.len(), 1);
    let step: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(
        (&step["err"], &step["halted"], &step["done"]),
        (&7.into(), &1.into(), &0.into())
    );
    assert_eq!(
        (&step["pc"], &step["pc_next"], &step["jump"]),
        (&0.into(), &0.into(), &Value::Null)
    );

    // Outside the code window there is no instruction.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("window.s");
    fs::write(&file, ".window 0 1\n.end 5\nALU\nALU\nALU\nALU\nALU\nOUT\n").unwrap();
    let lines = trace(&["run", "r500", file.to_str().unwrap(), "--lanes", "4"]);
    let last: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    assert_eq!(
        (lines.len(), &last["err"], &last["pc"], &last["pc_next"]),
        (3, &9.into(), &2.into(), &2.into())
    );
    assert_eq!(
        (&last["cmn"], &last["inst"], &last["addr"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
}

/// Loops are [kind, count, aL] with the kind as its OP, bottom first; addresses bottom first.
#[test]
fn stacks_stand_in_the_trace_bottom_first() {
    let lines = trace(&[
        "run",
        "r500",
        "tb/programs/r500/rep_in_loop.s",
        "--lanes",
        "4",
    ]);
    let second: Value = serde_json::from_str(&lines[1]).unwrap();
    assert_eq!(second["loops"], serde_json::json!([[1, 1, 7], [3, 2, 7]]));
    let lines = trace(&[
        "run",
        "r500",
        "tb/programs/r500/call_return.s",
        "--lanes",
        "4",
        "--p16",
        "16",
    ]);
    let second: Value = serde_json::from_str(&lines[1]).unwrap();
    assert_eq!(
        (&second["addrs"], &second["pc_next"]),
        (&serde_json::json!([0x22]), &0x24.into())
    );
}

/// A table of conditions reproduces the worked trace of spec 7.3: c is true in lanes 0 and 3.
#[test]
fn conditions_come_from_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.jsonl");
    fs::write(
        &file,
        "{\"lane\":0,\"k\":0,\"bits\":1}\n{\"lane\":3,\"k\":0,\"bits\":1}\n",
    )
    .unwrap();
    let conditions = file.to_str().unwrap();
    let lines = trace(&[
        "run",
        "r500",
        "tb/programs/r500/if_else.s",
        "--lanes",
        "4",
        "--conditions",
        conditions,
    ]);
    let states: Vec<Value> = lines
        .iter()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["st"].clone())
        .collect();
    assert_eq!(states[1], serde_json::json!([0, 1, 1, 0]));
    assert_eq!(states[3], serde_json::json!([1, 0, 0, 1]));
    assert_eq!(states[5], serde_json::json!([0, 0, 0, 0]));
}

/// Text to words to text: every own program comes back with the same words, through files and pipes.
#[test]
fn asm_dis_and_import_are_each_other_s_inverse() {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(Path::new(ROOT).join("tb/programs/r500")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|x| x != "s") {
            continue;
        }
        let (source, name) = (
            path.to_str().unwrap(),
            path.file_stem().unwrap().to_str().unwrap(),
        );
        let hex = dir.path().join(format!("{name}.hex"));
        let hex = hex.to_str().unwrap();
        assert_eq!(stdout(&["asm", "r500", source, "-o", hex]), "");
        let text = dir.path().join(format!("{name}.s"));
        fs::write(&text, stdout(&["dis", "r500", hex])).unwrap();
        assert_eq!(
            stdout(&["asm", "r500", text.to_str().unwrap()]),
            fs::read_to_string(hex).unwrap(),
            "{name}"
        );
    }
    let log = "tb/programs/r500/mesa/17_nested_loops.log";
    let words = |file: &str| {
        let hex = stdout(&["import", "r500", file, "--hex"]);
        hex.lines()
            .filter(|l| l.starts_with("0x") || l.starts_with('0'))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words(log),
        words("tb/programs/r500/mesa/17_nested_loops.txt")
    );
    assert_eq!(words(log).len(), 23);
    assert_eq!(
        stdout(&["import", "r500", log, "--list"]).lines().count(),
        1
    );
}

#[test]
fn mesa_s_unsafe_loop_word_is_warned_of_and_can_be_made_safe() {
    let log = "tb/programs/r500/mesa/17_nested_loops.log";
    let output = reconverge(&["run", "r500", log]);
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("warning: slots 2, 10: LOOP"),
        "{output:?}"
    );
    let unsafe_text = stdout(&["run", "r500", log]);
    assert!(
        unsafe_text.contains("scalar judge cannot tell"),
        "{unsafe_text}"
    );
    let safe = stdout(&["run", "r500", log, "--safe-loops"]);
    assert!(safe.contains("scalar judge agrees: 16 lanes"), "{safe}");
}

/// The views in `waves/` are what `view` writes today.
#[test]
fn committed_views_are_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_reconverge"))
        .args(["view", "r500"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "gtkwave waves/r500.vcd waves/r500.gtkw\n"
    );
    let mut files = vec!["waves/r500.gtkw".to_owned()];
    for entry in fs::read_dir(dir.path().join("waves/filters")).unwrap() {
        files.push(format!(
            "waves/filters/{}",
            entry.unwrap().file_name().to_str().unwrap()
        ));
    }
    assert!(files.len() > 2);
    for file in files {
        let fresh = fs::read_to_string(dir.path().join(&file)).unwrap();
        let committed = fs::read_to_string(Path::new(ROOT).join(&file)).unwrap_or_default();
        assert!(
            fresh == committed,
            "{file} is out of date: run `reconverge view r500` and commit it"
        );
    }
}

/// A unit is complete in every folder, or this stays red.
#[test]
fn every_unit_has_all_its_parts() {
    let list = fs::read_to_string(Path::new(ROOT).join("src/units.rs")).unwrap();
    let units: Vec<&str> = list
        .lines()
        .filter(|l| l.trim().ends_with("];") && !l.trim().starts_with("//"))
        .filter_map(|l| l.split_whitespace().next())
        .collect();
    assert!(!units.is_empty());
    for unit in units {
        let mut missing = Vec::new();
        for part in [
            "rtl/U/U_pkg.sv",
            "rtl/U/U_seq.sv",
            "rtl/U/U.f",
            "rtl/U/U.core",
            "rtl/U/README.md",
            "rtl/U/U_probe.svh",
            "tb/U_tb.sv",
            "tb/U_spec.rs",
            "tb/U_text.rs",
            "tb/programs/U",
            "waves/U.gtkw",
            "src/U/mod.rs",
            "src/U/isa.rs",
            "src/U/asm.rs",
            "src/U/import.rs",
            "src/U/golden.rs",
            "src/U/scalar.rs",
            "src/U/generate.rs",
            "src/U/state.rs",
            "src/U/unit.rs",
            "src/U/environment.rs",
            "src/U/judge.rs",
        ] {
            let part = part.replace('U', unit);
            if !Path::new(ROOT).join(&part).exists() {
                missing.push(part);
            }
        }
        let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
        if !readme.contains(&format!("`{unit}`")) {
            missing.push(format!("{unit} in README.md"));
        }
        assert!(missing.is_empty(), "{unit} lacks {missing:?}");
    }
}
