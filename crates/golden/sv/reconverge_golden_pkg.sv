// The golden models of Reconverge for a bench in SystemVerilog, by DPI. reconverge_golden.h describes the
// functions. Those with `dpi` in their names pass pins and state as vectors, and return the error message where
// the function of the header returns null, because a SystemVerilog string cannot be null.
//
// Pins and state are vectors of Bits bits with the struct at the lower end. For r500, with the package r500_tb_pkg
// that `reconverge-golden DIR` writes with the bench top:
//
//   in_t'(pins[$bits(in_t)-1:0])        the pins that reconverge_dpi_pins returned
//   vector_t'(state)                     a state_t for reconverge_dpi_compare
package reconverge_golden_pkg;

  // 8 * DPI_BYTES of the library.
  localparam int unsigned Bits = 8 * 1024;
  typedef bit [Bits-1:0] vector_t;

  // Returns the error message of the last call that failed, that is, returned null or a value other than 0.
  import "DPI-C" function string reconverge_error();

  import "DPI-C" function chandle reconverge_golden_new(
    input string unit, input int unsigned lanes, input string parameters
  );
  import "DPI-C" function void reconverge_golden_free(input chandle golden);
  import "DPI-C" function int reconverge_dpi_cycle(input chandle golden, input vector_t pins);
  import "DPI-C" function int reconverge_dpi_state(input chandle golden, output vector_t state);
  // Returns a line for each element that differs, or why the states cannot be compared; "" if none differs.
  import "DPI-C" function string reconverge_dpi_compare(input chandle golden, input vector_t state);
  // Returns the rule by which the last cycle gave the element its value.
  import "DPI-C" function string reconverge_dpi_explain(
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
    input chandle c, input longint unsigned cycle, output vector_t pins
  );
  import "DPI-C" function string reconverge_dpi_disassemble(input chandle c, input int unsigned pc);

endpackage
