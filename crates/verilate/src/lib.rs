//! From SystemVerilog to a compiled model: `verilator --cc`, one C++ unit with the shim of `tb/`, and of these an archive
//! ([`Job::archive`], for the build script) or a shared library ([`Job::library`], at run time).
//!
//! # What a result depends on
//!
//! Results lie in a [`Store`], in folders named by a hash of everything they were made from, so that nothing is built
//! twice and nothing stale is used:
//!
//! * every file that was read. Verilator and the C++ compiler are asked which these are, so that an include of any
//!   ending from anywhere counts. The contents are taken before and after the build; if they differ, the build is thrown
//!   away and done again. Files that were looked for in folders of the list and are not there count too;
//! * settings: parameters, macros and folders of the list, assertions, flags, the variables that compilers obey;
//! * Verilator and the compiler: which ones `PATH` leads to, size and time of change of programs and headers.
//!
//! What RTL reads when it runs (`$readmemh`) is no part of a model. System headers are taken to belong to the compiler.
//!
//! # When it is looked up
//!
//! No program is run: the listed files name the entries that may fit, and each remembers in its manifest what else
//! it was made from, which is compared. What it holds is compared with its SHA-256, so that a damaged entry is built
//! again. Entries and their folder belong to the user alone, for they are run as programs are.
#![forbid(unsafe_code)]

mod compiler;
mod error;
mod filelist;
mod files;
mod interface;
mod manifest;
mod model;
mod sources;
mod store;
mod verilator;

pub use compiler::VARIABLES;
pub use error::Error;
pub use filelist::FileList;
pub use files::{program, rust_contents, write_if_changed};
pub use interface::{Port, ports};
pub use model::{Archive, Job, Library, RUNTIME, Tools, archive_of_runtime};
pub use sources::{Bench, Sources};
pub use store::{Kept, Limits, Store, Usage};

// Re-exported for build scripts that add flags of their own.
pub use cc;
