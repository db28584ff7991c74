//! A limit on the processor time of Verilator and the compilers: some sources keep them busy for hours.

use std::process::{Command, Output};

use crate::error::{Error, io};

/// The variable with the limit in seconds of processor time; 0: no limit.
const VARIABLE: &str = "RECONVERGE_TOOL_SECONDS";

/// The limit without the variable.
const SECONDS: u64 = 600;

/// Runs a program with a limit on its processor time, and on that of each program that it calls. Afterwards it prints how much
/// time all of them took. It leaves no core.
const LIMITED: &str = r#"ulimit -c 0
[ "$1" = 0 ] || ulimit -S -t "$1" 2>/dev/null ||
  echo "RECONVERGE_TOOL_SECONDS: $1 s of processor time are more than the limit of this process, $(ulimit -H -t) s" >&2
shift
"$@"
status=$?
times >&2
exit $status"#;

/// Returns the limit that the variable sets.
fn limit() -> Result<u64, Error> {
    let Some(given) = std::env::var_os(VARIABLE).filter(|given| !given.is_empty()) else {
        return Ok(SECONDS);
    };
    let seconds = given.to_str().and_then(|given| given.parse().ok());
    seconds.ok_or_else(|| {
        let given = given.to_string_lossy();
        Error::Tool(format!("{VARIABLE}: {given:?} must be a number of seconds"))
    })
}

/// Runs `command` to its end, or until it has taken too much processor time. What else the machine does does not count.
///
/// # Errors
/// [`Error::Refused`]: it took too much time. The program cannot be run; the limit is not a number.
pub(crate) fn output(command: &Command) -> Result<Output, Error> {
    within(command, limit()?)
}

fn within(command: &Command, limit: u64) -> Result<Output, Error> {
    let program = command.get_program();
    let mut limited = Command::new("sh");
    limited.args(["-c", LIMITED, "sh", &limit.to_string()]);
    limited.arg(program).args(command.get_args());
    // What the tools say is read, here and by the callers.
    limited.env("LC_ALL", "C");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        limited.current_dir(dir);
    }
    let mut out = limited.output().map_err(io(program.as_ref()))?;
    let took = taken(&mut out.stderr);
    let said = String::from_utf8_lossy(&out.stderr);
    if !out.status.success()
        && limit > 0
        && (names_the_limit(&said) || took.is_some_and(|took| took >= least(limit)))
    {
        let said = said.trim_end();
        return Err(Error::Refused(format!(
            "{} was ended after {limit} s of processor time: a very wide vector or a very large memory takes that long; \
             {VARIABLE} sets another limit, 0 sets none{}{said}",
            program.display(),
            if said.is_empty() { "" } else { "\n" },
        )));
    }
    Ok(out)
}

/// Returns the seconds that a program has taken, by the clock, when the system ends it at `limit`. The system counts by samples,
/// and ends it earlier: 0.90 to 0.95 s were measured for 1 s, on a machine that others use less than 0.65 s.
fn least(limit: u64) -> f64 {
    limit as f64 * 0.9 - 0.25
}

/// Returns whether a shell, a compiler or the script of Verilator says in `said` that the system ended a program at the limit.
fn names_the_limit(said: &str) -> bool {
    // SIGXCPU has the number 24 on Linux and macOS.
    said.contains("CPU time limit exceeded") || said.contains("threw signal 24.")
}

/// Removes the last two lines of `said`, which `times` printed; returns the seconds that the programs took.
fn taken(said: &mut Vec<u8>) -> Option<f64> {
    let text = said.strip_suffix(b"\n")?;
    let last = text.iter().rposition(|b| *b == b'\n')?;
    let first = text[..last].iter().rposition(|b| *b == b'\n');
    // `0m1.25s 0m0.03s`: in the programs, and in the system for them.
    let line = str::from_utf8(&text[last + 1..]).ok()?;
    let seconds = |time: &str| {
        let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
        let seconds: f64 = seconds.replace(',', ".").parse().ok()?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds)
    };
    let took = line.split_whitespace().map(seconds).sum::<Option<f64>>()?;
    said.truncate(first.map_or(0, |first| first + 1));
    Some(took)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// Regression: a vector of a million bits kept `new` busy for as long as Verilator wanted.
    #[test]
    fn a_program_that_does_not_end_is_ended_after_its_processor_time() {
        // Not the first program: Verilator is called by a script.
        let busy = shell("sh -c 'while :; do :; done'; exit 10");
        let why = within(&busy, 1).unwrap_err();
        assert!(why.is_input());
        let why = why.to_string();
        assert!(
            why.starts_with("sh was ended after 1 s of processor time: ")
                && why.contains("; RECONVERGE_TOOL_SECONDS sets another limit, 0 sets none"),
            "{why}"
        );
    }

    /// Regression: a test of the limit failed on a machine that others used.
    #[test]
    fn a_program_that_the_system_ended_early_is_known_by_what_its_caller_says() {
        let ended = [
            "echo 'CPU time limit exceeded' >&2; exit 152",
            "echo '%Error: Verilator threw signal 24. Consider trying --debug --gdbbt' >&2; exit 10",
            "echo 'g++: fatal error: CPU time limit exceeded signal terminated program cc1plus' >&2; exit 1",
        ];
        for script in ended {
            let why = within(&shell(script), 100).unwrap_err().to_string();
            assert!(
                why.starts_with("sh was ended after 100 s of processor time: "),
                "{why}"
            );
        }
        for script in [
            "echo '%Error: Verilator threw signal 11.' >&2; exit 10",
            "echo 'CPU time limit exceeded' >&2",
        ] {
            within(&shell(script), 100).unwrap();
        }
        within(&shell(ended[0]), 0).unwrap();
    }

    #[test]
    fn a_program_within_its_limit_says_and_ends_as_it_does() {
        for limit in [0, 100] {
            let mut command = shell("echo out; echo $MINE >&2; pwd; exit 7");
            command.env("MINE", "err").current_dir("/");
            let ended = within(&command, limit).unwrap();
            assert_eq!(ended.status.code(), Some(7));
            assert_eq!(str::from_utf8(&ended.stdout), Ok("out\n/\n"));
            assert_eq!(str::from_utf8(&ended.stderr), Ok("err\n"));
        }
        let silent = within(&shell("exit 0"), 1).unwrap();
        assert!(silent.status.success() && silent.stderr.is_empty());
        let none = within(&Command::new("/no/such/program"), 1).unwrap();
        assert_eq!(none.status.code(), Some(127));
    }

    /// Regression: all that was said came from the shell.
    #[test]
    fn a_limit_that_cannot_be_set_is_told() {
        let limited = format!("ulimit -t 50; exec sh -c '{LIMITED}' sh 100 echo out");
        let mut ended = shell(&limited).output().unwrap();
        assert!(taken(&mut ended.stderr).is_some());
        assert_eq!(str::from_utf8(&ended.stdout), Ok("out\n"));
        assert_eq!(
            str::from_utf8(&ended.stderr),
            Ok(
                "RECONVERGE_TOOL_SECONDS: 100 s of processor time are more than the limit of this process, 50 s\n"
            )
        );
    }

    #[test]
    fn times_are_read_as_shells_print_them() {
        for (said, seconds, rest) in [
            ("0m0.00s 0m0.00s\n1m2.50s 0m0.25s\n", 62.75, ""),
            ("why\n0m0,001s 0m0,002s\n0m1,500s 0m0,000s\n", 1.5, "why\n"),
        ] {
            let mut said = said.as_bytes().to_vec();
            assert_eq!(taken(&mut said), Some(seconds));
            assert_eq!(said, rest.as_bytes());
        }
        let mut other = b"why\nso\n".to_vec();
        assert_eq!(taken(&mut other), None);
        assert_eq!(other, b"why\nso\n");
    }
}
