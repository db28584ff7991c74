//! Parses and checks the text of a declaration.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::rust::width;
use crate::table::{File, Table};
use crate::{
    Declaration, Enum, Lanes, Level, MAX_BYTES, MAX_ELEMENTS, MAX_FIELDS, MAX_LANES, MAX_PINS,
    MAX_WIDTH, Parameter, Part, Pin, Port, Probes, Role, Shape, Show, Side, State, View, layout,
};

mod channels;
mod clocks;
mod condition;
mod cover;
mod names;
mod ports;
mod probes;
use channels::channels;
use clocks::{belongs, clocks};
use condition::{Fields, Scope};
use cover::{coverpoints, covers};
pub use names::name_of;
use names::{identifier, name, part_of_names};
pub(crate) use names::{is_identifier, is_plain, module};
use ports::{Taken, check_bits, ports};
use probes::{common, probe};

impl Declaration {
    /// Parses and checks a declaration; `file` is its name in messages.
    ///
    /// # Errors
    /// The first error in it.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        File { name: file, text }.parse(declaration)
    }

    /// Parses and checks the probes of another RTL of this design: tables `[[state]]` with `name`, `probe`, `load` and `falling`,
    /// tables `[[load]]`, `[assertions]` and `verilog`, in the form of a declaration. `file` is its name in messages.
    ///
    /// # Errors
    /// The first error in it; a field without a probe.
    pub fn parse_probes(&self, file: &str, text: &str) -> Result<Probes, Error> {
        File { name: file, text }.parse(|root| {
            let mut probes = Probes::default();
            let mut seen = BTreeSet::new();
            root.tables("state", |table| {
                let name = table.required_string("name")?;
                let field = self.field(&name);
                let field = field.ok_or_else(|| table.error("name", unknown(&self.state)))?;
                if !seen.insert(name) {
                    return Err(table.error("name", "given twice"));
                }
                probe(table, field, &mut probes)
            })?;
            let probed = self.state.iter().filter(|field| field.outputs.is_empty());
            for field in probed {
                if !seen.contains(&field.name) {
                    let why = format!("field {} has no probe", field.name);
                    return Err(root.error("state", why));
                }
            }
            common(root, &mut probes)?;
            Ok(probes)
        })
    }
}

fn declaration(root: &Table) -> Result<Declaration, Error> {
    let name = name(root, "name")?;
    let top = root.string("top")?;
    let top = match top {
        Some(_) => identifier(root, "top")?.unwrap_or_default(),
        None => name.clone(),
    };
    let doc = root.required_string("doc")?;
    let clocks = clocks(root)?;
    let clock = match root.flag("combinational")? {
        true if root.has("clock") => {
            return Err(root.error("clock", "combinational logic has none"));
        }
        combinational if combinational || !clocks.is_empty() => String::new(),
        _ => identifier(root, "clock")?.unwrap_or_else(|| "clk_i".to_owned()),
    };
    let has_clock = !clock.is_empty() || !clocks.is_empty();
    let lanes = root.table("lanes", |table| {
        let default = needed(table, "default", table.number("default", 1..=MAX_LANES)?)?;
        let wavefronts = table.number("wavefronts", 1..=MAX_LANES)?.unwrap_or(1);
        if !default.is_multiple_of(wavefronts) {
            let why = format!("{default} lanes cannot be divided into {wavefronts} wavefronts");
            return Err(table.error("wavefronts", why));
        }
        Ok(Lanes {
            parameter: identifier(table, "parameter")?.unwrap_or_else(|| "LANES".to_owned()),
            default,
            wavefronts,
        })
    })?;
    let mut names = BTreeSet::new();
    let parameters = root.tables("parameter", |table| {
        let parameter = parameter(table)?;
        let of_lanes = lanes.as_ref().map_or("LANES", |lanes| &lanes.parameter);
        if parameter.name == of_lanes || !names.insert(parameter.name.clone()) {
            return Err(table.error("name", "given twice"));
        }
        Ok(parameter)
    })?;
    let mut names = BTreeSet::new();
    let enums = root.tables("enum", |table| {
        let read = enumeration(table)?;
        once(table, &mut names, &read.name)?;
        Ok(read)
    })?;

    let mut names: BTreeSet<String> = clocks.iter().map(|clock| clock.name.clone()).collect();
    let mut roles = Vec::new();
    let mut ports = Taken::default();
    ports.take(&Port::whole(&clock));
    for port in clocks.iter().flat_map(|clock| &clock.ports) {
        ports.take(port);
    }
    let pins = root.tables("pin", |table| {
        let pin = pin(table, lanes.as_ref(), &parameters, &enums, &clocks)?;
        once(table, &mut names, &pin.name)?;
        if pin.asynchronous && !has_clock {
            let why = "combinational logic has no registers to reset";
            return Err(table.error("asynchronous", why));
        }
        for port in &pin.ports {
            if !ports.take(port) {
                return Err(table.error("port", format!("{port} is driven twice")));
            }
        }
        if pin.role != Role::Plain {
            let role = std::mem::discriminant(&pin.role);
            if roles.contains(&role) {
                return Err(table.error("name", "the second pin of its role"));
            }
            roles.push(role);
        }
        Ok(pin)
    })?;
    if let Some(left) = ports.left() {
        return Err(root.error("pin", format!("{left} is not driven by a pin")));
    }
    let pins: Vec<Pin> = clocks.iter().cloned().chain(pins).collect();
    limits(root, "pin", &pins, MAX_PINS, |pin| pin.shape)?;
    if let Some([_, after]) = pins
        .windows(2)
        .find(|two| two[0].only_with.is_some() && two[1].only_with.is_none())
    {
        let why = format!(
            "{} stands behind a pin with only_with; those come last",
            after.name
        );
        return Err(root.error("pin", why));
    }

    let mut names = BTreeSet::new();
    let mut probes = Probes::default();
    // A condition may use fields that come later, so conditions are checked when all fields are known.
    let mut places = Vec::new();
    let mut compared: Vec<(String, Vec<String>)> = Vec::new();
    let mut outputs = Taken::default();
    let mut state = root.tables("state", |table| {
        let field = state(table, lanes.as_ref(), &enums, &clocks)?;
        once(table, &mut names, &field.name)?;
        probe(table, &field, &mut probes)?;
        // Of two fields with one place in the RTL, one is in the wrong place.
        let (key, read) = match probes.expressions.last() {
            Some((name, list)) if *name == field.name => ("probe", list.clone()),
            _ => (
                "output",
                field.outputs.iter().map(Port::to_string).collect(),
            ),
        };
        if let Some((other, _)) = compared.iter().find(|(_, of)| *of == read) {
            let why = format!("{} is what {other} is compared with", read.join(", "));
            return Err(table.error(key, why));
        }
        compared.push((field.name.clone(), read));
        for port in &field.outputs {
            if !outputs.take(port) {
                return Err(table.error("output", format!("{port} is compared twice")));
            }
        }
        let places_of = [table.place("depth"), table.place("valid")];
        places.push((places_of, table.line("valid")?));
        Ok(field)
    })?;
    if let Some(left) = outputs.left() {
        return Err(root.error("state", format!("{left} is not compared with a field")));
    }
    let without_state = Scope {
        lanes: lanes.as_ref(),
        parameters: &parameters,
        enums: &enums,
        pins: &pins,
        state: &[],
        coverpoints: &[],
        fields: Fields::None,
    };
    let scope = Scope {
        state: &state,
        fields: Fields::After,
        ..without_state
    };
    let mut valid = Vec::new();
    for ([_, place], text) in &places {
        let text = text.as_ref();
        let read = text.map(|text| scope.condition(text)).transpose();
        valid.push(read.map_err(|why| root.error_at(place, why))?);
    }
    for (field, valid) in state.iter_mut().zip(valid) {
        field.valid = valid;
    }
    for (field, ([depth, valid], _)) in state.iter().zip(&places) {
        conditions(field, &state)
            .map_err(|(in_depth, why)| root.error_at(if in_depth { depth } else { valid }, why))?;
    }
    limits(root, "state", &state, MAX_FIELDS, |field| field.shape)?;
    let views = root.tables("view", |table| {
        let view = view(table, &state)?;
        once(table, &mut names, &view.name)?;
        Ok(view)
    })?;
    let mut shown = BTreeSet::new();
    for field in views.iter().flat_map(|view| &view.fields) {
        if !shown.insert(field) {
            return Err(root.error("view", format!("{field} is shown twice")));
        }
    }
    let transactions = root.flag("transactions")?;
    let scope = Scope {
        state: &state,
        ..without_state
    };
    let channels = channels(root, scope, !has_clock, transactions)?;
    if transactions {
        let sends = channels.iter().any(|channel| channel.side == Side::Out);
        let why = match (has_clock, sends) {
            (false, _) => Some("combinational logic has none"),
            (true, false) => Some("no channel has side = \"out\": nothing would be compared"),
            (true, true) => None,
        };
        why.map_or(Ok(()), |why| Err(root.error("transactions", why)))?;
    }
    common(root, &mut probes)?;
    tables(root, &enums, &state, &views)?;
    let scope = Scope {
        state: &state,
        fields: Fields::Seen {
            combinational: !has_clock,
        },
        ..without_state
    };
    let coverpoints = coverpoints(root, scope)?;
    let scope = Scope {
        coverpoints: &coverpoints,
        ..scope
    };
    let covers = covers(root, scope)?;

    Ok(Declaration {
        name,
        top,
        doc,
        clock,
        lanes,
        parameters,
        enums,
        literals: root
            .ascending("literals", 0..=i64::MAX as u64)?
            .unwrap_or_default(),
        pins,
        state,
        coverpoints,
        covers,
        views,
        channels,
        transactions,
        probes,
    })
}

fn needed<T>(table: &Table, key: &'static str, value: Option<T>) -> Result<T, Error> {
    value.ok_or_else(|| table.error(key, "missing"))
}

fn once(table: &Table, names: &mut BTreeSet<String>, name: &str) -> Result<(), Error> {
    match names.insert(name.to_owned()) {
        true => Ok(()),
        false => Err(table.error("name", "given twice")),
    }
}

fn parameter(table: &Table) -> Result<Parameter, Error> {
    let all = 0..=u64::from(u32::MAX);
    let values = table.ascending("values", all.clone())?.unwrap_or_default();
    let range = match (values.first(), values.last(), table.pair("range", all)?) {
        (Some(_), Some(_), Some(_)) => {
            return Err(table.error("values", "the parameter has a range as well"));
        }
        (Some(least), Some(most), None) => (*least, *most),
        (_, _, range) => needed(table, "range", range)?,
    };
    let default = needed(
        table,
        "default",
        table.number("default", range.0..=range.1)?,
    )?;
    if !values.is_empty() && !values.contains(&default) {
        return Err(table.error("default", format!("{default} is not among the values")));
    }
    Ok(Parameter {
        name: needed(table, "name", identifier(table, "name")?)?,
        default,
        range,
        values,
    })
}

fn enumeration(table: &Table) -> Result<Enum, Error> {
    let name = part_of_names(table, "name")?;
    let names = needed(table, "names", words(table, "names")?)?;
    let values = table.ascending("values", 0..=i64::MAX as u64)?;
    if let Some(values) = values.as_ref().filter(|values| values.len() != names.len()) {
        let why = format!("{} values for {} names", values.len(), names.len());
        return Err(table.error("values", why));
    }
    Ok(Enum {
        table: identifier(table, "table")?.unwrap_or_else(|| name.clone()),
        name,
        values: values.unwrap_or_else(|| (0..names.len() as u64).collect()),
        names,
        numbered: table.flag("numbered")?,
    })
}

/// Reads strings without spaces, as filters and reports need them.
fn words(table: &Table, key: &'static str) -> Result<Option<Vec<String>>, Error> {
    let words = table.strings(key)?;
    let spaced = |word: &&String| word.contains(char::is_whitespace);
    match words.iter().flatten().find(spaced) {
        Some(word) => Err(table.error(key, format!("{word:?} holds a space"))),
        None => Ok(words),
    }
}

fn shape(table: &Table, lanes: Option<&Lanes>) -> Result<Shape, Error> {
    let counts = table.has("count") && !table.is_number("count");
    let named = if counts { table.string("count")? } else { None };
    let named = named.as_deref();
    if counts && !matches!(named, Some("lanes" | "wavefronts")) {
        let why = "neither a number nor \"lanes\" nor \"wavefronts\"";
        return Err(table.error("count", why));
    }
    if lanes.is_none() && (counts || table.has("planes")) {
        let key = if counts { "count" } else { "planes" };
        return Err(table.error(key, "the design has no lanes: table [lanes] is missing"));
    }
    if let Some(planes) = table.number("planes", 1..=MAX_WIDTH)? {
        if table.has("width") || table.has("count") {
            return Err(table.error("planes", "goes with neither width nor count"));
        }
        return Ok(Shape::Planes(planes as usize));
    }
    let count = match (named, lanes) {
        (Some("lanes"), _) => None,
        (Some(_), Some(lanes)) => Some(lanes.wavefronts as usize),
        _ => Some(table.number("count", 1..=MAX_ELEMENTS)?.unwrap_or(1) as usize),
    };
    let width = table.number("width", 1..=MAX_WIDTH)?.unwrap_or(1) as u32;
    Ok(Shape::Words { width, count })
}

/// Checks the number of items and the size of their struct.
fn limits<T>(
    root: &Table,
    key: &'static str,
    all: &[T],
    most: usize,
    shape: impl Fn(&T) -> Shape,
) -> Result<(), Error> {
    if all.is_empty() {
        return Err(root.error(key, "missing: there must be one at least"));
    }
    if all.len() > most {
        return Err(root.error(
            key,
            format!("{} of them, and {most} is the most", all.len()),
        ));
    }
    let members = layout(all.iter().map(|one| (shape(one), ())));
    let bytes = members.iter().map(|member| member.size).sum::<usize>();
    if bytes > MAX_BYTES {
        let why = format!("{bytes} bytes in all, and {MAX_BYTES} is the most");
        return Err(root.error(key, why));
    }
    Ok(())
}

/// Returns the greatest value of `bits` bits.
pub(crate) fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

fn pin(
    table: &Table,
    lanes: Option<&Lanes>,
    parameters: &[Parameter],
    enums: &[Enum],
    clocks: &[Pin],
) -> Result<Pin, Error> {
    let name = name(table, "name")?;
    let doc = table.required_string("doc")?;
    let shape = shape(table, lanes)?;
    let elements = shape.count();
    let usual = || vec![Port::whole(&format!("{name}_i"))];
    let ports = ports(table, "port")?.unwrap_or_else(usual);
    check_bits(table, "port", &ports, shape)?;
    let stall = table.flag("stall")?;
    let role = match (table.string("reset")?.as_deref(), stall) {
        (None, false) => Role::Plain,
        (None, true) => Role::Stall,
        (Some("low"), false) => Role::Reset(Level::Low),
        (Some("high"), false) => Role::Reset(Level::High),
        (Some(_), true) => return Err(table.error("stall", "the pin is the reset")),
        (Some(_), false) => return Err(table.error("reset", "neither \"low\" nor \"high\"")),
    };
    if ports.len() != 1 && ports.len() != elements && !matches!(role, Role::Reset(_)) {
        let why = format!("{} ports for {elements} elements", ports.len());
        return Err(table.error("port", why));
    }
    let asynchronous = table.flag("asynchronous")?;
    if asynchronous && !matches!(role, Role::Reset(_)) {
        return Err(table.error("asynchronous", "only a reset can be asynchronous"));
    }
    let single = Shape::Words {
        width: 1,
        count: Some(1),
    };
    if role != Role::Plain && shape != single {
        let key = if stall { "stall" } else { "reset" };
        return Err(table.error(key, "the pin has more than one bit"));
    }
    let most = match shape {
        Shape::Planes(_) => u64::MAX,
        Shape::Words { width, .. } => ones(width),
    };
    let values = match table.string("enum")? {
        None => Vec::new(),
        Some(name) => {
            let found = enums.iter().find(|e| e.name == name);
            let found = found.ok_or_else(|| table.error("enum", format!("no enum {name:?}")))?;
            if role != Role::Plain || matches!(shape, Shape::Planes(_)) {
                return Err(table.error("enum", "a reset, stall or mask has no enum"));
            }
            fits(table, found, width(shape))?;
            found.values.clone()
        }
    };
    let default = match (role, table.has("default") && !table.is_number("default")) {
        (Role::Plain, true) if table.string("default")?.as_deref() == Some("ones") => most,
        (Role::Plain, true) => {
            return Err(table.error("default", "neither a number nor \"ones\""));
        }
        (Role::Plain, false) => {
            let usual = values.first().copied().unwrap_or(0);
            table.number("default", 0..=most)?.unwrap_or(usual)
        }
        _ if table.has("default") => {
            return Err(table.error("default", "a reset or stall is released by default"));
        }
        (Role::Reset(Level::Low), _) => 1,
        _ => 0,
    };
    if !values.is_empty() && !values.contains(&default) {
        return Err(table.error("default", format!("{default} is not a value of the enum")));
    }
    let bits = matches!(shape, Shape::Planes(_) | Shape::Words { width: 1, .. });
    let percent = table.number("percent", 0..=100)?;
    let range = table.pair("range", 0..=most)?;
    if !values.is_empty() && (percent.is_some() || range.is_some()) {
        return Err(table.error("enum", "the pin has a range or percent as well"));
    }
    match (bits, percent, range) {
        (false, Some(_), _) => {
            return Err(table.error("percent", "for flags and masks; others have range"));
        }
        (true, _, Some(_)) => {
            return Err(table.error("range", "flags and masks have percent"));
        }
        _ => {}
    }
    let signed = table.flag("signed")?;
    if signed && (bits || !values.is_empty()) {
        return Err(table.error("signed", "a flag, mask or value of an enum has no sign"));
    }
    let only_with = table.string("only_with")?;
    if let Some(parameter) = &only_with
        && !parameters.iter().any(|p| p.name == *parameter)
    {
        return Err(table.error("only_with", format!("no parameter {parameter:?}")));
    }
    if asynchronous && only_with.is_some() {
        let why = "an asynchronous reset is there with all parameters";
        return Err(table.error("only_with", why));
    }
    let in_waves = match table.is_number("waves") {
        // A view without its reset would be hard to read.
        _ if role != Role::Plain && !table.has("waves") => ports.len(),
        true => table.number("waves", 1..=ports.len() as u64)?.unwrap_or(0) as usize,
        false if table.flag("waves")? => ports.len(),
        false => 0,
    };
    Ok(Pin {
        name,
        doc,
        ports,
        clock: belongs(table, clocks)?,
        shape,
        role,
        asynchronous,
        default,
        range: range.unwrap_or((0, most)),
        values,
        of_enum: table.string("enum")?,
        percent: percent.unwrap_or(50),
        signed,
        only_with,
        in_waves,
    })
}

fn state(
    table: &Table,
    lanes: Option<&Lanes>,
    enums: &[Enum],
    clocks: &[Pin],
) -> Result<State, Error> {
    let name = name(table, "name")?;
    let doc = table.required_string("doc")?;
    let shape = shape(table, lanes)?;
    if let Shape::Words { width, count: None } = shape {
        let why = format!(
            "the state of a lane is in planes, one for each of its bits: `planes = {width}` instead"
        );
        return Err(table.error("count", why));
    }
    let outputs = ports(table, "output")?.unwrap_or_default();
    check_bits(table, "output", &outputs, shape)?;
    if !matches!(outputs.len(), 0 | 1) && outputs.len() != shape.count() {
        let why = format!("{} ports for {} elements", outputs.len(), shape.count());
        return Err(table.error("output", why));
    }
    let sampled = table.flag("sampled")?;
    Ok(State {
        show: show(table, shape, enums)?,
        // One per lane is refused above.
        per_wavefront: table.has("count") && !table.is_number("count"),
        context: table.flag("context")?,
        clock: belongs(table, clocks)?,
        name,
        doc,
        shape,
        outputs,
        sampled,
        depth: table.string("depth")?,
        // It may use fields that come later.
        valid: None,
    })
}

fn show(table: &Table, shape: Shape, enums: &[Enum]) -> Result<Show, Error> {
    let width = u64::from(width(shape));
    let parts = table.tables("part", |part| {
        let top = width - 1;
        let bits = needed(part, "bits", part.pair("bits", 0..=top)?)?;
        Ok(Part {
            name: part.line("name")?.unwrap_or_default(),
            bits,
            signed: part.flag("signed")?,
            names: words(part, "names")?.unwrap_or_default(),
        })
    })?;
    let by_enum = table.string("enum")?;
    let form = table.string("show")?;
    match (form.as_deref(), by_enum, parts.is_empty()) {
        (None, None, false) => Ok(Show::Parts(parts)),
        (None, Some(name), true) => match enums.iter().find(|e| e.name == name) {
            None => Err(table.error("enum", format!("no enum {name:?}"))),
            Some(e) => fits(table, e, width as u32).map(|()| Show::Enum(name)),
        },
        (None | Some("decimal"), None, true) => Ok(Show::Decimal),
        (Some("hex"), None, true) => Ok(Show::Hex),
        (Some("address"), None, true) => Ok(Show::Address),
        (Some("signed"), None, true) => Ok(Show::Signed),
        (Some("binary"), None, true) => Ok(Show::Binary),
        (Some(other), None, true) => {
            let known = "decimal, hex, address, signed or binary";
            Err(table.error("show", format!("{other:?} is not {known}")))
        }
        _ => Err(table.error("name", "one of show, enum and part at most")),
    }
}

/// Checks that the values of an enum have `width` bits at most.
fn fits(table: &Table, of: &Enum, width: u32) -> Result<(), Error> {
    match of.values.last() {
        Some(most) if *most > ones(width) => {
            let why = format!(
                "{} has the value {most}, which is more than {width} bits",
                of.name
            );
            Err(table.error("enum", why))
        }
        _ => Ok(()),
    }
}

/// Returns what to say of a name that is none of the fields in `state`.
fn unknown(state: &[State]) -> String {
    let names: Vec<&str> = state.iter().map(|field| field.name.as_str()).collect();
    format!("no such field; there are {}", names.join(", "))
}

/// Checks the fields that the depth and the condition of `field` use. An error says whether it is in the depth.
fn conditions(field: &State, all: &[State]) -> Result<(), (bool, String)> {
    let number = |name: &str| {
        let of_one = |field: &&State| matches!(field.shape, Shape::Words { count: Some(1), .. });
        let mut named = all.iter().filter(|field| field.name == name).filter(of_one);
        match named.next() {
            Some(_) => Ok(()),
            None => Err(format!("no field {name:?} that is one number")),
        }
    };
    if let Some(name) = &field.depth {
        let in_depth = |why| (true, why);
        number(name).map_err(in_depth)?;
        if !matches!(
            field.shape,
            Shape::Words {
                count: Some(2..),
                ..
            }
        ) {
            return Err(in_depth("only a field with a count has one".to_owned()));
        }
    }
    // A condition may depend on a field that has one too, but not on itself.
    let name = &field.name;
    if field.hidden_by(all).iter().any(|by| by.name == *name) {
        return Err((field.depth.is_some(), format!("{name} depends on itself")));
    }
    match field.depth.is_some() && field.valid.is_some() {
        true => Err((false, "goes not with depth".to_owned())),
        false => Ok(()),
    }
}

fn view(table: &Table, state: &[State]) -> Result<View, Error> {
    let name = name(table, "name")?;
    let fields = needed(table, "fields", table.strings("fields")?)?;
    let planes = |name: &String| {
        let field = state.iter().find(|field| field.name == *name);
        match field.map(|field| field.shape) {
            Some(Shape::Planes(n)) => Ok(n as u32),
            _ => Err(table.error("fields", format!("no field {name:?} of planes"))),
        }
    };
    let widths = fields.iter().map(planes).collect::<Result<Vec<u32>, _>>()?;
    let total = widths.iter().sum::<u32>();
    if u64::from(total) > MAX_WIDTH {
        return Err(table.error(
            "fields",
            format!("{total} bits, and {MAX_WIDTH} is the most"),
        ));
    }
    let letters = table.tables("letter", |letter| {
        let count = letter.string("count")?;
        if let Some(count) = &count {
            let at = fields.iter().skip(1).position(|name| name == count);
            match at.map(|at| widths[at + 1]) {
                None => {
                    let why = format!("{count:?} is not one of the fields behind the first");
                    return Err(letter.error("count", why));
                }
                Some(9..) => return Err(letter.error("count", "more than 8 bits")),
                Some(_) => {}
            }
        }
        let text = needed(letter, "text", words(letter, "text")?)?;
        match &text[..] {
            [text] => Ok((text.clone(), count)),
            _ => Err(letter.error("text", "not a string")),
        }
    })?;
    let values = 1u64.checked_shl(widths[0]).unwrap_or(u64::MAX);
    if letters.len() as u64 > values {
        let why = format!(
            "{} letters for {values} values of {}",
            letters.len(),
            fields[0]
        );
        return Err(table.error("letter", why));
    }
    Ok(View {
        table: identifier(table, "table")?.unwrap_or_else(|| name.clone()),
        name,
        fields,
        letters,
    })
}

/// Checks that each name of a table stands for one table of one width.
fn tables(root: &Table, enums: &[Enum], state: &[State], views: &[View]) -> Result<(), Error> {
    let width = |name: &String| {
        let field = state.iter().find(|field| field.name == *name);
        field.map_or(0, |field| crate::rust::width(field.shape))
    };
    let width_of = |view: &View| view.fields.iter().map(width).sum::<u32>();
    let mut tables = BTreeMap::new();
    for view in views.iter().filter(|view| !view.letters.is_empty()) {
        if tables.insert(&view.table, width_of(view)).is_some() {
            let why = format!("two of them give table {} its letters", view.table);
            return Err(root.error("view", why));
        }
    }
    for view in views {
        if tables.get(&view.table) != Some(&width_of(view)) {
            let why = format!(
                "table {} has no letters of the width of {}",
                view.table, view.name
            );
            return Err(root.error("view", why));
        }
    }
    for table in enums {
        let of = |field: &&State| field.show == Show::Enum(table.name.clone());
        let shown = |field: &&State| !views.iter().any(|view| view.fields.contains(&field.name));
        let fields = state.iter().filter(of).filter(shown);
        let widths: BTreeSet<u32> = fields.map(|field| width(&field.name)).collect();
        if widths.len() > 1 {
            let why = format!("enum {} is that of fields of different widths", table.name);
            return Err(root.error("enum", why));
        }
        if !widths.is_empty() && tables.contains_key(&table.table) {
            return Err(root.error(
                "enum",
                format!("{} is the table of a view too", table.table),
            ));
        }
    }
    Ok(())
}
