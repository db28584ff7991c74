//! The unit as the bench sees it.

use rand::{Rng, RngCore};
use serde_json::json;

use super::environment::{Surroundings, counts, tests_clip};
use super::golden::{Golden, Token};
use super::program::{BUNDLE, Program};
use super::start::Start;
use super::state::values::status::{DONE, RUN, UNWIND};
use super::state::{DECLARATION, ERROR_NAMES, In, State, TOKEN_NAMES};
use super::{Spa5, asm, cover, generate, import, judge, refused};
use crate::explain::Anatomy;
use crate::unit::{Campaign, LoadOptions, Loaded, Programs, Record, ScalarJudge, Unit, Variant};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::field::{Declaration, across};
use reconverge_bench::input::InputError;
use reconverge_bench::json::{self, Hex};
use reconverge_campaign::exhaust::Small;
use reconverge_program::assembly::Assembly as _;
use reconverge_program::case::{Case, Conditions, Kind};
use reconverge_program::show::{Class, Frame};

impl Design for Spa5 {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;

    #[cfg(feature = "rtl")]
    fn package() -> Option<&'static reconverge_bench::home::Package> {
        Some(&crate::package::of::spa5)
    }
}

impl Programs for Spa5 {
    type Program = Program;
    type Environment = Surroundings;
    type Start = Start;
    const SCALAR: Option<ScalarJudge<Self>> = Some(judge::judge);

    fn running(state: &State) -> bool {
        matches!(state.status, RUN | UNWIND)
    }

    fn mid_step(state: &State) -> bool {
        state.status == UNWIND
    }

    fn outcome(state: &State) -> String {
        match state.err {
            0 if state.status == DONE => "done".to_owned(),
            0 => "still running".to_owned(),
            code => format!("error {code} {}", ERROR_NAMES[usize::from(code).min(10)]),
        }
    }

    fn pc(state: &State) -> u32 {
        state.pc
    }

    fn active(state: &State) -> u64 {
        state.active
    }

    fn stack(golden: &Golden) -> Option<String> {
        let tokens: Vec<String> = golden
            .tokens()
            .iter()
            .map(|t| {
                let name = TOKEN_NAMES[usize::from(t.kind).min(5)];
                format!("{name}(0x{:x}, 0x{:03x})", t.mask, t.addr)
            })
            .collect();
        Some(if tokens.is_empty() {
            "-".to_owned()
        } else {
            tokens.join(" ")
        })
    }

    fn class(state: &State, lane: usize) -> Class {
        match state.letter(lane) {
            'A' => Class::Active,
            'b' => Class::Break,
            'c' => Class::Continue,
            'r' => Class::Return,
            'x' => Class::Off,
            _ => Class::Branch,
        }
    }

    fn frames(golden: &Golden) -> Vec<Frame> {
        let tokens = golden.tokens().iter();
        let frame = |t: &Token| Frame {
            address: Some(t.addr),
            lanes: Some(t.mask),
            ..Frame::of(TOKEN_NAMES[usize::from(t.kind).min(5)])
        };
        tokens.map(frame).collect()
    }

    fn setup(_: &Program) -> Vec<In> {
        Vec::new()
    }

    fn launch(case: &Case<Self>, again: Option<&mut dyn RngCore>) -> In {
        let program = &case.program;
        let mut pins = In {
            launch: 1,
            entry: program.entry,
            prog_base: program.prog_base,
            prog_size: program.prog_size,
            launch_mask: case.launch_mask,
            ..In::default()
        };
        // A launch must not keep anything from the launch before it.
        if let Some(rng) = again {
            if case.conditions == Conditions::Noise && rng.random() {
                // Start at another address: from the first one, random words end in the same error every time.
                pins.entry = rng.random_range(0..=program.prog_size / 8) * 8;
            }
            match rng.random_range(0..14) {
                0 => pins.entry = program.prog_size.wrapping_add(8 * rng.random_range(0..3)),
                1 => {
                    let bundle = pins.entry / BUNDLE * BUNDLE;
                    pins.prog_size = bundle.wrapping_add(BUNDLE * rng.random_range(0..4));
                }
                2 => pins.launch_mask = rng.random(),
                3 => pins.launch_mask = 1 << rng.random_range(0..case.lanes),
                4 => pins.launch_mask = 0,
                5 => pins.prog_size = rng.random::<u32>() / BUNDLE * BUNDLE,
                // Nearly the same program, seen from a base some bundles after or before its own.
                6 => {
                    let by = BUNDLE * rng.random_range(0..4);
                    pins.prog_base = pins.prog_base.saturating_sub(by);
                }
                7 => {
                    pins.prog_base = pins
                        .prog_base
                        .saturating_add(BUNDLE * rng.random_range(0..4))
                }
                _ => {}
            }
            // It ends at 2^32 or before (spa5-6-d).
            pins.prog_base = pins.prog_base / BUNDLE * BUNDLE;
            if pins.prog_base != 0 {
                pins.prog_size = pins.prog_size.min(pins.prog_base.wrapping_neg());
            }
        }
        pins
    }

    #[inline]
    fn record(before: &State, pins: &In, after: &State) -> Record {
        let threads = counts(before, pins.word, after);
        Record {
            pc: before.pc,
            context: 0,
            executes: threads,
            counts: threads,
        }
    }
}

impl Campaign for Spa5 {
    type Coverage = cover::Bins;

    fn generate(kind: Kind, rng: &mut impl Rng) -> Program {
        Self::generate_for(&Build::from(Self::LANES), kind, rng)
    }

    fn generate_for(build: &Build, kind: Kind, rng: &mut impl Rng) -> Program {
        // In half of the programs for a unit that has them: the others go further without.
        let brx = build.value::<Spa5>("BRX") == 1 && rng.random();
        let program = match kind {
            Kind::Structured => {
                let options = generate::Options {
                    brx,
                    ..generate::Options::random(rng)
                };
                generate::structured(rng, &options)
            }
            Kind::NearLegal => generate::near_legal(rng, brx),
            Kind::Raw => generate::raw(rng, brx),
            // Both run from any start.
            Kind::Seeded if rng.random() => generate::near_legal(rng, brx),
            Kind::Seeded => generate::raw(rng, brx),
        };
        generate::placed(rng, program)
    }

    fn conditions(pins: &In, lane: u32) -> u16 {
        let lane = lane as usize;
        let drawn = across(&pins.p, lane) | across(&pins.cc, lane) << pins.p.len();
        // An instruction has one CC test: if it is of the clip state machine, bits 8 to 15 belong to that (contract-7-e).
        match tests_clip(pins.word) {
            true => drawn & 0xff | u16::from(pins.csm[lane % 64]) << 8,
            false => drawn,
        }
    }

    fn relaunched(program: &Program, pins: &In, _: &State, _: &In) -> (Program, u64) {
        let mut program = program.seen_from(pins.prog_base);
        program.entry = pins.entry;
        program.prog_size = pins.prog_size;
        (program, pins.launch_mask)
    }
}

impl Unit for Spa5 {
    const VARIANTS: &'static [Variant] = &[
        Variant::new(33, &[("BRX", 1), ("CSM", 1), ("DEPTH", 5)]),
        Variant::new(1, &[("DEPTH", 1)]),
        Variant::new(4, &[("BRX", 1), ("CSM", 1)]),
        Variant::new(64, &[("CSM", 1), ("DEPTH", 1024)]),
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
        let (sm, ours) = import::sm(bytes)?;
        Some((format!("a cubin for {sm}"), ours))
    }

    fn refused(program: &Program, build: &Build) -> Vec<String> {
        refused::refused(program, build)
    }

    fn anatomy(words: &[u64]) -> Result<Anatomy<Program>, String> {
        super::anatomy::anatomy(words)
    }

    fn instruction(pins: &In) -> Vec<u64> {
        vec![pins.word]
    }

    fn to_hex(program: &Program) -> String {
        asm::hex_text(program)
    }

    fn trace(
        step: u64,
        program: &Program,
        before: &State,
        _: &In,
        golden: &Golden,
        _: usize,
    ) -> String {
        let after = golden.state();
        // Outside the program there is no instruction.
        let there = golden.in_program(before.pc);
        let top = json!([
            after.top_type,
            after.top_vis,
            after.top_addr,
            Hex(after.top_mask)
        ]);
        // Names, order and meaning are fixed (spa5-4.5).
        json::line(&[
            ("step", step.into()),
            ("pc", before.pc.into()),
            ("word", there.then(|| Hex(golden.step_word())).into()),
            ("a", Hex(before.active).into()),
            ("t", Hex(golden.taken()).into()),
            ("active", Hex(after.active).into()),
            ("pc_next", after.pc.into()),
            ("d_brk", Hex(after.d_brk).into()),
            ("d_cont", Hex(after.d_cont).into()),
            ("d_ret", Hex(after.d_ret).into()),
            ("exited", Hex(after.exited).into()),
            ("killed", Hex(after.killed).into()),
            ("vis", after.vis.into()),
            ("sp", after.sp.into()),
            ("status", after.status.into()),
            ("err", after.err.into()),
            ("top", (after.sp > 0).then_some(top).into()),
            ("text", there.then(|| program.disassemble(before.pc)).into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// The noise of a further launch was once added to an entry at the end of the 32-bit address space.
    #[test]
    fn a_further_launch_of_a_program_with_a_far_entry_does_not_overflow() {
        let program = Program {
            entry: u32::MAX - 7,
            prog_size: u32::MAX - 31,
            ..Program::default()
        };
        let mut case = Case::<Spa5>::new(program);
        case.noise_cycles = Some(1);
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut sizes = Vec::new();
        for _ in 0..200 {
            let pins = Spa5::launch(&case, Some(&mut rng));
            assert_eq!((pins.entry % 8, pins.prog_size % BUNDLE), (0, 0));
            sizes.push(pins.prog_size);
        }
        assert!(sizes.contains(&0) && sizes.contains(&case.program.prog_size));
    }
}
