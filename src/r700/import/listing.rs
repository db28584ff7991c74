//! Listings of AMD's tools (GPU ShaderAnalyzer, the CAL compiler) and of those that write the same: CF instructions with their
//! clauses, without words.
//!
//! ```text
//! 00 CALL_FS NO_BARRIER
//! 01 ALU_PUSH_BEFORE: ADDR(32) CNT(1)
//!       0  x: PRED_SETE_INT ____,  R0.x,  0.0f      UPDATE_EXEC_MASK UPDATE_PRED
//! 02 JUMP  POP_CNT(1) ADDR(4)
//! ```
//!
//! Instructions are numbered from 00 on; behind the last stands END_OF_PROGRAM, which sets its END. `ADDR` counts quadwords, and
//! `CNT` slots or fetches. From its clause an ALU instruction has `u`: the number of UPDATE_EXEC_MASK. An export is only its
//! opcode: its registers do not concern the sequencer (r700-2.4). What an instruction needs and the listing does not say is
//! an error, as is what the words of R700 cannot say.

use super::{Part, STACK, target};
use crate::r700::isa::{Alu, AluOp, Cf, CfOp, Clause, Cond, Kcache, Mem, MemOp, Word};
use crate::r700::program::{MAX_QUADS, Program, Quad, Registers};
use crate::unit::Loaded;
use reconverge_bench::input::InputError;
use reconverge_bench::text::{Location, program_name};

const END: &str = "END_OF_PROGRAM";

/// Returns whether `text` is such a listing: a line begins with a number and the name of a CF instruction.
pub(super) fn is_listing(text: &str) -> bool {
    text.lines().any(|line| numbered(line).is_some())
}

/// An opcode by its name in a listing.
enum Op {
    Alu(AluOp),
    Cf(CfOp),
    Mem(MemOp),
}

impl Op {
    fn from_name(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(':').unwrap_or(name);
        // MEM_SCRATCH_WRITE_IND, MEM_RING_WRITE.
        let memory = stem.strip_suffix("_ACK").unwrap_or(stem);
        let memory = memory.strip_suffix("_IND").unwrap_or(memory);
        let memory = memory
            .strip_suffix("_WRITE")
            .or_else(|| memory.strip_suffix("_READ"))
            .unwrap_or(stem);
        let memory = match memory {
            "EXP" => "EXPORT",
            "EXP_DONE" => "EXPORT_DONE",
            memory => memory,
        };
        // As written: the listings have upper case only, our own dialect has no numbers.
        let exact = |found: &str, name: &str| found == name;
        let alu = AluOp::from_name(stem).filter(|op| exact(op.name(), stem));
        let cf = CfOp::from_name(stem).filter(|op| exact(op.name(), stem));
        let mem = MemOp::from_name(memory).filter(|op| exact(op.name(), memory));
        alu.map(Op::Alu).or(cf.map(Op::Cf)).or(mem.map(Op::Mem))
    }
}

/// Splits `01 ALU: ADDR(32) CNT(2)` into number, name, opcode and options.
fn numbered(line: &str) -> Option<(&str, &str, Op, &str)> {
    let (number, rest) = line.trim().split_once(char::is_whitespace)?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_start();
    let end = rest
        .find(|c: char| c.is_whitespace() || c == '(')
        .unwrap_or(rest.len());
    let (name, options) = rest.split_at(end);
    Some((number, name, Op::from_name(name)?, options))
}

/// An option, `NAME` or `NAME(VALUE)`.
struct Given<'a> {
    name: &'a str,
    value: Option<&'a str>,
}

/// The options of an instruction that were not taken yet.
struct Options<'a> {
    at: Location<'a>,
    op: &'a str,
    rest: Vec<Given<'a>>,
}

impl<'a> Options<'a> {
    fn new(at: Location<'a>, op: &'a str, text: &'a str) -> Result<Self, InputError> {
        let mut given = Vec::new();
        let between = |c: char| c.is_whitespace() || c == ',';
        let mut rest = text.trim_start_matches(between);
        while !rest.is_empty() {
            let end = rest
                .find(|c: char| c.is_whitespace() || c == '(' || c == ',')
                .unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            let (value, behind) = match behind.trim_start().strip_prefix('(') {
                Some(inside) => {
                    let (value, behind) = inside
                        .split_once(')')
                        .ok_or_else(|| at.error(op, format!("`{name}(` has no closing bracket")))?;
                    (Some(value.trim()), behind)
                }
                None => (None, behind),
            };
            given.push(Given { name, value });
            rest = behind.trim_start_matches(between);
        }
        Ok(Options {
            at,
            op,
            rest: given,
        })
    }

    fn take(&mut self, names: &[&str]) -> Option<Given<'a>> {
        let i = (self.rest.iter()).position(|given| names.contains(&given.name))?;
        Some(self.rest.remove(i))
    }

    fn flag(&mut self, names: &[&str]) -> bool {
        self.take(names).is_some()
    }

    /// Takes a number in `min..=max`.
    fn number(&mut self, names: &[&str], min: u32, max: u32) -> Result<Option<u32>, InputError> {
        let Some(Given { name, value }) = self.take(names) else {
            return Ok(None);
        };
        let field = if name.is_empty() { self.op } else { name };
        let n = self
            .at
            .number(field, value.unwrap_or_default(), min.into(), max.into())?;
        Ok(u32::try_from(n).ok())
    }

    fn missing(&self, what: &str) -> InputError {
        (self.at).error(
            self.op,
            format!("needs {what}, which the listing does not give"),
        )
    }

    fn needed(&mut self, names: &[&str], min: u32, max: u32) -> Result<u32, InputError> {
        let found = self.number(names, min, max)?;
        found.ok_or_else(|| self.missing(names[0]))
    }

    /// Checks that every option was taken.
    fn finish(self) -> Result<(), InputError> {
        match self.rest.first() {
            None => Ok(()),
            Some(Given { name, .. }) => {
                let message = format!("`{name}` is not an option of this instruction of R700");
                Err(self.at.error(self.op, message).about(name))
            }
        }
    }
}

const BARRIER: &[&str] = &["NO_BARRIER"];
const VPM: &[&str] = &["VALID_PIX", "VALID_PIXEL_MODE"];
const WQM: &[&str] = &["WHOLE_QUAD", "WHOLE_QUAD_MODE"];
const ADDR: &[&str] = &["ADDR", "FAIL_JUMP_ADDR", "PASS_JUMP_ADDR"];

/// Parses `CBbank:first-last`, both in constants, of which a line holds 16.
fn kcache(options: &mut Options, name: &'static str) -> Result<Kcache, InputError> {
    let Some(Given { value, .. }) = options.take(&[name]) else {
        return Ok(Kcache::default());
    };
    let parts = value.and_then(|value| {
        let (bank, range) = value.trim_start().strip_prefix("CB")?.split_once(':')?;
        let (first, last) = range.split_once('-')?;
        let number = |text: &str| text.trim().parse::<u16>().ok();
        Some((number(bank)?, number(first)?, number(last)?))
    });
    let lines = parts
        .map(|(_, first, last)| u32::from(last) + 1 - u32::from(first).min(u32::from(last) + 1));
    match (parts, lines) {
        (Some((bank @ 0..16, first, _)), Some(16 | 32))
            if first.is_multiple_of(16) && first / 16 < 256 =>
        {
            Ok(Kcache {
                bank: bank as u8,
                mode: if lines == Some(16) { 1 } else { 2 },
                addr: (first / 16) as u8,
            })
        }
        _ => Err(options.at.error(
            name,
            "is not of the form CB0:0-15 or CB0:0-31, 16 or 32 constants from a multiple of 16 on",
        )),
    }
}

fn alu(options: &mut Options, op: AluOp) -> Result<Quad, InputError> {
    let clause = Clause {
        addr: options.needed(&["ADDR"], 0, Clause::ADDR)?,
        count: (options.needed(&["CNT"], 1, 128)? - 1) as u8,
        kcache0: kcache(options, "KCACHE0")?,
        kcache1: kcache(options, "KCACHE1")?,
        alt_const: options.flag(&["USES_WATERFALL", "ALT_CONST"]),
        wqm: options.flag(WQM),
        barrier: !options.flag(BARRIER),
    };
    Ok(Alu { op, clause }.encode())
}

fn general(options: &mut Options, op: CfOp, next: u32) -> Result<Quad, InputError> {
    let cond = match options.take(&["CND", "COND"]).map(|given| given.value) {
        None | Some(Some("ACTIVE")) => Cond::Active,
        Some(Some("FALSE")) => Cond::False,
        Some(Some("BOOL")) => Cond::Bool,
        Some(Some("NOT_BOOL")) => Cond::NotBool,
        Some(other) => {
            let message = format!(
                "`{}` is not one of ACTIVE, FALSE, BOOL, NOT_BOOL",
                other.unwrap_or_default()
            );
            return Err(options.at.error("CND", message));
        }
    };
    let counted = matches!(op, CfOp::LoopStart | CfOp::LoopStartNoAl);
    let boolean = matches!(cond, Cond::Bool | Cond::NotBool);
    let cf_const = match options.number(&["CF_CONST"], 0, 31)? {
        None if counted || boolean => return Err(options.missing("CF_CONST")),
        cf_const => cf_const.unwrap_or(0),
    };
    let addr = match options.number(ADDR, 0, u32::MAX)? {
        Some(addr) => addr,
        // POP goes on with the next instruction in any case (r700-4.3-e).
        None if op == CfOp::Pop => next,
        None if op.uses_addr() => return Err(options.missing("ADDR")),
        None => 0,
    };
    let count = match op.is_fetch() {
        true => options.needed(&["CNT"], 1, 16)? - 1,
        false => 0,
    };
    let call_count = match options.number(&["CALL_COUNT"], 0, 63)? {
        None if op == CfOp::Call => return Err(options.missing("CALL_COUNT")),
        count => count.unwrap_or(0),
    };
    // POP also has its number alone, `POP (1)`.
    let pops = options.number(&["POP_CNT", "POP_COUNT", ""], 0, 7)?;
    Ok(Cf {
        op,
        addr,
        pop_count: pops.unwrap_or(0) as u8,
        cf_const: cf_const as u8,
        cond,
        count: count as u8,
        call_count: call_count as u8,
        end: false,
        vpm: options.flag(VPM),
        wqm: options.flag(WQM),
        barrier: !options.flag(BARRIER),
    }
    .encode())
}

/// Instructions whose clause follows.
enum Open {
    None,
    /// Slots that may follow, and UPDATE_EXEC_MASK among those that did.
    Alu {
        slots: usize,
        seen: usize,
        updates: usize,
    },
    /// Fetches that must follow.
    Fetch(usize),
}

/// A program of a listing.
struct Listing {
    line: usize,
    /// The CF instructions, each with its line.
    quads: Vec<(usize, Quad)>,
    open: Open,
    several: Vec<usize>,
    /// The listing has an export, whose words it does not give.
    exports: bool,
    ended: bool,
    broken: Option<InputError>,
}

impl Listing {
    fn new(line: usize) -> Self {
        Listing {
            line,
            quads: Vec::new(),
            open: Open::None,
            several: Vec::new(),
            exports: false,
            ended: false,
            broken: None,
        }
    }

    /// Closes the clause of the last instruction.
    fn close(&mut self, file: &str) -> Result<(), InputError> {
        let open = std::mem::replace(&mut self.open, Open::None);
        let Some((line, quad)) = self.quads.last_mut() else {
            return Ok(());
        };
        let fail = |what: &str| Err(InputError::new(file, *line, "clause", what));
        match open {
            Open::None => {}
            Open::Alu { seen: 0, .. } => {
                return fail(
                    "the listing has none of its instructions, which say whether it updates the execute mask",
                );
            }
            Open::Alu { updates, .. } => {
                quad.u = updates > 0;
                if updates > 1 {
                    self.several.push(self.quads.len() - 1);
                }
            }
            Open::Fetch(0) => {}
            Open::Fetch(_) => return fail("fewer fetches follow than CNT says"),
        }
        Ok(())
    }

    fn line<'a>(&mut self, at: Location<'a>, line: &'a str) -> Result<(), InputError> {
        let text = line.trim();
        let code = text.split(';').next().unwrap_or_default().trim_end();
        if code.is_empty() || code.starts_with("//") {
            return Ok(());
        }
        if code == END {
            self.close(at.file)?;
            return self.end(at);
        }
        if let Some((number, name, op, options)) = numbered(code) {
            self.close(at.file)?;
            let expected = self.quads.len();
            if number.parse() != Ok(expected) {
                let message = format!("`{number}` follows where {expected:02} should");
                return Err(at.error("number", message).about(number));
            }
            return self.instruction(at, name, op, options);
        }
        if self.in_clause(code) {
            return Ok(());
        }
        let message =
            format!("`{code}` is neither a CF instruction of R700 nor of the clause before");
        Err(at.error("instruction", message).about(code))
    }

    fn instruction<'a>(
        &mut self,
        at: Location<'a>,
        name: &'a str,
        op: Op,
        options: &'a str,
    ) -> Result<(), InputError> {
        if self.quads.len() == MAX_QUADS {
            return Err(at.error("program", format!("more than {MAX_QUADS} CF instructions")));
        }
        let name = name.strip_suffix(':').unwrap_or(name);
        let mut options = Options::new(at, name, options)?;
        let quad = match op {
            Op::Alu(op) => {
                let quad = alu(&mut options, op)?;
                let slots = match Word::decode(quad) {
                    Word::Alu(alu) => usize::from(alu.clause.count) + 1,
                    _ => 0,
                };
                self.open = Open::Alu {
                    slots,
                    seen: 0,
                    updates: 0,
                };
                options.finish()?;
                quad
            }
            Op::Cf(op) => {
                // At most MAX_QUADS.
                let next = self.quads.len() as u32 + 1;
                let quad = general(&mut options, op, next)?;
                if let Word::Cf(cf) = Word::decode(quad)
                    && op.is_fetch()
                {
                    self.open = Open::Fetch(usize::from(cf.count) + 1);
                }
                options.finish()?;
                quad
            }
            Op::Mem(op) => {
                self.exports = true;
                Mem {
                    vpm: options.flag(VPM),
                    wqm: options.flag(WQM),
                    barrier: !options.flag(BARRIER),
                    ..Mem::new(op)
                }
                .encode()
            }
        };
        self.quads.push((at.line, quad));
        Ok(())
    }

    /// Takes a line of the clause of the last instruction; returns false if it is none.
    fn in_clause(&mut self, code: &str) -> bool {
        let (first, rest) = match code.split_once(char::is_whitespace) {
            Some((number, rest)) if number.bytes().all(|b| b.is_ascii_digit()) => {
                (true, rest.trim_start())
            }
            _ => (false, code),
        };
        match &mut self.open {
            Open::None => false,
            Open::Alu {
                slots,
                seen,
                updates,
            } => {
                let unit = rest.as_bytes();
                let is = matches!(unit, [b'x' | b'y' | b'z' | b'w' | b't', b':', ..]);
                if !is || *seen == *slots || *seen == 0 && !first {
                    return false;
                }
                *seen += 1;
                let words = rest.split_whitespace();
                let updating = ["UPDATE_EXEC_MASK", "UPDATE_EXECUTE_MASK"];
                // UPDATE_EXEC_MASK(BREAK) of later GPUs is none of R700.
                *updates += usize::from(words.into_iter().any(|word| updating.contains(&word)));
                true
            }
            Open::Fetch(0) => false,
            Open::Fetch(left) => {
                *left -= usize::from(first);
                first
            }
        }
    }

    fn end(&mut self, at: Location) -> Result<(), InputError> {
        self.ended = true;
        let Some((_, quad)) = self.quads.last_mut() else {
            return Err(at.error(END, "no CF instruction stands before it"));
        };
        match Word::decode(*quad) {
            Word::Cf(cf) => *quad = Cf { end: true, ..cf }.encode(),
            Word::Mem(mem) => *quad = Mem { end: true, ..mem }.encode(),
            _ => {
                let message = "an ALU instruction has no END; R700 ends with an export or a NOP";
                return Err(at.error(END, message));
            }
        }
        Ok(())
    }

    fn program(&mut self, file: &str) -> Result<Loaded<Program>, InputError> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let fail = |line: usize, field: &str, message: String| {
            Err(InputError::new(file, line, field, message))
        };
        if !self.ended {
            let line = self.quads.last().map_or(self.line, |(line, _)| *line);
            let message = format!("no {END} follows the last instruction: is the listing cut off?");
            return fail(line, "program", message);
        }
        let quads: Vec<Quad> = self.quads.iter().map(|(_, quad)| *quad).collect();
        let mut constants = false;
        for (line, quad) in &self.quads {
            if let Some(to) = target(*quad)
                && usize::try_from(to).map_or(true, |to| to >= quads.len())
            {
                let message = format!("{to}, and the program has {} instructions", quads.len());
                return fail(*line, "ADDR", message);
            }
            if let Word::Cf(cf) = Word::decode(*quad) {
                constants |= matches!(cf.cond, Cond::Bool | Cond::NotBool)
                    || matches!(cf.op, CfOp::LoopStart | CfOp::LoopStartNoAl);
            }
        }
        let illegal: Vec<usize> = (0..quads.len())
            .filter(|i| matches!(Word::decode(quads[*i]), Word::Cf(cf) if cf.op.is_illegal()))
            .collect();
        let mut warnings = vec![format!(
            "STACK_SIZE is not in a listing of AMD's: {STACK} entries are taken"
        )];
        if constants {
            let why = "loop constants and booleans are not in a listing of AMD's: all are 0";
            warnings.push(why.to_owned());
        }
        if self.exports {
            let why = "exports have their opcode only: the sequencer does not read the rest";
            warnings.push(why.to_owned());
        }
        warnings.extend(super::remarks(&illegal, &self.several));
        Ok(Loaded {
            program: Program {
                name: String::new(),
                regs: Registers {
                    // At most MAX_QUADS.
                    prog_len: quads.len() as u32,
                    ..Registers::default()
                },
                quads,
            },
            warnings,
        })
    }
}

/// Returns the programs of a text with listings: after END_OF_PROGRAM the next begins with the first line that is one of its
/// instructions.
pub(super) fn programs(text: &str, file: &str) -> Vec<Part> {
    let mut programs: Vec<Listing> = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        let begins = programs.last().is_none_or(|program| program.ended);
        if begins {
            if numbered(line).is_none() {
                continue;
            }
            programs.push(Listing::new(n));
        }
        let Some(program) = programs.last_mut() else {
            continue;
        };
        if program.broken.is_some() {
            program.ended |= line.trim() == END;
        } else if let Err(e) = program.line(Location { file, line: n }, line) {
            program.broken = Some(e);
            program.ended |= line.trim() == END;
        }
    }
    let several = programs.len() > 1;
    // They have no names of their own.
    let part = |(number, mut listing): (usize, Listing)| {
        let mut name = program_name(file);
        if several {
            name += &format!(".{number}");
        }
        let mut program = listing.program(file);
        if let Ok(loaded) = &mut program {
            loaded.program.name.clone_from(&name);
        }
        Part {
            name,
            quads: listing.quads.len() as u64,
            stack_size: None,
            gprs: None,
            program,
        }
    };
    (1..).zip(programs).map(part).collect()
}
