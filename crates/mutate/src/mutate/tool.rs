//! Runs external programs, Yosys and ABC, with a limit of time: what they are asked can take minutes, or never end.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How a program ended.
pub enum Ended {
    /// By itself: its exit status, standard output and standard error.
    Itself(ExitStatus, String, String),
    /// It was killed because its time was over.
    TimeOver,
    /// It was killed because `stop` was set.
    Interrupted,
}

/// Limit of elapsed time, as a multiple of the processor time that is left: it ends a program that waits instead of computing.
const PATIENCE: u32 = 4;

/// Runs `command` until it ends, has used `left` of processor time, or `stop` is set, and subtracts the time used from `left`.
/// Time spent waiting for a busy processor does not count, so that a busy machine gives the same answers.
///
/// # Errors
/// It cannot be started, or its output cannot be stored.
pub fn run(command: &mut Command, left: &mut Duration, stop: &AtomicBool) -> io::Result<Ended> {
    // Files, because a full pipe would block it.
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

/// Returns the processor time used by `child`, which has not been waited for.
fn used_by(child: &Child) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The fields after the name, which may contain anything; in hundredths of a second (man 5 proc: utime, stime).
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = [11, 12].map(|i| fields.get(i).and_then(|ticks| ticks.parse::<u64>().ok()));
    Some(Duration::from_millis((ticks[0]? + ticks[1]?) * 10))
}

/// Returns the whole contents of `file`.
fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
