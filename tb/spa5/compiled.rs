//! Unit spa5 in lock-step, beyond what `programs` asks of every unit: what compilers made, against what
//! they say of it themselves; BRX; a full stack; and programs without any structure.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::rtl::Rtl as Folder;
use crate::common::{
    ROOT, Tested, arg, imported_programs, line_starting, mismatch, program, reconverge_ends,
};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reconverge::case::{Case, Conditions};
use reconverge::design::Build;
use reconverge::dut::{Dut, Rtl};
use reconverge::environment;
use reconverge::lockstep::Outcome;
use reconverge::spa5::Spa5;
use reconverge::spa5::generate::{self, CONSTRUCTS, Options, unstructured};
use reconverge::spa5::golden::{Event, Golden, Token};
use reconverge::spa5::isa::{NOP, norm, seq};
use reconverge::spa5::program::Program;
use reconverge::spa5::state::{ERROR_NAMES, In};
use reconverge::unit::{LoadOptions, Programs, Records, Unit};
use reconverge::watch::Watch;

/// Lanes, and parameters that are not at their default.
fn build(lanes: u32, parameters: &[(&str, u32)]) -> Build {
    Build {
        lanes,
        parameters: parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
    }
}

/// A model and what it is built with.
struct Model {
    build: Build,
    dut: Dut<Spa5>,
}

impl Model {
    fn new(lanes: u32, parameters: &[(&str, u32)]) -> Model {
        let build = build(lanes, parameters);
        let dut = Rtl::<Spa5>::own(build.clone()).unwrap().open(1).unwrap();
        Model { build, dut }
    }

    /// A case for this model; all threads are launched.
    fn case(&self, program: &Program) -> Case<Spa5> {
        let mut case = Case::new(program.clone());
        case.lanes = self.build.lanes;
        case.parameters.clone_from(&self.build.parameters);
        case.launch_mask = u64::MAX >> (64 - case.lanes);
        case
    }

    /// Runs `case`, on which RTL and golden agree on every cycle, and the scalar judge with both for every
    /// thread launched. The outcome, the instructions that the judge compared, and where they were.
    fn agreed(
        &mut self,
        case: &Case<Spa5>,
        watch: impl Watch<Spa5>,
        at: &str,
    ) -> (Outcome<Spa5>, u64, Vec<u32>) {
        let mut watches = (Records::default(), watch);
        let outcome = mismatch::agreed(case, &mut self.dut, &mut watches, at);
        let (records, _) = watches;
        let judged = mismatch::judged(case, &self.dut, (&outcome, &records), false, at);
        let (_, instructions) = judged.unwrap();
        let pcs = records.records.iter().map(|record| record.pc).collect();
        (outcome, instructions, pcs)
    }
}

// ---- compiled programs ------------------------------------------------------------------------------

/// Token types (spa5-3).
const SSY: u8 = 1;
const PBK: u8 = 2;

/// Holds each SYNC and BRK that goes on at a token of its own type against the targets that the compiler
/// listed for it (cubin attribute 0x34, spa5-2.5).
#[derive(Debug, Default)]
struct Jumps {
    targets: BTreeMap<u32, Vec<u32>>,
    /// On top before the cycle.
    top: Token,
    syncs: u64,
    breaks: u64,
    /// BRX and JMX that go on at a target.
    indirect: u64,
    /// Jumps to where the list does not lead.
    astray: u64,
}

impl Jumps {
    fn of(program: &Program) -> Jumps {
        Jumps {
            targets: program.targets.clone(),
            ..Jumps::default()
        }
    }
}

impl Watch<Spa5> for Jumps {
    fn before(&mut self, _: u64, _: &In, golden: &Golden) {
        self.top = golden.tokens().last().copied().unwrap_or_default();
    }
    fn after(&mut self, _: u64, _: &In, golden: &Golden) {
        let step = golden.stepped();
        let resumed = golden.event() == Event::Resumed;
        let pc = golden.state().pc;
        let count = match (step.word >> 52, self.top.kind) {
            (0xF0F, SSY) if resumed => &mut self.syncs,
            (0xE34, PBK) if resumed => &mut self.breaks,
            // Its own condition may divide the threads, or let none of them take it.
            (0xE20 | 0xE25, _)
                if golden.event() == Event::Executed && pc != step.pc && pc != seq(step.pc) =>
            {
                &mut self.indirect
            }
            _ => return,
        };
        *count += 1;
        let listed = self.targets.get(&step.pc);
        let found = listed.is_some_and(|targets| targets.contains(&pc));
        self.astray += u64::from(!found);
    }
}

/// What compilers made, in the folder `of` them.
fn compiled(of: &str, ending: &str) -> Vec<(String, Program)> {
    let mut programs = Vec::new();
    for entry in fs::read_dir(Path::new(ROOT).join(program::<Spa5>(of))).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|x| x == ending) {
            let bytes = fs::read(&path).unwrap();
            let loaded = Spa5::load(&bytes, arg(&path), &LoadOptions::default()).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            programs.push((name, loaded.program));
        }
    }
    programs.sort_by(|a, b| a.0.cmp(&b.0));
    programs
}

fn is_brx(word: u64) -> bool {
    word >> 52 == 0xE25
}

/// Runs of a program with some seeds, as it comes and with stalls.
fn runs(case: &Case<Spa5>) -> impl Iterator<Item = (Case<Spa5>, String)> {
    (1..=40).flat_map(move |seed| {
        [0, 5].map(|stall16| {
            let mut case = case.clone();
            (case.seed, case.stall16) = (seed, stall16);
            // More than any of them needs that has an end.
            case.max_steps = 10_000;
            let at = format!("seed {seed} stall16 {stall16} {:?}", case.parameters);
            (case, at)
        })
    })
}

/// Every kernel ends (but the one that has no end), and every SYNC and BRK jumps to where ptxas says that
/// it may: the list comes from the compiler's own analysis, which knows nothing of tokens and masks. The shaders of Mesa, which lists
/// nothing, end too.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_compilers_made_ends_and_jumps_where_its_compiler_says() {
    let mut models = [32, 64].map(|lanes| Model::new(lanes, &[("BRX", 1)]));
    let kernels = compiled("cubin", "cubin");
    assert!(kernels.len() >= 42, "{} kernels", kernels.len());
    let (mut all, mut instructions, mut found) = (0, 0, Jumps::default());
    for model in &mut models {
        let shaders = compiled("mesa", "bin");
        for (name, program) in kernels.iter().chain(&shaders) {
            for (case, at) in runs(&model.case(program)) {
                let at = format!("{name} {} lanes {at}", case.lanes);
                let mut jumps = Jumps::of(program);
                let (outcome, compared, _) = model.agreed(&case, &mut jumps, &at);
                let endless = name.starts_with("k15_");
                assert_eq!(outcome.step_limit, endless, "{at}");
                assert!(endless || Spa5::outcome(&outcome.end) == "done", "{at}");
                (all, instructions) = (all + 1, instructions + compared);
                if name.ends_with(".cubin") {
                    assert_eq!(jumps.astray, 0, "{at}: {jumps:?}");
                    found.syncs += jumps.syncs;
                    found.breaks += jumps.breaks;
                    found.indirect += jumps.indirect;
                }
            }
        }
    }
    println!("{all} runs, {instructions} instructions, {found:?}");
    assert!(
        all > 10_000 && found.syncs > all && found.breaks > all / 2 && found.indirect > 1000,
        "{all} {found:?}"
    );

    // The list can disagree. BRX would follow it.
    let [model, _] = &mut models;
    let (mut astray, mut all) = (0, 0);
    for (name, mut program) in kernels {
        for target in program.targets.values_mut().flatten() {
            *target += 8;
        }
        if !program.words.iter().any(|word| is_brx(*word)) {
            let mut jumps = Jumps::of(&program);
            let mut case = model.case(&program);
            case.max_steps = 10_000;
            model.agreed(&case, &mut jumps, &name);
            astray += jumps.astray;
            all += jumps.syncs + jumps.breaks;
        }
    }
    assert!(astray > 500 && astray == all, "{astray} of {all}");
}

/// Where a function of the cubin `bytes` may be entered: every symbol of type FUNC, normalized, by section and place.
fn functions(bytes: &[u8]) -> Vec<(String, u32)> {
    let number = |at: usize, count: usize| {
        let bytes = bytes[at..at + count].iter().rev();
        bytes.fold(0, |n, b| n << 8 | usize::from(*b))
    };
    let headers = number(0x28, 8);
    let section = |i: usize| headers + 64 * i;
    let text = |table: usize, at: usize| {
        let start = number(section(table) + 24, 8) + at;
        let end = bytes[start..].iter().position(|b| *b == 0).unwrap();
        String::from_utf8(bytes[start..start + end].to_vec()).unwrap()
    };
    let names = number(0x3e, 2);
    let table = (0..number(0x3c, 2)).find(|i| number(section(*i) + 4, 4) == 2);
    let table = section(table.unwrap());
    let (first, size, strings) = (
        number(table + 24, 8),
        number(table + 32, 8),
        number(table + 40, 4),
    );
    let symbols = (first..first + size).step_by(24);
    let functions = symbols.filter(|s| bytes[s + 4] & 15 == 2 && number(s + 6, 2) != 0);
    functions
        .map(|s| {
            let name = text(names, number(section(number(s + 6, 2)), 4));
            assert_eq!(
                name,
                format!(".text.{}", &name[6..]),
                "{}",
                text(strings, number(s, 4))
            );
            (name, number(s + 8, 8) as u32)
        })
        .collect()
}

/// How a kernel of the folder `cuda` may end, as its source says, beside coming to its end.
fn ends(name: &str) -> &'static [&'static str] {
    // What traps is a word that the unit does not have.
    const TRAPS: &str = "error 10 UNSUPPORTED";
    match name.split('.').next().unwrap() {
        "asserts" | "traps" => &[TRAPS],
        // Without optimisation, a function that has a frame traps if there is no room for the frame.
        "pointers" | "print" | "recursion" if name.contains(".O0.") => &[TRAPS],
        _ => &[],
    }
}

/// Runs every kernel of the folder `cuda` with these seeds, as it comes and with stalls, with all threads and with one.
fn calls(model: &mut Model, seeds: std::ops::RangeInclusive<u64>) {
    let kernels = compiled("cuda", "cubin");
    assert!(kernels.len() >= 44, "{} kernels", kernels.len());
    let (mut syncs, mut breaks, mut indirect, mut runs) = (0, 0, 0, 0);
    for (name, program) in &kernels {
        let allowed = ends(name);
        let mut met: BTreeMap<String, u32> = BTreeMap::new();
        for seed in seeds.clone() {
            for (stall16, one) in [(0, false), (5, false), (0, true), (5, true)] {
                let mut case = model.case(program);
                (case.seed, case.stall16, case.max_steps) = (seed, stall16, 100_000);
                case.conditions = Conditions::Drawn {
                    p16: [8, 2, 12][seed as usize % 3],
                };
                if one {
                    case.launch_mask = 1 << (seed % u64::from(case.lanes));
                }
                let lanes = case.lanes;
                let at = format!("{name} {lanes} lanes, seed {seed}, stall16 {stall16}, one {one}");
                let mut jumps = Jumps::of(program);
                let (outcome, ..) = model.agreed(&case, &mut jumps, &at);
                assert_eq!(jumps.astray, 0, "{at}: {jumps:?}");
                assert!(!outcome.step_limit, "{at}");
                let end = Spa5::outcome(&outcome.end);
                if end != "done" {
                    assert!(allowed.contains(&end.as_str()), "{at}: {end}");
                    let word = program.word(outcome.end.pc);
                    assert!(
                        word >> 52 == BPT || !end.ends_with("UNSUPPORTED"),
                        "{at}: {word:#x}"
                    );
                }
                *met.entry(end).or_default() += 1;
                runs += 1;
                syncs += jumps.syncs;
                breaks += jumps.breaks;
                indirect += jumps.indirect;
            }
        }
        println!("{name}: {met:?}");
        // Each comes to its end in some run, and those that trap do it.
        assert!(met.contains_key("done"), "{name}: {met:?}");
        assert_eq!(met.len(), 1 + allowed.len(), "{name}: {met:?}");
    }
    println!("{runs} runs, jumps: {syncs} by SYNC, {breaks} by BRK, {indirect} by BRX and JMX");
    let least = runs / 4;
    assert!(syncs > least && breaks > least && indirect > least);
}

/// BPT: trap, and what stands for `__assertfail`.
const BPT: u64 = 0xE3A;

#[test]
fn kernels_with_calls_end_as_their_source_says() {
    calls(&mut Model::new(32, &[("BRX", 1)]), 1..=3);
}

#[test]
#[ignore = "a minute: cargo test --test bench -- --ignored kernels_with_calls"]
fn kernels_with_calls_end_as_their_source_says_in_every_build() {
    for lanes in [32, 64] {
        calls(&mut Model::new(lanes, &[("BRX", 1)]), 1..=20);
    }
}

/// Of indirect calls the compiler lists no target: they are functions, by their symbols, or stand for those that the
/// file does not have, behind all of its code.
#[test]
fn indirect_calls_lead_to_functions() {
    let (mut brx, mut jmx, mut behind) = (0, 0, 0);
    for path in imported_programs::<Spa5>() {
        if path.extension().is_none_or(|x| x != "cubin") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let relocatable = name.ends_with(".c.cubin");
        let program = Spa5::load(&bytes, name, &LoadOptions::default())
            .unwrap()
            .program;
        let known: Vec<u32> = functions(&bytes).iter().map(|(_, at)| norm(*at)).collect();
        let stands = |at: u32| {
            let bundle = &program.words[at as usize / 32 * 4..][..4];
            // RET, BPT.TRAP.
            matches!(bundle[1], 0xe320_0000_0007_000f | 0xe3a0_0000_0010_00c0)
                && bundle[2..] == [NOP, NOP]
        };
        for (pc, targets) in &program.targets {
            let word = program.word(*pc);
            if !matches!(word >> 52, 0xE20 | 0xE25) {
                continue;
            }
            assert!(!targets.is_empty(), "{name} {pc:#x}");
            let call = !relocatable && targets.iter().all(|at| known.contains(at));
            let elsewhere = targets.iter().all(|at| stands(*at));
            // A switch has a list of its own.
            let switch =
                name.starts_with("switches.") || name.starts_with("k07") || name.starts_with("k08");
            assert!(
                call || elsewhere || switch || relocatable,
                "{name} {pc:#x} {targets:x?}"
            );
            brx += u32::from(word >> 52 == 0xE25);
            jmx += u32::from(word >> 52 == 0xE20);
            behind += u32::from(elsewhere);
        }
    }
    println!("{brx} BRX, {jmx} JMX, {behind} to functions elsewhere");
    assert!(brx > 30 && jmx > 25 && behind > 15, "{brx} {jmx} {behind}");
}

/// In a unit without it, a BRX is UNSUPPORTED; nothing else in a kernel is (spa5-2.3, spa5-A).
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_brx_stops_a_unit_that_has_none() {
    let mut model = Model::new(32, &[]);
    let (mut with, mut without) = (0, 0);
    for (name, program) in compiled("cubin", "cubin") {
        let has = program.words.iter().any(|word| is_brx(*word));
        for (case, at) in runs(&model.case(&program)) {
            let at = format!("{name} {at}");
            let (outcome, ..) = model.agreed(&case, (), &at);
            let stopped = Spa5::outcome(&outcome.end);
            if has {
                assert_eq!(stopped, "error 10 UNSUPPORTED", "{at}");
                assert!(is_brx(program.word(outcome.end.pc)), "{at}");
            } else {
                assert!(stopped == "done" || outcome.step_limit, "{at}: {stopped}");
            }
        }
        with += u32::from(has);
        without += u32::from(!has);
    }
    println!("{with} kernels with BRX, {without} without");
    assert!(with >= 3 && without >= 30, "{with} with, {without} without");
}

/// The only programs with PCNT and CONT that a compiler made. Each ends.
#[test]
fn shaders_of_mesa_end_and_continue() {
    let mut model = Model::new(32, &[]);
    let shaders = compiled("mesa", "bin");
    assert!(shaders.len() > 20, "{} shaders", shaders.len());
    let (mut pcnts, mut conts, mut jcals, mut kils) = (0, 0, 0, 0);
    let mut killed = 0;
    for (name, program) in &shaders {
        for (case, at) in runs(&model.case(program)) {
            let at = format!("{name} {at}");
            let (outcome, _, pcs) = model.agreed(&case, (), &at);
            assert_eq!(Spa5::outcome(&outcome.end), "done", "{at}");
            let executed = |op: u64| {
                pcs.iter()
                    .filter(|pc| program.word(**pc) >> 52 == op)
                    .count()
            };
            pcnts += executed(0xE2B);
            conts += executed(0xE35);
            jcals += executed(0xE22);
            kils += executed(0xE33);
            killed += outcome.end.killed.count_ones();
        }
    }
    println!("executed: {pcnts} PCNT, {conts} CONT, {jcals} JCAL, {kils} KIL of {killed} threads");
    assert!(
        jcals > 500 && kils > 100,
        "{jcals} JCAL, {kils} KIL executed"
    );
    assert!(killed > 1000, "{killed} threads killed");
    assert!(
        pcnts > 1000 && conts > 1000,
        "{pcnts} PCNT, {conts} CONT executed"
    );
}

// ---- random programs --------------------------------------------------------------------------------

/// Case `n` of many: conditions of all kinds, and in a fourth of them not all threads are launched.
fn drawn(model: &Model, program: &Program, n: u64) -> Case<Spa5> {
    let mut case = model.case(program);
    case.seed = n + 1;
    case.conditions = Conditions::Drawn {
        p16: [2, 8, 14][n as usize % 3],
    };
    if n % 4 == 3 {
        case.launch_mask &= environment::draw_word(7, 0, n);
    }
    case
}

/// Every construct of the generator by its name, BRX among them.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn five_thousand_structured_programs_with_brx_agree_with_the_scalar_judge() {
    let mut model = Model::new(32, &[("BRX", 1)]);
    let mut rng = Pcg64Mcg::seed_from_u64(20_001);
    let mut met: BTreeMap<&str, u32> = BTreeMap::new();
    let mut instructions = 0;
    for n in 0..5_000 {
        let options = Options {
            brx: true,
            ..Options::random(&mut rng)
        };
        let (program, constructs) = generate::structured_of(&mut rng, &options);
        let at = format!("program {n}");
        let (outcome, compared, _) = model.agreed(&drawn(&model, &program, n), (), &at);
        assert_eq!(Spa5::outcome(&outcome.end), "done", "{at} ends");
        instructions += compared;
        for construct in constructs {
            *met.entry(construct).or_default() += 1;
        }
    }
    println!("{instructions} instructions compared; {met:?}");
    let rare: Vec<_> = CONSTRUCTS
        .iter()
        .map(|name| (name, met.get(name).copied().unwrap_or(0)))
        .filter(|(_, n)| *n <= 50)
        .collect();
    assert!(rare.is_empty(), "in 50 programs or less: {rare:?}");
    assert!(
        instructions > 2_500_000,
        "{instructions} instructions compared"
    );
}

/// Random instructions and targets: up to the first error each thread does what it does alone, and the
/// error is its own (spa5-9). A third of them have room for four tokens only.
#[test]
#[ignore = "thousands of inputs; CI's step builds runs it"]
fn five_thousand_unstructured_programs_agree_with_the_scalar_judge() {
    let mut models = [
        Model::new(32, &[]),
        Model::new(4, &[]),
        Model::new(4, &[("DEPTH", 4)]),
    ];
    let mut rng = Pcg64Mcg::seed_from_u64(20_002);
    let mut ends: BTreeMap<String, u32> = BTreeMap::new();
    let mut instructions = 0;
    for n in 0..5_000 {
        // In another order than the conditions, so that every pair occurs.
        let model = &mut models[(n / 3) as usize % 3];
        let mut case = drawn(model, &unstructured(&mut rng), n);
        case.max_steps = 2000;
        let (outcome, compared, _) = model.agreed(&case, (), &format!("program {n}"));
        instructions += compared;
        *ends.entry(Spa5::outcome(&outcome.end)).or_default() += 1;
    }
    println!("{instructions} instructions compared; {ends:?}");
    let errors = ERROR_NAMES.iter().enumerate().skip(1);
    let wanted = errors.map(|(code, name)| format!("error {code} {name}"));
    let rare: Vec<_> = wanted
        .chain(["done", "still running"].map(str::to_owned))
        .map(|end| (ends.get(&end).copied().unwrap_or(0), end))
        .filter(|(n, _)| *n <= 5)
        .collect();
    assert!(rare.is_empty(), "5 times or less: {rare:?}");
    assert!(
        instructions > 250_000,
        "{instructions} instructions compared"
    );
}

// ---- what only a unit with BRX has ------------------------------------------------------------------

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_with_another_brx_is_caught_and_its_case_replays() {
    let fuzz = |status: i32, rtl: &str, out: &str| {
        let with = [
            "--param",
            "BRX=1",
            "--cycles",
            "200000",
            "--rtl",
            rtl,
            "--out",
            out,
            "--no-shrink",
        ];
        reconverge_ends(status, &[&["fuzz", "spa5"], &with[..]].concat())
    };
    let own = Folder::own("spa5");
    let out = tempfile::tempdir().unwrap();
    let out = arg(out.path());
    fuzz(0, own.copy().arg(), out);
    for change in Spa5::faults("brx") {
        let bad = own.copy();
        bad.change(change);
        println!("{change:?}");
        let report = fuzz(1, bad.arg(), out);
        let failed = line_starting(&report, "MISMATCH ");
        let replay = line_starting(&report, "replay ");
        let case = replay.split_whitespace().last().unwrap();
        let again = reconverge_ends(1, &["replay", case, "--rtl", bad.arg(), "--out", out]);
        assert_eq!(line_starting(&again, "MISMATCH "), failed, "{change:?}");
        reconverge_ends(0, &["replay", case, "--rtl", "rtl/spa5", "--out", out]);
    }
}
