//! Values by address: there are few small addresses, so a list with a place for each is enough.

/// A value for some addresses of the instruction memory.
#[derive(Clone, Debug)]
pub(super) struct ByAddress<T>(Vec<Option<T>>);

impl<T> Default for ByAddress<T> {
    fn default() -> Self {
        ByAddress(Vec::new())
    }
}

impl<T> ByAddress<T> {
    /// Returns the value of `pc`, if it has one.
    pub(super) fn get(&self, pc: u16) -> Option<&T> {
        self.0.get(usize::from(pc)).and_then(Option::as_ref)
    }

    /// Returns the value of `pc`, if it has one, for modification.
    pub(super) fn get_mut(&mut self, pc: u16) -> Option<&mut T> {
        self.0.get_mut(usize::from(pc)).and_then(Option::as_mut)
    }

    /// Sets the value of `pc`.
    pub(super) fn insert(&mut self, pc: u16, value: T) {
        *self.place(pc) = Some(value);
    }

    /// Returns the value of `pc` for modification; inserts the default if there is none.
    pub(super) fn of(&mut self, pc: u16) -> &mut T
    where
        T: Default,
    {
        self.place(pc).get_or_insert_default()
    }

    /// Returns the addresses with their values, in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, &T)> {
        (0..)
            .zip(&self.0)
            .filter_map(|(pc, value)| Some((pc, value.as_ref()?)))
    }

    fn place(&mut self, pc: u16) -> &mut Option<T> {
        let index = usize::from(pc);
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        &mut self.0[index]
    }
}
