//! What a design is: the trait through which the bench sees any module that has a golden model. A design needs no program.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter};

use bytemuck::Pod;
use serde::{Deserialize, Serialize};

use crate::field::{Declaration, Field, Parameter};
#[cfg(feature = "rtl")]
use crate::home::Package;
use crate::input::InputError;
use crate::json::map;

/// What a model and its golden are built with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Lanes of the wavefront.
    pub lanes: u32,
    /// Parameters that do not have their default, with their values.
    #[serde(deserialize_with = "map")]
    pub parameters: BTreeMap<String, u32>,
}

impl From<u32> for Build {
    /// So many lanes, every parameter as it is by default.
    fn from(lanes: u32) -> Self {
        Build {
            lanes,
            parameters: BTreeMap::new(),
        }
    }
}

impl Build {
    /// Value of a parameter of `D`; 0 if it has no such.
    pub fn value<D: Design>(&self, name: &str) -> u32 {
        self.parameters.get(name).copied().unwrap_or_else(|| {
            let known = D::PARAMETERS.iter().find(|p| p.name == name);
            known.map_or(0, |p| p.default)
        })
    }

    /// Tells whether it is the build of `D` that no option changes.
    pub fn is_default<D: Design>(&self) -> bool {
        *self == Build::from(D::LANES)
    }

    /// Checks the parameters alone.
    ///
    /// # Errors
    /// One that `D` does not have, a value out of its range.
    pub fn check<D: Design>(&self, file: &str) -> Result<(), InputError> {
        let bad = |why: String| Err(InputError::new(file, 0, "parameter", why));
        for (name, value) in &self.parameters {
            let Some(known) = D::PARAMETERS.iter().find(|p| p.name == name) else {
                let names: Vec<_> = D::PARAMETERS.iter().map(|p| p.name).collect();
                let why = match names[..] {
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

    /// What tells it from the default build of `D`, for names of files: `-lanes33-BRX1`; empty for that one.
    pub fn tag<D: Design>(&self) -> String {
        let lanes = (self.lanes != D::LANES).then(|| format!("-lanes{}", self.lanes));
        let parameters = self.parameters.iter();
        parameters.fold(lanes.unwrap_or_default(), |tag, (name, value)| {
            format!("{tag}-{name}{value}")
        })
    }
}

/// As messages name it: `33 lanes, BRX=1`.
impl Display for Build {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let plural = if self.lanes == 1 { "" } else { "s" };
        write!(f, "{} lane{plural}", self.lanes)?;
        for (name, value) in &self.parameters {
            write!(f, ", {name}={value}")?;
        }
        Ok(())
    }
}

/// The pins that a bench drives by itself. Generated; without such a pin a method does nothing.
pub trait Control: Sized {
    /// Returns the pins with the reset asserted.
    fn reset() -> Self;
    /// Returns whether the reset is asserted.
    fn is_reset(&self) -> bool;
    /// Asserts or releases the stall.
    fn set_stall(&mut self, stall: bool);
    /// Returns whether the design is stalled.
    fn is_stalled(&self) -> bool;
}

/// A design: its declaration, and the structs that were generated from it.
pub trait Design: Copy + Send + Sync + 'static {
    /// What its `design.toml` says.
    const DECLARATION: &'static Declaration;
    /// Name of the folder, and of the command's argument.
    const NAME: &'static str = Self::DECLARATION.name;
    /// Lanes, unless asked for otherwise.
    const LANES: u32 = Self::DECLARATION.lanes;
    /// What its RTL can be built with beside lanes.
    const PARAMETERS: &'static [Parameter] = Self::DECLARATION.parameters;
    /// One cycle's inputs.
    type In: Pod + Default + Debug + Send + Sync + Control;
    /// The state that is compared.
    type State: Pod + Default + PartialEq + Debug + Send + Sync;
    /// The golden model.
    type Golden: Golden<Self>;

    /// The state's fields, in the order of the bench top's mismatch bits.
    fn fields() -> &'static [Field] {
        Self::DECLARATION.fields
    }
    /// Returns what its package has in it of the RTL, if it has some: then a bench need not be told where the RTL lies.
    #[cfg(feature = "rtl")]
    fn package() -> Option<&'static Package> {
        None
    }
}

/// A golden model: what the design must do, one call a cycle.
pub trait Golden<D: Design>: Clone + Send {
    /// A design after reset.
    fn build(build: &Build) -> Self;
    /// A design of `lanes` lanes after reset, every parameter as it is by default.
    fn new(lanes: usize) -> Self {
        Self::build(&Build::from(lanes as u32))
    }
    /// One cycle.
    fn cycle(&mut self, pins: &D::In) -> &D::State;
    /// State after the last cycle.
    fn state(&self) -> &D::State;
    /// Changes pins that were drawn at random into some that the design may be given in the state that it is in. Of what
    /// is legal already nothing may be changed.
    fn constrain(&self, _pins: &mut D::In) {}
    /// The rule by which a cycle with `pins`, from the state as it is now, gives `field` of `element` its
    /// value: its id (`r500-4.3-b`), a space, and what it says. Empty: reports show none.
    fn explain(&self, _pins: &D::In, _field: &str, _element: usize) -> String {
        String::new()
    }
}
