//! The `reconverge` command as a library: [`main`] over a list of designs, its guests.

mod again;
mod args;
mod cache;
mod campaigns;
mod cli;
mod commands;
mod console;
mod convert;
mod cover;
mod doctor;
mod exhaust;
mod explain;
mod failures;
mod found;
mod fuzz;
mod guests;
mod help;
mod junit;
mod kinds;
mod load;
mod merge;
mod mutate;
mod new;
mod options;
mod outcome;
mod page;

mod progress;
mod prove;
mod ran;
#[cfg(feature = "units")]
mod render;
mod report;
mod rtl;
mod run;
mod show;
mod shows;
mod step;
mod stop;
mod streams;
mod summary;
mod variants;
mod version;
mod whole;
mod workers;

pub use cli::main;
pub use commands::{Extra, Guest, guest, pins};
#[cfg(feature = "units")]
pub use render::extra as render;
