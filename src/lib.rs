//! Reconverge.

#[cfg(feature = "cli")]
pub mod campaign;
pub mod case;
#[cfg(feature = "rtl")]
pub mod dut;
pub mod environment;
pub mod field;
pub mod input;
#[cfg(feature = "rtl")]
pub mod lockstep;
pub mod r500;
#[cfg(feature = "rtl")]
pub mod report;
pub mod unit;
pub mod watch;
pub mod wave;
