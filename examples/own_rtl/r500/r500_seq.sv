// The module that the bench looks for, with the ports of rtl/r500/r500_seq.sv, around an implementation with names of its
// own. Outputs go through without a register: the core has them registered already.

module r500_seq #(
  parameter int LANES = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             stall_i,
  input  logic             const_we_i,
  input  logic [5:0]       const_addr_i,
  input  logic [31:0]      const_wdata_i,
  input  logic             launch_i,
  input  logic [31:0]      fc_ctrl_i,
  input  logic [31:0]      code_addr_i,
  input  logic [31:0]      code_range_i,
  input  logic [31:0]      code_offset_i,
  output logic [9:0]       pc_o,
  input  logic             inst_valid_i,
  input  logic [31:0]      cmn_inst_i,
  input  logic [31:0]      fc_inst_i,
  input  logic [31:0]      fc_addr_i,
  input  logic [LANES-1:0] alu_i,
  input  logic [LANES-1:0] pred_r_i,
  input  logic [LANES-1:0] pred_g_i,
  input  logic [LANES-1:0] pred_b_i,
  input  logic [LANES-1:0] pred_a_i,
  input  logic [LANES-1:0] cov_i,
  output logic [LANES-1:0] active_o,
  output logic [7:0]       al_o,
  output logic             alu_clr_o,
  output logic             running_o,
  output logic             done_o,
  output logic             halted_o,
  output logic [3:0]       err_o
);

  flow_core #(
    .LANES(LANES)
  ) u_core (
    .hold_i (stall_i),
    .cond_i (alu_i),
    .valid_i(cov_i),
    .fetch_o(pc_o),
    .*
  );

endmodule
