//! The computation of a lane: ALU, OUT and TEX instructions, and the conditions that they give the flow control.
//!
//! Normative text: `docs/spec/r500-alu.md`. The sequencer sees only one ALU-result bit and four
//! predicate bits of each lane. Elsewhere in this crate these bits are drawn; here they are computed, so that a shader
//! gives a picture.
//!
//! | to | look at |
//! |---|---|
//! | know the fields of an instruction | [`decode`] |
//! | know what it does | [`execute`], [`arithmetic`], [`texture`] |
//! | run a wavefront | [`Lanes`], [`shade`] |
//! | make a picture of many wavefronts | [`picture`], [`profile`] |
//! | know the contents of a shader file | [`super::shader`] |

pub mod arithmetic;
pub mod decode;
pub mod execute;
pub mod picture;
pub mod profile;
pub mod texture;

pub use decode::{CHANNELS, Instruction, Refused};
pub use execute::{CONSTANTS, Shared, TEMPS, Wave};
pub use texture::Texture;

use super::R500;
use super::environment::counts;
use super::golden::Golden;
use super::program::Program;
use super::scalar::{End, Scalar};
use super::shader::{Shader, VARYINGS, Vector};
use super::state::{In, State};
use crate::unit::{Executor as _, Programs, Step};
use reconverge_bench::design::Design;
use reconverge_bench::input::InputError;
use reconverge_program::case::{Case, Row};

/// Number of lanes of a wavefront that computes.
pub const LANES: usize = R500::LANES as usize;

/// The instructions of a program, decoded.
#[derive(Clone, Debug)]
pub struct Code {
    first: u16,
    slots: Vec<Option<Executed>>,
}

/// An instruction that lanes execute.
#[derive(Clone, Debug)]
struct Executed {
    instruction: Instruction,
    /// Lanes that are not ACTIVE execute it too.
    by_all: bool,
}

impl Code {
    /// Decodes `program`, from file `file`.
    ///
    /// # Errors
    /// An instruction is refused; the error names its slot.
    pub fn new(program: &Program, file: &str) -> Result<Self, InputError> {
        let decoded = program.slots.iter().enumerate().map(|(n, slot)| {
            let instruction = Instruction::decode(*slot)
                .map_err(|why| InputError::new(file, 0, format!("slot {n}"), why.to_string()))?;
            Ok(instruction.map(|instruction| Executed {
                instruction,
                by_all: decode::write_inactive(*slot),
            }))
        });
        Ok(Code {
            first: program.regs.offset(),
            slots: decoded.collect::<Result<_, InputError>>()?,
        })
    }

    /// Returns the instruction at absolute address `pc`; `None` where nothing is loaded, and for flow control.
    fn at(&self, pc: u16) -> Option<&Executed> {
        let slot = usize::from(pc.checked_sub(self.first)?);
        self.slots.get(slot)?.as_ref()
    }

    /// Returns whether some instruction writes a colour.
    fn writes_colour(&self) -> bool {
        self.slots.iter().flatten().any(|e| match &e.instruction {
            Instruction::Alu(alu) => alu.channels.iter().any(|to| to.colour),
            Instruction::Tex(_) => false,
        })
    }

    /// Returns the number of the first instruction that lanes which are not ACTIVE execute.
    fn first_by_all(&self) -> Option<usize> {
        let by_all = |e: &Option<Executed>| e.as_ref().is_some_and(|e| e.by_all);
        self.slots.iter().position(by_all)
    }
}

/// The lanes of a wavefront, or one lane alone (`N` = 1), between launch and end of a program.
#[derive(Clone, Debug)]
pub struct Lanes<'s, const N: usize> {
    code: &'s Code,
    shared: &'s Shared,
    /// Their registers.
    pub wave: Wave<N>,
}

impl<'s, const N: usize> Lanes<'s, N> {
    /// Returns lanes with the varyings `pixels`, before the first instruction; a lane without a pixel has zeros.
    pub fn new(
        code: &'s Code,
        shared: &'s Shared,
        shader: &Shader,
        pixels: &[[Vector; VARYINGS]],
    ) -> Self {
        let mut wave = Wave::default();
        for (lane, pixel) in pixels.iter().enumerate().take(N) {
            for (&temp, &varying) in &shader.inputs {
                wave.load(lane, temp, pixel[usize::from(varying)]);
            }
        }
        Lanes { code, shared, wave }
    }

    /// Returns the pins of a cycle in which the unit in `state` executes an instruction of `program`.
    pub fn pins(&self, program: &Program, state: &State) -> In {
        let slot = program.slot(state.pc);
        In {
            cmn: slot.cmn,
            inst: slot.inst,
            addr: slot.addr,
            inst_valid: 1,
            alu: self.wave.alu,
            pred: self.wave.predicates,
            ..In::default()
        }
    }

    /// Executes the instruction at `pc`; the lanes of `active` are ACTIVE.
    pub fn step(&mut self, pc: u16, al: u8, active: u64) {
        let Some(Executed {
            instruction,
            by_all,
        }) = self.code.at(pc)
        else {
            return;
        };
        let mask = if *by_all { u64::MAX } else { active };
        self.wave.execute(instruction, self.shared, al, mask);
    }

    /// Clears the ALU results, which a flow-control instruction uses up (r500-alu-1-d).
    pub fn flow_control(&mut self) {
        self.wave.alu = 0;
    }

    /// Returns the lanes with a condition bit that is 1.
    fn any_condition(&self) -> u64 {
        let predicates = self.wave.predicates.iter();
        predicates.fold(self.wave.alu, |any, plane| any | plane)
    }

    /// Returns the condition bits of `lane`, in the order of a draw ([`Unit::conditions`]).
    fn conditions(&self, lane: usize) -> u16 {
        let planes = std::iter::once(&self.wave.alu).chain(&self.wave.predicates);
        (0..).zip(planes).fold(0, |bits, (j, plane)| {
            bits | ((plane >> lane & 1) as u16) << j
        })
    }
}

/// A wavefront shaded by the golden model alone.
#[derive(Clone, Debug)]
pub struct Shaded {
    /// The registers of the lanes at the end.
    pub wave: Wave<LANES>,
    /// The state of the golden model at the end.
    pub end: State,
    /// Instructions executed.
    pub steps: u64,
    /// The conditions that the lanes computed, if any: a case with these as its table
    /// ([`reconverge_program::case::Conditions::Table`]) does the same.
    pub conditions: Vec<Row>,
}

/// Runs `case` on the golden model; `lanes` compute the conditions, whatever the case says of them.
/// `monitor` gets the states before and after each executed instruction.
pub fn shade(
    case: &Case<R500>,
    mut lanes: Lanes<'_, LANES>,
    mut monitor: impl FnMut(&State, &State),
) -> Shaded {
    let program = &case.program;
    let mut golden: Golden = case.golden();
    let mut conditions = Vec::new();
    let mut steps = 0;
    let mut k = [0u64; LANES];
    for pins in R500::setup(program) {
        golden.cycle(&pins);
    }
    golden.cycle(&R500::launch(case, None));
    for _ in 0..case.max_steps {
        if !R500::running(golden.state()) {
            break;
        }
        let before = *golden.state();
        let mut pins = lanes.pins(program, &before);
        pins.cov = case.launch_mask;
        golden.cycle(&pins);
        if golden.step() != Step::Executed {
            continue;
        }
        steps += 1;
        monitor(&before, golden.state());
        let counts = counts(&before, &pins);
        if pins.cmn & 3 == 2 {
            lanes.flow_control();
        } else {
            lanes.step(before.pc, before.al, before.active);
            let mut left = lanes.any_condition() & before.active;
            while left != 0 {
                let lane = left.trailing_zeros();
                left &= left - 1;
                let (k, bits) = (k[lane as usize], lanes.conditions(lane as usize));
                conditions.push(Row { lane, k, bits });
            }
        }
        for (lane, k) in k.iter_mut().enumerate() {
            *k += counts >> lane & 1;
        }
    }
    Shaded {
        wave: lanes.wave,
        end: *golden.state(),
        steps,
        conditions,
    }
}

/// Runs a lane alone, without any masks, for at most `most` instructions.
///
/// # Errors
/// The lane did not reach the end of the program; the error says how it ended.
pub fn shade_alone<'s>(scalar: &Scalar, mut lane: Lanes<'s, 1>, most: u64) -> Result<Wave<1>, End> {
    let mut next = 0;
    let trace = scalar.run(most, &mut |k, pc, al| {
        if k != next {
            lane.flow_control();
        }
        next = k + 1;
        lane.step(pc, al, 1);
        lane.conditions(0)
    });
    match trace.end {
        End::Done => Ok(lane.wave),
        other => Err(other),
    }
}
