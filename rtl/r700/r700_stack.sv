// The stack of branch, loop and call frames, and the registers that locate them (r700-3.2-b to r700-3.2-e, r700-3.4).
//
// A word is one sub-entry; sub-entry a is word a / 4 of bank a % 4. So any four consecutive words lie in
// four different banks, whatever their alignment: a loop frame is read or written in one access.
//
//   frame   word  bits of the word
//   branch  0     LANES-1:0 mask
//   call    0     31:0 return address, 37:32 depth, 39:38 bkind, from 40 base
//   loop    0, 1  LANES-1:0 class planes st0, st1
//           2     11:0 lc, 19:12 inc, 21:20 lt, 23:22 bkind, from 24 base
//           3     31:0 aL
//
// With SUBENTRIES = 8 a loop frame has four more sub-entries below these words; they are not written.
//
// Each bank has one write port and two read ports: the window of four words under `sp`, and the one word
// that a pop uses, at sp - POP_COUNT. An ELSE needs both, possibly from the same bank (POP_COUNT 5).
//
// Corner cases:
// * At most one of the push and pop requests is set: they belong to different instructions. Nothing
//   changes without `commit_i`; `overflow_o`, `underflow_o` and `empty_o` do not depend on it, so that
//   the unit above can find errors with them.
// * Space: while any branch frame is live, two sub-entries more are reserved, whatever is pushed next. The
//   sum needs one bit more than `sp`: a loop frame on top of 255 entries ends at 256 entries. An `sp` that
//   does not fit is never stored.
// * A pop never reaches below `base`. A pop that would read there, or below address 0, is an error.
// * LOOP_END and RETURN are refused above unless sp = base, so their frame is the one under `sp`.
// * The memory is not reset. Except in the cases above it is read under `sp` only, and the push that
//   raised `sp` wrote every word there: all words of a frame are written in one cycle.
// * launch_i and a request never coincide: a launch is accepted only while nothing runs.

module r700_stack #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,  // entries, 1 to 255
  parameter int SUBENTRIES     = 4,   // of an entry, 4 or 8 (r700-3.4-h)
  localparam int WordBits      = (LANES > 56) ? LANES : 56,
  localparam int Rows          = MAX_STACK_SIZE * SUBENTRIES / 4,
  localparam int RowBits       = (Rows > 1) ? $clog2(Rows) : 1,
  localparam int SpBits        = (SUBENTRIES == 8) ? 11 : 10
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             launch_i,
  input  logic [7:0]       stack_size_i,   // its operand, entries
  input  logic             commit_i,

  input  logic             push_branch_i,
  input  logic             push_loop_i,
  input  logic             push_call_i,
  input  logic             pop_i,          // pop_cnt_i branch frames, not 0
  input  logic [2:0]       pop_cnt_i,
  input  logic             drop_i,         // all branch frames down to `base`
  input  logic             exit_loop_i,    // the loop frame, by LOOP_END
  input  logic             exit_call_i,    // the call frame, by RETURN

  // Contents of a push.
  input  logic [LANES-1:0] active_i,
  input  logic [LANES-1:0] st0_i,
  input  logic [LANES-1:0] st1_i,
  input  logic [1:0]       lt_i,
  input  logic [11:0]      lc_i,
  input  logic [31:0]      al_i,
  input  logic [7:0]       inc_i,
  input  logic [31:0]      ret_i,
  input  logic [5:0]       depth_i,

  // Contents read.
  input  logic             top_re_i,       // without it the next three are 0
  output logic [LANES-1:0] top_mask_o,     // branch frame under `sp`
  output logic [31:0]      frame_ret_o,    // call frame under `sp`
  output logic [5:0]       frame_depth_o,
  output logic [LANES-1:0] pop_mask_o,     // last branch frame popped; 0 without pop_i
  output logic [LANES-1:0] frame_st0_o,    // loop frame under `sp`; 0 without exit_loop_i
  output logic [LANES-1:0] frame_st1_o,
  output logic [1:0]       frame_lt_o,
  output logic [11:0]      frame_lc_o,
  output logic [31:0]      frame_al_o,
  output logic [7:0]       frame_inc_o,

  output logic [1:0]       bkind_o,        // r700_pkg::Frame*
  output logic             open_o,         // there is a branch frame above `base`
  output logic             underflow_o,
  output logic             overflow_o,
  output logic             empty_o         // the stack will be empty after this instruction
);

  logic [WordBits-1:0] bank0_q [Rows];
  logic [WordBits-1:0] bank1_q [Rows];
  logic [WordBits-1:0] bank2_q [Rows];
  logic [WordBits-1:0] bank3_q [Rows];

  logic [SpBits-1:0] sp_d, sp_q, base_d, base_q, nb_d, nb_q;
  logic [1:0]        bkind_d, bkind_q;
  logic [SpBits-1:0] limit_q;

  assign bkind_o = bkind_q;
  assign open_o  = sp_q != base_q;
  assign empty_o = sp_d == '0;

  // ---- reads ---------------------------------------------------------------------------------------

  logic [1:0]         at;
  logic [RowBits-1:0] row, row_below;

  assign at        = sp_q[1:0];
  assign row       = sp_q[RowBits+1:2];
  assign row_below = row - 1'b1;

  // The window: banks below `at` in this row, the others in the row below.
  logic [WordBits-1:0] under0, under1, under2, under3;  // by bank
  logic [WordBits-1:0] top_word;                        // at sp - 1

  always_comb begin
    under0   = '0;
    under1   = '0;
    under2   = '0;
    under3   = '0;
    top_word = '0;
    if (top_re_i) begin
      under0 = bank0_q[(at > 2'd0) ? row : row_below];
      under1 = bank1_q[(at > 2'd1) ? row : row_below];
      under2 = bank2_q[(at > 2'd2) ? row : row_below];
      under3 = bank3_q[row_below];
      unique case (at)
        2'd0: top_word = under3;
        2'd1: top_word = under0;
        2'd2: top_word = under1;
        2'd3: top_word = under2;
      endcase
    end
  end

  assign top_mask_o    = top_word[LANES-1:0];
  assign frame_ret_o   = top_word[31:0];
  assign frame_depth_o = top_word[37:32];
  assign frame_al_o    = top_word[31:0];

  logic [WordBits-1:0] frame0, frame1, frame2;  // at sp - 4, sp - 3, sp - 2
  logic [1:0]          frame_bkind;
  logic [SpBits-1:0]   frame_base;

  always_comb begin
    frame0 = '0;
    frame1 = '0;
    frame2 = '0;
    if (exit_loop_i) begin
      unique case (at)
        2'd0: begin
          frame0 = under0;
          frame1 = under1;
          frame2 = under2;
        end
        2'd1: begin
          frame0 = under1;
          frame1 = under2;
          frame2 = under3;
        end
        2'd2: begin
          frame0 = under2;
          frame1 = under3;
          frame2 = under0;
        end
        2'd3: begin
          frame0 = under3;
          frame1 = under0;
          frame2 = under1;
        end
      endcase
    end
  end

  assign frame_st0_o = frame0[LANES-1:0];
  assign frame_st1_o = frame1[LANES-1:0];
  assign frame_lc_o  = frame2[11:0];
  assign frame_inc_o = frame2[19:12];
  assign frame_lt_o  = frame2[21:20];
  assign frame_bkind = exit_loop_i ? frame2[23:22] : top_word[39:38];
  assign frame_base  = exit_loop_i ? frame2[24 +: SpBits] : top_word[40 +: SpBits];

  logic [SpBits-1:0]   pop_addr;
  logic [1:0]          pop_at;
  logic [RowBits-1:0]  pop_row;
  logic [WordBits-1:0] pop_word;

  assign pop_addr = sp_q - SpBits'(pop_cnt_i);
  assign pop_at   = pop_addr[1:0];
  assign pop_row  = pop_addr[RowBits+1:2];

  always_comb begin
    pop_word = '0;
    if (pop_i) begin
      unique case (pop_at)
        2'd0: pop_word = bank0_q[pop_row];
        2'd1: pop_word = bank1_q[pop_row];
        2'd2: pop_word = bank2_q[pop_row];
        2'd3: pop_word = bank3_q[pop_row];
      endcase
    end
  end

  assign pop_mask_o = pop_word[LANES-1:0];

  // ---- writes --------------------------------------------------------------------------------------

  logic                push, push_higher;
  logic [RowBits-1:0]  push_row, push_row_above;
  logic [3:0]          we;                            // by bank
  logic [WordBits-1:0] word0, word1, word2, word3;    // by place in the frame
  logic [WordBits-1:0] wdata0, wdata1, wdata2, wdata3;  // by bank

  assign push = push_branch_i | push_loop_i | push_call_i;

  // The words of a loop frame are its last four: a row higher if it has eight sub-entries.
  assign push_higher    = (SUBENTRIES == 8) & push_loop_i;
  assign push_row       = row + RowBits'(push_higher);
  assign push_row_above = push_row + 1'b1;

  always_comb begin
    we     = '0;
    word0  = '0;
    word1  = '0;
    word2  = '0;
    word3  = '0;
    wdata0 = '0;
    wdata1 = '0;
    wdata2 = '0;
    wdata3 = '0;
    if (push) begin
      if (push_loop_i) begin
        word0[LANES-1:0]   = st0_i;
        word1[LANES-1:0]   = st1_i;
        word2[SpBits+23:0] = {base_q, bkind_q, lt_i, inc_i, lc_i};
        word3[31:0]        = al_i;
      end else if (push_call_i) begin
        word0[SpBits+39:0] = {base_q, bkind_q, depth_i, ret_i};
      end else begin
        word0[LANES-1:0] = active_i;
      end
      unique case (at)
        2'd0: begin
          we     = {{3{push_loop_i}}, 1'b1};
          wdata0 = word0;
          wdata1 = word1;
          wdata2 = word2;
          wdata3 = word3;
        end
        2'd1: begin
          we     = {{2{push_loop_i}}, 1'b1, push_loop_i};
          wdata1 = word0;
          wdata2 = word1;
          wdata3 = word2;
          wdata0 = word3;
        end
        2'd2: begin
          we     = {push_loop_i, 1'b1, {2{push_loop_i}}};
          wdata2 = word0;
          wdata3 = word1;
          wdata0 = word2;
          wdata1 = word3;
        end
        2'd3: begin
          we     = {1'b1, {3{push_loop_i}}};
          wdata3 = word0;
          wdata0 = word1;
          wdata1 = word2;
          wdata2 = word3;
        end
      endcase
      we = we & {4{commit_i}};
    end
  end

  always_ff @(posedge clk_i) begin
    if (we[0]) bank0_q[(at > 2'd0) ? push_row_above : push_row] <= wdata0;
    if (we[1]) bank1_q[(at > 2'd1) ? push_row_above : push_row] <= wdata1;
    if (we[2]) bank2_q[(at > 2'd2) ? push_row_above : push_row] <= wdata2;
    if (we[3]) bank3_q[push_row] <= wdata3;
  end

  // ---- registers -----------------------------------------------------------------------------------

  localparam logic [SpBits-1:0] One       = 1;
  localparam logic [SpBits-1:0] LoopFrame = SpBits'(SUBENTRIES);
  localparam logic [SpBits:0]   Reserve   = 2;

  logic [SpBits-1:0] open_frames;
  logic [SpBits:0]   need;  // with a push: sub-entries up to its end, and those reserved for the masks

  assign open_frames = sp_q - base_q;
  assign need        = {1'b0, sp_q} + {1'b0, push_loop_i ? LoopFrame : One}
                     + ((push_branch_i | (nb_q != '0)) ? Reserve : '0);
  assign overflow_o  = push & (need > {1'b0, limit_q});
  assign underflow_o = pop_i & (SpBits'(pop_cnt_i) > open_frames);

  always_comb begin
    sp_d    = sp_q;
    base_d  = base_q;
    bkind_d = bkind_q;
    nb_d    = nb_q;
    if (push_branch_i) begin
      sp_d = sp_q + One;
      nb_d = nb_q + One;
    end else if (pop_i) begin
      sp_d = pop_addr;
      nb_d = nb_q - SpBits'(pop_cnt_i);
    end else if (push_loop_i) begin
      sp_d    = sp_q + LoopFrame;
      base_d  = sp_d;
      bkind_d = r700_pkg::FrameLoop;
    end else if (push_call_i) begin
      sp_d    = sp_q + One;
      base_d  = sp_d;
      bkind_d = r700_pkg::FrameCall;
    end else if (drop_i) begin
      sp_d = base_q;
      nb_d = nb_q - open_frames;
    end else if (exit_loop_i | exit_call_i) begin
      sp_d    = sp_q - (exit_loop_i ? LoopFrame : One);
      base_d  = frame_base;
      bkind_d = frame_bkind;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || launch_i) begin
      sp_q    <= '0;
      base_q  <= '0;
      bkind_q <= r700_pkg::FrameNone;
      nb_q    <= '0;
    end else if (commit_i) begin
      sp_q    <= sp_d;
      base_q  <= base_d;
      bkind_q <= bkind_d;
      nb_q    <= nb_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      limit_q <= '0;
    end else if (launch_i) begin
      limit_q <= {(stack_size_i < 8'(MAX_STACK_SIZE)) ? stack_size_i : 8'(MAX_STACK_SIZE), {(SpBits-8){1'b0}}};
    end
  end

  // Bits that no frame reads back, and the address bits above the row.
  logic unused_bits;
  assign unused_bits = ^{top_word, pop_word, frame0, frame1, frame2, pop_addr};

endmodule
