//! Results as JUnit XML, for CI systems. A suite for each unit; in it a test for each kind of program, which
//! stands for all that passed, and a test for each failure, with the name of its run.

use std::fmt::Write as _;
use std::time::Duration;

use reconverge::campaign::{NOT_PRELOADED, OfKind};
use reconverge::design::Design as _;
use reconverge::html;
use reconverge::quantity;

use crate::shows::Shows;
use crate::whole::Whole;

/// The tests of a campaign.
#[derive(Clone)]
pub struct Suite {
    name: String,
    seed: Option<u64>,
    time: Option<Duration>,
    tests: Vec<Test>,
}

#[derive(Clone)]
struct Test {
    name: String,
    class: String,
    time: Option<Duration>,
    end: End,
}

/// How a test ended.
#[derive(Clone)]
enum End {
    /// What it printed.
    Passed(String),
    /// Why.
    Skipped(String),
    /// Kind, message and report.
    Failed(&'static str, String, String),
    /// Why there is no result, in a line and as a whole.
    Error(String, String),
}

/// Returns the suite of a campaign; `reports` are those of its failures.
pub fn suite<C: Shows>(whole: &Whole<C>, reports: &[String], took: Option<Duration>) -> Suite {
    let &Whole {
        summary,
        counted,
        options,
        build,
        ..
    } = whole;
    let class = whole.campaign();
    let of_kind = |(kind, &OfKind { programs, cycles }): (&String, &OfKind)| {
        let failed = counted.iter();
        let failed = failed.filter(|f| C::kind(f.number).to_string() == *kind);
        let passed = programs - failed.count() as u64;
        let name = format!(
            "{}.{kind}.{:x}{}",
            C::Design::NAME,
            options.seed,
            build.tag::<C::Design>()
        );
        // Programs of this kind have no compared cycle and no failure: this RTL cannot begin in their start states.
        let skipped = cycles == 0 && passed == programs;
        let (end, time) = match skipped {
            true => {
                let why = format!("{}: {NOT_PRELOADED}", quantity::counted(programs, C::NOUN));
                (End::Skipped(why), None)
            }
            false => {
                let out = format!(
                    "{} passed, {} agreed",
                    quantity::counted(passed, C::NOUN),
                    quantity::counted(cycles, "cycle")
                );
                (End::Passed(out), summary.took.get(kind).copied())
            }
        };
        let class = class.clone();
        Test {
            name,
            class,
            time,
            end,
        }
    };
    let mut tests: Vec<Test> = summary.kinds.iter().map(of_kind).collect();
    for (failed, report) in summary.failures.iter().zip(reports) {
        let failure = &failed.failure;
        tests.push(Test {
            name: failure.case.name(),
            class: class.clone(),
            time: None,
            end: End::Failed(failure.kind(), failure.message(), report.clone()),
        });
    }
    Suite {
        name: class,
        seed: Some(options.seed),
        time: took,
        tests,
    }
}

/// Returns `suite` with an error: its campaign did not come to its end, for the reason `why`.
pub fn with_error(mut suite: Suite, why: &str) -> Suite {
    let first = why.lines().next().unwrap_or_default();
    suite.tests.push(Test {
        name: "campaign".to_owned(),
        class: suite.name.clone(),
        time: None,
        end: End::Error(first.to_owned(), why.to_owned()),
    });
    suite
}

/// Returns the suite of a campaign of `unit` that could not be run, for the reason `why`.
pub fn not_run(unit: &str, why: &str) -> Suite {
    let suite = Suite {
        name: unit.to_owned(),
        seed: None,
        time: None,
        tests: Vec::new(),
    };
    with_error(suite, why)
}

/// Returns the whole file.
pub fn text(suites: &[Suite]) -> String {
    let all: Vec<&Test> = suites.iter().flat_map(|suite| &suite.tests).collect();
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let counts = counts(&all);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<testsuites name=\"reconverge\"{counts}>");
    for suite in suites {
        suite.write(&mut out);
    }
    out + "</testsuites>\n"
}

impl Suite {
    fn write(&self, out: &mut String) {
        let (name, time) = (escaped(&self.name), seconds(self.time));
        let counts = counts(&self.tests.iter().collect::<Vec<_>>());
        let _ = writeln!(out, "    <testsuite name=\"{name}\"{counts}{time}>");
        if let Some(seed) = self.seed {
            let property = format!("            <property name=\"seed\" value=\"{seed}\"/>\n");
            let _ = writeln!(out, "        <properties>\n{property}        </properties>");
        }
        for test in &self.tests {
            test.write(out);
        }
        *out += "    </testsuite>\n";
    }
}

impl Test {
    fn write(&self, out: &mut String) {
        let (name, class) = (escaped(&self.name), escaped(&self.class));
        let time = seconds(self.time);
        let line = match &self.end {
            End::Passed(out) => format!("<system-out>{}</system-out>", escaped(out)),
            End::Skipped(why) => format!("<skipped message=\"{}\"/>", escaped(why)),
            End::Failed(kind, message, report) => format!(
                "<failure message=\"{}\" type=\"{kind}\">{}</failure>",
                escaped(message),
                escaped(report)
            ),
            End::Error(message, why) => format!(
                "<error message=\"{}\">{}</error>",
                escaped(message),
                escaped(why)
            ),
        };
        let _ = writeln!(
            out,
            "        <testcase name=\"{name}\" classname=\"{class}\"{time}>\n            {line}\n        </testcase>"
        );
    }
}

/// Returns the attributes that count `tests`.
fn counts(tests: &[&Test]) -> String {
    let count = |is: fn(&End) -> bool| tests.iter().filter(|test| is(&test.end)).count();
    let skipped = count(|end| matches!(end, End::Skipped(_)));
    let failures = count(|end| matches!(end, End::Failed(..)));
    let errors = count(|end| matches!(end, End::Error(..)));
    let tests = tests.len();
    format!(" tests=\"{tests}\" skipped=\"{skipped}\" failures=\"{failures}\" errors=\"{errors}\"")
}

/// Returns the attribute for a time.
fn seconds(time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| {
        format!(" time=\"{:.3}\"", time.as_secs_f64())
    })
}

/// Returns `raw` as text of XML, without the control characters that XML does not have: RTL may print them.
fn escaped(raw: &str) -> String {
    let raw = raw.replace(|c: char| c.is_control() && c != '\n' && c != '\t', "");
    html::text(&raw.replace(['\u{fffe}', '\u{ffff}'], ""))
}
