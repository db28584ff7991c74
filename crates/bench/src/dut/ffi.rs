//! The only unsafe code of the crate: calls into a verilated model through the function table of
//! `crates/verilate/shim/shim.h`.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// `RCV_ABI` of `crates/verilate/shim/shim.h`.
const ABI: u32 = 9;

/// `RCV_ASSERTIONS` of `crates/verilate/shim/shim.h`.
const ASSERTIONS: u32 = 1;

/// `RCV_PRELOADS` of `crates/verilate/shim/shim.h`.
const PRELOADS: u32 = 4;

/// Bytes reserved for a text that the shim writes.
const TEXT: usize = 1024;

/// Opaque `rcv_model`.
#[repr(C)]
struct Raw {
    opaque: [u8; 0],
}

/// The table of functions of a model: `rcv_api` of `crates/verilate/shim/shim.h`.
#[repr(C)]
pub struct Api {
    abi: u32,
    lanes: u32,
    in_size: u32,
    state_size: u32,
    features: u32,
    create: unsafe extern "C" fn(u32, u32, *mut c_char, usize) -> *mut Raw,
    destroy: unsafe extern "C" fn(*mut Raw, *mut c_char, usize),
    clock: unsafe extern "C" fn(
        *mut Raw,
        *const c_void,
        *const c_void,
        *const c_void,
        c_int,
    ) -> *const c_void,
    halves:
        unsafe extern "C" fn(*const Raw, c_int, *mut *const c_void, *mut *const c_void) -> c_int,
    load: unsafe extern "C" fn(*mut Raw, *const c_void) -> c_int,
    bare: unsafe extern "C" fn(*mut Raw, *const c_void, u64, *mut u64) -> c_int,
    open_vcd: unsafe extern "C" fn(*mut Raw, *const c_char) -> c_int,
    close_vcd: unsafe extern "C" fn(*mut Raw) -> c_int,
    no_assert: unsafe extern "C" fn(*mut Raw),
    stopped: unsafe extern "C" fn(*const Raw) -> *const c_char,
    trouble: unsafe extern "C" fn(*const Raw) -> *const c_char,
    write_coverage: unsafe extern "C" fn(*mut Raw, *const c_char) -> c_int,
}

/// A model that the build script of a package linked.
pub struct Linked {
    /// Name of the design.
    pub unit: &'static str,
    /// Number of lanes.
    pub lanes: u32,
    /// The parameters whose values are not the default, in alphabetical order.
    pub parameters: &'static [(&'static str, u32)],
    /// Hash of the contents of RTL and bench.
    pub contents: &'static str,
    /// The table that the shim defines.
    pub api: &'static Api,
}

/// Declares the static `LINKED`, the list of the models that a build script has linked. Only for the file that the build
/// script writes. Each model is given by its design, lanes, parameters, contents, and the symbol of the table in its
/// archive.
#[doc(hidden)]
#[macro_export]
macro_rules! linked_models {
    ($($unit:literal $lanes:literal $parameters:expr, $contents:literal $symbol:ident;)*) => {
        // SAFETY: each table is constant data that the shim defines with the layout of `Api`; `verilate` names the symbol
        // by its model.
        #[allow(unsafe_code, non_upper_case_globals)]
        unsafe extern "C" {
            $(safe static $symbol: $crate::dut::Api;)*
        }
        static LINKED: &[$crate::dut::Linked] = &[$($crate::dut::Linked {
            unit: $unit,
            lanes: $lanes,
            parameters: &$parameters,
            contents: $contents,
            api: &$symbol,
        }),*];
    };
}

/// Where a table comes from; the library stays loaded as long as it is used.
#[derive(Clone)]
pub(super) enum Source {
    Linked(&'static Api),
    Library(Arc<Loaded>),
}

pub(super) struct Loaded {
    api: NonNull<Api>,
    // Unmaps the code and the table that `api` points to when dropped, so it comes last.
    _library: Library,
}

// SAFETY: the table is constant data, and so is the code; another thread than the one that loaded a library may unload it.
unsafe impl Send for Loaded {}
// SAFETY: as above; nothing writes to the data behind `api`.
unsafe impl Sync for Loaded {}

/// Held while a model is created. Values that reset does not reach come from a thread-local generator, and all threads'
/// generators restart whenever a model is given its seed.
static CREATION: Mutex<()> = Mutex::new(());

impl Source {
    /// Opens a library that contains a model.
    pub fn open(library: &verilate::Library) -> Result<Self, String> {
        let (path, symbol) = (&library.path, &library.symbol);
        let shown = |e: libloading::Error| format!("{}: {e}", path.display());
        // SAFETY: opening a library runs its static constructors: those of Verilator's runtime, which touch nothing of this
        // process, and those of C++ files that came with the RTL. The latter are the user's own code, which the user asked
        // to run. It can do what any program of the user can; Rust cannot prevent this, and SECURITY.md says so. `verilate`
        // has checked by its digest that the file is what the compiler wrote.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(shown)?;
        // SAFETY: the symbol is the table `rcv_api`, by the same shim and header that this crate ships; the ABI number is
        // read before any other member.
        let api = unsafe { library.get::<*const Api>(symbol.as_bytes()) }.map_err(shown)?;
        // The address of a data symbol is the address of the table.
        let address = api.as_raw_ptr();
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

    /// Returns whether the model checks SystemVerilog assertions; false for a model that does not fit this crate.
    pub fn assertions(&self) -> bool {
        let api = self.api();
        api.abi == ABI && api.features & ASSERTIONS != 0
    }

    /// Returns whether a state can be loaded into the model; false for a model that does not fit this crate.
    pub fn preloads(&self) -> bool {
        let api = self.api();
        api.abi == ABI && api.features & PRELOADS != 0
    }
}

/// Returns `path` as a C string.
fn c_path(path: &Path) -> Result<CString, String> {
    let shown = path.display();
    let text = path.to_str().ok_or_else(|| format!("{shown}: not UTF-8"))?;
    CString::new(text).map_err(|e| format!("{shown}: {e}"))
}

/// Returns the text that the shim wrote into `bytes`, of which at least the last is 0.
fn written(bytes: &[u8; TEXT]) -> String {
    let text = CStr::from_bytes_until_nul(bytes).unwrap_or_default();
    text.to_string_lossy().into_owned()
}

/// One verilated model.
pub(super) struct Model {
    raw: NonNull<Raw>,
    source: Source,
    /// The path of the last opened dump.
    dump: PathBuf,
    /// `raw` is freed.
    ended: bool,
}

// SAFETY: a model is used by one thread at a time: every call that does more than read a word takes `&mut self`,
// and `Model` is not `Sync`. Its state is in a VerilatedContext of its own, shared with no other model, and the shim
// makes that the context of the calling thread on each entry.
unsafe impl Send for Model {}

impl Model {
    /// Creates a fresh model. `seed`, not 0, fills what reset does not reach; `mutant` selects the mutant if the RTL holds several.
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
        let mut why = [0u8; TEXT];
        let alone = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the table has our ABI; `why` has as many bytes as its length says.
        let raw = unsafe { (api.create)(seed, mutant, why.as_mut_ptr().cast(), why.len()) };
        drop(alone);
        let raw = NonNull::new(raw).ok_or_else(|| format!("no model: {}", written(&why)))?;
        Ok(Model {
            raw,
            source: source.clone(),
            dump: PathBuf::new(),
            ended: false,
        })
    }

    /// Clocks the model with `pins`. Returns the state in the model's own memory; `None` once the RTL has stopped, and with
    /// `halves`, which needs `golden`, if something changed at the falling edge: [`Model::halves`]. With `after` the pins assert an
    /// asynchronous reset: the state is that before the falling edge, and `None` if the one after it is not `after`.
    #[inline]
    pub fn clock(
        &mut self,
        pins: &[u8],
        golden: Option<&[u8]>,
        after: Option<&[u8]>,
        halves: bool,
    ) -> Option<&[u8]> {
        let api = self.source.api();
        assert_eq!(pins.len(), api.in_size as usize);
        let pointer = |state: Option<&[u8]>| {
            state.map_or(std::ptr::null(), |state| {
                assert_eq!(state.len(), api.state_size as usize);
                state.as_ptr()
            })
        };
        let (golden, after) = (pointer(golden), pointer(after));
        // SAFETY: `raw` is a live model of this table; the lengths were checked against the sizes that the shim copies;
        // `golden` and `after` may be null. The result is `state_size` bytes of the model, which only a call with `&mut self` writes or
        // frees, and the borrow prevents such a call.
        unsafe {
            let halves = c_int::from(halves && !golden.is_null());
            let state = (api.clock)(
                self.raw.as_ptr(),
                pins.as_ptr().cast(),
                golden.cast(),
                after.cast(),
                halves,
            );
            (!state.is_null())
                .then(|| std::slice::from_raw_parts(state.cast(), api.state_size as usize))
        }
    }

    /// Returns the state before and after the falling edge of the last cycle, if only the latter is as expected; with `now`, if
    /// outputs that depend on the pins of this cycle changed at that edge.
    pub fn halves(&self, now: bool) -> Option<[&[u8]; 2]> {
        let api = self.source.api();
        let (mut first, mut second) = (std::ptr::null(), std::ptr::null());
        // SAFETY: `raw` is a live model. If the result is not 0, both pointers are to `state_size` bytes of the model, which only a
        // call with `&mut self` writes or frees, and the borrow prevents such a call.
        unsafe {
            let now = c_int::from(now);
            let changed = (api.halves)(self.raw.as_ptr(), now, &raw mut first, &raw mut second);
            (changed != 0).then(|| {
                [first, second].map(|state: *const c_void| {
                    std::slice::from_raw_parts(state.cast(), api.state_size as usize)
                })
            })
        }
    }

    /// Returns why the RTL stopped the simulation, if it did.
    pub fn stopped(&self) -> Option<String> {
        // SAFETY: `raw` is a live model; the text, if there is one, is NUL-terminated, belongs to the model and is copied
        // before any other call.
        unsafe {
            let text = (self.source.api().stopped)(self.raw.as_ptr());
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }

    /// Returns why the last dump or counter file is wrong or incomplete.
    fn trouble(&self) -> String {
        // SAFETY: as in `stopped`.
        let text = unsafe {
            let text = (self.source.api().trouble)(self.raw.as_ptr());
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        text.unwrap_or_else(|| "it does not say why".to_owned())
    }

    /// Returns whether [`Model::load`] has an effect.
    pub fn preloads(&self) -> bool {
        self.source.preloads()
    }

    pub fn load(&mut self, state: &[u8]) {
        let api = self.source.api();
        assert_eq!(state.len(), api.state_size as usize);
        // SAFETY: `raw` is a live model and the length is what the shim copies. If the RTL stops, the next cycle reports
        // it.
        unsafe { (api.load)(self.raw.as_ptr(), state.as_ptr().cast()) };
    }

    /// Clocks the model through `pins`. Returns a checksum of the states; `None` once the RTL has stopped.
    pub fn bare(&mut self, pins: &[u8]) -> Option<u64> {
        let api = self.source.api();
        let count = pins.len() / api.in_size as usize;
        let mut sum = 0;
        // SAFETY: `raw` is a live model, `pins` holds at least `count` input structs, and `sum` is ours.
        let went = unsafe {
            let pins = pins.as_ptr().cast();
            (api.bare)(self.raw.as_ptr(), pins, count as u64, &raw mut sum)
        };
        (went != 0).then_some(sum)
    }

    pub fn open_vcd(&mut self, path: &Path) -> Result<(), String> {
        let text = c_path(path)?;
        path.clone_into(&mut self.dump);
        // SAFETY: `raw` is a live model and `text` a NUL-terminated string that outlives the call.
        match unsafe { (self.source.api().open_vcd)(self.raw.as_ptr(), text.as_ptr()) } {
            0 => Err(format!("{}: {}", path.display(), self.trouble())),
            _ => Ok(()),
        }
    }

    pub fn close_vcd(&mut self) -> Result<(), String> {
        // SAFETY: `raw` is a live model.
        match unsafe { (self.source.api().close_vcd)(self.raw.as_ptr()) } {
            0 => Err(format!("{}: {}", self.dump.display(), self.trouble())),
            _ => Ok(()),
        }
    }

    /// Writes the coverage counters of a model that was built with them.
    pub fn write_coverage(&mut self, path: &Path) -> Result<(), String> {
        let text = c_path(path)?;
        // SAFETY: `raw` is a live model and `text` a NUL-terminated string that outlives the call.
        match unsafe { (self.source.api().write_coverage)(self.raw.as_ptr(), text.as_ptr()) } {
            0 => Err(format!("{}: {}", path.display(), self.trouble())),
            _ => Ok(()),
        }
    }

    /// Checks no assertion from now on.
    pub fn no_assert(&mut self) {
        // SAFETY: `raw` is a live model, which the call changes.
        unsafe { (self.source.api().no_assert)(self.raw.as_ptr()) }
    }

    /// Ends the simulation: runs the `final` blocks of the RTL.
    ///
    /// # Errors
    /// Why they stopped: $stop, $fatal, $finish or a failed assertion.
    pub fn close(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        if self.ended {
            return Ok(());
        }
        self.ended = true;
        let mut why = [0u8; TEXT];
        // SAFETY: `raw` came from `create` of the same table and is freed once, because `ended` is set and the callers own
        // the model; `why` has as many bytes as its length says.
        unsafe {
            (self.source.api().destroy)(self.raw.as_ptr(), why.as_mut_ptr().cast(), why.len());
        }
        match why[0] {
            0 => Ok(()),
            _ => Err(written(&why)),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // The message belongs to no case, because the case has been judged.
        if let Err(why) = self.end() {
            // If it cannot be written, it is lost; that is not a reason to abort.
            let why = super::Ended::stopped(&why);
            let _ = writeln!(std::io::stderr(), "warning: {why}");
        }
    }
}
