// Codes and sizes of the R500 flow-control unit.
//
// Ids such as r500-2.3 are rules of docs/spec/r500.md; names of registers and fields are those of
// the manuals it cites.
//
// All constants are plain bits, and modules use them as `pkg::name`: Icarus 11 rejects a package enum or
// struct in a module, Yosys 0.23 an import in a module header.

package r500_pkg;

  // Both stacks have four places (r500-3.2-b, r500-3.2-c); an address has nine bits, the PC ten.
  localparam logic [2:0] StackDepth = 3'd4;
  localparam logic [9:0] LastAddr   = 10'd511;

  // US_CMN_INST.TYPE (r500-2.2-a). 0 ALU, 1 OUT, 3 TEX: not distinguished here.
  localparam logic [1:0] TypeFc = 2'd2;

  // US_CMN_INST.RGB_PRED_SEL (r500-2.2-c). 1 (per channel), 6 and 7 are illegal in an FC instruction.
  localparam logic [2:0] PredNone = 3'd0;
  localparam logic [2:0] PredR    = 3'd2;
  localparam logic [2:0] PredG    = 3'd3;
  localparam logic [2:0] PredB    = 3'd4;
  localparam logic [2:0] PredA    = 3'd5;

  // US_FC_INST.OP (r500-2.3-a).
  localparam logic [2:0] OpJump      = 3'd0;
  localparam logic [2:0] OpLoop      = 3'd1;
  localparam logic [2:0] OpEndloop   = 3'd2;
  localparam logic [2:0] OpRep       = 3'd3;
  localparam logic [2:0] OpEndrep    = 3'd4;
  localparam logic [2:0] OpBreakloop = 3'd5;
  localparam logic [2:0] OpBreakrep  = 3'd6;
  localparam logic [2:0] OpContinue  = 3'd7;

  // US_FC_INST.A_OP and B_OP0/B_OP1 (r500-2.3-d, r500-2.3-g). 3 is illegal in all of them.
  localparam logic [1:0] AOpNone = 2'd0;
  localparam logic [1:0] AOpPop  = 2'd1;
  localparam logic [1:0] AOpPush = 2'd2;
  localparam logic [1:0] AOpBad  = 2'd3;
  localparam logic [1:0] BOpDecr = 2'd1;
  localparam logic [1:0] BOpIncr = 2'd2;
  localparam logic [1:0] BOpBad  = 2'd3;

  // Error codes (r500-6). If several apply, the lowest is reported.
  localparam logic [3:0] ErrOk             = 4'd0;
  localparam logic [3:0] ErrIllegal        = 4'd1;
  localparam logic [3:0] ErrPartial        = 4'd2;
  localparam logic [3:0] ErrLoopUnderflow  = 4'd3;
  localparam logic [3:0] ErrLoopKind       = 4'd4;
  localparam logic [3:0] ErrLoopOverflow   = 4'd5;
  localparam logic [3:0] ErrAddrOverflow   = 4'd6;
  localparam logic [3:0] ErrAddrUnderflow  = 4'd7;
  localparam logic [3:0] ErrBranchOverflow = 4'd8;
  localparam logic [3:0] ErrPcRange        = 4'd9;

  // Addresses of the host write port: 0..31 US_FC_INT_CONST_n, and this one; the others are ignored.
  localparam logic [5:0] HostBoolConst = 6'd32;

endpackage
