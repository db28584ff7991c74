//! Unit r500.

use reconverge::r500::R500;
use reconverge::r500::program::Program;

use super::{Change, Mistake, Tested};

const AFTER_LAUNCH: &str = "          pc_d      = start_addr;\n        end";
const WRITE: &str = "(const_we_i & ~running_q & ~stall_i)";

impl Tested for R500 {
    const LONG: &str = "loop_continue_break.s";
    const IF_ELSE: &str = "if_else.s";
    const PARTS: [usize; 3] = [1, 3, 5];
    const FLIPPED: &str = "bc[1].2@4";
    const SHOWN: &str = "lc[3].0@30";
    const FIELDS: &str = "st bc lc active loops addrs pc loop_depth addr_depth running done halted err al \
                          alu_clr int_const bool_const";
    const MISTAKE: Mistake = Mistake {
        text: "        ALU c\n        IF alu\n        ALU\n        OUT\n",
        line: 2,
        shown: "IF alu",
    };
    const CUT_OFF: Option<&str> =
        Some("end: END_ADDR is 6, and there are 6 instructions: is the file cut off?");
    const TRACED: &str = r#"{"step":0,"pc":0,"cmn":0,"inst":0,"addr":0,"jump":null,"st":[0,0,0,0],"bc":[0,0,0,0],"lc":[0,0,0,0],"loops":[],"addrs":[],"pc_next":1,"err":0,"done":0,"halted":0,"text":"ALU"}"#;

    const ONLY_IN_VARIANTS: &[Change] = &[
        // Lanes from 16 on stay where CONTINUE has put them.
        (
            "r500_lanes.sv",
            "~(lc0_q | lc1_q) & {LANES{is_end_i}};",
            "~(lc0_q | lc1_q) & LANES'({16{is_end_i}});",
        ),
    ];
    const DECISIONS: &[Change] = &[
        (
            "r500_vote.sv",
            "(agreed & ~|held & ~force_stay_i)",
            "((agreed | ~|held) & ~force_stay_i)",
        ),
        (
            "r500_lanes.sv",
            "{LANES{loop_push_i}}) ^ (~lc0_q",
            "{LANES{loop_push_i}}) ^ (lc0_q",
        ),
        (
            "r500_loop_stack.sv",
            "al_top_q + (rep_i ? 8'd0 : step_i)",
            "al_top_q - (rep_i ? 8'd0 : step_i)",
        ),
        ("r500_seq.sv", "(pc_q + 10'd1),", "(pc_q),"),
        ("r500_seq.sv", "(pc_next > hi_q)", "(pc_next >= hi_q)"),
        (
            "r500_seq.sv",
            "(is_end | is_break | is_cont) & loop_empty",
            "(is_end | is_break) & loop_empty",
        ),
    ];

    const OTHER_FIELD: usize = 5;

    const CONTRACT: &[Change] = &[
        // Addresses 33 to 63 alias into the constants.
        (
            "r500_consts.sv",
            "(we_i && !waddr_i[5])",
            "(we_i && waddr_i != 6'd32)",
        ),
        (
            "r500_consts.sv",
            "we_i && waddr_i == r500_pkg::HostBoolConst",
            "we_i && waddr_i[5]",
        ),
        // A write adds to the constant.
        (
            "r500_consts.sv",
            "<= wdata_i[23:0];",
            "<= int_q[24*waddr_i[4:0] +: 24] | wdata_i[23:0];",
        ),
        // No write in the cycle of a launch; none after a program; one while stalled.
        (
            "r500_seq.sv",
            WRITE,
            "(const_we_i & ~running_q & ~stall_i & ~launch_i)",
        ),
        (
            "r500_seq.sv",
            WRITE,
            "(const_we_i & ~running_q & ~stall_i & ~done_q & ~halted_q)",
        ),
        ("r500_seq.sv", WRITE, "(const_we_i & ~running_q)"),
        // done, then the error, last one cycle.
        (
            "r500_seq.sv",
            AFTER_LAUNCH,
            "          pc_d      = start_addr;\n        end\n        if (!launch_i) done_d = 1'b0;",
        ),
        (
            "r500_seq.sv",
            AFTER_LAUNCH,
            "          pc_d      = start_addr;\n        end\n        if (!launch_i) halted_d = 1'b0;",
        ),
        // A unit that has stopped goes on counting.
        (
            "r500_seq.sv",
            AFTER_LAUNCH,
            "          pc_d      = start_addr;\n        end\n        if (!launch_i & inst_valid_i & done_q) pc_d = pc_q + 10'd1;",
        ),
        // A launch keeps the control registers of the one before.
        (
            "r500_seq.sv",
            "end else if (launch) begin",
            "end else if (launch & ~(done_q | halted_q)) begin",
        ),
        (
            "r500_seq.sv",
            "alu_clr_d = commit;",
            "alu_clr_d = commit | (alu_clr_q & ~running_q & ~launch_i);",
        ),
        (
            "r500_seq.sv",
            "if (!rst_ni) begin\n      running_q <= 1'b0;",
            "if (!rst_ni && !stall_i) begin\n      running_q <= 1'b0;",
        ),
    ];

    const CONSTRUCTS: &[&str] = &[
        "OP 0",
        "OP 1",
        "OP 2",
        "OP 3",
        "OP 4",
        "OP 5",
        "OP 6",
        "OP 7",
        "else",
        "fused else-if",
        "push",
        "pop",
        "predicates",
        "booleans",
        "uncovered lanes left out",
        "partial mode",
    ];

    const LIMITS: &[(&str, u64)] = &[("loop_depth", 4), ("addr_depth", 4), ("bc", 31)];
    const BAD_STARTS: &[(&str, &str, &str)] = &[
        ("/pc", "1024", "pc: must be 0 to 1023, not 1024"),
        ("/lanes", "[]", "lanes: 0 lanes, not 16"),
        (
            "/lanes/3",
            "[1,32,0]",
            "lanes: lane 3 cannot be of class 1, counters 32 and 0",
        ),
        (
            "/lanes/3",
            "[0,1,0]",
            "lanes: lane 3 cannot be of class 0, counters 1 and 0",
        ),
        (
            "/lanes/3",
            "[2,0,4]",
            "lanes: lane 3 cannot be of class 2, counters 0 and 4",
        ),
        (
            "/loops",
            "[[false,0,0]]",
            "loops: a frame with count 0, aL 0 in one with aL 0",
        ),
        (
            "/loops",
            "[[false,1,5],[true,1,4]]",
            "loops: a frame with count 1, aL 4 in one with aL 5",
        ),
        (
            "/addrs",
            "[1,2,3,4,5]",
            "loops: 0 loops and 5 calls, room for 4",
        ),
    ];
    const IMPORTED: &[&str] = &["log", "txt"];
    const SEEDS: u64 = 20;
    const STRUCTURED: &[u32] = &[16];

    fn constructs(program: &Program, pcs: &[u32]) -> Vec<bool> {
        let mut has = vec![false; 16];
        let slots = pcs.iter().map(|pc| program.slot(*pc as u16));
        for slot in slots.filter(|s| s.cmn & 3 == 2) {
            has[slot.inst as usize & 7] = true;
            has[8] |= slot.inst >> 4 & 1 == 1;
            has[9] |= slot.inst >> 4 & 1 == 1 && slot.inst >> 8 & 0xff != 0;
            has[10] |= slot.inst >> 6 & 3 == 2;
            has[11] |= slot.inst >> 6 & 3 == 1;
            has[12] |= slot.cmn >> 3 & 7 != 0;
            has[13] |= matches!(slot.inst >> 8 & 0xff, 0x55 | 0xAA);
            has[14] |= slot.inst >> 28 & 1 == 1;
        }
        has[15] = !program.regs.full();
        has
    }

    fn unjudged(file: &str) -> bool {
        file.ends_with("manual_terms.s")
    }
}
