//! The picture of a run in pixels: exactly what [`reconverge::show::svg`] draws. It reads that SVG, so that there
//! is only one drawing.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use font8x8::UnicodeFonts as _;
use reconverge::show::svg::colour;
use reconverge::wave;

/// Pixels of the PNG for five units of the SVG: a letter of the font, eight pixels wide, takes the room of one letter of the SVG.
const TO: usize = 6;
const OF: usize = 5;
/// Pixels of a letter: the font has half of its lines.
const WIDE: usize = 8;
const HIGH: usize = 16;

fn scaled(at: f64) -> usize {
    (at * TO as f64 / OF as f64).round().max(0.0) as usize
}

/// A picture with at most 256 colours.
struct Canvas {
    width: usize,
    height: usize,
    colours: Vec<[u8; 3]>,
    pixels: Vec<u8>,
}

impl Canvas {
    fn fill(&mut self, from: [usize; 2], to: [usize; 2], colour: [u8; 3]) {
        let known = self.colours.iter().position(|c| *c == colour);
        let number = known.unwrap_or_else(|| {
            self.colours.push(colour);
            self.colours.len() - 1
        });
        let (left, right) = (from[0].min(self.width), to[0].min(self.width));
        for y in from[1]..to[1].min(self.height) {
            self.pixels[y * self.width..][left.min(right)..right].fill(number as u8);
        }
    }

    /// Draws the outline of a rectangle, two pixels wide.
    fn frame(&mut self, [x, y]: [usize; 2], [right, low]: [usize; 2], colour: [u8; 3]) {
        for (from, to) in [
            ([x, y], [right, y + 2]),
            ([x, low - 2], [right, low]),
            ([x, y], [x + 2, low]),
            ([right - 2, y], [right, low]),
        ] {
            self.fill(from, to, colour);
        }
    }

    /// Draws text whose first letter is at `x`, on the line `y`.
    fn text(&mut self, x: usize, y: usize, text: &str, colour: [u8; 3]) {
        for (n, letter) in text.chars().enumerate() {
            let lines = font8x8::BASIC_FONTS.get(letter);
            let lines = lines
                .or_else(|| font8x8::BASIC_FONTS.get('?'))
                .unwrap_or_default();
            for (row, bits) in (0..HIGH).map(|row| (row, lines[row / 2])) {
                for column in (0..WIDE).filter(|column| bits >> column & 1 == 1) {
                    // The lowest two lines of the font lie below the line of the text.
                    let at = [x + n * WIDE + column, (y + 4 + row).saturating_sub(HIGH)];
                    self.fill(at, [at[0] + 1, at[1] + 1], colour);
                }
            }
        }
    }

    fn png(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let size = [self.width, self.height].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(self.colours.concat());
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.pixels)?;
            writer.finish()
        });
        written.map_err(|e| format!("PNG: {e}"))?;
        Ok(bytes)
    }
}

/// Returns the value of an attribute.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

fn number(tag: &str, name: &str) -> f64 {
    attribute(tag, name)
        .and_then(|n| n.parse().ok())
        .unwrap_or(0.0)
}

/// Returns a picture of [`reconverge::show::svg::svg`] as a PNG, in the colours of a light page.
///
/// # Errors
/// The picture is too large for a PNG.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let (width, height) = (scaled(number(svg, "width")), scaled(number(svg, "height")));
    let mut canvas = Canvas {
        width,
        height,
        colours: Vec::new(),
        pixels: vec![0; width * height],
    };
    for part in svg.split('<') {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let class = attribute(tag, "class").unwrap_or_default();
        let of_class = colour(class);
        let at = |name: &str| scaled(number(tag, name));
        let far = |from: &str, size: &str| scaled(number(tag, from) + number(tag, size));
        match tag.split(' ').next() {
            Some("rect") => {
                let (from, to) = ([at("x"), at("y")], [far("x", "width"), far("y", "height")]);
                match class {
                    "wrong" => canvas.frame(from, to, of_class),
                    _ => canvas.fill(from, to, of_class),
                }
            }
            Some("line") => {
                let (from, to) = ([at("x1"), at("y1")], [at("x2"), at("y1") + 1]);
                canvas.fill(from, to, of_class);
            }
            Some("text") => {
                let text = text.replace("&lt;", "<").replace("&gt;", ">");
                let text = text
                    .replace("&quot;", "\"")
                    .replace("&#39;", "'")
                    .replace("&amp;", "&");
                let x = match class.ends_with("number") {
                    true => at("x").saturating_sub(text.chars().count() * WIDE),
                    false => at("x"),
                };
                canvas.text(x, at("y"), &text, of_class);
            }
            _ => {}
        }
    }
    canvas.png()
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
