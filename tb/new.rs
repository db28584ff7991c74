//! `new`: a crate for other RTL. What it writes is declared as the module has it, and bad input leaves nothing behind.
//! Whether such a crate compiles and runs is a step of CI.

use std::fs;
use std::path::Path;

use declaration::{Declaration, Level, Role, Shape};

use crate::common::{ROOT, arg, reconverge, text};

/// Runs `new` for module `top` of our own RTL in `files`.
fn made(dir: &Path, files: &[&str], top: &str) -> Declaration {
    let files: Vec<String> = files
        .iter()
        .map(|file| format!("{ROOT}/rtl/{file}"))
        .collect();
    let mut args = vec!["new", arg(dir), "--top", top];
    for file in &files {
        args.extend(["--rtl", file]);
    }
    let output = reconverge(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for file in [
        "Cargo.toml",
        "build.rs",
        ".gitignore",
        "src/lib.rs",
        "tests/lockstep.rs",
    ] {
        assert!(dir.join(file).is_file(), "{file}");
    }
    let path = dir.join("rtl/design.toml");
    Declaration::parse(arg(&path), &fs::read_to_string(&path).unwrap()).unwrap()
}

#[test]
fn ports_widths_lanes_clock_and_reset_are_those_of_the_module() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("token_stack");
    let made = made(
        &at,
        &["spa5/spa5_pkg.sv", "spa5/spa5_stack.sv"],
        "spa5_stack",
    );
    assert_eq!(
        (made.name.as_str(), made.top.as_str()),
        ("token_stack", "spa5_stack")
    );
    assert_eq!(
        (made.clock.as_str(), made.lanes.as_ref().unwrap().default),
        ("clk_i", 32)
    );
    let parameters: Vec<_> = made
        .parameters
        .iter()
        .map(|p| (p.name.as_str(), p.default))
        .collect();
    assert_eq!(parameters, [("DEPTH", 64)]);
    assert_eq!(
        made.reset().map(|(pin, level)| (pin.name.as_str(), level)),
        Some(("rst_n", Level::Low))
    );
    let shape = |width| Shape::Words {
        width,
        count: Some(1),
    };
    let mut pins: Vec<_> = made
        .pins
        .iter()
        .map(|p| (p.name.as_str(), p.shape))
        .collect();
    pins.sort_by_key(|(name, _)| *name);
    assert_eq!(
        pins,
        [
            ("addr", shape(32)),
            ("launch", shape(1)),
            ("mask", Shape::Planes(1)),
            ("pop", shape(1)),
            ("push", shape(1)),
            ("rst_n", shape(1)),
            ("token", shape(3)),
        ]
    );
    let mut fields: Vec<_> = made
        .state
        .iter()
        .map(|s| (s.name.as_str(), s.shape))
        .collect();
    fields.sort_by_key(|(name, _)| *name);
    assert_eq!(
        fields,
        [
            ("empty", shape(1)),
            ("full", shape(1)),
            ("top_addr", shape(32)),
            ("top_mask", Shape::Planes(1)),
            ("top_token", shape(3)),
            ("vis", shape(4)),
        ]
    );
}

#[test]
fn logic_without_a_clock_is_sampled_and_a_file_list_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let made = made(&dir.path().join("vote"), &["r700/r700.f"], "r700_vote");
    assert!(made.clock.is_empty() && made.reset().is_none());
    assert!(made.pins.iter().all(|pin| pin.role == Role::Plain));
    assert!(made.state.iter().all(|field| field.sampled));
    assert_eq!((made.pins.len(), made.state.len()), (12, 4));
}

#[test]
fn bad_input_is_refused_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let good = file(
        "good.sv",
        "module good(input logic a, output logic b); assign b = a; endmodule\n",
    );
    let array = file(
        "array.sv",
        "module array(input logic a [4], output logic b); assign b = a[0]; endmodule\n",
    );
    let inout = file(
        "inout.sv",
        "module io(inout wire a, output logic b); assign b = a; endmodule\n",
    );
    let wrong = file("wrong.sv", "module wrong(input logic a; endmodule\n");
    let there = dir.path().join("there");
    fs::create_dir(&there).unwrap();
    let new = dir.path().join("fresh");
    let bad_name = dir.path().join("1st");
    let lost = dir.path().join("lost.sv");
    let (new, there, bad_name, lost) = (arg(&new), arg(&there), arg(&bad_name), arg(&lost));
    for (at, rtl, top, message) in [
        (there, good.as_str(), "good", "folder: is there already"),
        (
            bad_name,
            &good,
            "good",
            "folder: \"1st\" is no name of a crate: a to z, 0 to 9, _",
        ),
        (new, lost, "good", "file: No such file or directory"),
        (new, &good, "bad", "--rtl: Verilator 5"),
        (
            new,
            &array,
            "array",
            "--rtl: array: port a is an unpacked array",
        ),
        (new, &inout, "io", "--rtl: io: port a is an inout"),
        (new, &wrong, "wrong", "--rtl: Verilator 5"),
    ] {
        let output = reconverge(&["new", at, "--rtl", rtl, "--top", top]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.lines().next().unwrap_or_default().contains(message),
            "{message}: {said}"
        );
    }
    let mut left: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(
        left,
        ["array.sv", "good.sv", "inout.sv", "there", "wrong.sv"]
    );
}
