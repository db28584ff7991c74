//! Unit spa5 in lock-step, beyond what `programs` asks of every unit: what compilers made, against what
//! they say of it themselves; BRX; a full stack; and programs without any structure.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::rtl::{Change, Rtl as Folder};
use crate::common::{ROOT, arg, line_starting, program, reconverge_ends};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reconverge::case::{Case, Conditions};
use reconverge::design::Build;
use reconverge::dut::{Dut, Rtl};
use reconverge::environment;
use reconverge::spa5::Spa5;
use reconverge::spa5::generate::{self, CONSTRUCTS, Options, unstructured};
use reconverge::spa5::golden::{Event, Golden, Token};
use reconverge::spa5::program::Program;
use reconverge::spa5::state::{ERROR_NAMES, In};
use reconverge::stimulus::{self, Ran};
use reconverge::unit::{Campaign, LoadOptions, Programs, Records, Unit, Verdict};
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

    /// Runs `case`, on which RTL and golden agree on every clock, and the scalar judge with both for every
    /// thread launched. The outcome, the instructions that the judge compared, and where they were.
    fn agreed(
        &mut self,
        case: &Case<Spa5>,
        watch: impl Watch<Spa5>,
        at: &str,
    ) -> (Ran<Spa5>, u64, Vec<u32>) {
        let mut watches = (Records::default(), watch);
        let outcome = stimulus::run(case, &mut self.dut, &mut case.golden(), &mut watches);
        if let Some(mismatch) = &outcome.mismatch {
            panic!(
                "{at}: {:?}\n{}",
                mismatch.diffs,
                Spa5::to_text(&case.program)
            );
        }
        let (records, _) = watches;
        match records.judge(case, &outcome.end) {
            Verdict::Agrees {
                lanes,
                instructions,
            } if lanes == case.launch_mask.count_ones() => {
                let pcs = records.records.iter().map(|record| record.pc).collect();
                (outcome, instructions, pcs)
            }
            other => panic!("{at}: {other:?}\n{}", Spa5::to_text(&case.program)),
        }
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
    /// On top before the clock.
    top: Token,
    syncs: u64,
    breaks: u64,
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
        if golden.event() != Event::Resumed {
            return;
        }
        let step = golden.stepped();
        let count = match (step.word >> 52, self.top.kind) {
            (0xF0F, SSY) => &mut self.syncs,
            (0xE34, PBK) => &mut self.breaks,
            _ => return,
        };
        *count += 1;
        let listed = self.targets.get(&step.pc);
        let found = listed.is_some_and(|targets| targets.contains(&golden.state().pc));
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
/// it may: the list comes from the compiler's own analysis, which knows nothing of tokens and masks.
#[test]
fn kernels_of_ptxas_jump_where_their_compiler_says() {
    let mut model = Model::new(32, &[("BRX", 1)]);
    let kernels = compiled("cubin", "cubin");
    assert!(kernels.len() >= 42, "{} kernels", kernels.len());
    let (mut syncs, mut breaks, mut instructions) = (0, 0, 0);
    for (name, program) in &kernels {
        let mut program = program.clone();
        if name.starts_with("k16_") {
            // Its indirect call, of which ptxas lists no target: the entries of f_a and f_b, by their symbols.
            assert_eq!(program.targets.get(&0x90), Some(&Vec::new()), "{name}");
            assert!(is_brx(program.word(0x90)));
            program.targets.insert(0x90, vec![0xd0, 0x198]);
        }
        for (case, at) in runs(&model.case(&program)) {
            let at = format!("{name} {at}");
            let mut jumps = Jumps::of(&program);
            let (outcome, compared, _) = model.agreed(&case, &mut jumps, &at);
            assert_eq!(jumps.astray, 0, "{at}: {jumps:?}");
            let endless = name.starts_with("k15_");
            assert_eq!(outcome.step_limit, endless, "{at}");
            if !endless {
                assert_eq!(Spa5::outcome(&outcome.end), "done", "{at}");
            }
            syncs += jumps.syncs;
            breaks += jumps.breaks;
            instructions += compared;
        }
    }
    println!("{syncs} jumps by SYNC, {breaks} by BRK, {instructions} instructions");
    assert!(
        syncs > 1000 && breaks > 1000,
        "{syncs} jumps by SYNC, {breaks} by BRK"
    );

    // The list can disagree. BRX would follow it.
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

/// In a unit without it, a BRX is UNSUPPORTED; nothing else in a kernel is (spa5-2.3, spa5-A).
#[test]
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
    let (mut pcnts, mut conts) = (0, 0);
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
        }
    }
    println!("{pcnts} PCNT, {conts} CONT executed");
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
        // Another turn than that of the conditions, so that each meets each.
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

/// Decisions of spa5-A changed. `must_fail` has the others: its campaigns are without BRX.
const BRX_DECISIONS: &[Change] = &[
    // The highest thread leads; every thread follows.
    (
        "spa5_brx.sv",
        "for (int t = LANES - 1; t >= 0; t--) begin",
        "for (int t = 0; t < LANES; t++) begin // highest\n",
    ),
    (
        "spa5_brx.sv",
        "active_i[t] & (r_i[32*t +: 32] == value_o)",
        "active_i[t]",
    ),
    // The others go on behind it; those that take it too.
    ("spa5_seq.sv", "(is_brx & all) ? pc_q : pc_seq;", "pc_seq;"),
    (
        "spa5_seq.sv",
        "(is_leave & all) | (is_brx & split & ~all);",
        "is_leave & all;",
    ),
    // It is UNSUPPORTED all the same.
    (
        "spa5_decode.sv",
        "KindBrx;\n          unsupported_o = (BRX == 0) |",
        "KindBrx;\n          unsupported_o = (BRX != 0) |",
    ),
    (
        "spa5_decode.sv",
        "absolute_o    = 1'b1;\n          unsupported_o = (BRX == 0) |",
        "absolute_o    = 1'b1;\n          unsupported_o = (BRX != 0) |",
    ),
    // The sum of a JMX does not wrap; its register is not added.
    (
        "spa5_seq.sv",
        "absolute ? {3'd0, sum_absolute}",
        "absolute ? {3'd0, imm32} + {3'd0, value}",
    ),
    (
        "spa5_seq.sv",
        "sum_absolute = imm32 + value;",
        "sum_absolute = imm32;",
    ),
];

#[test]
fn rtl_with_another_brx_is_caught_and_its_case_replays() {
    let fuzz = |status: i32, rtl: &str, out: &str| {
        let with = [
            "--param",
            "BRX=1",
            "--clocks",
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
    for change in BRX_DECISIONS {
        let bad = own.copy();
        bad.change(*change);
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
