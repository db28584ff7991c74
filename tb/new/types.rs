//! How `new` reads the types of ports. What it makes of them is in `tb/transcripts/new_types.txt`.

use std::fs;

use reconverge::design::Design as _;
use reconverge::field::{Pin, show};
use reconverge::r700::R700;

use crate::common::ROOT;

#[path = "../../crates/command/src/new/tree.rs"]
mod tree;
use tree::{Bus, Direction, Kind, Port, Type, bus, ports, read, variables};

/// Regression: an expression with 150 operators was too deep for the reader, and the whole tree was not known.
#[test]
fn deep_expressions_do_not_matter_to_the_ports() {
    let json = fs::read_to_string(format!("{ROOT}/tb/new/m.json")).unwrap();
    let deep = format!("{}{}", "{\"lhsp\":[".repeat(100_000), "]}".repeat(100_000));
    let with = json.replacen(
        "\"modulesp\":[",
        &format!("\"x\":[{deep}],\"modulesp\":["),
        1,
    );
    assert_ne!(with, json);
    let of = |text: &str| ports(&read(text).unwrap(), "m").unwrap();
    assert_eq!(of(&with), of(&json));
}

/// Both forms of the tree tell the same types.
#[test]
fn types_are_read_from_xml_and_from_json() {
    let bits = |bits, signed| Type {
        signed,
        ..Type::vector(bits)
    };
    let array =
        |count, of: Type, reversed| Type::new(count * of.bits, Kind::Array(Box::new(of), reversed));
    let values = [("Idle", 0), ("Run", 2), ("Stop", 3)];
    let values = values.map(|(name, value)| (name.to_owned(), value));
    let st = Type::new(2, Kind::Enum("p::st_e".to_owned(), values.to_vec()));
    let members = [
        ("v", bits(1, false)),
        ("st", st.clone()),
        ("off", bits(12, true)),
        ("d", array(4, bits(8, false), false)),
    ];
    let members = members.map(|(name, of)| (name.to_owned(), of));
    let req = Type::new(47, Kind::Struct(members.to_vec()));
    let expected = [
        ("req_i", array(2, req, true)),
        ("st_o", st),
        ("t_i", bits(7, false)),
        (
            "u_i",
            Type::new(2, Kind::List(Box::new(bits(1, false)), 0, 1)),
        ),
        ("word_i", bits(32, false)),
        (
            "x+y",
            Type {
                two_state: true,
                ..bits(32, true)
            },
        ),
    ];
    let expected = expected.map(|(name, of)| (name.to_owned(), Some(of)));
    for form in ["xml", "json"] {
        let written = fs::read_to_string(format!("{ROOT}/tb/new/m.{form}")).unwrap();
        let root = read(&written).unwrap();
        let found = ports(&root, "m").unwrap();
        assert_eq!(found.last().unwrap().direction, Direction::Out);
        let mut found: Vec<_> = found.into_iter().map(|port| (port.name, port.of)).collect();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        assert_eq!(found, expected, "{form}");
        let all = variables(&root, "m").unwrap();
        assert!(found.iter().all(|(name, of)| all[name] == *of), "{form}");
        let port = |name: &str, direction, of| Port {
            name: name.to_owned(),
            direction,
            of: Some(of),
        };
        let seen = Bus {
            range: Some((1, 0)),
            inputs: vec![port("clk_i", Direction::In, bits(1, false))],
            members: vec![
                port("d", Direction::In, bits(5, false)),
                port("r", Direction::Out, bits(1, false)),
            ],
        };
        assert_eq!(bus(&root, "probe", "b_i", "dst"), Some(seen), "{form}");
    }
    assert!(read("<a").is_none() && ports(&read("{}").unwrap(), "m").is_none());
}

/// Regression: only a field was printed by the names of its enum.
#[test]
fn a_pin_with_an_enum_is_printed_by_its_names() {
    let named = Pin {
        named: Some(|v| show::named(&["Add", "Mul"], v, v)),
        ..R700::DECLARATION.pins[0]
    };
    assert_eq!([named.show(1), named.show(2)], ["Mul", "2 (no name)"]);
}
