//! Line, branch and toggle coverage of the RTL: the counters of models built with `Make::counting`, merged and written in
//! the lcov format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Most branches and bits of a file that the text lists; the lcov file has them all.
const LISTED: usize = 12;

/// What a point counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PointKind {
    /// A block of statements was entered.
    Line,
    /// One side of an if, one arm of a case.
    Branch,
    /// A bit changed.
    Toggle,
}

/// A point of a file. All instances of a module count together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Point {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What it counts.
    pub kind: PointKind,
    /// The bit, or the side of the branch.
    pub what: String,
    /// Lines of the block.
    pub lines: Vec<u32>,
}

/// Counters of the RTL, by file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    from = "Vec<(String, Vec<(Point, u64)>)>",
    into = "Vec<(String, Vec<(Point, u64)>)>"
)]
pub struct RtlCoverage {
    /// Points and counts by file. Paths are those of the model's build, until [`RtlCoverage::within`].
    pub files: BTreeMap<String, BTreeMap<Point, u64>>,
}

impl From<Vec<(String, Vec<(Point, u64)>)>> for RtlCoverage {
    fn from(files: Vec<(String, Vec<(Point, u64)>)>) -> Self {
        let files = files.into_iter();
        RtlCoverage {
            files: files
                .map(|(file, points)| (file, points.into_iter().collect()))
                .collect(),
        }
    }
}

impl From<RtlCoverage> for Vec<(String, Vec<(Point, u64)>)> {
    fn from(coverage: RtlCoverage) -> Self {
        let files = coverage.files.into_iter();
        files
            .map(|(file, points)| (file, points.into_iter().collect()))
            .collect()
    }
}

/// How many items there are, and how many of them were covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Covered at least once.
    pub hit: usize,
    /// All.
    pub all: usize,
}

impl Share {
    fn of<'a>(counts: impl Iterator<Item = &'a u64>) -> Self {
        let mut share = Share::default();
        for count in counts {
            share.all += 1;
            share.hit += usize::from(*count > 0);
        }
        share
    }
}

impl std::ops::AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.hit += other.hit;
        self.all += other.all;
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = crate::text::percent(self.hit, self.all);
        write!(f, "{}/{}  {percent} %", self.hit, self.all)
    }
}

/// Adds to a count, saturating: only whether a count is 0 matters.
fn add(count: &mut u64, more: u64) {
    *count = count.saturating_add(more);
}

/// Most lines of one point; no file has more.
const MAX_LINES: usize = 1 << 20;

/// Parses `3,7-9` into line numbers.
fn line_list(text: &str) -> Option<Vec<u32>> {
    let mut lines = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last.saturating_sub(first) as usize >= MAX_LINES - lines.len() {
            return None;
        }
        lines.extend(first..=last);
    }
    Some(lines)
}

/// Writes line numbers as `3, 7..9`.
fn line_text(lines: &[u32]) -> String {
    lines
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [first, .., last] => format!("{first}..{last}"),
            _ => run[0].to_string(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

impl RtlCoverage {
    /// Reads the file that Verilator's runtime writes: `C '<key>=<value>...' count` per line.
    ///
    /// # Errors
    /// A line has another form; the message names it.
    pub fn parse(text: &str, file: &str) -> Result<Self, String> {
        let mut coverage = Self::default();
        for (n, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            let bad = |why: &str| format!("{file}:{}: {why}", n + 1);
            let (keys, count) = line
                .strip_prefix("C '")
                .and_then(|rest| rest.rsplit_once("' "))
                .ok_or_else(|| bad("not a coverage point"))?;
            let count: u64 = count
                .parse()
                .map_err(|_| bad("the count must be a number"))?;
            let fields: BTreeMap<&str, &str> = keys
                .split('\u{1}')
                .filter_map(|field| field.split_once('\u{2}'))
                .collect();
            let get = |key: &str| fields.get(key).copied().unwrap_or_default();
            let number = |key: &str| {
                get(key)
                    .parse()
                    .map_err(|_| bad("a place must be a number"))
            };
            let kind = match get("page").split('/').next() {
                Some("v_line") => PointKind::Line,
                Some("v_branch") => PointKind::Branch,
                Some("v_toggle") => PointKind::Toggle,
                // Other kinds of points are not counted.
                _ => continue,
            };
            let (line, column) = (number("l")?, number("n")?);
            let lines = match get("S") {
                "" => vec![line],
                list => line_list(list)
                    .ok_or_else(|| bad("the lines must be numbers, and not too many"))?,
            };
            let point = Point {
                line,
                column,
                kind,
                what: get("o").to_owned(),
                lines,
            };
            let points = coverage.files.entry(get("f").to_owned()).or_default();
            add(points.entry(point).or_default(), count);
        }
        Ok(coverage)
    }

    /// Adds the counters of another run of the same RTL.
    pub fn merge(&mut self, other: Self) {
        for (file, points) in other.files {
            let mine = self.files.entry(file).or_default();
            for (point, count) in points {
                add(mine.entry(point).or_default(), count);
            }
        }
    }

    /// Keeps only the files in `sources`. Makes the paths of files below `root` relative to it. Paths in the model are
    /// relative to `dir`.
    pub fn within(self, sources: &[std::path::PathBuf], dir: &Path, root: &Path) -> Self {
        let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (root, sources) = (
            full(root),
            sources.iter().map(|s| full(s)).collect::<Vec<_>>(),
        );
        let files = self.files.into_iter().filter_map(|(file, points)| {
            let path = full(&dir.join(&file));
            if !sources.contains(&path) {
                return None;
            }
            let shown = path.strip_prefix(&root).unwrap_or(&path);
            Some((shown.to_string_lossy().into_owned(), points))
        });
        RtlCoverage {
            files: files.collect(),
        }
    }

    /// Returns how often each line with a block or a branch was executed: the greatest count of its points.
    fn lines(points: &BTreeMap<Point, u64>) -> BTreeMap<u32, u64> {
        let mut lines = BTreeMap::new();
        for (point, count) in points.iter().filter(|(p, _)| p.kind != PointKind::Toggle) {
            for line in &point.lines {
                let most: &mut u64 = lines.entry(*line).or_default();
                *most = (*most).max(*count);
            }
        }
        lines
    }

    /// Returns the shares of lines, branches and bits over all files.
    pub fn shares(&self) -> [Share; 3] {
        let mut shares = [Share::default(); 3];
        for points in self.files.values() {
            let of = |kind: PointKind| {
                let points = points.iter().filter(move |(p, _)| p.kind == kind);
                Share::of(points.map(|(_, count)| count))
            };
            shares[0] += Share::of(Self::lines(points).values());
            shares[1] += of(PointKind::Branch);
            shares[2] += of(PointKind::Toggle);
        }
        shares
    }

    /// Returns the shares of all files, then the lines, branches and bits of each file that were never covered.
    pub fn text(&self) -> String {
        let [lines, branches, bits] = self.shares();
        let mut text = String::new();
        for (name, share) in [
            ("RTL lines", lines),
            ("RTL branches", branches),
            ("RTL bits", bits),
        ] {
            let _ = writeln!(text, "  {name:<18}{share}");
        }
        for (file, points) in &self.files {
            let lines: Vec<u32> = Self::lines(points)
                .iter()
                .filter(|(_, count)| **count == 0)
                .map(|(line, _)| *line)
                .collect();
            let never = |kind: PointKind| {
                let never = points.iter().filter(|(p, n)| p.kind == kind && **n == 0);
                let mut places: Vec<String> = never
                    .map(|(p, _)| format!("{} ({})", p.line, p.what))
                    .collect();
                let more = places.len().saturating_sub(LISTED);
                places.truncate(LISTED);
                if more > 0 {
                    places.push(format!("and {more} more"));
                }
                places.join(", ")
            };
            let mut line = |what: &str, places: String| {
                if !places.is_empty() {
                    let _ = writeln!(text, "  {:<18}{file}: {what} {places}", "never");
                }
            };
            line("lines", line_text(&lines));
            line("branches", never(PointKind::Branch));
            line("bits", never(PointKind::Toggle));
        }
        text
    }

    /// Returns the counters in the lcov format: `DA` counts lines; `BRDA` counts branches in block 0 and
    /// toggles in block 1.
    pub fn to_lcov(&self) -> String {
        let mut text = String::new();
        for (file, points) in &self.files {
            let _ = writeln!(text, "TN:\nSF:{file}");
            // Branches are numbered within their line.
            let mut numbers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            let mut branches = Share::default();
            for (point, count) in points.iter().filter(|(p, _)| p.kind != PointKind::Line) {
                let block = u32::from(point.kind == PointKind::Toggle);
                let number = numbers.entry((point.line, block)).or_default();
                let _ = writeln!(text, "BRDA:{},{block},{number},{count}", point.line);
                *number += 1;
                branches += Share::of(std::iter::once(count));
            }
            let _ = writeln!(text, "BRF:{}\nBRH:{}", branches.all, branches.hit);
            let lines = Self::lines(points);
            for (line, count) in &lines {
                let _ = writeln!(text, "DA:{line},{count}");
            }
            let share = Share::of(lines.values());
            let _ = writeln!(text, "LF:{}\nLH:{}\nend_of_record", share.all, share.hit);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAT: &str = "# SystemC::Coverage-3\n\
        C '\u{1}f\u{2}t.sv\u{1}l\u{2}1\u{1}n\u{2}45\u{1}page\u{2}v_toggle/t\u{1}o\u{2}a[0]\u{1}h\u{2}TOP.t' 9\n\
        C '\u{1}f\u{2}t.sv\u{1}l\u{2}1\u{1}n\u{2}45\u{1}page\u{2}v_toggle/t\u{1}o\u{2}a[1]\u{1}h\u{2}TOP.t' 0\n\
        C '\u{1}f\u{2}t.sv\u{1}l\u{2}2\u{1}n\u{2}3\u{1}page\u{2}v_line/t\u{1}o\u{2}block\u{1}S\u{2}2,7\u{1}h\u{2}TOP.t' 10\n\
        C '\u{1}f\u{2}t.sv\u{1}l\u{2}3\u{1}n\u{2}5\u{1}page\u{2}v_branch/t\u{1}o\u{2}if\u{1}S\u{2}3\u{1}h\u{2}TOP.t' 10\n\
        C '\u{1}f\u{2}t.sv\u{1}l\u{2}3\u{1}n\u{2}6\u{1}page\u{2}v_branch/t\u{1}o\u{2}else\u{1}S\u{2}4-5\u{1}h\u{2}TOP.t' 0\n";

    #[test]
    fn counters_become_lines_branches_and_bits() {
        let mut once = RtlCoverage::parse(DAT, "c.dat").unwrap();
        let hit = |hit, all| Share { hit, all };
        assert_eq!(once.shares(), [hit(3, 5), hit(1, 2), hit(1, 2)]);
        assert_eq!(
            once.to_lcov(),
            "TN:\nSF:t.sv\nBRDA:1,1,0,9\nBRDA:1,1,1,0\nBRDA:3,0,0,10\nBRDA:3,0,1,0\nBRF:4\nBRH:2\n\
             DA:2,10\nDA:3,10\nDA:4,0\nDA:5,0\nDA:7,10\nLF:5\nLH:3\nend_of_record\n"
        );
        assert!(
            once.text().contains("t.sv: lines 4..5\n"),
            "{}",
            once.text()
        );
        assert!(
            once.text().contains("t.sv: bits 1 (a[1])\n"),
            "{}",
            once.text()
        );
        once.merge(RtlCoverage::parse(DAT, "c.dat").unwrap());
        assert!(once.to_lcov().contains("DA:7,20\n"));
    }

    #[test]
    fn what_is_no_counter_is_refused_by_line() {
        for (text, why) in [
            ("#\nX\n", "c.dat:2: not a coverage point"),
            (
                "C '\u{1}page\u{2}v_line/t' x\n",
                "c.dat:1: the count must be a number",
            ),
            (
                "C '\u{1}page\u{2}v_line/t' 1\n",
                "c.dat:1: a place must be a number",
            ),
        ] {
            assert_eq!(RtlCoverage::parse(text, "c.dat").unwrap_err(), why);
        }
    }
}
