//! `new --update` brings a declaration up to date, and leaves the rest of it as it is.

use std::fs;

use super::{Module, refused};

const BEFORE: &str = "typedef enum logic [1:0] {Idle, Run} st_e;
typedef struct packed { logic v; logic [7:0] d; } req_t;
module m(input logic clk_i, input logic rst_ni, input logic old_i, input logic [3:0] even_i, input req_t req_i, output st_e st_o,
         output logic [7:0] sum_o, output logic gone_o);
  logic [7:0] sum_q;
  assign sum_o = sum_q; assign st_o = st_e'(sum_q[1:0]); assign gone_o = sum_q[0];
  always_ff @(posedge clk_i) sum_q <= !rst_ni ? '0 : sum_q + 8'(old_i) + 8'(even_i) + req_i.d;
endmodule
";
const AFTER: &str = "typedef enum logic [1:0] {Idle, Run, Stop} st_e;
typedef struct packed { logic w; logic [11:0] d; } req_t;
module m(input logic clk_i, input logic rst_ni, input logic [3:0] even_i, input req_t req_i, input logic fresh_i, output st_e st_o,
         output logic [11:0] sum_o);
  logic [11:0] sum_q;
  assign sum_o = sum_q; assign st_o = st_e'(sum_q[1:0]);
  always_ff @(posedge clk_i) sum_q <= !rst_ni ? '0 : sum_q + 12'(fresh_i) + 12'(even_i) + req_i.d;
endmodule
";

#[test]
fn only_what_the_ports_changed_is_changed() {
    let module = Module::of(BEFORE);
    module.made(&[]);
    // What was added by hand: other elements, a range, a probe, a comment.
    let mine = module.toml().replacen(
        "name = \"even\"\nwidth = 4\n",
        "name = \"even\"\n# In pairs.\nwidth = 2\ncount = 2\nrange = [0, 2]\n",
        1,
    );
    let mine = mine
        + "\n[[state]]\nname = \"q\"\nwidth = 8\nprobe = \"8'(dut.sum_q)\"\ndoc = \"Inside.\"\n";
    fs::write(module.at.join("rtl/design.toml"), &mine).unwrap();
    let said = module.made(&["--update"]);
    assert!(said.ends_with("rtl/design.toml:\n  the ports are as declared\n"));
    assert_eq!(module.toml(), mine);

    fs::write(&module.file, AFTER).unwrap();
    let said = module.made(&["--update"]);
    let mut changes: Vec<&str> = said.lines().skip(1).map(str::trim).collect();
    changes.sort_unstable();
    assert_eq!(
        changes,
        [
            "added pin fresh",
            "added pin req_w",
            "enum st_e has other values",
            "pin req_d: 8 bits became 12 bits",
            "removed pin old",
            "removed pin req_v",
            "removed state gone",
            "state sum: 8 bits became 12 bits",
        ]
    );
    let now = module.toml();
    for part in [
        "name = \"even\"\n# In pairs.\nwidth = 2\ncount = 2\nrange = [0, 2]\nport = \"even_i\"\n",
        "name = \"req_d\"\nwidth = 12\nport = \"req_i[11:0]\"\n",
        "names = [\"Idle\", \"Run\", \"Stop\"]\n",
        "probe = \"8'(dut.sum_q)\"",
    ] {
        assert!(now.contains(part), "{part}: {now}");
    }
}

/// Regression: such a pin kept `signed = true`, which a flag must not have, and nothing was brought up to date.
#[test]
fn a_signed_pin_that_becomes_one_bit_has_no_sign() {
    let before = "module m(input logic clk_i, input logic signed [7:0] x_i, output logic q_o);\n  always_ff @(posedge clk_i) q_o <= x_i[0];\nendmodule\n";
    let module = Module::of(before);
    module.made(&[]);
    let signed = || module.toml().contains("signed = true");
    assert!(signed());
    let after = before.replace("signed [7:0] x_i", "x_i");
    fs::write(&module.file, after.replace("x_i[0]", "x_i")).unwrap();
    let said = module.made(&["--update"]);
    assert!(said.contains("\n  pin x: 8 bits became 1 bit\n"), "{said}");
    assert!(!signed());
}

/// Regression: the report printed such numbers without their sign, and nothing was told.
#[test]
fn a_port_that_gets_a_sign_is_told_until_the_declaration_has_it() {
    let after = "typedef struct packed { logic signed [5:0] d; logic [1:0] k; } req_t;
module m(input logic clk_i, input logic signed [7:0] x_i, input req_t req_i, output logic signed [7:0] y_o, output logic signed [3:0] z_o);
  always_ff @(posedge clk_i) begin y_o <= x_i + 8'(req_i.d); z_o <= 4'(req_i.k); end
endmodule
";
    let module = Module::of(&after.replace(" signed", ""));
    module.made(&[]);
    fs::write(&module.file, after).unwrap();
    let update = || {
        let said = module.made(&["--update"]);
        let changes = said.lines().skip(1).map(str::trim);
        let changes = changes.filter(|line| !line.starts_with("note: "));
        changes.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        update(),
        [
            "by hand: pin x has no signed, and of the RTL signed = true",
            "by hand: pin req_d has no signed, and of the RTL signed = true",
            "by hand: state y has show = \"hex\", and of the RTL show = \"signed\"",
            "by hand: state z has no show, and of the RTL show = \"signed\"",
        ]
    );
    let signs = module
        .toml()
        .replace("port = \"x_i\"", "port = \"x_i\"\nsigned = true")
        .replace(
            "port = \"req_i[7:2]\"",
            "port = \"req_i[7:2]\"\nsigned = true",
        )
        .replace("output = \"y_o\"", "show = \"signed\"\noutput = \"y_o\"")
        .replace("output = \"z_o\"", "show = \"signed\"\noutput = \"z_o\"")
        .replace("show = \"hex\"\n", "");
    fs::write(module.at.join("rtl/design.toml"), signs).unwrap();
    assert_eq!(update(), ["the ports are as declared"]);
    // The other way round it is the choice of the declaration.
    fs::write(&module.file, after.replace(" signed", "")).unwrap();
    assert_eq!(update(), ["the ports are as declared"]);
}

/// Regression: each of these was told as `the ports are as declared`.
#[test]
fn what_is_changed_by_hand_is_told() {
    let rtl = |clock: &str, reset: &str, names: &str, member: &str, sum: &str| {
        format!(
            "typedef enum logic [1:0] {{{names}}} st_e;
typedef struct packed {{ logic v; logic [{member}:0] d; }} req_t;
module m(input logic {clock}, input logic rst_ni, input req_t req_i, output st_e st_o, output logic sum_o);
  logic q;
  assign sum_o = {sum};
  always_ff @(posedge {clock}{reset}) if (!rst_ni) begin st_o <= st_e'(0); q <= 0; end else begin st_o <= st_e'(req_i.d[1:0]); q <= ^req_i; end
endmodule
"
        )
    };
    let module = Module::of(&rtl("clk_i", "", "Idle, Run", "7", "q"));
    module.made(&[]);
    // The struct is one number.
    let mut declared = module.toml();
    let pins = declared.find("\n[[pin]]\nname = \"req_v\"").unwrap();
    let end = declared.find("\n# ---- state").unwrap();
    let rest = declared[pins..end].find("\n[[pin]]\nname = \"rst_n\"");
    let rest = rest.map_or("", |at| &declared[pins + at..end]).to_owned();
    let number = "\n[[pin]]\nname = \"req\"\nwidth = 9\ndoc = \"Port req_i.\"\n";
    declared.replace_range(pins..end, &format!("{number}{rest}"));
    fs::write(module.at.join("rtl/design.toml"), &declared).unwrap();
    let said = module.made(&["--update"]);
    assert!(said.ends_with("  the ports are as declared\n"), "{said}");

    let after = rtl(
        "main_clk",
        " or negedge rst_ni",
        "Run, Idle",
        "9",
        "q ^ req_i.v",
    );
    fs::write(&module.file, after).unwrap();
    let said = module.made(&["--update"]);
    for change in [
        "  by hand: the clock is \"clk_i\", and of the RTL \"main_clk\"\n",
        "  by hand: pin rst_n has no asynchronous, and of the RTL asynchronous = true\n",
        "  by hand: state sum has no sampled, and of the RTL sampled = true\n",
        "  by hand: pin req has 9 bits, and req_i of the RTL has 11\n",
        "  enum st_e has other values\n",
        "\nnote: sampled, because they depend on pins of the same cycle: sum_o\n",
    ] {
        assert!(said.contains(change), "{change}: {said}");
    }
    let now = module.toml();
    assert!(now.contains("names = [\"Run\", \"Idle\"]\n"), "{now}");
}

/// Regression: a wrapper that was changed by hand was lost, and one that the RTL needs for the first time was not compiled.
#[test]
fn a_changed_wrapper_is_kept_and_a_first_one_refused() {
    let list = "module m(input logic clk_i, input logic x_i [2], output logic q_o);\n  always_ff @(posedge clk_i) q_o <= x_i[1];\nendmodule\n";
    let module = Module::of(list);
    let wrapper = module.at.join("rtl/unit_ports.sv");
    let kept = module.at.join("rtl/unit_ports.sv.old");
    module.made(&[]);
    module.made(&["--update"]);
    assert!(!kept.exists());
    let mine = fs::read_to_string(&wrapper).unwrap() + "// By hand.\n";
    fs::write(&wrapper, &mine).unwrap();
    let said = module.made(&["--update"]);
    assert!(
        said.contains("note: rtl/unit_ports.sv is new; the one before it is rtl/unit_ports.sv.old"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&kept).unwrap(), mine);
    assert!(!fs::read_to_string(&wrapper).unwrap().contains("By hand"));
    fs::write(&wrapper, &mine).unwrap();
    let update = module.args(&["--update"]);
    refused(&update, "take over from it what you need, and remove it");
    assert_eq!(fs::read_to_string(&wrapper).unwrap(), mine);

    let plain = list.replace("x_i [2]", "x_i").replace("x_i[1]", "x_i");
    fs::write(&module.file, plain).unwrap();
    refused(&update, "its top is unit_ports, and that of this RTL is m");
    assert_eq!(fs::read_to_string(&wrapper).unwrap(), mine);
}
