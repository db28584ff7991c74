// The golden models of Reconverge for a bench in SystemVerilog, by DPI. What the functions do stands in
// reconverge_golden.h.
//
// Pins and state pass as vectors of Bits bits whose lower end is the struct: for r500, of the package r500_tb_pkg,
// which `reconverge-golden DIR` writes with the bench top,
//
//   in_t'(pins[$bits(in_t)-1:0])        the pins that reconverge_dpi_pins returned
//   bytes_t'(state)                     a state_t for reconverge_dpi_compare
package reconverge_golden_pkg;

  // DPI_BYTES of the library.
  localparam int unsigned Bits = 8 * 1024;
  typedef bit [Bits-1:0] bytes_t;

  // Why the last call that failed did: one that returns null, or not 0.
  import "DPI-C" function string reconverge_error();

  import "DPI-C" function chandle reconverge_golden_new(
    input string unit, input int unsigned lanes, input string parameters
  );
  import "DPI-C" function void reconverge_golden_free(input chandle golden);
  import "DPI-C" function int reconverge_dpi_cycle(input chandle golden, input bytes_t pins);
  import "DPI-C" function int reconverge_dpi_state(input chandle golden, output bytes_t state);
  // A line for each element that differs, or why it cannot be compared; "" if none does.
  import "DPI-C" function string reconverge_dpi_compare(input chandle golden, input bytes_t state);
  import "DPI-C" function string reconverge_golden_explain(
    input chandle golden, input string field, input int unsigned element
  );

  import "DPI-C" function chandle reconverge_case_program(
    input string unit, input int unsigned lanes, input string parameters, input string file, input string which,
    input longint unsigned seed, input int unsigned stall16
  );
  import "DPI-C" function chandle reconverge_case_saved(input string unit, input string file);
  import "DPI-C" function void reconverge_case_free(input chandle c);
  import "DPI-C" function chandle reconverge_case_golden(input chandle c);
  import "DPI-C" function longint unsigned reconverge_case_cycles(input chandle c);
  import "DPI-C" function int reconverge_dpi_pins(
    input chandle c, input longint unsigned cycle, output bytes_t pins
  );
  import "DPI-C" function string reconverge_case_disassemble(input chandle c, input int unsigned pc);

endpackage
