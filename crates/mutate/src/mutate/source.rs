//! Mutants in the text of SystemVerilog: a copy of the RTL in which every mutated place reads
//! `(selected == K ? mutant : original)`, so that one model contains all of them.
//!
//! The parser knows the part of the language that this project's RTL uses, and reports an error where it
//! meets anything else. It knows no types: every mutant is made so that the place keeps its width and
//! sign in any context.
//!
//! * A conditional is as wide as the wider of its two sides, is signed only if both are, and passes the
//!   width of its context on to them. So `a & b` may become any of `a | b`, `a`, `b`: none is wider, and
//!   if `a & b` is unsigned, so is the whole. A comparison may become any other: all are one bit.
//! * A number keeps its size. A constant of a package is mutated as `constant ^ 1'b1`.
//! * A statement is left out as `if (selected != K) statement`; in combinational logic only if the same
//!   block has assigned its targets before, because otherwise the mutant would be a latch, which lint rejects.
//!
//! Not mutated: constant expressions (ranges, parameters, generate conditions, headers of for loops),
//! packages, what an instance drives, and nets called `unused_*`.

mod parser;
mod tokens;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use parser::{Block, Parser};
use reconverge_bench::input::InputError;
pub(super) use tokens::line_of;
use tokens::tokens;

/// Variable in which the RTL finds the number of the selected mutant.
pub const SELECTED: &str = "reconverge_mutants::selected";

/// Its name in text for Yosys, which has no variables in packages: a wire of every module.
pub(crate) const SELECTED_WIRE: &str = "reconverge_selected";

/// A place in a file and a possible replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Byte range in the file.
    pub span: Range<usize>,
    /// Module that contains it.
    pub module: String,
    /// Kind of change.
    pub operator: &'static str,
    /// Replacement; `None` for a statement that is left out.
    pub after: Option<String>,
}

impl Candidate {
    /// Returns the original text on one line.
    pub fn before(&self, text: &str) -> String {
        one_line(&text[self.span.clone()])
    }
}

/// Returns `text` without comments and with single spaces.
fn one_line(text: &str) -> String {
    let bare: Vec<&str> = text
        .lines()
        .map(|l| l.split("//").next().unwrap_or_default())
        .collect();
    bare.join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns every place of `text` that can be mutated, in the order of the text.
///
/// # Errors
/// The text uses something outside the part of the language that the parser knows.
pub fn candidates(file: &str, text: &str) -> Result<Vec<Candidate>, InputError> {
    let mut parser = Parser {
        file,
        text,
        tokens: tokens(file, text)?,
        at: 0,
        module: String::new(),
        block: Block::Other,
        in_reset: false,
        nesting: 0,
        depth: 0,
        assigned: BTreeSet::new(),
        quiet: 0,
        found: Vec::new(),
    };
    parser.file()?;
    let mut found = parser.found;
    found.sort_by_key(|c| (c.span.start, std::cmp::Reverse(c.span.end)));
    Ok(found)
}

/// Returns `text` with all candidates in `chosen`, each with its number. They must be sorted as [`candidates`] returns them.
pub fn schema(text: &str, chosen: &[(u32, &Candidate)]) -> String {
    let mut out = String::new();
    emit(text, 0..text.len(), chosen, &mut out);
    out
}

/// Writes `range` of `text`; all of `chosen` lie in that range.
fn emit(text: &str, range: Range<usize>, chosen: &[(u32, &Candidate)], out: &mut String) {
    let mut from = range.start;
    let mut rest = chosen;
    while let Some((_, first)) = rest.first() {
        let span = first.span.clone();
        let same = rest.iter().take_while(|(_, c)| c.span == span).count();
        let within = rest
            .iter()
            .take_while(|(_, c)| c.span.start < span.end)
            .count();
        out.push_str(&text[from..span.start]);
        let mut inner = String::new();
        emit(text, span.clone(), &rest[same..within], &mut inner);
        if first.after.is_some() {
            out.push('(');
            for (number, candidate) in &rest[..same] {
                let after = candidate.after.as_deref().unwrap_or_default();
                let _ = write!(out, "{SELECTED} == {number} ? ({after}) : ");
            }
            let _ = write!(out, "({inner}))");
        } else {
            let guards: Vec<String> = rest[..same]
                .iter()
                .map(|(number, _)| format!("{SELECTED} != {number}"))
                .collect();
            // In a block of its own, so that an `else` after it does not attach to the new `if`.
            let _ = write!(out, "begin if ({}) {inner} end", guards.join(" && "));
        }
        from = span.end;
        rest = &rest[within..];
    }
    out.push_str(&text[from..range.end]);
}

/// Returns a text with mutants as Yosys reads it for a proof. Every module gets a wire with the number of the mutant, and
/// `unique case` becomes a plain case, because Yosys takes the word as a promise that a mutant may break.
pub(super) fn for_proof(file: &str, text: &str) -> Result<String, InputError> {
    let text = text.replace(SELECTED, SELECTED_WIRE);
    let tokens = tokens(file, &text)?;
    let mut out = String::new();
    let mut from = 0;
    let (mut in_header, mut open) = (false, 0);
    for token in &tokens {
        match &text[token.span.clone()] {
            "module" => in_header = true,
            "(" => open += 1,
            ")" => open -= 1,
            ";" if in_header && open == 0 => {
                in_header = false;
                out.push_str(&text[from..token.span.end]);
                let _ = write!(out, " wire [31:0] {SELECTED_WIRE};");
                from = token.span.end;
            }
            "unique" | "priority" => {
                out.push_str(&text[from..token.span.start]);
                from = token.span.end;
            }
            _ => {}
        }
    }
    out.push_str(&text[from..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_under_a_condition_is_left_as_it_is() {
        let text = "module m(input logic a, output logic b);\n\
                    `ifdef X\n`ifndef Y\n  assign b = a & 1'b1;\n`endif\n`else\n  assign b = a | a;\n`endif\n\
                      logic c;\n  assign c = a & b;\nendmodule\n";
        let lines = |found: Vec<Candidate>| {
            let lines = found.iter().map(|c| line_of(text, c.span.start));
            lines.collect::<std::collections::BTreeSet<_>>()
        };
        let found = lines(candidates("m.sv", text).unwrap());
        assert_eq!(found, [10].into(), "only c is changed");
        let open = text.replacen("`endif", "", 1);
        let refused = candidates("m.sv", &open).err().unwrap().to_string();
        let message = "m.sv:2: source: a condition without `endif: not known to the mutator";
        assert!(refused.starts_with(message), "{refused}");
    }
}
