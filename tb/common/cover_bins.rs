// What the worked examples hit: part of `tb/cover.rs`. Written down step by step from the traces of the spec.

/// r500-7.3: IF, ELSE and ENDIF of four lanes; the condition is true in L0 and L3.
impl Worked for R500 {
    const CONDITIONS: &'static [(u32, u32, u16)] = &[(0, 0, 1), (3, 0, 1)];
    const BINS: &'static str = "
launches: after reset, full, in the window, 0: 1
fetches: launch, first, executed: 1
fetches: ALU, OUT, TEX, inside, executed: 3
fetches: FC that stayed, inside, executed: 3
neighbours: launch, ALU: 1
neighbours: JUMP, ALU: 1
neighbours: JUMP, OUT: 1
neighbours: JUMP B_ELSE, ALU: 1
neighbours: ALU, JUMP: 2
neighbours: ALU, JUMP B_ELSE: 1
plain, classes: ALU, A: 1
plain, classes: ALU, AB: 2
plain, classes: OUT, A: 1
FC, classes: JUMP, A, stay: 1
FC, classes: JUMP, AB, stay: 2
decisions: JUMP, no voter wants to jump, 1: 1
decisions: JUMP, voters disagree, 0: 2
lanes: JUMP, else: ACTIVE off, stay: 1
lanes: JUMP, else: BRANCH 0 on, stay: 1
lanes: JUMP, ACTIVE, agrees, stay: 3
lanes: JUMP, ACTIVE -> BRANCH, stay: 1
lanes: JUMP, BRANCH, NONE, stay: 1
lanes: JUMP, BRANCH, DECR wakes, stay: 1
conditions: NONE, 0, 00, 0: 2
conditions: NONE, 0, 0F, 0: 1
coverage: JUMP, 0, all, as if all were consulted: 3
branch counters: full, no BRANCH lane, INCR, executed: 1
branch counters: full, 0, NONE, executed: 1
branch counters: full, 0, DECR, executed: 1
branch pops: 1, all, stay: 1
loop stack: JUMP, 0, stays: 3
program ends: OUT, all ACTIVE, nothing: 1
";
}

/// r700-7.3; the predicate is 1 in L0 and L2. Predicates of a clause without u are noise.
impl Worked for R700 {
    const CONDITIONS: &'static [(u32, u32, u16)] = &[(0, 0, 1), (2, 0, 1)];
    const BINS: &'static str = "
launches: after reset, all, in the program, 1..MAX-1: 1
neighbours: launch, ALU_PUSH_BEFORE: 1
neighbours: JUMP, ALU: 1
neighbours: ELSE, ALU_POP_AFTER: 1
neighbours: ALU, ELSE: 1
neighbours: ALU_PUSH_BEFORE, JUMP: 1
neighbours: ALU_POP_AFTER, slot: 1
opcodes: 0 NOP: 1
opcodes: 10 JUMP: 1
opcodes: 13 ELSE: 1
opcodes: 8 ALU: 1
opcodes: 9 ALU_PUSH_BEFORE: 1
opcodes: 10 ALU_POP_AFTER: 1
classes, straight: slot, A: 1
classes, straight: ALU, Ab: 1
classes, straight: ALU_PUSH_BEFORE, A: 1
classes, straight: ALU_POP_AFTER, Ab: 1
classes, jumping: JUMP, Ab, stay: 1
classes, jumping: ELSE, Ab, stay: 1
conditions: JUMP, ACTIVE, 0, stay: 1
conditions: ELSE, ACTIVE, 0, stay: 1
tests: JUMP, all, 0: 1
executions: slot, all, 0: 1
valid lanes: JUMP, 0, all: 1
valid lanes: ELSE, 0, all: 1
valid lanes: slot, 0, all: 1
lanes: JUMP, A, A: 1
lanes: JUMP, b, b: 1
lanes: ELSE, A, b: 1
lanes: ELSE, b, A: 1
lanes: slot, A, A: 1
lanes: ALU, A, A: 1
lanes: ALU, b, b: 1
lanes: ALU_PUSH_BEFORE, A, A: 1
lanes: ALU_PUSH_BEFORE, A, b: 1
lanes: ALU_POP_AFTER, A, A: 1
lanes: ALU_POP_AFTER, b, A: 1
clauses: ALU, 0, 0 and 1: 1
clauses: ALU_PUSH_BEFORE, 1, 0 and 1: 1
clauses: ALU_POP_AFTER, 0, all 0: 1
pushes: ALU_PUSH_BEFORE, 2 or more, none: 1
nesting: branch, none, 0: 1
pops: ALU_POP_AFTER, 1, all that are open, none: 1
program ends: slot, stay, behind it: 1
corners: r700-3.4-e: the last branch frame is popped, and with it the reserve: 1
";
}

/// spa5-7.1; P0 is 1 in threads 0 and 2.
impl Worked for Spa5 {
    const CONDITIONS: &'static [(u32, u32, u16)] = &[(0, 0, 1), (2, 0, 1)];
    const BINS: &'static str = "
launches: DONE, all, a control word: 1
program bases: at 0: 1
address bits: 3, 0: 3
address bits: 3, 1: 7
address bits: 4, 0: 4
address bits: 4, 1: 6
address bits: 5, 0: 6
address bits: 5, 1: 4
address bits: 6, 0: 6
address bits: 6, 1: 4
address bits: 7, 0: 10
address bits: 8, 0: 10
address bits: 9, 0: 10
address bits: 10, 0: 10
address bits: 11, 0: 10
address bits: 12, 0: 10
address bits: 13, 0: 10
address bits: 14, 0: 10
address bits: 15, 0: 10
address bits: 16, 0: 10
address bits: 17, 0: 10
address bits: 18, 0: 10
address bits: 19, 0: 10
address bits: 20, 0: 10
address bits: 21, 0: 10
address bits: 22, 0: 10
address bits: 23, 0: 10
address bits: 24, 0: 10
address bits: 25, 0: 10
address bits: 26, 0: 10
address bits: 27, 0: 10
address bits: 28, 0: 10
address bits: 29, 0: 10
address bits: 30, 0: 10
address bits: 31, 0: 10
fetches: launch, slot 0, executed: 1
fetches: next in order, slot 0, executed: 2
fetches: next in order, slot 1, executed: 3
fetches: next in order, slot 2, executed: 1
fetches: jump, slot 2, executed: 1
fetches: token, slot 0, executed: 1
fetches: token, slot 2, executed: 1
neighbours: launch, OTHER: 1
neighbours: SSY, BRA: 1
neighbours: BRA, OTHER: 1
neighbours: SYNC, OTHER: 2
neighbours: OTHER, SSY: 1
neighbours: OTHER, SYNC: 2
neighbours: OTHER, EXIT: 1
neighbours: OTHER, OTHER: 1
opcodes: E24 BRA: 1
opcodes: E29 SSY: 1
opcodes: E30 EXIT: 1
opcodes: SYNC: 2
opcodes: OTHER: 5
predicates: BRA, P0, no: 1
predicates: SYNC, PT, no: 2
predicates: EXIT, PT, no: 1
CC tests: BRA, T: 1
CC tests: SYNC, T: 2
CC tests: EXIT, T: 1
condition codes: T, 0000: 4
active: SSY, all: 1
active: BRA, all: 1
active: SYNC, some: 2
active: EXIT, all: 1
active: OTHER, some: 3
active: OTHER, all: 2
waiting: SSY, no thread: 1
waiting: BRA, no thread: 1
waiting: SYNC, SSY or DIV: 2
waiting: EXIT, no thread: 1
waiting: OTHER, no thread: 2
waiting: OTHER, SSY or DIV: 3
pushes: SSY, 0, pushed: 1
pushes: BRA, 1, pushed: 1
pushes, vis: SSY, 0000: 1
pushes, vis: BRA, 0001: 1
pushes, top: SSY, nothing: 1
pushes, top: BRA, SSY: 1
branches: BRA, no, some, divides: 1
targets: SSY, forward, 1: 1
targets: BRA, forward, 2: 1
targets, control words: SSY, an instruction: 1
targets, control words: BRA, an instruction: 1
leaves: SYNC, all, 0001: 2
leaves: EXIT, all, 0000: 1
unwinds: SYNC, SSY, threads resume: 1
unwinds: SYNC, DIV, threads resume: 1
unwinds: EXIT, nothing: stack empty, DONE: 1
unwinds, length: SYNC, 1, RUN: 2
unwinds, length: EXIT, 1, DONE: 1
corners: spa5-I8: the last thread exits with an empty stack: 1
corners: spa5-4.4-b: a pop restores another vis: 1
corners: spa5-4.4-f: a thread that executed SYNC resumes: 1
";
}
