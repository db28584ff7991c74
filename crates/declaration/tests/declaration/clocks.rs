//! Designs with several clocks: what their declaration says, and what is wrong in one.

use reconverge_declaration::{MAX_CLOCKS, MAX_PERIOD, Role};

use crate::{parse, refused};

/// A bit that crosses from one clock to another.
const CROSSING: &str = r#"name = "crossing"
doc = "a bit."

[[clock]]
name = "a_clk"
period = [2, 9]
doc = "The clock that sends."

[[clock]]
name = "b_clk"
port = "clkb"
period = [3, 3]
phase = [1, 2]
doc = "The clock that receives."

[[pin]]
name = "rst_n"
port = ["a_rst_ni", "b_rst_ni"]
reset = "low"
doc = "Reset of both sides."

[[pin]]
name = "send"
clock = "a_clk"
doc = "The bit."

[[state]]
name = "came"
clock = "b_clk"
output = "came_o"
sampled = true
doc = "The bit on the other side."
"#;

#[test]
fn clocks_are_the_first_pins_and_drive_their_ports() {
    let declared = parse(CROSSING).unwrap();
    let clocks: Vec<_> = declared.clocks().map(|pin| (pin.range, pin.role)).collect();
    let phase = |phase| Role::Clock { phase };
    assert_eq!(
        clocks,
        [((2, 9), phase(None)), ((3, 3), phase(Some((1, 2))))]
    );
    assert!(!declared.is_combinational());
    assert_eq!(declared.pins[3].clock.as_deref(), Some("a_clk"));
    assert_eq!(declared.state[0].clock.as_deref(), Some("b_clk"));
    assert!(declared.not_first(&declared.state[0]));
    let top = declared.bench_top(&declared.probes);
    for line in [
        ".a_clk_i(clock0_i)",
        ".clkb(clock1_i)",
        ".a_rst_ni(in_q.rst_n[0:0])",
        ".b_rst_ni(in_q.rst_n[0:0])",
        "assign clocks_o = 8'({in_q.b_clk[0], in_q.a_clk[0]});",
    ] {
        assert!(top.contains(line), "{line}: {top}");
    }
    // A design with one clock has none of this.
    let one = CROSSING.find("[[clock]]").unwrap()..CROSSING.find("[[pin]]").unwrap();
    let mut text = CROSSING.to_owned();
    text.replace_range(one, "");
    let text = text.replace("clock = \"a_clk\"\n", "");
    let one = parse(&text.replace("clock = \"b_clk\"\n", "")).unwrap();
    let top = one.bench_top(&one.probes);
    assert!(!top.contains("clock0_i") && !top.contains("clocks_o"));
}

#[test]
fn what_is_wrong_with_clocks_is_said_with_line_and_key() {
    let second = CROSSING.find("[[clock]]\nname = \"b_clk\"").unwrap();
    let second = second..CROSSING.find("[[pin]]").unwrap();
    let single = CROSSING.replace(&CROSSING[second], "");
    let mut many = CROSSING.to_owned();
    for i in 0..MAX_CLOCKS - 1 {
        let more = format!("[[clock]]\nname = \"c{i}\"\nperiod = [1, 1]\ndoc = \"c\"\n\n");
        many = many.replacen("[[pin]]", &(more + "[[pin]]"), 1);
    }
    refused("clocks", CROSSING, parse);
    let cases = [
        (
            single,
            "4: clock: of several clocks each has a table; a single one is `clock = \"PORT\"`",
        ),
        (many, "4: clock: 9 of them, and 8 is the most"),
        (
            CROSSING.replace(
                "period = [3, 3]",
                &format!("period = [3, {}]", MAX_PERIOD + 1),
            ),
            "12: clock b_clk.period: 1001 is not a number from 1 to 1000",
        ),
        (
            "name = \"x\"\ndoc = \"x\"\n[[pin]]\nname = \"p\"\nclock = \"c\"\ndoc = \"p\"\n"
                .to_owned(),
            "5: pin p.clock: only where there are several clocks, each in a table [[clock]]",
        ),
    ];
    for (text, message) in cases {
        let error = parse(&text).unwrap_err();
        assert_eq!(error, format!("design.toml:{message}"));
    }
}
