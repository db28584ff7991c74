//! A screen without a monitor, and what GTKWave shows on it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::tool;

/// The pixels of a screen, from the top left.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    /// Red, green, blue.
    pub pixels: Vec<u8>,
}

impl Image {
    pub fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * self.width + x);
        self.pixels[at..at + 3].try_into().unwrap()
    }

    /// The image as PNG.
    pub fn png(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&self.pixels).unwrap();
        writer.finish().unwrap();
        out
    }
}

/// A program that ends with the value.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An X server that keeps its screen in a file.
pub struct Screen {
    _server: Running,
    dir: TempDir,
    display: String,
}

impl Screen {
    pub fn new(width: u32, height: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // The server chooses a free display and reports it when it is ready.
        let mut server = tool::command("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{width}x{height}x24"))
            .arg("-fbdir")
            .arg(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut display = String::new();
        let mut told = BufReader::new(server.stdout.take().unwrap());
        told.read_line(&mut display).unwrap();
        assert!(!display.trim().is_empty(), "Xvfb does not start");
        Screen {
            _server: Running(server),
            dir,
            display: display.trim().to_owned(),
        }
    }

    /// The screen as it is, a file of `xwd`.
    pub fn image(&self) -> Option<Image> {
        let file = fs::read(self.dir.path().join("Xvfb_screen0")).ok()?;
        let number = |n: usize| {
            let bytes = file.get(4 * n..4 * n + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().unwrap()) as usize)
        };
        let (width, height, line) = (number(4)?, number(5)?, number(12)?);
        let begin = number(0)? + 12 * number(19)?;
        let rows = (0..height).map(|y| file.get(begin + y * line..begin + y * line + 4 * width));
        let rows = rows.collect::<Option<Vec<_>>>()?;
        let pixels = rows.iter().flat_map(|row| row.chunks(4));
        let pixels = pixels.flat_map(|p| [p[2], p[1], p[0]]).collect();
        Some(Image {
            width,
            height,
            pixels,
        })
    }

    /// Waits until `find` returns a value, and returns it.
    pub fn until<T>(&mut self, mut find: impl FnMut(&mut Self) -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = find(self) {
                return found;
            }
            if begin.elapsed() > Duration::from_secs(180) {
                let seen = std::env::temp_dir().join("reconverge-screen.png");
                fs::write(&seen, self.image().unwrap().png()).unwrap();
                panic!("not seen on the screen in 180 s: {}", seen.display());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Resizes windows whose width is in the range. Returns `Some` once there are some. It speaks the X protocol, because no tool
    /// that resizes windows is installed with the others.
    pub fn resize(&self, (least, most): (u16, u16), (width, height): (u32, u32)) -> Option<()> {
        let mut server = UnixStream::connect(format!("/tmp/.X11-unix/X{}", self.display)).ok()?;
        let words = |bytes: &[u8]| {
            let words = bytes.chunks_exact(4);
            words
                .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
                .collect::<Vec<u32>>()
        };
        // The setup, whose answer has its length in another place.
        server
            .write_all(&[b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])
            .ok()?;
        let mut head = [0; 8];
        server.read_exact(&mut head).ok()?;
        let mut setup = vec![0; 4 * usize::from(u16::from_le_bytes([head[6], head[7]]))];
        server.read_exact(&mut setup).ok()?;
        let vendor = usize::from(u16::from_le_bytes([setup[16], setup[17]]));
        let screen = 32 + vendor.next_multiple_of(4) + 8 * usize::from(setup[21]);
        let root = setup[screen..screen + 4].to_vec();
        let mut ask = |request: &[u8], answer: bool| {
            server.write_all(request).ok()?;
            let mut head = vec![0; 32];
            if answer {
                server.read_exact(&mut head).ok()?;
                let more = u32::from_le_bytes(head[4..8].try_into().unwrap()) as usize;
                head.resize(32 + 4 * more, 0);
                server.read_exact(&mut head[32..]).ok()?;
            }
            Some(head)
        };
        let tree = ask(&[&[15, 0, 2, 0][..], &root].concat(), true)?;
        let mut found = None;
        for window in words(&tree[32..]) {
            let window = window.to_le_bytes();
            let place = ask(&[&[14, 0, 2, 0][..], &window].concat(), true)?;
            if (least..most).contains(&u16::from_le_bytes([place[16], place[17]])) {
                let (width, height) = (width.to_le_bytes(), height.to_le_bytes());
                let request = [&[12, 0, 5, 0][..], &window, &[12, 0, 0, 0], &width, &height];
                ask(&request.concat(), false)?;
                found = Some(());
            }
        }
        // An answer means that all earlier requests have been executed.
        ask(&[&[14, 0, 2, 0][..], &root].concat(), true)?;
        found
    }
}

/// Opens `dump` in `view` from the folder `from` in GTKWave.
pub fn gtkwave(screen: &Screen, dump: &Path, view: &Path, from: &Path) -> Running {
    let viewer = tool::command("gtkwave")
        .args([dump, view])
        .env("DISPLAY", format!(":{}", screen.display))
        // Without the user's own settings.
        .env("HOME", screen.dir.path())
        .current_dir(from)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Running(viewer.unwrap())
}
