// One cycle of spa5, for the proof that the RTL does the same (docs/proofs.md). Written from docs/spec/spa5.md alone, thread
// by thread, in the order of the Python code of spa5-4. Only the names of the registers are taken from the RTL;
// ../r500/step.sv explains the outputs. A word of `head` is {type, vis_saved, addr} (spa5-3-k). The registers of the token on
// top only repeat the stack and are not read.

module spa5_step #(
  parameter int LANES = 32,
  parameter int DEPTH = 64,
  parameter int BRX   = 0,
  parameter int CSM   = 0,
  localparam int SpBits = $clog2(DEPTH + 1)
) (
  // State.
  input logic [1:0]             status_q,
  input logic [3:0]             err_q,
  input logic [31:0]            pc_q,
  input logic [31:0]            prog_base_q,
  input logic [31:0]            prog_size_q,
  input logic [LANES-1:0]       u_threads__active_q,
  input logic [LANES-1:0]       u_threads__exited_q,
  input logic [LANES-1:0]       u_threads__killed_q,
  input logic [LANES-1:0]       u_threads__d_brk_q,
  input logic [LANES-1:0]       u_threads__d_cont_q,
  input logic [LANES-1:0]       u_threads__d_ret_q,
  input logic [3:0]             u_stack__vis_q,
  input logic [SpBits-1:0]      u_stack__sp_q,
  input logic [39*DEPTH-1:0]    u_stack__head_q,
  input logic [LANES*DEPTH-1:0] u_stack__mask_q,

  // Inputs of the cycle.
  input logic               rst_ni,
  input logic               stall_i,
  input logic               launch_i,
  input logic [31:0]        entry_i,
  input logic [31:0]        prog_base_i,
  input logic [31:0]        prog_size_i,
  input logic [LANES-1:0]   launch_mask_i,
  input logic               inst_valid_i,
  input logic [63:0]        word_i,
  input logic [31:0]        const_i,
  input logic [LANES-1:0]   p0_i,
  input logic [LANES-1:0]   p1_i,
  input logic [LANES-1:0]   p2_i,
  input logic [LANES-1:0]   p3_i,
  input logic [LANES-1:0]   p4_i,
  input logic [LANES-1:0]   p5_i,
  input logic [LANES-1:0]   p6_i,
  input logic [LANES-1:0]   z_i,
  input logic [LANES-1:0]   s_i,
  input logic [LANES-1:0]   c_i,
  input logic [LANES-1:0]   o_i,
  input logic [32*LANES-1:0] r_i,
  input logic [8*LANES-1:0]  csm_i,

  output logic [1:0]             next__status_q,
  output logic [3:0]             next__err_q,
  output logic [31:0]            next__pc_q,
  output logic [31:0]            next__prog_base_q,
  output logic [31:0]            next__prog_size_q,
  output logic [LANES-1:0]       next__u_threads__active_q,
  output logic [LANES-1:0]       next__u_threads__exited_q,
  output logic [LANES-1:0]       next__u_threads__killed_q,
  output logic [LANES-1:0]       next__u_threads__d_brk_q,
  output logic [LANES-1:0]       next__u_threads__d_cont_q,
  output logic [LANES-1:0]       next__u_threads__d_ret_q,
  output logic [3:0]             next__u_stack__vis_q,
  output logic [SpBits-1:0]      next__u_stack__sp_q,
  output logic [38:0]            next__u_stack__top_head_q,
  output logic [LANES-1:0]       next__u_stack__top_mask_q,
  output logic [39*DEPTH-1:0]    next__u_stack__head_q,
  output logic [LANES*DEPTH-1:0] next__u_stack__mask_q,

  output logic [31:0]            out__pc_o,
  output logic [LANES-1:0]       out__active_o,
  output logic [LANES-1:0]       out__killed_o,
  output logic [1:0]             out__status_o,
  output logic [3:0]             out__err_o,

  // There are never more than DEPTH tokens, and never fewer than 0.
  output logic                   prove__widths,

  // T of the trace (spa5-4.5-a), which no register of the RTL holds.
  output logic [LANES-1:0]       said__taken
);

  localparam logic [1:0] Run = 2'd0, Done = 2'd1, Err = 2'd2, Unwind = 2'd3;
  localparam logic [2:0] Ssy = 3'd1, Pbk = 3'd2, Pcnt = 3'd3, Ret = 3'd4, Div = 3'd5;

  // spa5-2.1-c, spa5-2.1-d.
  function automatic logic [31:0] norm(input logic [31:0] a);
    norm = a[4:0] == 5'd0 ? a + 32'd8 : a;
  endfunction

  // spa5-2.4-c, in the order of the table.
  function automatic logic [15:0] lut16(input logic [4:0] test);
    case (test)
      5'd0:    lut16 = 16'h0000;
      5'd1:    lut16 = 16'hbb44;
      5'd2:    lut16 = 16'h2222;
      5'd3:    lut16 = 16'h3366;
      5'd4:    lut16 = 16'h4411;
      5'd5:    lut16 = 16'h5555;
      5'd6:    lut16 = 16'hcc33;
      5'd7:    lut16 = 16'h7777;
      5'd8:    lut16 = 16'h8888;
      5'd9:    lut16 = 16'h33cc;
      5'd10:   lut16 = 16'haaaa;
      5'd11:   lut16 = 16'hbbee;
      5'd12:   lut16 = 16'hcc99;
      5'd13:   lut16 = 16'hdddd;
      5'd14:   lut16 = 16'h44bb;
      5'd15:   lut16 = 16'hffff;
      5'd16:   lut16 = 16'h00ff;
      5'd17:   lut16 = 16'h0f0f;
      5'd18:   lut16 = 16'h3333;
      5'd19:   lut16 = 16'hafaf;
      5'd20:   lut16 = 16'h5050;
      5'd21:   lut16 = 16'hcccc;
      5'd22:   lut16 = 16'hf0f0;
      5'd23:   lut16 = 16'hff00;
      default: lut16 = 16'h0000;
    endcase
  endfunction

  // ---- decode (spa5-2.3) -----------------------------------------------------------------------------

  wire [11:0] op = word_i[63:52];
  wire is_sync = (word_i & 64'hFFF8000000000000) == 64'hF0F8000000000000;
  wire is_jmx  = op == 12'hE20;
  wire is_jmp  = op == 12'hE21;
  wire is_jcal = op == 12'hE22;
  wire is_bra  = op == 12'hE24;
  wire is_brx  = op == 12'hE25;
  wire is_cal  = op == 12'hE26;
  wire is_pret = op == 12'hE27;
  wire is_ssy  = op == 12'hE29;
  wire is_pbk  = op == 12'hE2A;
  wire is_pcnt = op == 12'hE2B;
  wire is_exit = op == 12'hE30;
  wire is_ret  = op == 12'hE32;
  wire is_kil  = op == 12'hE33;
  wire is_brk  = op == 12'hE34;
  wire is_cont = op == 12'hE35;

  wire is_flow   = word_i[63:56] == 8'hE2 || word_i[63:56] == 8'hE3;
  wire is_other  = !is_sync && !is_flow;
  wire known     = is_jmx || is_jmp || is_jcal || is_bra || is_brx || is_cal || is_pret || is_ssy || is_pbk || is_pcnt ||
                   is_exit || is_ret || is_kil || is_brk || is_cont;
  wire indirect  = is_brx || is_jmx;
  wire absolute  = is_jmp || is_jcal || is_jmx;
  wire sets_up   = is_ssy || is_pbk || is_pcnt || is_pret;
  wire calls     = is_cal || is_jcal;
  wire branches  = is_bra || is_jmp;
  wire leaves    = is_sync || is_brk || is_cont || is_ret || is_exit || is_kil;
  wire has_cond  = branches || indirect || leaves;

  wire illegal     = is_flow && op >= 12'hE3B;
  wire unsupported = (is_flow && !known) || (indirect && BRX == 0) || ((indirect || absolute) && word_i[5]) ||
                     (has_cond && word_i[4:0] >= 5'h18 && CSM == 0);

  // ---- threads: who is taken (spa5-2.4, spa5-4.1-e) --------------------------------------------------

  wire [LANES-1:0] active = u_threads__active_q;
  wire [LANES-1:0] passes, taken, agrees;
  for (genvar t = 0; t < LANES; t++) begin : g_taken
    wire [7:0]  p     = {1'b1, p6_i[t], p5_i[t], p4_i[t], p3_i[t], p2_i[t], p1_i[t], p0_i[t]};
    wire [3:0]  cc    = {o_i[t], c_i[t], s_i[t], z_i[t]};
    wire [7:0]  csm   = csm_i[8*t +: 8];
    wire [15:0] lut   = lut16(word_i[4:0]);
    wire        value = word_i[4:0] >= 5'h18 ? csm[word_i[2:0]] : lut[cc];
    assign passes[t]  = active[t] && (!has_cond || ((p[word_i[18:16]] != word_i[19]) && value));
  end
  // spa5-4.3-c.
  wire unanimous = branches && word_i[7];
  assign taken = unanimous && passes != active ? '0 : passes;

  // ---- the target (spa5-2.2, spa5-4.2-a, spa5-A-d), signed, so that nothing wraps -----------------------------

  // The register of the lowest active thread.
  wire [31:0] lowest [LANES + 1];
  assign lowest[LANES] = 32'd0;
  for (genvar t = 0; t < LANES; t++) begin : g_lowest
    assign lowest[t] = active[t] ? r_i[32*t +: 32] : lowest[t + 1];
    assign agrees[t] = active[t] && r_i[32*t +: 32] == lowest[0];
  end

  wire [23:0] off24    = word_i[5] ? const_i[23:0] : word_i[43:20];
  wire [35:0] relative = {4'd0, pc_q} + 36'd8 + {{12{off24[23]}}, off24};
  wire [31:0] jumped   = word_i[51:20] + lowest[0];
  wire [35:0] place    = is_jmx ? {4'd0, jumped} :
                         absolute ? {4'd0, word_i[51:20]} :
                         is_brx ? relative + {4'd0, lowest[0]} : relative;

  wire [35:0] program_begin = {4'd0, prog_base_q};
  wire [35:0] program_end   = {4'd0, prog_base_q} + {4'd0, prog_size_q};
  wire        misaligned    = place[2:0] != 3'd0;
  wire        outside       = place[35] || place < program_begin || place >= program_end;
  wire [31:0] target        = norm(place[31:0]);
  wire [31:0] seq           = norm(pc_q + 32'd8);

  // ---- what the instruction does (spa5-4.3, spa5-A) --------------------------------------------------

  // A branch jumps if a thread takes it; BRX and JMX jump once all active threads take them.
  wire goes    = calls || (branches && taken != '0) || (indirect && taken == active);
  wire parts   = (branches && taken != '0 && taken != active) || (indirect && taken != '0 && taken != active);
  wire regroup = indirect && taken == active && agrees != active;
  wire pushes  = sets_up || calls || parts || regroup;
  wire stays   = indirect && taken != '0 && taken != active;

  wire [2:0]       kind  = is_ssy ? Ssy : is_pbk ? Pbk : is_pcnt ? Pcnt : is_pret || calls ? Ret : Div;
  wire [31:0]      addr  = sets_up ? target : regroup ? pc_q : seq;
  wire [LANES-1:0] mask  = parts ? active & ~taken : regroup ? active & ~agrees : active;
  wire [3:0]       saved = u_stack__vis_q;
  wire [3:0]       vis_pushed = kind == Ssy ? saved | 4'd1 :
                                kind == Pbk ? (saved & 4'b1110) | 4'd2 :
                                kind == Pcnt ? (saved & 4'b1110) | 4'd4 :
                                kind == Ret ? 4'd8 : saved;

  // spa5-4.3-g, spa5-4.3-i.
  wire [3:0] needs  = {is_ret, is_cont, is_brk, is_sync};
  wire       lacks  = leaves && taken != '0 && (needs & ~saved) != 4'd0;
  wire       empties = leaves && (active & ~taken) == '0;

  // ---- errors, in the order of the checks (spa5-6-b) -------------------------------------------------

  wire checked = sets_up || goes;
  wire full    = pushes && u_stack__sp_q == DEPTH;
  wire fetches = {4'd0, pc_q} >= program_begin && {4'd0, pc_q} < program_end;
  wire [3:0] code = !fetches ? 4'd6 : illegal ? 4'd9 : unsupported ? 4'd10 : is_other ? 4'd0 :
                    checked && misaligned ? 4'd8 : checked && outside ? 4'd7 : full ? 4'd5 :
                    lacks ? (is_sync ? 4'd1 : is_brk ? 4'd2 : is_cont ? 4'd3 : 4'd4) : 4'd0;

  // ---- what the cycle does (docs/contract.md, spa5-3-m) ----------------------------------------------

  wire moves    = rst_ni && !stall_i;
  wire launches = moves && launch_i && (status_q == Done || status_q == Err);
  wire runs     = moves && status_q == Run;
  wire errs     = runs && (!fetches || inst_valid_i) && code != 4'd0;
  wire executes = runs && fetches && inst_valid_i && code == 4'd0;
  wire unwinds  = moves && status_q == Unwind;
  wire ends     = unwinds && u_stack__sp_q == '0;
  wire pops     = unwinds && u_stack__sp_q != '0;
  wire stores   = executes && pushes;

  // ---- the stack -------------------------------------------------------------------------------------

  // The token that a pop takes.
  wire [38:0]      head_at [DEPTH + 1];
  wire [LANES-1:0] mask_at [DEPTH + 1];
  assign head_at[0] = '0;
  assign mask_at[0] = '0;
  for (genvar i = 0; i < DEPTH; i++) begin : g_pop
    assign head_at[i + 1] = u_stack__sp_q == i + 1 ? u_stack__head_q[39*i +: 39] : head_at[i];
    assign mask_at[i + 1] = u_stack__sp_q == i + 1 ? u_stack__mask_q[LANES*i +: LANES] : mask_at[i];
  end
  wire [2:0]       popped      = head_at[DEPTH][38:36];
  wire [3:0]       popped_vis  = head_at[DEPTH][35:32];
  wire [31:0]      popped_addr = head_at[DEPTH][31:0];
  wire [LANES-1:0] popped_mask = mask_at[DEPTH];

  // After the cycle.
  for (genvar i = 0; i < DEPTH; i++) begin : g_push
    wire here = stores && u_stack__sp_q == i;
    assign next__u_stack__head_q[39*i +: 39]       = here ? {kind, saved, addr} : u_stack__head_q[39*i +: 39];
    assign next__u_stack__mask_q[LANES*i +: LANES] = here ? mask : u_stack__mask_q[LANES*i +: LANES];
  end
  assign next__u_stack__sp_q  = !rst_ni || launches ? '0 :
                                stores ? u_stack__sp_q + 1'b1 :
                                pops ? u_stack__sp_q - 1'b1 : u_stack__sp_q;
  assign next__u_stack__vis_q = !rst_ni || launches ? 4'd0 : stores ? vis_pushed : pops ? popped_vis : saved;

  // The token on top after it.
  wire [38:0]      top_head [DEPTH + 1];
  wire [LANES-1:0] top_mask [DEPTH + 1];
  assign top_head[0] = '0;
  assign top_mask[0] = '0;
  for (genvar i = 0; i < DEPTH; i++) begin : g_top
    wire here = next__u_stack__sp_q == i + 1;
    assign top_head[i + 1] = here ? next__u_stack__head_q[39*i +: 39] : top_head[i];
    assign top_mask[i + 1] = here ? next__u_stack__mask_q[LANES*i +: LANES] : top_mask[i];
  end
  assign next__u_stack__top_head_q = top_head[DEPTH];
  assign next__u_stack__top_mask_q = top_mask[DEPTH];

  // ---- threads: what becomes of them (spa5-4.3-h, spa5-4.4) ------------------------------------------

  wire [LANES-1:0] resumed;
  for (genvar t = 0; t < LANES; t++) begin : g_thread
    wire brk    = u_threads__d_brk_q[t];
    wire cont   = u_threads__d_cont_q[t];
    wire ret    = u_threads__d_ret_q[t];
    wire exited = u_threads__exited_q[t];
    wire killed = u_threads__killed_q[t];
    wire left   = executes && leaves && taken[t];
    wire back   = pops && popped_mask[t];

    wire brk_after    = (brk || (left && is_brk)) && !(back && popped == Pbk);
    wire cont_after   = (cont || (left && is_cont)) && !(back && popped == Pcnt);
    wire ret_after    = (ret || (left && is_ret)) && !(back && popped == Ret);
    wire exited_after = exited || (left && (is_exit || is_kil));
    assign resumed[t] = back && !brk_after && !cont_after && !ret_after && !exited;
    wire active_after = pops ? resumed[t] :
                        executes && leaves ? active[t] && !taken[t] :
                        executes && parts ? taken[t] :
                        executes && regroup ? agrees[t] : active[t];

    assign next__u_threads__active_q[t] = !rst_ni ? 1'b0 : launches ? launch_mask_i[t] : active_after;
    assign next__u_threads__exited_q[t] = !rst_ni ? 1'b1 : launches ? !launch_mask_i[t] : exited_after;
    assign next__u_threads__killed_q[t] = rst_ni && !launches && (killed || (left && is_kil));
    assign next__u_threads__d_brk_q[t]  = rst_ni && !launches && brk_after;
    assign next__u_threads__d_cont_q[t] = rst_ni && !launches && cont_after;
    assign next__u_threads__d_ret_q[t]  = rst_ni && !launches && ret_after;
  end

  // ---- the rest --------------------------------------------------------------------------------------

  wire [31:0] pc_after = goes ? target : stays || empties ? pc_q : seq;
  assign next__pc_q = !rst_ni ? 32'd8 :
                      launches ? norm(prog_base_i + entry_i) :
                      executes ? (is_other ? seq : pc_after) :
                      resumed != '0 ? popped_addr : pc_q;
  assign next__status_q = !rst_ni ? Done :
                          launches ? (launch_mask_i == '0 ? Done : Run) :
                          errs ? Err :
                          executes && empties ? Unwind :
                          ends ? Done :
                          resumed != '0 ? Run : status_q;
  assign next__err_q       = !rst_ni || launches ? 4'd0 : errs ? code : err_q;
  assign next__prog_base_q = !rst_ni ? 32'd0 : launches ? prog_base_i : prog_base_q;
  assign next__prog_size_q = !rst_ni ? 32'd0 : launches ? prog_size_i : prog_size_q;

  // ---- outputs ---------------------------------------------------------------------------------------

  assign out__pc_o     = pc_q;
  assign out__active_o = active;
  assign out__killed_o = u_threads__killed_q;
  assign out__status_o = status_q;
  assign out__err_o    = err_q;

  assign prove__widths = (!stores || u_stack__sp_q < DEPTH) && (!pops || u_stack__sp_q != '0) && next__u_stack__sp_q <= DEPTH;
  assign said__taken   = executes ? taken : '0;

endmodule
