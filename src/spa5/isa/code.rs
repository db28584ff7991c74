//! Puts instructions into bundles, with labels for targets.

use super::{CONTROL, NOP, Target, Word, is_control, norm};
use crate::spa5::program::{BUNDLE, MAX_BUNDLES, WORDS};

/// A place in a [`Code`], which may be used before its address is known. It belongs to the `Code` that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(usize);

/// The reason why a [`Code`] gives no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeError {
    /// More than [`MAX_BUNDLES`] bundles.
    TooLong,
    /// The instruction at `at` leads to `label`, which was never bound.
    Unbound {
        /// Address of the instruction.
        at: u32,
        /// The label.
        label: Label,
    },
}

/// A sequence of instructions in bundles: it places control words, and targets may be labels.
///
/// ```
/// use reconverge::spa5::isa::{Code, Cond, LeaveOp, SetUpOp, Word};
///
/// let mut code = Code::default();
/// let top = code.label();
/// code.bind(top);
/// code.push_to(Word::set_up(SetUpOp::Pcnt), top);
/// code.push(Word::leave(LeaveOp::Cont, Cond::ALWAYS));
/// let words = code.finish().unwrap();
/// assert_eq!(words[1..3], [0xe2b0_0fff_ff80_0000, 0xe350_0000_0007_000f]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The base of the program.
    base: u32,
    /// Control and instruction words so far.
    words: Vec<u64>,
    labels: Vec<Option<u32>>,
    /// Instructions that lead to labels.
    named: Vec<(u32, Label)>,
}

impl Code {
    /// Sets the base of the program, a multiple of [`BUNDLE`]: JMP and JCAL to labels use it. All addresses here
    /// count from it; it is 0 at first.
    pub fn set_base(&mut self, base: u32) {
        self.base = base;
    }

    /// Returns the base of the program.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Returns the address of the next word: of a control word if the next instruction is the first of its bundle and
    /// [`Code::control`] has not placed one.
    pub fn end(&self) -> u32 {
        // Only about 2^29 words would overflow this; MAX_BUNDLES is far less.
        u32::try_from(self.words.len() * 8).unwrap_or(!31)
    }

    /// Returns the address of the next instruction.
    pub fn here(&self) -> u32 {
        norm(self.end())
    }

    /// Returns whether there is no room for another instruction: [`Code::finish`] would refuse it.
    pub fn is_full(&self) -> bool {
        self.words.len() >= MAX_BUNDLES * WORDS
    }

    /// Returns whether it holds no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Adds an instruction, and before the first of a bundle the control word; returns its address.
    pub fn push(&mut self, word: Word) -> u32 {
        self.push_raw(word.encode())
    }

    /// Adds an instruction with target `label`; returns its address. A word without a target stays unchanged.
    pub fn push_to(&mut self, word: Word, label: Label) -> u32 {
        let target = match word.target() {
            Some(Target::Absolute(_)) => Target::Absolute(0),
            _ => Target::Offset(0),
        };
        self.push_raw_to(word.with_target(target).encode(), label)
    }

    /// Adds the instruction `word`, whatever it is; returns its address.
    pub fn push_raw(&mut self, word: u64) -> u32 {
        if is_control(self.end()) {
            self.words.push(CONTROL);
        }
        let at = self.end();
        self.words.push(word);
        at
    }

    /// Adds the instruction `word` with target `label`; ignored bits stay. Returns its address.
    pub(in crate::spa5) fn push_raw_to(&mut self, word: u64, label: Label) -> u32 {
        let at = self.push_raw(word);
        if Word::decode(word).target().is_some() {
            self.named.push((at, label));
        }
        at
    }

    /// Places `word` as the control word of a new bundle, instead of [`CONTROL`]; returns its address.
    /// Within a bundle, returns `None` and does nothing.
    pub fn control(&mut self, word: u64) -> Option<u32> {
        let at = self.end();
        if !is_control(at) {
            return None;
        }
        self.words.push(word);
        Some(at)
    }

    /// Fills up with NOP to a multiple of `bytes`, which should be one of [`BUNDLE`].
    pub fn align(&mut self, bytes: u32) {
        while !self.end().is_multiple_of(bytes.max(1)) && !self.is_full() {
            self.push_raw(NOP);
        }
    }

    /// Returns a label that is not bound yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Binds `label` to the address of the next instruction.
    pub fn bind(&mut self, label: Label) {
        self.bind_at(label, self.here());
    }

    /// Binds `label` to the address of the next word, as ptxas does (spa5-2.2): that of the control word if
    /// the next instruction is the first of its bundle.
    pub fn bind_control(&mut self, label: Label) {
        self.bind_at(label, self.end());
    }

    /// Binds `label` to any address.
    pub fn bind_at(&mut self, label: Label, address: u32) {
        self.labels[label.0] = Some(address);
    }

    /// Returns the address to which `label` is bound.
    pub fn address(&self, label: Label) -> Option<u32> {
        self.labels.get(label.0).copied().flatten()
    }

    /// Returns the words of the program: whole bundles, filled up with NOP.
    ///
    /// # Errors
    ///
    /// See [`CodeError`].
    pub fn finish(mut self) -> Result<Vec<u64>, CodeError> {
        self.align(BUNDLE);
        if self.words.len() > MAX_BUNDLES * WORDS {
            return Err(CodeError::TooLong);
        }
        for &(at, label) in &self.named {
            let address = self
                .address(label)
                .ok_or(CodeError::Unbound { at, label })?;
            // Offsets within MAX_BUNDLES bundles are far smaller than those that fit.
            let word = &mut self.words[at as usize / 8];
            let old = Word::decode(*word).target().unwrap_or(Target::Offset(0));
            let address = match old {
                Target::Absolute(_) => self.base.wrapping_add(address),
                _ => address,
            };
            let target = (old.aimed(at, address.into())).ok_or(CodeError::TooLong)?;
            let field = match target {
                Target::Absolute(_) => Target::Absolute(u32::MAX),
                _ => Target::Offset(-1),
            };
            *word = *word & !field.encode() | target.encode();
        }
        Ok(self.words)
    }
}
