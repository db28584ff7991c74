//! `picture`: what the SVG draws is what the rows of the run say.

use std::fs;

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use crate::common::{Tested, arg, program, reconverge_ends, refusal};
use reconverge::case::Case;
use reconverge::show::{Class, Item, Run, svg};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                a_picture_draws_every_lane_of_every_row,
                a_picture_of_a_mismatch_frames_the_lanes_that_differ,
                a_long_run_is_cut_and_its_strip_counts_every_lane,
            );
        }
    )+};
}
for_each_unit!(tests);

/// A cell: left edge, width, class.
type Cell = (usize, usize, String);

/// What a picture draws.
#[derive(Default)]
struct Drawn {
    /// Of each row: cycle, address, cells of its lanes, depth of its stack, frames that are drawn.
    rows: Vec<(u64, u32, Vec<Cell>, usize, usize)>,
    /// Texts of each row.
    said: Vec<Vec<String>>,
    /// Left edges of the frames around lanes that differ.
    wrong: Vec<usize>,
    /// Cells of RTL and golden.
    sides: Vec<Vec<Cell>>,
    /// Lanes in the strip, and rows that it is about.
    strip: Option<(u64, u64)>,
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let value = tag.try_get_attribute(name).unwrap()?;
    Some(String::from_utf8(value.value.to_vec()).unwrap())
}

fn number(tag: &BytesStart<'_>, name: &str) -> u64 {
    let value = attribute(tag, name).unwrap_or_else(|| panic!("no {name}: {tag:?}"));
    value.parse().unwrap()
}

fn drawn(picture: &str) -> Drawn {
    let mut drawn = Drawn::default();
    let mut reader = Reader::from_str(picture);
    let mut within = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) => {
                let group = attribute(&tag, "class").unwrap_or_default();
                match group.as_str() {
                    "row" => {
                        let pc = number(&tag, "data-pc") as u32;
                        drawn
                            .rows
                            .push((number(&tag, "data-cycle"), pc, Vec::new(), 0, 0));
                        drawn.said.push(Vec::new());
                    }
                    _ if tag.name().as_ref() == b"text" => {
                        drawn
                            .said
                            .last_mut()
                            .into_iter()
                            .for_each(|said| said.push(String::new()));
                    }
                    "side" => drawn.sides.push(Vec::new()),
                    "strip" => drawn.strip = Some((0, number(&tag, "data-rows"))),
                    "stack" if within.contains(&"row".to_owned()) => {
                        drawn.rows.last_mut().unwrap().3 = number(&tag, "data-depth") as usize;
                    }
                    _ => {}
                }
                within.push(group);
            }
            Event::Text(part) if within.contains(&"row".to_owned()) => {
                let part = part.decode().unwrap();
                let said = drawn.said.last_mut().unwrap().last_mut().unwrap();
                said.push_str(&part);
            }
            // Such as &gt;.
            Event::GeneralRef(name) if within.contains(&"row".to_owned()) => {
                let part = resolve_xml_entity(&name.decode().unwrap()).unwrap();
                let said = drawn.said.last_mut().unwrap().last_mut().unwrap();
                said.push_str(part);
            }
            Event::End(_) => drop(within.pop().unwrap()),
            Event::Empty(tag) if tag.name().as_ref() == b"rect" => {
                let class = attribute(&tag, "class").unwrap();
                let cell = (
                    number(&tag, "x") as usize,
                    number(&tag, "width") as usize,
                    class,
                );
                match (cell.2.as_str(), within.last().map(String::as_str)) {
                    ("wrong", _) => drawn.wrong.push(cell.0),
                    ("frame", Some("stack")) if within.contains(&"row".to_owned()) => {
                        drawn.rows.last_mut().unwrap().4 += 1;
                    }
                    (_, Some("row")) => drawn.rows.last_mut().unwrap().2.push(cell),
                    (_, Some("side")) => drawn.sides.last_mut().unwrap().push(cell),
                    (_, Some("strip")) => {
                        drawn.strip.as_mut().unwrap().0 += number(&tag, "data-lanes");
                    }
                    _ => {}
                }
            }
            Event::Eof => return drawn,
            _ => {}
        }
    }
}

fn name(class: Class) -> &'static str {
    match class {
        Class::Active => "active",
        Class::Branch => "branch",
        Class::Continue => "continue",
        Class::Break => "break",
        Class::Return => "return",
        Class::Off => "off",
    }
}

/// The class of each of `lanes` lanes that cells show, and where the lanes begin.
fn classes(cells: &[Cell], lanes: usize) -> Vec<(usize, String)> {
    let wide = cells.iter().map(|(_, w, _)| w + 1).sum::<usize>() / lanes;
    let mut all = Vec::new();
    for (x, w, class) in cells {
        let many = (w + 1) / wide;
        all.extend((0..many).map(|i| (x + i * wide, class.clone())));
    }
    assert!(all.is_sorted_by(|a, b| a.0 < b.0), "no lane hides another");
    assert_eq!(all.len(), lanes, "{cells:?}");
    all
}

fn a_picture_draws_every_lane_of_every_row<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("p.svg");
    reconverge_ends(
        0,
        &[
            "picture",
            U::NAME,
            &program::<U>(U::LONG),
            "--seed",
            "3",
            "-o",
            arg(&file),
        ],
    );
    let picture = fs::read_to_string(&file).unwrap();
    assert!(picture.contains("@media(prefers-color-scheme:dark)"));
    let mut case = Case::<U>::new(crate::common::loaded::<U>(U::LONG));
    case.seed = 3;
    let run = Run::of(&case, u64::MAX, None, true, svg::LINES);
    let rows: Vec<_> = run
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Row(row) => Some(row),
            Item::Again { .. } => None,
        })
        .collect();
    let drawn = drawn(&picture);
    assert_eq!(drawn.rows.len(), rows.len());
    assert!(rows.len() > 20 && rows.iter().any(|row| !row.found.stack.is_empty()));
    let mut shapes = std::collections::BTreeSet::new();
    for ((row, (cycle, pc, cells, depth, frames)), said) in
        rows.iter().zip(&drawn.rows).zip(&drawn.said)
    {
        assert_eq!((row.cycle, row.found.pc), (*cycle, *pc));
        let shown: Vec<_> = classes(cells, run.lanes)
            .into_iter()
            .map(|(_, c)| c)
            .collect();
        let found: Vec<_> = row
            .found
            .lanes
            .iter()
            .map(|c| name(*c).to_owned())
            .collect();
        assert_eq!(shown, found, "cycle {cycle}");
        assert_eq!(
            (*depth, *frames),
            (row.found.stack.len(), row.found.stack.len().min(16))
        );
        let text: String = row.text.chars().take(48).collect();
        assert_eq!(said[2], text, "cycle {cycle}");
        shapes.extend(shown);
    }
    assert!(shapes.len() > 2, "{shapes:?}");
}

fn a_picture_of_a_mismatch_frames_the_lanes_that_differ<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("p.svg");
    // A lane that differs: the first and the last.
    for lane in [0, U::LANES - 1] {
        let field = if U::NAME == "spa5" { "active" } else { "st" };
        let flip = format!("{field}[{lane}].0@6");
        let program = program::<U>(U::IF_ELSE);
        let place = [
            "--flip",
            &flip,
            "--picture",
            arg(&file),
            "--out",
            arg(out.path()),
        ];
        reconverge_ends(1, &[&["run", U::NAME, &program][..], &place].concat());
        let drawn = drawn(&fs::read_to_string(&file).unwrap());
        let sides: Vec<_> = drawn
            .sides
            .iter()
            .map(|s| classes(s, U::LANES as usize))
            .collect();
        let [rtl, golden] = &sides[..] else {
            panic!("{} sides", sides.len());
        };
        let differ: Vec<_> = (0..U::LANES)
            .filter(|i| rtl[*i as usize] != golden[*i as usize])
            .collect();
        assert_eq!(differ, [lane], "{flip}");
        let x = rtl[lane as usize].0;
        assert_eq!(drawn.wrong, [x, x], "framed on both sides");
    }
    // A refused name leaves nothing behind.
    let other = out.path().join("p.png");
    let said = refusal(&[
        "picture",
        U::NAME,
        &program::<U>(U::IF_ELSE),
        "-o",
        arg(&other),
    ]);
    assert!(
        said.ends_with(
            "p.png: the name must end in .svg; `rsvg-convert -o FILE.png FILE.svg` makes a PNG\n"
        ),
        "{said}"
    );
    assert!(!other.exists());
}

/// Regression: librsvg and others that know no custom properties drew black on black. Each colour is there literally, before the
/// one that follows the scheme of a browser: as in a light page.
#[test]
fn no_colour_of_a_picture_is_only_a_variable() {
    let args = [
        "picture",
        "spa5",
        "tb/spa5/programs/if_else.s",
        "--flip",
        "pc@9",
        "-o",
        "-",
    ];
    let out = tempfile::tempdir().unwrap();
    let drawn = reconverge_ends(1, &[&args[..], &["--out", arg(out.path())]].concat());
    let pictures = std::path::Path::new(crate::common::ROOT).join("docs/pictures");
    let there = fs::read_dir(pictures)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut pictures: Vec<String> = there
        .filter(|path| path.extension().is_some_and(|e| e == "svg"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(pictures.len() > 3);
    pictures.push(drawn);
    let mut variables = 0;
    for picture in pictures {
        let style = picture.split("<style>").nth(1);
        let style = style.map_or("", |rest| rest.split("</style>").next().unwrap());
        let outside = picture.matches("var(").count() - style.matches("var(").count();
        assert_eq!(outside, 0);
        for rule in style.split('}') {
            let (selector, body) = rule.rsplit_once('{').unwrap_or_default();
            let mut before = ("", "");
            for declared in body.split(';').filter_map(|d| d.split_once(':')) {
                let (property, value) = declared;
                if let Some(name) = value.strip_prefix("var(--") {
                    let [r, g, b] = svg::colour(name.trim_end_matches(')'));
                    let literal = format!("#{r:02x}{g:02x}{b:02x}");
                    assert_eq!(before, (property, literal.as_str()), "{selector}: {value}");
                    variables += 1;
                }
                before = declared;
            }
        }
    }
    assert!(variables > 8, "{variables}");
}

fn a_long_run_is_cut_and_its_strip_counts_every_lane<U: Tested>() {
    let mut case = Case::<U>::new(crate::common::loaded::<U>(U::LONG));
    case.lanes = 4;
    case.conditions = reconverge::case::Conditions::Drawn { p16: 0 };
    case.max_steps = 3000;
    let whole = Run::of(&case, u64::MAX, None, false, usize::MAX);
    for most in [1, 7, svg::LINES] {
        let run = Run::of(&case, u64::MAX, None, false, most);
        let drawn = drawn(&svg::svg(&run));
        assert_eq!(drawn.rows.len() as u64, run.rows.min(most as u64));
        assert_eq!(drawn.rows.len() as u64 + run.left_out, whole.rows);
        if let Some((lanes, rows)) = drawn.strip {
            assert_eq!((lanes, rows), (4 * run.rows, run.rows));
        }
        assert!(run.strip.len() <= 512, "{}", run.strip.len());
    }
    // r500's loop ends, the others' go on.
    assert!(U::NAME == "r500" || whole.rows == 3000);
}
