//! `render`: the picture of a shader through the RTL.
//!
//! The golden model and the ALUs shade a block here, then a worker process compares the RTL with it
//! ([`crate::workers`]), then every pixel is shaded alone. Blocks are numbered row by row, and each idle thread
//! takes the next one: the output does not depend on the number of threads.

mod html;
mod numbers;
mod pictures;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{Args, FromArgMatches as _};
use indicatif::HumanCount;
use reconverge::campaign::{Limit, Shard};
use reconverge::case::Case;
use reconverge::design::Design;
use reconverge::dut::Rtl;
use reconverge::failure::Failure;
use reconverge::input::InputError;
use reconverge::judges::Judges;
use reconverge::lockstep::Compared;
use reconverge::r500::R500;
use reconverge::r500::alu::picture::{BLOCK, Renderer, Scene, Shading, Size};
use reconverge::r500::alu::profile::{Count, Profile};
use reconverge::r500::alu::{CHANNELS, LANES};
use reconverge::r500::render::Pixels;
use reconverge::r500::shader::{Example, VARYINGS, Vector};
use reconverge::saved::Savable as _;
use reconverge::unit::{LoadOptions, Programs};

use crate::args::{LoadArgs, PlaceArgs, seed, workers};
use crate::commands::Extra;
use crate::console::{Done, Failure as Unable, Status, complain, print, warn};
use crate::found;
use crate::load::load;
use crate::progress::{Lines, bar};
use crate::rtl::{absolute, rtl};
use crate::stop::Trouble;
use crate::streams::{is_standard, writable, write_whole};
use crate::workers::{Isolated, LimitArgs};
use numbers::judged;
use pictures::Picture;
use reconverge::quantity::stall;

/// Limit of the instructions of a wavefront: at this limit its case, with the conditions that its lanes compute, is a file of a few
/// megabytes.
const MAX_STEPS: u64 = 200_000;

#[derive(Args)]
pub struct RenderArgs {
    /// Unit; only r500 has an ALU beside it
    #[arg(value_parser = PossibleValuesParser::new(["r500"]))]
    unit: String,
    /// Shader: a listing or assembly that gives all words of each instruction, and what the ALU works on: constants,
    /// uniforms, varyings, textures
    program: PathBuf,
    /// Instead of rendering a picture, run the pixels listed in the file and compare their colours with the expected ones
    #[arg(long)]
    check: bool,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "128x128", value_parser = size, conflicts_with = "check")]
    size: Size,
    /// Value of a uniform, X:Y:Z:W for a vector; may be repeated for other uniforms
    #[arg(long = "uniform", value_name = "NAME=VALUE", value_parser = uniform, conflicts_with = "check")]
    uniforms: Vec<(String, Vec<f32>)>,
    /// Write the picture here [default: UNIT.PROGRAM.png in --out]
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    png: Option<PathBuf>,
    /// Write the heat map here: cycles of each block on the left, idle share of its lanes' time on the right
    /// [default: UNIT.PROGRAM.heat.png in --out]
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    heat: Option<PathBuf>,
    /// Write the numbers as JSON
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    json: Option<PathBuf>,
    /// Write an HTML page: pictures, numbers, and what each lane of one block did in each cycle
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    html: Option<PathBuf>,
    /// Pixel in the block that --html and --save show [default: the block whose lanes idled most]
    #[arg(long, value_name = "X,Y", value_parser = pixel, conflicts_with = "check")]
    block: Option<(u32, u32)>,
    /// Save the case of one block in --out, for `replay`
    #[arg(long, conflicts_with = "check")]
    save: bool,
    /// Stall or starve the unit in about this many of 16 cycles
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=15))]
    stall16: u32,
    /// The same as a percentage, such as 25%, rounded to the nearest 16th
    #[arg(long, value_name = "PERCENT", value_parser = stall, conflicts_with = "stall16")]
    stall: Option<u32>,
    /// Seed of the stalls; never 0
    #[arg(long, default_value = "1", value_parser = seed)]
    seed: u64,
    /// Give up a wavefront after this many instructions
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..=MAX_STEPS))]
    max_steps: u64,
    /// Worker processes [default: one per processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

fn size(text: &str) -> Result<Size, String> {
    let (width, height) = text
        .split_once('x')
        .ok_or("must be a size such as 256x256")?;
    let number = |text: &str| match text.parse() {
        Ok(n @ 1..=Size::MAX) => Ok(n),
        _ => Err(format!("must be 1 to {}, not {text:?}", Size::MAX)),
    };
    Ok(Size {
        width: number(width)?,
        height: number(height)?,
    })
}

fn uniform(text: &str) -> Result<(String, Vec<f32>), String> {
    let (name, value) = text.split_once('=').ok_or("no =")?;
    let number = |text: &str| match text.parse::<f32>() {
        Ok(n) if n.is_finite() => Ok(n),
        _ => Err(format!("must be a finite float32 number, not {text:?}")),
    };
    let value = value.split(':').map(number).collect::<Result<_, _>>()?;
    Ok((name.to_owned(), value))
}

fn pixel(text: &str) -> Result<(u32, u32), String> {
    let (x, y) = text.split_once(',').ok_or("no ,; a pixel is e.g. 12,40")?;
    let number = |text: &str| text.parse::<u32>().map_err(|e| format!("{text:?}: {e}"));
    Ok((number(x)?, number(y)?))
}

// ---- wavefronts ---------------------------------------------------------------------------------------

/// The wavefronts to be rendered.
struct Wavefronts {
    /// One for a picture; one for each set of uniforms of the pixels in the file.
    renderers: Vec<Renderer>,
    /// For the pixels in the file: the set, and the number of its first pixel. Empty for a picture.
    examples: Vec<(usize, usize)>,
}

impl Wavefronts {
    /// Returns the wavefronts of the picture of `scene`, or of the pixels in its file.
    ///
    /// # Errors
    /// The same as of [`Renderer::new`].
    fn new(scene: &Scene, of_file: bool, file: &str) -> Result<Self, InputError> {
        if !of_file {
            return Ok(Wavefronts {
                renderers: vec![Renderer::new(scene.clone(), file)?],
                examples: Vec::new(),
            });
        }
        let sets = &scene.program.shader.examples;
        let with = |example: &Example| {
            let uniforms = example.uniforms.clone();
            let scene = scene.clone();
            Renderer::new(Scene { uniforms, ..scene }, file)
        };
        let firsts = |(set, example): (usize, &Example)| {
            let firsts = (0..example.pixels.len()).step_by(LANES);
            firsts.map(move |first| (set, first)).collect::<Vec<_>>()
        };
        Ok(Wavefronts {
            renderers: sets.iter().map(with).collect::<Result<_, _>>()?,
            examples: sets.iter().enumerate().flat_map(firsts).collect(),
        })
    }

    fn count(&self) -> u64 {
        match (&self.examples[..], &self.renderers[..]) {
            ([], [picture]) => picture.scene().size.blocks().into(),
            (examples, _) => examples.len() as u64,
        }
    }

    /// Returns the renderer of wavefront `number`, its case without conditions, and its pixels.
    fn get(&self, number: u64) -> (usize, Case<R500>, Vec<[Vector; VARYINGS]>) {
        let Some(&(set, first)) = self.examples.get(number as usize) else {
            let (renderer, block) = (&self.renderers[0], number as u32);
            return (0, renderer.case(block), renderer.pixels(block).to_vec());
        };
        let renderer = &self.renderers[set];
        let example = &renderer.scene().program.shader.examples[set];
        let pixels = example.pixels[first..].iter().take(LANES);
        let pixels: Vec<_> = pixels.map(|p| p.inputs).collect();
        let mut case = renderer.case(0);
        case.program.name = format!("{}.set{}.p{first}", renderer.scene().program.name, set + 1);
        case.launch_mask = u64::MAX >> (64 - pixels.len());
        (set, case, pixels)
    }
}

/// Why no further wavefront is rendered.
enum End {
    /// RTL and golden model differ, or a pixel has another colour alone.
    Failed(Box<Failure<Case<R500>>>),
    /// A pixel is not as the file expects: the message.
    Wrong(String),
    /// A program has no colours: the message.
    NoColours(String),
    /// There is no verdict.
    Unable(Trouble),
}

/// The totals of all wavefronts.
#[derive(Default)]
struct Sum {
    wavefronts: u64,
    profile: Profile,
    compared: Compared,
    /// Number of pixels in the picture, or in the file.
    pixels: u64,
    /// Number of pixels that got the same colour alone.
    alone: u64,
    /// Why the scalar machine cannot run the program, if it cannot.
    unstructured: Option<String>,
}

/// What the threads of a run share.
struct Shared<K> {
    /// The next wavefront to take.
    next: u64,
    sum: Sum,
    /// The wavefront at which the run ends, and why.
    end: Option<(u64, End)>,
    keep: K,
    lines: Lines,
}

/// Renders all wavefronts in `jobs` threads, each with its own worker. `keep` takes each one on which the judges
/// agree, with the end of its program, in any order; it may end the run. The first wavefront that ends the run counts.
fn run_all(
    wavefronts: &Wavefronts,
    rtl: &Rtl<R500>,
    limits: LimitArgs,
    jobs: usize,
    keep: impl FnMut(u64, &Shading, &str) -> Result<(), End> + Send,
) -> Result<(Sum, Option<End>), Unable> {
    let count = wavefronts.count();
    let judges: Vec<Pixels> = wavefronts.renderers.iter().map(Pixels::new).collect();
    let bar = bar(Limit::Programs(count), Shard::default());
    let shared = Mutex::new(Shared {
        next: 0,
        sum: Sum {
            unstructured: judges.iter().find_map(|j| j.structured().err()),
            ..Sum::default()
        },
        end: None,
        keep,
        lines: Lines::new(),
    });
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let one = |isolated: &mut Isolated<Case<R500>>, number: u64| -> Result<(), End> {
        if isolated.stopped() {
            return Err(End::Unable(Trouble::Interrupted));
        }
        let (set, mut case, pixels) = wavefronts.get(number);
        case.no_assert = rtl.no_assert();
        let shading = wavefronts.renderers[set].shade(case, &pixels);
        let agreed = isolated.check(&shading.case, Judges::All, |_| {});
        let agreed = agreed.map_err(End::Unable)?;
        let agreed = agreed.map_err(|failure| End::Failed(Box::new(failure)))?;
        let alone = judges[set].judge(&shading, &pixels, &agreed);
        let alone = alone.map_err(End::Failed)?;
        let Shared {
            sum, keep, lines, ..
        } = &mut *lock();
        sum.wavefronts += 1;
        sum.profile.add(&shading.profile);
        sum.compared += agreed.compared;
        sum.pixels += u64::from(shading.case.launch_mask.count_ones());
        sum.alone += u64::from(alone);
        if let Some(bar) = &bar {
            bar.set_position(sum.wavefronts);
        }
        let done = sum.wavefronts;
        lines.tell(|| format!("{done} of {count} wavefronts"));
        keep(number, &shading, &R500::outcome(&agreed.end))
    };
    let job = |mut isolated: Isolated<Case<R500>>| {
        loop {
            let number = {
                let Shared { next, end, .. } = &mut *lock();
                if *next >= count || end.is_some() {
                    return;
                }
                *next += 1;
                *next - 1
            };
            let Err(why) = one(&mut isolated, number) else {
                continue;
            };
            // A verdict has priority over none; of several verdicts, that of the first wavefront counts.
            let rank = |number: u64, end: &End| (matches!(end, End::Unable(_)), number);
            let Shared { end, .. } = &mut *lock();
            let first = end.as_ref().map(|(number, end)| rank(*number, end));
            if first.is_none_or(|first| rank(number, &why) < first) {
                *end = Some((number, why));
            }
            return;
        }
    };
    let jobs = jobs.min(usize::try_from(count).unwrap_or(jobs));
    let workers: Vec<Isolated<Case<R500>>> = (0..jobs)
        .map(|_| Isolated::new(rtl, limits))
        .collect::<Result<_, _>>()?;
    std::thread::scope(|scope| {
        for isolated in workers {
            scope.spawn(|| job(isolated));
        }
    });
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let Shared { sum, end, .. } = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((sum, end.map(|(_, end)| end)))
}

// ---- the command ---------------------------------------------------------------------------------------

/// Returns the command `render`, which r500 brings.
pub fn extra() -> Extra {
    Extra {
        command: || {
            let command = clap::Command::new("render");
            RenderArgs::augment_args(command).about(
                "Render a shader's picture: each block of 4 x 4 pixels is a wavefront in lock-step, with an ALU beside every lane",
            )
        },
        run: |matches| render(&RenderArgs::from_arg_matches(matches).unwrap_or_else(|e| e.exit())),
    }
}

fn render(args: &RenderArgs) -> Done {
    let file = args.program.to_string_lossy();
    let program = load::<R500>(&args.program, &LoadOptions::from(&args.load))?;
    let scene = scene(args, program)?;
    let shader = &scene.program.shader;
    if shader.is_empty() {
        warn(&[format!(
            "{file}: says nothing of inputs, constants and uniforms: all are 0"
        )]);
    }
    if args.check && shader.examples.iter().all(|e| e.pixels.is_empty()) {
        let why = "there are no pixels with the colours that they must get";
        return Err(InputError::new(file, 0, "# EXPECT", why).into());
    }
    let wavefronts = Wavefronts::new(&scene, args.check, &file)?;
    let (_, case, _) = wavefronts.get(0);
    case.check_input(&file)?;
    let name = format!("{}.{}", R500::NAME, scene.program.name);
    let outputs = Outputs::new(args, &name)?;
    let rtl = rtl::<R500>(&args.place, case.build())?;
    let jobs = workers(args.jobs);

    let started = Instant::now();
    let mut picture = Picture::new(scene.size);
    let mut counts = vec![Count::default(); scene.size.blocks() as usize];
    let expect = |number, shading: &Shading, outcome: &str| {
        let wrong = wrong(&wavefronts, number, shading, outcome, args.load.safe_loops);
        wrong.map_or(Ok(()), |wrong| {
            Err(End::Wrong(format!("{name}  {wrong}\n")))
        })
    };
    let draw = |number: u64, shading: &Shading, outcome: &str| {
        let block = number as u32;
        if outcome != "done" {
            let (x, y) = scene.size.corner(block);
            let hint = hint(outcome, args.load.safe_loops);
            let why =
                format!("no colour for pixel {x},{y}: its wavefront ends with {outcome}{hint}");
            return Err(End::NoColours(why));
        }
        picture.set(block, &shading.tile());
        counts[block as usize] = shading.profile.total();
        Ok(())
    };
    let (sum, end) = if args.check {
        run_all(&wavefronts, &rtl, args.limits, jobs, expect)?
    } else {
        run_all(&wavefronts, &rtl, args.limits, jobs, draw)?
    };
    match end {
        None => {}
        Some(End::Failed(failure)) => {
            let mut isolated = Isolated::new(&rtl, args.limits)?.dumping(args.place.format());
            return found::report(&failure, &mut isolated, &args.place.out);
        }
        Some(End::Wrong(text)) => {
            print(&text)?;
            return Ok(Status::Failed);
        }
        Some(End::NoColours(why)) => return Err(InputError::new(file, 0, "program", why).into()),
        Some(End::Unable(Trouble::Interrupted)) => {
            let (done, all) = (sum.wavefronts, wavefronts.count());
            let why = format!(
                "{name}: interrupted after {done} of {all} wavefronts, in which nothing failed"
            );
            return Err(Unable::Other(why));
        }
        Some(End::Unable(Trouble::Other(why))) => return Err(Unable::Other(why)),
    }
    let took = started.elapsed().as_secs_f64().max(0.001);
    if args.check {
        print(&format!("{name}  {}\n{}", expected(&scene), judged(&sum)))?;
    } else {
        let renderer = &wavefronts.renderers[0];
        outputs.write(args, &name, renderer, &sum, &picture, &counts)?;
    }
    let rate = |n: u64| HumanCount((n as f64 / took) as u64);
    complain(&format!(
        "{took:.1} s: {} cycles/s, {} pixels/s",
        rate(sum.compared.cycles),
        rate(sum.pixels)
    ));
    Ok(Status::Agreed)
}

/// Returns the scene to be rendered.
fn scene(
    args: &RenderArgs,
    program: reconverge::r500::program::Program,
) -> Result<Scene, InputError> {
    let mut uniforms = BTreeMap::new();
    for (name, value) in &args.uniforms {
        let bad = |why: &str| Err(InputError::new("--uniform", 0, name.as_str(), why));
        if program.shader.uniforms.iter().all(|u| u.name != *name) {
            return bad(&program.shader.unknown_uniform(name));
        }
        if uniforms.insert(name.clone(), value.clone()).is_some() {
            return bad("is given twice");
        }
    }
    Ok(Scene {
        program,
        size: args.size,
        uniforms,
        stall16: args.stall.unwrap_or(args.stall16),
        seed: args.seed,
        max_steps: args.max_steps,
        rtl: args.place.rtl.as_deref().map(absolute),
    })
}

/// Returns a hint for a program with this outcome.
fn hint(outcome: &str, safe_loops: bool) -> &'static str {
    if outcome.contains("LOOP_UNDERFLOW") && !safe_loops {
        "; --safe-loops sets JUMP_ANY in the LOOP words of a compiler that does not"
    } else if outcome == "still running" {
        "; --max-steps gives it more instructions"
    } else {
        ""
    }
}

// ---- expected pixels -----------------------------------------------------------------------------------

/// Returns a colour as text, or that there is none.
fn colour(bits: Option<[u32; CHANNELS]>) -> String {
    match bits {
        None => "discarded".to_owned(),
        Some(bits) => {
            let values = bits.map(|b| f32::from_bits(b).to_string());
            format!("({})", values.join(", "))
        }
    }
}

/// Returns the first pixel of a wavefront that differs from the file, if there is one.
fn wrong(
    wavefronts: &Wavefronts,
    number: u64,
    shading: &Shading,
    outcome: &str,
    safe_loops: bool,
) -> Option<String> {
    let (set, first) = wavefronts.examples[number as usize];
    let example = &wavefronts.renderers[set].scene().program.shader.examples[set];
    let tile = shading.tile();
    let ends = outcome == "done";
    let pixels = example.pixels[first..].iter().take(LANES);
    let expected = pixels.map(|pixel| pixel.colour.map(|c| c.map(f32::to_bits)));
    let (lane, expected) = expected
        .enumerate()
        .find(|(lane, expected)| !ends || tile[*lane] != *expected)?;
    let got = match ends {
        true => format!("is {}", colour(tile[lane])),
        false => format!(
            "has no colour, its wavefront ends with {outcome}{}",
            hint(outcome, safe_loops)
        ),
    };
    let uniforms: Vec<String> = example
        .uniforms
        .iter()
        .map(|(name, value)| {
            let value: Vec<String> = value.iter().map(ToString::to_string).collect();
            format!("{name}={}", value.join(":"))
        })
        .collect();
    Some(format!(
        "pixel {} of set {} ({}) {got}; expected {}",
        first + lane,
        set + 1,
        uniforms.join(" "),
        colour(expected)
    ))
}

/// Returns the message if all pixels are as the file expects.
fn expected(scene: &Scene) -> String {
    let sets = &scene.program.shader.examples;
    let pixels = sets.iter().flat_map(|set| &set.pixels);
    let discarded = pixels.clone().filter(|p| p.colour.is_none()).count();
    format!(
        "{} pixels as expected, {discarded} of them discarded, under {} sets of uniforms",
        pixels.count(),
        sets.len()
    )
}

// ---- what is written -----------------------------------------------------------------------------------

/// The files of the output.
struct Outputs {
    png: PathBuf,
    heat: PathBuf,
    /// The block of the page and the saved case, if one was chosen.
    block: Option<u32>,
}

impl Outputs {
    /// # Errors
    /// A file cannot be written; a pixel does not exist.
    fn new(args: &RenderArgs, name: &str) -> Result<Self, InputError> {
        let flags = [
            ("--png", &args.png),
            ("--heat", &args.heat),
            ("--json", &args.json),
            ("--html", &args.html),
        ];
        for (flag, path) in flags {
            if let Some(path) = path {
                if is_standard(path) && matches!(flag, "--png" | "--heat") {
                    let why = "pictures are not written to standard output";
                    return Err(InputError::new(flag, 0, "-", why));
                }
                writable(flag, path)?;
            }
        }
        let Size { width, height } = args.size;
        let block = match args.block {
            Some((x, y)) if x >= width || y >= height => {
                let why = format!("must be a pixel of {width} x {height}, not {x},{y}");
                return Err(InputError::option("--block", why));
            }
            chosen => chosen.map(|(x, y)| y / BLOCK * args.size.across() + x / BLOCK),
        };
        let out = &args.place.out;
        if !args.check && (args.save || args.png.is_none() || args.heat.is_none()) {
            std::fs::create_dir_all(out)
                .map_err(|e| InputError::new("--out", 0, out.to_string_lossy(), e.to_string()))?;
        }
        let named = |flag: &str, path: &Option<PathBuf>, ending: &str| match path {
            Some(path) => Ok::<_, InputError>(path.clone()),
            None => {
                let path = out.join(format!("{name}.{ending}"));
                if !args.check {
                    writable(flag, &path)?;
                }
                Ok(path)
            }
        };
        Ok(Outputs {
            png: named("--png", &args.png, "png")?,
            heat: named("--heat", &args.heat, "heat.png")?,
            block,
        })
    }

    /// Writes all files and prints their names.
    fn write(
        &self,
        args: &RenderArgs,
        name: &str,
        renderer: &Renderer,
        sum: &Sum,
        picture: &Picture,
        counts: &[Count],
    ) -> Result<(), Unable> {
        let scene = renderer.scene();
        let heat = pictures::heat(scene.size, counts);
        let mut text = numbers::text(name, scene, sum);
        pictures::write(&self.png, args.png.is_some(), &picture.image.png()?)?;
        pictures::write(&self.heat, args.heat.is_some(), &heat.image.png()?)?;
        let mut wrote = |what: &str, path: &Path, about: &str| {
            text += &numbers::line(what, &format!("{}{about}", path.display()));
        };
        wrote("picture", &self.png, "");
        wrote("heat map", &self.heat, &format!("  ({})", heat.scale()));
        if let Some(path) = &args.json {
            write_whole(path, &numbers::json(name, scene, sum, counts)?)?;
            wrote("numbers", path, "");
        }
        let idlest = || {
            let idle = |count: &Count| std::cmp::Reverse(count.room - count.lanes);
            (0..).zip(counts).min_by_key(|(_, count)| idle(count))
        };
        let block = self.block.or(idlest().map(|(block, _)| block)).unwrap_or(0);
        if let Some(path) = &args.html {
            let page = html::page(name, renderer, sum, picture, &heat, block)?;
            write_whole(path, &page)?;
            wrote("page", path, "");
        }
        if args.save {
            let mut case = renderer.shade_block(block).case;
            case.no_assert = args.place.no_assert;
            let path = args.place.out.join(format!("{}.json", case.name()));
            found::save_agreed(case, &path)?;
            wrote("case", &path, "");
        }
        print(&text)
    }
}
