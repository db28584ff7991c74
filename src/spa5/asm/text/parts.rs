//! Parts of a line: comments, labels, words, operands.

use std::borrow::Cow;

use crate::spa5::isa::{self, Cond, OFFSETS, Pred, Target, Test};
use reconverge_bench::input::{InputError, did_you_mean};
use reconverge_bench::text::Location;

/// Digits of a word.
pub(super) const WORD_DIGITS: usize = 16;

/// Returns the digits of a hexadecimal number with or without `0x`.
pub(super) fn hex_digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let digits = digits.unwrap_or(text);
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit());
    plain.then_some(digits)
}

/// Parses a 64-bit word: 16 digits, or fewer after `0x`.
pub(super) fn word(at: Location, field: &str, text: &str) -> Result<u64, InputError> {
    let fits = |digits: &&str| {
        digits.len() == WORD_DIGITS || digits.len() < WORD_DIGITS && digits.len() < text.len()
    };
    hex_digits(text)
        .filter(fits)
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| {
            let message =
                format!("`{text}` is not a 64-bit word: 16 hexadecimal digits, or 0x and fewer");
            at.error(field, message).about(text)
        })
}

/// Returns `content` without comments, and the word that one of the comments holds.
pub(super) fn split_comments(
    at: Location,
    content: &str,
) -> Result<(String, Option<u64>), InputError> {
    let mut code = String::new();
    let mut word = None;
    let mut rest = content;
    loop {
        let line = rest.find("//").unwrap_or(rest.len());
        let Some(open) = rest[..line].find("/*") else {
            code.push_str(&rest[..line]);
            return Ok((code, word));
        };
        code.push_str(&rest[..open]);
        code.push(' ');
        let Some((comment, after)) = rest[open + 2..].split_once("*/") else {
            return Err(at.error("comment", "does not end on its line"));
        };
        let digits = comment.trim().strip_prefix("0x").and_then(hex_digits);
        if let Some(digits) = digits.filter(|d| d.len() == WORD_DIGITS)
            && let Ok(found) = u64::from_str_radix(digits, 16)
        {
            if word.is_some() {
                return Err(at.error("comment", "a line has one word"));
            }
            word = Some(found);
        }
        rest = after;
    }
}

/// Splits `NAME: rest` into name and rest.
pub(super) fn label(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim_end();
    let inside = |c: char| c.is_whitespace() || "@[(\"`,".contains(c);
    (!name.is_empty() && !name.contains(inside)).then_some((name, rest))
}

pub(super) fn check_label(at: Location, name: &str) -> Result<(), InputError> {
    let sound = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(sound)
    {
        return Ok(());
    }
    let message = format!(
        "`{name}` is not a label: letters, digits, `_`, `.` and `$`, not beginning with a digit"
    );
    Err(at.error("label", message).about(name))
}

/// Returns an instruction without the braces that pair it with its neighbour, and whether the pair ends with it.
pub(super) fn braces(text: &str) -> (&str, bool) {
    let text = text.strip_prefix('{').unwrap_or(text);
    match text.strip_suffix('}') {
        Some(inside) => (inside.trim(), true),
        None => (text.trim(), false),
    }
}

/// Returns an instruction without what only schedules it: `&req={0,1}`, `&wr=0x1`, `&req_6`, `?WAIT5`, each also in braces. A black box
/// is returned as it is, because all of its operands are ignored.
pub(super) fn unscheduled<'t>(at: Location, text: &'t str) -> Result<Cow<'t, str>, InputError> {
    let begins = |t: &str| t.starts_with(['&', '?']) || t.starts_with("{&") || t.starts_with("{?");
    let next = |t: &str| {
        let mut starts = t.char_indices().filter(|(_, c)| c.is_whitespace());
        starts.find_map(|(i, c)| begins(&t[i + c.len_utf8()..]).then_some(i + c.len_utf8()))
    };
    let Some(mut from) = next(text) else {
        return Ok(Cow::Borrowed(text));
    };
    let stem = (text.trim_start_matches('{').split_whitespace())
        .find(|t| !t.starts_with('@'))
        .and_then(|t| t.split('.').next());
    let others = isa::BLACK_BOXES.iter().map(|(name, _)| *name).chain([ANY]);
    if stem.is_some_and(|stem| {
        others
            .into_iter()
            .any(|other| other.eq_ignore_ascii_case(stem))
    }) {
        return Ok(Cow::Borrowed(text));
    }
    let (mut kept, mut rest) = (String::new(), text);
    loop {
        kept.push_str(&rest[..from]);
        rest = &rest[from..];
        let length = schedule(rest).ok_or_else(|| {
            let word = rest.split_whitespace().next().unwrap_or_default();
            let message = format!(
                "`{word}` is none of &req={{0,1}}, &req_6, &wr=0, &rd=0 and ?WAIT5, perhaps in braces"
            );
            at.error("schedule", message).about(word)
        })?;
        rest = &rest[length..];
        match next(rest) {
            Some(place) => from = place,
            None => return Ok(Cow::Owned(kept + rest)),
        }
    }
}

/// Returns the length of the scheduling annotation with which `text` begins.
fn schedule(text: &str) -> Option<usize> {
    let word = |t: &str| {
        let end = t.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        end.unwrap_or(t.len())
    };
    let (inside, braced) = match text.strip_prefix('{') {
        Some(inside) => (inside, true),
        None => (text, false),
    };
    let name = &inside[1..][..word(&inside[1..])];
    let mut end = 1 + name.len();
    let known = match inside.as_bytes()[0] {
        b'?' => !name.is_empty(),
        _ => {
            let barrier = name.split_once('_').map_or(name, |(kind, _)| kind);
            let kinds = ["req", "rd", "wr"];
            let number = name
                .split_once('_')
                .is_none_or(|(_, n)| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
            number && kinds.iter().any(|kind| kind.eq_ignore_ascii_case(barrier))
        }
    };
    if !known {
        return None;
    }
    if let Some(value) = inside[end..].strip_prefix('=') {
        end += 1 + match value.strip_prefix('{') {
            Some(list) => {
                let close = list.find('}')?;
                let mut numbers = list[..close].split(',').map(str::trim);
                numbers.all(is_number).then_some(close + 2)?
            }
            None => Some(word(value)).filter(|n| is_number(&value[..*n]))?,
        };
    }
    if braced {
        end = inside[end..].strip_prefix('}').map(|_| end + 2)?;
    }
    // Nothing may touch it.
    let free = text[end..].starts_with(|c: char| c.is_whitespace() || "},".contains(c));
    (free || text.len() == end).then_some(end)
}

/// Returns whether `text` is a number of a barrier.
fn is_number(text: &str) -> bool {
    let decimal = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    decimal || text.starts_with("0x") && hex_digits(text).is_some()
}

/// Splits an instruction from the annotation of a listing; returns it with the targets that the annotation names.
pub(super) fn annotation(text: &str) -> (&str, Option<&str>) {
    match text.split_once("(*") {
        None => (text, None),
        Some((instruction, remark)) => {
            let inside = remark.trim_end().strip_suffix("*)").map(str::trim);
            let names = inside
                .and_then(|t| t.strip_prefix('"')?.strip_suffix('"'))
                .and_then(|t| t.strip_prefix("BRANCH_TARGETS "));
            (instruction.trim_end(), names)
        }
    }
}

/// The mnemonic of a black box of any kind.
const ANY: &str = "X";

/// Returns whether `stem`, a mnemonic without suffixes, is a black box.
pub(super) fn is_black_box(stem: &str) -> bool {
    isa::mnemonics()
        .chain([ANY])
        .any(|known| known.eq_ignore_ascii_case(stem))
}

/// Returns the error for a mnemonic that is not in the instruction set.
pub(super) fn unknown_mnemonic(at: Location, stem: &str) -> InputError {
    let hint = match did_you_mean(stem, isa::mnemonics()) {
        none if none.is_empty() => format!("; `{ANY}` stands for any black box"),
        hint => hint,
    };
    at.error(
        "mnemonic",
        format!("`{stem}` is not an instruction of sm_50{hint}"),
    )
    .about(stem)
}

/// Parses `P0`, `!PT`.
pub(super) fn predicate(at: Location, text: &str) -> Result<Pred, InputError> {
    let (name, not) = match text.strip_prefix('!') {
        Some(name) => (name, true),
        None => (text, false),
    };
    let number = match name.as_bytes() {
        [b'P' | b'p', digit @ b'0'..=b'6'] => digit - b'0',
        [b'P' | b'p', b'T' | b't'] => 7,
        _ => {
            let message = format!("`@{text}` is not one of @P0 to @P6, @PT, @!P0 to @!P6, @!PT");
            return Err(at.error("predicate", message).about(&format!("@{text}")));
        }
    };
    Ok(Pred { number, not })
}

/// Returns whether an operand is a constant.
pub(super) fn is_bank_form(text: &str) -> bool {
    text.starts_with(['c', 'C']) && text[1..].starts_with('[')
}

/// Parses `c[A][B]` into A and B.
pub(super) fn bank_form<'t>(at: Location, text: &'t str) -> Result<(&'t str, &'t str), InputError> {
    let inside = text[1..]
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'));
    inside.and_then(|t| t.split_once("][")).ok_or_else(|| {
        let message = format!("`{text}` is not of the form c[BANK][ADDRESS]");
        at.error("target", message).about(text)
    })
}

/// Returns the constant-bank form of a target.
pub(super) fn constant(at: Location, bank: &str, address: &str) -> Result<Target, InputError> {
    let bank = at.unsigned("bank", bank, 31)?;
    let address = at.number("address", address, i16::MIN.into(), u16::MAX.into())?;
    Ok(Target::Bank {
        bank,
        address: address as u16,
    })
}

/// Suffixes and operands not read yet.
pub(super) struct Operands<'a> {
    pub(super) at: Location<'a>,
    /// The mnemonic as written, for messages.
    pub(super) word: &'a str,
    pub(super) suffixes: Vec<&'a str>,
    pub(super) rest: Vec<&'a str>,
}

impl<'a> Operands<'a> {
    /// Takes the suffix `name`, which may stand before or after others; returns whether it was there.
    pub(super) fn suffix(&mut self, name: &str) -> bool {
        match (self.suffixes.iter()).position(|s| s.eq_ignore_ascii_case(name)) {
            Some(i) => {
                self.suffixes.remove(i);
                true
            }
            None => false,
        }
    }

    /// Takes the next operand.
    pub(super) fn next(&mut self, field: &str) -> Result<&'a str, InputError> {
        if self.rest.is_empty() {
            return Err(self.at.error(self.word, format!("needs a {field}")));
        }
        Ok(self.rest.remove(0))
    }

    /// Takes the CC test, if there is one.
    pub(super) fn cond(&mut self, pred: Option<Pred>) -> Result<Cond, InputError> {
        let pred = pred.unwrap_or(Pred::ALWAYS);
        let is = |t: &&&str| {
            t.get(..3)
                .is_some_and(|start| start.eq_ignore_ascii_case("CC."))
        };
        let Some(text) = self.rest.first().filter(is).copied() else {
            return Ok(Cond::pred(pred));
        };
        self.rest.remove(0);
        let test = match text[3..].to_ascii_uppercase().as_str() {
            "TRUE" => Some(Test::T),
            "FALSE" => Some(Test::F),
            name => Test::from_name(name),
        };
        match test {
            Some(test) => Ok(Cond { pred, test }),
            None => {
                let message = format!("`{text}` is not a CC test: CC.F, CC.LT ... CC.OFT");
                Err(self.at.error("CC test", message).about(text))
            }
        }
    }

    /// Takes the operands of BRX, or of JMX if `absolute`: the register, and the address or offset added to it.
    pub(super) fn indirect(&mut self, absolute: bool) -> Result<(u8, Target), InputError> {
        let at = self.at;
        let first = self.next("register")?;
        if is_bank_form(first) {
            let (bank, inside) = bank_form(at, first)?;
            let (register, address) = match inside.split_once('+') {
                Some(both) => both,
                None if inside.starts_with(['R', 'r']) => (inside, "0"),
                None => ("RZ", inside),
            };
            let register = register_number(at, register)?;
            return Ok((register, constant(at, bank, address)?));
        }
        let register = register_number(at, first)?;
        if absolute {
            let address = match self.rest.is_empty() {
                true => 0,
                false => at.unsigned("address", self.rest.remove(0), u32::MAX)?,
            };
            return Ok((register, Target::Absolute(address)));
        }
        let offset = match self.rest.is_empty() {
            true => 0,
            false => {
                let (min, max) = (*OFFSETS.start(), *OFFSETS.end());
                at.number("offset", self.rest.remove(0), min, max)?
            }
        };
        // Within OFFSETS.
        Ok((register, Target::Offset(offset as i32)))
    }

    /// Checks that nothing is left.
    pub(super) fn finish(&self) -> Result<(), InputError> {
        let suffix = self.suffixes.first().map(|s| format!(".{s}"));
        let operand = self.rest.first().map(|t| (*t).to_owned());
        match suffix.or(operand) {
            None => Ok(()),
            Some(t) => Err(self
                .at
                .error(self.word, format!("does not take `{t}`"))
                .about(&t)),
        }
    }
}

/// Parses `R0` to `R254`, `RZ`.
fn register_number(at: Location, text: &str) -> Result<u8, InputError> {
    if text.eq_ignore_ascii_case("RZ") {
        return Ok(255);
    }
    let number = text.strip_prefix(['R', 'r']).unwrap_or_default();
    let plain =
        !number.is_empty() && number.len() <= 3 && number.chars().all(|c| c.is_ascii_digit());
    match number.parse::<u8>() {
        Ok(n) if plain && n < 255 => Ok(n),
        _ => {
            let message = format!("`{text}` is not one of R0 to R254, RZ");
            Err(at.error("register", message).about(text))
        }
    }
}
