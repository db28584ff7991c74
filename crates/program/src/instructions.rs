//! A program as a list of instructions. The shrinker takes some out to make a program smaller; the guided run
//! changes some to make a new program from an old one.

/// One place of a program that is laid out anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The instruction of this number.
    Old(usize),
    /// A plain instruction in its stead; what led to it leads here.
    Instead(usize),
    /// A plain instruction; what led to the instruction behind it leads here.
    New,
}

impl Piece {
    /// The number of the instruction that it is or stands for.
    pub fn original(self) -> Option<usize> {
        match self {
            Piece::Old(n) | Piece::Instead(n) => Some(n),
            Piece::New => None,
        }
    }
}

/// A program as instructions, numbered from 0. A *plain* one is what the sequencer only lets pass: ALU, NOP.
///
/// [`places`] and [`moved`] find the new targets of jumps.
pub trait Instructions: Clone {
    /// How many there are. Fillers behind the last one (spa5: NOPs of the last bundle) do not count.
    fn count(&self) -> usize;
    /// The address of instruction `number`. Without further words instruction n is at address n.
    fn address(&self, number: usize) -> u32 {
        u32::try_from(number).unwrap_or(u32::MAX)
    }
    /// The instruction at address `pc`, if there is one. Without further words instruction n is at address n.
    fn number(&self, pc: u32) -> Option<usize> {
        usize::try_from(pc).ok().filter(|n| *n < self.count())
    }
    /// Whether the instruction is plain, and nothing but that.
    fn is_plain(&self, number: usize) -> bool;
    /// The program that consists of `pieces`, whose numbers rise. Jumps, the launch address and the end lead
    /// to the instruction that they led to or, without it, to the next one that is left; what led out of the
    /// program leads as far out of the new one.
    #[must_use]
    fn laid_out(&self, pieces: &[Piece]) -> Self;
    /// Where `address`, which leads into the program, leads in [`Instructions::laid_out`] of `pieces`. Without further
    /// words instruction n is at address n.
    fn led(&self, pieces: &[Piece], address: u32) -> u32 {
        let led = usize::try_from(address).map(|old| moved(&places(pieces, self.count()), old));
        led.map_or(address, |new| u32::try_from(new).unwrap_or(u32::MAX))
    }
    /// Programs with one thing simpler: a register or constant at its default or smaller, a field of an
    /// instruction 0. A caller that repeats this on one of the results comes to an end. Without further words there are
    /// none: programs become smaller by what is taken out of them.
    fn simpler(&self) -> Vec<Self> {
        Vec::new()
    }
    /// The program with a jump from its end to its begin, for all lanes. Without further words it is as it was, and no
    /// program is made a loop.
    #[must_use]
    fn looped(&self) -> Self {
        self.clone()
    }
    /// Puts instruction `from` of `donor`, as it is, in the place of instruction `to`.
    ///
    /// # Panics
    /// There is none of that number.
    fn copy(&mut self, to: usize, donor: &Self, from: usize);
    /// Changes bit `bit` modulo the bits of an instruction.
    ///
    /// # Panics
    /// There is none of that number.
    fn flip(&mut self, number: usize, bit: u32);
    /// The program with another target of one instruction: instruction `to`, or what is behind the last one.
    /// `None`: the instruction leads nowhere; without further words all do.
    ///
    /// # Panics
    /// There is none of that number.
    fn retargeted(&self, _number: usize, _to: usize) -> Option<Self> {
        None
    }
}

/// Returns where in `pieces` each of `count` instructions, and the place behind them, is to be found: `count` + 1 numbers.
/// One that is left out is to be found where the next one is that is left.
pub fn places(pieces: &[Piece], count: usize) -> Vec<usize> {
    let mut places = vec![pieces.len(); count + 1];
    let mut begin = 0;
    let mut next = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if let Some(number) = piece.original() {
            places[next..=number].fill(begin);
            next = number + 1;
            begin = at + 1;
        }
    }
    // Behind the last one left, fillers included.
    places[next..].fill(begin);
    places[count] = pieces.len();
    places
}

/// Returns where `old`, a place in the old program, is in the new one; [`places`] made `places`. What is behind the end of
/// the old one is as far behind the end of the new one.
pub fn moved(places: &[usize], old: usize) -> usize {
    let (last, new_end) = (places.len() - 1, places[places.len() - 1]);
    places
        .get(old)
        .copied()
        .unwrap_or_else(|| new_end + (old - last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_led_to_an_instruction_leads_to_it_or_to_the_next_one_left() {
        use Piece::{Instead, New, Old};
        assert_eq!(places(&[Old(0), Old(1), Old(2)], 3), [0, 1, 2, 3]);
        assert_eq!(places(&[Old(1)], 4), [0, 0, 1, 1, 1]);
        assert_eq!(places(&[New, Old(1), New, Instead(3)], 4), [0, 0, 2, 2, 4]);
        assert_eq!(places(&[Old(0), New], 3), [0, 1, 1, 2]);
        assert_eq!(places(&[New], 2), [0, 0, 1]);
        let places = places(&[Old(1)], 4);
        assert_eq!([2, 4, 5, 9].map(|n| moved(&places, n)), [1, 1, 2, 6]);
    }
}
