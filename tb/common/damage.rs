//! Files with damage of the kinds that editors, disks and attackers do.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::input::InputError;

/// One to four changes of `bytes`; `tokens` are what the format is made of.
fn mutate(rng: &mut Pcg64Mcg, bytes: &mut Vec<u8>, tokens: &[&str]) {
    for _ in 0..rng.random_range(1..=4) {
        let len = bytes.len();
        let at = rng.random_range(0..=len);
        let span = at..(at + rng.random_range(0..40)).min(len);
        match rng.random_range(0..8) {
            0 if at < len => bytes[at] ^= 1 << rng.random_range(0..8),
            1 if at < len => bytes[at] = rng.random(),
            2 => drop(bytes.drain(span)),
            3 => {
                let part = bytes[span].to_vec();
                let to = rng.random_range(0..=len);
                bytes.splice(to..to, part);
            }
            4 => {
                let token = tokens[rng.random_range(0..tokens.len())];
                bytes.splice(at..at, token.bytes());
            }
            5 if rng.random_range(0..8) == 0 => bytes.truncate(at),
            6 if at < len => {
                bytes[at] = b"0123456789abcdefxi,-><()[]!~;.\n\t "[rng.random_range(0..33)]
            }
            _ => {
                let token = tokens[rng.random_range(0..tokens.len())];
                let end = (at + token.len()).min(len);
                bytes.splice(at..end, token.bytes());
            }
        }
    }
}

/// 10,000 damaged files of one kind: `read` does not panic, and every error names the file, a field, and no
/// line behind its end. What `read` accepts it must check itself. Some are read and some refused.
pub fn survive(
    seed: u64,
    file: &str,
    originals: &[String],
    tokens: &[&str],
    read: impl Fn(&[u8]) -> Result<(), InputError>,
) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let (mut good, mut refused) = (0, 0);
    for round in 0..10_000 {
        let mut bytes = originals[round % originals.len()].clone().into_bytes();
        mutate(&mut rng, &mut bytes, tokens);
        let lines = 1 + bytes.iter().filter(|b| **b == b'\n').count();
        match read(&bytes) {
            Ok(()) => good += 1,
            Err(e) => {
                assert_eq!(e.file, file, "round {round}");
                assert!(
                    e.line <= lines && !e.field.is_empty() && !e.message.is_empty(),
                    "round {round}: {e}"
                );
                refused += 1;
            }
        }
    }
    assert!(
        good > 500 && refused > 500,
        "{good} read, {refused} refused"
    );
}
