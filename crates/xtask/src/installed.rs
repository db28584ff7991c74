//! The command without its sources.

use std::path::{Path, PathBuf};

use xshell::cmd;

use crate::{Done, UNITS, Workspace, ensure, fails, run};

/// Packs the crates as the registry gets them, and unpacks them in `folder`, each in a folder of its name without the version.
pub fn packaged(place: &Workspace, folder: &Path) -> Done {
    let sh = &place.sh;
    let packages = place.at("packages");
    let without = ["reconverge-benches", "needs", "xtask"]
        .iter()
        .flat_map(|name| ["--exclude", name]);
    let package = cmd!(
        sh,
        "cargo package --locked --workspace {without...} --no-verify --allow-dirty --target-dir {packages}"
    );
    let said = package.quiet().ignore_stdout().read_stderr()?;
    ensure(!said.contains("warning:"), &said)?;
    sh.create_dir(folder)?;
    for file in sh
        .read_dir(packages.join("package"))?
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "crate"))
    {
        run(cmd!(sh, "tar -xzf {file} -C {folder}").quiet())?;
        let whole = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let name = whole.rsplit_once('-').map_or(&*whole, |(name, _)| name);
        std::fs::rename(folder.join(&whole), folder.join(name))?;
    }
    Ok(())
}

/// Returns name and folder of those packaged crates in `folder` that another package needs of this repository.
pub fn layers(
    place: &Workspace,
    folder: &Path,
) -> Result<Vec<(String, PathBuf)>, Box<dyn std::error::Error>> {
    let folders = place.sh.read_dir(folder)?.into_iter();
    let named = folders.filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)));
    Ok(named
        .filter(|(name, _)| name != "reconverge-golden" && name != "own_unit")
        .collect())
}

/// Installs the command from the packaged crates and deletes their sources: in another folder it must build models with other lanes
/// and parameters, of other RTL, with counters and with mutants. Without optimisation, which takes most of the time and changes
/// nothing of that.
pub fn standalone(place: &Workspace) -> Done {
    let sh = &place.sh;
    let (sources, alone, folder) = (place.at("sources"), place.at("alone"), place.at("place"));
    packaged(place, &sources)?;
    let patches = layers(place, &sources)?
        .into_iter()
        .filter(|(name, _)| name != "reconverge-command");
    let patches = patches.flat_map(|(name, path)| {
        [
            "--config".to_owned(),
            format!("patch.crates-io.{name}.path='{}'", path.display()),
        ]
    });
    let (command, target) = (
        sources.join("reconverge-command"),
        place.target.join("own_unit"),
    );
    run(cmd!(
        sh,
        "cargo install --quiet --debug --path {command} --root {alone} --target-dir {target} {patches...}"
    ))?;
    sh.remove_path(&sources)?;
    sh.create_dir(&folder)?;
    let (rtl, mine, program) = (
        place.root.join("rtl/r500"),
        folder.join("mine"),
        place.root.join("tb/spa5/programs/if_else.s"),
    );
    run(cmd!(sh, "cp -r {rtl} {mine}"))?;
    sh.copy_file(program, &folder)?;
    let _in_folder = sh.push_dir(&folder);
    let (alone, cache) = (alone.join("bin/reconverge"), folder.join("cache"));
    let reconverge =
        |args: &str| cmd!(sh, "env RECONVERGE_CACHE={cache} {alone}").args(args.split(' '));
    for args in [
        "--version",
        "doctor",
        "run spa5 if_else.s --lanes 8",
        "fuzz r700 --programs 256 --param MAX_STACK_SIZE=20",
        "fuzz r500 --programs 256 --rtl mine",
        "cover spa5 --programs 256 --lcov spa5.info",
        "mutate r500 --family source --only 1,2,3 --cycles 20000",
        "explain spa5 spa5-4.2-a",
    ] {
        run(reconverge(args))?;
    }
    fails(
        reconverge("run spa5 if_else.s --flip pc@5 --out found"),
        &["MISMATCH"],
    )?;
    let saved = sh
        .read_dir(folder.join("found"))?
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "json"));
    let saved = saved.ok_or("a failing case is not saved")?;
    fails(reconverge("replay").arg(saved), &["MISMATCH"])?;
    // Its sources are gone, so `new` names a version.
    run(reconverge(
        "new loops --rtl mine/r500.f --top r500_loop_stack",
    ))?;
    let made = sh.read_file("loops/Cargo.toml")?;
    ensure(
        made.contains("\nreconverge = { version = "),
        format!("new names the folder of sources that are gone:\n{made}"),
    )
}

/// The largest archived command. Streams of pins of the three units, which run through the same engine as programs, take 1.4 MB of it,
/// channels and bins of any design 0.8 MB, and hidden fields, transactions and wavefronts 0.7 MB. That what reads options and declarations is
/// compiled without optimisation takes 1.0 MB, and saves a twentieth of the time of a build. The archived one has 25.9 MB.
const MAX_COMMAND_BYTES: u64 = 26_200_000;

/// Makes the archive of a release twice: both are equal, and the command and the library in it work.
pub fn release(place: &Workspace) -> Done {
    let sh = &place.sh;
    let (first, again) = (place.at("dist"), place.at("again"));
    let archive = |folder: &Path| -> Result<PathBuf, Box<dyn std::error::Error>> {
        let said = cmd!(sh, "./dist {folder}").read()?;
        Ok(said.lines().last().ok_or("./dist names no archive")?.into())
    };
    let made = archive(&first)?;
    let root = PathBuf::from(made.to_string_lossy().trim_end_matches(".tar.gz"));
    {
        let _in_first = sh.push_dir(&first);
        run(cmd!(sh, "bash -c 'sha256sum --check --quiet ./*.sha256'"))?;
        run(cmd!(sh, "tar -xzf {made}"))?;
    }
    let command = root.join("bin/reconverge");
    run(cmd!(sh, "{command} --version"))?;
    for unit in UNITS {
        let program = format!("tb/{unit}/programs/if_else.s");
        run(cmd!(sh, "{command} run {unit} {program}").ignore_stdout())?;
    }
    let files = [
        "man/man1/reconverge.1",
        "completions/reconverge.bash",
        "include/reconverge_golden.h",
        "include/r500_tb.sv",
        "LICENSE-MIT",
    ];
    for file in files {
        ensure(
            std::fs::metadata(root.join(file)).is_ok_and(|m| m.len() > 0),
            format!("the archive has no {file}"),
        )?;
    }
    let (source, abi, include, lib) = (
        place.at("abi.c"),
        place.at("abi"),
        root.join("include"),
        root.join("lib"),
    );
    sh.write_file(&source, "#include \"reconverge_golden.h\"\nint main(void) { return reconverge_abi() == RECONVERGE_ABI ? 0 : 1; }\n")?;
    let library = lib.join("libreconverge_golden.so");
    run(cmd!(
        sh,
        "gcc -std=c11 -Wall -Werror -I{include} {source} {library} -Wl,-rpath,{lib} -o {abi}"
    ))?;
    run(cmd!(sh, "{abi}"))?;
    let bytes = std::fs::metadata(&command)?.len();
    ensure(
        bytes <= MAX_COMMAND_BYTES,
        format!("the command has {bytes} bytes, more than {MAX_COMMAND_BYTES}"),
    )?;
    ensure(
        std::fs::read(&made)? == std::fs::read(archive(&again)?)?,
        "the same sources gave another archive",
    )
}
