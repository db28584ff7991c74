//! Draws the pins of a stream.

use std::fmt::{self, Display, Formatter};
use std::iter::zip;

use bytemuck::{bytes_of, bytes_of_mut};
use rand::Rng;

use super::echo::Echo;
use super::{LONG_EVERY, LONG_RESET_EVERY, RESET_CYCLES, RESET_EVERY, STAYS};
use crate::design::Design;
use crate::field::{Pin, Role, Shape, Wire};

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

/// Draws pins, one cycle at a time.
pub(super) struct Draw<D: Design> {
    lanes: u32,
    pace: Pace,
    /// Cycles left in the phase.
    left: u32,
    /// Which pins are valid or ready of a channel: in some phases they are always 0, in some always 1.
    handshakes: Vec<bool>,
    /// How often each pin is 1 in this phase, in percent.
    percent: Vec<u32>,
    /// Which pins keep their values in most cycles of this phase.
    stays: Vec<bool>,
    /// The reset is asserted in one of this many cycles; 0: never.
    reset_every: u32,
    last: D::In,
    echo: Echo<D>,
}

impl<D: Design> Draw<D> {
    /// Begins a stream with the seed `seed`.
    pub fn new(seed: u64, lanes: u32, pace: Pace, rng: &mut impl Rng) -> Self {
        let channels = D::DECLARATION.channels.iter();
        let wires: Vec<Wire> = channels.flat_map(|one| [one.valid, one.ready]).collect();
        let pins = 0..D::DECLARATION.pins.len();
        let mut draw = Draw {
            lanes,
            pace,
            left: 0,
            handshakes: pins
                .map(|number| wires.contains(&Wire::Pin(number)))
                .collect(),
            percent: Vec::new(),
            stays: Vec::new(),
            reset_every: RESET_EVERY,
            last: D::In::default(),
            echo: Echo::new(seed),
        };
        if pace == Pace::Long {
            draw.reset_every = [0, 0, LONG_RESET_EVERY][rng.random_range(0..3)];
        }
        draw.phase(rng);
        draw
    }

    fn phase(&mut self, rng: &mut impl Rng) {
        self.echo.phase();
        self.left = match self.pace {
            Pace::Short => rng.random_range(8..64),
            Pace::Long => rng.random_range(64..512),
        };
        let moods = zip(D::DECLARATION.pins, &self.handshakes).map(|(pin, handshake)| {
            let often = pin.percent;
            match rng.random_range(0..if *handshake { 6 } else { 4 }) {
                4 => 0,
                5 => 100,
                0 => often.div_ceil(8),
                1 => 100 - (100 - often).div_ceil(8),
                _ => often,
            }
        });
        self.percent = moods.collect();
        if self.pace == Pace::Long {
            let stays = D::DECLARATION.pins.iter().map(|_| rng.random_ratio(1, 4));
            self.stays = stays.collect();
        }
    }

    /// Returns the pins of cycle `cycle`, before which the golden model is in `state`.
    pub fn pins(&mut self, cycle: usize, state: &D::State, rng: &mut impl Rng) -> D::In {
        if self.left == 0 {
            self.phase(rng);
        }
        self.left -= 1;
        let mut pins = D::In::default();
        for (number, (pin, percent)) in D::DECLARATION.pins.iter().zip(&self.percent).enumerate() {
            let stays = self.stays.get(number) == Some(&true) && cycle > 0;
            let stays = stays && rng.random_ratio(STAYS - 1, STAYS);
            for i in 0..pin.words() {
                let value = match pin.role {
                    Role::Reset { asserted } => {
                        let every = self.reset_every;
                        let now = cycle < RESET_CYCLES || every > 0 && rng.random_ratio(1, every);
                        if now { asserted } else { 1 - asserted }
                    }
                    // The schedule says it.
                    Role::Clock { .. } => 1,
                    Role::Stall | Role::Plain if stays => pin.get(bytes_of(&self.last), i),
                    Role::Stall | Role::Plain => {
                        let drawn = word(pin, *percent, self.lanes, rng);
                        self.echo.value(pin, state).unwrap_or(drawn)
                    }
                };
                pin.set(bytes_of_mut(&mut pins), i, value);
            }
        }
        self.echo.see(&pins);
        self.last = pins;
        pins
    }
}

/// Draws a word of a pin.
fn word(pin: &Pin, percent: u32, lanes: u32, rng: &mut impl Rng) -> u64 {
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
        Shape::Words { .. } => u64::from(rng.random_ratio(percent, 100)),
        Shape::Planes(_) => match rng.random_range(0..8) {
            0 => 0,
            1 => pin.most(lanes),
            _ => (0..lanes).fold(0, |mask, lane| {
                mask | u64::from(rng.random_ratio(percent, 100)) << lane
            }),
        },
    }
}
