//! Conversion of words to text: one instruction, or a program with its registers.
//!
//! Source: r500-2 and r500-7.1 in `docs/spec/r500.md`.

use std::fmt::Write as _;

use super::Cond;
use crate::r500::isa::{AOp, BOp, Fc, Op, PredSel, Type};
use crate::r500::program::{Program, Registers, Slot};
use reconverge_bench::text::{listing_line, name_comment, with_notes};
use reconverge_program::layout;

/// Returns `slot` as one line of assembly that assembles to the same words.
///
/// Flow control is written in the manual's terms; a comment names the statement if the words are a
/// row of r500-7.1 (also with `IGNORE_UNCOVERED`, and Mesa's LOOP), with the absolute target and
/// the constants that it reads. Where the fields do not say all bits, the words follow in brackets, which the assembler reads.
/// `pc` is the instruction's absolute address, `regs` the registers that it runs under.
pub fn disassemble(slot: Slot, pc: u16, regs: &Registers) -> String {
    let text = mnemonic(slot);
    let mut notes = Vec::new();
    if let Some(fc) = Fc::decode(slot) {
        if text.ends_with(']') {
            notes.push("bits without meaning set".to_owned());
        }
        notes.push(match statement(slot) {
            Some(name) => format!("{name}{}", operands(&fc, regs)),
            None => format!("no statement{}", operands(&fc, regs)),
        });
    }
    if usize::from(pc) == usize::from(regs.offset()) + usize::from(regs.end()) {
        notes.push("END_ADDR".to_owned());
    }
    with_notes(text, &notes)
}

/// Returns the instruction without comments.
fn mnemonic(slot: Slot) -> String {
    match Fc::decode(slot) {
        None => {
            let ty = Type::from_bits(slot.cmn);
            let plain = Slot {
                cmn: ty.bits(),
                ..Slot::default()
            };
            if slot == plain {
                ty.name().to_owned()
            } else {
                format!("{} [{}]", ty.name(), words(slot))
            }
        }
        Some(fc) if fc.encode() == slot && fc.alu_result == 0 => fields(&fc),
        Some(fc) => format!("{} [{}]", fields(&fc), words(slot)),
    }
}

/// Returns the fields of flow control, which do not say all of `slot` if it has bits set that belong to none; `None` if it is
/// none.
pub(super) fn all_fields(slot: Slot) -> Option<String> {
    Fc::decode(slot).map(|fc| fields(&fc))
}

/// Returns the words as the spec prints them: three, or all six if words that the sequencer does not read are not 0.
fn words(slot: Slot) -> String {
    let all = slot.words();
    let words = match slot.rest {
        [0, 0, 0] => &[slot.cmn, slot.inst, slot.addr][..],
        _ => &all[..],
    };
    let words: Vec<String> = words.iter().map(|w| format!("0x{w:08X}")).collect();
    words.join(" ")
}

/// Returns the manual's mnemonic with every field that is not at its default.
fn fields(fc: &Fc) -> String {
    let target = match (fc.a_op, fc.jump_addr) {
        (AOp::Pop, 0) => String::new(),
        (_, address) => format!(" -> 0x{address:03X}"),
    };
    let operands = layout::operands(Fc::FIELDS, &fc.words());
    format!("{}{operands}{target}", fc.op.name())
}

/// Returns the register values that the instruction uses: target, integer and boolean constants.
fn operands(fc: &Fc, regs: &Registers) -> String {
    let mut t = String::new();
    match fc.a_op {
        AOp::Pop => t.push_str(" -> the address popped"),
        _ => {
            let base = if fc.jump_global { 0 } else { regs.offset() };
            let _ = write!(t, " -> 0x{:03X}", fc.jump_addr + base);
        }
    }
    let k = regs.int_const[usize::from(fc.int_addr & 31)];
    let [count, init, step, _] = k.to_le_bytes();
    let i = fc.int_addr;
    match fc.op {
        Op::Loop => {
            let _ = write!(t, ", i{i}: count {count}, init {init}");
        }
        Op::Rep => {
            let _ = write!(t, ", i{i}: count {count}");
        }
        Op::EndLoop => {
            let _ = write!(t, ", i{i}: step {}", step.cast_signed());
        }
        _ => {}
    }
    // The table depends on the boolean if a pair of neighbouring bits differs.
    if (fc.jump_func ^ fc.jump_func >> 1) & 0x55 != 0 {
        let b = fc.bool_addr;
        let _ = write!(t, ", b{b} = {}", regs.bool_const >> (b & 31) & 1);
    }
    t
}

/// Returns the condition in assembly text.
fn condition(cond: Cond) -> String {
    let plain = |c: Cond| {
        if c == Cond::ALU {
            return Some("alu".to_owned());
        }
        if c == Cond::boolean(c.boolean) {
            return Some(format!("b{}", c.boolean));
        }
        let predicate = Cond {
            pred_inv: c.pred_inv,
            ..Cond::pred(c.pred)
        };
        (c == predicate && c.pred != PredSel::None).then(|| predicate_name(c))
    };
    if let Some(name) = plain(cond) {
        name
    } else if let Some(name) = plain(!cond) {
        format!("!{name}")
    } else {
        let mut t = format!("table(0x{:02X}", cond.table);
        if cond.pred != PredSel::None || cond.pred_inv {
            let _ = write!(t, ", {}", predicate_name(cond));
        }
        if cond.boolean != 0 {
            let _ = write!(t, ", b{}", cond.boolean);
        }
        t + ")"
    }
}

fn predicate_name(cond: Cond) -> String {
    let inv = if cond.pred_inv { "~" } else { "" };
    match cond.pred {
        PredSel::None => format!("{inv}none"),
        sel => format!("{inv}p{}", sel.name().to_ascii_lowercase()),
    }
}

/// Returns the statement of r500-7.1 that has this word, or Mesa's LOOP; `None` if there is none.
///
/// `IGNORE_UNCOVERED`, the target and the timing bits are ignored.
pub fn statement(slot: Slot) -> Option<String> {
    use BOp::{Decr, Incr, None as Keep};
    let fc = Fc::decode(slot)?;
    let (op, n, i, jump_func) = (fc.op, fc.b_pop_cnt, fc.int_addr, fc.jump_func);
    let jumps = Cond {
        table: jump_func,
        pred: fc.pred_sel,
        pred_inv: fc.pred_inv,
        boolean: fc.bool_addr,
    };
    let if_jumps = || condition(jumps);
    let if_stays = || condition(!jumps);
    let (never, always) = (jump_func == 0, jump_func == 0xff);
    let suffix = |name: &str, plain: bool| {
        if plain {
            name.to_owned()
        } else {
            format!("{name}C {}", if_jumps())
        }
    };
    let begin = if op == Op::Rep { "REP" } else { "LOOP" };
    let form = (op, fc.a_op, fc.b_else, fc.jump_any, fc.b_op0, fc.b_op1, n);
    Some(match form {
        (Op::Jump, AOp::None, false, false, Incr, Incr, 0) => {
            format!("IF {}, with ELSE", if_stays())
        }
        (Op::Jump, AOp::None, false, false, Incr, Keep, 0) => {
            format!("IF {}, no ELSE", if_stays())
        }
        (Op::Jump, AOp::None, true, false, Keep, Decr, 1..) if never => match n {
            1 => "ELSE".to_owned(),
            _ => format!("ELSE, {n} levels"),
        },
        (Op::Jump, AOp::None, false, true, Decr, Keep, 1..) if never => match n {
            1 => "ENDIF".to_owned(),
            _ => format!("ENDIF, {n} levels"),
        },
        (Op::Jump, AOp::None, true, false, Incr, Incr, 0) => format!("ELSEIF {}", if_stays()),
        (Op::Jump, AOp::None, false, false, Keep, Keep, 0) if always => "JUMP".to_owned(),
        (Op::Jump, AOp::None, false, false, Keep, Keep, 0) if matches!(jump_func, 0x55 | 0xaa) => {
            format!("SIF {}", if_stays())
        }
        (Op::Loop | Op::Rep, AOp::None, false, true, Keep, Keep, 0) if never => {
            format!("{begin} i{i}")
        }
        (Op::Loop | Op::Rep, AOp::None, false, false, Keep, Keep, 0) if never => {
            format!("{begin} i{i} as Mesa writes it: JUMP_ANY = 0")
        }
        (Op::Loop | Op::Rep, AOp::None, false, false, Incr, Keep, 0) => {
            format!("{begin}C i{i}, {}", if_stays())
        }
        (Op::EndLoop | Op::EndRep, AOp::None, false, true, Keep, Keep, 0) if always => {
            op.name().to_owned()
        }
        (Op::EndLoop | Op::EndRep, AOp::None, false, true, Decr, Keep, 1) if always => {
            let begin = if op == Op::EndRep { "REPC" } else { "LOOPC" };
            format!("{} of {begin}", op.name())
        }
        (Op::BreakLoop | Op::BreakRep | Op::Continue, AOp::None, false, false, Keep, Decr, _) => {
            let name = if op == Op::Continue {
                "CONTINUE"
            } else {
                "BREAK"
            };
            format!("{}, {n} deep", suffix(name, always))
        }
        (Op::Jump, AOp::Push, false, true, Keep, Incr, 0) => suffix("CALL", always),
        (Op::Jump, AOp::Push, false, true, Keep, Keep, 0) => {
            format!("{}, nc", suffix("CALL", always))
        }
        (Op::Jump, AOp::Pop, false, false, Keep, Decr, 1..) if always => format!("RET, r = {n}"),
        (Op::Jump, AOp::Pop, false, false, Incr, Decr, 1..) => {
            format!("RETC {}, r = {n}", if_jumps())
        }
        (Op::Jump, AOp::Pop, false, false, Keep, Keep, 0) => {
            format!("{}, nc", suffix("RET", always))
        }
        _ => return None,
    })
}

/// Returns the directives for the registers, in the dialect that both text forms share.
fn registers(program: &Program) -> String {
    let Registers {
        fc_ctrl,
        code_addr,
        code_range,
        code_offset,
        bool_const,
        int_const,
    } = &program.regs;
    let mut t = name_comment(&program.name);
    let mut line = |text: String| {
        t.push_str(&text);
        t.push('\n');
    };
    // A directive if it can express the whole register, otherwise the register itself.
    match *fc_ctrl {
        0x8000_0000 => line(".full".to_owned()),
        0 => line(".partial".to_owned()),
        v => line(format!(".reg US_FC_CTRL 0x{v:08X}")),
    }
    const TWO_ADDRESSES: u32 = 0x01ff_01ff;
    if code_offset & !0x1ff != 0 {
        line(format!(".reg US_CODE_OFFSET 0x{code_offset:08X}"));
    } else if *code_offset != 0 {
        line(format!(".offset 0x{code_offset:03X}"));
    }
    if code_addr & !TWO_ADDRESSES != 0 {
        line(format!(".reg US_CODE_ADDR 0x{code_addr:08X}"));
    } else {
        line(format!(".start 0x{:03X}", program.regs.start()));
        line(format!(".end 0x{:03X}", program.regs.end()));
    }
    if code_range & !TWO_ADDRESSES != 0 {
        line(format!(".reg US_CODE_RANGE 0x{code_range:08X}"));
    } else if *code_range != Registers::default().code_range {
        let (first, size) = (code_range & 0x1ff, code_range >> 16);
        line(format!(".window 0x{first:03X} 0x{size:03X}"));
    }
    if *bool_const != 0 {
        line(format!(".bool 0x{bool_const:08X}"));
    }
    for (n, k) in int_const.iter().enumerate().filter(|(_, k)| **k != 0) {
        let [count, init, step, rest] = k.to_le_bytes();
        line(match rest {
            0 => format!(".int {n} {count} {init} {}", step.cast_signed()),
            _ => format!(".reg US_FC_INT_CONST_{n} 0x{k:08X}"),
        });
    }
    t + &program.shader.directives()
}

/// Returns `program` as a `.s` file.
///
/// [`super::assemble`] makes an equal program of it if its name is that of the file and it has at least
/// one instruction and no more than fit after `OFFSET_ADDR`.
pub fn program_text(program: &Program) -> String {
    let mut t = registers(program) + "\n";
    listing(program, &mut t, mnemonic);
    t
}

/// Returns `program` as a `.hex` file for [`super::parse_hex`]; the same conditions hold.
pub fn hex_text(program: &Program) -> String {
    let mut t = registers(program) + "\n";
    listing(program, &mut t, words);
    t
}

/// Appends one line for each instruction: the text from `form`, then its address and disassembly.
fn listing(program: &Program, t: &mut String, form: impl Fn(Slot) -> String) {
    for (i, slot) in program.slots.iter().enumerate() {
        let at = i + usize::from(program.regs.offset());
        let pc = u16::try_from(at).unwrap_or(u16::MAX);
        let text = form(*slot);
        let all = disassemble(*slot, pc, &program.regs);
        let note = all
            .split_once(" ; ")
            .map_or_else(|| Type::from_bits(slot.cmn).name(), |(_, note)| note);
        listing_line(t, &text, format_args!("0x{at:03X}"), note);
    }
}
