//! Unit r700.

use reconverge::r700::R700;
use reconverge::r700::program::Program;

use super::{Change, Mistake, Tested};

const WRITE: &str = "(const_we_i & ~running_q & ~stall_i)";
const AFTER_LAUNCH: &str = "          depth_d   = 6'd0;\n        end";

impl Tested for R700 {
    const LONG: &str = "dx10_break_continue.s";
    const IF_ELSE: &str = "if_else.s";
    const PARTS: [usize; 3] = [0, 3, 4];
    const FLIPPED: &str = "st[1].1@6";
    const SHOWN: &str = "active[3].0@30";
    const FIELDS: &str = "st valid active exec top_mask frame_st pc sp base bkind nb lt lc al inc depth skipped \
                          jump running done halted err frame_lt frame_lc frame_al frame_inc frame_base \
                          frame_bkind frame_ret frame_depth loop_const bool_const";
    const MISTAKE: Mistake = Mistake {
        text: "        ALU @6\n        JUMP @nowhere\n        END\n",
        line: 2,
        shown: "JUMP @nowhere",
    };
    // Zero words are NOPs: a program may be longer than its words.
    const CUT_OFF: Option<&str> = None;
    const TRACED: &str = r#"{"step":0,"pc":0,"dw0":6,"dw1":2751463424,"u":1,"exec":"0xf","jump":0,"st":[1,1,0,0],"valid":"0xf","frames":[[1,"0xf"]],"sp":1,"base":0,"bkind":0,"nb":1,"lt":0,"lc":0,"al":0,"inc":0,"depth":0,"skipped":0,"pc_next":1,"err":0,"done":0,"halted":0,"text":"ALU_PUSH_BEFORE 0, @6 u ; IF; entry"}"#;

    const ONLY_IN_VARIANTS: &[Change] = &[
        // The limit is what it is by default.
        (
            "r700_stack.sv",
            "(stack_size_i < 8'(MAX_STACK_SIZE)) ? stack_size_i : 8'(MAX_STACK_SIZE)",
            "(stack_size_i < 8'd32) ? stack_size_i : 8'd32",
        ),
        // A loop frame has four sub-entries whatever an entry has; a DX10 loop never counts.
        (
            "r700_stack.sv",
            "LoopFrame = SpBits'(SUBENTRIES);",
            "LoopFrame = 4;",
        ),
        (
            "r700_loop.sv",
            "(start_dx10_i & (DX10_COUNT == 0))",
            "start_dx10_i",
        ),
        // The last lane of an odd number goes on.
        (
            "r700_lanes.sv",
            "brk   = brk | (pass_i & {LANES{to_brk_i}});",
            "brk   = brk | (pass_i & LANES'({(LANES & ~1){to_brk_i}}));",
        ),
    ];
    const DECISIONS: &[Change] = &[
        // A pop wakes lanes that continued or broke.
        (
            "r700_lanes.sv",
            "pop_mask_i & may_i & ~st1_q",
            "pop_mask_i & may_i",
        ),
        // ELSE wakes lanes outside of the mask.
        (
            "r700_vote.sv",
            "(active_i ^ (top_mask_i & may_pass & ~st1_i))",
            "(active_i ^ (may_pass & ~st1_i))",
        ),
        // LOOP_END leaves BRANCH lanes off.
        (
            "r700_vote.sv",
            "pass_o = ~(st1_i & st0_i) & may_pass;",
            "pass_o = ~st0_i & may_pass;",
        ),
        // LOOP_BREAK and LOOP_CONTINUE jump as soon as no lane is ACTIVE.
        (
            "r700_vote.sv",
            "jump_o = &(st1_i | pass_o);",
            "jump_o = ~|(active_i & ~pass_o);",
        ),
        // KILL jumps when all ACTIVE lanes are killed.
        (
            "r700_vote.sv",
            "jump_o = ~|(valid_i & ~pass_o);",
            "jump_o = ~|(valid_i & active_i & ~pass_o);",
        ),
        // ALU_PUSH_BEFORE pushes only if a lane is ACTIVE.
        (
            "r700_seq.sv",
            "push_branch = push_before;",
            "push_branch = push_before & |active;",
        ),
        // Limits and counts, one off.
        (
            "r700_stack.sv",
            "(need > {1'b0, limit_q})",
            "(need >= {1'b0, limit_q})",
        ),
        (
            "r700_seq.sv",
            "depth_sum > r700_pkg::DepthLimit",
            "depth_sum >= r700_pkg::DepthLimit",
        ),
        ("r700_loop.sv", "(lc_q > 12'd1)", "(lc_q > 12'd0)"),
        // A negative step is taken for a large one.
        (
            "r700_loop.sv",
            "al_q + {{24{inc_q[7]}}, inc_q}",
            "al_q + {24'd0, inc_q}",
        ),
        // RETURN comes back to the CALL.
        (
            "r700_seq.sv",
            ".ret_i         (pc_plus_1)",
            ".ret_i         (pc_q)",
        ),
        // Branch frames dropped by a jump out of them still count.
        (
            "r700_stack.sv",
            "nb_d = nb_q - open_frames;",
            "nb_d = nb_q;",
        ),
        // A loop frame saves CONT lanes as ACTIVE.
        (
            "r700_stack.sv",
            "word1[LANES-1:0]   = st1_i;",
            "word1[LANES-1:0]   = st1_i & st0_i;",
        ),
        // A loop frame that begins in bank 1 has two words exchanged when it is written; of one that begins in
        // bank 3, a word is read from the wrong bank.
        (
            "r700_stack.sv",
            "wdata3 = word2;\n          wdata0 = word3;",
            "wdata3 = word3;\n          wdata0 = word2;",
        ),
        (
            "r700_stack.sv",
            "frame0 = under3;\n          frame1 = under0;",
            "frame0 = under0;\n          frame1 = under0;",
        ),
    ];

    const OTHER_FIELD: usize = 5;

    const CONTRACT: &[Change] = &[
        // Addresses 33 to 63 alias into the constants.
        (
            "r700_consts.sv",
            "(we_i && !waddr_i[5])",
            "(we_i && waddr_i != 6'd32)",
        ),
        (
            "r700_consts.sv",
            "we_i && waddr_i == r700_pkg::HostBoolConst",
            "we_i && waddr_i[5]",
        ),
        // A write adds to the constant.
        (
            "r700_consts.sv",
            "<= wdata_i;\n    end\n  end\n\n  always_ff @(posedge clk_i) begin\n    if (!rst_ni) begin\n      bool_q",
            "<= loop_q[32*waddr_i[4:0] +: 32] | wdata_i;\n    end\n  end\n\n  always_ff @(posedge clk_i) begin\n    if (!rst_ni) begin\n      bool_q",
        ),
        // No write in the cycle of a launch; none after a program; one while stalled; one while running.
        (
            "r700_seq.sv",
            WRITE,
            "(const_we_i & ~running_q & ~stall_i & ~launch_i)",
        ),
        (
            "r700_seq.sv",
            WRITE,
            "(const_we_i & ~running_q & ~stall_i & ~done_q & ~halted_q)",
        ),
        ("r700_seq.sv", WRITE, "(const_we_i & ~running_q)"),
        ("r700_seq.sv", WRITE, "(const_we_i & ~stall_i)"),
        // done, halted, the error code last one cycle.
        (
            "r700_seq.sv",
            AFTER_LAUNCH,
            "          depth_d   = 6'd0;\n        end\n        if (!launch_i) done_d = 1'b0;",
        ),
        (
            "r700_seq.sv",
            AFTER_LAUNCH,
            "          depth_d   = 6'd0;\n        end\n        if (!launch_i) halted_d = 1'b0;",
        ),
        (
            "r700_seq.sv",
            AFTER_LAUNCH,
            "          depth_d   = 6'd0;\n        end\n        if (!launch_i) err_d = r700_pkg::ErrOk;",
        ),
        // A unit that has stopped goes on counting.
        (
            "r700_seq.sv",
            AFTER_LAUNCH,
            "          depth_d   = 6'd0;\n        end\n        if (!launch_i & inst_valid_i & done_q) pc_d = pc_plus_1;",
        ),
        // A stall takes the execute mask away, or the jump; a cycle without an instruction leaves them.
        (
            "r700_lanes.sv",
            "end else if (!stall_i) begin",
            "end else begin",
        ),
        (
            "r700_lanes.sv",
            "commit_i ? exec_d : '0;",
            "commit_i ? exec_d : exec_q;",
        ),
        ("r700_seq.sv", "jump_d    = jump_q;", "jump_d    = 1'b0;"),
        (
            "r700_seq.sv",
            "jump_d = commit & jump;",
            "jump_d = (commit & jump) | (jump_q & running_q & ~step);",
        ),
        // A launch while a program runs.
        (
            "r700_seq.sv",
            "assign launch = launch_i & ~running_q & ~stall_i;",
            "assign launch = launch_i & ~stall_i;",
        ),
        // A launch keeps something of the one before: loop registers, a flag, a depth, the length, the limit.
        (
            "r700_loop.sv",
            "if (!rst_ni || launch_i) begin",
            "if (!rst_ni) begin",
        ),
        ("r700_seq.sv", "skipped_d = 1'b0;", "skipped_d = skipped_q;"),
        ("r700_seq.sv", "depth_d   = 6'd0;", "depth_d   = depth_q;"),
        (
            "r700_seq.sv",
            "end else if (launch) begin",
            "end else if (launch & ~(done_q | halted_q)) begin",
        ),
        (
            "r700_stack.sv",
            "end else if (launch_i) begin",
            "end else if (launch_i && limit_q == 10'd0) begin",
        ),
        // A program may begin behind its end.
        (
            "r700_seq.sv",
            "entry_ok = entry_i < prog_len_i;",
            "entry_ok = entry_i <= prog_len_i;",
        ),
        // Stall beats reset.
        (
            "r700_seq.sv",
            "if (!rst_ni) begin\n      running_q <= 1'b0;",
            "if (!rst_ni && !stall_i) begin\n      running_q <= 1'b0;",
        ),
    ];

    const CONSTRUCTS: &[&str] = &[
        "ALU with u, no push",
        "ALU_PUSH_BEFORE",
        "ALU_POP_AFTER",
        "ALU_POP2_AFTER",
        "ALU_CONTINUE",
        "ALU_BREAK",
        "ALU_ELSE_AFTER, an ELSE",
        "ALU_ELSE_AFTER, an IF NOT",
        "LOOP_START",
        "LOOP_START_NO_AL",
        "LOOP_START_DX10",
        "LOOP_END",
        "LOOP_BREAK",
        "LOOP_BREAK, boolean",
        "LOOP_BREAK, nothing left to do",
        "LOOP_CONTINUE",
        "JUMP behind a push, pop",
        "JUMP behind a push, to an ELSE",
        "JUMP, boolean",
        "JUMP, unconditional",
        "PUSH",
        "PUSH_ELSE",
        "ELSE, pop",
        "ELSE, no pop",
        "POP",
        "CALL",
        "RETURN",
        "KILL",
        "VPM",
        "booleans",
        "memory or export",
        "END on another instruction than NOP",
    ];

    const LIMITS: &[(&str, u64)] = &[("sp", 128), ("depth", 32)];
    const BAD_STARTS: &[(&str, &str, &str)] = &[
        (
            "/lanes/3",
            "2",
            "lanes: a lane has a class that only a loop has",
        ),
        ("/lanes", "[0]", "lanes: not a class for each lane"),
        (
            "/pushes",
            r#"[{"branch":"0x0"}]"#,
            "lanes: a lane is ACTIVE that was not in the mask or loop around it",
        ),
        (
            "/pushes",
            r#"[{"branch":"0x1"},{"branch":"0x3"}]"#,
            "pushes: push 1: a lane is in the mask that cannot be ACTIVE",
        ),
        (
            "/pushes",
            r#"[{"branch":"0x0"},{"call":{"ret":1,"depth":1}}]"#,
            "pushes: push 1: no lane can be ACTIVE",
        ),
        (
            "/pushes",
            r#"[{"loop":{"lanes":[],"kind":3,"count":0,"al":0,"inc":0}}]"#,
            "pushes: push 0: no loop that there can be",
        ),
        (
            "/pushes",
            r#"[{"call":{"ret":1,"depth":5}},{"call":{"ret":1,"depth":4}}]"#,
            "pushes: push 1: depth 4 in one of 5",
        ),
        (
            "/pushes",
            r#"[{"call":{"ret":1,"depth":33}}]"#,
            "pushes: push 0: depth 33 in one of 0",
        ),
        (
            "/pushes",
            r#"[{"call":{"ret":0,"depth":1}}]"#,
            "pushes: push 0: no CALL returns to 0",
        ),
    ];
    const IMPORTED: &[&str] = &["o", "log", "isa"];
    const SEEDS: u64 = 6;
    const STRUCTURED: &[u32] = &[64, 4, 4, 4];

    fn constructs(program: &Program, pcs: &[u32]) -> Vec<bool> {
        // Fields of r700-2.2 and r700-2.3, numbers of r700-2.5.
        const COND: fn(u32) -> u32 = |dw1| dw1 >> 8 & 3;
        const POPS: fn(u32) -> u32 = |dw1| dw1 & 7;
        let reached = |is: &dyn Fn(u32, bool) -> bool| {
            pcs.iter()
                .map(|pc| program.quad(*pc))
                .any(|quad| is(quad.dw1, quad.u))
        };
        let alu = |n: u32, u: Option<bool>| {
            reached(&|dw1, has_u| dw1 >> 26 & 15 == n && u.is_none_or(|u| u == has_u))
        };
        let general =
            |n: u32, is: fn(u32) -> bool| reached(&|dw1, _| dw1 >> 23 & 127 == n && is(dw1));
        let any = |_| true;
        let boolean = |dw1| COND(dw1) >= 2;
        vec![
            alu(8, Some(true)),
            alu(9, None),
            alu(10, None),
            alu(11, None),
            alu(13, None),
            alu(14, None),
            alu(15, Some(false)),
            alu(15, Some(true)),
            general(4, any),
            general(7, any),
            general(6, any),
            general(5, any),
            general(9, any),
            general(9, boolean),
            general(9, |dw1| COND(dw1) == 1),
            general(8, any),
            general(10, |dw1| COND(dw1) == 0 && POPS(dw1) > 0),
            general(10, |dw1| COND(dw1) == 0 && POPS(dw1) == 0),
            general(10, boolean),
            general(10, |dw1| COND(dw1) == 1),
            general(11, any),
            general(12, any),
            general(13, |dw1| POPS(dw1) > 0),
            general(13, |dw1| POPS(dw1) == 0),
            general(14, any),
            general(18, any),
            general(20, any),
            general(24, any),
            reached(&|dw1, _| dw1 >> 29 & 1 == 0 && dw1 >> 22 & 1 == 1),
            reached(&|dw1, _| dw1 >> 28 & 3 == 0 && boolean(dw1)),
            reached(&|dw1, _| dw1 >> 28 & 3 == 1),
            reached(&|dw1, _| dw1 >> 29 & 1 == 0 && dw1 >> 21 & 1 == 1 && dw1 >> 23 & 127 != 0),
        ]
    }

    fn unjudged(_: &str) -> bool {
        false
    }
}
