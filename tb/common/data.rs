//! Tests as data: a file of inputs, each with its output below it, four spaces further in. Lines that are empty or begin with `#`
//! are comments.

use snapbox::assert::Action;
use snapbox::{Assert, Data};

/// Compares the outputs in file `path` of the repository with what `answer` gives for each input, and prints the difference. If
/// `golden`, `SNAPSHOTS=overwrite` writes the outputs into the file.
pub fn compare(path: &str, golden: bool, mut answer: impl FnMut(&str) -> String) {
    let path = format!("{}/{path}", reconverge::ROOT);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let (mut found, mut inputs) = (String::new(), 0);
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        found += &format!("{line}\n");
        if !line.is_empty() && !line.starts_with('#') {
            let output = answer(line);
            found.extend(output.lines().map(|line| format!("    {line}\n")));
            inputs += 1;
        }
    }
    assert!(inputs > 0, "{path}: no inputs");
    let assert = match golden {
        true => Assert::new().action_env("SNAPSHOTS"),
        false => Assert::new().action(Action::Verify),
    };
    assert.eq(found, Data::read_from(path.as_ref(), None).raw());
}
