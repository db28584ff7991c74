//! Quantities: in options of the command counts, and chances in 16ths; in texts numbers with their nouns.

use std::fmt::Display;

/// Returns a number with its noun: `1 cycle`, `2 cycles`, `0 mismatches`.
pub fn counted(n: impl Display, noun: &str) -> String {
    let n = n.to_string();
    match (&*n, noun.ends_with("ch")) {
        ("1", _) => format!("1 {noun}"),
        (_, false) => format!("{n} {noun}s"),
        (_, true) => format!("{n} {noun}es"),
    }
}

/// Reads a count of at least 1: `2000000`, `2_000_000`, `2M`, `100k`, `1e6`, `1.5M`.
///
/// # Errors
/// The text is not such a number, not whole, 0, or more than 64 bits hold.
pub fn count(text: &str) -> Result<u64, String> {
    let no_number = || "must be a number, such as 2000000, 2M, 100k or 1e6".to_owned();
    let (digits, tens) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 3),
        Some((at, 'M')) => (&text[..at], 6),
        Some((at, 'G')) => (&text[..at], 9),
        _ => match text.split_once(['e', 'E']) {
            Some((digits, tens)) => (digits, tens.parse::<u8>().map_err(|_| no_number())?),
            None => (text, 0),
        },
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '_');
    let starts = whole.starts_with(|c: char| c.is_ascii_digit());
    if !starts || !plain(whole) || !plain(part) || (part.is_empty() && digits.contains('.')) {
        return Err(no_number());
    }
    let part = part.replace('_', "");
    let part = part.trim_end_matches('0');
    // The zeros that remain of the power of ten.
    let Some(zeros) = usize::from(tens).checked_sub(part.len()) else {
        return Err("must be a whole number".to_owned());
    };
    let digits = whole.replace('_', "") + part + &"0".repeat(zeros);
    match digits.trim_start_matches('0') {
        "" => Err("must be at least 1".to_owned()),
        digits => digits
            .parse()
            .map_err(|_| format!("more than {}", u64::MAX)),
    }
}

/// Reads a chance as a percentage and returns the nearest number of 16ths. Chances are drawn in 16ths.
///
/// # Errors
/// The text is not a percentage; it is more than `most` 16ths; it rounds to 0 or 100 % without being it.
fn sixteenths(text: &str, most: u32) -> Result<u32, String> {
    let percent = text.strip_suffix('%').and_then(|text| text.parse().ok());
    let percent = percent.filter(|percent: &f64| (0.0..=100.0).contains(percent));
    let percent = percent.ok_or("must be a percentage from 0% to 100%, such as 25%")?;
    let nearest = (percent * 0.16).round() as u32;
    if (nearest == 0 && percent > 0.0) || (nearest == 16 && percent < 100.0) {
        return Err(
            "chances are drawn in 16ths; the next are 0%, 6.25%, 93.75% and 100%".to_owned(),
        );
    }
    match nearest > most {
        true => Err(format!("at most {}%", f64::from(most) * 6.25)),
        false => Ok(nearest),
    }
}

/// Reads the chance of a condition.
pub fn chance(text: &str) -> Result<u32, String> {
    sixteenths(text, 16)
}

/// Reads the chance of a stall, which must be below 100 %: otherwise the unit would never run.
pub fn stall(text: &str) -> Result<u32, String> {
    sixteenths(text, 15)
}

/// Least memory of a worker in megabytes: with less, the process itself may not start.
const MIN_MEMORY: u64 = 64;

/// Reads a limit of memory in megabytes; 0 sets no limit.
///
/// # Errors
/// The text is not a number, or the limit is too low for any RTL.
pub fn memory(text: &str) -> Result<u64, String> {
    match text.parse().map_err(|_| "must be a number of megabytes")? {
        1..MIN_MEMORY => Err(format!(
            "a process that runs RTL needs at least {MIN_MEMORY} MB; 0 sets no limit"
        )),
        megabytes => Ok(megabytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_several() {
        let said = [0, 1, 2].map(|n| counted(n, "cycle") + ", " + &counted(n, "launch"));
        let expected = [
            "0 cycles, 0 launches",
            "1 cycle, 1 launch",
            "2 cycles, 2 launches",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn counts_are_numbers_with_suffixes_and_powers_of_ten() {
        for (text, number) in [
            ("1", 1),
            ("2000000", 2_000_000),
            ("2_000_000", 2_000_000),
            ("2M", 2_000_000),
            ("100k", 100_000),
            ("100K", 100_000),
            ("3G", 3_000_000_000),
            ("1e6", 1_000_000),
            ("1E0", 1),
            ("1.5M", 1_500_000),
            ("1.50e1", 15),
            ("1.0", 1),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        let no_number = "must be a number, such as 2000000, 2M, 100k or 1e6";
        for (text, why) in [
            ("", no_number),
            ("M", no_number),
            ("-1", no_number),
            ("+1", no_number),
            ("_1", no_number),
            ("1m", no_number),
            ("1.M", no_number),
            (".5M", no_number),
            ("1.2.3", no_number),
            ("1e", no_number),
            ("1e-3", no_number),
            ("1e6k", no_number),
            ("0x10", no_number),
            ("1\u{664}", no_number),
            ("1.5", "must be a whole number"),
            ("1.0001k", "must be a whole number"),
            ("0", "must be at least 1"),
            ("0.0M", "must be at least 1"),
            ("18446744073709551616", "more than 18446744073709551615"),
            ("1e200", "more than 18446744073709551615"),
            ("1e256", no_number),
        ] {
            assert_eq!(count(text), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn chances_are_percentages_that_come_near_a_16th() {
        for (text, number) in [
            ("0%", 0),
            ("6.25%", 1),
            ("25%", 4),
            ("30%", 5),
            ("50%", 8),
            ("93.75%", 15),
            ("100%", 16),
        ] {
            assert_eq!(chance(text), Ok(number), "{text}");
        }
        assert_eq!(stall("94%"), Ok(15));
        let next = "chances are drawn in 16ths; the next are 0%, 6.25%, 93.75% and 100%";
        for (text, why) in [
            ("25", "must be a percentage from 0% to 100%, such as 25%"),
            ("%", "must be a percentage from 0% to 100%, such as 25%"),
            ("-1%", "must be a percentage from 0% to 100%, such as 25%"),
            (
                "100.1%",
                "must be a percentage from 0% to 100%, such as 25%",
            ),
            ("nan%", "must be a percentage from 0% to 100%, such as 25%"),
            ("1%", next),
            ("3.12%", next),
            ("99%", next),
        ] {
            assert_eq!(chance(text), Err(why.to_owned()), "{text}");
        }
        assert_eq!(stall("100%"), Err("at most 93.75%".to_owned()));
    }
}
