//! Any text is a saved case of some unit or an error that names the file; a case survives being written and read.
//!
//! `cargo fuzz run case`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::case::Case;
use reconverge::design::Design;
use reconverge::input::InputError;
use reconverge::r500::R500;
use reconverge::r700::R700;
use reconverge::saved::{Saved, identify};
use reconverge::spa5::Spa5;
use reconverge::unit::Unit;

fn read<U: Unit + PartialEq>(text: &str) -> Result<(), InputError> {
    let case = Saved::<Case<U>>::parse(text, "f.json")?;
    assert!(Saved::<Case<U>>::parse(&case.to_text(), "f.json").is_ok_and(|again| again == case));
    Ok(())
}

fuzz_target!(|text: &str| {
    let read = match identify(text, "f.json") {
        Ok((_, unit)) if unit == R500::NAME => read::<R500>(text),
        Ok((_, unit)) if unit == R700::NAME => read::<R700>(text),
        Ok(_) => read::<Spa5>(text),
        Err(e) => Err(e),
    };
    if let Err(e) = read {
        assert!(e.file == "f.json" && !e.field.is_empty() && !e.message.is_empty());
    }
});
