//! Axes, which are types with a few values each, and points, which combine values of several axes.

use std::marker::PhantomData;

use reconverge_program::words::{Code, Words};
use serde::{Deserialize, Serialize};

use super::ValueSet;

/// An axis: a type with a few values, each with a name.
pub trait Values: Copy {
    /// Name of the axis.
    const NAME: &'static str;
    /// Number of values.
    const COUNT: usize;
    /// Returns the names of all values, in the order of their indices.
    fn names() -> Vec<String>;
    /// Returns the index of this value.
    fn index(self) -> usize;
    /// Returns the value with this index.
    fn at(index: usize) -> Self;
    /// Returns the set of this value, if `condition` is true; otherwise the empty set.
    #[inline]
    fn when(self, condition: bool) -> ValueSet<Self> {
        ValueSet::new(u64::from(condition) << self.index())
    }
}

/// Declares axes: the name of each, and of its values. An axis is one of these:
///
/// * an enum with these values;
/// * the same with a function `of`, which takes something of a type and returns the value of the first pattern that it matches;
/// * a bit: the names of `false` and `true`;
/// * a part of an enum that is declared here: some of its values, each once, single ones and ranges, in this order. `of` returns
///   `None` for the others;
/// * numbers, like opcodes and error codes: their count, and the name of each ([`numbered!`]). A `;` ends this form, and no other.
///
/// ```
/// use reconverge_campaign::cover::{Values, axis};
///
/// axis! {
///     /// What an instruction does.
///     Kind "instruction" {
///         Plain "ALU",
///         Branch "BR",
///         Jump "JMP",
///         End "END",
///     }
///
///     /// How many lanes take part.
///     Lanes "lanes" of u32 {
///         0 => None "none",
///         1 => One "one",
///         2.. => More "more",
///     }
///
///     /// Whether there is a mask.
///     Masked "masked" of bool ["no", "yes"]
///
///     /// Instructions that may end a block.
///     Leaves "instruction" of Kind [Branch..=Jump, End]
///
///     /// A register.
///     Register "register" 8 |n| format!("r{n}");
/// }
/// assert_eq!((Kind::NAME, Kind::COUNT, Kind::names()[Kind::Jump.index()].as_str()), ("instruction", 4, "JMP"));
/// assert_eq!(Lanes::of(5), Lanes::More);
/// assert_eq!(Masked(true).index(), 1);
/// assert_eq!(Leaves::of(Kind::Plain), None);
/// assert_eq!(Leaves::of(Kind::End).map(|end| (end.0, end.index())), Some((Kind::End, 2)));
/// assert_eq!(Register::names()[3], "r3");
/// ```
#[macro_export]
macro_rules! axis {
    () => {};
    ($(#[$doc:meta])* $name:ident $axis:literal { $($variant:ident $text:literal,)+ } $($rest:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = $text] $variant),+
        }

        impl $crate::cover::Values for $name {
            const NAME: &'static str = $axis;
            const COUNT: usize = [$($text),+].len();
            fn names() -> Vec<String> {
                [$($text),+].map(str::to_owned).to_vec()
            }
            #[inline]
            fn index(self) -> usize {
                self as usize
            }
            fn at(index: usize) -> Self {
                [$($name::$variant),+][index]
            }
        }

        $crate::axis! { $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident $axis:literal of bool [$clear:literal, $set:literal] $($rest:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub bool);

        impl $crate::cover::Values for $name {
            const NAME: &'static str = $axis;
            const COUNT: usize = 2;
            fn names() -> Vec<String> {
                [$clear, $set].map(str::to_owned).to_vec()
            }
            #[inline]
            fn index(self) -> usize {
                self.0.into()
            }
            fn at(index: usize) -> Self {
                $name(index == 1)
            }
        }

        $crate::axis! { $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident $axis:literal of $whole:ident [$($first:ident $(..= $last:ident)?),+] $($rest:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub $whole);

        impl $name {
            const PART: $crate::cover::Part<{ <$whole as $crate::cover::Values>::COUNT }> =
                $crate::cover::Part::new(&[$(&[$whole::$first as u8 $(, $whole::$last as u8)?]),+]);

            /// Returns `whole` as a value of this part, if it is one.
            #[inline]
            pub fn of(whole: $whole) -> Option<Self> {
                Self::PART.has(whole as usize).then_some($name(whole))
            }
        }

        impl $crate::cover::Values for $name {
            const NAME: &'static str = $axis;
            const COUNT: usize = Self::PART.count();
            fn names() -> Vec<String> {
                let names = <$whole as $crate::cover::Values>::names();
                (0..Self::COUNT).map(|n| names[Self::PART.whole(n)].clone()).collect()
            }
            #[inline]
            fn index(self) -> usize {
                Self::PART.index(self.0 as usize)
            }
            fn at(index: usize) -> Self {
                $name(<$whole as $crate::cover::Values>::at(Self::PART.whole(index)))
            }
        }

        $crate::axis! { $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident $axis:literal of $of:ty {
        $($pattern:pat $(if $guard:expr)? => $variant:ident $text:literal,)+
    } $($rest:tt)*) => {
        $crate::axis! { $(#[$doc])* $name $axis { $($variant $text,)+ } }

        impl $name {
            /// Returns the value of the first pattern that `of` matches.
            #[inline]
            pub fn of(of: $of) -> Self {
                match of {
                    $($pattern $(if $guard)? => $name::$variant,)+
                }
            }
        }

        $crate::axis! { $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident $axis:literal $count:literal $names:expr; $($rest:tt)*) => {
        $crate::numbered! { $(#[$doc])* $name $axis $count $names }

        $crate::axis! { $($rest)* }
    };
}
pub use crate::axis;

/// Declares an axis whose values are numbers, like opcodes and error codes: their count, and the name of each.
///
/// ```
/// use reconverge_campaign::cover::{Values, numbered};
///
/// numbered! {
///     /// How a program ended.
///     Ended "ended" 2 |code| ["done", "error"][code].to_owned()
/// }
/// assert_eq!((Ended::COUNT, Ended(1).index(), Ended::names()[1].as_str()), (2, 1, "error"));
/// ```
#[macro_export]
macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident $axis:literal $count:literal $names:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub u8);

        impl $crate::cover::Values for $name {
            const NAME: &'static str = $axis;
            const COUNT: usize = $count;
            fn names() -> Vec<String> {
                let name: fn(usize) -> String = $names;
                (0..$count).map(name).collect()
            }
            #[inline]
            fn index(self) -> usize {
                usize::from(self.0)
            }
            fn at(index: usize) -> Self {
                $name(index as u8)
            }
        }
    };
    // As in `axis!`, another axis could only follow a `;`.
    ($($other:tt)*) => {
        ::core::compile_error! {
            "`numbered!` has one axis, without a `;` behind it; `axis!` has several, those of numbers with a `;` behind each"
        }
    };
}
pub use crate::numbered;

/// The part of an axis of `N` values that an axis of [`axis!`] is.
#[derive(Debug)]
#[doc(hidden)]
pub struct Part<const N: usize> {
    /// For each value of the whole its index in the part; `NO` if it has none.
    places: [u8; N],
    count: usize,
}

/// No index.
const NO: u8 = u8::MAX;

impl<const N: usize> Part<N> {
    /// Returns the part of these values: each alone, or the first and the last of a range.
    pub const fn new(ranges: &[&[u8]]) -> Self {
        let (mut places, mut count, mut n) = ([NO; N], 0, 0);
        while n < ranges.len() {
            let mut value = ranges[n][0];
            while value <= ranges[n][ranges[n].len() - 1] {
                places[value as usize] = count;
                count += 1;
                value += 1;
            }
            n += 1;
        }
        let count = count as usize;
        Part { places, count }
    }

    /// Returns the number of its values.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns whether value `whole` of the whole is in the part.
    #[inline]
    pub const fn has(&self, whole: usize) -> bool {
        self.places[whole] != NO
    }

    /// Returns the index of value `whole` of the whole.
    #[inline]
    pub const fn index(&self, whole: usize) -> usize {
        self.places[whole] as usize
    }

    /// Returns the index in the whole of value `index`.
    pub fn whole(&self, index: usize) -> usize {
        let place = self
            .places
            .iter()
            .position(|place| usize::from(*place) == index);
        place.unwrap_or_else(|| unreachable!("no value {index}"))
    }
}

/// An instruction of a table of words; the last value is a word without a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instruction<C>(usize, PhantomData<C>);

impl<C: Code> Instruction<C> {
    /// Returns the instruction of `word`.
    #[inline]
    pub fn of(word: u32) -> Self {
        Self::at(Words::<C>::number_of(word).unwrap_or(C::TABLE.len()))
    }
}

impl<C: Code> Values for Instruction<C> {
    const NAME: &'static str = "instruction";
    const COUNT: usize = C::TABLE.len() + 1;
    fn names() -> Vec<String> {
        let names = C::TABLE.iter().map(|row| row.name);
        names.chain(["illegal"]).map(str::to_owned).collect()
    }
    #[inline]
    fn index(self) -> usize {
        self.0
    }
    fn at(index: usize) -> Self {
        Instruction(index, PhantomData)
    }
}

/// The kind of the previous instruction; `None`: the launch was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Previous<K>(pub Option<K>);

impl<K> Default for Previous<K> {
    fn default() -> Self {
        Previous(None)
    }
}

impl<K: Values> Values for Previous<K> {
    const NAME: &'static str = "before it";
    const COUNT: usize = K::COUNT + 1;
    fn names() -> Vec<String> {
        std::iter::once("launch".to_owned())
            .chain(K::names())
            .collect()
    }
    #[inline]
    fn index(self) -> usize {
        self.0.map_or(0, |kind| kind.index() + 1)
    }
    fn at(index: usize) -> Self {
        Previous(index.checked_sub(1).map(K::at))
    }
}

axis! {
    /// The decision of the unit.
    Decision "decision" {
        Stay "stay",
        Jump "jump",
    }
}

impl From<bool> for Decision {
    fn from(jump: bool) -> Self {
        if jump { Decision::Jump } else { Decision::Stay }
    }
}

axis! {
    /// How full a stack is.
    Level "level" {
        Empty "0",
        One "1",
        Middle "2..max-2",
        AlmostFull "max-1",
        Full "max",
    }
}

impl Level {
    /// Returns the level of `n` entries of at most `max`. If several apply, the first of 0, max, max-1, 1.
    pub fn of(n: usize, max: usize) -> Self {
        match n {
            0 => Level::Empty,
            n if n >= max => Level::Full,
            n if n + 1 == max => Level::AlmostFull,
            1 => Level::One,
            _ => Level::Middle,
        }
    }

    /// Returns true if a stack of `max` entries can have this level.
    pub fn exists(self, max: usize) -> bool {
        (0..=max).any(|n| Level::of(n, max) == self)
    }
}

axis! {
    /// The action of the bench in a cycle, as far as it is common to all units.
    Pace "bench" {
        Reset "reset",
        StalledReset "reset and stall",
        Stall "stall",
        Valid "instruction valid",
        Starved "no instruction",
    }
}

impl Pace {
    /// Returns the action of the bench from three pins, each 0 or 1. `rst_n` is active low.
    pub fn of(rst_n: u8, stall: u8, inst_valid: u8) -> Self {
        match (rst_n, stall, inst_valid) {
            (0, 0, _) => Pace::Reset,
            (0, ..) => Pace::StalledReset,
            (_, 1, _) => Pace::Stall,
            (.., 1) => Pace::Valid,
            _ => Pace::Starved,
        }
    }
}

axis! {
    /// Status of a unit whose steps take one cycle each.
    Status "status" {
        Fresh "after reset",
        Running "running",
        Done "done",
        Halted "halted",
    }
}

impl Status {
    /// Returns the status from three bits of the state, each 0 or 1. At most one of them is set.
    pub fn of(running: u8, done: u8, halted: u8) -> Self {
        match (running, done, halted) {
            (1, ..) => Status::Running,
            (_, 1, _) => Status::Done,
            (.., 1) => Status::Halted,
            _ => Status::Fresh,
        }
    }
}

axis! {
    /// How many lanes of a wavefront are in a mask.
    Lanes "lanes" {
        None "none",
        One "one",
        Several "several",
        All "all",
    }
}

impl Lanes {
    /// Returns how many of `all` lanes are in `mask`. If `all` is 1, one lane is `All`.
    pub fn of(mask: u64, all: u32) -> Self {
        match mask.count_ones() {
            0 => Lanes::None,
            n if n >= all => Lanes::All,
            1 => Lanes::One,
            _ => Lanes::Several,
        }
    }
}

/// A combination of values of several axes, which has one bin.
pub trait Point: Copy {
    /// Number of combinations.
    const COUNT: usize;
    /// Returns the axes.
    fn axes() -> Vec<Axis>;
    /// Returns the index of the bin in its group; the last axis varies fastest.
    fn index(self) -> usize;
    /// Returns the point with this index.
    fn at(index: usize) -> Self;
}

macro_rules! point {
    ($($axis:ident $value:ident),+) => {
        impl<$($axis: Values),+> Point for ($($axis,)+) {
            const COUNT: usize = 1 $(* $axis::COUNT)+;
            fn axes() -> Vec<Axis> {
                Axis::all(&[$(($axis::NAME, $axis::names)),+])
            }
            #[inline]
            fn index(self) -> usize {
                let ($($value,)+) = self;
                let mut index = 0;
                $(index = index * $axis::COUNT + $value.index();)+
                index
            }
            fn at(index: usize) -> Self {
                // From the last axis to the first: the inverse of `index`.
                let counts = [$($axis::COUNT),+];
                let mut left = index;
                let mut at = [0; [$(stringify!($axis)),+].len()];
                for (place, count) in at.iter_mut().zip(counts).rev() {
                    (*place, left) = (left % count, left / count);
                }
                let [$($value),+] = at;
                ($($axis::at($value),)+)
            }
        }
    };
}
point!(A a);
point!(A a, B b);
point!(A a, B b, C c);
point!(A a, B b, C c, D d);
point!(A a, B b, C c, D d, E e);

/// A dimension of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Name of the axis.
    pub name: String,
    /// Names of the values.
    pub values: Vec<String>,
}

/// Name of an axis, and the function that names its values.
type Named = (&'static str, fn() -> Vec<String>);

impl Axis {
    /// Returns the axes of a point. A separate function, so that it is compiled only once for all combinations of axes.
    fn all(of: &[Named]) -> Vec<Axis> {
        let axes = of.iter().map(|(name, values)| Axis {
            name: (*name).to_owned(),
            values: values(),
        });
        axes.collect()
    }
}
