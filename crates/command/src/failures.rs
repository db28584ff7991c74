//! The failures of a campaign, in groups that probably have the same cause.

use std::collections::BTreeMap;
use std::path::Path;

use indicatif::HumanCount;
use reconverge::campaign::Failed;
use reconverge::design::Design as _;
use reconverge::failure::{Cause, Failure};
use reconverge::quantity::counted;
use reconverge::saved::Saved;
use reconverge::show::page;

use crate::console::{Failure as Trouble, print};
use crate::found::{self, SavedFile, Small};
use crate::shows::{Shows, at, replay_command, rule_id, said_of};
use crate::streams::folder;
use crate::workers::Isolated;

/// Number of groups that get a full report with waves; each other group gets one line.
const REPORTS: usize = 8;
/// Number of cases of a group that are saved, the reported one among them. The others are counted.
pub const SAVED: usize = 10;

/// Number of cases of a group that are listed on a page.
const LISTED: usize = 1000;

/// Failures of a campaign with the same kind, first field and rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// Their common properties.
    pub what: String,
    /// Their indices among all failures; the first is the one to look at first.
    pub members: Vec<usize>,
}

impl Group {
    /// Returns the common properties of its failures and their number out of `all`.
    fn heading(&self, all: usize) -> String {
        let [n, all] = [self.members.len(), all].map(|n| HumanCount(n as u64));
        format!("{}: {n} of {}", self.what, counted(all, "failure"))
    }
}

/// Returns the groups of `failures`, the largest first; groups of equal size in the order of their earliest cases. In a group, the
/// case that fails in the earliest cycle comes first, chosen from those that `run` can repeat if there are any.
pub fn groups<C: Shows>(failures: &[Failed<C>]) -> Vec<Group> {
    let mut groups: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for (index, failed) in failures.iter().enumerate() {
        let common = common(&failed.failure);
        groups.entry(common).or_default().push(index);
    }
    let mut groups: Vec<Group> = (groups.into_values())
        .map(|mut members| {
            members.sort_by_key(|index| {
                let Failed { failure, number } = &failures[*index];
                let case = &failure.case;
                (!case.by_itself(), failure.cycle(), *number)
            });
            let what = what(&failures[members[0]].failure);
            Group { what, members }
        })
        .collect();
    let first = |group: &Group| group.members.iter().map(|m| failures[*m].number).min();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.members.len()), first(group)));
    groups
}

/// Returns whether two failures may belong to the same group, without a look for the rule.
pub fn alike<C: Shows>(one: &Failure<C>, other: &Failure<C>) -> bool {
    one.kind() == other.kind() && one.alike(other)
}

/// Saves with `save` the first [`SAVED`] cases of each group; returns the file of each of the `failures`.
pub fn saved<C: Shows>(
    failures: &mut [Failed<C>],
    groups: &[Group],
    mut save: impl FnMut(&mut Failed<C>) -> SavedFile,
) -> Vec<SavedFile> {
    let mut saved = vec![None; failures.len()];
    for index in (groups.iter()).flat_map(|group| group.members.iter().take(SAVED)) {
        saved[*index] = save(&mut failures[*index]);
    }
    saved
}

/// Returns the properties of `failure` that failures with the same cause probably share.
fn common<C: Shows>(failure: &Failure<C>) -> (&'static str, String) {
    let what = match &failure.cause {
        Cause::Mismatch(_) => what(failure),
        // Its numbers may be times and values.
        Cause::Stopped(stopped) => stopped.why.replace(|c: char| c.is_ascii_digit(), ""),
        Cause::Crashed(how) | Cause::NotRun(how) => how.clone(),
        _ => String::new(),
    };
    (failure.kind(), what)
}

/// Describes the common properties of failures like `failure`.
fn what<C: Shows>(failure: &Failure<C>) -> String {
    match &failure.cause {
        Cause::Mismatch(mismatch) => {
            let field = C::Design::fields()[mismatch.first().field].name;
            let rule = failure.rule();
            match rule.as_deref().and_then(rule_id::<C>) {
                Some(rule) => format!("{field} differs, rule {rule}"),
                None => format!("{field} differs"),
            }
        }
        Cause::Stopped(stopped) => format!("stopped, {}", stopped.why),
        Cause::Judge { .. } => "the scalar judge disagrees".to_owned(),
        Cause::Crashed(how) => format!("crashed, {how}"),
        Cause::Hung(seconds) => format!("no progress within {seconds} s"),
        Cause::NotRun(why) => format!("not run, {why}"),
        _ => failure.message(),
    }
}

/// Returns the text on each failure before any of them runs again: the reports of the first groups, one line for each
/// other failure.
pub fn reports<C: Shows>(
    failures: &[Failed<C>],
    saved: &[SavedFile],
    groups: &[Group],
) -> Vec<String> {
    let reported = |index: usize| {
        let first = groups.iter().take(REPORTS).map(|group| group.members[0]);
        first.into_iter().any(|member| member == index)
    };
    (failures.iter().zip(saved).enumerate())
        .map(|(index, (failed, saved))| match reported(index) {
            true => found::text(&failed.failure, saved),
            false => found::brief(&failed.failure, saved),
        })
        .collect()
}

/// The context for the report of a failure.
pub struct Told<'a, 'rtl, C: Shows> {
    /// The RTL, to run it again.
    pub rtl: Isolated<'rtl, C>,
    /// The folder for files.
    pub out: &'a Path,
    /// Shrink the case of the first group.
    pub shrink: bool,
    /// The command was interrupted earlier, which is reported at the end.
    pub cut: bool,
    /// The smaller case of the first group.
    pub small: Option<Small<C>>,
}

impl<C: Shows> Told<'_, '_, C> {
    /// Prints the report of a failure and returns it.
    fn whole(&mut self, failure: &Failure<C>, saved: &SavedFile) -> Result<String, Trouble> {
        // The missing waves are mentioned only once.
        let cut = self.cut;
        self.cut |= self.rtl.stopped();
        match cut {
            true => found::plain(failure, saved),
            false => found::whole(failure, saved, &mut self.rtl),
        }
    }
}

/// Prints the failures group by group: the report of the shortest case of each, and where the others are saved.
///
/// # Errors
/// Standard output cannot be written.
pub fn tell<C: Shows>(
    failures: &[Failed<C>],
    saved: &[SavedFile],
    groups: &[Group],
    reports: &mut [String],
    mut told: Option<&mut Told<C>>,
) -> Result<(), Trouble> {
    for (number, group) in groups.iter().enumerate() {
        let first = group.members[0];
        let (failure, saved_as) = (&failures[first].failure, &saved[first]);
        if number > 0 {
            print("\n")?;
        }
        if failures.len() > 1 {
            print(&format!("{}\n\n", group.heading(failures.len())))?;
        }
        match told.as_deref_mut() {
            Some(told) if number < REPORTS => {
                let shrink = number == 0 && told.shrink && !failure.lost();
                reports[first] = match shrink && !told.cut && !told.rtl.stopped() {
                    true => {
                        let (report, small) =
                            found::smaller(failure, saved_as, &mut told.rtl, told.out)?;
                        told.small = small;
                        report
                    }
                    false => told.whole(failure, saved_as)?,
                };
            }
            _ if number < REPORTS => reports[first] = found::plain(failure, saved_as)?,
            _ => print(&reports[first])?,
        }
        others(&group.members[1..], saved)?;
    }
    Ok(())
}

/// Prints where the cases `members` are saved, and how many are not.
fn others(members: &[usize], saved: &[SavedFile]) -> Result<(), Trouble> {
    let paths = members.iter().filter_map(|m| saved[*m].as_deref());
    let mut text = String::new();
    for (n, path) in paths.enumerate() {
        let name = if n == 0 { "others" } else { "" };
        text += &format!("{name:<7} {}\n", path.display());
    }
    let rest = members.len().saturating_sub(SAVED - 1);
    if rest > 0 {
        let rest = HumanCount(rest as u64);
        text += &format!("        and {rest} more, counted and not saved\n");
    }
    print(&text)
}

/// Returns what a page shows of the groups that get a report; for the first group, `small` if its case was made smaller.
pub fn shown<C: Shows>(
    failures: &[Failed<C>],
    saved: &[SavedFile],
    groups: &[Group],
    small: Option<&Small<C>>,
) -> Vec<page::Failed> {
    let groups = groups.iter().take(REPORTS).enumerate();
    let one = |(number, group): (usize, &Group)| {
        let first = group.members[0];
        let as_found = &failures[first].failure;
        let small = small.filter(|_| number == 0);
        let failure = small.map_or(as_found, |small| &small.failure);
        let replay = saved[first].as_ref();
        let replay = replay.map(|path| replay_command(&*as_found.case, path));
        let command = small.and_then(|small| small.command.clone()).or(replay);
        // Left by an earlier campaign that made it smaller.
        let there = saved[first].as_ref().and_then(|path| {
            let name = format!("{}.shrunk", as_found.case.name());
            let small = folder(path).join(name);
            let text = std::fs::read_to_string(at(&small, "json")).ok()?;
            let of = Saved::<C>::parse(&text, "").ok()?.case;
            (of.rtl() == as_found.case.rtl())
                .then(|| std::fs::read_to_string(at(&small, "s")).ok())?
        });
        let others = group.members[1..].iter().take(LISTED);
        let others = others.filter_map(|m| saved[*m].as_ref());
        let (run, said) = said_of(failure, command);
        page::Failed {
            heading: match failures.len() {
                1 => group.what.clone(),
                all => group.heading(all),
            },
            name: failure.case.name(),
            run,
            said,
            small: (small.map(|small| small.text.clone()).or(there)).map(|text| (C::NOUN, text)),
            others: others.map(|path| path.display().to_string()).collect(),
        }
    };
    groups.map(one).collect()
}
