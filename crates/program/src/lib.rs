//! Programs: what a design that executes instructions needs above the bench. It knows no campaign.
//!
//! A design owes a program and its environment, start and classes of lanes ([`program::Programs`]). For that it gets:
//!
//! * cases that are saved and replayed ([`case`]), with the pins of each cycle (`stimulus`), conditions, stalls and noise
//!   ([`environment`]), preloaded states ([`start`]);
//! * the verdict on a case, RTL against golden model and then each lane against itself alone (`judges`, [`judge`]);
//! * a run as text, picture and page ([`show`]);
//! * help for what it brings itself: [`words`] for assemblers, [`generate`] for random programs, [`elf`] and [`import`] for
//!   program files.
//!
//! # Features
//!
//! * `rtl`: the bench, and what needs it.

// The modules of the crate below, as those of this one are named.
#[cfg(feature = "rtl")]
use reconverge_bench::{check, dut, failure, html, lockstep, report, wave};
use reconverge_bench::{design, field, input, json, lanes, place, text};

pub mod case;
pub mod elf;
pub mod environment;
pub mod generate;
pub mod import;
pub mod instructions;
pub mod judge;
#[cfg(feature = "rtl")]
pub mod judges;
pub mod program;
pub mod show;
pub mod start;
#[cfg(feature = "rtl")]
pub mod stimulus;
pub mod watch;
pub mod words;
