//! Probe files: how the one in an RTL folder is found, and how one is written.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::table::File;
use crate::{Declaration, Probes, State, Write};

/// Keys that may differ in other RTL of a design: they say where the state is, or what is counted, drawn and promised.
const FREE: &[&str] = &[
    "probe",
    "load",
    "falling",
    "verilog",
    "assertions",
    "coverpoint",
    "cover",
    "literals",
    "channel",
];

impl Declaration {
    /// Returns the probes of the RTL in `dir`, and the file with them: `<name>_probe.toml`, or a `design.toml` that
    /// declares the same pins and state as `self`, whose text is `own`. `read` reads a text file from outside: the caller decides
    /// which files it reads.
    ///
    /// # Errors
    /// Neither file exists; the same as of `read`; the file is wrong.
    pub fn probes_in<E: From<Error>>(
        &self,
        dir: &Path,
        own: &str,
        read: impl FnOnce(&Path) -> Result<String, E>,
    ) -> Result<(PathBuf, Probes), E> {
        let (probe, design) = (
            dir.join(format!("{}_probe.toml", self.name)),
            dir.join("design.toml"),
        );
        let only = probe.exists();
        let file = if only || !design.exists() {
            probe
        } else {
            design
        };
        let shown = file.display().to_string();
        let whole = |message: String| {
            E::from(Error {
                file: shown.clone(),
                line: 0,
                field: "file".to_owned(),
                message,
            })
        };
        if fs::metadata(&file).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
            let mut why =
                "missing, and there is no design.toml: one of them tells where the state is"
                    .to_owned();
            let before = format!("{}_probe.svh", self.name);
            if dir.join(&before).exists() {
                let _ = write!(why, "; {before} is not read any more");
            }
            return Err(whole(why));
        }
        let text = read(&file)?;
        if only {
            return Ok((file, self.parse_probes(&shown, &text)?));
        }
        let other = Declaration::parse(&shown, &text)?;
        let probes = other.probes.clone();
        let declared = Declaration {
            probes: self.probes.clone(),
            // What is counted and drawn says nothing of where the state is.
            coverpoints: self.coverpoints.clone(),
            covers: self.covers.clone(),
            literals: self.literals.clone(),
            // What is promised is checked by the declaration of the bench.
            channels: self.channels.clone(),
            ..other
        };
        if declared == *self {
            return Ok((file, probes));
        }
        let [there, here] = [(&*shown, &*text), ("", own)].map(|(name, text)| File { name, text });
        let whose = format!(
            "the {} that this bench was built for; only probe, load, falling, verilog and assertions may differ",
            self.name
        );
        Err(match there.differs(here, FREE, &whose) {
            Some(differs) => differs.into(),
            None => whole(format!("does not declare {whose}")),
        })
    }
}

impl Declaration {
    /// Returns the fields whose values may change at the falling edge of the clock in RTL with `probes`: those that say so, and those
    /// that such a field masks.
    pub fn falling(&self, probes: &Probes) -> Vec<String> {
        let falls = |field: &State| probes.falling.contains(&field.name);
        let masked = |field: &State| field.hidden_by(&self.state).into_iter().any(falls);
        let all = self.state.iter();
        let all = all.filter(|field| falls(field) || masked(field));
        all.map(|field| field.name.clone()).collect()
    }
}

impl Probes {
    /// Returns the text of a probe file that [`Declaration::parse_probes`] can read.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        // Expressions contain quotes and, for a netlist, backslashes; literal strings allow both.
        let literal = |text: &str| format!("'''{text}'''");
        if let Some(verilog) = &self.verilog {
            let _ = writeln!(out, "verilog = {}\n", literal(verilog));
        }
        for (name, expressions) in &self.expressions {
            let list: Vec<String> = expressions.iter().map(|text| literal(text)).collect();
            let falling = match self.falling.contains(name) {
                true => "falling = true\n",
                false => "",
            };
            let _ = writeln!(
                out,
                "[[state]]\nname = \"{name}\"\n{falling}probe = [\n  {},\n]\n",
                list.join(",\n  ")
            );
        }
        let probed = |name: &String| self.expressions.iter().any(|(of, _)| of == name);
        for name in self.falling.iter().filter(|name| !probed(name)) {
            let _ = writeln!(out, "[[state]]\nname = \"{name}\"\nfalling = true\n");
        }
        for load in &self.loads {
            out.push_str("[[load]]\n");
            let mut line = |key: &str, text: &str| {
                let _ = writeln!(out, "{key} = {}", literal(text));
            };
            match &load.write {
                Write::Register { register, value } => {
                    line("register", register);
                    line("value", value);
                }
                Write::Call(call) => line("call", call),
            }
            if let Some(when) = &load.when {
                line("when", when);
            }
            out.push('\n');
        }
        if let Some(assertions) = &self.assertions {
            let _ = writeln!(out, "[assertions]\nfile = {}", literal(&assertions.file));
            if let Some(register) = &assertions.loaded {
                let _ = writeln!(out, "loaded = {}", literal(register));
            }
        }
        out
    }
}
