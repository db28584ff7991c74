//! Tests of the layers below the units, with a unit as example.

#[cfg(feature = "campaign")]
mod bins;
#[cfg(feature = "campaign")]
#[path = "../tb/common/failed.rs"]
mod failed;
#[cfg(all(feature = "campaign", feature = "linked"))]
mod fuzz;
#[cfg(feature = "campaign")]
mod guide;
#[cfg(feature = "rtl")]
mod judges;
#[cfg(feature = "rtl")]
mod shrink;
#[cfg(feature = "rtl")]
mod stream;
#[cfg(feature = "rtl")]
mod table;
