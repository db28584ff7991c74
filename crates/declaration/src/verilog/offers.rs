//! What the bench top keeps of a design that is compared by transactions.

use std::fmt::Write as _;

use crate::{Declaration, Level, Role, Wire};

impl Declaration {
    /// Writes the next pins `in_d`: what is offered on a channel and not taken stays, until a reset or `unless` ends it.
    pub(super) fn offers(&self, of: &str, from: &str, out: &mut String) {
        let _ = write!(
            out,
            "\n  // What is offered on a channel stays until it is taken: only the RTL knows in which cycle it is.\n  \
             {}_tb_pkg::{of} in_d;\n  always_comb begin\n    in_d = {from};\n",
            self.name
        );
        let now = if self.shows_now() { "now_o" } else { "state_o" };
        let reset = |pins: &str| match self.reset() {
            Some((pin, Level::High)) => format!("{pins}.{}[0]", pin.name),
            Some((pin, Level::Low)) => format!("!{pins}.{}[0]", pin.name),
            None => "1'b0".to_owned(),
        };
        let stall = self.pins.iter().find(|pin| pin.role == Role::Stall);
        for channel in &self.channels {
            let pin = |wire: &Wire| match wire {
                Wire::Pin(number) => Some(&self.pins[*number].name),
                Wire::Field { .. } => None,
            };
            let (Wire::Field { number, .. }, Some(valid), false) =
                (channel.ready, pin(&channel.valid), channel.withdraw)
            else {
                continue;
            };
            let ready = format!("{now}.{}[0]", self.state[number].name);
            let stall = stall.map(|pin| format!("!in_q.{}[0]", pin.name));
            let clock = channel.clock.as_ref();
            let clock = clock.map(|clock| format!("in_q.{clock}[0]"));
            let taken: Vec<String> = [Some(ready), stall, clock].into_iter().flatten().collect();
            let ends = ["in_q", "in_d"].map(|pins| {
                let pin = |name: &str, bits: u32| format!("{pins}.{name}[{}:0]", bits - 1);
                let unless = channel.unless.as_ref();
                let unless = unless.map(|unless| self.condition(unless, pin));
                format!(
                    "!({}{})",
                    reset(pins),
                    unless.map_or(String::new(), |when| format!(" || {when}"))
                )
            });
            let _ = writeln!(
                out,
                "    if (in_q.{valid}[0] && {} && !({})) begin",
                ends.join(" && "),
                taken.join(" && ")
            );
            for name in [&channel.valid]
                .into_iter()
                .chain(&channel.payload)
                .filter_map(pin)
            {
                let _ = writeln!(out, "      in_d.{name} = in_q.{name};");
            }
            out.push_str("    end\n");
        }
        out.push_str("  end\n");
    }
}
