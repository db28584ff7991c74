//! The referee: decides whether any input can tell a mutant from the RTL.
//!
//! RTL and mutant are one netlist, which Yosys makes of the text with the mutants that were simulated, except those that it
//! cannot read: they stay undecided. The number of the mutant is 0 for the RTL and K for the mutant. Both become one
//! and-inverter graph, in which only the logic after the mutated place exists twice. ABC is asked, in this order:
//!
//! 1. *Can one cycle tell them apart?* RTL and mutant begin the cycle with the same values in everything that matters, in any
//!    state that the invariants of `rtl/<unit>/<unit>_formal.sv` allow, and with the same inputs. Can an output differ in the
//!    cycle, or anything that matters after it? The same file says what matters in which state (`live__...`). The
//!    rest, such as entries above the top of a stack, may have any value in the mutant. If the answer is no,
//!    the mutant is *equivalent*: by induction, for all time.
//! 2. *Can several cycles tell them apart?* Both start from a reset, with any inputs in every cycle. Does anything that the
//!    bench compares differ within [`DEPTH`] cycles? If so, the campaign *missed* the mutant.
//!
//! 3. *Can any number of cycles tell them apart?* Of a design without such a file, if all that is compared is known: outputs, and
//!    probes that only select and join nets. If the answer is no, the mutant is equivalent, otherwise it is missed.
//!
//! In all three an output differs only where the declaration compares it: a field is hidden while its condition does not hold
//! (module `compared`). A mutant that changes nothing but hidden bits is equivalent.
//!
//! If no question is answered, the mutant stays undecided. Searches end at a limit of conflicts, so that every machine gets
//! the same verdict. A limit of time exists only where the number of conflicts does not bound the work; the verdict names it.
//!
//! Three things are proved once per run, before any mutant. The invariants hold after a cycle in reset, from any state, and no
//! cycle breaks them. Some states satisfy them and some do not. What the file declares not to matter
//! does not matter to the RTL itself (mutant 0 is equivalent in the sense of question 1).
//!
//! A value that is undefined in the text (X) is any value in all questions; of a mutant that is missed, module `undefined` says if only an X
//! shows it.
//!
//! An asynchronous reset acts in the whole of the cycle that asserts it: before its edge on the outputs, and after it.
//!
//! Assumptions: the unit is reset before anything is compared, as the bench does and the contract requires. State that reset
//! does not reach begins with the same contents in both. The inputs keep to the contract in the same file, as the
//! unit's spec demands; apart from that they are free in every cycle.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::abc::{self, Abc, Answer, Limit, Search};
use super::aig::{Aig, Lit};
use super::circuit::{Circuit, TimeFrame, differ};
use super::compared::{self, Cycle, Seen};
use super::netlist::{self, FrontEnd};
use super::sat;
use super::text::{self, Chosen};
use super::tool::Work;
use super::{Family, List, Origin, SELECTOR, Verdict, source};
use reconverge_bench::quantity::counted;
use reconverge_declaration::Declaration;

/// Prefix of outputs that say which bits of a register matter where all invariants of the assertions hold. The referee does not
/// have these invariants, so it ignores such outputs.
pub(crate) const LIVE_ALLOWED: &str = "live_allowed__";
/// Prefix of outputs that say which bits of a register matter.
pub(crate) const LIVE: &str = "live__";
/// The output that says which inputs are legal.
pub(crate) const CONTRACT: &str = "contract";
const INVARIANT: &str = "invariant";

/// Returns the name of the invariant that output `name` of a formal file states, if it states one. The output is called `invariant`, or
/// `invariant__NAME`, of which there may be many.
pub(crate) fn invariant_of(name: &str) -> Option<&str> {
    match name.strip_prefix(INVARIANT)? {
        "" => Some(name),
        rest => rest.strip_prefix("__"),
    }
}

/// Returns the invariants in `bits`, an output that states the invariant called `name`, each with its name.
pub(crate) fn invariants(name: &str, bits: Vec<Lit>) -> impl Iterator<Item = (String, Lit)> {
    let one = bits.len() == 1;
    bits.into_iter()
        .enumerate()
        .map(move |(i, holds)| match one {
            true => (name.to_owned(), holds),
            false => (format!("{name}[{i}]"), holds),
        })
}

/// What is said of a mutant that changes nothing else.
const HIDDEN: &str = "outputs differ only where the declaration does not compare them";

/// Number of cycles after the reset in which the referee looks for a difference.
pub const DEPTH: usize = 12;

/// The referee of a run, which holds the netlist with all its mutants.
pub struct Referee {
    circuit: Circuit,
    /// Wires that carry the number of the mutant, each with the bit that it carries.
    selectors: Vec<(usize, usize)>,
    /// Mutants that are not in the netlist, each with the reason.
    unread: HashMap<u32, String>,
    formal: Option<Formal>,
    formal_file: String,
    /// Port of the reset; `true` if the reset is active high.
    reset: Option<(String, bool)>,
    /// Transactions are compared: when something is sent is free.
    transactions: bool,
    /// Nothing but outputs is compared.
    outputs_alone: bool,
    /// What is compared, if the outputs and the formal file do not say all of it.
    declared: Option<Declaration>,
}

/// The formal file `rtl/<unit>/<unit>_formal.sv`.
struct Formal {
    circuit: Circuit,
    /// Wires of each of its inputs, and what they are connected to.
    inputs: Vec<(Vec<usize>, Source)>,
    /// Its outputs `live__...`, and the bits of the state that each is about.
    live: HashMap<String, Vec<usize>>,
}

/// What an input of the formal file is connected to.
enum Source {
    /// Bits of the state.
    State(Vec<usize>),
    /// Wires of an input of the unit.
    Port(Vec<usize>),
}

/// What the formal file says about a state, and about the inputs of the cycle that begins in it.
struct Said {
    /// All invariants hold: the unit can be in this state.
    allowed: Lit,
    /// The invariants with their names.
    invariants: Vec<(String, Lit)>,
    /// The inputs keep to the contract.
    contract: Lit,
    /// For each bit of the state, whether it matters.
    live: Vec<Lit>,
    /// What the bench compares in addition to the outputs.
    seen: Vec<Lit>,
}

/// Bits of the state that may differ in the mutant while they do not matter.
type Loose = BTreeSet<usize>;

/// How question 1 is asked: which premises it has, and how much it demands.
struct Asked {
    /// From any state, without the invariants.
    any_state: bool,
    /// Compare the writes to memories instead of their contents.
    ports: bool,
    /// Bits that may have any value in the mutant while they do not matter.
    loose: Loose,
    /// Compare what the declaration hides too.
    hidden: bool,
}

/// Question 1 as a graph.
struct OneCycle {
    aig: Aig,
    differs: Lit,
    /// Bits that may differ after the cycle and do not always matter.
    could_be_loose: Loose,
}

/// The inputs of one cycle.
struct Inputs {
    free: Vec<Lit>,
    /// The cycle is not in reset.
    released: Lit,
}

/// The formal file where Yosys reads it: no file of the RTL has this name.
const FORMAL: &str = "reconverge_formal.sv";

/// Reads `text`, the formal file of `from`, in the folder `work`. What Yosys does not read alone, such as names of packages, slang reads with
/// the RTL, if it is installed.
fn read_formal(
    from: &Origin,
    text: &str,
    work: &Work,
    stop: &AtomicBool,
) -> Result<Circuit, String> {
    let top = format!("{}_formal", from.unit);
    work.write(FORMAL, text)?;
    let script = netlist::read_and_flatten(from, &top, &[FORMAL]);
    match work.circuit(FrontEnd::Yosys, &script, &top, stop) {
        Err(why) if netlist::refuses_text(&why) && netlist::has_slang() => {
            let names = work.write_all(&from.texts)?;
            let script = netlist::read_by_slang(from, &top, &[&names[..], &[FORMAL]].concat());
            work.circuit(FrontEnd::Slang, &script, &top, stop)
        }
        read => read,
    }
}

/// Returns the limit of time for a question, in words.
fn time() -> String {
    format!("{} s of the processor", abc::TIME.as_secs())
}

impl Referee {
    /// Reads the files in `dir` with Yosys, and proves what is to be proved before any mutant.
    ///
    /// # Errors
    /// Yosys is missing; Yosys or the referee does not understand the design; a statement of `rtl/<unit>/<unit>_formal.sv`
    /// does not hold; or `stop` is set.
    pub(super) fn new(
        from: &Origin,
        list: &List,
        dir: &Path,
        stop: &AtomicBool,
    ) -> Result<Self, String> {
        from.one_clock()?;
        let work = Work::new()?;
        let read = |name: &str| {
            let path = dir.join(name);
            fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
        };
        let chosen = match list.family {
            Family::Source => {
                let chosen = Chosen::new(from, Some(list.mutants.len()), list.seed);
                Some(chosen.map_err(|e| e.to_string())?)
            }
            Family::Netlist => None,
        };
        let with = |numbers: &[u32]| {
            let script = match &chosen {
                Some(chosen) => {
                    netlist::read_rtl(from, &work.write_all(&chosen.for_proof(numbers)?)?)
                }
                None => {
                    work.write(netlist::DESIGN, read(netlist::DESIGN)?)?;
                    let commands = read(netlist::COMMANDS)?;
                    let each = (1..).zip(commands.lines());
                    let each = each.filter(|(number, _)| numbers.binary_search(number).is_ok());
                    let commands: Vec<&str> = each.map(|(_, command)| command).collect();
                    work.write(netlist::COMMANDS, commands.join("\n") + "\n")?;
                    format!(
                        "read_rtlil {}\nscript {}\n",
                        netlist::DESIGN,
                        netlist::COMMANDS
                    )
                }
            };
            let circuit = work.circuit(from.front_end, &script, &from.top, stop)?;
            let selectors = circuit.ending(match list.family {
                Family::Source => source::SELECTED_WIRE,
                Family::Netlist => netlist::SELECT,
            });
            if selectors.is_empty() && !numbers.is_empty() {
                return Err(format!("the netlist does not look at {SELECTOR}"));
            }
            circuit.check_clock(&from.clock, from.asynchronous(), &selectors)?;
            Ok((circuit, selectors))
        };
        let all: Vec<u32> = list.mutants.iter().map(|mutant| mutant.number).collect();
        let ((circuit, selectors), unread) = text::with_most(&all, stop, with)?;
        let mut referee = Referee {
            circuit,
            selectors,
            unread: unread.into_iter().collect(),
            formal: None,
            formal_file: match &from.formal {
                Some((file, _)) => file.clone(),
                None => format!("{}_formal.sv", from.unit),
            },
            reset: from.reset.clone(),
            transactions: from.declared.transactions,
            outputs_alone: from.declared.state.iter().all(|f| !f.outputs.is_empty()),
            declared: (from.formal.is_none() || compared::hides(&from.declared))
                .then(|| from.declared.clone()),
        };
        if let Some((_, text)) = &from.formal {
            let formal = read_formal(from, text, &work, stop);
            let formal = formal.map_err(|why| why.replace(FORMAL, &referee.formal_file))?;
            referee.formal = Some(referee.joined(formal)?);
            referee.check_invariant(&Abc::new(stop))?;
        }
        let all = referee.after_one_cycle(
            0,
            &Asked {
                any_state: false,
                ports: false,
                loose: referee.loosest(),
                // What is hidden may depend on what is not live.
                hidden: false,
            },
        )?;
        match Abc::new(stop).prove_never(&all.aig, all.differs)? {
            Answer::Never => Ok(referee),
            answer => Err(format!(
                "{}: that what is not live does not matter is {}",
                referee.formal_file,
                match answer {
                    Answer::GaveUp(_) => "too hard to prove",
                    _ => "not true",
                }
            )),
        }
    }

    /// Connects the inputs and outputs of the formal file to the state and ports of the unit.
    fn joined(&self, circuit: Circuit) -> Result<Formal, String> {
        let file = &self.formal_file;
        let place = |name: &str, bits: usize| {
            let path = name.replace("__", ".");
            let places = self.circuit.places(&path).filter(|p| p.len() == bits);
            places
                .ok_or_else(|| format!("{file}: {name}: no state {path} of {bits} bits in the RTL"))
        };
        let source = |name: &str, bits: usize| match self.circuit.input(name) {
            Some(wires) if wires.len() == bits => Ok(Source::Port(wires.to_vec())),
            _ => place(name, bits).map(Source::State),
        };
        let inputs = circuit
            .inputs()
            .map(|(name, wires)| Ok((wires.to_vec(), source(name, wires.len())?)))
            .collect::<Result<_, String>>()?;
        let mut live = HashMap::new();
        for (name, bits) in circuit.output_widths() {
            if let Some(path) = name.strip_prefix(LIVE) {
                live.insert(name.to_owned(), place(path, bits)?);
            } else if !matches!((name, bits), (CONTRACT, 1) | ("seen", _))
                && invariant_of(name).is_none()
                && !name.starts_with(LIVE_ALLOWED)
            {
                return Err(format!(
                    "{file}: {name}: no output of this name and width is known"
                ));
            }
        }
        Ok(Formal {
            circuit,
            inputs,
            live,
        })
    }

    /// Returns inputs with any value.
    fn inputs(&self, aig: &mut Aig) -> Result<Inputs, String> {
        let free = self.circuit.open(aig);
        let released = match &self.reset {
            // Nothing remains from one cycle to the next.
            None if self.circuit.state_bits() == 0 => Lit::TRUE,
            None => return Err("the design declares no reset".to_owned()),
            Some((reset, high)) => match self.circuit.input(reset) {
                Some([wire]) if *high => !free[*wire],
                Some([wire]) => free[*wire],
                _ => return Err(format!("the netlist has no {reset}")),
            },
        };
        Ok(Inputs { free, released })
    }

    /// Returns inputs that are in reset unless `started`; every other input has any value.
    fn inputs_in_reset_until(&self, aig: &mut Aig, started: Lit) -> Result<Inputs, String> {
        let cycle = self.inputs(aig)?;
        let released = aig.and(started, cycle.released);
        Ok(self.with_reset(cycle, released))
    }

    /// Returns inputs of a cycle that is not in reset.
    fn inputs_released(&self, aig: &mut Aig) -> Result<Inputs, String> {
        let cycle = self.inputs(aig)?;
        Ok(self.with_reset(cycle, Lit::TRUE))
    }

    /// Returns `cycle` with a reset that is asserted unless `released`.
    fn with_reset(&self, mut cycle: Inputs, released: Lit) -> Inputs {
        cycle.released = released;
        if let Some((reset, high)) = &self.reset {
            for wire in self.circuit.input(reset).into_iter().flatten() {
                cycle.free[*wire] = if *high { !released } else { released };
            }
        }
        cycle
    }

    /// Computes one cycle of mutant `number`.
    fn step(&self, aig: &mut Aig, number: u32, state: &[Lit], cycle: &Inputs) -> TimeFrame {
        let mut free = cycle.free.clone();
        for (wire, bit) in &self.selectors {
            free[*wire] = (*bit < 32 && number >> bit & 1 == 1).into();
        }
        self.circuit.step(aig, state, &free)
    }

    /// Returns what the formal file says about `state` and the inputs in `cycle`. Without a formal file, all of the state matters
    /// and nothing is known.
    fn said(&self, aig: &mut Aig, state: &[Lit], cycle: &Inputs) -> Said {
        let mut said = Said {
            allowed: Lit::TRUE,
            invariants: Vec::new(),
            contract: Lit::TRUE,
            live: vec![Lit::TRUE; state.len()],
            seen: Vec::new(),
        };
        let Some(formal) = &self.formal else {
            return said;
        };
        let mut free = formal.circuit.open(aig);
        for (wires, source) in &formal.inputs {
            let (from, all) = match source {
                Source::State(places) => (places, state),
                Source::Port(ports) => (ports, &cycle.free[..]),
            };
            for (wire, place) in wires.iter().zip(from) {
                free[*wire] = all[*place];
            }
        }
        let frame = formal.circuit.step(aig, &[], &free);
        for (name, bits) in formal.circuit.outputs(&frame) {
            if let Some(places) = formal.live.get(&name) {
                for (place, bit) in places.iter().zip(bits) {
                    said.live[*place] = bit;
                }
            } else if name == "seen" {
                said.seen = bits;
            } else if name == CONTRACT {
                said.contract = aig.all(bits);
            } else if let Some(name) = invariant_of(&name) {
                said.invariants.extend(invariants(name, bits));
            }
        }
        let all = said.invariants.iter().map(|(_, holds)| *holds);
        said.allowed = aig.all(all.collect());
        said
    }

    /// Proves that the invariants hold after a reset, from any state, and that no cycle breaks them.
    fn check_invariant(&self, abc: &Abc) -> Result<(), String> {
        let file = &self.formal_file;
        let mut aig = Aig::new();
        let state = self.circuit.anything(&mut aig);
        let cycle = self.inputs(&mut aig)?;
        let before = self.said(&mut aig, &state, &cycle);
        // They must not be vacuous: some state must be allowed, with some inputs, and some state must not. A file may state no invariant.
        let possible = aig.and(before.allowed, before.contract);
        let all_states = before.invariants.is_empty();
        let some = [
            (possible, "no cycle satisfies what it says"),
            (!before.allowed, "the invariant says nothing"),
        ];
        for (some, why) in some.into_iter().take(if all_states { 1 } else { 2 }) {
            if !matches!(abc.prove_never(&aig, some)?, Answer::At(_)) {
                return Err(format!("{file}: {why}"));
            }
        }
        let next = self.step(&mut aig, 0, &state, &cycle).next;
        let later = self.inputs(&mut aig)?;
        let after = self.said(&mut aig, &next, &later).invariants;
        let from = aig.or(!cycle.released, before.allowed);
        let from = aig.and(from, before.contract);
        // One by one: together they are too much for one search. CaDiCaL takes 30 s where ABC does not finish (the
        // threads that wait, of spa5 as it ships).
        for (name, after) in after {
            let broken = aig.and(from, !after);
            match sat::ask(&aig, broken, abc.time, abc.stop, &sat::Proof::Believed)? {
                sat::Answer::Never => {}
                sat::Answer::Sometimes(_) => {
                    return Err(format!("{file}: a cycle can break {name}"));
                }
                sat::Answer::GaveUp => {
                    return Err(format!("{file}: {name} is too hard to prove"));
                }
            }
        }
        Ok(())
    }

    fn outputs(&self, frame: &TimeFrame) -> Vec<Lit> {
        let outputs = self.circuit.outputs(frame).into_iter();
        outputs.flat_map(|(_, bits)| bits).collect()
    }

    /// Returns what is compared after the cycle `frame` of mutant `number` that begins in `state`; with `hidden` also what is hidden, and all
    /// outputs. `then` is the next cycle.
    fn seen(
        &self,
        aig: &mut Aig,
        (state, frame, cycle): (&[Lit], &TimeFrame, &Inputs),
        then: Option<&TimeFrame>,
        hidden: bool,
    ) -> Seen {
        let mut seen = match (&self.declared, then) {
            (Some(declared), Some(then)) => Cycle {
                circuit: &self.circuit,
                before: (state, frame),
                after: (&frame.next, then),
                free: &cycle.free,
            }
            .seen(aig, declared, hidden),
            _ => Seen::default(),
        };
        if hidden || self.declared.is_none() {
            seen.now.extend(self.outputs(frame));
        }
        seen
    }

    /// Computes the cycle after `frame` of mutant `number`, if what is compared is known.
    fn then(
        &self,
        aig: &mut Aig,
        number: u32,
        frame: &TimeFrame,
        cycle: &Inputs,
    ) -> Option<TimeFrame> {
        let known = self.declared.is_some();
        known.then(|| self.step(aig, number, &frame.next, cycle))
    }

    /// Builds question 1 about mutant `number`, asked as `so` says.
    fn after_one_cycle(&self, number: u32, so: &Asked) -> Result<OneCycle, String> {
        let mut aig = Aig::new();
        let state = self.circuit.anything(&mut aig);
        let cycle = self.inputs(&mut aig)?;
        let says = self.said(&mut aig, &state, &cycle);
        let [allowed, contract] = match so.any_state {
            true => [Lit::TRUE; 2],
            false => [says.allowed, says.contract],
        };
        let mut other = state.clone();
        for place in &so.loose {
            let any = aig.input();
            other[*place] = aig.mux(says.live[*place], state[*place], any);
        }
        let rtl = self.step(&mut aig, 0, &state, &cycle);
        let mutant = self.step(&mut aig, number, &other, &cycle);
        let next = self.inputs_released(&mut aig)?;
        let rtl_then = self.then(&mut aig, 0, &rtl, &next);
        let mutant_then = self.then(&mut aig, number, &mutant, &next);
        let a = (&state[..], &rtl, &cycle);
        let a = self.seen(&mut aig, a, rtl_then.as_ref(), so.hidden);
        let b = (&other[..], &mutant, &cycle);
        let b = self.seen(&mut aig, b, mutant_then.as_ref(), so.hidden);
        let mut now = differ(&mut aig, &a.now, &b.now);
        if number == 0 {
            // What `seen` shows of the state depends on nothing else, so it is enough to ask this once.
            let other_says = self.said(&mut aig, &other, &cycle);
            let seen = differ(&mut aig, &says.seen, &other_says.seen);
            now = aig.or(now, seen);
        }
        let later = self.inputs(&mut aig)?;
        let matters = self.said(&mut aig, &rtl.next, &later).live;
        let shown = differ(&mut aig, &a.after, &b.after);
        let (mut after, mut could_be_loose) = (vec![shown], Loose::new());
        for (place, (a, b)) in rtl.next.iter().zip(&mutant.next).enumerate() {
            let differs = aig.xor(*a, *b);
            if differs != Lit::FALSE && matters[place] != Lit::TRUE {
                could_be_loose.insert(place);
            }
            if so.loose.contains(&place) {
                after.push(aig.and(matters[place], differs));
            } else if !so.ports || place < self.circuit.register_bits() {
                after.push(differs);
            }
        }
        if so.ports {
            for (a, b) in rtl.writes.iter().zip(&mutant.writes) {
                let elsewhere = differ(&mut aig, &a.address, &b.address);
                for (i, enable) in a.enable.iter().enumerate() {
                    let data = aig.xor(a.data[i], b.data[i]);
                    let other = aig.or(elsewhere, data);
                    let other = aig.and(*enable, other);
                    let one_alone = aig.xor(*enable, b.enable[i]);
                    after.extend([other, one_alone]);
                }
            }
        }
        let mut after = aig.any(after);
        if number != 0 && so.loose.is_empty() {
            // Both begin in the same state, so they differ at the mutated place or nowhere. The question is asked only for cycles
            // in which that place differs, which is often enough for an answer.
            let told: Vec<usize> = self.selectors.iter().map(|(wire, _)| *wire).collect();
            let mut parted = self.circuit.parted(&mut aig, &told, &rtl, &mutant);
            if let (Some(rtl), Some(mutant)) = (&rtl_then, &mutant_then) {
                let later = self.circuit.parted(&mut aig, &told, rtl, mutant);
                parted = aig.or(parted, later);
            }
            [now, after] = [now, after].map(|differs| aig.and(parted, differs));
        }
        // The first cycle is in reset and begins in any state, so its outputs are not compared.
        let now = aig.and(allowed, now);
        let from = aig.or(!cycle.released, allowed);
        let after = aig.and(from, after);
        let differs = aig.or(now, after);
        let differs = aig.and(contract, differs);
        // In this model all registers share one clock. A mutant that changes the clock of a register is outside the model.
        let clocks = [&rtl, &mutant].map(|frame| self.circuit.clocks(frame));
        let moved = differ(&mut aig, &clocks[0], &clocks[1]);
        let differs = aig.or(differs, moved);
        Ok(OneCycle {
            aig,
            differs,
            could_be_loose,
        })
    }

    /// Returns all bits that `rtl/<unit>/<unit>_formal.sv` says do not always matter.
    fn loosest(&self) -> Loose {
        let formal = self.formal.iter();
        formal
            .flat_map(|f| f.live.values().flatten().copied())
            .collect()
    }

    fn not_read(&self, number: u32) -> Option<Verdict> {
        let why = self.unread.get(&number)?;
        Some(Verdict::Undecided(format!(
            "it is not read for a proof: {why}"
        )))
    }

    /// Tries to prove that `number` cannot be told from the RTL: first in the form that is easiest to prove, then with only as many
    /// loose bits as the mutant needs.
    ///
    /// # Errors
    /// ABC cannot be run; `stop` is set.
    pub fn prove(&self, number: u32, stop: &AtomicBool) -> Result<Verdict, String> {
        if let Some(why) = self.not_read(number) {
            return Ok(why);
        }
        let file = &self.formal_file;
        let mut so = Asked {
            any_state: true,
            ports: true,
            loose: Loose::new(),
            hidden: true,
        };
        let mut time_over = false;
        loop {
            let asked = self.after_one_cycle(number, &so)?;
            if asked.differs == Lit::FALSE {
                return Ok(Verdict::Equivalent("it is the same logic".to_owned()));
            }
            let answer = Abc::new(stop).prove_never(&asked.aig, asked.differs)?;
            time_over |= answer == Answer::GaveUp(Limit::Time);
            if answer == Answer::Never {
                return Ok(Verdict::Equivalent(if !so.hidden {
                    let same = match so.loose.is_empty() {
                        true => "the next state",
                        false => "what matters of the next state",
                    };
                    format!("{same} is the same for all inputs, and {HIDDEN}")
                } else if so.any_state {
                    "next state and outputs are the same from every state, for all inputs"
                        .to_owned()
                } else if so.loose.is_empty() {
                    format!(
                        "next state and outputs are the same for all inputs from every state that {file} \
                         allows"
                    )
                } else {
                    format!(
                        "all that {file} says can matter, and the outputs, are the same for all inputs from \
                         every state that it allows"
                    )
                }));
            }
            if so.any_state && self.formal.is_some() {
                so.any_state = false;
                continue;
            }
            let more = asked.could_be_loose.difference(&so.loose);
            let more: Loose = more.copied().collect();
            if more.is_empty() && !so.ports {
                if so.hidden && self.declared.as_ref().is_some_and(compared::hides) {
                    so.hidden = false;
                    continue;
                }
                let mut why = "no proof by induction".to_owned();
                if time_over {
                    why += &format!(" (a question was not answered within {})", time());
                }
                return Ok(Verdict::Undecided(why));
            }
            so.ports = false;
            so.loose.extend(more);
        }
    }

    /// Question 2: looks for a run from reset in which `number` shows.
    ///
    /// # Errors
    /// ABC cannot be run; `stop` is set.
    pub fn refute(&self, number: u32, stop: &AtomicBool) -> Result<Verdict, String> {
        if let Some(why) = self.not_read(number) {
            return Ok(why);
        }
        let mut aig = Aig::new();
        let (started, broken_q) = (aig.input(), aig.input());
        // The first cycle is in reset.
        let cycle = self.inputs_in_reset_until(&mut aig, started)?;
        let awake = self.circuit.anything(&mut aig);
        let (rtl_q, mutant_q) = (
            self.circuit.anything(&mut aig),
            self.circuit.anything(&mut aig),
        );
        let mut state = |q: &[Lit]| -> Vec<Lit> {
            let both = q.iter().zip(&awake);
            both.map(|(q, awake)| aig.mux(started, *q, *awake))
                .collect()
        };
        let (rtl_state, mutant_state) = (state(&rtl_q), state(&mutant_q));
        let rtl = self.step(&mut aig, 0, &rtl_state, &cycle);
        let mutant = self.step(&mut aig, number, &mutant_state, &cycle);
        let next = self.inputs_released(&mut aig)?;
        let rtl_then = self.then(&mut aig, 0, &rtl, &next);
        let mutant_then = self.then(&mut aig, number, &mutant, &next);
        let of_rtl = (&rtl_state[..], &rtl, &cycle);
        let of_mutant = (&mutant_state[..], &mutant, &cycle);
        let [a, b] = [&rtl_state, &mutant_state].map(|state| self.said(&mut aig, state, &cycle));
        let said = differ(&mut aig, &a.seen, &b.seen);
        // All inputs so far have kept to the contract.
        let broken = aig.or(broken_q, !a.contract);
        let fair = aig.and(started, !broken);
        let legal = self.said(&mut aig, &rtl.next, &next).contract;
        let legal = aig.and(legal, !broken);
        // What differs after a cycle is told of in the next one, as what is in an output then.
        let differs_q = aig.input();
        let mut ask = |hidden: bool| {
            let a = self.seen(&mut aig, of_rtl, rtl_then.as_ref(), hidden);
            let b = self.seen(&mut aig, of_mutant, mutant_then.as_ref(), hidden);
            let now = differ(&mut aig, &a.now, &b.now);
            let after = differ(&mut aig, &a.after, &b.after);
            let after = aig.and(legal, after);
            let differs = [now, said, differs_q];
            let differs = aig.any(differs);
            let differs = aig.and(fair, differs);
            (differs, after, a.all)
        };
        let (differs, after, all) = ask(false);
        let (with_hidden, after_with_hidden, _) = ask(true);
        let registers = |after| -> Vec<(Lit, Lit)> {
            let told = [(started, Lit::TRUE), (broken_q, broken), (differs_q, after)];
            let rtl = rtl_q.iter().copied().zip(rtl.next.iter().copied());
            let mutant = mutant_q.iter().copied().zip(mutant.next.iter().copied());
            told.into_iter().chain(rtl).chain(mutant).collect()
        };
        let abc = Abc::new(stop);
        // One more cycle, because the first is the reset.
        let shows = |cycle: usize| {
            let when = format!("{} after a reset", counted(cycle, "cycle"));
            if self.transactions {
                let how = format!(
                    "some inputs show it {when}, but whether a transaction differs is not known"
                );
                return Ok(Verdict::Undecided(how));
            }
            Ok(Verdict::Missed(self.how_it_shows(number, &when, stop)?))
        };
        let mut why = match abc.search(&aig, &registers(after), differs, DEPTH + 1)? {
            Search::At(cycle) => return shows(cycle),
            Search::NotIn(cycles) => {
                let within = counted(cycles.saturating_sub(1), "cycle");
                let why = format!("no difference within {within} of a reset");
                match cycles > DEPTH {
                    true => why,
                    false => format!("{why}, where the search met its limit"),
                }
            }
            Search::TimeOver => format!("no difference from a reset found within {}", time()),
        };
        if all && self.formal.is_none() {
            let clocks = [&rtl, &mutant].map(|frame| self.circuit.clocks(frame));
            let moved = differ(&mut aig, &clocks[0], &clocks[1]);
            let differs = aig.or(differs, moved);
            match abc.prove_always(&aig, &registers(after), differs)? {
                Answer::Never => {
                    let hidden = registers(after_with_hidden);
                    let shown = abc.search(&aig, &hidden, with_hidden, DEPTH + 1)?;
                    let mut how = "no run from a reset shows it".to_owned();
                    if matches!(shown, Search::At(_)) {
                        how += &format!(": {HIDDEN}");
                    }
                    return Ok(Verdict::Equivalent(how));
                }
                // A register with another clock is outside the model: that the clocks differ shows nothing.
                Answer::At(cycle) if moved == Lit::FALSE => return shows(cycle),
                Answer::At(_) => why += ", and the mutant clocks a register in another way",
                Answer::GaveUp(Limit::Time) => {
                    why += &format!(", and no proof within {} s", abc::PDR_TIME.as_secs());
                }
                Answer::GaveUp(Limit::Conflicts) => {}
            }
        }
        Ok(Verdict::Undecided(why))
    }
}

#[cfg(test)]
mod tests;
mod undefined;
