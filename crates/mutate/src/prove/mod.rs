//! Proofs: what holds for the RTL in all states and for all inputs, not only in those that a campaign reaches.
//!
//! Yosys reads the RTL and the files about it: the assertions of `rtl/<unit>/<unit>_sva.sv`, and in
//! `rtl/<unit>` a naive description of one cycle (`<unit>_step.sv`) and further properties (`<unit>_properties.sv`). All of it
//! becomes one and-inverter graph. For one property, register or lane at a time, a SAT solver looks for a state and
//! inputs that break it. `docs/proofs.md` says what follows from the answers, and what does not.
//!
//! A property that cannot fail does not count as proved: each property has a fault of the RTL (`proofs.json`) that it must
//! refute, and covers show that the cycles that it is about exist.

mod ask;
mod controls;
mod files;
mod mutants;
mod questions;
mod reach;
mod shared;
mod shown;
mod step;
mod theorem;
mod threads;
mod world;

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::{self, Debug, Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::mutate::aig::Lit;
use crate::mutate::netlist::{FrontEnd, has_slang, line_of, not_read};
pub use crate::mutate::sat::SOLVER;
use crate::mutate::{Origin, Trouble, rtl_in};
pub use files::{Edit, Fault};
use files::{Files, check_names, files_of};
pub use mutants::{Compared, Comparison, Sample, mutants};
pub use questions::Method;
use questions::Questions;
use reconverge_bench::design::{Build, Design};
use reconverge_bench::input::InputError;
use reconverge_bench::stream::Stream;
use shared::{Shared, Work};
pub use step::{StepModule, Values};
pub use theorem::TheoremVerdict;
use world::{SideModules, Unit};

/// Beginning of the names of the properties of `scalar.sv`.
const SCALAR: &str = "scalar_";
/// The property that permuted lanes have permuted results, for two lanes or more.
const ALIKE: &str = "lanes alike";

/// Verdict on a property.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The property holds; a cover was reached.
    Holds,
    /// The property does not hold, with a counterexample.
    Refuted(Box<Counterexample>),
    /// A cover cannot be reached.
    Unreachable,
    /// Not decided in the time allowed.
    Undecided,
}

impl Verdict {
    /// Returns the name of the verdict as it appears in tables.
    pub fn name(&self, method: Method) -> &'static str {
        match self {
            Verdict::Holds if method == Method::Cover => "reached",
            Verdict::Holds => "holds",
            Verdict::Refuted(_) => "REFUTED",
            Verdict::Unreachable => "UNREACHABLE",
            Verdict::Undecided => "UNDECIDED",
        }
    }
}

/// A property and its verdict.
#[derive(Clone, Debug)]
pub struct Proved {
    /// Name of the property.
    pub name: String,
    /// Method of its proof.
    pub method: Method,
    /// Number of questions asked, one for each lane or register.
    pub questions: usize,
    /// Number of questions that the solver answered with a proof that our checker accepted.
    pub checked: usize,
    /// Invariants that were premises of some question. A property that holds follows from these.
    pub premises: Vec<String>,
    /// Verdict on it.
    pub verdict: Verdict,
    /// The lane or register that was not proved, if there are several.
    pub place: String,
    /// Time until the verdict.
    pub time: Duration,
    /// For a refuted property, the inputs of a path from reset to a cycle that breaks it, if one was found.
    way: Option<reach::Way>,
}

impl Proved {
    /// Tells whether it is a property that holds: neither open nor a cover.
    fn is_proved(&self) -> bool {
        self.method != Method::Cover && matches!(self.verdict, Verdict::Holds)
    }

    /// Returns the path from reset to a cycle that breaks the property as a stream of pins of `D`, if one was found.
    ///
    /// # Errors
    /// The declaration of the design cannot be read.
    pub fn stream<D: Design>(&self, build: &Build) -> Result<Option<Stream<D>>, Trouble> {
        let name = format!("prove.{}", self.file_name());
        let way = self.way.as_ref();
        way.map(|way| reach::stream(way, &name, build)).transpose()
    }
}

/// A planted fault, and how the properties that it concerns ended.
#[derive(Clone, Debug)]
pub struct Control {
    /// The fault.
    pub fault: Fault,
    /// Properties that the fault should have refuted and did not, and properties that it should not have refuted and did, each
    /// with what happened.
    pub survived: Vec<(String, &'static str)>,
    /// Time for all its properties.
    pub time: Duration,
}

/// A cycle that breaks a property.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// Ports: name, and bits from the lowest.
    pub ports: Vec<(String, Vec<bool>)>,
    /// Registers and memories.
    pub registers: Vec<Register>,
}

/// A register in a counterexample; bits from the lowest.
#[derive(Clone, Debug)]
pub struct Register {
    /// Name of the register.
    pub name: String,
    /// Value before the cycle.
    pub before: Vec<bool>,
    /// Value after the cycle in the RTL.
    pub rtl: Vec<bool>,
    /// Value after the cycle by the naive step; `None` without a naive step.
    pub step: Option<Vec<bool>>,
}

/// How to prove a unit.
#[derive(Clone, Debug)]
pub struct Options {
    /// Build of the unit.
    pub build: Build,
    /// RTL of the unit; `None`: our own.
    pub rtl: Option<PathBuf>,
    /// Read the RTL with slang instead of Yosys' own front end.
    pub slang: bool,
    /// Prove only properties whose names begin with one of these; empty: all.
    pub only: Vec<String>,
    /// Skip properties whose names begin with one of these.
    pub skip: Vec<String>,
    /// Plant the faults too.
    pub controls: bool,
    /// Processor time for one question.
    pub time: Duration,
    /// Processor time after which a question is divided into cases, if the unit has any; zero: divided at once.
    pub divide_after: Duration,
    /// Most cycles of the path from reset that is searched for after a property is refuted; 0: no search.
    pub reach: u32,
    /// Believe the solver without a proof when it answers that no such cycle exists.
    pub believe: bool,
    /// Folder, which must exist, where the clauses and the proof of each such answer are kept.
    pub proofs: Option<PathBuf>,
}

impl Options {
    /// Returns the options of `reconverge prove` without arguments, for the RTL in `rtl`: every property, and the faults.
    pub fn new(rtl: impl Into<PathBuf>, build: impl Into<Build>) -> Self {
        Options {
            build: build.into(),
            rtl: Some(rtl.into()),
            slang: false,
            only: Vec::new(),
            skip: Vec::new(),
            controls: true,
            time: Duration::from_secs(300),
            divide_after: Duration::from_secs(30),
            reach: 12,
            believe: false,
            proofs: None,
        }
    }

    /// Tells whether these options ask for property `name`.
    fn asks(&self, name: &str) -> bool {
        let begins = |with: &String| name.starts_with(with.as_str());
        (self.only.is_empty() || self.only.iter().any(begins)) && !self.skip.iter().any(begins)
    }

    /// Tells whether they may ask for some property whose name begins with `begin`.
    fn asks_some(&self, begin: &str) -> bool {
        let may = |only: &String| only.starts_with(begin) || begin.starts_with(only.as_str());
        let none = |skip: &String| begin.starts_with(skip.as_str());
        (self.only.is_empty() || self.only.iter().any(may)) && !self.skip.iter().any(none)
    }
}

/// What was not proved, and why. `Debug` prints the same as `Display`, so that `unwrap` in a test is readable.
pub struct NotProved(String);

impl Display for NotProved {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Debug for NotProved {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for NotProved {}

/// The results of a unit's proofs.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the unit.
    pub unit: &'static str,
    /// Build of the unit.
    pub build: Build,
    /// Its properties, with the covers last.
    pub proved: Vec<Proved>,
    /// Faults that were planted.
    pub controls: Vec<Control>,
    /// Proved properties that no fault or mutant is known to refute.
    pub uncontrolled: Vec<String>,
    /// Number of properties and faults to ask.
    pub wanted: usize,
    /// Why some of them were not asked.
    pub stopped: Option<String>,
    /// All of them were asked. `false` while proofs are running.
    pub complete: bool,
}

impl Report {
    /// Returns how many properties and faults have been asked so far.
    pub fn done(&self) -> usize {
        self.proved.len() + self.controls.len()
    }

    /// Tells whether some property was refuted.
    pub fn refuted(&self) -> bool {
        let mut all = self.proved.iter();
        all.any(|p| matches!(p.verdict, Verdict::Refuted(_)))
    }

    /// Returns the invariants on which the properties that hold rest, and which were not asked, because of [`Options::only`] or
    /// [`Options::skip`].
    pub fn assumed(&self) -> Vec<&str> {
        let asked: BTreeSet<&str> = self.proved.iter().map(|p| &*p.name).collect();
        let rests_on = self.proved.iter().flat_map(|p| &p.premises);
        let rests_on: BTreeSet<&str> = rests_on.map(String::as_str).collect();
        rests_on.difference(&asked).copied().collect()
    }

    /// Checks that everything that was asked was proved; [`Report::assumed`] tells what it rests on besides.
    ///
    /// # Errors
    /// What was refuted, each with its counterexample, and what is open.
    pub fn accepted(&self) -> Result<(), NotProved> {
        let open = self.open();
        if !self.refuted() && open.is_empty() {
            return Ok(());
        }
        let mut said = String::new();
        for proved in &self.proved {
            if let Verdict::Refuted(cycle) = &proved.verdict {
                said += &format!("{}\n{cycle}", proved.headline());
            }
        }
        for line in open {
            said += &format!("{line}\n");
        }
        Err(NotProved(said))
    }

    /// Returns, line by line, why this is not a complete proof even if nothing was refuted.
    pub fn open(&self) -> Vec<String> {
        let mut open = Vec::new();
        if let Some(why) = &self.stopped {
            let (done, wanted) = (self.done(), self.wanted);
            open.push(format!(
                "{why}: {done} of {wanted} properties and faults were asked until then"
            ));
        }
        for p in &self.proved {
            match p.verdict {
                Verdict::Undecided => open.push(format!("{} is undecided: {}", p.name, p.place)),
                Verdict::Unreachable => open.push(format!("{} cannot be reached", p.name)),
                Verdict::Holds | Verdict::Refuted(_) => {}
            }
        }
        for c in &self.controls {
            let Fault { file, to, .. } = &c.fault;
            for (name, why) in &c.survived {
                open.push(format!("{name} {why} with the fault {to:?} in {file}"));
            }
        }
        for name in &self.uncontrolled {
            open.push(format!("{name}: no fault is planted that it must detect"));
        }
        open
    }

    /// Returns the faults that property `name` must refute, each with whether it did.
    pub fn controls_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a Control, bool)> {
        let of_it = move |c: &&Control| c.fault.refutes.iter().any(|n| n == name);
        let survived = move |c: &Control| c.survived.iter().any(|(n, _)| n == name);
        self.controls
            .iter()
            .filter(of_it)
            .map(move |c| (c, !survived(c)))
    }
}

/// Proves all properties of `D` in `jobs` threads. The properties of a unit with a package are in the files of that package; those of
/// another unit are in files beside its RTL (`NAME_formal.sv`, `NAME_sva.sv` or the file that the declaration binds, `NAME_step.sv`,
/// `NAME_properties.sv`; `docs/proofs.md`). The function also plants the faults. For a unit without a package, some mutant of the text
/// must refute each property that has no fault. Before each property and each fault, and after each question of a property, `progress`
/// receives the report so far and what is asked next. If `stop` is set or the solver fails, the report covers what was asked until then,
/// and says so.
///
/// # Errors
/// A file is missing or not understood; Yosys or the solver is missing; `stop` is set before the first question.
pub fn prove<D: Design>(
    options: &Options,
    jobs: usize,
    stop: &AtomicBool,
    mut progress: impl FnMut(&Report, &str) + Send,
) -> Result<Report, Trouble> {
    let rtl_dir = rtl_in::<D>(options.rtl.as_deref())?;
    let mut from = Origin::for_proof::<D>(&rtl_dir, &options.build)?;
    let (mut files, plan) = files_of::<D>(&rtl_dir)?;
    let lanes = options.build.lanes as usize;
    let wanted = |name: &str| options.asks(name);
    // With many lanes and a deep stack the scalar machine is most of the graph.
    if !options.asks_some(SCALAR) {
        files.scalar = None;
    }

    let beside = read_side_modules::<D>(&mut from, &files, (&rtl_dir, options), stop)?;
    let unit = read_unit::<D>(&mut from, &beside, (&rtl_dir, options), stop)?;
    let mut questions = Questions::of(&unit, &plan, lanes)?;
    let names = questions.properties.iter().map(|p| p.name.clone());
    let known: Vec<String> = names.collect();
    check_names(&plan, &known, files.scalar.is_some(), lanes)?;
    if !known.iter().any(|name| wanted(name)) {
        let (names, known) = (options.only.join(" or "), known.join(", "));
        let (option, which) = match (&options.only[..], &options.skip[..]) {
            ([], _) => ("--skip", "no property is left".to_owned()),
            (_, []) => ("--only", format!("no property begins with {names}")),
            _ => (
                "--only",
                format!("--skip leaves none that begins with {names}"),
            ),
        };
        return Err(InputError::option(option, format!("{which}; there are {known}")).into());
    }
    let properties = std::mem::take(&mut questions.properties);
    let asked = || properties.iter().filter(|p| wanted(&p.name));
    let mut faults = Vec::new();
    for fault in plan.faults.iter().filter(|_| options.controls) {
        let mut fault = fault.clone();
        let there = |name: &String| wanted(name) && (lanes > 1 || name != ALIKE);
        fault.refutes.retain(there);
        fault.keeps.retain(there);
        let mut with = fault.with.iter();
        let planted = with.all(|(name, value)| options.build.value::<D>(name) == *value);
        if planted && !(fault.refutes.is_empty() && fault.keeps.is_empty()) {
            faults.push(fault);
        }
    }
    let properties = asked().map(Work::Property);
    let work: Vec<Work> = properties.chain(faults.iter().map(Work::Fault)).collect();
    let report = Report {
        unit: D::NAME,
        build: options.build.clone(),
        proved: Vec::new(),
        controls: Vec::new(),
        uncontrolled: Vec::new(),
        wanted: work.len(),
        stopped: None,
        complete: false,
    };
    let shared = Shared {
        from: &from,
        files: &files,
        beside: &beside,
        unit: &unit,
        plan: &plan,
        options,
        stop,
        work: &work,
    };
    let mut report = shared.done_by(jobs, questions, report, &mut progress)?;
    if options.controls {
        let properties = report.proved.iter().filter(|p| p.is_proved());
        let alone = |name: &&String| !plan.faults.iter().any(|f| f.refutes.contains(name));
        report.uncontrolled = properties.map(|p| &p.name).filter(alone).cloned().collect();
        if D::package().is_none() && report.stopped.is_none() {
            controls::by_mutants(&shared, &mut report, &mut progress);
        }
    }
    report.complete = report.stopped.is_none();
    Ok(report)
}

/// Returns what the assertions of `D`, and the files that make premises of its proofs, leave undetermined, as `FILE: NAME`: a
/// variable that is read before it is assigned. Yosys gives it some value, and what is proved holds with that value alone.
/// `assertions` is a text that replaces the unit's own assertions.
///
/// # Errors
/// As [`prove`]; a question is not answered within a minute of processor time.
pub fn undetermined<D: Design>(
    build: &Build,
    assertions: Option<String>,
    stop: &AtomicBool,
) -> Result<Vec<String>, Trouble> {
    let rtl = rtl_in::<D>(None)?;
    let from = Origin::for_proof::<D>(&rtl, build)?;
    let (mut files, _) = files_of::<D>(&rtl)?;
    if let (Some(file), Some(text)) = (&mut files.assertions, assertions) {
        file.text = text;
    }
    let time = Duration::from_secs(60);
    SideModules::undetermined(&from, &files, time, stop)
}

/// Makes slang the reader of the RTL of `D`. Yosys still reads the assertions, with the packages of our own RTL.
///
/// # Errors
/// Our own RTL cannot be read.
fn by_slang<D: Design>(from: &mut Origin, build: &Build) -> Result<(), Trouble> {
    from.front_end = FrontEnd::Slang;
    from.packages = Some(match D::package() {
        Some(_) => Origin::of::<D>(&rtl_in::<D>(None)?, build)?.texts,
        None => Vec::new(),
    });
    Ok(())
}

/// Reads `files` beside the RTL `from`, which lies in `dir`, and decides which front end reads the RTL. Slang reads it if `options` ask
/// for slang, or if the RTL is the user's, Yosys does not read it, and slang is installed.
fn read_side_modules<D: Design>(
    from: &mut Origin,
    files: &Files,
    (dir, options): (&Path, &Options),
    stop: &AtomicBool,
) -> Result<SideModules, Trouble> {
    if options.slang {
        by_slang::<D>(from, &options.build)?;
    }
    match SideModules::read(from, files, stop) {
        Err(Trouble::Other(why)) if is_for_slang::<D>(from, options, &why) => {
            if !has_slang() {
                return Err(not_read(dir, from, &why));
            }
            by_slang::<D>(from, &options.build)?;
            Ok(SideModules::read(from, files, stop)?)
        }
        read => Ok(read?),
    }
}

/// Reads the RTL `from` of `D`, which lies in `dir`, with slang if Yosys does not read it: where nothing beside it takes its packages,
/// [`read_side_modules`] has not read it.
fn read_unit<'b, D: Design>(
    from: &mut Origin,
    beside: &'b SideModules,
    (dir, options): (&Path, &Options),
    stop: &AtomicBool,
) -> Result<Unit<'b>, Trouble> {
    let mut read = Unit::read(from, &from.texts, beside, stop);
    if let Err(why) = &read
        && from.front_end == FrontEnd::Yosys
        && has_slang()
        && is_for_slang::<D>(from, options, why)
    {
        by_slang::<D>(from, &options.build)?;
        read = Unit::read(from, &from.texts, beside, stop);
    }
    read.map_err(|why| not_read(dir, from, &why))
}

/// Tells whether `why`, a message of Yosys, is about the RTL and the RTL is the user's: Yosys is known to read our own.
fn is_for_slang<D: Design>(from: &Origin, options: &Options, why: &str) -> bool {
    let ours = options.rtl.is_none() && D::package().is_some();
    !ours && line_of(&from.texts, why).is_some()
}

impl Counterexample {
    fn of(unit: &Unit<'_>, all: &Questions, inputs: &HashMap<Lit, u64>) -> Self {
        let values = all.aig.evaluate(inputs);
        let bit = |lit: &Lit| values.of(*lit) & 1 == 1;
        let bits = |lits: &[Lit]| lits.iter().map(bit).collect::<Vec<_>>();
        let named = |name: &str| bits(&unit.named(name, &all.now).unwrap_or_default());
        let said = all.step.iter().filter_map(|(name, lits)| {
            let register = name.strip_prefix("next__")?;
            Some((register.to_owned(), Some(bits(lits))))
        });
        let said: Vec<_> = match unit.has_step() {
            true => said.collect(),
            false => unit.registers().into_iter().map(|n| (n, None)).collect(),
        };
        let registers = said.into_iter().map(|(name, step)| Register {
            before: named(&name),
            rtl: named(&format!("next__{name}")),
            step,
            name: name.replace("__", "."),
        });
        Counterexample {
            ports: unit.inputs(&all.now, &values),
            registers: registers.collect(),
        }
    }
}
