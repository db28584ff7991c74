// The fields of an FC instruction, and the two checks that need nothing else (r500-2.2 to r500-2.4,
// r500-4.1-b, r500-4.1-c, r500-E1, r500-E2).
//
// Corner cases:
// * An illegal field is an error even if the instruction would not use it: B_OP1 = 3 on an
//   instruction that stays, RGB_PRED_SEL = 6 under a table that ignores the predicate.
// * Partial mode refuses every OP but JUMP, and every A_OP, even one that would touch no stack.
// * Reserved bits, LAST, ALU_WAIT, TEX_SEM_WAIT and the ALPHA_PRED fields change nothing.

module r500_decode (
  input  logic [31:0] cmn_inst_i,          // US_CMN_INST
  input  logic [31:0] fc_inst_i,           // US_FC_INST
  input  logic [31:0] fc_addr_i,           // US_FC_ADDR
  input  logic        full_i,              // US_FC_CTRL.FULL_FC_EN

  output logic        is_fc_o,             // TYPE
  output logic [2:0]  pred_sel_o,          // RGB_PRED_SEL
  output logic        pred_inv_o,          // RGB_PRED_INV

  output logic        is_begin_o,          // OP: LOOP, REP
  output logic        is_end_o,            // OP: ENDLOOP, ENDREP
  output logic        is_break_o,          // OP: BREAKLOOP, BREAKREP
  output logic        is_cont_o,           // OP: CONTINUE
  output logic        is_rep_o,            // OP: kind of frame that it pushes or expects, 1 REP, 0 LOOP
  output logic        b_else_o,            // B_ELSE
  output logic        jump_any_o,          // JUMP_ANY
  output logic        a_push_o,            // A_OP: PUSH
  output logic        a_pop_o,             // A_OP: POP
  output logic [7:0]  jump_func_o,         // JUMP_FUNC
  output logic [4:0]  b_pop_cnt_o,         // B_POP_CNT
  output logic [1:0]  b_op0_o,             // B_OP0
  output logic [1:0]  b_op1_o,             // B_OP1
  output logic        ignore_uncovered_o,  // IGNORE_UNCOVERED

  output logic [4:0]  bool_addr_o,         // BOOL_ADDR
  output logic [4:0]  int_addr_o,          // INT_ADDR
  output logic [8:0]  jump_addr_o,         // JUMP_ADDR
  output logic        jump_global_o,       // JUMP_GLOBAL

  output logic        illegal_o,           // error 1
  output logic        partial_o            // error 2
);

  logic [2:0] op;
  logic [1:0] a_op;

  assign is_fc_o    = cmn_inst_i[1:0] == r500_pkg::TypeFc;
  assign pred_sel_o = cmn_inst_i[5:3];
  assign pred_inv_o = cmn_inst_i[6];

  assign op                 = fc_inst_i[2:0];
  assign b_else_o           = fc_inst_i[4];
  assign jump_any_o         = fc_inst_i[5];
  assign a_op               = fc_inst_i[7:6];
  assign jump_func_o        = fc_inst_i[15:8];
  assign b_pop_cnt_o        = fc_inst_i[20:16];
  assign b_op0_o            = fc_inst_i[25:24];
  assign b_op1_o            = fc_inst_i[27:26];
  assign ignore_uncovered_o = fc_inst_i[28];

  assign bool_addr_o   = fc_addr_i[4:0];
  assign int_addr_o    = fc_addr_i[12:8];
  assign jump_addr_o   = fc_addr_i[24:16];
  assign jump_global_o = fc_addr_i[31];

  assign is_begin_o = (op == r500_pkg::OpLoop) | (op == r500_pkg::OpRep);
  assign is_end_o   = (op == r500_pkg::OpEndloop) | (op == r500_pkg::OpEndrep);
  assign is_break_o = (op == r500_pkg::OpBreakloop) | (op == r500_pkg::OpBreakrep);
  assign is_cont_o  = op == r500_pkg::OpContinue;
  assign is_rep_o   = (op == r500_pkg::OpRep) | (op == r500_pkg::OpEndrep) |
                      (op == r500_pkg::OpBreakrep);
  assign a_push_o   = a_op == r500_pkg::AOpPush;
  assign a_pop_o    = a_op == r500_pkg::AOpPop;

  logic pred_legal;
  assign pred_legal = (pred_sel_o == r500_pkg::PredNone) | (pred_sel_o == r500_pkg::PredR) |
                      (pred_sel_o == r500_pkg::PredG) | (pred_sel_o == r500_pkg::PredB) |
                      (pred_sel_o == r500_pkg::PredA);

  assign illegal_o = (a_op == r500_pkg::AOpBad) | (b_op0_o == r500_pkg::BOpBad) |
                     (b_op1_o == r500_pkg::BOpBad) | ~pred_legal;
  assign partial_o = ~full_i & ((op != r500_pkg::OpJump) | (a_op != r500_pkg::AOpNone));

  // Reserved, or for other units.
  logic unused_bits;
  assign unused_bits = ^{cmn_inst_i[31:7], cmn_inst_i[2], fc_inst_i[31:29], fc_inst_i[23:21],
                         fc_inst_i[3], fc_addr_i[30:25], fc_addr_i[15:13], fc_addr_i[7:5]};

endmodule
