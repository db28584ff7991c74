//! The table of a report: the values in RTL and golden model, and where they differ.
//!
//! Single values that differ come first, one row each; then fields with several elements, each as one row or block
//! regardless of how many elements differ; then context fields. Every difference is listed.

use std::fmt::{self, Display, Formatter};

use bytemuck::bytes_of;

use crate::design::Design;
use crate::field::{Diff, Field, mask_in_eights};
use crate::lanes::Wavefronts;

/// Characters per line.
pub const WIDTH: usize = 100;
/// Most characters of the list of elements above a column.
const HEADER: usize = 24;
/// Most characters of the list of lanes above a mask.
const LIST: usize = 60;
/// Mark of a row that differs.
pub const MARK: &str = "  <--";

/// The values in RTL and golden model.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Row>,
    /// Heading of the side that was expected.
    expected: &'static str,
}

/// Values of RTL and golden model, in this order.
type Sides = [String; 2];

#[derive(Clone, Debug)]
enum Row {
    /// A single value.
    Value {
        name: String,
        sides: Sides,
        differs: bool,
    },
    /// A field with one bit per lane: the lanes that differ, and the whole mask.
    Mask {
        name: &'static str,
        differ: String,
        sides: Sides,
    },
    /// A field with several elements: those that differ, in columns of equal values.
    Columns {
        name: &'static str,
        /// Lane, wavefront or entry.
        element: &'static str,
        differ: usize,
        columns: Vec<Column>,
    },
}

/// Elements with the same values.
#[derive(Clone, Debug)]
struct Column {
    elements: Vec<usize>,
    /// Their names.
    which: String,
    sides: Sides,
}

/// Lists elements of `field` in ascending order, with runs of three or more as `first..last`.
fn ranges(field: &Field, lanes: Wavefronts, elements: &[usize]) -> String {
    let name = |element: &usize| match field.per_lane() {
        true => lanes.lane(*element),
        false => element.to_string(),
    };
    // A run ends with its wavefront.
    let one = |a, b| !field.per_lane() || lanes.of_lane(a) == lanes.of_lane(b);
    elements
        .chunk_by(|a, b| a + 1 == *b && one(*a, *b))
        .flat_map(|run| match run {
            [first, .., last] if run.len() > 2 => vec![format!("{}..{}", name(first), name(last))],
            few => few.iter().map(name).collect(),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Groups the differing elements `diffs` into columns of equal values. The list of elements must fit above its column.
fn columns(field: &Field, lanes: Wavefronts, diffs: &[&Diff]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for diff in diffs {
        let sides = [diff.rtl, diff.golden].map(field.show);
        let more = |column: &Column| {
            let more = [&column.elements[..], &[diff.element]].concat();
            let which = ranges(field, lanes, &more);
            (column.sides == sides && which.len() <= HEADER).then_some((more, which))
        };
        let mut fits = columns.iter_mut();
        match fits.find_map(|column| more(column).map(|more| (column, more))) {
            Some((column, more)) => (column.elements, column.which) = more,
            None => columns.push(Column {
                elements: vec![diff.element],
                which: ranges(field, lanes, &[diff.element]),
                sides,
            }),
        }
    }
    columns
}

/// Returns whether `field` is one value for any number of lanes.
fn is_single(field: &Field) -> bool {
    !field.per_lane() && field.elements(0) == 1
}

/// Returns the row of `field`, of which at least one element is in `diffs`.
fn differing(
    field: &'static Field,
    lanes: usize,
    wavefronts: Wavefronts,
    diffs: &[&Diff],
    states: [&[u8]; 2],
) -> Row {
    if field.per_lane() && field.width == 1 && diffs.len() > 1 {
        let elements: Vec<usize> = diffs.iter().map(|d| d.element).collect();
        // RTL that drives bits above the last lane must be detected.
        let count = elements.iter().fold(lanes, |most, i| most.max(i + 1));
        let bits = |state: &[u8]| mask_in_eights(count, |i| field.get(state, i) != 0);
        return Row::Mask {
            name: field.name,
            differ: match ranges(field, wavefronts, &elements) {
                which if which.len() <= LIST => format!("lanes {which}"),
                _ => format!("{} lanes", elements.len()),
            },
            sides: states.map(bits),
        };
    }
    let mut columns = columns(field, wavefronts, diffs);
    if columns.len() > 1 {
        return Row::Columns {
            name: field.name,
            element: match (field.per_lane(), field.per_wavefront) {
                (true, _) => "lane",
                (_, true) => "wavefront",
                _ => "entry",
            },
            differ: diffs.len(),
            columns,
        };
    }
    let Column { which, sides, .. } = columns.remove(0);
    Row::Value {
        name: match is_single(field) {
            true => field.name.to_owned(),
            false => format!("{}[{which}]", field.name),
        },
        sides,
        differs: true,
    }
}

impl Table {
    /// Creates the table of two states of `lanes` lanes that differ in `diffs`; `expected` is the heading of the second.
    pub fn new<D: Design>(
        rtl: &D::State,
        golden: &D::State,
        diffs: &[Diff],
        lanes: usize,
        expected: &'static str,
    ) -> Self {
        let states = [bytes_of(rtl), bytes_of(golden)];
        let (mut single, mut several, mut context) = (Vec::new(), Vec::new(), Vec::new());
        let wavefronts = Wavefronts::of::<D>(lanes);
        // The wavefront of the first difference, if it is that of one.
        let first = diffs.first().and_then(|diff| {
            let field = &D::fields()[diff.field];
            match field.per_lane() {
                true => wavefronts.of_lane(diff.element),
                false => field.per_wavefront.then_some(diff.element),
            }
        });
        for (index, field) in D::fields().iter().enumerate() {
            let diffs: Vec<&Diff> = diffs.iter().filter(|d| d.field == index).collect();
            if !diffs.is_empty() {
                let rows = if is_single(field) {
                    &mut single
                } else {
                    &mut several
                };
                rows.push(differing(field, lanes, wavefronts, &diffs, states));
            } else if field.context {
                let element = first.filter(|_| field.per_wavefront);
                let name = match element {
                    Some(wavefront) => format!("{}[{wavefront}]", field.name),
                    None if is_single(field) => field.name.to_owned(),
                    None => continue,
                };
                let shown = |state| (field.show)(field.get(state, element.unwrap_or(0)));
                context.push(Row::Value {
                    name,
                    sides: states.map(shown),
                    differs: false,
                });
            }
        }
        Table {
            rows: [single, several, context].concat(),
            expected,
        }
    }

    /// Returns the greatest width that `get` returns for the rows, at least `least`.
    fn width(&self, least: usize, get: impl Fn(&str, &Sides) -> usize) -> usize {
        let of = |row: &Row| match row {
            Row::Value { name, sides, .. } => get(name, sides),
            Row::Mask { name, .. } | Row::Columns { name, .. } => get(name, &Sides::default()),
        };
        self.rows.iter().map(of).fold(least, usize::max)
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let a = self.width(10, |name, _| name.len());
        let b = self.width(16, |_, sides| sides[0].len());
        let c = self.width(16, |_, sides| sides[1].len());
        // A row of one value, or the first line of a block.
        let line = |f: &mut Formatter<'_>, name: &str, values: String, mark: &str| {
            let (name, values) = (format!("{name:<a$}"), format!("{values:<0$}", b + 2 + c));
            writeln!(f, "{}", format!("  {name}  {values}{mark}").trim_end())
        };
        line(f, "field", format!("{:<b$}  {}", "rtl", self.expected), "")?;
        for row in &self.rows {
            match row {
                Row::Value {
                    name,
                    sides: [rtl, golden],
                    differs,
                } => {
                    let mark = if *differs { MARK } else { "" };
                    line(f, name, format!("{rtl:<b$}  {golden}"), mark)?;
                }
                Row::Mask {
                    name,
                    differ,
                    sides: [rtl, golden],
                } => {
                    line(f, name, differ.clone(), MARK)?;
                    writeln!(f, "    rtl     {rtl}\n    golden  {golden}")?;
                }
                Row::Columns {
                    name,
                    element,
                    differ,
                    columns,
                } => {
                    let plural = match *element {
                        "entry" => "entries".to_owned(),
                        element => format!("{element}s"),
                    };
                    line(f, name, format!("{differ} {plural}"), MARK)?;
                    block(f, element, columns)?;
                }
            }
        }
        Ok(())
    }
}

/// Writes columns below each other, as many per line as fit.
fn block(f: &mut Formatter<'_>, element: &str, columns: &[Column]) -> fmt::Result {
    let mut names = [
        "    ".to_owned() + element,
        "    rtl".into(),
        "    golden".into(),
    ];
    for name in &mut names {
        *name = format!("{name:<10}");
    }
    let mut lines = names.clone();
    for column in columns {
        let [rtl, golden] = &column.sides;
        let cells = [&column.which, rtl, golden];
        let width = cells.iter().map(|cell| cell.len()).max().unwrap_or(0);
        if lines[0].len() > names[0].len() && lines[0].len() + 2 + width > WIDTH {
            writeln!(f, "{}", lines.join("\n"))?;
            lines = names.clone();
        }
        for (line, cell) in lines.iter_mut().zip(cells) {
            *line += &format!("  {cell:>width$}");
        }
    }
    writeln!(f, "{}", lines.join("\n"))
}
