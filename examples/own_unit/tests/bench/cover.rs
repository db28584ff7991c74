//! Bins of the declaration: all are hit, and one that is missed or that is wrongly declared unreachable fails a run.

use std::process::{Command, Output};

use own_unit::{DECLARATION, Golden, In, RpStack, State, rtl};
use reconverge::bins::{Axis, Comparison, Cover, Operand, Relation, Sum, Unreachable};
use reconverge::campaign::{Options, fuzz};
use reconverge::design::{self, Build, Design};
use reconverge::dut::Rtl;
use reconverge::field::Declaration;
use reconverge::stream::Stream;
use reconverge::stream::coverage::{Coverage, Observer};

/// Runs `cover` of a design with these options.
fn cover(design: &str, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own_unit"));
    command.args(["cover", design]).args(options);
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.output().unwrap()
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
        complaint.contains(" reachable bins were missed\n"),
        "{complaint}"
    );
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
        observer.see(pins, state);
    }
    let coverage = observer.coverage();
    let said = "cover pushes: push 1 was hit, and is declared unreachable: it is not";
    assert_eq!(coverage.impossible::<Wrong>(), [said]);
    assert_eq!(Coverage::new::<Wrong>(build).impossible::<Wrong>(), [""; 0]);
}
