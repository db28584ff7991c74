//! Numbers in the cells of a netlist. One that is not understood is an error: a 0 in its place would be proved about.

use serde_json::Value;

use super::JsonCell;

/// Returns the value of a numeric parameter: Yosys writes it as 32 binary digits. `None`: it is not a number.
fn parsed(value: &Value) -> Option<usize> {
    match value {
        Value::String(s) => usize::from_str_radix(s.trim(), 2).ok(),
        Value::Number(n) => n.as_u64().and_then(|n| usize::try_from(n).ok()),
        _ => None,
    }
}

/// Parameters that are read as numbers; a kind of cell that has one of them not has 0 for it.
const NUMBERS: [&str; 9] = [
    "CLK_ENABLE",
    "CLK_POLARITY",
    "ARST_POLARITY",
    "ALOAD_POLARITY",
    "EN_POLARITY",
    "PORTID",
    "PRIORITY",
    "A_SIGNED",
    "B_SIGNED",
];

/// Returns a numeric parameter of a cell that [`understood`] accepts.
pub(super) fn number(cell: &JsonCell, name: &str) -> usize {
    let value = cell.parameters.get(name);
    value.and_then(parsed).unwrap_or_default()
}

/// Returns what of a cell is not understood: a parameter or a bit that is not a number. What is not understood must not become a 0 in a
/// proof.
pub(super) fn understood(cell: &JsonCell) -> Result<(), String> {
    for name in NUMBERS {
        let value = cell.parameters.get(name);
        if let Some(value) = value.filter(|value| parsed(value).is_none()) {
            return Err(format!("parameter {name} is {value}"));
        }
    }
    for (port, bits) in &cell.connections {
        let bad = |bit: &&Value| bit.is_number() && bit.as_u64().is_none();
        if let Some(bit) = bits.iter().find(bad) {
            return Err(format!("bit {bit} at port {port}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_parameter_or_a_bit_that_is_no_number_is_refused() {
        let cell = |polarity: Value, bit: Value| {
            let json = json!({
                "type": "$dff",
                "parameters": {"CLK_POLARITY": polarity, "MEMID": "a name"},
                "attributes": {},
                "connections": {"D": [bit, "x", "1"]},
            });
            understood(&serde_json::from_value(json).unwrap())
        };
        assert_eq!(
            cell(json!("00000000000000000000000000000001"), json!(7)),
            Ok(())
        );
        assert_eq!(cell(json!(1), json!("0")), Ok(()));
        assert_eq!(
            cell(json!("one"), json!(7)),
            Err("parameter CLK_POLARITY is \"one\"".to_owned())
        );
        assert_eq!(
            cell(json!("1"), json!(-7)),
            Err("bit -7 at port D".to_owned())
        );
    }
}
