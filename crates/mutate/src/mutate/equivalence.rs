//! The referee: whether a mutant can be told from the RTL at all.
//!
//! RTL and mutant are one netlist, made by Yosys of the very text that was simulated, with the number of the
//! mutant 0 for the one and K for the other. Both become one and-inverter graph, in which only what lies
//! behind the mutated place is there twice, and ABC is asked, in this order:
//!
//! 1. *Can one clock tell them apart?* RTL and mutant begin it with the same of all that matters, from every
//!    state that the invariants of `tb/formal/<unit>.sv` allow, and with the same inputs. Can an output differ in
//!    it, or anything that matters after it? The same file says what matters in which state (`live__...`); the
//!    rest, such as what lies above the top of a stack, the mutant may have as it likes. If the answer is no,
//!    the mutant is *equivalent*: by induction, for all time.
//! 2. *Can many clocks?* Both start from a reset, with any inputs in every clock: is there a difference in what
//!    the bench compares within [`DEPTH`] clocks? Then it is one that the campaign *missed*.
//!
//! If both end without an answer, it stays undecided. What ends them is a limit of conflicts, so that every machine says
//! the same, and only where that does not bound the work one of time, which the verdict then names.
//!
//! Proved once a run, before any mutant: the invariants hold after a clock in reset, whatever was before, and no
//! clock breaks them; they are true of some states and not of all; and what the file says does not matter
//! does not matter to the RTL itself (mutant 0 is equivalent in the sense of question 1).
//!
//! What is granted: the unit is reset before anything is compared, as the bench does and as the contract
//! wants; both wake up with the same contents of what reset does not reach; and the inputs keep to what the
//! same file calls the contract, which is what the unit's spec demands of them. Otherwise they are free in every
//! clock.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::abc::{self, Abc, Answer, Found, Limit};
use super::aig::{Aig, Lit};
use super::circuit::{Circuit, Frame};
use super::sat;
use super::{Family, List, Origin, SELECTOR, netlist, source};

/// How outputs begin that say which bits of a register matter where all invariants of the assertions hold: the referee does not have
/// these, and does not look at them.
pub(crate) const LIVE_ALLOWED: &str = "live_allowed__";
/// How outputs begin that say which bits of a register matter.
pub(crate) const LIVE: &str = "live__";
/// The output that says which inputs are legal.
pub(crate) const CONTRACT: &str = "contract";
const INVARIANT: &str = "invariant";

/// Returns what the invariant that output `name` of a formal file says is called, if it says one: `invariant`, or `invariant__NAME`,
/// of which there may be many.
pub(crate) fn invariant_of(name: &str) -> Option<&str> {
    match name.strip_prefix(INVARIANT)? {
        "" => Some(name),
        rest => rest.strip_prefix("__"),
    }
}

/// Returns invariants, each with its name: those of `bits`, which an output says of the invariant called `name`.
pub(crate) fn invariants(name: &str, bits: Vec<Lit>) -> impl Iterator<Item = (String, Lit)> {
    let one = bits.len() == 1;
    bits.into_iter()
        .enumerate()
        .map(move |(i, holds)| match one {
            true => (name.to_owned(), holds),
            false => (format!("{name}[{i}]"), holds),
        })
}

/// Clocks from the reset on in which a difference is looked for.
pub const DEPTH: usize = 12;

/// What the referee says of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It cannot be told from the RTL: why.
    Equivalent(String),
    /// It can: how.
    Differs(String),
    /// Neither was found out: why.
    Unknown(String),
}

/// Knows the netlist with all the mutants of a run.
pub struct Referee {
    circuit: Circuit,
    /// Wires that carry the number of the mutant, and which bit of it.
    selectors: Vec<(usize, usize)>,
    formal: Option<Formal>,
    formal_file: String,
    /// Port of the reset, and whether it acts at 1.
    reset: Option<(String, bool)>,
}

/// `tb/formal/<unit>.sv`.
struct Formal {
    circuit: Circuit,
    /// Wires of its inputs, and what of the unit each is.
    inputs: Vec<(Vec<usize>, Source)>,
    /// Its outputs `live__...`, and of which bits of the state each speaks.
    live: HashMap<String, Vec<usize>>,
}

/// What an input of the formal file is joined to.
enum Source {
    /// Bits of the state.
    State(Vec<usize>),
    /// Wires of an input of the unit.
    Port(Vec<usize>),
}

/// What it says of a state, and of the inputs of the clock that begins with it.
struct Said {
    /// The unit can be in it.
    allowed: Lit,
    /// The invariants, which together are that, with their names.
    invariants: Vec<(String, Lit)>,
    /// The inputs keep to the contract.
    contract: Lit,
    /// Bit by bit of the state: it matters.
    live: Vec<Lit>,
    /// What the bench compares beside the outputs.
    seen: Vec<Lit>,
}

/// Places of the state in which a mutant may have something else while they do not matter.
type Loose = BTreeSet<usize>;

/// How question 1 is asked: what is granted, and how little is asked for.
struct Asked {
    /// From any state, whatever the invariants allow.
    any_state: bool,
    /// That memories are written alike, instead of that they hold the same.
    ports: bool,
    /// Where the mutant may have anything while it does not matter.
    loose: Loose,
}

/// Question 1 as a graph.
struct OneClock {
    aig: Aig,
    differs: Lit,
    /// Places that may differ after the clock, and do not always matter.
    could_be_loose: Loose,
}

/// Inputs of one clock.
struct Clock {
    free: Vec<Lit>,
    /// Not in reset.
    released: Lit,
}

/// What a question has, in words.
fn time() -> String {
    format!("{} s of the processor", abc::TIME.as_secs())
}

impl Referee {
    /// Has Yosys read what lies in `dir`.
    ///
    /// # Errors
    /// There is no Yosys, it or the referee does not understand the design, `tb/formal/<unit>.sv` says
    /// what does not hold, or `stop` is set.
    pub(super) fn new(
        from: &Origin,
        list: &List,
        dir: &Path,
        stop: &AtomicBool,
    ) -> Result<Self, String> {
        let work = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
        let work = work.path();
        let write = |name: &str, text: &str| {
            fs::write(work.join(name), text).map_err(|e| format!("{name}: {e}"))
        };
        let read =
            |path: &Path| fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
        let mut script = match list.family {
            Family::Source => {
                let mut names = Vec::new();
                for (name, _) in &from.texts {
                    let text = read(&dir.join(name))?;
                    let text = source::for_proof(name, &text).map_err(|e| e.to_string())?;
                    write(name, &text)?;
                    names.push(name.as_str());
                }
                netlist::read_and_flatten(from, &from.top, &names)
            }
            Family::Netlist => {
                for name in [netlist::DESIGN, netlist::COMMANDS] {
                    write(name, &read(&dir.join(name))?)?;
                }
                format!(
                    "read_rtlil {}\nscript {}\n",
                    netlist::DESIGN,
                    netlist::COMMANDS
                )
            }
        };
        script += "write_json circuit.json\n";
        netlist::yosys(work, &script, stop)?;
        let circuit = Circuit::read(&read(&work.join("circuit.json"))?, &from.top)?;
        let selectors = circuit.ending(match list.family {
            Family::Source => source::SELECTED_WIRE,
            Family::Netlist => netlist::SELECT,
        });
        if selectors.is_empty() {
            return Err(format!("the netlist does not look at {SELECTOR}"));
        }
        let mut referee = Referee {
            circuit,
            selectors,
            formal: None,
            formal_file: match &from.formal {
                Some((file, _)) => file.clone(),
                None => format!("{}_formal.sv", from.unit),
            },
            reset: from.reset.clone(),
        };
        if let Some((_, text)) = &from.formal {
            write("formal.sv", text)?;
            let top = format!("{}_formal", from.unit);
            let script =
                netlist::read_and_flatten(from, &top, &["formal.sv"]) + "write_json formal.json\n";
            netlist::yosys(work, &script, stop)?;
            let formal = Circuit::read(&read(&work.join("formal.json"))?, &top)?;
            referee.formal = Some(referee.joined(formal)?);
            referee.check_invariant(&Abc::new(stop))?;
        }
        let all = referee.after_one_clock(
            0,
            &Asked {
                any_state: false,
                ports: false,
                loose: referee.loosest(),
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

    /// Finds in the state of the unit what the formal file speaks of.
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

    fn anything(&self, aig: &mut Aig) -> Vec<Lit> {
        (0..self.circuit.state_bits())
            .map(|_| aig.input())
            .collect()
    }

    /// Anything on every input.
    fn clock(&self, aig: &mut Aig) -> Result<Clock, String> {
        let mut free = vec![Lit::FALSE; self.circuit.wires()];
        for wire in self.circuit.free() {
            free[*wire] = aig.input();
        }
        let (reset, high) = self.reset.as_ref().ok_or("the design declares no reset")?;
        let released = match self.circuit.input(reset) {
            Some([wire]) if *high => !free[*wire],
            Some([wire]) => free[*wire],
            _ => return Err(format!("the netlist has no {reset}")),
        };
        Ok(Clock { free, released })
    }

    /// A clock of mutant `number`.
    fn step(&self, aig: &mut Aig, number: u32, state: &[Lit], clock: &Clock) -> Frame {
        let mut free = clock.free.clone();
        for (wire, bit) in &self.selectors {
            free[*wire] = (*bit < 32 && number >> bit & 1 == 1).into();
        }
        self.circuit.step(aig, state, &free)
    }

    /// What the formal file says of `state` and of the inputs in `clock`; without one, that all of it matters
    /// and nothing is known.
    fn said(&self, aig: &mut Aig, state: &[Lit], clock: &Clock) -> Said {
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
        let mut free = vec![Lit::FALSE; formal.circuit.wires()];
        for wire in formal.circuit.free() {
            free[*wire] = aig.input();
        }
        for (wires, source) in &formal.inputs {
            let (from, all) = match source {
                Source::State(places) => (places, state),
                Source::Port(ports) => (ports, &clock.free[..]),
            };
            for (wire, place) in wires.iter().zip(from) {
                free[*wire] = all[*place];
            }
        }
        let frame = formal.circuit.step(aig, &[], &free);
        for (name, bits) in formal.circuit.outputs(&frame) {
            if let Some(places) = formal.live.get(name) {
                for (place, bit) in places.iter().zip(bits) {
                    said.live[*place] = bit;
                }
            } else if name == "seen" {
                said.seen = bits;
            } else if name == CONTRACT {
                said.contract = aig.all(bits);
            } else if let Some(name) = invariant_of(name) {
                said.invariants.extend(invariants(name, bits));
            }
        }
        let all = said.invariants.iter().map(|(_, holds)| *holds);
        said.allowed = aig.all(all.collect());
        said
    }

    /// That the invariants hold after a reset, whatever was before, and stay.
    fn check_invariant(&self, abc: &Abc) -> Result<(), String> {
        let file = &self.formal_file;
        let mut aig = Aig::new();
        let state = self.anything(&mut aig);
        let clock = self.clock(&mut aig)?;
        let before = self.said(&mut aig, &state, &clock);
        // It may not be vacuous: some state must be allowed, with some inputs, and some not.
        let possible = aig.and(before.allowed, before.contract);
        for some in [possible, !before.allowed] {
            if abc.prove_never(&aig, some)? != Answer::Sometimes {
                return Err(format!("{file}: the invariant says nothing"));
            }
        }
        let next = self.step(&mut aig, 0, &state, &clock).next;
        let later = self.clock(&mut aig)?;
        let after = self.said(&mut aig, &next, &later).invariants;
        let from = aig.or(!clock.released, before.allowed);
        let from = aig.and(from, before.contract);
        // One by one: together they are more than a search is through with. CaDiCaL takes 30 s where ABC does not end (the
        // threads that wait, of spa5 as it ships).
        for (name, after) in after {
            let broken = aig.and(from, !after);
            match sat::ask(&aig, broken, abc.time, abc.stop, &sat::Proof::Believed)? {
                sat::Answer::Never => {}
                sat::Answer::Sometimes(_) => {
                    return Err(format!("{file}: a clock can break {name}"));
                }
                sat::Answer::GaveUp => {
                    return Err(format!("{file}: {name} is too hard to prove"));
                }
            }
        }
        Ok(())
    }

    /// Where two vectors differ.
    fn unlike(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Lit {
        let differ: Vec<Lit> = a.iter().zip(b).map(|(a, b)| aig.xor(*a, *b)).collect();
        aig.any(differ)
    }

    fn outputs(&self, frame: &Frame) -> Vec<Lit> {
        let outputs = self.circuit.outputs(frame).into_iter();
        outputs.flat_map(|(_, bits)| bits).collect()
    }

    /// Question 1, as `so` wants it asked of `number`.
    fn after_one_clock(&self, number: u32, so: &Asked) -> Result<OneClock, String> {
        let mut aig = Aig::new();
        let state = self.anything(&mut aig);
        let clock = self.clock(&mut aig)?;
        let says = self.said(&mut aig, &state, &clock);
        let [allowed, contract] = match so.any_state {
            true => [Lit::TRUE; 2],
            false => [says.allowed, says.contract],
        };
        let mut other = state.clone();
        for place in &so.loose {
            let any = aig.input();
            other[*place] = aig.mux(says.live[*place], state[*place], any);
        }
        let rtl = self.step(&mut aig, 0, &state, &clock);
        let mutant = self.step(&mut aig, number, &other, &clock);
        let mut now = Self::unlike(&mut aig, &self.outputs(&rtl), &self.outputs(&mutant));
        if number == 0 {
            // What is seen of the state depends on nothing else: to be asked once.
            let other_says = self.said(&mut aig, &other, &clock);
            let seen = Self::unlike(&mut aig, &says.seen, &other_says.seen);
            now = aig.or(now, seen);
        }
        let later = self.clock(&mut aig)?;
        let matters = self.said(&mut aig, &rtl.next, &later).live;
        let (mut after, mut could_be_loose) = (Vec::new(), Loose::new());
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
                let elsewhere = Self::unlike(&mut aig, &a.address, &b.address);
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
            // From the same state they go apart at the mutated place or nowhere: the question is only asked for clocks
            // in which that place differs, which often says all that an answer needs.
            let told: Vec<usize> = self.selectors.iter().map(|(wire, _)| *wire).collect();
            let parted = self.circuit.parted(&mut aig, &told, &rtl, &mutant);
            [now, after] = [now, after].map(|differs| aig.and(parted, differs));
        }
        // The first clock is one in reset and begins in any state, so its outputs are not compared.
        let now = aig.and(allowed, now);
        let from = aig.or(!clock.released, allowed);
        let after = aig.and(from, after);
        let differs = aig.or(now, after);
        let differs = aig.and(contract, differs);
        // Registers move together here. A mutant that gives one of them another clock is beyond this model.
        let clocks = [&rtl, &mutant].map(|frame| self.circuit.clocks(frame));
        let moved = Self::unlike(&mut aig, &clocks[0], &clocks[1]);
        let differs = aig.or(differs, moved);
        Ok(OneClock {
            aig,
            differs,
            could_be_loose,
        })
    }

    /// All that `tb/formal/<unit>.sv` says does not always matter.
    fn loosest(&self) -> Loose {
        let formal = self.formal.iter();
        formal
            .flat_map(|f| f.live.values().flatten().copied())
            .collect()
    }

    /// Tries to prove that `number` cannot be told from the RTL: first what is easiest to prove, then with no more
    /// places loose than the mutant wants.
    ///
    /// # Errors
    /// ABC cannot be asked; `stop` is set.
    pub fn prove(&self, number: u32, stop: &AtomicBool) -> Result<Proof, String> {
        let file = &self.formal_file;
        let mut so = Asked {
            any_state: true,
            ports: true,
            loose: Loose::new(),
        };
        let mut time_over = false;
        loop {
            let asked = self.after_one_clock(number, &so)?;
            if asked.differs == Lit::FALSE {
                return Ok(Proof::Equivalent("it is the same logic".to_owned()));
            }
            let answer = Abc::new(stop).prove_never(&asked.aig, asked.differs)?;
            time_over |= answer == Answer::GaveUp(Limit::Time);
            if answer == Answer::Never {
                return Ok(Proof::Equivalent(if so.any_state {
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
            let more: Loose = asked
                .could_be_loose
                .difference(&so.loose)
                .copied()
                .collect();
            if more.is_empty() && !so.ports {
                let mut why = "no proof by induction".to_owned();
                if time_over {
                    why += &format!(" (a question was not answered within {})", time());
                }
                return Ok(Proof::Unknown(why));
            }
            so.ports = false;
            so.loose.extend(more);
        }
    }

    /// Question 2: looks for a way from reset to where `number` shows.
    ///
    /// # Errors
    /// ABC cannot be asked; `stop` is set.
    pub fn refute(&self, number: u32, stop: &AtomicBool) -> Result<Proof, String> {
        let mut aig = Aig::new();
        let (started, broken_q) = (aig.input(), aig.input());
        let mut clock = self.clock(&mut aig)?;
        let awake = self.anything(&mut aig);
        let (rtl_q, mutant_q) = (self.anything(&mut aig), self.anything(&mut aig));
        let mut state = |q: &[Lit]| -> Vec<Lit> {
            let both = q.iter().zip(&awake);
            both.map(|(q, awake)| aig.mux(started, *q, *awake))
                .collect()
        };
        let (rtl_state, mutant_state) = (state(&rtl_q), state(&mutant_q));
        // The first clock is one in reset.
        if let Some([wire]) = self
            .reset
            .as_ref()
            .and_then(|(reset, _)| self.circuit.input(reset))
        {
            clock.free[*wire] = aig.and(started, clock.released);
        }
        let rtl = self.step(&mut aig, 0, &rtl_state, &clock);
        let mutant = self.step(&mut aig, number, &mutant_state, &clock);
        let outputs = Self::unlike(&mut aig, &self.outputs(&rtl), &self.outputs(&mutant));
        let [a, b] = [&rtl_state, &mutant_state].map(|state| self.said(&mut aig, state, &clock));
        let seen = Self::unlike(&mut aig, &a.seen, &b.seen);
        let differs = aig.or(outputs, seen);
        // All inputs until then have kept to the contract.
        let broken = aig.or(broken_q, !a.contract);
        let fair = aig.and(started, !broken);
        let differs = aig.and(fair, differs);
        let registers: Vec<(Lit, Lit)> = [(started, Lit::TRUE), (broken_q, broken)]
            .into_iter()
            .chain(rtl_q.into_iter().zip(rtl.next))
            .chain(mutant_q.into_iter().zip(mutant.next))
            .collect();
        // The first clock is the reset.
        let found = Abc::new(stop).search(&aig, &registers, differs, DEPTH + 1)?;
        Ok(match found {
            Found::At(clock) => {
                Proof::Differs(format!("some inputs show it {clock} clocks after a reset"))
            }
            Found::NotIn(clocks) => Proof::Unknown(format!(
                "no difference within {} clocks of a reset",
                clocks.saturating_sub(1)
            )),
            Found::TimeOver => Proof::Unknown(format!(
                "no difference from a reset found within {}",
                time()
            )),
        })
    }
}
