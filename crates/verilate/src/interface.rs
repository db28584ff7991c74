//! Reads the ports of a module with Verilator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, io};
use crate::filelist::FileList;
use crate::limit;
use crate::model::Tools;
use crate::sources::{Sources, plain};
use crate::verilator::Verilator;

/// A port of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name.
    pub name: String,
    /// Whether it is an output; otherwise it is an input.
    pub output: bool,
    /// Bits.
    pub width: u32,
}

/// Prefix of the generated class.
const PREFIX: &str = "Vports";

/// Runs Verilator on the RTL of `list`, whose names are relative to `dir`, with `parameters` of the module `top`. Returns
/// the ports of `top`, in Verilator's order.
///
/// # Errors
/// There is no Verilator, or it rejects the RTL; a port is neither input nor output, is an array, or is not made of bits.
pub fn ports(
    tools: &Tools,
    dir: &Path,
    list: &FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<Vec<Port>, Error> {
    ports_with(&tools.verilator()?, dir, list, top, parameters)
}

/// Does the same with a Verilator that was found before.
pub(crate) fn ports_with(
    verilator: &Verilator,
    dir: &Path,
    list: &FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<Vec<Port>, Error> {
    let out = generated(verilator, dir, list, top, parameters, &["--cc", "-O0"])?;
    let header = out.path().join(format!("{PREFIX}.h"));
    let text = fs::read_to_string(&header).map_err(io(&header))?;
    let list = text.lines().skip_while(|line| line.trim() != "// PORTS");
    let list = list.take_while(|line| !line.trim().is_empty());
    let ports = list.filter_map(port).collect::<Result<_, _>>();
    ports.map_err(|why| Error::Refused(format!("{top}: {why}")))
}

/// Runs Verilator as [`ports`] does. Returns its tree of the design: XML, or from a Verilator without that, JSON.
///
/// # Errors
/// There is no Verilator, or it rejects the RTL.
pub fn tree(
    tools: &Tools,
    dir: &Path,
    list: &FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<String, Error> {
    let verilator = tools.verilator()?;
    let written = |option, file: &str| {
        let out = generated(&verilator, dir, list, top, parameters, &[option])?;
        let path = out.path().join(file);
        fs::read_to_string(&path).map_err(io(&path))
    };
    match written("--xml-only", &format!("{PREFIX}.xml")) {
        Err(Error::Refused(said)) if said.contains("Invalid option: --xml-only") => {
            written("--json-only", &format!("{PREFIX}.tree.json"))
        }
        done => done,
    }
}

/// An edge at which registers change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The signal; an input of the top by its name, even if a module below it calls it otherwise.
    pub signal: String,
    /// Whether it is the rising edge.
    pub rising: bool,
}

/// When the outputs and registers of a module change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// The edges at which registers of the whole design change: of clocks, and of asynchronous resets.
    pub edges: Vec<Edge>,
    /// What depends on an input without a register between them, by name: outputs, and nets inside.
    pub combinational: Vec<String>,
}

/// Runs Verilator as [`ports`] does, and reads from the generated code when the module changes.
///
/// # Errors
/// There is no Verilator, or it rejects the RTL.
pub fn timing(
    tools: &Tools,
    dir: &Path,
    list: &FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<Timing, Error> {
    let options = ["--cc", "--flatten"];
    let out = generated(&tools.verilator()?, dir, list, top, parameters, &options)?;
    let mut timing = Timing::default();
    for entry in fs::read_dir(out.path()).map_err(io(out.path()))? {
        let path = entry.map_err(io(out.path()))?.path();
        if path.extension().is_some_and(|end| end == "cpp") {
            timing.read(&fs::read_to_string(&path).map_err(io(&path))?);
        }
    }
    Ok(timing)
}

impl Timing {
    /// Reads a file of the generated code. Functions with `ico` (input combinational) in their names update what depends on inputs.
    fn read(&mut self, text: &str) {
        for edge in text.lines().flat_map(triggers) {
            if !self.edges.contains(&edge) {
                self.edges.push(edge);
            }
        }
        // A function ends with a brace at the beginning of a line; before it stand declarations of others.
        let of_inputs = |function: &&str| {
            let mut heads = function
                .lines()
                .filter(|line| line.ends_with('{') && !line.starts_with(' '));
            heads
                .next_back()
                .is_some_and(|head| head.contains("___ico_"))
        };
        for function in text.split("\n}").filter(of_inputs) {
            for name in function.split([';', '{', '}']).filter_map(assigned) {
                if !self.combinational.contains(&name) {
                    self.combinational.push(name);
                }
            }
        }
    }
}

/// Returns the variable of the model that a statement of the generated code assigns: `vlSelf->x_o = ...`,
/// `vlSelf->x_o[0U] = ...`, `VL_EXTEND_WI(96,32, vlSelf->x_o, ...)`, `VL_ASSIGNSEL_WI(96,8,(...), vlSelf->x_o, ...)`.
fn assigned(statement: &str) -> Option<String> {
    // A comment may stand before it.
    let lines = statement.lines().map(str::trim);
    let lines: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect();
    let statement = lines.join(" ");
    let left = match statement.split_once('(') {
        Some((call, rest)) if call.starts_with("VL_") => {
            let arguments = split_top(rest);
            match call.starts_with("VL_ASSIGNSEL") {
                true => *arguments.iter().nth_back(1)?,
                false => *arguments
                    .iter()
                    .find(|a| !a.starts_with(|c: char| c.is_ascii_digit()))?,
            }
        }
        _ => statement.split_once(" = ")?.0,
    };
    let name = left
        .strip_prefix("vlSelf->")
        .or(left.strip_prefix("vlSelfRef."))?;
    Some(plain_name(name.split('[').next()?))
}

/// Splits the arguments of a call, without spaces around them; `text` begins behind the parenthesis that opens it.
fn split_top(text: &str) -> Vec<&str> {
    let (mut depth, mut from) = (0, 0);
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ',' | ')' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
                if c == ')' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts
}

/// Reads a line such as `...is active: @(posedge clk_i or negedge rst_ni)\n");`, a message of the generated code.
fn triggers(line: &str) -> Vec<Edge> {
    let list = line.split_once("is active: @(").map(|(_, list)| list);
    let list = list.and_then(|list| Some(list.rsplit_once(')')?.0.rsplit_once(')')?.0));
    let words: Vec<&str> = list.unwrap_or_default().split_whitespace().collect();
    let edge = |pair: &[&str]| {
        let rising = match pair[0] {
            "posedge" => true,
            "negedge" => false,
            _ => return None,
        };
        let signal = pair[1].to_owned();
        Some(Edge { signal, rising })
    };
    words.windows(2).filter_map(edge).collect()
}

/// Runs Verilator with `options`, and returns the folder with what it has generated.
fn generated(
    verilator: &Verilator,
    dir: &Path,
    list: &FileList,
    top: &str,
    parameters: &[(&str, u32)],
    options: &[&str],
) -> Result<tempfile::TempDir, Error> {
    let out = tempfile::tempdir().map_err(io(&std::env::temp_dir()))?;
    let mut command = verilator.command(dir);
    command.args(options);
    command.args(["--top-module", top, "--prefix", PREFIX]);
    command.args(parameters.iter().map(|(n, v)| format!("-G{n}={v}")));
    command.arg("-Mdir").arg(out.path());
    done(verilator, command, list)?;
    Ok(out)
}

/// Returns the text of the RTL of `sources` behind Verilator's preprocessor: with what is included, and without macros and conditions.
/// Directives `line` in it name the file and line of what follows. The files of modules that are found in folders of the list come last.
///
/// # Errors
/// There is no Verilator, or it rejects the RTL; the text is not UTF-8.
pub fn preprocessed(tools: &Tools, sources: &Sources) -> Result<String, Error> {
    let (verilator, dir) = (tools.verilator()?, &sources.roots.rtl);
    let mut list = sources.list.clone();
    if !list.library_dirs.is_empty() {
        let top = &sources.bench.design.name;
        let out = generated(&verilator, dir, &list, top, &[], &["--cc", "-O0"])?;
        let read = Verilator::read(out.path(), PREFIX)?;
        list.verilog.extend(modules_found(dir, &list, read));
    }
    // A file of waivers is no part of the text.
    list.verilog
        .retain(|file| file.extension().is_none_or(|end| end != "vlt"));
    let mut command = verilator.command(dir);
    command.arg("-E");
    let text = done(&verilator, command, &list)?;
    String::from_utf8(text)
        .map_err(|e| Error::Refused(format!("what Verilator's preprocessor wrote: {e}")))
}

/// Returns those of the files `read` that lie in a folder of `list` in which modules are found, and that the list does not name.
fn modules_found(dir: &Path, list: &FileList, read: Vec<PathBuf>) -> Vec<PathBuf> {
    // A file that was searched for and not found has no real path.
    let real = |path: &PathBuf| dir.join(path).canonicalize().ok();
    let named: Vec<PathBuf> = list.verilog.iter().filter_map(real).collect();
    let folders: Vec<PathBuf> = list.library_dirs.iter().filter_map(real).collect();
    let is_module = |path: &PathBuf| {
        let ends = |ending| path.to_string_lossy().ends_with(ending);
        let lies_there = |path: PathBuf| {
            folders.iter().any(|at| path.parent() == Some(at)) && !named.contains(&path)
        };
        list.module_endings().any(ends) && real(path).is_some_and(lies_there)
    };
    read.into_iter().filter(is_module).collect()
}

/// Runs `command`, of this Verilator, on the RTL of `list`. Returns what it prints.
fn done(verilator: &Verilator, mut command: Command, list: &FileList) -> Result<Vec<u8>, Error> {
    command.args(["-Wno-fatal", "-Wno-lint", "-Wno-style"]);
    list.to_verilator(&mut command);
    let files = list.verilog.iter().map(|path| plain(path));
    command.args(files);
    let done = limit::output(&command)?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(Error::Refused(format!(
            "Verilator {} refused it:\n{}",
            verilator.version,
            said.trim_end()
        )));
    }
    Ok(done.stdout)
}

/// Returns a name as the source has it: Verilator writes `__0` and two digits for `_` before another one, and for characters that C++ does
/// not allow.
fn plain_name(name: &str) -> String {
    let mut parts = name.split("__0");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                out.push(code.into());
                out += &part[2..];
            }
            None => out = out + "__0" + part,
        }
    }
    out
}

/// Reads a line such as `VL_IN8(&token_i,2,0);` or `VL_INW(&words_i,95,0,3);`; `None` if it is a comment. For an array, the dimensions
/// follow the name in brackets, or a newer Verilator writes `VlUnpacked<CData/*3:0*/, 2> &list_i;`.
fn port(line: &str) -> Option<Result<Port, String>> {
    let line = line.trim();
    if line.starts_with("//") {
        return None;
    }
    Some(port_in(line).unwrap_or_else(|| {
        Err(format!(
            "Verilator's line `{line}` is not a known form of a port"
        ))
    }))
}

fn port_in(line: &str) -> Option<Result<Port, String>> {
    let Some(line) = line.strip_prefix("VL_") else {
        let (kind, name) = line.split_once('&')?;
        let name = plain_name(name.trim().trim_end_matches(';'));
        let what = match kind.trim() {
            "double" => "is a real",
            kind if kind.starts_with("VlUnpacked<") => "is an unpacked array",
            _ => "is not made of bits",
        };
        return Some(Err(format!("port {name} {what}")));
    };
    let (kind, rest) = line.split_once("(&")?;
    let kind = kind.trim_end_matches('(');
    let output = match kind.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'W') {
        "IN" => false,
        "OUT" => true,
        "INOUT" => {
            let name = rest.split(',').next().unwrap_or_default();
            return Some(Err(format!("port {name} is an inout")));
        }
        _ => return None,
    };
    let mut parts = rest.trim_end_matches([')', ';']).split(',');
    let name = parts.next()?.to_owned();
    if rest.contains('[') {
        let name = name.split(')').next().unwrap_or_default();
        return Some(Err(format!("port {name} is an unpacked array")));
    }
    let name = plain_name(&name);
    let mut bound = || parts.next()?.parse::<u32>().ok();
    let (high, low) = (bound()?, bound()?);
    Some(Ok(Port {
        name,
        output,
        width: high.abs_diff(low) + 1,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_read_from_the_messages_of_the_generated_code() {
        let line = r#"VL_DBG_MSGF("  'act' region trigger index 0 is active: @(posedge clk_i or negedge rst_ni)\n");"#;
        let edge = |signal: &str, rising| Edge {
            signal: signal.to_owned(),
            rising,
        };
        assert_eq!(triggers(line), [edge("clk_i", true), edge("rst_ni", false)]);
        assert_eq!(triggers("'ico' trigger - first iteration\\n\");"), []);
    }

    /// Lines of Verilator 5.006 and 5.048.
    #[test]
    fn what_is_assigned_in_functions_of_the_inputs_is_combinational() {
        let code = "void Vm___024root___ico_sequent__TOP__0(Vm___024root* vlSelf) {
    // Body
    vlSelf->a___05Fo = (vlSelf->q_o 
                        == 1U);
    if ((1U & (IData)(vlSelf->a_i))) {
        vlSelfRef.b_o[0U] = vlSelf->r_o;
    }
    VL_EXTEND_WI(96,32, 
                 vlSelf->c_o, vlSelf->r_o);
    VL_ASSIGNSEL_WI(96,8,(0x1fU & VL_SHIFTL_III(5,5,32, (IData)(vlSelf->r_o), 3U)), vlSelf->d_o, vlSelf->r_o);
    VL_AND_W(3, __Vtemp_1, vlSelf->r_o, vlSelf->x_i);
}

void Vm___024root___ico_sequent__TOP__0(Vm___024root* vlSelf);

void Vm___024root___nba_sequent__TOP__0(Vm___024root* vlSelf) {
    vlSelf->r_o = 1U;
}
";
        let mut timing = Timing::default();
        timing.read(code);
        assert_eq!(timing.combinational, ["a__o", "b_o", "c_o", "d_o"]);
    }

    #[test]
    fn names_are_those_of_the_source() {
        for (name, plain) in [
            ("a___05Fb", "a__b"),
            ("___05Fq", "__q"),
            ("c___05F_d", "c___d"),
            ("x__02by", "x+y"),
            ("a__024b", "a$b"),
            ("e___05F0f", "e__0f"),
            ("s__05b3__05d", "s[3]"),
            ("plain_", "plain_"),
        ] {
            assert_eq!(plain_name(name), plain);
        }
    }

    #[test]
    fn ports_of_every_width_are_read_and_arrays_refused() {
        let read = |line| port(line).map(|p| p.map(|p| (p.name, p.output, p.width)));
        let is = |name: &str, output, width| Some(Ok((name.to_owned(), output, width)));
        assert_eq!(read("    VL_IN8(&clk_i,0,0);"), is("clk_i", false, 1));
        assert_eq!(read("    VL_OUT16(&x_o,15,0);"), is("x_o", true, 16));
        assert_eq!(read("    VL_IN64(&word_i,63,0);"), is("word_i", false, 64));
        assert_eq!(read("    VL_OUTW(&wide_o,95,0,3);"), is("wide_o", true, 96));
        assert_eq!(read("    // PORTS"), None);
        let refused = |why: &str| Some(Err(why.to_owned()));
        assert_eq!(
            read("    VL_NEW8(push_i);"),
            refused("Verilator's line `VL_NEW8(push_i);` is not a known form of a port")
        );
        // Lines of Verilator 5.048; the first were left out without a word.
        for (line, why) in [
            (
                "    VlUnpacked<VlUnpacked<VlWide<4>/*99:0*/, 3>, 2> &w___05Fi;",
                "port w__i is an unpacked array",
            ),
            (
                "    Vports_u_t__struct__0 &u_o;",
                "port u_o is not made of bits",
            ),
            ("    std::string &str_o;", "port str_o is not made of bits"),
        ] {
            assert_eq!(read(line), refused(why));
        }
        assert_eq!(
            read("    VL_IN8((&mem_i)[4],7,0);"),
            refused("port mem_i is an unpacked array")
        );
        assert_eq!(
            read("    VL_INOUT8(&pad,0,0);"),
            refused("port pad is an inout")
        );
        assert_eq!(
            read("    double &gain_o;"),
            refused("port gain_o is a real")
        );
    }
}
