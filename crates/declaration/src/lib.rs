//! Reads the declaration of a design, `design.toml`, and generates the parts on which both sides of a lock-step bench must
//! agree:
//!
//! * the structs of pins and state, the list of fields, and tables of names ([`Declaration::rust`]);
//! * the bench top around the RTL ([`Declaration::bench_top`]);
//! * the C struct of the pins and the code that drives them ([`Declaration::header`]).
//!
//! # The file
//!
//! ```toml
//! name = "fifo"                # names the generated modules: fifo_tb
//! top = "fifo"                 # the module under test
//! doc = "A FIFO of eight bits."
//!
//! [[parameter]]                # of the module; all have `name`, `default` and `range` or `values`
//! name = "DEPTH"
//! default = 4
//! range = [2, 16]
//!
//! [[pin]]                      # an input; its port is `<name>_i` unless `port` says otherwise
//! name = "rst_n"
//! port = "rst_ni"
//! reset = "low"
//! doc = "Synchronous reset."
//!
//! [[pin]]
//! name = "data"
//! width = 8
//! doc = "Data to be pushed."
//!
//! [[state]]                    # compared after every cycle, in this order
//! name = "level"
//! width = 3
//! doc = "Entries in use."
//! probe = "dut.level_q"        # any expression in the bench top, which calls the design `dut`
//!
//! [[state]]
//! name = "entries"
//! width = 8
//! count = 4
//! depth = "level"              # entries from `level` on read as 0
//! doc = "Entries, oldest first."
//! probe = ["dut.mem_q[0]", "dut.mem_q[1]", "dut.mem_q[2]", "dut.mem_q[3]"]
//!
//! [[state]]
//! name = "valid"
//! output = "valid_o"           # an output port in the place of a probe
//! doc = "There is an entry."
//! ```
//!
//! # Keys
//!
//! | table | keys |
//! |---|---|
//! | (root) | `name`, `doc`; `top` (default: `name`), `clock` (`clk_i`), or `combinational = true` for a design without a clock, or `[[clock]]` for one with several, `verilog`: functions and nets that probes use; `literals`: values with which the RTL compares, in ascending order, from which pins of more than 6 bits are drawn too; `transactions = true`: the golden model speaks in transactions of the channels, and states are not compared |
//! | `[lanes]` | `default`; `parameter` (`LANES`); `wavefronts`: into how many wavefronts of equal size they are divided, the lanes of the first one first (1). Without the table the design has no lanes |
//! | `[[parameter]]` | `name`, `default`; `range`, or `values`: the only values, in ascending order |
//! | `[[enum]]` | `name`, `names`; `values`: their values, in ascending order (0, 1, ...); `numbered`: printed with the number; `table`: name of the table in the waves |
//! | `[[clock]]` | `name`, `doc`; `port` (`<name>_i`); `period`: least and greatest; `phase`: least and greatest, below the least period; any below the period unless it is given. Both in steps of time, and drawn for each stream |
//! | `[[pin]]` | `name`, `doc`; `port`, or a list: one port per element, or for a reset any number; each is a whole port or some bits, such as `req_i[7:0]`; layout; `clock`: one of several clocks, with whose rising edge alone the pin changes; `reset` (`"low"`, `"high"`), with `asynchronous = true` if it acts without an edge of the clock, or `stall = true`; `default`, a number or `"ones"`; for random values: `percent` of flags and masks, `range` of others, or `enum`: only its values; `signed = true`: they are printed with a sign; `only_with`: a parameter that must not be 0; `waves`: whether it is shown, or how many of its ports are; a reset and a stall are unless it is false |
//! | `[[state]]` | `name`, `doc`; layout; `clock`: one of several clocks, with whose rising edge alone the field changes; `output` or `probe`, one or a list; `sampled`: it depends on the pins of the same cycle, such as a combinational output; `depth` or `valid`: which entries are in use, or when the field is; others read as 0; `show` (`decimal`, `hex`, `address`, `signed`, `binary`), `enum` or `part`; `context`: reports always show it; `load`: registers that preloading writes; `falling = true`: it may change at the falling edge of the clock |
//! | `part` of a field | `bits`; `name`, `signed`, `names` |
//! | `[[channel]]` | `name`; `side`: `"in"`, the module receives, or `"out"`; `valid` and `ready`, of one bit, and `payload`, one or a list: pins where the module receives them, otherwise fields; `withdraw = true`: valid may fall, and the payload change, before ready; `unless`: the condition under which they may; `never`: what cannot happen, of `back-to-back`, `stall`, `long stall` and `ready alone`; with `transactions`, `latency`: most cycles in which valid is 0 while a transaction is owed, or where the module receives, in which ready is 0 while nothing is owed on any channel |
//! | `[[coverpoint]]` | `name`; `width` (1) or `enum`: a number that the golden model gives in every cycle, for conditions and axes of `[[cover]]` alone |
//! | `[[cover]]` | a group of bins: `name`, `doc`; `axis`: a list of tables; `when`: the cycles that count, without those in which the reset is asserted unless it names the reset; `unreachable`: a list of tables |
//! | `axis` of a group | `of`: a pin, a field, a coverpoint or a parameter, `name` (what `of` is); `bins`: its values, such as `"3"`, `"2..6"`, `"DEPTH"` or a name of its enum (every value of an enum, or of up to 6 bits). Or `name` and `bin`: a list of tables with `name` and `when`. The first bin that holds is hit |
//! | `unreachable` | `at`: a table with a bin, or a list of bins, for some of the axes; `why`; `when`: only with such parameters |
//! | `[[view]]` | `name`, `fields`; `letter`: a list of `text` and `count`, one for each value of the first field; `table` |
//! | `[[load]]` | `register` and `value`, or `call`; `when` |
//! | `[assertions]` | `file`: SystemVerilog beside the RTL that binds itself to it, read only if assertions are checked; `loaded`: a register in it that preloading sets |
//!
//! Layout: `planes = n` (n bits per lane, each plane a word of 64 lanes), or `width` and `count`; `count = "lanes"` of a pin means
//! one element per lane (of a field it is `planes`), `count = "wavefronts"` of a field one per wavefront. A member of a Rust struct is always without a sign, because
//! both sides are compared bit by bit; of a signed pin or field `signed_NAME()` returns the number and `set_signed_NAME` sets it. In the expressions of `[[load]]`, `load_<field>` is the value to load.
//!
//! A condition is comparisons joined by `&&` and `||`, of which `&&` binds more tightly: a name, `==`, `!=`, `<`, `<=`, `>` or `>=`, and a
//! name, a number or a name of an enum's value; a number may be added to either side, as in `level + 1 == DEPTH`. In `valid` a name is a
//! field after the cycle, which reads as 0 while it is not compared itself, or a pin of the cycle that is neither reset nor clock; where
//! both have it, it is the field, and `pin.NAME` the pin. In `unless` a name is such a pin, with or without `pin.`. In a `[[cover]]` it is a pin, a parameter, a coverpoint, or a field before the cycle, or of
//! the cycle if it is sampled; `next.NAME` is a field after the cycle, and `pin.NAME` or `state.NAME` says which where a pin and a field
//! have one name.
//!
//! # Another RTL
//!
//! A folder with other RTL of the same design has a file `<name>_probe.toml` with `verilog`, `[[state]]` (`name`, `probe`,
//! `load`, `falling`), `[[load]]` and `[assertions]`, or a `design.toml` with the same declaration. Without loads the RTL is not
//! preloaded; without assertions nothing is bound to it.
//!
//! The bits of a port are counted from its lowest one, whatever its type is; all of them must be in some pin or field. The name of
//! a port is that of the RTL: `\a+b ` is an escaped one.
//!
//! All sizes are limited; an unknown key is an error. Errors name file, line and key ([`Error`]).
#![forbid(unsafe_code)]

mod error;
mod generate;
mod header;
mod parse;
mod port;
mod probes;
mod rust;
mod table;
mod verilog;

pub use error::Error;
pub use generate::generate;
pub use parse::name_of;
pub use port::Port;

/// Most lanes, because a mask is a word of 64 bits.
pub const MAX_LANES: u64 = 64;
/// Most bits of one port.
pub const MAX_PORT: u32 = 1 << 19;
/// Most bits of one element.
pub const MAX_WIDTH: u64 = 64;
/// Most elements of one pin or field.
pub const MAX_ELEMENTS: u64 = 4096;
/// Most fields.
pub const MAX_FIELDS: usize = 256;
/// Most pins.
pub const MAX_PINS: usize = 256;
/// Most bytes of the struct of pins, and of the struct of state.
pub const MAX_BYTES: usize = 1 << 16;
/// Most clocks of a design that has several.
pub const MAX_CLOCKS: usize = 8;
/// Longest period of one of several clocks.
pub const MAX_PERIOD: u64 = 1000;
/// Most channels.
pub const MAX_CHANNELS: usize = 32;
/// Longest limit of what a channel may take for a transaction.
pub const MAX_LATENCY: u64 = 100_000;
/// What can happen to a channel: a transfer; a transfer in the cycle after another one; valid without ready, and that for several cycles;
/// ready without valid; an offer that is taken back or changed before ready.
pub const EVENTS: [&str; 6] = [
    "transfer",
    "back-to-back",
    "stall",
    "long stall",
    "ready alone",
    "withdrawal",
];
/// Most bins of all groups.
pub const MAX_BINS: usize = 1 << 16;
/// Most characters of a name.
pub const MAX_NAME: usize = 128;

/// A design: its parameters, its pins, and the state that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declaration {
    /// Name of the design; generated modules and files use it.
    pub name: String,
    /// Module under test.
    pub top: String,
    /// Description, as a doc comment.
    pub doc: String,
    /// Port of the clock; empty if the design is combinational, or has several clocks, which then are its first pins.
    pub clock: String,
    /// Lanes, if the design has any.
    pub lanes: Option<Lanes>,
    /// Further parameters of the module.
    pub parameters: Vec<Parameter>,
    /// Tables of names for values.
    pub enums: Vec<Enum>,
    /// Values with which the RTL compares, in ascending order.
    pub literals: Vec<u64>,
    /// Inputs.
    pub pins: Vec<Pin>,
    /// State, in the order of the mismatch bits and of reports.
    pub state: Vec<State>,
    /// Numbers that the golden model gives for bins.
    pub coverpoints: Vec<Coverpoint>,
    /// Groups of bins.
    pub covers: Vec<Cover>,
    /// Signals that show several fields of a lane as one.
    pub views: Vec<View>,
    /// Handshakes.
    pub channels: Vec<Channel>,
    /// Transfers on them are compared instead of states, and the bench top keeps what is offered until ready.
    pub transactions: bool,
    /// Where the state is in the RTL of this declaration.
    pub probes: Probes,
}

/// The lanes of a design, and the parameter that sets their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Name of the parameter of the module.
    pub parameter: String,
    /// Default number of lanes.
    pub default: u64,
    /// Number of wavefronts into which they are divided.
    pub wavefronts: u64,
}

/// A parameter of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in the RTL.
    pub name: String,
    /// Default value.
    pub default: u64,
    /// Least and greatest value.
    pub range: (u64, u64),
    /// The only values, in ascending order; empty if all of the range are allowed.
    pub values: Vec<u64>,
}

/// A table of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Name.
    pub name: String,
    /// Name of the table in the waves.
    pub table: String,
    /// Names of the values.
    pub names: Vec<String>,
    /// The values that have these names, in ascending order.
    pub values: Vec<u64>,
    /// Values are printed with their number: `3 OVERFLOW`.
    pub numbered: bool,
}

impl Enum {
    /// Returns whether its values are 0, 1, and so on.
    pub(crate) fn is_counted(&self) -> bool {
        self.values.iter().copied().eq(0..self.values.len() as u64)
    }
}

/// Layout of a pin or a field in its struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// This many planes of 64 bits; bit i of each belongs to lane i.
    Planes(usize),
    /// Integers.
    Words {
        /// Significant bits of each.
        width: u32,
        /// Number of elements; `None` means one per lane.
        count: Option<usize>,
    },
}

impl Shape {
    /// Returns the number of elements for which the struct has room.
    pub fn count(self) -> usize {
        match self {
            Shape::Planes(n) => n,
            Shape::Words { count, .. } => count.unwrap_or(MAX_LANES as usize),
        }
    }

    /// Returns the bytes of one element, the size of a Rust integer. Elements of a list whose width is a multiple of 8 have
    /// no gaps, so that the RTL's vector has the same layout as the struct.
    pub fn bytes(self) -> usize {
        let Shape::Words { width, .. } = self else {
            return 8;
        };
        match (width.div_ceil(8) as usize, self.count()) {
            (bytes, 2..) if width.is_multiple_of(8) => bytes,
            (bytes, _) => bytes.next_power_of_two(),
        }
    }

    /// Returns the bytes of all elements.
    pub fn size(self) -> usize {
        self.count() * self.bytes()
    }

    /// Returns the alignment in bytes. Anything longer than a word is aligned to whole words, which Verilator copies.
    pub fn align(self) -> usize {
        match (self.bytes(), self.size()) {
            (_, 9..) => 8,
            (bytes, _) if bytes.is_power_of_two() => bytes,
            _ => 1,
        }
    }
}

/// Active level of a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Active at 0.
    Low,
    /// Active at 1.
    High,
}

/// Purpose of a pin, as far as the bench needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The design's reset.
    Reset(Level),
    /// While it is 1, nothing changes.
    Stall,
    /// One of several clocks, 1 in the cycles in which it rises. Its range is that of its period.
    Clock {
        /// Least and greatest phase; `None`: every one below the period.
        phase: Option<(u64, u64)>,
    },
    /// Any other pin.
    Plain,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pin {
    /// Name in the structs.
    pub name: String,
    /// What it means.
    pub doc: String,
    /// Ports: one per element, or one for all of them; of a reset any number, all with its value.
    pub ports: Vec<Port>,
    /// The one of several clocks with whose rising edge alone the pin changes.
    pub clock: Option<String>,
    /// Layout.
    pub shape: Shape,
    /// Purpose.
    pub role: Role,
    /// The pin is a reset that acts as soon as it is asserted, without an edge of the clock.
    pub asynchronous: bool,
    /// Value of every element when the pin is not driven.
    pub default: u64,
    /// Least and greatest value drawn at random.
    pub range: (u64, u64),
    /// The only values drawn at random, in ascending order; empty if all of the range are.
    pub values: Vec<u64>,
    /// Name of the table with the names of these values.
    pub of_enum: Option<String>,
    /// How often a flag or a bit of a mask is drawn as 1, in percent.
    pub percent: u64,
    /// Its values are numbers with a sign.
    pub signed: bool,
    /// Parameter that must not be 0 for the design to have the pin.
    pub only_with: Option<String>,
    /// How many of its ports the waves show.
    pub in_waves: usize,
}

/// How one element of a field is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Show {
    /// As a decimal number.
    Decimal,
    /// `0x` and as many digits as the width needs.
    Hex,
    /// `0x` and at least three digits.
    Address,
    /// As a decimal number in two's complement.
    Signed,
    /// In binary.
    Binary,
    /// As a name from the table with this name.
    Enum(String),
    /// As several bit fields.
    Parts(Vec<Part>),
}

/// Some bits of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Printed before the value, with `=`; empty if there is no name.
    pub name: String,
    /// Highest and lowest bit.
    pub bits: (u64, u64),
    /// Two's complement.
    pub signed: bool,
    /// Names of the values.
    pub names: Vec<String>,
}

/// A field of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct State {
    /// Name.
    pub name: String,
    /// What it means.
    pub doc: String,
    /// Layout.
    pub shape: Shape,
    /// How an element is printed.
    pub show: Show,
    /// The one of several clocks with whose rising edge alone the field changes.
    pub clock: Option<String>,
    /// Output ports with its value: one per plane or element, or one for all. Empty if probes give the value.
    pub outputs: Vec<Port>,
    /// It depends on the pins of the same cycle, so its values at the end of that cycle are compared.
    pub sampled: bool,
    /// Field with the number of entries in use; entries from that number on read as 0.
    pub depth: Option<String>,
    /// Condition; the field reads as 0 if it is false.
    pub valid: Option<Condition>,
    /// A report shows the field even if both sides agree on it.
    pub context: bool,
    /// Its elements are wavefronts.
    pub per_wavefront: bool,
}

impl State {
    /// Returns the fields of `all` on which it depends whether the field is compared, those on which it depends of these, and so on.
    pub(crate) fn hidden_by<'a>(&'a self, all: &'a [State]) -> Vec<&'a State> {
        let mut found: Vec<&State> = Vec::new();
        let mut of = self;
        for next in 0.. {
            let operands = of.valid.iter().flat_map(Condition::operands);
            let fields = operands.filter_map(|operand| match operand {
                Operand::After(name) => Some(name),
                _ => None,
            });
            for name in fields.chain(&of.depth) {
                let field = all.iter().find(|field| field.name == *name);
                let known = |field: &&State| found.iter().any(|one| one.name == field.name);
                found.extend(field.filter(|field| !known(field)));
            }
            match found.get(next) {
                Some(field) => of = field,
                None => break,
            }
        }
        found
    }
}

/// A condition: one of these lists of comparisons holds, all of it. A list without comparisons holds always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition(pub Vec<Vec<Comparison>>);

impl Condition {
    /// Returns the condition that holds always.
    pub fn always() -> Self {
        Condition(vec![Vec::new()])
    }

    /// Returns everything that is compared.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        let comparisons = self.0.iter().flatten();
        comparisons.flat_map(|c| [&c.left.of, &c.right.of])
    }
}

/// A comparison of two numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Left side.
    pub left: Sum,
    /// `==`, `!=`, `<`, `<=`, `>` or `>=`.
    pub operator: &'static str,
    /// Right side.
    pub right: Sum,
}

/// A value and a number that is added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The value.
    pub of: Operand,
    /// The number.
    pub plus: u64,
}

/// What a condition compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A number.
    Number(u64),
    /// A pin of the cycle.
    Pin(String),
    /// A field as it was before the cycle.
    Before(String),
    /// A field as it is after the cycle.
    After(String),
    /// A coverpoint, before the cycle.
    Coverpoint(String),
    /// A parameter of the build.
    Parameter(String),
    /// The lanes of the build.
    Lanes,
}

/// A number that the golden model gives before each cycle, for bins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverpoint {
    /// Name.
    pub name: String,
    /// Bits.
    pub width: u32,
    /// Name of the table with the names of its values.
    pub of_enum: Option<String>,
}

/// A group of bins: one for each combination of bins of its axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Name.
    pub name: String,
    /// What a hit means.
    pub doc: String,
    /// The cycles that count.
    pub when: Condition,
    /// Its axes; the last one varies fastest.
    pub axes: Vec<Axis>,
    /// Combinations that cannot be hit.
    pub unreachable: Vec<Unreachable>,
    /// Not declared: the values of a pin or field with an enum that no other group uses.
    pub of_enum: bool,
}

/// An axis of a group of bins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Name.
    pub name: String,
    /// Its bins with their conditions; the first one that holds is hit.
    pub bins: Vec<(String, Condition)>,
}

/// Combinations of bins that cannot be hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// For each axis the numbers of its bins; none means all.
    pub at: Vec<Vec<usize>>,
    /// Builds for which this holds.
    pub when: Condition,
    /// The reason.
    pub why: String,
}

/// A signal that shows several fields of a lane as one, such as a class and its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Name.
    pub name: String,
    /// Table of names for its values.
    pub table: String,
    /// Fields of planes, the most significant one first.
    pub fields: Vec<String>,
    /// For each value of the first field its letter, and optionally the field whose value follows the letter.
    pub letters: Vec<(String, Option<String>)>,
}

/// Whether the design receives or sends on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Valid and payload are pins, ready is a field.
    In,
    /// Valid and payload are fields, ready is a pin.
    Out,
}

/// A signal of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// The pin with this number, from 0.
    Pin(usize),
    /// The field with this number, from 0.
    Field {
        /// The number.
        number: usize,
        /// Its value after a cycle is the one in the cycle; otherwise that in the next.
        now: bool,
    },
}

impl Wire {
    /// Returns whether it is a pin, and its number.
    pub(crate) fn place(self) -> (bool, usize) {
        match self {
            Wire::Pin(number) => (true, number),
            Wire::Field { number, .. } => (false, number),
        }
    }
}

/// A handshake: a transfer takes place in each cycle in which valid and ready are 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Channel {
    /// Name.
    pub name: String,
    /// Who sends.
    pub side: Side,
    /// 1 while a payload is offered.
    pub valid: Wire,
    /// 1 while one would be taken.
    pub ready: Wire,
    /// What is offered.
    pub payload: Vec<Wire>,
    /// The one of several clocks to which all of them belong.
    pub clock: Option<String>,
    /// Valid may fall, and the payload change, before ready.
    pub withdraw: bool,
    /// In a cycle whose pins meet this condition they may: it ends what is offered, as a reset does.
    pub unless: Option<Condition>,
    /// What cannot happen: bit n for [`EVENTS`] n.
    pub never: u64,
    /// Most cycles in which valid is 0 while a transaction is owed; where the module receives, in which ready is 0 while nothing is owed.
    pub latency: Option<u32>,
}

/// Where the state is in one RTL, and how to write it. Each RTL of the same design has its own probes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probes {
    /// SystemVerilog that the expressions use: functions and nets.
    pub verilog: Option<String>,
    /// Expressions of the fields that are not outputs, by field: one per plane or element, or one for all.
    pub expressions: Vec<(String, Vec<String>)>,
    /// The writes that preload a state. Empty if this RTL is not preloaded.
    pub loads: Vec<Load>,
    /// Assertions in a separate file.
    pub assertions: Option<Assertions>,
    /// Fields that may change at the falling edge of the clock too: only their values at the end of the cycle are compared.
    pub falling: Vec<String>,
}

/// Assertions that bind themselves to the RTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertions {
    /// The file, relative to the RTL folder. Only models that check assertions read it.
    pub file: String,
    /// A register in it, such as `dut.u_sva.loaded_q`, that preloading sets: the assertions need not hold for what follows
    /// a loaded state.
    pub loaded: Option<String>,
}

/// One write of preloading in the RTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The write.
    pub write: Write,
    /// Condition of the write.
    pub when: Option<String>,
}

/// How preloading writes. Expressions use `load_<field>`, the state to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Assigns a value to a register, such as `dut.pc_q`.
    Register {
        /// The register.
        register: String,
        /// An expression.
        value: String,
    },
    /// Calls a task of [`Probes::verilog`].
    Call(String),
}

impl Declaration {
    /// Returns the field `name`.
    pub fn field(&self, name: &str) -> Option<&State> {
        self.state.iter().find(|field| field.name == name)
    }

    /// Returns whether `field` is not compared in the first cycle of a run: a sampled field of a design with a clock may depend on
    /// registers, and no reset has set them before the first edge. Nor is it known there whether a field that it may hide is compared.
    pub fn not_first(&self, field: &State) -> bool {
        let mut by = field.hidden_by(&self.state).into_iter();
        !self.is_combinational() && (field.sampled || by.any(|field| field.sampled))
    }

    /// Returns whether the design has no clock.
    pub fn is_combinational(&self) -> bool {
        self.clock.is_empty() && self.clocks().next().is_none()
    }

    /// Returns the clocks of a design that has several.
    pub fn clocks(&self) -> impl Iterator<Item = &Pin> {
        let clock = |pin: &&Pin| matches!(pin.role, Role::Clock { .. });
        self.pins.iter().filter(clock)
    }

    /// Returns the reset pin with its active level.
    pub fn reset(&self) -> Option<(&Pin, Level)> {
        self.pins.iter().find_map(|pin| match pin.role {
            Role::Reset(level) => Some((pin, level)),
            _ => None,
        })
    }

    /// Returns the elements of the longest list and the bits of the widest port that the waves show.
    pub fn traced(&self) -> (usize, usize) {
        let lists = self.state.iter().map(|field| field.shape.count());
        let bits = |shape| match shape {
            Shape::Planes(n) => n * MAX_LANES as usize,
            Shape::Words { width, .. } => width as usize * shape.count(),
        };
        let shown = self.pins.iter().filter(|pin| pin.in_waves > 0);
        let ports = shown.map(|pin| match &pin.ports[0] {
            Port { bits: None, .. } => bits(pin.shape).div_ceil(pin.ports.len()),
            port => self.bits_of(&port.name) as usize,
        });
        (lists.max().unwrap_or(0), ports.max().unwrap_or(0))
    }

    /// Returns the bits of the input port `name`, of which each pin has a part.
    fn bits_of(&self, name: &str) -> u32 {
        let ports = self.pins.iter().flat_map(|pin| &pin.ports);
        let ports = ports.filter(|port| port.name == name);
        ports
            .filter_map(|port| Some(port.bits?.0 + 1))
            .max()
            .unwrap_or(0)
    }

    /// Returns the view that shows `field`.
    pub fn view_of(&self, field: &str) -> Option<&View> {
        let mut views = self.views.iter();
        views.find(|view| view.fields.iter().any(|name| name == field))
    }
}

/// A member of a struct: a pin, a field, or padding that is always 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member<T> {
    pub offset: usize,
    pub size: usize,
    /// The pin or field; `None` for padding.
    pub what: Option<T>,
}

/// Lays out `fields` in their order, each at its alignment, with padding as separate members.
pub(crate) fn layout<T>(fields: impl IntoIterator<Item = (Shape, T)>) -> Vec<Member<T>> {
    let mut members: Vec<Member<T>> = Vec::new();
    let mut offset = 0;
    let pad = |members: &mut Vec<Member<T>>, offset: &mut usize, align: usize| {
        let size = offset.next_multiple_of(align) - *offset;
        if size > 0 {
            members.push(Member {
                offset: *offset,
                size,
                what: None,
            });
        }
        *offset += size;
    };
    for (shape, what) in fields {
        pad(&mut members, &mut offset, shape.align());
        let size = shape.size();
        members.push(Member {
            offset,
            size,
            what: Some(what),
        });
        offset += size;
    }
    pad(&mut members, &mut offset, 8);
    members
}

impl Declaration {
    /// Returns name, offset and bytes of every pin in the struct of pins.
    pub fn layout_of_pins(&self) -> Vec<(&str, usize, usize)> {
        places(layout(self.pins.iter().map(|p| (p.shape, p.name.as_str()))))
    }

    /// Returns name, offset and bytes of every field in the struct of state.
    pub fn layout_of_state(&self) -> Vec<(&str, usize, usize)> {
        places(layout(
            self.state.iter().map(|s| (s.shape, s.name.as_str())),
        ))
    }
}

fn places(members: Vec<Member<&str>>) -> Vec<(&str, usize, usize)> {
    let place = |member: Member<_>| Some((member.what?, member.offset, member.size));
    members.into_iter().filter_map(place).collect()
}
