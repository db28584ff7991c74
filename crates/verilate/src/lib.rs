//! Turns SystemVerilog into a compiled model: `verilator --cc`, then one C++ unit with the [`shim`], then an archive
//! ([`Job::archive`], for the build script) or a shared library ([`Job::library`], at run time).
//!
//! # What a result depends on
//!
//! Results are kept in a [`Store`], in folders named by a hash of everything they were made from. So nothing is built
//! twice, and no stale result is used. The hash covers:
//!
//! * every file that was read. Verilator and the C++ compiler report these files, so included files with any extension from
//!   any folder count. The contents are hashed before and after the build; if they differ, the build is discarded and
//!   repeated. Files that were searched for in folders of the list and not found count too;
//! * settings: parameters, macros and folders of the list, assertions, flags, and the environment variables of the
//!   compilers;
//! * Verilator and the compiler: their paths as found in `PATH`, and size and modification time of programs and headers.
//!
//! Files that RTL reads at run time (`$readmemh`) are not part of a model. System headers are assumed to belong to the
//! compiler.
//!
//! # How a result is looked up
//!
//! The lookup runs no program. The listed files select the possible entries. The manifest of each entry lists the other
//! files it was made from, and these are compared. The outputs of an entry are compared with their SHA-256, so that a
//! damaged entry is built again. Entries and their folder must belong to the user alone, because they are run like
//! programs.
#![forbid(unsafe_code)]

mod compiler;
mod error;
mod filelist;
mod files;
mod interface;
mod limit;
mod manifest;
mod model;
mod owner;
pub mod shim;
mod sources;
mod store;
mod verilator;

pub use compiler::VARIABLES;
pub use error::{Error, Misfit, Part};
pub use filelist::{FileList, macro_name};
pub use files::{program, rust_contents, write_if_changed};
pub use interface::{Edge, Port, Timing, ports, preprocessed, timing, tree};
pub use model::{Archive, Host, Job, Library, RUNTIME, Tools, archive_of_runtime, host};
pub use owner::only_ours;
pub use sources::{Bench, Module, Sources};
pub use store::{Kept, Limits, Store, Usage};

// Re-exported for build scripts that add flags of their own.
pub use cc;
