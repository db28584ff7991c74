//! Errors of a declaration name file, line and key; limits are tested on both sides.

use reconverge_declaration::{Declaration, MAX_FIELDS, MAX_NAME, MAX_PINS};

/// A FIFO with a bypass.
const FIFO: &str = r#"name = "fifo"
doc = "a FIFO."

[[parameter]]
name = "DEPTH"
default = 4
range = [2, 16]

[[enum]]
name = "level"
names = ["EMPTY", "ONE", "FULL"]

[[pin]]
name = "rst_n"
port = "rst_ni"
reset = "low"
doc = "Reset."

[[pin]]
name = "data"
width = 8
range = [1, 20]
doc = "Data."

[[pin]]
name = "push"
percent = 75
doc = "Data is there."

[[state]]
name = "level"
width = 3
enum = "level"
doc = "Entries in use."
probe = "dut.level_q"
load = "dut.level_q"

[[state]]
name = "entries"
width = 8
count = 4
depth = "level"
doc = "Entries."
probe = "dut.mem_q"

[[state]]
name = "front"
width = 8
output = "data_o"
sampled = true
valid = "level != 0"
doc = "What a pop gets."
"#;

/// The same with lanes.
fn lanes() -> String {
    let lanes = "\n[lanes]\ndefault = 4\n\n[[pin]]\nname = \"mask\"\nplanes = 1\ndoc = \"Lanes.\"\n\n\
                 [[state]]\nname = \"st\"\nplanes = 2\ndoc = \"Class.\"\nprobe = \"dut.st_q\"\n\n\
                 [[state]]\nname = \"bc\"\nplanes = 8\ndoc = \"Count.\"\nprobe = \"dut.bc_q\"\n\n\
                 [[view]]\nname = \"lane\"\nfields = [\"st\", \"bc\"]\nletter = [{ text = \"A\" }, { text = \"B\", count = \"bc\" }]\n";
    FIFO.to_owned() + lanes
}

fn parse(text: &str) -> Result<Declaration, String> {
    Declaration::parse("design.toml", text).map_err(|e| e.to_string())
}

/// Returns the error for `text` with `from` replaced by `to`.
fn refused(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    let changed = text.replacen(from, to, 1);
    parse(&changed).expect_err(&changed)
}

#[test]
fn what_is_wrong_is_said_with_file_line_and_key() {
    parse(FIFO).unwrap();
    let mut wrong = String::new();
    for (from, to, message) in [
        ("name = \"fifo\"\n", "", "1: name: missing"),
        ("name = \"fifo\"", "name = 3", "1: name: not a string"),
        ("name = \"fifo\"", "name = \"\"", "1: name: empty"),
        (
            "name = \"fifo\"",
            "name = \"a\\u0007\"",
            "1: name: holds a control character",
        ),
        (
            "name = \"fifo\"",
            "name = \"Fifo\"",
            "1: name: \"Fifo\" is not a name: a to z, 0 to 9 and _, at most 128 of them",
        ),
        (
            "name = \"fifo\"",
            "name = \"../x\"",
            "1: name: \"../x\" is not a name: a to z, 0 to 9 and _, at most 128 of them",
        ),
        (
            "name = \"fifo\"",
            "name = \"dut\"",
            "1: name: \"dut\" is a word that the generated files need",
        ),
        (
            "name = \"fifo\"\n",
            "name = \"fifo\"\ntop = \"a b\"\n",
            "2: top: \"a b\" is not an identifier: letters, digits, _ and $, at most 128 of them",
        ),
        ("doc = \"a FIFO.\"", "doc = \"a FIFO.", "2: TOML: "),
        (
            "doc = \"a FIFO.\"",
            "doc = \"a FIFO.\"\nrun = 1",
            "3: run: unknown; known here: name, top, doc, ",
        ),
        (
            "default = 4",
            "default = 17",
            "6: parameter DEPTH.default: 17 is not a number from 2 to 16",
        ),
        (
            "default = 4",
            "default = 1",
            "6: parameter DEPTH.default: 1 is not a number from 2 to 16",
        ),
        (
            "range = [2, 16]",
            "range = [16, 2]",
            "7: parameter DEPTH.range: 16 is above 2",
        ),
        (
            "range = [2, 16]",
            "range = [2]",
            "7: parameter DEPTH.range: not a list of two numbers",
        ),
        (
            "range = [2, 16]",
            "range = 2",
            "7: parameter DEPTH.range: not a list of two numbers",
        ),
        (
            "range = [2, 16]",
            "values = [2, 8]",
            "6: parameter DEPTH.default: 4 is not among the values",
        ),
        (
            "range = [2, 16]",
            "values = [4, 8, 8]",
            "7: parameter DEPTH.values: not a list of numbers, each above the one before it",
        ),
        (
            "range = [2, 16]",
            "values = []",
            "7: parameter DEPTH.values: not a list of numbers, each above the one before it",
        ),
        (
            "range = [2, 16]",
            "range = [2, 16]\nvalues = [4, 8]",
            "8: parameter DEPTH.values: the parameter has a range as well",
        ),
        (
            "names = [\"EMPTY\", \"ONE\", \"FULL\"]",
            "names = []",
            "11: enum level.names: an empty list",
        ),
        (
            "\"ONE\"",
            "\"O NE\"",
            "11: enum level.names: \"O NE\" holds a space",
        ),
        (
            "reset = \"low\"",
            "reset = \"lo\"",
            "16: pin rst_n.reset: neither \"low\" nor \"high\"",
        ),
        (
            "reset = \"low\"",
            "reset = \"low\"\nstall = true",
            "17: pin rst_n.stall: the pin is the reset",
        ),
        (
            "percent = 75",
            "asynchronous = true",
            "27: pin push.asynchronous: only a reset can be asynchronous",
        ),
        (
            "reset = \"low\"",
            "reset = \"low\"\nasynchronous = true\nonly_with = \"DEPTH\"",
            "18: pin rst_n.only_with: an asynchronous reset is there with all parameters",
        ),
        (
            "reset = \"low\"",
            "reset = \"low\"\nwidth = 2",
            "16: pin rst_n.reset: the pin has more than one bit",
        ),
        (
            "reset = \"low\"",
            "reset = \"low\"\ndefault = 1",
            "17: pin rst_n.default: a reset or stall is released by default",
        ),
        (
            "percent = 75",
            "reset = \"low\"",
            "26: pin push.name: the second pin of its role",
        ),
        (
            "percent = 75",
            "port = \"rst_ni\"",
            "27: pin push.port: rst_ni is driven twice",
        ),
        (
            "percent = 75",
            "port = \"clk_i\"",
            "27: pin push.port: clk_i is driven twice",
        ),
        (
            "percent = 75",
            "percent = 101",
            "27: pin push.percent: 101 is not a number from 0 to 100",
        ),
        (
            "percent = 75",
            "range = [0, 1]",
            "27: pin push.range: flags and masks have percent",
        ),
        (
            "percent = 75",
            "port = [\"a_i\", \"b_i\"]",
            "27: pin push.port: 2 ports for 1 elements",
        ),
        (
            "percent = 75",
            "only_with = \"WIDE\"",
            "27: pin push.only_with: no parameter \"WIDE\"",
        ),
        (
            "percent = 75",
            "waves = 2",
            "27: pin push.waves: 2 is not a number from 1 to 1",
        ),
        (
            "percent = 75",
            "waves = \"yes\"",
            "27: pin push.waves: neither true nor false",
        ),
        (
            "range = [1, 20]",
            "percent = 3",
            "22: pin data.percent: for flags and masks; others have range",
        ),
        (
            "range = [1, 20]",
            "only_with = \"DEPTH\"",
            "13: pin: push stands behind a pin with only_with; those come last",
        ),
        (
            "range = [1, 20]",
            "planes = 1",
            "22: pin data.planes: the design has no lanes: table [lanes] is missing",
        ),
        (
            "range = [1, 20]",
            "count = \"lanes\"",
            "22: pin data.count: the design has no lanes: table [lanes] is missing",
        ),
        (
            "range = [1, 20]",
            "count = \"all\"",
            "22: pin data.count: neither a number nor \"lanes\" nor \"wavefronts\"",
        ),
        (
            "range = [1, 20]",
            "default = \"zeros\"",
            "22: pin data.default: neither a number nor \"ones\"",
        ),
        (
            "[[pin]]\nname = \"push\"",
            "[[pin]]\nname = \"data\"",
            "26: pin data.name: given twice",
        ),
        ("doc = \"Data.\"\n", "", "19: pin data.doc: missing"),
        (
            "enum = \"level\"",
            "enum = \"fill\"",
            "33: state level.enum: no enum \"fill\"",
        ),
        (
            "enum = \"level\"",
            "show = \"octal\"",
            "33: state level.show: \"octal\" is not decimal, hex, address, signed or binary",
        ),
        (
            "enum = \"level\"",
            "enum = \"level\"\nshow = \"hex\"",
            "31: state level.name: one of show, enum and part at most",
        ),
        (
            "enum = \"level\"",
            "part = [{ bits = [0, 3] }]",
            "33: state level.part[0].bits: 3 is not a number from 0 to 2",
        ),
        (
            "load = \"dut.level_q\"",
            "load = [\"a\", \"b\"]",
            "36: state level.load: 2 registers for 1 elements",
        ),
        (
            "load = \"dut.level_q\"",
            "output = \"level_o\"",
            "35: state level.probe: the field is an output",
        ),
        (
            "probe = \"dut.mem_q\"\n",
            "",
            "38: state entries.probe: missing, and the field is not an output",
        ),
        (
            "probe = \"dut.mem_q\"",
            "probe = [\"a\", \"b\"]",
            "44: state entries.probe: 2 expressions for 4 elements",
        ),
        (
            "probe = \"dut.mem_q\"",
            "probe = \"dut.level_q\"",
            "44: state entries.probe: dut.level_q is what level is compared with",
        ),
        (
            "probe = \"dut.mem_q\"\n",
            "output = \"data_o\"\n",
            "49: state front.output: data_o is what entries is compared with",
        ),
        (
            "load = \"dut.level_q\"",
            "load = \"dut.level_q\"\nvalid = \"front != 0\"",
            "37: state level.valid: level depends on itself",
        ),
        (
            "valid = \"level != 0\"",
            "valid = \"rst_n != 0\"",
            "51: state front.valid: no pin or field \"rst_n\" that is one number",
        ),
        (
            "depth = \"level\"",
            "depth = \"entries\"",
            "42: state entries.depth: no field \"entries\" that is one number",
        ),
        (
            "count = 4\n",
            "",
            "41: state entries.depth: only a field with a count has one",
        ),
        (
            "depth = \"level\"",
            "depth = \"level\"\nvalid = \"level > 1\"",
            "43: state entries.valid: goes not with depth",
        ),
        (
            "sampled = true",
            "sampled = 1",
            "50: state front.sampled: neither true nor false",
        ),
        (
            "valid = \"level != 0\"",
            "valid = \"level\"",
            "51: state front.valid: a condition is comparisons such as \"level != 0\", joined by && and ||; not \"level\"",
        ),
        (
            "valid = \"level != 0\"",
            "valid = \"level != 0; x\"",
            "51: state front.valid: a condition is comparisons such as \"level != 0\", joined by && and ||; not \"level != 0; x\"",
        ),
        (
            "valid = \"level != 0\"",
            "valid = \"lvl != 0\"",
            "51: state front.valid: no pin or field \"lvl\" that is one number",
        ),
        (
            "valid = \"level != 0\"",
            "valid = \"level !=\\n0\"",
            "51: state front.valid: more than one line",
        ),
        (
            "name = \"front\"",
            "name = \"pad\"",
            "47: state pad.name: \"pad\" begins as generated names do",
        ),
    ] {
        let said = refused(FIFO, from, to);
        let message = format!("design.toml:{message}");
        let same = if message.ends_with(' ') {
            said.starts_with(&message)
        } else {
            said == message
        };
        if !same {
            wrong += &format!("{said}\nis not\n{message}\n");
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn what_is_wrong_with_lanes_and_views_is_said_too() {
    let text = lanes();
    parse(&text).unwrap();
    for (from, to, message) in [
        (
            "default = 4\n\n[[pin]]\nname = \"mask\"",
            "[[pin]]\nname = \"mask\"",
            "lanes.default: missing",
        ),
        (
            "default = 4\n\n[[pin]]\nname = \"mask\"",
            "default = 4\nwavefronts = 3\n\n[[pin]]\nname = \"mask\"",
            "lanes.wavefronts: 4 lanes cannot be divided into 3 wavefronts",
        ),
        (
            "planes = 2",
            "planes = 2\nwidth = 2",
            "state st.planes: goes with neither width nor count",
        ),
        (
            "planes = 2",
            "width = 8\ncount = \"lanes\"",
            "state st.count: state of a lane is in planes: one for each of its bits",
        ),
        (
            "probe = \"dut.st_q\"",
            "output = [\"a\", \"b\", \"c\"]",
            "state st.output: 3 ports for 2 elements",
        ),
        (
            "fields = [\"st\", \"bc\"]",
            "fields = [\"st\", \"level\"]",
            "view lane.fields: no field \"level\" of planes",
        ),
        (
            "count = \"bc\"",
            "count = \"st\"",
            "view lane.letter[1].count: \"st\" is not one of the fields behind the first",
        ),
        (
            "{ text = \"A\" }",
            "{}",
            "view lane.letter[0].text: missing",
        ),
        ("{ text = \"A\" }", "1", "view lane.letter[0]: not a table"),
        (
            "name = \"lane\"",
            "name = \"level\"",
            "view level.name: given twice",
        ),
        (
            "letter = [{ text = \"A\" }, { text = \"B\", count = \"bc\" }]",
            "",
            "view: table lane has no letters of the width of lane",
        ),
        (
            "name = \"lane\"",
            "name = \"lane\"\ntable = \"level\"",
            "enum: level is the table of a view too",
        ),
    ] {
        let said = refused(&text, from, to);
        assert!(
            said.ends_with(&format!(": {message}")),
            "{said}\nis not\n{message}"
        );
    }
}

#[test]
fn a_list_has_an_element_for_each_wavefront() {
    let list = |count| {
        let field = format!(
            "planes = 2\ndoc = \"Class.\"\nprobe = \"dut.class_q\"\n\n[[state]]\nname = \"pcs\"\n{count}\ndoc = \"Class.\"\n"
        );
        let text = lanes().replace("planes = 2\ndoc = \"Class.\"\n", &field);
        let text = text.replace(
            "default = 4\n\n[[pin]]\nname = \"mask\"",
            "default = 4\nwavefronts = 2\n\n[[pin]]\nname = \"mask\"",
        );
        let parsed = parse(&text).unwrap();
        let pcs = parsed
            .state
            .iter()
            .find(|field| field.name == "pcs")
            .unwrap();
        (
            parsed.lanes.unwrap().wavefronts,
            pcs.shape.count(),
            pcs.per_wavefront,
        )
    };
    assert_eq!(list("count = \"wavefronts\""), (2, 2, true));
    assert_eq!(list("count = 2"), (2, 2, false));
}

#[test]
fn every_limit_holds_at_itself_and_not_one_above() {
    let text = lanes();
    let long = |n: usize| "x".repeat(n);
    let pins = |n: usize| {
        (0..n)
            .map(|i| format!("[[pin]]\nname = \"x{i}\"\ndoc = \".\"\n"))
            .collect::<String>()
    };
    let fields = |n: usize| {
        let one = |i| format!("[[state]]\nname = \"x{i}\"\ndoc = \".\"\nprobe = \"{i}\"\n");
        (0..n).map(one).collect::<String>()
    };
    for (from, at, above, message) in [
        (
            "name = \"fifo\"",
            format!("name = \"{}\"", long(MAX_NAME)),
            format!("name = \"{}\"", long(MAX_NAME + 1)),
            "at most 128 of them",
        ),
        (
            "default = 4\n\n[[pin]]",
            "default = 64\n\n[[pin]]".into(),
            "default = 65\n\n[[pin]]".into(),
            "65 is not a number from 1 to 64",
        ),
        (
            "width = 8\nrange",
            "width = 64\nrange".into(),
            "width = 65\nrange".into(),
            "65 is not a number from 1 to 64",
        ),
        (
            "width = 8\nrange",
            "width = 5\nrange".into(),
            "width = 4\nrange".into(),
            "20 is not a number from 0 to 15",
        ),
        (
            "planes = 1\n",
            "planes = 64\n".into(),
            "planes = 65\n".into(),
            "65 is not a number from 1 to 64",
        ),
        (
            "count = 4",
            "count = 4096".into(),
            "count = 4097".into(),
            "4097 is not a number from 1 to 4096",
        ),
        (
            "percent = 75",
            "percent = 100".into(),
            "percent = 101".into(),
            "101 is not a number from 0 to 100",
        ),
        (
            "range = [2, 16]",
            "range = [2, 4294967295]".into(),
            "range = [2, 4294967296]".into(),
            "4294967296 is not a number from 0 to 4294967295",
        ),
        (
            "percent = 75",
            "default = 1".into(),
            "default = 2".into(),
            "2 is not a number from 0 to 1",
        ),
        (
            "\n[lanes]",
            pins(MAX_PINS - 4) + "\n[lanes]",
            pins(MAX_PINS - 3) + "\n[lanes]",
            "257 of them, and 256 is the most",
        ),
        (
            "\n[lanes]",
            fields(MAX_FIELDS - 5) + "\n[lanes]",
            fields(MAX_FIELDS - 4) + "\n[lanes]",
            "257 of them, and 256 is the most",
        ),
        // A class of 2 bits needs four letters.
        (
            "{ text = \"A\" }, ",
            "{ text = \"A\" }, ".repeat(3),
            "{ text = \"A\" }, ".repeat(4),
            "5 letters for 4 values of st",
        ),
        (
            "planes = 8",
            "planes = 8".into(),
            "planes = 9".into(),
            "more than 8 bits",
        ),
        (
            "fields = [\"st\", \"bc\"]",
            "fields = [\"st\", \"bc\"]".into(),
            "fields = [\"bc\", \"bc\", \"bc\", \"bc\", \"bc\", \"bc\", \"bc\", \"bc\", \"st\"]"
                .into(),
            "66 bits, and 64 is the most",
        ),
        // Three names need two bits.
        (
            "width = 3\nenum",
            "width = 2\nenum".into(),
            "width = 1\nenum".into(),
            "level has the value 2, which is more than 1 bits",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        parse(&text.replacen(from, &at, 1)).unwrap_or_else(|e| panic!("{at}: {e}"));
        let said = refused(&text, from, &above);
        assert!(said.ends_with(message), "{said}\nis not\n{message}");
    }
    // 64 KiB of pins: each of these takes 32.
    let banks = |n| {
        let one = |i| format!("[[pin]]\nname = \"x{i}\"\nwidth = 64\ncount = 4096\ndoc = \".\"\n");
        let rest = "[[state]]\nname = \"a\"\ndoc = \".\"\nprobe = \"1\"\n";
        format!(
            "name = \"x\"\ndoc = \".\"\n{}{rest}",
            (0..n).map(one).collect::<String>()
        )
    };
    parse(&banks(2)).unwrap();
    assert!(
        parse(&banks(3))
            .unwrap_err()
            .ends_with("98304 bytes in all, and 65536 is the most")
    );
    // A table without entries, files that are not TOML, an empty file, a file that is cut off.
    assert_eq!(parse("").unwrap_err(), "design.toml:1: name: missing");
    for end in (0..FIFO.len()).filter(|end| FIFO.is_char_boundary(*end)) {
        let _ = parse(&FIFO[..end]);
    }
}

#[test]
fn probes_of_another_rtl_name_every_field_that_is_no_output() {
    let declaration = parse(FIFO).unwrap();
    let text = "[[state]]\nname = \"level\"\nprobe = \"dut.n\"\n\n[[state]]\nname = \"entries\"\nprobe = \"dut.m\"\n";
    let read = |text: &str| {
        declaration
            .parse_probes("p.toml", text)
            .map_err(|e| e.to_string())
    };
    let probes = read(text).unwrap();
    assert!(probes.loads.is_empty());
    let top = declaration.bench_top(&probes);
    assert!(
        top.contains("assign probe_level = dut.n;") && !top.contains("dut.level_q"),
        "{top}"
    );
    // The unit's own RTL can be preloaded.
    assert!(
        declaration
            .bench_top(&declaration.probes)
            .contains("dut.level_q <= load_level;")
    );
    for (from, to, message) in [
        ("\"level\"", "\"lvl\"", "2: state lvl.name: no such field"),
        (
            "\"entries\"",
            "\"level\"",
            "6: state level.name: given twice",
        ),
        (
            "\"entries\"",
            "\"front\"",
            "7: state front.probe: the field is an output",
        ),
        (
            "[[state]]\nname = \"level\"\nprobe = \"dut.n\"\n",
            "",
            "2: state: field level has no probe",
        ),
        (
            "\nprobe = \"dut.n\"",
            "",
            "1: state level.probe: missing, and the field is not an output",
        ),
        (
            "probe = \"dut.n\"",
            "probe = \"dut.n\"\nwidth = 3",
            "4: state level.width: unknown; known here: name, falling, probe, load",
        ),
        (
            "[[state]]",
            "[[load]]\nregister = \"a\"\n[[state]]",
            "2: load[0].register: a load has register and value, or call",
        ),
        (
            "[[state]]",
            "[assertions]\nloaded = \"dut.a\"\n[[state]]",
            "1: assertions.file: missing",
        ),
        (
            "[[state]]",
            "[assertions]\nfile = \"a.sv\"\nload = \"dut.a\"\n[[state]]",
            "3: assertions.load: unknown; known here: file, loaded",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        assert_eq!(
            read(&text.replacen(from, to, 1)).unwrap_err(),
            format!("p.toml:{message}")
        );
    }
}

#[test]
fn preloading_tells_bound_assertions_of_it_where_they_are_checked() {
    let load = "[[load]]\nregister = \"dut.a\"\nvalue = \"1\"\n";
    let bound = "[assertions]\nfile = \"a.sv\"\nloaded = \"dut.u_sva.loaded_q\"\n";
    let hook =
        "`ifdef RECONVERGE_ASSERT\n      dut.u_sva.loaded_q <= 1'b1;\n`endif\n    end\n  end\n";
    let probes = "[[state]]\nname = \"level\"\nprobe = \"1\"\n[[state]]\nname = \"entries\"\nprobe = \"1\"\n";
    let declaration = parse(FIFO).unwrap();
    let read = |text: &str| declaration.parse_probes("p.toml", text).unwrap();
    for (text, hooks) in [
        (format!("{probes}{load}{bound}"), 1),
        (format!("{probes}{load}"), 0),
        (format!("{probes}{bound}"), 0),
    ] {
        let read_in = read(&text);
        assert_eq!(read(&read_in.to_toml()), read_in);
        let top = declaration.bench_top(&read_in);
        assert_eq!(top.matches(hook).count(), hooks, "{top}");
        assert_eq!(top.matches("RECONVERGE_ASSERT").count(), hooks, "{top}");
    }
}
