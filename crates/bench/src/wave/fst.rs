//! Dumps as FST, GTKWave's own format: reads a VCD and writes it again in less space.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType,
    FstVarDirection, FstVarType,
};
use vcd::{Command, IdCode, ScopeItem, ScopeType, TimescaleUnit, Value, Var, VarType};

use super::{Output, WORDS, Words};

/// Bytes of changes that are buffered before they are written.
const BLOCK: usize = 1 << 24;
/// Width in bits of the widest signal that is written.
const WIDEST: u32 = 1 << 20;
/// Bytes of the longest name that the format can hold.
const LONGEST: usize = 512;

/// Returns how many letters each of `words` needs. The format has strings, but the crate that writes it does not support
/// them: they become vectors with eight bits per letter, which viewers show as text.
pub fn letters(words: &Words) -> Vec<usize> {
    let mut letters = vec![1; words.signals.len()];
    for (_, signal, text) in &words.changes {
        letters[*signal] = letters[*signal].max(text.len());
    }
    letters
}

/// Writes the VCD `dump` as FST beside it and removes the VCD; `letters` are those of its text signals. Returns the path of
/// the FST.
///
/// # Errors
/// The VCD has something that cannot be written as FST, or a file cannot be read or written. The VCD then stays.
pub fn convert(dump: &Path, letters: &[usize]) -> Result<PathBuf, String> {
    let path = dump.with_extension("fst");
    let from = |e: std::io::Error| format!("{}: {e}", dump.display());
    let to = |e: std::io::Error| format!("{}: {e}", path.display());
    if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file() && !there.is_symlink()) {
        return Err(format!("{}: not a regular file", path.display()));
    }
    let vcd = BufReader::new(fs::File::open(dump).map_err(from)?);
    let out = BufWriter::new(Output::replacing(&path).map_err(to)?);
    let out = copy(vcd, out, letters, BLOCK).map_err(|e| format!("{}: {e}", path.display()))?;
    let file = out.into_inner().map_err(|e| to(e.into_error()))?;
    file.finish().map_err(to)?;
    fs::remove_file(dump).map_err(from)?;
    Ok(path)
}

/// A signal in the FST.
struct Signal {
    id: FstSignalId,
    /// Width in bits.
    width: usize,
}

/// Writes the VCD `from` as FST into `out` and returns `out`. `letters` are those of its text signals. Changes are written
/// once there are `block` bytes of them.
///
/// # Errors
/// The VCD has something that cannot be written as FST, which the message names; `out` cannot be written.
pub fn copy<W: Write + Seek>(
    from: impl BufRead,
    out: W,
    letters: &[usize],
    block: usize,
) -> Result<W, String> {
    let mut parser = vcd::Parser::new(from);
    let header = parser.parse_header().map_err(|e| e.to_string())?;
    let info = FstInfo {
        start_time: 0,
        timescale_exponent: exponent(header.timescale)?,
        version: format!("reconverge {}", env!("CARGO_PKG_VERSION")),
        date: String::new(),
        file_type: FstFileType::Verilog,
    };
    let head = FstHeaderWriter::new(out, &info).map_err(|e| e.to_string())?;
    let words = letters.iter().enumerate().filter_map(|(n, letters)| {
        let code = format!("~{WORDS}{n}").parse().ok()?;
        Some((code, *letters))
    });
    let mut head = Head {
        head,
        signals: HashMap::new(),
        words: words.collect(),
    };
    head.declare(&header.items)?;
    let Head {
        head,
        signals,
        words,
    } = head;
    let mut body = head.finish().map_err(|e| e.to_string())?;
    let mut value = Vec::new();
    // A text signal is empty before its first text.
    for signal in words.keys().filter_map(|code| signals.get(code)) {
        change(&mut body, signal, std::iter::empty(), b'0', &mut value)?;
    }
    // Time, and how many times are in the block.
    let (mut now, mut times, mut any) = (0, 0, false);
    for command in parser {
        let signal = |code: IdCode| {
            let known = signals.get(&code);
            known.ok_or_else(|| format!("a change of a signal that it does not declare: {code}"))
        };
        match command.map_err(|e| e.to_string())? {
            Command::Timestamp(time) => {
                // A block ends only where time advances, and only if it has a time.
                if time > now && times > 0 && body.size() > block {
                    body.flush().map_err(|e| e.to_string())?;
                    times = 0;
                }
                body.time_change(time).map_err(|e| e.to_string())?;
                times += usize::from(time > now);
                any |= time > now;
                now = time;
            }
            Command::ChangeScalar(code, digit) => {
                let digit = letter(digit);
                change(
                    &mut body,
                    signal(code)?,
                    [digit].into_iter(),
                    fill(digit),
                    &mut value,
                )?;
            }
            Command::ChangeVector(code, digits) => {
                let first = digits.iter().next().map_or(b'0', letter);
                let digits = digits.iter().map(letter);
                change(&mut body, signal(code)?, digits, fill(first), &mut value)?;
            }
            Command::ChangeString(code, text) => {
                let bytes = unescaped(&text);
                let digits = bytes.iter().flat_map(|byte| {
                    let bits = (0..8).rev();
                    bits.map(move |bit| b'0' + (byte >> bit & 1))
                });
                change(&mut body, signal(code)?, digits, b'0', &mut value)?;
            }
            Command::Begin(_) | Command::End(_) | Command::Comment(_) => {}
            other => return Err(format!("not written as FST: {other:?}")),
        }
    }
    if !any {
        return Err("nothing in it but its first time".to_owned());
    }
    body.finish().map_err(|e| e.to_string())
}

/// Returns the power of ten of a time unit, in seconds.
fn exponent(timescale: Option<(u32, TimescaleUnit)>) -> Result<i8, String> {
    let (count, unit) = timescale.ok_or("no $timescale in it")?;
    let unit = match unit {
        TimescaleUnit::S => 0,
        TimescaleUnit::MS => -3,
        TimescaleUnit::US => -6,
        TimescaleUnit::NS => -9,
        TimescaleUnit::PS => -12,
        TimescaleUnit::FS => -15,
    };
    match count {
        1 => Ok(unit),
        10 => Ok(unit + 1),
        100 => Ok(unit + 2),
        _ => Err(format!("$timescale {count}: not 1, 10 or 100")),
    }
}

/// The FST header, made from the declarations of a VCD.
struct Head<W: Write + Seek> {
    head: FstHeaderWriter<W>,
    signals: HashMap<IdCode, Signal>,
    /// Letters of the text signals.
    words: HashMap<IdCode, usize>,
}

impl<W: Write + Seek> Head<W> {
    fn declare(&mut self, items: &[ScopeItem]) -> Result<(), String> {
        for item in items {
            match item {
                ScopeItem::Scope(scope) => {
                    let kind = match scope.scope_type {
                        ScopeType::Module => FstScopeType::Module,
                        ScopeType::Task => FstScopeType::Task,
                        ScopeType::Function => FstScopeType::Function,
                        ScopeType::Begin => FstScopeType::Begin,
                        ScopeType::Fork => FstScopeType::Fork,
                        other => return Err(format!("not written as FST: a scope {other}")),
                    };
                    let opened = self.head.scope(named(&scope.identifier)?, "", kind);
                    opened.map_err(|e| e.to_string())?;
                    self.declare(&scope.items)?;
                    self.head.up_scope().map_err(|e| e.to_string())?;
                }
                ScopeItem::Var(var) => self.variable(var)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn variable(&mut self, var: &Var) -> Result<(), String> {
        let name = &var.reference;
        let (kind, width) = match (var.var_type, self.words.get(&var.code)) {
            (VarType::String, Some(letters)) => {
                let width = u32::try_from(*letters).unwrap_or(u32::MAX);
                (FstVarType::Reg, width.saturating_mul(8))
            }
            (VarType::Wire, None) => (FstVarType::Wire, var.size),
            (VarType::Reg, None) => (FstVarType::Reg, var.size),
            (VarType::Integer, None) => (FstVarType::Integer, var.size),
            (VarType::Parameter, None) => (FstVarType::Parameter, var.size),
            (other, _) => return Err(format!("not written as FST: {name}, a {other}")),
        };
        if !(1..=WIDEST).contains(&width) {
            return Err(format!("{name}: {width} bits, of at most {WIDEST}"));
        }
        let name = match var.index {
            _ if var.var_type == VarType::String => format!("{name} [{}:0]", width - 1),
            Some(index) => format!("{name} {index}"),
            None => name.clone(),
        };
        let known = self.signals.get(&var.code);
        if let Some(known) = known.filter(|known| known.width != width as usize) {
            let other = known.width;
            return Err(format!("{name}: {width} bits, and {other} by another name"));
        }
        let id = self.head.var(
            named(&name)?,
            FstSignalType::bit_vec(width),
            kind,
            FstVarDirection::Implicit,
            known.map(|known| known.id),
        );
        let id = id.map_err(|e| e.to_string())?;
        let width = width as usize;
        self.signals.insert(var.code, Signal { id, width });
        Ok(())
    }
}

/// Returns `name`, if the format can hold it.
fn named(name: &str) -> Result<&str, String> {
    match name.len() <= LONGEST && !name.contains('\0') {
        true => Ok(name),
        false => Err(format!("not a name for FST: {}", name.escape_default())),
    }
}

fn letter(digit: Value) -> u8 {
    match digit {
        Value::V0 => b'0',
        Value::V1 => b'1',
        Value::X => b'x',
        Value::Z => b'z',
    }
}

/// Returns the digit that extends to the left a value that begins with `digit`.
fn fill(digit: u8) -> u8 {
    if digit == b'1' { b'0' } else { digit }
}

/// Writes a value with as many digits as the signal has; `fill` precedes `digits`.
fn change<W: Write + Seek>(
    body: &mut FstBodyWriter<W>,
    signal: &Signal,
    digits: impl Iterator<Item = u8>,
    fill: u8,
    value: &mut Vec<u8>,
) -> Result<(), String> {
    value.clear();
    value.extend(digits);
    let Some(missing) = signal.width.checked_sub(value.len()) else {
        let (has, width) = (value.len(), signal.width);
        return Err(format!("a value of {has} bits for a signal of {width}"));
    };
    value.splice(0..0, std::iter::repeat_n(fill, missing));
    let written = body.signal_change(signal.id, value);
    written.map_err(|e| e.to_string())
}

/// Returns the text that a dump writes with `\xHH` for characters that are not visible.
fn unescaped(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut out = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        let coded = match rest {
            [b'\\', b'x', high, low, after @ ..] => {
                let digit = |digit: u8| char::from(digit).to_digit(16);
                let byte = digit(*high).zip(digit(*low));
                byte.map(|(high, low)| ((high << 4 | low) as u8, after))
            }
            _ => None,
        };
        let (byte, after) = coded.unwrap_or((*first, after));
        out.push(byte);
        rest = after;
    }
    out
}
