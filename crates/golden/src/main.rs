//! Writes the files for a bench in another language: the headers with the structs of pins and state, and the bench tops.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use reconverge_declaration::Declaration;
use reconverge_golden::declarations;

/// The files that do not depend on a unit.
const FILES: [(&str, &str); 2] = [
    (
        "reconverge_golden.h",
        include_str!("../include/reconverge_golden.h"),
    ),
    (
        "reconverge_golden_pkg.sv",
        include_str!("../sv/reconverge_golden_pkg.sv"),
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<_> = env::args().skip(1).collect();
    let [dir] = &args[..] else {
        return Err("usage: reconverge-golden DIR".into());
    };
    let write = |name: &str, text: &str| {
        let path = Path::new(dir).join(name);
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    fs::create_dir_all(dir).map_err(|e| format!("{dir}: {e}"))?;
    for (name, text) in FILES {
        write(name, text)?;
    }
    for (unit, toml) in declarations() {
        let declared = Declaration::parse("design.toml", toml)?;
        write(&format!("reconverge_{unit}.h"), &declared.c_header())?;
        write(
            &format!("{unit}_tb.sv"),
            &declared.bench_top(&declared.probes),
        )?;
    }
    Ok(())
}
