//! Bins of the declaration: all are hit, and one that is missed or that is wrongly declared unreachable fails a run.

use std::process::{Command, Output};

use own_unit::{DECLARATION, Golden, In, RpStack, State, rtl};
use reconverge::bins::{Axis, Comparison, Cover, Operand, Relation, Sum, Unreachable};
use reconverge::campaign::{Options, fuzz};
use reconverge::design::{self, Build, Design};
use reconverge::dut::Rtl;
use reconverge::field::Declaration;
use reconverge::lockstep::Seen;
use reconverge::stream::Stream;
use reconverge::stream::coverage::{Coverage, Observer};

/// Runs the command of the crate.
fn own_unit(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own_unit"));
    command.args(args).current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.output().unwrap()
}

/// Runs `cover` of a design with these options.
fn cover(design: &str, options: &[&str]) -> Output {
    own_unit(&[&["cover", design], options].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Regression: a design without programs had no bins of its own.
#[test]
fn the_command_counts_the_bins_of_the_declaration_and_asks_for_all_of_them() {
    let all = cover("rpstack", &["--cycles", "20000", "--json", "cover.json"]);
    let said = text(&all.stdout);
    assert_eq!(all.status.code(), Some(0), "{said}");
    let row = "\n  use                     9/9  100.0 %  level x push x pop\n";
    assert!(said.contains(row), "{said}");
    assert!(said.contains("use: 2: a pop wants an entry"), "{said}");
    // Two files are added up.
    let more = ["--seed", "2", "--cycles", "20000", "--merge", "cover.json"];
    let merged = cover("rpstack", &more);
    assert_eq!(merged.status.code(), Some(0), "{}", text(&merged.stderr));

    let all = cover("slot", &["--cycles", "20000", "--require-all"]);
    assert_eq!(all.status.code(), Some(0), "{}", text(&all.stdout));
    let few = ["--programs", "1", "--stream-cycles", "8"];
    assert_eq!(cover("slot", &few).status.code(), Some(0));
    let few = cover("slot", &[&few[..], &["--require-all"]].concat());
    let (said, complaint) = (text(&few.stdout), text(&few.stderr));
    assert_eq!(few.status.code(), Some(1), "{said}{complaint}");
    assert!(said.contains("  missed            use: "), "{said}");
    assert!(
        complaint.contains(" reachable bins missed\n"),
        "{complaint}"
    );
}

#[test]
fn a_page_of_programs_and_streams_has_the_columns_of_both() {
    let tmp = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let dir = tempfile::tempdir_in(tmp).unwrap();
    let [results, page] = ["results", "page.html"].map(|name| dir.path().join(name));
    let [results, page] = [&results, &page].map(|path| path.to_str().unwrap());
    for design in ["rpseq", "slot"] {
        let fuzz = own_unit(&["fuzz", design, "--programs", "2", "--results", results]);
        assert_eq!(fuzz.status.code(), Some(0), "{}", text(&fuzz.stderr));
    }
    let report = own_unit(&["report", results, "-o", page]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
    let page = std::fs::read_to_string(page).unwrap();
    let heads = "<th>cases</th><th>cycles</th><th>instructions</th><th>scalar</th><th>failed</th>";
    assert!(page.contains(heads), "{page}");
}

#[test]
fn every_bin_is_hit_with_one_entry_and_with_seven() {
    for depth in [1, 7] {
        let mut build = Build::from(8);
        build.parameters.insert("DEPTH".to_owned(), depth);
        let rtl = Rtl::<RpStack>::of(build, &rtl()).unwrap();
        let options = Options::default().cases(200);
        let met = fuzz::<Stream<RpStack>>(&rtl, &options.out(env!("CARGO_TARGET_TMPDIR"))).unwrap();
        let coverage = met.coverage(rtl.build());
        let missing = coverage.missing::<RpStack>();
        let bins = missing.iter().filter(|line| line.starts_with("cover "));
        assert_eq!(bins.count(), 0, "{missing:?}");
        assert_eq!(coverage.impossible::<RpStack>(), [""; 0]);
        let table = coverage.table::<RpStack>().to_string();
        let reachable = if depth == 1 { "5" } else { "9" };
        let row = table.lines().find(|row| row.starts_with("  cover use "));
        let row: Vec<&str> = row.unwrap().split_whitespace().collect();
        assert_eq!(row, ["cover", "use", reachable, "of", reachable]);
    }
}

/// The stack, with a declaration that takes a push for unreachable.
#[derive(Clone, Copy, Debug)]
struct Wrong;

const PUSH: Comparison = Comparison {
    left: Sum {
        of: Operand::Pin(1),
        plus: 0,
    },
    relation: Relation::Equal,
    right: Sum {
        of: Operand::Number(1),
        plus: 0,
    },
};

const NEVER: Declaration = Declaration {
    covers: &[Cover {
        name: "pushes",
        doc: "cycles with a push",
        when: &[&[]],
        axes: &[Axis {
            name: "push",
            bins: &[("1", &[&[PUSH]])],
        }],
        unreachable: &[Unreachable {
            at: &[&[0]],
            when: &[&[]],
            why: "it is not",
        }],
        of_enum: false,
    }],
    ..DECLARATION
};

impl Design for Wrong {
    const DECLARATION: &'static Declaration = &NEVER;
    type In = In;
    type State = State;
    type Golden = Model;
}

/// The golden model of the stack as that of [`Wrong`].
#[derive(Clone)]
struct Model(Golden);

impl design::Golden<Wrong> for Model {
    fn build(build: &Build) -> Self {
        Model(design::Golden::<RpStack>::build(build))
    }
    fn cycle(&mut self, pins: &In) -> &State {
        design::Golden::<RpStack>::cycle(&mut self.0, pins)
    }
    fn state(&self) -> &State {
        design::Golden::<RpStack>::state(&self.0)
    }
    fn constrain(&self, pins: &mut In) {
        design::Golden::<RpStack>::constrain(&self.0, pins);
    }
}

#[test]
fn a_bin_that_is_hit_and_declared_unreachable_is_told() {
    let build = Build::from(8);
    let mut observer = Observer::<Wrong>::new(build.clone());
    let mut golden = <Model as design::Golden<Wrong>>::build(&build);
    for pins in &Stream::<Wrong>::random(1, 100, &build).cycles.0 {
        let state = design::Golden::<Wrong>::cycle(&mut golden, pins);
        observer.see(&Seen::new(pins, state));
    }
    let coverage = observer.coverage();
    let said = "cover pushes: push 1 was hit, and is declared unreachable: it is not";
    assert_eq!(coverage.impossible::<Wrong>(), [said]);
    assert_eq!(Coverage::new::<Wrong>(build).impossible::<Wrong>(), [""; 0]);
}

/// Regression: only pins and fields had bins, and a golden model that speaks in transactions has no state.
#[test]
fn what_the_golden_model_counts_has_bins_too() {
    let all = [
        "--cycles",
        "20000",
        "--require-all",
        "--json",
        "answers.json",
    ];
    let all = cover("answers", &all);
    let said = text(&all.stdout);
    assert_eq!(all.status.code(), Some(0), "{said}{}", text(&all.stderr));
    let row = "\n  requests              13/13  100.0 %  open x request\n";
    assert!(said.contains(row), "{said}");
    assert!(
        said.contains("requests: 1: the unit has four slots"),
        "{said}"
    );
    let more = [
        "--seed",
        "2",
        "--cycles",
        "20000",
        "--merge",
        "answers.json",
    ];
    assert_eq!(cover("answers", &more).status.code(), Some(0));
}

/// The stack, with a coverpoint. Its golden model gives it or, with `GIVEN` false, does not.
#[derive(Clone, Copy, Debug)]
struct Counting<const GIVEN: bool>;

const COUNTS: Declaration = Declaration {
    covers: &[Cover {
        name: "levels",
        doc: "cycles with each level before them",
        when: &[&[]],
        axes: &[Axis {
            name: "level",
            bins: &[
                ("none", &[&[is(Operand::Coverpoint(0), 0)]]),
                ("some", &[&[is(Operand::Coverpoint(0), 2)]]),
                ("pushed", &[&[is(Operand::Coverpoint(1), 1)]]),
            ],
        }],
        unreachable: &[],
        of_enum: false,
    }],
    coverpoints: &["level", "pushed"],
    ..DECLARATION
};

const fn is(left: Operand, right: u64) -> Comparison {
    Comparison {
        left: Sum { of: left, plus: 0 },
        relation: Relation::Equal,
        right: Sum {
            of: Operand::Number(right),
            plus: 0,
        },
    }
}

impl<const GIVEN: bool> Design for Counting<GIVEN> {
    const DECLARATION: &'static Declaration = &COUNTS;
    type In = In;
    type State = State;
    type Golden = Model;
}

impl<const GIVEN: bool> design::Golden<Counting<GIVEN>> for Model {
    fn build(build: &Build) -> Self {
        Model(design::Golden::<RpStack>::build(build))
    }
    fn cycle(&mut self, pins: &In) -> &State {
        design::Golden::<RpStack>::cycle(&mut self.0, pins)
    }
    fn state(&self) -> &State {
        design::Golden::<RpStack>::state(&self.0)
    }
    fn constrain(&self, pins: &mut In) {
        design::Golden::<RpStack>::constrain(&self.0, pins);
    }
    fn coverpoint(&self, name: &str, pins: &In) -> u64 {
        match name {
            _ if !GIVEN => panic!("it does not give {name}"),
            "level" => design::Golden::<RpStack>::state(&self.0).level.into(),
            _ => pins.push.into(),
        }
    }
}

#[test]
fn a_coverpoint_is_what_the_golden_model_says_before_the_cycle() {
    let there = Rtl::<Counting<true>>::of(8, &rtl()).unwrap();
    let here = Rtl::from_built(there.built()).unwrap();
    for rtl in [there, here] {
        let mut cycles = vec![In::default(); 3];
        cycles[0].rst_n = 0;
        let mut bins = |pushes: usize| {
            cycles.push(In {
                push: 1,
                ..In::default()
            });
            assert_eq!(cycles.len(), pushes + 3);
            let stream = Stream::<Counting<true>>::new("pushes", rtl.build(), cycles.clone());
            let mut observer = Observer::<Counting<true>>::new(8);
            let mut dut = rtl.open(1).unwrap();
            let judged =
                stream.check_on(&mut dut, None, &mut |cycle: &Seen<_>| observer.see(cycle));
            judged.unwrap().unwrap();
            observer.coverage().bins
        };
        // The first cycle behind the reset has no push; of a cycle the first bin that holds is hit.
        assert_eq!(bins(1), [true, false, false]);
        assert_eq!(bins(2), [true, false, true]);
        assert_eq!(bins(3), [true, true, true]);
    }
}

#[test]
fn a_golden_model_that_does_not_give_a_coverpoint_fails_its_streams_and_says_why() {
    let rtl = Rtl::<Counting<false>>::of(8, &rtl()).unwrap();
    let options = Options::default().cases(1).out(env!("CARGO_TARGET_TMPDIR"));
    let found = fuzz::<Stream<Counting<false>>>(&rtl, &options).unwrap_err();
    let why = "the golden model panics in cycle 0: it does not give level";
    assert!(found.to_string().contains(why), "{found}");
}
