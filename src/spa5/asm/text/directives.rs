//! Directives: sections, alignment, settings of a program, and the targets in a listing.

use super::{ADDRESSES, Assembler, MAX_ALIGNED, REMARKS, Section, Spot};
use crate::spa5::isa::{NOP, Target};
use crate::spa5::program::BUNDLE;
use reconverge_bench::input::InputError;
use reconverge_bench::text::{self, Line, Location};

/// The directives, for messages.
pub(super) const DIRECTIVES: [&str; 8] = [
    ".align",
    ".constant",
    ".control",
    ".entry",
    ".prog_base",
    ".prog_size",
    ".targets",
    ".word",
];

impl Assembler<'_> {
    /// Reads the directive `word`.
    pub(super) fn directive(
        &mut self,
        at: Location,
        word: &str,
        operands: &str,
    ) -> Result<(), InputError> {
        if word == ".section" {
            let seen = matches!(self.section, Section::Code | Section::Skipped(true));
            let is_code = operands.starts_with(".text");
            if is_code && (seen || !self.code.is_empty()) {
                return Err(at.error(word, "there is code before it, and a file is one program"));
            }
            self.section = match is_code {
                true => Section::Code,
                false => Section::Skipped(seen),
            };
            return Ok(());
        }
        if matches!(self.section, Section::Skipped(_)) || REMARKS.contains(&word) {
            return Ok(());
        }
        match word {
            ".control" => {
                self.one_operand(at, word, " WORD", operands)?;
                let control = super::word(at, word, operands)?;
                self.control(at, word, control)
            }
            ".align" => {
                self.one_operand(at, word, " N", operands)?;
                let n = at.unsigned(word, operands, MAX_ALIGNED)?;
                self.align(at, n)
            }
            _ => match self.setting(at, word, operands, true)? {
                true => Ok(()),
                false => Err(at.unknown_directive(word, &DIRECTIVES)),
            },
        }
    }

    fn align(&mut self, at: Location, n: u32) -> Result<(), InputError> {
        if n != 0 && BUNDLE.is_multiple_of(n) {
            return match n {
                BUNDLE => self.fill(at, n),
                // Instructions lie at multiples of 8; listings have 1 to 4 before data.
                _ => Ok(()),
            };
        }
        if n == 0 || !n.is_multiple_of(BUNDLE) {
            let message = format!("{n} is neither a multiple of {BUNDLE} nor does it divide it");
            return Err(at.error(".align", message));
        }
        self.fill(at, n)
    }

    fn fill(&mut self, at: Location, n: u32) -> Result<(), InputError> {
        while !self.code.end().is_multiple_of(n) {
            self.room(at)?;
            self.bind(self.code.here());
            self.code.push_raw(NOP);
        }
        Ok(())
    }

    /// Reads a directive of both text forms; returns false if it is none.
    pub(super) fn setting(
        &mut self,
        at: Location,
        word: &str,
        operands: &str,
        labels: bool,
    ) -> Result<bool, InputError> {
        let operands: Vec<&str> = text::operands(operands).collect();
        match (word, &operands[..]) {
            (".entry", [place]) => {
                self.given.once(at, word, "the entry")?;
                let spot = self.spot(at, "address", place, ADDRESSES, labels)?;
                if let Spot::Number(n) = spot
                    && n % 8 != 0
                {
                    let message = format!("{place} is not a multiple of 8");
                    return Err(at.error("address", message));
                }
                self.entry = Some(Line::new(at.line, spot));
            }
            (".entry", _) => return Err(at.usage(word, " PLACE")),
            (".prog_base", [n]) => {
                self.given.once(at, word, "prog_base")?;
                let base: u32 = at.unsigned("prog_base", n, u32::MAX)?;
                if !base.is_multiple_of(BUNDLE) {
                    let message = format!("{n} is not a multiple of {BUNDLE}");
                    return Err(at.error("prog_base", message));
                }
                if !self.code.is_empty() {
                    let message = "there are instructions before it";
                    return Err(at.error("prog_base", message));
                }
                self.code.set_base(base);
                self.based = at.line;
            }
            (".prog_base", _) => return Err(at.usage(word, " N")),
            (".constant", [place, n]) => {
                let Target::Bank { bank, address } = self.bank(at, place)? else {
                    return Err(at.usage(word, " c[BANK][ADDRESS] N"));
                };
                let named = format!("c[{bank:#x}][{address:#x}]");
                self.given.once(at, word, &named)?;
                let held = at.unsigned("constant", n, u32::MAX)?;
                let place = u32::from(bank) << 16 | u32::from(address);
                self.constants.insert(place, held);
            }
            (".constant", _) => return Err(at.usage(word, " c[BANK][ADDRESS] N")),
            (".prog_size", [n]) => {
                self.given.once(at, word, "prog_size")?;
                let size: u32 = at.unsigned("prog_size", n, u32::MAX)?;
                if !size.is_multiple_of(BUNDLE) {
                    let message = format!("{n} is not a multiple of {BUNDLE}");
                    return Err(at.error("prog_size", message));
                }
                self.prog_size = Some(size);
            }
            (".prog_size", _) => return Err(at.usage(word, " N")),
            (".targets", [place, targets @ ..]) => {
                let place = self.spot(at, "address", place, ADDRESSES, labels)?;
                let targets = (targets.iter())
                    .map(|t| self.spot(at, "target", t, ADDRESSES, labels))
                    .collect::<Result<_, _>>()?;
                self.targets.push(Line::new(at.line, (place, targets)));
            }
            (".targets", _) => return Err(at.usage(word, " PLACE PLACE ...")),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads the targets that a listing names behind the instruction at `pc`.
    pub(super) fn annotated(
        &mut self,
        at: Location,
        pc: u32,
        names: &str,
    ) -> Result<(), InputError> {
        let targets = text::operands(names)
            .map(|t| self.spot(at, "target", t, ADDRESSES, true))
            .collect::<Result<_, _>>()?;
        let place = Spot::Number(self.code.base().wrapping_add(pc).into());
        self.targets.push(Line::new(at.line, (place, targets)));
        Ok(())
    }
}
