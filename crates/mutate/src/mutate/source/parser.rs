//! Parses a file, and finds the places that can be mutated.

mod expressions;

use super::tokens::*;
use super::*;

/// The kind of block that a statement is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Combinational,
    Clocked,
    Other,
}

/// An expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    /// It consists of names, selects and concatenations of them, so an output of an instance can be connected to it.
    pub(super) target: bool,
}

impl Node {
    fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

pub(super) struct Parser<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) module: String,
    pub(super) block: Block,
    /// The parser is in the branch of a clocked block that is taken in reset.
    pub(super) in_reset: bool,
    /// Number of conditions and loops around the statement.
    pub(super) nesting: u32,
    /// Number of parts around what is being read.
    pub(super) depth: u32,
    /// Names that the combinational block has assigned unconditionally.
    pub(super) assigned: BTreeSet<String>,
    /// Above 0, nothing is recorded, because the expression is constant.
    pub(super) quiet: u32,
    /// The members of enums, each with another one of its enum.
    pub(super) enums: &'t Enums,
    pub(super) found: Vec<Candidate>,
    /// What was skipped because it is not known.
    pub(super) unread: Vec<InputError>,
}

pub(super) type Parsed<T> = Result<T, InputError>;

/// Words that begin a declaration, in which nothing is mutated.
const DECLARATIONS: &str = "localparam parameter logic wire reg genvar typedef int bit import byte shortint longint \
    integer enum struct union string real time var tri input output inout const static automatic \
    timeunit timeprecision";

/// Words that begin a check or what only checks use: no hardware.
const CHECKS: &str =
    "assert assume cover restrict property sequence covergroup clocking default final bind";

/// Directives, which end with their line.
const DIRECTIVES: &str = "`include `define `undef `timescale `default_nettype `resetall `line `pragma `celldefine \
    `endcelldefine `begin_keywords `end_keywords";

/// Tells whether `word` is in a list of words.
fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// How deep brackets, blocks and operators may be nested, and how many operators may follow each other.
pub(super) const MAX_DEPTH: u32 = 100;
pub(super) const MAX_IN_A_ROW: usize = 1000;

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
    /// Returns the end of the previous token.
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
    /// Skips to after the mark that closes what the previous token opened.
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
    /// Skips to after the `;` that ends a declaration.
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

    /// Reads `part`, one level deeper.
    fn deeper<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.no("what lies in more than 100 brackets and blocks"));
        }
        self.depth += 1;
        let done = part(self);
        self.depth -= 1;
        done
    }

    /// Reads `begin`, such parts and `end`, with their labels.
    fn begin_end(&mut self, part: fn(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.next();
        self.label();
        while !self.took("end") {
            self.deeper(part)?;
        }
        self.label();
        Ok(())
    }

    /// Reads such parts with commas between them.
    fn list(&mut self, mut part: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        part(self)?;
        while self.took(",") {
            part(self)?;
        }
        Ok(())
    }

    // ---- what is not known

    /// Reads what `read` reads. What is not known is skipped and noted.
    fn or_skip(&mut self, read: fn(&mut Self) -> Parsed<()>) -> Parsed<()> {
        let (at, found, unread) = (self.at, self.found.len(), self.unread.len());
        let (block, in_reset) = (self.block, self.in_reset);
        let (nesting, depth, quiet) = (self.nesting, self.depth, self.quiet);
        let Err(why) = read(self) else {
            return Ok(());
        };
        self.at = at;
        self.found.truncate(found);
        self.unread.truncate(unread);
        (self.block, self.in_reset) = (block, in_reset);
        (self.nesting, self.depth, self.quiet) = (nesting, depth, quiet);
        let check = is_one_of(CHECKS, self.peek());
        if self.skip().is_err() {
            return Err(why);
        }
        if !check {
            self.unread.push(why);
        }
        Ok(())
    }

    /// Skips an item or a statement: to after its `;` or the end of its blocks, with each `else` that belongs to it.
    fn skip(&mut self) -> Parsed<()> {
        if self.peek().starts_with('`') {
            self.next();
            if self.took("(") {
                self.close()?;
            }
            self.took(";");
            return Ok(());
        }
        let (mut blocks, mut ifs) = (0, 0);
        let mut before = String::new();
        loop {
            if self.ends() {
                return Err(self.no("the end of the file"));
            }
            let word = self.next();
            let mut over = false;
            match word.as_str() {
                "(" | "[" | "{" | "'(" | "'{" => self.close()?,
                "property" | "sequence" if is_one_of(CHECKS, &before) => {}
                "begin" | "case" | "casex" | "casez" | "fork" | "function" | "task"
                | "generate" | "property" | "sequence" | "clocking" | "covergroup" => blocks += 1,
                "end" | "endcase" | "join" | "join_any" | "join_none" | "endfunction"
                | "endtask" | "endgenerate" | "endproperty" | "endsequence" | "endclocking"
                | "endgroup" => {
                    if blocks == 0 {
                        return Err(self.no("the end of a block"));
                    }
                    blocks -= 1;
                    self.label();
                    over = blocks == 0;
                }
                "endmodule" => return Err(self.no("the end of the module")),
                "if" | "assert" | "assume" | "cover" if blocks == 0 => ifs += 1,
                ";" => over = blocks == 0,
                _ => {}
            }
            if over {
                if ifs == 0 || self.peek() != "else" {
                    return Ok(());
                }
                ifs -= 1;
                self.next();
            }
            before = word;
        }
    }

    /// Skips a directive: to the end of its line, or of the last of several that `\\` joins.
    fn directive(&mut self) {
        let from = self.start();
        let lines = self.text[from..].split_inclusive('\n');
        let ends = |line: &&str| !line.trim_end().ends_with('\\');
        let mut to = from;
        for line in lines {
            to += line.len();
            if ends(&line) {
                break;
            }
        }
        while !self.ends() && self.start() < to {
            self.at += 1;
        }
    }

    /// Tells whether a variable of a named type is declared here.
    fn declares(&self) -> bool {
        let name = |ahead: usize| {
            let token = &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)];
            token.sort == Sort::Name
        };
        name(0) && name(1) && [";", ",", "=", "["].contains(&self.peek_at(2))
    }

    // ---- candidates

    fn slice(&self, span: Range<usize>) -> &str {
        &self.text[span]
    }
    fn found(
        &mut self,
        span: Range<usize>,
        operator: &'static str,
        after: impl Into<Option<String>>,
    ) {
        if self.quiet == 0 {
            self.found.push(Candidate {
                span,
                module: self.module.clone(),
                operator,
                after: after.into().map(|a| one_line(&a)),
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

    pub(super) fn file(&mut self) -> Parsed<()> {
        while !self.ends() {
            match self.next().as_str() {
                "module" => self.module()?,
                "import" | "typedef" | "localparam" | "parameter" => self.declaration()?,
                "interface" | "program" | "class" | "checker" => {
                    self.at -= 1;
                    let why = self.no(&format!("{:?}", self.peek()));
                    let end = format!("end{}", self.next());
                    while self.next() != end {
                        if self.ends() {
                            return Err(why);
                        }
                    }
                    self.label();
                    self.unread.push(why);
                }
                word if is_one_of(DIRECTIVES, word) => {
                    self.at -= 1;
                    self.directive();
                }
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
        while self.took("import") {
            self.declaration()?;
        }
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
        self.or_skip(Self::known_item)
    }

    fn known_item(&mut self) -> Parsed<()> {
        match self.peek() {
            word if is_one_of(DECLARATIONS, word) => self.declaration(),
            word if is_one_of(DIRECTIVES, word) => {
                self.directive();
                Ok(())
            }
            "assign" => {
                self.next();
                let from = self.at;
                // An index there is constant, as the language wants of what `assign` drives.
                let names = self.quietly(Self::targets)?;
                self.want("=")?;
                // Not mutated: a net that only collects unused bits.
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
            "always_ff" | "always" => {
                self.next();
                self.want("@")?;
                let from = self.start();
                if !self.took("*") {
                    self.want("(")?;
                    self.close()?;
                }
                let of = self.slice(from..self.ended());
                let clocked = of.contains("posedge") || of.contains("negedge");
                self.process(match clocked {
                    true => Block::Clocked,
                    false => Block::Combinational,
                })
            }
            "function" | "task" => {
                let end = format!("end{}", self.peek());
                self.declaration()?;
                while !self.took(&end) {
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
            "begin" => self.begin_end(Self::item),
            _ if self.token().sort == Sort::Name
                && !self.peek().starts_with("always")
                && !["initial", "case"].contains(&self.peek())
                && !is_one_of(CHECKS, self.peek())
                && !self.peek().starts_with('`') =>
            {
                if self.peek_at(1) == "::" || self.declares() || self.peek_at(1) == "[" {
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
        self.or_skip(Self::known_statement)
    }

    fn known_statement(&mut self) -> Parsed<()> {
        match self.peek() {
            ";" => {
                self.next();
                Ok(())
            }
            "begin" => self.begin_end(Self::statement),
            word if is_one_of(DECLARATIONS, word) => self.declaration(),
            word if is_one_of(CHECKS, word) => Err(self.no(&format!("{word:?}"))),
            word if word.starts_with('$') || word == "break" || word == "continue" => {
                self.declaration()
            }
            "if" => self.if_statement(),
            "unique" | "unique0" | "priority" if self.peek_at(1) == "if" => {
                self.next();
                self.if_statement()
            }
            "unique" | "unique0" | "priority" | "case" | "casez" | "casex" => self.case_statement(),
            "for" | "while" | "repeat" | "foreach" => {
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
            _ if self.declares() || self.peek_at(1) == "::" => self.declaration(),
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
            self.found(condition.span(), "branches swapped", format!("!({text})"));
            for value in ["1'b1", "1'b0"] {
                self.found(condition.span(), "condition stuck", value.to_owned());
            }
            let outer = self.in_reset;
            self.in_reset = self.block == Block::Clocked && text.contains("rst");
            let done = self.nested();
            self.in_reset = outer;
            done?;
            if !self.took("else") {
                return Ok(());
            }
            // `else if` does not nest deeper.
            if self.peek() != "if" {
                return self.nested();
            }
        }
    }

    fn case_statement(&mut self) -> Parsed<()> {
        if !self.peek().starts_with("case") {
            self.next();
        }
        if !["case", "casez", "casex"].contains(&self.next().as_str()) {
            return Err(self.no("what is not a case"));
        }
        self.want("(")?;
        self.expression()?;
        self.want(")")?;
        self.took("inside");
        while !self.took("endcase") {
            if self.took("default") {
                self.took(":");
            } else {
                self.list(|parser| parser.expression().map(drop))?;
                self.want(":")?;
            }
            self.nested()?;
        }
        Ok(())
    }

    fn assignment(&mut self) -> Parsed<()> {
        let (start, before) = (self.start(), self.found.len());
        let names = self.targets()?;
        let assigned = names.iter().all(|n| self.assigned.contains(n));
        if self.block == Block::Combinational && !assigned {
            // What another index leaves out would be a latch.
            self.found.truncate(before);
        }
        if !self.took("++") && !self.took("--") {
            let marks = ["=", "+=", "-=", "|=", "&=", "^="];
            if !marks.into_iter().any(|mark| self.took(mark)) {
                self.want("<=")?;
            }
            self.expression()?;
        }
        self.want(";")?;
        let span = start..self.ended();
        match self.block {
            Block::Clocked if self.in_reset => self.found(span, "reset dropped", None),
            Block::Clocked => self.found(span, "update dropped", None),
            Block::Combinational if assigned => self.found(span, "statement dropped", None),
            Block::Combinational | Block::Other => {}
        }
        if self.nesting == 0 {
            self.assigned.extend(names);
        }
        Ok(())
    }

    /// Reads the target of an assignment. Returns the names in it.
    fn targets(&mut self) -> Parsed<Vec<String>> {
        if self.took("{") {
            let mut names = Vec::new();
            self.list(|parser| {
                names.extend(parser.deeper(Self::targets)?);
                Ok(())
            })?;
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
}
