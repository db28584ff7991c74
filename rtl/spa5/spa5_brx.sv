// The register operand of a BRX or JMX (spa5-A-d, spa5-A-e): its value in the lowest-numbered active thread, and the
// active threads that have the same value. The only block in which one thread has priority over another.
//
// Corner cases:
// * The lowest active thread is always in the group, so a group is never empty.
// * The registers of threads that are not active are ignored.
// * Without `en_i` both outputs are 0, so that a simulator evaluates nothing here in a cycle without a BRX.

module spa5_brx #(
  parameter int LANES = 32
) (
  input  logic                en_i,
  input  logic [LANES-1:0]    active_i,
  input  logic [32*LANES-1:0] r_i,      // of thread t at [32*t +: 32]

  output logic [31:0]         value_o,
  output logic [LANES-1:0]    group_o
);

  always_comb begin
    value_o = '0;
    group_o = '0;
    if (en_i) begin
      // The last assignment is that of the lowest active thread.
      for (int t = LANES - 1; t >= 0; t--) begin
        if (active_i[t]) value_o = r_i[32*t +: 32];
      end
      for (int t = 0; t < LANES; t++) begin
        group_o[t] = active_i[t] & (r_i[32*t +: 32] == value_o);
      end
    end
  end

endmodule
