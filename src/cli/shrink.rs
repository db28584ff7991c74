//! What `fuzz` and `replay --shrink` do with a failing case: make it smaller, print it, save it.

use std::path::Path;

use reconverge::case::Case;
use reconverge::dut::Rtl;
use reconverge::shrink::{self, Budget};
use reconverge::unit::{Build, Unit};
use reconverge::wave::{self, shell};

use super::run::rtl_of;
use super::{Failure, complain, print, program};

/// Shrinks `case`, which fails on `rtl`; prints the program as a file that `run` takes, and how to replay it.
/// What cannot be done is only said: the failure itself has been reported.
pub fn shrink<U: Unit>(case: &Case<U>, rtl: &Rtl<U>, out: &Path) -> Result<(), Failure> {
    let other = |lanes| {
        let build = Build {
            lanes,
            ..case.build()
        };
        rtl_of(case, build)
    };
    let shrunk = match shrink::shrink(case, rtl, other, &Budget::default()) {
        Ok(shrunk) => shrunk,
        Err(why) => {
            complain(&format!("note: not shrunk: {why}"));
            return Ok(());
        }
    };
    let place = shrunk.failure.place();
    let at = match (place.clock(), place.field()) {
        (Some(clock), Some(field)) => format!("  (clock {clock}, {field})"),
        _ => String::new(),
    };
    let mut text = format!(
        "{}: tb-ready text follows\n{}",
        shrunk.headline(),
        shrunk.text()
    );
    let path = out.join(format!("{}.shrunk.json", case.name()));
    match wave::write_whole(&path, &shrunk.failure.saved().to_text()) {
        Ok(()) => {
            let (program, path) = (shell(&program()), path.to_string_lossy());
            text += &format!("replay  {program} replay {}{at}\n", shell(&path));
        }
        Err(why) => complain(&format!("warning: {why}: the shrunk case is not saved")),
    }
    print(&text)
}
