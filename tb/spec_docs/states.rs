//! Steps from any legal state. Programs reach few of the states that there are; here the Python judges the golden model in states at
//! every limit, each with instructions of every sort and with every lane's conditions drawn.

use bytemuck::bytes_of_mut;
use rand::Rng as _;
use rand::seq::IndexedRandom as _;
use reconverge::assembly::Assembly as _;
use reconverge::campaign;
use reconverge::start::Start as _;

use super::*;
use crate::driven::plain;

/// Cases of each build, which begin in some 20 states each, and steps from each of the states.
const CASES: usize = 8;
const TRIES: usize = 24;

/// Draws a value for each of `pins`.
fn draw<U: Unit>(pins: &[&Pin], to: &mut U::In, rng: &mut Pcg64Mcg) {
    for pin in pins {
        for i in 0..pin.words() {
            pin.set(bytes_of_mut(to), i, rng.random::<u64>() & pin.most(64));
        }
    }
}

/// Changes an instruction, so that words occur that no program has: a bit, or up to sixteen beside each other.
fn change<U: Unit>(words: &[&Pin], pins: &mut U::In, rng: &mut Pcg64Mcg) {
    let pin = words.choose(rng).unwrap();
    let bits = *[1, 0xffff].choose(rng).unwrap();
    let bits = (rng.random_range(1..=bits)) << rng.random_range(0..64);
    let word = pin.get(bytes_of(pins), 0) ^ bits & pin.most(64);
    pin.set(bytes_of_mut(pins), 0, word);
}

impl Runs {
    /// Tries steps of the program of `case` from each state in which it may begin.
    fn tries<U: Normative>(&mut self, case: &Case<U>, rng: &mut Pcg64Mcg) {
        let (build, lanes) = (case.build(), case.lanes as usize);
        let pins: Vec<&Pin> = plain::<U>().collect();
        let is_word = |pin: &&&Pin| {
            let mut ones = U::In::default();
            pin.set(bytes_of_mut(&mut ones), 0, pin.most(64));
            U::instruction(&ones) != U::instruction(&U::In::default())
        };
        let words: Vec<&Pin> = pins.iter().filter(is_word).copied().collect();
        let launch = U::launch(case, None);
        let mut launched = case.golden();
        launched.cycle(&U::In::reset());
        for pins in U::setup(&case.program).iter().chain([&launch]) {
            launched.cycle(pins);
        }
        let starts = case.start.iter();
        let starts = starts.map(|start| start.states(&build, launched.state()));
        let starts: Vec<Vec<U::State>> = starts.collect();
        let mut environment = U::Environment::new(case);
        environment.launched();
        for (number, start) in starts.iter().enumerate() {
            let at = format!("{}, start {number}", case.program.name());
            let mut begun = launched.clone();
            start.iter().for_each(|state| begun.load(state));
            if !U::running(begun.state()) {
                continue;
            }
            let request = json!({
                "launch": U::launched(&launch, &launched, &build),
                "state": U::state(&begun, lanes),
            });
            let shown = U::state(&launched, lanes);
            self.script.lines.push((at.clone(), request, shown));
            for _ in 0..TRIES {
                let mut given = U::In::default();
                // An instruction from elsewhere in the program.
                let elsewhere = starts.choose(rng).and_then(|states| states.last()).unwrap();
                environment.set_pins(elsewhere, rng, &mut given);
                if rng.random_ratio(2, 3) {
                    change::<U>(&words, &mut given, rng);
                }
                let mut golden = begun.clone();
                golden.cycle(&given);
                while golden.step() == Step::None {
                    // Its further cycles read no pins.
                    let mut noise = given;
                    draw::<U>(&pins, &mut noise, rng);
                    golden.cycle(&noise);
                }
                for field in U::fields().iter().filter(|field| field.per_lane()) {
                    let beyond = (lanes..64).all(|i| field.get(bytes_of(golden.state()), i) == 0);
                    assert!(beyond, "{at}: {} of a lane that does not exist", field.name);
                }
                let mut request = read::<U>(&given);
                request["again"] = json!(1);
                self.errors.insert(U::error(golden.state()));
                let answer = answer::<U>(&given, &golden, lanes);
                self.script.lines.push((at.clone(), request, answer));
                self.steps += 1;
            }
        }
    }
}

pub(super) fn python_and_golden_agree_in_any_state<U: Normative>() {
    let (mut runs, mut rng) = (Runs::default(), Pcg64Mcg::seed_from_u64(1));
    for (lanes, parameters) in U::BUILDS {
        let mut build = Build::from(*lanes);
        let parameters = parameters.iter();
        build.parameters = parameters.map(|(n, v)| ((*n).to_owned(), *v)).collect();
        let cases = (0..).map(|number| campaign::case::<U>(1, number, &build).1);
        for case in cases.filter(|case| !case.start.is_empty()).take(CASES) {
            runs.tries(&case, &mut rng);
        }
    }
    runs.agree::<U>();
    let missing: Vec<u8> = U::ERRORS
        .filter(|code| !runs.errors.contains(code))
        .collect();
    let expected: &[u8] = match U::NAME {
        // PARTIAL: a mode of the launch.
        "r500" => &[2],
        // PC_RANGE: its states lie in the program.
        "spa5" => &[6],
        _ => &[],
    };
    assert_eq!(missing, expected, "{:?}", runs.errors);
}
