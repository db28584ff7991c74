// Codes of the SPA 5.0 call/return stack unit.
//
// Ids such as spa5-2.3 are rules of docs/spec/spa5.md; names of instructions and fields are those of
// the sources it cites.
//
// All constants are plain bits, and modules use them as `pkg::name`: Icarus 11 rejects a package enum or
// struct in a module, Yosys 0.23 an import in a module header.

package spa5_pkg;

  // Bits 63:57 of every flow instruction but SYNC, and bits 63:51 of SYNC (spa5-2.3).
  localparam logic [6:0]  FlowBlock = 7'h71;    // 0xE2, 0xE3
  localparam logic [12:0] SyncMatch = 13'h1e1f;  // spa5-2.3-h

  // Bits 56:52 inside the flow block: 00 for 0xE20, 1f for 0xE3F. No instruction has OpIllegal or above;
  // the other opcodes that are not listed exist but are not implemented here.
  localparam logic [4:0] OpJmx     = 5'h00;  // spa5-A-f
  localparam logic [4:0] OpJmp     = 5'h01;  // spa5-2.3-t
  localparam logic [4:0] OpJcal    = 5'h02;  // spa5-2.3-u
  localparam logic [4:0] OpBra     = 5'h04;  // spa5-2.3-g
  localparam logic [4:0] OpBrx     = 5'h05;  // spa5-A-a
  localparam logic [4:0] OpCal     = 5'h06;  // spa5-2.3-f
  localparam logic [4:0] OpPret    = 5'h07;  // spa5-2.3-e
  localparam logic [4:0] OpSsy     = 5'h09;  // spa5-2.3-b
  localparam logic [4:0] OpPbk     = 5'h0a;  // spa5-2.3-c
  localparam logic [4:0] OpPcnt    = 5'h0b;  // spa5-2.3-d
  localparam logic [4:0] OpExit    = 5'h10;  // spa5-2.3-l
  localparam logic [4:0] OpRet     = 5'h12;  // spa5-2.3-k
  localparam logic [4:0] OpKil     = 5'h13;  // spa5-2.3-v
  localparam logic [4:0] OpBrk     = 5'h14;  // spa5-2.3-i
  localparam logic [4:0] OpCont    = 5'h15;  // spa5-2.3-j
  localparam logic [4:0] OpIllegal = 5'h1b;  // spa5-2.3-r

  // What an instruction does, as spa5-4.3 groups them.
  localparam logic [2:0] KindOther = 3'd0;  // a black box (spa5-2.3-s)
  localparam logic [2:0] KindSetup = 3'd1;  // SSY, PBK, PCNT, PRET
  localparam logic [2:0] KindCall  = 3'd2;  // CAL, JCAL
  localparam logic [2:0] KindBra   = 3'd3;  // BRA, JMP
  localparam logic [2:0] KindBrx   = 3'd4;  // BRX, JMX
  localparam logic [2:0] KindLeave = 3'd5;  // SYNC, BRK, CONT, RET, EXIT, KIL

  // Leaving instructions, one bit each. The lower four are the bits that they require in `vis`.
  localparam logic [4:0] LeaveNone = 5'b00000;
  localparam logic [4:0] LeaveSync = 5'b00001;
  localparam logic [4:0] LeaveBrk  = 5'b00010;
  localparam logic [4:0] LeaveCont = 5'b00100;
  localparam logic [4:0] LeaveRet  = 5'b01000;
  localparam logic [4:0] LeaveExit = 5'b10000;

  // Token types (spa5-3-k).
  localparam logic [2:0] TokenSsy  = 3'd1;
  localparam logic [2:0] TokenPbk  = 3'd2;
  localparam logic [2:0] TokenPcnt = 3'd3;
  localparam logic [2:0] TokenRet  = 3'd4;
  localparam logic [2:0] TokenDiv  = 3'd5;

  // Predicate 7, PT, is constant 1; CC test 0f, T, always holds (spa5-2.4-a, spa5-2.4-c).
  localparam logic [2:0] PredTrue = 3'd7;
  localparam logic [4:0] CcTrue   = 5'h0f;

  // status (spa5-3-b).
  localparam logic [1:0] StatusRun    = 2'd0;
  localparam logic [1:0] StatusDone   = 2'd1;
  localparam logic [1:0] StatusErr    = 2'd2;
  localparam logic [1:0] StatusUnwind = 2'd3;

  // Error codes (spa5-6).
  localparam logic [3:0] ErrOk               = 4'd0;
  localparam logic [3:0] ErrSyncNoSsy        = 4'd1;  // spa5-E1
  localparam logic [3:0] ErrBrkNoPbk         = 4'd2;  // spa5-E2
  localparam logic [3:0] ErrContNoPcnt       = 4'd3;  // spa5-E3
  localparam logic [3:0] ErrRetNoCall        = 4'd4;  // spa5-E4
  localparam logic [3:0] ErrStackOverflow    = 4'd5;  // spa5-E5
  localparam logic [3:0] ErrPcRange          = 4'd6;  // spa5-E6
  localparam logic [3:0] ErrTargetRange      = 4'd7;  // spa5-E7
  localparam logic [3:0] ErrTargetMisaligned = 4'd8;  // spa5-E8
  localparam logic [3:0] ErrIllegal          = 4'd9;  // spa5-E9
  localparam logic [3:0] ErrUnsupported      = 4'd10;  // spa5-E10

endpackage
