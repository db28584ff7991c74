//! What need not be compared: fields while their condition does not hold, and elements from a depth on.

use bytemuck::bytes_of;
#[cfg(feature = "rtl")]
use bytemuck::bytes_of_mut;

#[cfg(feature = "rtl")]
use crate::bins::Operand;
use crate::bins::{Condition, Cycle, holds};
use crate::design::Design;
#[cfg(feature = "rtl")]
use crate::design::Golden;
use crate::field::{Field, Shape};

/// When a field is compared.
#[derive(Clone, Copy, Debug)]
pub enum Compared {
    /// In every cycle.
    Always,
    /// While a condition on the state after a cycle and its pins holds. Otherwise it reads as 0.
    While(Condition),
    /// Its elements below the value of the field with this index. The others read as 0.
    Below(usize),
}

/// Hides what is not compared in the state of a golden model, as the bench top does in that of the RTL: it reads as 0.
#[cfg(feature = "rtl")]
pub(crate) struct Hidden {
    /// The fields that are not always compared, each behind those on which it depends.
    fields: Vec<&'static Field>,
    /// A condition names a pin.
    uses_pins: bool,
}

#[cfg(feature = "rtl")]
impl Hidden {
    /// Returns what hides the fields of `D`.
    pub fn new<D: Design>() -> Self {
        let all = D::fields();
        let mut fields: Vec<&'static Field> = Vec::new();
        let mut left: Vec<&'static Field> = all.iter().filter(|field| hides(field)).collect();
        while !left.is_empty() {
            let free = |field: &Field| {
                let waits = |operand| match operand {
                    Operand::After(n) => left.iter().any(|other| other.offset == all[n].offset),
                    _ => false,
                };
                !field.compared.operands().any(waits)
            };
            let (now, later): (Vec<_>, Vec<_>) = left.iter().partition(|field| free(field));
            // A declaration has no circle; with one, the order is that of the fields.
            let circle = now.is_empty();
            fields.extend(if circle { &later } else { &now });
            left = if circle { Vec::new() } else { later };
        }
        let mut operands = fields.iter().flat_map(|field| field.compared.operands());
        let uses_pins = operands.any(|operand| matches!(operand, Operand::Pin(_)));
        Hidden { fields, uses_pins }
    }

    /// Returns whether it depends on the pins what is hidden.
    pub fn uses_pins(&self) -> bool {
        self.uses_pins
    }

    /// Returns `state`, the one after a cycle with `pins`, without what is hidden in it; `None` if it is 0 already.
    #[inline]
    pub fn hide<D: Design>(&self, state: &D::State, pins: &D::In) -> Option<D::State> {
        match <D::Golden as Golden<D>>::HIDES || self.fields.is_empty() {
            true => None,
            false => self.hide_some::<D>(state, pins),
        }
    }

    /// Does the same if there are such fields. Not inlined: the compiler then copies the result in each cycle even if it is `None`, and that copy
    /// waits for the writes of the one before.
    #[inline(never)]
    fn hide_some<D: Design>(&self, state: &D::State, pins: &D::In) -> Option<D::State> {
        let mut hidden: Option<D::State> = None;
        for field in &self.fields {
            let now = bytes_of(hidden.as_ref().unwrap_or(state));
            // Golden models often return 0 already.
            if is_zero(&now[field.offset..field.offset + field.size()]) {
                continue;
            }
            let used = field.compared.bytes(field, &cycle::<D>(now, pins));
            let unused = field.offset + used..field.offset + field.size();
            if !is_zero(&now[unused.clone()]) {
                let hidden = hidden.get_or_insert(*state);
                bytes_of_mut(hidden)[unused].fill(0);
            }
        }
        hidden
    }
}

/// Looks at all bytes, because that takes less time than to stop at the first that is not 0.
#[cfg(feature = "rtl")]
fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |all, byte| all | byte) == 0
}

/// Returns whether there are cycles in which `field` is not compared.
fn hides(field: &Field) -> bool {
    !matches!(field.compared, Compared::Always)
}

/// Returns the cycle with `pins` that leads to `state`.
fn cycle<'a, D: Design>(state: &'a [u8], pins: &'a D::In) -> Cycle<'a> {
    Cycle {
        declaration: D::DECLARATION,
        before: state,
        pins: bytes_of(pins),
        after: state,
        points: &[],
    }
}

impl Compared {
    /// Returns that on which it depends.
    #[cfg(feature = "rtl")]
    fn operands(self) -> impl Iterator<Item = Operand> {
        let (condition, depth) = match self {
            Compared::Always => (&[] as Condition, None),
            Compared::While(condition) => (condition, None),
            Compared::Below(depth) => (&[] as Condition, Some(Operand::After(depth))),
        };
        let operands = condition.iter().flat_map(|all| all.iter());
        operands.flat_map(|c| [c.left.of, c.right.of]).chain(depth)
    }

    /// Returns how many of the first bytes of `field` are compared in `cycle`.
    fn bytes(self, field: &Field, cycle: &Cycle) -> usize {
        match self {
            Compared::Always => field.size(),
            Compared::While(condition) => match holds(condition, cycle) {
                true => field.size(),
                false => 0,
            },
            Compared::Below(depth) => {
                let depth = cycle.declaration.fields[depth].word(cycle.after, 0);
                let count = depth.min(field.words() as u64) as usize;
                field.size() / field.words() * count
            }
        }
    }
}

/// Counts the cycles in which fields are not compared.
#[derive(Clone, Debug)]
pub struct NotCompared {
    fields: &'static [Field],
    lanes: u32,
    /// Some are not always compared.
    hides: bool,
    /// For each field.
    cycles: Vec<u64>,
}

impl NotCompared {
    /// Returns a counter of the fields of `D` with `lanes` lanes.
    pub fn new<D: Design>(lanes: u32) -> Self {
        NotCompared {
            fields: D::fields(),
            lanes,
            hides: D::fields().iter().any(hides),
            cycles: vec![0; D::fields().len()],
        }
    }

    /// Counts a cycle with `pins` that leads to `state`, in which the bits that are 1 in `free` are not specified. A field with some bits that
    /// are, and a list with an element that is compared, are compared.
    pub fn see<D: Design>(&mut self, pins: &D::In, state: &D::State, free: Option<&D::State>) {
        if !self.hides && free.is_none() {
            return;
        }
        for (field, cycles) in self.fields.iter().zip(&mut self.cycles) {
            let hidden = || {
                let cycle = cycle::<D>(bytes_of(state), pins);
                field.compared.bytes(field, &cycle) == 0
            };
            let bits = match field.shape {
                Shape::Planes(_) => self.lanes,
                Shape::Words { .. } => field.width,
            };
            let bits = u64::MAX >> (64 - bits);
            let open = |free: &D::State| {
                let free = bytes_of(free);
                (0..field.words()).all(|i| field.word(free, i) & bits == bits)
            };
            *cycles += u64::from(hides(field) && hidden() || free.is_some_and(open));
        }
    }

    /// Returns the number of these cycles for each field that has any.
    pub fn cycles(&self) -> impl Iterator<Item = (String, u64)> {
        let fields = self.fields.iter().zip(&self.cycles);
        let fields = fields.filter(|(_, cycles)| **cycles > 0);
        fields.map(|(field, cycles)| (field.name.to_owned(), *cycles))
    }
}
