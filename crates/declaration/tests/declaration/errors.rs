//! Errors of a declaration name file, line and key; limits are tested on both sides.

use reconverge_declaration::{MAX_FIELDS, MAX_NAME, MAX_PINS};

use crate::{parse, refused};

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

#[test]
fn what_is_wrong_is_said_with_file_line_and_key() {
    parse(FIFO).unwrap();
    refused("errors", FIFO, parse);
}

#[test]
fn what_is_wrong_with_lanes_and_views_is_said_too() {
    let text = lanes();
    parse(&text).unwrap();
    refused("lanes", &text, parse);
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
        let said = parse(&text.replacen(from, &above, 1)).expect_err(&above);
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
    refused("probes", text, read);
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
