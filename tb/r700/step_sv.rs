//! The naive step of r700, held against the Python of its specification: walks, in which the step goes from its
//! own state to the next.

use rand::seq::IndexedRandom as _;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::design::Build;
use reconverge::prove::{StepModule, Values};
use reconverge::r700::R700;
use serde_json::{Value, json};

use crate::common::needs;
use crate::common::specification::{Script, specification};

use crate::common::step_sv::{bits, number, words};

/// A word of an instruction: mostly legal, and such that loops, calls and branches nest.
fn r700_word(rng: &mut Pcg64Mcg) -> u32 {
    const CONTROL: [u32; 14] = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 20, 24];
    if rng.random_ratio(1, 3) {
        let op = rng.random_range(8..16u32);
        return rng.random::<u32>() & 0x43ff_ffff | op << 26 | 1 << 29;
    }
    let op = match rng.random_range(0..20) {
        0 => rng.random_range(0..64),
        1 => *[1, 32, 39, 58].choose(rng).unwrap(),
        _ => *CONTROL.choose(rng).unwrap(),
    };
    // COND is mostly ACTIVE or a boolean, POP_COUNT and CALL_COUNT small, END and WQM rare.
    let rare = |rng: &mut Pcg64Mcg, n| u32::from(rng.random_ratio(1, n));
    let cond = *[0, 0, 0, 1, 2, 3].choose(rng).unwrap();
    let pops = *[0, 0, 1, 1, 2, 5].choose(rng).unwrap();
    let pops = if op == 18 && rng.random_ratio(9, 10) {
        0
    } else {
        pops
    };
    let calls = *[0, 1, 1, 9, 40].choose(rng).unwrap();
    op << 23
        | cond << 8
        | pops
        | rng.random_range(0..32u32) << 3
        | calls << 13
        | rare(rng, 40) << 21
        | rare(rng, 4) << 22
        | rare(rng, 40) << 30
}

/// The frames from the bottom, as the Python shows them: from the top down, `base` and `bkind` say what lies where.
fn r700_frames(state: &Values, lanes: usize, subentries: usize) -> Vec<Value> {
    let flag = |name: &str| number(&state[name]) as usize;
    let width = lanes.max(56);
    let word = |a: usize| &state[&format!("u_stack__bank{}_q", a % 4)][a / 4 * width..][..width];
    let (mut at, mut base, mut bkind) = (
        flag("u_stack__sp_q"),
        flag("u_stack__base_q"),
        flag("u_stack__bkind_q"),
    );
    let mut frames = Vec::new();
    while at > 0 {
        if at != base {
            at -= 1;
            frames.push(json!([1, number(&word(at)[..lanes])]));
        } else if bkind == 1 {
            let of = |word: &[bool], low: usize, high: usize| number(&word[low..=high]);
            at -= subentries;
            // Its words are the last four.
            let last = at + subentries - 4;
            let (w0, w1, w2, w3) = (word(last), word(last + 1), word(last + 2), word(last + 3));
            let classes: Vec<u64> = (0..lanes)
                .map(|i| u64::from(w0[i]) | u64::from(w1[i]) << 1)
                .collect();
            (base, bkind) = (of(w2, 24, 34) as usize, of(w2, 22, 23) as usize);
            let inc = of(w2, 12, 19) as u8 as i8;
            frames.push(json!([
                2,
                classes,
                of(w2, 20, 21),
                of(w2, 0, 11),
                of(w3, 0, 31),
                inc,
                base,
                bkind
            ]));
        } else {
            at -= 1;
            let w = word(at);
            (base, bkind) = (number(&w[40..51]) as usize, number(&w[38..40]) as usize);
            frames.push(json!([
                3,
                number(&w[..32]),
                number(&w[32..38]),
                base,
                bkind
            ]));
        }
    }
    frames.reverse();
    frames
}

/// The state as the Python shows it.
fn r700_shown(state: &Values, lanes: usize, subentries: usize) -> Value {
    let flag = |name: &str| number(&state[name]);
    let class = |i: usize| {
        u64::from(state["u_lanes__st0_q"][i]) | u64::from(state["u_lanes__st1_q"][i]) << 1
    };
    json!({
        "st": (0..lanes).map(class).collect::<Vec<_>>(), "frames": r700_frames(state, lanes, subentries),
        "valid": flag("u_lanes__valid_q"), "pc": flag("pc_q"), "sp": flag("u_stack__sp_q"),
        "base": flag("u_stack__base_q"), "bkind": flag("u_stack__bkind_q"), "nb": flag("u_stack__nb_q"),
        "lt": flag("u_loop__lt_q"), "lc": flag("u_loop__lc_q"), "al": flag("u_loop__al_q"),
        "inc": flag("u_loop__inc_q") as u8 as i8, "depth": flag("depth_q"), "skipped": flag("skipped_q"),
        "err": flag("err_q"), "halted": flag("halted_q"), "done": flag("done_q"),
    })
}

#[needs(yosys)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn the_naive_step_of_r700_is_the_step_of_its_specification() {
    const WALKS: usize = 96;
    const STEPS: usize = 100;
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    let mut errors = [0; 10];
    let mut frames = 0;
    for (lanes, most, subentries, dx10_count) in [(4, 3, 4, 1), (8, 8, 4, 0), (5, 3, 8, 0)] {
        let mut build = Build::from(lanes);
        for (name, value) in [
            ("MAX_STACK_SIZE", most),
            ("SUBENTRIES", subentries),
            ("DX10_COUNT", dx10_count),
        ] {
            build.parameters.insert(name.to_owned(), value);
        }
        let module = StepModule::of::<R700>(&build).unwrap();
        let lanes = lanes as usize;
        let all = u64::MAX >> (64 - lanes);
        // What each walk has asked, and what the naive step answered.
        let mut walks: Vec<Vec<(String, Value, Value)>> = vec![Vec::new(); WALKS];
        let mut launches: Vec<Values> = Vec::new();
        for walk in &mut walks {
            let counts = [0, 1, 2, 3, rng.random_range(0..4096u64)];
            let constants: Vec<u64> = (0..32)
                .map(|_| counts.choose(&mut rng).unwrap() | rng.random_range(0..1 << 20) << 12)
                .collect();
            let (prog_len, size) = (
                rng.random_range(200..1000u64),
                *[1u64, 2, 3, 7, 8, 255].choose(&mut rng).unwrap(),
            );
            let entry = if rng.random_ratio(1, 20) {
                prog_len
            } else {
                rng.random_range(0..prog_len)
            };
            let (valid, booleans): (u64, u32) = (rng.random::<u64>() & all, rng.random());
            let mut values = Values::new();
            for (name, value, width) in [
                ("rst_ni", 1, 1),
                ("launch_i", 1, 1),
                ("entry_i", entry, 32),
                ("prog_len_i", prog_len, 32),
                ("lane_mask_i", valid, lanes),
                ("stack_size_i", size, 8),
                ("u_consts__bool_q", u64::from(booleans), 32),
                ("u_stack__sp_q", 1, if subentries == 8 { 11 } else { 10 }),
                ("depth_q", 3, 6),
                ("err_q", 4, 4),
                ("halted_q", 1, 1),
            ] {
                values.insert(name.to_owned(), bits(value, width));
            }
            values.insert("u_consts__loop_q".to_owned(), words(&constants, 32));
            launches.push(values);
            let launch = json!({ "launch": {
                "lanes": lanes, "max_stack_size": most, "subentries": subentries, "dx10_count": dx10_count,
                "prog_len": prog_len, "stack_size": size, "entry": entry,
                "valid": valid, "loop_const": constants, "bool_const": booleans,
            }});
            walk.push((String::new(), launch, Value::Null));
        }
        // The state after a cycle is the one before the next.
        let after = |outputs: &Values| -> Values {
            let next = outputs
                .iter()
                .filter_map(|(name, bits)| Some((name.strip_prefix("next__")?, bits)));
            let known = next.filter(|(name, _)| *name != "u_lanes__active_q");
            known
                .map(|(name, bits)| (name.to_owned(), bits.clone()))
                .collect()
        };
        let mut states: Vec<Values> = module.run(&launches).unwrap().iter().map(after).collect();
        for (walk, state) in walks.iter_mut().zip(&states) {
            walk[0].2 = r700_shown(state, lanes, subentries as usize);
        }
        for _ in 0..STEPS {
            let running: Vec<usize> = (0..WALKS)
                .filter(|i| number(&states[*i]["running_q"]) == 1)
                .collect();
            let mut cases = Vec::new();
            for i in &running {
                let mut case = states[*i].clone();
                let (dw1, u) = (r700_word(&mut rng), rng.random_ratio(1, 2));
                let dw0 = if rng.random_ratio(1, 60) {
                    rng.random()
                } else {
                    rng.random_range(0..200u32)
                };
                let pred = (rng.random::<u64>() | rng.random::<u64>()) & all;
                for (name, value, width) in [
                    ("rst_ni", 1, 1),
                    ("inst_valid_i", 1, 1),
                    ("dw0_i", u64::from(dw0), 32),
                    ("dw1_i", u64::from(dw1), 32),
                    ("u_i", u64::from(u), 1),
                    ("pred_i", pred, lanes),
                ] {
                    case.insert(name.to_owned(), bits(value, width));
                }
                cases.push(case);
                let request = json!({ "dw0": dw0, "dw1": dw1, "u": u64::from(u), "pred": pred });
                walks[*i].push((String::new(), request, Value::Null));
            }
            for (i, outputs) in running.into_iter().zip(module.run(&cases).unwrap()) {
                // An error ends a walk, so most of those that occur often are left out.
                let often = matches!(number(&outputs["next__err_q"]), 1 | 3 | 5..=7);
                if often && rng.random_ratio(29, 30) {
                    walks[i].pop();
                    continue;
                }
                states[i] = after(&outputs);
                let mut shown = r700_shown(&states[i], lanes, subentries as usize);
                shown["exec"] = json!(number(&states[i]["u_lanes__exec_q"]));
                shown["jump"] = json!(number(&states[i]["jump_q"]));
                errors[shown["err"].as_u64().unwrap() as usize] += 1;
                frames = frames.max(shown["frames"].as_array().unwrap().len());
                walks[i].last_mut().unwrap().2 = shown;
            }
        }
        let script = Script {
            lines: walks.into_iter().flatten().collect(),
        };
        let differs = script.judge("r700", &specification("r700"));
        assert_eq!(differs, None, "{}", differs.as_deref().unwrap_or_default());
    }
    assert!(
        errors.iter().all(|n| *n > 0) && errors[0] > 1000 && frames > 5,
        "{errors:?} {frames}"
    );
}
