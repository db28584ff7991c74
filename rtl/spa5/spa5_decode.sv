// Fields of an instruction word, and the two checks that need nothing else (spa5-2.3, spa5-4.1-c, spa5-E9, spa5-E10).
//
// Corner cases:
// * Bit 5 is the constant-bank form of SSY, PBK, PCNT, PRET, CAL and BRA. JMP, JCAL, BRX and JMX have no such
//   form: error 10. In the leaving instructions the bit is ignored, KEEPREFCOUNT of EXIT included.
// * CC tests 24 to 31 are error 10 unless the unit is built with them, whatever the predicate, in instructions that
//   have the field. The set-up instructions and calls have no such field: those bits are ignored, and so is a
//   predicate.
// * BRX and JMX are error 10 unless the unit is built with them (spa5-A).
// * 0xE3B..0xE3F are error 9. Every word outside the flow block that is not SYNC is a black box.
// * Bit 6 (NOINC, LMT) changes nothing. Bit 7 is .U of BRA and JMP and of nothing else.
// * KIL leaves as EXIT does; kill_o tells it apart.

module spa5_decode #(
  parameter int BRX = 0,
  parameter int CSM = 0
) (
  input  logic [63:0] word_i,

  output logic [2:0]  kind_o,         // spa5_pkg::Kind*; meaningless with an error
  output logic [2:0]  token_o,        // type of the token that it pushes, spa5_pkg::Token*
  output logic [4:0]  leave_o,        // spa5_pkg::Leave*
  output logic        kill_o,         // KIL, with LeaveExit
  output logic        unanimous_o,    // .U of a BRA or JMP

  output logic        absolute_o,     // the target is imm32: JMP, JCAL, JMX
  output logic        bank_o,         // the offset is a constant, not off24
  output logic [23:0] offset_o,       // off24
  output logic [31:0] address_o,      // imm32
  output logic [3:0]  pred_o,         // pppp
  output logic [4:0]  cc_o,           // ccccc

  output logic        illegal_o,      // error 9
  output logic        unsupported_o   // error 10
);

  logic       is_flow, is_sync, const_bank;
  logic [4:0] op;

  assign is_flow    = word_i[63:57] == spa5_pkg::FlowBlock;
  assign is_sync    = word_i[63:51] == spa5_pkg::SyncMatch;
  assign op         = word_i[56:52];
  assign const_bank = word_i[5];

  assign unanimous_o = word_i[7];
  assign bank_o      = const_bank;
  assign offset_o    = word_i[43:20];  // spa5-2.2-a
  assign address_o   = word_i[51:20];  // spa5-2.2-d
  assign pred_o      = word_i[19:16];  // spa5-2.3-a
  assign cc_o        = word_i[4:0];

  logic no_such_test;
  assign no_such_test = (CSM == 0) & (&word_i[4:3]);  // spa5-2.4-d

  always_comb begin
    kind_o        = spa5_pkg::KindOther;
    token_o       = spa5_pkg::TokenDiv;
    leave_o       = spa5_pkg::LeaveNone;
    kill_o        = 1'b0;
    absolute_o    = 1'b0;
    illegal_o     = 1'b0;
    unsupported_o = 1'b0;
    if (is_sync) begin
      kind_o        = spa5_pkg::KindLeave;
      leave_o       = spa5_pkg::LeaveSync;
      unsupported_o = no_such_test;
    end else if (is_flow) begin
      unique case (op)  // set-up instructions and calls have no CC test: spa5-2.3-m
        spa5_pkg::OpSsy: begin
          kind_o  = spa5_pkg::KindSetup;
          token_o = spa5_pkg::TokenSsy;
        end
        spa5_pkg::OpPbk: begin
          kind_o  = spa5_pkg::KindSetup;
          token_o = spa5_pkg::TokenPbk;
        end
        spa5_pkg::OpPcnt: begin
          kind_o  = spa5_pkg::KindSetup;
          token_o = spa5_pkg::TokenPcnt;
        end
        spa5_pkg::OpPret: begin
          kind_o  = spa5_pkg::KindSetup;
          token_o = spa5_pkg::TokenRet;
        end
        spa5_pkg::OpCal: begin
          kind_o  = spa5_pkg::KindCall;
          token_o = spa5_pkg::TokenRet;
        end
        spa5_pkg::OpJcal: begin
          kind_o        = spa5_pkg::KindCall;
          token_o       = spa5_pkg::TokenRet;
          absolute_o    = 1'b1;
          unsupported_o = const_bank;  // spa5-2.3-w
        end
        spa5_pkg::OpBra: begin
          kind_o        = spa5_pkg::KindBra;
          unsupported_o = no_such_test;
        end
        spa5_pkg::OpJmp: begin
          kind_o        = spa5_pkg::KindBra;
          absolute_o    = 1'b1;
          unsupported_o = const_bank | no_such_test;
        end
        spa5_pkg::OpBrx: begin
          kind_o        = spa5_pkg::KindBrx;
          unsupported_o = (BRX == 0) | const_bank | no_such_test;
        end
        spa5_pkg::OpJmx: begin
          kind_o        = spa5_pkg::KindBrx;
          absolute_o    = 1'b1;
          unsupported_o = (BRX == 0) | const_bank | no_such_test;
        end
        spa5_pkg::OpBrk: begin
          kind_o        = spa5_pkg::KindLeave;
          leave_o       = spa5_pkg::LeaveBrk;
          unsupported_o = no_such_test;
        end
        spa5_pkg::OpCont: begin
          kind_o        = spa5_pkg::KindLeave;
          leave_o       = spa5_pkg::LeaveCont;
          unsupported_o = no_such_test;
        end
        spa5_pkg::OpRet: begin
          kind_o        = spa5_pkg::KindLeave;
          leave_o       = spa5_pkg::LeaveRet;
          unsupported_o = no_such_test;
        end
        spa5_pkg::OpExit: begin
          kind_o        = spa5_pkg::KindLeave;
          leave_o       = spa5_pkg::LeaveExit;
          unsupported_o = no_such_test;
        end
        spa5_pkg::OpKil: begin
          kind_o        = spa5_pkg::KindLeave;
          leave_o       = spa5_pkg::LeaveExit;
          kill_o        = 1'b1;
          unsupported_o = no_such_test;
        end
        default: begin
          illegal_o     = op >= spa5_pkg::OpIllegal;  // spa5-2.3-r
          unsupported_o = ~illegal_o;  // spa5-2.3-q
        end
      endcase
    end
  end

  // Register number of a BRX (the environment reads the register, as it reads a constant), LMT and NOINC.
  logic unused_bits;
  assign unused_bits = ^{word_i[15:8], word_i[6]};  // spa5-2.3-o

endmodule
