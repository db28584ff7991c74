//! Files that are named on the command line: `-` is standard input or standard output.

use std::io::{ErrorKind, Read as _, Write, stdin, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use reconverge::input::{self, InputError, MOST_BYTES};
use reconverge::wave;

use super::folder;

/// What standard input is called in messages; a program that is read from it is called so too.
const STDIN: &str = "stdin";

/// Standard input is read: it has no second file in it.
static READ: AtomicBool = AtomicBool::new(false);
/// Standard output is a file that was asked for: what is told otherwise goes to standard error.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether `path` stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether what is told goes to standard error, because standard output is a file that was asked for.
pub fn taken() -> bool {
    TAKEN.load(Ordering::Relaxed)
}

/// Reads a file, or standard input, whole; returns it with its name for messages.
///
/// # Errors
/// As [`input::read`]; standard input is read already.
pub fn read(path: &Path) -> Result<(Vec<u8>, String), InputError> {
    if !is_standard(path) {
        return Ok((input::read(path)?, path.to_string_lossy().into_owned()));
    }
    let bad = |why: String| InputError::new(STDIN, 0, "file", why);
    if READ.swap(true, Ordering::Relaxed) {
        return Err(bad("`-` is given for two files".to_owned()));
    }
    let mut bytes = Vec::new();
    let read = stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|e| InputError::io(STDIN, &e))?;
    if bytes.len() as u64 > MOST_BYTES {
        let why = format!("has more than {MOST_BYTES} bytes, which no input has");
        return Err(bad(why));
    }
    Ok((bytes, STDIN.to_owned()))
}

/// As [`read`], as text.
///
/// # Errors
/// As [`read`]; bytes that are not UTF-8.
pub fn read_text(path: &Path) -> Result<(String, String), InputError> {
    let (bytes, name) = read(path)?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let why = format!("not UTF-8 text at byte {at}");
        InputError::new(&name, 0, "file", why)
    })?;
    Ok((text, name))
}

/// Refuses an output that cannot become a file, before any work is done for it. Standard output becomes one file at most.
pub fn writable(flag: &str, path: &Path) -> Result<(), InputError> {
    let bad = |why: &str| Err(InputError::new(flag, 0, path.to_string_lossy(), why));
    if is_standard(path) {
        return match TAKEN.swap(true, Ordering::Relaxed) {
            true => bad("another output goes to standard output already"),
            false => Ok(()),
        };
    }
    if path.is_dir() {
        return bad("is a folder");
    }
    if !folder(path).is_dir() {
        return bad("its folder does not exist");
    }
    Ok(())
}

/// Writes a file that was asked for, whole or not at all, or standard output.
///
/// # Errors
/// It cannot be written; a reader of standard output that went away is no error.
pub fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    match is_standard(path) {
        true => ignoring_readers(stdout().lock().write_all(text.as_bytes())),
        false => wave::write_whole(path, text),
    }
}

/// Returns what is told, but for what goes to standard error anyhow.
pub fn told() -> Box<dyn Write> {
    match taken() {
        true => Box::new(std::io::stderr().lock()),
        false => Box::new(stdout().lock()),
    }
}

/// Returns why standard output cannot be written; a reader that went away is no error.
///
/// # Errors
/// As it says.
pub fn ignoring_readers(written: std::io::Result<()>) -> Result<(), String> {
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
        _ => Ok(()),
    }
}
