//! Groups of bins.

use std::collections::BTreeSet;

use super::condition::{Fields, Named, Scope, number, value};
use super::names::name;
use super::{needed, once, ones};
use crate::error::Error;
use crate::table::Table;
use crate::{
    Axis, Comparison, Condition, Cover, Coverpoint, Enum, Level, MAX_BINS, MAX_WIDTH, Operand,
    Role, Show, Sum, Unreachable,
};

/// Widest value of which every one has a bin unless the declaration says otherwise.
const EACH: u32 = 6;
/// The groups of pins, fields and channels, and the sum of all.
const TAKEN: [&str; 4] = ["bins", "pins", "fields", "channels"];

/// Reads the tables `[[coverpoint]]`.
pub(super) fn coverpoints(root: &Table, scope: Scope) -> Result<Vec<Coverpoint>, Error> {
    let mut names = BTreeSet::new();
    root.tables("coverpoint", |table| {
        let name = name(table, "name")?;
        once(table, &mut names, &name)?;
        // A condition could mean either.
        let pins = scope.pins.iter().map(|pin| &pin.name);
        let fields = scope.state.iter().map(|field| &field.name);
        if pins.chain(fields).any(|other| *other == name) {
            return Err(table.error("name", format!("{name:?} is the name of a pin or a field")));
        }
        let of_enum = table.string("enum")?;
        let width = table.number("width", 1..=MAX_WIDTH)?;
        let width = match (&of_enum, width) {
            (Some(_), Some(_)) => return Err(table.error("width", "an enum has its own")),
            (Some(of), None) => match scope.enums.iter().find(|e| e.name == *of) {
                None => return Err(table.error("enum", format!("no enum {of:?}"))),
                Some(of) => of.values.last().map_or(1, |most| most.max(&1).ilog2() + 1),
            },
            (None, width) => width.unwrap_or(1) as u32,
        };
        Ok(Coverpoint {
            name,
            width,
            of_enum,
        })
    })
}

/// Reads the tables `[[cover]]`, and adds a group for each pin, field and coverpoint with an enum that none of them uses.
pub(super) fn covers(root: &Table, scope: Scope) -> Result<Vec<Cover>, Error> {
    let mut names: BTreeSet<String> = TAKEN.map(str::to_owned).into();
    let mut used = Vec::new();
    let mut covers = root.tables("cover", |table| {
        let cover = cover(table, scope, &mut used)?;
        once(table, &mut names, &cover.name)?;
        Ok(cover)
    })?;
    let pins = scope.pins.iter().filter(|pin| pin.of_enum.is_some());
    let pins = pins.map(|pin| (format!("pin.{}", pin.name), format!("pin {}", pin.name)));
    let named = scope.state.iter();
    let named = named.filter(|field| matches!(field.show, Show::Enum(_)));
    let fields = named.map(|field| {
        (
            format!("next.{}", field.name),
            format!("field {}", field.name),
        )
    });
    let points = scope.coverpoints.iter();
    let points = points.filter(|point| point.of_enum.is_some());
    let points = points.map(|point| (point.name.clone(), format!("coverpoint {}", point.name)));
    for (of, name) in pins.chain(fields).chain(points) {
        // A list of elements has no value of its own.
        let Ok(found) = scope.find(&of) else {
            continue;
        };
        let bare = |name: &str| name.rsplit('.').next().map(str::to_owned);
        let (Some(of_enum), false) = (found.of, used.iter().any(|u| bare(u) == bare(&of))) else {
            continue;
        };
        let bins = each(&found, of_enum);
        covers.push(Cover {
            name: format!("values of {name}"),
            doc: "cycles with each value of its enum".to_owned(),
            when: Condition::always(),
            axes: vec![Axis {
                name: bare(&of).unwrap_or_default(),
                bins,
            }],
            unreachable: Vec::new(),
            of_enum: true,
        });
    }
    let bins: usize = covers
        .iter()
        .map(Cover::bins)
        .fold(0, usize::saturating_add);
    match bins > MAX_BINS {
        true => Err(root.error("cover", format!("{bins} bins, and {MAX_BINS} is the most"))),
        false => Ok(covers),
    }
}

impl Cover {
    /// Returns its number of bins.
    fn bins(&self) -> usize {
        let counts = self.axes.iter().map(|axis| axis.bins.len());
        counts.fold(1, usize::saturating_mul)
    }
}

fn cover(table: &Table, scope: Scope, used: &mut Vec<String>) -> Result<Cover, Error> {
    let name = needed(table, "name", table.line("name")?)?;
    let doc = needed(table, "doc", table.line("doc")?)?;
    let when = when(table, scope)?.unwrap_or_else(Condition::always);
    let when = out_of_reset(scope, when);
    let mut names = BTreeSet::new();
    let axes = table.tables("axis", |table| {
        let axis = axis(table, scope, used)?;
        once(table, &mut names, &axis.name)?;
        Ok(axis)
    })?;
    if axes.is_empty() {
        return Err(table.error("axis", "missing: there must be one at least"));
    }
    Ok(Cover {
        unreachable: table.tables("unreachable", |table| unreachable(table, scope, &axes))?,
        name,
        doc,
        when,
        axes,
        of_enum: false,
    })
}

/// Reads the condition `when`.
fn when(table: &Table, scope: Scope) -> Result<Option<Condition>, Error> {
    let text = table.line("when")?;
    let condition = text.map(|text| scope.condition(&text)).transpose();
    condition.map_err(|why| table.error("when", why))
}

/// Adds to `when` that the reset is not asserted, unless it compares the reset.
fn out_of_reset(scope: Scope, mut when: Condition) -> Condition {
    let reset = scope.pins.iter().find_map(|pin| match pin.role {
        Role::Reset(level) => Some((Operand::Pin(pin.name.clone()), level)),
        _ => None,
    });
    if let Some((reset, level)) = reset
        && !when.operands().any(|operand| *operand == reset)
    {
        for all in &mut when.0 {
            all.push(compare(&reset, "==", u64::from(level == Level::Low)));
        }
    }
    when
}

fn compare(of: &Operand, operator: &'static str, with: u64) -> Comparison {
    against(of, operator, Operand::Number(with))
}

fn against(of: &Operand, operator: &'static str, with: Operand) -> Comparison {
    let sum = |of| Sum { of, plus: 0 };
    Comparison {
        left: sum(of.clone()),
        operator,
        right: sum(with),
    }
}

fn axis(table: &Table, scope: Scope, used: &mut Vec<String>) -> Result<Axis, Error> {
    let own = table.tables("bin", |table| {
        let name = needed(table, "name", table.line("name")?)?;
        Ok((name, needed(table, "when", when(table, scope)?)?))
    })?;
    let (name, of, texts) = (table.line("name")?, table.line("of")?, table.texts("bins")?);
    let (name, bins) = match (of, own.is_empty()) {
        (None, true) => return Err(table.error("of", "missing: an axis has of, or a list bin")),
        (Some(_), false) => {
            return Err(table.error("bin", "an axis has either of or a list bin"));
        }
        (None, false) if texts.is_some() => {
            return Err(table.error("bins", "goes only with of"));
        }
        (None, false) => (needed(table, "name", name)?, own),
        (Some(of), true) => {
            let found = scope.find(&of).map_err(|why| table.error("of", why))?;
            let bins = match texts {
                Some(texts) => texts
                    .into_iter()
                    .map(|text| match bin(&text, &found, scope) {
                        Ok(when) => Ok((text, when)),
                        Err(why) => Err(table.error("bins", why)),
                    })
                    .collect::<Result<_, _>>()?,
                None => match found.of {
                    Some(of) => each(&found, of),
                    None if found.width <= EACH => (0..=ones(found.width))
                        .map(|v| (v.to_string(), one(&found, v)))
                        .collect(),
                    None => {
                        let bits = found.width;
                        let why = format!(
                            "missing: {of} has {bits} bits, and up to {EACH} have a bin for each value"
                        );
                        return Err(table.error("bins", why));
                    }
                },
            };
            used.push(of.clone());
            (name.unwrap_or(of), bins)
        }
    };
    let mut names = BTreeSet::new();
    if let Some((twice, _)) = bins.iter().find(|(name, _)| !names.insert(name)) {
        return Err(table.error("bins", format!("{twice:?} is there twice")));
    }
    Ok(Axis { name, bins })
}

/// Returns a bin for each value of `of_enum`.
fn each(found: &Named, of_enum: &Enum) -> Vec<(String, Condition)> {
    let values = of_enum.names.iter().zip(&of_enum.values);
    values
        .map(|(name, value)| (name.clone(), one(found, *value)))
        .collect()
}

fn one(found: &Named, value: u64) -> Condition {
    Condition(vec![vec![compare(&found.operand, "==", value)]])
}

/// Reads a bin: a value or a range of values, both ends of which are in it.
fn bin(text: &str, found: &Named, scope: Scope) -> Result<Condition, String> {
    let end = |text: &str| {
        let text = text.trim();
        let named = found.of.and_then(|of| value(of, text));
        match named.or_else(|| number(text)) {
            Some(n) if n > ones(found.width) => {
                Err(format!("{n} is more than {} bits", found.width))
            }
            Some(n) => Ok(Operand::Number(n)),
            None => {
                let builds = Scope {
                    fields: Fields::None,
                    ..scope
                };
                let parameter = builds.find(text).map(|found| found.operand);
                parameter.map_err(|_| {
                    let form = "a number, a parameter, a name of the enum, or a range of them such as \"2..6\"";
                    format!("a bin is {form}; not {text:?}")
                })
            }
        }
    };
    let all = match text.split_once("..") {
        None => vec![against(&found.operand, "==", end(text)?)],
        Some((least, most)) => {
            let (least, most) = (end(least)?, end(most)?);
            if let (Operand::Number(a), Operand::Number(b)) = (&least, &most)
                && a > b
            {
                return Err(format!("{a} is above {b}"));
            }
            vec![
                against(&found.operand, ">=", least),
                against(&found.operand, "<=", most),
            ]
        }
    };
    Ok(Condition(vec![all]))
}

fn unreachable(table: &Table, scope: Scope, axes: &[Axis]) -> Result<Unreachable, Error> {
    let mut at = vec![Vec::new(); axes.len()];
    if !table.has("at") {
        return Err(table.error("at", "missing"));
    }
    for (name, bins, place) in table.entries("at")? {
        let Some(n) = axes.iter().position(|axis| axis.name == name) else {
            let known: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
            let why = format!("no such axis; there are {}", known.join(", "));
            return Err(table.error_at(&place, why));
        };
        for bin in bins {
            let known = &axes[n].bins;
            let Some(number) = known.iter().position(|(name, _)| *name == bin) else {
                let known: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
                let why = format!("no bin {bin:?}; there are {}", known.join(", "));
                return Err(table.error_at(&place, why));
            };
            at[n].push(number);
        }
    }
    let builds = Scope {
        fields: Fields::None,
        ..scope
    };
    Ok(Unreachable {
        at,
        when: when(table, builds)?.unwrap_or_else(Condition::always),
        why: needed(table, "why", table.line("why")?)?,
    })
}
