//! Generates groups of bins, and conditions.

use std::fmt::Write as _;

use crate::{Comparison, Condition, Cover, Declaration, Operand, State, Sum};

impl Declaration {
    /// Returns the groups of bins as code for a list.
    pub(super) fn rust_covers(&self, bench: &str) -> String {
        let mut out = String::new();
        for cover in &self.covers {
            let Cover {
                name,
                doc,
                when,
                axes,
                unreachable,
                of_enum,
            } = cover;
            let _ = write!(
                out,
                "\n        {bench}::bins::Cover {{\n            name: {name:?},\n            doc: {doc:?},\n            \
                 of_enum: {of_enum},\n            when: {},\n            axes: &[",
                self.rust_condition(when, bench)
            );
            for axis in axes {
                let _ = write!(
                    out,
                    "\n                {bench}::bins::Axis {{\n                    name: {:?},\n                    bins: &[",
                    axis.name
                );
                for (name, when) in &axis.bins {
                    let when = self.rust_condition(when, bench);
                    let _ = write!(out, "\n                        ({name:?}, {when}),");
                }
                out.push_str("\n                    ],\n                },");
            }
            out.push_str("\n            ],\n            unreachable: &[");
            for one in unreachable {
                let at: Vec<String> = one.at.iter().map(|bins| format!("&{bins:?}")).collect();
                let _ = write!(
                    out,
                    "\n                {bench}::bins::Unreachable {{ at: &[{}], when: {}, why: {:?} }},",
                    at.join(", "),
                    self.rust_condition(&one.when, bench),
                    one.why
                );
            }
            out.push_str("\n            ],\n        },");
        }
        out
    }

    /// Returns when `field` is compared, as an expression.
    pub(super) fn rust_compared(&self, field: &State, bench: &str) -> String {
        let of = format!("{bench}::hidden::Compared");
        match (&field.valid, &field.depth) {
            (Some(valid), _) => format!("{of}::While({})", self.rust_condition(valid, bench)),
            (None, Some(depth)) => {
                format!("{of}::Below({})", place(&self.state, |f| f.name == *depth))
            }
            (None, None) => format!("{of}::Always"),
        }
    }

    /// Returns a condition as an expression.
    pub(super) fn rust_condition(&self, condition: &Condition, bench: &str) -> String {
        let all = |all: &Vec<Comparison>| {
            let comparisons = all.iter().map(|c| self.rust_comparison(c, bench));
            format!("&[{}]", comparisons.collect::<Vec<_>>().join(", "))
        };
        let any: Vec<String> = condition.0.iter().map(all).collect();
        format!("&[{}]", any.join(", "))
    }

    fn rust_comparison(&self, comparison: &Comparison, bench: &str) -> String {
        let relation = match comparison.operator {
            "==" => "Equal",
            "!=" => "NotEqual",
            "<" => "Less",
            "<=" => "LessOrEqual",
            ">" => "Greater",
            _ => "GreaterOrEqual",
        };
        let of = format!("{bench}::bins");
        let side = |sum: &Sum| {
            let operand = match &sum.of {
                Operand::Number(n) => format!("Number({n})"),
                Operand::Pin(name) => format!("Pin({})", place(&self.pins, |p| p.name == *name)),
                Operand::Before(name) => {
                    format!("Before({})", place(&self.state, |f| f.name == *name))
                }
                Operand::After(name) => {
                    format!("After({})", place(&self.state, |f| f.name == *name))
                }
                Operand::Coverpoint(name) => {
                    let place = place(&self.coverpoints, |point| point.name == *name);
                    format!("Coverpoint({place})")
                }
                Operand::Parameter(name) => format!("Parameter({name:?})"),
                Operand::Lanes => "Lanes".to_owned(),
            };
            format!(
                "{of}::Sum {{ of: {of}::Operand::{operand}, plus: {} }}",
                sum.plus
            )
        };
        let (left, right) = (side(&comparison.left), side(&comparison.right));
        format!(
            "{of}::Comparison {{ left: {left}, relation: {of}::Relation::{relation}, right: {right} }}"
        )
    }
}

/// Returns the place in `list` of what a condition names.
fn place<T>(list: &[T], is: impl FnMut(&T) -> bool) -> usize {
    list.iter().position(is).unwrap_or(list.len())
}
