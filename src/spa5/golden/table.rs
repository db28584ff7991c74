//! The table of the words beside what the golden model reads, which does not use it.

use super::*;
use crate::spa5::isa::tests::words;
use crate::spa5::isa::{Cond, Target, Test, Word};

#[test]
fn golden_model_reads_what_the_table_says() {
    let golden = Golden::new(32);
    // The plane of predicate n holds for thread n alone.
    let p = std::array::from_fn(|n| 1 << n);
    let pins = In { p, ..In::default() };
    for (word, brx) in words().flat_map(|word| [(word, false), (word, true)]) {
        let table = Word::decode(word);
        let expected = match table {
            Word::Other(_) => Ok("OTHER"),
            Word::Illegal(_) => Err(Error::Illegal),
            Word::Unsupported(..) => Err(Error::Unsupported),
            Word::Indirect(it) if !brx || matches!(it.target, Target::Bank { .. }) => {
                Err(Error::Unsupported)
            }
            named => Ok(named.name().unwrap()),
        };
        let found = decode(word, brx).map(|op| format!("{op:?}").to_uppercase());
        assert_eq!(found.as_deref(), expected.as_deref(), "{word:016x}");
        if found.is_err() {
            continue;
        }
        let constant = word as u32;
        match table.target() {
            Some(Target::Absolute(address)) => assert_eq!(imm32(word), address, "{word:016x}"),
            Some(Target::Bank { .. }) => {
                let offset = i64::from((constant << 8) as i32 >> 8);
                assert_eq!(golden.relative(word, constant), 16 + offset, "{word:016x}");
            }
            Some(offset) => {
                assert_eq!(
                    Some(golden.relative(word, constant)),
                    offset.address(8),
                    "{word:016x}"
                );
            }
            None => {}
        }
        let Some(Cond { pred, test }) = table.cond() else {
            continue;
        };
        let holds = match pred.number {
            7 => u64::MAX,
            n => 1 << n,
        };
        let holds = if pred.not { !holds } else { holds };
        assert_eq!(predicate(word, &pins), holds, "{word:016x}");
        assert_eq!(Test::from_code(bits(word, 4, 0)), test, "{word:016x}");
    }
}
