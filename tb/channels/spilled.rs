//! Channels with a clear: in its cycles what is offered may be taken back, and in no other.

use bytemuck::Zeroable as _;
use reconverge::campaign::{Options, fuzz};
use reconverge::channels::Watch;
use reconverge::check::TestCase as _;
use reconverge::design::{self, Build, Design};
use reconverge::field::{Channel, Declaration};
use reconverge::stream::Stream;

use super::{found, rtl};

crate::common::designs! {
    /// A register between two channels, and logic between two others, with a clear.
    spill Spill Golden;
}

/// The golden model of `spill`, with the fault of the RTL that has this number.
#[derive(Clone, Debug)]
struct Faulty<const FAULT: u32> {
    full: bool,
    late: bool,
    odd: bool,
    data: u8,
    state: spill::State,
}
type Golden = Faulty<0>;

impl<const FAULT: u32> Faulty<FAULT> {
    fn new() -> Self {
        Faulty {
            full: false,
            late: false,
            odd: false,
            data: 0,
            state: spill::State::zeroed(),
        }
    }

    fn step(&mut self, pins: &spill::In) -> &spill::State {
        let open = pins.clr == 0;
        let shuts = FAULT == 3 && self.odd && pins.far_ready == 0;
        let far = open && pins.near_valid == 1 && !shuts;
        let clears = if FAULT == 2 { self.late } else { !open };
        match (pins.is_reset(), clears, self.full) {
            (true, ..) | (_, true, _) => self.full = false,
            (_, _, false) => (self.full, self.data) = (pins.in_valid == 1, pins.in_data),
            (_, _, true) => self.full = pins.out_ready == 0 && FAULT != 1,
        }
        self.late = !pins.is_reset() && !open;
        self.odd = !pins.is_reset() && pins.near_valid == 1;
        self.state = spill::State {
            in_ready: (!self.full).into(),
            out_valid: self.full.into(),
            out_data: if self.full { self.data } else { 0 },
            near_ready: u8::from(open) & pins.far_ready,
            far_valid: far.into(),
            ..spill::State::zeroed()
        };
        &self.state
    }
}

golden!(spill: Spill, [], Golden);
golden!(spill: Loose<FAULT>, [FAULT], Faulty<FAULT>);
golden!(spill: Strict, [], Golden);

/// `spill` with a golden model that has a fault of the RTL.
#[derive(Clone, Copy, Debug)]
struct Loose<const FAULT: u32>;

impl<const FAULT: u32> Design for Loose<FAULT> {
    const DECLARATION: &'static Declaration = &spill::DECLARATION;
    type In = spill::In;
    type State = spill::State;
    type Golden = Faulty<FAULT>;
}

/// `spill` with channels whose promises know no clear.
#[derive(Clone, Copy, Debug)]
struct Strict;

impl Design for Strict {
    const DECLARATION: &'static Declaration = &Declaration {
        channels: &{
            const fn strict(number: usize) -> Channel {
                Channel {
                    unless: &[],
                    ..spill::DECLARATION.channels[number]
                }
            }
            [strict(0), strict(1), strict(2), strict(3)]
        },
        ..spill::DECLARATION
    };
    type In = spill::In;
    type State = spill::State;
    type Golden = Golden;
}

fn said(channel: &str, who: &str) -> String {
    format!(
        "\n  channel {channel}: valid and payload stay from the first cycle of valid until ready; {who}\n"
    )
}
const BOTH: &str = "RTL and golden model agree, and both break it";

#[test]
fn a_clear_takes_back_what_is_offered() {
    for rtl in rtl::<Spill>() {
        let options = Options::default().cases(60).cycles(500);
        let met = fuzz::<Stream<Spill>>(&rtl, &options).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(met.coverage(rtl.build()).missing::<Spill>(), [""; 0]);
    }
    // Without the key the same RTL breaks its promises.
    let report = found::<Strict>(0, tempfile::tempdir().unwrap().path());
    let report = report.failure.to_string();
    let broken = ["out", "far"].map(|channel| report.contains(&said(channel, BOTH)));
    assert!(broken.contains(&true), "{report}");
}

/// Also in the cycle behind that of the clear, where a register still offers what it had to forget.
#[test]
fn what_is_taken_back_in_another_cycle_is_a_broken_promise() {
    fn broken<const FAULT: u32>(channel: &str) {
        let dir = tempfile::tempdir().unwrap();
        let report = found::<Loose<FAULT>>(FAULT, dir.path()).failure.to_string();
        assert!(report.contains(&said(channel, BOTH)), "{report}");
        let found = found::<Spill>(FAULT, dir.path());
        let report = found.failure.to_string();
        assert!(
            FAULT == 2 || report.contains(&said(channel, "the RTL breaks it")),
            "{report}"
        );
        assert_eq!(found.failure.case.illegal(), None, "{found}");
    }
    broken::<1>("out");
    broken::<2>("out");
    broken::<3>("far");
}

/// The bench takes back its offers and changes them, but only if a clear is in one of the two cycles.
#[test]
fn the_bench_takes_back_an_offer_only_in_a_clear() {
    let (mut held, mut changed, mut gone) = (0, 0, 0);
    for seed in 1..60 {
        let mut golden = <Golden as design::Golden<Spill>>::build(&Build::from(1));
        let mut waiting: Option<(u8, bool)> = None;
        for pins in Stream::<Spill>::random(seed, 600, &Build::from(1)).cycles.0 {
            let before = golden.state;
            golden.step(&pins);
            if let Some((data, cleared)) = waiting.filter(|_| !pins.is_reset()) {
                let cleared = cleared || pins.clr == 1;
                match (pins.in_valid == 1, pins.in_data == data) {
                    (true, true) => held += u32::from(!cleared),
                    (valid, _) => {
                        assert!(cleared, "seed {seed}");
                        *if valid { &mut changed } else { &mut gone } += 1;
                    }
                }
            }
            let waits = pins.in_valid == 1 && before.in_ready == 0 && !pins.is_reset();
            waiting = waits.then_some((pins.in_data, pins.clr == 1));
        }
    }
    assert!(
        held > 1000 && changed > 100 && gone > 100,
        "{held} {changed} {gone}"
    );
}

#[test]
fn a_stream_may_take_back_an_offer_in_a_clear() {
    let put = |in_data, clr| spill::In {
        in_valid: 1,
        in_data,
        clr,
        ..spill::In::default()
    };
    let stream = |cycles| Stream::<Spill>::new("hand", &Build::from(1), cycles).illegal();
    let reset = spill::In::reset();
    // The first one is taken.
    assert_eq!(
        stream(vec![reset, put(1, 0), put(2, 0), put(3, 1), put(4, 0)]),
        None
    );
    let why = "constrain changes its pins, or those of a channel change before ready, in cycle";
    let late = stream(vec![reset, put(1, 0), put(2, 0), put(3, 0), put(4, 1)]);
    assert_eq!(late, Some(format!("{why} 3")));
}

/// A clear is no withdrawal, and ends a stall.
#[test]
fn events_in_a_clear() {
    let [stalls, long, alone] = [2, 3, 4].map(|n| 1 << n);
    let idle = spill::In::default();
    let put = spill::In {
        in_valid: 1,
        in_data: 1,
        ..idle
    };
    let clear = spill::In { clr: 1, ..idle };
    let cleared = spill::In { clr: 1, ..put };
    let other = spill::In { in_data: 2, ..put };
    let mut cycles = vec![(spill::In::reset(), 0), (put, 1)];
    cycles.extend([(put, stalls); 7]);
    cycles.extend([(put, stalls | long), (cleared, stalls | long)]);
    // The register is empty.
    cycles.extend([(other, 1), (put, stalls), (clear, 0), (idle, alone)]);
    let mut golden = Golden::new();
    let mut watch = Watch::new::<Spill>();
    for (cycle, (pins, expected)) in cycles.iter().enumerate() {
        let mut told = None;
        let state = golden.step(pins);
        watch.see::<Spill>(pins, state, |channel, events| {
            told = if channel == 0 { Some(events) } else { told };
        });
        assert_eq!(told, Some(*expected), "cycle {cycle}: {pins:?}");
    }
}
