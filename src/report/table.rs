//! The table of a report: what RTL and golden hold, and where they differ.
//!
//! Single values that differ come first, each a row; then fields with several elements, each a row or a block
//! whatever the number of elements that differ; then what one wants to see beside them. Nothing that differs is
//! left out.

use std::fmt::{self, Display, Formatter};

use bytemuck::bytes_of;

use crate::design::Design;
use crate::field::{Diff, Field, mask_in_eights};

/// Characters of a line.
const WIDTH: usize = 100;
/// Characters of the elements above a column.
const HEADER: usize = 24;
/// Characters of the list of lanes above a mask.
const LIST: usize = 60;
/// Mark of what differs.
const MARK: &str = "  <--";

/// What RTL and golden hold.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

/// RTL and golden, in this order.
type Sides = [String; 2];

#[derive(Clone, Debug)]
enum Row {
    /// A single value.
    Value {
        name: String,
        sides: Sides,
        differs: bool,
    },
    /// A field of a bit for each lane: which of them differ, and all of them.
    Mask {
        name: &'static str,
        differ: String,
        sides: Sides,
    },
    /// A field of several elements, those that differ in columns of equal values.
    Columns {
        name: &'static str,
        /// Lane or entry.
        element: &'static str,
        differ: usize,
        columns: Vec<Column>,
    },
}

/// Elements with the same values.
#[derive(Clone, Debug)]
struct Column {
    elements: Vec<usize>,
    sides: Sides,
}

/// Numbers in ascending order, runs of three and more as `first..last`.
fn ranges(elements: &[usize]) -> String {
    elements
        .chunk_by(|a, b| a + 1 == *b)
        .flat_map(|run| match run {
            [first, .., last] if run.len() > 2 => vec![format!("{first}..{last}")],
            few => few.iter().map(usize::to_string).collect(),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The elements that differ, `diffs`, in columns of equal values whose elements fit above them.
fn columns(field: &Field, diffs: &[&Diff]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for diff in diffs {
        let sides = [diff.rtl, diff.golden].map(field.show);
        let fits = |column: &&mut Column| {
            let more = [&column.elements[..], &[diff.element]].concat();
            column.sides == sides && ranges(&more).len() <= HEADER
        };
        match columns.iter_mut().find(fits) {
            Some(column) => column.elements.push(diff.element),
            None => columns.push(Column {
                elements: vec![diff.element],
                sides,
            }),
        }
    }
    columns
}

/// Whether `field` is one value, whatever the number of lanes.
fn is_single(field: &Field) -> bool {
    !field.per_lane() && field.elements(0) == 1
}

/// The row of `field`, of which `diffs` differ, one at least.
fn differing(field: &'static Field, lanes: usize, diffs: &[&Diff], states: [&[u8]; 2]) -> Row {
    if field.per_lane() && field.width == 1 && diffs.len() > 1 {
        let elements: Vec<usize> = diffs.iter().map(|d| d.element).collect();
        // A bench that drives bits above the last lane must be seen.
        let count = elements.iter().fold(lanes, |most, i| most.max(i + 1));
        let bits = |state: &[u8]| mask_in_eights(count, |i| field.get(state, i) != 0);
        return Row::Mask {
            name: field.name,
            differ: match ranges(&elements) {
                which if which.len() <= LIST => format!("lanes {which}"),
                _ => format!("{} lanes", elements.len()),
            },
            sides: states.map(bits),
        };
    }
    let mut columns = columns(field, diffs);
    if columns.len() > 1 {
        return Row::Columns {
            name: field.name,
            element: if field.per_lane() { "lane" } else { "entry" },
            differ: diffs.len(),
            columns,
        };
    }
    let Column { elements, sides } = columns.remove(0);
    Row::Value {
        name: match is_single(field) {
            true => field.name.to_owned(),
            false => format!("{}[{}]", field.name, ranges(&elements)),
        },
        sides,
        differs: true,
    }
}

impl Table {
    /// The table of two states of `lanes` lanes that differ in `diffs`.
    pub fn new<D: Design>(rtl: &D::State, golden: &D::State, diffs: &[Diff], lanes: usize) -> Self {
        let states = [bytes_of(rtl), bytes_of(golden)];
        let (mut single, mut several, mut context) = (Vec::new(), Vec::new(), Vec::new());
        for (index, field) in D::fields().iter().enumerate() {
            let diffs: Vec<&Diff> = diffs.iter().filter(|d| d.field == index).collect();
            if !diffs.is_empty() {
                let rows = if is_single(field) {
                    &mut single
                } else {
                    &mut several
                };
                rows.push(differing(field, lanes, &diffs, states));
            } else if is_single(field) && field.context {
                context.push(Row::Value {
                    name: field.name.to_owned(),
                    sides: states.map(|state| (field.show)(field.get(state, 0))),
                    differs: false,
                });
            }
        }
        Table {
            rows: [single, several, context].concat(),
        }
    }

    /// The widest of what `get` takes from the values, `least` at least.
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
        line(f, "field", format!("{:<b$}  golden", "rtl"), "")?;
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
                    let plural = if *element == "lane" {
                        "lanes"
                    } else {
                        "entries"
                    };
                    line(f, name, format!("{differ} {plural}"), MARK)?;
                    block(f, element, columns)?;
                }
            }
        }
        Ok(())
    }
}

/// Columns below each other, as many in a line as there is room for.
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
        let cells = [&ranges(&column.elements), rtl, golden];
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

#[cfg(all(test, feature = "units"))]
mod tests {
    use super::*;
    use crate::field::diff;
    use crate::r500::R500;
    use crate::r700::R700;
    use crate::spa5::Spa5;
    use crate::unit::Unit;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn table<U: Unit>(lanes: usize, rtl: U::State, golden: U::State) -> String {
        let diffs = diff(U::fields(), lanes, bytes_of(&rtl), bytes_of(&golden));
        let table = Table::new::<U>(&rtl, &golden, &diffs, lanes).to_string();
        table.lines().map(|line| format!("|{line}\n")).collect()
    }

    /// With twelve rows of `active[n]` and "22 more", neither PC nor status was there.
    #[test]
    fn single_values_that_differ_stand_above_the_lanes_that_do() {
        let golden = crate::spa5::state::State {
            active: 0xffff_00f0,
            exited: 0x0000_000f,
            pc: 0x28,
            sp: 2,
            ..Default::default()
        };
        let rtl = crate::spa5::state::State {
            active: 0x00ff_ff00,
            exited: 0x0000_000e,
            pc: 0x30,
            status: 3,
            ..golden
        };
        assert_eq!(
            table::<Spa5>(32, rtl, golden),
            "\
|  field       rtl               golden
|  pc          0x030             0x028             <--
|  status      UNWIND            RUN               <--
|  active      lanes 4..15 24..31                  <--
|    rtl     ........ ######## ######## ........
|    golden  ....#### ........ ######## ########
|  exited[0]   0                 1                 <--
|  top_addr    0x000             0x000
|  sp          2                 2
|  err         0 OK              0 OK
|  vis         0000              0000
|  top_type    -                 -
"
        );
    }

    #[test]
    fn lanes_with_equal_values_share_a_column() {
        let golden = crate::r500::state::State {
            bc: [0b1111, 0, 0b0011, 0, 0],
            loops: [0x1_0503, 0, 0, 0],
            ..Default::default()
        };
        let rtl = crate::r500::state::State {
            st: [0xf0f0, 0],
            bc: [0b0001, 0, 0b1011, 0, 1 << 15],
            loops: [0x1_0403, 7, 0, 0],
            ..golden
        };
        assert_eq!(
            table::<R500>(16, rtl, golden),
            "\
|  field            rtl               golden
|  st[4..7 12..15]  BRANCH            ACTIVE            <--
|  bc               4 lanes                             <--
|    lane    1  2  3  15
|    rtl     4  0  4  16
|    golden  5  1  1   0
|  loops            2 entries                           <--
|    entry              0              1
|    rtl     REP n=4 aL=3  LOOP n=0 aL=7
|    golden  REP n=5 aL=3  LOOP n=0 aL=0
|  pc               0x000             0x000
|  loop_depth       0                 0
|  addr_depth       0                 0
|  err              0 OK              0 OK
"
        );
    }

    /// Every single value that differs has its row, every lane that differs is named or counted, and no line is too
    /// long, whatever differs.
    fn whatever_differs_is_shown<U: Unit>(rng: &mut Pcg64Mcg) {
        for lanes in [1, 4, 16, 32, 33, 64] {
            for odds in [1, 4, 64] {
                let golden = U::State::default();
                let mut rtl = golden;
                for field in U::fields() {
                    for element in 0..field.elements(lanes) {
                        for bit in 0..field.width as usize {
                            if rng.random_ratio(1, odds) {
                                field.flip(bytemuck::bytes_of_mut(&mut rtl), element, bit);
                            }
                        }
                    }
                }
                let diffs = diff(U::fields(), lanes, bytes_of(&rtl), bytes_of(&golden));
                let text = table::<U>(lanes, rtl, golden);
                for line in text.lines() {
                    assert!(line.len() <= 1 + WIDTH, "{lanes}: {} {line}", line.len());
                }
                for (index, field) in U::fields().iter().enumerate() {
                    let differs = diffs.iter().any(|d| d.field == index);
                    let row = |line: &str| {
                        let name = line[1..].trim_start().split([' ', '[']).next();
                        name == Some(field.name) && line.ends_with(MARK)
                    };
                    let rows = text.lines().filter(|line| row(line)).count();
                    assert_eq!(
                        rows,
                        usize::from(differs),
                        "{lanes}: {}\n{text}",
                        field.name
                    );
                }
            }
        }
    }

    #[test]
    fn whatever_differs_is_in_the_table() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        whatever_differs_is_shown::<R500>(&mut rng);
        whatever_differs_is_shown::<R700>(&mut rng);
        whatever_differs_is_shown::<Spa5>(&mut rng);
    }
}
