//! How questions are asked: with as few premises as possible, and case by case if they are not answered soon.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::questions::{Begin, CycleKind, Method, Property, Questions, carry};
use super::shown::file_name;
use super::threads::{IdleThreads, Numbers};
use super::world::Unit;
use super::{Counterexample, Options, Proved, Verdict};
use crate::mutate::aig::{Aig, Lit};
use crate::mutate::sat::{self, Answer, Proof};

/// Processor time after which a case is divided further.
const CASE_TIME: Duration = Duration::from_secs(2);
/// Processor time after which the smallest case is asked in parts.
const LAST_CASE_TIME: Duration = Duration::from_secs(10);
/// A question that is reduced to at most this many nodes is first asked with only the small conjuncts of the premises.
const SMALL_QUESTION: usize = 9000;
/// A small conjunct has at most this many nodes.
const SMALL_CONJUNCT: usize = 300;
/// A question is divided into at most this many parts.
const MAX_PARTS: usize = 256;

/// How to ask a property.
#[derive(Clone, Copy)]
pub(super) struct Session<'a> {
    pub options: &'a Options,
    pub stop: &'a AtomicBool,
    pub idle: &'a IdleThreads,
    /// Called after each question with the number of questions so far.
    pub each: &'a (dyn Fn(usize) + Sync),
}

impl<'a> Session<'a> {
    /// Returns a session for one thread without a progress report.
    pub fn alone(options: &'a Options, stop: &'a AtomicBool) -> Self {
        static NONE: IdleThreads = IdleThreads::none();
        Session {
            options,
            stop,
            idle: &NONE,
            each: &|_| {},
        }
    }
}

/// What all threads that ask a property share.
struct Common<'a> {
    session: Session<'a>,
    /// Prefix of the names of its proof files, and the number of names used.
    file: String,
    named: AtomicUsize,
    /// Numbers of questions asked, and of answers whose proof was accepted.
    questions: AtomicUsize,
    checked: AtomicUsize,
}

/// The state of one thread that asks the questions of a property.
#[derive(Clone)]
struct Asking<'a> {
    property: &'a Property,
    common: &'a Common<'a>,
    /// What the names of its proof files contain in addition to the property.
    what: &'static str,
    /// The current premises among the invariants: what holds with few of them holds with all.
    used: Vec<bool>,
    /// The premises that a question begins with.
    few: Vec<bool>,
    /// Invariants that were premises of some answer.
    taken: Vec<bool>,
    /// Another thread has found the answer that ends this search: no more questions are to be asked.
    over: Arc<AtomicBool>,
}

impl Common<'_> {
    /// Counts an answer.
    fn asked(&self, asked: bool, checked: bool) {
        let before = self
            .questions
            .fetch_add(usize::from(asked), Ordering::Relaxed);
        self.checked
            .fetch_add(usize::from(checked), Ordering::Relaxed);
        (self.session.each)(before + usize::from(asked));
    }
}

impl Asking<'_> {
    /// Asks whether `bad` is possible in a cycle of the property and of `case`, with the facts that hold in that case.
    fn ask(
        &mut self,
        all: &mut Questions,
        case: &[Lit],
        bad: Lit,
        time: Duration,
    ) -> Result<Answer, String> {
        let facts = self.established(all, case)?;
        self.ask_with(all, case, &facts, bad, time)
    }

    /// Asks whether `bad` is possible in a cycle of the property and of `case` in which `facts` hold. A cycle that breaks an invariant
    /// which is not yet a premise is not an answer: one such invariant becomes a premise, and the question is asked again.
    fn ask_with(
        &mut self,
        all: &mut Questions,
        case: &[Lit],
        facts: &[Lit],
        bad: Lit,
        time: Duration,
    ) -> Result<Answer, String> {
        let options = self.common.session.options;
        loop {
            if self.over.load(Ordering::Relaxed) {
                return Ok(Answer::GaveUp);
            }
            let len = all.aig.size();
            let premise = all.premise(self.property.begin, &self.used);
            let found = match case {
                [] => {
                    let what = all.aig.and(premise, bad);
                    self.solved(&all.aig, what, time).map(Some)
                }
                _ => self.solved_in(&mut all.aig, case, facts, (premise, bad), time),
            };
            let trivial = found == Ok(None);
            let answer = found?.unwrap_or(Answer::Never);
            all.aig.forget(len);
            match &answer {
                Answer::Sometimes(inputs) => {
                    let broken = all.broken(self.property.begin, &self.used, inputs);
                    all.aig.forget(len);
                    if let Some(more) = broken {
                        self.used[more] = true;
                        continue;
                    }
                }
                // With more premises there may be less to search.
                Answer::GaveUp if time == options.time && self.used.contains(&false) => {
                    self.used = all.every();
                    continue;
                }
                _ => {}
            }
            // An answer without the solver may need its premises too.
            if answer != Answer::GaveUp {
                add(&mut self.taken, &self.used);
            }
            let proved = answer == Answer::Never && !trivial && !options.believe;
            self.common.asked(!trivial, proved);
            return Ok(answer);
        }
    }

    /// Asks the solver whether `what` is possible.
    fn solved(&self, aig: &Aig, what: Lit, time: Duration) -> Result<Answer, String> {
        let Common { session, file, .. } = self.common;
        // An unreachable cover has a proof too, because its answer is no.
        let proof = match &session.options.proofs {
            _ if session.options.believe => Proof::Believed,
            None => Proof::Checked,
            Some(dir) => {
                let number = self.common.named.fetch_add(1, Ordering::Relaxed);
                Proof::Kept(dir.join(format!("{file}.{}{number}", self.what)))
            }
        };
        sat::ask(aig, what, time, session.stop, &proof)
    }

    /// Asks the solver whether `bad` is possible where `case`, `facts` and `premise` hold. `None`: it is impossible, and no solver was needed.
    fn solved_in(
        &self,
        aig: &mut Aig,
        case: &[Lit],
        facts: &[Lit],
        (premise, bad): (Lit, Lit),
        time: Duration,
    ) -> Result<Option<Answer>, String> {
        // One after the other, so that the same statements about the state before and after the cycle become the same nodes.
        let what = [facts, &[premise, bad]].concat();
        let mut facts = aig.supposed(case, &what);
        let what = facts.split_off(facts.len() - 2);
        let what = aig.supposed(&facts, &what);
        let (premise, bad) = (what[0], what[1]);
        if premise == Lit::FALSE {
            return Ok(None);
        }
        let left = aig.supposed(&[premise], &[bad])[0];
        let left = aig.without_impossible(left);
        if left == Lit::FALSE {
            return Ok(None);
        }
        if aig.within(left, SMALL_QUESTION) {
            // `left` already contains what the large conjuncts say. If the solver finds a cycle with the small ones alone, ask with all.
            let known = [case, &facts, &[premise]].concat();
            let known = known.iter().flat_map(|known| aig.conjuncts(*known));
            let small = known.filter(|known| aig.within(*known, SMALL_CONJUNCT));
            let what = small.chain([left]).collect();
            let what = aig.all(what);
            if what == Lit::FALSE {
                return Ok(None);
            }
            if self.solved(aig, what, time)? == Answer::Never {
                return Ok(Some(Answer::Never));
            }
        }
        // `left` equals `bad` where the premises hold, and is usually far smaller.
        let what = aig.all([case, &facts, &[premise, left]].concat());
        if what == Lit::FALSE {
            return Ok(None);
        }
        self.solved(aig, what, time).map(Some)
    }

    /// Returns the facts that hold in `case`. Those about the state after the cycle count only if those about the state before it hold.
    /// They become constants, which assumes nothing more: they follow from the invariants, and every property about allowed states has
    /// all invariants as premises.
    fn established(&mut self, all: &mut Questions, case: &[Lit]) -> Result<Vec<Lit>, String> {
        let lists = all.cases.facts.clone();
        let none = lists.iter().all(Vec::is_empty);
        if case.is_empty() || none || self.property.begin == Begin::Anywhere {
            return Ok(Vec::new());
        }
        if let Some(known) = all.established.get(case) {
            return Ok(lists[..*known].concat());
        }
        // What holds in a case holds in each part of it.
        let wholes = (1..case.len()).map(|len| &case[..len]);
        let known = wholes.filter_map(|whole| all.established.get(whole));
        let mut known = known.copied().max().unwrap_or(0);
        let mut facts = lists[..known].concat();
        let property = all.facts.clone();
        let few = all.light(&property);
        let mut asking = Asking {
            property: &property,
            common: self.common,
            what: "facts.",
            used: few.clone(),
            taken: few.clone(),
            few,
            over: self.over.clone(),
        };
        for list in &lists[known..] {
            let len = all.aig.size();
            let broken = all.aig.any(list.iter().map(|fact| !*fact));
            let answer = asking.ask_with(all, case, &facts, broken, CASE_TIME);
            all.aig.forget(len);
            if answer? != Answer::Never {
                break;
            }
            known += 1;
            facts.extend(list);
        }
        add(&mut all.needed, &asking.taken);
        all.established.insert(case.to_vec(), known);
        Ok(facts)
    }

    /// Asks all questions of the property, each for time `soon`. If that is too short for one, divides all that are left. Returns the
    /// name of a question that does not hold and its answer, or an empty name and `Never`.
    fn held(&mut self, all: &mut Questions, soon: Duration) -> Result<(String, Answer), String> {
        let questions = &self.property.questions;
        let held: Vec<AtomicBool> = questions.iter().map(|_| AtomicBool::default()).collect();
        let ask = |asking: &mut Asking<'_>, all: &mut Questions, number: usize| {
            let answer = asking.ask(all, &[], questions[number].1, soon);
            held[number].store(answer == Ok(Answer::Never), Ordering::Relaxed);
            answer
        };
        let found = match soon.is_zero() {
            true => Some((0, Ok(Answer::GaveUp))),
            false => self.each(all, questions.len(), ask),
        };
        let Some((number, answer)) = found else {
            return Ok((String::new(), Answer::Never));
        };
        let (mut place, mut answer) = (&questions[number].0, answer?);
        if answer == Answer::GaveUp && soon < self.common.session.options.time {
            // All that are left are asked together, because a case leaves little of them.
            let left = questions.iter().zip(&held);
            let left = left.filter(|(_, held)| !held.load(Ordering::Relaxed));
            let bad = left.map(|((_, bad), _)| *bad).collect();
            let parts = parts_of(all, bad);
            answer = self.by_cases(all, &parts)?;
            if let Answer::Sometimes(inputs) = &answer {
                let values = all.aig.evaluate(inputs);
                let mut asked = questions.iter();
                let found = asked.find(|(_, bad)| values.of(*bad) & 1 == 1);
                place = found.map_or(place, |(place, _)| place);
            }
        }
        let place = match answer {
            Answer::Never => String::new(),
            _ => place.clone(),
        };
        Ok((place, answer))
    }

    /// Asks all questions of a cover, each of which must be possible, as [`Asking::held`] does. Returns the name of a question that is not
    /// reached and its answer, or an empty name and the last answer.
    fn reached(&mut self, all: &mut Questions, soon: Duration) -> Result<(String, Answer), String> {
        let mut last = Answer::Never;
        for (place, what) in &self.property.questions {
            last = match soon.is_zero() {
                true => Answer::GaveUp,
                false => self.ask(all, &[], *what, soon)?,
            };
            if last == Answer::GaveUp && soon < self.common.session.options.time {
                last = self.by_cases(all, &[*what])?;
            }
            if !matches!(last, Answer::Sometimes(_)) {
                return Ok((place.clone(), last));
            }
        }
        Ok((String::new(), last))
    }

    /// Asks, case by case, whether any of `parts` is possible.
    fn by_cases(&mut self, all: &mut Questions, parts: &[Lit]) -> Result<Answer, String> {
        let time = self.common.session.options.time;
        let uncovered = all.uncovered();
        if self.ask(all, &[], uncovered, time)? != Answer::Never {
            return Err("proofs.json: a cycle is none of the cases".to_owned());
        }
        for kind in all.cases.kinds.clone() {
            self.used.clone_from(&self.few);
            let mut answer = self.any(all, &kind.case, parts, CASE_TIME.min(time))?;
            if answer == Answer::GaveUp {
                answer = self.by_values(all, &kind, parts)?;
            }
            if answer != Answer::Never {
                return Ok(answer);
            }
        }
        Ok(Answer::Never)
    }

    /// Asks in one question whether any of `parts` is possible in `case`.
    fn any(
        &mut self,
        all: &mut Questions,
        case: &[Lit],
        parts: &[Lit],
        time: Duration,
    ) -> Result<Answer, String> {
        let bad = all.aig.any(parts.iter().copied());
        self.ask(all, case, bad, time)
    }

    /// Asks, for each value of the register, whether any of `parts` is possible in a cycle of `kind`. High values are often all
    /// impossible, so they are asked in groups, down to the first group that is not answered.
    fn by_values(
        &mut self,
        all: &mut Questions,
        kind: &CycleKind,
        parts: &[Lit],
    ) -> Result<Answer, String> {
        let time = self.common.session.options.time;
        let mut alone = Vec::new();
        // One value needs few of the premises that larger questions added, and premises are most of its nodes.
        self.used.clone_from(&self.few);
        for (range, values) in all.cases.parts() {
            if alone.is_empty() {
                let case = [&kind.case[..], &range].concat();
                match self.any(all, &case, parts, CASE_TIME.min(time))? {
                    Answer::Never => continue,
                    Answer::GaveUp => self.used.clone_from(&self.few),
                    answer => return Ok(answer),
                }
            }
            alone.extend(values);
        }
        let value = |asking: &mut Asking<'_>, all: &mut Questions, number: usize| {
            let case = [&kind.case[..], &all.cases.is(alone[number])].concat();
            match kind.then.is_empty() {
                true => asking.one_by_one(all, &case, parts),
                false => asking.then(all, &case, &kind.then, parts),
            }
        };
        let found = self.each(all, alone.len(), value);
        found.map_or(Ok(Answer::Never), |(_, answer)| answer)
    }

    /// Calls `ask` for every number below `count`, in this thread and all idle ones, until one answer is not `Never`.
    /// Returns that number and its answer.
    fn each(
        &mut self,
        all: &mut Questions,
        count: usize,
        ask: impl Fn(&mut Asking<'_>, &mut Questions, usize) -> Result<Answer, String> + Sync,
    ) -> Option<(usize, Result<Answer, String>)> {
        let numbers = Numbers::below(count);
        let over = Arc::new(AtomicBool::new(false));
        let before = std::mem::replace(&mut self.over, over.clone());
        let take = |asking: &mut Asking<'_>, all: &mut Questions, number: usize| {
            let answer = ask(asking, all, number);
            match answer {
                Ok(Answer::Never) => {}
                // The search is over, so it may have given up for that reason or for lack of time. Another thread knows more.
                Ok(Answer::GaveUp) if over.load(Ordering::Relaxed) => {}
                Ok(Answer::GaveUp) => numbers.end(number, answer),
                Ok(Answer::Sometimes(_)) | Err(_) => {
                    numbers.end(number, answer);
                    over.store(true, Ordering::Relaxed);
                }
            }
        };
        let idle = self.common.session.idle;
        thread::scope(|scope| {
            let mut helpers = Vec::new();
            while let Some(number) = numbers.next() {
                while numbers.left() > 1 && idle.take() {
                    let (mut asking, mut all) = (self.clone(), all.clone());
                    let (numbers, take) = (&numbers, &take);
                    helpers.push(scope.spawn(move || {
                        while let Some(number) = numbers.next() {
                            take(&mut asking, &mut all, number);
                        }
                        idle.give();
                        (asking.taken, all)
                    }));
                }
                take(self, all, number);
            }
            for helper in helpers {
                let (taken, other) = helper.join().unwrap_or_else(|why| resume_unwind(why));
                add(&mut self.taken, &taken);
                add(&mut all.needed, &other.needed);
                all.established.extend(other.established);
            }
        });
        self.over = before;
        numbers.found()
    }

    /// Asks whether any of `parts` is possible in `case`; if that is not answered soon, asks it for each value of `net`.
    fn then(
        &mut self,
        all: &mut Questions,
        case: &[Lit],
        net: &[Lit],
        parts: &[Lit],
    ) -> Result<Answer, String> {
        let answer = self.any(
            all,
            case,
            parts,
            CASE_TIME.min(self.common.session.options.time),
        )?;
        if answer != Answer::GaveUp {
            return Ok(answer);
        }
        self.used.clone_from(&self.few);
        for value in 0..1 << net.len() {
            let case = [case, &carry(net, value)].concat();
            let answer = self.one_by_one(all, &case, parts)?;
            if answer != Answer::Never {
                return Ok(answer);
            }
        }
        Ok(Answer::Never)
    }

    /// Asks whether any of `parts` is possible in `case`: all together and, if that is not answered soon, each by itself.
    fn one_by_one(
        &mut self,
        all: &mut Questions,
        case: &[Lit],
        parts: &[Lit],
    ) -> Result<Answer, String> {
        let time = self.common.session.options.time;
        if let [part] = parts {
            return self.ask(all, case, *part, time);
        }
        let answer = self.any(all, case, parts, LAST_CASE_TIME.min(time))?;
        if answer != Answer::GaveUp {
            return Ok(answer);
        }
        for part in parts {
            let answer = self.ask(all, case, *part, time)?;
            if answer != Answer::Never {
                return Ok(answer);
            }
        }
        Ok(Answer::Never)
    }
}

/// Adds those invariants to a selection that are in `others`.
fn add(selected: &mut [bool], others: &[bool]) {
    for (one, other) in selected.iter_mut().zip(others) {
        *one |= *other;
    }
}

/// Asks all questions of a property, until one fails. With `few`, only those invariants are premises that the questions need.
pub(super) fn decide(
    unit: &Unit<'_>,
    all: &mut Questions,
    property: &Property,
    few: bool,
    session: Session<'_>,
) -> Result<Proved, String> {
    let options = session.options;
    let (begin, time) = (Instant::now(), options.time);
    let cover = property.method == Method::Cover;
    let few = match few && !cover {
        true => all.light(property),
        false => all.every(),
    };
    let common = Common {
        session,
        file: file_name(&property.name),
        named: AtomicUsize::new(0),
        questions: AtomicUsize::new(0),
        checked: AtomicUsize::new(0),
    };
    let mut asking = Asking {
        property,
        common: &common,
        what: "",
        used: few.clone(),
        taken: few.clone(),
        few,
        over: Arc::default(),
    };
    let soon = if all.cases.kinds.is_empty() {
        time
    } else {
        options.divide_after.min(time)
    };
    let (place, answer) = match cover {
        true => asking.reached(all, soon)?,
        false => asking.held(all, soon)?,
    };
    let verdict = match answer {
        Answer::Sometimes(_) if cover => Verdict::Holds,
        Answer::Never if cover => Verdict::Unreachable,
        Answer::Never => Verdict::Holds,
        Answer::Sometimes(inputs) => {
            Verdict::Refuted(Box::new(Counterexample::of(unit, all, &inputs)))
        }
        Answer::GaveUp => Verdict::Undecided,
    };
    // Premises added for one question stay for the next. Facts have premises of their own.
    let mut premises = Vec::new();
    if property.begin != Begin::Anywhere {
        let used = asking.taken.iter().zip(&all.needed);
        let used = used.map(|(used, needed)| *used || *needed && !all.established.is_empty());
        premises = all.names_of(used);
    }
    Ok(Proved {
        name: property.name.clone(),
        method: property.method,
        questions: common.questions.load(Ordering::Relaxed),
        checked: common.checked.load(Ordering::Relaxed),
        premises,
        verdict,
        place,
        time: begin.elapsed(),
        way: None,
    })
}

/// Returns literals of which at least one holds where one of `bad` does. A property is often a conjunction with one part for each lane:
/// then these parts are returned.
fn parts_of(all: &Questions, bad: Vec<Lit>) -> Vec<Lit> {
    let parts = bad.iter().flat_map(|bad| all.aig.conjuncts(!*bad));
    let parts: Vec<Lit> = parts.map(|holds| !holds).collect();
    match parts.len() <= MAX_PARTS {
        true => parts,
        false => bad,
    }
}

#[cfg(test)]
mod tests {
    use super::super::questions::Cases;
    use crate::mutate::aig::{Aig, Lit};

    #[test]
    fn parts_of_a_register_are_all_its_values() {
        let mut aig = Aig::new();
        let register: Vec<Lit> = (0..3).map(|_| aig.input()).collect();
        let cases = Cases {
            register: register.clone(),
            ..Default::default()
        };
        let parts = cases.parts();
        let values: Vec<usize> = parts
            .iter()
            .flat_map(|(_, values)| values.clone())
            .collect();
        assert_eq!(values, [4, 5, 6, 7, 2, 3, 1, 0]);
        // All values at once, value v in bit v.
        let bits = register.iter().enumerate();
        let inputs = bits.map(|(i, bit)| (*bit, [0xaa, 0xcc, 0xf0][i])).collect();
        for (part, values) in parts {
            let holds = aig.all(part);
            let expected = values.clone().fold(0, |all, value| all | 1 << value);
            assert_eq!(aig.evaluate(&inputs).of(holds) & 0xff, expected);
            for value in values {
                let holds = aig.all(cases.is(value));
                assert_eq!(aig.evaluate(&inputs).of(holds) & 0xff, 1 << value);
            }
        }
    }
}
