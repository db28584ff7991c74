//! Ctrl-C and the signals by which schedulers end jobs.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, TERM_SIGNALS};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// Signals by which a process is told to end. SIGHUP, by which a terminal that goes away does so, only where it is not
/// ignored, as `nohup` has it.
fn signals() -> Vec<i32> {
    let mut signals = TERM_SIGNALS.to_vec();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signal n is bit n - 1. Where this cannot be told, nothing changes.
    if ignored.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 0) {
        signals.push(SIGHUP);
    }
    signals
}

/// Signals within this time of the first say no more than that one: `timeout` and some schedulers send theirs to a process
/// and to its process group, so that it comes twice.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Set once the process has been told to end (SIGINT, SIGTERM, SIGQUIT, SIGHUP). The second such signal, unless it comes
/// together with the first, ends it where it stands, with status 128 + signal.
pub fn asked() -> Result<&'static AtomicBool, String> {
    static STOP: OnceLock<Result<Arc<AtomicBool>, String>> = OnceLock::new();
    let watch = || {
        let (stop, end) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        for signal in signals() {
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&end))?;
            flag::register(signal, Arc::clone(&stop))?;
        }
        let mut first = Signals::new(signals())?;
        std::thread::spawn(move || {
            if first.forever().next().is_some() {
                std::thread::sleep(AT_ONCE);
                end.store(true, Ordering::Relaxed);
            }
        });
        Ok(stop)
    };
    STOP.get_or_init(|| watch().map_err(|e: std::io::Error| format!("signals: {e}")))
        .as_ref()
        .map(|stop| &**stop)
        .map_err(Clone::clone)
}

/// Those signals are for the process above this one.
pub fn ignored() -> Result<(), String> {
    for signal in signals() {
        flag::register(signal, Arc::default()).map_err(|e| format!("signals: {e}"))?;
    }
    Ok(())
}

/// Why there is no result.
pub enum Trouble {
    /// The command is to stop.
    Interrupted,
    /// The bench is at fault.
    Other(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Trouble::Other(why)
    }
}

impl From<Trouble> for super::Failure {
    fn from(trouble: Trouble) -> Self {
        super::Failure::Other(trouble.why())
    }
}

impl Trouble {
    /// What is to be said.
    pub fn why(self) -> String {
        match self {
            Trouble::Interrupted => "interrupted".to_owned(),
            Trouble::Other(why) => why,
        }
    }
}

/// Does `work`, which takes its time and cannot be stopped, in a thread of its own, and does not wait for it once the
/// process has been told to end. `waiting` is called several times a second until it is done.
///
/// # Errors
/// The process has been told to end; signals cannot be watched.
pub fn unless_asked<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    mut waiting: impl FnMut(),
) -> Result<T, Trouble> {
    let stop = asked()?;
    // What is sent is only that the thread has ended: a channel of every `T` would be much to compile.
    let (send, receive) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _ended = send;
        work()
    });
    loop {
        match receive.recv_timeout(Duration::from_millis(50)) {
            Err(mpsc::RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => waiting(),
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(Trouble::Interrupted),
            Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                return match thread.join() {
                    Ok(done) => Ok(done),
                    Err(panic) => resume_unwind(panic),
                };
            }
        }
    }
}
