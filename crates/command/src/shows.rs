//! What the command shows of a case besides its report.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use reconverge::assembly::Assembly as _;
use reconverge::campaign::Shrunk;
use reconverge::case::{Case, Conditions, LONGEST_NAME};
use reconverge::check::{Agreed, Judged, TestCase};
use reconverge::compiled::Compiled;
use reconverge::design::{Control as _, Design as _, Golden as _};
use reconverge::failure::Failure;
use reconverge::input::{InputError, relative};
use reconverge::instructions::Instructions as _;
use reconverge::json::Hex;
use reconverge::report::Report;
use reconverge::rules;
use reconverge::show::Run;
use reconverge::show::page::Said;
use reconverge::stream::Stream;
use reconverge::unit::{LoadOptions, Pins as _};
use reconverge::wave::{self, shell};
use reconverge::worker::Ordered;
use serde::Serialize;

use crate::console::{Failure as Trouble, complain, moves_cursor, program};
use crate::guests::for_design;
use crate::rtl::trusted;
use crate::streams::{is_standard, writable};
use crate::workers::Isolated;

/// What is shown of a run besides how it ends.
#[derive(Args, Clone)]
pub struct ShowArgs {
    /// {programs:Print the run: each executed instruction, what its lanes did, the stack, where lanes diverged and reconverged. Repeats
    /// of a loop are folded}
    #[arg(long)]
    pub show: bool,
    /// {programs:Step through the run in the terminal, forwards and backwards, and change conditions; the verdict is that of the last run}
    #[arg(long)]
    pub step: bool,
    /// {programs:Write a picture of the run as SVG: instructions from top to bottom, lanes side by side, the stack at the right}
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// {programs:Write a page of the run: program, lanes, stack, and a scrubber; of a failure both sides, the rule, the replay
    /// command. It needs no network and no server}
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

impl ShowArgs {
    /// Refuses all of these options for `file`, a stream of pins: it has no program to show.
    pub fn none(&self, file: &str) -> Result<(), InputError> {
        let flags = [
            ("--show", self.show),
            ("--step", self.step),
            ("--picture", self.picture.is_some()),
            ("--html", self.html.is_some()),
        ];
        match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                let why = "a stream of pins has no program to be shown";
                Err(InputError::new(file, 0, *flag, why))
            }
            None => Ok(()),
        }
    }

    /// Refuses files that cannot be written, before any work is done for them.
    pub fn check(&self) -> Result<(), InputError> {
        if self.step {
            moves_cursor()?;
        }
        if let Some(path) = &self.picture {
            if !is_standard(path) && path.extension().is_none_or(|e| e != "svg") {
                let why =
                    "the name must end in .svg; `rsvg-convert -o FILE.png FILE.svg` makes a PNG";
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

/// A run that was shown.
pub struct Shown<C: TestCase> {
    /// The case to report: if conditions were changed, as the user left it.
    pub case: C,
    /// Its verdict.
    pub judged: Judged<C>,
    /// The error if standard output or a file could not be written. A failure is to be reported and saved nevertheless.
    pub written: Result<(), Trouble>,
}

#[derive(Serialize)]
pub struct End {
    outcome: String,
    pc: Hex,
    max_steps: bool,
}

impl End {
    /// Returns how the run of a program ended.
    pub fn of<U: Compiled>(agreed: &Agreed<U>) -> Self {
        End {
            outcome: U::outcome(&agreed.end),
            pc: Hex(U::pc(&agreed.end).into()),
            max_steps: agreed.step_limit,
        }
    }
}

/// A case that the command shows.
pub trait Shows: Ordered {
    /// Returns whether the case can be run again without its saved file.
    fn by_itself(&self) -> bool;
    /// Returns whether the case begins in a state that is loaded.
    fn loads(&self) -> bool;
    /// Returns how a run ended that agreed, if its end has a name.
    fn end(agreed: &Agreed<Self::Design>) -> Option<End>;
    /// Returns the text on the case, on which all judges agree.
    fn agreed_text(&self, agreed: &Agreed<Self::Design>) -> String;
    /// Returns the run that a page shows of a failure, and the numbered statements of its program, if it has one.
    fn run_to_show(failure: &Failure<Self>) -> Option<(Run, Vec<(u32, String)>)>;
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
    /// Returns the text of a case that was made smaller; with `run` for a place where the command stands that runs it.
    fn small(shrunk: &Shrunk<Self>, run: bool) -> String;
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
pub fn said_of<C: Shows>(failure: &Failure<C>, command: Option<String>) -> (Option<Run>, Said) {
    let rule = Report::of(failure).rule;
    let rule = rule.as_deref().and_then(rule_id::<C>).and_then(rules::find);
    let (run, program) = C::run_to_show(failure).unzip();
    let said = Said {
        agrees: false,
        verdict: format!("{failure:PAGE$}"),
        rule: rule.map(|rule| (rule.id.clone(), rule.text.clone())),
        replay: command,
        program: program.unwrap_or_default(),
    };
    (run, said)
}

/// Returns the id of a rule that a report names as `FILE#ID WORDS` or `ID WORDS`; `None` if it is only described.
pub fn rule_id<C: TestCase>(rule: &str) -> Option<&str> {
    let word = rule.split(' ').next()?;
    let id = word.split_once('#').map_or(word, |(_, id)| id);
    let (owner, _) = id.split_once('-')?;
    (owner == "contract" || owner == C::Design::NAME).then_some(id)
}

/// Returns the command that runs `case`, saved as `path`, again.
pub fn replay_command<C: TestCase>(case: &C, path: &Path) -> String {
    let shown = |path: &Path| shell(&path.to_string_lossy());
    let rtl = case.rtl().filter(|dir| !trusted::<C::Design>(dir));
    let rtl = rtl.map_or_else(String::new, |dir| format!("--rtl {} ", shown(dir)));
    let program = shell(&program());
    format!("{program} replay {rtl}{}", shown(path))
}

/// Returns `stem` with `.ending`.
pub fn at(stem: &Path, ending: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(format!(".{ending}"));
    PathBuf::from(path)
}

/// Returns every instruction of a program with its address.
pub fn statements<U: Compiled>(case: &Case<U>) -> Vec<(u32, String)> {
    let program = &case.program;
    let addresses = (0..program.count()).map(|number| program.address(number));
    addresses.map(|pc| (pc, program.statement(pc))).collect()
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
    let settings = match run.is_some() {
        true => beside_command(case),
        false => format!("// {}\n", case.surroundings()),
    };
    let program = format!("// {command}\n{settings}{}", case.program.to_text());
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

/// Returns the line above a program that says what the command which runs it does not; empty if that says all.
pub fn beside_command<U: Compiled>(case: &Case<U>) -> String {
    match case.without_option() {
        settings if settings.is_empty() => settings,
        settings => format!("// {settings}\n"),
    }
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
    let text = case.program.to_text();
    let mut again = U::load(text.as_bytes(), &file, &LoadOptions::default()).ok()?;
    again.program.rename(case.program.name().to_owned());
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
        let pc = U::pc_of(&state, U::wavefront(&state, pins));
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
        let _ = writeln!(text, "  {cycle:>4}  pc 0x{pc:03x}  {what}");
    }
    text
}
