//! Output files: written whole or not at all, and not through the link of another user.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An output file that is written whole or not at all: a temporary file that is renamed at the end.
#[derive(Debug)]
pub struct Output(Sink);

#[derive(Debug)]
enum Sink {
    New(tempfile::NamedTempFile, PathBuf),
    There(fs::File),
}

impl Output {
    /// Begins to write `path`, which the user has named. If it is not a regular file (a pipe, a device), it is written directly; of a
    /// symbolic link, the target is written.
    ///
    /// # Errors
    /// The folder or the non-regular file cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if fs::metadata(&path).is_ok_and(|m| !m.is_file()) {
            return Ok(Output(Sink::There(
                fs::File::options().write(true).open(path)?,
            )));
        }
        Self::replacing(&path)
    }

    /// Begins to write `path`, a name that the program has chosen. It replaces whatever has this name, a link too: another user may
    /// have made it.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn replacing(path: &Path) -> io::Result<Self> {
        let dir = path
            .parent()
            .filter(|d| !d.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // Permissions according to the umask, as for any file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(".writing-").tempfile_in(dir)?;
        Ok(Output(Sink::New(file, path.to_owned())))
    }

    /// Renames the temporary file to its final name.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Sink::New(file, path) => file.persist(path).map(drop).map_err(|e| e.error),
            Sink::There(_) => Ok(()),
        }
    }
}

impl Output {
    /// Does the same as [`Output::finish`], unless there is a file with the final name.
    ///
    /// # Errors
    /// There is one; the file cannot be renamed.
    fn finish_new(self) -> io::Result<()> {
        match self.0 {
            Sink::New(file, path) => {
                let named = file.persist_noclobber(path);
                named.map(drop).map_err(|e| e.error)
            }
            Sink::There(_) => Ok(()),
        }
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Sink::New(file, _) => file.write(bytes),
            Sink::There(file) => file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Sink::New(file, _) => file.flush(),
            Sink::There(file) => file.flush(),
        }
    }
}

impl io::Seek for Output {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            Sink::New(file, _) => file.seek(to),
            Sink::There(file) => file.seek(to),
        }
    }
}

/// Writes `text` to `path`, a name that the program has chosen, whole or not at all. It replaces what has this name, a link too.
/// Creates the folder if it does not exist.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    write_with(path, text, Output::replacing)
}

/// Does the same as [`write_whole`] for a `path` that the user has named: links are followed, pipes and devices written.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn write_named(path: &Path, text: &str) -> Result<(), String> {
    write_with(path, text, Output::create)
}

fn write_with(
    path: &Path,
    text: &str,
    open: fn(&Path) -> io::Result<Output>,
) -> Result<(), String> {
    let shown = |e: io::Error| format!("{}: {e}", path.display());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(shown)?;
    }
    let mut file = open(path).map_err(shown)?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(shown)?;
    file.finish().map_err(shown)
}

/// Writes `text` to `path` like [`write_whole`], unless there is a file with this name; returns whether the file now holds `text`.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn write_new(path: &Path, text: &str) -> Result<bool, String> {
    let shown = |e: io::Error| format!("{}: {e}", path.display());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(shown)?;
    }
    let mut file = Output::replacing(path).map_err(shown)?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(shown)?;
    let there = |e: &io::Error| e.kind() == io::ErrorKind::AlreadyExists;
    match file.finish_new() {
        Err(e) if there(&e) => {
            let regular = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
            Ok(regular && fs::read(path).is_ok_and(|old| old == text.as_bytes()))
        }
        done => done.map(|()| true).map_err(shown),
    }
}

/// Removes the file or link `path`, so that a dump replaces it instead of writing through it.
pub fn remove_old(path: &Path) {
    let old = fs::symlink_metadata(path);
    if old.is_ok_and(|old| old.is_file() || old.is_symlink()) {
        // If it cannot be removed, it cannot be written either, which is reported then.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    /// Regression: outputs named on the command line used to replace pipes, devices and links with files.
    #[cfg(unix)]
    #[test]
    fn an_output_that_the_user_names_replaces_neither_a_pipe_nor_a_link() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let dir = tempfile::tempdir().expect("a folder");
        let (file, link, pipe) = (
            dir.path().join("a"),
            dir.path().join("l"),
            dir.path().join("p"),
        );
        std::fs::write(&file, "old").expect("written");
        symlink(&file, &link).expect("linked");
        super::write_named(&link, "new").expect("written");
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "new");
        assert!(
            std::fs::symlink_metadata(&link)
                .expect("there")
                .is_symlink()
        );

        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|s| s.success()));
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).expect("read")
        });
        super::write_named(&pipe, "through").expect("written");
        assert_eq!(reader.join().expect("joined"), "through");
        assert!(
            std::fs::metadata(&pipe)
                .expect("there")
                .file_type()
                .is_fifo()
        );
        assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 3);
    }

    /// Regression: who could make a link in the folder of the outputs had its target overwritten.
    #[cfg(unix)]
    #[test]
    fn a_name_that_the_program_chooses_replaces_a_link() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, link) = (dir.path().join("a"), dir.path().join("l"));
        std::fs::write(&file, "of another").expect("written");
        for write in [super::write_whole, |path: &_, text: &_| {
            super::remove_old(path);
            std::fs::write(path, text).map_err(|e| e.to_string())
        }] {
            std::os::unix::fs::symlink(&file, &link).expect("linked");
            write(&link, "new").expect("written");
            assert_eq!(std::fs::read_to_string(&file).expect("read"), "of another");
            assert!(!link.is_symlink());
            assert_eq!(std::fs::read_to_string(&link).expect("read"), "new");
            std::fs::remove_file(&link).expect("removed");
        }
    }

    #[test]
    fn a_file_with_other_contents_is_not_overwritten_by_a_new_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("sub/a");
        assert_eq!(super::write_new(&file, "one"), Ok(true));
        assert_eq!(super::write_new(&file, "one"), Ok(true));
        assert_eq!(super::write_new(&file, "two"), Ok(false));
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "one");
        // Nothing temporary is left.
        assert_eq!(
            std::fs::read_dir(dir.path().join("sub"))
                .expect("read")
                .count(),
            1
        );
    }
}
