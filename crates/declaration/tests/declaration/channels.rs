//! Designs with channels: what their declaration says, and what is wrong in one.

use reconverge_declaration::{MAX_CHANNELS, Side, Wire};

use crate::{parse, refused};

/// A register between two channels.
const STAGE: &str = r#"name = "stage"
doc = "a register between two channels."

[[pin]]
name = "rst_n"
port = "rst_ni"
reset = "low"
doc = "Reset."

[[pin]]
name = "in_valid"
doc = "There are data."

[[pin]]
name = "in_data"
width = 8
doc = "The data."

[[pin]]
name = "out_ready"
doc = "The data will be taken."

[[state]]
name = "in_ready"
output = "in_ready_o"
sampled = true
doc = "There is room."

[[state]]
name = "out_valid"
output = "out_valid_o"
doc = "There are data."

[[state]]
name = "out_data"
width = 8
output = "out_data_o"
doc = "The data."

[[channel]]
name = "in"
side = "in"
valid = "in_valid"
ready = "in_ready"
payload = "in_data"
withdraw = true
never = ["stall"]

[[channel]]
name = "out"
side = "out"
valid = "out_valid"
ready = "out_ready"
payload = ["out_data"]
"#;

#[test]
fn channels_name_pins_and_fields_by_the_side() {
    let declared = parse(STAGE).unwrap();
    let [from, to] = &declared.channels[..] else {
        panic!("{:?}", declared.channels);
    };
    let field = |number, now| Wire::Field { number, now };
    assert_eq!((from.name.as_str(), from.side), ("in", Side::In));
    assert_eq!((from.valid, from.ready), (Wire::Pin(1), field(0, true)));
    assert_eq!(from.payload, [Wire::Pin(2)]);
    // Without a stall there is no long one either.
    assert_eq!((from.withdraw, from.never), (true, 0b1100));
    assert_eq!((to.name.as_str(), to.side), ("out", Side::Out));
    assert_eq!((to.valid, to.ready), (field(1, false), Wire::Pin(3)));
    assert_eq!(to.payload, [field(2, false)]);
    assert_eq!((to.withdraw, to.never), (false, 0));
    // Of combinational logic every output is that of the same cycle.
    let logic = STAGE.replace(
        "[[pin]]\nname = \"rst_n\"\nport = \"rst_ni\"\nreset = \"low\"\ndoc = \"Reset.\"\n",
        "",
    );
    let logic = logic.replace(
        "two channels.\"\n",
        "two channels.\"\ncombinational = true\n",
    );
    let logic = parse(&logic).unwrap();
    assert_eq!(logic.channels[1].valid, field(1, true));
    // A design without channels has a list without any.
    let none = parse(STAGE.split("[[channel]]").next().unwrap()).unwrap();
    assert_eq!(none.channels, []);
    assert!(none.rust("", "x", "", "").contains("channels: &[],"));
}

#[test]
fn what_is_wrong_with_channels_is_said_with_line_and_key() {
    refused("channels", STAGE, parse);
    let mut many = STAGE.to_owned();
    for i in 0..MAX_CHANNELS - 1 {
        let (mut pins, mut states) = (String::new(), String::new());
        pins += &format!("[[pin]]\nname = \"r{i}\"\ndoc = \"r\"\n\n");
        states += &format!("[[state]]\nname = \"v{i}\"\nprobe = \"dut.v{i}\"\ndoc = \"v\"\n\n");
        many = many.replacen("[[state]]", &(pins + &states + "[[state]]"), 1);
        many += &format!(
            "\n[[channel]]\nname = \"c{i}\"\nside = \"out\"\nvalid = \"v{i}\"\nready = \"r{i}\"\n"
        );
    }
    let line = 1 + many.lines().position(|line| line == "[[channel]]").unwrap();
    let message = format!("design.toml:{line}: channel: 33 of them, and 32 is the most");
    assert_eq!(parse(&many).unwrap_err(), message);
    let key = "channel = 1\ndoc = \"a register between";
    let text = STAGE.replacen("doc = \"a register between", key, 1);
    let text = text.split("[[channel]]").next().unwrap();
    let message = "design.toml:2: channel: not a list of tables, [[channel]]";
    assert_eq!(parse(text).unwrap_err(), message);
}

#[test]
fn a_channel_has_one_clock_and_pins_that_are_there() {
    let clocks = "[[clock]]\nname = \"a\"\nperiod = [1, 2]\ndoc = \"a\"\n\n[[clock]]\nname = \"b\"\nperiod = [1, 2]\ndoc = \"b\"\n\n";
    let two = STAGE.replacen("[[pin]]", &format!("{clocks}[[pin]]"), 1);
    let belongs = |text: &str, name: &str, clock: &str| {
        let name = format!("name = \"{name}\"\n");
        text.replacen(&name, &format!("{name}clock = \"{clock}\"\n"), 1)
    };
    let refused = |text: &str| parse(text).unwrap_err();
    assert_eq!(
        refused(&two),
        "design.toml:53: channel in.valid: in_valid has no clock: of several, one is that of a channel"
    );
    let valid = belongs(&two, "in_valid", "a");
    assert_eq!(
        refused(&valid),
        "design.toml:55: channel in.ready: in_ready has no clock, and in_valid belongs to a"
    );
    let ready = belongs(&valid, "in_ready", "a");
    let other = belongs(&ready, "in_data", "b");
    assert_eq!(
        refused(&other),
        "design.toml:58: channel in.payload: in_data belongs to b, and in_valid belongs to a"
    );
    let mut right = belongs(&ready, "in_data", "a");
    for name in ["out_valid", "out_ready", "out_data"] {
        right = belongs(&right, name, "b");
    }
    let right = parse(&right).unwrap();
    assert_eq!(right.channels[1].clock.as_deref(), Some("b"));

    let parameter = "[[parameter]]\nname = \"FAST\"\ndefault = 0\nrange = [0, 1]\n\n[[pin]]";
    let only = STAGE.replacen("[[pin]]", parameter, 1);
    let ready = "name = \"out_ready\"\n";
    let only = only.replacen(ready, &format!("{ready}only_with = \"FAST\"\n"), 1);
    assert_eq!(
        refused(&only),
        "design.toml:59: channel out.ready: out_ready is not there without FAST"
    );
}

/// `STAGE` with transactions, and `latency` in the table of the channel that it sends on.
fn transactions(head: &str, latency: &str) -> String {
    let withdraws = STAGE.replace("withdraw = true\n", "");
    let headed = withdraws.replacen(
        "two channels.\"\n",
        &format!("two channels.\"\n{head}\n"),
        1,
    );
    headed + latency
}

#[test]
fn the_bench_top_keeps_what_is_offered_only_for_transactions() {
    let text = transactions("transactions = true", "latency = 9\n");
    let latencies = |text: &str| {
        let channels = parse(text).unwrap().channels.into_iter();
        channels.map(|channel| channel.latency).collect::<Vec<_>>()
    };
    assert_eq!(latencies(&text), [None, Some(9)]);
    let payload = "payload = \"in_data\"\n";
    let both = text.replacen(payload, &format!("{payload}latency = 3\n"), 1);
    assert_eq!(latencies(&both), [Some(3), Some(9)]);
    let declared = parse(&text).unwrap();
    let keeps = "if (in_q.in_valid[0] && !(!in_q.rst_n[0]) && !(!in_d.rst_n[0]) && !(now_o.in_ready[0])) begin";
    let top = declared.bench_top(&declared.probes);
    assert!(top.contains(keeps), "{top}");
    assert!(top.contains("in_d.in_data = in_q.in_data;"), "{top}");
    // Neither in the cycle of a clear, nor in the one behind it.
    let clear = "[[pin]]\nname = \"clr\"\nwidth = 2\ndoc = \"Clear.\"\n\n[[state]]";
    let cleared = text.replacen("[[state]]", clear, 1);
    let unless = format!("{payload}unless = \"clr != 0 && pin.out_ready == 0 || clr == 3\"\n");
    let declared = parse(&cleared.replacen(payload, &unless, 1)).unwrap();
    let ends = |pins: &str| {
        let clear = format!("{pins}.clr[1:0] != 2'd0 && {pins}.out_ready[0:0] == 1'd0");
        format!("!(!{pins}.rst_n[0] || {clear} || {pins}.clr[1:0] == 2'd3)")
    };
    let keeps = format!(
        "if (in_q.in_valid[0] && {} && {} && !(now_o.in_ready[0])) begin",
        ends("in_q"),
        ends("in_d")
    );
    let top = declared.bench_top(&declared.probes);
    assert!(top.contains(&keeps), "{top}");
    let code = declared.rust("", "x", "", "");
    assert!(
        code.contains("withdraw: false,\n            unless: &[&["),
        "{code}"
    );
    assert!(
        code.contains("withdraw: false,\n            unless: &[],"),
        "{code}"
    );
    // What may be withdrawn is not kept, and of cycles nothing is.
    for text in [
        STAGE.replacen(
            "two channels.\"\n",
            "two channels.\"\ntransactions = true\n",
            1,
        ),
        STAGE.to_owned(),
    ] {
        let declared = parse(&text).unwrap();
        assert!(
            !declared
                .bench_top(&declared.probes)
                .contains("in_q.in_valid[0] &&")
        );
    }
}

#[test]
fn what_is_wrong_with_transactions_is_said_with_line_and_key() {
    let only_in = transactions("transactions = true", "");
    let only_in = only_in
        .split("[[channel]]\nname = \"out\"")
        .next()
        .unwrap()
        .to_owned();
    let logic = transactions("transactions = true\ncombinational = true", "");
    let logic = logic.replacen(
        "[[pin]]\nname = \"rst_n\"\nport = \"rst_ni\"\nreset = \"low\"\ndoc = \"Reset.\"\n",
        "",
        1,
    );
    for (text, message) in [
        (
            only_in,
            "3: transactions: no channel has side = \"out\": nothing would be compared",
        ),
        (logic, "3: transactions: combinational logic has none"),
        (
            transactions("", "latency = 3\n"),
            "55: channel out.latency: only with `transactions = true` is it known what is owed",
        ),
        (
            transactions("transactions = true", "latency = 0\n"),
            "55: channel out.latency: 0 is not a number from 1 to 100000",
        ),
    ] {
        let error = parse(&text).unwrap_err();
        assert_eq!(error, format!("design.toml:{message}"));
    }
}
