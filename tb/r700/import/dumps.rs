//! Dumps of Mesa's driver: objects of LLVM printed as the driver's two disassemblers print them. `tb/damaged.rs` damages them.

use std::fmt::Write as _;

use reconverge::elf::{Elf, REL, Wanted};

use super::*;

const DUMPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/r700/programs/dumps");

fn sample(name: &str) -> String {
    fs::read_to_string(format!("{DUMPS}/{name}")).unwrap()
}

/// The two disassemblers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The optimizer's: lower case, `EOP` behind two blanks.
    Sb,
    /// The assembler's.
    Assembler,
}

/// Name of a CF instruction and, of a clause, its first quadword and how many slots or fetches it has.
fn cf(dw0: u32, dw1: u32) -> (&'static str, Option<(u32, u32)>) {
    let alu = [
        "ALU",
        "ALU_PUSH_BEFORE",
        "ALU_POP_AFTER",
        "ALU_POP2_AFTER",
        "",
        "ALU_CONTINUE",
        "ALU_BREAK",
        "ALU_ELSE_AFTER",
    ];
    if dw1 >> 29 & 1 == 1 {
        let clause = (dw0 & 0x3f_ffff, (dw1 >> 18 & 127) + 1);
        return (alu[(dw1 >> 26 & 7) as usize], Some(clause));
    }
    let count = (dw1 >> 10 & 7 | dw1 >> 16 & 8) + 1;
    match dw1 >> 23 & 127 {
        0 => ("NOP", None),
        1 => ("TEX", Some((dw0, count))),
        2 => ("VTX", Some((dw0, count))),
        5 => ("LOOP_END", None),
        6 => ("LOOP_START_DX10", None),
        9 => ("LOOP_BREAK", None),
        10 => ("JUMP", None),
        13 => ("ELSE", None),
        14 => ("POP", None),
        20 => ("RET", None),
        39 => ("EXPORT", None),
        40 => ("EXPORT_DONE", None),
        58 => ("MEM_EXPORT", None),
        n => panic!("{n}"),
    }
}

/// The text of an ALU or fetch clause, whose words are `words` from `start` on.
fn clause(text: &mut String, by: By, words: &[u32], start: usize, fetches: bool) {
    let hex = |word: u32| match by {
        By::Sb => format!("{word:08x}"),
        By::Assembler => format!("{word:08X}"),
    };
    if fetches {
        for (i, fetch) in words.chunks(4).enumerate() {
            let three: Vec<String> = fetch[..3].iter().map(|w| hex(*w)).collect();
            let at = start + 4 * i;
            let _ = writeln!(
                text,
                " {at:04} {}   SAMPLE R0.xyzw, R0.xyzw",
                three.join(" ")
            );
        }
        return;
    }
    let (mut at, mut first, mut literals) = (0, true, 0);
    while at < words.len() {
        let (w0, w1) = (words[at], words[at + 1]);
        let three = w1 >> 15 & 7 != 0;
        let group = if first { "   1 x:" } else { "     y:" };
        let masks = if !three && w1 >> 2 & 1 == 1 { "M" } else { " " };
        let place = start + at;
        let _ = writeln!(
            text,
            " {place:04} {} {}  {group}{masks}    MOV  R0.x,  R1.x",
            hex(w0),
            hex(w1)
        );
        for (sel, chan) in [(w0 & 511, w0 >> 10 & 3), (w0 >> 13 & 511, w0 >> 23 & 3)] {
            literals = if sel == 253 {
                literals.max(chan + 1)
            } else {
                literals
            };
        }
        if three && w1 & 511 == 253 {
            literals = literals.max((w1 >> 10 & 3) + 1);
        }
        at += 2;
        first = w0 >> 31 == 1;
        if first {
            // One a line; the word that fills up the quadword is left out.
            for i in 0..literals as usize {
                let _ = writeln!(text, " {:04} {}", start + at + i, hex(words[at + i]));
            }
            at += literals.next_multiple_of(2) as usize;
            literals = 0;
        }
    }
}

/// A function's code as a dump; `count` CF instructions.
fn dump(by: By, number: usize, words: &[u32], count: usize, stack: u8) -> String {
    let dw = words.len();
    let mut text = match by {
        By::Sb => format!(
            "\n===== SHADER #{number} ======= PS/RV770/R700 =====\n===== {dw} dw ===== 4 gprs ===== {stack} stack =====\n"
        ),
        By::Assembler => format!(
            "-----------------------\nbytecode {dw} dw -- 4 gprs -- {stack} nstack -------------\nshader {number} -- 7\n"
        ),
    };
    for i in 0..count {
        let (dw0, dw1) = (words[2 * i], words[2 * i + 1]);
        let (name, follows) = cf(dw0, dw1);
        let _ = match by {
            By::Sb => write!(text, "{:04}  {dw0:08x} {dw1:08x}  {name}", 2 * i),
            By::Assembler => write!(text, "{:04} {dw0:08X} {dw1:08X}  {name}", 2 * i),
        };
        if let Some((start, count)) = follows {
            let _ = write!(text, " {count} @{}", 2 * start);
        } else if name.contains("EXPORT") {
            text += "        PIXEL 0     R0.xyzw";
        } else {
            let _ = write!(text, " @{}", 2 * u64::from(dw0));
            if dw1 & 7 > 0 {
                let _ = write!(text, " POP:{}", dw1 & 7);
            }
        }
        text += if dw1 >> 21 & 1 == 1 && dw1 >> 29 & 1 == 0 {
            "  EOP\n"
        } else {
            "\n"
        };
        if let Some((start, count)) = follows {
            let fetches = dw1 >> 29 & 1 == 0;
            let words_each = if fetches { 4 } else { 2 };
            let from = 2 * start as usize;
            let to = from + words_each * count as usize;
            clause(&mut text, by, &words[from..to], from, fetches);
        }
    }
    text + match by {
        By::Sb => "===== SHADER_END ==========================\n\n",
        By::Assembler => "--------------------------------------\n",
    }
}

/// The words of each function of an object.
fn functions_of(bytes: &[u8]) -> Vec<Vec<u32>> {
    let wanted = Wanted {
        what: "an object",
        bits64: false,
        machine: 224,
        types: &[REL],
    };
    let elf = Elf::open(bytes, "x.o", &wanted).unwrap();
    let words = |code: &[u8]| {
        let words = code.chunks_exact(4);
        words
            .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
            .collect()
    };
    elf.functions
        .iter()
        .map(|f| words(f.code.clone().unwrap()))
        .collect()
}

/// All functions of LLVM's objects, printed in both forms into one log each: every one is the program that the object is.
#[test]
fn dumps_are_the_programs_that_their_words_are() {
    let mut shaders = 0;
    for by in [By::Sb, By::Assembler] {
        for path in listings::objects() {
            let bytes = fs::read(&path).unwrap();
            let functions = functions_of(&bytes);
            let mut text = String::new();
            let mut expected = Vec::new();
            for (i, words) in functions.iter().enumerate() {
                let program = import(&bytes, Some(&(i + 1).to_string())).program;
                let (count, stack) = (program.quads.len(), program.regs.stack_size);
                text += &dump(by, 40 + i, words, count, stack);
                expected.push(program);
            }
            let here = format!("{by:?} {}\n{text}", path.display());
            // As a journal has it, on another line of which the tabs are escaped.
            let journal: String = text
                .lines()
                .map(|line| format!("Mar 07 09:00:01 host app[1234]: {line}\n"))
                .collect();
            for text in [&text, &journal] {
                let listed = functions_of_text(text);
                assert_eq!(listed.len(), expected.len(), "{here}");
                for (i, program) in expected.iter().enumerate() {
                    let name = match by {
                        By::Sb => format!("PS{}", 40 + i),
                        By::Assembler => format!("shader{}", 40 + i),
                    };
                    assert_eq!(listed[i].0, name, "{here}");
                    assert_eq!(listed[i].1, Some(program.quads.len()), "{here}");
                    for choice in [(i + 1).to_string(), name.clone()] {
                        let got = import(text.as_bytes(), Some(&choice));
                        assert_eq!(got.program.quads, program.quads, "{here}");
                        assert_eq!(got.program.regs, program.regs, "{here}");
                        assert_eq!(got.program.name, name, "{here}");
                        assert_eq!(got.warnings, [""; 0], "{here}");
                    }
                    shaders += 1;
                }
            }
        }
    }
    // 52 functions, two forms, each with a journal's prefix and without.
    assert_eq!(shaders, 4 * 52);
}

/// Name and number of instructions of what a text lists; no problem.
fn functions_of_text(text: &str) -> Vec<(String, Option<usize>)> {
    let listed = functions(text.as_bytes(), "x.log").unwrap();
    assert!(
        listed.iter().all(|f| f.problem.is_none()),
        "{:?}",
        listed[0]
    );
    listed
        .into_iter()
        .map(|f| (f.name, f.instructions))
        .collect()
}

#[test]
fn samples_of_both_forms_are_read() {
    let got = import(sample("if.sb.log").as_bytes(), None).program;
    let plain = "ALU_PUSH_BEFORE 0 @8 u\nJUMP @3 POP:1\nALU_POP_AFTER 1 @9\nNOP END";
    assert_eq!(got.quads, assemble(plain, "x.s").unwrap().quads);
    assert_eq!((&got.name[..], got.regs.stack_size), ("PS3", 1));
    let got = import(sample("loop.log").as_bytes(), None).program;
    let plain = "LOOP_START_DX10 @6\nALU_PUSH_BEFORE 0 @8 u\nJUMP @5 POP:1\nLOOP_BREAK @5\n\
                 POP @5 POP:1\nLOOP_END @1\nEXPORT_DONE 0xC0000000 0x688 END";
    assert_eq!(got.quads, assemble(plain, "x.s").unwrap().quads);
    assert_eq!((&got.name[..], got.regs.stack_size), ("shader7", 2));
    let listed = list(sample("loop.log").as_bytes(), "x").unwrap();
    assert_eq!(
        listed,
        ["1  shader7, 7 CF instructions, 9 quadwords, STACK_SIZE 2, 2 GPRs"]
    );
}

/// The optimizer prints a shader before and after its work, with the same number.
#[test]
fn shaders_of_a_log_are_chosen_by_number_or_name() {
    let one = sample("if.sb.log");
    let log = one.clone() + "a line of another kind\n" + &one.replace("#3 ", "#3 OPT ");
    assert_eq!(
        refused(log.as_bytes(), None),
        "x.o: --select: there are 2 shaders, 1 PS3, 2 PS3.OPT; choose one by number or name"
    );
    assert_eq!(
        import(log.as_bytes(), Some("PS3.OPT")).program.name,
        "PS3.OPT"
    );
    // A program that is cut off does not affect the others.
    let cut = one.clone() + &one[..one.find("0004").unwrap()];
    assert_eq!(import(cut.as_bytes(), Some("1")).program.quads.len(), 4);
    let why = "x.o:15: JUMP: is the last CF instruction, and has no END: is the log cut off?";
    assert_eq!(refused(cut.as_bytes(), Some("2")), why);
    let problem = &functions(cut.as_bytes(), "x.o").unwrap()[1].problem;
    assert_eq!(problem.as_deref(), Some(why));
}
