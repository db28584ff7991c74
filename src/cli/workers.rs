//! Campaigns in processes of their own: RTL that crashes or hangs takes one of them along, and no result.
//!
//! A worker is this program again (`reconverge worker UNIT`) with a socket as its standard input, over which
//! both sides write lines of JSON: first the [`Job`], then again and again [`Order`]s and what became of
//! them ([`Answer`]). Its standard output, on which RTL may `$display`, is our standard error.
//!
//! When a worker ends or does not answer, its chunk is run again in a fresh one, which now says before each
//! case that it begins. If that one ends too, it was the case, and the campaign goes on behind it.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;

use reconverge::campaign::{Chunk, Limit, Options, Runner, Summary};
use reconverge::dut::{Built, Rtl};
use reconverge::failure::Cause;
use reconverge::unit::Unit;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Agreed, Done, complain, stop};

/// What a worker works on.
#[derive(Clone, Serialize, Deserialize)]
struct Job {
    seed: u64,
    keep_going: bool,
    /// For the cases it saves.
    rtl: Option<PathBuf>,
    built: Built,
}

/// Run these cases.
#[derive(Serialize, Deserialize)]
struct Order {
    cases: Range<u64>,
    /// Tell of each case before and behind it.
    each: bool,
}

/// What a worker says.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
enum Answer<U: Unit> {
    /// This case begins.
    Begins(u64),
    /// What the case that began did, or all that were ordered.
    Did(Box<Summary<U>>),
    /// No model can be opened.
    Cannot(String),
}

fn line(value: &impl Serialize) -> String {
    // Plain data with string keys: nothing in it can fail to serialise.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

fn parsed<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|e| format!("worker: {e}: {line}"))
}

/// The worker's side.
pub fn worker<U: Unit>() -> Done {
    stop::ignored()?;
    let shown = |e: std::io::Error| format!("worker: standard input is not a socket of fuzz: {e}");
    let stdin = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(shown)?;
    let mut answers = UnixStream::from(stdin);
    let mut orders = BufReader::new(answers.try_clone().map_err(shown)?).lines();
    let job = orders
        .next()
        .ok_or_else(|| "worker: no job".to_owned())?
        .map_err(shown)?;
    let job: Job = parsed(&job)?;
    let options = Options {
        seed: job.seed,
        limit: Limit::Programs(u64::MAX),
        jobs: 1,
        keep_going: job.keep_going,
        rtl: job.rtl,
    };
    // A worker whose fuzz is gone is of no use, and ends even while its RTL hangs.
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        for order in orders.map_while(Result::ok) {
            if send.send(order).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    let rtl = Rtl::<U>::from_built(job.built);
    let mut say = |answer: &Answer<U>| {
        // Whoever does not listen any more is gone.
        if answers.write_all(line(answer).as_bytes()).is_err() {
            std::process::exit(0);
        }
    };
    for order in receive {
        let order: Order = parsed(&order)?;
        let opened = rtl.as_ref().map_err(Clone::clone);
        let runner = opened.and_then(|rtl| Runner::open(&options, rtl, order.cases.start));
        let mut runner = match runner {
            Ok(runner) => runner,
            Err(why) => {
                say(&Answer::Cannot(why));
                continue;
            }
        };
        if order.each {
            for case in order.cases {
                say(&Answer::Begins(case));
                say(&Answer::Did(Box::new(runner.run(case))));
            }
        } else {
            say(&Answer::Did(Box::new(runner.run_all(order.cases))));
        }
    }
    Ok(Agreed::Yes)
}

/// A worker, seen from the campaign.
struct Worker {
    child: Child,
    answers: BufReader<UnixStream>,
    timeout: Duration,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It has nothing of its own to bring to an end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This program as it was when it was started, even if it has been built again since.
fn myself() -> Result<PathBuf, String> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() {
        return Ok(running);
    }
    std::env::current_exe().map_err(|e| format!("this program: {e}"))
}

impl Worker {
    fn start<U: Unit>(job: &Job, timeout: Duration) -> Result<Self, String> {
        let shown = |e: std::io::Error| format!("worker: {e}");
        let (ours, theirs) = UnixStream::pair().map_err(shown)?;
        let program = myself()?;
        let child = Command::new(program)
            .args(["worker", U::NAME])
            .stdin(OwnedFd::from(theirs))
            .stdout(std::io::stderr())
            .spawn()
            .map_err(shown)?;
        ours.set_read_timeout(Some(timeout)).map_err(shown)?;
        let mut worker = Worker {
            child,
            answers: BufReader::new(ours),
            timeout,
        };
        // If it is gone already, the first answer fails to come.
        let _ = worker.tell(job);
        Ok(worker)
    }

    fn tell(&mut self, what: &impl Serialize) -> std::io::Result<()> {
        self.answers.get_mut().write_all(line(what).as_bytes())
    }

    /// The next answer; in `Ok(Err)` how the worker ended instead. It has, then.
    fn answer<U: Unit>(&mut self) -> Result<Result<Answer<U>, Cause<U>>, String> {
        let mut text = String::new();
        let read = self.answers.read_line(&mut text);
        if text.ends_with('\n') {
            return Ok(Ok(parsed(&text)?));
        }
        let late =
            |e: std::io::Error| matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
        let hangs = read.is_err_and(late);
        if hangs {
            let _ = self.child.kill();
        }
        let status = self.child.wait().map_err(|e| format!("worker: {e}"))?;
        Ok(Err(if hangs {
            Cause::Hung(self.timeout.as_secs())
        } else {
            Cause::Crashed(status.to_string())
        }))
    }
}

/// Runs chunks in a worker.
pub struct Workers<'a, U: Unit> {
    options: &'a Options,
    rtl: &'a Rtl<U>,
    job: Job,
    timeout: Duration,
    worker: Worker,
}

impl<'a, U: Unit> Workers<'a, U> {
    /// Starts the first. An answer is waited for `timeout` long.
    pub fn start(options: &'a Options, rtl: &'a Rtl<U>, timeout: Duration) -> Result<Self, String> {
        let job = Job {
            seed: options.seed,
            keep_going: options.keep_going,
            rtl: options.rtl.clone(),
            built: rtl.built(),
        };
        let worker = Worker::start::<U>(&job, timeout)?;
        Ok(Workers {
            options,
            rtl,
            job,
            timeout,
            worker,
        })
    }

    fn order(&mut self, cases: Range<u64>, each: bool) {
        // If it is gone, the answer fails to come.
        let _ = self.worker.tell(&Order { cases, each });
    }

    /// What the cases of `chunk` did.
    ///
    /// # Errors
    /// No model can be opened; workers end before they begin.
    pub fn run(&mut self, chunk: &Chunk) -> Result<Summary<U>, String> {
        self.order(chunk.cases.clone(), false);
        let how = match self.worker.answer::<U>()? {
            Ok(Answer::Did(summary)) => return Ok(*summary),
            Ok(Answer::Cannot(why)) => return Err(why),
            Ok(Answer::Begins(_)) => return Err("worker: it tells of what nobody asked".to_owned()),
            Err(Cause::Hung(seconds)) => format!("no answer within {seconds} s"),
            Err(Cause::Crashed(how)) => how,
            Err(_) => unreachable!("a process crashes or hangs"),
        };
        complain(&format!(
            "warning: a worker of {} ended in cases {}..{} ({how}); they are run again one by one",
            U::NAME,
            chunk.cases.start,
            chunk.cases.end - 1
        ));
        self.one_by_one(chunk)
    }

    fn one_by_one(&mut self, chunk: &Chunk) -> Result<Summary<U>, String> {
        let mut total = Summary::default();
        let mut next = chunk.cases.start;
        while next < chunk.cases.end && !total.ends(self.options) {
            self.worker = Worker::start::<U>(&self.job, self.timeout)?;
            self.order(next..chunk.cases.end, true);
            let mut begun = false;
            while next < chunk.cases.end && !total.ends(self.options) {
                match self.worker.answer::<U>()? {
                    Ok(Answer::Begins(_)) => begun = true,
                    Ok(Answer::Did(summary)) => {
                        total.add(*summary);
                        begun = false;
                        next += 1;
                    }
                    Ok(Answer::Cannot(why)) => return Err(why),
                    Err(how) if begun => {
                        let build = self.rtl.build();
                        total.add(Summary::lost(self.options, build, next, how));
                        next += 1;
                        break;
                    }
                    Err(_) => return Err("worker: it ended before it began".to_owned()),
                }
            }
        }
        // One that was left in the middle still works on what it was told.
        self.worker = Worker::start::<U>(&self.job, self.timeout)?;
        Ok(total)
    }
}
