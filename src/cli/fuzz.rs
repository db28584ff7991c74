//! `fuzz`.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use reconverge::campaign::{self, Limit, Options, Summary, Why};
use reconverge::case::{CASE_FORMAT, Case, SavedCase};
use reconverge::unit::{Build, Seen, Unit};
use reconverge::wave::{self, shell};

use super::run::{absolute, mismatch, parameters, rtl};
use super::{Agreed, Done, Failure, FuzzArgs, print, program, writable};

/// Mismatches that get a full report with waves; more are only saved.
const REPORTS: usize = 8;
/// Clocks of a campaign that was not told when to end: well under a minute.
const DEFAULT_CLOCKS: u64 = 2_000_000;

fn bar(limit: Limit) -> Option<ProgressBar> {
    let (length, what) = match limit {
        Limit::Programs(n) => (n, "programs"),
        Limit::Clocks(n) => (n, "clocks"),
        Limit::Time(t) => (t.as_secs(), "s"),
    };
    // Quiet when nobody watches.
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let style = ProgressStyle::with_template(&format!(
        "{{prefix}} [{{bar:32}}] {{human_pos}}/{{human_len}} {what}, {{msg}}, {{eta}} left"
    ));
    let bar = ProgressBar::new(length);
    Some(match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    })
}

pub fn fuzz<U: Unit>(args: &FuzzArgs) -> Done {
    let limit = match (args.programs, args.clocks, args.seconds) {
        (Some(n), _, _) => Limit::Programs(n),
        (_, Some(n), _) => Limit::Clocks(n),
        (_, _, Some(n)) => Limit::Time(Duration::from_secs(n)),
        _ => Limit::Clocks(DEFAULT_CLOCKS),
    };
    let jobs = match args.jobs {
        Some(n) => n.into(),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let options = Options {
        seed: args.seed,
        limit,
        jobs,
        keep_going: args.keep_going,
        rtl: args.place.rtl.as_deref().map(absolute),
    };
    if let Some(path) = &args.json {
        writable("--json", path)?;
    }
    let mut any = Case::<U>::new(U::Program::default());
    any.lanes = args.lanes.unwrap_or(U::LANES);
    any.parameters = parameters::<U>(&args.parameters);
    any.check_parameters("--param")?;
    let rtl = rtl::<U>(args.place.rtl.as_deref(), any.build())?;
    let bar = bar(limit).map(|b| b.with_prefix(U::NAME));
    let started = std::time::Instant::now();
    let summary = campaign::run(&options, &rtl, |so_far| {
        if let Some(bar) = &bar {
            bar.set_position(match limit {
                Limit::Programs(_) => so_far.programs,
                Limit::Clocks(_) => so_far.compared.clocks,
                Limit::Time(_) => started.elapsed().as_secs(),
            });
            let rate = so_far.compared.clocks as f64 / started.elapsed().as_secs_f64();
            bar.set_message(format!("{} clocks/s", HumanCount(rate as u64)));
        }
    })?;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let usual = *rtl.build() == Build::from(U::LANES);
    print(&text(&summary, &options, usual))?;
    for (n, failed) in summary.failures.iter().enumerate() {
        match &failed.why {
            Why::Mismatch(outcome) if n < REPORTS => {
                print("\n")?;
                mismatch(&failed.case, &rtl, outcome, &args.place.out)?;
            }
            Why::Mismatch(outcome) => {
                let clock = outcome.mismatch.as_ref().map_or(0, |m| m.clock);
                let path = save(&failed.case, &args.place.out)?;
                print(&format!(
                    "MISMATCH {}  clock {clock}  replay  {} replay {}\n",
                    failed.case.name(),
                    shell(&program()),
                    shell(&path)
                ))?;
            }
            Why::Stopped(stopped) => {
                let path = save(&failed.case, &args.place.out)?;
                print(&format!(
                    "\nSTOPPED {}  clock {}  {}\nreplay  {} replay {}\n",
                    failed.case.name(),
                    stopped.clock,
                    stopped.why,
                    shell(&program()),
                    shell(&path)
                ))?;
            }
            Why::Judge(lane, how) => {
                let path = save(&failed.case, &args.place.out)?;
                print(&format!(
                    "\nSCALAR JUDGE {}  lane {lane}: {how}\nreplay  {} replay {}\n",
                    failed.case.name(),
                    shell(&program()),
                    shell(&path)
                ))?;
            }
        }
        // The first one: it takes as long as a campaign, and `replay --shrink` does the others.
        if n == 0 && !args.no_shrink {
            print("\n")?;
            super::shrink::shrink(&failed.case, &rtl, &args.place.out)?;
        }
    }
    // Last: what was found is out whatever becomes of this file.
    if let Some(path) = &args.json {
        wave::write_whole(path, &format!("{:#}\n", summary.to_json(&options)))?;
    }
    if summary.compared.clocks == 0 && summary.failures.is_empty() {
        return Err(Failure::Other("nothing was compared".to_owned()));
    }
    Ok(if summary.failures.is_empty() {
        Agreed::Yes
    } else {
        Agreed::No
    })
}

/// Saves a case without running it again; returns where.
fn save<U: Unit>(case: &Case<U>, out: &Path) -> Result<String, String> {
    let saved = SavedCase::<U> {
        reconverge: CASE_FORMAT,
        unit: U::NAME.to_owned(),
        failure: None,
        case: case.clone(),
    };
    let path = out.join(format!("{}.json", case.name()));
    wave::write_whole(&path, &saved.to_text())?;
    Ok(path.to_string_lossy().into_owned())
}

fn text<U: Unit>(summary: &Summary<U>, options: &Options, usual: bool) -> String {
    let compared = summary.compared;
    let mut text = format!(
        "{}.fuzz.{:x}  {} programs, {} launches, {} instructions\n",
        U::NAME,
        options.seed,
        HumanCount(summary.programs),
        HumanCount(compared.launches),
        HumanCount(compared.steps),
    );
    let mut line = |name: &str, what: &str| {
        let _ = writeln!(text, "  {name:<16}{what}");
    };
    let verdict = match summary.failures.len() {
        0 => format!(
            "0 mismatches in {} clocks, {} fields each",
            HumanCount(compared.clocks),
            U::fields().len()
        ),
        n => format!(
            "{n} FAILED; {} clocks, {} fields each, agreed",
            HumanCount(compared.clocks),
            U::fields().len()
        ),
    };
    line("lock-step", &verdict);
    let (programs, lanes, instructions) = summary.judged;
    line(
        "scalar judge",
        &format!(
            "{} programs, {} lanes, {} instructions agree",
            HumanCount(programs),
            HumanCount(lanes),
            HumanCount(instructions)
        ),
    );
    for (kind, (programs, clocks)) in &summary.kinds {
        line(
            kind,
            &format!(
                "{} programs, {} clocks",
                HumanCount(*programs),
                HumanCount(*clocks)
            ),
        );
    }
    for (outcome, count) in &summary.outcomes {
        line(
            "ended",
            &format!("{:>12} {outcome}", HumanCount(*count).to_string()),
        );
    }
    for (name, what) in summary.seen.lines() {
        line(&name, &what);
    }
    // Other parameters put other things out of reach.
    if usual {
        for what in summary.seen.missing() {
            line("never met", &what);
        }
    }
    text
}
