//! Conversion of statements to words, and the two text forms of a program.
//!
//! Source: r500-7.1 in `docs/spec/r500.md`.
//!
//! | layer | what |
//! |---|---|
//! | [`Stmt`], [`expand`] | structured statements to exactly the words of the table in r500-7.1 |
//! | [`assemble`] | the `.s` dialect, see [`text`] |
//! | [`parse_hex`] | `.hex`: three words a line, see [`text`] |
//! | [`disassemble`], [`program_text`], [`hex_text`] | the way back, see [`dis`] |

use std::collections::BTreeMap;
use std::ops::Not;

use super::isa::PredSel;
use super::program::{MEMORY_SLOTS, Program, Slot};
use reconverge_bench::input::InputError;
use reconverge_program::assembly::Assembly;

pub use reconverge_bench::text::Line;

pub mod dis;
mod expand;
pub mod text;

pub use dis::{disassemble, hex_text, program_text, statement};
pub use expand::expand;
pub use text::{assemble, parse_hex};

/// The condition of a statement: a truth table over the ALU result, one predicate and one boolean.
///
/// The table says when the condition is *true*, whatever the statement. `JUMP_FUNC` is
/// the table itself if a true condition jumps (BREAK, CONTINUE, CALL, RETURN), and its complement
/// if a false one does (IF, ELSE IF, static IF, LOOP for some lanes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cond {
    /// Bit `alu_result*4 + predicate*2 + boolean`, as in `JUMP_FUNC` (r500-2.3).
    pub table: u8,
    /// The predicate; `RGBA` and the reserved values are refused, because flow control may not use them.
    pub pred: PredSel,
    /// `RGB_PRED_INV`: the table sees the inverted predicate.
    pub pred_inv: bool,
    /// The boolean constant, 0..=31.
    pub boolean: u8,
}

impl Cond {
    /// True where the ALU result is 1.
    pub const ALU: Cond = Cond {
        table: 0xf0,
        pred: PredSel::None,
        pred_inv: false,
        boolean: 0,
    };

    /// Returns the condition that is true where predicate `sel` is 1.
    pub const fn pred(sel: PredSel) -> Self {
        Cond {
            table: 0xcc,
            pred: sel,
            ..Cond::ALU
        }
    }

    /// Returns the condition that is true if boolean constant `n` (0..=31) is 1.
    pub const fn boolean(n: u8) -> Self {
        Cond {
            table: 0xaa,
            boolean: n,
            ..Cond::ALU
        }
    }

    /// Returns whether only the boolean constant matters, so that all lanes agree.
    pub const fn is_static(self) -> bool {
        matches!(self.table, 0x00 | 0x55 | 0xaa | 0xff)
    }
}

impl Not for Cond {
    type Output = Cond;
    /// Returns the complement of the condition.
    fn not(self) -> Cond {
        Cond {
            table: !self.table,
            ..self
        }
    }
}

/// One statement. Words and targets are those of the table in r500-7.1, which also explains k and r.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// An ALU instruction: `TYPE` alone, the rest of the words 0.
    Alu,
    /// A texture instruction, in the same way.
    Tex,
    /// An output instruction, in the same way.
    Out,
    /// The name of the next instruction's address. A label that a CALL names begins a subroutine,
    /// which reaches up to the next such label.
    Label(String),
    /// Lanes for which the condition is false are switched off until ELSE, ELSE IF or ENDIF.
    If(Cond),
    /// ELSE and IF in one instruction, with the same ENDIF; counts as one more level.
    ///
    /// The lanes that it tests were off since the IF, whose instruction has cleared their ALU result: the condition
    /// should use a predicate or a boolean. This statement also emits, after the last instruction of its
    /// main part or subroutine, a plain IF with the same test and a JUMP behind the
    /// fused instruction: the path if no lane enters the part before.
    ElseIf(Cond),
    /// Swaps the lanes that entered the IF with those that did not.
    Else,
    /// Ends IF.
    Endif,
    /// IF without branch counters, for the part before ELSE. The condition may only depend on a boolean constant.
    StaticIf(Cond),
    /// The other part of a static IF: a plain jump over it.
    StaticElse,
    /// Ends a static IF; no instruction.
    StaticEndif,
    /// LOOP, or with a condition "LOOP for some lanes": IF fused into LOOP.
    Loop {
        /// REP: without an aL of its own.
        rep: bool,
        /// Integer constant, 0..=31, of both ends of the loop.
        int: u8,
        /// Lanes for which it is false stay off until after the end.
        cond: Option<Cond>,
    },
    /// Ends LOOP or REP.
    EndLoop {
        /// It ends a REP.
        rep: bool,
    },
    /// Leaves the innermost LOOP or REP, or this pass of it.
    Leave {
        /// BREAK: all passes. Otherwise CONTINUE.
        breaks: bool,
        /// The lanes that leave; `None` means all.
        cond: Option<Cond>,
    },
    /// Calls the subroutine that begins at a label.
    Call {
        /// The label.
        label: String,
        /// The lanes that call; `None` means all.
        cond: Option<Cond>,
        /// Counts a branch level. Without it, each CALL of the subroutine and each of its RETURNs
        /// must be without it too, and all lanes should agree.
        counters: bool,
    },
    /// Returns from a subroutine. Not inside a dynamic IF or a loop (r500-8.2); with condition and counters not
    /// inside a static IF either, where r would depend on the path.
    Ret {
        /// The lanes that return; `None` means all.
        cond: Option<Cond>,
        /// Pops the levels of the CALL and of the conditional RETURNs passed (r of them).
        counters: bool,
    },
    /// Jumps to a label, whichever lanes are active.
    Jump(String),
    /// Three literal words.
    Raw {
        /// The words.
        slot: Slot,
        /// A label for `JUMP_ADDR`: absolute or relative, as `JUMP_GLOBAL` in the words says.
        target: Option<String>,
    },
}

/// The form of targets in `JUMP_ADDR` (r500-2.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// `JUMP_GLOBAL` = 0: relative to `OFFSET_ADDR`.
    #[default]
    Relative,
    /// `JUMP_GLOBAL` = 1: absolute.
    Global,
}

/// The result of [`expand`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The instructions, from `OFFSET_ADDR` on.
    pub slots: Vec<Slot>,
    /// Labels, each with the number of the slot that follows, at most `slots.len()`.
    pub labels: BTreeMap<String, u16>,
    /// (first slot, last slot that is not a stub) of the main part and of each subroutine that
    /// has instructions.
    parts: Vec<(u16, u16)>,
}

impl Code {
    /// Returns `END_ADDR` for a program that starts at slot `start`: the last instruction, stubs not
    /// counted, of the main part or subroutine that contains `start`.
    pub fn end(&self, start: u16) -> u16 {
        self.parts
            .iter()
            .rev()
            .find(|(first, _)| *first <= start)
            .map_or(0, |(_, last)| *last)
    }
}

impl Assembly for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }

    fn check(&self, file: &str) -> Result<(), InputError> {
        let room = MEMORY_SLOTS - usize::from(self.regs.offset());
        if self.slots.len() > room {
            let why = format!(
                "{} instructions, the memory has room for {room}",
                self.slots.len()
            );
            return Err(InputError::new(file, 0, "slots", why));
        }
        Ok(())
    }

    fn disassemble(&self, pc: u32) -> String {
        match u16::try_from(pc) {
            Ok(pc) => disassemble(self.slot(pc), pc, &self.regs),
            Err(_) => String::new(),
        }
    }

    fn statement(&self, pc: u32) -> String {
        let text = self.disassemble(pc);
        // The fields of the word stand before the statement.
        match text.split_once(" ; ") {
            Some((_, said))
                if !said.starts_with("END_ADDR") && !said.starts_with("no statement") =>
            {
                said.to_owned()
            }
            // Without the words, where the fields do not say all of them.
            Some((word, _)) => word.split(" [").next().unwrap_or(word).to_owned(),
            None => text,
        }
    }

    fn to_text(&self) -> String {
        program_text(self)
    }

    fn assemble(text: &str, file: &str) -> Result<Self, InputError> {
        assemble(text, file)
    }
}
