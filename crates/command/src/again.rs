//! Cases of a guest that failed and were saved: they run before a campaign draws new ones.

use reconverge::campaign::{ran, saved_agree, still_fails};
use reconverge::quantity::counted;
use reconverge::saved::Saved;
use reconverge::search::SHRUNK;

use crate::args::FuzzArgs;
use crate::console::{Done, Failure, Status, complain, failed, print};
use crate::found;
use crate::rtl::{named_rtl, rtl};
use crate::shows::{Shows, replay_command};
use crate::workers::Isolated;

/// Runs each saved case of the design on the RTL that `args` name, and reports the first that fails.
///
/// # Errors
/// The design does not have the build that `args` name; the RTL cannot be built; the process was told to end; the bench is at fault.
pub fn again<C: Shows>(args: &FuzzArgs) -> Done {
    // A wrong option is told first: a case that fails would end the command.
    args.build.build::<C::Design>()?;
    let place = &args.place;
    let judge = |saved: Saved<C>| {
        let (judges, mut case) = (saved.judges(), saved.case);
        let rtl = rtl::<C::Design>(place, case.build())?;
        let dir = place.rtl.as_deref().and_then(named_rtl::<C::Design>);
        case.on_rtl(dir.as_deref(), rtl.no_assert(), None);
        let judged = Isolated::new(&rtl, args.limits)?.check(&case, judges, |_| ())?;
        Ok::<_, Failure>(ran(judged))
    };
    let (agreed, fails) = saved_agree::<C, _>(&place.out, complain, judge)?;
    if let Some((path, failure)) = fails {
        failed();
        print(&still_fails(&path, &failure))?;
        let rtl = rtl::<C::Design>(place, failure.case.build())?;
        let mut rtl = Isolated::new(&rtl, args.limits)?.dumping(place.format());
        let status = found::report_saved(&failure, &Some(path.clone()), &mut rtl)?;
        if !failure.case.name().contains(SHRUNK) && !failure.lost() {
            let replay = replay_command(&*failure.case, &path);
            print(&format!("shrink  {replay} --shrink\n"))?;
        }
        return Ok(status);
    }
    if agreed > 0 {
        let agree = if agreed == 1 { "agrees" } else { "agree" };
        let saved = counted(agreed, &format!("saved {}", C::NOUN));
        print(&format!("{saved} {agree}: {}\n", place.out.display()))?;
    }
    Ok(Status::Agreed)
}
