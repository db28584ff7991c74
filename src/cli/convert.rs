//! `asm`, `dis`, `import` and `view`.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use reconverge::input::{self, InputError, read};
use reconverge::unit::{LoadOptions, Unit};
use reconverge::wave::{self, Shown};

use super::{
    Agreed, AsmArgs, Done, Failure, ImportArgs, ViewArgs, complain, print, warn, writable,
};

fn write(output: Option<&Path>, text: &str) -> Result<(), Failure> {
    match output {
        Some(path) => {
            writable("--output", path)?;
            Ok(wave::write_whole(path, text)?)
        }
        None => print(text),
    }
}

fn load<U: Unit>(path: &Path, options: &LoadOptions) -> Result<U::Program, Failure> {
    let loaded = U::load(&read(path)?, &path.to_string_lossy(), options)?;
    warn(&loaded.warnings);
    Ok(loaded.program)
}

pub fn asm<U: Unit>(args: &AsmArgs) -> Done {
    let program = load::<U>(&args.program, &LoadOptions::default())?;
    write(args.output.as_deref(), &U::to_hex(&program))?;
    Ok(Agreed::Yes)
}

pub fn dis<U: Unit>(args: &AsmArgs) -> Done {
    let program = load::<U>(&args.program, &LoadOptions::default())?;
    write(args.output.as_deref(), &U::to_text(&program))?;
    Ok(Agreed::Yes)
}

pub fn import<U: Unit>(args: &ImportArgs) -> Done {
    if args.list {
        let names = U::list(&read(&args.program)?, &args.program.to_string_lossy())?;
        print(&(names.join("\n") + "\n"))?;
        return Ok(Agreed::Yes);
    }
    let program = load::<U>(&args.program, &LoadOptions::from(&args.load))?;
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

pub fn view<U: Unit>(args: &ViewArgs) -> Done {
    let lanes = args.lanes.unwrap_or(U::LANES) as usize;
    let mut shown = Shown {
        lanes,
        ..Shown::default()
    };
    let (view, dump) = match &args.dump {
        Some(dump) if !dump.is_file() => {
            let why = "no such dump; `run --wave` or a mismatch writes one";
            return Err(InputError::new(dump.to_string_lossy(), 0, "dump", why).into());
        }
        Some(dump) => {
            let from = BufReader::new(input::open(dump)?).take(input::MOST_BYTES);
            let words = wave::words_of(from);
            let words = words.map_err(|e| InputError::io(dump.to_string_lossy(), &e))?;
            shown.words = words.ok_or_else(|| {
                let why = "not a VCD: no $enddefinitions in it";
                InputError::new(dump.to_string_lossy(), 0, "dump", why)
            })?;
            (dump.with_extension("gtkw"), dump.clone())
        }
        // The view by itself, for a dump that is still to come.
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
