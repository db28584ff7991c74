//! C interface to the golden models of Reconverge, for benches in other languages. `include/reconverge_golden.h` documents
//! the functions; `sv/reconverge_golden_pkg.sv` declares them for SystemVerilog (DPI).
//!
//! This file contains all unsafe code. The safe part is `bench.rs`, which exchanges pins and state as bytes.

#![allow(unsafe_code)]

mod bench;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

pub use bench::{MOST_CYCLES, declarations};
use bench::{Model, Stimulus, Surroundings};

/// Version of this interface. It increases with every incompatible change.
pub const ABI: u32 = 1;

/// Size in bytes of the vector that passes pins and state through DPI: `reconverge_golden_pkg::Bits`.
pub const DPI_BYTES: usize = 1024;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Handle of a golden model.
pub struct Held {
    model: Box<dyn Model>,
    /// The last text returned, which the caller may still read.
    text: CString,
}

/// Handle of a case.
pub struct Case {
    stimulus: Box<dyn Stimulus>,
    /// The last text returned, which the caller may still read.
    text: CString,
}

/// Returns `text` as a C string. Cuts it at the first NUL, which only a text from a file can contain.
fn c_text(text: String) -> CString {
    let mut bytes = text.into_bytes();
    bytes.truncate(bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len()));
    CString::new(bytes).unwrap_or_default()
}

/// Returns the value of a success, or `None` for a failure, whose message it keeps for [`reconverge_error`].
fn kept<T>(result: Result<T, String>) -> Option<T> {
    result.map_err(|why| ERROR.set(c_text(why))).ok()
}

/// Returns the text at `text`, empty if it is null.
///
/// # Safety
/// `text` is null, or a NUL-terminated string that stays valid while the result is used.
unsafe fn text<'t>(text: *const c_char, name: &str) -> Result<&'t str, String> {
    if text.is_null() {
        return Ok("");
    }
    // SAFETY: by the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| format!("{name}: not UTF-8"))
}

/// Returns the `size` bytes at `from`. Fails if `from` is null, or `size` is not `want`.
///
/// # Safety
/// `from` is null, or points to `size` bytes that nothing writes while the result is used.
unsafe fn bytes<'b>(
    from: *const c_void,
    size: usize,
    want: usize,
    name: &str,
) -> Result<&'b [u8], String> {
    if from.is_null() || size != want {
        let what = if from.is_null() {
            "a null pointer".to_owned()
        } else {
            format!("{size} bytes")
        };
        return Err(format!(
            "{name}: {what}, not the {want} bytes of the struct"
        ));
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(from.cast(), size) })
}

/// Copies `from` to `to`. Fails if `to` is null, or `size` is not the length of `from`.
///
/// # Safety
/// `to` is null or has room for `size` bytes, which nothing else reads or writes during the call.
unsafe fn copied(from: &[u8], to: *mut c_void, size: usize, name: &str) -> Result<(), String> {
    if to.is_null() || size != from.len() {
        return Err(format!(
            "{name}: no room for the {} bytes of the struct",
            from.len()
        ));
    }
    // SAFETY: by the caller's promise; `from` is memory of ours.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.cast(), size) };
    Ok(())
}

/// Returns 0 for a success and -1 for a failure.
fn status(result: Result<(), String>) -> c_int {
    if kept(result).is_some() { 0 } else { -1 }
}

/// Returns the version of this interface: `RECONVERGE_ABI` of the header.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_abi() -> u32 {
    ABI
}

/// Returns the message of the last failed call in this thread; valid until the next call fails.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr())
}

/// Makes a golden model in its state after reset. Returns null if it fails.
///
/// # Safety
/// `unit` and `parameters` are null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_new(
    unit: *const c_char,
    lanes: u32,
    parameters: *const c_char,
) -> *mut Held {
    let made = || {
        // SAFETY: by the caller's promise.
        let (unit, parameters) = unsafe { (text(unit, "unit")?, text(parameters, "parameters")?) };
        bench::model(unit, &bench::build(unit, lanes, parameters)?)
    };
    held(made())
}

fn held(made: Result<Box<dyn Model>, String>) -> *mut Held {
    let text = CString::default();
    kept(made).map_or(std::ptr::null_mut(), |model| {
        Box::into_raw(Box::new(Held { model, text }))
    })
}

/// Frees a golden model; does nothing for null.
///
/// # Safety
/// `golden` is null or came from this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_free(golden: *mut Held) {
    if !golden.is_null() {
        // SAFETY: by the caller's promise it is the box that was made for it.
        drop(unsafe { Box::from_raw(golden) });
    }
}

/// Returns the size of the pin struct in bytes; 0 for null.
///
/// # Safety
/// `golden` is null or a golden model of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_pins_size(golden: *const Held) -> usize {
    // SAFETY: by the caller's promise.
    unsafe { golden.as_ref() }.map_or(0, |held| held.model.sizes().0)
}

/// Returns the size of the state struct in bytes; 0 for null.
///
/// # Safety
/// As [`reconverge_golden_pins_size`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_state_size(golden: *const Held) -> usize {
    // SAFETY: by the caller's promise.
    unsafe { golden.as_ref() }.map_or(0, |held| held.model.sizes().1)
}

/// Message for a null pointer in place of a golden model.
const NO_GOLDEN: &str = "golden: a null pointer";
/// Message for a null pointer in place of a case.
const NO_CASE: &str = "case: a null pointer";

/// Writes the default values of the pins. Returns 0, or -1 if `size` is wrong or a pointer is null.
///
/// # Safety
/// `golden` is null or a golden model of this library; `pins` is null or has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_default_pins(
    golden: *const Held,
    pins: *mut c_void,
    size: usize,
) -> c_int {
    // SAFETY: by the caller's promise.
    let held = unsafe { golden.as_ref() }.ok_or_else(|| NO_GOLDEN.to_owned());
    // SAFETY: by the caller's promise.
    status(held.and_then(|held| unsafe { copied(&held.model.default_pins(), pins, size, "pins") }))
}

/// Executes one cycle of the golden model. Returns 0, or -1 if a pin is out of range, `size` is wrong or a pointer is null.
///
/// # Safety
/// `golden` is null or a golden model of this library that no other thread uses; `pins` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_cycle(
    golden: *mut Held,
    pins: *const c_void,
    size: usize,
) -> c_int {
    // SAFETY: by the caller's promise.
    let held = unsafe { golden.as_mut() }.ok_or_else(|| NO_GOLDEN.to_owned());
    status(held.and_then(|held| {
        // SAFETY: by the caller's promise.
        let pins = unsafe { bytes(pins, size, held.model.sizes().0, "pins") }?;
        held.model.cycle(pins)
    }))
}

/// Returns the state struct after the last cycle; valid until the next cycle.
///
/// # Safety
/// `golden` is null or a golden model of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_state(golden: *const Held) -> *const c_void {
    // SAFETY: by the caller's promise.
    let held = kept(unsafe { golden.as_ref() }.ok_or_else(|| NO_GOLDEN.to_owned()));
    held.map_or(std::ptr::null(), |held| held.model.state().as_ptr().cast())
}

/// Keeps the text of `made` in `keep` and returns a pointer to it; null for a failure.
fn answered(keep: &mut CString, made: Result<String, String>) -> *const c_char {
    kept(made).map_or(std::ptr::null(), |text| {
        *keep = c_text(text);
        keep.as_ptr()
    })
}

/// Compares `state` with the golden model's state. Returns a line for each element that differs, with the rule, or an empty
/// text; null if `size` is wrong or a pointer is null. Valid until the next call with this model.
///
/// # Safety
/// `golden` is null or a golden model of this library that no other thread uses; `state` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_compare(
    golden: *mut Held,
    state: *const c_void,
    size: usize,
) -> *const c_char {
    // SAFETY: by the caller's promise.
    let Some(held) = kept(unsafe { golden.as_mut() }.ok_or_else(|| NO_GOLDEN.to_owned())) else {
        return std::ptr::null();
    };
    // SAFETY: by the caller's promise.
    let state = unsafe { bytes(state, size, held.model.sizes().1, "state") };
    answered(&mut held.text, state.map(|state| held.model.compare(state)))
}

/// Returns the rule by which the last cycle set an element of a field; null if there is no such element. Valid until the next
/// call with this model.
///
/// # Safety
/// `golden` is null or a golden model of this library that no other thread uses; `field` is null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_explain(
    golden: *mut Held,
    field: *const c_char,
    element: u32,
) -> *const c_char {
    // SAFETY: by the caller's promise.
    let Some(held) = kept(unsafe { golden.as_mut() }.ok_or_else(|| NO_GOLDEN.to_owned())) else {
        return std::ptr::null();
    };
    // SAFETY: by the caller's promise.
    let field = unsafe { text(field, "field") };
    let said = field.and_then(|field| held.model.explain(field, element as usize));
    answered(&mut held.text, said)
}

fn case(made: Result<Box<dyn Stimulus>, String>) -> *mut Case {
    let text = CString::default();
    kept(made).map_or(std::ptr::null_mut(), |stimulus| {
        Box::into_raw(Box::new(Case { stimulus, text }))
    })
}

/// Reads a program and computes the pins of all its cycles. Returns null if it fails.
///
/// # Safety
/// The texts are null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_case_program(
    unit: *const c_char,
    lanes: u32,
    parameters: *const c_char,
    file: *const c_char,
    which: *const c_char,
    seed: u64,
    stall16: u32,
) -> *mut Case {
    let made = || {
        // SAFETY: by the caller's promise.
        let [unit, parameters, file, which] = unsafe {
            [
                text(unit, "unit")?,
                text(parameters, "parameters")?,
                text(file, "file")?,
                text(which, "which")?,
            ]
        };
        let with = Surroundings {
            build: bench::build(unit, lanes, parameters)?,
            seed,
            stall16,
            which: (!which.is_empty()).then(|| which.to_owned()),
        };
        bench::program(unit, file, &with)
    };
    case(made())
}

/// Reads a case that `reconverge` saved and computes the pins of all its cycles. Returns null if it fails.
///
/// # Safety
/// The texts are null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_case_saved(
    unit: *const c_char,
    file: *const c_char,
) -> *mut Case {
    let made = || {
        // SAFETY: by the caller's promise.
        let (unit, file) = unsafe { (text(unit, "unit")?, text(file, "file")?) };
        bench::saved(unit, file)
    };
    case(made())
}

/// Frees a case; does nothing for null.
///
/// # Safety
/// `case` is null or came from this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_case_free(case: *mut Case) {
    if !case.is_null() {
        // SAFETY: by the caller's promise it is the box that was made for it.
        drop(unsafe { Box::from_raw(case) });
    }
}

/// Makes a golden model with the lanes and parameters of a case, in its state after reset.
///
/// # Safety
/// `case` is null or a case of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_case_golden(case: *const Case) -> *mut Held {
    // SAFETY: by the caller's promise.
    let case = unsafe { case.as_ref() }.ok_or_else(|| NO_CASE.to_owned());
    held(case.map(|case| case.stimulus.golden()))
}

/// Returns the number of cycles of a case; 0 for null.
///
/// # Safety
/// `case` is null or a case of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_case_cycles(case: *const Case) -> u64 {
    // SAFETY: by the caller's promise.
    unsafe { case.as_ref() }.map_or(0, |case| case.stimulus.cycles() as u64)
}

/// Returns the pin struct of a cycle, valid as long as the case; null if there is no such cycle.
///
/// # Safety
/// `case` is null or a case of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_case_pins(case: *const Case, cycle: u64) -> *const c_void {
    // SAFETY: by the caller's promise.
    kept(unsafe { pins_of(case, cycle) }).map_or(std::ptr::null(), |pins| pins.as_ptr().cast())
}

/// Returns the pins of a cycle.
///
/// # Safety
/// `case` is null or a case of this library that is not freed while they are used.
unsafe fn pins_of<'c>(case: *const Case, cycle: u64) -> Result<&'c [u8], String> {
    // SAFETY: by the caller's promise.
    let case = unsafe { case.as_ref() }.ok_or_else(|| NO_CASE.to_owned())?;
    let pins = usize::try_from(cycle)
        .ok()
        .and_then(|at| case.stimulus.pins(at));
    let cycles = case.stimulus.cycles();
    pins.ok_or_else(|| format!("there is no cycle {cycle} among {cycles}"))
}

/// Returns the instruction at `pc` as text; valid until the next call with this case.
///
/// # Safety
/// `case` is null or a case of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_case_disassemble(case: *mut Case, pc: u32) -> *const c_char {
    // SAFETY: by the caller's promise.
    let Some(case) = kept(unsafe { case.as_mut() }.ok_or_else(|| NO_CASE.to_owned())) else {
        return std::ptr::null();
    };
    let text = case.stimulus.disassemble(pc);
    answered(&mut case.text, Ok(text))
}

// ---- the same for DPI, where pins and state are vectors of DPI_BYTES bytes ----------------------------------------------

/// Copies `from` to a DPI vector and fills the rest with zeros.
///
/// # Safety
/// `to` is null or has [`DPI_BYTES`] bytes, which nothing else reads or writes during the call.
unsafe fn to_vector(from: &[u8], to: *mut u8) -> Result<(), String> {
    if to.is_null() || from.len() > DPI_BYTES {
        return Err(format!("no room for {} bytes", from.len()));
    }
    // SAFETY: by the caller's promise; `from` is memory of ours.
    unsafe {
        std::ptr::write_bytes(to, 0, DPI_BYTES);
        std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
    }
    Ok(())
}

/// Does the same as [`reconverge_golden_cycle`], with a DPI vector.
///
/// # Safety
/// `golden` is null or a golden model of this library that no other thread uses; `pins` is null or has [`DPI_BYTES`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_cycle(golden: *mut Held, pins: *const c_void) -> c_int {
    // SAFETY: by the caller's promise; no struct is larger than the vector (`Model::sizes`).
    unsafe { reconverge_golden_cycle(golden, pins, reconverge_golden_pins_size(golden)) }
}

/// Does the same as [`reconverge_golden_state`], but copies the state to a DPI vector. Returns 0, or -1 for a failure.
///
/// # Safety
/// `golden` is null or a golden model of this library; `state` is null or has [`DPI_BYTES`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_state(golden: *const Held, state: *mut u8) -> c_int {
    // SAFETY: by the caller's promise.
    let held = unsafe { golden.as_ref() }.ok_or_else(|| NO_GOLDEN.to_owned());
    // SAFETY: by the caller's promise.
    status(held.and_then(|held| unsafe { to_vector(held.model.state(), state) }))
}

/// Does the same as [`reconverge_golden_compare`], with a DPI vector, but returns the error message instead of null.
///
/// # Safety
/// As [`reconverge_dpi_cycle`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_compare(
    golden: *mut Held,
    state: *const c_void,
) -> *const c_char {
    // SAFETY: by the caller's promise; as in `reconverge_dpi_cycle`.
    let said =
        unsafe { reconverge_golden_compare(golden, state, reconverge_golden_state_size(golden)) };
    never_null(said)
}

/// Returns `text`, or the error message if it is null: a SystemVerilog string cannot be null.
fn never_null(text: *const c_char) -> *const c_char {
    if text.is_null() {
        reconverge_error()
    } else {
        text
    }
}

/// Does the same as [`reconverge_golden_explain`], but returns the error message instead of null.
///
/// # Safety
/// As [`reconverge_golden_explain`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_explain(
    golden: *mut Held,
    field: *const c_char,
    element: u32,
) -> *const c_char {
    // SAFETY: by the caller's promise.
    never_null(unsafe { reconverge_golden_explain(golden, field, element) })
}

/// Does the same as [`reconverge_case_disassemble`], but returns the error message instead of null.
///
/// # Safety
/// As [`reconverge_case_disassemble`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_disassemble(case: *mut Case, pc: u32) -> *const c_char {
    // SAFETY: by the caller's promise.
    never_null(unsafe { reconverge_case_disassemble(case, pc) })
}

/// Does the same as [`reconverge_case_pins`], but copies the pins to a DPI vector. Returns 0, or -1 for a failure.
///
/// # Safety
/// `case` is null or a case of this library; `pins` is null or has [`DPI_BYTES`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_pins(
    case: *const Case,
    cycle: u64,
    pins: *mut u8,
) -> c_int {
    // SAFETY: by the caller's promise.
    status(unsafe { pins_of(case, cycle).and_then(|from| to_vector(from, pins)) })
}

#[cfg(test)]
mod tests {
    use reconverge::design::Design;
    use reconverge::spa5::Spa5;

    use super::*;
    use std::ptr::{null, null_mut};

    /// Returns the text at `text`, which must not be null.
    fn said(text: *const c_char) -> String {
        assert!(!text.is_null());
        // SAFETY: the library returned it.
        unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
    }

    fn error() -> String {
        said(reconverge_error())
    }

    fn golden(unit: &CStr, lanes: u32, parameters: &CStr) -> *mut Held {
        // SAFETY: both are NUL-terminated.
        unsafe { reconverge_golden_new(unit.as_ptr(), lanes, parameters.as_ptr()) }
    }

    #[test]
    fn what_cannot_be_made_says_why() {
        for (unit, lanes, parameters, why) in [
            (
                c"r900",
                0,
                c"",
                "no unit \"r900\"; there are r500 r700 spa5",
            ),
            (c"r500", 65, c"", "65 lanes, not 1 to 64"),
            (
                c"r500",
                16,
                c"DEPTH=4",
                "r500: parameter: r500 has no parameter DEPTH, only lanes",
            ),
            (c"spa5", 0, c"DEPTH", "parameter \"DEPTH\": not NAME=VALUE"),
            (
                c"spa5",
                0,
                c"DEPTH=4,DEPTH=5",
                "parameter DEPTH is given twice",
            ),
        ] {
            assert!(golden(unit, lanes, parameters).is_null());
            assert_eq!(error(), why);
        }
        // SAFETY: null is allowed everywhere.
        unsafe {
            assert!(reconverge_golden_new(null(), 0, null()).is_null());
            assert_eq!(error(), "no unit \"\"; there are r500 r700 spa5");
            assert!(reconverge_golden_state(null()).is_null());
            assert_eq!(error(), NO_GOLDEN);
            assert_eq!(reconverge_golden_cycle(null_mut(), null(), 0), -1);
            assert_eq!(reconverge_golden_pins_size(null()), 0);
            assert_eq!(reconverge_case_cycles(null()), 0);
            assert!(reconverge_case_golden(null()).is_null());
            assert_eq!(error(), NO_CASE);
            reconverge_golden_free(null_mut());
            reconverge_case_free(null_mut());
        }
    }

    #[test]
    fn a_struct_of_another_size_or_a_pin_out_of_range_changes_nothing() {
        let golden = golden(c"r500", 16, c"");
        // SAFETY: the model lives until the end; each pointer has the bytes that are named.
        unsafe {
            let (pins, state) = (
                reconverge_golden_pins_size(golden),
                reconverge_golden_state_size(golden),
            );
            let mut driven = vec![0u8; pins];
            assert_eq!(
                reconverge_golden_default_pins(golden, driven.as_mut_ptr().cast(), pins),
                0
            );
            let before =
                std::slice::from_raw_parts(reconverge_golden_state(golden).cast::<u8>(), state)
                    .to_vec();
            for size in [pins - 1, pins + 1] {
                driven.resize(size, 0);
                assert_eq!(
                    reconverge_golden_cycle(golden, driven.as_ptr().cast(), size),
                    -1
                );
                assert_eq!(
                    error(),
                    format!("pins: {size} bytes, not the {pins} bytes of the struct")
                );
            }
            let wrong = vec![0xffu8; pins];
            assert_eq!(
                reconverge_golden_cycle(golden, wrong.as_ptr().cast(), pins),
                -1
            );
            assert!(error().starts_with("pin "), "{}", error());
            assert!(error().contains(" is more than "), "{}", error());
            assert_eq!(
                said(reconverge_golden_compare(
                    golden,
                    before.as_ptr().cast(),
                    state
                )),
                ""
            );
            assert!(reconverge_golden_compare(golden, before.as_ptr().cast(), state - 1).is_null());
            reconverge_golden_free(golden);
        }
    }

    #[test]
    fn a_difference_is_named_with_its_rule() {
        let file = c"../../tb/programs/spa5/divergent_return.s";
        // SAFETY: the texts are NUL-terminated, case and model live until the end, sizes are those of the model.
        unsafe {
            let case =
                reconverge_case_program(c"spa5".as_ptr(), 0, null(), file.as_ptr(), null(), 3, 0);
            assert!(!case.is_null(), "{}", error());
            let golden = reconverge_case_golden(case);
            let (pins, state) = (
                reconverge_golden_pins_size(golden),
                reconverge_golden_state_size(golden),
            );
            for cycle in 0..8 {
                let now = reconverge_case_pins(case, cycle);
                assert_eq!(reconverge_golden_cycle(golden, now, pins), 0);
            }
            let mut other =
                std::slice::from_raw_parts(reconverge_golden_state(golden).cast::<u8>(), state)
                    .to_vec();
            let fields = <Spa5 as Design>::fields();
            other[fields
                .iter()
                .find(|field| field.name == "active")
                .unwrap()
                .offset] ^= 1;
            let lines = said(reconverge_golden_compare(
                golden,
                other.as_ptr().cast(),
                state,
            ));
            assert!(lines.starts_with("active[0] is "), "{lines}");
            assert!(lines.contains(": spa5-"), "{lines}");
            assert_eq!(lines.lines().count(), 1);
            let rule = said(reconverge_golden_explain(golden, c"active".as_ptr(), 0));
            assert!(lines.ends_with(&format!(": {rule}\n")), "{lines}{rule}");
            assert!(reconverge_golden_explain(golden, c"active".as_ptr(), 32).is_null());
            assert_eq!(error(), "active has 32 elements, there is no 32");
            assert_eq!(
                said(reconverge_dpi_explain(golden, c"active".as_ptr(), 0)),
                rule
            );
            let no_lane = said(reconverge_dpi_explain(golden, c"active".as_ptr(), 32));
            assert_eq!(no_lane, "active has 32 elements, there is no 32");
            assert!(reconverge_golden_explain(golden, c"none".as_ptr(), 0).is_null());
            assert!(
                error().starts_with("no field none; there are "),
                "{}",
                error()
            );
            assert_eq!(said(reconverge_case_disassemble(case, 0x10)), "SSY 0x48;");
            assert_eq!(said(reconverge_dpi_disassemble(case, 0x10)), "SSY 0x48;");
            assert!(reconverge_case_disassemble(null_mut(), 0x10).is_null());
            assert_eq!(said(reconverge_dpi_disassemble(null_mut(), 0x10)), NO_CASE);
            let cycles = reconverge_case_cycles(case);
            assert!(!reconverge_case_pins(case, cycles - 1).is_null());
            assert!(reconverge_case_pins(case, cycles).is_null());
            assert_eq!(
                error(),
                format!("there is no cycle {cycles} among {cycles}")
            );
            reconverge_golden_free(golden);
            reconverge_case_free(case);
        }
    }

    #[test]
    fn files_that_are_no_program_or_case_are_refused_by_name() {
        let open = |file: &CStr| {
            // SAFETY: the texts are NUL-terminated.
            let case = unsafe {
                reconverge_case_program(c"r500".as_ptr(), 0, null(), file.as_ptr(), null(), 1, 0)
            };
            assert!(case.is_null());
            error()
        };
        assert!(
            open(c"none.s").starts_with("none.s: file: "),
            "{}",
            open(c"none.s")
        );
        let wrong = open(c"Cargo.toml");
        assert!(wrong.starts_with("Cargo.toml:1: "), "{wrong}");
        // SAFETY: as above.
        let saved = unsafe { reconverge_case_saved(c"r500".as_ptr(), c"Cargo.toml".as_ptr()) };
        assert!(saved.is_null());
        assert!(
            error().starts_with("Cargo.toml: file: no saved case"),
            "{}",
            error()
        );
    }

    #[test]
    fn structs_pass_through_dpi_as_the_lower_end_of_a_vector() {
        for unit in [c"r500", c"r700", c"spa5"] {
            let golden = golden(unit, 0, c"");
            // SAFETY: the model lives until the end; the vector has its bytes.
            unsafe {
                let size = reconverge_golden_state_size(golden);
                assert!(size <= DPI_BYTES && reconverge_golden_pins_size(golden) <= DPI_BYTES);
                let mut vector = [0xffu8; DPI_BYTES];
                assert_eq!(reconverge_dpi_state(golden, vector.as_mut_ptr()), 0);
                let state =
                    std::slice::from_raw_parts(reconverge_golden_state(golden).cast::<u8>(), size);
                assert_eq!(&vector[..size], state);
                assert!(vector[size..].iter().all(|byte| *byte == 0));
                assert_eq!(
                    said(reconverge_dpi_compare(golden, vector.as_ptr().cast())),
                    ""
                );
                assert_eq!(said(reconverge_dpi_compare(golden, null())), error());
                assert_eq!(reconverge_dpi_state(golden, null_mut()), -1);
                reconverge_golden_free(golden);
            }
        }
    }
}
