//! Unit spa5.

use reconverge::spa5::Spa5;
use reconverge::spa5::program::Program;
use serde_json::Value;

use super::Tested;

impl Tested for Spa5 {
    const LONG: &str = "if_in_loop.s";
    const IF_ELSE: &str = "if_else.s";
    // The side that branches goes first.
    const PARTS: [usize; 3] = [2, 5, 7];
    const SHOWN: &str = "d_cont[3].0@30";
    const TRACED: &str = r#"{"step":0,"pc":8,"word":"0x5b6b00000007ff07","a":"0xf","t":"0xf","active":"0xf","pc_next":16,"d_brk":"0x0","d_cont":"0x0","d_ret":"0x0","exited":"0x0","killed":"0x0","vis":0,"sp":0,"status":0,"err":0,"top":null,"text":"ISETP; /* 0x5b6b00000007ff07 */ // entry"}"#;

    const OTHER_FIELD: usize = 4;

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
