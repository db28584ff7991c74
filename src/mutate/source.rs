//! Mutants in the text of SystemVerilog: a copy of the RTL in which every mutated place reads
//! `(selected == K ? mutant : original)`, so that all of them are one model.
//!
//! The parser knows the part of the language that this project's RTL is written in, and says so where it
//! meets something else. It does no types: every mutant is made such that the place keeps its width and
//! its sign whatever it is part of.
//!
//! * A conditional is as wide as the wider of its two sides and signed only if both are, and passes the
//!   width it is wanted in on to them. So `a & b` may become any of `a | b`, `a`, `b`: none is wider, and
//!   if `a & b` is unsigned, so is the whole. A comparison may become any other: all are one bit.
//! * A number keeps its size. A constant of a package is mutated as `constant ^ 1'b1`.
//! * A statement is left out as `if (selected != K) statement`; in combinational logic only where the same
//!   block has given its targets a value before, for what else would be a latch, which lint finds.
//!
//! Left alone: constant expressions (ranges, parameters, generate conditions, headers of for loops),
//! packages, what an instance drives, and nets called `unused_*`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use crate::input::InputError;

/// How the RTL asks which mutant it is to be.
pub const SELECTED: &str = "reconverge_mutants::selected";

/// What it is called where Yosys is to read it, which has no variables in packages: a wire of every module.
pub(super) const SELECTED_WIRE: &str = "reconverge_selected";

/// A place in a file and what could stand there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Bytes of the file.
    pub span: Range<usize>,
    /// The module it is in.
    pub module: String,
    /// What is done to it.
    pub operator: &'static str,
    /// What stands there then; a statement that is left out has nothing.
    pub after: Option<String>,
}

impl Candidate {
    /// What stands there, on one line.
    pub fn before(&self, text: &str) -> String {
        one_line(&text[self.span.clone()])
    }
}

/// Without comments, and with single blanks.
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

/// Every place of `text` that can be mutated, in the order of the text.
///
/// # Errors
/// Text outside the part of the language that is known here.
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

/// `text` with all of `chosen` in it, each by its number. They are sorted as [`candidates`] returns them.
pub fn schema(text: &str, chosen: &[(u32, &Candidate)]) -> String {
    let mut out = String::new();
    emit(text, 0..text.len(), chosen, &mut out);
    out
}

/// Writes `range` of `text`; all of `chosen` lie in it.
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
            // A comment to the end of the line may stand last in what is quoted.
            let _ = write!(out, "({inner}))");
        } else {
            let guards: Vec<String> = rest[..same]
                .iter()
                .map(|(number, _)| format!("{SELECTED} != {number}"))
                .collect();
            // In a block of its own: an `else` after it belongs to another `if`.
            let _ = write!(out, "begin if ({}) {inner} end", guards.join(" && "));
        }
        from = span.end;
        rest = &rest[within..];
    }
    out.push_str(&text[from..range.end]);
}

/// A text with mutants in it as Yosys is to read it for a proof: every module has a wire with the number of the
/// mutant, and a `unique case` is a plain one, for Yosys takes the word as a promise that a mutant may break.
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

// ---- tokens -----------------------------------------------------------------------------------------

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Name,
    Number,
    Mark,
    Text,
    End,
}

#[derive(Clone, Debug)]
struct Token {
    sort: Sort,
    span: Range<usize>,
}

/// Longest first.
const MARKS: &[&str] = &[
    "<<<", ">>>", "===", "!==", "==?", "!=?", "~&", "~|", "~^", "^~", "&&", "||", "==", "!=", "<=",
    ">=", "<<", ">>", "**", "+:", "-:", "::", "'(", "'{", "|=", "&=", "^=", "+=", "-=", "++", "--",
];

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

fn tokens(file: &str, text: &str) -> Result<Vec<Token>, InputError> {
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
        if rest.starts_with("//") {
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
        // Whether code under a condition is there depends on the build: it is left as it is.
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
            // A `'` of another kind is a mark.
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

/// Returns the bytes up to the end of the condition that `text` begins with: to its "`endif".
fn conditional(text: &str) -> Option<usize> {
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

pub(super) fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|b| *b == b'\n').count() + 1
}

fn unknown(file: &str, text: &str, at: usize, what: &str) -> InputError {
    let why = format!("{what}: not known to the mutator, which reads only part of the language");
    InputError::new(file, line_of(text, at), "source", why).in_text(text)
}

// ---- parser -----------------------------------------------------------------------------------------

/// What a statement is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Combinational,
    Clocked,
    Other,
}

/// An expression that was read.
#[derive(Clone, Copy, Debug)]
struct Node {
    start: usize,
    end: usize,
    /// Names, selects and concatenations of them: what an output of an instance can be joined to.
    target: bool,
}

impl Node {
    fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

struct Parser<'t> {
    file: &'t str,
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    module: String,
    block: Block,
    /// In the branch of a clocked block that is taken in reset.
    in_reset: bool,
    /// Conditions and loops around a statement.
    nesting: u32,
    /// Parts around what is being read.
    depth: u32,
    /// Names that the combinational block has given a value, whatever the conditions.
    assigned: BTreeSet<String>,
    /// Above 0 nothing is recorded: a constant expression.
    quiet: u32,
    found: Vec<Candidate>,
}

type Parsed<T> = Result<T, InputError>;

/// How deep brackets, blocks and operators may lie in each other, and how many operators may stand in a row.
const MOST_DEPTH: u32 = 100;
const MOST_IN_A_ROW: usize = 1000;

/// Operators of two operands with their precedence; a higher one binds tighter.
fn precedence(mark: &str) -> Option<u32> {
    Some(match mark {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" | "~^" | "^~" => 4,
        "&" => 5,
        "==" | "!=" | "===" | "!==" | "==?" | "!=?" => 6,
        "<" | "<=" | ">" | ">=" => 7,
        "<<" | ">>" | "<<<" | ">>>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        "**" => 11,
        _ => return None,
    })
}

/// What an operator of two operands may be mistaken for, and whether one operand alone will do.
fn mistaken(mark: &str) -> (&'static str, &'static [&'static str], bool) {
    match mark {
        "&" => ("operator", &["|"], true),
        "|" => ("operator", &["&"], true),
        "^" => ("operator", &["~^"], true),
        "&&" => ("operator", &["||"], true),
        "||" => ("operator", &["&&"], true),
        "+" => ("operator", &["-"], true),
        "-" => ("operator", &["+"], true),
        "<<" => ("operator", &[">>"], false),
        ">>" => ("operator", &["<<"], false),
        "==" => ("comparison", &["!="], false),
        "!=" => ("comparison", &["=="], false),
        "<" => ("comparison", &["<=", ">="], false),
        "<=" => ("comparison", &["<", ">"], false),
        ">" => ("comparison", &[">=", "<="], false),
        ">=" => ("comparison", &[">", "<"], false),
        _ => ("", &[], false),
    }
}

impl Parser<'_> {
    // ---- tokens

    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }
    fn peek(&self) -> &str {
        &self.text[self.token().span.clone()]
    }
    fn peek_at(&self, ahead: usize) -> &str {
        let token = &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)];
        &self.text[token.span.clone()]
    }
    fn start(&self) -> usize {
        self.token().span.start
    }
    /// Where the token before ended.
    fn ended(&self) -> usize {
        self.tokens[self.at.saturating_sub(1)].span.end
    }
    fn next(&mut self) -> String {
        let text = self.peek().to_owned();
        self.at += 1;
        text
    }
    fn took(&mut self, mark: &str) -> bool {
        let is = self.peek() == mark && self.token().sort != Sort::Text;
        self.at += usize::from(is);
        is
    }
    fn want(&mut self, mark: &str) -> Parsed<()> {
        if self.took(mark) {
            Ok(())
        } else {
            let what = format!("{:?} where {mark:?} should stand", self.peek());
            Err(self.no(&what))
        }
    }
    fn no(&self, what: &str) -> InputError {
        unknown(self.file, self.text, self.start(), what)
    }
    fn ends(&self) -> bool {
        self.token().sort == Sort::End
    }
    /// Past the mark that closes what the token before has opened.
    fn close(&mut self) -> Parsed<()> {
        let mut open = 1;
        while open > 0 {
            if self.ends() {
                return Err(self.no("the end of the file inside brackets"));
            }
            match self.next().as_str() {
                "(" | "[" | "{" | "'(" | "'{" => open += 1,
                ")" | "]" | "}" => open -= 1,
                _ => {}
            }
        }
        Ok(())
    }
    /// Past the `;` that ends a declaration.
    fn declaration(&mut self) -> Parsed<()> {
        loop {
            if self.ends() {
                return Err(self.no("the end of the file in a declaration"));
            }
            match self.next().as_str() {
                ";" => return Ok(()),
                "(" | "[" | "{" | "'(" | "'{" => self.close()?,
                _ => {}
            }
        }
    }
    fn label(&mut self) {
        if self.took(":") {
            self.next();
        }
    }

    /// Reads `part`, which lies in another part.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MOST_DEPTH {
            return Err(self.no("what lies in more than 100 brackets and blocks"));
        }
        self.depth += 1;
        let done = part(self);
        self.depth -= 1;
        done
    }

    // ---- what is found

    fn slice(&self, span: Range<usize>) -> &str {
        &self.text[span]
    }
    fn found(&mut self, span: Range<usize>, operator: &'static str, after: Option<String>) {
        if self.quiet == 0 {
            self.found.push(Candidate {
                span,
                module: self.module.clone(),
                operator,
                after: after.map(|a| one_line(&a)),
            });
        }
    }
    fn quietly<T>(&mut self, what: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.quiet += 1;
        let done = what(self);
        self.quiet -= 1;
        done
    }

    // ---- modules

    fn file(&mut self) -> Parsed<()> {
        while !self.ends() {
            match self.next().as_str() {
                "module" => self.module()?,
                "package" => {
                    while self.next() != "endpackage" {
                        if self.ends() {
                            return Err(self.no("a package without an end"));
                        }
                    }
                    self.label();
                }
                _ => {
                    self.at -= 1;
                    return Err(self.no("what is neither a module nor a package"));
                }
            }
        }
        Ok(())
    }

    fn module(&mut self) -> Parsed<()> {
        self.module = self.next();
        self.declaration()?;
        while !self.took("endmodule") {
            self.item()?;
        }
        self.label();
        Ok(())
    }

    fn item(&mut self) -> Parsed<()> {
        if self.ends() {
            return Err(self.no("a module without an end"));
        }
        match self.peek() {
            "localparam" | "parameter" | "logic" | "wire" | "reg" | "genvar" | "typedef"
            | "int" | "bit" | "import" => self.declaration(),
            "assign" => {
                self.next();
                let from = self.at;
                let names = self.targets()?;
                self.want("=")?;
                // A net that only takes unused bits.
                let needless = names.iter().all(|n| n.starts_with("unused"));
                if needless {
                    self.at = from;
                    return self.declaration();
                }
                self.expression()?;
                self.want(";")
            }
            "always_comb" => {
                self.next();
                self.process(Block::Combinational)
            }
            "always_ff" => {
                self.next();
                self.want("@")?;
                self.want("(")?;
                self.close()?;
                self.process(Block::Clocked)
            }
            "function" => {
                self.declaration()?;
                while !self.took("endfunction") {
                    self.statement()?;
                }
                self.label();
                Ok(())
            }
            "generate" | "endgenerate" | ";" => {
                self.next();
                Ok(())
            }
            "if" | "for" => {
                let is_if = self.next() == "if";
                self.want("(")?;
                self.close()?;
                self.deeper(Self::item)?;
                if is_if && self.took("else") {
                    self.deeper(Self::item)?;
                }
                Ok(())
            }
            "begin" => {
                self.next();
                self.label();
                while !self.took("end") {
                    self.deeper(Self::item)?;
                }
                self.label();
                Ok(())
            }
            _ if self.token().sort == Sort::Name
                && !self.peek().starts_with("always")
                && !self.peek().starts_with('`') =>
            {
                if self.peek_at(1) == "::" {
                    return self.declaration();
                }
                self.instance()
            }
            other => {
                let what = format!("{other:?}");
                Err(self.no(&what))
            }
        }
    }

    fn instance(&mut self) -> Parsed<()> {
        self.next();
        if self.took("#") {
            self.want("(")?;
            self.close()?;
        }
        self.next();
        self.want("(")?;
        while !self.took(")") {
            self.want(".")?;
            self.next();
            if self.took("(") && !self.took(")") {
                let before = self.found.len();
                let node = self.expression()?;
                if node.target {
                    // It may be an output.
                    self.found.truncate(before);
                }
                self.want(")")?;
            }
            self.took(",");
        }
        self.want(";")
    }

    // ---- statements

    fn process(&mut self, block: Block) -> Parsed<()> {
        self.block = block;
        self.assigned.clear();
        self.nesting = 0;
        let done = self.statement();
        self.block = Block::Other;
        done
    }

    fn nested(&mut self) -> Parsed<()> {
        self.nesting += 1;
        let done = self.deeper(Self::statement);
        self.nesting -= 1;
        done
    }

    fn statement(&mut self) -> Parsed<()> {
        match self.peek() {
            ";" => {
                self.next();
                Ok(())
            }
            "begin" => {
                self.next();
                self.label();
                while !self.took("end") {
                    self.deeper(Self::statement)?;
                }
                self.label();
                Ok(())
            }
            "logic" | "int" | "bit" | "automatic" | "localparam" => self.declaration(),
            "if" => self.if_statement(),
            "unique" | "priority" | "case" => self.case_statement(),
            "for" => {
                self.next();
                self.want("(")?;
                self.close()?;
                self.nested()
            }
            "return" => {
                self.next();
                self.expression()?;
                self.want(";")
            }
            _ if self.token().sort == Sort::Name || self.peek() == "{" => self.assignment(),
            other => {
                let what = format!("a statement that begins with {other:?}");
                Err(self.no(&what))
            }
        }
    }

    fn if_statement(&mut self) -> Parsed<()> {
        loop {
            self.want("if")?;
            self.want("(")?;
            let condition = self.expression()?;
            self.want(")")?;
            let text = self.slice(condition.span()).to_owned();
            self.found(
                condition.span(),
                "branches swapped",
                Some(format!("!({text})")),
            );
            self.found(condition.span(), "condition stuck", Some("1'b1".to_owned()));
            self.found(condition.span(), "condition stuck", Some("1'b0".to_owned()));
            let outer = self.in_reset;
            self.in_reset = self.block == Block::Clocked && text.contains("rst");
            let done = self.nested();
            self.in_reset = outer;
            done?;
            if !self.took("else") {
                return Ok(());
            }
            // A long chain is not deep.
            if self.peek() != "if" {
                return self.nested();
            }
        }
    }

    fn case_statement(&mut self) -> Parsed<()> {
        if self.peek() != "case" {
            self.next();
        }
        self.want("case")?;
        self.want("(")?;
        self.expression()?;
        self.want(")")?;
        while !self.took("endcase") {
            if self.took("default") {
                self.took(":");
            } else {
                loop {
                    self.expression()?;
                    if !self.took(",") {
                        break;
                    }
                }
                self.want(":")?;
            }
            self.nested()?;
        }
        Ok(())
    }

    fn assignment(&mut self) -> Parsed<()> {
        let start = self.start();
        let names = self.targets()?;
        if !self.took("=") {
            self.want("<=")?;
        }
        self.expression()?;
        self.want(";")?;
        let span = start..self.ended();
        match self.block {
            Block::Clocked if self.in_reset => self.found(span, "reset dropped", None),
            Block::Clocked => self.found(span, "update dropped", None),
            Block::Combinational => {
                if names.iter().all(|n| self.assigned.contains(n)) {
                    self.found(span, "statement dropped", None);
                }
            }
            Block::Other => {}
        }
        if self.nesting == 0 {
            self.assigned.extend(names);
        }
        Ok(())
    }

    /// What is assigned to; the names in it.
    fn targets(&mut self) -> Parsed<Vec<String>> {
        if self.took("{") {
            let mut names = Vec::new();
            loop {
                names.extend(self.deeper(Self::targets)?);
                if !self.took(",") {
                    break;
                }
            }
            self.want("}")?;
            return Ok(names);
        }
        if self.token().sort != Sort::Name {
            return Err(self.no("what is assigned to"));
        }
        let name = self.next();
        self.selects()?;
        Ok(vec![name])
    }

    // ---- expressions

    fn expression(&mut self) -> Parsed<Node> {
        self.deeper(Self::conditional)
    }

    fn conditional(&mut self) -> Parsed<Node> {
        let condition = self.binary(0)?;
        if !self.took("?") {
            return Ok(condition);
        }
        let yes = self.expression()?;
        self.want(":")?;
        let no = self.expression()?;
        let node = Node {
            start: condition.start,
            end: no.end,
            target: false,
        };
        let [c, y, n] = [condition, yes, no].map(|e| self.slice(e.span()).to_owned());
        self.found(
            node.span(),
            "branches swapped",
            Some(format!("({c}) ? ({n}) : ({y})")),
        );
        Ok(node)
    }

    fn binary(&mut self, least: u32) -> Parsed<Node> {
        let mut left = self.unary()?;
        let mut in_a_row = 0;
        while let Some(level) = precedence(self.peek()).filter(|p| *p > least) {
            in_a_row += 1;
            if in_a_row > MOST_IN_A_ROW {
                return Err(self.no("more than 1000 operators in a row"));
            }
            let mark = self.next();
            let right = self.binary(level)?;
            let node = Node {
                start: left.start,
                end: right.end,
                target: false,
            };
            let [l, r] = [left, right].map(|e| self.slice(e.span()).to_owned());
            let (operator, others, either) = mistaken(&mark);
            for other in others {
                self.found(node.span(), operator, Some(format!("({l}) {other} ({r})")));
            }
            if either {
                self.found(node.span(), "operand dropped", Some(l));
                // A difference without what it is taken from is no slip of the pen.
                if mark != "-" {
                    self.found(node.span(), "operand dropped", Some(r));
                }
            }
            left = node;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Node> {
        let start = self.start();
        let mark = self.peek().to_owned();
        if !matches!(
            mark.as_str(),
            "~" | "!" | "&" | "|" | "^" | "~&" | "~|" | "~^" | "-" | "+"
        ) || self.token().sort != Sort::Mark
        {
            return self.primary();
        }
        self.next();
        let of = self.deeper(Self::unary)?;
        let node = Node {
            start,
            end: of.end,
            target: false,
        };
        let inner = self.slice(of.span()).to_owned();
        let mut say = |operator, after| self.found(node.span(), operator, Some(after));
        match mark.as_str() {
            "~" => say("negation", inner),
            "!" => say("negation", format!("|({inner})")),
            "&" => say("operator", format!("|({inner})")),
            "|" => {
                say("operator", format!("&({inner})"));
                say("negation", format!("~|({inner})"));
            }
            "~|" => {
                say("operator", format!("~&({inner})"));
                say("negation", format!("|({inner})"));
            }
            "~&" => say("negation", format!("&({inner})")),
            _ => {}
        }
        Ok(node)
    }

    fn primary(&mut self) -> Parsed<Node> {
        let start = self.start();
        let sort = self.token().sort;
        let mut target = false;
        if sort == Sort::Number {
            let number = self.next();
            if self.peek() == "'(" {
                return self.cast(start);
            }
            for after in other_numbers(&number) {
                self.found(start..self.ended(), "constant", Some(after));
            }
        } else if sort == Sort::Name {
            let name = self.next();
            if self.took("::") {
                self.next();
                let text = self.slice(start..self.ended()).to_owned();
                self.found(
                    start..self.ended(),
                    "constant",
                    Some(format!("{text} ^ 1'b1")),
                );
            } else if self.peek() == "'(" {
                return self.cast(start);
            } else if self.took("(") {
                // Of the functions of the language only $clog2 and its like: constants.
                self.quiet += u32::from(name.starts_with('$'));
                while !self.took(")") {
                    self.expression()?;
                    self.took(",");
                }
                self.quiet -= u32::from(name.starts_with('$'));
            } else {
                self.selects()?;
                target = true;
            }
        } else if self.took("(") {
            self.expression()?;
            self.want(")")?;
        } else if self.took("{") {
            target = self.concatenation()?;
        } else {
            let what = format!("{:?} in an expression", self.peek());
            return Err(self.no(&what));
        }
        Ok(Node {
            start,
            end: self.ended(),
            target,
        })
    }

    /// `{a, b}` or `{N{a}}` behind its first brace; whether it can be assigned to.
    fn concatenation(&mut self) -> Parsed<bool> {
        let before = self.found.len();
        let mut target = self.expression()?.target;
        if self.took("{") {
            // The first was how often.
            self.found.truncate(before);
            loop {
                self.expression()?;
                if !self.took(",") {
                    break;
                }
            }
            self.want("}")?;
            self.want("}")?;
            return Ok(false);
        }
        while self.took(",") {
            target &= self.expression()?.target;
        }
        self.want("}")?;
        Ok(target)
    }

    fn cast(&mut self, start: usize) -> Parsed<Node> {
        self.want("'(")?;
        self.expression()?;
        self.want(")")?;
        Ok(Node {
            start,
            end: self.ended(),
            target: false,
        })
    }

    /// `[...]` and `.member` behind a name. What is no constant may be mutated: which bit, where a part begins.
    fn selects(&mut self) -> Parsed<()> {
        loop {
            if self.took("[") {
                let before = self.found.len();
                self.expression()?;
                if self.took(":") {
                    self.found.truncate(before);
                    self.quietly(Self::expression)?;
                } else if self.took("+:") || self.took("-:") {
                    self.quietly(Self::expression)?;
                }
                self.want("]")?;
            } else if self.peek() == "." {
                self.next();
                self.next();
            } else {
                return Ok(());
            }
        }
    }
}

/// What a number may be mistaken for: one more, one less, in as many bits.
fn other_numbers(number: &str) -> Vec<String> {
    let digits = number.replace('_', "");
    let Some((size, rest)) = digits.split_once('\'') else {
        // A plain number is of 32 bits, and seldom anything but a factor or a place.
        return match digits.parse::<u32>() {
            Ok(n) if n < u32::MAX => vec![(n + 1).to_string()],
            _ => Vec::new(),
        };
    };
    match rest {
        "0" if size.is_empty() => return vec!["'1".to_owned()],
        "1" if size.is_empty() => return vec!["'0".to_owned()],
        _ => {}
    }
    let (base, radix) = match rest.chars().next() {
        Some('b' | 'B') => ('b', 2),
        Some('o' | 'O') => ('o', 8),
        Some('d' | 'D') => ('d', 10),
        Some('h' | 'H') => ('h', 16),
        _ => return Vec::new(),
    };
    let (Ok(size), Ok(value)) = (size.parse::<u32>(), u64::from_str_radix(&rest[1..], radix))
    else {
        return Vec::new();
    };
    if !(1..=64).contains(&size) {
        return Vec::new();
    }
    let mask = u64::MAX >> (64 - size);
    let show = |v: u64| match base {
        'b' => format!("{size}'b{v:0width$b}", width = size as usize),
        'o' => format!("{size}'o{v:o}"),
        'h' => format!("{size}'h{v:0width$x}", width = size.div_ceil(4) as usize),
        _ => format!("{size}'d{v}"),
    };
    let mut others = vec![value.wrapping_add(1) & mask, value.wrapping_sub(1) & mask];
    others.dedup();
    others.into_iter().map(show).collect()
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
