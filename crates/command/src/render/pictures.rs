//! Pictures as PNG.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use indicatif::HumanCount;
use reconverge::r500::alu::LANES;
use reconverge::r500::alu::picture::{Size, Tile, rgb};
use reconverge::r500::alu::profile::Count;
use reconverge::wave;

use super::numbers::percent;

/// Rows of pixels of four bytes: red, green, blue, opacity. A pixel that was never set is transparent.
pub struct Image {
    width: u32,
    height: u32,
    data: Vec<u8>,
}

impl Image {
    /// Returns an image of this width and height.
    pub fn new(width: u32, height: u32) -> Self {
        Image {
            width,
            height,
            data: vec![0; 4 * width as usize * height as usize],
        }
    }

    /// Sets the colour of pixel (`x`, `y`), which must lie in the image.
    pub fn set(&mut self, x: u32, y: u32, colour: [u8; 3]) {
        let at = 4 * (y as usize * self.width as usize + x as usize);
        self.data[at..at + 3].copy_from_slice(&colour);
        self.data[at + 3] = 255;
    }

    /// Returns the image as PNG.
    ///
    /// # Errors
    /// The image is too large for a PNG.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.data)?;
            writer.finish()
        });
        written.map_err(|e| format!("PNG: {e}"))?;
        Ok(bytes)
    }
}

/// Writes a picture to `path`, which the user has `named` or the program has chosen.
///
/// # Errors
/// `path` cannot be written.
pub fn write(path: &Path, named: bool, png: &[u8]) -> Result<(), String> {
    let shown = |e: std::io::Error| format!("{}: {e}", path.display());
    let open = match named {
        true => wave::Output::create,
        false => wave::Output::replacing,
    };
    let mut out = BufWriter::new(open(path).map_err(shown)?);
    out.write_all(png).map_err(shown)?;
    let file = out.into_inner().map_err(|e| shown(e.into_error()))?;
    file.finish().map_err(shown)
}

/// The picture of a shader.
pub struct Picture {
    size: Size,
    pub image: Image,
}

impl Picture {
    /// Returns a picture without any pixel set.
    pub fn new(size: Size) -> Self {
        Picture {
            size,
            image: Image::new(size.width, size.height),
        }
    }

    /// Sets the pixels of block `block`; one that was discarded stays transparent.
    pub fn set(&mut self, block: u32, tile: &Tile) {
        for (lane, colour) in tile.iter().enumerate() {
            let (x, y) = self.size.pixel(block, lane);
            if let (Some(colour), true) = (colour, x < self.size.width && y < self.size.height) {
                self.image.set(x, y, rgb(*colour));
            }
        }
    }
}

/// Returns a colour from black over red and yellow to white, for 0 to 1.
fn glow(share: f64) -> [u8; 3] {
    let level = |from: f64| (((share - from) * 3.0).clamp(0.0, 1.0) * 255.0).round() as u8;
    [level(0.0), level(1.0 / 3.0), level(2.0 / 3.0)]
}

/// The distribution of time: on the left the cycles of each block, on the right the idle share of its lanes' time.
pub struct Heat {
    pub image: Image,
    /// Cycles of the blocks with the fewest and with the most cycles.
    cycles: (u64, u64),
    /// The greatest idle share of a block's lanes' time.
    idlest: f64,
}

/// Draws the heat map of blocks with these counts.
pub fn heat(size: Size, counts: &[Count]) -> Heat {
    let cycles = || counts.iter().map(|count| count.cycles);
    let (least, most) = (cycles().min().unwrap_or(0), cycles().max().unwrap_or(0));
    let idle = |count: &Count| count.efficiency().map_or(0.0, |share| 1.0 - share);
    let mut image = Image::new(2 * size.width, size.height);
    for (block, count) in (0..).zip(counts) {
        let long = (count.cycles - least) as f64 / (most - least).max(1) as f64;
        for lane in 0..LANES {
            let (x, y) = size.pixel(block, lane);
            if x < size.width && y < size.height {
                image.set(x, y, glow(long));
                image.set(x + size.width, y, glow(idle(count)));
            }
        }
    }
    Heat {
        image,
        cycles: (least, most),
        idlest: counts.iter().map(idle).fold(0.0, f64::max),
    }
}

impl Heat {
    /// Returns the meaning of its colours as text.
    pub fn scale(&self) -> String {
        format!(
            "left: {} to {} cycles a block, black to white; right: lanes idle for 0 to 100 % of it, at most {}",
            HumanCount(self.cycles.0),
            HumanCount(self.cycles.1),
            percent(self.idlest)
        )
    }
}
