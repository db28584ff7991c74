//! Importers on damaged files, as data: `tb/<unit>/damaged.txt`. A line names a file in `tb/<unit>/programs` and changes of it: `18=3e00`
//! sets the bytes from byte 18 on, `cut=51` keeps the first 51.

use reconverge::ROOT;
use reconverge::unit::{LoadOptions, Unit};

use crate::data;

fn damaged_files_are_refused_with_field_and_reason<U: Unit>() {
    data::compare(&format!("tb/{}/damaged.txt", U::NAME), true, |line| {
        let mut words = line.split(' ');
        let file = words.next().unwrap();
        let mut bytes = std::fs::read(format!("{ROOT}/tb/{}/programs/{file}", U::NAME)).unwrap();
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

#[test]
fn damaged_objects_of_r700_are_refused_with_field_and_reason() {
    damaged_files_are_refused_with_field_and_reason::<reconverge::r700::R700>();
}

#[test]
fn damaged_cubins_of_spa5_are_refused_with_field_and_reason() {
    damaged_files_are_refused_with_field_and_reason::<reconverge::spa5::Spa5>();
}
