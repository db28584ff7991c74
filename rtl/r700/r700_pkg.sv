// Codes of the R700 control-flow unit.
//
// Ids such as r700-2.3 are rules of docs/spec/r700.md; names of instructions and fields are those of
// the manuals it cites.
//
// All constants are plain bits, and modules use them as `pkg::name`: Icarus 11 rejects a package enum or
// struct in a module, Yosys 0.23 an import in a module header.

package r700_pkg;

  // CF_INST of the general format and of memory and export (r700-2.5-a, r700-2.5-b); the others are reserved.
  localparam logic [6:0] OpNop           = 7'd0;
  localparam logic [6:0] OpTex           = 7'd1;
  localparam logic [6:0] OpVtx           = 7'd2;
  localparam logic [6:0] OpVtxTc         = 7'd3;
  localparam logic [6:0] OpLoopStart     = 7'd4;
  localparam logic [6:0] OpLoopEnd       = 7'd5;
  localparam logic [6:0] OpLoopStartDx10 = 7'd6;
  localparam logic [6:0] OpLoopStartNoAl = 7'd7;
  localparam logic [6:0] OpLoopContinue  = 7'd8;
  localparam logic [6:0] OpLoopBreak     = 7'd9;
  localparam logic [6:0] OpJump          = 7'd10;
  localparam logic [6:0] OpPush          = 7'd11;
  localparam logic [6:0] OpPushElse      = 7'd12;
  localparam logic [6:0] OpElse          = 7'd13;
  localparam logic [6:0] OpPop           = 7'd14;
  localparam logic [6:0] OpCall          = 7'd18;
  localparam logic [6:0] OpCallFs        = 7'd19;
  localparam logic [6:0] OpReturn        = 7'd20;
  localparam logic [6:0] OpEmitVertex    = 7'd21;
  localparam logic [6:0] OpEmitCutVertex = 7'd22;
  localparam logic [6:0] OpCutVertex     = 7'd23;
  localparam logic [6:0] OpKill          = 7'd24;
  localparam logic [6:0] OpWaitAck       = 7'd26;
  localparam logic [6:0] OpTexAck        = 7'd27;
  localparam logic [6:0] OpVtxAck        = 7'd28;
  localparam logic [6:0] OpVtxTcAck      = 7'd29;
  localparam logic [6:0] OpMemStream0    = 7'd32;
  localparam logic [6:0] OpMemStream1    = 7'd33;
  localparam logic [6:0] OpMemStream2    = 7'd34;
  localparam logic [6:0] OpMemStream3    = 7'd35;
  localparam logic [6:0] OpMemScratch    = 7'd36;
  localparam logic [6:0] OpMemReduction  = 7'd37;
  localparam logic [6:0] OpMemRing       = 7'd38;
  localparam logic [6:0] OpExport        = 7'd39;
  localparam logic [6:0] OpExportDone    = 7'd40;
  localparam logic [6:0] OpMemExport     = 7'd58;

  // CF_INST of the ALU format (r700-2.5-c). Its top bit marks the format; 12 is reserved.
  localparam logic [3:0] AluOpAlu        = 4'd8;
  localparam logic [3:0] AluOpPushBefore = 4'd9;
  localparam logic [3:0] AluOpPopAfter   = 4'd10;
  localparam logic [3:0] AluOpPop2After  = 4'd11;
  localparam logic [3:0] AluOpContinue   = 4'd13;
  localparam logic [3:0] AluOpBreak      = 4'd14;
  localparam logic [3:0] AluOpElseAfter  = 4'd15;

  // What an instruction does, as the table of r700-4.3 groups them.
  localparam logic [3:0] KindSlot     = 4'd0;   // NOP, fetches, memory, export: no effect but exec_o
  localparam logic [3:0] KindJump     = 4'd1;
  localparam logic [3:0] KindPush     = 4'd2;
  localparam logic [3:0] KindPushElse = 4'd3;
  localparam logic [3:0] KindPop      = 4'd4;
  localparam logic [3:0] KindElse     = 4'd5;
  localparam logic [3:0] KindStart    = 4'd6;   // LOOP_START, LOOP_START_NO_AL, LOOP_START_DX10
  localparam logic [3:0] KindEnd      = 4'd7;   // LOOP_END
  localparam logic [3:0] KindLeave    = 4'd8;   // LOOP_BREAK, LOOP_CONTINUE
  localparam logic [3:0] KindCall     = 4'd9;
  localparam logic [3:0] KindReturn   = 4'd10;
  localparam logic [3:0] KindKill     = 4'd11;
  localparam logic [3:0] KindAlu      = 4'd12;  // ALU, ALU_PUSH_BEFORE
  localparam logic [3:0] KindAluPop   = 4'd13;  // ALU_POP_AFTER, ALU_POP2_AFTER
  localparam logic [3:0] KindAluElse  = 4'd14;  // ALU_ELSE_AFTER
  localparam logic [3:0] KindAluLeave = 4'd15;  // ALU_BREAK, ALU_CONTINUE

  // COND (r700-2.2-d). 1 is FALSE: a value that is not listed holds for no lane.
  localparam logic [1:0] CondActive  = 2'd0;
  localparam logic [1:0] CondBool    = 2'd2;
  localparam logic [1:0] CondNotBool = 2'd3;

  // bkind: kind of the innermost loop or call frame (r700-3.2-d).
  localparam logic [1:0] FrameNone = 2'd0;
  localparam logic [1:0] FrameLoop = 2'd1;
  localparam logic [1:0] FrameCall = 2'd2;

  // lt: type of the innermost loop (r700-3.2-f).
  localparam logic [1:0] LoopNone = 2'd0;
  localparam logic [1:0] LoopAl   = 2'd1;
  localparam logic [1:0] LoopNoAl = 2'd2;
  localparam logic [1:0] LoopDx10 = 2'd3;

  // A CALL that would nest deeper is skipped (r700-4.3-m).
  localparam logic [6:0] DepthLimit = 7'd32;

  // Error codes (r700-6). If several apply, the lowest is reported.
  localparam logic [3:0] ErrOk        = 4'd0;
  localparam logic [3:0] ErrIllegal   = 4'd1;
  localparam logic [3:0] ErrField     = 4'd2;
  localparam logic [3:0] ErrNoLoop    = 4'd3;
  localparam logic [3:0] ErrLoopOpen  = 4'd4;
  localparam logic [3:0] ErrNoCall    = 4'd5;
  localparam logic [3:0] ErrUnderflow = 4'd6;
  localparam logic [3:0] ErrOverflow  = 4'd7;
  localparam logic [3:0] ErrEndStack  = 4'd8;
  localparam logic [3:0] ErrPcRange   = 4'd9;

  // Addresses of the host write port: 0..31 loop constants, and this one; the others are ignored.
  localparam logic [5:0] HostBoolConst = 6'd32;

endpackage
