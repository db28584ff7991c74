//! A FIFO between two clocks: it agrees with its golden model, and mistakes of ten kinds are found.

use std::sync::atomic::AtomicBool;

use own_unit::cdc_fifo::{CdcFifo, rtl};
use reconverge::campaign::{Options, fuzz};
use reconverge::design::{Build, Design};
use reconverge::dut::Rtl;
use reconverge::mutate::{self, Family, Mutants};
use reconverge::stream::Stream;
use tempfile::TempDir;

use crate::common::{found, planted};

#[test]
fn a_fifo_between_two_clocks_agrees_whatever_their_periods() {
    let rtl = Rtl::<CdcFifo>::of(Build::from(1), &rtl()).unwrap();
    let options = Options::default().cases(200);
    let options = options.out(env!("CARGO_TARGET_TMPDIR"));
    let met = fuzz::<Stream<CdcFifo>>(&rtl, &options).unwrap();
    let coverage = met.coverage(rtl.build());
    assert_eq!(coverage.missing::<CdcFifo>(), [""; 0]);
}

/// Mistakes, numbered from 1, and the field that shows each first; of registers without a reset it can be any that reads them.
const MISTAKES: [(&str, &str); 10] = [
    ("a synchronizer of one register", "empty"),
    ("binary pointers cross", "empty"),
    ("one bit of a pointer crosses through one register", "empty"),
    ("a pointer crosses that no register holds", "empty"),
    ("full compares with a pointer of the other clock", "full"),
    ("full compares Gray code as if it were binary", "full"),
    ("a push into a full FIFO writes", "head"),
    ("the data are written an edge after the pointer", "head"),
    ("a pop from an empty FIFO counts", "empty"),
    ("the reset does not reach the second register", "full empty"),
];

/// Changes of the RTL after which `fault` selects one of them.
const CHANGES: [(&str, &str); 7] = [
    (
        "dst_o = second_q",
        "dst_o = fault == 1 ? first_q : fault == 3 ? {second_q[2:1], first_q[0]} : second_q",
    ),
    (
        "gray = binary ^ binary >> 1",
        "gray = fault == 2 ? binary : binary ^ binary >> 1",
    ),
    (
        "rd_gray_wr ^ 3'b110",
        "(fault == 5 ? rd_gray_q : rd_gray_wr) ^ (fault == 2 || fault == 6 ? 3'b100 : 3'b110)",
    ),
    (
        ".src_i(wr_gray_q)",
        ".src_i(fault == 4 ? gray(wr_ptr_d) : wr_gray_q)",
    ),
    (
        "always_ff @(posedge wr_clk_i) if (push_i && !full_o) mem_q[wr_ptr_q[1:0]] <= data_i;",
        "logic put_q;\n  logic [1:0] at_q;\n  logic [7:0] put_data_q;\n  \
         always_ff @(posedge wr_clk_i) begin\n    \
         {put_q, at_q, put_data_q} <= {push_i && !full_o, wr_ptr_q[1:0], data_i};\n    \
         if (fault == 8) begin\n      if (put_q) mem_q[at_q] <= put_data_q;\n    \
         end else if (push_i && (fault == 7 || !full_o)) mem_q[wr_ptr_q[1:0]] <= data_i;\n  end",
    ),
    (
        "3'(pop_i && !empty_o)",
        "3'(pop_i && (fault == 9 || !empty_o))",
    ),
    ("second_q <= 3'd0;", "if (fault != 10) second_q <= 3'd0;"),
];

/// Each in a short stream that fails again. Two of them need more than any two clocks: binary pointers need a bit that is late, data that
/// are written late a reader that is faster than the writer.
#[test]
fn mistakes_of_ten_kinds_are_found() {
    let dir = planted("cdc_fifo/cdc_fifo.sv", &CHANGES);
    let rtl = Rtl::<CdcFifo>::of(Build::from(1), &dir.path().join("cdc_fifo")).unwrap();
    let options = |out: &TempDir| Options::default().cases(200).out(out.path());
    fuzz::<Stream<CdcFifo>>(&rtl, &options(&dir)).unwrap();
    for (number, (what, fields)) in (1..).zip(MISTAKES) {
        let (rtl, out) = (rtl.clone().mutant(number), tempfile::tempdir().unwrap());
        let found = found::<Stream<CdcFifo>>(what, &rtl, &options(&out));
        let first = found.failure.mismatch().unwrap().first().field;
        let first = CdcFifo::fields()[first].name;
        assert!(fields.contains(first), "{what}: {found}");
        let stream = &found.failure.case;
        assert!(stream.cycles.0.len() <= 16, "{what}: {found}");
        let cycles = || stream.cycles.0.iter();
        let late = cycles().any(|pins| pins.wr_late | pins.rd_late != 0);
        assert_eq!(late, number == 2, "{what}: {found}");
        let slow = cycles().filter(|pins| pins.wr_clk == 0).count();
        assert!(slow >= 2 || number != 8, "{what}: {found}");
    }
}

/// Proofs take one clock, so a mutant that no stream shows is undecided.
#[test]
fn streams_catch_mutants_of_two_clocks_and_proofs_are_refused() {
    let options = mutate::Options {
        family: Family::Source,
        count: Some(25),
        cycles: 20_000,
        ..mutate::Options::new(rtl(), env!("CARGO_TARGET_TMPDIR"))
    };
    let mutants = Mutants::<CdcFifo>::make(&options, &Build::from(1)).unwrap();
    let hunter = mutants.hunter::<Stream<CdcFifo>>(&options);
    let stop = AtomicBool::new(false);
    let summary = mutants.judge(&options, &hunter, &stop, |_, _| ()).unwrap();
    println!("{summary}");
    let [caught, missed, equivalent, undecided] = summary.counts().all();
    assert!(caught >= 20 && undecided > 0, "{summary}");
    assert_eq!([missed, equivalent], [0, 0], "{summary}");
    let why = "cdc_fifo has 2 clocks, and a proof takes one";
    assert!(
        mutants
            .no_referee()
            .is_some_and(|said| said.starts_with(why))
    );
}
