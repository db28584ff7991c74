//! The traits through which the bench sees any module that has a golden model. A design needs no program.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter};
use std::path::PathBuf;

use bytemuck::Pod;
use rand::distr::Bernoulli;
use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::field::{Declaration, Field, MAX_LANES, Parameter};
#[cfg(feature = "rtl")]
use crate::home::Package;
use crate::input::InputError;
use crate::json::map;
use crate::quantity::counted;

/// The lanes and parameters with which RTL and golden model are built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Lanes of the wavefront; of several, all their lanes.
    pub lanes: u32,
    /// Parameters whose values are not the default.
    #[serde(deserialize_with = "map")]
    pub parameters: BTreeMap<String, u32>,
}

impl From<u32> for Build {
    /// Returns the build with `lanes` lanes and default parameters.
    fn from(lanes: u32) -> Self {
        Build {
            lanes,
            parameters: BTreeMap::new(),
        }
    }
}

impl Build {
    /// Returns the value of parameter `name` of `D`.
    ///
    /// # Panics
    /// `D` declares no parameter `name`: a misspelt name would otherwise be a parameter of 0.
    pub fn value<D: Design>(&self, name: &str) -> u32 {
        let known = D::PARAMETERS.iter().find(|p| p.name == name);
        let known = known.unwrap_or_else(|| panic!("{} has no parameter {name}", D::NAME));
        self.parameters.get(name).copied().unwrap_or(known.default)
    }

    /// Tells whether this is the default build of `D`.
    pub fn is_default<D: Design>(&self) -> bool {
        *self == Build::from(D::LANES)
    }

    /// Checks lanes and parameters; `file` names the input with them.
    ///
    /// # Errors
    /// There are not 1 to 64 lanes, or `D` has none and they are not 1; they cannot be divided into the wavefronts; `D` has no such
    /// parameter, or a value is out of range.
    pub fn check<D: Design>(&self, file: &str) -> Result<(), InputError> {
        let bad = |why: String| Err(InputError::new(file, 0, "parameter", why));
        if !(1..=MAX_LANES as u32).contains(&self.lanes) {
            let lanes = self.lanes;
            let why = format!("the number of lanes must be 1 to {MAX_LANES}, not {lanes}");
            return Err(InputError::new(file, 0, "lanes", why));
        }
        if D::DECLARATION.lanes.is_none() && self.lanes != 1 {
            let why = format!("{} has no lanes", D::NAME);
            return Err(InputError::new(file, 0, "lanes", why));
        }
        let wavefronts = D::DECLARATION.wavefronts;
        if !self.lanes.is_multiple_of(wavefronts) {
            let lanes = self.lanes;
            let why = format!(
                "{} has {wavefronts} wavefronts: the number of lanes must be a multiple of {wavefronts}, not {lanes}",
                D::NAME
            );
            return Err(InputError::new(file, 0, "lanes", why));
        }
        for (name, value) in &self.parameters {
            let Some(known) = D::PARAMETERS.iter().find(|p| p.name == name) else {
                let names: Vec<_> = D::PARAMETERS.iter().map(|p| p.name).collect();
                let why = match names[..] {
                    [] if D::DECLARATION.lanes.is_none() => {
                        format!("{} has no parameters and no lanes", D::NAME)
                    }
                    [] => format!("{} has no parameter {name}, only lanes", D::NAME),
                    _ => format!(
                        "{} has no parameter {name}; there are {}",
                        D::NAME,
                        names.join(" ")
                    ),
                };
                return bad(why);
            };
            if let Some(why) = known.refuses(*value) {
                return bad(why);
            }
        }
        Ok(())
    }

    /// Returns a tag for file names that distinguishes this build from the default build of `D`, such as `-lanes33-BRX1`;
    /// empty for the default build.
    pub fn tag<D: Design>(&self) -> String {
        let lanes = (self.lanes != D::LANES).then(|| format!("-lanes{}", self.lanes));
        let parameters = self.parameters.iter();
        parameters.fold(lanes.unwrap_or_default(), |tag, (name, value)| {
            format!("{tag}-{name}{value}")
        })
    }
}

/// Prints the build as messages name it: `33 lanes, BRX=1`.
impl Display for Build {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.lanes, "lane"))?;
        for (name, value) in &self.parameters {
            write!(f, ", {name}={value}")?;
        }
        Ok(())
    }
}

/// The pins that the bench itself drives. Generated; if the design has no such pin, the method does nothing.
pub trait Control: Sized {
    /// Returns the pins with the reset asserted.
    fn reset() -> Self;
    /// Returns whether the reset is asserted.
    fn is_reset(&self) -> bool;
    /// Asserts or releases the stall.
    fn set_stall(&mut self, stall: bool);
    /// Returns whether the design is stalled.
    fn is_stalled(&self) -> bool;
    /// Returns whether an asynchronous reset is asserted.
    fn resets_at_once(&self) -> bool;
}

/// The model on which a case ran, as far as a replay needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Seed of the model.
    pub seed: u32,
    /// Folder of the RTL, an absolute path; `None` for the RTL of the design's package.
    pub rtl: Option<PathBuf>,
    /// Its models check no assertions although they would by default.
    pub no_assert: bool,
    /// Number of the mutant; 0 is none.
    pub mutant: u32,
}

/// A design: its declaration and the structs generated from it.
pub trait Design: Copy + Send + Sync + 'static {
    /// The contents of its `design.toml`.
    const DECLARATION: &'static Declaration;
    /// Name of the design, of its folder, and of the command's argument.
    const NAME: &'static str = Self::DECLARATION.name;
    /// Default number of lanes; 1 for a design without lanes.
    const LANES: u32 = match Self::DECLARATION.lanes {
        Some(lanes) => lanes,
        None => 1,
    };
    /// Parameters of the RTL other than the lanes.
    const PARAMETERS: &'static [Parameter] = Self::DECLARATION.parameters;
    /// The inputs of one cycle.
    type In: Pod + Default + Debug + Send + Sync + Control;
    /// The state that is compared in every cycle.
    type State: Pod + Default + PartialEq + Debug + Send + Sync;
    /// The golden model.
    type Golden: Golden<Self>;

    /// Returns the fields of the state, in the order of the bench top's mismatch bits.
    fn fields() -> &'static [Field] {
        Self::DECLARATION.fields
    }
    /// Returns the package that embeds the RTL, if there is one. A bench then need not be told where the RTL is.
    #[cfg(feature = "rtl")]
    fn package() -> Option<&'static Package> {
        None
    }
}

/// Returns a distribution that is true `n` times in `of`; always, if `n` is more. To make one takes a division, to sample it none.
#[doc(hidden)]
pub fn ratio(n: u32, of: u32) -> Bernoulli {
    Bernoulli::from_ratio(n.min(of), of).unwrap_or_else(|_| unreachable!("{n} of {of}"))
}

/// Random numbers for [`Golden::choose`], always the same for the same seed of the stream.
#[derive(Clone, Debug)]
pub struct Random(Pcg64Mcg);

impl Random {
    /// Returns the random numbers of the stream with this seed.
    pub fn new(seed: u64) -> Self {
        Random(Pcg64Mcg::seed_from_u64(seed ^ 0x6368_6f6f_7365))
    }

    /// Returns a number of 64 bits.
    pub fn number(&mut self) -> u64 {
        self.0.random()
    }

    /// Returns a number below `limit`.
    ///
    /// # Panics
    /// `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.random_range(0..limit)
    }

    /// Returns true in `percent` of 100 calls.
    ///
    /// # Panics
    /// `percent` is more than 100.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.0.random_ratio(percent, 100)
    }

    /// Returns one of `choices`; `None` if there are none.
    pub fn of<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        match choices.len() {
            0 => None,
            n => choices.get(self.0.random_range(0..n)),
        }
    }
}

/// A golden model: the required behaviour of the design, one call per cycle.
pub trait Golden<D: Design>: Clone + Send {
    /// Its states are 0 in what is not compared because of `valid` or `depth`, so no cycle takes the time to hide it.
    const HIDES: bool = false;
    /// Returns a golden model after reset.
    fn build(build: &Build) -> Self;
    /// Returns a golden model of `lanes` lanes after reset, with default parameters.
    fn new(lanes: usize) -> Self {
        Self::build(&Build::from(lanes as u32))
    }
    /// Executes one cycle with `pins` and returns the state after it.
    fn cycle(&mut self, pins: &D::In) -> &D::State;
    /// Returns the state after the last cycle.
    fn state(&self) -> &D::State;
    /// Asserts an asynchronous reset: sets what it sets, without an edge of the clock, and returns the state. `pins` are those of
    /// the cycle, whose edge comes later, by [`Golden::cycle`]. Unless a golden model says otherwise, it is the state after that
    /// cycle: right where the reset reaches everything that is compared.
    fn assert_reset(&mut self, pins: &D::In) -> &D::State {
        self.cycle(pins)
    }
    /// Returns the bits of the state after a cycle with `pins`, which [`Golden::cycle`] or [`Golden::assert_reset`] has returned, that
    /// are not specified in that cycle: a state with a 1 in each of them. They are not compared.
    fn unspecified(&self, _pins: &D::In) -> Option<D::State> {
        None
    }
    /// Changes drawn pins in a way that needs random numbers of its own, such as one of several tags that the design waits for.
    /// Called before [`Golden::constrain`] when a stream is drawn, and never again for that stream.
    fn choose(&self, _pins: &mut D::In, _random: &mut Random) {}
    /// Changes randomly drawn pins into pins that are legal in the present state of the design. Must not change pins that
    /// are legal already.
    fn constrain(&self, _pins: &mut D::In) {}
    /// Returns coverpoint `name` of the declaration before a cycle with `pins` from the present state.
    ///
    /// # Panics
    /// Unless a golden model says otherwise: the declaration has a `[[coverpoint]]` that the model does not give.
    fn coverpoint(&self, name: &str, _pins: &D::In) -> u64 {
        panic!("it has no `fn coverpoint`, and design.toml declares coverpoint {name}")
    }
    /// Returns what compares transactions, of a golden model that speaks in them.
    #[cfg(feature = "rtl")]
    #[doc(hidden)]
    fn board(&mut self) -> Option<&mut dyn crate::transactions::Board<D>> {
        None
    }
    /// Returns the rule that determines the value of element `element` of `field` after a cycle with `pins` from the
    /// present state: its id (`r500-4.3-b`), and behind a space, if there is more to say, its text for these pins. If empty, reports show
    /// no rule. They put the number of the element for `this lane` or `this thread`.
    fn explain(&self, _pins: &D::In, _field: &str, _element: usize) -> String {
        String::new()
    }
}
