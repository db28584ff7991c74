//! Tests of the layers below that take a unit as an example.

#[cfg(feature = "rtl")]
mod stream;
#[cfg(feature = "rtl")]
mod table;
