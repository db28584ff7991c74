//! A worker from the view of its command: a process whose answers are waited for, with a time limit, and that is ended with
//! all processes that it has started.

use std::collections::VecDeque;
use std::io::{ErrorKind, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use reconverge::compiled::Compiled;
use reconverge::failure::Cause;
use reconverge::process::Process;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;

use super::super::complain;
use super::out_of_memory;
use super::protocol::{Job, line};

/// Time between two checks of whether the command must stop, while it waits.
const SLICE: Duration = Duration::from_millis(50);
/// Maximum length of an answer: a chunk of cases that all fail needs a hundredth of it.
const LONGEST: usize = 256 << 20;
/// Number of bytes of a worker's output that are shown for each order.
const SHOWN: usize = 64 << 10;
/// Number of bytes of its output that are kept to determine how it ended.
const TAIL: usize = 4 << 10;
/// If a worker does not read for this time, sending is given up: the worker is suspended.
const UNREAD: Duration = Duration::from_secs(2);

/// Why there is no answer.
pub enum Lost<U: Compiled> {
    /// The RTL ended the process.
    By(Cause<U>),
    /// Something outside ended the process, as the kernel does when memory (SIGKILL) or processor time (SIGXCPU) runs out; the
    /// signal in words.
    Killed(String),
    /// A signal suspended the process, which the RTL did not cause.
    Suspended,
    /// The command must stop, or the answer no longer counts.
    Interrupted,
    /// The bench is at fault.
    Trouble(String),
}

/// How long to wait for answers to one order.
pub struct Patience<'a> {
    /// Maximum time without any sign of life.
    pub timeout: Duration,
    /// Set when the command must stop.
    pub stop: &'a AtomicBool,
    /// Time that the worker has after that.
    pub grace: Duration,
    /// Set when the results no longer count.
    pub over: &'a AtomicBool,
    /// When `stop` was first seen set.
    stopped: Option<Instant>,
}

impl<'a> Patience<'a> {
    pub fn new(
        timeout: Duration,
        stop: &'a AtomicBool,
        grace: Duration,
        over: &'a AtomicBool,
    ) -> Self {
        Patience {
            timeout,
            stop,
            grace,
            over,
            stopped: None,
        }
    }

    /// Returns whether it has ended, whatever the worker still sends.
    pub fn over(&mut self) -> bool {
        let stop = self.stop.load(Ordering::Relaxed)
            && self.stopped.get_or_insert_with(Instant::now).elapsed() >= self.grace;
        stop || self.over.load(Ordering::Relaxed)
    }
}

/// What a worker writes to its standard output and error: shown on our standard error, up to a limit.
struct Output {
    state: Mutex<OutputState>,
}

#[derive(Default)]
struct OutputState {
    /// Number of bytes that may still be shown, and of bytes that were suppressed.
    left: usize,
    hidden: u64,
    tail: VecDeque<u8>,
    /// The last byte shown did not end a line.
    open: bool,
}

impl Output {
    fn state(&self) -> std::sync::MutexGuard<'_, OutputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads everything up to the end: a worker must never wait for a reader.
    fn take(&self, mut from: PipeReader) {
        let mut bytes = [0; 16 << 10];
        loop {
            let count = match from.read(&mut bytes) {
                Ok(0) => return,
                Ok(count) => count,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let mut state = self.state();
            let shown = count.min(state.left);
            state.left -= shown;
            state.hidden += (count - shown) as u64;
            if let Some(last) = bytes[..shown].last() {
                state.open = *last != b'\n';
            }
            state.tail.extend(&bytes[..count]);
            let old = state.tail.len().saturating_sub(TAIL);
            state.tail.drain(..old);
            drop(state);
            // A closed standard error is no reason to stop.
            let _ = std::io::stderr().write_all(&bytes[..shown]);
        }
    }

    /// Begins a new order, and reports suppressed bytes.
    fn renew(&self) {
        let mut state = self.state();
        let (hidden, open) = (std::mem::take(&mut state.hidden), state.open);
        state.left = SHOWN;
        state.open = false;
        drop(state);
        if hidden > 0 {
            let begin = if open { "\n" } else { "" };
            complain(&format!(
                "{begin}... {hidden} bytes more of the RTL's output not shown"
            ));
        }
    }

    /// Returns whether the last output contains `what`.
    fn tells(&self, what: &str) -> bool {
        let tail: Vec<u8> = self.state().tail.iter().copied().collect();
        String::from_utf8_lossy(&tail).contains(what)
    }
}

/// A worker process.
pub struct Worker {
    child: Child,
    socket: UnixStream,
    /// Bytes received but not processed.
    come: Vec<u8>,
    output: Arc<Output>,
    reader: Option<JoinHandle<()>>,
    memory: u64,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
        self.output.renew();
    }
}

/// Returns this program as it was when it was started, even if it has been rebuilt since.
fn myself() -> Result<PathBuf, String> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() {
        return Ok(running);
    }
    std::env::current_exe().map_err(|e| format!("this program: {e}"))
}

impl Worker {
    /// Starts a worker for `job`.
    pub fn start<U: Compiled>(job: &Job) -> Result<Self, Lost<U>> {
        let shown = |e: std::io::Error| Lost::Trouble(format!("worker: {e}"));
        let (ours, theirs) = UnixStream::pair().map_err(shown)?;
        let (from, to) = std::io::pipe().map_err(shown)?;
        let child = Command::new(myself().map_err(Lost::Trouble)?)
            .args(["worker", U::NAME])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(to.try_clone().map_err(shown)?)
            .stderr(to)
            // It is ended together with the processes that the RTL may start.
            .process_group(0)
            .spawn()
            .map_err(shown)?;
        ours.set_read_timeout(Some(SLICE)).map_err(shown)?;
        ours.set_write_timeout(Some(UNREAD)).map_err(shown)?;
        let output = Arc::new(Output {
            state: Mutex::default(),
        });
        output.renew();
        let reader = spawn({
            let output = Arc::clone(&output);
            move || output.take(from)
        });
        let mut worker = Worker {
            child,
            socket: ours,
            come: Vec::new(),
            output,
            reader: Some(reader),
            memory: job.memory,
        };
        worker.tell(job)?;
        Ok(worker)
    }

    /// Sends a message. If the worker is gone, the missing answer shows it.
    pub fn tell<U: Compiled>(&mut self, what: &impl Serialize) -> Result<(), Lost<U>> {
        let line = line(what).map_err(Lost::Trouble)?;
        self.output.renew();
        match self.socket.write_all(line.as_bytes()) {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                self.end();
                Err(Lost::Suspended)
            }
            _ => Ok(()),
        }
    }

    /// Returns the next line from the worker.
    pub fn hear<U: Compiled>(&mut self, patience: &mut Patience) -> Result<Vec<u8>, Lost<U>> {
        // Time in which this process did not run, as under a scheduler that suspends a whole job, does not
        // count; time in which only the worker was suspended does not count against the RTL, nor does time in which it waited for a
        // processor.
        let mut looked = Instant::now();
        let (mut waited, mut suspended) = (Duration::ZERO, Duration::ZERO);
        let mut used = Process::of(self.child.id()).map_or(Duration::ZERO, |process| process.used);
        let mut searched = 0;
        loop {
            if let Some(at) = self.come[searched..].iter().position(|b| *b == b'\n') {
                let rest = self.come.split_off(searched + at + 1);
                return Ok(std::mem::replace(&mut self.come, rest));
            }
            searched = self.come.len();
            if searched > LONGEST {
                self.end();
                let how = "it says what no worker says".to_owned();
                return Err(Lost::By(Cause::Crashed(how)));
            }
            let mut bytes = [0; 64 << 10];
            match self.socket.read(&mut bytes) {
                Ok(0) => return Err(self.ended()),
                Ok(count) => {
                    self.come.extend(&bytes[..count]);
                    looked = Instant::now();
                    continue;
                }
                Err(e) => match e.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(self.ended()),
                },
            }
            if patience.over() {
                self.end();
                return Err(Lost::Interrupted);
            }
            let slice = looked.elapsed().min(4 * SLICE);
            looked = Instant::now();
            let process = Process::of(self.child.id());
            let before = used;
            used = process.as_ref().map_or(used, |process| process.used);
            match process.map(|process| process.state) {
                Some('T') => suspended += slice,
                Some('R') => waited += used.saturating_sub(before).min(slice),
                _ => waited += slice,
            }
            if suspended >= patience.timeout {
                self.end();
                return Err(Lost::Suspended);
            }
            if waited >= patience.timeout {
                self.end();
                return Err(Lost::By(Cause::Hung(patience.timeout.as_secs())));
            }
        }
    }

    /// Returns how the worker ended without a further message.
    fn ended<U: Compiled>(&mut self) -> Lost<U> {
        // RTL may close file descriptors that are not its own and go on.
        for _ in 0..100 {
            if let Ok(Some(status)) = self.child.try_wait() {
                self.kill_group();
                self.drain();
                let outside = [Signal::KILL, Signal::XCPU].map(Signal::as_raw);
                if status
                    .signal()
                    .is_some_and(|signal| outside.contains(&signal))
                {
                    return Lost::Killed(self.how(status));
                }
                return Lost::By(Cause::Crashed(self.how(status)));
            }
            sleep(Duration::from_millis(10));
        }
        self.end();
        let how = "it closed its connection to the bench";
        Lost::By(Cause::Crashed(how.to_owned()))
    }

    /// Describes how it ended, in words that are the same each time.
    fn how(&self, status: ExitStatus) -> String {
        let short = self.output.tells("memory allocation of") || self.output.tells("bad_alloc");
        if short && self.memory > 0 {
            return out_of_memory(self.memory);
        }
        let status = status.to_string();
        status.trim_end_matches(" (core dumped)").to_owned()
    }

    /// Ends all processes that the RTL has started and left behind.
    fn kill_group(&self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Waits a moment for the last of its output.
    fn drain(&mut self) {
        for _ in 0..20 {
            if self.reader.as_ref().is_none_or(JoinHandle::is_finished) {
                return;
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Ends the worker and the processes that it has started; it has no cleanup to do.
    pub fn end(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.kill_group();
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        self.drain();
    }
}
