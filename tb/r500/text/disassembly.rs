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

/// The words of flow control are given if fields cannot say all of them, and only then.
#[test]
fn only_meaningless_bits_need_words() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let free = Fc::RESERVED;
    for n in 0..20_000 {
        let [cmn, inst, addr] = rng.random();
        let slot = match n % 3 {
            0 => Slot::new(cmn, inst, addr),
            // Everything a mnemonic can say.
            1 => Slot::new(cmn & 0x57c | 2, inst & !free.inst, addr & !free.addr),
            _ => Slot::new(0x402, inst, addr),
        };
        let text = disassemble(slot, 0, &Registers::default());
        let sayable =
            slot.cmn & !0x57f == 0 && slot.inst & free.inst == 0 && slot.addr & free.addr == 0;
        assert!(!text.starts_with('.'), "{text}");
        let words = text.split(" ; ").next().unwrap().ends_with(']');
        assert!(slot.cmn & 3 != 2 || words != sayable, "{text}");
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
