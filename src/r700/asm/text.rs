//! The `.s` dialect and `.hex`.
//!
//! Each line holds one instruction, directive or label; labels may also stand before an instruction. Mnemonics,
//! directives and operand names are case-insensitive, labels are case-sensitive. `;` and `//`
//! begin a comment. Numbers are decimal or `0x` hexadecimal. Operands are separated by blanks or
//! commas, and may stand in any order, except numbers and labels without a name of their own.
//!
//! # Directives (`.s` and `.hex`)
//!
//! Each at most once (`.int`: once for each constant), anywhere in the file.
//!
//! | directive | sets | default |
//! |---|---|---|
//! | `.stack N` | `STACK_SIZE`, 0..255 entries of `SUBENTRIES` sub-entries (four or eight) | 32 |
//! | `.int N COUNT [FIRST [STEP]]` | loop constant N: 0..31, 0..4095, 0..4095, -128..127 | 0 |
//! | `.bool VALUE` or `.bool bN ...` | all booleans (bit i is boolean i), or the ones that are 1 | 0 |
//! | `.entry PLACE` | where a launch begins, a label (only `.s`) or an address | 0 |
//! | `.prog_len N` | quadwords that belong to the program | as many as there are instructions |
//! | `.reg NAME VALUE` | a whole register: `SQ_BOOL_CONST`, `SQ_LOOP_CONST_n` | |
//!
//! # Instructions in the manual's terms (`.s`)
//!
//! As in LLVM's listings; missing fields are 0, except that `BARRIER` is set unless `NO_BARRIER`
//! is given. X is an address, or a label.
//!
//! ```text
//! ALU [COUNT] [@X] [KC0[...]] [KC1[...]] [ALT_CONST] [WQM] [NO_BARRIER] [u]
//! JUMP @X [POP:N] [COND] [iN] [COUNT:N] [CALL_COUNT:N] [VPM] [WQM] [END] [NO_BARRIER]
//! TEX [COUNT] [@X] [the same]
//! EXPORT [DW0 REST] [VPM] [WQM] [END] [NO_BARRIER]
//! .quad DW0 DW1 [u]
//! ```
//!
//! | like | the following are written |
//! |---|---|
//! | `ALU` | ALU_PUSH_BEFORE, ALU_POP_AFTER, ALU_POP2_AFTER, ALU_CONTINUE, ALU_BREAK, ALU_ELSE_AFTER |
//! | `JUMP`, with an address | LOOP_START, LOOP_START_DX10, LOOP_START_NO_AL, LOOP_END, LOOP_CONTINUE, LOOP_BREAK, PUSH, PUSH_ELSE, ELSE, POP, CALL, KILL, POP_JUMP, POP_PUSH, POP_PUSH_ELSE |
//! | `JUMP`, with or without | NOP, RETURN, CALL_FS, EMIT_VERTEX, EMIT_CUT_VERTEX, CUT_VERTEX, WAIT_ACK |
//! | `TEX` | VTX, VTX_TC, TEX_ACK, VTX_ACK, VTX_TC_ACK |
//! | `EXPORT` | EXPORT_DONE, MEM_STREAM0 to 3, MEM_SCRATCH, MEM_REDUCTION, MEM_RING, MEM_EXPORT |
//!
//! | operand | meaning |
//! |---|---|
//! | COUNT | slots of the clause (ALU, 0..127) or fetches (TEX, 0..15), minus 1 |
//! | `u` | the ALU clause updates the execute mask (r700-2.7) |
//! | `POP:N` | `POP_COUNT`, 0..7 |
//! | COND | `BOOL bN` or `bN`, `NOT_BOOL bN` or `!bN`, `FALSE`; without, ACTIVE |
//! | `iN` or `CF_CONST iN` | `CF_CONST` as a loop constant; with a boolean it is the boolean's number, so both must be the same |
//! | `KC0[CB1:16-48]` | bank 1, constants 16 to 48: `KCACHE_ADDR` 1, `KCACHE_MODE` 2. The length gives the mode: 0, 16 or 32; `16-48+aL` is mode 3. `KC0[]` is nothing |
//! | DW0, REST | the words, REST without bits 31:21. A register (`T1.XY01`), as LLVM prints it, is a remark: it gives neither type nor base |
//!
//! LLVM's END_LOOP is LOOP_END and its CF_END is NOP END. It prints neither `u` nor DONE: add the `u` to
//! a listing; its EXPORT may stay, which makes no difference here.
//!
//! `.quad` takes words in hexadecimal with or without `0x`. Behind an instruction in the manual's terms they may stand in brackets,
//! `JUMP @7 [00000007 85010000]`, where bits are set that have no meaning; they must have the fields of the line.
//!
//! # Statements (`.s`)
//!
//! Words of r700-7.1. ELSE, CALL and KILL with an `@` are literal instructions, and so is `RETURN @0`.
//!
//! | line | statement |
//! |---|---|
//! | `IF CLAUSE [NO_JUMP]`, `IF NOT CLAUSE [NO_JUMP]` | IF (not) the predicate that the clause makes; `NO_JUMP` leaves out the JUMP behind |
//! | `IF WHEN [FRAME] [VPM]` | IF on a boolean, without or with a frame |
//! | `ELSE [VPM]`, `ELSE STAY [VPM]`, `ELSE FUSED` | ELSE @E, pop 1; ELSE @next, pop 0; the last ALU becomes ALU_ELSE_AFTER |
//! | `ENDIF [VPM]`, `ENDIF FUSED`, `ENDIF2` | POP; the last ALU becomes ALU_POP_AFTER; two ENDIFs, it becomes ALU_POP2_AFTER |
//! | `LOOP`, `LOOP iN`, `REPEAT iN`, `ENDLOOP [VPM]` | LOOP until break; with aL; without; the end of any |
//! | `BREAK [WHEN]`, `CONTINUE [WHEN]` | of the innermost loop; `FALSE`: jump to its end if no lane has anything left to do |
//! | `BREAK UNLESS CLAUSE [EXPANDED]`, `CONTINUE UNLESS CLAUSE [EXPANDED]` | ALU_BREAK, ALU_CONTINUE; or PUSH, ALU, ELSE, LOOP_BREAK, POP |
//! | `CALL LABEL [WHEN] [CALL_COUNT:N]`, `RETURN [WHEN]` | `CALL_COUNT` is 1 if not given |
//! | `KILL [WHEN] [VPM]` | KILL @next |
//! | `END` | NOP END |
//!
//! CLAUSE is the operands of ALU, with numbers only and u implied; WHEN is a COND.
//!
//! # `.hex`
//!
//! Besides directives and comments, each line is `DW0 DW1` or `DW0 DW1 u`, words in hexadecimal with or
//! without `0x`.

use super::dis::all_fields;
use super::{ElseForm, EndifForm, Line, LoopKind, Stmt, When, expand};
use crate::r700::isa::{Alu, AluOp, Cf, CfOp, Clause, Kcache, Mem, MemOp};
use crate::r700::program::{MAX_QUADS, Program, Quad, Registers};
use reconverge_bench::input::InputError;
use reconverge_bench::text::{
    self, Address, Given, HexItem, Item, Location, Operands, is_indexed, no_instruction,
    program_name,
};
use reconverge_program::layout::{Field, take};

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
    let mut settings = Settings::default();
    let mut stmts = Vec::new();
    text::items(source, file, |at, item| {
        let stmt = match item {
            Item::Label(name) => Stmt::Label(name.to_owned()),
            Item::Line(word, operands) if word == ".quad" => {
                let words: Vec<&str> = text::operands(operands).collect();
                raw(quad(at, ".quad", &words)?)
            }
            Item::Line(word, operands) if word.starts_with('.') => {
                return settings.directive(at, &word, operands, true);
            }
            Item::Line(word, operands) => instruction(at, &word, operands)?,
        };
        stmts.push(Line::new(at.line, stmt));
        Ok(())
    })?;
    let code = expand(&stmts, file)?;
    let entry = text::resolve(&settings.entry, &code.labels, code.quads.len(), file)?;
    settings.program(code.quads, entry, file)
}

fn hex_lines(source: &str, file: &str) -> Result<Program, InputError> {
    let mut settings = Settings::default();
    let mut quads = Vec::new();
    text::hex_items(source, file, |at, item| match item {
        HexItem::Directive(word, operands) => settings.directive(at, &word, operands, false),
        HexItem::Words(words) => {
            if quads.len() == MAX_QUADS {
                return Err(at.error("program", too_many()));
            }
            quads.push(quad(at, "instruction", &words)?);
            Ok(())
        }
    })?;
    let none = std::collections::BTreeMap::<String, u32>::new();
    let entry = text::resolve(&settings.entry, &none, quads.len(), file)?;
    settings.program(quads, entry, file)
}

/// Returns the message for an instruction beyond the maximum number of instructions.
pub(super) fn too_many() -> String {
    format!("has more than {MAX_QUADS} instructions: this is the first too many")
}

/// Parses `DW0 DW1 [u]`.
fn quad(at: Location, field: &str, words: &[&str]) -> Result<Quad, InputError> {
    let (dw0, dw1, u) = match *words {
        [dw0, dw1] => (dw0, dw1, false),
        [dw0, dw1, u] if u.eq_ignore_ascii_case("u") => (dw0, dw1, true),
        _ => return Err(at.error(field, "is two words and perhaps u: DW0 DW1 [u]")),
    };
    Ok(Quad {
        dw0: at.hex_word("DW0", dw0)?,
        dw1: at.hex_word("DW1", dw1)?,
        u,
    })
}

/// The directives, for messages.
const DIRECTIVES: [&str; 7] = [
    ".bool",
    ".entry",
    ".int",
    ".prog_len",
    ".quad",
    ".reg",
    ".stack",
];

/// The values that the directives set.
#[derive(Default)]
struct Settings {
    regs: Registers,
    entry: Option<Line<Address>>,
    prog_len: Option<u32>,
    given: Given,
}

impl Settings {
    fn directive(
        &mut self,
        at: Location,
        word: &str,
        operands: &str,
        labels: bool,
    ) -> Result<(), InputError> {
        let operands: Vec<&str> = text::operands(operands).collect();
        let usage = |form: &str| at.usage(word, form);
        match (word, &operands[..]) {
            (".stack", [n]) => {
                self.given.once(at, word, "STACK_SIZE")?;
                self.regs.stack_size = at.unsigned("STACK_SIZE", n, 255)?;
            }
            (".stack", _) => return Err(usage(" N")),
            (".int", [n, count, more @ ..]) if more.len() <= 2 => {
                let n = at.int_constant(n)?;
                self.given.once(at, word, &format!("loop constant {n}"))?;
                let count: u32 = at.unsigned("count", count, 4095)?;
                let first: u32 = at.unsigned("first", more.first().unwrap_or(&"0"), 4095)?;
                let step = at.step(more.get(1).unwrap_or(&"0"))?;
                self.regs.loop_const[n] = count | first << 12 | u32::from(step) << 24;
            }
            (".int", _) => return Err(usage(" N COUNT [FIRST [STEP]]")),
            (".bool", _) => {
                self.given.once(at, word, "SQ_BOOL_CONST")?;
                self.regs.bool_const = at.booleans(word, &operands)?;
            }
            (".entry", [place]) => {
                self.given.once(at, word, "the entry")?;
                let address = at.address(place, u32::MAX, labels)?;
                self.entry = Some(Line::new(at.line, address));
            }
            (".entry", _) => return Err(usage(" PLACE")),
            (".prog_len", [n]) => {
                self.given.once(at, word, "prog_len")?;
                self.prog_len = Some(at.unsigned("prog_len", n, u32::MAX)?);
            }
            (".prog_len", _) => return Err(usage(" N")),
            (".reg", [name, value]) => self.register(at, name, value)?,
            (".reg", _) => return Err(usage(" NAME VALUE")),
            _ => return Err(at.unknown_directive(word, &DIRECTIVES)),
        }
        Ok(())
    }

    fn register(&mut self, at: Location, name: &str, value: &str) -> Result<(), InputError> {
        let value = at.unsigned("value", value, u32::MAX)?;
        let name = name.to_ascii_uppercase();
        if name == "SQ_BOOL_CONST" {
            self.given.once(at, ".reg", &name)?;
            self.regs.bool_const = value;
        } else if let Some(n) = name.strip_prefix("SQ_LOOP_CONST_") {
            let n: usize = at.unsigned("register", n, 31)?;
            (self.given).once(at, ".reg", &format!("loop constant {n}"))?;
            self.regs.loop_const[n] = value;
        } else {
            let message = format!("no register `{name}` belongs to a program");
            return Err(at.error("register", message));
        }
        Ok(())
    }

    fn program(
        self,
        quads: Vec<Quad>,
        entry: Option<u32>,
        file: &str,
    ) -> Result<Program, InputError> {
        if quads.is_empty() {
            return Err(no_instruction(file));
        }
        // At most MAX_QUADS.
        let len = quads.len() as u32;
        Ok(Program {
            name: program_name(file),
            regs: Registers {
                entry: entry.unwrap_or(0),
                prog_len: self.prog_len.unwrap_or(len),
                ..self.regs
            },
            quads,
        })
    }
}

/// Parses an instruction or a statement; an instruction may have its words in brackets, which must have the fields of the text.
fn instruction(at: Location, word: &str, operands: &str) -> Result<Stmt, InputError> {
    let bad = |message: String| Err(at.error("words", message));
    let (text, words) = match operands.strip_prefix('[') {
        Some(words) => ("", Some(words)),
        None => match operands.split_once(" [") {
            Some((text, words)) => (text, Some(words)),
            None => (operands, None),
        },
    };
    let said = line(Operands {
        at,
        word,
        rest: text::operands(text).collect(),
        fixed: 0,
    })?;
    let Some(words) = words else {
        return Ok(said);
    };
    let Some(inside) = words.trim_end().strip_suffix(']') else {
        return bad("`[` without `]` at the end".to_owned());
    };
    let words: Vec<&str> = text::operands(inside).collect();
    let quad = quad(at, "words", &words)?;
    match said {
        Stmt::Raw {
            target: Some(_), ..
        } => bad("beside them the address is a number".to_owned()),
        Stmt::Raw { quad: said, .. } if all_fields(said) == all_fields(quad) => Ok(raw(quad)),
        Stmt::Raw { .. } => bad(format!("are those of {}", all_fields(quad))),
        _ => bad("a statement has none".to_owned()),
    }
}

const fn raw(quad: Quad) -> Stmt {
    Stmt::Raw { quad, target: None }
}

/// Parses an instruction or a statement.
fn line(mut o: Operands) -> Result<Stmt, InputError> {
    let stmt = if let Some(op) = AluOp::from_name(o.word) {
        alu(&mut o, op)?
    } else if let Some(op) = MemOp::from_name(o.word) {
        mem(&mut o, op)?
    } else {
        let at_place = o.rest.iter().any(|t| t.starts_with('@'));
        let op = match o.word {
            "end_loop" => Some(CfOp::LoopEnd),
            "else" | "call" | "kill" | "return" if !at_place => None,
            word => CfOp::from_name(word),
        };
        match op {
            Some(op) => general(&mut o, op, at_place)?,
            None => statement(&mut o)?,
        }
    };
    o.finish()?;
    Ok(stmt)
}

/// Parses `@X`: a number up to `max`, or a label to be resolved later.
fn target(o: &mut Operands, max: u32) -> Result<(u32, Option<String>), InputError> {
    let Some(text) = o.take(|t| t.starts_with('@')) else {
        return Ok((0, None));
    };
    let place = &text[1..];
    if place.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        Ok((o.at.unsigned("address", place, max)?, None))
    } else {
        o.at.check_label(place)?;
        Ok((0, Some(place.to_owned())))
    }
}

/// Parses `NAME:N`.
fn value(o: &mut Operands, name: &str, max: u32) -> Result<Option<u8>, InputError> {
    let named = |t: &str| (t.split_once(':')).is_some_and(|(n, _)| n.eq_ignore_ascii_case(name));
    match o.take(named) {
        Some(text) => o.at.unsigned(name, &text[name.len() + 1..], max).map(Some),
        None => Ok(None),
    }
}

/// Parses a number without a name; returns 0 if there is none.
fn number(o: &mut Operands, field: &str, max: u32) -> Result<u32, InputError> {
    let is = |t: &str| t.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match o.take(is) {
        Some(text) => o.at.unsigned(field, text, max),
        None => Ok(0),
    }
}

/// Parses a COND. `BOOL` and `NOT_BOOL` may stand before the boolean.
fn when(o: &mut Operands) -> Result<When, InputError> {
    let never = o.flag("FALSE");
    let (is, is_not) = (o.flag("BOOL"), o.flag("NOT_BOOL"));
    let boolean = o.take(|t| is_indexed('b', t.strip_prefix('!').unwrap_or(t)));
    let Some(boolean) = boolean else {
        if is || is_not {
            return Err(o
                .at
                .error("condition", "BOOL and NOT_BOOL need one of b0 to b31"));
        }
        return Ok(if never { When::Never } else { When::Always });
    };
    let plain = boolean.strip_prefix('!');
    let b = o.at.indexed("condition", 'b', plain.unwrap_or(boolean))?;
    match (never, is, is_not || plain.is_some()) {
        (false, _, false) => Ok(When::Bool(b)),
        (false, false, true) => Ok(When::NotBool(b)),
        _ => Err(o.at.error("condition", "there can be one only")),
    }
}

/// Parses `KCn[...]`: `CBbank:first-last`, with `+aL` behind it for mode 3; returns no window if it is not given.
fn kcache(o: &mut Operands, name: &'static str) -> Result<Kcache, InputError> {
    let named = |t: &str| (t.split_once('[')).is_some_and(|(n, _)| n.eq_ignore_ascii_case(name));
    let Some(text) = o.take(named) else {
        return Ok(Kcache::default());
    };
    let lower = text[name.len() + 1..].to_ascii_lowercase();
    if lower == "]" {
        return Ok(Kcache::default());
    }
    let form = || {
        let message = format!(
            "`{text}` is not of the form {name}[CB0:16-32], or -48, -48+aL, -16 for modes 2, 3, 0"
        );
        o.at.error(name, message)
    };
    let inside = lower.strip_prefix("cb").and_then(|t| t.strip_suffix(']'));
    let (bank, range) = inside.and_then(|t| t.split_once(':')).ok_or_else(form)?;
    let (range, plus) = match range.strip_suffix("+al") {
        Some(range) => (range, true),
        None => (range, false),
    };
    let (first, last) = range.split_once('-').ok_or_else(form)?;
    let bank = o.at.unsigned(name, bank, 15)?;
    let first: u32 = o.at.unsigned(name, first, 255 * 16)?;
    let last: u32 = o.at.unsigned(name, last, 255 * 16 + 32)?;
    let mode = match (last.checked_sub(first), plus) {
        (Some(0), false) => 0,
        (Some(16), false) => 1,
        (Some(32), _) => 2 + u8::from(plus),
        _ => return Err(form()),
    };
    match u8::try_from(first / 16) {
        Ok(addr) if first.is_multiple_of(16) => Ok(Kcache { bank, mode, addr }),
        _ => Err(o.at.error(name, format!("{first} is not a multiple of 16"))),
    }
}

/// Parses the operands of an ALU instruction, except its address and u.
fn clause(o: &mut Operands) -> Result<Clause, InputError> {
    let mut words = Clause::default().words();
    take(o, Clause::FIELDS, &mut words)?;
    Ok(Clause {
        kcache0: kcache(o, "KC0")?,
        kcache1: kcache(o, "KC1")?,
        count: number(o, "COUNT", 127)? as u8,
        ..Clause::of(words)
    })
}

/// Parses CLAUSE, with an address that is a number.
fn clause_at(o: &mut Operands) -> Result<Clause, InputError> {
    let (addr, label) = target(o, Clause::ADDR)?;
    match label {
        None => Ok(Clause { addr, ..clause(o)? }),
        Some(name) => {
            let message =
                format!("`@{name}`: the clause of a statement has a number as its address");
            Err(o.at.error("address", message))
        }
    }
}

fn alu(o: &mut Operands, op: AluOp) -> Result<Stmt, InputError> {
    let (addr, target) = target(o, Clause::ADDR)?;
    let u = o.flag("u");
    let clause = Clause { addr, ..clause(o)? };
    let quad = Alu { op, clause }.encode();
    Ok(Stmt::Raw {
        quad: Quad { u, ..quad },
        target,
    })
}

fn mem(o: &mut Operands, op: MemOp) -> Result<Stmt, InputError> {
    let mut words = Mem::new(op).words();
    take(o, Mem::FIELDS, &mut words)?;
    if let [register] = o.rest[..]
        && is_register(register)
    {
        o.rest.clear();
    }
    let (dw0, rest) = if o.rest.is_empty() {
        (0, 0)
    } else {
        let dw0 = o.next("DW0")?;
        let rest = o.next("REST, DW1 without bits 31:21")?;
        (
            o.at.unsigned("DW0", dw0, u32::MAX)?,
            o.at.unsigned("REST", rest, Mem::REST)?,
        )
    };
    let mem = Mem {
        dw0,
        rest,
        ..Mem::of(op, words)
    };
    Ok(raw(mem.encode()))
}

/// Returns whether `text` is a register such as `T1.XY01` or `R0.XYZW`.
fn is_register(text: &str) -> bool {
    let Some((name, swizzle)) = text.split_once('.') else {
        return false;
    };
    let number = name.strip_prefix(['T', 't', 'R', 'r']).unwrap_or("");
    !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
        && swizzle.len() == 4
        && swizzle.chars().all(|c| "XYZW01_xyzw".contains(c))
}

fn general(o: &mut Operands, op: CfOp, at_place: bool) -> Result<Stmt, InputError> {
    if !at_place && op.uses_addr() && !op.is_fetch() {
        return Err(o.at.error(o.word, "needs an address, `@X`"));
    }
    let (addr, target) = target(o, u32::MAX)?;
    let when = when(o)?;
    let named = o.flag("CF_CONST");
    let constant = match o.take(|t| is_indexed('i', t)) {
        Some(text) => Some(o.at.indexed("CF_CONST", 'i', text)?),
        None if named => return Err(o.at.error("CF_CONST", "needs one of i0 to i31")),
        None => None,
    };
    let cf_const = match (when, constant) {
        (When::Bool(b) | When::NotBool(b), Some(i)) if b != i => {
            let message = format!("i{i} and b{b}: CF_CONST is both, so they must be the same");
            return Err(o.at.error("CF_CONST", message));
        }
        (_, Some(i)) => i,
        (when, None) => when.boolean(),
    };
    let count = match op.is_fetch() {
        true => number(o, "COUNT", 15)? as u8,
        false => 0,
    };
    let mut words = Cf {
        count,
        ..Cf::new(op)
    }
    .words();
    // The count of a fetch has no name in text.
    let named = |field: &&Field| !op.is_fetch() || field.name != "count";
    let named: Vec<Field> = Cf::FIELDS.iter().filter(named).copied().collect();
    take(o, &named, &mut words)?;
    let cf = Cf {
        addr,
        cf_const,
        cond: when.cond(),
        ..Cf::of(op, words)
    };
    Ok(Stmt::Raw {
        quad: cf.encode(),
        target,
    })
}

/// The mnemonics of statements, and LLVM's names of instructions; besides these, a line may begin with
/// the manual's names and directives.
const STATEMENTS: &str = "if else endif endif2 loop repeat endloop break continue call return kill end \
                          end_loop cf_end";

/// Returns the words that a line may begin with, for messages.
fn mnemonics() -> impl Iterator<Item = String> {
    let alu = AluOp::ALL.iter().map(|op| op.name());
    let mem = MemOp::ALL.iter().map(|op| op.name());
    let cf = CfOp::ALL.iter().map(|op| op.name());
    let instructions = alu.chain(mem).chain(cf).map(str::to_ascii_lowercase);
    STATEMENTS
        .split_whitespace()
        .map(str::to_owned)
        .chain(instructions)
}

fn statement(o: &mut Operands) -> Result<Stmt, InputError> {
    Ok(match o.word {
        // LLVM's name.
        "cf_end" | "end" => Stmt::End,
        "if" => {
            let not = o.flag("NOT");
            let when = when(o)?;
            if when == When::Always {
                let jump = !o.flag("NO_JUMP");
                let clause = clause_at(o)?;
                Stmt::If { clause, not, jump }
            } else if not {
                return Err(o
                    .at
                    .error("if", "NOT goes with a clause; the boolean has `!b0`"));
            } else {
                let (frame, vpm) = (o.flag("FRAME"), o.flag("VPM"));
                Stmt::IfBool { when, frame, vpm }
            }
        }
        "else" => {
            let form = match (o.flag("STAY"), o.flag("FUSED")) {
                (false, false) => ElseForm::Jump,
                (true, false) => ElseForm::Stay,
                (false, true) => ElseForm::Fused,
                (true, true) => return Err(o.at.error("else", "is STAY or FUSED, not both")),
            };
            let vpm = o.flag("VPM");
            Stmt::Else { form, vpm }
        }
        "endif" | "endif2" => {
            let form = match (o.word, o.word == "endif" && o.flag("FUSED")) {
                ("endif2", _) => EndifForm::FusedTwo,
                (_, true) => EndifForm::Fused,
                (_, false) => EndifForm::Pop,
            };
            let vpm = o.word == "endif" && o.flag("VPM");
            Stmt::Endif { form, vpm }
        }
        "loop" | "repeat" => {
            let constant = match (o.word, o.rest.is_empty()) {
                ("loop", true) => None,
                _ => Some(o.next("constant")?),
            };
            let index = |text| o.at.indexed("constant", 'i', text);
            let kind = match (constant, o.word) {
                (None, _) => LoopKind::Dx10,
                (Some(i), "loop") => LoopKind::Al(index(i)?),
                (Some(i), _) => LoopKind::NoAl(index(i)?),
            };
            Stmt::Loop { kind }
        }
        "endloop" => Stmt::EndLoop { vpm: o.flag("VPM") },
        "break" | "continue" => {
            let breaks = o.word == "break";
            if o.flag("UNLESS") {
                Stmt::LeaveUnless {
                    breaks,
                    expanded: o.flag("EXPANDED"),
                    clause: clause_at(o)?,
                }
            } else {
                let when = when(o)?;
                Stmt::Leave { breaks, when }
            }
        }
        "call" => {
            let label = o.label()?;
            let count = value(o, "CALL_COUNT", 63)?.unwrap_or(1);
            let when = when(o)?;
            Stmt::Call { label, when, count }
        }
        "return" => Stmt::Return { when: when(o)? },
        "kill" => Stmt::Kill {
            when: when(o)?,
            vpm: o.flag("VPM"),
        },
        word => return Err(o.at.unknown_mnemonic(word, mnemonics())),
    })
}
