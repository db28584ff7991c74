// What r700 promises, as assertions: the invariants of its state, and what the comments of its files say about
// one cycle. They hold for all inputs.
//
// How simulators and formal tools read this file: ../spa5/spa5_sva.sv.
//
// Assertion I4 is invariant r700-I4, and so on. The invariants of the state hold together after a reset, and a cycle
// that begins with all of them ends with all of them. RETURN and LOOP_END restore registers from a frame, so the
// invariants of these registers must hold for every saved copy: a scan from `base` down to 0 visits every such frame.

// Word of sub-entry a: its two low bits select the bank.
`ifdef YOSYS
`define R700_SVA_BANK(bank, row) bank[WordBits*(row) +: WordBits]
`else
`define R700_SVA_BANK(bank, row) bank[row]
`endif
`define R700_SVA_WORD(a) \
  (((a) % 4 == 0) ? `R700_SVA_BANK(u_stack__bank0_q, (a) / 4) : \
   ((a) % 4 == 1) ? `R700_SVA_BANK(u_stack__bank1_q, (a) / 4) : \
   ((a) % 4 == 2) ? `R700_SVA_BANK(u_stack__bank2_q, (a) / 4) : `R700_SVA_BANK(u_stack__bank3_q, (a) / 4))

module r700_sva #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,
  parameter int SUBENTRIES     = 4,
  parameter int DX10_COUNT     = 0,
  localparam int WordBits      = (LANES > 56) ? LANES : 56,
  localparam int Rows          = MAX_STACK_SIZE * SUBENTRIES / 4,
  localparam int SpBits        = (SUBENTRIES == 8) ? 11 : 10
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic [31:0]      pc_o,
  input logic [LANES-1:0] active_o,
  input logic [LANES-1:0] valid_o,
  input logic [31:0]      al_o,
  input logic [LANES-1:0] exec_o,
  input logic             jump_o,
  input logic             skipped_o,
  input logic             running_o,
  input logic             done_o,
  input logic             halted_o,
  input logic [3:0]       err_o,

  // Registers.
  input logic             running_q,
  input logic             done_q,
  input logic             halted_q,
  input logic             jump_q,
  input logic             skipped_q,
  input logic [3:0]       err_q,
  input logic [31:0]      pc_q,
  input logic [31:0]      prog_len_q,
  input logic [5:0]       depth_q,
  input logic [LANES-1:0] u_lanes__active_q,
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
  input logic [1:0]        u_stack__bkind_q,
  input logic [SpBits-1:0] u_stack__nb_q,
  input logic [SpBits-1:0] u_stack__limit_q,
`ifdef YOSYS
  input logic [WordBits*Rows-1:0] u_stack__bank0_q,
  input logic [WordBits*Rows-1:0] u_stack__bank1_q,
  input logic [WordBits*Rows-1:0] u_stack__bank2_q,
  input logic [WordBits*Rows-1:0] u_stack__bank3_q,
`else
  input logic [WordBits-1:0] u_stack__bank0_q [Rows],
  input logic [WordBits-1:0] u_stack__bank1_q [Rows],
  input logic [WordBits-1:0] u_stack__bank2_q [Rows],
  input logic [WordBits-1:0] u_stack__bank3_q [Rows],
`endif

  // Nets.
  input logic             launch,
  input logic             commit,
  input logic             push_branch,
  input logic             push_loop,
  input logic             push_call,
  input logic             pop,
  input logic             drop,
  input logic             exit_loop,
  input logic             exit_call,
  input logic [2:0]       pops,
  input logic [LANES-1:0] u_lanes__on,
  input logic [LANES-1:0] u_lanes__st1_d,
  input logic [LANES-1:0] u_lanes__brk,
  input logic             u_loop__launch_i,
  input logic             u_loop__start_i,
  input logic             u_loop__start_dx10_i,
  input logic [11:0]      u_loop__count_i,
  input logic             u_loop__again_i,
  input logic             u_loop__leave_i,
  input logic [SpBits:0]  u_stack__need
);

  logic check;
`ifdef YOSYS
  assign check = 1'b1;
`else
  // A bench that preloads a state sets `loaded_q` (design.toml): then nothing is promised until a reset or a launch.
  logic loaded_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || launch) loaded_q <= 1'b0;
  end
  assign check = rst_ni & ~loaded_q;
`endif

  // ---- the frames, from the top down ---------------------------------------------------------------------

  // The registers as they were below the frames visited so far. Only loops and calls are visited: each ends at `base`,
  // and from there up to `sp`, or to the next frame, lie branch frames.
  logic [SpBits-1:0] base;
  logic [1:0]       bkind, lt;
  logic [11:0]      lc;
  logic [31:0]      al;
  logic [7:0]       inc;
  logic [5:0]       depth;
  logic [LANES-1:0] st0, st1;
  logic [WordBits-1:0] word, word0, word1, word2;
  // Right in all frames so far.
  logic             chain, loops, waits, index, depths;
  // Of each sub-entry: whether it is the last word of a call or a loop frame, and the `base` that this frame saved.
  logic [4*Rows-1:0] ends_call, ends_loop;
  logic [4*Rows*SpBits-1:0] saved;

  // Whether a loop of type `lt` counts its passes (r700-4.3-w, r700-4.3-z).
  logic counts, counts_below;
  assign counts       = (u_loop__lt_q == r700_pkg::LoopAl) | (u_loop__lt_q == r700_pkg::LoopNoAl) |
                        ((DX10_COUNT != 0) & (u_loop__lt_q == r700_pkg::LoopDx10));

  always_comb begin
    base     = u_stack__base_q;
    bkind    = u_stack__bkind_q;
    lt       = u_loop__lt_q;
    lc       = u_loop__lc_q;
    al       = u_loop__al_q;
    inc      = u_loop__inc_q;
    depth    = depth_q;
    st0      = u_lanes__st0_q;
    st1      = u_lanes__st1_q;
    ends_call = '0;
    ends_loop = '0;
    saved     = '0;
    counts_below = 1'b0;
    word     = '0;
    word0    = '0;
    word1    = '0;
    word2    = '0;
    chain    = 1'b1;
    loops    = (lc != 12'd0) == counts;
    waits    = (lt != r700_pkg::LoopNone) | (st1 == '0);
    index    = (lt != r700_pkg::LoopNone) | ((al == 32'd0) & (inc == 8'd0));
    depths   = depth <= 6'd32;
    for (int a = 4 * Rows - 1; a >= 0; a--) begin
      if (32'(base) == 32'(a) + 32'd1) begin
        word = `R700_SVA_WORD(a);
        if (bkind == r700_pkg::FrameCall) begin
          ends_call[a] = 1'b1;
          base   = word[40 +: SpBits];
          bkind  = word[39:38];
          depths = depths & (word[37:32] <= depth);
          depth  = word[37:32];
          saved[SpBits*a +: SpBits] = base;
          chain  = chain & (32'(base) <= 32'(a)) & (bkind != 2'd3) & ((bkind == r700_pkg::FrameNone) == (base == '0)) &
                   ((bkind != r700_pkg::FrameLoop) | (32'(base) >= 32'(SUBENTRIES)));
        end else if (bkind == r700_pkg::FrameLoop && a >= SUBENTRIES - 1) begin
          ends_loop[a] = 1'b1;
          // Its words are the last four.
          word0 = `R700_SVA_WORD((a >= 3) ? a - 3 : 0);
          word1 = `R700_SVA_WORD((a >= 3) ? a - 2 : 0);
          word2 = `R700_SVA_WORD((a >= 3) ? a - 1 : 0);
          // This frame belongs to a loop.
          loops = loops & (lt != r700_pkg::LoopNone);
          base  = word2[24 +: SpBits];
          bkind = word2[23:22];
          lt    = word2[21:20];
          inc   = word2[19:12];
          lc    = word2[11:0];
          al    = word[31:0];
          st0   = word0[LANES-1:0];
          st1   = word1[LANES-1:0];
          saved[SpBits*a +: SpBits] = base;
          chain = chain & (32'(base) <= 32'(a - SUBENTRIES + 1)) & (bkind != 2'd3) &
                  ((bkind == r700_pkg::FrameNone) == (base == '0)) &
                  ((bkind != r700_pkg::FrameLoop) | (32'(base) >= 32'(SUBENTRIES)));
          counts_below = (lt == r700_pkg::LoopAl) | (lt == r700_pkg::LoopNoAl) |
                         ((DX10_COUNT != 0) & (lt == r700_pkg::LoopDx10));
          loops = loops & ((lc != 12'd0) == counts_below);
          waits = waits & ((lt != r700_pkg::LoopNone) | (st1 == '0));
          index = index & ((lt != r700_pkg::LoopNone) | ((al == 32'd0) & (inc == 8'd0)));
        end
      end
    end
  end

  // The sub-entries of loops and calls, counted from the bottom: those below a frame fit below the `base` that it saved.
  logic [SpBits-1:0] framed;
  logic              fits;
  always_comb begin
    framed = '0;
    fits   = 1'b1;
    for (int a = 0; a < 4 * Rows; a++) begin
      if (ends_call[a] | ends_loop[a]) begin
        fits   = fits & (framed <= saved[SpBits*a +: SpBits]);
        framed = framed + (ends_loop[a] ? SpBits'(SUBENTRIES) : SpBits'(1));
      end
    end
  end

  // Sub-entries reserved for the masks while there is a branch frame.
  logic [SpBits-1:0] reserved;
  assign reserved = (u_stack__nb_q != '0) ? SpBits'(2) : '0;

  logic stack_base_here;
  assign stack_base_here = (u_stack__base_q <= u_stack__sp_q) & (u_stack__bkind_q != 2'd3) &
                           ((u_stack__bkind_q == r700_pkg::FrameNone) == (u_stack__base_q == '0)) &
                           ((u_stack__bkind_q != r700_pkg::FrameLoop) | (u_stack__base_q >= SpBits'(SUBENTRIES)));

  always @(posedge clk_i) begin
    if (check) begin
      // ---- invariants of the state ---------------------------------------------------------------------

      I1: assert ({1'b0, u_stack__sp_q} + {1'b0, reserved} <= {1'b0, u_stack__limit_q});
      // Every frame has room below it, and what it saved leads to the next; the last one ends at 0.
      I2: assert (stack_base_here & chain & (base == '0));
      // Every sub-entry outside loop and call frames is a branch frame.
      I3: assert (u_stack__nb_q == u_stack__sp_q - framed);
      // A call never has a smaller depth than the one below it; the lowest depth is 0.
      I4: assert (depths & (depth == 6'd0));
      // A loop is open if and only if it has a frame, and its count is not 0 if and only if it counts.
      I5: assert (loops & (lt == r700_pkg::LoopNone));
      // CONT and BRK lanes are in a loop.
      I6: assert (waits);
      // Outside loops aL and its step are 0.
      I7: assert (index);
      I8: assert ($onehot0({running_q, done_q, halted_q}) & (halted_q == (err_q != r700_pkg::ErrOk)) &
                  (err_q <= r700_pkg::ErrPcRange));
      // I2 for `base` and `bkind` alone, and I3 for each part of the stack, as far as one cycle depends on them.
      stack_base: assert (stack_base_here);
      stack_parts: assert (fits & (framed <= u_stack__base_q));
      // active_q repeats class ACTIVE.
      active_is_class: assert (u_lanes__active_q == ~(u_lanes__st0_q | u_lanes__st1_q));
      // The limit is a whole number of entries.
      limit_in_range: assert ((u_stack__limit_q[SpBits-9:0] == '0) & (32'(u_stack__limit_q) <= SUBENTRIES * MAX_STACK_SIZE));
      // While a wave runs, its PC is inside the program.
      pc_in_program: assert (~running_q | (pc_q < prog_len_q));

      // ---- what the comments say -----------------------------------------------------------------------

      // r700_seq: every output is a register.
      outputs_registered: assert ((pc_o == pc_q) & (active_o == u_lanes__active_q) &
                                  (valid_o == u_lanes__valid_q) & (al_o == u_loop__al_q) &
                                  (exec_o == u_lanes__exec_q) & (jump_o == jump_q) & (skipped_o == skipped_q) &
                                  (running_o == running_q) & (done_o == done_q) & (halted_o == halted_q) &
                                  (err_o == err_q));
      // r700_seq, r700_stack: at most one request, none in the cycle of a launch.
      stack_onehot: assert ($onehot0({launch, push_branch, push_loop, push_call, pop, drop, exit_loop,
                                      exit_call}));
      // r700_seq: without frames to pop, `pop` is not set.
      pop_counts: assert (~pop | (pops != 3'd0));
      // r700_stack: a push ends below the limit, the reserve included.
      stack_not_over: assert (~(commit & (push_branch | push_loop | push_call)) |
                              (u_stack__need <= {1'b0, u_stack__limit_q}));
      // r700_stack: a pop never reaches below `base`.
      stack_not_under: assert (~(commit & pop) | (SpBits'(pops) <= u_stack__sp_q - u_stack__base_q));
      // r700_stack: LOOP_END and RETURN find their frame right under `sp`; BREAK and CONTINUE are in a loop.
      exit_loop_at_frame: assert (~(commit & exit_loop) | ((u_stack__sp_q == u_stack__base_q) &
                                                           (u_stack__bkind_q == r700_pkg::FrameLoop)));
      exit_call_at_frame: assert (~(commit & exit_call) | ((u_stack__sp_q == u_stack__base_q) &
                                                           (u_stack__bkind_q == r700_pkg::FrameCall)));
      drop_in_loop: assert (~(commit & drop) | (u_stack__bkind_q == r700_pkg::FrameLoop));
      // r700_loop: the requests belong to different instructions.
      loop_onehot: assert ($onehot0({u_loop__launch_i, u_loop__start_i, u_loop__again_i, u_loop__leave_i}));
      // r700_loop: a loop that counts begins with a count, and never goes below 1.
      loop_counts: assert (~u_loop__start_i | (u_loop__start_dx10_i & (DX10_COUNT == 0)) | (u_loop__count_i != 12'd0));
      again_counts: assert (~u_loop__again_i | ~counts | (u_loop__lc_q > 12'd1));
      // r700_lanes: the three planes of the next state give each lane one class.
      classes_exclusive: assert (~commit | (((u_lanes__on & u_lanes__st1_d) == '0) &
                                            ((u_lanes__brk & ~u_lanes__st1_d) == '0)));
    end
  end

  // What Yosys does not use, and bits of words that their frame does not have.
  logic unused_bits;
  assign unused_bits = ^{rst_ni, word, word0, word1, word2, st0};

endmodule

`ifndef YOSYS
bind r700_seq r700_sva #(
  .LANES          (LANES),
  .MAX_STACK_SIZE (MAX_STACK_SIZE),
  .SUBENTRIES     (SUBENTRIES),
  .DX10_COUNT     (DX10_COUNT)
) u_sva (
  .clk_i, .rst_ni, .pc_o, .active_o, .valid_o, .al_o, .exec_o, .jump_o, .skipped_o, .running_o, .done_o,
  .halted_o, .err_o,
  .running_q, .done_q, .halted_q, .jump_q, .skipped_q, .err_q, .pc_q, .prog_len_q, .depth_q,
  .u_lanes__active_q    (u_lanes.active_q),
  .u_lanes__st0_q       (u_lanes.st0_q),
  .u_lanes__st1_q       (u_lanes.st1_q),
  .u_lanes__valid_q     (u_lanes.valid_q),
  .u_lanes__exec_q      (u_lanes.exec_q),
  .u_loop__lt_q         (u_loop.lt_q),
  .u_loop__lc_q         (u_loop.lc_q),
  .u_loop__al_q         (u_loop.al_q),
  .u_loop__inc_q        (u_loop.inc_q),
  .u_stack__sp_q        (u_stack.sp_q),
  .u_stack__base_q      (u_stack.base_q),
  .u_stack__bkind_q     (u_stack.bkind_q),
  .u_stack__nb_q        (u_stack.nb_q),
  .u_stack__limit_q     (u_stack.limit_q),
  .u_stack__bank0_q     (u_stack.bank0_q),
  .u_stack__bank1_q     (u_stack.bank1_q),
  .u_stack__bank2_q     (u_stack.bank2_q),
  .u_stack__bank3_q     (u_stack.bank3_q),
  .launch, .commit, .push_branch, .push_loop, .push_call, .pop, .drop, .exit_loop, .exit_call, .pops,
  .u_lanes__on          (u_lanes.on),
  .u_lanes__st1_d       (u_lanes.st1_d),
  .u_lanes__brk         (u_lanes.brk),
  .u_loop__launch_i     (u_loop.launch_i),
  .u_loop__start_i      (u_loop.start_i),
  .u_loop__start_dx10_i (u_loop.start_dx10_i),
  .u_loop__count_i      (u_loop.count_i),
  .u_loop__again_i      (u_loop.again_i),
  .u_loop__leave_i      (u_loop.leave_i),
  .u_stack__need        (u_stack.need)
);
`endif
