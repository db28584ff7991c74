//! Groups of bins: what they say, and errors that name file, line and key.

use reconverge_declaration::{Condition, MAX_BINS, Operand};

use crate::{parse, refused};

const FIFO: &str = r#"name = "fifo"
doc = "a FIFO."

[[parameter]]
name = "DEPTH"
default = 4
range = [1, 16]

[[enum]]
name = "mode"
names = ["Idle", "Fill", "Drain"]
values = [1, 2, 4]

[[pin]]
name = "rst_n"
port = "rst_ni"
reset = "low"
doc = "Reset."

[[pin]]
name = "push"
doc = "Put one in."

[[pin]]
name = "data"
width = 8
doc = "Data."

[[pin]]
name = "words"
width = 8
count = 2
doc = "A list."

[[state]]
name = "level"
width = 5
output = "level_o"
doc = "Entries in use."

[[state]]
name = "ready"
output = "ready_o"
sampled = true
doc = "There is room."

[[state]]
name = "mode"
width = 3
enum = "mode"
output = "mode_o"
doc = "What it does."

[[state]]
name = "data"
width = 8
output = "data_o"
doc = "The oldest."
"#;

/// A group with each kind of axis. Its table begins in line 60 of the file.
const USE: &str = r#"
[[cover]]
name = "use"
doc = "each push at each level"
when = "ready == 1 && next.level + 1 > DEPTH"
unreachable = [
  { at = { level = ["0", "DEPTH"], push = 1 }, why = "there is a reason" },
  { at = { level = "1..DEPTH" }, when = "DEPTH == 1", why = "there is no other" },
]

[[cover.axis]]
of = "level"
bins = [0, "DEPTH", "1..DEPTH"]

[[cover.axis]]
of = "push"

[[cover.axis]]
name = "data"
bin = [
  { name = "small", when = "pin.data < 0x10" },
  { name = "same", when = "pin.data == state.data || mode == Drain" },
]
"#;

/// Returns the comparisons of `condition` as text.
fn shown(condition: &Condition) -> String {
    let side = |of: &Operand, plus: u64| match of {
        Operand::Number(n) => n.to_string(),
        Operand::Lanes => "lanes".to_owned(),
        Operand::Pin(n) => format!("pin {n}+{plus}"),
        Operand::Before(n) => format!("before {n}+{plus}"),
        Operand::After(n) => format!("after {n}+{plus}"),
        Operand::Coverpoint(n) => format!("coverpoint {n}+{plus}"),
        Operand::Parameter(n) => format!("parameter {n}+{plus}"),
    };
    let any = condition.0.iter().map(|all| {
        let all = all.iter().map(|c| {
            let [left, right] = [&c.left, &c.right].map(|sum| side(&sum.of, sum.plus));
            format!("{left} {} {right}", c.operator)
        });
        all.collect::<Vec<_>>().join(" && ")
    });
    any.collect::<Vec<_>>().join(" || ")
}

#[test]
fn a_group_has_axes_conditions_and_what_cannot_be_hit() {
    let declaration = parse(&format!("{FIFO}{USE}")).unwrap();
    let [group, values] = &declaration.covers[..] else {
        panic!("{:?}", declaration.covers);
    };
    // A field is as before the cycle, a sampled one as in it; a cycle with the reset asserted does not count.
    assert_eq!(
        shown(&group.when),
        "after ready+0 == 1 && after level+1 > parameter DEPTH+0 && pin rst_n+0 == 1"
    );
    let bins = group.axes.iter().map(|axis| {
        let bins = axis.bins.iter();
        let bins = bins.map(|(name, when)| format!("{name}: {}", shown(when)));
        (axis.name.as_str(), bins.collect::<Vec<_>>())
    });
    let expected: [(&str, &[&str]); 3] = [
        (
            "level",
            &[
                "0: before level+0 == 0",
                "DEPTH: before level+0 == parameter DEPTH+0",
                "1..DEPTH: before level+0 >= 1 && before level+0 <= parameter DEPTH+0",
            ],
        ),
        ("push", &["0: pin push+0 == 0", "1: pin push+0 == 1"]),
        (
            "data",
            &[
                "small: pin data+0 < 16",
                "same: pin data+0 == before data+0 || before mode+0 == 4",
            ],
        ),
    ];
    for ((name, bins), (axis, expected)) in bins.zip(expected) {
        assert_eq!((name, bins.join("\n")), (axis, expected.join("\n")));
    }
    let at: Vec<_> = group.unreachable.iter().map(|one| &one.at).collect();
    assert_eq!(
        at,
        [
            &vec![vec![0, 1], vec![1], vec![]],
            &vec![vec![2], vec![], vec![]]
        ]
    );
    assert_eq!(shown(&group.unreachable[1].when), "parameter DEPTH+0 == 1");
    // The values of an enum count without being asked for, those of a reset too.
    assert!(values.of_enum && values.name == "values of field mode");
    assert_eq!(shown(&values.when), "");
    assert_eq!(shown(&values.axes[0].bins[2].1), "after mode+0 == 4");
    // Unless a group has them.
    let own = USE
        .replace("of = \"push\"", "of = \"mode\"")
        .replace("push = 1", "mode = \"Fill\"");
    let declaration = parse(&format!("{FIFO}{own}")).unwrap();
    assert_eq!(declaration.covers.len(), 1);
    assert_eq!(declaration.covers[0].axes[1].bins[1].0, "Fill");
    // A condition on the reset stands as it is.
    let reset = USE.replace("ready == 1 &&", "rst_n == 0 &&");
    let declaration = parse(&format!("{FIFO}{reset}")).unwrap();
    assert!(shown(&declaration.covers[0].when).starts_with("pin rst_n+0 == 0 && after level"));
    assert!(!shown(&declaration.covers[0].when).ends_with("rst_n+0 == 1"));
}

#[test]
fn what_is_wrong_with_a_group_is_said_with_file_line_and_key() {
    refused("cover", USE, |text| parse(&format!("{FIFO}{text}")));
}

#[test]
fn a_coverpoint_is_a_number_for_conditions_and_axes_of_groups() {
    let points = r#"
[[coverpoint]]
name = "open"
width = 3

[[coverpoint]]
name = "kind"
enum = "mode"

[[cover]]
name = "opens"
doc = "each number of open requests"
when = "open + 1 > DEPTH && kind != Fill"

[[cover.axis]]
of = "open"
"#;
    let declaration = parse(&format!("{FIFO}{points}")).unwrap();
    let widths = declaration.coverpoints.iter().map(|point| point.width);
    assert_eq!(widths.collect::<Vec<_>>(), [3, 3]);
    let group = &declaration.covers[0];
    assert!(
        shown(&group.when)
            .starts_with("coverpoint open+1 > parameter DEPTH+0 && coverpoint kind+0 != 2 && "),
        "{}",
        shown(&group.when)
    );
    assert_eq!(group.axes[0].bins.len(), 8);
    assert_eq!(shown(&group.axes[0].bins[7].1), "coverpoint open+0 == 7");
    // The values of its enum count, unless an axis is of it.
    let names = declaration.covers.iter().map(|group| group.name.as_str());
    let names: Vec<_> = names.collect();
    assert_eq!(
        names,
        ["opens", "values of field mode", "values of coverpoint kind"]
    );
    // Only bins have it.
    let hidden = FIFO.replace(
        "name = \"data\"\nwidth = 8\noutput",
        "name = \"data\"\nwidth = 8\nvalid = \"open == 1\"\noutput",
    );
    let said = parse(&format!("{hidden}{points}")).unwrap_err();
    assert!(
        said.ends_with("valid: no pin or field \"open\" that is one number"),
        "{said}"
    );
}

#[test]
fn what_is_wrong_with_a_coverpoint_is_said_with_file_line_and_key() {
    let point = "[[coverpoint]]\nname = \"open\"\n";
    for (text, said) in [
        (
            "[[coverpoint]]\nwidth = 3\n".to_owned(),
            "coverpoint[0].name: missing",
        ),
        (format!("{point}{point}"), "name: given twice"),
        (
            point.replace("open", "level"),
            "name: \"level\" is the name of a pin or a field",
        ),
        (
            point.replace("open", "push"),
            "name: \"push\" is the name of a pin or a field",
        ),
        (
            format!("{point}width = 65\n"),
            "width: 65 is not a number from 1 to 64",
        ),
        (
            format!("{point}enum = \"other\"\n"),
            "enum: no enum \"other\"",
        ),
        (
            format!("{point}enum = \"mode\"\nwidth = 3\n"),
            "width: an enum has its own",
        ),
        (
            format!("{point}percent = 3\n"),
            "percent: unknown; known here: name, enum, width",
        ),
    ] {
        let error = parse(&format!("{FIFO}{text}")).unwrap_err();
        assert!(error.ends_with(said), "{text}: {error}");
    }
}

#[test]
fn there_are_not_more_bins_than_the_limit() {
    let axes = |n: usize| {
        let axis = "[[cover.axis]]\nof = \"level\"\nname = \"A\"\n";
        let axes = (0..n).map(|i| axis.replace('A', &format!("a{i}")));
        format!(
            "{FIFO}[[cover]]\nname = \"many\"\ndoc = \"Many.\"\n{}",
            axes.collect::<String>()
        )
    };
    // 32 bins an axis, and three of the enum.
    parse(&axes(3)).unwrap();
    let said = parse(&axes(4)).unwrap_err();
    let bins = 32_usize.pow(4) + 3;
    let message = format!("cover: {bins} bins, and {MAX_BINS} is the most");
    assert!(said.ends_with(&message), "{said}");
}
