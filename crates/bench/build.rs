//! Tells the crate the target for which models are built.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=RECONVERGE_TARGET={target}");
}
