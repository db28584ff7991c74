//! What the tests of several designs need.

use std::fs;
use std::path::Path;

/// Copies the RTL to `dir`; in its `file` the text `right` becomes `wrong`.
pub fn plant(dir: &Path, file: &str, right: &str, wrong: &str) {
    for folder in ["rpseq", "slot"] {
        fs::create_dir(dir.join(folder)).unwrap();
    }
    let stack = "design.toml rpstack.f rpstack.sv";
    let others =
        "rpseq/design.toml rpseq/rpseq.f rpseq/rpseq.sv slot/design.toml slot/slot.f slot/slot.sv";
    for name in stack.split(' ').chain(others.split(' ')) {
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
