//! Distributes properties and faults over several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::ask::{Session, decide};
use super::files::{Fault, Files, Plan, unknown_property};
use super::questions::{Property, Questions};
use super::threads::IdleThreads;
use super::world::{SideModules, Unit};
use super::{Control, Options, Proved, Report, Verdict, reach};
use crate::mutate::{Origin, Trouble};

/// A piece of work for one thread.
pub(super) enum Work<'a> {
    /// Ask this property.
    Property(&'a Property),
    /// Plant this fault, and ask the properties that it names.
    Fault(&'a Fault),
}

/// Data that all threads read.
pub(super) struct Shared<'a> {
    pub from: &'a Origin,
    pub files: &'a Files,
    pub beside: &'a SideModules,
    pub unit: &'a Unit<'a>,
    pub plan: &'a Plan,
    pub options: &'a Options,
    pub stop: &'a AtomicBool,
    /// All pieces of work, properties first.
    pub work: &'a [Work<'a>],
}

/// What was found so far, and the function that receives it.
struct Told<P> {
    report: Report,
    /// Numbers of the work of the properties in the report, and of the faults.
    properties: Vec<usize>,
    faults: Vec<usize>,
    /// Set if a fault is bad input.
    trouble: Option<Trouble>,
    progress: P,
}

impl<P: FnMut(&Report, &str)> Told<P> {
    /// Reports the progress.
    fn tell(&mut self, next: &str) {
        (self.progress)(&self.report, next);
    }

    /// Tells whether no more work is to begin.
    fn over(&self) -> bool {
        self.report.stopped.is_some() || self.trouble.is_some()
    }

    fn proved(&mut self, number: usize, proved: Proved) {
        let at = self.properties.partition_point(|other| *other < number);
        self.properties.insert(at, number);
        self.report.proved.insert(at, proved);
    }

    fn planted(&mut self, number: usize, control: Control) {
        let at = self.faults.partition_point(|other| *other < number);
        self.faults.insert(at, number);
        self.report.controls.insert(at, control);
    }
}

impl Shared<'_> {
    /// Does all the work in `jobs` threads, each with its own copy of `questions`. Returns `report` with the results in the
    /// order of the work.
    ///
    /// # Errors
    /// A fault cannot be planted. All other trouble is in the report.
    pub fn done_by(
        &self,
        jobs: usize,
        questions: Questions,
        report: Report,
        progress: impl FnMut(&Report, &str) + Send,
    ) -> Result<Report, Trouble> {
        let told = Mutex::new(Told {
            report,
            properties: Vec::new(),
            faults: Vec::new(),
            trouble: None,
            progress,
        });
        let (next, idle) = (AtomicUsize::new(0), IdleThreads::default());
        for _ in self.work.len()..jobs {
            idle.give();
        }
        let jobs = jobs.clamp(1, self.work.len().max(1));
        thread::scope(|scope| {
            for _ in 1..jobs {
                let questions = questions.clone();
                scope.spawn(|| {
                    self.part(questions, &next, &idle, &told);
                    idle.give();
                });
            }
            self.part(questions, &next, &idle, &told);
            idle.give();
        });
        let told = told.into_inner().unwrap_or_else(PoisonError::into_inner);
        match told.trouble {
            Some(trouble) => Err(trouble),
            None => Ok(told.report),
        }
    }

    /// Takes one piece of work after the other, until none is left or something has gone wrong.
    fn part<P: FnMut(&Report, &str) + Send>(
        &self,
        mut questions: Questions,
        next: &AtomicUsize,
        idle: &IdleThreads,
        told: &Mutex<Told<P>>,
    ) {
        let told = || told.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(work) = self.work.get(number) else {
                return;
            };
            let name = match work {
                Work::Property(property) => property.name.clone(),
                Work::Fault(fault) => format!("a fault in {}", fault.file),
            };
            let mut all = told();
            if all.over() {
                return;
            }
            all.tell(&name);
            drop(all);
            // The questions of one property can take an hour.
            let each = |questions: usize| {
                if questions > 1 {
                    told().tell(&format!("{name}, question {}", questions + 1));
                }
            };
            match work {
                Work::Property(property) => {
                    let session = Session {
                        options: self.options,
                        stop: self.stop,
                        idle,
                        each: &each,
                    };
                    match self.proved(&mut questions, property, session) {
                        Ok(proved) => told().proved(number, proved),
                        Err(why) => self.stopped(&mut told().report, why),
                    }
                }
                Work::Fault(fault) => match self.planted(fault) {
                    Ok(control) => told().planted(number, control),
                    Err(Trouble::Other(why)) => self.stopped(&mut told().report, why),
                    Err(trouble) => told().trouble = Some(trouble),
                },
            }
        }
    }

    /// Notes in `report` why the proofs stopped, so that an error in one question does not lose the results of hours.
    pub fn stopped(&self, report: &mut Report, why: String) {
        let why = match self.stop.load(Ordering::Relaxed) {
            true => "interrupted".to_owned(),
            false => why,
        };
        report.stopped.get_or_insert(why);
    }

    /// Asks a property and, if it is refuted, looks for a path from reset to the cycle that breaks it.
    fn proved(
        &self,
        questions: &mut Questions,
        property: &Property,
        session: Session<'_>,
    ) -> Result<Proved, String> {
        let (options, stop) = (self.options, self.stop);
        let mut proved = decide(self.unit, questions, property, true, session)?;
        if matches!(proved.verdict, Verdict::Refuted(_)) && options.reach > 0 {
            // If this search fails, the counterexample is still reported.
            let (lanes, most) = (options.build.lanes as usize, (options.reach, options.time));
            let way = reach::way(self.unit, (self.plan, lanes), &proved.name, most, stop);
            proved.way = way.unwrap_or_default();
        }
        Ok(proved)
    }

    /// Plants a fault and asks the properties that it must refute, and those that must still hold.
    fn planted(&self, fault: &Fault) -> Result<Control, Trouble> {
        let (from, options, stop) = (self.from, self.options, self.stop);
        let begin = Instant::now();
        let (mut texts, mut files) = (from.texts.clone(), self.files.clone());
        let own = files.called(&fault.file);
        let in_rtl = own.is_none();
        let found = own.map(|file| &mut file.text).or_else(|| {
            let mut all = texts.iter_mut();
            all.find(|(name, _)| *name == fault.file)
                .map(|(_, text)| text)
        });
        let mut unread = String::new();
        let text = found.unwrap_or(&mut unread);
        let also = fault.also.iter().map(|edit| (&edit.from, &edit.to));
        for (from, to) in [(&fault.from, &fault.to)].into_iter().chain(also) {
            let times = text.matches(from.as_str()).count();
            if times != 1 {
                let file = &fault.file;
                return Err(Trouble::Other(format!(
                    "proofs.json: {from:?} stands {times} times in {file}, and a fault is to be planted there; --no-faults plants none"
                )));
            }
            *text = text.replace(from.as_str(), &to.replace("FAULT", "1'b1"));
        }
        let other;
        let beside = if in_rtl {
            self.beside
        } else {
            other = SideModules::read(from, &files, stop)?;
            &other
        };
        let unit = Unit::read(from, &texts, beside, stop)?;
        let mut questions = Questions::of(&unit, self.plan, options.build.lanes as usize)?;
        let properties = std::mem::take(&mut questions.properties);
        let mut survived = Vec::new();
        // An assignment is checked on the graph. If the fault is not refuted, no proof is needed.
        let believe = Options {
            believe: true,
            ..options.clone()
        };
        let refutes = fault.refutes.iter().map(|name| (name, true));
        let keeps = fault.keeps.iter().map(|name| (name, false));
        for (name, refuted) in refutes.chain(keeps) {
            let property = properties.iter().find(|p| p.name == *name);
            let property = property.ok_or_else(|| {
                let names: Vec<String> = properties.iter().map(|p| p.name.clone()).collect();
                unknown_property(name, &names)
            })?;
            // If a cycle is to be found, using all premises at once saves repeated questions.
            let session = Session::alone(&believe, stop);
            let proved = decide(&unit, &mut questions, property, !refuted, session)?;
            let why = match proved.verdict {
                Verdict::Undecided => "is undecided",
                Verdict::Refuted(_) if !refuted => "does not hold",
                Verdict::Holds | Verdict::Unreachable if refuted => "still holds",
                Verdict::Refuted(_) | Verdict::Holds | Verdict::Unreachable => continue,
            };
            survived.push((name.clone(), why));
        }
        Ok(Control {
            fault: fault.clone(),
            survived,
            time: begin.elapsed(),
        })
    }
}
