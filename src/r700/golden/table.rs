//! The table of the words beside what the golden model reads, which does not use it.

use super::*;
use crate::r700::isa::{AluOp, CfOp, Word, tests::every_dw1};
use crate::r700::program::Quad;

const CONTROL: [(CfOp, u32); 14] = [
    (CfOp::LoopStart, LOOP_START),
    (CfOp::LoopEnd, LOOP_END),
    (CfOp::LoopStartDx10, LOOP_START_DX10),
    (CfOp::LoopStartNoAl, LOOP_START_NO_AL),
    (CfOp::LoopContinue, LOOP_CONTINUE),
    (CfOp::LoopBreak, LOOP_BREAK),
    (CfOp::Jump, JUMP),
    (CfOp::Push, PUSH),
    (CfOp::PushElse, PUSH_ELSE),
    (CfOp::Else, ELSE),
    (CfOp::Pop, POP),
    (CfOp::Call, CALL),
    (CfOp::Return, RETURN),
    (CfOp::Kill, KILL),
];

const ALU_OPS: [(AluOp, u32); 7] = [
    (AluOp::Alu, ALU),
    (AluOp::AluPushBefore, ALU_PUSH_BEFORE),
    (AluOp::AluPopAfter, ALU_POP_AFTER),
    (AluOp::AluPop2After, ALU_POP2_AFTER),
    (AluOp::AluContinue, ALU_CONTINUE),
    (AluOp::AluBreak, ALU_BREAK),
    (AluOp::AluElseAfter, ALU_ELSE_AFTER),
];

#[test]
fn golden_model_reads_what_the_table_says() {
    for dw1 in every_dw1() {
        let quad = Quad {
            dw0: !dw1,
            dw1,
            u: false,
        };
        let read = General::of(dw1);
        let word = Word::decode(quad);
        match word {
            Word::Alu(alu) => {
                assert!(ALU_OPS.contains(&(alu.op, bits(dw1, 29, 26))), "{dw1:08x}");
            }
            Word::Cf(cf) => {
                let slot = !cf.op.is_illegal() && CONTROL.iter().all(|(op, _)| *op != cf.op);
                assert_eq!(is_slot(read.op), slot, "{dw1:08x}");
                let control = CONTROL.contains(&(cf.op, read.op));
                assert!(slot || cf.op.is_illegal() || control, "{dw1:08x}");
                let said = (cf.cond.bits(), cf.cf_const, cf.pop_count, cf.call_count);
                let of = (
                    read.cond,
                    read.cf_const as u8,
                    read.pops as u8,
                    read.calls as u8,
                );
                assert_eq!(said, of, "{dw1:08x}");
                assert_eq!((cf.vpm, cf.wqm), (read.vpm, read.wqm), "{dw1:08x}");
                assert_eq!(cf.end, bits(dw1, 21, 21) == 1, "{dw1:08x}");
            }
            Word::Mem(mem) => {
                assert!(is_slot(read.op), "{dw1:08x}");
                assert_eq!((mem.vpm, mem.wqm), (read.vpm, read.wqm), "{dw1:08x}");
                assert_eq!(mem.end, bits(dw1, 21, 21) == 1, "{dw1:08x}");
            }
            Word::Reserved(..) => {
                let named = ALU_OPS
                    .iter()
                    .any(|(_, number)| *number == bits(dw1, 29, 26));
                assert!(
                    if is_alu(dw1) {
                        !named
                    } else {
                        !is_slot(read.op)
                    },
                    "{dw1:08x}"
                );
            }
        }
        let alu = bits(dw1, 29, 26) == 12 && is_alu(dw1) || matches!(word, Word::Alu(_));
        assert_eq!(is_alu(dw1), alu, "{dw1:08x}");
    }
}
