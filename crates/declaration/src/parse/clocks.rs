//! The clocks of a design that has several, and what belongs to one of them.

use std::collections::BTreeSet;

use super::names::{identifier, name};
use super::{needed, once};
use crate::error::Error;
use crate::table::Table;
use crate::{MAX_CLOCKS, MAX_PERIOD, Pin, Port, Role, Shape};

/// Reads the tables `[[clock]]`; there are none if `clock` is the name of the only one.
pub(super) fn clocks(root: &Table) -> Result<Vec<Pin>, Error> {
    if !root.is_list("clock") {
        return Ok(Vec::new());
    }
    let (mut names, mut ports) = (BTreeSet::new(), BTreeSet::new());
    let clocks = root.tables("clock", |table| {
        let clock = clock(table)?;
        once(table, &mut names, &clock.name)?;
        if !ports.insert(clock.ports[0].name.clone()) {
            let why = format!("{} is driven twice", clock.ports[0]);
            return Err(table.error("port", why));
        }
        Ok(clock)
    })?;
    match clocks.len() {
        2..=MAX_CLOCKS => Ok(clocks),
        n @ 3.. => {
            let why = format!("{n} of them, and {MAX_CLOCKS} is the most");
            Err(root.error("clock", why))
        }
        _ => Err(root.error(
            "clock",
            "of several clocks each has a table; a single one is `clock = \"PORT\"`",
        )),
    }
}

fn clock(table: &Table) -> Result<Pin, Error> {
    let name = name(table, "name")?;
    let port = identifier(table, "port")?.unwrap_or_else(|| format!("{name}_i"));
    let period = needed(table, "period", table.pair("period", 1..=MAX_PERIOD)?)?;
    let phase = table.pair("phase", 0..=period.0 - 1)?;
    Ok(Pin {
        doc: table.required_string("doc")?,
        ports: vec![Port::whole(&port)],
        clock: Some(name.clone()),
        shape: Shape::Words {
            width: 1,
            count: Some(1),
        },
        role: Role::Clock { phase },
        asynchronous: false,
        default: 1,
        range: period,
        values: Vec::new(),
        of_enum: None,
        percent: 100,
        signed: false,
        only_with: None,
        in_waves: 1,
        name,
    })
}

/// Reads the clock to which a pin or a field belongs.
pub(super) fn belongs(table: &Table, clocks: &[Pin]) -> Result<Option<String>, Error> {
    let Some(name) = table.string("clock")? else {
        return Ok(None);
    };
    let names: Vec<&str> = clocks.iter().map(|clock| clock.name.as_str()).collect();
    match names.contains(&name.as_str()) {
        true => Ok(Some(name)),
        false if names.is_empty() => {
            let why = "only where there are several clocks, each in a table [[clock]]";
            Err(table.error("clock", why))
        }
        false => {
            let why = format!("{name:?} is not one of the clocks {}", names.join(", "));
            Err(table.error("clock", why))
        }
    }
}
