//! Programs that are refused, each with its message.

use super::*;

/// Regression: a misspelt mnemonic was a NOP, and a program without its SYNC agreed with itself.
#[test]
fn a_slip_in_a_mnemonic_is_refused_in_every_program() {
    let mut slips = 0;
    for file in std::fs::read_dir(FOLDER).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "s") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            // OUT is a label, here.
            let known = |word: &&str| *word != "OUT" && isa::mnemonics().any(|name| name == *word);
            for name in code
                .split(|c: char| !c.is_ascii_alphanumeric())
                .filter(known)
            {
                let slip = code.replacen(name, &format!("{name}Q"), 1);
                let mut lines = lines.clone();
                lines[n] = &slip;
                let e = refused(&lines.join("\n")).to_string();
                let start = format!(
                    "t.s:{}: mnemonic: `{name}Q` is not an instruction of sm_50",
                    n + 1
                );
                assert!(e.starts_with(&start), "{e}\n{slip}");
                slips += 1;
            }
        }
    }
    assert!(slips > 100, "{slips}");
}

/// What nvdisasm 12.4 printed for 62 kernels of ptxas 12.9, beside this unit's instructions.
const LISTED: &str = "BAR DADD DFMA DMUL DSETP F2I I2F IADD IADD3 IADD32I IMNMX ISCADD ISETP LDC LDG LDL LOP32I \
                      MEMBAR MOV MOV32I MUFU NOP P2R R2P S2R SEL SHL SHR STG STL VOTE XMAD";

#[test]
fn every_mnemonic_of_the_listings_of_real_kernels_is_a_black_box() {
    for name in LISTED.split_whitespace() {
        assert_eq!(
            first(&format!("{name}.A P0, R0, c[0x0][0x4]")),
            NOP,
            "{name}"
        );
        assert_eq!(
            first(&format!("@!P0 {}", name.to_lowercase())),
            NOP,
            "{name}"
        );
    }
}

#[test]
fn mnemonics_are_listed_once() {
    let mut names: Vec<&str> = isa::mnemonics().collect();
    assert!(names.len() > 150, "{}", names.len());
    let plain = |name: &&str| {
        name.bytes()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
    };
    assert!(names.iter().all(plain), "{names:?}");
    names.sort_unstable();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    assert!(isa::BLACK_BOXES.is_sorted_by(|a, b| a.0 < b.0));
}
