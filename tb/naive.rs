//! The naive steps that proofs compare the RTL with (`tb/formal/<unit>/step.sv`), held against the Python of the
//! specifications: random states that the invariants allow, random instructions.
//!
//! What runs here is the graph that Yosys makes of the file and that proofs are made with, so that a mistake of its front end
//! would show too.

use rand::seq::IndexedRandom as _;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::design::Build;
use reconverge::prove::{Naive, Values};
use reconverge::r500::R500;
use reconverge::r700::R700;
use reconverge::spa5::Spa5;
use serde_json::{Value, json};

use crate::spec_docs::{Script, specification};

/// `value` in `width` bits.
fn bits(value: u64, width: usize) -> Vec<bool> {
    (0..width).map(|i| value >> i & 1 == 1).collect()
}

fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |n, bit| n << 1 | u64::from(*bit))
}

/// Bit i is what `bit` says of element i.
fn mask(values: &[u64], bit: impl Fn(u64) -> bool) -> u64 {
    (0..)
        .zip(values)
        .map(|(i, value)| u64::from(bit(*value)) << i)
        .sum()
}

/// Elements of `width` bits each, the first lowest.
fn words(values: &[u64], width: usize) -> Vec<bool> {
    values
        .iter()
        .flat_map(|value| bits(*value, width))
        .collect()
}

/// A case of one unit.
struct Case {
    values: Values,
    /// What the Python is asked, and which fields of its answer are compared: two lines, a launch and a step.
    launch: Value,
    step: Value,
}

fn r500_case(rng: &mut Pcg64Mcg, lanes: usize) -> Case {
    let full = rng.random_ratio(5, 6);
    let (loops, addrs) = match full {
        true => (rng.random_range(0..=4usize), rng.random_range(0..=4usize)),
        false => (0, 0),
    };
    // Classes that are rare together make full votes likely.
    let classes: &[u64] = [&[0, 1, 2, 3][..], &[0, 0, 0, 1], &[1, 2, 3], &[0, 3]]
        .choose(rng)
        .unwrap();
    let deep = if full { 31 } else { 3 };
    let (mut st, mut bc, mut lc) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..lanes {
        let class = match *classes.choose(rng).unwrap() {
            2 | 3 if loops == 0 => 1,
            class => class,
        };
        st.push(class);
        let any = *[0, 0, 1, deep, rng.random_range(0..=deep)]
            .choose(rng)
            .unwrap();
        bc.push(if class == 1 { any } else { 0 });
        lc.push(if class > 1 {
            rng.random_range(0..loops as u64)
        } else {
            0
        });
    }
    let frames: Vec<[u64; 3]> = (0..loops)
        .map(|_| {
            let count = *[1, 2, 255, rng.random_range(1..=255)].choose(rng).unwrap();
            [
                *[1, 3].choose(rng).unwrap(),
                count,
                rng.random_range(0..=255),
            ]
        })
        .collect();
    let places: Vec<u64> = (0..addrs).map(|_| rng.random_range(0..=513)).collect();
    let constants: Vec<u64> = (0..32)
        .map(|_| rng.random_range(0..1 << 24) & if rng.random() { !0 } else { !0xff })
        .collect();
    let (offset, lo) = (
        rng.random_range(0..=511) & 0x1f7,
        rng.random_range(0..=60u64),
    );
    let size = *[511, 511, 200, rng.random_range(0..=511)]
        .choose(rng)
        .unwrap();
    let hi = (lo + size).min(511);
    let pc = match rng.random_range(0..20) {
        0 => rng.random_range(0..=1023),
        1 => hi,
        2 => lo,
        _ => rng.random_range(lo..=hi),
    };
    let (start, end) = (rng.random_range(0..=511), rng.random_range(0..=511));
    // Relative to the offset, where it can be.
    let end = if rng.random() && pc >= offset && pc - offset <= 511 {
        pc - offset
    } else {
        end
    };
    let booleans: u32 = rng.random();
    let cmn = rng.random::<u32>() & !3 & !(u32::from(rng.random_ratio(4, 5)) << 3)
        | if rng.random_ratio(9, 10) {
            2
        } else {
            rng.random_range(0..4)
        };
    let mut inst: u32 = rng.random();
    for field in [6, 24, 26] {
        if inst >> field & 3 == 3 && rng.random_ratio(9, 10) {
            inst ^= 3 << field;
        }
    }
    if !full && rng.random_ratio(4, 5) {
        inst &= !0xc7;
    }
    let addr: u32 = rng.random();
    let all = u64::MAX >> (64 - lanes);
    let mut some = || rng.random::<u64>() & all;
    let (alu, cov, pred) = (some(), some() | some(), [some(), some(), some(), some()]);

    let mut values = Values::new();
    let mut set = |name: &str, bits: Vec<bool>| values.insert(name.to_owned(), bits);
    for plane in 0..2 {
        set(
            &format!("u_lanes__st{plane}_q"),
            bits(mask(&st, |x| x >> plane & 1 == 1), lanes),
        );
        set(
            &format!("u_lanes__lc{plane}_q"),
            bits(mask(&lc, |x| x >> plane & 1 == 1), lanes),
        );
    }
    for plane in 0..5 {
        set(
            &format!("u_lanes__bc{plane}_q"),
            bits(mask(&bc, |x| x >> plane & 1 == 1), lanes),
        );
    }
    // Above the top there may be anything.
    let column = |n: usize, junk: u64| -> Vec<u64> {
        (0..4)
            .map(|f| frames.get(f).map_or(junk, |frame| frame[n]))
            .collect()
    };
    set(
        "u_loop_stack__rep_q",
        bits(mask(&column(0, 3), |kind| kind == 3), 4),
    );
    set("u_loop_stack__count_q", words(&column(1, 0x5a), 8));
    set("u_loop_stack__al_q", words(&column(2, 0xc3), 8));
    set("u_loop_stack__depth_q", bits(loops as u64, 3));
    let above: Vec<u64> = (0..4)
        .map(|f| places.get(f).copied().unwrap_or(77))
        .collect();
    set("u_addr_stack__addr_q", words(&above, 10));
    set("u_addr_stack__depth_q", bits(addrs as u64, 3));
    set("u_consts__int_q", words(&constants, 24));
    set("u_consts__bool_q", bits(u64::from(booleans), 32));
    set("running_q", bits(1, 1));
    set("full_q", bits(u64::from(full), 1));
    for (name, value) in [
        ("pc_q", pc),
        ("offset_q", offset),
        ("end_q", offset + end),
        ("lo_q", lo),
        ("hi_q", hi),
    ] {
        set(name, bits(value, 10));
    }
    for (name, value) in [("rst_ni", 1), ("inst_valid_i", 1)] {
        set(name, bits(value, 1));
    }
    for (name, value) in [
        ("cmn_inst_i", cmn),
        ("fc_inst_i", inst),
        ("fc_addr_i", addr),
    ] {
        set(name, bits(u64::from(value), 32));
    }
    for (name, value) in [
        ("alu_i", alu),
        ("cov_i", cov),
        ("pred_r_i", pred[0]),
        ("pred_g_i", pred[1]),
        ("pred_b_i", pred[2]),
        ("pred_a_i", pred[3]),
    ] {
        set(name, bits(value, lanes));
    }
    Case {
        values,
        launch: json!({
            "launch": {
                "lanes": lanes, "full": u64::from(full), "start": start, "end": end, "code_addr": lo,
                "code_size": size, "offset": offset, "bool_const": booleans, "int_const": constants,
            },
            "state": { "st": st, "bc": bc, "lc": lc, "loops": frames, "addrs": places, "pc": pc },
        }),
        step: json!({ "cmn": cmn, "inst": inst, "addr": addr, "alu": alu, "pred": pred, "cov": cov }),
    }
}

/// The state after a step, as the Python shows it.
fn r500_state(case: &Case, next: &Values, lanes: usize) -> Value {
    let of = |name: &str| &next[&format!("next__{name}")][..];
    let planes = |names: &[&str], lane: usize| -> u64 {
        let bits: Vec<bool> = names
            .iter()
            .map(|name| of(&format!("u_lanes__{name}_q"))[lane])
            .collect();
        number(&bits)
    };
    let per_lane =
        |names: &[&str]| -> Vec<u64> { (0..lanes).map(|lane| planes(names, lane)).collect() };
    let frame = |f: usize| {
        let byte = |name: &str| number(&of(name)[8 * f..8 * f + 8]);
        let kind = if of("u_loop_stack__rep_q")[f] { 3 } else { 1 };
        json!([
            kind,
            byte("u_loop_stack__count_q"),
            byte("u_loop_stack__al_q")
        ])
    };
    let loops = number(of("u_loop_stack__depth_q")) as usize;
    let addrs = number(of("u_addr_stack__depth_q")) as usize;
    let places = of("u_addr_stack__addr_q").chunks(10).map(number);
    let alu = if of("alu_clr_q")[0] {
        json!(0)
    } else {
        case.step["alu"].clone()
    };
    let flag = |name: &str| number(of(name));
    json!({
        "st": per_lane(&["st0", "st1"]), "bc": per_lane(&["bc0", "bc1", "bc2", "bc3", "bc4"]),
        "lc": per_lane(&["lc0", "lc1"]), "loops": (0..loops).map(frame).collect::<Vec<_>>(),
        "addrs": places.take(addrs).collect::<Vec<_>>(), "pc": flag("pc_q"), "al": flag("u_loop_stack__al_top_q"),
        "err": flag("err_q"), "halted": flag("halted_q"), "done": flag("done_q"), "alu": alu,
    })
}

/// The launch that a case begins with, which the Python answers too.
fn r500_launched(case: &Case) -> Values {
    let of = |name: &str| case.launch["launch"][name].as_u64().unwrap();
    let mut values = Values::new();
    for (name, value) in [
        ("fc_ctrl_i", of("full") << 31),
        ("code_addr_i", of("end") << 16 | of("start")),
        ("code_range_i", of("code_size") << 16 | of("code_addr")),
        ("code_offset_i", of("offset")),
    ] {
        values.insert(name.to_owned(), bits(value, 32));
    }
    // Whatever was there before is forgotten.
    for (name, value) in &case.values {
        if name.starts_with("u_") {
            values.insert(name.clone(), value.clone());
        }
    }
    for name in ["rst_ni", "launch_i", "halted_q"] {
        values.insert(name.to_owned(), bits(1, 1));
    }
    values.insert("err_q".to_owned(), bits(5, 4));
    values
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn the_naive_step_of_r500_is_the_step_of_its_specification() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut errors = [0; 10];
    let mut script = Script::default();
    for lanes in [4, 16] {
        let naive = Naive::of::<R500>(&Build::from(lanes)).unwrap();
        let lanes = lanes as usize;
        let cases: Vec<Case> = (0..4000).map(|_| r500_case(&mut rng, lanes)).collect();
        let launches: Vec<Values> = cases.iter().map(r500_launched).collect();
        let steps: Vec<Values> = cases.iter().map(|case| case.values.clone()).collect();
        let launched = naive.run(&launches).unwrap();
        let stepped = naive.run(&steps).unwrap();
        for (i, (case, (launched, next))) in
            cases.iter().zip(launched.iter().zip(&stepped)).enumerate()
        {
            let mut shown = r500_state(case, launched, lanes);
            shown.as_object_mut().unwrap().remove("alu");
            assert_eq!(number(&launched["next__running_q"]), 1);
            assert_eq!(launched["next__end_q"], case.values["end_q"]);
            assert_eq!(launched["next__hi_q"], case.values["hi_q"]);
            script.lines.push((
                format!("{lanes} lanes, launch {i}"),
                case.launch.clone(),
                shown,
            ));
            let state = r500_state(case, next, lanes);
            let running = state["halted"] == 0 && state["done"] == 0;
            assert_eq!(number(&next["next__running_q"]) == 1, running);
            errors[state["err"].as_u64().unwrap() as usize] += 1;
            script
                .lines
                .push((format!("{lanes} lanes, step {i}"), case.step.clone(), state));
        }
    }
    assert!(errors.iter().all(|n| *n > 0), "{errors:?}");
    assert!(errors[0] > 2000, "{errors:?}");
    let differs = script.judge("r500", &specification("r500"));
    assert_eq!(differs, None, "{}", differs.as_deref().unwrap_or_default());

    // It can fail.
    let (_, _, answer) = script.lines.last_mut().unwrap();
    answer["pc"] = json!(1024);
    assert!(script.judge("r500", &specification("r500")).is_some());
}

// ---- r700: walks, in which the naive step goes from its own state to the next --------------------------

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
        let naive = Naive::of::<R700>(&build).unwrap();
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
        let mut states: Vec<Values> = naive.run(&launches).unwrap().iter().map(after).collect();
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
            for (i, outputs) in running.into_iter().zip(naive.run(&cases).unwrap()) {
                // An error ends a walk: of those that are met often most are not made.
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
        let mut script = Script::default();
        script.lines = walks.into_iter().flatten().collect();
        let differs = script.judge("r700", &specification("r700"));
        assert_eq!(differs, None, "{}", differs.as_deref().unwrap_or_default());
    }
    assert!(
        errors.iter().all(|n| *n > 0) && errors[0] > 1000 && frames > 5,
        "{errors:?} {frames}"
    );
}

// ---- spa5: walks too; an UNWIND is one step of the Python and several cycles of the naive one -------------

/// A program's place: base and size, in bytes.
#[derive(Clone, Copy)]
struct Place {
    base: u64,
    size: u64,
}

/// A word and the constant beside it: mostly legal, and such that tokens nest and are met again.
fn spa5_word(rng: &mut Pcg64Mcg, pc: u64, program: Place) -> (u64, u32) {
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
fn spa5_launch(rng: &mut Pcg64Mcg, lanes: usize, program: Place) -> (Values, Value) {
    let all = u64::MAX >> (64 - lanes);
    let entry = 8 * rng.random_range(0..program.size / 8);
    let launched = if rng.random_ratio(1, 40) {
        0
    } else {
        (rng.random::<u64>() | rng.random::<u64>()) & all
    };
    let mut values = Values::new();
    // Whatever was there before is forgotten.
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
fn spa5_step(rng: &mut Pcg64Mcg, state: &Values, lanes: usize, program: Place) -> (Values, Value) {
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
        let naive = Naive::of::<Spa5>(&build).unwrap();
        let lanes = lanes as usize;
        let size = 0x200;
        let programs: Vec<Place> = (0..WALKS)
            .map(|_| Place {
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
        let mut states: Vec<Values> = naive
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
            let outputs = naive.run(&cases).unwrap();
            // Walk, request, A and T of each step that counts.
            let mut made = Vec::new();
            for ((i, (_, request)), outputs) in running.into_iter().zip(asked).zip(outputs) {
                // An error ends a walk: most are not made.
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
                for (i, outputs) in unwinding.into_iter().zip(naive.run(&cases).unwrap()) {
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
        let mut script = Script::default();
        script.lines = walks.into_iter().flatten().collect();
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
