//! Ports that `new` declares in another form than their types have, and ports of which a wrapper cannot be made.

use super::Module;
use super::types::made;

/// Regression: they were split as ports of more than 64 bits are, so that the whole port had two pins.
#[test]
fn a_port_with_several_bits_for_each_lane_is_one_pin() {
    let rtl = "module m #(parameter int LANES = 4) (input logic clk_i, input logic [LANES-1:0][3:0] x_i, output logic y_o);
  always_ff @(posedge clk_i) y_o <= ^x_i;
endmodule
";
    let (declared, _) = made(rtl, &[]);
    let lanes = |width| reconverge_declaration::Shape::Words { width, count: None };
    let pins = declared
        .pins
        .iter()
        .map(|pin| (pin.name.as_str(), pin.shape));
    assert_eq!(pins.collect::<Vec<_>>(), [("x", lanes(4))]);
}

/// Regression: each ended in the message of the declaration.
#[test]
fn what_is_beyond_a_limit_of_the_declaration_is_a_number() {
    let fits = "a_member_with_a_name_of_more_than_sixty_four_characters_as_generators_write";
    let many: String = (0..300).map(|i| format!("logic [1:0] f{i}; ")).collect();
    let rtl = format!(
        "typedef struct packed {{ {many}}} many_t;
typedef struct packed {{ logic a; logic {fits}; }} inner_t;
typedef struct packed {{ inner_t in; logic b; }} nested_t;
typedef struct packed {{ inner_t {fits}; logic b; }} long_t;
typedef enum logic [63:0] {{A = 64'h0, B = 64'hf000000000000000}} e_t;
module m(input logic clk_i, input long_t named_i, input nested_t nested_i, input many_t many_i, input logic [4999:0][1:0] list_i, input e_t e_i, output logic q_o);
  always_ff @(posedge clk_i) q_o <= ^{{named_i, nested_i, many_i, list_i, e_i}};
endmodule
"
    );
    let (declared, said) = made(&rtl, &[]);
    assert!(declared.enums.is_empty());
    for name in ["e", "list", "many", "named"] {
        assert!(declared.pins.iter().any(|pin| pin.name == name), "{name}");
    }
    // Regression: 64 characters were the most.
    let nested = ["in_a".to_owned(), format!("in_{fits}"), "b".to_owned()];
    for name in nested.map(|member| format!("nested_{member}")) {
        assert!(declared.pins.iter().any(|pin| pin.name == name), "{name}");
    }
    for note in [
        "note: named_i is one number: a name has 128 characters at most",
        "note: many_i is one number: a declaration has 256 pins at most",
        "note: list_i is one number: a pin or field has 4096 elements at most",
    ] {
        assert!(said.contains(note), "{note}: {said}");
    }
}

/// Regression: Verilator told it, of the file that `new` had written.
#[test]
fn two_signals_of_one_name_in_a_wrapper_are_refused() {
    let rtl = "module m(input logic pad_in, inout wire pad, output logic q_o); assign q_o = pad & pad_in; endmodule\n";
    let said = "m: its wrapper would have two signals of the name pad_in: rename one of its ports";
    Module::of(rtl).refused(&[], said);
}

/// Verilator says of a whole port that it depends on inputs.
#[test]
fn a_sampled_port_with_several_members_is_told_as_one() {
    let rtl = "typedef struct packed { logic a; logic b; } s_t;
module m(input logic clk_i, input logic x_i, output s_t s_o);
  logic q;
  always_ff @(posedge clk_i) q <= x_i;
  assign s_o = '{a: q, b: x_i};
endmodule
";
    let (_, said) = made(rtl, &[]);
    assert!(
        said.contains("s_o (all 2 parts, though one may do so alone)"),
        "{said}"
    );
}
