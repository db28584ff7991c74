//! Tests of what needs no RTL: assemblers, disassemblers, importers.

#[path = "common/damage.rs"]
mod damager;
#[path = "common/data.rs"]
mod data;
#[path = "common/pages.rs"]
mod pages;
#[path = "common/shaders.rs"]
mod sources;
#[path = "common/specification.rs"]
mod specification;
#[path = "common/test_unit.rs"]
mod test_unit;

#[cfg(feature = "mutate")]
mod alone;
mod citations;
mod damage;
#[cfg(feature = "mutate")]
mod driven;
mod explain;
#[cfg(feature = "mutate")]
mod forgotten;
mod invariants;
mod r500 {
    mod alu;
    mod shaders;
    mod text;
}
mod r700 {
    mod import;
    mod text;
}
mod spa5 {
    mod import;
    mod text;
}
mod source_files;
mod spec_docs;
mod texts;
