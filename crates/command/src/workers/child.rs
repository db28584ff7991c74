//! The worker's side: executes orders, with RTL that may do anything.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use reconverge::dut::Rtl;
use reconverge::worker::{Desk, Worker};
use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::low_level::exit;

use super::protocol::{Answer, Job, Order, Ordered, line, parsed};
use crate::console::{Done, Status};
use crate::stop;

/// Approximate time between two signs of life of a worker.
const PULSE: Duration = Duration::from_millis(200);

/// The connection to the command above this process.
struct Parent<C: Ordered> {
    /// The socket, and when it was last written.
    socket: Mutex<(UnixStream, Instant)>,
    orders: Mutex<mpsc::Receiver<Order<C>>>,
    stop: Arc<AtomicBool>,
}

impl<C: Ordered> Parent<C> {
    fn lock(&self) -> MutexGuard<'_, (UnixStream, Instant)> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Ordered> Desk<C> for Parent<C> {
    fn say(&self, answer: &Answer<C>) {
        let mut to = self.lock();
        let said = line(answer).map(|line| to.0.write_all(line.as_bytes()));
        // Without a parent that listens, this process has no purpose.
        if !matches!(said, Ok(Ok(()))) {
            exit(3);
        }
        to.1 = Instant::now();
    }

    fn pulse(&self, answer: &dyn Fn() -> Answer<C>) {
        if self.lock().1.elapsed() >= PULSE {
            self.say(&answer());
        }
    }

    fn next(&self) -> Option<Order<C>> {
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.recv().ok()
    }

    fn stop(&self) -> &AtomicBool {
        &self.stop
    }
}

/// Sets the memory limit in megabytes, before any RTL is loaded; 0: none. Also suppresses the core dump, which would be as large.
fn limit(memory: u64) -> Result<(), String> {
    let to = |bytes| Rlimit {
        current: bytes,
        maximum: bytes,
    };
    setrlimit(Resource::Core, to(Some(0))).map_err(|e| format!("worker: {e}"))?;
    if memory == 0 {
        return Ok(());
    }
    let bytes = memory.saturating_mul(1 << 20);
    setrlimit(Resource::Data, to(Some(bytes))).map_err(|e| format!("--memory: {e}"))
}

/// Returns the message that no thread can be started, for which too little memory is the usual reason.
fn no_thread(memory: u64, e: &std::io::Error) -> String {
    let hint = match memory {
        0 => String::new(),
        megabytes => format!("; it may have {megabytes} MB (--memory)"),
    };
    format!("worker: no thread can be started: {e}{hint}")
}

/// Works until the command above it ends; `obey` executes its orders ([`reconverge::worker::obey`]).
pub fn work<C: Ordered>(obey: fn(&mut Worker<'_, C>, Order<C>) -> Answer<C>) -> Done {
    stop::ignored()?;
    let shown =
        |e: std::io::Error| format!("worker: standard input is not a socket of reconverge: {e}");
    let stdin = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(shown)?;
    let socket = UnixStream::from(stdin);
    let mut orders = BufReader::new(socket.try_clone().map_err(shown)?);
    let mut job = Vec::new();
    orders.read_until(b'\n', &mut job).map_err(shown)?;
    if job.is_empty() {
        return Err("worker: no job".to_owned().into());
    }
    let job: Job = parsed(&job)?;
    // RTL may read standard input: it must not read ours.
    File::open("/dev/null")
        .and_then(|null| Ok(rustix::stdio::dup2_stdin(null)?))
        .map_err(|e| format!("worker: /dev/null: {e}"))?;
    limit(job.memory)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (send, receive) = mpsc::channel();
    let reader = std::thread::Builder::new().spawn({
        let stop = Arc::clone(&stop);
        move || {
            for line in orders.split(b'\n').map_while(Result::ok) {
                let sent = match parsed::<Order<C>>(&line) {
                    Ok(Order::Stop) => {
                        stop.store(true, Ordering::Relaxed);
                        true
                    }
                    Ok(order) => send.send(order).is_ok(),
                    Err(_) => false,
                };
                if !sent {
                    break;
                }
            }
            // A worker without a command has no purpose, and ends even while its RTL hangs.
            exit(3);
        }
    });
    let parent = Parent {
        socket: Mutex::new((socket, Instant::now())),
        orders: Mutex::new(receive),
        stop,
    };
    // What is wrong is said to the command, because the end of this process would be blamed on the RTL.
    if let Err(e) = reader {
        parent.say(&Answer::Cannot(no_thread(job.memory, &e)));
        return Ok(Status::Agreed);
    }
    let rtl = match Rtl::from_built(job.built) {
        Ok(rtl) => rtl,
        Err(why) => {
            parent.say(&Answer::Cannot(String::from(why)));
            return Ok(Status::Agreed);
        }
    };
    let mut worker = Worker::new(rtl, &parent, job.memory);
    while let Some(order) = parent.next() {
        let answer = obey(&mut worker, order);
        parent.say(&answer);
    }
    Ok(Status::Agreed)
}
