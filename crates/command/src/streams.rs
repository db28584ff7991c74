//! Files that are named on the command line: `-` is standard input or standard output.

use std::io::{ErrorKind, Read as _, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use reconverge::input::{self, InputError, MAX_BYTES};
use reconverge::wave;

/// The name of standard input in messages, and of a program read from it.
const STDIN: &str = "stdin";

/// Standard input was read: it cannot be read again.
static READ: AtomicBool = AtomicBool::new(false);
/// Standard output is a requested file: messages go to standard error.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Files of this command, by their real paths.
static FILES: Mutex<Files> = Mutex::new(Files {
    read: Vec::new(),
    written: Vec::new(),
});

struct Files {
    read: Vec<PathBuf>,
    /// With the flag and the path as the user gave them.
    written: Vec<(PathBuf, String, String)>,
}

/// Returns the folder that contains `path`.
pub fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|d| !d.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Returns whether `path` stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns whether standard input was read as a file.
pub fn was_read() -> bool {
    READ.load(Ordering::Relaxed)
}

/// Returns whether messages go to standard error because standard output is a requested file.
pub fn taken() -> bool {
    TAKEN.load(Ordering::Relaxed)
}

/// Returns the path without links at which `path` is read, or would be written. `None` if it is not a regular file: what is written
/// to a device or a pipe replaces nothing.
fn real(path: &Path) -> Option<PathBuf> {
    match path.metadata() {
        Ok(there) if there.is_file() => path.canonicalize().ok(),
        Ok(_) => None,
        // A link that leads nowhere is itself replaced.
        Err(_) => Some(folder(path).canonicalize().ok()?.join(path.file_name()?)),
    }
}

/// Notes that `path` is an input of this command.
///
/// # Errors
/// It is an output too: it would be overwritten.
pub fn reads(path: &Path) -> Result<(), InputError> {
    let Some(real) = real(path) else {
        return Ok(());
    };
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, flag, given)) = files.written.iter().find(|(there, ..)| *there == real) {
        return Err(overwritten(flag, given));
    }
    files.read.push(real);
    Ok(())
}

/// Notes that `path`, which `flag` names, is an output of this command.
///
/// # Errors
/// It is an input or another output too.
fn writes(flag: &str, path: &Path) -> Result<(), InputError> {
    let Some(real) = real(path) else {
        return Ok(());
    };
    let given = path.to_string_lossy();
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if files.read.contains(&real) {
        return Err(overwritten(flag, &given));
    }
    if files.written.iter().any(|(there, ..)| *there == real) {
        let why = "another output goes to this file already";
        return Err(InputError::new(flag, 0, given, why));
    }
    let written = (real, flag.to_owned(), given.into_owned());
    files.written.push(written);
    Ok(())
}

fn overwritten(flag: &str, path: &str) -> InputError {
    let why = "is an input of this command too, and would be overwritten";
    InputError::new(flag, 0, path, why)
}

/// Reads a whole file, or standard input; returns it with its name for messages.
///
/// # Errors
/// The same as of [`input::read`] and [`reads`]; standard input was read already.
pub fn read(path: &Path) -> Result<(Vec<u8>, String), InputError> {
    if !is_standard(path) {
        reads(path)?;
        return Ok((input::read(path)?, path.to_string_lossy().into_owned()));
    }
    let bad = |why: String| InputError::new(STDIN, 0, "file", why);
    if READ.swap(true, Ordering::Relaxed) {
        return Err(bad("`-` is given for two files".to_owned()));
    }
    let mut bytes = Vec::new();
    let read = stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|e| InputError::io(STDIN, &e))?;
    if bytes.len() as u64 > MAX_BYTES {
        let why = format!("has more than {MAX_BYTES} bytes, which no input has");
        return Err(bad(why));
    }
    Ok((bytes, STDIN.to_owned()))
}

/// Reads the same as [`read`], as text.
///
/// # Errors
/// The same as of [`read`]; the bytes are not UTF-8.
pub fn read_text(path: &Path) -> Result<(String, String), InputError> {
    let (bytes, name) = read(path)?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let why = format!("not UTF-8 text at byte {at}");
        InputError::new(&name, 0, "file", why)
    })?;
    Ok((text, name))
}

/// Does the same as [`writable`] for each of several options that is given.
pub fn all_writable<const N: usize>(
    outputs: [(&str, &Option<PathBuf>); N],
) -> Result<(), InputError> {
    for (flag, path) in outputs {
        path.as_ref().map_or(Ok(()), |path| writable(flag, path))?;
    }
    Ok(())
}

/// Refuses an output that cannot become a file, before any work is done for it. Each output must be another file, and no input;
/// only one can be standard output.
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
    writes(flag, path)
}

/// Writes a requested file, whole or not at all, or standard output.
///
/// # Errors
/// It cannot be written; a reader of standard output that has gone away is not an error.
pub fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    match is_standard(path) {
        true => ignoring_readers(stdout().lock().write_all(text.as_bytes())),
        false => wave::write_named(path, text),
    }
}

/// Returns the destination of messages, except those that always go to standard error.
pub fn told() -> Box<dyn Write> {
    match taken() {
        true => Box::new(std::io::stderr().lock()),
        false => Box::new(stdout().lock()),
    }
}

/// Ignores the error of a reader that has gone away.
///
/// # Errors
/// Standard output cannot be written for another reason.
pub fn ignoring_readers(written: std::io::Result<()>) -> Result<(), String> {
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {e}")),
        _ => Ok(()),
    }
}
