//! Listings of other tools than nvdisasm.

use super::*;

fn sample(name: &str) -> String {
    fs::read_to_string(format!("{FOLDER}/listings/{name}")).unwrap()
}

fn words(text: &str) -> Vec<u64> {
    let program = assemble(text, "x.s").unwrap_or_else(|e| panic!("{e}"));
    program.words
}

/// Control codes are not part of the instruction; `#` begins a comment.
#[test]
fn listings_of_maxas_are_read() {
    let got = import(sample("loop.maxas").as_bytes(), None);
    let plain = "SSY DONE; LOOP: X; X; @P0 SYNC; @P1 BRA LOOP; SYNC; DONE: EXIT";
    assert_eq!(got.program.words, words(plain));
    assert!(got.warnings.is_empty());
    // Each field at its limits; what is none is an instruction or a label as before.
    for code in ["--:-:-:-:0", "3f:6:6:Y:f", "01:1:-:-:a", "  \t--:-:2:-:5\t"] {
        let text = format!("{code} EXIT;\n");
        assert_eq!(import(text.as_bytes(), None).program.words, words("EXIT"));
    }
    for code in [
        "--:-:7:-:5",
        "--:-:-:-:g",
        "-:-:-:-:5",
        "--:0:-:-:5",
        "--:-:-:x:5",
    ] {
        refused(format!("{code} EXIT;\n").as_bytes(), None);
    }
    // Errors have the line and column of the file.
    let bad = "--:-:-:-:5 EXIT;\n--:-:-:-:5 BRAN X;\n";
    let why = "x:2: mnemonic: `BRAN` is not an instruction of sm_50; did you mean `BRA`?";
    assert_eq!(refused(bad.as_bytes(), None), why);
    let source = "<REGISTER_MAPPING>\n0 : x\n</REGISTER_MAPPING>\n--:-:-:-:5 EXIT;\n";
    assert_eq!(
        refused(source.as_bytes(), None),
        "x:1: file: is a source of maxas: its preprocessor must write out the macros and registers first (`maxas.pl -p`)"
    );
}

#[test]
fn listings_of_cuassembler_are_read() {
    let got = import(sample("branch.cuasm").as_bytes(), None);
    let plain = "X; X; SSY .L_1; @P0 BRA .L_2; SYNC; .L_2: SYNC; .L_1: EXIT";
    assert_eq!(got.program.words, words(plain));
    for code in ["[B012345:R0:W5:Y:S15]", "[B------:R-:W-:-:S00]"] {
        let text = format!("{code} /*0008*/ EXIT;\n");
        assert_eq!(import(text.as_bytes(), None).program.words, words("EXIT"));
    }
    let wide = "[B------:R-:W-:-:S05] /*0000*/ EXIT;\n";
    assert_eq!(
        refused(wide.as_bytes(), None),
        "x:1: file: has an instruction at address 0, where sm_50 to sm_62 have a control word: this listing is for another GPU"
    );
}

/// Functions for other GPUs are left out; with several one must be chosen.
#[test]
fn listings_of_cuobjdump_are_read() {
    let text = sample("two.cuobjdump");
    let got = import(text.as_bytes(), None);
    assert_eq!(got.program.name, "k");
    assert_eq!(got.program.words, words("SSY 0x28; @P0 SYNC; SYNC; EXIT"));
    let again = text.replace("Function : k", "Function : second");
    let both = [&text[..], &again].concat();
    assert_eq!(
        refused(both.as_bytes(), None),
        "x: --select: there are 2 functions, 1 k, 2 second; choose one by number or name"
    );
    for choice in ["2", "second"] {
        let got = import(both.as_bytes(), Some(choice)).program;
        assert_eq!(got.name, "second");
    }
    let other = text.split("arch = sm_52").next().unwrap();
    assert_eq!(
        refused(other.as_bytes(), None),
        "x:10: file: is for sm_70 (Volta), whose instruction words are others; those of sm_50 to sm_62 are read"
    );
    let bad = text.replace("@P0 SYNC", "@P9 SYNC");
    assert!(refused(bad.as_bytes(), None).starts_with("x:28: predicate: "));
}

/// Regression: the whole text was copied for each function, and 30,000 took gigabytes.
#[test]
fn a_listing_of_many_functions_is_read() {
    let function = |n: u32| format!("\t\tFunction : f{n}\n    /*0008*/ EXIT ;\n");
    let text: String = (0..30_000).map(function).collect();
    let got = import(text.as_bytes(), Some("f29999"));
    assert_eq!(got.program.words, words("EXIT"));
    assert_eq!(got.program.name, "f29999");
}
