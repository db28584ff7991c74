//! What is told of work that takes its time: on a terminal at once, otherwise in a line a minute.

use std::env;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::complain;

/// Time between two lines: `RECONVERGE_PROGRESS` seconds, a minute by default.
static EVERY: LazyLock<Duration> = LazyLock::new(|| {
    let asked = env::var("RECONVERGE_PROGRESS").ok();
    let seconds = asked.and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(60).max(1))
});

/// Work that is over within this time is not told of.
const SOON: Duration = Duration::from_millis(300);

/// Writes a line from time to time where standard error is no terminal.
pub struct Lines {
    started: Instant,
    last: Instant,
}

impl Lines {
    /// The first line is due in a minute.
    pub fn new() -> Self {
        let started = Instant::now();
        Lines {
            started,
            last: started,
        }
    }

    /// Says how far the work is, if that is due.
    pub fn tell(&mut self, how_far: impl FnOnce() -> String) {
        if self.last.elapsed() >= *EVERY && !std::io::stderr().is_terminal() {
            self.last = Instant::now();
            let seconds = self.started.elapsed().as_secs();
            complain(&format!("{}, {seconds} s", how_far()));
        }
    }
}

/// Says how much of a piece of work is done whose length is known: as a bar on a terminal, as [`Lines`] otherwise.
pub struct Counter {
    name: String,
    what: &'static str,
    bar: Option<ProgressBar>,
    lines: Mutex<Lines>,
}

impl Counter {
    /// Nothing of `what` is done yet; `name` says whose.
    pub fn new(name: &str, what: &'static str) -> Self {
        // Time so far and no estimate: pieces take from a second to an hour.
        let style = format!(
            "{{prefix}} [{{bar:32}}] {{human_pos}}/{{human_len}} {what}, {{elapsed}}, {{msg}}"
        );
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::no_length().with_prefix(name.to_owned());
            match ProgressStyle::with_template(&style) {
                Ok(style) => bar.with_style(style.progress_chars("=> ")),
                Err(_) => bar,
            }
        });
        Counter {
            name: name.to_owned(),
            what,
            bar,
            lines: Mutex::new(Lines::new()),
        }
    }

    /// Says that `done` are done of `of`, and what comes next, if that is known.
    pub fn tell(&self, done: usize, of: usize, next: Option<&str>) {
        if let Some(bar) = &self.bar {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
            bar.set_message(next.unwrap_or_default().to_owned());
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.tell(|| {
            let next = next.map_or(String::new(), |next| format!(", now {next}"));
            format!("{}: {done} of {of} {}{next}", self.name, self.what)
        });
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Whether one is shown. Of several at once the first says what is being done.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Says how far a piece of work is whose length is not known: as a line that changes on a terminal, as [`Lines`] otherwise.
pub struct Ticker {
    lines: Lines,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl Ticker {
    /// Nothing is said yet.
    pub fn new() -> Self {
        Ticker {
            lines: Lines::new(),
            bar: None,
            shown: !SHOWN.swap(true, Ordering::Relaxed),
        }
    }

    /// Says how far the work is, if that is due.
    pub fn tick(&mut self, how_far: impl FnOnce() -> String) {
        if !self.shown {
            return;
        }
        if !std::io::stderr().is_terminal() {
            return self.lines.tell(how_far);
        }
        if self.lines.started.elapsed() >= SOON {
            let bar = self.bar.get_or_insert_with(ProgressBar::new_spinner);
            bar.set_message(how_far());
            bar.tick();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.shown {
            SHOWN.store(false, Ordering::Relaxed);
        }
    }
}
