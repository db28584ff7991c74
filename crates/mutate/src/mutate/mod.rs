//! Mutation: measures what the bench would catch. The mutator makes many small mistakes in the RTL. The ordinary
//! lock-step campaign judges each of them, and those that it does not catch go to a referee.
//!
//! There are two families. Each is ONE model for all its mutants: a number chosen when a model is opened
//! ([`Rtl::mutant`]) selects the mutant, and 0 selects none:
//!
//! * [`Family::Source`]: the SystemVerilog text ([`source`]): operators, comparisons, constants, swapped
//!   branches, stuck conditions, dropped operands, statements and resets;
//! * [`Family::Netlist`]: the netlist that Yosys makes of it ([`netlist`]): a bit of a port of a cell is inverted, stuck,
//!   or inverted when another bit is 0 or 1.
//!
//! There are four verdicts. *Caught*: RTL and golden model differed, or the RTL stopped the simulation. *Equivalent*:
//! the referee ([`equivalence`]) proved it. *Missed*: the referee found that some run from reset shows the mutant in
//! the bench, but the campaign contained no such run: a hole in the generators. *Undecided*: none of these.

pub(crate) mod abc;
pub(crate) mod aig;
pub(crate) mod circuit;
mod compared;
pub mod equivalence;
mod hunt;
pub mod netlist;
pub(crate) mod proof;
pub(crate) mod sat;
pub mod source;
mod summary;
pub(crate) mod text;
pub(crate) mod tool;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use equivalence::Referee;
pub use hunt::{Caught, Hunt, Hunted, Hunter};
use reconverge_bench::check::TestCase;
use reconverge_bench::design::{Build, Design};
use reconverge_bench::dut::{self, Make, Rtl};
use reconverge_bench::home::own_rtl;
use reconverge_bench::input::{InputError, read_text};
use reconverge_bench::json::hex;
use reconverge_bench::place::Place;
use reconverge_bench::saved::Saved;
use reconverge_bench::wave;
use reconverge_campaign::campaign::Drawn;
use reconverge_declaration::Declaration;
pub use summary::{Counts, Summary, VERDICTS};

/// File that lists the mutants of a folder.
pub const LIST: &str = "mutants.json";
/// File in that folder that defines [`source::SELECTED`].
pub const SELECTOR: &str = "reconverge_mutants.sv";

/// Where mutants are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// In the text of the RTL.
    Source,
    /// In the netlist that Yosys makes of it.
    Netlist,
}

impl Family {
    /// Returns the name of the family as it appears in names of runs and folders.
    pub fn name(self) -> &'static str {
        match self {
            Family::Source => "source",
            Family::Netlist => "netlist",
        }
    }
}

/// One mistake in the RTL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// Number of the mutant, from 1.
    pub number: u32,
    /// Module that contains it.
    pub module: String,
    /// File that contains it.
    pub file: String,
    /// Line in that file.
    pub line: usize,
    /// Kind of change.
    pub operator: String,
    /// Original text; for a netlist, the cell, port and bit.
    pub before: String,
    /// New text; empty where something is left out.
    pub after: String,
}

impl Mutant {
    /// Returns one line that says where the mistake is and what it is.
    pub fn describe(&self) -> String {
        let Mutant {
            number,
            file,
            line,
            operator,
            before,
            after,
            ..
        } = self;
        match after.as_str() {
            "" => format!("{number}  {file}:{line}  {operator}: {before}"),
            _ => format!("{number}  {file}:{line}  {operator}: {before}  ->  {after}"),
        }
    }
}

/// What to mutate, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Family.
    pub family: Family,
    /// How many mutants to make; `None`: all there are (for a netlist, which has no natural limit, [`netlist::DEFAULT`]).
    pub count: Option<usize>,
    /// Seed that selects mutants among the candidates; also the seed of the campaign that judges them. Never 0.
    pub seed: u64,
    /// Most cycles that the campaign may spend on one mutant.
    pub cycles: u64,
    /// Worker threads.
    pub jobs: usize,
    /// Numbers of the mutants to judge; empty: all.
    pub only: Vec<u32>,
    /// The RTL to mutate; `None`: our own.
    pub rtl: Option<PathBuf>,
    /// Models check SystemVerilog assertions in the files of the RTL's file list, so that these catch mutants too. Assertions in
    /// a file that binds itself to the RTL are not checked.
    pub assertions: bool,
    /// Folder for mutants and saved cases.
    pub out: PathBuf,
}

impl Options {
    /// Returns options for every mutant of the text of the RTL in `rtl`, with seed 1, at most 100,000 cycles for each mutant and
    /// one thread per processor; files go to `out`.
    pub fn new(rtl: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Options {
            family: Family::Source,
            count: None,
            seed: 1,
            cycles: 100_000,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            only: Vec::new(),
            rtl: Some(rtl.into()),
            assertions: false,
            out: out.into(),
        }
    }
}

/// Why mutation could not finish.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The RTL fails without a mutant.
    #[error("{0}")]
    Fails(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl From<String> for Trouble {
    fn from(e: String) -> Self {
        Trouble::Other(e)
    }
}

/// The mutants of a folder: [`LIST`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Unit.
    pub unit: String,
    /// Family.
    pub family: Family,
    /// Seed that chose them.
    #[serde(with = "hex")]
    pub seed: u64,
    /// Number of lanes of the netlist, or of the build in which the text was first compiled.
    pub lanes: u32,
    /// Parameters of the same build.
    pub parameters: BTreeMap<String, u32>,
    /// Number of candidates among which the mutants were chosen; `None` if they were not counted.
    pub candidates: Option<usize>,
    /// Parts of the text that the mutator does not read, as `file:line: what`.
    #[serde(default)]
    pub unread: Vec<String>,
    /// The mutants in the order of their numbers, from 1 without gaps.
    pub mutants: Vec<Mutant>,
}

/// Checks that the RTL in `dir` contains mutant `number`. An error names `file` as its source.
///
/// # Errors
/// `dir` is not a folder of mutants, or has fewer mutants.
pub fn check_number(dir: &Path, number: u32, file: &str) -> Result<(), InputError> {
    let bad = |why: String| InputError::new(file, 0, "mutant", why);
    let list = dir.join(LIST);
    let text = read_text(&list).map_err(|e| bad(format!("{e}: is it a folder of mutants?")))?;
    let list: List = serde_json::from_str(&text)
        .map_err(|e| bad(format!("{}:{}: {e}", list.display(), e.line())))?;
    let most = list.mutants.len();
    if number as usize > most {
        return Err(bad(format!(
            "the mutants of {} are 1 to {most}, not {number}",
            dir.display()
        )));
    }
    Ok(())
}

/// Returns `count` items of `all`, chosen by `seed`, in their original order.
fn choose<T>(all: Vec<T>, count: Option<usize>, seed: u64) -> Vec<T> {
    let count = count.unwrap_or(all.len()).min(all.len());
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
    order.truncate(count);
    order.sort_unstable();
    let mut wanted = order.into_iter().peekable();
    all.into_iter()
        .enumerate()
        .filter(|(i, _)| wanted.next_if_eq(i).is_some())
        .map(|(_, one)| one)
        .collect()
}

/// A folder of mutants that is being written file by file.
struct Folder {
    dir: PathBuf,
}

impl Folder {
    /// Creates the folder. If `dir` is already a folder of mutants, deletes it first.
    fn new(dir: PathBuf) -> Result<Self, String> {
        let shown = |e: std::io::Error| format!("{}: {e}", dir.display());
        if dir.join(LIST).is_file() {
            std::fs::remove_dir_all(&dir).map_err(shown)?;
        }
        std::fs::create_dir_all(&dir).map_err(shown)?;
        Ok(Folder { dir })
    }
    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        wave::write_whole(&self.dir.join(name), text)
    }
}

/// A package with the number of the mutant. It reads the number once, before anything moves.
const SELECTOR_TEXT: &str = "\
// Which mutant this model is; 0: none.
package reconverge_mutants;
  function automatic int unsigned chosen();
    if ($value$plusargs(\"reconverge_mutant=%d\", chosen) == 0) chosen = 0;
  endfunction
  int unsigned selected = chosen();
endpackage
";

/// The mutants of `D`, made and built, ready to be judged.
pub struct Mutants<D: Design> {
    /// The list of the mutants.
    pub list: List,
    /// Folder of the mutants.
    pub dir: PathBuf,
    rtl: Rtl<D>,
    from: Origin,
    /// Folder of the RTL without mutants.
    origin: PathBuf,
    /// Made when the campaign does not catch a mutant for the first time: the proofs that the referee starts with can take
    /// minutes, and it is not needed earlier.
    referee: OnceLock<Result<Referee, String>>,
}

/// Returns the folder below `out` for the mutants of a run.
fn folder_of<D: Design>(options: &Options) -> PathBuf {
    let name = format!("{}.{}.{:x}", D::NAME, options.family.name(), options.seed);
    let dir = options.out.join("mutants").join(name);
    std::path::absolute(&dir).unwrap_or(dir)
}

impl<D: Design> Mutants<D> {
    /// Makes the mutants and builds one model of all of them.
    ///
    /// # Errors
    /// The mutator or a tool does not understand the RTL; Yosys is missing (netlist); a folder cannot be written.
    pub fn make(options: &Options, build: &Build) -> Result<Self, Trouble> {
        let rtl_dir = rtl_in::<D>(options.rtl.as_deref())?;
        let mut from = Origin::of::<D>(&rtl_dir, build)?;
        let dir = folder_of::<D>(options);
        let folder = Folder::new(dir.clone())?;
        let list = match options.family {
            Family::Source => text::make(&from, options, &folder)?,
            Family::Netlist => match netlist::make(&from, options, &folder) {
                Err(Trouble::Other(why)) if netlist::line_of(&from.texts, &why).is_some() => {
                    from = from.for_slang(&rtl_dir, &why)?;
                    let list = netlist::make(&from, options, &folder);
                    list.map_err(|e| netlist::not_read(&rtl_dir, &from, &e.to_string()))?
                }
                made => made?,
            },
        };
        folder.write(SELECTOR, SELECTOR_TEXT)?;
        let text = serde_json::to_string_pretty(&list).map_err(|e| e.to_string())?;
        folder.write(LIST, &(text + "\n"))?;
        let make = Make {
            assertions: options.assertions,
            ..Make::of(Some(&dir))
        };
        let rtl = Rtl::make(build.clone(), &make).map_err(|e| match e.as_input(None) {
            Some(bad) => Trouble::Input(bad),
            None => Trouble::Other(e.to_string()),
        })?;
        Ok(Mutants {
            list,
            dir,
            rtl,
            from,
            origin: rtl_dir,
            referee: OnceLock::new(),
        })
    }

    fn referee(&self, stop: &AtomicBool) -> Result<&Referee, String> {
        let new = || {
            let of = |from: &Origin| Referee::new(from, &self.list, &self.dir, stop);
            match of(&self.from) {
                Err(why) if netlist::line_of(&self.from.texts, &why).is_some() => {
                    let from = self.from.for_slang(&self.origin, &why);
                    let from = from.map_err(|e| e.to_string())?;
                    let not_read = |why: String| netlist::not_read(&self.origin, &from, &why);
                    of(&from).map_err(|why| not_read(why).to_string())
                }
                referee => referee,
            }
        };
        self.referee
            .get_or_init(new)
            .as_ref()
            .map_err(String::clone)
    }

    /// Returns why there is no referee, if one was needed.
    pub fn no_referee(&self) -> Option<&str> {
        self.referee.get()?.as_ref().err().map(String::as_str)
    }
}

/// Returns the folder of the RTL: `dir`, or if there is none, that of our own.
pub(crate) fn rtl_in<D: Design>(dir: Option<&Path>) -> Result<PathBuf, String> {
    match dir {
        Some(dir) => Ok(dir.to_owned()),
        None => own_rtl::<D>().map_err(|e| e.to_string()),
    }
}

/// Returns a pool of `jobs` threads.
pub(crate) fn threads(jobs: usize) -> Result<rayon::ThreadPool, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    pool.map_err(|e| e.to_string())
}

/// Names and contents of files.
type Texts = Vec<(String, String)>;

/// RTL of one folder.
#[derive(Clone)]
pub(crate) struct Origin {
    pub unit: &'static str,
    /// Name of the top module.
    pub top: String,
    /// Port of the clock.
    pub clock: String,
    /// How many clocks there are, if not one.
    several: usize,
    /// Port of the reset; `true` if the reset is active high.
    pub reset: Option<(String, bool)>,
    /// The reset is asynchronous.
    pub resets_at_once: bool,
    pub texts: Texts,
    /// The files of the texts, for messages.
    pub files: Vec<PathBuf>,
    /// Front end that reads the texts for proofs.
    pub front_end: netlist::FrontEnd,
    /// RTL with the packages that the assertions name, if that is not `texts`.
    pub packages: Option<Texts>,
    /// What is compared, with the probes that locate the state.
    pub declared: Declaration,
    /// All parameters with their values.
    pub values: Vec<(String, u32)>,
    /// Name and text of the formal file: what the referee may know of the unit.
    pub formal: Option<(String, String)>,
    build: Build,
}

impl Origin {
    /// Returns the reset, if it is asynchronous.
    pub(crate) fn asynchronous(&self) -> Option<(&str, bool)> {
        let reset = self.reset.as_ref().filter(|_| self.resets_at_once);
        reset.map(|(port, high)| (port.as_str(), *high))
    }

    /// Checks that there is one clock at most: a step of a proof is one cycle of it.
    ///
    /// # Errors
    /// There are several.
    pub(crate) fn one_clock(&self) -> Result<(), String> {
        match self.several {
            0 => Ok(()),
            n => Err(format!(
                "{} has {n} clocks, and a proof takes one: declare the module on each side of the crossing in a crate of its own",
                self.unit
            )),
        }
    }

    /// Reads the RTL of `D` in `dir` for a proof.
    ///
    /// # Errors
    /// A file cannot be read; the design has several clocks.
    pub(crate) fn for_proof<D: Design>(dir: &Path, build: &Build) -> Result<Self, Trouble> {
        let from = Self::of::<D>(dir, build)?;
        let bad = |why| InputError::new(dir.to_string_lossy(), 0, "clock", why);
        from.one_clock().map_err(bad)?;
        Ok(from)
    }

    pub(crate) fn of<D: Design>(dir: &Path, build: &Build) -> Result<Self, Trouble> {
        let (files, texts) = dut::texts_of::<D>(dir)?;
        let mut declared = dut::declared::<D>().map_err(InputError::from)?;
        let (_, mut probes) = declared.probes_in(dir, D::DECLARATION.toml, read_text)?;
        // A bound file could catch a mutant before the comparison does, and a netlist no longer has the names that it is bound to.
        probes.assertions = None;
        let reset = declared.reset().and_then(|(pin, level)| {
            let port = pin.ports.first()?.name.clone();
            Some((port, level == reconverge_declaration::Level::High))
        });
        let resets_at_once = declared.pins.iter().any(|pin| pin.asynchronous);
        let several = declared.clocks().count();
        declared.probes = probes;
        let lanes = declared.lanes.iter();
        let lanes = lanes.map(|lanes| (lanes.parameter.clone(), build.lanes));
        let others = D::PARAMETERS.iter();
        let others = others.map(|p| (p.name.to_owned(), build.value::<D>(p.name)));
        Ok(Origin {
            unit: D::NAME,
            top: declared.top.clone(),
            clock: declared.clock.clone(),
            several,
            reset,
            resets_at_once,
            texts,
            files,
            front_end: netlist::FrontEnd::Yosys,
            packages: None,
            values: lanes.chain(others).collect(),
            formal: dut::formal_of::<D>(dir),
            declared,
            build: build.clone(),
        })
    }

    fn list(&self, options: &Options, candidates: Option<usize>, mutants: Vec<Mutant>) -> List {
        List {
            unit: self.unit.to_owned(),
            family: options.family,
            seed: options.seed,
            lanes: self.build.lanes,
            parameters: self.build.parameters.clone(),
            candidates,
            unread: Vec::new(),
            mutants,
        }
    }
}

// ---- judging ----------------------------------------------------------------------------------------

/// How the campaign caught a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catch {
    /// Number of the case in the campaign.
    pub case: u64,
    /// Kind of the case.
    pub kind: String,
    /// How and where the case failed.
    pub place: Place,
    /// File of the saved case, in the folder of the mutants.
    pub saved: String,
}

/// Verdict on a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The campaign caught it.
    Caught(Catch),
    /// The bench can see it, but the campaign did not: how it can be seen.
    Missed(String),
    /// The bench cannot see it: how that was proved.
    Equivalent(String),
    /// Neither caught nor proved equivalent nor shown to differ: why not.
    Undecided(String),
}

impl Verdict {
    /// Returns the name of the verdict as it appears in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Caught(_) => "caught",
            Verdict::Missed(_) => "missed",
            Verdict::Equivalent(_) => "equivalent",
            Verdict::Undecided(_) => "undecided",
        }
    }
}

/// A mutant and its verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The mutant.
    pub mutant: Mutant,
    /// Verdict on it.
    pub verdict: Verdict,
    /// Cycles that the campaign compared, over all its cases.
    pub cycles: u64,
}

/// Cycles after which the referee tries to prove a mutant equivalent, so that the campaign spends no more cycles on those
/// that are. Within this many cycles the campaign catches most mutants that it can catch.
const FIRST: u64 = 100_000;

/// Makes mutants and judges them: first by a campaign of such cases in this process, then by proofs those that no case catches.
///
/// # Errors
/// As [`Mutants::make`] and [`Mutants::judge`].
pub fn by_campaign<C: Drawn>(options: &Options, build: &Build) -> Result<Summary, Trouble> {
    let mutants = Mutants::<C::Design>::make(options, build)?;
    let hunter = mutants.hunter::<C>(options);
    mutants.judge(options, &hunter, &AtomicBool::new(false), |_, _| ())
}

impl<D: Design> Mutants<D> {
    /// Returns the RTL that contains all mutants.
    pub fn rtl(&self) -> &Rtl<D> {
        &self.rtl
    }

    /// Returns a hunter that runs a campaign of such cases in this process.
    pub fn hunter<C: Drawn<Design = D>>(
        &self,
        options: &Options,
    ) -> impl Fn(u32, Hunt<C>, u64) -> Hunted<C> + Sync {
        let seed = options.seed;
        move |number, mut hunt, budget| {
            let rtl = self.rtl.clone().mutant(number);
            while !hunt.over(budget) {
                hunt.go_on(&rtl, seed, &mut |_| ())?;
            }
            Ok(hunt)
        }
    }

    /// Judges all mutants that `options` asks for, until `stop` is set; verdicts reached before that count. `progress` receives
    /// how many mutants have been judged, and of how many.
    ///
    /// # Errors
    /// The model with no mutant selected differs from the golden model; a model cannot be opened; a case cannot be saved;
    /// `options.only` names a mutant that does not exist.
    pub fn judge<C: TestCase<Design = D>>(
        &self,
        options: &Options,
        hunter: &Hunter<C>,
        stop: &AtomicBool,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Summary, Trouble> {
        let pool = threads(options.jobs)?;
        for number in &options.only {
            if *number == 0 || *number as usize > self.list.mutants.len() {
                let why = format!("must be 1 to {}, not {number}", self.list.mutants.len());
                return Err(InputError::option("--only", why).into());
            }
        }
        let asked = |m: &&Mutant| options.only.is_empty() || options.only.contains(&m.number);
        let wanted: Vec<&Mutant> = self.list.mutants.iter().filter(asked).collect();
        // The yardstick: the model with no mutant selected must agree with the golden model.
        let summary = |yardstick, judged| Summary {
            list: self.list.clone(),
            dir: self.dir.clone(),
            cycles: options.cycles,
            yardstick,
            wanted: wanted.len(),
            judged,
        };
        let none = match hunter(0, Hunt::default(), options.cycles) {
            // Without the yardstick nothing can be judged.
            Err(_) if stop.load(Ordering::Relaxed) => return Ok(summary(0, Vec::new())),
            hunted => hunted?,
        };
        if let Some(caught) = none.caught {
            let saved = self.save(0, caught)?.saved;
            return Err(Trouble::Fails(format!(
                "the RTL fails without a mutant; the case is saved as {saved}"
            )));
        }
        if none.cycles == 0 {
            return Err(Trouble::Other("nothing was compared".to_owned()));
        }
        let done = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let over = || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
        let judged: Result<Vec<Option<Judged>>, String> = pool.install(|| {
            wanted
                .par_iter()
                .with_max_len(1)
                .map(|mutant| {
                    if over() {
                        return Ok(None);
                    }
                    let one = self.judge_one(mutant, options, hunter, stop);
                    // A mutant left undecided by the interruption has no verdict.
                    if stop.load(Ordering::Relaxed) {
                        let decided = |j: &Judged| !matches!(j.verdict, Verdict::Undecided(_));
                        return Ok(one.ok().filter(decided));
                    }
                    failed.fetch_or(one.is_err(), Ordering::Relaxed);
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, wanted.len());
                    one.map(Some)
                })
                .collect()
        });
        let judged: Vec<Judged> = judged?.into_iter().flatten().collect();
        Ok(summary(none.cycles, judged))
    }

    fn judge_one<C: TestCase<Design = D>>(
        &self,
        mutant: &Mutant,
        options: &Options,
        hunter: &Hunter<C>,
        stop: &AtomicBool,
    ) -> Result<Judged, String> {
        let number = mutant.number;
        let mut hunt = hunter(number, Hunt::default(), options.cycles.min(FIRST))?;
        let ask = |question: fn(&Referee, u32, &AtomicBool) -> Result<Verdict, String>| {
            let referee = self.referee(stop);
            let said = referee.and_then(|referee| question(referee, number, stop));
            said.unwrap_or_else(Verdict::Undecided)
        };
        let mut said = Verdict::Undecided("the referee was not asked".to_owned());
        if hunt.caught.is_none() {
            said = ask(Referee::prove);
            if !matches!(said, Verdict::Equivalent(_)) {
                hunt = hunter(number, hunt, options.cycles)?;
                if hunt.caught.is_none() {
                    said = match (said, ask(Referee::refute)) {
                        (Verdict::Undecided(a), Verdict::Undecided(b)) if a != b => {
                            Verdict::Undecided(format!("{a}, and {b}"))
                        }
                        (_, second) => second,
                    };
                }
            }
        }
        let verdict = match hunt.caught {
            Some(caught) => Verdict::Caught(self.save(number, caught)?),
            None => said,
        };
        Ok(Judged {
            mutant: mutant.clone(),
            verdict,
            cycles: hunt.cycles,
        })
    }

    /// Saves the case that caught a mutant.
    fn save<C: TestCase<Design = D>>(
        &self,
        number: u32,
        caught: Caught<C>,
    ) -> Result<Catch, String> {
        let Caught {
            case,
            kind,
            mut failure,
        } = caught;
        failure
            .case
            .on_rtl(Some(&self.dir), self.rtl.no_assert(), Some(number));
        let path = self.dir.join("caught").join(format!("{number:04}.json"));
        wave::write_whole(&path, &Saved::from(&failure).to_text())?;
        Ok(Catch {
            case,
            kind,
            place: failure.place(),
            saved: path.to_string_lossy().into_owned(),
        })
    }
}
