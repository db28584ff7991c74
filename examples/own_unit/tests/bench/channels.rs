//! Modules with channels: a round-robin arbiter with credits, and registers behind AXI4-Lite. They agree with their golden models, and in
//! each of them mistakes of eight kinds are found.

use std::path::Path;

use own_unit::axil_regs::{self, AxilRegs};
use own_unit::rr_arb::{self, RrArb};
use reconverge::campaign::{Options, fuzz};
use reconverge::check::TestCase as _;
use reconverge::design::{Build, Design};
use reconverge::dut::Rtl;
use reconverge::stream::Stream;

use crate::common::{self, planted};

/// The RTL agrees, and everything happens to its channels that can; nothing is missing but `missing`.
fn agrees<D: Design>(dir: &Path, missing: &[&str]) {
    let rtl = Rtl::<D>::of(Build::from(1), dir).unwrap();
    let options = Options::default().cases(200);
    let options = options.out(env!("CARGO_TARGET_TMPDIR"));
    let met = fuzz::<Stream<D>>(&rtl, &options).unwrap();
    let coverage = met.coverage(rtl.build());
    println!("{}", coverage.table::<D>());
    assert_eq!(coverage.missing::<D>(), missing);
}

/// A mistake: what it is, the field that shows it first, or of several which, and the channel whose promise the RTL then breaks.
type Mistake = (&'static str, &'static str, Option<&'static str>);

/// Finds each of `mistakes` in the RTL of `D`, in a short stream that keeps the handshakes of the bench and fails again. After `changes`
/// of the RTL `fault` selects one of them, from 1 on.
fn found<D: Design>(changes: &[(&str, &str)], mistakes: &[Mistake]) {
    let planted = planted(&format!("{0}/{0}.sv", D::NAME), changes);
    let right = Rtl::<D>::of(Build::from(1), &planted.path().join(D::NAME)).unwrap();
    let options = |out: &Path| Options::default().cases(200).out(out);
    fuzz::<Stream<D>>(&right, &options(planted.path())).unwrap();
    for (number, (what, fields, broken)) in (1..).zip(mistakes) {
        let (rtl, out) = (right.clone().mutant(number), tempfile::tempdir().unwrap());
        let found = common::found::<Stream<D>>(what, &rtl, &options(out.path()));
        let mismatch = found.failure.mismatch().unwrap();
        let first = D::fields()[mismatch.first().field].name;
        assert!(fields.contains(first), "{what}: {found}");
        let channel = mismatch
            .broken
            .as_ref()
            .map(|broken| broken.channel.as_str());
        assert_eq!(channel, *broken, "{what}: {found}");
        let stream = &found.failure.case;
        assert!(stream.cycles.0.len() <= 16, "{what}: {found}");
        assert_eq!(stream.illegal(), None, "{what}");
    }
}

#[test]
fn an_arbiter_agrees_and_everything_happens_to_its_channels() {
    agrees::<RrArb>(&rr_arb::rtl(), &[]);
}

#[test]
fn registers_agree_and_everything_happens_to_their_channels() {
    // No access is exclusive, and no address is that of nothing.
    let missing = ["bresp", "rresp"].map(|field| format!("field {field}: bit 0 was never 1"));
    agrees::<AxilRegs>(&axil_regs::rtl(), &missing.each_ref().map(String::as_str));
}

#[test]
fn mistakes_of_eight_kinds_are_found_in_an_arbiter() {
    let changes = [
        (
            "if (take && !pop) tail_q <= taken;",
            "if (take && !pop) tail_q <= taken;\n    if (fault == 1 && take && !pop) head_q <= taken;",
        ),
        (
            "gnt_valid_o              = count_q != 2'd0",
            "gnt_valid_o              = count_q != 2'd0 && !(fault == 2 && count_q == 2'd2)",
        ),
        (
            "count_q + 2'(take)",
            "count_q + 2'(take && !(fault == 3 && pop))",
        ),
        (
            "if (pop && count_q == 2'd2)",
            "if (pop && count_q == 2'd2 && fault != 4)",
        ),
        (
            "next = next == 2'd0 ? 2'd2 : next - 2'd1;",
            "if (fault == 5) next = next == 2'd2 ? 2'd0 : next + 2'd1;\n      else next = next == 2'd0 ? 2'd2 : next - 2'd1;",
        ),
        ("if (take) last_q", "if (take && fault != 6) last_q"),
        (
            "credits_q - 3'(take) + 3'(credit_i);",
            "credits_q - 3'(take) + 3'(credit_i && !(fault == 7 && take));",
        ),
        ("credits_q <= 3'd4;", "if (fault != 8) credits_q <= 3'd4;"),
    ];
    let ready = "req0_ready req1_ready req2_ready";
    let mistakes = [
        (
            "the payload changes during a stall",
            "gnt_from gnt_data",
            Some("gnt"),
        ),
        (
            "valid is taken back during a stall",
            "gnt_valid",
            Some("gnt"),
        ),
        (
            "a request that comes as another one leaves is lost",
            "gnt_valid",
            None,
        ),
        ("a request leaves twice", "gnt_from gnt_data", None),
        ("requests are taken in the order 2, 1, 0", ready, None),
        ("the lowest request is always the next one", ready, None),
        (
            "a credit that comes as another one goes is lost",
            ready,
            None,
        ),
        ("the reset does not reach the credits", ready, None),
    ];
    found::<RrArb>(&changes, &mistakes);
}

#[test]
fn mistakes_of_eight_kinds_are_found_in_registers() {
    let changes = [
        (
            "  assign arready = !rvalid;\n",
            "  assign arready = !rvalid;\n\n  logic [1:0] read_q;\n",
        ),
        (
            "      rdata <= araddr[4]",
            "      read_q <= araddr[3:2];\n    end else if (fault == 1) rdata <= regs_q[read_q];\n    \
             if (arvalid && arready) begin\n      rdata <= araddr[4]",
        ),
        (
            "else if (bready) bvalid <= 1'b0;",
            "else if (bready || fault == 2) bvalid <= 1'b0;",
        ),
        (
            "write   = has_addr_q && has_data_q && (!bvalid || bready)",
            "write   = has_addr_q && has_data_q && (!bvalid || bready || fault == 3)",
        ),
        ("if (strb_q[b])", "if (strb_q[b] || fault == 4)"),
        ("bresp <= addr_q[2] ?", "bresp <= addr_q[2] && fault != 5 ?"),
        (
            "addr_q == 3'(i)",
            "(fault == 6 ? addr_q[1:0] == 2'(i) : addr_q == 3'(i))",
        ),
        (
            "assign wready  = !has_data_q",
            "assign wready  = !has_data_q || (fault == 7 && write)",
        ),
        (
            "if (!aresetn) rvalid <= 1'b0;",
            "if (!aresetn && fault != 8) rvalid <= 1'b0;",
        ),
    ];
    let mistakes = [
        ("what was read changes during a stall", "rdata", Some("r")),
        ("a response is taken back", "bvalid", Some("b")),
        (
            "a write does not wait for the response before it",
            "awready wready",
            None,
        ),
        ("bytes are written that are not asked for", "rdata", None),
        (
            "a write to no register is answered with OKAY",
            "bresp",
            None,
        ),
        ("a write to no register writes", "rdata", None),
        (
            "data come as others leave, and ready says so",
            "wready",
            None,
        ),
        ("the reset does not reach what was read", "arready", None),
    ];
    found::<AxilRegs>(&changes, &mistakes);
}
