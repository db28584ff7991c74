//! `explain`: a rule as the specification has it, or an instruction's words field by field.

use std::fmt::Write as _;

use clap::Args;
use reconverge::explain::{self, Part};
use reconverge::input::InputError;
use reconverge::rules::{Rule, naming};
use reconverge::unit::Unit;

use super::{Agreed, Done, print, unit_names};

/// Width that text is wrapped to.
const WIDTH: usize = 100;

#[derive(Args)]
pub struct ExplainArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    pub unit: String,
    /// Id of a rule as reports cite it (r500-4.3-b, contract-7), or the words of an instruction in hexadecimal. r500:
    /// US_CMN_INST US_FC_INST US_FC_ADDR, or all six; r700: DW0 DW1; spa5: one word of 64 bits
    #[arg(required = true, value_name = "RULE|WORD")]
    what: Vec<String>,
}

pub fn explain<U: Unit>(args: &ExplainArgs) -> Done {
    let id = args.what[0].as_str();
    let text = if args.what.len() == 1 && id.contains('-') {
        of_rule(explain::rule(id).map_err(|why| InputError::new("explain", 0, id, why))?)
    } else {
        let wrong = |(word, why): (String, String)| InputError::new("explain", 0, word, why);
        let anatomy = explain::words::<U>(&args.what).map_err(wrong)?;
        let mut out = format!("{}\n", U::disassemble(&anatomy.program, anatomy.pc));
        for part in &anatomy.parts {
            out += "\n";
            out += &of_part(part);
        }
        let rules = anatomy
            .operation
            .map_or_else(Vec::new, |op| naming(U::NAME, &op));
        if !rules.is_empty() {
            out += "\nrules that name it\n";
            let most = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
            for rule in rules {
                out += &wrapped(&format!("  {:most$}  ", rule.id), &rule.text);
            }
        }
        out
    };
    print(&text)?;
    Ok(Agreed::Yes)
}

/// A rule with the place that it stands in.
fn of_rule(rule: &Rule) -> String {
    let mut out = format!("{}  {}#{}\n", rule.id, rule.file, rule.id);
    if !rule.section.starts_with(&format!("{} ", rule.id)) {
        let _ = writeln!(out, "in {}", rule.section);
    } else {
        let _ = writeln!(out, "{}", rule.section);
    }
    out += "\n";
    // Tables and listings of a section stay as they are.
    match rule.text.contains('\n') {
        true => out + &rule.text + "\n",
        false => out + &wrapped("", &rule.text),
    }
}

/// A word with its fields: bits, name, value, what the value or the field means, rule.
fn of_part(part: &Part) -> String {
    let digits = part.width as usize / 4;
    let mut out = format!("{} 0x{:0digits$x}\n", part.name, part.word);
    let rows: Vec<[String; 5]> = part
        .fields
        .iter()
        .filter_map(|field| {
            let value = field.value(part.word);
            // Reserved bits are worth a line where they are set.
            if field.name.is_empty() && value == 0 {
                return None;
            }
            let bits: Vec<String> = field
                .bits
                .iter()
                .map(|&(high, low)| match high == low {
                    true => high.to_string(),
                    false => format!("{high}:{low}"),
                })
                .collect();
            let wide = field.bits.iter().any(|(high, low)| high - low >= 8);
            let value_text = if wide {
                format!("{value:#x}")
            } else {
                value.to_string()
            };
            let meaning = field.of_value(value).unwrap_or(&field.meaning);
            let name = match field.name.as_str() {
                "" => "(no field)",
                name => name,
            };
            Some([
                bits.join(","),
                name.to_owned(),
                value_text,
                field.rule.clone(),
                meaning.to_owned(),
            ])
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [bits, name, value, rule] = [width(0), width(1), width(2), width(3)];
    for row in &rows {
        let head = format!(
            "  {:bits$}  {:name$}  {:>value$}  {:rule$}  ",
            row[0], row[1], row[2], row[3]
        );
        out += &wrapped(&head, &row[4]);
    }
    out
}

/// `text` behind `head`, in lines of at most [`WIDTH`] letters where words allow it, below each other.
fn wrapped(head: &str, text: &str) -> String {
    let indent = head.chars().count();
    let mut out = head.to_owned();
    let mut column = indent;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > indent && column + 1 + width > WIDTH {
            let _ = write!(out, "\n{:indent$}", "");
            column = indent;
        }
        if column > indent {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += width;
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}
