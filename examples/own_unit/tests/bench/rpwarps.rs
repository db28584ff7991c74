//! Programs of four warps through RTL, golden model and scalar judge.

use std::fs;
use std::path::Path;

use own_unit::rpseq::Program;
use own_unit::rpwarps::{RpWarps, rtl};
use reconverge::assembly::Assembly as _;
use reconverge::campaign::{Options, found, fuzz};
use reconverge::case::Case;
use reconverge::check::check;
use reconverge::cover::Model;
use reconverge::design::{Build, Design as _};
use reconverge::dut::Rtl;
use reconverge::instructions::Instructions as _;
use reconverge::judges::Scalar;
use reconverge::stimulus::steps_of_each;

use crate::common;

#[test]
fn each_lane_of_each_warp_does_what_it_does_alone() {
    let text = "SSY out\n again: BR leave\n ALU\n YIELD\n JMP again\n leave: JOIN\n out: END\n";
    let case = Case::<RpWarps>::new(Program::assemble(text, "loop.s").unwrap());
    let rtl = Rtl::of(32, &rtl()).unwrap();
    let options = Options::default().out(env!("CARGO_TARGET_TMPDIR"));
    let agreed = check(&case, &rtl)
        .map_err(|failure| found(failure, &rtl, &options))
        .unwrap();
    assert!(matches!(agreed.scalar, Scalar::Agrees { lanes: 32, .. }));
    assert_eq!(agreed.end.done, [1; 4]);
    let steps = steps_of_each(&case);
    assert_eq!(steps.iter().sum::<u64>(), agreed.compared.steps);
    // Each warp has left the loop, and not all after the same number of passes.
    assert!(steps.iter().all(|steps| *steps > 4), "{steps:?}");
    assert!(steps.iter().any(|other| *other != steps[0]), "{steps:?}");
}

#[test]
fn all_judges_agree_on_random_programs_and_every_bin_is_met() {
    for (lanes, depth) in [(32, 4), (64, 7)] {
        let mut build = Build::from(lanes);
        if depth != 4 {
            build.parameters.insert("DEPTH".to_owned(), depth);
        }
        let rtl = Rtl::<RpWarps>::of(build, &rtl()).unwrap();
        let options = Options::default().out(env!("CARGO_TARGET_TMPDIR"));
        let met = fuzz::<Case<RpWarps>>(&rtl, &options).unwrap();
        let bins = Model::<RpWarps>::new(rtl.build());
        println!("{:?}\n{:?}", met.outcomes, bins.overview(&met.bins));
        assert!(met.judged.programs > 100, "{:?}", met.judged);
        assert_eq!(bins.impossible(&met.bins), [""; 0]);
        if depth == 4 {
            assert_eq!(bins.missing(&met.bins), [""; 0]);
        }
    }
}

/// The lanes must be those of four warps.
#[test]
fn lanes_that_cannot_be_divided_are_refused() {
    let error = Build::from(33).check::<RpWarps>("case").unwrap_err();
    let said = "rpwarps has 4 wavefronts: the number of lanes must be a multiple of 4, not 33";
    assert!(error.to_string().contains(said), "{error}");
}

/// Changes of the RTL after which `fault` selects a mistake, from 1 on.
const CHANGES: &[(&str, &str)] = &[
    (
        "assign warp     = returns ? cond_warp_i : issuer;",
        "assign warp     = returns && fault != 1 ? cond_warp_i : issuer;",
    ),
    (
        "assign issuer = ready[first]",
        "assign issuer = fault == 2 && ready[0] ? 2'd0 : ready[first]",
    ),
    (
        "assign active = active_q[Width*warp +: Width];",
        "assign active = active_q[Width*{30'd0, fault == 3 && returns ? issuer : warp} +: Width];",
    ),
    (
        ".push_i (runs && warp == 2'(w)",
        ".push_i (runs && (fault == 4 && parts ? issuer : warp) == 2'(w)",
    ),
    (
        "assign cond   = cond_i[Width*warp +: Width];",
        "assign cond   = fault == 5 ? cond_i[Width-1:0] : cond_i[Width*warp +: Width];",
    ),
    (
        "if (waits) target_q[16*warp +: 16] <= target;",
        "if (waits) target_q[16*warp +: 16] <= target;\n    if (waits && fault == 6) target_q <= {4{target}};",
    ),
    (
        "inst_valid_i && !returns && !stall_i;",
        "inst_valid_i && (!returns || fault == 7) && !stall_i;",
    ),
    (
        "running_q[warp]    <= 1'b0;",
        "running_q[warp]    <= 1'b0;\n        if (fault == 8 && err != 3'd0) running_q <= '0;",
    ),
];

/// The mistakes, and the fields of which one shows each first.
const MISTAKES: [(&str, &str); 8] = [
    (
        "conditions go to the warp that may issue",
        "warp waiting pc active",
    ),
    (
        "the first warp always comes first, and others starve",
        "warp",
    ),
    (
        "a branch divides the lanes of another warp",
        "active top_mask pc",
    ),
    ("a branch pushes onto the stack of another warp", "level"),
    (
        "all warps get the conditions of the first one",
        "pc active level",
    ),
    (
        "the warps share a register for the targets of their branches",
        "pc",
    ),
    ("a return counts as an issue", "warp"),
    ("an error ends all warps", "issue running"),
];

#[test]
fn mistakes_of_eight_kinds_are_found_with_short_programs_that_replay() {
    let planted = common::planted("rpwarps/rpwarps.sv", CHANGES);
    let right = Rtl::<RpWarps>::of(32, &planted.path().join("rpwarps")).unwrap();
    let options = |out: &Path| Options::default().cycles(100_000).out(out);
    fuzz::<Case<RpWarps>>(&right, &options(planted.path())).unwrap();
    for (number, (what, fields)) in (1..).zip(MISTAKES) {
        let (rtl, out) = (right.clone().mutant(number), tempfile::tempdir().unwrap());
        let found = common::found::<Case<RpWarps>>(what, &rtl, &options(out.path()));
        let first = found.failure.mismatch().unwrap().first();
        let first = RpWarps::fields()[first.field].name;
        assert!(
            fields.split(' ').any(|field| field == first),
            "{what}: {found}"
        );
        assert!(found.failure.case.program.count() <= 6, "{what}: {found}");
        let saved = found.saved.as_ref().unwrap();
        let dump = fs::read_to_string(saved.with_extension("vcd")).unwrap();
        for signal in ["w0_instruction", "w3_lanes_rtl"] {
            assert!(dump.contains(signal), "{what}");
        }
        assert!(found.to_string().contains("  w0 0x00"), "{what}: {found}");
    }
}
