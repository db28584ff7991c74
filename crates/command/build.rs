//! Generates the pins and state of the designs of `tb/waves.rs`, `tb/edges.rs`, `tb/formal.rs`, `tb/clocks.rs` and `tb/channels.rs`. Leaves the names of
//! functions out of the command of a release, which are a third of it. Cargo's own `strip` is not applied to a package that the profile has other
//! settings for. With `RECONVERGE_ALL_TOOLS` set, the tests of optional tools are not ignored.

use reconverge_declaration::Declaration;

fn main() {
    println!("cargo:rustc-check-cfg=cfg(in_repository)");
    // A packaged crate has no tests.
    if std::path::Path::new("../../tb").exists() {
        println!("cargo:rustc-cfg=in_repository");
        for design in [
            "waves/flit",
            "waves/pulse",
            "edges/tick",
            "edges/larger",
            "edges/gate",
            "edges/early",
            "edges/shut",
            "formal/pick",
            "clocks/pair",
            "channels/hop",
            "channels/post",
            "channels/relay",
            "channels/spill",
        ] {
            let path = format!("../../tb/{design}/design.toml");
            if let Err(error) = Declaration::generate(&path, "::reconverge") {
                eprintln!("\n{error}\n");
                std::process::exit(1);
            }
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RECONVERGE_ALL_TOOLS");
    println!("cargo:rustc-check-cfg=cfg(all_tools)");
    if std::env::var_os("RECONVERGE_ALL_TOOLS").is_some_and(|set| !set.is_empty()) {
        println!("cargo:rustc-cfg=all_tools");
    }
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|v| v == value);
    if is("PROFILE", "release") && is("DEBUG", "false") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo:rustc-link-arg-bins=-Wl,--strip-all");
    }
}
