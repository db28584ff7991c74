//! Results of proofs as a table and as JSON; a counterexample as text and as a VCD.

use std::fmt::{self, Display, Formatter, Write as _};

use serde_json::{Value, json};

use super::{Counterexample, Fault, Method, Proved, Report, SOLVER, Verdict};
use reconverge_bench::wave::PERIOD_NS;

impl Report {
    /// Returns what happened to the faults that `proved` must refute, as the table shows it.
    fn control(&self, proved: &Proved) -> String {
        let all: Vec<_> = self.controls_of(&proved.name).collect();
        match all[..] {
            _ if proved.method == Method::Cover => String::new(),
            [] => "none planted".to_owned(),
            _ if all.iter().any(|(_, refuted)| !refuted) => "NOT DETECTED".to_owned(),
            [(control, _), ..] => match control.fault.line {
                Some(line) => format!("detected: {}:{line}", control.fault.file),
                None => format!("detected: {}", control.fault.file),
            },
        }
    }

    /// Returns the whole report as JSON, with times in seconds.
    pub fn to_json(&self) -> Value {
        let proved = self.proved.iter().map(|p| {
            let controls = self.controls_of(&p.name).map(|(control, refuted)| {
                let Fault {
                    file,
                    line,
                    from,
                    to,
                    ..
                } = &control.fault;
                json!({ "file": file, "line": line, "from": from, "to": to, "refuted": refuted })
            });
            json!({
                "property": p.name,
                "method": p.method.name(),
                "cycles": 1,
                "questions": p.questions,
                "solver": SOLVER,
                "proofs checked": p.checked,
                "premises": p.premises,
                "seconds": p.time.as_secs_f64(),
                "verdict": p.verdict.name(p.method).to_lowercase(),
                "place": p.place,
                "cycles from reset": p.way.as_ref().map(Vec::len),
                "controls": controls.collect::<Vec<_>>(),
            })
        });
        json!({
            "unit": self.unit,
            "lanes": self.build.lanes,
            "parameters": self.build.parameters,
            "complete": self.complete,
            "properties": proved.collect::<Vec<_>>(),
            "open": self.open(),
        })
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = self.proved.iter().map(|p| p.name.len());
        let width = names.max().unwrap_or_default().max("property".len());
        writeln!(
            f,
            "  {:width$}  {:11}  {:20}  cycles  questions  solver   seconds  fault",
            "property", "verdict", "method"
        )?;
        for p in &self.proved {
            let line = format!(
                "  {:width$}  {:11}  {:20}  {:>6}  {:>9}  {:7}  {:>7.1}  {}",
                p.name,
                p.verdict.name(p.method),
                p.method.name(),
                1,
                p.questions,
                SOLVER,
                p.time.as_secs_f64(),
                self.control(p)
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns bits as a number, in hexadecimal if there are several.
fn number(bits: &[bool]) -> String {
    if let [bit] = bits {
        return u32::from(*bit).to_string();
    }
    let digit = |four: &[bool]| {
        let digit = four.iter().rev().fold(0, |n, bit| n << 1 | u32::from(*bit));
        char::from_digit(digit, 16).unwrap_or('?')
    };
    "0x".chars()
        .chain(bits.chunks(4).rev().map(digit))
        .collect()
}

impl Display for Counterexample {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = self.ports.iter().map(|(name, _)| name);
        let names = names.chain(self.registers.iter().map(|r| &r.name));
        let width = names.map(String::len).max().unwrap_or_default();
        writeln!(f, "  inputs of the cycle")?;
        for (name, bits) in &self.ports {
            writeln!(f, "    {name:width$}  {}", number(bits))?;
        }
        let by_step = self.registers.iter().any(|r| r.step.is_some());
        let title = if by_step { ", after it by step.sv" } else { "" };
        writeln!(f, "  registers: before, after it in the RTL{title}")?;
        for r in &self.registers {
            let [before, rtl] = [&r.before, &r.rtl].map(|bits| number(bits));
            write!(f, "    {:width$}  {before}  {rtl}", r.name)?;
            match &r.step {
                None => {}
                Some(step) if *step == r.rtl => write!(f, "  {}", number(step))?,
                Some(step) => write!(f, "  {}  <- differ", number(step))?,
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Counterexample {
    /// Returns the cycle as a VCD: the state before it at time 0, the state after it one period later. Scope `pins` has the inputs; scope
    /// `rtl` and, if there is a naive step, scope `step` have the registers.
    pub fn to_vcd(&self) -> String {
        let mut text =
            "$comment the cycle of a counterexample $end\n$timescale 1ns $end\n".to_owned();
        // An identifier consists of the printable characters that the format allows.
        let id = |n: usize| -> String {
            let mut n = n + 1;
            let mut id = String::new();
            while n > 0 {
                id.push(char::from(b'!' + (n % 94) as u8));
                n /= 94;
            }
            id
        };
        let mut count = 0;
        let (mut first, mut second) = (String::new(), String::new());
        let mut scope = |name: &str, signals: Vec<(&String, &Vec<bool>, &Vec<bool>)>| {
            let _ = writeln!(text, "$scope module {name} $end");
            for (name, before, after) in signals {
                let id = id(count);
                count += 1;
                let _ = writeln!(
                    text,
                    "$var wire {} {id} {} $end",
                    before.len(),
                    name.replace('.', "__")
                );
                for (values, bits) in [(&mut first, before), (&mut second, after)] {
                    let digit = |bit: &bool| if *bit { '1' } else { '0' };
                    let digits: String = bits.iter().rev().map(digit).collect();
                    let _ = writeln!(values, "b{digits} {id}");
                }
            }
            text += "$upscope $end\n";
        };
        let registers = &self.registers;
        let pins = self.ports.iter().map(|(name, bits)| (name, bits, bits));
        scope("pins", pins.collect());
        let rtl = registers.iter().map(|r| (&r.name, &r.before, &r.rtl));
        scope("rtl", rtl.collect());
        let said = registers.iter();
        let said = said.filter_map(|r| Some((&r.name, &r.before, r.step.as_ref()?)));
        let said: Vec<_> = said.collect();
        if !said.is_empty() {
            scope("step", said);
        }
        let end = 2 * PERIOD_NS;
        format!("{text}$enddefinitions $end\n#0\n{first}#{PERIOD_NS}\n{second}#{end}\n")
    }
}

/// Returns the name of a property in a form for file names.
pub(super) fn file_name(property: &str) -> String {
    property.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

impl Proved {
    /// Returns the name of the property in a form for file names.
    pub fn file_name(&self) -> String {
        file_name(&self.name)
    }

    /// Returns the message about a property that does not hold, without its counterexample.
    pub fn headline(&self) -> String {
        let place = match self.place.as_str() {
            "" => String::new(),
            place => format!(" ({place})"),
        };
        match self.verdict {
            Verdict::Refuted(_) => format!("REFUTED {}{place}", self.name),
            _ => format!("{} {}{place}", self.verdict.name(self.method), self.name),
        }
    }
}
