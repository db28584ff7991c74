//! Runs external programs, Yosys and ABC, with a limit of time: what they are asked can take minutes, or never end.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use reconverge_bench::process::Process;

/// How a program ended.
pub enum Ended {
    /// By itself: its exit status, standard output and standard error.
    Itself(ExitStatus, String, String),
    /// It was killed because its time was over.
    TimeOver,
    /// It was killed because `stop` was set.
    Interrupted,
}

/// Limit of the time that a program waits instead of computing, as a multiple of the processor time that is left.
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
    let (mut looked, mut used, mut waited) = (Instant::now(), Duration::ZERO, Duration::ZERO);
    loop {
        let (process, slice) = (Process::of(child.id()), looked.elapsed());
        looked += slice;
        match process {
            Some(process) => {
                used = process.used.max(used);
                waited += if process.state == 'R' {
                    Duration::ZERO
                } else {
                    slice
                };
            }
            None => used += slice,
        }
        if let Some(status) = child.try_wait()? {
            *left = left.saturating_sub(used);
            return Ok(Ended::Itself(status, text(&mut out)?, text(&mut err)?));
        }
        let interrupted = stop.load(Ordering::Relaxed);
        if interrupted || used >= *left || waited >= *left * PATIENCE {
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

/// Returns the whole contents of `file`.
fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
