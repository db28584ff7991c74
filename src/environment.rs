//! Conditions come from an environment: what the black boxes (ALU, texture, memory) give each lane.
//!
//! A lane's draw depends on the lane's own history only, so that it draws the same bits alone, in
//! the wavefront and in anybody else's program.

/// How many condition bits one draw gives.
pub const BITS: u32 = 16;

/// The 64-bit word of draw number `k` (from 0) of lane `lane`: SplitMix64 over seed, lane and k.
pub fn draw_word(seed: u64, lane: u32, k: u64) -> u64 {
    let mut z = seed
        .wrapping_add(u64::from(lane).wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_add(k.wrapping_add(1).wrapping_mul(0xBF58_476D_1CE4_E5B9));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Condition bit `j` (0..=15) of a draw: 1 with probability `p16`/16.
pub fn bit(word: u64, j: u32, p16: u32) -> bool {
    ((word >> (4 * j)) & 15) < u64::from(p16)
}

/// The lowest `count` condition bits of a draw, bit j of the result being condition bit j.
pub fn bits(word: u64, count: u32, p16: u32) -> u16 {
    (0..count).fold(0, |acc, j| acc | u16::from(bit(word, j, p16)) << j)
}
