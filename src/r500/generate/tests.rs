//! Tests of the random programs. That structured ones are structured and end: `tb/programs.rs` and `tb/alone.rs`, for all units.

use std::collections::BTreeSet;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::super::scalar::Scalar;
use super::*;
use crate::r500::isa::{AOp, BOp, Fc, Op, PredSel};
use crate::r500::program::MEMORY_SLOTS;

fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

fn flow(program: &Program) -> impl Iterator<Item = Fc> {
    program.slots.iter().filter_map(|s| Fc::decode(*s))
}

#[test]
fn random_options_make_structured_programs() {
    for seed in 1..=400 {
        let mut rng = rng(seed);
        let options = Options::random(&mut rng);
        let p = build(&mut rng, &options).expect("fits at the first try");
        let scalar = Scalar::new(&p).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(scalar.possible_errors(), 0, "seed {seed}");
        assert!(
            options.else_if || !scalar.k_depends_on_others(),
            "seed {seed}"
        );
    }
}

/// Each limit of r500-8.2 is driven to its last value, and none is exceeded.
#[test]
fn limits_are_reached_exactly() {
    let (mut branch, mut loops, mut calls, mut partial) = (0, 0, 0, 0);
    for seed in 1..=60 {
        let full = Options {
            limits16: 16,
            ..Options::ALL
        };
        let p = structured(&mut rng(seed), &full);
        let d = Scalar::new(&p)
            .expect("structured")
            .depth()
            .expect("no recursion");
        branch = branch.max(d.branch);
        loops = loops.max(d.loops);
        calls = calls.max(d.calls);
        let p = structured(
            &mut rng(seed),
            &Options {
                limits16: 16,
                ..Options::PARTIAL
            },
        );
        let d = Scalar::new(&p)
            .expect("structured")
            .depth()
            .expect("no recursion");
        partial = partial.max(d.branch);
    }
    assert_eq!((branch, loops, calls, partial), (32, 4, 4, 4));
}

/// A construct that a generator never makes is never tested.
#[test]
fn every_construct_occurs() {
    let mut seen = BTreeSet::new();
    for seed in 1..=300 {
        // Without noise there is no unreachable code.
        let options = Options {
            noise: false,
            ..Options::ALL
        };
        let p = structured(&mut rng(seed), &options);
        for fc in flow(&p) {
            let i = fc;
            let count = p.regs.int_const[usize::from(fc.int_addr)] & 0xff;
            seen.insert(match (i.op, i.a_op, i.b_else) {
                (Op::Jump, AOp::Push, _) if i.jump_func == 0xff => "CALL",
                (Op::Jump, AOp::Push, _) => "CALL if",
                (Op::Jump, AOp::Pop, _) if i.b_op0 == BOp::Incr => "RETURN if",
                (Op::Jump, AOp::Pop, _) if i.b_op1 == BOp::None => "RETURN without counters",
                (Op::Jump, AOp::Pop, _) => "RETURN",
                (Op::Jump, _, true) if i.b_op0 == BOp::Incr => "ELSE IF",
                (Op::Jump, _, true) => "ELSE",
                (Op::Loop, ..) if i.b_op0 == BOp::Incr => "LOOP for some lanes",
                (Op::Rep, ..) if i.b_op0 == BOp::Incr => "REP for some lanes",
                (Op::Loop | Op::Rep, ..) if count == 0 => "count 0",
                (Op::Loop | Op::Rep, ..) if count == 1 => "count 1",
                (Op::Loop | Op::Rep, ..) if count >= 10 => "long",
                (Op::Loop, ..) => "LOOP",
                (Op::Rep, ..) => "REP",
                (Op::BreakLoop | Op::BreakRep, ..) if i.jump_func == 0xff => "BREAK",
                (Op::BreakLoop | Op::BreakRep, ..) => "BREAK if",
                (Op::Continue, ..) if i.jump_func == 0xff => "CONTINUE",
                (Op::Continue, ..) => "CONTINUE if",
                _ if i.jump_func == 0xff => "JUMP",
                _ if i.b_op0 == BOp::Incr && i.b_op1 == BOp::Incr => "IF with ELSE",
                _ if i.b_op0 == BOp::Incr => "IF",
                _ => "other",
            });
            seen.insert(if fc.jump_global { "global" } else { "relative" });
            if fc.pred_inv && fc.pred_sel == PredSel::A && i.jump_func == 0xcc {
                seen.insert("inverted A");
            }
        }
    }
    let wanted = [
        "BREAK",
        "BREAK if",
        "CALL",
        "CALL if",
        "CONTINUE",
        "CONTINUE if",
        "ELSE",
        "ELSE IF",
        "IF",
        "IF with ELSE",
        "JUMP",
        "LOOP",
        "LOOP for some lanes",
        "REP",
        "REP for some lanes",
        "RETURN",
        "RETURN if",
        "RETURN without counters",
        "count 0",
        "count 1",
        "global",
        "inverted A",
        "long",
        "other",
        "relative",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), wanted);
}

/// The list of Mesa's words under the table of r500-7.1, LOOP with bit 5.
#[test]
fn mesa_programs_have_mesas_words() {
    const WORDS: [u32; 6] = [
        0x1a00_0f00,
        0x1200_0f00,
        0x0401_0010,
        0x0101_0020,
        0x1000_0021,
        0x1000_ff22,
    ];
    for seed in 1..=100 {
        let p = structured(&mut rng(seed), &Options::MESA);
        for fc in flow(&p) {
            let word = fc.encode().inst;
            let leaves = matches!(word & !0x1f_0000, 0x1400_ff05 | 0x1400_ff07);
            assert!(WORDS.contains(&word) || leaves, "seed {seed}: {word:08x}");
            assert_eq!(fc.encode().cmn, Fc::NOP.encode().cmn);
        }
    }
}

#[test]
fn partial_programs_have_no_stacks() {
    for seed in 1..=100 {
        let options = Options {
            noise: false,
            ..Options::PARTIAL
        };
        let p = structured(&mut rng(seed), &options);
        assert!(!p.regs.full());
        assert!(flow(&p).all(|fc| fc.op == Op::Jump && fc.a_op == AOp::None));
    }
}

#[test]
fn ignore_uncovered_is_set_where_asked() {
    for (ignore, ends_if) in [
        (Ignore::Never, false),
        (Ignore::Always, true),
        (Ignore::Mesa, false),
    ] {
        let options = Options {
            ignore,
            noise: false,
            ..Options::ALL
        };
        for seed in 1..=50 {
            let p = structured(&mut rng(seed), &options);
            for i in flow(&p) {
                let is_if = i.op == Op::Jump && i.a_op == AOp::None && i.b_op0 == BOp::Incr;
                let is_endif = i.op == Op::Jump && i.b_op0 == BOp::Decr;
                if is_if && !i.b_else {
                    assert_eq!(i.ignore_uncovered, ignore != Ignore::Never);
                } else if is_endif {
                    assert_eq!(i.ignore_uncovered, ends_if);
                }
            }
        }
    }
}

/// Both outcomes must occur: a change that never mattered would test nothing, and one that
/// always broke everything at once would be no better than `raw`.
#[test]
fn near_legal_programs_are_near_legal() {
    let (mut inside, mut outside) = (0, 0);
    for seed in 1..=500 {
        let p = near_legal(&mut rng(seed));
        match Scalar::new(&p) {
            Ok(_) => inside += 1,
            Err(_) => outside += 1,
        }
    }
    assert!(
        inside > 100 && outside > 100,
        "{inside} inside, {outside} outside"
    );
}

#[test]
fn raw_programs_fit_the_memory_and_come_in_all_sorts() {
    let mut sorts = BTreeSet::new();
    let (mut partial, mut illegal) = (0, 0);
    for seed in 1..=300 {
        let p = raw(&mut rng(seed));
        assert!(
            p.slots.len() + usize::from(p.regs.offset()) <= MEMORY_SLOTS,
            "seed {seed}"
        );
        let reserved = |i: &Fc| i.b_op0 == BOp::Reserved || i.a_op == AOp::Reserved;
        partial += u32::from(!p.regs.full());
        illegal += u32::from(flow(&p).any(|fc| reserved(&fc)));
        sorts.insert(p.name);
    }
    assert_eq!(
        sorts.into_iter().collect::<Vec<_>>(),
        ["raw_brim", "raw_mapped", "raw_weighted", "raw_wild"]
    );
    assert!((20..100).contains(&partial), "{partial}");
    assert!((20..150).contains(&illegal), "{illegal}");
}
