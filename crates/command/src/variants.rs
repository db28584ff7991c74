//! The builds that `fuzz` tests besides the default one: which, and their models.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use reconverge::design::Build;

use crate::args::{PlaceArgs, Which};
use crate::commands::Commands;
use crate::console::Failure;
use crate::progress::Ticker;
use crate::stop;

impl Which {
    /// Returns the tested variants of `unit`.
    pub fn of(self, unit: &dyn Commands) -> impl Iterator<Item = Build> {
        let most = match self {
            Which::None => 0,
            Which::One => 1,
            Which::All => usize::MAX,
        };
        unit.variants().into_iter().take(most)
    }
}

/// A unit, and one of its variants.
pub type Variant = (&'static dyn Commands, Build);

/// Builds the models of `variants` that do not exist yet, at most `jobs` at once.
///
/// # Errors
/// One cannot be built; the process was told to end.
pub fn build(variants: &[Variant], place: &PlaceArgs, jobs: usize) -> Result<(), Failure> {
    if variants.is_empty() {
        return Ok(());
    }
    let (variants, place) = (variants.to_vec(), place.clone());
    let (count, mut ticker) = (variants.len(), Ticker::new());
    stop::unless_asked(
        move || build_all(&variants, &place, jobs),
        || ticker.tick(|| format!("building models of {count} variants")),
    )?
}

fn build_all(variants: &[Variant], place: &PlaceArgs, jobs: usize) -> Result<(), Failure> {
    let (next, trouble) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        while let Some((unit, build)) = variants.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(why) = unit.prepare(place, build) {
                let mut trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner);
                trouble.get_or_insert(named(why, *unit, build));
                next.store(variants.len(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(variants.len()) {
            scope.spawn(work);
        }
    });
    let trouble = trouble.into_inner().unwrap_or_else(PoisonError::into_inner);
    trouble.map_or(Ok(()), Err)
}

/// Returns `why` with the name of the variant.
fn named(why: Failure, unit: &dyn Commands, build: &Build) -> Failure {
    let of = format!(
        "\nThis is the variant of {} with {build}; --variants none tests none.",
        unit.name()
    );
    match why {
        Failure::Input(mut e) => {
            e.message += &of;
            Failure::Input(e)
        }
        Failure::Other(why) => Failure::Other(why + &of),
    }
}
