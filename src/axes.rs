//! Coverage axes and groups that several units share.

use reconverge_bench::design::Control;
use reconverge_campaign::cover::When::{Cycle, Sometimes};
use reconverge_campaign::cover::{Cross, Declaration, Hits, Pace, Status, Values, axis};

/// Returns the lanes of each class, from the two class planes of r500 and r700: ACTIVE, BRANCH, CONT, BRK.
pub(crate) fn classes([lo, hi]: [u64; 2], all: u64) -> [u64; 4] {
    [!lo & !hi & all, lo & !hi, !lo & hi, lo & hi]
}

/// Declares the axis `Code` of a unit's error codes, which are 1 to `$count`; its module has the unit's `Error` and `ERROR_NAMES`.
macro_rules! error_codes {
    ($count:literal) => {
        reconverge_campaign::cover::numbered! {
            /// Error code.
            Code "error" $count |n| format!("{} {}", n + 1, ERROR_NAMES[n + 1])
        }

        impl Code {
            pub(super) fn of(code: Error) -> Self {
                Code(code as u8 - 1)
            }

            pub(super) fn is(self, code: Error) -> bool {
                self == Code::of(code)
            }
        }
    };
}
pub(crate) use error_codes;

/// Declares the axis `Present` of the lane classes present, with the letters of r500 or r700.
macro_rules! classes_present {
    ($letters:literal) => {
        reconverge_campaign::cover::numbered! {
            /// Lane classes present: bit 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK, minus one, because some class is always present.
            Present "lane classes" 15 |n| {
                let letters = $letters.chars().enumerate();
                letters.filter(|(bit, _)| (n + 1) >> bit & 1 == 1).map(|(_, c)| c).collect()
            }
        }

        impl Present {
            pub(super) fn of(classes: [u64; 4]) -> Self {
                Present(reconverge_campaign::cover::present(classes) as u8 - 1)
            }

            /// Returns the number of classes.
            pub(super) fn count(self) -> u32 {
                (self.0 + 1).count_ones()
            }
        }
    };
}
pub(crate) use classes_present;

/// The instruction that failed; `None`: its fetch did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed<K>(pub Option<K>);

impl<K: Values> Values for Failed<K> {
    const NAME: &'static str = K::NAME;
    const COUNT: usize = K::COUNT + 1;
    fn names() -> Vec<String> {
        let fetch = "the fetch".to_owned();
        K::names().into_iter().chain([fetch]).collect()
    }
    #[inline]
    fn index(self) -> usize {
        self.0.map_or(K::COUNT, K::index)
    }
    fn at(index: usize) -> Self {
        Failed((index < K::COUNT).then(|| K::at(index)))
    }
}

axis! {
    /// What the host asks for in a cycle: a launch, and a write.
    Host "host" of (bool, bool) {
        (false, false) => Nothing "nothing",
        (true, false) => Launch "launch",
        (false, true) => Write "write",
        (true, true) => LaunchAndWrite "launch and write",
    }

    /// What a unit did before a launch.
    Rest "before it" of Status {
        Status::Fresh | Status::Running => Fresh "after reset",
        Status::Done => Done "done",
        Status::Halted => Halted "halted",
    }

    /// The address at which the host writes a constant.
    Written "address" of u8 {
        0..=31 => Numbers "0..31",
        32 => Booleans "32",
        33.. => Nothing "33..63",
    }

    /// The time of the write: whether the unit is stalled, its status, and whether there is a launch.
    Port "when" of (bool, Status, bool) {
        (false, Status::Fresh | Status::Done | Status::Halted, false) => Idle "no program runs",
        (false, Status::Fresh | Status::Done | Status::Halted, true) => Launch "with a launch",
        (false, Status::Running, _) => Running "a program runs: ignored",
        (true, ..) => Stalled "stalled: ignored",
    }
}

/// The groups of a unit whose host writes constants.
#[derive(Debug)]
pub(crate) struct HostPort {
    cycles: Cross<(Status, Pace, Host)>,
    writes: Cross<(Written, Port)>,
}

impl HostPort {
    pub(crate) fn declare(d: &mut Declaration) -> Self {
        let about = "each cycle: what the unit was doing, and what bench and host asked of it";
        let cycles = d.cross(Cycle, "cycles", about);
        let about = "each cycle with a write at the host port, reset aside";
        let writes = d.cross(Sometimes, "host writes", about);
        HostPort { cycles, writes }
    }

    /// Counts a cycle; `write` is the address of the host write, if there is one.
    pub(crate) fn sample(
        &self,
        status: Status,
        pins: &impl Control,
        (valid, launch, write): (u8, u8, Option<u8>),
        hits: &mut Hits,
    ) {
        let (reset, stalled, launch) = (pins.is_reset(), pins.is_stalled(), launch == 1);
        let pace = Pace::of((!reset).into(), stalled.into(), valid);
        let host = Host::of((launch, write.is_some()));
        hits.hit(self.cycles, (status, pace, host));
        if let Some(address) = write.filter(|_| !reset) {
            let port = Port::of((stalled, status, launch));
            hits.hit(self.writes, (Written::of(address), port));
        }
    }
}
