//! Streams of pins: drawn as declared, saved and read back, shortened, refused with file and field where they are wrong.
//! `examples/own_unit` has a design that runs no program; here the units serve as designs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use bytemuck::bytes_of;
use reconverge::campaign::{Drawn as _, Options, fuzz, replay};
use reconverge::check::{TestCase, check};
use reconverge::design::{Build, Control, Design, Golden};
use reconverge::dut::Rtl;
use reconverge::failure::{Cause, Failure};
use reconverge::field::{Declaration, Flip, Role, Shape};
use reconverge::found::Found;
use reconverge::lockstep::{Compared, Seen};
use reconverge::place::Place;
use reconverge::r500::state::{In, State};
use reconverge::r500::{R500, golden};
use reconverge::saved::{Savable as _, Saved};
use reconverge::shrink::Budget;
use reconverge::stream::coverage::Observer;
use reconverge::stream::{RESET_CYCLES, Stream};

mod campaigns;

use crate::common::schema::Formats;
use crate::common::{ROOT, Tested, refusal};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                pins_are_drawn_as_they_are_declared,
                a_stream_reads_back_as_it_was_saved,
                a_flipped_bit_of_each_field_fails_and_its_stream_is_cut_behind_it,
            );
        })+
    };
}
for_each_unit!(tests);

/// Bytes of all cycles.
fn bytes<D: Design>(stream: &Stream<D>) -> Vec<u8> {
    stream
        .cycles
        .0
        .iter()
        .flat_map(|pins| bytes_of(pins).to_vec())
        .collect()
}

/// A reset, and cycles in which nothing is asked of the design.
fn idle<D: Design>(cycles: usize) -> Stream<D> {
    let mut pins = vec![D::In::default(); cycles];
    pins[0] = D::In::reset();
    Stream::new("idle", &Build::from(D::LANES), pins)
}

/// Regression: two bugs with the same seed wrote the same files, and the first one was lost.
#[test]
fn a_failure_never_takes_the_file_of_another_one() {
    let dir = tempfile::tempdir().unwrap();
    let found = |how: &str, cycles: usize| {
        let failure = Failure::new(
            &idle::<R500>(cycles),
            Cause::Crashed(how.to_owned()),
            Compared::default(),
        );
        let not_smaller = |_: &_| Err(String::new());
        let out = Some(dir.path());
        let found = Found::of(failure, String::new(), out, not_smaller, |_| {
            Err(String::new())
        });
        let file = found.saved.unwrap();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        // Its name everywhere.
        assert_eq!(format!("{}.json", found.failure.case.name()), name);
        let saved = Saved::<Stream<R500>>::parse(&fs::read_to_string(file).unwrap(), "saved");
        assert_eq!(saved.unwrap().case.cycles.0.len(), cycles);
        name
    };
    assert_eq!(found("one", 4), "r500.idle.1.json");
    assert_eq!(found("two", 4), "r500.idle-2.1.json");
    assert_eq!(found("one", 5), "r500.idle-3.1.json");
    // The same ones again are the same files.
    assert_eq!(found("two", 4), "r500.idle-2.1.json");
    assert_eq!(found("one", 4), "r500.idle.1.json");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn a_flip_after_the_end_of_a_stream_is_no_agreement() {
    let mut stream = idle::<R500>(4);
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    check(&stream, &rtl).unwrap();
    for (cycle, comes) in [(3, true), (4, false)] {
        stream.flip = Some(Flip {
            field: "pc".to_owned(),
            element: 0,
            bit: 0,
            cycle,
        });
        match check(&stream, &rtl).unwrap_err().cause {
            Cause::Mismatch(_) => assert!(comes),
            Cause::NotRun(why) => {
                assert!(!comes && why.ends_with("cycle 4 never came"), "{why}");
            }
            _ => panic!("it stopped"),
        }
    }
}

fn pins_are_drawn_as_they_are_declared<U: Tested>() {
    let stream = Stream::<U>::random(7, 4000, &Build::from(U::LANES));
    assert_eq!(
        bytes(&stream),
        bytes(&Stream::<U>::random(7, 4000, &stream.build()))
    );
    assert_ne!(
        bytes(&stream),
        bytes(&Stream::<U>::random(8, 4000, &stream.build()))
    );
    for pin in U::DECLARATION.pins {
        let values = || {
            let cycles = stream.cycles.0.iter();
            cycles.flat_map(|pins| (0..pin.words()).map(|i| pin.get(bytes_of(pins), i)))
        };
        let (least, most) = match (pin.role, pin.shape) {
            (Role::Reset { asserted }, _) => {
                assert!(values().take(RESET_CYCLES).all(|v| v == asserted));
                let resets = values()
                    .skip(RESET_CYCLES)
                    .filter(|v| *v == asserted)
                    .count();
                assert!((1..200).contains(&resets), "{}: {resets} resets", pin.name);
                continue;
            }
            (_, Shape::Words { .. }) if pin.width > 1 => pin.range,
            _ => (0, pin.most(U::LANES)),
        };
        assert_eq!(values().min(), Some(least), "{}", pin.name);
        assert_eq!(values().max(), Some(most), "{}", pin.name);
    }
}

fn a_stream_reads_back_as_it_was_saved<U: Tested>() {
    let mut stream = Stream::<U>::random(3, 50, &Build::from(5));
    stream.flip = Some(Flip {
        field: U::fields()[0].name.to_owned(),
        element: 0,
        bit: 0,
        cycle: 9,
    });
    let place = Place::Hung { seconds: 60 };
    let text = saved(&stream, place.clone());
    // docs/formats.md says what is in it.
    if let Err(why) = Formats::of::<U>(5).object("saved-stream", &text) {
        panic!("{}: saved-stream{why}", U::NAME);
    }
    let saved = Saved::<Stream<U>>::parse(&text, "s.json").unwrap();
    assert_eq!(saved.to_text(), text);
    assert_eq!(saved.failure, Some(place));
    assert_eq!(bytes(&saved.case), bytes(&stream));
    assert_eq!(saved.case.flip, stream.flip);
}

/// The bench sees each field: changing the expected value in cycle 3 fails there, and nowhere else.
fn a_flipped_bit_of_each_field_fails_and_its_stream_is_cut_behind_it<U: Tested>() {
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    assert_eq!(check(&idle::<U>(12), &rtl).unwrap().compared.cycles, 12);
    for (number, field) in U::fields().iter().enumerate() {
        let mut stream = idle::<U>(12);
        stream.flip = Some(Flip {
            field: field.name.to_owned(),
            element: 0,
            bit: 0,
            cycle: 3,
        });
        let failure = check(&stream, &rtl).unwrap_err();
        let Cause::Mismatch(mismatch) = &failure.cause else {
            panic!("{failure}");
        };
        assert_eq!(
            (mismatch.cycle, mismatch.diffs.len()),
            (3, 1),
            "{}",
            field.name
        );
        assert_eq!(mismatch.first().field, number);
        // The flip stays where it is: three cycles before it, and its own.
        // Regression: the longest time was one too long to be added to another.
        let budget = Budget {
            time: Duration::MAX,
            ..Budget::default()
        };
        let other = |_| Err("no other lanes".to_owned());
        let shrunk = Stream::shrink(&failure, &rtl, &other, &budget, &mut ()).unwrap();
        assert_eq!(shrunk.failure.case.cycles.0.len(), 4, "{}", field.name);
        assert_eq!(shrunk.failure.case.name, "idle-shrunk");
        assert_eq!(shrunk.failure.cycle(), 3);
        // Regression: the flip was removed, so that the stream failed by values that an earlier run had left in registers.
        assert!(shrunk.failure.case.cycles.0[0].is_reset());
    }
}

/// Returns the text of `stream`, which failed at `place`.
fn saved<D: Design>(stream: &Stream<D>, place: Place) -> String {
    let saved = Saved {
        failure: Some(place),
        case: stream.clone(),
    };
    saved.to_text()
}

/// Returns the error for `stream`, saved with `right` replaced by `wrong`.
fn refused(stream: &Stream<R500>, right: &str, wrong: &str) -> String {
    let text = saved(stream, Place::Hung { seconds: 1 });
    assert_eq!(text.matches(right).count(), 1, "{right}: {text}");
    let parsed = Saved::<Stream<R500>>::parse(&text.replace(right, wrong), "s.json");
    parsed
        .err()
        .unwrap_or_else(|| panic!("{wrong} is taken"))
        .to_string()
}

#[test]
fn a_saved_stream_that_is_wrong_is_refused_with_the_line_and_the_field() {
    let stream = idle::<R500>(1);
    let said = |right: &str, wrong: &str| refused(&stream, right, wrong);
    for (right, wrong, message) in [
        (
            "\"reconverge_stream\": 2",
            "\"reconverge_stream\": 3",
            "s.json: reconverge_stream: format 3 is of a later version, this one reads 2",
        ),
        (
            "\"reconverge_stream\": 2,",
            "",
            "s.json: reconverge_stream: missing: not a saved stream",
        ),
        (
            "\"design\": \"r500\"",
            "\"design\": \"fifo\"",
            "s.json: design: the stream is for \"fifo\", not for r500",
        ),
        (
            "\"seed\": \"0x1\"",
            "\"seed\": \"0x0\"",
            "s.json: seed: must be at least 1",
        ),
        (
            "\"lanes\": 16",
            "\"lanes\": 65",
            "s.json: lanes: the number of lanes must be 1 to 64, not 65",
        ),
        (
            "\"name\": \"idle\"",
            "\"name\": \"a/b\"",
            "s.json: name: \"a/b\" cannot be part of a file name",
        ),
        (
            "\"parameters\": {}",
            "\"parameters\": {\"X\": 1}",
            "s.json: parameter: r500 has no parameter X, only lanes",
        ),
    ] {
        assert_eq!(said(right, wrong), message);
    }
    for (wrong, message) in [
        (
            "\"rst_m\"",
            "cycle 0: rst_m: r500 has no such pin; there are ",
        ),
        (
            "\"rst_n\": \"0x2\", \"stall\"",
            "cycle 0: rst_n: 0x2 is more than 0x1",
        ),
    ] {
        let said = said("\"rst_n\"", wrong);
        assert!(
            said.starts_with("s.json:") && said.contains(message),
            "{said}"
        );
    }
    let mut running = idle::<R500>(2);
    running.cycles.0.remove(0);
    let why = running.check_input("s.json").unwrap_err().to_string();
    assert_eq!(
        why,
        "s.json: cycles: the first one must be a reset: the design powers up in any state"
    );
    let empty = Stream::<R500>::new("empty", &Build::from(16), Vec::new());
    let why = empty.check_input("s.json").unwrap_err().to_string();
    assert_eq!(why, "s.json: cycles: none: nothing would be compared");
}

/// Regression: a stream without lanes agreed, having compared nothing, and with 65 the golden model panicked.
#[test]
fn lanes_are_checked_at_every_entrance() {
    for lanes in [1, 64] {
        Build::from(lanes).check::<R500>("").unwrap();
        Stream::<R500>::random(1, 10, &Build::from(lanes));
    }
    for lanes in [0, 65, 128] {
        let why = format!("the number of lanes must be 1 to 64, not {lanes}");
        let refused = Rtl::<R500>::own(lanes).err().unwrap();
        assert_eq!(refused.to_string(), why);
        let drawn = std::panic::catch_unwind(|| {
            Stream::<R500>::random(1, 10, &Build::from(lanes));
        });
        let said = drawn.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(*said, why);
        let mut stream = idle::<R500>(3);
        stream.lanes = lanes;
        let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
        let said = check(&stream, &rtl).unwrap_err().to_string();
        let head = format!("NOT RUN r500.idle.1  r500.idle.1: lanes: {why}");
        assert!(said.starts_with(&head), "{said}");
    }
}

#[test]
fn what_never_changed_in_streams_is_named() {
    let pins = R500::DECLARATION.pins;
    let mut observer = Observer::<R500>::new(16);
    let mut golden = golden::Golden::new(16);
    for _ in 0..100 {
        let state = Golden::<R500>::cycle(&mut golden, &In::reset());
        observer.see(&Seen::new(&In::reset(), state));
    }
    let lines = observer.coverage().idle::<R500>();
    assert_eq!(
        lines[..2],
        [
            "the reset was asserted in 100 of 100 cycles: little else was compared",
            "no field ever changed: the streams, or the golden model, do nothing",
        ]
    );
    assert_eq!(lines.len(), 2 + pins.len() + R500::fields().len());
    assert!(
        lines.contains(&"pin launch never changed".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"field pc never changed".to_owned()),
        "{lines:?}"
    );
    let mut stream = Stream::<R500>::random(3, 4000, &Build::from(16));
    let mut golden = golden::Golden::new(16);
    for pins in &mut stream.cycles.0 {
        let state = Golden::<R500>::cycle(&mut golden, pins);
        observer.see(&Seen::new(pins, state));
    }
    let lines = observer.coverage().idle::<R500>();
    assert!(
        !lines.iter().any(|line| line.contains("launch")),
        "{lines:?}"
    );
}

#[test]
fn a_stream_for_another_build_is_not_run() {
    let rtl = Rtl::<R500>::own(4).unwrap();
    let failure = check(&idle::<R500>(3), &rtl).unwrap_err();
    let said = failure.to_string();
    assert!(
        said.starts_with("NOT RUN r500.idle.1  the stream is for 16 lanes, the RTL has 4 lanes"),
        "{said}"
    );
}

#[test]
fn a_file_that_is_not_there_is_no_failure_of_the_rtl() {
    let rtl = Rtl::<R500>::own(16).unwrap();
    let said = replay::<Stream<R500>>(Path::new("no-such.json"), &rtl)
        .map(|_| ())
        .unwrap_err();
    assert!(
        said.to_string()
            .starts_with("no-such.json: file: there is no such file in "),
        "{said}"
    );
}

/// The command knows only its own units as designs: the message says where to run such a file.
#[test]
fn replay_says_whose_test_runs_a_saved_stream() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.json");
    let text = saved(&idle::<R500>(2), Place::Hung { seconds: 1 });
    let text = text.replace("\"design\": \"r500\"", "\"design\": \"fifo\"");
    std::fs::write(&file, text).unwrap();
    let said = refusal(&["replay", crate::common::arg(&file)]);
    let message = "reconverge: a stream of pins of design fifo: a test of that design runs it (reconverge::campaign::replay)";
    assert!(said.contains(message), "{said}");
}

/// r500 with a golden model that panics.
#[derive(Clone, Copy)]
struct Fragile;

impl Design for Fragile {
    const DECLARATION: &'static Declaration = R500::DECLARATION;
    type In = In;
    type State = State;
    type Golden = Panics;
}

#[derive(Clone)]
struct Panics(golden::Golden);

impl Golden<Fragile> for Panics {
    fn build(build: &Build) -> Self {
        Panics(golden::Golden::new(build.lanes as usize))
    }
    fn cycle(&mut self, pins: &In) -> &State {
        assert!(
            pins.rst_n == 0 || pins.const_we == 0 || pins.const_addr != 33,
            "no constant 33"
        );
        self.0.cycle(pins)
    }
    fn state(&self) -> &State {
        self.0.state()
    }
}

/// Regression: seed, cycle and pins were lost.
#[test]
fn a_golden_model_that_panics_fails_with_its_seed_and_a_short_stream() {
    let dir = tempfile::tempdir().unwrap();
    let rtl = Rtl::<Fragile>::of(16, &Path::new(ROOT).join("rtl/r500")).unwrap();
    let found =
        fuzz::<Stream<Fragile>>(&rtl, &Options::default().cases(200).out(dir.path())).unwrap_err();
    let text = found.to_string();
    assert!(text.starts_with("NOT RUN r500.short-"), "{text}");
    assert!(found.failure.case.name.ends_with("-shrunk"), "{text}");
    let said = "the golden model panics in cycle 2: no constant 33\n";
    assert!(text.contains(said), "{text}");
    assert!(
        text.contains("const_addr=33 const_we=1") || text.contains("const_addr=0x21"),
        "{text}"
    );
    let stream = &found.failure.case;
    assert_eq!(stream.cycles.0.len(), RESET_CYCLES + 1);
    let saved = fs::read_to_string(found.saved.as_ref().unwrap()).unwrap();
    let saved = Saved::<Stream<Fragile>>::parse(&saved, "saved").unwrap();
    assert!(saved.case.cycles.0.last().unwrap().const_addr == 33);
    // Of the saved stream it is said again.
    let again =
        fuzz::<Stream<Fragile>>(&rtl, &Options::default().cases(200).out(dir.path())).unwrap_err();
    assert!(again.to_string().contains(said), "{again}");
    assert_eq!(again.saved, found.saved);
}
