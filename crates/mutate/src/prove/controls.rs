//! Negative controls of properties that have no declared fault: mutants of the text are tried until some mutant has refuted each of them.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::ask::{Session, decide};
use super::files::Fault;
use super::questions::Questions;
use super::shared::Shared;
use super::world::Unit;
use super::{Control, Options, Report, Verdict};
use crate::mutate::Mutant;
use crate::mutate::text::{self, Chosen};

/// Processor time for one property of a mutant. It is short because the next mutant may be easier.
const PROPERTY_TIME: Duration = Duration::from_secs(2);

/// Looks for mutants that refute the properties in `report.uncontrolled`. Each useful mutant is added to the report as a planted fault, and the
/// properties that it refutes leave `uncontrolled`. If the search ends early, the report says why.
pub(super) fn by_mutants(
    shared: &Shared<'_>,
    report: &mut Report,
    progress: &mut impl FnMut(&Report, &str),
) {
    if let Err(why) = looked_for(shared, report, progress) {
        shared.stopped(report, why);
    }
}

fn looked_for(
    shared: &Shared<'_>,
    report: &mut Report,
    progress: &mut impl FnMut(&Report, &str),
) -> Result<(), String> {
    let (from, stop) = (shared.from, shared.stop);
    if report.uncontrolled.is_empty() {
        return Ok(());
    }
    let chosen = Chosen::new(from, None, 1).map_err(|e| e.to_string())?;
    let mut mutants = chosen.mutants();
    let all: Vec<u32> = mutants.iter().map(|mutant| mutant.number).collect();
    let (mut unit, unread) = text::with_most(&all, stop, |numbers| {
        Unit::read(from, &chosen.for_proof(numbers)?, shared.beside, stop)
    })?;
    mutants.retain(|mutant| unread.iter().all(|(number, _)| *number != mutant.number));
    let options = Options {
        believe: true,
        proofs: None,
        time: shared.options.time.min(PROPERTY_TIME),
        ..shared.options.clone()
    };
    report.wanted += mutants.len();
    for (i, mutant) in mutants.iter().enumerate() {
        if report.uncontrolled.is_empty() {
            break;
        }
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        progress(report, &format!("mutant {} of {}", i + 1, mutants.len()));
        let begin = Instant::now();
        unit.mutant = mutant.number;
        let mut questions = Questions::of(&unit, shared.plan, options.build.lanes as usize)?;
        let properties = std::mem::take(&mut questions.properties);
        let mut refutes = Vec::new();
        for property in properties
            .iter()
            .filter(|p| report.uncontrolled.contains(&p.name))
        {
            let session = Session::alone(&options, stop);
            let proved = decide(&unit, &mut questions, property, false, session)?;
            if matches!(proved.verdict, Verdict::Refuted(_)) {
                refutes.push(property.name.clone());
            }
        }
        if refutes.is_empty() {
            continue;
        }
        let left = &mut report.uncontrolled;
        left.retain(|name| !refutes.contains(name));
        report.controls.push(Control {
            fault: fault(mutant, refutes),
            survived: Vec::new(),
            time: begin.elapsed(),
        });
    }
    Ok(())
}

fn fault(mutant: &Mutant, refutes: Vec<String>) -> Fault {
    Fault {
        file: mutant.file.clone(),
        line: Some(mutant.line),
        from: mutant.before.clone(),
        to: mutant.after.clone(),
        also: Vec::new(),
        with: Default::default(),
        refutes,
        keeps: Vec::new(),
    }
}
