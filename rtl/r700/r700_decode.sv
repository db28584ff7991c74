// The fields of a CF instruction, and the two checks that need nothing else (r700-2.1 to r700-2.5, r700-4.2-b,
// r700-E1, r700-E2).
//
// Corner cases:
// * The ALU format has no COND, POP_COUNT, VPM or END: it behaves as ACTIVE, 0, 0 and 0. Its opcode says
//   how many frames it pops. Memory and export have VPM and END, but no COND.
// * A reserved opcode is error 1 whatever its other bits are, WHOLE_QUAD_MODE among them.
// * WHOLE_QUAD_MODE is error 2 in instructions that act on the wave; in slots, memory, export and ALU it is ignored.
// * CALL with a POP_COUNT is error 2 even if no lane passes and no call would be made.
// * BARRIER, COUNT, COUNT_3, bit 20 and the constant-cache fields change nothing.

module r700_decode (
  input  logic [31:0] dw1_i,

  output logic [3:0]  kind_o,         // r700_pkg::Kind*; meaningless with illegal_o
  output logic        is_alu_o,
  output logic        start_al_o,     // LOOP_START
  output logic        start_dx10_o,   // LOOP_START_DX10
  output logic        to_brk_o,       // LOOP_BREAK, ALU_BREAK: leaving lanes become BRK, not CONT
  output logic        push_before_o,  // ALU_PUSH_BEFORE

  output logic [1:0]  cond_o,         // COND
  output logic [4:0]  cf_const_o,     // CF_CONST
  output logic [2:0]  pops_o,         // POP_COUNT, or the number in the ALU opcode
  output logic [5:0]  call_count_o,   // CALL_COUNT
  output logic        vpm_o,          // VALID_PIXEL_MODE
  output logic        end_o,          // END_OF_PROGRAM

  output logic        illegal_o,      // error 1
  output logic        field_o         // error 2
);

  logic [6:0] op;
  logic [3:0] alu_op;

  assign op       = dw1_i[29:23];
  assign alu_op   = dw1_i[29:26];
  assign is_alu_o = dw1_i[29];

  // An ALU opcode is the upper four of the seven bits, and its top bit marks the format.
  always_comb begin
    kind_o    = r700_pkg::KindSlot;
    illegal_o = 1'b0;
    if (is_alu_o) begin
      unique case (alu_op)
        r700_pkg::AluOpAlu,
        r700_pkg::AluOpPushBefore: kind_o = r700_pkg::KindAlu;
        r700_pkg::AluOpPopAfter,
        r700_pkg::AluOpPop2After:  kind_o = r700_pkg::KindAluPop;
        r700_pkg::AluOpContinue,
        r700_pkg::AluOpBreak:      kind_o = r700_pkg::KindAluLeave;
        r700_pkg::AluOpElseAfter:  kind_o = r700_pkg::KindAluElse;
        default:                   illegal_o = 1'b1;
      endcase
    end else begin
      unique case (op)
        r700_pkg::OpNop, r700_pkg::OpTex, r700_pkg::OpVtx, r700_pkg::OpVtxTc, r700_pkg::OpCallFs,
        r700_pkg::OpEmitVertex, r700_pkg::OpEmitCutVertex, r700_pkg::OpCutVertex,
        r700_pkg::OpWaitAck, r700_pkg::OpTexAck, r700_pkg::OpVtxAck, r700_pkg::OpVtxTcAck,
        r700_pkg::OpMemStream0, r700_pkg::OpMemStream1, r700_pkg::OpMemStream2,
        r700_pkg::OpMemStream3, r700_pkg::OpMemScratch, r700_pkg::OpMemReduction,
        r700_pkg::OpMemRing, r700_pkg::OpExport, r700_pkg::OpExportDone,
        r700_pkg::OpMemExport:     kind_o = r700_pkg::KindSlot;
        r700_pkg::OpLoopStart,
        r700_pkg::OpLoopStartDx10,
        r700_pkg::OpLoopStartNoAl: kind_o = r700_pkg::KindStart;
        r700_pkg::OpLoopEnd:       kind_o = r700_pkg::KindEnd;
        r700_pkg::OpLoopContinue,
        r700_pkg::OpLoopBreak:     kind_o = r700_pkg::KindLeave;
        r700_pkg::OpJump:          kind_o = r700_pkg::KindJump;
        r700_pkg::OpPush:          kind_o = r700_pkg::KindPush;
        r700_pkg::OpPushElse:      kind_o = r700_pkg::KindPushElse;
        r700_pkg::OpElse:          kind_o = r700_pkg::KindElse;
        r700_pkg::OpPop:           kind_o = r700_pkg::KindPop;
        r700_pkg::OpCall:          kind_o = r700_pkg::KindCall;
        r700_pkg::OpReturn:        kind_o = r700_pkg::KindReturn;
        r700_pkg::OpKill:          kind_o = r700_pkg::KindKill;
        default:                   illegal_o = 1'b1;
      endcase
    end
  end

  assign start_al_o    = op == r700_pkg::OpLoopStart;
  assign start_dx10_o  = op == r700_pkg::OpLoopStartDx10;
  assign to_brk_o      = (op == r700_pkg::OpLoopBreak) | (alu_op == r700_pkg::AluOpBreak);
  assign push_before_o = alu_op == r700_pkg::AluOpPushBefore;

  // Opcodes of 32 and above are memory and export.
  assign cond_o       = (is_alu_o | op[5]) ? r700_pkg::CondActive : dw1_i[9:8];
  assign cf_const_o   = dw1_i[7:3];
  assign pops_o       = is_alu_o ? {1'b0, alu_op == r700_pkg::AluOpPop2After,
                                    alu_op == r700_pkg::AluOpPopAfter} : dw1_i[2:0];
  assign call_count_o = dw1_i[18:13];
  assign vpm_o        = dw1_i[22] & ~is_alu_o;
  assign end_o        = dw1_i[21] & ~is_alu_o;

  assign field_o = (dw1_i[30] & ~is_alu_o & (kind_o != r700_pkg::KindSlot)) |
                   ((kind_o == r700_pkg::KindCall) & (dw1_i[2:0] != 3'd0));

  // BARRIER, COUNT and the reserved bit.
  logic unused_bits;
  assign unused_bits = ^{dw1_i[31], dw1_i[20:19], dw1_i[12:10]};

endmodule
