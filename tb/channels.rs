//! Designs with channels: what the bench keeps, draws, checks, counts and shows of handshakes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bytemuck::Zeroable as _;
use reconverge::campaign::{self, Limit, Options, PinBins, fuzz, replay};
use reconverge::channels::Watch;
use reconverge::check::{TestCase as _, check};
use reconverge::cover::run::{self, Options as Runs};
use reconverge::cover::{Bins as _, UnitCoverage};
use reconverge::design::{self, Build, Design};
use reconverge::dut::Rtl;
use reconverge::found::Found;
use reconverge::stream::Stream;

use crate::common::ROOT;
use crate::common::dump::unescaped;

/// Golden models that have `new`, `step` and a state; the last name is the function for the bits that are not specified, if there are any.
macro_rules! golden {
    ($module:ident: $design:ty, [$($fault:ident)?], $golden:ty $(, $unspecified:ident)?) => {
        impl$(<const $fault: u32>)? design::Golden<$design> for $golden {
            fn build(_: &Build) -> Self {
                Self::new()
            }
            fn cycle(&mut self, pins: &$module::In) -> &$module::State {
                self.step(pins)
            }
            fn state(&self) -> &$module::State {
                &self.state
            }
            $(fn unspecified(&self, pins: &$module::In) -> Option<$module::State> {
                self.$unspecified(pins)
            })?
        }
    };
}

mod posted;
mod spilled;

crate::common::designs! {
    /// A register between two channels, logic between two others, and a channel on which offers may be withdrawn.
    hop Hop Golden;
    /// A channel for each of two clocks.
    relay Relay Sums;
}

/// The number of a golden model that does not specify the high half of `get_data` in a stall.
const VAGUE: u32 = 4;
/// The same, and `sum` is wrong in some stalls.
const WRONG: u32 = 5;

/// The golden model of `hop`, with the fault of the RTL that has this number.
#[derive(Clone, Debug)]
struct Faulty<const FAULT: u32> {
    full: bool,
    data: u8,
    sum: u8,
    waited: u8,
    odd: bool,
    state: hop::State,
}
type Golden = Faulty<0>;

impl<const FAULT: u32> Faulty<FAULT> {
    fn new() -> Self {
        let mut golden = Faulty {
            full: false,
            data: 0,
            sum: 0,
            waited: 0,
            odd: false,
            state: hop::State::zeroed(),
        };
        golden.show(&hop::In::reset());
        golden
    }

    fn show(&mut self, pins: &hop::In) {
        let far = pins.near_valid == 1 && !(FAULT == 3 && self.odd && pins.far_ready == 0);
        self.state = hop::State {
            put_ready: (!self.full).into(),
            get_valid: self.full.into(),
            get_data: if self.full { self.data } else { 0 },
            near_ready: pins.far_ready,
            far_valid: far.into(),
            far_data: if far { !pins.near_data & 15 } else { 0 },
            try_ready: (self.waited % 4 == 3).into(),
            sum: self.sum,
        };
        if let Some(open) = self.open(pins) {
            self.state.get_data ^= open.get_data;
            self.state.sum ^= u8::from(FAULT == WRONG && self.waited % 4 == 3);
        }
    }

    /// Returns the bits that are not specified.
    fn open(&self, pins: &hop::In) -> Option<hop::State> {
        let stalls = self.full && pins.get_ready == 0;
        (matches!(FAULT, VAGUE | WRONG) && stalls).then(|| hop::State {
            get_data: 0xf0,
            ..hop::State::zeroed()
        })
    }

    fn step(&mut self, pins: &hop::In) -> &hop::State {
        // What depends on the pins does so before the edge.
        self.show(pins);
        let sampled = self.state;
        if pins.is_reset() {
            *self = Self::new();
        } else if pins.stall == 0 {
            let (ready, stalls) = (self.state.try_ready, self.full && pins.get_ready == 0);
            match (self.full, pins.put_valid, pins.get_ready) {
                (false, 1, _) => (self.full, self.data) = (true, pins.put_data),
                (true, _, 1) => self.full = false,
                _ => {}
            }
            if FAULT == 1 && stalls && pins.put_valid == 1 {
                self.data = pins.put_data;
            }
            if pins.try_valid & ready == 1 {
                self.sum = self.sum.wrapping_add(pins.try_data);
            }
            self.waited = (self.waited + 1) % 8;
            self.odd = pins.near_valid == 1;
        }
        self.show(pins);
        self.state = hop::State {
            near_ready: sampled.near_ready,
            far_valid: sampled.far_valid,
            far_data: sampled.far_data,
            ..self.state
        };
        &self.state
    }
}

/// `hop` with a golden model that has a fault of the RTL.
#[derive(Clone, Copy, Debug)]
struct Loose<const FAULT: u32>;

impl<const FAULT: u32> Design for Loose<FAULT> {
    const DECLARATION: &'static reconverge::field::Declaration = &hop::DECLARATION;
    type In = hop::In;
    type State = hop::State;
    type Golden = Faulty<FAULT>;
}

golden!(hop: Hop, [], Golden, open);
golden!(hop: Loose<FAULT>, [FAULT], Faulty<FAULT>, open);

/// The golden model of `relay`.
#[derive(Clone, Debug)]
struct Sums(relay::State);

impl design::Golden<Relay> for Sums {
    fn build(_: &Build) -> Self {
        Sums(relay::State::zeroed())
    }
    fn cycle(&mut self, pins: &relay::In) -> &relay::State {
        let state = &mut self.0;
        let before = *state;
        if pins.a_clk == 1 {
            state.a_ready = u8::from(!pins.is_reset()) & !before.a_ready & 1;
            if pins.is_reset() {
                state.sum = 0;
            } else if pins.a_valid & before.a_ready == 1 {
                state.sum = state.sum.wrapping_add(pins.a_data);
            }
        }
        if pins.b_clk == 1 {
            match (pins.is_reset(), before.b_valid, pins.b_ready) {
                (true, ..) => (state.b_valid, state.b_data) = (0, 0),
                (_, 0, _) => state.b_valid = 1,
                (_, _, 1) => {
                    state.b_valid = before.b_data & 1;
                    state.b_data = state.b_data.wrapping_add(1);
                }
                _ => {}
            }
        }
        &self.0
    }
    fn state(&self) -> &relay::State {
        &self.0
    }
}

/// RTL of `tb/channels` in a process of its own, and in this one.
fn rtl<D: Design>() -> [Rtl<D>; 2] {
    let dir = Path::new(ROOT).join("tb/channels").join(D::NAME);
    let there = Rtl::<D>::of(D::LANES, &dir).unwrap();
    let here = Rtl::from_built(there.built()).unwrap();
    [there, here]
}

fn random(seed: u64) -> Stream<Hop> {
    Stream::random(seed, 600, &Build::from(Hop::LANES))
}

/// What `fuzz` finds in the RTL with `fault`, in a short stream.
fn found<D: Design>(fault: u32, out: &Path) -> Box<Found<Stream<D>>> {
    let [_, rtl] = rtl::<D>();
    let options = Options::default().cases(40).cycles(200).out(out);
    fuzz::<Stream<D>>(&rtl.mutant(fault), &options).expect_err("the RTL is wrong")
}

/// Everything that can happen to a channel happens, with one clock and with several.
#[test]
fn rtl_with_channels_agrees_and_everything_happens_to_them() {
    fn agrees<D: Design>() {
        for rtl in rtl::<D>() {
            let options = Options::default().cases(60).cycles(500);
            let met = fuzz::<Stream<D>>(&rtl, &options).unwrap();
            let coverage = met.coverage(rtl.build());
            assert_eq!(coverage.missing::<D>(), [""; 0]);
            assert_eq!(coverage.idle::<D>(), [""; 0]);
            let table = coverage.table::<D>().to_string();
            println!("{table}");
        }
    }
    agrees::<Hop>();
    agrees::<Relay>();
}

/// The bench keeps valid and payload until ready, also while everything is stalled; an offer that may be withdrawn mostly stays.
#[test]
fn what_is_offered_stays_until_ready_or_may_be_withdrawn() {
    let (mut held, mut stays, mut withdrawn) = (0, 0, 0);
    for seed in 1..60 {
        let mut golden = <Golden as design::Golden<Hop>>::build(&Build::from(1));
        let mut waiting: [Option<u8>; 3] = [None; 3];
        for pins in random(seed).cycles.0 {
            let before = golden.state;
            golden.step(&pins);
            let now = [
                (pins.put_valid, pins.put_data, before.put_ready),
                (pins.near_valid, pins.near_data, pins.far_ready),
                (pins.try_valid, pins.try_data, before.try_ready),
            ];
            for (channel, (waits, (valid, data, ready))) in waiting.iter_mut().zip(now).enumerate()
            {
                let kept = waits.is_none_or(|data_before| (1, data_before) == (valid, data));
                match (pins.is_reset() || waits.is_none(), channel) {
                    (true, _) => {}
                    (false, 2) if kept => stays += 1,
                    (false, 2) => withdrawn += 1,
                    (false, _) => {
                        assert!(kept, "seed {seed}, channel {channel}");
                        held += 1;
                    }
                }
                let taken = ready == 1 && pins.stall == 0;
                *waits = (valid == 1 && !taken && !pins.is_reset()).then_some(data);
            }
        }
    }
    assert!(held > 1000, "{held}");
    assert!(
        withdrawn > 100 && stays > 2 * withdrawn,
        "{stays} {withdrawn}"
    );
}

/// In some phases the bench is never ready, in others always; a pin that is no handshake is neither.
#[test]
fn back_pressure_goes_from_never_to_always() {
    // As often as this only if some phases are of one value: otherwise some five of these streams have such a run.
    let constant = |get: fn(&hop::In) -> u8, value| {
        let runs = (1..60).map(|seed| {
            let cycles = random(seed).cycles.0;
            let runs = cycles.chunk_by(|a, b| get(a) == get(b));
            runs.filter(|run| get(&run[0]) == value && run.len() >= 55)
                .count()
        });
        runs.sum::<usize>()
    };
    for value in [0, 1] {
        assert!(constant(|pins| pins.get_ready, value) >= 15);
        assert!(constant(|pins| pins.far_ready, value) >= 15);
    }
    assert!(constant(|pins| pins.put_valid, 0) >= 15);
    assert!(constant(|pins| pins.stall, 1) < 15);
    let often: BTreeSet<usize> = random(3)
        .cycles
        .0
        .chunks(50)
        .map(|part| part.iter().filter(|pins| pins.get_ready == 1).count())
        .collect();
    assert!(often.len() > 6, "{often:?}");
}

/// Regression: bits that the golden model does not specify in a stall were a promise that it, or after a mismatch elsewhere the RTL, breaks.
#[test]
fn bits_that_are_not_specified_are_no_promise() {
    let [_, right] = rtl::<Loose<VAGUE>>();
    let options = Options::default().cases(40).cycles(200);
    let met = fuzz::<Stream<Loose<VAGUE>>>(&right, &options);
    met.unwrap_or_else(|found| panic!("{found}"));
    // The other half is.
    let found = found::<Loose<VAGUE>>(1, tempfile::tempdir().unwrap().path());
    assert!(
        found.failure.mismatch().unwrap().broken.is_some(),
        "{found}"
    );

    let [_, wrong] = rtl::<Loose<WRONG>>();
    for seed in 1..20 {
        let stream = Stream::random(seed, 200, wrong.build());
        let failure = check(&stream, &wrong).unwrap_err();
        assert_eq!(failure.mismatch().unwrap().broken, None, "{failure}");
    }
}

/// The report names the channel and what it keeps; the stream is short, keeps the handshakes of the bench, and fails again.
#[test]
fn rtl_that_breaks_a_promise_is_found_and_the_report_says_so() {
    // Regression: the message said of the first field that differs, `put_ready`, that the channel `get` keeps it.
    let (keeps, broken) = (
        "get keeps it until ready",
        "the promise of channel get is broken",
    );
    for (fault, channel, cycles, message) in [
        (1, "get", 3, keeps),
        (2, "get", 3, broken),
        (3, "far", 3, "far keeps it until ready"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let found = found::<Hop>(fault, dir.path());
        println!("{found}");
        let report = found.failure.to_string();
        let line = format!(
            "\n  channel {channel}: valid and payload stay from the first cycle of valid until ready; the RTL breaks it\n"
        );
        assert!(report.contains(&line), "{report}");
        assert!(report.contains("  golden"), "{report}");
        let said = found.failure.message();
        assert!(said.ends_with(message), "{said}");
        let stream = &found.failure.case;
        assert!(stream.cycles.0.len() <= cycles, "{found}");
        assert_eq!(stream.illegal(), None, "{found}");
        let [_, rtl] = rtl::<Hop>();
        let saved = found.saved.as_ref().unwrap();
        let again = replay::<Stream<Hop>>(saved, &rtl.mutant(fault)).unwrap();
        assert_eq!(again.unwrap_err().to_string(), report);
        assert!(found.troubles.is_empty(), "{found}");
    }
}

/// If RTL and golden model agree on it, a broken promise is a difference from what was promised.
#[test]
fn a_promise_that_both_sides_break_is_found() {
    fn broken<const FAULT: u32>(channel: &str, field: &str) {
        let dir = tempfile::tempdir().unwrap();
        let found = found::<Loose<FAULT>>(FAULT, dir.path());
        println!("{found}");
        let report = found.failure.to_string();
        let line = format!(
            "\n  channel {channel}: valid and payload stay from the first cycle of valid until ready; RTL and golden model agree, and both break it\n"
        );
        assert!(report.contains(&line), "{report}");
        assert!(report.contains("  promised\n"), "{report}");
        let mismatch = found.failure.mismatch().unwrap();
        assert_eq!(Hop::fields()[mismatch.first().field].name, field);
        let message = found.failure.message();
        let cycle = format!("cycle {}: {field}[0] is ", mismatch.cycle);
        let end = format!(", and channel {channel} keeps it until ready");
        assert!(
            message.starts_with(&cycle) && message.ends_with(&end),
            "{message}"
        );
        assert_eq!(found.failure.compared.cycles, mismatch.cycle, "{report}");
        let stream = &found.failure.case;
        assert!(stream.cycles.0.len() <= 3, "{found}");
        assert!(found.troubles.is_empty(), "{found}");
        let saved = found.saved.as_ref().unwrap();
        for ending in ["vcd", "gtkw"] {
            assert!(saved.with_extension(ending).is_file());
        }
        // Both ways to run RTL see it in the same cycle, also in a stream that goes on.
        let rtl = rtl::<Loose<FAULT>>().map(|rtl| rtl.mutant(FAULT));
        for rtl in &rtl {
            let again = replay::<Stream<Loose<FAULT>>>(saved, rtl).unwrap();
            assert_eq!(again.unwrap_err().to_string(), report);
        }
        let long = Stream::random(7, 400, rtl[0].build());
        let [there, here] = rtl.map(|rtl| check(&long, &rtl).unwrap_err().to_string());
        assert_eq!(there, here);
    }
    broken::<1>("get", "get_data");
    broken::<3>("far", "far_valid");
}

/// The last cycles say what was transferred, and a dump has a signal for each channel.
#[test]
fn transactions_are_in_report_and_dump() {
    let dir = tempfile::tempdir().unwrap();
    let found = found::<Loose<1>>(1, dir.path());
    let report = found.failure.to_string();
    let last = report
        .lines()
        .find(|line| line.starts_with("  > "))
        .unwrap();
    assert!(last.contains("  get stalls get_data=0x"), "{report}");
    // Its payload is among the pins of the row.
    assert!(report.contains("  put transfers"), "{report}");
    assert!(!report.contains("  put transfers put_data=0x"), "{report}");
    let vcd = found.saved.as_ref().unwrap().with_extension("vcd");
    let text = fs::read_to_string(vcd).unwrap();
    for (number, channel) in ["put", "get", "near", "far", "try"].iter().enumerate() {
        let declared = format!("$var string 1 ~run{number} {channel} $end\n");
        assert!(text.contains(&declared), "{text}");
    }
    let said: Vec<String> = text
        .lines()
        .filter(|line| line.starts_with('s') && line.ends_with(" ~run0"))
        .map(unescaped)
        .collect();
    assert!(
        said.iter()
            .any(|said| said.starts_with("stransfers put_data=0x")),
        "{said:?}"
    );
    let view = found.saved.as_ref().unwrap().with_extension("gtkw");
    let view = fs::read_to_string(view).unwrap();
    assert!(
        view.contains("run.put") && view.contains("run.get"),
        "{view}"
    );
}

/// A saved stream whose pins change before ready is no longer one that the bench would draw.
#[test]
fn a_stream_that_takes_back_an_offer_is_not_legal() {
    let put = |put_data| hop::In {
        put_valid: 1,
        put_data,
        ..hop::In::default()
    };
    let stream = |cycles| Stream::<Hop>::new("hand", &Build::from(1), cycles);
    let legal = stream(vec![hop::In::reset(), put(1), put(2), put(2)]);
    assert_eq!(legal.illegal(), None);
    let illegal = stream(vec![hop::In::reset(), put(1), put(2), put(3)]);
    let why = "constrain changes its pins, or those of a channel change before ready, in cycle 3";
    assert_eq!(illegal.illegal().as_deref(), Some(why));
    // A test may do it all the same.
    let [_, rtl] = rtl::<Hop>();
    check(&illegal, &rtl).unwrap();
}

/// What happens to a channel counts in its cycle: not in the first one, not while everything is stalled, not without its clock.
#[test]
fn each_event_is_told_in_its_cycle() {
    let [transfer, second, stalls, long, alone, withdrawn] = [0, 1, 2, 3, 4, 5].map(|n| 1 << n);
    fn told<D: Design>(channel: &str, cycles: &[(D::In, u64)]) {
        let number = D::DECLARATION
            .channels
            .iter()
            .position(|one| one.name == channel);
        let mut golden = <D::Golden as design::Golden<D>>::build(&Build::from(1));
        let mut watch = Watch::new::<D>();
        for (cycle, (pins, expected)) in cycles.iter().enumerate() {
            let mut told = None;
            let state = design::Golden::<D>::cycle(&mut golden, pins);
            watch.see::<D>(pins, state, |channel, events| {
                told = if Some(channel) == number {
                    Some(events)
                } else {
                    told
                };
            });
            assert_eq!(told, Some(*expected), "{channel}: cycle {cycle}: {pins:?}");
        }
    }
    let idle = hop::In::default();
    let put = hop::In {
        put_valid: 1,
        ..idle
    };
    let ready = hop::In {
        get_ready: 1,
        ..idle
    };
    let stall = hop::In { stall: 1, ..idle };
    let mut cycles = vec![(hop::In::reset(), 0), (put, 0)];
    cycles.extend([(idle, stalls); 7]);
    // Regression: a stall that is long already was counted again while everything is stalled.
    cycles.extend([
        (stall, 0),
        (idle, stalls | long),
        (stall, 0),
        (idle, stalls | long),
    ]);
    cycles.extend([(ready, transfer), (ready, alone), (idle, 0)]);
    // A reset ends the stall.
    cycles.extend([(put, 0), (idle, stalls), (hop::In::reset(), 0), (idle, 0)]);
    told::<Hop>("get", &cycles);

    let offer = |try_data| hop::In {
        try_valid: 1,
        try_data,
        ..idle
    };
    let cycles = [
        (hop::In::reset(), 0),
        (offer(1), stalls),
        (offer(1), stalls),
        (offer(2), stalls | withdrawn),
        (offer(2), transfer),
        (offer(3), stalls),
        (idle, withdrawn),
        (idle, 0),
        (idle, alone),
    ];
    told::<Hop>("try", &cycles);

    // The number 1 is followed by 2 at once.
    let idle = relay::In {
        a_clk: 0,
        ..relay::In::default()
    };
    let ready = relay::In { b_ready: 1, ..idle };
    let other = relay::In {
        a_clk: 1,
        b_clk: 0,
        ..ready
    };
    let cycles = [
        (relay::In::reset(), 0),
        (idle, 0),
        (ready, transfer),
        (ready, alone),
        (ready, transfer),
        (other, 0),
        (ready, transfer | second),
        (idle, 0),
    ];
    told::<Relay>("b", &cycles);
}

fn covered<D: Design>(cycles: u64) -> UnitCoverage {
    let [_, rtl] = rtl::<D>();
    let bins = PinBins::<D>::new(rtl.build());
    let options = Runs {
        seed: 1,
        limit: Limit::Cycles(cycles),
        jobs: 1,
        guided: false,
        cycles: 500,
        careful: None,
    };
    let covered = run::run::<Stream<D>>(&options, &bins, &rtl, &()).unwrap();
    assert!(covered.failed.is_none());
    let bins = bins.declaration();
    bins.named(D::NAME, rtl.build(), &covered.hits, covered.totals)
}

/// The events of channels are bins; what the declaration excludes is unreachable, and nothing of that is hit.
#[test]
fn the_events_of_channels_are_bins() {
    let coverage = covered::<Hop>(60_000);
    let group = coverage
        .groups
        .iter()
        .find(|group| group.name == "channels");
    let group = group.unwrap();
    let bins = |which: &dyn Fn(u64, bool) -> bool| -> Vec<String> {
        let bins = group.bins.iter();
        let bins = bins.filter(|bin| which(bin.hits, bin.unreachable.is_some()));
        bins.map(|bin| bin.at.join(" ")).collect()
    };
    let excluded = [
        "put back-to-back",
        "put withdrawal",
        "get back-to-back",
        "get withdrawal",
        "near withdrawal",
        "far withdrawal",
        "try back-to-back",
        "try long stall",
    ];
    assert_eq!(bins(&|_, excluded| excluded), excluded);
    assert_eq!(bins(&|hits, excluded| excluded && hits > 0), [""; 0]);
    assert_eq!(bins(&|hits, excluded| !excluded && hits == 0), [""; 0]);
    // A transfer on one side of the logic is one on the other.
    let hits = |at: &str| {
        let mut bins = group.bins.iter();
        bins.find(|bin| bin.at.join(" ") == at).unwrap().hits
    };
    for event in [
        "transfer",
        "back-to-back",
        "stall",
        "long stall",
        "ready alone",
    ] {
        assert_eq!(
            hits(&format!("near {event}")),
            hits(&format!("far {event}"))
        );
    }
    assert!(hits("put transfer") >= hits("get transfer"));
    let overview = |bins: &PinBins<Hop>, met| bins.overview(met).groups.last().copied();
    let (build, summary) = (Build::from(1), campaign::Summary::<Stream<Hop>>::default());
    let (name, share) = overview(&PinBins::new(&build), &summary.bins).unwrap();
    assert_eq!((name, share.hit, share.reachable), ("channels", 0, 22));
}

/// An event that the declaration excludes, and that occurs, is told.
#[test]
fn an_event_that_is_excluded_and_occurs_is_impossible() {
    const CHANNELS: [reconverge::field::Channel; 1] = [reconverge::field::Channel {
        never: 0b100,
        ..hop::DECLARATION.channels[0]
    }];
    const DECLARATION: reconverge::field::Declaration = reconverge::field::Declaration {
        channels: &CHANNELS,
        ..hop::DECLARATION
    };
    #[derive(Clone, Copy, Debug)]
    struct Hasty;
    impl Design for Hasty {
        const DECLARATION: &'static reconverge::field::Declaration = &DECLARATION;
        type In = hop::In;
        type State = hop::State;
        type Golden = Golden;
    }
    golden!(hop: Hasty, [], Golden, open);
    let coverage = covered::<Hasty>(20_000);
    let impossible: Vec<String> = coverage
        .impossible()
        .map(|(group, bin)| format!("{} {}", group.name, bin.at.join(" ")))
        .collect();
    assert_eq!(impossible, ["channels put stall"]);
}
