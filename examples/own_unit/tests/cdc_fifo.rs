//! A FIFO between two clocks: it agrees with its golden model, and mistakes of ten kinds are found.

use std::fs;
use std::path::Path;

use own_unit::cdc_fifo::{CdcFifo, rtl};
use reconverge::campaign::{Options, fuzz, replay};
use reconverge::design::{Build, Design};
use reconverge::dut::Rtl;
use reconverge::stream::Stream;

#[test]
fn a_fifo_between_two_clocks_agrees_whatever_their_periods() {
    let rtl = Rtl::<CdcFifo>::of(Build::from(1), &rtl()).unwrap();
    let options = Options::default().cases(200);
    let options = options.out(env!("CARGO_TARGET_TMPDIR"));
    let met = fuzz::<Stream<CdcFifo>>(&rtl, &options).unwrap();
    let coverage = met.coverage(rtl.build());
    assert_eq!(coverage.missing::<CdcFifo>(), [""; 0]);
}

/// A mistake: what it is, the field that shows it, and what stands in the place of the right text.
type Mistake = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const MISTAKES: [Mistake; 10] = [
    (
        "a synchronizer of one register",
        "empty",
        &[("dst_o = second_q", "dst_o = first_q")],
    ),
    (
        "binary pointers cross",
        "empty",
        &[
            ("return binary ^ binary >> 1", "return binary"),
            ("rd_gray_wr ^ 3'b110", "rd_gray_wr ^ 3'b100"),
        ],
    ),
    (
        "one bit of a pointer crosses through one register",
        "empty",
        &[("dst_o = second_q", "dst_o = {second_q[2:1], first_q[0]}")],
    ),
    (
        "a pointer crosses that no register holds",
        "empty",
        &[(".src_i(wr_gray_q)", ".src_i(gray(wr_ptr_d))")],
    ),
    (
        "full compares with a pointer of the other clock",
        "full",
        &[("rd_gray_wr ^ 3'b110", "rd_gray_q ^ 3'b110")],
    ),
    (
        "full compares Gray code as if it were binary",
        "full",
        &[("rd_gray_wr ^ 3'b110", "rd_gray_wr ^ 3'b100")],
    ),
    (
        "a push into a full FIFO writes",
        "head",
        &[("if (push_i && !full_o) mem_q", "if (push_i) mem_q")],
    ),
    (
        "the data are written an edge after the pointer",
        "head",
        &[(
            "always_ff @(posedge wr_clk_i) if (push_i && !full_o) mem_q[wr_ptr_q[1:0]] <= data_i;",
            "logic put_q;\n  logic [1:0] at_q;\n  logic [7:0] put_data_q;\n  \
             always_ff @(posedge wr_clk_i) begin\n    \
             {put_q, at_q, put_data_q} <= {push_i && !full_o, wr_ptr_q[1:0], data_i};\n    \
             if (put_q) mem_q[at_q] <= put_data_q;\n  end",
        )],
    ),
    (
        "a pop from an empty FIFO counts",
        "empty",
        &[("3'(pop_i && !empty_o)", "3'(pop_i)")],
    ),
    (
        "the reset does not reach the second register",
        "full",
        &[("second_q <= 3'd0;", "")],
    ),
];

/// Each in a short stream that fails again. Two of them need more than any two clocks: binary pointers need a bit that is late, data that
/// are written late a reader that is faster than the writer.
#[test]
fn mistakes_of_ten_kinds_are_found() {
    let from = rtl();
    let text = fs::read_to_string(from.join("cdc_fifo.sv")).unwrap();
    for (what, field, changes) in MISTAKES {
        let dir = tempfile::tempdir().unwrap();
        let wrong = changes.iter().fold(text.clone(), |text, (right, wrong)| {
            assert_eq!(text.matches(right).count(), 1, "{right}");
            text.replace(right, wrong)
        });
        for name in ["design.toml", "cdc_fifo.f"] {
            fs::copy(from.join(name), dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("cdc_fifo.sv"), wrong).unwrap();
        let rtl = Rtl::<CdcFifo>::of(Build::from(1), dir.path()).unwrap();
        let found = finds(&rtl, dir.path());
        println!("{what}: {found}");
        let first = found.failure.mismatch().unwrap().first().field;
        assert_eq!(CdcFifo::fields()[first].name, field, "{what}: {found}");
        let stream = &found.failure.case;
        assert!(stream.cycles.0.len() <= 16, "{what}: {found}");
        let again = replay::<Stream<CdcFifo>>(found.saved.as_ref().unwrap(), &rtl).unwrap();
        assert_eq!(
            again.unwrap_err().to_string(),
            found.failure.to_string(),
            "{what}"
        );
        let cycles = || stream.cycles.0.iter();
        let late = cycles().any(|pins| pins.wr_late | pins.rd_late != 0);
        assert_eq!(late, what == "binary pointers cross", "{what}: {found}");
        if what == "the data are written an edge after the pointer" {
            assert!(
                cycles().filter(|pins| pins.wr_clk == 0).count() >= 2,
                "{found}"
            );
        }
    }
}

fn finds(rtl: &Rtl<CdcFifo>, out: &Path) -> reconverge::found::Found<Stream<CdcFifo>> {
    let options = Options::default().cases(200).out(out);
    *fuzz::<Stream<CdcFifo>>(rtl, &options).expect_err("the RTL is wrong")
}
