//! What `new` takes from the types of ports: members, enums, elements, signs, names.

use std::fs;

use reconverge::design::Design as _;
use reconverge::field::{Pin, show};
use reconverge::r700::R700;
use reconverge_declaration::{Declaration, Shape, Show};

use super::Module;
use crate::common::ROOT;

#[path = "../../crates/command/src/new/tree.rs"]
mod tree;
use tree::{Bus, Direction, Kind, Port, Type, bus, ports, read, variables};

/// Runs `new` for module `m` of `rtl`. Returns its declaration and what it printed.
pub(super) fn made(rtl: &str, options: &[&str]) -> (Declaration, String) {
    let module = Module::of(rtl);
    let said = module.made(options);
    (module.declared(), said)
}

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

/// Regression: a struct was one number, or a list of words of a width that divides its own.
#[test]
fn members_elements_enums_and_signs_are_those_of_the_rtl() {
    let rtl = fs::read_to_string(format!("{ROOT}/tb/new/m.sv")).unwrap();
    // Without the ports that need a wrapper.
    let plain: Vec<&str> = rtl
        .lines()
        .filter(|line| !["u_i [2]", "b_i ["].iter().any(|port| line.contains(port)))
        .collect();
    let plain = plain.join("\n").replace("m u_m (.b_i(b_i))", "m u_m ()");
    let (unit, _) = made(&plain, &[]);
    let words = |width, count| Shape::Words {
        width,
        count: Some(count),
    };
    let pin = |name: &str| {
        let pin = unit.pins.iter().find(|pin| pin.name == name).unwrap();
        let ports: Vec<String> = pin.ports.iter().map(ToString::to_string).collect();
        (pin.shape, ports.join(" "))
    };
    for (name, shape, ports) in [
        ("req_v", words(1, 2), "req_i[46] req_i[93]"),
        ("req_st", words(2, 2), "req_i[45:44] req_i[92:91]"),
        ("req_off", words(12, 2), "req_i[43:32] req_i[90:79]"),
        ("t", words(7, 1), "t_i"),
        ("word", words(32, 1), "word_i"),
        ("x_y", words(32, 1), "\\x+y "),
    ] {
        assert_eq!(pin(name), (shape, ports.to_owned()));
    }
    let (data, ports) = pin("req_d");
    assert_eq!(
        (data, ports.split(' ').nth(4)),
        (words(8, 8), Some("req_i[54:47]"))
    );
    let st = unit.pins.iter().find(|pin| pin.name == "req_st").unwrap();
    assert_eq!(st.values, [0, 2, 3]);
    assert!(
        st.doc
            .contains("Element 0 is the one with the greatest index."),
        "{}",
        st.doc
    );
    assert_eq!(unit.state[0].show, Show::Enum("st_e".to_owned()));
    assert!(unit.state[0].sampled);
}

/// Regression: 131 bits were 131 elements of one bit, and 96 two of 48.
#[test]
fn wide_ports_are_words_and_what_is_left() {
    let rtl = "module m(input logic clk_i, input logic [130:0] a_i, input logic [95:0] b_i, input logic [127:0] c_i,\n\
               input logic [71:0] d_i, input logic signed [6:0] e_i, output logic signed [6:0] loop__e, output logic [130:0] \\a[3] );\n\
               assign loop__e = -e_i; assign \\a[3] = a_i; endmodule\n";
    let (unit, said) = made(rtl, &[]);
    let shape = |shape| match shape {
        Shape::Words {
            width,
            count: Some(count),
        } => (width, count),
        other => panic!("{other:?}"),
    };
    let pins = unit
        .pins
        .iter()
        .map(|pin| (&*pin.name, shape(pin.shape), pin.ports[0].to_string()));
    let mut pins: Vec<_> = pins.collect();
    pins.sort();
    let of = |name, shape, port: &str| (name, shape, port.to_owned());
    assert_eq!(
        pins,
        [
            of("a", (64, 2), "a_i[127:0]"),
            of("a_high", (3, 1), "a_i[130:128]"),
            of("b", (32, 3), "b_i"),
            of("c", (64, 2), "c_i"),
            of("d", (64, 1), "d_i[63:0]"),
            of("d_high", (8, 1), "d_i[71:64]"),
            of("e", (7, 1), "e_i"),
        ]
    );
    let signed = unit.pins.iter().filter(|pin| pin.signed);
    assert_eq!(signed.map(|pin| &*pin.name).collect::<Vec<_>>(), ["e"]);
    let fields = unit
        .state
        .iter()
        .map(|field| (&*field.name, field.outputs[0].to_string(), &field.show));
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(name, ..)| *name);
    assert_eq!(
        fields,
        [
            ("a_3_", "\\a[3] [127:0]".to_owned(), &Show::Hex),
            ("a_3__high", "\\a[3] [130:128]".to_owned(), &Show::Decimal),
            ("loop__e", "loop__e".to_owned(), &Show::Signed),
        ]
    );
    assert!(
        said.contains("sampled, because they depend on pins of the same cycle: loop__e, a[3]"),
        "{said}"
    );
}

/// A declaration has 256 fields at most: the struct with the most members stays one number then. Regression: it had 64.
#[test]
fn more_members_than_fields_stay_one_number() {
    for (count, number) in [(250, false), (251, true)] {
        let (unit, said) = members(count);
        let fields = if number { 8 } else { count + 6 };
        assert_eq!((unit.pins.len(), unit.state.len()), (count, fields));
        let note = "note: big_o is one number: a declaration has 256 fields at most";
        assert_eq!(said.contains(note), number, "{said}");
    }
}

/// A module with an output of `count` members and three of two, and what `new` printed.
fn members(count: usize) -> (Declaration, String) {
    let members: String = (0..count).map(|i| format!("logic m{i}; ")).collect();
    let rtl = format!(
        "typedef struct packed {{ {members} }} big_t;\ntypedef struct packed {{ logic a; logic [1:0] b; }} small_t;\n\
         module m(input big_t x_i, output big_t big_o, output small_t s0_o, output small_t s1_o, output small_t s2_o);\n\
         assign big_o = x_i; assign s0_o = '0; assign s1_o = '0; assign s2_o = '0; endmodule\n"
    );
    made(&rtl, &[])
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
