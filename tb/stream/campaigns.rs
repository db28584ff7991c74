//! Campaigns of streams: each has a fresh model, and the totals depend neither on jobs, shards nor interruptions.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use reconverge::campaign::results::{Header, Results, merge, program};
use reconverge::campaign::{
    self, Chunk, Limit, Options, Piece, PinBins, Put, Runner, Shard, Summary, Tally, drive, replay,
};
use reconverge::cover::{Bins as _, run};
use reconverge::design::{Build, Design, Golden};
use reconverge::dut::Rtl;
use reconverge::failure::Cause;
use reconverge::field::{Declaration, Pin, Role};
use reconverge::found::Found;
use reconverge::home::Package;
use reconverge::lockstep::Seen;
use reconverge::r500::state::{In, State};
use reconverge::r500::{R500, golden};
use reconverge::stream::coverage::{Coverage, Observer};
use reconverge::stream::{CYCLES, Stream};

use crate::common::rtl::Rtl as Folder;

/// A design with the pins and state of r500 and another golden model.
macro_rules! design {
    ($design:ident, $declaration:expr, $golden:ty) => {
        #[derive(Clone, Copy, Debug)]
        struct $design;

        impl Design for $design {
            const DECLARATION: &'static Declaration = $declaration;
            type In = In;
            type State = State;
            type Golden = $golden;
            fn package() -> Option<&'static Package> {
                R500::package()
            }
        }
    };
}

/// The golden model of r500, whose pc changes as `KIND` says.
#[derive(Clone)]
struct Changed<const KIND: u8> {
    golden: golden::Golden,
    writes: u16,
    odd: bool,
    state: State,
}

/// Counts writes of constants since power-up; a reset does not reach the counter.
const COUNTS: u8 = 0;
/// Is wrong once constant 33 was written, until the end of the stream.
const ODD: u8 = 1;
/// Allows no cycle without a reset.
const HELD: u8 = 2;
/// Is wrong once a constant with an even number was written, until the end of the stream.
const EVEN: u8 = 3;

design!(Counts, R500::DECLARATION, Changed<COUNTS>);
design!(Odd, R500::DECLARATION, Changed<ODD>);
design!(Held, R500::DECLARATION, Changed<HELD>);

impl<D, const KIND: u8> Golden<D> for Changed<KIND>
where
    D: Design<In = In, State = State, Golden = Self>,
{
    fn build(build: &Build) -> Self {
        let golden = golden::Golden::new(build.lanes as usize);
        Changed {
            state: *Golden::<R500>::state(&golden),
            golden,
            writes: 0,
            odd: false,
        }
    }

    fn cycle(&mut self, pins: &In) -> &State {
        self.writes = (self.writes + u16::from(pins.const_we)) % 1024;
        self.odd |= pins.const_we == 1 && pins.const_addr == 33;
        self.odd |= KIND == EVEN && pins.const_we == 1 && pins.const_addr.is_multiple_of(2);
        self.state = *Golden::<R500>::cycle(&mut self.golden, pins);
        self.state.pc ^= match KIND {
            COUNTS => self.writes,
            ODD | EVEN => self.odd.into(),
            _ => 0,
        };
        &self.state
    }

    fn constrain(&self, pins: &mut In) {
        if KIND == HELD {
            *pins = In::reset();
        }
    }

    fn state(&self) -> &State {
        &self.state
    }
}

/// r500 that does something else for each number of a mutant: its pc counts writes of constants since power-up; a bit of its pc is never
/// driven; its `final` block complains of a model that ran fewer than 100 cycles.
fn planted<D: Design>(does: u32) -> Rtl<D> {
    let code = "  /* verilator lint_off UNDRIVEN */
  logic never;
  /* verilator lint_on UNDRIVEN */
  int does = 0, cycles = 0, writes = 0;
  initial if (!$value$plusargs(\"reconverge_mutant=%d\", does)) does = 0;
  always @(posedge clk_i) begin
    cycles <= cycles + 1;
    if (const_we_i) writes <= writes + 1;
  end
  final if (does == 3 && cycles < 100) $error(\"%0d cycles\", cycles);";
    let copy = Folder::own("r500").planted(code).without_assertions();
    copy.change((
        "r500_seq.sv",
        "assign pc_o      = pc_q;",
        "assign pc_o = pc_q ^ (does == 1 ? 10'(writes) : 10'(does == 2 && never));",
    ));
    Rtl::of(4, copy.dir()).unwrap().mutant(does)
}

fn options() -> Options {
    let mut options = Options::default().cases(200).cycles(20);
    (options.out, options.budget.runs) = (None, 10);
    options
}

fn fuzz<D: Design>(
    rtl: &Rtl<D>,
    options: &Options,
) -> Result<Summary<Stream<D>>, Box<Found<Stream<D>>>> {
    campaign::fuzz(rtl, options)
}

/// Regression: the streams of a chunk shared a model, so that correct RTL without a reset differed in the second one.
#[test]
fn a_design_without_reset_begins_each_stream_with_its_initial_values() {
    assert_eq!(
        fuzz(&planted::<Counts>(1), &options()).unwrap().programs,
        200
    );
}

/// Regression: a net that is never driven had one value in all streams of a chunk, and agreed with one seed of two.
#[test]
fn a_bit_that_is_never_driven_fails_with_every_seed() {
    let rtl = planted::<R500>(2);
    for seed in 1..=6 {
        let found = fuzz(&rtl, &options().seed(seed).cases(16)).unwrap_err();
        assert!(matches!(found.failure.cause, Cause::Mismatch(_)), "{found}");
    }
}

/// Regression: the last stream of the chunk was blamed.
#[test]
fn a_final_block_blames_the_stream_that_it_complains_of() {
    let found = fuzz(&planted::<R500>(3), &options()).unwrap_err();
    assert!(matches!(found.failure.cause, Cause::Stopped(_)), "{found}");
    assert!(found.failure.case.name.starts_with("short-0"), "{found}");
}

/// Regression: a model that was opened and not used complained of values that no `initial` block had set.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_model_that_never_ran_runs_no_final_block() {
    let copy = Folder::own("r500").planted("  final $error(\"it has ended\");");
    let copy = copy.without_assertions();
    let rtl = Rtl::<R500>::of(4, copy.dir()).unwrap();
    rtl.open(1).unwrap().close().unwrap();
    let mut dut = rtl.open(1).unwrap();
    dut.clock(&In::default(), None);
    let said = dut.close().unwrap_err().to_string();
    assert!(said.contains("it has ended"), "{said}");
}

/// Regression: the tests of a crate drew new streams and did not run those that had failed before.
#[test]
fn saved_streams_run_before_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let rtl = planted::<R500>(2);
    let mut options = options().cases(16).out(dir.path());
    let found = fuzz(&rtl, &options).unwrap_err();
    options.seed = 7;
    let again = fuzz(&rtl, &options).unwrap_err();
    assert_eq!(again.saved, found.saved);
    // The one that was not shrunk has a name that comes before it.
    let first = again.saved.as_ref().unwrap();
    let other = first.with_file_name("r500.a.json");
    std::fs::copy(first, &other).unwrap();
    assert_eq!(fuzz(&rtl, &options).unwrap_err().saved, found.saved);
    // Regression: how it is made smaller was not said.
    let small = std::fs::read_to_string(first).unwrap();
    let large = small.replace("-shrunk", "");
    std::fs::write(&other, large).unwrap();
    std::fs::remove_file(first).unwrap();
    let said = fuzz(&rtl, &options).unwrap_err().to_string();
    let hint = format!(
        "\nshrink  with the command of the design: replay {} --shrink\n",
        other.display()
    );
    assert!(
        said.contains(&hint) && !again.to_string().contains("\nshrink  "),
        "{said}"
    );
    std::fs::write(first, small).unwrap();
    std::fs::remove_file(other).unwrap();
    assert_eq!(again.failure.to_string(), found.failure.to_string());
    let dump = again.waves.as_ref().map(|waves| waves.dump.clone());
    assert!(dump.is_some_and(|dump| dump.is_file()), "{again}");
    // Correct RTL agrees on them, and new streams are drawn.
    assert_eq!(fuzz(&planted::<R500>(0), &options).unwrap().programs, 16);
}

/// Regression: only the tests of a crate said it, not its command.
#[test]
fn a_campaign_in_reset_is_not_called_good() {
    let rtl = Rtl::<Held>::own(4).unwrap();
    let options = campaign_of(2);
    let summary = campaign::run::<Stream<Held>>(&options, &rtl, |_| ()).unwrap();
    let json = summary.to_json(&options, &PinBins::new(rtl.build()));
    let cycles = &json["cycles"];
    let said =
        format!("the reset was asserted in {cycles} of {cycles} cycles: little else was compared");
    assert_eq!(json["not_seen"][0], said.as_str());
}

#[test]
fn a_run_of_streams_counts_how_often_each_bit_was_0_and_1() {
    let rtl = Rtl::<R500>::own(4).unwrap();
    let bins = PinBins::<R500>::new(rtl.build());
    let limit = Limit::Programs(40);
    let [one, three] = [1, 3].map(|jobs| {
        let options = run::Options {
            seed: 1,
            limit,
            jobs,
            guided: false,
            cycles: CYCLES,
            careful: None,
        };
        run::run::<Stream<R500>>(&options, &bins, &rtl, &()).unwrap()
    });
    // One stream in sixteen is eight times as long.
    let short = run::Options {
        seed: 1,
        limit: Limit::Programs(16),
        jobs: 1,
        guided: false,
        cycles: 20,
        careful: None,
    };
    let short = run::run::<Stream<R500>>(&short, &bins, &rtl, &()).unwrap();
    assert!(short.compared < one.compared / 40);
    assert_eq!(
        (one.compared, &one.hits, one.totals),
        (three.compared, &three.hits, three.totals)
    );
    let declared = bins.declaration();
    let coverage = declared.named("r500", rtl.build(), &one.hits, one.totals);
    let [pins, fields, errors] = &coverage.groups[..] else {
        panic!("{} groups", coverage.groups.len())
    };
    assert_eq!(errors.name, "values of field err");
    // Each cycle counts a bit once; the reset, active low, is asserted in the first cycles of each stream.
    let of_reset = pins.bins.iter().filter(|bin| bin.at[0] == "rst_n");
    let hits: Vec<_> = of_reset.map(|bin| bin.hits).collect();
    assert_eq!(hits.iter().sum::<u64>(), one.compared);
    assert!(hits[0] >= 2 * 40, "{hits:?}");
    // A campaign of the same streams meets the same bits.
    let options = Options {
        limit,
        ..Options::default()
    };
    let met = campaign::run::<Stream<R500>>(&options, &rtl, |_| ()).unwrap();
    let overview = bins.overview(&met.bins);
    let shares = overview.groups.iter().map(|(_, share)| share);
    let shares: Vec<_> = shares.map(|share| (share.hit, share.reachable)).collect();
    let counted = [pins, fields, errors].map(|group| (group.hit(), group.reachable()));
    assert_eq!(shares, counted);
}

/// Regression: a stream saved before `constrain` was written failed for ever, though every stream that it allows agrees.
#[test]
fn a_saved_stream_that_is_not_legal_any_more_is_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let options = options().cases(16).out(dir.path());
    let found = fuzz(&planted::<R500>(1), &options).unwrap_err();
    let (saved, rtl) = (found.saved.unwrap(), planted::<Held>(1));
    assert!(replay::<Stream<Held>>(&saved, &rtl).unwrap().is_err());
    assert_eq!(fuzz(&rtl, &options).unwrap().programs, 16);
    assert!(saved.is_file());
}

/// r500 with a comment more in its declaration.
const DECLARED: Declaration = Declaration {
    toml: concat!(include_str!("../../rtl/r500/design.toml"), "# more"),
    ..*R500::DECLARATION
};

design!(Declared, &DECLARED, Changed<ODD>);

/// Regression: the declaration says what is drawn, and results with another one were resumed and merged.
#[test]
fn results_depend_on_the_text_of_the_declaration() {
    assert_eq!(program::<Odd>(), program::<R500>());
    assert_ne!(program::<Declared>(), program::<R500>());
}

/// Whole chunks, and a last one that is short.
const STREAMS: u64 = 600;

fn campaign_of(jobs: usize) -> Options {
    Options {
        limit: Limit::Programs(STREAMS),
        jobs,
        keep_going: true,
        cycles: 20,
        ..Options::default()
    }
}

/// Runs a shard of a campaign with results in `dir`, up to `most` more pieces.
fn shard_of(dir: &Path, rtl: &Rtl<Odd>, shard: &str, most: usize) {
    let options = campaign_of(2);
    let header = Header::new::<Stream<Odd>>(&options, rtl, shard.parse().unwrap());
    let (mut results, mut tally) = Results::open(dir, &header, &options).unwrap();
    tally.goal = Some(PinBins::<Odd>::new(rtl.build()).goal());
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let bins = PinBins::new(rtl.build());
    let mut kept = 0;
    let ran = drive(
        &mut tally,
        &stop,
        &over,
        || {
            Ok(|chunk: &Chunk<Stream<Odd>>, put: Put<Stream<Odd>>| {
                let cases = chunk.cases.clone();
                let bins = chunk.bins.then_some(&bins);
                let runner = Runner::open(&options, rtl, bins, cases.start)?;
                let piece = Piece {
                    chunk: chunk.number,
                    summary: runner.run_all(cases.clone()),
                    cases,
                };
                put(piece).map(drop)
            })
        },
        |piece| {
            kept += 1;
            stop.fetch_or(kept >= most, Ordering::Relaxed);
            results.add(piece)
        },
        |_: &Tally<Stream<Odd>>| (),
    );
    assert_eq!(ran, Ok(()));
}

#[test]
fn the_totals_of_streams_depend_neither_on_jobs_nor_on_shards_nor_on_interruptions() {
    let rtl = Rtl::<Odd>::own(4).unwrap();
    let bins = PinBins::<Odd>::new(rtl.build());
    let [one, four] = [1, 4].map(|jobs| {
        let options = campaign_of(jobs);
        campaign::run::<Stream<Odd>>(&options, &rtl, |_| ())
            .unwrap()
            .to_json(&options, &bins)
    });
    assert_eq!(one, four);
    assert_eq!(one["programs"], STREAMS);
    // One in sixteen is eight times as long.
    let paces = (&one["kinds"]["short"], &one["kinds"]["long"]);
    assert_eq!(
        (&paces.0["programs"], &paces.1["programs"]),
        (&563.into(), &37.into())
    );
    assert_eq!(paces.1["programs"].as_u64().unwrap(), STREAMS / 16);
    let failures = one["mismatches"].as_array().unwrap().len();
    assert!((10..300).contains(&failures), "{failures}");

    let dir = tempfile::tempdir().unwrap();
    shard_of(dir.path(), &rtl, "1/2", 3);
    shard_of(dir.path(), &rtl, "2/2", usize::MAX);
    let files = campaign::results::files(dir.path()).unwrap();
    let said = merge::<Stream<Odd>>(&files)
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(said.contains("not finished: "), "{said}");
    assert!(said.contains(" streams, "), "{said}");
    shard_of(dir.path(), &rtl, "1/2", usize::MAX);
    let (header, total) = merge::<Stream<Odd>>(&files).ok().unwrap();
    assert_eq!(header.cycles, Some(20));
    assert!((2 * STREAMS..total.compared.cycles).contains(&total.resets));
    assert_eq!(total.to_json(&campaign_of(1), &bins), one);

    // The first failure ends a campaign with its chunk of 16.
    let ends = Options {
        keep_going: false,
        ..campaign_of(4)
    };
    let ended = campaign::run::<Stream<Odd>>(&ends, &rtl, |_| ()).unwrap();
    let first = one["mismatches"][0]["run"].as_str().unwrap();
    assert_eq!(ended.failures.len(), 1);
    assert!(
        first.contains(&ended.failures[0].failure.case.name),
        "{first}"
    );
    assert_eq!(ended.programs, ended.failures[0].number + 1);

    // Streams of another length are another campaign.
    let other = Options {
        cycles: 21,
        ..campaign_of(1)
    };
    let header = Header::new::<Stream<Odd>>(&other, &rtl, Shard::new(1, 2).unwrap());
    let refused = Results::open::<Stream<Odd>>(dir.path(), &header, &other);
    let said = refused.map(drop).unwrap_err().to_string();
    assert!(
        said.contains("cycles: results with 20 cycles in a stream, not 21"),
        "{said}"
    );
}

/// The pins of r500; `const_addr` has only these values.
const ONE_HOT: [Pin; 17] = {
    let mut pins = *R500::DECLARATION.pins.first_chunk::<17>().unwrap();
    pins[ADDRESS].values = &[1, 2, 4];
    pins[ADDRESS].default = 1;
    pins
};
const ADDRESS: usize = 11;

/// Two of the flags behind it are clocks, of which the first one rises in every cycle.
const CLOCKED: [Pin; 17] = {
    let mut pins = ONE_HOT;
    pins[FAST].role = Role::Clock { phase: None };
    pins[FAST].range = (1, 1);
    pins[SLOW].role = Role::Clock { phase: None };
    pins[SLOW].range = (2, 5);
    pins
};
const FAST: usize = 13;
const SLOW: usize = 15;

const ENUM: Declaration = Declaration {
    pins: &ONE_HOT,
    ..*R500::DECLARATION
};
const CLOCKS: Declaration = Declaration {
    pins: &CLOCKED,
    ..*R500::DECLARATION
};

design!(OneHot, &ENUM, Changed<EVEN>);
design!(Clocked, &CLOCKS, Changed<COUNTS>);

/// Regression: a clock that always rises and bits that no value of an enum has were missing for ever, and `cover --require-all` failed.
#[test]
fn what_the_declaration_of_a_pin_excludes_is_no_bin() {
    let build = Build::from(4);
    let mut observer = Observer::<Clocked>::new(4);
    for seed in 1..20 {
        let mut golden = <Changed<COUNTS> as Golden<Clocked>>::build(&build);
        for pins in &Stream::<Clocked>::random(seed, 500, &build).cycles.0 {
            let state = Golden::<Clocked>::cycle(&mut golden, pins);
            observer.see(&Seen::new(pins, state));
        }
    }
    let coverage = observer.coverage();
    let of_pins = |lines: Vec<String>| {
        let pins = lines.into_iter().filter(|line| line.starts_with("pin "));
        pins.collect::<Vec<_>>()
    };
    assert_eq!(of_pins(coverage.missing::<Clocked>()), [""; 0]);
    assert_eq!(of_pins(coverage.idle::<Clocked>()), [""; 0]);
    let all = Coverage::all::<Clocked>(4);
    assert_eq!(coverage.pins, all.pins);
    let bins = PinBins::<Clocked>::new(&build);
    let shown = bins.declaration().named(
        "r500",
        &build,
        &bins.declaration().no_hits(),
        Default::default(),
    );
    let excluded = shown.groups[0]
        .bins
        .iter()
        .filter(|bin| bin.unreachable.is_some());
    let excluded: Vec<String> = excluded.map(|bin| bin.at.join(" ")).collect();
    let names = [
        "const_addr[3] 1",
        "const_addr[4] 1",
        "const_addr[5] 1",
        "launch 0",
    ];
    assert_eq!(excluded, names);
    // What cannot be missed is not asked for either.
    let slow = CLOCKED[SLOW].name;
    let never = Coverage::new::<Clocked>(4).missing::<Clocked>();
    assert!(
        never.contains(&format!("pin {slow}: bit 0 was never 0")),
        "{never:?}"
    );
}

/// Regression: a stream was shortened to values that the enum of the pin does not have.
#[test]
fn shrinking_keeps_to_the_values_of_an_enum() {
    let found = fuzz(
        &Rtl::<OneHot>::own(4).unwrap(),
        &Options {
            budget: Default::default(),
            ..options()
        },
    );
    let found = found.unwrap_err();
    let stream = &found.failure.case;
    assert!(stream.name.contains("shrunk"), "{found}");
    let addresses: Vec<_> = stream.cycles.0.iter().map(|pins| pins.const_addr).collect();
    assert!(
        addresses.iter().all(|at| [1, 2, 4].contains(at)),
        "{addresses:?}"
    );
}
