//! A run on the terminal, instruction by instruction.

use std::io::Write as _;
use std::path::Path;

use reconverge::case::Case;
use reconverge::check::Judged;
use reconverge::compiled::Compiled;
use reconverge::show::page::{self, Said};
use reconverge::show::text::{Layout, Survey};
use reconverge::show::{Fold, ShownState, ended, svg, until};

use crate::console::{Failure as Trouble, colour, width};
use crate::outcome::agreed_text;
use crate::shows::{ShowArgs, Shown, replay_command, said_of, statements};
use crate::step;
use crate::streams::{self, write_whole};
use crate::workers::Isolated;

/// Steps through the run of `case`, prints it and draws it, as far as requested, up to its failure.
///
/// # Errors
/// The terminal cannot be used; the process was told to end.
pub fn show<U: Compiled>(
    args: &ShowArgs,
    case: Case<U>,
    judged: Judged<Case<U>>,
    rtl: &mut Isolated<Case<U>>,
    out: &Path,
) -> Result<Shown<Case<U>>, Trouble> {
    let (case, judged) = match args.step {
        true => step::step(case, judged, rtl, out)?,
        false => (case, judged),
    };
    let written = written(args, &case, &judged, out);
    Ok(Shown {
        case,
        judged,
        written,
    })
}

fn written<U: Compiled>(
    args: &ShowArgs,
    case: &Case<U>,
    judged: &Judged<Case<U>>,
    out: &Path,
) -> Result<(), Trouble> {
    if let Some(path) = &args.html {
        let run = U::run_to_show(case, judged, false, page::ROWS);
        let said = said(case, judged, out)?;
        write_whole(path, &page::page(&run, &said))?;
    }
    if let Some(path) = &args.picture {
        let picture = svg::svg(&U::run_to_show(case, judged, true, svg::LINES));
        write_whole(path, &picture)?;
    }
    if !args.show {
        return Ok(());
    }
    Ok(streams::ignoring_readers(print(case, judged))?)
}

/// Returns the text of a page besides the run. `out` is the folder in which the case will be saved.
fn said<U: Compiled>(
    case: &Case<U>,
    judged: &Judged<Case<U>>,
    out: &Path,
) -> Result<Said, Trouble> {
    match judged {
        Ok(agreed) => Ok(Said {
            agrees: true,
            verdict: agreed_text(case, agreed),
            program: statements(case),
            ..Said::default()
        }),
        Err(failure) => {
            let saved = out.join(format!("{}.json", case.name()));
            let (_, said) = said_of(failure, Some(replay_command(case, &saved)));
            Ok(said)
        }
    }
}

fn print<U: Compiled>(case: &Case<U>, judged: &Judged<Case<U>>) -> std::io::Result<()> {
    let lanes = case.lanes as usize;
    let (last, sides) = until(judged);
    let sides = sides.map(|sides| ShownState::of_sides::<U>(sides, lanes));
    let mut survey = Survey::default();
    let mut end = U::rows(case, last, &mut |row| {
        survey.see(&row);
        true
    });
    if let Some(ended) = ended(judged) {
        ended.clone_into(&mut end.outcome);
    }
    survey.found(&end.found);
    for side in sides.iter().flatten() {
        survey.found(side);
    }
    let layout = Layout::new(survey, width(), colour());
    let mut out = std::io::BufWriter::new(streams::told());
    let mut written = out.write_all(layout.header().as_bytes());
    let mut fold = Fold::default();
    U::rows(case, last, &mut |row| {
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
            let golden = ShownState {
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
