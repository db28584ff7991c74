// A stack of reconvergence points. Before lanes part, the address at which they meet again is pushed with the mask of the
// lanes that will be there; when the last of them has arrived, it is popped. A push and a pop in one cycle replace the
// top: the lanes have met where others part again.
//
// A push without a pop needs room, a pop needs an entry: the driver of the pins ensures both.
module rpstack #(
  parameter int LANES = 8,
  parameter int DEPTH = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic             pop_i,
  input  logic [LANES-1:0] mask_i,
  input  logic [15:0]      pc_i,
  output logic             full_o,
  output logic             empty_o,
  output logic [LANES-1:0] mask_o,
  output logic [15:0]      pc_o
);

  localparam int LevelBits = $clog2(DEPTH + 1);
  localparam int AddrBits  = DEPTH > 1 ? $clog2(DEPTH) : 1;

  logic [LevelBits-1:0] level_q;
  logic [LANES-1:0]     mask_q [DEPTH];
  logic [15:0]          pc_q   [DEPTH];

  logic [AddrBits-1:0] top, free;

  assign top  = AddrBits'(level_q - LevelBits'(1));
  assign free = pop_i ? top : AddrBits'(level_q);

  assign full_o  = level_q == LevelBits'(DEPTH);
  assign empty_o = level_q == '0;
  assign mask_o  = empty_o ? '0 : mask_q[top];
  assign pc_o    = empty_o ? '0 : pc_q[top];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      level_q <= '0;
    end else if (push_i && !pop_i) begin
      level_q <= level_q + LevelBits'(1);
    end else if (pop_i && !push_i) begin
      level_q <= level_q - LevelBits'(1);
    end
  end

  // Not reset: an entry is written before it is read.
  always_ff @(posedge clk_i) begin
    if (push_i) begin
      mask_q[free] <= mask_i;
      pc_q[free]   <= pc_i;
    end
  end

`ifdef RECONVERGE_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      room:  assert (!push_i || pop_i || !full_o) else $error("a push into a full stack");
      entry: assert (!pop_i || !empty_o) else $error("a pop of an empty stack");
    end
  end
`endif

endmodule
