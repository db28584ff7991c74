//! What reaches a unit: every bit of every pin, and every operation. A pin that is not driven is 0 on both sides, which then always
//! agree.

use std::collections::BTreeSet;

use bytemuck::bytes_of;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reconverge::campaign;
use reconverge::cover::UnitCoverage;
use reconverge::design::{Build, Control};
use reconverge::exhaust::Space;
use reconverge::field::{Pin, Role};
use reconverge::stimulus::golden_alone;
use reconverge::unit::{Pins, Unit};
use reconverge::watch::Watch;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            #[test]
            fn every_bit_of_every_pin_is_driven() {
                super::every_bit_of_every_pin_is_driven::<reconverge::$module::$unit>();
            }

            #[test]
            fn every_pin_is_noise_in_a_stalled_cycle() {
                super::every_pin_is_noise_in_a_stalled_cycle::<reconverge::$module::$unit>();
            }

            #[test]
            fn every_pin_changes_in_the_small_worlds() {
                super::every_pin_changes_in_the_small_worlds::<reconverge::$module::$unit>();
            }

            #[test]
            fn every_operation_has_bins_and_is_in_the_small_worlds() {
                super::every_operation_has_bins_and_is_in_the_small_worlds::<reconverge::$module::$unit>();
            }
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
    fn new<U: Unit>() -> Self {
        let none = vec![0; size_of::<U::In>()];
        Driven {
            ones: none.clone(),
            zeros: none,
        }
    }

    fn note<U: Unit>(&mut self, pins: &U::In) {
        for (byte, (one, zero)) in bytes_of(pins)
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
}

impl<U: Unit> Watch<U> for Driven {
    fn before(&mut self, _: u64, pins: &U::In, _: &U::Golden) {
        self.note::<U>(pins);
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

fn every_bit_of_every_pin_is_driven<U: Unit>() {
    let build = Build::from(&U::VARIANTS[0]);
    let mut driven = Driven::new::<U>();
    for number in 0..600 {
        let (_, case) = campaign::case::<U>(1, number, &build);
        golden_alone(&case, 512, &mut driven);
    }
    let mut missing = Vec::new();
    for pin in U::DECLARATION.pins {
        let most = pin.most(build.lanes);
        for i in 0..pin.words() {
            let never = !driven.both(pin, i) & most;
            if never != 0 {
                missing.push(format!(
                    "{}[{i}]: always 0 or always 1: {never:#x}",
                    pin.name
                ));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Nothing but reset and stall is read in such a cycle. RTL that reads a pin there is found only if the pin has noise.
fn every_pin_is_noise_in_a_stalled_cycle<U: Unit>() {
    let mut driven = Driven::new::<U>();
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for _ in 0..200 {
        let mut pins = U::In::default();
        pins.set_stall(true);
        pins.scramble(true, &mut rng);
        driven.note::<U>(&pins);
    }
    for pin in U::DECLARATION
        .pins
        .iter()
        .filter(|pin| pin.role == Role::Plain)
    {
        // Of a list, only the first elements.
        assert_eq!(!driven.both(pin, 0) & pin.most(U::LANES), 0, "{}", pin.name);
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
    for number in 0..50 {
        space.expand().unwrap();
        all.extend(space.transitions(number, false));
    }
    all
}

/// Other values of a pin that never changes there are not explored.
fn every_pin_changes_in_the_small_worlds<U: Unit>() {
    let mut driven = Driven::new::<U>();
    small_world::<U>()
        .iter()
        .for_each(|pins| driven.note::<U>(pins));
    for pin in U::DECLARATION.pins {
        assert!(
            (0..pin.words()).any(|i| driven.both(pin, i) != 0),
            "{}",
            pin.name
        );
    }
}

/// The words of the instructions on the pins that it sees.
#[derive(Default)]
struct Words(BTreeSet<Vec<u64>>);

impl Words {
    /// The operations, without words that are refused or passed through.
    fn operations<U: Unit>(&self) -> BTreeSet<String> {
        let operation = |words: &Vec<u64>| U::anatomy(words).ok()?.operation;
        self.0.iter().filter_map(operation).collect()
    }
}

impl<U: Unit> Watch<U> for Words {
    fn before(&mut self, _: u64, pins: &U::In, _: &U::Golden) {
        self.0.insert(U::instruction(pins));
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// A bin that is not declared is not missed, and a word that is not in the alphabet of a small world is not explored.
fn every_operation_has_bins_and_is_in_the_small_worlds<U: Unit>() {
    let build = Build::from(&U::VARIANTS[0]);
    let mut of_campaigns = Words::default();
    for number in 0..40 {
        let (_, case) = campaign::case::<U>(1, number, &build);
        golden_alone(&case, 512, &mut of_campaigns);
    }
    let of_world = Words(small_world::<U>().iter().map(U::instruction).collect());
    let operations = of_world.operations::<U>();
    assert_eq!(of_campaigns.operations::<U>(), operations);
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
