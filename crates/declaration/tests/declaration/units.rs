//! The declarations of the project's units: the layout that both sides have, and bench tops that Verilator takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use reconverge_declaration::Declaration;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const UNITS: [(&str, u32); 3] = [("r500", 16), ("r700", 64), ("spa5", 32)];

fn declared(unit: &str) -> Declaration {
    let path = Path::new(ROOT).join(format!("rtl/{unit}/design.toml"));
    let text = fs::read_to_string(&path).expect("readable");
    Declaration::parse(&path.to_string_lossy(), &text).unwrap_or_else(|e| panic!("{e}"))
}

/// The Verilator that the build takes: `$VERILATOR`, the project's own, or the one in `PATH`.
fn verilator() -> Command {
    let own = Path::new(ROOT).join(".tools/bin/verilator");
    match std::env::var_os("VERILATOR").filter(|v| !v.is_empty()) {
        Some(given) => Command::new(given),
        None if own.exists() => Command::new(own),
        None => Command::new("verilator"),
    }
}

/// Returns what Verilator prints about the bench top of `unit` around its RTL.
fn lint(unit: &str, lanes: u32, top: &str) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join(format!("{unit}_tb.sv"));
    fs::write(&file, top).expect("written");
    let rtl = PathBuf::from(ROOT).join("rtl").join(unit);
    let list = fs::read_to_string(rtl.join(format!("{unit}.f"))).expect("readable");
    let files = list.lines().filter(|line| line.ends_with(".sv"));
    let output = verilator()
        .args(["--lint-only", "-Wall", "-Wno-UNUSED", "-Wno-DECLFILENAME"])
        .args(["--top-module", &format!("{unit}_tb")])
        .arg(format!("-GLANES={lanes}"))
        .arg(Path::new(ROOT).join("crates/verilate/shim/lint.vlt"))
        .args(files)
        .arg(&file)
        .current_dir(&rtl)
        .output()
        .expect("Verilator runs; ./setup installs it");
    assert!(output.status.code().is_some());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn bench_tops_are_clean_in_verilator() {
    for (unit, lanes) in UNITS {
        let declaration = declared(unit);
        let top = declaration.bench_top(&declaration.probes);
        assert_eq!(lint(unit, lanes, &top), "", "{unit}");
        // A probe whose width is not that of its field is reported.
        let wide = top.replacen(
            "assign probe_",
            "assign probe_planted = 65'd0;\n  assign probe_",
            1,
        );
        let wide = wide.replacen(
            "  logic [LANES-1:0] probe_",
            "  logic probe_planted;\n  logic [LANES-1:0] probe_",
            1,
        );
        assert!(lint(unit, lanes, &wide).contains("WIDTH"), "{unit}");
    }
}

/// Offsets in the structs of the units; each pair is compared as raw bytes by the bench. r500's constants, three bytes each,
/// begin at whole words, as spa5's registers do.
#[test]
fn fields_lie_in_their_order_without_gaps_that_need_not_be() {
    let r500 = declared("r500");
    let offsets =
        |list: Vec<(&str, usize, usize)>| list.iter().map(|(_, at, _)| *at).collect::<Vec<_>>();
    assert_eq!(
        offsets(r500.layout_of_pins()),
        [
            0, 8, 40, 48, 52, 56, 60, 64, 68, 72, 76, 80, 81, 82, 83, 84, 85
        ]
    );
    assert_eq!(
        offsets(r500.layout_of_state()),
        [
            0, 16, 56, 72, 80, 96, 104, 106, 107, 108, 109, 110, 111, 112, 113, 120, 216
        ]
    );
    let r700 = declared("r700");
    assert_eq!(
        offsets(r700.layout_of_pins()),
        [0, 8, 16, 20, 24, 28, 32, 36, 37, 38, 39, 40, 41, 42, 43]
    );
    let spa5 = declared("spa5");
    assert_eq!(
        offsets(spa5.layout_of_pins()),
        [
            0, 56, 88, 96, 104, 108, 112, 116, 120, 121, 122, 123, 128, 384
        ]
    );
    assert_eq!(
        offsets(spa5.layout_of_state()),
        [0, 8, 16, 24, 32, 40, 48, 56, 60, 64, 66, 67, 68, 69, 70]
    );
    for unit in [r500, r700, spa5] {
        for list in [unit.layout_of_pins(), unit.layout_of_state()] {
            for two in list.windows(2) {
                let ((first, at, size), (next, after, _)) = (two[0], two[1]);
                assert!(
                    at + size <= after && after < at + size + 8,
                    "{first}, {next}"
                );
            }
        }
    }
}
