//! What builds of the unit refuse of the programs that compilers made: the table of docs/dialects.md.

use super::*;

/// Kernels and shaders that were made alike: folder, how their names end, what the table calls them.
const MADE: [(&str, &str, &str); 6] = [
    ("cubin", "cubin", "ptxas, without calls"),
    ("cuda", "O0.cubin", "ptxas `-O0`, with calls"),
    ("cuda", "O1.cubin", "ptxas `-O1`, with calls"),
    ("cuda", "O3.cubin", "ptxas `-O3`, with calls"),
    ("cuda", "c.cubin", "ptxas `-c`, with calls"),
    ("mesa", "bin", "Mesa"),
];

/// Words that every build refused before it had JMP, JCAL, KIL and JMX: of the block's opcodes those, BRX without its
/// parameter, and what is refused still.
const BEFORE: [u64; 6] = [0xE20, 0xE21, 0xE22, 0xE25, 0xE33, 0xE3A];

fn build(brx: u32) -> Build {
    let mut build = Build::from(Spa5::LANES);
    if brx != 0 {
        build.parameters.insert("BRX".to_owned(), brx);
    }
    build
}

/// `3 BRX, 1 BPT`, of the lines that `import` prints; `-` for none.
fn said(counts: &BTreeMap<String, u32>) -> String {
    let said: Vec<String> = counts
        .iter()
        .map(|(name, n)| format!("{n} {name}"))
        .collect();
    if said.is_empty() {
        "-".to_owned()
    } else {
        said.join(", ")
    }
}

#[test]
fn the_table_of_refused_words_is_what_is_refused() {
    let mut table = String::new();
    for (folder, ending, called) in MADE {
        let (mut count, mut before) = (0, BTreeMap::new());
        let mut now: [BTreeMap<String, u32>; 2] = Default::default();
        for path in files(folder, ending.rsplit('.').next().unwrap()) {
            if !path.to_str().unwrap().ends_with(&format!(".{ending}")) {
                continue;
            }
            count += 1;
            let program = import(&fs::read(&path).unwrap(), None).program;
            for (pc, word) in instructions(&program) {
                let op = program.word(pc) >> 52;
                if BEFORE.contains(&op) {
                    let name = word.name().map(str::to_owned);
                    let name = name.unwrap_or_else(|| "BPT".to_owned());
                    *before.entry(name).or_default() += 1;
                }
            }
            for (brx, counts) in (0..).zip(&mut now) {
                for line in Spa5::refused(&program, &build(brx)) {
                    let mut words = line.split([' ', ',', ':']);
                    let n: u32 = words.next().unwrap().parse().unwrap();
                    *counts.entry(words.next().unwrap().to_owned()).or_default() += n;
                }
            }
        }
        let [without, with] = &now;
        let cells = [said(&before), said(without), said(with)].join(" | ");
        table += &format!("| {called} | {count} | {cells} |\n");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/dialects.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(
        page.contains(&table),
        "docs/dialects.md should have\n{table}"
    );
}
