//! Reads the ports of a module with Verilator.

use std::fs;
use std::path::Path;

use crate::error::{Error, io};
use crate::filelist::FileList;
use crate::limit;
use crate::model::Tools;
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
/// There is no Verilator, or it rejects the RTL; a port is neither input nor output, is an array, or is a `real`.
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
    let out = generated(verilator, dir, list, top, parameters, &["-O0"])?;
    let header = out.path().join(format!("{PREFIX}.h"));
    let text = fs::read_to_string(&header).map_err(io(&header))?;
    let ports = text.lines().filter_map(port).collect::<Result<_, _>>();
    ports.map_err(|why| Error::Refused(format!("{top}: {why}")))
}

/// An edge at which registers change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The signal; an input of the top by its name, even if a module below it calls it otherwise.
    pub signal: String,
    /// Whether it is the rising edge.
    pub rising: bool,
}

/// Runs Verilator as [`ports`] does. Returns the edges at which registers of the whole design change: of
/// clocks, and of asynchronous resets.
///
/// # Errors
/// There is no Verilator, or it rejects the RTL.
pub fn edges(
    tools: &Tools,
    dir: &Path,
    list: &FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<Vec<Edge>, Error> {
    let options = ["--flatten"];
    let out = generated(&tools.verilator()?, dir, list, top, parameters, &options)?;
    let mut edges = Vec::new();
    for entry in fs::read_dir(out.path()).map_err(io(out.path()))? {
        let path = entry.map_err(io(out.path()))?.path();
        if path.extension().is_some_and(|end| end == "cpp") {
            let text = fs::read_to_string(&path).map_err(io(&path))?;
            for edge in text.lines().flat_map(triggers) {
                if !edges.contains(&edge) {
                    edges.push(edge);
                }
            }
        }
    }
    Ok(edges)
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
    command.args(["--cc", "-Wno-fatal", "-Wno-lint", "-Wno-style"]);
    command.args(options);
    command.args(["--top-module", top, "--prefix", PREFIX]);
    command.args(parameters.iter().map(|(n, v)| format!("-G{n}={v}")));
    command.arg("-Mdir").arg(out.path());
    list.to_verilator(&mut command);
    let files = list.verilog.iter().map(|path| crate::sources::plain(path));
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
    Ok(out)
}

/// Reads a line such as `VL_IN8(&token_i,2,0);` or `VL_INW(&words_i,95,0,3);`. For an array, the dimensions follow the name
/// in brackets.
fn port(line: &str) -> Option<Result<Port, String>> {
    let line = line.trim();
    if let Some(name) = line
        .strip_prefix("double &")
        .or(line.strip_prefix("double& "))
    {
        let name = name.trim_end_matches(';');
        return Some(Err(format!("port {name} is a real")));
    }
    let (kind, rest) = line.strip_prefix("VL_")?.split_once("(&")?;
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
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Some(Err(format!("port {name}: not a plain name")));
    }
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

    #[test]
    fn ports_of_every_width_are_read_and_arrays_refused() {
        let read = |line| port(line).map(|p| p.map(|p| (p.name, p.output, p.width)));
        let is = |name: &str, output, width| Some(Ok((name.to_owned(), output, width)));
        assert_eq!(read("    VL_IN8(&clk_i,0,0);"), is("clk_i", false, 1));
        assert_eq!(read("    VL_OUT16(&x_o,15,0);"), is("x_o", true, 16));
        assert_eq!(read("    VL_IN64(&word_i,63,0);"), is("word_i", false, 64));
        assert_eq!(read("    VL_OUTW(&wide_o,95,0,3);"), is("wide_o", true, 96));
        assert_eq!(read("    CData/*0:0*/ push_i;"), None);
        let refused = |why: &str| Some(Err(why.to_owned()));
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
