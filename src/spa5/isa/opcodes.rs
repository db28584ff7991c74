//! Names of the words that are black boxes to this unit (spa5-2.3). The unit does not read them; listings and screens do.

/// A mnemonic without suffixes, and the words that have it: bits 63:48 of the word under a mask, the value in the upper half and the
/// mask in the lower one.
type Opcode = (&'static str, &'static [u32]);

/// The mnemonics of the instruction set, sm_50 to sm_62, that are not this unit's, by name.
///
/// Sources: names, *CUDA Binary Utilities*, table "Maxwell and Pascal Instruction Set" (half precision, `HADD2` and so on, belongs to
/// sm_53 and later), and the additional ones in the open-source tables of `envydis` for GM107 (envytools, f102b823), from which the
/// encodings are too. `tb/spa5/import/listings.rs` checks them against listings of NVIDIA's disassembler.
pub const BLACK_BOXES: &[Opcode] = &[
    ("AL2P", &[0xefa0_fff8]),
    ("ALD", &[0xefd8_fff8]),
    ("AST", &[0xeff0_fff8]),
    ("ATOM", &[0xed00_ff00, 0xeef0_fff0]),
    ("ATOMS", &[0xec00_ff00, 0xee00_ff80]),
    ("B2R", &[0xf0b8_fff8]),
    ("BAR", &[0xf0a8_fff8]),
    ("BFE", &[0x3800_fef8, 0x4c00_fff8, 0x5c00_fff8]),
    ("BFI", &[0x36f0_fef8, 0x4bf0_fff8, 0x53f0_fff8, 0x5bf0_fff8]),
    ("CCTL", &[0xef60_ffe0]),
    ("CCTLL", &[0xef80_ffe0]),
    ("CCTLT", &[0xebf0_fff9]),
    ("CS2R", &[0x50c8_fff8]),
    ("CSET", &[0x5098_fff8]),
    ("CSETP", &[0x50a0_fff8]),
    ("DADD", &[0x3870_fef8, 0x4c70_fff8, 0x5c70_fff8]),
    ("DEPBAR", &[0xf0f0_fff8]),
    (
        "DFMA",
        &[0x3670_fef0, 0x4b70_fff0, 0x5370_fff0, 0x5b70_fff0],
    ),
    ("DMNMX", &[0x3850_fef8, 0x4c50_fff8, 0x5c50_fff8]),
    ("DMUL", &[0x3880_fef8, 0x4c80_fff8, 0x5c80_fff8]),
    ("DSET", &[0x3200_fe80, 0x4900_ff80, 0x5900_ff80]),
    ("DSETP", &[0x3680_fef0, 0x4b80_fff0, 0x5b80_fff0]),
    ("F2F", &[0x38a8_fef8, 0x4ca8_fff8, 0x5ca8_fff8]),
    ("F2I", &[0x38b0_fef8, 0x4cb0_fff8, 0x5cb0_fff8]),
    ("FADD", &[0x3858_fef8, 0x4c58_fff8, 0x5c58_fff8]),
    ("FADD32I", &[0x0800_fc00]),
    ("FCHK", &[0x3888_fef8, 0x4c88_fff8, 0x5c88_fff8]),
    (
        "FCMP",
        &[0x36a0_fef0, 0x4ba0_fff0, 0x53a0_fff0, 0x5ba0_fff0],
    ),
    (
        "FFMA",
        &[0x3280_fe80, 0x4980_ff80, 0x5180_ff80, 0x5980_ff80],
    ),
    ("FFMA32I", &[0x0c00_fc00]),
    ("FLO", &[0x3830_fef8, 0x4c30_fff8, 0x5c30_fff8]),
    ("FMNMX", &[0x3860_fef8, 0x4c60_fff8, 0x5c60_fff8]),
    ("FMUL", &[0x3868_fef8, 0x4c68_fff8, 0x5c68_fff8]),
    ("FMUL32I", &[0x1e00_ff00]),
    ("FSET", &[0x3000_fe00, 0x4800_fe00, 0x5800_ff00]),
    ("FSETP", &[0x36b0_fef0, 0x4bb0_fff0, 0x5bb0_fff0]),
    ("FSWZADD", &[0x50f8_fff8]),
    ("HADD2", &[0x5d10_fff8, 0x7a00_fe80, 0x7a80_fe80]),
    ("HADD2_32I", &[0x2c00_fe00]),
    (
        "HFMA2",
        &[0x5d00_fff8, 0x6080_f880, 0x7000_f880, 0x7080_f880],
    ),
    ("HFMA2_32I", &[0x2800_fe00]),
    ("HMUL2", &[0x5d08_fff8, 0x7800_fe80, 0x7880_fe80]),
    ("HMUL2_32I", &[0x2a00_fe00]),
    ("HSET2", &[0x5d18_fff8, 0x7c00_fe80, 0x7c80_fe80]),
    ("HSETP2", &[0x5d20_fff8, 0x7e00_fe80, 0x7e80_fe80]),
    ("I2F", &[0x38b8_fef8, 0x4cb8_fff8, 0x5cb8_fff8]),
    ("I2I", &[0x38e0_fef8, 0x4ce0_fff8, 0x5ce0_fff8]),
    ("IADD", &[0x3810_fef8, 0x4c10_fff8, 0x5c10_fff8]),
    ("IADD3", &[0x38c0_fef0, 0x4cc0_fff0, 0x5cc0_fff0]),
    ("IADD32I", &[0x1c00_fe80, 0x1d80_ff80]),
    (
        "ICMP",
        &[0x3640_fef0, 0x4b40_fff0, 0x5340_fff0, 0x5b40_fff0],
    ),
    ("IDP", &[0x53d8_fff8, 0x53f8_fff8]),
    (
        "IMAD",
        &[0x3400_fe80, 0x4a00_ff80, 0x5200_ff80, 0x5a00_ff80],
    ),
    ("IMAD32I", &[0x1000_fc00]),
    (
        "IMADSP",
        &[0x3480_fe80, 0x4a80_ff80, 0x5280_ff80, 0x5a80_ff80],
    ),
    ("IMNMX", &[0x3820_fef8, 0x4c20_fff8, 0x5c20_fff8]),
    ("IMUL", &[0x3838_fef8, 0x4c38_fff8, 0x5c38_fff8]),
    ("IMUL32I", &[0x1f00_ff00]),
    ("IPA", &[0xe000_ff00]),
    ("ISBERD", &[0xefd0_fff8]),
    ("ISCADD", &[0x3818_fef8, 0x4c18_fff8, 0x5c18_fff8]),
    ("ISCADD32I", &[0x1400_fc00]),
    ("ISET", &[0x3650_fef0, 0x4b50_fff0, 0x5b50_fff0]),
    ("ISETP", &[0x3660_fef0, 0x4b60_fff0, 0x5b60_fff0]),
    ("LD", &[0x8000_e000]),
    ("LDC", &[0xef90_fff8]),
    ("LDG", &[0xeec8_fff8, 0xeed0_fff8]),
    ("LDL", &[0xef40_fff8]),
    ("LDS", &[0xef48_fff8]),
    (
        "LEA",
        &[
            0x1800_fc00,
            0x36d0_fef8,
            0x4bd0_fff0,
            0x5bd0_fff8,
            0x5bd8_fff8,
        ],
    ),
    ("LEPC", &[0x50d0_fff8]),
    ("LOP", &[0x3840_fef8, 0x4c40_fff8, 0x5c40_fff8]),
    ("LOP3", &[0x0200_fe00, 0x3c00_fc00, 0x5be0_fff8]),
    ("LOP32I", &[0x0400_fc00]),
    ("MEMBAR", &[0xef98_fff8]),
    ("MOV", &[0x3898_fef8, 0x4c98_fff8, 0x5c98_fff8]),
    ("MOV32I", &[0x0100_fff0]),
    ("MUFU", &[0x5080_fff8]),
    ("NOP", &[0x50b0_fff8]),
    ("OUT", &[0xebe0_fff8, 0xf6e0_fef8, 0xfbe0_fff8]),
    ("P2R", &[0x38e8_fef8, 0x4ce8_fff8, 0x5ce8_fff8]),
    ("PIXLD", &[0xefe8_fff8]),
    ("POPC", &[0x3808_fef8, 0x4c08_fff8, 0x5c08_fff8]),
    (
        "PRMT",
        &[0x36c0_fef0, 0x4bc0_fff0, 0x53c0_fff0, 0x5bc0_fff0],
    ),
    ("PSET", &[0x5088_fff8]),
    ("PSETP", &[0x5090_fff8]),
    ("R2B", &[0xf0c0_fff8]),
    ("R2P", &[0x38f0_fef8, 0x4cf0_fff8, 0x5cf0_fff8]),
    ("RED", &[0xebf8_fff8]),
    ("RRO", &[0x3890_fef8, 0x4c90_fff8, 0x5c90_fff8]),
    ("S2R", &[0xf0c8_fff8]),
    ("SEL", &[0x38a0_fef8, 0x4ca0_fff8, 0x5ca0_fff8]),
    ("SHF", &[0x36f8_fef8, 0x38f8_fef8, 0x5bf8_fff8, 0x5cf8_fff8]),
    ("SHFL", &[0xef10_fff8]),
    ("SHL", &[0x3848_fef8, 0x4c48_fff8, 0x5c48_fff8]),
    ("SHR", &[0x3828_fef8, 0x4c28_fff8, 0x5c28_fff8]),
    ("ST", &[0xa000_e000]),
    ("STG", &[0xeed8_fff8]),
    ("STL", &[0xef50_fff8]),
    ("STP", &[0xeea0_fff8]),
    ("STS", &[0xef58_fff8]),
    (
        "SUATOM",
        &[0xea00_ffc0, 0xea60_ffe0, 0xea80_ffc0, 0xeac0_ffe0],
    ),
    ("SULD", &[0xeb00_ffe0]),
    ("SURED", &[0xeb40_ffe0]),
    ("SUST", &[0xeb20_ffe0]),
    ("TEX", &[0xc038_fc38, 0xdeb8_fff8]),
    ("TEXS", &[0xd000_f600]),
    ("TLD", &[0xdc38_ff38, 0xdd38_ff38]),
    ("TLD4", &[0xc838_fc38, 0xdef8_fff8]),
    ("TLD4S", &[0xdf00_ff40]),
    ("TLDS", &[0xd200_f600]),
    ("TMML", &[0xdf58_fff8, 0xdf60_fff8]),
    ("TXA", &[0xdf40_fff8]),
    ("TXD", &[0xde38_fffc, 0xde78_fffc]),
    ("TXQ", &[0xdf48_fff8, 0xdf50_fff8]),
    ("VABSDIFF", &[0x5400_ff00]),
    ("VABSDIFF4", &[0x5000_ff80]),
    ("VADD", &[0x2000_fc00]),
    ("VMAD", &[0x5f00_ff00]),
    ("VMNMX", &[0x3a00_fe00]),
    ("VOTE", &[0x50d8_fff8, 0x50e0_fff8]),
    ("VSET", &[0x4000_fe00]),
    ("VSETP", &[0x50f0_fff8]),
    ("VSHL", &[0x5700_ff00]),
    ("VSHR", &[0x5600_ff00]),
    (
        "XMAD",
        &[0x3600_fec0, 0x4e00_fe00, 0x5100_ff80, 0x5b00_ffc0],
    ),
];

/// Returns the mnemonic of a black box, without suffixes; `None` if the instruction set has no such word. Where two patterns fit, the
/// narrower one counts.
pub fn black_box(word: u64) -> Option<&'static str> {
    let high = (word >> 48) as u32;
    let patterns = BLACK_BOXES
        .iter()
        .flat_map(|(name, all)| all.iter().map(move |p| (*name, *p)));
    patterns
        .filter(|(_, pattern)| high & pattern & 0xffff == pattern >> 16)
        .max_by_key(|(_, pattern)| (pattern & 0xffff).count_ones())
        .map(|(name, _)| name)
}
