//! Words to text and back.

use super::*;

#[test]
fn disassembly_names_statement_target_and_constants() {
    let p = example("loop_continue_break.s");
    let line = |pc: u16| disassemble(p.slot(pc), pc, &p.regs);
    assert_eq!(
        line(0),
        "LOOP func=0x00 any int=5 -> 0x00C ; LOOP i5 -> 0x00C, i5: count 3, init 10"
    );
    assert_eq!(line(1), "ALU");
    assert_eq!(
        line(8),
        "BREAKLOOP func=0xFF b1=DECR pop=1 -> 0x00C ; BREAK, 1 deep -> 0x00C"
    );
    assert_eq!(
        line(11),
        "ENDLOOP func=0xFF any int=5 -> 0x001 ; ENDLOOP -> 0x001, i5: step -2"
    );
    assert_eq!(line(12), "OUT ; END_ADDR");
    let p = example("call_return.s");
    assert_eq!(
        disassemble(p.slots[1], 0x21, &p.regs),
        "JUMP func=0xF0 any a=PUSH b1=INCR -> 0x004 ; CALLC alu -> 0x024"
    );
    let odd = Slot::new(0x402, 0x2000_0f08, 0);
    assert_eq!(
        disassemble(odd, 9, &p.regs),
        "JUMP func=0x0F -> 0x000 [0x00000402 0x20000F08 0x00000000] ; bits without meaning set; no statement -> 0x020"
    );
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x5235_3030),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

prop_compose! {
    fn any_slot()(cmn: u32, inst: u32, addr: u32, rest: [u32; 3], kind in 0..5) -> Slot {
        match kind {
            0 => Slot::new(cmn, inst, addr),
            // Flow control without reserved bits: everything a mnemonic can say.
            1 => Slot::new(cmn & 0x57c | 2, inst & !Fc::RESERVED.inst, addr & !Fc::RESERVED.addr),
            2 => Slot::new(0x402, inst, addr),
            3 => Slot { rest, ..Slot::new(cmn, inst, addr) },
            _ => Slot { cmn: cmn & 3, ..Slot::default() },
        }
    }
}

prop_compose! {
    fn any_registers()(
        fc_ctrl in prop_oneof![Just(0), Just(1 << 31), any::<u32>()],
        code_addr in prop_oneof![any::<u32>().prop_map(|v| v & 0x01ff_01ff), any::<u32>()],
        code_range in prop_oneof![Just(511u32 << 16), any::<u32>().prop_map(|v| v & 0x01ff_01ff), any::<u32>()],
        code_offset in prop_oneof![Just(0), 0u32..512, any::<u32>()],
        bool_const in prop_oneof![Just(0), any::<u32>()],
        ints in prop::collection::vec((0usize..32, prop_oneof![any::<u32>(), 0u32..1 << 24]), 0..6),
    ) -> Registers {
        let mut int_const = [0; 32];
        for (n, k) in ints {
            int_const[n] = k;
        }
        Registers { fc_ctrl, code_addr, code_range, code_offset, bool_const, int_const }
    }
}

prop_compose! {
    fn any_program()(
        regs in any_registers(),
        slots in prop::collection::vec(any_slot(), 1..40),
    ) -> Program {
        let mut slots = slots;
        slots.truncate(512 - usize::from(regs.offset()));
        Program { name: "p".to_owned(), regs, slots, ..Program::default() }
    }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn fields_round_trip(cmn: u32, inst: u32, addr: u32) {
        let free = Fc::RESERVED;
        let slot = Slot::new(cmn & !3 | 2, inst, addr);
        let said = Slot::new(slot.cmn & !free.cmn, inst & !free.inst, addr & !free.addr);
        prop_assert_eq!(Fc::decode(slot).map(Fc::encode), Some(said));
    }

    #[test]
    fn disassembly_assembles_to_the_same_words(slot in any_slot(), pc in 0u16..512, regs in any_registers()) {
        let text = disassemble(slot, pc, &regs);
        prop_assert!(!text.contains('\n'));
        let again = assemble(&text, "t.s");
        prop_assert!(again.is_ok(), "{}: {}", text, again.unwrap_err());
        prop_assert_eq!(again.unwrap().slots, vec![slot], "{}", text);
    }

    /// The words of flow control are given if fields cannot say all of them, and only then.
    #[test]
    fn only_meaningless_bits_need_words(slot in any_slot()) {
        let text = disassemble(slot, 0, &Registers::default());
        let sayable = slot.cmn & !0x57f == 0
            && slot.inst & Fc::RESERVED.inst == 0
            && slot.addr & Fc::RESERVED.addr == 0;
        prop_assert!(!text.starts_with('.'), "{}", text);
        let words = text.split(" ; ").next().unwrap().ends_with(']');
        prop_assert!(slot.cmn & 3 != 2 || words != sayable, "{}", text);
    }
}

proptest! {
    #![proptest_config(config(1_000))]

    #[test]
    fn programs_round_trip(program in any_program()) {
        let text = program_text(&program);
        prop_assert_eq!(&assemble(&text, "p.s").unwrap(), &program, "{}", text);
        let hex = hex_text(&program);
        prop_assert_eq!(&parse_hex(&hex, "p.hex").unwrap(), &program, "{}", hex);
        // `load` tells the two by their content, whatever the extension.
        let options = Options::default();
        prop_assert_eq!(&load(text.as_bytes(), "p.hex", &options).unwrap().program, &program);
        prop_assert_eq!(&load(hex.as_bytes(), "p.s", &options).unwrap().program, &program);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "\\PC{0,200}") {
        let options = Options::default();
        let _ = load(&bytes, "x", &options);
        let _ = load(text.as_bytes(), "x", &options);
        let _ = assemble(&text, "x.s");
        let _ = parse_hex(&text, "x.hex");
        let _ = import(text.as_bytes(), "x", &options);
    }
}

/// What the disassembler calls a statement depends neither on IGNORE_UNCOVERED nor on the target.
#[test]
fn a_statement_name_survives_irrelevant_bits() {
    let mut named = 0;
    for text in texts::inputs("tb/r500/assembled.txt") {
        for slot in assemble(&text, "t.s").map_or(Vec::new(), |program| program.slots) {
            let Some(name) = statement(slot) else {
                continue;
            };
            for (ign, target) in (0..2).flat_map(|ign| [0, 1, 511].map(|target| (ign, target))) {
                let mut changed = slot;
                changed.inst = slot.inst & !(1 << 28) | ign << 28;
                changed.addr = slot.addr & !(511 << 16) | target << 16;
                assert_eq!(statement(changed).as_ref(), Some(&name), "{text}");
                named += 1;
            }
        }
    }
    assert!(named > 500, "{named}");
}
