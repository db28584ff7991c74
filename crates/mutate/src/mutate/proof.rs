//! Checks a proof that clauses cannot be satisfied, so that a SAT solver need not be trusted.
//!
//! The proof consists of the clauses that the solver learned, in order. A clause is accepted if, with all its literals false, unit
//! propagation alone finds a contradiction (reverse unit propagation; Goldberg and Novikov, "Verification of Proofs of Unsatisfiability
//! for CNF Formulas", 2003). The proof ends when the clauses contradict each other. The file is in the binary DRAT format (Wetzler, Heule
//! and Hunt, "DRAT-trim", 2014). A clause that needs more than propagation (RAT) is refused: CaDiCaL, without options, adds none.
//!
//! The contradiction does not need most of the clauses that a solver learns. So the checker goes through the steps twice: forward to the
//! contradiction, without checks, and backward from there. On the way back it checks a clause if the contradiction, or a clause checked
//! before, needs it. For each literal, propagation visits needed clauses first, so that few others become needed. To propagate all
//! literals through needed clauses before any other clause takes seven times as long where the contradiction is near.
//!
//! The checker shares no code with the rest: it reads the clauses from the file that the solver read, not from the graph.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashMap;

/// Why a proof is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The clauses are not in DIMACS format.
    #[error("clauses, line {0}: not in the DIMACS format")]
    Clauses(usize),
    /// The proof is not in binary DRAT format.
    #[error("proof, byte {0}: not in the binary DRAT format")]
    Format(usize),
    /// A needed step does not follow from the clauses before it.
    #[error("proof, step {0}: the clause does not follow by unit propagation")]
    Step(usize),
    /// The steps lead to no contradiction.
    #[error("proof: it ends after {0} steps without a contradiction")]
    Open(usize),
    /// It has more literals than 32 bits can number.
    #[error("proof: it is too large")]
    Large,
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// A literal: twice the number of its variable, plus 1 if it is negated.
type Literal = u32;

/// The greatest number of a variable.
const MAX_VARIABLES: u32 = 1 << 28;

/// Index of the beginning of a clause in the arena.
type ClauseIndex = u32;

/// The reason of an assumed literal.
const ASSUMED: ClauseIndex = ClauseIndex::MAX;

/// Checks that `proof` shows that the clauses of `dimacs` cannot be satisfied. Returns how many clauses of the proof are needed;
/// these were checked.
///
/// # Errors
/// The proof does not show it; one of the two is not in its format; `stop` is set.
pub fn check(dimacs: &str, proof: &[u8], stop: &AtomicBool) -> Result<usize, Refused> {
    let mut checker = Checker::new();
    for (number, line) in dimacs.lines().enumerate() {
        if line.starts_with(['c', 'p']) {
            continue;
        }
        let bad = || Refused::Clauses(number + 1);
        let (mut literals, mut ended) = (Vec::new(), false);
        let mut words = line.split_ascii_whitespace();
        for word in words.by_ref() {
            match word.parse::<i32>().map_err(|_| bad())? {
                0 => {
                    ended = true;
                    break;
                }
                literal if literal.unsigned_abs() > MAX_VARIABLES => return Err(bad()),
                literal => {
                    literals.push(literal.unsigned_abs() << 1 | u32::from(literal < 0));
                }
            }
        }
        if !ended || words.next().is_some() {
            return Err(bad());
        }
        checker.room(&literals);
        checker.add(literals)?;
    }
    let steps = forward(&mut checker, proof, stop)?;
    backward(&mut checker, &steps, stop)
}

/// A step of a proof that changed the set of clauses.
enum Step {
    /// A clause was added by the step of this number, when the trail had this length.
    Added {
        place: ClauseIndex,
        number: usize,
        trail: usize,
    },
    Deleted(ClauseIndex),
}

/// Takes the steps up to the contradiction without checking them.
fn forward(checker: &mut Checker, proof: &[u8], stop: &AtomicBool) -> Result<Vec<Step>, Refused> {
    let mut reader = Reader {
        proof,
        at: 0,
        literals: checker.is_true.len() as u32,
    };
    let (mut steps, mut number) = (Vec::new(), 0);
    while checker.contradiction.is_none() {
        if number % 256 == 0 && stop.load(Ordering::Relaxed) {
            return Err(Refused::Interrupted);
        }
        let Some((added, literals)) = reader.next()? else {
            return Err(Refused::Open(number));
        };
        if !added {
            steps.extend(checker.delete(literals).map(Step::Deleted));
            continue;
        }
        number += 1;
        let trail = checker.trail.len();
        let place = checker.add(literals)?;
        steps.extend(place.map(|place| Step::Added {
            place,
            number,
            trail,
        }));
    }
    Ok(steps)
}

/// Takes the steps back from the contradiction, and checks those that it needs. Returns how many these are.
fn backward(checker: &mut Checker, steps: &[Step], stop: &AtomicBool) -> Result<usize, Refused> {
    let mut needed = 0;
    // So that a clause that is watched again has no old entries.
    checker.sweep();
    if let Some(contradiction) = checker.contradiction.take() {
        checker.need(contradiction);
    }
    for step in steps.iter().rev() {
        match *step {
            Step::Deleted(place) => checker.restore(place),
            Step::Added {
                place,
                number,
                trail,
            } => {
                checker.back_to(trail);
                if checker.remove(place) {
                    if needed % 256 == 0 && stop.load(Ordering::Relaxed) {
                        return Err(Refused::Interrupted);
                    }
                    needed += 1;
                    if !checker.follows(place) {
                        return Err(Refused::Step(number));
                    }
                }
            }
        }
    }
    Ok(needed)
}

/// Reads the steps of a proof.
struct Reader<'a> {
    proof: &'a [u8],
    at: usize,
    /// The lowest number that is not a literal of the clauses.
    literals: u32,
}

impl Reader<'_> {
    /// Returns the next step: `true` if its clause is added, `false` if it is deleted, and the clause.
    fn next(&mut self) -> Result<Option<(bool, Vec<Literal>)>, Refused> {
        let Some(kind) = self.proof.get(self.at) else {
            return Ok(None);
        };
        let added = match kind {
            b'a' => true,
            b'd' => false,
            _ => return Err(Refused::Format(self.at)),
        };
        self.at += 1;
        let mut literals = Vec::new();
        loop {
            let (begin, mut literal, mut shift) = (self.at, 0u32, 0);
            loop {
                let byte = *self.proof.get(self.at).ok_or(Refused::Format(begin))?;
                self.at += 1;
                // A literal has fewer bits than five groups of seven.
                if shift > 28 || (shift == 28 && byte > 3) {
                    return Err(Refused::Format(begin));
                }
                literal |= u32::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            match literal {
                0 => return Ok(Some((added, literals))),
                literal if literal == 1 || literal >= self.literals => {
                    return Err(Refused::Format(begin));
                }
                literal => literals.push(literal),
            }
        }
    }
}

/// The current set of clauses, and what follows from them by unit propagation.
///
/// Propagation is complete before each step. So undoing a step takes exactly the literals off the trail that the step added.
struct Checker {
    /// Clauses, each a [`Head`] and its literals. If two or more literals of a clause are not false, the first two are watched.
    arena: Vec<u32>,
    /// For each literal, the clauses to visit when it becomes false, each with another literal of the clause: the needed clauses,
    /// and the others.
    watches: [Vec<Vec<(ClauseIndex, Literal)>>; 2],
    /// The number of entries in `watches`, and how many of them are of clauses that left the set.
    watched: usize,
    dropped: usize,
    /// For each literal, whether it is true.
    is_true: Vec<bool>,
    /// Literals that are true, in the order in which they became so.
    trail: Vec<Literal>,
    /// Length of the part of the trail that has been propagated.
    propagated: usize,
    /// For each variable on the trail, the clause that it follows from.
    reason: Vec<ClauseIndex>,
    /// For each variable on the trail, whether the clauses that it follows from are marked as needed.
    reasons_needed: Vec<bool>,
    /// Clauses by a hash of their literals, to find them when they are deleted.
    places: FxHashMap<u64, Vec<ClauseIndex>>,
    /// A clause that is false.
    contradiction: Option<ClauseIndex>,
}

/// The two sets of watches.
const NEEDED: usize = 0;
const OTHERS: usize = 1;

/// The word before the literals of a clause: the number of literals, and two flags.
#[derive(Clone, Copy)]
struct Head(u32);

impl Head {
    const NEEDED: u32 = 1 << 31;
    /// The clause is not watched: it was deleted, it was removed on the way back, or fewer than two of its literals were not false.
    const AWAY: u32 = 1 << 30;

    fn is_needed(self) -> bool {
        self.0 & Head::NEEDED != 0
    }

    /// Returns the set of watches that the clause is in, if any.
    fn set(self) -> Option<usize> {
        match (self.0 & Head::AWAY != 0, self.is_needed()) {
            (true, _) => None,
            (false, true) => Some(NEEDED),
            (false, false) => Some(OTHERS),
        }
    }

    fn len(self) -> usize {
        (self.0 & !(Head::NEEDED | Head::AWAY)) as usize
    }
}

impl Checker {
    fn new() -> Self {
        Checker {
            arena: Vec::new(),
            watches: [Vec::new(), Vec::new()],
            watched: 0,
            dropped: 0,
            is_true: Vec::new(),
            trail: Vec::new(),
            propagated: 0,
            reason: Vec::new(),
            reasons_needed: Vec::new(),
            places: HashMap::default(),
            contradiction: None,
        }
    }

    /// Allocates space for the variables of `literals`.
    fn room(&mut self, literals: &[Literal]) {
        let most = literals.iter().max().map_or(0, |most| *most as usize | 1);
        if most >= self.is_true.len() {
            self.is_true.resize(most + 1, false);
            self.reason.resize(most / 2 + 1, ASSUMED);
            self.reasons_needed.resize(most / 2 + 1, false);
            for watches in &mut self.watches {
                watches.resize_with(most + 1, Vec::new);
            }
        }
    }

    fn head(&self, place: ClauseIndex) -> Head {
        Head(self.arena[place as usize])
    }

    fn literals(&self, place: ClauseIndex) -> &[Literal] {
        &self.arena[place as usize + 1..][..self.head(place).len()]
    }

    fn is_false(&self, literal: Literal) -> bool {
        self.is_true[literal as usize ^ 1]
    }

    /// Adds a clause, and what follows from it. Returns its place; `None` if the clause is true in any case or no longer needed.
    fn add(&mut self, mut literals: Vec<Literal>) -> Result<Option<ClauseIndex>, Refused> {
        literals.sort_unstable();
        literals.dedup();
        let always = literals.windows(2).any(|pair| pair[0] ^ 1 == pair[1]);
        let is_true = literals.iter().any(|is| self.is_true[*is as usize]);
        if always || is_true || self.contradiction.is_some() {
            return Ok(None);
        }
        let place = ClauseIndex::try_from(self.arena.len()).ok();
        let place = place
            .filter(|place| *place != ASSUMED)
            .ok_or(Refused::Large)?;
        let key = key(&literals);
        // Those that are not false come first: two of these are watched.
        literals.sort_by_key(|literal| self.is_false(*literal));
        let open = literals.iter().filter(|is| !self.is_false(**is)).count();
        let unwatched = if open < 2 { Head::AWAY } else { 0 };
        self.arena.push(literals.len() as u32 | unwatched);
        self.arena.extend_from_slice(&literals);
        match open {
            0 => self.contradiction = Some(place),
            // The literal stays true as long as the clause exists, so the clause need not be watched.
            1 => {
                self.assign(literals[0], place);
                self.contradiction = self.propagate();
            }
            _ => {
                self.watch(place);
                self.places.entry(key).or_default().push(place);
            }
        }
        Ok(Some(place))
    }

    /// Watches the first two literals of a clause, unless it has the flag `AWAY`.
    fn watch(&mut self, place: ClauseIndex) {
        let (Some(set), [first, second, ..]) = (self.head(place).set(), self.literals(place))
        else {
            return;
        };
        let (first, second) = (*first, *second);
        self.watches[set][first as usize].push((place, second));
        self.watches[set][second as usize].push((place, first));
        self.watched += 2;
    }

    /// Sets a flag of a clause, which removes it from its set of watches. Its entries are dropped later, when many entries are of such
    /// clauses. They must be dropped some time, because an entry whose other literal is true is kept without a look at its clause.
    fn flag(&mut self, place: ClauseIndex, flag: u32) {
        self.arena[place as usize] |= flag;
        self.dropped += 2;
        if self.dropped > self.watched / 2 {
            self.sweep();
        }
    }

    /// Drops the entries of clauses that are no longer in this set of watches.
    fn sweep(&mut self) {
        self.watched = 0;
        for (set, watches) in self.watches.iter_mut().enumerate() {
            for watches in watches {
                watches.retain(|(place, _)| Head(self.arena[*place as usize]).set() == Some(set));
                self.watched += watches.len();
            }
        }
        self.dropped = 0;
    }

    /// Deletes a clause and returns its place. The deletion of a clause that does not exist or is not watched is ignored: to keep a clause
    /// is safe, because it follows from the others.
    fn delete(&mut self, mut literals: Vec<Literal>) -> Option<ClauseIndex> {
        literals.sort_unstable();
        literals.dedup();
        let places = self.places.get(&key(&literals))?;
        let same = places.iter().position(|place| {
            let mut kept = self.literals(*place).to_vec();
            kept.sort_unstable();
            kept == literals
        })?;
        let place = self.places.get_mut(&key(&literals))?.swap_remove(same);
        self.flag(place, Head::AWAY);
        Some(place)
    }

    /// Undoes a deletion.
    fn restore(&mut self, place: ClauseIndex) {
        self.arena[place as usize] &= !Head::AWAY;
        // The trail is as it was at the deletion, and nothing moved the literals of the clause in between.
        self.watch(place);
    }

    /// Removes a clause that was added. Returns whether it is needed.
    fn remove(&mut self, place: ClauseIndex) -> bool {
        self.flag(place, Head::AWAY);
        self.head(place).is_needed()
    }

    /// Tells whether a clause follows by unit propagation from the current clauses. If so, marks the clauses that it follows from as needed.
    fn follows(&mut self, place: ClauseIndex) -> bool {
        let before = self.trail.len();
        for literal in self.literals(place).to_vec() {
            // A literal that is true would keep its reason. None is true here, because such a clause is not added.
            if !self.is_false(literal) && !self.is_true[literal as usize] {
                self.assign(literal ^ 1, ASSUMED);
            }
        }
        let conflict = self.propagate();
        if let Some(conflict) = conflict {
            self.need(conflict);
        }
        self.back_to(before);
        conflict.is_some()
    }

    /// Marks a false clause as needed, and the clauses that make it false.
    fn need(&mut self, conflict: ClauseIndex) {
        let mut clauses = vec![conflict];
        while let Some(place) = clauses.pop() {
            if !self.head(place).is_needed() {
                self.flag(place, Head::NEEDED);
                self.watch(place);
            }
            for at in 0..self.head(place).len() {
                let variable = (self.arena[place as usize + 1 + at] >> 1) as usize;
                if !std::mem::replace(&mut self.reasons_needed[variable], true)
                    && self.reason[variable] != ASSUMED
                {
                    clauses.push(self.reason[variable]);
                }
            }
        }
    }

    fn assign(&mut self, literal: Literal, reason: ClauseIndex) {
        self.is_true[literal as usize] = true;
        self.reason[(literal >> 1) as usize] = reason;
        self.trail.push(literal);
    }

    /// Undoes the assignments that were made when the trail had this length or more.
    fn back_to(&mut self, trail: usize) {
        for literal in self.trail.drain(trail..) {
            self.is_true[literal as usize] = false;
            self.reasons_needed[(literal >> 1) as usize] = false;
        }
        self.propagated = self.propagated.min(trail);
    }

    /// Assigns what follows from the literals that became true. Returns a false clause, if there is one.
    fn propagate(&mut self) -> Option<ClauseIndex> {
        while let Some(literal) = self.trail.get(self.propagated) {
            let not = literal ^ 1;
            self.propagated += 1;
            for set in [NEEDED, OTHERS] {
                let conflict = self.visit(set, not);
                if conflict.is_some() {
                    return conflict;
                }
            }
        }
        None
    }

    /// Visits the clauses of a set in which `literal`, which became false, is watched. Returns a false clause, if there is
    /// one.
    fn visit(&mut self, set: usize, literal: Literal) -> Option<ClauseIndex> {
        let mut watches = std::mem::take(&mut self.watches[set][literal as usize]);
        let (mut kept, mut at, mut conflict) = (0, 0, None);
        'clauses: while at < watches.len() {
            let (place, other) = watches[at];
            at += 1;
            if self.is_true[other as usize] {
                watches[kept] = (place, other);
                kept += 1;
                continue;
            }
            let head = self.head(place);
            if head.set() != Some(set) {
                continue;
            }
            let clause = &mut self.arena[place as usize + 1..][..head.len()];
            if clause[0] == literal {
                clause.swap(0, 1);
            }
            let first = clause[0];
            if !self.is_true[first as usize] {
                for i in 2..clause.len() {
                    if !self.is_true[clause[i] as usize ^ 1] {
                        clause.swap(1, i);
                        self.watches[set][clause[1] as usize].push((place, first));
                        continue 'clauses;
                    }
                }
            }
            watches[kept] = (place, first);
            kept += 1;
            if self.is_true[first as usize] {
                continue;
            }
            if self.is_false(first) {
                conflict = Some(place);
                break;
            }
            self.assign(first, place);
        }
        watches.copy_within(at.., kept);
        watches.truncate(kept + watches.len() - at);
        self.watches[set][literal as usize] = watches;
        conflict
    }
}

/// Returns a hash of sorted literals.
fn key(literals: &[Literal]) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    literals.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;

    /// No values of the two variables satisfy all four clauses.
    const FOUR: &str = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";

    fn steps(steps: &[(u8, &[i32])]) -> Vec<u8> {
        let mut proof = Vec::new();
        for (kind, literals) in steps {
            proof.push(*kind);
            for literal in *literals {
                let mut number = literal.unsigned_abs() << 1 | u32::from(*literal < 0);
                while number > 0x7f {
                    proof.push(number as u8 | 0x80);
                    number >>= 7;
                }
                proof.push(number as u8);
            }
            proof.push(0);
        }
        proof
    }

    fn checked(clauses: &str, proof: &[(u8, &[i32])]) -> Result<usize, Refused> {
        check(clauses, &steps(proof), &AtomicBool::new(false))
    }

    #[test]
    fn a_proof_whose_steps_follow_and_contradict_each_other_is_accepted() {
        assert_eq!(checked(FOUR, &[(b'a', &[2])]), Ok(1));
        assert_eq!(checked("p cnf 1 2\n1 0\n-1 0\n", &[]), Ok(0));
        let deleted: &[(u8, &[i32])] =
            &[(b'd', &[-2]), (b'd', &[2, 1]), (b'a', &[-2]), (b'a', &[1])];
        assert_eq!(
            checked(FOUR, deleted),
            Err(Refused::Step(2)),
            "the clause is not there any more"
        );
    }

    #[test]
    fn a_step_that_does_not_follow_is_refused() {
        let three = "p cnf 2 3\n1 2 0\n-1 2 0\n1 -2 0\n";
        assert_eq!(checked(three, &[(b'a', &[-1])]), Err(Refused::Step(1)));
        assert_eq!(checked(three, &[(b'a', &[])]), Err(Refused::Step(1)));
        assert_eq!(
            checked(three, &[(b'a', &[2]), (b'a', &[1])]),
            Err(Refused::Open(2))
        );
        // Clause 3 makes nothing false, but it does not follow (RAT), and the next step needs it.
        let free = "p cnf 3 5\n1 2 3 0\n1 2 -3 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";
        let steps: &[(u8, &[i32])] = &[(b'a', &[3]), (b'a', &[2])];
        assert_eq!(checked(free, steps), Err(Refused::Step(1)));
    }

    #[test]
    fn a_step_that_is_not_needed_is_not_checked() {
        let five = "p cnf 4 5\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n3 4 0\n";
        let steps: &[(u8, &[i32])] = &[(b'a', &[-3]), (b'a', &[2])];
        assert_eq!(checked(five, steps), Ok(1));
    }

    /// Tells whether `clause` follows from `clauses` by unit propagation, in the simplest way.
    fn simply_follows(clauses: &[Vec<i32>], clause: &[i32]) -> bool {
        let mut is_true: Vec<i32> = clause.iter().map(|literal| -literal).collect();
        loop {
            let before = is_true.len();
            for clause in clauses {
                if clause.iter().any(|literal| is_true.contains(literal)) {
                    continue;
                }
                let mut open = clause.iter().filter(|is| !is_true.contains(&-**is));
                match (open.next(), open.next()) {
                    (None, _) => return true,
                    (Some(only), None) => is_true.push(*only),
                    _ => {}
                }
            }
            if is_true.len() == before {
                return false;
            }
        }
    }

    #[test]
    fn what_the_simplest_check_accepts_is_accepted_and_nothing_that_can_be_satisfied() {
        let mut rng = rand_pcg::Pcg32::seed_from_u64(7);
        let (mut simple, mut accepted, mut refused) = (0, 0, 0);
        for _ in 0..20_000 {
            let mut clause = |most| {
                let len = rng.random_range(1..=most);
                let literals =
                    (0..len).map(|_| rng.random_range(1..=5) * [-1, 1][rng.random_range(0..2)]);
                literals.collect::<Vec<i32>>()
            };
            let mut clauses: Vec<Vec<i32>> =
                (0..28).map(|_| clause(4)).filter(|c| c.len() > 1).collect();
            clauses.extend(
                (0..3)
                    .map(|_| clause(6))
                    .filter(|c| c.len() == 1 || c.len() > 4),
            );
            let learned: Vec<Vec<i32>> = (0..30).map(|_| clause(2)).collect();
            let begin = clauses.clone();
            let mut proof = Vec::new();
            let honest = rng.random_bool(0.7);
            let mut wrong = false;
            for clause in learned {
                let follows = simply_follows(&clauses, &clause);
                if follows || !honest {
                    wrong |= !follows;
                    proof.push((b'a', clause.clone()));
                    clauses.push(clause);
                }
                if !clauses.is_empty() && rng.random_bool(0.2) {
                    let which = rng.random_range(0..clauses.len());
                    let mut gone = clauses.swap_remove(which);
                    gone.reverse();
                    proof.push((b'd', gone));
                }
            }
            let text: String = begin
                .iter()
                .map(|clause| clause.iter().map(|l| format!("{l} ")).collect::<String>() + "0\n")
                .collect();
            let steps: Vec<(u8, &[i32])> = proof.iter().map(|(k, c)| (*k, &c[..])).collect();
            let said = checked(&format!("{text}5 -5 0\n"), &steps);
            let simply = !wrong && simply_follows(&clauses, &[]);
            let possible = (0..32).any(|values| {
                let is = |literal: &i32| (values >> (literal.abs() - 1) & 1 == 1) == (*literal > 0);
                begin.iter().all(|clause| clause.iter().any(is))
            });
            assert!(!simply || said.is_ok(), "{text}{proof:?}: {said:?}");
            assert!(said.is_err() || !possible, "{text}{proof:?}: {said:?}");
            simple += usize::from(simply);
            accepted += usize::from(said.is_ok());
            refused += usize::from(matches!(said, Err(Refused::Step(_))));
        }
        assert!(
            simple > 1000 && accepted > simple && refused > 1000,
            "{simple} {accepted} {refused}"
        );
    }

    #[test]
    fn what_is_in_another_format_is_refused_with_its_place() {
        let stop = AtomicBool::new(false);
        for (clauses, line) in [
            ("1 2\n", 1),
            ("1 10\n", 1),
            ("1 0\nx 0\n", 2),
            ("1 0 2 0\n", 1),
            ("999999999 0\n", 1),
            ("-2147483648 0\n", 1),
        ] {
            assert_eq!(
                check(clauses, &[], &stop),
                Err(Refused::Clauses(line)),
                "{clauses}"
            );
        }
        for (proof, byte) in [
            (&b"x"[..], 0),
            (b"a\x02", 2),
            (b"a\x01\x00", 1),
            (b"a\x80\x80\x80\x80\x7f\x00", 1),
            (b"a\x06\x00", 1),
        ] {
            assert_eq!(
                check(FOUR, proof, &stop),
                Err(Refused::Format(byte)),
                "{proof:?}"
            );
        }
    }

    #[test]
    fn a_check_can_be_interrupted() {
        let said = check(FOUR, &steps(&[(b'a', &[2])]), &AtomicBool::new(true));
        assert_eq!(said, Err(Refused::Interrupted));
    }
}
