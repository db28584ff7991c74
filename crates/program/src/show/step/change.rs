//! Changes of draws: the selection in progress, and the changes made.

use std::collections::BTreeMap;

use super::Key;
use crate::case;
use crate::environment::Draw;
use reconverge_bench::field::in_eights;

/// A draw with changed bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    lane: u32,
    k: u64,
    bits: u16,
    /// The changed bits with their new values, in words.
    said: String,
}

impl Change {
    /// Returns the change as a row of a table of conditions.
    pub fn row(&self) -> case::Row {
        case::Row {
            lane: self.lane,
            k: self.k,
            bits: self.bits,
        }
    }

    /// Returns true if it changes the same draw as `other`.
    pub fn is_of(&self, other: &Change) -> bool {
        (self.lane, self.k) == (other.lane, other.k)
    }

    /// Returns the changed bits with their new values: `lane 5, draw 3: P0 1`.
    pub fn said(&self) -> &str {
        &self.said
    }
}

/// The effect of a key.
pub(super) enum Did {
    Nothing,
    Left,
    Changed(Vec<Change>),
}

/// The draws at an instruction, while the user selects bits to change.
#[derive(Clone, Debug)]
pub(super) struct Changing {
    draws: Vec<Option<Draw>>,
    names: &'static [&'static str],
    lane: usize,
    bit: usize,
    /// Inverted bits, by lane.
    turned: BTreeMap<usize, u16>,
}

impl Changing {
    /// Returns the selection for the draws of all lanes; `None` if there are no draws.
    pub fn new(draws: Vec<Option<Draw>>) -> Option<Self> {
        let lane = draws.iter().position(Option::is_some)?;
        let names = draws[lane].as_ref()?.names;
        Some(Changing {
            draws,
            names,
            lane,
            bit: 0,
            turned: BTreeMap::new(),
        })
    }

    /// Returns the bits of `lane` as selected.
    fn bits(&self, lane: usize) -> Option<u16> {
        let draw = self.draws[lane].as_ref()?;
        Some(draw.bits ^ self.turned.get(&lane).copied().unwrap_or(0))
    }

    /// Returns the changes selected for `lane`, in words: `lane 5, draw 3: P0 1, P2 0`.
    fn said(&self, lane: usize, turned: u16) -> Option<String> {
        let (draw, bits) = (self.draws[lane].as_ref()?, self.bits(lane)?);
        let names = self.names.iter().enumerate();
        let turned = names.filter(|(bit, _)| turned >> bit & 1 == 1);
        let turned: Vec<_> = turned
            .map(|(bit, name)| format!("{name} {}", bits >> bit & 1))
            .collect();
        Some(format!(
            "lane {lane}, draw {}: {}",
            draw.k,
            turned.join(", ")
        ))
    }

    pub fn press(&mut self, key: Key) -> Did {
        let there = |lane: &usize| self.draws[*lane].is_some();
        match key {
            Key::Left | Key::Char('h') => {
                self.lane = (0..self.lane).rev().find(there).unwrap_or(self.lane);
            }
            Key::Right | Key::Char('l') => {
                let others = self.lane + 1..self.draws.len();
                self.lane = { others }.find(there).unwrap_or(self.lane);
            }
            Key::Home => self.lane = (0..self.lane).find(there).unwrap_or(self.lane),
            Key::End => {
                let others = self.lane + 1..self.draws.len();
                self.lane = others.rev().find(there).unwrap_or(self.lane);
            }
            Key::Up | Key::Char('k') => self.bit = self.bit.saturating_sub(1),
            Key::Down | Key::Char('j') => self.bit = (self.bit + 1).min(self.names.len() - 1),
            Key::Char(' ') => {
                let turned = self.turned.entry(self.lane).or_insert(0);
                *turned ^= 1 << self.bit;
                if *turned == 0 {
                    self.turned.remove(&self.lane);
                }
            }
            Key::Enter if self.turned.is_empty() => return Did::Left,
            Key::Enter => {
                let changes = self.turned.iter().filter_map(|(lane, turned)| {
                    Some(Change {
                        lane: *lane as u32,
                        k: self.draws[*lane].as_ref()?.k,
                        bits: self.bits(*lane)?,
                        said: self.said(*lane, *turned)?,
                    })
                });
                return Did::Changed(changes.collect());
            }
            Key::Escape | Key::Char('q') => return Did::Left,
            _ => {}
        }
        Did::Nothing
    }

    /// Returns the draws as lines, for at most `most` lanes side by side.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let from = self.lane / most * most;
        let shown = from..(from + most).min(self.draws.len());
        let k = self.draws[self.lane].as_ref().map_or(0, |draw| draw.k);
        let wide = self.names.iter().map(|name| name.len()).max().unwrap_or(0);
        let mut lines = vec![format!(
            "conditions here, lanes {from}..{}; at lane {}, its draw {k}",
            shown.end - 1,
            self.lane
        )];
        for (bit, name) in self.names.iter().enumerate() {
            let letter = |lane| match self.bits(lane) {
                Some(bits) if bits >> bit & 1 == 1 => '1',
                Some(_) => '0',
                None => '-',
            };
            let bits: String = shown.clone().map(letter).collect();
            let mark = if bit == self.bit { '>' } else { ' ' };
            lines.push(format!("{mark} {name:<wide$}  {}", in_eights(&bits)));
            let turned = |lane| match self.turned.get(&lane) {
                Some(turned) if turned >> bit & 1 == 1 => '*',
                _ if bit == self.bit && lane == self.lane => '^',
                _ => ' ',
            };
            let marks = in_eights(&shown.clone().map(turned).collect::<String>());
            if !marks.trim().is_empty() {
                let line = format!("  {:<wide$}  {marks}", "");
                lines.push(line.trim_end().to_owned());
            }
        }
        let chosen = self.turned.iter();
        lines.extend(chosen.filter_map(|(lane, turned)| self.said(*lane, *turned)));
        lines
    }
}
