//! Assembler and disassembler as data, `tb/<unit>/assembled.txt` and `refused.txt`: programs, each with the words that it becomes or the
//! message that it is refused with; `words.txt` has programs in words. `\n` ends a line of a program, `\t` is a tab; `file` names one in `tb/<unit>/programs`. What is accepted is the same program
//! again when it is disassembled and assembled.

use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use reconverge::assembly::Assembly as _;
use reconverge::input::InputError;
use reconverge::unit::{LoadOptions, Unit};
use serde_json::{Value, json};

use crate::data;

/// Returns the programs in file `path` of the repository.
pub fn inputs(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("{}/{path}", reconverge::ROOT)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("    "));
    let inputs = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let programs = inputs.filter(|line| !line.starts_with("file "));
    programs.map(|line| line.replace("\\n", "\n")).collect()
}

fn programs_become_the_words_that_are_shown<U: Unit>() {
    for file in ["assembled", "refused"] {
        data::compare(&format!("tb/{}/{file}.txt", U::NAME), true, |text| {
            let text = match text.strip_prefix("file ") {
                Some(file) => {
                    let file = format!("{}/tb/{}/programs/{file}", reconverge::ROOT, U::NAME);
                    std::fs::read_to_string(file).unwrap()
                }
                None => text.replace("\\n", "\n").replace("\\t", "\t"),
            };
            match U::Program::assemble(&text, "t.s") {
                Err(refused) => refused.to_string(),
                Ok(program) => {
                    assert_ne!(file, "refused", "{text}\nis accepted");
                    let again = program.to_text();
                    let same =
                        U::Program::assemble(&again, "t.s").is_ok_and(|again| again == program);
                    assert!(same, "{text}\nis not the same as\n{again}");
                    let named = U::Program::assemble(&text, "some/where/name.of.s").unwrap();
                    assert_eq!(named.name(), "name.of");
                    if !text.contains('\n') {
                        // Labels are the only names in which capitals count.
                        let small = U::Program::assemble(&text.to_lowercase(), "t.s");
                        assert!(small.is_ok_and(|small| small == program), "{text}");
                    }
                    // Behind its name.
                    let hex = U::to_hex(&program);
                    let lines = hex.lines().skip(1).filter(|line| !line.is_empty());
                    lines.collect::<Vec<_>>().join("\n")
                }
            }
        });
    }
}

/// Programs in words, with the assembly that they become.
fn words_become_the_program_that_is_shown<U: Unit>(
    parse_hex: impl Fn(&str, &str) -> Result<U::Program, InputError>,
) {
    data::compare(&format!("tb/{}/words.txt", U::NAME), true, |text| {
        let text = text.replace("\\n", "\n");
        match parse_hex(&text, "t.hex") {
            Err(refused) => refused.to_string(),
            Ok(program) => {
                let text = program.to_text();
                let lines = text.lines().skip(1).filter(|line| !line.is_empty());
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    });
}

/// As text and as words; whatever its name is, it does not break out of its comment.
fn the_examples_round_trip<U: Unit>() {
    let folder = format!("{}/tb/{}/programs", reconverge::ROOT, U::NAME);
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "s") {
            continue;
        }
        let file = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let example = U::Program::assemble(&text, file).unwrap();
        let mut named = example.clone();
        named.rename("a\nFOO\r\n.full".to_owned());
        for (program, same_name) in [(example, true), (named, false)] {
            let words = U::load(
                U::to_hex(&program).as_bytes(),
                file,
                &LoadOptions::default(),
            );
            for mut again in [
                U::Program::assemble(&program.to_text(), file).unwrap(),
                words.unwrap().program,
            ] {
                if !same_name {
                    again.rename(program.name().to_owned());
                }
                assert_eq!(again, program, "{file}");
            }
        }
        seen += 1;
    }
    assert!(seen >= 13, "{seen} examples");
}

/// Puts another value in the place of one in `value`, somewhere.
fn change(value: &mut Value, rng: &mut Pcg64Mcg) {
    match value {
        Value::Number(old) => {
            let old = old.as_u64().unwrap_or(0);
            *value = match rng.random_range(0..4) {
                0 => json!(rng.random::<u32>()),
                1 => json!(rng.random_range(0..64)),
                2 => json!(rng.random::<u32>() & !31),
                _ => json!(old ^ 1 << rng.random_range(0..32)),
            };
        }
        Value::String(text) if text.starts_with("0x") => {
            let number: u64 = rng.random();
            *text = format!("0x{:x}", number >> rng.random_range(0..64));
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Array(all) if !all.is_empty() => {
            let place = rng.random_range(0..all.len());
            change(&mut all[place], rng);
        }
        Value::Object(all) if !all.is_empty() => {
            let place = rng.random_range(0..all.len());
            let (name, value) = all.iter_mut().nth(place).unwrap();
            // Of a target of spa5 that is a control word the assembler makes the instruction behind it.
            if name != "targets" {
                change(value, rng);
            }
        }
        _ => {}
    }
}

/// What a saved case may have, and a file that is cut off or has a slip in it too.
const REFUSED: [&str; 2] = [
    "is the file cut off?",
    "is not the address of an instruction",
];

/// Words, registers and constants may be anything that is legal in a saved case: text and words say all of it.
fn any_program_comes_back_from_its_text_and_from_its_words<U: Unit>() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut changes = 0;
    for text in inputs(&format!("tb/{}/assembled.txt", U::NAME)) {
        let Ok(mut program) = U::Program::assemble(&text, "t.s") else {
            continue;
        };
        for _ in 0..40 {
            let mut json = serde_json::to_value(&program).unwrap();
            for _ in 0..rng.random_range(1..4) {
                change(&mut json, &mut rng);
            }
            json["name"] = json!("t");
            let Ok(changed) = serde_json::from_value::<U::Program>(json) else {
                continue;
            };
            let (text, hex) = (changed.to_text(), U::to_hex(&changed));
            // What it is, is told by its content.
            let load = |name| U::load(hex.as_bytes(), name, &LoadOptions::default());
            let read = U::Program::assemble(&text, "t.s")
                .and_then(|again| Ok([again, load("t.hex")?.program, load("t.s")?.program]));
            match (read, changed.check("t")) {
                (Ok(all), Ok(())) => all
                    .iter()
                    .for_each(|again| assert!(*again == changed, "{again:?}\n{changed:?}\n{text}")),
                (Err(e), Ok(())) => {
                    let why = e.to_string();
                    let known = REFUSED.iter().any(|refused| why.contains(refused));
                    assert!(known, "{e}\n{text}{hex}");
                    continue;
                }
                (_, Err(_)) => continue,
            }
            program = changed;
            changes += 1;
        }
    }
    assert!(changes > 1000, "{changes}");
}

/// Bytes, and texts with changes that make no sense.
fn no_file_makes_a_reader_panic<U: Unit>() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for text in inputs(&format!("tb/{}/assembled.txt", U::NAME)) {
        let mut bytes = text.into_bytes();
        for _ in 0..8 {
            for _ in 0..rng.random_range(1..4) {
                let place = rng.random_range(0..=bytes.len());
                let end = (place + rng.random_range(0..4)).min(bytes.len());
                let new: Vec<u8> = match rng.random_range(0..4) {
                    0 => "\u{221e}".into(),
                    1 => vec![rng.random()],
                    2 => bytes[place..end].repeat(2),
                    _ => Vec::new(),
                };
                bytes.splice(place..end, new);
            }
            for name in ["t.s", "t.hex", "t"] {
                let _ = U::load(&bytes, name, &LoadOptions::default());
                let _ = U::list(&bytes, name);
            }
            let _ = U::Program::assemble(&String::from_utf8_lossy(&bytes), "t.s");
        }
    }
}

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::test_unit::test_unit!(reconverge::$module::$unit:
                programs_become_the_words_that_are_shown,
                any_program_comes_back_from_its_text_and_from_its_words,
                no_file_makes_a_reader_panic,
                the_examples_round_trip,
            );

            #[test]
            fn words_become_the_program_that_is_shown() {
                use reconverge::$module::{$unit, asm::parse_hex};
                super::words_become_the_program_that_is_shown::<$unit>(parse_hex);
            }
        }
    )+};
}
reconverge::for_each_unit!(tests);
