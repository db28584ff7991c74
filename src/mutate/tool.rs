//! Programs that this one asks: Yosys and ABC. What they are asked can take them minutes, or for ever.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
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

/// Runs `command` for `time` at most, and only until `stop` is set.
///
/// # Errors
/// It cannot be started, or what it printed cannot be kept.
pub fn run(command: &mut Command, time: Duration, stop: &AtomicBool) -> io::Result<Ended> {
    // Files: a pipe that is full would hold it up.
    let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(err.try_clone()?)
        .spawn()?;
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Itself(status, text(&mut out)?, text(&mut err)?));
        }
        let interrupted = stop.load(Ordering::Relaxed);
        if interrupted || begin.elapsed() >= time {
            let _ = child.kill();
            child.wait()?;
            return Ok(match interrupted {
                true => Ended::Interrupted,
                false => Ended::TimeOver,
            });
        }
        sleep(Duration::from_millis(2));
    }
}

/// All that is in `file`.
fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
