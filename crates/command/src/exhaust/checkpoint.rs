//! The progress of an exploration as a file. The file does not contain the states: the golden model finds them again, in the same
//! order.

use std::collections::BTreeMap;
use std::path::Path;

use reconverge::campaign::results::program;
use reconverge::compiled::Compiled;
use reconverge::design::Build;
use reconverge::dut::Rtl;
use reconverge::input::InputError;
use reconverge::json::{Hex, check_format};
use serde::{Deserialize, Serialize};

/// Version of the format (formats-11).
const FORMAT: u32 = 2;

/// A hash of a sequence of byte strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Adds `bytes`.
    pub fn add(&mut self, bytes: &[u8]) {
        // FNV-1a, including the length.
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        self.0 = self.0.rotate_left(17) ^ 0xcbf2_9ce4_8422_2325;
    }

    /// Returns the hash with counts added.
    fn with(mut self, counts: [u64; 3]) -> Self {
        for count in counts {
            self.add(&count.to_le_bytes());
        }
        self
    }
}

/// What was checked: the world, the RTL, the states.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    reconverge_checkpoint: u32,
    unit: String,
    lanes: u32,
    parameters: BTreeMap<String, u32>,
    bounds: BTreeMap<String, u32>,
    /// Digest of RTL and bench.
    rtl: String,
    /// Digest of golden model, engine and declaration: [`program`].
    sources: String,
    /// Number of states that were checked, from the first on.
    pub states: u64,
    /// Number of transitions from them.
    pub transitions: u64,
    /// Number of cycles in which the whole state was compared.
    pub cycles: u64,
    /// Digest of the bytes of these states.
    digest: Hex,
    /// Digest of that and the counts.
    sum: Hex,
}

impl Checkpoint {
    /// Returns a checkpoint before any check.
    pub fn new<U: Compiled>(build: &Build, bounds: &BTreeMap<String, u32>, rtl: &Rtl<U>) -> Self {
        let mut new = Checkpoint {
            reconverge_checkpoint: FORMAT,
            unit: U::NAME.to_owned(),
            lanes: build.lanes,
            parameters: build.parameters.clone(),
            bounds: bounds.clone(),
            rtl: rtl.contents().to_owned(),
            sources: program::<U>(),
            states: 0,
            transitions: 0,
            cycles: 0,
            digest: Hex(0),
            sum: Hex(0),
        };
        new.sum = Hex(new.summed());
        new
    }

    /// Counts further states: `sums` are their transitions and cycles, `digest` is that of all states so far.
    pub fn add(&mut self, states: u64, sums: (u64, u64), digest: &Digest) {
        self.states += states;
        self.transitions += sums.0;
        self.cycles += sums.1;
        self.digest = Hex(digest.0);
        self.sum = Hex(self.summed());
    }

    /// Returns the digest of the states that were checked.
    pub fn states_digest(&self) -> Digest {
        Digest(self.digest.0)
    }

    fn summed(&self) -> u64 {
        let counts = [self.states, self.transitions, self.cycles];
        Digest(self.digest.0).with(counts).0
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the checkpoint in `path`, which must be of the same exploration as this one; if there is no such file, this one.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is of another exploration.
    pub fn resumed(self, path: &Path) -> Result<Self, InputError> {
        let file = path.to_string_lossy();
        let bad = |field: &str, why: &str| Err(InputError::new(&*file, 0, field, why));
        if !path.exists() {
            super::streams::writable("--checkpoint", path)?;
            return Ok(self);
        }
        let (text, _) = super::streams::read_text(path)?;
        /// The field that names the format of a file; all others are ignored.
        #[derive(Deserialize)]
        struct Tag {
            reconverge_checkpoint: Option<u64>,
        }
        let kind: Tag =
            serde_json::from_str(&text).map_err(|e| InputError::json(&file, "json", &text, &e))?;
        let format = ("reconverge_checkpoint", FORMAT);
        let again = "delete it, and the exploration begins anew";
        check_format(
            kind.reconverge_checkpoint,
            format,
            "a checkpoint",
            again,
            &file,
        )?;
        let there: Checkpoint = serde_json::from_str(&text)
            .map_err(|e| InputError::json(&file, "checkpoint", &text, &e))?;
        let of_another = "is of another exploration; name another file, or delete this one";
        for (field, same) in [
            ("unit", there.unit == self.unit),
            ("lanes", there.lanes == self.lanes),
            ("parameters", there.parameters == self.parameters),
            ("bounds", there.bounds == self.bounds),
            ("rtl", there.rtl == self.rtl),
            ("sources", there.sources == self.sources),
        ] {
            if !same {
                return bad(field, of_another);
            }
        }
        match there.sum.0 == there.summed() {
            true => Ok(there),
            false => Err(there.damaged(Some(path))),
        }
    }

    /// Returns the error for contradictory contents of `path`.
    pub fn damaged(&self, path: Option<&Path>) -> InputError {
        let file = path.unwrap_or(Path::new("")).to_string_lossy();
        let why = "the checkpoint is damaged: delete it, and the exploration begins anew";
        InputError::new(file, 0, "sum", why)
    }
}
