//! Textures. There are no images: a texel is a function of the coordinates and the name of the texture.
//!
//! Source: `docs/spec/r500-alu.md`, section 5. Every operation is rounded to float32.

use serde::{Deserialize, Serialize};

use super::arithmetic::frc;
use super::decode::CHANNELS;

/// The texture of a `TEX_ID`; a program's file may name one for each (`TEXTURE 0 checker`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Texture {
    /// The fixed function of the specification (r500-alu-5-m).
    #[default]
    Ramp,
    /// Black and white squares, two of each in a unit of S and T: R = G = B = 0 or 1, A = 1.
    Checker,
    /// A pseudo-random value for each 1/64 of S and T: R = G = B in sixteenths, A = 1.
    Noise,
}

impl Texture {
    /// All textures, in the order in which messages name them.
    pub const ALL: [Texture; 3] = [Texture::Ramp, Texture::Checker, Texture::Noise];

    /// Returns the name in a program's file.
    pub const fn name(self) -> &'static str {
        match self {
            Texture::Ramp => "ramp",
            Texture::Checker => "checker",
            Texture::Noise => "noise",
        }
    }

    /// Returns the texture called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Texture::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Returns the texel of texture `id` at (`s`, `t`).
    pub fn texel(self, id: u8, s: f32, t: f32) -> [f32; CHANNELS] {
        match self {
            Texture::Ramp => {
                let r = frc(s + 0.25 * f32::from(id));
                let g = frc(t);
                [r, g, r * g, 1.0 - 0.5 * r]
            }
            Texture::Checker => {
                let odd = |x: f32| frc(x) >= 0.5;
                let white = f32::from(u8::from(odd(s) == odd(t)));
                [white, white, white, 1.0]
            }
            Texture::Noise => {
                // Exact: the fractional part times 64, without its own fractional part, is an integer up to 64.
                let cell = |x: f32| (frc(x) * 64.0) as u32;
                let mut hash = cell(s) << 16 | cell(t) << 8 | u32::from(id);
                hash = (hash ^ hash >> 15).wrapping_mul(0x2c1b_3c6d);
                hash = (hash ^ hash >> 12).wrapping_mul(0x297a_2d39);
                let grey = (hash >> 28) as f32 / 16.0;
                [grey, grey, grey, 1.0]
            }
        }
    }
}
