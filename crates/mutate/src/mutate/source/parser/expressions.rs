//! Expressions, and the mutants in them.

use super::*;

/// Returns the precedence of a binary operator; a higher one binds tighter.
pub(super) fn precedence(mark: &str) -> Option<u32> {
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

/// The precedence of `inside`.
const IN_SET: u32 = 7;

/// Returns the kind of change, the operators that a binary operator may be mistaken for, and whether an operand may be dropped.
pub(super) fn mistaken(mark: &str) -> (&'static str, &'static [&'static str], bool) {
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
    pub(super) fn expression(&mut self) -> Parsed<Node> {
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
        let swapped = format!("({c}) ? ({n}) : ({y})");
        self.found(node.span(), "branches swapped", swapped);
        Ok(node)
    }

    fn binary(&mut self, least: u32) -> Parsed<Node> {
        let mut left = self.unary()?;
        if least < IN_SET && self.took("inside") {
            self.want("{")?;
            self.close()?;
            (left.end, left.target) = (self.ended(), false);
        }
        let mut in_a_row = 0;
        while let Some(level) = precedence(self.peek()).filter(|p| *p > least) {
            in_a_row += 1;
            if in_a_row > MAX_IN_A_ROW {
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
                self.found(node.span(), operator, format!("({l}) {other} ({r})"));
            }
            if either {
                self.found(node.span(), "operand dropped", l);
                // Not a plausible mistake: a subtraction that loses its first operand.
                if mark != "-" {
                    self.found(node.span(), "operand dropped", r);
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
        let mut say = |operator, after: String| self.found(node.span(), operator, after);
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
        let (start, before) = (self.start(), self.found.len());
        let sort = self.token().sort;
        let mut target = false;
        if sort == Sort::Number {
            let number = self.next();
            for after in other_numbers(&number) {
                self.found(start..self.ended(), "constant", after);
            }
        } else if sort == Sort::Name {
            let name = self.next();
            if self.took("::") {
                self.next();
                let constant = start..self.ended();
                if self.took("(") {
                    self.arguments()?;
                } else if ["[", "."].contains(&self.peek()) {
                    self.selects()?;
                } else {
                    self.constant(constant);
                }
            } else if self.took("(") {
                // The only system functions used are $clog2 and similar ones, which are constant.
                self.quiet += u32::from(name.starts_with('$'));
                self.arguments()?;
                self.quiet -= u32::from(name.starts_with('$'));
            } else {
                self.selects()?;
                target = true;
                // A method, such as that of an enum.
                if self.took("(") {
                    self.arguments()?;
                    target = false;
                }
            }
        } else if self.took("(") {
            self.expression()?;
            self.want(")")?;
        } else if self.took("{") {
            target = self.concatenation()?;
        } else if self.took("'{") {
            self.close()?;
        } else {
            let what = format!("{:?} in an expression", self.peek());
            return Err(self.no(&what));
        }
        // A cast: what stands before it is a type or a constant size.
        while self.took("'(") {
            self.found.truncate(before);
            self.expression()?;
            self.want(")")?;
            target = false;
        }
        while self.took("'{") {
            self.found.truncate(before);
            self.close()?;
            target = false;
        }
        Ok(Node {
            start,
            end: self.ended(),
            target,
        })
    }

    /// Reads the arguments of a call, after the opening bracket.
    fn arguments(&mut self) -> Parsed<()> {
        while !self.took(")") {
            self.expression()?;
            self.took(",");
        }
        Ok(())
    }

    /// Finds the mutant of the constant of a package at `span`.
    fn constant(&mut self, span: Range<usize>) {
        let text = one_line(self.slice(span.clone()));
        let after = match self.enums.get(&text) {
            // An enum takes no other value without a cast.
            Some(other) => other.clone(),
            None => Some(format!("{text} ^ 1'b1")),
        };
        if after.is_some() {
            self.found(span, "constant", after);
        }
    }

    /// Reads the rest of `{a, b}` or `{N{a}}` after its first brace. Returns whether it can be assigned to.
    fn concatenation(&mut self) -> Parsed<bool> {
        let before = self.found.len();
        let mut target = self.expression()?.target;
        if self.took("{") {
            // The first expression was the number of repetitions.
            self.found.truncate(before);
            self.list(|parser| parser.expression().map(drop))?;
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

    /// Reads `[...]` and `.member` after a name. What is not constant may be mutated: an index, or the start of an indexed part.
    pub(super) fn selects(&mut self) -> Parsed<()> {
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

/// Returns the numbers that a number may be mistaken for: one more and one less, in as many bits.
pub(super) fn other_numbers(number: &str) -> Vec<String> {
    let digits = number.replace('_', "");
    let Some((size, rest)) = digits.split_once('\'') else {
        // A plain number has 32 bits and is nearly always a factor or an index.
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
