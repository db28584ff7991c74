//! Importers on damaged files, as data: `tb/<unit>/damaged.txt`. A line names a file in `tb/<unit>/programs` and changes of it: `18=3e00`
//! sets the bytes from byte 18 on, `cut=51` keeps the first 51, `{"a": "b"}` puts b in the place of the first a. A file that is read
//! nevertheless gives a program of so many lines of words, with their check sum, and remarks.
//! `tb/<unit>/listed.txt` has whole listings.

use std::collections::BTreeMap;

use reconverge::ROOT;
use reconverge::assembly::Assembly as _;
use reconverge::input::printable;
use reconverge::unit::{LoadOptions, Loaded, Unit};

use crate::damager::{Damager, FormatKind};
use crate::data;

fn damaged_files_are_refused_with_field_and_reason<U: Unit>() {
    data::compare(&format!("tb/{}/damaged.txt", U::NAME), true, |line| {
        let (file, changes) = line.split_once(' ').unwrap_or((line, ""));
        let mut bytes = std::fs::read(format!("{ROOT}/tb/{}/programs/{file}", U::NAME)).unwrap();
        if let Ok(texts) = serde_json::from_str::<BTreeMap<String, String>>(changes) {
            let mut text = String::from_utf8(bytes).unwrap();
            for (from, to) in texts {
                assert!(text.contains(&from), "{line}");
                text = text.replacen(&from, &to, 1);
            }
            bytes = text.into();
        }
        let words = changes
            .split_whitespace()
            .filter(|_| !changes.starts_with('{'));
        for (place, value) in words.map(|word| word.split_once('=').unwrap()) {
            if place == "cut" {
                bytes.truncate(value.parse().unwrap());
                continue;
            }
            let place: usize = place.parse().unwrap();
            for (i, at) in (0..value.len()).step_by(2).zip(place..) {
                bytes[at] = u8::from_str_radix(&value[i..i + 2], 16).unwrap();
            }
        }
        match U::load(&bytes, "x", &LoadOptions::default()) {
            Err(refused) => {
                let refused = refused.to_string();
                match U::list(&bytes, "x") {
                    Ok(_) => refused,
                    Err(listed) => {
                        assert_eq!(listed.to_string(), refused, "{line}: its list");
                        format!("{refused}\nnot listed either")
                    }
                }
            }
            Ok(Loaded { program, warnings }) => {
                let hex = U::to_hex(&program);
                let (lines, crc) = (hex.lines().count(), crc32fast::hash(hex.as_bytes()));
                let read = format!("{lines} lines, {crc:08x}");
                [vec![read], warnings].concat().join("\n")
            }
        }
    });
}

fn listings_become_the_words_that_are_shown<U: Unit>() {
    data::compare(&format!("tb/{}/listed.txt", U::NAME), true, |text| {
        let text = text.replace("\\n", "\n").replace("\\t", "\t");
        match U::load(text.as_bytes(), "x", &LoadOptions::default()) {
            Err(refused) => refused.to_string(),
            Ok(loaded) => {
                let hex = U::to_hex(&loaded.program);
                let words = hex.lines().filter(|line| line.contains(" ; "));
                words.collect::<Vec<_>>().join("\n")
            }
        }
    });
}

/// Files for each kind of file.
const FILES: usize = 1000;

/// Whatever the damage: what is read is a whole program, which comes back from its text and from its words; what is refused names file,
/// field and reason.
fn files_with_any_damage_are_read_or_refused<U: Unit>() {
    let first = LoadOptions {
        which: Some("1".to_owned()),
        ..LoadOptions::default()
    };
    // What compilers and drivers made, by the endings of the names. Long files take longer and test nothing more.
    let mut kinds: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    let folders = std::fs::read_dir(format!("{ROOT}/tb/{}/programs", U::NAME)).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    for folder in folders.filter(|path| path.is_dir()) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            if bytes.len() < 3000 && U::load(&bytes, "x", &first).is_ok() {
                let ending = path.extension().unwrap().to_string_lossy().into_owned();
                kinds.entry(ending).or_default().push(bytes);
            }
        }
    }
    for (ending, seeds) in &kinds {
        let kind = match seeds.iter().all(|bytes| str::from_utf8(bytes).is_ok()) {
            true => FormatKind::Text,
            false => FormatKind::Binary,
        };
        let mut damager = Damager::new(kind, seeds.clone(), 1);
        let mut read = 0;
        for number in 0..FILES {
            let bytes = damager.next();
            let options = match number % 2 {
                0 => &first,
                _ => &LoadOptions::default(),
            };
            match U::load(&bytes, "x", options) {
                Ok(Loaded { program, .. }) => {
                    let name = program.name();
                    assert!((1..=200).contains(&name.len()), "{name}");
                    for text in [program.to_text(), U::to_hex(&program)] {
                        let again = U::load(text.as_bytes(), "x", &LoadOptions::default());
                        let mut again = again.unwrap_or_else(|e| panic!("{e}\n{text}")).program;
                        again.rename(name.to_owned());
                        assert_eq!(again, program, "{text}");
                    }
                    read += 1;
                }
                Err(refused) => {
                    let said = refused.to_string();
                    assert_eq!(refused.file, "x", "{said}");
                    assert!(
                        !refused.field.is_empty() && !refused.message.is_empty(),
                        "{said}"
                    );
                    assert_eq!(printable(&said), said);
                }
            }
            for line in U::list(&bytes, "x").unwrap_or_default() {
                assert_eq!(printable(&line), line);
            }
        }
        // Both occur often.
        println!("{}, {ending}: {read} of {FILES} are read", U::NAME);
        assert!(
            (FILES / 20..FILES / 20 * 19).contains(&read),
            "{ending}: {read}"
        );
    }
    assert!(!kinds.is_empty());
}

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::test_unit::test_unit!(reconverge::$module::$unit:
                damaged_files_are_refused_with_field_and_reason,
                files_with_any_damage_are_read_or_refused,
                listings_become_the_words_that_are_shown,
            );
        }
    )+};
}
reconverge::for_each_unit!(tests);
