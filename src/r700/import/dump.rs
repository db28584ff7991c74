//! Dumps of Mesa's r600 driver, `R600_DEBUG=ps,vs,...`: the shaders of a log, with their words.
//!
//! The driver has two disassemblers, both of which print a line for each instruction: its address in 32-bit words, decimal;
//! the words; and the text. Addresses behind an `@` also count 32-bit words. The lines of a clause follow the CF instruction
//! that starts it.
//!
//! | | header | end |
//! |---|---|---|
//! | optimizer (`sb`) | `===== SHADER #12 OPT === PS/RV770/R700 =====`, then `===== 40 dw ===== 3 gprs ===== 1 stack ===` | `===== SHADER_END ===` |
//! | assembler | `bytecode 40 dw -- 3 gprs -- 1 nstack ----`, then `shader 12 -- 7` | `--------` |
//!
//! The words are the program. The text of a CF instruction must say the same: its name, its address, the length of its clause,
//! `POP` and `CND`.

use std::collections::BTreeMap;

use super::{Part, STACK, mask_updates, target};
use crate::r700::isa::{Cf, CfOp, Word};
use crate::r700::program::{MAX_QUADS, Program, Quad, Registers};
use crate::unit::{LoadOptions, Loaded};
use reconverge_bench::input::InputError;
use reconverge_program::import::with_tabs;

/// Beginnings of the first line of a shader.
const SB: &str = "===== SHADER #";
const ASSEMBLER: &str = "bytecode ";

/// Remark on RV710 and RV730 (r700-3.4-h).
const SMALL: &str = "its GPU has stack entries of 8 sub-entries: a unit built with SUBENTRIES=8";

/// Returns whether `text` is a log with dumps in it.
pub(super) fn is_dump(text: &str) -> bool {
    text.lines().any(|line| header(line).is_some())
}

/// A shader of a log.
struct Shader {
    name: String,
    line: usize,
    /// Remark on the GPU that it is for.
    gpu: Option<&'static str>,
    stack_size: Option<u8>,
    gprs: Option<u8>,
    /// The CF instructions, each with its line.
    quads: Vec<(usize, Quad)>,
    /// The 32-bit words of the clauses, by address.
    words: BTreeMap<usize, u32>,
    /// Where the first clause begins.
    clauses: usize,
    /// The first error; nothing more is read after it.
    broken: Option<InputError>,
    open: bool,
}

/// What a header line says: the name of the shader, and its GPU.
enum Header<'a> {
    Sb(&'a str),
    Assembler(&'a str),
}

fn header(line: &str) -> Option<Header<'_>> {
    if let Some(at) = line.find(SB) {
        return Some(Header::Sb(&line[at + SB.len()..]));
    }
    let rest = &line[line.find(ASSEMBLER)? + ASSEMBLER.len()..];
    let mut tokens = rest.split_whitespace();
    let number = tokens.next().is_some_and(is_number);
    (number && tokens.next() == Some("dw") && tokens.next() == Some("--"))
        .then_some(Header::Assembler(rest))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns the number before each of the `names` in `40 dw ===== 3 gprs ===== 1 stack`.
fn counts<const N: usize>(line: &str, names: [&str; N]) -> [Option<usize>; N] {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    names.map(|name| {
        let pair = tokens.windows(2).find(|pair| pair[1] == name)?;
        pair[0].parse().ok()
    })
}

impl Shader {
    fn new(name: String, line: usize) -> Self {
        Shader {
            name,
            line,
            gpu: None,
            stack_size: None,
            gprs: None,
            quads: Vec::new(),
            words: BTreeMap::new(),
            clauses: usize::MAX,
            broken: None,
            open: true,
        }
    }

    fn sizes(&mut self, [stack, gprs]: [Option<usize>; 2]) {
        let byte = |n: Option<usize>| n.and_then(|n| u8::try_from(n).ok());
        self.stack_size = byte(stack).or(self.stack_size);
        self.gprs = byte(gprs).or(self.gprs);
    }

    fn fail(&mut self, file: &str, line: usize, field: &str, message: String) {
        if self.broken.is_none() {
            self.broken = Some(InputError::new(file, line, field, message));
        }
    }

    /// Notes which GPU the shader is for: by the name of its class, and of its chip if the dump has it.
    fn gpu(&mut self, file: &str, line: usize, class: &str, chip: &str) {
        match class {
            "R700" | "7" if matches!(chip, "RV710" | "RV730") => {
                self.gpu = Some(SMALL);
            }
            "R700" | "7" => {}
            "R600" | "6" => self.gpu = Some("of the family before; its CF words mean the same"),
            "EVERGREEN" | "E" | "CAYMAN" | "C" => {
                let message = format!(
                    "is for a GPU of the families after ({}), Evergreen and Cayman, which have other CF words",
                    [class, chip].join(" ").trim_end()
                );
                self.fail(file, line, "shader", message);
            }
            _ => {}
        }
    }

    /// Reads a line with words.
    fn line(&mut self, file: &str, line: usize, found: &Words) {
        let Words { at, words, text } = found;
        if *at >= self.clauses {
            for (i, word) in (*at..).zip(words) {
                if self.words.insert(i, *word).is_some_and(|old| old != *word) {
                    let message = "has another word on a line before".to_owned();
                    self.fail(file, line, &format!("{i:04}"), message);
                }
            }
            return;
        }
        let field = format!("{at:04}");
        let expected = 2 * self.quads.len();
        if *at != expected {
            let message = format!("follows where {expected:04} should");
            return self.fail(file, line, &field, message);
        }
        let [dw0, dw1] = words[..] else {
            let message = "is not followed by the two words of a CF instruction".to_owned();
            return self.fail(file, line, &field, message);
        };
        if self.quads.len() == MAX_QUADS {
            let message = format!("more than {MAX_QUADS} CF instructions");
            return self.fail(file, line, "program", message);
        }
        let quad = Quad { dw0, dw1, u: false };
        if let Err((field, message)) = check_text(quad, text) {
            return self.fail(file, line, &field, message);
        }
        if let Some((start, _)) = super::clause(quad) {
            self.clauses = self.clauses.min((start as usize).saturating_mul(2));
        }
        self.quads.push((line, quad));
    }

    /// Returns the shader as a program, or the error in it.
    fn program(
        &mut self,
        file: &str,
        options: &LoadOptions,
    ) -> Result<Loaded<Program>, InputError> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let fail = |line: usize, field: &str, message: String| {
            Err(InputError::new(file, line, field, message))
        };
        let Some((last, quad)) = self.quads.last() else {
            let why = "no CF instruction with its words follows";
            return fail(self.line, "shader", why.to_owned());
        };
        let ends = match Word::decode(*quad) {
            // A fetch shader returns.
            Word::Cf(Cf { op, end, .. }) => end || op == CfOp::Return,
            Word::Mem(mem) => mem.end,
            _ => false,
        };
        if !ends {
            let why = "is the last CF instruction, and has no END: is the log cut off?";
            return fail(*last, &name_of(*quad), why.to_owned());
        }
        let (mut quads, mut several, mut illegal) = (Vec::new(), Vec::new(), Vec::new());
        for (i, (line, quad)) in self.quads.iter().enumerate() {
            let mut quad = *quad;
            if let Some(to) = target(quad)
                && usize::try_from(to).map_or(true, |to| to >= self.quads.len())
            {
                let message = format!(
                    "leads to {to}, and the CF program has {} quads",
                    self.quads.len()
                );
                return fail(*line, &name_of(quad), message);
            }
            match Word::decode(quad) {
                Word::Alu(alu) => {
                    let slots = usize::from(alu.clause.count) + 1;
                    let code = self.clause(alu.clause.addr as usize, slots);
                    let updates = code.and_then(|code| mask_updates(&code));
                    let updates = updates.map_err(|why| {
                        InputError::new(file, *line, format!("{} clause", alu.op.name()), why)
                    })?;
                    quad.u = updates > 0;
                    if updates > 1 {
                        several.push(i);
                    }
                }
                Word::Cf(cf) if cf.op.is_illegal() => illegal.push(i),
                Word::Reserved(..) => illegal.push(i),
                _ => {}
            }
            quads.push(quad);
        }
        let fits = |gpu: &&&str| **gpu != SMALL || options.value("SUBENTRIES", 4) != 8;
        let gpu = self.gpu.iter().filter(fits);
        let mut warnings: Vec<String> = gpu.map(|gpu| (*gpu).to_owned()).collect();
        warnings.extend(super::remarks(&illegal, &several));
        let regs = Registers {
            // At most MAX_QUADS.
            prog_len: quads.len() as u32,
            stack_size: self.stack_size.unwrap_or(STACK),
            ..Registers::default()
        };
        warnings.extend(super::too_deep(regs.stack_size, options));
        let name = self.name.clone();
        Ok(Loaded {
            program: Program { name, regs, quads },
            warnings,
        })
    }

    /// Returns the bytes of a clause. Of an odd number of literals the dump leaves out the last word, which fills up the quadword.
    fn clause(&self, start: usize, slots: usize) -> Result<Vec<u8>, String> {
        let words = (2 * start..2 * (start + slots)).map(|at| {
            let word = self.words.get(&at).copied();
            match word {
                Some(word) => Ok(word),
                None if at % 2 == 1 && self.words.contains_key(&(at - 1)) => Ok(0),
                None => Err(format!("its word {at:04} is not in the log")),
            }
        });
        let words: Vec<u32> = words.collect::<Result<_, _>>()?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }

    fn part(mut self, file: &str, options: &LoadOptions) -> Part {
        let program = self.program(file, options);
        let furthest = self.words.last_key_value().map_or(0, |(at, _)| at / 2 + 1);
        Part {
            quads: furthest.max(self.quads.len()) as u64,
            name: self.name,
            stack_size: self.stack_size,
            gprs: self.gprs,
            program,
        }
    }
}

/// A line with words: the address of the first, the words, and the text behind them.
struct Words<'a> {
    at: usize,
    words: Vec<u32>,
    text: &'a str,
}

/// Finds `ADDRESS WORD...`, four or more decimal digits and then words of eight hexadecimal ones, whatever stands before.
fn words_of(line: &str) -> Option<Words<'_>> {
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        let (token, behind) = token(rest)?;
        if is_number(token) && (4..=9).contains(&token.len()) {
            let (mut words, mut text) = (Vec::new(), behind);
            while let Some((digits, behind)) = token_of_word(text).filter(|_| words.len() < 4) {
                words.push(digits);
                text = behind;
            }
            if !words.is_empty() {
                let at = token.parse().ok()?;
                return Some(Words { at, words, text });
            }
        }
        rest = behind;
    }
}

fn token(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn token_of_word(text: &str) -> Option<(u32, &str)> {
    let (token, behind) = token(text)?;
    let plain = token.len() == 8 && token.bytes().all(|b| b.is_ascii_hexdigit());
    let word = u32::from_str_radix(token, 16).ok().filter(|_| plain)?;
    Some((word, behind))
}

/// Returns the name of an instruction in messages.
fn name_of(quad: Quad) -> String {
    match Word::decode(quad) {
        Word::Cf(cf) => cf.op.name().to_owned(),
        Word::Mem(mem) => mem.op.name().to_owned(),
        Word::Alu(alu) => alu.op.name().to_owned(),
        Word::Reserved(..) => "a reserved opcode".to_owned(),
    }
}

/// Checks the text of a CF instruction against its words; returns the field that differs, and how.
fn check_text(quad: Quad, text: &str) -> Result<(), (String, String)> {
    let mut tokens = text.split_whitespace().peekable();
    let words = format!("{:08X} {:08X}", quad.dw0, quad.dw1);
    let Some(name) = tokens.next() else {
        return Err((words, "no mnemonic follows the words".to_owned()));
    };
    let known = match name {
        "RET" => "RETURN",
        "MEM_REDUCT" => "MEM_REDUCTION",
        _ => name,
    };
    // What the driver took from another compiler as words.
    if name == "CF_NATIVE" {
        return Ok(());
    }
    let is = name_of(quad);
    if known != is {
        let mut message = format!("the words {words} are {is}");
        // There the opcode is one bit longer.
        if CfOp::from_name(known).is_some_and(|op| op.bits() == quad.dw1 >> 22 & 0xff) {
            message += "; in those of Evergreen and Cayman, which this unit does not run, they are what the text says";
        }
        return Err((name.to_owned(), message));
    }
    let (addr, count, pop, cond) = match Word::decode(quad) {
        Word::Alu(alu) => (
            alu.clause.addr,
            Some(usize::from(alu.clause.count) + 1),
            None,
            None,
        ),
        Word::Cf(cf) => (
            cf.addr,
            cf.op.is_fetch().then_some(usize::from(cf.count) + 1),
            Some(u32::from(cf.pop_count)),
            Some(cf.cond.bits()),
        ),
        _ => return Ok(()),
    };
    let differs = |token: &str, what: &str, value: u64| {
        let message = format!("the words {words} have {what}{value}");
        Err((token.to_owned(), message))
    };
    if let (Some(count), Some(token)) = (count, tokens.next_if(|token| is_number(token)))
        && token.parse() != Ok(count)
    {
        return differs(token, "a clause of length ", count as u64);
    }
    let mut said = [0; 2];
    for token in tokens {
        if let Some(at) = token.strip_prefix('@')
            && at.parse() != Ok(2 * u64::from(addr))
        {
            return differs(token, "@", 2 * u64::from(addr));
        }
        for (said, name) in said.iter_mut().zip(["POP:", "CND:"]) {
            if let Some(digits) = token.strip_prefix(name) {
                *said = u32::from_str_radix(digits, 16).unwrap_or(u32::MAX);
            }
        }
    }
    for ((said, is), what) in said.into_iter().zip([pop, cond]).zip(["POP:", "CND:"]) {
        if let Some(is) = is.filter(|is| *is != said) {
            return differs(name, what, is.into());
        }
    }
    Ok(())
}

/// Returns the shaders of a log, in its order.
pub(super) fn shaders(text: &str, file: &str, options: &LoadOptions) -> Vec<Part> {
    let mut shaders: Vec<Shader> = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        let line = with_tabs(line);
        match header(&line) {
            Some(Header::Sb(rest)) => {
                let mut tokens = rest.split_whitespace().filter(|token| !is_rule(token));
                let number = tokens.next().unwrap_or_default();
                let optimised = tokens.next().filter(|token| *token == "OPT").is_some();
                let target = rest.split_whitespace().find(|token| token.contains('/'));
                let mut parts = target.unwrap_or_default().split('/');
                let stage = parts.next().unwrap_or_default().to_owned();
                let chip = parts.next().unwrap_or_default().to_owned();
                let class = parts.next().unwrap_or_default().to_owned();
                let mut name = format!("{stage}{number}");
                if optimised {
                    name += ".OPT";
                }
                let mut shader = Shader::new(name, n);
                shader.gpu(file, n, &class, &chip);
                shaders.push(shader);
                continue;
            }
            Some(Header::Assembler(rest)) => {
                let mut shader = Shader::new(String::new(), n);
                shader.sizes(counts(rest, ["nstack", "gprs"]));
                shaders.push(shader);
                continue;
            }
            None => {}
        }
        let Some(shader) = shaders.last_mut().filter(|shader| shader.open) else {
            continue;
        };
        if let Some(words) = words_of(&line) {
            if shader.broken.is_none() {
                shader.line(file, n, &words);
            }
        } else if line.contains("===== SHADER_END") || line.trim_end().ends_with("----------") {
            shader.open = shader.quads.is_empty();
        } else if let Some((_, rest)) = line.split_once("shader ")
            && shader.name.is_empty()
            && let [number, "--", class] = rest.split_whitespace().collect::<Vec<_>>()[..]
        {
            shader.name = format!("shader{number}");
            let class = class.to_owned();
            shader.gpu(file, n, &class, "");
        } else if line.contains(" dw =====") {
            shader.sizes(counts(&line, ["stack", "gprs"]));
        }
    }
    let shaders = shaders.into_iter().map(|shader| shader.part(file, options));
    shaders.collect()
}

fn is_rule(token: &str) -> bool {
    token.bytes().all(|b| b == b'=')
}
