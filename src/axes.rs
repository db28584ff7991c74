//! Coverage axes that several units share.

use reconverge_campaign::cover::{Status, axis};

/// Returns the lanes of each class, from the two class planes of r500 and r700: ACTIVE, BRANCH, CONT, BRK.
pub(crate) fn classes([lo, hi]: [u64; 2], all: u64) -> [u64; 4] {
    [!lo & !hi & all, lo & !hi, !lo & hi, lo & hi]
}

/// Returns a mask with bit i set if set i has members.
#[inline]
pub(crate) fn present<const N: usize>(sets: [u64; N]) -> u16 {
    let bits = sets
        .iter()
        .zip(0..)
        .map(|(set, bit)| u16::from(*set != 0) << bit);
    bits.sum()
}

axis! {
    /// What the host asks for in a cycle.
    Host "host" {
        Nothing "nothing",
        Launch "launch",
        Write "write",
        LaunchAndWrite "launch and write",
    }
}

axis! {
    /// What a unit did before a launch.
    Rest "before it" {
        Fresh "after reset",
        Done "done",
        Halted "halted",
    }
}

impl From<Status> for Rest {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => Rest::Done,
            Status::Halted => Rest::Halted,
            Status::Fresh | Status::Running => Rest::Fresh,
        }
    }
}

axis! {
    /// The address at which the host writes a constant.
    Written "address" {
        Numbers "0..31",
        Booleans "32",
        Nothing "33..63",
    }
}

axis! {
    /// The time of the write.
    Port "when" {
        Idle "no program runs",
        Launch "with a launch",
        Running "a program runs: ignored",
        Stalled "stalled: ignored",
    }
}

impl Written {
    pub(crate) fn of(address: u8) -> Self {
        match address {
            0..=31 => Written::Numbers,
            32 => Written::Booleans,
            _ => Written::Nothing,
        }
    }
}

impl Port {
    pub(crate) fn of(status: Status, stall: u8, launch: u8) -> Self {
        match (stall, status, launch) {
            (1, ..) => Port::Stalled,
            (_, Status::Running, _) => Port::Running,
            (.., 1) => Port::Launch,
            _ => Port::Idle,
        }
    }
}

impl Host {
    pub(crate) fn of(launch: u8, write: u8) -> Self {
        match (launch, write) {
            (0, 0) => Host::Nothing,
            (_, 0) => Host::Launch,
            (0, _) => Host::Write,
            _ => Host::LaunchAndWrite,
        }
    }
}
