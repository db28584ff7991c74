//! The referee: whether a mutant can be told from the RTL at all.
//!
//! RTL and mutant are one netlist, made by Yosys of the very text that was simulated, with the number of the
//! mutant 0 for the one and K for the other. Both become one and-inverter graph, in which only what lies
//! behind the mutated place is there twice, and a SAT solver is asked (each a proof for all time, by
//! induction over one clock):
//!
//! 1. From the same state, whatever it is, and the same inputs: can next state or outputs differ?
//! 2. The same, from states that the invariants of `tb/formal/<unit>.sv` allow. They are proved of the RTL once
//!    a run: they hold after a clock in reset, whatever was before, and no clock breaks them.
//! 3. From two states that agree in all that can ever matter (`live` of the same file), the RTL's as the
//!    invariants allow: can that differ after a clock, or what is seen now?
//!
//! A question that the solver does not settle at once is divided into cases by the value of a wire that both
//! compute alike (`split` of that file lists which): with it known, most of what is there twice becomes one again.
//!
//! If none can, the mutant is equivalent. Otherwise both are unrolled from a reset, clock by clock, any inputs: a
//! difference in what the bench compares (`seen` of that file, and the outputs) within [`DEPTH`] clocks makes it
//! *missed*. If there is none, or the solver spends its conflicts, it stays undecided.
//!
//! What is granted: the unit is reset before anything is compared, as the bench does and as the contract
//! wants; and both wake up with the same contents of what reset does not reach. Nothing else: inputs are free in
//! every clock, also where the bench keeps to the contract.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::aig::{Aig, Answer, Lit, Sat, Signature};
use super::circuit::{Circuit, Frame};
use super::{Design, Family, List, SELECTOR, netlist, source};

/// Clocks from the reset on in which a difference is looked for.
pub const DEPTH: usize = 8;
/// Conflicts that the questions about one case may cost together. Most cost none.
const CONFLICTS: u64 = 1_000;
/// Cases that an analysis may be divided into.
const CASES: u32 = 64;

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
    formal: Option<Circuit>,
    formal_file: String,
    /// Wires by which to distinguish cases, the most telling first: `split` of the formal file.
    splits: Vec<usize>,
    /// States and inputs of a clock that the invariants allow, to look at first.
    patterns: Vec<Signature>,
}

/// What `tb/formal/<unit>.sv` says of a state.
#[derive(Default)]
struct Said {
    invariant: Option<Lit>,
    live: Vec<Lit>,
    seen: Vec<Lit>,
}

/// From which states a proof starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    /// The same on both sides, whatever it is.
    AnyState,
    /// The same on both sides, as the invariants allow.
    Invariant,
    /// The RTL's as the invariants allow, the mutant's alike in what matters.
    Alike,
}

/// Inputs of one clock.
struct Clock {
    free: Vec<Lit>,
}

impl Referee {
    /// Has Yosys read what lies in `dir`.
    ///
    /// # Errors
    /// There is no Yosys, it or the referee does not understand the design, or an invariant does not hold.
    pub(super) fn new(from: &Design, list: &List, dir: &Path) -> Result<Self, String> {
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
                    write(
                        name,
                        &source::for_proof(name, &text).map_err(|e| e.to_string())?,
                    )?;
                    names.push(name.as_str());
                }
                netlist::read_and_flatten(from, &names)
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
        netlist::yosys(work, &script)?;
        let circuit = Circuit::read(&read(&work.join("circuit.json"))?, &from.top())?;
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
            formal_file: format!("tb/formal/{}.sv", from.unit),
            splits: Vec::new(),
            patterns: Vec::new(),
        };
        if let Some(text) = &from.formal {
            write("formal.sv", text)?;
            let top = format!("{}_formal", from.unit);
            let mut script = "design -reset\nread_verilog -sv formal.sv\n".to_owned();
            for (name, value) in &from.values {
                script += &format!("chparam -set {name} {value} {top}\n");
            }
            script += &format!(
                "hierarchy -check -top {top}\nproc -norom\nflatten\nwrite_json formal.json\n"
            );
            netlist::yosys(work, &script)?;
            let formal = Circuit::read(&read(&work.join("formal.json"))?, &top)?;
            referee.splits = formal
                .joined("split")
                .iter()
                .flat_map(|name| referee.circuit.net(&name.replace("__", ".")))
                .collect();
            referee.formal = Some(formal);
            referee.patterns = referee.check_invariant()?;
        }
        Ok(referee)
    }

    fn inputs(aig: &mut Aig, count: usize) -> Vec<Lit> {
        (0..count).map(|_| aig.input()).collect()
    }

    /// Anything on every input.
    fn clock(&self, aig: &mut Aig) -> Clock {
        let mut free = vec![Lit::FALSE; self.circuit.wires()];
        for wire in self.circuit.free() {
            free[*wire] = aig.input();
        }
        Clock { free }
    }

    /// A clock of mutant `number`.
    fn step(
        &self,
        aig: &mut Aig,
        number: u32,
        state: &[Lit],
        clock: &Clock,
        case: &[(usize, bool)],
    ) -> Frame {
        let mut free = clock.free.clone();
        for (wire, bit) in &self.selectors {
            free[*wire] = (*bit < 32 && number >> bit & 1 == 1).into();
        }
        self.circuit.step(aig, state, &free, case)
    }

    /// Reset is released.
    fn released(&self, clock: &Clock) -> Result<Lit, String> {
        match self.circuit.input("rst_ni") {
            Some([wire]) => Ok(clock.free[*wire]),
            _ => Err("the netlist has no rst_ni".to_owned()),
        }
    }

    /// What the formal file says of `state`.
    fn said_of(&self, aig: &mut Aig, state: &[Lit]) -> Result<Said, String> {
        self.said(aig, &self.circuit.still(state))
    }

    /// What the formal file says of the state that `frame` begins with.
    fn said(&self, aig: &mut Aig, frame: &Frame) -> Result<Said, String> {
        let Some(formal) = &self.formal else {
            return Ok(Said::default());
        };
        let mut free = vec![Lit::FALSE; formal.wires()];
        for wire in formal.free() {
            free[*wire] = aig.input();
        }
        for (name, wires) in formal.inputs() {
            let path = name.replace("__", ".");
            let bits = self.circuit.named(frame, &path);
            let bits = bits.filter(|b| b.len() == wires.len()).ok_or_else(|| {
                format!(
                    "{}: {name}: no {path} of {} bits in the RTL",
                    self.formal_file,
                    wires.len()
                )
            })?;
            for (wire, bit) in wires.iter().zip(bits) {
                free[*wire] = bit;
            }
        }
        let frame = formal.step(aig, &[], &free, &[]);
        let mut said = Said::default();
        for (name, bits) in formal.outputs(&frame) {
            match name {
                "invariant" => {
                    let broken = aig.any(bits.iter().map(|b| !*b));
                    said.invariant = Some(!broken);
                }
                "live" => said.live = bits,
                "seen" => said.seen = bits,
                "split" => {}
                other => {
                    return Err(format!(
                        "{}: {other}: no output of this name is known",
                        self.formal_file
                    ));
                }
            }
        }
        Ok(said)
    }

    /// That the invariants hold after a reset and stay. Returns states that they allow, with inputs.
    fn check_invariant(&self) -> Result<Vec<Signature>, String> {
        let mut aig = Aig::new();
        let state = Self::inputs(&mut aig, self.circuit.state().len());
        let clock = self.clock(&mut aig);
        let now = self.step(&mut aig, 0, &state, &clock, &[]);
        let before = self.said_of(&mut aig, &state)?;
        let after = self.said_of(&mut aig, &now.next)?;
        let (Some(before), Some(after)) = (before.invariant, after.invariant) else {
            return Err(format!("{}: it has no output invariant", self.formal_file));
        };
        let released = self.released(&clock)?;
        let granted = aig.or(!released, before);
        // Neither may be vacuous: some state must be allowed, and some not.
        for some in [before, !before] {
            if Sat::new(CONFLICTS).ask(&aig, &[some]) != Answer::Sometimes {
                return Err(format!("{}: the invariant says nothing", self.formal_file));
            }
        }
        match Sat::new(200 * CONFLICTS).ask(&aig, &[granted, !after]) {
            Answer::Never => {
                let splits = self.splits.iter().map(|wire| Circuit::wire(&now, *wire));
                let wanted: Vec<Lit> = std::iter::once(before).chain(splits).collect();
                Ok(aig.patterns(&wanted))
            }
            Answer::Sometimes => Err(format!(
                "{}: a clock can break the invariant",
                self.formal_file
            )),
            Answer::GaveUp => Err(format!(
                "{}: the invariant is too hard to prove",
                self.formal_file
            )),
        }
    }

    /// Tries to prove that `number` cannot be told from the RTL.
    pub fn prove(&self, number: u32) -> Proof {
        match self.induction(number) {
            Ok(Some(how)) => Proof::Equivalent(how),
            Ok(None) => Proof::Unknown("no proof by induction".to_owned()),
            Err(why) => Proof::Unknown(why),
        }
    }

    /// Looks for a way from reset to where `number` shows.
    pub fn refute(&self, number: u32) -> Proof {
        match self.search_from_reset(number) {
            Ok(Ok(how)) => Proof::Differs(how),
            Ok(Err(why)) => Proof::Unknown(format!("no proof by induction; {why}")),
            Err(why) => Proof::Unknown(why),
        }
    }

    /// Where two vectors may differ, bit by bit.
    fn differing(aig: &mut Aig, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let mut differ: Vec<Lit> = a.iter().zip(b).map(|(a, b)| aig.xor(*a, *b)).collect();
        differ.sort_unstable();
        differ.dedup();
        differ.retain(|bit| *bit != Lit::FALSE);
        differ
    }

    /// What everybody can see of two frames: outputs, and what the formal file lists.
    fn seen(&self, aig: &mut Aig, a: (&Frame, &Said), b: (&Frame, &Said)) -> Vec<Lit> {
        let flat = |frame: &Frame| -> Vec<Lit> {
            self.circuit
                .outputs(frame)
                .into_iter()
                .flat_map(|(_, bits)| bits)
                .collect()
        };
        let mut outputs = Self::differing(aig, &flat(a.0), &flat(b.0));
        outputs.append(&mut Self::differing(aig, &a.1.seen, &b.1.seen));
        outputs
    }

    /// How equivalence was proved, if it was.
    fn induction(&self, number: u32) -> Result<Option<String>, String> {
        let file = &self.formal_file;
        let mut ways = vec![(
            Allowed::AnyState,
            "next state and outputs are the same from every state, for all inputs".to_owned(),
        )];
        if self.formal.is_some() {
            ways.push((
                Allowed::Invariant,
                format!(
                    "next state and outputs are the same for all inputs from every state that the invariants of \
                     {file} allow, which hold by induction"
                ),
            ));
            ways.push((
                Allowed::Alike,
                format!(
                    "two states that agree in what {file} calls live look the same, and stay so, for all inputs, \
                     by induction"
                ),
            ));
        }
        for (allowed, how) in ways {
            // A case by itself first; the analysis only where the solver finds neither.
            let mut open = vec![Vec::new()];
            let mut left = CASES;
            let answer = loop {
                let Some(case) = open.pop() else {
                    break Answer::Never;
                };
                match self.cannot_differ(number, allowed, &case)? {
                    Answer::Never => {}
                    Answer::Sometimes => break Answer::Sometimes,
                    Answer::GaveUp => {
                        let next = self.next_split(number, &case)?;
                        let Some(wire) = next.filter(|_| left > 0) else {
                            break Answer::GaveUp;
                        };
                        left -= 1;
                        for value in [false, true] {
                            open.push([&case[..], &[(wire, value)]].concat());
                        }
                    }
                }
            };
            if answer == Answer::Never {
                return Ok(Some(how));
            }
        }
        Ok(None)
    }

    /// The next wire to distinguish cases by: one that mutant and RTL compute alike.
    fn next_split(&self, number: u32, case: &[(usize, bool)]) -> Result<Option<usize>, String> {
        let mut aig = Aig::new();
        let state = Self::inputs(&mut aig, self.circuit.state().len());
        let clock = self.clock(&mut aig);
        let rtl = self.step(&mut aig, 0, &state, &clock, &[]);
        let mutant = self.step(&mut aig, number, &state, &clock, &[]);
        Ok(self.splits.iter().copied().find(|wire| {
            !case.iter().any(|(w, _)| w == wire)
                && Circuit::wire(&rtl, *wire) == Circuit::wire(&mutant, *wire)
        }))
    }

    /// Whether mutant and RTL can differ from states that are allowed, in one case.
    fn cannot_differ(
        &self,
        number: u32,
        allowed: Allowed,
        case: &[(usize, bool)],
    ) -> Result<Answer, String> {
        // After a reset they agree in what matters, whatever was before; a proof from any state says that too.
        let places = if allowed == Allowed::AnyState {
            &[false][..]
        } else {
            &[false, true]
        };
        // Most that differ do so in some pattern or other, and that is soon seen.
        for joining in [false, true] {
            let mut settled = true;
            for in_reset in places {
                match self.differs(number, allowed, case, *in_reset, joining)? {
                    Answer::Never => {}
                    Answer::GaveUp if !joining => settled = false,
                    other => return Ok(other),
                }
            }
            if settled {
                break;
            }
        }
        Ok(Answer::Never)
    }

    fn differs(
        &self,
        number: u32,
        allowed: Allowed,
        case: &[(usize, bool)],
        in_reset: bool,
        joining: bool,
    ) -> Result<Answer, String> {
        let mut aig = Aig::new();
        let state = Self::inputs(&mut aig, self.circuit.state().len());
        let clock = self.clock(&mut aig);
        let released = self.released(&clock)?;
        let rtl = self.step(&mut aig, 0, &state, &clock, case);
        let says = self.said(&mut aig, &rtl)?;
        let after = match allowed {
            Allowed::Alike => self.said_of(&mut aig, &rtl.next)?.live,
            _ => rtl.next.clone(),
        };
        let mut granted = rtl.given.clone();
        if in_reset {
            granted.push(!released);
        } else if allowed != Allowed::AnyState {
            granted.push(says.invariant.unwrap_or(Lit::TRUE));
        }
        let mut other = state.clone();
        if allowed == Allowed::Alike {
            // The mutant may keep other things where nobody looks.
            let live: HashSet<Lit> = says.live.iter().copied().collect();
            for bit in &mut other {
                if !live.contains(bit) {
                    *bit = aig.input();
                }
            }
            if !in_reset {
                let live = self.said_of(&mut aig, &other)?.live;
                let unlike = Self::differing(&mut aig, &says.live, &live);
                granted.push(!aig.any(unlike));
            }
        }
        aig.look(&granted, &self.patterns, joining);
        let mutant = self.step(&mut aig, number, &other, &clock, case);
        if mutant.given != rtl.given {
            // It is not the same case for both.
            return Ok(Answer::GaveUp);
        }
        let mutant_after = match allowed {
            Allowed::Alike => self.said_of(&mut aig, &mutant.next)?.live,
            _ => mutant.next.clone(),
        };
        let mut open = Self::differing(&mut aig, &after, &mutant_after);
        if !in_reset {
            let mutant_says = self.said(&mut aig, &mutant)?;
            open.append(&mut self.seen(&mut aig, (&rtl, &says), (&mutant, &mutant_says)));
        }
        if open.iter().any(|bit| aig.shown(*bit)) {
            return Ok(Answer::Sometimes);
        }
        if !joining && !open.is_empty() {
            return Ok(Answer::GaveUp);
        }
        let mut sat = Sat::new(CONFLICTS);
        for bit in open {
            match sat.ask(&aig, &[&granted[..], &[bit]].concat()) {
                Answer::Never => {}
                other => return Ok(other),
            }
        }
        Ok(Answer::Never)
    }

    /// The first difference on the way from a reset; `Err` inside: there is none so near, or the solver gave up.
    fn search_from_reset(&self, number: u32) -> Result<Result<String, String>, String> {
        let mut aig = Aig::new();
        let mut sat = Sat::new(4 * CONFLICTS);
        let state = Self::inputs(&mut aig, self.circuit.state().len());
        let (mut rtl_state, mut mutant_state) = (state.clone(), state);
        let mut granted = Vec::new();
        for clocks in 0..=DEPTH {
            let clock = self.clock(&mut aig);
            let rtl = self.step(&mut aig, 0, &rtl_state, &clock, &[]);
            let mutant = self.step(&mut aig, number, &mutant_state, &clock, &[]);
            if clocks == 0 {
                granted.push(!self.released(&clock)?);
            } else {
                let rtl_says = self.said(&mut aig, &rtl)?;
                let mutant_says = self.said(&mut aig, &mutant)?;
                let seen = self.seen(&mut aig, (&rtl, &rtl_says), (&mutant, &mutant_says));
                let seen = aig.any(seen);
                match sat.ask(&aig, &[&granted[..], &[seen]].concat()) {
                    Answer::Never => {}
                    Answer::Sometimes => {
                        return Ok(Ok(format!(
                            "some inputs show it {} clocks after a reset",
                            clocks - 1
                        )));
                    }
                    Answer::GaveUp => {
                        return Ok(Err(format!(
                            "the search for a difference gave up {} clocks after a reset",
                            clocks - 1
                        )));
                    }
                }
            }
            (rtl_state, mutant_state) = (rtl.next, mutant.next);
        }
        Ok(Err(format!(
            "no difference within {} clocks of a reset",
            DEPTH - 1
        )))
    }
}
