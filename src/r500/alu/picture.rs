//! A picture: many wavefronts of one program, one for each block of 4 x 4 pixels.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::profile::Profile;
use super::{CHANNELS, Code, LANES, Lanes, Shaded, Shared, shade};
use crate::r500::R500;
use crate::r500::program::Program;
use crate::r500::shader::{Shader, VARYINGS, Vector};
use reconverge_bench::input::InputError;
use reconverge_program::case::{Case, Conditions, Table};

/// Width and height of a block in pixels.
pub const BLOCK: u32 = 4;

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

impl Size {
    /// Largest width and height.
    pub const MAX: u32 = 4096;

    /// Returns the number of blocks in a row; the last one may lie partly outside the picture.
    pub fn across(self) -> u32 {
        self.width.div_ceil(BLOCK)
    }

    /// Returns the number of all blocks; they are counted row by row.
    pub fn blocks(self) -> u32 {
        self.across() * self.height.div_ceil(BLOCK)
    }

    /// Returns the left and top pixel of block `block`.
    pub fn corner(self, block: u32) -> (u32, u32) {
        (block % self.across() * BLOCK, block / self.across() * BLOCK)
    }

    /// Returns the pixel of `lane` in `block`. Quads of lanes are squares (r500-alu-3), and so are quads of quads.
    pub fn pixel(self, block: u32, lane: usize) -> (u32, u32) {
        let lane = lane as u32;
        let (left, top) = self.corner(block);
        (
            left + (lane >> 2 & 1) * 2 + (lane & 1),
            top + (lane >> 3 & 1) * 2 + (lane >> 1 & 1),
        )
    }

    /// Returns the lanes of `block` whose pixel lies in the picture.
    pub fn covered(self, block: u32) -> u64 {
        (0..LANES).fold(0, |mask, lane| {
            let (x, y) = self.pixel(block, lane);
            mask | u64::from(x < self.width && y < self.height) << lane
        })
    }
}

/// The description of a picture: all that the colour of a pixel depends on.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The program, with its shader.
    pub program: Program,
    /// The size of the picture.
    pub size: Size,
    /// Values of uniforms that replace those of the file.
    pub uniforms: BTreeMap<String, Vec<f32>>,
    /// Share of the cycles that stall or starve the unit, in 1/16.
    pub stall16: u32,
    /// Seed of the stalls; never 0.
    pub seed: u64,
    /// Limit of instructions; a wavefront that exceeds it is given up.
    pub max_steps: u64,
    /// RTL other than our own, for saved cases.
    pub rtl: Option<PathBuf>,
}

/// A scene ready for rendering: decoded, uniforms resolved.
#[derive(Debug)]
pub struct Renderer {
    scene: Scene,
    code: Code,
    shared: Shared,
    /// The program without the words that only the ALU reads, as a case holds it.
    plain: Program,
}

/// Values of a varying that the file does not define: x from 0 to 1 to the right, y from 0 to 1 downwards.
const UNIT: [Vector; 3] = [
    [0.0, 0.0, 0.0, 1.0],
    [1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
];

impl Renderer {
    /// Prepares `scene`, whose program comes from `file`.
    ///
    /// # Errors
    /// The ALU refuses an instruction; lanes that are not ACTIVE execute an instruction (the conditions could not be
    /// replayed); no instruction writes a colour; a uniform has no value.
    pub fn new(scene: Scene, file: &str) -> Result<Self, InputError> {
        let code = Code::new(&scene.program, file)?;
        if let Some(slot) = code.first_by_all() {
            let why =
                "WRITE_INACTIVE: lanes that are off would compute, which a lane alone does not";
            return Err(InputError::new(file, 0, format!("slot {slot}"), why));
        }
        if !code.writes_colour() {
            let why = "no instruction writes a colour: have they all six words?";
            return Err(InputError::new(file, 0, "program", why));
        }
        let shared = scene.program.shader.shared(&scene.uniforms);
        let shared = shared.map_err(|why| InputError::new(file, 0, "uniform", why))?;
        let plain = Program {
            shader: Shader::default(),
            ..scene.program.clone()
        };
        Ok(Renderer {
            scene,
            code,
            shared,
            plain,
        })
    }

    /// Returns the scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Returns the decoded program.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Returns the varyings of pixel (`x`, `y`), which may lie outside the picture (r500-alu-7-g).
    pub fn varyings(&self, x: u32, y: u32) -> [Vector; VARYINGS] {
        let Size { width, height } = self.scene.size;
        let u = (x as f32 + 0.5) / width as f32;
        let v = (y as f32 + 0.5) / height as f32;
        let given = &self.scene.program.shader.varyings;
        std::array::from_fn(|n| {
            let [a, b, c] = given.get(&(n as u8)).unwrap_or(&UNIT);
            std::array::from_fn(|i| (a[i] + u * (b[i] - a[i])) + v * (c[i] - a[i]))
        })
    }

    /// Returns the varyings of the lanes of `block`.
    pub fn pixels(&self, block: u32) -> [[Vector; VARYINGS]; LANES] {
        std::array::from_fn(|lane| {
            let (x, y) = self.scene.size.pixel(block, lane);
            self.varyings(x, y)
        })
    }

    /// Returns the lanes of a wavefront, or of part of one, with the varyings `pixels`.
    pub fn lanes<const N: usize>(&self, pixels: &[[Vector; VARYINGS]]) -> Lanes<'_, N> {
        let shader = &self.scene.program.shader;
        Lanes::new(&self.code, &self.shared, shader, pixels)
    }

    /// Returns the case of the wavefront of `block`; its conditions are still those of [`Case::new`].
    pub fn case(&self, block: u32) -> Case<R500> {
        let mut case = Case::<R500>::new(self.plain.clone());
        let (x, y) = self.scene.size.corner(block);
        case.program.name = format!("{}.x{x}.y{y}", case.program.name);
        case.launch_mask = self.scene.size.covered(block);
        case.stall16 = self.scene.stall16;
        case.seed = self.scene.seed;
        case.max_steps = self.scene.max_steps;
        case.rtl.clone_from(&self.scene.rtl);
        case
    }
}

/// A wavefront shaded by the golden model alone. The RTL has not run [`Shading::case`] yet.
#[derive(Clone, Debug)]
pub struct Shading {
    /// Its case: a launch of the program with the conditions that the lanes computed.
    pub case: Case<R500>,
    /// The result; its conditions are in the case.
    pub shaded: Shaded,
    /// The counts of its instructions.
    pub profile: Profile,
}

impl Shading {
    /// Returns the pixels of the lanes that the case covers.
    pub fn tile(&self) -> Tile {
        tile(&self.shaded, self.case.launch_mask)
    }
}

impl Renderer {
    /// Shades the pixels `pixels`, one per lane, in the wavefront that `case` launches, whatever its conditions are.
    pub fn shade(&self, mut case: Case<R500>, pixels: &[[Vector; VARYINGS]]) -> Shading {
        let program = &self.scene.program;
        let covered = case.launch_mask;
        let mut profile = Profile::new(program);
        let mut shaded = shade(&case, self.lanes(pixels), |before, after| {
            profile.executed(program, covered, before, after);
        });
        let rows = std::mem::take(&mut shaded.conditions);
        case.conditions = Conditions::Table(Table::from(rows));
        Shading {
            case,
            shaded,
            profile,
        }
    }

    /// Shades block `block`.
    pub fn shade_block(&self, block: u32) -> Shading {
        self.shade(self.case(block), &self.pixels(block))
    }
}

/// The pixels of a block: the colour bits of each lane, `None` for a lane that was killed or lies outside.
pub type Tile = [Option<[u32; CHANNELS]>; LANES];

/// Returns the pixels that `shaded` gives for the lanes of `covered`.
pub fn tile(shaded: &Shaded, covered: u64) -> Tile {
    std::array::from_fn(|lane| {
        let there = (covered & !shaded.wave.killed) >> lane & 1 == 1;
        there.then(|| shaded.wave.colour(lane).map(f32::to_bits))
    })
}

/// Returns a colour as three bytes: clamped to 0..1, rounded to the nearest of 256 steps; NaN is 0.
pub fn rgb(colour: [u32; CHANNELS]) -> [u8; 3] {
    let byte = |bits: u32| {
        let value = f32::from_bits(bits).clamp(0.0, 1.0);
        // `as` turns NaN into 0.
        (value * 255.0 + 0.5) as u8
    };
    [byte(colour[0]), byte(colour[1]), byte(colour[2])]
}
