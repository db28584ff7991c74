// Four warps that share the datapath of a sequencer. Each executes the instructions of rpseq (rpseq.sv says which), with an address,
// an active mask and a stack of its own. Warp w has a quarter of the lanes, the lowest ones for warp 0. A launch starts all warps at
// address 0.
//
// One instruction may issue a cycle: that of warp_o, if issue_o is 1. Of the warps that run and do not wait, it is the next one after
// the warp that issued last. The memory answers pc_o of that warp with inst_i, at once or some cycles later; until then another warp
// may have become the next one.
//
// The conditions of a BR come later. A warp that has issued a BR waits until cond_valid_i is 1 with its number on cond_warp_i. Then
// it does what the BR says with its lanes of cond_i, in that cycle. No warp issues in it. Conditions for a warp that does not wait are
// ignored.
//
// An error ends the warp that makes it; the others go on. Reset counts before stall_i, and stall_i before all else.
module rpwarps #(
  parameter int LANES = 32,
  parameter int DEPTH = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             stall_i,
  input  logic             launch_i,
  input  logic [LANES-1:0] lanes_i,
  input  logic             inst_valid_i,
  input  logic [19:0]      inst_i,
  input  logic             cond_valid_i,
  input  logic [1:0]       cond_warp_i,
  input  logic [LANES-1:0] cond_i,
  output logic             issue_o,
  output logic [1:0]       warp_o,
  output logic [3:0]       running_o,
  output logic [3:0]       waiting_o,
  output logic [3:0]       done_o,
  output logic [11:0]      err_o,
  output logic [63:0]      pc_o,
  output logic [LANES-1:0] active_o
);

  localparam int Width = LANES / 4;
  localparam logic [3:0] Ssy = 4'd1, Br = 4'd2, Join = 4'd3, Yield = 4'd4, Jmp = 4'd5, End = 4'd6;

  // Of each warp, the first one in the lowest bits.
  logic [3:0]       running_q, wait_q, done_q;
  logic [11:0]      err_q;
  logic [63:0]      pc_q;
  logic [LANES-1:0] active_q;
  // Target of the BR for which a warp waits.
  logic [63:0]      target_q;
  logic [1:0]       last_q;

  logic [3:0]       full, empty;
  logic [LANES-1:0] top_mask;
  logic [63:0]      top_pc;

  // ---- which warp has the datapath -------------------------------------------------------------------

  logic [3:0] ready;
  logic [1:0] first, second, third, issuer, warp;
  logic       launches, returns, issues, waits, acts;

  assign ready  = running_q & ~wait_q;
  assign first  = last_q + 2'd1;
  assign second = last_q + 2'd2;
  assign third  = last_q + 2'd3;
  assign issuer = ready[first] ? first : ready[second] ? second : ready[third] ? third : last_q;

  assign launches = launch_i && running_q == 4'd0 && !stall_i;
  assign returns  = cond_valid_i && wait_q[cond_warp_i] && !stall_i;
  assign issues   = ready[issuer] && inst_valid_i && !returns && !stall_i;
  assign warp     = returns ? cond_warp_i : issuer;

  // ---- what it does ----------------------------------------------------------------------------------

  logic [3:0]       op;
  logic [15:0]      target, next;
  logic [Width-1:0] active, cond, top, taken, stays;
  logic             parts, swaps, pushes, runs;
  logic [2:0]       err;

  assign op     = returns ? Br : inst_i[19:16];
  assign target = returns ? target_q[16*warp +: 16] : inst_i[15:0];
  assign next   = pc_q[16*warp +: 16] + 16'd1;
  assign active = active_q[Width*warp +: Width];
  assign cond   = cond_i[Width*warp +: Width];
  assign top    = top_mask[Width*warp +: Width];
  assign taken  = active & cond;
  assign stays  = active & ~cond;

  assign waits = issues && op == Br;
  assign acts  = returns || issues && op != Br;

  assign parts  = op == Br && taken != '0 && stays != '0;
  assign swaps  = op == Yield && !empty[warp] && (top & active) == '0;
  assign pushes = op == Ssy || parts;

  always_comb begin
    err = 3'd0;
    if (op > End) err = 3'd1;
    if (pushes && full[warp]) err = 3'd2;
    if (op == Join && empty[warp]) err = 3'd3;
    if (op == End && !empty[warp]) err = 3'd4;
  end

  assign runs = acts && err == 3'd0;

  genvar w;
  generate
    for (w = 0; w < 4; w = w + 1) begin : gen_warp
      rpstack #(
        .LANES(Width),
        .DEPTH(DEPTH)
      ) u_stack (
        .clk_i,
        // A launch forgets what an error left there.
        .rst_ni (rst_ni && !launches),
        .push_i (runs && warp == 2'(w) && (pushes || swaps)),
        .pop_i  (runs && warp == 2'(w) && (op == Join || swaps)),
        .mask_i (op == Br ? stays : active),
        .pc_i   (op == Ssy ? target : next),
        .full_o (full[w]),
        .empty_o(empty[w]),
        .mask_o (top_mask[Width*w +: Width]),
        .pc_o   (top_pc[16*w +: 16])
      );
    end
  endgenerate

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_q <= '0;
      wait_q    <= '0;
      done_q    <= '0;
      err_q     <= '0;
      pc_q      <= '0;
      active_q  <= '0;
      last_q    <= 2'd3;
    end else if (launches) begin
      running_q <= '1;
      done_q    <= '0;
      err_q     <= '0;
      pc_q      <= '0;
      active_q  <= lanes_i;
      last_q    <= 2'd3;
    end else begin
      if (issues) last_q <= warp;
      if (waits) wait_q[warp] <= 1'b1;
      if (returns) wait_q[warp] <= 1'b0;
      if (acts && (err != 3'd0 || op == End)) begin
        running_q[warp]    <= 1'b0;
        done_q[warp]       <= err == 3'd0;
        err_q[3*warp +: 3] <= err;
      end else if (acts) begin
        if (op == Join || swaps) begin
          pc_q[16*warp +: 16]           <= top_pc[16*warp +: 16];
          active_q[Width*warp +: Width] <= top;
        end else if (op == Jmp || op == Br && taken != '0) begin
          pc_q[16*warp +: 16] <= target;
          if (parts) active_q[Width*warp +: Width] <= taken;
        end else begin
          pc_q[16*warp +: 16] <= next;
        end
      end
    end
  end

  // Not reset: it is written before the warp waits.
  always_ff @(posedge clk_i) begin
    if (waits) target_q[16*warp +: 16] <= target;
  end

  assign issue_o   = ready[issuer];
  assign warp_o    = issuer;
  assign running_o = running_q;
  assign waiting_o = wait_q;
  assign done_o    = done_q;
  assign err_o     = err_q;
  assign pc_o      = pc_q;
  assign active_o  = active_q;

endmodule
