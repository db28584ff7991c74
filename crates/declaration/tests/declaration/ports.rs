//! Parts of ports, their names, and the values of enums.

use crate::{parse, refused};

/// A module with a struct as an input and one as an output, and ports with names that need a backslash.
const TEXT: &str = r#"name = "unit"
doc = "a unit."

[[enum]]
name = "op"
names = ["Add", "Mul"]
values = [1, 6]

[[pin]]
name = "req_op"
width = 3
enum = "op"
port = "req_i[2:0]"
doc = "Operation."

[[pin]]
name = "req_data"
width = 8
count = 2
port = ["req_i[11:4]", "req_i[20:13]"]
doc = "Data."

[[pin]]
name = "req_last"
count = 2
port = ["req_i[3]", "req_i[12]"]
doc = "The last one."

[[pin]]
name = "odd"
port = '\a+b'
doc = "An odd one."

[[state]]
name = "rsp_op"
width = 3
enum = "op"
output = "rsp$o[10:8]"
doc = "Operation."

[[state]]
name = "rsp_data"
width = 8
output = "rsp$o[7:0]"
doc = "Data."
"#;

#[test]
fn parts_of_a_port_are_connected_in_the_order_of_its_bits() {
    let unit = parse(TEXT).unwrap();
    let top = unit.bench_top(&unit.probes);
    for line in [
        ".req_i({in_q.req_data[8*1 +: 8], in_q.req_last[8*1 +: 1], in_q.req_data[8*0 +: 8], in_q.req_last[8*0 +: 1], in_q.req_op[2:0]})",
        ".\\a+b (in_q.odd[0:0])",
        ".rsp$o({rsp_op, rsp_data})",
        "wire fits_input_a_b = ($bits(dut.\\a+b ) >",
    ] {
        assert!(top.contains(line), "{line}: {top}");
    }
    assert_eq!(unit.ports(), ["clk_i", "req_i", "a+b", "rsp$o"]);
}

#[test]
fn an_enum_has_its_values_in_the_random_draw_and_in_reports() {
    let unit = parse(TEXT).unwrap();
    assert_eq!(
        (unit.pins[0].default, &unit.pins[0].values[..]),
        (1, &[1, 6][..])
    );
    let rust = unit.rust(TEXT, "crate", ".", "");
    for line in [
        "pub const OP_VALUES: [u64; 2] = [1, 6];",
        "    pub mod op {\n        /// Add.\n        pub const ADD: u8 = 1;\n        /// Mul.\n        pub const MUL: u8 = 6;\n    }",
        "values: &[1, 6],",
        "        show: |v| crate::field::show::named(&OP_NAMES, crate::field::show::place(&OP_VALUES, v), v)",
        // Regression: reports had the number of a pin.
        "        named: Some(|v| crate::field::show::named(&OP_NAMES, crate::field::show::place(&OP_VALUES, v), v)),\n",
        "        named: None,\n",
        "values: &[(1, \"Add\"), (6, \"Mul\")],",
    ] {
        assert!(rust.contains(line), "{line}: {rust}");
    }
}

#[test]
fn names_that_rust_does_not_take_are_no_constants() {
    let text = TEXT
        .replace("name = \"op\"", "name = \"type\"")
        .replace("enum = \"op\"", "enum = \"type\"");
    for (names, constants) in [
        ("\"a-b\", \"2\"", ""),
        (
            "\"a\", \"A\"",
            "        /// a.\n        pub const A: u8 = 1;\n",
        ),
    ] {
        let text = text.replace("\"Add\", \"Mul\"", names);
        let rust = parse(&text).unwrap().rust(&text, "crate", ".", "");
        let module = format!("    pub mod type_ {{\n{constants}    }}\n");
        assert!(rust.contains(&module), "{module}: {rust}");
    }
}

#[test]
fn ports_and_enums_that_do_not_fit_are_refused() {
    refused("ports", TEXT, parse);
}
