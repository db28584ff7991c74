//! A campaign that has ended or was interrupted: its name, and its text.

use std::fmt::Write as _;

use indicatif::HumanCount;
use reconverge::campaign::{Failed, GivenUp, Options, Shard, Summary, Tally};
use reconverge::cover::{Bins as _, Share};
use reconverge::design::{Build, Design as _};

use crate::guests::{called, for_design};
use crate::shows::Shows;

/// The header above the lines of [`row`].
pub const HEADER: &str = "campaign     build                                                    programs        cycles  instructions  scalar  failed\n";

/// A campaign that has ended or was interrupted.
pub struct Whole<'a, C: Shows> {
    /// Its summary; the failures in it are all that are known.
    pub summary: &'a Summary<C>,
    /// Failures of the programs that the summary counts. An interrupted campaign knows more: those of programs after one that
    /// is not done.
    pub counted: &'a [Failed<C>],
    pub options: &'a Options,
    pub shard: Shard,
    pub build: &'a Build,
}

/// Returns how many programs were not run, if the campaign has a fixed number of them.
pub fn not_run<C: Shows>(summary: &Summary<C>, options: &Options, shard: Shard) -> Option<u64> {
    let all = Tally::<C>::new(options, shard).programs();
    all.map(|all| all.saturating_sub(summary.programs))
}

/// Returns why a campaign was given up, if it was.
fn given_up<C: Shows>(summary: &Summary<C>, options: &Options, shard: Shard) -> Option<String> {
    let given_up = summary.given_up()?;
    let rest = match not_run(summary, options, shard) {
        Some(programs) => format!("{} {}s", HumanCount(programs), C::NOUN),
        None => "the rest".to_owned(),
    };
    Some(match given_up {
        GivenUp::Lost { cases, of } => {
            format!("the RTL crashed or hung in {cases} of {of} cases; {rest} not run")
        }
        GivenUp::Failed(failed) => {
            let failed = HumanCount(failed as u64);
            format!("{failed} {}s failed; {rest} not run", C::NOUN)
        }
    })
}

/// Returns the name of a campaign, without its build.
pub fn name<C: Shows>(options: &Options, shard: Shard) -> String {
    let name = format!("{}.fuzz.{:x}", C::Design::NAME, options.seed);
    match shard.of() {
        1 => name,
        _ => format!("{name}  shard {shard}"),
    }
}

/// Returns the name of a campaign, with its build if that is not the default one.
pub fn campaign<C: Shows>(options: &Options, shard: Shard, build: &Build) -> String {
    let name = name::<C>(options, shard);
    match build.is_default::<C::Design>() {
        true => name,
        false => format!("{name}  {build}"),
    }
}

/// The level of detail for a campaign.
#[derive(Clone, Copy)]
pub struct Shown {
    /// One row of a table.
    pub row: bool,
    /// Every statistic, even of a failed campaign.
    pub details: bool,
}

impl Shown {
    /// Returns the text on a campaign without its failures. `whole`: the campaign has ended.
    pub fn text<C: Shows>(
        self,
        summary: &Summary<C>,
        options: &Options,
        shard: Shard,
        build: &Build,
        whole: bool,
    ) -> String {
        let failed = !summary.failures.is_empty();
        match (self.row, failed && !self.details) {
            (true, _) => row(summary, options, shard, build, whole),
            (_, true) => failed_text(summary, options, shard, build),
            (_, false) => text(summary, options, shard, build, whole),
        }
    }
}

/// Describes a campaign with failures: how many there are, in how many cycles, and why it was given up, if it was.
fn failed_text<C: Shows>(
    summary: &Summary<C>,
    options: &Options,
    shard: Shard,
    build: &Build,
) -> String {
    let [programs, failed, cycles] = [
        summary.programs,
        summary.failures.len() as u64,
        summary.compared.cycles,
    ]
    .map(HumanCount);
    let campaign = campaign::<C>(options, shard, build);
    let s = if summary.programs == 1 { "" } else { "s" };
    let noun = C::NOUN;
    let mut text = format!(
        "{campaign}  {programs} {noun}{s}, {failed} FAILED; {cycles} cycles agreed (-v prints every statistic)\n"
    );
    if let Some(why) = given_up(summary, options, shard) {
        let _ = writeln!(text, "  given up        {why}");
    }
    text
}

/// Returns the name of the lines about what never occurred: a stream of pins need not do anything in particular, but what never changes
/// was hardly tested.
fn never<C: Shows>() -> &'static str {
    if C::EXECUTES { "never met" } else { "warning" }
}

/// Number of lines about what never occurred.
const SHOWN: usize = 5;

/// Returns what should have occurred but never did, in at most [`SHOWN`] lines, for a campaign that agrees. Of programs only for a whole
/// campaign of the default build: a part need not reach everything, and other parameters make other situations unreachable.
fn missing<C: Shows>(
    summary: &Summary<C>,
    shard: Shard,
    build: &Build,
    whole: bool,
) -> Vec<String> {
    let usual = build.is_default::<C::Design>() && whole && shard.of() == 1;
    if C::EXECUTES && !usual || !summary.failures.is_empty() {
        return Vec::new();
    }
    let mut missing = summary.never_met(&C::Bins::new(build));
    if missing.len() > SHOWN {
        let others = missing.len() - SHOWN + 1;
        missing.truncate(SHOWN - 1);
        let cover = for_design("cover", C::Design::NAME);
        missing.push(format!("and {others} more: `{} {cover}`", called()));
    }
    missing
}

/// Returns the summary as one line below [`HEADER`], and what never occurred. `whole`: the campaign has ended.
fn row<C: Shows>(
    summary: &Summary<C>,
    options: &Options,
    shard: Shard,
    build: &Build,
    whole: bool,
) -> String {
    let numbers = [
        summary.programs,
        summary.compared.cycles,
        summary.compared.steps,
        summary.judged.programs,
        summary.failures.len() as u64,
    ];
    let [programs, cycles, steps, judged, failed] = numbers.map(|n| HumanCount(n).to_string());
    let mut text = format!(
        "{:<13}{:<56}{programs:>9}{cycles:>14}{steps:>14}{judged:>8}{failed:>8}\n",
        name::<C>(options, shard),
        build.to_string(),
    );
    if let Some(why) = given_up(summary, options, shard) {
        let _ = writeln!(text, "  given up        {why}");
    }
    for what in missing(summary, shard, build, whole) {
        let _ = writeln!(text, "  {:<15} {what}", never::<C>());
    }
    text
}

/// Returns a sort key that compares the numbers in a text as numbers: "error 10" comes after "error 9".
fn natural(text: &str) -> (&str, u64, &str) {
    let start = text
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(text.len());
    let (before, rest) = text.split_at(start);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    (before, rest[..end].parse().unwrap_or(0), &rest[end..])
}

/// Returns the summary with every statistic. `whole`: the campaign has ended.
fn text<C: Shows>(
    summary: &Summary<C>,
    options: &Options,
    shard: Shard,
    build: &Build,
    whole: bool,
) -> String {
    let compared = summary.compared;
    let executed = match C::EXECUTES {
        true => format!(
            ", {} launches, {} instructions",
            HumanCount(compared.launches),
            HumanCount(compared.steps)
        ),
        false => String::new(),
    };
    let mut text = format!(
        "{}  {} {}s{executed}\n",
        campaign::<C>(options, shard, build),
        HumanCount(summary.programs),
        C::NOUN,
    );
    let mut line = |name: &str, what: &str| {
        let _ = writeln!(text, "  {name:<15} {what}");
    };
    let verdict = match summary.failures.len() {
        0 => format!(
            "0 mismatches in {} cycles, {} fields each",
            HumanCount(compared.cycles),
            C::Design::fields().len()
        ),
        n => format!(
            "{n} FAILED; {} cycles, {} fields each, agreed",
            HumanCount(compared.cycles),
            C::Design::fields().len()
        ),
    };
    line("lock-step", &verdict);
    if let Some(why) = given_up(summary, options, shard) {
        line("given up", &why);
    }
    if C::EXECUTES {
        let (programs, lanes, instructions) = summary.judged.into();
        line(
            "scalar judge",
            &format!(
                "{} programs, {} lanes, {} instructions agree",
                HumanCount(programs),
                HumanCount(lanes),
                HumanCount(instructions)
            ),
        );
    }
    for (kind, of) in &summary.kinds {
        line(
            kind,
            &format!(
                "{} {}s, {} cycles",
                HumanCount(of.programs),
                C::NOUN,
                HumanCount(of.cycles)
            ),
        );
    }
    let mut outcomes: Vec<_> = summary.outcomes.iter().collect();
    outcomes.sort_by_key(|(outcome, _)| natural(outcome));
    for (outcome, count) in outcomes {
        line(
            "ended",
            &format!("{:>12} {outcome}", HumanCount(*count).to_string()),
        );
    }
    let overview = C::Bins::new(build).overview(&summary.bins);
    let all = ("bins", overview.all);
    for (name, Share { hit, reachable }) in std::iter::once(all).chain(overview.groups) {
        let [hit, reachable] = [hit, reachable].map(|n| HumanCount(n as u64));
        line(name, &format!("{hit} of {reachable}"));
    }
    for what in missing(summary, shard, build, whole) {
        line(never::<C>(), &what);
    }
    text
}
