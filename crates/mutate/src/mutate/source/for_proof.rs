//! The text with mutants as Yosys reads it for a proof.
//!
//! Yosys takes a register for one with an asynchronous reset only if the first condition of its block is the reset itself, and if no
//! other condition stands in that branch. So
//!
//! * a reset with mutants becomes a wire, which stands for it in the list of events too. A mutant of the condition is then one of the
//!   reset, also where the simulator would run the block only at an edge of the right one;
//! * an assignment in that branch that a mutant leaves out becomes one of the register to itself.

use super::tokens::Token;
use super::*;

/// A change of a text: what stands in a range of it.
type Edit = (Range<usize>, String);

/// Returns a text with mutants as Yosys reads it. Every module gets a wire with the number of the mutant, and `unique case` becomes a
/// plain case, because Yosys takes the word as a promise that a mutant may break.
pub(in crate::mutate) fn for_proof(file: &str, text: &str) -> Result<String, InputError> {
    let text = text.replace(SELECTED, SELECTED_WIRE);
    let tokens = tokens(file, &text)?;
    let words = Words {
        text: &text,
        tokens: &tokens,
    };
    let mut edits: Vec<Edit> = Vec::new();
    let (mut in_header, mut open, mut imports) = (false, 0, false);
    for (at, token) in tokens.iter().enumerate() {
        match words.at(at) {
            "module" => (in_header, open) = (true, 0),
            "import" => imports = in_header,
            "(" | "'(" => open += 1,
            ")" => open -= 1,
            ";" if imports => imports = false,
            ";" if in_header && open == 0 => {
                in_header = false;
                let end = token.span.end;
                edits.push((end..end, format!(" wire [31:0] {SELECTED_WIRE};")));
            }
            "unique" | "priority" => edits.push((token.span.clone(), String::new())),
            "always" | "always_ff" => {
                // What does not have the form that is known stays as it is.
                let _ = words.process(at, &mut edits);
            }
            _ => {}
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let (mut out, mut from) = (String::new(), 0);
    for (range, with) in edits {
        if range.start < from {
            continue;
        }
        out.push_str(&text[from..range.start]);
        // Lines keep their numbers.
        let lines = |text: &str| text.bytes().filter(|b| *b == b'\n').count();
        let gone = lines(&text[range.clone()]).saturating_sub(lines(&with));
        out.push_str(&with);
        out.push_str(&"\n".repeat(gone));
        from = range.end;
    }
    out.push_str(&text[from..]);
    Ok(out)
}

struct Words<'t> {
    text: &'t str,
    tokens: &'t [Token],
}

impl<'t> Words<'t> {
    fn at(&self, at: usize) -> &'t str {
        let token = self.tokens.get(at);
        token.map_or("", |token| &self.text[token.span.clone()])
    }

    /// Returns the text of these tokens.
    fn text(&self, tokens: Range<usize>) -> &'t str {
        match &self.tokens[tokens] {
            [first, .., last] => &self.text[first.span.start..last.span.end],
            [one] => &self.text[one.span.clone()],
            [] => "",
        }
    }

    /// Returns the first token from `at` that `is` and that lies in no more brackets and blocks than `at`.
    fn find(&self, at: usize, is: impl Fn(&str) -> bool) -> Option<usize> {
        let mut depth = 0;
        for at in at..self.tokens.len() {
            match self.at(at) {
                word if depth == 0 && is(word) => return Some(at),
                "(" | "[" | "{" | "'(" | "'{" | "begin" => depth += 1,
                ")" | "]" | "}" | "end" if depth == 0 => return None,
                ")" | "]" | "}" | "end" => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// Changes the block that begins at the token `at`, if a mutant stands where only an asynchronous reset may.
    fn process(&self, at: usize, edits: &mut Vec<Edit>) -> Option<()> {
        let is = |at: usize, word: &str| (self.at(at) == word).then_some(());
        is(at + 1, "@")?;
        is(at + 2, "(")?;
        let events_end = self.find(at + 3, |word| word == ")")?;
        // A macro writes its arguments in brackets.
        let name = |edge: usize| edge + if self.at(edge + 1) == "(" { 2 } else { 1 };
        let events: Vec<(usize, usize)> = (at + 3..events_end)
            .filter(|at| ["posedge", "negedge"].contains(&self.at(*at)))
            .map(|edge| (edge, name(edge)))
            .collect();
        if events.len() < 2 {
            return None;
        }
        let mut first = events_end + 1;
        while self.at(first) == "begin" {
            first += if self.at(first + 1) == ":" { 3 } else { 1 };
        }
        is(first, "if")?;
        is(first + 1, "(")?;
        let closed = self.find(first + 2, |word| word == ")")?;
        let condition = first + 2..closed;
        let of = |name: &str| condition.clone().any(|at| self.at(at) == name);
        // Before the block a wire can be declared, but not if the block is all that a condition or a loop is about.
        let alone = at == 0 || [")", "else", ":"].contains(&self.at(at - 1));
        if of(SELECTED_WIRE) && !alone {
            let (edge, name) = *events.iter().find(|(_, name)| of(self.at(*name)))?;
            let wire = format!("reconverge_reset_{at}");
            let asserted = one_line(self.text(condition.clone()));
            let (value, when) = match self.at(edge) {
                "negedge" => (format!("!({asserted})"), format!("!{wire}")),
                _ => (format!("!(!({asserted}))"), wire.clone()),
            };
            let begins = self.tokens[at].span.start;
            edits.push((begins..begins, format!("wire {wire} = {value}; ")));
            edits.push((self.tokens[name].span.clone(), wire));
            let span = self.tokens[condition.start].span.start..self.tokens[closed - 1].span.end;
            edits.push((span, when));
        }
        let branch_end = match self.at(closed + 1) {
            "begin" => self.find(closed + 2, |word| word == "end")?,
            _ => self.find(closed + 1, |word| word == ";")?,
        };
        for at in closed + 1..branch_end {
            edits.extend(self.left_out(at));
        }
        Some(())
    }

    /// Returns the change of `begin if (selected != K) TARGET <= VALUE; end` at the token `at`.
    fn left_out(&self, at: usize) -> Option<Edit> {
        let starts = ["begin", "if", "(", SELECTED_WIRE, "!="];
        if !(at..).zip(starts).all(|(at, word)| self.at(at) == word) {
            return None;
        }
        let closed = self.find(at + 3, |word| word == ")")?;
        let assigns = self.find(closed + 1, |word| word == "<=" || word == ";")?;
        let over = self.find(assigns + 1, |word| word == ";")?;
        // A pattern needs a type from its context.
        if self.at(assigns) != "<=" || self.at(over + 1) != "end" || self.at(assigns + 1) == "'{" {
            return None;
        }
        let (selected, target) = (self.text(at + 3..closed), self.text(closed + 1..assigns));
        let with = format!(
            "{target} <= ({selected}) ? ({}) : {};",
            self.text(assigns + 1..over),
            one_line(target)
        );
        Some((
            self.tokens[at].span.start..self.tokens[over + 1].span.end,
            with,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a cast in a package above a module, or in its header, moved the wire to another place.
    #[test]
    fn the_number_of_the_mutant_is_a_wire_behind_the_header() {
        let text = "package p;\n  localparam int unsigned A = unsigned'(1);\nendpackage\n\
                    module m #(parameter int unsigned W = unsigned'(p::A)) (input logic a);\nendmodule\n";
        let proof = for_proof("m.sv", text).unwrap();
        assert!(
            proof.contains("(input logic a); wire [31:0] reconverge_selected;\n"),
            "{proof}"
        );
    }

    /// Regression: one mutant of the reset or in its branch kept Yosys from reading the RTL with all others.
    #[test]
    fn the_reset_of_a_block_with_mutants_is_a_wire() {
        let text = "module m(input logic c, rst_n, d, output logic q);\n  \
                    always_ff @(posedge (c) or negedge (rst_n)) begin\n    \
                    if (!rst_n) q <= 1'b0;\n    else q <= d;\n  end\nendmodule\n";
        let found = candidates("m.sv", text, &Enums::new()).unwrap().candidates;
        let all: Vec<_> = (1..).zip(&found).collect();
        let proof = for_proof("m.sv", &schema(text, &all)).unwrap();
        let line = |n: usize| proof.lines().nth(n).unwrap();
        assert!(line(1).contains("or negedge (reconverge_reset_"), "{proof}");
        assert!(
            line(1).contains("= !((reconverge_selected == 1 ? "),
            "{proof}"
        );
        assert!(line(2).contains("if (!reconverge_reset_"), "{proof}");
        assert!(!line(2).contains("begin"), "{proof}");
        assert!(line(2).contains(") : q;"), "{proof}");
        // Outside of the reset a condition may stand.
        assert!(
            line(3).contains("begin if (reconverge_selected != "),
            "{proof}"
        );
        // Without mutants there, nothing changes but the wire of the number.
        let plain = for_proof("m.sv", text).unwrap();
        assert_eq!(plain.replace(" wire [31:0] reconverge_selected;", ""), text);
    }
}
