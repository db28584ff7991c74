//! The rules of `docs/spec` and `docs/contract.md`, by id, with the cells of their tables, and those of units outside this crate.
//!
//! The files are part of the program, so that a rule that a report names can be read where the sources are missing.

use std::sync::{LazyLock, OnceLock};

#[cfg(all(test, feature = "units"))]
use reconverge_program::layout::Field;

/// The documents of this crate: the name with which their ids begin, and their text.
const DOCUMENTS: [(&str, &str); 5] = [
    ("r500-alu", include_str!("../docs/spec/r500-alu.md")),
    ("r500", include_str!("../docs/spec/r500.md")),
    ("r700", include_str!("../docs/spec/r700.md")),
    ("spa5", include_str!("../docs/spec/spa5.md")),
    ("contract", include_str!("../docs/contract.md")),
];

/// A rule, or a section of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id, e.g. `r500-4.3-b`.
    pub id: String,
    /// Id and title of its section.
    pub section: String,
    /// Path of its file in the repository.
    pub file: String,
    /// Its text, without markup; for a section, its whole text.
    pub text: String,
    /// The cells of its row, each with the name of its column; empty outside tables.
    pub cells: Vec<(String, String)>,
}

impl Rule {
    /// Returns the cell in `column`; empty if there is none.
    pub fn cell(&self, column: &str) -> &str {
        let found = self.cells.iter().find(|(name, _)| name == column);
        found.map_or("", |(_, text)| text)
    }
}

/// The rules of a document, with its name.
type Rules = (&'static str, Vec<Rule>);

/// The rules of each of [`DOCUMENTS`].
static RULES: LazyLock<[Rules; DOCUMENTS.len()]> =
    LazyLock::new(|| DOCUMENTS.map(|(name, text)| (name, parse(&file_of(name), text))));

/// The rules of the specifications that [`know`] was given.
static OTHERS: OnceLock<Vec<Rules>> = OnceLock::new();

/// Adds the specifications of units outside this crate, once: the name of each unit, with which the ids of its rules begin, and the text.
pub fn know(others: impl Iterator<Item = (&'static str, &'static str)>) {
    let parsed = others.map(|(name, text)| (name, parse(&file_of(name), text)));
    let _ = OTHERS.set(parsed.collect());
}

/// Returns the path of the document `name` in its repository.
fn file_of(name: &str) -> String {
    match name {
        "contract" => "docs/contract.md".to_owned(),
        _ => format!("docs/spec/{name}.md"),
    }
}

fn documents() -> impl Iterator<Item = &'static Rules> {
    RULES.iter().chain(OTHERS.get().into_iter().flatten())
}

fn all() -> impl Iterator<Item = &'static Rule> {
    documents().flat_map(|(_, rules)| rules)
}

/// Returns every rule and section of a unit (`r500`, `r700`, `spa5`, or one that [`know`] was given), of `r500-alu` or of `contract`, in
/// the order of the file; an empty slice for another name.
pub fn of(name: &str) -> &'static [Rule] {
    let found = documents().find(|(document, _)| *document == name);
    found.map_or(&[], |(_, rules)| rules)
}

/// Returns the rule or section with id `id`.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// Returns every id, in the order of the files.
pub fn ids() -> impl Iterator<Item = &'static str> {
    all().map(|rule| rule.id.as_str())
}

/// Returns the rules of `unit` that name `operation`, or whose section title does. Of the units of this crate, instructions, open points,
/// errors and appendix (sections 4, 5, 6 and A of each specification) are searched, of others everything.
pub fn naming(unit: &str, operation: &str) -> Vec<&'static Rule> {
    let names = |text: &str| {
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .any(|word| word == operation)
    };
    let everything = !DOCUMENTS.iter().any(|(name, _)| *name == unit);
    of(unit)
        .iter()
        .filter(|rule| {
            let (id, title) = rule.section.split_once(' ').unwrap_or_default();
            let number = id.strip_prefix(unit).unwrap_or_default();
            let sections = ["-4", "-5", "-6", "-A"];
            // A section repeats its rules.
            rule.id != id
                && (everything || sections.iter().any(|s| number.starts_with(s)))
                && (names(title) || names(&rule.text))
        })
        .collect()
}

const ANCHOR: &str = "<a id=\"";

/// Returns the id of the anchor at the beginning of `text`, and the text behind the visible id.
fn anchored(text: &str) -> Option<(&str, &str)> {
    let (id, rest) = text.strip_prefix(ANCHOR)?.split_once("\"></a>")?;
    let shown = rest.trim_start_matches("**");
    let behind = shown.strip_prefix(id)?;
    Some((id, behind.strip_prefix("**").unwrap_or(behind).trim()))
}

/// Returns Markdown as plain text: a link to a rule becomes the id of the rule.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some(at) = rest.find(['<', '[', '*', '`', '\\']) {
        let (before, here) = rest.split_at(at);
        text += before;
        let link = || {
            let (shown, behind) = here.strip_prefix('[')?.split_once("](")?;
            // Another bracket opens before the link: `[P, [O24](#r500-O24)]`.
            if shown.contains('[') {
                return None;
            }
            let (target, behind) = behind.split_once(')')?;
            let target = target.rsplit_once('#').map_or(shown, |(_, id)| id);
            Some((target, behind))
        };
        rest = if let Some((_, behind)) = here
            .strip_prefix("<a ")
            .and_then(|anchor| anchor.split_once("</a>"))
        {
            behind
        } else if let Some((target, behind)) = link() {
            text += target;
            behind
        } else if let Some(behind) = here.strip_prefix("**").or_else(|| here.strip_prefix('`')) {
            behind
        } else if let Some(behind) = here.strip_prefix("\\|") {
            text.push('|');
            behind
        } else {
            let mut letters = here.chars();
            text.extend(letters.next());
            letters.as_str()
        };
    }
    text + rest
}

/// Splits a row of a table into its cells.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|');
    let row = row.strip_suffix('|').unwrap_or(row);
    // A bar within a cell is escaped by a backslash.
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for letter in row.chars() {
        match cells.last_mut() {
            Some(_) if letter == '|' && !escaped => cells.push(String::new()),
            Some(cell) => cell.push(letter),
            None => {}
        }
        escaped = letter == '\\';
    }
    cells
        .into_iter()
        .map(|cell| cell.trim().to_owned())
        .collect()
}

fn is_rule_of_table(line: &str) -> bool {
    line.starts_with("|--") || line.starts_with("| --")
}

/// Parses the rules of the file `file`.
fn parse(file: &str, text: &str) -> Vec<Rule> {
    let lines: Vec<&str> = text.lines().collect();
    let mut rules: Vec<Rule> = Vec::new();
    let mut section = String::new();
    let mut columns: Vec<String> = Vec::new();
    let mut code = false;
    for (n, line) in lines.iter().enumerate() {
        if line.starts_with("```") {
            code = !code;
        }
        if code {
            continue;
        }
        let rule = |id: &str, section: &str, text: String, cells| Rule {
            id: id.to_owned(),
            section: section.to_owned(),
            file: file.to_owned(),
            text,
            cells,
        };
        if let Some((id, title)) = line
            .strip_prefix('#')
            .and_then(|rest| anchored(rest.trim_start_matches('#').trim()))
        {
            section = format!("{id} {}", plain(title));
            let level = |line: &str| line.len() - line.trim_start_matches('#').len();
            let (mut body, mut listing) = (Vec::new(), false);
            for next in &lines[n + 1..] {
                if next.starts_with("```") {
                    listing = !listing;
                } else if listing {
                    // As it is, without the lines around it.
                    body.push(format!("    {next}"));
                } else if next.starts_with('#') && level(next) <= level(line) {
                    break;
                } else {
                    body.push(plain(next));
                }
            }
            let text = body.join("\n");
            rules.push(rule(id, &section, text.trim().to_owned(), Vec::new()));
        } else if line.starts_with('|') {
            if lines.get(n + 1).is_some_and(|next| is_rule_of_table(next)) {
                columns = cells(line).iter().map(|cell| plain(cell)).collect();
            } else if line.contains(ANCHOR) {
                let row = cells(line);
                let id = row.iter().find_map(|cell| anchored(cell)).unzip().0;
                let named: Vec<(String, String)> = columns
                    .iter()
                    .zip(&row)
                    .map(|(column, cell)| match anchored(cell) {
                        // The id shares its cell with the subject of the row.
                        Some((_, rest)) => (column.clone(), plain(rest)),
                        None => (column.clone(), plain(cell)),
                    })
                    .filter(|(_, cell)| !cell.is_empty())
                    .collect();
                let said = named
                    .iter()
                    .filter(|(_, cell)| cell != "-")
                    .map(|(column, cell)| match column.as_str() {
                        "" => cell.clone(),
                        column => format!("{column}: {cell}"),
                    });
                let text = said.collect::<Vec<_>>().join("; ");
                rules.extend(id.map(|id| rule(id, &section, text, named)));
            }
        } else {
            for (at, _) in line.match_indices(ANCHOR) {
                let Some((id, rest)) = anchored(&line[at..]) else {
                    continue;
                };
                let mut text = rest.split(ANCHOR).next().unwrap_or_default().to_owned();
                if !rest.contains(ANCHOR) {
                    let ends = |line: &&&str| {
                        line.trim().is_empty()
                            || ["|", "#", "```", "* ", "- "]
                                .iter()
                                .any(|mark| line.starts_with(mark))
                    };
                    for next in lines[n + 1..].iter().take_while(|line| !ends(line)) {
                        let (mine, others) = next
                            .split_once(ANCHOR)
                            .map_or((*next, false), |(mine, _)| (mine, true));
                        text += " ";
                        text += mine.trim();
                        if others {
                            break;
                        }
                    }
                }
                rules.push(rule(
                    id,
                    &section,
                    plain(&text).trim().to_owned(),
                    Vec::new(),
                ));
            }
        }
    }
    rules
}

/// A field of an instruction word, from a table of the unit's specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitField {
    /// Its name; empty for reserved bits.
    pub name: String,
    /// Highest and lowest bit of each piece, the most significant piece first.
    pub bits: Vec<(u32, u32)>,
    /// The table's text on its values.
    pub meaning: String,
    /// The id of its rule.
    pub rule: String,
}

impl BitField {
    /// Returns its value in `word`.
    pub fn value(&self, word: u64) -> u64 {
        self.bits.iter().fold(0, |value, &(high, low)| {
            let width = high - low + 1;
            value << width | word >> low & (u64::MAX >> (64 - width))
        })
    }

    /// Returns the part of the meaning that describes `value`, if the table lists values: `2 FC`, `1 = stays`.
    pub fn of_value(&self, value: u64) -> Option<&str> {
        let number = value.to_string();
        self.meaning
            .split([',', ';', '.'])
            .map(str::trim)
            .find_map(|item| {
                let rest = item
                    .rsplit_once(": ")
                    .map_or(item, |(_, last)| last)
                    .strip_prefix(&number)?;
                let rest = rest.strip_prefix(" =").unwrap_or(rest);
                let said = rest.strip_prefix(' ')?.trim();
                (!said.is_empty()).then_some(said)
            })
    }
}

/// Returns the fields in table `section`, in the order of the file; if the table has a column `DW`, only the rows where it is `word`.
/// A row that names several pieces gives several fields.
pub fn bit_fields(section: &str, word: usize) -> Vec<BitField> {
    let unit = section.split('-').next().unwrap_or_default();
    let prefix = format!("{section}-");
    let mut fields = Vec::new();
    let dword = word.to_string();
    let of_word = |rule: &&Rule| ["", &*dword].contains(&rule.cell("DW"));
    for rule in (of(unit).iter()).filter(|rule| rule.id.starts_with(&prefix) && of_word(rule)) {
        let bits: Option<Vec<(u32, u32)>> = rule
            .cell("bits")
            .split(", ")
            .map(|piece| {
                let (high, low) = piece.split_once(':').unwrap_or((piece, piece));
                Some((high.parse().ok()?, low.parse().ok()?))
            })
            .collect();
        let Some(bits) = bits else {
            continue;
        };
        let column = ["values", "meaning for FC", "meaning"]
            .into_iter()
            .find(|column| !rule.cell(column).is_empty());
        let meaning = column.map_or("", |column| rule.cell(column)).to_owned();
        let named = rule.cell("field");
        let names: Vec<&str> = named.split(", ").collect();
        let field = |name: &str, bits: Vec<(u32, u32)>| BitField {
            name: name.trim_matches('-').to_owned(),
            bits,
            meaning: meaning.clone(),
            rule: rule.id.clone(),
        };
        if names.len() == bits.len() {
            let each = names.iter().zip(bits);
            fields.extend(each.map(|(name, bits)| field(name, vec![bits])));
        } else {
            fields.push(field(named, bits));
        }
    }
    fields
}

/// Checks a table of words beside the specification: in the table of its word (`sections`: its id, and which word there), each field
/// has rows with its bits and its name, or the name in `names`. Fields without a row are named with "".
///
/// # Panics
/// A field has no such row.
#[cfg(all(test, feature = "units"))]
pub(crate) fn check_layout(fields: &[Field], sections: &[(&str, usize)], names: &[(&str, &str)]) {
    // `COUNT_3` is a piece of COUNT.
    let stem = |name: &str| match name.rsplit_once('_') {
        Some((stem, number)) if number.parse::<u8>().is_ok() => stem.to_owned(),
        _ => name.to_owned(),
    };
    for field in fields {
        let known = names.iter().find(|(name, _)| *name == field.name);
        let name = known.map_or_else(|| field.name.to_uppercase(), |(_, name)| (*name).to_owned());
        for bits in field.bits.iter().filter(|_| !name.is_empty()) {
            let (section, word) = sections[bits.word];
            let found = bit_fields(section, word).into_iter().any(|row| {
                let mut words = row
                    .name
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                row.bits.contains(&(bits.high, bits.low))
                    && words.any(|word| stem(word) == stem(&name))
            });
            assert!(
                found,
                "{section} has no row {name} with {bits:?}: {field:?}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_anchor_of_every_file_is_a_rule_that_says_something() {
        for (name, text) in DOCUMENTS {
            let rules = of(name);
            let anchors = text.matches(ANCHOR).count();
            assert_eq!(rules.len(), anchors, "{name}");
            for rule in rules {
                let text = &rule.text;
                assert!(text.len() > 2, "{}: {text:?}", rule.id);
                // A listing may contain anything.
                let mut prose = text.lines().filter(|line| !line.starts_with("    "));
                let marked = |line: &str| line.contains("<a ") || line.contains("**");
                assert!(!prose.any(marked), "{}: {text}", rule.id);
                assert_eq!(find(&rule.id), Some(rule));
            }
        }
    }

    #[test]
    fn a_rule_of_a_table_a_paragraph_and_a_section_is_what_the_file_says() {
        let rule = find("r500-4.3-b").expect("a row");
        assert_eq!(rule.section, "r500-4.3 Lane update");
        assert_eq!(rule.file, "docs/spec/r500.md");
        assert!(
            rule.text.contains("ACTIVE, agrees with the decision"),
            "{}",
            rule.text
        );
        let rule = find("r500-3.1-f").expect("a link in brackets");
        assert!(
            rule.text.contains("of every lane [P, r500-O24]."),
            "{}",
            rule.text
        );
        let rule = find("r700-4.1-b").expect("a paragraph");
        assert_eq!(rule.text, "COND = 1: no lane passes.");
        let rule = find("spa5-2.2-b").expect("a paragraph with two rules");
        assert!(
            rule.text.ends_with("not the next instruction)."),
            "{}",
            rule.text
        );
        let rule = find("r500-4.2").expect("a section");
        assert!(
            rule.text.contains("BRK lanes never matter"),
            "{}",
            rule.text
        );
        assert!(!rule.text.contains("b_op is B_OP1"), "{}", rule.text);
        assert_eq!(find(&["r500", "4.2", "zz"].join("-")), None);
        assert_eq!(find("z80-1"), None);
    }

    #[test]
    fn fields_of_a_word_are_read_from_its_table() {
        let fields = bit_fields("r500-2.3", 0);
        let op = fields.iter().find(|f| f.name == "OP").expect("OP");
        assert_eq!((op.value(0x1a), op.of_value(2)), (2, Some("ENDLOOP")));
        let fields = bit_fields("r700-2.3", 0);
        let mode = fields.iter().find(|f| f.name == "KCACHE_MODE0");
        assert_eq!(mode.expect("a piece of a row").bits, [(31, 30)]);
        let dw1 = bit_fields("r700-2.2", 1);
        assert!(dw1.iter().all(|f| f.name != "ADDR"));
        let cond = dw1.iter().find(|f| f.name == "COND").expect("COND");
        assert_eq!(cond.of_value(3), Some("NOT_BOOL"));
    }

    /// Each bit of a word that the sequencer decodes belongs to one field.
    #[test]
    fn the_tables_give_every_bit_of_a_word_to_one_field() {
        for (section, word) in [
            ("r500-2.3", 0),
            ("r500-2.4", 0),
            ("r700-2.2", 0),
            ("r700-2.2", 1),
            ("r700-2.3", 0),
            ("r700-2.3", 1),
        ] {
            let fields = bit_fields(section, word);
            for bit in 0..32 {
                let owners: Vec<&str> = fields
                    .iter()
                    .filter(|f| {
                        f.bits
                            .iter()
                            .any(|&(high, low)| (low..=high).contains(&bit))
                    })
                    .map(|f| f.name.as_str())
                    .collect();
                assert_eq!(
                    owners.len(),
                    1,
                    "{section} word {word} bit {bit}: {owners:?}"
                );
            }
        }
    }
}
