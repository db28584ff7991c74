//! Accounting of chunks: which are handed out, which are still missing, and which count bins.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::campaign::{
    self, Chunk, Failed, GivenUp, Limit, Options, Piece, Put, Runner, Shard, Summary, Tally, drive,
};
use reconverge::case::Case;
use reconverge::cover::{Met, Model};
use reconverge::design::Design;
use reconverge::dut::Rtl;
use reconverge::failure::Cause;
use serde_json::Value;

use super::{CampaignFolder, json};
use crate::common::{arg, reconverge_ends};

/// Regression: a chunk that was given up in one job, while the one before it still ran in another job, was continued; its next
/// case was refused, which ended the campaign without a verdict.
#[test]
fn a_chunk_that_is_over_is_not_gone_on_with() {
    use reconverge::r500::R500;
    let options = Options {
        seed: 1,
        limit: Limit::Programs(2 * campaign::CHUNK),
        jobs: 2,
        keep_going: true,
        ..Options::default()
    };
    let mut tally = Tally::<Case<R500>>::new(&options, Shard::default());
    let (never, over, second) = (
        AtomicBool::new(false),
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let lost = |case| {
        let cause = Cause::Crashed("as told".to_owned());
        Summary::lost(&options, &rtl, case, cause, 1)
    };
    let ran = drive(
        &mut tally,
        &never,
        &over,
        || {
            Ok(|chunk: &Chunk<Case<R500>>, put: Put<Case<R500>>| {
                let mut piece = |cases, summary| {
                    put(Piece {
                        chunk: chunk.number,
                        cases,
                        summary,
                    })
                };
                if chunk.number == 0 {
                    while !second.load(Ordering::Relaxed) {
                        sleep(Duration::from_millis(1));
                    }
                    let programs = campaign::CHUNK;
                    let summary = Summary {
                        programs,
                        ..Summary::default()
                    };
                    return piece(chunk.cases.clone(), summary).map(drop);
                }
                let mut cases = chunk.cases.clone();
                while piece(cases.start..cases.start + 1, lost(cases.start))? {
                    cases.start += 1;
                }
                second.store(true, Ordering::Relaxed);
                Ok(())
            })
        },
        |_| Ok(()),
        |_| (),
    );
    assert_eq!(ran, Ok(()));
    assert!(tally.finished());
    assert_eq!(
        tally.total().given_up(),
        Some(GivenUp::Lost {
            cases: campaign::MAX_LOST,
            of: campaign::MAX_LOST as u64
        })
    );
    assert_eq!(tally.total().programs, campaign::CHUNK + 8);
}

#[test]
fn a_lost_process_is_owed_a_failure_until_a_case_of_its_chunk_has_one() {
    use reconverge::r500::R500;
    let options = Options {
        limit: Limit::Programs(campaign::CHUNK),
        keep_going: true,
        ..Options::default()
    };
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let cause = || Cause::Crashed("as told".to_owned());
    let owed = |case| Piece::owed(0, Failed::lost(&options, &rtl, case, cause(), 7));
    let agree = |cases: std::ops::Range<u64>| Piece::<Case<R500>> {
        chunk: 0,
        summary: Summary {
            programs: cases.end - cases.start,
            ..Summary::default()
        },
        cases,
    };
    let mut tally = Tally::<Case<R500>>::new(&options, Shard::default());
    tally.put(owed(0)).unwrap();
    tally.put(agree(0..1)).unwrap();
    assert_eq!(tally.owed().count(), 1);
    let chunk = tally.hand_out().unwrap();
    assert_eq!((chunk.cases, chunk.broken), (1..campaign::CHUNK, true));
    let failure = chunk.owed.unwrap().failure;
    assert_eq!(
        (failure.message(), failure.case.model_seed()),
        ("as told".to_owned(), 7)
    );

    // Only for the next case, only of a lost process, only without programs.
    let refused = |tally: &mut Tally<Case<R500>>, piece| tally.put(piece).unwrap_err();
    let why = refused(&mut tally, owed(2));
    assert_eq!(
        why,
        (
            "cases",
            "2..2 of chunk 0, of which 1..256 are left".to_owned()
        )
    );
    let mut other = owed(1);
    other.summary.failures[0].failure.cause = Cause::NotRun("no".to_owned());
    let why = refused(&mut tally, other);
    let expected = "without cases, and not that case 1 ended its process";
    assert_eq!(why, ("failures", expected.to_owned()));
    let mut more = owed(1);
    more.summary.programs = 1;
    let why = refused(&mut tally, more);
    assert_eq!(why, ("failures", "not one without cases".to_owned()));
    let why = refused(&mut tally, agree(1..campaign::CHUNK));
    let expected = "the RTL ended a process in chunk 0, and none of its cases fails";
    assert_eq!(why, ("cases", expected.to_owned()));

    let lost = Piece {
        chunk: 0,
        cases: 1..2,
        summary: Summary::lost(&options, &rtl, 1, cause(), 7),
    };
    // A case that fails for another reason does not explain the loss.
    let mut differs = lost.clone();
    differs.summary.failures[0].failure.cause = Cause::NotRun("no".to_owned());
    let mut other = Tally::<Case<R500>>::new(&options, Shard::default());
    other.put(owed(0)).unwrap();
    other.put(agree(0..1)).unwrap();
    other.put(differs).unwrap();
    assert_eq!(other.owed().count(), 1);
    // The campaign has failed, so the end of the chunk does.
    other.put(agree(2..campaign::CHUNK)).unwrap();
    assert!(other.finished() && other.owed().count() == 0);

    tally.put(lost).unwrap();
    assert_eq!(tally.owed().count(), 0);
    tally.put(agree(2..campaign::CHUNK)).unwrap();
    assert!(tally.finished());
    assert_eq!(tally.total().failures.len(), 1);
}

/// Only chunks that count in any case decide, so that the bins of a campaign do not depend on the order in which chunks end.
#[test]
fn chunks_count_bins_until_those_before_them_have_hit_all() {
    use reconverge::r500::R500;
    let options = Options {
        limit: Limit::Programs(6 * campaign::CHUNK),
        ..Options::default()
    };
    let met = |bins: &[usize]| bins.iter().copied().collect::<Met>();
    let done = |chunk: &Chunk<Case<R500>>, bins: &[usize]| Piece::<Case<R500>> {
        chunk: chunk.number,
        cases: chunk.cases.clone(),
        summary: Summary {
            programs: campaign::CHUNK,
            bins: met(bins),
            ..Summary::default()
        },
    };
    let mut tally = Tally::<Case<R500>>::new(&options, Shard::default());
    tally.goal = Some(met(&[3, 70]));
    let [zero, one, two] = std::array::from_fn(|_| tally.hand_out().unwrap());
    assert!(zero.bins && one.bins && two.bins);
    // Chunk 0 is not done, and without it chunk 1 may not count.
    tally.put(done(&one, &[3, 70])).unwrap();
    assert!(tally.hand_out().unwrap().bins);
    tally.put(done(&zero, &[3])).unwrap();
    assert!(!tally.hand_out().unwrap().bins);
    tally.put(done(&two, &[500])).unwrap();
    assert!(!tally.hand_out().unwrap().bins);
    assert_eq!(tally.total().bins, met(&[3, 70, 500]));

    // Without a goal every chunk counts.
    let mut tally = Tally::<Case<R500>>::new(&options, Shard::default());
    let first = tally.hand_out().unwrap();
    tally.put(done(&first, &[3, 70])).unwrap();
    assert!(tally.hand_out().unwrap().bins);
}

#[test]
fn cases_that_count_no_bins_are_judged_the_same() {
    use reconverge::spa5::Spa5;
    let options = Options::default();
    let rtl = Rtl::<Spa5>::own(Spa5::LANES).unwrap();
    let bins = Model::new(rtl.build());
    let run = |bins| {
        let runner = Runner::<Case<Spa5>>::open(&options, &rtl, bins, 0).unwrap();
        runner.run_all(0..16)
    };
    let (counts, mut counts_not) = (run(Some(&bins)), run(None));
    assert!(counts.bins != Met::default() && counts.judged.programs > 0);
    assert_eq!(counts_not.bins, Met::default());
    counts_not.bins = counts.bins.clone();
    let [counts, counts_not] = [counts, counts_not].map(|s| serde_json::to_string(&s).unwrap());
    assert_eq!(counts_not, counts);
}

/// For random bins of each chunk and any order in which chunks end, restarts from kept results, shards, and a failing chunk,
/// after which none counts: chunks that do not count bins miss no reachable bin.
#[test]
fn no_reachable_bin_is_lost_by_chunks_that_do_not_count() {
    use reconverge::r500::R500;
    const CHUNKS: u64 = 24;
    const BINS: usize = 4;
    let options = Options {
        limit: Limit::Programs(CHUNKS * campaign::CHUNK),
        ..Options::default()
    };
    let goal: Met = (0..BINS).collect();
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let lost = |case| {
        let cause = Cause::Crashed("as told".to_owned());
        Summary::lost(&options, &rtl, case, cause, 1)
    };
    let mut saved = 0;
    for seed in 0..2000 {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        // Bins of each chunk; the last one is not reachable.
        let bins: Vec<Vec<usize>> = (0..CHUNKS)
            .map(|_| (0..=BINS).filter(|_| rng.random_ratio(1, 3)).collect())
            .collect();
        let of = rng.random_range(1..4);
        let fails = rng.random_range(0..CHUNKS);
        let counts = |number: u64| number <= fails || number % of != fails % of;
        let counted = (0..).zip(&bins).filter(|(number, _)| counts(*number));
        let expected: Met = counted.flat_map(|(_, bins)| bins).copied().collect();
        let mut total = Met::default();
        for index in 1..=of {
            let shard = Shard::new(index, of).unwrap();
            let new = || {
                let mut tally = Tally::<Case<R500>>::new(&options, shard);
                tally.goal = Some(goal.clone());
                tally
            };
            let (mut tally, mut kept, mut running) =
                (new(), Vec::<Piece<Case<R500>>>::new(), Vec::new());
            loop {
                if rng.random_ratio(1, 10) {
                    // Chunks that run are lost, results that are kept are read again.
                    (tally, running) = (new(), Vec::new());
                    kept.iter()
                        .for_each(|piece| tally.put(piece.clone()).unwrap());
                }
                if running.len() < 8
                    && let Some(chunk) = tally.hand_out()
                {
                    running.push(chunk);
                }
                if running.is_empty() {
                    break;
                }
                if rng.random_ratio(1, 3) {
                    continue;
                }
                let chunk = running.swap_remove(rng.random_range(0..running.len()));
                let counted = bins[chunk.number as usize].iter().filter(|_| chunk.bins);
                let met = counted.copied().collect();
                saved += u64::from(!chunk.bins);
                let mut summary = match chunk.number == fails {
                    true => lost(chunk.cases.start),
                    false => Summary::default(),
                };
                (summary.programs, summary.bins) = (campaign::CHUNK, met);
                let piece = Piece {
                    chunk: chunk.number,
                    cases: chunk.cases,
                    summary,
                };
                kept.push(piece.clone());
                tally.put(piece).unwrap();
            }
            assert!(tally.finished(), "{seed}: {shard}");
            total.merge(&tally.total().bins);
        }
        let has = |met: &Met| (0..BINS).filter(|bin| met.has(*bin)).collect::<Vec<_>>();
        assert_eq!(has(&total), has(&expected), "{seed}");
    }
    assert!(saved > 300, "{saved}");
}

/// All bins of r500 are hit after some five million cycles.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_campaign_stops_counting_bins_when_all_have_been_hit() {
    let place = CampaignFolder::new();
    let (results, file) = (place.arg("r"), place.path("s.json"));
    let args = ["fuzz", "r500", "--cycles", "9000000", "--variants", "none"];
    let more = ["--results", &results, "--json", arg(&file)];
    reconverge_ends(0, &[&args[..], &more].concat());
    let bins = &json(&file)["seen"]["bins"];
    assert_eq!(bins["hit"], bins["reachable"]);
    let lines = fs::read_to_string(place.path("r/r500.jsonl")).unwrap();
    let empty = lines.lines().skip(1).map(|line| {
        let piece: Value = serde_json::from_str(line).unwrap();
        let count = piece["summary"]["bins"].as_array().unwrap().len();
        (piece["chunk"].as_u64().unwrap(), count == 0)
    });
    let (stopped, counted): (Vec<_>, Vec<_>) = empty.partition(|(_, empty)| *empty);
    let last = counted.iter().map(|(chunk, _)| *chunk).max().unwrap();
    println!(
        "chunk {last} is the last that counted, {} did not",
        stopped.len()
    );
    assert!(counted.len() > 20 && stopped.len() > 20);
    // Other chunks may run while the one that hits the last bin is not done.
    assert!(stopped.iter().all(|(chunk, _)| *chunk + 8 > last));
}
