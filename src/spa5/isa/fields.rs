//! The fields of instruction words, each once (spa5-2.2 to spa5-2.4): [`Word`] decodes and encodes by them, and an explanation shows them.

use super::{LeaveOp, Target, Word};
use reconverge_program::layout::{Bits, put};

/// A row of the table: a field of an instruction word.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the specification.
    pub name: &'static str,
    /// Its place.
    pub bits: Bits,
    /// What it means.
    pub about: &'static str,
    /// The rule that says so.
    pub rule: &'static str,
    /// The value that the text does not mention; `None` for what the mnemonic and the target say.
    pub usual: Option<u64>,
}

impl Field {
    /// Returns the value in `word`.
    #[inline]
    pub const fn of(&self, word: u64) -> u64 {
        word >> self.bits.low & self.bits.mask()
    }

    /// Returns whether the bits of a flag are not all 0 in `word`.
    #[inline]
    pub const fn is_set(&self, word: u64) -> bool {
        self.of(word) != 0
    }

    /// Returns a word with this value and zeros elsewhere; bits above the width of the field are not encoded.
    #[inline]
    pub const fn put(&self, value: u64) -> u64 {
        self.with(0, value)
    }

    /// Returns `word` with this value.
    #[inline]
    pub const fn with(&self, word: u64, value: u64) -> u64 {
        put(&[self.bits], [word], value)[0]
    }
}

macro_rules! fields {
    ($($field:ident $name:literal $high:literal $low:literal, $usual:expr, $about:literal, $rule:literal;)+) => {$(
        #[doc = concat!("`", $name, "`: ", $about, " (", $rule, ").")]
        pub const $field: Field = Field {
            name: $name,
            bits: Bits { word: 0, high: $high, low: $low },
            about: $about,
            rule: $rule,
            usual: $usual,
        };
    )+};
}

fields! {
    OFF24 "off24" 43 20, None, "signed byte offset from pc + 8", "spa5-2.2-a";
    IMM32 "imm32" 51 20, None, "absolute byte address", "spa5-2.2-d";
    IN_BANK "constant bank" 5 5, None, "0 = target in the word; 1 = offset in a constant bank", "spa5-2.3-n";
    BANK "bank" 40 36, None, "number of the constant bank", "spa5-2.3-n";
    ADDRESS "address" 35 20, None, "address in it", "spa5-2.3-n";
    INVERT "pppp, invert" 19 19, Some(0), "1 = the predicate is inverted", "spa5-2.4-a";
    PREDICATE "pppp" 18 16, Some(7), "number of the predicate: 7 PT (always true)", "spa5-2.4-a";
    TEST "ccccc" 4 0, Some(15), "CC test: 15 T (always true)", "spa5-2.4-c";
    UNANIMOUS ".U" 7 7, Some(0), "1 = unanimous: taken by all or by none", "spa5-4.3-c";
    LMT ".LMT" 6 6, Some(0), "no effect here", "spa5-2.3-o";
    LMT_OF_BRX ".LMT" 6 6, Some(0), "no effect here", "spa5-A-a";
    COUNTS "NOINC" 6 6, Some(1), "0 = .NOINC, without effect here", "spa5-2.3-o";
    REGISTER "register" 15 8, None, "number of the register that is added to the target", "spa5-A-a";
    KEEP_REF_COUNT ".KEEPREFCOUNT" 5 5, Some(0), "no effect here", "spa5-2.3-o";
}

impl Word {
    /// Returns the fields that it has beside its opcode; none of a word that is passed through or refused.
    pub fn fields(self) -> Vec<Field> {
        let target: &[Field] = match self.target() {
            Some(Target::Offset(_)) => &[OFF24, IN_BANK],
            Some(Target::Absolute(_)) => &[IMM32, IN_BANK],
            Some(Target::Bank { .. }) => &[BANK, ADDRESS, IN_BANK],
            None => &[],
        };
        let others: &[Field] = match self {
            Word::SetUp(set_up) if set_up.op.has_noinc() => &[COUNTS],
            Word::Leave(leave) if leave.op == LeaveOp::Exit => {
                &[INVERT, PREDICATE, TEST, KEEP_REF_COUNT]
            }
            Word::Branch(_) => &[INVERT, PREDICATE, TEST, UNANIMOUS, LMT],
            Word::Indirect(_) => &[INVERT, PREDICATE, TEST, REGISTER, LMT_OF_BRX],
            Word::Leave(_) => &[INVERT, PREDICATE, TEST],
            _ => &[],
        };
        [target, others].concat()
    }

    /// Returns words with the usual value in all of its fields or in one of them, or with P0 as predicate.
    pub fn simpler(self) -> Vec<u64> {
        let (fields, word) = (self.fields(), self.encode());
        let unusual: Vec<Field> = (fields.into_iter())
            .filter(|field| field.usual.is_some_and(|to| to != field.of(word)))
            .collect();
        let usual = |word, field: &Field| field.usual.map_or(word, |to| field.with(word, to));
        // PT is not inverted, which would be never.
        let one = |field: &Field| match field.name == PREDICATE.name {
            true => usual(usual(word, field), &INVERT),
            false => usual(word, field),
        };
        let mut all: Vec<u64> = unusual.iter().map(one).collect();
        if let [_, _, ..] = unusual[..] {
            all.insert(0, unusual.iter().fold(word, usual));
        }
        let number = unusual.iter().find(|field| field.name == PREDICATE.name);
        all.extend(number.map(|field| field.with(word, 0)));
        all
    }
}
