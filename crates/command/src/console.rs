//! What the command prints, and how it ends: the result of a command, its exit status, messages.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::styling::{AnsiColor, Style};
use reconverge::dut;
use reconverge::input::{InputError, printable};
use reconverge::show::text::{NARROWEST, WIDTH};

use crate::streams::{self, taken};

/// Set when a failure of the RTL is known.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Records that a failure of the RTL is known: the exit status is 1, even if nothing of it can be printed or written.
pub fn failed() {
    FAILED.store(true, Ordering::Relaxed);
}

/// How a command that did its work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Exit status 0: RTL and models agreed.
    Agreed,
    /// Exit status 1: a case or a proof failed.
    Failed,
}

impl Status {
    /// Returns the status of a command of which something `failed`, or nothing did.
    pub fn of(failed: bool) -> Self {
        match failed {
            true => Status::Failed,
            false => Status::Agreed,
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// Exit status 2.
    Input(InputError),
    /// Exit status 3.
    Other(String),
}

impl From<InputError> for Failure {
    fn from(e: InputError) -> Self {
        match e.is_of_the_machine() {
            false => Failure::Input(e),
            true => Failure::Other(e.to_string()),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Input(e) => e.fmt(f),
            Failure::Other(message) => f.write_str(message),
        }
    }
}

impl From<String> for Failure {
    fn from(e: String) -> Self {
        Failure::Other(e)
    }
}

impl Failure {
    /// Returns the failure for a missing model of the RTL in `dir`, or of our own.
    pub fn unbuilt(e: &dut::Error, dir: Option<&Path>) -> Self {
        match e.as_input(dir) {
            Some(bad) => Failure::Input(bad),
            None => Failure::Other(e.to_string()),
        }
    }
}

pub type Done = Result<Status, Failure>;

/// Ends a command that has a result, and perhaps a reason why the result is incomplete. The exit status reports a failure,
/// whatever other errors there are.
pub fn ends(status: Status, trouble: Option<Failure>) -> Done {
    match (status, trouble) {
        (Status::Failed, Some(why)) => {
            tell(&why);
            Ok(Status::Failed)
        }
        (Status::Agreed, Some(why)) => Err(why),
        (status, None) => Ok(status),
    }
}

/// Prints why a command could not do its work; returns the exit status.
pub fn tell(failure: &Failure) -> u8 {
    match failure {
        Failure::Input(e) => {
            for e in std::iter::once(e).chain(e.others()) {
                // The first line is the whole message; the lines below show the place.
                let snippet = e.snippet().map_or_else(String::new, |s| s + "\n");
                let _ = write!(anstream::stderr(), "{ERROR}error:{ERROR:#} {e}\n{snippet}");
            }
            2
        }
        Failure::Other(message) => {
            let _ = writeln!(
                anstream::stderr(),
                "{ERROR}error:{ERROR:#} {}",
                printable(message)
            );
            3
        }
    }
}

/// Prints to standard output, or to standard error if standard output is a requested file; a reader that has gone away is not
/// an error.
///
/// Control characters for the terminal are escaped, as in [`complain`].
pub fn print(text: &str) -> Result<(), Failure> {
    print_styled(&printable(text))
}

/// Does the same as [`print`], for text that needs no escapes and may have colours.
pub fn print_styled(text: &str) -> Result<(), Failure> {
    let mut out = streams::told();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    Ok(streams::ignoring_readers(written)?)
}

/// Colour of `error:`. As all colours, only on a terminal, and not with `NO_COLOR`.
const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
/// Colour of `warning:`.
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Prints a line to standard error; a reader that has gone away is not an error.
///
/// Control characters for the terminal are escaped, because names and text from files are printed in this way.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(text));
}

pub fn warn(warnings: &[String]) {
    for warning in warnings {
        let warning = printable(warning);
        let _ = writeln!(anstream::stderr(), "{WARNING}warning:{WARNING:#} {warning}");
    }
}

/// Returns the name by which this program was called, for commands that the user may repeat.
pub fn program() -> String {
    std::env::args()
        .next()
        .unwrap_or_else(|| "reconverge".to_owned())
}

/// Returns the width of a line in characters: that of `COLUMNS`, the terminal's, or [`WIDTH`].
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|n| n.parse().ok());
    let terminal = || {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    };
    asked.or_else(terminal).unwrap_or(WIDTH).max(NARROWEST)
}

/// Returns whether messages may have colours: on a terminal, and not with `NO_COLOR`.
pub fn colour() -> bool {
    let choice = match taken() {
        true => anstream::AutoStream::choice(&std::io::stderr()),
        false => anstream::AutoStream::choice(&std::io::stdout()),
    };
    choice != anstream::ColorChoice::Never
}

/// Returns the exit status of a command: 0 agreed, 1 mismatch, 2 bad input or usage, 3 anything else. Prints why it could not do its
/// work.
pub fn status(done: Done) -> ExitCode {
    match done {
        Ok(Status::Agreed) => ExitCode::SUCCESS,
        Ok(Status::Failed) => ExitCode::from(1),
        Err(failure) => match tell(&failure) {
            3 if FAILED.load(Ordering::Relaxed) => ExitCode::from(1),
            status => ExitCode::from(status),
        },
    }
}

/// Refuses to run without a terminal, before any work is done.
///
/// # Errors
/// Standard output is not a terminal, or one that can only print.
pub fn moves_cursor() -> Result<(), InputError> {
    let instead = "`run --show` prints a run, `run --html FILE` writes a page to step through it";
    let bad = |why: &str| InputError::new("step", 0, "terminal", format!("{why}; {instead}"));
    if !std::io::stdout().is_terminal() {
        return Err(bad("standard output is not a terminal"));
    }
    match std::env::var("TERM").as_deref() {
        Err(_) | Ok("" | "dumb") => Err(bad("TERM says that it cannot move its cursor")),
        Ok(_) => Ok(()),
    }
}
