//! Files of results: torn, out of order, damaged, of another build or campaign, of shards that do not belong together.

use std::fs;
use std::path::{Path, PathBuf};

use reconverge::campaign::results::FORMAT;

use super::{CampaignFolder, ends, says, with};
use crate::common::rtl::Rtl as Folder;
use crate::common::{Tested, arg, reconverge, reconverge_ends, refusal, text};

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

/// It is not taken for another campaign because of its name.
#[test]
#[ignore = "takes long; CI's step builds runs it"]
fn results_of_each_build_are_in_a_file_of_their_own() {
    let (place, fuzz, file, _) = three_chunks();
    let four = with(&fuzz, &["--lanes", "4"]);
    let out = reconverge_ends(0, &four);
    let other = place.path("r").join("r500-lanes4.jsonl");
    let content = fs::read_to_string(&other).unwrap();
    assert_eq!(reconverge_ends(0, &four), out, "it is complete");
    assert_eq!(fs::read_to_string(&other).unwrap(), content);
    // Both are reported.
    let merged = reconverge_ends(0, &["merge", &place.arg("r")]);
    let lines: Vec<&str> = merged.lines().filter(|l| !l.starts_with(' ')).collect();
    assert_eq!(lines.len(), 3, "{merged}");
    assert!(lines[1].starts_with("r500.fuzz.1  16 lanes  "), "{merged}");
    assert!(lines[2].starts_with("r500.fuzz.1  4 lanes  "), "{merged}");
    let details = reconverge_ends(0, &["merge", &place.arg("r"), "--details"]);
    assert!(
        details.contains("\nr500.fuzz.1  4 lanes  700 programs, "),
        "{details}"
    );

    fs::rename(&other, &file).unwrap();
    let why = "build: results with 4 lanes, not 16 lanes; use another folder";
    says(
        2,
        &with(&fuzz, &[]),
        &format!("error: {}:1: {why}", arg(&file)),
    );
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn results_of_another_campaign_are_refused() {
    let (place, fuzz, file, lines) = three_chunks();
    let name = arg(&file);
    let spoilt = Folder::own("r500").copy();
    spoilt.change(reconverge::r500::R500::faults("decisions")[0]);
    let refused = |args: &[&str], field: &str, why: &str| {
        let why = format!("error: {name}:1: {field}: results with {why}; use another folder");
        says(2, &with(&fuzz, args), &why);
    };
    refused(&["--seed", "2"], "seed", "1, not 2");
    refused(&["--shard", "2/3"], "shard", "one of 1, not one of 3");
    refused(&["--keep-going"], "keep_going", "false, not true");
    let results = place.arg("r");
    for (flag, n, limit) in [
        ("--programs", "701", "701 programs"),
        ("--cycles", "700", "700 cycles"),
    ] {
        let why = format!(
            "error: {name}:1: limit: results with 700 programs, not {limit}; use another folder"
        );
        says(2, &["fuzz", "r500", flag, n, "--results", &results], &why);
    }
    // The same RTL elsewhere is the same, other RTL is not.
    let copy = Folder::own("r500").copy();
    ends(0, &fuzz, &["--rtl", copy.arg()]);
    let message = refusal(&with(&fuzz, &["--rtl", spoilt.arg()]));
    assert!(
        message.starts_with(&format!("error: {name}:1: rtl: results with ")),
        "{message}"
    );

    // Another unit has its own file; a shard whose file is renamed has not.
    reconverge_ends(
        0,
        &[
            "fuzz",
            "r700",
            "--programs",
            "16",
            "--results",
            &results,
            "--seed",
            "2",
        ],
    );
    let mine = place.path("s/r500.1-of-2.jsonl");
    let shards = place.arg("s");
    let shard = [
        "fuzz",
        "r500",
        "--programs",
        "600",
        "--results",
        &shards,
        "--shard",
    ];
    reconverge_ends(0, &[&shard[..], &["2/2"]].concat());
    fs::rename(place.path("s/r500.2-of-2.jsonl"), &mine).unwrap();
    let why = format!(
        "error: {}:1: shard: results with 2/2, not 1/2; use another folder",
        arg(&mine)
    );
    says(2, &[&shard[..], &["1/2"]].concat(), &why);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        lines.concat(),
        "nothing was added"
    );
}

#[test]
#[ignore = "takes long; CI's step builds runs it"]
fn shards_that_do_not_make_one_campaign_are_refused() {
    let place = CampaignFolder::new();
    let fuzz = |dir: &str, shard: &str, more: &[&str]| {
        let dir = place.arg(dir);
        let args = [
            "fuzz",
            "r500",
            "--programs",
            "600",
            "--results",
            &dir,
            "--shard",
            shard,
        ];
        reconverge_ends(0, &[&args[..], more].concat());
    };
    fuzz("a", "1/3", &[]);
    fuzz("a", "2/3", &[]);
    let (a, b, c) = (place.arg("a"), place.arg("b"), place.arg("c"));
    let at = |dir: &str, n: u32| format!("{}/r500.{n}-of-3.jsonl", place.arg(dir));
    let missing = format!("error: {}:1: shard: missing beside it: 3/3", at("a", 1));
    says(2, &["merge", &a], &missing);

    fuzz("b", "2/3", &[]);
    fuzz("b", "3/3", &[]);
    let twice = format!(
        "error: {}:1: shard: 2/3 is in {} already",
        at("b", 2),
        at("a", 2)
    );
    says(2, &["merge", &a, &b], &twice);
    reconverge_ends(0, &["merge", &at("b", 3), &at("a", 1), &at("b", 2)]);

    fuzz("c", "3/3", &["--seed", "2"]);
    let mixed = format!("error: {}:1: seed: 2, but {} has 1", at("c", 3), at("a", 1));
    says(2, &["merge", &a, &c], &mixed);

    // An unfinished chunk is not counted.
    let file = at("b", 3);
    let content = fs::read_to_string(&file).unwrap();
    let header = content.find('\n').unwrap() + 1;
    fs::write(&file, &content[..header + 20]).unwrap();
    let why = "not finished: 0 programs, 0 cycles; the command that wrote it resumes";
    says(
        2,
        &["merge", &a, &file],
        &format!("error: {file}: shard: {why}"),
    );

    let empty = place.arg("empty");
    fs::create_dir(&empty).unwrap();
    says(
        2,
        &["merge", &empty],
        &format!("error: {empty}: results: no file *.jsonl in this folder"),
    );
    let gone = place.arg("gone");
    says(
        2,
        &["merge", &gone],
        &format!(
            "error: {gone}: file: there is no such file in {}",
            Path::new(&gone).parent().unwrap().display()
        ),
    );
    let few = [
        "fuzz",
        "r500",
        "--programs",
        "600",
        "--results",
        &a,
        "--shard",
        "1/4",
    ];
    let why = "error: --shard: 1/4: 600 programs are 3 chunks of 256, too few for 4 shards";
    says(2, &few, why);
    for (shard, why) in [
        ("0/4", "the shard must be 1 to 4, not 0"),
        ("5/4", "the shard must be 1 to 4, not 5"),
        ("1/0", "the number of shards must be 1 to 1000000, not 0"),
        ("3", "no /; a shard is e.g. 3/8"),
        (
            "1/2000000",
            "the number of shards must be 1 to 1000000, not 2000000",
        ),
    ] {
        let args = ["fuzz", "r500", "--results", &a, "--shard", shard];
        let why = format!("error: invalid value '{shard}' for '--shard <I/N>': {why}");
        says(2, &args, &why);
    }
    for more in [
        ["--seconds", "1", "--results", &a],
        ["--programs", "1", "--shard", "1/2"],
    ] {
        refusal(&[&["fuzz", "r500"], &more[..]].concat());
    }
}
