//! A run as text signals of a dump: instruction, lanes and stack, cycle by cycle.

use super::text::turn;
use super::{Class, ShownState};
use crate::assembly::Assembly as _;
use crate::case::Case;
use crate::program::{Pins as _, Programs};
use crate::stimulus::golden_alone;
use crate::watch::Watch;
use reconverge_bench::design::Golden as _;
use reconverge_bench::lanes::lanes;
use reconverge_bench::lockstep::Mismatch;
use reconverge_bench::wave::{PERIOD_NS, Words};

/// Maximum number of stack levels that have a signal.
const LEVELS: usize = 16;

/// Numbers of the signals before the stack.
const INSTRUCTION: usize = 0;
const GOLDEN: usize = 1;
const RTL: usize = 2;
const DIFFERS: usize = 3;
const TURN: usize = 4;
const STACK: usize = 5;
const NAMES: [&str; STACK] = [
    "instruction",
    "lanes_golden",
    "lanes_rtl",
    "lanes_differ",
    "happens",
];

struct Writer<'c, U: Programs> {
    case: &'c Case<U>,
    wavefront: usize,
    from: u64,
    words: Words,
    /// Present text of each signal.
    said: Vec<String>,
    /// Time of the present cycle, and the active lanes before it.
    before: Option<(u64, u64)>,
    last: ShownState,
    depth: usize,
}

impl<U: Programs> Writer<'_, U> {
    fn say(&mut self, time: u64, signal: usize, text: String) {
        if self.said.len() <= signal {
            self.said.resize(signal + 1, String::new());
        }
        if self.said[signal] != text {
            self.said[signal].clone_from(&text);
            self.words.changes.push((time, signal, text));
        }
    }

    /// Writes the unit's state at `time`; `rtl` are the lanes of the RTL if they may differ.
    fn found(&mut self, time: u64, found: &ShownState, rtl: Option<&[Class]>) {
        let rtl = rtl.unwrap_or(&found.lanes);
        self.say(time, GOLDEN, lanes(&found.lanes, false));
        self.say(time, RTL, lanes(rtl, false));
        let pairs = rtl.iter().zip(&found.lanes);
        let marks: String = pairs.map(|(a, b)| if a == b { '.' } else { 'X' }).collect();
        self.say(time, DIFFERS, reconverge_bench::field::in_eights(&marks));
        let depth = found.stack.len().min(LEVELS);
        self.depth = self.depth.max(depth);
        for level in 0..self.depth {
            let frame = found.stack.get(level);
            self.say(
                time,
                STACK + level,
                frame.map_or("-".to_owned(), |f| f.long()),
            );
        }
    }
}

impl<U: Programs> Watch<U> for Writer<'_, U> {
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        if cycle < self.from {
            return;
        }
        let time = cycle * PERIOD_NS;
        let found = ShownState::of::<U>(golden, self.case.lanes as usize, self.wavefront);
        let running = U::running(golden.state());
        let text = match running {
            // The address comes last, because the viewer may cut the text.
            true => {
                let text = self.case.program.statement(found.pc);
                format!("{text}  0x{:03x}", found.pc)
            }
            false => pins.describe(false),
        };
        self.say(time, INSTRUCTION, text);
        self.found(time, &found, None);
        self.before = Some((time, found.active()));
        self.last = found;
    }

    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        if let Some((time, before)) = self.before.take() {
            self.last = ShownState::of::<U>(golden, self.case.lanes as usize, self.wavefront);
            let happens = turn(before, self.last.active());
            let happens = if happens.is_empty() {
                "-".to_owned()
            } else {
                happens
            };
            self.say(time, TURN, happens);
        }
    }
}

/// Returns the text signals for a dump of `case` that begins at cycle `from` and ends after cycle `last`, or at the end of
/// the run. At `mismatch` they show both sides. Of several wavefronts each has its own, such as `w2_instruction`.
pub fn words<U: Programs>(
    case: &Case<U>,
    from: u64,
    last: u64,
    mismatch: Option<&Mismatch<U>>,
) -> Words {
    let count = U::DECLARATION.wavefronts as usize;
    let mut words = Words::default();
    for wavefront in 0..count {
        let of_one = of_wavefront(case, wavefront, from, last, mismatch);
        let before = words.signals.len();
        let changes = of_one.changes.into_iter();
        let moved = changes.map(|(time, signal, text)| (time, before + signal, text));
        words.changes.extend(moved);
        let named = |signal| match count {
            1 => signal,
            _ => format!("w{wavefront}_{signal}"),
        };
        words.signals.extend(of_one.signals.into_iter().map(named));
    }
    if count > 1 {
        words.changes.sort_by_key(|(time, ..)| *time);
    }
    words
}

/// Returns the text signals of wavefront `wavefront`.
fn of_wavefront<U: Programs>(
    case: &Case<U>,
    wavefront: usize,
    from: u64,
    last: u64,
    mismatch: Option<&Mismatch<U>>,
) -> Words {
    let mut writer = Writer {
        case,
        wavefront,
        from,
        words: Words::default(),
        said: Vec::new(),
        before: None,
        last: ShownState::default(),
        depth: 0,
    };
    golden_alone(case, last, &mut writer);
    if let Some(mismatch) = mismatch {
        let (sides, lanes) = ([&mismatch.rtl, &mismatch.golden], case.lanes as usize);
        let [rtl, golden] = ShownState::sides_of::<U>(sides, lanes, wavefront);
        let golden = ShownState {
            stack: std::mem::take(&mut writer.last.stack),
            ..golden
        };
        writer.found(mismatch.time(), &golden, Some(&rtl.lanes));
    }
    // A stack level has no text before its first use: set it to empty at the start of the dump.
    let first = from * PERIOD_NS;
    let levels = (0..writer.depth).map(|level| (first, STACK + level, "-".to_owned()));
    writer.words.changes.splice(0..0, levels);
    let names = NAMES.iter().map(|name| (*name).to_owned());
    let levels = (0..writer.depth).map(|level| format!("stack{level}"));
    writer.words.signals = names.chain(levels).collect();
    writer.words
}
