//! Programs that are refused, each with its message.

use super::*;

#[rustfmt::skip]
const MISUSE: &[(&str, &str)] = &[
    ("", " program: has no instruction"),
    ("// nothing\nL:", " program: has no instruction"),
    (".entry 0", " program: has no instruction"),
    ("X\n/* open", "2: comment: does not end on its line"),
    ("X\n+", "2: mnemonic: `+` is not an instruction of sm_50; `X` stands for any black box"),
    ("X\n8", "2: mnemonic: `8` is not an instruction of sm_50; `X` stands for any black box"),
    ("FOO R0, R1", "1: mnemonic: `FOO` is not an instruction of sm_50; did you mean `FLO`?"),
    ("ELSE\nSSY", "1: mnemonic: `ELSE` is not an instruction of sm_50; `X` stands for any black box"),
    ("SSY J\nJ: SNYC", "2: mnemonic: `SNYC` is not an instruction of sm_50; did you mean `SYNC`?"),
    ("X\n@P0 BRKK", "2: mnemonic: `BRKK` is not an instruction of sm_50; did you mean `BRK`?"),
    ("@!P1 brkk", "1: mnemonic: `brkk` is not an instruction of sm_50; did you mean `BRK`?"),
    ("EXT", "1: mnemonic: `EXT` is not an instruction of sm_50; did you mean `EXIT`?"),
    ("RT", "1: mnemonic: `RT` is not an instruction of sm_50; did you mean `RET` or `RTT`?"),
    // Five are as near: BRK, BRA, BRX, B2R, BAR.
    ("BR L", "1: mnemonic: `BR` is not an instruction of sm_50; `X` stands for any black box"),
    ("ISETPP.NE P0, PT, R0, RZ, PT", "1: mnemonic: `ISETPP` is not an instruction of sm_50; did you mean `ISETP`?"),
    ("SYNCX /* 0x5c98078000270003 */", "1: mnemonic: `SYNCX` is not an instruction of sm_50; did you mean `SYNC`?"),
    // A later architecture's.
    ("WARPSYNC 0xff", "1: mnemonic: `WARPSYNC` is not an instruction of sm_50; `X` stands for any black box"),
    ("@P0", "1: mnemonic: there is none behind the predicate"),
    ("@P7 SYNC", "1: predicate: `@P7` is not one of @P0 to @P6, @PT, @!P0 to @!P6, @!PT"),
    ("@!! SYNC", "1: predicate: `@!!` is not one of @P0 to @P6, @PT, @!P0 to @!P6, @!PT"),
    ("@ SYNC", "1: predicate: `@` is not one of @P0 to @P6, @PT, @!P0 to @!P6, @!PT"),
    ("@P0 SSY 0x8", "1: SSY: has no predicate: it always executes"),
    ("@PT CAL 0x8", "1: CAL: has no predicate: it always executes"),
    ("SSY", "1: SSY: needs a target"),
    ("BRA.U CC.GE", "1: BRA.U: needs a target"),
    ("BRX", "1: BRX: needs a register"),
    ("SSY CC.GE, 0x8", "1: SSY: does not take `0x8`"),
    ("SSY 0x8 0x10", "1: SSY: does not take `0x10`"),
    ("SSY.NOINC 0x8", "1: SSY.NOINC: does not take `.NOINC`"),
    ("CAL.U 0x8", "1: CAL.U: does not take `.U`"),
    ("BRA.NOINC 0x8", "1: BRA.NOINC: does not take `.NOINC`"),
    ("BRA.U.U 0x8", "1: BRA.U.U: does not take `.U`"),
    ("BRX.U R0", "1: BRX.U: does not take `.U`"),
    ("SYNC.S", "1: SYNC.S: does not take `.S`"),
    ("BRK.KEEPREFCOUNT", "1: BRK.KEEPREFCOUNT: does not take `.KEEPREFCOUNT`"),
    ("SYNC 0x8", "1: SYNC: does not take `0x8`"),
    ("SYNC CC.GE CC.LT", "1: SYNC: does not take `CC.LT`"),
    ("SYNC CC.GEE", "1: CC test: `CC.GEE` is not a CC test: CC.F, CC.LT ... CC.OFT"),
    ("SYNC CC.TRUTH", "1: CC test: `CC.TRUTH` is not a CC test: CC.F, CC.LT ... CC.OFT"),
    ("X\nSYNC &wait=1", "2: schedule: `&wait=1` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("SYNC &", "1: schedule: `&` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("SYNC ?", "1: schedule: `?` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("SYNC &req=", "1: schedule: `&req=` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("SYNC &req={0,1", "1: schedule: `&req={0,1` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("SYNC &req={0,x} ?WAIT5", "1: schedule: `&req={0,x}` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("SYNC &req_x", "1: schedule: `&req_x` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("SYNC {&req_6 ?sched", "1: schedule: `{&req_6` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("SYNC ?WAIT5! ?sched", "1: schedule: `?WAIT5!` is none of &req={0,1}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"),
    ("BRA 0xg", "1: target: `0xg` is not a number"),
    ("BRA -", "1: target: `-` is not a number"),
    ("BRA `(L", "1: label: ``(L` is not a label: letters, digits, `_`, `.` and `$`, not beginning with a digit"),
    ("BRA \u{e9}", "1: label: `\u{e9}` is not a label: letters, digits, `_`, `.` and `$`, not beginning with a digit"),
    ("1a: X", "1: label: `1a` is not a label: letters, digits, `_`, `.` and `$`, not beginning with a digit"),
    ("BRA L", "1: label: label `L` is not defined"),
    ("BRA l\nL:", "1: label: label `l` is not defined; did you mean `L`?"),
    ("BRA B\nBRA A", "1: label: label `B` is not defined"),
    ("BRA B\nA: C: D:", "1: label: label `B` is not defined"),
    ("SSY DNE\nOUT: DONE: EXIT", "1: label: label `DNE` is not defined; did you mean `DONE`?"),
    ("X\nBRA `(.L_1)\n.L_11: .L_12: X", "2: label: label `.L_1` is not defined; did you mean `.L_11` or `.L_12`?"),
    ("L: X\nL: X", "2: label: `L` is defined twice"),
    ("BRX P0", "1: register: `P0` is not one of R0 to R254, RZ"),
    ("BRX R255", "1: register: `R255` is not one of R0 to R254, RZ"),
    ("BRX R+1", "1: register: `R+1` is not one of R0 to R254, RZ"),
    ("BRX c[0][P0]", "1: address: `P0` is not a number"),
    ("BRX R0 L", "1: offset: `L` is not a number"),
    ("SSY c[0x0]", "1: target: `c[0x0]` is not of the form c[BANK][ADDRESS]"),
    ("SSY c[x][0]", "1: bank: `x` is not a number"),
    (".word", "1: .word: is written `.word WORD`"),
    (".word 0x0 0x0", "1: .word: is written `.word WORD`"),
    (".word 5b6b", "1: .word: `5b6b` is not a 64-bit word: 16 hexadecimal digits, or 0x and fewer"),
    (".control", "1: .control: is written `.control WORD`"),
    (".control x", "1: .control: `x` is not a 64-bit word: 16 hexadecimal digits, or 0x and fewer"),
    ("X\n.control 0x0", "2: .control: a control word belongs before the first of three instructions, not at 0x0010"),
    (".control 0x0\n.control 0x0", "2: .control: a control word belongs before the first of three instructions, not at 0x0008"),
    ("X\n/* 0x0000000000000000 */", "2: comment: a control word belongs before the first of three instructions, not at 0x0010"),
    ("X /* 0x0000000000000000 */ /* 0x0000000000000000 */", "1: comment: a line has one word"),
    ("X /* 0xe30000000007000f */", "1: comment: 0xe30000000007000f is EXIT, and the instruction is a black box"),
    ("X /* 0xe3f0000000000000 */", "1: comment: 0xe3f0000000000000 is an opcode without a name, and the instruction is a black box"),
    ("BPT /* 0xe370000000000000 */", "1: comment: 0xe370000000000000 is SAM, and the instruction is BPT"),
    ("BPT /* 0x50b0000000070f00 */", "1: comment: 0x50b0000000070f00 is a black box, and the instruction is BPT"),
    ("X }\n/* 0xe30000000007000f */", "2: comment: 0xe30000000007000f is EXIT, and the instruction is a black box"),
    ("EXIT /* 0xe32000000007000f */", "1: comment: 0xe32000000007000f, and the text is 0xe30000000007000f"),
    ("BRA L /* 0xe24000000007000f */\nX\nL:", "1: comment: 0xe24000000007000f, and the text is 0xe24000000087000f"),
    (".word 0x1 /* 0x0000000000000002 */", "1: comment: 0x0000000000000002, and the text is 0x0000000000000001"),
    ("SAM 0x8", "1: SAM: its operands are not assembled: give its word in a comment, or as .word"),
    ("JMP", "1: JMP: needs a target"),
    ("JMP 4294967296", "1: target: 4294967296 is not in 0..4294967295"),
    ("JMP -1", "1: target: -1 is not in 0..4294967295"),
    ("JMP c[0][0]", "1: JMP: its operands are not assembled: give its word in a comment, or as .word"),
    ("JCAL c[0][0]", "1: JCAL: its operands are not assembled: give its word in a comment, or as .word"),
    ("JMX c[0][R0]", "1: JMX: its operands are not assembled: give its word in a comment, or as .word"),
    ("JMP c[0][0] /* 0xe21deadbee87000f */", "1: comment: 0xe21deadbee87000f is JMP, and the instruction is JMP"),
    ("@P0 JCAL 0x8", "1: JCAL: has no predicate: it always executes"),
    ("JMX R0 4294967296", "1: address: 4294967296 is not in 0..4294967295"),
    ("KIL.KEEPREFCOUNT", "1: KIL.KEEPREFCOUNT: does not take `.KEEPREFCOUNT`"),
    (".prog_base\nX", "1: .prog_base: is written `.prog_base N`"),
    (".prog_base 16\nX", "1: prog_base: 16 is not a multiple of 32"),
    ("X\n.prog_base 32", "2: prog_base: there are instructions before it"),
    (".prog_base 32\n.prog_base 32\nX", "2: .prog_base: prog_base is set already"),
    (".prog_base 0xffffffe0\nX\nX\nX\nX", "1: prog_base: 0xffffffe0: with 0x40 bytes the program does not end in 32 bits"),
    (".constant c[0][0]\nX", "1: .constant: is written `.constant c[BANK][ADDRESS] N`"),
    (".constant 7 1\nX", "1: constant: `7` is not of the form c[BANK][ADDRESS]"),
    (".constant c[32][0] 1\nX", "1: bank: 32 is not in 0..31"),
    (".constant c[0][0] 4294967296\nX", "1: constant: 4294967296 is not in 0..4294967295"),
    (".constant c[0][0] 1\n.constant c[0x0][0x0] 2\nX", "2: .constant: c[0x0][0x0] is set already"),
    ("@P0 BPT.TRAP", "1: BPT.TRAP: its operands are not assembled: give its word in a comment, or as .word"),
    (".align", "1: .align: is written `.align N`"),
    (".align 0", "1: .align: 0 is neither a multiple of 32 nor does it divide it"),
    (".align 48", "1: .align: 48 is neither a multiple of 32 nor does it divide it"),
    (".align x", "1: .align: `x` is not a number"),
    (".entry\nX", "1: .entry: is written `.entry PLACE`"),
    (".entry 4\nX", "1: address: 4 is not a multiple of 8"),
    (".entry L\nX", "1: label: label `L` is not defined"),
    (".entry L\nX\nX\nX\nL:", "1: label: there is no instruction at this label"),
    (".entry 0\n.entry 0\nX", "2: .entry: the entry is set already"),
    (".prog_size\nX", "1: .prog_size: is written `.prog_size N`"),
    (".prog_size 16\nX", "1: prog_size: 16 is not a multiple of 32"),
    (".prog_size 32\n.prog_size 32\nX", "2: .prog_size: prog_size is set already"),
    (".targets\nX", "1: .targets: is written `.targets PLACE PLACE ...`"),
    (".targets 0x20 8\nX", "1: .targets: there is no instruction at 0x0028"),
    (".targets 0xc 8\nX", "1: .targets: there is no instruction at 0x000c"),
    (".targets 8 8\n.targets 0 8\nX", "2: .targets: what 0x0008 leads to is set already"),
    (".targets 8 8\nSYNC (*\"BRANCH_TARGETS 8\"*)", "2: .targets: what 0x0008 leads to is set already"),
    ("SYNC (*\"BRANCH_TARGETS L\"*)", "1: label: label `L` is not defined"),
    (".word8", "1: directive: there is no directive `.word8` here"),
    (".short 1", "1: directive: there is no directive `.short` here"),
    (".section .text.a\nX\n.section .text.b\nX", "3: .section: there is code before it, and a file is one program"),
    ("X\n.section .text.b\nX", "2: .section: there is code before it, and a file is one program"),
    (".section .text.a\nX\n.section .data\n.section .text.b", "4: .section: there is code before it, and a file is one program"),
];

#[test]
fn misuse_is_refused_with_line_field_and_message() {
    for (text, error) in MISUSE {
        let e = refused(text).to_string();
        assert_eq!(e, format!("t.s:{error}"), "{text}");
    }
}

/// Regression: a misspelt mnemonic was a NOP, and a program without its SYNC agreed with itself.
#[test]
fn a_slip_in_a_mnemonic_is_refused_in_every_program() {
    let mut slips = 0;
    for file in std::fs::read_dir(FOLDER).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "s") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            // OUT is a label, here.
            let known = |word: &&str| *word != "OUT" && isa::mnemonics().any(|name| name == *word);
            for name in code
                .split(|c: char| !c.is_ascii_alphanumeric())
                .filter(known)
            {
                let slip = code.replacen(name, &format!("{name}Q"), 1);
                let mut lines = lines.clone();
                lines[n] = &slip;
                let e = refused(&lines.join("\n")).to_string();
                let start = format!(
                    "t.s:{}: mnemonic: `{name}Q` is not an instruction of sm_50",
                    n + 1
                );
                assert!(e.starts_with(&start), "{e}\n{slip}");
                slips += 1;
            }
        }
    }
    assert!(slips > 100, "{slips}");
}

/// What nvdisasm 12.4 printed for 62 kernels of ptxas 12.9, beside this unit's instructions.
const LISTED: &str = "BAR DADD DFMA DMUL DSETP F2I I2F IADD IADD3 IADD32I IMNMX ISCADD ISETP LDC LDG LDL LOP32I \
                      MEMBAR MOV MOV32I MUFU NOP P2R R2P S2R SEL SHL SHR STG STL VOTE XMAD";

#[test]
fn every_mnemonic_of_the_listings_of_real_kernels_is_a_black_box() {
    for name in LISTED.split_whitespace() {
        assert_eq!(
            first(&format!("{name}.A P0, R0, c[0x0][0x4]")),
            NOP,
            "{name}"
        );
        assert_eq!(
            first(&format!("@!P0 {}", name.to_lowercase())),
            NOP,
            "{name}"
        );
    }
}

#[test]
fn mnemonics_are_listed_once() {
    let mut names: Vec<&str> = isa::mnemonics().collect();
    assert!(names.len() > 150, "{}", names.len());
    let plain = |name: &&str| {
        name.bytes()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
    };
    assert!(names.iter().all(plain), "{names:?}");
    names.sort_unstable();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    assert!(isa::BLACK_BOXES.is_sorted_by(|a, b| a.0 < b.0));
}
