//! Progress messages of long work: continuously on a terminal, otherwise one line a minute.

use std::env;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use reconverge::campaign::{Limit, Shard};

use crate::console::complain;

/// Time between two lines: `RECONVERGE_PROGRESS` seconds, a minute by default.
static EVERY: LazyLock<Duration> = LazyLock::new(|| {
    let asked = env::var("RECONVERGE_PROGRESS").ok();
    let seconds = asked.and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(60).max(1))
});

/// Work that ends within this time shows no progress.
const SOON: Duration = Duration::from_millis(300);

/// Writes a line from time to time if standard error is not a terminal.
pub struct Lines {
    started: Instant,
    last: Instant,
}

impl Lines {
    /// Returns lines of which the first is due in a minute.
    pub fn new() -> Self {
        let started = Instant::now();
        Lines {
            started,
            last: started,
        }
    }

    /// Writes how far the work is, if a line is due.
    pub fn tell(&mut self, how_far: impl FnOnce() -> String) {
        if self.last.elapsed() >= *EVERY && !std::io::stderr().is_terminal() {
            self.last = Instant::now();
            let seconds = self.started.elapsed().as_secs();
            complain(&format!("{}, {seconds} s", how_far()));
        }
    }
}

/// Shows the progress of work of known length: as a bar on a terminal, as [`Lines`] otherwise.
pub struct Counter {
    name: String,
    what: &'static str,
    bar: Option<ProgressBar>,
    lines: Mutex<Lines>,
}

impl Counter {
    /// Returns a counter at 0; `what` is counted, and `name` says for which unit or campaign.
    pub fn new(name: &str, what: &'static str) -> Self {
        // Elapsed time and no estimate: pieces take from a second to an hour.
        let style = format!(
            "{{prefix}} [{{bar:32}}] {{human_pos}}/{{human_len}} {what}, {{elapsed}}, {{msg}}"
        );
        let bar = || {
            styled(
                ProgressBar::no_length().with_prefix(name.to_owned()),
                &style,
            )
        };
        let bar = std::io::stderr().is_terminal().then(bar);
        Counter {
            name: name.to_owned(),
            what,
            bar,
            lines: Mutex::new(Lines::new()),
        }
    }

    /// Shows that `done` of `of` are done, and what comes next, if that is known.
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

/// Whether a ticker is shown. Of several at once, only the first is shown.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Shows the progress of work of unknown length: as a line that changes on a terminal, as [`Lines`] otherwise.
pub struct Ticker {
    lines: Lines,
    bar: Option<ProgressBar>,
    shown: bool,
}

impl Ticker {
    /// Returns a ticker that has shown nothing.
    pub fn new() -> Self {
        Ticker {
            lines: Lines::new(),
            bar: None,
            shown: !SHOWN.swap(true, Ordering::Relaxed),
        }
    }

    /// Shows how far the work is, if that is due.
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

fn styled(bar: ProgressBar, style: &str) -> ProgressBar {
    match ProgressStyle::with_template(style) {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}

/// Returns a bar for a campaign with this limit; `None` if standard error is not a terminal.
pub fn bar(limit: Limit, shard: Shard) -> Option<ProgressBar> {
    let (length, what) = match limit {
        Limit::Programs(n) => (n.div_ceil(shard.of()), "programs"),
        Limit::Cycles(n) => (n.div_ceil(shard.of()), "cycles"),
        Limit::Time(t) => (t.as_secs(), "s"),
    };
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let style = format!(
        "{{prefix}} [{{bar:32}}] {{human_pos}}/{{human_len}} {what}, {{msg}}, {{eta}} left"
    );
    Some(styled(ProgressBar::new(length), &style))
}

/// Returns how far the bar of a campaign with this limit is.
pub fn position(limit: Limit, programs: u64, cycles: u64, started: Instant) -> u64 {
    match limit {
        Limit::Programs(_) => programs,
        Limit::Cycles(_) => cycles,
        Limit::Time(_) => started.elapsed().as_secs(),
    }
}
