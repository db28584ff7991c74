//! Mutants in the text of SystemVerilog: a copy of the RTL in which every mutated place reads
//! `(selected == K ? mutant : original)`, so that one model contains all of them.
//!
//! The parser knows part of the language. An item or a statement that it does not know is left as it is, and counted. It knows no types
//! but the enums of packages: every mutant is made so that the place keeps its width and sign in any context.
//!
//! * A conditional is as wide as the wider of its two sides, is signed only if both are, and passes the
//!   width of its context on to them. So `a & b` may become any of `a | b`, `a`, `b`: none is wider, and
//!   if `a & b` is unsigned, so is the whole. A comparison may become any other: all are one bit.
//! * A number keeps its size. A constant of a package is mutated as `constant ^ 1'b1`, a member of an enum into the next member.
//! * A statement is left out as `if (selected != K) statement`; in combinational logic only if the same
//!   block has assigned its targets before, because otherwise the mutant would be a latch, which lint rejects.
//!
//! Not mutated: constant expressions (ranges, parameters, generate conditions, headers of for loops),
//! packages, what an instance drives, and nets called `unused_*`.

mod for_proof;
mod parser;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

pub(super) use for_proof::for_proof;
use parser::{Block, Parser};
use reconverge_bench::input::InputError;
pub(super) use tokens::line_of;
use tokens::{NOT_KNOWN, tokens};

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

/// Directive that names the file and line of what follows.
const LINE: &str = "`line ";

/// Returns the file and line of byte `at` of `text`, the contents of `file`: those that the last directive `line` before it names.
pub fn place_of(file: &str, text: &str, at: usize) -> (String, usize) {
    let own = || (file.to_owned(), line_of(text, at));
    let before = &text[..at];
    let directive = match before.rfind("\n`line ") {
        Some(found) => found + 1,
        None if before.starts_with(LINE) => 0,
        None => return own(),
    };
    let named = |directive: &str| {
        let (line, rest) = directive.strip_prefix(LINE)?.split_once(" \"")?;
        let name = Path::new(rest.split_once('"')?.0).file_name()?;
        Some((
            name.to_string_lossy().into_owned(),
            line.parse::<usize>().ok()?,
        ))
    };
    let Some((directive, rest)) = before[directive..].split_once('\n') else {
        return own();
    };
    let lines = rest.bytes().filter(|b| *b == b'\n').count();
    named(directive).map_or_else(own, |(file, line)| (file, line + lines))
}

/// Returns `text` without comments and with single spaces.
fn one_line(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with(LINE));
    let bare = lines.map(|line| line.split("//").next().unwrap_or_default());
    let words: Vec<&str> = bare.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

/// The members of the enums of packages, `package::member`, each with the next member of its enum, if there is another.
pub type Enums = BTreeMap<String, Option<String>>;

/// Adds the enums of the packages in `text`.
///
/// # Errors
/// The text cannot be split into tokens.
pub fn enums(file: &str, text: &str, all: &mut Enums) -> Result<(), InputError> {
    let tokens = tokens(file, text)?;
    let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.span.clone()]);
    let mut package = "";
    for at in 0..tokens.len() {
        match word(at) {
            "package" => package = word(at + 1),
            "endpackage" => package = "",
            "enum" if !package.is_empty() => {
                let ends = |at: &usize| ["{", ";", ""].contains(&word(*at));
                let open = (at..tokens.len()).find(ends).unwrap_or(at);
                let (mut members, mut depth) = (Vec::new(), 0);
                for at in open..tokens.len() {
                    match word(at) {
                        "{" | "(" | "[" | "'(" | "'{" => depth += 1,
                        "}" | ")" | "]" => depth -= 1,
                        name if depth == 1 && ["{", ","].contains(&word(at - 1)) => {
                            members.push(format!("{package}::{name}"));
                        }
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
                for (n, member) in members.iter().enumerate() {
                    let next = &members[(n + 1) % members.len()];
                    let other = (next != member).then(|| next.clone());
                    all.insert(member.clone(), other);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Places that can be mutated, and parts that are not known.
#[derive(Debug, Default)]
pub struct Places {
    /// The places, in the order of the text.
    pub candidates: Vec<Candidate>,
    /// Items and statements that are left as they are, as `file:line: what`.
    pub unread: Vec<String>,
}

/// Returns every place of `text` that can be mutated; `enums` are those of all files.
///
/// # Errors
/// The text does not consist of modules and packages, or an item or statement that is not known has no end.
pub fn candidates(file: &str, text: &str, enums: &Enums) -> Result<Places, InputError> {
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
        enums,
        found: Vec::new(),
        unread: Vec::new(),
    };
    parser.file()?;
    let mut candidates = parser.found;
    candidates.sort_by_key(|c| (c.span.start, std::cmp::Reverse(c.span.end)));
    let unread = parser.unread.iter().map(|why| {
        let what = why.message.split(NOT_KNOWN).next().unwrap_or_default();
        let begins = text.split_inclusive('\n').take(why.line - 1).map(str::len);
        let (file, line) = place_of(file, text, begins.sum());
        format!("{file}:{line}: {what}")
    });
    Ok(Places {
        candidates,
        unread: unread.collect(),
    })
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
        let begins_within = |(_, c): &&(u32, &Candidate)| c.span.start < span.end;
        let within = rest.iter().take_while(begins_within).count();
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
            let guards = rest[..same].iter();
            let guards = guards.map(|(number, _)| format!("{SELECTED} != {number}"));
            let guards: Vec<String> = guards.collect();
            // In a block of its own, so that an `else` after it does not attach to the new `if`.
            let _ = write!(out, "begin if ({}) {inner} end", guards.join(" && "));
        }
        from = span.end;
        rest = &rest[within..];
    }
    out.push_str(&text[from..range.end]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_under_a_condition_is_left_as_it_is() {
        let text = "module m(input logic a, output logic b);\n\
                    `ifdef X\n`ifndef Y\n  assign b = a & 1'b1;\n`endif\n`else\n  assign b = a | a;\n`endif\n\
                      logic c;\n  assign c = a & b;\nendmodule\n";
        let lines = |found: Places| {
            let lines = (found.candidates.iter()).map(|c| line_of(text, c.span.start));
            lines.collect::<BTreeSet<_>>()
        };
        let none = Enums::new();
        let found = lines(candidates("m.sv", text, &none).unwrap());
        assert_eq!(found, [10].into(), "only c is changed");
        let open = text.replacen("`endif", "", 1);
        let refused = candidates("m.sv", &open, &none).err().unwrap().to_string();
        let message = "m.sv:2: source: a condition without `endif: not known to the mutator";
        assert!(refused.starts_with(message), "{refused}");
    }

    /// Returns what stands in the mutants of `text`, and what was not read.
    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let mut all = Enums::new();
        enums("m.sv", text, &mut all).unwrap();
        let found = candidates("m.sv", text, &all).unwrap();
        let after = found.candidates.into_iter();
        let after = after.map(|c| c.after.unwrap_or_default());
        (after.collect(), found.unread)
    }

    /// Regression: a cast to a size in brackets or to a type of a package was refused, with all other mutants.
    #[test]
    fn casts_of_every_form_are_read() {
        for (cast, inner) in [
            ("(A + 1)'(x)", ""),
            ("p::type_t'(x & y)", "x | y, x, y"),
            ("$clog2(A)'(2'd1)", "2'd2, 2'd0"),
            ("type_t'(x ^ y)", "x ~^ y, x, y"),
            ("8'(x)", ""),
            ("p::T[0]'(x)", ""),
        ] {
            let text = format!(
                "module m(input logic x, y, output logic z);\n  assign z = {cast};\nendmodule\n"
            );
            let (after, unread) = read(&text);
            let after = after.join(", ").replace(['(', ')'], "");
            assert_eq!((after.as_str(), unread), (inner, Vec::new()), "{cast}");
        }
    }

    /// Regression: `member ^ 1'b1` is no value of an enum, so no mutant was built.
    #[test]
    fn a_member_of_an_enum_becomes_another_member() {
        let text = "package p;\n  typedef enum logic [1:0] {IDLE, RUN = 2'd2, DONE} state_e;\n  \
                    typedef enum {ONE} one_e;\n  localparam logic W = 1'b1;\nendpackage\n\
                    module m(input p::state_e s, output logic z);\n  \
                    assign z = s == p::DONE & p::W & p::ONE;\nendmodule\n";
        let (after, _) = read(text);
        let constants: Vec<_> = after
            .iter()
            .filter(|a| !a.contains(['(', '=', '&']))
            .collect();
        assert!(constants.contains(&&"p::IDLE".to_owned()), "{after:?}");
        assert!(constants.contains(&&"p::W ^ 1'b1".to_owned()), "{after:?}");
        assert!(!after.iter().any(|a| a.contains("ONE ^")), "{after:?}");
    }

    /// Regression: a mutant of such an index was a latch, which kept the referee from reading all others.
    #[test]
    fn an_index_of_what_is_driven_stays() {
        let text = "module m(input logic x, output logic [3:0] w, y, z);\n  assign y[0] = x;\n  \
                    always_comb begin\n    w[1] = x;\n    z = '0;\n    z[2] = x;\n  end\nendmodule\n";
        let (after, unread) = read(text);
        assert_eq!((after.join(", ").as_str(), unread.len()), ("'1, , 3", 0));
    }

    /// Regression: one word that the mutator did not know made it refuse the whole design.
    #[test]
    fn what_is_not_known_is_left_as_it_is_and_counted() {
        let text = "`timescale 1ns/1ps\nimport p::*;\nmodule m import p::*; #(parameter int A = 1) (input logic c, x, y, output logic z);\n  \
                    state_e s_q, s_d;\n  `SOME(macro)\n  initial z = x;\n  always_latch if (x) z = y;\n  \
                    always_comb begin\n    z = x;\n    if (x) wait (y); else z = x & y;\n    {>>{z}} = x;\n  end\n  \
                    assert property (@(posedge c) x |-> y) else $error(\"no\");\n  \
                    assign z = x | y;\nendmodule\n";
        let (after, unread) = read(text);
        assert!(after.contains(&"(x) & (y)".to_owned()), "{after:?}");
        assert!(after.contains(&"(x) | (y)".to_owned()), "{after:?}");
        let lines: Vec<_> = unread
            .iter()
            .map(|u| u.split(": ").next().unwrap())
            .collect();
        assert_eq!(
            lines,
            ["m.sv:5", "m.sv:6", "m.sv:7", "m.sv:10", "m.sv:11"],
            "{unread:?}"
        );
        // What is counted stays: the text with all mutants has it as it was.
        let found = candidates("m.sv", text, &Enums::new()).unwrap();
        let all: Vec<_> = (1..).zip(&found.candidates).collect();
        let mutated = schema(text, &all);
        for kept in [
            "`SOME(macro)",
            "always_latch if (x) z = y;",
            "{>>{z}} = x;",
            "wait (y)",
        ] {
            assert!(mutated.contains(kept), "{mutated}");
        }
    }
}
