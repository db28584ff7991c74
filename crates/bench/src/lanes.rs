//! Lanes on a terminal: one character per lane, in the colour of its class.

use std::ops::Range;

use crate::design::Design;

/// Escape sequence of bold letters.
pub const BOLD: &str = "\x1b[1m";
/// Escape sequence of a headline that reports a failure.
pub const RED: &str = "\x1b[1;91m";
/// Escape sequence of faint letters.
pub const DIM: &str = "\x1b[2m";
/// Escape sequence that resets the style.
pub const RESET: &str = "\x1b[0m";

/// Why a lane executes the next instruction or does not: the classes of all units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    /// Executes the next instruction.
    Active,
    /// Waits at a branch for the others: BRANCH of r500 and r700, in an SSY or DIV token of spa5.
    Branch,
    /// Has continued the loop: CONT, in a PCNT token.
    Continue,
    /// Has left the loop: BRK, in a PBK token.
    Break,
    /// Has returned: in a RET token (spa5).
    Return,
    /// Takes no part: exited, killed or never launched.
    Off,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 6] = [
        Class::Active,
        Class::Branch,
        Class::Continue,
        Class::Break,
        Class::Return,
        Class::Off,
    ];

    /// Returns the character for the class in a row of lanes.
    pub fn letter(self) -> char {
        match self {
            Class::Active => '#',
            Class::Branch => '.',
            Class::Continue => 'c',
            Class::Break => 'k',
            Class::Return => 'r',
            Class::Off => '-',
        }
    }

    /// Returns in a few words what a lane of the class does.
    pub fn meaning(self) -> &'static str {
        match self {
            Class::Active => "executes",
            Class::Branch => "waits to reconverge",
            Class::Continue => "has continued the loop",
            Class::Break => "has left the loop",
            Class::Return => "has returned",
            Class::Off => "takes no part",
        }
    }

    /// Returns red, green and blue of the class, from the palette of Okabe and Ito, which colour-blind readers can
    /// distinguish.
    pub fn rgb(self) -> [u8; 3] {
        match self {
            Class::Active => [0x00, 0x9e, 0x73],
            Class::Branch => [0xe6, 0x9f, 0x00],
            Class::Continue => [0x56, 0xb4, 0xe9],
            Class::Break => [0xd5, 0x5e, 0x00],
            Class::Return => [0xcc, 0x79, 0xa7],
            Class::Off => [0x88, 0x88, 0x88],
        }
    }
}

/// How the lanes of a design are divided into wavefronts: those of the first one come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wavefronts {
    /// Number of wavefronts.
    pub count: usize,
    /// Lanes of each.
    pub lanes: usize,
}

impl Wavefronts {
    /// Returns the wavefronts of design `D` with `lanes` lanes in all.
    pub fn of<D: Design>(lanes: usize) -> Self {
        let count = D::DECLARATION.wavefronts as usize;
        let lanes = lanes / count;
        Wavefronts { count, lanes }
    }

    /// Returns the wavefront of lane `lane`; `None` if there is only one.
    pub fn of_lane(self, lane: usize) -> Option<usize> {
        (self.count > 1).then(|| lane / self.lanes.max(1))
    }

    /// Returns the name of lane `lane`: its number, or of several wavefronts `WAVEFRONT.LANE`.
    pub fn lane(self, lane: usize) -> String {
        match self.of_lane(lane) {
            Some(wavefront) => format!("{wavefront}.{}", lane % self.lanes.max(1)),
            None => lane.to_string(),
        }
    }

    /// Returns the lanes of wavefront `wavefront` as a mask; all 64, if there is only one. There are no lanes in a wavefront that does
    /// not exist.
    #[inline]
    pub fn mask(self, wavefront: usize) -> u64 {
        match self.count {
            1 => u64::MAX,
            count if wavefront >= count => 0,
            _ => ((1 << self.lanes) - 1) << (wavefront * self.lanes),
        }
    }

    /// Returns the numbers of the lanes of wavefront `wavefront`.
    pub fn range(self, wavefront: usize) -> Range<usize> {
        wavefront * self.lanes..(wavefront + 1) * self.lanes
    }
}

/// Returns the width of `lanes` lanes in characters, with a space after every eighth.
pub fn columns(lanes: usize) -> usize {
    lanes + lanes.saturating_sub(1) / 8
}

/// Returns the letters of `lanes`, a space after every eighth; with `colour` in the colours of their classes.
pub fn lanes(lanes: &[Class], colour: bool) -> String {
    let mut text = String::new();
    let mut last = None;
    for (i, class) in lanes.iter().enumerate() {
        if i > 0 && i % 8 == 0 {
            if last.take().is_some() {
                text += RESET;
            }
            text.push(' ');
        }
        if colour && last != Some(*class) {
            text += sequence(*class);
            last = Some(*class);
        }
        text.push(class.letter());
    }
    if last.is_some() {
        text += RESET;
    }
    text
}

/// Returns `head` and the meaning of each letter that occurs in `met`, in lines of at most `width` characters if that is possible; with
/// `colour` in the colours of their classes. Empty if there are no lanes.
pub fn legend(head: &str, met: &[Class], width: usize, colour: bool) -> String {
    if met.is_empty() {
        return String::new();
    }
    let mut text = head.to_owned();
    let mut long = head.len();
    for class in Class::ALL.iter().filter(|class| met.contains(class)) {
        let meaning = class.meaning();
        let more = "  # ".len() + meaning.len();
        if long + more > width && long > head.len() {
            text += &format!("\n{}", " ".repeat(head.len()));
            long = head.len();
        }
        long += more;
        text += &format!("  {} {meaning}", lanes(&[*class], colour));
    }
    text + "\n"
}

/// Returns the escape sequence of a class, with colours from a terminal's 256 that are close to [`Class::rgb`].
fn sequence(class: Class) -> &'static str {
    match class {
        Class::Active => "\x1b[0;1;38;5;16;48;5;36m",
        Class::Branch => "\x1b[0;38;5;16;48;5;214m",
        Class::Continue => "\x1b[0;38;5;16;48;5;74m",
        Class::Break => "\x1b[0;38;5;16;48;5;166m",
        Class::Return => "\x1b[0;38;5;16;48;5;175m",
        Class::Off => "\x1b[0;2m",
    }
}

/// Returns `text` in `style` if `colour` is set.
pub fn styled(colour: bool, style: &str, text: &str) -> String {
    match colour && !style.is_empty() && !text.trim().is_empty() {
        true => format!("{style}{text}{RESET}"),
        false => text.to_owned(),
    }
}

/// Returns a row with a mark below each lane that differs between the sides; empty if none does.
pub fn differing(rtl: &[Class], golden: &[Class]) -> String {
    let pairs: Vec<_> = rtl.iter().zip(golden).collect();
    let marks: Vec<String> = pairs
        .chunks(8)
        .map(|eight| {
            eight
                .iter()
                .map(|(a, b)| if a == b { ' ' } else { '^' })
                .collect()
        })
        .collect();
    marks.join(" ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_says_what_the_letters_mean_that_occur() {
        let met = [Class::Off, Class::Active, Class::Off];
        let text = "lanes  # executes  - takes no part\n";
        assert_eq!(legend("lanes", &met, text.len() - 1, false), text);
        let narrow = "lanes  # executes\n       - takes no part\n";
        assert_eq!(legend("lanes", &met, text.len() - 2, false), narrow);
        assert_eq!(legend("lanes", &[], 80, false), "");
    }

    #[test]
    fn lanes_of_several_wavefronts_are_named_with_theirs() {
        let four = Wavefronts { count: 4, lanes: 8 };
        assert_eq!(
            [0, 7, 8, 31].map(|lane| four.lane(lane)),
            ["0.0", "0.7", "1.0", "3.7"]
        );
        assert_eq!([7, 8].map(|lane| four.of_lane(lane)), [Some(0), Some(1)]);
        assert_eq!(
            (four.mask(0), four.mask(3), four.range(2)),
            (0xff, 0xff00_0000, 16..24)
        );
        let two = Wavefronts {
            count: 2,
            lanes: 32,
        };
        assert_eq!(
            [0, 1].map(|wavefront| two.mask(wavefront)),
            [0xffff_ffff, !0xffff_ffff]
        );
        let one = Wavefronts {
            count: 1,
            lanes: 64,
        };
        assert_eq!(
            (one.lane(63), one.of_lane(63), one.mask(0)),
            ("63".to_owned(), None, u64::MAX)
        );
    }
}
