//! Crates outside the repository: the example, and what `new` writes.

use xshell::cmd;

use crate::installed::{layers, packaged};
use crate::{Done, Workspace, ended, ensure, run};

/// Checks a unit from outside: the example, copied out of the repository, with the crates as packaged; and the output of `new` for
/// modules of our RTL: it compiles, and its test fails only because the golden model is missing. The check `readme` follows the guide.
pub fn own_unit(place: &Workspace) -> Done {
    let sh = &place.sh;
    let away = place.at("away");
    packaged(place, &away)?;
    let (own, target) = (away.join("own_unit"), place.target.join("own_unit"));
    run(cmd!(
        sh,
        "bash -c 'tar -c --exclude=target -C examples own_unit | tar -x -C \"$0\"' {away}"
    ))?;
    let manifest = own.join("Cargo.toml");
    let mut text = sh.read_file(&manifest)?;
    for (path, name) in [
        ("../..", "reconverge"),
        ("../../crates/command", "reconverge-command"),
        ("../../crates/declaration", "reconverge-declaration"),
    ] {
        text = text.replace(&format!("\"{path}\""), &format!("\"../{name}\""));
    }
    text += "\n[patch.crates-io]\n";
    for (name, path) in layers(place, &away)? {
        if name != "reconverge-command" {
            text += &format!("{name} = {{ path = \"{}\" }}\n", path.display());
        }
    }
    sh.write_file(&manifest, text)?;
    {
        let _in_own = sh.push_dir(&own);
        run(cmd!(sh, "cargo fmt --check"))?;
        run(cmd!(
            sh,
            "cargo clippy --all-targets --target-dir {target} -- -D warnings"
        ))?;
        run(cmd!(sh, "cargo test --target-dir {target}"))?;
    }
    let reconverge = place.reconverge()?;
    for top in ["spa5_stack", "r500_loop_stack", "r700_vote"] {
        let made = away.join(format!("my_{top}"));
        let unit = top.split('_').next().unwrap_or_default();
        let list = format!("rtl/{unit}/{unit}.f");
        run(cmd!(sh, "{reconverge} new {made} --rtl {list} --top {top}"))?;
        let _in_made = sh.push_dir(&made);
        run(cmd!(sh, "cargo fmt --check"))?;
        // It fails in the first cycle: to optimise it is most of what there is to compile.
        let quick = format!("profile.dev.package.my_{top}.opt-level=0");
        let tests = ended(cmd!(
            sh,
            "cargo test --target-dir {target} --config {quick}"
        ))?;
        let said = String::from_utf8_lossy(&tests.stdout) + String::from_utf8_lossy(&tests.stderr);
        ensure(
            !tests.status.success(),
            format!("{top}: an empty golden model agrees"),
        )?;
        // The command is compiled once, not again for tests that it does not have.
        let right = said.contains("not implemented: the golden model")
            && !said.contains("unittests src/main.rs")
            && !said.lines().any(|line| line.starts_with("warning"));
        ensure(
            right,
            format!("{top}: it fails for another reason:\n{said}"),
        )?;
    }
    Ok(())
}
