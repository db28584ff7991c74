//! Pictures of r500: their cost compared with lock-step alone, and the mutants that tests by pictures alone would miss.
//!
//! `pictures cost` renders the Mandelbrot set as `render` does, in one thread, and times the parts of each wavefront in
//! turn, so that a change of the machine's speed affects all of them.
//!
//! `pictures mutants [COUNT]`: of the mutants of r500's text that the campaign catches, how many does the picture of
//! each shader show? The RTL alone drives the ALU ([`by_rtl_alone`]) and nothing judges it. A mutant shows if a pixel has
//! another colour than with the golden model, or if a wavefront does not end. COUNT limits the mutants; without it, all run.
//! Takes some minutes on one core, after the C++ compiler.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reconverge::campaign::{self, Limit};
use reconverge::case::Case;
use reconverge::design::Design;
use reconverge::dut::{Dut, Make, Rtl};
use reconverge::judges::{Judges, check_on};
use reconverge::mutate::{self, Family, Mutants};
use reconverge::program::Records;
use reconverge::r500::R500;
use reconverge::r500::alu::picture::{Renderer, Scene, Size, Tile};
use reconverge::r500::import::{Options, import};
use reconverge::r500::program::Program;
use reconverge::r500::render::{Pixels, by_rtl_alone};
use reconverge::r500::shader::{VARYINGS, Vector};
use reconverge::stimulus;

/// Cycles of the campaign for one mutant.
const CLOCKS: u64 = 1_000_000;
/// Width and height of a picture that mutants may spoil.
const SMALL: u32 = 32;
/// Width and height of the picture that is timed.
const LARGE: u32 = 256;
const ROUNDS: usize = 5;
/// Instructions after which a wavefront is given up; none of these shaders needs so many.
const MAX_STEPS: u64 = 100_000;

type Done<T> = Result<T, Box<dyn Error>>;

/// Returns a path in the repository.
fn path(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of)
}

fn load(path: &Path) -> Done<Program> {
    let options = Options {
        safe_loops: true,
        which: None,
    };
    let file = path.to_string_lossy();
    Ok(import(&fs::read(path)?, &file, &options)?.program)
}

fn renderer(program: Program, uniforms: BTreeMap<String, Vec<f32>>, pixels: u32) -> Done<Renderer> {
    let scene = Scene {
        program,
        size: Size {
            width: pixels,
            height: pixels,
        },
        uniforms,
        stall16: 0,
        seed: 1,
        max_steps: MAX_STEPS,
        rtl: None,
    };
    Ok(Renderer::new(scene, "shader")?)
}

// ---- cost ----------------------------------------------------------------------------------------------

/// The timed parts of a wavefront; the last is the sum of the others except the first.
const PARTS: [&str; 5] = [
    "lock-step alone, conditions from a table",
    "golden model with ALUs",
    "lock-step with the scalar judge",
    "each pixel alone, with an ALU",
    "a picture",
];

fn cost() -> Done<()> {
    let program = load(&path("examples/shaders/mandelbrot.txt"))?;
    let renderer = renderer(program, BTreeMap::new(), LARGE)?;
    let mut dut = Rtl::<R500>::own(R500::LANES)?.open(1)?;
    let pixels_alone = Pixels::new(&renderer);
    let (mut rounds, mut cycles, mut pixels) = (Vec::new(), 0, 0);
    for _ in 0..ROUNDS {
        let mut took = [Duration::ZERO; PARTS.len()];
        (cycles, pixels) = (0, 0);
        for block in 0..renderer.scene().size.blocks() {
            let lanes = renderer.pixels(block);
            let start = Instant::now();
            let shading = renderer.shade(renderer.case(block), &lanes);
            let shaded = Instant::now();
            let agreed = check_on(
                &shading.case,
                &mut dut,
                Judges::All,
                Records::judge,
                &mut (),
            )
            .map_err(|failure| failure.to_string())?;
            let checked = Instant::now();
            let alone = pixels_alone.judge(&shading, &lanes, &agreed);
            pixels += u64::from(alone.map_err(|failure| failure.to_string())?);
            let judged = Instant::now();
            let mut golden = shading.case.golden();
            let outcome = black_box(stimulus::run(&shading.case, &mut dut, &mut golden, &mut ()));
            let ran = judged.elapsed();
            if outcome.compared != agreed.compared {
                return Err(format!("block {block}: lock-step alone runs otherwise").into());
            }
            cycles += agreed.compared.cycles;
            let parts = [
                ran,
                shaded - start,
                checked - shaded,
                judged - checked,
                judged - start,
            ];
            for (sum, part) in took.iter_mut().zip(parts) {
                *sum += part;
            }
        }
        rounds.push(took.map(|part| part.as_secs_f64()));
    }
    if pixels != u64::from(LARGE * LARGE) {
        return Err(format!("{pixels} pixels got the same colour alone, not all").into());
    }
    println!(
        "r500.mandelbrot, {LARGE} x {LARGE} pixels, {cycles} cycles, one thread, median of {ROUNDS} rounds"
    );
    println!(
        "  {:<42} {:>9} {:>11} {:>11} {:>9}",
        "", "ns/cycle", "cycles/s", "pixels/s", "of first"
    );
    let median = |of: &dyn Fn(&[f64; PARTS.len()]) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    for (n, name) in PARTS.into_iter().enumerate() {
        let seconds = median(&|round| round[n]);
        println!(
            "  {name:<42} {:>9.1} {:>11.0} {:>11.0} {:>9.2}",
            seconds * 1e9 / cycles as f64,
            cycles as f64 / seconds,
            pixels as f64 / seconds,
            median(&|round| round[n] / round[0]),
        );
    }
    Ok(())
}

// ---- mutants -------------------------------------------------------------------------------------------

/// A wavefront and its expected colours.
struct Wavefront {
    case: Case<R500>,
    pixels: Vec<[Vector; VARYINGS]>,
    expected: Tile,
}

impl Wavefront {
    /// Returns a wavefront shaded by the golden model; the RTL may take somewhat more than twice as many steps.
    fn new(renderer: &Renderer, case: Case<R500>, pixels: Vec<[Vector; VARYINGS]>) -> Self {
        let shading = renderer.shade(case, &pixels);
        let expected = shading.tile();
        let mut case = shading.case;
        case.max_steps = 2 * shading.shaded.steps + 100;
        Wavefront {
            case,
            pixels,
            expected,
        }
    }
}

/// Pictures that are compared together.
struct Test {
    name: String,
    wavefronts: Vec<(Renderer, Vec<Wavefront>)>,
}

impl Test {
    /// Returns the test of a shader's picture.
    fn picture(path: &Path) -> Done<Self> {
        let program = load(path)?;
        let name = program.name.clone();
        let renderer = renderer(program, BTreeMap::new(), SMALL)?;
        let one = |block| {
            let pixels = renderer.pixels(block).to_vec();
            Wavefront::new(&renderer, renderer.case(block), pixels)
        };
        let all = (0..renderer.scene().size.blocks()).map(one).collect();
        Ok(Test {
            name,
            wavefronts: vec![(renderer, all)],
        })
    }

    /// Returns the test of the example pixels in the files of `folder`, with their expected colours.
    fn examples(folder: &Path) -> Done<Self> {
        let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        let files: Vec<_> = files.collect::<Done<_>>()?;
        let mut wavefronts = Vec::new();
        for path in &files {
            let program = load(path)?;
            for example in program.shader.examples.clone() {
                let renderer = renderer(program.clone(), example.uniforms, SMALL)?;
                let pixels = example.pixels.iter().map(|p| p.inputs).collect();
                let one = Wavefront::new(&renderer, renderer.case(0), pixels);
                wavefronts.push((renderer, vec![one]));
            }
        }
        Ok(Test {
            name: format!("{} programs", files.len()),
            wavefronts,
        })
    }

    /// Returns whether the RTL of `dut` spoils a pixel.
    fn spoilt(&self, dut: &mut Dut<R500>) -> bool {
        self.wavefronts.iter().any(|(renderer, all)| {
            all.iter().any(|w| {
                let program = &renderer.scene().program;
                let lanes = renderer.lanes(&w.pixels);
                let (tile, ends) = by_rtl_alone(dut, program, &w.case, lanes);
                !ends || tile != w.expected || dut.stopped().is_some()
            })
        })
    }
}

/// Prints a row of the table.
fn row(module: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.map(|cell| format!("{cell:>12}")).collect();
    println!("  {module:<20}{}", cells.concat());
}

fn mutants(count: Option<usize>) -> Done<()> {
    let mut tests = Vec::new();
    for name in ["mandelbrot", "nested", "sphere", "noise"] {
        tests.push(Test::picture(&path(&format!(
            "examples/shaders/{name}.txt"
        )))?);
    }
    tests.push(Test::examples(&path("tb/r500/programs/shaders"))?);

    let out = tempfile::tempdir()?;
    let build = Case::<R500>::new(Program::default()).build();
    let making = mutate::Options {
        family: Family::Source,
        count,
        seed: 1,
        cycles: CLOCKS,
        jobs: 1,
        only: Vec::new(),
        rtl: None,
        assertions: false,
        out: out.path().to_owned(),
    };
    let made = Mutants::<R500>::make(&making, &build).map_err(|e| e.to_string())?;
    let make = Make {
        assertions: false,
        ..Make::of(Some(&made.dir))
    };
    let rtl = Rtl::<R500>::make(build, &make)?;
    let options = campaign::Options {
        seed: 1,
        limit: Limit::Cycles(CLOCKS),
        jobs: 1,
        ..campaign::Options::default()
    };
    // Without a mutant no test may show anything.
    for test in &tests {
        if test.spoilt(&mut rtl.open(1)?) {
            return Err(format!("{}: the RTL itself spoils the picture", test.name).into());
        }
    }
    // By module: how many mutants the campaign catches; how many of these each test shows; how many any test shows.
    let mut rows: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut all = vec![0; tests.len() + 2];
    for mutant in &made.list.mutants {
        let rtl = rtl.clone().mutant(mutant.number);
        let mut spoilt = Vec::new();
        for test in &tests {
            // A model that has stopped cannot be used again.
            spoilt.push(test.spoilt(&mut rtl.open(1)?));
        }
        let any = spoilt.contains(&true);
        if campaign::run::<Case<R500>>(&options, &rtl, |_| {})?
            .failures
            .is_empty()
        {
            if any {
                let what = mutant.describe();
                return Err(format!("a picture shows what the campaign misses: {what}").into());
            }
            continue;
        }
        let counts = rows.entry(&mutant.module);
        let counts = counts.or_insert_with(|| vec![0; tests.len() + 2]);
        let yes = std::iter::once(true).chain(spoilt).chain([any]);
        for (n, yes) in yes.enumerate() {
            counts[n] += u32::from(yes);
            all[n] += u32::from(yes);
        }
    }
    println!(
        "r500: {} mutants of the text; a campaign of {CLOCKS} cycles for each, pictures of {SMALL} x {SMALL} pixels",
        made.list.mutants.len()
    );
    let names = tests.iter().map(|test| test.name.clone());
    let names = std::iter::once("caught".to_owned()).chain(names);
    row("module", names.chain(["any".to_owned()]));
    for (module, counts) in rows {
        row(module, counts.iter().map(u32::to_string));
    }
    row("all", all.iter().map(u32::to_string));
    Ok(())
}

fn main() -> Done<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["cost"] => cost(),
        ["mutants"] => mutants(None),
        ["mutants", count] => mutants(Some(count.parse()?)),
        _ => Err("usage: pictures cost | pictures mutants [COUNT]".into()),
    }
}
