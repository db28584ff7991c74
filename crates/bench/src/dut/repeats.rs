//! What RTL prints at time 0, as in `initial`: each of its models prints it, in each process, and it is shown once.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The variable that tells a process to put [`MARK`] before what its RTL prints at time 0.
pub(super) const WANTED: &str = "RCV_MARKS";
/// Also in `crates/verilate/shim/stop.cpp`.
const MARK: u8 = 0x1e;
/// Longest line that is kept back until its end is there; the shim marks only shorter ones.
const LONGEST: usize = 1024;
/// Most lines that are known; any others are all shown.
const LINES: usize = 1000;

/// Takes marked lines out of the output of a process, if this process has shown them before.
#[derive(Default)]
pub(super) struct Repeats {
    /// The beginning of a marked line.
    line: Option<Vec<u8>>,
}

impl Repeats {
    /// Returns what is to be shown of `bytes`, which come next.
    pub fn pass<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.line.is_none() && !bytes.contains(&MARK) {
            return Cow::Borrowed(bytes);
        }
        let mut shown = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match &mut self.line {
                None if byte == MARK => self.line = Some(Vec::new()),
                None => shown.push(byte),
                Some(line) => {
                    line.push(byte);
                    if byte == b'\n' || line.len() == LONGEST {
                        shown.extend(self.end());
                    }
                }
            }
        }
        Cow::Owned(shown)
    }

    /// Returns what is to be shown of a line that does not go on.
    pub fn end(&mut self) -> Vec<u8> {
        let line = self.line.take().unwrap_or_default();
        if is_new(&line) { line } else { Vec::new() }
    }
}

/// Returns whether this process has not shown `line` yet.
fn is_new(line: &[u8]) -> bool {
    static SHOWN: Mutex<BTreeSet<Vec<u8>>> = Mutex::new(BTreeSet::new());
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match shown.contains(line) {
        true => false,
        false if shown.len() >= LINES => true,
        false => shown.insert(line.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two processes print, in pieces of `size` bytes.
    fn shown(outputs: [&str; 2], size: usize) -> [String; 2] {
        outputs.map(|output| {
            let mut repeats = Repeats::default();
            let mut shown = Vec::new();
            for piece in output.as_bytes().chunks(size) {
                shown.extend_from_slice(&repeats.pass(piece));
            }
            shown.extend(repeats.end());
            String::from_utf8(shown).unwrap()
        })
    }

    #[test]
    fn a_marked_line_is_shown_once_and_every_other_one_each_time() {
        for size in 1..20 {
            let old = format!("\x1eold {size}\n\x1eolder {size}\nlater\n");
            let new =
                format!("half\x1eold {size}\nlater\n\x1enew {size}\nlater\n\x1eolder {size}\n");
            let [first, second] = shown([&old, &new], size);
            assert_eq!(first, format!("old {size}\nolder {size}\nlater\n"));
            assert_eq!(second, format!("halflater\nnew {size}\nlater\n"));
        }
    }

    #[test]
    fn a_line_that_is_cut_off_is_shown() {
        let [first, second] = shown(["\x1ecut", "\x1ecut off\n\x1e"], 3);
        assert_eq!([first.as_str(), &second], ["cut", "cut off\n"]);
        let long = "x".repeat(LONGEST + 7);
        let [first, _] = shown([&format!("\x1e{long}\n"), ""], 100);
        assert_eq!(first, long + "\n");
    }
}
