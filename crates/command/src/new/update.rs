//! `new --update`: the declaration of a crate that exists, with what the ports of changed RTL have changed.

use std::path::Path;

use reconverge::input::{InputError, read_text};
use reconverge::quantity::counted;
use reconverge::wave;
use reconverge_declaration::Declaration;

use crate::console::Failure;

/// Brings the crate in `dir` up to date: its declaration `before` with what differs in the ports of `new`, and the `wrapper` of
/// module `top`, if it has one. Returns what was changed, for the screen; `notes` name what is kept of the wrapper before.
///
/// # Errors
/// The declaration has mistakes, or is of RTL with another top; a wrapper that was kept is still there; a file cannot be read or written.
pub(super) fn update(
    dir: &Path,
    (before, new): (&str, &str),
    (top, wrapper): (&str, Option<&str>),
    notes: &mut Vec<String>,
) -> Result<String, Failure> {
    let bad =
        |field: &str, why: String| InputError::new(dir.to_string_lossy(), 0, field.to_owned(), why);
    let told = |why| bad("rtl/design.toml", why);
    let there = Declaration::parse("design.toml", before).map_err(|e| told(e.to_string()))?;
    if there.top != top {
        let why = format!(
            "its top is {}, and that of this RTL is {top}: make the crate in another folder with `new`, and take over there what you have \
             written",
            there.top
        );
        return Err(told(why).into());
    }
    let (text, changes) = merged(before, new);
    Declaration::parse("design.toml", &text)
        .map_err(|e| told(format!("cannot be brought up to date: {e}")))?;
    let save =
        |file: &str, text: &str| wave::write_whole(&dir.join(file), text).map_err(Failure::Other);
    if let Some(wrapper) = wrapper {
        let file = format!("rtl/{top}.sv");
        let old = read_text(&dir.join(&file))?;
        // It may have been changed by hand.
        let kept = format!("{file}.old");
        if wrapper != old && dir.join(&kept).exists() {
            let why = "take over from it what you need, and remove it: the wrapper changes again";
            return Err(bad(&kept, why.to_owned()).into());
        }
        if wrapper != old {
            save(&kept, &old)?;
            save(&file, wrapper)?;
            notes.push(format!(
                "{file} is new; the one before it is {kept}: take over what you have changed in it"
            ));
        }
    }
    save("rtl/design.toml", &text)?;
    Ok(match changes.is_empty() {
        true => "the ports are as declared".to_owned(),
        false => changes.join("\n  "),
    })
}

/// Part of a declaration: a table, or what stands before the next one.
#[derive(Clone, Debug)]
struct Block {
    /// `pin`, `state`, `enum`, or another table; empty for blank lines and comments before a table.
    kind: String,
    lines: Vec<String>,
}

impl Block {
    fn new(kind: &str, lines: Vec<String>) -> Self {
        let kind = kind.to_owned();
        Block { kind, lines }
    }

    fn value(&self, key: &str) -> Option<&str> {
        let values = self.lines.iter().filter_map(|line| line.split_once('='));
        let mut values = values.filter(|(name, _)| name.trim() == key);
        values
            .next()
            .map(|(_, value)| value.split(" #").next().unwrap_or(value).trim())
    }

    fn set(&mut self, key: &str, value: Option<&str>) {
        let at = self.lines.iter().position(|line| {
            line.split_once('=')
                .is_some_and(|(name, _)| name.trim() == key)
        });
        let line = value.map(|value| format!("{key} = {value}"));
        match (at, line) {
            (Some(at), Some(line)) => self.lines[at] = line,
            (Some(at), None) => drop(self.lines.remove(at)),
            // Behind the name.
            (None, Some(line)) => self.lines.insert(2.min(self.lines.len()), line),
            (None, None) => {}
        }
    }

    fn name(&self) -> &str {
        self.value("name").unwrap_or_default().trim_matches('"')
    }

    /// Returns the text of its ports; `None` if it is a probe.
    fn ports(&self) -> Option<String> {
        let usual = || (self.kind == "pin").then(|| format!("\"{}_i\"", self.name()));
        let given = self.value("port").or(self.value("output"));
        given.map(str::to_owned).or_else(usual)
    }

    /// Returns the names of its ports.
    fn bases(&self) -> Vec<String> {
        let ports = self.ports().unwrap_or_default();
        let texts = ports.split('"').skip(1).step_by(2);
        texts
            .map(|port| port.split('[').next().unwrap_or_default().to_owned())
            .collect()
    }

    /// Returns whether it is a part of a port.
    fn is_part(&self) -> bool {
        self.ports()
            .is_some_and(|ports| ports.trim_start_matches('[').contains('['))
    }

    /// Returns its bits; `None` if the lanes decide.
    fn count(&self) -> Option<u64> {
        let number = |key| self.value(key).map_or(Ok(1), str::parse::<u64>);
        match (self.value("planes"), number("width"), number("count")) {
            (None, Ok(width), Ok(count)) => width.checked_mul(count),
            _ => None,
        }
    }

    /// Returns what its bits are, however they are divided into elements.
    fn bits(&self) -> String {
        match (self.count(), self.value("planes")) {
            (Some(bits), _) => counted(bits, "bit"),
            (None, planes) => format!(
                "{} for each lane",
                planes.or(self.value("width")).unwrap_or("1")
            ),
        }
    }
}

/// Tells which of `keys` the RTL gives another value than the declaration has.
fn differs(changes: &mut Vec<String>, old: &Block, new: &Block, keys: &[&str]) {
    for key in keys {
        let (were, are) = (old.value(key), new.value(key));
        if were != are {
            let value = |value: Option<&str>| match value {
                Some(value) => format!("{key} = {value}"),
                None => format!("no {key}"),
            };
            let change = format!(
                "by hand: {} {} has {}, and of the RTL {}",
                old.kind,
                old.name(),
                value(were),
                value(are)
            );
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
    }
}

/// Divides a declaration into its tables.
fn blocks(text: &str) -> Vec<Block> {
    let mut all = vec![Block::new("root", Vec::new())];
    for line in text.lines() {
        if line.starts_with('[') {
            if let Some(block) = all.last_mut() {
                let is_loose = |line: &&String| line.trim().is_empty() || line.starts_with('#');
                let loose = block.lines.iter().rev().take_while(is_loose).count();
                let lines = block.lines.split_off(block.lines.len() - loose);
                all.push(Block::new("", lines));
            }
            all.push(Block::new(line.trim_matches(['[', ']', ' ']), Vec::new()));
        }
        if let Some(block) = all.last_mut() {
            block.lines.push(line.to_owned());
        }
    }
    all
}

/// Returns the declaration `old` with what differs in the ports of `new`, and what that is. What someone has added to it, or divided
/// otherwise, stays.
fn merged(old: &str, new: &str) -> (String, Vec<String>) {
    let (mut old, new) = (blocks(old), blocks(new));
    let mut changes = Vec::new();
    let clocks = |all: &[Block]| {
        let mut ports: Vec<String> = all
            .iter()
            .filter_map(|block| match block.kind.as_str() {
                "root" if block.value("combinational") == Some("true") => Some("none".to_owned()),
                "root" => Some(block.value("clock").unwrap_or("\"clk_i\"").to_owned()),
                "clock" => block.value("port").map(str::to_owned),
                _ => None,
            })
            .collect();
        if ports.len() > 1 {
            ports.remove(0);
        }
        ports.join(" and ")
    };
    let (were, are) = (clocks(&old), clocks(&new));
    if were != are {
        changes.push(format!(
            "by hand: the clock is {were}, and of the RTL {are}"
        ));
    }
    for kind in ["enum", "pin", "state"] {
        let of = |block: &&Block| block.kind == kind;
        let fresh: Vec<&Block> = new.iter().filter(of).collect();
        let mut kept: Vec<usize> = Vec::new();
        for block in &fresh {
            let free = |at: &usize, old: &[Block]| old[*at].kind == kind && !kept.contains(at);
            let places = || (0..old.len()).filter(|at| free(at, &old));
            let same = places().find(|at| kind != "enum" && old[*at].ports() == block.ports());
            let named = || {
                places()
                    .find(|at| old[*at].name() == block.name() && old[*at].bases() == block.bases())
            };
            let Some(at) = same.or_else(named) else {
                let covers = |other: &Block| {
                    other.kind == kind
                        && !other.is_part()
                        && block
                            .bases()
                            .iter()
                            .all(|base| other.bases().contains(base))
                };
                if let Some(other) = old.iter().find(|other| kind != "enum" && covers(other)) {
                    differs(&mut changes, other, block, &["sampled"]);
                } else {
                    changes.push(format!("added {kind} {}", block.name()));
                    let last = old.iter().rposition(|block| block.kind == kind);
                    let first_pin = || {
                        old.iter()
                            .position(|block| block.kind == "pin")
                            .map(|at| at.saturating_sub(2))
                    };
                    let at = last.or_else(first_pin).map_or(old.len(), |at| at + 1);
                    let space = Block::new("", vec![String::new()]);
                    old.splice(at..at, [space, (*block).clone()]);
                    kept.iter_mut()
                        .filter(|place| **place >= at)
                        .for_each(|place| *place += 2);
                    kept.push(at + 1);
                }
                continue;
            };
            kept.push(at);
            let there = &mut old[at];
            let (name, from, to) = (there.name().to_owned(), there.bits(), block.bits());
            let keys: &[&str] = match kind {
                "enum"
                    if there.value("names").map(|n| n.matches(',').count())
                        != block.value("names").map(|n| n.matches(',').count())
                        || there.value("values") != block.value("values") =>
                {
                    changes.push(format!("enum {name} has other values"));
                    &["names", "values"]
                }
                "enum" if there.value("names") != block.value("names") => {
                    let sorted = |names: Option<&str>| {
                        let names = names.unwrap_or_default().trim_matches(['[', ']']);
                        let mut names: Vec<_> = names
                            .split(',')
                            .map(|name| name.trim().to_owned())
                            .collect();
                        names.sort();
                        names
                    };
                    let (were, are) = (there.value("names"), block.value("names"));
                    if sorted(were) == sorted(are) {
                        changes.push(format!("enum {name} has other values"));
                        &["names"]
                    } else {
                        // They may have been renamed in the declaration.
                        differs(&mut changes, there, block, &["names"]);
                        &[]
                    }
                }
                "enum" => &[],
                _ if from != to => {
                    changes.push(format!("{kind} {name}: {from} became {to}"));
                    &["planes", "width", "count", "port", "output"]
                }
                _ if there.ports() != block.ports() && there.is_part() => {
                    changes.push(format!(
                        "{kind} {name}: {} became {}",
                        there.ports().unwrap_or_default(),
                        block.ports().unwrap_or_default()
                    ));
                    &["port", "output"]
                }
                _ => &[],
            };
            for key in keys.iter().rev() {
                there.set(key, block.value(key));
            }
            // A flag has no sign.
            if from != to && there.value("width").is_none_or(|width| width == "1") {
                there.set("signed", None);
            }
            // A number without a sign in the RTL may have one in the declaration.
            let sign = |block: &Block| match kind {
                "pin" => block.value("signed") == Some("true"),
                _ => block.value("show") == Some("\"signed\""),
            };
            let alike = |key| there.value(key) == block.value(key);
            let named = ["enum", "part"]
                .iter()
                .any(|key| there.value(key).is_some());
            if sign(block) && !sign(there) && !named && alike("width") {
                let key = if kind == "pin" { "signed" } else { "show" };
                differs(&mut changes, there, block, &[key]);
            }
            if kind != "enum" {
                differs(
                    &mut changes,
                    there,
                    block,
                    &["reset", "asynchronous", "sampled"],
                );
            }
        }
        // A port that is one number in the declaration, and has members in the RTL.
        let numbers = old.iter().enumerate();
        for (_, number) in numbers.filter(|(at, block)| {
            block.kind == kind && kind != "enum" && !block.is_part() && !kept.contains(at)
        }) {
            let bases = number.bases();
            let parts = fresh
                .iter()
                .filter(|part| part.bases().iter().all(|base| bases.contains(base)));
            let bits: Option<Vec<u64>> = parts.map(|part| part.count()).collect();
            let bits: u64 = bits.unwrap_or_default().iter().sum();
            if let Some(there) = number.count().filter(|there| bits > 0 && *there != bits) {
                let name = number.name();
                changes.push(format!(
                    "by hand: {kind} {name} has {there} bits, and {} of the RTL has {bits}",
                    bases.join(" and ")
                ));
            }
        }
        // What has lost its port, or its member.
        let there: Vec<String> = fresh.iter().flat_map(|block| block.bases()).collect();
        let mut at = 0;
        old.retain(|block| {
            at += 1;
            let bases = block.bases();
            let lost = block.is_part() || bases.iter().all(|base| !there.contains(base));
            let gone = block.kind == kind
                && kind != "enum"
                && !bases.is_empty()
                && !kept.contains(&(at - 1))
                && lost;
            if gone {
                changes.push(format!("removed {kind} {}", block.name()));
            }
            !gone
        });
    }
    let lines = old.iter().flat_map(|block| &block.lines);
    (lines.map(|line| format!("{line}\n")).collect(), changes)
}
