//! What bins tell apart: axes, each a type with a few values, and points, which are values of several axes at once.

use serde::{Deserialize, Serialize};

/// The values of an axis: a type with a few members, each with a name.
pub trait Values: Copy {
    /// Name of the axis.
    const NAME: &'static str;
    /// How many values there are.
    const COUNT: usize;
    /// Names of its values, in the order of their indices.
    fn names() -> Vec<String>;
    /// Index of this value.
    fn index(self) -> usize;
    /// The value with this index.
    fn at(index: usize) -> Self;
}

/// Declares an axis that is an enum of its own: its name, and the name of each value.
///
/// ```
/// use reconverge_campaign::cover::{Values, axis};
///
/// axis! {
///     /// Which way a branch goes.
///     Way "way" {
///         On "on",
///         Back "back",
///     }
/// }
/// assert_eq!((Way::NAME, Way::COUNT, Way::names()[Way::Back.index()].as_str()), ("way", 2, "back"));
/// ```
#[macro_export]
macro_rules! axis {
    ($(#[$doc:meta])* $name:ident $axis:literal { $($variant:ident $text:literal,)+ }) => {
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
    };
}
pub use crate::axis;

/// Declares an axis whose values have numbers, as opcodes and error codes do: how many there are, and the name of each.
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
}
pub use crate::numbered;

/// An axis that is a part of another: the values of `$whole` with the indices from `$first` on.
#[macro_export]
#[doc(hidden)]
macro_rules! part {
    ($(#[$doc:meta])* $name:ident $axis:literal of $whole:ident $first:literal $count:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub $whole);

        impl $name {
            /// `whole`, if it is of this part.
            pub fn of(whole: $whole) -> Option<Self> {
                let index = $crate::cover::Values::index(whole);
                ($first..$first + $count).contains(&index).then_some($name(whole))
            }
        }

        impl $crate::cover::Values for $name {
            const NAME: &'static str = $axis;
            const COUNT: usize = $count;
            fn names() -> Vec<String> {
                $whole::names().into_iter().skip($first).take($count).collect()
            }
            #[inline]
            fn index(self) -> usize {
                self.0.index() - $first
            }
            fn at(index: usize) -> Self {
                $name($whole::at($first + index))
            }
        }
    };
}
pub use crate::part;

/// What stood before an instruction of kind `K`: another, or the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Previous<K>(pub Option<K>);

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
    /// What the unit decided.
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
    /// `n` of `max`. Where two names fit, the first of 0, max, max-1, 1.
    pub fn of(n: usize, max: usize) -> Self {
        match n {
            0 => Level::Empty,
            n if n >= max => Level::Full,
            n if n + 1 == max => Level::AlmostFull,
            1 => Level::One,
            _ => Level::Middle,
        }
    }

    /// Whether a stack of `max` can be so full.
    pub fn exists(self, max: usize) -> bool {
        (0..=max).any(|n| Level::of(n, max) == self)
    }
}

axis! {
    /// What the bench did in a cycle, as far as every unit knows it.
    Pace "clock" {
        Reset "reset",
        StalledReset "reset and stall",
        Stall "stall",
        Valid "instruction valid",
        Starved "no instruction",
    }
}

impl Pace {
    /// Returns what the bench did by three pins, each 0 or 1; the reset is active low.
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
    /// What a unit of one cycle a step is doing.
    Status "status" {
        Fresh "after reset",
        Running "running",
        Done "done",
        Halted "halted",
    }
}

impl Status {
    /// Returns what it is doing by three bits of its state, each 0 or 1, of which one is set at most.
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
    /// How many of a wavefront's lanes.
    Lanes "lanes" {
        None "none",
        One "one",
        Several "several",
        All "all",
    }
}

impl Lanes {
    /// Returns what the lanes of `mask` are of `all`. All of one lane is `All`.
    pub fn of(mask: u64, all: u32) -> Self {
        match mask.count_ones() {
            0 => Lanes::None,
            n if n >= all => Lanes::All,
            1 => Lanes::One,
            _ => Lanes::Several,
        }
    }
}

/// Values of several axes at once: what one bin stands for.
pub trait Point: Copy {
    /// How many there are.
    const COUNT: usize;
    /// The axes.
    fn axes() -> Vec<Axis>;
    /// Index of the bin in its group; the last axis runs fastest.
    fn index(self) -> usize;
    /// The point with this index.
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
                // From the last axis to the first: what is left is divided as it was multiplied.
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
    /// What it tells apart.
    pub name: String,
    /// Names of its values.
    pub values: Vec<String>,
}

/// Name of an axis, and the function that names its values.
type Named = (&'static str, fn() -> Vec<String>);

impl Axis {
    /// The axes of a point. Compiled once, and not for each combination of axes.
    fn all(of: &[Named]) -> Vec<Axis> {
        let axes = of.iter().map(|(name, values)| Axis {
            name: (*name).to_owned(),
            values: values(),
        });
        axes.collect()
    }
}
