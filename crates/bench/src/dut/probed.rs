//! Places of mistakes in probes: Verilator names a line of the generated bench top, which the user has not written.
//!
//! The bench top names no places itself (`` `line ``): its text is part of the key of a model, which would then depend on folders.

/// A generated bench top, and the file with the probes in it.
pub(super) struct Probed<'a> {
    /// Text of the bench top.
    pub bench: &'a str,
    /// Name of its file.
    pub name: &'a str,
    /// Path of the file with the probes, for messages.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl Probed<'_> {
    /// Returns `message` with the file and line of the probe in place of the line of the bench top, wherever a line of the file
    /// has the text that stands there.
    pub fn place(&self, message: &str) -> String {
        let lines = message.lines().map(|line| self.placed(line));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns file and line of the probe whose value the net `name` of the bench top has.
    pub fn net(&self, name: &str) -> Option<String> {
        let start = format!("  assign {name} = ");
        let assigned = self.bench.lines().find(|line| line.starts_with(&start))?;
        let at = self.line_of(assigned)?;
        Some(format!("{}:{at}", self.file))
    }

    /// Returns one line of the message, of the form `%Error: PATH/NAME:LINE:COLUMN: TEXT`.
    fn placed(&self, line: &str) -> String {
        let found = || {
            let (before, rest) = line.split_once(&format!("{}:", self.name))?;
            let number: usize = rest.split(':').next()?.parse().ok()?;
            let after = rest.splitn(3, ':').nth(2)?;
            let kind = before.split_once(' ')?.0;
            let at = self.line_of(self.bench.lines().nth(number.checked_sub(1)?)?)?;
            Some(format!("{kind} {}:{at}:{after}", self.file))
        };
        found().unwrap_or_else(|| line.to_owned())
    }

    /// Returns the line of the file with the expression, register or condition that `generated` has.
    fn line_of(&self, generated: &str) -> Option<usize> {
        let code = generated.trim().trim_end_matches(';');
        let halves = [" = ", " <= "].map(|between| code.split_once(between));
        let halves = halves.into_iter().flatten().flat_map(|(a, b)| [a, b]);
        let parts = halves.chain([code]).map(|part| {
            // A condition stands before a register.
            part.strip_prefix("if (")
                .and_then(|part| part.rsplit_once(") "))
                .map_or(part, |(_, register)| register)
        });
        let mut quoted = parts.map(|part| format!("\"{part}\""));
        quoted
            .find_map(|part| self.text.lines().position(|line| line.contains(&part)))
            .map(|at| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_in_a_probe_is_placed_in_its_file() {
        let probed = Probed {
            bench: "module u_tb;\n  assign probe_a = dut.a_q;\n      if (load_b != 0) dut.b_q <= load_b;\n  other(x);\n",
            name: "u_tb.sv",
            file: "rtl/design.toml",
            text: "[[state]]\nprobe = \"dut.a_q\"\n\n[[load]]\nregister = \"dut.b_q\"\n",
        };
        for (said, placed) in [
            (
                "%Error: /c/.building-1/u_tb.sv:2:9: Can't find 'a_q'",
                "%Error: rtl/design.toml:2: Can't find 'a_q'",
            ),
            (
                "%Warning-WIDTH: u_tb.sv:3:9: wide",
                "%Warning-WIDTH: rtl/design.toml:5: wide",
            ),
            // Of no probe, of no line, of another file.
            ("%Error: u_tb.sv:4:1: x", "%Error: u_tb.sv:4:1: x"),
            ("%Error: u_tb.sv:9:1: x", "%Error: u_tb.sv:9:1: x"),
            ("%Error: rtl/u.sv:2:1: x", "%Error: rtl/u.sv:2:1: x"),
            ("    2 |   assign probe_a", "    2 |   assign probe_a"),
        ] {
            assert_eq!(probed.place(said), placed);
        }
        assert_eq!(probed.place("a\nb"), "a\nb");
        assert_eq!(probed.net("probe_a").as_deref(), Some("rtl/design.toml:2"));
        assert_eq!(probed.net("probe_b"), None);
    }
}
