//! Four registers behind AXI4-Lite, whose five channels are declared.

use std::path::PathBuf;

use reconverge::design::{self, Build, Design};
use reconverge::field::Declaration;

use values::resp::{OKAY, SLVERR};

include!(concat!(env!("OUT_DIR"), "/axil_regs.rs"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct AxilRegs;

impl Design for AxilRegs {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    super::rtl().join("axil_regs")
}

/// The golden model: the registers, and what waits.
#[derive(Clone, Debug, Default)]
pub struct Golden {
    registers: [u32; 4],
    /// The address of a write without its data, or of one that waits.
    address: Option<u8>,
    /// Data and bytes of a write.
    data: Option<(u32, u8)>,
    /// The response of a write.
    written: Option<u8>,
    /// What was read, and the response.
    read: Option<(u32, u8)>,
    state: State,
}

impl Golden {
    fn show(&mut self) {
        let (rdata, rresp) = self.read.unwrap_or_default();
        self.state = State {
            awready: self.address.is_none().into(),
            wready: self.data.is_none().into(),
            bvalid: self.written.is_some().into(),
            bresp: self.written.unwrap_or_default(),
            arready: self.read.is_none().into(),
            rvalid: self.read.is_some().into(),
            rdata,
            rresp,
            ..State::default()
        };
    }

    /// Does a write. Returns its response.
    fn write(&mut self, address: u8, data: u32, bytes: u8) -> u8 {
        let Some(register) = self.registers.get_mut(usize::from(address / 4)) else {
            return SLVERR;
        };
        let mask = (0..4).filter(|byte| bytes >> byte & 1 == 1);
        let mask = mask.fold(0, |mask, byte| mask | 0xff << (8 * byte));
        *register = *register & !mask | data & mask;
        OKAY
    }
}

impl design::Golden<AxilRegs> for Golden {
    fn build(_: &Build) -> Self {
        let mut golden = Golden::default();
        golden.show();
        golden
    }

    fn cycle(&mut self, pins: &In) -> &State {
        if pins.is_reset() {
            *self = Golden::default();
            self.show();
            return &self.state;
        }
        // What is there before the cycle decides.
        let (waits, has_read) = (self.written.is_some(), self.read.is_some());
        let (address, data) = (self.address, self.data);
        match has_read {
            true if pins.rready == 1 => self.read = None,
            false if pins.arvalid == 1 => {
                let register = self.registers.get(usize::from(pins.araddr / 4));
                self.read = Some(register.map_or((0, SLVERR), |value| (*value, OKAY)));
            }
            _ => {}
        }
        if pins.bready == 1 {
            self.written = None;
        }
        if let (Some(address), Some((data, bytes)), true) =
            (address, data, !waits || pins.bready == 1)
        {
            self.written = Some(self.write(address, data, bytes));
            (self.address, self.data) = (None, None);
        }
        if address.is_none() && pins.awvalid == 1 {
            self.address = Some(pins.awaddr);
        }
        if data.is_none() && pins.wvalid == 1 {
            self.data = Some((pins.wdata, pins.wstrb));
        }
        self.show();
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn explain(&self, _: &In, field: &str, _: usize) -> String {
        let rule = match field {
            "awready" | "wready" => "address and data of one write are held until it is done",
            "bvalid" => "a write is done when address and data are there and no response waits",
            "bresp" | "rresp" => "SLVERR from address 16 on",
            "arready" | "rvalid" => "one read is answered at a time",
            _ => "a read returns what is there when its address comes",
        };
        rule.to_owned()
    }
}
