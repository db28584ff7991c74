//! Files of results: torn, out of order, damaged, of another build or campaign, of shards that do not belong together.

use std::fs;
use std::path::PathBuf;

use reconverge::campaign::results::FORMAT;

use super::{CampaignFolder, ends, says, with};
use crate::common::{arg, reconverge, reconverge_ends, text};

/// Results of r500 in three chunks, complete, and the lines of their file.
fn three_chunks() -> (CampaignFolder, Vec<String>, PathBuf, Vec<String>) {
    let place = CampaignFolder::new();
    let fuzz = place.fuzz("r500", 700);
    ends(0, &fuzz, &["--jobs", "1"]);
    let file = place.path("r/r500.jsonl");
    let lines = fs::read_to_string(&file).unwrap();
    let lines: Vec<String> = lines.split_inclusive('\n').map(str::to_owned).collect();
    assert_eq!(lines.len(), 4);
    (place, fuzz, file, lines)
}

/// If a process is killed at any byte of a write, the rest is run again.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_torn_line_is_dropped_and_its_chunk_run_again() {
    let (_place, fuzz, file, lines) = three_chunks();
    let whole = lines.concat();
    let expected = ends(0, &fuzz, &[]);
    let (header, first) = (lines[0].len(), lines[0].len() + lines[1].len());
    let first_done = "r500: resumes after 256 programs\n";
    for (cut, note) in [
        (0, ""),
        (header / 2, ""),
        (header - 1, ""),
        (header, ""),
        (header + 40, ""),
        (first - 1, ""),
        (first, first_done),
        (first + 1, first_done),
        (whole.len() - 1, "r500: resumes after 512 programs\n"),
    ] {
        fs::write(&file, &whole[..cut]).unwrap();
        let output = reconverge(&with(&fuzz, &["--jobs", "1"]));
        assert_eq!(output.status.code(), Some(0), "cut at {cut}: {output:?}");
        assert_eq!(text(&output.stdout), expected, "cut at {cut}");
        assert_eq!(text(&output.stderr), note, "cut at {cut}");
        assert_eq!(fs::read_to_string(&file).unwrap(), whole, "cut at {cut}");
    }
}

/// Chunks are added in their order, whatever the order in which they end.
#[test]
#[ignore = "takes long; CI's step builds runs it"]
fn the_order_of_the_lines_does_not_matter() {
    let (place, fuzz, file, lines) = three_chunks();
    let expected = ends(0, &fuzz, &[]);
    let [header, a, b, c] = &lines[..] else {
        unreachable!("four lines")
    };
    for order in [[c, a, b], [b, c, a], [c, b, a]] {
        fs::write(
            &file,
            [&[header], &order[..]]
                .concat()
                .into_iter()
                .cloned()
                .collect::<String>(),
        )
        .unwrap();
        assert_eq!(ends(0, &fuzz, &[]), expected);
        assert_eq!(reconverge_ends(0, &["merge", &place.arg("r")]), expected);
    }
    // A chunk is missing in the middle: only that one is run.
    fs::write(&file, format!("{header}{a}{c}")).unwrap();
    assert_eq!(ends(0, &fuzz, &[]), expected);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        format!("{header}{a}{c}{b}")
    );
}

#[test]
fn damaged_results_are_refused_by_file_and_line() {
    let (place, fuzz, file, lines) = three_chunks();
    let name = arg(&file);
    let [header, a, b, c] = &lines[..] else {
        unreachable!("four lines")
    };
    let sealed = |body: &str| {
        let crc = crc32fast::hash(body.as_bytes());
        format!("{body},\"crc32\":\"{crc:08x}\"}}\n")
    };
    let unsealed = |line: &str| line[..line.rfind(",\"crc32\"").unwrap()].to_owned();
    let programs = sealed(&unsealed(b).replacen("\"programs\":256", "\"programs\":255", 1));
    let elsewhere = sealed(&unsealed(b).replacen("\"chunk\":1", "\"chunk\":3", 1));
    let [this, next] = [FORMAT, FORMAT + 1].map(|n| format!("campaign\":{n}"));
    let newer = sealed(&unsealed(header).replacen(&this, &next, 1));
    let other = "{\"step\":0}\n".to_owned();
    for (content, message) in [
        (
            [header, a, &b.replacen("\"done\":", "\"dine\":", 1), c],
            format!("{name}:3: crc32: the line is not as it was written"),
        ),
        (
            [header, &a.replace("\"cycles\":1", "\"cycles\":2"), b, c],
            format!("{name}:2: crc32: the line is not as it was written"),
        ),
        (
            [header, a, &b[..b.len() / 2].to_owned(), c],
            format!("{name}:3: crc32: the line is not as it was written"),
        ),
        (
            [header, a, &other, c],
            format!("{name}:3: crc32: missing: not a line of a campaign's results"),
        ),
        (
            [header, a, b, a],
            format!("{name}:4: chunk: 0 is here twice"),
        ),
        (
            [header, a, &programs, c],
            format!("{name}:3: programs: 255 in cases 256..512 of chunk 1"),
        ),
        (
            [header, a, &elsewhere, c],
            format!("{name}:3: chunk: 3 does not belong to shard 1/1"),
        ),
        (
            [&newer, a, b, c],
            format!(
                "{name}:1: reconverge_campaign: format {} is of a later version, this one reads {FORMAT}",
                FORMAT + 1
            ),
        ),
        (
            [&other, a, b, c],
            format!("{name}:1: crc32: missing: not a line of a campaign's results"),
        ),
    ] {
        let content = content.map(String::as_str).concat();
        fs::write(&file, &content).unwrap();
        let message = format!("error: {message}");
        says(2, &with(&fuzz, &[]), &message);
        says(2, &["merge", &place.arg("r")], &message);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            content,
            "it is left as it is"
        );
    }
    fs::write(&file, "notes of another tool").unwrap();
    says(
        2,
        &with(&fuzz, &[]),
        &format!("error: {name}: file: not the results of a campaign"),
    );
    says(
        2,
        &["merge", name],
        &format!("error: {name}: header: the campaign has written none yet"),
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "notes of another tool");
}
