//! Structured programs with one random change, and stacks filled to the limit.

use rand::Rng;

use super::raw::{Mix, astray, error_word, raw_word};
use super::{DEPTH, Options, add_noise, other, program, structured};
use crate::spa5::isa::{
    BlockOp, Branch, Code, Cond, Label, Leave, LeaveOp, Pred, SetUpOp, Test, Word,
};
use crate::spa5::program::{BUNDLE, Program};
use reconverge_program::generate::{chance, choose, pick, when};

/// Returns a structured program of any kind with one change, or a stack filled to the limit and, mostly,
/// one token beyond.
///
/// The result may still be structured (if the change has no effect, or the form becomes a neighbouring
/// one), may run for ever, or may end in any error. Faults of a launch (few or no threads) are not part of the
/// program. `brx` is for a unit that has BRX and JMX.
pub fn near_legal<R: Rng + ?Sized>(rng: &mut R, brx: bool) -> Program {
    let mut program = if chance(rng, 4) {
        brimful(rng)
    } else {
        let options = Options {
            length: 400,
            brx,
            ..Options::random(rng)
        };
        let mut program = structured(rng, &options);
        break_one(rng, &mut program);
        program
    };
    program.name = "near_legal".to_owned();
    program
}

/// A broken rule.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A set-up instruction becomes a black box: SYNC_NO_SSY, BRK_NO_PBK, CONT_NO_PCNT, RET_NO_CALL, or
    /// a leaving instruction finds an outer token.
    NoSetUp,
    /// A set-up instruction becomes another: its threads leave for a token of the wrong type (1 to 4), and
    /// SYNC meets PBK, PCNT or RET (spa5-O7).
    OtherSetUp,
    /// Two set-up instructions swapped: tokens in the wrong order.
    SetUpOrder,
    /// One more set-up instruction: a token too many, SYNC across it (1), or one more in each pass (5).
    MoreSetUp,
    /// Any instruction becomes SYNC, BRK, CONT or RET: without its token (1 to 4) if a thread leaves
    /// by it, otherwise too early.
    Leave,
    /// A leaving instruction becomes another (1 to 4).
    OtherLeave,
    /// A leaving instruction becomes a black box: SYNC is missing, threads run on with their tokens, or past
    /// the end (PC_RANGE).
    NoLeave,
    /// A program size that is too small: PC_RANGE, TARGET_RANGE.
    ProgSize,
    /// A target around the ends of the program or between words: TARGET_RANGE, TARGET_MISALIGNED, for BRA
    /// only if a thread branches.
    Astray,
    /// A target off by a few words, or any target: into another nesting.
    Target,
    /// An opcode that is ILLEGAL or UNSUPPORTED, a constant bank where there is none, a CC test that is UNSUPPORTED.
    Error,
    /// Each opcode of the block, with all other bits unchanged.
    Opcode,
    /// A CC test from 0x18 on: without CSM, UNSUPPORTED whatever the predicate.
    Test,
    /// BRA.U where threads disagree: what a thread does depends on the others (spa5-O12).
    Unanimous,
    /// Predicate and CC test of any instruction: other threads, always, never. Loops may not end.
    Cond,
    /// Another entry: in the middle of a construct, or at the end (PC_RANGE).
    Entry,
    /// A control word, which the unit does not read: still structured.
    Control,
    /// Any bit of a word.
    Bit,
    /// Two words swapped.
    Swap,
    /// A word copied over another.
    Copy,
    /// A random word.
    Word,
}

/// Every fault with its weight.
const FAULTS: &[(Fault, u32)] = &[
    (Fault::NoSetUp, 5),
    (Fault::OtherSetUp, 4),
    (Fault::SetUpOrder, 2),
    (Fault::MoreSetUp, 2),
    (Fault::Leave, 5),
    (Fault::OtherLeave, 5),
    (Fault::NoLeave, 4),
    (Fault::ProgSize, 3),
    (Fault::Astray, 5),
    (Fault::Target, 4),
    (Fault::Error, 4),
    (Fault::Opcode, 3),
    (Fault::Test, 2),
    (Fault::Unanimous, 3),
    (Fault::Cond, 3),
    (Fault::Entry, 2),
    (Fault::Control, 1),
    (Fault::Bit, 4),
    (Fault::Swap, 2),
    (Fault::Copy, 2),
    (Fault::Word, 1),
];

fn break_one<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    // Not every program has what a fault needs.
    for _ in 0..8 {
        let fault = choose(rng, FAULTS);
        if apply(rng, program, fault).is_some() {
            return;
        }
    }
}

/// Returns the number of a random instruction word for which `wanted` holds.
fn find<R: Rng + ?Sized>(
    rng: &mut R,
    program: &Program,
    wanted: impl Fn(Word) -> bool,
) -> Option<usize> {
    let all: Vec<usize> = (0..program.words.len())
        .filter(|&n| n % 4 != 0 && wanted(Word::decode(program.words[n])))
        .collect();
    (!all.is_empty()).then(|| pick(rng, &all))
}

fn is_set_up(word: Word) -> bool {
    matches!(word, Word::SetUp(_))
}

fn is_leave(word: Word) -> bool {
    matches!(word, Word::Leave(_))
}

/// Returns the condition of a word that has one.
fn cond_mut(word: &mut Word) -> Option<&mut Cond> {
    match word {
        Word::Branch(Branch { cond, .. }) | Word::Leave(Leave { cond, .. }) => Some(cond),
        Word::Indirect(indirect) => Some(&mut indirect.cond),
        _ => None,
    }
}

/// Returns a condition that is mostly not the same for all threads.
fn any_cond<R: Rng + ?Sized>(rng: &mut R) -> Cond {
    let number = rng.random_range(0..8);
    let not = rng.random();
    let pred = Pred { number, not };
    let test = match chance(rng, 5) {
        true => Test::from_code(rng.random_range(0..24)),
        false => Test::T,
    };
    Cond { pred, test }
}

/// Applies `fault`. Returns `None` if the program has nothing to which it applies.
fn apply<R: Rng + ?Sized>(rng: &mut R, program: &mut Program, fault: Fault) -> Option<()> {
    let words = program.words.len();
    let any = find(rng, program, |_| true)?;
    let (n, word) = match fault {
        Fault::NoSetUp => (find(rng, program, is_set_up)?, Word::Other(other(rng))),
        Fault::NoLeave => (find(rng, program, is_leave)?, Word::Other(other(rng))),
        Fault::OtherSetUp => {
            let n = find(rng, program, is_set_up)?;
            let Word::SetUp(set_up) = Word::decode(program.words[n]) else {
                return None;
            };
            let op = pick(rng, SetUpOp::ALL);
            let other = Word::set_up(op).with_noinc(set_up.noinc);
            let to = set_up.target.address(8 * n as u32);
            let aimed = to.and_then(|to| other.aimed(8 * n as u32, to));
            // With an offset in a constant bank, it then leads elsewhere.
            (n, aimed.unwrap_or(other))
        }
        Fault::SetUpOrder => {
            let n = find(rng, program, is_set_up)?;
            // Swap with the next one, each with its own target.
            let next = (n + 1..words)
                .find(|&m| m % 4 != 0 && is_set_up(Word::decode(program.words[m])))?;
            let [a, b] = [n, next].map(|m| Word::decode(program.words[m]));
            let [to_a, to_b] = [(a, n), (b, next)]
                .map(|(word, m)| word.target().and_then(|t| t.address(8 * m as u32)));
            program.words[n] = b.aimed(8 * n as u32, to_b?)?.encode();
            (next, a.aimed(8 * next as u32, to_a?)?)
        }
        Fault::MoreSetUp => {
            let n = find(rng, program, |w| matches!(w, Word::Other(_)))?;
            let to = 8 * rng.random_range(0..words) as i64;
            let word = Word::set_up(pick(rng, SetUpOp::ALL));
            (n, word.aimed(8 * n as u32, to)?)
        }
        Fault::Leave => {
            let op = pick(rng, LeaveOp::ALL);
            let cond = match rng.random() {
                true => Cond::ALWAYS,
                false => any_cond(rng),
            };
            (any, Word::leave(op, cond))
        }
        Fault::OtherLeave => {
            let n = find(rng, program, is_leave)?;
            let Word::Leave(leave) = Word::decode(program.words[n]) else {
                return None;
            };
            let op = pick(rng, LeaveOp::ALL);
            (n, Word::Leave(Leave { op, ..leave }))
        }
        Fault::ProgSize => {
            let size = words as u32 * 8;
            program.prog_size = match rng.random_range(0..8) {
                0..4 => size - BUNDLE,
                4 => 0,
                _ => rng.random_range(0..size / BUNDLE) * BUNDLE,
            };
            return Some(());
        }
        Fault::Astray | Fault::Target => {
            let n = find(rng, program, |w| w.target().is_some())?;
            let word = Word::decode(program.words[n]);
            let (pc, old) = (8 * n as u32, word.target()?);
            match fault {
                Fault::Astray => (n, astray(rng, word, pc, program.prog_size)),
                _ => {
                    let to = match rng.random_range(0..4) {
                        0 => 8 * rng.random_range(0..words) as i64,
                        1 => pc.into(),
                        _ => old.address(pc)? + 8 * rng.random_range(-3..4),
                    };
                    (n, word.aimed(pc, to)?)
                }
            }
        }
        Fault::Error => {
            program.words[any] = error_word(rng);
            return Some(());
        }
        Fault::Opcode => {
            let word = &mut program.words[any];
            let op = match rng.random_range(0..4) {
                0 => rng.random_range(0xE20..0xE40),
                1 => rng.random_range(0xE3B..0xE40),
                _ => pick(rng, BlockOp::ALL).bits().into(),
            };
            *word = *word << 12 >> 12 | op << 52;
            return Some(());
        }
        Fault::Test | Fault::Cond => {
            let n = find(rng, program, |mut w| cond_mut(&mut w).is_some())?;
            let mut word = Word::decode(program.words[n]);
            let cond = cond_mut(&mut word)?;
            match fault {
                Fault::Test => cond.test = Test::from_code(rng.random_range(0x18..32)),
                _ => *cond = any_cond(rng),
            }
            (n, word)
        }
        Fault::Unanimous => {
            let varies =
                |w| matches!(w, Word::Branch(b) if !b.unanimous && b.cond.pred.number != 7);
            let n = find(rng, program, varies)?;
            program.words[n] |= 1 << 7;
            return Some(());
        }
        Fault::Entry => {
            program.entry = match rng.random_range(0..8) {
                0 => program.prog_size,
                1 => rng.random::<u32>() & !7,
                2 => program.entry + 8,
                _ => 8 * any as u32,
            };
            return Some(());
        }
        Fault::Control => {
            program.words[any & !3] = match rng.random() {
                true => program.words[any],
                false => error_word(rng),
            };
            return Some(());
        }
        Fault::Bit => {
            // Half of the words where it matters most.
            let n = match rng.random() {
                true => find(rng, program, |w| !matches!(w, Word::Other(_)))?,
                false => any,
            };
            program.words[n] ^= 1 << rng.random_range(0..64);
            return Some(());
        }
        Fault::Swap => {
            program.words.swap(any, rng.random_range(0..words));
            return Some(());
        }
        Fault::Copy => {
            program.words[any] = program.words[rng.random_range(0..words)];
            return Some(());
        }
        Fault::Word => {
            program.words[any] = raw_word(rng, &Mix::TAME, 8 * any as u32, program.prog_size);
            return Some(());
        }
    };
    program.words[n] = word.encode();
    Some(())
}

/// Returns a program that pushes tokens of all kinds until the stack is full, mostly one more (STACK_OVERFLOW), and pops them:
/// nested, by a recursion, or by a loop that leaves them behind.
fn brimful<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let mut code = Code::default();
    match rng.random_range(0..8) {
        0..4 => nest(rng, &mut code),
        4..6 => recurse(rng, &mut code),
        _ => leak(rng, &mut code),
    }
    // A few hundred instructions fit, and each label is bound where it is made.
    let mut program = program("near_legal", code.finish().unwrap_or_default());
    let size = program.prog_size;
    if rng.random() {
        add_noise(rng, &mut program);
        program.prog_size = size;
    }
    program
}

/// Returns the set-up instruction of the token that `op` goes to; PRET rather than CAL, which would not continue in sequence.
fn set_up_of(op: LeaveOp) -> SetUpOp {
    match op {
        LeaveOp::Sync => SetUpOp::Ssy,
        LeaveOp::Brk => SetUpOp::Pbk,
        LeaveOp::Cont => SetUpOp::Pcnt,
        LeaveOp::Ret | LeaveOp::Exit | LeaveOp::Kil => SetUpOp::Pret,
    }
}

fn push_other<R: Rng + ?Sized>(rng: &mut R, code: &mut Code) {
    code.push_raw(other(rng));
}

/// Adds nested tokens; between them, threads branch off and wait in DIV tokens.
fn nest<R: Rng + ?Sized>(rng: &mut R, code: &mut Code) {
    let over = chance(rng, 9);
    let depth = match rng.random_range(0..4) {
        0 => rng.random_range(1..DEPTH),
        _ => DEPTH,
    };
    let ops = [LeaveOp::Sync, LeaveOp::Brk, LeaveOp::Cont, LeaveOp::Ret];
    let common = pick(rng, &ops);
    let how_common = pick(rng, &[0, 0, 12, 16]);
    // How many of 16 tokens have a branch: its DIV token fills the stack earlier.
    let branches = pick(rng, &[0, 0, 1, 4]);
    push_other(rng, code);
    let mut open: Vec<(LeaveOp, Label, Option<Label>)> = vec![];
    for _ in 0..depth + u32::from(over) {
        let op = match chance(rng, how_common) {
            true => common,
            false => pick(rng, &ops),
        };
        let end = code.label();
        let full = open.len() as u32 == DEPTH;
        if full && chance(rng, 5) {
            // The target of the last one is wrong too, and that error counts (spa5-6).
            let word = Word::set_up(set_up_of(op));
            let word = astray(rng, word, code.here(), 0x1000);
            code.push(word);
        } else {
            code.push_to(Word::set_up(set_up_of(op)), end);
        }
        let around = chance(rng, branches).then(|| {
            let around = code.label();
            push_other(rng, code);
            code.push_to(Word::bra(any_cond(rng)), around);
            around
        });
        open.push((op, end, around));
    }
    // The filling code may be reached more than once.
    if chance(rng, 4) && !over {
        push_other(rng, code);
    }
    for (op, end, around) in open.into_iter().rev() {
        if let Some(around) = around {
            code.bind(around);
        }
        if chance(rng, 2) {
            code.push(Word::leave(op, any_cond(rng)));
        }
        code.push(Word::leave(op, Cond::ALWAYS));
        code.bind(end);
    }
    code.push(Word::leave(LeaveOp::Exit, Cond::ALWAYS));
}

/// Adds a subroutine that calls itself, until the stack is full or a condition is true.
fn recurse<R: Rng + ?Sized>(rng: &mut R, code: &mut Code) {
    let (f, out) = (code.label(), code.label());
    let guarded = chance(rng, 10);
    let first = chance(rng, 8);
    let token = pick(
        rng,
        &[
            None,
            None,
            Some(LeaveOp::Sync),
            Some(LeaveOp::Brk),
            Some(LeaveOp::Cont),
        ],
    );
    let by_pret = chance(rng, 4);
    let call = |code: &mut Code, to: Label| {
        if by_pret {
            let back = code.label();
            code.push_to(Word::set_up(SetUpOp::Pret), back);
            code.push_to(Word::bra(Cond::ALWAYS), to);
            code.bind(back);
        } else {
            code.push_to(Word::set_up(SetUpOp::Cal), to);
        }
    };
    if first {
        code.push_to(Word::set_up(SetUpOp::Ssy), out);
    }
    call(code, f);
    let (leave, end) = match first {
        true => (LeaveOp::Sync, LeaveOp::Exit),
        false => (LeaveOp::Exit, LeaveOp::Exit),
    };
    code.push(Word::leave(leave, Cond::ALWAYS));
    code.bind(out);
    code.push(Word::leave(end, Cond::ALWAYS));
    code.bind(f);
    push_other(rng, code);
    if guarded {
        code.push(Word::leave(LeaveOp::Ret, any_cond(rng)));
    }
    let join = code.label();
    if let Some(op) = token {
        code.push_to(Word::set_up(set_up_of(op)), join);
    }
    call(code, f);
    if chance(rng, 4) {
        call(code, f);
    }
    if let Some(op) = token {
        code.push(Word::leave(op, Cond::ALWAYS));
    }
    code.bind(join);
    code.push(Word::leave(LeaveOp::Ret, Cond::ALWAYS));
}

/// Adds a loop that jumps back with one more token each time, or leaves threads behind in DIV tokens.
fn leak<R: Rng + ?Sized>(rng: &mut R, code: &mut Code) {
    let (head, end) = (code.label(), code.label());
    let set_ups = rng.random_range(0..4);
    code.bind(head);
    push_other(rng, code);
    let mut ops = vec![];
    for _ in 0..set_ups {
        let op = pick(
            rng,
            &[LeaveOp::Sync, LeaveOp::Brk, LeaveOp::Cont, LeaveOp::Ret],
        );
        code.push_to(Word::set_up(set_up_of(op)), end);
        ops.push(op);
    }
    let weights = [(Cond::ALWAYS, when(set_ups > 0, 4)), (any_cond(rng), 8)];
    let cond = choose(rng, &weights);
    code.push_to(Word::bra(cond), head);
    // More often than not, leave by the existing tokens.
    for op in ops.into_iter().rev() {
        code.push(Word::leave(op, Cond::ALWAYS));
    }
    code.bind(end);
    push_other(rng, code);
    let op = pick(
        rng,
        &[
            LeaveOp::Sync,
            LeaveOp::Brk,
            LeaveOp::Cont,
            LeaveOp::Ret,
            LeaveOp::Exit,
        ],
    );
    code.push(Word::leave(op, any_cond(rng)));
    code.push(Word::leave(LeaveOp::Exit, Cond::ALWAYS));
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, rng};
    use super::*;
    use crate::spa5::scalar::{End, Scalar};

    /// Both outcomes must occur: a change that never mattered would test nothing, and one that
    /// always broke everything at once would be no better than `raw`.
    #[test]
    fn near_legal_programs_are_near_legal() {
        let mut errors = [0; 11];
        let (mut done, mut endless) = (0, 0);
        for seed in 1..=800 {
            let p = near_legal(&mut rng(seed), false);
            let scalar = Scalar::new(&p, DEPTH as usize, false);
            // Few threads, where a warp has many: some faults are at places that none of them reaches.
            let ends = [2, 8, 14].map(|p16| scalar.run(3000, draws(seed, p16)).end);
            match ends.iter().find(|end| **end != End::Done) {
                None => done += 1,
                Some(End::Error(code)) => errors[usize::from(*code)] += 1,
                Some(_) => endless += 1,
            }
        }
        assert!(
            (200..700).contains(&done) && endless > 3,
            "{done} done, {endless} endless"
        );
        assert!(errors[1..].iter().all(|n| *n > 2), "{errors:?}");
    }

    /// Each fault applies to most programs, and changes something there.
    #[test]
    fn every_fault_can_be_done() {
        for (fault, _) in FAULTS {
            let mut done = 0;
            for seed in 1..=60 {
                let mut rng = rng(seed);
                let before = structured(&mut rng, &Options::ALL);
                let mut after = before.clone();
                if apply(&mut rng, &mut after, *fault).is_some() {
                    done += u32::from(after != before);
                }
            }
            assert!(done >= 25, "{fault:?} in {done} of 60 programs");
        }
    }

    /// Stacks are filled to their last token and overfilled, with every type of token on top; an overflow
    /// and a wrong target occur together.
    #[test]
    fn the_brim_is_reached_and_passed() {
        let (mut fit, mut over, mut both) = (0, 0, 0);
        let mut tops = std::collections::BTreeSet::new();
        for seed in 1..=600 {
            let p = brimful(&mut rng(seed));
            let scalar = Scalar::new(&p, DEPTH as usize, false);
            let draw = draws(seed, 8);
            let mut thread = scalar.launch();
            let (mut full, mut error) = (false, 0);
            while !thread.exited && thread.executed < 2000 {
                match scalar.next(&thread, &draw) {
                    Ok(deed) => scalar.execute(&mut thread, deed),
                    Err(code) => {
                        error = code;
                        break;
                    }
                }
                if thread.tokens.len() == DEPTH as usize {
                    full = true;
                    tops.extend(thread.tokens.last().map(|t| format!("{:?}", t.kind)));
                }
            }
            fit += u32::from(full && error == 0);
            over += u32::from(error == 5);
            let still_full = thread.tokens.len() == DEPTH as usize;
            both += u32::from(still_full && matches!(error, 7 | 8));
        }
        assert!(fit > 20 && over > 50 && both > 5, "{fit} {over} {both}");
        assert_eq!(tops.len(), 4, "{tops:?}");
    }
}
