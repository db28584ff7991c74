//! `new --update`: the declaration of a crate that exists, with what the ports of changed RTL have changed.

/// Part of a declaration: a table, or what stands before the next one.
#[derive(Clone, Debug)]
struct Block {
    /// `pin`, `state`, `enum`, or another table; empty for blank lines and comments before a table.
    kind: String,
    lines: Vec<String>,
}

impl Block {
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
        let given = self
            .value("port")
            .or(self.value("output"))
            .map(str::to_owned);
        given.or_else(usual)
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

    /// Returns what its bits are, however they are divided into elements.
    fn bits(&self) -> String {
        let number = |key| self.value(key).map_or(Ok(1), str::parse::<u64>);
        match (self.value("planes"), number("width"), number("count")) {
            (None, Ok(width), Ok(count)) => format!("{} bits", width * count),
            (planes, ..) => format!(
                "{} for each lane",
                planes.or(self.value("width")).unwrap_or("1")
            ),
        }
    }
}

/// Divides a declaration into its tables.
fn blocks(text: &str) -> Vec<Block> {
    let mut all = vec![Block {
        kind: "root".to_owned(),
        lines: Vec::new(),
    }];
    for line in text.lines() {
        if line.starts_with('[') {
            let kind = line.trim_matches(['[', ']', ' ']).to_owned();
            let before = all
                .last_mut()
                .map_or(&mut [][..], |block| &mut block.lines[..])
                .iter();
            let loose = before
                .rev()
                .take_while(|line| line.trim().is_empty() || line.starts_with('#'))
                .count();
            if let Some(block) = all.last_mut() {
                let lines = block.lines.split_off(block.lines.len() - loose);
                all.push(Block {
                    kind: String::new(),
                    lines,
                });
            }
            all.push(Block {
                kind,
                lines: Vec::new(),
            });
        }
        if let Some(block) = all.last_mut() {
            block.lines.push(line.to_owned());
        }
    }
    all
}

/// Returns the declaration `old` with what differs in the ports of `new`, and what that is. What someone has added to it, or divided
/// otherwise, stays.
pub(super) fn merged(old: &str, new: &str) -> (String, Vec<String>) {
    let (mut old, new) = (blocks(old), blocks(new));
    let mut changes = Vec::new();
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
                if kind == "enum" || !old.iter().any(covers) {
                    changes.push(format!("added {kind} {}", block.name()));
                    let last = old.iter().rposition(|block| block.kind == kind);
                    let first_pin = || {
                        old.iter()
                            .position(|block| block.kind == "pin")
                            .map(|at| at.saturating_sub(2))
                    };
                    let at = last.or_else(first_pin).map_or(old.len(), |at| at + 1);
                    let space = Block {
                        kind: String::new(),
                        lines: vec![String::new()],
                    };
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
    let text = old
        .iter()
        .flat_map(|block| &block.lines)
        .map(|line| format!("{line}\n"));
    (text.collect(), changes)
}
