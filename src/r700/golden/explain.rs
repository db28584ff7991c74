//! Says which rule of the specification gave a field its value.

use super::{
    ACTIVE, ALU, ALU_BREAK, ALU_CONTINUE, ALU_ELSE_AFTER, ALU_POP_AFTER, ALU_POP2_AFTER,
    ALU_PUSH_BEFORE, BRANCH, BRK, CALL, CONT, ELSE, Event, General, Golden, JUMP, KILL, LOOP_BREAK,
    LOOP_CONTINUE, LOOP_END, LOOP_START, LOOP_START_DX10, LOOP_START_NO_AL, POP, PUSH, PUSH_ELSE,
    RETURN, bits, is_alu, is_slot, loop_,
};
use crate::r700::state::{ERROR_NAMES, In};

/// Returns the mnemonic of r700-2.5; `slot` for the instructions that change nothing.
fn mnemonic(dw1: u32) -> &'static str {
    if is_alu(dw1) {
        return match bits(dw1, 29, 26) {
            ALU => "ALU",
            ALU_PUSH_BEFORE => "ALU_PUSH_BEFORE",
            ALU_POP_AFTER => "ALU_POP_AFTER",
            ALU_POP2_AFTER => "ALU_POP2_AFTER",
            ALU_CONTINUE => "ALU_CONTINUE",
            ALU_BREAK => "ALU_BREAK",
            ALU_ELSE_AFTER => "ALU_ELSE_AFTER",
            _ => "reserved ALU opcode",
        };
    }
    match bits(dw1, 29, 23) {
        LOOP_START => "LOOP_START",
        LOOP_END => "LOOP_END",
        LOOP_START_DX10 => "LOOP_START_DX10",
        LOOP_START_NO_AL => "LOOP_START_NO_AL",
        LOOP_CONTINUE => "LOOP_CONTINUE",
        LOOP_BREAK => "LOOP_BREAK",
        JUMP => "JUMP",
        PUSH => "PUSH",
        PUSH_ELSE => "PUSH_ELSE",
        ELSE => "ELSE",
        POP => "POP",
        CALL => "CALL",
        RETURN => "RETURN",
        KILL => "KILL",
        op if is_slot(op) => "slot",
        _ => "reserved opcode",
    }
}

fn class_name(class: u8) -> &'static str {
    ["ACTIVE", "BRANCH", "CONT", "BRK"][usize::from(class & 3)]
}

/// One executed instruction with the states before and after it.
struct Explained<'a> {
    before: &'a Golden,
    after: &'a Golden,
    dw1: u32,
    upd: bool,
    pred: u64,
    /// Mnemonic.
    name: &'static str,
    /// Fields of the general format; meaningless for an ALU instruction.
    g: General,
    jump: bool,
}

impl Golden {
    /// Returns the rule of the spec by which a cycle with `pins`, from the present state, gives `field` of
    /// `element` (a lane, a constant; 0 otherwise) its value.
    pub fn explain(&self, pins: &In, field: &str, element: usize) -> String {
        let mut after = self.clone();
        after.cycle(pins);
        match after.event {
            Event::Reset => {
                "r700-3.3-e reset: everything 0, so every lane ACTIVE and none valid; constants 0"
                    .to_owned()
            }
            Event::Stalled => "contract-1-c stall: nothing changes at all".to_owned(),
            Event::Idle | Event::Launched
                if pins.const_we == 1 && matches!(field, "loop_const" | "bool_const") =>
            {
                "contract-2-b no wave runs, the host may write constants".to_owned()
            }
            Event::Idle => {
                "contract-2-a no wave runs: nothing changes, exec and jump are 0".to_owned()
            }
            Event::Waiting => {
                "r700-3.5-c running, no instruction: nothing changes, exec and jump are 0"
                    .to_owned()
            }
            Event::Launched => after.explain_launch(field),
            Event::Halted(code) => {
                let (code, name) = (code as u8, ERROR_NAMES[code as usize]);
                let why = after.explain_error(self, pins, code);
                format!(
                    "r700-E{code} error {code} {name}: {why}; halted, everything else as before the instruction"
                )
            }
            Event::Executed { jump } => {
                let explained = Explained {
                    before: self,
                    after: &after,
                    dw1: pins.dw1,
                    upd: pins.u == 1,
                    pred: pins.pred,
                    name: mnemonic(pins.dw1),
                    g: General::of(pins.dw1),
                    jump,
                };
                explained.rule(field, element)
            }
        }
    }

    fn explain_launch(&self, field: &str) -> String {
        match field {
            "st" | "active" => "r700-3.3-b ACTIVE where the lane mask says valid, BRANCH elsewhere",
            "valid" => "r700-3.3-b valid = lane mask",
            "pc" => "r700-3.3-c pc = entry",
            "running" | "halted" | "err" if self.wave.halted => {
                "r700-3.3-d an entry not below prog_len halts at once, PC_RANGE"
            }
            "running" => "r700-3.3-c launched",
            "loop_const" | "bool_const" => "r700-3.3-a a launch leaves the constants alone",
            _ => "r700-3.3-c a launch sets everything else to 0, the stack is empty",
        }
        .to_owned()
    }

    fn explain_error(&self, before: &Golden, pins: &In, code: u8) -> String {
        let t = &before.wave;
        let name = mnemonic(pins.dw1);
        match code {
            2 if bits(pins.dw1, 30, 30) == 1 => {
                format!("WHOLE_QUAD_MODE on {name} (r700-4.2-b)")
            }
            2 => "CALL with POP_COUNT".to_owned(),
            3 => format!("{name}, and bkind is not LOOP"),
            4 => format!("LOOP_END with {} branch frames open", t.sp - t.base),
            5 => "RETURN, and bkind is not CALL or sp is not base".to_owned(),
            6 => format!(
                "{name} needs more branch frames than the {} above base",
                t.sp - t.base
            ),
            7 => format!(
                "push of {name} from sp {}: more than {} sub-entries, with 2 reserved beside branch frames (r700-3.4-e)",
                t.sp, self.limit
            ),
            8 => format!("END, and the stack is not empty after {name}"),
            9 => format!(
                "next PC after {name} is not below prog_len {}",
                self.prog_len
            ),
            _ => name.to_owned(),
        }
    }

    fn class(&self, lane: usize) -> u8 {
        (self.wave.st[0] >> lane & 1) as u8 | ((self.wave.st[1] >> lane & 1) as u8) << 1
    }
}

impl Explained<'_> {
    fn rule(&self, field: &str, element: usize) -> String {
        match field {
            "st" | "valid" | "active" | "exec" | "top_mask" | "frame_st"
                if element >= self.before.lanes =>
            {
                "contract-6-a there is no such lane: 0".to_owned()
            }
            "st" | "active" => self.class_rule(element),
            "valid" if self.name == "KILL" => format!(
                "r700-4.3-o KILL: lanes that pass lose valid; this lane {}",
                self.test_text(element)
            ),
            "valid" => "r700-3.1-b only KILL takes valid away".to_owned(),
            "exec" => self.exec_rule(element),
            "pc" | "jump" => self.jump_rule(),
            "sp" | "nb" => self.space_rule(),
            "top_mask" => self.top_rule(),
            "base" | "bkind" | "frame_st" | "frame_lt" | "frame_lc" | "frame_al" | "frame_inc"
            | "frame_base" | "frame_bkind" | "frame_ret" | "frame_depth" => self.frame_rule(),
            "lt" | "lc" | "al" | "inc" => self.loop_rule(field),
            "depth" | "skipped" => self.depth_rule(),
            "done" | "running" if self.after.wave.done => {
                "r700-4.3-y END: executed as usual, then done".to_owned()
            }
            "done" | "running" => "r700-4.3-y no END, the wave goes on".to_owned(),
            "err" | "halted" => format!("r700-6 no error condition of {} holds", self.name),
            "loop_const" | "bool_const" => {
                "r700-2.6-c constants do not change while a wave runs".to_owned()
            }
            _ => "r700-4.4-b no error".to_owned(),
        }
    }

    /// Returns the row of r700-4.3 for the instruction.
    fn row(&self) -> &'static str {
        match self.name {
            "slot" => "r700-4.3-a",
            "JUMP" => "r700-4.3-b",
            "PUSH" => "r700-4.3-c",
            "PUSH_ELSE" => "r700-4.3-d",
            "POP" => "r700-4.3-e",
            "ELSE" => "r700-4.3-f",
            "LOOP_START" | "LOOP_START_NO_AL" => "r700-4.3-g",
            "LOOP_START_DX10" => "r700-4.3-h",
            "LOOP_END" if self.jump => "r700-4.3-i",
            "LOOP_END" => "r700-4.3-j",
            "LOOP_BREAK" => "r700-4.3-k",
            "LOOP_CONTINUE" => "r700-4.3-l",
            "CALL" => "r700-4.3-m",
            "RETURN" => "r700-4.3-n",
            "KILL" => "r700-4.3-o",
            "ALU" => "r700-4.3-p",
            "ALU_PUSH_BEFORE" => "r700-4.3-q",
            "ALU_POP_AFTER" | "ALU_POP2_AFTER" => "r700-4.3-r",
            "ALU_BREAK" | "ALU_CONTINUE" => "r700-4.3-s",
            "ALU_ELSE_AFTER" => "r700-4.3-t",
            _ => "r700-4.3",
        }
    }

    fn is_loop_start(&self) -> bool {
        self.name.starts_with("LOOP_START")
    }

    fn has(set: u64, lane: usize) -> bool {
        set >> lane & 1 == 1
    }

    /// Returns the condition test of r700-4.1 for a lane, in the state before.
    fn test_text(&self, lane: usize) -> String {
        let class = self.before.class(lane);
        if class != ACTIVE {
            format!("fails the test: it is {}", class_name(class))
        } else {
            self.cond_text(lane)
        }
    }

    /// Returns the part of the test that depends on COND, boolean and VPM.
    fn cond_text(&self, lane: usize) -> String {
        let General { cond, cf_const, .. } = self.g;
        let cond = if self.name == "slot" && self.g.op >= 32 {
            0
        } else {
            cond
        };
        if !self.before.cond_ok(cond, cf_const) {
            let boolean = self.before.bool_const >> cf_const & 1;
            match cond {
                1 => "fails the test: COND is FALSE".to_owned(),
                2 => format!("fails the test: COND is BOOL, boolean {cf_const} is {boolean}"),
                _ => format!("fails the test: COND is NOT_BOOL, boolean {cf_const} is {boolean}"),
            }
        } else if self.g.vpm && !Self::has(self.before.wave.valid, lane) {
            "fails the test: it is not valid (VALID_PIXEL_MODE)".to_owned()
        } else {
            "passes the test".to_owned()
        }
    }

    /// Returns the number of branch frames that the pop rule popped.
    fn popped(&self) -> u16 {
        match self.name {
            "ALU_POP_AFTER" => 1,
            "ALU_POP2_AFTER" => 2,
            "POP" => self.g.pops,
            "JUMP" | "PUSH" | "ELSE" if self.jump => self.g.pops,
            _ if self.is_loop_start() && self.jump => self.g.pops,
            _ => 0,
        }
    }

    fn pop_rule(&self, lane: usize) -> String {
        let count = self.popped();
        if count == 0 {
            return "pop rule (r700-4.3-u): popping 0 frames does nothing".to_owned();
        }
        let class = self.before.class(lane);
        if class == CONT || class == BRK {
            return format!(
                "pop rule (r700-4.3-u): this lane is {}, which survives a pop (r700-O2)",
                class_name(class)
            );
        }
        let t = &self.before.wave;
        let bit = Self::has(self.before.mask_at(t.sp - count), lane);
        let rule = format!(
            "pop rule (r700-4.3-u): {count} popped, this lane is {} the mask of the last one",
            if bit { "in" } else { "not in" }
        );
        let vpm = !is_alu(self.dw1) && self.g.vpm;
        if bit && vpm && !Self::has(t.valid, lane) {
            format!("{rule}, but not valid (VALID_PIXEL_MODE), so BRANCH")
        } else {
            format!(
                "{rule}, so {}",
                class_name(if bit { ACTIVE } else { BRANCH })
            )
        }
    }

    fn else_rule(&self, lane: usize) -> String {
        let alu = is_alu(self.dw1);
        // ALU_ELSE_AFTER with u inverts the lanes in the frame that it has just pushed.
        let mask = if alu && self.upd {
            self.before.of_class(ACTIVE)
        } else {
            self.before.mask_at(self.before.wave.sp - 1)
        };
        let class = self.before.class(lane);
        let rule = if !Self::has(mask, lane) {
            "this lane is not in the mask of the top frame, and stays".to_owned()
        } else if class == CONT || class == BRK {
            format!("this lane is {}, and stays", class_name(class))
        } else if !alu && self.cond_text(lane) != "passes the test" {
            format!("this lane {}, and stays", self.cond_text(lane))
        } else {
            "this lane is in the mask of the top frame: ACTIVE and BRANCH change places".to_owned()
        };
        let dropped = !alu
            && self.g.vpm
            && class == ACTIVE
            && self.after.class(lane) == BRANCH
            && !Self::has(self.before.wave.valid, lane);
        let vpm = if dropped {
            "; VALID_PIXEL_MODE: ACTIVE and not valid becomes BRANCH"
        } else {
            ""
        };
        format!("ELSE rule (r700-4.3-v): {rule}{vpm}")
    }

    fn update_rule(&self, lane: usize) -> String {
        let class = match self.name {
            "ALU_BREAK" => BRK,
            "ALU_CONTINUE" => CONT,
            _ => BRANCH,
        };
        match self.before.class(lane) {
            _ if !self.upd => "the clause updates no class (u is 0)".to_owned(),
            ACTIVE => format!(
                "the clause updates classes (u is 1); this lane executed it, and its predicate is {}",
                match Self::has(self.pred, lane) {
                    true => "1: ACTIVE".to_owned(),
                    false => format!("0: {}", class_name(class)),
                }
            ),
            other => format!(
                "the clause updates classes (u is 1); this lane is {}, and did not execute it",
                class_name(other)
            ),
        }
    }

    fn class_rule(&self, lane: usize) -> String {
        let (name, was) = (self.name, self.before.class(lane));
        let left = name == "LOOP_END" && !self.jump;
        let rule = match name {
            "ALU_POP_AFTER" | "ALU_POP2_AFTER" => {
                format!("{}; then {}", self.update_rule(lane), self.pop_rule(lane))
            }
            "ALU_ELSE_AFTER" => {
                format!("{}; then {}", self.update_rule(lane), self.else_rule(lane))
            }
            _ if is_alu(self.dw1) => self.update_rule(lane),
            "JUMP" if self.jump => self.pop_rule(lane),
            "PUSH" if self.jump => format!("no lane passes; {}", self.pop_rule(lane)),
            "PUSH" | "PUSH_ELSE" if was == ACTIVE => {
                format!(
                    "ACTIVE lanes that fail become BRANCH; this lane {}",
                    self.test_text(lane)
                )
            }
            "POP" => format!(
                "{}; then ACTIVE lanes that fail become BRANCH; this lane {}",
                self.pop_rule(lane),
                self.cond_text(lane)
            ),
            "ELSE" if self.jump && self.g.pops > 0 => format!(
                "{}; no lane is ACTIVE: {}",
                self.else_rule(lane),
                self.pop_rule(lane)
            ),
            "ELSE" => self.else_rule(lane),
            _ if self.is_loop_start() && self.jump => {
                format!("loop not entered; {}", self.pop_rule(lane))
            }
            _ if self.is_loop_start() => format!(
                "loop entry (r700-O5): lanes that pass are ACTIVE, all others BRK; this lane {}",
                self.test_text(lane)
            ),
            _ if left => {
                let vpm = if self.g.vpm {
                    "; VALID_PIXEL_MODE: ACTIVE and not valid becomes BRANCH"
                } else {
                    ""
                };
                format!("leaving the loop restores the class that the loop frame saved{vpm}")
            }
            "LOOP_END" if was == BRK => {
                "once more: wake rule (r700-O7), BRK lanes are not woken".to_owned()
            }
            "LOOP_END" => format!(
                "once more: wake rule (r700-O7), {} becomes ACTIVE before the test, lanes that fail it are BRK; this lane {}",
                class_name(was),
                self.cond_text(lane)
            ),
            "LOOP_BREAK" | "LOOP_CONTINUE" => format!(
                "lanes that pass become {}; this lane {}",
                class_name(if name == "LOOP_BREAK" { BRK } else { CONT }),
                self.test_text(lane)
            ),
            _ => "does not touch classes".to_owned(),
        };
        let now = self.after.class(lane);
        let change = match now == was {
            true => format!("stays {}", class_name(was)),
            false => format!("{} to {}", class_name(was), class_name(now)),
        };
        format!("{} {name}, {change}: {rule}", self.row())
    }

    fn exec_rule(&self, lane: usize) -> String {
        if is_alu(self.dw1) {
            let class = class_name(self.before.class(lane));
            format!(
                "r700-3.6-a lanes ACTIVE before {} execute it; this lane was {class}",
                self.name
            )
        } else if self.name == "slot" {
            format!(
                "r700-3.6-b lanes that pass the condition test execute; this lane {}",
                self.test_text(lane)
            )
        } else {
            format!(
                "r700-3.6-c {} is a control instruction, which no lane executes",
                self.name
            )
        }
    }

    fn jump_rule(&self) -> String {
        let (name, jump) = (self.name, self.jump);
        let after = &self.after.wave;
        let why = match name {
            _ if is_alu(self.dw1) || name == "slot" || name == "POP" => "never jumps",
            "JUMP" | "PUSH" | "PUSH_ELSE" if jump => "no lane passes, so it jumps",
            "JUMP" | "PUSH" | "PUSH_ELSE" => "a lane passes, so it stays",
            "ELSE" if jump => "no lane is ACTIVE afterwards, so it jumps",
            "ELSE" => "a lane is ACTIVE afterwards, so it stays",
            "LOOP_END" if jump && self.before.dx10_count => {
                "a lane passes, and lc > 1 (r700-4.3-z), so it jumps"
            }
            "LOOP_END" if jump => "a lane passes, and the loop is DX10 or lc > 1, so it jumps",
            "LOOP_END" => "no lane passes after the waking, or lc is 1: leaves the loop",
            "LOOP_BREAK" | "LOOP_CONTINUE" if jump => {
                "no lane is ACTIVE or BRANCH (r700-O6), so it jumps"
            }
            "LOOP_BREAK" | "LOOP_CONTINUE" => "held back by ACTIVE or BRANCH lanes (r700-O6)",
            "CALL" if jump => "a lane passes and the depth allows it",
            "CALL"
                if after.skipped
                    && self.before.test(self.g.cond, self.g.cf_const, self.g.vpm) != 0 =>
            {
                "depth + CALL_COUNT is over 32, so it is skipped (r700-O20)"
            }
            "CALL" => "no lane passes, not taken",
            "RETURN" if jump => {
                "RETURN rule (r700-O19): no ACTIVE lane that counts fails, to the return address"
            }
            "RETURN" => "RETURN rule (r700-O19): an ACTIVE lane fails, so it stays",
            "KILL" if jump => "no lane is valid afterwards (r700-O21), so it jumps",
            "KILL" => "a lane is still valid, so it stays",
            _ if jump => "no lane passes or the count is 0: not entered, jumps",
            _ => "entered, so it stays",
        };
        let to = if !jump {
            "PC + 1"
        } else if name == "RETURN" {
            "the call frame's address"
        } else {
            "ADDR"
        };
        format!("{} {name}: {why}; next PC is {to}", self.row())
    }

    /// Returns the rule for the change of the stack's height.
    fn space_rule(&self) -> String {
        let name = self.name;
        let (before, after) = (&self.before.wave, &self.after.wave);
        let what = if after.sp > before.sp {
            match after.sp - before.sp {
                1 if name == "CALL" => "pushes a call frame".to_owned(),
                1 => "pushes a branch frame".to_owned(),
                size => format!("pushes a loop frame, {size} sub-entries"),
            }
        } else if name == "LOOP_END" && !self.jump {
            format!(
                "leaving pops the loop frame, {} sub-entries",
                self.before.subentries
            )
        } else if name == "RETURN" && self.jump {
            "pops the call frame".to_owned()
        } else if matches!(name, "LOOP_BREAK" | "LOOP_CONTINUE") && self.jump {
            "jumps: all branch frames above the loop frame are dropped, POP_COUNT ignored (r700-O6)"
                .to_owned()
        } else if self.popped() > 0 {
            format!("pops {} branch frames", self.popped())
        } else {
            match name {
                "JUMP" | "ELSE" if self.jump => "jumps, and POP_COUNT is 0",
                "JUMP" | "ELSE" => "pops only when it jumps (r700-O1)",
                "PUSH" => "no lane passes: nothing is pushed (r700-O13)",
                "ALU_ELSE_AFTER" => "pushes only if u (r700-O16)",
                _ => "leaves the stack alone",
            }
            .to_owned()
        };
        format!("{} {name}: {what}", self.row())
    }

    fn top_rule(&self) -> String {
        let after = &self.after.wave;
        if after.sp == after.base {
            format!("{}; no branch frame above base", self.space_rule())
        } else if self.after.wave.nb > self.before.wave.nb {
            format!("{}: the lanes ACTIVE before it", self.space_rule())
        } else {
            format!("{}; the branch frame now at sp - 1", self.space_rule())
        }
    }

    fn frame_rule(&self) -> String {
        let (name, sp) = (self.name, self.after.wave.sp);
        match name {
            _ if self.is_loop_start() && !self.jump => format!(
                "r700-3.4-c {name}: the loop frame saves classes, lt, lc, al, inc, base, bkind; base is now sp, {sp}"
            ),
            "CALL" if self.jump => format!(
                "r700-3.4-d CALL: the call frame saves PC + 1, depth, base, bkind; base is now sp, {sp}"
            ),
            "LOOP_END" if !self.jump => {
                "r700-4.3-j LOOP_END leaving: base and bkind restored, the frame below them is revealed"
                    .to_owned()
            }
            "RETURN" if self.jump => {
                "r700-4.3-n RETURN: base and bkind restored, the frame below them is revealed".to_owned()
            }
            _ => format!(
                "{} {name}: the innermost loop or call frame is left alone",
                self.row()
            ),
        }
    }

    fn loop_rule(&self, field: &str) -> String {
        let name = self.name;
        let rule = match (name, self.jump) {
            ("LOOP_START", false) => "loads count, first index and step of the loop constant",
            ("LOOP_START_NO_AL", false) => "loads the count, al and inc stay",
            ("LOOP_START_DX10", false) if self.before.dx10_count => {
                "loads the count (r700-4.3-z), al and inc stay"
            }
            ("LOOP_START_DX10", false) => "count 0 (r700-O8), al and inc stay",
            ("LOOP_END", false) => "leaving restores lt, lc, al and inc from the loop frame",
            ("LOOP_END", true) => match (field, self.before.wave.lt) {
                ("lc", loop_::DX10) if self.before.dx10_count => {
                    "once more: the count goes down by 1 (r700-4.3-z)"
                }
                ("lc", loop_::DX10) => "once more: a DX10 loop does not count",
                ("lc", _) => "once more: the count goes down by 1",
                ("al", loop_::AL) => "once more: al + inc",
                ("al", _) => "once more: only a LOOP_START loop steps al",
                _ => "once more: lt and inc stay",
            },
            _ => "leaves the loop registers alone",
        };
        format!("{} {name}: {rule}", self.row())
    }

    fn depth_rule(&self) -> String {
        let rule = match (self.name, self.jump) {
            ("CALL", true) => "taken: depth + CALL_COUNT",
            ("CALL", false) => "not taken; skipped is set if the depth was the reason (r700-O20)",
            ("RETURN", true) => "the caller's depth comes back",
            _ => "only CALL and RETURN change the depth, only CALL sets skipped",
        };
        format!("{} {}: {rule}", self.row(), self.name)
    }
}
