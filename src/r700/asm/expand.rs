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

/// An IF. Numbers are addresses.
struct If {
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
}

/// An open IF or loop. Numbers are addresses.
enum Block {
    If(If),
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
            Block::If(If { line, .. }) => (*line, "IF"),
            Block::Loop { line, .. } => (*line, "LOOP"),
        }
    }

    fn ends_with(&self) -> &'static str {
        match self {
            Block::If(_) => "ENDIF",
            Block::Loop { .. } => "ENDLOOP",
        }
    }
}

struct Expander<'a> {
    /// The place of the statement that is being expanded.
    here: Location<'a>,
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
        here: Location { file, line: 0 },
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

/// Returns the instruction by which lanes leave a loop, or a pass of it.
fn leave_op(breaks: bool) -> CfOp {
    if breaks {
        CfOp::LoopBreak
    } else {
        CfOp::LoopContinue
    }
}

/// Returns a length or an address as a word; programs are far shorter than the limit.
fn word(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl<'a> Expander<'a> {
    /// Returns the place of `line`.
    fn at(&self, line: usize) -> Location<'a> {
        Location { line, ..self.here }
    }

    /// Returns the address of the next instruction.
    fn next(&self) -> usize {
        self.code.quads.len()
    }

    /// Adds an instruction and returns its address.
    fn emit(&mut self, quad: Quad) -> Result<usize, InputError> {
        let at = self.next();
        if at == MAX_QUADS {
            return Err(self.here.error("program", text::too_many()));
        }
        self.code.quads.push(quad);
        self.code.lines.push(self.here.line);
        Ok(at)
    }

    fn cf(&mut self, cf: Cf) -> Result<usize, InputError> {
        self.emit(cf.encode())
    }

    fn alu(&mut self, op: AluOp, clause: Clause, u: bool) -> Result<usize, InputError> {
        self.check_clause(&clause)?;
        let quad = Alu { op, clause }.encode();
        self.emit(Quad { u, ..quad })
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

    fn in_range(&self, field: &str, n: u32, max: u32) -> Result<(), InputError> {
        if n <= max {
            return Ok(());
        }
        Err(self.here.error(field, format!("{n} is not in 0..{max}")))
    }

    fn check_clause(&self, clause: &Clause) -> Result<(), InputError> {
        self.in_range("address", clause.addr, Clause::ADDR)?;
        self.in_range("COUNT", clause.count.into(), 127)?;
        for Kcache { bank, mode, .. } in [clause.kcache0, clause.kcache1] {
            self.in_range("KCACHE_BANK", bank.into(), 15)?;
            self.in_range("KCACHE_MODE", mode.into(), 3)?;
        }
        Ok(())
    }

    fn check_when(&self, when: When) -> Result<(), InputError> {
        self.in_range("boolean", when.boolean().into(), 31)
    }

    fn statement(&mut self, stmt: &Line<Stmt>) -> Result<(), InputError> {
        self.here.line = stmt.line;
        match &stmt.item {
            &Stmt::Alu { clause, u } => {
                self.alu(AluOp::Alu, clause, u)?;
            }
            Stmt::Raw { quad, target } => {
                let at = self.emit(*quad)?;
                if let Some(label) = target {
                    self.named.push((at, label.clone()));
                }
            }
            Stmt::Label(name) => self.label(name)?,
            &Stmt::If { clause, not, jump } => {
                let op = if not {
                    AluOp::AluElseAfter
                } else {
                    AluOp::AluPushBefore
                };
                self.alu(op, clause, true)?;
                let skip = jump.then(|| self.cf(Cf::new(CfOp::Jump))).transpose()?;
                self.open_if(IfFrame::Clause, skip);
            }
            &Stmt::IfBool { when, frame, vpm } => {
                self.check_when(when)?;
                let (op, frame) = if frame {
                    (CfOp::Push, IfFrame::Push)
                } else {
                    (CfOp::Jump, IfFrame::None)
                };
                let jump = Cf {
                    vpm,
                    ..cf(op, when)
                };
                let skip = self.cf(jump)?;
                self.open_if(frame, Some(skip));
            }
            &Stmt::Else { form, vpm } => self.else_(form, vpm)?,
            &Stmt::Endif { form, vpm } => self.endif(form, vpm)?,
            &Stmt::Loop { kind } => {
                let constant = kind.constant();
                self.in_range("constant", constant.into(), 31)?;
                let start = Cf {
                    cf_const: constant,
                    ..Cf::new(kind.op())
                };
                let begin = self.cf(start)?;
                self.blocks.push(Block::Loop {
                    line: self.here.line,
                    begin,
                    constant,
                    leaves: Vec::new(),
                });
            }
            &Stmt::EndLoop { vpm } => self.end_loop(vpm)?,
            &Stmt::Leave { breaks, when } => self.leave(breaks, when)?,
            &Stmt::LeaveUnless {
                breaks,
                clause,
                expanded,
            } => self.leave_unless(breaks, clause, expanded)?,
            Stmt::Call { label, when, count } => {
                self.check_when(*when)?;
                self.in_range("CALL_COUNT", (*count).into(), 63)?;
                let call = Cf {
                    call_count: *count,
                    ..cf(CfOp::Call, *when)
                };
                let at = self.cf(call)?;
                self.named.push((at, label.clone()));
            }
            &Stmt::Return { when } => {
                self.check_when(when)?;
                self.no_frames("RETURN", "NO_CALL")?;
                self.cf(cf(CfOp::Return, when))?;
            }
            &Stmt::Kill { when, vpm } => {
                self.check_when(when)?;
                let kill = Cf {
                    vpm,
                    ..cf(CfOp::Kill, when)
                };
                let at = self.cf(kill)?;
                self.send(at, at + 1);
            }
            Stmt::End => {
                self.no_frames("END", "END_STACK")?;
                let end = Cf {
                    end: true,
                    ..Cf::new(CfOp::Nop)
                };
                self.cf(end)?;
            }
        }
        Ok(())
    }

    fn label(&mut self, name: &str) -> Result<(), InputError> {
        if self.labels.is_subroutine(name) {
            self.end_part()?;
            self.labels.enter(name);
        }
        self.joined = self.next();
        self.labels.define(self.here, name, word(self.joined))
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
    fn misplaced(&self, what: &str, wanted: &str, block: Option<Block>) -> InputError {
        let open = block.as_ref().map(Block::opened);
        self.here.misplaced(what, wanted, open)
    }

    fn open_if(&mut self, frame: IfFrame, skip: Option<usize>) {
        self.blocks.push(Block::If(If {
            line: self.here.line,
            frame,
            skip,
            swap: None,
            has_else: false,
            part: self.next(),
        }));
    }

    /// Changes the ALU instruction that ends the part beginning at `part` into `op`.
    fn fuse(&mut self, what: &str, op: AluOp, part: usize) -> Result<usize, InputError> {
        let why = match self.next().checked_sub(1).filter(|last| *last >= part) {
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
        Err(self.here.error(what, format!("cannot be fused: {why}")))
    }

    fn else_(&mut self, form: ElseForm, vpm: bool) -> Result<(), InputError> {
        const WHAT: &str = "ELSE";
        let mut open = self.close_if(WHAT)?;
        if open.has_else {
            return Err(self.here.second_else(WHAT, "IF", open.line));
        }
        let skip = open.skip.take();
        if open.frame == IfFrame::None {
            if vpm || form != ElseForm::Jump {
                let at = open.line;
                let message =
                    format!("the IF of line {at} has no frame, so its ELSE has one form only");
                return Err(self.here.error(WHAT, message));
            }
            let jump = self.cf(cf(CfOp::Jump, When::Never))?;
            open.skip = Some(jump);
            if let Some(skip) = skip {
                self.send(skip, jump + 1);
            }
        } else {
            let swapped = match form {
                ElseForm::Fused if vpm => {
                    return Err(self.here.error(WHAT, "ALU_ELSE_AFTER has no VPM"));
                }
                ElseForm::Fused => self.fuse(WHAT, AluOp::AluElseAfter, open.part)?,
                ElseForm::Stay | ElseForm::Jump => {
                    let swap = Cf {
                        vpm,
                        ..Cf::new(CfOp::Else)
                    };
                    let n = self.cf(swap)?;
                    if form == ElseForm::Jump {
                        open.swap = Some(n);
                    } else {
                        self.send(n, n + 1);
                    }
                    n
                }
            };
            if let Some(skip) = skip {
                self.send(skip, swapped);
                if open.frame == IfFrame::Push {
                    let dw1 = &mut self.code.quads[skip].dw1;
                    *dw1 = *dw1 & !(127 << 23) | CfOp::PushElse.bits() << 23;
                }
            }
        }
        (open.has_else, open.part) = (true, self.next());
        self.blocks.push(Block::If(open));
        Ok(())
    }

    fn endif(&mut self, form: EndifForm, vpm: bool) -> Result<(), InputError> {
        const WHAT: &str = "ENDIF";
        if vpm && form != EndifForm::Pop {
            return Err(self
                .here
                .error(WHAT, "ALU_POP_AFTER and ALU_POP2_AFTER have no VPM"));
        }
        let inner = self.close_if(WHAT)?;
        let outer = match form {
            EndifForm::FusedTwo => Some(self.close_if(WHAT)?),
            EndifForm::Pop | EndifForm::Fused => None,
        };
        for closed in [Some(&inner), outer.as_ref()].into_iter().flatten() {
            if closed.frame == IfFrame::None && (vpm || form != EndifForm::Pop) {
                let message = format!(
                    "the IF of line {} has no frame, so its ENDIF must be plain",
                    closed.line
                );
                return Err(self.here.error(WHAT, message));
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
                let n = self.cf(pop)?;
                self.send(n, n + 1);
            }
            EndifForm::Fused => {
                self.fuse(WHAT, AluOp::AluPopAfter, inner.part)?;
            }
            EndifForm::FusedTwo => {
                self.fuse(WHAT, AluOp::AluPop2After, inner.part)?;
            }
        }
        if let Some(outer) = outer {
            self.skip_behind(&outer, 1);
            self.skip_behind(&inner, 2);
        } else {
            self.skip_behind(&inner, 1);
        }
        self.joined = self.next();
        Ok(())
    }

    /// Returns the innermost block, which must be an IF for `what`.
    fn close_if(&mut self, what: &str) -> Result<If, InputError> {
        match self.blocks.pop() {
            Some(Block::If(open)) => Ok(open),
            other => Err(self.misplaced(what, "an IF", other)),
        }
    }

    /// Makes the jump to the end of an IF go here, after the pop of `frames` frames, and pop as many itself.
    fn skip_behind(&mut self, closed: &If, frames: u32) {
        let here = self.next();
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

    fn end_loop(&mut self, vpm: bool) -> Result<(), InputError> {
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
                let n = self.cf(end)?;
                self.send(n, begin + 1);
                self.send(begin, n + 1);
                for leave in leaves {
                    self.send(leave, n);
                }
                Ok(())
            }
            other => Err(self.misplaced("ENDLOOP", "a LOOP", other)),
        }
    }

    /// Records instruction `at` as one that jumps to the LOOP_END of the loop at `depth`.
    fn leaves(&mut self, depth: usize, at: usize) {
        if let Some(Block::Loop { leaves, .. }) = self.blocks.get_mut(depth) {
            leaves.push(at);
        }
    }

    /// Returns the innermost loop, as a position in `blocks`.
    fn innermost_loop(&self, breaks: bool) -> Result<usize, InputError> {
        let found = (self.blocks.iter()).rposition(|b| matches!(b, Block::Loop { .. }));
        let what = if breaks { "BREAK" } else { "CONTINUE" };
        found.ok_or_else(|| self.labels.outside(self.here, what, "LOOP"))
    }

    /// Adds a BREAK or CONTINUE.
    fn leave(&mut self, breaks: bool, when: When) -> Result<(), InputError> {
        self.check_when(when)?;
        let depth = self.innermost_loop(breaks)?;
        let at = self.cf(cf(leave_op(breaks), when))?;
        self.leaves(depth, at);
        Ok(())
    }

    /// Adds a BREAK UNLESS or CONTINUE UNLESS.
    fn leave_unless(
        &mut self,
        breaks: bool,
        clause: Clause,
        expanded: bool,
    ) -> Result<(), InputError> {
        let depth = self.innermost_loop(breaks)?;
        if !expanded {
            let fused = if breaks {
                AluOp::AluBreak
            } else {
                AluOp::AluContinue
            };
            return self.alu(fused, clause, true).map(|_| ());
        }
        let push = self.cf(Cf::new(CfOp::Push))?;
        self.alu(AluOp::Alu, clause, true)?;
        let one = |op| Cf {
            pop_count: 1,
            ..Cf::new(op)
        };
        let swap = self.cf(one(CfOp::Else))?;
        let leave = self.cf(Cf::new(leave_op(breaks)))?;
        let pop = self.cf(one(CfOp::Pop))?;
        for n in [push, swap, pop] {
            self.send(n, pop + 1);
        }
        self.leaves(depth, leave);
        Ok(())
    }

    /// Checks that the stack is as it was when the part began, which RETURN and END need.
    fn no_frames(&self, what: &str, code: &str) -> Result<(), InputError> {
        for block in &self.blocks {
            if matches!(block, Block::If(open) if open.frame == IfFrame::None) {
                continue;
            }
            let (at, opened) = block.opened();
            let message =
                format!("inside the {opened} of line {at}, whose frame is on the stack: {code}");
            return Err(self.here.error(what, message));
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
