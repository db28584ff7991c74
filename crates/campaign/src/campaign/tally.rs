//! Distributes the chunks of a campaign and adds up their results.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{Drawn, Failed, Limit, MAX_FAILED, Options, Summary};
use crate::cover::Met;

/// A shard of a campaign: every `of`-th chunk, beginning with chunk number `index` - 1. Its text form is `3/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    /// Maximum number of shards of a campaign.
    pub const MAX: u64 = 1_000_000;

    /// Returns shard `index` of `of`.
    ///
    /// # Errors
    /// 1 <= `index` <= `of` <= [`Shard::MAX`] does not hold.
    pub fn new(index: u64, of: u64) -> Result<Self, String> {
        if !(1..=Self::MAX).contains(&of) {
            let most = Self::MAX;
            return Err(format!(
                "the number of shards must be 1 to {most}, not {of}"
            ));
        }
        if !(1..=of).contains(&index) {
            return Err(format!("the shard must be 1 to {of}, not {index}"));
        }
        Ok(Shard { index, of })
    }

    /// Returns the number of the shard, from 1 to [`Shard::of`].
    pub fn index(self) -> u64 {
        self.index
    }

    /// Returns the number of shards; 1: the whole campaign.
    pub fn of(self) -> u64 {
        self.of
    }
}

impl Default for Shard {
    /// Returns the whole campaign.
    fn default() -> Self {
        Shard { index: 1, of: 1 }
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let part = |text: &str| {
            text.parse()
                .map_err(|e| format!("{e}; a shard is e.g. 3/8"))
        };
        let (index, of) = text.split_once('/').ok_or("no /; a shard is e.g. 3/8")?;
        Shard::new(part(index)?, part(of)?)
    }
}

impl TryFrom<String> for Shard {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

/// Cases that run together.
#[derive(Clone)]
pub struct Chunk<C: Drawn> {
    /// Number in the campaign, from 0.
    pub number: u64,
    /// Numbers of the cases that are still to be run.
    pub cases: Range<u64>,
    /// True if some cases were run one by one, because a process was lost in this chunk.
    pub broken: bool,
    /// The failure of RTL that ended a process in this chunk, if no case of the chunk has crashed or hung since.
    pub owed: Option<Failed<C>>,
    /// False if the chunks before it hit all bins of [`Tally::goal`]: its own hits add nothing.
    pub bins: bool,
}

impl<C: Drawn> Chunk<C> {
    /// Returns true if the next case alone ended the process that is owed, and not some case of the whole chunk.
    pub fn next_owes(&self) -> bool {
        let next = self.cases.start;
        let own = |owed: &Failed<C>| owed.number == next && !next.is_multiple_of(C::CHUNK);
        self.owed.as_ref().is_some_and(own)
    }
}

/// The result of consecutive cases of a chunk: of the whole chunk or, if a process was lost, of single cases. Without cases: the
/// RTL ended a process, and the cases run again one by one to find the one to blame; one of them will fail.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Piece<C: Drawn> {
    /// Number of the chunk.
    pub chunk: u64,
    /// Numbers of the cases.
    pub cases: Range<u64>,
    /// Result of the cases; without cases, the failure that is to be found.
    pub summary: Summary<C>,
}

impl<C: Drawn> Piece<C> {
    /// Returns the piece without cases of chunk `chunk`: the RTL ended a process, and `failed` is the next case of the chunk, with
    /// that cause.
    pub fn owed(chunk: u64, failed: Failed<C>) -> Self {
        Piece {
            chunk,
            cases: failed.number..failed.number,
            summary: Summary {
                failures: vec![failed],
                ..Summary::default()
            },
        }
    }
}

/// The chunks of a campaign, or of a shard of it: hands them out in order, takes their results in any order, and adds the
/// results in order.
///
/// A campaign ends with the chunk that reaches the limit, with the first chunk in which [`MAX_LOST`](super::MAX_LOST) cases
/// crashed or hung, with the chunk with which [`MAX_FAILED`] programs have failed or, without `keep_going`, with the first chunk that
/// has a failure. Later chunks do not count.
pub struct Tally<C: Drawn> {
    options: Options,
    shard: Shard,
    started: Instant,
    /// Number of the next chunk to add to `total`.
    next: u64,
    /// Number of the next chunk to hand out, unless it is already done.
    handed: u64,
    /// Number of the first chunk that was not handed out because the time was over.
    late: Option<u64>,
    /// Results of chunks that are done while an earlier chunk is not.
    waiting: BTreeMap<u64, Summary<C>>,
    /// Chunks that are run case by case: the number of the next case, and the result of those before it.
    broken: BTreeMap<u64, (u64, Summary<C>)>,
    /// Chunks in which the RTL ended a process, and in which no case has crashed or hung since.
    owed: BTreeMap<u64, Failed<C>>,
    total: Summary<C>,
    /// Once `total` has all of these bins, chunks need not count theirs. `None`: every chunk counts.
    ///
    /// Only chunks before the one that is handed out are looked at, because they count in any case. So whether a bin of the goal
    /// is in the total does not depend on the order in which chunks are done. Other bins, declared unreachable, may be missing:
    /// `cover` finds those.
    pub goal: Option<Met>,
}

impl<C: Drawn> Tally<C> {
    /// Returns a tally without results.
    pub fn new(options: &Options, shard: Shard) -> Self {
        Tally {
            options: options.clone(),
            shard,
            started: Instant::now(),
            next: shard.index - 1,
            handed: shard.index - 1,
            late: None,
            waiting: BTreeMap::new(),
            broken: BTreeMap::new(),
            owed: BTreeMap::new(),
            total: Summary::default(),
            goal: None,
        }
    }

    /// Returns the cases of chunk `number`, if the campaign or shard has it.
    pub fn cases(&self, number: u64) -> Option<Range<u64>> {
        let first = number.checked_mul(C::CHUNK)?;
        let end = match self.options.limit {
            Limit::Programs(n) => n.min(first.checked_add(C::CHUNK)?),
            _ => first.checked_add(C::CHUNK)?,
        };
        let ours = number % self.shard.of == self.shard.index - 1;
        (ours && first < end).then_some(first..end)
    }

    /// Returns the remaining part of chunk `number`.
    fn chunk(&self, number: u64) -> Option<Chunk<C>> {
        let mut cases = self.cases(number)?;
        let begun = self.broken.get(&number);
        if let Some((next, _)) = begun {
            cases.start = *next;
        }
        Some(Chunk {
            number,
            cases,
            broken: begun.is_some(),
            owed: self.owed.get(&number).cloned(),
            bins: (self.goal.as_ref()).is_none_or(|goal| !self.total.bins.includes(goal)),
        })
    }

    /// Returns true if the limit is reached before chunk `number`, when the chunks before it took `cycles` cycles.
    fn over(&self, number: u64, cycles: u64) -> bool {
        match self.options.limit {
            // Each shard runs its part of the limit, because it does not know the results of the others.
            Limit::Cycles(n) => cycles >= n.div_ceil(self.shard.of),
            Limit::Time(_) => self.late.is_some_and(|late| number >= late),
            Limit::Programs(_) => self.cases(number).is_none(),
        }
    }

    /// Returns the next chunk to run, if there is one.
    pub fn hand_out(&mut self) -> Option<Chunk<C>> {
        if self.finished() {
            return None;
        }
        self.handed = self.handed.max(self.next);
        while self.waiting.contains_key(&self.handed) {
            self.handed += self.shard.of;
        }
        if let Limit::Time(t) = self.options.limit
            && self.handed >= self.shard.of
            && self.started.elapsed() >= t
        {
            self.late.get_or_insert(self.handed);
        }
        let before = || self.waiting.range(..self.handed).map(|(_, s)| s);
        let cycles = before().map(|s| s.compared.cycles).sum::<u64>();
        if before().any(|s| s.ends(&self.options))
            || self.over(self.handed, self.total.compared.cycles + cycles)
        {
            return None;
        }
        let chunk = self.chunk(self.handed)?;
        self.handed += self.shard.of;
        Some(chunk)
    }

    /// Takes the result of cases of a chunk.
    ///
    /// # Errors
    /// Field and reason: the chunk does not belong to this campaign or shard, or is complete; the cases are not the next ones
    /// of the chunk; the number of programs is not the number of cases; the RTL ended a process in the chunk, and no case fails.
    pub fn put(&mut self, piece: Piece<C>) -> Result<(), (&'static str, String)> {
        let (number, cases) = (piece.chunk, piece.cases);
        let Some(chunk) = self.chunk(number) else {
            let why = format!("{number} does not belong to shard {}", self.shard);
            return Err(("chunk", why));
        };
        if self.has(number) {
            return Err(("chunk", format!("{number} is here twice")));
        }
        let Range { start, end } = chunk.cases.clone();
        if cases == (start..start) {
            return self.owe(number, start, piece.summary);
        }
        if cases.start != start || cases.end > end || cases.start >= cases.end {
            let why = format!("{cases:?} of chunk {number}, of which {start}..{end} are left");
            return Err(("cases", why));
        }
        let (programs, most) = (piece.summary.programs, cases.end - cases.start);
        if programs > most || programs < most && !piece.summary.ends(&self.options) {
            let why = format!("{programs} in cases {cases:?} of chunk {number}");
            return Err(("programs", why));
        }
        let over = cases.end == end || piece.summary.ends(&self.options);
        let failures = &piece.summary.failures;
        let lost = failures.iter().any(|failed| failed.failure.lost());
        let before = self.broken.get(&number);
        let before = before.is_some_and(|(_, summary)| !summary.failures.is_empty());
        if over && failures.is_empty() && !before && chunk.owed.is_some() {
            let why =
                format!("the RTL ended a process in chunk {number}, and none of its cases fails");
            return Err(("cases", why));
        }
        // What a case owes by itself is settled by whatever it fails with.
        if over || lost || !failures.is_empty() && chunk.next_owes() {
            self.owed.remove(&number);
        }
        let (mut next, mut summary) = self
            .broken
            .remove(&number)
            .unwrap_or((start, Summary::default()));
        next = next.max(cases.end);
        summary.add(piece.summary);
        if next < end && !summary.ends(&self.options) {
            self.broken.insert(number, (next, summary));
            return Ok(());
        }
        self.waiting.insert(number, summary);
        while !self.finished()
            && let Some(summary) = self.waiting.remove(&self.next)
        {
            self.total.add(summary);
            self.next += self.shard.of;
            let failed = self.total.failures.len();
            // A campaign that has reached its limit leaves nothing out.
            let over = self.over(self.next, self.total.compared.cycles);
            self.total.too_many = (failed >= MAX_FAILED && !over).then_some(failed);
        }
        Ok(())
    }

    /// Takes the piece without cases of chunk `number`, the next case of which is `next`.
    fn owe(
        &mut self,
        number: u64,
        next: u64,
        mut summary: Summary<C>,
    ) -> Result<(), (&'static str, String)> {
        let failed = match (summary.programs, summary.failures.pop()) {
            (0, Some(failed)) if summary.failures.is_empty() => failed,
            _ => return Err(("failures", "not one without cases".to_owned())),
        };
        if failed.number != next || !failed.failure.lost() {
            let why = format!("without cases, and not that case {next} ended its process");
            return Err(("failures", why));
        }
        self.broken
            .entry(number)
            .or_insert_with(|| (next, Summary::default()));
        self.owed.insert(number, failed);
        Ok(())
    }

    /// Returns the failures of RTL that ended a process in a chunk in which no case has crashed or hung since.
    pub fn owed(&self) -> impl Iterator<Item = &Failed<C>> {
        self.owed.values()
    }

    /// Returns true if chunk `number` is complete, even if it waits for an earlier chunk.
    pub fn has(&self, number: u64) -> bool {
        number < self.next || self.waiting.contains_key(&number)
    }

    /// Returns true if the campaign has ended: no more chunks are to be run.
    pub fn finished(&self) -> bool {
        self.total.ends(&self.options) || self.over(self.next, self.total.compared.cycles)
    }

    /// Returns the sum of the chunks so far, up to the first one that is not done.
    pub fn total(&self) -> &Summary<C> {
        &self.total
    }

    /// Does the same as [`Tally::total`], by value.
    pub fn into_total(self) -> Summary<C> {
        self.total
    }

    /// Returns the number of programs of the campaign or shard, if its limit is a number of programs.
    pub fn programs(&self) -> Option<u64> {
        let Limit::Programs(all) = self.options.limit else {
            return None;
        };
        let chunks = all.div_ceil(C::CHUNK);
        let ours = (chunks + self.shard.of - self.shard.index) / self.shard.of;
        // The last chunk may be short, and may belong to another shard.
        let last = chunks.checked_sub(1).and_then(|number| self.cases(number));
        let short = last.map_or(0, |cases| C::CHUNK - (cases.end - cases.start));
        Some(ours.saturating_mul(C::CHUNK) - short)
    }

    /// Returns all known failures in the order of their numbers, including those of incomplete chunks and of chunks that wait
    /// for an earlier one.
    pub fn failures(&self) -> Vec<Failed<C>> {
        let waiting = self.waiting.values();
        let broken = self.broken.values().map(|(_, summary)| summary);
        let all = std::iter::once(&self.total).chain(waiting).chain(broken);
        let mut failures: Vec<_> = all.flat_map(|s| s.failures.iter().cloned()).collect();
        failures.sort_by_key(|failed| failed.number);
        failures
    }
}

/// Takes a piece that a runner has done. Returns false if the chunk or the campaign is over.
pub type Put<'a, C> = &'a mut dyn FnMut(Piece<C>) -> Result<bool, String>;

/// Runs the remaining part of a campaign, `jobs` chunks in parallel, until its end or until `stop` is set. Each job is a
/// thread with its own runner, made by `start`, which delivers the results of its chunk in pieces, in order. Each piece goes
/// to `keep` before it is counted; then `progress` gets the tally. Calls of `keep` and `progress` never overlap. `over` is set
/// at the end, so that runners can abandon cases that no longer count.
///
/// # Errors
/// The first error of a runner or of `keep`. The results of chunks that are running then are lost.
pub fn drive<C: Drawn, R>(
    tally: &mut Tally<C>,
    stop: &AtomicBool,
    over: &AtomicBool,
    start: impl Fn() -> Result<R, String> + Sync,
    keep: impl FnMut(&Piece<C>) -> Result<(), String> + Send,
    progress: impl FnMut(&Tally<C>) + Send,
) -> Result<(), String>
where
    R: FnMut(&Chunk<C>, Put<C>) -> Result<(), String>,
{
    let jobs = tally.options.jobs;
    let shared = Mutex::new((tally, keep, progress, Ok(())));
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let job = || {
        let mut runner = None;
        loop {
            let chunk = {
                let (tally, _, _, result) = &mut *lock();
                if result.is_err() || stop.load(Ordering::Relaxed) {
                    return;
                }
                let Some(chunk) = tally.hand_out() else {
                    return;
                };
                chunk
            };
            let mut put = |piece: Piece<C>| {
                let (tally, keep, progress, result) = &mut *lock();
                if result.is_err() || tally.finished() {
                    return Ok(false);
                }
                let kept = keep(&piece);
                // That a process was lost is known even if it cannot be kept.
                if kept.is_err() && !piece.cases.is_empty() {
                    return kept.map(|()| false);
                }
                tally
                    .put(piece)
                    .map_err(|(field, why)| format!("{field}: {why}"))?;
                kept?;
                progress(tally);
                over.fetch_or(tally.finished(), Ordering::Relaxed);
                // A chunk may be over before its last case.
                Ok(!tally.finished() && !tally.has(chunk.number))
            };
            // A runner may be a process, so it is started only when there is a chunk for it.
            let run = match runner.take() {
                Some(runner) => Ok(runner),
                None => start(),
            };
            let done = run.and_then(|mut run| {
                let done = run(&chunk, &mut put);
                runner = Some(run);
                done
            });
            let (tally, _, _, result) = &mut *lock();
            if let Err(why) = done
                && result.is_ok()
                && !tally.finished()
            {
                *result = Err(why);
                over.store(true, Ordering::Relaxed);
            }
            if result.is_err() || tally.finished() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(job);
        }
    });
    shared
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .3
}
