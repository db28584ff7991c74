//! Logs and listings of Mesa.

use super::*;

fn mesa(name: &str) -> String {
    read(&format!("mesa/{name}"))
}

fn imported(text: &str) -> Imported {
    import(text.as_bytes(), "x.log", &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn import_error(text: &str) -> InputError {
    match import(text.as_bytes(), "x.log", &Options::default()) {
        Err(e) => e,
        Ok(p) => panic!("accepted: {:?}\n{text}", p.warnings),
    }
}

const LOGS: [&str; 4] = [
    "02_ifelse",
    "09_for_varying",
    "17_nested_loops",
    "32_tex_branches",
];

/// The driver's log and the listing of the words it loaded are the same program.
#[test]
fn a_log_and_its_listing_agree() {
    for (name, slots, full) in [
        (LOGS[0], 25, false),
        (LOGS[1], 14, true),
        (LOGS[2], 23, true),
        (LOGS[3], 26, true),
    ] {
        let log = imported(&mesa(&format!("{name}.log")));
        let listing = import(
            mesa(&format!("{name}.txt")).as_bytes(),
            "x.txt",
            &Options::default(),
        )
        .unwrap();
        assert_eq!(log.program.slots, listing.program.slots, "{name}");
        assert_eq!(log.program.slots.len(), slots, "{name}");
        assert_eq!(log.program.regs.full(), full, "{name}");
        assert_eq!(
            log.program.regs.fc_ctrl, listing.program.regs.fc_ctrl,
            "{name}"
        );
        assert_eq!(
            log.program.regs.code_addr, listing.program.regs.code_addr,
            "{name}"
        );
        assert_eq!(listing.program.regs.int_const[0], 0xff, "{name}");
        assert_eq!(
            log.program.regs.int_const[0],
            if full { 0xff } else { 0 },
            "{name}"
        );
        assert_eq!((log.listed.len(), log.program.name.as_str()), (1, "x"));
    }
}

#[test]
fn words_come_from_the_right_lines() {
    let p = imported(&mesa("32_tex_branches.log")).program;
    let words = |at: usize| p.slots[at].words();
    assert_eq!(
        words(0),
        [
            0x0080_0000,
            0x0802_0001,
            0x0802_0080,
            0x80db_0484,
            0,
            0x00c8_0000
        ]
    );
    assert_eq!(words(1), [0x402, 0, 0x1a00_0f00, 0x0005_0000, 0, 0]);
    assert_eq!(words(2), [0x7807, 0x0240_0000, 0xe401_f400, 0, 0, 0]);
    assert_eq!(p.regs.end(), 25);
}

/// Every FC slot of the listings is a statement of r500-7.1, by the name the compiler gave it.
#[test]
fn compiled_flow_control_is_recognised() {
    let mut seen = 0;
    for name in [
        "02_ifelse.txt",
        "09_for_varying.txt",
        "17_nested_loops.txt",
        "32_tex_branches.txt",
        "15_continue_nested.cont.txt",
        "rnd_050.txt",
    ] {
        let text = mesa(name);
        let program = import(text.as_bytes(), name, &Options::default())
            .unwrap()
            .program;
        let mut said = 0;
        for line in text.lines().filter_map(|l| l.strip_prefix("FC ")) {
            let [at, what, inst, addr] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let slot = program.slots[at.parse::<usize>().unwrap()];
            assert_eq!(
                format!("{:08x} {:08x}", slot.inst, slot.addr),
                format!("{inst} {addr}"),
                "{name} {at}"
            );
            let what = match what {
                "BGNLOOP" => "LOOP i0 as Mesa writes it",
                "BRK" => "BREAK, ",
                "CONT" => "CONTINUE, ",
                what => what,
            };
            let named = statement(slot).unwrap_or_default();
            assert!(named.starts_with(what), "{name} {at}: {named}");
            said += 1;
        }
        let fc = program
            .slots
            .iter()
            .filter(|s| Fc::decode(**s).is_some())
            .count();
        assert_eq!(said, fc, "{name}");
        seen += said;
    }
    assert!(seen > 60, "{seen}");
}

/// r500-O29: Mesa's LOOP word is reported, and set right on request; nothing else changes.
#[test]
fn safe_loops_set_jump_any() {
    for name in ["17_nested_loops.log", "17_nested_loops.txt"] {
        let text = mesa(name);
        let plain = import(text.as_bytes(), name, &Options::default()).unwrap();
        let safe = import(
            text.as_bytes(),
            name,
            &Options {
                safe_loops: true,
                which: None,
            },
        )
        .unwrap();
        let changed: Vec<usize> = (0..plain.program.slots.len())
            .filter(|i| plain.program.slots[*i] != safe.program.slots[*i])
            .collect();
        assert_eq!(changed.len(), 2, "{name}");
        for i in &changed {
            assert_eq!(plain.program.slots[*i].inst, 0x1000_0001);
            assert_eq!(safe.program.slots[*i].inst, 0x1000_0021);
        }
        let slots = format!("slots {}, {}: ", changed[0], changed[1]);
        for (got, part) in [(&plain, "JUMP_ANY = 0"), (&safe, "JUMP_ANY set")] {
            assert_eq!(got.warnings.len(), 1, "{name}");
            assert!(
                got.warnings[0].starts_with(&slots) && got.warnings[0].contains(part),
                "{:?}",
                got.warnings
            );
        }
    }
    assert!(imported(&mesa("02_ifelse.log")).warnings.is_empty());
}

/// Partial flow control has four levels; the driver leaves it at the fourth (r500-O25).
#[test]
fn the_mode_follows_from_the_words() {
    let log = |ifs: usize| {
        let mut text = "R500 Fragment Program:\n--------\n".to_owned();
        for n in 0..2 * ifs {
            let inst = if n < ifs { "12000f00" } else { "01010020" };
            text += &format!(
                "{n}\t0:CMN_INST   0x00000402:FC\n\t2:FC_INST    0x{inst}:\n\t3:FC_ADDR    0x00000000:\n\n"
            );
        }
        imported(&(text + &format!("{}\t0:CMN_INST   0x00000001:OUT\n\t2:ALPHA_ADDR 0x00000000\n\t3 RGB_INST:  0x00000000\n", 2 * ifs)))
            .program
            .regs
            .full()
    };
    assert_eq!((log(3), log(4)), (false, true));
}

#[test]
fn a_log_may_hold_several_programs() {
    let (a, b) = (mesa("02_ifelse.log"), mesa("09_for_varying.log"));
    let both = format!("some noise\n{a}more: noise\n{b}=== noise\n");
    let got = imported(&both);
    assert_eq!(
        got.listed
            .iter()
            .map(|l| (l.slots, l.problem.is_some()))
            .collect::<Vec<_>>(),
        [(25, false), (14, false)]
    );
    assert_eq!(
        got.program.slots,
        imported(&b).program.slots,
        "the last by default"
    );
    assert_eq!(got.program.name, "x.2");
    let pick = |n| {
        import(
            both.as_bytes(),
            "x.log",
            &Options {
                which: Some(n),
                safe_loops: false,
            },
        )
    };
    assert_eq!(pick(1).unwrap().program.slots, imported(&a).program.slots);
    assert_eq!(pick(1).unwrap().program.name, "x.1");
    for n in [0, 3] {
        assert_eq!(pick(n).unwrap_err().field, "which");
    }
    assert_eq!(
        load(
            a.as_bytes(),
            "x.log",
            &Options {
                which: Some(2),
                safe_loops: false
            }
        )
        .unwrap_err()
        .field,
        "which"
    );
}

/// A log that is cut off anywhere gives the program before the cut, or an error, but never half a program without a message.
#[test]
#[ignore = "thousands of inputs; CI's step builds runs it"]
fn a_log_that_is_cut_off_falls_back_to_the_last_complete_program() {
    let (a, b) = (mesa("02_ifelse.log"), mesa("09_for_varying.log"));
    let whole = imported(&b).program.slots;
    let first = imported(&a).program.slots;
    let mut fell_back = 0;
    for keep in 0..b.len() {
        let got = imported(&format!("{a}{}", &b[..keep]));
        if got.program.slots == first && keep > b.find("R500").unwrap() + 30 {
            assert!(
                got.listed.len() == 1 || got.warnings[0].contains("is cut off"),
                "{keep}: {:?}",
                got.warnings
            );
            fell_back += 1;
        } else if got.program.slots != whole && got.program.slots != first {
            assert!(
                got.warnings
                    .iter()
                    .any(|w| w.contains("may have been cut off")),
                "{keep}"
            );
        }
        if let Err(e) = import(&b.as_bytes()[..keep], "x.log", &Options::default()) {
            assert!(!e.message.is_empty());
        }
    }
    assert!(fell_back > 1000, "{fell_back}");
}

#[test]
fn a_program_must_fit_the_memory() {
    let log = |n: usize| {
        let mut text = "R500 Fragment Program:\n".to_owned();
        for i in 0..n {
            text += &format!(
                "{i}\t0:CMN_INST   0x00000001:OUT\n\t2:ALPHA_ADDR 0x00000000:\n\t3 RGB_INST:  0x00000000:\n"
            );
        }
        text
    };
    assert_eq!(imported(&log(512)).program.slots.len(), 512);
    assert_eq!(import_error(&log(513)).field, "program");
    let listing = |n: usize, offset: usize| {
        let mut text = "# SLOTS\n".to_owned();
        for i in 0..n {
            text += &format!("{i} 00000001 00000000 00000000 00000000 00000000 00000000\n");
        }
        text + &format!("# REGISTERS\nUS_CODE_OFFSET {offset:08x}\n")
    };
    assert_eq!(imported(&listing(512, 0)).program.slots.len(), 512);
    assert_eq!(import_error(&listing(513, 0)).field, "program");
    assert_eq!(imported(&listing(12, 500)).program.slots.len(), 12);
    assert_eq!(import_error(&listing(13, 500)).field, "program");
}

#[test]
fn registers_that_a_listing_lacks_are_worked_out() {
    let text = mesa("09_for_varying.txt");
    let last = imported(&text.replacen("end=13", "end=511", 1));
    assert_eq!(last.program.regs.end(), 511);
    // With a warning.
    let bare: String = text
        .lines()
        .take_while(|l| !l.starts_with("# FLOW"))
        .map(|l| format!("{l}\n"))
        .collect();
    let got = imported(&bare);
    assert_eq!(got.program, imported(&text).program);
    assert_eq!(got.warnings.len(), 3);
}

#[test]
fn files_are_recognised_by_content() {
    let hex = "; words\n.full\n00000402 00000000 00000000\n";
    for (text, file, format) in [
        (read("if_else.s").as_str(), "x.hex", Format::Assembly),
        (hex, "x.s", Format::Hex),
        ("0X0 0 0", "x", Format::Hex),
        ("add 0 0", "x.s", Format::Hex),
        (mesa("09_for_varying.log").as_str(), "x.s", Format::MesaLog),
        (mesa("09_for_varying.txt").as_str(), "x.s", Format::Slots),
        ("; nothing\n.full", "x.HEX", Format::Hex),
        ("; nothing\n.full", "x.s", Format::Assembly),
        (
            "; R500 Fragment Program:\n; # SLOTS\nOUT",
            "x",
            Format::Assembly,
        ),
    ] {
        assert_eq!(recognise(text, file), format, "{text}");
    }
    let e = import(b"OUT", "x.log", &Options::default()).unwrap_err();
    assert!(e.message.contains("RADEON_DEBUG=fp"), "{e}");
    let e = load(b"OUT\n\n \xff\n", "x.s", &Options::default()).unwrap_err();
    assert_eq!((e.line, e.field.as_str()), (3, "file"));
    let bom = load(b"\xef\xbb\xbfOUT\r\n", "x.s", &Options::default()).unwrap();
    assert_eq!(bom.program.slots.len(), 1);
}
