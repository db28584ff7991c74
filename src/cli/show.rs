//! A run on the terminal, instruction by instruction.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use reconverge::case::Case;
use reconverge::check::Judged;
use reconverge::failure::{Cause, Failure};
use reconverge::input::InputError;
use reconverge::instructions::Instructions as _;
use reconverge::report::Report;
use reconverge::rules;
use reconverge::show::page::{self, Said};
use reconverge::show::text::{Layout, NARROWEST, Survey, WIDTH};
use reconverge::show::{Fold, Found, Run, rows, svg};
use reconverge::unit::Unit;
use reconverge::wave::write_whole;

use super::found::replay_command;
use super::run::agreed_text;
use super::{Failure as Trouble, writable};

/// What is shown of a run besides how it ends.
#[derive(Args, Clone)]
pub struct ShowArgs {
    /// Print the run: each executed instruction, what its lanes did, the stack, where lanes parted and met again. Repeats
    /// of a loop are folded
    #[arg(long)]
    show: bool,
    /// Write a picture of the run, SVG: instructions from top to bottom, lanes side by side, the stack at the right
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// Write a page of the run: program, lanes, stack, and a scrubber; of a failure both sides, the rule, the replay
    /// command. It needs no network and no server
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl ShowArgs {
    /// Refuses what cannot be written, before any work is done for it.
    pub fn check(&self) -> Result<(), InputError> {
        if let Some(path) = &self.picture {
            if path.extension().is_none_or(|ending| ending != "svg") {
                let why = "a picture is SVG: its name ends in .svg";
                return Err(InputError::new("--picture", 0, path.to_string_lossy(), why));
            }
            writable("--picture", path)?;
        }
        if let Some(path) = &self.html {
            writable("--html", path)?;
        }
        Ok(())
    }
}

/// Characters of a line: of `COLUMNS`, the terminal's, or [`WIDTH`].
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|n| n.parse().ok());
    let terminal = || {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    };
    asked.or_else(terminal).unwrap_or(WIDTH).max(NARROWEST)
}

/// Whether standard output takes colours: a terminal, and not with `NO_COLOR`.
pub fn colour() -> bool {
    let out = std::io::stdout();
    anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never
}

/// Prints and draws the run of `case` as far as that is asked for, up to where it fails.
///
/// # Errors
/// Standard output or a file cannot be written.
pub fn show<U: Unit>(
    args: &ShowArgs,
    case: &Case<U>,
    judged: &Judged<Case<U>>,
    out: &Path,
) -> Result<(), Trouble> {
    let failure = judged.as_ref().err();
    let last = match failure.map(|f| (&f.cause, f.cycle())) {
        Some((Cause::Mismatch(_) | Cause::Stopped(_), cycle)) => cycle,
        _ => u64::MAX,
    };
    let mismatch = failure.and_then(Failure::mismatch);
    let sides = mismatch.map(|mismatch| [&mismatch.rtl, &mismatch.golden]);
    if let Some(path) = &args.html {
        let run = Run::of(case, last, sides, false, page::ROWS);
        let said = said(case, judged, out)?;
        write_whole(path, &page::page(&run, &said))?;
    }
    if let Some(path) = &args.picture {
        let picture = svg::svg(&Run::of(case, last, sides, true, svg::LINES));
        write_whole(path, &picture)?;
    }
    if !args.show {
        return Ok(());
    }
    match print(case, failure, last) {
        // A reader that went away is not an error.
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Trouble::Other(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// What a page says besides the run. `out` is the folder in which the case will be saved.
fn said<U: Unit>(case: &Case<U>, judged: &Judged<Case<U>>, out: &Path) -> Result<Said, Trouble> {
    let program = &case.program;
    let addresses = (0..program.count()).map(|number| program.address(number));
    let mut said = Said {
        agrees: judged.is_ok(),
        program: addresses
            .map(|pc| (pc, U::statement(program, pc)))
            .collect(),
        ..Said::default()
    };
    match judged {
        Ok(agreed) => said.verdict = agreed_text(case, agreed)?,
        Err(failure) => {
            said.verdict = failure.to_string();
            let rule = Report::of(failure).rule;
            let id = rule.as_deref().and_then(|rule| {
                let (_, id) = rule.split(' ').next()?.split_once('#')?;
                rules::find(id)
            });
            said.rule = id.map(|rule| (rule.id.clone(), rule.text.clone()));
            let saved = out.join(format!("{}.json", case.name()));
            said.replay = Some(replay_command(case, &saved));
        }
    }
    Ok(said)
}

fn print<U: Unit>(
    case: &Case<U>,
    failure: Option<&Failure<Case<U>>>,
    last: u64,
) -> std::io::Result<()> {
    let lanes = case.lanes as usize;
    let sides = failure.and_then(Failure::mismatch).map(|mismatch| {
        [&mismatch.rtl, &mismatch.golden].map(|state| Found::of_state::<U>(state, lanes))
    });
    let mut survey = Survey::default();
    let end = rows(case, last, |row| {
        survey.see(&row);
        true
    });
    survey.found(&end.found);
    for side in sides.iter().flatten() {
        survey.found(side);
    }
    let layout = Layout::new(survey, width(), colour());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut written = out.write_all(layout.header().as_bytes());
    let mut fold = Fold::default();
    rows(case, last, |row| {
        fold.push(row, &mut |item| {
            if written.is_ok() {
                written = out.write_all(layout.item(&item).as_bytes());
            }
        });
        written.is_ok()
    });
    fold.end(&mut |item| {
        if written.is_ok() {
            written = out.write_all(layout.item(&item).as_bytes());
        }
    });
    written?;
    match sides {
        Some([rtl, golden]) => {
            let golden = Found {
                stack: end.found.stack,
                ..golden
            };
            out.write_all(layout.sides(&rtl, &golden).as_bytes())?;
        }
        None => out.write_all(layout.end(&end).as_bytes())?,
    }
    out.write_all(b"\n")?;
    out.flush()
}
