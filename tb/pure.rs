//! Tests of what needs no RTL: assemblers, disassemblers, importers.

#[path = "common/pages.rs"]
mod pages;
#[path = "common/shaders.rs"]
mod sources;
#[path = "common/specification.rs"]
mod specification;

mod citations;
mod explain;
mod layers;
mod r500_alu;
mod r500_shaders;
mod r500_text;
mod r700_import;
mod r700_text;
mod spa5_import;
mod spa5_text;
mod spec_docs;
