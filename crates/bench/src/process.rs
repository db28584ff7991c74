//! What the system says of a process. Time limits here count processor time, so that a busy machine gives the same verdicts.

use std::fs;
use std::time::Duration;

/// What a process does at one moment.
pub struct Process {
    /// Its state, as `ps` shows it: `R` if it runs or waits for a processor, `T` if a signal has suspended it.
    pub state: char,
    /// Processor time that it has used.
    pub used: Duration,
}

impl Process {
    /// Returns what process `id` does: its first thread's state, the time of all threads. `None` if there is none, or if the
    /// system has no `/proc`.
    pub fn of(id: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
    }

    /// The fields after the name, which may contain anything (man 5 proc): the state first, then in hundredths of a second
    /// utime and stime.
    fn parse(stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Process {
            state: fields.first()?.chars().next()?,
            used: Duration::from_millis((ticks(11)? + ticks(12)?) * 10),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_anything() {
        let stat = "7 (a) R (b) T 1 7 7 0 -1 0 0 0 0 0 150 25 0 0 20 0 1 0 5 0";
        let process = Process::parse(stat).unwrap();
        assert_eq!(process.state, 'T');
        assert_eq!(process.used, Duration::from_millis(1750));
        assert!(Process::parse("7 (a) R 1").is_none());
    }
}
