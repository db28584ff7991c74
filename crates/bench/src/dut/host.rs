//! A model in a process of its own (`crates/verilate/shim/host.cpp`), so that RTL that ends its process, loops for ever or takes all memory fails its
//! case and not the program that judges it.
//!
//! The two processes share a file with pins and states, and a socket for requests and answers. Cycles are sent in batches, two
//! at a time: the RTL runs one while the golden model prepares the next. The states are compared here, so no answer of the other
//! process can say that both sides agree. A number that it cannot guess belongs to each request, and the answer must repeat it.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::process::{Confined, End};
use super::{Ended, Limits, tools};
use crate::home::{Package, home, shim};
use crate::lockstep::Lost;

/// Most cycles of a batch.
const CALLS: usize = 128;
/// Most bytes of a batch, unless one cycle has more.
const BYTES: usize = 64 << 10;
/// Offset of the first batch in the shared file: `kHead` of `crates/verilate/shim/host.cpp`.
const HEAD: u64 = 4096;
/// Time between two checks of how far the RTL is.
const SLICE: Duration = Duration::from_millis(50);
/// Longest text of an answer.
const TEXT: usize = 4096;
/// Exit status of a host that has lost its connection: `kLost` of `crates/verilate/shim/host.cpp`.
const DISCONNECTED: &str = "exit status: 86";

/// What is asked of a host; the numbers are those of `crates/verilate/shim/host.cpp`.
#[derive(Clone, Copy)]
enum Request {
    Create,
    Clock,
    Load,
    OpenVcd,
    CloseVcd,
    NoAssert,
    Coverage,
    Close,
}

/// The sizes of a model.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub lanes: u32,
    /// Bytes of an input struct.
    pub input: usize,
    /// Bytes of a state.
    pub state: usize,
}

impl Shape {
    /// Returns the number of cycles of a batch.
    fn calls(self) -> usize {
        (BYTES / (self.input + 3 * self.state)).clamp(1, CALLS)
    }

    /// Returns where pins, expected states, those expected from falling edges on, states, a byte for each cycle, and the states
    /// before and after falling edges of batch `half` begin in the shared file.
    fn places(self, half: u64) -> [u64; 6] {
        let calls = self.calls() as u64;
        let (input, state) = (calls * self.input as u64, calls * self.state as u64);
        let pins = HEAD + half * (input + 7 * state + calls);
        let states = pins + input + 2 * state;
        [
            pins,
            pins + input,
            pins + input + state,
            states,
            states + state,
            states + state + calls,
        ]
    }
}

/// The processes in which the models of one library run.
pub(super) struct Hosts {
    pub library: Arc<verilate::Library>,
    pub shape: Shape,
    pub limits: Limits,
    pub package: Option<&'static Package>,
    program: OnceLock<Result<verilate::Host, String>>,
    /// Those that run no model now.
    idle: Mutex<Vec<Host>>,
    /// One was lost: from then on each model has a process of its own, so that what C code has counted in others does not matter.
    apart: AtomicBool,
}

impl Hosts {
    pub fn new(
        library: Arc<verilate::Library>,
        shape: Shape,
        limits: Limits,
        package: Option<&'static Package>,
    ) -> Self {
        Hosts {
            library,
            shape,
            limits,
            package,
            program: OnceLock::new(),
            idle: Mutex::default(),
            apart: AtomicBool::new(false),
        }
    }

    /// Returns the program, which is built if necessary.
    fn program(&self) -> Result<&verilate::Host, String> {
        let built = || {
            let home = home(self.package)?;
            let store = verilate::Store::of_user()?;
            verilate::host(&shim(&home), &tools(&home), &store)
        };
        let program = self.program.get_or_init(|| {
            built().map_err(|e: verilate::Error| format!("the process of the RTL: {e}"))
        });
        program.as_ref().map_err(Clone::clone)
    }

    /// Returns what to say if memory has run out; empty if there is no limit.
    fn short(&self) -> String {
        match self.limits.megabytes {
            0 => String::new(),
            megabytes => format!("out of memory: the process of the RTL may have {megabytes} MB"),
        }
    }

    /// Opens a model. `seed`, not 0, fills what reset does not reach.
    ///
    /// # Errors
    /// No process can be started, or the library has no model that fits.
    pub fn open(self: &Arc<Self>, seed: u32, mutant: u32) -> Result<Hosted, String> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if self.apart.load(Ordering::Relaxed) {
            idle.clear();
        }
        let host = idle.pop();
        drop(idle);
        let mut hosted = Hosted {
            hosts: Arc::clone(self),
            host: None,
            half: 0,
            pins: Vec::new(),
            expected: Vec::new(),
            after: Vec::new(),
            halves: true,
            dump: PathBuf::new(),
            sent: VecDeque::new(),
            states: Vec::new(),
            read: 0,
            changes: VecDeque::new(),
            edges: VecDeque::new(),
            edge: Vec::new(),
            over: None,
        };
        let create = |host: &mut Host| host.ask(Request::Create, seed.into(), mutant.into(), &[]);
        let mut ended = None;
        let reused = host.and_then(|mut host| match create(&mut host) {
            Ok(answer) => Some((host, Ok(answer))),
            // It may have ended while it ran no model, which says nothing about this one.
            Err(lost) => {
                ended = Some(lost);
                None
            }
        });
        let (host, answer) = match reused {
            Some(reused) => reused,
            None => {
                let started = Host::start(self);
                let mut host = started.map_err(|e| format!("the process of the RTL: {e}"))?;
                let answer = create(&mut host);
                (host, answer)
            }
        };
        match answer {
            Ok(Answer { why: Some(why), .. }) => return Err(why),
            Ok(_) => {
                hosted.host = Some(host);
                if let Some(lost) = ended {
                    let why = "the process of the RTL, between two cases";
                    let _ = writeln!(std::io::stderr(), "warning: {why}: {lost}");
                }
            }
            // The RTL ends the process when it is loaded, or in an `initial` block: the first cycle reports it.
            Err(lost) => hosted.lose(lost),
        }
        Ok(hosted)
    }
}

/// An answer.
struct Answer {
    value: u64,
    /// Processor time that the process has used since its start.
    used: Duration,
    /// Why the request failed, if it did.
    why: Option<String>,
}

/// A process that can run a model.
struct Host {
    process: Confined,
    socket: UnixStream,
    file: File,
    limits: Limits,
    /// The number of the last request.
    number: u64,
    /// Cycles of all answers.
    done: u64,
    /// Processor time that it has used up to the last answer.
    used: Duration,
    /// It has said nothing yet that it cannot say.
    trusted: bool,
}

thread_local! {
    /// Time that other processes have used for this thread.
    static USED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Returns the time that RTL in other processes has taken for this thread: processor time up to an answer, and time waited for one
/// that did not come.
pub(crate) fn used() -> Duration {
    USED.get()
}

impl Host {
    fn start(hosts: &Hosts) -> Result<Self, String> {
        let shown = |e: std::io::Error| e.to_string();
        let program = hosts.program()?;
        let shape = hosts.shape;
        // Written in full, because a file that the disk has no room for would end the process in the middle of a cycle.
        let mut file = tempfile::tempfile().map_err(shown)?;
        let size = shape.places(2)[0];
        file.write_all(&vec![0; size as usize]).map_err(shown)?;
        let (ours, theirs) = UnixStream::pair().map_err(shown)?;
        let mut command = Command::new(&program.path);
        command.arg(&hosts.library.path).arg(&hosts.library.symbol);
        let sizes = [
            shape.lanes as usize,
            shape.input,
            shape.state,
            shape.calls(),
        ];
        command.args(sizes.map(|size| size.to_string()));
        command.arg(hosts.limits.megabytes.to_string());
        command
            .stdin(file.try_clone().map_err(shown)?)
            .stdout(Stdio::from(OwnedFd::from(theirs)));
        let process = Confined::start(command, false, hosts.short()).map_err(shown)?;
        ours.set_read_timeout(Some(SLICE)).map_err(shown)?;
        Ok(Host {
            process,
            socket: ours,
            file,
            limits: hosts.limits,
            number: RandomState::new().hash_one(size),
            done: 0,
            used: Duration::ZERO,
            trusted: true,
        })
    }

    /// Sends a request and returns its number. If the process is gone, the missing answer shows it.
    fn tell(&mut self, what: Request, a: u64, b: u64, more: &[u8]) -> u64 {
        self.number = self.number.wrapping_add(1);
        let mut bytes = Vec::with_capacity(32 + more.len());
        bytes.extend(self.number.to_ne_bytes());
        bytes.extend((what as u32).to_ne_bytes());
        bytes.extend((more.len() as u32).to_ne_bytes());
        bytes.extend(a.to_ne_bytes());
        bytes.extend(b.to_ne_bytes());
        bytes.extend(more);
        let _ = self.socket.write_all(&bytes);
        self.number
    }

    fn ask(&mut self, what: Request, a: u64, b: u64, more: &[u8]) -> Result<Answer, Lost> {
        let number = self.tell(what, a, b, more);
        self.hear(number)
    }

    /// Returns the answer to request `number`.
    fn hear(&mut self, number: u64) -> Result<Answer, Lost> {
        let asked = Instant::now();
        let answer = self.heard(number);
        let used = match &answer {
            Ok(answer) => answer.used.saturating_sub(self.used),
            Err(_) => asked.elapsed(),
        };
        self.used += used;
        USED.set(USED.get() + used);
        answer
    }

    fn heard(&mut self, number: u64) -> Result<Answer, Lost> {
        let mut head = [0; 32];
        self.read(&mut head)?;
        let word = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|i| head[at + i]));
        let long = |at: usize| u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| head[at + i]));
        let (status, size) = (word(8), word(12) as usize);
        if long(0) != number || size > TEXT {
            return Err(self.impossible());
        }
        let mut text = vec![0; size];
        self.read(&mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Answer {
            value: long(16),
            used: Duration::from_nanos(long(24)),
            why: (status != 0).then_some(text),
        })
    }

    /// Ends the process, whose answer is impossible.
    fn impossible(&mut self) -> Lost {
        self.trusted = false;
        self.process.end();
        Lost::Crashed("it gave an answer that only the RTL can have written".to_owned())
    }

    /// Returns the number of cycles done since the start.
    fn progress(&self) -> u64 {
        let mut count = [0; 8];
        let read = self.file.read_exact_at(&mut count, 0);
        read.map_or(self.done, |()| u64::from_ne_bytes(count))
    }

    fn read(&mut self, mut to: &mut [u8]) -> Result<(), Lost> {
        let limit = Duration::from_secs(self.limits.seconds);
        let (mut looked, mut waited, mut suspended) = (None, Duration::ZERO, Duration::ZERO);
        let mut before = None;
        while !to.is_empty() {
            match self.socket.read(to) {
                Ok(0) => return Err(self.ended()),
                Ok(count) => {
                    to = &mut to[count..];
                    continue;
                }
                Err(e) => match e.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(self.ended()),
                },
            }
            // Another process that the RTL has started may hold the connection.
            if self.process.gone() {
                return Err(self.ended());
            }
            let [counts, stands] = self
                .process
                .spent(looked.get_or_insert_with(|| self.process.look()));
            let now = Some(self.progress());
            if now != before {
                (before, waited, suspended) = (now, Duration::ZERO, Duration::ZERO);
            }
            (waited, suspended) = (waited + counts, suspended + stands);
            if suspended >= limit {
                self.process.end();
                return Err(Lost::Crashed("a signal suspended it".to_owned()));
            }
            if waited >= limit {
                self.process.end();
                return Err(Lost::Hung(self.limits.seconds));
            }
        }
        Ok(())
    }

    /// Returns how it ended without a further answer.
    fn ended(&mut self) -> Lost {
        match self.process.ended() {
            End::Itself(how) | End::Outside(how) if how != DISCONNECTED => Lost::Crashed(how),
            _ => Lost::Crashed("it closed its connection to the bench".to_owned()),
        }
    }
}

/// A batch of cycles that was sent.
struct Sent {
    number: u64,
    half: u64,
    count: usize,
}

/// Why no further cycle is run.
enum Over {
    /// The RTL stopped the simulation.
    Stopped(String),
    Lost(Lost),
}

/// The result of a cycle.
pub(super) enum Cycle<'a> {
    /// The state of the RTL.
    State(&'a [u8]),
    /// The state of the RTL, and what changed at the falling edge: the states of [`super::Halves`].
    Halves(&'a [u8], [Option<[&'a [u8]; 2]>; 2]),
    /// The RTL has stopped the simulation, now or before.
    Stopped,
    /// The process is lost, now or before.
    Lost,
}

/// One running model.
pub(super) struct Hosted {
    hosts: Arc<Hosts>,
    /// `None` once it is lost or the simulation has ended.
    host: Option<Host>,
    /// The batch that is being filled: its place in the file, pins, expected states, and whether both halves of a cycle are
    /// compared.
    half: u64,
    pins: Vec<u8>,
    expected: Vec<u8>,
    /// The states expected from the falling edge on, by the number of the cycle in the batch.
    after: Vec<(u64, Vec<u8>)>,
    halves: bool,
    /// The path of the last opened dump.
    dump: PathBuf,
    /// Batches without an answer, two at most.
    sent: VecDeque<Sent>,
    /// States that have come, and how many bytes of them were handed on.
    states: Vec<u8>,
    read: usize,
    /// For each of these states what changed at the falling edge, and the states before and after it where something did.
    changes: VecDeque<u8>,
    edges: VecDeque<Vec<u8>>,
    /// The edge that was handed on last.
    edge: Vec<u8>,
    over: Option<Over>,
}

impl Hosted {
    /// Clocks the model with `pins`, at some time; [`Hosted::answer`] returns the results in the same order.
    #[inline]
    pub fn ask(&mut self, pins: &[u8], expected: &[u8], after: Option<&[u8]>) {
        if self.over.is_some() {
            return;
        }
        if let Some(after) = after {
            let cycle = self.pins.len() / self.hosts.shape.input;
            self.after.push((cycle as u64, after.to_owned()));
        }
        self.pins.extend_from_slice(pins);
        self.expected.extend_from_slice(expected);
        if self.pins.len() >= self.hosts.shape.calls() * self.hosts.shape.input {
            self.send();
        }
    }

    /// Sends the batch, if there is anything in it.
    fn send(&mut self) {
        if self.sent.len() > 1 {
            self.receive();
        }
        let Some(host) = self.host.as_mut().filter(|_| !self.pins.is_empty()) else {
            return;
        };
        let count = self.pins.len() / self.hosts.shape.input;
        let [pins, expected, after, _, changes, _] = self.hosts.shape.places(self.half);
        let written = host.file.write_all_at(&self.pins, pins);
        let written = written.and_then(|()| host.file.write_all_at(&self.expected, expected));
        let mut resets = vec![0; count];
        let written = written.and_then(|()| {
            for (cycle, state) in self.after.drain(..) {
                resets[cycle as usize] = 1;
                let at = after + cycle * self.hosts.shape.state as u64;
                host.file.write_all_at(&state, at)?;
            }
            host.file.write_all_at(&resets, changes)
        });
        if let Err(e) = written {
            self.lose(Lost::Crashed(format!("its pins cannot be written: {e}")));
            return;
        }
        let known = !self.expected.is_empty();
        let flags = u64::from(self.halves && known) << 2 | self.half << 1 | u64::from(known);
        let number = host.tell(Request::Clock, flags, count as u64, &[]);
        self.sent.push_back(Sent {
            number,
            half: self.half,
            count,
        });
        self.half ^= 1;
        self.pins.clear();
        self.expected.clear();
    }

    /// Waits for the answer to the oldest batch.
    fn receive(&mut self) {
        let (Some(host), Some(sent)) = (&mut self.host, self.sent.pop_front()) else {
            return;
        };
        let mut answer = host.hear(sent.number);
        let count = sent.count as u64;
        if answer.as_ref().is_ok_and(|a| match a.why {
            None => a.value != count,
            Some(_) => a.value >= count,
        }) {
            answer = Err(host.impossible());
        }
        let done = match &answer {
            Ok(answer) => answer.value,
            Err(_) if !host.trusted => 0,
            // The states of the cycles before the one that ended the process are there.
            Err(_) => host.progress().saturating_sub(host.done),
        };
        host.done += done;
        let done = (done as usize).min(sent.count);
        self.states.drain(..self.read);
        self.read = 0;
        let (old, changed) = (self.states.len(), self.edges.len());
        self.states.resize(old + done * self.hosts.shape.state, 0);
        let [_, _, _, states, changes, edges] = self.hosts.shape.places(sent.half);
        let mut how = vec![0; done];
        let size = 4 * self.hosts.shape.state;
        let read = host.file.read_exact_at(&mut self.states[old..], states);
        let read = read.and_then(|()| host.file.read_exact_at(&mut how, changes));
        let read = read.and_then(|()| {
            for (cycle, _) in how.iter().enumerate().filter(|(_, how)| **how != 0) {
                let mut edge = vec![0; size];
                let at = edges + (cycle * size) as u64;
                host.file.read_exact_at(&mut edge, at)?;
                self.edges.push_back(edge);
            }
            Ok(())
        });
        if let Err(e) = read {
            self.states.truncate(old);
            self.lose(Lost::Crashed(format!("its states cannot be read: {e}")));
            return;
        }
        if how.iter().any(|how| how >> 2 != 0) {
            let lost = host.impossible();
            self.states.truncate(old);
            self.edges.truncate(changed);
            self.lose(lost);
            return;
        }
        self.changes.extend(how);
        match answer {
            Ok(Answer { why: None, .. }) => {}
            Ok(Answer { why: Some(why), .. }) => self.stop(why),
            Err(lost) => self.lose(lost),
        }
    }

    /// Records that the simulation has stopped.
    fn stop(&mut self, why: String) {
        let short = self.hosts.short();
        // The words of `crates/verilate/shim/shim.cpp`; a message of the RTL names its place.
        let over = match why == "out of memory" && !short.is_empty() {
            true => Over::Lost(Lost::Crashed(short)),
            false => Over::Stopped(why),
        };
        self.over.get_or_insert(over);
    }

    fn lose(&mut self, lost: Lost) {
        self.hosts.apart.store(true, Ordering::Relaxed);
        self.host = None;
        self.sent.clear();
        self.over.get_or_insert(Over::Lost(lost));
    }

    /// Returns the result of the next cycle that was asked for; `None` if there is none yet. With `all`, waits for it.
    #[inline]
    pub fn answer(&mut self, all: bool) -> Option<Cycle<'_>> {
        let size = self.hosts.shape.state;
        if self.read == self.states.len() && self.over.is_none() {
            if all {
                self.send();
            }
            if all || self.sent.len() > 1 {
                self.receive();
            }
        }
        if self.read < self.states.len() {
            self.read += size;
            let state = &self.states[self.read - size..self.read];
            let how = self.changes.pop_front().unwrap_or(0);
            if how != 0 {
                self.edge = self.edges.pop_front().unwrap_or_default();
                let both = |now: usize| {
                    let mut states = self.edge.chunks_exact(size).skip(2 * now);
                    let states = [states.next()?, states.next()?];
                    (how >> now & 1 == 1).then_some(states)
                };
                return Some(Cycle::Halves(state, [both(0), both(1)]));
            }
            return Some(Cycle::State(state));
        }
        self.over.as_ref().map(|over| match over {
            Over::Stopped(_) => Cycle::Stopped,
            Over::Lost(_) => Cycle::Lost,
        })
    }

    /// Clocks the model with `pins` and waits for the result. Results that were not asked for are dropped.
    /// Both halves of the cycle are compared with `halves`, which needs `expected`.
    pub fn clock(
        &mut self,
        pins: &[u8],
        expected: Option<&[u8]>,
        after: Option<&[u8]>,
        halves: bool,
    ) -> Cycle<'_> {
        self.settle();
        self.halves = halves;
        self.ask(pins, expected.unwrap_or_default(), after);
        self.send();
        self.halves = true;
        // A cycle that was asked for has a result.
        self.answer(true).unwrap_or(Cycle::Lost)
    }

    /// Clocks the model through `pins`. Returns the checksum of the states that `bare` of `crates/verilate/shim/shim.cpp` computes; `None` once the
    /// RTL has stopped.
    pub fn bare(&mut self, pins: &[u8]) -> Option<u64> {
        self.settle();
        let mut sum = 0u64;
        let mut add = |hosted: &mut Self, all| loop {
            match hosted.answer(all) {
                Some(Cycle::State(state)) => {
                    let mut word = [0; 8];
                    let size = word.len().min(state.len());
                    word[..size].copy_from_slice(&state[..size]);
                    sum = sum.rotate_left(1) ^ u64::from_ne_bytes(word);
                }
                // Nothing is expected.
                Some(Cycle::Halves(..)) => {}
                Some(Cycle::Stopped | Cycle::Lost) => return None,
                None => return Some(sum),
            }
        };
        for pins in pins.chunks_exact(self.hosts.shape.input) {
            self.ask(pins, &[], None);
            add(self, false)?;
        }
        add(self, true)
    }

    /// Waits for all answers, and drops the states.
    fn settle(&mut self) {
        if self.over.is_none() {
            self.send();
        }
        while !self.sent.is_empty() {
            self.receive();
        }
        self.pins.clear();
        self.expected.clear();
        self.after.clear();
        self.states.clear();
        self.read = 0;
        self.changes.clear();
        self.edges.clear();
    }

    /// Asks for anything but cycles.
    fn call(&mut self, what: Request, more: &[u8]) -> Result<u64, String> {
        self.settle();
        let Some(host) = &mut self.host else {
            return Err("the RTL has ended its process".to_owned());
        };
        match host.ask(what, 0, 0, more) {
            Ok(Answer {
                value, why: None, ..
            }) => Ok(value),
            Ok(Answer { why: Some(why), .. }) => Err(why),
            Err(lost) => {
                let why = format!("the RTL has ended its process: {lost}");
                self.lose(lost);
                Err(why)
            }
        }
    }

    fn with_file(&mut self, what: Request, path: &Path) -> Result<(), String> {
        let shown = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        // The other process may have another current folder.
        let file = std::path::absolute(path).map_err(|e| shown(&e))?;
        let text = file.to_str().ok_or_else(|| shown(&"not UTF-8"))?;
        let done = self.call(what, text.as_bytes());
        done.map(|_| ()).map_err(|why| shown(&why))
    }

    pub fn open_vcd(&mut self, path: &Path) -> Result<(), String> {
        self.with_file(Request::OpenVcd, path)?;
        path.clone_into(&mut self.dump);
        Ok(())
    }

    pub fn close_vcd(&mut self) -> Result<(), String> {
        let closed = self.call(Request::CloseVcd, &[]);
        closed
            .map(|_| ())
            .map_err(|why| format!("{}: {why}", self.dump.display()))
    }

    pub fn write_coverage(&mut self, path: &Path) -> Result<(), String> {
        self.with_file(Request::Coverage, path)
    }

    pub fn load(&mut self, state: &[u8]) {
        // If that ends the process or the simulation, the next cycle reports it.
        let _ = self.call(Request::Load, state);
    }

    pub fn no_assert(&mut self) {
        let _ = self.call(Request::NoAssert, &[]);
    }

    /// Returns why the RTL stopped the simulation, if it did.
    pub fn stopped(&self) -> Option<String> {
        match &self.over {
            Some(Over::Stopped(why)) => Some(why.clone()),
            _ => None,
        }
    }

    /// Returns how the process was lost, if it was.
    pub fn lost(&self) -> Option<Lost> {
        match &self.over {
            Some(Over::Lost(lost)) => Some(lost.clone()),
            _ => None,
        }
    }

    /// Ends the simulation: runs the `final` blocks of the RTL.
    pub fn close(&mut self) -> Result<(), Ended> {
        self.settle();
        if let Some(lost) = self.lost() {
            return Err(Ended::Lost(lost));
        }
        let Some(mut host) = self.host.take() else {
            return Ok(());
        };
        match host.ask(Request::Close, 0, 0, &[]) {
            Ok(Answer { why, .. }) => {
                host.process.renew();
                let mut idle = self
                    .hosts
                    .idle
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                idle.push(host);
                why.map_or(Ok(()), |why| Err(Ended::stopped(&why)))
            }
            Err(lost) => {
                self.hosts.apart.store(true, Ordering::Relaxed);
                Err(Ended::lost(lost))
            }
        }
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        // That the process was lost is the failure of a case. Any other message belongs to none, because the case has been judged.
        if self.lost().is_none()
            && let Err(why) = self.close()
        {
            let _ = writeln!(std::io::stderr(), "warning: {why}");
        }
    }
}
