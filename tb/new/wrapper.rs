//! `new` writes a wrapper for ports that a bench top cannot connect.

use std::fs;

use super::Module;

const RTL: &str = "interface bus #(parameter int W = 8) (input logic clk_i);
  logic [W-1:0] d;
  logic         v, r;
  modport src (output d, v, input r);
  modport dst (input d, v, output r);
endinterface
module m #(parameter int N = 2, parameter type T = logic, parameter type S = logic) (
  input  logic       clk_i,
  bus.dst            b_i, more_i [N],
  bus.src            b_o,
  input  logic [3:0] list_i [N][3:2],
  output T           t_o,
  inout  wire  [3:0] pad
);
  assign b_o.d = b_i.d;
  assign b_o.v = b_i.v;
  assign b_i.r = b_o.r;
  assign more_i[0].r = more_i[1].v;
  assign more_i[1].r = more_i[0].d[0];
  assign pad   = list_i[1][2][0] ? list_i[0][3] : 'z;
  always_ff @(posedge clk_i) t_o <= T'(b_i.d);
endmodule
";

/// Regression: interfaces ended in Verilator's internal error, and arrays, inouts and types had to be wrapped by hand.
#[test]
fn interfaces_arrays_inouts_and_types_get_a_wrapper() {
    let module = Module::of(RTL);
    let given = [
        "T=logic [6:0]",
        "S=struct packed {logic a;}",
        "b_o=bus #(.W(12))",
    ];
    let given = given.map(|of| ["--type", of]).concat();
    let (said, at) = (module.made(&given), &module.at);
    assert!(
        said.contains("  rtl/unit_ports.sv  a wrapper around the module"),
        "{said}"
    );
    let list = fs::read_to_string(at.join("rtl/unit.f")).unwrap();
    assert!(list.ends_with("m.sv\nunit_ports.sv\n"), "{list}");
    let wrapper = fs::read_to_string(at.join("rtl/unit_ports.sv")).unwrap();
    for line in [
        "//   * parameter T is logic [6:0]",
        "//   * list_i is an unpacked array [0:1][3:2]: the element with the least index is the lowest",
        "//   * pad is an inout: pad_in drives it while pad_oe is 1; pad_out is its value, 0 if nothing drives it",
        "//   * b_i is the interface bus, modport dst: its member M is b_i_M",
        "  parameter int unsigned N = 2",
        "  bus more_i [N] (.clk_i(clk_i));",
        "  bus #(.W(12)) b_o (.clk_i(clk_i));",
        // Regression: slang reads no type with members as a value.
        "  typedef struct packed {logic a;} u_m_S;",
        "  m #(.N(N), .T(logic [6:0]), .S(u_m_S)) u_m (",
        "  assign list_i_net[1][2] = list_i[8 +: 4];",
        "  assign more_i[1].d = more_i_d[8 +: 8];",
        "  assign pad_net = pad_oe ? pad_in : 'z;",
    ] {
        assert!(wrapper.lines().any(|one| one == line), "{line}: {wrapper}");
    }
    let toml = module.toml();
    assert!(toml.contains("`probe = \"dut.u_m.level_q\"`"), "{toml}");
    let unit = module.declared();
    assert_eq!(
        (unit.top.as_str(), unit.clock.as_str()),
        ("unit_ports", "clk_i")
    );
    let bits = |shape: reconverge_declaration::Shape| match shape {
        reconverge_declaration::Shape::Words { width, count } => (width, count.unwrap()),
        other => panic!("{other:?}"),
    };
    let pins = unit
        .pins
        .iter()
        .map(|pin| (pin.name.as_str(), bits(pin.shape)));
    let mut pins: Vec<_> = pins.collect();
    pins.sort_unstable();
    assert_eq!(
        pins,
        [
            ("b_i_d", (8, 1)),
            ("b_i_v", (1, 1)),
            ("b_o_r", (1, 1)),
            ("list", (4, 4)),
            ("more_i_d", (8, 2)),
            ("more_i_v", (1, 2)),
            ("p_pad_in", (4, 1)),
            ("p_pad_oe", (1, 1)),
        ]
    );
    let fields = unit
        .state
        .iter()
        .map(|field| (field.name.as_str(), bits(field.shape), field.sampled));
    let mut fields: Vec<_> = fields.collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            ("b_i_r", (1, 1), true),
            ("b_o_d", (12, 1), true),
            ("b_o_v", (1, 1), true),
            ("more_i_r", (1, 2), true),
            ("p_pad_out", (4, 1), true),
            ("t", (7, 1), false),
        ]
    );
}

#[test]
fn what_no_wrapper_connects_is_refused() {
    let lanes = "module m #(parameter int LANES = 4) (input logic [LANES-1:0] a_i [2], output logic b_o);\nassign b_o = a_i[0][0]; endmodule\n";
    for (rtl, options, said) in [
        (
            "module m(input real r_i, input logic a_i [2], output logic b_o); assign b_o = a_i[0]; endmodule\n",
            &[][..],
            "m: port r_i is not made of bits",
        ),
        (
            lanes,
            &["--lanes", "LANES"],
            "the ports of m need a wrapper, whose widths are those of one number of lanes",
        ),
        (
            lanes,
            &["--type", "T=logic"],
            "hint: --type names a type parameter of the module, or a port that is an interface",
        ),
        (
            lanes,
            &["--type", "T"],
            "invalid value 'T' for '--type <NAME=TYPE>': no =",
        ),
    ] {
        Module::of(rtl).refused(options, said);
    }
}
