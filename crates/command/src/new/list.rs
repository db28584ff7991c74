//! The file list of a new crate.

use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use reconverge::input::{InputError, read_text};
use verilate::macro_name;

use super::NewArgs;

/// Returns the file list, with names relative to `from`.
pub(super) fn list(args: &NewArgs, from: &Path) -> Result<String, InputError> {
    let mut text =
        "// The RTL that is tested, packages first; names are relative to this file.\n".to_owned();
    let from = std::path::absolute(from).map_err(|e| InputError::io(from.to_string_lossy(), &e))?;
    let real = |path: &Path| {
        let real = fs::canonicalize(path);
        let real = real.map_err(|e| InputError::io(path.to_string_lossy(), &e))?;
        let shown = relative(&real, &from).to_string_lossy().into_owned();
        match shown.contains('$') {
            true => {
                let why =
                    "its path must have no `$`, which begins the name of a variable in a file list";
                Err(InputError::new(path.to_string_lossy(), 0, "path", why))
            }
            false => Ok(shown),
        }
    };
    for (option, dirs) in [("-I", &args.include), ("-y", &args.library)] {
        for dir in dirs {
            if !dir.is_dir() {
                let why = format!("{} must be a folder", dir.display());
                return Err(InputError::option(option, why));
            }
            let _ = writeln!(text, "{option} {}", real(dir)?);
        }
    }
    for define in &args.define {
        // What a line of a list cannot hold.
        if define.contains(['#', '\n', '\r']) || define.contains("//") {
            let why =
                format!("{define:?}: write a macro with `#`, `//` or a line break into the RTL");
            return Err(InputError::option("-D", why));
        }
        macro_name(define).map_err(|why| InputError::option("-D", why))?;
        let _ = writeln!(text, "-D {define}");
    }
    for file in &args.rtl {
        // This reports a file that is missing, or is not a file.
        read_text(file)?;
        let ending = file.extension().unwrap_or_default().to_string_lossy();
        let option = match ending.to_ascii_lowercase().as_str() {
            "f" | "flist" | "vc" => "-F ",
            "vhd" | "vhdl" => {
                let why = "VHDL must be made Verilog first: ghdl synth --out=verilog".to_owned();
                return Err(InputError::new(file.to_string_lossy(), 0, "--rtl", why));
            }
            _ => "",
        };
        let _ = writeln!(text, "{option}{}", real(file)?);
    }
    Ok(text)
}

/// Returns `path` relative to the folder `from`; both are absolute.
pub(super) fn relative(path: &Path, from: &Path) -> PathBuf {
    let from = nearest(from);
    let (mut a, mut b) = (path.components().peekable(), from.components().peekable());
    while a.peek().is_some() && a.peek() == b.peek() {
        a.next();
        b.next();
    }
    b.map(|_| Component::ParentDir).chain(a).collect()
}

/// Returns `path` with the links resolved in those of its folders that exist.
fn nearest(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(there), ..) => there,
        (_, Some(parent), Some(name)) => nearest(parent).join(name),
        _ => path.to_owned(),
    }
}
