//! Cases of a guest that failed and were saved: they run before a campaign draws new ones.

use std::path::PathBuf;

use reconverge::check::Judges;
use reconverge::design::Design as _;
use reconverge::failure::Cause;
use reconverge::stream::design_of_stream;

use crate::args::FuzzArgs;
use crate::console::{Agreed, Done, complain, print};
use crate::found;
use crate::rtl::{absolute, rtl};
use crate::shows::Shows;
use crate::streams::read_text;
use crate::workers::Isolated;

/// Returns the JSON files in the folder for saved cases, sorted by name; none if there is no such folder.
fn files(args: &FuzzArgs) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(&args.place.out).into_iter().flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "json") && path.is_file())
        .collect();
    files.sort();
    files
}

/// Runs each saved case of the design on the RTL that `args` name, and reports the first that fails.
///
/// # Errors
/// The RTL cannot be built; the process was told to end; the bench is at fault.
pub fn again<C: Shows>(args: &FuzzArgs) -> Done {
    let mut agreed = 0;
    for path in files(args) {
        let (text, file) = read_text(&path)?;
        let mut case = match C::from_saved(&text, &file) {
            Ok((case, _)) => case,
            // Another file, such as a summary, or a case of another design.
            Err(_) if design_of_stream(&text).is_none_or(|name| name != C::Design::NAME) => {
                continue;
            }
            Err(why) => {
                complain(&format!("note: not run again: {why}"));
                continue;
            }
        };
        let rtl = rtl::<C::Design>(&args.place, case.build())?;
        let dir = args.place.rtl.as_deref().map(absolute);
        case.on_rtl(dir.as_deref(), rtl.no_assert(), None);
        let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
        match rtl.check(&case, Judges::All, |_| ())? {
            Ok(_) => agreed += 1,
            Err(failure) if matches!(failure.cause, Cause::NotRun(_)) => {
                complain(&format!(
                    "note: not run again: {file}: {}",
                    failure.message()
                ));
            }
            Err(failure) => {
                crate::console::failed();
                print(&format!("{file} still fails\n"))?;
                return found::report_saved(&failure, &Some(path), &mut rtl);
            }
        }
    }
    if agreed > 0 {
        let agree = match agreed {
            1 => format!("1 saved {} agrees", C::NOUN),
            _ => format!("{agreed} saved {}s agree", C::NOUN),
        };
        print(&format!("{agree}: {}\n", args.place.out.display()))?;
    }
    Ok(Agreed::Yes)
}
