//! What a design is: the trait through which the bench sees any module that has a golden model. A design needs no program;
//! [`crate::unit::Unit`] is a design that runs programs.

use bytemuck::Pod;

use crate::field::{Declaration, Field, Parameter};

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
    type In: Pod + Default + Send + Sync + Control;
    /// The state that is compared.
    type State: Pod + Default + PartialEq + Send + Sync;

    /// The state's fields, in the order of the bench top's mismatch bits.
    fn fields() -> &'static [Field] {
        Self::DECLARATION.fields
    }
}
