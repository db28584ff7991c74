//! Compiled shaders of r500, and the colours that their sources define, computed independently.

use std::collections::BTreeMap;
use std::fs;

use reconverge::ROOT;
use reconverge::r500::alu::picture::{Renderer, Scene, Size};
use reconverge::r500::import::{Options, import};
use reconverge::r500::program::Program;

/// The folder of the compiled shaders.
pub fn folder() -> String {
    format!("{ROOT}/tb/r500/programs/shaders")
}

/// The shaders with expected colours, with their file names; with [`Options::safe_loops`] or without.
pub fn shaders(safe_loops: bool) -> Vec<(String, Program)> {
    let mut files: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let options = Options {
        safe_loops,
        which: None,
    };
    let load = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let imported = import(&fs::read(path).unwrap(), &name, &options).unwrap();
        (name, imported.program)
    };
    files.iter().map(load).collect()
}

/// A shader of the repository's own, compiled.
pub fn own(name: &str) -> Program {
    let file = format!("{ROOT}/examples/shaders/{name}.txt");
    let options = Options {
        safe_loops: true,
        which: None,
    };
    import(&fs::read(&file).unwrap(), &file, &options)
        .unwrap()
        .program
}

/// A picture of `program`, with what its file gives, without stalls.
pub fn scene(program: Program, width: u32, height: u32) -> Scene {
    Scene {
        program,
        size: Size { width, height },
        uniforms: BTreeMap::new(),
        stall16: 0,
        seed: 1,
        max_steps: 100_000,
        rtl: None,
    }
}

/// It, ready to be rendered.
pub fn renderer(program: Program, width: u32, height: u32) -> Renderer {
    Renderer::new(scene(program, width, height), "t").unwrap()
}

/// The source of examples/shaders/mandelbrot.frag in Rust, operation by operation. Both round each of them to
/// float32 and fuse none (r500-alu-3.1), and examples/shaders/README.md says why Mesa's order is the same or makes no
/// difference. So the numbers are the same to the bit.
pub fn mandelbrot(c: [f32; 2], most: f32) -> [f32; 4] {
    let (mut x, mut y, mut n) = (0.0f32, 0.0f32, 0.0f32);
    while n < most {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            break;
        }
        (x, y) = (xx + c[0] - yy, 2.0 * x * y + c[1]);
        n += 1.0;
    }
    if n < most {
        let t = n * 0.03125 - (n * 0.03125).floor();
        let u = 1.0 - t;
        let red = 9.0 * u * t * t * t;
        let green = 15.0 * u * u * t * t;
        let blue = 8.5 * u * u * u * t + 0.125;
        [red, green, blue, 1.0]
    } else {
        [0.0, 0.0, 0.0, 1.0]
    }
}

/// The source of examples/shaders/nested.frag, likewise; and which of its exits from loops were taken: BREAK and
/// CONTINUE of the outermost (bits 0 and 1), of the middle (2 and 3), of the innermost (4 and 5).
pub fn nested(v0: [f32; 4], rows: f32) -> ([f32; 4], u8) {
    let fract = |x: f32| x - x.floor();
    let (mut a, mut b, mut work, mut i) = (v0[0].floor(), v0[1].floor(), 0.0f32, 0.0f32);
    let mut exits = 0;
    while i < rows {
        a += 3.0;
        if a > 30.0 + i {
            exits |= 1;
            break;
        }
        b += 1.0;
        i += 1.0;
        if b < 4.0 {
            exits |= 2;
            continue;
        }
        for _ in 0..6 {
            a -= 1.0;
            if a < b - 8.0 {
                b -= 2.0;
                if b > 20.0 {
                    if a > 19.0 {
                        exits |= 4;
                        break;
                    }
                    a += 5.0;
                }
                exits |= 8;
                continue;
            }
            work += 1.0;
            for _ in 0..8 {
                b += 0.5;
                if b > a {
                    a += 1.0;
                    if a > 16.0 {
                        b -= 1.5;
                        if fract(b) > 0.25 {
                            exits |= 32;
                            continue;
                        }
                        a -= 2.0;
                    }
                    if b > 28.0 {
                        exits |= 16;
                        break;
                    }
                    work += 2.0;
                }
                work += 1.0;
            }
        }
    }
    let colour = [
        fract(a * 0.031_25),
        fract(b * 0.031_25),
        fract(work * 0.003_906_25),
        1.0,
    ];
    (colour, exits)
}
