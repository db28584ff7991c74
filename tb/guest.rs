//! The crate that `new` writes has the whole command: from the module to a found mistake, resumed campaigns, mutants and proofs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::common::{ROOT, arg, needs, reconverge_ends, text, tool, wait_until};

/// A new crate for the FIFO of `examples/own_unit`, with the golden model of that example.
struct Guest {
    /// Its folder, whose name is that of the crate. Of two crates of one name that share a build folder, cargo takes one for the other.
    dir: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Guest {
    fn new(name: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let dir = temporary.path().join(name);
        let example = Path::new(ROOT).join("examples/own_unit");
        reconverge_ends(
            0,
            &[
                "new",
                arg(&dir),
                "--rtl",
                arg(&example.join("rtl/slot/slot.sv")),
                "--top",
                "slot",
            ],
        );
        fs::copy(example.join("rtl/slot/slot.sv"), dir.join("rtl/slot.sv")).unwrap();
        fs::write(dir.join("rtl/slot.f"), "slot.sv\n").unwrap();
        fs::copy(
            example.join("rtl/slot/design.toml"),
            dir.join("rtl/design.toml"),
        )
        .unwrap();
        let golden = fs::read_to_string(example.join("src/slot.rs")).unwrap();
        let golden = golden.replace(
            "super::rtl().join(\"slot\")",
            "PathBuf::from(env!(\"CARGO_MANIFEST_DIR\")).join(\"rtl\")",
        );
        fs::write(dir.join("src/lib.rs"), golden).unwrap();
        // `new` names the type after the crate, the example after the FIFO.
        let main = dir.join("src/main.rs");
        let command = fs::read_to_string(&main).unwrap();
        fs::write(main, command.replace("Entry", "Slot")).unwrap();
        let guest = Guest {
            dir,
            _temporary: temporary,
        };
        guest.build();
        guest
    }

    /// A new crate for a sequencer that runs programs, as `new` writes it.
    fn with_programs(name: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let dir = temporary.path().join(name);
        reconverge_ends(0, &["new", arg(&dir), "--programs"]);
        let guest = Guest {
            dir,
            _temporary: temporary,
        };
        guest.build();
        guest
    }

    /// Adds a row to the table of words of a crate with programs, and compiles it.
    fn add_row(&self, row: &str) {
        let file = self.dir.join("src/program.rs");
        let table = fs::read_to_string(&file).unwrap();
        let end = "    ];\n    const OUTSIDE";
        assert_eq!(table.matches(end).count(), 1);
        let table = table.replace(end, &format!("        {row},\n{end}"));
        fs::write(file, table).unwrap();
        self.build();
    }

    /// Compiles the crate. All that such crates depend on is compiled once; the command itself is another one for each of them.
    fn build(&self) {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest");
        let built = tool::command(env!("CARGO"))
            .args(["build", "--release", "--quiet"])
            .env("CARGO_TARGET_DIR", &target)
            .current_dir(&self.dir)
            .output()
            .unwrap();
        let said = text(&built.stderr);
        assert!(built.status.success() && said.is_empty(), "{said}");
        let copied = Command::new("cp")
            .args([
                target.join("release").join(self.dir.file_name().unwrap()),
                self.command_file(),
            ])
            .status();
        assert!(copied.unwrap().success());
    }

    fn command_file(&self) -> PathBuf {
        self.dir.join("slot")
    }

    /// The command of the crate.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = tool::command(arg(&self.command_file()));
        command.env("RECONVERGE_PROGRESS", "1000000");
        command.args(args).current_dir(&self.dir);
        command
    }

    /// Standard output of the command, which must end with `status`.
    fn ends(&self, status: i32, args: &[&str]) -> String {
        let output: Output = self.command(args).output().unwrap();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{args:?}\n{out}{err}");
        out
    }

    /// Copies the RTL to the folder `name`, with `right` replaced by `wrong`.
    fn plant(&self, name: &str, right: &str, wrong: &str) {
        let planted = self.dir.join(name);
        fs::create_dir(&planted).unwrap();
        for file in ["design.toml", "slot.f", "slot.sv"] {
            let text = fs::read_to_string(self.dir.join("rtl").join(file)).unwrap();
            let text = match file {
                "slot.sv" => {
                    assert_eq!(text.matches(right).count(), 1);
                    text.replace(right, wrong)
                }
                _ => text,
            };
            fs::write(planted.join(file), text).unwrap();
        }
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.dir.join(file)).unwrap()).unwrap()
    }

    /// The files in `failures` with this ending.
    fn saved(&self, ending: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir.join("failures")).unwrap();
        let mut found: Vec<_> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|x| x == ending))
            .collect();
        found.sort();
        found
    }
}

#[test]
#[ignore = "compiles the bench for a new crate; CI's step guests runs it"]
fn a_new_crate_has_the_whole_command() {
    let guest = Guest::new("slot");

    // Its help speaks of it, and offers nothing that needs programs.
    let help = guest.ends(0, &["--help"]);
    assert!(help.starts_with("slot: a FIFO with one entry.\n"), "{help}");
    for (command, there) in [
        ("fuzz", true),
        ("prove", true),
        ("run", false),
        ("render", false),
    ] {
        assert_eq!(
            help.contains(&format!("\n  {command} ")),
            there,
            "{command}\n{help}"
        );
    }
    let help = guest.ends(0, &["fuzz", "--help"]);
    assert!(help.contains("Usage: slot fuzz [OPTIONS]\n"), "{help}");
    for part in ["--streams <STREAMS>", " slot.f, and"] {
        assert!(help.contains(part), "{help}");
    }
    // Nothing of what it does not have.
    let commands = [
        "cover", "fuzz", "merge", "mutate", "prove", "replay", "report", "view",
    ];
    for command in commands {
        let help = guest.ends(0, &["help", command]);
        let mut words = help.split(|c: char| !c.is_ascii_alphanumeric());
        let other = [
            "program",
            "programs",
            "lane",
            "lanes",
            "kernel",
            "warp",
            "wavefront",
            "r500",
        ];
        assert!(words.all(|word| !other.contains(&word)), "{help}");
        assert!(!help.contains('{'), "{help}");
    }
    let help = guest.ends(0, &["help", "cover"]);
    assert!(help.contains("[default: 2000000]"), "{help}");
    guest.ends(2, &["run", "x.s"]);
    guest.ends(2, &["fuzz", "--variants", "all"]);

    // The same totals with one worker and with two, and after an interruption.
    let files = [
        "--json", "all.json", "--junit", "all.xml", "--html", "all.html",
    ];
    let long = ["fuzz", "--cycles", "2M", "--jobs", "2"];
    guest.ends(0, &[&long[..], &files[..]].concat());
    assert!(guest.json("all.json")["complete"].as_bool().unwrap());
    assert!(
        fs::read_to_string(guest.dir.join("all.xml"))
            .unwrap()
            .contains("slot.fuzz.1")
    );
    let page = fs::read_to_string(guest.dir.join("all.html")).unwrap();
    assert!(page.contains("slot.fuzz.1"));
    let heads = "<th>build</th><th>streams</th><th>cycles</th><th>failed</th>";
    assert!(page.contains(heads), "{page}");
    let kept = [&long[..], &["--results", "results", "--json", "again.json"]].concat();
    let mut killed = guest
        .command(&kept)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let size = || {
        let entries = fs::read_dir(guest.dir.join("results"))
            .into_iter()
            .flatten();
        entries
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum::<u64>()
    };
    wait_until("results are written", || size() > 2000);
    killed.kill().unwrap();
    killed.wait().unwrap();
    guest.ends(0, &kept);
    assert_eq!(guest.json("again.json"), guest.json("all.json"));
    guest.ends(0, &["merge", "results"]);
    guest.ends(0, &["report", "results", "-o", "page.html"]);

    // A planted mistake is found, saved, shortened, and replays.
    guest.plant("planted", "!full_q || pop_i", "!full_q");
    let planted = [
        "fuzz",
        "--rtl",
        "planted",
        "--jobs",
        "2",
        "--html",
        "planted.html",
    ];
    let found = guest.ends(1, &planted);
    let page = fs::read_to_string(guest.dir.join("planted.html")).unwrap();
    assert!(page.contains("<div id=\"view\" hidden>"), "{page}");
    assert!(found.contains("MISMATCH slot."), "{found}");
    let saved = guest.saved("json");
    for ending in ["vcd", "gtkw"] {
        assert!(!guest.saved(ending).is_empty(), "{ending}");
    }
    let file = arg(&saved[0]);
    guest.ends(1, &["replay", "--rtl", "planted", file]);
    guest.ends(0, &["replay", "--rtl", "rtl", file]);

    // Regression: a case of the crate's own RTL was saved once more when its folder was named.
    let (own, planted) = ("rtl/slot.sv", "planted/slot.sv");
    let right = fs::read_to_string(guest.dir.join(own)).unwrap();
    fs::copy(guest.dir.join(planted), guest.dir.join(own)).unwrap();
    guest.ends(1, &["fuzz", "--out", "own"]);
    let cases = || {
        let found = fs::read_dir(guest.dir.join("own")).unwrap().flatten();
        let found = found.map(|entry| entry.path());
        let is_case = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
        found.filter(is_case).collect::<BTreeSet<_>>()
    };
    let before = cases();
    assert!(before.len() > 1, "{before:?}");
    for case in &before {
        let args = ["replay", "--rtl", "rtl", "--out", "own", arg(case)];
        guest.ends(1, &args);
        assert_eq!(cases(), before, "{args:?}");
    }
    fs::write(guest.dir.join(own), right).unwrap();

    // Saved cases run first.
    let first = guest.ends(1, &["fuzz", "--rtl", "planted"]);
    assert!(first.contains(" still fails\n"), "{first}");
    // Regression: such a stream hid a wrong option, and nothing said how it is made smaller.
    for wrong in [["--param", "X=4"], ["--lanes", "3"]] {
        guest.ends(2, &[&["fuzz", "--rtl", "planted"][..], &wrong].concat());
    }
    let large = saved
        .iter()
        .find(|file| !arg(file).contains("shrunk"))
        .unwrap();
    fs::create_dir(guest.dir.join("large")).unwrap();
    fs::copy(large, guest.dir.join("large/slot.json")).unwrap();
    let said = guest.ends(1, &["fuzz", "--rtl", "planted", "--out", "large"]);
    let hint = "replay large/slot.json --shrink\n";
    assert!(
        said.lines().any(|line| line.starts_with("shrink  ")) && said.ends_with(hint),
        "{said}"
    );
    let first = guest.ends(0, &["fuzz", "--streams", "256"]);
    let agree = format!("{} saved streams agree: failures\n", saved.len());
    assert!(first.starts_with(&agree), "{first}");

    // RTL that ends its process, or hangs, fails, and its case is saved.
    for (name, code, how) in [
        (
            "exits",
            "if (pop_i && valid_i) $c(\"exit(0);\");",
            "CRASHED slot.",
        ),
        (
            "hangs",
            "if (pop_i && valid_i) $c(\"for (;;) {}\");",
            "HUNG slot.",
        ),
    ] {
        let flop = "always_ff @(posedge clk_i) if (valid_i && ready_o) data_q <= data_i;";
        guest.plant(
            name,
            flop,
            &format!("{flop}\n  always_ff @(posedge clk_i) {code}"),
        );
        let out = format!("out_{name}");
        let args = ["fuzz", "--rtl", name, "--out", &out, "--timeout", "5"];
        let said = guest.ends(1, &args);
        assert!(said.contains(how), "{said}");
        assert!(fs::read_dir(guest.dir.join(&out)).unwrap().count() > 0);
    }

    // Coverage as of the units: in files, added up, of the RTL too.
    let cover = ["cover", "--cycles", "100000", "--require-all"];
    let files = [
        "--json",
        "cover.json",
        "--html",
        "cover.html",
        "--lcov",
        "cover.info",
    ];
    let covered = guest.ends(0, &[&cover[..], &files[..]].concat());
    assert!(
        covered.contains("  fields                20/20"),
        "{covered}"
    );
    let own = format!("  {:<18}{:>9}  100.0 %  full x valid x pop\n", "use", "8/8");
    assert!(covered.contains(&own), "{covered}");
    for (file, holds) in [
        ("cover.html", "data[7]"),
        ("cover.html", ">full</th>"),
        ("cover.info", "slot.sv"),
    ] {
        let text = fs::read_to_string(guest.dir.join(file)).unwrap();
        assert!(text.contains(holds), "{file}\n{text}");
    }
    let more = ["--seed", "2", "--merge", "cover.json"];
    let both = guest.ends(0, &[&cover[..], &more[..]].concat());
    assert!(both.starts_with("slot.cover.2 and 1 merged  "), "{both}");
    guest.ends(2, &[&cover[..], &more[2..]].concat());
    let short = ["cover", "--streams", "64", "--stream-cycles", "20"];
    let short = guest.ends(0, &short);
    assert!(short.contains("0 mismatches in 1,840 cycles"), "{short}");
    guest.ends(2, &[&cover[..], &["--guided"]].concat());
    assert!(guest.ends(0, &["view"]).starts_with("gtkwave "));
    assert!(
        guest
            .ends(0, &["doctor"])
            .contains(arg(&guest.dir.join("rtl")))
    );

    // Streams of another length are another campaign.
    let short = ["fuzz", "--streams", "16", "--stream-cycles", "20"];
    let short = [&short[..], &["--results", "short"]].concat();
    let said = guest.ends(0, &short);
    assert!(said.contains("0 mismatches in 460 cycles"), "{said}");
    guest.ends(2, &[&short[..4], &["21", "--results", "short"]].concat());

    // Results of another golden model are not resumed; one that allows nothing but a reset agrees, with a warning.
    let source = guest.dir.join("src/lib.rs");
    let golden = fs::read_to_string(&source).unwrap();
    let held = "\n    fn constrain(&self, pins: &mut In) {
        pins.rst = 1;
    }
";
    let at = golden.rfind("}").unwrap();
    fs::write(&source, format!("{}{held}}}\n", &golden[..at])).unwrap();
    let declaration = guest.dir.join("rtl/design.toml");
    let never = "
[[cover]]
name = \"held\"
doc = \"cycles in which the reset is asserted\"
when = \"rst == 1\"
axis = [{ of = \"rst\" }]
unreachable = [{ at = { rst = 1 }, why = \"it is wrong\" }]
";
    let toml = fs::read_to_string(&declaration).unwrap();
    fs::write(&declaration, toml + never).unwrap();
    guest.build();
    // A bin that is hit although it is declared unreachable.
    let said = guest.ends(1, &["cover", "--cycles", "1000"]);
    assert!(said.contains("held: 1"), "{said}");
    guest.ends(2, &kept);
    let said = guest.ends(0, &short[..3]);
    assert!(
        said.contains("  warning         the reset was asserted in "),
        "{said}"
    );
}

/// The commands of step 8 of the guide, without the lanes, which the FIFO does not have, and their exit statuses.
fn guide() -> Vec<(String, i32)> {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/your-own-unit.md")).unwrap();
    let (_, step) = page.split_once("\n### 8. ").unwrap();
    let (step, _) = step.split_once("\n### ").unwrap();
    let lines = step.lines();
    let commands = lines.filter_map(|line| line.strip_prefix("$ cargo run --release -- "));
    let commands = commands.map(|line| match line.split_once(" # exit ") {
        Some((words, status)) => (words.to_owned(), status.parse().unwrap()),
        None => (line.replace(" --lanes 8", ""), 0),
    });
    commands.collect()
}

#[needs(yosys, yosys-abc, cadical)]
#[test]
#[ignore = "compiles the bench for a new crate; CI's step guests runs it"]
fn a_new_crate_does_what_the_guide_says() {
    let guest = Guest::new("entry");
    guest.plant("planted", "!full_q || pop_i", "!full_q");
    fs::write(
        guest.dir.join("rtl/slot_step.sv"),
        "module slot_step (input full_q, rst_i, valid_i, pop_i, output next__full_q);
  assign next__full_q = !rst_i && (valid_i && (!full_q || pop_i) || full_q && !pop_i);
endmodule
",
    )
    .unwrap();
    let commands = guide();
    let mut said = String::new();
    for (words, status) in &commands {
        said += &guest.ends(*status, &words.split(' ').collect::<Vec<_>>());
    }
    assert!(commands.len() > 8, "{commands:?}");
    for part in [
        "  lock-step       0 mismatches in ",
        " still fails\n",
        "slot.source.1  ",
        // One changes only data that are not compared, because there are none.
        "slot                         29       27        0           2          0",
        "PROVED",
        "gtkwave ",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

/// Everything follows the table of words: a row that the golden model does not know is assembled, printed, explained, drawn and counted.
#[test]
#[ignore = "compiles the bench for a new crate; CI's step guests runs it"]
fn a_new_crate_with_programs_has_the_whole_command() {
    let guest = Guest::with_programs("sequencer");
    let program = "SSY out\nagain: BR leave\nYIELD\nJMP again\nleave: JOIN\nout: END\n";
    fs::write(guest.dir.join("loop.s"), program).unwrap();
    let words = guest.ends(0, &["asm", "loop.s"]);
    assert!(words.contains(".word 0x20004  // 1  BR 4\n"), "{words}");
    fs::write(guest.dir.join("words.s"), &words).unwrap();
    let listed = guest.ends(0, &["dis", "words.s"]);
    assert!(listed.contains("BR 4             // 1\n"), "{listed}");
    let explained = guest.ends(0, &["explain", "20004"]);
    assert!(
        explained.contains("target") && explained.contains("\nBR TARGET: lanes whose"),
        "{explained}"
    );
    assert!(
        guest
            .ends(0, &["explain", "br"])
            .starts_with("BR TARGET: lanes whose")
    );
    // The rules of its own specification.
    let rule = guest.ends(0, &["explain", "sequencer-3-d"]);
    assert!(
        rule.starts_with("sequencer-3-d  docs/spec/sequencer.md#sequencer-3-d\n")
            && rule.contains("the active lanes have arrived"),
        "{rule}"
    );
    let none = guest
        .command(&["explain", "sequencer-3-z"])
        .output()
        .unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(
        text(&none.stderr)
            .contains("there is no such rule; the sections are sequencer-1 to sequencer-3\n"),
        "{}",
        text(&none.stderr)
    );
    let ran = guest.ends(0, &["run", "loop.s"]);
    assert!(ran.contains("scalar judge agrees: 8 lanes"), "{ran}");
    let found = guest.ends(0, &["fuzz", "--cycles", "200k", "--jobs", "2"]);
    assert!(
        found.contains("  lock-step       0 mismatches in "),
        "{found}"
    );
    guest.ends(0, &["cover", "--cycles", "2M", "--require-all"]);
    // Errors say where, and what is allowed there.
    fs::write(guest.dir.join("wrong.s"), "ALU\nJMP 1 2\n").unwrap();
    let output = guest.command(&["asm", "wrong.s"]).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in [
        "wrong.s:2: JMP: does not take `1`: it is written `JMP TARGET`",
        "JMP 1 2\n",
        "^",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    guest.add_row("Row::new(\"WAIT\", 7 << 16, \"waits\")");
    fs::write(guest.dir.join("wait.s"), "WAIT\n").unwrap();
    let words = guest.ends(0, &["asm", "wait.s"]);
    assert_eq!(words, ".word 0x70000  // 0  WAIT\n");
    assert_eq!(guest.ends(0, &["explain", "wait"]), "WAIT: waits\n");
    guest.ends(0, &["cover", "--cycles", "100k", "--json", "cover.json"]);
    let groups = guest.json("cover.json")["units"][0]["groups"].to_string();
    assert!(groups.contains("\"WAIT\""), "{groups}");
    // What finds that the golden model has no such instruction.
    let tested = tool::command(env!("CARGO"))
        .args(["test", "--release", "--quiet", "every_word"])
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest"),
        )
        .current_dir(&guest.dir)
        .output()
        .unwrap();
    let said = text(&tested.stdout);
    assert!(
        !tested.status.success() && said.contains("there is no WAIT"),
        "{said}"
    );
}
