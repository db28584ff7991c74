//! Dumps as FST: read back by `fst2vcd`, and shown by GTKWave.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{gtkwave, run, shows, text, view_lines, waves};
use crate::common::dump::{self, Dump};
use crate::common::{ROOT, Tested, arg, needs, reconverge, reconverge_ends, tool};
use reconverge::wave::fst;

pub fn gtkwave_shows_the_view_of_an_fst<U: Tested>() {
    let [vcd, fst] = [&["--flip", U::SHOWN][..], &["--flip", U::SHOWN, "--fst"]];
    let [vcd, fst] = [vcd, fst].map(|more| waves::<U>(1, more));
    assert!(!fst.dump.with_extension("vcd").exists());
    let view = fs::read_to_string(&fst.view).unwrap();
    assert!(view.contains(&format!("[dumpfile] \"{}\"", arg(&fst.dump))));
    let lines = view_lines(&view);
    let opened = gtkwave(&fst.dump, &fst.view, Path::new(ROOT), None);
    let dump = Dump::at(&vcd.dump, opened.marker);
    shows(&opened, &lines, &dump, fst.dir.path()).unwrap();
    let view = ["view", U::NAME, arg(&fst.dump)];
    let said = reconverge_ends(0, &view);
    assert_eq!(
        said,
        format!("gtkwave {} {}\n", fst.dump.display(), fst.view.display())
    );
    fs::remove_file(&fst.view).unwrap();
    let gone = reconverge(&view);
    let why = format!("{} is gone, which was written with it", fst.view.display());
    assert!(
        gone.status.code() == Some(2) && text(&gone).contains(&why),
        "{gone:?}"
    );
    let said = opened.entries.iter().find(|(l, _)| l == "instruction");
    assert!(said.unwrap().1.len() > 3, "{said:?}");
}

/// Every change of every signal of a VCD by its path: when, and to what, without zeros on the left. Text is as many bits as
/// it has letters. What is not known yet is not a value, nor is a word that has not been said.
fn changes(vcd: &[u8]) -> BTreeMap<String, Vec<(u64, String)>> {
    let mut parser = vcd::Parser::new(vcd);
    let header = parser.parse_header().unwrap();
    let mut names = dump::Names::new();
    dump::walk(&header.items, "", &mut names);
    let mut changes: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    for (name, _) in names.values().flatten() {
        changes.insert(name.clone(), Vec::new());
    }
    let mut now = 0;
    for command in parser {
        let (code, value) = match command.unwrap() {
            vcd::Command::Timestamp(time) => {
                now = time;
                continue;
            }
            vcd::Command::ChangeScalar(code, value) => (code, value.to_string()),
            vcd::Command::ChangeVector(code, value) => (code, value.to_string()),
            vcd::Command::ChangeString(code, text) => {
                let text = dump::unescaped(&text);
                (
                    code,
                    text.chars()
                        .map(|c| format!("{:08b}", u32::from(c)))
                        .collect(),
                )
            }
            _ => continue,
        };
        let value = value.trim_start_matches('0');
        for (name, width) in &names[&code] {
            let value = match value.chars().next() {
                // Digits that are left out are as the first.
                Some(first @ ('x' | 'z')) => {
                    let missing = (*width as usize).saturating_sub(value.len());
                    first.to_string().repeat(missing) + value
                }
                _ => value.to_owned(),
            };
            let known = changes.get_mut(name).unwrap();
            let nothing = match known.last() {
                Some((_, last)) => *last == value,
                None => value.starts_with('x') || name.starts_with("run.") && value.is_empty(),
            };
            if !nothing {
                known.push((now, value));
            }
        }
    }
    changes
}

/// The FST as `fst2vcd` of GTKWave reads it.
fn read_back(fst: &Path) -> Vec<u8> {
    let output = run(tool::command("fst2vcd").arg(fst));
    assert!(output.status.success(), "{}", text(&output));
    output.stdout
}

pub fn an_fst_says_what_the_vcd_says<U: Tested>() {
    let [vcd, fst] = [&["--wave"][..], &["--wave", "--fst"]].map(|more| waves::<U>(0, more));
    let from_vcd = changes(&fs::read(&vcd.dump).unwrap());
    let from_fst = changes(&read_back(&fst.dump));
    assert!(from_vcd["run.instruction"].len() > 10);
    assert!(from_vcd.values().map(Vec::len).sum::<usize>() > 1000);
    assert_eq!(from_vcd.len(), from_fst.len());
    for (name, changes) in &from_vcd {
        assert_eq!(Some(changes), from_fst.get(name), "{name}");
    }
}

const HEAD: &str = "$timescale 1ns $end $scope module TOP $end $var wire 1 ! a $end \
     $var wire 9 # b [8:0] $end $var wire 9 # also_b [8:0] $end $upscope $end \
     $scope module run $end $var string 1 ~run0 word $end $upscope $end $enddefinitions $end\n";

/// The FST of a VCD of `HEAD` and `body`, written in blocks of so many bytes.
fn converted(vcd: &str, letters: &[usize], block: usize) -> Result<Vec<u8>, String> {
    let out = std::io::Cursor::new(Vec::new());
    fst::copy(vcd.as_bytes(), out, letters, block).map(std::io::Cursor::into_inner)
}

#[needs(fst2vcd)]
#[test]
fn an_fst_of_many_blocks_says_what_the_vcd_says() {
    // It begins late, repeats a time, leaves digits out, and has digits that are none.
    let mut vcd = format!(
        "{HEAD}#50\n0!\nb101 #\n#60\n1!\nbx1 #\nsTwo\\x20words ~run0\n#60\n0!\n#70\nz!\nbz #\n"
    );
    for n in 0..200 {
        vcd += &format!("#{}\n{}!\nb{n:b} #\ns{n} ~run0\n", 80 + 7 * n, n % 2);
    }
    let expected = changes(vcd.as_bytes());
    assert_eq!(
        expected["TOP.b"][..3],
        [
            (50, "101".into()),
            (60, "xxxxxxxx1".into()),
            (70, "z".repeat(9))
        ]
        .map(|(time, value): (u64, String)| (time, value))
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.fst");
    let mut sizes = BTreeSet::new();
    for block in [0, 1000, usize::MAX] {
        let fst = converted(&vcd, &[9], block).unwrap();
        sizes.insert(fst.len());
        fs::write(&file, fst).unwrap();
        assert!(changes(&read_back(&file)) == expected, "{block}");
    }
    assert_eq!(sizes.len(), 3, "{sizes:?}");
}

#[test]
fn what_is_not_written_as_fst_is_refused() {
    let head = |from: &str, to: &str| {
        let other = HEAD.replace(from, to);
        assert_ne!(other, HEAD);
        other + "#0\n0!\n#10\n1!\n"
    };
    let name = |length: usize| head(" a ", &format!(" {} ", "a".repeat(length)));
    let wide = |width: usize| head("wire 1 !", &format!("wire {width} !"));
    let body = |body: &str| format!("{HEAD}#0\n0!\n#10\n{body}\n");
    for good in [
        name(512),
        wide(1 << 20),
        body("b111111111 #"),
        body("sabc ~run0"),
    ] {
        converted(&good, &[3], 0).unwrap();
    }
    for (bad, why) in [
        ("not a dump".into(), "line 1"),
        (
            HEAD.split("$enddef").next().unwrap().into(),
            "unexpected end of VCD file",
        ),
        (name(513), "not a name for FST: aaa"),
        (wide(0), "a: 0 bits, of at most 1048576"),
        (wide((1 << 20) + 1), "a: 1048577 bits, of at most 1048576"),
        (
            head("wire 1 !", "real 64 !"),
            "not written as FST: a, a real",
        ),
        (head("~run0", "~run1"), "not written as FST: word, a string"),
        (
            head("wire 9 # also", "wire 8 # also"),
            "also_b [8:0]: 8 bits, and 9 by another name",
        ),
        (head("$timescale 1ns $end", ""), "no $timescale in it"),
        (
            body("b1111111111 #"),
            "a value of 10 bits for a signal of 9",
        ),
        (body("sabcd ~run0"), "a value of 32 bits for a signal of 24"),
        (
            body("1?"),
            "a change of a signal that it does not declare: ?",
        ),
        (body("r1.5 #"), "not written as FST: ChangeReal"),
        (body("#9"), "from 10 to 9"),
        (
            format!("{HEAD}#0\n0!\n"),
            "nothing in it but its first time",
        ),
    ] {
        let said = converted(&bad, &[3], 0).unwrap_err();
        assert!(said.contains(why), "{said}, not {why}");
    }
}

#[test]
fn a_dump_that_cannot_be_written_as_fst_stays_a_vcd() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path();
    let stem = out.join("r500.if_else.1");
    fs::create_dir(stem.with_extension("1.fst")).unwrap();
    let program = Path::new(ROOT).join("tb/r500/programs/if_else.s");
    for (status, flag) in [(3, "--wave"), (1, "--flip=pc.0@3")] {
        let output = reconverge(&[
            "run",
            "r500",
            arg(&program),
            flag,
            "--fst",
            "--out",
            arg(out),
        ]);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output));
        let said = text(&output);
        let why = "the dump stays a VCD: ";
        assert!(
            said.contains(why) && said.contains("r500.if_else.1.fst: not a regular file"),
            "{said}"
        );
        let vcd = stem.with_extension("1.vcd");
        assert!(
            said.contains(&format!("wave    {}", vcd.display())),
            "{said}"
        );
        Dump::at(&vcd, 0).bits("TOP.clk_i");
        let view = fs::read_to_string(vcd.with_extension("gtkw")).unwrap();
        assert!(view.contains(&format!("[dumpfile] \"{}\"", vcd.display())));
    }
}
