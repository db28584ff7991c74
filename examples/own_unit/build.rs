//! Generates the structs of pins and state from the declarations.

fn main() {
    for path in [
        "rtl/design.toml",
        "rtl/rpseq/design.toml",
        "rtl/slot/design.toml",
    ] {
        if let Err(e) = declaration::generate(path) {
            eprintln!("\n{e}\n");
            std::process::exit(1);
        }
    }
}
