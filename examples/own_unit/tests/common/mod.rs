//! What the tests of both designs need.

use std::fs;
use std::path::Path;

/// Copies the RTL to `dir`; in its `file` the text `right` becomes `wrong`.
pub fn plant(dir: &Path, file: &str, right: &str, wrong: &str) {
    fs::create_dir(dir.join("rpseq")).unwrap();
    let files = "design.toml rpstack.f rpstack.sv rpseq/design.toml rpseq/rpseq.f rpseq/rpseq.sv";
    for name in files.split(' ') {
        let text = fs::read_to_string(own_unit::rtl().join(name)).unwrap();
        assert!(name != file || text.matches(right).count() == 1, "{right}");
        let text = if name == file {
            text.replace(right, wrong)
        } else {
            text
        };
        fs::write(dir.join(name), text).unwrap();
    }
}
