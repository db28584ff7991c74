// What spa5 promises, as assertions: the invariants of its state, and what the comments of its files say about
// one cycle. What it relies on is assumed.
//
// A simulator that compiles this file with the unit binds it to every spa5_seq; an assertion that fails stops the
// simulation. Yosys 0.23 reads `bind` and ignores it: formal tools connect the ports by name instead. Port
// `u_stack__sp_q` is register or net `u_stack.sp_q` of the flattened unit; a memory is one vector, word 0 lowest.
//
// Assertion I4 is invariant spa5-I4, and so on. The invariants of the state hold together after a reset, and a cycle
// that begins with all of them ends with all of them. spa5-I7 is not here, since I7b is stronger. I8 and I9 follow from
// the others.

// Stored token i: {type, vis, addr} and mask.
`ifdef YOSYS
`define SPA5_SVA_HEAD(i) u_stack__head_q[39*(i) +: 39]
`define SPA5_SVA_MASK(i) u_stack__mask_q[LANES*(i) +: LANES]
`else
`define SPA5_SVA_HEAD(i) u_stack__head_q[i]
`define SPA5_SVA_MASK(i) u_stack__mask_q[i]
`endif

module spa5_sva #(
  parameter int LANES = 32,
  parameter int DEPTH = 64,
  parameter int BRX   = 0,
  parameter int CSM   = 0,
  localparam int SpBits = $clog2(DEPTH + 1)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic [31:0]      entry_i,
  input logic [31:0]      prog_base_i,
  input logic [31:0]      prog_size_i,
  input logic [31:0]      pc_o,
  input logic [LANES-1:0] active_o,
  input logic [LANES-1:0] killed_o,
  input logic [1:0]       status_o,
  input logic [3:0]       err_o,

  // Registers.
  input logic [1:0]        status_q,
  input logic [3:0]        err_q,
  input logic [31:0]       pc_q,
  input logic [31:0]       prog_base_q,
  input logic [31:0]       prog_size_q,
  input logic [LANES-1:0]  u_threads__active_q,
  input logic [LANES-1:0]  u_threads__exited_q,
  input logic [LANES-1:0]  u_threads__killed_q,
  input logic [LANES-1:0]  u_threads__d_brk_q,
  input logic [LANES-1:0]  u_threads__d_cont_q,
  input logic [LANES-1:0]  u_threads__d_ret_q,
  input logic [3:0]        u_stack__vis_q,
  input logic [SpBits-1:0] u_stack__sp_q,
  input logic [38:0]       u_stack__top_head_q,
  input logic [LANES-1:0]  u_stack__top_mask_q,
`ifdef YOSYS
  input logic [39*DEPTH-1:0]    u_stack__head_q,
  input logic [LANES*DEPTH-1:0] u_stack__mask_q,
`else
  input logic [38:0]            u_stack__head_q [DEPTH],
  input logic [LANES-1:0]       u_stack__mask_q [DEPTH],
`endif

  // Nets.
  input logic             launch,
  input logic             run,
  input logic             step,
  input logic             commit,
  input logic             some,
  input logic             all,
  input logic             is_brx,
  input logic [LANES-1:0] group,
  input logic [4:0]       leave,
  input logic [4:0]       cc,
  input logic             kill,
  input logic             no_token,
  input logic             illegal,
  input logic             unsupported,
  input logic             misaligned,
  input logic             range,
  input logic             overflow,
  input logic             u_threads__launch_i,
  input logic             u_threads__leave_i,
  input logic             u_threads__split_i,
  input logic             u_threads__pop_i,
  input logic             u_stack__launch_i,
  input logic             u_stack__push_i,
  input logic             u_stack__pop_i,
  input logic             u_stack__full_o,
  input logic             u_stack__empty_o
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

  logic [31:0] sp;
  assign sp = 32'(u_stack__sp_q);

  logic [LANES-1:0] dis, live, brk, cont, ret;
  assign brk  = u_threads__d_brk_q;
  assign cont = u_threads__d_cont_q;
  assign ret  = u_threads__d_ret_q;
  assign dis  = brk | cont | ret | u_threads__exited_q;
  assign live = ~u_threads__exited_q;

  logic [2:0] top_token;
  assign top_token = u_stack__top_head_q[38:36];

  // ---- the tokens, from the oldest to the one on top -------------------------------------------------

  // Sets of threads, by the tokens so far.
  logic [LANES-1:0] shared;                      // in every token that is not a DIV
  logic [LANES-1:0] in_div, in_pbk, in_pcnt, in_ret;
  logic [LANES-1:0] to_ssy;                      // the topmost token with the thread is an SSY
  logic [LANES-1:0] to_pbk, to_pcnt;             // no RET with the thread lies above its PBK, its PCNT
  logic [3:0]       vis;
  // Fields of one token.
  logic [2:0]       token;
  logic [3:0]       token_vis;
  logic [31:0]      addr;
  logic [LANES-1:0] mask;
  // Threads for which some token so far breaks the invariant, one bit for each: a proof can check one at a time.
  logic [LANES-1:0] not_i3, not_i4, not_i4b, not_i5;
  // No token so far breaks the invariant.
  logic             i10, sound, top_twice;

  always_comb begin
    shared    = '1;
    in_div    = '0;
    in_pbk    = '0;
    in_pcnt   = '0;
    in_ret    = '0;
    to_ssy    = '0;
    to_pbk    = '0;
    to_pcnt   = '0;
    vis       = '0;
    {token, token_vis, addr} = '0;
    mask      = '0;
    not_i3    = '0;
    not_i4    = '0;
    not_i4b   = '0;
    not_i5    = '0;
    i10       = 1'b1;
    sound     = 1'b1;
    top_twice = 1'b1;
    for (int i = 0; i < DEPTH; i++) begin
      if (32'(i) < sp) begin
        {token, token_vis, addr} = `SPA5_SVA_HEAD(i);
        mask = `SPA5_SVA_MASK(i);

        sound = sound & (token != 3'd0) & (token <= spa5_pkg::TokenDiv) & (mask != '0) &
                (addr[4:0] != 5'd0) & (addr[2:0] == 3'd0);
        not_i5  = not_i5 | (mask & ~shared);
        not_i4b = not_i4b | (mask & in_div);
        i10     = i10 & (token_vis == vis);
        to_ssy  = to_ssy & ~mask;
        if (token == spa5_pkg::TokenDiv) begin
          not_i4 = not_i4 | (mask & (u_threads__active_q | dis));
          in_div = in_div | mask;
        end else begin
          not_i3 = not_i3 | (u_threads__active_q & ~mask);
          shared = shared & mask;
        end
        case (token)
          spa5_pkg::TokenSsy: begin
            to_ssy = to_ssy | mask;
            vis    = vis | 4'b0001;
          end
          spa5_pkg::TokenPbk: begin
            in_pbk = in_pbk | mask;
            to_pbk = to_pbk | mask;
            vis    = (vis & 4'b1110) | 4'b0010;
          end
          spa5_pkg::TokenPcnt: begin
            in_pcnt = in_pcnt | mask;
            to_pcnt = to_pcnt | mask;
            vis     = (vis & 4'b1110) | 4'b0100;
          end
          spa5_pkg::TokenRet: begin
            in_ret  = in_ret | mask;
            to_pbk  = to_pbk & ~mask;
            to_pcnt = to_pcnt & ~mask;
            vis     = 4'b1000;
          end
          default: ;
        endcase
        if (32'(i) + 1 == sp) begin
          top_twice = (u_stack__top_head_q == {token, token_vis, addr}) & (u_stack__top_mask_q == mask);
        end
      end
    end
  end

  // Which threads a token of type PBK, PCNT or RET on top would resume, if it were popped now.
  logic pops_complete;
  always_comb begin
    case (top_token)
      spa5_pkg::TokenPbk:
        pops_complete = (u_stack__top_mask_q & ~(cont | ret | u_threads__exited_q)) == (u_stack__top_mask_q & brk);
      spa5_pkg::TokenPcnt:
        pops_complete = (u_stack__top_mask_q & ~(brk | ret | u_threads__exited_q)) == (u_stack__top_mask_q & cont);
      spa5_pkg::TokenRet:
        pops_complete = (u_stack__top_mask_q & ~(brk | cont | u_threads__exited_q)) == (u_stack__top_mask_q & ret);
      default: pops_complete = 1'b1;
    endcase
  end

  always @(posedge clk_i) begin
    if (check) begin
      // ---- invariants of the state ---------------------------------------------------------------------

      // In RUN some thread is active, in UNWIND and DONE none is. ERR keeps what the error found.
      I1: assert ((status_q == spa5_pkg::StatusErr) |
                  ((status_q == spa5_pkg::StatusRun) == (u_threads__active_q != '0)));
      // No thread is in two of d_brk, d_cont, d_ret, exited and active.
      I2: assert (((brk & cont) | (brk & ret) | (brk & u_threads__exited_q) | (cont & ret) |
                   (cont & u_threads__exited_q) | (ret & u_threads__exited_q) |
                   (u_threads__active_q & dis)) == '0);
      // An active thread is in every token that is not a DIV.
      I3: assert (not_i3 == '0);
      // The threads of a DIV are neither active nor flagged, and in no token above it.
      I4: assert (not_i4 == '0);
      I4b: assert (not_i4b == '0);
      // The threads of a token are in every token below it that is not a DIV.
      I5: assert (not_i5 == '0);
      // A thread with a flag is in a token that will clear it, and no RET with this thread lies above that token.
      I6: assert (((brk & ~in_pbk) | (cont & ~in_pcnt) | (ret & ~in_ret)) == '0);
      I6b: assert (((brk & ~to_pbk) | (cont & ~to_pcnt)) == '0);
      // No thread is lost: one that is neither active nor flagged nor in a DIV waits for an SSY, the
      // topmost token with this thread.
      I7b: assert ((live & ~u_threads__active_q & ~dis & ~in_div & ~to_ssy) == '0);
      // With an empty stack, every thread that has not exited is active.
      I8: assert ((sp != '0) | (u_threads__active_q == live));
      // When a token is popped, each of its threads has left by its own leaving instruction or further out.
      I9: assert ((status_q != spa5_pkg::StatusUnwind) | (sp == '0) | pops_complete);
      // `vis`, and its copy in each token, follow from the types of the tokens below.
      I10: assert (i10 & (u_stack__vis_q == vis));
      // DONE means no token, no flag, every thread exited.
      I11: assert ((status_q != spa5_pkg::StatusDone) | ((sp == '0) & (u_threads__exited_q == '1)));
      // A thread that was killed has exited. (That it was launched too: no register holds the launch mask.)
      I12: assert ((u_threads__killed_q & ~u_threads__exited_q) == '0);

      sp_in_range: assert (sp <= DEPTH);
      // A token has a type, a thread, and the address of an instruction.
      tokens_sound: assert (sound);
      // The top register holds token sp - 1.
      top_is_top: assert (top_twice);
      pc_normalized: assert ((pc_q[4:0] != 5'd0) & (pc_q[2:0] == 3'd0));
      size_in_bundles: assert ((prog_size_q[4:0] == 5'd0) & (prog_base_q[4:0] == 5'd0));
      // The program ends at 2^32 or before: the address of its last bundle has 32 bits.
      program_ends: assert (({1'b0, prog_base_q} + {1'b0, prog_size_q}) <= 33'h1_0000_0000);
      err_in_err: assert (((status_q == spa5_pkg::StatusErr) == (err_q != spa5_pkg::ErrOk)) &
                          (err_q <= spa5_pkg::ErrUnsupported));

      // ---- what the comments say --------------------------------------------------------------------------

      // spa5_seq: every output is a register.
      outputs_registered: assert ((pc_o == pc_q) & (active_o == u_threads__active_q) & (status_o == status_q) &
                                  (err_o == err_q) & (killed_o == u_threads__killed_q));
      // spa5_seq: a thread is active, so `all` implies `some` for a leaving instruction.
      all_is_some: assert (~(run & all & (leave != spa5_pkg::LeaveNone) & step & ~some));
      // spa5_seq: errors 1 to 4 never coincide with another.
      no_token_alone: assert (~(step & no_token & (illegal | unsupported | misaligned | range | overflow)));
      // spa5_decode: an instruction is at most one of the leaving instructions.
      leave_onehot: assert ($onehot0(leave));
      // spa5_decode: KIL leaves as EXIT does.
      kil_exits: assert (~kill | (leave == spa5_pkg::LeaveExit));
      // spa5_decode: a leaving instruction with a test of the clip state machine is refused in a unit without one.
      clip_tests: assert (~(step & (leave != spa5_pkg::LeaveNone) & (cc >= 5'd24)) | (unsupported == (CSM == 0)));
      // spa5_brx: a group is never empty.
      group_not_empty: assert ((BRX == 0) | ~(commit & is_brx) | (group != '0));
      // spa5_threads, spa5_stack: at most one request.
      threads_onehot: assert ($onehot0({u_threads__launch_i, u_threads__leave_i, u_threads__split_i,
                                        u_threads__pop_i}));
      stack_onehot: assert ($onehot0({u_stack__launch_i, u_stack__push_i, u_stack__pop_i}));
      // spa5_stack: no push arrives at a full stack, and no pop at an empty one.
      stack_not_over: assert (~(u_stack__push_i & u_stack__full_o));
      stack_not_under: assert (~(u_stack__pop_i & u_stack__empty_o));

      // ---- what the unit relies on ------------------------------------------------------------------------

      // spa5-6: a launch gives the address of an instruction, or of a control word, and whole bundles that end at
      // 2^32 or before.
      launch_aligned: assume (~launch | ((entry_i[2:0] == 3'd0) & (prog_base_i[4:0] == 5'd0) & (prog_size_i[4:0] == 5'd0)));
      launch_ends: assume (~launch | (({1'b0, prog_base_i} + {1'b0, prog_size_i}) <= 33'h1_0000_0000));
    end
  end

  // Unused bits of vectors that are used in part, and what Yosys does not use.
  logic unused_bits;
  assign unused_bits = ^{rst_ni, entry_i, prog_base_i, prog_base_q, prog_size_i, prog_size_q};

endmodule

`ifndef YOSYS
bind spa5_seq spa5_sva #(
  .LANES(LANES),
  .DEPTH(DEPTH),
  .BRX  (BRX),
  .CSM  (CSM)
) u_sva (
  .clk_i, .rst_ni, .entry_i, .prog_base_i, .prog_size_i, .pc_o, .active_o, .killed_o, .status_o, .err_o,
  .status_q, .err_q, .pc_q, .prog_base_q, .prog_size_q,
  .u_threads__active_q (u_threads.active_q),
  .u_threads__exited_q (u_threads.exited_q),
  .u_threads__killed_q (u_threads.killed_q),
  .u_threads__d_brk_q  (u_threads.d_brk_q),
  .u_threads__d_cont_q (u_threads.d_cont_q),
  .u_threads__d_ret_q  (u_threads.d_ret_q),
  .u_stack__vis_q      (u_stack.vis_q),
  .u_stack__sp_q       (u_stack.sp_q),
  .u_stack__top_head_q (u_stack.top_head_q),
  .u_stack__top_mask_q (u_stack.top_mask_q),
  .u_stack__head_q     (u_stack.head_q),
  .u_stack__mask_q     (u_stack.mask_q),
  .launch, .run, .step, .commit, .some, .all, .is_brx, .group, .leave, .cc, .kill, .no_token, .illegal, .unsupported, .misaligned,
  .range, .overflow,
  .u_threads__launch_i (u_threads.launch_i),
  .u_threads__leave_i  (u_threads.leave_i),
  .u_threads__split_i  (u_threads.split_i),
  .u_threads__pop_i    (u_threads.pop_i),
  .u_stack__launch_i   (u_stack.launch_i),
  .u_stack__push_i     (u_stack.push_i),
  .u_stack__pop_i      (u_stack.pop_i),
  .u_stack__full_o     (u_stack.full_o),
  .u_stack__empty_o    (u_stack.empty_o)
);
`endif
