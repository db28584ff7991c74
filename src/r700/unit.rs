//! The unit as the bench sees it.

use rand::{Rng, RngCore};
use serde_json::{Value, json};

use super::environment::Surroundings;
use super::golden::{Frame, Golden};
use super::isa::{CfOp, Word};
use super::program::Program;
use super::start::Start;
use super::state::values::loop_;
use super::state::{DECLARATION, ERROR_NAMES, In, LOOP_NAMES, State};
use super::{R700, asm, cover, generate, import, judge};
use crate::explain::Anatomy;
use crate::unit::{
    self, Campaign, LoadOptions, Loaded, Programs, Record, ScalarJudge, Unit, Variant,
};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::field::Declaration;
use reconverge_bench::input::InputError;
use reconverge_bench::json::{self, Hex};
use reconverge_campaign::exhaust::Small;
use reconverge_program::assembly::Assembly as _;
use reconverge_program::case::{Case, Conditions, Kind};
use reconverge_program::show::{Class, Frame as Shown};

/// Classes 0 to 3 in the form that all units show.
const LANE_CLASSES: [Class; 4] = [Class::Active, Class::Branch, Class::Continue, Class::Break];

impl Design for R700 {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;

    #[cfg(feature = "rtl")]
    fn package() -> Option<&'static reconverge_bench::home::Package> {
        Some(&crate::package::of::r700)
    }
}

/// Returns the pins of a cycle in which the host writes `data` to the constant at `addr`.
pub(super) fn host_write(addr: u8, data: u32) -> In {
    In {
        const_we: 1,
        const_addr: addr,
        const_wdata: data,
        ..In::default()
    }
}

impl Programs for R700 {
    type Program = Program;
    type Environment = Surroundings;
    type Start = Start;
    const SCALAR: Option<ScalarJudge<Self>> = Some(judge::judge);

    fn running(state: &State) -> bool {
        state.running == 1
    }

    fn outcome(state: &State) -> String {
        unit::outcome(state.running == 1, state.done == 1, state.err, &ERROR_NAMES)
    }

    fn pc(state: &State) -> u32 {
        state.pc
    }

    fn active(state: &State) -> u64 {
        state.active
    }

    fn stack(golden: &Golden) -> Option<String> {
        let frame = |frame: Frame| match frame {
            Frame::Branch(mask) => format!("B 0x{mask:x}"),
            Frame::Loop(f) => format!(
                "LOOP around {}/{}/{}",
                LOOP_NAMES[usize::from(f.lt & 3)],
                f.lc,
                f.al as i32
            ),
            Frame::Call(f) => format!("CALL from 0x{:03x}, depth {}", f.ret, f.depth),
        };
        let frames: Vec<String> = golden.frames().map(frame).collect();
        Some(if frames.is_empty() {
            "-".to_owned()
        } else {
            frames.join(" | ")
        })
    }

    fn class(state: &State, lane: usize) -> Class {
        match state.valid >> lane & 1 {
            0 => Class::Off,
            _ => Self::held(state, lane),
        }
    }

    fn held(state: &State, lane: usize) -> Class {
        LANE_CLASSES[usize::from(state.class(lane) & 3)]
    }

    fn frames(golden: &Golden) -> Vec<Shown> {
        let state = golden.state();
        let mut around = (state.lt, state.lc);
        // From the top down: a loop's frame holds the passes of the loop around it.
        let frames: Vec<Frame> = golden.frames().collect();
        let mut shown: Vec<Shown> = frames
            .into_iter()
            .rev()
            .map(|frame| match frame {
                Frame::Branch(lanes) => Shown {
                    lanes: Some(lanes),
                    ..Shown::of("IF")
                },
                Frame::Loop(f) => {
                    let (lt, lc) = std::mem::replace(&mut around, (f.lt, f.lc));
                    Shown {
                        passes: (lt != loop_::DX10 || lc > 0).then_some(lc.into()),
                        ..Shown::of("LOOP")
                    }
                }
                Frame::Call(f) => Shown {
                    address: Some(f.ret),
                    ..Shown::of("CALL")
                },
            })
            .collect();
        shown.reverse();
        shown
    }

    fn setup(program: &Program) -> Vec<In> {
        let regs = &program.regs;
        // Reset leaves zeros, so only nonzero constants are written.
        let loops = (0..32)
            .zip(&regs.loop_const)
            .filter(|(_, k)| **k != 0)
            .map(|(n, k)| host_write(n, *k));
        let bools = (regs.bool_const != 0).then(|| host_write(32, regs.bool_const));
        loops.chain(bools).collect()
    }

    fn launch(case: &Case<Self>, again: Option<&mut dyn RngCore>) -> In {
        let regs = &case.program.regs;
        let mut pins = In {
            launch: 1,
            entry: regs.entry,
            prog_len: regs.prog_len,
            stack_size: regs.stack_size,
            lane_mask: case.launch_mask,
            ..In::default()
        };
        // A launch must not keep anything from the launch before it.
        if let Some(rng) = again {
            if case.conditions == Conditions::Noise && rng.random() {
                // Start at another address: from the first one, random words end in the same error every time.
                let end = regs.prog_len.max(1);
                pins.entry = rng.random_range(0..end);
            }
            // Several operands can be at their limits together.
            for _ in 0..rng.random_range(1..4) {
                match rng.random_range(0..16) {
                    0 => pins.entry = regs.prog_len.wrapping_add(rng.random_range(0..2)),
                    1 => pins.entry = rng.random(),
                    2 => pins.prog_len = pins.entry.wrapping_add(rng.random_range(0..4)),
                    3 => pins.stack_size = rng.random_range(0..5),
                    4 => pins.stack_size = rng.random(),
                    5 => pins.lane_mask = rng.random(),
                    6 => pins.lane_mask = 1 << rng.random_range(0..case.lanes),
                    7 => pins.lane_mask = 0,
                    _ => {}
                }
            }
        }
        pins
    }

    #[inline]
    fn record(before: &State, _: &In, after: &State) -> Record {
        Record {
            pc: before.pc,
            context: before.al,
            executes: after.exec,
            counts: after.exec,
        }
    }
}

impl Campaign for R700 {
    type Coverage = cover::Bins;
    const DRAWS_ITSELF: bool = true;

    fn generate(kind: Kind, rng: &mut impl Rng) -> Program {
        Self::generate_for(&Build::from(Self::LANES), kind, rng)
    }

    fn generate_for(build: &Build, kind: Kind, rng: &mut impl Rng) -> Program {
        let target = generate::Target {
            subentries: build.value::<R700>("SUBENTRIES"),
            dx10_count: build.value::<R700>("DX10_COUNT") == 1,
        };
        match kind {
            Kind::Structured => {
                let options = generate::Options {
                    target,
                    ..generate::Options::random(rng)
                };
                generate::structured(rng, &options)
            }
            Kind::NearLegal => generate::near_legal(rng, target),
            Kind::Raw => generate::raw(rng),
            // Both run from any start.
            Kind::Seeded if rng.random() => generate::near_legal(rng, target),
            Kind::Seeded => generate::raw(rng),
        }
    }

    fn conditions(pins: &In, lane: u32) -> u16 {
        (pins.pred >> lane & 1) as u16
    }

    fn relaunched(program: &Program, pins: &In, after: &State, _: &In) -> (Program, u64) {
        let mut program = program.clone();
        program.regs.entry = pins.entry;
        program.regs.prog_len = pins.prog_len;
        program.regs.stack_size = pins.stack_size;
        program.regs.bool_const = after.bool_const;
        program.regs.loop_const = after.loop_const;
        (program, pins.lane_mask)
    }
}

impl Unit for R700 {
    const VARIANTS: &'static [Variant] = &[
        Variant::new(
            33,
            &[("DX10_COUNT", 1), ("MAX_STACK_SIZE", 5), ("SUBENTRIES", 8)],
        ),
        Variant::new(1, &[("MAX_STACK_SIZE", 255)]),
        Variant::new(4, &[("DX10_COUNT", 1), ("MAX_STACK_SIZE", 1)]),
        Variant::new(16, &[("MAX_STACK_SIZE", 255), ("SUBENTRIES", 8)]),
    ];
    const SMALL: Option<Small<Self>> = Some(super::exhaust::SMALL);

    fn load(
        bytes: &[u8],
        file: &str,
        options: &LoadOptions,
    ) -> Result<Loaded<Program>, InputError> {
        options.for_other(Self::NAME)?;
        import::load(bytes, file, options)
    }

    fn list(bytes: &[u8], file: &str) -> Result<Vec<String>, InputError> {
        import::list(bytes, file)
    }

    fn recognises(bytes: &[u8]) -> Option<(String, bool)> {
        let (what, ours) = import::recognise(bytes)?;
        Some((what.to_owned(), ours))
    }

    fn remark(program: &Program, state: &State) -> Option<&'static str> {
        let quad = program.quads.get(state.pc as usize);
        let word = quad.map(|quad| Word::decode(*quad));
        let returns = matches!(word, Some(Word::Cf(cf)) if cf.op == CfOp::Return);
        // Below the top of an empty stack there is no program that could have called.
        let alone = ERROR_NAMES.get(usize::from(state.err)) == Some(&"NO_CALL") && state.sp == 0;
        (alone && returns).then_some(
            "a RETURN that no CALL leads to: a fetch shader is entered by the CALL_FS of another program, and ends so alone (r700-O31)",
        )
    }

    fn anatomy(words: &[u64]) -> Result<Anatomy<Program>, String> {
        super::anatomy::anatomy(words)
    }

    fn instruction(pins: &In) -> Vec<u64> {
        vec![pins.dw0.into(), pins.dw1.into()]
    }

    fn to_hex(program: &Program) -> String {
        asm::hex_text(program)
    }

    fn trace(
        step: u64,
        program: &Program,
        before: &State,
        pins: &In,
        golden: &Golden,
        lanes: usize,
    ) -> String {
        let after = golden.state();
        // Names, order and meaning are those of r700-4.5.
        json::line(&[
            ("step", step.into()),
            ("pc", before.pc.into()),
            ("dw0", pins.dw0.into()),
            ("dw1", pins.dw1.into()),
            ("u", pins.u.into()),
            ("exec", Hex(after.exec).into()),
            ("jump", after.jump.into()),
            ("st", classes(after, lanes)),
            ("valid", Hex(after.valid).into()),
            ("frames", golden.frames().map(|f| frame(f, lanes)).collect()),
            ("sp", after.sp.into()),
            ("base", after.base.into()),
            ("bkind", after.bkind.into()),
            ("nb", after.nb.into()),
            ("lt", after.lt.into()),
            ("lc", after.lc.into()),
            // As in the normative block: modulo 2^32.
            ("al", after.al.into()),
            ("inc", (after.inc as i8).into()),
            ("depth", after.depth.into()),
            ("skipped", after.skipped.into()),
            ("pc_next", after.pc.into()),
            ("err", after.err.into()),
            ("done", after.done.into()),
            ("halted", after.halted.into()),
            ("text", program.disassemble(before.pc).into()),
        ])
    }
}

/// Returns the class of each lane.
fn classes(state: &State, lanes: usize) -> Value {
    (0..lanes).map(|i| state.class(i)).collect()
}

/// Returns a frame as a trace shows it, a list that begins with its kind.
fn frame(frame: Frame, lanes: usize) -> Value {
    match frame {
        Frame::Branch(mask) => json!([1, Hex(mask)]),
        Frame::Loop(f) => {
            let state = State {
                st: f.st,
                ..State::default()
            };
            let st = classes(&state, lanes);
            json!([2, st, f.lt, f.lc, f.al, f.inc as i8, f.base, f.bkind])
        }
        Frame::Call(f) => json!([3, f.ret, f.depth, f.base, f.bkind]),
    }
}
