//! Where the two sides of a dump differ: for each pair of signals that ever differ, a signal with their exclusive or.

use std::io::{self, BufRead, Write};

use rustc_hash::FxHashMap;

use super::time_of;

/// Scope of these signals in a dump.
pub const XOR: &str = "xor";

/// A signal that both sides of a view have.
struct Pair {
    /// The name as written in the dump: `lane[3] [7:0]`.
    reference: String,
    width: usize,
    /// Values in RTL and golden model, with as many digits as the width; empty before the first value.
    values: [Vec<u8>; 2],
    /// The values differ somewhere.
    differs: bool,
    /// The last exclusive or that was written.
    said: Vec<u8>,
}

impl Pair {
    /// Returns the digits in which the two values differ, one per bit. An x or z on one side only counts as a difference.
    fn xor(&self) -> Vec<u8> {
        let [rtl, golden] = &self.values;
        let digits = rtl.iter().zip(golden);
        digits.map(|(a, b)| b'0' + u8::from(a != b)).collect()
    }
}

/// The signals of both sides, collected while a dump is read line by line.
#[derive(Default)]
pub struct Sides {
    pairs: Vec<Pair>,
    /// Pair and side of each signal, by its code in the dump; signals that are always equal share a code.
    codes: FxHashMap<Vec<u8>, Vec<(usize, usize)>>,
    scopes: Vec<String>,
    /// Pairs with a value that changed since the last comparison: a few of hundreds per cycle.
    touched: Vec<usize>,
    /// The time of the last changes, in ns.
    now: u64,
}

/// Returns the time that a line such as `#120` begins.
pub fn time(line: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(line.strip_prefix(b"#")?).ok()?;
    digits.trim().parse().ok()
}

/// Returns the words of a line.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = line.split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty())
}

impl Sides {
    /// Reads a line of the header.
    fn declared(&mut self, line: &[u8]) {
        match words(line).collect::<Vec<_>>()[..] {
            [b"$scope", _, name, ..] => {
                self.scopes.push(String::from_utf8_lossy(name).into_owned());
            }
            [b"$upscope", ..] => {
                self.scopes.pop();
            }
            [b"$var", _, width, code, ref reference @ .., b"$end"] => {
                let side = match self.scopes.last().map(String::as_str) {
                    Some("rtl_view") => 0,
                    Some("golden_view") => 1,
                    _ => return,
                };
                let reference = String::from_utf8_lossy(&reference.join(&b' ')).into_owned();
                // A port carries the whole state into a view; skip it.
                if reference
                    .split(' ')
                    .next()
                    .is_some_and(|name| name.ends_with("_i"))
                {
                    return;
                }
                let width = String::from_utf8_lossy(width).parse().unwrap_or(1);
                let known = self.pairs.iter().position(|p| p.reference == reference);
                let pair = known.unwrap_or_else(|| {
                    self.pairs.push(Pair {
                        reference,
                        width,
                        values: Default::default(),
                        differs: false,
                        said: Vec::new(),
                    });
                    self.pairs.len() - 1
                });
                let sharing = self.codes.entry(code.to_owned()).or_default();
                sharing.push((pair, side));
            }
            _ => {}
        }
    }

    /// Reads a line that may change a value.
    fn changed(&mut self, line: &[u8]) {
        let mut words = words(line);
        let (digits, code) = match (words.next(), words.next(), words.next()) {
            (Some([b'b' | b'B', digits @ ..]), Some(code), None) => (digits, code),
            (Some(scalar @ [b'0' | b'1' | b'x' | b'X' | b'z' | b'Z', ..]), None, _) => {
                scalar.split_at(1)
            }
            _ => return,
        };
        let Some(sharing) = self.codes.get(code) else {
            return;
        };
        for (number, side) in sharing {
            self.touched.push(*number);
            let pair = &mut self.pairs[*number];
            // A dump omits leading digits that are 0, or that repeat a leading x or z.
            let fill = match digits.first() {
                Some(b'0' | b'1') | None => b'0',
                Some(other) => *other,
            };
            let missing = pair.width.saturating_sub(digits.len());
            let value = &mut pair.values[*side];
            value.clear();
            value.resize(missing, fill);
            value.extend(digits);
        }
    }

    /// Returns whether it is the time before the first edge of a run, when the RTL has its values of power-up.
    fn powers_up(&self) -> bool {
        self.now < time_of(0)
    }

    /// Compares the changed pairs when all changes at one time are known.
    fn compared(&mut self) {
        if self.powers_up() {
            return;
        }
        for number in self.touched.drain(..) {
            let pair = &mut self.pairs[number];
            pair.differs |= pair.values[0] != pair.values[1];
        }
    }

    /// Reads `dump` and returns the signals that ever differ.
    ///
    /// # Errors
    /// The dump cannot be read.
    pub fn of(mut dump: impl BufRead) -> io::Result<Self> {
        let mut sides = Sides::default();
        let mut line = Vec::new();
        let mut head = true;
        while dump.read_until(b'\n', &mut line)? > 0 {
            if head {
                sides.declared(&line);
                head = !line.starts_with(b"$enddefinitions");
            } else if let Some(time) = time(&line) {
                sides.compared();
                sides.now = time;
            } else {
                sides.changed(&line);
            }
            line.clear();
        }
        sides.compared();
        (sides.now, sides.touched) = (0, Vec::new());
        for pair in &mut sides.pairs {
            pair.values = Default::default();
        }
        // Pairs that never differ need not be looked at again.
        let pairs = &sides.pairs;
        sides.codes.retain(|_, sharing| {
            sharing.retain(|(number, _)| pairs[*number].differs);
            !sharing.is_empty()
        });
        Ok(sides)
    }

    fn differing(&self) -> impl Iterator<Item = (usize, &Pair)> {
        self.pairs.iter().enumerate().filter(|(_, p)| p.differs)
    }

    /// Returns the names of the signals that differ, without ranges.
    pub fn names(&self) -> Vec<String> {
        let names = self.differing().map(|(_, pair)| {
            let name = pair.reference.split(' ').next();
            name.unwrap_or_default().to_owned()
        });
        names.collect()
    }

    /// Declares the exclusive-or signals in the header of a dump.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn declare(&self, out: &mut impl Write) -> io::Result<()> {
        if self.differing().next().is_none() {
            return Ok(());
        }
        writeln!(out, "$scope module {XOR} $end")?;
        for (n, pair) in self.differing() {
            writeln!(
                out,
                "$var wire {} ~{XOR}{n} {} $end",
                pair.width, pair.reference
            )?;
        }
        writeln!(out, "$upscope $end")
    }

    /// Reads a line after the header, before it is copied. If the line begins a new time, first writes the exclusive or
    /// after the changes before it.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn line(&mut self, line: &[u8], out: &mut impl Write) -> io::Result<()> {
        if let Some(time) = time(line) {
            self.write(out)?;
            self.now = time;
            return Ok(());
        }
        if !self.codes.is_empty() {
            self.changed(line);
        }
        Ok(())
    }

    /// Writes the exclusive-or values that have changed.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.touched.sort_unstable();
        self.touched.dedup();
        let powers_up = self.powers_up();
        for n in &self.touched {
            let pair = &mut self.pairs[*n];
            let xor = match powers_up {
                true => vec![b'0'; pair.width],
                false => pair.xor(),
            };
            if !xor.is_empty() && xor != pair.said {
                out.write_all(b"b")?;
                out.write_all(&xor)?;
                writeln!(out, " ~{XOR}{n}")?;
                pair.said = xor;
            }
        }
        if !powers_up {
            self.touched.clear();
        }
        Ok(())
    }
}
