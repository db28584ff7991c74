//! Tests of the layers below the units, with a unit as example.

#[cfg(feature = "mutate")]
mod bins;
#[cfg(feature = "mutate")]
#[path = "../tb/common/failed.rs"]
mod failed;
#[cfg(all(feature = "mutate", feature = "linked"))]
mod fuzz;
#[cfg(feature = "mutate")]
mod guide;
#[cfg(feature = "rtl")]
mod judges;
#[cfg(feature = "mutate")]
mod shapes;
#[cfg(feature = "rtl")]
mod shrink;
#[cfg(feature = "rtl")]
mod stream;
#[cfg(feature = "rtl")]
mod table;
