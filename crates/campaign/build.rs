//! Tells the crate the id of the engine: a hash of the sources that campaigns of every design depend on or, where they do not lie beside
//! this crate, its version.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "campaign")]
    println!("cargo:rustc-env=RECONVERGE_ENGINE={}", engine()?);
    Ok(())
}

#[cfg(feature = "campaign")]
fn engine() -> Result<String, Box<dyn std::error::Error>> {
    let crates = std::path::PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("..");
    let sources =
        ["bench", "campaign", "declaration", "program"].map(|name| crates.join(name).join("src"));
    if !sources.iter().all(|dir| dir.is_dir()) {
        return Ok(std::env::var("CARGO_PKG_VERSION")?);
    }
    for dir in &sources {
        println!("cargo:rerun-if-changed={}", dir.display());
    }
    Ok(verilate::rust_contents(&sources, std::path::Path::new(""))?)
}
