//! Through the real tools: file lists, lint in Verilator, Icarus and Yosys, and the views in GTKWave.
//! Each check has a counterpart that must fail.
//!
//! Those that run an optional tool say so: [`needs`](crate::common::needs).

mod fst;
mod icarus;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use crate::common::dump::Dump;
use crate::common::rtl::Rtl;
use crate::common::{ROOT, Tested, arg, needs, program, reconverge_ends, tool};
use fst::{an_fst_says_what_the_vcd_says, gtkwave_shows_the_view_of_an_fst};
use icarus::icarus_computes_every_output_and_none_is_x;
use tempfile::TempDir;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        /// The units, whose RTL lies in `rtl/`.
        const UNITS: &[&str] = &[$(stringify!($module)),+];

        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                views_name_only_what_the_dump_has,
                #[crate::common::needs(gtkwave, xvfb-run, Xvfb, xauth)]
                gtkwave_shows_the_view_of_a_run,
                #[crate::common::needs(gtkwave, xvfb-run, Xvfb, xauth)]
                gtkwave_shows_a_mismatch_at_the_marker,
                #[crate::common::needs(gtkwave, xvfb-run, Xvfb, xauth)]
                gtkwave_shows_the_view_of_an_fst,
                #[crate::common::needs(fst2vcd)]
                an_fst_says_what_the_vcd_says,
                #[crate::common::needs(iverilog, vvp)]
                icarus_computes_every_output_and_none_is_x,
            );
        })+
    };
}
for_each_unit!(tests);

/// Lane counts that every unit is to lint clean with.
const LANES: [u32; 3] = [4, 16, 64];

type Check = Result<(), String>;

// ---- tools ------------------------------------------------------------------------------------------

fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Both outputs, for messages and for looking for warnings.
fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat()
}

/// Text that the counterpart of a check must print.
fn refused(check: Check, why: &str) {
    let message = check.expect_err("the planted error went through");
    assert!(message.contains(why), "red for another reason: {message}");
}

// ---- units and their file lists ---------------------------------------------------------------------

fn rtl_units() -> impl Iterator<Item = Rtl> {
    UNITS.iter().copied().map(Rtl::own)
}

/// The file list is the only source: the core file has the same files in the same order, and no source is left out.
fn one_list(rtl: &Rtl) -> Check {
    let list = rtl.list();
    let core = fs::read_to_string(rtl.dir.join(format!("{}.core", rtl.unit)))
        .map_err(|e| format!("{}.core: {e}", rtl.unit))?;
    let core: Vec<&str> = core
        .lines()
        .skip_while(|line| line.trim() != "files:")
        .skip(1)
        .map_while(|line| line.trim().strip_prefix("- "))
        .collect();
    if core != list {
        return Err(format!("core file {core:?} is not file list {list:?}"));
    }
    let listed: BTreeSet<String> = list.iter().cloned().collect();
    if listed.len() != list.len() {
        return Err(format!("a file is listed twice in {list:?}"));
    }
    // The assertions belong to simulations and proofs, the formal files to proofs: docs/proofs.md.
    let beside = [
        "sva",
        "formal",
        "properties",
        "step",
        "facts",
        "lane_words",
        "scalar",
    ];
    let beside = beside.map(|of| format!("{}_{of}.sv", rtl.unit));
    let sources: BTreeSet<String> = fs::read_dir(&rtl.dir)
        .map_err(|e| e.to_string())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".sv") || name.ends_with(".svh") || name.ends_with(".v"))
        .filter(|name| !beside.contains(name))
        .collect();
    match sources.symmetric_difference(&listed).next() {
        Some(name) => Err(format!(
            "{name} is in the folder or in the list, not in both"
        )),
        None => Ok(()),
    }
}

#[test]
fn every_unit_has_one_list_of_files() {
    for rtl in rtl_units() {
        one_list(&rtl).unwrap_or_else(|e| panic!("{}: {e}", rtl.unit));
        let last = rtl.list().pop().unwrap();

        let stray = rtl.copy();
        fs::write(stray.dir().join("stray.sv"), "module stray; endmodule\n").unwrap();
        refused(one_list(&stray.rtl), "stray.sv");

        let gone = rtl.copy();
        fs::remove_file(gone.dir().join(&last)).unwrap();
        refused(one_list(&gone.rtl), &last);

        let other = rtl.copy();
        let core = other.dir().join(format!("{}.core", rtl.unit));
        let shorter = fs::read_to_string(&core)
            .unwrap()
            .replace(&format!("      - {last}\n"), "");
        fs::write(&core, shorter).unwrap();
        refused(one_list(&other.rtl), "is not file list");
    }
}

// ---- lint -------------------------------------------------------------------------------------------

/// The Verilator that the build takes: `$VERILATOR`, the project's own, or the one in `PATH`.
fn verilator() -> Command {
    let own = Path::new(ROOT).join(".tools/bin/verilator");
    match std::env::var_os("VERILATOR").filter(|v| !v.is_empty()) {
        Some(given) => Command::new(given),
        None if own.exists() => Command::new(own),
        None => Command::new("verilator"),
    }
}

fn verilator_lint(rtl: &Rtl, lanes: u32) -> Check {
    let output = run(verilator()
        .args([
            "--lint-only",
            "-Wall",
            "--assert",
            "--top-module",
            &rtl.top(),
        ])
        .arg(format!("-GLANES={lanes}"))
        .arg(Path::new(ROOT).join("crates/verilate/shim/lint.vlt"))
        .args(rtl.list())
        .arg(format!("{}_sva.sv", rtl.unit))
        .current_dir(&rtl.dir));
    let said = text(&output);
    if output.status.success() && !said.contains('%') {
        Ok(())
    } else {
        Err(format!("{}: {said}", output.status))
    }
}

fn icarus(rtl: &Rtl, lanes: u32) -> Check {
    let output = run(tool::command("iverilog")
        .args(["-g2012", "-tnull", "-Wall", "-s", &rtl.top()])
        .arg(format!("-P{}.LANES={lanes}", rtl.top()))
        .args(rtl.list())
        .current_dir(&rtl.dir));
    let said = text(&output);
    if output.status.success() && said.is_empty() {
        Ok(())
    } else {
        Err(format!("{}: {said}", output.status))
    }
}

/// Read, elaborated and turned into registers without a warning and without a latch. A warning is an
/// error because Yosys makes a new wire of what it does not understand, and goes on.
fn yosys(rtl: &Rtl, lanes: u32) -> Check {
    let (top, files) = (rtl.top(), rtl.list().join(" "));
    let script = format!(
        "read_verilog -sv {files}; chparam -set LANES {lanes} {top}; hierarchy -check -top {top}; \
         proc; check -assert; select -assert-any t:$*dff*; \
         select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr"
    );
    let output = run(tool::command("yosys")
        .args(["-q", "-e", ".*", "-p", &script])
        .current_dir(&rtl.dir));
    let said = text(&output);
    if output.status.success() && said.trim().is_empty() {
        Ok(())
    } else {
        Err(format!("{}: {said}", output.status))
    }
}

/// As formal tools read the assertions: none is lost on the way.
fn yosys_assertions(rtl: &Rtl) -> Check {
    let file = format!("{}_sva.sv", rtl.unit);
    let source = fs::read_to_string(rtl.dir.join(&file)).unwrap();
    let [asserted, assumed] = [": assert (", ": assume ("].map(|word| source.matches(word).count());
    // Loops over stacks are unrolled: over small ones in a second.
    let small = match rtl.unit.as_str() {
        "r700" => "chparam -set LANES 4 -set MAX_STACK_SIZE 4",
        "spa5" => "chparam -set LANES 4 -set DEPTH 4",
        _ => "chparam -set LANES 4",
    };
    let script = format!(
        "read_verilog -sv -formal {} {file}; {small} {u}_sva; hierarchy -check -top {u}_sva; proc; check -assert; \
         chformal -early; opt_clean; select -assert-none t:$*dff* t:$dlatch; \
         select -assert-count {asserted} t:$assert; select -assert-count {assumed} t:$assume",
        rtl.list().join(" "),
        u = rtl.unit,
    );
    let output = run(tool::command("yosys")
        .args(["-q", "-e", ".*", "-p", &script])
        .current_dir(&rtl.dir));
    let said = text(&output);
    if output.status.success() && said.trim().is_empty() && asserted > 20 {
        Ok(())
    } else {
        Err(format!("{}: {said}", output.status))
    }
}

const LATCH: &str = "  logic planted;\n  always @* if (clk_i) planted = rst_ni;\n";
const WIDTH: &str = "  logic [3:0] planted;\n  assign planted = 5'(clk_i);\n";
const UNDECLARED: &str = "  assign planted = clk_i;\n";
const MISSING_MODULE: &str = "  planted u_planted (.clk_i);\n";

fn lints(lint: fn(&Rtl, u32) -> Check, twins: &[(&str, &str)]) {
    for rtl in rtl_units() {
        for lanes in LANES {
            lint(&rtl, lanes).unwrap_or_else(|e| panic!("{}, {lanes} lanes: {e}", rtl.unit));
            for (code, why) in twins {
                refused(lint(&rtl.planted(code).rtl, lanes), why);
            }
        }
    }
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_is_clean_in_verilator() {
    lints(
        verilator_lint,
        &[
            (WIDTH, "WIDTH"),
            (LATCH, "LATCH"),
            (UNDECLARED, "%"),
            (MISSING_MODULE, "planted"),
        ],
    );
}

#[needs(iverilog)]
#[test]
fn rtl_is_clean_in_icarus() {
    lints(
        icarus,
        &[
            ("  assign planted = nowhere;\n", "nowhere"),
            (UNDECLARED, "implicit"),
            (MISSING_MODULE, "planted"),
        ],
    );
}

#[needs(yosys)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_is_clean_in_yosys() {
    lints(
        yosys,
        &[
            (LATCH, "selection is not empty"),
            (UNDECLARED, "implicitly declared"),
            (MISSING_MODULE, "planted"),
        ],
    );
}

#[needs(yosys)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn assertions_are_read_by_yosys() {
    for rtl in rtl_units() {
        yosys_assertions(&rtl).unwrap_or_else(|e| panic!("{}: {e}", rtl.unit));
        // An assertion of the last cycle's state has a register of its own: no formal tool here would read it.
        let copy = rtl.copy();
        let file = format!("{}_sva.sv", rtl.unit);
        let clocked = "  logic old_q;\n  always @(posedge clk_i) old_q <= pc_q[0];\n  always @(posedge clk_i) P: assert (old_q | pc_q[0]);\n";
        copy.change((&file, "\nendmodule", &format!("\n{clocked}endmodule")));
        refused(yosys_assertions(&copy.rtl), "not empty");
    }
}

// ---- views ------------------------------------------------------------------------------------------

/// One line of a view: a signal, or what stands between signals.
#[derive(Debug)]
pub(crate) struct Line {
    /// As GTKWave lists it.
    pub label: String,
    flags: u32,
    signal: Option<Signal>,
    filter: Option<String>,
}

/// What a line of a view shows.
#[derive(Debug)]
pub(crate) struct Signal {
    /// Path in the dump without its range.
    name: String,
    width: u32,
    /// The one bit of it that is shown, counted from the left.
    bit: Option<usize>,
}

// Flags of GTKWave: what an entry is and how it shows its value.
const SHOWS_HEX: u32 = 0x2;
const IS_COMMENT: u32 = 0x200;
const SHOWS_SIGNED: u32 = 0x400;
const IS_CLOSED: u32 = 0x40_0000;
const BEGINS_GROUP: u32 = 0x80_0000;
const ENDS_GROUP: u32 = 0x100_0000;

pub(crate) fn view_lines(view: &str) -> Vec<Line> {
    let (mut flags, mut filter, mut lines) = (0, None, Vec::new());
    for line in view.lines() {
        if let Some(hex) = line.strip_prefix('@') {
            flags = u32::from_str_radix(hex, 16).unwrap();
        } else if let Some(path) = line.strip_prefix("^1 ") {
            filter = Some(path.to_owned());
        } else if let Some(comment) = line.strip_prefix('-') {
            lines.push(Line {
                label: comment.to_owned(),
                flags,
                signal: None,
                filter: None,
            });
        } else if line.starts_with("+{") || line.starts_with("TOP.") {
            let (label, path) = match line.strip_prefix("+{") {
                Some(rest) => {
                    let (label, path) = rest.split_once("} ").unwrap();
                    (Some(label.to_owned()), path)
                }
                None => (None, line),
            };
            let (bit, path) = match path.strip_prefix('(').map(|p| p.split_once(')').unwrap()) {
                Some((bit, path)) => (Some(bit.parse().unwrap()), path),
                None => (None, path),
            };
            let label = label.unwrap_or_else(|| path.rsplit('.').next().unwrap().to_owned());
            let ranged = path.rsplit_once('[').and_then(|(name, range)| {
                let (left, right) = range.strip_suffix(']')?.split_once(':')?;
                let [left, right]: [u32; 2] = [left, right].map(|n| n.parse().unwrap());
                Some((name, left.abs_diff(right) + 1))
            });
            let (name, width) = ranged.unwrap_or((path, 1));
            lines.push(Line {
                label,
                flags,
                signal: Some(Signal {
                    name: name.to_owned(),
                    width,
                    bit,
                }),
                filter: filter.take(),
            });
        }
    }
    lines
}

/// Every signal that the view names is in the dump, as wide as the view says.
fn has_all_of(dump: &Dump, lines: &[Line]) -> Check {
    for Signal { name, width, .. } in lines.iter().filter_map(|line| line.signal.as_ref()) {
        match dump.0.get(name) {
            None => return Err(format!("the dump has no {name}")),
            Some((has, _)) if has != width => {
                return Err(format!("{name} has {has} bits, the view shows {width}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// What GTKWave is to show for `line`.
fn shown(dump: &Dump, line: &Line, dir: &Path) -> String {
    let Some(Signal { name, bit, .. }) = &line.signal else {
        return String::new();
    };
    let bits = dump.bits(name);
    if let Some(bit) = bit {
        return bits[*bit..=*bit].to_owned();
    }
    if let Some(filter) = &line.filter {
        let table = fs::read_to_string(dir.join(filter)).unwrap();
        let named = table
            .lines()
            .filter_map(|l| l.split_once(' '))
            .find(|(value, _)| *value == bits);
        if let Some((_, name)) = named {
            return name.to_owned();
        }
    }
    if line.flags & (IS_COMMENT | SHOWS_SIGNED) == SHOWS_SIGNED {
        let unused = u64::BITS - bits.len() as u32;
        let value = u64::from_str_radix(bits, 2).unwrap() << unused;
        return (value as i64 >> unused).to_string();
    }
    if line.flags & SHOWS_HEX == 0 {
        return bits.to_owned();
    }
    let padded = format!("{bits:0>0$}", bits.len().next_multiple_of(4));
    (0..padded.len())
        .step_by(4)
        .map(|i| u8::from_str_radix(&padded[i..i + 4], 2).unwrap())
        .map(|digit| format!("{digit:X}"))
        .collect()
}

/// What GTKWave says about a view that it opened.
#[derive(Debug)]
pub(crate) struct Opened {
    marker: u64,
    window: (u64, u64),
    /// Label and value at the marker of every entry.
    pub entries: Vec<(String, String)>,
}

/// A screen that the view's window fits on, as xvfb-run takes it: one argument.
const SCREEN: &str = "-screen 0 1920x1080x24";

/// Opens `dump` in `view` without a screen, from folder `from`, with the marker at `time`.
pub(crate) fn gtkwave(dump: &Path, view: &Path, from: &Path, time: Option<u64>) -> Opened {
    // xvfb-run looks for a free display and takes it: two at once may find the same one.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _lock = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    let dir = tempfile::tempdir().unwrap();
    let (script, result) = (dir.path().join("script.tcl"), dir.path().join("result"));
    let marker = time.map_or(String::new(), |t| format!("gtkwave::setMarker {t}\n"));
    let tcl = format!(
        "set out [open {{{}}} w]\n\
         puts $out \"[gtkwave::getMarker] [gtkwave::getWindowStartTime] [gtkwave::getWindowEndTime]\"\n\
         {marker}\
         for {{set i 0}} {{$i < [gtkwave::getTotalNumTraces]}} {{incr i}} {{\n\
           puts $out \"[gtkwave::getTraceNameFromIndex $i]\\t[gtkwave::getTraceValueAtMarkerFromIndex $i]\"\n\
         }}\n\
         close $out\n\
         exit\n",
        result.display()
    );
    fs::write(&script, tcl).unwrap();
    let output = run(tool::command("timeout")
        .args(["--kill-after=10", "1200", "xvfb-run", "-a", "-s", SCREEN])
        .args(["gtkwave", "-S"])
        .args([&script, dump, view])
        // Without the user's own settings.
        .env("HOME", dir.path())
        .current_dir(from));
    let written = fs::read_to_string(&result).unwrap_or_default();
    let mut lines = written.lines();
    let mut head = lines
        .next()
        .unwrap_or_else(|| panic!("GTKWave, {}: {}", output.status, text(&output)))
        .split(' ')
        // No marker is -1.
        .map(|n| n.parse().unwrap_or(u64::MAX));
    let mut next = || head.next().unwrap();
    Opened {
        marker: next(),
        window: (next(), next()),
        entries: lines
            .map(|l| l.split_once('\t').unwrap())
            .map(|(label, value)| (label.to_owned(), value.to_owned()))
            .collect(),
    }
}

/// GTKWave shows every line of the view, in order, with the value that the dump and the filters give it.
/// A line whose signal is not in the dump it drops without a word.
fn shows(opened: &Opened, lines: &[Line], dump: &Dump, dir: &Path) -> Check {
    let labels: Vec<&str> = opened.entries.iter().map(|(l, _)| l.as_str()).collect();
    for (i, line) in lines.iter().enumerate() {
        if labels.get(i) != Some(&line.label.as_str()) {
            return Err(format!(
                "entry {i}: {:?}, GTKWave shows {:?}",
                line.label,
                labels.get(i)
            ));
        }
    }
    if labels.len() != lines.len() {
        return Err(format!(
            "GTKWave shows {} entries more",
            labels.len() - lines.len()
        ));
    }
    let (mut folded, mut compared) = (false, 0);
    for (line, (label, value)) in lines.iter().zip(&opened.entries) {
        let group = line.flags & (BEGINS_GROUP | ENDS_GROUP) != 0;
        if group {
            folded = line.flags & IS_CLOSED != 0 && line.flags & BEGINS_GROUP != 0;
        }
        // What is folded up has no value yet, text never has.
        if folded || line.flags & IS_COMMENT != 0 {
            continue;
        }
        let expected = shown(dump, line, dir);
        if *value != expected {
            return Err(format!("{label} is {expected} and shown as {value:?}"));
        }
        compared += 1;
    }
    if compared < 10 {
        return Err(format!("{compared} values compared"));
    }
    Ok(())
}

/// Files of a run: dump and view.
struct Waves {
    dir: TempDir,
    dump: PathBuf,
    view: PathBuf,
}

/// Of a run of the unit's long program with `more` flags.
fn waves<U: Tested>(status: i32, more: &[&str]) -> Waves {
    let dir = tempfile::tempdir().unwrap();
    let program = program::<U>(U::LONG);
    let args = ["run", U::NAME, &program, "--out", arg(dir.path())];
    reconverge_ends(status, &[&args, more].concat());
    let only = |ending: &str| {
        let mut found = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == ending));
        let file = found.next().unwrap_or_else(|| panic!("no .{ending}"));
        assert!(found.next().is_none());
        file
    };
    let ending = if more.contains(&"--fst") {
        "fst"
    } else {
        "vcd"
    };
    Waves {
        dump: only(ending),
        view: only("gtkw"),
        dir,
    }
}

/// RTL that no line of `src/units.rs` names would go untested.
#[test]
fn all_rtl_belongs_to_a_unit() {
    let folders = fs::read_dir(Path::new(ROOT).join("rtl")).unwrap();
    let found: BTreeSet<String> = folders
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, UNITS.iter().map(|u| (*u).to_owned()).collect());
}

fn views_name_only_what_the_dump_has<U: Tested>() {
    // Verilator leaves arrays out of a dump that are longer than it was told.
    for lanes in BTreeSet::from([4, U::LANES, 64]) {
        let lanes = &lanes.to_string();
        let waves = waves::<U>(0, &["--wave", "--lanes", lanes]);
        let view = fs::read_to_string(&waves.view).unwrap();
        let dump = Dump::at(&waves.dump, 0);
        has_all_of(&dump, &view_lines(&view)).unwrap();

        let bogus = view.replace("rtl_view.active", "rtl_view.passive");
        refused(has_all_of(&dump, &view_lines(&bogus)), "rtl_view.passive");
        // An input of several bits, one bit narrower.
        let at = view.find("_i[").unwrap() + 3;
        let high: u32 = view[at..view[at..].find(':').unwrap() + at]
            .parse()
            .unwrap();
        let narrow = view.replace(&format!("_i[{high}:0]"), &format!("_i[{}:0]", high - 1));
        let bits = format!("{} bits", high + 1);
        refused(has_all_of(&dump, &view_lines(&narrow)), &bits);
    }
}

fn gtkwave_shows_the_view_of_a_run<U: Tested>() {
    let waves = waves::<U>(0, &["--wave"]);
    let view = fs::read_to_string(&waves.view).unwrap();
    let lines = view_lines(&view);
    let mut named = BTreeSet::new();
    for time in [100, 205, 300] {
        let dump = Dump::at(&waves.dump, time);
        let opened = gtkwave(&waves.dump, &waves.view, Path::new(ROOT), Some(time));
        shows(&opened, &lines, &dump, waves.dir.path()).unwrap();
        for (line, (_, value)) in lines.iter().zip(&opened.entries) {
            named.extend(line.filter.is_some().then(|| value.clone()));
        }
    }
    // More than "active" was to be seen, and all of it under its name.
    assert!(named.len() > 3, "{named:?}");
    assert!(
        !named
            .iter()
            .any(|v| v.len() > 1 && v.chars().all(|c| c == '0' || c == '1')),
        "{named:?}"
    );
}

fn gtkwave_shows_a_mismatch_at_the_marker<U: Tested>() {
    let waves = waves::<U>(1, &["--flip", U::SHOWN]);
    let field = U::SHOWN.split(['[', '.', '@']).next().unwrap();
    let view = fs::read_to_string(&waves.view).unwrap();
    let lines = view_lines(&view);
    let opened = gtkwave(&waves.dump, &waves.view, Path::new(ROOT), None);
    let dump = Dump::at(&waves.dump, opened.marker);
    shows(&opened, &lines, &dump, waves.dir.path()).unwrap();
    // The failing cycle is in the picture, with some of what came before.
    let (start, end) = opened.window;
    assert!(
        start + 40 <= opened.marker && opened.marker + 10 <= end,
        "marker {} in {start}..{end}",
        opened.marker
    );
    let value = |label: &str| {
        let found = opened.entries.iter().find(|(l, _)| l == label);
        found.unwrap_or_else(|| panic!("no {label}")).1.as_str()
    };
    let differing: Vec<&str> = opened
        .entries
        .iter()
        .filter(|(l, v)| l.starts_with("differs: ") && v == "1")
        .map(|(l, _)| l.as_str())
        .collect();
    assert_eq!(differing, [format!("differs: {field}")]);
    let sides: Vec<(&str, &str, &str)> = opened
        .entries
        .iter()
        .filter_map(|(l, v)| Some((l.strip_prefix("rtl ")?, v.as_str())))
        .map(|(name, rtl)| (name, rtl, value(&format!("golden {name}"))))
        .filter(|(_, rtl, golden)| rtl != golden)
        .collect();
    assert_eq!(sides.len(), 1, "{sides:?}");

    // A folder that has been moved, seen from another one: dump and names are taken from beside the view.
    let moved = tempfile::tempdir().unwrap();
    let beside = |file: &Path| moved.path().join(file.file_name().unwrap());
    fs::create_dir(moved.path().join("filters")).unwrap();
    for file in fs::read_dir(waves.dir.path().join("filters")).unwrap() {
        let file = file.unwrap().path();
        fs::copy(
            &file,
            moved.path().join("filters").join(file.file_name().unwrap()),
        )
        .unwrap();
    }
    for file in [&waves.dump, &waves.view] {
        fs::copy(file, beside(file)).unwrap();
    }
    let filters = waves.dir.path().join("filters");
    fs::rename(&filters, waves.dir.path().join("gone")).unwrap();
    let opened_there = gtkwave(
        &beside(&waves.dump),
        &beside(&waves.view),
        Path::new("/"),
        None,
    );
    shows(&opened_there, &lines, &dump, moved.path()).unwrap();
    fs::rename(waves.dir.path().join("gone"), &filters).unwrap();

    // A signal that is not there is noticed.
    let bogus = waves.dir.path().join("bogus.gtkw");
    let text = view.replacen("rtl_view.active", "rtl_view.passive", 1);
    assert_ne!(text, view);
    fs::write(&bogus, &text).unwrap();
    let opened = gtkwave(&waves.dump, &bogus, Path::new(ROOT), None);
    refused(
        shows(&opened, &view_lines(&text), &dump, waves.dir.path()),
        "GTKWave shows",
    );

    // So is a filter that is not found: values without names.
    let unnamed = waves.dir.path().join("unnamed.gtkw");
    let text = view.replace("^1 filters/", "^1 nothing/");
    assert_ne!(text, view);
    fs::write(&unnamed, &text).unwrap();
    let opened = gtkwave(&waves.dump, &unnamed, Path::new(ROOT), None);
    refused(shows(&opened, &lines, &dump, waves.dir.path()), "shown as");
}
