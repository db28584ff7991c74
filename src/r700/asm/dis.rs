//! Conversion of words to text: one instruction, or a program with its registers.
//!
//! Source: r700-2 and r700-7.1 in `docs/spec/r700.md`.

use std::fmt::Write as _;

use crate::r700::isa::{Alu, AluOp, Cf, CfOp, Clause, Cond, Kcache, Mem, Word};
use crate::r700::program::{Program, Quad, Registers};
use reconverge_bench::text::{listing_line, name_comment, with_notes};
use reconverge_program::layout::operands;

/// Returns `quad` as one line of assembly that assembles to the same words and u.
///
/// The instruction is written in the manual's terms; a comment names the statement if the words are part of
/// a row of r700-7.1, and gives the constants that it reads. Where the text does not say all of the words, they follow in brackets, which
/// the assembler reads: with bits that have no meaning, or with a u on anything but an ALU instruction. Words without a mnemonic become
/// `.quad`. `pc` is the instruction's address, `regs` the registers
/// that it runs under.
pub fn disassemble(quad: Quad, pc: u32, regs: &Registers) -> String {
    with_notes(mnemonic(quad), &notes(quad, pc, regs))
}

/// Returns the instruction without comments.
fn mnemonic(quad: Quad) -> String {
    match sayable(quad) {
        Some(word) => fields(word, quad.u),
        None => match Word::decode(quad) {
            Word::Reserved(..) => format!(".quad {}", words(quad)),
            // Words stand behind no statement.
            Word::Cf(cf) => format!("{} [{}]", cf_fields(cf, false), words(quad)),
            word => format!("{} [{}]", fields(word, false), words(quad)),
        },
    }
}

/// Returns the instruction of words in the manual's terms, whatever other bits are set.
pub(super) fn all_fields(quad: Quad) -> String {
    let word = Word::decode(quad);
    fields(word, quad.u && matches!(word, Word::Alu(_)))
}

/// Returns the two words and u as the spec's listings print them.
fn words(quad: Quad) -> String {
    let u = if quad.u { " u" } else { "" };
    format!("{:08X} {:08X}{u}", quad.dw0, quad.dw1)
}

/// Returns the fields of `quad`, if they express all of it.
fn sayable(quad: Quad) -> Option<Word> {
    let word = Word::decode(quad);
    let again = word.encode();
    let same = (again.dw0, again.dw1) == (quad.dw0, quad.dw1);
    match word {
        Word::Alu(_) => Some(word),
        Word::Cf(_) | Word::Mem(_) if same && !quad.u => Some(word),
        _ => None,
    }
}

/// Returns the manual's mnemonic with every field that is not at its default.
fn fields(word: Word, u: bool) -> String {
    match word {
        Word::Alu(alu) => alu_fields(alu, u),
        Word::Cf(cf) => cf_fields(cf, true),
        Word::Mem(mem) => mem_fields(mem),
        Word::Reserved(dw0, dw1) => words(Quad { dw0, dw1, u }),
    }
}

fn alu_fields(Alu { op, clause: c }: Alu, u: bool) -> String {
    let mut t = format!("{} {}, @{}", op.name(), c.count, c.addr);
    for (name, k) in [("KC0", c.kcache0), ("KC1", c.kcache1)] {
        if k != Kcache::default() {
            let _ = write!(t, ", {name}[{}]", kcache(k));
        }
    }
    t += &operands(Clause::FIELDS, &c.words());
    if u { t + " u" } else { t }
}

/// Returns a window into the constant cache as LLVM prints it; mode 3 adds the loop index.
fn kcache(k: Kcache) -> String {
    let first = u32::from(k.addr) * 16;
    let (length, index) = match k.mode {
        0 => (0, ""),
        1 => (16, ""),
        2 => (32, ""),
        _ => (32, "+aL"),
    };
    format!("CB{}:{first}-{}{index}", k.bank, first + length)
}

/// Returns the fields of the general format, as a statement if they are one and `statement` is set.
fn cf_fields(cf: Cf, statement: bool) -> String {
    let mut t = cf.op.name().to_owned();
    if cf.op.is_fetch() {
        let _ = write!(t, " {}", cf.count);
    }
    // RETURN without an address is the statement, which takes a condition and nothing else.
    let plain = Cf {
        cond: cf.cond,
        cf_const: match cf.cond {
            Cond::Bool | Cond::NotBool => cf.cf_const,
            Cond::Active | Cond::False => 0,
        },
        ..Cf::new(cf.op)
    };
    let bare = match cf.op {
        CfOp::Return => statement && cf == plain,
        op => !op.uses_addr() && cf.addr == 0,
    };
    if !bare {
        let _ = write!(t, " @{}", cf.addr);
    }
    // The condition stands behind POP_COUNT. COUNT of a fetch has been said.
    let count = if cf.op.is_fetch() { 0 } else { cf.count };
    let words = Cf { count, ..cf }.words();
    let behind = Cf::FIELDS.iter().position(|field| field.name == "cond");
    let (before, behind) = Cf::FIELDS.split_at(behind.unwrap_or(0));
    t += &operands(before, &words);
    match cf.cond {
        Cond::Bool | Cond::NotBool => {
            let _ = write!(t, " {} b{}", cf.cond.name(), cf.cf_const);
        }
        Cond::Active | Cond::False => {
            if cf.cond == Cond::False {
                t += " FALSE";
            }
            if cf.cf_const != 0 {
                let _ = write!(t, " i{}", cf.cf_const);
            }
        }
    }
    t + &operands(behind, &words)
}

fn mem_fields(mem: Mem) -> String {
    let mut t = mem.op.name().to_owned();
    if (mem.dw0, mem.rest) != (0, 0) {
        let _ = write!(t, " 0x{:08X} 0x{:06X}", mem.dw0, mem.rest);
    }
    t + &operands(Mem::FIELDS, &mem.words())
}

/// Returns the comments: the statement, what is odd about the words, constants, and the place.
fn notes(quad: Quad, pc: u32, regs: &Registers) -> Vec<String> {
    let mut notes = Vec::new();
    let word = Word::decode(quad);
    if sayable(quad).is_none() {
        notes.push(match word {
            Word::Reserved(..) => "reserved opcode: ILLEGAL".to_owned(),
            _ => "bits without meaning set".to_owned(),
        });
        if quad.u {
            notes.push("u belongs to ALU instructions".to_owned());
        }
    }
    if let Word::Cf(cf) = word
        && cf.op.is_illegal()
    {
        notes.push("reserved: ILLEGAL".to_owned());
    }
    notes.extend(statement(quad));
    if let Word::Cf(cf) = word {
        notes.extend(constants(&cf, regs));
    }
    if pc == regs.entry {
        notes.push("entry".to_owned());
    }
    if pc >= regs.prog_len {
        notes.push("behind prog_len".to_owned());
    }
    notes
}

/// Returns the constants that the instruction reads.
fn constants(cf: &Cf, regs: &Registers) -> Vec<String> {
    let mut notes = Vec::new();
    let n = cf.cf_const;
    let k = regs.loop_const[usize::from(n & 31)];
    let (count, first, step) = (k & 0xfff, k >> 12 & 0xfff, (k >> 24) as u8 as i8);
    match cf.op {
        CfOp::LoopStart => notes.push(format!("i{n}: count {count}, first {first}, step {step}")),
        CfOp::LoopStartNoAl => notes.push(format!("i{n}: count {count}")),
        // Without an index, nothing shows that a count is intended (r700-4.3-z).
        CfOp::LoopStartDx10 if n != 0 && matches!(cf.cond, Cond::Active | Cond::False) => {
            notes.push(format!("with DX10_COUNT=1 i{n}: count {count}"));
        }
        _ => {}
    }
    if matches!(cf.cond, Cond::Bool | Cond::NotBool) {
        notes.push(format!("b{n} = {}", regs.bool_const >> (n & 31) & 1));
    }
    notes
}

/// Returns the statement of r700-7.1 to which this instruction belongs, as the assembler reads it; `None` if there is
/// none, or if the instruction is always a statement by itself (ALU, TEX ...).
///
/// Targets, `BARRIER` and the fields of a clause are ignored; a JUMP belongs to the IF before it.
pub fn statement(quad: Quad) -> Option<String> {
    let text = match Word::decode(quad) {
        Word::Alu(alu) => match (alu.op, quad.u) {
            (AluOp::Alu, true) => "skips the rest of the block unless its predicate holds",
            (AluOp::AluPushBefore, true) => "IF",
            (AluOp::AluElseAfter, true) => "IF NOT",
            (AluOp::AluElseAfter, false) => "ELSE FUSED",
            (AluOp::AluPopAfter, _) => "ENDIF FUSED",
            (AluOp::AluPop2After, _) => "ENDIF2",
            (AluOp::AluBreak, true) => "BREAK UNLESS",
            (AluOp::AluContinue, true) => "CONTINUE UNLESS",
            _ => return None,
        }
        .to_owned(),
        Word::Cf(cf) => general(&cf)?,
        Word::Mem(_) | Word::Reserved(..) => return None,
    };
    Some(text)
}

/// Returns the same as [`statement`], for the general format.
fn general(cf: &Cf) -> Option<String> {
    let pops = cf.pop_count;
    let calls = match cf.op {
        CfOp::Call => 1,
        _ => 0,
    };
    let has_vpm = matches!(
        cf.op,
        CfOp::Jump
            | CfOp::Push
            | CfOp::PushElse
            | CfOp::Else
            | CfOp::Pop
            | CfOp::LoopEnd
            | CfOp::Kill
    );
    let odd = cf.wqm || cf.vpm && !has_vpm || cf.call_count != calls || cf.count != 0;
    if odd || cf.end != (cf.op == CfOp::Nop) {
        return None;
    }
    let when = match cf.cond {
        Cond::Active => String::new(),
        Cond::False => " FALSE".to_owned(),
        Cond::Bool => format!(" b{}", cf.cf_const),
        Cond::NotBool => format!(" !b{}", cf.cf_const),
    };
    let always = cf.cond == Cond::Active;
    let on_boolean = matches!(cf.cond, Cond::Bool | Cond::NotBool);
    let loop_constant = matches!(cf.op, CfOp::LoopStart | CfOp::LoopStartNoAl | CfOp::LoopEnd);
    if !on_boolean && !loop_constant && cf.cf_const != 0 {
        return None;
    }
    let n = cf.cf_const;
    let mut text = match (cf.op, pops) {
        (CfOp::Jump, 0) if always => "to the ELSE".to_owned(),
        (CfOp::Jump, 1) if always => "to the end".to_owned(),
        (CfOp::Jump, 2) if always => "to the end of two IFs".to_owned(),
        (CfOp::Jump, 0) if cf.cond == Cond::False => "ELSE, no frame".to_owned(),
        (CfOp::Jump, 0) => format!("IF{when}"),
        (CfOp::Push, 0) if on_boolean => format!("IF{when} FRAME"),
        (CfOp::Push, 1) if on_boolean => format!("IF{when} FRAME, end of two IFs"),
        (CfOp::PushElse, 0) if on_boolean => format!("IF{when} FRAME, with ELSE"),
        (CfOp::Else, 0) if always => "ELSE STAY".to_owned(),
        (CfOp::Else, 1) if always => "ELSE".to_owned(),
        (CfOp::Else, 2) if always => "ELSE, end of two IFs".to_owned(),
        (CfOp::Pop, 1) if always => "ENDIF".to_owned(),
        (CfOp::LoopStartDx10, 0) if always => "LOOP".to_owned(),
        (CfOp::LoopStart, 0) if always => format!("LOOP i{n}"),
        (CfOp::LoopStartNoAl, 0) if always => format!("REPEAT i{n}"),
        (CfOp::LoopEnd, 0) if always => "ENDLOOP".to_owned(),
        (CfOp::LoopBreak, 0) => format!("BREAK{when}"),
        (CfOp::LoopContinue, 0) => format!("CONTINUE{when}"),
        (CfOp::Call, 0) => format!("CALL{when}"),
        (CfOp::Return, 0) => format!("RETURN{when}"),
        (CfOp::Kill, 0) => format!("KILL{when}"),
        (CfOp::Nop, 0) if always && cf.addr == 0 => "END".to_owned(),
        _ => return None,
    };
    if cf.vpm {
        text.push_str(" VPM");
    }
    Some(text)
}

/// Returns the directives for the registers, in the dialect that both text forms share.
fn registers(program: &Program) -> String {
    let Registers {
        entry,
        prog_len,
        stack_size,
        bool_const,
        loop_const,
    } = &program.regs;
    let mut t = name_comment(&program.name);
    let _ = writeln!(t, ".stack {stack_size}");
    if *entry != 0 {
        let _ = writeln!(t, ".entry {entry}");
    }
    if usize::try_from(*prog_len) != Ok(program.quads.len()) {
        let _ = writeln!(t, ".prog_len {prog_len}");
    }
    if *bool_const != 0 {
        let _ = writeln!(t, ".bool 0x{bool_const:08X}");
    }
    for (n, k) in loop_const.iter().enumerate().filter(|(_, k)| **k != 0) {
        let (count, first, step) = (k & 0xfff, k >> 12 & 0xfff, (k >> 24) as u8 as i8);
        let _ = writeln!(t, ".int {n} {count} {first} {step}");
    }
    t + "\n"
}

/// Returns `program` as a `.s` file.
///
/// [`super::assemble`] makes an equal program of it if its name is that of the file and it has at least one
/// instruction and no more than [`MAX_QUADS`](crate::r700::program::MAX_QUADS).
pub fn program_text(program: &Program) -> String {
    listing(program, |quad, notes| (mnemonic(quad), notes.join("; ")))
}

/// Returns `program` as a `.hex` file for [`super::parse_hex`]; the same conditions hold.
pub fn hex_text(program: &Program) -> String {
    listing(program, |quad, notes| {
        (words(quad), with_notes(mnemonic(quad), notes))
    })
}

/// Returns the registers, and a line for each instruction: text and note from `form`, with the address between
/// them.
fn listing(program: &Program, form: impl Fn(Quad, &[String]) -> (String, String)) -> String {
    let mut t = registers(program);
    for (pc, quad) in (0..).zip(&program.quads) {
        let (text, note) = form(*quad, &notes(*quad, pc, &program.regs));
        listing_line(&mut t, &text, pc, &note);
    }
    t
}
