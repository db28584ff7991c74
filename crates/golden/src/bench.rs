//! Golden models and cases that exchange pins and state as bytes, for callers without the Rust types.

use std::marker::PhantomData;
use std::path::Path;

use bytemuck::bytes_of;
use reconverge::assembly::Assembly as _;
use reconverge::case::Case;
use reconverge::design::{Build, Design, Golden};
use reconverge::field::{self, Pin, Shape};
use reconverge::input;
use reconverge::program::Programs;
use reconverge::saved::{Savable as _, Saved};
use reconverge::stimulus::golden_alone;
use reconverge::unit::{LoadOptions, Unit};
use reconverge::watch::Watch;

use crate::DPI_BYTES;

/// Maximum number of cycles of a case, because all its pins are computed and stored in advance. A longer case is refused.
pub const MAX_CYCLES: usize = 2_000_000;

/// A golden model of any unit.
pub trait Model: Send {
    /// Returns the sizes in bytes of the pin struct and of the state struct.
    fn sizes(&self) -> (usize, usize);
    /// Returns the default values of the pins.
    fn default_pins(&self) -> Vec<u8>;
    /// Executes one cycle with `pins`.
    ///
    /// # Errors
    /// The value of a pin does not fit its width. The state is unchanged then.
    fn cycle(&mut self, pins: &[u8]) -> Result<(), String>;
    /// Returns the state after the last cycle.
    fn state(&self) -> &[u8];
    /// Returns a line for each element of the state that differs from `state`, with the rule by which the last cycle set it;
    /// empty if none differs.
    fn compare(&self, state: &[u8]) -> String;
    /// Returns the rule by which the last cycle set `element` of `field`.
    ///
    /// # Errors
    /// There is no such field or element.
    fn explain(&self, field: &str, element: usize) -> Result<String, String>;
}

/// A golden model, with the model before its last cycle and the pins of that cycle.
struct Wavefront<U: Unit> {
    golden: U::Golden,
    before: U::Golden,
    pins: U::In,
    lanes: u32,
}

impl<U: Unit> Model for Wavefront<U> {
    fn sizes(&self) -> (usize, usize) {
        // What the functions for DPI rely on.
        const { assert!(size_of::<U::In>() <= DPI_BYTES && size_of::<U::State>() <= DPI_BYTES) };
        (size_of::<U::In>(), size_of::<U::State>())
    }
    fn default_pins(&self) -> Vec<u8> {
        bytes_of(&U::In::default()).to_vec()
    }
    fn cycle(&mut self, pins: &[u8]) -> Result<(), String> {
        // Lane masks are not checked: golden model and RTL ignore the bits above the lanes.
        let words = |pin: &&Pin| matches!(pin.shape, Shape::Words { .. });
        for pin in U::DECLARATION.pins.iter().filter(words) {
            let most = pin.most(self.lanes);
            for i in 0..pin.words() {
                let value = pin.get(pins, i);
                if value > most {
                    let name = pin.name;
                    return Err(format!(
                        "pin {name}[{i}]: {value:#x} is more than {most:#x}"
                    ));
                }
            }
        }
        self.pins = bytemuck::pod_read_unaligned(pins);
        self.before.clone_from(&self.golden);
        self.golden.cycle(&self.pins);
        Ok(())
    }
    fn state(&self) -> &[u8] {
        bytes_of(self.golden.state())
    }
    fn compare(&self, state: &[u8]) -> String {
        let diffs = field::diff(U::fields(), state, self.state());
        let lines = diffs.iter().map(|diff| {
            let field = &U::fields()[diff.field];
            let (rtl, golden) = ((field.show)(diff.rtl), (field.show)(diff.golden));
            let rule = self.before.explain(&self.pins, field.name, diff.element);
            let (name, element) = (field.name, diff.element);
            format!("{name}[{element}] is {rtl}, golden {golden}: {rule}\n")
        });
        lines.collect()
    }
    fn explain(&self, name: &str, element: usize) -> Result<String, String> {
        let field = U::fields().iter().find(|field| field.name == name);
        let Some(field) = field else {
            let names: Vec<_> = U::fields().iter().map(|field| field.name).collect();
            return Err(format!("no field {name}; there are {}", names.join(" ")));
        };
        let elements = field.elements(self.lanes as usize);
        if element >= elements {
            return Err(format!(
                "{name} has {elements} elements: the element must be below {elements}, not {element}"
            ));
        }
        Ok(self.before.explain(&self.pins, name, element))
    }
}

/// A case of any unit: the pins of each of its cycles.
pub trait Stimulus: Send {
    /// Returns a golden model with the lanes and parameters of the case, after reset.
    fn golden(&self) -> Box<dyn Model>;
    /// Returns the number of cycles of the case.
    fn cycles(&self) -> usize;
    /// Returns the pins of a cycle, counted from 0.
    fn pins(&self, cycle: usize) -> Option<&[u8]>;
    /// Returns the instruction at `pc` as text.
    fn disassemble(&self, pc: u32) -> String;
}

struct Recorded<U: Unit> {
    case: Case<U>,
    pins: Vec<U::In>,
}

/// Records the pins of each cycle.
struct Recorder<D: Design>(Vec<D::In>);

impl<U: Programs> Watch<U> for Recorder<U> {
    fn before(&mut self, _: u64, pins: &U::In, _: &U::Golden) {
        self.0.push(*pins);
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
    fn enough(&self) -> bool {
        self.0.len() > MAX_CYCLES
    }
}

impl<U: Unit> Stimulus for Recorded<U> {
    fn golden(&self) -> Box<dyn Model> {
        wavefront::<U>(&self.case.build())
    }
    fn cycles(&self) -> usize {
        self.pins.len()
    }
    fn pins(&self, cycle: usize) -> Option<&[u8]> {
        self.pins.get(cycle).map(bytes_of)
    }
    fn disassemble(&self, pc: u32) -> String {
        self.case.program.disassemble(pc)
    }
}

fn wavefront<U: Unit>(build: &Build) -> Box<dyn Model> {
    let golden = U::Golden::build(build);
    Box::new(Wavefront::<U> {
        before: golden.clone(),
        golden,
        pins: U::In::default(),
        lanes: build.lanes,
    })
}

fn recorded<U: Unit>(case: Case<U>, file: &str) -> Result<Box<dyn Stimulus>, String> {
    case.check_input(file).map_err(|e| e.to_string())?;
    if !case.start.is_empty() {
        return Err(format!(
            "{file}: it begins in a state of its own, which no pins lead to"
        ));
    }
    let mut recorder = Recorder::<U>(Vec::new());
    golden_alone(&case, MAX_CYCLES as u64, &mut recorder);
    match recorder.0 {
        pins if pins.len() > MAX_CYCLES => {
            Err(format!("{file}: it takes more than {MAX_CYCLES} cycles"))
        }
        pins => Ok(Box::new(Recorded { case, pins })),
    }
}

/// Settings for the run of a program.
pub struct Surroundings {
    /// Lanes and parameters.
    pub build: Build,
    /// Seed of conditions and stalls; never 0.
    pub seed: u64,
    /// Share of the cycles that stall or starve the unit, in 16ths, 0 to 15.
    pub stall16: u32,
    /// Number or name of the program, if the file has several.
    pub which: Option<String>,
}

/// Access to one unit, by which the library hides the unit's type.
trait Maker: Sync {
    fn name(&self) -> &'static str;
    fn lanes(&self) -> u32;
    fn model(&self, build: &Build) -> Result<Box<dyn Model>, String>;
    fn program(
        &self,
        file: &str,
        bytes: &[u8],
        with: &Surroundings,
    ) -> Result<Box<dyn Stimulus>, String>;
    fn saved(&self, file: &str, text: &str) -> Result<Box<dyn Stimulus>, String>;
    fn toml(&self) -> &'static str;
}

struct Of<U>(PhantomData<U>);

impl<U: Unit> Maker for Of<U> {
    fn name(&self) -> &'static str {
        U::NAME
    }
    fn lanes(&self) -> u32 {
        U::LANES
    }
    fn model(&self, build: &Build) -> Result<Box<dyn Model>, String> {
        build.check::<U>(U::NAME).map_err(|e| e.to_string())?;
        Ok(wavefront::<U>(build))
    }
    fn program(
        &self,
        file: &str,
        bytes: &[u8],
        with: &Surroundings,
    ) -> Result<Box<dyn Stimulus>, String> {
        let options = LoadOptions {
            which: with.which.clone(),
            ..LoadOptions::default()
        };
        let program = U::load(bytes, file, &options)
            .map_err(|e| e.to_string())?
            .program;
        let mut case = Case::<U>::new(program);
        // `lanes` is checked with the rest of the case.
        case.launch_mask = u64::MAX >> (64 - with.build.lanes.clamp(1, 64));
        case.lanes = with.build.lanes;
        case.parameters.clone_from(&with.build.parameters);
        (case.seed, case.stall16) = (with.seed, with.stall16);
        recorded(case, file)
    }
    fn saved(&self, file: &str, text: &str) -> Result<Box<dyn Stimulus>, String> {
        let saved = Saved::<Case<U>>::parse(text, file).map_err(|e| e.to_string())?;
        recorded(saved.case, file)
    }
    fn toml(&self) -> &'static str {
        U::DECLARATION.toml
    }
}

macro_rules! makers {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        static UNITS: &[&dyn Maker] = &[$(&Of::<reconverge::$module::$unit>(PhantomData)),+];
    };
}
reconverge::for_each_unit!(makers);

fn maker(unit: &str) -> Result<&'static dyn Maker, String> {
    let found = UNITS.iter().copied().find(|maker| maker.name() == unit);
    found.ok_or_else(|| {
        let names: Vec<_> = UNITS.iter().map(|maker| maker.name()).collect();
        format!("no unit {unit:?}; there are {}", names.join(" "))
    })
}

/// Returns the build of `unit` with `lanes` lanes, 0 for the default, and parameters such as `DEPTH=4,BRX=1`.
///
/// # Errors
/// There is no such unit, or the text of the parameters is wrong. Their names and values are checked when the build is used.
pub fn build(unit: &str, lanes: u32, parameters: &str) -> Result<Build, String> {
    let default = maker(unit)?.lanes();
    let mut build = Build::from(if lanes == 0 { default } else { lanes });
    for parameter in parameters.split(',').filter(|p| !p.is_empty()) {
        let bad = || format!("parameter {parameter:?}: not NAME=VALUE");
        let (name, value) = parameter.split_once('=').ok_or_else(bad)?;
        let value = value.parse().map_err(|_| bad())?;
        if build.parameters.insert(name.to_owned(), value).is_some() {
            return Err(format!("parameter {name} is given twice"));
        }
    }
    Ok(build)
}

/// Returns a golden model in its state after reset.
///
/// # Errors
/// There is no such unit, or the unit does not have these lanes or parameters.
pub fn model(unit: &str, build: &Build) -> Result<Box<dyn Model>, String> {
    maker(unit)?.model(build)
}

/// Returns the case of a program: assembly, words, or the output of a compiler, as `reconverge run` takes it.
///
/// # Errors
/// The file cannot be read or is not a program of the unit, a value is out of range, or the case has more than
/// [`MAX_CYCLES`] cycles.
pub fn program(unit: &str, file: &str, with: &Surroundings) -> Result<Box<dyn Stimulus>, String> {
    let maker = maker(unit)?;
    let bytes = input::read(Path::new(file)).map_err(|e| e.to_string())?;
    maker.program(file, &bytes, with)
}

/// Returns a saved case.
///
/// # Errors
/// The same as [`program`], or the case begins in a preloaded state.
pub fn saved(unit: &str, file: &str) -> Result<Box<dyn Stimulus>, String> {
    let maker = maker(unit)?;
    let text = input::read_text(Path::new(file)).map_err(|e| e.to_string())?;
    maker.saved(file, &text)
}

/// Returns the names and declarations (`design.toml`) of the units.
pub fn declarations() -> impl Iterator<Item = (&'static str, &'static str)> {
    UNITS.iter().map(|maker| (maker.name(), maker.toml()))
}
