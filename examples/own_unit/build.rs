//! Generates the structs of pins and state from `rtl/design.toml`.

fn main() {
    if let Err(e) = declaration::generate("rtl/design.toml") {
        eprintln!("\n{e}\n");
        std::process::exit(1);
    }
}
