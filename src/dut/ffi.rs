//! The only unsafe code of the crate: calls into a verilated model through the function table of
//! `tb/shim.h`.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// `RCV_ABI` of `tb/shim.h`.
const ABI: u32 = 4;

/// Opaque `rcv_model`.
#[repr(C)]
struct Raw {
    opaque: [u8; 0],
}

/// `rcv_api` of `tb/shim.h`.
#[repr(C)]
pub(super) struct Api {
    abi: u32,
    lanes: u32,
    in_size: u32,
    state_size: u32,
    create: extern "C" fn(u32, u32) -> *mut Raw,
    destroy: unsafe extern "C" fn(*mut Raw),
    clock: unsafe extern "C" fn(*mut Raw, *const c_void, *const c_void) -> *const c_void,
    load: unsafe extern "C" fn(*mut Raw, *const c_void),
    bare: unsafe extern "C" fn(*mut Raw, *const c_void, u64) -> u64,
    open_vcd: unsafe extern "C" fn(*mut Raw, *const c_char) -> c_int,
    close_vcd: unsafe extern "C" fn(*mut Raw),
    mismatch: unsafe extern "C" fn(*const Raw) -> u64,
    stopped: unsafe extern "C" fn(*const Raw) -> *const c_char,
    write_coverage: unsafe extern "C" fn(*const Raw, *const c_char) -> c_int,
}

/// A model that the build script linked.
pub(super) struct Linked {
    pub unit: &'static str,
    pub lanes: u32,
    pub parameters: &'static [(&'static str, u32)],
    pub contents: &'static str,
    pub api: &'static Api,
}

include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// Models linked into this program.
pub(super) fn linked() -> &'static [Linked] {
    LINKED
}

/// Where a table comes from; the library stays loaded while anything uses it.
#[derive(Clone)]
pub(super) enum Source {
    Linked(&'static Api),
    Library(Arc<Loaded>),
}

pub(super) struct Loaded {
    api: NonNull<Api>,
    // Unmaps the code and the table that `api` points to when dropped, so it comes last.
    _library: libloading::Library,
}

// SAFETY: the table is constant data and its functions keep no state of their own; a Verilator model
// carries its whole state in its own context.
unsafe impl Send for Loaded {}
// SAFETY: as above; nothing behind `api` is ever written.
unsafe impl Sync for Loaded {}

impl Source {
    /// Opens a library that `verilate::shared` made.
    pub fn open(path: &Path, symbol: &str) -> Result<Self, String> {
        let shown = |e: libloading::Error| format!("{}: {e}", path.display());
        // SAFETY: the library runs no code when it is loaded but C++ static constructors of Verilator's
        // runtime, which touch nothing of this process.
        let library = unsafe { libloading::Library::new(path) }.map_err(shown)?;
        // SAFETY: the symbol is the table `rcv_api`, by the same shim and header that this crate ships;
        // the ABI number is read before anything else of it is used.
        let api = unsafe { library.get::<*const Api>(symbol.as_bytes()) }.map_err(shown)?;
        // SAFETY: as above: the address of a data symbol is the address of the table.
        let address = unsafe { api.try_as_raw_ptr() }.unwrap_or(std::ptr::null_mut());
        let api = NonNull::new(address.cast::<Api>())
            .ok_or_else(|| format!("{}: no table {symbol}", path.display()))?;
        Ok(Source::Library(Arc::new(Loaded {
            api,
            _library: library,
        })))
    }

    fn api(&self) -> &Api {
        match self {
            Source::Linked(api) => api,
            // SAFETY: points into the library, which is loaded as long as `self` lives.
            Source::Library(loaded) => unsafe { loaded.api.as_ref() },
        }
    }
}

/// `path` as C takes it.
fn c_path(path: &Path) -> Result<CString, String> {
    let shown = path.display();
    let text = path.to_str().ok_or_else(|| format!("{shown}: not UTF-8"))?;
    CString::new(text).map_err(|e| format!("{shown}: {e}"))
}

/// One verilated model.
pub(super) struct Model {
    raw: NonNull<Raw>,
    source: Source,
}

// SAFETY: a model is used by one thread at a time (every call but `mismatch` takes `&mut self`, and
// `Model` is not `Sync`), and its VerilatedContext is its own, shared with no other model.
unsafe impl Send for Model {}

impl Model {
    /// A fresh model; `seed` fills what reset does not reach, `mutant` is for RTL that holds many.
    pub fn new(
        source: &Source,
        lanes: u32,
        in_size: usize,
        state_size: usize,
        seed: u32,
        mutant: u32,
    ) -> Result<Self, String> {
        let api = source.api();
        let (found, want) = (
            (
                api.abi,
                api.lanes,
                api.in_size as usize,
                api.state_size as usize,
            ),
            (ABI, lanes, in_size, state_size),
        );
        if found != want {
            return Err(format!(
                "the model does not fit: (abi, lanes, bytes of inputs, bytes of state) are {found:?}, not {want:?}"
            ));
        }
        let raw = NonNull::new((api.create)(seed.max(1), mutant)).ok_or("no memory for a model")?;
        Ok(Model {
            raw,
            source: source.clone(),
        })
    }

    /// The state after the clock, in the model's own memory; `None` once the RTL has stopped.
    pub fn clock(&mut self, pins: &[u8], golden: Option<&[u8]>) -> Option<&[u8]> {
        let api = self.source.api();
        assert_eq!(pins.len(), api.in_size as usize);
        let golden = golden.map_or(std::ptr::null(), |g| {
            assert_eq!(g.len(), api.state_size as usize);
            g.as_ptr()
        });
        // SAFETY: `raw` is a live model of this table; the lengths were checked against the sizes that the
        // shim copies; `golden` may be null. What comes back are `state_size` bytes of the model, which
        // nothing but a call with `&mut self` writes or frees, and the borrow forbids one.
        unsafe {
            let state = (api.clock)(self.raw.as_ptr(), pins.as_ptr().cast(), golden.cast());
            (!state.is_null())
                .then(|| std::slice::from_raw_parts(state.cast(), api.state_size as usize))
        }
    }

    /// Why the RTL stopped the simulation, if it did.
    pub fn stopped(&self) -> Option<String> {
        // SAFETY: `raw` is a live model; the text, if there is one, is NUL-terminated, belongs to the model
        // and is copied before anything else is done with it.
        unsafe {
            let text = (self.source.api().stopped)(self.raw.as_ptr());
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }

    pub fn load(&mut self, state: &[u8]) {
        let api = self.source.api();
        assert_eq!(state.len(), api.state_size as usize);
        // SAFETY: `raw` is a live model and the length is what the shim copies.
        unsafe { (api.load)(self.raw.as_ptr(), state.as_ptr().cast()) }
    }

    pub fn bare(&mut self, pins: &[u8]) -> u64 {
        let api = self.source.api();
        let count = pins.len() / api.in_size as usize;
        // SAFETY: `raw` is a live model and `pins` holds at least `count` input structs.
        unsafe { (api.bare)(self.raw.as_ptr(), pins.as_ptr().cast(), count as u64) }
    }

    pub fn open_vcd(&mut self, path: &Path) -> Result<(), String> {
        let text = c_path(path)?;
        // SAFETY: `raw` is a live model and `text` a NUL-terminated string that outlives the call.
        match unsafe { (self.source.api().open_vcd)(self.raw.as_ptr(), text.as_ptr()) } {
            0 => Err(format!("{}: cannot be written", path.display())),
            _ => Ok(()),
        }
    }

    /// Writes the counters of a model that was built with them.
    pub fn write_coverage(&self, path: &Path) -> Result<(), String> {
        let text = c_path(path)?;
        // SAFETY: `raw` is a live model, which the call only reads, and `text` a NUL-terminated string that
        // outlives the call.
        match unsafe { (self.source.api().write_coverage)(self.raw.as_ptr(), text.as_ptr()) } {
            0 => Err(format!("{}: the model counts nothing", path.display())),
            _ => Ok(()),
        }
    }

    pub fn close_vcd(&mut self) {
        // SAFETY: `raw` is a live model.
        unsafe { (self.source.api().close_vcd)(self.raw.as_ptr()) }
    }

    pub fn mismatch(&self) -> u64 {
        // SAFETY: `raw` is a live model, which the call only reads.
        unsafe { (self.source.api().mismatch)(self.raw.as_ptr()) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `create` of the same table and is freed once, here.
        unsafe { (self.source.api().destroy)(self.raw.as_ptr()) }
    }
}
