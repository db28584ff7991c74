//! The result of a run for other programs: `run --json`, `replay --json` (formats-9).

use reconverge::case::{Case, Place};
use reconverge::check::{Agreed, Judged, Scalar, TestCase};
use reconverge::compiled::Compiled;
use reconverge::design::Design;
use reconverge::failure::Failure;
use reconverge::field::Diff;
use reconverge::json::Hex;
use reconverge::quantity::counted;
use reconverge::stimulus;
use serde::Serialize;

use crate::found::{self, SavedFile};
use crate::shows::{End, Shows, rule_id};

/// Version of the format.
const FORMAT: u32 = 2;

/// The top-level object of the format.
#[derive(Serialize)]
struct Ended {
    reconverge_run: u32,
    unit: &'static str,
    run: String,
    seed: Hex,
    lanes: u32,
    agrees: bool,
    cycles: u64,
    instructions: u64,
    fields: usize,
    end: Option<End>,
    scalar: Scalar,
    failure: Option<Place>,
    message: Option<String>,
    rule: Option<String>,
    differences: Vec<Difference>,
    saved: Option<String>,
}

/// A differing element, with the values of both sides.
#[derive(Serialize)]
struct Difference {
    field: &'static str,
    element: usize,
    rtl: Hex,
    golden: Hex,
}

/// Returns the text of a file about `case` with the result `judged`; a failure is saved as `saved`.
pub fn text<C: Shows>(case: &C, judged: &Judged<C>, saved: &SavedFile) -> String {
    let (agreed, failure) = (judged.as_ref().ok(), judged.as_ref().err());
    let compared = match judged {
        Ok(agreed) => agreed.compared,
        Err(failure) => failure.compared,
    };
    let difference = |diff: &Diff| Difference {
        field: C::Design::fields()[diff.field].name,
        element: diff.element,
        rtl: Hex(diff.rtl),
        golden: Hex(diff.golden),
    };
    let mismatch = failure.and_then(Failure::mismatch);
    let ended = Ended {
        reconverge_run: FORMAT,
        unit: C::Design::NAME,
        run: case.name(),
        seed: Hex(case.seed()),
        lanes: case.build().lanes,
        agrees: judged.is_ok(),
        cycles: compared.cycles,
        instructions: compared.steps,
        fields: C::Design::fields().len(),
        end: agreed.and_then(C::end),
        scalar: agreed.map_or_else(Scalar::default, |agreed| agreed.scalar.clone()),
        failure: failure.map(Failure::place),
        message: failure.map(Failure::message),
        rule: failure.and_then(rule),
        differences: mismatch.map_or(Vec::new(), |m| m.diffs.iter().map(difference).collect()),
        saved: found::name_of(saved),
    };
    // Plain data, which always serialises.
    serde_json::to_string_pretty(&ended).unwrap_or_default() + "\n"
}

/// Returns the text on a case on which all judges agree.
pub fn agreed_text<U: Compiled>(case: &Case<U>, agreed: &Agreed<U>) -> String {
    let compared = agreed.compared;
    let steps = counted(compared.steps, "instruction");
    let end = if agreed.step_limit {
        format!("stopped after {steps} (--max-steps)")
    } else {
        let pc = match U::DECLARATION.wavefronts {
            1 => format!(", pc 0x{:03x}", U::pc(&agreed.end)),
            _ => String::new(),
        };
        let outcome = U::outcome(&agreed.end);
        format!("{outcome}{pc}, after {steps}")
    };
    let mut each = String::new();
    if U::DECLARATION.wavefronts > 1 {
        let steps = (0..).zip(stimulus::steps_of_each(case));
        each = steps.fold("wavefronts  ".to_owned(), |text, (wavefront, steps)| {
            let pc = U::pc_of(&agreed.end, wavefront);
            format!("{text} w{wavefront} pc 0x{pc:03x} after {steps};")
        });
        each.pop();
        each.push('\n');
    }
    let scalar = match &agreed.scalar {
        Scalar::NotAsked => "was not asked".to_owned(),
        Scalar::CannotTell(why) => format!("cannot tell: {why}"),
        Scalar::Agrees {
            instructions: 0, ..
        } => "has nothing to compare: no lane executed anything".to_owned(),
        Scalar::Agrees {
            lanes,
            instructions,
        } => format!(
            "agrees: {}, {} executed as each lane would alone",
            counted(lanes, "lane"),
            counted(instructions, "instruction")
        ),
    };
    let remark = U::remark(&case.program, &agreed.end)
        .map_or_else(String::new, |remark| format!("note         {remark}\n"));
    format!(
        "{}  {end}\n{each}lock-step    agrees: {}, {}, {}\nscalar judge {scalar}\n{remark}",
        case.name(),
        counted(compared.cycles, "cycle"),
        U::DECLARATION.extent(),
        counted(case.lanes, "lane")
    )
}

/// Returns the id of the rule by which a case fails.
pub fn rule<C: TestCase>(failure: &Failure<C>) -> Option<String> {
    let rule = failure.rule()?;
    rule_id::<C>(&rule).map(str::to_owned)
}
