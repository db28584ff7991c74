//! The golden model's own: explanations, and any state with any pins.

use super::brx::brx_pins;
use super::*;

/// What a report says of a field names the rule and not just the instruction.
#[test]
fn the_golden_explains_each_field_by_its_rule() {
    // Instructions that lead there; then the clock explained, field, thread, and what must be said.
    type Row<'a> = (&'a [In], In, &'a str, usize, &'a str);
    let set_up = |word| exec(off(word, 0x78));
    let some = exec_p0(off(BRA | P0, 0x78), 0b0101);
    let leave = |word| exec(word | ALWAYS);
    #[rustfmt::skip]
    let rows: &[Row] = &[
        (&[], exec(NOP), "pc", 0, "OTHER: seq(pc)"),
        (&[], exec(NOP), "active", 0, "OTHER: active stays"),
        (&[], some, "active", 2, "divergent, active = T, the thread is in T: P0 is 1, CC test T"),
        (&[], some, "active", 1, "not in T: P0 is 0"),
        (&[], some, "top_mask", 1, "BRA pushes DIV: mask = A & ~T"),
        (&[], some, "top_addr", 0, "addr = seq(pc)"),
        (&[], some, "pc", 0, "taken side first"),
        (&[], some, "vis", 0, "new_vis: as it was"),
        (&[], exec_p0(off(BRA | P0 | U, 0x78), 1), "pc", 0, ".U and T was not A"),
        (&[], exec(off(BRA | ALWAYS, 0x78)), "sp", 0, "nothing is pushed"),
        (&[], exec(off(BRA | ALWAYS, 0x78)), "pc", 0, "T = A"),
        (&[], set_up(SSY), "vis", 0, "SSY pushes SSY: new_vis: bit 0 set"),
        (&[], set_up(PRET), "top_type", 0, "PRET pushes RET"),
        (&[], set_up(CAL), "top_addr", 0, "addr = seq(pc)"),
        (&[], set_up(PBK), "top_addr", 0, "addr = norm(pc + 8 + off24)"),
        (&[], set_up(PBK), "top_vis", 0, "vis_saved is vis before"),
        (&[], set_up(SSY), "d_brk", 0, "only BRK sets d_brk"),
        (&[set_up(PBK)], exec_p0(BRK | P0, 0b0100), "d_brk", 2, "d_brk = d_brk | T, the thread is in T: P0 is 1"),
        (&[set_up(PBK)], exec_p0(BRK | 0x8_0006, 0b0100), "active", 2, "!P0 is 0, CC test GE of OS 00 is 1"),
        (&[set_up(PBK)], exec_p0(BRK | P0, 1), "pc", 0, "a thread is still active: seq(pc)"),
        (&[set_up(PBK)], exec_p0(BRK | P0, 1), "sp", 0, "a leaving instruction pushes nothing"),
        (&[set_up(PBK)], leave(BRK), "status", 0, "no thread is active any more, so UNWIND"),
        (&[set_up(PBK)], leave(BRK), "pc", 0, "pc stays until"),
        (&[set_up(PBK)], leave(BRK), "sp", 0, "the first pop comes in the next cycle"),
        (&[set_up(PBK), leave(BRK)], In::default(), "d_brk", 1,
         "PBK popped: d_brk = d_brk & ~mask, the thread is in the mask"),
        (&[set_up(PBK), leave(BRK)], In::default(), "pc", 0, "pc = its address"),
        (&[set_up(PBK), leave(BRK)], In::default(), "active", 1, "the thread is in the mask"),
        (&[set_up(PBK), leave(BRK)], In::default(), "vis", 0, "vis_saved of the token"),
        (&[set_up(PBK), set_up(SSY), leave(BRK)], In::default(), "active", 1,
         "SSY popped: mask minus d_brk, d_cont, d_ret and exited: the thread is in the mask, held by d_brk"),
        (&[set_up(PBK), set_up(SSY), leave(BRK)], In::default(), "d_brk", 1,
         "SSY popped: only PBK ends the wait of d_brk"),
        (&[set_up(PBK), set_up(SSY), leave(BRK)], In::default(), "top_mask", 1, "the token below it is on top now"),
        (&[leave(EXIT)], In::default(), "status", 0, "the stack is empty: DONE"),
        (&[leave(EXIT)], In::default(), "pc", 0, "keeps the address of the last instruction"),
        (&[leave(EXIT)], stalled::<Spa5>(), "status", 0, "nothing changes at all"),
        (&[], leave(BRK), "pc", 0, "error 2 BRK_NO_PBK: BRK by a thread, and vis is 0000"),
        (&[], leave(BRK), "active", 0, "everything else as before"),
        (&[], exec(off(SSY, -0x20)), "err", 0, "error 7 TARGET_RANGE: target of SSY, pc + 8 + off24 = -16"),
        (&[], exec(off(CAL, 4)), "err", 0, "error 8 TARGET_MISALIGNED: target of CAL"),
        (&[], exec(BPT), "err", 0, "error 10 UNSUPPORTED: BPT"),
        (&[], exec(JMP | CONSTANT_BANK), "err", 0, "constant-bank form of JMP"),
        (&[], exec(SSY | CONSTANT_BANK), "top_addr", 0, "addr = norm(pc + 8 + bits 23:0 of const_i)"),
        (&[], exec(JMP | 0x80 << 20 | ALWAYS), "pc", 0, "spa5-4.3-e JMP: T = A: norm(imm32)"),
        (&[], exec(JCAL | 0x80 << 20), "top_addr", 0, "JCAL pushes RET: addr = seq(pc)"),
        (&[], exec(JMP | 0x4 << 20 | ALWAYS), "err", 0, "error 8 TARGET_MISALIGNED: target of JMP, imm32 = 4"),
        (&[], exec_p0(KIL | P0, 1), "killed", 0, "spa5-4.3-h KIL: killed = killed | T, the thread is in T"),
        (&[], exec_p0(KIL | P0, 1), "exited", 1, "KIL: exited = exited | T, the thread is not in T"),
        (&[], exec_p0(EXIT | P0, 1), "killed", 0, "EXIT: only KIL sets killed"),
        (&[], exec(EXIT | 0x7_001E), "err", 0, "CC test RLE of EXIT"),
        (&[], exec(ILLEGAL_WORD), "err", 0, "error 9 ILLEGAL"),
        (&[], exec(NOP), "err", 0, "no error condition of OTHER holds"),
        (&[exec(off(BRA | ALWAYS, 0xFE8)), exec(NOP)], exec(NOP), "err", 0,
         "error 6 PC_RANGE: pc 0x1008 is not in 0x0..0x1000"),
        (&[], In::default(), "pc", 0, "no instruction: nothing changes"),
        (&[], In::reset(), "exited", 0, "reset"),
        (&[leave(EXIT), In::default()], In::default(), "pc", 0, "nothing changes until a launch"),
        (&[leave(EXIT), In::default()], launch(0, 8, 1), "exited", 1, "exited = ~launch_mask"),
        (&[leave(EXIT), In::default()], launch(0, 8, 0), "status", 0, "launch_mask is 0, so DONE"),
        (&[], exec(NOP), "active", LANES, "there is no such thread"),
        (&[], exec(off(BRX | ALWAYS, 0)), "err", 0, "error 10 UNSUPPORTED: BRX"),
    ];
    let run = |mut golden: Golden, (before, pins, field, thread, said): &Row| {
        golden.cycle(&launch(0, SIZE, ALL));
        for pins in *before {
            golden.cycle(pins);
            assert_ne!(golden.step(), Step::Failed);
        }
        let text = golden.explain(pins, field, *thread);
        assert!(
            text.contains(said),
            "{field}[{thread}]: {text:?} lacks {said:?}"
        );
    };
    for row in rows {
        run(Golden::new(LANES), row);
    }
    let brx = |p0, r| brx_pins(off(BRX | P0, -0x10), p0, r);
    #[rustfmt::skip]
    let rows: &[Row] = &[
        (&[], brx(0, [0; 4]), "pc", 0, "spa5-A-b BRX: T is empty: seq(pc)"),
        (&[], brx(1, [0; 4]), "pc", 0, "pc stays, it runs again for T only"),
        (&[], brx(1, [0; 4]), "top_mask", 1, "mask = A & ~T"),
        (&[], brx(ALL, [8; 4]), "pc", 0, "register of the lowest active thread"),
        (&[], brx(ALL, [8, 16, 8, 8]), "active", 1, "active = G"),
        (&[], brx(ALL, [8, 16, 8, 8]), "top_mask", 1, "mask = A & ~G"),
        (&[], brx(ALL, [8, 16, 8, 8]), "top_addr", 0, "addr = pc, the instruction itself"),
        (&[], brx(ALL, [SIZE; 4]), "err", 0, "register of the lowest active thread = 4096, not in 0x0..0x1000"),
    ];
    for row in rows {
        run(Golden::with(LANES, 1, true), row);
    }
    let full = exec(off(SSY, 0x78));
    let row = (
        &[full][..],
        full,
        "err",
        0,
        "push of SSY, and all 1 entries hold tokens",
    );
    run(Golden::with(LANES, 1, true), &row);
}

/// Whatever the host loads or asks for, nothing panics, and no bit of a thread that does not exist is set.
#[test]
fn the_golden_takes_any_state_and_any_pins() {
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    for (lanes, depth) in [(1, 1), (4, 4), (64, 64), (33, 1024)] {
        let all = u64::MAX >> (64 - lanes);
        let mut golden = Golden::with(lanes, depth, true);
        for _ in 0..20_000 {
            let mut state = State::default();
            rng.fill(bytes_of_mut(&mut state));
            state.sp &= 0x7FF;
            (state.status, state.err, state.vis) =
                (state.status & 3, state.err & 15, state.vis & 15);
            golden.load(&state);
            for _ in 0..3 {
                let mut pins = In::default();
                rng.fill(bytes_of_mut(&mut pins));
                (pins.rst_n, pins.stall) = (u8::from(pins.rst_n > 3), pins.stall & 1);
                (pins.launch, pins.inst_valid) = (pins.launch & 1, pins.inst_valid & 1);
                if rng.random() {
                    pins.word = pins.word >> 8 | 0xE2 << 56;
                }
                for field in ["active", "pc", "err", "top_mask", "d_ret", "vis", "sp"] {
                    golden.explain(&pins, field, usize::from(rng.random::<u8>()));
                }
                let s = golden.cycle(&pins);
                let shown = s.active | s.exited | s.d_brk | s.d_cont | s.d_ret | s.top_mask;
                assert_eq!(shown & !all, 0);
            }
        }
    }
}
