//! Handles: numbers that stand for golden models and cases. A handle that was freed, or that stands for something else, is
//! recognised, because no memory is looked up by it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The next handle. No handle is given twice; they look like aligned pointers.
static NEXT: AtomicUsize = AtomicUsize::new(0x10);

/// All that was made and not freed, of one kind.
pub struct Handles<T> {
    /// What a message calls it.
    name: &'static str,
    live: RwLock<BTreeMap<usize, Arc<Mutex<T>>>>,
}

/// Locks what a handle stands for.
pub fn locked<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Handles<T> {
    /// Creates the handles of a kind that messages call `name`.
    pub const fn new(name: &'static str) -> Self {
        Handles {
            name,
            live: RwLock::new(BTreeMap::new()),
        }
    }

    /// Returns a handle for `held`.
    pub fn add(&self, held: T) -> *mut T {
        let handle = NEXT.fetch_add(0x10, Ordering::Relaxed);
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.insert(handle, Arc::new(Mutex::new(held)));
        std::ptr::without_provenance_mut(handle)
    }

    /// Returns what `handle` stands for.
    ///
    /// # Errors
    /// It is null, was freed, or is a handle of another kind.
    pub fn get(&self, handle: *const T) -> Result<Arc<Mutex<T>>, String> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.get(&handle.addr())
            .cloned()
            .ok_or_else(|| self.unknown(handle))
    }

    /// Frees what `handle` stands for; null stands for nothing.
    ///
    /// # Errors
    /// It was freed already, or is a handle of another kind.
    pub fn remove(&self, handle: *const T) -> Result<(), String> {
        if handle.is_null() {
            return Ok(());
        }
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        let freed = live.remove(&handle.addr());
        freed.map(drop).ok_or_else(|| self.unknown(handle))
    }

    fn unknown(&self, handle: *const T) -> String {
        let name = self.name;
        match handle.is_null() {
            true => format!("{name}: a null pointer"),
            false => format!("{name}: the handle of another object, or one that was freed"),
        }
    }
}
