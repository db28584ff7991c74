//! Limits, each at N and N + 1.

use super::*;

#[test]
fn limits() {
    let reach = "not in -8388592..8388623";
    let field = |text: &str, field: &str, value: &str, range: &str| {
        assert_eq!(
            refused(text).to_string(),
            format!("t.s:1: {field}: {value} is {range}")
        );
    };
    assert_eq!(first("SSY 8388623"), 0xe290_07ff_fff0_0000);
    field("SSY 8388624", "target", "8388624", reach);
    assert_eq!(first("SSY -8388592"), 0xe290_0800_0000_0000);
    field("SSY -8388593", "target", "-8388593", reach);
    assert_eq!(first("BRX R0 8388607"), 0xe250_07ff_fff7_000f);
    field(
        "BRX R0 8388608",
        "offset",
        "8388608",
        "not in -8388608..8388607",
    );
    assert_eq!(first("BRX R0 -8388608"), 0xe250_0800_0007_000f);
    field(
        "BRX R0 -8388609",
        "offset",
        "-8388609",
        "not in -8388608..8388607",
    );
    assert_eq!(first("SSY c[31][65535]"), 0xe290_01ff_fff0_0020);
    field("SSY c[32][0]", "bank", "32", "not in 0..31");
    field(
        "SSY c[0][65536]",
        "address",
        "65536",
        "not in -32768..65535",
    );
    assert_eq!(first("SSY c[0][-32768]"), 0xe290_0008_0000_0020);
    field(
        "SSY c[0][-32769]",
        "address",
        "-32769",
        "not in -32768..65535",
    );
    field(
        ".entry 4294967296\nX",
        "address",
        "4294967296",
        "not in 0..4294967295",
    );
    field(
        ".prog_size 4294967296\nX",
        "prog_size",
        "4294967296",
        "not in 0..4294967295",
    );
    field(
        ".targets 8 4294967296\nX",
        "target",
        "4294967296",
        "not in 0..4294967295",
    );
    assert_eq!(program("X\n.align 4096\nX").words.len(), 516);
    field(
        "X\n.align 4097".lines().nth(1).unwrap(),
        ".align",
        "4097",
        "not in 0..4096",
    );
}

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
