//! What stands in declarations and in probe files alike: where the state is in the RTL, and what loads it.

use super::needed;
use crate::error::Error;
use crate::table::Table;
use crate::{Assertions, Load, Probes, State, Write};

/// Reads the probe of `field`, and the registers that load it.
pub(super) fn probe(table: &Table, field: &State, probes: &mut Probes) -> Result<(), Error> {
    if table.flag("falling")? {
        probes.falling.push(field.name.clone());
    }
    let expressions = table.strings("probe")?;
    let registers = table.strings("load")?;
    let elements = field.shape.count();
    match (&expressions, field.outputs.is_empty()) {
        (None, true) => return Err(table.error("probe", "missing, and the field is not an output")),
        (Some(_), false) => return Err(table.error("probe", "the field is an output")),
        (Some(list), true) if list.len() != 1 && list.len() != elements => {
            let why = format!("{} expressions for {elements} elements", list.len());
            return Err(table.error("probe", why));
        }
        _ => {}
    }
    if let Some(registers) = &registers {
        if registers.len() != 1 && registers.len() != elements {
            let why = format!("{} registers for {elements} elements", registers.len());
            return Err(table.error("load", why));
        }
        let names = load_names(field, registers.len());
        for (register, value) in registers.iter().zip(names) {
            let register = register.clone();
            probes.loads.push(Load {
                write: Write::Register { register, value },
                when: None,
            });
        }
    }
    if let Some(list) = expressions {
        probes.expressions.push((field.name.clone(), list));
    }
    Ok(())
}

/// Returns the names in the bench top of the values to load into the `registers` registers of `field`.
fn load_names(field: &State, registers: usize) -> Vec<String> {
    match registers {
        1 => vec![format!("load_{}", field.name)],
        n => (0..n).map(|i| format!("load_{}{i}", field.name)).collect(),
    }
}

/// Reads the keys that declarations and probe files have in common.
pub(super) fn common(root: &Table, probes: &mut Probes) -> Result<(), Error> {
    probes.verilog = root.string("verilog")?;
    let loads = root.tables("load", |table| {
        let (register, value) = (table.line("register")?, table.string("value")?);
        let write = match (register, value, table.string("call")?) {
            (Some(register), Some(value), None) => Write::Register { register, value },
            (None, None, Some(call)) => Write::Call(call),
            _ => return Err(table.error("register", "a load has register and value, or call")),
        };
        Ok(Load {
            write,
            when: table.string("when")?,
        })
    })?;
    probes.loads.extend(loads);
    probes.assertions = root.table("assertions", |table| {
        Ok(Assertions {
            file: needed(table, "file", table.line("file")?)?,
            loaded: table.line("loaded")?,
        })
    })?;
    Ok(())
}
