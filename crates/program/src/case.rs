//! A case: everything that one lock-step run depends on. A case saved as JSON replays bit for bit.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Formatter, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::assembly::Assembly as _;
use crate::environment::{bits, draw_word, lowest};
use crate::program::Programs;
use crate::start::Start;
use reconverge_bench::design::{Build, Golden};
use reconverge_bench::field::Flip;
use reconverge_bench::input::InputError;
pub use reconverge_bench::input::LONGEST_NAME;
use reconverge_bench::json::{self, count, hex, limit, map, required};
pub use reconverge_bench::place::Place;
use reconverge_bench::saved::{self, Form, Savable};

/// Default seed. Never 0.
pub const DEFAULT_SEED: u64 = 1;
/// Default number of instructions after which a run ends.
pub const MAX_STEPS: u64 = 100_000;
/// Maximum number of noisy cycles of a case: a run of some seconds. A case of a campaign has 512.
pub const MAX_NOISE: u64 = 10_000_000;

/// Kind of a random program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Built from the spec's statements; ends by construction.
    Structured,
    /// Structured, with one random change, which may still be legal, or with a stack filled to its limit.
    NearLegal,
    /// Random words.
    Raw,
    /// Raw or near-legal, begun in a random legal state ([`crate::start`]).
    Seeded,
}

impl Kind {
    /// Returns the kind as it appears in the names of programs.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Structured => "structured",
            Kind::NearLegal => "near-legal",
            Kind::Raw => "raw",
            Kind::Seeded => "seeded",
        }
    }
}

/// Prints [`Kind::name`].
impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Source of the lanes' conditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Conditions {
    /// Each lane's own draw; a bit is 1 with probability p16/16 (see [`crate::environment`]).
    Drawn {
        /// Probability of a 1 in 16ths, 0..=16.
        p16: u32,
    },
    /// Bits of draw k of a lane, keyed by lane and k; draws that are not in the table are 0.
    Table(Table),
    /// Each lane's own draw, except that `rows` replace the condition bits of some draws.
    Changed {
        /// Probability of a 1 in 16ths, 0..=16.
        p16: u32,
        /// Draws whose bits are replaced.
        rows: Table,
    },
    /// Random bits in every cycle, coverage included.
    Noise,
}

impl Conditions {
    /// Returns the lowest `count` condition bits of draw `k` of `lane`; 0 for noise, which is not a lane's draw.
    #[inline]
    pub fn draw(&self, seed: u64, lane: u32, k: u64, count: u32) -> u16 {
        match self {
            Conditions::Drawn { p16 } => bits(draw_word(seed, lane, k), count, *p16),
            Conditions::Table(table) => lowest(table.bits(lane, k), count),
            Conditions::Changed { p16, rows } => match rows.get(lane, k) {
                Some(changed) => lowest(changed, count),
                None => bits(draw_word(seed, lane, k), count, *p16),
            },
            Conditions::Noise => 0,
        }
    }

    /// Returns true if the conditions, or some of them, follow from the seed.
    pub fn are_drawn(&self) -> bool {
        matches!(self, Conditions::Drawn { .. } | Conditions::Changed { .. })
    }
}

/// The rows of a `--conditions` file. `Clone` is cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "Vec<Row>")]
pub struct Table(Arc<HashMap<(u32, u64), u16>>);

/// One row of a `--conditions` file (JSON Lines).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Lane.
    pub lane: u32,
    /// Number of instructions that the lane had executed before this draw: k of contract-7-b.
    #[serde(with = "count")]
    pub k: u64,
    /// Condition bits of the draw.
    pub bits: u16,
}

impl<'de> Deserialize<'de> for Table {
    /// Reads a list of rows; an error if a draw occurs twice.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let rows = Vec::<Row>::deserialize(from)?;
        let mut table = HashMap::with_capacity(rows.len());
        for Row { lane, k, bits } in rows {
            if table.insert((lane, k), bits).is_some() {
                return Err(D::Error::custom(given_twice(lane, k)));
            }
        }
        Ok(Table(Arc::new(table)))
    }
}

impl From<Vec<Row>> for Table {
    /// Returns the table of these rows. If several rows give the same draw, the last one is used.
    fn from(rows: Vec<Row>) -> Self {
        let rows = rows.into_iter().map(|r| ((r.lane, r.k), r.bits));
        Table(Arc::new(rows.collect()))
    }
}

fn given_twice(lane: u32, k: u64) -> String {
    format!("draw {k} of lane {lane} is given twice")
}

impl From<Table> for Vec<Row> {
    fn from(table: Table) -> Self {
        let mut rows: Vec<Row> = table
            .0
            .iter()
            .map(|(&(lane, k), &bits)| Row { lane, k, bits })
            .collect();
        rows.sort_by_key(|r| (r.lane, r.k));
        rows
    }
}

impl Table {
    /// Returns every row whose bits are not 0, ordered by lane and k.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::from(self.clone());
        rows.retain(|row| row.bits != 0);
        rows
    }

    /// Reads a `--conditions` file.
    ///
    /// # Errors
    /// A line is not a row, a lane is 64 or more, a draw occurs twice, or there are no rows.
    pub fn parse(text: &str, file: &str) -> Result<Self, InputError> {
        let mut rows = HashMap::new();
        for (n, line) in text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty())
        {
            let bad =
                |field: &str, why: String| InputError::new(file, n + 1, field, why).in_text(text);
            let row: Row = serde_json::from_str(line).map_err(|e| {
                let mut error = InputError::json(file, "row", line, &e).on_line(n + 1);
                error.message += "; a row is {\"lane\":0,\"k\":0,\"bits\":0}";
                error
            })?;
            if row.lane >= 64 {
                return Err(bad("lane", format!("{} is not a lane, 0..63", row.lane)));
            }
            if rows.insert((row.lane, row.k), row.bits).is_some() {
                return Err(bad("k", given_twice(row.lane, row.k)));
            }
        }
        if rows.is_empty() {
            return Err(InputError::new(
                file,
                0,
                "row",
                "no rows: every condition would be 0",
            ));
        }
        Ok(Table(Arc::new(rows)))
    }

    /// Returns the condition bits of draw `k` of `lane`; 0 if the table does not have them.
    pub fn bits(&self, lane: u32, k: u64) -> u16 {
        self.get(lane, k).unwrap_or(0)
    }

    /// Returns the condition bits of draw `k` of `lane`, if the table has them.
    pub fn get(&self, lane: u32, k: u64) -> Option<u16> {
        self.0.get(&(lane, k)).copied()
    }
}

/// Everything that one lock-step run depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Case<U: Programs> {
    /// The program with the values of its registers.
    pub program: U::Program,
    /// Seed of conditions, stalls and noise; never 0.
    #[serde(with = "hex")]
    pub seed: u64,
    /// Seed of what a model draws: registers without reset, and X. `None`: it follows from `seed`. A failure in a campaign has that
    /// of its model, which has run other cases before.
    #[serde(deserialize_with = "required")]
    pub model_seed: Option<u32>,
    /// Lanes of the wavefront.
    pub lanes: u32,
    /// Parameters of the RTL that differ from their defaults, with their values.
    #[serde(deserialize_with = "map")]
    pub parameters: BTreeMap<String, u32>,
    /// Lanes launched (r500: covered; r700: valid).
    #[serde(with = "hex")]
    pub launch_mask: u64,
    /// Share of the cycles that stall or starve the unit, in 16ths, 0..=15.
    pub stall16: u32,
    /// Number of instructions after which the run ends; [`u64::MAX`]: no limit.
    #[serde(with = "limit")]
    pub max_steps: u64,
    /// Source of the conditions.
    pub conditions: Conditions,
    /// Length of a noisy run in cycles; `None`: no noise. A noisy bench does what the contract tells the unit to ignore or
    /// to survive: noise on pins that do not matter, launches and host writes while a program runs, further launches, resets
    /// in mid-flight.
    #[serde(deserialize_with = "required")]
    pub noise_cycles: Option<u64>,
    /// States that are preloaded after a launch: each launch takes the next one, cyclically. If empty, the program begins in
    /// the state after the launch.
    pub start: Vec<U::Start>,
    /// Bit of the golden model's expected state to flip.
    #[serde(deserialize_with = "required")]
    pub flip: Option<Flip>,
    /// Directory of other RTL; `None`: own RTL. A path that is not UTF-8 is saved with replacement characters.
    #[serde(serialize_with = "json::path", deserialize_with = "required")]
    pub rtl: Option<PathBuf>,
    /// Builds the RTL without assertions.
    pub no_assert: bool,
    /// Number of the mutant in `rtl`; `None`: no mutant.
    #[serde(deserialize_with = "required")]
    pub mutant: Option<u32>,
}

impl<U: Programs> Case<U> {
    /// Returns a case of `program` with the defaults of `run`.
    pub fn new(program: U::Program) -> Self {
        Case {
            program,
            seed: DEFAULT_SEED,
            model_seed: None,
            lanes: U::LANES,
            parameters: BTreeMap::new(),
            launch_mask: u64::MAX >> (64 - U::LANES),
            stall16: 0,
            max_steps: MAX_STEPS,
            conditions: Conditions::Drawn { p16: 8 },
            noise_cycles: None,
            start: Vec::new(),
            flip: None,
            rtl: None,
            no_assert: false,
            mutant: None,
        }
    }

    /// Returns the name of the run: `<unit>.<program>.<seed>`.
    pub fn name(&self) -> String {
        format!("{}.{}.{:x}", U::NAME, self.program.name(), self.seed)
    }

    /// Returns the options with which `run` runs the program as this case does, except for what only a saved case holds: rows
    /// of a table, noise, preloaded states, the RTL.
    pub fn options(&self) -> String {
        let mut text = format!("--lanes {} --seed {}", self.lanes, self.seed);
        if self.launch_mask != u64::MAX >> (64 - self.lanes) {
            let _ = write!(text, " --launch-mask {:x}", self.launch_mask);
        }
        if self.stall16 > 0 {
            let _ = write!(text, " --stall16 {}", self.stall16);
        }
        for (name, value) in &self.parameters {
            let _ = write!(text, " --param {name}={value}");
        }
        match &self.conditions {
            Conditions::Drawn { p16 } | Conditions::Changed { p16, .. } => {
                let _ = write!(text, " --p16 {p16}");
            }
            Conditions::Table(table) if table.rows().is_empty() => text += " --p16 0",
            Conditions::Table(_) | Conditions::Noise => {}
        }
        // `run` has no option for a run without a limit.
        if ![MAX_STEPS, u64::MAX].contains(&self.max_steps) {
            let _ = write!(text, " --max-steps {}", self.max_steps);
        }
        if let Some(flip) = &self.flip {
            let _ = write!(
                text,
                " --flip '{}[{}].{}@{}'",
                flip.field, flip.element, flip.bit, flip.cycle
            );
        }
        text
    }

    /// Describes the settings under which the program runs: the options of [`Case::options`], and the others in words.
    pub fn surroundings(&self) -> String {
        match self.without_option() {
            others if others.is_empty() => self.options(),
            others => format!("{}, {others}", self.options()),
        }
    }

    /// Describes the settings that [`Case::options`] does not hold, rows of a table as `lane:draw=bits`; empty if there are none.
    pub fn without_option(&self) -> String {
        let mut settings = Vec::new();
        let listed = |what: &str, rows: Vec<Row>| {
            let mut text = format!("{what} (lane:draw=bits)");
            for row in rows {
                let _ = write!(text, " {}:{}={:#x}", row.lane, row.k, row.bits);
            }
            text
        };
        match &self.conditions {
            Conditions::Table(table) if !table.rows().is_empty() => {
                settings.push(listed("conditions", table.rows()));
            }
            Conditions::Changed { rows, .. } => {
                settings.push(listed("changed conditions", Vec::from(rows.clone())));
            }
            Conditions::Noise => settings.push("conditions: noise".to_owned()),
            Conditions::Drawn { .. } | Conditions::Table(_) => {}
        }
        match self.start.len() {
            0 => {}
            1 => settings.push("begins in a state of its own".to_owned()),
            n => settings.push(format!("begins in {n} states in turn")),
        }
        if let Some(cycles) = self.noise_cycles {
            settings.push(format!("{cycles} noisy cycles with launches and resets"));
        }
        settings.join(", ")
    }

    /// Returns the lanes and parameters with which RTL and golden model are built.
    pub fn build(&self) -> Build {
        Build {
            lanes: self.lanes,
            parameters: self.parameters.clone(),
        }
    }

    /// Returns the golden model after reset.
    pub fn golden(&self) -> U::Golden {
        U::Golden::build(&self.build())
    }

    /// Returns the seed for the model: of registers without reset, and of X.
    pub fn model_seed(&self) -> u32 {
        self.model_seed
            .unwrap_or((self.seed ^ self.seed >> 32) as u32 & 0x7fff_ffff | 1)
    }

    /// Makes `seed` the seed for the model.
    pub fn set_model_seed(&mut self, seed: u32) {
        if seed != self.model_seed() {
            self.model_seed = Some(seed);
        }
    }
}

impl<U: Programs> Savable for Case<U> {
    type Design = U;
    const FORM: &'static Form = &saved::PROGRAM;

    fn check_input(&self, file: &str) -> Result<(), InputError> {
        let bad = |field: &str, why: String| Err(InputError::new(file, 0, field, why));
        if self.seed == 0 {
            return bad("seed", "must be at least 1".to_owned());
        }
        if self.model_seed == Some(0) {
            return bad("model_seed", "must be at least 1".to_owned());
        }
        self.build().check::<U>(file)?;
        if self.lanes < 64 && self.launch_mask >> self.lanes != 0 {
            let why = format!(
                "0x{:x} names lanes beyond {}",
                self.launch_mask,
                self.lanes - 1
            );
            return bad("launch_mask", why);
        }
        if self.stall16 > 15 {
            return bad(
                "stall16",
                format!(
                    "must be 0 to 15, not {}; 16 would never let the unit run",
                    self.stall16
                ),
            );
        }
        if let Conditions::Drawn { p16 } | Conditions::Changed { p16, .. } = self.conditions
            && p16 > 16
        {
            return bad("p16", format!("must be 0 to 16, not {p16}"));
        }
        if self.mutant.is_some() && self.rtl.is_none() {
            return bad(
                "mutant",
                "our own RTL holds none: which RTL (rtl)".to_owned(),
            );
        }
        if self.max_steps == 0 {
            return bad("max_steps", "0 would compare nothing".to_owned());
        }
        // These are saved as JSON numbers.
        for (name, number) in [
            (
                "max_steps",
                if self.max_steps == u64::MAX {
                    0
                } else {
                    self.max_steps
                },
            ),
            ("flip", self.flip.as_ref().map_or(0, |flip| flip.cycle)),
        ] {
            if number > json::MAX {
                return bad(name, format!("{number} is more than {}", json::MAX));
            }
        }
        if let Some(path) = &self.rtl
            && path.to_str().is_none()
        {
            let why = format!("{}: not UTF-8, it could not be saved", path.display());
            return bad("rtl", why);
        }
        if self.noise_cycles == Some(0) {
            return bad("noise_cycles", "0 would compare nothing".to_owned());
        }
        if let Some(cycles) = self.noise_cycles.filter(|cycles| *cycles > MAX_NOISE) {
            let why = format!("{cycles} is more than {MAX_NOISE}");
            return bad("noise_cycles", why);
        }
        // Only a noisy case may have no limit: it ends after `noise_cycles` cycles.
        if self.noise_cycles.is_none() && self.max_steps == u64::MAX {
            let why = "without a limit only with noise_cycles".to_owned();
            return bad("max_steps", why);
        }
        if let Conditions::Table(table) | Conditions::Changed { rows: table, .. } = &self.conditions
            && let Some(lane) = table
                .0
                .keys()
                .map(|(lane, _)| *lane)
                .find(|lane| *lane >= self.lanes)
        {
            return bad(
                "conditions",
                format!(
                    "lane {lane}, and the case has lanes 0 to {}",
                    self.lanes - 1
                ),
            );
        }
        for (n, start) in self.start.iter().enumerate() {
            if let Err((field, why)) = start.check(self) {
                return bad(&format!("start[{n}].{field}"), why);
            }
        }
        if let Some(flip) = &self.flip {
            let checked = flip.check(U::fields(), self.lanes as usize);
            checked.or_else(|why| bad("flip", why))?;
        }
        let name = self.program.name();
        if name.len() > LONGEST_NAME {
            let why = format!("{} characters, more than {LONGEST_NAME}", name.len());
            return bad("name", why);
        }
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_graphic() && c != '/') {
            return bad("name", format!("{name:?} cannot be part of a file name"));
        }
        self.program.check(file)
    }
}
