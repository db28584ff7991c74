// A bench in SystemVerilog, by DPI: RTL against golden model, cycle by cycle.
//
//   +programs=FILE,FILE... +seeds=N      seeds 1 to N of each program
//
// Compiled with UNIT, the name of the unit as a string, TB and PKG, the bench top and its package.
module bench;

  import reconverge_golden_pkg::*;
  import `PKG::*;

  logic clk = 1'b0;
  in_t pins;
  state_t state;

  `TB u_tb (
    .clk_i(clk),
    .in_i(pins),
    .golden_i('0),
    .bench_i(1'b0),
    .load_i(1'b0),
    .state_o(state),
    .mismatch_o()
  );

  int unsigned runs;
  longint unsigned cycles;

  task automatic run(string program_file, longint unsigned seed);
    chandle c, golden;
    longint unsigned last;
    vector_t vector;
    string differs;
    c = reconverge_case_program(`UNIT, 0, "", program_file, "", seed, 32'(seed % 4));
    if (c == null) $fatal(1, "%s", reconverge_error());
    golden = reconverge_case_golden(c);
    if (golden == null) $fatal(1, "%s", reconverge_error());
    last = reconverge_case_cycles(c);
    for (longint unsigned cycle = 0; cycle <= last; cycle++) begin
      // One more cycle shows the state after the last one; its pins do not matter.
      if (reconverge_dpi_pins(c, cycle < last ? cycle : last - 1, vector) != 0) $fatal(1, "%s", reconverge_error());
      pins = in_t'(vector[$bits(in_t)-1:0]);
      #1 clk = 1'b1;
      #1;
      // Before the first cycle of the reset there is nothing to compare.
      if (cycle > 0) begin
        differs = reconverge_dpi_compare(golden, vector_t'(state));
        if (differs != "") begin
          $display("%s, seed %0d: after cycle %0d\n%s", program_file, seed, cycle - 1, differs);
          $display("next instruction of the RTL: %s", reconverge_dpi_disassemble(c, 32'(state.pc)));
          $display("pc of the golden model: %s", reconverge_dpi_explain(golden, "pc", 0));
          $fatal(1, "RTL and golden model differ");
        end
        cycles++;
      end
      if (cycle < last && reconverge_dpi_cycle(golden, vector) != 0) $fatal(1, "%s", reconverge_error());
      clk = 1'b0;
    end
    reconverge_golden_free(golden);
    reconverge_case_free(c);
  endtask

  initial begin
    string programs;
    int unsigned seeds;
    int from;
    if ($value$plusargs("programs=%s", programs) == 0 || $value$plusargs("seeds=%d", seeds) == 0 || seeds == 0)
      $fatal(1, "usage: +programs=FILE,FILE... +seeds=N");
    for (int i = 0; i <= programs.len(); i++) begin
      if (i == programs.len() || programs[i] == ",") begin
        for (int unsigned seed = 1; seed <= seeds; seed++) begin
          run(programs.substr(from, i - 1), longint'(seed));
          runs++;
        end
        from = i + 1;
      end
    end
    $display("%s: %0d runs, %0d cycles agree", `UNIT, runs, cycles);
    $finish;
  end

endmodule
