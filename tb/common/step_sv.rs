//! The naive steps that proofs compare the RTL with (`rtl/<unit>/<unit>_step.sv`), held against the Python of the
//! specifications: random states that the invariants allow, random instructions.
//!
//! What runs here is the graph that Yosys makes of the file and that proofs are made with, so that a mistake of its front end
//! would show too.

/// `value` in `width` bits.
pub fn bits(value: u64, width: usize) -> Vec<bool> {
    (0..width).map(|i| value >> i & 1 == 1).collect()
}

pub fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |n, bit| n << 1 | u64::from(*bit))
}

/// Bit i is what `bit` says of element i.
pub fn mask(values: &[u64], bit: impl Fn(u64) -> bool) -> u64 {
    (0..)
        .zip(values)
        .map(|(i, value)| u64::from(bit(*value)) << i)
        .sum()
}

/// Elements of `width` bits each, the first lowest.
pub fn words(values: &[u64], width: usize) -> Vec<bool> {
    values
        .iter()
        .flat_map(|value| bits(*value, width))
        .collect()
}
