//! Unit spa5.

use reconverge::spa5::Spa5;
use reconverge::spa5::program::Program;
use serde_json::Value;

use super::{Change, Mistake, Tested};

/// When a launch is taken.
const STOPPED: &str = "((status_q == spa5_pkg::StatusDone) | (status_q == spa5_pkg::StatusErr));";
const UNWINDS: &str = "(status_q == spa5_pkg::StatusUnwind) & ~stall_i;";

impl Tested for Spa5 {
    const LONG: &str = "if_in_loop.s";
    const IF_ELSE: &str = "if_else.s";
    // The side that branches goes first.
    const PARTS: [usize; 3] = [2, 5, 7];
    const FLIPPED: &str = "active[1].0@6";
    const SHOWN: &str = "d_cont[3].0@30";
    const FIELDS: &str = "active exited d_brk d_cont d_ret killed top_mask pc top_addr sp status err vis top_type \
                          top_vis";
    const MISTAKE: Mistake = Mistake {
        text: "        ISETP\n    @P0 BRA NOWHERE\n        EXIT\n",
        line: 2,
        shown: "BRA NOWHERE",
    };
    const CUT_OFF: Option<&str> = None;
    const TRACED: &str = r#"{"step":0,"pc":8,"word":"0x5b6b00000007ff07","a":"0xf","t":"0xf","active":"0xf","pc_next":16,"d_brk":"0x0","d_cont":"0x0","d_ret":"0x0","exited":"0x0","killed":"0x0","vis":0,"sp":0,"status":0,"err":0,"top":null,"text":"ISETP; /* 0x5b6b00000007ff07 */ // entry"}"#;

    const ONLY_IN_VARIANTS: &[Change] = &[
        // BRX goes where the highest thread wants.
        (
            "spa5_brx.sv",
            "for (int t = LANES - 1; t >= 0; t--)",
            "for (int t = 0; t < LANES; t++)",
        ),
        // The stack has as many tokens as the last power of two.
        (
            "spa5_stack.sv",
            "Full = DEPTH[SpBits-1:0];",
            "Full = SpBits'(1) << (SpBits - 1);",
        ),
        // Threads from 32 on do not count.
        (
            "spa5_seq.sv",
            "assign all  = ~|rest;",
            "assign all  = ~|rest[31:0];",
        ),
    ];
    const DECISIONS: &[Change] = &[
        // The address of a control word: of every second one only; never, when it is the next one; at launch.
        (
            "spa5_seq.sv",
            "(address[4:0] == 5'd0)",
            "(address[5:0] == 6'd0)",
        ),
        (
            "spa5_seq.sv",
            "assign pc_seq   = norm(pc_next);",
            "assign pc_seq   = pc_next;",
        ),
        (
            "spa5_seq.sv",
            "assign pc_entry = norm(prog_base_i + entry_i);",
            "assign pc_entry = prog_base_i + entry_i;",
        ),
        // Targets count from the next instruction; no target lies behind.
        ("spa5_seq.sv", "{3'd0, pc_q} + 35'd8 +", "{3'd0, pc_seq} +"),
        // JMP and JCAL count from the program's base; a target below it is in the program; so is a PC.
        (
            "spa5_seq.sv",
            "sum_absolute = imm32 + value;",
            "sum_absolute = imm32 + value + prog_base_q;",
        ),
        (
            "spa5_seq.sv",
            "outside = (pc_q - prog_base_q) >= prog_size_q;",
            "outside = pc_q >= prog_size_q;",
        ),
        // KIL is not remembered, is forgotten by the next one, or takes no thread out.
        (
            "spa5_decode.sv",
            "kill_o        = 1'b1;",
            "kill_o        = 1'b0;",
        ),
        (
            "spa5_threads.sv",
            "killed_d = killed_q | taken_i;",
            "killed_d = taken_i;",
        ),
        // All of a constant is the offset; what is in the word is.
        ("spa5_seq.sv", "bank ? const_i[23:0] : off24;", "off24;"),
        (
            "spa5_seq.sv",
            "{{11{offset[23]}}, offset}",
            "{11'd0, offset}",
        ),
        // A divergent BRA keeps all threads for later, or leads them back to itself.
        ("spa5_seq.sv", "push_mask = rest;", "push_mask = active;"),
        (
            "spa5_seq.sv",
            "(is_brx & all) ? pc_q : pc_seq;",
            "(is_brx | split) ? pc_q : pc_seq;",
        ),
        // BRA.U jumps if any thread wants to.
        (
            "spa5_seq.sv",
            "jump      = unanimous ? all : some;",
            "jump      = some;",
        ),
        // CAL returns to where it went.
        (
            "spa5_seq.sv",
            "push_addr = is_setup ? target",
            "push_addr = (is_setup | is_call) ? target",
        ),
        // A leaving instruction that no thread executes needs its token; SYNC accepts a PBK.
        (
            "spa5_seq.sv",
            "no_token   = some & |(leave[3:0] & ~vis);",
            "no_token   = |(leave[3:0] & ~vis);",
        ),
        (
            "spa5_seq.sv",
            "no_token   = some & |(leave[3:0] & ~vis);",
            "no_token   = some & |(leave[3:0] & ~{vis[3:1], vis[0] | vis[1]});",
        ),
        // Limits, one off.
        (
            "spa5_stack.sv",
            "assign full_o     = sp_q == Full;",
            "assign full_o     = sp_q == Full - 1'b1;",
        ),
        (
            "spa5_seq.sv",
            "(from_base >= {3'd0, prog_size_q})",
            "(from_base > {3'd0, prog_size_q})",
        ),
        // A misaligned target outside of the program is outside of it first.
        (
            "spa5_seq.sv",
            "else if (misaligned) ",
            "else if (misaligned & ~range) ",
        ),
        // A branch that no thread takes has its target checked.
        (
            "spa5_seq.sv",
            "assign to_target = is_setup | jump;",
            "assign to_target = is_setup | jump | is_bra;",
        ),
        // One bit of the table of a CC test; a test that does not exist.
        ("spa5_cond.sv", "16'h3366;", "16'h3362;"),
        (
            "spa5_decode.sv",
            "assign no_such_test = (CSM == 0) & (&word_i[4:3]);",
            "assign no_such_test = (CSM == 0) & (&word_i[4:2]);",
        ),
        // The constant bank form of JMP.
        (
            "spa5_decode.sv",
            "unsupported_o = const_bank | no_such_test;",
            "unsupported_o = no_such_test;",
        ),
        // PBK and PCNT leave the SSY below them to SYNC, CAL everything; a pop does not bring it back.
        (
            "spa5_stack.sv",
            "(vis_q & 4'b1110) | 4'b0010;",
            "vis_q | 4'b0010;",
        ),
        (
            "spa5_stack.sv",
            "(vis_q & 4'b1110) | 4'b0100;",
            "vis_q | 4'b0100;",
        ),
        (
            "spa5_stack.sv",
            "vis_d = 4'b1000;",
            "vis_d = vis_q | 4'b1000;",
        ),
        ("spa5_stack.sv", "vis_d = top_vis;", "vis_d = vis_q;"),
        // A pop shows the token popped once more.
        (
            "spa5_stack.sv",
            "AddrBits'(sp_q) - AddrBits'(2)",
            "AddrBits'(sp_q) - AddrBits'(1)",
        ),
        // A pop wakes threads that continued or exited; ends the wait of threads that are not in its mask,
        // or of none; looks at the flags as they were.
        (
            "spa5_threads.sv",
            "~(d_brk_d | d_cont_d | d_ret_d | exited_q)",
            "~(d_brk_d | d_ret_d | exited_q)",
        ),
        (
            "spa5_threads.sv",
            "~(d_brk_d | d_cont_d | d_ret_d | exited_q)",
            "~(d_brk_d | d_cont_d | d_ret_d)",
        ),
        (
            "spa5_threads.sv",
            "d_brk_d  = d_brk_q  & ~mask_i;",
            "d_brk_d  = '0;",
        ),
        (
            "spa5_threads.sv",
            "d_ret_d  = d_ret_q  & ~mask_i;",
            "d_ret_d  = d_ret_q;",
        ),
        (
            "spa5_threads.sv",
            "~(d_brk_d | d_cont_d | d_ret_d | exited_q)",
            "~(d_brk_q | d_cont_d | d_ret_d | exited_q)",
        ),
    ];

    const OTHER_FIELD: usize = 4;

    const CONTRACT: &[Change] = &[
        // A stall is of no effect on an instruction, an unwind, a launch.
        (
            "spa5_seq.sv",
            "(status_q == spa5_pkg::StatusRun) & ~stall_i;",
            "(status_q == spa5_pkg::StatusRun);",
        ),
        (
            "spa5_seq.sv",
            UNWINDS,
            "(status_q == spa5_pkg::StatusUnwind);",
        ),
        (
            "spa5_seq.sv",
            "assign launch  = launch_i & ~stall_i &",
            "assign launch  = launch_i &",
        ),
        // The unit does not wait for the instruction; the unwind does, and so does the end of the program.
        (
            "spa5_seq.sv",
            "run & ~outside & inst_valid_i;",
            "run & ~outside;",
        ),
        (
            "spa5_seq.sv",
            UNWINDS,
            "(status_q == spa5_pkg::StatusUnwind) & ~stall_i & inst_valid_i;",
        ),
        (
            "spa5_seq.sv",
            "fault    = (run & outside)",
            "fault    = (run & outside & inst_valid_i)",
        ),
        // A launch while a program runs; between the cycles of an unwind; none after an error.
        (
            "spa5_seq.sv",
            STOPPED,
            "(status_q != spa5_pkg::StatusUnwind);",
        ),
        ("spa5_seq.sv", STOPPED, "(status_q != spa5_pkg::StatusRun);"),
        (
            "spa5_seq.sv",
            STOPPED,
            "(status_q == spa5_pkg::StatusDone);",
        ),
        // A launch with an empty mask runs.
        (
            "spa5_seq.sv",
            "status_d = (launch_mask_i == '0) ? spa5_pkg::StatusDone : spa5_pkg::StatusRun;",
            "status_d = spa5_pkg::StatusRun;",
        ),
        // A launch keeps something of the one before: the error, the program size, the stack, who may leave,
        // who waits, who exited.
        (
            "spa5_seq.sv",
            "err_d    = spa5_pkg::ErrOk;\n",
            "err_d    = err_q;\n",
        ),
        (
            "spa5_seq.sv",
            "end else if (launch) begin\n      prog_base_q",
            "end else if (launch && prog_size_q == '0) begin\n      prog_base_q",
        ),
        (
            "spa5_stack.sv",
            "      sp_d  = '0;\n",
            "      sp_d  = sp_q;\n",
        ),
        (
            "spa5_stack.sv",
            "      vis_d = '0;\n",
            "      vis_d = vis_q;\n",
        ),
        (
            "spa5_threads.sv",
            "      d_cont_d = '0;\n",
            "      d_cont_d = d_cont_q;\n",
        ),
        (
            "spa5_threads.sv",
            "exited_d = ~launch_mask_i;",
            "exited_d = exited_q & ~launch_mask_i;",
        ),
        // The leaving instruction goes on to the next one although no thread is left for it.
        (
            "spa5_seq.sv",
            "(is_leave & all) | (is_brx & split & ~all);",
            "is_brx & split & ~all;",
        ),
        // The end of a program moves PC on.
        (
            "spa5_seq.sv",
            "        status_d = spa5_pkg::StatusDone;\n",
            "        status_d = spa5_pkg::StatusDone;\n        pc_d     = pc_seq;\n",
        ),
        // An error lasts one cycle, as a code and as a status.
        (
            "spa5_seq.sv",
            "    err_d    = err_q;\n",
            "    err_d    = spa5_pkg::ErrOk;\n",
        ),
        (
            "spa5_seq.sv",
            "    status_d = status_q;\n",
            "    status_d = (status_q == spa5_pkg::StatusErr) ? spa5_pkg::StatusDone : status_q;\n",
        ),
        // Stall beats reset; so does a launch.
        (
            "spa5_seq.sv",
            "if (!rst_ni) begin\n      status_q",
            "if (!rst_ni && !stall_i) begin\n      status_q",
        ),
        (
            "spa5_threads.sv",
            "      exited_q <= '1;\n",
            "      exited_q <= launch_i ? exited_d : '1;\n",
        ),
    ];

    // As they stand in the words; by what they are for, `spa5::compiled` counts them.
    const CONSTRUCTS: &[&str] = &[
        "SSY",
        "PBK",
        "PCNT",
        "CAL",
        "CAL.NOINC",
        "PRET",
        "PRET.NOINC",
        "SYNC by all",
        "SYNC by some",
        "SYNC by no thread",
        "BRK by all",
        "BRK by some",
        "BRK by no thread",
        "CONT by all",
        "CONT by some",
        "CONT by no thread",
        "RET by all",
        "RET by some",
        "RET by no thread",
        "EXIT by all",
        "EXIT by some",
        "EXIT by no thread",
        "EXIT.KEEPREFCOUNT",
        "BRA by all",
        "BRA by some",
        "BRA by no thread",
        "BRA forward",
        "BRA back",
        "BRA.U",
        "BRA.LMT",
        "CC test",
        "CC test and predicate",
        "inverted predicate",
        "target that is a control word",
        "target counted from a control word",
    ];

    const LIMITS: &[(&str, u64)] = &[("sp", 64)];
    const BAD_STARTS: &[(&str, &str, &str)] = &[
        ("/pc", "32", "pc: 0x20 is not the address of an instruction"),
        ("/pc", "12", "pc: 0xc is not the address of an instruction"),
        (
            "/events",
            r#"[{"push":{"kind":5,"addr":8}}]"#,
            "events: event 0: no type of token that can be pushed",
        ),
        (
            "/events",
            r#"[{"push":{"kind":1,"addr":8}},{"leave":{"by":"brk","mask":"0x1"}}]"#,
            "events: event 1: leaves without a token to leave by",
        ),
        (
            "/events",
            r#"[{"split":{"mask":"0x0","addr":8}}]"#,
            "events: event 0: must be some of the active threads, not all",
        ),
        (
            "/events",
            r#"[{"leave":{"by":"exit","mask":"0xffffffff"}}]"#,
            "events: event 0: must be some of the active threads, not all",
        ),
    ];
    const IMPORTED: &[&str] = &["cubin", "bin", "maxas", "cuasm", "cuobjdump"];
    const CONTEXT: bool = false;
    const SEEDS: u64 = 3;
    // One of up to 32 threads has room on the stack for what is generated.
    const STRUCTURED: &[u32] = &[32, 4];

    fn active(record: &Value) -> u64 {
        let digits = record["active"].as_str().unwrap().strip_prefix("0x");
        u64::from_str_radix(digits.unwrap(), 16).unwrap()
    }

    fn ended(record: &Value) -> (bool, bool) {
        (record["status"] == 1, record["status"] == 2)
    }

    fn constructs(program: &Program, pcs: &[u32]) -> Vec<bool> {
        // Bits and fields of spa5-2.2 and spa5-2.3.
        const SYNC: u64 = 0xF0F;
        let reached =
            |is: &dyn Fn(u64, u32) -> bool| pcs.iter().any(|pc| is(program.word(*pc), *pc));
        let op = |word: u64| match word >> 52 {
            // Bit 51 belongs to what SYNC is known by.
            SYNC if word >> 51 & 1 == 0 => 0,
            n => n,
        };
        let bit = |word: u64, n: u32| word >> n & 1 == 1;
        let has = |n: u64| reached(&|word, _| op(word) == n);
        let with = |n: u64, at: u32, value: bool| {
            reached(&|word, _| op(word) == n && bit(word, at) == value)
        };
        let pred = |word: u64| word >> 16 & 15;
        let test = |word: u64| word & 31;
        let conditional =
            |word: u64| matches!(op(word), SYNC | 0xE24 | 0xE30 | 0xE32 | 0xE34 | 0xE35);
        // Whose condition says so by itself: PT or !PT, test T or F.
        let all = |word: u64| pred(word) == 7 && test(word) == 15;
        let no_thread = |word: u64| pred(word) == 15 || test(word) == 0;
        let by = |n: u64| {
            [
                reached(&|word, _| op(word) == n && all(word)),
                reached(&|word, _| op(word) == n && !all(word) && !no_thread(word)),
                reached(&|word, _| op(word) == n && no_thread(word)),
            ]
        };
        let relative =
            |word: u64| matches!(op(word), 0xE24 | 0xE26 | 0xE27 | 0xE29 | 0xE2A | 0xE2B);
        // Bits 43:20, signed.
        let offset = |word: u64| (word << 20) as i64 >> 40;
        let mut found = vec![
            has(0xE29),
            has(0xE2A),
            has(0xE2B),
            with(0xE26, 6, true),
            with(0xE26, 6, false),
            with(0xE27, 6, true),
            with(0xE27, 6, false),
        ];
        for n in [SYNC, 0xE34, 0xE35, 0xE32, 0xE30] {
            found.extend(by(n));
        }
        found.push(with(0xE30, 5, true));
        found.extend(by(0xE24));
        found.extend([
            reached(&|word, _| op(word) == 0xE24 && offset(word) >= 0),
            reached(&|word, _| op(word) == 0xE24 && offset(word) < 0),
            with(0xE24, 7, true),
            with(0xE24, 6, true),
            reached(&|word, _| conditional(word) && !matches!(test(word), 0 | 15)),
            reached(&|word, _| {
                conditional(word) && !matches!(test(word), 0 | 15) && !matches!(pred(word), 7 | 15)
            }),
            reached(&|word, _| conditional(word) && pred(word) > 7 && pred(word) < 15),
            reached(&|word, pc| relative(word) && (i64::from(pc) + 8 + offset(word)) & 31 == 0),
            reached(&|word, pc| relative(word) && pc & 31 == 24),
        ]);
        found
    }

    fn unjudged(_: &str) -> bool {
        false
    }
}
