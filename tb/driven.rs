//! What reaches a unit: every bit of every pin, and every operation. A pin that is not driven is 0 on both sides, which then always
//! agree. What is compared of it: every register, and each field has more values than one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use bytemuck::{NoUninit, bytes_of};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reconverge::campaign;
use reconverge::cover::UnitCoverage;
use reconverge::design::{Build, Control, Golden};
use reconverge::exhaust::Space;
use reconverge::field::{Pin, Role};
use reconverge::stimulus::golden_alone;
use reconverge::unit::{Pins, Unit};
use reconverge::watch::Watch;

use reconverge::{ROOT, for_each_unit};

use crate::forgotten::{operations, words};

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::test_unit::test_unit!(reconverge::$module::$unit:
                every_pin_changes_in_each_kind_of_cycle_and_every_field_changes,
                every_pin_is_noise_in_a_stalled_cycle,
                every_pin_changes_in_the_small_worlds,
                every_register_is_compared,
                every_operation_has_bins_and_is_in_the_small_worlds,
                every_pin_has_bins,
            );
        }
    )+};
}
for_each_unit!(tests);

/// Notes which bits of the pins were 1 and which were 0 in some cycle.
struct Driven {
    ones: Vec<u8>,
    zeros: Vec<u8>,
}

impl Driven {
    /// Nothing of a struct of type `T`.
    fn new<T>() -> Self {
        let none = vec![0; size_of::<T>()];
        Driven {
            ones: none.clone(),
            zeros: none,
        }
    }

    fn note<T: NoUninit>(&mut self, values: &T) {
        for (byte, (one, zero)) in bytes_of(values)
            .iter()
            .zip(self.ones.iter_mut().zip(&mut self.zeros))
        {
            *one |= byte;
            *zero |= !byte;
        }
    }

    /// The bits of word `i` that were both.
    fn both(&self, pin: &Pin, i: usize) -> u64 {
        pin.get(&self.ones, i) & pin.get(&self.zeros, i)
    }

    /// The bits of word `i` that were not both, of those that the pin has with `lanes` lanes; `None` if there are none.
    fn constant(&self, pin: &Pin, i: usize, lanes: u32) -> Option<String> {
        let bits = !self.both(pin, i) & pin.most(lanes);
        (bits != 0).then(|| format!("{}[{i}]: always 0 or always 1: {bits:#x}", pin.name))
    }
}

/// What was driven in all cycles, and in each kind of those without reset and stall: a unit that runs or not, with a value of a pin of
/// one bit.
struct Kinds {
    all: Driven,
    each: BTreeMap<(bool, &'static str, u64), Driven>,
    /// What the state showed.
    state: Driven,
}

impl<U: Unit> Watch<U> for Kinds {
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        self.all.note(pins);
        if pins.is_reset() || pins.is_stalled() {
            return;
        }
        let running = U::running(golden.state());
        for pin in plain::<U>().filter(|pin| (pin.words(), pin.most(U::LANES)) == (1, 1)) {
            let kind = (running, pin.name, pin.get(bytes_of(pins), 0));
            let driven = self.each.entry(kind).or_insert_with(Driven::new::<U::In>);
            driven.note(pins);
        }
    }
    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        self.state.note(golden.state());
    }
}

/// The pins but for clocks, reset and stall.
pub fn plain<U: Unit>() -> impl Iterator<Item = &'static Pin> {
    (U::DECLARATION.pins.iter()).filter(|pin| pin.role == Role::Plain)
}

/// A pin that must not matter in a kind of cycle needs noise there, and one that matters needs both values of each bit. A field that never
/// changes is compared with a constant.
fn every_pin_changes_in_each_kind_of_cycle_and_every_field_changes<U: Unit>() {
    let build = Build::from(&U::VARIANTS[0]);
    let mut kinds = Kinds {
        all: Driven::new::<U::In>(),
        each: BTreeMap::new(),
        state: Driven::new::<U::State>(),
    };
    for number in 0..300 {
        let (_, case) = campaign::case::<U>(1, number, &build);
        golden_alone(&case, 512, &mut kinds);
    }
    let mut missing = Vec::new();
    for pin in U::DECLARATION.pins {
        missing.extend((0..pin.words()).filter_map(|i| kinds.all.constant(pin, i, build.lanes)));
    }
    for ((running, name, value), driven) in &kinds.each {
        // The operands of a launch are legal, so that the program runs.
        if (*running, *name, *value) == (false, "launch", 1) {
            continue;
        }
        // Of a list, only the first element.
        let others = plain::<U>().filter(|pin| pin.name != *name);
        let constant = others.filter_map(|pin| driven.constant(pin, 0, build.lanes));
        missing.extend(constant.map(|which| format!("running {running}, {name} {value}: {which}")));
    }
    for field in U::fields() {
        for i in 0..field.words() {
            // Bits of sizes that this build does not reach stay 0.
            if field.word(&kinds.state.ones, i) & field.word(&kinds.state.zeros, i) == 0 {
                missing.push(format!("{}[{i}] never changes", field.name));
            }
        }
    }
    assert!(kinds.each.len() >= 8, "{:?}", kinds.each.keys());
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Nothing but reset and stall is read in such a cycle. RTL that reads a pin there is found only if the pin has noise.
fn every_pin_is_noise_in_a_stalled_cycle<U: Unit>() {
    let mut driven = Driven::new::<U::In>();
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for _ in 0..200 {
        let mut pins = U::In::default();
        pins.set_stall(true);
        pins.scramble(true, &mut rng);
        driven.note(&pins);
    }
    for pin in plain::<U>() {
        // Of a list, only the first elements.
        assert_eq!(driven.constant(pin, 0, U::LANES), None);
    }
}

/// The pins of each cycle from the first states of the small world.
fn small_world<U: Unit>() -> Vec<U::In> {
    let small = U::SMALL.unwrap();
    let build = Build {
        lanes: small.lanes,
        // Those of the world prevail.
        parameters: (U::VARIANTS[0].parameters.iter().chain(small.parameters))
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
    };
    let limits = small.limits(&Default::default()).unwrap();
    let world = (small.world)(&build, &limits);
    let mut space = Space::new(&*world, &build, usize::MAX);
    let mut all = world.setup();
    for number in 0..12 {
        space.expand().unwrap();
        all.extend(space.transitions(number, false));
    }
    all
}

/// Other values of a pin that never changes there are not explored.
fn every_pin_changes_in_the_small_worlds<U: Unit>() {
    let mut driven = Driven::new::<U::In>();
    small_world::<U>().iter().for_each(|pins| driven.note(pins));
    for pin in U::DECLARATION.pins {
        assert!(
            (0..pin.words()).any(|i| driven.both(pin, i) != 0),
            "{}",
            pin.name
        );
    }
}

/// A bin that is not declared is not missed, and a word that is not in the alphabet of a small world is not explored.
fn every_operation_has_bins_and_is_in_the_small_worlds<U: Unit>() {
    let operations = operations::<U>();
    // Each word once: it comes with many values of the other pins.
    let of_world: BTreeSet<Vec<u64>> = small_world::<U>().iter().map(U::instruction).collect();
    let of_world = (of_world.iter()).filter_map(|words| U::anatomy(words).ok()?.operation);
    assert_eq!(of_world.collect::<BTreeSet<_>>(), operations);
    let build = Build::from(&U::VARIANTS[0]);
    let bins = UnitCoverage::declared::<U>(&build);
    let named: BTreeSet<&str> = (bins.groups.iter())
        .flat_map(|group| &group.bins)
        .flat_map(|bin| &bin.at)
        .flat_map(|name| name.split(' '))
        .collect();
    for operation in operations {
        assert!(named.contains(operation.as_str()), "no bin of {operation}");
    }
}

/// Pins that no code of bins reads, and why.
const IN_NO_BIN: [(&str, &str); 1] = [(
    "const_wdata",
    "the constant is in the bins of the instructions that read it",
)];

/// Each pin is read in `cover.rs` or in `cover/`. Of one that is not, no missed bin tells that a campaign never has its values together
/// with what they act on.
fn every_pin_has_bins<U: Unit>() {
    let folder = Path::new(ROOT).join("src").join(U::NAME);
    let mut sampled = fs::read_to_string(folder.join("cover.rs")).unwrap();
    for file in fs::read_dir(folder.join("cover")).unwrap() {
        sampled += &fs::read_to_string(file.unwrap().path()).unwrap();
    }
    let code = sampled.lines().filter_map(|line| line.split("//").next());
    let read: BTreeSet<&str> = code
        .flat_map(|line| line.split("pins.").skip(1))
        .filter_map(|rest| words(rest).next())
        .collect();
    let missing = plain::<U>()
        .map(|pin| pin.name)
        .filter(|name| !read.contains(name) && !IN_NO_BIN.iter().any(|(other, _)| other == name));
    assert_eq!(missing.collect::<Vec<_>>(), [""; 0], "in no bin");
}

/// Registers that no field names, and why. An operand of a launch shows in the cycles that read it; a trace does not show it.
const NOT_NAMED: [(&str, &[&str]); 3] = [
    (
        "r500: operands of a launch",
        &["end_q", "full_q", "hi_q", "lo_q", "offset_q"],
    ),
    (
        "r700: operands of a launch; the stack, whose words the fields take from r700_lane_words",
        &[
            "limit_q",
            "prog_len_q",
            "bank0_q",
            "bank1_q",
            "bank2_q",
            "bank3_q",
        ],
    ),
    (
        "spa5: operands of a launch",
        &["prog_base_q", "prog_size_q"],
    ),
];

/// A register that no field shows is compared only by what it leads to, perhaps many cycles later or never. Registers are the names
/// that end in `_q`; nothing else is assigned with `<=`.
fn every_register_is_compared<U: Unit>() {
    let name = U::NAME;
    let folder = Path::new(ROOT).join("rtl").join(name);
    let list = fs::read_to_string(folder.join(format!("{name}.f"))).unwrap();
    let declaration = fs::read_to_string(folder.join("design.toml")).unwrap();
    let (_, fields) = declaration.split_once("[[state]]").unwrap();
    let words_of = |text: &str| -> BTreeSet<String> {
        (text.lines())
            .filter_map(|line| line.split("//").next())
            .flat_map(words)
            .map(str::to_owned)
            .collect()
    };
    let compared = words_of(fields);
    let mut registers = BTreeSet::new();
    for file in list.lines().filter(|line| line.ends_with(".sv")) {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        registers.extend((words_of(&text).into_iter()).filter(|word| word.ends_with("_q")));
        for line in text.lines() {
            let Some((target, _)) = line.split("//").next().unwrap().split_once(" <= ") else {
                continue;
            };
            // Its indices, which may have indices in them, are taken away from the end.
            let mut depth = 0;
            let name = target.trim_end_matches(|c: char| {
                depth += i32::from(c == ']') - i32::from(c == '[');
                depth > 0 || c == '['
            });
            let target = name.rsplit([' ', ')']).next().unwrap();
            // An assignment, not a comparison.
            if line.trim_end().ends_with(';') && !target.is_empty() {
                assert!(target.ends_with("_q"), "{file}: {line}");
            }
        }
    }
    let (_, not_named) = (NOT_NAMED.iter())
        .find(|(why, _)| why.starts_with(name))
        .unwrap();
    let missing: Vec<_> = registers.difference(&compared).collect();
    assert_eq!(
        missing,
        BTreeSet::from_iter(*not_named)
            .into_iter()
            .collect::<Vec<_>>()
    );
    assert!(registers.len() > 10, "{registers:?}");
}
