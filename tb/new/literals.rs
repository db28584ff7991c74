//! `new` declares the literals of the RTL's text, from which wide pins are drawn too.

use std::fs;

use super::Module;

/// `b_o` in a module with `more` in its body.
fn module(more: &str) -> String {
    format!(
        "module m(input logic clk_i, input logic rst_ni, input logic [31:0] a_i, output logic b_o);
  // Not 32'h1234_5678.
  /* Nor 4321. */
  localparam logic word_300 = 1'b0;
  initial if (word_300) $display(\"8'hee 200\");
{more}
  always_ff @(posedge clk_i)
    b_o <= rst_ni && (a_i == 32'hDEAD_beef || a_i == 'd100 || a_i[7:0] == 8'shff || a_i[11:0] == 12'o7777 - 12'd63
                      || a_i[6:0] == 7'b1000001 || a_i == 1_000 || a_i[3:0] == 4'bx || a_i == 'hdead_beef);
endmodule
"
    )
}

#[test]
fn literals_of_every_base_are_declared_and_small_ones_are_not() {
    let unit = Module::of(&module(""));
    let new = |options: &[&str]| {
        unit.made(options);
        unit.declared().literals
    };
    let literals = new(&[]);
    assert_eq!(literals, [65, 100, 255, 1000, 0o7777, 0xdead_beef]);

    // What was changed by hand stays, whatever the RTL is now.
    let mine = unit.toml().replace("literals = [65, ", "literals = [7, ");
    fs::write(unit.at.join("rtl/design.toml"), mine).unwrap();
    fs::write(&unit.file, module("  wire w = a_i == 300;")).unwrap();
    let literals = new(&["--update"]);
    assert_eq!(literals, [7, 100, 255, 1000, 0o7777, 0xdead_beef]);

    fs::remove_dir_all(&unit.at).unwrap();
    let many = (0..300).map(|n| format!("  localparam int P{n} = {};\n", 2000 + n));
    fs::write(&unit.file, module(&many.collect::<String>())).unwrap();
    let literals = new(&[]);
    assert_eq!(
        (literals.len(), literals[0], literals[255]),
        (256, 2046, 0xdead_beef)
    );
}
