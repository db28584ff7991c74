//! Designs with several clocks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use bytemuck::Zeroable as _;
use reconverge::campaign::{Options, fuzz, replay};
use reconverge::check::{Judges, TestCase, check};
use reconverge::design::{self, Build, Design};
use reconverge::dut::Rtl;
use reconverge::found::Found;
use reconverge::prove;
use reconverge::stream::{Clock, Stream};
use serde_json::Value;

use crate::common::ROOT;
use crate::common::dump::Dump;

crate::common::designs! {
    /// Two clocks that count their edges, and a bit that crosses from one to the other.
    pair Pair Golden;
}

#[derive(Clone, Debug)]
struct Golden {
    state: pair::State,
    sent: u8,
    stages: [u8; 2],
}

impl Golden {
    fn reset(&mut self) {
        (self.sent, self.stages) = (0, [0; 2]);
        (self.state.arrived, self.state.sum) = (0, 0);
    }
}

impl design::Golden<Pair> for Golden {
    fn build(_: &Build) -> Self {
        let state = pair::State::zeroed();
        let (sent, stages) = (0, [0; 2]);
        Golden {
            state: pair::State {
                // The clocks are 1 at power-up, and fall before their first edge.
                b_falls: 1,
                ..state
            },
            sent,
            stages,
        }
    }
    fn cycle(&mut self, pins: &pair::In) -> &pair::State {
        if pins.is_reset() {
            self.reset();
        }
        self.state.mix = self.state.sum ^ pins.free;
        let sent = self.sent;
        if pins.a_clk == 1 {
            self.state.a_edges += 1;
            self.sent ^= pins.flip & u8::from(!pins.is_reset());
        }
        if pins.b_clk == 1 {
            self.state.b_edges += 1;
            self.state.b_falls += 1;
            if !pins.is_reset() {
                self.state.arrived = self.state.arrived << 1 | self.stages[1];
                self.stages = [sent, self.stages[0]];
                self.state.sum = self.state.sum.wrapping_add(pins.add);
            }
        }
        &self.state
    }
    fn state(&self) -> &pair::State {
        &self.state
    }
    fn assert_reset(&mut self, _: &pair::In) -> &pair::State {
        self.reset();
        &self.state
    }
}

/// The RTL in a process of its own, and in this one.
fn rtl() -> [Rtl<Pair>; 2] {
    let there = Rtl::<Pair>::of(Pair::LANES, &Path::new(ROOT).join("tb/clocks/pair")).unwrap();
    let here = Rtl::from_built(there.built()).unwrap();
    [there, here]
}

fn random(seed: u64) -> Stream<Pair> {
    Stream::random(seed, 300, &Build::from(Pair::LANES))
}

fn found(fault: u32, out: &Path) -> Box<Found<Stream<Pair>>> {
    let [_, rtl] = rtl();
    let options = Options::default().cases(40).cycles(200).out(out);
    fuzz::<Stream<Pair>>(&rtl.mutant(fault), &options).expect_err("the RTL is wrong")
}

/// Each side gets the edges that the pins tell its golden model, from power-up on, and no other; RTL and golden model agree.
#[test]
fn rtl_with_two_clocks_gets_the_edges_of_its_golden_model() {
    for rtl in rtl() {
        let options = Options::default().cases(40).cycles(300);
        let met = fuzz::<Stream<Pair>>(&rtl, &options).unwrap();
        assert_eq!(met.programs, 40);
        assert_eq!(met.coverage(rtl.build()).idle::<Pair>(), [""; 0]);
    }
}

/// Each stream has its own periods and phases, and pins change only as their clocks allow.
#[test]
fn clocks_are_drawn_for_each_stream_and_pins_change_with_theirs() {
    let mut periods = BTreeSet::new();
    let (mut free, mut together) = (false, false);
    for seed in 1..100 {
        let stream = random(seed);
        let [a, b] = ["a_clk", "b_clk"].map(|name| stream.clocks.0[name]);
        assert!((2..=6).contains(&a.period) && a.phase < a.period, "{a:?}");
        assert!((3..=9).contains(&b.period), "{b:?}");
        assert!((1..=2).contains(&b.phase), "{b:?}");
        periods.insert((a.period, b.period));
        let cycles = &stream.cycles.0;
        assert!(cycles[0].is_reset() && cycles[0].a_clk & cycles[0].b_clk == 1);
        let edges: Vec<_> = (0..)
            .map(|time| {
                [a, b].map(|Clock { period, phase }| {
                    u8::from(time >= phase && (time - phase) % period == 0)
                })
            })
            .filter(|edges| *edges != [0, 0])
            .take(cycles.len() - 1)
            .collect();
        let risen: Vec<_> = cycles[1..]
            .iter()
            .map(|pins| [pins.a_clk, pins.b_clk])
            .collect();
        assert_eq!(risen, edges, "{a:?} {b:?}");
        for pair in cycles.windows(2) {
            let [before, now] = pair else { unreachable!() };
            assert!(before.a_clk == 1 || before.flip == now.flip);
            assert!(before.b_clk == 1 || before.add == now.add);
            free |= before.a_clk == 0 && before.free != now.free;
            together |= now.a_clk & now.b_clk == 1;
        }
        // Every clock rises in each reset.
        let mut rest = &cycles[..];
        while let Some(at) = rest.iter().position(pair::In::is_reset) {
            let reset = rest[at..].iter().take_while(|pins| pins.is_reset());
            let (mut length, mut edges) = (0, [0, 0]);
            reset.for_each(|pins| {
                length += 1;
                edges = [edges[0] + pins.a_clk, edges[1] + pins.b_clk];
            });
            rest = &rest[at + length..];
            assert!(rest.is_empty() || !edges.contains(&0), "{edges:?}");
        }
    }
    assert!(periods.len() > 15, "{periods:?}");
    assert!(free && together);
}

/// A missing stage is found by the latency that the golden model states; the stream is short, with the least periods, and fails again.
#[test]
fn a_missing_synchronizer_stage_is_found_in_a_short_stream() {
    let dir = tempfile::tempdir().unwrap();
    let found = found(1, dir.path());
    let report = found.failure.to_string();
    println!("{found}");
    assert_eq!(
        Pair::fields()[found.failure.mismatch().unwrap().first().field].name,
        "arrived"
    );
    let stream = &found.failure.case;
    assert!(stream.cycles.0.len() <= 8, "{found}");
    let periods = ["a_clk", "b_clk"].map(|name| stream.clocks.0[name].period);
    assert_eq!(periods, [2, 3], "{found}");
    assert!(report.contains("  a_clk=1 b_clk=1"), "{report}");
    let [rtl, _] = rtl();
    let again = replay::<Stream<Pair>>(found.saved.as_ref().unwrap(), &rtl.mutant(1)).unwrap();
    assert_eq!(again.unwrap_err().to_string(), report);
    assert!(found.troubles.is_empty(), "{found}");
}

/// The report says that the clock of a field that differs does not rise.
#[test]
fn a_field_that_changes_with_the_wrong_clock_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let found = found(2, dir.path());
    assert!(found.to_string().contains("\n  sum "), "{found}");
    let [_, rtl] = rtl();
    let only_a = pair::In {
        flip: 1,
        ..clocks(1, 0)
    };
    let cycles = vec![pair::In::reset(), only_a, clocks(1, 1)];
    let stream = Stream::<Pair>::new("hand", rtl.build(), cycles);
    let report = check(&stream, &rtl.mutant(2)).unwrap_err().to_string();
    let hint = "\n  clock   b_clk does not rise in this cycle, and sum belongs to it\n";
    assert!(report.contains(hint), "{report}");
}

/// Pins with which these clocks rise.
fn clocks(a_clk: u8, b_clk: u8) -> pair::In {
    pair::In {
        a_clk,
        b_clk,
        ..pair::In::default()
    }
}

/// The dump shows each clock with its own edges, and the view has both.
#[test]
fn a_dump_shows_each_clock() {
    let [rtl, _] = rtl();
    let dir = tempfile::tempdir().unwrap();
    let dump = dir.path().join("pair.vcd");
    let stream = random(3);
    let dumped = stream.judge(&rtl, Judges::LockStep, Some((0, &dump)), &mut |_| ());
    dumped.unwrap().unwrap();
    for (cycle, pins) in (0_u64..).zip(&stream.cycles.0[..12]) {
        // The edge of a cycle comes with the call after it.
        let at = Dump::at(&dump, 10 * (cycle + 1));
        let level = |name| at.bits(&format!("TOP.pair_tb.dut.{name}_i")).to_owned();
        let levels = [pins.a_clk, pins.b_clk].map(|rises| rises.to_string());
        assert_eq!(["a_clk", "b_clk"].map(level), levels, "cycle {cycle}");
        let low = Dump::at(&dump, 10 * (cycle + 1) + 5);
        assert_eq!(low.bits("TOP.pair_tb.dut.a_clk_i"), "0");
    }
    let found = found(1, dir.path());
    let view = fs::read_to_string(found.saved.as_ref().unwrap().with_extension("gtkw")).unwrap();
    for clock in ["dut.a_clk_i", "dut.b_clk_i"] {
        assert!(view.contains(clock), "{view}");
    }
}

/// A saved stream keeps its clocks; one that does not follow them is refused.
#[test]
fn a_saved_stream_with_other_edges_than_its_clocks_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let found = found(1, dir.path());
    let text = fs::read_to_string(found.saved.as_ref().unwrap()).unwrap();
    let saved: Value = serde_json::from_str(&text).unwrap();
    let [rtl, _] = rtl();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut bad = saved.clone();
        change(&mut bad["stream"]);
        let file = dir.path().join("bad.json");
        fs::write(&file, bad.to_string()).unwrap();
        replay::<Stream<Pair>>(&file, &rtl).unwrap_err().to_string()
    };
    let period = refused(&|stream| stream["clocks"]["a_clk"]["period"] = 9.into());
    assert!(
        period.ends_with("clocks: a_clk: the period must be 2 to 6, not 9"),
        "{period}"
    );
    let phase = refused(&|stream| stream["clocks"]["b_clk"]["phase"] = 0.into());
    assert!(
        phase.ends_with("clocks: b_clk: the phase must be 1 to 2, not 0"),
        "{phase}"
    );
    let names = refused(&|stream| stream["clocks"]["c_clk"] = stream["clocks"]["a_clk"].clone());
    assert!(
        names.ends_with("clocks: the clocks of pair are a_clk, b_clk"),
        "{names}"
    );
    let edge = refused(&|stream| stream["cycles"][0]["b_clk"] = "0x0".into());
    assert!(edge.ends_with("clocks: cycle 0: b_clk must rise"), "{edge}");
}

/// Cycles that are written by hand say themselves which clocks rise; in the first all do, and later one at least.
#[test]
fn a_stream_by_hand_says_which_clocks_rise() {
    let [_, rtl] = rtl();
    let cycles = vec![pair::In::reset(), clocks(1, 0), clocks(1, 1), clocks(0, 1)];
    let stream = Stream::<Pair>::new("hand", rtl.build(), cycles);
    check(&stream, &rtl).unwrap();
}

/// A proof takes one clock, and says so.
#[test]
fn a_proof_refuses_a_design_with_two_clocks() {
    let rtl = Path::new(ROOT).join("tb/clocks/pair");
    let options = prove::Options::new(rtl, Build::from(Pair::LANES));
    let stop = AtomicBool::new(false);
    let refused = prove::prove::<Pair>(&options, 1, &stop, |_, _| ()).unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.contains("clock: pair has 2 clocks, and a proof takes one: declare the module"),
        "{refused}"
    );
}
