//! Logs of Mesa with what a logging service writes before each line, and logs of other programs.

use super::*;

const LOG: &str = "mesa/17_nested_loops.log";

/// What stands before a line, by its number.
type Prefix = fn(usize) -> String;

fn imported(text: &str) -> Result<Imported, InputError> {
    load(text.as_bytes(), "x.log", &Options::default())
}

fn prefixed(text: &str, prefix: impl Fn(usize) -> String) -> String {
    let lines = text.lines().enumerate();
    lines
        .map(|(n, line)| format!("{}{line}\n", prefix(n)))
        .collect()
}

/// The time goes on from line to line; some services escape tabs.
#[test]
fn what_a_logging_service_writes_before_a_line_changes_nothing() {
    let text = read(LOG);
    let plain = imported(&text).unwrap();
    assert_eq!(plain.program.slots.len(), 23);
    let services: [(&str, Prefix); 10] = [
        ("journald", |n| {
            format!("Nov 28 10:11:{:02} host app[1234]: ", n % 60)
        }),
        ("syslog", |n| {
            format!("2026-11-28T10:11:12.{n:06}+00:00 host app[1]: ")
        }),
        ("dmesg", |n| format!("[{:5}.{:06}] app[12]: ", 9 + n, 7 * n)),
        ("dmesg alone", |n| format!("[{:5}.{:06}] ", 9 + n, 7 * n)),
        ("logcat", |_| {
            "11-28 10:11:12.345  1234  1235 I MESA    : ".to_owned()
        }),
        ("logcat -v brief", |_| "I/MESA    ( 1234): ".to_owned()),
        ("docker compose", |_| "game-1  | ".to_owned()),
        ("ts", |n| format!("Nov 28 10:11:{:02} ", n % 60)),
        ("a pipe", |_| "> ".to_owned()),
        ("nothing", |_| String::new()),
    ];
    for (service, prefix) in services {
        let log = prefixed(&text, prefix);
        for log in [
            log.clone(),
            log.replace('\n', "\r\n"),
            log.replace('\t', "#011"),
            log.replace('\t', "\\x09"),
        ] {
            let got = imported(&log).unwrap_or_else(|e| panic!("{service}: {e}"));
            assert_eq!(got.program, plain.program, "{service}");
            assert_eq!(got.warnings, plain.warnings, "{service}");
        }
        // Two programs, of which the end of the log cuts one off: blank lines behind it have a prefix too.
        let cut = &text[..text.find("\n5\t0:CMN_INST").unwrap()];
        let half = &cut[..cut.rfind("\t3:FC_ADDR").unwrap()];
        let log = prefixed(&format!("{text}\n{half}\n\n"), prefix);
        let got = imported(&log).unwrap_or_else(|e| panic!("{service}: {e}"));
        assert_eq!(got.program.slots, plain.program.slots, "{service}");
        let said = "program 2 of the log is cut off at its end, program 1 is taken";
        assert_eq!(got.warnings[0], said, "{service}");
    }
    let own = imported(&read("logs/journal.log")).unwrap();
    assert_eq!(own.program.slots.len(), 4);
}

/// A comment is not a prefix, nor is a name within a longer one.
#[test]
fn a_prefix_is_not_a_comment() {
    let text = "; R500 Fragment Program:\n# 0\t0:CMN_INST 0x00000001\n";
    assert_eq!(recognise(text, "x.s"), Format::Assembly);
    for line in [
        "// app: 0\t0:CMN_INST 0x00000001",
        "app: 0\t0:CMN_INSTS 0x00000001",
        "app: 0\t0xCMN_INST 0x00000001",
        "app: 0\t10:CMN_INST 0x00000001",
        "app: 0\t1:CMN_INST 0x00000001",
    ] {
        assert_eq!(recognise(line, "x.s"), Format::Assembly, "{line}");
    }
    assert_eq!(recognise("app: 0\t0:CMN_INST 0x1", "x.s"), Format::MesaLog);
}

/// Errors have the line of the file.
#[test]
fn damage_behind_a_prefix_is_named() {
    let log = prefixed(&read(LOG), |_| "host app[7]: ".to_owned());
    let changed = log.replacen("app[7]: 1\t0:CMN", "app[7]: 2\t0:CMN", 1);
    assert_ne!(changed, log);
    let line = 1 + changed
        .lines()
        .position(|line| line.contains(": 2\t0:CMN"))
        .unwrap();
    assert_eq!(
        imported(&changed).unwrap_err().to_string(),
        format!("x.log:{line}: slot: slot 2 follows where slot 1 should")
    );
}
