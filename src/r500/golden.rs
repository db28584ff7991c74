//! The golden model: the step function of the spec, lane by lane, within the cycle contract.
//!
//! Written from r500-3, r500-4 and r500-6 in `docs/spec/r500.md`. Steps 0 to 8 are those of r500-4.1. Nothing here is shared with the RTL.

// Lane classes (r500-3.1-a).
use super::state::values::class::{ACTIVE, BRANCH, BRK, CONT};
use super::state::values::error;
use super::state::{In, State};
use crate::unit::Step;
use reconverge_bench::design::Build;
use reconverge_bench::field::{lanes_of, plane};

mod explain;

/// Most lanes a wavefront can have.
pub const MAX_LANES: usize = 64;

// OP (r500-2.3-a).
const LOOP: u32 = 1;
const ENDLOOP: u32 = 2;
const REP: u32 = 3;
const ENDREP: u32 = 4;
const BREAKLOOP: u32 = 5;
const BREAKREP: u32 = 6;
const CONTINUE: u32 = 7;

// B_OP0, B_OP1 and A_OP (r500-2.3-d, r500-2.3-g).
const DECR: u32 = 1;
const INCR: u32 = 2;
const A_POP: u32 = 1;
const A_PUSH: u32 = 2;

const STACK_DEPTH: usize = 4;

/// Error codes of r500-6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Error {
    /// r500-E1: a reserved field value.
    Illegal = error::ILLEGAL,
    /// r500-E2: loop or address-stack operation in partial mode.
    Partial = error::PARTIAL,
    /// r500-E3: loop instruction with an empty loop stack.
    LoopUnderflow = error::LOOP_UNDERFLOW,
    /// r500-E4: LOOP frame closed as REP, or the other way round.
    LoopKind = error::LOOP_KIND,
    /// r500-E5: fifth loop.
    LoopOverflow = error::LOOP_OVERFLOW,
    /// r500-E6: fifth call.
    AddrOverflow = error::ADDR_OVERFLOW,
    /// r500-E7: return with an empty address stack.
    AddrUnderflow = error::ADDR_UNDERFLOW,
    /// r500-E8: branch counter past its limit.
    BranchOverflow = error::BRANCH_OVERFLOW,
    /// r500-E9: fetch or taken jump outside the code window.
    PcRange = error::PC_RANGE,
}

/// A frame of the loop stack (r500-3.2-b).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    rep: bool,
    count: u8,
    al: u8,
}

/// Control registers sampled at launch (r500-2.1).
#[derive(Clone, Copy, Debug, Default)]
struct Control {
    full: bool,
    offset: u16,
    end: u16,
    lo: u16,
    hi: u16,
}

/// What happened in the last cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Reset was asserted.
    Reset,
    /// The unit was stalled.
    Stalled,
    /// No program runs.
    Idle,
    /// A program was started.
    Launched,
    /// A program runs, but no instruction came.
    Waiting,
    /// An ALU, TEX or OUT instruction executed.
    Other,
    /// A flow-control instruction executed; `jump` is the decision of the unit.
    FlowControl {
        /// The unit jumped.
        jump: bool,
    },
    /// The unit halted with this error.
    Halted(Error),
}

/// The result of steps 1 to 6 for one flow-control instruction.
#[derive(Clone, Copy)]
struct Decision {
    op: u32,
    jump: bool,
    forced: bool,
    held_back: bool,
    voters: bool,
    b_op: u32,
    pop_cnt: u8,
    push_loop: bool,
    pop_loop: bool,
    push_addr: bool,
    pop_addr: bool,
    next_pc: u16,
    kr: u8,
    kg: u8,
    kb: u8,
}

/// The result of steps 2 and 3 for each lane: class and want.
struct Lanes {
    st: [u8; MAX_LANES],
    want: [u8; MAX_LANES],
}

impl Lanes {
    const NONE: Lanes = Lanes {
        st: [0; MAX_LANES],
        want: [0; MAX_LANES],
    };
}

/// The golden model of the unit.
#[derive(Clone)]
pub struct Golden {
    lanes: usize,
    st: [u8; MAX_LANES],
    bc: [u8; MAX_LANES],
    lc: [u8; MAX_LANES],
    loops: Vec<Frame>,
    addrs: Vec<u16>,
    pc: u16,
    running: bool,
    done: bool,
    err: Option<Error>,
    alu_clr: bool,
    control: Control,
    int_const: [u32; 32],
    bool_const: u32,
    event: Event,
    state: State,
}

fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    word >> lo & ((1 << (hi - lo + 1)) - 1)
}

/// The fields of a flow-control instruction (r500-2.2 to r500-2.4).
#[derive(Debug, PartialEq)]
pub(super) struct Flow {
    pub(super) op: u32,
    pub(super) b_else: bool,
    pub(super) jump_any: bool,
    pub(super) a_op: u32,
    pub(super) func: u32,
    pub(super) pop_cnt: u8,
    pub(super) b_op0: u32,
    pub(super) b_op1: u32,
    pub(super) ignore_uncovered: bool,
    pub(super) bool_addr: u32,
    pub(super) int_addr: usize,
    pub(super) jump_addr: u16,
    pub(super) jump_global: bool,
    pub(super) pred_sel: u32,
    pub(super) pred_inv: u32,
}

impl Flow {
    #[inline(always)]
    pub(super) fn of(pins: &In) -> Flow {
        Flow {
            op: bits(pins.inst, 2, 0),
            b_else: bits(pins.inst, 4, 4) == 1,
            jump_any: bits(pins.inst, 5, 5) == 1,
            a_op: bits(pins.inst, 7, 6),
            func: bits(pins.inst, 15, 8),
            pop_cnt: bits(pins.inst, 20, 16) as u8,
            b_op0: bits(pins.inst, 25, 24),
            b_op1: bits(pins.inst, 27, 26),
            ignore_uncovered: bits(pins.inst, 28, 28) == 1,
            bool_addr: bits(pins.addr, 4, 0),
            int_addr: bits(pins.addr, 12, 8) as usize,
            jump_addr: bits(pins.addr, 24, 16) as u16,
            jump_global: bits(pins.addr, 31, 31) == 1,
            pred_sel: bits(pins.cmn, 5, 3),
            pred_inv: bits(pins.cmn, 6, 6),
        }
    }
}

impl Golden {
    /// Returns a unit of `lanes` lanes after reset.
    ///
    /// # Panics
    /// If `lanes` is 0 or over [`MAX_LANES`].
    pub fn new(lanes: usize) -> Self {
        assert!((1..=MAX_LANES).contains(&lanes), "{lanes} lanes");
        let mut golden = Golden {
            lanes,
            st: [ACTIVE; MAX_LANES],
            bc: [0; MAX_LANES],
            lc: [0; MAX_LANES],
            loops: Vec::with_capacity(STACK_DEPTH),
            addrs: Vec::with_capacity(STACK_DEPTH),
            pc: 0,
            running: false,
            done: false,
            err: None,
            alu_clr: false,
            control: Control::default(),
            int_const: [0; 32],
            bool_const: 0,
            event: Event::Reset,
            state: State::default(),
        };
        golden.publish_lanes::<0>();
        golden.publish();
        golden
    }

    /// Executes one cycle. Reset wins over stall; a stalled cycle changes nothing.
    pub fn cycle(&mut self, pins: &In) -> &State {
        if pins.rst_n == 0 {
            *self = Golden::new(self.lanes);
        } else if pins.stall == 1 {
            self.event = Event::Stalled;
        } else {
            self.event = self.clock(pins);
            self.publish();
        }
        &self.state
    }

    /// Returns the state after the last cycle.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns what happened in the last cycle.
    pub fn event(&self) -> Event {
        self.event
    }

    /// Sets the unit to `state` and keeps control registers and constants: for the bench only.
    pub fn load(&mut self, state: &State) {
        for i in 0..self.lanes {
            self.st[i] = state.class(i);
            self.bc[i] = state.bc(i);
            self.lc[i] = state.lc(i);
        }
        self.loops.clear();
        for f in 0..usize::from(state.loop_depth) {
            let (rep, count, al) = state.frame(f);
            self.loops.push(Frame { rep, count, al });
        }
        self.addrs.clear();
        self.addrs
            .extend_from_slice(&state.addrs[..usize::from(state.addr_depth)]);
        self.pc = state.pc;
        self.running = state.running == 1;
        self.done = state.done == 1;
        self.err = ERRORS.iter().copied().find(|e| *e as u8 == state.err);
        self.alu_clr = state.alu_clr == 1;
        self.publish_lanes::<0>();
        self.publish();
    }

    fn clock(&mut self, pins: &In) -> Event {
        self.alu_clr = false;
        if !self.running {
            if pins.const_we == 1 {
                self.host_write(pins);
            }
            if pins.launch == 1 {
                self.launch(pins);
                return Event::Launched;
            }
            return Event::Idle;
        }
        if !self.in_window(self.pc) {
            return self.halt(Error::PcRange); // r500-4.5-c
        }
        if pins.inst_valid == 0 {
            return Event::Waiting;
        }
        if bits(pins.cmn, 1, 0) != 2 {
            self.end_of_program();
            self.pc += 1; // r500-4.5-b
            return Event::Other;
        }
        // The usual number of lanes as a constant: the same code, a third faster.
        match self.lanes {
            16 => self.flow_control::<16>(pins),
            _ => self.flow_control::<0>(pins),
        }
    }

    /// Returns the number of lanes: `N`, or if that is 0, the number that the unit was made with.
    fn count<const N: usize>(&self) -> usize {
        // The bound is known already; repeating it lets the compiler drop the checks in every lane loop.
        if N == 0 { self.lanes.min(MAX_LANES) } else { N }
    }

    /// Executes one FC instruction (r500-4.5-a): an error comes before any change (r500-4.1-a).
    fn flow_control<const N: usize>(&mut self, pins: &In) -> Event {
        let mut lanes = Lanes::NONE;
        match self.decide::<N>(pins, &mut lanes) {
            Err(code) => self.halt(code),
            Ok(decision) => {
                self.update::<N>(&decision, &lanes);
                self.publish_lanes::<N>();
                self.alu_clr = true;
                Event::FlowControl {
                    jump: decision.jump,
                }
            }
        }
    }

    fn host_write(&mut self, pins: &In) {
        match pins.const_addr {
            n @ 0..=31 => {
                self.int_const[usize::from(n)] = bits(pins.const_wdata, 23, 0);
                self.state.int_const[usize::from(n)]
                    .copy_from_slice(&pins.const_wdata.to_le_bytes()[..3]);
            }
            32 => {
                self.bool_const = pins.const_wdata;
                self.state.bool_const = pins.const_wdata;
            }
            _ => {}
        }
    }

    /// Starts a program (r500-3.3).
    fn launch(&mut self, pins: &In) {
        let lo = bits(pins.code_range, 8, 0) as u16;
        let size = bits(pins.code_range, 24, 16) as u16;
        self.control = Control {
            full: bits(pins.fc_ctrl, 31, 31) == 1,
            offset: bits(pins.code_offset, 8, 0) as u16,
            end: bits(pins.code_addr, 24, 16) as u16,
            lo,
            hi: (lo + size).min(511),
        };
        self.st = [ACTIVE; MAX_LANES];
        self.bc = [0; MAX_LANES];
        self.lc = [0; MAX_LANES];
        self.loops.clear();
        self.addrs.clear();
        self.pc = self.control.offset + bits(pins.code_addr, 8, 0) as u16;
        self.running = true;
        self.done = false;
        self.err = None;
        self.publish_lanes::<0>();
    }

    /// Returns whether `pc` lies in the code window of the last launched program (r500-O32).
    pub fn in_window(&self, pc: u16) -> bool {
        self.control.lo <= pc && pc <= self.control.hi
    }

    fn halt(&mut self, code: Error) -> Event {
        self.err = Some(code);
        self.running = false;
        Event::Halted(code)
    }

    /// Ends the program at `END_ADDR`, whatever the instruction there is (r500-4.5-d, r500-O26).
    fn end_of_program(&mut self) {
        if self.pc == self.control.offset + self.control.end {
            self.done = true;
            self.running = false;
        }
    }

    /// Does steps 0 to 6 of r500-4.1: everything up to the decision and the checks that depend on it.
    #[inline(always)]
    fn decide<const N: usize>(&self, pins: &In, lanes: &mut Lanes) -> Result<Decision, Error> {
        let n = self.count::<N>();
        // Step 0: decode (r500-4.1-b).
        let Flow {
            op,
            b_else,
            jump_any,
            a_op,
            func,
            pop_cnt,
            b_op0,
            b_op1,
            ignore_uncovered,
            bool_addr,
            int_addr,
            jump_addr,
            jump_global,
            pred_sel,
            pred_inv,
        } = Flow::of(pins);
        let is_begin = op == LOOP || op == REP;
        let is_end = op == ENDLOOP || op == ENDREP;
        let is_break = op == BREAKLOOP || op == BREAKREP;
        let is_continue = op == CONTINUE;

        // Step 1: checks that need no decision (r500-4.1-c), in the order of the codes, so that the lowest wins (r500-6-b).
        if a_op == 3 || b_op0 == 3 || b_op1 == 3 || matches!(pred_sel, 1 | 6 | 7) {
            return Err(Error::Illegal);
        }
        if !self.control.full && (op != 0 || a_op != 0) {
            return Err(Error::Partial);
        }
        if is_end || is_break || is_continue {
            let top = self.loops.last().ok_or(Error::LoopUnderflow)?;
            let wants_rep = op == ENDREP || op == BREAKREP;
            if !is_continue && top.rep != wants_rep {
                return Err(Error::LoopKind);
            }
        }

        // Step 4 comes first here, because it depends on no lane: iteration counts override.
        let k = self.int_const[int_addr]; // r500-4.4-k
        let (kr, kg, kb) = (
            bits(k, 7, 0) as u8,
            bits(k, 15, 8) as u8,
            bits(k, 23, 16) as u8,
        );
        let mut forced = None;
        if is_begin && kr == 0 {
            forced = Some(true); // r500-4.1-g
        }
        if is_end && self.loops.last().is_some_and(|top| top.count == 1) {
            forced = Some(false); // r500-4.1-h
        }

        // The boolean is the same for all lanes, so four bits of the table remain.
        let boolean = self.bool_const >> bool_addr & 1;
        let table = |alu: u32, p: u32| (func >> (alu << 2 | p << 1 | boolean)) as u8 & 1;
        let (t00, t01, t10, t11) = (table(0, 0), table(0, 1), table(1, 0), table(1, 1));
        let alu = lanes_of(pins.alu, n);
        let predicate = if pred_sel == 0 {
            u64::MAX
        } else {
            pins.pred[pred_sel as usize - 2]
        };
        let predicate = lanes_of(if pred_inv == 1 { !predicate } else { predicate }, n);
        // r500-4.2-a
        let consulted = lanes_of(if ignore_uncovered { pins.cov } else { u64::MAX }, n);
        let (b_else, is_end_too) = (u8::from(b_else), u8::from(is_end));
        // Lanes that this else switches off vote (r500-4.2-b), but not on a BREAK or CONTINUE.
        let else_votes = u8::from(!is_break && !is_continue);
        let branch_holds = u8::from(is_break || is_continue); // r500-4.2-d
        let cont_holds = u8::from(is_break); // r500-4.2-c
        let bc_max = if self.control.full { 31 } else { 3 };

        let Lanes { st, want } = lanes;
        let (mut wants_jump, mut wants_stay, mut held_back, mut at_limit) = (0, 0, 0, 0);
        for i in 0..n {
            // Step 2: the else swap (r500-4.1-d), then the return of continued lanes (r500-4.1-e). A lane that was ACTIVE
            // has bc 0.
            let was = self.st[i];
            let else_off = b_else & u8::from(was == ACTIVE);
            let else_on = b_else & u8::from(was == BRANCH) & u8::from(self.bc[i] == 0);
            let returns = is_end_too & u8::from(was == CONT) & u8::from(self.lc[i] == 0);
            let now = if else_off == 1 { BRANCH } else { was };
            let now = if else_on | returns == 1 { ACTIVE } else { now };
            st[i] = now;

            // Step 3: what the lane wants (r500-4.1-f).
            let (a, p) = (alu[i], predicate[i]);
            let if_alu = p & t11 | (p ^ 1) & t10;
            let if_not = p & t01 | (p ^ 1) & t00;
            let wish = a & if_alu | (a ^ 1) & if_not;
            let active = u8::from(now == ACTIVE);
            want[i] = if active == 1 { wish } else { else_off };

            // Step 5: the lane's part in the decision; step 6: whether INCR exceeds its limit.
            let votes = consulted[i] & (active | else_off & else_votes);
            wants_jump |= votes & want[i];
            wants_stay |= votes & (want[i] ^ 1);
            let branch = u8::from(now == BRANCH);
            held_back |=
                consulted[i] & (branch & branch_holds | u8::from(now == CONT) & cont_holds);
            at_limit |= branch & u8::from(self.bc[i] == bc_max);
        }

        // Step 5: the decision of the unit (r500-4.1-i).
        let held_back = forced.is_none() && held_back == 1;
        let jump = match forced {
            Some(jump) => {
                *want = [u8::from(jump); MAX_LANES];
                jump
            }
            None if held_back => false,          // r500-4.2-g
            None if jump_any => wants_jump == 1, // r500-4.2-f
            None => wants_stay == 0,             // r500-4.2-e
        };
        let b_op = if jump { b_op1 } else { b_op0 }; // r500-4.3-a
        let push_loop = is_begin && !jump;
        let pop_loop = (is_end && !jump) || (is_break && jump);
        let push_addr = a_op == A_PUSH && jump;
        let pop_addr = a_op == A_POP && jump;

        // Step 6: next PC and the checks that depend on the decision, in the order of the codes (r500-4.1-j).
        if push_loop && self.loops.len() == STACK_DEPTH {
            return Err(Error::LoopOverflow);
        }
        if push_addr && self.addrs.len() == STACK_DEPTH {
            return Err(Error::AddrOverflow);
        }
        if pop_addr && self.addrs.is_empty() {
            return Err(Error::AddrUnderflow);
        }
        if b_op == INCR && at_limit == 1 {
            return Err(Error::BranchOverflow);
        }
        let mut next_pc = self.pc + 1;
        if jump {
            let relative_to = if jump_global { 0 } else { self.control.offset };
            next_pc = match self.addrs.last() {
                Some(top) if pop_addr => *top, // r500-4.4-h
                _ => jump_addr + relative_to,
            };
            if !self.in_window(next_pc) {
                return Err(Error::PcRange);
            }
        }
        Ok(Decision {
            op,
            jump,
            forced: forced.is_some(),
            held_back,
            voters: wants_jump | wants_stay == 1,
            b_op,
            pop_cnt,
            push_loop,
            pop_loop,
            push_addr,
            pop_addr,
            next_pc,
            kr,
            kg,
            kb,
        })
    }

    /// Does steps 7 and 8 of r500-4.1: lanes (r500-4.1-k), each by itself (r500-4.3-o); stacks, PC, end of program (r500-4.1-l).
    #[inline(always)]
    fn update<const N: usize>(&mut self, d: &Decision, lanes: &Lanes) {
        let decision = u8::from(d.jump);
        // The next class of an ACTIVE lane that disagrees; a lane that agrees stays ACTIVE (r500-4.3-b).
        let off = match d.op {
            BREAKLOOP | BREAKREP if !d.jump => BRK, // r500-4.3-c
            CONTINUE if !d.jump => CONT,            // r500-4.3-d
            _ if d.b_op == INCR => BRANCH,          // r500-4.3-e
            _ => ACTIVE,                            // r500-4.3-f
        };
        let (incr, decr) = (u8::from(d.b_op == INCR), u8::from(d.b_op == DECR));
        let pop_cnt = if decr == 1 { d.pop_cnt } else { 0 };
        let (push_loop, pop_loop) = (u8::from(d.push_loop), u8::from(d.pop_loop));
        for i in 0..self.count::<N>() {
            let (st, bc, lc) = (lanes.st[i], self.bc[i], self.lc[i]);
            let disagrees = u8::from(lanes.want[i] != decision);
            let branch = u8::from(st == BRANCH);
            let waits = u8::from(st == CONT) | u8::from(st == BRK);
            let branch_ends = branch & decr & u8::from(bc < pop_cnt); // r500-4.3-i
            let wait_ends = waits & pop_loop & u8::from(lc == 0); // r500-4.3-l
            // BRANCH lanes: r500-4.3-g, r500-4.3-h and r500-4.3-j; CONT and BRK lanes: r500-4.3-k, r500-4.3-m and
            // r500-4.3-n. The wrapped value of a counter that would go below 0 is never used.
            let bc_moved = bc.wrapping_add(incr).wrapping_sub(pop_cnt);
            let lc_moved = lc.wrapping_add(push_loop).wrapping_sub(pop_loop);
            let next = if branch_ends | wait_ends == 1 {
                ACTIVE
            } else {
                st
            };
            self.st[i] = if st == ACTIVE && disagrees == 1 {
                off
            } else {
                next
            };
            let bc_kept = if branch == 1 { bc_moved } else { bc };
            self.bc[i] = if branch_ends == 1 { 0 } else { bc_kept };
            let lc_kept = if waits == 1 { lc_moved } else { lc };
            self.lc[i] = if wait_ends == 1 { 0 } else { lc_kept };
        }

        let outer_al = self.loops.last().map_or(0, |top| top.al);
        // CONTINUE and JUMP leave the loop stack alone (r500-4.4-f).
        if d.push_loop {
            // r500-4.4-a, r500-4.4-b
            let rep = d.op == REP;
            self.loops.push(Frame {
                rep,
                count: d.kr,
                al: if rep { outer_al } else { d.kg },
            });
        } else if d.pop_loop {
            self.loops.pop(); // r500-4.4-e, or the last iteration
        } else if let (ENDLOOP | ENDREP, Some(top)) = (d.op, self.loops.last_mut()) {
            top.count -= 1; // r500-4.4-d
            if d.op == ENDLOOP {
                // r500-4.4-c
                top.al = top.al.wrapping_add(d.kb);
            }
        }
        // Neither: nothing (r500-4.4-i).
        if d.push_addr {
            self.addrs.push(self.pc + 1); // r500-4.4-g
        } else if d.pop_addr {
            self.addrs.pop();
        }
        self.end_of_program();
        self.pc = d.next_pc;
    }

    fn publish_lanes<const N: usize>(&mut self) {
        // Lanes that do not exist stay 0, ACTIVE.
        let eights = self.count::<N>().next_multiple_of(8);
        let (st, bc, lc) = (&self.st[..eights], &self.bc[..eights], &self.lc[..eights]);
        let s = &mut self.state;
        s.st = [plane(st, 0), plane(st, 1)];
        s.bc = [
            plane(bc, 0),
            plane(bc, 1),
            plane(bc, 2),
            plane(bc, 3),
            plane(bc, 4),
        ];
        s.lc = [plane(lc, 0), plane(lc, 1)];
        s.active = !(s.st[0] | s.st[1]) & (u64::MAX >> (64 - self.lanes));
        s.loops = [0; 4];
        for (word, f) in s.loops.iter_mut().zip(&self.loops) {
            *word = u32::from(f.rep) << 16 | u32::from(f.count) << 8 | u32::from(f.al);
        }
        s.addrs = [0; 4];
        s.addrs[..self.addrs.len()].copy_from_slice(&self.addrs);
        s.loop_depth = self.loops.len() as u8;
        s.addr_depth = self.addrs.len() as u8;
        s.al = self.loops.last().map_or(0, |top| top.al); // r500-4.4-j
    }

    fn publish(&mut self) {
        let s = &mut self.state;
        s.pc = self.pc;
        s.running = u8::from(self.running);
        s.done = u8::from(self.done);
        s.halted = u8::from(self.err.is_some());
        s.err = self.err.map_or(0, |e| e as u8);
        s.alu_clr = u8::from(self.alu_clr);
    }
}

const ERRORS: [Error; 9] = [
    Error::Illegal,
    Error::Partial,
    Error::LoopUnderflow,
    Error::LoopKind,
    Error::LoopOverflow,
    Error::AddrOverflow,
    Error::AddrUnderflow,
    Error::BranchOverflow,
    Error::PcRange,
];

impl reconverge_bench::design::Golden<super::R500> for Golden {
    const HIDES: bool = true;
    fn build(build: &Build) -> Self {
        Golden::new(build.lanes as usize)
    }
    fn cycle(&mut self, pins: &In) -> &State {
        Golden::cycle(self, pins)
    }
    fn state(&self) -> &State {
        Golden::state(self)
    }
    fn explain(&self, pins: &In, field: &str, element: usize) -> String {
        let mut after = self.clone();
        after.cycle(pins);
        match after.event {
            Event::Reset => "r500-3.4-a reset: everything 0, every lane ACTIVE".to_owned(),
            Event::Stalled => "contract-1-c stall: nothing changes at all".to_owned(),
            Event::Idle if pins.const_we == 1 => "contract-2-b no program runs: the host may write constants".to_owned(),
            Event::Idle => "contract-2-a no program runs: nothing changes".to_owned(),
            Event::Waiting => "contract-3-a running, no instruction: nothing changes".to_owned(),
            Event::Launched => {
                "r500-3.3 start of a program: PC = OFFSET_ADDR + START_ADDR, every lane ACTIVE, stacks empty"
                    .to_owned()
            }
            Event::Other => {
                "r500-4.5-b ALU, TEX, OUT take PC to PC + 1 and touch no lane; done at END_ADDR".to_owned()
            }
            Event::Halted(code) => format!(
                "r500-E{} error {0} {}: halted, everything else as before the instruction",
                code as u8,
                super::state::ERROR_NAMES[code as usize]
            ),
            Event::FlowControl { .. } => {
                let mut lanes = Lanes::NONE;
                match self.decide::<0>(pins, &mut lanes) {
                    Ok(d) => self.explain_step(&d, &lanes, field, element),
                    Err(_) => "r500-6-a".to_owned(),
                }
            },
        }
    }
}

impl crate::unit::Executor<super::R500> for Golden {
    fn load(&mut self, state: &State) {
        Golden::load(self, state);
    }
    #[inline]
    fn step(&self) -> Step {
        match self.event {
            Event::Other | Event::FlowControl { .. } => Step::Executed,
            Event::Halted(_) => Step::Failed,
            _ => Step::None,
        }
    }
}
