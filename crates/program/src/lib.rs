//! Support for designs that run programs, one level above the bench. It does not depend on campaigns.
//!
//! A design provides a program type ([`assembly::Assembly`]), its environment, its start states and its lane classes
//! ([`program::Programs`]). The crate then provides:
//!
//! * cases that can be saved and replayed ([`case`]), the pins of each cycle with stalls and noise (`stimulus`), conditions
//!   ([`environment`]) and preloaded states ([`start`]);
//! * the verdict on a case: RTL against golden model, then each lane against the scalar machine (`judges`, [`alone`]);
//! * a run as text, picture and page ([`show`]);
//! * helpers for the design's own code: [`words`] for assemblers, [`mod@layout`] for the fields of instruction words, [`generate`] for random programs, [`elf`], [`import`] and [`foreign`]
//!   for program files.
//!
//! # Features
//!
//! * `rtl`: the bench, and the modules that need it.

pub mod alone;
pub mod assembly;
pub mod case;
pub mod elf;
pub mod environment;
pub mod foreign;
pub mod generate;
pub mod import;
pub mod instructions;
#[cfg(feature = "rtl")]
pub mod judges;
pub mod layout;
pub mod program;
pub mod show;
pub mod start;
#[cfg(feature = "rtl")]
pub mod stimulus;
pub mod watch;
pub mod words;
