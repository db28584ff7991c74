//! Generates the structs of pins and state from the declarations.

use std::path::Path;

fn main() {
    let all = [
        "rtl/design.toml",
        "rtl/axil_regs/design.toml",
        "rtl/axil_transactions/design.toml",
        "rtl/cdc_fifo/design.toml",
        "rtl/lock/design.toml",
        "rtl/rpseq/design.toml",
        "rtl/rpwarps/design.toml",
        "rtl/rr_arb/design.toml",
        "rtl/slot/design.toml",
        "rtl/answers/design.toml",
    ];
    // The guide copies this file, and not every design.
    for path in all.into_iter().filter(|path| Path::new(path).exists()) {
        if let Err(e) = reconverge_declaration::generate(path) {
            eprintln!("\n{e}\n");
            std::process::exit(1);
        }
    }
}
