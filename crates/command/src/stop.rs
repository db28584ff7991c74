//! Ctrl-C, and the signals by which schedulers end jobs.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGXFSZ, TERM_SIGNALS};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// Returns the signals that tell a process to end. SIGHUP, sent when a terminal goes away, is included only if it is not
/// ignored, as it is under `nohup`.
fn signals() -> Vec<i32> {
    let mut signals = TERM_SIGNALS.to_vec();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signal n is bit n - 1. If this cannot be determined, nothing changes.
    if ignored.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 0) {
        signals.push(SIGHUP);
    }
    signals
}

/// Signals within this time of the first count as the same one: `timeout` and some schedulers send theirs both to a process
/// and to its process group, so that it arrives twice.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Returns a flag that is set once the process has been told to end (SIGINT, SIGTERM, SIGQUIT, SIGHUP). The second such signal,
/// unless it arrives together with the first, ends the process at once, with status 128 + signal.
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

/// Ignores these signals, which are for the process above this one.
pub fn ignored() -> Result<(), String> {
    for signal in signals() {
        flag::register(signal, Arc::default()).map_err(|e| format!("signals: {e}"))?;
    }
    Ok(())
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) an error with a message, as on a full disk. By default it ends
/// the process, and with it what it has found.
pub fn files_may_be_limited() -> Result<(), String> {
    let registered = flag::register(SIGXFSZ, Arc::default());
    registered.map(|_| ()).map_err(|e| format!("signals: {e}"))
}

/// Why there is no result.
pub enum Trouble {
    /// The process was told to end.
    Interrupted,
    /// The bench is at fault.
    Other(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Trouble::Other(why)
    }
}

impl From<Trouble> for crate::console::Failure {
    fn from(trouble: Trouble) -> Self {
        crate::console::Failure::Other(trouble.why())
    }
}

impl Trouble {
    /// Returns the message.
    pub fn why(self) -> String {
        match self {
            Trouble::Interrupted => "interrupted".to_owned(),
            Trouble::Other(why) => why,
        }
    }
}

/// Does `work`, which takes long and cannot be stopped, in a separate thread, and does not wait for it once the
/// process has been told to end. `waiting` is called several times a second until it is done.
///
/// # Errors
/// The process has been told to end; signals cannot be watched.
pub fn unless_asked<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    mut waiting: impl FnMut(),
) -> Result<T, Trouble> {
    let stop = asked()?;
    // The channel only reports that the thread has ended: a channel for each `T` would take long to compile.
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
