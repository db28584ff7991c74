//! Help about the designs of this program and about no others.
//!
//! In the texts of commands and options `{CONDITION:PART}` is a part for programs whose designs fulfil a condition of [`Has::holds`].
//! A command or an option of which no text is left is not offered.

use clap::{Arg, Command};

use crate::guests::Known;

/// What there is among the designs of this program.
#[derive(Clone, Copy)]
pub struct Has<'a> {
    /// Names of designs.
    names: &'a [&'a str],
    /// Designs that run programs.
    programs: bool,
    /// Designs that run none.
    pins: bool,
    /// Designs with lanes.
    lanes: bool,
    /// Designs whose RTL is linked into this program.
    linked: bool,
}

impl<'a> Has<'a> {
    /// Returns what there is among `known`, which are called `names`.
    pub fn of(known: &[Known], names: &'a [&'a str]) -> Self {
        Has {
            names,
            programs: known.iter().any(|known| known.programs.is_some()),
            pins: known.iter().any(|known| known.programs.is_none()),
            lanes: known.iter().any(|known| known.declaration.lanes.is_some()),
            linked: known.iter().any(|known| known.linked),
        }
    }

    /// Returns whether a condition holds; otherwise it is the name of a design.
    fn holds(self, condition: &str) -> bool {
        match condition {
            "programs" => self.programs,
            "pins" => self.pins,
            "both" => self.programs && self.pins,
            "lanes" => self.lanes,
            "linked" => self.linked,
            "compiled" => !self.linked,
            "several" => self.names.len() > 1,
            name => self.names.contains(&name),
        }
    }

    /// Returns `text` with the parts whose conditions hold.
    fn text(self, text: &str) -> String {
        let mut fitted = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            fitted += before;
            rest = after;
            let part = after.split_once('}').and_then(|(part, behind)| {
                let (condition, part) = part.split_once(':')?;
                let is_word = condition.bytes().all(|b| b.is_ascii_alphanumeric());
                is_word.then_some((condition, part, behind))
            });
            match part {
                Some((condition, part, behind)) => {
                    fitted += if self.holds(condition) { part } else { "" };
                    rest = behind;
                }
                None => fitted.push('{'),
            }
        }
        fitted + rest
    }

    /// Returns a command with its options as it is offered; `None` if it is not.
    pub fn command(self, mut command: Command) -> Option<Command> {
        if let Some(about) = command.get_long_about() {
            let about = self.text(&about.to_string());
            command = command.long_about(about);
        }
        let about = self.text(&command.get_about().map(ToString::to_string)?);
        (!about.is_empty()).then(|| command.about(about).mut_args(|arg| self.option(arg)))
    }

    fn option(self, mut arg: Arg) -> Arg {
        if let Some(help) = arg.get_long_help() {
            let help = self.text(&help.to_string());
            arg = arg.long_help(help);
        }
        match arg.get_help().map(|help| self.text(&help.to_string())) {
            Some(help) if help.is_empty() => arg.hide(true),
            Some(help) => arg.help(help),
            None => arg,
        }
    }
}
