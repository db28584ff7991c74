//! The ports of a module and their types, from Verilator's tree: XML, or JSON from a newer Verilator.

use std::collections::BTreeMap;
use std::fmt::{self, Formatter};

use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Type of a port or of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub bits: u32,
    pub signed: bool,
    /// It has no X and no Z.
    pub two_state: bool,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A vector, or what is taken as one: a union.
    Bits,
    /// Its name with that of its package, and its values with their names.
    Enum(String, Vec<(String, u64)>),
    /// Packed elements of one type, and whether the element with the least index is the highest.
    Array(Box<Type>, bool),
    /// Packed members, the highest one first.
    Struct(Vec<(String, Type)>),
    /// Unpacked elements of one type, and the range of their indices as it is declared.
    List(Box<Type>, i64, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
    Both,
}

/// A port of a module, or a member of an interface as a modport has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Port {
    pub name: String,
    pub direction: Direction,
    /// Its type; `None` if it is not made of bits.
    pub of: Option<Type>,
}

/// An instance of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bus {
    /// The range of the indices, if it is an array.
    pub range: Option<(i64, i64)>,
    /// The inputs of the interface itself.
    pub inputs: Vec<Port>,
    /// What the modport has.
    pub members: Vec<Port>,
}

/// A place in the source: file, line and column.
type Place<'a> = Option<(&'a str, u32, u32)>;

/// Element of the tree: what both forms have.
#[derive(Debug, Default)]
pub(super) struct Node {
    kind: String,
    keys: BTreeMap<String, String>,
    inner: Vec<Node>,
}

impl Node {
    fn key(&self, name: &str) -> &str {
        self.keys.get(name).map_or("", String::as_str)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.keys.insert(name.to_owned(), value.to_owned());
    }

    /// Returns itself and everything in it.
    fn all(&self) -> Vec<&Node> {
        let inner = self.inner.iter().flat_map(Node::all);
        std::iter::once(self).chain(inner).collect()
    }

    fn direction(&self) -> Option<Direction> {
        let direction = self.key("dir").to_ascii_lowercase();
        match direction.as_str() {
            "inout" => Some(Direction::Both),
            _ if direction.starts_with("in") => Some(Direction::In),
            _ if direction.starts_with("out") => Some(Direction::Out),
            _ => None,
        }
    }

    /// Returns the two constants in it, the bounds of a range.
    fn range(&self) -> Option<(i64, i64)> {
        let bounds = self.all().into_iter().filter(|node| node.kind == "const");
        let bounds = bounds.map(|node| Some(i64::from(constant(node.key("name"))? as u32 as i32)));
        match bounds.collect::<Option<Vec<_>>>()?[..] {
            [left, right] => Some((left, right)),
            _ => None,
        }
    }

    fn place(&self) -> Place<'_> {
        let mut parts = self.key("loc").split([',', ':']);
        Some((
            parts.next()?,
            parts.next()?.parse().ok()?,
            parts.next()?.parse().ok()?,
        ))
    }
}

/// Reads the tree in `text`; `None` if it has neither form.
pub(super) fn read(text: &str) -> Option<Node> {
    match text.trim_start().starts_with('<') {
        true => xml(text),
        false => {
            let mut text = serde_json::Deserializer::from_str(text);
            Some(json(&Above(DEPTH).deserialize(&mut text).ok()?))
        }
    }
}

/// Objects and lists in each other down to which the JSON is read. Ports and types are far above it; expressions, which are not
/// needed, can be deeper than a recursive reader survives.
const DEPTH: u32 = 64;

/// Reads a value of JSON without what is deeper in it than this.
struct Above(u32);

impl<'de> DeserializeSeed<'de> for Above {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        match self.0 {
            0 => IgnoredAny::deserialize(from).map(|_| Value::Null),
            _ => from.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Above {
    type Value = Value;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = list.next_element_seed(Above(self.0 - 1))? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = object.next_key()? {
            all.insert(key, object.next_value_seed(Above(self.0 - 1))?);
        }
        Ok(Value::Object(all))
    }
}

impl Type {
    /// A type without a sign, with four states.
    pub fn new(bits: u32, kind: Kind) -> Self {
        Type {
            bits,
            signed: false,
            two_state: false,
            kind,
        }
    }

    /// A vector of `bits` bits.
    pub fn vector(bits: u32) -> Self {
        Type::new(bits, Kind::Bits)
    }

    /// Returns it with `of` in the place of the vector that it is, or that the elements of an array are.
    fn with_elements(self, of: &Type) -> Self {
        let inner = |inner: Box<Type>| Box::new(inner.with_elements(of));
        let kind = match self.kind {
            Kind::Bits => return of.clone(),
            Kind::Array(of, reversed) => Kind::Array(inner(of), reversed),
            Kind::List(of, left, right) => Kind::List(inner(of), left, right),
            other => other,
        };
        Type { kind, ..self }
    }
}

/// Returns whether a type is an array, packed or not.
fn is_array(node: &Node) -> bool {
    ["packarraydtype", "unpackarraydtype"].contains(&node.kind.as_str())
}

/// Returns the module `top`.
fn module<'a>(nodes: &[&'a Node], top: &str) -> Option<&'a Node> {
    let named = |node: &&&Node| node.kind == "module" && node.key("origName") == top;
    nodes.iter().find(named).copied()
}

/// Returns the ports of module `top` in their order, without those that are interfaces; `None` if there is no such module.
pub(super) fn ports(root: &Node, top: &str) -> Option<Vec<Port>> {
    let nodes = root.all();
    let tree = Tree::of_nodes(&nodes);
    Some(tree.ports(&module(&nodes, top)?.inner))
}

/// Returns the types of the variables of module `top`, which its parameters are; `None` for one that is not made of bits.
pub(super) fn variables(root: &Node, top: &str) -> Option<BTreeMap<String, Option<Type>>> {
    let nodes = root.all();
    let tree = Tree::of_nodes(&nodes);
    let vars = module(&nodes, top)?.inner.iter();
    let vars = vars.filter(|node| node.kind == "var");
    let types = vars.map(|var| {
        let of = tree.named(var.key("of"), var.key("vartype"));
        (var.key("name").to_owned(), of)
    });
    Some(types.collect())
}

/// Returns the instance `name` of an interface in module `top`, seen through `modport`.
pub(super) fn bus(root: &Node, top: &str, name: &str, modport: &str) -> Option<Bus> {
    let nodes = root.all();
    let tree = Tree::of_nodes(&nodes);
    let instances = ["instance", "cell"];
    let is = |node: &&Node| instances.contains(&node.kind.as_str()) && node.key("name") == name;
    let instance = module(&nodes, top)?.inner.iter().find(is)?;
    let of = |node: &&&Node| {
        node.kind == "iface"
            && (node.key("name") == instance.key("defName")
                || !node.key("id").is_empty() && node.key("id") == instance.key("modp"))
    };
    let interface = nodes.iter().find(of)?;
    let range = instance.inner.iter().find(|node| node.kind == "range");
    let list = |kind| interface.inner.iter().filter(move |node| node.kind == kind);
    let through = list("modport").find(|node| node.key("name") == modport)?;
    let members = through
        .inner
        .iter()
        .filter(|node| node.kind == "modportvarref");
    let members = members.map(|member| {
        let name = member.key("name");
        let var = list("var").find(|var| var.key("name") == name)?;
        Some(Port {
            name: name.to_owned(),
            direction: member.direction()?,
            of: tree.named(var.key("of"), var.key("vartype")),
        })
    });
    Some(Bus {
        range: range.and_then(Node::range),
        inputs: tree.ports(&interface.inner),
        members: members.collect::<Option<_>>()?,
    })
}

/// Reads the XML of Verilator 5.006 and others.
fn xml(text: &str) -> Option<Node> {
    let mut reader = Reader::from_str(text);
    let mut open = vec![Node::default()];
    loop {
        match reader.read_event().ok()? {
            Event::Eof => return open.pop().filter(|_| open.is_empty()),
            event @ (Event::Start(_) | Event::Empty(_)) => {
                let (Event::Start(tag) | Event::Empty(tag)) = &event else {
                    return None;
                };
                let mut node = Node {
                    kind: String::from_utf8(tag.name().as_ref().to_vec()).ok()?,
                    ..Node::default()
                };
                for attribute in tag.attributes() {
                    let attribute = attribute.ok()?;
                    let name = match attribute.key.as_ref() {
                        b"sub_dtype_id" | b"dtype_id" => "of".to_owned(),
                        b"direction" => "dir".to_owned(),
                        name => String::from_utf8(name.to_vec()).ok()?,
                    };
                    let value = attribute
                        .normalized_value(XmlVersion::Implicit1_0)
                        .ok()?
                        .into_owned();
                    node.keys.insert(name, value);
                }
                match event {
                    Event::Start(_) => open.push(node),
                    _ => open.last_mut()?.inner.push(node),
                }
            }
            Event::End(_) => {
                let done = open.pop()?;
                open.last_mut()?.inner.push(done);
            }
            _ => {}
        }
    }
}

/// Makes the same nodes of the JSON.
fn json(value: &Value) -> Node {
    let mut node = Node::default();
    let Value::Object(object) = value else {
        return node;
    };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("type", Value::String(kind)) => node.kind = kind.to_ascii_lowercase(),
            ("addr", Value::String(text)) => node.set("id", text),
            // Of both, this is the type before names of types are resolved.
            ("refDTypep", Value::String(text)) => node.set("of", text),
            ("dtypep", Value::String(text)) if node.key("of").is_empty() => node.set("of", text),
            ("direction", Value::String(text)) if text != "NONE" => {
                node.set("dir", text);
            }
            ("range", Value::String(range)) => {
                if let Some((left, right)) = range.split_once(':') {
                    node.set("left", left);
                    node.set("right", right);
                }
            }
            (_, Value::String(text)) => node.set(key, text),
            (_, Value::Bool(flag)) => node.set(key, &flag.to_string()),
            (_, Value::Array(list)) => node.inner.extend(list.iter().map(json)),
            _ => {}
        }
    }
    node
}

/// The types of a design by their ids.
struct Tree<'a> {
    types: BTreeMap<&'a str, &'a Node>,
}

impl<'a> Tree<'a> {
    fn of_nodes(nodes: &[&'a Node]) -> Self {
        let types = nodes.iter().filter(|node| node.kind.ends_with("dtype"));
        Tree {
            types: types.map(|node| (node.key("id"), *node)).collect(),
        }
    }

    /// Returns those of `nodes` that are ports.
    fn ports(&self, nodes: &[Node]) -> Vec<Port> {
        let vars = nodes.iter().filter(|node| node.kind == "var");
        let mut before = None;
        let ports = vars.filter_map(|var| {
            // In XML, the type of an array has no name.
            let (after, here) = (before, var.place());
            before = here;
            let direction = var.direction()?;
            let name = match self.types.get(var.key("of")) {
                Some(of) if is_array(of) => self.between(after, here),
                _ => var.key("vartype"),
            };
            Some(Port {
                name: var.key("name").to_owned(),
                direction,
                of: self.named(var.key("of"), name),
            })
        });
        ports.collect()
    }

    /// Returns the name of the last type that the source names between two of its places; empty if there is none.
    fn between(&self, after: Place, here: Place) -> &'a str {
        let between = |of: &&&Node| {
            let there = of.place();
            of.kind == "refdtype"
                && there > after
                && there < here
                && there.map(|t| t.0) == here.map(|h| h.0)
        };
        let called = self.types.values().filter(between);
        let called = called.max_by_key(|of| of.place());
        called.map_or("", |of| of.key("name"))
    }

    /// Returns the type `id`. Verilator 5.006 has put the type of its values in the place of an enum: `name`, that of the type or of an
    /// array's elements in the source, finds it again.
    fn named(&self, id: &str, name: &str) -> Option<Type> {
        let found = self.of(id, 0)?;
        let mut id = id;
        while let Some(array) = self.types.get(id).filter(|of| is_array(of)) {
            id = array.key("of");
        }
        let called = |node: &&&Node| {
            let full = node.key("name");
            let short = full.rsplit(['.', ':']).next();
            node.kind == "enumdtype"
                && (full == name || short == Some(name))
                && node.key("of") == id
        };
        let mut enums = self.types.values().filter(called);
        match (enums.next(), enums.next()) {
            (Some(node), None) => Some(found.with_elements(&self.of(node.key("id"), 0)?)),
            _ => Some(found),
        }
    }

    /// Returns the type `id`; `None` if it is not made of bits.
    fn of(&self, id: &str, depth: u32) -> Option<Type> {
        // Types of real RTL do not contain each other as often.
        let node = self.types.get(id).filter(|_| depth < 64)?;
        let below = || self.of(node.key("of"), depth + 1);
        match node.kind.as_str() {
            "basicdtype" => {
                let keyword = node.key("keyword");
                let keyword = if keyword.is_empty() {
                    node.key("name")
                } else {
                    keyword
                };
                let two_state = ["bit", "int", "byte", "shortint", "longint"].contains(&keyword);
                if !two_state && !["logic", "integer", "time"].contains(&keyword) {
                    return None;
                }
                let bound = |key| node.key(key).parse::<i64>().unwrap_or(0);
                let bits = u32::try_from(bound("left").abs_diff(bound("right")) + 1).ok()?;
                Some(Type {
                    bits,
                    signed: node.key("signed") == "true",
                    two_state,
                    kind: Kind::Bits,
                })
            }
            "refdtype" | "paramtypedtype" | "constdtype" => below(),
            "enumdtype" => {
                let items = node.inner.iter().filter(|item| item.kind == "enumitem");
                let items = items.map(|item| {
                    let value = item.inner.iter().find(|value| value.kind == "const")?;
                    Some((item.key("name").to_owned(), constant(value.key("name"))?))
                });
                let of = below()?;
                Some(match items.collect::<Option<Vec<_>>>() {
                    Some(items) => Type {
                        kind: Kind::Enum(node.key("name").to_owned(), items),
                        ..of
                    },
                    None => of,
                })
            }
            "packarraydtype" | "unpackarraydtype" => {
                let (left, right) = node.range()?;
                let of = Box::new(below()?);
                let count = u32::try_from(left.abs_diff(right) + 1).ok()?;
                let bits = of.bits.checked_mul(count)?;
                let two_state = of.two_state;
                let kind = match node.kind.as_str() {
                    "packarraydtype" => Kind::Array(of, left < right),
                    _ => Kind::List(of, left, right),
                };
                Some(Type {
                    two_state,
                    ..Type::new(bits, kind)
                })
            }
            "structdtype" => {
                let members = self.members(node, depth)?;
                let mut all = members.iter();
                let bits = all.try_fold(0u32, |sum, (_, of)| sum.checked_add(of.bits))?;
                let two_state = members.iter().all(|(_, of)| of.two_state);
                Some(Type {
                    two_state,
                    ..Type::new(bits, Kind::Struct(members))
                })
            }
            "uniondtype" => {
                let members = self.members(node, depth)?;
                Some(Type {
                    two_state: members.iter().all(|(_, of)| of.two_state),
                    ..Type::vector(members.iter().map(|(_, of)| of.bits).max()?)
                })
            }
            _ => None,
        }
    }

    fn members(&self, node: &Node, depth: u32) -> Option<Vec<(String, Type)>> {
        // In XML, an enum of a member is found by the name of a type between the member before it and itself.
        let mut after = node.place();
        let members = node.inner.iter();
        let members = members.filter(|member| member.kind == "memberdtype");
        let members = members.map(|member| {
            let here = member.place();
            let name = self.between(after, here);
            after = here;
            let id = member.key("of");
            let of = match name {
                "" => self.of(id, depth + 1)?,
                _ => self.named(id, name)?,
            };
            Some((member.key("name").to_owned(), of))
        });
        members.collect()
    }
}

/// Reads a constant such as `2'h3` or `32'sh1f`.
fn constant(text: &str) -> Option<u64> {
    let (_, digits) = text.split_once('h')?;
    u64::from_str_radix(digits, 16).ok()
}
