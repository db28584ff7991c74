//! Channels that the names of ports suggest.

use std::fmt::Write as _;

use reconverge_declaration::{Declaration, Role, Shape};

/// What a module with names like `valid_i` and `ready_o` calls the payload of its only channel on one side.
const PAYLOAD: [&str; 7] = ["data", "payload", "last", "id", "user", "keep", "strb"];

/// How names of inputs end that empty a module.
const CLEARS: [&str; 3] = ["clr", "clear", "flush"];

/// Returns the channels of `of` as comments for its declaration, and their names: of each input and output whose names differ in nothing
/// but `valid` and `ready`. Those that are called nothing else become `sink` and `source`. Whether the module keeps the protocol its author must say.
pub(super) fn proposed(of: &Declaration) -> (String, Vec<&str>) {
    let single = Shape::Words {
        width: 1,
        count: Some(1),
    };
    let pins = of.pins.iter().filter(|pin| pin.role == Role::Plain);
    let pins: Vec<_> = pins.map(|pin| (pin.name.as_str(), pin.shape)).collect();
    let clears = pins.iter().filter(|(name, shape)| {
        let last = name.rsplit('_').next().unwrap_or_default();
        *shape == single && CLEARS.contains(&last)
    });
    let clears: Vec<_> = clears.map(|(name, _)| format!("{name} == 1")).collect();
    let fields = of.state.iter();
    let fields: Vec<_> = fields.map(|f| (f.name.as_str(), f.shape)).collect();
    let (mut text, mut names) = (String::new(), Vec::new());
    let sides = [
        ("in", "sink", &pins, &fields),
        ("out", "source", &fields, &pins),
    ];
    for (side, only, sent, received) in sides {
        for (valid, shape) in sent {
            let Some(base) = valid.strip_suffix("valid") else {
                continue;
            };
            let ready = format!("{base}ready");
            let answered = received.contains(&(&ready, single)) && *shape == single;
            let name = base.strip_suffix("_t").unwrap_or(base);
            let name = match name.trim_end_matches('_') {
                "" => only,
                name => name,
            };
            if !answered || names.contains(&name) {
                continue;
            }
            names.push(name);
            let _ = write!(
                text,
                "#\n# [[channel]]\n# name = {name:?}\n# side = {side:?}\n# valid = {valid:?}\n# ready = {ready:?}\n"
            );
            let payload = sent.iter().map(|(other, _)| *other);
            // A longer name with the same beginning may be another channel: `req_rsp_valid`.
            let handshake = |name: &str| name.ends_with("valid") || name.ends_with("ready");
            let payload = payload.filter(|other| match base {
                "" => PAYLOAD.contains(other),
                _ => other.starts_with(base) && !handshake(other),
            });
            let payload: Vec<&str> = payload.collect();
            if !payload.is_empty() {
                let _ = writeln!(text, "# payload = {payload:?}");
            }
            if !clears.is_empty() {
                let unless = clears.join(" || ");
                let _ = writeln!(
                    text,
                    "# # unless = {unless:?} # if that takes back what is offered"
                );
            }
        }
    }
    if !names.is_empty() {
        let head = "\n# ---- channels that the names of ports suggest. If valid and payload stay until ready, remove the `# ` of their lines:\n\
                    # the bench keeps and checks it ----\n";
        text.insert_str(0, head);
    }
    (text, names)
}
