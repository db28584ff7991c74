//! Draws the pins of a stream.

use std::fmt::{self, Display, Formatter};

use rand::Rng;
use rand::distr::Bernoulli;
use rand_pcg::Pcg64Mcg;

use super::echo::{Echo, is_wide};
use super::{LONG_EVERY, LONG_RESET_EVERY, RESET_CYCLES, RESET_EVERY, STAYS};
use crate::design::ratio;
use crate::field::{Declaration, Pin, Role, Shape, Wire};

/// How fast the pins of a stream change: its kind in a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Phases are short, and every cycle draws anew.
    Short,
    /// Phases are long, in some of them most pins stay as they are, and the reset comes seldom or never: the design reaches
    /// states that are many cycles from reset.
    Long,
}

impl Pace {
    /// Returns the pace of stream number `index` of a campaign.
    pub fn of(index: u64) -> Self {
        match index % LONG_EVERY == LONG_EVERY - 1 {
            true => Pace::Long,
            false => Pace::Short,
        }
    }
}

/// Prints the pace as it appears in the names of streams.
impl Display for Pace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pace::Short => "short",
            Pace::Long => "long",
        })
    }
}

/// Draws pins, one cycle at a time. It has no type parameter, so that it is compiled once and not in the crate of each design.
pub(super) struct Draw {
    lanes: u32,
    pace: Pace,
    /// Cycles left in the phase.
    left: u32,
    pins: Vec<Drawn>,
    /// How often the reset is asserted; `None`: never.
    resets: Option<Bernoulli>,
    /// How often a pin that stays does.
    stays: Bernoulli,
    /// The pins of the cycle before.
    last: Vec<u8>,
    echo: Echo,
}

/// How a pin is drawn.
struct Drawn {
    pin: &'static Pin,
    /// It is valid or ready of a channel: in some phases it is always 0, in some always 1.
    handshake: bool,
    /// It may have values that the design waits for.
    echoes: bool,
    /// How often it is 1 in this phase. Computed once in a phase: that takes a division.
    ones: Bernoulli,
    /// It keeps its value in most cycles of this phase.
    stays: bool,
}

impl Draw {
    /// Begins a stream with the seed `seed`.
    pub fn new(
        design: &'static Declaration,
        seed: u64,
        lanes: u32,
        pace: Pace,
        rng: &mut Pcg64Mcg,
    ) -> Self {
        let channels = design.channels.iter();
        let wires: Vec<Wire> = channels.flat_map(|one| [one.valid, one.ready]).collect();
        let pins = design.pins.iter().enumerate().map(|(number, pin)| Drawn {
            pin,
            handshake: wires.contains(&Wire::Pin(number)),
            echoes: is_wide(pin),
            ones: ratio(0, 100),
            stays: false,
        });
        let every = match pace {
            Pace::Short => RESET_EVERY,
            Pace::Long => [0, 0, LONG_RESET_EVERY][rng.random_range(0..3)],
        };
        let mut draw = Draw {
            lanes,
            pace,
            left: 0,
            pins: pins.collect(),
            resets: (every > 0).then(|| ratio(1, every)),
            stays: ratio(STAYS - 1, STAYS),
            last: Vec::new(),
            echo: Echo::new(design, seed),
        };
        draw.phase(rng);
        draw
    }

    #[inline(never)]
    fn phase(&mut self, rng: &mut Pcg64Mcg) {
        self.echo.phase();
        self.left = match self.pace {
            Pace::Short => rng.random_range(8..64),
            Pace::Long => rng.random_range(64..512),
        };
        for drawn in &mut self.pins {
            let often = drawn.pin.percent;
            let mood = rng.random_range(0..if drawn.handshake { 6 } else { 4 });
            let percent = match mood {
                4 => 0,
                5 => 100,
                0 => often.div_ceil(8),
                1 => 100 - (100 - often).div_ceil(8),
                _ => often,
            };
            drawn.ones = ratio(percent, 100);
        }
        if self.pace == Pace::Long {
            for drawn in &mut self.pins {
                drawn.stays = rng.random_ratio(1, 4);
            }
        }
    }

    /// Sets `pins` to those of cycle `cycle`, before which the golden model is in `state`; both are the bytes of structs.
    pub fn pins(&mut self, cycle: usize, state: &[u8], pins: &mut [u8], rng: &mut Pcg64Mcg) {
        if self.left == 0 {
            self.phase(rng);
        }
        self.left -= 1;
        for drawn in &self.pins {
            let pin = drawn.pin;
            let stays = drawn.stays && cycle > 0 && rng.sample(self.stays);
            for i in 0..pin.words() {
                let value = match pin.role {
                    Role::Reset { asserted } => {
                        let drawn = |resets| rng.sample(resets);
                        let now = cycle < RESET_CYCLES || self.resets.is_some_and(drawn);
                        if now { asserted } else { 1 - asserted }
                    }
                    // The schedule says it.
                    Role::Clock { .. } => 1,
                    Role::Stall | Role::Plain if stays => pin.get(&self.last, i),
                    Role::Stall | Role::Plain => {
                        let value = drawn.word(self.lanes, rng);
                        let echo = drawn.echoes.then(|| self.echo.value(pin, state));
                        echo.flatten().unwrap_or(value)
                    }
                };
                pin.set(pins, i, value);
            }
        }
        self.echo.see(pins);
        self.last.clear();
        self.last.extend_from_slice(pins);
    }
}

impl Drawn {
    /// Draws a word of the pin.
    fn word(&self, lanes: u32, rng: &mut Pcg64Mcg) -> u64 {
        let pin = self.pin;
        match pin.shape {
            _ if !pin.values.is_empty() => pin.values[rng.random_range(0..pin.values.len())],
            Shape::Words { .. } if pin.width > 1 => {
                let (least, most) = pin.range;
                match rng.random_range(0..8) {
                    0 => least,
                    1 => most,
                    _ => rng.random_range(least..=most),
                }
            }
            Shape::Words { .. } => u64::from(rng.sample(self.ones)),
            Shape::Planes(_) => self.plane(lanes, rng),
        }
    }

    /// Draws a bit for each lane.
    #[inline(never)]
    fn plane(&self, lanes: u32, rng: &mut Pcg64Mcg) -> u64 {
        match rng.random_range(0..8) {
            0 => 0,
            1 => self.pin.most(lanes),
            _ => (0..lanes).fold(0, |mask, lane| {
                mask | u64::from(rng.sample(self.ones)) << lane
            }),
        }
    }
}
