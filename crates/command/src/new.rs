//! `new`: a crate for other RTL, from the ports that Verilator reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use reconverge::dut;
use reconverge::input::{InputError, read_text};
use reconverge::quantity::counted;
use reconverge::wave;
use reconverge_declaration::Declaration;
use verilate::{FileList, Port};

use crate::console::{Done, Failure, Status, print};

mod channels;
mod clocks;
mod hints;
mod list;
mod literals;
mod manifest;
mod parameters;
mod ports;
mod programs;
mod reset;
mod tree;
mod update;
mod wrap;
use clocks::Clocks;
use hints::{as_given, with_hints};
use list::list;
use manifest::{format_crate, manifest, sources};
use parameters::{Given, Parameter, given};
use ports::{Declared, Enum, TWO, declared};
use reset::Reset;
use wrap::Wrapped;

/// Says that Verilator's tree has another form than those that [`tree`] reads.
const UNKNOWN: &str = "the tree that this Verilator writes is not known";

#[derive(Args)]
pub struct NewArgs {
    /// Folder of the new crate; its name is that of the crate and of the design
    dir: PathBuf,
    /// The crate exists: bring its declaration up to date with changed RTL, with the options as when it was made
    #[arg(long)]
    update: bool,
    /// Write a sequencer that runs programs, with RTL, golden model, assembler and campaigns, to be changed; no other option is needed
    #[arg(long, conflicts_with_all = ["rtl", "top", "update", "include", "define", "library", "parameters", "types", "lanes", "clock", "reset"])]
    programs: bool,
    /// SystemVerilog file, packages first, or file list (.f); may be given again
    #[arg(long, required_unless_present = "programs", value_name = "FILE")]
    rtl: Vec<PathBuf>,
    /// Module to be tested
    #[arg(
        long,
        required_unless_present = "programs",
        default_value = "",
        hide_default_value = true,
        value_name = "MODULE"
    )]
    top: String,
    /// Folder that is searched for include files; may be given again
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Macro, NAME or NAME=VALUE; may be given again
    #[arg(short = 'D', value_name = "MACRO")]
    define: Vec<String>,
    /// Folder that is searched for modules, each in a file of its name; may be given again
    #[arg(short = 'y', value_name = "DIR")]
    library: Vec<PathBuf>,
    /// Default of a parameter of the module instead of its own, a number or a name of its enum; may be given again
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = given)]
    parameters: Vec<(String, Given)>,
    /// Type of a type parameter, or of a port that is an interface with its parameters, or value of a parameter that is an array:
    /// T='logic [7:0]', bus_i='bus #(.W(16))', A="'{1, 2}"
    #[arg(long = "type", value_name = "NAME=TYPE", value_parser = named)]
    types: Vec<(String, String)>,
    /// Parameter of the module that is its number of lanes [default: LANES, if it has one]
    #[arg(long, value_name = "PARAMETER")]
    lanes: Option<String>,
    /// Its only clock [default: inputs whose names look like one]
    #[arg(long, value_name = "PORT")]
    clock: Option<String>,
    /// Its reset; active low if its name ends in n or ni [default: an input whose name looks like one]
    #[arg(long, value_name = "PORT")]
    reset: Option<String>,
}

/// Parses `NAME=TYPE`.
fn named(text: &str) -> Result<(String, String), String> {
    let (name, of) = text.split_once('=').ok_or("no =")?;
    Ok((name.trim().to_owned(), of.trim().to_owned()))
}

/// Returns the input that `asked` names, or the one with the shortest name for which `called` holds; `notes` say that other
/// such inputs are data.
fn control(
    ports: &[Declared],
    asked: Option<&String>,
    called: fn(&str) -> bool,
    what: &str,
    notes: &mut Vec<String>,
) -> Result<Option<String>, InputError> {
    let all = ports.iter().map(|p| &p.port);
    let bits = || all.clone().filter(|p| !p.output && p.width == 1);
    if let Some(name) = asked {
        let found = bits().find(|port| port.name == *name);
        let why = || {
            let there: Vec<&str> = bits().map(|port| port.name.as_str()).collect();
            let there = match there[..] {
                [] => "there are none".to_owned(),
                _ => format!("there are {}", there.join(", ")),
            };
            format!("{name} is not a 1-bit input; {there}")
        };
        let found = found.ok_or_else(|| InputError::option(format!("--{what}"), why()))?;
        return Ok(Some(found.name.clone()));
    }
    // clk is the clock, not clk_en next to it: a name with this ending comes first, then the shorter one.
    let ends = |port: &&Port| {
        let name = port.name.to_ascii_lowercase();
        let mut ends = ["_i", "_ni", "_n"].iter();
        let name = ends.find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        called(name.rsplit('_').next().unwrap_or_default())
    };
    let mut found: Vec<&Port> = bits().filter(|port| called(&port.name)).collect();
    found.sort_by_key(|port| (!ends(port), port.name.len()));
    for other in found.iter().skip(1) {
        notes.push(format!(
            "{} is taken as data; the {what} is {}",
            other.name, found[0].name
        ));
    }
    if found.is_empty() {
        notes.push(format!(
            "no input has a name like a {what}: --{what} names it"
        ));
    }
    Ok(found.first().map(|port| port.name.clone()))
}

pub fn command(args: &NewArgs) -> Done {
    let bad = |field: &str, why: String| {
        InputError::new(args.dir.to_string_lossy(), 0, field.to_owned(), why)
    };
    let name = args.dir.file_name().unwrap_or_default();
    let name = name.to_string_lossy().replace('-', "_");
    let mut letters = name.chars();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !letters.next().is_some_and(|c| c.is_ascii_lowercase()) || !letters.all(plain) {
        return Err(bad(
            "folder",
            format!(
                "{name:?} is not a valid crate name: use a-z, 0-9 and _, and begin with a letter"
            ),
        )
        .into());
    }
    let taken = [
        "reconverge",
        "reconverge_command",
        "reconverge_declaration",
        "std",
        "core",
        "test",
    ]
    .contains(&name.as_str());
    if taken || reconverge_declaration::name_of(&name) != name {
        let why = format!(
            "{name:?} is a word that the generated files need, or ends as a port does (_i, _o, _ni): choose another folder"
        );
        return Err(bad("folder", why).into());
    }
    if args.dir.exists() && !args.update {
        return Err(bad("folder", "already exists".to_owned()).into());
    }
    let before = match args.update {
        true => Some(read_text(&args.dir.join("rtl/design.toml"))?),
        false => None,
    };
    // Everything is written into a temporary folder until it succeeds.
    let parent = match args.dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        return Err(bad("folder", format!("{} is not a folder", parent.display())).into());
    }
    let failed = |e: std::io::Error| Failure::Other(format!("{}: {e}", args.dir.display()));
    let work = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(parent)
        .map_err(failed)?;
    let write = |path: &str, text: &str| {
        wave::write_whole(&work.path().join(path), text).map_err(Failure::Other)
    };
    if args.programs {
        programs::write(&name, write)?;
        format_crate(work.path());
        fs::rename(work.keep(), &args.dir).map_err(failed)?;
        let run = wave::shell(&args.dir.to_string_lossy());
        print(&programs::summary(&args.dir, &run))?;
        return Ok(Status::Agreed);
    }
    // The list is read in its final place.
    let (rtl, at) = (args.dir.join("rtl"), work.path().join("rtl"));
    let list = list(args, &rtl)?;
    write(&format!("rtl/{name}.f"), &list)?;
    let read = || {
        FileList::read(&at, &format!("{name}.f")).map_err(|e| {
            // The folder of the list is temporary.
            let said = e.to_string().replace(&format!("{}/", at.display()), "");
            InputError::option("--rtl", as_given(&said, &args.rtl, &rtl))
        })
    };
    let mut files = read()?;
    let mut notes = Vec::new();
    let mut parameters = parameters::all(&at, &files, &args.top)?;
    let refused = |e: verilate::Error| match e.is_input() {
        true => {
            let said = as_given(&e.to_string(), &args.rtl, &rtl);
            Failure::Input(InputError::option("--rtl", with_hints(&said)))
        }
        false => Failure::Other(e.to_string()),
    };
    let interfaces = wrap::all(texts(&at, &files), &args.top, &args.types)?;
    let (probe, mut top) = (format!("{name}_probe"), format!("{name}_ports"));
    let file = format!("rtl/{top}.sv");
    let with_wrapper = format!("{list}{top}.sv\n");
    if parameters::need_types(&parameters, &args.parameters) {
        // Without their values, which are not known yet.
        let module = Wrapped {
            top: &args.top,
            parameters: &[],
            types: &args.types,
            interfaces: interfaces.clone(),
        };
        write(&format!("rtl/{name}.f"), &with_wrapper)?;
        write(&file, &module.probe(&probe))?;
        let root = dut::tree(&at, &read()?, &probe, &[]);
        let root = root.ok().and_then(|root| tree::read(&root));
        // If Verilator refuses the RTL, it says so below.
        if let Some(types) = root.and_then(|root| tree::variables(&root, &args.top)) {
            let name_of = |name: &str| wrap::name_of(name, &format!("{probe}."));
            parameters::with_types(&mut parameters, &types, name_of);
        }
        write(&format!("rtl/{name}.f"), &list)?;
        fs::remove_file(work.path().join(&file)).map_err(failed)?;
    }
    parameters::choose(&args.parameters, &mut parameters, &args.top)?;
    let parameters = parameters::with_defaults(parameters, &args.types, &mut notes);
    let asked = |p: &&Parameter| args.parameters.iter().any(|(name, _)| *name == p.name);
    let set = parameters.iter().filter(asked);
    let set: Vec<(String, u32)> = set.map(|p| (p.name.clone(), p.default)).collect();
    let set: Vec<(&str, u32)> = set.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    // The ports of the module itself, if it needs no wrapper.
    let cast = parameters.iter().any(|p| p.of_enum.is_some());
    let own = match args.types.is_empty() && !cast {
        true => match dut::ports(&at, &files, &args.top, &set) {
            Ok(ports) => Some(ports),
            Err(e) if wrap::helps(&e.to_string(), &interfaces) => None,
            Err(e) => return Err(refused(e)),
        },
        false => None,
    };
    let mut types = BTreeMap::new();
    let mut wrapper = None;
    let buses = interfaces.clone();
    if own.is_none() {
        let module = Wrapped {
            top: &args.top,
            parameters: &parameters,
            types: &args.types,
            interfaces,
        };
        write(&format!("rtl/{name}.f"), &with_wrapper)?;
        write(&file, &module.probe(&probe))?;
        files = read()?;
        let root = dut::tree(&at, &files, &probe, &[]).map_err(refused)?;
        let known = tree::read(&root).ok_or(UNKNOWN.to_owned());
        let made = known.and_then(|root| module.wrapper(&root, &probe, &top));
        let made = made.map_err(|why| bad("--top", format!("{}: {why}", args.top)))?;
        write(&file, &made.text)?;
        types = made.types;
        wrapper = Some(made.text);
    } else {
        top = args.top.clone();
    }
    let of_lanes = args.lanes.as_deref().unwrap_or("LANES");
    let is_lanes = |p: &&Parameter| p.name == of_lanes && wrapper.is_none();
    let lanes = parameters.iter().find(is_lanes).cloned();
    if let (Some(name), None) = (&args.lanes, &lanes) {
        let why = match wrapper.is_some() {
            true => format!(
                "the ports of {} need a wrapper, whose widths are those of one number of lanes",
                args.top
            ),
            false => format!(
                "{} has no parameter {name} whose default is a number",
                args.top
            ),
        };
        return Err(InputError::option("--lanes", why).into());
    }
    let others: Vec<Parameter> = parameters
        .into_iter()
        .filter(|p| lanes.as_ref().is_none_or(|lanes| lanes.name != p.name))
        .collect();
    let ask = |count: Option<u32>| {
        let lanes = count.map(|n| (of_lanes, n));
        let others = set.iter().copied();
        let others = others.filter(|(name, _)| lanes.is_none() || *name != of_lanes);
        let set: Vec<(&str, u32)> = others.chain(lanes).collect();
        dut::ports(&at, &files, &top, &set).map_err(refused)
    };
    // A port that depends on the lanes otherwise, for example by a logarithm, has its default width.
    let by_default = lanes.is_none() || args.parameters.iter().all(|(name, _)| name != of_lanes);
    let usual = match own {
        Some(ports) if by_default => ports,
        _ => ask(None)?,
    };
    let ports: Vec<(Port, Option<u32>)> = match lanes {
        None => usual.iter().map(|port| (port.clone(), None)).collect(),
        // Two numbers of lanes show which ports depend on them.
        Some(_) => {
            let more = ask(Some(TWO[1]))?;
            let pairs = ask(Some(TWO[0]))?.into_iter();
            pairs
                .map(|port| {
                    let width = width_in(&more, &port);
                    (port, width)
                })
                .collect()
        }
    };
    if wrapper.is_none() {
        let root = dut::tree(&at, &files, &top, &set).map_err(refused)?;
        match tree::read(&root).and_then(|root| tree::ports(&root, &top)) {
            None => notes.push(format!("{}: structs and enums are numbers", UNKNOWN)),
            Some(ports) => {
                let typed = ports.into_iter();
                types = typed.filter_map(|p| Some((p.name, p.of?))).collect();
            }
        }
    }
    let typed = ports.into_iter().map(|(mut port, more)| {
        let of = types.remove(&port.name);
        let more = more.filter(|more| *more != port.width);
        let width = width_in(&usual, &port).filter(|width| more.is_none() && *width != port.width);
        if let Some(width) = width {
            let name = &port.name;
            notes.push(format!("{name} has {width} bits with {of_lanes} as it is by default: the declaration holds for no other"));
            port.width = width;
        }
        (port, more, of)
    });
    let ports: Vec<_> = typed.collect();
    let (mut ports, enums) = declared(ports, &mut notes);
    if !ports.iter().any(|p| p.port.output) {
        let why = format!("module {} has no output: nothing can be compared", args.top);
        return Err(bad("--top", why).into());
    }
    let timing = dut::timing(&at, &files, &top, &set).map_err(refused)?;
    let clocks = Clocks::of(args, &mut ports, &timing.edges, &mut notes)?;
    let reset = Reset::of(args, &mut ports, &timing.edges, &clocks, &mut notes)?;
    for port in ports.iter_mut().filter(|p| p.port.output) {
        port.sampled = timing.combinational.contains(&port.port.name);
    }
    let of_pins = ports.iter().filter(|p| p.sampled);
    // Verilator tells it of a port as a whole.
    let of_pins = of_pins.map(|p| match p.parts.len() {
        1 => p.port.name.clone(),
        n => format!(
            "{} (all {n} parts, though one may do so alone)",
            p.port.name
        ),
    });
    let of_pins: Vec<String> = of_pins.collect();
    if !clocks.are_none() && !of_pins.is_empty() {
        let (shown, more) = of_pins.split_at(of_pins.len().min(8));
        let more = match more.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let shown = shown.join(", ");
        notes.push(format!(
            "sampled, because they depend on pins of the same cycle: {shown}{more}{}",
            wrap::doubt(&buses, &of_pins)
        ));
    }
    let and = reset
        .as_ref()
        .map_or_else(|| "no reset".to_owned(), Reset::to_string);
    // Of a file that only Verilator can read there are none.
    let literals = literals::literals(texts(&at, &files).filter_map(Result::ok));
    let toml = toml(
        &name,
        (&args.top, &top),
        lanes.as_ref(),
        &others,
        &clocks,
        reset.as_ref(),
        (&ports, &enums, &literals),
    )?;
    // The written text is parsed again: an invalid declaration is a defect here.
    let declaration = Declaration::parse("design.toml", &toml)
        .map_err(|e| bad("--top", format!("{} cannot be declared: {e}", args.top)))?;
    write("rtl/design.toml", &toml)?;
    if let Some(before) = before {
        let changes = update::update(
            &args.dir,
            (&before, &toml),
            (&top, wrapper.as_deref()),
            &mut notes,
        )?;
        print(&format!(
            "{}/rtl/design.toml:\n  {changes}\n",
            args.dir.display()
        ))?;
        return print_notes(&notes);
    }
    let (proposed, names) = channels::proposed(&declaration);
    if !names.is_empty() {
        // A key of the whole file stands above its tables.
        let toml = match proposed.contains("side = \"in\"") && proposed.contains("side = \"out\"") {
            true => toml.replacen("\n\n", TRANSACTIONS, 1),
            false => toml,
        };
        write("rtl/design.toml", &(toml + &proposed))?;
        let names = names.join(", ");
        notes.push(format!(
            "channels that the names of ports suggest are comments at the end of rtl/design.toml: {names}"
        ));
    }
    let home = sources();
    if let Err(why) = &home {
        notes.push(format!(
            "Cargo.toml asks for a version of reconverge and of reconverge-declaration, because the folder from which this program was \
             built, {}, is {why}. Write `path = ...` to your copy of it instead",
            reconverge::ROOT
        ));
    }
    write("Cargo.toml", &manifest(&name, home.as_deref().ok()))?;
    write("build.rs", BUILD)?;
    write(".gitignore", IGNORED)?;
    write(".github/workflows/test.yaml", WORKFLOW)?;
    write("src/lib.rs", &library(&declaration))?;
    write("src/main.rs", &main_of(&name, &type_of(&name), "pins"))?;
    write("tests/lockstep.rs", &test(&declaration))?;
    format_crate(work.path());
    fs::rename(work.keep(), &args.dir).map_err(failed)?;
    let dir = args.dir.display();
    print(&format!(
        "{dir}: {}, {}; {clocks}; {and}\n  rtl/design.toml    pins and state; add registers that are to be compared\n  \
         src/lib.rs         the golden model: fill in what a cycle does\n  \
         src/main.rs        its command: cargo run --release -- --help\n  \
         tests/lockstep.rs  run it: cd {} && cargo test\n",
        counted(declaration.pins.len() - declaration.clocks().count(), "pin"),
        counted(declaration.state.len(), "output"),
        wave::shell(&args.dir.to_string_lossy()),
    ))?;
    if wrapper.is_some() {
        print(&format!(
            "  rtl/{top}.sv  a wrapper around the module: its first lines say what has become of the ports\n"
        ))?;
    }
    print_notes(&notes)
}

/// Prints the notes, which end the command.
fn print_notes(notes: &[String]) -> Done {
    for note in notes {
        print(&format!("note: {note}\n"))?;
    }
    Ok(Status::Agreed)
}

/// Returns the width that `port` has among `ports`, those of the same module with other parameters. Verilator sorts ports by
/// their sizes, so their order differs between the two.
fn width_in(ports: &[Port], port: &Port) -> Option<u32> {
    let found = ports.iter().find(|other| other.name == port.name)?;
    Some(found.width)
}

/// Returns the texts of the RTL without comments, each read when it is asked for.
fn texts(dir: &Path, files: &FileList) -> impl Iterator<Item = Result<String, InputError>> {
    let read = |file: &PathBuf| Ok(without_comments(&read_text(&dir.join(file))?));
    files.verilog.iter().map(read)
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (begins, ends) = (rest.get(..2), |end: &str| {
            rest.find(end).map(|n| n + end.len())
        });
        let skipped = match begins {
            Some("//") => rest.find('\n').or(Some(rest.len())),
            Some("/*") => ends("*/").or(Some(rest.len())),
            _ => None,
        };
        match skipped {
            Some(n) => rest = &rest[n..],
            None => {
                out.push('/');
                rest = &rest[1..];
            }
        }
        out.push(' ');
    }
    out + rest
}

/// What is proposed where a module receives on one channel and sends on another.
const TRANSACTIONS: &str = "\n# With the channels below, the golden model may say what is sent instead of what each cycle does: remove the `# `.\n\
                            # transactions = true\n\n";

/// Returns the text of the declaration.
fn toml(
    name: &str,
    (module, top): (&str, &str),
    lanes: Option<&Parameter>,
    others: &[Parameter],
    clocks: &Clocks,
    reset: Option<&Reset>,
    (ports, enums, literals): (&[Declared], &[Enum], &[u64]),
) -> Result<String, InputError> {
    let mut text = format!(
        "# Pins and state of {name}, from the ports of module {module}. The keys are explained in crates/declaration.\n\
         name = {name:?}\ntop = {top:?}\ndoc = \"the module {module}.\"\n",
    );
    text += &clocks.key();
    if !literals.is_empty() {
        let _ = writeln!(
            text,
            "# Values in the text of the RTL, with which it may compare: pins are drawn from them too.\nliterals = {literals:?}"
        );
    }
    if let Some(lanes) = lanes {
        if !(1..=64).contains(&lanes.default) {
            let why = format!("{} must be 1 to 64, not {}", lanes.name, lanes.default);
            return Err(InputError::new("--lanes", 0, lanes.name.clone(), why));
        }
        let _ = writeln!(
            text,
            "\n[lanes]\nparameter = {:?}\ndefault = {}",
            lanes.name, lanes.default
        );
    }
    for Parameter { name, default, .. } in others {
        let _ = writeln!(
            text,
            "\n# Only the default. Widen the range once the golden model and the widths below follow it.\n[[parameter]]\nname = {name:?}\ndefault = {default}\nrange = [{default}, {default}]"
        );
    }
    text += &clocks.tables();
    for (name, full, values) in enums {
        let (names, numbers): (Vec<_>, Vec<_>) = values.iter().cloned().unzip();
        let _ = write!(
            text,
            "\n# Enum {full}.\n[[enum]]\nname = {name:?}\nnames = {names:?}\n"
        );
        if !numbers.iter().copied().eq(0..numbers.len() as u64) {
            let _ = writeln!(text, "values = {numbers:?}");
        }
    }
    text += "\n# ---- pins: what is drawn at random. `percent` of flags and masks, `range` of others ----\n";
    let reset_of = |port: &Port| reset.filter(|reset| reset.ports[0] == port.name);
    for Declared { port, parts, .. } in ports.iter().filter(|p| !p.port.output) {
        for part in parts {
            text += "\n[[pin]]\n";
            part.write(&mut text, "port", port, reset_of(port).map(Reset::list));
            let _ = match reset_of(port) {
                Some(reset) => writeln!(
                    text,
                    "reset = {:?}\n{}",
                    if reset.low { "low" } else { "high" },
                    match reset.asynchronous {
                        true => "asynchronous = true\ndoc = \"Asynchronous reset.\"",
                        false => "doc = \"Reset.\"",
                    }
                ),
                None => writeln!(
                    text,
                    "{}waves = true\ndoc = {:?}",
                    clocks.proposed(part.name()),
                    part.doc()
                ),
            };
        }
    }
    let inside = match top == module {
        true => String::new(),
        false => format!("u_{module}."),
    };
    let _ = write!(
        text,
        "\n# ---- state: what is compared after every cycle. An output that depends on the pins of the same cycle is\n\
         # `sampled`. A register inside: `probe = \"dut.{inside}level_q\"` in the place of `output` ----\n"
    );
    for Declared {
        port,
        parts,
        sampled,
    } in ports.iter().filter(|p| p.port.output)
    {
        for part in parts {
            text += "\n[[state]]\n";
            part.write(&mut text, "output", port, None);
            if clocks.are_none() || *sampled {
                text += "sampled = true\n";
            }
            text += &clocks.proposed(part.name());
            let _ = writeln!(text, "doc = {:?}", part.doc());
        }
    }
    Ok(text)
}

const IGNORED: &str = "/target\n/failures\n/waves\n";

const WORKFLOW: &str = include_str!("new/ci.yaml");

const BUILD: &str = "//! Generates the structs of pins and state from `rtl/design.toml`.

fn main() {
    if let Err(e) = reconverge_declaration::generate(\"rtl/design.toml\") {
        eprintln!(\"\\n{e}\\n\");
        std::process::exit(1);
    }
}
";

/// Returns the name of the type: for `spa5_stack`, `Spa5Stack`.
fn type_of(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    let name: String = words.map(word).collect();
    // These are the other types of the crate.
    match name.as_str() {
        "In" | "State" | "Golden" | "Design" | "Build" | "Declaration" | "Path" | "PathBuf" => {
            name + "Unit"
        }
        _ => name,
    }
}

fn library(of: &Declaration) -> String {
    let (name, kind) = (&of.name, type_of(&of.name));
    let parameters = of.parameters.iter().map(|p| {
        format!(
            "        // Parameter {0}: build.value::<{kind}>({0:?}).\n",
            p.name
        )
    });
    let parameters: String = parameters.collect();
    let clocks = of.clocks().map(|clock| {
        let name = &clock.name;
        format!("        // In the cycles in which {name} rises, pins.{name} is 1.\n")
    });
    let clocks: String = clocks.collect();
    let sampled = of.state.iter().any(|field| field.sampled);
    let (before, after) = match of.reset() {
        _ if !sampled => ("", ""),
        Some((reset, _)) if reset.asynchronous => (
            "",
            "            // Then set `sampled` outputs: they depend on the pins of this cycle, and on the registers as the reset sets them.\n",
        ),
        _ => (
            "            // Compute `sampled` outputs here, and set them behind it: they depend on the registers before the reset.\n",
            "",
        ),
    };
    let reset = match of.reset() {
        Some(_) => format!(
            "        if pins.is_reset() {{\n{before}            *self = Self::reset();\n{after}            return &self.state;\n        }}\n"
        ),
        None => String::new(),
    };
    format!(
        "//! {name}: its pins and state, and the golden model.

use std::path::{{Path, PathBuf}};

use reconverge::design::{{self, Build, Design}};
use reconverge::field::Declaration;

include!(concat!(env!(\"OUT_DIR\"), \"/{name}.rs\"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct {kind};

impl Design for {kind} {{
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {{
    Path::new(env!(\"CARGO_MANIFEST_DIR\")).join(\"rtl\")
}}

/// The golden model: what the RTL must do, one call a cycle.
#[derive(Clone, Debug)]
pub struct Golden {{
    state: State,
}}

impl Golden {{
    /// As it is after a reset: set what is not 0 then.
    fn reset() -> Self {{
        Golden {{
            state: State::default(),
        }}
    }}
}}

impl design::Golden<{kind}> for Golden {{
    fn build(_build: &Build) -> Self {{
{parameters}        Self::reset()
    }}

    fn cycle(&mut self, pins: &In) -> &State {{
{clocks}{reset}        unimplemented!(\"the golden model: the state after a cycle with {{pins:?}}\")
    }}

    fn state(&self) -> &State {{
        &self.state
    }}

    // Changes a random draw into pins that are legal in the current state.
    // fn constrain(&self, pins: &mut In) {{}}

    // Before that, changes it with random numbers of its own, when a stream is drawn.
    // fn choose(&self, pins: &mut In, random: &mut design::Random) {{}}
}}
"
    )
}

/// Returns the command of the type `kind`, which is a design of `pins` alone or a `guest` with programs.
fn main_of(name: &str, kind: &str, what: &str) -> String {
    let mut uses = [
        format!("use {name}::{kind};"),
        format!("use reconverge_command::{what};"),
    ];
    uses.sort();
    let uses = uses.join("\n");
    format!(
        "//! The command of {name}: `cargo run --release -- --help`.

use std::process::ExitCode;

{uses}

fn main() -> ExitCode {{
    reconverge_command::main(&[{what}::<{kind}>()])
}}
"
    )
}

fn test(of: &Declaration) -> String {
    let (name, kind) = (&of.name, type_of(&of.name));
    format!(
        "//! RTL and golden in lock-step.

use {name}::{{{kind}, rtl}};
use reconverge::campaign::{{Options, fuzz}};
use reconverge::design::{{Build, Design}};
use reconverge::dut::Rtl;
use reconverge::stream::Stream;

#[test]
fn rtl_and_golden_agree_on_random_pins() {{
    let build = Build::from({kind}::LANES);
    let rtl = Rtl::<{kind}>::of(build, &rtl()).unwrap();
    let met = fuzz::<Stream<{kind}>>(&rtl, &Options::default().cases(200)).unwrap();
    let coverage = met.coverage(rtl.build());
    println!(\"{{}}\", coverage.table::<{kind}>());
    assert_eq!(coverage.missing::<{kind}>(), [\"\"; 0]);
}}
"
    )
}
