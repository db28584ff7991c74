//! Runs that must fail, and how: a flipped golden bit, RTL with one operator changed, an uncaught flip.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::dump::Dump;
use crate::common::rtl::{Change, Rtl as Folder};
use crate::common::{
    ROOT, Tested, arg, line_starting, loaded, mismatch, program, reconverge, reconverge_ends, text,
};
use reconverge::assembly::Assembly as _;
use reconverge::case::Case;
use reconverge::check::check;
use reconverge::design::{Build, Golden};
use reconverge::dut::Rtl;
use reconverge::field::Flip;
use reconverge::saved::Savable as _;
use reconverge::stimulus;
use reconverge::wave;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                every_flipped_bit_of_every_field_is_reported_where_it_is,
                a_flipped_bit_of_each_field_ends_in_a_report_and_a_dump_with_both_sides,
                a_dump_holds_the_design_and_the_fields_of_both_sides_and_no_net_of_the_bench,
                a_mismatch_in_a_test_ends_as_one_of_the_command,
                #[ignore = "many models or proofs; CI's step changes runs it"]
                rtl_that_is_wrong_only_with_other_lanes_or_parameters_is_caught_by_a_variant_alone,
            );
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                rtl_with_one_operator_changed_is_caught_and_its_case_replays,
                a_test_on_changed_rtl_ends_with_the_line_that_shows_it_again,
                rtl_that_breaks_the_clock_contract_is_caught_and_its_case_replays,
                rtl_that_stops_the_simulation_is_reported_and_its_case_replays,
            );
        }
    )+};
}
for_each_unit!(tests);

/// Every bit of every element of every field, flipped once in what the golden expects, is reported at
/// that cycle as that bit of that element of that field and nothing else.
fn every_flipped_bit_of_every_field_is_reported_where_it_is<U: Tested>() {
    let mut case = Case::<U>::new(loaded::<U>(U::LONG));
    let lanes = case.lanes as usize;
    let rtl = Rtl::<U>::own(case.lanes).unwrap();
    let mut dut = rtl.open(1).unwrap();
    let clean = mismatch::agreed(&case, &mut dut, &mut (), U::LONG);
    assert!(clean.compared.cycles > 20);
    let mut flips = 0;
    for (index, field) in U::fields().iter().enumerate() {
        for element in 0..field.elements(lanes) {
            for bit in 0..field.width as usize {
                // Every cycle is used in turn.
                let cycle = flips % clean.compared.cycles;
                case.flip = Some(Flip {
                    field: field.name.to_owned(),
                    element,
                    bit,
                    cycle,
                });
                case.check_input("test").unwrap();
                let outcome = stimulus::run(&case, &mut dut, &mut U::Golden::new(lanes), &mut ());
                let found = outcome
                    .mismatch
                    .unwrap_or_else(|| panic!("{}[{element}].{bit} passed", field.name));
                assert_eq!(found.cycle, cycle, "{}[{element}].{bit}", field.name);
                assert_eq!(outcome.compared.cycles, cycle, "cycles that agreed before");
                assert_eq!(found.diffs.len(), 1);
                let diff = &found.diffs[0];
                assert_eq!((diff.field, diff.element), (index, element));
                assert_eq!(
                    diff.rtl ^ diff.golden,
                    1 << bit,
                    "{}[{element}].{bit}",
                    field.name
                );
                flips += 1;
            }
        }
    }
    let bits: usize = U::fields()
        .iter()
        .map(|f| f.elements(lanes) * f.width as usize)
        .sum();
    assert!(
        flips == bits as u64 && flips > 200,
        "{flips} of {bits} bits flipped"
    );
}

/// For every field: exit status 1, the report names cycle, field and lane, and in the dump both sides
/// differ at that time, with the field's mismatch bit set and no other.
fn a_flipped_bit_of_each_field_ends_in_a_report_and_a_dump_with_both_sides<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let program = program::<U>(U::LONG);
    let name = format!("{}.{}.3", U::NAME, U::LONG.trim_end_matches(".s"));
    let lanes = U::LANES as usize;
    for (index, field) in U::fields().iter().enumerate() {
        let element = field.elements(lanes) - 1;
        // Spread over the run, behind reset, host writes and launch.
        let (bit, cycle) = (field.width - 1, 9 + index % 20);
        let flip = format!("{}[{element}].{bit}@{cycle}", field.name);
        let dir = out.path().join(field.name);
        let report = reconverge_ends(
            1,
            &[
                "run",
                U::NAME,
                &program,
                "--seed",
                "3",
                "--flip",
                &flip,
                "--out",
                arg(&dir),
            ],
        );
        assert!(
            report.starts_with(&format!("MISMATCH {name}  cycle {cycle}  ")),
            "{report}"
        );
        let label = if field.elements(lanes) == 1 {
            field.name.to_owned()
        } else {
            format!("{}[{element}]", field.name)
        };
        let row = report.lines().find(|l| l.ends_with("<--")).unwrap();
        assert_eq!(
            row.split_whitespace().next(),
            Some(label.as_str()),
            "{report}"
        );

        let vcd = dir.join(format!("{name}.vcd"));
        let dump = Dump::at(&vcd, wave::time_of(cycle as u64));
        let signal = wave::signal(field, element);
        let side = |side: &str| dump.bits(&format!("TOP.{}_tb.{side}_view.{signal}", U::NAME));
        assert_ne!(side("rtl"), side("golden"), "{flip}: {signal}");
        let mismatch = format!("TOP.{}_tb.mismatch_o", U::NAME);
        let bits = dump.bits(&mismatch);
        let set: Vec<usize> = bits
            .chars()
            .rev()
            .enumerate()
            .filter(|(_, c)| *c == '1')
            .map(|(i, _)| i)
            .collect();
        assert_eq!(set, [index], "{flip}: mismatch bits {bits}");

        // The exclusive or of the two, of this signal and of no other.
        let xor = |dump: &Dump, of: &str| {
            let [rtl, golden] = ["rtl", "golden"].map(|side| {
                dump.bits(&format!("TOP.{}_tb.{side}_view.{of}", U::NAME))
                    .to_owned()
            });
            let digits = rtl.chars().zip(golden.chars());
            digits
                .map(|(a, b)| if a == b { '0' } else { '1' })
                .collect::<String>()
        };
        let added: Vec<&String> = dump
            .0
            .keys()
            .filter(|name| name.starts_with("xor."))
            .collect();
        assert_eq!(added, [&format!("xor.{signal}")], "{flip}");
        assert_eq!(dump.bits(added[0]), xor(&dump, &signal), "{flip}");
        assert!(dump.bits(added[0]).contains('1'), "{flip}");
        let view = fs::read_to_string(vcd.with_extension("gtkw")).unwrap();
        assert_eq!(view.matches("} xor.").count(), 1, "{flip}: {view}");

        // The cycle before, nothing differs.
        let before = Dump::at(&vcd, wave::time_of(cycle as u64) - 1);
        assert!(!before.bits(&mismatch).contains('1'), "{flip}");
        assert!(!before.bits(added[0]).contains('1'), "{flip}");

        // The saved case fails again in the same place.
        let case = dir.join(format!("{name}.json"));
        let again = reconverge(&["replay", arg(&case), "--out", arg(&dir)]);
        assert_eq!(again.status.code(), Some(1));
        assert_eq!(text(&again.stdout), report, "replay prints the same report");
        assert_eq!(text(&again.stderr), "", "replay has nothing to note");
        // Regression: a case whose file has another name was saved a second time.
        let renamed = dir.join(format!("{name}.shrunk.json"));
        fs::rename(&case, &renamed).unwrap();
        let again = reconverge_ends(1, &["replay", arg(&renamed), "--out", arg(&dir)]);
        assert!(again.contains(arg(&renamed)), "{again}");
        assert!(!case.exists());
    }
}

/// The contents of a dump outside the design: the clock, the mismatch bits, parameters, and each field on both sides. Regression:
/// a port of the view that holds the whole state took most of the bytes.
fn a_dump_holds_the_design_and_the_fields_of_both_sides_and_no_net_of_the_bench<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let dir = arg(out.path());
    let run = [
        "run",
        U::NAME,
        &program::<U>(U::LONG),
        "--wave",
        "--out",
        dir,
    ];
    reconverge_ends(0, &run);
    let vcd = fs::read_dir(out.path()).unwrap().map(|e| e.unwrap().path());
    let vcd = vcd.filter(|p| p.extension().is_some_and(|e| e == "vcd"));
    let dump = Dump::at(&vcd.last().unwrap(), 0);
    let top = format!("TOP.{}_tb.", U::NAME);
    let fields: Vec<String> = (U::fields().iter())
        .flat_map(|field| {
            let elements = field.elements(U::LANES as usize);
            (0..elements).map(|element| wave::signal(field, element))
        })
        .collect();
    let mut seen = 0;
    for name in dump.0.keys().filter_map(|name| name.strip_prefix(&top)) {
        if name.starts_with("dut.") {
            continue;
        }
        let parameter = name.rsplit('.').next().unwrap();
        let parameter = parameter == "Fields"
            || parameter
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let bench = ["clk_i", "mismatch_o"];
        let side = ["rtl_view.", "golden_view."]
            .iter()
            .find_map(|side| name.strip_prefix(side));
        let field = side.is_some_and(|signal| fields.iter().any(|field| field == signal));
        seen += u32::from(field);
        assert!(field || parameter || bench.contains(&name), "{name}");
    }
    assert_eq!(
        seen as usize,
        2 * fields.iter().collect::<BTreeSet<_>>().len()
    );
}

/// Returns how many of `all` changes `cargo test` takes: one. CI's step `changes` takes all.
fn many(all: usize) -> usize {
    match std::env::var_os("RECONVERGE_ALL_CHANGES") {
        Some(_) => all,
        None => 1,
    }
}

/// An unchanged copy passes; with one operator changed `fuzz` finds it, and the saved case replays to
/// the same cycle and field, and passes on our own RTL.
fn caught_and_replayed<U: Tested>(changes: &[Change]) {
    let unchanged = Folder::own(U::NAME).copy();
    let out = tempfile::tempdir().unwrap();
    fuzz::<U>(0, unchanged.arg(), arg(out.path()));

    // Each takes a C++ compiler for seconds: the first of the list, unless all are asked for.
    let changes = &changes[..many(changes.len())];
    // Two compilers at once.
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(change) = changes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    println!("{change:?}");
                    caught::<U>(*change);
                }
            });
        }
    });
}

fn fuzz<U: Tested>(status: i32, rtl: &str, out: &str) -> String {
    // Shrinking is for tb/shrink.rs: it builds each RTL once more.
    let cycles = ["--cycles", "400000", "--no-shrink", "--out", out];
    reconverge_ends(
        status,
        &[&["fuzz", U::NAME, "--rtl", rtl], &cycles[..]].concat(),
    )
}

fn caught<U: Tested>(change: Change) {
    let out = tempfile::tempdir().unwrap();
    let out = arg(out.path());
    let bad = Folder::own(U::NAME).copy().without_assertions();
    bad.change(change);
    let report = fuzz::<U>(1, bad.arg(), out);
    let failed = line_starting(&report, "MISMATCH ");
    assert!(!report.contains("NOT REPRODUCED"), "{change:?}\n{report}");
    let case = line_starting(&report, "replay ")
        .split_whitespace()
        .last()
        .unwrap();
    assert!(PathBuf::from(case).is_file());

    let again = reconverge(&["replay", case, "--rtl", bad.arg(), "--out", out]);
    assert_eq!(again.status.code(), Some(1), "{change:?}");
    assert_eq!(line_starting(&text(&again.stdout), "MISMATCH "), failed);
    let row = |r: &str| r.lines().find(|l| l.ends_with("<--")).unwrap().to_owned();
    assert_eq!(
        row(&text(&again.stdout)),
        row(&report),
        "same field and values"
    );
    assert_eq!(text(&again.stderr), "", "same cycle and field as saved");

    let own = format!("rtl/{}", U::NAME);
    reconverge_ends(0, &["replay", case, "--rtl", &own, "--out", out]);
}

fn rtl_with_one_operator_changed_is_caught_and_its_case_replays<U: Tested>() {
    caught_and_replayed::<U>(&U::faults("decisions"));
}

fn rtl_that_breaks_the_clock_contract_is_caught_and_its_case_replays<U: Tested>() {
    caught_and_replayed::<U>(&U::faults("contract"));
}

/// The campaign of the default build agrees, for as long as that of the variant needs to fail eight times over.
fn rtl_that_is_wrong_only_with_other_lanes_or_parameters_is_caught_by_a_variant_alone<U: Tested>() {
    let variant = Build::from(&U::VARIANTS[0]);
    let changes = U::faults("variants");
    for change in &changes[..many(changes.len())] {
        let out = tempfile::tempdir().unwrap();
        let out = arg(out.path());
        let bad = Folder::own(U::NAME).copy().without_assertions();
        bad.change(*change);
        let args = ["fuzz", U::NAME, "--rtl", bad.arg(), "--variants", "one"];
        let report = reconverge_ends(1, &[&args[..], &["--no-shrink", "--out", out]].concat());
        let (own, others) = report.split_once("campaign ").unwrap();
        assert!(
            own.contains("  lock-step       0 mismatches in 2,"),
            "{own}"
        );
        let failed = line_starting(others, "MISMATCH ");
        let shown = format!("{}.fuzz.1  {variant}  ", U::NAME);
        assert!(line_starting(others, &shown).ends_with(" 1"), "{others}");
        assert!(!others.contains("NOT REPRODUCED"), "{change:?}\n{others}");
        let case = line_starting(others, "replay ");
        let case = case.split_whitespace().last().unwrap();
        let again = ["replay", case, "--rtl", bad.arg(), "--out", out];
        let again = reconverge_ends(1, &again);
        assert_eq!(line_starting(&again, "MISMATCH "), failed);
        let own = format!("rtl/{}", U::NAME);
        reconverge_ends(0, &["replay", case, "--rtl", &own, "--out", out]);
    }
}

/// RTL that ends the simulation ends only its own case.
fn rtl_that_stops_the_simulation_is_reported_and_its_case_replays<U: Tested>() {
    let rtl = Folder::own(U::NAME);
    let stops = rtl
        .planted("  always @(posedge clk_i) if (rst_ni && err_o != 4'd0) $fatal(1, \"halted\");");
    let out = stops.dir().join("out");
    let out = arg(&out);
    let rtl_and_out = ["--rtl", stops.arg(), "--out", out];
    let report = reconverge_ends(
        1,
        &[
            &["fuzz", U::NAME, "--cycles", "100000", "--no-shrink"],
            &rtl_and_out[..],
        ]
        .concat(),
    );
    let stopped = line_starting(&report, "STOPPED ");
    assert!(stopped.contains(&format!("{}.sv", rtl.top())), "{stopped}");
    let case = line_starting(&report, "replay ")
        .split_whitespace()
        .last()
        .unwrap();
    let again = reconverge_ends(1, &[&["replay", case], &rtl_and_out[..]].concat());
    assert_eq!(line_starting(&again, "STOPPED "), stopped);

    // The wave agrees: nothing in it differs, and no cycle follows.
    let dump = PathBuf::from(
        line_starting(&again, "wave ")
            .split_whitespace()
            .last()
            .unwrap(),
    );
    let view = fs::read_to_string(dump.with_extension("gtkw")).unwrap();
    assert!(view.contains("+{failure} run.failure"), "{view}");
    let zoom = view.lines().find(|line| line.starts_with('*')).unwrap();
    let marker: u64 = zoom.split(' ').nth(1).unwrap().parse().unwrap();
    let failure = |time| Dump::at(&dump, time).bits("run.failure").to_owned();
    assert_eq!(failure(marker - 1).trim_start_matches('0'), "-", "{zoom}");
    let why = failure(marker);
    assert!(
        stopped.contains(why.trim_start_matches('0')),
        "{why} is not in {stopped}"
    );
}

/// Checks the output of a test in which RTL and golden model differ on `case`: a report with everything that leads to the bug,
/// existing files, and a line that shows the mismatch again. The original case is saved beside the shrunk one.
fn ends_a_test_as_the_command_does<U: Tested>(rtl: &Rtl<U>, case: &Case<U>) {
    let mut dut = rtl.open(1).unwrap();
    let run = || mismatch::agreed(case, &mut dut, &mut (), "the case of this test");
    let panicked = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    let message = panicked.downcast::<String>().unwrap();
    let (first, report) = message.split_once("\n\n").unwrap();
    assert!(
        first.starts_with("the case of this test: cycle "),
        "{first}"
    );
    let fields = report.lines().filter(|line| line.ends_with("<--"));
    assert!(fields.count() > 0, "{report}");
    assert!(report.contains("  field       rtl"), "{report}");
    let rule = line_starting(report, "  rule    docs/");
    let (file, id) = rule[10..].split_once('#').unwrap();
    let id = id.split(' ').next().unwrap();
    let document = fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
    assert!(document.contains(&format!("id=\"{id}\"")), "{rule}");
    assert!(report.contains("\n  last cycles (golden):\n"), "{report}");
    let shrunk = line_starting(report, "program shrunk from ");
    assert!(!report.contains("not made smaller"), "{report}");
    let program = &report[report.find(shrunk).unwrap() + shrunk.len()..];
    U::Program::assemble(program.split("\nsaved ").next().unwrap(), "shrunk.s").unwrap();

    let path = |text: &str| Path::new(ROOT).join(text);
    let saved = path(&line_starting(report, "saved   ")[8..]);
    let folder = saved.parent().unwrap();
    let test = std::thread::current().name().unwrap().replace("::", ".");
    assert!(folder.ends_with(Path::new("waves/tests").join(test)));
    assert!(folder.join(format!("{}.json", case.name())).is_file());
    assert!(saved.is_file(), "{report}");
    let wave = line_starting(report, "wave    ");
    let (dump, time) = wave[8..].split_once("  (differs from ").unwrap();
    let time = time.split(' ').next().unwrap().parse().unwrap();
    let bits = Dump::at(&path(dump), time);
    let bits = bits.bits(&format!("TOP.{}_tb.mismatch_o", U::NAME));
    assert!(bits.contains('1'), "{wave}");
    let view = line_starting(report, "view    gtkwave ");
    for file in view[16..].split(' ') {
        assert!(path(file).is_file(), "{view}");
    }

    let replay = &line_starting(report, "replay  ")[8..];
    let mut shell = Command::new("sh");
    shell.args(["-c", replay]).current_dir(ROOT);
    let again = shell.output().unwrap();
    assert_eq!(again.status.code(), Some(1), "{replay}: {again:?}");
    let again = text(&again.stdout);
    let headline = line_starting(report, "MISMATCH ");
    assert_eq!(line_starting(&again, "MISMATCH "), headline, "{replay}");
    fs::remove_dir_all(folder).unwrap();
}

fn a_mismatch_in_a_test_ends_as_one_of_the_command<U: Tested>() {
    let mut case = Case::<U>::new(loaded::<U>(U::LONG));
    case.seed = 3;
    let (field, place) = U::SHOWN.split_once('[').unwrap();
    let numbers: Vec<usize> = (place.split(|c: char| !c.is_ascii_digit()))
        .filter_map(|number| number.parse().ok())
        .collect();
    let [element, bit, cycle] = numbers[..] else {
        panic!("{}", U::SHOWN)
    };
    case.flip = Some(Flip {
        field: field.to_owned(),
        element,
        bit,
        cycle: cycle as u64,
    });
    ends_a_test_as_the_command_does(&Rtl::own(case.lanes).unwrap(), &case);
}

fn a_test_on_changed_rtl_ends_with_the_line_that_shows_it_again<U: Tested>() {
    let copy = Folder::own(U::NAME).copy().without_assertions();
    copy.change(U::faults("decisions")[0]);
    let rtl = Rtl::<U>::of(U::LANES, copy.dir()).unwrap();
    let fails = |number| {
        let (_, case) = reconverge::campaign::case::<U>(1, number, rtl.build());
        check(&case, &rtl).err()
    };
    let failure = (0..).find_map(fails).unwrap();
    ends_a_test_as_the_command_does(&rtl, &failure.case);
}
