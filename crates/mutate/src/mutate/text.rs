//! The files of [`Family::Source`](super::Family::Source), and the text with some of its mutants as it is read for a proof.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Folder, List, Mutant, Options, Origin, SELECTOR, Texts, Trouble, choose, source};

/// Mutants that a seed chose among those of the text.
pub(crate) struct Chosen<'f> {
    from: &'f Origin,
    /// In the order of their numbers, each with the index of its file.
    places: Vec<(u32, usize, source::Candidate)>,
    candidates: usize,
    unread: Vec<String>,
}

impl<'f> Chosen<'f> {
    /// Chooses `count` of them, or all.
    ///
    /// # Errors
    /// The mutator does not read a file.
    pub fn new(from: &'f Origin, count: Option<usize>, seed: u64) -> Result<Self, Trouble> {
        let mut enums = source::Enums::new();
        for (name, text) in &from.texts {
            source::enums(name, text, &mut enums)?;
        }
        let (mut all, mut unread) = (Vec::new(), Vec::new());
        for (index, (name, text)) in from.texts.iter().enumerate() {
            let places = source::candidates(name, text, &enums)?;
            all.extend(places.candidates.into_iter().map(|place| (index, place)));
            unread.extend(places.unread);
        }
        let candidates = all.len();
        let chosen = (1..).zip(choose(all, count, seed));
        Ok(Chosen {
            from,
            places: chosen
                .map(|(number, (file, place))| (number, file, place))
                .collect(),
            candidates,
            unread,
        })
    }

    /// Returns the mutants.
    pub fn mutants(&self) -> Vec<Mutant> {
        let mutant = |(number, file, place): &(u32, usize, source::Candidate)| {
            let (name, text) = &self.from.texts[*file];
            let (file, line) = source::place_of(name, text, place.span.start);
            Mutant {
                number: *number,
                module: place.module.clone(),
                file,
                line,
                operator: place.operator.to_owned(),
                before: place.before(text),
                after: place.after.clone().unwrap_or_default(),
            }
        };
        self.places.iter().map(mutant).collect()
    }

    /// Returns the files with the mutants `numbers`.
    fn texts(&self, numbers: impl Fn(u32) -> bool) -> Texts {
        let files = self.from.texts.iter().enumerate();
        let with = |(index, (name, text)): (usize, &(String, String))| {
            let here = self.places.iter();
            let here = here.filter(|(number, file, _)| *file == index && numbers(*number));
            let here: Vec<_> = here.map(|(number, _, place)| (*number, place)).collect();
            (name.clone(), source::schema(text, &here))
        };
        files.map(with).collect()
    }

    /// Returns the files with the mutants `numbers` as they are read for a proof: wires called [`source::SELECTED_WIRE`] select the mutant.
    ///
    /// # Errors
    /// A file cannot be split into tokens.
    pub fn for_proof(&self, numbers: &[u32]) -> Result<Texts, String> {
        let texts = self.texts(|number| numbers.binary_search(&number).is_ok());
        let text = |(name, text): (String, String)| {
            let text = source::for_proof(&name, &text).map_err(|e| e.to_string())?;
            Ok((name, text))
        };
        texts.into_iter().map(text).collect()
    }
}

/// Writes the files and returns the list of mutants.
pub(super) fn make(from: &Origin, options: &Options, folder: &Folder) -> Result<List, Trouble> {
    let chosen = Chosen::new(from, options.count, options.seed)?;
    let mut files = format!("{SELECTOR}\n");
    for (name, text) in chosen.texts(|_| true) {
        folder.write(&name, &text)?;
        let _ = writeln!(files, "{name}");
    }
    folder.write(&format!("{}.f", from.unit), &files)?;
    let probes = from.declared.probes.to_toml();
    folder.write(&format!("{}_probe.toml", from.unit), &probes)?;
    let list = from.list(options, Some(chosen.candidates), chosen.mutants());
    Ok(List {
        unread: chosen.unread,
        ..list
    })
}

/// What was read with most mutants of a list, and each of the others with the reason.
type Read<T> = (T, Vec<(u32, String)>);

/// Reads RTL with the mutants `all`, in ascending order, or with as many of them as `read` takes: if it does not take a list, each half of it
/// is tried, together with what was taken before.
///
/// # Errors
/// It does not take the RTL with all mutants, and not without any either; `stop` is set.
pub(crate) fn with_most<T>(
    all: &[u32],
    stop: &AtomicBool,
    read: impl Fn(&[u32]) -> Result<T, String>,
) -> Result<Read<T>, String> {
    let why = match read(all) {
        Ok(whole) => return Ok((whole, Vec::new())),
        Err(why) => why,
    };
    let mut found = read(&[]).map_err(|_| why)?;
    let (mut taken, mut refused) = (Vec::new(), Vec::new());
    let (first, second) = all.split_at(all.len() / 2);
    let mut open = vec![second, first];
    while let Some(part) = open.pop() {
        if part.is_empty() {
            continue;
        }
        match read(&[&taken[..], part].concat()) {
            Ok(more) => {
                found = more;
                taken.extend_from_slice(part);
            }
            Err(_) if stop.load(Ordering::Relaxed) => return Err("interrupted".to_owned()),
            Err(why) => match part {
                [one] => refused.push((*one, why)),
                _ => {
                    let (first, second) = part.split_at(part.len() / 2);
                    open.extend([second, first]);
                }
            },
        }
    }
    Ok((found, refused))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Regression: one mutant that was not read took the referee from all others.
    #[test]
    fn mutants_that_are_not_read_are_left_out_alone() {
        let all: Vec<u32> = (1..=40).collect();
        for bad in [&[][..], &[7], &[1, 2, 40], &all] {
            let asked = Cell::new(0);
            let read = |numbers: &[u32]| {
                asked.set(asked.get() + 1);
                match numbers.iter().find(|number| bad.contains(number)) {
                    None => Ok(numbers.to_vec()),
                    Some(number) => Err(format!("not {number}")),
                }
            };
            let (taken, mut refused) = with_most(&all, &AtomicBool::new(false), read).unwrap();
            refused.sort();
            let named = bad.iter().map(|number| (*number, format!("not {number}")));
            assert_eq!(refused, named.collect::<Vec<_>>());
            let others = all.iter().copied().filter(|number| !bad.contains(number));
            assert_eq!(taken, others.collect::<Vec<_>>());
            assert!(asked.get() <= 3 + 12 * bad.len(), "{}", asked.get());
        }
        let never = |_: &[u32]| Err::<(), _>("no module".to_owned());
        let why = with_most(&all, &AtomicBool::new(false), never);
        assert_eq!(why.err().as_deref(), Some("no module"));
    }

    /// Regression: two mutants that were read alone but not together, such as two edges of a loop, took the referee from all.
    #[test]
    fn of_mutants_that_are_not_read_together_one_is_left_out() {
        let all: Vec<u32> = (1..=40).collect();
        let read = |numbers: &[u32]| match [7, 30].iter().all(|of| numbers.contains(of)) {
            false => Ok(numbers.to_vec()),
            true => Err("a loop".to_owned()),
        };
        let (taken, refused) = with_most(&all, &AtomicBool::new(false), read).unwrap();
        assert_eq!(refused, [(30, "a loop".to_owned())]);
        let others = all.into_iter().filter(|number| *number != 30);
        assert_eq!(taken, others.collect::<Vec<_>>());
    }
}
