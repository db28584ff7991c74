//! The cycle contract around the step function (r700-3.3, r700-3.5).

use super::{
    ACTIVE, BRANCH, CallFrame, Error, Event, Frame, Golden, LoopFrame, MAX_LANES, MAX_STACK_SIZE,
    SUBENTRIES, Wave, frame,
};
use crate::r700::state::{In, State};

impl Golden {
    /// Returns a unit of `lanes` lanes with a stack of [`MAX_STACK_SIZE`] entries, after reset.
    ///
    /// # Panics
    /// If `lanes` is 0 or over [`MAX_LANES`].
    pub fn new(lanes: usize) -> Self {
        Golden::with(lanes, MAX_STACK_SIZE)
    }

    /// Returns a unit like [`Golden::new`], with a stack of `max_stack_size` entries.
    ///
    /// # Panics
    /// If `lanes` is 0 or over [`MAX_LANES`].
    pub fn with(lanes: usize, max_stack_size: usize) -> Self {
        assert!((1..=MAX_LANES).contains(&lanes), "{lanes} lanes");
        let mut golden = Golden {
            lanes,
            all: u64::MAX >> (MAX_LANES - lanes),
            wave: Wave::RESET,
            stack: vec![Frame::Branch(0); usize::from(SUBENTRIES) * max_stack_size],
            subentries: SUBENTRIES,
            dx10_count: false,
            running: false,
            exec: 0,
            jump: false,
            prog_len: 0,
            limit: 0,
            loop_const: [0; 32],
            bool_const: 0,
            event: Event::Reset,
            state: State::default(),
        };
        golden.publish();
        golden
    }

    /// Returns the same unit after reset, with `subentries` sub-entries in an entry of its stack, 4 or 8 (r700-3.4-h).
    #[must_use]
    pub fn with_subentries(mut self, subentries: u16) -> Self {
        let entries = self.stack.len() / usize::from(self.subentries);
        self.stack
            .resize(usize::from(subentries) * entries, Frame::Branch(0));
        self.subentries = subentries;
        self
    }

    /// Returns the same unit, with DX10 loops that count their passes or without (r700-4.3-z).
    #[must_use]
    pub fn with_dx10_count(mut self, dx10_count: bool) -> Self {
        self.dx10_count = dx10_count;
        self
    }

    /// Executes one cycle. Reset wins over stall; a stalled cycle changes nothing.
    pub fn cycle(&mut self, pins: &In) -> &State {
        if pins.rst_n == 0 {
            let entries = self.stack.len() / usize::from(self.subentries);
            *self = Golden::with(self.lanes, entries)
                .with_subentries(self.subentries)
                .with_dx10_count(self.dx10_count);
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

    /// Returns the live frames, bottom first (r700-3.4).
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            if at >= self.wave.sp {
                return None;
            }
            let frame = *self.stack.get(usize::from(at))?;
            at += frame.size(self.subentries);
            Some(frame)
        })
    }

    fn clock(&mut self, pins: &In) -> Event {
        // They describe an instruction executed in this very cycle.
        (self.exec, self.jump) = (0, false);
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
        if pins.inst_valid == 0 {
            return Event::Waiting;
        }
        self.step(pins)
    }

    fn host_write(&mut self, pins: &In) {
        match pins.const_addr {
            n @ 0..=31 => {
                self.loop_const[usize::from(n)] = pins.const_wdata;
                self.state.loop_const[usize::from(n)] = pins.const_wdata;
            }
            32 => {
                self.bool_const = pins.const_wdata;
                self.state.bool_const = pins.const_wdata;
            }
            _ => {}
        }
    }

    /// Executes a launch (r700-3.3).
    fn launch(&mut self, pins: &In) {
        self.prog_len = pins.prog_len;
        let wanted = usize::from(self.subentries) * usize::from(pins.stack_size);
        self.limit = wanted.min(self.stack.len());
        self.wave = Wave {
            valid: pins.lane_mask & self.all,
            pc: pins.entry,
            ..Wave::RESET
        };
        self.set_class(self.all & !self.wave.valid, BRANCH);
        self.running = true;
        if pins.entry >= self.prog_len {
            self.halt(Error::PcRange);
        }
    }

    /// Sets the unit to `state`, a state that it can reach: for the bench only.
    ///
    /// Operands of the launch and constants stay. Of the stack, only what the state shows is written: the
    /// top branch frame and the innermost loop or call frame. Deeper frames stay unchanged, so that a whole
    /// stack is loaded in the order of its pushes, with the state after each push.
    pub fn load(&mut self, state: &State) {
        self.wave = Wave {
            st: state.st.map(|plane| plane & self.all),
            valid: state.valid & self.all,
            pc: state.pc,
            sp: state.sp,
            base: state.base,
            bkind: state.bkind,
            nb: state.nb,
            lt: state.lt,
            lc: state.lc,
            al: state.al,
            inc: state.inc,
            depth: state.depth,
            skipped: state.skipped == 1,
            err: state.err,
            halted: state.halted == 1,
            done: state.done == 1,
        };
        self.running = state.running == 1;
        (self.exec, self.jump) = (state.exec, state.jump == 1);
        if state.sp > state.base
            && let Some(place) = self.stack.get_mut(usize::from(state.sp - 1))
        {
            *place = Frame::Branch(state.top_mask);
        }
        if let Some(at) = self.innermost_at() {
            self.stack[at] = if state.bkind == frame::LOOP {
                Frame::Loop(LoopFrame {
                    st: state.frame_st,
                    lt: state.frame_lt,
                    lc: state.frame_lc,
                    al: state.frame_al,
                    inc: state.frame_inc,
                    base: state.frame_base,
                    bkind: state.frame_bkind,
                })
            } else {
                Frame::Call(CallFrame {
                    ret: state.frame_ret,
                    depth: state.frame_depth,
                    base: state.frame_base,
                    bkind: state.frame_bkind,
                })
            };
        }
        self.publish();
    }

    /// Publishes the fields of the state that a cycle may change; constants are published when they are written.
    fn publish(&mut self) {
        let t = &self.wave;
        let top_mask = if t.sp > t.base {
            self.mask_at(t.sp - 1)
        } else {
            0
        };
        let (mut in_loop, mut in_call) = (NO_LOOP_FRAME, NO_CALL_FRAME);
        match self.innermost() {
            Some(Frame::Loop(frame)) => in_loop = frame,
            Some(Frame::Call(frame)) => in_call = frame,
            _ => {}
        }
        let active = self.of_class(ACTIVE);
        let s = &mut self.state;
        s.st = t.st;
        s.valid = t.valid;
        s.active = active;
        s.exec = self.exec;
        s.top_mask = top_mask;
        s.pc = t.pc;
        s.al = t.al;
        s.sp = t.sp;
        s.base = t.base;
        s.nb = t.nb;
        s.lc = t.lc;
        s.bkind = t.bkind;
        s.lt = t.lt;
        s.inc = t.inc;
        s.depth = t.depth;
        s.skipped = u8::from(t.skipped);
        s.jump = u8::from(self.jump);
        s.running = u8::from(self.running);
        s.done = u8::from(t.done);
        s.halted = u8::from(t.halted);
        s.err = t.err;
        s.frame_st = in_loop.st;
        s.frame_lt = in_loop.lt;
        s.frame_lc = in_loop.lc;
        s.frame_al = in_loop.al;
        s.frame_inc = in_loop.inc;
        s.frame_ret = in_call.ret;
        s.frame_depth = in_call.depth;
        // One of the two is all zeros.
        s.frame_base = in_loop.base | in_call.base;
        s.frame_bkind = in_loop.bkind | in_call.bkind;
    }
}

const NO_LOOP_FRAME: LoopFrame = LoopFrame {
    st: [0; 2],
    lt: 0,
    lc: 0,
    al: 0,
    inc: 0,
    base: 0,
    bkind: 0,
};

const NO_CALL_FRAME: CallFrame = CallFrame {
    ret: 0,
    depth: 0,
    base: 0,
    bkind: 0,
};

// ---- for tests: a fault in the stack's memory ---------------------------------------------------------

/// Passes over the bits of a frame one by one up to the bit to flip.
struct Flipper {
    bit: u32,
}

impl Flipper {
    /// Returns `value`, of which `width` bits are stored, flipped if the bit is one of them.
    fn pass(&mut self, value: u64, width: u32) -> u64 {
        let here = self.bit < width;
        let flipped = if here { value ^ 1 << self.bit } else { value };
        // Past every width once it is done.
        self.bit = if here { u32::MAX } else { self.bit - width };
        flipped
    }
}

impl Golden {
    /// Returns the number of bits of `frame` in the stack's memory: one per lane for a branch frame; two per lane and lt,
    /// lc, al, inc, base, bkind for a loop frame; ret, depth, base, bkind for a call frame. Widths as in the
    /// field list of the state.
    pub fn stored_bits(&self, frame: &Frame) -> u32 {
        let (lanes, base) = (self.lanes as u32, self.base_bits());
        match frame {
            Frame::Branch(_) => lanes,
            Frame::Loop(_) => 2 * lanes + 2 + 12 + 32 + 8 + base + 2,
            Frame::Call(_) => 32 + 6 + base + 2,
        }
    }

    /// Returns the number of bits of a stored `base` (r700-3.4-k).
    fn base_bits(&self) -> u32 {
        match self.subentries {
            SUBENTRIES => 10,
            _ => 11,
        }
    }

    /// Flips stored bit `bit` of live frame number `frame`, bottom first, in the order of
    /// [`Golden::stored_bits`]: for tests that show that the bench sees every one of them.
    ///
    /// Does nothing if there is no such frame or bit. The state shows the fault at once if it shows
    /// the frame, and otherwise when the frame is revealed.
    pub fn flip_stored(&mut self, frame: usize, bit: u32) {
        let frames: Vec<Frame> = self.frames().collect();
        let Some(found) = frames.get(frame).filter(|f| bit < self.stored_bits(f)) else {
            return;
        };
        let sizes = frames[..frame].iter().map(|f| f.size(self.subentries));
        let at: u16 = sizes.sum();
        let (lanes, base) = (self.lanes as u32, self.base_bits());
        let mut flip = Flipper { bit };
        self.stack[usize::from(at)] = match *found {
            Frame::Branch(mask) => Frame::Branch(flip.pass(mask, lanes)),
            Frame::Loop(f) => Frame::Loop(LoopFrame {
                st: f.st.map(|plane| flip.pass(plane, lanes)),
                lt: flip.pass(f.lt.into(), 2) as u8,
                lc: flip.pass(f.lc.into(), 12) as u16,
                al: flip.pass(f.al.into(), 32) as u32,
                inc: flip.pass(f.inc.into(), 8) as u8,
                base: flip.pass(f.base.into(), base) as u16,
                bkind: flip.pass(f.bkind.into(), 2) as u8,
            }),
            Frame::Call(f) => Frame::Call(CallFrame {
                ret: flip.pass(f.ret.into(), 32) as u32,
                depth: flip.pass(f.depth.into(), 6) as u8,
                base: flip.pass(f.base.into(), base) as u16,
                bkind: flip.pass(f.bkind.into(), 2) as u8,
            }),
        };
        self.publish();
    }
}
