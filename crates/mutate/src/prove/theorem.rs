//! The step theorem: in every cycle the RTL does what `step.sv` says. It is asked together with the other properties of a unit, or
//! alone for each mutant of the text.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use super::ask::{Session, decide};
use super::files::Plan;
use super::questions::{Begin, Inputs, Method, Property, Questions};
use super::world::{Cycle, Named, Unit, unlike};
use super::{Options, Verdict};
use crate::mutate::aig::{Aig, Lit};

/// The properties that the theorem consists of.
pub(super) struct Properties {
    /// `step NAME`, `step lanes`, `output NAME`, and properties of `step.sv` itself.
    pub properties: Vec<Property>,
    /// Places of the state that the naive step describes.
    pub compared: HashSet<usize>,
}

/// Builds the properties of `unit` for cycle `now`, which `then` follows; `step` has the outputs of `step.sv` in cycle `now`.
///
/// # Errors
/// `step.sv` names something that the RTL does not have.
pub(super) fn of(
    unit: &Unit<'_>,
    plan: &Plan,
    lanes: usize,
    aig: &mut Aig,
    (now, then): (&Cycle, &Cycle),
    step: &Named,
) -> Result<Properties, String> {
    let live = unit.live(aig, then)?;
    let mut compared = HashSet::new();
    let mut properties = Vec::new();
    let mut add = |name: String, begin: Begin, questions: Vec<(String, Lit)>| {
        let method = Method::Allowed;
        properties.push(Property {
            name,
            method,
            begin,
            questions,
        });
    };
    let mut by_lane = vec![Vec::new(); lanes];
    for (name, bits) in step {
        if let Some(register) = name.strip_prefix("next__") {
            let places = unit.places(register).filter(|p| p.len() == bits.len());
            let places = places.ok_or_else(|| {
                format!("step.sv: {name}: no register of this name and width in the RTL")
            })?;
            let rtl: Vec<Lit> = places.iter().map(|p| now.frame.next[*p]).collect();
            let mut differ = unlike(aig, &rtl, bits);
            for (differs, place) in differ.iter_mut().zip(&places) {
                *differs = aig.and(*differs, live[*place]);
            }
            compared.extend(places);
            if plan.is_lanes(register) {
                for (bit, differs) in differ.into_iter().enumerate() {
                    by_lane[bit % lanes].push(differs);
                }
                continue;
            }
            let differs = aig.any(differ);
            let name = format!("step {}", register.replace("__", "."));
            let questions = vec![(String::new(), differs)];
            add(name, Begin::AllowedOrReset, questions);
        } else if let Some(port) = name.strip_prefix("out__") {
            let rtl = unit.named(port, now).filter(|b| b.len() == bits.len());
            let rtl = rtl.ok_or_else(|| {
                format!("step.sv: {name}: no output of this name and width in the RTL")
            })?;
            let differ = unlike(aig, &rtl, bits);
            let differs = aig.any(differ);
            let questions = vec![(String::new(), differs)];
            add(format!("output {port}"), Begin::Allowed, questions);
        } else if let Some(property) = name.strip_prefix("prove__") {
            let questions = vec![(String::new(), !bits[0])];
            add(property.to_owned(), Begin::Allowed, questions);
        } else if !name.starts_with("said__") {
            return Err(format!("step.sv: {name}: what output is this?"));
        }
    }
    if !plan.lanes.is_empty() {
        let questions = by_lane.into_iter().enumerate().map(|(lane, differ)| {
            let differs = aig.any(differ);
            (format!("lane {lane}"), differs)
        });
        let questions = questions.collect();
        add("step lanes".to_owned(), Begin::AllowedOrReset, questions);
    }
    Ok(Properties {
        properties,
        compared,
    })
}

/// Verdict of the theorem on a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TheoremVerdict {
    /// It holds.
    Holds,
    /// It does not hold: the first property that was refuted.
    Refuted(String),
    /// Not decided in the time allowed.
    Undecided,
    /// Not asked, because the RTL is not read with this mutant: why not.
    NotRead(String),
}

impl TheoremVerdict {
    /// Returns the name of the verdict as it appears in tables.
    pub fn name(&self) -> &'static str {
        match self {
            TheoremVerdict::Holds => "holds",
            TheoremVerdict::Refuted(_) => "refuted",
            TheoremVerdict::Undecided | TheoremVerdict::NotRead(_) => "undecided",
        }
    }
}

/// The theorem for the mutants of one text. All of them share the state and the inputs of the cycle. So what a mutant does not change
/// has the same nodes in the graph as in the RTL without mutants.
pub(super) struct Mutants<'a> {
    unit: &'a Unit<'a>,
    plan: &'a Plan,
    options: Options,
    aig: Aig,
    inputs: Inputs,
    /// For each property, its nodes in the RTL without mutants, and whether it was found to hold there.
    own: Vec<(Vec<Lit>, bool)>,
}

impl<'a> Mutants<'a> {
    /// Builds the questions for the RTL without mutants. `unit` is read from a text with mutants.
    ///
    /// # Errors
    /// A file names something that the RTL does not have.
    pub fn of(unit: &'a Unit<'a>, plan: &'a Plan, options: &Options) -> Result<Self, String> {
        let mut aig = Aig::new();
        let inputs = Inputs::of(unit, &mut aig);
        let options = Options {
            believe: true,
            ..options.clone()
        };
        let mut all = Mutants {
            unit,
            plan,
            options,
            aig,
            inputs,
            own: Vec::new(),
        };
        let mut questions = all.questions(0)?;
        let properties = std::mem::take(&mut questions.properties);
        let own = properties.iter().map(|p| (questions.nodes(p), false));
        all.own = own.collect();
        all.aig = questions.aig;
        Ok(all)
    }

    /// Builds the questions for mutant `number`, in the same order for each mutant. The graph moves into them.
    fn questions(&mut self, number: u32) -> Result<Questions, String> {
        let aig = std::mem::replace(&mut self.aig, Aig::new());
        let lanes = self.options.build.lanes as usize;
        let inputs = &self.inputs;
        let mut all = Questions::of_step(self.unit, self.plan, lanes, aig, inputs, number)?;
        let of_theorem = |name: &str| name.starts_with("step ") || name.starts_with("output ");
        all.properties.retain(|p| of_theorem(&p.name));
        Ok(all)
    }

    /// Asks the theorem about mutant `number`, until a property is refuted. Properties whose nodes differ from those without the mutant come
    /// first, the smallest first. The others are those of the unchanged RTL, and each is answered only once. Also returns the
    /// number of questions asked.
    ///
    /// # Errors
    /// The solver is missing, its answer is not understood, or `stop` is set.
    pub fn judge(
        &mut self,
        number: u32,
        stop: &AtomicBool,
    ) -> Result<(TheoremVerdict, usize), String> {
        let len = self.aig.size();
        let mut questions = self.questions(number)?;
        let said = self.ask(&mut questions, stop);
        self.aig = questions.aig;
        self.aig.forget(len);
        said
    }

    fn ask(
        &mut self,
        all: &mut Questions,
        stop: &AtomicBool,
    ) -> Result<(TheoremVerdict, usize), String> {
        let properties = std::mem::take(&mut all.properties);
        let same = properties.iter().zip(&self.own);
        let same = same.map(|(property, (own, _))| all.nodes(property) == *own);
        let same: Vec<bool> = same.collect();
        let mut order: Vec<usize> = (0..properties.len()).collect();
        order.sort_by_key(|i| {
            let bad = properties[*i].questions.iter().map(|(_, bad)| *bad);
            (same[*i], all.aig.weight_of(bad))
        });
        let (mut said, mut questions) = (TheoremVerdict::Holds, 0);
        for i in order {
            if same[i] && self.own[i].1 {
                continue;
            }
            let property = &properties[i];
            let session = Session::alone(&self.options, stop);
            let proved = decide(self.unit, all, property, true, session)?;
            questions += proved.questions;
            match proved.verdict {
                Verdict::Holds => self.own[i].1 |= same[i],
                Verdict::Refuted(_) => {
                    return Ok((TheoremVerdict::Refuted(property.name.clone()), questions));
                }
                Verdict::Undecided | Verdict::Unreachable => said = TheoremVerdict::Undecided,
            }
        }
        Ok((said, questions))
    }
}
