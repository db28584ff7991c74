//! Unit r500.

use reconverge::r500::R500;
use reconverge::r500::program::Program;

use super::Tested;

impl Tested for R500 {
    const LONG: &str = "loop_continue_break.s";
    const IF_ELSE: &str = "if_else.s";
    const PARTS: [usize; 3] = [1, 3, 5];
    const SHOWN: &str = "lc[3].0@30";
    const TRACED: &str = r#"{"step":0,"pc":0,"cmn":0,"inst":0,"addr":0,"jump":null,"st":[0,0,0,0],"bc":[0,0,0,0],"lc":[0,0,0,0],"loops":[],"addrs":[],"pc_next":1,"err":0,"done":0,"halted":0,"text":"ALU"}"#;

    const OTHER_FIELD: usize = 5;

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
