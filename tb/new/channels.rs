//! `new` proposes channels, and `--update` leaves those of the declaration as they are.

use std::fs;

use reconverge_declaration::{Declaration, Side};

use super::{Module, refused};

const RTL: &str =
    "module m(input logic clk_i, input logic rst_ni, input logic req_valid_i, input logic [7:0] req_data_i, input logic [1:0] req_id_i,
         output logic req_ready_o, output logic m_tvalid_o, output logic [7:0] m_tdata_o, input logic m_tready_i,
         input logic valid_i, output logic ready_o, input logic lone_valid_i, input logic [1:0] wide_valid_i, output logic [1:0] wide_ready_o,
         output logic req_rsp_valid_o, input logic req_rsp_ready_i);
  logic q;
  always_ff @(posedge clk_i) q <= rst_ni && ^{req_valid_i, req_data_i, req_id_i, m_tready_i, valid_i, lone_valid_i, wide_valid_i, req_rsp_ready_i};
  assign {req_ready_o, m_tvalid_o, m_tdata_o, ready_o, wide_ready_o, req_rsp_valid_o} = {14{q}};
endmodule
";

#[test]
fn channels_are_proposed_by_the_names_of_ports_and_an_update_keeps_them() {
    let module = Module::of(RTL);
    let (file, toml) = (&module.file, module.at.join("rtl/design.toml"));
    let said = module.made(&[]);
    let note = "note: channels that the names of ports suggest are comments at the end of rtl/design.toml: req, sink, m, req_rsp\n";
    assert!(said.contains(note), "{said}");
    let written = module.toml();
    assert_eq!(Declaration::parse("x", &written).unwrap().channels, []);
    // Above all tables, and of no effect before channels are declared.
    let above = written.split("\n[").next().unwrap();
    assert!(above.contains("\n# transactions = true\n"), "{written}");
    // As the comment says: without the `# ` of their lines.
    let (before, proposed) = written.split_once("\n#\n# [[channel]]").unwrap();
    let proposed = format!("#\n# [[channel]]{proposed}");
    let taken: String = proposed
        .lines()
        .map(|line| format!("{}\n", line.strip_prefix("# ").unwrap_or("")))
        .collect();
    let mine = format!("{before}\n{taken}withdraw = true # by hand\n");
    let declared = Declaration::parse("x", &mine).unwrap();
    let [req, sink, m, answer] = &declared.channels[..] else {
        panic!("{mine}");
    };
    assert_eq!(
        (req.name.as_str(), req.side, req.payload.len()),
        ("req", Side::In, 2)
    );
    // Regression: ports that are called nothing but valid and ready were no channel.
    assert_eq!(
        (sink.name.as_str(), sink.side, sink.payload.len()),
        ("sink", Side::In, 0)
    );
    assert_eq!(
        (m.name.as_str(), m.side, m.payload.len()),
        ("m", Side::Out, 1)
    );
    // Regression: it was payload of `req`, too, because its name begins alike.
    assert_eq!(
        (answer.name.as_str(), answer.side, answer.payload.len()),
        ("req_rsp", Side::Out, 0)
    );
    fs::write(&toml, &mine).unwrap();

    let said = module.made(&["--update"]);
    assert!(said.contains("the ports are as declared"));
    assert_eq!(module.toml(), mine);
    let more = RTL.replace(
        "output logic ready_o",
        "output logic ready_o, output logic more_o",
    );
    let more = more.replace("assign {", "assign more_o = q;\n  assign {");
    fs::write(file, &more).unwrap();
    assert!(module.made(&["--update"]).contains("added state more"));
    let now = module.toml();
    let tables = mine.find("[[channel]]").unwrap();
    assert!(now.ends_with(&mine[tables..]), "{now}");
    assert_eq!(Declaration::parse("x", &now).unwrap().channels.len(), 4);

    // A channel cannot lose a port unnoticed, and nothing is written.
    let less = more
        .replace("input logic [1:0] req_id_i,", "")
        .replace("req_id_i, ", "");
    fs::write(file, less).unwrap();
    let update = module.args(&["--update"]);
    refused(&update, "cannot be brought up to date: ");
    refused(&update, "channel req.payload: no pin \"req_id\"");
    assert_eq!(module.toml(), now);
}

/// The names of many modules with one channel on each side.
#[test]
fn ports_that_are_called_nothing_but_valid_and_ready_are_sink_and_source() {
    let rtl = "module m(input logic clk_i, input logic rst_ni, input logic flush_i, input logic low_clr_i, input logic [1:0] wide_clr_i, input logic valid_i, input logic [7:0] data_i,
         input logic last_i, output logic ready_o, output logic valid_o, output logic [7:0] data_o, output logic full_o, input logic ready_i);
  always_ff @(posedge clk_i) {valid_o, data_o} <= rst_ni && !flush_i && !low_clr_i && !wide_clr_i[0] && !full_o ? {valid_i, data_i} : '0;
  assign {ready_o, full_o} = {ready_i, last_i};
endmodule
";
    let module = Module::of(rtl);
    module.made(&[]);
    let toml = module.toml();
    for (name, side, payload) in [
        ("sink", "in", r#"["data", "last"]"#),
        ("source", "out", r#"["data"]"#),
    ] {
        let proposed = format!(
            "# [[channel]]\n# name = {name:?}\n# side = {side:?}\n# valid = \"valid\"\n# ready = \"ready\"\n# payload = {payload}\n\
             # # unless = \"flush == 1 || low_clr == 1\" # if that takes back what is offered\n"
        );
        assert!(toml.contains(&proposed), "{toml}");
    }
    let taken = toml.replace("# [[channel]]", "[[channel]]");
    let keys = ["name", "side", "valid", "ready", "payload"];
    let taken = keys.iter().fold(taken, |text, key| {
        text.replace(&format!("\n# {key} = "), &format!("\n{key} = "))
    });
    assert_eq!(Declaration::parse("x", &taken).unwrap().channels.len(), 2);
    let unless = taken.replace("\n# # unless", "\nunless");
    let channels = Declaration::parse("x", &unless).unwrap().channels;
    assert!(
        channels.iter().all(|channel| channel.unless.is_some()),
        "{unless}"
    );
}
