//! What the command shows of a case besides its report.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use reconverge::case::{Case, Conditions, LONGEST_NAME};
use reconverge::check::{Agreed, Judged, TestCase};
use reconverge::compiled::Compiled;
use reconverge::design::{Control as _, Design, Golden as _};
use reconverge::failure::Failure;
use reconverge::input::InputError;
use reconverge::instructions::Instructions as _;
use reconverge::report::Report;
use reconverge::rules;
use reconverge::saved::Saved;
use reconverge::show::page::{self, Said};
use reconverge::show::{End, Run};
use reconverge::stream::Stream;
use reconverge::unit::{LoadOptions, Pins as _};
use reconverge::wave::{self, shell};
use reconverge::worker::Ordered;

use crate::console::{Failure as Trouble, complain, program};
use crate::found::{replay_command, rule_id};
use crate::guests::for_design;
use crate::outcome;
use crate::rtl::relative;
use crate::show::{ShowArgs, Shown, show};
use crate::workers::Isolated;

/// A case that the command shows.
pub trait Shows: Ordered {
    /// Returns whether the case can be run again without its saved file.
    fn by_itself(&self) -> bool;
    /// Returns whether the case begins in a state that is loaded.
    fn loads(&self) -> bool;
    /// Returns how a run ended that agreed, if its end has a name.
    fn end(agreed: &Agreed<Self::Design>) -> Option<outcome::End>;
    /// Returns the text on the case, on which all judges agree.
    fn agreed_text(&self, agreed: &Agreed<Self::Design>) -> String;
    /// Returns the run that a page shows of a failure, and the numbered statements of its case.
    fn run_to_show(failure: &Failure<Self>) -> (Run, Vec<(u32, String)>);
    /// Checks that `args` ask for nothing that such a case, in the file `file`, cannot show.
    ///
    /// # Errors
    /// They do.
    fn can_show(args: &ShowArgs, file: &str) -> Result<(), InputError>;
    /// Shows the case as `args` ask, up to its failure.
    ///
    /// # Errors
    /// The terminal cannot be used; the process was told to end.
    fn show(
        self,
        args: &ShowArgs,
        judged: Judged<Self>,
        rtl: &mut Isolated<Self>,
        out: &Path,
    ) -> Result<Shown<Self>, Trouble>;
    /// Writes the case of a failure, and what else is needed to run it by itself, as files whose names begin with `stem`. Returns the
    /// commands that run it again.
    ///
    /// # Errors
    /// The case cannot be written.
    fn save_again(failure: &Failure<Self>, stem: &Path) -> Result<String, String>;
}

/// Letters in a line of a report on a page, if that is possible: as many as are readable on a narrow screen too.
const PAGE: usize = 100;

/// Returns the run that a page shows of a failure, and the text besides it; `command` runs it again.
pub fn said_of<C: Shows>(failure: &Failure<C>, command: Option<String>) -> (Run, Said) {
    let rule = Report::of(failure).rule;
    let rule = rule.as_deref().and_then(rule_id::<C>).and_then(rules::find);
    let (run, program) = C::run_to_show(failure);
    let said = Said {
        agrees: false,
        verdict: format!("{failure:PAGE$}"),
        rule: rule.map(|rule| (rule.id.clone(), rule.text.clone())),
        replay: command,
        program,
    };
    (run, said)
}

/// Returns `stem` with `.ending`.
fn at(stem: &Path, ending: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(format!(".{ending}"));
    PathBuf::from(path)
}

impl<D: Design> Shows for Stream<D> {
    fn by_itself(&self) -> bool {
        true
    }

    fn loads(&self) -> bool {
        false
    }

    fn end(_: &Agreed<D>) -> Option<outcome::End> {
        None
    }

    fn agreed_text(&self, agreed: &Agreed<D>) -> String {
        format!(
            "{}\nlock-step    agrees: {} cycles, {} fields each, {} lanes\n",
            self.name(),
            agreed.compared.cycles,
            D::fields().len(),
            self.lanes
        )
    }

    fn run_to_show(failure: &Failure<Self>) -> (Run, Vec<(u32, String)>) {
        let run = Run {
            unit: D::NAME,
            name: failure.case.name(),
            lanes: failure.case.lanes as usize,
            items: Vec::new(),
            rows: 0,
            left_out: 0,
            strip: Vec::new(),
            rows_in_bin: 1,
            end: End::default(),
            sides: None,
            failed: true,
        };
        (run, Vec::new())
    }

    fn can_show(args: &ShowArgs, file: &str) -> Result<(), InputError> {
        args.none(file)
    }

    fn show(
        self,
        _: &ShowArgs,
        judged: Judged<Self>,
        _: &mut Isolated<Self>,
        _: &Path,
    ) -> Result<Shown<Self>, Trouble> {
        Ok(Shown {
            case: self,
            judged,
            written: Ok(()),
        })
    }

    fn save_again(failure: &Failure<Self>, stem: &Path) -> Result<String, String> {
        let file = at(stem, "json");
        wave::write_whole(&file, &Saved::from(failure).to_text())?;
        Ok(format!(
            "replay  {}\n",
            replay_command(&*failure.case, &file)
        ))
    }
}

/// Returns every instruction of a program with its address.
pub fn statements<U: Compiled>(case: &Case<U>) -> Vec<(u32, String)> {
    let program = &case.program;
    let addresses = (0..program.count()).map(|number| program.address(number));
    addresses
        .map(|pc| (pc, U::statement(program, pc)))
        .collect()
}

impl<U: Compiled> Shows for Case<U> {
    fn by_itself(&self) -> bool {
        self.noise_cycles.is_none() && self.start.is_empty()
    }

    fn loads(&self) -> bool {
        !self.start.is_empty()
    }

    fn end(agreed: &Agreed<U>) -> Option<outcome::End> {
        Some(outcome::End::of::<U>(agreed))
    }

    fn agreed_text(&self, agreed: &Agreed<U>) -> String {
        outcome::agreed_text(self, agreed)
    }

    fn run_to_show(failure: &Failure<Self>) -> (Run, Vec<(u32, String)>) {
        let judged = Err(failure.clone());
        let run = U::run_to_show(&failure.case, &judged, false, page::ROWS);
        (run, statements(&failure.case))
    }

    fn can_show(args: &ShowArgs, _: &str) -> Result<(), InputError> {
        args.check()
    }

    fn show(
        self,
        args: &ShowArgs,
        judged: Judged<Self>,
        rtl: &mut Isolated<Self>,
        out: &Path,
    ) -> Result<Shown<Self>, Trouble> {
        show(args, self, judged, rtl, out)
    }

    /// Writes the case, its program, and a table of conditions if it needs one.
    fn save_again(failure: &Failure<Self>, stem: &Path) -> Result<String, String> {
        save_again(&failure.case, &Saved::from(failure).to_text(), stem)
    }
}

/// Writes `case`, of which `saved` is the text, its program, and a table of conditions if it needs one, as files whose names begin with
/// `stem`. Returns the commands that run it again.
///
/// # Errors
/// The case cannot be written.
pub fn save_again<U: Compiled>(case: &Case<U>, saved: &str, stem: &Path) -> Result<String, String> {
    let at = |ending: &str| at(stem, ending);
    wave::write_whole(&at("json"), saved)?;
    let replay = replay_command(case, &at("json"));
    let rows = match &case.conditions {
        Conditions::Table(table) => table.rows(),
        // A draw that is changed to 0 counts too.
        Conditions::Changed { rows, .. } => Vec::from(rows.clone()),
        Conditions::Drawn { .. } | Conditions::Noise => Vec::new(),
    };
    let run = run_command(case, &at("s"), (!rows.is_empty()).then(|| at("conditions")));
    let command = run.as_ref().unwrap_or(&replay);
    // Only options that are not in the command already.
    let others = match run.is_some() && case.options() == case.surroundings() {
        true => String::new(),
        false => format!("// {}\n", case.surroundings()),
    };
    let program = format!("// {command}\n{others}{}", U::to_text(&case.program));
    let mut written = wave::write_whole(&at("s"), &program);
    if run.is_some() && !rows.is_empty() {
        let lines = rows
            .iter()
            .filter_map(|row| serde_json::to_string(row).ok());
        let lines: String = lines.map(|line| line + "\n").collect();
        written = written.and_then(|()| wave::write_whole(&at("conditions"), &lines));
    }
    if let Err(why) = written {
        complain(&format!("warning: {why}: the program is not saved"));
        return Ok(format!("replay  {replay}\n"));
    }
    let program = match &run {
        Some(run) => format!("run     {run}\n"),
        // The saved case holds what `run` has no option for.
        None => format!("program {}\n", at("s").display()),
    };
    Ok(format!("{program}replay  {replay}\n"))
}

/// Returns the command that runs the program of `case`, written as `path`, as the case does, with its conditions in
/// `conditions` if it needs them; `None` if `run` has no option for some property of the case.
fn run_command<U: Compiled>(
    case: &Case<U>,
    path: &Path,
    conditions: Option<PathBuf>,
) -> Option<String> {
    let noise = case.noise_cycles.is_some() || case.conditions == Conditions::Noise;
    let seeded = !case.start.is_empty() || case.model_seed.is_some();
    if noise || seeded || case.mutant.is_some() {
        return None;
    }
    // Some random words do not survive their text form, and some names are not file names.
    let file = path.to_string_lossy();
    let text = U::to_text(&case.program);
    let mut again = U::load(text.as_bytes(), &file, &LoadOptions::default()).ok()?;
    U::rename(&mut again.program, U::name(&case.program).to_owned());
    let length = path.file_stem()?.len().saturating_sub(U::NAME.len() + 1);
    if again.program != case.program || length > LONGEST_NAME || path.to_str().is_none() {
        return None;
    }
    let shown = |path: &Path| shell(&relative(path).to_string_lossy());
    let mut text = format!(
        "{} {} {}",
        shell(&program()),
        for_design("run", U::NAME),
        shown(path)
    );
    text += &format!(" {}", case.options());
    if let Some(path) = conditions {
        text += &format!(" --conditions {}", shown(&path));
    }
    if let Some(dir) = &case.rtl {
        text += &format!(" --rtl {}", shown(dir));
    }
    if case.no_assert {
        text += " --no-assert";
    }
    Some(text)
}

/// Returns the cycles of a stream after its reset as words: instructions, launches, other events.
pub fn in_words<U: Compiled>(stream: &Stream<U>) -> String {
    let mut golden = U::Golden::build(&stream.build());
    let mut text = String::new();
    for (cycle, pins) in stream.cycles.0.iter().enumerate() {
        let state = *golden.state();
        let running = U::running(&state);
        let taken = running && !pins.is_reset() && !pins.is_stalled() && !U::mid_step(&state);
        golden.cycle(pins);
        let executed = taken && *golden.state() != state;
        let what = match (executed, U::mid_step(&state)) {
            (true, _) => {
                let words = U::instruction(pins);
                let operation = U::anatomy(&words).ok().and_then(|a| a.operation);
                let shown: Vec<_> = words.iter().map(|word| format!("{word:08x}")).collect();
                // Its operands depend on its place: `explain` shows them.
                format!("{:<8}  {}", operation.unwrap_or_default(), shown.join(" "))
            }
            (false, true) if !pins.is_reset() && !pins.is_stalled() => "unwind".to_owned(),
            _ => pins.describe(running),
        };
        let _ = writeln!(text, "  {cycle:>4}  pc 0x{:03x}  {what}", U::pc(&state));
    }
    text
}
