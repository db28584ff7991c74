//! The command of these designs: `cargo run --release -- --help`.

use std::process::ExitCode;

use own_unit::RpStack;
use own_unit::answers::Answers;
use own_unit::axil_regs::AxilRegs;
use own_unit::axil_transactions::AxilTransactions;
use own_unit::cdc_fifo::CdcFifo;
use own_unit::lock::Lock;
use own_unit::rpseq::RpSeq;
use own_unit::rpwarps::RpWarps;
use own_unit::rr_arb::RrArb;
use own_unit::slot::Slot;
use reconverge_command::{guest, pins};

fn main() -> ExitCode {
    reconverge_command::main(&[
        pins::<RpStack>(),
        pins::<Slot>(),
        pins::<Answers>(),
        pins::<CdcFifo>(),
        pins::<RrArb>(),
        pins::<AxilRegs>(),
        pins::<AxilTransactions>(),
        pins::<Lock>(),
        guest::<RpSeq>(),
        guest::<RpWarps>(),
    ])
}
