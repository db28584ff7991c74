//! The registers of [`crate::axil_regs`] once more, with a golden model that speaks in transactions.

use std::collections::VecDeque;
use std::path::PathBuf;

use reconverge::design::{Build, Design};
use reconverge::field::Declaration;
use reconverge::transactions::{Owed, Scoreboard, Transactions};

include!(concat!(env!("OUT_DIR"), "/axil_transactions.rs"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct AxilTransactions;

impl Design for AxilTransactions {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Scoreboard<Self, Model>;
}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    super::rtl().join("axil_transactions")
}

const OKAY: u8 = 0;
const SLVERR: u8 = 2;

/// A write: address, data, bytes.
type Write = (u8, u32, u8);

/// The golden model: the registers, and the writes that are not answered yet.
#[derive(Clone, Debug, Default)]
pub struct Model {
    registers: [u32; 4],
    addresses: VecDeque<u8>,
    data: VecDeque<(u32, u8)>,
    /// Writes whose response has not been taken: the RTL may have done them or not.
    pending: VecDeque<Write>,
}

/// Does a write.
fn write(registers: &mut [u32; 4], (address, data, bytes): Write) {
    let mask = (0..4).filter(|byte| bytes >> byte & 1 == 1);
    let mask = mask.fold(0, |mask, byte| mask | 0xff << (8 * byte));
    if let Some(register) = registers.get_mut(usize::from(address / 4)) {
        *register = *register & !mask | data & mask;
    }
}

impl Transactions<AxilTransactions> for Model {
    fn build(_: &Build) -> Self {
        Model::default()
    }

    fn receives(&mut self, channel: &str, pins: &In, owed: &mut Owed<AxilTransactions>) {
        match channel {
            "aw" => self.addresses.push_back(pins.awaddr),
            "w" => self.data.push_back((pins.wdata, pins.wstrb)),
            // A read returns what is there when its address comes: any number of the pending writes may be done.
            _ => {
                let register = usize::from(pins.araddr / 4);
                let mut registers = self.registers;
                let mut values = vec![registers.get(register).copied()];
                for pending in &self.pending {
                    write(&mut registers, *pending);
                    values.push(registers.get(register).copied());
                }
                let answer = |value: Option<u32>| State {
                    rdata: value.unwrap_or_default(),
                    rresp: value.map_or(SLVERR, |_| OKAY),
                    ..State::default()
                };
                owed.push_any("r", values.into_iter().map(answer).collect());
            }
        }
        // The address and the data of a write may come in any order.
        while !self.addresses.is_empty()
            && let Some((data, bytes)) = self.data.pop_front()
            && let Some(address) = self.addresses.pop_front()
        {
            self.pending.push_back((address, data, bytes));
            let bresp = if address < 16 { OKAY } else { SLVERR };
            let answer = State {
                bresp,
                ..State::default()
            };
            owed.push("b", answer);
        }
    }

    /// A write whose response has been taken is done.
    fn sends(&mut self, channel: &str, _: &State, _: &mut Owed<AxilTransactions>) {
        if channel == "b"
            && let Some(done) = self.pending.pop_front()
        {
            write(&mut self.registers, done);
        }
    }
}
