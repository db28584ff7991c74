//! `exhaust`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::HumanCount;
use reconverge::check::{Judges, TestCase as _};
use reconverge::compiled::Compiled;
use reconverge::design::Build;
use reconverge::exhaust::check::{Checked, Difference, stream};
use reconverge::exhaust::{Bound, Broken, Space, TooLarge, World};
use reconverge::failure::Failure;
use reconverge::input::InputError;
use reconverge::place::Place;
use reconverge::quantity::counted;
use reconverge::stream::Stream;
use reconverge::wave;
use serde::Serialize;

use crate::args::{PlaceArgs, parameter, parameters, workers};
use crate::console::{Done, Failure as Fails, Status, complain, ends, print};
use crate::guests::program_unit_names;
use crate::progress::Ticker;
use crate::rtl::{absolute, rtl};
use crate::shows::in_words;
use crate::stop::Trouble;
use crate::streams::all_writable;
use crate::workers::{Isolated, LimitArgs};
use crate::{found, outcome, stop, streams};
use reconverge::quantity::count;

mod checkpoint;

use checkpoint::{Checkpoint, Digest};

/// Number of states that a worker gets at once.
const CHUNK: usize = 256;
/// Maximum number of lanes. A state of r500 has transitions for every pair of sets of lanes: with 8 lanes they take 2 GB of
/// memory, with 9 four times that.
const MAX_LANES: i64 = 8;
/// Approximate time between two writes of the checkpoint.
const EVERY: Duration = Duration::from_secs(10);

#[derive(Args)]
pub struct ExhaustArgs {
    /// Unit
    #[arg(value_parser = program_unit_names())]
    pub unit: String,
    /// Lanes, 8 at most: a state has a transition for every set of lanes [default: those of the unit's small build]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=MAX_LANES))]
    lanes: Option<u32>,
    /// Parameter of RTL and golden model, as for `run` [default: as the unit's small build has it]
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u32)>,
    /// Limit of what is explored that no parameter of the RTL sets, such as bundles (docs/exhaustive.md); may be repeated
    #[arg(long = "bound", value_name = "NAME=VALUE", value_parser = parameter)]
    bounds: Vec<(String, u32)>,
    /// Give up when there are more states than this. A state takes about 100 bytes of memory
    #[arg(long, value_name = "N", default_value = "4M", value_parser = count)]
    states: u64,
    /// Worker processes [default: one per processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Keep in this file how far the exploration is, so that the same command resumes where it was interrupted
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Write what was explored, and a difference, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

/// What `--json` writes (formats-10).
#[derive(Default, Serialize)]
struct Explored {
    reconverge_exhaust: u32,
    unit: &'static str,
    lanes: u32,
    parameters: BTreeMap<String, u32>,
    bounds: BTreeMap<String, u32>,
    closed: bool,
    agrees: bool,
    states: u64,
    transitions: u64,
    cycles: u64,
    depths: Vec<u64>,
    failure: Option<Place>,
    message: Option<String>,
    rule: Option<String>,
    invariant: Option<&'static str>,
    saved: Option<String>,
}

/// Why no further states are expanded.
enum End {
    /// No states are left.
    Closed,
    /// There are more states than the limit.
    TooLarge,
    /// RTL and golden differ in the next chunk in order.
    Differs,
    /// An invariant does not hold.
    Broken(Broken),
    /// The process was told to end.
    Interrupted,
}

pub fn exhaust<U: Compiled>(args: &ExhaustArgs) -> Done {
    all_writable([("--json", &args.json)])?;
    let Some(small) = U::SMALL else {
        let why = "has no small world to explore; `SMALL` of the trait `Unit` gives it one";
        return Err(InputError::new(U::NAME, 0, "unit", why).into());
    };
    let given = |name: &str| args.parameters.iter().any(|(n, _)| n == name);
    let defaults = small.parameters.iter().filter(|(name, _)| !given(name));
    let mut all: Vec<_> = defaults.map(|(n, v)| ((*n).to_owned(), *v)).collect();
    all.extend_from_slice(&args.parameters);
    let build = Build {
        lanes: args.lanes.unwrap_or(small.lanes),
        parameters: parameters::<U>(&all),
    };
    build.check::<U>("").map_err(InputError::in_option)?;
    let given: BTreeMap<_, _> = args.bounds.iter().cloned().collect();
    let limits = small.limits(&given)?;
    let bounds: BTreeMap<String, u32> = (small.bounds.iter().zip(&limits))
        .map(|(bound, value): (&Bound, _)| (bound.name.to_owned(), *value))
        .collect();
    let rtl = rtl::<U>(&args.place, build.clone())?;
    if !rtl.preloads() {
        let dir = args.place.rtl.as_deref().unwrap_or(Path::new(""));
        let dir = dir.to_string_lossy();
        let why = "cannot be put into a state: its probes name no registers to load";
        return Err(InputError::new(dir, 0, "--rtl", why).into());
    }
    let mut so_far = Checkpoint::new::<U>(&build, &bounds, &rtl);
    if let Some(path) = &args.checkpoint {
        so_far = so_far.resumed(path)?;
    }
    let mut name = format!("exhaust {}, {build}", U::NAME);
    for (bound, value) in &bounds {
        name += &format!(", {bound}={value}");
    }
    print(&format!("{name}\n"))?;
    if so_far.states > 0 {
        print(&format!(
            "  resumed behind {}\n",
            counted(HumanCount(so_far.states), "state")
        ))?;
    }
    let world = (small.world)(&build, &limits);
    let most = usize::try_from(args.states).unwrap_or(usize::MAX);
    let mut run = Run::<U> {
        args,
        limits: &limits,
        space: Space::new(&*world, &build, most),
        resume: so_far.states,
        digest: Digest::default(),
        checked: so_far,
        difference: None,
        saved: Instant::now(),
    };
    let end = run.explore(&rtl)?;
    if matches!(end, End::Closed) && run.checked.states != run.space.found() as u64 {
        return Err(run.checked.damaged(args.checkpoint.as_deref()).into());
    }
    let kept = run.keep();
    match run.tell(&*world, &build, &bounds, &rtl, &end) {
        Ok(status) => ends(status, kept.err()),
        Err(why) => {
            kept.err().as_ref().map(crate::console::tell);
            Err(why)
        }
    }
}

/// Some states in order, and the results of their check.
struct Chunk {
    first: usize,
    states: Vec<Vec<u8>>,
}

struct Run<'a, 'w, U: Compiled> {
    args: &'a ExhaustArgs,
    limits: &'a [u32],
    space: Space<'w, U>,
    /// Number of states that were checked before.
    resume: u64,
    digest: Digest,
    checked: Checkpoint,
    /// The first difference, with the number of its state in the space.
    difference: Option<Difference<U>>,
    saved: Instant,
}

impl<U: Compiled> Run<'_, '_, U> {
    /// Expands state after state and has workers check them, until no states are left or one of them differs.
    fn explore(&mut self, rtl: &reconverge::dut::Rtl<U>) -> Result<End, Fails> {
        let jobs = workers(self.args.jobs);
        let (limits, bounds) = (self.args.limits, self.limits);
        let stop = stop::asked()?;
        let (send, receive) = mpsc::channel::<Chunk>();
        let queue = Mutex::new(receive);
        let (answer, answers) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..jobs {
                let (queue, answer) = (&queue, answer.clone());
                scope.spawn(move || {
                    let mut worker = Isolated::new(rtl, limits);
                    loop {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok(chunk) = next else { return };
                        let checked = match &mut worker {
                            Ok(worker) => worker.exhaust(bounds, &chunk.states),
                            Err(why) => Err(Trouble::Other(why.clone())),
                        };
                        if answer.send((chunk, checked)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(answer);
            // It is dropped at the end of this block, whatever ends the block; then the workers end.
            let send = send;
            self.drive(&send, &answers, 2 * jobs, &|| stop.load(Ordering::Relaxed))
        })
    }

    fn drive(
        &mut self,
        send: &mpsc::Sender<Chunk>,
        answers: &mpsc::Receiver<(Chunk, Result<Checked<U>, Trouble>)>,
        most: usize,
        stopped: &dyn Fn() -> bool,
    ) -> Result<End, Fails> {
        let mut ticker = Ticker::new();
        let (mut first, mut under_way) = (0, 0);
        let mut done: BTreeMap<usize, (Chunk, Checked<U>)> = BTreeMap::new();
        let (mut end, mut trouble) = (None, None);
        loop {
            // Run ahead of the workers only as far as needed to keep them busy.
            while end.is_none() && under_way < most {
                match U::expand(&mut self.space) {
                    _ if stopped() => end = Some(End::Interrupted),
                    Ok(Some(_)) => {}
                    Ok(None) => end = Some(End::Closed),
                    Err(TooLarge) => end = Some(End::TooLarge),
                }
                if let Some(broken) = self.space.broken() {
                    crate::console::failed();
                    end = Some(End::Broken(broken));
                }
                let last = self.space.done();
                // A chunk also ends where the command was interrupted before.
                let full = last - first == CHUNK || last as u64 == self.resume;
                if last == first || !full && end.is_none() {
                    continue;
                }
                let states: Vec<_> = (first..last)
                    .map(|n| self.space.bytes(n).to_vec())
                    .collect();
                let chunk = Chunk { first, states };
                first = last;
                if self.skips(&chunk)? {
                    continue;
                }
                under_way += 1;
                // The workers end after this.
                let _ = send.send(chunk);
            }
            if under_way == 0 {
                // A chunk before it may be unknown.
                let differs = |(_, checked): &(Chunk, Checked<U>)| checked.difference.is_some();
                if let Some((chunk, checked)) = done.into_values().find(differs) {
                    self.take(&chunk, checked);
                    return Ok(End::Differs);
                }
                return match (end, trouble) {
                    (Some(broken @ End::Broken(_)), _) => Ok(broken),
                    (_, Some(trouble)) => Err(trouble),
                    (end, None) => Ok(end.unwrap_or(End::Closed)),
                };
            }
            match answers.recv_timeout(Duration::from_millis(50)) {
                Ok((chunk, Ok(checked))) => {
                    under_way -= 1;
                    if checked.difference.is_some() {
                        end = Some(End::Differs);
                    }
                    done.insert(chunk.first, (chunk, checked));
                }
                Ok((_, Err(why))) => {
                    under_way -= 1;
                    if !matches!(end, Some(End::Differs | End::Broken(_))) {
                        end = Some(End::Interrupted);
                    }
                    if let Trouble::Other(why) = why {
                        trouble.get_or_insert(Fails::Other(why));
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(Fails::Other("the workers ended".to_owned()));
                }
            }
            if stopped() && end.is_none() {
                end = Some(End::Interrupted);
            }
            // In order, so that the same difference is the first whichever worker is faster.
            while let Some((chunk, checked)) = done.remove(&(self.checked.states as usize)) {
                if !self.take(&chunk, checked) {
                    return Ok(End::Differs);
                }
            }
            if self.saved.elapsed() >= EVERY
                && let Err(why) = self.keep()
            {
                end.get_or_insert(End::Interrupted);
                trouble.get_or_insert(why);
            }
            let (states, found) = (self.checked.states, self.space.found());
            ticker.tick(|| {
                let transitions = HumanCount(self.checked.transitions);
                let (states, found) = (HumanCount(states), HumanCount(found as u64));
                format!(
                    "{}: {states} of {found} states, {transitions} transitions",
                    U::NAME
                )
            });
        }
    }

    /// Returns whether the states of `chunk` were checked before the command was resumed.
    fn skips(&mut self, chunk: &Chunk) -> Result<bool, Fails> {
        let last = (chunk.first + chunk.states.len()) as u64;
        if last > self.resume {
            return match (chunk.first as u64) < self.resume {
                // The chunks were cut elsewhere: these are other states.
                true => Err(self.checked.damaged(self.args.checkpoint.as_deref()).into()),
                false => Ok(false),
            };
        }
        chunk.states.iter().for_each(|state| self.digest.add(state));
        if last == self.resume && self.digest != self.checked.states_digest() {
            return Err(self.checked.damaged(self.args.checkpoint.as_deref()).into());
        }
        Ok(true)
    }

    /// Counts the results of the next chunk in order; returns whether RTL and golden agree in it.
    fn take(&mut self, chunk: &Chunk, checked: Checked<U>) -> bool {
        if let Some(difference) = checked.difference {
            crate::console::failed();
            // This does not get into the checkpoint, which is not written any more.
            self.checked.states += difference.state as u64;
            self.checked.transitions += checked.transitions;
            self.checked.cycles += checked.cycles;
            self.difference = Some(Difference {
                state: chunk.first + difference.state,
                ..difference
            });
            return false;
        }
        chunk.states.iter().for_each(|state| self.digest.add(state));
        let count = chunk.states.len() as u64;
        let sums = (checked.transitions, checked.cycles);
        self.checked.add(count, sums, &self.digest);
        true
    }

    /// Writes the checkpoint, if one is requested. States in which a difference was found are not counted.
    fn keep(&mut self) -> Result<(), Fails> {
        self.saved = Instant::now();
        match (&self.args.checkpoint, &self.difference) {
            (Some(path), None) => Ok(wave::write_named(path, &self.checked.text())?),
            _ => Ok(()),
        }
    }

    /// Prints how the exploration ended.
    fn tell(
        &mut self,
        world: &dyn World<U>,
        build: &Build,
        bounds: &BTreeMap<String, u32>,
        rtl: &reconverge::dut::Rtl<U>,
        end: &End,
    ) -> Done {
        let states = self.checked.states;
        // Only of those states: how many more were found depends on the workers.
        let mut left = states;
        let depths = self.space.levels().iter().map(|found| {
            let count = left.min(*found as u64);
            left -= count;
            count
        });
        let depths: Vec<u64> = depths.take_while(|count| *count > 0).collect();
        let depth = match states.checked_sub(1) {
            Some(last) => self.space.depth(last as usize),
            None => 0,
        };
        print(&format!(
            "  states       {}, the last one {} after reset\n  transitions  {}\n  cycles       {}\n",
            HumanCount(states),
            counted(depth, "cycle"),
            HumanCount(self.checked.transitions),
            HumanCount(self.checked.cycles)
        ))?;
        let mut explored = Explored {
            reconverge_exhaust: 2,
            unit: U::NAME,
            lanes: build.lanes,
            parameters: build.parameters.clone(),
            bounds: bounds.clone(),
            closed: matches!(end, End::Closed),
            agrees: self.checked.transitions > 0,
            states,
            transitions: self.checked.transitions,
            cycles: self.checked.cycles,
            depths,
            ..Explored::default()
        };
        let agrees = |part: &str| match self.checked.transitions {
            0 => "nothing was compared".to_owned(),
            _ => format!("what was explored {part} agrees"),
        };
        let mut trouble = None;
        let status = match end {
            End::Closed => {
                print("CLOSED: every transition agrees, every invariant holds\n")?;
                if self.args.place.rtl.is_some() {
                    print(
                        "note    a register of this RTL that is not a field is not loaded: what it keeps from one cycle to\n        \
                           the next is tested by `fuzz`, and proved to be nothing by `prove`\n",
                    )?;
                }
                Status::Agreed
            }
            End::Differs => {
                explored.agrees = false;
                trouble = self.differs(world, build, rtl, &mut explored)?;
                Status::Failed
            }
            End::Broken(broken) => {
                explored.agrees = false;
                self.invariant(world, build, *broken, &mut explored)?;
                Status::Failed
            }
            End::TooLarge => {
                trouble = Some(format!(
                    "the world is too large: more than {} states (--states); {}",
                    HumanCount(self.args.states),
                    agrees("of it"),
                ));
                Status::Agreed
            }
            End::Interrupted => {
                let resumes = match self.args.checkpoint {
                    Some(_) => "; the same command goes on behind them",
                    None => "",
                };
                trouble = Some(format!("interrupted: {}{resumes}", agrees("until then")));
                Status::Agreed
            }
        };
        if let Some(path) = &self.args.json {
            let text = serde_json::to_string_pretty(&explored).unwrap_or_default();
            streams::write_whole(path, &(text + "\n"))?;
        }
        ends(status, trouble.map(Fails::Other))
    }

    /// Saves the first difference as a stream of pins and reports it.
    fn differs(
        &self,
        world: &dyn World<U>,
        build: &Build,
        rtl: &reconverge::dut::Rtl<U>,
        explored: &mut Explored,
    ) -> Result<Option<String>, Fails> {
        let Some(difference) = &self.difference else {
            return Ok(Some("a difference was lost".to_owned()));
        };
        let mut worker =
            Isolated::<Stream<U>>::new(rtl, self.args.limits)?.dumping(self.args.place.format());
        let dir = self.args.place.rtl.as_deref().map(absolute);
        let (mut failed, mut interrupted) = (None, false);
        // A run without noise is easier to read; noise is used only if the difference needs it.
        for noise in [false, true] {
            let mut stream = self.on_the_way(world, build, difference, noise);
            stream.on_rtl(dir.as_deref(), rtl.no_assert(), None);
            match worker.check(&stream, Judges::LockStep, |_| ()) {
                Ok(Ok(_)) => {}
                Ok(Err(failure)) => {
                    failed = Some(failure);
                    break;
                }
                Err(trouble) => {
                    complain(&format!("warning: {}", trouble.why()));
                    interrupted = true;
                    break;
                }
            }
        }
        let Some(failure) = failed else {
            let stream = Stream::new("exhaust", build, Vec::new());
            let failure = Failure::new(&stream, difference.cause.clone(), Default::default());
            explored.message = Some(failure.message());
            let why = match difference.transition {
                _ if interrupted => "the way there could not be run from reset",
                Some(_) => {
                    "it shows in a state that was loaded, and not on the way there from reset"
                }
                None => {
                    "it needs other transitions before it: the RTL keeps something that neither reset nor loading reaches"
                }
            };
            print(&format!("{failure}NOT REPRODUCED: {why}\n"))?;
            print(&in_words(&self.on_the_way(world, build, difference, false)))?;
            return Ok(None);
        };
        let out = &self.args.place.out;
        print(&format!("the way there:\n{}", in_words(&failure.case)))?;
        let saved = found::save_run(&failure, out)?;
        found::whole(&failure, &saved, &mut worker)?;
        explored.failure = Some(failure.place());
        explored.message = Some(failure.message());
        explored.rule = outcome::rule(&failure);
        explored.saved = found::name_of(&saved);
        Ok(None)
    }

    fn on_the_way(
        &self,
        world: &dyn World<U>,
        build: &Build,
        difference: &Difference<U>,
        noise: bool,
    ) -> Stream<U> {
        let path = self.space.path(difference.state, noise);
        let all = self.space.transitions(difference.state, noise);
        let last = difference.transition.and_then(|n| all.get(n));
        stream(world, build, &path, last)
    }

    /// Reports a violated invariant, and saves the path to it.
    fn invariant(
        &self,
        world: &dyn World<U>,
        build: &Build,
        broken: Broken,
        explored: &mut Explored,
    ) -> Result<(), Fails> {
        let path = self.space.path(broken.state, false);
        let stream = stream(world, build, &path, None);
        let rule = broken.rule;
        let message = format!("{rule} does not hold in a state that the golden model reaches");
        print(&format!("INVARIANT  {message}\n{}", in_words(&stream)))?;
        let out = &self.args.place.out;
        let file = out.join(format!("{}.invariant.json", U::NAME));
        match found::save_agreed(stream, &file) {
            Ok(()) => {
                print(&format!("saved   {}\n", file.display()))?;
                explored.saved = found::name_of(&Some(file));
            }
            Err(why) => complain(&format!("warning: {why}")),
        }
        explored.message = Some(message);
        explored.invariant = Some(rule);
        Ok(())
    }
}
