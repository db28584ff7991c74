//! A process that runs RTL, from the view of the one that has started it: what it prints is shown up to a limit, and it is ended
//! with all processes that the RTL has started.

use std::collections::VecDeque;
use std::io::{ErrorKind, PipeReader, Read, Result, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::repeats::{Repeats, WANTED};
use crate::process::Process;

/// Number of bytes of its output that are shown before [`Confined::renew`].
const SHOWN: usize = 64 << 10;
/// Number of bytes of its output that are kept to determine how it ended.
const TAIL: usize = 4 << 10;
/// Most time that counts between two looks at a process.
const SLICE: Duration = Duration::from_millis(200);

/// What a process writes to its standard output and error: shown on our standard error, up to a limit.
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
    fn state(&self) -> MutexGuard<'_, OutputState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads everything up to the end: the process must never wait for a reader.
    fn take(&self, mut from: PipeReader) {
        let mut bytes = [0; 16 << 10];
        let mut repeats = Repeats::default();
        loop {
            let count = match from.read(&mut bytes) {
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => return self.show(&repeats.end()),
                Ok(count) => count,
            };
            let mut state = self.state();
            state.tail.extend(&bytes[..count]);
            let old = state.tail.len().saturating_sub(TAIL);
            state.tail.drain(..old);
            drop(state);
            self.show(&repeats.pass(&bytes[..count]));
        }
    }

    /// Shows `bytes` up to the limit.
    fn show(&self, bytes: &[u8]) {
        let mut state = self.state();
        let shown = bytes.len().min(state.left);
        state.left -= shown;
        state.hidden += (bytes.len() - shown) as u64;
        if let Some(last) = bytes[..shown].last() {
            state.open = *last != b'\n';
        }
        drop(state);
        // A closed standard error is not a reason to stop.
        let _ = std::io::stderr().write_all(&bytes[..shown]);
    }

    /// Reports suppressed bytes, and shows again up to the limit.
    fn renew(&self) {
        let mut state = self.state();
        let (hidden, open) = (std::mem::take(&mut state.hidden), state.open);
        state.left = SHOWN;
        state.open = false;
        drop(state);
        if hidden > 0 {
            let begin = if open { "\n" } else { "" };
            let _ = writeln!(
                std::io::stderr(),
                "{begin}... {hidden} bytes more of the RTL's output not shown"
            );
        }
    }

    /// Returns whether the last output contains `what`.
    fn tells(&self, what: &str) -> bool {
        let tail: Vec<u8> = self.state().tail.iter().copied().collect();
        String::from_utf8_lossy(&tail).contains(what)
    }
}

/// How a process ended.
pub enum End {
    /// By itself; the status or the signal in words.
    Itself(String),
    /// By a signal that comes from outside when memory (SIGKILL) or processor time (SIGXCPU) runs out; the signal in words.
    Outside(String),
    /// It goes on without its connection.
    Disconnected,
}

/// When it was looked at a process, and the processor time that it had used.
pub struct Looked {
    /// When that was; a caller sets it to now if it hears from the process.
    pub at: Instant,
    used: Duration,
}

/// A process that runs RTL. Dropping it ends it.
pub struct Confined {
    child: Child,
    output: Arc<Output>,
    reader: Option<JoinHandle<()>>,
    /// What to say if its last output is that memory has run out; empty if that cannot be.
    short: String,
    /// The processes of its group were ended: their number may be that of others now.
    group_ended: bool,
}

impl Drop for Confined {
    fn drop(&mut self) {
        self.end();
        self.output.renew();
    }
}

impl Confined {
    /// Starts `command`, whose standard input the caller has set. Its standard error is shown, and so is its standard output if
    /// `both`. `short` says that it has used up its memory; it is empty without a limit.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(mut command: Command, both: bool, short: String) -> Result<Self> {
        let (from, to) = std::io::pipe()?;
        if both {
            command.stdout(to.try_clone()?);
        }
        let child = command
            .stderr(Stdio::from(to))
            .env(WANTED, "1")
            // It is ended together with the processes that the RTL may start.
            .process_group(0)
            .spawn()?;
        let output = Arc::new(Output {
            state: Mutex::default(),
        });
        output.renew();
        let reader = spawn({
            let output = Arc::clone(&output);
            move || output.take(from)
        });
        Ok(Confined {
            child,
            output,
            reader: Some(reader),
            short,
            group_ended: false,
        })
    }

    /// Begins new work: reports output that was not shown, and shows again up to the limit.
    pub fn renew(&self) {
        self.output.renew();
    }

    /// Returns the time since `last` that counts against the RTL, and the time in which a signal suspended it. Time in which it waited for
    /// a processor is neither, nor is time in which this process did not run, as under a scheduler that suspends a whole job.
    pub fn spent(&self, last: &mut Looked) -> [Duration; 2] {
        let slice = last.at.elapsed().min(SLICE);
        last.at = Instant::now();
        let process = Process::of(self.child.id());
        let before = last.used;
        last.used = process.as_ref().map_or(before, |process| process.used);
        match process.map(|process| process.state) {
            Some('T') => [Duration::ZERO, slice],
            Some('R') => [last.used.saturating_sub(before).min(slice), Duration::ZERO],
            _ => [slice, Duration::ZERO],
        }
    }

    /// Begins to measure time for [`Confined::spent`].
    pub fn look(&self) -> Looked {
        Looked {
            at: Instant::now(),
            used: Process::of(self.child.id()).map_or(Duration::ZERO, |process| process.used),
        }
    }

    /// Returns whether it has ended.
    pub fn gone(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Returns how it ended, after its connection has ended; ends it if it goes on.
    pub fn ended(&mut self) -> End {
        // RTL may close file descriptors that are not its own and go on.
        for _ in 0..1000 {
            if let Ok(Some(status)) = self.child.try_wait() {
                self.kill_group();
                self.drain();
                let outside = [Signal::KILL, Signal::XCPU].map(Signal::as_raw);
                let how = self.how(status);
                return match status.signal() {
                    Some(signal) if outside.contains(&signal) => End::Outside(how),
                    _ => End::Itself(how),
                };
            }
            sleep(Duration::from_millis(1));
        }
        self.end();
        End::Disconnected
    }

    /// Describes how it ended, in words that are the same each time.
    fn how(&self, status: ExitStatus) -> String {
        let tells = |what| self.output.tells(what);
        let aborted = status.signal() == Some(Signal::ABORT.as_raw());
        if aborted
            && !self.short.is_empty()
            && (tells("memory allocation of") || tells("bad_alloc"))
        {
            return self.short.clone();
        }
        let status = status.to_string();
        status.trim_end_matches(" (core dumped)").to_owned()
    }

    /// Ends all processes that the RTL has started and left behind.
    fn kill_group(&mut self) {
        if std::mem::replace(&mut self.group_ended, true) {
            return;
        }
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Waits a moment for the last of its output.
    fn drain(&mut self) {
        for _ in 0..200 {
            if self.reader.as_ref().is_none_or(JoinHandle::is_finished) {
                return;
            }
            sleep(Duration::from_millis(1));
        }
    }

    /// Ends it and the processes that it has started; it has no cleanup to do.
    pub fn end(&mut self) {
        // First, because what it has started may go on when it has ended.
        self.kill_group();
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        self.drain();
    }
}
