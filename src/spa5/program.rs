//! A program as it lies in instruction memory, with what a launch needs (spa5-2.1, spa5-2.5).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::json::{hexes, map};

/// Bundles that a program may have here; the hardware's addresses go further.
pub const MOST_BUNDLES: usize = 16_384;

/// Bytes of a bundle.
pub const BUNDLE: u32 = 32;

/// Slots of a bundle, the control word included.
pub const WORDS: usize = 4;

/// A program: word i lies at byte address 8 i; every fourth, from 0 on, is a scheduling control word.
///
/// Addresses beyond the words read as 0, which is OTHER to the unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// What runs of it are called: file name or kernel.
    pub name: String,
    /// Operand of the launch: byte offset of the first instruction, a multiple of 8 (spa5-2.5).
    pub entry: u32,
    /// Operand of the launch: bytes that belong to the program, a multiple of 32.
    pub prog_size: u32,
    /// Control and instruction words; at most [`MOST_BUNDLES`] bundles, whole ones.
    #[serde(with = "hexes")]
    pub words: Vec<u64>,
    /// What the compiler listed for its SYNC, BRK and BRX: byte address of the instruction, the legal
    /// targets, normalized (cubin attribute 0x34, spa5-2.5). BRX draws from it.
    #[serde(deserialize_with = "map")]
    pub targets: BTreeMap<u32, Vec<u32>>,
}

impl Program {
    /// The word at byte address `pc`; 0 where nothing was loaded.
    pub fn word(&self, pc: u32) -> u64 {
        usize::try_from(pc / 8)
            .ok()
            .and_then(|i| self.words.get(i))
            .copied()
            .unwrap_or_default()
    }
}
