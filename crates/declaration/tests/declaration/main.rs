//! Declarations: what they say, and errors that name file, line and key.

#[path = "../../../../tb/common/changes.rs"]
mod changes;
mod channels;
mod clocks;
mod cover;
mod errors;
mod ports;
mod units;
mod valid;

use reconverge_declaration::Declaration;

fn parse(text: &str) -> Result<Declaration, String> {
    Declaration::parse("design.toml", text).map_err(|e| e.to_string())
}

/// Each change of `text` in `refused/<name>.txt` is refused with the message below it, or with one that begins so if `...` ends it.
fn refused<T>(name: &str, text: &str, parse: impl Fn(&str) -> Result<T, String>) {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/declaration/refused");
    let mut wrong = String::new();
    for change in changes::changes(&format!("{dir}/{name}.txt")) {
        assert!(text.contains(&change.from), "{change:?}");
        let said = match parse(&text.replacen(&change.from, &change.to, 1)) {
            Ok(_) => panic!("accepted: {change:?}"),
            Err(said) => said,
        };
        let expected = format!("{}:{}", change.file, change.expected);
        let same = match expected.strip_suffix("...") {
            Some(begin) => said.starts_with(begin),
            None => said == expected,
        };
        if !same {
            wrong += &format!("{said}\nis not\n{expected}\n");
        }
    }
    assert_eq!(wrong, "");
}
