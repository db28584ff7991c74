//! What is proved about a unit, as graphs: its RTL, and beside it the modules of its formal files and of
//! `rtl/<unit>/<unit>_sva.sv`, connected by the names of registers, nets and ports.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use super::files::{File, Files};
use crate::mutate::aig::{Aig, Lit, Values};
pub use crate::mutate::circuit::Named;
pub(crate) use crate::mutate::circuit::unlike;
use crate::mutate::circuit::{Circuit, TimeFrame};
use crate::mutate::equivalence::{CONTRACT, LIVE, LIVE_ALLOWED, invariant_of, invariants};
use crate::mutate::netlist::{self, FrontEnd};
use crate::mutate::sat::{self, Answer, Proof};
use crate::mutate::tool::Work;
use crate::mutate::{Origin, Trouble, source};
use reconverge_bench::input::{InputError, did_you_mean};
use reconverge_bench::quantity::counted;

/// Replaces unknown values in a module that makes premises by some value that they may have: [`Aig::where_holds`] says where they come
/// from. As free inputs they would differ in each copy of the module, and equal statements in two copies would be different nodes.
/// [`SideModules::undetermined`] asks whether such a value is ever read. Unknown values stay free in the RTL and in the modules that it is
/// compared with.
const CLOSE: &str = "opt_expr -mux_undef\n";
/// Name of the file beside the RTL in the folder where Yosys reads it.
const BESIDE: &str = "beside.sv";

/// A module beside the RTL. Its inputs are connected to what has the same names in the RTL.
struct SideModule {
    /// Name of its file, for messages.
    file: String,
    circuit: Circuit,
}

/// The scripts that read such a module.
struct Scripts {
    yosys: String,
    /// For what Yosys does not read, if slang may read it.
    slang: Option<String>,
}

/// A cycle of the RTL.
#[derive(Clone)]
pub struct Cycle {
    /// The state that it begins in.
    pub state: Vec<Lit>,
    /// Values of the wires that nothing drives: ports, and what Yosys leaves unknown.
    free: Vec<Lit>,
    /// All bits of the cycle.
    pub frame: TimeFrame,
}

/// The modules beside the RTL of a unit. They are read once, because they are the same for the RTL with a fault.
pub struct SideModules {
    step: Option<SideModule>,
    assertions: Option<SideModule>,
    formal: Option<SideModule>,
    /// `formal` also states invariants and a contract.
    premises: bool,
    properties: Option<SideModule>,
    scalar: Option<SideModule>,
    lane_words: Option<SideModule>,
    facts: Option<SideModule>,
}

/// The RTL of a unit, and the modules beside it.
pub struct Unit<'a> {
    circuit: Circuit,
    /// Wires that select the mutant, each with the bit of its number that it carries; empty for RTL without mutants.
    selectors: Vec<(usize, usize)>,
    /// The mutant that the cycles run; 0: none.
    pub mutant: u32,
    /// Port of the reset, and whether it is active high; only a unit without registers may have none.
    reset: Option<(String, bool)>,
    beside: &'a SideModules,
    /// Labels of the assertions that read only registers.
    invariant: HashSet<String>,
}

/// What the assertions and the formal file say about a cycle.
#[derive(Default)]
pub struct Assertions {
    /// Assertions that read only the state: label, and whether it holds.
    pub invariants: Vec<(String, Lit)>,
    /// The other assertions.
    pub promises: Vec<(String, Lit)>,
    /// What the environment must guarantee.
    pub contract: Vec<Lit>,
}

impl SideModules {
    /// Reads the files beside the RTL with Yosys.
    ///
    /// # Errors
    /// Yosys is missing or does not understand a file, or `stop` is set.
    pub(super) fn read(from: &Origin, files: &Files, stop: &AtomicBool) -> Result<Self, Trouble> {
        SideModules::read_with(from, files, CLOSE, stop)
    }

    /// Reads them, all at the same time. The script `close` is appended for those that make premises.
    fn read_with(
        from: &Origin,
        files: &Files,
        close: &str,
        stop: &AtomicBool,
    ) -> Result<Self, Trouble> {
        // The packages of the assertions are those of the RTL.
        let packages = from.packages.as_ref().unwrap_or(&from.texts);
        let names = packages.iter().map(|(name, _)| name.as_str());
        let with_rtl: Vec<&str> = names.chain([BESIDE]).collect();
        // Of a user's files slang reads those that Yosys does not, with the RTL: they may name its packages.
        let texts = from.texts.iter().map(|(name, _)| name.as_str());
        let texts: Vec<&str> = texts.chain([BESIDE]).collect();
        let slang = files.premises && netlist::has_slang();
        let plain = |top: &str, close: &str| Scripts {
            yosys: netlist::read_and_flatten(from, top, &[BESIDE]) + close,
            slang: slang.then(|| netlist::read_by_slang(from, top, &texts) + close),
        };
        let open = |top: &str| plain(top, "");
        let closed = |top: &str| plain(top, close);
        // An assertion applies in the cycle in which it is evaluated: `chformal -early` removes the register in between.
        let formal = |top: &str| Scripts {
            yosys: netlist::read_and_flatten(from, top, &with_rtl)
                .replace("read_verilog -sv", "read_verilog -sv -formal")
                + close
                + "chformal -early\nopt_clean\n",
            // It ignores them.
            slang: None,
        };
        type Script<'a> = &'a dyn Fn(&str) -> Scripts;
        let all: [(&Option<File>, &str, Script<'_>); 7] = [
            (&files.step, "step", &open),
            (&files.formal, "formal", &closed),
            (&files.properties, "properties", &open),
            (&files.scalar, "scalar", &open),
            (&files.lane_words, "lane_words", &closed),
            (&files.facts, "facts", &closed),
            (&files.assertions, "sva", &formal),
        ];
        let read = thread::scope(|scope| {
            let begun = all.map(|(file, end, script)| {
                let top = format!("{}_{end}", from.unit);
                let scripts = script(&top);
                let file = file.as_ref()?;
                let texts = [&packages[..], &from.texts];
                Some(scope.spawn(move || SideModule::read(file, texts, (&top, scripts), stop)))
            });
            begun.map(|begun| {
                let read = begun.map(|begun| begun.join().unwrap_or_else(|why| resume_unwind(why)));
                read.transpose()
            })
        });
        let [
            step,
            formal,
            properties,
            scalar,
            lane_words,
            facts,
            assertions,
        ] = read;
        Ok(SideModules {
            step: step?,
            assertions: assertions?,
            formal: formal?,
            premises: files.premises,
            properties: properties?,
            scalar: scalar?,
            lane_words: lane_words?,
            facts: facts?,
        })
    }

    /// Returns the outputs and assertions of the files that make premises whose value depends on a variable that was not assigned, as
    /// `FILE: NAME`.
    ///
    /// # Errors
    /// As [`SideModules::read`]; the solver is missing, or it does not answer in `time`.
    pub(super) fn undetermined(
        from: &Origin,
        files: &Files,
        time: Duration,
        stop: &AtomicBool,
    ) -> Result<Vec<String>, Trouble> {
        let closed = SideModules::read(from, files, stop)?;
        let open = SideModules::read_with(from, files, "", stop)?;
        let both = closed.closed().zip(open.closed());
        let mut found = Vec::new();
        for (closed, open) in both {
            let mut aig = Aig::new();
            let inputs = closed.circuit.inputs();
            let inputs = inputs.map(|(name, wires)| {
                let bits: Vec<Lit> = wires.iter().map(|_| aig.input()).collect();
                (name.to_owned(), bits)
            });
            let inputs: Named = inputs.collect();
            let [a, b] = [closed, open].map(|beside| beside.says(&mut aig, &inputs));
            for ((name, a), (_, b)) in a.iter().zip(&b) {
                let differ = unlike(&mut aig, a, b);
                let differs = aig.any(differ);
                match sat::ask(&aig, differs, time, stop, &Proof::Checked)? {
                    Answer::Never => {}
                    Answer::Sometimes(_) => found.push(format!("{}: {name}", closed.file)),
                    Answer::GaveUp => {
                        let why = format!("{}: {name}: no answer in time", closed.file);
                        return Err(why.into());
                    }
                }
            }
        }
        Ok(found)
    }

    /// Returns the modules that make premises.
    fn closed(&self) -> impl Iterator<Item = &SideModule> {
        let all = [
            &self.assertions,
            &self.formal,
            &self.lane_words,
            &self.facts,
        ];
        all.into_iter().flatten()
    }
}

impl SideModule {
    /// Runs Yosys with `scripts` on `file`, whose module is `top`: first with `packages` in the same folder, and if it refuses the text,
    /// slang with the `rtl`.
    fn read(
        file: &File,
        [packages, rtl]: [&[(String, String)]; 2],
        (top, scripts): (&str, Scripts),
        stop: &AtomicBool,
    ) -> Result<Self, Trouble> {
        let read = |reader: FrontEnd, texts: &[(String, String)], script: &str| {
            let work = Work::new()?;
            work.write_all(texts)?;
            work.write(BESIDE, &file.text)?;
            work.circuit(reader, script, top, stop)
        };
        let circuit = match (
            read(FrontEnd::Yosys, packages, &scripts.yosys),
            &scripts.slang,
        ) {
            (Err(why), Some(script)) if netlist::refuses_text(&why) => {
                read(FrontEnd::Slang, rtl, script)
            }
            (circuit, _) => circuit,
        };
        Ok(SideModule {
            file: file.name.clone(),
            circuit: circuit.map_err(|why| not_read(file, (top, &scripts.yosys), &why))?,
        })
    }

    /// Returns its outputs and assertions, with `inputs` on its inputs and free inputs on the wires that nothing drives.
    fn says(&self, aig: &mut Aig, inputs: &Named) -> Named {
        let free = self.circuit.open_but(aig, inputs);
        let frame = self.circuit.step(aig, &[], &free);
        let mut said = self.circuit.outputs(&frame);
        let checks = self.circuit.checks(aig, &frame).into_iter();
        said.extend(checks.map(|check| (check.name.to_owned(), vec![check.holds])));
        said
    }
}

/// Returns `why`, a message of Yosys that ran `script` on the module `top` in `file`, as bad input if it is about the file.
fn not_read(file: &File, (top, script): (&str, &str), why: &str) -> Trouble {
    let bad = |line, field, why: String| {
        let bad = InputError::new(file.name.as_str(), line, field, why);
        bad.in_text(&file.text).into()
    };
    let said = why.split_once("ERROR: ").map_or(why, |(_, said)| said);
    // What Yosys says of a module without the parameter, and of one without any, or of no module.
    let missing = said.strip_prefix("Can't find object for defparam `");
    let missing = missing.and_then(|rest| Some(rest.split_once('`')?.0.to_owned()));
    if missing.is_none() && !said.starts_with("Selection ") {
        let mut words = why.split_whitespace();
        let place = words.find_map(|word| word.strip_prefix(BESIDE)?.strip_prefix(':'));
        let line = place.and_then(|rest| rest.trim_end_matches(':').parse().ok());
        return match line {
            Some(line) => bad(line, "source", said.to_owned()),
            None => Trouble::Other(format!("{}: {why}", file.name)),
        };
    }
    let is_head = |line: &str| {
        let name = line.trim_start().strip_prefix("module ");
        let rest = name.and_then(|name| name.trim_start().strip_prefix(top));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let Some(head) = file.text.lines().position(is_head) else {
        return bad(0, "module", format!("there must be a module {top} here"));
    };
    let names = missing.unwrap_or_else(|| {
        let all = script.split("-set ").skip(1);
        let all = all.filter_map(|rest| rest.split(' ').next());
        all.collect::<Vec<_>>().join(", ")
    });
    let why = format!("module {top} must have the parameters of the RTL: {names}");
    bad(head + 1, "parameter", why)
}

impl<'a> Unit<'a> {
    /// Reads `texts`, the RTL, with Yosys; `beside` has the modules beside it.
    ///
    /// # Errors
    /// Yosys is missing or does not understand a file, or `stop` is set.
    pub(super) fn read(
        from: &Origin,
        texts: &[(String, String)],
        beside: &'a SideModules,
        stop: &AtomicBool,
    ) -> Result<Self, String> {
        let work = Work::new()?;
        let rtl = netlist::read_rtl(from, &work.write_all(texts)?);
        let circuit = work.circuit(from.front_end, &rtl, &from.top, stop)?;
        let selectors = circuit.ending(source::SELECTED_WIRE);
        circuit.check_clock(&from.clock, from.asynchronous(), &selectors)?;
        if from.reset.is_none() && circuit.state_bits() != 0 {
            return Err("the design declares no reset".to_owned());
        }
        let mut unit = Unit {
            selectors,
            mutant: 0,
            circuit,
            reset: from.reset.clone(),
            beside,
            invariant: HashSet::new(),
        };
        unit.sort_assertions();
        Ok(unit)
    }

    /// Finds the invariants among the assertions. An output or a net of the RTL may depend on anything, so an assertion about
    /// it is not a premise.
    fn sort_assertions(&mut self) {
        let mut aig = Aig::new();
        let Some(assertions) = &self.beside.assertions else {
            return;
        };
        let circuit = &assertions.circuit;
        let free = circuit.open(&mut aig);
        let mut open = HashSet::new();
        let shown: HashSet<&str> = self.circuit.output_widths().map(|(name, _)| name).collect();
        for (name, wires) in circuit.inputs() {
            if self.places(name).is_none() || shown.contains(name) {
                open.extend(wires.iter().map(|wire| free[*wire]));
            }
        }
        let frame = circuit.step(&mut aig, &[], &free);
        let checks = circuit.checks(&mut aig, &frame).into_iter();
        let closed = checks.filter(|check| !check.assumed && !aig.reaches(&open, check.holds));
        self.invariant = closed.map(|check| check.name.to_owned()).collect();
    }

    /// Returns a free input for each bit of the state.
    pub fn anything(&self, aig: &mut Aig) -> Vec<Lit> {
        self.circuit.anything(aig)
    }

    /// Returns free inputs for the wires that nothing drives.
    pub fn open(&self, aig: &mut Aig) -> Vec<Lit> {
        self.circuit.open(aig)
    }

    /// Returns the names of registers and memories, with `__` for the dot. If the same bits have several names, it is the deepest one.
    pub fn registers(&self) -> Vec<String> {
        let names = self.circuit.state_names().into_iter();
        names.map(|name| name.replace('.', "__")).collect()
    }

    /// Runs a cycle from `state` with free inputs, except where `ports` gives a value.
    pub fn cycle(&self, aig: &mut Aig, state: Vec<Lit>, ports: &[(String, Vec<Lit>)]) -> Cycle {
        let free = self.circuit.open_but(aig, ports);
        self.cycle_of(aig, self.mutant, state, free)
    }

    /// Runs a cycle from `state` in which the wires that nothing drives are as in `cycle`: inputs, and what Yosys leaves unknown.
    pub fn cycle_like(&self, aig: &mut Aig, state: Vec<Lit>, cycle: &Cycle) -> Cycle {
        self.cycle_of(aig, self.mutant, state, cycle.free.clone())
    }

    /// Runs a cycle from the state of `cycle` with its inputs, in which the nets `given`, of one bit each, have the given values.
    pub fn with_nets(&self, aig: &mut Aig, cycle: &Cycle, given: &[(String, Lit)]) -> Cycle {
        let wire = |(name, bit): &(String, Lit)| Some((self.circuit.wire(name)?, *bit));
        let given = given.iter().filter_map(wire).collect();
        let (state, free) = (cycle.state.clone(), cycle.free.clone());
        let frame = self.circuit.step_given(aig, &state, &free, &given);
        Cycle { state, free, frame }
    }

    /// Runs a cycle of mutant `number` of the text (0: none) from `state`, with `free` on the wires that nothing drives.
    pub fn cycle_of(
        &self,
        aig: &mut Aig,
        number: u32,
        state: Vec<Lit>,
        mut free: Vec<Lit>,
    ) -> Cycle {
        for (wire, bit) in &self.selectors {
            free[*wire] = (*bit < 32 && number >> bit & 1 == 1).into();
        }
        let frame = self.circuit.step(aig, &state, &free);
        Cycle { state, free, frame }
    }

    /// Runs a cycle in reset from `state`, if the unit has a reset.
    pub fn reset(&self, aig: &mut Aig, state: Vec<Lit>) -> Option<Cycle> {
        let (port, high) = self.reset.clone()?;
        Some(self.cycle(aig, state, &[(port, vec![high.into()])]))
    }

    /// Returns whether `cycle` is not in reset.
    pub fn released(&self, cycle: &Cycle) -> Result<Lit, String> {
        let Some((port, high)) = &self.reset else {
            return Ok(Lit::TRUE);
        };
        match self.port(port, cycle) {
            Some(bits) if bits.len() == 1 && *high => Ok(!bits[0]),
            Some(bits) if bits.len() == 1 => Ok(bits[0]),
            _ => Err(format!("the RTL has no reset {port}")),
        }
    }

    /// Returns the value of input `name`.
    pub fn port(&self, name: &str, cycle: &Cycle) -> Option<Vec<Lit>> {
        let wires = self.circuit.input(name)?;
        Some(wires.iter().map(|wire| cycle.free[*wire]).collect())
    }

    /// Returns the inputs in `cycle` if the graph has `values`: name of each input, and its bits from the lowest.
    pub fn inputs(&self, cycle: &Cycle, values: &Values) -> Vec<(String, Vec<bool>)> {
        let carried = |name: &str| {
            let bits = self.port(name, cycle)?;
            let bits = bits.iter().map(|bit| values.of(*bit) & 1 == 1).collect();
            Some((name.to_owned(), bits))
        };
        self.ports().into_iter().filter_map(carried).collect()
    }

    /// Returns the names of the inputs.
    pub fn ports(&self) -> Vec<&str> {
        self.circuit.inputs().map(|(name, _)| name).collect()
    }

    /// Returns the values of the outputs.
    pub fn outputs_of(&self, cycle: &Cycle) -> Named {
        self.circuit.outputs(&cycle.frame)
    }

    /// Returns the value of what the RTL calls `name`, with `__` for the dot: a register, a memory, a net or a port. With the prefix
    /// `next__`, the value of the register or memory after the cycle.
    pub fn named(&self, name: &str, cycle: &Cycle) -> Option<Vec<Lit>> {
        if let Some(register) = name.strip_prefix("next__") {
            let places = self.places(register)?.into_iter();
            return Some(places.map(|place| cycle.frame.next[place]).collect());
        }
        self.circuit
            .value(&name.replace("__", "."), &cycle.state, &cycle.frame)
    }

    /// Returns which bits of the state register or memory `name` is.
    pub fn places(&self, name: &str) -> Option<Vec<usize>> {
        self.circuit.places(&name.replace("__", "."))
    }

    /// Returns what to say of a name that [`Self::named`] does not know.
    fn unknown(&self, name: &str) -> String {
        let register = name.strip_prefix("next__");
        let (prefix, kind) = match register {
            Some(_) => ("next__", "register or memory"),
            None => ("", "net, register or memory"),
        };
        let names = self.circuit.nets_and_memories();
        let names = names.map(|name| format!("{prefix}{}", name.replace('.', "__")));
        let hint = did_you_mean(name, names);
        format!("the RTL has no {kind} of this name{hint}")
    }

    /// Evaluates `beside` in `cycle`, with `free` on its wires that nothing drives.
    fn frame(
        &self,
        aig: &mut Aig,
        beside: &SideModule,
        cycle: &Cycle,
        mut free: Vec<Lit>,
    ) -> Result<TimeFrame, String> {
        if beside.circuit.state_bits() != 0 {
            return Err(format!("{}: it has registers", beside.file));
        }
        for (name, wires) in beside.circuit.inputs() {
            // A clock that the module has only as a formality.
            if name == "clk_i" {
                continue;
            }
            let bits = match self.named(name, cycle) {
                None => Err(self.unknown(name)),
                Some(bits) if bits.len() != wires.len() => {
                    let here = counted(wires.len(), "bit");
                    Err(format!("{here} here, and {} in the RTL", bits.len()))
                }
                Some(bits) => Ok(bits),
            };
            let bits = bits.map_err(|why| format!("{}: {name}: {why}", beside.file))?;
            for (wire, bit) in wires.iter().zip(bits) {
                free[*wire] = bit;
            }
        }
        Ok(beside.circuit.step(aig, &[], &free))
    }

    /// Returns the outputs of `beside` in `cycle`; nothing if the unit has no such module.
    fn outputs(
        &self,
        aig: &mut Aig,
        beside: &Option<SideModule>,
        cycle: &Cycle,
    ) -> Result<Named, String> {
        let Some(beside) = beside else {
            return Ok(Named::new());
        };
        let free = beside.circuit.open(aig);
        let frame = self.frame(aig, beside, cycle, free)?;
        Ok(beside.circuit.outputs(&frame))
    }

    /// Tells whether there is a `step.sv`.
    pub fn has_step(&self) -> bool {
        self.beside.step.is_some()
    }

    /// Tells whether the formal file declares that some of the state does not always matter.
    pub fn says_live(&self) -> bool {
        let formal = self.beside.formal.iter();
        let mut names = formal.flat_map(|formal| formal.circuit.output_widths());
        names.any(|(name, _)| live_of(name).is_some())
    }

    /// Returns the outputs of `step.sv` in `cycle`.
    pub fn step(&self, aig: &mut Aig, cycle: &Cycle) -> Result<Named, String> {
        self.outputs(aig, &self.beside.step, cycle)
    }

    /// Returns the outputs of `properties.sv` in `cycle`.
    pub fn properties(&self, aig: &mut Aig, cycle: &Cycle) -> Result<Named, String> {
        self.outputs(aig, &self.beside.properties, cycle)
    }

    /// Returns the outputs of `scalar.sv` in `cycle`.
    pub fn scalar(&self, aig: &mut Aig, cycle: &Cycle) -> Result<Named, String> {
        self.outputs(aig, &self.beside.scalar, cycle)
    }

    /// Returns the facts of `facts.sv` about the state before `now`, and about the state before `then`, the next cycle; empty without the file.
    pub fn facts(&self, aig: &mut Aig, now: &Cycle, then: &Cycle) -> Result<[Vec<Lit>; 2], String> {
        let mut facts = [Vec::new(), Vec::new()];
        let of = [(now, "before__"), (then, "after__")];
        for (facts, (cycle, begin)) in facts.iter_mut().zip(of) {
            for (name, bits) in self.outputs(aig, &self.beside.facts, cycle)? {
                if name.starts_with(begin) {
                    facts.extend(bits);
                } else if !name.starts_with("before__") && !name.starts_with("after__") {
                    let file = file_of(&self.beside.facts);
                    return Err(format!("{file}: {name}: what output is this?"));
                }
            }
        }
        Ok(facts)
    }

    /// Returns which bits of the state matter at the beginning of `cycle`.
    pub fn live(&self, aig: &mut Aig, cycle: &Cycle) -> Result<Vec<Lit>, String> {
        let mut live = vec![Lit::TRUE; self.circuit.state_bits()];
        for (name, bits) in self.outputs(aig, &self.beside.formal, cycle)? {
            let Some(register) = live_of(&name) else {
                continue;
            };
            let places = self.places(register).filter(|p| p.len() == bits.len());
            let places = places.ok_or_else(|| {
                let file = file_of(&self.beside.formal);
                format!("{file}: {name}: no register of this name and width")
            })?;
            for (place, bit) in places.into_iter().zip(bits) {
                live[place] = aig.and(live[place], bit);
            }
        }
        Ok(live)
    }

    /// Returns the words of memories that may hold a bit for each of `lanes` lanes at the beginning of `cycle`: the places of these bits,
    /// lane 0 first, and the condition under which they do.
    pub fn lane_words(
        &self,
        aig: &mut Aig,
        cycle: &Cycle,
        lanes: usize,
    ) -> Result<Vec<(Vec<usize>, Lit)>, String> {
        let mut words = Vec::new();
        for (name, bits) in self.outputs(aig, &self.beside.lane_words, cycle)? {
            let Some(memory) = name.strip_prefix("lanes__") else {
                continue;
            };
            let places = self.places(memory);
            let places = places.filter(|p| p.len() >= lanes * bits.len());
            let places = places.ok_or_else(|| {
                let file = file_of(&self.beside.lane_words);
                format!(
                    "{file}: {name}: no memory of this name with words of {lanes} bits and more"
                )
            })?;
            let of_word = places.chunks(places.len() / bits.len()).zip(bits);
            words.extend(of_word.map(|(p, when)| (p[..lanes].to_vec(), when)));
        }
        Ok(words)
    }

    /// Returns free inputs for the wires of the assertions that nothing drives.
    pub fn open_in_assertions(&self, aig: &mut Aig) -> Vec<Lit> {
        let assertions = self.beside.assertions.as_ref();
        assertions.map_or(Vec::new(), |a| a.circuit.open(aig))
    }

    /// Returns what the assertions and the formal file say about `cycle`.
    pub fn assertions(&self, aig: &mut Aig, cycle: &Cycle) -> Result<Assertions, String> {
        let free = self.open_in_assertions(aig);
        self.assertions_with(aig, cycle, free)
    }

    /// As [`Unit::assertions`], with `free` on the wires of the assertions that nothing drives.
    pub fn assertions_with(
        &self,
        aig: &mut Aig,
        cycle: &Cycle,
        free: Vec<Lit>,
    ) -> Result<Assertions, String> {
        let mut said = Assertions::default();
        if let Some(assertions) = &self.beside.assertions {
            let frame = self.frame(aig, assertions, cycle, free)?;
            for check in assertions.circuit.checks(aig, &frame) {
                let name = check.name.to_owned();
                if check.assumed {
                    said.contract.push(check.holds);
                } else if self.invariant.contains(check.name) {
                    said.invariants.push((name, check.holds));
                } else {
                    said.promises.push((name, check.holds));
                }
            }
            if said.invariants.is_empty() && !self.beside.premises {
                return Err(format!("{}: no invariant in it", assertions.file));
            }
        }
        if self.beside.premises {
            for (name, bits) in self.outputs(aig, &self.beside.formal, cycle)? {
                if name == CONTRACT {
                    said.contract.extend(bits);
                } else if let Some(name) = invariant_of(&name) {
                    said.invariants.extend(invariants(name, bits));
                }
            }
        }
        Ok(said)
    }
}

/// Returns the name of a file, for messages.
fn file_of(beside: &Option<SideModule>) -> &str {
    beside.as_ref().map_or("", |beside| &beside.file)
}

/// Returns the register that output `name` of the formal file is about, if the output says which of its bits matter.
fn live_of(name: &str) -> Option<&str> {
    let register = name.strip_prefix(LIVE);
    register.or_else(|| name.strip_prefix(LIVE_ALLOWED))
}
