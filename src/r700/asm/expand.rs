//! Expansion of statements: nests them, chooses words and targets, and resolves labels.

use super::{Code, ElseForm, EndifForm, Line, Stmt, When, text};
use crate::r700::isa::{Alu, AluOp, Cf, CfOp, Clause, Kcache, Word};
use crate::r700::program::{MAX_QUADS, Quad};
use reconverge_bench::input::InputError;
use reconverge_bench::text::{Errors, Labels, Location};

/// The frame that keeps the lanes of an IF.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IfFrame {
    /// Pushed by the clause that computes the predicate.
    Clause,
    /// Pushed by PUSH or PUSH_ELSE.
    Push,
    /// No frame.
    None,
}

/// An open IF or loop. Numbers are addresses.
enum Block {
    If {
        line: usize,
        frame: IfFrame,
        /// The JUMP, PUSH or PUSH_ELSE that goes to the else part, or to the end if there is none; in a
        /// frameless IF with an ELSE, the jump at the end of the THEN part.
        skip: Option<usize>,
        /// The ELSE, if it jumps to the end.
        swap: Option<usize>,
        has_else: bool,
        /// First instruction of the open part.
        part: usize,
    },
    Loop {
        line: usize,
        begin: usize,
        constant: u8,
        /// BREAKs and CONTINUEs.
        leaves: Vec<usize>,
    },
}

impl Block {
    /// Returns line and name of the statement that opened it.
    fn opened(&self) -> (usize, &'static str) {
        match self {
            Block::If { line, .. } => (*line, "IF"),
            Block::Loop { line, .. } => (*line, "LOOP"),
        }
    }

    fn ends_with(&self) -> &'static str {
        match self {
            Block::If { .. } => "ENDIF",
            Block::Loop { .. } => "ENDLOOP",
        }
    }
}

struct Expander<'a> {
    file: &'a str,
    code: Code,
    /// Instructions whose `ADDR` is a label.
    named: Vec<(usize, String)>,
    blocks: Vec<Block>,
    /// The highest address that is a target so far; an instruction before it cannot absorb a later one.
    joined: usize,
    labels: Labels<u32>,
}

/// Expands statements: nests them, chooses words and targets as in r700-7.1, and resolves labels.
///
/// `file` names the source in errors.
///
/// # Errors
///
/// Statements do not nest; a BREAK or CONTINUE is outside a loop of the same subroutine; a RETURN or END
/// is where a frame is open; a form needs an ALU instruction to fuse with and there is none; a label is
/// unknown or defined twice; a number does not fit its field; there are more than [`MAX_QUADS`] instructions.
pub fn expand(stmts: &[Line<Stmt>], file: &str) -> Result<Code, InputError> {
    let mut e = Expander {
        file,
        code: Code::default(),
        named: Vec::new(),
        blocks: Vec::new(),
        joined: 0,
        labels: Labels::new(stmts.iter().filter_map(|s| called(&s.item))),
    };
    for stmt in stmts {
        e.statement(stmt)?;
    }
    e.end_part()?;
    e.resolve()?;
    Ok(Code {
        labels: e.labels.into_addresses(),
        ..e.code
    })
}

/// Returns the label that a statement calls.
fn called(stmt: &Stmt) -> Option<String> {
    match stmt {
        Stmt::Call { label, .. } => Some(label.clone()),
        Stmt::Raw {
            quad,
            target: Some(label),
        } => match Word::decode(*quad) {
            Word::Cf(cf) if cf.op == CfOp::Call => Some(label.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Writes `addr` into the field `ADDR` of the quad's format. Addresses of a program fit both formats.
fn set_addr(quad: &mut Quad, addr: u32) {
    match Word::decode(*quad) {
        Word::Alu(_) => quad.dw0 = quad.dw0 & !Clause::ADDR | addr & Clause::ADDR,
        _ => quad.dw0 = addr,
    }
}

/// Returns `op` with the condition `when`.
fn cf(op: CfOp, when: When) -> Cf {
    Cf {
        cond: when.cond(),
        cf_const: when.boolean(),
        ..Cf::new(op)
    }
}

/// Returns a length or an address as a word; programs are far shorter than the limit.
fn word(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Expander<'_> {
    fn at(&self, line: usize) -> Location<'_> {
        Location {
            file: self.file,
            line,
        }
    }

    fn error(&self, line: usize, field: &str, message: impl Into<String>) -> InputError {
        self.at(line).error(field, message)
    }

    /// Returns the address of the next instruction.
    fn here(&self) -> usize {
        self.code.quads.len()
    }

    /// Adds an instruction and returns its address.
    fn emit(&mut self, line: usize, quad: Quad) -> Result<usize, InputError> {
        let at = self.here();
        if at == MAX_QUADS {
            return Err(self.error(line, "program", text::too_many()));
        }
        self.code.quads.push(quad);
        self.code.lines.push(line);
        Ok(at)
    }

    fn cf(&mut self, line: usize, cf: Cf) -> Result<usize, InputError> {
        self.emit(line, cf.encode())
    }

    fn alu(
        &mut self,
        line: usize,
        op: AluOp,
        clause: Clause,
        u: bool,
    ) -> Result<usize, InputError> {
        self.check_clause(line, &clause)?;
        let quad = Alu { op, clause }.encode();
        self.emit(line, Quad { u, ..quad })
    }

    /// Makes instruction `at` jump to address `to`.
    fn send(&mut self, at: usize, to: usize) {
        set_addr(&mut self.code.quads[at], word(to));
        self.joined = self.joined.max(to);
    }

    /// Sets `POP_COUNT` of an instruction that has 0 there to `pops`.
    fn pops(&mut self, at: usize, pops: u32) {
        self.code.quads[at].dw1 |= pops;
    }

    fn in_range(&self, line: usize, field: &str, n: u32, max: u32) -> Result<(), InputError> {
        if n <= max {
            return Ok(());
        }
        Err(self.error(line, field, format!("{n} is not in 0..{max}")))
    }

    fn check_clause(&self, line: usize, clause: &Clause) -> Result<(), InputError> {
        self.in_range(line, "address", clause.addr, Clause::ADDR)?;
        self.in_range(line, "COUNT", clause.count.into(), 127)?;
        for Kcache { bank, mode, .. } in [clause.kcache0, clause.kcache1] {
            self.in_range(line, "KCACHE_BANK", bank.into(), 15)?;
            self.in_range(line, "KCACHE_MODE", mode.into(), 3)?;
        }
        Ok(())
    }

    fn check_when(&self, line: usize, when: When) -> Result<(), InputError> {
        self.in_range(line, "boolean", when.boolean().into(), 31)
    }

    fn statement(&mut self, stmt: &Line<Stmt>) -> Result<(), InputError> {
        let line = stmt.line;
        match &stmt.item {
            &Stmt::Alu { clause, u } => {
                self.alu(line, AluOp::Alu, clause, u)?;
            }
            Stmt::Raw { quad, target } => {
                let at = self.emit(line, *quad)?;
                if let Some(label) = target {
                    self.named.push((at, label.clone()));
                }
            }
            Stmt::Label(name) => self.label(line, name)?,
            &Stmt::If { clause, not, jump } => {
                let op = if not {
                    AluOp::AluElseAfter
                } else {
                    AluOp::AluPushBefore
                };
                self.alu(line, op, clause, true)?;
                let skip = if jump {
                    Some(self.cf(line, Cf::new(CfOp::Jump))?)
                } else {
                    None
                };
                self.open_if(line, IfFrame::Clause, skip);
            }
            &Stmt::IfBool { when, frame, vpm } => {
                self.check_when(line, when)?;
                let (op, frame) = if frame {
                    (CfOp::Push, IfFrame::Push)
                } else {
                    (CfOp::Jump, IfFrame::None)
                };
                let skip = self.cf(
                    line,
                    Cf {
                        vpm,
                        ..cf(op, when)
                    },
                )?;
                self.open_if(line, frame, Some(skip));
            }
            &Stmt::Else { form, vpm } => self.else_(line, form, vpm)?,
            &Stmt::Endif { form, vpm } => self.endif(line, form, vpm)?,
            &Stmt::Loop { kind } => {
                let constant = kind.constant();
                self.in_range(line, "constant", constant.into(), 31)?;
                let start = Cf {
                    cf_const: constant,
                    ..Cf::new(kind.op())
                };
                let begin = self.cf(line, start)?;
                self.blocks.push(Block::Loop {
                    line,
                    begin,
                    constant,
                    leaves: Vec::new(),
                });
            }
            &Stmt::EndLoop { vpm } => self.end_loop(line, vpm)?,
            &Stmt::Break { when } => self.leave(line, CfOp::LoopBreak, when)?,
            &Stmt::Continue { when } => self.leave(line, CfOp::LoopContinue, when)?,
            &Stmt::BreakUnless { clause, expanded } => {
                self.leave_unless(line, CfOp::LoopBreak, clause, expanded)?;
            }
            &Stmt::ContinueUnless { clause, expanded } => {
                self.leave_unless(line, CfOp::LoopContinue, clause, expanded)?;
            }
            Stmt::Call { label, when, count } => {
                self.check_when(line, *when)?;
                self.in_range(line, "CALL_COUNT", (*count).into(), 63)?;
                let call = Cf {
                    call_count: *count,
                    ..cf(CfOp::Call, *when)
                };
                let at = self.cf(line, call)?;
                self.named.push((at, label.clone()));
            }
            &Stmt::Return { when } => {
                self.check_when(line, when)?;
                self.no_frames(line, "RETURN", "NO_CALL")?;
                self.cf(line, cf(CfOp::Return, when))?;
            }
            &Stmt::Kill { when, vpm } => {
                self.check_when(line, when)?;
                let kill = Cf {
                    vpm,
                    ..cf(CfOp::Kill, when)
                };
                let at = self.cf(line, kill)?;
                self.send(at, at + 1);
            }
            Stmt::End => {
                self.no_frames(line, "END", "END_STACK")?;
                let end = Cf {
                    end: true,
                    ..Cf::new(CfOp::Nop)
                };
                self.cf(line, end)?;
            }
        }
        Ok(())
    }

    fn label(&mut self, line: usize, name: &str) -> Result<(), InputError> {
        if self.labels.is_subroutine(name) {
            self.end_part()?;
            self.labels.enter(name);
        }
        self.joined = self.here();
        let (file, here) = (self.file, word(self.joined));
        self.labels.define(Location { file, line }, name, here)
    }

    /// Ends the main part or subroutine.
    fn end_part(&self) -> Result<(), InputError> {
        let Some(block) = self.blocks.last() else {
            return Ok(());
        };
        let (line, what) = block.opened();
        Err((self.labels).unclosed(self.at(line), what, block.ends_with()))
    }

    /// Returns the error for a statement that found `block` open, or nothing.
    fn misplaced(&self, line: usize, what: &str, wanted: &str, block: Option<Block>) -> InputError {
        let open = block.as_ref().map(Block::opened);
        self.at(line).misplaced(what, wanted, open)
    }

    fn open_if(&mut self, line: usize, frame: IfFrame, skip: Option<usize>) {
        self.blocks.push(Block::If {
            line,
            frame,
            skip,
            swap: None,
            has_else: false,
            part: self.here(),
        });
    }

    /// Changes the ALU instruction that ends the part beginning at `part` into `op`.
    fn fuse(
        &mut self,
        line: usize,
        what: &str,
        op: AluOp,
        part: usize,
    ) -> Result<usize, InputError> {
        let why = match self.here().checked_sub(1).filter(|last| *last >= part) {
            None => "the part before it is empty",
            Some(last) if self.joined > last => {
                "a label or a jump leads between it and the instruction before"
            }
            Some(last) => match Word::decode(self.code.quads[last]) {
                Word::Alu(Alu {
                    op: AluOp::Alu,
                    clause,
                }) => {
                    let u = self.code.quads[last].u;
                    if u && op == AluOp::AluElseAfter {
                        "with u, ALU_ELSE_AFTER would push another frame"
                    } else {
                        self.code.quads[last] = Quad {
                            u,
                            ..Alu { op, clause }.encode()
                        };
                        return Ok(last);
                    }
                }
                _ => "the instruction before it is not an ALU",
            },
        };
        Err(self.error(line, what, format!("cannot be fused: {why}")))
    }

    fn else_(&mut self, line: usize, form: ElseForm, vpm: bool) -> Result<(), InputError> {
        const WHAT: &str = "ELSE";
        let (at, frame, skip, part) = match self.blocks.pop() {
            Some(Block::If {
                line,
                frame,
                skip,
                has_else: false,
                part,
                ..
            }) => (line, frame, skip, part),
            Some(Block::If { line: of, .. }) => {
                return Err(self.at(line).second_else(WHAT, "IF", of));
            }
            other => return Err(self.misplaced(line, WHAT, "an IF", other)),
        };
        let mut next = None;
        let mut swap = None;
        if frame == IfFrame::None {
            if vpm || form != ElseForm::Jump {
                let message =
                    format!("the IF of line {at} has no frame, so its ELSE has one form only");
                return Err(self.error(line, WHAT, message));
            }
            let jump = self.cf(line, cf(CfOp::Jump, When::Never))?;
            next = Some(jump);
            if let Some(skip) = skip {
                self.send(skip, jump + 1);
            }
        } else {
            let swapped = match form {
                ElseForm::Fused if vpm => {
                    return Err(self.error(line, WHAT, "ALU_ELSE_AFTER has no VPM"));
                }
                ElseForm::Fused => self.fuse(line, WHAT, AluOp::AluElseAfter, part)?,
                ElseForm::Stay | ElseForm::Jump => {
                    let n = self.cf(
                        line,
                        Cf {
                            vpm,
                            ..Cf::new(CfOp::Else)
                        },
                    )?;
                    if form == ElseForm::Jump {
                        swap = Some(n);
                    } else {
                        self.send(n, n + 1);
                    }
                    n
                }
            };
            if let Some(skip) = skip {
                self.send(skip, swapped);
                if frame == IfFrame::Push {
                    let dw1 = &mut self.code.quads[skip].dw1;
                    *dw1 = *dw1 & !(127 << 23) | CfOp::PushElse.bits() << 23;
                }
            }
        }
        self.blocks.push(Block::If {
            line: at,
            frame,
            skip: next,
            swap,
            has_else: true,
            part: self.here(),
        });
        Ok(())
    }

    fn endif(&mut self, line: usize, form: EndifForm, vpm: bool) -> Result<(), InputError> {
        const WHAT: &str = "ENDIF";
        if vpm && form != EndifForm::Pop {
            return Err(self.error(line, WHAT, "ALU_POP_AFTER and ALU_POP2_AFTER have no VPM"));
        }
        let inner = self.close_if(line)?;
        let outer = match form {
            EndifForm::FusedTwo => Some(self.close_if(line)?),
            EndifForm::Pop | EndifForm::Fused => None,
        };
        for closed in [Some(&inner), outer.as_ref()].into_iter().flatten() {
            if closed.frame == IfFrame::None && (vpm || form != EndifForm::Pop) {
                let message = format!(
                    "the IF of line {} has no frame, so its ENDIF must be plain",
                    closed.line
                );
                return Err(self.error(line, WHAT, message));
            }
        }
        match form {
            EndifForm::Pop if inner.frame == IfFrame::None => {}
            EndifForm::Pop => {
                let pop = Cf {
                    vpm,
                    pop_count: 1,
                    ..Cf::new(CfOp::Pop)
                };
                let n = self.cf(line, pop)?;
                self.send(n, n + 1);
            }
            EndifForm::Fused => {
                self.fuse(line, WHAT, AluOp::AluPopAfter, inner.part)?;
            }
            EndifForm::FusedTwo => {
                self.fuse(line, WHAT, AluOp::AluPop2After, inner.part)?;
            }
        }
        if let Some(outer) = outer {
            self.skip_behind(&outer, 1);
            self.skip_behind(&inner, 2);
        } else {
            self.skip_behind(&inner, 1);
        }
        self.joined = self.here();
        Ok(())
    }

    fn close_if(&mut self, line: usize) -> Result<Closed, InputError> {
        match self.blocks.pop() {
            Some(Block::If {
                line,
                frame,
                skip,
                swap,
                part,
                ..
            }) => Ok(Closed {
                line,
                frame,
                skip,
                swap,
                part,
            }),
            other => Err(self.misplaced(line, "ENDIF", "an IF", other)),
        }
    }

    /// Makes the jump to the end of an IF go here, after the pop of `frames` frames, and pop as many itself.
    fn skip_behind(&mut self, closed: &Closed, frames: u32) {
        let here = self.here();
        if let Some(skip) = closed.skip {
            self.send(skip, here);
            match closed.frame {
                IfFrame::Clause => self.pops(skip, frames),
                // A PUSH that jumps has pushed nothing.
                IfFrame::Push => self.pops(skip, frames - 1),
                IfFrame::None => {}
            }
        }
        if let Some(swap) = closed.swap {
            self.send(swap, here);
            self.pops(swap, frames);
        }
    }

    fn end_loop(&mut self, line: usize, vpm: bool) -> Result<(), InputError> {
        match self.blocks.pop() {
            Some(Block::Loop {
                begin,
                constant,
                leaves,
                ..
            }) => {
                let end = Cf {
                    vpm,
                    cf_const: constant,
                    ..Cf::new(CfOp::LoopEnd)
                };
                let n = self.cf(line, end)?;
                self.send(n, begin + 1);
                self.send(begin, n + 1);
                for leave in leaves {
                    self.send(leave, n);
                }
                Ok(())
            }
            other => Err(self.misplaced(line, "ENDLOOP", "a LOOP", other)),
        }
    }

    /// Records instruction `at` as one that jumps to the LOOP_END of the loop at `depth`.
    fn leaves(&mut self, depth: usize, at: usize) {
        if let Some(Block::Loop { leaves, .. }) = self.blocks.get_mut(depth) {
            leaves.push(at);
        }
    }

    /// Returns the innermost loop, as a position in `blocks`.
    fn innermost_loop(&self, line: usize, op: CfOp) -> Result<usize, InputError> {
        let found = (self.blocks.iter()).rposition(|b| matches!(b, Block::Loop { .. }));
        found.ok_or_else(|| {
            let what = match op {
                CfOp::LoopBreak => "BREAK",
                _ => "CONTINUE",
            };
            self.labels.outside(self.at(line), what, "LOOP")
        })
    }

    /// Adds a BREAK or CONTINUE.
    fn leave(&mut self, line: usize, op: CfOp, when: When) -> Result<(), InputError> {
        self.check_when(line, when)?;
        let depth = self.innermost_loop(line, op)?;
        let at = self.cf(line, cf(op, when))?;
        self.leaves(depth, at);
        Ok(())
    }

    /// Adds a BREAK UNLESS or CONTINUE UNLESS.
    fn leave_unless(
        &mut self,
        line: usize,
        op: CfOp,
        clause: Clause,
        expanded: bool,
    ) -> Result<(), InputError> {
        let depth = self.innermost_loop(line, op)?;
        if !expanded {
            let fused = match op {
                CfOp::LoopBreak => AluOp::AluBreak,
                _ => AluOp::AluContinue,
            };
            self.alu(line, fused, clause, true)?;
            return Ok(());
        }
        let push = self.cf(line, Cf::new(CfOp::Push))?;
        self.alu(line, AluOp::Alu, clause, true)?;
        let one = |op| Cf {
            pop_count: 1,
            ..Cf::new(op)
        };
        let swap = self.cf(line, one(CfOp::Else))?;
        let leave = self.cf(line, Cf::new(op))?;
        let pop = self.cf(line, one(CfOp::Pop))?;
        for n in [push, swap, pop] {
            self.send(n, pop + 1);
        }
        self.leaves(depth, leave);
        Ok(())
    }

    /// Checks that the stack is as it was when the part began, which RETURN and END need.
    fn no_frames(&self, line: usize, what: &str, code: &str) -> Result<(), InputError> {
        for block in &self.blocks {
            if let Block::If {
                frame: IfFrame::None,
                ..
            } = block
            {
                continue;
            }
            let (at, opened) = block.opened();
            let message =
                format!("inside the {opened} of line {at}, whose frame is on the stack: {code}");
            return Err(self.error(line, what, message));
        }
        Ok(())
    }

    fn resolve(&mut self) -> Result<(), InputError> {
        let mut errors = Errors::default();
        for (at, label) in std::mem::take(&mut self.named) {
            let line = self.code.lines[at];
            let to = self.labels.find(self.at(line), "label", &label);
            if let Some(to) = errors.note(to) {
                set_addr(&mut self.code.quads[at], to);
            }
            if errors.is_full() {
                break;
            }
        }
        errors.none()
    }
}

/// An IF after its ENDIF.
struct Closed {
    line: usize,
    frame: IfFrame,
    skip: Option<usize>,
    swap: Option<usize>,
    part: usize,
}
