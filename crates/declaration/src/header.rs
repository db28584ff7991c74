//! Generates the C++ side: the struct of the pins, what drives them, what reads the outputs. For loops around the bare
//! design, without a bench top.

use std::fmt::Write as _;

use crate::{Declaration, Shape, layout};

impl Declaration {
    /// Generates a C++ header with `struct In` as [`Declaration::rust`] has it, `drive`, which puts one on the ports of a
    /// model of class `UNIT`, and `outputs`, which returns an array of `Output {name, value}`. `lanes(mask)` is to cut a
    /// mask to the lanes of the model. Pins with `only_with` are not driven, nor are fields of several ports read.
    pub fn header(&self) -> String {
        let mut out = format!(
            "// Generated from the declaration of {}; change that.\n\nstruct In {{\n",
            self.name
        );
        let mut size = 0;
        let mut pads = 0;
        for member in layout(self.pins.iter().map(|pin| (pin.shape, pin))) {
            let (of, name, count) = match member.what {
                None => {
                    pads += 1;
                    (1, format!("pad{pads}"), member.size)
                }
                Some(pin) => match pin.shape.bytes() {
                    bytes @ (1 | 2 | 4 | 8) => (bytes, pin.name.clone(), pin.shape.count()),
                    // No integer of that size.
                    _ => (1, pin.name.clone(), member.size),
                },
            };
            let count = if count == 1 {
                String::new()
            } else {
                format!("[{count}]")
            };
            let _ = writeln!(out, "  uint{}_t {name}{count};", 8 * of);
            size = member.offset + member.size;
        }
        let _ = write!(
            out,
            "}};\nstatic_assert(sizeof(In) == {size}, \"not the struct of the declaration\");\n\n\
             inline void drive(UNIT &top, const In &in) {{\n"
        );
        for pin in self.pins.iter().filter(|pin| pin.only_with.is_none()) {
            let name = &pin.name;
            let one = |value: String| match pin.shape {
                Shape::Planes(_) => format!("lanes({value})"),
                Shape::Words { .. } => value,
            };
            match (&pin.ports[..], pin.shape.count()) {
                ([port], 1) => {
                    let _ = writeln!(out, "  top.{port} = {};", one(format!("in.{name}")));
                }
                ([port], count) => {
                    let bytes = pin.shape.bytes() * count;
                    let _ = writeln!(
                        out,
                        "  std::memcpy(&top.{port}, &in.{name}, std::min<size_t>(sizeof(top.{port}), {bytes}));"
                    );
                }
                (ports, _) => {
                    for (i, port) in ports.iter().enumerate() {
                        let _ = writeln!(out, "  top.{port} = {};", one(format!("in.{name}[{i}]")));
                    }
                }
            }
        }
        out.push_str("}\n\ninline auto outputs(const UNIT &top) {\n  return std::array{\n");
        for field in &self.state {
            if let ([port], 1) = (&field.outputs[..], field.shape.count()) {
                let _ = writeln!(out, "      Output{{{:?}, top.{port}}},", field.name);
            }
        }
        out.push_str("  };\n}\n");
        out
    }
}
