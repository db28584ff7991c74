//! The specifications' steps as data: `tb/<unit>/steps/*.txt`, each with what the state becomes in it, by the golden model alone and by
//! the RTL alone. Expected values are those of the specification; whatever is not named below a step stays as it was.
//!
//! | line | step |
//! |---|---|
//! | `build 4 DEPTH=4` | a machine of 4 lanes and these parameters, after reset |
//! | `launch=1 entry=0x8` | a cycle with these pins; the others are not driven |
//! | `e290000007800000 p[0]=0101` | the same; numbers alone are the words of an instruction, planes begin with lane 0 |
//! | `step e30000000007000f` | its cycles, as many as there are, with other instructions on the pins behind the first |
//! | `times 63 e290000000000000` | so many of these cycles |
//! | `try e3b0000000000000` | a cycle, after which the machine is put back |
//! | `load pc=0x18 sp=2` | the state with these fields changed |
//! | `hold p[0]=0101` | these pins in every later cycle too; alone, none any more |
//! | `explain st[1] 80000000 a4000000` | what the golden model gives as the reason for a field after such a cycle |
//!
//! Lanes and elements that the machine does not have, or a step does not name, are all ones.

use std::fs;

use bytemuck::{bytes_of, bytes_of_mut};
use reconverge::design::{Build, Golden as _};
use reconverge::field::{Field, Pin, Shape};
use reconverge::unit::Unit;

use crate::data;
use crate::machine::{Machine, Sequencer, stalled};

/// Returns the pins that hold the words of an instruction.
pub fn word_pins(unit: &str) -> &'static [&'static str] {
    match unit {
        "r500" => &["cmn", "inst", "addr"],
        "r700" => &["dw0", "dw1"],
        _ => &["word"],
    }
}

pub fn pin<U: Unit>(name: &str) -> &'static Pin {
    let pins = U::DECLARATION.pins;
    let found = pins.iter().find(|pin| pin.name == name);
    found.unwrap_or_else(|| panic!("{} has no pin {name}", U::NAME))
}

/// `p[3]` is the name and the number of an element; without a number it is the first one.
fn indexed(name: &str) -> (&str, usize) {
    match name.split_once('[') {
        Some((name, i)) => (name, i.trim_end_matches(']').parse().unwrap()),
        None => (name, 0),
    }
}

fn number(text: &str) -> u64 {
    let (digits, negative) = text.strip_prefix('-').map_or((text, false), |d| (d, true));
    let number = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let number = number.unwrap_or_else(|e| panic!("{text}: {e}"));
    if negative {
        number.wrapping_neg()
    } else {
        number
    }
}

/// Returns the pins of a step.
fn pins<U: Unit>(text: &str) -> U::In {
    let mut pins = U::In::default();
    let mut words = word_pins(U::NAME).iter();
    for part in text.split_whitespace() {
        let bytes = bytes_of_mut(&mut pins);
        let Some((name, value)) = part.split_once('=') else {
            let word = u64::from_str_radix(part, 16).unwrap();
            pin::<U>(words.next().expect("an instruction has no more words")).set(bytes, 0, word);
            pin::<U>("inst_valid").set(bytes, 0, 1);
            continue;
        };
        let (name, i) = indexed(name);
        let pin = pin::<U>(name);
        if let Shape::Planes(_) = pin.shape {
            let lanes = (0..).zip(value.chars());
            let zeros = lanes.fold(0, |m, (lane, bit)| m | u64::from(bit == '0') << lane);
            pin.set(bytes, i, !zeros);
            continue;
        }
        let given: Vec<u64> = value.split(',').map(number).collect();
        for i in 0..pin.words() {
            let value = given.get(i).copied().unwrap_or(u64::MAX);
            pin.set(bytes, i, value & pin.most(64));
        }
    }
    pins
}

/// Sets element `i` of `field` to what `text` names: one of its values as it is shown, or a number.
fn set(field: &Field, state: &mut [u8], i: usize, text: &str) {
    let named = (0..1 << field.width.min(6)).find(|v| (field.show)(*v) == text);
    let changed = named.unwrap_or_else(|| number(text)) ^ field.get(state, i);
    for bit in (0..field.width as usize).filter(|bit| changed >> bit & 1 == 1) {
        field.flip(state, i, bit);
    }
}

/// Changes fields of `state`. Of lanes each has a digit, or, between commas, a number.
fn change<U: Unit>(state: &mut U::State, text: &str) {
    for part in text.split_whitespace() {
        let (name, value) = part.split_once('=').expect("FIELD=VALUE");
        let (name, i) = indexed(name);
        let field = U::fields().iter().find(|field| field.name == name);
        let field = field.unwrap_or_else(|| panic!("{} has no field {name}", U::NAME));
        let bytes = bytes_of_mut(state);
        match field.shape {
            Shape::Words { .. } => set(field, bytes, i, value),
            Shape::Planes(_) if value.contains(',') => {
                (0..)
                    .zip(value.split(','))
                    .for_each(|(lane, v)| set(field, bytes, lane, v));
            }
            Shape::Planes(_) => {
                let lanes = (0..).zip(value.split_inclusive(|_| true));
                lanes.for_each(|(lane, v)| set(field, bytes, lane, v));
            }
        }
    }
}

/// Returns the fields that differ, with what they are after the step.
fn changes<U: Unit>(before: &U::State, after: &U::State, lanes: usize) -> String {
    let (before, after) = (bytes_of(before), bytes_of(after));
    let mut changes = Vec::new();
    for field in U::fields() {
        let differs = |i: &usize| field.get(before, *i) != field.get(after, *i);
        if field.per_lane() {
            assert!(
                (lanes..64).all(|i| field.get(after, i) == 0),
                "{}: no such lane",
                field.name
            );
            let shown = (0..lanes).map(|i| field.get(after, i).to_string());
            if (0..lanes).any(|i| differs(&i)) {
                let between = if field.width > 3 { "," } else { "" };
                changes.push(format!(
                    "{} {}",
                    field.name,
                    shown.collect::<Vec<_>>().join(between)
                ));
            }
            continue;
        }
        let elements = field.elements(lanes);
        for i in (0..elements).filter(differs) {
            let element = if elements > 1 {
                format!("[{i}]")
            } else {
                String::new()
            };
            changes.push(format!(
                "{}{element} {}",
                field.name,
                (field.show)(field.get(after, i))
            ));
        }
    }
    match changes[..] {
        [] => "-".to_owned(),
        _ => changes.join(", "),
    }
}

/// A machine that follows a file of steps.
struct Steps<U: Unit, M> {
    machine: M,
    lanes: usize,
    state: U::State,
    /// Pins of every cycle.
    held: String,
}

impl<U: Unit, M: Machine<U>> Steps<U, M> {
    fn new(machine: M, build: &Build) -> Self {
        let mut steps = Steps {
            machine,
            lanes: build.lanes as usize,
            state: U::State::default(),
            held: String::new(),
        };
        steps.state = steps.machine.clock(&stalled::<U>());
        steps
    }

    fn load(&mut self, state: &U::State) {
        self.machine.load(state);
        assert!(
            self.machine.clock(&stalled::<U>()) == *state,
            "the state that was loaded"
        );
    }

    /// Executes a line; returns what it did.
    fn follow(&mut self, line: &str) -> String {
        let before = self.state;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "load" => {
                change::<U>(&mut self.state, rest);
                self.load(&self.state.clone());
                return changes::<U>(&before, &self.state, self.lanes);
            }
            "explain" => {
                let (field, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                let (field, element) = indexed(field);
                return self.machine.explain(&pins::<U>(rest), field, element);
            }
            "times" => {
                let (times, pins) = rest.split_once(' ').expect("how many, and pins");
                let pins = self::pins::<U>(&format!("{pins} {}", self.held));
                for n in 0..number(times) {
                    // Only the difference of the last state to the first is shown.
                    assert!(U::running(&self.state), "{line}: stopped after {n}");
                    self.state = self.machine.clock(&pins);
                }
                return changes::<U>(&before, &self.state, self.lanes);
            }
            "hold" => {
                self.held = rest.to_owned();
                return String::new();
            }
            _ => {}
        }
        let tried = word == "try";
        let whole = word == "step";
        let given = if tried || whole { rest } else { line };
        let pins = pins::<U>(&format!("{given} {}", self.held));
        let executes = pin::<U>("inst_valid").get(bytes_of(&pins), 0) == 1;
        let anatomy = U::anatomy(&U::instruction(&pins)).ok().filter(|_| executes);
        let operation = anatomy.and_then(|anatomy| anatomy.operation);
        self.state = self.machine.clock(&pins);
        let mut cycles = 1;
        while whole && U::mid_step(&self.state) {
            let other = if cycles % 2 == 0 {
                pins
            } else {
                U::In::default()
            };
            self.state = self.machine.clock(&other);
            cycles += 1;
        }
        let changes = changes::<U>(&before, &self.state, self.lanes);
        if tried {
            self.load(&before);
            self.state = before;
        }
        let operation = operation.map_or(String::new(), |operation| format!("{operation}: "));
        let cycles = if cycles > 1 {
            format!("{cycles} cycles, ")
        } else {
            String::new()
        };
        operation + &cycles + &changes
    }
}

/// The files of `U`, of its default parameters or of others.
fn files<U: Unit>(others: bool) -> Vec<String> {
    let folder = format!("tb/{}/steps", U::NAME);
    let listed = fs::read_dir(format!("{}/{folder}", reconverge::ROOT)).unwrap();
    let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let built = |path: &String| {
        let text = fs::read_to_string(format!("{}/{path}", reconverge::ROOT)).unwrap();
        text.lines()
            .any(|line| line.starts_with("build ") && line.contains('='))
    };
    let paths = names.map(|name| format!("{folder}/{name}"));
    paths.filter(|path| built(path) == others).collect()
}

/// Follows files of steps on the machines that `make` makes; returns how many files there were.
fn follow<U: Unit, M: Machine<U>>(
    files: &[String],
    golden: bool,
    make: impl Fn(&Build) -> M,
) -> usize {
    for file in files {
        let mut steps: Option<Steps<U, M>> = None;
        data::compare(file, golden, |line| {
            let Some(built) = line.strip_prefix("build ") else {
                return steps.as_mut().expect("a build comes first").follow(line);
            };
            let mut words = built.split(' ');
            let mut build = Build::from(words.next().unwrap().parse::<u32>().unwrap());
            let parameters = words.map(|word| word.split_once('=').unwrap());
            build.parameters = parameters
                .map(|(name, value)| (name.to_owned(), number(value) as u32))
                .collect();
            steps = Some(Steps::new(make(&build), &build));
            String::new()
        });
    }
    files.len()
}

fn golden_follows_the_steps<U: Unit>() {
    let files = [files::<U>(false), files::<U>(true)].concat();
    assert!(follow::<U, _>(&files, true, U::Golden::build) > 0);
}

fn on_rtl<U: Unit>(others: bool) -> usize {
    let mut files = files::<U>(others);
    // Only the golden model explains.
    files.retain(|file| !file.ends_with("/explained.txt"));
    follow::<U, _>(&files, false, |build| Sequencer::<U>::built(build.clone()))
}

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        $(
            mod $module {
                use reconverge::$module::$unit;

                #[test]
                fn golden_follows_the_steps() {
                    super::golden_follows_the_steps::<$unit>();
                }
                #[test]
                fn rtl_follows_the_steps() {
                    assert!(super::on_rtl::<$unit>(false) > 0);
                }
            }
        )+

        #[test]
        #[ignore = "many models or proofs; CI's step builds runs it"]
        fn rtl_of_other_builds_follows_the_steps() {
            $(
                // All steps of r500 are for builds that are linked.
                let any = on_rtl::<reconverge::$module::$unit>(true) > 0;
                assert_eq!(any, stringify!($module) != "r500", stringify!($module));
            )+
        }
    };
}
reconverge::for_each_unit!(tests);
