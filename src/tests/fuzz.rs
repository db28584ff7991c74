//! Campaigns of a unit in a test.

use crate::r500::R500;
use crate::spa5::Spa5;
use reconverge_bench::check::check;
use reconverge_bench::design::Build;
use reconverge_bench::dut::Rtl;
use reconverge_campaign::campaign::{Options, case, fuzz, replay};
use reconverge_program::case::Case;

#[test]
fn a_campaign_that_compares_nothing_is_no_pass() {
    let rtl = Rtl::<R500>::own(16).unwrap();
    let run = |programs| {
        let options = Options {
            jobs: 1,
            out: None,
            ..Options::default().cases(programs)
        };
        fuzz::<Case<R500>>(&rtl, &options)
    };
    let nothing = run(0).unwrap_err();
    assert_eq!(nothing.failure.kind(), "not-run");
    let said = nothing.to_string();
    assert!(said.contains("nothing was compared"), "{said}");
    assert_eq!(run(1).unwrap().programs, 1);
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_case_is_replayed_with_its_own_build_on_its_own_unit() {
    let dir = tempfile::tempdir().unwrap();
    let rtl = Rtl::<R500>::own(16).unwrap();
    let (_, mut case) = case::<R500>(1, 0, &Build::from(4));
    let flip = r#"{"field":"pc","element":0,"bit":0,"cycle":5}"#;
    case.flip = Some(serde_json::from_str(flip).unwrap());
    let failure = check(&case, &Rtl::own(4).unwrap()).unwrap_err();
    let saved = failure.save(dir.path()).unwrap();
    let again = replay::<Case<R500>>(&saved, &rtl).unwrap().unwrap_err();
    assert_eq!(again.to_string(), failure.to_string());
    let wrong = replay::<Case<Spa5>>(&saved, &Rtl::own(32).unwrap())
        .err()
        .unwrap();
    assert!(wrong.to_string().contains("not for spa5"), "{wrong}");
    let none = replay::<Case<R500>>(&dir.path().join("none.json"), &rtl)
        .err()
        .unwrap();
    assert!(none.to_string().contains("none.json"), "{none}");
}
