//! Leaves the names of functions out of the command of a release, which are a third of it. Cargo's own `strip` is not applied to
//! a package that the profile has other settings for.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|v| v == value);
    if is("PROFILE", "release") && is("DEBUG", "false") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo:rustc-link-arg-bins=-Wl,--strip-all");
    }
}
