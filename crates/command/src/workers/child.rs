//! The worker's side: executes orders, with RTL that may do anything.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use reconverge::campaign::{self, Failed, Follow, Limit, Options, Runner, Summary};
use reconverge::case::Case;
use reconverge::check::{Judges, TestCase};
use reconverge::compiled::Compiled;
use reconverge::cover::{Model, run as cover};
use reconverge::design::Design;
use reconverge::dut::Rtl;
use reconverge::failure::{Cause, Failure};
use reconverge::lockstep::Compared;
use reconverge::mutate::Hunt;
use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::low_level::exit;

use super::protocol::{Answer, Job, Order, line, parsed};
use crate::console::{Agreed, Done};
use crate::stop;

/// Approximate time between two signs of life of a worker.
const PULSE: Duration = Duration::from_millis(200);
/// Approximate time between two messages with the coverage so far, which are long.
const SO_FAR: Duration = Duration::from_secs(1);

/// The command above this process.
#[derive(Clone)]
struct Parent(Arc<Mutex<(UnixStream, Instant)>>);

impl Parent {
    fn lock(&self) -> MutexGuard<'_, (UnixStream, Instant)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends an answer. Without a parent that listens, this process has no purpose.
    fn say<U: Compiled>(&self, answer: &Answer<U>) {
        let mut to = self.lock();
        let said = line(answer).map(|line| to.0.write_all(line.as_bytes()));
        if !matches!(said, Ok(Ok(()))) {
            exit(3);
        }
        to.1 = Instant::now();
    }

    /// Sends `answer` if nothing was sent for a while.
    fn pulse<U: Compiled>(&self, answer: impl FnOnce() -> Answer<U>) {
        if self.lock().1.elapsed() >= PULSE {
            self.say(&answer());
        }
    }

    /// Returns a callback that reports how far a case is.
    fn progress<U: Compiled>(&self) -> impl FnMut(u64) {
        |cycle| self.pulse(|| Answer::<U>::Pulse(cycle))
    }
}

/// The memory limit, which distinguishes running out of memory from other ends.
struct Memory(u64);

impl Memory {
    /// Sets the limit, before any RTL is loaded. Also suppresses the core dump, which would be as large.
    fn limit(&self) -> Result<(), String> {
        let to = |bytes| Rlimit {
            current: bytes,
            maximum: bytes,
        };
        setrlimit(Resource::Core, to(Some(0))).map_err(|e| format!("worker: {e}"))?;
        if self.0 == 0 {
            return Ok(());
        }
        let bytes = self.0.saturating_mul(1 << 20);
        setrlimit(Resource::Data, to(Some(bytes))).map_err(|e| format!("--memory: {e}"))
    }

    /// Returns the message that no thread can be started, for which too little memory is the usual reason.
    fn no_thread(&self, e: &std::io::Error) -> String {
        let hint = match self.0 {
            0 => String::new(),
            megabytes => format!("; it may have {megabytes} MB (--memory)"),
        };
        format!("worker: no thread can be started: {e}{hint}")
    }

    /// Returns the cause, if `why` says that memory ran out.
    fn short<D: Design>(&self, why: &str) -> Option<Cause<D>> {
        let short = self.0 > 0 && why.contains("out of memory");
        short.then(|| Cause::Crashed(super::out_of_memory(self.0)))
    }

    /// Returns the cause, if that is why a case failed: a run that stopped for lack of memory counts as crashed.
    fn cause<C: TestCase>(&self, failure: &Failure<C>) -> Option<Cause<C::Design>> {
        match &failure.cause {
            Cause::Stopped(stopped) => self.short(&stopped.why),
            Cause::NotRun(why) => self.short(why),
            _ => None,
        }
    }

    fn blame<C: TestCase>(&self, failure: &mut Failure<C>) {
        if let Some(cause) = self.cause(failure) {
            failure.cause = cause;
        }
    }

    /// Returns the answer for an order that cannot be executed.
    fn cannot<U: Compiled>(&self, why: String) -> Answer<U> {
        match self.short(&why) {
            Some(cause) => Answer::Lost(Box::new(cause)),
            None => Answer::Cannot(why),
        }
    }
}

/// Works until the command above it ends.
pub fn work<U: Compiled>() -> Done {
    stop::ignored()?;
    let shown =
        |e: std::io::Error| format!("worker: standard input is not a socket of reconverge: {e}");
    let stdin = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(shown)?;
    let socket = UnixStream::from(stdin);
    let mut orders = BufReader::new(socket.try_clone().map_err(shown)?);
    let mut job = Vec::new();
    orders.read_until(b'\n', &mut job).map_err(shown)?;
    if job.is_empty() {
        return Err("worker: no job".to_owned().into());
    }
    let job: Job = parsed(&job)?;
    // RTL may read standard input: it must not read ours.
    File::open("/dev/null")
        .and_then(|null| Ok(rustix::stdio::dup2_stdin(null)?))
        .map_err(|e| format!("worker: /dev/null: {e}"))?;
    let memory = Memory(job.memory);
    memory.limit()?;
    let stop = Arc::new(AtomicBool::new(false));
    let (send, receive) = mpsc::channel();
    let reader = std::thread::Builder::new().spawn({
        let stop = Arc::clone(&stop);
        move || {
            for line in orders.split(b'\n').map_while(Result::ok) {
                let sent = match parsed::<Order<U>>(&line) {
                    Ok(Order::Stop) => {
                        stop.store(true, Ordering::Relaxed);
                        true
                    }
                    Ok(order) => send.send(order).is_ok(),
                    Err(_) => false,
                };
                if !sent {
                    break;
                }
            }
            // A worker without a command has no purpose, and ends even while its RTL hangs.
            exit(3);
        }
    });
    let parent = Parent(Arc::new(Mutex::new((socket, Instant::now()))));
    if let Err(e) = reader {
        // Said to the command, because the end of this process would be blamed on the RTL.
        parent.say(&Answer::<U>::Cannot(memory.no_thread(&e)));
        return Ok(Agreed::Yes);
    }
    let rtl = match Rtl::<U>::from_built(job.built) {
        Ok(rtl) => rtl,
        Err(why) => {
            // As above.
            parent.say(&Answer::<U>::Cannot(String::from(why)));
            return Ok(Agreed::Yes);
        }
    };
    let mut worker = Worker {
        rtl,
        memory,
        parent,
        orders: receive,
        stop,
        model: None,
    };
    while let Ok(order) = worker.orders.recv() {
        let answer = worker.obey(order);
        worker.parent.say(&answer);
    }
    Ok(Agreed::Yes)
}

struct Worker<U: Compiled> {
    rtl: Rtl<U>,
    memory: Memory,
    parent: Parent,
    orders: mpsc::Receiver<Order<U>>,
    stop: Arc<AtomicBool>,
    /// The bins of the cases of a campaign, once cases have run.
    model: Option<Model<U>>,
}

impl<U: Compiled> Worker<U> {
    /// Executes an order and returns its last answer.
    fn obey(&mut self, order: Order<U>) -> Answer<U> {
        let parent = self.parent.clone();
        match order {
            Order::Cases {
                seed,
                keep_going,
                rtl,
                cases,
                each,
                bins,
            } => {
                let options = Options {
                    seed,
                    limit: Limit::Programs(u64::MAX),
                    jobs: 1,
                    keep_going,
                    rtl,
                };
                self.cases(&options, cases, each, bins)
            }
            Order::Check { case, judges } => {
                let judged = U::judge(&case, &self.rtl, judges, None, &mut parent.progress::<U>());
                let not_run = |why| {
                    Err(Failure::new(
                        &*case,
                        Cause::NotRun(why),
                        Compared::default(),
                    ))
                };
                let mut judged = judged.unwrap_or_else(not_run);
                if let Err(failure) = &mut judged {
                    self.memory.blame(failure);
                }
                Answer::Judged(Box::new(judged))
            }
            Order::Dump { case, from, path } => {
                let dump = Some((from, path.as_path()));
                let mut progress = parent.progress::<U>();
                let dumped = U::judge(&case, &self.rtl, Judges::LockStep, dump, &mut progress);
                Answer::Dumped(Box::new(dumped))
            }
            Order::Shrink(case) => self.shrink(&case),
            Order::Cover(options) => self.cover(&options),
            Order::Hunt {
                mutant,
                seed,
                hunt,
                budget,
                each,
            } => self.hunt(mutant, seed, hunt, budget, each),
            Order::Exhaust {
                limits,
                states,
                only,
            } => self.exhaust(&limits, &states, only),
            Order::Play { stream, dump } => {
                let dump = dump.as_ref().map(|(from, path)| (*from, path.as_path()));
                let mut played = U::play(&stream, &self.rtl, dump, &mut parent.progress::<U>());
                if let Ok(Err(failure)) = &mut played {
                    self.memory.blame(failure);
                }
                Answer::Played(Box::new(played))
            }
            Order::Built(_) | Order::Stop => Answer::Cannot("worker: nothing was asked".to_owned()),
        }
    }

    fn cases(
        &mut self,
        options: &Options,
        cases: std::ops::Range<u64>,
        each: bool,
        bins: bool,
    ) -> Answer<U> {
        let Worker {
            rtl,
            memory,
            parent,
            stop,
            model,
            ..
        } = self;
        let bins = bins.then(|| &*model.get_or_insert_with(|| Model::new(rtl.build())));
        let mut total = Summary::default();
        let mut runner = None;
        let last = cases.end.saturating_sub(1);
        for case in cases {
            if each {
                // This shows which case ended the process.
                let seed = runner.as_ref().map(Runner::seed);
                let seed = seed.unwrap_or_else(|| campaign::model_seed(options, case));
                parent.say(&Answer::<U>::Begins(seed));
            }
            let open = match &mut runner {
                Some(open) => open,
                none => match Runner::open(options, rtl, bins, case) {
                    Ok(opened) => none.insert(opened),
                    Err(why) => return memory.cannot(why),
                },
            };
            let mut summary = U::run_case(open, case, &mut parent.progress::<U>());
            // After its answer no further case runs.
            let stopped = each && stop.load(Ordering::Relaxed);
            if each && (case == last || stopped) {
                runner
                    .take()
                    .into_iter()
                    .for_each(|open| open.close(&mut summary));
            }
            let short = |failed: &Failed<Case<U>>| memory.cause(&failed.failure);
            if let Some(cause) = summary.failures.iter().find_map(short) {
                // Memory that a case has taken is missing for the others: this process cannot be used any more, and another
                // case may have taken the memory.
                return Answer::Lost(Box::new(cause));
            }
            match each {
                true if case == last => return Answer::Did(Box::new(summary)),
                true => parent.say(&Answer::Did(Box::new(summary))),
                false => {
                    for failed in &summary.failures {
                        parent.say(&Answer::Failed(Box::new(failed.clone())));
                    }
                    total.add(summary);
                    if total.ends(options) {
                        break;
                    }
                }
            }
            if stopped {
                return Answer::Stopped;
            }
        }
        if let Some(open) = runner {
            open.close(&mut total);
        }
        Answer::Did(Box::new(total))
    }

    fn shrink(&mut self, case: &Case<U>) -> Answer<U> {
        let mut follow = Smaller(self.parent.clone());
        let other = |lanes| {
            self.parent.say(&Answer::<U>::Wants(lanes));
            match self.orders.recv() {
                Ok(Order::Built(built)) => built.and_then(|built| Ok(Rtl::from_built(built)?)),
                _ => Err("worker: no RTL".to_owned()),
            }
        };
        let shrunk = U::shrink(case, &self.rtl, &other, &mut follow);
        Answer::Shrunk(shrunk.map(|shrunk| (Box::new(shrunk.failure), shrunk.runs)))
    }

    fn cover(&mut self, options: &cover::Options) -> Answer<U> {
        let model = Model::new(self.rtl.build());
        let follow = Covering {
            parent: self.parent.clone(),
            stop: &self.stop,
            careful: options.careful,
            model: &model,
            told: Mutex::new(Instant::now()),
        };
        match U::cover(options, &model, &self.rtl, &follow) {
            Ok(mut covered) => {
                if let Some(failure) = &mut covered.failed {
                    self.memory.blame(failure);
                }
                Answer::Covered(Box::new(covered))
            }
            Err(why) => self.memory.cannot(why),
        }
    }

    fn hunt(
        &mut self,
        mutant: u32,
        seed: u64,
        mut hunt: Hunt<Case<U>>,
        budget: u64,
        each: bool,
    ) -> Answer<U> {
        let rtl = self.rtl.clone().mutant(mutant);
        while !hunt.over(budget) {
            let so_far = || Answer::Hunting(Box::new(hunt.clone()));
            match each {
                true => self.parent.say(&so_far()),
                false => self.parent.pulse(so_far),
            }
            if let Err(why) = U::go_on(&mut hunt, &rtl, seed, &mut self.parent.progress::<U>()) {
                return self.memory.cannot(why);
            }
        }
        let caught = hunt.caught.as_ref();
        if let Some(cause) = caught.and_then(|caught| self.memory.cause(&caught.failure)) {
            return Answer::Lost(Box::new(cause));
        }
        Answer::Hunting(Box::new(hunt))
    }
}

impl<U: Compiled> Worker<U> {
    fn exhaust(&mut self, limits: &[u32], states: &[Vec<u8>], only: Option<usize>) -> Answer<U> {
        let Some(small) = U::SMALL else {
            return Answer::Cannot(format!("worker: {} has no small world", U::NAME));
        };
        let build = self.rtl.build().clone();
        let world = (small.world)(&build, limits);
        let mut dut = match self.rtl.open(1) {
            Ok(dut) => dut,
            Err(why) => return self.memory.cannot(why),
        };
        let parent = self.parent.clone();
        let mut progress = parent.progress::<U>();
        let mut checked = U::exhaust(&*world, &build, &mut dut, states, only, &mut progress);
        if let Some(Cause::Stopped(stopped)) = checked.difference.as_ref().map(|d| &d.cause)
            && let Some(cause) = self.memory.short(&stopped.why)
            && let Some(difference) = &mut checked.difference
        {
            difference.cause = cause;
        }
        // A `final` block speaks of everything that the model ran.
        if checked.difference.is_none()
            && only.is_none()
            && let Err(why) = dut.close()
        {
            let cause = Cause::at_the_end(why, checked.cycles);
            checked.difference = Some(super::unplaced(states, cause));
        }
        Answer::Exhausted(Box::new(checked))
    }
}

/// Reports each smaller case.
struct Smaller(Parent);

impl<U: Compiled> Follow<Case<U>> for Smaller {
    fn progress(&mut self, cycle: u64) {
        self.0.pulse(|| Answer::<U>::Pulse(cycle));
    }
    fn smaller(&mut self, failure: &Failure<Case<U>>) {
        self.0.say(&Answer::Smaller(Box::new(failure.clone())));
    }
}

/// Reports the coverage.
struct Covering<'a, U: Compiled> {
    parent: Parent,
    stop: &'a AtomicBool,
    careful: Option<u64>,
    model: &'a Model<U>,
    /// When the whole coverage was last sent.
    told: Mutex<Instant>,
}

impl<U: Compiled> cover::Follow<U> for Covering<'_, U> {
    fn chunk(&self, covered: &cover::Covered<U>) -> bool {
        let totals = covered.totals;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if self.careful == Some(totals.programs) || told.elapsed() >= SO_FAR {
            self.parent.say(&Answer::SoFar(Box::new(covered.clone())));
            *told = Instant::now();
        }
        let hit = self.model.hit(&covered.hits);
        self.parent
            .say(&Answer::<U>::Covering(totals.programs, totals.cycles, hit));
        !self.stop.load(Ordering::Relaxed)
    }
    fn begins(&self, case: &Case<U>) {
        self.parent.say(&Answer::BeginsCase(Box::new(case.clone())));
    }
    fn pulse(&self) {
        self.parent.pulse(|| Answer::<U>::Pulse(0));
    }
}
