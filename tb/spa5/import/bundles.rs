//! Raw bundles.

use super::*;

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn raw_bundles() {
    let (mut pcnt, mut whole) = (0, 0);
    for path in files("mesa", "bin") {
        let bytes = fs::read(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let Loaded { program, warnings } =
            load(&bytes, path.to_str().unwrap(), &LoadOptions::default()).unwrap();
        // Code that ends within a bundle is tested below.
        let size = bytes.len().next_multiple_of(32);
        if size == bytes.len() {
            assert_eq!(bytes_of(&program.words), bytes);
        }
        assert_eq!(program.name, name);
        assert_eq!((program.entry, program.prog_size as usize), (0, size));
        assert_eq!(warnings.len(), usize::from(size > bytes.len()));
        assert!(program.targets.is_empty());
        whole += usize::from(size == bytes.len());
        pcnt += program_text(&program).matches("PCNT ").count();
        let file = format!("{name}.s");
        assert_eq!(assemble(&program_text(&program), &file).unwrap(), program);
    }
    assert!(pcnt > 10 && whole > 3, "{pcnt} {whole}");
}

/// `nouveau_compiler` may end within a bundle (spa5-8).
#[test]
fn raw_bundles_are_filled_up() {
    let control = 0x0123_4567_89ab_cdef;
    let first = [CONTROL, NOP, NOP, SYNC];
    // The fields of slots 0, 1 and 2 are bits 20:0, 41:21 and 62:42.
    let plain = |control: u64, slots: &[u32]| {
        slots.iter().fold(control, |c, slot| {
            c & !(0x1f_ffff << (21 * slot)) | 0x7ef << (21 * slot)
        })
    };
    for (rest, slots, said) in [
        (vec![control, EXIT, EXIT], &[2][..], "1 NOP"),
        (vec![control, EXIT], &[1, 2], "2 NOPs"),
        (vec![control], &[0, 1, 2], "3 NOPs"),
    ] {
        let bytes = bytes_of(&[&first[..], &rest].concat());
        let Loaded { program, warnings } = import(&bytes, None);
        let mut expected = [&first[..], &rest].concat();
        expected.resize(8, NOP);
        expected[4] = plain(control, slots);
        assert_eq!(program.words, expected);
        assert_eq!((program.prog_size, &program.name[..]), (64, "x"));
        assert_eq!(
            warnings,
            [format!(
                "ends within a bundle, which was filled up with {said}"
            )]
        );
    }
    assert_eq!(plain(u64::MAX, &[0, 1, 2]), CONTROL | 1 << 63);
    let mut full = vec![0; 4 * MAX_BUNDLES];
    full[1] = SYNC;
    let full = bytes_of(&full);
    assert_eq!(import(&full, None).program.words.len(), 4 * MAX_BUNDLES);
    for more in 1..=4 {
        let bytes = [full.clone(), vec![0; 8 * more]].concat();
        assert_eq!(
            refused(&bytes, None),
            "x: program: 16385 bundles, more than 16384"
        );
    }
}

/// What shells of Windows write is UTF-16.
#[test]
fn bundles_without_a_flow_control_instruction_and_utf_16_are_refused() {
    let none = "x: file: neither text, as it has a NUL byte, nor bundles, as no word in it is a flow-control instruction";
    assert_eq!(refused(&[0; 64], None), none);
    // A control word is not an instruction.
    assert_eq!(refused(&bytes_of(&[SYNC >> 1, 0, 0, 0]), None), none);
    import(&bytes_of(&[0, 0, 0, SYNC]), None);
    let text = "SYNC;\nEXIT;\nSYNC;\nEXIT\n";
    let utf16 = [0xfeffu16].into_iter().chain(text.encode_utf16());
    let utf16: Vec<u8> = utf16.flat_map(u16::to_le_bytes).collect();
    assert_eq!(utf16.len() % 8, 0);
    assert_eq!(
        refused(&utf16, None),
        "x: file: is UTF-16 text; save it as UTF-8"
    );
}

#[test]
fn files_are_recognised_by_content() {
    for text in ["SYNC\n", "// only a comment\nSYNC;\n", "\u{feff}SYNC\n"] {
        let got = load(text.as_bytes(), "x.hex", &LoadOptions::default()).unwrap();
        assert_eq!(got.program.words, [CONTROL, SYNC, NOP, NOP]);
        assert!(got.warnings.is_empty());
        for choice in ["1", "x"] {
            assert_eq!(import(text.as_bytes(), Some(choice)).program.name, "x");
        }
        let e = refused(text.as_bytes(), Some("2"));
        assert_eq!(e, "x: --select: there is one program, 1 x, not \"2\"");
    }
    for text in [
        "0008 f0f800000007000f\n",
        "// words\n001fbc00fde007ef\n0xf0f800000007000f\n",
    ] {
        let got = load(text.as_bytes(), "x.s", &LoadOptions::default()).unwrap();
        assert_eq!(got.program.words, [CONTROL, SYNC, NOP, NOP]);
    }
    let object = real("k01_ifelse.12.9.O3");
    for file in ["x.s", "x.hex", "x"] {
        let got = load(&object, file, &LoadOptions::default()).unwrap();
        assert_eq!(got.program.name, "k01_ifelse");
    }
    let e = refused(b"SYNC\n\xff", None);
    assert_eq!(e, "x:2: file: is not UTF-8 text from byte 5 on");
    let e = refused(b"SYNC\n\0", None);
    let no_text = "x: file: neither text, as it has a NUL byte, nor bundles, as";
    assert_eq!(e, format!("{no_text} 6 is not a multiple of 8"));
    let e = refused(&bytes_of(&[CONTROL, 0, 0, 0, EXIT, NOP, NOP, NOP]), None);
    assert_eq!(
        e,
        format!("{no_text} 0xe30000000007000f at 0x0020 is not a control word: its bit 63 is 1")
    );
    assert_eq!(refused(b"//", None), "x: program: has no instruction");
}

/// A word 0 of the header, a word 3, and a bundle with EXIT.
fn behind_header(word: u32, word3: u32) -> Vec<u8> {
    let mut bytes = word.to_le_bytes().to_vec();
    bytes.resize(12, 0);
    bytes.extend(word3.to_le_bytes());
    bytes.resize(80, 0);
    bytes.extend(bytes_of(&[CONTROL, SYNC, EXIT, NOP]));
    bytes
}

/// "Shader Program Header Specification" of NVIDIA's open-gpu-doc.
#[test]
fn the_header_of_a_graphics_shader_is_left_out() {
    let plain = import(&bytes_of(&[CONTROL, SYNC, EXIT, NOP]), None);
    // SphType, Version 3, SassVersion 1; ShaderType in bits 13:10; other fields may be set.
    let vtg = |stage: u32| 0x2_0061 | stage << 10;
    for (word, shader) in [
        (vtg(0), "graphics shader"),
        (vtg(1), "vertex shader"),
        (vtg(2), "tessellation control shader"),
        (vtg(3), "tessellation evaluation shader"),
        (vtg(4), "geometry shader"),
        (0x2_0062 | 5 << 10, "fragment shader"),
        (0x3c02_d462, "fragment shader"),
    ] {
        let got = import(&behind_header(word, 0x400), None);
        assert_eq!(got.program, plain.program, "{word:#x}");
        let note = format!(
            "{shader}: its header of 80 bytes is left out, so that addresses count from the code"
        );
        assert_eq!(got.warnings, [note], "{word:#x}");
    }
    // Another SphType, version or stage, a reserved bit: bundles from the first byte on, which have an EXIT for a control word.
    for (word, word3) in [
        (vtg(1) ^ 3, 0),
        (vtg(1) + 2, 0),
        (vtg(1) ^ 0x20, 0),
        (vtg(5), 0),
        (0x2_0062 | 4 << 10, 0),
        (vtg(1) | 1 << 21, 0),
        (vtg(1), 1 << 24),
    ] {
        let message = refused(&behind_header(word, word3), None);
        assert!(
            message.contains(" at 0x0060 is not a control word"),
            "{word:#x}: {message}"
        );
    }
    let header = &behind_header(vtg(1), 0)[..80];
    assert!(refused(header, None).ends_with("no word in it is a flow-control instruction"));
    // Addresses in errors count from the start of the code.
    let mut bad = behind_header(vtg(1), 0);
    bad[87] = 0x80;
    assert!(refused(&bad, None).contains(" at 0x0000 is not a control word"));
}
