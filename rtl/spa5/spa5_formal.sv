// What the referee of mutants may assume about spa5. rtl/r500/r500_formal.sv explains the outputs.

module spa5_formal #(
  parameter int LANES = 32,
  parameter int DEPTH = 64,
  parameter int BRX   = 0,
  parameter int CSM   = 0,
  localparam int SpBits = $clog2(DEPTH + 1)
) (
  input logic [LANES-1:0]       u_threads__active_q,
  input logic [LANES-1:0]       u_threads__exited_q,
  input logic [LANES-1:0]       u_threads__killed_q,
  input logic [LANES-1:0]       u_threads__d_brk_q,
  input logic [LANES-1:0]       u_threads__d_cont_q,
  input logic [LANES-1:0]       u_threads__d_ret_q,
  input logic [3:0]             u_stack__vis_q,
  input logic [SpBits-1:0]      u_stack__sp_q,
  input logic [38:0]            u_stack__top_head_q,
  input logic [LANES-1:0]       u_stack__top_mask_q,
  input logic [39*DEPTH-1:0]    u_stack__head_q,
  input logic [LANES*DEPTH-1:0] u_stack__mask_q,
  input logic [1:0]             status_q,
  input logic [3:0]             err_q,
  input logic [31:0]            pc_q,
  input logic [31:0]            prog_base_q,
  input logic [31:0]            prog_size_q,

  // Inputs of the unit.
  input logic                    launch_i,
  input logic [31:0]             entry_i,
  input logic [31:0]             prog_base_i,
  input logic [31:0]             prog_size_i,

  output logic [19:0]            invariant,
  output logic                   contract,
  output logic [LANES*8+256-1:0] seen,
  output logic [38:0]            live__u_stack__top_head_q,
  output logic [LANES-1:0]       live__u_stack__top_mask_q,
  output logic [39*DEPTH-1:0]    live__u_stack__head_q,
  output logic [LANES*DEPTH-1:0] live__u_stack__mask_q,
  output logic [31:0]            live__prog_base_q,
  output logic [31:0]            live__prog_size_q
);

  localparam logic [1:0] Run = 2'd0, Done = 2'd1, Err = 2'd2, Unwind = 2'd3;

  function automatic logic [3:0] vis_after(input logic [38:0] head);
    case (head[38:36])
      3'd1:    vis_after = head[35:32] | 4'b0001;
      3'd2:    vis_after = (head[35:32] & 4'b1110) | 4'b0010;
      3'd3:    vis_after = (head[35:32] & 4'b1110) | 4'b0100;
      3'd4:    vis_after = 4'b1000;
      default: vis_after = head[35:32];
    endcase
  endfunction

  wire [LANES-1:0] waiting = u_threads__d_brk_q | u_threads__d_cont_q | u_threads__d_ret_q;

  // The tokens under sp, from the oldest up: each is sound by itself and has the vis that follows from those below it, and
  // the top register repeats the one on top. Then the threads in them: I3, I4, I4b and I5 of spa5-3 token by token,
  // and for I6, I6b and I7b the threads that have their token.
  logic                   sound, saved, twice, active_in, div_apart, div_alone, nested;
  logic [3:0]             vis;
  logic [LANES-1:0]       mask, shared, in_div, in_ret, to_ssy, to_pbk, to_pcnt;
  always_comb begin
    sound     = 1'b1;
    saved     = 1'b1;
    twice     = 1'b1;
    active_in = 1'b1;
    div_apart = 1'b1;
    div_alone = 1'b1;
    nested    = 1'b1;
    vis     = 4'd0;
    mask    = '0;
    shared  = '1;
    in_div  = '0;
    in_ret  = '0;
    to_ssy  = '0;
    to_pbk  = '0;
    to_pcnt = '0;
    for (int i = 0; i < DEPTH; i++) begin
      if (u_stack__sp_q > i) begin
        mask   = u_stack__mask_q[LANES*i +: LANES];
        to_ssy = to_ssy & ~mask;
        if ((mask & ~shared) != '0) nested = 1'b0;
        if ((mask & in_div) != '0) div_alone = 1'b0;
        if (u_stack__head_q[39*i + 36 +: 3] == 3'd5) begin
          if ((mask & (u_threads__active_q | u_threads__exited_q | waiting)) != '0) div_apart = 1'b0;
          in_div = in_div | mask;
        end else begin
          if ((u_threads__active_q & ~mask) != '0) active_in = 1'b0;
          shared = shared & mask;
        end
        case (u_stack__head_q[39*i + 36 +: 3])
          3'd1: to_ssy  = to_ssy  | mask;
          3'd2: to_pbk  = to_pbk  | mask;
          3'd3: to_pcnt = to_pcnt | mask;
          3'd4: begin
            in_ret  = in_ret | mask;
            to_pbk  = to_pbk & ~mask;
            to_pcnt = to_pcnt & ~mask;
          end
          default: ;
        endcase
        if (u_stack__head_q[39*i + 36 +: 3] == 3'd0 || u_stack__head_q[39*i + 36 +: 3] > 3'd5 ||
            u_stack__head_q[39*i +: 5] == 5'd0 || u_stack__head_q[39*i +: 3] != 3'd0 || mask == '0) begin
          sound = 1'b0;
        end
        if (u_stack__head_q[39*i + 32 +: 4] != vis) saved = 1'b0;
        vis = vis_after(u_stack__head_q[39*i +: 39]);
      end
      if (u_stack__sp_q == i + 1 && (u_stack__top_head_q != u_stack__head_q[39*i +: 39] ||
                                     u_stack__top_mask_q != u_stack__mask_q[LANES*i +: LANES])) begin
        twice = 1'b0;
      end
    end
  end

  // Each bit is proved separately.
  assign invariant = {
    sound, saved && vis == u_stack__vis_q, twice, u_stack__sp_q <= DEPTH,
    active_in, div_apart, div_alone, nested,
    (u_threads__d_brk_q & ~to_pbk) == '0, (u_threads__d_cont_q & ~to_pcnt) == '0, (u_threads__d_ret_q & ~in_ret) == '0,
    (~u_threads__exited_q & ~u_threads__active_q & ~waiting & ~in_div & ~to_ssy) == '0,
    (u_threads__active_q & (waiting | u_threads__exited_q)) == '0 && (u_threads__exited_q & waiting) == '0,
    (u_threads__d_brk_q & u_threads__d_cont_q) == '0 && (u_threads__d_brk_q & u_threads__d_ret_q) == '0 &&
        (u_threads__d_cont_q & u_threads__d_ret_q) == '0,
    (u_threads__killed_q & ~u_threads__exited_q) == '0,
    prog_base_q[4:0] == 5'd0 && prog_size_q[4:0] == 5'd0,
    {1'b0, prog_base_q} + {1'b0, prog_size_q} <= 33'h1_0000_0000,
    pc_q[4:0] != 5'd0 && pc_q[2:0] == 3'd0,
    (status_q != Run || u_threads__active_q != '0) && (status_q == Run || status_q == Err || u_threads__active_q == '0),
    (status_q == Err) == (err_q != 4'd0) && err_q <= 4'd10
  };

  // The legal operands of a launch; the unit does not check them (spa5-6).
  assign contract = !launch_i || (entry_i[2:0] == 3'd0 && prog_size_i[4:0] == 5'd0 &&
                                   prog_base_i[4:0] == 5'd0 &&
                                   {1'b0, prog_base_i} + {1'b0, prog_size_i} <= 33'h1_0000_0000);

  wire some_token = u_stack__sp_q != '0;

  assign seen = {u_threads__exited_q, u_threads__killed_q, u_threads__d_brk_q, u_threads__d_cont_q, u_threads__d_ret_q,
                 u_stack__vis_q, u_stack__sp_q, some_token ? u_stack__top_head_q : 39'd0,
                 some_token ? u_stack__top_mask_q : {LANES{1'b0}}};
  // Entries above the top of the stack do not matter.
  assign live__u_stack__top_head_q = {39{some_token}};
  assign live__u_stack__top_mask_q = {LANES{some_token}};
  always_comb begin
    for (int i = 0; i < DEPTH; i++) begin
      live__u_stack__head_q[39*i +: 39]       = {39{u_stack__sp_q > i}};
      live__u_stack__mask_q[LANES*i +: LANES] = {LANES{u_stack__sp_q > i}};
    end
  end

  // A launch sets these before anything reads them.
  assign live__prog_base_q = {32{status_q == Run || status_q == Unwind}};
  assign live__prog_size_q = {32{status_q == Run || status_q == Unwind}};

endmodule
