//! Splits SystemVerilog into tokens.

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Name,
    Number,
    Mark,
    Text,
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) sort: Sort,
    pub(super) span: Range<usize>,
}

/// Marks of several characters, the longest first.
pub(super) const MARKS: &[&str] = &[
    "<<<", ">>>", "===", "!==", "==?", "!=?", "~&", "~|", "~^", "^~", "&&", "||", "==", "!=", "<=",
    ">=", "<<", ">>", "**", "+:", "-:", "::", "'(", "'{", "|=", "&=", "^=", "+=", "-=", "++", "--",
];

pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

pub(super) fn tokens(file: &str, text: &str) -> Result<Vec<Token>, InputError> {
    let mut list = Vec::new();
    let mut at = 0;
    let run = |from: usize, keep: fn(char) -> bool| {
        text[from..]
            .find(|c| !keep(c))
            .map_or(text.len(), |n| from + n)
    };
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let end = |from: &str, mark: &str| from.find(mark).map(|n| n + mark.len());
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if rest.starts_with("//") || rest.starts_with("`line ") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") || rest.starts_with("(* ") {
            let mark = if c == '/' { "*/" } else { "*)" };
            let Some(n) = end(rest, mark) else {
                return Err(unknown(file, text, at, "a comment without an end"));
            };
            at += n;
            continue;
        }
        // Whether code under a condition exists depends on the build, so it is not mutated.
        if rest.starts_with("`ifdef") || rest.starts_with("`ifndef") {
            let Some(n) = conditional(rest) else {
                return Err(unknown(file, text, at, "a condition without `endif"));
            };
            at += n;
            continue;
        }
        let (sort, to) = if c == '"' {
            match end(&rest[1..], "\"") {
                Some(n) => (Sort::Text, at + 1 + n),
                None => return Err(unknown(file, text, at, "a text without an end")),
            }
        } else if c.is_ascii_digit()
            || (c == '\'' && !rest.starts_with("'(") && !rest.starts_with("'{"))
        {
            let digits = run(at, |c| c.is_ascii_digit() || c == '_');
            let based = text[digits..].strip_prefix('\'').is_some_and(|t| {
                let t = t.trim_start_matches(['s', 'S']);
                t.starts_with(|c: char| "bBoOdDhH01xXzZ".contains(c))
            });
            let to = if based {
                run(digits + 1, is_name)
            } else {
                digits
            };
            // Any other `'` is a mark.
            match to > at {
                true => (Sort::Number, to),
                false => (Sort::Mark, at + 1),
            }
        } else if is_name(c) || c == '`' {
            (Sort::Name, run(at + 1, is_name))
        } else {
            let mark = MARKS.iter().find(|m| rest.starts_with(**m));
            (Sort::Mark, at + mark.map_or(c.len_utf8(), |m| m.len()))
        };
        list.push(Token { sort, span: at..to });
        at = to;
    }
    list.push(Token {
        sort: Sort::End,
        span: text.len()..text.len(),
    });
    Ok(list)
}

/// Returns the number of bytes of the conditional that `text` begins with, up to and including its "`endif".
pub(super) fn conditional(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, _) in text.match_indices('`') {
        let name = |word: &str| {
            let rest = text[at + 1..].strip_prefix(word);
            rest.is_some_and(|rest| !rest.starts_with(is_name))
        };
        if name("ifdef") || name("ifndef") {
            depth += 1;
        } else if name("endif") {
            depth -= 1;
            if depth == 0 {
                return Some(at + "`endif".len());
            }
        }
    }
    None
}

/// What follows the name of what is not known.
pub(super) const NOT_KNOWN: &str = ": not known to the mutator";

pub(in crate::mutate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|b| *b == b'\n').count() + 1
}

pub(super) fn unknown(file: &str, text: &str, at: usize, what: &str) -> InputError {
    let why = format!("{what}{NOT_KNOWN}, which reads only part of the language");
    InputError::new(file, line_of(text, at), "source", why).in_text(text)
}
