// The active threads for which the condition of an instruction is true (spa5-2.4-c; T of spa5-4.1-e).
//
// A CC test is a table of 16 bits, one bit for each value of {O, C, S, Z} (spa5-2.4-b). All threads use the same table,
// so the lookup is a tree of multiplexers over the four planes, whose leaves are the bits of the table.
//
// Corner cases:
// * The tables are normative, not the formulas behind the names: EQ and EQU differ if Z and S are set.
// * Predicate 7 is constant 1; inverted it is never true (spa5-2.4-a).
// * CC tests 24 to 31 are bits of `csm_i` in a unit built with CSM. In any other unit the sequencer reports error 10
//   instead of using this result.
// * Without `en_i` no thread passes, so that a simulator evaluates nothing here in a cycle without a condition.

module spa5_cond #(
  parameter int LANES = 32,
  parameter int CSM   = 0
) (
  input  logic             en_i,      // an instruction with a condition is at the inputs
  input  logic [3:0]       pred_i,    // pppp
  input  logic [4:0]       cc_i,      // ccccc

  input  logic [LANES-1:0] active_i,
  input  logic [LANES-1:0] p0_i,
  input  logic [LANES-1:0] p1_i,
  input  logic [LANES-1:0] p2_i,
  input  logic [LANES-1:0] p3_i,
  input  logic [LANES-1:0] p4_i,
  input  logic [LANES-1:0] p5_i,
  input  logic [LANES-1:0] p6_i,
  input  logic [LANES-1:0] z_i,
  input  logic [LANES-1:0] s_i,
  input  logic [LANES-1:0] c_i,
  input  logic [LANES-1:0] o_i,
  input  logic [8*LANES-1:0] csm_i,   // of thread t at [8*t +: 8]; test 18 + n is bit n

  output logic [LANES-1:0] taken_o
);

  logic [15:0] lut;
  logic        t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15;

  always_comb begin
    unique case (cc_i)
      5'h00:            lut = 16'h0000;  // F
      5'h01:            lut = 16'hbb44;  // LT
      5'h02:            lut = 16'h2222;  // EQ
      5'h03:            lut = 16'h3366;  // LE
      5'h04:            lut = 16'h4411;  // GT
      5'h05:            lut = 16'h5555;  // NE
      5'h06:            lut = 16'hcc33;  // GE
      5'h07:            lut = 16'h7777;  // NUM
      5'h08:            lut = 16'h8888;  // NAN
      5'h09:            lut = 16'h33cc;  // LTU
      5'h0a:            lut = 16'haaaa;  // EQU
      5'h0b:            lut = 16'hbbee;  // LEU
      5'h0c:            lut = 16'hcc99;  // GTU
      5'h0d:            lut = 16'hdddd;  // NEU
      5'h0e:            lut = 16'h44bb;  // GEU
      spa5_pkg::CcTrue: lut = 16'hffff;  // T
      5'h10:            lut = 16'h00ff;  // OFF
      5'h11:            lut = 16'h0f0f;  // LO
      5'h12:            lut = 16'h3333;  // SFF
      5'h13:            lut = 16'hafaf;  // LS
      5'h14:            lut = 16'h5050;  // HI
      5'h15:            lut = 16'hcccc;  // SFT
      5'h16:            lut = 16'hf0f0;  // HS
      5'h17:            lut = 16'hff00;  // OFT
      default:          lut = 16'h0000;
    endcase
  end

  assign {t15, t14, t13, t12, t11, t10, t9, t8, t7, t6, t5, t4, t3, t2, t1, t0} = lut;

  // One multiplexer for each thread: it selects between two bits of the table, or between two earlier results.
  function automatic logic [LANES-1:0] leaf(input logic             bit0,
                                            input logic             bit1,
                                            input logic [LANES-1:0] z);
    leaf = (~z & {LANES{bit0}}) | (z & {LANES{bit1}});
  endfunction

  function automatic logic [LANES-1:0] mux(input logic [LANES-1:0] in0,
                                           input logic [LANES-1:0] in1,
                                           input logic [LANES-1:0] by);
    mux = (~by & in0) | (by & in1);
  endfunction

  logic [2:0] pred_number;
  logic       pred_invert;

  assign pred_number = pred_i[2:0];
  assign pred_invert = pred_i[3];

  // Split here: Icarus does not support part-selects of a vector within a process.
  logic       is_clip;
  logic [2:0] clip_test;
  assign is_clip   = &cc_i[4:3];
  assign clip_test = cc_i[2:0];

  logic [LANES-1:0] clip;  // tests 24 to 31 (spa5-2.4-e)

  if (CSM != 0) begin : gen_csm
    always_comb begin
      for (int t = 0; t < LANES; t++) begin
        clip[t] = csm_i[8*t + 32'(clip_test)];
      end
    end
  end else begin : gen_no_csm
    assign clip = '0;

    logic unused_csm;
    assign unused_csm = ^{csm_i, clip_test};
  end

  logic [LANES-1:0] pbit, holds;

  always_comb begin
    pbit    = '1;
    holds   = '1;
    taken_o = '0;
    if (en_i) begin
      unique case (pred_number)
        3'd0: pbit = p0_i;
        3'd1: pbit = p1_i;
        3'd2: pbit = p2_i;
        3'd3: pbit = p3_i;
        3'd4: pbit = p4_i;
        3'd5: pbit = p5_i;
        3'd6: pbit = p6_i;
        spa5_pkg::PredTrue: pbit = '1;
      endcase
      // A short cut for T, the test of nearly every instruction; its table gives the same.
      if (is_clip) begin
        holds = clip;
      end else if (cc_i != spa5_pkg::CcTrue) begin
        holds = mux(mux(mux(leaf(t0,  t1,  z_i), leaf(t2,  t3,  z_i), s_i),
                        mux(leaf(t4,  t5,  z_i), leaf(t6,  t7,  z_i), s_i), c_i),
                    mux(mux(leaf(t8,  t9,  z_i), leaf(t10, t11, z_i), s_i),
                        mux(leaf(t12, t13, z_i), leaf(t14, t15, z_i), s_i), c_i), o_i);
      end
      taken_o = active_i & (pbit ^ {LANES{pred_invert}}) & holds;
    end
  end

endmodule
