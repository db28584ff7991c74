//! Results as JUnit XML, for CI systems. A suite for each unit; in it a test for each kind of program, which
//! stands for all that passed, and a test for each failure, with the name of its run.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use reconverge::campaign::{NOT_PRELOADED, OfKind};
use reconverge::design::Design as _;

use crate::shows::Shows;
use crate::whole::Whole;

pub type Suite = TestSuite;

/// Returns the suite of a campaign; `reports` are those of its failures.
pub fn suite<C: Shows>(whole: &Whole<C>, reports: &[String], took: Option<Duration>) -> Suite {
    let &Whole {
        summary,
        counted,
        options,
        build,
        ..
    } = whole;
    let campaign = whole.campaign();
    let mut suite = TestSuite::new(&campaign);
    suite.add_property(("seed", options.seed.to_string().as_str()));
    if let Some(took) = took {
        suite.set_time(took);
    }
    for (kind, &OfKind { programs, cycles }) in &summary.kinds {
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
        let mut test = match skipped {
            true => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(format!("{programs} {}s: {NOT_PRELOADED}", C::NOUN));
                TestCase::new(name, status)
            }
            false => TestCase::new(name, TestCaseStatus::success()),
        };
        test.set_classname(&campaign);
        if !skipped {
            if let Some(took) = summary.took.get(kind) {
                test.set_time(*took);
            }
            test.set_system_out(format!(
                "{passed} {}s passed, {cycles} cycles agreed",
                C::NOUN
            ));
        }
        suite.add_test_case(test);
    }
    for (failed, report) in summary.failures.iter().zip(reports) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status
            .set_type(failed.failure.kind())
            .set_message(failed.failure.message())
            .set_description(report);
        let mut test = TestCase::new(failed.failure.case.name(), status);
        test.set_classname(&campaign);
        suite.add_test_case(test);
    }
    suite
}

/// Returns `suite` with an error: its campaign did not come to its end, for the reason `why`.
pub fn with_error(mut suite: Suite, why: &str) -> Suite {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(why.lines().next().unwrap_or_default());
    status.set_description(why);
    let mut test = TestCase::new("campaign", status);
    test.set_classname(suite.name.as_str());
    suite.add_test_case(test);
    suite
}

/// Returns the suite of a campaign of `unit` that could not be run, for the reason `why`.
pub fn not_run(unit: &str, why: &str) -> Suite {
    with_error(TestSuite::new(unit), why)
}

/// Returns the whole file.
pub fn text(suites: Vec<Suite>) -> Result<String, String> {
    let mut report = Report::new("reconverge");
    report.add_test_suites(suites);
    report.to_string().map_err(|e| format!("--junit: {e}"))
}
