//! C interface to the golden models of Reconverge, for benches in other languages. `include/reconverge_golden.h` documents
//! the functions; `sv/reconverge_golden_pkg.sv` declares them for SystemVerilog (DPI).
//!
//! This file contains all unsafe code. The safe part is `bench.rs`, which exchanges pins and state as bytes.

#![allow(unsafe_code)]

mod bench;
mod handles;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

pub use bench::{MAX_CYCLES, declarations};
use bench::{Model, Stimulus, Surroundings};
use handles::{Handles, locked};

/// Version of this interface. It increases with every incompatible change.
pub const ABI: u32 = 1;

/// Size in bytes of the vector that passes pins and state through DPI: `reconverge_golden_pkg::Bits`.
pub const DPI_BYTES: usize = 1024;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// A golden model. Callers have a handle of it, which points to nothing.
pub struct Held {
    model: Box<dyn Model>,
    /// The last text returned, which the caller may still read.
    text: CString,
}

/// A case. Callers have a handle of it, which points to nothing.
pub struct Case {
    stimulus: Box<dyn Stimulus>,
    /// The last text returned, which the caller may still read.
    text: CString,
}

static GOLDENS: Handles<Held> = Handles::new("golden");
static CASES: Handles<Case> = Handles::new("case");

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
    let made = kept(made).map(|model| GOLDENS.add(Held { model, text }));
    made.unwrap_or(std::ptr::null_mut())
}

/// Frees a golden model; does nothing for null. For a handle that was freed already, or of something else, it fails.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_golden_free(golden: *mut Held) {
    kept(GOLDENS.remove(golden));
}

/// Returns the size of the pin struct in bytes; 0 if `golden` is not a handle of a golden model.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_golden_pins_size(golden: *const Held) -> usize {
    kept(GOLDENS.get(golden)).map_or(0, |held| locked(&held).model.sizes().0)
}

/// Returns the size of the state struct in bytes; 0 if `golden` is not a handle of a golden model.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_golden_state_size(golden: *const Held) -> usize {
    kept(GOLDENS.get(golden)).map_or(0, |held| locked(&held).model.sizes().1)
}

/// Writes the default values of the pins. Returns 0, or -1 if `size` is wrong or a pointer is null.
///
/// # Safety
/// `pins` is null or has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_default_pins(
    golden: *const Held,
    pins: *mut c_void,
    size: usize,
) -> c_int {
    status(GOLDENS.get(golden).and_then(|held| {
        let from = locked(&held).model.default_pins();
        // SAFETY: by the caller's promise.
        unsafe { copied(&from, pins, size, "pins") }
    }))
}

/// Executes one cycle of the golden model. Returns 0, or -1 if a pin is out of range, `size` is wrong or a pointer is null.
///
/// # Safety
/// `pins` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_cycle(
    golden: *mut Held,
    pins: *const c_void,
    size: usize,
) -> c_int {
    status(GOLDENS.get(golden).and_then(|held| {
        let mut held = locked(&held);
        // SAFETY: by the caller's promise.
        let pins = unsafe { bytes(pins, size, held.model.sizes().0, "pins") }?;
        held.model.cycle(pins)
    }))
}

/// Returns the state struct after the last cycle; valid until the next cycle.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_golden_state(golden: *const Held) -> *const c_void {
    // The model keeps the state where it is until it is freed.
    let held = kept(GOLDENS.get(golden));
    held.map_or(std::ptr::null(), |held| {
        locked(&held).model.state().as_ptr().cast()
    })
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
/// `state` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_compare(
    golden: *mut Held,
    state: *const c_void,
    size: usize,
) -> *const c_char {
    let Some(held) = kept(GOLDENS.get(golden)) else {
        return std::ptr::null();
    };
    let held = &mut *locked(&held);
    // SAFETY: by the caller's promise.
    let state = unsafe { bytes(state, size, held.model.sizes().1, "state") };
    answered(&mut held.text, state.map(|state| held.model.compare(state)))
}

/// Returns the rule by which the last cycle set an element of a field; null if there is no such element. Valid until the next
/// call with this model.
///
/// # Safety
/// `field` is null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_golden_explain(
    golden: *mut Held,
    field: *const c_char,
    element: u32,
) -> *const c_char {
    let Some(held) = kept(GOLDENS.get(golden)) else {
        return std::ptr::null();
    };
    let held = &mut *locked(&held);
    // SAFETY: by the caller's promise.
    let field = unsafe { text(field, "field") };
    let said = field.and_then(|field| held.model.explain(field, element as usize));
    answered(&mut held.text, said)
}

fn case(made: Result<Box<dyn Stimulus>, String>) -> *mut Case {
    let text = CString::default();
    let made = kept(made).map(|stimulus| CASES.add(Case { stimulus, text }));
    made.unwrap_or(std::ptr::null_mut())
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

/// Frees a case; does nothing for null. For a handle that was freed already, or of something else, it fails.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_case_free(case: *mut Case) {
    kept(CASES.remove(case));
}

/// Makes a golden model with the lanes and parameters of a case, in its state after reset.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_case_golden(case: *const Case) -> *mut Held {
    held(CASES.get(case).map(|case| locked(&case).stimulus.golden()))
}

/// Returns the number of cycles of a case; 0 if `case` is not a handle of a case.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_case_cycles(case: *const Case) -> u64 {
    kept(CASES.get(case)).map_or(0, |case| locked(&case).stimulus.cycles() as u64)
}

/// Returns the pin struct of a cycle, valid as long as the case; null if there is no such cycle.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_case_pins(case: *const Case, cycle: u64) -> *const c_void {
    // The case keeps them where they are until it is freed.
    kept(with_pins(case, cycle, |pins| Ok(pins.as_ptr().cast()))).unwrap_or(std::ptr::null())
}

/// Calls `then` with the pins of a cycle.
fn with_pins<T>(
    case: *const Case,
    cycle: u64,
    then: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<T, String> {
    let case = CASES.get(case)?;
    let case = locked(&case);
    let pins = usize::try_from(cycle)
        .ok()
        .and_then(|at| case.stimulus.pins(at));
    let cycles = case.stimulus.cycles();
    then(pins.ok_or_else(|| format!("no cycle {cycle}: the case has {cycles}, from 0"))?)
}

/// Returns the instruction at `pc` as text; valid until the next call with this case.
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_case_disassemble(case: *mut Case, pc: u32) -> *const c_char {
    let Some(case) = kept(CASES.get(case)) else {
        return std::ptr::null();
    };
    let case = &mut *locked(&case);
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
/// `pins` is null or has [`DPI_BYTES`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_cycle(golden: *mut Held, pins: *const c_void) -> c_int {
    // SAFETY: by the caller's promise; no struct is larger than the vector (`Model::sizes`).
    unsafe { reconverge_golden_cycle(golden, pins, reconverge_golden_pins_size(golden)) }
}

/// Does the same as [`reconverge_golden_state`], but copies the state to a DPI vector. Returns 0, or -1 for a failure.
///
/// # Safety
/// `state` is null or has [`DPI_BYTES`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_state(golden: *const Held, state: *mut u8) -> c_int {
    status(GOLDENS.get(golden).and_then(|held| {
        // SAFETY: by the caller's promise.
        unsafe { to_vector(locked(&held).model.state(), state) }
    }))
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
#[unsafe(no_mangle)]
pub extern "C" fn reconverge_dpi_disassemble(case: *mut Case, pc: u32) -> *const c_char {
    never_null(reconverge_case_disassemble(case, pc))
}

/// Does the same as [`reconverge_case_pins`], but copies the pins to a DPI vector. Returns 0, or -1 for a failure.
///
/// # Safety
/// `pins` is null or has [`DPI_BYTES`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reconverge_dpi_pins(
    case: *const Case,
    cycle: u64,
    pins: *mut u8,
) -> c_int {
    status(with_pins(case, cycle, |from| {
        // SAFETY: by the caller's promise.
        unsafe { to_vector(from, pins) }
    }))
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
            (
                c"r500",
                65,
                c"",
                "r500: lanes: the number of lanes must be 1 to 64, not 65",
            ),
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
            assert_eq!(error(), "golden: a null pointer");
            assert_eq!(reconverge_golden_cycle(null_mut(), null(), 0), -1);
            assert_eq!(reconverge_golden_pins_size(null()), 0);
            assert_eq!(reconverge_case_cycles(null()), 0);
            assert!(reconverge_case_golden(null()).is_null());
            assert_eq!(error(), "case: a null pointer");
            reconverge_golden_free(null_mut());
            reconverge_case_free(null_mut());
        }
    }

    /// Regression: freeing a model twice ended the process, and a case in the place of a model read foreign memory.
    #[test]
    fn a_handle_that_was_freed_or_stands_for_something_else_is_refused() {
        let file = c"../../tb/spa5/programs/divergent_return.s";
        let freed = |name| format!("{name}: the handle of another object, or one that was freed");
        // SAFETY: the texts are NUL-terminated; nothing is read or written through a refused handle.
        unsafe {
            let case =
                reconverge_case_program(c"spa5".as_ptr(), 0, null(), file.as_ptr(), null(), 3, 0);
            let model = golden(c"spa5", 0, c"");
            // Wrong kinds.
            assert_eq!(reconverge_golden_cycle(case.cast(), null(), 0), -1);
            assert_eq!(error(), freed("golden"));
            assert_eq!(reconverge_case_cycles(model.cast()), 0);
            assert_eq!(error(), freed("case"));
            reconverge_golden_free(case.cast());
            assert_eq!(error(), freed("golden"));
            reconverge_case_free(model.cast());
            assert_eq!(error(), freed("case"));
            // Both still live.
            assert!(reconverge_golden_state_size(model) > 0 && reconverge_case_cycles(case) > 0);
            reconverge_golden_free(model);
            reconverge_case_free(case);
            // No new handle is one of the old ones.
            let (other, size) = (golden(c"spa5", 0, c""), 0);
            assert_ne!(other, model);
            reconverge_golden_free(model);
            assert_eq!(error(), freed("golden"));
            assert!(reconverge_golden_state(model).is_null());
            assert_eq!(reconverge_golden_default_pins(model, null_mut(), size), -1);
            assert_eq!(said(reconverge_dpi_compare(model, null())), freed("golden"));
            assert_eq!(reconverge_dpi_state(model, null_mut()), -1);
            assert_eq!(error(), freed("golden"));
            reconverge_case_free(case);
            assert_eq!(error(), freed("case"));
            assert!(reconverge_case_pins(case, 0).is_null());
            assert!(reconverge_case_golden(case).is_null());
            assert_eq!(said(reconverge_dpi_disassemble(case, 0)), freed("case"));
            assert_eq!(reconverge_dpi_pins(case, 0, null_mut()), -1);
            assert!(reconverge_golden_state_size(other) > 0);
            reconverge_golden_free(other);
            // No handle at all.
            let local = 0_u64;
            reconverge_golden_free((&raw const local).cast_mut().cast());
            assert_eq!(error(), freed("golden"));
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
        let file = c"../../tb/spa5/programs/divergent_return.s";
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
            assert_eq!(
                error(),
                "active has 32 elements: the element must be below 32, not 32"
            );
            assert_eq!(
                said(reconverge_dpi_explain(golden, c"active".as_ptr(), 0)),
                rule
            );
            let no_lane = said(reconverge_dpi_explain(golden, c"active".as_ptr(), 32));
            assert_eq!(
                no_lane,
                "active has 32 elements: the element must be below 32, not 32"
            );
            assert!(reconverge_golden_explain(golden, c"none".as_ptr(), 0).is_null());
            assert!(
                error().starts_with("no field none; there are "),
                "{}",
                error()
            );
            assert_eq!(said(reconverge_case_disassemble(case, 0x10)), "SSY 0x48;");
            assert_eq!(said(reconverge_dpi_disassemble(case, 0x10)), "SSY 0x48;");
            assert!(reconverge_case_disassemble(null_mut(), 0x10).is_null());
            assert_eq!(
                said(reconverge_dpi_disassemble(null_mut(), 0x10)),
                "case: a null pointer"
            );
            let cycles = reconverge_case_cycles(case);
            assert!(!reconverge_case_pins(case, cycles - 1).is_null());
            assert!(reconverge_case_pins(case, cycles).is_null());
            assert_eq!(
                error(),
                format!("no cycle {cycles}: the case has {cycles}, from 0")
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
            error().starts_with("Cargo.toml: file: must be a saved case, which is JSON"),
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
