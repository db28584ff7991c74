// One cycle of r500, for the proof that the RTL does the same (docs/proofs.md). Written from docs/spec/r500.md alone, lane
// by lane and in the steps of r500-4.5, without regard to size or speed. Only the names of the registers are taken from the
// RTL: they are the names of the inputs, with `__` for the dot.
//
//   next__NAME   what register NAME holds after the cycle
//   out__NAME    what output NAME shows in the cycle
//   prove__NAME  holds in every cycle that begins in a state that rtl/r500/r500_formal.sv allows
//   said__NAME   a value that no register of the RTL holds: for tb/r500/step_sv.rs
//
// Registers that only repeat others (active_q, al_top_q) are not read.

module r500_step #(
  parameter int LANES = 16
) (
  // State.
  input logic [LANES-1:0] u_lanes__st0_q,
  input logic [LANES-1:0] u_lanes__st1_q,
  input logic [LANES-1:0] u_lanes__bc0_q,
  input logic [LANES-1:0] u_lanes__bc1_q,
  input logic [LANES-1:0] u_lanes__bc2_q,
  input logic [LANES-1:0] u_lanes__bc3_q,
  input logic [LANES-1:0] u_lanes__bc4_q,
  input logic [LANES-1:0] u_lanes__lc0_q,
  input logic [LANES-1:0] u_lanes__lc1_q,
  input logic [3:0]       u_loop_stack__rep_q,
  input logic [31:0]      u_loop_stack__count_q,
  input logic [31:0]      u_loop_stack__al_q,
  input logic [2:0]       u_loop_stack__depth_q,
  input logic [39:0]      u_addr_stack__addr_q,
  input logic [2:0]       u_addr_stack__depth_q,
  input logic [767:0]     u_consts__int_q,
  input logic [31:0]      u_consts__bool_q,
  input logic             running_q,
  input logic             done_q,
  input logic             halted_q,
  input logic [3:0]       err_q,
  input logic             alu_clr_q,
  input logic [9:0]       pc_q,
  input logic             full_q,
  input logic [9:0]       offset_q,
  input logic [9:0]       end_q,
  input logic [9:0]       lo_q,
  input logic [9:0]       hi_q,

  // Inputs of the cycle.
  input logic             rst_ni,
  input logic             stall_i,
  input logic             const_we_i,
  input logic [5:0]       const_addr_i,
  input logic [31:0]      const_wdata_i,
  input logic             launch_i,
  input logic [31:0]      fc_ctrl_i,
  input logic [31:0]      code_addr_i,
  input logic [31:0]      code_range_i,
  input logic [31:0]      code_offset_i,
  input logic             inst_valid_i,
  input logic [31:0]      cmn_inst_i,
  input logic [31:0]      fc_inst_i,
  input logic [31:0]      fc_addr_i,
  input logic [LANES-1:0] alu_i,
  input logic [LANES-1:0] pred_r_i,
  input logic [LANES-1:0] pred_g_i,
  input logic [LANES-1:0] pred_b_i,
  input logic [LANES-1:0] pred_a_i,
  input logic [LANES-1:0] cov_i,

  output logic [LANES-1:0] next__u_lanes__active_q,
  output logic [LANES-1:0] next__u_lanes__st0_q,
  output logic [LANES-1:0] next__u_lanes__st1_q,
  output logic [LANES-1:0] next__u_lanes__bc0_q,
  output logic [LANES-1:0] next__u_lanes__bc1_q,
  output logic [LANES-1:0] next__u_lanes__bc2_q,
  output logic [LANES-1:0] next__u_lanes__bc3_q,
  output logic [LANES-1:0] next__u_lanes__bc4_q,
  output logic [LANES-1:0] next__u_lanes__lc0_q,
  output logic [LANES-1:0] next__u_lanes__lc1_q,
  output logic [3:0]       next__u_loop_stack__rep_q,
  output logic [31:0]      next__u_loop_stack__count_q,
  output logic [31:0]      next__u_loop_stack__al_q,
  output logic [2:0]       next__u_loop_stack__depth_q,
  output logic [7:0]       next__u_loop_stack__al_top_q,
  output logic [39:0]      next__u_addr_stack__addr_q,
  output logic [2:0]       next__u_addr_stack__depth_q,
  output logic [767:0]     next__u_consts__int_q,
  output logic [31:0]      next__u_consts__bool_q,
  output logic             next__running_q,
  output logic             next__done_q,
  output logic             next__halted_q,
  output logic [3:0]       next__err_q,
  output logic             next__alu_clr_q,
  output logic [9:0]       next__pc_q,
  output logic             next__full_q,
  output logic [9:0]       next__offset_q,
  output logic [9:0]       next__end_q,
  output logic [9:0]       next__lo_q,
  output logic [9:0]       next__hi_q,

  output logic [9:0]       out__pc_o,
  output logic [LANES-1:0] out__active_o,
  output logic [7:0]       out__al_o,
  output logic             out__alu_clr_o,
  output logic             out__running_o,
  output logic             out__done_o,
  output logic             out__halted_o,
  output logic [3:0]       out__err_o,

  // Every number that the specification computes fits the register that holds it.
  output logic             prove__widths
);

  localparam logic [1:0] Active = 2'd0, Branch = 2'd1, Cont = 2'd2, Brk = 2'd3;

  // ---- step 0: decode (r500-2.2 to r500-2.5) ----------------------------------------------------------

  wire       is_fc    = cmn_inst_i[1:0] == 2'd2;
  wire [2:0] pred_sel = cmn_inst_i[5:3];
  wire       pred_inv = cmn_inst_i[6];

  wire [2:0] op       = fc_inst_i[2:0];
  wire       b_else   = fc_inst_i[4];
  wire       jump_any = fc_inst_i[5];
  wire [1:0] a_op     = fc_inst_i[7:6];
  wire [7:0] func     = fc_inst_i[15:8];
  wire [4:0] pop_cnt  = fc_inst_i[20:16];
  wire [1:0] b_op0    = fc_inst_i[25:24];
  wire [1:0] b_op1    = fc_inst_i[27:26];
  wire       ignored  = fc_inst_i[28];

  wire [4:0] bool_addr   = fc_addr_i[4:0];
  wire [4:0] int_addr    = fc_addr_i[12:8];
  wire [8:0] jump_addr   = fc_addr_i[24:16];
  wire       jump_global = fc_addr_i[31];

  wire is_loop      = op == 3'd1;
  wire is_endloop   = op == 3'd2;
  wire is_rep       = op == 3'd3;
  wire is_endrep    = op == 3'd4;
  wire is_breakloop = op == 3'd5;
  wire is_breakrep  = op == 3'd6;
  wire is_cont      = op == 3'd7;
  wire is_begin     = is_loop || is_rep;
  wire is_end       = is_endloop || is_endrep;
  wire is_break     = is_breakloop || is_breakrep;

  wire        boolean  = u_consts__bool_q[bool_addr];
  wire [23:0] constant = u_consts__int_q[24*int_addr +: 24];
  wire [7:0]  kr       = constant[7:0];
  wire [7:0]  kg       = constant[15:8];
  wire [7:0]  kb       = constant[23:16];

  // ---- the top of both stacks (r500-3.2) --------------------------------------------------------------

  wire [2:0] loops = u_loop_stack__depth_q;
  wire [2:0] addrs = u_addr_stack__depth_q;

  logic       top_rep;
  logic [7:0] top_count, top_al;
  logic [9:0] top_addr;
  always_comb begin
    case (loops)
      3'd1:    {top_rep, top_count, top_al} = {u_loop_stack__rep_q[0], u_loop_stack__count_q[7:0], u_loop_stack__al_q[7:0]};
      3'd2:    {top_rep, top_count, top_al} = {u_loop_stack__rep_q[1], u_loop_stack__count_q[15:8], u_loop_stack__al_q[15:8]};
      3'd3:    {top_rep, top_count, top_al} = {u_loop_stack__rep_q[2], u_loop_stack__count_q[23:16], u_loop_stack__al_q[23:16]};
      3'd4:    {top_rep, top_count, top_al} = {u_loop_stack__rep_q[3], u_loop_stack__count_q[31:24], u_loop_stack__al_q[31:24]};
      default: {top_rep, top_count, top_al} = 17'd0;
    endcase
    case (addrs)
      3'd1:    top_addr = u_addr_stack__addr_q[9:0];
      3'd2:    top_addr = u_addr_stack__addr_q[19:10];
      3'd3:    top_addr = u_addr_stack__addr_q[29:20];
      3'd4:    top_addr = u_addr_stack__addr_q[39:30];
      default: top_addr = 10'd0;
    endcase
  end

  // ---- step 1: checks that need no decision; the lowest code wins (r500-6-b) --------------------------

  wire illegal   = a_op == 2'd3 || b_op0 == 2'd3 || b_op1 == 2'd3 || pred_sel == 3'd1 || pred_sel == 3'd6 || pred_sel == 3'd7;
  wire partial   = !full_q && (op != 3'd0 || a_op != 2'd0);
  wire in_a_loop = is_end || is_break || is_cont;
  wire underflow = in_a_loop && loops == 3'd0;
  wire kind      = loops != 3'd0 && (((is_endloop || is_breakloop) && top_rep) || ((is_endrep || is_breakrep) && !top_rep));

  wire [3:0] early = illegal ? 4'd1 : partial ? 4'd2 : underflow ? 4'd3 : kind ? 4'd4 : 4'd0;

  // ---- step 4: iteration counts ----------------------------------------------------------------------

  wire [7:0] left        = top_count - 8'd1;
  wire       forces_jump = is_begin && kr == 8'd0;
  wire       forces_stay = is_end && left == 8'd0;
  wire       forced      = forces_jump || forces_stay;

  // ---- steps 2, 3, 7: lanes --------------------------------------------------------------------------

  // For the whole unit; decided below.
  wire jump, push_loop, pop_loop, starts, executes;

  wire [1:0] b_op   = jump ? b_op1 : b_op0;
  wire [4:0] bc_max = full_q ? 5'd31 : 5'd3;

  // Bit i of each is lane i; the decision uses all lanes.
  wire [LANES-1:0] votes, wants, holds_back, too_deep, wide;

  for (genvar i = 0; i < LANES; i++) begin : g_lane
    wire [1:0] st = {u_lanes__st1_q[i], u_lanes__st0_q[i]};
    wire [4:0] bc = {u_lanes__bc4_q[i], u_lanes__bc3_q[i], u_lanes__bc2_q[i], u_lanes__bc1_q[i], u_lanes__bc0_q[i]};
    wire [1:0] lc = {u_lanes__lc1_q[i], u_lanes__lc0_q[i]};

    // Step 2: B_ELSE, then the return of CONT lanes.
    wire       else_off = b_else && st == Active;
    wire       else_on  = b_else && st == Branch && bc == 5'd0;
    wire [1:0] st_else  = else_off ? Branch : else_on ? Active : st;
    wire [4:0] bc_2     = else_off ? 5'd0 : bc;
    wire [1:0] st_2     = is_end && st_else == Cont && lc == 2'd0 ? Active : st_else;

    // Step 3: what the lane wants.
    wire predicate = (pred_sel == 3'd0 ? 1'b1 :
                      pred_sel == 3'd2 ? pred_r_i[i] :
                      pred_sel == 3'd3 ? pred_g_i[i] :
                      pred_sel == 3'd4 ? pred_b_i[i] : pred_a_i[i]) ^ pred_inv;
    wire [2:0] row  = {alu_i[i], predicate, boolean};
    wire       want = forces_jump ? 1'b1 :
                      forces_stay ? 1'b0 :
                      st_2 == Active ? func[row] :
                      else_off ? 1'b1 : 1'b0;

    // Step 5: its part in the decision.
    wire counts = !(ignored && !cov_i[i]);
    assign wants[i]      = want;
    assign votes[i]      = counts && (st_2 == Active || (else_off && !(is_break || is_cont)));
    assign holds_back[i] = counts && ((is_break && (st_2 == Branch || st_2 == Cont)) || (is_cont && st_2 == Branch));
    assign too_deep[i]   = st_2 == Branch && bc_2 == bc_max;

    // Step 7.
    logic [1:0] st_7;
    logic [5:0] bc_7;
    logic [2:0] lc_7;
    always_comb begin
      st_7 = st_2;
      bc_7 = {1'b0, bc_2};
      lc_7 = {1'b0, lc};
      case (st_2)
        Active: begin
          // r500-4.3-b to r500-4.3-f.
          if (want != jump) begin
            if (is_break && !jump) begin
              st_7 = Brk;
              lc_7 = 3'd0;
            end else if (is_cont && !jump) begin
              st_7 = Cont;
              lc_7 = 3'd0;
            end else if (b_op == 2'd2) begin
              st_7 = Branch;
              bc_7 = 6'd0;
            end
          end
        end
        Branch: begin
          // r500-4.3-g to r500-4.3-j.
          if (b_op == 2'd2) bc_7 = {1'b0, bc_2} + 6'd1;
          else if (b_op == 2'd1) begin
            if (bc_2 < pop_cnt) begin
              st_7 = Active;
              bc_7 = 6'd0;
            end else bc_7 = {1'b0, bc_2} - {1'b0, pop_cnt};
          end
        end
        default: begin
          // r500-4.3-k to r500-4.3-n.
          if (push_loop) lc_7 = {1'b0, lc} + 3'd1;
          else if (pop_loop) begin
            if (lc == 2'd0) st_7 = Active;
            else lc_7 = {1'b0, lc} - 3'd1;
          end
        end
      endcase
    end
    assign wide[i] = bc_7[5] || lc_7[2];

    wire [1:0] st_next = starts ? Active : executes ? st_7 : st;
    wire [4:0] bc_next = starts ? 5'd0 : executes ? bc_7[4:0] : bc;
    wire [1:0] lc_next = starts ? 2'd0 : executes ? lc_7[1:0] : lc;

    assign next__u_lanes__active_q[i] = st_next == Active;
    assign next__u_lanes__st0_q[i]    = st_next[0];
    assign next__u_lanes__st1_q[i]    = st_next[1];
    assign next__u_lanes__bc0_q[i]    = bc_next[0];
    assign next__u_lanes__bc1_q[i]    = bc_next[1];
    assign next__u_lanes__bc2_q[i]    = bc_next[2];
    assign next__u_lanes__bc3_q[i]    = bc_next[3];
    assign next__u_lanes__bc4_q[i]    = bc_next[4];
    assign next__u_lanes__lc0_q[i]    = lc_next[0];
    assign next__u_lanes__lc1_q[i]    = lc_next[1];
    assign out__active_o[i]           = st == Active;
  end

  // ---- step 5: the decision (r500-4.2) ---------------------------------------------------------------

  wire all_want = (votes & ~wants) == '0;
  wire any_want = (votes & wants) != '0;
  assign jump = forces_jump ? 1'b1 :
                forces_stay ? 1'b0 :
                holds_back != '0 ? 1'b0 :
                jump_any ? any_want : all_want;

  assign push_loop = is_begin && !jump;
  assign pop_loop  = (is_end && !jump) || (is_break && jump);
  wire   push_addr = a_op == 2'd2 && jump;
  wire   pop_addr  = a_op == 2'd1 && jump;

  // ---- step 6: the next PC, and checks that depend on the decision -----------------------------------

  wire [11:0] pc_plus_1 = {2'b0, pc_q} + 12'd1;
  wire [11:0] jump_to   = {3'b0, jump_addr} + (jump_global ? 12'd0 : {2'b0, offset_q});
  wire [11:0] target    = pop_addr ? {2'b0, top_addr} : jump_to;
  wire [11:0] pc_6      = jump ? target : pc_plus_1;

  wire loop_overflow   = push_loop && loops == 3'd4;
  wire addr_overflow   = push_addr && addrs == 3'd4;
  wire addr_underflow  = pop_addr && addrs == 3'd0;
  wire branch_overflow = b_op == 2'd2 && too_deep != '0;
  wire pc_range        = jump && (pc_6 < {2'b0, lo_q} || pc_6 > {2'b0, hi_q});

  wire [3:0] late = loop_overflow ? 4'd5 : addr_overflow ? 4'd6 : addr_underflow ? 4'd7 : branch_overflow ? 4'd8 :
                    pc_range ? 4'd9 : 4'd0;

  // ---- what the cycle does (docs/contract.md, r500-3.3, r500-3.4) ------------------------------------

  wire       in_reset  = !rst_ni;
  wire       moves     = rst_ni && !stall_i;
  wire       launches  = moves && launch_i && !running_q;
  assign     starts    = in_reset || launches;
  wire       in_window = pc_q >= lo_q && pc_q <= hi_q;
  wire       fetches   = moves && running_q;
  wire       has_inst  = fetches && in_window && inst_valid_i;
  wire [3:0] error     = fetches && !in_window ? 4'd9 :
                         has_inst && is_fc && early != 4'd0 ? early :
                         has_inst && is_fc ? late : 4'd0;
  assign     executes  = has_inst && is_fc && error == 4'd0;
  wire       passes    = has_inst && !is_fc;
  wire       last      = (executes || passes) && pc_q == end_q;

  wire [11:0] start_pc = {3'b0, code_offset_i[8:0]} + {3'b0, code_addr_i[8:0]};
  wire [11:0] end_pc   = {3'b0, code_offset_i[8:0]} + {3'b0, code_addr_i[24:16]};
  wire [11:0] window   = {3'b0, code_range_i[8:0]} + {3'b0, code_range_i[24:16]};

  wire [11:0] pc_next = in_reset ? 12'd0 :
                        launches ? start_pc :
                        executes ? pc_6 :
                        passes ? pc_plus_1 : {2'b0, pc_q};

  assign next__pc_q      = pc_next[9:0];
  assign next__running_q = in_reset ? 1'b0 : launches ? 1'b1 : error != 4'd0 || last ? 1'b0 : running_q;
  assign next__done_q    = starts ? 1'b0 : last ? 1'b1 : done_q;
  assign next__halted_q  = starts ? 1'b0 : error != 4'd0 ? 1'b1 : halted_q;
  assign next__err_q     = starts ? 4'd0 : error != 4'd0 ? error : err_q;
  assign next__alu_clr_q = in_reset ? 1'b0 : stall_i ? alu_clr_q : executes;

  // After a reset the rest does not matter, since no program runs (`live__` in rtl/r500/r500_formal.sv).
  assign next__full_q   = launches ? fc_ctrl_i[31] : full_q;
  assign next__offset_q = launches ? {1'b0, code_offset_i[8:0]} : offset_q;
  assign next__end_q    = launches ? end_pc[9:0] : end_q;
  assign next__lo_q     = launches ? {1'b0, code_range_i[8:0]} : lo_q;
  assign next__hi_q     = launches ? (window > 12'd511 ? 10'd511 : window[9:0]) : hi_q;

  // ---- step 8: stacks (r500-4.4) ---------------------------------------------------------------------

  wire [2:0] loops_next = starts ? 3'd0 :
                          executes && push_loop ? loops + 3'd1 :
                          executes && pop_loop ? loops - 3'd1 : loops;
  wire [2:0] addrs_next = starts ? 3'd0 :
                          executes && push_addr ? addrs + 3'd1 :
                          executes && pop_addr ? addrs - 3'd1 : addrs;
  wire       goes_back  = executes && is_end && jump;
  wire [7:0] al_back    = is_endloop ? top_al + kb : top_al;

  for (genvar f = 0; f < 4; f++) begin : g_frame
    wire pushed = executes && push_loop && loops == f;
    wire back   = goes_back && loops == f + 1;
    assign next__u_loop_stack__rep_q[f]          = pushed ? is_rep : u_loop_stack__rep_q[f];
    assign next__u_loop_stack__count_q[8*f +: 8] = pushed ? kr : back ? left : u_loop_stack__count_q[8*f +: 8];
    assign next__u_loop_stack__al_q[8*f +: 8]    = pushed ? (is_loop ? kg : top_al) :
                                                   back ? al_back : u_loop_stack__al_q[8*f +: 8];
    wire called = executes && push_addr && addrs == f;
    assign next__u_addr_stack__addr_q[10*f +: 10] = called ? pc_plus_1[9:0] : u_addr_stack__addr_q[10*f +: 10];
  end
  assign next__u_loop_stack__depth_q = loops_next;
  assign next__u_addr_stack__depth_q = addrs_next;

  // aL is the aL of the frame on top (r500-4.4-j).
  assign next__u_loop_stack__al_top_q =
      loops_next == 3'd1 ? next__u_loop_stack__al_q[7:0] :
      loops_next == 3'd2 ? next__u_loop_stack__al_q[15:8] :
      loops_next == 3'd3 ? next__u_loop_stack__al_q[23:16] :
      loops_next == 3'd4 ? next__u_loop_stack__al_q[31:24] : 8'd0;

  // ---- constants (r500-3.4-b, contract-2-b) ----------------------------------------------------------

  wire writes = moves && !running_q && const_we_i;
  for (genvar k = 0; k < 32; k++) begin : g_constant
    assign next__u_consts__int_q[24*k +: 24] = in_reset ? 24'd0 :
                                               writes && const_addr_i == k ? const_wdata_i[23:0] :
                                               u_consts__int_q[24*k +: 24];
  end
  assign next__u_consts__bool_q = in_reset ? 32'd0 : writes && const_addr_i == 6'd32 ? const_wdata_i : u_consts__bool_q;

  // ---- outputs ---------------------------------------------------------------------------------------

  assign out__pc_o      = pc_q;
  assign out__al_o      = top_al;
  assign out__alu_clr_o = alu_clr_q;
  assign out__running_o = running_q;
  assign out__done_o    = done_q;
  assign out__halted_o  = halted_q;
  assign out__err_o     = err_q;

  assign prove__widths = pc_next[11:10] == 2'd0 && (launches ? end_pc[11:10] == 2'd0 : 1'b1) &&
                         (!executes || (wide == '0 && loops_next <= 3'd4 && addrs_next <= 3'd4 &&
                                        (!push_addr || pc_plus_1[11:10] == 2'd0) && (!goes_back || top_count != 8'd0)));

endmodule
