//! The `.s` dialect and `.hex`.
//!
//! Each line holds one instruction, directive or label; labels may also stand before an instruction. Mnemonics,
//! directives and operand names are case-insensitive, labels are case-sensitive. `;` and `//`
//! begin a comment. Numbers are decimal or `0x` hexadecimal. Operands are separated by blanks or
//! commas.
//!
//! # Directives (`.s` and `.hex`)
//!
//! Each at most once (`.int`: once for each constant), anywhere in the file.
//!
//! | directive | sets | default |
//! |---|---|---|
//! | `.full`, `.partial` | `FULL_FC_EN` | `.full` |
//! | `.int N COUNT [INIT [STEP]]` | integer constant N: 0..31, 0..255, 0..255, -128..127 | 0 |
//! | `.bool VALUE` or `.bool bN ...` | all boolean constants (bit i is constant i), or the ones that are 1 | 0 |
//! | `.offset ADDRESS` | `OFFSET_ADDR`, where the first instruction lies | 0 |
//! | `.start PLACE` | `START_ADDR`, a label (only `.s`) or a number relative to `OFFSET_ADDR` | 0 |
//! | `.end PLACE` | `END_ADDR`, likewise | `.s`: the last instruction of the part that `.start` lies in, that is, before the first subroutine and the stubs of ELSEIF; `.hex`: the last instruction |
//! | `.window ADDRESS SIZE` | `CODE_ADDR` and `CODE_SIZE` (which is the length minus one) | `0 511` |
//! | `.global` | targets that statements make are absolute, `JUMP_GLOBAL` = 1 (only `.s`) | relative |
//! | `.reg NAME VALUE` | a whole register: `US_FC_CTRL`, `US_CODE_ADDR`, `US_CODE_RANGE`, `US_CODE_OFFSET`, `US_FC_BOOL_CONST`, `US_FC_INT_CONST_n` | |
//!
//! The inputs of the ALU ([`crate::r500::shader`]), as often as needed. Lock-step alone does not need them.
//!
//! | directive | says |
//! |---|---|
//! | `.input tN vM` | temporary register N, 0..127, begins with varying M, 0..2 |
//! | `.uniform NAME TYPE [VALUE...]` | a uniform of type float, vec2, vec3, vec4, bool, int or sampler, and the value it has unless another one is given |
//! | `.const cN X Y Z W`, `.const cN uniform NAME` | constant N, 0..255 |
//! | `.varying vM` and 12 numbers | values of varying M at the top left, top right and bottom left corner of a picture |
//! | `.texture N NAME` | the texture of `TEX_ID` N ([`crate::r500::alu::Texture`]) |
//! | `.example NAME=VALUE...` | values of uniforms, `X:Y:Z:W` for a vector, for the pixels that follow |
//! | `.pixel` 12 numbers `->` 4 numbers or `discard` | varyings v0, v1, v2 of a pixel, and its colour |
//!
//! # Instructions that are not flow control (`.s`)
//!
//! | line | words |
//! |---|---|
//! | `ALU [TEXT]`, `OUT [TEXT]`, `TEX [TEXT]` | `TYPE` (0, 1, 3) and zeros; the text is a remark |
//! | `ALU [CMN W2 W3] [TEXT]`, likewise OUT, TEX | the words in the brackets, which are part of the line; their `TYPE` must be right |
//! | `ALU [CMN W1 W2 W3 W4 W5] [TEXT]`, likewise | all six |
//!
//! # Statements (`.s`)
//!
//! Words, k and r of r500-7.1. All but SENDIF take `ign` at the end: `IGNORE_UNCOVERED`.
//!
//! | line | statement |
//! |---|---|
//! | `IF COND`, `ELSEIF COND`, `ELSE`, `ENDIF` | IF; ELSE IF fused, with its stub out of line; ELSE; ENDIF |
//! | `SIF COND`, `SELSE`, `SENDIF` | static IF, without counters; the condition is a boolean |
//! | `LOOP iN`, `ENDLOOP`, `REP iN`, `ENDREP` | loops with integer constant N |
//! | `LOOPC iN COND`, `REPC iN COND` | LOOP (REP) for some lanes |
//! | `BREAK`, `BREAKC COND`, `CONTINUE`, `CONTINUEC COND` | of the innermost LOOP or REP |
//! | `CALL LABEL [nc]`, `CALLC LABEL COND [nc]` | call; `nc`: without counters |
//! | `RET [nc]`, `RETC COND [nc]` | return, likewise |
//! | `JUMP LABEL` | plain jump |
//!
//! COND says when the condition is true; `!` before it is its complement.
//!
//! | condition | true where |
//! |---|---|
//! | `alu` | the ALU result is 1 |
//! | `pr`, `pg`, `pb`, `pa` | the predicate is 1; `~pr`: is 0, by way of `RGB_PRED_INV` |
//! | `bN` | boolean constant N is 1 |
//! | `table(T[, P][, bN])` | bit `alu*4 + predicate*2 + boolean` of T is 1; P is `none` or one of the predicates above, with or without `~` |
//!
//! # Flow control in the manual's terms (`.s`)
//!
//! `func=` distinguishes an instruction from the statement of the same name.
//!
//! ```text
//! OP func=N [any] [else] [a=A] [b0=B] [b1=B] [pop=N] [bool=N] [int=N] [pred=P] [inv] [ign]
//!    [global] [tex_wait] [last] [no_alu_wait] [-> TARGET] [WORDS]
//! .word CMN INST ADDR [-> LABEL]
//! .word CMN W1 INST ADDR W4 W5 [-> LABEL]
//! ```
//!
//! OP is JUMP, LOOP, ENDLOOP, REP, ENDREP, BREAKLOOP, BREAKREP or CONTINUE, A is NONE, POP, PUSH or
//! 3, B is NONE, DECR, INCR or 3, P is NONE, RGBA, R, G, B, A, 6 or 7. Missing fields are 0,
//! except that `ALU_WAIT` is set unless `no_alu_wait` is given. TARGET is `JUMP_ADDR` itself, or a label,
//! which becomes absolute or relative as `global` says. WORDS are three or six words in brackets, `[CMN INST ADDR]`: those of the
//! instruction, where bits are set that belong to no field. They must have the fields of the line, and TARGET is a number then.
//!
//! # `.hex`
//!
//! Besides directives and comments, each line is `CMN INST ADDR`, three words in hexadecimal with or
//! without `0x`, or all six: `CMN W1 INST ADDR W4 W5`.

use std::collections::{BTreeMap, BTreeSet};

use super::dis::all_fields;
use super::{Cond, Line, Stmt, Targets, expand};
use crate::r500::isa::{Fc, Op, PredSel, Type};
use crate::r500::program::{MEMORY_SLOTS, Program, Registers, Slot};
use crate::r500::shader::Reader;
use reconverge_bench::input::InputError;
use reconverge_bench::text::{
    self, Address, Given, HexItem, Item, Location, Operands, program_name,
};
use reconverge_program::layout;

/// Assembles a `.s` file. The program gets the name of `file`, without folder and extension.
///
/// # Errors
///
/// The text has errors: the first, which carries the others, each with its line.
pub fn assemble(text: &str, file: &str) -> Result<Program, InputError> {
    assemble_lines(text, file).map_err(|e| e.in_text(text))
}

/// Parses a `.hex` file; the program is named in the same way.
///
/// # Errors
///
/// The text has errors: the first, which carries the others, each with its line.
pub fn parse_hex(text: &str, file: &str) -> Result<Program, InputError> {
    hex_lines(text, file).map_err(|e| e.in_text(text))
}

fn assemble_lines(source: &str, file: &str) -> Result<Program, InputError> {
    let mut settings = Settings::new(file);
    let mut stmts = Vec::new();
    text::items(source, file, |at, item| {
        let stmt = match item {
            Item::Label(name) => (Stmt::Label(name.to_owned()), false),
            Item::Line(word, operands) if word == ".word" => (raw_words(at, operands)?, false),
            Item::Line(word, operands) if word.starts_with('.') => {
                return settings.directive(at, &word, operands, true);
            }
            Item::Line(word, operands) => statement(at, &word, operands)?,
        };
        stmts.push(Line::new(at.line, stmt));
        Ok(())
    })?;
    let offset = settings.regs.offset();
    let targets = if settings.global {
        Targets::Global
    } else {
        Targets::Relative
    };
    let code = expand(&stmts, offset, targets, file)?;
    let resolve = |place| text::resolve(place, &code.labels, code.slots.len(), file);
    let start = resolve(&settings.start)?.map_or(0, nine_bits);
    let end = resolve(&settings.end)?.map_or_else(|| code.end(start), nine_bits);
    settings.program(code.slots, start, end)
}

/// Converts an address that has been checked to be a slot's or at most 511.
fn nine_bits(address: u32) -> u16 {
    (address & 0x1ff) as u16
}

fn hex_lines(source: &str, file: &str) -> Result<Program, InputError> {
    let mut settings = Settings::new(file);
    let mut slots = Vec::new();
    let mut lines = Vec::new();
    text::hex_items(source, file, |at, item| match item {
        HexItem::Directive(word, operands) => settings.directive(at, &word, operands, false),
        HexItem::Words(words) => {
            let Some(slot) = slot(&words, |field, word| at.hex_word(field, word)) else {
                let message = format!(
                    "{} words, an instruction has three, CMN INST ADDR, or six: CMN W1 INST ADDR W4 W5",
                    words.len()
                );
                return Err(at.error("instruction", message));
            };
            slots.push(slot?);
            lines.push(at.line);
            Ok(())
        }
    })?;
    let room = MEMORY_SLOTS - usize::from(settings.regs.offset());
    if let Some(&line) = lines.get(room) {
        let message = format!(
            "{} slots, {room} fit: this is the first that does not",
            slots.len()
        );
        return Err(InputError::new(file, line, "program", message));
    }
    let none = BTreeMap::<String, u16>::new();
    let number = |place| text::resolve(place, &none, slots.len(), file);
    let start = number(&settings.start)?.map_or(0, nine_bits);
    let last = u16::try_from(slots.len().saturating_sub(1)).unwrap_or(0);
    let end = number(&settings.end)?.map_or(last, nine_bits);
    settings.program(slots, start, end)
}

/// The values that the directives set.
#[derive(Default)]
struct Settings<'a> {
    file: &'a str,
    regs: Registers,
    start: Option<Line<Address>>,
    end: Option<Line<Address>>,
    global: bool,
    /// `US_CODE_ADDR` as a whole register.
    code_addr: Option<u32>,
    shader: Reader,
    given: Given,
}

/// The directives, for messages; those from `.const` on describe the shader that the ALU runs.
const DIRECTIVES: [&str; 18] = [
    ".bool", ".end", ".full", ".global", ".int", ".offset", ".partial", ".reg", ".start",
    ".window", ".word", ".const", ".example", ".input", ".pixel", ".texture", ".uniform",
    ".varying",
];

impl<'a> Settings<'a> {
    fn new(file: &'a str) -> Self {
        Settings {
            file,
            ..Settings::default()
        }
    }

    fn directive(
        &mut self,
        at: Location,
        word: &str,
        text: &str,
        labels: bool,
    ) -> Result<(), InputError> {
        let operands = tokens(at, text)?;
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let usage = |form: &str| at.usage(word, form);
        match (word, &operands[..]) {
            (".full" | ".partial", []) => {
                self.given.once(at, word, "US_FC_CTRL")?;
                self.regs.fc_ctrl = u32::from(word == ".full") << 31;
            }
            (".full" | ".partial" | ".global", _) if !operands.is_empty() => return Err(usage("")),
            (".int", [n, count, more @ ..]) if more.len() <= 2 => {
                let n = at.int_constant(n)?;
                self.given
                    .once(at, word, &format!("integer constant {n}"))?;
                let count: u8 = at.unsigned("count", count, 255)?;
                let init: u8 = at.unsigned("init", more.first().unwrap_or(&"0"), 255)?;
                let step = at.step(more.get(1).unwrap_or(&"0"))?;
                self.regs.int_const[n] = u32::from_le_bytes([count, init, step, 0]);
            }
            (".int", _) => return Err(usage(" N COUNT [INIT [STEP]]")),
            (".bool", _) => {
                self.given.once(at, word, "US_FC_BOOL_CONST")?;
                self.regs.bool_const = at.booleans(word, &operands)?;
            }
            (".offset", [address]) => {
                self.given.once(at, word, "US_CODE_OFFSET")?;
                self.regs.code_offset = at.unsigned("address", address, 511)?;
            }
            (".offset", _) => return Err(usage(" ADDRESS")),
            (".start" | ".end", [place]) => {
                let (field, slot) = match word {
                    ".start" => ("START_ADDR", &mut self.start),
                    _ => ("END_ADDR", &mut self.end),
                };
                self.given.once(at, word, field)?;
                let address = at.address(place, 511, labels)?;
                *slot = Some(Line::new(at.line, address));
            }
            (".start" | ".end", _) => return Err(usage(" PLACE")),
            (".window", [address, size]) => {
                self.given.once(at, word, "US_CODE_RANGE")?;
                let address: u32 = at.unsigned("address", address, 511)?;
                let size: u32 = at.unsigned("size", size, 511)?;
                self.regs.code_range = size << 16 | address;
            }
            (".window", _) => return Err(usage(" ADDRESS SIZE")),
            (".global", []) if labels => {
                self.given.once(at, word, "JUMP_GLOBAL")?;
                self.global = true;
            }
            (".reg", [name, value]) => self.register(at, name, value)?,
            (".reg", _) => return Err(usage(" NAME VALUE")),
            _ if self.shader.directive(at, word, &operands)? => {}
            _ => return Err(at.unknown_directive(word, &DIRECTIVES)),
        }
        Ok(())
    }

    fn register(&mut self, at: Location, name: &str, value: &str) -> Result<(), InputError> {
        let value = at.unsigned("value", value, u32::MAX)?;
        let name = name.to_ascii_uppercase();
        let regs = &mut self.regs;
        let (field, register) = match (name.as_str(), name.strip_prefix("US_FC_INT_CONST_")) {
            ("US_FC_CTRL", _) => (name, &mut regs.fc_ctrl),
            ("US_CODE_RANGE", _) => (name, &mut regs.code_range),
            ("US_CODE_OFFSET", _) => (name, &mut regs.code_offset),
            ("US_FC_BOOL_CONST", _) => (name, &mut regs.bool_const),
            ("US_CODE_ADDR", _) => {
                self.given.once(at, ".reg", "START_ADDR")?;
                ("END_ADDR".to_owned(), self.code_addr.insert(value))
            }
            (_, Some(n)) => {
                let n: usize = at.unsigned("register", n, 31)?;
                (format!("integer constant {n}"), &mut regs.int_const[n])
            }
            _ => {
                let message = format!("no register `{name}` belongs to a program");
                return Err(at.error("register", message));
            }
        };
        *register = value;
        self.given.once(at, ".reg", &field)
    }

    fn program(self, slots: Vec<Slot>, start: u16, end: u16) -> Result<Program, InputError> {
        if slots.is_empty() {
            return Err(text::no_instruction(self.file));
        }
        let mut regs = self.regs;
        let from_places = u32::from(end) << 16 | u32::from(start);
        regs.code_addr = self.code_addr.unwrap_or(from_places);
        Ok(Program {
            name: program_name(self.file),
            regs,
            slots,
            shader: self.shader.finish(self.file)?,
        })
    }
}

/// Splits operands: separated by blanks or commas outside parentheses; `->` is a token of its own.
fn tokens(at: Location, text: &str) -> Result<Vec<String>, InputError> {
    let mut all = Vec::new();
    let mut token = String::new();
    let mut depth = 0usize;
    let mut chars = text.chars().peekable();
    let mut flush = |token: &mut String| {
        if !token.is_empty() {
            all.push(std::mem::take(token));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| at.error("operands", "`)` without `(`"))?;
            }
            _ => {}
        }
        if depth == 0 && (c.is_whitespace() || c == ',') {
            flush(&mut token);
        } else if depth == 0 && c == '-' && chars.next_if_eq(&'>').is_some() {
            flush(&mut token);
            token.push_str("->");
            flush(&mut token);
        } else {
            token.push(c);
        }
    }
    flush(&mut token);
    if depth > 0 {
        return Err(at.error("operands", "`(` without `)`"));
    }
    Ok(all)
}

/// Reads three words, which the sequencer reads, or all six, each by `word`; `None` for another number of words.
fn slot(
    words: &[&str],
    word: impl Fn(&str, &str) -> Result<u32, InputError>,
) -> Option<Result<Slot, InputError>> {
    let read = |words: [&str; 6]| -> Result<Slot, InputError> {
        let mut all = [0; 6];
        let names = ["CMN", "W1", "INST", "ADDR", "W4", "W5"];
        for (value, (name, text)) in all.iter_mut().zip(names.into_iter().zip(words)) {
            *value = word(name, text)?;
        }
        Ok(Slot::from_words(all))
    };
    match *words {
        [cmn, inst, addr] => Some(read([cmn, "0", inst, addr, "0", "0"])),
        [a, b, c, d, e, f] => Some(read([a, b, c, d, e, f])),
        _ => None,
    }
}

/// Parses `CMN INST ADDR [-> LABEL]`, or six words.
fn raw_words(at: Location, text: &str) -> Result<Stmt, InputError> {
    let all = tokens(at, text)?;
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (words, target) = match &all[..] {
        [words @ .., "->", label] => {
            at.check_label(label)?;
            (words, Some((*label).to_owned()))
        }
        words => (words, None),
    };
    match slot(words, |field, word| at.unsigned(field, word, u32::MAX)) {
        Some(slot) => Ok(Stmt::Raw { slot: slot?, target }),
        None => Err(at.error(
            ".word",
            "is written `.word CMN INST ADDR [-> LABEL]` or `.word CMN W1 INST ADDR W4 W5 [-> LABEL]`",
        )),
    }
}

/// Parses `ALU`, `OUT` and `TEX`, with words in brackets or a remark.
fn plain(at: Location, ty: Type, text: &str) -> Result<Stmt, InputError> {
    let Some(inside) = text.strip_prefix('[') else {
        return Ok(match ty {
            Type::Out => Stmt::Out,
            Type::Tex => Stmt::Tex,
            _ => Stmt::Alu,
        });
    };
    let Some((inside, _remark)) = inside.split_once(']') else {
        return Err(at.error(ty.name(), "`[` without `]`"));
    };
    let stmt = raw_words(at, inside)?;
    if let Stmt::Raw { slot, .. } = &stmt
        && Type::from_bits(slot.cmn) != ty
    {
        let is = Type::from_bits(slot.cmn).name();
        return Err(at.error("CMN", format!("0x{:08X} is of type {is}", slot.cmn)));
    }
    Ok(stmt)
}

/// The mnemonics of statements; besides these, a line may begin with an opcode or a directive.
const STATEMENTS: &str = "alu out tex if elseif else endif sif selse sendif loop loopc endloop rep repc \
                          endrep break breakc continue continuec call callc ret retc jump";

/// Returns the mnemonics that a line may begin with, for messages: statements, and the opcodes that are written with `func=`.
fn mnemonics() -> impl Iterator<Item = String> {
    let opcodes = Op::ALL.iter().map(|op| op.name().to_ascii_lowercase());
    STATEMENTS
        .split_whitespace()
        .map(str::to_owned)
        .chain(opcodes)
}

/// Parses a statement; returns it with its `IGNORE_UNCOVERED`, unless its words say that.
fn statement(at: Location, word: &str, text: &str) -> Result<(Stmt, bool), InputError> {
    if let Some(ty @ (Type::Alu | Type::Out | Type::Tex)) = Type::from_name(word) {
        return Ok((plain(at, ty, text)?, false));
    }
    let (text, words) = match text.split_once('[') {
        Some((text, words)) => (text, Some(words)),
        None => (text, None),
    };
    let operands = tokens(at, text)?;
    let raw = operands
        .iter()
        .any(|t| t.to_ascii_lowercase().starts_with("func="));
    if words.is_some() && !raw {
        return Err(match mnemonics().any(|known| known == word) {
            true => at.error(word, "does not take words in brackets"),
            false => at.unknown_mnemonic(word, mnemonics()),
        });
    }
    match Op::from_name(word) {
        Some(op) if raw => {
            let said = flow_control(at, op, &operands)?;
            let said = words.map_or(Ok(said.clone()), |words| with_words(at, said, words));
            return Ok((said?, false));
        }
        Some(Op::BreakLoop | Op::BreakRep) => {
            return Err(at.error(word, "needs func=N; the statement is BREAK"));
        }
        _ => {}
    }
    let mut operands = Operands {
        at,
        word,
        rest: operands.iter().map(String::as_str).collect(),
        fixed: usize::from(matches!(word, "call" | "callc" | "jump")),
    };
    let ign = word != "sendif" && operands.flag("ign");
    let o = &mut operands;
    let stmt = match word {
        "if" => Stmt::If(cond(o)?),
        "elseif" => Stmt::ElseIf(cond(o)?),
        "else" => Stmt::Else,
        "endif" => Stmt::Endif,
        "sif" => Stmt::StaticIf(cond(o)?),
        "selse" => Stmt::StaticElse,
        "sendif" => Stmt::StaticEndif,
        "loop" | "loopc" | "rep" | "repc" => Stmt::Loop {
            rep: word.starts_with("rep"),
            int: int(o)?,
            cond: some_lanes(o)?,
        },
        "endloop" | "endrep" => Stmt::EndLoop {
            rep: word == "endrep",
        },
        "break" | "breakc" | "continue" | "continuec" => Stmt::Leave {
            breaks: word.starts_with("break"),
            cond: some_lanes(o)?,
        },
        "call" | "callc" => Stmt::Call {
            counters: !o.flag("nc"),
            label: o.label()?,
            cond: some_lanes(o)?,
        },
        "ret" | "retc" => Stmt::Ret {
            counters: !o.flag("nc"),
            cond: some_lanes(o)?,
        },
        "jump" => Stmt::Jump(o.label()?),
        _ => return Err(at.unknown_mnemonic(word, mnemonics())),
    };
    o.finish()?;
    Ok((stmt, ign))
}

/// Parses the condition of a mnemonic that ends with `c`.
fn some_lanes(o: &mut Operands) -> Result<Option<Cond>, InputError> {
    o.word.ends_with('c').then(|| cond(o)).transpose()
}

/// Parses the next operand, `iN`, and returns N.
fn int(o: &mut Operands) -> Result<u8, InputError> {
    let text = o.next("constant")?;
    o.at.indexed("constant", 'i', text)
}

/// Parses the next operand, a condition.
fn cond(o: &mut Operands) -> Result<Cond, InputError> {
    let text = o.next("condition")?;
    condition(o.at, text)
}

/// Parses `alu`, `pr`, `~pr`, `b3`, `table(0x3C, pr, b3)`, each with any number of `!` before it.
fn condition(at: Location, text: &str) -> Result<Cond, InputError> {
    let plain = text.trim_start_matches('!');
    let negated = (text.len() - plain.len()) % 2 == 1;
    let lower = plain.to_ascii_lowercase();
    let cond = if lower == "alu" {
        Cond::ALU
    } else if let Some((pred, pred_inv)) = predicate(&lower).filter(|(p, _)| *p != PredSel::None) {
        Cond {
            pred_inv,
            ..Cond::pred(pred)
        }
    } else if let Some(inside) = lower
        .strip_prefix("table(")
        .and_then(|t| t.strip_suffix(')'))
    {
        table(at, inside)?
    } else if text::is_indexed('b', &lower) {
        Cond::boolean(at.indexed("condition", 'b', &lower)?)
    } else {
        let message = format!(
            "`{text}` is none: alu, pr, pg, pb, pa, bN or table(T, P, bN), with ! for its complement"
        );
        return Err(at.error("condition", message));
    };
    Ok(if negated { !cond } else { cond })
}

/// Parses `pr`, `~pr`, `none` into selection and inversion.
fn predicate(text: &str) -> Option<(PredSel, bool)> {
    let (name, inv) = text.strip_prefix('~').map_or((text, false), |t| (t, true));
    let sel = match name {
        "none" => PredSel::None,
        "pr" => PredSel::R,
        "pg" => PredSel::G,
        "pb" => PredSel::B,
        "pa" => PredSel::A,
        _ => return None,
    };
    Some((sel, inv))
}

fn table(at: Location, inside: &str) -> Result<Cond, InputError> {
    let mut parts = text::operands(inside).peekable();
    let mut cond = Cond {
        table: at.unsigned("condition", parts.next().unwrap_or(""), 255)?,
        ..Cond::ALU
    };
    if let Some((pred, inv)) = parts.peek().and_then(|t| predicate(t)) {
        (cond.pred, cond.pred_inv) = (pred, inv);
        parts.next();
    }
    if let Some(t) = parts.next() {
        cond.boolean = at.indexed("condition", 'b', t)?;
    }
    match parts.next() {
        None => Ok(cond),
        Some(t) => Err(at.error(
            "condition",
            format!("`{t}` does not belong into table(T, P, bN)"),
        )),
    }
}

/// Returns the instruction with the words of the text behind `[`, which must have the fields of `said`.
fn with_words(at: Location, said: Stmt, text: &str) -> Result<Stmt, InputError> {
    let bad = |message: String| Err(at.error("words", message));
    let (Some(inside), Stmt::Raw { slot: said, target }) =
        (text.trim_end().strip_suffix(']'), said)
    else {
        return bad("`[` without `]` at the end".to_owned());
    };
    if target.is_some() {
        return bad("beside them the target is a number".to_owned());
    }
    let stmt = raw_words(at, inside)?;
    let fields = |slot: Slot| {
        all_fields(slot).unwrap_or_else(|| Type::from_bits(slot.cmn).name().to_owned())
    };
    match &stmt {
        Stmt::Raw { slot, target: None } if fields(*slot) == fields(said) => Ok(stmt),
        Stmt::Raw { slot, .. } => bad(format!("are those of {}", fields(*slot))),
        _ => Ok(stmt),
    }
}

/// Parses an instruction in the manual's terms.
fn flow_control(at: Location, op: Op, operands: &[String]) -> Result<Stmt, InputError> {
    let mut words = Fc { op, ..Fc::NOP }.words();
    let (mut address, mut target) = (0, None);
    let mut given = BTreeSet::new();
    let mut rest = operands.iter();
    while let Some(operand) = rest.next() {
        let field = match (operand.as_str(), rest.as_slice().first()) {
            ("->", None) => return Err(at.error("target", "is missing after `->`")),
            ("->", Some(place)) => {
                rest.next();
                if place.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                    address = at.unsigned("target", place, 511)?;
                } else {
                    at.check_label(place)?;
                    target = Some(place.clone());
                }
                Some("->")
            }
            _ => layout::read(at, operand, Fc::FIELDS, &mut words)?,
        };
        let Some(field) = field else {
            let message = format!("{} has no field `{operand}`", op.name());
            return Err(at.error("operands", message));
        };
        if !given.insert(field) {
            return Err(at.error(field, "is given twice"));
        }
    }
    let fc = Fc {
        jump_addr: address,
        ..Fc::of(words)
    };
    Ok(Stmt::Raw {
        slot: fc.encode(),
        target,
    })
}
