//! The naive step of spa5, held against the Python of its specification: walks, in which the step goes from its
//! own state to the next. An unwind is one step of the Python and several cycles of the naive step.

use rand::seq::IndexedRandom as _;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::design::Build;
use reconverge::prove::{StepModule, Values};
use reconverge::spa5::Spa5;
use serde_json::{Value, json};

use crate::common::needs;
use crate::common::specification::{Script, specification};

use crate::common::step_sv::{bits, number, words};

/// A program's place: base and size, in bytes.
#[derive(Clone, Copy)]
struct Region {
    base: u64,
    size: u64,
}

/// A word and the constant beside it: mostly legal, and such that tokens nest and are met again.
fn spa5_word(rng: &mut Pcg64Mcg, pc: u64, program: Region) -> (u64, u32) {
    const SET_UP: [u64; 7] = [0xE29, 0xE29, 0xE2A, 0xE2A, 0xE2B, 0xE27, 0xE26];
    const LEAVE: [u64; 8] = [0xE30, 0xE32, 0xE32, 0xE33, 0xE34, 0xE34, 0xE35, 0xE35];
    const JUMP: [u64; 6] = [0xE24, 0xE24, 0xE21, 0xE25, 0xE20, 0xE22];
    const SYNC: u64 = 0xF0F8 << 48;
    let rare = |rng: &mut Pcg64Mcg, n| rng.random_ratio(1, n);
    let mut to = program.base + 8 * rng.random_range(0..program.size / 8);
    if rare(rng, 50) {
        to ^= 1 << rng.random_range(0..12);
    }
    let offset = to.wrapping_sub(pc + 8) & 0xff_ffff;
    let pppp = *[7, 7, rng.random_range(0..16)].choose(rng).unwrap();
    let test = *[15, 15, rng.random_range(0..24), rng.random_range(0..32)]
        .choose(rng)
        .unwrap();
    // NOINC or LMT, and .U.
    let flags = rng.random_range(0..2) << 6 | u64::from(rare(rng, 4)) << 7;
    let bank = u64::from(rare(rng, 6)) << 5;
    let fields = pppp << 16 | rng.random_range(0..256) << 8 | flags | test;
    let anywhere = rng.random::<u64>() & 0x7_ffff_fff0_0000;
    let word = match rng.random_range(0..40) {
        0 => rng.random::<u64>() >> 7 | 0x71 << 57,
        1..4 => 0x50b0_0000_0007_0f00,
        4..16 => SET_UP.choose(rng).unwrap() << 52 | offset << 20 | fields | bank,
        16..24 => match *JUMP.choose(rng).unwrap() {
            op @ 0xE24 => op << 52 | offset << 20 | fields | bank,
            // What the register is added to: the next instruction, or the first one.
            op @ 0xE25 => op << 52 | fields | (bank * u64::from(rare(rng, 9))),
            op => {
                let absolute = if op == 0xE20 { program.base } else { to };
                op << 52
                    | (absolute & 0xffff_ffff) << 20
                    | fields
                    | (bank * u64::from(rare(rng, 9)))
            }
        },
        24..30 => SYNC | anywhere | fields | bank,
        _ => LEAVE.choose(rng).unwrap() << 52 | anywhere | fields | bank,
    };
    (word, offset as u32 | rng.random::<u32>() << 24)
}

/// The state as the Python shows it.
fn spa5_shown(state: &Values, lanes: usize) -> Value {
    let flag = |name: &str| number(&state[name]);
    let head = |i: usize| &state["u_stack__head_q"][39 * i..39 * i + 39];
    let mask = |i: usize| &state["u_stack__mask_q"][lanes * i..lanes * i + lanes];
    let tokens = flag("u_stack__sp_q") as usize;
    if tokens > 0 {
        assert_eq!(state["u_stack__top_head_q"], head(tokens - 1));
        assert_eq!(state["u_stack__top_mask_q"], mask(tokens - 1));
    }
    let token = |i: usize| {
        let part = |low: usize, high: usize| number(&head(i)[low..=high]);
        json!([part(36, 38), part(32, 35), part(0, 31), number(mask(i))])
    };
    json!({
        "status": flag("status_q"), "err": flag("err_q"), "pc": flag("pc_q"), "active": flag("u_threads__active_q"),
        "exited": flag("u_threads__exited_q"), "killed": flag("u_threads__killed_q"),
        "d_brk": flag("u_threads__d_brk_q"), "d_cont": flag("u_threads__d_cont_q"), "d_ret": flag("u_threads__d_ret_q"),
        "vis": flag("u_stack__vis_q"), "stack": (0..tokens).map(token).collect::<Vec<_>>(),
    })
}

/// The state after a cycle is the one before the next.
fn spa5_after(outputs: &Values) -> Values {
    let next = outputs
        .iter()
        .filter_map(|(name, bits)| Some((name.strip_prefix("next__")?.to_owned(), bits.clone())));
    next.collect()
}

/// The pins of a cycle that begins in `state`, without an instruction; what repeats the stack is not read.
fn spa5_cycle(state: &Values) -> Values {
    let mut values = state.clone();
    values.retain(|name, _| !name.starts_with("u_stack__top_"));
    values.insert("rst_ni".to_owned(), bits(1, 1));
    values
}

/// A launch: what the pins are, and what the Python is asked.
fn spa5_launch(rng: &mut Pcg64Mcg, lanes: usize, program: Region) -> (Values, Value) {
    let all = u64::MAX >> (64 - lanes);
    let entry = 8 * rng.random_range(0..program.size / 8);
    let launched = if rng.random_ratio(1, 40) {
        0
    } else {
        (rng.random::<u64>() | rng.random::<u64>()) & all
    };
    let mut values = Values::new();
    // A launch clears every earlier value.
    for (name, value, width) in [
        ("rst_ni", 1, 1),
        ("launch_i", 1, 1),
        ("status_q", 2, 2),
        ("err_q", 5, 4),
        ("u_threads__d_brk_q", all, lanes),
        ("u_stack__vis_q", 9, 4),
        ("entry_i", entry, 32),
        ("prog_base_i", program.base, 32),
        ("prog_size_i", program.size, 32),
        ("launch_mask_i", launched, lanes),
    ] {
        values.insert(name.to_owned(), bits(value, width));
    }
    let asked = json!({
        "prog_base": program.base, "prog_size": program.size, "entry": entry, "launched": launched,
    });
    (values, asked)
}

/// An instruction for `state`: what the pins are, and what the Python is asked.
fn spa5_step(rng: &mut Pcg64Mcg, state: &Values, lanes: usize, program: Region) -> (Values, Value) {
    let all = u64::MAX >> (64 - lanes);
    let (word, constant) = spa5_word(rng, number(&state["pc_q"]), program);
    let mut plane = || rng.random::<u64>() & all;
    let p: Vec<u64> = (0..7).map(|_| plane()).collect();
    let cc: Vec<u64> = (0..4).map(|_| plane()).collect();
    let registers = [0, 1].map(|_| 8 * rng.random_range(0..program.size / 8));
    let r: Vec<u64> = (0..lanes)
        .map(|_| *registers.choose(rng).unwrap())
        .collect();
    let csm: Vec<u64> = (0..lanes).map(|_| rng.random_range(0..256)).collect();
    let mut values = spa5_cycle(state);
    let names = [
        "p0_i", "p1_i", "p2_i", "p3_i", "p4_i", "p5_i", "p6_i", "z_i", "s_i", "c_i", "o_i",
    ];
    for (name, plane) in names.iter().zip(p.iter().chain(&cc)) {
        values.insert((*name).to_owned(), bits(*plane, lanes));
    }
    values.insert("inst_valid_i".to_owned(), bits(1, 1));
    values.insert("word_i".to_owned(), bits(word, 64));
    values.insert("const_i".to_owned(), bits(u64::from(constant), 32));
    values.insert("r_i".to_owned(), words(&r, 32));
    values.insert("csm_i".to_owned(), words(&csm, 8));
    let asked = json!({ "word": word, "p": p, "cc": cc, "r": r, "constant": constant, "csm": csm });
    (values, asked)
}

#[needs(yosys)]
#[test]
fn the_naive_step_of_spa5_is_the_step_of_its_specification() {
    const WALKS: usize = 128;
    const STEPS: usize = 100;
    const UNWIND: u64 = 3;
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let mut errors = [0; 11];
    // Tokens by type, as they lie on top; the longest UNWIND.
    let (mut tops, mut longest) = ([0; 6], 0);
    for (lanes, depth, brx, csm) in [(4, 4, 1, 0), (8, 7, 0, 1)] {
        let mut build = Build::from(lanes);
        for (name, value) in [("DEPTH", depth), ("BRX", brx), ("CSM", csm)] {
            build.parameters.insert(name.to_owned(), value);
        }
        let module = StepModule::of::<Spa5>(&build).unwrap();
        let lanes = lanes as usize;
        let size = 0x200;
        let programs: Vec<Region> = (0..WALKS)
            .map(|_| Region {
                base: *[0, 0x4000_0000, (1 << 32) - size].choose(&mut rng).unwrap(),
                size,
            })
            .collect();
        // What each walk has asked, and what the naive step answered.
        let mut walks: Vec<Vec<(String, Value, Value)>> = Vec::new();
        let mut launches = Vec::new();
        for program in &programs {
            let (values, mut launch) = spa5_launch(&mut rng, lanes, *program);
            for (name, value) in [
                ("lanes", lanes as u32),
                ("depth", depth),
                ("brx", brx),
                ("csm", csm),
            ] {
                launch[name] = json!(value);
            }
            launches.push(values);
            walks.push(vec![(
                String::new(),
                json!({ "launch": launch }),
                Value::Null,
            )]);
        }
        let mut states: Vec<Values> = module
            .run(&launches)
            .unwrap()
            .iter()
            .map(spa5_after)
            .collect();
        for (walk, state) in walks.iter_mut().zip(&states) {
            walk[0].2 = spa5_shown(state, lanes);
        }
        for step in 0..STEPS {
            let running = (0..WALKS).filter(|i| number(&states[*i]["status_q"]) == 0);
            let running: Vec<usize> = running.collect();
            let asked: Vec<(Values, Value)> = running
                .iter()
                .map(|i| spa5_step(&mut rng, &states[*i], lanes, programs[*i]))
                .collect();
            let cases: Vec<Values> = asked.iter().map(|(values, _)| values.clone()).collect();
            let outputs = module.run(&cases).unwrap();
            // Walk, request, A and T of each step that counts.
            let mut made = Vec::new();
            for ((i, (_, request)), outputs) in running.into_iter().zip(asked).zip(outputs) {
                // An error ends a walk: most are left out.
                let err = number(&outputs["next__err_q"]) as usize;
                if err != 0 && errors[err] > 4 && rng.random_ratio(29, 30) {
                    continue;
                }
                errors[err] += 1;
                let active = number(&states[i]["u_threads__active_q"]);
                made.push((i, request, active, number(&outputs["said__taken"])));
                states[i] = spa5_after(&outputs);
            }
            for cycle in 0.. {
                let unwinding = (0..WALKS).filter(|i| number(&states[*i]["status_q"]) == UNWIND);
                let unwinding: Vec<usize> = unwinding.collect();
                if unwinding.is_empty() {
                    longest = longest.max(cycle);
                    break;
                }
                let cases: Vec<Values> =
                    unwinding.iter().map(|i| spa5_cycle(&states[*i])).collect();
                for (i, outputs) in unwinding.into_iter().zip(module.run(&cases).unwrap()) {
                    states[i] = spa5_after(&outputs);
                }
            }
            for (i, request, a, t) in made {
                let mut shown = spa5_shown(&states[i], lanes);
                (shown["a"], shown["t"]) = (json!(a), json!(t));
                if number(&states[i]["u_stack__sp_q"]) > 0 {
                    tops[number(&states[i]["u_stack__top_head_q"][36..39]) as usize] += 1;
                }
                walks[i].push((format!("{lanes} lanes, step {step}"), request, shown));
            }
        }
        let script = Script {
            lines: walks.into_iter().flatten().collect(),
        };
        let differs = script.judge("spa5", &specification("spa5"));
        assert_eq!(differs, None, "{}", differs.as_deref().unwrap_or_default());
    }
    assert!(
        errors.iter().all(|n| *n > 0) && errors[0] > 1000,
        "{errors:?}"
    );
    assert!(
        tops[1..].iter().all(|n| *n > 20) && longest > 3,
        "{tops:?} {longest}"
    );
}
