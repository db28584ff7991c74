//! Objects with several functions.

use super::objects::{NOP_END, find, function, put, section, with_code};
use super::*;

#[test]
fn an_object_with_several_functions() {
    let bytes = object("several");
    assert_eq!(
        list(&bytes, "several.o").unwrap(),
        [
            "1  helper, 1 CF instructions, 2 quadwords, STACK_SIZE 0, 1 GPRs",
            "2  search, 16 CF instructions, 38 quadwords, STACK_SIZE 3, 4 GPRs",
            "3  straight, 3 CF instructions, 7 quadwords, STACK_SIZE 0, 1 GPRs",
            "4  branch, 5 CF instructions, 17 quadwords, STACK_SIZE 1, 2 GPRs",
        ]
    );
    for (n, name) in (1..).zip(["helper", "search", "straight", "branch"]) {
        let by_name = import(&bytes, Some(name));
        assert_eq!(by_name.program.name, name);
        assert_eq!(
            by_name.program,
            import(&bytes, Some(&format!("{n}"))).program
        );
    }
    let there = "x.o: --select: there are 4 functions, 1 helper, 2 search, 3 straight, 4 branch";
    assert_eq!(
        refused(&bytes, None),
        format!("{there}; choose one by number or name")
    );
    for choice in ["0", "5", "-1", "Branch", "", "99999999999999999999"] {
        assert_eq!(
            refused(&bytes, Some(choice)),
            format!("{there}, not {choice:?}")
        );
    }
    // `straight` called `branch` as well.
    let strtab = section(&bytes, ".strtab");
    let offset = strtab.offset + find(&bytes[strtab.range()], b"\0straight\0") + 1;
    let mut twice = bytes.clone();
    let symbols = section(&bytes, ".symtab");
    let at = (symbols.offset..)
        .step_by(16)
        .filter(|at| bytes[at + 12] & 15 == 2)
        .nth(2)
        .unwrap();
    let name = find(&bytes[strtab.range()], b"\0branch\0") + 1;
    put(&mut twice, at, name as u32);
    assert_eq!(
        refused(&twice, Some("branch")),
        "x.o: --select: functions 3 and 4 are both called \"branch\"; choose by number"
    );
    assert_eq!(import(&twice, Some("3")).program.quads.len(), 3);
    // A function called like a number is found by its name.
    let mut named = bytes.clone();
    named[offset..offset + 2].copy_from_slice(b"2\0");
    assert_eq!(import(&named, Some("2")).program.name, "2");
    assert_eq!(import(&named, Some("3")).program.name, "2");
    // One function needs no choice, and takes one.
    let one = object("k01_ifelse");
    assert_eq!(import(&one, Some("1")).program, import(&one, None).program);
    assert_eq!(
        import(&one, Some("k01_ifelse")).program,
        import(&one, None).program
    );
    assert_eq!(
        refused(&one, Some("2")),
        "x.o: --select: there is one function, 1 k01_ifelse, not \"2\""
    );
}

/// The same in a section each.
#[test]
fn functions_in_sections_of_their_own() {
    let (together, apart) = (object("several"), object("several_sections"));
    assert_eq!(list(&together, "x").unwrap(), list(&apart, "x").unwrap());
    for n in ["1", "2", "3", "4"] {
        assert_eq!(
            import(&together, Some(n)).program,
            import(&apart, Some(n)).program
        );
    }
}

/// A function with a problem is listed with it; the others can be loaded.
#[test]
fn a_bad_function_among_good_ones() {
    let mut bytes = object("several");
    let text = section(&bytes, ".text");
    // The JUMP of `search`.
    put(&mut bytes, text.offset + 0x100 + 8, 16);
    let problem = "quad 1 ADDR: 16, and the CF program has 16 quads";
    assert_eq!(
        list(&bytes, "several.o").unwrap()[1],
        format!("2  search, 38 quadwords, STACK_SIZE 3, 4 GPRs, {problem}")
    );
    assert_eq!(refused(&bytes, Some("search")), format!("x.o: {problem}"));
    assert_eq!(import(&bytes, Some("branch")).program.quads.len(), 5);
}

#[test]
fn names_become_part_of_file_names() {
    let mut bytes = object("k01_ifelse");
    let strtab = section(&bytes, ".strtab");
    let at = strtab.offset + find(&bytes[strtab.range()], b"\0k01_ifelse\0") + 1;
    bytes[at..at + 4].copy_from_slice(b"a/\x1b\xff");
    assert_eq!(import(&bytes, None).program.name, "a___ifelse-0df6d3f7");
    assert_eq!(
        refused(&bytes, Some("b")),
        "x.o: --select: there is one function, 1 a___ifelse-0df6d3f7, not \"b\""
    );
    bytes[at] = 0;
    assert_eq!(import(&bytes, None).program.name, "x", "the file's stem");
    // As long as names may be, and longer.
    for (length, expected) in [(LONGEST_SYMBOL, Some(191)), (LONGEST_SYMBOL + 1, None)] {
        let mut long = object("k01_ifelse");
        let end = long.len();
        let mut names = long[strtab.range()].to_vec();
        let offset = names.len();
        names.resize(offset + length, b'n');
        names.push(0);
        long.extend_from_slice(&names);
        put(&mut long, strtab.header + 16, end as u32);
        put(&mut long, strtab.header + 20, names.len() as u32);
        put(&mut long, function(&object("k01_ifelse")), offset as u32);
        match expected {
            // 200 in all with the hash of the whole name.
            Some(taken) => assert_eq!(
                import(&long, None).program.name,
                "n".repeat(taken) + "-9237a17e"
            ),
            None => assert_eq!(
                refused(&long, None),
                "x.o: st_name: symbol 2 has no name in the string table"
            ),
        }
    }
}

/// Neither text form is taken for an object, and the other way round.
#[test]
fn files_are_recognised_by_content() {
    for text in ["NOP\n", "; only a comment\nNOP\n", "\u{feff}NOP\n"] {
        let got = load(text.as_bytes(), "x.hex", &LoadOptions::default()).unwrap();
        assert_eq!(
            got.program,
            assemble(text.trim_start_matches('\u{feff}'), "x.hex").unwrap()
        );
        assert!(got.warnings.is_empty());
        for choice in ["1", "x"] {
            assert_eq!(import(text.as_bytes(), Some(choice)).program.name, "x");
        }
        assert_eq!(
            refused(text.as_bytes(), Some("2")),
            "x.o: --select: there is one program, 1 x, not \"2\""
        );
    }
    for text in ["00000000 80200000\n", "; comment\n0x00000000 0x80200000\n"] {
        let got = load(text.as_bytes(), "x.s", &LoadOptions::default()).unwrap();
        assert_eq!(got.program, parse_hex(text, "x.s").unwrap());
        assert_eq!(got.program.quads.len(), 1);
    }
    let object = object("k01_ifelse");
    for file in ["x.s", "x.hex", "x"] {
        let got = load(&object, file, &LoadOptions::default()).unwrap();
        assert_eq!(got.program.name, "k01_ifelse");
    }
    assert_eq!(
        refused(b"NOP\n\xff", None),
        "x.o:2: file: is not UTF-8 text from byte 4 on"
    );
    let e = list(b"NOP\n", "x.s").unwrap_err().to_string();
    assert_eq!(
        e,
        "x.s: file: must be an ELF object, dump or listing: only such a file holds several programs"
    );
}

/// Regression: the remark that its GPU has entries of eight sub-entries also came for a unit that is built so.
#[test]
fn a_unit_with_eight_sub_entries_is_the_one_for_small_gpus() {
    let mut bytes = object("k01_ifelse");
    // RV710.
    put(&mut bytes, 36, 5);
    assert_eq!(import(&bytes, None).warnings.len(), 1);
    let built = LoadOptions {
        parameters: [("SUBENTRIES".to_owned(), 8)].into(),
        ..LoadOptions::default()
    };
    assert_eq!(load(&bytes, "p.o", &built).unwrap().warnings, [""; 0]);
}

/// Functions that share code, and sections that share bytes: nothing is read more often than it is there.
#[test]
fn many_functions_cost_no_more_than_the_file() {
    let good = object("k01_ifelse");
    let (symtab, symbol) = (section(&good, ".symtab"), function(&good));
    let with_symbols = |n: usize, mut code: Vec<(u32, u32)>| {
        code.push(NOP_END);
        let mut bytes = with_code(&code);
        put(&mut bytes, symbol + 8, 8 * code.len() as u32);
        let (one, end) = (bytes[symbol..symbol + 16].to_vec(), bytes.len());
        bytes.extend_from_slice(&one.repeat(n));
        put(&mut bytes, symtab.header + 16, end as u32);
        put(&mut bytes, symtab.header + 20, 16 * n as u32);
        bytes
    };
    let bytes = with_symbols(MAX_FUNCTIONS, vec![(0, 1 << 31); MAX_QUADS - 1]);
    let listed = functions(&bytes, "x.o").unwrap();
    assert_eq!(listed.len(), MAX_FUNCTIONS);
    assert_eq!(listed[0].instructions, Some(MAX_QUADS));
    for function in &listed[1..] {
        assert_eq!(
            function.problem.as_deref(),
            Some("st_value: the function begins within \"k01_ifelse\"")
        );
    }
    assert_eq!(
        refused(&with_symbols(MAX_FUNCTIONS + 1, Vec::new()), None),
        "x.o: .symtab: more than 4096 functions"
    );
    // Two sections with the same bytes, a function in each.
    let mut bytes = object("several");
    let (text, note) = (section(&bytes, ".text"), section(&bytes, ".note.GNU-stack"));
    let header = bytes[text.header..text.header + 40].to_vec();
    bytes[note.header..note.header + 40].copy_from_slice(&header);
    // All of it in either.
    for (n, section) in [(0, 2), (1, 5)] {
        let symbol = function(&bytes) + 16 * n;
        put(&mut bytes, symbol + 4, 0);
        put(&mut bytes, symbol + 8, text.size as u32);
        bytes[symbol + 14] = section;
    }
    assert_eq!(
        refused(&bytes, Some("1")),
        format!(
            "x.o: st_size: the functions have {} bytes together, more than the file, which has {}",
            2 * text.size,
            bytes.len()
        )
    );
}
