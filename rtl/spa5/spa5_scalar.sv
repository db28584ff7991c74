// One thread of spa5 by itself: the scalar machine of spa5-9, and the statements that each thread of the warp is a run of it
// (docs/proofs.md). Written from docs/spec/spa5.md alone. ../r500/properties.sv explains the names of the outputs; an output
// with a bit for each lane is one question for each lane.

// A thread alone executes the instruction at its PC. Its stack is an array of slots with {type, addr}: some hold a token, the others
// are holes, and the oldest token is in the lowest slot. The choice of slots has no meaning: a push takes the slot that it is
// given, above all tokens. Two stacks are equal if they have the same tokens in the same slots. So a token of the thread can stay in
// the slot where the warp has it.
module spa5_alone #(
  parameter int DEPTH = 64,
  parameter int BRX   = 0,
  parameter int CSM   = 0,
  localparam int SpBits = $clog2(DEPTH + 1)
) (
  input logic [31:0]         pc,
  input logic [DEPTH-1:0]    has,             // slots that hold a token
  input logic [35*DEPTH-1:0] tokens,
  input logic [SpBits-1:0]   free,            // a push takes this slot

  input logic [31:0] prog_base,
  input logic [31:0] prog_size,
  input logic [63:0] word,
  input logic [31:0] constant,
  input logic [6:0]  p,
  input logic [3:0]  cc,
  input logic [31:0] r,
  input logic [7:0]  csm,

  // About the instruction.
  output logic                holds,           // its condition is true
  output logic [3:0]          err,
  output logic                full,            // it pushes, and no slot is free
  // The state after it, if there is no error.
  output logic                next_done,
  output logic [31:0]         next_pc,
  output logic [DEPTH-1:0]    next_has,
  output logic [35*DEPTH-1:0] next_tokens
);

  localparam logic [2:0] Ssy = 3'd1, Pbk = 3'd2, Pcnt = 3'd3, Ret = 3'd4;

  // spa5-2.1-c.
  function automatic logic [31:0] norm(input logic [31:0] a);
    norm = a[4:0] == 5'd0 ? a + 8 : a;
  endfunction

  // spa5-2.4-c: the formulas; step.sv has the numbers.
  function automatic logic passes(input logic [4:0] test, input logic o, input logic c, input logic s, input logic z);
    case (test)
      5'h00:   passes = 1'b0;
      5'h01:   passes = (s & ~z) ^ o;
      5'h02:   passes = z & ~s;
      5'h03:   passes = s ^ (z | o);
      5'h04:   passes = ~z & ~(s ^ o);
      5'h05:   passes = ~z;
      5'h06:   passes = ~(s ^ o);
      5'h07:   passes = ~z | ~s;
      5'h08:   passes = z & s;
      5'h09:   passes = s ^ o;
      5'h0a:   passes = z;
      5'h0b:   passes = z | (s ^ o);
      5'h0c:   passes = ~s ^ (z | o);
      5'h0d:   passes = ~z | s;
      5'h0e:   passes = (~s | z) ^ o;
      5'h0f:   passes = 1'b1;
      5'h10:   passes = ~o;
      5'h11:   passes = ~c;
      5'h12:   passes = ~s;
      5'h13:   passes = z | ~c;
      5'h14:   passes = ~z & c;
      5'h15:   passes = s;
      5'h16:   passes = c;
      default: passes = o;
    endcase
  endfunction

  // spa5-2.3.
  logic sync, jmx, jmp, jcal, bra, brx, cal, pret, ssy, pbk, pcnt, exit_, ret, kil, brk, cont;
  logic setup, call, branch, register, absolute, leave;
  always_comb begin
    {jmx, jmp, jcal, bra, brx, cal, pret, ssy, pbk, pcnt, exit_, ret, kil, brk, cont} = '0;
    sync = word[63:51] == 13'b1111_0000_1111_1;
    case (word[63:52])
      12'hE20: jmx   = 1'b1;
      12'hE21: jmp   = 1'b1;
      12'hE22: jcal  = 1'b1;
      12'hE24: bra   = 1'b1;
      12'hE25: brx   = 1'b1;
      12'hE26: cal   = 1'b1;
      12'hE27: pret  = 1'b1;
      12'hE29: ssy   = 1'b1;
      12'hE2A: pbk   = 1'b1;
      12'hE2B: pcnt  = 1'b1;
      12'hE30: exit_ = 1'b1;
      12'hE32: ret   = 1'b1;
      12'hE33: kil   = 1'b1;
      12'hE34: brk   = 1'b1;
      12'hE35: cont  = 1'b1;
      default: ;
    endcase
    setup    = ssy | pbk | pcnt | pret;
    call     = cal | jcal;
    register = brx | jmx;
    branch   = bra | jmp | register;
    absolute = jmp | jcal | jmx;
    leave    = sync | brk | cont | ret | exit_ | kil;
  end

  // spa5-2.4-a, spa5-2.4-e, spa5-4.1-e.
  logic predicate;
  always_comb begin
    case (word[18:16])
      3'd7:    predicate = 1'b1;
      default: predicate = p[word[18:16]];
    endcase
    if (word[19]) predicate = !predicate;
    holds = 1'b1;
    if (branch || leave) begin
      if (word[4:3] == 2'b11) holds = predicate && csm[word[2:0]];
      else                    holds = predicate && passes(word[4:0], cc[3], cc[2], cc[1], cc[0]);
    end
  end

  // spa5-2.2, spa5-A-d, spa5-A-f. 40 bits, so that nothing wraps; a negative address is above every program.
  logic [23:0] offset;
  logic [39:0] place;
  logic [31:0] seq, target;
  always_comb begin
    offset = word[5] ? constant[23:0] : word[43:20];
    if (absolute) place = {8'd0, word[51:20]};
    else          place = {8'd0, pc} + 40'd8 + {{16{offset[23]}}, offset};
    if (register) place = place + {8'd0, r};
    if (jmx)      place = place & 40'hFFFF_FFFF;
    target = norm(place[31:0]);
    seq    = norm(pc + 8);
  end

  // spa5-9, spa5-4.4-k: BRK, CONT and RET lead to the topmost token of their type, but BRK and CONT to none below a RET;
  // SYNC needs SSY on top.
  logic [2:0]       wanted;
  logic             found, barred;
  logic [DEPTH-1:0] kept;                      // tokens below the one found
  logic [31:0]      back;
  always_comb begin
    wanted = sync ? Ssy : brk ? Pbk : cont ? Pcnt : Ret;
    found  = 1'b0;
    barred = 1'b0;
    back   = '0;
    for (int i = DEPTH - 1; i >= 0; i--) begin
      kept[i] = has[i] && found;
      if (has[i] && !found && !barred) begin
        if (tokens[35*i + 32 +: 3] == wanted) begin
          found = 1'b1;
          back  = tokens[35*i +: 32];
        end else if (sync || tokens[35*i + 32 +: 3] == Ret) begin
          barred = 1'b1;
        end
      end
    end
  end

  // spa5-4.1, spa5-4.2-a, spa5-4.3-g.
  logic goes, inside, other;
  logic [39:0] last;
  always_comb begin
    goes   = call || (branch && holds);
    last   = {8'd0, prog_base} + {8'd0, prog_size};
    inside = {8'd0, pc} >= {8'd0, prog_base} && {8'd0, pc} < last;
    other  = word[63:57] != 7'b1110001 && !sync;
    err    = 4'd0;
    if (!inside)                                                            err = 4'd6;
    else if (other)                                                         err = 4'd0;
    else if (word[63:57] == 7'b1110001 && word[63:52] > 12'hE3A)            err = 4'd9;
    else if (!(setup || call || branch || leave))                           err = 4'd10;
    else if ((register && BRX == 0) || ((register || absolute) && word[5])) err = 4'd10;
    else if ((branch || leave) && word[4:3] == 2'b11 && CSM == 0)           err = 4'd10;
    else if ((setup || goes) && place[2:0] != 3'd0)                             err = 4'd8;
    else if ((setup || goes) && (place < {8'd0, prog_base} || place >= last)) err = 4'd7;
    else if (holds && !found && sync)                                       err = 4'd1;
    else if (holds && !found && brk)                                        err = 4'd2;
    else if (holds && !found && cont)                                       err = 4'd3;
    else if (holds && !found && ret)                                        err = 4'd4;
  end

  logic [2:0]  pushed;
  always_comb begin
    pushed      = ssy ? Ssy : pbk ? Pbk : pcnt ? Pcnt : Ret;
    next_done   = 1'b0;
    next_pc     = seq;
    next_has    = has;
    next_tokens = tokens;
    full        = (setup || call) && free >= DEPTH;
    if (setup || call) begin
      for (int i = 0; i < DEPTH; i++) begin
        if (i == free) begin
          next_has[i]            = 1'b1;
          next_tokens[35*i +: 35] = {pushed, call ? seq : target};
        end
      end
    end
    if (goes) next_pc = target;
    if (leave && holds) begin
      if (exit_ || kil) begin
        next_done = 1'b1;
      end else begin
        next_pc  = back;
        next_has = kept;
      end
    end
  end

endmodule

// The state of the warp as seen by thread T: where the thread alone would be.
module spa5_view #(
  parameter int LANES = 32,
  parameter int DEPTH = 64,
  parameter int T     = 0,
  localparam int SpBits = $clog2(DEPTH + 1)
) (
  input logic [31:0]            warp_pc,
  input logic [LANES-1:0]       active,
  input logic [LANES-1:0]       exited,
  input logic [LANES-1:0]       d_brk,
  input logic [LANES-1:0]       d_cont,
  input logic [LANES-1:0]       d_ret,
  input logic [SpBits-1:0]      sp,
  input logic [39*DEPTH-1:0]    head,
  input logic [LANES*DEPTH-1:0] mask,

  output logic                done,
  output logic                lost,            // no token exists that it can wait for
  output logic [2:0]          waits,           // type of the token that it waits for; 0: it does not wait
  output logic [31:0]         pc,
  output logic [DEPTH-1:0]    has              // slots of the warp's stack with a token of its own
);

  localparam logic [2:0] Ssy = 3'd1, Pbk = 3'd2, Pcnt = 3'd3, Ret = 3'd4, Div = 3'd5;

  // A thread with a flag waits at the topmost of its tokens that clears the flag (spa5-4.4-c), without one at the topmost of its
  // tokens (spa5-3-k). It goes on at the address of that token, and its own tokens lie below.
  logic [2:0]  kind;
  logic [31:0] addr;
  logic        mine, here, met;
  always_comb begin
    done  = exited[T];
    waits = 3'd0;
    pc    = warp_pc;
    kind  = '0;
    addr  = '0;
    mine  = 1'b0;
    here  = 1'b0;
    met   = active[T];
    for (int i = DEPTH - 1; i >= 0; i--) begin
      kind   = head[39*i + 36 +: 3];
      addr   = head[39*i +: 32];
      mine   = i < sp && mask[LANES*i + T];
      has[i] = mine && met && kind != Div;
      here   = 1'b1;
      if (d_brk[T])       here = kind == Pbk;
      else if (d_cont[T]) here = kind == Pcnt;
      else if (d_ret[T])  here = kind == Ret;
      if (mine && here && !met && !done) begin
        met   = 1'b1;
        waits = kind;
        pc    = addr;
      end
    end
    lost = !done && !active[T] && (!met || !(d_brk[T] || d_cont[T] || d_ret[T] || waits == Ssy || waits == Div));
  end

endmodule

module spa5_scalar #(
  parameter int LANES = 32,
  parameter int DEPTH = 64,
  parameter int BRX   = 0,
  parameter int CSM   = 0,
  localparam int SpBits = $clog2(DEPTH + 1)
) (
  input logic [1:0]             status_q,
  input logic [31:0]            pc_q,
  input logic [31:0]            prog_base_q,
  input logic [31:0]            prog_size_q,
  input logic [LANES-1:0]       u_threads__active_q,
  input logic [LANES-1:0]       u_threads__exited_q,
  input logic [LANES-1:0]       u_threads__d_brk_q,
  input logic [LANES-1:0]       u_threads__d_cont_q,
  input logic [LANES-1:0]       u_threads__d_ret_q,
  input logic [SpBits-1:0]      u_stack__sp_q,
  input logic [39*DEPTH-1:0]    u_stack__head_q,
  input logic [LANES*DEPTH-1:0] u_stack__mask_q,
  input logic [1:0]             next__status_q,
  input logic [3:0]             next__err_q,
  input logic [31:0]            next__pc_q,
  input logic [LANES-1:0]       next__u_threads__active_q,
  input logic [LANES-1:0]       next__u_threads__exited_q,
  input logic [LANES-1:0]       next__u_threads__d_brk_q,
  input logic [LANES-1:0]       next__u_threads__d_cont_q,
  input logic [LANES-1:0]       next__u_threads__d_ret_q,
  input logic [SpBits-1:0]      next__u_stack__sp_q,
  input logic [39*DEPTH-1:0]    next__u_stack__head_q,
  input logic [LANES*DEPTH-1:0] next__u_stack__mask_q,
  input logic                   rst_ni,
  input logic                   stall_i,
  input logic                   launch_i,
  input logic [31:0]            entry_i,
  input logic [31:0]            prog_base_i,
  input logic [LANES-1:0]       launch_mask_i,
  input logic                   inst_valid_i,
  input logic [63:0]            word_i,
  input logic [31:0]            const_i,
  input logic [LANES-1:0]       p0_i,
  input logic [LANES-1:0]       p1_i,
  input logic [LANES-1:0]       p2_i,
  input logic [LANES-1:0]       p3_i,
  input logic [LANES-1:0]       p4_i,
  input logic [LANES-1:0]       p5_i,
  input logic [LANES-1:0]       p6_i,
  input logic [LANES-1:0]       z_i,
  input logic [LANES-1:0]       s_i,
  input logic [LANES-1:0]       c_i,
  input logic [LANES-1:0]       o_i,
  input logic [32*LANES-1:0]    r_i,
  input logic [8*LANES-1:0]     csm_i,

  output logic [LANES-1:0] prove__scalar_begins,
  output logic [LANES-1:0] prove__scalar_steps,
  output logic [LANES-1:0] prove__scalar_waits,
  output logic [LANES-1:0] prove__scalar_kept,
  output logic [LANES-1:0] prove__scalar_progress,
  output logic [LANES-1:0] prove__scalar_errs,
  output logic             cover__scalar_divided,
  output logic             cover__scalar_pushes,
  output logic             cover__scalar_sync,
  output logic             cover__scalar_brk,
  output logic             cover__scalar_cont,
  output logic             cover__scalar_ret,
  output logic             cover__scalar_far,
  output logic             cover__scalar_exits,
  output logic             cover__scalar_again,
  output logic             cover__scalar_wakes_from_ssy,
  output logic             cover__scalar_wakes_from_pbk,
  output logic             cover__scalar_wakes_from_pcnt,
  output logic             cover__scalar_wakes_from_ret,
  output logic             cover__scalar_wakes_from_div,
  output logic             cover__scalar_not_unanimous
);

  localparam logic [1:0] Run = 2'd0, Done = 2'd1, Err = 2'd2;

  wire moves    = rst_ni && !stall_i;
  wire launches = moves && launch_i && (status_q == Done || status_q == Err);
  wire errs     = rst_ni && !launches && status_q != Err && next__status_q == Err;
  wire executes = moves && status_q == Run && inst_valid_i && next__status_q != Err;
  wire indirect = word_i[63:52] == 12'hE20 || word_i[63:52] == 12'hE25;
  wire [31:0] entry = prog_base_i + entry_i;
  wire [31:0] first = entry[4:0] == 5'd0 ? entry + 8 : entry;

  wire [LANES-1:0] holds;
  // spa5-9-d.
  wire unanimous     = (word_i[63:52] == 12'hE24 || word_i[63:52] == 12'hE21) && word_i[7];
  wire not_unanimous = unanimous && (holds & u_threads__active_q) != '0 && (~holds & u_threads__active_q) != '0;

  wire [LANES-1:0] stepped, met;

  // The thread that must make the step of a cycle, and the one that must meet its error: chosen here, so that the solver need not
  // search for them. In a BRX or JMX the threads that do not take it step; if all take it, the lowest steps, because the unit goes to
  // its target. A thread meets an error of its own only if its condition is true.
  wire [LANES-1:0] on        = u_threads__active_q;
  wire [LANES-1:0] off       = on & ~holds;
  wire [LANES-1:0] taken     = on & holds;
  wire [LANES-1:0] may_step  = off != '0 ? off : on;
  wire [LANES-1:0] may_err   = taken != '0 ? taken : on;
  wire [LANES-1:0] steps_one = may_step & (~may_step + 1'b1);
  wire [LANES-1:0] errs_one  = may_err & (~may_err + 1'b1);
  wire             overflows = next__err_q == 4'd5 && u_stack__sp_q == DEPTH;

  wire [LANES-1:0] done, done_after, waiting, awake;
  wire [2:0]        waits [LANES];
  wire [DEPTH-1:0]  has [LANES], has_after [LANES];

  // {type, addr} of each slot, whichever threads have it.
  logic [35*DEPTH-1:0] tokens, tokens_after;
  always_comb begin
    for (int i = 0; i < DEPTH; i++) begin
      tokens[35*i +: 35]       = {u_stack__head_q[39*i + 36 +: 3], u_stack__head_q[39*i +: 32]};
      tokens_after[35*i +: 35] = {next__u_stack__head_q[39*i + 36 +: 3], next__u_stack__head_q[39*i +: 32]};
    end
  end

  for (genvar t = 0; t < LANES; t++) begin : g_thread
    wire                lost_after, alone_done, alone_full;
    wire [3:0]          err;
    wire [31:0]         pc, pc_after, alone_pc;
    wire [DEPTH-1:0]    alone_has;
    wire [35*DEPTH-1:0] alone_tokens;

    spa5_view #(.LANES(LANES), .DEPTH(DEPTH), .T(t)) u_before (
      .warp_pc(pc_q), .active(u_threads__active_q), .exited(u_threads__exited_q), .d_brk(u_threads__d_brk_q),
      .d_cont(u_threads__d_cont_q), .d_ret(u_threads__d_ret_q), .sp(u_stack__sp_q), .head(u_stack__head_q),
      .mask(u_stack__mask_q),
      .done(done[t]), .lost(), .waits(waits[t]), .pc(pc), .has(has[t])
    );
    spa5_view #(.LANES(LANES), .DEPTH(DEPTH), .T(t)) u_after (
      .warp_pc(next__pc_q), .active(next__u_threads__active_q), .exited(next__u_threads__exited_q),
      .d_brk(next__u_threads__d_brk_q), .d_cont(next__u_threads__d_cont_q), .d_ret(next__u_threads__d_ret_q),
      .sp(next__u_stack__sp_q), .head(next__u_stack__head_q), .mask(next__u_stack__mask_q),
      .done(done_after[t]), .lost(lost_after), .waits(), .pc(pc_after), .has(has_after[t])
    );
    spa5_alone #(.DEPTH(DEPTH), .BRX(BRX), .CSM(CSM)) u_alone (
      .pc(pc), .has(has[t]), .tokens(tokens), .free(u_stack__sp_q), .prog_base(prog_base_q), .prog_size(prog_size_q), .word(word_i),
      .constant(const_i), .p({p6_i[t], p5_i[t], p4_i[t], p3_i[t], p2_i[t], p1_i[t], p0_i[t]}),
      .cc({o_i[t], c_i[t], s_i[t], z_i[t]}), .r(r_i[32*t +: 32]), .csm(csm_i[8*t +: 8]),
      .holds(holds[t]), .err(err), .full(alone_full), .next_done(alone_done), .next_pc(alone_pc), .next_has(alone_has),
      .next_tokens(alone_tokens)
    );

    // A thread that is done has neither PC nor tokens.
    logic kept, alike;
    always_comb begin
      kept  = done[t] == done_after[t] && (done[t] || (pc == pc_after && has[t] == has_after[t]));
      alike = alone_done == done_after[t] && (alone_done || (alone_pc == pc_after && alone_has == has_after[t]));
      for (int i = 0; i < DEPTH; i++) begin
        if (!done_after[t] && has_after[t][i]) begin
          kept  = kept && tokens[35*i +: 35] == tokens_after[35*i +: 35];
          alike = alike && alone_tokens[35*i +: 35] == tokens_after[35*i +: 35];
        end
      end
    end

    wire runs = executes && u_threads__active_q[t] && !not_unanimous;
    assign stepped[t] = runs && err == 4'd0 && !alone_full && alike;
    assign met[t]     = u_threads__active_q[t] && err != 4'd0 && err == next__err_q;
    assign waiting[t] = !u_threads__active_q[t] && !done[t];
    assign awake[t]   = waiting[t] && next__u_threads__active_q[t];

    // Each launched thread begins at the entry, without tokens; the others are done; in reset all are.
    assign prove__scalar_begins[t] =
      !(launches || !rst_ni) ||
      (rst_ni && launch_mask_i[t] ? !done_after[t] && !lost_after && pc_after == first && has_after[t] == '0 : done_after[t]);
    // An active thread does what it would do alone. A BRX or a JMX that it takes may run again for it (spa5-A).
    assign prove__scalar_steps[t] = !runs || stepped[t] || (indirect && holds[t] && kept);
    // No other cycle changes the thread: it is done, another thread has the turn, the unit unwinds, waits or errs.
    assign prove__scalar_waits[t] = !rst_ni || launches || (executes && u_threads__active_q[t]) || kept;
    // No thread is lost: one that is not done has an address where it goes on.
    assign prove__scalar_kept[t] = !lost_after;
    // In a cycle that executes, the chosen thread steps. scalar_steps says so for every active thread, except for BRX and JMX.
    assign prove__scalar_progress[t] =
      !executes || not_unanimous || (on != '0 && (!indirect || !steps_one[t] || stepped[t]));
    // If the unit has an error, the chosen thread, executed alone, has the same error, except for a full stack (spa5-9-a).
    assign prove__scalar_errs[t] = !errs || (status_q == Run && on != '0 && (!errs_one[t] || met[t] || overflows));
  end

  // ---- what can happen: thread 0, together with other threads if there are any --------------------------

  wire step0 = executes && u_threads__active_q[0] && stepped[0];
  logic [SpBits-1:0] popped0;
  always_comb begin
    popped0 = '0;
    for (int i = 0; i < DEPTH; i++) popped0 = popped0 + SpBits'(has[0][i] & ~has_after[0][i]);
  end
  wire leaves0 = step0 && holds[0] && (LANES < 2 || waiting != '0);

  assign cover__scalar_divided = LANES < 2 || (executes && u_threads__active_q[0] && next__u_threads__active_q != '0 &&
                                              !next__u_threads__active_q[0] && !done_after[0]);
  assign cover__scalar_pushes  = step0 && (has_after[0] & ~has[0]) != '0;
  assign cover__scalar_sync    = leaves0 && word_i[63:51] == 13'h1e1f;
  assign cover__scalar_brk     = leaves0 && word_i[63:52] == 12'hE34;
  assign cover__scalar_cont    = leaves0 && word_i[63:52] == 12'hE35;
  assign cover__scalar_ret     = leaves0 && word_i[63:52] == 12'hE32;
  assign cover__scalar_far     = DEPTH < 3 || (leaves0 && word_i[63:52] == 12'hE32 && popped0 == 3);
  assign cover__scalar_exits   = leaves0 && done_after[0];
  assign cover__scalar_again   = BRX == 0 || LANES < 2 || (executes && u_threads__active_q[0] && !stepped[0] && indirect);
  assign cover__scalar_wakes_from_ssy  = awake[0] && waits[0] == 3'd1;
  assign cover__scalar_wakes_from_pbk  = awake[0] && waits[0] == 3'd2;
  assign cover__scalar_wakes_from_pcnt = awake[0] && waits[0] == 3'd3;
  assign cover__scalar_wakes_from_ret  = awake[0] && waits[0] == 3'd4;
  assign cover__scalar_wakes_from_div  = LANES < 2 || (awake[0] && waits[0] == 3'd5);
  assign cover__scalar_not_unanimous   = LANES < 2 || (executes && not_unanimous);

endmodule
