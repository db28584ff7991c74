//! Listings of other tools than `nvdisasm`: what they add is blanked out, and the rest is read as assembly, with the same line
//! numbers and columns.
//!
//! | tool | recognised by | blanked out |
//! |---|---|---|
//! | `cuobjdump -sass` | a line `Function : NAME` | what stands around each function, of which one is chosen |
//! | maxas | control codes before an instruction, `01:-:1:Y:5` | the codes, and `#` lines |
//! | CuAssembler | control codes before an instruction, `[B------:R-:W0:-:S01]` | the codes, and `.__` directives |
//! | newer versions of `nvdisasm` | `.target sm_52` | that line |
//!
//! Control codes set the words that the sequencer does not execute (spa5-2.1): the assembler sets those of hand-made
//! programs. A listing for a GPU with other words is refused by its name.

use std::borrow::Cow;
use std::ops::Range;

use super::cubin::{SAME_WORDS, family, is_ours};
use reconverge_bench::input::InputError;

/// A program of a listing.
pub(super) struct Part<'a> {
    /// Its name; none if the listing has only one program and does not name it.
    pub(super) name: Option<&'a str>,
    text: Cow<'a, str>,
    /// The lines of its function, from 0, if the text holds others.
    lines: Option<Range<usize>>,
}

impl<'a> Part<'a> {
    /// Returns the whole text, without what does not belong to the program.
    pub(super) fn text(self) -> Cow<'a, str> {
        let Some(lines) = self.lines else {
            return self.text;
        };
        let mut within = true;
        Cow::Owned(map_lines(&self.text, |n, line| {
            let trimmed = line.trim();
            // Another file of the fat binary begins behind the function.
            within &= n < lines.start
                || !(trimmed.starts_with("Fatbin ") || trimmed.starts_with("code for "));
            match lines.contains(&n) && within && !trimmed.starts_with("....") {
                true => line.to_owned(),
                false => String::new(),
            }
        }))
    }
}

/// Returns the programs of a text.
///
/// # Errors
///
/// The listing is for a GPU with other words, is of envydis, or is a source that a tool's own preprocessor must read first.
pub(super) fn parts<'a>(text: &'a str, file: &str) -> Result<Vec<Part<'a>>, InputError> {
    let functions: Vec<(usize, &str)> = (text.lines().enumerate())
        .filter_map(|(n, line)| Some((n, line.trim().strip_prefix("Function : ")?.trim())))
        .collect();
    if !functions.is_empty() {
        return cuobjdump(text, file, &functions);
    }
    for (n, line) in (1..).zip(text.lines()) {
        let fail = |message: String| Err(InputError::new(file, n, "file", message));
        if let Some(sm) = architecture(line).filter(|sm| !is_ours(*sm)) {
            return fail(other_words(sm));
        }
        if is_first_of_others(line) {
            return fail(format!(
                "has an instruction at address 0, where {SAME_WORDS} have a control word: this listing is for another GPU"
            ));
        }
        if is_envydis(line) {
            return fail(
                "is in the syntax of envydis, which is not read; the binary that it is made from is, as raw bundles"
                    .to_owned(),
            );
        }
    }
    let maxas = text.lines().any(|line| maxas_code(line).is_some());
    let cuasm = text.lines().any(|line| cuasm_code(line).is_some());
    if maxas && let Some((n, _)) = (1..).zip(text.lines()).find(|(_, line)| is_macro(line)) {
        let message = "is a source of maxas: its preprocessor must write out the macros and registers first (`maxas.pl -p`)";
        return Err(InputError::new(file, n, "file", message));
    }
    // Not `.targets`, a directive of this assembler.
    let target = |line: &str| line.split_whitespace().next() == Some(".target");
    let text = match maxas || cuasm || text.lines().any(target) {
        true => Cow::Owned(map_lines(text, |_, line| {
            let code = maxas_code(line).or_else(|| cuasm_code(line));
            match code {
                Some(code) => blank(line, code),
                None if maxas && line.trim_start().starts_with('#') => String::new(),
                None if line.trim_start().starts_with(".__") || target(line) => String::new(),
                // CuAssembler puts names of sections into quotes.
                None if cuasm => line.replace('"', " "),
                None => line.to_owned(),
            }
        })),
        false => Cow::Borrowed(text),
    };
    Ok(vec![Part {
        name: None,
        text,
        lines: None,
    }])
}

/// Returns the functions of `cuobjdump -sass` that are for GPUs with the words of this unit.
fn cuobjdump<'a>(
    text: &'a str,
    file: &str,
    functions: &[(usize, &'a str)],
) -> Result<Vec<Part<'a>>, InputError> {
    let (mut sm, mut sms) = (None, Vec::new());
    for line in text.lines() {
        sm = architecture(line).or(sm);
        sms.push(sm);
    }
    let mut parts = Vec::new();
    for (i, &(first, name)) in functions.iter().enumerate() {
        let last = functions.get(i + 1).map_or(sms.len(), |next| next.0);
        // The architecture stands before the name, or in the `.headerflags` behind it.
        let of = sms[first].or(sms[last - 1]);
        if of.is_some_and(|sm| !is_ours(sm)) {
            continue;
        }
        parts.push(Part {
            name: Some(name),
            text: Cow::Borrowed(text),
            lines: Some(first + 1..last),
        });
    }
    if parts.is_empty() {
        let sm = sms.into_iter().flatten().next_back().unwrap_or_default();
        return Err(InputError::new(
            file,
            functions[0].0 + 1,
            "file",
            other_words(sm),
        ));
    }
    Ok(parts)
}

fn other_words(sm: u32) -> String {
    format!(
        "is for sm_{sm}{}, whose instruction words are others; those of {SAME_WORDS} are read",
        family(sm)
    )
}

/// Returns `text` with every line replaced; `change` gets its number, from 0.
fn map_lines(text: &str, mut change: impl FnMut(usize, &str) -> String) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(n, line)| change(n, line) + "\n").collect()
}

/// Returns `line` with spaces in the place of its first `end` bytes.
fn blank(line: &str, end: usize) -> String {
    let (before, rest) = line.split_at(end);
    before.chars().map(|_| ' ').chain(rest.chars()).collect()
}

/// Returns the GPU that a line of a listing names: `.headerflags @"... EF_CUDA_SM52 ..."`, `.target sm_52`, `code for sm_52`,
/// `arch = sm_52`, `# Arch: sm_52`.
fn architecture(line: &str) -> Option<u32> {
    let line = line.trim_start();
    let behind = match line.strip_prefix(".headerflags") {
        Some(flags) => flags.split_once("EF_CUDA_SM")?.1,
        None => [".target", "code for", "arch =", "# Arch:"]
            .iter()
            .find_map(|begin| line.strip_prefix(begin)?.trim_start().strip_prefix("sm_"))?,
    };
    let end = behind
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(behind.len());
    behind[..end].parse().ok()
}

/// Returns whether a line is an instruction at address 0. GPUs before Kepler and from Volta on have one there.
fn is_first_of_others(line: &str) -> bool {
    let line = line.trim_start();
    let line = match cuasm_code(line) {
        Some(code) => line[code..].trim_start(),
        None => line,
    };
    let behind = line.strip_prefix("/*0000*/").map(str::trim_start);
    behind.is_some_and(|code| code.starts_with(|c: char| c.is_ascii_uppercase() || c == '@'))
}

/// Returns whether a line has a schedule in the syntax of envydis: `sched (st 0x1 wr 0x0) ...`.
fn is_envydis(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.any(|word| word == "sched") && words.next() == Some("(st")
}

/// Returns where the control codes of maxas end, if a line begins with them: the barriers to wait for, those that reading and
/// writing sets, yield, stall.
fn maxas_code(line: &str) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let code = line[start..].split_whitespace().next()?;
    let fields: Vec<&str> = code.split(':').collect();
    let [wait, read, write, yields, stall] = fields[..] else {
        return None;
    };
    let hex = |text: &str| text == "-" || text == "--" || is_hex(text);
    let barrier = |text: &str| matches!(text.as_bytes(), [b'-' | b'1'..=b'6']);
    let is = wait.len() == 2
        && hex(wait)
        && barrier(read)
        && barrier(write)
        && matches!(yields, "-" | "Y" | "y")
        && stall.len() == 1
        && hex(stall);
    is.then_some(start + code.len())
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns where the control codes of CuAssembler end, if a line begins with them.
fn cuasm_code(line: &str) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let (code, _) = line[start..].strip_prefix('[')?.split_once(']')?;
    let fields: Vec<&str> = code.split(':').collect();
    let [wait, read, write, yields, stall] = fields[..] else {
        return None;
    };
    let is = wait.len() == 7
        && wait.starts_with('B')
        && read.len() == 2
        && read.starts_with('R')
        && write.len() == 2
        && write.starts_with('W')
        && matches!(yields, "-" | "Y")
        && stall.len() == 3
        && stall.starts_with('S');
    is.then_some(start + code.len() + 2)
}

/// Returns whether a line belongs to the preprocessor of maxas.
fn is_macro(line: &str) -> bool {
    const TAGS: [&str; 6] = [
        "REGISTER_MAPPING",
        "CONSTANT_MAPPING",
        "SCHEDULE_BLOCK",
        "ORDERED",
        "INCLUDE",
        "CODE",
    ];
    let tag = line
        .trim_start()
        .strip_prefix('<')
        .map(|tag| tag.trim_start_matches('/'));
    tag.is_some_and(|tag| TAGS.iter().any(|known| tag.starts_with(known)))
}
