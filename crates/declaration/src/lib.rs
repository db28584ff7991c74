//! Reads the declaration of a design, `design.toml`, and generates what both sides of a lock-step bench must agree on:
//!
//! * the structs of pins and state, the list of fields, tables of names ([`Declaration::rust`]);
//! * the bench top around the RTL ([`Declaration::bench_top`]);
//! * the C struct of the pins and what drives them ([`Declaration::header`]).
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
//! | (root) | `name`, `doc`; `top` (default: `name`), `clock` (`clk_i`), or `combinational = true`: it has none, `verilog`: functions and nets that probes use |
//! | `[lanes]` | `default`; `parameter` (`LANES`). Without the table the design has no lanes |
//! | `[[parameter]]` | `name`, `default`; `range`, or `values`: the only ones, in ascending order |
//! | `[[enum]]` | `name`, `names`; `numbered`: printed with the number; `table`: name in the waves |
//! | `[[pin]]` | `name`, `doc`; `port`, or a list of one for each element; layout; `reset` (`"low"`, `"high"`) or `stall = true`; `default`, a number or `"ones"`; drawn at random: `percent` of flags and masks, `range` of others; `only_with`: a parameter that must not be 0; `waves`: shown, or how many of its ports are |
//! | `[[state]]` | `name`, `doc`; layout; `output` or `probe`, one or a list; `sampled`: an output that depends on the pins of the same cycle; `depth` or `valid`: what reads as 0; `show` (`decimal`, `hex`, `address`, `signed`, `binary`), `enum` or `part`; `context`: reports always show it; `load`: registers that preloading writes |
//! | `part` of a field | `bits`; `name`, `signed`, `names` |
//! | `[[view]]` | `name`, `fields`; `letter`: a list of `text` and `count`, one for each value of the first field; `table` |
//! | `[[load]]` | `register` and `value`, or `call`; `when` |
//! | `[assertions]` | `file`: SystemVerilog beside the RTL that binds itself to it, read only where assertions are checked; `loaded`: a register of it that preloading sets |
//!
//! Layout: `planes = n` (n bits of every lane, a word of 64 lanes each), or `width` and `count`; `count = "lanes"` is one
//! element a lane. What is loaded is called `load_<field>` in the expressions of `[[load]]`.
//!
//! # Another RTL
//!
//! A folder with other RTL of the same design has a file `<name>_probe.toml` with `verilog`, `[[state]]` (`name`, `probe`,
//! `load`), `[[load]]` and `[assertions]`, or a `design.toml` that declares the same. Without loads it is not preloaded;
//! without assertions nothing is bound to it.
//!
//! All sizes are limited; an unknown key is an error. Errors name file,
//! line and key ([`Error`]).
#![forbid(unsafe_code)]

mod error;
mod generate;
mod header;
mod parse;
mod probes;
mod rust;
mod table;
mod verilog;

pub use error::Error;
pub use generate::generate;
pub use parse::name_of;

/// Most lanes: a mask is a word of 64 bits.
pub const MOST_LANES: u64 = 64;
/// Most bits of one element.
pub const MOST_WIDTH: u64 = 64;
/// Most elements of one pin or field.
pub const MOST_ELEMENTS: u64 = 4096;
/// Most fields: the mismatch bits are one word of 64.
pub const MOST_FIELDS: usize = 64;
/// Most pins.
pub const MOST_PINS: usize = 256;
/// Most bytes of the struct of the pins, and of that of the state.
pub const MOST_BYTES: usize = 1 << 16;
/// Most characters of a name.
pub const MOST_NAME: usize = 64;

/// A design: its parameters, its pins, and the state that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declaration {
    /// Name; what is generated is called after it.
    pub name: String,
    /// Module under test.
    pub top: String,
    /// What it is, as a doc comment.
    pub doc: String,
    /// Port of the clock; empty: it is combinational.
    pub clock: String,
    /// Its lanes, if it has any.
    pub lanes: Option<Lanes>,
    /// Further parameters of the module.
    pub parameters: Vec<Parameter>,
    /// Tables of names that values have.
    pub enums: Vec<Enum>,
    /// Inputs.
    pub pins: Vec<Pin>,
    /// State, in the order of the mismatch bits and of reports.
    pub state: Vec<State>,
    /// Signals that show several fields of a lane as one.
    pub views: Vec<View>,
    /// Where the state is in the RTL that the declaration came with.
    pub probes: Probes,
}

/// Lanes of a design, and the parameter that sets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// Parameter of the module.
    pub parameter: String,
    /// Lanes unless asked for otherwise.
    pub default: u64,
}

/// A parameter of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in the RTL.
    pub name: String,
    /// Value unless asked for otherwise.
    pub default: u64,
    /// Least and greatest value.
    pub range: (u64, u64),
    /// The only values, in ascending order; empty: all of the range.
    pub values: Vec<u64>,
}

/// A table of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Name.
    pub name: String,
    /// Name of the table in the waves.
    pub table: String,
    /// Names of the values 0, 1, and so on.
    pub names: Vec<String>,
    /// Values are printed with their number: `3 OVERFLOW`.
    pub numbered: bool,
}

/// How a pin or a field lies in its struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// So many planes of 64 bits; bit i of each belongs to lane i.
    Planes(usize),
    /// Integers.
    Words {
        /// Significant bits of each.
        width: u32,
        /// How many; `None`: one a lane.
        count: Option<usize>,
    },
}

impl Shape {
    /// Returns how many elements the struct has room for.
    pub fn count(self) -> usize {
        match self {
            Shape::Planes(n) => n,
            Shape::Words { count, .. } => count.unwrap_or(MOST_LANES as usize),
        }
    }

    /// Returns the bytes of one element: as many as an integer of Rust has, but elements of a list whose width is whole
    /// bytes lie without gaps, so that the RTL's vector is the struct's.
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

    /// Returns the multiple of bytes that it lies at. What is longer than a word lies at whole words, which Verilator
    /// copies.
    pub fn align(self) -> usize {
        match (self.bytes(), self.size()) {
            (_, 9..) => 8,
            (bytes, _) if bytes.is_power_of_two() => bytes,
            _ => 1,
        }
    }
}

/// Level at which a reset acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// At 0.
    Low,
    /// At 1.
    High,
}

/// What a pin is for, as far as a bench has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The design's reset.
    Reset(Level),
    /// At 1 nothing changes.
    Stall,
    /// Anything else.
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
    /// Ports, one for each element; or one for all of them.
    pub ports: Vec<String>,
    /// Layout.
    pub shape: Shape,
    /// What it is for.
    pub role: Role,
    /// Value of every element unless it is driven.
    pub default: u64,
    /// Least and greatest value that is drawn at random.
    pub range: (u64, u64),
    /// How often a flag or a bit of a mask is drawn as 1, in percent.
    pub percent: u64,
    /// Parameter that is not 0 where the design has the pin.
    pub only_with: Option<String>,
    /// How many of its ports the waves show.
    pub in_waves: usize,
}

/// How one element of a field is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Show {
    /// As a number.
    Decimal,
    /// `0x` and all digits that the width has.
    Hex,
    /// `0x` and three digits at least.
    Address,
    /// As a number in two's complement.
    Signed,
    /// As bits.
    Binary,
    /// By a table of names.
    Enum(String),
    /// Several fields of bits.
    Parts(Vec<Part>),
}

/// Some bits of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Stands before the value, with `=`; empty: it does not.
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
    /// Output ports that are it: one for each plane or element, or one for all. Empty: the probes tell.
    pub outputs: Vec<String>,
    /// The outputs depend on the pins of the same cycle: what they are at its end is compared.
    pub sampled: bool,
    /// Field with the number of entries in use; those above read as 0.
    pub depth: Option<String>,
    /// Condition without which it reads as 0.
    pub valid: Option<Condition>,
    /// A report shows it although both sides agree on it.
    pub context: bool,
}

/// A condition on other fields, as tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition(pub Vec<Token>);

/// A part of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Name of a field of one element.
    Field(String),
    /// A number.
    Number(u64),
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`, `&&` or `||`.
    Operator(&'static str),
}

/// A signal that shows several fields of a lane as one, e.g. a class and its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Name.
    pub name: String,
    /// Table of names of its values.
    pub table: String,
    /// Fields of planes, the most significant first.
    pub fields: Vec<String>,
    /// For each value of the first field its letter, and the field whose value stands behind it.
    pub letters: Vec<(String, Option<String>)>,
}

/// Where the state is in one RTL, and how it is written. Another RTL of the same design has others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probes {
    /// SystemVerilog that the expressions use: functions and nets.
    pub verilog: Option<String>,
    /// Expressions of the fields that are no outputs, by field: one for each plane or element, or one for all.
    pub expressions: Vec<(String, Vec<String>)>,
    /// What preloading a state writes. Empty: this RTL is not preloaded.
    pub loads: Vec<Load>,
    /// Assertions in a file of their own.
    pub assertions: Option<Assertions>,
}

/// Assertions that bind themselves to the RTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertions {
    /// The file, relative to the folder of the RTL. Only models that check assertions read it.
    pub file: String,
    /// A register of it, e.g. `dut.u_sva.loaded_q`, that preloading sets: what follows from a state that was loaded is
    /// not promised.
    pub loaded: Option<String>,
}

/// What preloading does in the RTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// It.
    pub write: Write,
    /// Condition under which it is done.
    pub when: Option<String>,
}

/// How preloading writes. Expressions are over `load_<field>`, the state that is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A register, e.g. `dut.pc_q`, gets a value.
    Register {
        /// The register.
        register: String,
        /// An expression.
        value: String,
    },
    /// A task of [`Probes::verilog`] is called.
    Call(String),
}

impl Declaration {
    /// Returns the field `name`.
    pub fn field(&self, name: &str) -> Option<&State> {
        self.state.iter().find(|field| field.name == name)
    }

    /// Returns the pin that is the reset, with its level.
    pub fn reset(&self) -> Option<(&Pin, Level)> {
        self.pins.iter().find_map(|pin| match pin.role {
            Role::Reset(level) => Some((pin, level)),
            _ => None,
        })
    }

    /// Returns the view that shows `field`.
    pub fn view_of(&self, field: &str) -> Option<&View> {
        let mut views = self.views.iter();
        views.find(|view| view.fields.iter().any(|name| name == field))
    }
}

/// A member of a struct: a pin or field, or bytes that are always 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member<T> {
    pub offset: usize,
    pub size: usize,
    /// `None`: padding.
    pub what: Option<T>,
}

/// Lays out `fields` in their order, each at its alignment, and gives the gaps as members of their own.
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
    /// Returns name, offset and bytes of every pin in the struct of the pins.
    pub fn layout_of_pins(&self) -> Vec<(&str, usize, usize)> {
        places(layout(self.pins.iter().map(|p| (p.shape, p.name.as_str()))))
    }

    /// Returns name, offset and bytes of every field in the struct of the state.
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
