//! Cases of a guest that failed and were saved: they run before a campaign draws new ones.

use reconverge::campaign::saved;
use reconverge::failure::Cause;

use crate::args::FuzzArgs;
use crate::console::{Done, Status, complain, print};
use crate::found;
use crate::rtl::{absolute, rtl};
use crate::shows::Shows;
use crate::workers::Isolated;

/// Runs each saved case of the design on the RTL that `args` name, and reports the first that fails.
///
/// # Errors
/// The RTL cannot be built; the process was told to end; the bench is at fault.
pub fn again<C: Shows>(args: &FuzzArgs) -> Done {
    let mut agreed = 0;
    for (path, case) in saved::<C>(&args.place.out) {
        let file = path.display().to_string();
        let (judges, mut case) = match case {
            Ok(saved) => (saved.judges(), saved.case),
            Err(why) => {
                complain(&format!("note: not run again: {why}"));
                continue;
            }
        };
        let rtl = rtl::<C::Design>(&args.place, case.build())?;
        let dir = args.place.rtl.as_deref().map(absolute);
        case.on_rtl(dir.as_deref(), rtl.no_assert(), None);
        let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
        match rtl.check(&case, judges, |_| ())? {
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
    Ok(Status::Agreed)
}
