//! Pictures of r500 through the RTL: every block in lock-step, every pixel what its source means.

use std::collections::BTreeMap;

use crate::common::Tested;
use crate::common::mismatch;
use crate::common::rtl::Rtl as Folder;
use crate::common::shaders::{mandelbrot, nested, own, renderer, scene, shaders};
use reconverge::case::Case;
use reconverge::design::Design;
use reconverge::dut::{Dut, Rtl};
use reconverge::judges::{Judges, check_on};
use reconverge::r500::R500;
use reconverge::r500::alu::LANES;
use reconverge::r500::alu::picture::{Renderer, Scene, Tile};
use reconverge::r500::program::Program;
use reconverge::r500::render::{Pixels, by_rtl_alone};
use reconverge::r500::shader::{Example, VARYINGS, Vector};
use reconverge::unit::{Programs, Records};

fn own_rtl() -> Dut<R500> {
    Rtl::<R500>::own(R500::LANES).unwrap().open(1).unwrap()
}

/// Shades a wavefront and has everything judged: its pixels, how it ended, and how many pixels got the same colour
/// alone.
fn judged(
    dut: &mut Dut<R500>,
    renderer: &Renderer,
    case: Case<R500>,
    pixels: &[[Vector; VARYINGS]],
) -> (Tile, String, u32) {
    let shading = renderer.shade(case, pixels);
    let agreed = check_on(&shading.case, dut, Judges::All, Records::judge, &mut ())
        .unwrap_or_else(|failure| mismatch::fails(failure, dut, "a block of the picture"));
    let alone = Pixels::new(renderer)
        .judge(&shading, pixels, &agreed)
        .unwrap();
    (shading.tile(), R500::outcome(&agreed.end), alone)
}

/// The wavefront of `example`.
fn of_example(
    program: &Program,
    example: &Example,
    stall16: u32,
) -> (Renderer, Case<R500>, Vec<[Vector; VARYINGS]>) {
    let scene = Scene {
        uniforms: example.uniforms.clone(),
        stall16,
        ..scene(program.clone(), 4, 4)
    };
    let renderer = Renderer::new(scene, "t").unwrap();
    let case = renderer.case(0);
    assert_eq!((case.launch_mask, case.stall16), (0xffff, stall16));
    let pixels: Vec<_> = example.pixels.iter().map(|p| p.inputs).collect();
    assert_eq!(pixels.len(), LANES);
    (renderer, case, pixels)
}

fn expected(example: &Example) -> Tile {
    std::array::from_fn(|lane| {
        let colour = example.pixels[lane].colour;
        colour.map(|colour| colour.map(f32::to_bits))
    })
}

/// All 16 lanes, stalled or starved in no cycle or in 5 of 16. Without JUMP_ANY in its LOOP words (r500-O29) a
/// program that leaves a loop with every lane at once ends in LOOP_UNDERFLOW: which ones do is written down here.
#[test]
fn compiled_shaders_give_their_expected_pixels_through_the_rtl() {
    let mut dut = own_rtl();
    let mut right = 0;
    for (name, program) in shaders(true) {
        for (set, example) in program.shader.examples.iter().enumerate() {
            for stall16 in [0, 5] {
                let (renderer, case, pixels) = of_example(&program, example, stall16);
                let (tile, outcome, alone) = judged(&mut dut, &renderer, case, &pixels);
                let at = format!("{name}, set {set}, stall16 {stall16}");
                assert_eq!(outcome, "done", "{at}");
                assert_eq!(tile, expected(example), "{at}");
                assert_eq!(alone, LANES as u32, "{at}");
                right += alone;
            }
        }
    }
    assert_eq!(right, 28 * 2 * 2 * 16);
}

/// Programs that stop unless their loops are made safe, and those alone; the others are right without.
const STOP: [&str; 2] = ["deep_000.txt", "deep_022.txt"];

#[test]
fn shaders_that_stop_without_safe_loops_are_these() {
    let mut dut = own_rtl();
    let mut stop: BTreeMap<String, String> = BTreeMap::new();
    for (name, program) in shaders(false) {
        for example in &program.shader.examples {
            let (renderer, case, pixels) = of_example(&program, example, 0);
            let (tile, outcome, _) = judged(&mut dut, &renderer, case, &pixels);
            if outcome == "done" {
                assert_eq!(tile, expected(example), "{name}");
            } else {
                stop.insert(name.clone(), outcome);
            }
        }
    }
    let names: Vec<&str> = stop.keys().map(String::as_str).collect();
    assert_eq!(names, STOP, "{stop:?}");
    for (name, outcome) in stop {
        assert_eq!(outcome, "error 3 LOOP_UNDERFLOW", "{name}");
    }
}

/// Every block of a picture through the RTL; the colour of each pixel, row by row.
fn through_the_rtl(renderer: &Renderer, dut: &mut Dut<R500>) -> Vec<[u32; 4]> {
    let size = renderer.scene().size;
    let mut colours = vec![[0; 4]; (size.width * size.height) as usize];
    for block in 0..size.blocks() {
        let pixels = renderer.pixels(block);
        let (tile, outcome, alone) = judged(dut, renderer, renderer.case(block), &pixels);
        assert_eq!((&*outcome, alone), ("done", LANES as u32));
        for (lane, colour) in tile.into_iter().enumerate() {
            let (x, y) = size.pixel(block, lane);
            colours[(y * size.width + x) as usize] = colour.unwrap();
        }
    }
    colours
}

#[test]
fn pictures_through_the_rtl_are_their_sources_pixel_by_pixel() {
    let mut dut = own_rtl();
    type Source = fn([f32; 4]) -> [f32; 4];
    let sources: [(&str, Source); 2] = [
        ("mandelbrot", |v0| mandelbrot([v0[0], v0[1]], 96.0)),
        ("nested", |v0| nested(v0, 5.0).0),
    ];
    for (name, source) in sources {
        let (width, height) = (16, 12);
        let renderer = renderer(own(name), width, height);
        let colours = through_the_rtl(&renderer, &mut dut);
        for (n, colour) in (0..).zip(colours) {
            let (x, y) = (n % width, n / width);
            let [v0, ..] = renderer.varyings(x, y);
            assert_eq!(colour, source(v0).map(f32::to_bits), "{name} {x},{y}");
        }
    }
}

/// Without a judge, only the RTL determines which lanes compute. It gives the same pixels, and RTL with a changed decision gives
/// others.
#[test]
fn a_planted_bug_in_the_rtl_changes_the_picture() {
    let renderer = renderer(own("mandelbrot"), 16, 16);
    let all = 0..renderer.scene().size.blocks();
    let expected: Vec<_> = all.map(|b| renderer.shade_block(b)).collect();
    let wrong = |dut: &mut Dut<R500>| {
        let blocks = (0..).zip(&expected).filter(|(block, shading)| {
            let mut case = shading.case.clone();
            case.max_steps = 2 * shading.shaded.steps + 100;
            let lanes = renderer.lanes(&renderer.pixels(*block));
            let program = &renderer.scene().program;
            let (tile, ends) = by_rtl_alone(dut, program, &case, lanes);
            !ends || tile != shading.tile()
        });
        blocks.count()
    };
    assert_eq!(wrong(&mut own_rtl()), 0);
    let copy = Folder::own(R500::NAME).copy();
    copy.change(R500::faults("decisions")[0]);
    let changed = Rtl::<R500>::of(R500::LANES, copy.dir()).unwrap();
    assert!(wrong(&mut changed.open(1).unwrap()) > 0);
}
