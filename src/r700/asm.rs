//! Conversion of statements to words, and the two text forms of a program.
//!
//! Source: r700-7.1 in `docs/spec/r700.md`.
//!
//! | layer | what |
//! |---|---|
//! | [`Stmt`], [`expand`] | structured statements to exactly the words of the table in r700-7.1 |
//! | [`assemble`] | the `.s` dialect, see [`text`] |
//! | [`parse_hex`] | `.hex`: two words a line, see [`text`] |
//! | [`disassemble`], [`program_text`], [`hex_text`] | the way back, see [`dis`] |

use std::collections::BTreeMap;
use std::ops::Not;

use super::isa::{CfOp, Clause, Cond};
use super::program::{MAX_QUADS, Program, Quad};
use reconverge_bench::input::InputError;
use reconverge_program::assembly::Assembly;

pub use reconverge_bench::text::Line;

pub mod dis;
mod expand;
pub mod text;

pub use dis::{disassemble, hex_text, program_text, statement};
pub use expand::expand;
pub use text::{assemble, parse_hex};

/// `COND` with the boolean that it reads: which ACTIVE lanes pass (r700-4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum When {
    /// All.
    #[default]
    Always,
    /// None.
    Never,
    /// All, if boolean 0..=31 is 1.
    Bool(u8),
    /// All, if boolean 0..=31 is 0.
    NotBool(u8),
}

impl When {
    /// Returns `COND`.
    pub const fn cond(self) -> Cond {
        match self {
            When::Always => Cond::Active,
            When::Never => Cond::False,
            When::Bool(_) => Cond::Bool,
            When::NotBool(_) => Cond::NotBool,
        }
    }

    /// Returns `CF_CONST`: the boolean, 0 if none is read.
    pub const fn boolean(self) -> u8 {
        match self {
            When::Bool(b) | When::NotBool(b) => b,
            When::Always | When::Never => 0,
        }
    }
}

impl Not for When {
    type Output = When;
    fn not(self) -> When {
        match self {
            When::Always => When::Never,
            When::Never => When::Always,
            When::Bool(b) => When::NotBool(b),
            When::NotBool(b) => When::Bool(b),
        }
    }
}

/// The loops of r700-7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopKind {
    /// LOOP until break: LOOP_START_DX10.
    Dx10,
    /// LOOP i: LOOP_START with loop constant 0..=31.
    Al(u8),
    /// REPEAT i: LOOP_START_NO_AL with loop constant 0..=31.
    NoAl(u8),
}

impl LoopKind {
    /// Returns the instruction that begins the loop.
    pub const fn op(self) -> CfOp {
        match self {
            LoopKind::Dx10 => CfOp::LoopStartDx10,
            LoopKind::Al(_) => CfOp::LoopStart,
            LoopKind::NoAl(_) => CfOp::LoopStartNoAl,
        }
    }

    /// Returns `CF_CONST` of both its ends: 0 for a DX10 loop.
    pub const fn constant(self) -> u8 {
        match self {
            LoopKind::Al(i) | LoopKind::NoAl(i) => i,
            LoopKind::Dx10 => 0,
        }
    }
}

/// The form of an ELSE (r700-7.1). An IF without a frame has only one form, [`ElseForm::Jump`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ElseForm {
    /// ELSE @E, pop 1. Without a frame: JUMP @E, FALSE.
    #[default]
    Jump,
    /// ELSE @next, pop 0: the wave passes through the else part even if no lane executes it.
    Stay,
    /// The last ALU of the THEN part, which must be without u, becomes ALU_ELSE_AFTER.
    Fused,
}

/// The form of an ENDIF (r700-7.1). An IF without a frame has only one form, [`EndifForm::Pop`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EndifForm {
    /// POP @E, pop 1. Without a frame: no instruction.
    #[default]
    Pop,
    /// The last ALU becomes ALU_POP_AFTER.
    Fused,
    /// This ENDIF and that of the IF around: the last ALU becomes ALU_POP2_AFTER. A jump to the end of
    /// the inner IF pops one more frame.
    FusedTwo,
}

/// One statement. Words and targets are those of the table in r700-7.1; `BARRIER` is set.
///
/// `vpm` sets `VALID_PIXEL_MODE` in the statement's instruction (r700-9.2 says where that is safe).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// ALU. With u and without a push: skip the rest of this block unless the predicate holds
    /// (r700-9.2 has the limits).
    Alu {
        /// The clause.
        clause: Clause,
        /// It updates the execute mask.
        u: bool,
    },
    /// An instruction given by its words, including the slots (TEX, EXPORT ...).
    Raw {
        /// The words, and u.
        quad: Quad,
        /// A label for `ADDR`.
        target: Option<String>,
    },
    /// The name of the next instruction's address. A label that a CALL names begins a subroutine,
    /// which reaches up to the next such label.
    Label(String),
    /// Lanes for which the clause's predicate is false are switched off until ELSE or ENDIF:
    /// ALU_PUSH_BEFORE u, JUMP.
    If {
        /// The clause that computes the predicate.
        clause: Clause,
        /// IF not: ALU_ELSE_AFTER u, for the lanes whose predicate is 0.
        not: bool,
        /// False leaves the JUMP out.
        jump: bool,
    },
    /// IF on a boolean.
    IfBool {
        /// The condition to enter; only [`When::Bool`] and [`When::NotBool`] are useful, but all are encoded.
        when: When,
        /// With a frame: PUSH, or PUSH_ELSE if there is an ELSE. Without: JUMP.
        frame: bool,
        /// `VALID_PIXEL_MODE` of the PUSH or JUMP.
        vpm: bool,
    },
    /// Swaps the lanes that entered the IF with those that did not.
    Else {
        /// Its form.
        form: ElseForm,
        /// `VALID_PIXEL_MODE`; only of an instruction ELSE.
        vpm: bool,
    },
    /// Ends IF.
    Endif {
        /// Its form.
        form: EndifForm,
        /// `VALID_PIXEL_MODE`; only of a POP.
        vpm: bool,
    },
    /// Begins a loop.
    Loop {
        /// Its kind, with its constant.
        kind: LoopKind,
    },
    /// Ends a loop of any kind.
    EndLoop {
        /// `VALID_PIXEL_MODE`.
        vpm: bool,
    },
    /// Leaves the innermost loop or this pass of it, under any number of IFs. With [`When::Never`] no lane leaves, but
    /// the wave jumps to LOOP_END if no lane has anything left to do.
    Leave {
        /// BREAK: the loop. Otherwise CONTINUE.
        breaks: bool,
        /// The lanes that leave.
        when: When,
    },
    /// BREAK or CONTINUE for the lanes whose predicate is 0: ALU_BREAK u, ALU_CONTINUE u.
    LeaveUnless {
        /// BREAK. Otherwise CONTINUE.
        breaks: bool,
        /// The clause that computes the predicate.
        clause: Clause,
        /// PUSH, ALU u, ELSE, LOOP_BREAK or LOOP_CONTINUE, POP instead (r700-O17).
        expanded: bool,
    },
    /// Calls the subroutine that begins at a label.
    Call {
        /// The label.
        label: String,
        /// On a boolean; a call cannot be for some lanes only.
        when: When,
        /// `CALL_COUNT`, 0..=63; 1 is usual.
        count: u8,
    },
    /// Returns. Not inside a loop or an IF with a frame (r700-E5).
    Return {
        /// On a boolean; a return cannot be for some lanes only.
        when: When,
    },
    /// Lanes that pass are no longer valid: KILL @next.
    Kill {
        /// The lanes that are killed.
        when: When,
        /// `VALID_PIXEL_MODE`.
        vpm: bool,
    },
    /// Ends the program: NOP with `END_OF_PROGRAM`. Not inside a loop or an IF with a frame (r700-E8).
    End,
}

/// The result of [`expand`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The instructions, from address 0 on.
    pub quads: Vec<Quad>,
    /// The line each instruction comes from.
    pub lines: Vec<usize>,
    /// Labels, each with the address of the instruction that follows, at most `quads.len()`.
    pub labels: BTreeMap<String, u32>,
}

impl Assembly for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }

    fn check(&self, file: &str) -> Result<(), InputError> {
        if self.quads.len() > MAX_QUADS {
            let why = format!(
                "{} quadwords, there is room for {MAX_QUADS}",
                self.quads.len()
            );
            return Err(InputError::new(file, 0, "quads", why));
        }
        Ok(())
    }

    fn disassemble(&self, pc: u32) -> String {
        disassemble(self.quad(pc), pc, &self.regs)
    }

    fn statement(&self, pc: u32) -> String {
        let text = self.disassemble(pc);
        let text = text.strip_suffix("; entry").unwrap_or(&text).trim_end();
        // Without the words, where the text does not say all of them.
        match (text.find(" ["), text.find(']')) {
            (Some(begin), Some(end)) => text[..begin].to_owned() + &text[end + 1..],
            _ => text.to_owned(),
        }
    }

    fn to_text(&self) -> String {
        program_text(self)
    }

    fn assemble(text: &str, file: &str) -> Result<Self, InputError> {
        assemble(text, file)
    }
}
