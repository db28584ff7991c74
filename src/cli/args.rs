//! Options that several commands share: which build of a unit, how many workers, when to end.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::Duration;

use clap::Args;
use reconverge::campaign::Limit;
use reconverge::case::{Case, Conditions, MAX_STEPS, Table};
use reconverge::design::Build;
use reconverge::input::InputError;
use reconverge::unit::{LoadOptions, Unit};

use super::convert::load;
use super::run::parameters;
use super::streams::read_text;
use super::{Failure, LoadArgs, mask, parameter, seed};

/// Names a build of a unit by its lanes and parameters.
#[derive(Args)]
pub struct BuildArgs {
    /// Lanes of the wavefront [default: the unit's own]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    lanes: Option<u32>,
    /// Parameter of RTL and golden model, as for `run`
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u32)>,
}

/// Makes a case of a program.
#[derive(Args, Clone)]
pub struct CaseArgs {
    /// Seed of conditions and stalls; never 0
    #[arg(long, default_value = "1", value_parser = seed)]
    seed: u64,
    /// Probability of each condition bit, in 1/16ths [default: 8]
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=16))]
    p16: Option<u32>,
    /// The same as a percentage, which is taken to the nearest 16th
    #[arg(long, value_name = "PERCENT", value_parser = chance, conflicts_with = "p16")]
    p: Option<u32>,
    /// Lanes of the wavefront [default: the unit's own]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    lanes: Option<u32>,
    /// Parameter of RTL and golden model, e.g. MAX_STACK_SIZE=8 for r700; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u32)>,
    /// Lanes launched (r500: covered; r700: valid), hexadecimal, bit i is lane i [default: all]
    #[arg(long, value_name = "HEX", value_parser = mask)]
    launch_mask: Option<u64>,
    /// Stall or starve the unit in about this many of 16 cycles
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=15))]
    stall16: u32,
    /// The same as a percentage, which is taken to the nearest 16th
    #[arg(long, value_name = "PERCENT", value_parser = stall, conflicts_with = "stall16")]
    stall: Option<u32>,
    /// Stop after this many instructions
    #[arg(long, default_value_t = MAX_STEPS, value_parser = count)]
    max_steps: u64,
    /// Read the conditions from this file instead of drawing them: JSON Lines {"lane":0,"k":0,"bits":0}. With --p16 or
    /// --p, draws that are not in the file are drawn; without them they are 0
    #[arg(long, value_name = "FILE")]
    conditions: Option<PathBuf>,
}

impl CaseArgs {
    /// Returns the case of the program in the file `program`, read with `options`, on our own RTL. [`Case::check`] was not asked yet.
    ///
    /// # Errors
    /// What is wrong with the program or with the file of the conditions.
    pub fn case<U: Unit>(&self, program: &Path, options: &LoadArgs) -> Result<Case<U>, Failure> {
        let mut program = load::<U>(program, &LoadOptions::from(options))?;
        let lanes = self.lanes.unwrap_or(U::LANES);
        // As a campaign calls the programs that it saves: the unit's name comes first in each case's name.
        if let Some(name) = U::name(&program).strip_prefix(&format!("{}.", U::NAME)) {
            let name = name.to_owned();
            U::rename(&mut program, name);
        }
        let mut case = Case::<U>::new(program);
        case.seed = self.seed;
        case.lanes = lanes;
        case.parameters = parameters::<U>(&self.parameters);
        case.launch_mask = self.launch_mask.unwrap_or(u64::MAX >> (64 - lanes));
        case.stall16 = self.stall.unwrap_or(self.stall16);
        case.max_steps = self.max_steps;
        let rows = match &self.conditions {
            Some(path) => {
                let (text, file) = read_text(path)?;
                Some(Table::parse(&text, &file)?)
            }
            None => None,
        };
        case.conditions = match (rows, self.p.or(self.p16)) {
            (Some(rows), Some(p16)) => Conditions::Changed { p16, rows },
            (Some(rows), None) => Conditions::Table(rows),
            (None, p16) => Conditions::Drawn {
                p16: p16.unwrap_or(8),
            },
        };
        Ok(case)
    }
}

impl BuildArgs {
    /// Tells whether an option was given.
    pub fn given(&self) -> bool {
        self.lanes.is_some() || !self.parameters.is_empty()
    }

    /// Returns the build of `U` that the options name.
    ///
    /// # Errors
    /// `U` does not have the parameter, or not with this value.
    pub fn build<U: Unit>(&self) -> Result<Build, InputError> {
        let build = Build {
            lanes: self.lanes.unwrap_or(U::LANES),
            parameters: parameters::<U>(&self.parameters),
        };
        build.check::<U>("--param")?;
        Ok(build)
    }
}

/// Returns the number of workers: as `--jobs` says, by default one per processor.
pub fn workers(jobs: Option<u16>) -> usize {
    jobs.map_or_else(
        || available_parallelism().map_or(1, NonZero::get),
        usize::from,
    )
}

/// Returns when a campaign ends by `--programs`, `--clocks` or `--seconds`, which exclude each other.
pub fn limit(programs: Option<u64>, clocks: Option<u64>, seconds: Option<u64>) -> Option<Limit> {
    let seconds = seconds.map(|n| Limit::Time(Duration::from_secs(n)));
    programs
        .map(Limit::Programs)
        .or(clocks.map(Limit::Clocks))
        .or(seconds)
}

/// Reads a count of at least 1: `2000000`, `2_000_000`, `2M`, `100k`, `1e6`, `1.5M`.
///
/// # Errors
/// Not such a number, not a whole one, 0, more than 64 bits hold.
pub fn count(text: &str) -> Result<u64, String> {
    let no_number = || "no number, such as 2000000, 2M, 100k or 1e6".to_owned();
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
    // As many zeros as are left of the power of ten.
    let Some(zeros) = usize::from(tens).checked_sub(part.len()) else {
        return Err("no whole number".to_owned());
    };
    let digits = whole.replace('_', "") + part + &"0".repeat(zeros);
    match digits.trim_start_matches('0') {
        "" => Err("0 is not in 1..".to_owned()),
        digits => digits
            .parse()
            .map_err(|_| format!("more than {}", u64::MAX)),
    }
}

/// Reads a chance as a percentage, and returns the nearest number of 16ths, which is how chances are drawn.
///
/// # Errors
/// No percentage; more than `most` 16ths; neither 0 nor 100 % but next to it.
fn sixteenths(text: &str, most: u32) -> Result<u32, String> {
    let percent = text.strip_suffix('%').and_then(|text| text.parse().ok());
    let percent = percent.filter(|percent: &f64| (0.0..=100.0).contains(percent));
    let percent = percent.ok_or("no percentage, such as 25%")?;
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

/// Reads the chance of a stall: with 100 % the unit would never run.
pub fn stall(text: &str) -> Result<u32, String> {
    sixteenths(text, 15)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let no_number = "no number, such as 2000000, 2M, 100k or 1e6";
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
            ("1.5", "no whole number"),
            ("1.0001k", "no whole number"),
            ("0", "0 is not in 1.."),
            ("0.0M", "0 is not in 1.."),
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
            ("25", "no percentage, such as 25%"),
            ("%", "no percentage, such as 25%"),
            ("-1%", "no percentage, such as 25%"),
            ("100.1%", "no percentage, such as 25%"),
            ("nan%", "no percentage, such as 25%"),
            ("1%", next),
            ("3.12%", next),
            ("99%", next),
        ] {
            assert_eq!(chance(text), Err(why.to_owned()), "{text}");
        }
        assert_eq!(stall("100%"), Err("at most 93.75%".to_owned()));
    }
}
