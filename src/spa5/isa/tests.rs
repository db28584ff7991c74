//! Tests of the instruction set.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::rules;
use crate::spa5::program::MAX_BUNDLES;

fn set_up(op: SetUpOp, offset: i32) -> Word {
    Word::set_up(op).with_target(Target::Offset(offset))
}

/// Words with every value of bits 63:48, and with every value of bits 15:0 behind each opcode of the block; the other bits are random.
pub(in crate::spa5) fn words() -> impl Iterator<Item = u64> {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let high = (0..=0xffff_u64).map(|high| (high << 48, 48));
    let ops = (0xE20..=0xE3F_u64).map(|op| op << 52).chain([0xF0F8 << 48]);
    let low = ops.flat_map(|op| (0..=0xffff).map(move |low| (op | low, 0)));
    high.chain(low).map(move |(word, given)| {
        let random: u64 = rng.random();
        let free = match given {
            48 => (1 << 48) - 1,
            _ => 0x0007_ffff_ffff_0000,
        };
        word | random & free
    })
}

/// The rows of spa5-2.3: mnemonic, canonical word, fields.
fn rows() -> impl Iterator<Item = (&'static str, u64, &'static str)> {
    rules::of("spa5").iter().filter_map(|rule| {
        let word = rule.cell("canonical word").split(' ').next()?;
        let name = rule.cell("instruction").split(' ').next()?;
        let word = u64::from_str_radix(word, 16).ok()?;
        Some((name, word, rule.cell("fields")))
    })
}

#[test]
fn canonical_words_of_the_table() {
    let always = Cond::ALWAYS;
    let set_ups = SetUpOp::ALL.iter().map(|op| Word::set_up(*op));
    let leaves = LeaveOp::ALL.iter().map(|op| Word::leave(*op, always));
    let all = set_ups
        .chain(leaves)
        .chain([Word::bra(always), Word::jmp(always)]);
    for word in all.clone() {
        let mut row = rows().filter(|(name, ..)| Some(*name) == word.name());
        let row = row.next();
        let (_, canonical, _) = row.unwrap_or_else(|| panic!("spa5-2.3 has no row {word:?}"));
        let target = Word::decode(canonical).target();
        let word = target.map_or(word, |target| word.with_target(target));
        assert_eq!(Word::decode(canonical), word, "{canonical:016x}");
        assert_eq!(word.encode(), canonical, "{word:?}");
    }
    assert_eq!(rows().count(), all.count());
    for (op, offset, word) in [
        (SetUpOp::Ssy, 0x40, 0xe290_0000_0400_0000),
        (SetUpOp::Pcnt, -8, 0xe2b0_0fff_ff80_0000),
    ] {
        assert_eq!(set_up(op, offset).encode(), word);
    }
    assert_eq!(Word::decode(NOP), Word::NOP);
}

/// The rows of spa5-2.3 name the fields, and the bits of flags.
#[test]
fn fields_are_those_of_the_table() {
    for (name, word, said) in rows() {
        let fields = Word::decode(word).fields();
        for field in &fields {
            let bit = field.bits.low;
            let named = match field.name {
                // It is in the column of the opcode.
                "constant bank" => continue,
                "NOINC" => format!("bit {bit}: 1 = {name}, 0 = {name}.NOINC"),
                "pppp, invert" => "pppp".to_owned(),
                flag if flag.starts_with('.') => format!("bit {bit} = {flag}"),
                plain => plain.to_owned(),
            };
            assert!(said.contains(&named), "{name}: {named} in {said}");
        }
        // Two fields are one there, `pppp`.
        let items = said
            .split(", ")
            .filter(|item| !(item.is_empty() || item.starts_with("0 = ")));
        let others = ["constant bank", "pppp, invert"];
        let own = fields.iter().filter(|field| !others.contains(&field.name));
        assert_eq!(items.count(), own.count(), "{name}: {said}");
    }
}

/// Fields that no canonical word of the specification uses: the register, a place in a constant bank, an inverted predicate.
#[test]
fn fields_without_a_canonical_word_lie_where_the_rules_put_them() {
    let always = Cond::ALWAYS;
    let brx = Word::Indirect(Indirect {
        cond: always,
        target: Target::Offset(-8),
        register: 0xA5,
        lmt: false,
    });
    assert_eq!(brx.encode(), 0xe250_0fff_ff87_a50f, "spa5-A-a: bits 15:8");
    let (bank, address) = (0x15, 0xA5C3);
    let bra = Word::bra(always).with_target(Target::Bank { bank, address });
    assert_eq!(
        bra.encode(),
        0xe240_015a_5c37_002f,
        "spa5-2.3-n: bits 40:36, 35:20"
    );
    let pred = Pred {
        number: 2,
        not: true,
    };
    let exit = Word::leave(
        LeaveOp::Exit,
        Cond {
            pred,
            test: Test::Hi,
        },
    );
    assert_eq!(
        exit.encode(),
        0xe300_0000_000a_0014,
        "spa5-2.4-a: bits 19:16"
    );
    for word in [brx, bra, exit] {
        assert_eq!(Word::decode(word.encode()), word);
    }
}

/// Walks one bit through a word of each opcode: each bit is in a field, is ignored as spa5-2.3 says, or changes
/// the opcode.
#[test]
fn every_bit_is_a_field_or_ignored() {
    let mask = |hi: u32, lo: u32| (1 << (hi + 1)) - (1 << lo);
    let cond: u64 = mask(19, 16) | mask(4, 0);
    for op in 0xE20..=0xE3F_u64 {
        for bank in [0, 1 << 5] {
            let target = if bank == 0 {
                mask(43, 20)
            } else {
                mask(40, 20)
            } | 1 << 5;
            let absolute = mask(51, 20);
            let fields = match op {
                // Without a constant-bank form, the whole word is kept.
                0xE20..=0xE22 if bank != 0 => mask(51, 0),
                0xE20 => absolute | cond | mask(15, 8) | 1 << 6,
                0xE21 => absolute | cond | mask(7, 6),
                0xE22 => absolute | 1 << 6,
                0xE29..=0xE2B => target,
                0xE26 | 0xE27 => target | 1 << 6,
                0xE24 => target | cond | mask(7, 6),
                0xE25 => target | cond | mask(15, 8) | 1 << 6,
                0xE32..=0xE35 => cond,
                0xE30 => cond | 1 << 5,
                _ => mask(51, 0),
            };
            let plain = op << 52 | bank & fields;
            assert!(Word::is_canonical(plain), "{plain:016x}");
            for i in 0..52 {
                // Bit 5 itself determines the fields.
                if i == 5 {
                    continue;
                }
                let word = plain ^ 1 << i;
                let again = Word::decode(word).encode();
                let kept = if fields >> i & 1 == 1 { word } else { plain };
                assert_eq!(again, kept, "{word:016x}");
                assert_eq!(Word::is_canonical(word), fields >> i & 1 == 1);
            }
        }
    }
    // The high 13 bits distinguish SYNC.
    let sync = 0xf0f8_0000_0007_000f;
    for i in 0..64 {
        let word: u64 = sync ^ 1 << i;
        match i {
            51.. => assert_eq!(Word::decode(word), Word::Other(word)),
            _ if cond >> i & 1 == 1 => assert_eq!(Word::decode(word).encode(), word),
            _ => assert_eq!(Word::decode(word).encode(), sync),
        }
    }
}

/// spa5-2.3: names and numbers of the block, and opcodes outside it.
#[test]
fn opcodes_are_those_of_the_list() {
    let text = &rules::find("spa5-2.3-q").unwrap().text;
    let words: Vec<&str> = text
        .split([' ', ',', '.'])
        .filter(|w| !w.is_empty())
        .collect();
    let listed = words.windows(2).filter_map(|pair| {
        let op = u64::from_str_radix(pair[0], 16).ok();
        op.filter(|op| op >> 4 == 0xE2 || op >> 4 == 0xE3)
            .map(|op| (op, pair[1]))
    });
    let rows = rows().map(|(name, word, _)| (word >> 52, name));
    let mut named: Vec<(u64, &str)> = listed.chain(rows).filter(|(op, _)| *op < 0xF00).collect();
    named.sort_unstable();
    assert!(
        named.iter().map(|(op, _)| *op).eq(0xE20..=0xE3A),
        "{named:x?}"
    );
    let count = named.len();
    for (op, name) in named {
        assert_eq!(Word::decode(op << 52).name(), Some(name), "{op:x}");
    }
    // JCAL twice, and JMX and JMP in their constant-bank forms.
    assert_eq!(
        BlockOp::ALL.len() + SetUpOp::ALL.len() + LeaveOp::ALL.len() - 1 + 2,
        count + 1
    );
    for op in 0xE3B..=0xE3F_u64 {
        let word = op << 52 | 0x7_000f;
        assert_eq!(Word::decode(word), Word::Illegal(word));
        assert_eq!(Word::decode(word).name(), None);
    }
    for word in [
        0,
        u64::MAX,
        0xe1ff << 48,
        0xe400 << 48,
        0xf0f0 << 48,
        CONTROL,
    ] {
        assert_eq!(Word::decode(word), Word::Other(word));
        assert_eq!(Word::decode(word).encode(), word);
    }
}

/// Names and codes of spa5-2.4.
#[test]
fn tests_are_those_of_the_table() {
    let names = "F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T OFF LO SFF LS HI SFT HS OFT \
                 CSM_TA CSM_TR CSM_MX FCSM_TA FCSM_TR FCSM_MX RLE RGT";
    assert_eq!(names.split(' ').count(), 32);
    for (code, name) in (0..).zip(names.split(' ')) {
        let test = Test::from_code(code);
        assert_eq!((test.name(), u64::from(test.bits())), (name, code));
        assert_eq!(Test::from_name(&name.to_lowercase()), Some(test));
        assert_eq!(test.is_clip(), code >= 0x18);
        assert_eq!(Test::from_code(code + 32), test);
    }
    assert_eq!(Test::from_name("SYNC"), None);
}

#[test]
fn encode_masks_too_wide_values() {
    let word = Word::Branch(Branch {
        cond: Cond::pred(Pred::p(0xF8)),
        target: Target::Bank {
            bank: 0xE0,
            address: 0,
        },
        unanimous: false,
        lmt: false,
    });
    assert_eq!(word.encode(), 0xe240_0000_0000_002f);
    let word = set_up(SetUpOp::Ssy, 1 << 24);
    assert_eq!(word.encode(), 0xe290 << 48);
}

/// spa5-2.1 and spa5-2.2, with the places of the worked examples.
#[test]
fn addresses() {
    assert_eq!([0, 8, 0x18, 0x20, 0x3c].map(norm), [8, 8, 0x18, 0x28, 0x3c]);
    assert_eq!([8, 0x10, 0x18, 0x38].map(seq), [0x10, 0x18, 0x28, 0x48]);
    assert_eq!([norm(u32::MAX - 31), seq(u32::MAX - 7)], [u32::MAX - 23, 8]);
    assert!(is_control(0x40) && !is_control(0x48));
    // Slot 2: the base is the next control word. At 0x18, `e240000001800000` leads to 0x38.
    let target = Target::direct(0x18, 0x38);
    assert_eq!(target, Some(Target::Offset(0x18)));
    assert_eq!(Target::Offset(0x18).address(0x18), Some(0x38));
    for (address, offset) in [
        (0x10 + 0x7f_ffff, Some(0x7f_ffff)),
        (0x10 + 0x80_0000, None),
        (0x10 - 0x80_0000, Some(-0x80_0000)),
        (0x10 - 0x80_0001, None),
        (i64::MAX, None),
    ] {
        assert_eq!(Target::direct(8, address), offset.map(Target::Offset));
    }
}

#[test]
fn control_words_with_a_plain_slot() {
    let all = |control| (0..3).fold(control, with_plain_slot);
    assert_eq!(all(0), CONTROL);
    assert_eq!(all(u64::MAX), CONTROL | 1 << 63);
    assert_eq!(with_plain_slot(0, 1), 0x7ef << 21);
    assert_eq!(with_plain_slot(u64::MAX, 2), !(0x1f_f810 << 42));
}

#[test]
fn code_places_control_words_and_labels() {
    let mut code = Code::default();
    assert!(code.is_empty());
    let [slot, control, behind] = [(); 3].map(|()| code.label());
    assert_eq!((code.here(), code.end()), (8, 0));
    let sync = Word::leave(LeaveOp::Sync, Cond::ALWAYS);
    assert_eq!(code.push_to(Word::set_up(SetUpOp::Ssy), slot), 8);
    assert_eq!(code.push_to(Word::set_up(SetUpOp::Pcnt), control), 0x10);
    // It has no target, so the label has no effect.
    assert_eq!(code.push_to(sync, behind), 0x18);
    assert_eq!((code.here(), code.end()), (0x28, 0x20));
    code.bind(slot);
    code.bind_control(control);
    assert_eq!(code.control(7), Some(0x20));
    assert_eq!(code.control(8), None);
    assert_eq!((code.here(), code.end()), (0x28, 0x28));
    assert_eq!(code.address(control), Some(0x20));
    assert_eq!(code.push_to(Word::bra(Cond::ALWAYS), slot), 0x28);
    code.align(64);
    assert_eq!(code.end(), 0x40);
    code.push_raw(1);
    let words = code.clone().finish().unwrap();
    assert_eq!(
        words,
        [
            CONTROL,
            0xe290_0000_0180_0000,
            0xe2b0_0000_0080_0000,
            0xf0f8_0000_0007_000f,
            7,
            0xe240_0fff_ff87_000f,
            NOP,
            NOP,
            CONTROL,
            1,
            NOP,
            NOP
        ]
    );
    let at = code.push_to(Word::bra(Cond::ALWAYS), behind);
    let unbound = CodeError::Unbound { at, label: behind };
    assert_eq!(code.clone().finish(), Err(unbound));
    code.bind_at(behind, 0x104);
    let words = code.finish().unwrap();
    assert_eq!(words[at as usize / 8], 0xe240_0000_0ac7_000f);
}

#[test]
fn code_has_a_limit() {
    let mut code = Code::default();
    for _ in 0..3 * MAX_BUNDLES {
        assert!(!code.is_full());
        code.push(Word::NOP);
    }
    assert!(code.is_full());
    assert_eq!(code.clone().finish().unwrap().len(), 4 * MAX_BUNDLES);
    code.push(Word::NOP);
    assert_eq!(code.finish(), Err(CodeError::TooLong));
}
