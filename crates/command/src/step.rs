//! `step`: a run on the terminal, controlled by keys. [`reconverge::show::step`] decides what the screen shows.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use console::Term;
use reconverge::case::{Case, Conditions, Row, Table};
use reconverge::check::Judged;
use reconverge::compiled::Compiled;
use reconverge::judges::Judges;
use reconverge::saved::Saved;
use reconverge::show::step::{Ask, Key, Stepper};
use reconverge::stimulus::draws;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::SIGWINCH;
use signal_hook::iterator::Signals;

use crate::console::{Failure, colour, complain};
use crate::shows::save_again;
use crate::stop::{self, Trouble};
use crate::workers::Isolated;

/// Time between two checks of whether the process was told to end.
const LOOK: Duration = Duration::from_millis(100);
/// Switches to the alternate screen, without cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// Switches back to the screen before.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// An input event of the terminal.
enum Event {
    Key(console::Key),
    Resized,
    Gone,
}

/// The terminal; dropping it restores the previous settings.
struct Terminal {
    term: Term,
    was: Option<Termios>,
    events: Receiver<Event>,
    /// Requests the next key. A key is read only on request, because the reader changes the mode of the terminal meanwhile.
    next: Sender<()>,
    reading: bool,
}

impl Terminal {
    fn open() -> Result<Self, String> {
        let shown = |e: std::io::Error| format!("the terminal: {e}");
        let term = Term::stdout();
        let was = tcgetattr(std::io::stdin()).ok();
        if let Some(was) = &was {
            // Keys that are typed ahead do not appear on the screen.
            let mut quiet = was.clone();
            quiet.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON);
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet);
        }
        let (send, events) = mpsc::channel();
        let (next, wanted) = mpsc::channel();
        let (keys, reader) = (send.clone(), term.clone());
        std::thread::spawn(move || {
            while wanted.recv().is_ok() {
                let event = reader.read_key_raw().map_or(Event::Gone, Event::Key);
                if keys.send(event).is_err() {
                    return;
                }
            }
        });
        let mut sizes = Signals::new([SIGWINCH]).map_err(shown)?;
        std::thread::spawn(move || {
            let mut resized = sizes.forever();
            while resized.next().is_some() && send.send(Event::Resized).is_ok() {}
        });
        print(ENTER).map_err(shown)?;
        Ok(Terminal {
            term,
            was,
            events,
            next,
            reading: false,
        })
    }

    /// Returns the next key; `None` if only the size changed, `Err` if no more keys will come.
    fn key(&mut self) -> Result<Option<Key>, String> {
        let asked = stop::asked()?;
        if !std::mem::replace(&mut self.reading, true) {
            let _ = self.next.send(());
        }
        let event = loop {
            match self.events.recv_timeout(LOOK) {
                Ok(event) => break event,
                Err(RecvTimeoutError::Disconnected) => break Event::Gone,
                Err(RecvTimeoutError::Timeout) if asked.load(Ordering::Relaxed) => {
                    return Err("interrupted".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        let Event::Key(key) = event else {
            return match event {
                Event::Gone => Err("the terminal is gone".to_owned()),
                _ => Ok(None),
            };
        };
        self.reading = false;
        Ok(Some(match key {
            console::Key::ArrowLeft => Key::Left,
            console::Key::ArrowRight => Key::Right,
            console::Key::ArrowUp => Key::Up,
            console::Key::ArrowDown => Key::Down,
            console::Key::PageUp => Key::PageUp,
            console::Key::PageDown => Key::PageDown,
            console::Key::Home => Key::Home,
            console::Key::End => Key::End,
            console::Key::Enter => Key::Enter,
            console::Key::Escape => Key::Escape,
            console::Key::Backspace => Key::Backspace,
            console::Key::CtrlC => Key::Char('q'),
            console::Key::Char(c) => Key::Char(c),
            _ => return Ok(None),
        }))
    }

    fn show(&self, stepper: &Stepper) -> Result<(), String> {
        let (height, width) = self.term.size();
        let lines = stepper.screen(width.into(), height.into(), colour());
        // Each line ends by erasing the rest of the old line, so that nothing flickers.
        let screen = format!("\x1b[H{}\x1b[K\x1b[J", lines.join("\x1b[K\r\n"));
        print(&screen).map_err(|e| format!("the terminal: {e}"))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = print(LEAVE);
        if let Some(was) = &self.was {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, was);
        }
    }
}

fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Returns `conditions` with other bits in the draws of `rows`.
fn changed(conditions: &Conditions, rows: Vec<Row>) -> Conditions {
    let with = |table: &Table| {
        let mut all = Vec::from(table.clone());
        all.extend(&rows);
        Table::from(all)
    };
    match conditions {
        _ if rows.is_empty() => conditions.clone(),
        Conditions::Drawn { p16 } => Conditions::Changed {
            p16: *p16,
            rows: Table::from(rows),
        },
        Conditions::Changed { p16, rows } => Conditions::Changed {
            p16: *p16,
            rows: with(rows),
        },
        Conditions::Table(table) => Conditions::Table(with(table)),
        Conditions::Noise => Conditions::Noise,
    }
}

/// Writes the files needed to run `case` again; returns the commands that do it.
fn save<U: Compiled>(
    case: &Case<U>,
    judged: &Judged<Case<U>>,
    out: &Path,
) -> Result<String, String> {
    let saved = Saved {
        failure: judged.as_ref().err().map(|failure| failure.place()),
        case: case.clone(),
    };
    save_again(
        &saved.case,
        &saved.to_text(),
        &out.join(format!("{}.stepped", case.name())),
    )
}

/// Steps through the run of `case`, whose result is `judged`. Returns the run as the user left it.
///
/// # Errors
/// The terminal goes away; the process was told to end.
pub fn step<U: Compiled>(
    case: Case<U>,
    judged: Judged<Case<U>>,
    rtl: &mut Isolated<Case<U>>,
    out: &Path,
) -> Result<(Case<U>, Judged<Case<U>>), Failure> {
    let (mut now, mut ends) = (case.clone(), judged);
    let mut stepper = Stepper::new(&now, &ends);
    let mut terminal = Terminal::open()?;
    // Printed again when the screen is closed.
    let mut told = None;
    loop {
        terminal.show(&stepper)?;
        let Some(key) = terminal.key()? else { continue };
        match stepper.press(key) {
            Ask::Nothing => {}
            Ask::Leave => break,
            Ask::Draws(cycle) => stepper.draws(draws(&now, cycle)),
            Ask::Run(rows) => {
                let other = Case {
                    conditions: changed(&case.conditions, rows),
                    ..case.clone()
                };
                stepper.say("running ...");
                terminal.show(&stepper)?;
                match rtl.check(&other, Judges::All, |_| ()) {
                    Ok(judged) => {
                        stepper.again(&other, &judged);
                        (now, ends) = (other, judged);
                        told = None;
                    }
                    Err(Trouble::Interrupted) => {
                        return Err(Failure::Other("interrupted".to_owned()));
                    }
                    Err(trouble) => stepper.refused(&trouble.why()),
                }
            }
            Ask::Save => match save(&now, &ends, out) {
                Ok(said) => {
                    stepper.say(said.lines().next().unwrap_or_default());
                    told = Some(said);
                }
                Err(why) => stepper.say(&why),
            },
        }
    }
    drop(terminal);
    for change in stepper.changes() {
        complain(&format!("changed: {}", change.said()));
    }
    if let Some(told) = told {
        complain(told.trim_end());
    }
    Ok((now, ends))
}
