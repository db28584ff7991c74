//! `asm`, `dis`, `import` and `view`.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use reconverge::case::unit_of_case;
use reconverge::compiled::Compiled;
use reconverge::design::Build;
use reconverge::input::{self, InputError};
use reconverge::stream::design_of_stream;
use reconverge::unit::LoadOptions;
use reconverge::wave::{self, Shown};

use super::streams::{is_standard, read};
use super::{
    Agreed, AsmArgs, Done, Failure, ImportArgs, UNITS, ViewArgs, complain, print, warn, writable,
};

fn write(output: Option<&Path>, text: &str) -> Result<(), Failure> {
    match output {
        Some(path) if !is_standard(path) => {
            writable("--output", path)?;
            Ok(wave::write_named(path, text)?)
        }
        _ => print(text),
    }
}

/// Reads a program and prints its warnings.
pub fn load<U: Compiled>(path: &Path, options: &LoadOptions) -> Result<U::Program, Failure> {
    let (bytes, file) = read(path)?;
    other_input(&bytes, &file, U::NAME)?;
    let loaded = U::load(&bytes, &file, options);
    let loaded = loaded.map_err(|wrong| of_another(&bytes, &file, U::NAME).unwrap_or(wrong))?;
    warn(&loaded.warnings);
    Ok(loaded.program)
}

/// Refuses a saved case, and a file that only a unit other than `unit` reads.
fn other_input(bytes: &[u8], file: &str, unit: &str) -> Result<(), InputError> {
    let object = bytes.trim_ascii_start().starts_with(b"{");
    let text = str::from_utf8(bytes).ok().filter(|_| object);
    let saved = |text| unit_of_case(text, file).is_ok() || design_of_stream(text).is_some();
    if text.is_some_and(saved) {
        let why = "this is a saved case, try `replay`";
        return Err(InputError::new(file, 0, "file", why));
    }
    for other in UNITS.iter().filter(|other| other.name() != unit) {
        let Some((what, runs)) = other.recognises(bytes) else {
            continue;
        };
        let hint = match runs {
            true => format!(", try `run {}`", other.name()),
            false => String::new(),
        };
        return Err(InputError::new(
            file,
            0,
            "file",
            format!("this is {what}{hint}"),
        ));
    }
    Ok(())
}

/// Returns why a program that is none of `unit` is refused, if another unit reads it: many messages about its words would not help.
fn of_another(bytes: &[u8], file: &str, unit: &str) -> Option<InputError> {
    // Words in hexadecimal may be of any unit.
    let mut letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic());
    if letters.all(|byte| byte.is_ascii_hexdigit() || *byte == b'x') {
        return None;
    }
    let mut others = UNITS.iter().filter(|other| other.name() != unit);
    let other = others.find(|other| other.reads(bytes, file))?;
    let name = other.name();
    let why = format!("this is a program of {name}, not of {unit}; try `run {name}`");
    Some(InputError::new(file, 0, "file", why))
}

pub fn asm<U: Compiled>(args: &AsmArgs) -> Done {
    let program = load::<U>(&args.program, &LoadOptions::default())?;
    write(args.output.as_deref(), &U::to_hex(&program))?;
    Ok(Agreed::Yes)
}

pub fn dis<U: Compiled>(args: &AsmArgs) -> Done {
    let program = load::<U>(&args.program, &LoadOptions::default())?;
    write(args.output.as_deref(), &U::to_text(&program))?;
    Ok(Agreed::Yes)
}

pub fn import<U: Compiled>(args: &ImportArgs) -> Done {
    if args.list {
        let (bytes, file) = read(&args.program)?;
        other_input(&bytes, &file, U::NAME)?;
        let names = U::list(&bytes, &file)?;
        print(&(names.join("\n") + "\n"))?;
        return Ok(Agreed::Yes);
    }
    let program = load::<U>(&args.program, &LoadOptions::from(&args.load))?;
    warn(&U::refused(&program, &Build::from(U::LANES)));
    for need in U::needs(&program) {
        complain(&format!("needs   {need}"));
    }
    let text = if args.hex {
        U::to_hex(&program)
    } else {
        U::to_text(&program)
    };
    write(args.output.as_deref(), &text)?;
    Ok(Agreed::Yes)
}

pub fn view<U: Compiled>(args: &ViewArgs) -> Done {
    let mut shown = Shown {
        lanes: args.lanes.unwrap_or(U::LANES) as usize,
        ..Shown::default()
    };
    let (view, dump) = match &args.dump {
        Some(dump) if !dump.is_file() => {
            let why = match is_standard(dump) {
                true => "GTKWave opens files alone: a dump cannot be read from standard input",
                false => "no such dump; `run --wave` or a mismatch writes one",
            };
            return Err(InputError::new(dump.to_string_lossy(), 0, "dump", why).into());
        }
        Some(dump) if dump.extension().is_some_and(|e| e == "fst") => {
            return written(dump, args.open);
        }
        Some(dump) => {
            let from = BufReader::new(input::open(dump)?).take(input::MAX_BYTES);
            let header = wave::header(from);
            let header = header.map_err(|e| InputError::io(dump.to_string_lossy(), &e))?;
            let bad = |why| InputError::new(dump.to_string_lossy(), 0, "dump", why);
            let header =
                header.ok_or_else(|| bad("not a VCD: no $enddefinitions in it".to_owned()))?;
            if header.design != U::NAME {
                let why = match header.design.as_str() {
                    "" => "not of a bench of this command: no module UNIT_tb in it".to_owned(),
                    other => format!("of {other}, not of {}", U::NAME),
                };
                return Err(bad(why).into());
            }
            if let Some(lanes) = header.lanes::<U>() {
                if args.lanes.is_some_and(|asked| asked as usize != lanes) {
                    let why = format!("{} has {lanes} lanes", dump.display());
                    return Err(InputError::option("--lanes", why).into());
                }
                shown.lanes = lanes;
            }
            let view = dump.with_extension("gtkw");
            // The one that was written with the dump marks what differs.
            if view.is_file() {
                return written(dump, args.open);
            }
            shown.added = header.added;
            shown.signals = Some(header.signals);
            (view, dump.clone())
        }
        // Only the view, for a dump that does not exist yet.
        None => (
            PathBuf::from(format!("waves/{}.gtkw", U::NAME)),
            PathBuf::from(format!("waves/{}.vcd", U::NAME)),
        ),
    };
    let command = wave::write_view::<U>(&view, &dump, &shown, args.dump.is_some())?;
    if args.open {
        return open(&dump, &view);
    }
    print(&format!("{command}\n"))?;
    Ok(Agreed::Yes)
}

/// Uses the view that was written with a dump unchanged: that of an FST names its words, and that of a failure what differs.
fn written(dump: &Path, and_open: bool) -> Done {
    let view = dump.with_extension("gtkw");
    if !view.is_file() {
        let why = format!(
            "{} is gone, which was written with it; run the case again",
            view.display()
        );
        return Err(InputError::new(dump.to_string_lossy(), 0, "dump", why).into());
    }
    if and_open {
        return open(dump, &view);
    }
    print(&format!("{}\n", wave::command(dump, &view)))?;
    Ok(Agreed::Yes)
}

/// Opens a view in GTKWave, and waits until its window is closed.
fn open(dump: &Path, view: &Path) -> Done {
    let status = Command::new("gtkwave").arg(dump).arg(view).status();
    let failed = |why: String| {
        Err(Failure::Other(format!(
            "gtkwave: {why}; ./setup --all installs it"
        )))
    };
    match status {
        Ok(status) if status.success() => Ok(Agreed::Yes),
        Ok(status) => failed(status.to_string()),
        Err(e) => failed(e.to_string()),
    }
}
