//! The `.s` dialect and `.hex`.
//!
//! One instruction, directive or label a line; labels may stand before an instruction. Mnemonics,
//! directives and operand names may be in upper or lower case, labels may not be mixed. `;` and `//`
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
//! # Instructions that are not flow control (`.s`)
//!
//! | line | words |
//! |---|---|
//! | `ALU [TEXT]`, `OUT [TEXT]`, `TEX [TEXT]` | `TYPE` (0, 1, 3) and zeros; the text is a remark |
//! | `ALU [CMN W2 W3] [TEXT]`, likewise OUT, TEX | the words in the brackets, which are part of the line; their `TYPE` must be right |
//!
//! # Statements (`.s`)
//!
//! Words, k and r of spec 7.1. All but SENDIF take `ign` at the end: `IGNORE_UNCOVERED`.
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
//! `func=` makes the difference between an instruction and the statement of the same name.
//!
//! ```text
//! OP func=N [any] [else] [a=A] [b0=B] [b1=B] [pop=N] [bool=N] [int=N] [pred=P] [inv] [ign]
//!    [global] [tex_wait] [last] [no_alu_wait] [-> TARGET]
//! .word CMN INST ADDR [-> LABEL]
//! ```
//!
//! OP is JUMP, LOOP, ENDLOOP, REP, ENDREP, BREAKLOOP, BREAKREP or CONTINUE, A is NONE, POP, PUSH or
//! 3, B is NONE, DECR, INCR or 3, P is NONE, RGBA, R, G, B, A, 6 or 7. What is not given is 0,
//! except that `ALU_WAIT` is set without `no_alu_wait`. TARGET is `JUMP_ADDR` itself, or a label,
//! which becomes absolute or relative as `global` says.
//!
//! # `.hex`
//!
//! Besides directives and comments, each line is `CMN INST ADDR`, three words in hexadecimal with or
//! without `0x`.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Cond, Line, Stmt, Targets, expand};
use crate::input::InputError;
use crate::r500::isa::{AOp, BOp, Cmn, Fc, FcAddr, FcInst, Op, PredSel, Type};
use crate::r500::program::{MEMORY_SLOTS, Program, Registers, Slot};

/// A `.s` file as a program that is called what `file` is, without folder and extension.
///
/// # Errors
///
/// The first thing that is wrong, with its line.
pub fn assemble(text: &str, file: &str) -> Result<Program, InputError> {
    assemble_lines(text, file).map_err(|e| e.in_text(text))
}

/// A `.hex` file as a program, named likewise.
///
/// # Errors
///
/// The first thing that is wrong, with its line.
pub fn parse_hex(text: &str, file: &str) -> Result<Program, InputError> {
    hex_lines(text, file).map_err(|e| e.in_text(text))
}

/// The name that a program from `file` gets.
pub(crate) fn program_name(file: &str) -> String {
    Path::new(file)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// `line` without its comment and the blanks around it.
pub(crate) fn code(line: &str) -> &str {
    let end = [line.find(';'), line.find("//")]
        .into_iter()
        .flatten()
        .min();
    line[..end.unwrap_or(line.len())].trim()
}

fn assemble_lines(text: &str, file: &str) -> Result<Program, InputError> {
    let mut settings = Settings::new(file);
    let mut stmts = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        let at = Place { file, line: n };
        let mut rest = code(line);
        while let Some((name, after)) = label(rest) {
            at.check_label(name)?;
            stmts.push(Line::new(n, Stmt::Label(name.to_owned())));
            rest = after.trim_start();
        }
        if rest.is_empty() {
            continue;
        }
        let (word, operands) = rest
            .split_once(|c: char| c.is_whitespace() || c == '[' || c == ',')
            .map_or((rest, ""), |(word, _)| (word, rest[word.len()..].trim()));
        let word = word.to_ascii_lowercase();
        if word == ".word" {
            stmts.push(Line::new(n, raw_words(at, operands)?));
        } else if word.starts_with('.') {
            settings.directive(at, &word, operands, true)?;
        } else {
            stmts.push(Line::new(n, statement(at, &word, operands)?));
        }
    }
    let offset = settings.regs.offset();
    let targets = if settings.global {
        Targets::Global
    } else {
        Targets::Relative
    };
    let code = expand(&stmts, offset, targets, file)?;
    let resolve = |place: &Option<Line<Address>>| match place {
        None => Ok(None),
        Some(Line {
            item: Address::Number(n),
            ..
        }) => Ok(Some(*n)),
        Some(Line {
            line,
            item: Address::Label(name),
        }) => match code.labels.get(name) {
            Some(&at) if usize::from(at) < code.slots.len() => Ok(Some(at)),
            Some(_) => {
                let message = format!("there is no instruction at `{name}`");
                Err(InputError::new(file, *line, "label", message))
            }
            None => {
                let message = format!("label `{name}` is not defined");
                Err(InputError::new(file, *line, "label", message))
            }
        },
    };
    let start = resolve(&settings.start)?.unwrap_or(0);
    let end = resolve(&settings.end)?.unwrap_or_else(|| code.end(start));
    settings.program(code.slots, start, end)
}

fn hex_lines(text: &str, file: &str) -> Result<Program, InputError> {
    let mut settings = Settings::new(file);
    let mut slots = Vec::new();
    let mut lines = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        let at = Place { file, line: n };
        let line = code(line);
        if line.starts_with('.') {
            let (word, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            settings.directive(at, &word.to_ascii_lowercase(), operands.trim(), false)?;
        } else if !line.is_empty() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [cmn, inst, addr] = words[..] else {
                let message = format!(
                    "{} words, an instruction has three: CMN INST ADDR",
                    words.len()
                );
                return Err(at.error("instruction", message));
            };
            slots.push(Slot {
                cmn: at.hex_word("CMN", cmn)?,
                inst: at.hex_word("INST", inst)?,
                addr: at.hex_word("ADDR", addr)?,
            });
            lines.push(n);
        }
    }
    let room = MEMORY_SLOTS - usize::from(settings.regs.offset());
    if let Some(&line) = lines.get(room) {
        let message = format!(
            "{} slots, {room} fit: this is the first that does not",
            slots.len()
        );
        return Err(InputError::new(file, line, "program", message));
    }
    let number = |place: &Option<Line<Address>>| match place {
        Some(Line {
            item: Address::Number(n),
            ..
        }) => Some(*n),
        _ => None,
    };
    let start = number(&settings.start).unwrap_or(0);
    let last = u16::try_from(slots.len().saturating_sub(1)).unwrap_or(0);
    let end = number(&settings.end).unwrap_or(last);
    settings.program(slots, start, end)
}

/// Where a message belongs.
#[derive(Clone, Copy)]
struct Place<'a> {
    file: &'a str,
    line: usize,
}

impl Place<'_> {
    fn error(self, field: &str, message: impl Into<String>) -> InputError {
        InputError::new(self.file, self.line, field, message)
    }

    /// A number in `min..=max`.
    fn number(self, field: &str, text: &str, min: i64, max: i64) -> Result<i64, InputError> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let hex = digits
            .strip_prefix("0x")
            .or_else(|| digits.strip_prefix("0X"));
        let (digits, radix) = hex.map_or((digits, 10), |h| (h, 16));
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        if !plain {
            let message = format!("`{text}` is not a number");
            return Err(self.error(field, message));
        }
        match i64::from_str_radix(digits, radix).map(|n| sign * n) {
            Ok(n) if (min..=max).contains(&n) => Ok(n),
            _ => Err(self.error(field, format!("{text} is not in {min}..{max}"))),
        }
    }

    /// A number of an unsigned type in `0..=max`.
    fn unsigned<T: TryFrom<i64>>(self, field: &str, text: &str, max: u32) -> Result<T, InputError> {
        let n = self.number(field, text, 0, i64::from(max))?;
        T::try_from(n).map_err(|_| self.error(field, format!("{text} is too large")))
    }

    /// A word of a `.hex` file.
    fn hex_word(self, field: &str, text: &str) -> Result<u32, InputError> {
        let digits = text
            .strip_prefix("0x")
            .or_else(|| text.strip_prefix("0X"))
            .unwrap_or(text);
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit());
        if plain
            && digits.len() <= 8
            && let Ok(word) = u32::from_str_radix(digits, 16)
        {
            return Ok(word);
        }
        Err(self.error(
            field,
            format!("`{text}` is not a 32-bit word in hexadecimal"),
        ))
    }

    fn check_label(self, name: &str) -> Result<(), InputError> {
        if is_label(name) {
            return Ok(());
        }
        let message = format!(
            "`{name}` is not a label: letters, digits, `_` and `.`, not beginning with a digit or `.`"
        );
        Err(self.error("label", message))
    }

    /// The constant N of `iN`, `bN`.
    fn indexed(self, field: &str, letter: char, text: &str) -> Result<u8, InputError> {
        let lower = text.to_ascii_lowercase();
        match lower.strip_prefix(letter) {
            Some(n) if n.starts_with(|c: char| c.is_ascii_digit()) => self.unsigned(field, n, 31),
            _ => {
                let message = format!("`{text}` is not one of {letter}0 to {letter}31");
                Err(self.error(field, message))
            }
        }
    }
}

fn is_label(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// `NAME: rest` as name and rest. A colon further on in the line (a remark) does not count.
fn label(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim_end();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some((name, rest))
}

/// A place in a program as a directive names it.
enum Address {
    Number(u16),
    Label(String),
}

/// What the directives have set.
struct Settings<'a> {
    file: &'a str,
    regs: Registers,
    start: Option<Line<Address>>,
    end: Option<Line<Address>>,
    global: bool,
    /// `US_CODE_ADDR` was given as a whole.
    code_addr: Option<u32>,
    /// Fields that have been set.
    given: BTreeSet<String>,
}

impl<'a> Settings<'a> {
    fn new(file: &'a str) -> Self {
        Settings {
            file,
            regs: Registers::default(),
            start: None,
            end: None,
            global: false,
            code_addr: None,
            given: BTreeSet::new(),
        }
    }

    /// Notes that `field` is set; twice is an error.
    fn once(&mut self, at: Place, word: &str, field: &str) -> Result<(), InputError> {
        if self.given.insert(field.to_owned()) {
            return Ok(());
        }
        Err(at.error(word, format!("{field} is set already")))
    }

    fn directive(
        &mut self,
        at: Place,
        word: &str,
        text: &str,
        labels: bool,
    ) -> Result<(), InputError> {
        let operands = tokens(at, text)?;
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let usage = |form: &str| at.error(word, format!("is written `{word}{form}`"));
        match (word, &operands[..]) {
            (".full" | ".partial", []) => {
                self.once(at, word, "US_FC_CTRL")?;
                self.regs.fc_ctrl = u32::from(word == ".full") << 31;
            }
            (".full" | ".partial" | ".global", _) if !operands.is_empty() => return Err(usage("")),
            (".int", [n, count, more @ ..]) if more.len() <= 2 => {
                let n: usize = match n.strip_prefix(['i', 'I']) {
                    Some(_) => at.indexed("constant", 'i', n)?.into(),
                    None => at.unsigned("constant", n, 31)?,
                };
                self.once(at, word, &format!("integer constant {n}"))?;
                let count: u8 = at.unsigned("count", count, 255)?;
                let init: u8 = at.unsigned("init", more.first().unwrap_or(&"0"), 255)?;
                let step = at.number("step", more.get(1).unwrap_or(&"0"), -128, 127)?;
                // Two's complement in 8 bits (spec 2.5).
                let step = (step & 0xff) as u8;
                self.regs.int_const[n] = u32::from_le_bytes([count, init, step, 0]);
            }
            (".int", _) => return Err(usage(" N COUNT [INIT [STEP]]")),
            (".bool", [first, ..]) => {
                self.once(at, word, "US_FC_BOOL_CONST")?;
                if first.starts_with(['b', 'B']) {
                    for name in &operands {
                        self.regs.bool_const |= 1 << at.indexed("constant", 'b', name)?;
                    }
                } else if let [value] = operands[..] {
                    self.regs.bool_const = at.unsigned("value", value, u32::MAX)?;
                } else {
                    return Err(usage(" VALUE` or `.bool bN ..."));
                }
            }
            (".bool", _) => return Err(usage(" VALUE` or `.bool bN ...")),
            (".offset", [address]) => {
                self.once(at, word, "US_CODE_OFFSET")?;
                self.regs.code_offset = at.unsigned("address", address, 511)?;
            }
            (".offset", _) => return Err(usage(" ADDRESS")),
            (".start" | ".end", [place]) => {
                self.once(
                    at,
                    word,
                    if word == ".start" {
                        "START_ADDR"
                    } else {
                        "END_ADDR"
                    },
                )?;
                let address = if place.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                    Address::Number(at.unsigned("address", place, 511)?)
                } else if labels {
                    at.check_label(place)?;
                    Address::Label((*place).to_owned())
                } else {
                    return Err(at.error("address", format!("`{place}` is not a number")));
                };
                let slot = if word == ".start" {
                    &mut self.start
                } else {
                    &mut self.end
                };
                *slot = Some(Line::new(at.line, address));
            }
            (".start" | ".end", _) => return Err(usage(" PLACE")),
            (".window", [address, size]) => {
                self.once(at, word, "US_CODE_RANGE")?;
                let address: u32 = at.unsigned("address", address, 511)?;
                let size: u32 = at.unsigned("size", size, 511)?;
                self.regs.code_range = size << 16 | address;
            }
            (".window", _) => return Err(usage(" ADDRESS SIZE")),
            (".global", []) if labels => {
                self.once(at, word, "JUMP_GLOBAL")?;
                self.global = true;
            }
            (".reg", [name, value]) => self.register(at, name, value)?,
            (".reg", _) => return Err(usage(" NAME VALUE")),
            _ => {
                let message = format!("there is no directive `{word}` here");
                return Err(at.error("directive", message));
            }
        }
        Ok(())
    }

    fn register(&mut self, at: Place, name: &str, value: &str) -> Result<(), InputError> {
        let value = at.unsigned("value", value, u32::MAX)?;
        let name = name.to_ascii_uppercase();
        match (name.as_str(), name.strip_prefix("US_FC_INT_CONST_")) {
            ("US_FC_CTRL", _) => self.regs.fc_ctrl = value,
            ("US_CODE_RANGE", _) => self.regs.code_range = value,
            ("US_CODE_OFFSET", _) => self.regs.code_offset = value,
            ("US_FC_BOOL_CONST", _) => self.regs.bool_const = value,
            ("US_CODE_ADDR", _) => {
                self.once(at, ".reg", "START_ADDR")?;
                self.once(at, ".reg", "END_ADDR")?;
                self.code_addr = Some(value);
                return Ok(());
            }
            (_, Some(n)) => {
                let n: usize = at.unsigned("register", n, 31)?;
                self.once(at, ".reg", &format!("integer constant {n}"))?;
                self.regs.int_const[n] = value;
                return Ok(());
            }
            _ => {
                let message = format!("no register `{name}` belongs to a program");
                return Err(at.error("register", message));
            }
        }
        self.once(at, ".reg", &name)
    }

    fn program(self, slots: Vec<Slot>, start: u16, end: u16) -> Result<Program, InputError> {
        if slots.is_empty() {
            return Err(InputError::new(
                self.file,
                0,
                "program",
                "has no instruction",
            ));
        }
        let mut regs = self.regs;
        let from_places = u32::from(end) << 16 | u32::from(start);
        regs.code_addr = self.code_addr.unwrap_or(from_places);
        Ok(Program {
            name: program_name(self.file),
            regs,
            slots,
        })
    }
}

/// Operands: separated by blanks or commas outside parentheses, `->` by itself.
fn tokens(at: Place, text: &str) -> Result<Vec<String>, InputError> {
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

/// `CMN INST ADDR [-> LABEL]`.
fn raw_words(at: Place, text: &str) -> Result<Stmt, InputError> {
    let all = tokens(at, text)?;
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (words, target) = match all[..] {
        [a, b, c] => ([a, b, c], None),
        [a, b, c, "->", label] => {
            at.check_label(label)?;
            ([a, b, c], Some(label.to_owned()))
        }
        _ => return Err(at.error(".word", "is written `.word CMN INST ADDR [-> LABEL]`")),
    };
    let [cmn, inst, addr] = words;
    let slot = Slot {
        cmn: at.unsigned("CMN", cmn, u32::MAX)?,
        inst: at.unsigned("INST", inst, u32::MAX)?,
        addr: at.unsigned("ADDR", addr, u32::MAX)?,
    };
    Ok(Stmt::Raw { slot, target })
}

/// `ALU`, `OUT` and `TEX`, with words in brackets or a remark.
fn plain(at: Place, ty: Type, text: &str) -> Result<Stmt, InputError> {
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

fn statement(at: Place, word: &str, text: &str) -> Result<Stmt, InputError> {
    match word {
        "alu" => return plain(at, Type::Alu, text),
        "out" => return plain(at, Type::Out, text),
        "tex" => return plain(at, Type::Tex, text),
        _ => {}
    }
    let operands = tokens(at, text)?;
    let raw = operands
        .iter()
        .any(|t| t.to_ascii_lowercase().starts_with("func="));
    match Op::from_name(word) {
        Some(op) if raw => return flow_control(at, op, &operands),
        Some(Op::BreakLoop | Op::BreakRep) => {
            return Err(at.error(word, "needs func=N; the statement is BREAK"));
        }
        _ => {}
    }
    let mut operands = Operands {
        at,
        word,
        rest: operands.iter().map(String::as_str).collect(),
    };
    let ign = word != "sendif" && operands.flag("ign");
    let o = &mut operands;
    let stmt = match word {
        "if" => Stmt::If {
            cond: o.cond()?,
            ign,
        },
        "elseif" => Stmt::ElseIf {
            cond: o.cond()?,
            ign,
        },
        "else" => Stmt::Else { ign },
        "endif" => Stmt::Endif { ign },
        "sif" => Stmt::StaticIf {
            cond: o.cond()?,
            ign,
        },
        "selse" => Stmt::StaticElse { ign },
        "sendif" => Stmt::StaticEndif,
        "loop" => Stmt::Loop {
            int: o.int()?,
            cond: None,
            ign,
        },
        "loopc" => Stmt::Loop {
            int: o.int()?,
            cond: Some(o.cond()?),
            ign,
        },
        "endloop" => Stmt::EndLoop { ign },
        "rep" => Stmt::Rep {
            int: o.int()?,
            cond: None,
            ign,
        },
        "repc" => Stmt::Rep {
            int: o.int()?,
            cond: Some(o.cond()?),
            ign,
        },
        "endrep" => Stmt::EndRep { ign },
        "break" => Stmt::Break { cond: None, ign },
        "breakc" => Stmt::Break {
            cond: Some(o.cond()?),
            ign,
        },
        "continue" => Stmt::Continue { cond: None, ign },
        "continuec" => Stmt::Continue {
            cond: Some(o.cond()?),
            ign,
        },
        "call" | "callc" => {
            let counters = !o.flag("nc");
            let label = o.label()?;
            let cond = if word == "callc" {
                Some(o.cond()?)
            } else {
                None
            };
            Stmt::Call {
                label,
                cond,
                counters,
                ign,
            }
        }
        "ret" | "retc" => {
            let counters = !o.flag("nc");
            let cond = if word == "retc" {
                Some(o.cond()?)
            } else {
                None
            };
            Stmt::Ret {
                cond,
                counters,
                ign,
            }
        }
        "jump" => Stmt::Jump {
            label: o.label()?,
            ign,
        },
        _ => {
            let message = format!("`{word}` is no instruction, statement or directive");
            return Err(at.error("mnemonic", message));
        }
    };
    o.finish()?;
    Ok(stmt)
}

/// Operands of a statement that have not been read yet.
struct Operands<'a> {
    at: Place<'a>,
    word: &'a str,
    rest: Vec<&'a str>,
}

impl Operands<'_> {
    /// Takes `name` off the end, where it may stand before or after other flags.
    fn flag(&mut self, name: &str) -> bool {
        // The first operand of a CALL or JUMP is its label, whatever it is called.
        let first = usize::from(matches!(self.word, "call" | "callc" | "jump"));
        let found = self
            .rest
            .iter()
            .skip(first)
            .position(|t| t.eq_ignore_ascii_case(name));
        if let Some(i) = found {
            self.rest.remove(i + first);
        }
        found.is_some()
    }

    fn next(&mut self, field: &str) -> Result<String, InputError> {
        if self.rest.is_empty() {
            return Err(self.at.error(self.word, format!("needs a {field}")));
        }
        Ok(self.rest.remove(0).to_owned())
    }

    fn int(&mut self) -> Result<u8, InputError> {
        let text = self.next("constant")?;
        self.at.indexed("constant", 'i', &text)
    }

    fn label(&mut self) -> Result<String, InputError> {
        let name = self.next("label")?;
        self.at.check_label(&name)?;
        Ok(name)
    }

    fn cond(&mut self) -> Result<Cond, InputError> {
        let text = self.next("condition")?;
        condition(self.at, &text)
    }

    fn finish(&self) -> Result<(), InputError> {
        match self.rest.first() {
            None => Ok(()),
            Some(t) => Err(self.at.error(self.word, format!("does not take `{t}`"))),
        }
    }
}

/// `alu`, `pr`, `~pr`, `b3`, `table(0x3C, pr, b3)`, each with any number of `!` before.
fn condition(at: Place, text: &str) -> Result<Cond, InputError> {
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
    } else if lower
        .strip_prefix('b')
        .is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()))
    {
        Cond::boolean(at.indexed("condition", 'b', &lower)?)
    } else {
        let message = format!(
            "`{text}` is none: alu, pr, pg, pb, pa, bN or table(T, P, bN), with ! for its complement"
        );
        return Err(at.error("condition", message));
    };
    Ok(if negated { !cond } else { cond })
}

/// `pr`, `~pr`, `none`: selection and inversion.
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

fn table(at: Place, inside: &str) -> Result<Cond, InputError> {
    let mut parts = inside
        .split(|c: char| c == ',' || c.is_whitespace())
        .filter(|t| !t.is_empty())
        .peekable();
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

/// An instruction in the manual's terms.
fn flow_control(at: Place, op: Op, operands: &[String]) -> Result<Stmt, InputError> {
    let mut fc = Fc {
        cmn: Cmn::FC,
        inst: FcInst { op, ..FcInst::NOP },
        addr: FcAddr::default(),
    };
    let mut target = None;
    let mut given = BTreeSet::new();
    let mut rest = operands.iter();
    while let Some(operand) = rest.next() {
        let lower = operand.to_ascii_lowercase();
        let (name, value) = match lower.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (lower.as_str(), None),
        };
        if !given.insert(name.to_owned()) {
            return Err(at.error(name, "is given twice"));
        }
        let unknown = |value: &str| at.error(name, format!("`{value}` is no value of this field"));
        match (name, value) {
            ("func", Some(v)) => fc.inst.jump_func = at.unsigned(name, v, 255)?,
            ("any", None) => fc.inst.jump_any = true,
            ("else", None) => fc.inst.b_else = true,
            ("a", Some(v)) => fc.inst.a_op = AOp::from_name(v).ok_or_else(|| unknown(v))?,
            ("b0", Some(v)) => fc.inst.b_op0 = BOp::from_name(v).ok_or_else(|| unknown(v))?,
            ("b1", Some(v)) => fc.inst.b_op1 = BOp::from_name(v).ok_or_else(|| unknown(v))?,
            ("pop", Some(v)) => fc.inst.b_pop_cnt = at.unsigned(name, v, 31)?,
            ("bool", Some(v)) => fc.addr.bool_addr = at.unsigned(name, v, 31)?,
            ("int", Some(v)) => fc.addr.int_addr = at.unsigned(name, v, 31)?,
            ("pred", Some(v)) => {
                fc.cmn.pred_sel = PredSel::from_name(v).ok_or_else(|| unknown(v))?
            }
            ("inv", None) => fc.cmn.pred_inv = true,
            ("ign", None) => fc.inst.ignore_uncovered = true,
            ("global", None) => fc.addr.jump_global = true,
            ("tex_wait", None) => fc.cmn.tex_sem_wait = true,
            ("last", None) => fc.cmn.last = true,
            ("no_alu_wait", None) => fc.cmn.alu_wait = false,
            ("->", None) => match rest.next() {
                Some(t) if t.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                    fc.addr.jump_addr = at.unsigned("target", t, 511)?;
                }
                Some(t) => {
                    at.check_label(t)?;
                    target = Some(t.clone());
                }
                None => return Err(at.error("target", "is missing after `->`")),
            },
            _ => {
                let message = format!("`{operand}` is no field of {}", op.name());
                return Err(at.error("operands", message));
            }
        }
    }
    Ok(Stmt::Raw {
        slot: fc.encode(),
        target,
    })
}
