//! Changes of a text as data. Behind `- ` the lines that stand in it, behind `+ ` those that take their place; if there are none, the whole
//! line goes. What is expected of the change stands below it, four spaces further in. Another line names the file that the changes below
//! it are for. Lines that are empty or begin with `#` are comments.

use std::fs;

/// A change of a text.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The file that is changed.
    pub file: String,
    /// What stands there.
    pub from: String,
    /// What takes its place.
    pub to: String,
    /// What is expected.
    pub expected: String,
}

/// Reads the changes in file `path`.
pub fn changes(path: &str) -> Vec<Change> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let (mut file, mut changes, mut before) = ("", Vec::<Change>::new(), ' ');
    for line in text.lines() {
        let sign = line.chars().next().unwrap_or('#');
        let rest = line.get(2..).unwrap_or_default();
        if sign == '-' && before != '-' {
            let file = file.to_owned();
            changes.push(Change {
                file,
                ..Change::default()
            });
        }
        let push = |lines: &mut String| match before == sign {
            true => *lines += &format!("\n{rest}"),
            false => rest.clone_into(lines),
        };
        match (sign, changes.last_mut()) {
            ('#', _) => {}
            ('-', Some(change)) => push(&mut change.from),
            ('+', Some(change)) => push(&mut change.to),
            (' ', Some(change)) => {
                assert!(
                    change.expected.is_empty(),
                    "{path}: two expectations: {line}"
                );
                line.trim_start().clone_into(&mut change.expected);
            }
            _ => file = line,
        }
        before = sign;
    }
    assert!(!changes.is_empty(), "{path}: no changes");
    for change in changes.iter_mut().filter(|change| change.to.is_empty()) {
        change.from.push('\n');
    }
    changes
}
