//! Unit r700.

use reconverge::r700::R700;
use reconverge::r700::program::Program;

use super::Tested;

impl Tested for R700 {
    const LONG: &str = "dx10_break_continue.s";
    const IF_ELSE: &str = "if_else.s";
    const PARTS: [usize; 3] = [0, 3, 4];
    const SHOWN: &str = "active[3].0@30";
    const TRACED: &str = r#"{"step":0,"pc":0,"dw0":6,"dw1":2751463424,"u":1,"exec":"0xf","jump":0,"st":[1,1,0,0],"valid":"0xf","frames":[[1,"0xf"]],"sp":1,"base":0,"bkind":0,"nb":1,"lt":0,"lc":0,"al":0,"inc":0,"depth":0,"skipped":0,"pc_next":1,"err":0,"done":0,"halted":0,"text":"ALU_PUSH_BEFORE 0, @6 u ; IF; entry"}"#;

    const OTHER_FIELD: usize = 5;

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
