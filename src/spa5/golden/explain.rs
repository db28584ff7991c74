//! Says which rule of the specification gave a field its value.

use super::{
    DIV, DONE, Event, Golden, LUT16, MAX_LANES, Op, PBK, PCNT, RET, SSY, bits, decode, imm32,
    predicate,
};
use crate::spa5::state::{ERROR_NAMES, In, TOKEN_NAMES};

/// Mnemonics of the opcode block, from 0xE20 on (spa5-2.3).
const MNEMONIC: [&str; 32] = [
    "JMX",
    "JMP",
    "JCAL",
    "PEXIT",
    "BRA",
    "BRX",
    "CAL",
    "PRET",
    "PLONGJMP",
    "SSY",
    "PBK",
    "PCNT",
    "GETCRSPTR",
    "GETLMEMBASE",
    "SETCRSPTR",
    "SETLMEMBASE",
    "EXIT",
    "LONGJMP",
    "RET",
    "KIL",
    "BRK",
    "CONT",
    "RTT",
    "SAM",
    "RAM",
    "IDE",
    "BPT",
    "reserved opcode",
    "reserved opcode",
    "reserved opcode",
    "reserved opcode",
    "reserved opcode",
];

/// Names of the CC tests (spa5-2.4).
const TESTS: [&str; 32] = [
    "F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU",
    "GEU", "T", "OFF", "LO", "SFF", "LS", "HI", "SFT", "HS", "OFT", "CSM_TA", "CSM_TR", "CSM_MX",
    "FCSM_TA", "FCSM_TR", "FCSM_MX", "RLE", "RGT",
];

fn mnemonic(word: u64) -> &'static str {
    match decode(word, false) {
        Ok(Op::Sync) => "SYNC",
        Ok(Op::Other) => "OTHER",
        _ => MNEMONIC[bits(word, 56, 52) as usize],
    }
}

fn token_name(kind: u8) -> &'static str {
    TOKEN_NAMES
        .get(usize::from(kind))
        .copied()
        .unwrap_or("a type that is never written")
}

/// One executed instruction or popped token, with the states before and after it.
struct Explained<'a> {
    before: &'a Golden,
    after: &'a Golden,
    pins: &'a In,
    /// The instruction; OTHER for a word that is refused.
    op: Op,
    /// Its mnemonic.
    name: &'static str,
    /// The threads that take the instruction: T.
    t: u64,
}

impl Golden {
    /// Returns the rule of the spec by which a cycle with `pins`, from the present state, gives `field` of
    /// `element` (a thread for masks; 0 otherwise) its value.
    pub fn explain(&self, pins: &In, field: &str, element: usize) -> String {
        let is_mask = matches!(
            field,
            "active" | "exited" | "killed" | "d_brk" | "d_cont" | "d_ret" | "top_mask"
        );
        if is_mask && element >= self.lanes {
            return "contract-6-a there is no such thread: 0".to_owned();
        }
        let mut after = self.clone();
        after.cycle(pins);
        let explained = Explained {
            before: self,
            after: &after,
            pins,
            op: decode(pins.word, self.brx).unwrap_or(Op::Other),
            name: mnemonic(pins.word),
            t: after.taken(),
        };
        match after.event {
            Event::Reset => {
                "spa5-3-o reset: as after a launch of no thread at 0: DONE, exited all ones, pc 8, all else 0"
                    .to_owned()
            }
            Event::Stalled => "contract-1-c stall: nothing changes at all".to_owned(),
            Event::Idle => "spa5-4.1-a status is not RUN: nothing changes until a launch".to_owned(),
            Event::Waiting => "contract-3-a status RUN, no instruction: nothing changes".to_owned(),
            Event::Launched => after.explain_launch(field),
            Event::Failed(code) => {
                let (code, name) = (code as u8, ERROR_NAMES[code as usize]);
                let why = explained.error_rule(code);
                format!(
                    "spa5-E{code} error {code} {name}: {why}; status ERR, everything else as before it"
                )
            }
            Event::Executed | Event::Emptied => explained.rule(field, element),
            Event::Popped | Event::Resumed => explained.pop_rule(field, element),
            Event::Finished => match field {
                "status" => "spa5-4.4-a no thread is active and the stack is empty: DONE".to_owned(),
                "pc" => "spa5-4.4-a DONE, pc keeps the address of the last instruction".to_owned(),
                _ => "spa5-4.4-a the stack is empty, only status changes".to_owned(),
            },
        }
    }

    fn explain_launch(&self, field: &str) -> String {
        match field {
            "active" => "spa5-3-e at launch: the threads of launch_mask are active",
            "killed" => "spa5-3-q at launch: no thread has executed KIL",
            "exited" => "spa5-3-f at launch: the threads that are not in launch_mask have exited",
            "pc" => "spa5-3-d at launch: pc is the entry, norm(prog_base + entry)",
            "status" if self.s.status == DONE => "spa5-3-b at launch: launch_mask is 0, so DONE",
            "status" => "spa5-3-b at launch: RUN",
            _ => "spa5-3 at launch: everything else is 0, the stack is empty",
        }
        .to_owned()
    }
}

impl Explained<'_> {
    fn has(set: u64, thread: usize) -> bool {
        set >> thread & 1 == 1
    }

    /// Returns the condition of spa5-2.4 for a thread that was active.
    fn condition(&self, thread: usize) -> String {
        let word = self.pins.word;
        let bit = |plane: u64| u64::from(Self::has(plane, thread));
        let pppp = bits(word, 19, 16);
        let invert = if pppp >> 3 == 1 { "!" } else { "" };
        let number = match pppp & 7 {
            7 => "T".to_owned(),
            p => p.to_string(),
        };
        let holds = bit(predicate(word, self.pins));
        let [z, s, c, o] = self.pins.cc.map(bit);
        let code = bits(word, 4, 0) as usize;
        let Some(lut16) = LUT16.get(code) else {
            let passes = self.pins.csm[thread] >> (code - LUT16.len()) & 1;
            return format!(
                "{invert}P{number} is {holds}, CC test {} is {passes} on csm_i",
                TESTS[code]
            );
        };
        let passes = lut16 >> (8 * o + 4 * c + 2 * s + z) & 1;
        // Only the flags that the test uses.
        let looks = |at: u32| (0..16).any(|n| (lut16 >> n ^ lut16 >> (n ^ 1 << at)) & 1 == 1);
        let flags = [(3, 'O', o), (2, 'C', c), (1, 'S', s), (0, 'Z', z)];
        let flags = flags.iter().filter(|(at, ..)| looks(*at));
        let [names, values] = flags.fold([String::new(), String::new()], |[n, v], flag| {
            [format!("{n}{}", flag.1), format!("{v}{}", flag.2)]
        });
        let of = match names.as_str() {
            "" => String::new(),
            _ => format!(" of {names} {values}"),
        };
        format!(
            "{invert}P{number} is {holds}, CC test {}{of} is {passes}",
            TESTS[code]
        )
    }

    /// Returns whether a thread takes the instruction, and why.
    fn taken_text(&self, thread: usize) -> String {
        if !Self::has(self.after.stepped.active, thread) {
            "this thread was not active".to_owned()
        } else {
            let takes = if Self::has(self.t, thread) {
                "takes"
            } else {
                "does not take"
            };
            format!("this thread {takes} it: {}", self.condition(thread))
        }
    }

    /// Returns whether the instruction is a branch that all active threads take or none.
    fn is_unanimous(&self) -> bool {
        matches!(self.op, Op::Bra | Op::Jmp) && bits(self.pins.word, 7, 7) == 1
    }

    /// Returns the rule by which the instruction acts.
    fn row(&self) -> &'static str {
        let diverges = self.is_push();
        match self.op {
            Op::Ssy | Op::Pbk | Op::Pcnt | Op::Pret => "spa5-4.3-a",
            Op::Cal | Op::Jcal => "spa5-4.3-b",
            Op::Bra | Op::Jmp if self.t == 0 => "spa5-4.3-d",
            Op::Bra | Op::Jmp if diverges => "spa5-4.3-f",
            Op::Bra | Op::Jmp => "spa5-4.3-e",
            Op::Brx | Op::Jmx if self.t == 0 => "spa5-A-b",
            Op::Brx | Op::Jmx if self.t != self.before.s.active => "spa5-A-c",
            Op::Brx | Op::Jmx if diverges => "spa5-A-e",
            Op::Jmx => "spa5-A-f",
            Op::Brx => "spa5-A-d",
            Op::Sync | Op::Brk | Op::Cont | Op::Ret | Op::Exit | Op::Kil => "spa5-4.3-i",
            Op::Other => "spa5-4.1-d",
        }
    }

    fn is_leaving(&self) -> bool {
        let leaving = [Op::Sync, Op::Brk, Op::Cont, Op::Ret, Op::Exit, Op::Kil];
        leaving.contains(&self.op)
    }

    fn is_indirect(&self) -> bool {
        matches!(self.op, Op::Brx | Op::Jmx)
    }

    fn is_branch(&self) -> bool {
        matches!(self.op, Op::Bra | Op::Jmp) || self.is_indirect()
    }

    /// Returns how the target of the instruction is computed.
    fn sum(&self) -> &'static str {
        match self.name {
            "JMP" | "JCAL" => "imm32",
            "JMX" => "imm32 + register of the lowest active thread",
            "BRX" => "pc + 8 + off24 + register of the lowest active thread",
            _ if bits(self.pins.word, 5, 5) == 1 => "pc + 8 + bits 23:0 of const_i",
            _ => "pc + 8 + off24",
        }
    }

    fn target(&self) -> String {
        format!("norm({})", self.sum())
    }

    fn is_push(&self) -> bool {
        self.after.s.sp > self.before.s.sp
    }

    fn rule(&self, field: &str, element: usize) -> String {
        match field {
            "active" => self.active_rule(element),
            "exited" if self.op == Op::Kil => self.flag_rule("KIL", field, element),
            "exited" => self.flag_rule("EXIT", field, element),
            "killed" => self.flag_rule("KIL", field, element),
            "d_brk" => self.flag_rule("BRK", field, element),
            "d_cont" => self.flag_rule("CONT", field, element),
            "d_ret" => self.flag_rule("RET", field, element),
            "pc" => self.pc_rule(),
            "sp" | "vis" | "top_mask" | "top_addr" | "top_type" | "top_vis" => {
                self.stack_rule(field)
            }
            "status" if self.after.event == Event::Emptied => format!(
                "spa5-4.3-i {}: no thread is active any more, so UNWIND",
                self.name
            ),
            "status" => format!(
                "{} {}: a thread is active, RUN goes on",
                self.row(),
                self.name
            ),
            "err" => format!("spa5-6 no error condition of {} holds", self.name),
            _ => self.row().to_owned(),
        }
    }

    fn active_rule(&self, thread: usize) -> String {
        let name = self.name;
        let why = if self.is_leaving() {
            format!(
                "the threads that take it are active no more; {}",
                self.taken_text(thread)
            )
        } else if self.is_indirect() && self.is_push() && self.t == self.before.s.active {
            format!(
                "divergent: the active threads whose register equals that of the lowest stay active; this thread's is {:#010x}",
                self.pins.r[thread]
            )
        } else if self.is_push() && self.is_branch() {
            format!(
                "divergent: the threads that take it stay active, the others wait; {}",
                self.taken_text(thread)
            )
        } else if self.is_branch() {
            let taken = match self.t {
                0 if self.is_unanimous() => ".U, and not all active threads would take it",
                0 => "no thread takes it",
                _ => "all active threads take it",
            };
            format!("{taken}: active stays; {}", self.taken_text(thread))
        } else {
            "active stays".to_owned()
        };
        format!("{} {name}: {why}", self.row())
    }

    fn flag_rule(&self, sets: &str, flag: &str, thread: usize) -> String {
        let name = self.name;
        if name == sets {
            format!(
                "spa5-4.3-h {name}: the threads that take it get {flag}; {}",
                self.taken_text(thread)
            )
        } else {
            format!("spa5-4.3-h {name}: only {sets} sets {flag}")
        }
    }

    fn pc_rule(&self) -> String {
        let name = self.name;
        let why = match name {
            _ if self.after.event == Event::Emptied => {
                "no thread is active any more, pc stays until the unwind resumes one"
            }
            _ if self.is_leaving() => "a thread is still active: to the next instruction, seq(pc)",
            "BRX" | "JMX" if self.t != 0 && self.t != self.before.s.active => {
                "not all active threads take it: pc stays, it runs again for those that do"
            }
            _ if self.is_branch() && self.t == 0 => match self.is_unanimous() {
                true => {
                    ".U, and not all active threads would take it: to the next instruction, seq(pc)"
                }
                false => "no thread takes it: to the next instruction, seq(pc)",
            },
            "BRA" | "JMP" if self.is_push() => {
                return format!(
                    "{} {name}: divergent, taken side first: to the target, {}",
                    self.row(),
                    self.target()
                );
            }
            "BRA" | "JMP" => {
                return format!(
                    "{} {name}: all active threads take it: to the target, {}",
                    self.row(),
                    self.target()
                );
            }
            "BRX" | "JMX" | "CAL" | "JCAL" => {
                return format!("{} {name}: to the target, {}", self.row(), self.target());
            }
            _ => "to the next instruction, seq(pc)",
        };
        format!("{} {name}: {why}", self.row())
    }

    fn stack_rule(&self, field: &str) -> String {
        const NEXT: &str = "its address is that of the next instruction, seq(pc)";
        let name = self.name;
        if !self.is_push() {
            let why = match name {
                _ if self.after.event == Event::Emptied => "the first pop comes in the next cycle",
                _ if self.is_leaving() => "a leaving instruction pushes nothing",
                _ if self.is_branch() => "not divergent: nothing is pushed",
                _ => "leaves the stack alone",
            };
            return format!("{} {name}: {why}", self.row());
        }
        let kind = self.after.s.top_type;
        let token = token_name(kind);
        let why = match (field, kind) {
            ("vis", SSY) => "sets bit 0",
            ("vis", PBK) => "clears bit 0, sets bit 1",
            ("vis", PCNT) => "clears bit 0, sets bit 2",
            ("vis", RET) => "makes it 1000",
            ("vis", _) => "leaves it",
            ("top_vis", _) => "the token saves vis as it was",
            ("top_mask", DIV) if self.is_indirect() && self.t == self.before.s.active => {
                "its mask is the active threads with another register, which execute it later"
            }
            ("top_mask", DIV) => {
                "its mask is the active threads that do not take it, the side that is deferred"
            }
            ("top_mask", _) => "its mask is the active threads",
            ("top_addr", DIV) if self.is_indirect() && self.t == self.before.s.active => {
                "its address is that of this instruction"
            }
            ("top_addr", DIV) => NEXT,
            ("top_addr", _) if matches!(name, "CAL" | "JCAL") => NEXT,
            ("top_addr", _) => {
                return format!(
                    "spa5-4.2-b {name} pushes {token}: its address is the target, {}",
                    self.target()
                );
            }
            _ => "one token more",
        };
        let rule = if field == "vis" {
            "spa5-4.2-c"
        } else {
            "spa5-4.2-b"
        };
        format!("{rule} {name} pushes {token}: {why}")
    }

    fn pop_rule(&self, field: &str, element: usize) -> String {
        let Some(token) = self.before.tokens().last() else {
            return "spa5-4.4-b".to_owned();
        };
        let kind = token_name(token.kind);
        let resumed = self.after.event == Event::Resumed;
        let inside = |thread| {
            if Self::has(token.mask, thread) {
                "in"
            } else {
                "not in"
            }
        };
        let clears = |flag: &str, of: u8| {
            if token.kind == of {
                format!(
                    "the threads in its mask lose {flag}; this thread is {} the mask",
                    inside(element)
                )
            } else {
                format!("only {} ends the wait of {flag}", token_name(of))
            }
        };
        let why = match field {
            "active" => {
                let s = &self.after.s;
                let held = [
                    ("d_brk", s.d_brk),
                    ("d_cont", s.d_cont),
                    ("d_ret", s.d_ret),
                    ("exited", s.exited),
                ]
                .into_iter()
                .find(|(_, flag)| Self::has(*flag, element));
                let held = held.map_or_else(String::new, |(flag, _)| format!(", held by {flag}"));
                format!(
                    "active is its mask minus d_brk, d_cont, d_ret and exited; this thread is {} the mask{held}",
                    inside(element)
                )
            }
            "d_brk" => clears(field, PBK),
            "d_cont" => clears(field, PCNT),
            "d_ret" => clears(field, RET),
            "exited" | "killed" => format!("nothing ends {field}"),
            "vis" => "vis is again as the token saved it".to_owned(),
            "pc" if resumed => "a thread is left for it: to its address".to_owned(),
            "status" if resumed => "a thread is left for it: RUN".to_owned(),
            "pc" | "status" => "no thread is left for it, the unwind goes on".to_owned(),
            "err" => "unwinding cannot fail".to_owned(),
            "sp" => "one pop a cycle".to_owned(),
            _ => "the token below it is on top now; nothing stored ever changes".to_owned(),
        };
        let rule = match field {
            "active" | "pc" | "status" => "spa5-4.4-d",
            "d_brk" | "d_cont" | "d_ret" => "spa5-4.4-c",
            "exited" => "spa5-3-f",
            "killed" => "spa5-3-q",
            "err" => "spa5-4.1-f",
            "vis" => "spa5-4.4-b",
            "sp" => "spa5-3-m",
            _ => "spa5-3-l",
        };
        format!("{rule} {kind} popped: {why}")
    }

    fn error_rule(&self, code: u8) -> String {
        let (name, s) = (self.name, &self.before.s);
        let word = self.pins.word;
        match code {
            1..=4 => format!("{name} by a thread, and vis is {:04b}", s.vis),
            5 => format!(
                "push of {name}, and all {} entries hold tokens",
                self.before.stack.len()
            ),
            6 => format!("pc {:#x} is not in {}", s.pc, self.program()),
            7 | 8 => {
                let lowest = s.active.trailing_zeros() as usize % MAX_LANES;
                let register = self.pins.r[lowest];
                let to = match name {
                    "JMP" | "JCAL" => i64::from(imm32(word)),
                    "JMX" => i64::from(imm32(word).wrapping_add(register)),
                    "BRX" => self.before.relative(word, self.pins.constant) + i64::from(register),
                    _ => self.before.relative(word, self.pins.constant),
                };
                let sum = self.sum();
                let what = if code == 7 {
                    format!("not in {}", self.program())
                } else {
                    "no multiple of 8".to_owned()
                };
                format!("target of {name}, {sum} = {to}, {what}")
            }
            10 if decode(word, self.before.brx).is_ok() => {
                format!("CC test {} of {name}", TESTS[bits(word, 4, 0) as usize])
            }
            10 if matches!(name, "JMP" | "JCAL" | "BRX" | "JMX") && bits(word, 5, 5) == 1 => {
                format!("constant-bank form of {name}")
            }
            _ => name.to_owned(),
        }
    }

    /// Returns the addresses of the program.
    fn program(&self) -> String {
        let (base, size) = (self.before.prog_base, self.before.prog_size);
        format!("{base:#x}..{:#x}", u64::from(base) + u64::from(size))
    }
}
