//! Any lines are results of a campaign or an error that names file and line, whether their check sums are right (every
//! line gets its own) or not.
//!
//! `cargo fuzz run results --features command`
#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use reconverge::campaign::results::{header, merge};
use reconverge::case::Case;
use reconverge::input::InputError;
use reconverge::r500::R500;
use reconverge::r700::R700;
use reconverge::spa5::Spa5;
use reconverge::stream::Stream;

fn read(file: &Path) -> Result<(), InputError> {
    let files = [file.to_owned()];
    let Some(header) = header(file)? else {
        return Ok(());
    };
    match (&*header.unit, &*header.cases) {
        ("r500", "program") => drop(merge::<Case<R500>>(&files)?),
        ("r700", "program") => drop(merge::<Case<R700>>(&files)?),
        ("spa5", "program") => drop(merge::<Case<Spa5>>(&files)?),
        ("r500", "stream") => drop(merge::<Stream<R500>>(&files)?),
        ("r700", "stream") => drop(merge::<Stream<R700>>(&files)?),
        ("spa5", "stream") => drop(merge::<Stream<Spa5>>(&files)?),
        _ => {}
    }
    Ok(())
}

fuzz_target!(|text: &str| {
    let file = std::env::temp_dir().join(format!("reconverge-fuzz-{}.jsonl", std::process::id()));
    let sealed: String = text
        .lines()
        .map(|body| {
            format!(
                "{body},\"crc32\":\"{:08x}\"}}\n",
                crc32fast::hash(body.as_bytes())
            )
        })
        .collect();
    for content in [text, &sealed] {
        fs::write(&file, content).expect("a temporary file");
        if let Err(e) = read(&file) {
            assert!(e.line <= content.lines().count() + 1);
            assert!(!e.is_of_the_machine() && !e.field.is_empty() && !e.message.is_empty());
        }
    }
});
