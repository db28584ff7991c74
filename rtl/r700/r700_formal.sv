// What the referee of mutants may assume about r700, and which bits of the state matter when, for its proofs and for those of
// `prove`. rtl/r500/r500_formal.sv explains the outputs.
//
// The memory of the stack has no tags: its contents follow from sp, base and bkind, and from the copies of these in
// each frame. A scan from sp down to 0 visits every frame, as in rtl/r700/r700_sva.sv. It is built only for stacks of up to
// `MostEntries` entries: with more, one question about a mutant takes minutes. For larger stacks the invariant says nothing about
// frames, nor about the values that RETURN and LOOP_END restore from them, and all of the memory matters. If the invariants of the
// assertions hold, only the words below sp that a frame uses matter (`live_allowed__`, for `prove` alone).

module r700_formal #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,
  parameter int SUBENTRIES     = 4,
  parameter int DX10_COUNT     = 0,
  localparam int WordBits = LANES > 56 ? LANES : 56,
  localparam int Words    = SUBENTRIES * MAX_STACK_SIZE,
  localparam int SpBits   = SUBENTRIES == 8 ? 11 : 10
) (
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

  output logic [9:0]    invariant,
  output logic [2047:0] seen,
  output logic [WordBits*Words/4-1:0] live__u_stack__bank0_q,
  output logic [WordBits*Words/4-1:0] live__u_stack__bank1_q,
  output logic [WordBits*Words/4-1:0] live__u_stack__bank2_q,
  output logic [WordBits*Words/4-1:0] live__u_stack__bank3_q,
  output logic [WordBits*Words/4-1:0] live_allowed__u_stack__bank0_q,
  output logic [WordBits*Words/4-1:0] live_allowed__u_stack__bank1_q,
  output logic [WordBits*Words/4-1:0] live_allowed__u_stack__bank2_q,
  output logic [WordBits*Words/4-1:0] live_allowed__u_stack__bank3_q,
  output logic [31:0]   live__prog_len_q,
  output logic [SpBits-1:0] live__u_stack__limit_q
);

  localparam int MostEntries = 2;
  localparam logic [SpBits-1:0] Most = Words;
  localparam logic [1:0] None = 2'd0, Loop = 2'd1, Call = 2'd2;

  // Whether a loop of type `lt` counts its passes (r700-4.3-w, r700-4.3-z).
  function automatic logic counts(input logic [1:0] lt);
    counts = lt == 2'd1 || lt == 2'd2 || (lt == 2'd3 && DX10_COUNT != 0);
  endfunction

  // Invariants: room, chain, nb, depth, loops, waiting lanes, aL (r700-I1 to r700-I7); and the bits of a frame's words that its
  // kind does not use are 0, because a push writes whole words.
  logic [7:0] sound;
  // What the bench compares of the stack: the mask on top, and the frame at `base`.
  logic [4*WordBits-1:0] frame;
  logic [LANES-1:0]      top_mask;

  if (MAX_STACK_SIZE <= MostEntries) begin : gen_frames
    // Sub-entry a is word a / 4 of bank a % 4.
    wire [WordBits*Words-1:0] memory;
    // The bits that the kind of frame uses, and whether all other bits of the word are 0.
    wire [WordBits*Words-1:0] live;
    wire [Words-1:0]          blank;
    // Whether the word is the last of a frame of this kind.
    logic [Words-1:0]         ends_branch, ends_call, ends_loop;

    for (genvar a = 0; a < Words; a += 4) begin : gen_words
      assign memory[WordBits*a +: WordBits]       = u_stack__bank0_q[WordBits*(a/4) +: WordBits];
      assign memory[WordBits*(a + 1) +: WordBits] = u_stack__bank1_q[WordBits*(a/4) +: WordBits];
      assign memory[WordBits*(a + 2) +: WordBits] = u_stack__bank2_q[WordBits*(a/4) +: WordBits];
      assign memory[WordBits*(a + 3) +: WordBits] = u_stack__bank3_q[WordBits*(a/4) +: WordBits];
    end

    // The scan has visited all words from `at` up. The registers as they were below the frames visited so far, and whether
    // they are right so far.
    logic [SpBits-1:0] at, base, branches;
    logic [1:0]        bkind, lt;
    logic [11:0]       lc;
    logic [31:0]       al;
    logic [7:0]        inc;
    logic [5:0]        depth;
    logic [LANES-1:0]  st1;
    logic              chain, depths, loops, waits, index;
    always_comb begin
      at       = u_stack__sp_q;
      base     = u_stack__base_q;
      bkind    = u_stack__bkind_q;
      lt       = u_loop__lt_q;
      lc       = u_loop__lc_q;
      al       = u_loop__al_q;
      inc      = u_loop__inc_q;
      depth    = depth_q;
      st1      = u_lanes__st1_q;
      branches = '0;
      chain    = base <= at && bkind != 2'd3 && (bkind == None) == (base == '0);
      depths   = depth <= 6'd32;
      loops    = (lc != 12'd0) == counts(lt);
      waits    = lt != 2'd0 || st1 == '0;
      index    = lt != 2'd0 || (al == 32'd0 && inc == 8'd0);
      ends_branch = '0;
      ends_call   = '0;
      ends_loop   = '0;
      for (int a = Words - 1; a >= 0; a--) begin
        if (at == a + 1) begin
          if (at != base) begin
            ends_branch[a] = 1'b1;
            branches       = branches + 1'b1;
            at             = a;
          end else if (bkind == Call) begin
            ends_call[a] = 1'b1;
            at     = a;
            base   = memory[WordBits*a + 40 +: SpBits];
            bkind  = memory[WordBits*a + 38 +: 2];
            if (memory[WordBits*a + 32 +: 6] > depth) depths = 1'b0;
            depth  = memory[WordBits*a + 32 +: 6];
            if (base > at || bkind == 2'd3 || (bkind == None) != (base == '0)) chain = 1'b0;
          end else if (bkind == Loop && a >= SUBENTRIES - 1) begin
            ends_loop[a] = 1'b1;
            if (lt == 2'd0) loops = 1'b0;
            at    = a - SUBENTRIES + 1;
            al    = memory[WordBits*a +: 32];
            lc    = memory[WordBits*(a >= 1 ? a - 1 : 0) +: 12];
            inc   = memory[WordBits*(a >= 1 ? a - 1 : 0) + 12 +: 8];
            lt    = memory[WordBits*(a >= 1 ? a - 1 : 0) + 20 +: 2];
            bkind = memory[WordBits*(a >= 1 ? a - 1 : 0) + 22 +: 2];
            base  = memory[WordBits*(a >= 1 ? a - 1 : 0) + 24 +: SpBits];
            st1   = memory[WordBits*(a >= 2 ? a - 2 : 0) +: LANES];
            if (base > at || bkind == 2'd3 || (bkind == None) != (base == '0)) chain = 1'b0;
            if ((lc != 12'd0) != counts(lt)) loops = 1'b0;
            if (lt == 2'd0 && st1 != '0) waits = 1'b0;
            if (lt == 2'd0 && (al != 32'd0 || inc != 8'd0)) index = 1'b0;
          end
        end
      end
    end

    assign sound = {u_stack__sp_q + (u_stack__nb_q != '0 ? 2 : 0) <= u_stack__limit_q, chain && at == '0,
                    u_stack__nb_q == branches, depths && depth == 6'd0, loops && lt == 2'd0, waits, index, &blank};

    // A word uses the bits of its kind of frame (r700-3.4-k).
    for (genvar a = 0; a < Words; a++) begin : gen_live
      wire al_word   = ends_loop[a];
      wire loop_word = a + 1 < Words && ends_loop[(a + 1) % Words];
      wire st_word   = (a + 2 < Words && ends_loop[(a + 2) % Words]) || (a + 3 < Words && ends_loop[(a + 3) % Words]);
      wire [WordBits-1:0] lanes     = {LANES{ends_branch[a] || st_word}};
      wire [WordBits-1:0] al_bits   = {32{al_word}};
      wire [WordBits-1:0] loop_bits = {SpBits+24{loop_word}};
      wire [WordBits-1:0] call_bits = {SpBits+40{ends_call[a]}};
      assign live[WordBits*a +: WordBits] = lanes | al_bits | loop_bits | call_bits;
      wire in_frame = ends_branch[a] || ends_call[a] || al_word || loop_word || st_word;
      assign blank[a] = !in_frame || (memory[WordBits*a +: WordBits] & ~live[WordBits*a +: WordBits]) == '0;
    end
    for (genvar a = 0; a < Words; a += 4) begin : gen_banks
      assign live__u_stack__bank0_q[WordBits*(a/4) +: WordBits] = live[WordBits*a +: WordBits];
      assign live__u_stack__bank1_q[WordBits*(a/4) +: WordBits] = live[WordBits*(a + 1) +: WordBits];
      assign live__u_stack__bank2_q[WordBits*(a/4) +: WordBits] = live[WordBits*(a + 2) +: WordBits];
      assign live__u_stack__bank3_q[WordBits*(a/4) +: WordBits] = live[WordBits*(a + 3) +: WordBits];
    end

    // As rtl/r700/design.toml defines it.
    always_comb begin
      top_mask = '0;
      frame    = '0;
      for (int a = 0; a < Words; a++) begin
        if (u_stack__sp_q == a + 1 && u_stack__sp_q != u_stack__base_q) top_mask = memory[WordBits*a +: LANES];
        if (u_stack__base_q == a + 1 && u_stack__bkind_q == Call) frame[SpBits+39:0] = memory[WordBits*a +: SpBits+40];
        if (u_stack__base_q == a + 1 && u_stack__bkind_q == Loop) begin
          frame[31:0]                  = memory[WordBits*a +: 32];
          if (a >= 1) frame[WordBits +: SpBits+24] = memory[WordBits*(a >= 1 ? a - 1 : 0) +: SpBits+24];
          if (a >= 2) frame[2*WordBits +: LANES]   = memory[WordBits*(a >= 2 ? a - 2 : 0) +: LANES];
          if (a >= 3) frame[3*WordBits +: LANES]   = memory[WordBits*(a >= 3 ? a - 3 : 0) +: LANES];
        end
      end
    end
  end else begin : gen_no_frames
    assign sound    = '1;
    assign frame    = '0;
    assign top_mask = '0;
    assign live__u_stack__bank0_q = '1;
    assign live__u_stack__bank1_q = '1;
    assign live__u_stack__bank2_q = '1;
    assign live__u_stack__bank3_q = '1;
  end

  // If the invariants of r700_sva.sv hold, only words below sp matter: a push writes whole words, and a pop reads none above. The
  // referee cannot assume these invariants: in a state that it asks about, base may lie above sp. A push of a loop frame of eight
  // words does not write the first four, and they do not matter (r700-3.4-k).
  logic [Words-1:0] used;
  if (SUBENTRIES == 8 && MAX_STACK_SIZE > MostEntries) begin : gen_used
    wire [WordBits*Words-1:0] words;
    for (genvar r = 0; r < Words / 4; r++) begin : gen_row
      assign words[WordBits*4*r +: 4*WordBits] = {
        u_stack__bank3_q[WordBits*r +: WordBits], u_stack__bank2_q[WordBits*r +: WordBits],
        u_stack__bank1_q[WordBits*r +: WordBits], u_stack__bank0_q[WordBits*r +: WordBits]
      };
    end
    // The scan of rtl/r700/r700_lane_words.sv: the frames from the top down.
    logic [SpBits-1:0]     below;
    logic [1:0]            kind;
    logic [SUBENTRIES-1:0] in_loop;  // bit 0: the top word of the frame
    always_comb begin
      used    = '1;
      below   = u_stack__base_q;
      kind    = u_stack__bkind_q;
      in_loop = '0;
      for (int a = Words - 1; a >= 0; a--) begin
        in_loop = in_loop << 1;
        if (in_loop == '0 && below == a + 1 && kind == Loop) in_loop[0] = 1'b1;
        if (in_loop != '0) begin
          used[a] = in_loop[3:0] != '0;
          if (in_loop[SUBENTRIES-1]) begin
            {below, kind} = words[WordBits*(a + SUBENTRIES <= Words ? a + SUBENTRIES - 2 : 0) + 22 +: SpBits + 2];
          end
        end else if (below == a + 1) begin
          {below, kind} = words[WordBits*a + 38 +: SpBits + 2];
        end
      end
    end
  end else begin : gen_all_used
    assign used = '1;
  end
  for (genvar a = 0; a < Words; a += 4) begin : gen_allowed
    assign live_allowed__u_stack__bank0_q[WordBits*(a/4) +: WordBits] = {WordBits{u_stack__sp_q > a && used[a]}};
    assign live_allowed__u_stack__bank1_q[WordBits*(a/4) +: WordBits] = {WordBits{u_stack__sp_q > a + 1 && used[a+1]}};
    assign live_allowed__u_stack__bank2_q[WordBits*(a/4) +: WordBits] = {WordBits{u_stack__sp_q > a + 2 && used[a+2]}};
    assign live_allowed__u_stack__bank3_q[WordBits*(a/4) +: WordBits] = {WordBits{u_stack__sp_q > a + 3 && used[a+3]}};
  end

  // Each bit is proved separately.
  assign invariant = {
    sound,
    // At most one of them.
    !(running_q && (done_q || halted_q)) && !(done_q && halted_q) &&
        halted_q == (err_q != 4'd0) && err_q <= 4'd9,
    u_lanes__active_q == ~(u_lanes__st0_q | u_lanes__st1_q) &&
        u_stack__limit_q[SpBits-9:0] == '0 && u_stack__limit_q <= Most
  };

  assign seen = {u_lanes__st0_q, u_lanes__st1_q, u_loop__lt_q, u_loop__lc_q, u_loop__inc_q, u_stack__sp_q,
                 u_stack__base_q, u_stack__bkind_q, u_stack__nb_q, top_mask, frame, depth_q, u_consts__loop_q,
                 u_consts__bool_q};
  // A launch sets these before anything reads them.
  assign live__prog_len_q       = {32{running_q}};
  assign live__u_stack__limit_q = {SpBits{running_q}};

endmodule
