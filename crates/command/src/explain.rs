//! `explain`: the text of a rule, the words of an instruction field by field, or why an instruction of a run did
//! what it did.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use reconverge::assembly::Assembly as _;
use reconverge::case::Case;
use reconverge::compiled::Compiled;
use reconverge::explain::cycle::{Cycle, Explained, Group, Near, cited};
use reconverge::explain::{self, Part};
use reconverge::field::in_eights;
use reconverge::input::InputError;
use reconverge::quantity::counted;
use reconverge::rules::{self, Rule, naming};
use reconverge::saved::{Savable as _, Saved};
use reconverge::show::Frame;

use crate::args::{CaseArgs, LoadArgs};
use crate::console::{Done, Failure, Status, print};
use crate::guests::program_unit_names;
use crate::streams::read_text;

/// Width to which text is wrapped.
const WIDTH: usize = 100;

#[derive(Args)]
pub struct ExplainArgs {
    /// Unit; may be left out before the id of one of its rules
    #[arg(value_parser = program_unit_names())]
    pub unit: String,
    /// Id of a rule as reports cite it (r500-4.3-b, contract-7), the name of an operation (RET) for the rules that name it, or
    /// the words of an instruction in hexadecimal. r500: US_CMN_INST US_FC_INST US_FC_ADDR, or all six; r700: DW0 DW1; spa5: one word of 64 bits
    #[arg(
        required_unless_present_any = ["case", "of"],
        conflicts_with_all = ["case", "of", "cycle", "CaseArgs", "LoadArgs"],
        value_name = "RULE|NAME|WORD"
    )]
    what: Vec<String>,
    /// Explain an instruction of this saved case: which lanes went which way, what became of address and stack, and by
    /// which rules. The golden model alone runs, as far as to the cycle
    #[arg(long, value_name = "FILE", requires = "cycle", conflicts_with_all = ["of", "CaseArgs", "LoadArgs"])]
    case: Option<PathBuf>,
    /// The same of a program, run as `run` does with the options below
    #[arg(id = "of", long = "program", value_name = "FILE", requires = "cycle")]
    program: Option<PathBuf>,
    /// The cycle, as `run --show` numbers them, in which the instruction was executed; of one that takes several, any
    #[arg(long, value_name = "N")]
    cycle: Option<u64>,
    #[command(flatten)]
    run: CaseArgs,
    #[command(flatten)]
    load: LoadArgs,
}

pub fn explain<U: Compiled>(args: &ExplainArgs) -> Done {
    let case = match (&args.case, &args.program) {
        (Some(path), _) => {
            let (text, file) = read_text(path)?;
            Some(Saved::<Case<U>>::parse(&text, &file)?.case)
        }
        (None, Some(path)) => Some(args.run.case::<U>(path, &args.load)?),
        (None, None) => None,
    };
    if let (Some(case), Some(cycle)) = (case, args.cycle) {
        case.check_input("").map_err(InputError::in_option)?;
        print(&of_cycle(&case, cycle)?)?;
        return Ok(Status::Agreed);
    }
    let text = if let [id] = &args.what[..]
        && id.contains(['-', '#'])
    {
        of_rule(explain::rule(U::NAME, id).map_err(|why| InputError::new("explain", 0, id, why))?)
    } else if let [name] = &args.what[..]
        && let Some(text) = of_name::<U>(name)
    {
        text
    } else {
        let wrong = |(word, why): (String, String)| InputError::new("explain", 0, word, why);
        let anatomy = explain::words::<U>(&args.what).map_err(wrong)?;
        let mut out = format!("{}\n", anatomy.program.statement(anatomy.pc));
        for part in &anatomy.parts {
            out += "\n";
            out += &of_part(part);
        }
        let operation = anatomy.operation.as_deref();
        out += &of_meaning::<U>(operation);
        let rules = operation.map_or_else(Vec::new, |op| naming(U::NAME, op));
        if !rules.is_empty() {
            out += "\n";
            out += &listed("rules that name it", &rules);
        }
        out
    };
    print(&text)?;
    Ok(Status::Agreed)
}

/// Explains cycle `cycle` of the run of `case`: the instruction that was executed in it, the effect on lanes, address
/// and stack, and the rules for that.
fn of_cycle<U: Compiled>(case: &Case<U>, cycle: u64) -> Result<String, Failure> {
    let bad = |why: String| Failure::from(InputError::option("--cycle", why));
    let done = match U::explain(case, cycle) {
        Explained::Instruction(done) => done,
        Explained::Beyond(None) => return Err(bad(format!("{cycle}: the run has no cycle"))),
        Explained::Beyond(Some(last)) => {
            let why = format!("{cycle} is beyond the end of the run, whose last cycle is {last}");
            return Err(bad(why));
        }
        Explained::Nothing {
            what,
            before,
            after,
        } => {
            let near = |name: &str, near: Option<Near>| match near {
                Some(Near { cycle, pc, text }) => {
                    format!("{name}  cycle {cycle}  0x{pc:03x}  {text}\n")
                }
                None => format!("{name}  none\n"),
            };
            let none = format!("cycle {cycle}  no instruction was executed: {what}\n");
            return Ok(none + &near("before", before) + &near("after ", after));
        }
    };
    let mut out = format!("0x{:03x}  {}\n", done.pc, done.text);
    if !done.words.is_empty() {
        let anatomy = U::anatomy(&done.words).map_err(bad)?;
        for part in &anatomy.parts {
            out += "\n";
            out += &of_part(part);
        }
        out += &of_meaning::<U>(anatomy.operation.as_deref());
    }
    let mut named: Vec<&str> = Vec::new();
    for cycle in &done.cycles {
        let groups = cycle.groups.iter().map(|group| &group.rule);
        let fields = cycle.fields.iter().map(|values| &values.rule);
        let rules = groups.chain([&cycle.address]).chain(fields);
        named.extend(rules.flat_map(|rule| cited(rule)));
        out += &went(cycle);
    }
    // In the order of the specification, without repetition.
    let ids = rules::ids().filter(|id| named.contains(id));
    let rules: Vec<&Rule> = ids.filter_map(rules::find).collect();
    if !rules.is_empty() {
        out += "\nrules\n";
    }
    let most = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    for rule in rules {
        // For a section with tables and listings, its title is enough.
        let text = match rule.text.contains('\n') {
            true => rule.section.strip_prefix(&rule.id).unwrap_or(&rule.section),
            false => &rule.text,
        };
        out += &wrapped(&format!("  {:most$}  ", rule.id), text);
    }
    Ok(out)
}

/// Returns what a cycle did, with the text of each rule below it.
fn went(cycle: &Cycle) -> String {
    let mut out = format!("\ncycle {}\n", cycle.number);
    let heads: Vec<[String; 3]> = cycle.groups.iter().map(head).collect();
    let widths: [usize; 3] =
        std::array::from_fn(|n| heads.iter().map(|head| head[n].len()).max().unwrap_or(0));
    for (group, [count, ways, conditions]) in cycle.groups.iter().zip(&heads) {
        let letter = |lane| match group.lanes >> lane & 1 {
            1 => group.after.letter(),
            _ => ' ',
        };
        let lanes: String = (0..cycle.before.lanes.len()).map(letter).collect();
        let [count_width, ways_width, conditions_width] = widths;
        let gap = if conditions_width == 0 { "" } else { "  " };
        let line = format!(
            "  {count:>count_width$}  {ways:ways_width$}{gap}{conditions:conditions_width$}  {}",
            in_eights(&lanes)
        );
        out += line.trim_end();
        out += "\n";
        out += &said(&group.rule);
    }
    let stack = |frames: &[Frame]| match frames {
        [] => "-".to_owned(),
        _ => Vec::from_iter(frames.iter().map(Frame::long)).join(", "),
    };
    let [from, to] = [&cycle.before, &cycle.after];
    let _ = writeln!(out, "  pc 0x{:03x} {} 0x{:03x}", from.pc, cycle.way, to.pc);
    let [was, is] = [&from.stack, &to.stack].map(|frames| stack(frames));
    let stack = match was == is {
        true => format!("  stack stays {is}\n"),
        false => format!("  stack {was} becomes {is}\n"),
    };
    out += &said(&cycle.address);
    out += &stack;
    for values in &cycle.fields {
        out += &wrapped("  ", &values.fields.join(", "));
        out += &said(&values.rule);
    }
    out
}

/// Returns the rule below its effect.
fn said(rule: &str) -> String {
    match rule {
        "" => String::new(),
        _ => wrapped("      ", rule),
    }
}

/// Returns the number of lanes of a group, their way, and the conditions.
fn head(group: &Group) -> [String; 3] {
    let count = counted(group.lanes.count_ones(), "lane");
    let (before, after) = (group.before.meaning(), group.after.meaning());
    let ways = match before == after {
        true => format!("{before}, as before"),
        false => format!("{before} -> {after}"),
    };
    [count, ways, group.conditions.clone()]
}

/// Returns what the table of words says of the operation `name`, and the rules that name it; `None` if there is neither, or `name` is a
/// word in hexadecimal.
fn of_name<U: Compiled>(name: &str) -> Option<String> {
    let name = name.to_uppercase();
    // A word with a digit is a number.
    if name.chars().all(|c| c.is_ascii_hexdigit()) && name.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let said = U::Program::meaning(&name).map(|said| wrapped("", &said));
    let rules = naming(U::NAME, &name);
    let rules = (!rules.is_empty()).then(|| listed(&format!("rules that name {name}"), &rules));
    let parts: Vec<String> = said.into_iter().chain(rules).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Returns what the table of words says of an operation, behind its fields.
fn of_meaning<U: Compiled>(operation: Option<&str>) -> String {
    let said = operation.and_then(U::Program::meaning);
    said.map_or_else(String::new, |said| format!("\n{}", wrapped("", &said)))
}

/// Returns rules with their texts below a heading.
fn listed(heading: &str, rules: &[&Rule]) -> String {
    let mut out = format!("{heading}\n");
    let most = rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    for rule in rules {
        out += &wrapped(&format!("  {:most$}  ", rule.id), &rule.text);
    }
    out
}

/// Returns a rule with its place in the specification.
fn of_rule(rule: &Rule) -> String {
    let mut out = format!("{}  {}#{}\n", rule.id, rule.file, rule.id);
    if !rule.section.starts_with(&format!("{} ", rule.id)) {
        let _ = writeln!(out, "in {}", rule.section);
    } else {
        let _ = writeln!(out, "{}", rule.section);
    }
    out += "\n";
    // Tables and listings of a section stay unchanged.
    match rule.text.contains('\n') {
        true => out + &rule.text + "\n",
        false => out + &wrapped("", &rule.text),
    }
}

/// Returns a word with its fields: bits, name, value, what the value or the field means, rule.
fn of_part(part: &Part) -> String {
    let digits = part.width as usize / 4;
    let mut out = format!("{} 0x{:0digits$x}\n", part.name, part.word);
    let rows: Vec<[String; 5]> = part
        .fields
        .iter()
        .filter_map(|field| {
            let value = field.value(part.word);
            // Reserved bits get a line only if they are set.
            if field.name.is_empty() && value == 0 {
                return None;
            }
            let bits = field.bits.iter().map(|&(high, low)| match high == low {
                true => high.to_string(),
                false => format!("{high}:{low}"),
            });
            let bits: Vec<String> = bits.collect();
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

/// Returns `text` after `head`, wrapped to at most [`WIDTH`] letters where words allow it, with a hanging indent.
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
