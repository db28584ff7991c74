//! Designs with channels: what their declaration says, and what is wrong in one.

use reconverge_declaration::{Declaration, MAX_CHANNELS, Side, Wire};

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
    let declared = Declaration::parse("x", STAGE).unwrap();
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
    let logic = Declaration::parse("x", &logic).unwrap();
    assert_eq!(logic.channels[1].valid, field(1, true));
    // A design without channels has a list without any.
    let none = Declaration::parse("x", STAGE.split("[[channel]]").next().unwrap()).unwrap();
    assert_eq!(none.channels, []);
    assert!(none.rust("", "x", "", "").contains("channels: &[],"));
}

#[test]
fn what_is_wrong_with_channels_is_said_with_line_and_key() {
    let change = |from: &str, to: &str| {
        assert!(STAGE.contains(from), "{from}");
        STAGE.replacen(from, to, 1)
    };
    let out = "name = \"out\"\nside";
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
    let cases = [
        (many, format!("{line}: channel: 33 of them, and 32 is the most")),
        (
            change("name = \"in\"\nside", "name = \"In\"\nside"),
            "41: channel In.name: \"In\" is not a name: a z".replace("a z", "a to z, 0 to 9 and _, at most 128 of them"),
        ),
        (change(out, "name = \"in\"\nside"), "50: channel in.name: given twice".to_owned()),
        (
            change("side = \"in\"\n", ""),
            "40: channel in.side: missing".to_owned(),
        ),
        (
            change("side = \"in\"\n", "side = \"sink\"\n"),
            "42: channel in.side: must be \"in\" or \"out\"".to_owned(),
        ),
        (
            change("valid = \"in_valid\"\n", ""),
            "40: channel in.valid: missing".to_owned(),
        ),
        (
            change("ready = \"in_ready\"\n", ""),
            "40: channel in.ready: missing".to_owned(),
        ),
        (
            change("valid = \"in_valid\"", "valid = \"in_vald\""),
            "43: channel in.valid: no pin \"in_vald\"".to_owned(),
        ),
        (
            change("ready = \"in_ready\"", "ready = \"in_redy\""),
            "44: channel in.ready: no field \"in_redy\"".to_owned(),
        ),
        (
            change("valid = \"in_valid\"", "valid = \"out_valid\""),
            "43: channel in.valid: out_valid is a field, and with side = \"in\" valid is a pin".to_owned(),
        ),
        (
            change("ready = \"in_ready\"", "ready = \"out_ready\""),
            "44: channel in.ready: out_ready is a pin, and with side = \"in\" ready is a field".to_owned(),
        ),
        (
            change("payload = [\"out_data\"]", "payload = [\"in_data\"]"),
            "54: channel out.payload: in_data is a pin, and with side = \"out\" payload is a field".to_owned(),
        ),
        (
            change("valid = \"in_valid\"", "valid = \"in_data\""),
            "43: channel in.valid: in_data has more than one bit".to_owned(),
        ),
        (
            change("payload = \"in_data\"", "payload = \"rst_n\""),
            "45: channel in.payload: rst_n is a reset, a stall or a clock".to_owned(),
        ),
        (
            change("payload = \"in_data\"", "payload = \"in_valid\""),
            "45: channel in.payload: in_valid belongs to channel in already".to_owned(),
        ),
        (
            change("payload = [\"out_data\"]", "payload = [\"out_data\", \"in_ready\"]"),
            "54: channel out.payload: in_ready belongs to channel in already".to_owned(),
        ),
        (
            change("[\"stall\"]", "[\"transfer\"]"),
            "47: channel in.never: \"transfer\" is not one of back-to-back, stall, long stall, ready alone".to_owned(),
        ),
        (
            change("withdraw = true", "withdraw = 1"),
            "46: channel in.withdraw: neither true nor false".to_owned(),
        ),
        (
            change("withdraw = true", "stable = true"),
            "46: channel in.stable: unknown; known here: name, side, valid, ready, payload, withdraw, never, latency".to_owned(),
        ),
        (
            change("doc = \"a register between", "channel = 1\ndoc = \"a register between"),
            "2: channel: not a list of tables, [[channel]]".to_owned(),
        )
    ];
    for (text, message) in cases {
        // The last one has the key twice.
        let text = match message.starts_with("2: ") {
            true => text.split("[[channel]]").next().unwrap().to_owned(),
            false => text,
        };
        let error = Declaration::parse("x", &text).unwrap_err().to_string();
        assert_eq!(error, format!("x:{message}"));
    }
}

#[test]
fn a_channel_has_one_clock_and_pins_that_are_there() {
    let clocks = "[[clock]]\nname = \"a\"\nperiod = [1, 2]\ndoc = \"a\"\n\n[[clock]]\nname = \"b\"\nperiod = [1, 2]\ndoc = \"b\"\n\n";
    let two = STAGE.replacen("[[pin]]", &format!("{clocks}[[pin]]"), 1);
    let belongs = |text: &str, name: &str, clock: &str| {
        let name = format!("name = \"{name}\"\n");
        text.replacen(&name, &format!("{name}clock = \"{clock}\"\n"), 1)
    };
    let refused = |text: &str| Declaration::parse("x", text).unwrap_err().to_string();
    assert_eq!(
        refused(&two),
        "x:53: channel in.valid: in_valid has no clock: of several, one is that of a channel"
    );
    let valid = belongs(&two, "in_valid", "a");
    assert_eq!(
        refused(&valid),
        "x:55: channel in.ready: in_ready has no clock, and in_valid belongs to a"
    );
    let ready = belongs(&valid, "in_ready", "a");
    let other = belongs(&ready, "in_data", "b");
    assert_eq!(
        refused(&other),
        "x:58: channel in.payload: in_data belongs to b, and in_valid belongs to a"
    );
    let mut right = belongs(&ready, "in_data", "a");
    for name in ["out_valid", "out_ready", "out_data"] {
        right = belongs(&right, name, "b");
    }
    let right = Declaration::parse("x", &right).unwrap();
    assert_eq!(right.channels[1].clock.as_deref(), Some("b"));

    let parameter = "[[parameter]]\nname = \"FAST\"\ndefault = 0\nrange = [0, 1]\n\n[[pin]]";
    let only = STAGE.replacen("[[pin]]", parameter, 1);
    let ready = "name = \"out_ready\"\n";
    let only = only.replacen(ready, &format!("{ready}only_with = \"FAST\"\n"), 1);
    assert_eq!(
        refused(&only),
        "x:59: channel out.ready: out_ready is not there without FAST"
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
    let declared = Declaration::parse("x", &text).unwrap();
    let latencies = declared.channels.iter().map(|channel| channel.latency);
    assert_eq!(latencies.collect::<Vec<_>>(), [None, Some(9)]);
    let keeps = "if (in_q.in_valid[0] && !(!in_q.rst_n[0]) && !(!in_d.rst_n[0]) && !(now_o.in_ready[0])) begin";
    let top = declared.bench_top(&declared.probes);
    assert!(top.contains(keeps), "{top}");
    assert!(top.contains("in_d.in_data = in_q.in_data;"), "{top}");
    // What may be withdrawn is not kept, and of cycles nothing is.
    for text in [
        STAGE.replacen(
            "two channels.\"\n",
            "two channels.\"\ntransactions = true\n",
            1,
        ),
        STAGE.to_owned(),
    ] {
        let declared = Declaration::parse("x", &text).unwrap();
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
    let of_in = transactions("transactions = true", "");
    let of_in = of_in.replacen(
        "payload = \"in_data\"\n",
        "payload = \"in_data\"\nlatency = 3\n",
        1,
    );
    for (text, message) in [
        (
            only_in,
            "3: transactions: no channel has side = \"out\": nothing would be compared",
        ),
        (logic, "3: transactions: combinational logic has none"),
        (
            of_in,
            "47: channel in.latency: the bench sends on this channel",
        ),
        (
            transactions("", "latency = 3\n"),
            "55: channel out.latency: only with `transactions = true` is it known what is owed",
        ),
        (
            transactions("transactions = true", "latency = 0\n"),
            "55: channel out.latency: 0 is not a number from 1 to 100000",
        ),
    ] {
        let error = Declaration::parse("x", &text).unwrap_err().to_string();
        assert_eq!(error, format!("x:{message}"));
    }
}
