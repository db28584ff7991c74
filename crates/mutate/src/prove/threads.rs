//! How threads share the questions of one property.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::mutate::sat::Answer;

/// Threads that have no property of their own left: they take questions of other properties.
#[derive(Default)]
pub(super) struct IdleThreads(AtomicUsize);

impl IdleThreads {
    /// Returns a count of no threads; some may be added later.
    pub const fn none() -> Self {
        IdleThreads(AtomicUsize::new(0))
    }

    /// Adds one thread.
    pub fn give(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one thread, if there is one. Returns whether there was.
    pub fn take(&self) -> bool {
        let less = |threads: usize| threads.checked_sub(1);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// The numbers of questions, or of parts of one, that several threads take one after the other until an answer ends the list.
pub(super) struct Numbers {
    count: usize,
    next: AtomicUsize,
    /// The answer found for one of them; of several, the one that [`rank`] puts first.
    found: Mutex<Option<(usize, Result<Answer, String>)>>,
}

impl Numbers {
    /// Returns all numbers below `count`.
    pub fn below(count: usize) -> Self {
        Numbers {
            count,
            next: AtomicUsize::new(0),
            found: Mutex::new(None),
        }
    }

    /// Takes the next number.
    pub fn next(&self) -> Option<usize> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.count).then_some(number)
    }

    /// Returns how many numbers no thread has taken yet.
    pub fn left(&self) -> usize {
        let next = self.next.load(Ordering::Relaxed);
        self.count.saturating_sub(next)
    }

    /// Ends the list with the answer found for `number`.
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

    /// Returns the answer that ended the list, and its number.
    pub fn found(self) -> Option<(usize, Result<Answer, String>)> {
        self.found
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the rank of an answer, the most important first: an error or a time limit of another thread must not hide a cycle that was found.
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
