//! Errors of memory, in Rust, in the shim and in what Verilator makes, and inputs at random.

use std::path::{Path, PathBuf};
use std::thread;

use xshell::{Cmd, Shell, cmd};

use crate::tests::OPTIMISED;
use crate::{Done, UNITS, Workspace, ended, ensure, fails, run, say};

/// What the tests without RTL are in.
const PACKAGES: [&str; 10] = [
    "-p",
    "reconverge",
    "-p",
    "reconverge-bench",
    "-p",
    "reconverge-program",
    "-p",
    "reconverge-campaign",
    "-p",
    "reconverge-mutate",
];

/// Runs the tests that need no RTL, with overflow checks and debug assertions, under a memory checker: Miri if the toolchain has it,
/// otherwise AddressSanitizer, which first has to catch a read past the end.
pub fn pure(place: &Workspace) -> Done {
    let sh = &place.sh;
    let units = ["--no-default-features", "--features", "units", "--lib"];
    if cmd!(sh, "cargo miri --version")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_ok()
    {
        say("Miri, the tests of data and parsers");
        let folder = place.target.join("miri");
        let of_data = ["text::", "field::", "input::", "elf::", "isa::", "state::"];
        let miri = cmd!(
            sh,
            "cargo miri test --locked --target-dir {folder} {units...} {PACKAGES...} -- {of_data...}"
        );
        return run(miri.env("MIRIFLAGS", "-Zmiri-disable-isolation"));
    }
    say("no Miri in this toolchain; AddressSanitizer, every test");
    // With this variable the stable compiler has it too.
    let _bootstrap = sh.push_env("RUSTC_BOOTSTRAP", "1");
    let (source, past, host) = (place.at("past.rs"), place.at("past"), place.host()?);
    let text = "fn main() { let v = vec![0u8; std::env::args().count()]; std::process::exit(unsafe { *v.as_ptr().add(v.len()) }.into()) }";
    sh.write_file(&source, text)?;
    run(cmd!(
        sh,
        "rustc -Zsanitizer=address --target {host} -o {past} {source}"
    ))?;
    let seen = ended(cmd!(sh, "{past}").quiet())?;
    let seen = !seen.status.success()
        && String::from_utf8_lossy(&seen.stderr).contains("heap-buffer-overflow");
    ensure(seen, "AddressSanitizer does not see a read past the end")?;
    let folder = place.target.join("asan");
    let tests = cmd!(
        sh,
        "cargo test --locked {OPTIMISED...} --target {host} --target-dir {folder} {units...} --test pure {PACKAGES...}"
    );
    run(tests.env(
        "RUSTFLAGS",
        "-Zsanitizer=address -Coverflow-checks=on -Cdebug-assertions=on",
    ))
}

/// C++ that r500 calls in each cycle. `PLANTED` says what it does wrong.
const PAST: &str = r#"#include <climits>
#include <cstdlib>
extern "C" int past(int n) {
  // Volatile: how many there are is not for the compiler to see.
  int *volatile cells = new int[4]();
  const char how = *std::getenv("PLANTED");
  const int sum = how == 's' ? 77 : how == 'm' ? cells[4 + n] : INT_MAX + cells[0] + n + 1;
  delete[] cells;
  return sum;
}
"#;

/// Makes of r500 in `folder` RTL that calls [`PAST`] in each cycle, and stops the simulation when that returns 77.
fn plant(place: &Workspace, folder: &Path) -> Done {
    let sh = &place.sh;
    let own = place.root.join("rtl/r500");
    run(cmd!(sh, "cp -r {own} {folder}"))?;
    sh.write_file(folder.join("past.cpp"), PAST)?;
    let list = folder.join("r500.f");
    sh.write_file(&list, format!("past.cpp\n{}", sh.read_file(&list)?))?;
    let source = folder.join("r500_seq.sv");
    let text = sh.read_file(&source)?;
    let planted = text
        .replacen(
            "\nmodule r500_seq",
            "\nimport \"DPI-C\" function int past(int n);\nmodule r500_seq",
            1,
        )
        .replacen(
            "\nendmodule",
            "\n  always_ff @(posedge clk_i) if (past(int'(pc_o)) == 77) $finish;\nendmodule",
            1,
        );
    ensure(
        planted.matches("past(int").count() == 2,
        "r500_seq.sv is written otherwise",
    )?;
    Ok(sh.write_file(source, planted)?)
}

/// Runs a model of each unit, bench top, shim and runtime under AddressSanitizer and UndefinedBehaviorSanitizer: campaigns, dumps, a
/// mismatch, RTL that stops. First both have to catch errors planted in RTL.
pub fn sanitize(place: &Workspace) -> Done {
    let sh = &place.sh;
    let reconverge = &place.reconverge()?;
    let compiler = sh.var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let library = |name: &str| {
        cmd!(sh, "{compiler} -print-file-name={name}")
            .quiet()
            .read()
    };
    let preload = format!("{} {}", library("libasan.so")?, library("libubsan.so")?);
    let flags = "-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=alignment -fno-sanitize-recover=all";
    let (models, out) = (place.at("models"), place.at("out"));
    // A separate cache: these models are for this check alone. Leaks do not matter; --memory 0, because the shadow memory does not
    // belong to the RTL. No alignment check: Verilator's runtime stores words of a dump at odd addresses.
    let sanitized = |args: &[&str], planted: &str| -> Cmd<'_> {
        let command = cmd!(
            sh,
            "env RECONVERGE_CACHE={models} {reconverge} {args...} --memory 0 --out {out}"
        );
        let command = command
            .env("LD_PRELOAD", &preload)
            .env("ASAN_OPTIONS", "detect_leaks=0");
        command.env("CXXFLAGS", flags).env("PLANTED", planted)
    };

    let planted = place.at("planted");
    plant(place, &planted)?;
    let dir = planted
        .to_str()
        .ok_or("a folder for temporary files whose name is UTF-8")?;
    let program = "tb/r500/programs/if_else.s";
    for (what, wanted) in [
        ("memory", "heap-buffer-overflow"),
        ("number", "signed integer overflow"),
    ] {
        // What a sanitizer ends is a failure of its case.
        fails(
            sanitized(&["run", "r500", program, "--rtl", dir], what),
            &[wanted, "CRASHED r500.if_else"],
        )?;
    }
    let stops = [
        "fuzz",
        "r500",
        "--rtl",
        dir,
        "--programs",
        "64",
        "--keep-going",
        "--no-shrink",
    ];
    fails(
        sanitized(&stops, "stop"),
        &["\nSTOPPED", "r500.fuzz.1  64 programs, 64 FAILED"],
    )?;
    say("both see what is planted, and nothing in RTL that stops");

    for unit in UNITS {
        let (rtl, program) = (
            format!("rtl/{unit}"),
            format!("tb/{unit}/programs/if_else.s"),
        );
        run(sanitized(
            &[
                "fuzz",
                unit,
                "--rtl",
                &rtl,
                "--cycles",
                "300000",
                "--jobs",
                "2",
                "--no-shrink",
            ],
            "",
        ))?;
        run(sanitized(
            &["run", unit, &program, "--rtl", &rtl, "--wave"],
            "",
        ))?;
        fails(
            sanitized(
                &["run", unit, &program, "--rtl", &rtl, "--flip", "pc@5"],
                "",
            ),
            &["MISMATCH"],
        )?;
    }
    Ok(())
}

/// Runs every target of fuzz/ for a minute, two at a time, starting from the repository's files and from files that the command has
/// written. A crash, a failed check, 20 seconds for one input or 2 GB of memory is a failure; the input is in fuzz/artifacts.
pub fn fuzzers(place: &Workspace) -> Done {
    let sh = &place.sh;
    let reconverge = place.reconverge()?;
    let (results, cases) = (place.at("results"), place.at("case"));
    for unit in UNITS {
        let program = format!("tb/{unit}/programs/if_else.s");
        run(cmd!(
            sh,
            "{reconverge} fuzz {unit} --programs 4 --jobs 1 --results {results}"
        )
        .ignore_stdout())?;
        fails(
            cmd!(
                sh,
                "{reconverge} run {unit} {program} --flip pc@5 --out {cases}"
            ),
            &["MISMATCH"],
        )?;
    }
    for path in sh.read_dir(&cases)? {
        if path.extension().is_none_or(|e| e != "json") {
            sh.remove_path(path)?;
        }
    }
    let tools = place.target.join("tools");
    if cmd!(sh, "cargo fuzz --version")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_err()
    {
        run(cmd!(
            sh,
            "cargo install --quiet --locked --root {tools} cargo-fuzz@0.13.1"
        ))?;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    sh.set_var("PATH", format!("{}:{path}", tools.join("bin").display()));
    // The compiler counts the coverage of the fuzzed code; the stable compiler does so with this variable.
    sh.set_var("RUSTC_BOOTSTRAP", "1");
    run(cmd!(
        sh,
        "cargo fuzz build --sanitizer none --features command"
    ))?;
    let names = cmd!(sh, "cargo fuzz list").read()?;
    let names: Vec<&str> = names.lines().collect();
    // A shell belongs to one thread.
    let half = |sh: Shell, work: &Path, first: usize| -> Result<(), String> {
        let mut mine = names.iter().skip(first).step_by(2);
        mine.try_for_each(|name| fuzzer(&sh, work, name).map_err(|e| format!("{name}: {e}")))
    };
    let (here, there, work) = (sh.clone(), sh.clone(), place.work.path());
    thread::scope(|scope| {
        let other = scope.spawn(|| half(there, work, 1));
        let first = half(here, work, 0);
        let other = other.join();
        first.and(other.unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    })?;
    Ok(())
}

/// Runs fuzz target `name`, with what it is to begin with in `work`.
fn fuzzer(sh: &Shell, work: &Path, name: &str) -> Done {
    let unit = name.split('_').next().unwrap_or_default();
    let seeds = match name {
        "mutants" => UNITS.map(|unit| format!("rtl/{unit}").into()).to_vec(),
        "case" | "results" => vec![work.join(name)],
        _ if UNITS.contains(&unit) => vec![PathBuf::from(format!("tb/{unit}/programs"))],
        _ => Vec::new(),
    };
    let corpus = work.join("corpus").join(name);
    sh.create_dir(&corpus)?;
    let limits = [
        "-max_total_time=60",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-verbosity=0",
        "-print_final_stats=1",
    ];
    let out = ended(cmd!(
        sh,
        "cargo fuzz run --sanitizer none --features command {name} {corpus} {seeds...} -- {limits...}"
    ))?;
    let said = String::from_utf8_lossy(&out.stderr);
    ensure(
        out.status.success(),
        said.lines()
            .rev()
            .take(60)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join("\n"),
    )?;
    let inputs = said
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    say(&format!(
        "fuzz: {name}: {} inputs",
        inputs.unwrap_or("0").trim()
    ));
    Ok(())
}
