//! `asm`, `dis`, `import` and `view`.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use reconverge::input::{self, InputError, read};
use reconverge::unit::{LoadOptions, Unit};
use reconverge::wave;

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
    let (view, dump) = match &args.dump {
        Some(dump) if !dump.is_file() => {
            let why = "no such dump; `run --wave` or a mismatch writes one";
            return Err(InputError::new(dump.to_string_lossy(), 0, "dump", why).into());
        }
        Some(dump) if !is_dump(dump)? => {
            let why = "not a VCD: no $enddefinitions in it";
            return Err(InputError::new(dump.to_string_lossy(), 0, "dump", why).into());
        }
        Some(dump) => (dump.with_extension("gtkw"), dump.clone()),
        // The view by itself, for a dump that is still to come.
        None => (
            PathBuf::from(format!("waves/{}.gtkw", U::NAME)),
            PathBuf::from(format!("waves/{}.vcd", U::NAME)),
        ),
    };
    let command = wave::write_view::<U>(&view, &dump, lanes, None)?;
    print(&format!("{command}\n"))?;
    Ok(Agreed::Yes)
}

fn is_dump(path: &Path) -> Result<bool, InputError> {
    let mut from = BufReader::new(input::open(path)?).take(input::MOST_BYTES);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = from.read_until(b'\n', &mut line);
        if read.map_err(|e| InputError::io(path.to_string_lossy(), &e))? == 0 {
            return Ok(false);
        }
        if line.starts_with(b"$enddefinitions") {
            return Ok(true);
        }
    }
}
