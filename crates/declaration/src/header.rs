//! Generates the C and C++ side: the structs of pins and state, and for loops around the bare design, without a bench top,
//! the code that drives the pins and reads the outputs.

use std::fmt::Write as _;

use crate::{Declaration, Pin, Port, Role, Shape, layout};

impl Declaration {
    /// Generates a C++ header with `struct In` as in [`Declaration::rust`]; `drive`, which writes an `In` to the ports of a
    /// model of class `UNIT`; and `outputs`, which returns an array of `Output {name, value}`. The user of the header must
    /// provide `lanes(mask)`, which cuts a mask to the lanes of the model. Pins with `only_with`, and those that are a part of a port, are not driven, and fields
    /// with several ports or elements, or a part of a port, are not read.
    pub fn header(&self) -> String {
        let mut out = format!(
            "// Generated from the declaration of {}; change that.\n\n",
            self.name
        );
        let pins = self.pins.iter();
        let size = structure(&mut out, "In", pins.map(|p| (p.shape, (&p.name, None))));
        let _ = write!(
            out,
            "static_assert(sizeof(In) == {size}, \"not the struct of the declaration\");\n\n\
             inline void drive(UNIT &top, const In &in) {{\n"
        );
        // The clocks are driven by the loop.
        let clock = |pin: &&Pin| matches!(pin.role, Role::Clock { .. });
        let whole = |pin: &&Pin| pin.ports.iter().all(|port| port.bits.is_none());
        let driven = self.pins.iter().filter(|pin| !clock(pin)).filter(whole);
        for pin in driven.filter(|pin| pin.only_with.is_none()) {
            let name = &pin.name;
            let one = |value: String| match pin.shape {
                Shape::Planes(_) => format!("lanes({value})"),
                Shape::Words { .. } => value,
            };
            match (&pin.ports[..], pin.shape.count()) {
                (ports, 1) => {
                    for port in ports {
                        let _ =
                            writeln!(out, "  top.{} = {};", port.name, one(format!("in.{name}")));
                    }
                }
                ([port], count) => {
                    let bytes = pin.shape.bytes() * count;
                    let _ = writeln!(
                        out,
                        "  std::memcpy(&top.{0}, &in.{name}, std::min<size_t>(sizeof(top.{0}), {bytes}));",
                        port.name
                    );
                }
                (ports, _) => {
                    for (i, port) in ports.iter().enumerate() {
                        let _ = writeln!(
                            out,
                            "  top.{} = {};",
                            port.name,
                            one(format!("in.{name}[{i}]"))
                        );
                    }
                }
            }
        }
        out.push_str("}\n\ninline auto outputs(const UNIT &top) {\n  return std::array{\n");
        for field in &self.state {
            if let ([port @ Port { bits: None, .. }], 1) = (&field.outputs[..], field.shape.count())
            {
                let _ = writeln!(out, "      Output{{{:?}, top.{}}},", field.name, port.name);
            }
        }
        out.push_str("  };\n}\n");
        out
    }

    /// Generates a C header with `struct <name>_pins` and `struct <name>_state`, as in [`Declaration::rust`], for a C or
    /// C++ program that calls a golden model. Lane masks are planes: bit i is lane i.
    pub fn c_header(&self) -> String {
        let name = &self.name;
        let guard = format!("RECONVERGE_{}_H", name.to_uppercase());
        let mut out = format!(
            "/* Generated from the declaration of {name}; change that. */\n#ifndef {guard}\n#define {guard}\n\n\
             #include <stdint.h>\n\n/* The pins of one cycle: {} Bit i of a lane mask is lane i. */\n",
            self.doc
        );
        let pins = self.pins.iter();
        let of = format!("{name}_pins");
        let sizes = [
            structure(
                &mut out,
                &of,
                pins.map(|p| (p.shape, (&p.name, Some(&p.doc)))),
            ),
            {
                out.push_str("\n/* The state that is compared after every cycle. */\n");
                let state = self.state.iter();
                let of = format!("{name}_state");
                structure(
                    &mut out,
                    &of,
                    state.map(|f| (f.shape, (&f.name, Some(&f.doc)))),
                )
            },
        ];
        let upper = name.to_uppercase();
        let _ = write!(
            out,
            "\n/* Bytes of the structs, as the library has them. */\nenum {{ RECONVERGE_{upper}_PINS = {}, RECONVERGE_{upper}_STATE = {} }};\n\n#endif\n",
            sizes[0], sizes[1]
        );
        out
    }
}

/// Writes the struct `of` with these members, each with its name and doc text; returns its bytes.
fn structure<'d>(
    out: &mut String,
    of: &str,
    members: impl Iterator<Item = (Shape, (&'d String, Option<&'d String>))>,
) -> usize {
    let _ = writeln!(out, "struct {of} {{");
    let (mut size, mut pads) = (0, 0);
    for member in layout(members.map(|(shape, what)| (shape, (shape, what)))) {
        let (bytes, name, count) = match member.what {
            None => {
                pads += 1;
                (1, format!("pad{pads}"), member.size)
            }
            Some((shape, (name, doc))) => {
                if let Some(doc) = doc {
                    let _ = writeln!(out, "  /* {doc} */");
                }
                match shape.bytes() {
                    bytes @ (1 | 2 | 4 | 8) => (bytes, name.clone(), shape.count()),
                    // There is no integer of that size.
                    _ => (1, name.clone(), member.size),
                }
            }
        };
        let count = match count {
            1 => String::new(),
            _ => format!("[{count}]"),
        };
        let _ = writeln!(out, "  uint{}_t {name}{count};", 8 * bytes);
        size = member.offset + member.size;
    }
    out.push_str("};\n");
    size
}
