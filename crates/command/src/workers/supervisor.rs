//! A worker from the view of its command: a process whose answers are waited for, with a time limit, and that is ended with
//! all processes that it has started.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reconverge::design::Design as _;
use reconverge::dut::process::{Confined, End};
use reconverge::failure::Cause;
use reconverge::worker::out_of_memory;
use serde::Serialize;

use super::protocol::{Job, Ordered, line};

/// Time between two checks of whether the command must stop, while it waits.
const SLICE: Duration = Duration::from_millis(50);
/// Maximum length of an answer: a chunk of cases that all fail needs a hundredth of it.
const LONGEST: usize = 256 << 20;
/// If a worker does not read for this time, sending is given up: the worker is suspended.
const UNREAD: Duration = Duration::from_secs(2);

/// Why there is no answer.
pub enum Lost<C: Ordered> {
    /// The RTL ended the process.
    By(Cause<C::Design>),
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

/// A worker process.
pub struct Worker {
    process: Confined,
    socket: UnixStream,
    /// Bytes received but not processed.
    come: Vec<u8>,
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
    pub fn start<C: Ordered>(job: &Job) -> Result<Self, Lost<C>> {
        let shown = |e: std::io::Error| Lost::Trouble(format!("worker: {e}"));
        let (ours, theirs) = UnixStream::pair().map_err(shown)?;
        let mut command = Command::new(myself().map_err(Lost::Trouble)?);
        command
            .args(["worker", C::Design::NAME, C::NOUN])
            .stdin(Stdio::from(OwnedFd::from(theirs)));
        let short = match job.memory {
            0 => String::new(),
            megabytes => out_of_memory(megabytes),
        };
        let process = Confined::start(command, true, short).map_err(shown)?;
        ours.set_read_timeout(Some(SLICE)).map_err(shown)?;
        ours.set_write_timeout(Some(UNREAD)).map_err(shown)?;
        let mut worker = Worker {
            process,
            socket: ours,
            come: Vec::new(),
        };
        worker.tell(job)?;
        Ok(worker)
    }

    /// Sends a message. If the worker is gone, the missing answer shows it.
    pub fn tell<C: Ordered>(&mut self, what: &impl Serialize) -> Result<(), Lost<C>> {
        let line = line(what).map_err(Lost::Trouble)?;
        self.process.renew();
        match self.socket.write_all(line.as_bytes()) {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                self.end();
                Err(Lost::Suspended)
            }
            _ => Ok(()),
        }
    }

    /// Returns the next line from the worker.
    pub fn hear<C: Ordered>(&mut self, patience: &mut Patience) -> Result<Vec<u8>, Lost<C>> {
        // Time in which this process did not run, as under a scheduler that suspends a whole job, does not
        // count; time in which only the worker was suspended does not count against the RTL, nor does time in which it waited for a
        // processor.
        let mut looked = self.process.look();
        let (mut waited, mut suspended) = (Duration::ZERO, Duration::ZERO);
        let mut searched = 0;
        loop {
            if let Some(at) = self.come[searched..].iter().position(|b| *b == b'\n') {
                let rest = self.come.split_off(searched + at + 1);
                return Ok(std::mem::replace(&mut self.come, rest));
            }
            searched = self.come.len();
            if searched > LONGEST {
                self.end();
                let how = "it gave an impossible answer".to_owned();
                return Err(Lost::By(Cause::Crashed(how)));
            }
            let mut bytes = [0; 64 << 10];
            match self.socket.read(&mut bytes) {
                Ok(0) => return Err(self.ended()),
                Ok(count) => {
                    self.come.extend(&bytes[..count]);
                    looked.at = Instant::now();
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
            let spent = self.process.spent(&mut looked);
            waited += spent[0];
            suspended += spent[1];
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
    fn ended<C: Ordered>(&mut self) -> Lost<C> {
        match self.process.ended() {
            End::Outside(how) => Lost::Killed(how),
            End::Itself(how) => Lost::By(Cause::Crashed(how)),
            End::Disconnected => {
                let how = "it closed its connection to the bench";
                Lost::By(Cause::Crashed(how.to_owned()))
            }
        }
    }

    /// Ends the worker and the processes that it has started.
    pub fn end(&mut self) {
        self.process.end();
    }
}
