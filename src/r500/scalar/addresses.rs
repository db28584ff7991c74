//! What is known by address: few and small, so a list with a place for each address.

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

    /// As [`ByAddress::get`], to be changed.
    pub(super) fn get_mut(&mut self, pc: u16) -> Option<&mut T> {
        self.0.get_mut(usize::from(pc)).and_then(Option::as_mut)
    }

    /// Gives `pc` a value, whatever it had.
    pub(super) fn insert(&mut self, pc: u16, value: T) {
        *self.place(pc) = Some(value);
    }

    /// Returns the value of `pc`, to be changed: the default, if it had none.
    pub(super) fn of(&mut self, pc: u16) -> &mut T
    where
        T: Default,
    {
        self.place(pc).get_or_insert_default()
    }

    /// Returns the addresses with their values, ascending.
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
