//! What a port becomes in the declaration: one pin or field, or one for each member of its struct.

use std::fmt::Write as _;

use reconverge_declaration::{MAX_ELEMENTS, MAX_FIELDS, MAX_NAME, MAX_PINS};
use verilate::Port;

use super::tree::{Kind, Type};

/// Two numbers of lanes that no port has as its width by chance.
pub(super) const TWO: [u32; 2] = [37, 41];

/// How a port depends on the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One bit for each lane.
    Mask,
    /// This many bits for each lane, lane 0 lowest.
    PerLane(u32),
    /// Elements of `width` bits.
    Words { width: u32, count: u32 },
}

/// A pin or field: a port, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: String,
    pub layout: Layout,
    /// Lowest bit of each element in the port; empty if it is the whole port.
    places: Vec<u32>,
    /// The enum whose values it has, by its name in the declaration.
    of: Option<String>,
    signed: bool,
    /// What it is.
    doc: String,
}

/// A declared port.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub port: Port,
    pub parts: Vec<Part>,
    /// An output that depends on inputs of the same cycle.
    pub sampled: bool,
}

/// An enum of the RTL: its name in the declaration, its own, and its values.
pub(super) type Enum = (String, String, Vec<(String, u64)>);

/// Elements of one kind in a port.
struct Leaf {
    /// The members that lead to it.
    path: Vec<String>,
    width: u32,
    places: Vec<u32>,
    of: Option<(String, Vec<(String, u64)>)>,
    signed: bool,
    /// An array on the way counts its elements from the highest one.
    reversed: bool,
}

/// Gives each of `ports` its pins or fields. Each has its width with the other number of lanes next to it, and its type, if that is
/// known. Returns them with the enums that they have; `notes` tell which structs stay one number.
pub(super) fn declared(
    ports: Vec<(Port, Option<u32>, Option<Type>)>,
    notes: &mut Vec<String>,
) -> (Vec<Declared>, Vec<Enum>) {
    let mut leaves: Vec<(Port, Layout, Vec<Leaf>)> = Vec::new();
    for (port, more, of) in ports {
        let layout = match more.filter(|more| *more != port.width) {
            Some(more) if [port.width, more] == TWO => Layout::Mask,
            Some(_) => Layout::PerLane(port.width / TWO[0]),
            None => Layout::Words {
                width: port.width,
                count: 1,
            },
        };
        let of = of.filter(|of| of.bits == port.width && matches!(layout, Layout::Words { .. }));
        let mut parts = match (of, layout) {
            (Some(of), _) => of.leaves().into_iter().flat_map(Leaf::words).collect(),
            (None, Layout::Words { .. }) => number(port.width),
            // The declaration divides it by the lanes.
            (None, _) => Type::vector(port.width).leaves(),
        };
        let name = &port.name;
        let mut whole = |parts: &mut Vec<Leaf>, why: String| {
            *parts = number(port.width);
            notes.push(format!("{name} is one number: {why}"));
        };
        let many = |part: &Leaf| part.places.len() as u64 > MAX_ELEMENTS;
        if parts.iter().any(many) {
            let why = format!("a pin or field has {MAX_ELEMENTS} elements at most");
            whole(&mut parts, why);
        }
        let long = |part: &Leaf| !part.path.is_empty() && part.name(name).len() > MAX_NAME;
        if parts.iter().any(long) {
            let why =
                format!("a name has {MAX_NAME} characters at most, and that of a member has more");
            whole(&mut parts, why);
        }
        leaves.push((port, layout, parts));
    }
    // A declaration has so many at most: the structs with the most members stay one number.
    for (output, most, what) in [(true, MAX_FIELDS, "fields"), (false, MAX_PINS, "pins")] {
        let mut side: Vec<_> = leaves
            .iter_mut()
            .filter(|(port, ..)| port.output == output)
            .collect();
        while side.iter().map(|(.., parts)| parts.len()).sum::<usize>() > most {
            let Some((port, _, parts)) = side
                .iter_mut()
                .max_by_key(|(.., parts)| parts.len())
                .filter(|(.., parts)| parts.len() > 2)
            else {
                break;
            };
            *parts = number(port.width);
            let name = &port.name;
            notes.push(format!(
                "{name} is one number: a declaration has {most} {what} at most"
            ));
        }
    }
    let mut taken: Vec<(bool, String)> = Vec::new();
    let mut enums: Vec<Enum> = Vec::new();
    let mut all = Vec::new();
    for (port, layout, leaves) in leaves {
        let parts = leaves.into_iter().map(|leaf| {
            let mut name = leaf.name(&port.name);
            while taken.contains(&(port.output, name.clone())) {
                name += "_";
            }
            taken.push((port.output, name.clone()));
            leaf.part(&port, layout, name, &mut enums)
        });
        let parts = parts.collect();
        all.push(Declared {
            port,
            parts,
            sampled: false,
        });
    }
    (all, enums)
}

/// Returns what a port is that is one number.
fn number(bits: u32) -> Vec<Leaf> {
    let leaves = Type::vector(bits).leaves().into_iter();
    leaves.flat_map(Leaf::words).collect()
}

impl Type {
    /// Returns what it consists of, the highest member first.
    fn leaves(&self) -> Vec<Leaf> {
        match &self.kind {
            Kind::Bits | Kind::Enum(..) => vec![Leaf {
                path: Vec::new(),
                width: self.bits,
                places: vec![0],
                of: match &self.kind {
                    // TOML has no greater numbers.
                    Kind::Enum(name, values)
                        if values
                            .iter()
                            .all(|(_, value)| i64::try_from(*value).is_ok()) =>
                    {
                        Some((name.clone(), values.clone()))
                    }
                    _ => None,
                },
                signed: self.signed,
                reversed: false,
            }],
            Kind::Array(of, _) | Kind::List(of, ..) => {
                let reversed = matches!(self.kind, Kind::Array(_, true));
                let mut leaves = of.leaves();
                for leaf in &mut leaves {
                    let starts = (0..self.bits / of.bits).map(|i| i * of.bits);
                    let one = std::mem::take(&mut leaf.places);
                    leaf.places = starts
                        .flat_map(|at| one.iter().map(move |place| at + place))
                        .collect();
                    leaf.reversed |= reversed;
                }
                leaves
            }
            Kind::Struct(members) => {
                let mut above = self.bits;
                let members = members.iter().flat_map(|(name, of)| {
                    above -= of.bits;
                    let mut leaves = of.leaves();
                    for leaf in &mut leaves {
                        leaf.path.insert(0, name.clone());
                        leaf.places.iter_mut().for_each(|place| *place += above);
                    }
                    leaves
                });
                members.collect()
            }
        }
    }
}

impl Leaf {
    /// Splits elements of more than 64 bits into words, the lowest one first; what is left above them is a leaf of its own.
    fn words(self) -> Vec<Leaf> {
        let width = match self.width {
            0..=64 => return vec![self],
            bits if bits.is_multiple_of(64) || !bits.is_multiple_of(32) => 64,
            _ => 32,
        };
        let (count, rest) = (self.width / width, self.width % width);
        let below = |at: &u32| (0..count).map(|i| at + i * width).collect::<Vec<_>>();
        let places = self.places.iter().flat_map(below).collect();
        let above = self.places.iter().map(|at| at + count * width).collect();
        let low = Leaf {
            path: self.path.clone(),
            width,
            places,
            of: None,
            signed: false,
            ..self
        };
        let mut path = self.path;
        path.push("high".to_owned());
        let high = Leaf {
            path,
            width: rest,
            places: above,
            of: None,
            signed: self.signed,
            ..self
        };
        if rest == 0 {
            vec![low]
        } else {
            vec![low, high]
        }
    }

    /// Returns the name of the pin or field.
    fn name(&self, port: &str) -> String {
        let mut name = reconverge_declaration::name_of(port);
        if !self.path.is_empty() {
            // The suffix of a member is part of its name, so it gets one that is taken away.
            name = reconverge_declaration::name_of(&format!("{name}_{}_i", self.path.join("_")));
        }
        name
    }

    fn part(self, port: &Port, layout: Layout, name: String, enums: &mut Vec<Enum>) -> Part {
        let member = self.path.join(".");
        let doc = match member.as_str() {
            "" => format!("Port {}", port.name),
            _ => format!("{member} of port {}", port.name),
        };
        let kind = match &self.of {
            Some((of, _)) => format!(", enum {of}"),
            None if self.signed => ", signed".to_owned(),
            None => String::new(),
        };
        let order = if self.reversed {
            " Element 0 is the one with the greatest index."
        } else {
            ""
        };
        let doc = format!("{doc}{kind}.{order}");
        let mut of = None;
        if let Some((full, mut values)) = self.of {
            values.sort_by_key(|(_, value)| *value);
            let there = enums
                .iter()
                .find(|(_, other, of)| *other == full && *of == values);
            let named = match there {
                Some((named, ..)) => named.clone(),
                None => {
                    let short = full.rsplit(['.', ':']).next().unwrap_or_default();
                    let mut named = match short.starts_with("__typeimp") {
                        true => name.clone(),
                        false => reconverge_declaration::name_of(short),
                    };
                    while enums.iter().any(|(other, ..)| *other == named) {
                        named += "_";
                    }
                    enums.push((named.clone(), full, values));
                    named
                }
            };
            of = Some(named);
        }
        let count = self.places.len() as u32;
        let whole = count * self.width == port.width;
        let in_order = self
            .places
            .iter()
            .zip(0..)
            .all(|(place, i)| *place == i * self.width);
        let layout = match layout {
            Layout::Words { .. } => Layout::Words {
                width: self.width,
                count,
            },
            of_lanes => of_lanes,
        };
        Part {
            name,
            layout,
            places: if whole && in_order {
                Vec::new()
            } else {
                self.places
            },
            of,
            signed: self.signed,
            doc,
        }
    }
}

impl Part {
    /// Writes its layout, the key `port` or `output` of the port `of`, or of all of `others` with its value, and what its values are.
    pub fn write(&self, text: &mut String, key: &str, of: &Port, others: Option<String>) {
        let port = |bits| {
            let name = of.name.clone();
            let port = reconverge_declaration::Port { name, bits };
            format!("{:?}", port.to_string().trim_end())
        };
        let _ = writeln!(text, "name = {:?}", self.name);
        text.push_str(&match self.layout {
            Layout::Mask => "planes = 1\n".to_owned(),
            Layout::PerLane(width) => format!("width = {width}\ncount = \"lanes\"\n"),
            Layout::Words { width: 1, count: 1 } => String::new(),
            Layout::Words { width, count: 1 } => format!("width = {width}\n"),
            Layout::Words { width: 1, count } => format!("count = {count}\n"),
            Layout::Words { width, count } => format!("width = {width}\ncount = {count}\n"),
        });
        if let Some(of) = &self.of {
            let _ = writeln!(text, "enum = {of:?}");
        } else if key == "output" {
            match self.layout {
                _ if self.signed => text.push_str("show = \"signed\"\n"),
                Layout::Words { width: 5.., .. } | Layout::PerLane(5..) => {
                    text.push_str("show = \"hex\"\n")
                }
                _ => {}
            }
        }
        let Layout::Words { width, .. } = self.layout else {
            let _ = writeln!(text, "{key} = {}", port(None));
            return;
        };
        if key == "port" && self.signed && self.of.is_none() && width > 1 {
            text.push_str("signed = true\n");
        }
        let select = |low: u32, bits: u32| port(Some((low + bits - 1, low)));
        let selects: Vec<String> = match &self.places[..] {
            [] => vec![others.unwrap_or_else(|| port(None))],
            // One that follows another is with it in one part.
            places if places.windows(2).all(|two| two[1] == two[0] + width) => {
                vec![select(places[0], width * places.len() as u32)]
            }
            places => places.iter().map(|low| select(*low, width)).collect(),
        };
        let _ = match &selects[..] {
            [one] => writeln!(text, "{key} = {one}"),
            all => writeln!(text, "{key} = [{}]", all.join(", ")),
        };
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn doc(&self) -> &str {
        &self.doc
    }
}
