//! Runs external programs, Yosys and ABC, with a limit of time: what they are asked can take minutes, or never end.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use reconverge_bench::process::Process;
use tempfile::TempDir;

/// A temporary folder in which such programs run. Its files are called by their names in messages.
pub(crate) struct Work(TempDir);

impl Work {
    pub fn new() -> Result<Self, String> {
        let dir = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
        Ok(Work(dir))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<(), String> {
        fs::write(self.path().join(name), text).map_err(|e| format!("{name}: {e}"))
    }

    /// Writes files with these names and texts. Returns the names.
    pub fn write_all<'t>(&self, texts: &'t [(String, String)]) -> Result<Vec<&'t str>, String> {
        let write = |(name, text): &'t (String, String)| {
            self.write(name, text)?;
            Ok(name.as_str())
        };
        texts.iter().map(write).collect()
    }

    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        fs::read(self.path().join(name)).map_err(|e| format!("{name}: {e}"))
    }

    pub fn read_text(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(self.path().join(name)).map_err(|e| format!("{name}: {e}"))
    }
}

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

/// Writes a program that does `what` in place of another. A process of its own writes it: if another thread started a program while
/// this one had the file open, the file could not be run.
#[cfg(test)]
pub(super) fn stand_in(file: &Path, what: &str) {
    let script = format!("printf '#!/bin/sh\\n%s\\n' '{what}' >\"$0\" && chmod +x \"$0\"");
    let made = Command::new("sh").args(["-c", &script]).arg(file).status();
    assert!(made.unwrap().success());
}
