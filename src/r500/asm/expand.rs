//! Expansion of statements: nests them, chooses words and targets, and resolves labels.

use std::collections::BTreeMap;

use super::{Code, Cond, Line, Stmt, Targets};
use crate::r500::isa::{AOp, BOp, Fc, Op, PredSel, Type};
use crate::r500::program::{MEMORY_SLOTS, Slot};
use reconverge_bench::input::InputError;
use reconverge_bench::text::{Errors, Labels, Location};

/// The target of a jump, before addresses are known. Numbers are those of [`Item`]s.
#[derive(Clone, Debug)]
enum Target {
    None,
    At(usize),
    After(usize),
    Label(String),
}

/// An instruction before it has its address.
struct Item {
    line: usize,
    /// The statement, for messages.
    what: &'static str,
    fc: Result<Fc, Slot>,
    target: Target,
}

/// An open IF.
struct If {
    line: usize,
    /// Branch levels that it holds: 1, and one more for each ELSE IF.
    levels: u8,
    /// Instructions that jump to the next ELSE IF or ELSE, or to the end if there is none.
    open: Vec<usize>,
    /// The ELSE.
    swap: Option<usize>,
    /// There was an ELSE IF.
    fused: bool,
}

/// An open IF, static IF or loop.
enum Block {
    If(If),
    Static {
        line: usize,
        /// The instruction that jumps to the else part or to the end.
        open: usize,
        has_else: bool,
    },
    Loop {
        line: usize,
        rep: bool,
        begin: usize,
        int: u8,
        /// Only some lanes entered: the end pops a level.
        some: bool,
        breaks: Vec<usize>,
        continues: Vec<usize>,
    },
}

impl Block {
    /// Returns line and name of the statement that opened it.
    fn opened(&self) -> (usize, &'static str) {
        match self {
            Block::If(If { line, .. }) => (*line, "IF"),
            Block::Static { line, .. } => (*line, "static IF"),
            Block::Loop { line, rep, .. } => (*line, if *rep { "REP" } else { "LOOP" }),
        }
    }

    fn ends_with(&self) -> &'static str {
        match self {
            Block::If(_) => "ENDIF",
            Block::Static { .. } => "the ENDIF of the static IF",
            Block::Loop { rep: false, .. } => "ENDLOOP",
            Block::Loop { rep: true, .. } => "ENDREP",
        }
    }
}

/// Lines where a subroutine is used with and without branch counters.
#[derive(Default)]
struct Counters {
    with: Option<usize>,
    without: Option<usize>,
}

struct Expander<'a> {
    /// The place of the statement that is being expanded, and its `IGNORE_UNCOVERED`.
    here: Location<'a>,
    ign: bool,
    items: Vec<Item>,
    /// Item numbers in the order of their addresses.
    order: Vec<usize>,
    /// Stubs of the part being expanded.
    stubs: Vec<usize>,
    blocks: Vec<Block>,
    /// Conditional RETURNs with counters so far in this part.
    returns: u8,
    /// First slot of the current part.
    part_start: usize,
    labels: Labels<u16>,
    counters: BTreeMap<String, Counters>,
    code: Code,
}

/// Expands statements: nests and counts them, resolves labels, and emits the words of r500-7.1.
///
/// Each statement comes with the `IGNORE_UNCOVERED` of its instruction. `offset` is `OFFSET_ADDR`, the address of slot 0; `file` names
/// the source in errors.
///
/// # Errors
///
/// Statements do not nest; a BREAK or CONTINUE is outside a loop of the same subroutine; a RETURN is
/// where the hardware cannot do one; a label is unknown or defined twice; a number is out of range; a
/// `B_POP_CNT` exceeds 31; there are more slots than fit after `offset`; a target does not fit 9 bits.
pub fn expand(
    stmts: &[Line<(Stmt, bool)>],
    offset: u16,
    targets: Targets,
    file: &str,
) -> Result<Code, InputError> {
    if usize::from(offset) >= MEMORY_SLOTS {
        let message = format!(
            "OFFSET_ADDR is {offset}, the memory ends at {}",
            MEMORY_SLOTS - 1
        );
        return Err(InputError::new(file, 0, "offset", message));
    }
    let mut e = Expander {
        here: Location { file, line: 0 },
        ign: false,
        items: Vec::new(),
        order: Vec::new(),
        stubs: Vec::new(),
        blocks: Vec::new(),
        returns: 0,
        part_start: 0,
        labels: Labels::new(stmts.iter().filter_map(|s| called(&s.item.0))),
        counters: BTreeMap::new(),
        code: Code::default(),
    };
    for stmt in stmts {
        e.statement(stmt)?;
    }
    e.end_part()?;
    e.check_counters()?;
    e.layout(usize::from(offset), targets)?;
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
            slot,
            target: Some(label),
        } => {
            let fc = Fc::decode(*slot)?;
            (fc.a_op == AOp::Push).then(|| label.clone())
        }
        _ => None,
    }
}

/// Returns `inst` with this condition.
fn under(inst: Fc, cond: Cond) -> Fc {
    Fc {
        pred_sel: cond.pred,
        pred_inv: cond.pred_inv,
        jump_func: cond.table,
        bool_addr: cond.boolean,
        ..inst
    }
}

const JUMP: Fc = Fc::NOP;

impl<'a> Expander<'a> {
    /// Returns the place of `line`.
    fn at(&self, line: usize) -> Location<'a> {
        Location { line, ..self.here }
    }

    fn check(&self, cond: Option<Cond>) -> Result<(), InputError> {
        let Some(cond) = cond else { return Ok(()) };
        if cond.boolean > 31 {
            let message = format!(
                "boolean constant {} does not exist, 0 to 31 do",
                cond.boolean
            );
            return Err(self.here.error("condition", message));
        }
        match cond.pred {
            PredSel::Rgba | PredSel::Reserved6 | PredSel::Reserved7 => Err(self.here.error(
                "condition",
                "flow control takes one of the predicates R, G, B, A or none",
            )),
            _ => Ok(()),
        }
    }

    fn check_int(&self, int: u8) -> Result<(), InputError> {
        if int > 31 {
            let message = format!("integer constant {int} does not exist, 0 to 31 do");
            return Err(self.here.error("constant", message));
        }
        Ok(())
    }

    /// Returns `n` as `B_POP_CNT`, which has 5 bits.
    fn pop_count(&self, what: &str, n: usize) -> Result<u8, InputError> {
        match u8::try_from(n) {
            Ok(n) if n <= 31 => Ok(n),
            _ => {
                let message = format!("would pop {n} branch levels, B_POP_CNT holds at most 31");
                Err(self.here.error(what, message))
            }
        }
    }

    /// Adds an instruction at the next address and returns its number.
    fn emit(&mut self, what: &'static str, fc: Fc, target: Target) -> usize {
        let n = self.item(what, Ok(fc), target);
        self.order.push(n);
        n
    }

    fn item(&mut self, what: &'static str, fc: Result<Fc, Slot>, target: Target) -> usize {
        let ignore_uncovered = self.ign;
        self.items.push(Item {
            line: self.here.line,
            what,
            fc: fc.map(|fc| Fc {
                ignore_uncovered,
                ..fc
            }),
            target,
        });
        self.items.len() - 1
    }

    /// Makes instruction `n` jump to `target`; with `count`, it counts in `B_OP1`.
    fn send(&mut self, n: usize, target: Target, count: bool) {
        let item = &mut self.items[n];
        item.target = target;
        if let (true, Ok(fc)) = (count, &mut item.fc) {
            fc.b_op1 = BOp::Incr;
        }
    }

    fn statement(&mut self, Line { line, item }: &Line<(Stmt, bool)>) -> Result<(), InputError> {
        (self.here.line, self.ign) = (*line, item.1);
        match &item.0 {
            Stmt::Alu => self.plain(Type::Alu),
            Stmt::Tex => self.plain(Type::Tex),
            Stmt::Out => self.plain(Type::Out),
            Stmt::Raw { slot, target } => {
                let target = target.clone().map_or(Target::None, Target::Label);
                let n = self.item("target", Err(*slot), target);
                self.order.push(n);
            }
            Stmt::Label(name) => self.label(name)?,
            &Stmt::If(cond) => {
                self.check(Some(cond))?;
                let inst = Fc {
                    b_op0: BOp::Incr,
                    ..JUMP
                };
                let n = self.emit("IF", under(inst, !cond), Target::None);
                self.blocks.push(Block::If(If {
                    line: self.here.line,
                    levels: 1,
                    open: vec![n],
                    swap: None,
                    fused: false,
                }));
            }
            &Stmt::ElseIf(cond) => self.else_if(cond)?,
            Stmt::Else => self.else_()?,
            Stmt::Endif => self.endif()?,
            &Stmt::StaticIf(cond) => {
                self.check(Some(cond))?;
                if !cond.is_static() {
                    let message = "a static IF has no branch counters, so only a boolean constant can be its condition";
                    return Err(self.here.error("condition", message));
                }
                let n = self.emit("static IF", under(JUMP, !cond), Target::None);
                self.blocks.push(Block::Static {
                    line: self.here.line,
                    open: n,
                    has_else: false,
                });
            }
            Stmt::StaticElse => match self.blocks.pop() {
                Some(Block::Static {
                    line,
                    open,
                    has_else: false,
                }) => {
                    let n = self.emit("static ELSE", always(), Target::None);
                    self.send(open, Target::After(n), false);
                    self.blocks.push(Block::Static {
                        line,
                        open: n,
                        has_else: true,
                    });
                }
                other => return Err(self.misplaced("static ELSE", "a static IF", other)),
            },
            Stmt::StaticEndif => match self.blocks.pop() {
                Some(Block::Static { open, .. }) => {
                    // No instruction of its own: the jump goes past the last one.
                    let target = match self.order.last() {
                        Some(&last) => Target::After(last),
                        None => Target::None,
                    };
                    self.send(open, target, false);
                }
                other => return Err(self.misplaced("static ENDIF", "a static IF", other)),
            },
            &Stmt::Loop { rep, int, cond } => self.begin_loop(rep, int, cond)?,
            &Stmt::EndLoop { rep } => self.end_loop(rep)?,
            &Stmt::Leave { breaks, cond } => self.leave(breaks, cond)?,
            Stmt::Call {
                label,
                cond,
                counters,
            } => {
                self.check(*cond)?;
                let inst = Fc {
                    a_op: AOp::Push,
                    jump_any: true,
                    b_op1: if *counters { BOp::Incr } else { BOp::None },
                    ..always()
                };
                self.note_counters(Some(label), *counters);
                let target = Target::Label(label.clone());
                self.emit("CALL", cond.map_or(inst, |cond| under(inst, cond)), target);
            }
            &Stmt::Ret { cond, counters } => self.ret(cond, counters)?,
            Stmt::Jump(label) => {
                let target = Target::Label(label.clone());
                self.emit("JUMP", always(), target);
            }
        }
        Ok(())
    }

    fn plain(&mut self, ty: Type) {
        let slot = Slot {
            cmn: ty.bits(),
            ..Slot::default()
        };
        let n = self.item(ty.name(), Err(slot), Target::None);
        self.order.push(n);
    }

    fn label(&mut self, name: &str) -> Result<(), InputError> {
        if self.labels.is_subroutine(name) {
            self.end_part()?;
            self.labels.enter(name);
        }
        // Only addresses above 511 do not fit; `layout` refuses such programs.
        let here = u16::try_from(self.order.len()).unwrap_or(u16::MAX);
        self.labels.define(self.here, name, here)
    }

    /// Ends the main part or subroutine: its stubs follow its last instruction.
    fn end_part(&mut self) -> Result<(), InputError> {
        if let Some(block) = self.blocks.last() {
            let (line, what) = block.opened();
            return Err((self.labels).unclosed(self.at(line), what, block.ends_with()));
        }
        if self.order.len() > self.part_start {
            let last = self.order.len() - 1;
            let slot = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
            self.code.parts.push((slot(self.part_start), slot(last)));
        }
        self.order.append(&mut self.stubs);
        self.part_start = self.order.len();
        self.returns = 0;
        Ok(())
    }

    /// Returns the error for a statement that found `block` open, or nothing.
    fn misplaced(&self, what: &str, wanted: &str, block: Option<Block>) -> InputError {
        match block {
            Some(Block::Static {
                line: of,
                has_else: true,
                ..
            }) if what == "static ELSE" => self.here.second_else(what, "static IF", of),
            _ => {
                let open = block.as_ref().map(Block::opened);
                self.here.misplaced(what, wanted, open)
            }
        }
    }

    /// Returns the innermost block, which must be an IF for `what`; for another part of it, one without ELSE.
    fn innermost_if(&mut self, what: &str) -> Result<If, InputError> {
        match self.blocks.pop() {
            Some(Block::If(block)) if block.swap.is_some() && what != "ENDIF" => {
                Err(self.here.second_else(what, "IF", block.line))
            }
            Some(Block::If(block)) => Ok(block),
            other => Err(self.misplaced(what, "an IF", other)),
        }
    }

    fn else_if(&mut self, cond: Cond) -> Result<(), InputError> {
        self.check(Some(cond))?;
        let mut block = self.innermost_if("ELSE IF")?;
        block.levels = self.pop_count("ELSE IF", usize::from(block.levels) + 1)?;
        let inst = Fc {
            b_op0: BOp::Incr,
            b_op1: BOp::Incr,
            ..JUMP
        };
        let swap = Fc {
            b_else: true,
            ..inst
        };
        let fused = self.emit("ELSE IF", under(swap, !cond), Target::None);
        let test = self.item("ELSE IF", Ok(under(inst, !cond)), Target::None);
        let back = self.item("ELSE IF", Ok(always()), Target::After(fused));
        self.stubs.extend([test, back]);
        for n in std::mem::replace(&mut block.open, vec![fused, test]) {
            self.send(n, Target::At(test), true);
        }
        block.fused = true;
        self.blocks.push(Block::If(block));
        Ok(())
    }

    fn else_(&mut self) -> Result<(), InputError> {
        let mut block = self.innermost_if("ELSE")?;
        let inst = Fc {
            b_else: true,
            b_op1: BOp::Decr,
            b_pop_cnt: block.levels,
            ..JUMP
        };
        let n = self.emit("ELSE", inst, Target::None);
        for i in std::mem::take(&mut block.open) {
            self.send(i, Target::After(n), true);
        }
        block.swap = Some(n);
        self.blocks.push(Block::If(block));
        Ok(())
    }

    fn endif(&mut self) -> Result<(), InputError> {
        let block = self.innermost_if("ENDIF")?;
        let inst = Fc {
            jump_any: true,
            b_op0: BOp::Decr,
            b_pop_cnt: block.levels,
            ..JUMP
        };
        let n = self.emit("ENDIF", inst, Target::None);
        self.send(n, Target::After(n), false);
        for i in block.open {
            // Without an ELSE, a single IF jumps past the ENDIF and has counted nothing; an
            // ELSE IF has counted and jumps to the ENDIF as to an empty else part.
            let target = if block.fused {
                Target::At(n)
            } else {
                Target::After(n)
            };
            self.send(i, target, false);
        }
        if let Some(i) = block.swap {
            self.send(i, Target::After(n), false);
        }
        Ok(())
    }

    fn begin_loop(&mut self, rep: bool, int: u8, cond: Option<Cond>) -> Result<(), InputError> {
        self.check(cond)?;
        self.check_int(int)?;
        let inst = Fc {
            op: if rep { Op::Rep } else { Op::Loop },
            jump_any: cond.is_none(),
            b_op0: if cond.is_some() { BOp::Incr } else { BOp::None },
            int_addr: int,
            ..Fc::NOP
        };
        let inst = cond.map_or(inst, |cond| under(inst, !cond));
        let begin = self.emit(if rep { "REP" } else { "LOOP" }, inst, Target::None);
        self.blocks.push(Block::Loop {
            line: self.here.line,
            rep,
            begin,
            int,
            some: cond.is_some(),
            breaks: Vec::new(),
            continues: Vec::new(),
        });
        Ok(())
    }

    fn end_loop(&mut self, rep: bool) -> Result<(), InputError> {
        let (what, wanted) = if rep {
            ("ENDREP", "a REP")
        } else {
            ("ENDLOOP", "a LOOP")
        };
        match self.blocks.pop() {
            Some(Block::Loop {
                rep: kind,
                begin,
                int,
                some,
                breaks,
                continues,
                ..
            }) if kind == rep => {
                let inst = Fc {
                    op: if rep { Op::EndRep } else { Op::EndLoop },
                    jump_any: true,
                    b_op0: if some { BOp::Decr } else { BOp::None },
                    b_pop_cnt: some.into(),
                    int_addr: int,
                    ..always()
                };
                let n = self.emit(what, inst, Target::After(begin));
                self.send(begin, Target::After(n), false);
                for i in breaks {
                    self.send(i, Target::After(n), false);
                }
                for i in continues {
                    self.send(i, Target::At(n), false);
                }
                Ok(())
            }
            other => Err(self.misplaced(what, wanted, other)),
        }
    }

    /// Adds a BREAK or CONTINUE.
    fn leave(&mut self, breaks: bool, cond: Option<Cond>) -> Result<(), InputError> {
        let what = if breaks { "BREAK" } else { "CONTINUE" };
        self.check(cond)?;
        let mut k = 0;
        let mut found = None;
        for (depth, block) in self.blocks.iter().enumerate().rev() {
            match block {
                Block::If(If { levels, .. }) => k += usize::from(*levels),
                Block::Static { .. } => {}
                Block::Loop { rep, some, .. } => {
                    k += usize::from(*some && breaks);
                    found = Some((depth, *rep));
                    break;
                }
            }
        }
        let Some((depth, rep)) = found else {
            return Err(self.labels.outside(self.here, what, "LOOP or REP"));
        };
        let inst = Fc {
            op: match (breaks, rep) {
                (true, false) => Op::BreakLoop,
                (true, true) => Op::BreakRep,
                (false, _) => Op::Continue,
            },
            b_op1: BOp::Decr,
            b_pop_cnt: self.pop_count(what, k)?,
            ..always()
        };
        let n = self.emit(
            what,
            cond.map_or(inst, |cond| under(inst, cond)),
            Target::None,
        );
        if let Some(Block::Loop {
            breaks: b,
            continues: c,
            ..
        }) = self.blocks.get_mut(depth)
        {
            if breaks { b.push(n) } else { c.push(n) }
        }
        Ok(())
    }

    fn ret(&mut self, cond: Option<Cond>, counters: bool) -> Result<(), InputError> {
        self.check(cond)?;
        let passed = cond.is_some() && counters;
        for block in &self.blocks {
            let (at, opened) = block.opened();
            let why = match block {
                Block::Static { .. } if !passed => continue,
                Block::Static { .. } => "the levels to pop later would depend on the path",
                _ => "nothing would keep the lanes that returned off",
            };
            let message = format!("inside the {opened} of line {at}: {why}");
            return Err(self.here.error("RETURN", message));
        }
        let mut inst = Fc {
            a_op: AOp::Pop,
            ..always()
        };
        if counters {
            inst.b_op1 = BOp::Decr;
            inst.b_pop_cnt = self.pop_count("RETURN", usize::from(self.returns) + 1)?;
            if cond.is_some() {
                inst.b_op0 = BOp::Incr;
                self.returns += 1;
            }
        }
        let subroutine = self.labels.subroutine().map(str::to_owned);
        self.note_counters(subroutine.as_deref(), counters);
        self.emit(
            "RETURN",
            cond.map_or(inst, |cond| under(inst, cond)),
            Target::None,
        );
        Ok(())
    }

    fn note_counters(&mut self, subroutine: Option<&str>, counters: bool) {
        if let Some(name) = subroutine {
            let seen = self.counters.entry(name.to_owned()).or_default();
            let place = if counters {
                &mut seen.with
            } else {
                &mut seen.without
            };
            place.get_or_insert(self.here.line);
        }
    }

    /// Checks that either all CALLs and RETURNs of a subroutine count a level or none does (r500-7.1).
    fn check_counters(&self) -> Result<(), InputError> {
        for (name, seen) in &self.counters {
            if let (Some(with), Some(without)) = (seen.with, seen.without) {
                let message = format!(
                    "subroutine `{name}` is called or returns without branch counters here but with them on line {with}"
                );
                return Err(self.at(without).error("counters", message));
            }
        }
        Ok(())
    }

    /// Gives every instruction its address and its target.
    fn layout(&mut self, offset: usize, targets: Targets) -> Result<(), InputError> {
        let room = MEMORY_SLOTS - offset;
        if let Some(&n) = self.order.get(room) {
            let message = format!(
                "{} slots from address {offset} on, {room} fit: this is the first that does not",
                self.order.len()
            );
            return Err(self.at(self.items[n].line).error("program", message));
        }
        let mut place = vec![0; self.items.len()];
        for (at, &n) in self.order.iter().enumerate() {
            place[n] = at;
        }
        let global = targets == Targets::Global;
        let mut errors = Errors::default();
        for &n in &self.order {
            let item = &self.items[n];
            let to = match &item.target {
                Target::None => None,
                Target::At(i) => Some(place[*i]),
                Target::After(i) => Some(place[*i] + 1),
                Target::Label(name) => {
                    let to = self.labels.find(self.at(item.line), item.what, name);
                    errors.note(to).map(usize::from)
                }
            };
            let mut slot = match item.fc {
                Ok(mut fc) => {
                    fc.jump_global = global && to.is_some();
                    fc.encode()
                }
                Err(slot) => slot,
            };
            if let Some(to) = to {
                let absolute = slot.addr >> 31 == 1;
                let field = if absolute { to + offset } else { to };
                let Some(field) = u32::try_from(field).ok().filter(|f| *f < 512) else {
                    let message = format!(
                        "target {field} does not fit JUMP_ADDR, 0 to 511: end the program with one more instruction before it"
                    );
                    return Err(self.at(item.line).error(item.what, message));
                };
                slot.addr = slot.addr & !(511 << 16) | field << 16;
            }
            self.code.slots.push(slot);
            if errors.is_full() {
                break;
            }
        }
        errors.none()
    }
}

/// Returns a jump that every lane takes.
const fn always() -> Fc {
    Fc {
        jump_func: 0xff,
        ..Fc::NOP
    }
}
