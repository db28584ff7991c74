//! `asm`, `dis`, `import` and `view`.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use reconverge::assembly::Assembly as _;
use reconverge::compiled::Compiled;
use reconverge::design::{Build, Design};
use reconverge::input::{self, InputError};
use reconverge::quantity::counted;
use reconverge::unit::LoadOptions;
use reconverge::wave::{self, Shown};

use crate::args::LoadArgs;
use crate::console::{Done, Failure, Status, complain, print, warn};
use crate::guests::{for_design, program_unit_names, unit_names};
use crate::load::{load, other_input};
use crate::streams::{is_standard, read, writable};

#[derive(Args)]
pub struct AsmArgs {
    /// Unit
    #[arg(value_parser = program_unit_names())]
    pub unit: String,
    /// Program
    pub program: PathBuf,
    /// Write here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct ImportArgs {
    /// Unit
    #[arg(value_parser = program_unit_names())]
    pub unit: String,
    /// Compiler or driver output
    pub program: PathBuf,
    /// List the programs in the file
    #[arg(long)]
    pub list: bool,
    /// Write words, one instruction a line, instead of assembly
    #[arg(long)]
    pub hex: bool,
    #[command(flatten)]
    pub load: LoadArgs,
    /// Write here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct ViewArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    pub unit: String,
    /// Dump to open; the view beside it is used, or written if there is none
    pub dump: Option<PathBuf>,
    /// Open the dump in GTKWave
    #[arg(long, requires = "dump")]
    pub open: bool,
    /// {lanes:Number of lanes of a view without a dump [default: the design's own]; a dump says its own}
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub lanes: Option<u32>,
}

fn write(output: Option<&Path>, text: &str) -> Result<(), Failure> {
    match output {
        Some(path) if !is_standard(path) => {
            writable("--output", path)?;
            Ok(wave::write_named(path, text)?)
        }
        _ => print(text),
    }
}

pub fn asm<U: Compiled>(args: &AsmArgs) -> Done {
    let program = load::<U>(&args.program, &LoadOptions::default())?;
    write(args.output.as_deref(), &U::to_hex(&program))?;
    Ok(Status::Agreed)
}

pub fn dis<U: Compiled>(args: &AsmArgs) -> Done {
    let program = load::<U>(&args.program, &LoadOptions::default())?;
    write(args.output.as_deref(), &program.to_text())?;
    Ok(Status::Agreed)
}

pub fn import<U: Compiled>(args: &ImportArgs) -> Done {
    if args.list {
        let (bytes, file) = read(&args.program)?;
        other_input(&bytes, &file, U::NAME)?;
        let names = U::list(&bytes, &file)?;
        print(&(names.join("\n") + "\n"))?;
        return Ok(Status::Agreed);
    }
    let program = load::<U>(&args.program, &LoadOptions::from(&args.load))?;
    warn(&U::refused(&program, &Build::from(U::LANES)));
    for need in U::needs(&program) {
        complain(&format!("needs   {need}"));
    }
    let text = if args.hex {
        U::to_hex(&program)
    } else {
        program.to_text()
    };
    write(args.output.as_deref(), &text)?;
    Ok(Status::Agreed)
}

pub fn view<D: Design>(args: &ViewArgs) -> Done {
    let lanes = args.lanes.unwrap_or(D::LANES);
    let build = Build::from(lanes);
    build.check::<D>("").map_err(InputError::in_option)?;
    let mut shown = Shown {
        lanes: lanes as usize,
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
            if header.design != D::NAME {
                let why = match header.design.as_str() {
                    "" => "not of a bench of this command: no module UNIT_tb in it".to_owned(),
                    other => format!("of {other}, not of {}", D::NAME),
                };
                return Err(bad(why).into());
            }
            if let Some(lanes) = header.lanes::<D>() {
                if args.lanes.is_some_and(|asked| asked as usize != lanes) {
                    let why = format!("{} has {}", dump.display(), counted(lanes, "lane"));
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
            PathBuf::from(format!("waves/{0}/{0}.gtkw", D::NAME)),
            PathBuf::from(format!("waves/{0}/{0}.vcd", D::NAME)),
        ),
    };
    let command = wave::write_view::<D>(&view, &dump, &shown, args.dump.is_some())?;
    if args.open {
        return open(&dump, &view);
    }
    print(&format!("{command}\n"))?;
    if !dump.is_file() {
        let (there, view) = (dump.display(), for_design("view", D::NAME));
        complain(&format!(
            "note: there is no {there} yet; a run that fails writes its dump beside its case, and `{view} DUMP` makes the view of that"
        ));
    }
    Ok(Status::Agreed)
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
    Ok(Status::Agreed)
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
        Ok(status) if status.success() => Ok(Status::Agreed),
        Ok(status) => failed(status.to_string()),
        Err(e) => failed(e.to_string()),
    }
}
