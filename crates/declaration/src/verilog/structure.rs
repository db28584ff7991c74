//! Writes packed structs.

use std::fmt::Write as _;

use crate::{Member, Shape};

pub(super) fn pad(number: usize) -> String {
    match number {
        0 => "pad".to_owned(),
        n => format!("pad{n}"),
    }
}

/// Writes a packed struct, the last member first. `below` is a member below the first one.
pub(super) fn structure<T>(
    out: &mut String,
    name: &str,
    members: &[Member<T>],
    of: impl Fn(&T) -> (String, Shape),
    below: Option<&str>,
) {
    let mut lines = Vec::new();
    lines.extend(below.map(str::to_owned));
    let mut pads = 0;
    for member in members {
        let bits = 8 * member.size;
        lines.push(match &member.what {
            None => {
                pads += 1;
                format!("logic [{}:0] {}", bits - 1, pad(pads - 1))
            }
            Some(what) => match of(what) {
                (field, Shape::Planes(n)) if n > 1 => format!("logic [{}:0][63:0] {field}", n - 1),
                (field, _) => format!("logic [{}:0] {field}", bits - 1),
            },
        });
    }
    out.push_str("  typedef struct packed {\n");
    for line in lines.iter().rev() {
        let _ = writeln!(out, "    {line};");
    }
    let _ = write!(out, "  }} {name};\n\n");
}
