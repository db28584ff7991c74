//! Limits, each at N and N + 1.

use super::*;

#[test]
fn a_program_has_at_most_16384_bundles() {
    let full = "X\n".repeat(3 * MAX_BUNDLES);
    let p = program(&full);
    assert_eq!(p.words.len(), 4 * MAX_BUNDLES);
    assert_eq!(assemble(&program_text(&p), "t.s").unwrap(), p);
    assert_eq!(parse_hex(&hex_text(&p), "t.hex").unwrap(), p);
    let message = "program: has more than 16384 bundles: this is the first word too many";
    for more in ["X", ".control 0x0", ".word 0x0", "/* 0x0000000000000000 */"] {
        let e = refused(&format!("{full}{more}")).to_string();
        assert_eq!(e, format!("t.s:49153: {message}"), "{more}");
    }
    // At the end there is nothing to fill up.
    assert_eq!(program(&format!("{full}.align 32")), p);
    let e = refused(&format!("{}X\n.align 4096\nX", full.replacen("X\n", "", 4))).to_string();
    assert_eq!(e, format!("t.s:49151: {message}"));
    let hex = "0x0\n".repeat(4 * MAX_BUNDLES);
    assert_eq!(
        parse_hex(&hex, "t.hex").unwrap().words,
        vec![0; 4 * MAX_BUNDLES]
    );
    let e = parse_hex(&format!("{hex}0x0"), "t.hex").unwrap_err();
    assert_eq!(e.to_string(), format!("t.hex:65537: {message}"));
}
