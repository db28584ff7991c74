//! What the commands print and write: traces, conversions, conditions, views.

use std::fs;
use std::path::Path;

use crate::common::{
    ROOT, Tested, arg, own_programs, program, reconverge_ends, reconverge_in, text,
};
use reconverge::environment::{bits, draw_word};
use serde_json::Value;

use reconverge::for_each_unit;

mod view;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        const UNITS: &[&str] = &[$(stringify!($module)),+];

        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                the_records_of_a_trace_follow_one_another,
                conditions_are_drawn_as_defined,
                conditions_come_from_a_table,
                conditions_are_drawn_but_for_those_that_are_changed,
                asm_and_dis_are_each_other_s_inverse,
                committed_views_are_up_to_date,
            );
        })+
    };
}
for_each_unit!(tests);

/// Standard output of a command that must succeed.
fn stdout(args: &[&str]) -> String {
    reconverge_ends(0, args)
}

fn trace(args: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.jsonl");
    stdout(&[args, &["--trace", arg(&file)]].concat());
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

/// Trace of the program in file `name` among the unit's own, with four lanes.
fn trace_of<U: Tested>(name: &str, more: &[&str]) -> Vec<String> {
    let program = program::<U>(name);
    trace(&[&["run", U::NAME, &program, "--lanes", "4"], more].concat())
}

fn record(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// Steps follow one another up to the end, for every own program. tb/formats.rs checks the records.
fn the_records_of_a_trace_follow_one_another<U: Tested>() {
    let lines = trace_of::<U>(U::IF_ELSE, &["--seed", "2"]);
    assert_eq!(lines[0], U::TRACED);
    let mut records = 0;
    for file in own_programs::<U>() {
        // One of them has no end (spa5: the continue loop of the ISA reference).
        const MAX: usize = 2000;
        let most = MAX.to_string();
        let lines = trace(&[
            "run",
            U::NAME,
            arg(&file),
            "--lanes",
            "4",
            "--max-steps",
            &most,
        ]);
        for (step, line) in lines.iter().enumerate() {
            let this = record(line);
            assert_eq!(this["step"], step);
            let last = step + 1 == lines.len();
            let (done, failed) = U::ended(&this);
            assert_eq!(last && step + 1 < MAX, done || failed);
            assert_eq!(failed, this["err"] != 0);
            if !last {
                assert_eq!(record(&lines[step + 1])["pc"], this["pc_next"]);
            }
            records += 1;
        }
    }
    assert!(records > 100, "{records} records");
}

/// ACTIVE lanes after the steps of `if_else.s` that [`Tested::PARTS`] names.
fn parts<U: Tested>(more: &[&str]) -> [u64; 3] {
    let lines = trace_of::<U>(U::IF_ELSE, more);
    U::PARTS.map(|step| <U as Tested>::active(&record(&lines[step])))
}

/// The draw of the conditions is fixed too: lane, k and seed give these bits. The condition by hand from
/// the definition: z of seed 2, lane l, k 0, lowest nibble below 8.
fn conditions_are_drawn_as_defined<U: Tested>() {
    let draw = |lane: u64| {
        let mut z = 2u64
            .wrapping_add(lane.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .wrapping_add(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) & 15 < 8
    };
    let drawn = (0..4).map(|lane| u64::from(draw(lane)) << lane).sum();
    assert!(![0, 15].contains(&drawn), "seed 2 divides the lanes");
    assert_eq!(
        parts::<U>(&["--seed", "2"]),
        [drawn, 15 & !drawn, 15],
        "by their condition"
    );
}

/// A table of conditions reproduces the worked trace: c is true in lanes 0 and 3.
fn conditions_come_from_a_table<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.jsonl");
    fs::write(
        &file,
        "{\"lane\":0,\"k\":0,\"bits\":1}\n{\"lane\":3,\"k\":0,\"bits\":1}\n",
    )
    .unwrap();
    assert_eq!(
        parts::<U>(&["--conditions", arg(&file)]),
        [0b1001, 0b0110, 0b1111]
    );
}

/// The program that is not built without a parameter, and by which draws its targets: changed bits leave the word alone.
const SWITCH: [&str; 5] = [
    "spa5",
    "tb/spa5/programs/cubin/k08_switch_cmp.12.9.O3.cubin",
    "--param",
    "BRX=1",
    "--lanes",
];

/// With `--p16` a table replaces the draws that it has, and no others.
fn conditions_are_drawn_but_for_those_that_are_changed<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.jsonl");
    let drawn = parts::<U>(&["--seed", "2", "--p16", "8"]);
    for lane in 0..4 {
        let other = 1 - (drawn[0] >> lane & 1);
        fs::write(
            &file,
            format!("{{\"lane\":{lane},\"k\":0,\"bits\":{other}}}\n"),
        )
        .unwrap();
        let changed = parts::<U>(&["--seed", "2", "--p16", "8", "--conditions", arg(&file)]);
        assert_eq!(changed[0] ^ drawn[0], 1 << lane, "lane {lane} alone");
        assert_eq!(changed, [changed[0], 15 & !changed[0], 15]);
    }
    // The scalar judge agrees with all of them: `trace` expects status 0.
    if U::NAME == SWITCH[0] {
        let run = [&["run"], &SWITCH[..], &["4", "--seed", "5"]].concat();
        let draw = bits(draw_word(5, 2, 1), 16, 8);
        fs::write(&file, format!("{{\"lane\":2,\"k\":1,\"bits\":{draw}}}\n")).unwrap();
        let same = ["--p16", "8", "--conditions", arg(&file)];
        assert_eq!(trace(&[&run[..], &same].concat()), trace(&run));
    }
}

/// Text to words to text: every own program comes back with the same words, through files and pipes.
fn asm_and_dis_are_each_other_s_inverse<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    for path in own_programs::<U>() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let hex = dir.path().join(format!("{name}.hex"));
        assert_eq!(stdout(&["asm", U::NAME, arg(&path), "-o", arg(&hex)]), "");
        let again = dir.path().join(format!("{name}.s"));
        fs::write(&again, stdout(&["dis", U::NAME, arg(&hex)])).unwrap();
        assert_eq!(
            stdout(&["asm", U::NAME, arg(&again)]),
            fs::read_to_string(hex).unwrap(),
            "{name}"
        );
    }
}

/// A mapping of Surfer is one by its documentation, and has the values of GTKWave's filter: `Name` and `Bits`, then lines of a
/// value, a kind in brackets if there is one, a space, and the name up to the line's end or `#`.
fn same_names(mapping: &str, filter: &str, name: &str) {
    let mut lines = mapping.lines();
    assert_eq!(lines.next(), Some(&*format!("Name = {name}")));
    let bits = lines.next().unwrap().strip_prefix("Bits = ").unwrap();
    let bits: usize = bits.parse().unwrap();
    let mut named = 0;
    for (line, expected) in lines.zip(filter.lines()) {
        let (value, what) = line.split_once(' ').unwrap();
        let value = value.strip_prefix("0b").unwrap();
        let (value, kind) = match value.split_once('[') {
            Some((value, kind)) => (value, kind.strip_suffix(']')),
            None => (value, None),
        };
        assert_eq!(value.len(), bits, "{name}: {line}");
        assert!(matches!(kind, None | Some("error")), "{name}: {line}");
        let wrong = name.ends_with("_err") && value.contains('1');
        assert_eq!(kind.is_some(), wrong, "{name}: {line}");
        assert!(!what.contains('#'), "{name}: a comment: {line}");
        assert_eq!(format!("{value} {what}"), expected);
        named += 1;
    }
    assert_eq!(named, filter.lines().count(), "{name}");
    assert!(named > 1);
}

/// The views in `waves/` are what `view` writes today.
fn committed_views_are_up_to_date<U: Tested>() {
    let unit = U::NAME;
    let dir = tempfile::tempdir().unwrap();
    let output = reconverge_in(dir.path(), &["view", unit]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        text(&output.stdout),
        format!("gtkwave waves/{unit}/{unit}.vcd waves/{unit}/{unit}.gtkw\n")
    );
    let waves = format!("waves/{unit}");
    let mut files = vec![format!("{waves}/{unit}.gtkw")];
    for entry in fs::read_dir(dir.path().join(format!("{waves}/filters"))).unwrap() {
        let name = entry.unwrap().file_name();
        let name = name.to_str().unwrap();
        let filter = format!("{waves}/filters/{name}");
        let mapping = format!("{waves}/.surfer/mappings/{name}");
        let [values, mapped] =
            [&filter, &mapping].map(|file| fs::read_to_string(dir.path().join(file)).unwrap());
        same_names(&mapped, &values, name.strip_suffix(".txt").unwrap());
        files.extend([filter, mapping]);
    }
    let mappings = fs::read_dir(dir.path().join(format!("{waves}/.surfer/mappings"))).unwrap();
    assert_eq!(2 * mappings.count() + 1, files.len());
    assert!(files.len() > 2);
    for file in files {
        let fresh = fs::read_to_string(dir.path().join(&file)).unwrap();
        let committed = fs::read_to_string(Path::new(ROOT).join(&file)).unwrap_or_default();
        assert!(
            fresh == committed,
            "{file} is out of date: run `reconverge view {unit}` and commit it"
        );
    }
}

/// The test is red until a unit is complete in every folder.
#[test]
fn every_unit_has_all_its_parts() {
    assert!(!UNITS.is_empty());
    for unit in UNITS {
        let mut missing = Vec::new();
        for part in [
            "rtl/U/U_pkg.sv",
            "rtl/U/U_seq.sv",
            "rtl/U/U.f",
            "rtl/U/U.core",
            "rtl/U/README.md",
            "rtl/U/design.toml",
            "rtl/U/U_sva.sv",
            "rtl/U/U_formal.sv",
            "rtl/U/U_step.sv",
            "rtl/U/U_properties.sv",
            "rtl/U/U_proofs.json",
            "docs/spec/U.md",
            "tb/U/spec.rs",
            "tb/U/text.rs",
            "tb/U/tested.rs",
            "tb/U/faults/assertions.txt",
            "tb/U/faults/contract.txt",
            "tb/U/faults/decisions.txt",
            "tb/U/faults/variants.txt",
            "tb/U/programs",
            "waves/U/U.gtkw",
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
            "src/U/start.rs",
            "src/U/cover.rs",
            "src/U/instructions.rs",
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

// ---- r500 -------------------------------------------------------------------------------------------

use reconverge::r500::R500;

/// Words, jumps and the end, in the trace of a run by hand.
#[test]
fn r500_writes_words_jumps_and_the_end_into_the_trace() {
    let lines = trace_of::<R500>("if_else.s", &["--seed", "2"]);
    let second = record(&lines[1]);
    assert_eq!(second["inst"], 0x0A00_0F00);
    assert!(second["jump"] == 0 || second["jump"] == 1);
    let last = record(lines.last().unwrap());
    assert_eq!(
        (&last["pc"], &last["done"], &last["pc_next"]),
        (&6.into(), &1.into(), &7.into())
    );
}

#[test]
fn r500_step_that_fails_writes_the_state_before_it_and_the_code() {
    let lines = trace_of::<R500>("return_empty.s", &[]);
    assert_eq!(lines.len(), 1);
    let step = record(&lines[0]);
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
    let lines = trace(&["run", "r500", arg(&file), "--lanes", "4"]);
    let last = record(lines.last().unwrap());
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
fn r500_stacks_stand_in_the_trace_bottom_first() {
    let lines = trace_of::<R500>("rep_in_loop.s", &[]);
    let second = record(&lines[1]);
    assert_eq!(second["loops"], serde_json::json!([[1, 1, 7], [3, 2, 7]]));
    let lines = trace_of::<R500>("call_return.s", &["--p16", "16"]);
    let second = record(&lines[1]);
    assert_eq!(
        (&second["addrs"], &second["pc_next"]),
        (&serde_json::json!([0x22]), &0x24.into())
    );
}

// ---- r700 -------------------------------------------------------------------------------------------

use reconverge::r700::R700;

/// The worked trace of r500-7.7 by a table of conditions: the step at which not all three kinds of frame are there yet, and the
/// words of the record, by hand.
#[test]
fn r700_frames_stand_in_the_trace_bottom_first() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.jsonl");
    // c1 is true in lanes 1 and 2, c2 in lane 1.
    let rows = [(1, 0), (2, 0), (1, 2)]
        .map(|(lane, k)| format!("{{\"lane\":{lane},\"k\":{k},\"bits\":1}}\n"));
    fs::write(&file, rows.concat()).unwrap();
    let lines = trace_of::<R700>("call_return.s", &["--conditions", arg(&file)]);
    assert_eq!(
        lines[4],
        r#"{"step":4,"pc":7,"dw0":15,"dw1":2751463424,"u":1,"exec":"0x6","jump":0,"st":[1,0,1,1],"valid":"0xf","frames":[[1,"0xf"],[3,3,0,0,0],[1,"0x6"]],"sp":3,"base":2,"bkind":2,"nb":2,"lt":0,"lc":0,"al":0,"inc":0,"depth":1,"skipped":0,"pc_next":8,"err":0,"done":0,"halted":0,"text":"ALU_PUSH_BEFORE 0, @15 u ; IF"}"#
    );

    // r700-7.6: three passes, aL 10, 8, 6.
    let lines = trace_of::<R700>("loop_al.s", &[]);
    let entered = record(&lines[0]);
    assert_eq!(
        entered["frames"],
        serde_json::json!([[2, [0, 0, 0, 0], 0, 0, 0, 0, 0, 0]])
    );
    let ends: Vec<Value> = lines
        .iter()
        .map(|line| record(line))
        .filter(|r| r["pc"] == 5)
        .map(|r| serde_json::json!([r["lt"], r["lc"], r["al"], r["inc"], r["jump"], r["pc_next"]]))
        .collect();
    assert_eq!(
        ends,
        [
            serde_json::json!([1, 2, 8, -2, 1, 1]),
            serde_json::json!([1, 1, 6, -2, 1, 1]),
            serde_json::json!([0, 0, 0, 0, 0, 6])
        ]
    );
}

#[test]
fn r700_step_that_fails_writes_the_state_before_it_and_the_code() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fails.s");
    // The second POP finds no frame, although it has a target.
    fs::write(
        &file,
        "ALU_PUSH_BEFORE 0, @9, u\nPOP @2 POP:1\nPOP @3 POP:1\nEND\n",
    )
    .unwrap();
    let lines = trace(&["run", "r700", arg(&file), "--lanes", "4"]);
    assert_eq!(lines.len(), 3);
    let (before, failed) = (record(&lines[1]), record(&lines[2]));
    for (name, value) in [("err", 6), ("halted", 1), ("done", 0), ("jump", 0)] {
        assert_eq!(failed[name], value, "{name}");
    }
    assert_eq!(failed["exec"], "0x0");
    assert_eq!((&failed["pc"], &failed["pc_next"]), (&2.into(), &2.into()));
    for name in ["st", "valid", "frames", "sp", "nb"] {
        assert_eq!(failed[name], before[name], "{name}");
    }

    // A launch outside of the program executes nothing.
    fs::write(&file, ".entry 1\n.prog_len 1\nEND\n").unwrap();
    let run = ["run", "r700", arg(&file), "--lanes", "4"];
    assert!(stdout(&run).contains("error 9 PC_RANGE"));
    assert_eq!(trace(&run), Vec::<String>::new());
}
