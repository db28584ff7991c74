//! Literals of the RTL's text.

use std::collections::BTreeSet;

/// Most literals that a declaration gets.
const MOST: usize = 256;
/// Smaller values come up by themselves.
const LEAST: u64 = 64;

/// Returns the literals in `texts`, without comments, that a pin of more than 6 bits is seldom drawn as: at least 64, each once, in
/// ascending order. If there are too many, the least are left out.
pub fn literals(texts: impl IntoIterator<Item = String>) -> Vec<u64> {
    let mut all = BTreeSet::new();
    for text in texts {
        // A string has none.
        for code in text.split('"').step_by(2) {
            let word = |c: char| !c.is_ascii_alphanumeric() && !"_'$?".contains(c);
            all.extend(code.split(word).filter_map(literal));
        }
    }
    let most = i64::MAX as u64;
    let all: Vec<u64> = all.range(LEAST..=most).copied().collect();
    all[all.len().saturating_sub(MOST)..].to_vec()
}

/// Reads `32'hdead_beef`, `'d100` or `100`.
fn literal(word: &str) -> Option<u64> {
    let (size, digits) = word.split_once('\'').unwrap_or(("", word));
    if !size.chars().all(|c| c.is_ascii_digit() || c == '_') {
        return None;
    }
    let based = word.contains('\'');
    let digits = digits.to_ascii_lowercase().replace('_', "");
    let digits = match based {
        true => digits.strip_prefix('s').unwrap_or(&digits),
        false => &digits,
    };
    let radix = match digits.chars().next()? {
        'h' if based => 16,
        'd' if based => 10,
        'o' if based => 8,
        'b' if based => 2,
        _ if based => return None,
        _ => return digits.parse().ok(),
    };
    u64::from_str_radix(&digits[1..], radix).ok()
}
