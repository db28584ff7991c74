//! How threads share what there is to ask of one property.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::mutate::sat::Answer;

/// Threads that have no property of their own left to ask: they ask parts of those of others.
#[derive(Default)]
pub(super) struct Spare(AtomicUsize);

impl Spare {
    /// None; there may be some later.
    pub const fn none() -> Self {
        Spare(AtomicUsize::new(0))
    }

    /// One thread more.
    pub fn give(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one, if there is one.
    pub fn take(&self) -> bool {
        let less = |threads: usize| threads.checked_sub(1);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// The numbers of questions, or of parts of one, that several threads ask, one after the other, until one of them ends it.
pub(super) struct Numbers {
    count: usize,
    next: AtomicUsize,
    /// What was found at one of them: what [`rank`] puts first.
    found: Mutex<Option<(usize, Result<Answer, String>)>>,
}

impl Numbers {
    /// All numbers below `count`.
    pub fn below(count: usize) -> Self {
        Numbers {
            count,
            next: AtomicUsize::new(0),
            found: Mutex::new(None),
        }
    }

    /// Takes the next one.
    pub fn next(&self) -> Option<usize> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.count).then_some(number)
    }

    /// How many there are that no thread has begun.
    pub fn left(&self) -> usize {
        let next = self.next.load(Ordering::Relaxed);
        self.count.saturating_sub(next)
    }

    /// Ends it with what was found at `number`.
    pub fn end(&self, number: usize, answer: Result<Answer, String>) {
        self.next.store(self.count, Ordering::Relaxed);
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let before = |(other, known): &(usize, Result<Answer, String>)| {
            (rank(&answer), number) < (rank(known), *other)
        };
        if found.as_ref().is_none_or(before) {
            *found = Some((number, answer));
        }
    }

    /// What ended it, and at which number.
    pub fn found(self) -> Option<(usize, Result<Answer, String>)> {
        self.found
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much an answer says: a cycle that was found is lost to no trouble and no time limit of another thread.
fn rank(answer: &Result<Answer, String>) -> u8 {
    match answer {
        Ok(Answer::Sometimes(_)) => 0,
        Err(_) => 1,
        Ok(Answer::GaveUp) => 2,
        Ok(Answer::Never) => 3,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_cycle_that_is_found_is_lost_to_nothing_that_another_thread_says() {
        let found = || (5, Ok(Answer::Sometimes(HashMap::new())));
        let orders: [[(usize, Result<Answer, String>); 3]; 2] = [
            [
                found(),
                (3, Ok(Answer::GaveUp)),
                (2, Err("interrupted".to_owned())),
            ],
            [
                (2, Err("interrupted".to_owned())),
                (3, Ok(Answer::GaveUp)),
                found(),
            ],
        ];
        for order in orders {
            let numbers = Numbers::below(8);
            assert_eq!(numbers.next(), Some(0));
            for (number, answer) in order {
                numbers.end(number, answer);
            }
            assert_eq!((numbers.next(), numbers.left()), (None, 0));
            assert_eq!(numbers.found(), Some(found()));
        }
    }
}
