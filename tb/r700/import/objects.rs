//! Objects with other contents.

use super::*;

/// Where a section and its header lie in a file.
pub(super) struct Section {
    pub(super) header: usize,
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Section {
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.size
    }
}

pub(super) fn get(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub(super) fn put(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

pub(super) fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|w| w == what).unwrap()
}

/// A section by name. All of LLVM's names are in `.strtab`, section 1.
pub(super) fn section(bytes: &[u8], name: &str) -> Section {
    let headers = get(bytes, 32) as usize;
    let strings = get(bytes, headers + 40 + 16) as usize;
    (0..usize::from(bytes[48]))
        .map(|i| headers + 40 * i)
        .find(|h| {
            let at = strings + get(bytes, *h) as usize;
            bytes[at..].starts_with(format!("{name}\0").as_bytes())
        })
        .map(|header| Section {
            header,
            offset: get(bytes, header + 16) as usize,
            size: get(bytes, header + 20) as usize,
        })
        .unwrap()
}

/// The symbol of the first function.
pub(super) fn function(bytes: &[u8]) -> usize {
    (section(bytes, ".symtab").offset..)
        .step_by(16)
        .find(|at| bytes[at + 12] & 15 == 2)
        .unwrap()
}

/// An object of one function with these quadwords.
pub(super) fn with_code(quads: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes = object("k01_ifelse");
    let (text, symbol, end) = (section(&bytes, ".text"), function(&bytes), bytes.len());
    for (w0, w1) in quads {
        bytes.extend_from_slice(&w0.to_le_bytes());
        bytes.extend_from_slice(&w1.to_le_bytes());
    }
    put(&mut bytes, text.header + 16, end as u32);
    put(&mut bytes, text.header + 20, 8 * quads.len() as u32);
    put(&mut bytes, symbol + 8, 8 * quads.len() as u32);
    bytes
}

pub(super) const NOP_END: (u32, u32) = (0, 0x8020_0000);
/// `W0[31]`: the last instruction of a group.
const LAST: u32 = 1 << 31;
/// The execute-mask bit of the two-operand form.
const MASK: u32 = 1 << 2;
/// A three-operand form: any opcode with a bit in `W1[17:15]`.
const THREE: u32 = 1 << 15;
/// The selector of a literal.
const LITERAL: u32 = 253;

/// ALU, or what `opcode` is, with a clause of `slots` at `addr`.
pub(super) fn alu(opcode: u32, addr: u32, slots: usize) -> (u32, u32) {
    (addr, 1 << 31 | opcode << 26 | (slots as u32 - 1) << 18)
}

/// `u` of a clause, alone in a program, or the message.
fn u_of(clause: &[(u32, u32)]) -> Result<bool, String> {
    let mut quads = vec![alu(9, 2, clause.len()), NOP_END];
    quads.extend_from_slice(clause);
    let bytes = with_code(&quads);
    match load(&bytes, "x.o", &LoadOptions::default()) {
        Ok(loaded) => Ok(loaded.program.quads[0].u),
        Err(e) => Err(e.to_string()),
    }
}

/// Clauses as r700-2.7 says: groups, literals, forms.
#[test]
fn the_mask_bit_is_found_by_groups_and_literals() {
    // What a literal would be if it were read as an instruction.
    let trap = (LAST, MASK);
    let x = LITERAL;
    let (y, z, w) = (LITERAL | 1 << 10, LITERAL | 2 << 10, LITERAL | 3 << 10);
    let second = |channel: u32| LITERAL << 13 | channel << 23;
    let third = |channel: u32| LITERAL | channel << 10;
    for (clause, u) in [
        // One instruction, without and with the bit; other bits of the word do not count.
        (&[(LAST, 0)][..], false),
        (&[(LAST, MASK)], true),
        (&[(LAST, !MASK & !(7 << 15))], false),
        (&[(LAST, MASK | 1 << 3 | 0x45 << 7)], true),
        // In the three-operand form it is another bit: of the third selector.
        (&[(LAST, THREE | MASK)], false),
        (&[(LAST, THREE << 1 | MASK)], false),
        (&[(LAST, THREE << 2 | MASK)], false),
        (&[(LAST, 1 << 18 | MASK)], true),
        // In any group, at any place.
        (&[(0, MASK), (0, 0), (LAST, 0)], true),
        (&[(0, 0), (LAST, MASK)], true),
        (&[(LAST, 0), (LAST, 0), (LAST, MASK)], true),
        // Literals of channels x and y take one quadword, of z and w two.
        (&[(LAST | x, 0), trap], false),
        (&[(LAST | y, 0), trap], false),
        (&[(LAST | z, 0), trap, trap], false),
        (&[(LAST | w, 0), trap, trap], false),
        (&[(LAST | x, 0), trap, trap], true),
        (&[(LAST | y, 0), trap, trap], true),
        (&[(LAST | w, 0), trap, trap, trap], true),
        // The second and the third selector; the third in its own form only.
        (&[(LAST | second(0), 0), trap], false),
        (&[(LAST | second(3), 0), trap, trap], false),
        (&[(LAST, THREE | third(1)), trap], false),
        (&[(LAST, THREE | third(2)), trap, trap], false),
        (&[(LAST, third(2) & !(7 << 15)), (LAST, 0)], true),
        // The highest channel of the whole group determines the number of literals.
        (&[(x, 0), (LAST | second(2), 0), trap, trap], false),
        (&[(w, 0), (LAST, 0), trap, trap], false),
        (&[(w, 0), (LAST | x, 0), trap, trap, trap], true),
        (&[(LAST | w, 0), trap, trap, (LAST, 0)], false),
        (&[(LAST | w, 0), trap, trap, (LAST | x, 0), trap], false),
        // Channels of selectors that are not literals do not count.
        (&[(LAST | 3 << 10 | 3 << 23 | 252, 0), (LAST, MASK)], true),
        (&[(LAST | 254, 0), (LAST, MASK)], true),
        (&[(LAST | (LITERAL | 256), 0), (LAST, MASK)], true),
        // What a literal holds does not end a clause, nor begin a group.
        (&[(LAST | z, 0), (0, MASK), (0, MASK)], false),
    ] {
        assert_eq!(u_of(clause), Ok(u), "{clause:x?}");
    }
    // 128 slots, the most.
    let mut long = vec![(LAST, 0); 128];
    assert_eq!(u_of(&long), Ok(false));
    long[127].1 = MASK;
    assert_eq!(u_of(&long), Ok(true));
    for (clause, why) in [
        (
            &[(0, 0)][..],
            "the group at its slot 0 has no last instruction (W0[31])",
        ),
        (
            &[(0, MASK), (0, 0)],
            "the group at its slot 0 has no last instruction (W0[31])",
        ),
        (
            &[(LAST, 0), (0, 0)],
            "the group at its slot 1 has no last instruction (W0[31])",
        ),
        (
            &[(LAST | x, 0)],
            "the literals of the group at its slot 0 reach beyond its end",
        ),
        (
            &[(LAST | z, 0), trap],
            "the literals of the group at its slot 0 reach beyond its end",
        ),
        (
            &[(LAST | z, 0), trap, trap, (LAST | z, 0), trap],
            "the literals of the group at its slot 3 reach beyond its end",
        ),
    ] {
        assert_eq!(
            u_of(clause),
            Err(format!("x.o: quad 0 clause: {why}")),
            "{clause:x?}"
        );
    }
}

/// What is accepted with a warning.
#[test]
fn warnings() {
    let last = (LAST, 0);
    let mask = (LAST, MASK);
    let never =
        |what: &str, at: &str| format!("{at}: {what}, which LLVM's r600 back end never emits");
    let cf = |opcode: u32| (1, 1 << 31 | opcode << 23);
    for (quads, expected) in [
        (vec![alu(9, 2, 1), NOP_END, mask], vec![]),
        (
            vec![alu(9, 2, 1), NOP_END, last],
            vec![never("ALU_PUSH_BEFORE without a mask update", "quad 0")],
        ),
        (
            vec![alu(8, 2, 1), NOP_END, mask],
            vec![never("ALU with a mask update", "quad 0")],
        ),
        (
            vec![alu(9, 2, 2), NOP_END, mask, mask],
            vec!["quad 0: clause with several mask updates, of which the last counts".to_owned()],
        ),
        (
            vec![cf(11), alu(13, 4, 1), cf(11), NOP_END, mask],
            vec![never("ALU_CONTINUE", "quad 1"), never("PUSH", "quads 0, 2")],
        ),
        (
            vec![
                (0, 0x8c00_0000 | 3 << 3),
                (0, 0x8c80_0000),
                cf(15),
                cf(12),
                alu(12, 6, 1),
                NOP_END,
                mask,
            ],
            vec![
                never("CF_CONST", "quad 0"),
                never("KILL", "quad 0"),
                never("PUSH_ELSE", "quad 3"),
                "quads 1, 2, 4: reserved opcode, error 1 (ILLEGAL)".to_owned(),
            ],
        ),
        (
            vec![(0, 0x9440_0000), (1, 2 << 8 | 1 << 13), NOP_END],
            vec![
                never("BARRIER 0", "quad 1"),
                never("CALL_COUNT", "quad 1"),
                never("COND", "quad 1"),
                never("VALID_PIXEL_MODE", "quad 0"),
            ],
        ),
        // A long list is cut.
        (
            [vec![(0, 0); 18], vec![NOP_END]].concat(),
            vec![never(
                "BARRIER 0",
                "quads 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 and 2 more",
            )],
        ),
    ] {
        let got = import(&with_code(&quads), None);
        assert_eq!(got.warnings, expected, "{quads:x?}");
    }
    let mut bytes = object("k01_ifelse");
    let config = section(&bytes, ".AMDGPU.config");
    for (stack_size, warned) in [(0, 0), (32, 0), (33, 1), (255, 1)] {
        put(&mut bytes, config.offset + 4, stack_size << 8 | 0xffff_0004);
        let got = import(&bytes, None);
        assert_eq!(u32::from(got.program.regs.stack_size), stack_size);
        assert_eq!(got.warnings.len(), warned);
    }
    assert_eq!(
        import(&bytes, None).warnings,
        ["STACK_SIZE is 255; a unit built with MAX_STACK_SIZE 32 has no more than these"]
    );
}

/// The places that a CF program names, at their limits and one beyond.
#[test]
fn places_outside_are_refused() {
    let last = (LAST, 0);
    let cf = |opcode: u32, addr: u32| (addr, 1 << 31 | opcode << 23);
    // Fetch clauses of n instructions.
    let tex = |addr: u32, n: u32| {
        (
            addr,
            0x8080_0000 | ((n - 1) & 7) << 10 | ((n - 1) >> 3) << 19,
        )
    };
    let field = |field: &str, why: &str| Some(format!("x.o: {field}: {why}"));
    let no_end = "no 00000000 80200000 (NOP, END)";
    for (quads, expected) in [
        (vec![alu(8, 2, 1), NOP_END, last], None),
        (
            vec![alu(8, 3, 1), NOP_END, last],
            field(
                "quad 0 ADDR",
                "the clause begins at 3, and the function has 3 quads",
            ),
        ),
        (
            vec![alu(8, 0x3f_ffff, 1), NOP_END, last],
            field(
                "quad 0 ADDR",
                "the clause begins at 4194303, and the function has 3 quads",
            ),
        ),
        (
            vec![alu(8, 2, 2), NOP_END, last],
            field(
                "quad 0 COUNT",
                "the clause has 2 quads from 2 on, and the function 3",
            ),
        ),
        (
            vec![cf(0, 0), alu(8, 1, 1), NOP_END],
            field("quad 1 ADDR", "the clause begins at 1, in the CF program"),
        ),
        (
            vec![cf(0, 0), alu(8, 0, 1), NOP_END],
            field("quad 1 ADDR", "the clause begins at 0, in the CF program"),
        ),
        // The END that follows lies in the clause.
        (
            vec![alu(8, 1, 1), (LAST, 0x8020_0000), NOP_END],
            field(
                "CF program",
                &format!("{no_end} before quad 1, where the clause of quad 0 begins"),
            ),
        ),
        (
            vec![alu(8, 3, 1), alu(8, 2, 1), last, last, NOP_END],
            field(
                "CF program",
                &format!("{no_end} before quad 2, where the clause of quad 1 begins"),
            ),
        ),
        (vec![tex(2, 1), NOP_END, last, last], None),
        (
            vec![tex(2, 2), NOP_END, last, last, last],
            field(
                "quad 0 COUNT",
                "the clause has 4 quads from 2 on, and the function 5",
            ),
        ),
        ([&[tex(2, 16), NOP_END][..], &[last; 32]].concat(), None),
        (
            [&[tex(2, 16), NOP_END][..], &[last; 31]].concat(),
            field(
                "quad 0 COUNT",
                "the clause has 32 quads from 2 on, and the function 33",
            ),
        ),
        (
            vec![tex(u32::MAX, 16), NOP_END],
            field(
                "quad 0 ADDR",
                "the clause begins at 4294967295, and the function has 2 quads",
            ),
        ),
        // END alone, and a word that only resembles it.
        (vec![NOP_END], None),
        (
            vec![(1, 0x8020_0000)],
            field(
                "CF program",
                &format!("{no_end} in the 1 quads of the function"),
            ),
        ),
        (
            vec![cf(0, 0), (0, 0x0020_0000)],
            field(
                "CF program",
                &format!("{no_end} in the 2 quads of the function"),
            ),
        ),
        (vec![cf(10, 1), NOP_END], None),
        (
            vec![cf(10, 2), NOP_END],
            field("quad 0 ADDR", "2, and the CF program has 2 quads"),
        ),
        (
            vec![cf(5, u32::MAX), NOP_END, last],
            field("quad 0 ADDR", "4294967295, and the CF program has 2 quads"),
        ),
        (
            vec![cf(13, 2), NOP_END, last],
            field("quad 0 ADDR", "2, and the CF program has 2 quads"),
        ),
        // POP and TEX jump nowhere.
        (vec![cf(14, 77), NOP_END], None),
    ] {
        let bytes = with_code(&quads);
        let got = load(&bytes, "x.o", &LoadOptions::default()).map_err(|e| e.to_string());
        assert_eq!(got.err(), expected, "{quads:x?}");
    }
    // As long as a program may be, and longer.
    let mut quads = vec![(0, 1 << 31); MAX_QUADS - 1];
    quads.push(NOP_END);
    assert_eq!(
        import(&with_code(&quads), None).program.quads.len(),
        MAX_QUADS
    );
    quads.insert(0, (0, 1 << 31));
    assert_eq!(
        refused(&with_code(&quads), None),
        format!("x.o: CF program: {no_end} in {MAX_QUADS} quads, the most there may be")
    );
}
