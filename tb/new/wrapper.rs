//! `new` writes a wrapper for ports that a bench top cannot connect.

use std::fs;

use super::{Module, refusal};

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
    // Regression: registers behind a struct of an interface were said to depend on pins.
    let doubt = "A member of an interface may still be a register, if a struct is behind it: then remove `sampled`\n";
    assert!(said.contains(doubt), "{said}");
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

/// A newer Verilator does not know the type either.
#[test]
fn a_type_that_is_declared_nowhere_is_named_in_the_last_hint() {
    let module = Module::of(
        "module m #(parameter type T = logic) (input T a_i, output T b_o); assign b_o = a_i; endmodule\n",
    );
    let said = refusal(&module.args(&["--type", "T=word_t"]));
    let hint = "hint: --type NAME=TYPE takes a type that the files of the module know, such as `logic [7:0]` or `package::type_t`\n";
    assert!(said.ends_with(hint), "{said}");
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
            &["--type", "LANES=int"],
            "hint: --type is for parameters that are types: --param NAME=VALUE sets another one\n",
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

/// Enums of a package and of no module, in ports and in parameters.
const ENUMS: &str = "package p;
  typedef enum logic [1:0] {Idle = 0, Run = 2, Stop = 3} st_e;
endpackage
typedef enum logic {Left, Right} side_e;
module m import p::*; #(parameter st_e Mode = Idle, parameter int Rows [2] = '{1, 2}, parameter int N = 2) (
  input  logic              clk_i,
  input  st_e               st_i,
  input  side_e             side_i,
  input  p::st_e            list_i [N],
  input  logic [1:0]        plain_i [N],
  input  logic signed [6:0] off_i [2],
  input  int                num_i [2],
  output st_e               all_o [N][2:1],
  output logic [1:0]        mode_o,
  output logic [31:0]       row_o
);
  for (genvar i = 0; i < N; i++) begin : g_all
    always_ff @(posedge clk_i) all_o[i][1] <= side_i == Left ? st_i : list_i[1];
    assign all_o[i][2] = list_i[i];
  end
  assign mode_o = Mode;
  assign row_o  = Rows[1] + 32'(plain_i[0]) + 32'(off_i[0]) + num_i[1];
endmodule
";

/// Regression: a vector was connected to the ports, which slang refuses, so that no mutant was judged. An array kept nothing of its enum.
#[test]
fn ports_with_an_enum_are_cast_to_it() {
    let module = Module::of(ENUMS);
    let said = module.made(&[]);
    assert!(
        said.contains("note: sampled") && !said.contains("interface"),
        "{said}"
    );
    let wrapper = fs::read_to_string(module.at.join("rtl/unit_ports.sv")).unwrap();
    for line in [
        "  p::st_e list_i_net [0:1];",
        "  logic [1:0] plain_i_net [0:1];",
        "  logic signed [6:0] off_i_net [0:1];",
        "  bit signed [31:0] num_i_net [0:1];",
        "  p::st_e all_o_net [0:1][2:1];",
        "    .st_i(p::st_e'(st_i)),",
        "    .side_i(side_e'(side_i)),",
        "    .list_i(list_i_net),",
        "  assign list_i_net[1] = p::st_e'(list_i[2 +: 2]);",
        "  assign off_i_net[1] = off_i[7 +: 7];",
        "  assign all_o[0 +: 2] = all_o_net[0][1];",
    ] {
        assert!(wrapper.lines().any(|one| one == line), "{line}: {wrapper}");
    }
    let unit = module.declared();
    let values = |name: &str| {
        &unit
            .pins
            .iter()
            .find(|pin| pin.name == name)
            .unwrap()
            .values
    };
    assert_eq!(
        (values("st"), values("list")),
        (&vec![0, 2, 3], &vec![0, 2, 3])
    );
    assert!(values("plain").is_empty());
    let all = unit.state.iter().find(|field| field.name == "all").unwrap();
    assert_eq!(
        all.show,
        reconverge_declaration::Show::Enum("st_e".to_owned())
    );
}

/// Regression: a note advised `--param`, which refused a name, and Verilator the number.
#[test]
fn a_parameter_of_an_enum_takes_a_name_and_a_number() {
    let note = "note: parameter Mode is not declared: its default is Idle of enum p::st_e; --param Mode=VALUE gives one, a number or a name\n";
    let array = "note: parameter Rows is not declared: it is an array; --type Rows=VALUE gives it a value in a wrapper\n";
    let plain = ENUMS.split_once("module").unwrap().0.to_owned()
        + "module m #(parameter p::st_e Mode = p::Idle, parameter int Rows [2] = '{1, 2}, parameter int N = 2)\n\
           (input logic a_i, output logic [1:0] mode_o); assign mode_o = Mode; endmodule\n";
    // The second one needs no wrapper for its ports.
    for (rtl, default) in [(ENUMS, "Idle"), (&plain, "p::Idle")] {
        let note = note.replace("Idle", default);
        let module = Module::of(rtl);
        let said = module.made(&[]);
        assert!(said.contains(&note) && said.contains(array), "{said}");
        for value in ["p::Run", "Run", "2"] {
            fs::remove_dir_all(&module.at).unwrap();
            let value = format!("Mode={value}");
            let said = module.made(&["--param", &value, "--type", "Rows='{3, 4}"]);
            assert!(!said.contains("is not declared"), "{said}");
            let wrapper = fs::read_to_string(module.at.join("rtl/unit_ports.sv")).unwrap();
            let set = ".Mode(p::st_e'(Mode)), .N(N), .Rows('{3, 4})";
            assert!(wrapper.contains(set), "{wrapper}");
            let unit = module.declared();
            let mode = unit.parameters.iter().find(|of| of.name == "Mode").unwrap();
            assert_eq!((mode.default, mode.range), (2, (2, 2)));
        }
        fs::remove_dir_all(&module.at).unwrap();
        let values = "the enum p::st_e has the values Idle = 0, Run = 2, Stop = 3";
        for (value, said) in [
            ("Mode=Go", values),
            ("Mode=q::Run", values),
            ("Mode=1", values),
            (
                "N=Run",
                "--param: N: `Run` is not a number, and it has no enum",
            ),
            (
                "Rows=1",
                "--param: Rows: it is an array; --type Rows=VALUE gives it a value",
            ),
        ] {
            module.refused(&["--param", value], said);
        }
    }
}

/// Interfaces whose number a parameter gives that is a struct.
const CONFIGURED: &str = "package p;
  typedef struct packed { int unsigned Ports; int unsigned Width; } cfg_t;
  localparam cfg_t Two = '{Ports: 2, Width: 8};
endpackage
interface bus; logic [3:0] d; modport in (input d); endinterface
module m import p::*; #(parameter cfg_t Cfg = Two, localparam int N = Cfg.Ports, parameter int W = 4) (
  bus.in a [N-1:0], output logic [Cfg.Width-1:0] sum_o);
  assign sum_o = Cfg.Width'(a[0].d) + Cfg.Width'(W);
endmodule
";

/// Regression: the wrapper named the parameter and did not have it.
#[test]
fn a_struct_may_give_the_number_of_interfaces() {
    let module = Module::of(CONFIGURED);
    let said = module.made(&[]);
    let note = "note: parameter Cfg is not declared: it is a struct; --type Cfg=VALUE gives it a value in a wrapper\n";
    assert!(said.contains(note), "{said}");
    for (options, cfg, set, width) in [
        (&[][..], "Two", "#(.W(W))", 8),
        (
            &["--type", "Cfg='{Ports: 3, Width: 5}"],
            "'{Ports: 3, Width: 5}",
            "#(.W(W), .Cfg('{Ports: 3, Width: 5}))",
            12,
        ),
    ] {
        let _ = fs::remove_dir_all(&module.at);
        module.made(options);
        let wrapper = fs::read_to_string(module.at.join("rtl/unit_ports.sv")).unwrap();
        let constants = format!(
            "  import p::*;\n  localparam cfg_t Cfg = {cfg};\n  localparam int N = Cfg.Ports;\n  bus a [N-1:0] ();\n  m {set} u_m ("
        );
        assert!(wrapper.contains(&constants), "{wrapper}");
        let unit = module.declared();
        let pin = unit.pins.iter().find(|pin| pin.name == "a_d").unwrap();
        assert_eq!(pin.shape.count() as u32 * 4, width);
    }
}

/// Regression: Verilator 5.006 refused the wrapper, because no text has a name for the enum.
#[test]
fn an_enum_of_an_interface_is_connected() {
    let module = Module::of(
        "interface bus; typedef enum logic [1:0] {Idle, Run, Stop = 3} st_e; st_e st; modport in (input st); endinterface
module m (bus.in a, output logic runs_o); assign runs_o = a.st == 2'd1; endmodule
",
    );
    module.made(&[]);
    let unit = module.declared();
    let pin = unit.pins.iter().find(|pin| pin.name == "a_st").unwrap();
    assert_eq!(pin.values, [0, 1, 3]);
}
