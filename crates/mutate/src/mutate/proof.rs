//! Checks a proof that clauses cannot be satisfied, so that the answer of a SAT solver need not be believed.
//!
//! The proof is what the solver learned, in its order: a clause is accepted if, with all its literals false, unit propagation
//! alone finds a contradiction (reverse unit propagation; Goldberg and Novikov, "Verification of Proofs of Unsatisfiability for
//! CNF Formulas", 2003), until the clauses contradict themselves. The file is in the binary DRAT format (Wetzler, Heule and Hunt,
//! "DRAT-trim", 2014). A clause that needs more than propagation (RAT) is refused: CaDiCaL, without options, adds none.
//!
//! This is code of its own: it reads the clauses from the file that the solver read, and shares nothing with what wrote them.

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
    /// A step does not follow from what stands before it.
    #[error("proof, step {0}: the clause does not follow by unit propagation")]
    Step(usize),
    /// All steps follow, and no contradiction is reached.
    #[error("proof: it ends after {0} steps without a contradiction")]
    Open(usize),
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// A literal: twice the number of its variable, and 1 more if it is negated.
type Literal = u32;

/// The greatest number of a variable.
const MOST_VARIABLES: u32 = 1 << 28;

/// Where a clause begins in the arena.
type Place = u32;

/// Checks that `proof` shows that the clauses of `dimacs` cannot be satisfied. Returns how many of its clauses were looked at.
///
/// # Errors
/// It does not; one of the two is not in its format; `stop` is set.
pub fn check(dimacs: &str, proof: &[u8], stop: &AtomicBool) -> Result<usize, Refused> {
    let mut checker = Checker::new();
    for (number, line) in dimacs.lines().enumerate() {
        if line.starts_with(['c', 'p']) {
            continue;
        }
        let bad = || Refused::Clauses(number + 1);
        let mut literals = Vec::new();
        let mut words = line.split_ascii_whitespace();
        for word in words.by_ref() {
            match word.parse::<i32>().map_err(|_| bad())? {
                0 => break,
                literal if literal.unsigned_abs() > MOST_VARIABLES => return Err(bad()),
                literal => {
                    literals.push(literal.unsigned_abs() << 1 | u32::from(literal < 0));
                }
            }
        }
        if !line.ends_with('0') || words.next().is_some() {
            return Err(bad());
        }
        checker.add(literals);
    }
    let mut reader = Reader {
        proof,
        at: 0,
        literals: checker.is_true.len() as u32,
    };
    let mut steps = 0;
    while !checker.contradiction {
        if steps % 256 == 0 && stop.load(Ordering::Relaxed) {
            return Err(Refused::Interrupted);
        }
        let Some((added, literals)) = reader.next()? else {
            return Err(Refused::Open(steps));
        };
        if !added {
            checker.delete(literals);
            continue;
        }
        steps += 1;
        if !checker.follows(&literals) {
            return Err(Refused::Step(steps));
        }
        checker.add(literals);
    }
    Ok(steps)
}

/// Reads the steps of a proof.
struct Reader<'a> {
    proof: &'a [u8],
    at: usize,
    /// The first number that is no literal of the clauses.
    literals: u32,
}

impl Reader<'_> {
    /// The next step: whether its clause is added or deleted, and the clause.
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
                // Five sevens are more than a literal has.
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

/// The clauses that stand, and what follows from them by unit propagation.
struct Checker {
    /// Clauses: the number of literals, then these; 0 and then nothing for one that was deleted. The first two are watched.
    arena: Vec<u32>,
    /// For each literal the clauses that are looked at when it becomes false.
    watches: Vec<Vec<(Place, Literal)>>,
    /// For each literal: is it true?
    is_true: Vec<bool>,
    /// Literals that are true, in the order in which they became so.
    trail: Vec<Literal>,
    /// How much of the trail was propagated.
    propagated: usize,
    /// Clauses by a number made of their literals, to be found when they are deleted.
    places: FxHashMap<u64, Vec<Place>>,
    contradiction: bool,
}

impl Checker {
    fn new() -> Self {
        Checker {
            arena: Vec::new(),
            watches: Vec::new(),
            is_true: Vec::new(),
            trail: Vec::new(),
            propagated: 0,
            places: HashMap::default(),
            contradiction: false,
        }
    }

    /// Makes room for the variables of `literals`.
    fn room(&mut self, literals: &[Literal]) {
        let most = literals.iter().max().map_or(0, |most| *most as usize | 1);
        if most >= self.is_true.len() {
            self.is_true.resize(most + 1, false);
            self.watches.resize_with(most + 1, Vec::new);
        }
    }

    /// Adds a clause, and what follows from it.
    fn add(&mut self, mut literals: Vec<Literal>) {
        self.room(&literals);
        literals.sort_unstable();
        literals.dedup();
        if literals.windows(2).any(|pair| pair[0] ^ 1 == pair[1]) {
            // It is always true.
            return;
        }
        let key = key(&literals);
        // Those that are not false first: of these two are watched.
        literals.sort_by_key(|literal| self.is_true[*literal as usize ^ 1]);
        let open = literals
            .iter()
            .filter(|literal| !self.is_true[**literal as usize ^ 1])
            .count();
        match literals[..] {
            _ if open == 0 => self.contradiction = true,
            [first, ..] if open == 1 && !self.is_true[first as usize] => {
                // It stays true for good, so that the clause need not be kept.
                self.assign(first);
                self.contradiction |= self.propagate();
            }
            [first, second, ..] if open > 1 => {
                let place = self.arena.len() as Place;
                self.arena.push(literals.len() as u32);
                self.arena.extend_from_slice(&literals);
                self.watches[first as usize].push((place, second));
                self.watches[second as usize].push((place, first));
                self.places.entry(key).or_default().push(place);
            }
            // Satisfied for good.
            _ => {}
        }
    }

    /// Deletes a clause. One that is not there, or was not kept, is passed over: more clauses prove no more than those do from
    /// which they follow.
    fn delete(&mut self, mut literals: Vec<Literal>) {
        literals.sort_unstable();
        literals.dedup();
        let Some(places) = self.places.get_mut(&key(&literals)) else {
            return;
        };
        let arena = &mut self.arena;
        let same = places.iter().position(|place| {
            let begin = *place as usize + 1;
            let kept = &arena[begin..begin + arena[*place as usize] as usize];
            let mut kept = kept.to_vec();
            kept.sort_unstable();
            kept == literals
        });
        if let Some(same) = same {
            let place = places.swap_remove(same);
            arena[place as usize] = 0;
        }
    }

    /// Whether a clause follows by unit propagation.
    fn follows(&mut self, literals: &[Literal]) -> bool {
        self.room(literals);
        let before = self.trail.len();
        let mut follows = false;
        for literal in literals {
            if self.is_true[*literal as usize] {
                follows = true;
                break;
            }
            if !self.is_true[*literal as usize ^ 1] {
                self.assign(literal ^ 1);
            }
        }
        follows = follows || self.propagate();
        for literal in self.trail.drain(before..) {
            self.is_true[literal as usize] = false;
        }
        self.propagated = before;
        follows
    }

    fn assign(&mut self, literal: Literal) {
        self.is_true[literal as usize] = true;
        self.trail.push(literal);
    }

    /// Assigns what follows from the literals that became true. Returns whether a clause is false.
    fn propagate(&mut self) -> bool {
        while let Some(literal) = self.trail.get(self.propagated) {
            self.propagated += 1;
            if self.visit(literal ^ 1) {
                return true;
            }
        }
        false
    }

    /// Looks at the clauses in which `literal`, which became false, is watched. Returns whether one is false.
    fn visit(&mut self, literal: Literal) -> bool {
        let mut watches = std::mem::take(&mut self.watches[literal as usize]);
        let (mut kept, mut at, mut conflict) = (0, 0, false);
        'clauses: while at < watches.len() {
            let (place, other) = watches[at];
            at += 1;
            if self.is_true[other as usize] {
                watches[kept] = (place, other);
                kept += 1;
                continue;
            }
            let len = self.arena[place as usize] as usize;
            if len == 0 {
                continue;
            }
            let clause = &mut self.arena[place as usize + 1..][..len];
            if clause[0] == literal {
                clause.swap(0, 1);
            }
            let first = clause[0];
            if !self.is_true[first as usize] {
                for i in 2..len {
                    if !self.is_true[clause[i] as usize ^ 1] {
                        clause.swap(1, i);
                        self.watches[clause[1] as usize].push((place, first));
                        continue 'clauses;
                    }
                }
            }
            watches[kept] = (place, first);
            kept += 1;
            if self.is_true[first as usize] {
                continue;
            }
            if self.is_true[first as usize ^ 1] {
                conflict = true;
                break;
            }
            self.assign(first);
        }
        watches.copy_within(at.., kept);
        watches.truncate(kept + watches.len() - at);
        self.watches[literal as usize] = watches;
        conflict
    }
}

/// A number made of sorted literals.
fn key(literals: &[Literal]) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    literals.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two variables make all four clauses true.
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
        // It makes nothing false, but it does not follow (RAT).
        let free = "p cnf 3 3\n1 2 0\n-1 2 0\n3 -2 1 0\n";
        assert_eq!(checked(free, &[(b'a', &[3])]), Err(Refused::Step(1)));
    }

    #[test]
    fn what_is_in_another_format_is_refused_with_its_place() {
        let stop = AtomicBool::new(false);
        for (clauses, line) in [
            ("1 2\n", 1),
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
