//! `new --update` brings a declaration up to date, and leaves the rest of it as it is.

use std::fs;

use crate::common::{arg, reconverge, text};

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
    let dir = tempfile::tempdir().unwrap();
    let (file, at) = (dir.path().join("m.sv"), dir.path().join("unit"));
    let toml = at.join("rtl/design.toml");
    let run = |options: &[&str]| {
        let args = [
            &["new", arg(&at), "--rtl", arg(&file), "--top", "m"],
            options,
        ]
        .concat();
        let output = reconverge(&args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    fs::write(&file, BEFORE).unwrap();
    run(&[]);
    // What was added by hand: other elements, a range, a probe, a comment.
    let mine = fs::read_to_string(&toml).unwrap();
    let mine = mine.replacen(
        "name = \"even\"\nwidth = 4\n",
        "name = \"even\"\n# In pairs.\nwidth = 2\ncount = 2\nrange = [0, 2]\n",
        1,
    );
    let mine = mine
        + "\n[[state]]\nname = \"q\"\nwidth = 8\nprobe = \"8'(dut.sum_q)\"\ndoc = \"Inside.\"\n";
    fs::write(&toml, &mine).unwrap();
    assert!(run(&["--update"]).ends_with("rtl/design.toml:\n  the ports are as declared\n"));
    assert_eq!(fs::read_to_string(&toml).unwrap(), mine);

    fs::write(&file, AFTER).unwrap();
    let said = run(&["--update"]);
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
    let now = fs::read_to_string(&toml).unwrap();
    for part in [
        "name = \"even\"\n# In pairs.\nwidth = 2\ncount = 2\nrange = [0, 2]\nport = \"even_i\"\n",
        "name = \"req_d\"\nwidth = 12\nport = \"req_i[11:0]\"\n",
        "names = [\"Idle\", \"Run\", \"Stop\"]\n",
        "probe = \"8'(dut.sum_q)\"",
    ] {
        assert!(now.contains(part), "{part}: {now}");
    }
}
