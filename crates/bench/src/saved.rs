//! Saved cases: files of JSON, each with a case that replays bit for bit and the place where it failed.

use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::design::Design;
use crate::input::InputError;
use crate::json;
use crate::place::Place;

/// How the cases of one kind are saved.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// The fields of the file: version of the format, name of the design, failure, case. The last is also what messages call it.
    fields: [&'static str; 4],
    /// The version that this crate writes and reads.
    pub version: u32,
}

/// The form of a program with its environment.
pub static PROGRAM: Form = Form {
    fields: ["reconverge", "unit", "failure", "case"],
    version: 5,
};

/// The form of a stream of pins.
pub static STREAM: Form = Form {
    fields: ["reconverge_stream", "design", "failure", "stream"],
    version: 2,
};

impl Form {
    /// Returns the field with the case, which is also what messages call a case of this kind.
    pub fn case(&self) -> &'static str {
        self.fields[3]
    }

    /// Checks the version of a file.
    fn check(&self, version: Option<u64>, file: &str) -> Result<(), InputError> {
        let [format, _, _, case] = self.fields;
        let what = format!("a saved {case}");
        let again = format!("run what failed again, which saves the {case} anew");
        json::check_format(version, (format, self.version), &what, &again, file)
    }

    /// Returns the error of a file that does not name its design.
    fn no_design(&self, file: &str) -> InputError {
        let [_, owner, _, case] = self.fields;
        let why = format!("missing: which {owner} the {case} is for");
        InputError::new(file, 0, owner, why)
    }
}

/// The fields that identify a file; all others are ignored.
#[derive(Deserialize)]
struct Tag {
    reconverge: Option<u64>,
    unit: Option<String>,
    reconverge_stream: Option<u64>,
    design: Option<String>,
}

impl Tag {
    fn read(text: &str, file: &str) -> Result<Self, InputError> {
        if !text.trim_start().starts_with('{') {
            let why = "must be a saved case, which is JSON; a program is run, not replayed";
            return Err(InputError::new(file, 0, "file", why));
        }
        serde_json::from_str(text).map_err(|e| InputError::json(file, "json", text, &e))
    }

    /// Returns the form of the file, if it has a version.
    fn form(&self) -> Option<&'static Form> {
        match (self.reconverge, self.reconverge_stream) {
            (Some(_), _) => Some(&PROGRAM),
            (None, Some(_)) => Some(&STREAM),
            (None, None) => None,
        }
    }

    /// Returns version and design, if the file has this form.
    fn of(self, form: &Form) -> (Option<u64>, Option<String>) {
        match *form == STREAM {
            true => (self.reconverge_stream, self.design),
            false => (self.reconverge, self.unit),
        }
    }
}

/// Returns the form of a saved case, of any version, and the name of its design.
///
/// # Errors
/// The text is not a saved case, or names no design.
pub fn identify(text: &str, file: &str) -> Result<(&'static Form, String), InputError> {
    let tag = Tag::read(text, file)?;
    let form = tag.form().unwrap_or(&PROGRAM);
    match tag.of(form) {
        (Some(_), Some(design)) => Ok((form, design)),
        (version, _) => Err(match form.check(version, file) {
            Ok(()) => form.no_design(file),
            Err(why) => why,
        }),
    }
}

/// A case that can be saved.
pub trait Savable: Clone + Serialize + DeserializeOwned {
    /// The design that the case is for.
    type Design: Design;
    /// How it is saved.
    const FORM: &'static Form;
    /// Checks the values that a file can get wrong.
    ///
    /// # Errors
    /// A value is out of range.
    fn check_input(&self, file: &str) -> Result<(), InputError>;
}

/// Selects who judges a case. A stream of pins has no judge but the lock-step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judges {
    /// RTL against golden model only. Mutation needs no more: the scalar judge looks at the golden model's run, which is the
    /// same for every mutant.
    LockStep,
    /// The scalar judge too, and some program must have been launched. The scalar judge cannot judge a program that is not structured,
    /// which is not a failure.
    All,
    /// As [`Judges::All`], for a case that was saved because it failed in the lock-step. A run that has compared the cycle in which it failed
    /// need not launch a program.
    Again(u64),
    /// The scalar judge too, for a program whose generator guarantees that it is structured. If the scalar judge cannot tell,
    /// the case fails: generator or judge is wrong.
    Structured,
}

/// A saved case: the content of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved<C> {
    /// Where the case failed when it was saved.
    pub failure: Option<Place>,
    /// The case.
    pub case: C,
}

impl<C: Savable> Saved<C> {
    /// Reads a saved case; `file` is its name in messages.
    ///
    /// # Errors
    /// The text is not JSON, is of another kind, version or design, has an unknown or missing field, or a value is out of range.
    pub fn parse(text: &str, file: &str) -> Result<Self, InputError> {
        let [_, owner, _, case] = C::FORM.fields;
        let tag = Tag::read(text, file)?;
        if let Some(other) = tag.form().filter(|form| *form != C::FORM) {
            let why = format!("a saved {}, where a saved {case} must be", other.fields[3]);
            return Err(InputError::new(file, 0, other.fields[0], why));
        }
        let (version, design) = tag.of(C::FORM);
        C::FORM.check(version, file)?;
        let design = design.ok_or_else(|| C::FORM.no_design(file))?;
        if design != C::Design::NAME {
            let why = format!("the {case} is for {design:?}, not for {}", C::Design::NAME);
            return Err(InputError::new(file, 0, owner, why));
        }
        let saved: Self =
            serde_json::from_str(text).map_err(|e| InputError::json(file, case, text, &e))?;
        saved.case.check_input(file)?;
        Ok(saved)
    }

    /// Returns the judges of its next run. A failure of the scalar judge that cannot tell is one of a program that must be structured.
    pub fn judges(&self) -> Judges {
        match &self.failure {
            Some(Place::ScalarJudge { .. }) => Judges::Structured,
            Some(Place::NotRun { .. }) | None => Judges::All,
            Some(place) => Judges::Again(place.cycle().unwrap_or(0)),
        }
    }

    /// Returns the saved case as text.
    pub fn to_text(&self) -> String {
        // Plain data with string keys: serialisation cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

impl<C: Savable> Serialize for Saved<C> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let [format, owner, failure, case] = C::FORM.fields;
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry(format, &C::FORM.version)?;
        map.serialize_entry(owner, C::Design::NAME)?;
        map.serialize_entry(failure, &self.failure)?;
        map.serialize_entry(case, &self.case)?;
        map.end()
    }
}

impl<'de, C: Savable> Deserialize<'de> for Saved<C> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields<C>(PhantomData<C>);

        impl<'de, C: Savable> Visitor<'de> for Fields<C> {
            type Value = Saved<C>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "a saved {}", C::FORM.fields[3])
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Saved<C>, A::Error> {
                let fields = &C::FORM.fields;
                let (mut seen, mut failure, mut case) = ([false; 4], None, None);
                while let Some(name) = map.next_key::<String>()? {
                    let number = fields.iter().position(|field| *field == name);
                    let number = number.ok_or_else(|| Error::unknown_field(&name, fields))?;
                    if std::mem::replace(&mut seen[number], true) {
                        return Err(Error::duplicate_field(fields[number]));
                    }
                    match number {
                        2 => failure = map.next_value()?,
                        3 => case = Some(map.next_value()?),
                        // Version and design are checked before.
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                let missing = (seen.iter().zip(fields)).find(|(seen, _)| !**seen);
                match (case, missing) {
                    (Some(case), None) => Ok(Saved { failure, case }),
                    (_, missing) => Err(Error::missing_field(
                        missing.map_or(fields[3], |(_, field)| field),
                    )),
                }
            }
        }

        from.deserialize_map(Fields(PhantomData))
    }
}
