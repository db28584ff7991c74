//! Assertions of the RTL, `rtl/<unit>/<unit>_sva.sv`: each fails in RTL with a fault for it and in no other RTL. They do not
//! apply to a state that was preloaded.

use std::fs;

use bytemuck::{Zeroable, bytes_of_mut};
use reconverge::campaign::{Pace, recorded};
use reconverge::design::Build;
use reconverge::design::Control;
use reconverge::dut::Rtl;

use crate::common::Tested;
use crate::common::changes::Change;
use crate::common::rtl::{Copy, Rtl as Folder, faults};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                every_assertion_fails_for_a_fault_and_none_without,
                a_state_that_was_preloaded_is_not_held_to_assertions_until_a_reset,
            );
        }
    )+};
}
for_each_unit!(tests);

/// The fault that is present, and the only assertion that is checked; 0: no fault, all assertions.
const CHOICE: &str = "\
package choice;
  function automatic int unsigned given();
    if ($value$plusargs(\"reconverge_mutant=%d\", given) == 0) given = 0;
  endfunction
  int unsigned value = given();
endpackage
";

/// The file that [`CHOICE`] reads.
fn choice(fault: usize, assertion: usize) -> u32 {
    u32::try_from(fault | assertion << 8).unwrap()
}

/// The RTL of `U` with all of its faults, and the names of its assertions.
fn with_faults<U: Tested>(faults: &[Change]) -> (Copy, Vec<String>) {
    let copy = Folder::own(U::NAME).copy();
    for (fault, number) in faults.iter().zip(1..) {
        let present = format!("(choice::value[7:0] == 8'd{number})");
        let to = fault.to.replace("FAULT", &present);
        copy.change((&fault.file, &fault.from, &to));
    }
    let path = |name: &str| copy.dir().join(name);
    fs::write(path("choice.sv"), CHOICE).unwrap();
    let list = path(&format!("{}.f", U::NAME));
    let files = fs::read_to_string(&list).unwrap();
    fs::write(&list, format!("choice.sv\n{files}")).unwrap();

    let bound = path(&format!("{}_sva.sv", U::NAME));
    let mut names = Vec::new();
    let mut text = String::new();
    for line in fs::read_to_string(&bound).unwrap().lines() {
        let labelled = line.split_once(": assert (");
        if let Some((name, _)) = labelled.or(line.split_once(": assume (")) {
            names.push(name.trim().to_owned());
            let alone = format!("choice::value[15:8] inside {{8'd0, 8'd{}}}", names.len());
            text += &format!("if ({alone}) {}\n", line.trim_start());
        } else {
            text += &format!("{line}\n");
        }
    }
    fs::write(&bound, text).unwrap();
    (copy, names)
}

/// Few lanes and small stacks, which fill up soon; all optional parts are built in.
fn small<U: Tested>() -> Build {
    let mut build = Build::from(4);
    let parameters: &[(&str, u32)] = match U::NAME {
        "r700" => &[("DX10_COUNT", 1), ("MAX_STACK_SIZE", 3), ("SUBENTRIES", 8)],
        "spa5" => &[("BRX", 1), ("CSM", 1), ("DEPTH", 6)],
        _ => &[],
    };
    build
        .parameters
        .extend(parameters.iter().map(|(n, v)| ((*n).to_owned(), *v)));
    build
}

fn every_assertion_fails_for_a_fault_and_none_without<U: Tested>() {
    let faults = faults(U::NAME, "assertions");
    let (copy, names) = with_faults::<U>(&faults);
    let build = small::<U>();
    let rtl = Rtl::<U>::of(build.clone(), copy.dir()).unwrap();
    let pins = recorded::<U>(1, &build, 100_000, Pace::Campaign);
    // The message with which the RTL stops for this choice.
    let stopped = |choice: u32| {
        let mut dut = rtl.clone().mutant(choice).open(1).unwrap();
        let _ = dut.bare(&pins);
        dut.stopped()
    };
    assert_eq!(stopped(0), None, "without a fault");

    let mut wrong = Vec::new();
    for (number, name) in (1..).zip(&names) {
        let mut of_it = (1..)
            .zip(&faults)
            .filter(|(_, fault)| fault.expected.split(' ').any(|of| of == name))
            .peekable();
        if of_it.peek().is_none() {
            wrong.push(format!("{name}: no fault"));
        }
        for (present, Change { file, to, .. }) in of_it {
            let why = stopped(choice(present, number));
            let named = format!("u_sva.{name}: ");
            if !why.as_ref().is_some_and(|why| why.contains(&named)) {
                wrong.push(format!("{name}: {why:?} with {to:?} in {file}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // No name is misspelt.
    let listed = faults.iter().flat_map(|fault| fault.expected.split(' '));
    for name in listed {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
}

/// No unit has a legal state of ones alone.
fn a_state_that_was_preloaded_is_not_held_to_assertions_until_a_reset<U: Tested>() {
    let (copy, _) = with_faults::<U>(&faults(U::NAME, "assertions"));
    let build = small::<U>();
    let rtl = Rtl::<U>::of(build.clone(), copy.dir()).unwrap();
    let mut stalled = U::In::default();
    stalled.set_stall(true);
    let mut impossible = U::State::zeroed();
    bytes_of_mut(&mut impossible).fill(0xff);

    let mut dut = rtl.mutant(choice(1, 0)).open(1).unwrap();
    for pins in [U::In::reset(), U::In::reset(), stalled] {
        dut.clock(&pins, None);
    }
    dut.load(&impossible);
    for _ in 0..3 {
        dut.clock(&stalled, None);
    }
    assert_eq!(dut.stopped(), None);
    // The pins begin with a reset, and the fault is present.
    dut.bare(&recorded::<U>(1, &build, 20_000, Pace::Campaign));
    let why = dut.stopped().unwrap();
    assert!(why.contains("u_sva."), "{why}");
}
