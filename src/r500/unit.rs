//! The unit as the bench sees it.

use rand::{Rng, RngCore};

use super::environment::{Surroundings, counts};
use super::golden::{Event, Golden};
use super::program::Program;
use super::start::Start;
use super::state::{DECLARATION, ERROR_NAMES, In, State};
use super::{R500, asm, cover, generate, import, judge};
use crate::explain::Anatomy;
use crate::unit::{
    self, Campaign, LoadOptions, Loaded, Programs, Record, ScalarJudge, Unit, Variant,
};
use reconverge_bench::design::Design;
use reconverge_bench::field::{Declaration, across};
use reconverge_bench::input::InputError;
use reconverge_bench::json;
use reconverge_campaign::exhaust::Small;
use reconverge_program::assembly::Assembly as _;
use reconverge_program::case::{Case, Kind};
use reconverge_program::import::sound_name;
use reconverge_program::show::{Class, Frame};

/// Classes 0 to 3 in the form that all units show.
const LANE_CLASSES: [Class; 4] = [Class::Active, Class::Branch, Class::Continue, Class::Break];

impl Design for R500 {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;

    #[cfg(feature = "rtl")]
    fn package() -> Option<&'static reconverge_bench::home::Package> {
        Some(&crate::package::of::r500)
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

impl Programs for R500 {
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
        state.pc.into()
    }

    fn active(state: &State) -> u64 {
        state.active
    }

    fn class(state: &State, lane: usize) -> Class {
        LANE_CLASSES[usize::from(state.class(lane) & 3)]
    }

    fn frames(golden: &Golden) -> Vec<Frame> {
        let state = golden.state();
        let loops = (0..usize::from(state.loop_depth)).map(|f| {
            let (rep, count, _) = state.frame(f);
            Frame {
                passes: Some(count.into()),
                ..Frame::of(if rep { "REP" } else { "LOOP" })
            }
        });
        let addresses = state.addrs[..usize::from(state.addr_depth)].iter();
        let calls = addresses.map(|address| Frame {
            address: Some((*address).into()),
            ..Frame::of("CALL")
        });
        loops.chain(calls).collect()
    }

    fn setup(program: &Program) -> Vec<In> {
        let regs = &program.regs;
        // Reset leaves zeros, so only nonzero constants are written.
        let ints = (0..32)
            .zip(&regs.int_const)
            .filter(|(_, k)| **k != 0)
            .map(|(n, k)| host_write(n, *k));
        let bools = (regs.bool_const != 0).then(|| host_write(32, regs.bool_const));
        ints.chain(bools).collect()
    }

    fn launch(case: &Case<Self>, again: Option<&mut dyn RngCore>) -> In {
        let regs = &case.program.regs;
        let mut pins = In {
            launch: 1,
            fc_ctrl: regs.fc_ctrl,
            code_addr: regs.code_addr,
            code_range: regs.code_range,
            code_offset: regs.code_offset,
            ..In::default()
        };
        // A launch must not keep anything from the launch before it.
        if let Some(rng) = again {
            let noise = case.conditions == reconverge_program::case::Conditions::Noise;
            if noise {
                // Start at another address each time: from the first one, random words end in the same error every time.
                pins.code_addr = pins.code_addr & !0x1ff | rng.random_range(0..512);
            }
            match rng.random_range(0..16) {
                0 => pins.code_addr = pins.code_addr & 0xffff | rng.random::<u32>() << 16,
                1 => pins.fc_ctrl ^= 1 << 31,
                2 => pins.fc_ctrl ^= rng.random::<u32>() >> 1,
                3 => pins.code_range ^= rng.random::<u32>() & 0xfe00_fe00,
                4 if noise => pins.code_range = rng.random(),
                5 if noise => pins.code_offset = rng.random(),
                _ => {}
            }
        }
        pins
    }

    #[inline]
    fn record(before: &State, pins: &In, _: &State) -> Record {
        Record {
            pc: before.pc.into(),
            context: before.al.into(),
            executes: if pins.cmn & 3 == 2 { 0 } else { before.active },
            counts: counts(before, pins),
        }
    }
}

impl Campaign for R500 {
    type Coverage = cover::Bins;

    fn generate(kind: Kind, rng: &mut impl Rng) -> Program {
        match kind {
            Kind::Structured => {
                let options = generate::Options::random(rng);
                generate::structured(rng, &options)
            }
            Kind::NearLegal => generate::near_legal(rng),
            Kind::Raw => generate::raw(rng),
            // Both run from any start.
            Kind::Seeded if rng.random() => generate::near_legal(rng),
            Kind::Seeded => generate::raw(rng),
        }
    }

    fn conditions(pins: &In, lane: u32) -> u16 {
        let [r, g, b, a] = pins.pred;
        across(&[pins.alu, r, g, b, a], lane as usize)
    }

    fn relaunched(program: &Program, pins: &In, after: &State, last: &In) -> (Program, u64) {
        let mut regs = program.regs.clone();
        regs.fc_ctrl = pins.fc_ctrl;
        regs.code_addr = pins.code_addr;
        regs.code_range = pins.code_range;
        regs.code_offset = pins.code_offset;
        regs.bool_const = after.bool_const;
        regs.int_const = std::array::from_fn(|n| after.int(n));
        // The words keep their absolute addresses.
        let end = usize::from(program.regs.offset()) + program.slots.len();
        let slots = (regs.offset()..)
            .take_while(|pc| usize::from(*pc) < end)
            .map(|pc| program.slot(pc))
            .collect();
        let relaunched = Program {
            name: program.name.clone(),
            regs,
            slots,
            ..Program::default()
        };
        (relaunched, last.cov)
    }
}

impl Unit for R500 {
    const VARIANTS: &'static [Variant] = &[
        Variant::new(33, &[]),
        Variant::new(1, &[]),
        Variant::new(4, &[]),
        Variant::new(64, &[]),
    ];
    const SMALL: Option<Small<Self>> = Some(super::exhaust::SMALL);

    fn load(
        bytes: &[u8],
        file: &str,
        options: &LoadOptions,
    ) -> Result<Loaded<Program>, InputError> {
        let mut imported = import::load(bytes, file, &import_options(options)?)?;
        imported.program.name = sound_name(&imported.program.name);
        let (end, slots) = (imported.program.regs.end(), imported.program.slots.len());
        if usize::from(end) >= slots {
            let why = format!(
                "END_ADDR is {end}, and there are {slots} instructions: is the file cut off?"
            );
            return Err(InputError::new(file, 0, "end", why));
        }
        Ok(Loaded {
            program: imported.program,
            warnings: imported.warnings,
        })
    }

    fn list(bytes: &[u8], file: &str) -> Result<Vec<String>, InputError> {
        let listed = import::import(bytes, file, &import::Options::default())?.listed;
        Ok((1..)
            .zip(listed)
            .map(|(n, p)| {
                let problem = p.problem.map(|why| format!(", {why}")).unwrap_or_default();
                format!("{n}  line {}, {} instructions{problem}", p.line, p.slots)
            })
            .collect())
    }

    fn anatomy(words: &[u64]) -> Result<Anatomy<Program>, String> {
        super::anatomy::anatomy(words)
    }

    fn instruction(pins: &In) -> Vec<u64> {
        vec![pins.cmn.into(), pins.inst.into(), pins.addr.into()]
    }

    fn needs(program: &Program) -> Vec<String> {
        super::shader::needs(program)
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
        // Outside the code window there is no instruction, whatever the pins show.
        let there = golden.in_window(before.pc);
        let jump = match golden.event() {
            Event::FlowControl { jump } => Some(u8::from(jump)),
            _ => None,
        };
        let each = |of: &dyn Fn(usize) -> u8| (0..lanes).map(of).collect::<Vec<u8>>();
        let loops = (0..usize::from(after.loop_depth)).map(|f| {
            let (rep, count, al) = after.frame(f);
            // The kind as its OP: 1 LOOP, 3 REP.
            [if rep { 3 } else { 1 }, count, al]
        });
        // Names, order and meaning are fixed (contract-8).
        json::line(&[
            ("step", step.into()),
            ("pc", before.pc.into()),
            ("cmn", there.then_some(pins.cmn).into()),
            ("inst", there.then_some(pins.inst).into()),
            ("addr", there.then_some(pins.addr).into()),
            ("jump", jump.into()),
            ("st", each(&|i| after.class(i)).into()),
            ("bc", each(&|i| after.bc(i)).into()),
            ("lc", each(&|i| after.lc(i)).into()),
            ("loops", loops.collect()),
            (
                "addrs",
                after.addrs[..usize::from(after.addr_depth)].to_vec().into(),
            ),
            ("pc_next", after.pc.into()),
            ("err", after.err.into()),
            ("done", after.done.into()),
            ("halted", after.halted.into()),
            (
                "text",
                there.then(|| program.disassemble(before.pc.into())).into(),
            ),
        ])
    }
}

fn import_options(options: &LoadOptions) -> Result<import::Options, InputError> {
    let which = options.which.as_deref().map(|text| {
        text.parse().map_err(|_| {
            InputError::option(
                "--select",
                format!("must be the number of a program, not {text:?}"),
            )
        })
    });
    Ok(import::Options {
        safe_loops: options.safe_loops,
        which: which.transpose()?,
    })
}
