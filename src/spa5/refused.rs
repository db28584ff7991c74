//! Instructions of a program that a build of the unit refuses (spa5-2.5-i).

use std::collections::BTreeMap;

use super::Spa5;
use super::isa::{Target, Word, is_control};
use super::program::Program;
use reconverge_bench::design::Build;

const UNSUPPORTED: &str = "error 10 (UNSUPPORTED)";

/// Returns one line for each kind of instruction that ends in an error in a unit built as `build`, with the number of them, in
/// the order in which they occur, whether or not they are reached.
pub fn refused(program: &Program, build: &Build) -> Vec<String> {
    let has = |parameter| build.value::<Spa5>(parameter) == 1;
    let mut kinds: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for (n, word) in (0..).zip(&program.words) {
        let pc = program.prog_base.wrapping_add(8 * n);
        if is_control(pc) {
            continue;
        }
        if let Some(kind) = refuses(Word::decode(*word), has("BRX"), has("CSM")) {
            let (count, _) = found.entry(kind.clone()).or_insert_with(|| {
                kinds.push(kind);
                (0, pc)
            });
            *count += 1;
        }
    }
    (kinds.iter())
        .map(|kind| {
            let (count, first) = found[kind];
            let (what, error) = kind.split_once(": ").unwrap_or((kind, ""));
            match count {
                1 => format!("1 {what}, at {first:#06x}: {error}"),
                n => format!("{n} {what}, the first at {first:#06x}: {error}"),
            }
        })
        .collect()
}

/// Returns what is refused in an instruction, if anything, and how it ends.
fn refuses(word: Word, brx: bool, csm: bool) -> Option<String> {
    let name = word.name().unwrap_or_default();
    match word {
        Word::Unsupported(op, _) => return Some(format!("{}: {UNSUPPORTED}", op.name())),
        Word::Illegal(_) => {
            return Some("of an opcode without a name: error 9 (ILLEGAL)".to_owned());
        }
        Word::Indirect(indirect) if matches!(indirect.target, Target::Bank { .. }) => {
            return Some(format!("{name} by a constant bank: {UNSUPPORTED}"));
        }
        Word::Indirect(_) if !brx => {
            return Some(format!(
                "{name}: {UNSUPPORTED} unless the unit is built with BRX=1"
            ));
        }
        _ => {}
    }
    let cond = word.cond()?;
    (cond.test.is_clip() && !csm).then(|| {
        let test = cond.test.name();
        format!("{name} CC.{test}: {UNSUPPORTED} unless the unit is built with CSM=1")
    })
}
