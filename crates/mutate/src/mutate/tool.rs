//! Programs that this one asks: Yosys and ABC. What they are asked can take them minutes, or for ever.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How a program came to its end.
pub enum Ended {
    /// By itself: its status, what it printed, and what it said on standard error.
    Itself(ExitStatus, String, String),
    /// It was killed, for it took too long.
    TimeOver,
    /// It was killed, for `stop` was set.
    Interrupted,
}

/// What a program that waits, instead of using the processor, gets by the clock: so often its time.
const PATIENCE: u32 = 4;

/// Runs `command` until it has used the processor for the time that is `left`, takes that off, and only until `stop` is set.
/// What it waits for a processor that others use is not its own, so that a busy machine gives the same answers.
///
/// # Errors
/// It cannot be started, or what it printed cannot be kept.
pub fn run(command: &mut Command, left: &mut Duration, stop: &AtomicBool) -> io::Result<Ended> {
    // Files: a pipe that is full would hold it up.
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(err.try_clone()?)
        .spawn()?;
    let (begin, mut used) = (Instant::now(), Duration::ZERO);
    loop {
        used = used_by(&child).unwrap_or(begin.elapsed()).max(used);
        if let Some(status) = child.try_wait()? {
            *left = left.saturating_sub(used);
            return Ok(Ended::Itself(status, text(&mut out)?, text(&mut err)?));
        }
        let interrupted = stop.load(Ordering::Relaxed);
        if interrupted || used >= *left || begin.elapsed() >= *left * PATIENCE {
            let _ = child.kill();
            child.wait()?;
            *left = Duration::ZERO;
            return Ok(match interrupted {
                true => Ended::Interrupted,
                false => Ended::TimeOver,
            });
        }
        sleep(Duration::from_millis(2));
    }
}

/// The time for which `child`, which was not waited for, has used the processor.
fn used_by(child: &Child) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // Behind the name, which may hold anything; in hundredths of a second (man 5 proc: utime, stime).
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = [11, 12].map(|i| fields.get(i).and_then(|ticks| ticks.parse::<u64>().ok()));
    Some(Duration::from_millis((ticks[0]? + ticks[1]?) * 10))
}

/// All that is in `file`.
fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
