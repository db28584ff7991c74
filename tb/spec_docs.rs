//! The specifications in docs/spec as a judge: their normative Python runs against the golden model.
//!
//! The golden model alone (no RTL) runs the repository's programs and random ones; each launch and each step goes to the
//! Python too, and the whole architectural state is compared after each, stacks included.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use bytemuck::bytes_of;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reconverge::case::{Case, Conditions, Kind};
use reconverge::design::Control;
use reconverge::design::{Build, Golden as _};
use reconverge::field::Pin;
use reconverge::r500::R500;
use reconverge::r700::R700;
use reconverge::r700::golden::Frame;
use reconverge::spa5::Spa5;
use reconverge::unit::{Environment as _, Executor as _, LoadOptions, Step, Unit};
use reconverge::{ROOT, for_each_unit};
use serde_json::{Value, json};

use crate::citations;
use crate::specification::{Script, python, specification};

#[cfg(feature = "mutate")]
mod states;

/// Steps of a program from the repository, and of a random one.
const STEPS: usize = 300;
const RANDOM_STEPS: usize = 30;
/// Random programs of each kind that meet every error, and as many as meet most rules.
const RANDOM: usize = 400;
const FEW: usize = 60;

/// A unit whose specification has a normative model in Python.
trait Normative: Unit {
    /// Parameters of the builds on which programs run in turn, after the lanes.
    const BUILDS: &'static [(u32, &'static [(&'static str, u32)])];
    /// A line of the Python and its replacement, which the comparison must notice.
    const CHANGE: (&'static str, &'static str);
    /// Codes of the errors that the programs together must meet.
    const ERRORS: std::ops::RangeInclusive<u8>;
    /// The launch with `pins` that led to `golden`.
    fn launched(pins: &Self::In, golden: &Self::Golden, build: &Build) -> Value;
    /// The architectural state.
    fn state(golden: &Self::Golden, lanes: usize) -> Value;
    /// What a step with `pins` gives beside the state.
    fn outputs(pins: &Self::In, golden: &Self::Golden, lanes: usize) -> Value;
    /// Error code.
    fn error(state: &Self::State) -> u8;
}

impl Normative for R500 {
    const BUILDS: &'static [(u32, &'static [(&'static str, u32)])] =
        &[(16, &[]), (4, &[]), (7, &[]), (1, &[])];
    const CHANGE: (&'static str, &'static str) =
        ("st[i], lc[i] = BRK, 0", "st[i], lc[i] = CONT, 0");
    const ERRORS: std::ops::RangeInclusive<u8> = 1..=9;

    fn launched(pins: &Self::In, golden: &Self::Golden, build: &Build) -> Value {
        let s = golden.state();
        json!({
            "lanes": build.lanes, "full": pins.fc_ctrl >> 31,
            "start": pins.code_addr & 511, "end": pins.code_addr >> 16 & 511,
            "code_addr": pins.code_range & 511, "code_size": pins.code_range >> 16 & 511,
            "offset": pins.code_offset & 511, "bool_const": s.bool_const,
            "int_const": (0..32).map(|n| s.int(n)).collect::<Vec<_>>(),
        })
    }

    fn state(golden: &Self::Golden, lanes: usize) -> Value {
        let s = golden.state();
        let frames = (0..usize::from(s.loop_depth)).map(|f| {
            let (rep, count, al) = s.frame(f);
            // A frame's kind is the OP that pushed it: LOOP 1, REP 3.
            json!([if rep { 3 } else { 1 }, count, al])
        });
        json!({
            "st": (0..lanes).map(|i| s.class(i)).collect::<Vec<_>>(),
            "bc": (0..lanes).map(|i| s.bc(i)).collect::<Vec<_>>(),
            "lc": (0..lanes).map(|i| s.lc(i)).collect::<Vec<_>>(),
            "loops": frames.collect::<Vec<_>>(),
            "addrs": s.addrs[..usize::from(s.addr_depth)],
            "pc": s.pc, "al": s.al, "err": s.err, "halted": s.halted, "done": s.done,
        })
    }

    fn outputs(pins: &Self::In, golden: &Self::Golden, lanes: usize) -> Value {
        // The ALU-result bits after the step: the environment clears them on request.
        let alu = pins.alu & all(lanes);
        json!({ "alu": if golden.state().alu_clr == 1 { 0 } else { alu } })
    }

    fn error(state: &Self::State) -> u8 {
        state.err
    }
}

impl Normative for R700 {
    const BUILDS: &'static [(u32, &'static [(&'static str, u32)])] = &[
        (8, &[]),
        (4, &[("MAX_STACK_SIZE", 2)]),
        (64, &[("DX10_COUNT", 1)]),
        (5, &[("DX10_COUNT", 1), ("SUBENTRIES", 8)]),
        (33, &[]),
        (1, &[]),
    ];
    const CHANGE: (&'static str, &'static str) =
        ("if ACTIVE in t.st or BRANCH in t.st:", "if ACTIVE in t.st:");
    const ERRORS: std::ops::RangeInclusive<u8> = 1..=9;

    fn launched(pins: &Self::In, golden: &Self::Golden, build: &Build) -> Value {
        let s = golden.state();
        json!({
            "lanes": build.lanes, "max_stack_size": build.value::<R700>("MAX_STACK_SIZE"),
            "subentries": build.value::<R700>("SUBENTRIES"), "dx10_count": build.value::<R700>("DX10_COUNT"),
            "prog_len": pins.prog_len, "stack_size": pins.stack_size, "entry": pins.entry,
            "valid": pins.lane_mask, "loop_const": s.loop_const, "bool_const": s.bool_const,
        })
    }

    fn state(golden: &Self::Golden, lanes: usize) -> Value {
        let s = golden.state();
        let frame = |frame| match frame {
            Frame::Branch(mask) => json!([1, mask]),
            Frame::Loop(f) => {
                let class = |i: usize| (f.st[0] >> i & 1) | (f.st[1] >> i & 1) << 1;
                let classes: Vec<u64> = (0..lanes).map(class).collect();
                json!([2, classes, f.lt, f.lc, f.al, f.inc as i8, f.base, f.bkind])
            }
            Frame::Call(f) => json!([3, f.ret, f.depth, f.base, f.bkind]),
        };
        json!({
            "st": (0..lanes).map(|i| s.class(i)).collect::<Vec<_>>(),
            "frames": golden.frames().map(frame).collect::<Vec<_>>(),
            "valid": s.valid, "pc": s.pc, "sp": s.sp, "base": s.base, "bkind": s.bkind, "nb": s.nb,
            "lt": s.lt, "lc": s.lc, "al": s.al, "inc": s.inc as i8, "depth": s.depth,
            "skipped": s.skipped, "err": s.err, "halted": s.halted, "done": s.done,
        })
    }

    fn outputs(_: &Self::In, golden: &Self::Golden, _: usize) -> Value {
        let s = golden.state();
        json!({ "exec": s.exec, "jump": s.jump })
    }

    fn error(state: &Self::State) -> u8 {
        state.err
    }
}

impl Normative for Spa5 {
    const BUILDS: &'static [(u32, &'static [(&'static str, u32)])] = &[
        (8, &[("BRX", 1), ("CSM", 1)]),
        (4, &[("BRX", 1), ("DEPTH", 4)]),
        (32, &[]),
        (5, &[("BRX", 1), ("CSM", 1)]),
        (33, &[("DEPTH", 1)]),
        (1, &[("BRX", 1)]),
    ];
    const CHANGE: (&'static str, &'static str) = (
        "n = m & ~(s.d_brk | s.d_cont | s.d_ret | s.exited)",
        "n = m & ~(s.d_brk | s.d_cont | s.exited)",
    );
    const ERRORS: std::ops::RangeInclusive<u8> = 1..=10;

    fn launched(pins: &Self::In, _: &Self::Golden, build: &Build) -> Value {
        json!({
            "lanes": build.lanes, "depth": build.value::<Spa5>("DEPTH"), "brx": build.value::<Spa5>("BRX"),
            "csm": build.value::<Spa5>("CSM"), "prog_base": pins.prog_base,
            "prog_size": pins.prog_size, "entry": pins.entry,
            "launched": pins.launch_mask & all(build.lanes as usize),
        })
    }

    fn state(golden: &Self::Golden, _: usize) -> Value {
        let s = golden.state();
        let token =
            |t: &reconverge::spa5::golden::Token| json!([t.kind, t.vis_saved, t.addr, t.mask]);
        json!({
            "status": s.status, "err": s.err, "pc": s.pc, "active": s.active, "exited": s.exited,
            "killed": s.killed, "d_brk": s.d_brk, "d_cont": s.d_cont, "d_ret": s.d_ret, "vis": s.vis,
            "stack": golden.tokens().iter().map(token).collect::<Vec<_>>(),
        })
    }

    fn outputs(_: &Self::In, golden: &Self::Golden, _: usize) -> Value {
        let step = golden.stepped();
        json!({ "a": step.active, "t": step.taken })
    }

    fn error(state: &Self::State) -> u8 {
        state.err
    }
}

/// All pins, by their names; what has a `launch` is a launch.
fn read<U: Unit>(pins: &U::In) -> Value {
    let of = |pin: &Pin| match pin.words() {
        1 => json!(pin.get(bytes_of(pins), 0)),
        words => (0..words).map(|i| pin.get(bytes_of(pins), i)).collect(),
    };
    let pins = U::DECLARATION.pins.iter();
    let pins = pins.filter(|pin| pin.name != "launch");
    pins.map(|pin| (pin.name.to_owned(), of(pin))).collect()
}

/// The state after a step with `pins`, and what else the step gives.
fn answer<U: Normative>(pins: &U::In, golden: &U::Golden, lanes: usize) -> Value {
    let mut answer = U::state(golden, lanes);
    if let (Value::Object(state), Value::Object(outputs)) =
        (&mut answer, U::outputs(pins, golden, lanes))
    {
        state.extend(outputs);
    }
    answer
}

/// As many lanes as there are.
fn all(lanes: usize) -> u64 {
    u64::MAX >> (64 - lanes)
}

/// Runs of the golden, each step of which is asked of the Python.
#[derive(Default)]
struct Runs {
    script: Script,
    steps: usize,
    errors: BTreeSet<u8>,
    /// What the golden says of a field of each step.
    explained: Vec<String>,
}

impl Runs {
    /// Runs `case` on the golden for up to `steps` steps.
    fn run<U: Normative>(&mut self, case: &Case<U>, steps: usize, at: &str) {
        let (build, lanes) = (case.build(), case.lanes as usize);
        let mut rng = Pcg64Mcg::seed_from_u64(case.seed);
        let mut golden = case.golden();
        let mut environment = U::Environment::new(case);
        golden.cycle(&U::In::reset());
        for pins in U::setup(&case.program) {
            golden.cycle(&pins);
        }
        let launch = U::launch(case, None);
        golden.cycle(&launch);
        environment.launched();
        let request = json!({ "launch": U::launched(&launch, &golden, &build) });
        self.script
            .lines
            .push((format!("{at}, launch"), request, U::state(&golden, lanes)));
        let mut step = 0;
        let mut asked = None;
        let fields = U::fields();
        while step < steps && U::running(golden.state()) {
            let mut pins = U::In::default();
            environment.set_pins(golden.state(), &mut rng, &mut pins);
            // The pins of a step are those of its first cycle.
            if !U::mid_step(golden.state()) {
                asked = Some((pins, U::pc(golden.state())));
            }
            let turn = self.explained.len();
            let field = fields[turn % fields.len()].name;
            self.explained
                .push(golden.explain(&pins, field, turn % lanes));
            golden.cycle(&pins);
            match golden.step() {
                Step::None => continue,
                Step::Executed => environment.executed(golden.state()),
                Step::Failed => {}
            }
            let (pins, pc) = asked.expect("a step has a first cycle");
            let answer = answer::<U>(&pins, &golden, lanes);
            let at = format!("{at}, step {step} at pc {pc:#x}");
            self.script.lines.push((at, read::<U>(&pins), answer));
            self.errors.insert(U::error(golden.state()));
            step += 1;
        }
        self.steps += step;
    }

    /// The Python answers as the golden model does.
    fn agree<U: Normative>(&self) {
        let (name, steps, errors) = (U::NAME, self.steps, &self.errors);
        println!("{name}: {steps} steps compared, errors {errors:?}");
        assert!(steps > 5_000, "{steps} steps");
        if let Some(difference) = self.script.judge(name, &specification(name)) {
            panic!("docs/spec/{name}.md and the golden model differ: {difference}");
        }
    }
}

/// Every file below `dir`, in order.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    let below = |path: PathBuf| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    };
    entries.into_iter().flat_map(below).collect()
}

/// Programs of the repository, and random ones of two kinds, run by the golden.
fn runs<U: Normative>(random: usize) -> Runs {
    let mut runs = Runs::default();
    let mut builds = U::BUILDS.iter().cycle();
    let mut next = |program: U::Program, seed: u64| {
        let mut case = Case::<U>::new(program);
        let (lanes, parameters) = builds.next().unwrap();
        case.seed = seed;
        case.lanes = *lanes;
        case.launch_mask = all(*lanes as usize);
        case.parameters = parameters
            .iter()
            .map(|(n, v)| ((*n).to_owned(), *v))
            .collect();
        case
    };
    let mut programs = 0;
    for path in files(&Path::new(ROOT).join(format!("tb/{}/programs", U::NAME))) {
        let file = path.to_str().unwrap();
        let ending = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        if !["s", "o", "log", "cubin", "bin"].contains(&ending) {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let count = U::list(&bytes, file).map_or(1, |list| list.len());
        for number in 1..=count {
            let options = LoadOptions {
                safe_loops: U::NAME == "r500",
                which: (count > 1).then(|| number.to_string()),
                ..LoadOptions::default()
            };
            // Listings of a disassembler have the ending of assembly too.
            if let Ok(loaded) = U::load(&bytes, file, &options) {
                runs.run(&next(loaded.program, 3), STEPS, &format!("{file} {number}"));
                programs += 1;
            }
        }
    }
    assert!(programs > 15, "{programs} programs read");
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for kind in [Kind::NearLegal, Kind::Raw] {
        for n in 0..random {
            let mut case = next(U::generate(kind, &mut rng), n as u64 + 1);
            case.conditions = Conditions::Noise;
            let at = format!("{} program {n}", kind.name());
            runs.run(&case, RANDOM_STEPS, &at);
        }
    }
    runs
}

fn python_and_golden_agree<U: Normative>() {
    let runs = runs::<U>(RANDOM);
    runs.agree::<U>();
    for code in U::ERRORS {
        let met = runs.errors.contains(&code);
        assert!(met, "no step ends in error {code}");
    }
}

/// What a report says of a field begins with the id of a rule that exists.
fn every_explanation_names_a_rule<U: Normative>() {
    let rules = citations::rules();
    let mut runs = runs::<U>(FEW);
    // Cycles that execute nothing.
    let golden = U::Golden::new(4);
    let mut stalled = U::In::default();
    stalled.set_stall(true);
    let mut running = golden.clone();
    let case = Case::<U>::new(U::generate(
        Kind::Structured,
        &mut Pcg64Mcg::seed_from_u64(1),
    ));
    let launch = U::launch(&case, None);
    running.cycle(&launch);
    for field in U::fields() {
        for (golden, pins) in [
            (&golden, U::In::reset()),
            (&golden, stalled),
            (&golden, U::In::default()),
            (&golden, launch),
            (&running, U::In::default()),
        ] {
            for element in [0, 63] {
                runs.explained
                    .push(golden.explain(&pins, field.name, element));
            }
        }
    }
    assert!(runs.explained.len() > 2_000);
    let mut named = BTreeSet::new();
    for text in &runs.explained {
        let id = text.split([' ', ':', ';']).next().unwrap_or_default();
        assert!(rules.contains_key(id), "{text:?} begins with no rule");
        named.insert(id);
    }
    println!("{}: {} rules named: {named:?}", U::NAME, named.len());
    assert!(named.len() > 20, "{named:?}");
}

/// The same with one rule of the Python changed: the comparison goes red.
fn a_changed_rule_is_noticed<U: Normative>() {
    let text = fs::read_to_string(specification(U::NAME)).unwrap();
    let (rule, changed) = U::CHANGE;
    assert_eq!(text.matches(rule).count(), 1, "{rule}");
    let mut spoilt = tempfile::NamedTempFile::new().unwrap();
    spoilt
        .write_all(text.replace(rule, changed).as_bytes())
        .unwrap();
    let difference = runs::<U>(FEW).script.judge(U::NAME, spoilt.path());
    let difference = difference.expect("a changed rule makes a difference");
    assert!(difference.contains(", Python "), "{difference}");
}

/// The table of appendix B: what the Python beside it prints.
fn the_digest_is_the_one_that_is_printed(
    unit: &str,
    arguments: &Value,
    printed: fn(&Value) -> String,
) {
    let mut child = python(unit, &specification(unit))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("python3 does not start: {e}; ./setup installs it"));
    let request = json!({ "digest": arguments });
    writeln!(child.stdin.take().unwrap(), "{request}").unwrap();
    let answer = child.wait_with_output().unwrap().stdout;
    let row = printed(&serde_json::from_slice::<Value>(&answer).unwrap()["digest"]);
    let text = fs::read_to_string(specification(unit)).unwrap();
    assert!(text.contains(&row), "{row}");
}

/// The CC tests that the table lists (spa5-2.4-c) are those of the Python.
#[test]
fn spa5_condition_tests_are_those_of_the_table() {
    let text = fs::read_to_string(specification("spa5")).unwrap();
    let (_, list) = text.split_once("LUT16 = [").unwrap();
    let list: Vec<&str> = list.split(']').next().unwrap().split(',').collect();
    let (_, table) = text
        .split_once("| code | test | formula | LUT16 |")
        .unwrap();
    let mut tests = BTreeSet::new();
    for row in table.lines().skip(2).take_while(|row| !row.is_empty()) {
        let row = row.replace("\\|", " or ");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for cells in cells[1..9].chunks(4) {
            let code = usize::from_str_radix(cells[0], 16).unwrap();
            assert_eq!(cells[3], list[code].trim(), "{row}");
            tests.insert(code);
        }
    }
    assert_eq!((tests.len(), list.len()), (24, 24));
}

#[cfg(feature = "mutate")]
use states::python_and_golden_agree_in_any_state;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::test_unit::test_unit!(reconverge::$module::$unit:
                python_and_golden_agree,
                #[cfg(feature = "mutate")]
                python_and_golden_agree_in_any_state,
                every_explanation_names_a_rule,
                a_changed_rule_is_noticed,
            );
        }
    )+};
}
for_each_unit!(tests);

#[test]
fn r500_digest_is_the_one_that_is_printed() {
    let printed =
        |answer: &Value| format!("| 1000 | {:08X} |", answer[0]["1000"].as_u64().unwrap());
    the_digest_is_the_one_that_is_printed("r500", &json!([1, [1000]]), printed);
}

#[test]
fn r700_digest_is_the_one_that_is_printed() {
    let printed = |answer: &Value| {
        let counts: Vec<u64> = serde_json::from_value(answer["1000"][1].clone()).unwrap();
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        let digest = answer["1000"][0].as_u64().unwrap();
        format!("| 1000 | {digest:#010X} | {} |", counts.join(" ")).replace("0X", "0x")
    };
    the_digest_is_the_one_that_is_printed("r700", &json!([[1000]]), printed);
}
