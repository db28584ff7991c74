//! Importers on damaged files, as data: `tb/<unit>/damaged.txt`. A line names a file in `tb/<unit>/programs` and changes of it: `18=3e00`
//! sets the bytes from byte 18 on, `cut=51` keeps the first 51, `{"a": "b"}` puts b in the place of the first a.
//! `tb/<unit>/listed.txt` has whole listings.

use std::collections::BTreeMap;

use reconverge::ROOT;
use reconverge::r500::R500;
use reconverge::r700::R700;
use reconverge::spa5::Spa5;
use reconverge::unit::{LoadOptions, Unit};

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
            Ok(loaded) => format!("{} lines", U::to_hex(&loaded.program).lines().count()),
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

#[test]
fn logs_for_r500_become_the_words_that_are_shown() {
    listings_become_the_words_that_are_shown::<R500>();
}

#[test]
fn listings_for_r700_become_the_words_that_are_shown() {
    listings_become_the_words_that_are_shown::<R700>();
}

#[test]
fn listings_for_spa5_become_the_words_that_are_shown() {
    listings_become_the_words_that_are_shown::<Spa5>();
}

#[test]
fn damaged_logs_of_r500_are_refused_with_field_and_reason() {
    damaged_files_are_refused_with_field_and_reason::<R500>();
}

#[test]
fn damaged_objects_of_r700_are_refused_with_field_and_reason() {
    damaged_files_are_refused_with_field_and_reason::<R700>();
}

#[test]
fn damaged_cubins_of_spa5_are_refused_with_field_and_reason() {
    damaged_files_are_refused_with_field_and_reason::<Spa5>();
}
