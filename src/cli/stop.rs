//! Ctrl-C and the signals by which schedulers end jobs.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;

/// Set once the process has been told to end (SIGINT, SIGTERM, SIGQUIT). The second such signal ends it
/// where it stands, with status 128 + signal.
pub fn asked() -> Result<&'static AtomicBool, String> {
    static STOP: OnceLock<Result<Arc<AtomicBool>, String>> = OnceLock::new();
    let watch = || {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in TERM_SIGNALS {
            // In this order, so that the first one only sets the flag.
            flag::register_conditional_shutdown(*signal, 128 + signal, Arc::clone(&stop))?;
            flag::register(*signal, Arc::clone(&stop))?;
        }
        Ok(stop)
    };
    STOP.get_or_init(|| watch().map_err(|e: std::io::Error| format!("signals: {e}")))
        .as_ref()
        .map(|stop| &**stop)
        .map_err(Clone::clone)
}

/// Those signals are for the process above this one.
pub fn ignored() -> Result<(), String> {
    for signal in TERM_SIGNALS {
        flag::register(*signal, Arc::default()).map_err(|e| format!("signals: {e}"))?;
    }
    Ok(())
}
