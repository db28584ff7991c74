//! Groups of bins that the declaration of a design gives.

use reconverge_bench::bins::{self, Cover};
use reconverge_bench::design::{Build, Design};

use super::{Axis, Declaration, When};

/// Returns whether `design.toml` declares the group. A unit with programs declares the bins of its enums itself.
pub(super) fn is_declared(cover: &Cover) -> bool {
    !cover.of_enum
}

impl Declaration {
    /// Adds the groups of the declaration of `D` that `which` selects, for `build`; returns the first bin of the first one.
    ///
    /// # Panics
    /// There is a group of the same name.
    pub(super) fn add<D: Design>(
        &mut self,
        build: &Build,
        which: impl Fn(&Cover) -> bool,
    ) -> usize {
        let start = self.unreachable.len();
        for cover in D::DECLARATION.covers.iter().filter(|cover| which(cover)) {
            let axis = |axis: &bins::Axis| Axis {
                name: axis.name.to_owned(),
                values: axis
                    .bins
                    .iter()
                    .map(|(name, _)| (*name).to_owned())
                    .collect(),
            };
            let axes = cover.axes.iter().map(axis).collect();
            let first = self.group(When::Sometimes, cover.name, cover.doc, axes);
            for bin in 0..cover.bins() {
                self.unreachable[first + bin] = cover.unreachable::<D>(bin, build);
            }
        }
        start
    }
}
