// One cycle of r700, for the proof that the RTL does the same (docs/proofs.md). Written from docs/spec/r700.md alone, lane
// by lane, in the order of r700-4.4. Only the names of the registers are taken from the RTL; ../r500/step.sv explains the
// outputs. The stack is the storage of r700-3.4-k: sub-entry a is word a / 4 of bank a % 4, and bits of a
// word that no frame uses are 0. Of a loop frame's sub-entries only the last four have words.

module r700_step #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,
  parameter int SUBENTRIES     = 4,
  parameter int DX10_COUNT     = 0,
  localparam int WordBits = LANES > 56 ? LANES : 56,
  localparam int Words    = SUBENTRIES * MAX_STACK_SIZE,
  localparam int SpBits   = SUBENTRIES == 8 ? 11 : 10
) (
  // State.
  input logic [LANES-1:0] u_lanes__st0_q,
  input logic [LANES-1:0] u_lanes__st1_q,
  input logic [LANES-1:0] u_lanes__valid_q,
  input logic [LANES-1:0] u_lanes__exec_q,
  input logic [1:0]       u_loop__lt_q,
  input logic [11:0]      u_loop__lc_q,
  input logic [31:0]      u_loop__al_q,
  input logic [7:0]       u_loop__inc_q,
  input logic [SpBits-1:0] u_stack__sp_q,
  input logic [SpBits-1:0] u_stack__base_q,
  input logic [1:0]       u_stack__bkind_q,
  input logic [SpBits-1:0] u_stack__nb_q,
  input logic [SpBits-1:0] u_stack__limit_q,
  input logic [WordBits*Words/4-1:0] u_stack__bank0_q,
  input logic [WordBits*Words/4-1:0] u_stack__bank1_q,
  input logic [WordBits*Words/4-1:0] u_stack__bank2_q,
  input logic [WordBits*Words/4-1:0] u_stack__bank3_q,
  input logic [1023:0]    u_consts__loop_q,
  input logic [31:0]      u_consts__bool_q,
  input logic [31:0]      pc_q,
  input logic [5:0]       depth_q,
  input logic [31:0]      prog_len_q,
  input logic             running_q,
  input logic             done_q,
  input logic             halted_q,
  input logic             jump_q,
  input logic             skipped_q,
  input logic [3:0]       err_q,

  // Inputs of the cycle.
  input logic             rst_ni,
  input logic             stall_i,
  input logic             const_we_i,
  input logic [5:0]       const_addr_i,
  input logic [31:0]      const_wdata_i,
  input logic             launch_i,
  input logic [31:0]      entry_i,
  input logic [31:0]      prog_len_i,
  input logic [LANES-1:0] lane_mask_i,
  input logic [7:0]       stack_size_i,
  input logic             inst_valid_i,
  input logic [31:0]      dw0_i,
  input logic [31:0]      dw1_i,
  input logic             u_i,
  input logic [LANES-1:0] pred_i,

  output logic [LANES-1:0] next__u_lanes__active_q,
  output logic [LANES-1:0] next__u_lanes__st0_q,
  output logic [LANES-1:0] next__u_lanes__st1_q,
  output logic [LANES-1:0] next__u_lanes__valid_q,
  output logic [LANES-1:0] next__u_lanes__exec_q,
  output logic [1:0]       next__u_loop__lt_q,
  output logic [11:0]      next__u_loop__lc_q,
  output logic [31:0]      next__u_loop__al_q,
  output logic [7:0]       next__u_loop__inc_q,
  output logic [SpBits-1:0] next__u_stack__sp_q,
  output logic [SpBits-1:0] next__u_stack__base_q,
  output logic [1:0]       next__u_stack__bkind_q,
  output logic [SpBits-1:0] next__u_stack__nb_q,
  output logic [SpBits-1:0] next__u_stack__limit_q,
  output logic [WordBits*Words/4-1:0] next__u_stack__bank0_q,
  output logic [WordBits*Words/4-1:0] next__u_stack__bank1_q,
  output logic [WordBits*Words/4-1:0] next__u_stack__bank2_q,
  output logic [WordBits*Words/4-1:0] next__u_stack__bank3_q,
  output logic [1023:0]    next__u_consts__loop_q,
  output logic [31:0]      next__u_consts__bool_q,
  output logic [31:0]      next__pc_q,
  output logic [5:0]       next__depth_q,
  output logic [31:0]      next__prog_len_q,
  output logic             next__running_q,
  output logic             next__done_q,
  output logic             next__halted_q,
  output logic             next__jump_q,
  output logic             next__skipped_q,
  output logic [3:0]       next__err_q,

  output logic [31:0]      out__pc_o,
  output logic [LANES-1:0] out__active_o,
  output logic [LANES-1:0] out__valid_o,
  output logic [31:0]      out__al_o,
  output logic [LANES-1:0] out__exec_o,
  output logic             out__jump_o,
  output logic             out__skipped_o,
  output logic             out__running_o,
  output logic             out__done_o,
  output logic             out__halted_o,
  output logic [3:0]       out__err_o,

  // Every number that the specification computes fits the register that holds it, and none is negative.
  output logic             prove__widths
);

  localparam logic [1:0] Active = 2'd0, Branch = 2'd1, Cont = 2'd2, Brk = 2'd3;

  // ---- decode (r700-2.2 to r700-2.5) -----------------------------------------------------------------

  wire       is_alu   = dw1_i[29];
  wire [3:0] alu_op   = dw1_i[29:26];
  wire [6:0] op       = dw1_i[29:23];
  wire [1:0] cond     = dw1_i[9:8];
  wire [4:0] cf_const = dw1_i[7:3];
  wire [2:0] pops     = dw1_i[2:0];
  wire [5:0] calls    = dw1_i[18:13];
  wire       wqm      = dw1_i[30];
  wire       vpm      = dw1_i[22];
  wire       eop      = !is_alu && dw1_i[21];

  wire alu_plain = is_alu && alu_op == 4'd8;
  wire alu_push  = is_alu && alu_op == 4'd9;
  wire alu_pop   = is_alu && alu_op == 4'd10;
  wire alu_pop2  = is_alu && alu_op == 4'd11;
  wire alu_cont  = is_alu && alu_op == 4'd13;
  wire alu_break = is_alu && alu_op == 4'd14;
  wire alu_else  = is_alu && alu_op == 4'd15;

  wire is_memory = !is_alu && ((op >= 7'd32 && op <= 7'd40) || op == 7'd58);
  wire is_slot   = is_memory || (!is_alu && (op <= 7'd3 || op == 7'd19 || (op >= 7'd21 && op <= 7'd23) ||
                                             (op >= 7'd26 && op <= 7'd29)));
  wire is_start      = !is_alu && op == 7'd4;
  wire is_end        = !is_alu && op == 7'd5;
  wire is_start_dx10 = !is_alu && op == 7'd6;
  wire is_start_noal = !is_alu && op == 7'd7;
  wire is_continue   = !is_alu && op == 7'd8;
  wire is_break      = !is_alu && op == 7'd9;
  wire is_jump       = !is_alu && op == 7'd10;
  wire is_push       = !is_alu && op == 7'd11;
  wire is_push_else  = !is_alu && op == 7'd12;
  wire is_else       = !is_alu && op == 7'd13;
  wire is_pop        = !is_alu && op == 7'd14;
  wire is_call       = !is_alu && op == 7'd18;
  wire is_return     = !is_alu && op == 7'd20;
  wire is_kill       = !is_alu && op == 7'd24;
  wire is_begin      = is_start || is_start_dx10 || is_start_noal;
  wire is_control    = is_begin || is_end || is_continue || is_break || is_jump || is_push || is_push_else || is_else ||
                       is_pop || is_call || is_return || is_kill;
  wire illegal       = is_alu ? !(alu_plain || alu_push || alu_pop || alu_pop2 || alu_cont || alu_break || alu_else)
                              : !(is_slot || is_control);

  // ---- the condition (r700-4.1) ----------------------------------------------------------------------

  wire boolean = u_consts__bool_q[cf_const];
  wire holds   = is_memory || cond == 2'd0 || (cond == 2'd2 && boolean) || (cond == 2'd3 && !boolean);

  // ---- the stack -------------------------------------------------------------------------------------

  wire [WordBits-1:0] word [Words];
  for (genvar a = 0; a < Words; a += 4) begin : g_word
    assign word[a]     = u_stack__bank0_q[WordBits*(a/4) +: WordBits];
    assign word[a + 1] = u_stack__bank1_q[WordBits*(a/4) +: WordBits];
    assign word[a + 2] = u_stack__bank2_q[WordBits*(a/4) +: WordBits];
    assign word[a + 3] = u_stack__bank3_q[WordBits*(a/4) +: WordBits];
  end

  // Stack pointers, with more bits than the registers have, so that nothing wraps.
  wire [11:0] sp    = u_stack__sp_q;
  wire [11:0] base  = u_stack__base_q;
  wire [11:0] nb    = u_stack__nb_q;
  wire [11:0] limit = u_stack__limit_q;

  // Words at sp - 1 to sp - 4, and at sp - n for a pop of n; if there is no such word, the value read is not used.
  wire [11:0]         popped = alu_pop ? 12'd1 : alu_pop2 ? 12'd2 : {9'd0, pops};
  wire [WordBits-1:0] top1, top2, top3, top4, popped_word;
  for (genvar k = 0; k < 5; k++) begin : g_read
    wire [11:0]         at = sp - (k < 4 ? k + 1 : popped);
    wire [WordBits-1:0] found;
    for (genvar b = 0; b < WordBits; b++) begin : g_bit
      // Bit b of all words of each bank.
      wire [Words/4-1:0] bits0, bits1, bits2, bits3;
      for (genvar row = 0; row < Words / 4; row++) begin : g_row
        assign bits0[row] = u_stack__bank0_q[WordBits*row + b];
        assign bits1[row] = u_stack__bank1_q[WordBits*row + b];
        assign bits2[row] = u_stack__bank2_q[WordBits*row + b];
        assign bits3[row] = u_stack__bank3_q[WordBits*row + b];
      end
      wire [3:0] banks = {bits3[at[11:2]], bits2[at[11:2]], bits1[at[11:2]], bits0[at[11:2]]};
      assign found[b] = banks[at[1:0]];
    end
  end
  assign top1        = g_read[0].found;
  assign top2        = g_read[1].found;
  assign top3        = g_read[2].found;
  assign top4        = g_read[3].found;
  assign popped_word = g_read[4].found;

  // ---- from the lanes: bit i of each is lane i -------------------------------------------------------

  wire [LANES-1:0] was_active, ok, again_ok, else_active, off_or_active, wants;

  // A DX10 loop has no count, unless the unit counts its passes (r700-4.3-z).
  wire        uncounted = is_start_dx10 && DX10_COUNT == 0;
  wire        for_ever  = u_loop__lt_q == 2'd3 && DX10_COUNT == 0;

  wire        some     = ok != '0;
  wire [31:0] constant = u_consts__loop_q[32*cf_const +: 32];
  wire [11:0] count    = constant[11:0];

  wire enters     = is_begin && some && (uncounted || count != 12'd0);
  wire again      = is_end && again_ok != '0 && (for_ever || u_loop__lc_q > 12'd1);
  wire leaves     = is_end && !again;
  wire goes_out   = (is_break || is_continue) && off_or_active == '0;
  wire calls_now  = is_call && some && {1'b0, depth_q} + {1'b0, calls} <= 7'd32;
  wire skips      = is_call && some && !calls_now;
  wire returns    = is_return && (wants & ~ok) == '0;
  wire else_jumps = is_else && else_active == '0;

  // Pushes, and pops of branch frames.
  wire push_branch = alu_push || (alu_else && u_i) || (is_push && some) || is_push_else;
  wire pops_now    = alu_pop || alu_pop2 || is_pop || ((is_jump || is_push) && !some) || (is_begin && !enters) || else_jumps;

  // ---- lanes -----------------------------------------------------------------------------------------

  wire starts, executes, launches;
  wire [LANES-1:0] valid_after;

  for (genvar i = 0; i < LANES; i++) begin : g_lane
    wire [1:0] st      = {u_lanes__st1_q[i], u_lanes__st0_q[i]};
    wire       valid   = u_lanes__valid_q[i];
    wire       counts  = valid || !vpm;
    assign was_active[i] = st == Active;
    assign ok[i]         = holds && st == Active && counts;
    assign wants[i]      = st == Active && counts;

    // A clause switches lanes off.
    wire [1:0] st_alu = u_i && st == Active && !pred_i[i] ? (alu_break ? Brk : alu_cont ? Cont : Branch) : st;

    // ELSE: the mask on top, which ALU_ELSE_AFTER may just have pushed.
    wire [1:0] before_else = is_alu ? st_alu : st;
    wire       in_mask     = alu_else && u_i ? st == Active : top1[i];
    wire       swaps       = in_mask && (is_alu || (holds && counts)) && (before_else == Active || before_else == Branch);
    wire [1:0] swapped     = swaps ? (before_else == Active ? Branch : Active) : before_else;
    wire [1:0] st_else     = !is_alu && vpm && !valid && swapped == Active ? Branch : swapped;
    assign else_active[i]  = st_else == Active;

    // A pop of branch frames; a pop of 0 frames does nothing.
    wire [1:0] before_pop = is_alu ? st_alu : is_else ? st_else : st;
    wire [1:0] restored   = before_pop == Cont || before_pop == Brk ? before_pop : popped_word[i] ? Active : Branch;
    wire [1:0] st_popped  = popped == 12'd0 ? before_pop :
                            !is_alu && vpm && !valid && restored == Active ? Branch : restored;

    // POP tests afterwards.
    wire [1:0] st_pop = st_popped == Active && !(holds && counts) ? Branch : st_popped;

    // LOOP_END.
    wire [1:0] st_back     = st == Brk ? Brk : Active;
    assign     again_ok[i] = holds && st_back == Active && counts;
    wire [1:0] st_again    = st_back == Active && !again_ok[i] ? Brk : st_back;
    wire [1:0] framed      = {top3[i], top4[i]};
    wire [1:0] st_left     = vpm && !valid && framed == Active ? Branch : framed;

    // LOOP_BREAK, LOOP_CONTINUE.
    wire [1:0] st_out = ok[i] ? (is_break ? Brk : Cont) : st;
    assign off_or_active[i] = st_out == Active || st_out == Branch;

    // PUSH and PUSH_ELSE.
    wire [1:0] st_pushed = st == Active && !ok[i] ? Branch : st;

    wire [1:0] st_after = is_pop ? st_pop :
                          pops_now ? st_popped :
                          alu_else || is_else ? st_else :
                          is_alu ? st_alu :
                          is_push || is_push_else ? st_pushed :
                          enters ? (ok[i] ? Active : Brk) :
                          again ? st_again :
                          leaves ? st_left :
                          is_break || is_continue ? st_out : st;
    assign valid_after[i] = is_kill && ok[i] ? 1'b0 : valid;

    wire [1:0] st_next = !rst_ni ? Active :
                         launches ? (lane_mask_i[i] ? Active : Branch) :
                         executes ? st_after : st;
    assign next__u_lanes__active_q[i] = st_next == Active;
    assign next__u_lanes__st0_q[i]    = st_next[0];
    assign next__u_lanes__st1_q[i]    = st_next[1];
    assign next__u_lanes__valid_q[i]  = !rst_ni ? 1'b0 : launches ? lane_mask_i[i] : executes ? valid_after[i] : valid;
    assign next__u_lanes__exec_q[i]   = !rst_ni ? 1'b0 : stall_i ? u_lanes__exec_q[i] :
                                        executes && (is_alu ? st == Active : is_slot && ok[i]);
    assign out__active_o[i]           = st == Active;
  end

  // ---- stack pointers --------------------------------------------------------------------------------

  wire [11:0] words_pushed = enters ? SUBENTRIES : push_branch || calls_now ? 12'd1 : 12'd0;
  wire [11:0] nb_pushed    = nb + (push_branch ? 12'd1 : 12'd0);
  wire        pushes       = words_pushed != 12'd0;

  wire [11:0] sp_after = pushes ? sp + words_pushed :
                         pops_now ? sp - popped :
                         leaves ? sp - SUBENTRIES :
                         goes_out ? base :
                         returns ? sp - 12'd1 : sp;
  wire [11:0] nb_after = push_branch ? nb_pushed :
                         pops_now ? nb - popped :
                         goes_out ? nb - (sp - base) : nb;

  // Frames under sp.
  wire [31:0] call_ret   = top1[31:0];
  wire [5:0]  call_depth = top1[37:32];
  wire [1:0]  call_bkind = top1[39:38];
  wire [SpBits-1:0] call_base = top1[39 + SpBits:40];
  wire [11:0] loop_lc    = top2[11:0];
  wire [7:0]  loop_inc   = top2[19:12];
  wire [1:0]  loop_lt    = top2[21:20];
  wire [1:0]  loop_bkind = top2[23:22];
  wire [SpBits-1:0] loop_base = top2[23 + SpBits:24];
  wire [31:0] loop_al    = top1[31:0];

  wire [11:0] base_after  = enters || calls_now ? sp_after : leaves ? loop_base : returns ? call_base : base;
  wire [1:0]  bkind_after = enters ? 2'd1 : calls_now ? 2'd2 : leaves ? loop_bkind : returns ? call_bkind : u_stack__bkind_q;
  wire [6:0]  depth_after = calls_now ? {1'b0, depth_q} + {1'b0, calls} : returns ? {1'b0, call_depth} : {1'b0, depth_q};

  // ---- loop registers (r700-4.3-w) -------------------------------------------------------------------

  wire [1:0]  lt_after  = enters ? (is_start ? 2'd1 : is_start_noal ? 2'd2 : 2'd3) : leaves ? loop_lt : u_loop__lt_q;
  wire [11:0] lc_after  = enters ? (uncounted ? 12'd0 : count) :
                          again && !for_ever ? u_loop__lc_q - 12'd1 :
                          leaves ? loop_lc : u_loop__lc_q;
  wire [31:0] al_after  = enters && is_start ? {20'd0, constant[23:12]} :
                          again && u_loop__lt_q == 2'd1 ? u_loop__al_q + {{24{u_loop__inc_q[7]}}, u_loop__inc_q} :
                          leaves ? loop_al : u_loop__al_q;
  wire [7:0]  inc_after = enters && is_start ? constant[31:24] : leaves ? loop_inc : u_loop__inc_q;

  // ---- next PC, errors; the lowest code wins (r700-6) ------------------------------------------------

  wire        jumps = ((is_jump || is_push || is_push_else) && !some) || else_jumps || (is_begin && !enters) || again ||
                      goes_out || calls_now || returns || (is_kill && valid_after == '0);
  wire [31:0] pc_1  = pc_q + 32'd1;
  wire [31:0] npc   = returns ? call_ret : jumps ? dw0_i : pc_1;

  wire field     = is_control && (wqm || (is_call && pops != 3'd0));
  wire no_loop   = (is_end || is_break || is_continue || alu_break || alu_cont) && u_stack__bkind_q != 2'd1;
  wire loop_open = is_end && sp != base;
  wire no_call   = is_return && (u_stack__bkind_q != 2'd2 || sp != base);
  wire underflow = (pops_now && popped > sp - base) || ((is_else || (alu_else && !u_i)) && sp == base);
  wire overflow  = pushes && sp + words_pushed + (nb_pushed != 12'd0 ? 12'd2 : 12'd0) > limit;
  wire end_stack = eop && sp_after != 12'd0;
  wire pc_range  = !eop && npc >= prog_len_q;

  wire [3:0] code = illegal ? 4'd1 : field ? 4'd2 : no_loop ? 4'd3 : loop_open ? 4'd4 : no_call ? 4'd5 :
                    underflow ? 4'd6 : overflow ? 4'd7 : end_stack ? 4'd8 : pc_range ? 4'd9 : 4'd0;

  // ---- what the cycle does (docs/contract.md, r700-3.3, r700-3.5) ------------------------------------

  wire moves    = rst_ni && !stall_i;
  wire has_inst = moves && running_q && inst_valid_i;
  wire errs     = has_inst && code != 4'd0;
  wire outside  = launches && entry_i >= prog_len_i;
  assign launches = moves && launch_i && !running_q;
  assign starts   = !rst_ni || launches;
  assign executes = has_inst && code == 4'd0;

  assign next__pc_q        = !rst_ni ? 32'd0 : launches ? entry_i : executes ? npc : pc_q;
  assign next__running_q   = !rst_ni ? 1'b0 : launches ? !outside : errs || (executes && eop) ? 1'b0 : running_q;
  assign next__done_q      = starts ? 1'b0 : executes && eop ? 1'b1 : done_q;
  assign next__halted_q    = !rst_ni ? 1'b0 : launches ? outside : errs ? 1'b1 : halted_q;
  assign next__err_q       = !rst_ni ? 4'd0 : launches ? (outside ? 4'd9 : 4'd0) : errs ? code : err_q;
  assign next__jump_q      = !rst_ni ? 1'b0 : stall_i ? jump_q : executes && jumps;
  assign next__skipped_q   = starts ? 1'b0 : executes && skips ? 1'b1 : skipped_q;
  assign next__prog_len_q  = launches ? prog_len_i : prog_len_q;
  assign next__depth_q     = starts ? 6'd0 : executes ? depth_after[5:0] : depth_q;
  assign next__u_loop__lt_q  = starts ? 2'd0 : executes ? lt_after : u_loop__lt_q;
  assign next__u_loop__lc_q  = starts ? 12'd0 : executes ? lc_after : u_loop__lc_q;
  assign next__u_loop__al_q  = starts ? 32'd0 : executes ? al_after : u_loop__al_q;
  assign next__u_loop__inc_q = starts ? 8'd0 : executes ? inc_after : u_loop__inc_q;
  assign next__u_stack__sp_q    = starts ? '0 : executes ? sp_after[SpBits-1:0] : u_stack__sp_q;
  assign next__u_stack__base_q  = starts ? '0 : executes ? base_after[SpBits-1:0] : u_stack__base_q;
  assign next__u_stack__bkind_q = starts ? 2'd0 : executes ? bkind_after : u_stack__bkind_q;
  assign next__u_stack__nb_q    = starts ? '0 : executes ? nb_after[SpBits-1:0] : u_stack__nb_q;
  // STACK_SIZE counts entries (r700-3.4-h).
  wire [11:0] most = SUBENTRIES * (stack_size_i < MAX_STACK_SIZE ? stack_size_i : MAX_STACK_SIZE);
  assign next__u_stack__limit_q = !rst_ni ? '0 : launches ? most[SpBits-1:0] : u_stack__limit_q;

  // ---- words pushed (r700-3.4-k) ---------------------------------------------------------------------

  wire [WordBits-1:0] zero  = '0;
  wire [WordBits-1:0] first = push_branch ? zero | was_active :
                              calls_now ? zero | {u_stack__base_q, u_stack__bkind_q, depth_q, pc_1} :
                              zero | u_lanes__st0_q;
  // Where the frame's words begin.
  wire [11:0] bottom = enters ? sp + SUBENTRIES - 12'd4 : sp;
  for (genvar a = 0; a < Words; a++) begin : g_write
    wire [WordBits-1:0] stored =
        executes && pushes && bottom == a ? first :
        executes && enters && bottom + 12'd1 == a ? zero | u_lanes__st1_q :
        executes && enters && bottom + 12'd2 == a ?
            zero | {u_stack__base_q, u_stack__bkind_q, u_loop__lt_q, u_loop__inc_q, u_loop__lc_q} :
        executes && enters && bottom + 12'd3 == a ? zero | u_loop__al_q : word[a];
    if (a % 4 == 0) assign next__u_stack__bank0_q[WordBits*(a/4) +: WordBits] = stored;
    if (a % 4 == 1) assign next__u_stack__bank1_q[WordBits*(a/4) +: WordBits] = stored;
    if (a % 4 == 2) assign next__u_stack__bank2_q[WordBits*(a/4) +: WordBits] = stored;
    if (a % 4 == 3) assign next__u_stack__bank3_q[WordBits*(a/4) +: WordBits] = stored;
  end

  // ---- constants (r700-3.3-f) ------------------------------------------------------------------------

  wire writes = moves && !running_q && const_we_i;
  for (genvar k = 0; k < 32; k++) begin : g_constant
    assign next__u_consts__loop_q[32*k +: 32] = !rst_ni ? 32'd0 :
                                                writes && const_addr_i == k ? const_wdata_i :
                                                u_consts__loop_q[32*k +: 32];
  end
  assign next__u_consts__bool_q = !rst_ni ? 32'd0 : writes && const_addr_i == 6'd32 ? const_wdata_i : u_consts__bool_q;

  // ---- outputs ---------------------------------------------------------------------------------------

  assign out__pc_o      = pc_q;
  assign out__valid_o   = u_lanes__valid_q;
  assign out__al_o      = u_loop__al_q;
  assign out__exec_o    = u_lanes__exec_q;
  assign out__jump_o    = jump_q;
  assign out__skipped_o = skipped_q;
  assign out__running_o = running_q;
  assign out__done_o    = done_q;
  assign out__halted_o  = halted_q;
  assign out__err_o     = err_q;

  assign prove__widths = !executes || (sp_after[11:SpBits] == '0 && base_after[11:SpBits] == '0 && nb_after[11:SpBits] == '0 &&
                                       !depth_after[6] && (!again || for_ever || u_loop__lc_q != 12'd0));

endmodule
