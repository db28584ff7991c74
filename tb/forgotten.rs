//! What finds that an instruction or a pin was forgotten where something is kept for each: kinds of programs, the data of the assembler,
//! the surroundings, the declaration. That it has bins and is in the small worlds: `driven.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bytemuck::{bytes_of, bytes_of_mut};
use rand::{Rng as _, RngCore, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use reconverge::assembly::Assembly as _;
use reconverge::campaign;
use reconverge::case::{Case, Conditions, Kind};
use reconverge::design::{Build, Golden as _};
use reconverge::field::Pin;
use reconverge::instructions::Instructions as _;
use reconverge::stimulus::golden_alone;
use reconverge::unit::{Executor as _, Step, Unit};
use reconverge::watch::Watch;

use reconverge::{ROOT, for_each_unit};

use crate::driven::plain;
use crate::texts;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::test_unit::test_unit!(reconverge::$module::$unit:
                every_kind_of_program_has_every_instruction,
                every_instruction_is_assembled,
                pins_that_an_instruction_reads_are_driven_with_and_without_noise,
                what_a_launch_was_given_is_in_the_program_that_a_case_is_shrunk_to,
                every_port_is_declared_and_explained,
                every_pin_is_in_the_specification,
            );
        }
    )+};
}
for_each_unit!(tests);

/// The operations of all words of the unit's table; those that are refused or passed through have none.
pub fn operations<U: Unit>() -> BTreeSet<String> {
    let words: Vec<Vec<u64>> = match U::NAME {
        // TYPE and OP.
        "r500" => (0..32).map(|n| vec![0x400 | n & 3, n >> 2, 0]).collect(),
        // CF_INST with and without the bits that tell an ALU clause.
        "r700" => (0..1024).map(|n| vec![0, n << 22]).collect(),
        // Bits 63:48.
        _ => (0..1 << 16).map(|n| vec![n << 48 | 0x7_000f]).collect(),
    };
    let operation = |words: &Vec<u64>| U::anatomy(words).ok()?.operation;
    words.iter().filter_map(operation).collect()
}

/// The words of a text, as in the languages of the sources.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

/// The build that has everything.
fn build<U: Unit>() -> Build {
    Build::from(&U::VARIANTS[0])
}

/// Calls a function with each cycle in which a program runs: pins, the golden model before it, and what the operation is called.
struct Steps<F> {
    take: F,
    /// Names of operations by their words.
    names: BTreeMap<Vec<u64>, Option<String>>,
}

impl<U: Unit, F: FnMut(&U::In, &U::Golden, &str)> Watch<U> for Steps<F> {
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        if U::mid_step(golden.state()) || !U::running(golden.state()) {
            return;
        }
        let words = U::instruction(pins);
        let name =
            (self.names.entry(words)).or_insert_with_key(|words| U::anatomy(words).ok()?.operation);
        if let Some(name) = name {
            (self.take)(pins, golden, name);
        }
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// The golden model after a cycle with `pins`, if it is a step.
fn done<U: Unit>(golden: &U::Golden, pins: &U::In) -> Option<U::Golden> {
    let mut golden = golden.clone();
    golden.cycle(pins);
    (golden.step() != Step::None).then_some(golden)
}

/// The words of the instructions that were executed.
#[derive(Default)]
struct Executed(BTreeSet<Vec<u64>>);

impl Executed {
    fn operations<U: Unit>(&self) -> impl Iterator<Item = String> {
        let operation = |words: &Vec<u64>| U::anatomy(words).ok()?.operation;
        self.0.iter().filter_map(operation)
    }
}

impl<U: Unit> Watch<U> for Executed {
    fn before(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
    fn after(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        if golden.step() != Step::None {
            self.0.insert(U::instruction(pins));
        }
    }
}

/// Operations that no structured program has.
const RESERVED: &[(&str, &str)] = &[
    ("POP_JUMP", "r700-O15"),
    ("POP_PUSH", "r700-O15"),
    ("POP_PUSH_ELSE", "r700-O15"),
];

fn every_kind_of_program_has_every_instruction<U: Unit>() {
    let all = operations::<U>();
    let legal = |name: &&String| !RESERVED.iter().any(|(reserved, _)| reserved == name);
    let mut missing: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for number in 0..4000 {
        let (kind, case) = campaign::case::<U>(1, number, &build::<U>());
        let wanted = || match kind {
            Kind::Raw | Kind::Seeded => all.clone(),
            Kind::Structured | Kind::NearLegal => all.iter().filter(legal).cloned().collect(),
        };
        let left = missing.entry(kind.name()).or_insert_with(wanted);
        if !left.is_empty() {
            let mut seen = Executed::default();
            golden_alone(&case, 512, &mut seen);
            for seen in seen.operations::<U>() {
                left.remove(&seen);
            }
        }
    }
    assert!(all.len() > 10 && missing.len() == 4, "{missing:?}");
    assert!(missing.values().all(BTreeSet::is_empty), "{missing:?}");
}

/// In `tb/<unit>/assembled.txt`. Words that are only passed through have no statement of their own.
fn every_instruction_is_assembled<U: Unit>() {
    let mut left = operations::<U>();
    for passed in ["OTHER", "export"] {
        left.remove(passed);
    }
    for text in texts::inputs(&format!("tb/{}/assembled.txt", U::NAME)) {
        let Ok(program) = U::Program::assemble(&text.replace("\\t", "\t"), "t.s") else {
            continue;
        };
        for number in 0..program.count() {
            let line = program.disassemble(program.address(number));
            words(&line).for_each(|word| _ = left.remove(word));
        }
    }
    assert!(left.is_empty(), "{left:?}");
}

/// A pin that nothing drives is 0 in golden model and RTL, and what reads it is not tested.
fn pins_that_an_instruction_reads_are_driven_with_and_without_noise<U: Unit>() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let folder = fs::read_dir(format!("{ROOT}/tb/{}/programs", U::NAME)).unwrap();
    let programs = folder.map(|entry| entry.unwrap().path());
    let programs = programs.filter(|path| path.extension().is_some_and(|end| end == "s"));
    let own = programs.map(|path| {
        let text = fs::read_to_string(path).unwrap();
        Case::<U>::new(U::Program::assemble(&text, "p.s").unwrap())
    });
    let drawn = (0..500).map(|number| campaign::case::<U>(1, number, &build::<U>()).1);
    // The steps in which another value of a pin changes what is done, and the bits that were 1 in them.
    let mut pins: BTreeMap<(bool, String, &str), (u32, u64)> = BTreeMap::new();
    let (mut steps, mut names) = (BTreeMap::new(), BTreeMap::new());
    for mut case in own.chain(drawn) {
        let build = build::<U>();
        (case.lanes, case.parameters) = (build.lanes, build.parameters);
        let noise = case.conditions == Conditions::Noise;
        let step = |given: &U::In, golden: &U::Golden, operation: &str| {
            let with = |pin: &Pin, pins: &mut U::In, rng: &mut Pcg64Mcg| {
                for element in 0..pin.words() {
                    pin.set(
                        bytes_of_mut(pins),
                        element,
                        rng.random::<u64>() & pin.most(case.lanes),
                    );
                }
            };
            let steps = steps.entry((noise, operation.to_owned())).or_insert(0);
            *steps += 1;
            if *steps > 4000 {
                return;
            }
            let Some(as_given) = done::<U>(golden, given).map(|golden| *golden.state()) else {
                return;
            };
            let differs = |pins: &U::In| {
                done::<U>(golden, pins)
                    .is_some_and(|done| bytes_of(done.state()) != bytes_of(&as_given))
            };
            // The words of the instruction, and what makes it one.
            let read = plain::<U>().filter(|pin| {
                let mut other = *given;
                with(pin, &mut other, &mut rng);
                U::instruction(&other) == U::instruction(given)
                    && !["inst_valid", "launch"].contains(&pin.name)
            });
            let read: Vec<&Pin> = read.collect();
            let mut all = *given;
            read.iter().for_each(|pin| with(pin, &mut all, &mut rng));
            if !differs(&all) {
                return;
            }
            for pin in read {
                let (reads, ones) = pins
                    .entry((noise, operation.to_owned(), pin.name))
                    .or_default();
                let mut other = *given;
                with(pin, &mut other, &mut rng);
                if *reads < 20 && differs(&other) {
                    *reads += 1;
                    *ones |= (0..pin.words()).fold(0, |ones, i| ones | pin.get(bytes_of(given), i));
                }
            }
        };
        let mut watch = Steps { take: step, names };
        golden_alone(&case, 512, &mut watch);
        names = watch.names;
    }
    pins.retain(|_, (reads, _)| *reads > 3);
    for ((noise, operation, pin), (_, ones)) in &pins {
        let kind = if *noise { "with" } else { "without" };
        assert!(
            *ones != 0,
            "{operation} reads {pin}, which nothing drives {kind} noise"
        );
    }
    assert!(pins.len() > 10, "{:?}", pins.keys());
}

/// Otherwise a failing launch of a case with noise is not found again without the noise.
fn what_a_launch_was_given_is_in_the_program_that_a_case_is_shrunk_to<U: Unit>() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut given: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); U::DECLARATION.pins.len()];
    for number in 0..200 {
        let (_, mut case) = campaign::case::<U>(1, number, &build::<U>());
        let again: &mut dyn RngCore = &mut rng;
        let pins = U::launch(&case, Some(again));
        let mut golden = case.golden();
        golden.cycle(&pins);
        let after = *golden.state();
        (case.program, case.launch_mask) = U::relaunched(&case.program, &pins, &after, &pins);
        let launched = U::launch(&case, None);
        for (pin, given) in U::DECLARATION.pins.iter().zip(&mut given) {
            let [wanted, found] = [&pins, &launched].map(|pins| pin.get(bytes_of(pins), 0));
            assert_eq!(
                found & pin.most(case.lanes),
                wanted & pin.most(case.lanes),
                "{}",
                pin.name
            );
            given.insert(wanted);
        }
    }
    let operands = given.iter().filter(|values| values.len() > 1).count();
    assert!(operands >= 3, "{given:?}");
}

/// Verilator only warns of a port of the RTL that is not connected.
fn every_port_is_declared_and_explained<U: Unit>() {
    let folder = format!("{ROOT}/rtl/{}", U::NAME);
    let read = |file: &str| fs::read_to_string(format!("{folder}/{file}")).unwrap();
    let words_of = |text: &str| -> BTreeSet<String> { words(text).map(str::to_owned).collect() };
    let (mut declared, explained) = (words_of(&read("design.toml")), words_of(&read("README.md")));
    let usual = U::DECLARATION.pins.iter().map(|pin| pin.name);
    declared.extend(usual.chain(["clk"]).map(|name| format!("{name}_i")));
    let rtl = read(&format!("{}_seq.sv", U::NAME));
    let (ports, _) = rtl.split_once("\n);").unwrap();
    let ports = words_of(ports);
    let ports = ports
        .iter()
        .filter(|word| word.ends_with("_i") || word.ends_with("_ni"));
    let missing = |known: &BTreeSet<String>| -> Vec<String> {
        ports
            .clone()
            .filter(|port| !known.contains(*port))
            .cloned()
            .collect()
    };
    assert_eq!(missing(&declared), [""; 0], "not in design.toml");
    assert_eq!(missing(&explained), [""; 0], "not in README.md");
    assert!(ports.count() > 10);
}

/// In code, by the name of the pin, of its port, or (`US_CODE_RANGE`) of the register that it is.
fn every_pin_is_in_the_specification<U: Unit>() {
    let read = |file: &str| fs::read_to_string(format!("{ROOT}/docs/{file}")).unwrap();
    let text = read(&format!("spec/{}.md", U::NAME)) + &read("contract.md");
    // Between fences, and in the other parts between backquotes.
    let code = (text.split("```").enumerate()).flat_map(|(n, part)| match n % 2 {
        1 => vec![part],
        _ => part.split('`').skip(1).step_by(2).collect(),
    });
    let named: BTreeSet<&str> = code.flat_map(words).collect();
    let missing = plain::<U>().filter(|pin| {
        let name = pin.name;
        let register = format!("US_{}", name.to_uppercase());
        ![name, &format!("{name}_i"), &register]
            .iter()
            .any(|name| named.contains(name))
    });
    let missing: Vec<&str> = missing.map(|pin| pin.name).collect();
    assert_eq!(missing, [""; 0], "not in docs/spec/{}.md", U::NAME);
}
