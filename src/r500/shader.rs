//! The inputs of a shader's ALU, from its file: inputs, constants, uniforms, textures, and pixels with
//! their expected colours.
//!
//! Source: `docs/spec/r500-alu.md`, section 7. Two notations are equivalent: the sections of a `# SLOTS` listing
//! (`# INPUTS` and so on) and the directives of a `.s` file (`.input` and so on, see
//! [`super::asm::text`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::alu::decode::TexOp;
use super::alu::{CHANNELS, CONSTANTS, Instruction, Shared, TEMPS, Texture};
use super::program::Program;
use reconverge_bench::input::InputError;
use reconverge_bench::json::{map, required};
use reconverge_bench::text::Location;

/// Varyings that a shader can have: v0, v1, v2.
pub const VARYINGS: usize = 3;

/// Red, green, blue, alpha; or x, y, z, w.
pub type Vector = [f32; CHANNELS];

/// The initial register values of a shader, and the expected results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shader {
    /// Temporary registers that begin with a varying: register, varying.
    #[serde(deserialize_with = "map")]
    pub inputs: BTreeMap<u8, u8>,
    /// Constants; missing ones are 0.
    #[serde(deserialize_with = "map")]
    pub constants: BTreeMap<u8, Constant>,
    /// Uniforms, in the order of the compiler's list.
    pub uniforms: Vec<Uniform>,
    /// Varyings over a picture: values at its top left, top right and bottom left corner.
    #[serde(deserialize_with = "map")]
    pub varyings: BTreeMap<u8, [Vector; 3]>,
    /// Textures that differ from the specification's, by `TEX_ID`.
    #[serde(deserialize_with = "map")]
    pub textures: BTreeMap<u8, Texture>,
    /// Pixels with their expected colours (`# EXPECT`).
    pub examples: Vec<Example>,
}

/// A constant register.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constant {
    /// Its value.
    Value(Vector),
    /// The uniform of this number.
    Uniform(usize),
}

/// A uniform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Its name in the shader's source.
    pub name: String,
    /// Number of components; 0: a sampler, which has no value.
    pub components: u8,
    /// The value from the file, with as many numbers as there are components.
    #[serde(deserialize_with = "required")]
    pub value: Option<Vec<f32>>,
}

/// Pixels under one set of uniforms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Values of uniforms, by name; may include names that the shader does not have.
    #[serde(deserialize_with = "map")]
    pub uniforms: BTreeMap<String, Vec<f32>>,
    /// The pixels, lane 0 first.
    pub pixels: Vec<Pixel>,
}

/// A pixel with its expected colour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pixel {
    /// Varyings v0, v1, v2.
    pub inputs: [Vector; VARYINGS],
    /// Its colour; `None`: it is discarded.
    #[serde(deserialize_with = "required")]
    pub colour: Option<Vector>,
}

/// Names of the uniform types, with the number of components.
const TYPES: [(&str, u8); 7] = [
    ("float", 1),
    ("vec2", 2),
    ("vec3", 3),
    ("vec4", 4),
    ("bool", 1),
    ("int", 1),
    ("sampler", 0),
];

/// The numbers of the types in OpenGL, in the order of [`TYPES`].
const GL_TYPES: [&str; 7] = [
    "0x1406", "0x8b50", "0x8b51", "0x8b52", "0x8b56", "0x1404", "0x8b5e",
];

impl Shader {
    /// Returns whether nothing is given: the program can run, but nothing can be computed.
    pub fn is_empty(&self) -> bool {
        *self == Shader::default()
    }

    /// Returns what to say of `name`, which is not a uniform of the shader.
    pub fn unknown_uniform(&self, name: &str) -> String {
        let names: Vec<&str> = self.uniforms.iter().map(|u| u.name.as_str()).collect();
        match names.is_empty() {
            true => format!("no uniform {name}: the shader declares none"),
            false => format!("no uniform {name}; there are {}", names.join(", ")),
        }
    }

    /// Returns the values that all lanes share; uniforms have the values of `given`, or else those of the file.
    ///
    /// # Errors
    /// Uniforms have no value (their names), or a value with another number of components than the uniform.
    pub fn shared(&self, given: &BTreeMap<String, Vec<f32>>) -> Result<Shared, String> {
        let mut constants = Vec::new();
        let mut missing: Vec<&str> = Vec::new();
        for (&number, constant) in &self.constants {
            let value = match constant {
                Constant::Value(value) => *value,
                Constant::Uniform(n) => {
                    let uniform = &self.uniforms[*n];
                    let value = given.get(&uniform.name).or(uniform.value.as_ref());
                    let Some(value) = value else {
                        missing.push(&uniform.name);
                        continue;
                    };
                    if value.len() != usize::from(uniform.components) {
                        return Err(format!(
                            "uniform {} has {} components, not {}",
                            uniform.name,
                            uniform.components,
                            value.len()
                        ));
                    }
                    std::array::from_fn(|c| value.get(c).copied().unwrap_or(0.0))
                }
            };
            let number = usize::from(number);
            if constants.len() <= number {
                constants.resize(number + 1, [0.0; CHANNELS]);
            }
            constants[number] = value;
        }
        if !missing.is_empty() {
            missing.sort_unstable();
            missing.dedup();
            return Err(format!("no value for uniform {}", missing.join(", ")));
        }
        let texture = |id: usize| self.textures.get(&(id as u8)).copied().unwrap_or_default();
        Ok(Shared {
            constants,
            textures: std::array::from_fn(texture),
        })
    }

    /// Returns the equivalent directives of a `.s` file, one per line.
    pub fn directives(&self) -> String {
        let mut t = String::new();
        for (temp, varying) in &self.inputs {
            let _ = writeln!(t, ".input t{temp} v{varying}");
        }
        for uniform in &self.uniforms {
            let kind = TYPES.iter().find(|(_, n)| *n == uniform.components);
            let kind = kind.map_or("float", |(name, _)| name);
            let value = numbers(uniform.value.iter().flatten());
            let _ = writeln!(
                t,
                "{}",
                format!(".uniform {} {kind} {value}", uniform.name).trim_end()
            );
        }
        for (number, constant) in &self.constants {
            let _ = match constant {
                Constant::Value(value) => writeln!(t, ".const c{number} {}", numbers(value)),
                Constant::Uniform(n) => {
                    writeln!(t, ".const c{number} uniform {}", self.uniforms[*n].name)
                }
            };
        }
        for (number, corners) in &self.varyings {
            let _ = writeln!(
                t,
                ".varying v{number} {}",
                numbers(corners.iter().flatten())
            );
        }
        for (number, texture) in &self.textures {
            let _ = writeln!(t, ".texture {number} {}", texture.name());
        }
        for example in &self.examples {
            t.push_str(".example");
            for (name, value) in &example.uniforms {
                let value: Vec<String> = value.iter().map(ToString::to_string).collect();
                let _ = write!(t, " {name}={}", value.join(":"));
            }
            t.push('\n');
            for pixel in &example.pixels {
                let colour = match &pixel.colour {
                    Some(colour) => numbers(colour),
                    None => "discard".to_owned(),
                };
                let _ = writeln!(
                    t,
                    ".pixel {} -> {colour}",
                    numbers(pixel.inputs.iter().flatten())
                );
            }
        }
        t
    }
}

/// Lists the inputs of `program`'s computation, one line each: varyings, uniforms, textures. Empty if its file gives none.
pub fn needs(program: &Program) -> Vec<String> {
    let shader = &program.shader;
    if shader.is_empty() {
        return Vec::new();
    }
    let inputs = shader.inputs.iter();
    let mut needs: Vec<String> = inputs
        .map(|(t, v)| format!("varying v{v}, in t{t}"))
        .collect();
    for (number, constant) in &shader.constants {
        let Constant::Uniform(n) = constant else {
            continue;
        };
        let Uniform { name, value, .. } = &shader.uniforms[*n];
        let value = match value {
            Some(value) => numbers(value),
            None => format!("has no value, `render --uniform {name}=VALUE` gives it one"),
        };
        needs.push(format!("uniform {name}, in c{number}: {value}"));
    }
    let fetched = program.slots.iter().filter_map(|slot| {
        // Whoever executes the program reports refused instructions.
        let Ok(Some(Instruction::Tex(tex))) = Instruction::decode(*slot) else {
            return None;
        };
        matches!(tex.op, TexOp::Fetch { .. }).then_some(tex.texture)
    });
    for id in fetched.collect::<BTreeSet<u8>>() {
        let texture = shader.textures.get(&id).copied().unwrap_or_default();
        needs.push(format!("texture {id}: {}", texture.name()));
    }
    needs
}

/// Returns numbers as text that reads back as the same numbers, separated by blanks.
fn numbers<'n>(values: impl IntoIterator<Item = &'n f32>) -> String {
    let values: Vec<String> = values.into_iter().map(ToString::to_string).collect();
    values.join(" ")
}

/// Reads the lines of a file that belong to a [`Shader`].
#[derive(Default)]
pub(super) struct Reader {
    shader: Shader,
    /// GENERIC numbers of inputs, which become varyings when all are known: register, number, line.
    generics: Vec<(u8, u32, usize)>,
    /// Constants that are uniforms by number: constant, uniform, line.
    externals: Vec<(u8, usize, usize)>,
    /// Constants that are uniforms by name: constant, uniform, line.
    named: Vec<(u8, String, usize)>,
}

/// Parses a number that is neither infinite nor NaN.
fn float(at: Location, field: &str, text: &str) -> Result<f32, InputError> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(at.error(
            field,
            format!("must be a finite float32 number, not `{text}`"),
        )),
    }
}

fn floats(at: Location, field: &str, texts: &[&str]) -> Result<Vec<f32>, InputError> {
    texts.iter().map(|text| float(at, field, text)).collect()
}

/// Parses exactly `N` numbers.
fn array<const N: usize>(
    at: Location,
    field: &str,
    texts: &[&str],
) -> Result<[f32; N], InputError> {
    floats(at, field, texts)?
        .try_into()
        .map_err(|v: Vec<f32>| at.error(field, format!("{} numbers, {N} are needed", v.len())))
}

/// Splits a list into vectors; its length is a multiple of four.
fn vectors<const N: usize>(values: &[f32]) -> [Vector; N] {
    std::array::from_fn(|n| std::array::from_fn(|c| values[CHANNELS * n + c]))
}

/// Parses the name of a register: `letter` and a number below `count`, which it returns.
fn register(
    at: Location,
    field: &str,
    letter: char,
    text: &str,
    count: usize,
) -> Result<u8, InputError> {
    let number = text
        .strip_prefix(letter)
        .and_then(|n| n.parse::<usize>().ok());
    match number {
        Some(n) if n < count => Ok(n as u8),
        _ => {
            let message = format!("`{text}` is not one of {letter}0 to {letter}{}", count - 1);
            Err(at.error(field, message))
        }
    }
}

fn check_name(at: Location, name: &str) -> Result<(), InputError> {
    let sound = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
    if name.is_empty() || !name.chars().all(sound) {
        return Err(at.error(
            "uniform",
            format!("must be the name of a uniform, not `{name}`"),
        ));
    }
    Ok(())
}

/// Parses `NAME=VALUE` or `NAME=VALUE:VALUE...`.
fn assignment(at: Location, text: &str) -> Result<(String, Vec<f32>), InputError> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(at.error("uniform", format!("`{text}` is not of the form NAME=VALUE")));
    };
    let values: Vec<&str> = value.split([':', ',']).collect();
    check_name(at, name)?;
    Ok((name.to_owned(), floats(at, name, &values)?))
}

impl Reader {
    /// Returns the shader that was read.
    ///
    /// # Errors
    /// A constant names a uniform that does not exist; a register is given twice.
    pub fn finish(mut self, file: &str) -> Result<Shader, InputError> {
        // The compiler numbers the used varyings consecutively, from some number on (r500-alu-7-b).
        let mut used: Vec<u32> = self.generics.iter().map(|(_, k, _)| *k).collect();
        used.sort_unstable();
        used.dedup();
        for (temp, generic, line) in std::mem::take(&mut self.generics) {
            let at = Location { file, line };
            let varying = used.iter().position(|k| *k == generic).unwrap_or(0);
            if varying >= VARYINGS {
                let message = format!("more than {VARYINGS} varyings");
                return Err(at.error("IN", message));
            }
            self.input(at, temp, varying as u8)?;
        }
        let by_name = std::mem::take(&mut self.named)
            .into_iter()
            .map(|(c, name, line)| {
                let n = self.shader.uniforms.iter().position(|u| u.name == name);
                (c, n, name, line)
            });
        let by_number = self.externals.iter().map(|(c, n, line)| {
            let known = (*n < self.shader.uniforms.len()).then_some(*n);
            (*c, known, n.to_string(), *line)
        });
        for (constant, uniform, called, line) in by_name.chain(by_number).collect::<Vec<_>>() {
            let at = Location { file, line };
            let Some(n) = uniform.filter(|n| self.shader.uniforms[*n].components > 0) else {
                let why = match uniform {
                    Some(_) => format!("uniform {called} is a sampler, and has no value"),
                    None => self.shader.unknown_uniform(&called),
                };
                return Err(at.error("constant", why));
            };
            self.constant(at, constant, Constant::Uniform(n))?;
        }
        Ok(self.shader)
    }

    fn input(&mut self, at: Location, temp: u8, varying: u8) -> Result<(), InputError> {
        match self.shader.inputs.insert(temp, varying) {
            None => Ok(()),
            Some(_) => Err(at.error("input", format!("t{temp} has an input already"))),
        }
    }

    fn constant(&mut self, at: Location, number: u8, constant: Constant) -> Result<(), InputError> {
        match self.shader.constants.insert(number, constant) {
            None => Ok(()),
            Some(_) => Err(at.error("constant", format!("c{number} is given already"))),
        }
    }

    fn uniform(
        &mut self,
        at: Location,
        name: &str,
        components: u8,
        value: Option<Vec<f32>>,
    ) -> Result<(), InputError> {
        if self.shader.uniforms.iter().any(|u| u.name == name) {
            return Err(at.error("uniform", format!("{name} is given already")));
        }
        check_name(at, name)?;
        self.shader.uniforms.push(Uniform {
            name: name.to_owned(),
            components,
            value,
        });
        Ok(())
    }

    fn value(&mut self, at: Location, name: &str, texts: &[&str]) -> Result<(), InputError> {
        let value = floats(at, name, texts)?;
        let Some(uniform) = self.shader.uniforms.iter_mut().find(|u| u.name == name) else {
            return Err(at.error("uniform", self.shader.unknown_uniform(name)));
        };
        if value.len() != usize::from(uniform.components) {
            let message = format!("has {} components, not {}", uniform.components, value.len());
            return Err(at.error(name, message));
        }
        uniform.value = Some(value);
        Ok(())
    }

    fn varying(&mut self, at: Location, name: &str, texts: &[&str]) -> Result<(), InputError> {
        let number = register(at, "varying", 'v', name, VARYINGS)?;
        let corners = vectors(&array::<12>(at, name, texts)?);
        match self.shader.varyings.insert(number, corners) {
            None => Ok(()),
            Some(_) => Err(at.error("varying", format!("{name} is given already"))),
        }
    }

    fn texture(&mut self, at: Location, id: &str, name: &str) -> Result<(), InputError> {
        let id: u8 = at.unsigned("texture", id, 15)?;
        let Some(texture) = Texture::from_name(name) else {
            let names = Texture::ALL.map(Texture::name).join(", ");
            return Err(at.error("texture", format!("`{name}` is none of {names}")));
        };
        match self.shader.textures.insert(id, texture) {
            None => Ok(()),
            Some(_) => Err(at.error("texture", format!("{id} is given already"))),
        }
    }

    fn example(&mut self, at: Location, texts: &[&str]) -> Result<(), InputError> {
        let mut uniforms = BTreeMap::new();
        for text in texts {
            let (name, value) = assignment(at, text)?;
            if uniforms.insert(name, value).is_some() {
                return Err(at.error("uniform", format!("`{text}`: it has a value already")));
            }
        }
        self.shader.examples.push(Example {
            uniforms,
            pixels: Vec::new(),
        });
        Ok(())
    }

    fn pixel(&mut self, at: Location, inputs: &[&str], colour: &[&str]) -> Result<(), InputError> {
        let inputs = vectors(&array::<12>(at, "pixel", inputs)?);
        let colour = match colour {
            ["discard"] => None,
            numbers => Some(array(at, "colour", numbers)?),
        };
        let Some(example) = self.shader.examples.last_mut() else {
            return Err(at.error("pixel", "stands before the uniforms that it has"));
        };
        example.pixels.push(Pixel { inputs, colour });
        Ok(())
    }

    /// Reads a directive of a `.s` file; returns false if it is none of these.
    pub fn directive(
        &mut self,
        at: Location,
        word: &str,
        operands: &[&str],
    ) -> Result<bool, InputError> {
        let usage = |form: &str| Err(at.usage(word, form));
        match (word, operands) {
            (".input", [temp, varying]) => {
                let temp = register(at, "input", 't', temp, TEMPS)?;
                let varying = register(at, "input", 'v', varying, VARYINGS)?;
                self.input(at, temp, varying)?;
            }
            (".input", _) => return usage(" tN vN"),
            (".const", [number, "uniform", name]) => {
                let number = register(at, "constant", 'c', number, CONSTANTS)?;
                self.named.push((number, (*name).to_owned(), at.line));
            }
            (".const", [number, value @ ..]) if value.len() == CHANNELS => {
                let number = register(at, "constant", 'c', number, CONSTANTS)?;
                let value = array(at, "constant", value)?;
                self.constant(at, number, Constant::Value(value))?;
            }
            (".const", _) => return usage(" cN X Y Z W` or `.const cN uniform NAME"),
            (".uniform", [name, kind, value @ ..]) => {
                let Some((_, components)) = TYPES.iter().find(|(n, _)| n == kind) else {
                    let names = TYPES.map(|(n, _)| n).join(", ");
                    return Err(at.error("uniform", format!("`{kind}` is none of {names}")));
                };
                self.uniform(at, name, *components, None)?;
                if !value.is_empty() {
                    self.value(at, name, value)?;
                }
            }
            (".uniform", _) => return usage(" NAME TYPE [VALUE...]"),
            (".varying", [name, corners @ ..]) => self.varying(at, name, corners)?,
            (".varying", _) => return usage(" vN X Y Z W X Y Z W X Y Z W"),
            (".texture", [id, name]) => self.texture(at, id, name)?,
            (".texture", _) => return usage(" N NAME"),
            (".example", uniforms) => self.example(at, uniforms)?,
            (".pixel", operands) => {
                let arrow = operands.iter().position(|t| *t == "->");
                let Some((inputs, colour)) = arrow.map(|n| operands.split_at(n)) else {
                    return usage(" V0 V1 V2 -> COLOUR");
                };
                self.pixel(at, inputs, &colour[1..])?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a line of a section of a `# SLOTS` listing; lines of other sections are ignored.
    pub fn listing(&mut self, at: Location, section: &str, line: &str) -> Result<(), InputError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let malformed =
            || Err(at.error(words[0], format!("`{line}` is not a line of # {section}")));
        match (section, &words[..]) {
            ("INPUTS", ["IN", temp, "=", generic]) => {
                let temp = register(at, "IN", 't', temp, TEMPS)?;
                let Some(k) = generic.strip_prefix("GENERIC").and_then(|k| k.parse().ok()) else {
                    return Err(at.error("IN", format!("`{generic}` is not GENERIC and a number")));
                };
                self.generics.push((temp, k, at.line));
            }
            ("CONSTANTS", ["CONST", number, "IMM", value @ ..]) => {
                let number = register(at, "CONST", 'c', number, CONSTANTS)?;
                let value = array(at, "CONST", value)?;
                self.constant(at, number, Constant::Value(value))?;
            }
            ("CONSTANTS", ["CONST", number, "EXTERNAL", uniform]) => {
                let number = register(at, "CONST", 'c', number, CONSTANTS)?;
                self.externals.push((
                    number,
                    at.unsigned::<u32>("CONST", uniform, 255)? as usize,
                    at.line,
                ));
            }
            ("GL", ["UNIFORM", name, "size", "1", "type", kind, ..]) => {
                let Some(n) = GL_TYPES.iter().position(|t| t == kind) else {
                    return Err(at.error(
                        "UNIFORM",
                        format!("type {kind} of {name} is not known here"),
                    ));
                };
                self.uniform(at, name, TYPES[n].1, None)?;
            }
            ("RENDER", ["VALUE", name, value @ ..]) => self.value(at, name, value)?,
            ("RENDER", ["VARYING", name, corners @ ..]) => self.varying(at, name, corners)?,
            ("RENDER", ["TEXTURE", id, name]) => self.texture(at, id, name)?,
            ("EXPECT", ["UNIFORMS", uniforms @ ..]) => self.example(at, uniforms)?,
            ("EXPECT", ["PIXEL", number, "IN", values @ ..]) => {
                let n = self.shader.examples.last().map_or(0, |e| e.pixels.len());
                if number.parse() != Ok(n) {
                    return Err(at.error("PIXEL", format!("{number} follows where {n} should")));
                }
                let out = values.iter().position(|t| *t == "OUT");
                let Some((inputs, colour)) = out.map(|n| values.split_at(n)) else {
                    return malformed();
                };
                self.pixel(at, inputs, &colour[1..])?;
            }
            ("INPUTS" | "CONSTANTS" | "GL" | "RENDER" | "EXPECT", _) => return malformed(),
            _ => {}
        }
        Ok(())
    }
}
