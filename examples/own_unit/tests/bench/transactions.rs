//! Modules whose golden models speak in transactions: they agree, and mistakes of each kind are found.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use own_unit::answers::{self, Answers};
use own_unit::axil_transactions::{self, AxilTransactions};
use reconverge::campaign::{Options, fuzz};
use reconverge::design::{Build, Design};
use reconverge::dut::Rtl;
use reconverge::mutate::{self, Mutants, Verdict};
use reconverge::stream::Stream;
use reconverge::transactions::Why::{self, Extra, Late, Missing, Other};

use crate::common::{self, planted};

/// The RTL of `D` in the folder `dir`, in a process of its own and in this one.
fn both<D: Design>(dir: &Path) -> [Rtl<D>; 2] {
    let there = Rtl::<D>::of(Build::from(1), dir).unwrap();
    let here = Rtl::from_built(there.built()).unwrap();
    [there, here]
}

/// A mistake: the change of the RTL, what it does, and what the report says of the first wrong transaction; `None`: the RTL breaks its
/// promise.
type Mistake = (
    &'static str,
    &'static str,
    &'static str,
    Option<(Why, &'static str)>,
);

/// Finds each of `mistakes` in the RTL of `D`, whose text is in `file`, in a short stream that fails again.
fn found<D: Design>(file: &str, mistakes: &[Mistake]) {
    for (what, right, wrong, expected) in mistakes {
        let planted = planted(file, &[(right, wrong)]);
        let reports = both::<D>(&planted.path().join(D::NAME)).map(|rtl| {
            let options = Options::default().cases(200).out(planted.path());
            let found = common::found::<Stream<D>>(what, &rtl, &options);
            let mismatch = found.failure.mismatch().unwrap();
            let why = mismatch.transaction.as_ref().map(|one| one.why);
            assert_eq!(why, expected.map(|(why, _)| why), "{what}: {found}");
            assert_eq!(
                mismatch.broken.is_some(),
                expected.is_none(),
                "{what}: {found}"
            );
            let report = found.failure.to_string();
            let said = expected.map_or("the RTL breaks it", |(_, said)| said);
            assert!(report.contains(said), "{what}: {found}");
            assert!(found.failure.case.cycles.0.len() <= 24, "{what}: {found}");
            report
        });
        assert_eq!(reports[0], reports[1], "{what}");
    }
}

#[test]
fn answers_by_tag_agree_and_everything_happens_to_their_channels() {
    for rtl in both::<Answers>(&answers::rtl()) {
        let met = fuzz::<Stream<Answers>>(&rtl, &Options::default().cases(100)).unwrap();
        let coverage = met.coverage(rtl.build());
        println!("{}", coverage.table::<Answers>());
        assert_eq!(coverage.missing::<Answers>(), [""; 0]);
    }
}

#[test]
fn mistakes_of_each_kind_are_found_in_answers_by_tag() {
    let mistakes = [
        (
            "an answer is corrupted",
            "data_q[slot_q] + 8'd1",
            "data_q[slot_q] + 8'(data_q[slot_q] != 8'h55)",
            Some((Other, "is owed since cycle")),
        ),
        (
            "a request is lost",
            "if (leave) busy_q[slot_q] <= 1'b0;",
            "if (leave) busy_q <= busy_q == 4'hf ? 4'h0 : busy_q & ~(4'h1 << slot_q);",
            Some((Other, "what came is owed 1 later")),
        ),
        (
            "an answer comes twice",
            "if (leave) busy_q[slot_q] <= 1'b0;",
            "if (leave && !take) busy_q[slot_q] <= 1'b0;",
            Some((Extra, "once more")),
        ),
        (
            "answers of one tag overtake each other",
            "busy_q != 4'hf && same == 4'h0",
            "busy_q != 4'hf",
            Some((Other, "what came is owed 1 later")),
        ),
        (
            "an answer never comes",
            "wait_q[i] == 2'd0 && !(valid_q",
            "wait_q[i] == 2'd0 && data_q[i] != 8'hff && !(valid_q",
            Some((Late, "valid was 0 in 6 cycles")),
        ),
        (
            "an answer takes too long",
            "wait_q[i] <= wait_q[i] - 2'd1",
            "wait_q[i] <= wait_q[i] - 2'(!req_valid_i)",
            Some((Late, "valid was 0 in 6 cycles")),
        ),
        (
            "the reset does not reach a slot",
            "busy_q  <= 4'h0;",
            "busy_q  <= busy_q & 4'h8;",
            Some((Extra, "nothing is owed")),
        ),
        (
            "no request is taken",
            "busy_q != 4'hf && same == 4'h0",
            "busy_q == 4'hf && same == 4'h0",
            Some((Late, "ready was 0 in 2 cycles in which nothing is owed")),
        ),
        (
            "an answer changes during a stall",
            "if (!valid_q || leave) begin",
            "if (!valid_q || leave || done[0]) begin",
            None,
        ),
    ];
    found::<Answers>("answers/answers.sv", &mistakes);
}

#[test]
fn registers_agree_and_everything_happens_to_their_channels() {
    for rtl in both::<AxilTransactions>(&axil_transactions::rtl()) {
        let options = Options::default().cases(200);
        let met = fuzz::<Stream<AxilTransactions>>(&rtl, &options).unwrap();
        let missing = met.coverage(rtl.build()).missing::<AxilTransactions>();
        // No access is exclusive, and no address is that of nothing.
        for field in ["bresp", "rresp"] {
            assert!(
                missing.contains(&format!("field {field}: bit 0 was never 1")),
                "{missing:?}"
            );
        }
        assert!(
            !missing.iter().any(|what| what.contains("channel")),
            "{missing:?}"
        );
    }
}

#[test]
fn mistakes_of_each_kind_are_found_in_registers() {
    let mistakes = [
        (
            "a response is lost",
            "if (write) bvalid <= 1'b1;\n      else if (bready) bvalid <= 1'b0;",
            "if (bready && bvalid) bvalid <= 1'b0;\n      else if (write) bvalid <= 1'b1;",
            Some((Other, "what came is owed 1 later")),
        ),
        (
            "a response comes twice",
            "else if (bready) bvalid <= 1'b0;",
            "else if (bready && !(awvalid && awready)) bvalid <= 1'b0;",
            Some((Other, "it is transaction 1 once more")),
        ),
        (
            "a write to no register is answered with OKAY",
            "bresp <= addr_q[2] ? SlvErr : Okay",
            "bresp <= Okay",
            Some((Other, "is owed since cycle")),
        ),
        (
            "bytes are written that are not asked for",
            "if (strb_q[b])",
            "if (strb_q[b] || b == 3)",
            Some((Other, "is owed since cycle")),
        ),
        (
            "a write to no register writes",
            "addr_q == 3'(i)",
            "addr_q[1:0] == 2'(i)",
            Some((Other, "is owed since cycle")),
        ),
        (
            "a read returns what the response of a later write has left",
            "rdata <= araddr[4] ? 32'h0 : regs_q[araddr[3:2]];",
            "rdata <= araddr[4] ? 32'h0 : regs_q[araddr[3:2]] | (bvalid ? data_q : 32'h0);",
            Some((Other, "is owed since cycle")),
        ),
        (
            "a write to no register is never answered",
            "write   = has_addr_q && has_data_q",
            "write   = has_addr_q && has_data_q && !addr_q[2]",
            Some((Missing, "did not come in the 64 cycles at the end")),
        ),
        (
            "the reset does not reach what was read",
            "if (!aresetn) rvalid <= 1'b0;",
            "if (!aresetn && !rvalid) rvalid <= 1'b0;",
            Some((Extra, "nothing is owed")),
        ),
    ];
    found::<AxilTransactions>("axil_regs/axil_regs.sv", &mistakes);
}

/// Regression: the referee compared every cycle, and called mutants missed that only send later.
#[test]
fn a_mutant_of_a_design_with_transactions_is_never_missed() {
    let out = tempfile::tempdir().unwrap();
    let options = mutate::Options {
        cycles: 3000,
        ..mutate::Options::new(answers::rtl(), out.path())
    };
    let mutants = Mutants::<Answers>::make(&options, &Build::from(1)).unwrap();
    let hunter = mutants.hunter::<Stream<Answers>>(&options);
    let stop = AtomicBool::new(false);
    let summary = mutants.judge(&options, &hunter, &stop, |_, _| ()).unwrap();
    assert_eq!(mutants.no_referee(), None);
    println!("{summary}");
    let [caught, missed, equivalent, undecided] = summary.counts().all();
    assert!(caught > 70 && equivalent > 0, "{summary}");
    assert!(missed == 0 && undecided > 0, "{summary}");
    let later = "wait_q[i] - 2'd1";
    let mut of = summary.judged.iter();
    let of = of.find(|judged| judged.mutant.before == later).unwrap();
    let Verdict::Undecided(why) = &of.verdict else {
        panic!("{summary}");
    };
    let said = "cycles after a reset, but whether a transaction differs is not known";
    assert!(why.ends_with(said), "{why}");
}

/// Regression: the dump of a run whose transactions are compared had no text for its channels.
#[test]
fn a_dump_says_what_each_channel_transfers() {
    let (right, wrong) = (
        "data_q[slot_q] + 8'd1",
        "data_q[slot_q] + 8'(data_q[slot_q] != 8'h55)",
    );
    let planted = planted("answers/answers.sv", &[(right, wrong)]);
    let dumps = both::<Answers>(&planted.path().join("answers")).map(|rtl| {
        let options = Options::default().cases(200).out(planted.path());
        let found = fuzz::<Stream<Answers>>(&rtl, &options).unwrap_err();
        let vcd = found.saved.as_ref().unwrap().with_extension("vcd");
        fs::read_to_string(vcd).unwrap()
    });
    for dump in &dumps {
        for (number, channel) in ["req", "rsp"].iter().enumerate() {
            let declared = format!("$var string 1 ~run{number} {channel} $end\n");
            assert!(dump.contains(&declared), "{dump}");
        }
        let of = |signal: &str| {
            let lines = dump.lines().filter(|line| line.ends_with(signal));
            lines
                .map(|line| line.replace("\\x20", " "))
                .collect::<Vec<_>>()
        };
        let says = |signal: &str, what: &str| {
            let said = of(signal);
            assert!(said.iter().any(|said| said.contains(what)), "{said:?}");
        };
        // The wrong answer too, in the last cycle that was compared.
        says("~run0", "stransfers req_tag=0 req_data=0x55 ");
        says("~run1", "stransfers rsp_tag=0 rsp_data=0x55 ");
    }
    let texts = dumps.map(|dump| {
        let lines = dump.lines().filter(|line| line.contains(" ~run"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(texts[0], texts[1]);
}
