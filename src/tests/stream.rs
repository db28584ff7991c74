//! Coverage of pin streams of a unit.

use crate::r500::R500;
use reconverge_bench::stream::coverage::Coverage;

/// Regression: the output in a guide showed a mask as one bit.
#[test]
fn a_field_that_is_a_mask_has_a_bit_for_each_lane() {
    let table = Coverage::new::<R500>(12).table::<R500>().to_string();
    let line = |name: &str| {
        let name = format!("  {name} ");
        let found = table.lines().find(|line| line.starts_with(&name));
        found
            .unwrap_or_else(|| panic!("{name}: {table}"))
            .to_owned()
    };
    for (name, bits) in [
        ("pin alu", "0 of 12"),
        ("field active", "0 of 12"),
        ("field pc", "0 of 10"),
    ] {
        assert!(line(name).contains(bits), "{}", line(name));
    }
}
