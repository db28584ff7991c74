//! What the test in lockstep.rs would catch: many small mistakes in the RTL, each judged. Proofs need Yosys
//! (`./setup --all`), and what they may assume is in rtl/rpstack_formal.sv.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use own_unit::{RpStack, rtl};
use reconverge::design::Build;
use reconverge::mutate::{Family, Hunt, Mutants, Options, Summary};
use reconverge::stream::Stream;

/// Makes `count` mutants of a family, all there are of the text, and judges each: by streams of 100,000 cycles, or, without
/// a campaign, by proofs alone.
fn judged(family: Family, count: Option<usize>, campaign: bool) -> Summary {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(campaign.to_string());
    let options = Options {
        family,
        count,
        ..Options::new(rtl(), out)
    };
    let mutants = Mutants::<RpStack>::make(&options, &Build::from(8)).unwrap();
    let streams = mutants.hunter::<Stream<RpStack>>(&options);
    let hunter = |number, mut hunt: Hunt<Stream<RpStack>>, budget| {
        if campaign || number == 0 {
            return streams(number, hunt, budget);
        }
        hunt.cycles = budget;
        Ok(hunt)
    };
    let stop = AtomicBool::new(false);
    let summary = mutants.judge(&options, &hunter, &stop, |_, _| ()).unwrap();
    assert_eq!(mutants.no_referee(), None);
    println!("{summary}");
    summary
}

/// How many are caught, missed, equivalent, undecided.
fn verdicts(summary: &Summary) -> [usize; 4] {
    summary.counts().all()
}

#[test]
fn every_mutant_of_the_text_is_caught_or_proved_equivalent() {
    let [caught, missed, _, undecided] = verdicts(&judged(Family::Source, None, true));
    assert!(caught >= 40, "{caught}");
    assert_eq!([missed, undecided], [0, 0]);
}

/// What the campaign catches the proofs refute, within twelve cycles of the reset, or leave open; what is equivalent is so
/// without a campaign too.
#[test]
fn campaign_and_proofs_say_the_same_of_mutants_of_the_netlist() {
    let [caught, missed, equivalent, undecided] =
        verdicts(&judged(Family::Netlist, Some(100), true));
    assert_eq!(caught + equivalent, 100);
    assert_eq!([missed, undecided], [0, 0]);
    let alone = verdicts(&judged(Family::Netlist, Some(100), false));
    assert_eq!((alone[0], alone[2]), (0, equivalent));
    assert_eq!(alone[1] + alone[3], caught);
    assert!(alone[1] > alone[3], "{alone:?}");
}
